"""The environments. Importing this registers every id with Gymnasium and PettingZoo and costs nothing else.

No rules are compiled, and neither torch nor a plotting or window library is loaded.
"""

if __name__ != "fivedice.envs":
    raise ImportError(
        "import this package as 'fivedice.envs', after 'pip install -e .'; 'envs' is only the folder's name"
    )

import importlib
from typing import TYPE_CHECKING

import gymnasium
import pettingzoo

if TYPE_CHECKING:
    from fivedice.envs.spec import Game

# Every game's name, which is its folder's, and the version in its ids.
GAMES = {"yum": 0, "yahtzee_jr": 0, "showdown_yahtzee": 0, "set_cubed": 0}

__all__ = ["GAMES", "load_game"]


def load_game(name: str) -> "Game":
    """The declaration of the game with this name, such as ``"yum"``."""
    if name not in GAMES:
        from fivedice.envs.spec import unknown_name

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
                entry_point="fivedice.envs.seat:SeatEnv",
                vector_entry_point="fivedice.envs.vector:SeatVectorEnv",
                kwargs={"game": name},
            )
        if aec_id not in pettingzoo.aec_registry:
            pettingzoo.register("aec", aec_id, f"fivedice.envs.{name}_v{version}:env")


_register()
