"""Greedy play of a turn of five dice and up to three throws, for every game with such turns."""

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.games.best_actions import best_actions
from fivedice.envs.core.spec import Game
from fivedice.envs.core.view import View


class GreedyTurn:
    """Maximises the expected points of the current turn, exactly. It ignores all later turns.

    Where stopping is as good as continuing, it stops. Of equally good sets to keep, and of equally good ways to stop,
    it takes the lowest action.
    """

    name = "greedy"
    game: ClassVar[Game]
    write_action_values: ClassVar[Callable[..., None]]  # made by `Turn.make_write_action_values`; knows nothing more

    def act(self, view: View) -> NDArray[np.int64]:
        """The action of each decision of `view`, (N,) int64."""
        return best_actions(self.action_values(view), first=self.game.num_keeps)

    def action_values(self, view: View) -> NDArray[np.float64]:
        """The expected points of the turn after each action, (N, num_actions) float64; -inf where it is not legal."""
        if view.game is not self.game:
            raise ValueError(f"this greedy policy plays {self.game.title}, not {view.game.title}")
        values = np.empty(view.masks.shape)
        self.write_action_values(view.states, differ_from_the_one_before(view.states), view.options, None, values)
        return values


def differ_from_the_one_before(states: NDArray[np.void]) -> NDArray[np.bool_]:
    """Which states (N,) differ from the one before them in more than their dice; the first does."""
    undiced = states.copy()
    undiced["dice"] = 0
    content = undiced.view(np.uint8).reshape(len(states), states.itemsize)
    differ = np.ones(len(states), np.bool_)
    differ[1:] = (content[1:] != content[:-1]).any(axis=1)
    return differ
