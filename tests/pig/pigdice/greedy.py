"""Greedy play: the most expected points from this turn. `HoldAt` with another limit is a policy of its own."""

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.view import View
from pigdice.rules import HOLD, ROLL


class HoldAt:
    """Rolls until the turn has `limit` points, or enough to win.

    With 20 points, another roll gains 20 / 6 points on average, and loses as many: so 20 is greedy.
    """

    def __init__(self, limit: int = 20) -> None:
        self.name = "greedy" if limit == 20 else f"hold-at-{limit}"
        self.limit = limit

    def act(self, view: View) -> NDArray[np.int64]:
        """The action of each decision of `view`, (N,) int64."""
        view.require_choice()
        turn = view.states["turn"].astype(np.int64)
        own = view.states["points"][np.arange(len(view)), view.seats]
        holds = (turn >= self.limit) | (own + turn >= view.options["goal"])
        return np.where(holds & (turn > 0), HOLD, ROLL)


GREEDY = HoldAt()
CAUTIOUS = HoldAt(10)
