"""Greedy play of Yum: the most expected points from this turn, exactly, and no thought for the turns after it."""

from typing import Any

from fivedice.agents.games.greedy_turn import GreedyTurn, make_write_points
from fivedice.envs.core.dice import Dice
from fivedice.envs.core.kernel import kernel
from fivedice.envs.yum import GAME
from fivedice.envs.yum.rules import (
    BONUS,
    BONUS_FROM,
    FILL,
    LOW_STRAIGHT,
    NUM_BOXES,
    OPEN,
    SIXES,
    points_in,
    upper_total,
)


@kernel
def gain(action: int, dice: Dice, state: Any, options: Any) -> int:
    """The points of filling a box with `dice`, and the bonus if that box earns it."""
    box, boxes = action - FILL, state["boxes"][state["player"]]
    points = points_in(box, dice, boxes, options)
    if box <= SIXES:
        points += bonus_earned(points, upper_total(boxes))
    return points


@kernel
def bonus_earned(points: int, upper: int) -> int:
    """The bonus, if `points` more in Ones … Sixes earn it."""
    return BONUS if upper < BONUS_FROM <= upper + points else 0


@kernel
def most_gain(dice: Dice, state: Any, options: Any) -> int:
    """The most that `dice` give in one open box; 0 if they fit none."""
    boxes = state["boxes"][state["player"]]
    upper, most = upper_total(boxes), 0
    # Two loops: the compiler then knows which boxes are numbers.
    for box in range(LOW_STRAIGHT):
        if boxes[box] == OPEN:
            points = points_in(box, dice, boxes, options)
            most = max(most, points + bonus_earned(points, upper))
    for box in range(LOW_STRAIGHT, NUM_BOXES):
        if boxes[box] == OPEN:
            most = max(most, points_in(box, dice, boxes, options))
    return most


class GreedyYum(GreedyTurn):
    """Fills the box that gives the most now, whatever it could have given in a later turn.

    The bonus counts if the box earns it. A 0 goes into the first open box.
    """

    game = GAME
    write_points = staticmethod(make_write_points(gain, most_gain))


GREEDY = GreedyYum()
