"""The turn of Yum: it ends when a box is filled, and its outcome is the points written there."""

from typing import Any

import numpy as np

from fivedice.agents.games.turn import Turn
from fivedice.envs.core.kernel import kernel
from fivedice.envs.yum.lookup import POINTS, legal_actions, points_of
from fivedice.envs.yum.rules import FILL, NUM_ACTIONS, NUM_BOXES

NUM_POINTS = int(POINTS.max()) + 1  # a box gives 0, 1, … NUM_POINTS - 1

# (12, 31) bool: whether some throw gives a box so many points.
GIVES = np.zeros((NUM_BOXES, NUM_POINTS), np.bool_)
for _box in range(NUM_BOXES):
    GIVES[_box, POINTS[..., _box]] = True
GIVES[:, 0] = True
GIVES.setflags(write=False)


@kernel(inline=True)
def points_written(box: int, throw: int, state: Any, options: Any) -> int:
    """The points that the seat to move writes into an open box."""
    return points_of(throw, box, state["boxes"][state["player"]], options)


TURN = Turn(legal_actions, points_written, num_actions=NUM_ACTIONS, num_keeps=FILL, num_outcomes=NUM_POINTS)
