"""The policies that need no training: random, greedy, planner and optimal."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.policies.by_game import exact_solution, greedy_policy, planner_policy
from fivedice.envs.core.random_play import pick
from fivedice.envs.core.spec import Game, Options
from fivedice.envs.core.view import Policy, View


class RandomPolicy:
    """Plays each legal action with the same probability."""

    name = "random"

    def act(self, view: View) -> NDArray[np.int64]:
        """A legal action for each decision, (N,) int64."""
        view.require_choice()
        actions = np.empty(len(view), np.int64)
        pick(view.masks, view.uniforms, actions)
        return actions

    def action_probabilities(self, view: View) -> NDArray[np.float64]:
        """The probability of each action, (N, num_actions) float64."""
        probabilities: NDArray[np.float64] = view.masks / view.masks.sum(axis=1, keepdims=True)
        return probabilities


class PerGamePolicy:
    """A policy with one implementation for each game, which `of` returns.

    Args:
        name: the name of the policy.
        find: returns the implementation for a game, or None if there is none.
    """

    def __init__(self, name: str, find: Callable[[Game], Policy | None]) -> None:
        self.name = name
        self._find = find

    def act(self, view: View) -> NDArray[np.int64]:
        """A legal action for each decision, (N,) int64.

        Raises:
            ValueError: there is no such policy for the game of `view`, or a decision has no legal action.
        """
        view.require_choice()
        return self.of(view.game).act(view)

    def of(self, game: Game) -> Policy:
        """The implementation for `game`.

        Raises:
            ValueError: there is none.
        """
        policy = self._find(game)
        if policy is None:
            others = [policy.name for policy in (GREEDY, PLANNER, OPTIMAL) if policy.plays(game)]
            known = " or ".join(map(repr, ["random", *others]))
            raise ValueError(f"there is no {self.name!r} policy for {game.title}; use {known}")
        return policy

    def plays(self, game: Game) -> bool:
        """Whether there is an implementation for `game`."""
        return self._find(game) is not None


def _find_greedy(game: Game) -> Policy | None:
    module = greedy_policy(game)
    return None if module is None else module.GREEDY


def _find_planner(game: Game) -> Policy | None:
    module = planner_policy(game)
    return None if module is None else module.PLANNER


def _find_optimal(game: Game) -> Policy | None:
    module = exact_solution(game)
    return None if module is None else module.OPTIMAL


GREEDY = PerGamePolicy("greedy", _find_greedy)  # maximises the gain of the current turn; see the page of each game
PLANNER = PerGamePolicy("planner", _find_planner)  # looks beyond the current turn; see the page of each game
OPTIMAL = PerGamePolicy("optimal", _find_optimal)  # exact play, for games that are solved


def baseline_names(game: Game) -> tuple[str, ...]:
    """The baselines that need no solution of the game, the best one first."""
    return ("greedy", "random") if GREEDY.plays(game) else ("random",)


def policy_for(policy: Policy, game: Game) -> Policy:
    """The policy to ask what it can do in `game`: the game's own one of a `PerGamePolicy`, else `policy` itself.

    Raises:
        ValueError: a `PerGamePolicy` has none for that game.
    """
    return policy.of(game) if isinstance(policy, PerGamePolicy) else policy


def optimum(game: Game, options: Options) -> float | None:
    """The exact highest expected points of a player with these options, or None if it is not known."""
    solution = exact_solution(game)
    return None if solution is None else solution.optimum(options)


def is_solved(game: Game, options: Options) -> bool:
    """Whether the optimal policy can play a game with these options."""
    solution = exact_solution(game)
    return solution is not None and solution.is_solved(options)


def value_in_words(game: Game, options: Options) -> str:
    """The value of a game with these options under optimal play, as a sentence.

    Raises:
        ValueError: the game is not solved, or not with these options.
    """
    solution = exact_solution(game)
    if solution is None:
        raise ValueError(f"{game.title} is not solved")
    return solution.in_words(options)
