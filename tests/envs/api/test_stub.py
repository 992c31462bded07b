"""Signatures of the PettingZoo modules: what editors, type checkers and `help` show is what the functions take."""

import importlib
import inspect
from pathlib import Path
from typing import Any

import pytest

import fivedice.envs
from fivedice.envs import GAMES, load_game
from fivedice.envs.api.aec import DiceEnv
from fivedice.envs.api.stub import stub, stub_path


def module_of(name: str) -> Any:
    return importlib.import_module(f"fivedice.envs.{name}_v{GAMES[name]}")


@pytest.mark.parametrize("name", GAMES)
def test_stub__is_that_of_the_declaration(name: str) -> None:
    assert stub_path(name).read_text("utf-8") == stub(load_game(name)), "run python -m fivedice.envs.api.stub"


@pytest.mark.parametrize("name", GAMES)
def test_signature__has_every_keyword_with_its_default(name: str) -> None:
    game, module = load_game(name), module_of(name)
    signature = inspect.signature(module.env)
    usual = inspect.signature(DiceEnv).parameters
    options = [option.name for option in game.rules.OPTIONS]
    assert list(signature.parameters) == [*list(usual)[1:-1], *options]
    assert signature.return_annotation is DiceEnv
    assert module.env is module.raw_env
    defaults = {parameter.name: parameter.default for parameter in signature.parameters.values()}
    made, plain = module.env(**defaults), module.env()
    assert made.options == plain.options == {option: defaults[option] for option in options}
    for option in game.rules.OPTIONS:
        assert f"{option.name}: {option.meaning}" in module.env.__doc__


def test_env__takes_its_first_arguments_by_position() -> None:
    assert len(module_of("yum").env(3, "score").possible_agents) == 3


def test_stubs__are_in_the_folder_of_their_modules() -> None:
    folder = Path(fivedice.envs.__file__).parent
    assert {path.stem for path in folder.glob("*.pyi")} == {f"{name}_v{version}" for name, version in GAMES.items()}
