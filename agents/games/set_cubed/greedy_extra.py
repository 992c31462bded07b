"""Which dice to keep in the EXTRA roll of SET Cubed: the most points to be expected on the board as it is.

A search of the whole turn for every throw would take too long, so a hand is worth an estimate: the three dice that
score the most, each laid alone, or the best two that make a SET with a die of the board and the best third. That two of
them may want the same cell, or make more together, is left out, and so is what others lay before it is one's turn.
The expectation of that estimate over all throws is exact.
"""

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Options, State
from fivedice.envs.set_cubed.board import EDGE, EMPTY, NUM_WINDOWS, WINDOWS, cell_of, points_at
from fivedice.envs.set_cubed.dice import SIDES
from fivedice.envs.set_cubed.drawing import bonus, num_columns, num_rows
from fivedice.envs.set_cubed.faces import NUM_FACES, THIRD, WILD
from fivedice.envs.set_cubed.hand import hand_size

SHOWS = NUM_FACES + 1
KEPT = SIDES  # of the ways in which a die can come to its upper face: it is kept, or shows one of its six sides
NEAR = 1e-9

Points = NDArray[np.int64]


@kernel(allocates=True)
def best_keep(state: State, options: Options) -> int:
    """The set of slots to keep; of those that are equally good, the one that keeps the most, then the lowest."""
    player = state["player"]
    values = np.zeros(1 << hand_size(state["hand_faces"][player]))
    write_keeps(state, options, values)
    return int(np.argmax(values))


@kernel(allocates=True)
def write_keeps(state: State, options: Options, values: NDArray[np.float64]) -> None:
    """Add to zeros what each set of slots to keep is worth (2 ** dice,), and a trifle for each die that is kept."""
    singles, pairs = np.zeros(SHOWS, np.int64), np.zeros((SHOWS, SHOWS), np.int64)
    look_at_board(state, options, singles, pairs)
    player = state["player"]
    dice, shown = state["hand_dice"][player], state["hand_faces"][player]
    size = hand_size(shown)
    # An odometer with a wheel for each die: it is kept, or shows each of its sides. The first die is looked at in all
    # its ways at once: what the others are worth together is the same in each.
    wheels, hand, without = np.zeros(size, np.int8), np.zeros(size, np.int8), np.zeros(size, np.int64)
    while True:
        keep, weight, kept = 0, 1.0, 0
        for slot in range(1, size):
            if wheels[slot] == KEPT:
                keep |= 1 << slot
                kept += 1
                hand[slot] = shown[slot]
            else:
                weight /= SIDES
                hand[slot] = options["dice"][dice[slot], wheels[slot]] - 1
        others = look_at_others(hand, singles, pairs, without)
        for side in range(SIDES):
            hand[0] = options["dice"][dice[0], side] - 1
            value = value_with_first(hand, others, without, singles, pairs)
            values[keep] += weight / SIDES * value + NEAR * kept * (weight / SIDES)
        hand[0] = shown[0]
        value = value_with_first(hand, others, without, singles, pairs)
        values[keep | 1] += weight * value + NEAR * (kept + 1) * weight
        slot = 1
        while slot < size and wheels[slot] == KEPT:
            wheels[slot] = 0
            slot += 1
        if slot >= size:
            return
        wheels[slot] += 1


@kernel(allocates=True)
def hand_value(hand: NDArray[np.int8], singles: Points, pairs: Points) -> int:
    """The estimate of the points of a turn with these dice."""
    if len(hand) == 0:
        return 0
    without = np.zeros(len(hand), np.int64)
    return value_with_first(hand, look_at_others(hand, singles, pairs, without), without, singles, pairs)


@kernel
def look_at_others(
    hand: NDArray[np.int8], singles: Points, pairs: Points, without: NDArray[np.int64]
) -> tuple[int, int, int, int]:
    """What the dice of a hand but the first are worth together.

    Returns:
        The sum of the three that score the most alone, the least of them, the best pair, and the best pair with the
        best die that is left. Writes into `without` (dice,) the most of one die alone if a slot's die is not used.
    """
    first, second, third, best = 0, 0, 0, 0  # the most points of a die alone, the next two, and the slot of the most
    for slot in range(1, len(hand)):
        points = singles[hand[slot]]
        if points > first:
            first, second, third, best = points, first, second, slot
        elif points > second:
            second, third = points, second
        elif points > third:
            third = points
    for slot in range(1, len(hand)):
        without[slot] = second if slot == best else first
    pair, pair_and_die = 0, 0
    for slot in range(2, len(hand)):
        for other in range(1, slot):
            points = pairs[hand[other], hand[slot]]
            if points > 0:
                left = first
                if best in (slot, other):
                    partner = other if slot == best else slot
                    left = third if singles[hand[partner]] == second else second
                pair = max(pair, points)
                pair_and_die = max(pair_and_die, points + left)
    return first + second + third, third, pair, pair_and_die


@kernel
def value_with_first(
    hand: NDArray[np.int8],
    others: tuple[int, int, int, int],
    without: NDArray[np.int64],
    singles: Points,
    pairs: Points,
) -> int:
    """The estimate of the points of a turn with these dice, if `others` and `without` tell of all but the first."""
    three, third, pair, pair_and_die = others
    alone = singles[hand[0]]
    value = max(three + max(0, alone - third), pair_and_die)
    if pair > 0:
        value = max(value, pair + alone)
    for slot in range(1, len(hand)):
        points = pairs[hand[0], hand[slot]]
        if points > 0:
            value = max(value, points + without[slot])
    return int(value)


@kernel
def look_at_board(state: State, options: Options, singles: Points, pairs: Points) -> None:
    """Write the most points of a die by what it shows (28,), and of two that make a SET with one die (28, 28)."""
    faces = state["faces"]
    for row in range(EDGE, EDGE + num_rows(options)):
        for column in range(EDGE, EDGE + num_columns(options)):
            face = int(faces[row, column])
            for window in range(NUM_WINDOWS):
                row1, column1 = row + WINDOWS[window, 0], column + WINDOWS[window, 1]
                row2, column2 = row + WINDOWS[window, 2], column + WINDOWS[window, 3]
                first, second = int(faces[row1, column1]), int(faces[row2, column2])
                if face == EMPTY and first >= 0 and second >= 0:
                    earned = bonus(options, cell_of(row, column, options))
                    third = int(THIRD[first, second])
                    natural = points_at(state, row, column, third, 1, options) + earned
                    wild = points_at(state, row, column, third, 0, options) + earned
                    singles[third] = max(singles[third], natural)
                    singles[WILD] = max(singles[WILD], wild)
                elif face >= 0 and first == EMPTY and second == EMPTY:
                    cell1, cell2 = cell_of(row1, column1, options), cell_of(row2, column2, options)
                    look_at_pair(face, bonus(options, cell1) + bonus(options, cell2), pairs)


@kernel
def look_at_pair(face: int, earned: int, pairs: Points) -> None:
    """Note what two dice score with this one: a point for each that is no WILD, and what their cells earn."""
    for one in range(NUM_FACES):
        pairs[one, THIRD[face, one]] = max(pairs[one, THIRD[face, one]], 3 + earned)
        pairs[one, WILD] = max(pairs[one, WILD], 2 + earned)
        pairs[WILD, one] = pairs[one, WILD]
    pairs[WILD, WILD] = max(pairs[WILD, WILD], 1 + earned)
