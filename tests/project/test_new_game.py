"""A new game needs its own folders and a configuration only: it is found by listing, no list elsewhere names it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fivedice.envs import GAMES, load_game

ROOT = Path(__file__).parents[2]
FOLDERS = ("envs", "agents", "configs", "package")
IN_WORDS = {
    "yum_v0": "twin_v0",
    "envs.yum": "envs.twin",
    "games.yum": "games.twin",
    '"yum"': '"twin"',
    '"Yum"': '"Twin"',
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with a fifth game, which is Yum under another name."""
    folder = tmp_path_factory.mktemp("project")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.py", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(folder / "envs" / "yum", folder / "envs" / "twin")
    shutil.copytree(folder / "agents" / "games" / "yum", folder / "agents" / "games" / "twin")
    shutil.copy(folder / "envs" / "yum_v0.py", folder / "envs" / "twin_v0.py")
    shutil.copy(folder / "configs" / "yum-smoke.toml", folder / "configs" / "twin.toml")
    of_the_game = [*(folder / "envs" / "twin").glob("*.py"), *(folder / "agents" / "games" / "twin").glob("*.py")]
    for path in (*of_the_game, folder / "envs" / "twin_v0.py", folder / "configs" / "twin.toml"):
        text = path.read_text("utf-8")
        for word, instead in IN_WORDS.items():
            text = text.replace(word, instead)
        path.write_text(text, "utf-8")
    return folder


def run(project: Path, code: str) -> str:
    """What a program prints that imports the copy, as plain Python."""
    path = project / "path"
    (path / "fivedice").mkdir(parents=True, exist_ok=True)
    for name in ("envs", "agents", "configs"):
        if not (path / "fivedice" / name).exists():
            (path / "fivedice" / name).symlink_to(project / name)
    environment = os.environ | {"PYTHONPATH": str(path), "NUMBA_DISABLE_JIT": "1", "COLUMNS": "100"}
    ran = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=project, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_games__are_those_with_rules_and_a_module_of_the_declared_version() -> None:
    folders = {path.parent.name for path in (ROOT / "envs").glob("*/rules.py")}
    assert set(GAMES) == folders
    assert {load_game(name).version for name in GAMES} == {0}
    assert {name: load_game(name).version for name in GAMES} == GAMES


def test_games__the_latest_version_counts(project: Path) -> None:
    later = project / "envs" / "twin_v10.py"
    for number in (9, 10):
        shutil.copy(project / "envs" / "twin_v0.py", project / "envs" / f"twin_v{number}.py")
    assert run(project, "import fivedice.envs as e; print(e.GAMES['twin'])").strip() == "10"
    later.unlink()
    (project / "envs" / "twin_v9.py").unlink()


def test_new_game__is_made_played_and_listed(project: Path) -> None:
    code = """
import gymnasium, pettingzoo, fivedice.envs
from fivedice.agents import load
from fivedice.envs import load_game
from fivedice.envs.api.transcript import Recorder, parse, replay, write
from fivedice.envs import twin_v0
env = Recorder(pettingzoo.make("aec", "fivedice/twin-v0"))
env.reset(seed=1)
for _ in range(6):
    env.step(int(load("greedy").act(env.view())[0]))
text = write(env.transcript())
replay(parse(text))
print(text.splitlines()[0])
seat = gymnasium.make("fivedice/Twin-v0", opponents="greedy")
print(seat.reset(seed=1)[1]["action_mask"].sum() > 0, load_game("twin").title)
from fivedice.agents.cli.app import config_path
print(config_path("twin").name)
from fivedice.agents.cli import app
app(["list"])
"""
    said = run(project, code)
    assert "twin" in said.splitlines()[0]
    assert said.splitlines()[1:3] == ["True Twin", "twin.toml"]
    assert "twin: Twin, 1 to 6" in said
    assert "fivedice/Twin-v0" in said


def test_new_game__is_in_the_installed_package(project: Path) -> None:
    code = """
import runpy, setuptools
setuptools.setup = lambda **given: print(*given["packages"])
runpy.run_path("setup.py")
"""
    packages = set(run(project, code).split())
    assert {
        "fivedice",
        "fivedice.envs",
        "fivedice.envs.twin",
        "fivedice.agents.games.twin",
        "fivedice.configs",
    } <= packages
    in_folders = {
        ".".join(["fivedice", *path.parent.relative_to(project).parts]).removesuffix(".package")
        for name in FOLDERS
        for path in (project / name).rglob("__init__.py")
    }
    assert packages == in_folders
