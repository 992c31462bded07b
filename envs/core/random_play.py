"""Random play: uniformly random legal actions, chosen by compiled code that is fast enough for large batches."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.batch import Batch
from fivedice.envs.core.kernel import kernel, wrapping_product
from fivedice.envs.core.option import is_whole
from fivedice.envs.core.view import find_empty

MOST_BITS = 63  # with at most so many actions, a mask fits into the bits of one positive number
STRIDE = 56  # larger masks are read in blocks of this size: whole bytes
# [byte, n]: the index of the n-th bit that is 1, counted from 0; 0 if there are fewer.
NTH_OF_BYTE = np.array(
    [([bit for bit in range(8) if (byte >> bit) & 1] + [0] * 8)[:8] for byte in range(256)], np.uint8
)
BLOCK = 128  # all steps of this many rows are played before the next rows, so their data stays in the processor's cache
MOST_STEPS = 64  # random numbers are drawn for at most this many steps at once


def play_random(batch: Batch, steps: int, generator: np.random.Generator) -> None:
    """Play random legal actions in every game of a batch, in compiled code. Finished games restart.

    It is equivalent to drawing ``generator.random(num_games, numpy.float32)`` for each step, choosing the legal actions
    with these numbers, and calling ``batch.step``, but it is faster.

    Args:
        batch: the games, after a `reset`.
        steps: the number of decisions to play in each game, at least 0.
        generator: the source of the random numbers.

    Raises:
        ValueError: ``steps`` is not a whole number of at least 0, ``generator`` is not a NumPy generator, or a game
            is over.
    """
    if not is_whole(steps) or steps < 0:
        raise ValueError(f"steps={steps!r} is not possible; use a whole number of at least 0")
    if not isinstance(generator, np.random.Generator):
        raise ValueError(f"generator={generator!r} is not a NumPy generator; use numpy.random.default_rng(seed)")
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
    """Make the compiled loop over decisions; `step` is a `Batch.step_loop`."""

    @kernel
    def play(rows: NDArray[np.int64], actions: NDArray[np.int64], uniforms: NDArray[np.float32], *arrays: Any) -> None:
        """Play ``len(uniforms)`` decisions in each of ``rows``; ``actions`` (R,) is scratch memory for one step."""
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
    """Write a legal action of each row of ``masks`` (N, num_actions) into ``actions``; ``uniforms`` (N,) chooses it."""
    for row in range(len(masks)):
        actions[row] = pick_one(masks[row], uniforms[row])


@kernel(inline=True)
def pick_one(mask: NDArray[np.int8], uniforms: float) -> int:
    """The k-th legal action, where ``uniforms`` in [0, 1) determines k; at least one action must be legal."""
    if len(mask) <= MOST_BITS:
        legal = legal_in(mask, 0, len(mask))
        return nth(legal, int(float(uniforms) * count_bits(legal)))
    number = 0
    for action in range(len(mask)):
        number += int(mask[action])
    left = int(float(uniforms) * number)  # how many legal actions come before the chosen one
    for first in range(0, len(mask), STRIDE):
        legal = legal_in(mask, first, min(len(mask), first + STRIDE))
        number = count_bits(legal)
        if left < number:
            return first + nth(legal, left)
        left -= number
    return 0


@kernel(inline=True)
def legal_in(mask: NDArray[np.int8], first: int, end: int) -> int:
    """The legal actions from `first` to ``end - 1`` as a bit set: bit i is 1 if action ``first + i`` is legal."""
    in_bytes = (end - first) // 8 * 8
    legal = 0
    for action in range(end - 1, first + in_bytes - 1, -1):
        legal = legal << 1 | int(mask[np.uintp(action)])  # unsigned: no code for negative indices
    for eight in range(first + in_bytes - 8, first - 8, -8):
        word = 0
        for i in range(8):
            word |= int(np.int64(np.uint8(mask[np.uintp(eight + i)]))) << (8 * i)
        # This product moves the lowest bit of each of the eight bytes into the highest byte.
        legal = legal << 8 | (wrapping_product(word, 0x0102040810204080) >> 56 & 0xFF)
    return legal


@kernel(inline=True)
def nth(bits: int, n: int) -> int:
    """The index of the n-th bit of ``bits`` that is 1, counted from 0."""
    # Arithmetic instead of `if`: a processor cannot predict branches that depend on the mask.
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
    """How many bits of ``bits`` are 1. It compiles to a single instruction."""
    number = 0
    while bits:
        bits &= bits - 1
        number += 1
    return number
