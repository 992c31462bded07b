"""The exact mathematics of one turn: five dice and up to three throws, for any value that ends the turn.

The order of dice does not matter, so a position within a turn is a multiset of at most five dice. There are 462: the
252 throws of five dice, and 210 smaller sets that can be kept while the other dice are thrown. Two sweeps over them
compute a throw:

- the value of keeping a set is the mean, over the faces of one more die, of the value of the set with that die;
- the best set to keep is the set itself, or the best set to keep of it with one die left out.

Each sweep visits every set once and at most six neighbours of it. The plain expectation sums over 4 368 pairs of a kept
set and a throw. Verhoeff ("Optimal solitaire yahtzee strategies", 1999) and Glenn ("An optimal strategy for Yahtzee",
2006) also work with kept multisets and backward over the throws left.
"""

from functools import cache
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.dice import NUM_DICE, SIDES, THROWS, Dice
from fivedice.envs.core.kernel import kernel

THROWS_A_TURN = 3

_SMALLER_SETS = [
    dice for size in range(NUM_DICE) for dice in combinations_with_replacement(range(1, SIDES + 1), size)
]  # by size; the dice of each set ascend
_SETS = [*_SMALLER_SETS, *(tuple(dice) for dice in THROWS.tolist())]
_NUMBER = {dice: number for number, dice in enumerate(_SETS)}

NUM_SETS = len(_SETS)
NUM_THROWS = len(THROWS)
FIRST_THROW = len(_SMALLER_SETS)  # THROWS[t] is set FIRST_THROW + t
NOTHING = 0  # the empty set: all five dice are thrown

# (210, 6) int16: the set with a die of face f added, at f - 1.
WITH = np.array(
    [[_NUMBER[tuple(sorted((*dice, face)))] for face in range(1, SIDES + 1)] for dice in _SMALLER_SETS], np.int16
)

# (462, 5) int16: the set with one die left out, for each of its dice; the last entry repeats if they are fewer.
WITHOUT = np.array(
    [
        [_NUMBER[dice[:slot] + dice[slot + 1 :]] for slot in (min(i, len(dice) - 1) for i in range(NUM_DICE))]
        if dice
        else [NOTHING] * NUM_DICE
        for dice in _SETS
    ],
    np.int16,
)

for _table in (WITH, WITHOUT):
    _table.setflags(write=False)


@cache
def throw_chances() -> NDArray[np.float64]:
    """The probability of each throw of `THROWS` if a set is kept and the missing dice are thrown.

    Returns:
        (462, 252) float64, read-only.
    """
    chances = np.zeros((NUM_SETS, NUM_THROWS))
    chances[FIRST_THROW:] = np.eye(NUM_THROWS)
    expect(chances)
    chances.setflags(write=False)
    return chances


@kernel
def set_number(dice: Dice, keep: int) -> int:
    """The number, 0 to 461, of the set of the dice (5,) whose slots are in `keep` (bit i: slot i)."""
    number = NOTHING
    for slot in range(NUM_DICE):
        if (keep >> slot) & 1:
            number = WITH[number, dice[slot] - 1]
    return number


@kernel
def expect(values: NDArray[np.float64]) -> None:
    """From the values of the throws, write the expected value of each smaller set after its missing dice are thrown.

    `values` is (462, L): L turns are computed side by side.
    """
    lanes = values.shape[1]
    for kept in range(FIRST_THROW - 1, -1, -1):
        for lane in range(lanes):
            total = 0.0
            for face in range(SIDES):
                total += values[WITH[kept, face], lane]
            values[kept, lane] = total / SIDES


@kernel
def best_to_keep(values: NDArray[np.float64], best: NDArray[np.float64]) -> None:
    """From the values (462, L) of keeping each set, write the highest value among the subsets of each set into `best`
    (462, L).

    A throw is not a subset of itself here: whoever keeps all five dice does not throw.
    """
    lanes = values.shape[1]
    for number in range(NUM_SETS):
        for lane in range(lanes):
            highest = values[number, lane] if number < FIRST_THROW else -np.inf
            if number != NOTHING:
                for slot in range(NUM_DICE):
                    highest = max(highest, best[WITHOUT[number, slot], lane])
            best[number, lane] = highest


@kernel(allocates=True)
def solve_turn(stops: NDArray[np.float64], values: NDArray[np.float64]) -> None:
    """Compute the value of every position of a turn, backward from the last throw.

    Args:
        stops: (T, 252, L) the value of ending the turn with each throw of `THROWS`, by the number of throws left; -inf
            where the turn cannot end. T is 1 to 3.
        values: (T, 462, L) is written. With n throws left, ``values[n]`` holds the value of each throw before the
            decision to stop or to continue, and the value of each smaller set if it is kept in the throw that leaves n
            throws. ``values[T - 1, 0]`` is the value of a turn of T throws.
    """
    best = np.empty(values.shape[1:])
    lanes = values.shape[2]
    for left in range(len(stops)):
        if left > 0:
            best_to_keep(values[left - 1], best)
        for throw in range(NUM_THROWS):
            for lane in range(lanes):
                value = stops[left, throw, lane]
                if left > 0:
                    value = max(value, best[FIRST_THROW + throw, lane])
                values[left, FIRST_THROW + throw, lane] = value
        expect(values[left])
