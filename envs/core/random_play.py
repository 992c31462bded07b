"""Random play: a legal action of each row, all equally likely, quickly enough not to be felt in a batch."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.batch import Batch
from fivedice.envs.core.kernel import kernel, wrapping_product
from fivedice.envs.core.option import is_whole
from fivedice.envs.core.view import find_empty

MOST_BITS = 63  # actions that are looked at at once, as the bits of a positive number
STRIDE = 56  # the same where there are more: whole bytes
# The place of the n-th 1, from 0 up, among the eight bits of a byte; 0 if there are fewer.
NTH_OF_BYTE = np.array(
    [([bit for bit in range(8) if (byte >> bit) & 1] + [0] * 8)[:8] for byte in range(256)], np.uint8
)
BLOCK = 128  # rows that are played to the end before the next ones, so that they stay in the nearest cache
MOST_STEPS = 64  # for which uniforms are drawn at once


def play_random(batch: Batch, steps: int, generator: np.random.Generator) -> None:
    """Play `steps` random decisions of every game of `batch` in one compiled call; finished games are started anew.

    It comes to the same as `pick` and ``batch.step`` in turn, with numbers of float32 from `generator` for all rows,
    step by step, and it costs less between the steps.

    Raises:
        ValueError: `steps` is not a whole number from 0 up, or a game is over and was not started anew.
    """
    if not is_whole(steps) or steps < 0:
        raise ValueError(f"steps={steps!r} is not a number of decisions; use a whole number from 0 up")
    if not isinstance(generator, np.random.Generator):
        raise ValueError(f"generator={generator!r} is no generator; use numpy.random.default_rng(seed)")
    empty = find_empty(batch.masks)
    if empty >= 0:
        raise ValueError(f"game {empty} has no decision to make: it is over, or reset() was not called")
    play, actions = make_play(batch.step_loop), np.empty(batch.num_games, np.int64)
    while steps > 0:
        uniforms = generator.random((min(steps, MOST_STEPS), batch.num_games), np.float32)

        def play_part(part: slice, share: int, uniforms: NDArray[np.float32] = uniforms) -> None:
            play(batch.all_rows[part], actions[part], uniforms[:, part], *batch.arrays(share))

        batch.share_out(batch.num_games, play_part)
        steps -= len(uniforms)


@cache
def make_play(step: Callable[..., None]) -> Callable[..., None]:
    """The loop over decisions for one of a batch's loops over rows."""

    @kernel
    def play(rows: NDArray[np.int64], actions: NDArray[np.int64], uniforms: NDArray[np.float32], *arrays: Any) -> None:
        """Play ``len(uniforms)`` decisions in each of `rows`; `actions` (R,) is room for those of one step."""
        masks = arrays[-2]
        for first in range(0, len(rows), BLOCK):
            block, chosen = rows[first : first + BLOCK], actions[first : first + BLOCK]
            for now in range(len(uniforms)):
                for i in range(len(block)):
                    chosen[i] = pick_one(masks[block[i]], uniforms[now, first + i])
                step(block, chosen, True, *arrays)

    return play


@kernel
def pick(masks: NDArray[np.int8], uniforms: NDArray[np.floating[Any]], actions: NDArray[np.int64]) -> None:
    """Write into `actions` (N,) the legal action of each row that `uniforms` (N,) points at."""
    for row in range(len(masks)):
        actions[row] = pick_one(masks[row], uniforms[row])


@kernel(inline=True)
def pick_one(mask: NDArray[np.int8], uniforms: float) -> int:
    """The k-th legal action, where `uniforms` in [0, 1) chooses k; of no meaning if nothing is legal."""
    if len(mask) <= MOST_BITS:
        legal = legal_in(mask, 0, len(mask))
        return nth(legal, int(float(uniforms) * count_bits(legal)))
    number = 0
    for action in range(len(mask)):
        number += int(mask[action])
    left = int(float(uniforms) * number)  # legal actions before the one that is picked
    for first in range(0, len(mask), STRIDE):
        legal = legal_in(mask, first, min(len(mask), first + STRIDE))
        number = count_bits(legal)
        if left < number:
            return first + nth(legal, left)
        left -= number
    return 0


@kernel(inline=True)
def legal_in(mask: NDArray[np.int8], first: int, end: int) -> int:
    """Which of the actions from `first` up to `end` are legal, as a set (bit i: action ``first + i``)."""
    in_bytes = (end - first) // 8 * 8
    legal = 0
    for action in range(end - 1, first + in_bytes - 1, -1):
        legal = legal << 1 | int(mask[np.uintp(action)])  # no index below 0 to look for
    for eight in range(first + in_bytes - 8, first - 8, -8):
        word = 0
        for i in range(8):
            word |= int(np.int64(np.uint8(mask[np.uintp(eight + i)]))) << (8 * i)
        # A product brings the eight bytes together as the bits of the highest.
        legal = legal << 8 | (wrapping_product(word, 0x0102040810204080) >> 56 & 0xFF)
    return legal


@kernel(inline=True)
def nth(bits: int, n: int) -> int:
    """The place of the 1 in `bits` that `n` others come before."""
    # There is no jump on what is legal, which no processor could guess.
    at = 0
    for half in (32, 16, 8):
        low = count_bits(bits & ((1 << half) - 1))
        is_above = n >= low
        n -= low * is_above
        bits >>= half * is_above
        at += half * is_above
    return at + int(NTH_OF_BYTE[bits & 255, n & 7])


@kernel(inline=True)
def count_bits(bits: int) -> int:
    """How many bits are 1; becomes a single instruction."""
    number = 0
    while bits:
        bits &= bits - 1
        number += 1
    return number
