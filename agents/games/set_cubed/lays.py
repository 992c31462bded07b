"""Dice laid on the board of SET Cubed while a search looks ahead: their points, and the singles that they create.

The functions write on the arrays ``faces`` of a state and ``now``. ``now`` has the same shape and is 1 for each WILD
that the search has laid, because it counts 0 in this turn. A *place* is a row and a column; both count the edge.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Options, State
from fivedice.envs.set_cubed.board import (
    EDGE,
    EMPTY,
    NUM_WINDOWS,
    SPAN,
    WINDOWS,
    Faces,
    cell_of,
)
from fivedice.envs.set_cubed.drawing import MOST, bonus, num_columns, num_rows
from fivedice.envs.set_cubed.lookup import third

MOST_SINGLES = NUM_WINDOWS * MOST * MOST
ROW, COLUMN, FACE, SETS, POINTS = range(5)  # of a single: its place, its face, its SETs, its points without its own
SINGLE_FIELDS = 5

Now = NDArray[np.int8]  # (SPAN, SPAN)
Singles = NDArray[np.int32]  # (n, 5)
Bonuses = NDArray[np.int32]  # (SPAN, SPAN) the points for laying a die on each place


class Board(NamedTuple):
    """A board on which a search lays dice.

    Args:
        faces: (SPAN, SPAN) int8, as in the state.
        now: (SPAN, SPAN) int8, 1 for each WILD that the search has laid.
        bonuses: (SPAN, SPAN) int32, the bonus of each place.
    """

    faces: Faces
    now: Now
    bonuses: Bonuses


@kernel(allocates=True)
def board_of(state: State, options: Options) -> Board:
    """The board of a state, of which it shares the faces."""
    bonuses = np.zeros((SPAN, SPAN), np.int32)
    for row in range(EDGE, EDGE + num_rows(options)):
        for column in range(EDGE, EDGE + num_columns(options)):
            bonuses[row, column] = bonus(options, cell_of(row, column, options))
    return Board(state["faces"], np.zeros((SPAN, SPAN), np.int8), bonuses)


@kernel
def count_new(board: Board, row: int, column: int, face: int) -> tuple[int, int]:
    """The SETs that a die with this face completes there, and their points with the bonus, without the die's own."""
    faces, now = board.faces, board.now
    sets, points = 0, int(board.bonuses[row, column])
    for window in range(NUM_WINDOWS):
        row1, column1 = row + WINDOWS[window, 0], column + WINDOWS[window, 1]
        row2, column2 = row + WINDOWS[window, 2], column + WINDOWS[window, 3]
        first, second = faces[row1, column1], faces[row2, column2]
        if first >= 0 and second >= 0 and third(first, second) == face:
            sets += 1
            points += 2 - int(now[row1, column1]) - int(now[row2, column2])
    return sets, points


@kernel
def put(board: Board, row: int, column: int, face: int, is_wild: int) -> int:
    """Lay a die; returns its points."""
    sets, points = count_new(board, row, column, face)
    board.faces[row, column], board.now[row, column] = face, is_wild
    return points + sets * (1 - is_wild)


@kernel
def take(board: Board, row: int, column: int) -> None:
    """Take up a die that `put` has laid."""
    board.faces[row, column], board.now[row, column] = EMPTY, 0


@kernel
def find_singles(board: Board, options: Options, singles: Singles) -> int:
    """Write each place and face that completes a SET, once; returns how many there are."""
    faces, number = board.faces, 0
    for row in range(EDGE, EDGE + num_rows(options)):
        for column in range(EDGE, EDGE + num_columns(options)):
            if faces[row, column] != EMPTY:
                continue
            begin = number
            for window in range(NUM_WINDOWS):
                first = faces[row + WINDOWS[window, 0], column + WINDOWS[window, 1]]
                second = faces[row + WINDOWS[window, 2], column + WINDOWS[window, 3]]
                if first >= 0 and second >= 0:
                    number = add_single(board, row, column, int(third(first, second)), singles, begin, number)
    return number


@kernel
def find_fresh(board: Board, row: int, column: int, singles: Singles, begin: int, number: int) -> int:
    """Write the singles in the windows through a die after the first `number`, those from `begin` only once."""
    faces = board.faces
    face = faces[row, column]
    for window in range(NUM_WINDOWS):
        row1, column1 = row + WINDOWS[window, 0], column + WINDOWS[window, 1]
        row2, column2 = row + WINDOWS[window, 2], column + WINDOWS[window, 3]
        first, second = faces[row1, column1], faces[row2, column2]
        if first == EMPTY and second >= 0:
            number = add_single(board, row1, column1, int(third(face, second)), singles, begin, number)
        elif first >= 0 and second == EMPTY:
            number = add_single(board, row2, column2, int(third(face, first)), singles, begin, number)
    return number


@kernel
def add_single(board: Board, row: int, column: int, face: int, singles: Singles, begin: int, number: int) -> int:
    """Add a single unless it is there; returns the new number of singles."""
    for place in range(begin, number):
        if singles[place, ROW] == row and singles[place, COLUMN] == column and singles[place, FACE] == face:
            return number
    sets, points = count_new(board, row, column, face)
    singles[number, ROW], singles[number, COLUMN], singles[number, FACE] = row, column, face
    singles[number, SETS], singles[number, POINTS] = sets, points
    return number + 1
