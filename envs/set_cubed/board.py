"""The dice on the board: windows of three cells, the SETs in them, and their points.

The board has an edge of two cells that are outside of it, so that a window may be looked at without asking whether it
is on the board. Rows and columns count that edge; a `cell` is a number without it, row by row from 0.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.kernel import kernel
from fivedice.envs.set_cubed.drawing import MOST, num_columns
from fivedice.envs.set_cubed.faces import THIRD, WILD

EDGE = 2
SPAN = MOST + 2 * EDGE
EMPTY, OUTSIDE = -1, -2  # in `faces`, instead of a face
MOST_LAID = 3  # dice in a turn
NONE = -1  # instead of a cell, a die or a face in the hand

# The two other cells of each of the six windows through a cell: rows and columns from there.
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
    """The row of a cell, the edge counted."""
    return EDGE + cell // num_columns(options)


@kernel
def column_of(cell: int, options: Any) -> int:
    """The column of a cell, the edge counted."""
    return EDGE + cell % num_columns(options)


@kernel
def cell_of(row: int, column: int, options: Any) -> int:
    """The cell in a row and column."""
    return (row - EDGE) * num_columns(options) + column - EDGE


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
    """Whether the die laid last is a WILD whose face is still to be declared."""
    number = num_laid(state)
    if number == 0:
        return False
    cell = int(state["laid"][number - 1])
    return bool(state["faces"][row_of(cell, options), column_of(cell, options)] == WILD)


@kernel
def worth(state: Any, row: int, column: int, options: Any) -> int:
    """What a die counts in a SET: 0 if it is a WILD laid in this turn, else 1."""
    return 0 if state["wild"][row, column] and is_laid_now(state, row, column, options) else 1


@kernel
def new_sets(state: Any, row: int, column: int, face: int, own: int, options: Any) -> tuple[int, int]:
    """How many SETs a die with this face makes there, and their points if it counts `own` in each of them itself."""
    faces, number, points = state["faces"], 0, 0
    for down in range(2):
        right = 1 - down
        row1, column1, row2, column2 = row - down, column - right, row + down, column + right
        before, after = faces[row1, column1], faces[row2, column2]
        if before >= 0:
            row0, column0 = row1 - down, column1 - right
            further = faces[row0, column0]
            if further >= 0 and THIRD[further, before] == face:
                number += 1
                points += own + worth(state, row0, column0, options) + worth(state, row1, column1, options)
            if after >= 0 and THIRD[before, after] == face:
                number += 1
                points += own + worth(state, row1, column1, options) + worth(state, row2, column2, options)
        if after >= 0:
            row3, column3 = row2 + down, column2 + right
            further = faces[row3, column3]
            if further >= 0 and THIRD[after, further] == face:
                number += 1
                points += own + worth(state, row2, column2, options) + worth(state, row3, column3, options)
    return number, points


@kernel
def points_at(state: Any, row: int, column: int, face: int, own: int, options: Any) -> int:
    """The points of `new_sets`."""
    return new_sets(state, row, column, face, own, options)[1]
