"""The policies that need no training."""

import importlib

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.kernel import kernel
from fivedice.envs.view import Policy, View


@kernel
def pick(masks: NDArray[np.int8], noise: NDArray[np.float64], actions: NDArray[np.int64]) -> None:
    """Write into `actions` the legal action that `noise` points at, all being equally likely."""
    for i in range(len(masks)):
        legal = 0
        for action in range(masks.shape[1]):
            legal += masks[i, action]
        place = int(noise[i] * legal)
        for action in range(masks.shape[1]):
            if masks[i, action]:
                if place == 0:
                    actions[i] = action
                    break
                place -= 1


class RandomPolicy:
    """Every legal action is equally likely."""

    name = "random"

    def act(self, view: View) -> NDArray[np.int64]:
        """One action for each row, (N,) int64."""
        actions = np.empty(len(view), np.int64)
        pick(view.masks, view.noise, actions)
        return actions


class GreedyPolicy:
    """Makes the most of this turn and thinks no further; what that means, each game's page says."""

    name = "greedy"

    def __init__(self) -> None:
        self._of_game: dict[str, Policy] = {}

    def act(self, view: View) -> NDArray[np.int64]:
        """One action for each row, (N,) int64."""
        name = view.game.name
        if name not in self._of_game:
            try:
                module = importlib.import_module(f"fivedice.agents.greedy.{name}")
            except ModuleNotFoundError:
                raise ValueError(f"there is no greedy policy for {view.game.title}; use 'random'") from None
            self._of_game[name] = module.GREEDY
        return self._of_game[name].act(view)
