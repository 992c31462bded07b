"""Exact play as a policy, for any game that is solved."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.games.best_actions import best_actions
from fivedice.envs.core.spec import Game, Options
from fivedice.envs.core.view import View


class Values(Protocol):
    """The values of all actions of a game under one choice of options.

    Attributes:
        start: the value of the game for the first seat, before the first throw.
    """

    start: float

    def action_values(self, view: View) -> NDArray[np.float64]:
        """(N, num_actions) float64 for a view of N decisions, -inf where an action is not legal."""


class Optimal:
    """Plays the action with the highest value; of equally good actions the lowest.

    Args:
        game: the game that it plays.
        solve: returns the values of that game for an options record. They are kept in memory for each record.
    """

    name = "optimal"

    def __init__(self, game: Game, solve: Callable[[Options], Values]) -> None:
        self.game = game
        self._solve = solve
        self._of_options: dict[bytes, Values] = {}

    def act(self, view: View) -> NDArray[np.int64]:
        """The action of each decision of `view`, (N,) int64."""
        return best_actions(self.action_values(view))

    def value(self, view: View) -> NDArray[np.float64]:
        """The value of each decision of `view` for the seat that decides, (N,) float64."""
        values: NDArray[np.float64] = self.action_values(view).max(axis=1)
        return values

    def action_values(self, view: View) -> NDArray[np.float64]:
        """The value of each action for the seat that decides, (N, num_actions) float64; -inf where it is not legal."""
        if view.game is not self.game:
            raise ValueError(f"this optimal policy plays {self.game.title}, not {view.game.title}")
        return self._values(view.options).action_values(view)

    def start_value(self, options: Options) -> float:
        """The value of the game for the first seat, before the first throw."""
        return self._values(options).start

    def _values(self, options: Options) -> Values:
        key = options.tobytes()
        if key not in self._of_options:
            self._of_options[key] = self._solve(options)
        return self._of_options[key]
