"""The score breakdown of Yum: points, zeros and turn of filling of each box, and how often the bonus is earned."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.evaluation.breakdown import Measure
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.view import View
from fivedice.envs.yum.rules import BOXES, FILL, NUM_BOXES, OPEN, bonus, points_in, upper_total


@kernel
def write_fills(states: Any, options: Any, actions: NDArray[np.int64], fills: NDArray[np.float64]) -> None:
    """For each of these fills (K,), write its points, its turn from 1 up, and the bonus after it into `fills` (K, 3).

    It overwrites `states` (K,).
    """
    for i in range(len(states)):
        state = states[i]
        boxes, box = state["boxes"][state["player"]], actions[i] - FILL
        turn = 1
        for b in range(NUM_BOXES):
            turn += boxes[b] != OPEN
        points = points_in(box, state["dice"], boxes, options)
        boxes[box] = points
        fills[i, 0], fills[i, 1], fills[i, 2] = points, turn, bonus(upper_total(boxes))


class YumScoreSheet:
    """A row for each box, and one for the bonus. The bonus is entered with the last box, as a zero if it was missed."""

    rows = (*BOXES, "Bonus")
    measures = (
        Measure("points", adds_up=True),
        Measure("zeros", is_share=True),
        Measure("turn of filling"),
        Measure("bonus earned", is_share=True, only_row="Bonus"),
    )

    def entries(
        self, view: View, actions: NDArray[np.int64]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
        """The decisions that make an entry, the row of each entry, and its measures."""
        filling = np.flatnonzero(actions >= FILL)
        fills = np.empty((len(filling), 3))
        write_fills(view.states[filling], view.options, actions[filling], fills)
        points, turns, bonuses = fills.T
        none = np.full(len(filling), np.nan)
        boxes = np.column_stack([points, points == 0, turns, none])
        ended = np.flatnonzero(turns == NUM_BOXES)
        earned = (bonuses[ended] > 0).astype(np.float64)
        bonus_row = np.column_stack([bonuses[ended], 1 - earned, none[ended], earned])
        rows = np.concatenate([actions[filling] - FILL, np.full(len(ended), NUM_BOXES)])
        return np.concatenate([filling, filling[ended]]), rows, np.concatenate([boxes, bonus_row])


SCORE_SHEET = YumScoreSheet()
