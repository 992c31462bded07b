"""Fast versions of functions of `rules`, for batches. The tests compare each with the plain function of its name.

This module has all verbs of a game's rules. Verbs that need no fast version are those of `rules`. Tables are made on
import by asking the plain rules. Sets of boxes are integers (bit b: box b).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.chance import Chance
from fivedice.envs.core.dice import THROWS, seat_after, start_turn, throw
from fivedice.envs.core.dice_lookup import TOTALS, throw_number
from fivedice.envs.core.kernel import kernel, plain
from fivedice.envs.yum.rules import (
    BLOCKS_LOW,
    EITHER,
    FILL,
    FREE,
    FREES_LOW,
    HIGH,
    LOW,
    NUM_ACTIONS,
    NUM_BOXES,
    OPEN,
    OPTIONS,
    STATE,
    bonus,
    current_player,
    high_fits,
    points_in,
    setup,
    winners,
)

__all__ = [
    "NUM_ACTIONS",
    "OPTIONS",
    "STATE",
    "apply",
    "current_player",
    "is_terminal",
    "legal_actions",
    "scores",
    "setup",
    "winners",
]


@kernel(inline=True)
def low_fits(dots: int, high: int, options: Any) -> bool:
    """`rules.low_fits`."""
    # `&` and `|` compile to no jump. A jump on what is written in High would often be predicted wrong.
    return bool(
        ((high == OPEN) & (options["high_low"] == EITHER))
        | ((high == 0) & (options["crossed_high"] == FREES_LOW))
        | (dots < high)
    )


# Sets of boxes are unpacked four boxes at a time: row s has a 1 for each box in the set s of four boxes.
FOURS = np.array([[(four >> box) & 1 for box in range(4)] for four in range(16)], np.int8)


def _points_of_throws() -> NDArray[np.uint8]:
    points = np.zeros((2, len(THROWS), NUM_BOXES), np.uint8)
    card = np.full(NUM_BOXES, OPEN, np.int8)
    for five_alike in (False, True):
        options = {"high_low": EITHER, "crossed_high": BLOCKS_LOW, "five_alike_full_house": five_alike}
        for number, dice in enumerate(THROWS):
            for box in range(NUM_BOXES):
                points[int(five_alike), number, box] = plain(points_in)(box, dice, card, options)
    return points


# The points of each throw on an empty card, by `five_alike_full_house`. On other cards Low and High may give 0.
POINTS = _points_of_throws()
SCORING = (POINTS > 0) @ (1 << np.arange(NUM_BOXES)).astype(np.uint16)  # the boxes with points, as sets


@kernel(inline=True)
def points_of(number: int, box: int, boxes: NDArray[np.int8], options: Any) -> int:
    """`rules.points_in` for the dice ``THROWS[number]``."""
    points = int(POINTS[np.uint8(options["five_alike_full_house"]), number, box])
    if box == LOW:
        return points * low_fits(points, boxes[HIGH], options)
    if box == HIGH:
        return points * high_fits(points, boxes[LOW])
    return points


@kernel(inline=True)
def scoring_boxes(number: int, boxes: NDArray[np.int8], options: Any) -> int:
    """The boxes, open or not, in which `points_of` is above 0, as a set (bit b: box b)."""
    dots = int(TOTALS[number])
    scoring = int(SCORING[np.uint8(options["five_alike_full_house"]), number])
    scoring &= ~((not low_fits(dots, boxes[HIGH], options)) << LOW)
    return scoring & ~((not high_fits(dots, boxes[LOW])) << HIGH)


@kernel(inline=True)
def open_boxes(boxes: NDArray[np.int8]) -> int:
    """`rules.is_open` of all boxes, as a set (bit b: box b)."""
    # Only OPEN is negative. Four boxes are read as one word, and a product collects their sign bits in four bits.
    words = boxes.view(np.uint32)
    opens = 0
    for i in range(3):
        signs = (int(words[i]) >> 7) & 0x01010101
        opens |= ((signs * 0x01020408 >> 24) & 15) << (4 * i)
    return opens


@kernel(inline=True)
def any_open(boxes: NDArray[np.int8]) -> bool:
    """`rules.any_open`."""
    words = boxes.view(np.uint32)
    return bool((words[0] | words[1] | words[2]) & 0x80808080)  # only OPEN is negative


@kernel(inline=True)
def legal_actions(state: Any, options: Any, mask: NDArray[np.int8]) -> None:
    """`rules.legal_actions`."""
    boxes = state["boxes"][state["player"]]
    opens = open_boxes(boxes)  # none only if the game is over
    may_throw = state["throws_left"] > 0 and opens != 0
    for keep in range(FILL):
        mask[keep] = may_throw
    may_fill = opens & scoring_boxes(throw_number(state["dice"]), boxes, options)
    if options["zeros"] == FREE or (may_fill == 0 and not may_throw):
        may_fill = opens
    for first in range(0, NUM_BOXES, 4):
        four = FOURS[(may_fill >> first) & 15]
        for box in range(4):
            mask[FILL + first + box] = four[box]


@kernel(inline=True)
def apply(state: Any, options: Any, action: int, chance: Chance) -> None:
    """`rules.apply`."""
    player = int(state["player"])
    if action < FILL:
        state["throws_left"] -= 1
        throw(state["dice"], action, player, chance)
        return
    box = action - FILL
    boxes = state["boxes"][player]
    boxes[box] = points_of(throw_number(state["dice"]), box, boxes, options)
    if not is_terminal(state, options):
        start_turn(state, seat_after(player, 1, int(options["num_players"])), chance)


@kernel(inline=True)
def is_terminal(state: Any, options: Any) -> bool:
    """`rules.is_terminal`."""
    # A sum needs no jump on whose turn it is; `and` would.
    player = state["player"]
    seats_to_come = int(options["num_players"]) - 1 - int(player)
    return seats_to_come + any_open(state["boxes"][player]) == 0


@kernel(inline=True)
def written(boxes: NDArray[np.int8], first: int) -> int:
    """The points in the four boxes from `first` on as the bytes of a word; 0 for an open box."""
    word = int(boxes.view(np.uint32)[first // 4])
    signs = (word >> 7) & 0x01010101  # only OPEN is negative
    return word & ~(signs * 0xFF)


@kernel(inline=True)
def sum_of_bytes(word: int) -> int:
    """The sum of the four bytes of a word, which must be below 256. A product collects it in the highest byte."""
    return (word * 0x01010101 >> 24) & 0xFF


@kernel(inline=True)
def upper_total(boxes: NDArray[np.int8]) -> int:
    """`rules.upper_total`."""
    return sum_of_bytes(written(boxes, 0) + (written(boxes, 4) & 0xFFFF))


@kernel(inline=True)
def score(boxes: NDArray[np.int8]) -> int:
    """`rules.score`."""
    return sum_of_bytes(written(boxes, 0) + written(boxes, 4) + written(boxes, 8)) + bonus(upper_total(boxes))


@kernel
def scores(state: Any, options: Any, points: NDArray[np.float64]) -> None:
    """`rules.scores`."""
    for seat in range(options["num_players"]):
        points[seat] = score(state["boxes"][seat])
