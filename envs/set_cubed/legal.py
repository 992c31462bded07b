"""Which dice may be laid where, and which faces a WILD may be declared to be. No legal action leads to a dead end.

Each `mark_` function writes 1 for every legal choice into an array of zeros.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.kernel import kernel
from fivedice.envs.set_cubed.actions import lay_action
from fivedice.envs.set_cubed.board import (
    EDGE,
    EMPTY,
    MOST_LAID,
    NONE,
    NUM_WINDOWS,
    cell_of,
    column_of,
    num_laid,
    other_cells,
    row_of,
)
from fivedice.envs.set_cubed.drawing import LOGO, num_cells, num_columns, num_rows, printed
from fivedice.envs.set_cubed.faces import NUM_FACES, WILD
from fivedice.envs.set_cubed.hand import (
    HAND,
    hand_size,
    has_slot,
    slots_for,
    slots_in_pairs,
    slots_in_sets,
    with_slot,
)
from fivedice.envs.set_cubed.lookup import third

Marks = NDArray[np.int8] | NDArray[np.float32]


@kernel
def mark(slots: int, row: int, column: int, options: Any, marks: Marks) -> None:
    """The dice in this set of slots may be laid there; `marks` has shape (5 * cells,)."""
    cell = cell_of(row, column, options)
    for slot in range(HAND):
        if has_slot(slots, slot):
            marks[lay_action(options, slot, cell)] = 1


@kernel
def mark_lays(state: Any, is_opening: bool, options: Any, marks: Marks) -> None:
    """Where the player may lay, or swap, each die: (5 * cells,), slot by slot."""
    if is_opening:
        mark_logo(state, options, marks)
    elif state["waiting"] != NONE:
        mark_seconds(state, options, marks)
    else:
        mark_board(state, options, marks)


@kernel
def mark_board(state: Any, options: Any, marks: Marks) -> None:
    """Swaps, dice that complete a SET, and first dice of pairs."""
    faces, shown = state["faces"], state["hand_faces"][state["player"]]
    may_pair = num_laid(state) <= MOST_LAID - 2 and hand_size(shown) >= 2
    for row in range(EDGE, EDGE + num_rows(options)):
        for column in range(EDGE, EDGE + num_columns(options)):
            if faces[row, column] >= 0:
                if state["wild"][row, column]:
                    for slot in range(HAND):
                        if may_swap(state, slot, row, column):
                            mark(with_slot(0, slot), row, column, options, marks)
                pairs = slots_in_pairs(shown, int(faces[row, column]), NONE) if may_pair else 0
                mark_lines(state, row, column, pairs, options, marks)


@kernel
def may_swap(state: Any, slot: int, row: int, column: int) -> bool:
    """Whether the player may swap a die for the one on the board: before laying, and for a WILD of the same face."""
    is_same = state["faces"][row, column] == state["hand_faces"][state["player"], slot]
    return bool(state["wild"][row, column] and is_same and num_laid(state) == 0)


@kernel
def mark_lines(state: Any, row: int, column: int, pairs: int, options: Any, marks: Marks) -> None:
    """Dice that complete a SET with a die of the board, and first dice of pairs, in its row and its column.

    `pairs` is the set of slots whose dice make a SET with this die and another die of the hand. If two dice of the
    board need a third one, only the first of the two marks its cell. That is twice as fast as trying all `WINDOWS`.
    """
    faces, shown = state["faces"], state["hand_faces"][state["player"]]
    face = faces[row, column]
    for down in range(2):
        right = 1 - down
        before, after = faces[row - down, column - right], faces[row + down, column + right]
        beyond = faces[row + 2 * down, column + 2 * right]
        if after >= 0:
            slots = slots_for(shown, third(face, after))
            if before == EMPTY:
                mark(slots, row - down, column - right, options, marks)
            if beyond == EMPTY:
                mark(slots, row + 2 * down, column + 2 * right, options, marks)
        elif after == EMPTY and beyond >= 0:
            mark(slots_for(shown, third(face, beyond)), row + down, column + right, options, marks)
        if pairs:
            behind = faces[row - 2 * down, column - 2 * right]
            if after == EMPTY and (before == EMPTY or beyond == EMPTY):
                mark(pairs, row + down, column + right, options, marks)
            if after == EMPTY and beyond == EMPTY:
                mark(pairs, row + 2 * down, column + 2 * right, options, marks)
            if before == EMPTY and (after == EMPTY or behind == EMPTY):
                mark(pairs, row - down, column - right, options, marks)
            if before == EMPTY and behind == EMPTY:
                mark(pairs, row - 2 * down, column - 2 * right, options, marks)


@kernel
def mark_seconds(state: Any, options: Any, marks: Marks) -> None:
    """Dice that complete a SET with the die that waits for it."""
    faces, shown, waiting = state["faces"], state["hand_faces"][state["player"]], int(state["waiting"])
    row, column = row_of(waiting, options), column_of(waiting, options)
    face = faces[row, column]
    for window in range(NUM_WINDOWS):
        row1, column1, row2, column2 = other_cells(row, column, window)
        first, second = faces[row1, column1], faces[row2, column2]
        if first == EMPTY and second >= 0:
            mark(slots_for(shown, third(face, second)), row1, column1, options, marks)
        if first >= 0 and second == EMPTY:
            mark(slots_for(shown, third(face, first)), row2, column2, options, marks)


@kernel
def mark_logo(state: Any, options: Any, marks: Marks) -> None:
    """Dice of a SET of the hand, on the free cells of the logo."""
    shown, laid = state["hand_faces"][state["player"]], num_laid(state)
    if laid == 0:
        slots = slots_in_sets(shown)
    elif laid == 1:
        slots = slots_in_pairs(shown, laid_face(state, 0, options), NONE)
    else:
        slots = slots_for(shown, third(laid_face(state, 0, options), laid_face(state, 1, options)))
    for cell in range(num_cells(options)):
        row, column = row_of(cell, options), column_of(cell, options)
        if printed(options, cell) == LOGO and state["faces"][row, column] == EMPTY:
            mark(slots, row, column, options, marks)


@kernel
def laid_face(state: Any, number: int, options: Any) -> int:
    """The face of a die laid in this turn; `number` is 0 for the first."""
    cell = int(state["laid"][number])
    return int(state["faces"][row_of(cell, options), column_of(cell, options)])


@kernel
def mark_faces(state: Any, is_opening: bool, options: Any, marks: Marks) -> None:
    """The faces that the player may declare for the WILD laid last: (27,)."""
    if is_opening:
        mark_logo_faces(state, options, marks)
        return
    faces, shown = state["faces"], state["hand_faces"][state["player"]]
    laid = num_laid(state)
    cell = int(state["laid"][laid - 1])
    row, column = row_of(cell, options), column_of(cell, options)
    may_wait = state["waiting"] == NONE and laid < MOST_LAID
    for window in range(NUM_WINDOWS):
        row1, column1, row2, column2 = other_cells(row, column, window)
        first, second = faces[row1, column1], faces[row2, column2]
        if first >= 0 and second >= 0:
            face = completing_face(state, row, column, window, options)
            if face != NONE:
                marks[face] = 1
        elif may_wait and first == EMPTY and second >= 0:
            mark_partners(shown, int(second), marks)
        elif may_wait and first >= 0 and second == EMPTY:
            mark_partners(shown, int(first), marks)


@kernel
def completing_face(state: Any, row: int, column: int, window: int, options: Any) -> int:
    """The face that completes a SET in a window through a cell, or NONE. A die that waits must be in that window."""
    row1, column1, row2, column2 = other_cells(row, column, window)
    first, second = state["faces"][row1, column1], state["faces"][row2, column2]
    if first < 0 or second < 0:
        return NONE
    waiting = state["waiting"]
    if waiting not in (NONE, cell_of(row1, column1, options), cell_of(row2, column2, options)):
        return NONE
    return int(third(first, second))


@kernel
def mark_logo_faces(state: Any, options: Any, marks: Marks) -> None:
    """The faces that the player may declare for a WILD of the SET on the logo: (27,)."""
    shown, laid = state["hand_faces"][state["player"]], num_laid(state)
    if laid == 1:
        for face in range(NUM_FACES):
            if slots_in_pairs(shown, face, NONE):
                marks[face] = 1
    elif laid == 2:
        mark_partners(shown, laid_face(state, 0, options), marks)
    else:
        marks[third(laid_face(state, 0, options), laid_face(state, 1, options))] = 1


@kernel
def mark_partners(shown: NDArray[np.int8], face: int, marks: Marks) -> None:
    """The faces that make a SET with `face` and a die of the hand."""
    for slot in range(HAND):
        if shown[slot] == WILD:
            marks[:] = 1
        elif shown[slot] != NONE:
            marks[third(face, shown[slot])] = 1


@kernel
def mark_keeps(state: Any, marks: NDArray[np.int8]) -> None:
    """The sets of slots that the player may keep in the EXTRA roll: (32,). Every set of slots that hold a die."""
    marks[: 1 << hand_size(state["hand_faces"][state["player"]])] = 1
