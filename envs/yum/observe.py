"""The observation of a seat in Yum: its layout, and the function that writes it.

The observing seat comes first, then the others in turn order. The observation space, the table on the page of the game
and the named views are made from the layout. A test compares the function with the layout.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.dice import TURN_SIZE, seat_after, turn_fields
from fivedice.envs.core.dice_lookup import TOTALS, show_mover, show_throw, throw_number
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Field, Layout
from fivedice.envs.yum.lookup import FOURS, POINTS, is_terminal, low_fits, open_boxes, score, upper_total
from fivedice.envs.yum.rules import HIGH, LOW, NUM_BOXES, SIXES, has_bonus, high_fits

# The values of the observation are looked up, because divisions would take longer than everything else.
THIRTIETHS = (np.arange(31) / 30.0).astype(np.float32)
UPPER_SHOWN = (np.arange(106) / 105.0).astype(np.float32)
PAR_SHOWN = (np.arange(-63, 64) / 63.0).astype(np.float32)
PARS = np.array(  # three of each number whose box is filled; the index is the set of open boxes, bit i for box i
    [sum(3 * (box + 1) for box in range(SIXES + 1) if not (opens >> box) & 1) for opens in range(1 << SIXES + 1)],
    np.uint8,
)
SCORE_SHOWN = (np.arange(300) / 300.0).astype(np.float32)  # no player reaches 300 points
POINTS_SHOWN = (POINTS / 30.0).astype(np.float32)
FOURS_SHOWN = FOURS.astype(np.float32)


def layout(options: Any) -> Layout:
    """The observation fields for an options record."""
    seats = int(options["num_players"])
    return Layout(
        [
            *turn_fields(seats),
            Field("dice_total", (1,), 0, 1, "the sum of the dice / 30"),
            Field("points_now", (NUM_BOXES,), 0, 1, "points that these dice give in each own open box / 30"),
            Field("open", (seats, NUM_BOXES), 0, 1, "for each seat and box: 1 if the box is open"),
            Field("low_high", (seats, 2), 0, 1, "points written in Low and in High / 30; 0 if open or crossed out"),
            Field("upper_total", (seats,), 0, 1, "points in Ones … Sixes / 105"),
            Field("upper_par", (seats,), -1, 1, "upper total minus three of each number whose box is filled, / 63"),
            Field("bonus", (seats,), 0, 1, "1 if the upper total is 63 or more"),
            Field("score", (seats,), 0, 1, "points so far / 300"),
        ]
    )


@kernel(inline=True)
def observe(state: Any, options: Any, seat: int, out: NDArray[np.float32]) -> None:
    """Write the observation of `seat` into `out`, (size,) float32."""
    num_players = max(1, int(options["num_players"]))  # tells the compiler that no index is negative
    show_mover(state, num_players, seat, is_terminal(state, options), out)
    show_sheets(state, num_players, seat, out[num_players + TURN_SIZE + 1 + NUM_BOXES :])
    observe_throw(state, options, seat, out)


@kernel(inline=True)
def observe_throw(state: Any, options: Any, seat: int, out: NDArray[np.float32]) -> None:
    """Write the fields up to `points_now`, which a throw changes. `out` already has the later fields."""
    num_players = max(1, int(options["num_players"]))
    number = throw_number(state["dice"])
    dots = int(TOTALS[number])
    at = show_throw(state, number, num_players, out)
    out[at] = THIRTIETHS[dots]
    at += 1
    points, is_open = POINTS_SHOWN[np.uint8(options["five_alike_full_house"]), number], at + NUM_BOXES
    for box in range(NUM_BOXES):
        out[at + box] = points[box] * out[is_open + box]
    own = state["boxes"][seat]
    out[at + LOW] *= low_fits(dots, own[HIGH], options)
    out[at + HIGH] *= high_fits(dots, own[LOW])


@kernel(inline=True)
def show_sheets(state: Any, num_players: int, seat: int, out: NDArray[np.float32]) -> None:
    """Write the fields from `open` on, which change when a box is filled. `out` starts at `open`."""
    at = 0
    low_highs = num_players * NUM_BOXES
    summaries = low_highs + num_players * 2
    for i in range(num_players):
        boxes = state["boxes"][seat_after(seat, i, num_players)]
        opens = open_boxes(boxes)
        upper, points_so_far = upper_total(boxes), score(boxes)
        low, high = max(0, int(boxes[LOW])), max(0, int(boxes[HIGH]))
        for first in range(0, NUM_BOXES, 4):
            is_open = FOURS_SHOWN[(opens >> first) & 15]
            for box in range(4):
                out[at + first + box] = is_open[box]
        at += NUM_BOXES
        out[low_highs + i * 2] = THIRTIETHS[low]
        out[low_highs + i * 2 + 1] = THIRTIETHS[high]
        out[summaries + i] = UPPER_SHOWN[upper]
        out[summaries + num_players + i] = PAR_SHOWN[upper - int(PARS[opens & (len(PARS) - 1)]) + 63]
        out[summaries + num_players * 2 + i] = has_bonus(upper)
        out[summaries + num_players * 3 + i] = SCORE_SHOWN[points_so_far]
