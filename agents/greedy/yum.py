"""Greedy play of Yum: the most expected points from this turn, exactly, and no thought for the turns after it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.exact.turn import NEAR, NUM_SETS, NUM_THROWS, THROWS, set_number, solve_turn
from fivedice.agents.exact.yum import upper_scores
from fivedice.envs.dice import Dice
from fivedice.envs.kernel import kernel
from fivedice.envs.view import View
from fivedice.envs.yum.rules import FILL, LOW_STRAIGHT, NUM_BOXES, OPEN, SIXES, points_in, upper_total


class GreedyYum:
    """Maximises the expected points of the turn: what the box filled at its end gives, with the bonus if that box earns
    it. What the box could have given in a later turn does not count.

    Where stopping is as good as going on, it stops. Of sets to keep, or boxes to fill, that are equally good it takes
    the one with the lowest action: a 0 goes into the first open box.
    """

    name = "greedy"

    def act(self, view: View) -> NDArray[np.int64]:
        """The action of each decision of `view`, (N,) int64."""
        if view.game.name != "yum":
            raise ValueError(f"this greedy policy plays Yum, not {view.game.title}")
        actions = np.empty(len(view), np.int64)
        decide(view.states, view.options, view.masks, actions)
        return actions


@kernel
def decide(states: Any, options: Any, masks: NDArray[np.int8], actions: NDArray[np.int64]) -> None:
    """Write an action (N,) for each of the decisions `states` (N,) with legal actions `masks` (N, num_actions)."""
    upper = upper_scores()
    stops, values = np.empty((2, NUM_THROWS, 1)), np.empty((2, NUM_SETS, 1))
    for i in range(len(states)):
        dice, boxes, left = states[i]["dice"], states[i]["boxes"][states[i]["player"]], int(states[i]["throws_left"])
        written = upper_total(boxes)
        most = -np.inf  # where no box may be filled
        for box in range(NUM_BOXES):
            if masks[i, FILL + box]:
                points = points_in(box, dice, boxes, options)
                if box <= SIXES:
                    points = upper[written + points] - upper[written]
                if points > most:
                    actions[i], most = FILL + box, points
        if left > 0:
            for throw in range(NUM_THROWS):
                stops[:left, throw] = most_points(THROWS[throw], boxes, options, upper, written)
            solve_turn(stops[:left], values[:left])
            for keep in range(FILL):
                value = values[left - 1, set_number(dice, keep), 0]
                if masks[i, keep] and value > most + NEAR:
                    actions[i], most = keep, value


@kernel
def most_points(dice: Dice, boxes: NDArray[np.int8], options: Any, upper: NDArray[np.int64], written: int) -> int:
    """The most that `dice` (5,) add to the score in one open box; 0 if they fit none.

    Whether that 0 may be written yet makes no difference to a turn: going on is never worth less than 0.
    """
    most = 0
    # Two loops: the compiler then knows which boxes are numbers.
    for box in range(LOW_STRAIGHT):
        if boxes[box] == OPEN:
            most = max(most, int(upper[written + points_in(box, dice, boxes, options)] - upper[written]))
    for box in range(LOW_STRAIGHT, NUM_BOXES):
        if boxes[box] == OPEN:
            most = max(most, points_in(box, dice, boxes, options))
    return most


GREEDY = GreedyYum()
