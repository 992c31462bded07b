"""Who may import whom, and what an import registers; `test_cold_start` says what it costs."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from fivedice.envs import GAMES

ROOT = Path(__file__).parent.parent
PACKAGES = ("envs", "agents")
FILES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))

# The lower layers of envs/, from the bottom up: a file may import those that stand before it here.
GROUND = ("kernel", "option", "chance", "spec", "dice", "words")
RULES_MAY_IMPORT = {f"fivedice.envs.{name}" for name in GROUND if name != "words"}
RULES_IN_PARTS = {"set_cubed": ("faces", "dice", "drawing", "board", "hand", "legal", "rules")}
# The faces, by what they are faces for.
MAY_IMPORT_GYMNASIUM = {"envs/__init__.py", "envs/aec.py", "envs/seat.py", "envs/vector.py"}
MAY_IMPORT_PETTINGZOO = {"envs/__init__.py", "envs/aec.py", "envs/transcript.py"}
MAY_DRAW = {"envs/picture.py"}  # within its functions: the import of fivedice.envs loads no matplotlib
NEEDED = {"numpy", "numba", "gymnasium", "pettingzoo"}  # by envs/, which takes no other library but where it MAY_DRAW

# The files of agents/, from the bottom up: a file may import those that stand before it here. Those in one line do not
# import each other. A name in brackets is one file for each of some games.
ORDER = (
    ("files", "network", "rollout", "exact.turn"),
    ("exact.optimal",),
    ("exact.[game]",),
    ("greedy.turn", "greedy.[game]_turn", "greedy.[game]_extra"),
    ("greedy.[game]_features",),
    ("greedy.[game]",),
    ("baselines", "luck", "residual"),
    ("base", "policy", "arena"),
    ("checkpoint", "config", "ratings", "detail.tally", "play", "seat_vec_env"),
    ("detail.[game]",),
    ("exploit", "champions", "pool", "tournament"),
    ("report", "ranking"),
    ("evaluation", "run_pictures", "tournament_report"),
    ("trainer",),
    ("resume",),
    ("run_report", "session"),
    ("cli",),
)
# What points upwards all the same: a checkpoint needs a library that other policies do without, a game's own score
# breakdown is found by the game's name, and what resumes a run is called by the trainer whose run it is.
UPWARDS = {("policy", "checkpoint"), ("detail.tally", "detail.[game]"), ("trainer", "resume")}
# The same from envs/ to agents/: policies that are given by name.
DOORS = {("envs/table.py", "fivedice.agents")}
GAME_NAMES = "|".join(sorted(GAMES, key=len, reverse=True))
FOLDERS_BY_NAME = ("exact", "greedy")  # of which `baselines` finds a policy of each game
MODULE = re.compile(r"fivedice(\.(\w+|\{\}))+")


def imports(source: str) -> Iterator[str]:
    """Every module that a file imports, at any depth of it, and every one that it names in a text to import it.

    What is put into such a text stands as ``{}``.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written in full"
            assert node.module is not None
            yield node.module
            # "from fivedice.envs import batch" imports a module too
            folder = ROOT / node.module.removeprefix("fivedice.").replace(".", "/")
            yield from (
                f"{node.module}.{alias.name}"
                for alias in node.names
                if (folder / f"{alias.name}.py").exists() or (folder / alias.name).is_dir()
            )
        elif isinstance(node, (ast.Constant, ast.JoinedStr)):
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
            if MODULE.fullmatch(text.partition(":")[0]):
                yield text.partition(":")[0]


def places_of(module: str) -> list[str]:
    """What a module of agents/ is called in ORDER; a folder put in by name may be either of two."""
    folder, _, last = module.removeprefix("fivedice.agents.").rpartition(".")
    last = re.sub(rf"^({GAME_NAMES}|\{{\}})", "[game]", last)
    places = [place for line in ORDER for place in line]
    if folder == "{}":
        return [place for place in places if place in [f"{named}.{last}" for named in FOLDERS_BY_NAME]]
    return [f"{folder}.{last}" if folder else last]


def upward_imports(module: str, source: str) -> set[tuple[str, str]]:
    """Imports of a module of agents/ that do not point downwards, as pairs of names in ORDER."""
    (own,) = places_of(module)
    height = {place: number for number, line in enumerate(ORDER) for place in line}
    packages = {"fivedice.agents", *(f"fivedice.agents.{folder}" for folder in ("detail", "exact", "greedy"))}
    theirs = [
        place
        for imported in imports(source)
        if imported.startswith("fivedice.agents") and imported not in packages
        for place in places_of(imported)
    ]
    return {(own, place) for place in theirs if height.get(place, len(ORDER)) >= height.get(own, -1)}


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def top(module: str) -> str:
    return module.partition(".")[0]


@pytest.mark.parametrize("path", FILES, ids=name)
def test_imports__point_downwards(path: Path) -> None:
    ours = {module for module in imports(path.read_text()) if module.startswith("fivedice.")}
    if name(path).startswith("envs/"):
        above = {(name(path), module) for module in ours if module.startswith("fivedice.agents")}
        assert above == {door for door in DOORS if door[0] == name(path)}
    if path.parent == ROOT / "envs" and path.stem in GROUND:
        below = GROUND[: GROUND.index(path.stem)]
        assert ours <= {f"fivedice.envs.{stem}" for stem in below}
    if path.parent.parent == ROOT / "envs":  # a game's folder
        own = f"fivedice.envs.{path.parent.name}"
        # Rules too long for one file stand in several, which only import those that stand before them here.
        parts = RULES_IN_PARTS.get(path.parent.name, ("rules",))
        below = parts[: parts.index(path.stem)] if path.stem in parts else (*parts, "observe", "render", "standard")
        beside = {own, "fivedice.envs.words"} if path.stem not in parts else set()
        assert ours <= RULES_MAY_IMPORT | {f"{own}.{stem}" for stem in below} | beside
    assert not [module for module in ours if top(module) in PACKAGES], "say fivedice.envs, fivedice.agents"


AGENTS = [path for path in FILES if name(path).startswith("agents/") and path.name != "__init__.py"]


def module_of(path: Path) -> str:
    return "fivedice." + name(path).removesuffix(".py").replace("/", ".")


def test_order__every_file_of_agents_has_a_place() -> None:
    found = {place for path in AGENTS for place in places_of(module_of(path))}
    places = [place for line in ORDER for place in line]
    assert found == set(places), "a file has no place in ORDER, or a place no file"
    assert len(places) == len(set(places))


def test_order__imports_within_agents_point_downwards() -> None:
    upwards = {pair for path in AGENTS for pair in upward_imports(module_of(path), path.read_text())}
    assert upwards == UPWARDS
    packages = [path for path in FILES if name(path).startswith("agents/") and path.name == "__init__.py"]
    inner = {name(path): set(imports(path.read_text())) & {module_of(other) for other in AGENTS} for path in packages}
    assert {file for file, modules in inner.items() if modules} == {"agents/__init__.py"}
    assert inner["agents/__init__.py"] == {"fivedice.agents.policy"}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from fivedice.agents.arena import Estimate", False),
        ("from fivedice.agents.pool import Pool", True),  # beside it
        ("from fivedice.agents import cli", True),
        ("import fivedice.agents.resume", True),
        ("def late():\n    from fivedice.agents import session", True),
        ("if TYPE_CHECKING:\n    from fivedice.agents.trainer import Trainer", True),
        ("importlib.import_module('fivedice.agents.trainer')", True),
        ("path = f'fivedice.agents.exact.{game.name}'", False),
        ("path = f'fivedice.agents.detail.{game.name}'", False),
        ("path = f'fivedice.agents.{folder}.{game.name}'", False),
        ("from fivedice.agents.greedy.yum import GREEDY", False),
        ("from fivedice.agents.brand_new import x", True),
    ],
)
def test_order__sees_every_way_to_import(source: str, found: bool) -> None:
    assert (upward_imports("fivedice.agents.tournament", source) != set()) == found


@pytest.mark.parametrize("path", FILES, ids=name)
def test_imports__each_library_has_its_place(path: Path) -> None:
    libraries = {top(module) for module in imports(path.read_text())}
    assert "numba" not in libraries or name(path) == "envs/kernel.py"
    if name(path).startswith("envs/"):
        others = libraries - set(sys.stdlib_module_names) - NEEDED - {"fivedice"}
        assert others == ({"matplotlib"} if name(path) in MAY_DRAW else set())
        assert "gymnasium" not in libraries or name(path) in MAY_IMPORT_GYMNASIUM
    assert "pettingzoo" not in libraries or name(path) in MAY_IMPORT_PETTINGZOO


def test_imports__lists_name_files_that_exist_and_need_it() -> None:
    may = {"gymnasium": MAY_IMPORT_GYMNASIUM, "pettingzoo": MAY_IMPORT_PETTINGZOO, "matplotlib": MAY_DRAW}
    for library, names in may.items():
        for file in names:
            assert library in {top(module) for module in imports((ROOT / file).read_text())}, (file, library)


def run(code: str, folder: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_import__registers_both_ids_of_every_game() -> None:
    code = """
import fivedice.envs, gymnasium, pettingzoo
for name in fivedice.envs.GAMES:
    declared = fivedice.envs.load_game(name)
    assert declared.gymnasium_id in gymnasium.registry
    assert declared.aec_id in pettingzoo.aec_registry
"""
    ran = run(code)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_import__twice_registers_once_without_a_warning() -> None:
    ran = run("import importlib, fivedice.envs; importlib.reload(fivedice.envs)")
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("package", PACKAGES)
def test_import__bare_name_from_the_repository_fails_with_one_sentence(package: str) -> None:
    ran = run(f"import {package}", folder=ROOT)
    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1].startswith(f"ImportError: import this package as 'fivedice.{package}'")


def test_pyproject__names_every_folder_with_python_files() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    folders = {path.parent.relative_to(ROOT).as_posix().replace("/", ".") for path in FILES}
    named = {package.removeprefix("fivedice.") for package in settings["packages"]}
    assert named == {*folders, "configs"}
    assert settings["package-dir"] == {f"fivedice.{folder}": folder for folder in (*PACKAGES, "configs")}
