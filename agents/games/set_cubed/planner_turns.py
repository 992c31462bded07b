"""The whole turns of SET Cubed that are worth a closer look: those with the most points.

The search tries the same dice as greedy play (see `greedy_turn`), but keeps many turns with all their dice. The dice of
a turn are in an order in which they can be laid.
"""

from typing import NamedTuple

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
    board_of,
    find_fresh,
    find_singles,
    put,
    take,
)
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Options, State
from fivedice.envs.set_cubed.board import EDGE, EMPTY, MOST_LAID, NONE, NUM_WINDOWS, SPAN, WINDOWS
from fivedice.envs.set_cubed.drawing import num_columns, num_rows
from fivedice.envs.set_cubed.faces import NUM_FACES, WILD
from fivedice.envs.set_cubed.hand import HAND
from fivedice.envs.set_cubed.lookup import third

MARGIN = 6  # a turn is left out if a turn found before it has more than this many points more
MOST_TURNS = 24
FRESH = 4 * NUM_WINDOWS
PLACE, DIE_FACE, IS_WILD = range(3)  # of a die in a turn: its place (row * SPAN + column), its face, 1 for a WILD
DIE_FIELDS = 3

Die = tuple[int, int, int, int]  # row, column, face, 1 for a WILD


class Turns(NamedTuple):
    """The best turns that a search has found, the one with the most points first.

    Args:
        number: (1,) int64, how many there are.
        points: (MOST_TURNS,) int64.
        keys: (MOST_TURNS,) int64, the same for turns with the same dice.
        dice: (MOST_TURNS, 3, 3) int64, the dice of each turn in the order of laying; the place is NONE after the last.
    """

    number: NDArray[np.int64]
    points: NDArray[np.int64]
    keys: NDArray[np.int64]
    dice: NDArray[np.int64]


@kernel(allocates=True)
def no_turns() -> Turns:
    """Memory for turns."""
    dice = np.full((MOST_TURNS, MOST_LAID, DIE_FIELDS), NONE, np.int64)
    return Turns(np.zeros(1, np.int64), np.zeros(MOST_TURNS, np.int64), np.zeros(MOST_TURNS, np.int64), dice)


@kernel
def floor_of(turns: Turns) -> int:
    """The fewest points that a new turn needs."""
    number = int(turns.number[0])
    if number == 0:
        return 0
    floor = int(turns.points[0]) - MARGIN
    return max(floor, int(turns.points[number - 1]) + 1) if number == MOST_TURNS else floor


@kernel
def key_of(die: Die) -> int:
    """A number for a die in its place; the sum over the dice of a turn does not depend on their order."""
    row, column, face, is_wild = die
    code = ((row * SPAN + column) * NUM_FACES + face) * 2 + is_wild + 1
    return code * code * 31 + code * 1009 + (code ^ (code >> 3)) * 1000003 * (code & 1023)


@kernel
def record(turns: Turns, points: int, number: int, one: Die, two: Die, three: Die) -> None:
    """Keep a turn of `number` dice if it is among the best and new."""
    if points < floor_of(turns):
        return
    key = 0
    if number > 0:
        key += key_of(one)
    if number > 1:
        key += key_of(two)
    if number > 2:
        key += key_of(three)
    size = int(turns.number[0])
    for place in range(size):
        if turns.keys[place] == key and turns.points[place] == points:
            return
    place = min(size, MOST_TURNS - 1)
    turns.number[0] = place + 1
    while place > 0 and turns.points[place - 1] < points:
        turns.points[place], turns.keys[place] = turns.points[place - 1], turns.keys[place - 1]
        for die in range(MOST_LAID):
            for field in range(DIE_FIELDS):
                turns.dice[place, die, field] = turns.dice[place - 1, die, field]
        place -= 1
    turns.points[place], turns.keys[place] = points, key
    write_die(turns.dice[place, 0], one, number > 0)
    write_die(turns.dice[place, 1], two, number > 1)
    write_die(turns.dice[place, 2], three, number > 2)


@kernel
def write_die(dice: NDArray[np.int64], die: Die, is_there: bool) -> None:
    """Write a die of a turn, or NONE."""
    row, column, face, is_wild = die
    dice[PLACE] = row * SPAN + column if is_there else NONE
    dice[DIE_FACE], dice[IS_WILD] = face, is_wild


@kernel(allocates=True)
def find_turns(state: State, options: Options, turns: Turns) -> None:
    """Write the best turns of the player, without swaps, from the start of the turn. Laying nothing is one of them."""
    board = board_of(state, options)
    left = np.zeros(WILD + 1, np.int64)  # dice in the hand by their upper face
    shown = state["hand_faces"][state["player"]]
    for slot in range(HAND):
        if shown[slot] != NONE:
            left[shown[slot]] += 1
    nothing = (0, 0, 0, 0)
    record(turns, 0, 0, nothing, nothing, nothing)
    singles = np.empty((MOST_SINGLES, SINGLE_FIELDS), np.int32)
    fresh, spare = np.empty((FRESH, SINGLE_FIELDS), np.int32), np.empty((FRESH, SINGLE_FIELDS), np.int32)
    number = find_singles(board, options, singles)
    for first in range(number):
        row, column, face = int(singles[first, ROW]), int(singles[first, COLUMN]), int(singles[first, FACE])
        for is_wild in range(2):
            show = WILD if is_wild else face
            if left[show] == 0:
                continue
            one = (row, column, face, is_wild)
            left[show] -= 1
            points = put(board, row, column, face, is_wild)
            record(turns, points, 1, one, nothing, nothing)
            for second in range(first + 1, number):
                if board.faces[singles[second, ROW], singles[second, COLUMN]] == EMPTY:
                    lay_second(board, left, one, points, singles[second], singles[second + 1 : number], spare, turns)
            num_fresh = find_fresh(board, row, column, fresh, 0, 0)
            for second in range(num_fresh):
                lay_second(board, left, one, points, fresh[second], singles[:0], spare, turns)
            lay_pairs(board, left, row, column, one, points, singles[:0], spare, turns)
            take(board, row, column)
            left[show] += 1
    for row in range(EDGE, EDGE + num_rows(options)):
        for column in range(EDGE, EDGE + num_columns(options)):
            if board.faces[row, column] >= 0:
                lay_pairs(board, left, row, column, nothing, NONE, singles[:number], spare, turns)


@kernel
def lay_second(
    board: Board,
    left: NDArray[np.int64],
    one: Die,
    points1: int,
    single: NDArray[np.int32],
    known: NDArray[np.int32],
    spare: NDArray[np.int32],
    turns: Turns,
) -> None:
    """Record the turns that begin with two singles. `known` are the older singles that may be laid as the third."""
    row, column, face = int(single[ROW]), int(single[COLUMN]), int(single[FACE])
    for is_wild in range(2):
        show = WILD if is_wild else face
        if left[show] > 0:
            left[show] -= 1
            points = points1 + put(board, row, column, face, is_wild)
            record(turns, points, 2, one, (row, column, face, is_wild), one)
            lay_third(board, left, one, (row, column, face, is_wild), points, known, spare, turns)
            take(board, row, column)
            left[show] += 1


@kernel
def lay_third(
    board: Board,
    left: NDArray[np.int64],
    one: Die,
    two: Die,
    points: int,
    known: NDArray[np.int32],
    spare: NDArray[np.int32],
    turns: Turns,
) -> None:
    """Record the turns of two dice, which are laid, and a third one: a known single, or one through the two dice."""
    number = find_fresh(board, one[0], one[1], spare, 0, 0)
    number = find_fresh(board, two[0], two[1], spare, number, number)
    for place in range(number):
        record_third(board, left, one, two, points, spare[place], turns)
    for place in range(len(known)):
        record_third(board, left, one, two, points, known[place], turns)


@kernel
def record_third(
    board: Board, left: NDArray[np.int64], one: Die, two: Die, points: int, single: NDArray[np.int32], turns: Turns
) -> None:
    """Record a turn with this third die, of which the hand may have none."""
    row, column, face = int(single[ROW]), int(single[COLUMN]), int(single[FACE])
    sets = int(single[SETS])
    with_wild = points + int(single[POINTS])
    if with_wild + sets < floor_of(turns) or board.faces[row, column] != EMPTY:
        return
    if is_near(row, column, one) or is_near(row, column, two):  # the single may be older than these dice
        with_wild = points + put(board, row, column, face, 1)
        take(board, row, column)
        sets = int(single[SETS]) if with_wild == points + int(single[POINTS]) else NONE
    if sets == NONE:
        return  # it was recorded as a single through the two dice
    if left[face] > 0:
        record(turns, with_wild + sets, 3, one, two, (row, column, face, 0))
    if left[WILD] > 0:
        record(turns, with_wild, 3, one, two, (row, column, face, 1))


@kernel
def is_near(row: int, column: int, die: Die) -> bool:
    """Whether a place is in a window with a die."""
    return bool((row == die[0] and abs(column - die[1]) <= 2) or (column == die[1] and abs(row - die[0]) <= 2))


@kernel
def lay_pairs(
    board: Board,
    left: NDArray[np.int64],
    row: int,
    column: int,
    one: Die,
    points1: int,
    known: NDArray[np.int32],
    spare: NDArray[np.int32],
    turns: Turns,
) -> None:
    """Record the turns with a pair that makes a SET with the die in a place.

    That die is `one`, laid first for `points1`; or `points1` is NONE, and a third die can follow the pair.
    """
    faces = board.faces
    for window in range(NUM_WINDOWS):
        row1, column1 = row + WINDOWS[window, 0], column + WINDOWS[window, 1]
        row2, column2 = row + WINDOWS[window, 2], column + WINDOWS[window, 3]
        if faces[row1, column1] != EMPTY or faces[row2, column2] != EMPTY:
            continue
        for face1 in range(NUM_FACES):
            face2 = int(third(faces[row, column], face1))
            if left[face1] + left[WILD] == 0 or left[face2] + left[WILD] == 0:
                continue
            for wilds in range(4):
                show1, show2 = WILD if wilds & 1 else face1, WILD if wilds & 2 else face2
                if left[show1] == 0 or left[show2] == 0 or (show1 == show2 and left[show1] < 2):
                    continue
                left[show1] -= 1
                left[show2] -= 1
                points = put(board, row1, column1, face1, wilds & 1)
                points += put(board, row2, column2, face2, wilds >> 1)
                die1, die2 = (row1, column1, face1, wilds & 1), (row2, column2, face2, wilds >> 1)
                if points1 == NONE:
                    record(turns, points, 2, die1, die2, die1)
                    lay_third(board, left, die1, die2, points, known, spare, turns)
                else:
                    record(turns, points1 + points, 3, one, die1, die2)
                take(board, row2, column2)
                take(board, row1, column1)
                left[show1] += 1
                left[show2] += 1
