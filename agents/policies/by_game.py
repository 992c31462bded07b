"""Finds what the package knows about one game: the modules in ``agents/games/<game>/``.

Lower layers find them only here, and import nothing from ``agents/games/``.
"""

import importlib
import importlib.util
from functools import cache
from types import ModuleType

from fivedice.agents.policies.protocols import ExactSolution, GreedyPolicy, PlannerPolicy
from fivedice.envs.core.spec import Game


def load_part(game: Game, part: str) -> ModuleType | None:
    """The module ``agents/games/<game>/<part>.py``, or None if it does not exist."""
    package = f"fivedice.agents.games.{game.name}"
    if importlib.util.find_spec(package) is None or importlib.util.find_spec(f"{package}.{part}") is None:
        return None
    return importlib.import_module(f"fivedice.agents.games.{game.name}.{part}")


@cache
def greedy_policy(game: Game) -> GreedyPolicy | None:
    """The module with the greedy policy of a game, or None if the game has none."""
    module = load_part(game, "greedy")
    if module is None or isinstance(module, GreedyPolicy):
        return module
    raise TypeError(f"{module.__name__} must define GREEDY, as the protocol GreedyPolicy says")


@cache
def planner_policy(game: Game) -> PlannerPolicy | None:
    """The module with the planner of a game, or None if the game has none."""
    module = load_part(game, "planner")
    if module is None or isinstance(module, PlannerPolicy):
        return module
    raise TypeError(f"{module.__name__} must define PLANNER, as the protocol PlannerPolicy says")


@cache
def exact_solution(game: Game) -> ExactSolution | None:
    """The module with the exact solution of a game, or None if the game is not solved."""
    module = load_part(game, "exact")
    if module is None or isinstance(module, ExactSolution):
        return module
    raise TypeError(f"{module.__name__} must define everything that the protocol ExactSolution lists")
