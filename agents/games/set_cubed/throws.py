"""The value of keeping each set of dice in the EXTRA roll of SET Cubed, over all throws.

At most three dice are laid in a turn. So the value of a hand is the highest value of three of its dice, and each three
dice are computed only once for each of their 6 * 6 * 6 faces.
"""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Options, State
from fivedice.envs.set_cubed.board import NONE
from fivedice.envs.set_cubed.dice import SIDES, face_on
from fivedice.envs.set_cubed.faces import NUM_FACES
from fivedice.envs.set_cubed.hand import HAND, hand_size, has_slot

NOTHING = NUM_FACES + 1  # instead of the upper face of a die that the hand does not have
KEEP_BONUS = 1e-9  # added for each die that is kept, so that among equal sets the one with the most dice is best
THREES = np.array(list(combinations(range(HAND), 3)))  # slots; the first six contain slot 0
NUM_THREES = len(THREES)

Sides = NDArray[np.int64]  # (HAND, SIDES) the faces of each die; NOTHING for a die that the hand does not have
OfThrees = NDArray[np.int64]  # (NUM_THREES, SIDES, SIDES, SIDES) a value by the sides of the third, second, first die
OfThrows = NDArray[np.int64]  # (SIDES,) * HAND: a value by the sides of the dice, the last die first


@kernel
def read_sides(state: State, options: Options, sides: Sides) -> None:
    """Write the faces of the dice of the player's hand into `sides`."""
    dice = state["hand_dice"][state["player"]]
    for slot in range(HAND):
        for side in range(SIDES):
            sides[slot, side] = NOTHING if dice[slot] == NONE else face_on(options, int(dice[slot]), side)


@kernel
def write_throws(of_threes: OfThrees, size: int, of_throws: OfThrows) -> None:
    """Write the value of each throw of a hand of `size` dice. Dice that it does not have show side 0."""
    stop1, stop2 = SIDES if size > 1 else 1, SIDES if size > 2 else 1
    stop3, stop4 = SIDES if size > 3 else 1, SIDES if size > 4 else 1
    of_012, of_013, of_014, of_023, of_024, of_034, of_123, of_124, of_134, of_234 = (
        of_threes[0],
        of_threes[1],
        of_threes[2],
        of_threes[3],
        of_threes[4],
        of_threes[5],
        of_threes[6],
        of_threes[7],
        of_threes[8],
        of_threes[9],
    )
    for d in range(stop4):
        for c in range(stop3):
            for b in range(stop2):
                for a in range(stop1):
                    others = max(of_123[c, b, a], of_124[d, b, a], of_134[d, c, a], of_234[d, c, b])
                    for first in range(SIDES):
                        with_a = max(of_012[b, a, first], of_013[c, a, first], of_014[d, a, first])
                        without_a = max(of_023[c, b, first], of_024[d, b, first], of_034[d, c, first])
                        of_throws[d, c, b, a, first] = max(others, with_a, without_a)


@kernel(allocates=True)
def write_means(state: State, sides: Sides, of_throws: OfThrows, values: NDArray[np.float64]) -> None:
    """Write the mean over all throws for each set of slots to keep, and KEEP_BONUS for each die kept, (2 ** dice,)."""
    shown = state["hand_faces"][state["player"]]
    size = hand_size(shown)
    start, stop = np.zeros(HAND, np.int64), np.ones(HAND, np.int64)
    for keep in range(1 << size):
        kept, weight = 0, 1.0
        for slot in range(size):
            if has_slot(keep, slot):
                kept += 1
                start[slot] = 0
                while sides[slot, start[slot]] != shown[slot]:
                    start[slot] += 1
                stop[slot] = start[slot] + 1
            else:
                weight /= SIDES
                start[slot], stop[slot] = 0, SIDES
        bonus, total = KEEP_BONUS * kept * weight, 0.0
        for d in range(start[4], stop[4]):
            for c in range(start[3], stop[3]):
                for b in range(start[2], stop[2]):
                    for a in range(start[1], stop[1]):
                        for first in range(start[0], stop[0]):
                            total += weight * of_throws[d, c, b, a, first] + bonus
        values[keep] = total
