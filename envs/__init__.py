"""The environments.

Importing this package registers every id with Gymnasium and PettingZoo, those of installed packages with games
included. It imports no such package, compiles no rules, and loads neither torch nor a plotting or window library.
"""

if __name__ != "fivedice.envs":
    raise ImportError(
        "import this package as 'fivedice.envs', after 'pip install -e .'; 'envs' is only the folder's name"
    )

import importlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium
import pettingzoo

from fivedice.envs.core.plugins import Plugin, check_new, installed

if TYPE_CHECKING:
    from fivedice.envs.api.aec import DiceEnv
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
_registered: dict[str, Plugin] = {}

# Imported only when used, because these modules load the compiler.
LAZY = {"Batch": "fivedice.envs.core.batch", "play_random": "fivedice.envs.core.random_play"}

__all__ = ["GAMES", "Batch", "game_names", "load_game", "play_random", "register_game"]


def __getattr__(name: str) -> object:
    if name not in LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(LAZY[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *LAZY]


def _plugins() -> dict[str, Plugin]:
    """The games of other packages by name."""
    return installed(frozenset(GAMES)) | _registered


def game_names() -> dict[str, int]:
    """The names of all games, with the version in their ids: `GAMES`, and the games of other packages."""
    return GAMES | {name: plugin.version for name, plugin in _plugins().items()}


def load_game(name: str) -> "Game":
    """Return the declaration of a game.

    Args:
        name: the name of a game, such as ``"yum"``; `game_names` has all names.

    Raises:
        ValueError: there is no game with this name, or the package that provides it cannot be used.
    """
    if name in GAMES:
        game: Game = importlib.import_module(f"fivedice.envs.{name}").GAME
        return game
    if name in _plugins():
        return _plugins()[name].load()
    from fivedice.envs.core.spec import unknown_name

    raise ValueError(unknown_name("game", name, game_names()))


def register_game(name: str, game: "str | Game", version: int = 0) -> None:
    """Add a game of another package to those that `load_game`, the command line and the ids know.

    An installed package need not call it, if it declares the game as an entry point ``fivedice.games``.

    Args:
        name: the name of the game.
        game: where its declaration is, such as ``"pigdice:GAME"``, which is imported when it is used; or the
            declaration itself.
        version: the version of the game, if `game` is a text.

    Raises:
        ValueError: the name is not possible or belongs to another game, or `game` is not possible.
    """
    plugin = Plugin(name, version if isinstance(game, str) else game.version, game)
    if _registered.get(name) == plugin:
        return
    check_new(name, game, game_names())
    if not isinstance(game, str):
        plugin.load()
    _registered[name] = plugin
    _register_ids(name, plugin.version, partial(_make_aec, name))


def registration(name: str) -> tuple[str, str, int] | None:
    """The arguments of `register_game` with which another process knows a game, too; None if it knows it already.

    Raises:
        ValueError: the game was registered as an object, which another process cannot import.
    """
    plugin = _registered.get(name)
    if plugin is None:
        return None
    if not isinstance(plugin.source, str):
        raise ValueError(
            f"the game {name!r} was registered as an object, which other processes cannot import; "
            "register it as 'module:attribute', or use one process"
        )
    return name, plugin.source, plugin.version


def _make_aec(name: str, **kwargs: Any) -> "DiceEnv":
    """Make the PettingZoo environment of a game of another package."""
    env: DiceEnv = importlib.import_module("fivedice.envs.api.aec").DiceEnv(load_game(name), **kwargs)
    return env


def _register_ids(name: str, version: int, make_aec: Any) -> None:
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
        pettingzoo.register("aec", aec_id, make_aec)


def _register() -> None:
    for name, version in GAMES.items():
        _register_ids(name, version, f"fivedice.envs.{name}_v{version}:env")
    for name, plugin in installed(frozenset(GAMES)).items():
        if not plugin.problem:
            _register_ids(name, plugin.version, partial(_make_aec, name))


_register()
