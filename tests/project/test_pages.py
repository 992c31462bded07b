"""The pages of the games: their tables are the code's."""

import contextlib
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fivedice.agents import load
from fivedice.envs import GAMES, load_game
from fivedice.envs.api.transcript import parse, replay
from fivedice.envs.display.page import action_rows, main, tables, with_tables

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "envs" / name / "README.md" for name in GAMES]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page__tables_are_those_of_the_code(page: Path) -> None:
    text = page.read_text()
    assert "<!-- tables:" in text
    assert with_tables(text) == text, f"run: python -m fivedice.envs.display.page {page.relative_to(ROOT)}"


def tables_in(text: str) -> list[list[list[str]]]:
    """The cells of each table of a Markdown text, the heading first."""
    found: list[list[list[str]]] = []
    for block in text.split("\n\n"):
        if block.startswith("|"):
            head, rule, *rows = [line[2:-2].split(" | ") for line in block.strip().split("\n")]
            assert rule == ["---"] * len(head)
            assert all(len(row) == len(head) for row in rows)
            found.append([head, *rows])
    return found


@pytest.mark.parametrize("name", GAMES)
def test_tables__are_what_the_game_declares(name: str) -> None:
    game = load_game(name)
    options = game.make_options()
    text = tables(game)
    for said in (
        f"Ids `{game.aec_id}` (PettingZoo) and `{game.gymnasium_id}` (Gymnasium); {game.min_players} to "
        f"{game.max_players} players, {game.default_players} by default; "
        f"a player makes at most {game.max_decisions_per_seat} decisions",
        f"**Observation**, float32 ({game.layout(options).size},) with {game.default_players} players",
        f"**Actions**, `Discrete({game.num_actions(options)})`",
    ):
        assert said in text
    observation, actions, rewards, chosen = tables_in(text)
    assert observation[0] == ["at", "field", "shape", "range", "meaning"]
    fields = game.layout(options).fields
    assert len(observation) == 1 + len(fields)
    start = 0
    for row, field in zip(observation[1:], fields, strict=True):
        last = start + field.size - 1
        at = str(start) if field.size == 1 else f"{start}-{last}"
        assert row == [at, f"`{field.name}`", str(field.shape), f"{field.low:g} to {field.high:g}", field.meaning]
        start = last + 1
    names = game.action_names(options)
    assert actions[0] == ["action", "meaning"]
    following = 0
    for at, said in actions[1:]:
        first, _, last = at.partition("-")
        assert int(first) == following
        following = int(last or first) + 1
        run = names[int(first) : following]
        assert said == (", ".join(run) if len(run) <= 12 else f"{run[0]}, {run[1]}, \u2026 {run[-1]}")
        assert len({action.split()[0] for action in run}) == 1
    assert following == game.num_actions(options) == len(names)
    assert [row[0] for row in rewards[1:]] == ["`win`", "`score`", "`margin`"]
    assert [row[2] for row in rewards[1:]] == ["default with 2 players or more", "default with 1 player", ""]
    assert chosen[0] == ["option", "values, the default first", "meaning"]
    assert chosen[1:] == [[f"`{option.name}`", option.valid, option.meaning] for option in game.rules.OPTIONS]


@pytest.mark.parametrize("name", GAMES)
def test_page__shows_a_turn_that_was_played(name: str) -> None:
    """The lines of the example are those of a golden transcript, and its board is drawn after one of them."""
    text = (ROOT / "envs" / name / "README.md").read_text("utf-8")
    example = text.partition("## A turn, step by step")[2]
    told, board = re.findall(r"^```\n(.*?)^```$", example, re.DOTALL | re.MULTILINE)[:2]
    boards = []
    for path in sorted((ROOT / "tests" / "golden").glob(f"{name}-*.txt")):
        golden = parse(path.read_text("utf-8"))
        before, found, _ = "\n".join([*golden.lines, ""]).partition(told)
        if found:
            first = before.count("\n")
            for end in range(first + 1, first + 1 + told.count("\n")):
                with contextlib.suppress(ValueError):  # a throw that the next line tells
                    game = replay(replace(golden, lines=golden.lines[:end], numbers=golden.numbers[:end])).env
                    boards.append(game.game.render(game.get_state().state[0], game.options_record))
    assert boards, "the turn is in no golden transcript"
    assert board.rstrip("\n") in boards


def test_action_rows__begin_anew_with_each_first_word_and_list_up_to_twelve() -> None:
    names = ["a 1", "b 1", "b 2", *(f"c {number}" for number in range(12)), *(f"d {number}" for number in range(13))]
    assert action_rows([*names, "a 2"]) == [
        ("0", "a 1"),
        ("1-2", "b 1, b 2"),
        ("3-14", ", ".join(names[3:15])),
        ("15-27", "d 0, d 1, \u2026 d 12"),
        ("28", "a 2"),
    ]


def test_page__is_written_anew_where_its_tables_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [tmp_path / "one.md", tmp_path / "other.md"]
    for file in files:
        file.write_text(
            f"{file.name}\n<!-- tables: yum -->\nold\n<!-- end -->\nbetween\n<!-- tables: set_cubed -->\n<!-- end -->\n"
        )
    monkeypatch.setattr(sys, "argv", ["page", *map(str, files)])
    main()
    yum, set_cubed = (tables(load_game(name)) for name in ("yum", "set_cubed"))
    for file in files:
        assert file.read_text() == (
            f"{file.name}\n<!-- tables: yum -->\n{yum}<!-- end -->\nbetween\n"
            f"<!-- tables: set_cubed -->\n{set_cubed}<!-- end -->\n"
        )


@pytest.mark.parametrize("name", ["showdown_yahtzee", "set_cubed"])
def test_page__names_the_features_of_actions(name: str) -> None:
    greedy = load("greedy").of(load_game(name))  # type: ignore[attr-defined]  # greedy play has one for each game
    table = (ROOT / "envs" / name / "README.md").read_text().partition("| feature | what it is |")[2]
    rows = [f"| `{feature}` | {meaning} |" for feature, meaning in greedy.features.items()]
    assert table.splitlines()[2:] == rows
