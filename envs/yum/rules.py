"""The rules of Yum (Parker Brothers), for one game. The page beside this file tells them in words."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.chance import MAX_SEATS, Chance
from fivedice.envs.core.dice import (
    KEEP_ALL,
    NUM_DICE,
    THROWS,
    TOTALS,
    Dice,
    count,
    is_five_alike,
    is_run,
    is_three_and_two,
    seat_after,
    start_turn,
    throw,
    throw_number,
    total,
)
from fivedice.envs.core.kernel import kernel, plain
from fivedice.envs.core.option import OneOf

BOXES = (
    "Ones",
    "Twos",
    "Threes",
    "Fours",
    "Fives",
    "Sixes",
    "Low Straight",
    "High Straight",
    "Low",
    "High",
    "Full House",
    "Yum",
)
NUM_BOXES = 12
SIXES, LOW_STRAIGHT, HIGH_STRAIGHT, LOW, HIGH, FULL_HOUSE, YUM = 5, 6, 7, 8, 9, 10, 11  # Ones is 0, … Sixes is 5

LEAST_LOW, LEAST_HIGH, MOST_TOTAL = 21, 22, 30
BONUS_FROM, BONUS = 63, 25  # points in Ones … Sixes that earn the bonus; the bonus

OPEN = -1  # in `boxes`: nothing written yet

STATE = np.dtype(
    [
        ("dice", np.int8, (NUM_DICE,)),  # faces 1..6, ascending
        ("throws_left", np.uint8),  # 2, 1 or 0
        ("player", np.uint8),  # the seat whose turn it is
        ("boxes", np.int8, (MAX_SEATS, NUM_BOXES)),  # points written, 0..30, or OPEN
    ]
)

# Actions 0..30 keep the dice in these slots and throw the others; action 31 + b fills box b.
FILL = KEEP_ALL
NUM_ACTIONS = FILL + NUM_BOXES

EITHER, HIGH_FIRST = 0, 1
BLOCKS_LOW, FREES_LOW = 0, 1
FORCED, FREE = 0, 1
OPTIONS = (
    OneOf("high_low", ("either", "high_first"), "whether Low may be scored before High"),
    OneOf("crossed_high", ("blocks_low", "frees_low"), "what a High crossed out with 0 leaves for Low"),
    OneOf("five_alike_full_house", (False, True), "whether five alike are a Full House too"),
    OneOf("zeros", ("forced", "free"), "whether a 0 may be written only when no open box gives points"),
)


@kernel
def setup(state: Any, options: Any, chance: Chance) -> None:
    state["boxes"][:] = OPEN
    start_turn(state, 0, chance)


@kernel(inline=True)
def current_player(state: Any) -> int:
    return int(state["player"])


@kernel
def points_in(box: int, dice: Dice, boxes: NDArray[np.int8], options: Any) -> int:
    """The points that `dice` give in an open `box` of a player who has written `boxes`; 0 if the dice do not fit."""
    if box <= SIXES:
        return (box + 1) * count(dice, box + 1)
    if box == LOW_STRAIGHT:
        return 15 if is_run(dice, 1) else 0
    if box == HIGH_STRAIGHT:
        return 20 if is_run(dice, 2) else 0
    if box == LOW:
        dots = total(dice)  # below 30, which no High could beat
        return dots if LEAST_LOW <= dots < MOST_TOTAL and low_fits(dots, boxes[HIGH], options) else 0
    if box == HIGH:
        dots = total(dice)
        return dots if dots >= LEAST_HIGH and high_fits(dots, boxes[LOW]) else 0
    if box == FULL_HOUSE:
        if is_five_alike(dice):
            return 25 if options["five_alike_full_house"] else 0
        return 25 if is_three_and_two(dice) else 0
    return 30 if is_five_alike(dice) else 0


@kernel(inline=True)
def low_fits(dots: int, high: int, options: Any) -> bool:
    """Whether the sum of the dice may be scored in Low beside what is written in High."""
    # `&` and `|` compile to no jump; which High a card has cannot be guessed.
    return bool(
        ((high == OPEN) & (options["high_low"] == EITHER))
        | ((high == 0) & (options["crossed_high"] == FREES_LOW))
        | (dots < high)
    )


@kernel(inline=True)
def high_fits(dots: int, low: int) -> bool:
    """Whether the sum of the dice may be scored in High beside what is written in Low."""
    return dots > low  # an open or crossed-out Low is below every sum


# Sets of boxes are written four boxes at a time: 1 for each box in a set of four, else 0.
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


# What each throw gives on an empty card, without and with `five_alike_full_house`. Low and High may give 0 on another.
POINTS = _points_of_throws()
SCORING = (POINTS > 0) @ (1 << np.arange(NUM_BOXES)).astype(np.uint16)  # the boxes with points, as sets


@kernel(inline=True)
def points_of(number: int, box: int, boxes: NDArray[np.int8], options: Any) -> int:
    """`points_in` for the dice of `THROWS[number]`, looked up."""
    points = int(POINTS[np.uint8(options["five_alike_full_house"]), number, box])
    if box == LOW:
        return points * low_fits(points, boxes[HIGH], options)
    if box == HIGH:
        return points * high_fits(points, boxes[LOW])
    return points


@kernel(inline=True)
def scoring_boxes(number: int, boxes: NDArray[np.int8], options: Any) -> int:
    """The boxes in which `points_of` a throw are more than 0, as a set (bit b: box b)."""
    dots = int(TOTALS[number])
    scoring = int(SCORING[np.uint8(options["five_alike_full_house"]), number])
    scoring &= ~((not low_fits(dots, boxes[HIGH], options)) << LOW)
    return scoring & ~((not high_fits(dots, boxes[LOW])) << HIGH)


@kernel(inline=True)
def open_boxes(boxes: NDArray[np.int8]) -> int:
    """The boxes with nothing written yet, as a set."""
    # OPEN alone is below 0. Four boxes are read as one word, and a product brings their signs together in four bits.
    words = boxes.view(np.uint32)
    opens = 0
    for i in range(3):
        signs = (int(words[i]) >> 7) & 0x01010101
        opens |= ((signs * 0x01020408 >> 24) & 15) << (4 * i)
    return opens


@kernel(inline=True)
def any_open(boxes: NDArray[np.int8]) -> bool:
    """Whether a box is still to be filled."""
    words = boxes.view(np.uint32)
    return bool((words[0] | words[1] | words[2]) & 0x80808080)  # OPEN alone is below 0


@kernel(inline=True)
def legal_actions(state: Any, options: Any, mask: NDArray[np.int8]) -> None:
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
    # The last seat fills the last box of the game. A sum compiles to no jump on whose turn it is, as `and` does.
    player = state["player"]
    seats_to_come = int(options["num_players"]) - 1 - int(player)
    return seats_to_come + any_open(state["boxes"][player]) == 0


@kernel(inline=True)
def written(boxes: NDArray[np.int8], first: int) -> int:
    """The points in the four boxes from `first` on, one in each byte of a word; 0 where nothing is written."""
    word = int(boxes.view(np.uint32)[first // 4])
    signs = (word >> 7) & 0x01010101  # OPEN alone is below 0
    return word & ~(signs * 0xFF)


@kernel(inline=True)
def sum_of_bytes(word: int) -> int:
    """The sum of the four bytes of a word, if it is below 256: a product brings it together in the highest."""
    return (word * 0x01010101 >> 24) & 0xFF


@kernel(inline=True)
def upper_total(boxes: NDArray[np.int8]) -> int:
    """The points written in Ones … Sixes."""
    return sum_of_bytes(written(boxes, 0) + (written(boxes, 4) & 0xFFFF))


@kernel(inline=True)
def bonus(upper: int) -> int:
    """The bonus for an upper total of `upper`."""
    return BONUS if upper >= BONUS_FROM else 0


@kernel(inline=True)
def score(boxes: NDArray[np.int8]) -> int:
    """The points of a player who has written `boxes`, the bonus included."""
    points = sum_of_bytes(written(boxes, 0) + written(boxes, 4) + written(boxes, 8))
    return points + bonus(upper_total(boxes))


@kernel
def scores(state: Any, options: Any, points: NDArray[np.float64]) -> None:
    for seat in range(options["num_players"]):
        points[seat] = score(state["boxes"][seat])


@kernel
def winners(state: Any, options: Any, won: NDArray[np.int8]) -> None:
    best = 0
    for seat in range(options["num_players"]):
        best = max(best, score(state["boxes"][seat]))
    for seat in range(options["num_players"]):
        won[seat] = score(state["boxes"][seat]) == best
