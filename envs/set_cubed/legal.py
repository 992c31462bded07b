"""Which dice may be laid where, and what a WILD may be declared to be. Nothing legal leads into a dead end.

Each function writes 1 for what is legal into an array of zeros.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.kernel import kernel
from fivedice.envs.set_cubed.board import (
    EDGE,
    EMPTY,
    MOST_LAID,
    NONE,
    NUM_WINDOWS,
    WINDOWS,
    cell_of,
    column_of,
    num_laid,
    row_of,
)
from fivedice.envs.set_cubed.drawing import LOGO, num_cells, num_columns, num_rows, printed
from fivedice.envs.set_cubed.faces import NUM_FACES, THIRD, WILD
from fivedice.envs.set_cubed.hand import HAND, hand_size, slots_for, slots_in_pairs, slots_in_sets

Marks = NDArray[np.int8] | NDArray[np.float32]


@kernel
def mark(slots: int, row: int, column: int, options: Any, marks: Marks) -> None:
    """Dice in these slots may be laid there; `marks` is (5 * cells,)."""
    cell = cell_of(row, column, options)
    for slot in range(HAND):
        if (slots >> slot) & 1:
            marks[slot * num_cells(options) + cell] = 1


@kernel
def mark_lays(state: Any, is_opening: bool, options: Any, marks: Marks) -> None:
    """Where the player may lay, or swap, each die: (5 * cells,), die by die."""
    if is_opening:
        mark_logo(state, options, marks)
    elif state["waiting"] != NONE:
        mark_seconds(state, options, marks)
    else:
        mark_board(state, options, marks)


@kernel
def mark_board(state: Any, options: Any, marks: Marks) -> None:
    """Swaps before anything is laid, dice that complete a SET, and first dice of pairs."""
    faces, shown = state["faces"], state["hand_faces"][state["player"]]
    laid = num_laid(state)
    may_pair = laid <= MOST_LAID - 2 and hand_size(shown) >= 2
    for row in range(EDGE, EDGE + num_rows(options)):
        for column in range(EDGE, EDGE + num_columns(options)):
            face = faces[row, column]
            if face < 0:
                continue
            if laid == 0 and state["wild"][row, column]:
                for slot in range(HAND):
                    if shown[slot] == face:
                        mark(1 << slot, row, column, options, marks)
            pairs = slots_in_pairs(shown, int(face), NONE) if may_pair else 0
            for down in range(2):
                right = 1 - down
                before = faces[row - down, column - right]
                after = faces[row + down, column + right]
                beyond = faces[row + 2 * down, column + 2 * right]
                if after >= 0:
                    slots = slots_for(shown, THIRD[face, after])
                    if before == EMPTY:
                        mark(slots, row - down, column - right, options, marks)
                    if beyond == EMPTY:
                        mark(slots, row + 2 * down, column + 2 * right, options, marks)
                elif after == EMPTY and beyond >= 0:
                    mark(slots_for(shown, THIRD[face, beyond]), row + down, column + right, options, marks)
                if pairs:
                    if after == EMPTY and (before == EMPTY or beyond == EMPTY):
                        mark(pairs, row + down, column + right, options, marks)
                    if after == EMPTY and beyond == EMPTY:
                        mark(pairs, row + 2 * down, column + 2 * right, options, marks)
                    behind = faces[row - 2 * down, column - 2 * right]
                    if before == EMPTY and (after == EMPTY or behind == EMPTY):
                        mark(pairs, row - down, column - right, options, marks)
                    if before == EMPTY and behind == EMPTY:
                        mark(pairs, row - 2 * down, column - 2 * right, options, marks)


@kernel
def mark_seconds(state: Any, options: Any, marks: Marks) -> None:
    """Dice that complete a SET with the one that waits for it."""
    faces, shown = state["faces"], state["hand_faces"][state["player"]]
    row, column = row_of(int(state["waiting"]), options), column_of(int(state["waiting"]), options)
    face = faces[row, column]
    for window in range(NUM_WINDOWS):
        row1, column1 = row + WINDOWS[window, 0], column + WINDOWS[window, 1]
        row2, column2 = row + WINDOWS[window, 2], column + WINDOWS[window, 3]
        first, second = faces[row1, column1], faces[row2, column2]
        if first == EMPTY and second >= 0:
            mark(slots_for(shown, THIRD[face, second]), row1, column1, options, marks)
        if second == EMPTY and first >= 0:
            mark(slots_for(shown, THIRD[face, first]), row2, column2, options, marks)


@kernel
def mark_logo(state: Any, options: Any, marks: Marks) -> None:
    """Dice of a SET of the hand, on the free cells of the logo."""
    shown, laid = state["hand_faces"][state["player"]], num_laid(state)
    if laid == 0:
        slots = slots_in_sets(shown)
    elif laid == 1:
        slots = slots_in_pairs(shown, laid_face(state, 0, options), NONE)
    else:
        slots = slots_for(shown, THIRD[laid_face(state, 0, options), laid_face(state, 1, options)])
    for cell in range(num_cells(options)):
        row, column = row_of(cell, options), column_of(cell, options)
        if printed(options, cell) == LOGO and state["faces"][row, column] == EMPTY:
            mark(slots, row, column, options, marks)


@kernel
def laid_face(state: Any, number: int, options: Any) -> int:
    """The face of a die laid in this turn; `number` 0 is the first."""
    cell = int(state["laid"][number])
    return int(state["faces"][row_of(cell, options), column_of(cell, options)])


@kernel
def mark_faces(state: Any, is_opening: bool, options: Any, marks: Marks) -> None:
    """What the WILD that was just laid may be declared to be: (27,)."""
    if is_opening:
        mark_logo_faces(state, options, marks)
        return
    faces, shown = state["faces"], state["hand_faces"][state["player"]]
    laid = num_laid(state)
    cell = int(state["laid"][laid - 1])
    row, column = row_of(cell, options), column_of(cell, options)
    may_wait = state["waiting"] == NONE and laid < MOST_LAID
    for window in range(NUM_WINDOWS):
        face = completing_face(state, row, column, window, options)
        if face != NONE:
            marks[face] = 1
        elif may_wait:
            first = faces[row + WINDOWS[window, 0], column + WINDOWS[window, 1]]
            second = faces[row + WINDOWS[window, 2], column + WINDOWS[window, 3]]
            if max(first, second) >= 0 and min(first, second) == EMPTY:
                mark_partners(shown, int(max(first, second)), marks)


@kernel
def completing_face(state: Any, row: int, column: int, window: int, options: Any) -> int:
    """The face that makes a SET of a window through a cell, or NONE. If a die waits for a SET, it must be in it."""
    row1, column1 = row + WINDOWS[window, 0], column + WINDOWS[window, 1]
    row2, column2 = row + WINDOWS[window, 2], column + WINDOWS[window, 3]
    first, second = state["faces"][row1, column1], state["faces"][row2, column2]
    if first < 0 or second < 0:
        return NONE
    waiting = state["waiting"]
    if waiting not in (NONE, cell_of(row1, column1, options), cell_of(row2, column2, options)):
        return NONE
    return int(THIRD[first, second])


@kernel
def mark_logo_faces(state: Any, options: Any, marks: Marks) -> None:
    """The same for a WILD of the SET on the logo."""
    shown, laid = state["hand_faces"][state["player"]], num_laid(state)
    if laid == 1:
        for face in range(NUM_FACES):
            if slots_in_pairs(shown, face, NONE):
                marks[face] = 1
    elif laid == 2:
        mark_partners(shown, laid_face(state, 0, options), marks)
    else:
        marks[THIRD[laid_face(state, 0, options), laid_face(state, 1, options)]] = 1


@kernel
def mark_partners(shown: NDArray[np.int8], face: int, marks: Marks) -> None:
    """The faces that make a SET with this one and a die of the hand."""
    for slot in range(HAND):
        if shown[slot] == WILD:
            marks[:] = 1
        elif shown[slot] != NONE:
            marks[THIRD[face, shown[slot]]] = 1


@kernel
def mark_keeps(state: Any, marks: NDArray[np.int8]) -> None:
    """The sets of dice that may be kept in the EXTRA roll: (32,). All of them, of the slots that hold a die."""
    marks[: 1 << hand_size(state["hand_faces"][state["player"]])] = 1
