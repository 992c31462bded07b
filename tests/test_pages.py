"""The README and the pages of the games: their tables are the code's, and their examples run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fivedice.agents import load
from fivedice.envs import GAMES, load_game, yum_v0
from fivedice.envs.page import with_tables

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *(ROOT / "envs" / name / "README.md" for name in GAMES)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page__tables_are_those_of_the_code(page: Path) -> None:
    text = page.read_text()
    assert "<!-- tables:" in text
    assert with_tables(text) == text, f"run: python -m fivedice.envs.page {page.relative_to(ROOT)}"


@pytest.mark.parametrize("name", ["showdown_yahtzee", "set_cubed"])
def test_page__names_the_features_of_actions(name: str) -> None:
    greedy = load("greedy").of(load_game(name))  # type: ignore[attr-defined]  # greedy play has one for each game
    table = (ROOT / "envs" / name / "README.md").read_text().partition("| feature | what it is |")[2]
    rows = [f"| `{feature}` | {meaning} |" for feature, meaning in greedy.features.items()]
    assert table.splitlines()[2:] == rows


def test_readme__begins_with_a_game_that_was_played() -> None:
    env = yum_v0.env(render_mode="ansi")
    env.reset(seed=1)
    policies = {"player_0": load("greedy"), "player_1": load("random")}
    for _ in range(26):
        env.step(int(policies[env.agent_selection].act(env.view())[0]))
    shown = (ROOT / "README.md").read_text().split("```\n")[1]
    assert shown == f"{env.render()}\n"


def test_readme__examples_run_in_order_in_an_empty_folder(tmp_path: Path) -> None:
    """Every Python and console block of "Examples"; the checkpoint of the commands serves the Python blocks."""
    examples = (ROOT / "README.md").read_text().split("## Examples")[1].split("\n## ")[0]
    python = re.findall(r"```python\n(.*?)```", examples, re.DOTALL)
    commands = [line[2:] for line in re.findall(r"^\$ .*$", examples, re.MULTILINE)]
    assert len(python) == 6
    assert len(commands) == 5
    program = Path(sys.executable).parent / "fivedice"
    for command in commands:
        words = command.split()
        assert words[0] == "fivedice"
        done = subprocess.run(
            [program, *words[1:]], cwd=tmp_path, input="q\n", text=True, capture_output=True, timeout=300
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
        assert done.stdout.strip()
    for block in python:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", block], cwd=tmp_path, text=True, capture_output=True, timeout=300
        )
        assert done.returncode == 0, f"{block}: {done.stderr}"
