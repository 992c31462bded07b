"""The best way to lay up to three dice in SET Cubed, by exact search.

A turn is a set of dice on cells: in whatever order they are laid, the points are the same. Each can be built from
*singles*, dice that complete a SET when they are laid, and *pairs*, two dice on one window with a die of the board. So
the search goes through

- a single, a second single, a third;
- a single, then a pair with that single's die (a pair with any other die could as well be laid first);
- a pair, then a single.

After a die has been laid only the windows through it hold new singles; the others are those from before. The last
single of a turn is therefore the best of a sorted list and of at most twelve windows. The search lays dice on the
state that it is given and takes them up again.
"""

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Options, State
from fivedice.envs.set_cubed.board import (
    EDGE,
    EMPTY,
    MOST_LAID,
    NONE,
    NUM_WINDOWS,
    WINDOWS,
    cell_of,
    column_of,
    is_undeclared,
    new_sets,
    num_laid,
    points_at,
    row_of,
)
from fivedice.envs.set_cubed.drawing import MOST, bonus, num_cells, num_columns, num_rows
from fivedice.envs.set_cubed.faces import NUM_FACES, THIRD, WILD
from fivedice.envs.set_cubed.hand import HAND
from fivedice.envs.set_cubed.legal import mark_faces
from fivedice.envs.set_cubed.rules import declare, declare_action
from fivedice.envs.set_cubed.rules import lay as lay_die

NO_ACTION = -1
# A single: what the die shows in the hand, its cell, its face (that of a WILD is declared), its points.
SHOWS, CELL, FACE, POINTS = 0, 1, 2, 3
FIELDS = 4
NEW_SINGLES = 2 * NUM_WINDOWS  # through one die: a natural one and a WILD for each window
MOST_SINGLES = NEW_SINGLES * MOST * MOST

Singles = NDArray[np.int32]
Best = NDArray[np.int64]  # (2,) the first action of the best turn so far, and its points


@kernel(allocates=True)
def best_lay(state: State, options: Options) -> tuple[int, int]:
    """The first action of the best way to go on laying, and its points; NO_ACTION and 0 if nothing scores."""
    best = np.array([NO_ACTION, 0])
    if is_undeclared(state, options):
        best_declaration(state, options, best)
    else:
        go_on(state, options, best)
    return int(best[0]), int(best[1])


@kernel
def go_on(state: State, options: Options, best: Best) -> None:
    """Find the best turn from where no WILD is to be declared."""
    best[0], best[1] = NO_ACTION, 0
    if state["waiting"] != NONE:
        finish_pair(state, options, best)
    elif num_laid(state) < MOST_LAID:
        search(state, options, best)


@kernel
def note(best: Best, action: int, points: int) -> None:
    """Keep a turn that is better than the best so far."""
    if points > best[1]:
        best[0], best[1] = action, points


@kernel(allocates=True)
def best_declaration(state: State, options: Options, best: Best) -> None:
    """Find the face of the WILD that was just laid."""
    marks, rest = np.zeros(NUM_FACES, np.int8), np.zeros(2, np.int64)
    mark_faces(state, False, options, marks)
    best[1] = -1  # something must be declared, were it for nothing
    cell, waiting = int(state["laid"][num_laid(state) - 1]), int(state["waiting"])
    row, column = row_of(cell, options), column_of(cell, options)
    for face in range(NUM_FACES):
        if marks[face]:
            state["faces"][row, column] = face
            number, points = new_sets(state, row, column, face, 0, options)
            state["waiting"] = NONE if number > 0 else cell
            go_on(state, options, rest)
            note(best, int(declare_action(options)) + face, points + rest[1])
    state["faces"][row, column], state["waiting"] = WILD, waiting


@kernel(allocates=True)
def finish_pair(state: State, options: Options, best: Best) -> None:
    """Find the best die for the one that waits, and what comes after it."""
    best[1] = -1  # a SET must be made, were it of three WILDs
    ways, rest = np.empty((NEW_SINGLES, FIELDS), np.int32), np.zeros(2, np.int64)
    waiting = int(state["waiting"])
    number = new_singles(state, waiting, options, ways, 0)
    state["waiting"] = NONE
    for way in range(number):
        slot = slot_showing(state, int(ways[way, SHOWS]))
        points = lay(state, slot, int(ways[way, CELL]), int(ways[way, FACE]), options)
        rest[1] = 0
        if num_laid(state) < MOST_LAID:
            search(state, options, rest)
        note(best, action_of(slot, int(ways[way, CELL]), options), points + rest[1])
        take_up(state, slot, int(ways[way, SHOWS]), options)
    state["waiting"] = waiting


@kernel(allocates=True)
def search(state: State, options: Options, best: Best) -> None:
    """Find the best way to lay the dice that may still be laid, at least one; nothing waits for a SET."""
    left = MOST_LAID - num_laid(state)
    singles = np.empty((MOST_SINGLES, FIELDS), np.int32)
    fresh, spare = np.empty((NEW_SINGLES, FIELDS), np.int32), np.empty((NEW_SINGLES, FIELDS), np.int32)
    number = all_singles(state, options, singles)
    for first in range(number):
        shows, cell = int(singles[first, SHOWS]), int(singles[first, CELL])
        slot = slot_showing(state, shows)
        action = action_of(slot, cell, options)
        points = lay(state, slot, cell, int(singles[first, FACE]), options)
        note(best, action, points)
        if left == 2:
            note(best, action, points + best_last(state, singles, number, spare, 1, options))
        elif left >= 3:
            for second in range(first + 1, number):
                if is_possible(state, singles[second], options):
                    go_second(state, action, points, singles[second], singles, number, spare, options, best)
            num_fresh = new_singles(state, cell, options, fresh, 0)
            for second in range(num_fresh):
                go_second(state, action, points, fresh[second], singles, number, spare, options, best)
            go_pairs(state, action, points, cell, singles, number, spare, options, best)
        take_up(state, slot, shows, options)
    if left >= 2:
        for cell in range(num_cells(options)):
            if state["faces"][row_of(cell, options), column_of(cell, options)] >= 0:
                go_pairs(state, NO_ACTION, 0, cell, singles, number, spare, options, best)


@kernel
def go_second(
    state: State,
    action: int,
    points: int,
    way: NDArray[np.int32],
    singles: Singles,
    number: int,
    spare: Singles,
    options: Options,
    best: Best,
) -> None:
    """Lay a second single after a turn that began with `action` and has scored `points`, and the best third."""
    slot = slot_showing(state, int(way[SHOWS]))
    points += lay(state, slot, int(way[CELL]), int(way[FACE]), options)
    note(best, action, points + best_last(state, singles, number, spare, 2, options))
    take_up(state, slot, int(way[SHOWS]), options)


@kernel
def go_pairs(
    state: State,
    action: int,
    points: int,
    cell: int,
    singles: Singles,
    number: int,
    spare: Singles,
    options: Options,
    best: Best,
) -> None:
    """Lay every pair that makes a SET with the die on `cell`, and the best third; `action` NO_ACTION: the turn's first.

    Which of the two is laid first makes no difference: the other one completes the SET.
    """
    row, column = row_of(cell, options), column_of(cell, options)
    faces, shown = state["faces"], state["hand_faces"][state["player"]]
    for window in range(NUM_WINDOWS):
        row1, column1 = row + WINDOWS[window, 0], column + WINDOWS[window, 1]
        row2, column2 = row + WINDOWS[window, 2], column + WINDOWS[window, 3]
        if faces[row1, column1] != EMPTY or faces[row2, column2] != EMPTY:
            continue
        cell1, cell2 = cell_of(row1, column1, options), cell_of(row2, column2, options)
        for slot1 in range(HAND):
            shows1 = int(shown[slot1])
            if shows1 == NONE or slot_showing(state, shows1) != slot1:
                continue
            for slot2 in range(HAND):
                shows2 = int(shown[slot2])
                if slot2 == slot1 or shows2 == NONE:
                    continue
                start, stop = pair_faces(int(faces[row, column]), shows1, shows2)
                for face1 in range(start, stop):
                    face2 = int(THIRD[faces[row, column], face1])
                    gained = lay(state, slot1, cell1, face1, options)
                    gained += lay(state, slot2, cell2, face2, options)
                    first = action_of(slot1, cell1, options) if action == NO_ACTION else action
                    note(best, first, points + gained)
                    if num_laid(state) < MOST_LAID:
                        last = best_last(state, singles, number, spare, 2, options)
                        note(best, first, points + gained + last)
                    take_up(state, slot2, shows2, options)
                    take_up(state, slot1, shows1, options)


@kernel
def pair_faces(face: int, shows1: int, shows2: int) -> tuple[int, int]:
    """What the first of two dice can be in a SET with `face` and the second: a range of faces."""
    if shows1 == WILD and shows2 == WILD:
        return 0, NUM_FACES
    if shows1 == WILD:
        needed = int(THIRD[face, shows2])
        return needed, needed + 1
    if shows2 == WILD or THIRD[face, shows1] == shows2:
        return shows1, shows1 + 1
    return 0, 0


@kernel
def best_last(state: State, singles: Singles, number: int, spare: Singles, since: int, options: Options) -> int:
    """The most points of one more single: of those from before, or through one of the last `since` dice."""
    most = 0
    for place in range(number):
        if is_possible(state, singles[place], options):
            most = int(singles[place, POINTS])  # the best comes first
            break
    laid = num_laid(state)
    for place in range(laid - since, laid):
        num_fresh = new_singles(state, int(state["laid"][place]), options, spare, 0)
        for way in range(num_fresh):
            most = max(most, int(spare[way, POINTS]))
    return most


@kernel
def all_singles(state: State, options: Options, singles: Singles) -> int:
    """Write every single, the best first; returns how many. One may stand there more than once."""
    number = 0
    for row in range(EDGE, EDGE + num_rows(options)):
        for column in range(EDGE, EDGE + num_columns(options)):
            if state["faces"][row, column] == EMPTY:
                for window in range(NUM_WINDOWS):
                    first = state["faces"][row + WINDOWS[window, 0], column + WINDOWS[window, 1]]
                    second = state["faces"][row + WINDOWS[window, 2], column + WINDOWS[window, 3]]
                    if first >= 0 and second >= 0:
                        number = add_singles(state, row, column, int(THIRD[first, second]), singles, number, options)
    for end in range(1, number):
        place = end
        while place > 0 and singles[place, POINTS] > singles[place - 1, POINTS]:
            for field in range(FIELDS):
                better = singles[place, field]
                singles[place, field] = singles[place - 1, field]
                singles[place - 1, field] = better
            place -= 1
    return number


@kernel
def new_singles(state: State, cell: int, options: Options, singles: Singles, number: int) -> int:
    """Add the singles in windows through a die; returns how many there are then."""
    faces = state["faces"]
    row, column = row_of(cell, options), column_of(cell, options)
    for window in range(NUM_WINDOWS):
        row1, column1 = row + WINDOWS[window, 0], column + WINDOWS[window, 1]
        row2, column2 = row + WINDOWS[window, 2], column + WINDOWS[window, 3]
        first, second = faces[row1, column1], faces[row2, column2]
        if first == EMPTY and second >= 0:
            face = int(THIRD[faces[row, column], second])
            number = add_singles(state, row1, column1, face, singles, number, options)
        elif second == EMPTY and first >= 0:
            face = int(THIRD[faces[row, column], first])
            number = add_singles(state, row2, column2, face, singles, number, options)
    return number


@kernel
def add_singles(state: State, row: int, column: int, face: int, singles: Singles, number: int, options: Options) -> int:
    """Add a die of the hand that shows `face` and a WILD to be laid there; returns how many singles there are then."""
    cell = cell_of(row, column, options)
    for own in range(2):  # what the die counts: a WILD nothing
        shows = face if own else WILD
        if slot_showing(state, shows) != NONE:
            singles[number, SHOWS], singles[number, CELL], singles[number, FACE] = shows, cell, face
            singles[number, POINTS] = points_at(state, row, column, face, own, options) + bonus(options, cell)
            number += 1
    return number


@kernel
def slot_showing(state: State, shows: int) -> int:
    """The first slot of the hand that shows this, or NONE."""
    shown = state["hand_faces"][state["player"]]
    for slot in range(HAND):
        if shown[slot] == shows:
            return slot
    return NONE


@kernel
def is_possible(state: State, way: NDArray[np.int32], options: Options) -> bool:
    """Whether a single from before still is: such a die in the hand, its cell free."""
    cell = int(way[CELL])
    is_free = state["faces"][row_of(cell, options), column_of(cell, options)] == EMPTY
    return bool(is_free and slot_showing(state, int(way[SHOWS])) != NONE)


@kernel
def action_of(slot: int, cell: int, options: Options) -> int:
    """The action that lays a die."""
    return slot * int(num_cells(options)) + cell


@kernel
def lay(state: State, slot: int, cell: int, face: int, options: Options) -> int:
    """Lay a die as `face` and leave its slot free; returns its points."""
    row, column = row_of(cell, options), column_of(cell, options)
    shown = state["hand_faces"][state["player"]]
    is_wild = shown[slot] == WILD
    state["faces"][row, column], state["wild"][row, column] = face, is_wild
    state["laid"][num_laid(state)] = cell
    shown[slot] = NONE
    return int(points_at(state, row, column, face, 0 if is_wild else 1, options) + bonus(options, cell))


@kernel
def take_up(state: State, slot: int, shows: int, options: Options) -> None:
    """Take the die that was laid last back into its slot."""
    last = num_laid(state) - 1
    cell = int(state["laid"][last])
    row, column = row_of(cell, options), column_of(cell, options)
    state["faces"][row, column], state["wild"][row, column] = EMPTY, 0
    state["laid"][last] = NONE
    state["hand_faces"][state["player"], slot] = shows


@kernel
def is_swap(state: State, options: Options, action: int) -> bool:
    """Whether an action puts a die where one lies already."""
    cell = action % int(num_cells(options))
    return bool(
        action < declare_action(options) and state["faces"][row_of(cell, options), column_of(cell, options)] != EMPTY
    )


@kernel
def lay_or_declare(state: State, options: Options, action: int) -> None:
    """Carry out an action that no chance takes part in; the turn does not end by it, even if nothing can follow."""
    if action < declare_action(options):
        lay_die(state, options, action // num_cells(options), action % num_cells(options))
    else:
        declare(state, options, action - declare_action(options))
