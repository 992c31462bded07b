"""What is known of one game, found by the game's name: the files of ``agents/games/<game>/``.

The only place below ``agents/games/`` that reaches for it.
"""

import importlib
import importlib.util
from typing import Any

from fivedice.envs.core.spec import Game


def has_part(game: Game, part: str) -> bool:
    """Whether there is a file ``agents/games/<game>/<part>.py``."""
    package = f"fivedice.agents.games.{game.name}"
    if importlib.util.find_spec(package) is None:
        return False
    return importlib.util.find_spec(f"{package}.{part}") is not None


def load_part(game: Game, part: str) -> Any:
    """That file as a module, or None if there is none."""
    return importlib.import_module(f"fivedice.agents.games.{game.name}.{part}") if has_part(game, part) else None
