"""The environments.

Importing this package registers every id with Gymnasium and PettingZoo. It compiles no rules, and loads neither torch
nor a plotting or window library.
"""

if __name__ != "fivedice.envs":
    raise ImportError(
        "import this package as 'fivedice.envs', after 'pip install -e .'; 'envs' is only the folder's name"
    )

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

import gymnasium
import pettingzoo

if TYPE_CHECKING:
    from fivedice.envs.core.batch import Batch
    from fivedice.envs.core.random_play import play_random
    from fivedice.envs.core.spec import Game


def _list_games() -> dict[str, int]:
    """The name of each game and the latest version in its ids.

    A game is a file ``<game>_v<version>.py`` beside a file ``<game>/rules.py``.
    """
    here = Path(__file__).parent
    found: dict[str, int] = {}
    for module in sorted(here.glob("*_v*.py")):
        name, _, version = module.stem.rpartition("_v")
        if (here / name / "rules.py").is_file():
            found[name] = max(int(version), found.get(name, 0))
    return found


GAMES = _list_games()

# Imported only when used, because these modules load the compiler.
LAZY = {"Batch": "fivedice.envs.core.batch", "play_random": "fivedice.envs.core.random_play"}

__all__ = ["GAMES", "Batch", "load_game", "play_random"]


def __getattr__(name: str) -> object:
    if name not in LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(LAZY[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *LAZY]


def load_game(name: str) -> "Game":
    """Return the declaration of a game.

    Args:
        name: the name of a game, such as ``"yum"``; ``fivedice.envs.GAMES`` has all names.

    Raises:
        ValueError: there is no game with this name.
    """
    if name not in GAMES:
        from fivedice.envs.core.spec import unknown_name

        raise ValueError(unknown_name("game", name, GAMES))
    game: Game = importlib.import_module(f"fivedice.envs.{name}").GAME
    return game


def _register() -> None:
    for name, version in GAMES.items():
        camel = "".join(word.capitalize() for word in name.split("_"))
        gymnasium_id, aec_id = f"fivedice/{camel}-v{version}", f"fivedice/{name}-v{version}"
        if gymnasium_id not in gymnasium.registry:
            gymnasium.register(
                gymnasium_id,
                entry_point="fivedice.envs.api.single:SeatEnv",
                vector_entry_point="fivedice.envs.api.vector:SeatVectorEnv",
                kwargs={"game": name},
            )
        if aec_id not in pettingzoo.aec_registry:
            pettingzoo.register("aec", aec_id, f"fivedice.envs.{name}_v{version}:env")


_register()
