"""The best way to lay up to three dice in SET Cubed, by exact search.

A turn is a set of dice on cells. The order in which they are laid does not change the points. Every turn consists of
*singles*, dice that complete a SET when they are laid, and *pairs*, two dice that make a SET with a die of the board.
The search tries every

- single, then a second and a third single;
- single, then a pair with the die of that single (a pair with another die can be laid first);
- pair, then a single.

Laying a die creates new singles only in the windows through it; all other singles existed before. So the last single of
a turn is the best of a sorted list and of at most twelve windows. The search lays dice on the state that it is given
and takes them up again.

One search can also note the points of the best turn for each *first* action. Singles on the board, and both dice of a
pair, can be laid first. So each turn is noted for every die that can begin it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Options, State
from fivedice.envs.set_cubed.actions import declare_action, lay_action
from fivedice.envs.set_cubed.board import (
    EDGE,
    EMPTY,
    MOST_LAID,
    NONE,
    NUM_WINDOWS,
    cell_of,
    column_of,
    is_undeclared,
    lay_points,
    num_laid,
    other_cells,
    put_die,
    row_of,
    worth,
)
from fivedice.envs.set_cubed.drawing import MOST, num_cells, num_columns, num_rows
from fivedice.envs.set_cubed.faces import NUM_FACES, WILD
from fivedice.envs.set_cubed.hand import HAND
from fivedice.envs.set_cubed.legal import mark_faces
from fivedice.envs.set_cubed.lookup import third
from fivedice.envs.set_cubed.rules import declare

NO_ACTION = -1
# The numbers of a single: the upper face in the hand, the cell, the face on the board (for a WILD the declared one),
# the points.
SHOWS, CELL, FACE, POINTS = 0, 1, 2, 3
FIELDS = 4
NEW_SINGLES = 2 * NUM_WINDOWS  # through one die: for each window, a die with the right face and a WILD
MOST_SINGLES = NEW_SINGLES * MOST * MOST

Singles = NDArray[np.int32]  # (n, 4)
Best = NDArray[np.int64]  # (2,) the first action of the best turn so far, and its points
ByFirst = NDArray[np.int64]  # (num_actions,) the points of the best turn so far by its first action; (0,): not wanted


class Known(NamedTuple):
    """The singles that existed before the search laid a die.

    Args:
        singles: (MOST_SINGLES, 4) int32, of which the first `number` are in use, the best first.
        number: how many singles there are.
        spare: (NEW_SINGLES, 4) int32, scratch memory for the singles through one die.
        faces_at: (cells,) int64, the faces of the singles on each cell as a set of bits; (0,) if it is not needed.
    """

    singles: Singles
    number: int
    spare: Singles
    faces_at: NDArray[np.int64]


class Begun(NamedTuple):
    """A turn of which the search has laid the beginning.

    Args:
        action: its first action; NO_ACTION if no die is laid yet.
        points: its points so far.
    """

    action: int
    points: int


@kernel(allocates=True)
def best_lay(state: State, options: Options) -> tuple[int, int]:
    """The first action of the best way to continue the turn, without swaps, and its points.

    NO_ACTION and 0 if nothing scores.
    """
    best, unwanted = np.array([NO_ACTION, 0]), np.empty(0, np.int64)
    look_ahead(state, options, best, unwanted)
    return int(best[0]), int(best[1])


@kernel(allocates=True)
def write_first_lays(state: State, options: Options, by_first: ByFirst) -> None:
    """Write the points of the best turn after each action that lays a die or declares a WILD; NONE if it is illegal."""
    best = np.array([NO_ACTION, 0])
    by_first[:] = NONE
    look_ahead(state, options, best, by_first)
    share_with_equal_dice(state, options, by_first)


@kernel
def share_with_equal_dice(state: State, options: Options, by_first: ByFirst) -> None:
    """Give equal dice the same points: the search may note a turn for only one of them."""
    shown = state["hand_faces"][state["player"]]
    for slot in range(1, HAND):
        first = slot_showing(state, int(shown[slot]))
        if shown[slot] == NONE or first == slot:
            continue
        for cell in range(num_cells(options)):
            one, other = lay_action(options, first, cell), lay_action(options, slot, cell)
            by_first[one] = max(by_first[one], by_first[other])
    for slot in range(1, HAND):
        first = slot_showing(state, int(shown[slot]))
        if shown[slot] != NONE and first != slot:
            for cell in range(num_cells(options)):
                by_first[lay_action(options, slot, cell)] = by_first[lay_action(options, first, cell)]


@kernel
def look_ahead(state: State, options: Options, best: Best, by_first: ByFirst) -> None:
    """Find the best way to continue the turn, and for each first action if wanted."""
    if is_undeclared(state, options):
        best_declaration(state, options, best, by_first)
    else:
        continue_turn(state, options, best, by_first)


@kernel
def continue_turn(state: State, options: Options, best: Best, by_first: ByFirst) -> None:
    """Find the best way to continue if no WILD has to be declared."""
    best[0], best[1] = NO_ACTION, 0
    if state["waiting"] != NONE:
        finish_pair(state, options, best, by_first)
    elif num_laid(state) < MOST_LAID:
        search(state, options, best, by_first)


@kernel
def note(best: Best, by_first: ByFirst, action: int, points: int) -> None:
    """Keep a turn if it is better than the best so far."""
    if points > best[1]:
        best[0], best[1] = action, points
    note_first(by_first, action, points)


@kernel
def note_first(by_first: ByFirst, action: int, points: int) -> None:
    """Note a turn for one of its dice that can be laid first, if this is wanted."""
    if len(by_first) > 0:
        by_first[action] = max(by_first[action], points)


@kernel(allocates=True)
def best_declaration(state: State, options: Options, best: Best, by_first: ByFirst) -> None:
    """Find the best face for the WILD that was laid last."""
    marks, rest, unwanted = np.zeros(NUM_FACES, np.int8), np.zeros(2, np.int64), np.empty(0, np.int64)
    mark_faces(state, False, options, marks)
    best[1] = -1  # the WILD must be declared, even if no face scores
    cell, waiting, scores = int(state["laid"][num_laid(state) - 1]), int(state["waiting"]), state["scores"]
    player, before = int(state["player"]), int(scores[state["player"]])
    for face in range(NUM_FACES):
        if marks[face]:
            declare(state, options, face)
            points = int(scores[player]) - before
            continue_turn(state, options, rest, unwanted)
            note(best, by_first, int(declare_action(options)) + face, points + rest[1])
            scores[player], state["waiting"] = before, waiting
    state["faces"][row_of(cell, options), column_of(cell, options)] = WILD


@kernel(allocates=True)
def finish_pair(state: State, options: Options, best: Best, by_first: ByFirst) -> None:
    """Find the best die that completes a SET with the die that waits, and the best way to continue after it."""
    best[1] = -1  # the SET must be completed, even if it scores nothing
    ways, rest = np.empty((NEW_SINGLES, FIELDS), np.int32), np.zeros(2, np.int64)
    unwanted = np.empty(0, np.int64)
    waiting = int(state["waiting"])
    number = new_singles(state, waiting, options, ways)
    state["waiting"] = NONE
    for way in range(number):
        slot = slot_showing(state, int(ways[way, SHOWS]))
        points = lay(state, slot, int(ways[way, CELL]), int(ways[way, FACE]), options)
        rest[1] = 0
        if num_laid(state) < MOST_LAID:
            search(state, options, rest, unwanted)
        note(best, by_first, lay_action(options, slot, int(ways[way, CELL])), points + rest[1])
        take_up(state, slot, int(ways[way, SHOWS]), options)
    state["waiting"] = waiting


@kernel(allocates=True)
def search(state: State, options: Options, best: Best, by_first: ByFirst) -> None:
    """Find the best way to lay one or more dice; no die waits for a SET."""
    left = MOST_LAID - num_laid(state)
    singles = np.empty((MOST_SINGLES, FIELDS), np.int32)
    number = all_singles(state, options, singles)
    faces_at = np.zeros(num_cells(options) if len(by_first) > 0 else 0, np.int64)
    if len(faces_at) > 0:
        for single in range(number):
            faces_at[singles[single, CELL]] |= 1 << int(singles[single, FACE])
    known = Known(singles, number, np.empty((NEW_SINGLES, FIELDS), np.int32), faces_at)
    fresh = np.empty((NEW_SINGLES, FIELDS), np.int32)
    for first in range(number):
        shows, cell = int(singles[first, SHOWS]), int(singles[first, CELL])
        slot = slot_showing(state, shows)
        begun = Begun(lay_action(options, slot, cell), lay(state, slot, cell, int(singles[first, FACE]), options))
        note(best, by_first, begun.action, begun.points)
        if left == 2:
            note(best, by_first, begun.action, begun.points + best_last(state, options, known, 1))
        elif left >= 3:
            for second in range(first + 1, number):
                if is_possible(state, singles[second], options):
                    points = lay_second(state, options, begun, singles[second], known)
                    note(best, by_first, begun.action, points)
                    if len(by_first) > 0:
                        slot2 = slot_showing(state, int(singles[second, SHOWS]))
                        note_first(by_first, lay_action(options, slot2, int(singles[second, CELL])), points)
            num_fresh = new_singles(state, cell, options, fresh)
            for second in range(num_fresh):
                note(best, by_first, begun.action, lay_second(state, options, begun, fresh[second], known))
            lay_pairs(state, options, begun, cell, known, best, by_first)
        take_up(state, slot, shows, options)
    if left >= 2:
        for cell in range(num_cells(options)):
            if state["faces"][row_of(cell, options), column_of(cell, options)] >= 0:
                lay_pairs(state, options, Begun(NO_ACTION, 0), cell, known, best, by_first)


@kernel
def lay_second(state: State, options: Options, begun: Begun, way: NDArray[np.int32], known: Known) -> int:
    """The points of a turn with this second single and the best third one."""
    slot = slot_showing(state, int(way[SHOWS]))
    points = begun.points + lay(state, slot, int(way[CELL]), int(way[FACE]), options)
    points += best_last(state, options, known, 2)
    take_up(state, slot, int(way[SHOWS]), options)
    return points


@kernel
def lay_pairs(
    state: State, options: Options, begun: Begun, cell: int, known: Known, best: Best, by_first: ByFirst
) -> None:
    """Try every pair that makes a SET with the die on `cell`, alone and with the best third die.

    Either die of the pair can be laid first: the other one completes the SET.
    """
    row, column = row_of(cell, options), column_of(cell, options)
    faces, shown = state["faces"], state["hand_faces"][state["player"]]
    for window in range(NUM_WINDOWS):
        row1, column1, row2, column2 = other_cells(row, column, window)
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
                    face2 = int(third(faces[row, column], face1))
                    points = begun.points + lay(state, slot1, cell1, face1, options)
                    points += lay(state, slot2, cell2, face2, options)
                    first = lay_action(options, slot1, cell1) if begun.action == NO_ACTION else begun.action
                    is_third_left = num_laid(state) < MOST_LAID
                    with_third = points + (best_last(state, options, known, 2) if is_third_left else 0)
                    note(best, by_first, first, with_third)
                    if len(by_first) > 0 and begun.action == NO_ACTION:
                        note_first(by_first, lay_action(options, slot2, cell2), with_third)
                        if is_third_left:
                            note_thirds(state, options, known, points, by_first)
                    take_up(state, slot2, shows2, options)
                    take_up(state, slot1, shows1, options)


@kernel
def note_thirds(state: State, options: Options, known: Known, points: int, by_first: ByFirst) -> None:
    """Note the pair that was laid last, which gave `points`, for each known single that can be laid before it."""
    for place in range(known.number):
        if is_possible(state, known.singles[place], options):
            slot = slot_showing(state, int(known.singles[place, SHOWS]))
            action = lay_action(options, slot, int(known.singles[place, CELL]))
            note_first(by_first, action, points + int(known.singles[place, POINTS]))
    laid = num_laid(state)
    for place in range(laid - 2, laid):  # a known single in a window through the pair gives more points than before
        num_fresh = new_singles(state, int(state["laid"][place]), options, known.spare)
        for way in range(num_fresh):
            shows, cell = int(known.spare[way, SHOWS]), int(known.spare[way, CELL])
            if (known.faces_at[cell] >> int(known.spare[way, FACE])) & 1:
                action = lay_action(options, slot_showing(state, shows), cell)
                note_first(by_first, action, points + int(known.spare[way, POINTS]))


@kernel
def pair_faces(face: int, shows1: int, shows2: int) -> tuple[int, int]:
    """The faces that the first of two dice can have in a SET with `face` and the second: a range (start, stop)."""
    if shows1 == WILD and shows2 == WILD:
        return 0, NUM_FACES
    if shows1 == WILD:
        needed = int(third(face, shows2))
        return needed, needed + 1
    if shows2 == WILD or third(face, shows1) == shows2:
        return shows1, shows1 + 1
    return 0, 0


@kernel
def best_last(state: State, options: Options, known: Known, since: int) -> int:
    """The most points of one more single, a known one or one through the last `since` dice; 0 if there is none."""
    most = 0
    for place in range(known.number):
        if is_possible(state, known.singles[place], options):
            most = int(known.singles[place, POINTS])  # the best comes first
            break
    laid = num_laid(state)
    for place in range(laid - since, laid):
        num_fresh = new_singles(state, int(state["laid"][place]), options, known.spare)
        for way in range(num_fresh):
            most = max(most, int(known.spare[way, POINTS]))
    return most


@kernel
def all_singles(state: State, options: Options, singles: Singles) -> int:
    """Write every single, the best first; returns how many. The same single can be written more than once."""
    faces, number = state["faces"], 0
    for row in range(EDGE, EDGE + num_rows(options)):
        for column in range(EDGE, EDGE + num_columns(options)):
            if faces[row, column] == EMPTY:
                for window in range(NUM_WINDOWS):
                    row1, column1, row2, column2 = other_cells(row, column, window)
                    first, second = faces[row1, column1], faces[row2, column2]
                    if first >= 0 and second >= 0:
                        face = int(third(first, second))
                        number = add_singles(state, row, column, face, singles, number, options)
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
def new_singles(state: State, cell: int, options: Options, singles: Singles) -> int:
    """Write the singles in the windows through a die; returns how many."""
    faces, number = state["faces"], 0
    row, column = row_of(cell, options), column_of(cell, options)
    for window in range(NUM_WINDOWS):
        row1, column1, row2, column2 = other_cells(row, column, window)
        first, second = faces[row1, column1], faces[row2, column2]
        if first == EMPTY and second >= 0:
            face = int(third(faces[row, column], second))
            number = add_singles(state, row1, column1, face, singles, number, options)
        elif first >= 0 and second == EMPTY:
            face = int(third(faces[row, column], first))
            number = add_singles(state, row2, column2, face, singles, number, options)
    return number


@kernel
def add_singles(state: State, row: int, column: int, face: int, singles: Singles, number: int, options: Options) -> int:
    """Add the singles that put `face` on a cell: a die that shows it, and a WILD; returns the new number of singles."""
    cell = cell_of(row, column, options)
    for own in range(2):  # what the die itself counts in a SET: a WILD 0
        shows = face if own else WILD
        if slot_showing(state, shows) != NONE:
            singles[number, SHOWS], singles[number, CELL], singles[number, FACE] = shows, cell, face
            singles[number, POINTS] = lay_points(state, row, column, face, own, options)
            number += 1
    return number


@kernel
def slot_showing(state: State, shows: int) -> int:
    """The first slot of the player's hand with this upper face, or NONE."""
    shown = state["hand_faces"][state["player"]]
    for slot in range(HAND):
        if shown[slot] == shows:
            return slot
    return NONE


@kernel
def is_possible(state: State, way: NDArray[np.int32], options: Options) -> bool:
    """Whether a known single is still possible: the hand has such a die, and the cell is empty."""
    cell = int(way[CELL])
    is_free = state["faces"][row_of(cell, options), column_of(cell, options)] == EMPTY
    return bool(is_free and slot_showing(state, int(way[SHOWS])) != NONE)


@kernel
def lay(state: State, slot: int, cell: int, face: int, options: Options) -> int:
    """Lay a die as `face` and leave its slot free; returns the points. The scores do not change."""
    row, column = row_of(cell, options), column_of(cell, options)
    shown = state["hand_faces"][state["player"]]
    put_die(state, cell, face, bool(shown[slot] == WILD), options)
    shown[slot] = NONE
    return lay_points(state, row, column, face, worth(state, row, column, options), options)


@kernel
def take_up(state: State, slot: int, shows: int, options: Options) -> None:
    """Undo `lay` for the die that was laid last; `shows` is its upper face."""
    last = num_laid(state) - 1
    cell = int(state["laid"][last])
    row, column = row_of(cell, options), column_of(cell, options)
    state["faces"][row, column], state["wild"][row, column] = EMPTY, 0
    state["laid"][last] = NONE
    state["hand_faces"][state["player"], slot] = shows
