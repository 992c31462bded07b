"""The EXTRA roll of the planner for SET Cubed: the exact points of the best turn, over all throws.

A turn lays three dice at most. So the best turn of a hand is the best turn of three of its dice. One search lays all
dice that can complete a SET on the board, as if the player had every face, and notes for each two upper faces and each
third one the most points that they can score together.
"""

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.games.set_cubed.lays import (
    COLUMN,
    FACE,
    MOST_SINGLES,
    POINTS,
    ROW,
    SETS,
    SINGLE_FIELDS,
    Board,
    Singles,
    board_of,
    count_new,
    find_fresh,
    find_singles,
    put,
    take,
)
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
from fivedice.envs.set_cubed.board import EDGE, EMPTY, NUM_WINDOWS, SPAN, WINDOWS
from fivedice.envs.set_cubed.dice import SIDES
from fivedice.envs.set_cubed.drawing import num_columns, num_rows
from fivedice.envs.set_cubed.faces import NUM_FACES, WILD
from fivedice.envs.set_cubed.hand import HAND, hand_size
from fivedice.envs.set_cubed.lookup import third

SHOWS = NOTHING + 1  # upper faces, WILD and NOTHING
WIDTH = 32  # SHOWS, rounded up
BEST_PLACES = 3  # singles of each upper face to remember: two of their places may be taken
FRESH = 4 * NUM_WINDOWS

Most = NDArray[np.int16]  # (SHOWS, SHOWS, WIDTH): two upper faces, the lower first, and a third one
Wanted = NDArray[np.bool_]  # (SHOWS,) the upper faces that the dice can show
Tops = NDArray[np.int16]  # (BEST_PLACES, WIDTH)


@kernel(allocates=True)
def write_exact_keeps(state: State, options: Options, values: NDArray[np.float64]) -> None:
    """Write the expected points of the best turn after keeping each set of slots into (2 ** dice,)."""
    sides = np.empty((HAND, SIDES), np.int64)
    read_sides(state, options, sides)
    of_threes = np.empty((NUM_THREES, SIDES, SIDES, SIDES), np.int64)
    write_exact_threes(state, options, sides, of_threes)
    of_throws = np.empty((SIDES, SIDES, SIDES, SIDES, SIDES), np.int64)
    write_throws(of_threes, hand_size(state["hand_faces"][state["player"]]), of_throws)
    write_means(state, sides, of_throws, values)


@kernel(allocates=True)
def write_exact_threes(state: State, options: Options, sides: Sides, of_threes: OfThrees) -> None:
    """Write the points of the best turn with each three dice of a hand, by their sides."""
    wanted = np.zeros(SHOWS, np.bool_)
    for slot in range(HAND):
        for side in range(SIDES):
            wanted[sides[slot, side]] = True
    alone = np.zeros(SHOWS, np.int16)
    most = np.zeros((SHOWS, SHOWS, WIDTH), np.int16)
    search_threes(board_of(state, options), options, wanted, alone, most)
    for three in range(NUM_THREES):
        for c in range(SIDES):
            third_show = sides[THREES[three, 2], c]
            for b in range(SIDES):
                second_show = sides[THREES[three, 1], b]
                low, high = min(second_show, third_show), max(second_show, third_show)
                single = max(alone[second_show], alone[third_show])
                for a in range(SIDES):
                    show = sides[THREES[three, 0], a]
                    best = max(most[low, high, show], single, alone[show])
                    best = max(best, most[min(show, second_show), max(show, second_show), third_show])
                    best = max(best, most[min(show, third_show), max(show, third_show), second_show])
                    of_threes[three, c, b, a] = best


@kernel(allocates=True)
def search_threes(board: Board, options: Options, wanted: Wanted, alone: NDArray[np.int16], most: Most) -> None:
    """Write the most points of one die into zeros `alone` (SHOWS,), and of up to three into zeros `most`."""
    singles = np.empty((MOST_SINGLES, SINGLE_FIELDS), np.int32)
    fresh, spare = np.empty((FRESH, SINGLE_FIELDS), np.int32), np.empty((FRESH, SINGLE_FIELDS), np.int32)
    number = find_singles(board, options, singles)
    tops, places = np.zeros((BEST_PLACES, WIDTH), np.int16), np.full((BEST_PLACES, WIDTH), -1, np.int16)
    for single in range(number):
        remember(singles[single], tops, places)
    alone[:NOTHING] = tops[0, :NOTHING]
    thirds = np.zeros(WIDTH, np.int16)
    for first in range(number):
        row, column, face = int(singles[first, ROW]), int(singles[first, COLUMN]), int(singles[first, FACE])
        for is_wild in range(2):
            show = WILD if is_wild else face
            if not wanted[show]:
                continue
            points = put(board, row, column, face, is_wild)
            for second in range(first + 1, number):
                if singles[second, ROW] != row or singles[second, COLUMN] != column:
                    lay_second(
                        board, wanted, show, row, column, points, singles[second], tops, places, thirds, spare, most
                    )
            num_fresh = find_fresh(board, row, column, fresh, 0, 0)
            for second in range(num_fresh):
                way = fresh[second]
                lay_second(board, wanted, show, row, column, points, way, tops, places, thirds, spare, most)
            pairs_with_first(board, wanted, show, row, column, points, most)
            take(board, row, column)
    for row in range(EDGE, EDGE + num_rows(options)):
        for column in range(EDGE, EDGE + num_columns(options)):
            if board.faces[row, column] >= 0:
                pairs_with_board(board, wanted, row, column, tops, places, thirds, spare, most)


@kernel
def remember(single: NDArray[np.int32], tops: Tops, places: Tops) -> None:
    """Keep the best three places of each upper face."""
    place = int(single[ROW]) * SPAN + int(single[COLUMN])
    for is_wild in range(2):
        show = WILD if is_wild else int(single[FACE])
        points = int(single[POINTS]) + int(single[SETS]) * (1 - is_wild)
        rank = 0
        while rank < BEST_PLACES and tops[rank, show] >= points and places[rank, show] != place:
            rank += 1
        if rank == BEST_PLACES or tops[rank, show] >= points:
            continue
        last = rank  # where the place is already, or the lowest rank
        while last < BEST_PLACES - 1 and places[last, show] != place:
            last += 1
        for lower in range(last, rank, -1):
            tops[lower, show], places[lower, show] = tops[lower - 1, show], places[lower - 1, show]
        tops[rank, show], places[rank, show] = points, place


@kernel
def lay_second(
    board: Board,
    wanted: Wanted,
    show1: int,
    row1: int,
    column1: int,
    points1: int,
    single: NDArray[np.int32],
    tops: Tops,
    places: Tops,
    thirds: NDArray[np.int16],
    spare: Singles,
    most: Most,
) -> None:
    """Note a first and a second die with each third one."""
    row, column, face = int(single[ROW]), int(single[COLUMN]), int(single[FACE])
    for is_wild in range(2):
        show = WILD if is_wild else face
        if wanted[show]:
            points = points1 + put(board, row, column, face, is_wild)
            find_thirds(board, row1, column1, row, column, tops, places, thirds, spare)
            note_thirds(show1, show, points, thirds, most)
            take(board, row, column)


@kernel
def find_thirds(
    board: Board,
    row1: int,
    column1: int,
    row2: int,
    column2: int,
    tops: Tops,
    places: Tops,
    thirds: NDArray[np.int16],
    spare: Singles,
) -> None:
    """Write the most points of a third die with each upper face, after two dice are laid."""
    place1, place2 = row1 * SPAN + column1, row2 * SPAN + column2
    for show in range(WIDTH):
        best = tops[2, show]
        if places[1, show] != place1 and places[1, show] != place2:
            best = tops[1, show]
        if places[0, show] != place1 and places[0, show] != place2:
            best = tops[0, show]
        thirds[show] = best
    number = find_fresh(board, row1, column1, spare, 0, 0)
    number = find_fresh(board, row2, column2, spare, number, number)
    for single in range(number):
        face, points = int(spare[single, FACE]), int(spare[single, POINTS])
        thirds[WILD] = max(thirds[WILD], points)
        thirds[face] = max(thirds[face], points + int(spare[single, SETS]))


@kernel
def note_thirds(show1: int, show2: int, points: int, thirds: NDArray[np.int16], most: Most) -> None:
    """Note two dice with each third one."""
    noted = most[min(show1, show2), max(show1, show2)]
    for show in range(WIDTH):
        noted[show] = max(noted[show], np.int16(points) + thirds[show])


@kernel
def pairs_with_first(board: Board, wanted: Wanted, show1: int, row: int, column: int, points1: int, most: Most) -> None:
    """Note the first die with each pair that makes a SET with it."""
    faces = board.faces
    for window in range(NUM_WINDOWS):
        row2, column2 = row + WINDOWS[window, 0], column + WINDOWS[window, 1]
        row3, column3 = row + WINDOWS[window, 2], column + WINDOWS[window, 3]
        if faces[row2, column2] != EMPTY or faces[row3, column3] != EMPTY:
            continue
        for face2 in range(NUM_FACES):
            face3 = int(third(faces[row, column], face2))
            for wilds in range(4):
                show2, show3 = WILD if wilds & 1 else face2, WILD if wilds & 2 else face3
                if wanted[show2] and wanted[show3]:
                    points = points1 + put(board, row2, column2, face2, wilds & 1)
                    sets, others = count_new(board, row3, column3, face3)
                    points += others + sets * (1 - (wilds >> 1))
                    low, high = min(show1, show2), max(show1, show2)
                    most[low, high, show3] = max(most[low, high, show3], points)
                    take(board, row2, column2)


@kernel
def pairs_with_board(
    board: Board,
    wanted: Wanted,
    row: int,
    column: int,
    tops: Tops,
    places: Tops,
    thirds: NDArray[np.int16],
    spare: Singles,
    most: Most,
) -> None:
    """Note each pair that makes a SET with a die of the board, with each third die."""
    faces = board.faces
    for window in range(NUM_WINDOWS):
        row1, column1 = row + WINDOWS[window, 0], column + WINDOWS[window, 1]
        row2, column2 = row + WINDOWS[window, 2], column + WINDOWS[window, 3]
        if faces[row1, column1] != EMPTY or faces[row2, column2] != EMPTY:
            continue
        for face1 in range(NUM_FACES):
            face2 = int(third(faces[row, column], face1))
            for wilds in range(4):
                show1, show2 = WILD if wilds & 1 else face1, WILD if wilds & 2 else face2
                if wanted[show1] and wanted[show2]:
                    points = put(board, row1, column1, face1, wilds & 1)
                    points += put(board, row2, column2, face2, wilds >> 1)
                    find_thirds(board, row1, column1, row2, column2, tops, places, thirds, spare)
                    note_thirds(show1, show2, points, thirds, most)
                    take(board, row2, column2)
                    take(board, row1, column1)
