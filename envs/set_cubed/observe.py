"""The observation of a seat in SET Cubed: the list of its fields, and the function that writes it.

The own seat comes first, then the other seats in turn order. The observation space, the table in the page of the game
and the named views are made from the list. A test compares the function with it. Fields of shape (rows, columns) or
(planes, rows, columns) show the board and suit a convolutional network.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Field, Layout
from fivedice.envs.set_cubed.board import (
    EDGE,
    EMPTY,
    MOST_LAID,
    NONE,
    NUM_WINDOWS,
    column_of,
    is_undeclared,
    lay_points,
    num_laid,
    points_at,
    row_of,
)
from fivedice.envs.set_cubed.dice import NUM_DICE, SIDES, face_on
from fivedice.envs.set_cubed.drawing import LOGO, num_cells, num_columns, num_rows, printed
from fivedice.envs.set_cubed.faces import NUM_FACES, WILD
from fivedice.envs.set_cubed.hand import HAND, hand_size
from fivedice.envs.set_cubed.legal import completing_face, mark_faces, mark_lays
from fivedice.envs.set_cubed.rules import EXTRA, OPENING, OVER

FEATURES = 9  # three colours, three shapes, three numbers
SHOWN = FEATURES + 1  # the features and WILD
PHASES = 4
MANY_POINTS = 12.0  # of one die, shown as 1; more is shown as 1, too
MOST_POINTS = 200.0  # of a game, likewise


def layout(options: Any) -> Layout:
    """The fields of the observation, for an options record."""
    seats, board = int(options["num_players"]), (int(num_rows(options)), int(num_columns(options)))
    return Layout(
        [
            Field("mover", (seats,), 0, 1, "1 for the seat to move (own seat first); all 0 once the game is over"),
            Field("opener", (seats,), 0, 1, "1 for the seat that starts every round"),
            Field("phase", (PHASES,), 0, 1, "one-hot: opening, turn, EXTRA roll, over"),
            Field("declares", (1,), 0, 1, "1 if a WILD is to be declared"),
            Field("laid", (MOST_LAID + 1,), 0, 1, "0, 1, 2 or 3 dice laid in this turn, one-hot"),
            Field("has_laid", (1,), 0, 1, "1 if anybody has laid a die in this round"),
            Field("idle_rounds", (1,), 0, 1, "rounds in a row in which nobody has / 10"),
            Field("dice_left", (1,), 0, 1, "dice in the bag / 42"),
            Field("score", (seats,), 0, 1, "points so far / 200, at most 1"),
            Field(
                "hands", (seats, HAND, SHOWN), 0, 1, "each die's upper face: colour, shape, number, each one-hot, WILD"
            ),
            Field("own_dice", (HAND, NUM_FACES + 1), 0, 1, "how often each own die has each face, the last WILD, / 6"),
            Field("declare_points", (NUM_FACES,), 0, 1, "points that declaring each face gives now / 12, at most 1"),
            Field("lay_points", (HAND, *board), 0, 1, "points that laying each die there gives now / 12, at most 1"),
            Field("features", (FEATURES, *board), 0, 1, "each die's colour, shape, number, each one-hot"),
            Field("wild", board, 0, 1, "1 where a WILD lies, also under its declared face"),
            Field("laid_now", board, 0, 1, "1 for each die laid in this turn"),
            Field("waiting", board, 0, 1, "1 for the die that waits for its SET"),
            Field("bonus", board, 0, 1, "the value of each bonus square that is still free / 9"),
            Field("logo", board, 0, 1, "1 for each cell of the logo that is still free"),
        ]
    )


@kernel
def observe(state: Any, options: Any, seat: int, out: NDArray[np.float32]) -> None:
    """Write the observation of `seat` into `out`, the fields of `layout` one after the other."""
    num_players, cells = int(options["num_players"]), int(num_cells(options))
    is_mover = seat == state["player"] and state["phase"] != OVER
    out[:] = 0.0
    if state["phase"] != OVER:
        out[(int(state["player"]) - seat + num_players) % num_players] = 1.0
    at = num_players
    out[at + (int(state["opener"]) - seat + num_players) % num_players] = 1.0
    at += num_players
    out[at + int(state["phase"])] = 1.0
    at += PHASES
    out[at] = is_undeclared(state, options)
    at += 1
    out[at + num_laid(state)] = 1.0
    at += MOST_LAID + 1
    out[at] = state["has_laid"]
    out[at + 1] = state["idle_rounds"] / 10.0
    dice_left = at + 2
    at += 3
    num_left = NUM_DICE
    hands = at + num_players
    for turn in range(num_players):
        other = (seat + turn) % num_players
        out[at + turn] = min(1.0, state["scores"][other] / MOST_POINTS)
        shown = state["hand_faces"][other]
        for slot in range(hand_size(shown)):
            show_face(int(shown[slot]), 1, hands + (turn * HAND + slot) * SHOWN, out)
            num_left -= 1
    at = hands + num_players * HAND * SHOWN
    for slot in range(hand_size(state["hand_faces"][seat])):
        for side in range(SIDES):
            face = face_on(options, int(state["hand_dice"][seat, slot]), side)
            out[at + slot * (NUM_FACES + 1) + face] += np.float32(1.0 / SIDES)
    at += HAND * (NUM_FACES + 1)
    if is_mover:
        show_points(state, options, out[at : at + NUM_FACES], out[at + NUM_FACES : at + NUM_FACES + HAND * cells])
    at += NUM_FACES + HAND * cells
    out[dice_left] = (num_left - show_board(state, options, out[at:])) / float(NUM_DICE)


@kernel
def show_face(face: int, step: int, at: int, out: NDArray[np.float32]) -> None:
    """Write the features of a face, and WILD, into every `step`-th number of `out` from `at`."""
    if face == WILD:
        out[at + FEATURES * step] = 1.0
        return
    out[at + face // 9 * step] = 1.0
    out[at + (3 + face // 3 % 3) * step] = 1.0
    out[at + (6 + face % 3) * step] = 1.0


@kernel
def show_board(state: Any, options: Any, planes: NDArray[np.float32]) -> int:
    """Write the fields from ``features`` to the end into zeros; returns how many dice are on the board."""
    cells, number = num_cells(options), 0
    wild = FEATURES * cells
    cell = 0
    for row in range(EDGE, EDGE + num_rows(options)):
        for column in range(EDGE, EDGE + num_columns(options)):
            face = int(state["faces"][row, column])
            if face == EMPTY:
                if printed(options, cell) == LOGO:
                    planes[wild + 4 * cells + cell] = 1.0
                elif printed(options, cell):
                    planes[wild + 3 * cells + cell] = printed(options, cell) / 9.0
            else:
                number += 1
                show_face(face, cells, cell, planes)  # an undeclared WILD has no features
                planes[wild + cell] = state["wild"][row, column]
            cell += 1
    for place in range(num_laid(state)):
        planes[wild + cells + int(state["laid"][place])] = 1.0
    if state["waiting"] != NONE:
        planes[wild + 2 * cells + int(state["waiting"])] = 1.0
    return number


@kernel
def show_points(state: Any, options: Any, declares: NDArray[np.float32], lays: NDArray[np.float32]) -> None:
    """Write the fields ``declare_points`` and ``lay_points`` into zeros."""
    is_opening = state["phase"] == OPENING
    if state["phase"] == EXTRA:
        return
    if is_undeclared(state, options):
        cell = int(state["laid"][num_laid(state) - 1])
        mark_faces(state, is_opening, options, declares)
        for face in range(NUM_FACES):
            if declares[face]:
                points = points_at(state, row_of(cell, options), column_of(cell, options), face, 0, options)
                declares[face] = min(1.0, points / MANY_POINTS)
        return
    mark_lays(state, is_opening, options, lays)
    shown, at = state["hand_faces"][state["player"]], 0
    for slot in range(hand_size(shown)):
        for row in range(EDGE, EDGE + num_rows(options)):
            for column in range(EDGE, EDGE + num_columns(options)):
                if lays[at]:
                    lays[at] = show_lay_points(state, int(shown[slot]), row, column, options)
                at += 1


@kernel
def show_lay_points(state: Any, face: int, row: int, column: int, options: Any) -> float:
    """The points of laying a die there, / 12. A WILD is declared to be the best face. A swap has 0."""
    if state["faces"][row, column] != EMPTY:
        return 0.0
    points = lay_points(state, row, column, face, 1, options)
    if face == WILD:
        for window in range(NUM_WINDOWS):
            declared = completing_face(state, row, column, window, options)
            if declared != NONE:
                points = max(points, lay_points(state, row, column, declared, 0, options))
    return min(1.0, points / MANY_POINTS)
