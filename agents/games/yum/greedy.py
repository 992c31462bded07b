"""Greedy play of Yum: the most expected points from this turn, exactly. It ignores all later turns."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.games.exact_turn import NUM_THROWS
from fivedice.agents.games.greedy_turn import GreedyTurn
from fivedice.agents.games.yum.turn import NUM_POINTS, TURN, points_written
from fivedice.envs.core.kernel import kernel
from fivedice.envs.yum import GAME
from fivedice.envs.yum.lookup import upper_total
from fivedice.envs.yum.rules import LOW_STRAIGHT, NUM_BOXES, OPEN, bonus


@kernel
def write_worth(state: Any, options: Any, nothing_known: None, worth: NDArray[np.float64]) -> None:
    """Write the points gained into `worth` (12, 31, 1), if the seat to move writes each number of points into each open
    box: these points, and the bonus if they earn it."""
    boxes = state["boxes"][state["player"]]
    upper = upper_total(boxes)
    for box in range(NUM_BOXES):
        if boxes[box] == OPEN:
            counts = box < LOW_STRAIGHT  # to Ones … Sixes
            for points in range(NUM_POINTS):
                worth[box, points, 0] = points + (bonus(upper + points) - bonus(upper) if counts else 0)


@kernel
def write_stops(state: Any, options: Any, worth: NDArray[np.float64], stops: NDArray[np.float64]) -> None:
    """See `Turn.make_write_action_values`. Only a 0 has to wait, if at all, so what is legal need not be asked for each
    throw."""
    boxes = state["boxes"][state["player"]]
    for throw in range(NUM_THROWS):
        most = 0.0
        for box in range(NUM_BOXES):
            if boxes[box] == OPEN:
                most = max(most, worth[box, points_written(box, throw, state, options), 0])
        for left in range(len(stops)):
            stops[left, throw, 0] = most


class GreedyYum(GreedyTurn):
    """Fills the box that gives the most points now, whatever it could give in a later turn.

    The bonus counts if the box earns it. A 0 goes into the first open box.
    """

    game = GAME
    write_action_values = staticmethod(TURN.make_write_action_values(write_worth, write_stops))


GREEDY = GreedyYum()
