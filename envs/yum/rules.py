"""The rules of Yum (Parker Brothers), for one game. They define the game; the page beside this file explains them.

`lookup` has fast versions of some of these functions, and games run those. The tests compare them with the functions
here for all throws and cards, so a change of a rule is made here first, then there.

The parts: the state and the actions, points, legal actions, a step of the game, its end.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.chance import MAX_SEATS, Chance
from fivedice.envs.core.dice import (
    KEEP_ALL,
    NUM_DICE,
    Dice,
    count,
    is_five_alike,
    is_run,
    is_three_and_two,
    seat_after,
    start_turn,
    throw,
    total,
)
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.option import OneOf
from fivedice.envs.core.winners import mark_highest

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

LEAST_LOW, LEAST_HIGH = 21, 22  # the lowest sums that score in Low and in High
MOST_TOTAL = 30  # five sixes; a Low must be below it, because it must be below a High
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

# Actions 0..30 keep the dice in these slots (bit s: slot s) and throw the others; action 31 + b fills box b.
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
def is_open(box: int, boxes: NDArray[np.int8]) -> bool:
    """Whether nothing is written in `box` yet."""
    return bool(boxes[box] == OPEN)


@kernel
def any_open(boxes: NDArray[np.int8]) -> bool:
    """Whether a box of the card `boxes` is open."""
    for box in range(NUM_BOXES):
        if is_open(box, boxes):
            return True
    return False


@kernel
def points_in(box: int, dice: Dice, boxes: NDArray[np.int8], options: Any) -> int:
    """The points for filling the open `box` of the card `boxes` with `dice`; 0 if the dice do not fit."""
    if box <= SIXES:
        return (box + 1) * count(dice, box + 1)
    if box == LOW_STRAIGHT:
        return 15 if is_run(dice, 1) else 0
    if box == HIGH_STRAIGHT:
        return 20 if is_run(dice, 2) else 0
    if box == LOW:
        dots = total(dice)  # at most 29, because no High can be more than 30
        return dots if LEAST_LOW <= dots < MOST_TOTAL and low_fits(dots, boxes[HIGH], options) else 0
    if box == HIGH:
        dots = total(dice)
        return dots if dots >= LEAST_HIGH and high_fits(dots, boxes[LOW]) else 0
    if box == FULL_HOUSE:
        if is_five_alike(dice):
            return 25 if options["five_alike_full_house"] else 0
        return 25 if is_three_and_two(dice) else 0
    return 30 if is_five_alike(dice) else 0


@kernel
def low_fits(dots: int, high: int, options: Any) -> bool:
    """Whether the sum `dots` may be scored in Low, if `high` is written in High."""
    if high == OPEN:
        return bool(options["high_low"] == EITHER)
    if high == 0 and options["crossed_high"] == FREES_LOW:
        return True
    return bool(dots < high)  # never, if High is crossed out: no sum is below 0


@kernel(inline=True)
def high_fits(dots: int, low: int) -> bool:
    """Whether the sum `dots` may be scored in High, if `low` is written in Low."""
    return dots > low  # an open or crossed-out Low is below every sum


@kernel
def can_score(dice: Dice, boxes: NDArray[np.int8], options: Any) -> bool:
    """Whether `dice` give points in an open box."""
    for box in range(NUM_BOXES):
        if is_open(box, boxes) and points_in(box, dice, boxes, options) > 0:
            return True
    return False


@kernel
def may_fill(box: int, state: Any, options: Any) -> bool:
    """Whether the player may fill `box` now."""
    boxes = state["boxes"][state["player"]]
    if not is_open(box, boxes):
        return False
    if options["zeros"] == FREE or points_in(box, state["dice"], boxes, options) > 0:
        return True
    # A forced 0: only after the third throw, and only if no open box gives points.
    return state["throws_left"] == 0 and not can_score(state["dice"], boxes, options)


@kernel
def legal_actions(state: Any, options: Any, mask: NDArray[np.int8]) -> None:
    is_over = not any_open(state["boxes"][state["player"]])  # a player with a full card moves only after the end
    may_throw = state["throws_left"] > 0 and not is_over
    for keep in range(FILL):
        mask[keep] = may_throw
    for box in range(NUM_BOXES):
        mask[FILL + box] = may_fill(box, state, options)


@kernel
def apply(state: Any, options: Any, action: int, chance: Chance) -> None:
    player = int(state["player"])
    if action < FILL:
        state["throws_left"] -= 1
        throw(state["dice"], action, player, chance)
        return
    box = action - FILL
    boxes = state["boxes"][player]
    boxes[box] = points_in(box, state["dice"], boxes, options)
    if not is_terminal(state, options):
        start_turn(state, seat_after(player, 1, int(options["num_players"])), chance)


@kernel
def is_terminal(state: Any, options: Any) -> bool:
    is_last_seat = state["player"] == options["num_players"] - 1  # the last seat has the last turn
    return bool(is_last_seat and not any_open(state["boxes"][state["player"]]))


@kernel
def upper_total(boxes: NDArray[np.int8]) -> int:
    """The points written in Ones … Sixes."""
    points = 0
    for box in range(SIXES + 1):
        if not is_open(box, boxes):
            points += int(boxes[box])
    return points


@kernel(inline=True)
def has_bonus(upper: int) -> bool:
    """Whether an upper total earns the bonus."""
    return upper >= BONUS_FROM


@kernel(inline=True)
def bonus(upper: int) -> int:
    """The bonus for an upper total: 25 or 0 points."""
    return BONUS if has_bonus(upper) else 0


@kernel(inline=True)
def earns_bonus(upper: int, points: int) -> bool:
    """Whether `points` more in Ones … Sixes earn the bonus, if the upper total is `upper` before."""
    return has_bonus(upper + points) and not has_bonus(upper)


@kernel
def score(boxes: NDArray[np.int8]) -> int:
    """The points of the card `boxes`, bonus included."""
    points = 0
    for box in range(NUM_BOXES):
        if not is_open(box, boxes):
            points += int(boxes[box])
    return points + bonus(upper_total(boxes))


@kernel
def scores(state: Any, options: Any, points: NDArray[np.float64]) -> None:
    for seat in range(options["num_players"]):
        points[seat] = score(state["boxes"][seat])


@kernel
def winners(state: Any, options: Any, won: NDArray[np.int8]) -> None:
    highest = 0
    for seat in range(options["num_players"]):
        highest = mark_highest(seat, score(state["boxes"][seat]), highest, won)
