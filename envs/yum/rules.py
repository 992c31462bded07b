"""The rules of Yum (Parker Brothers), for one game. The page beside this file tells them in words."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.chance import MAX_SEATS, Chance
from fivedice.envs.dice import (
    KEEP_ALL,
    NUM_DICE,
    Dice,
    count,
    is_five_alike,
    is_run,
    is_three_and_two,
    start_turn,
    throw,
    total,
)
from fivedice.envs.kernel import kernel
from fivedice.envs.option import OneOf

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
        ("throws_left", np.int8),  # 2, 1 or 0
        ("player", np.int8),  # the seat whose turn it is
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


@kernel
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
        return low_points(total(dice), boxes[HIGH], options)
    if box == HIGH:
        return high_points(total(dice), boxes[LOW])
    if box == FULL_HOUSE:
        if is_five_alike(dice):
            return 25 if options["five_alike_full_house"] else 0
        return 25 if is_three_and_two(dice) else 0
    return 30 if is_five_alike(dice) else 0


@kernel
def low_points(dots: int, high: int, options: Any) -> int:
    if dots < LEAST_LOW or dots == MOST_TOTAL:  # no High could beat 30
        return 0
    if high == OPEN:
        return 0 if options["high_low"] == HIGH_FIRST else dots
    if high == 0:
        return 0 if options["crossed_high"] == BLOCKS_LOW else dots
    return dots if dots < high else 0


@kernel
def high_points(dots: int, low: int) -> int:
    if dots < LEAST_HIGH:
        return 0
    return dots if dots > low else 0  # an open or crossed-out Low is below every High


@kernel
def legal_actions(state: Any, options: Any, mask: NDArray[np.int8]) -> None:
    mask[:] = 0
    if is_terminal(state, options):
        return
    if state["throws_left"] > 0:
        mask[:FILL] = 1
    dice, boxes = state["dice"], state["boxes"][state["player"]]
    some_box_scores = False
    # Two loops and `&`: the compiler then knows which boxes are numbers, and the loop runs three times as fast.
    for box in range(LOW_STRAIGHT):
        scoring = (boxes[box] == OPEN) & (points_in(box, dice, boxes, options) > 0)
        mask[FILL + box] = scoring
        some_box_scores |= scoring
    for box in range(LOW_STRAIGHT, NUM_BOXES):
        scoring = (boxes[box] == OPEN) & (points_in(box, dice, boxes, options) > 0)
        mask[FILL + box] = scoring
        some_box_scores |= scoring
    may_write_zero = options["zeros"] == FREE or (state["throws_left"] == 0 and not some_box_scores)
    if may_write_zero:
        for box in range(NUM_BOXES):
            mask[FILL + box] = boxes[box] == OPEN


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
        start_turn(state, (player + 1) % options["num_players"], chance)


@kernel
def is_terminal(state: Any, options: Any) -> bool:
    # The last seat fills the last box of the game.
    if state["player"] != options["num_players"] - 1:
        return False
    for box in state["boxes"][state["player"]]:
        if box == OPEN:
            return False
    return True


@kernel
def upper_total(boxes: NDArray[np.int8]) -> int:
    """The points written in Ones … Sixes."""
    points = 0
    for box in range(SIXES + 1):
        points += max(0, int(boxes[box]))
    return points


@kernel
def score(boxes: NDArray[np.int8]) -> int:
    """The points of a player who has written `boxes`, the bonus included."""
    points = 0
    for box in range(NUM_BOXES):
        points += max(0, int(boxes[box]))
    if upper_total(boxes) >= BONUS_FROM:
        points += BONUS
    return points


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
