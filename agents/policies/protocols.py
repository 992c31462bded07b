"""What a policy can do, and what the package knows about one game, as protocols to ask for by `isinstance`.

A policy is any object with a ``name`` and ``act(view)``. Everything else is optional: a policy offers it by having the
members of one of the protocols below. The greedy and the optimal policy have one implementation for each game. Take the
implementation first (`policy_for` in `fivedice.agents.policies.baselines`), then ask what it can do.
"""

from collections.abc import Mapping
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.spec import Game, Options
from fivedice.envs.core.view import ChecksGame, Policy, View

__all__ = [
    "BoundToGame",
    "ChecksGame",
    "ExactSolution",
    "GreedyPolicy",
    "HasActionFeatures",
    "HasActionProbabilities",
    "HasActionValues",
    "PlannerPolicy",
    "PointValues",
    "Policy",
]


@runtime_checkable
class HasActionValues(Protocol):
    """Knows the value of each action."""

    def action_values(self, view: View) -> NDArray[np.float64]:
        """The values (N, num_actions) float64 of the actions in N decisions; -inf where an action is not legal.

        The unit is the policy's own, such as points, chips or the probability to win.
        """


@runtime_checkable
class HasActionProbabilities(Protocol):
    """Knows the probability of each of its actions."""

    def action_probabilities(self, view: View) -> NDArray[np.float64]:
        """The probability (N, num_actions) float64 of each action in N decisions; each row sums to 1."""


@runtime_checkable
class HasActionFeatures(Protocol):
    """Knows effects of an action that its value leaves out, such as what it leaves to the next player."""

    @property
    def features(self) -> Mapping[str, str]:
        """The name of each feature and its meaning, in the order of `action_features`."""

    def action_features(self, view: View, values: NDArray[np.float64], near: NDArray[np.bool_]) -> NDArray[np.float32]:
        """The features (N, num_features, num_actions) float32 of the actions in N decisions.

        Args:
            view: the decisions.
            values: (N, num_actions), the `action_values` of `view`.
            near: (N, num_actions), the actions to compute features for. The features of all others are 0.
        """


@runtime_checkable
class BoundToGame(Protocol):
    """Plays one game with one set of options and number of players only: a checkpoint, or a rollout of one."""

    @property
    def game(self) -> Game:
        """The game."""

    @property
    def options(self) -> Options:
        """The options record, which includes the number of players."""


# Modules of ``agents/games/<game>/``, which `fivedice.agents.policies.by_game` finds by the game's name.


@runtime_checkable
class GreedyPolicy(Protocol):
    """The module ``agents/games/<game>/greedy.py``."""

    @property
    def GREEDY(self) -> Policy:
        """The greedy policy of the game."""


@runtime_checkable
class PlannerPolicy(Protocol):
    """The module ``agents/games/<game>/planner.py``."""

    @property
    def PLANNER(self) -> Policy:
        """The planner of the game."""


class PointValues(Protocol):
    """The values of a game for points, in which the other players' decisions do not change a player's points."""

    start: float  # the expected final points of a player under optimal play, before the first throw

    def action_values(self, view: View) -> NDArray[np.float64]:
        """The expected final points (N, num_actions) of the deciding player after each action; -inf if illegal."""


@runtime_checkable
class ExactSolution(Protocol):
    """The module ``agents/games/<game>/exact.py``."""

    @property
    def OPTIMAL(self) -> Policy:
        """The optimal policy of the game."""

    def is_solved(self, options: Options) -> bool:
        """Whether the game is solved with these options. The functions below may raise a ValueError if not."""

    def optimum(self, options: Options) -> float | None:
        """The highest expected points of a player, or None if the game is not solved for points."""

    def point_values(self, options: Options) -> PointValues | None:
        """The values of the game for points, or None if the game is not solved for points."""

    def unit(self, options: Options) -> Literal["points", "win"]:
        """What the values of `OPTIMAL` are: expected final points, or the probability to win."""

    def start_value(self, options: Options) -> float:
        """The value of the game for the first seat under optimal play, before the first throw."""

    def in_words(self, options: Options) -> str:
        """The value of the game as a sentence."""
