"""The dice on the board: three cells in a row, the SETs in them, and their points.

A *window* is three consecutive cells of a row or column. The arrays of the state have an edge of two cells around the
board, all OUTSIDE, so every window through a cell of the board can be read. Rows and columns count this edge. A `cell`
does not: it is a number from 0, row by row.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.kernel import kernel
from fivedice.envs.set_cubed.drawing import MOST, bonus, num_columns
from fivedice.envs.set_cubed.faces import WILD
from fivedice.envs.set_cubed.lookup import third

EDGE = 2
SPAN = MOST + 2 * EDGE
EMPTY, OUTSIDE = -1, -2  # in `faces`, instead of a face
MOST_LAID = 3  # dice in a turn
NONE = -1  # instead of a cell, a die or a face in the hand

# The two other cells of each of the six windows through a cell, as steps from it: rows and columns.
WINDOWS = np.array(
    [
        (0, 1, 0, 2),
        (0, -1, 0, 1),
        (0, -2, 0, -1),
        (1, 0, 2, 0),
        (-1, 0, 1, 0),
        (-2, 0, -1, 0),
    ]
)
NUM_WINDOWS = 6

Faces = NDArray[np.int8]


@kernel
def row_of(cell: int, options: Any) -> int:
    """The row of a cell; the edge counts."""
    return EDGE + cell // num_columns(options)


@kernel
def column_of(cell: int, options: Any) -> int:
    """The column of a cell; the edge counts."""
    return EDGE + cell % num_columns(options)


@kernel
def cell_of(row: int, column: int, options: Any) -> int:
    """The cell in a row and column."""
    return (row - EDGE) * num_columns(options) + column - EDGE


@kernel
def other_cells(row: int, column: int, window: int) -> tuple[int, int, int, int]:
    """The two other cells of a window (0 to 5) through a cell: row and column of one, row and column of the other."""
    return (
        row + WINDOWS[window, 0],
        column + WINDOWS[window, 1],
        row + WINDOWS[window, 2],
        column + WINDOWS[window, 3],
    )


@kernel
def num_laid(state: Any) -> int:
    """How many dice the player has laid in this turn."""
    number = 0
    while number < MOST_LAID and state["laid"][number] != NONE:
        number += 1
    return number


@kernel
def is_laid_now(state: Any, row: int, column: int, options: Any) -> bool:
    """Whether the die in a row and column was laid in this turn."""
    cell = cell_of(row, column, options)
    return bool(state["laid"][0] == cell or state["laid"][1] == cell or state["laid"][2] == cell)


@kernel
def is_undeclared(state: Any, options: Any) -> bool:
    """Whether the die laid last is a WILD, and the player has not declared its face yet."""
    number = num_laid(state)
    if number == 0:
        return False
    cell = int(state["laid"][number - 1])
    return bool(state["faces"][row_of(cell, options), column_of(cell, options)] == WILD)


@kernel
def worth(state: Any, row: int, column: int, options: Any) -> int:
    """What a die counts in each SET: 0 if it is a WILD laid in this turn, else 1."""
    return 0 if state["wild"][row, column] and is_laid_now(state, row, column, options) else 1


@kernel
def new_sets(state: Any, row: int, column: int, face: int, own: int, options: Any) -> tuple[int, int]:
    """How many SETs a die with this face completes there, and their points. The die itself counts `own` in each SET."""
    number, points = 0, 0
    for window in range(NUM_WINDOWS):
        row1, column1, row2, column2 = other_cells(row, column, window)
        gained = points_in(state, row1, column1, row2, column2, face, own, options)
        if gained != NONE:
            number += 1
            points += gained
    return number, points


@kernel
def points_in(state: Any, row1: int, column1: int, row2: int, column2: int, face: int, own: int, options: Any) -> int:
    """The points of a SET of the dice on two cells and this face, which counts `own`; NONE if they are not a SET."""
    first, second = state["faces"][row1, column1], state["faces"][row2, column2]
    if first < 0 or second < 0 or third(first, second) != face:
        return NONE
    return own + worth(state, row1, column1, options) + worth(state, row2, column2, options)


@kernel
def points_at(state: Any, row: int, column: int, face: int, own: int, options: Any) -> int:
    """The points of `new_sets`."""
    return new_sets(state, row, column, face, own, options)[1]


@kernel
def lay_points(state: Any, row: int, column: int, face: int, own: int, options: Any) -> int:
    """The points of laying a die with this face on an empty cell: its new SETs, and the bonus square.

    A WILD without a declared face completes no SET.
    """
    return points_at(state, row, column, face, own, options) + bonus(options, cell_of(row, column, options))


@kernel
def put_die(state: Any, cell: int, face: int, is_wild: bool, options: Any) -> None:
    """Put a die on an empty cell, as the next die that is laid in this turn."""
    row, column = row_of(cell, options), column_of(cell, options)
    state["faces"][row, column], state["wild"][row, column] = face, is_wild
    state["laid"][num_laid(state)] = cell
