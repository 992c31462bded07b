"""Which dice to keep in the EXTRA roll of SET Cubed: those with the most expected points on the current board.

A search of the whole turn for every throw would take too long, so an estimate replaces it: the points of the three dice
that score the most, each laid alone, or of the best two that make a SET with a die of the board and the best third. The
estimate ignores that two dice may need the same cell or score more together, and what others lay before the player's
turn. The expectation of this estimate over all throws is exact.
"""

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Options, State
from fivedice.envs.set_cubed.board import EDGE, EMPTY, NUM_WINDOWS, cell_of, lay_points, other_cells
from fivedice.envs.set_cubed.dice import SIDES, face_on
from fivedice.envs.set_cubed.drawing import bonus, num_columns, num_rows
from fivedice.envs.set_cubed.faces import NUM_FACES, WILD
from fivedice.envs.set_cubed.hand import hand_size, with_slot
from fivedice.envs.set_cubed.lookup import third

SHOWS = NUM_FACES + 1
KEPT = SIDES  # a die that is thrown shows side 0 to 5; this number says that it is kept
KEEP_BONUS = 1e-9  # added for each die that is kept, so that among equal sets the one with the most dice is best

Points = NDArray[np.int64]


@kernel(allocates=True)
def best_keep(state: State, options: Options) -> int:
    """The best set of slots to keep. Among equal sets: one with the most dice, then the lowest number."""
    player = state["player"]
    values = np.zeros(1 << hand_size(state["hand_faces"][player]))
    write_keeps(state, options, values)
    return int(np.argmax(values))


@kernel(allocates=True)
def write_keeps(state: State, options: Options, values: NDArray[np.float64]) -> None:
    """Add to zeros (2 ** dice,) the expected points of keeping each set of slots, and KEEP_BONUS for each die kept."""
    singles, pairs = np.zeros(SHOWS, np.int64), np.zeros((SHOWS, SHOWS), np.int64)
    look_at_board(state, options, singles, pairs)
    player = state["player"]
    dice, shown = state["hand_dice"][player], state["hand_faces"][player]
    size = hand_size(shown)
    # An odometer with a wheel for each die goes through its six sides and through keeping it. The first die has no
    # wheel: the loop tries all its cases for each position of the wheels, because they share the values of the others.
    wheels, hand, without = np.zeros(size, np.int8), np.zeros(size, np.int8), np.zeros(size, np.int64)
    while True:
        keep, weight, kept = 0, 1.0, 0
        for slot in range(1, size):
            if wheels[slot] == KEPT:
                keep = with_slot(keep, slot)
                kept += 1
                hand[slot] = shown[slot]
            else:
                weight /= SIDES
                hand[slot] = face_on(options, int(dice[slot]), int(wheels[slot]))
        others = look_at_others(hand, singles, pairs, without)
        for side in range(SIDES):
            hand[0] = face_on(options, int(dice[0]), side)
            value = value_with_first(hand, others, without, singles, pairs)
            values[keep] += weight / SIDES * value + KEEP_BONUS * kept * (weight / SIDES)
        hand[0] = shown[0]
        value = value_with_first(hand, others, without, singles, pairs)
        values[with_slot(keep, 0)] += weight * value + KEEP_BONUS * (kept + 1) * weight
        slot = 1
        while slot < size and wheels[slot] == KEPT:
            wheels[slot] = 0
            slot += 1
        if slot >= size:
            return
        wheels[slot] += 1


@kernel(allocates=True)
def hand_value(hand: NDArray[np.int8], singles: Points, pairs: Points) -> int:
    """The estimated points of a turn with these dice (n,)."""
    if len(hand) == 0:
        return 0
    without = np.zeros(len(hand), np.int64)
    return value_with_first(hand, look_at_others(hand, singles, pairs, without), without, singles, pairs)


@kernel
def look_at_others(
    hand: NDArray[np.int8], singles: Points, pairs: Points, without: NDArray[np.int64]
) -> tuple[int, int, int, int]:
    """The points of all dice of a hand except the first one.

    Writes into `without` (dice,) the most points of one die alone if the die of this slot is not used.

    Returns:
        The sum of the three dice that score the most alone, the lowest of these three, the best pair, and the best pair
        with the best other die.
    """
    first, second, least, best = 0, 0, 0, 0  # the most points of a die alone, the next two, and the slot of the most
    for slot in range(1, len(hand)):
        points = singles[hand[slot]]
        if points > first:
            first, second, least, best = points, first, second, slot
        elif points > second:
            second, least = points, second
        elif points > least:
            least = points
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
                    left = least if singles[hand[partner]] == second else second
                pair = max(pair, points)
                pair_and_die = max(pair_and_die, points + left)
    return first + second + least, least, pair, pair_and_die


@kernel
def value_with_first(
    hand: NDArray[np.int8],
    others: tuple[int, int, int, int],
    without: NDArray[np.int64],
    singles: Points,
    pairs: Points,
) -> int:
    """The estimated points of a turn with these dice. `look_at_others` computes `others` and `without`."""
    three, least, pair, pair_and_die = others
    alone = singles[hand[0]]
    value = max(three + max(0, alone - least), pair_and_die)
    if pair > 0:
        value = max(value, pair + alone)
    for slot in range(1, len(hand)):
        points = pairs[hand[0], hand[slot]]
        if points > 0:
            value = max(value, points + without[slot])
    return int(value)


@kernel
def look_at_board(state: State, options: Options, singles: Points, pairs: Points) -> None:
    """Write the most points of a die with each upper face (28,), and of each pair with a die of the board (28, 28)."""
    faces = state["faces"]
    for row in range(EDGE, EDGE + num_rows(options)):
        for column in range(EDGE, EDGE + num_columns(options)):
            face = int(faces[row, column])
            for window in range(NUM_WINDOWS):
                row1, column1, row2, column2 = other_cells(row, column, window)
                first, second = int(faces[row1, column1]), int(faces[row2, column2])
                if face == EMPTY and first >= 0 and second >= 0:
                    needed = int(third(first, second))
                    natural = lay_points(state, row, column, needed, 1, options)
                    wild = lay_points(state, row, column, needed, 0, options)
                    singles[needed] = max(singles[needed], natural)
                    singles[WILD] = max(singles[WILD], wild)
                elif face >= 0 and first == EMPTY and second == EMPTY:
                    cell1, cell2 = cell_of(row1, column1, options), cell_of(row2, column2, options)
                    look_at_pair(face, bonus(options, cell1) + bonus(options, cell2), pairs)


@kernel
def look_at_pair(face: int, earned: int, pairs: Points) -> None:
    """Note the points of two dice that make a SET with `face`: 1 for each die that is no WILD, and `earned` bonuses."""
    for one in range(NUM_FACES):
        other = third(face, one)
        pairs[one, other] = max(pairs[one, other], 3 + earned)
        pairs[one, WILD] = max(pairs[one, WILD], 2 + earned)
        pairs[WILD, one] = pairs[one, WILD]
    pairs[WILD, WILD] = max(pairs[WILD, WILD], 1 + earned)
