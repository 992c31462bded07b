"""The policies that need no training."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.policies.by_game import has_part, load_part
from fivedice.envs.core.random_play import pick
from fivedice.envs.core.spec import Game, Options
from fivedice.envs.core.view import Policy, View


class RandomPolicy:
    """Every legal action is equally likely."""

    name = "random"

    def act(self, view: View) -> NDArray[np.int64]:
        """One action for each row, (N,) int64."""
        view.require_choice()
        actions = np.empty(len(view), np.int64)
        pick(view.masks, view.uniforms, actions)
        return actions

    def chances(self, view: View) -> NDArray[np.float64]:
        """How likely each action is, (N, num_actions) float64."""
        chances: NDArray[np.float64] = view.masks / view.masks.sum(axis=1, keepdims=True)
        return chances


class OfEachGame:
    """A policy that every game has its own of: the one named in ``agents/games/<game>/<part>.py``."""

    def __init__(self, name: str, part: str) -> None:
        self.name = name
        self._part = part

    def act(self, view: View) -> NDArray[np.int64]:
        """One action for each row, (N,) int64."""
        view.require_choice()
        return self.of(view.game).act(view)

    def action_values(self, view: View) -> NDArray[np.float64]:
        """What the policy holds each action to be worth, (N, num_actions) float64; -inf where it is not legal.

        Raises:
            AttributeError: the one of that game does not tell.
        """
        values: NDArray[np.float64] = self.of(view.game).action_values(view)  # type: ignore[attr-defined]  # see Raises
        return values

    def of(self, game: Game) -> Policy:
        """The one that plays `game`."""
        if not self.plays(game):
            others = [policy.name for policy in (GREEDY, OPTIMAL) if policy.plays(game)]
            known = " or ".join(map(repr, ["random", *others]))
            raise ValueError(f"there is no {self.name!r} policy for {game.title}; use {known}")
        policy: Policy = getattr(load_part(game, self._part), self.name.upper())
        return policy

    def plays(self, game: Game) -> bool:
        """Whether `game` has one."""
        return has_part(game, self._part)


GREEDY = OfEachGame("greedy", "greedy")  # makes the most of this turn and thinks no further; see each game's page
OPTIMAL = OfEachGame("optimal", "exact")  # exact play, where a game is solved


def optimum(game: Game, options: Options) -> float | None:
    """The exact highest expected points of a game at a table with these options, or None if that is not known."""
    solved = _solved(game)
    value: float | None = solved.optimum(options) if solved else None
    return value


def is_solved(game: Game, options: Options) -> bool:
    """Whether there is exact play of a game at a table with these options.

    ``agents/games/<game>/exact.py`` says it by a function ``is_solved(options)``, if not all tables are solved.
    """
    solved = _solved(game)
    return solved is not None and (not hasattr(solved, "is_solved") or bool(solved.is_solved(options)))


def value_in_words(game: Game, options: Options) -> str:
    """What a game with these options is worth under exact play, in a sentence.

    Raises:
        ValueError: that game is not solved, or not at such a table.
    """
    solved = _solved(game)
    if solved is None:
        raise ValueError(f"{game.title} is not solved")
    words: str = solved.in_words(options)
    return words


def _solved(game: Game) -> Any:
    return load_part(game, "exact")
