"""Options: what may be chosen, how it is written, and what is said of all else."""

import contextlib
import json
import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fivedice.agents import cli
from fivedice.agents.cli import run as run_command
from fivedice.agents.policies.checkpoint import load_checkpoint, make_card, save_checkpoint
from fivedice.agents.policies.network import Network, tensor_shapes
from fivedice.agents.training.config import TrainConfig
from fivedice.envs import GAMES, load_game
from fivedice.envs.core.chance import new_script, new_streams
from fivedice.envs.core.option import OneOf, Option, WholeNumber, WholeNumbers, written
from fivedice.envs.core.spec import Game
from fivedice.envs.set_cubed.dice import standard_dice
from fivedice.envs.set_cubed.faces import FACE_NAMES
from fivedice.envs.set_cubed.hand import slots_in_sets

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
        (WORD, "fre", "zeros='fre' is not possible; use 'forced' or 'free'"),
        (WORD, True, "zeros=True is not possible"),
        (SWITCH, 1, "straight=1 is not possible; use False or True"),
        (SWITCH, np.zeros(2), "straight=.* is not possible"),
        (NUMBER, 0, "max_turns=0 is not possible; use a whole number from 1 to 1000"),
        (NUMBER, 1001, "max_turns=1001 is not possible"),
        (NUMBER, 4.0, "max_turns=4.0 is not possible"),
        (NUMBER, True, "max_turns=True is not possible"),
        (NUMBER, "many", "max_turns='many' is not possible"),
        (NUMBERS, (2, 3), r"chips=\(2, 3\) is not possible; use 3 whole numbers from 0 to 5, such as \(2, 3, 4\)"),
        (NUMBERS, (2, 3, 6), "chips=.* is not possible"),
        (NUMBERS, (2, 3, 4.5), "chips=.* is not possible"),
        (NUMBERS, "2;3;4", "chips='2;3;4' is not possible"),
        (NUMBERS, 2, "chips=2 is not possible"),
    ],
)
def test_option__refuses_what_it_cannot_be(option: Option, wrong: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        option.encode(option.parse(wrong) if isinstance(wrong, str) else wrong)


@pytest.mark.parametrize("wrong", [None, -1, 1.5, "nonsense", b"free", (), [1], {}, object()])
@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_option__names_itself_when_it_refuses(option: Option, wrong: Any) -> None:
    with pytest.raises(ValueError, match=f"^{option.name}[ =:]"):
        option.encode(wrong)


def test_option__ends_of_a_range_are_in_it() -> None:
    for option in OPTIONS:
        if isinstance(option, WholeNumber):
            assert option.samples == tuple(dict.fromkeys((option.default, option.least, option.most)))
            assert [option.encode(value) for value in (option.least, option.most)] == [option.least, option.most]
            for wrong in (option.least - 1, option.most + 1):
                with pytest.raises(ValueError, match=f"whole number from {option.least} to {option.most}$"):
                    option.encode(wrong)
        if isinstance(option, WholeNumbers):
            size = len(option.default)
            assert option.shape == (size,)
            for place, wrong in ((0, option.least - 1), (size - 1, option.most + 1), (size // 2, True)):
                numbers = list(option.default)
                numbers[place] = wrong
                with pytest.raises(
                    ValueError, match=f"{size} whole numbers from {option.least} to {option.most}, such as "
                ):
                    option.encode(numbers)


# What each value of each option of a game does, in a position where it makes a difference.


def state_of(game: Game, **fields: Any) -> Any:
    state = np.zeros(1, game.rules.STATE)[0]
    for field, value in fields.items():
        state[field] = value
    return state


def started(name: str, chosen: dict[str, Any], seats: int = 2, script: tuple[int, ...] = ()) -> tuple[Game, Any, Any]:
    """A game with these options and faces that has just begun."""
    game = load_game(name)
    options = game.make_options(seats, chosen)
    state = state_of(game)
    game.rules.setup(state, options, (new_streams(3, 1)[0], new_script(script, len(game.face_names))))
    return game, state, options


def legal_words(game: Game, state: Any, options: Any) -> set[str]:
    mask = np.zeros(game.num_actions(options), np.int8)
    game.rules.legal_actions(state, options, mask)
    names = game.action_names(options)
    return {names[action] for action in np.flatnonzero(mask) if not names[action].startswith("keep")}


def yum_fills(dice: tuple[int, ...], high: int, **chosen: Any) -> set[str]:
    """What may be filled after the third throw, all but Low, High, Full House and Yum being filled."""
    game, state, options = started("yum", chosen)
    state["dice"], state["throws_left"], state["boxes"] = dice, 0, 0
    state["boxes"][0, 8:] = -1, high, -1, -1
    return legal_words(game, state, options)


def ending_tie(tie_break: str) -> list[int]:
    """Seat 1 draws level with its last token, and throws more Clubhouses."""
    game, state, options = started("yahtzee_jr", {"tie_break": tie_break})
    state["tokens"][:2], state["tokens"][1, 4], state["player"], state["dice"] = 1, -1, 1, [1, 1, 1, 1, 5]
    state["throws_left"], state["tokens"][1, 0] = 0, 2  # the last token slides to its picture
    game.rules.apply(state, options, 35, (new_streams(0, 1)[0], new_script([6, 1, 1, 1, 1, 6, 6, 1, 1, 1], 6)))
    won = np.zeros(2, np.int8)
    game.rules.winners(state, options, won)
    return won.tolist()


def junior_places(must_score_most: bool) -> set[str]:
    game, state, options = started("yahtzee_jr", {"must_score_most": must_score_most})
    state["dice"], state["throws_left"] = [3, 3, 4, 4, 4], 0
    return legal_words(game, state, options)


def chips_put(chips: tuple[int, ...]) -> list[int]:
    """What each fixed card brings, placed with five alike."""
    brought = []
    for card in range(6, 12):
        game, state, options = started("showdown_yahtzee", {"chips": chips})
        state["target"], state["dice"], state["throws_left"] = 2, 3, 1
        game.rules.apply(state, options, 31 + card, (new_streams(0, 1)[0], new_script([], 6)))
        brought.append(int(state["chips"][2]))
    return brought


def may_steal(steal: str) -> list[bool]:
    """With one to four Fives, a card with two chips."""
    found = []
    for number in range(1, 5):
        game, state, options = started("showdown_yahtzee", {"steal": steal})
        state["card"][2], state["owner"][2], state["chips"][2], state["target"] = 4, 1, 2, 2
        state["player"], state["throws_left"] = 0, 1
        state["dice"] = sorted([5] * number + [1, 2, 3, 6, 1][number:])
        found.append("claim Fives" in legal_words(game, state, options))
    return found


def cut_short_after(max_turns: int) -> int:
    """The first of these numbers of turns after which no other begins."""
    for turns in (1, 2, 399, 400, 401, 999_999, 1_000_000):
        game, state, options = started("showdown_yahtzee", {"max_turns": max_turns})
        state["turns"] = turns
        game.rules.pass_dice(state, options, (new_streams(0, 1)[0], new_script([], 6)))  # type: ignore[attr-defined]
        if game.is_truncated(state, options):
            return turns
    return 0


def faces_of_die_1(dice: str) -> tuple[str, ...]:
    game, _, options = started("set_cubed", {"dice": dice})
    thrown = [
        game.rules.throw_die(0, 0, options, (new_streams(0, 1)[0], new_script([face], 74)))  # type: ignore[attr-defined]
        for face in range(1, 29)
    ]
    return tuple(sorted({game.face_names[face] for face in thrown}))


def bonus_of_a_cell(board: str) -> tuple[int, int]:
    """How many cells there are, and what the last bonus square earns, by the words of the action."""
    game, state, options = started("set_cubed", {"board": board})
    cells = int(options["board"][0] * options["board"][1])
    square = max(cell for cell in range(cells) if 0 < options["board"][2 + cell] < 10)
    state["hand_faces"][0, 0] = 0
    state["player"] = 0
    return cells, int(game.name_action(state, options, square).rpartition(" ")[2])


def openers(opener: str) -> set[bool]:
    """Whether the first of the seats that hold a SET opens, over some games."""
    found = set()
    game, options = load_game("set_cubed"), load_game("set_cubed").make_options(4, {"opener": opener})
    state = state_of(game)
    for seed in range(12):
        game.rules.setup(state, options, (new_streams(seed, 1)[0], new_script([], 74)))
        holders = [seat for seat in range(4) if slots_in_sets(state["hand_faces"][seat])]
        found |= {state["opener"] == holders[0]} if len(holders) > 1 else set()
    return found


def idle_rounds(most: int) -> int:
    """After how many rounds without a die laid the game is over."""
    game, state, options = started("set_cubed", {"max_idle_rounds": most})
    state["phase"], rounds = 1, 0
    while not game.rules.is_terminal(state, options):
        for _ in range(2):
            chance = (new_streams(0, 1)[0], new_script([], 74))
            game.rules.apply(state, options, game.num_actions(options) - 1, chance)
        rounds += 1
    return rounds


LOW, HIGH, FULL, YUM = "fill Low", "fill High", "fill Full House", "fill Yum"
# Of each game and option: what is looked at, and what is seen of each of its samples.
EFFECTS: dict[tuple[str, str], tuple[Any, list[Any]]] = {
    ("yum", "high_low"): (lambda value: yum_fills((2, 3, 6, 6, 6), -1, high_low=value), [{LOW, HIGH}, {HIGH}]),
    ("yum", "crossed_high"): (
        lambda value: yum_fills((2, 3, 6, 6, 6), 0, crossed_high=value),
        [{LOW, FULL, YUM}, {LOW}],
    ),
    ("yum", "five_alike_full_house"): (
        lambda value: yum_fills((2, 2, 2, 2, 2), 0, five_alike_full_house=value),
        [{YUM}, {FULL, YUM}],
    ),
    ("yum", "zeros"): (lambda value: yum_fills((2, 2, 2, 3, 3), 0, zeros=value), [{FULL}, {LOW, FULL, YUM}]),
    ("yahtzee_jr", "must_score_most"): (junior_places, [{"place Daisy"}, {"place Donald", "place Daisy"}]),
    ("yahtzee_jr", "tie_break"): (ending_tie, [[0, 1], [1, 1]]),
    ("showdown_yahtzee", "chips"): (chips_put, [[2, 3, 3, 3, 4, 2], [1] * 6, [20] * 6]),
    ("showdown_yahtzee", "steal"): (may_steal, [[False, True, True, True], [False, False, True, True]]),
    ("showdown_yahtzee", "max_turns"): (cut_short_after, [400, 1, 1_000_000]),
    ("set_cubed", "dice"): (
        faces_of_die_1,
        [tuple(sorted(FACE_NAMES[face] for face in die)) for die in (standard_dice()[0], (0, 5, 10, 15, 20, 27))],
    ),
    ("set_cubed", "board"): (bonus_of_a_cell, [(121, 5), (49, 4), (180, 2)]),
    ("set_cubed", "opener"): (openers, [{True, False}, {True}]),
    ("set_cubed", "max_idle_rounds"): (idle_rounds, [3, 1, 10]),
}


def all_options() -> list[tuple[str, str]]:
    return [(name, option.name) for name in GAMES for option in load_game(name).rules.OPTIONS]


@pytest.mark.parametrize(("name", "option"), all_options())
def test_option__each_value_does_something(name: str, option: str) -> None:
    (samples,) = (one.samples for one in load_game(name).rules.OPTIONS if one.name == option)
    look, expected = EFFECTS[name, option]
    seen = [look(value) for value in samples]
    assert seen == expected
    assert all(one != other for place, one in enumerate(seen) for other in seen[:place])


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
    for other, difference in (
        ({"max_turns": 301}, "max_turns=300, not 301"),
        ({"chips": (1, 2, 3, 4, 5, 7)}, "chips=(1, 2, 3, 4, 5, 6), not (1, 2, 3, 4, 5, 7)"),
    ):
        with pytest.raises(ValueError, match=re.escape(f"was trained for Showdown Yahtzee with {difference}") + "$"):
            policy.check(game, game.make_options(3, CHOSEN | other))


def settings(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> TrainConfig:
    """The settings that ``fivedice train`` would run with."""
    runs: list[TrainConfig] = []
    monkeypatch.setattr(run_command, "run", lambda config, *_: runs.append(config))
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
    assert "chips=(1, 2, 3) is not possible; use 6 whole numbers from 1 to 20, such as (2, 3, 3, 3, 4, 2)" in said
