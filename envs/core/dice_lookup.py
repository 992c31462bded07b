"""Fast versions of functions in `dice`: the number of a throw, and tables with a row for each of the 252 throws."""

from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.chance import MAX_SEATS
from fivedice.envs.core.dice import NUM_DICE, SIDES, THROWS, Dice, seat_after, show_dice
from fivedice.envs.core.kernel import kernel, plain

TOTALS = THROWS.sum(axis=1, dtype=np.uint8)  # (252,): the sum of each throw
# The number of a throw is the sum of BEFORE[slot, face] over its dice. BEFORE is the number of ways to fill this slot
# and the slots to its left with lower faces, in ascending order (the combinatorial number system; Knuth, The Art of
# Computer Programming 4A, 7.2.1.3).
BEFORE = np.array(
    [[comb(max(face - 1, 0) + slot, slot + 1) for face in range(SIDES + 1)] for slot in range(NUM_DICE)], np.uint16
)


@kernel(inline=True)
def throw_number(dice: Dice) -> int:
    """The index of five sorted dice in `THROWS`."""
    number = 0
    for slot in range(NUM_DICE):
        number += int(BEFORE[slot, np.uint8(dice[slot])])  # an unsigned index is not checked for negative values
    return number


# (252, 36): the fields `dice` and `dice_counts` of each throw.
DICE_SHOWN = np.zeros((len(THROWS), NUM_DICE * SIDES + SIDES), np.float32)
for _dice, _shown in zip(THROWS, DICE_SHOWN, strict=True):
    plain(show_dice)(_dice, _shown)
LEFT_SHOWN = np.eye(3, dtype=np.float32)  # the field `throws_left`


@kernel(inline=True)
def show_mover(state: Any, num_players: int, seat: int, is_over: bool, out: NDArray[np.float32]) -> None:
    """Write the field `mover` of `turn_fields` for `seat`. The state has the field ``player``."""
    for i in range(MAX_SEATS):  # a loop of fixed length is faster; `show_throw` overwrites what is too much
        out[i] = 0.0
    out[seat_after(int(state["player"]), num_players - seat, num_players)] = not is_over


@kernel(inline=True)
def show_throw(state: Any, number: int, num_players: int, out: NDArray[np.float32]) -> int:
    """Write the other `turn_fields` into `out`, and return the index at which the next field starts.

    The state has the fields ``dice`` and ``throws_left``; `number` is the `throw_number` of the dice.
    """
    at, shown = num_players, DICE_SHOWN[number]
    for i in range(DICE_SHOWN.shape[1]):
        out[at + i] = shown[i]
    at += DICE_SHOWN.shape[1]
    shown = LEFT_SHOWN[state["throws_left"]]
    for i in range(3):
        out[at + i] = shown[i]
    return at + 3
