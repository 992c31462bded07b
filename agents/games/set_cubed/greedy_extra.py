"""Which dice to keep in the EXTRA roll of SET Cubed: those with the most expected points on the current board.

A search of the whole turn for every throw would take too long, so an estimate replaces it: the points of the three dice
that score the most, each laid alone, or of the best two that make a SET with a die of the board and the best third. The
estimate ignores that two dice may need the same cell or score more together, and what others lay before the player's
turn. The expectation of this estimate over all throws is exact.
"""

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.games.set_cubed.throws import (
    NOTHING,
    NUM_THREES,
    THREES,
    OfThrees,
    Sides,
    read_sides,
    write_means,
    write_throws,
)
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Options, State
from fivedice.envs.set_cubed.board import EDGE, EMPTY, NONE, NUM_WINDOWS, cell_of, lay_points, other_cells
from fivedice.envs.set_cubed.dice import SIDES
from fivedice.envs.set_cubed.drawing import bonus, num_columns, num_rows
from fivedice.envs.set_cubed.faces import NUM_FACES, WILD
from fivedice.envs.set_cubed.hand import HAND, hand_size
from fivedice.envs.set_cubed.lookup import third

SHOWS = NUM_FACES + 1

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
    """Write the expected points of keeping each set of slots, and KEEP_BONUS for each die kept, into (2 ** dice,)."""
    singles, pairs = np.zeros(SHOWS, np.int64), np.zeros((SHOWS, SHOWS), np.int64)
    look_at_board(state, options, singles, pairs)
    sides = np.empty((HAND, SIDES), np.int64)
    read_sides(state, options, sides)
    of_threes = np.empty((NUM_THREES, SIDES, SIDES, SIDES), np.int64)
    write_threes(sides, singles, pairs, of_threes)
    of_throws = np.empty((SIDES, SIDES, SIDES, SIDES, SIDES), np.int64)
    write_throws(of_threes, hand_size(state["hand_faces"][state["player"]]), of_throws)
    write_means(state, sides, of_throws, values)


@kernel(allocates=True)
def write_threes(sides: Sides, singles: Points, pairs: Points, of_threes: OfThrees) -> None:
    """Write the estimated points of each three dice of a hand, by their sides."""
    alone = np.zeros((HAND, SIDES), np.int64)
    together = np.zeros((HAND, HAND, SIDES, SIDES), np.int64)
    for slot in range(HAND):
        for side in range(SIDES):
            if sides[slot, side] != NOTHING:
                alone[slot, side] = singles[sides[slot, side]]
        for other in range(slot):
            for side in range(SIDES):
                for side2 in range(SIDES):
                    if sides[slot, side] != NOTHING and sides[other, side2] != NOTHING:
                        together[other, slot, side2, side] = pairs[sides[other, side2], sides[slot, side]]
    for three in range(NUM_THREES):
        one, two, three_ = THREES[three, 0], THREES[three, 1], THREES[three, 2]
        for c in range(SIDES):
            for b in range(SIDES):
                bc = max(alone[two, b] + alone[three_, c], together[two, three_, b, c])
                for a in range(SIDES):
                    with_a = bc + alone[one, a]
                    with_b = together[one, three_, a, c] + alone[two, b]
                    with_c = together[one, two, a, b] + alone[three_, c]
                    of_threes[three, c, b, a] = max(with_a, with_b, with_c)


@kernel
def hand_value(hand: NDArray[np.int8], singles: Points, pairs: Points) -> int:
    """The estimated points of a turn with these dice (n,)."""
    best = 0
    for one in range(len(hand)):
        for two in range(one + 1):
            # Two dice, or one die twice: then only the singles count.
            both = singles[hand[one]] if two == one else singles[hand[one]] + singles[hand[two]]
            if two != one:
                both = max(both, pairs[hand[one], hand[two]])
            best = max(best, both)
            for three in range(len(hand)):
                if three not in (one, two):
                    best = max(best, both + singles[hand[three]])
    return int(best)


@kernel(allocates=True)
def look_at_board(state: State, options: Options, singles: Points, pairs: Points) -> None:
    """Write the most points of a die with each upper face (28,), and of each pair with a die of the board (28, 28)."""
    faces = state["faces"]
    earned = np.full(NUM_FACES, NONE, np.int64)  # the highest bonus of a pair with a die of this face; NONE: no pair
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
                    earned[face] = max(earned[face], bonus(options, cell1) + bonus(options, cell2))
    for face in range(NUM_FACES):
        if earned[face] != NONE:
            look_at_pair(face, int(earned[face]), pairs)


@kernel
def look_at_pair(face: int, earned: int, pairs: Points) -> None:
    """Note the points of two dice that make a SET with `face`: 1 for each die that is no WILD, and `earned` bonuses."""
    for one in range(NUM_FACES):
        other = third(face, one)
        pairs[one, other] = max(pairs[one, other], 3 + earned)
        pairs[one, WILD] = max(pairs[one, WILD], 2 + earned)
        pairs[WILD, one] = pairs[one, WILD]
    pairs[WILD, WILD] = max(pairs[WILD, WILD], 1 + earned)
