"""Options: what may be chosen, how it is written, and what is said of all else."""

import contextlib
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fivedice.agents import cli, session
from fivedice.agents.checkpoint import load_checkpoint, make_card, save_checkpoint
from fivedice.agents.config import TrainConfig
from fivedice.agents.network import Network, tensor_shapes
from fivedice.envs import GAMES, load_game
from fivedice.envs.option import OneOf, Option, WholeNumber, WholeNumbers, written

WORD = OneOf("zeros", ("forced", "free"), "")
SWITCH = OneOf("straight", (False, True), "")
NUMBER = WholeNumber("max_turns", 400, 1, 1000, "")
NUMBERS = WholeNumbers("chips", (2, 3, 4), 0, 5, "")
OPTIONS = [WORD, SWITCH, NUMBER, NUMBERS, *(option for name in GAMES for option in load_game(name).rules.OPTIONS)]


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_option__values_survive_record_and_text(option: Option) -> None:
    record = np.zeros(1, [(option.name, np.int32, option.shape)])
    for value in option.samples:
        record[option.name] = option.encode(value)
        kept = option.decode(record[0][option.name])
        assert kept == value
        assert type(kept) is type(value)
        assert option.parse(written(value)) == value
    assert str(option.samples[0]) in option.valid or written(option.samples[0]) in option.valid


@pytest.mark.parametrize(
    ("option", "wrong", "said"),
    [
        (WORD, "fre", "zeros='fre' is not a choice of this game; use 'forced' or 'free'"),
        (WORD, True, "zeros=True is not a choice"),
        (SWITCH, 1, "straight=1 is not a choice of this game; use False or True"),
        (SWITCH, np.zeros(2), "straight=.* is not a choice"),
        (NUMBER, 0, "max_turns=0 is not possible; use a whole number from 1 to 1000"),
        (NUMBER, 1001, "max_turns=1001 is not possible"),
        (NUMBER, 4.0, "max_turns=4.0 is not possible"),
        (NUMBER, True, "max_turns=True is not possible"),
        (NUMBER, "many", "max_turns='many' is not possible"),
        (NUMBERS, (2, 3), r"chips=\(2, 3\) is not possible; use 3 whole numbers from 0 to 5, as \(2, 3, 4\)"),
        (NUMBERS, (2, 3, 6), "chips=.* is not possible"),
        (NUMBERS, (2, 3, 4.5), "chips=.* is not possible"),
        (NUMBERS, "2;3;4", "chips='2;3;4' is not possible"),
        (NUMBERS, 2, "chips=2 is not possible"),
    ],
)
def test_option__refuses_what_it_cannot_be(option: Option, wrong: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        option.encode(option.parse(wrong) if isinstance(wrong, str) else wrong)


def test_option__lists_and_arrays_are_numbers_too() -> None:
    assert NUMBERS.encode([1, 2, 3]) == NUMBERS.encode(np.array([1, 2, 3])) == (1, 2, 3)
    assert NUMBER.encode(np.int64(7)) == 7


@pytest.mark.parametrize("text", ["true", "True"])
def test_option__reads_yes_as_toml_and_python_write_it(text: str) -> None:
    assert SWITCH.parse(text) is True


# In files and on the command line.

CHOSEN = {"chips": (1, 2, 3, 4, 5, 6), "steal": "beat", "max_turns": 300}


def test_checkpoint__keeps_numbers(tmp_path: Path) -> None:
    game = load_game("showdown_yahtzee")
    options = game.make_options(3, CHOSEN)
    size, actions = game.layout(options).size, game.num_actions(options)
    tensors = {name: np.zeros(shape, np.float32) for name, shape in tensor_shapes(size, actions, (4,)).items()}
    path = tmp_path / "some.safetensors"
    save_checkpoint(path, make_card(game, options, (4,), "relu"), Network(tensors, size, actions, (4,), "relu"))
    policy = load_checkpoint(path)
    assert policy.options == options
    policy.check(game, game.make_options(3, CHOSEN))
    for other in ({"max_turns": 301}, {"chips": (1, 2, 3, 4, 5, 7)}):
        with pytest.raises(ValueError, match=r"plays .*chips=\(1, 2, 3, 4, 5, 6\), steal='beat', max_turns=300\), not"):
            policy.check(game, game.make_options(3, CHOSEN | other))


def settings(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> TrainConfig:
    """The settings that ``fivedice train`` would run with."""
    runs: list[TrainConfig] = []
    monkeypatch.setattr(session, "run", lambda config, *_: runs.append(config))
    monkeypatch.setattr(sys, "argv", ["fivedice", "train", *arguments])
    with contextlib.suppress(SystemExit):
        cli.main()
    return runs[0]


def test_train__takes_numbers_from_files_and_the_command_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "some.toml"
    path.write_text(
        'game = "showdown_yahtzee"\n[options]\nchips = [1, 2, 3, 4, 5, 6]\nsteal = "beat"\nmax_turns = 300\n'
    )
    config = settings(monkeypatch, "--config", str(path))
    assert config.options == CHOSEN
    (tmp_path / "config.json").write_text(json.dumps(asdict(config), default=str))
    assert settings(monkeypatch, "--resume", str(tmp_path)).options == CHOSEN
    config = settings(monkeypatch, "--config", str(path), "--options.max_turns", "7", "--options.chips", "6,5,4,3,2,1")
    assert config.options["max_turns"] == 7
    assert config.options["chips"] == (6, 5, 4, 3, 2, 1)


def test_evaluate__takes_numbers_from_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = ["fivedice", "evaluate", "showdown_yahtzee", "random", "--options.chips", "1,2,3"]
    monkeypatch.setattr(sys, "argv", wrong)
    with pytest.raises(SystemExit):
        cli.main()
    said = " ".join(capsys.readouterr().err.split())
    assert "chips=(1, 2, 3) is not possible; use 6 whole numbers from 1 to 20, as (2, 3, 3, 3, 4, 2)" in said
