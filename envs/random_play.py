"""Random play: a legal action of each row, all equally likely, quickly enough not to be felt in a batch."""

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.kernel import kernel

EACH = 0x0101010101010101  # 1 in each of the eight bytes of a word


@kernel
def pick(masks: NDArray[np.int8], noise: NDArray[np.float64], actions: NDArray[np.int64]) -> None:
    """Write into `actions` (N,) the legal action of each row that `noise` (N,) points at."""
    for row in range(len(masks)):
        actions[row] = pick_one(masks[row], noise[row])


@kernel(inline=True)
def pick_one(mask: NDArray[np.int8], noise: float) -> int:
    """The k-th legal action, where `noise` in [0, 1) chooses k.

    Eight actions are looked at as one word, without a jump on what is legal, which no processor could guess.
    """
    in_words = len(mask) // 8 * 8
    legal = 0
    for first in range(0, in_words, 8):
        legal += legal_so_far(mask, first) >> 56 & 15
    for action in range(in_words, len(mask)):
        legal += int(mask[action])
    before = int(noise * legal)  # legal actions before the one that is picked
    picked, left, legal = 0, before, 0
    for first in range(0, in_words, 8):
        legal += legal_so_far(mask, first) >> 56 & 15
        is_passed = legal <= before
        picked = first + 8 if is_passed else picked
        left = before - legal if is_passed else left
    if picked < in_words:
        passed = ((left + 128) * EACH - legal_so_far(mask, picked)) >> 7 & EACH  # 1 where no more than `left` so far
        return picked + (passed * EACH >> 56 & 15)
    for action in range(in_words, len(mask)):
        left -= int(mask[action])
        picked += left >= 0
    return picked


@kernel(inline=True)
def legal_so_far(mask: NDArray[np.int8], first: int) -> int:
    """How many of the actions from `first` on are legal, up to each of eight: a number in each byte of a word.

    In plain Python more bytes follow, which are of no meaning.
    """
    word = 0
    for i in range(8):
        word |= int(np.int64(np.uint8(mask[first + i]))) << (8 * i)
    return word * EACH
