"""Exact play as a policy, for any game that is solved."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.games.exact_turn import NEAR
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Game, Options
from fivedice.envs.core.view import View


@kernel
def pick_best(values: NDArray[np.float64], actions: NDArray[np.int64]) -> None:
    """Write the action with the highest of `values` (N, num_actions), the lowest such action, into `actions` (N,)."""
    for i in range(len(values)):
        actions[i] = 0
        for action in range(1, values.shape[1]):
            if values[i, action] > values[i, actions[i]] + NEAR:
                actions[i] = action


class Values(Protocol):
    """What each action is worth under one choice of options."""

    def action_values(self, view: View) -> NDArray[np.float64]:
        """(N, num_actions) float64 for a view of N decisions, -inf where an action is not legal."""


class Optimal:
    """Plays the action with the highest value; of equally good actions the lowest.

    Args:
        game: what it plays.
        solve: gives the values of that game for an options record. Each record's are kept.
    """

    name = "optimal"

    def __init__(self, game: Game, solve: Callable[[Options], Values]) -> None:
        self.game = game
        self._solve = solve
        self._of_options: dict[bytes, Values] = {}

    def act(self, view: View) -> NDArray[np.int64]:
        """The action of each decision of `view`, (N,) int64."""
        actions = np.empty(len(view), np.int64)
        pick_best(self.action_values(view), actions)
        return actions

    def value(self, view: View) -> NDArray[np.float64]:
        """What each decision of `view` is worth to the seat that decides, (N,) float64."""
        values: NDArray[np.float64] = self.action_values(view).max(axis=1)
        return values

    def action_values(self, view: View) -> NDArray[np.float64]:
        """The same after each action, (N, num_actions) float64; -inf where an action is not legal."""
        if view.game is not self.game:
            raise ValueError(f"this optimal policy plays {self.game.title}, not {view.game.title}")
        key = view.options.tobytes()
        if key not in self._of_options:
            self._of_options[key] = self._solve(view.options)
        return self._of_options[key].action_values(view)
