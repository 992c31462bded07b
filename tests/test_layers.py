"""Who may import whom, and what an import costs."""

import ast
import os
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
HEAVY = {"torch", "choix", "stable_baselines3", "sb3_contrib", "tensorboard", "safetensors", "matplotlib", "pygame"}


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports, at any depth of the file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are written in full"
            assert node.module is not None
            yield node.module
            # "from fivedice.envs import batch" imports a module too
            yield from (
                f"{node.module}.{alias.name}"
                for alias in node.names
                if (ROOT / node.module.removeprefix("fivedice.").replace(".", "/") / f"{alias.name}.py").exists()
            )


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def top(module: str) -> str:
    return module.partition(".")[0]


@pytest.mark.parametrize("path", FILES, ids=name)
def test_imports__point_downwards(path: Path) -> None:
    ours = {module for module in imports(path) if module.startswith("fivedice.")}
    if name(path).startswith("envs/"):
        assert not [module for module in ours if module.startswith("fivedice.agents")]
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
    assert not [module for module in imports(path) if top(module) in PACKAGES], "say fivedice.envs, fivedice.agents"


@pytest.mark.parametrize("path", FILES, ids=name)
def test_imports__each_library_has_its_place(path: Path) -> None:
    libraries = {top(module) for module in imports(path)}
    assert "numba" not in libraries or name(path) == "envs/kernel.py"
    if name(path).startswith("envs/"):
        assert not libraries & (HEAVY - ({"matplotlib"} if name(path) in MAY_DRAW else set()))
        assert "gymnasium" not in libraries or name(path) in MAY_IMPORT_GYMNASIUM
    assert "pettingzoo" not in libraries or name(path) in MAY_IMPORT_PETTINGZOO


def test_imports__lists_name_files_that_exist_and_need_it() -> None:
    may = {"gymnasium": MAY_IMPORT_GYMNASIUM, "pettingzoo": MAY_IMPORT_PETTINGZOO, "matplotlib": MAY_DRAW}
    for library, names in may.items():
        for file in names:
            assert library in {top(module) for module in imports(ROOT / file)}, (file, library)


def run(code: str, folder: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_import__loads_nothing_heavy_and_compiles_nothing(tmp_path: Path) -> None:
    ran = run("import sys, fivedice.envs; print(*sys.modules)", NUMBA_CACHE_DIR=str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    loaded = {top(module) for module in ran.stdout.split()}
    assert not loaded & (HEAVY | {"numba", "llvmlite"})
    assert not list(tmp_path.iterdir())  # no machine code was kept


@pytest.mark.parametrize("game", GAMES)
def test_import__registers_both_ids(game: str) -> None:
    code = f"""
import fivedice.envs, gymnasium, pettingzoo
declared = fivedice.envs.load_game({game!r})
assert declared.gymnasium_id in gymnasium.registry
assert declared.aec_id in pettingzoo.aec_registry
"""
    ran = run(code)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("game", GAMES)
def test_import__of_a_game_compiles_nothing(game: str, tmp_path: Path) -> None:
    code = f"from fivedice.envs import load_game; load_game({game!r}); import fivedice.envs.{game}_v{GAMES[game]}"
    ran = run(code, NUMBA_CACHE_DIR=str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_import__costs_under_a_second() -> None:
    code = """
import time
import gymnasium, pettingzoo, numpy  # what any user of an environment has loaded
start = time.process_time()
import fivedice.envs
print(time.process_time() - start)
"""
    bare = "import time; start = time.process_time(); import fivedice.envs; print(time.process_time() - start)"
    assert min(float(run(bare).stdout) for _ in range(2)) < 1.0
    assert min(float(run(code).stdout) for _ in range(2)) < 0.1


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
