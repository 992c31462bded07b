"""The stubs of the PettingZoo modules: signatures that editors complete and type checkers read.

``python -m fivedice.envs.api.stub`` writes ``<game>_v<version>.pyi`` beside each module of this package. A test fails
if a stub differs from the declaration of its game.
"""

import inspect
from pathlib import Path
from typing import Any

from fivedice.envs import GAMES, load_game
from fivedice.envs.api.aec import signature
from fivedice.envs.core.option import OneOf
from fivedice.envs.core.spec import Game


def stub(game: Game) -> str:
    """The text of the stub of a game's PettingZoo module."""
    choices = {option.name: option.choices for option in game.rules.OPTIONS if isinstance(option, OneOf)}
    lines, keyword_only = [], False
    for parameter in signature(game).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            lines.append("    *,")
            keyword_only = True
        kind = _annotation(parameter.annotation, choices.get(parameter.name, ()))
        lines.append(f"    {parameter.name}: {kind} = {_literal(parameter.default)},")
    arguments = "\n".join(lines)
    imports = "from typing import Literal\n\n" if "Literal[" in arguments else ""
    return (
        f"# Written by `python -m fivedice.envs.api.stub` from the declaration of {game.title}.\n\n"
        f"{imports}from fivedice.envs.api.aec import DiceEnv\n\n"
        + "".join(f"def {name}(\n{arguments}\n) -> DiceEnv: ...\n" for name in ("env", "raw_env"))
    )


def _annotation(kind: Any, choices: tuple[Any, ...]) -> str:
    """The annotation of a parameter; a choice between words becomes a Literal."""
    if choices and isinstance(choices[0], str):
        return f"Literal[{', '.join(map(_literal, choices))}]"
    return inspect.formatannotation(kind)


def _literal(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def stub_path(name: str) -> Path:
    """The path of the stub of the game with this name."""
    return Path(__file__).parents[1] / f"{name}_v{GAMES[name]}.pyi"


if __name__ == "__main__":
    for name in GAMES:
        stub_path(name).write_text(stub(load_game(name)), "utf-8")
