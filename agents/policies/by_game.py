"""Finds what is known about one game: modules in ``agents/games/<game>/``, or in the package of the game itself.

For a game of another package, such as ``pigdice``, the module ``greedy`` is ``pigdice.greedy``. If the game is a module
and no package, this module itself is asked. Lower layers find these modules only here, and import nothing from
``agents/games/``.
"""

import importlib
import importlib.util
import sys
from functools import cache
from types import ModuleType

from fivedice.agents.policies.protocols import ExactSolution, GreedyPolicy, PlannerPolicy
from fivedice.envs import GAMES
from fivedice.envs.core.plugins import first_line
from fivedice.envs.core.spec import Game


def load_part(game: Game, part: str) -> ModuleType | None:
    """The module with this name, such as ``"greedy"``, of the package that knows a game; None if it does not exist."""
    try:
        package = f"fivedice.agents.games.{game.name}" if game.name in GAMES else game.home
    except ValueError:  # declared in no module, for example in a function
        return None
    if package in sys.modules and "__path__" not in vars(sys.modules[package]):
        return sys.modules[package]
    if importlib.util.find_spec(package) is None or importlib.util.find_spec(f"{package}.{part}") is None:
        return None
    try:
        return importlib.import_module(f"{package}.{part}")
    except Exception as error:  # a module of somebody else may raise anything
        if game.name in GAMES:
            raise
        raise ValueError(f"{package}.{part} cannot be used: {type(error).__name__}: {first_line(error)}") from error


@cache
def greedy_policy(game: Game) -> GreedyPolicy | None:
    """The module with the greedy policy of a game, or None if the game has none."""
    module = load_part(game, "greedy")
    if module is None or isinstance(module, GreedyPolicy):
        return module
    if module.__name__ == game.home:  # a module that need not have one
        return None
    raise TypeError(f"{module.__name__} must define GREEDY, as the protocol GreedyPolicy says")


@cache
def planner_policy(game: Game) -> PlannerPolicy | None:
    """The module with the planner of a game, or None if the game has none."""
    module = load_part(game, "planner")
    if module is None or isinstance(module, PlannerPolicy):
        return module
    if module.__name__ == game.home:
        return None
    raise TypeError(f"{module.__name__} must define PLANNER, as the protocol PlannerPolicy says")


@cache
def exact_solution(game: Game) -> ExactSolution | None:
    """The module with the exact solution of a game, or None if the game is not solved."""
    module = load_part(game, "exact")
    if module is None or isinstance(module, ExactSolution):
        return module
    if module.__name__ == game.home:
        return None
    raise TypeError(f"{module.__name__} must define everything that the protocol ExactSolution lists")
