"""Who may import whom, and what an import registers; `test_cold_start` says what it costs."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import fivedice.envs
from fivedice.envs import GAMES

ROOT = Path(__file__).parents[2]
PACKAGES = ("envs", "agents")
FILES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))

# The rooms of both packages, from the bottom up: a file may import its own room and those on lines above its own.
# Rooms on one line do not import each other. [game] is the folder of one game, {} a name that is put in.
ORDER = (
    ("envs/core",),
    ("envs",),  # __init__.py, which registers
    ("envs/display",),
    ("envs/[game]", "envs/api"),
    ("envs/[public]",),  # testing.py, <game>_v0.py
    ("agents/policies",),
    ("agents",),  # __init__.py, which offers `load`
    ("agents/evaluation",),
    ("agents/games", "agents/training"),
    ("agents/games/[game]",),
    ("agents/play", "agents/reports"),
    ("agents/web",),
    ("agents/cli",),
)
# What points upwards all the same: modules that are found by name, each in one file.
DOORS = {
    "envs/__init__.py": {  # games by their names, and what their ids make
        "fivedice.envs.{}",
        "fivedice.envs.{}_v{}",
        "fivedice.envs.api.aec",
        "fivedice.envs.api.single",
        "fivedice.envs.api.vector",
    },
    "agents/__init__.py": {  # the public names, imported when they are used
        "fivedice.agents.evaluation.match",
        "fivedice.agents.evaluation.recording",
        "fivedice.agents.training.config",
        "fivedice.agents.training.from_torch",
        "fivedice.agents.training.run",
        "fivedice.agents.training.vec_env",
    },
    "envs/core/batch.py": {"fivedice.envs"},  # games by their names
    "envs/api/table.py": {"fivedice.agents.policies.registry"},  # policies by their names
    "agents/policies/by_game.py": {"fivedice.agents.games.{}"},  # what is known of a game
}

# The rules of a game are told without these files of its folder, and with these of the core alone.
BESIDE_THE_RULES = {"__init__", "observe", "render", "draw", "canonical"}
RULES_MAY_IMPORT = {
    f"fivedice.envs.core.{name}" for name in ("kernel", "option", "chance", "spec", "dice", "dice_lookup", "winners")
}
TEXT_MAY_IMPORT = RULES_MAY_IMPORT | {"fivedice.envs.display.words"}
DRAWINGS_MAY_IMPORT = (
    TEXT_MAY_IMPORT | {"fivedice.envs.core.marks"} | {f"fivedice.envs.display.{name}" for name in ("svg", "pieces")}
)

MAY_IMPORT = {
    "numba": {f"envs/core/{name}.py" for name in ("fingerprint", "kernel", "kernel_cache", "kernel_error")},
    "gymnasium": {
        "envs/__init__.py",
        "envs/api/aec.py",
        "envs/api/rllib.py",
        "envs/api/single.py",
        "envs/api/vector.py",
    },
    "pettingzoo": {"envs/__init__.py", "envs/api/aec.py", "envs/api/transcript.py"},
    "pylunasvg": {"envs/display/drawing.py"},  # within its functions: the import of fivedice.envs loads none
    "ray": {"envs/api/rllib.py"},  # the only module of envs/ that no other module imports
}
NEEDED = {"numpy", "numba", "llvmlite", "gymnasium", "pettingzoo"}  # envs/ also takes pylunasvg and Ray
TO_TRAIN = {"torch", "stable_baselines3", "sb3_contrib"}
MODULE = re.compile(r"fivedice(\.(\w+|\{\}|\w*\{\}\w*\{\}))+")


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


SOURCES = {name(path): path.read_text("utf-8") for path in FILES}


def module_of(file: str) -> str:
    return "fivedice." + file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


MODULES = {module_of(file): file for file in SOURCES}


def imports(source: str) -> Iterator[str]:
    """Every module that a file imports, at any depth of it, and every one that it names in a text to import it.

    What is put into such a text stands as ``{}``. Of ``from package import module`` it is the module alone.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written in full"
            assert node.module is not None
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in MODULES else node.module
        elif isinstance(node, (ast.Constant, ast.JoinedStr)):
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
            if MODULE.fullmatch(text.partition(":")[0]):
                yield text.partition(":")[0]


def ours(file: str, source: str) -> set[str]:
    """The modules of both packages that a file imports, itself excepted."""
    return {module for module in imports(source) if module.startswith(("fivedice.envs", "fivedice.agents"))} - {
        module_of(file)
    }


def room_of(module: str) -> str | None:
    """The room of a module, or None if it is in none."""
    package, *parts = module.removeprefix("fivedice.").split(".")
    games = {*GAMES, "{}"}
    places = {place for line in ORDER for place in line}
    if not parts:
        return package if package in places else None
    inner = f"{package}/{parts[0]}"
    if package == "envs" and parts[0] in games:
        return "envs/[game]"
    if (
        package == "envs"
        and len(parts) == 1
        and (parts[0] == "testing" or re.fullmatch(r"(\w+|\{\})_v(\d+|\{\})", parts[0]))
    ):
        return "envs/[public]"
    if inner == "agents/games" and len(parts) > 1 and parts[1] in games:
        return "agents/games/[game]"
    return inner if inner in places else None


HEIGHT = {place: number for number, line in enumerate(ORDER) for place in line}


def upward_imports(file: str, source: str) -> set[str]:
    """What a file imports that is not below it, nor in its own room; another game's folder is another room."""
    own = module_of(file)
    room = room_of(own)
    assert room is not None, f"{file} is in no room; see ORDER"
    found = set()
    for module in ours(file, source):
        other = room_of(module)
        if (
            other is None
            or HEIGHT[other] > HEIGHT[room]
            or (HEIGHT[other] == HEIGHT[room] and other != room)
            or (other == room and "[game]" in room and folder_of(module) != folder_of(own))
        ):
            found.add(module)
    return found


def folder_of(module: str) -> str:
    """The game in whose folder a module is."""
    return next(part for part in module.split(".") if part in {*GAMES, "{}"})


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """A way through modules back to where it began, for each module that has one."""
    found = []
    for start in graph:
        ways, seen = [[start]], set[str]()
        while ways:
            way = ways.pop()
            for following in sorted(graph.get(way[-1], ())):
                if following == start:
                    found.append([*way, start])
                    ways.clear()
                    break
                if following not in seen:
                    seen.add(following)
                    ways.append([*way, following])
    return found


def graph_of(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """What each module imports, but through doors."""
    return {
        module_of(file): (ours(file, source) - DOORS.get(file, set())) & set(MODULES)
        for file, source in sources.items()
    }


def top(module: str) -> str:
    return module.partition(".")[0]


def test_rooms__every_file_is_in_one_and_none_is_empty() -> None:
    rooms = {file: room_of(module_of(file)) for file in SOURCES}
    assert [file for file, room in rooms.items() if room is None] == []
    assert set(rooms.values()) == {place for line in ORDER for place in line}


def test_rooms__imports_point_downwards() -> None:
    upwards = {file: upward_imports(file, source) for file, source in SOURCES.items()}
    assert {file: modules for file, modules in upwards.items() if modules} == DOORS


def test_rooms__their_packages_import_nothing() -> None:
    """Whoever imports a module runs its packages first."""
    packages = [file for file in SOURCES if Path(file).name == "__init__.py" and len(Path(file).parts) > 2]
    told = {file for file in packages if set(imports(SOURCES[file]))}
    assert told == {"agents/cli/__init__.py", *(f"envs/{game}/__init__.py" for game in GAMES)}
    named = ours("agents/__init__.py", SOURCES["agents/__init__.py"]) - DOORS["agents/__init__.py"]
    assert {room_of(module) for module in named} == {"agents/policies"}


def test_rooms__imports_make_no_circle() -> None:
    assert circles(graph_of(SOURCES)) == []


@pytest.mark.parametrize("file", [file for file in SOURCES if room_of(module_of(file)) == "envs/[game]"])
def test_game__tells_its_rules_with_the_core_alone(file: str) -> None:
    own = module_of(file).removesuffix(f".{Path(file).stem}")
    modules = ours(file, SOURCES[file])
    beside = {f"{own}.{stem}" for stem in BESIDE_THE_RULES} | {own}
    if Path(file).stem not in BESIDE_THE_RULES:
        assert {module for module in modules if not module.startswith(f"{own}.")} <= RULES_MAY_IMPORT
        assert not modules & beside
    else:
        allowed = DRAWINGS_MAY_IMPORT if Path(file).stem == "draw" else TEXT_MAY_IMPORT
        assert {module for module in modules if not module.startswith(own)} <= allowed


@pytest.mark.parametrize("file", [file for file in SOURCES if room_of(module_of(file)) == "agents/games/[game]"])
def test_game__knows_no_other_game(file: str) -> None:
    others = set(GAMES) - {folder_of(module_of(file))}
    assert [module for module in ours(file, SOURCES[file]) if others & set(module.split("."))] == []


@pytest.mark.parametrize(
    ("file", "source", "found"),
    [
        ("agents/evaluation/tournament.py", "from fivedice.agents.evaluation.match import Estimate", False),
        ("agents/evaluation/tournament.py", "from fivedice.agents.evaluation import ranking", False),
        ("agents/evaluation/tournament.py", "from fivedice.agents import load", False),
        ("agents/evaluation/tournament.py", "from fivedice.agents.training.opponents import OpponentPool", True),
        ("agents/evaluation/tournament.py", "from fivedice.agents import cli", True),
        ("agents/evaluation/tournament.py", "import fivedice.agents.training.resume", True),
        ("agents/evaluation/tournament.py", "def late():\n    from fivedice.agents.cli import run", True),
        ("agents/evaluation/tournament.py", "if TYPE_CHECKING:\n    from fivedice.agents.games.yum import exact", True),
        ("agents/evaluation/tournament.py", "importlib.import_module('fivedice.agents.training.run')", True),
        ("agents/evaluation/tournament.py", "find(f'fivedice.agents.games.{game.name}.exact')", True),
        ("agents/evaluation/tournament.py", "from fivedice.agents.brand_new import x", True),
        ("agents/training/run.py", "from fivedice.agents.games.yum.greedy import GREEDY", True),  # beside it
        ("agents/policies/registry.py", "from fivedice.agents import load", True),
        ("agents/games/yum/exact.py", "from fivedice.agents.games.optimal import Optimal", False),
        ("agents/games/optimal.py", "from fivedice.agents.games.yum import exact", True),
        ("agents/games/yum/exact.py", "from fivedice.agents.games.set_cubed.greedy import GREEDY", True),
        ("agents/reports/tables.py", "from fivedice.agents.games.yahtzee_jr.exploit import Exploitability", False),
        ("envs/core/view.py", "from fivedice.envs import load_game", True),
        ("envs/core/view.py", "from fivedice.envs.display.words import DOTS", True),
        ("envs/core/view.py", "if TYPE_CHECKING:\n    from fivedice.agents import load", True),
        ("envs/display/page.py", "from fivedice.envs import load_game", False),
        ("envs/display/page.py", "from fivedice.envs import yum_v0", True),
        ("envs/display/page.py", "from fivedice.envs.yum import GAME", True),
        ("envs/yum/rules.py", "from fivedice.envs.yahtzee_jr import rules", True),
        ("envs/yum/render.py", "from fivedice.envs.display.words import DOTS", False),
        ("envs/yum/render.py", "from fivedice.envs.api.aec import DiceEnv", True),
        ("envs/api/aec.py", "import_module(f'fivedice.envs.{name}')", True),
        ("envs/testing.py", "from fivedice.envs.api.aec import DiceEnv", False),
    ],
)
def test_rooms__every_way_to_import_is_seen(file: str, source: str, found: bool) -> None:
    assert (upward_imports(file, source) != set()) == found


@pytest.mark.parametrize(
    "file", ["agents/brand_new.py", "agents/brand_new/x.py", "envs/brand_new/rules.py", "envs/x.py"]
)
def test_rooms__a_file_in_none_is_noticed(file: str) -> None:
    assert room_of(module_of(file)) is None
    with pytest.raises(AssertionError, match="is in no room"):
        upward_imports(file, "")


def test_rooms__a_circle_is_noticed() -> None:
    one = "if TYPE_CHECKING:\n    from fivedice.agents.training.resume import restore"
    gate, resume = "fivedice.agents.training.gate", "fivedice.agents.training.resume"
    found = circles(graph_of(SOURCES | {"agents/training/gate.py": one}))
    assert [gate, resume, gate] in found
    assert [resume, gate, resume] in found
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == []


@pytest.mark.parametrize("file", SOURCES)
def test_imports__each_library_has_its_place(file: str) -> None:
    libraries = {top(module) for module in imports(SOURCES[file])}
    assert not libraries & set(PACKAGES), "say fivedice.envs, fivedice.agents"
    assert "numba" not in libraries or file in MAY_IMPORT["numba"]
    assert "pettingzoo" not in libraries or file in MAY_IMPORT["pettingzoo"]
    assert not libraries & TO_TRAIN or file.startswith("agents/training/")
    if file.startswith("envs/"):
        others = libraries - set(sys.stdlib_module_names) - NEEDED - {"fivedice"}
        assert others == {library for library in ("pylunasvg", "ray") if file in MAY_IMPORT[library]}
        assert "gymnasium" not in libraries or file in MAY_IMPORT["gymnasium"]
    else:
        assert "matplotlib" not in libraries or file.startswith("agents/reports/")


def test_imports__lists_name_files_that_exist_and_need_it() -> None:
    for library, names in MAY_IMPORT.items():
        for file in names:
            assert library in {top(module) for module in imports(SOURCES[file])}, (file, library)


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


def test_import__offers_what_loads_the_compiler_only_when_asked() -> None:
    for public, module in fivedice.envs.LAZY.items():
        assert public in fivedice.envs.__all__
        assert getattr(fivedice.envs, public) is vars(sys.modules[module])[public]
    with pytest.raises(AttributeError, match=r"module 'fivedice\.envs' has no attribute 'batches'"):
        fivedice.envs.batches  # type: ignore[attr-defined]  # noqa: B018  # there is none
    code = (
        "import sys, fivedice.envs; print('numba' in sys.modules); fivedice.envs.Batch; print('numba' in sys.modules)"
    )
    assert run(code).stdout.split() == ["False", "True"]


@pytest.mark.parametrize("package", PACKAGES)
def test_import__bare_name_from_the_repository_fails_with_one_sentence(package: str) -> None:
    ran = run(f"import {package}", folder=ROOT)
    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1].startswith(f"ImportError: import this package as 'fivedice.{package}'")
