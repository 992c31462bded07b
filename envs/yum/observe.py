"""What a seat of Yum sees: the table, and the function that writes it. The seat itself comes first, then the others
in turn order. The table makes the space, the page and the named views; a test holds the function against it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.dice import show_turn, total, turn_pieces
from fivedice.envs.kernel import kernel
from fivedice.envs.spec import Layout, Piece
from fivedice.envs.yum.rules import (
    BONUS_FROM,
    HIGH,
    LOW,
    LOW_STRAIGHT,
    NUM_BOXES,
    OPEN,
    SIXES,
    is_terminal,
    points_in,
    score,
    upper_total,
)

MOST_POINTS = 300.0  # no card reaches it


def layout(options: Any) -> Layout:
    """The table for an options record."""
    seats = int(options["num_players"])
    return Layout(
        [
            *turn_pieces(seats),
            Piece("dice_total", (1,), 0, 1, "the sum of the dice / 30"),
            Piece("points_now", (NUM_BOXES,), 0, 1, "points these dice would give own open boxes / 30"),
            Piece("open", (seats, NUM_BOXES), 0, 1, "1 for each box of each seat that is still open"),
            Piece("low_high", (seats, 2), 0, 1, "points written in Low and in High / 30; 0 if open or crossed out"),
            Piece("upper_total", (seats,), 0, 1, "points in Ones … Sixes / 105"),
            Piece("upper_par", (seats,), -1, 1, "upper total less three of each number already filled, / 63"),
            Piece("bonus", (seats,), 0, 1, "1 once the upper total is 63 or more"),
            Piece("score", (seats,), 0, 1, "points so far / 300"),
        ]
    )


@kernel
def observe(state: Any, options: Any, seat: int, out: NDArray[np.float32]) -> None:
    """Write what `seat` sees into `out`, the pieces of the table one after the other."""
    num_players = int(options["num_players"])
    dice = state["dice"]
    out[:] = 0.0
    at = show_turn(state, num_players, seat, is_terminal(state, options), out)
    out[at] = total(dice) / 30.0
    at += 1

    own = state["boxes"][seat]
    for box in range(LOW_STRAIGHT):
        out[at + box] = (own[box] == OPEN) * points_in(box, dice, own, options) / 30.0
    for box in range(LOW_STRAIGHT, NUM_BOXES):
        out[at + box] = (own[box] == OPEN) * points_in(box, dice, own, options) / 30.0
    at += NUM_BOXES

    opens = at
    low_highs = opens + num_players * NUM_BOXES
    summaries = low_highs + num_players * 2
    for i in range(num_players):
        boxes = state["boxes"][(seat + i) % num_players]
        par = 0
        for box in range(NUM_BOXES):
            out[opens + i * NUM_BOXES + box] = boxes[box] == OPEN
        for box in range(SIXES + 1):
            par += 3 * (box + 1) * (boxes[box] != OPEN)
        upper = upper_total(boxes)
        out[low_highs + i * 2] = max(0, int(boxes[LOW])) / 30.0
        out[low_highs + i * 2 + 1] = max(0, int(boxes[HIGH])) / 30.0
        out[summaries + i] = upper / 105.0
        out[summaries + num_players + i] = (upper - par) / 63.0
        out[summaries + num_players * 2 + i] = upper >= BONUS_FROM
        out[summaries + num_players * 3 + i] = score(boxes) / MOST_POINTS
