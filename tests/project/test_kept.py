"""What is kept on disk between processes is made anew whenever a source that it came from has changed."""

import ast
import importlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import fivedice.agents
import fivedice.envs
from fivedice.envs import load_game
from fivedice.envs.core import fingerprint, kernel_cache
from fivedice.envs.core.batch import make_loops
from fivedice.envs.core.spec import Options

PACKAGES = {name: Path(str(vars(fivedice)[name].__file__)).parent for name in ("agents", "envs")}
FILES = sorted(path for folder in PACKAGES.values() for path in folder.rglob("*.py"))

# The modules that keep something in the user's cache folder, and the function whose result it is. Machine code may come
# from any function.
KEPT: dict[str, str | None] = {"agents/games/yum/exact.py": "solve_table", "envs/core/kernel_cache.py": None}
# Sources whose edits change no value.
HARMLESS = {
    "envs/core/chance.py": "how many seats a state has room for; one is solved",
    "envs/core/kernel.py": "runs rules as plain Python while their tables are made",
}
CACHE_WORDS = ("XDG_CACHE_HOME", "user_cache_dir", "CACHE_DIR", '".cache"', "gettempdir")


def short(path: Path) -> str:
    """A file as ``envs/core/dice.py``."""
    return next(f"{name}/{path.relative_to(folder)}" for name, folder in PACKAGES.items() if folder in path.parents)


def test_kept__is_said_here_of_every_module_that_keeps_something() -> None:
    keeping = {short(path) for path in FILES if any(word in path.read_text() for word in CACHE_WORDS)}
    assert keeping == set(KEPT), "say in KEPT what it keeps, and test below that it is made anew"


# Values


class Source:
    """The definitions of one module, and where its imported names come from."""

    def __init__(self, module: str) -> None:
        self.module = module
        tree = ast.parse(Path(str(importlib.import_module(module).__file__)).read_text())
        self.imported: dict[str, tuple[str, str]] = {}
        self.defined: dict[str, list[ast.stmt]] = {}
        for statement in tree.body:
            if isinstance(statement, ast.ImportFrom) and statement.module:
                for alias in statement.names:
                    self.imported[alias.asname or alias.name] = statement.module, alias.name
            if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                self.defined.setdefault(statement.name, []).append(statement)
                continue
            # An assignment makes a name; any other statement may work on those that it mentions, as a loop that fills a
            # table does.
            assigns = isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign))
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and (isinstance(node.ctx, ast.Store) or not assigns):
                    self.defined.setdefault(node.id, []).append(statement)
        for name in self.imported:
            self.defined.pop(name, None)


def names_in(statement: ast.stmt) -> set[str]:
    """The names that a statement reads when it runs; annotations and decorators compute nothing."""
    idle: set[int] = set()
    for node in ast.walk(statement):
        parts: list[ast.AST | None] = []
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            parts += [argument.annotation for argument in arguments]
        if isinstance(node, ast.FunctionDef):
            parts += [node.returns, *node.decorator_list]
        if isinstance(node, ast.AnnAssign):
            parts.append(node.annotation)
        idle |= {id(inner) for part in parts if part is not None for inner in ast.walk(part)}
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and id(node) not in idle}


def sources_of(module: str, name: str) -> set[str]:
    """The files of every function, constant and table that a function of ours comes to, at any depth."""
    sources: dict[str, Source] = {}
    found, waiting = set[tuple[str, str]](), [(module, name)]
    while waiting:
        module, name = waiting.pop()
        if (module, name) in found or not module.startswith("fivedice."):
            continue
        found.add((module, name))
        source = sources.setdefault(module, Source(module))
        if name in source.imported:
            found.discard((module, name))  # it only passes it on
            waiting.append(source.imported[name])
            continue
        used = {used for statement in source.defined.get(name, ()) for used in names_in(statement)}
        waiting += [(module, other) for other in used if other in source.defined or other in source.imported]
    return {short(Path(str(importlib.import_module(module).__file__))) for module, _ in found}


def test_sources__are_found_through_functions_and_constants() -> None:
    """The walk itself: what the values of Yum must at least come from, and what they cannot."""
    found = sources_of("fivedice.agents.games.yum.exact", "solve_table")
    assert found >= {
        "agents/games/yum/exact.py",
        "agents/games/exact_turn.py",
        "envs/yum/rules.py",
        "envs/core/dice.py",
    }
    assert not found & {"envs/yum/observe.py", "envs/yum/render.py", "envs/api/aec.py", "agents/training/run.py"}


class Edited:
    """Sources as they would be read after an edit, without any being touched."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.file: Path | None = None
        read_bytes = Path.read_bytes

        def read(path: Path) -> bytes:
            is_edited = self.file is not None and path.resolve() == self.file.resolve()
            return read_bytes(path).replace(b"1", b"2", 1) + b"#" if is_edited else read_bytes(path)

        monkeypatch.setattr(Path, "read_bytes", read)


@pytest.fixture
def edited(monkeypatch: pytest.MonkeyPatch) -> Edited:
    return Edited(monkeypatch)


@pytest.mark.parametrize("keeper", [file for file, function in KEPT.items() if function])
def test_values__are_solved_anew_after_an_edit_of_any_source(
    keeper: str, edited: Edited, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module: Any = importlib.import_module("fivedice." + keeper.removesuffix(".py").replace("/", "."))
    table = np.full((module.FULL + 1, module.NUM_LIMITS, module.NUM_TOTALS), 0.5)
    solved: list[str] = []

    def solve_table(options: Options, threads: int) -> NDArray[np.float64]:
        solved.append(str(edited.file))
        return table

    monkeypatch.setattr(module, "solve_table", solve_table)
    sources = sources_of(module.__name__, "solve_table")
    by_name = {short(path): path for path in FILES}
    missed = []
    assert set(HARMLESS) < sources
    for number, name in enumerate(sorted(sources - set(HARMLESS))):
        folder = tmp_path / str(number)
        edited.file = None
        module.solve(folder=folder)
        module.solve(folder=folder)
        assert len(solved) == 1  # kept
        edited.file = by_name[name]
        module.solve(folder=folder)
        missed += [name] if len(solved) == 1 else []
        solved.clear()
    assert missed == [], "an edit of these changes the values, but not the digest of what is kept"


# Machine code. What changes a fingerprint is in tests/envs/core/test_fingerprint.py.


def all_kernels() -> dict[str, Any]:
    """Every kernel that a module of ours has, by its name."""
    modules = [
        importlib.import_module(f"fivedice.{short(file).removesuffix('.py').replace('/', '.')}")
        for file in FILES
        if "@kernel" in file.read_text()
    ]
    loops = {
        f"{name}.{part}": loop
        for name in fivedice.envs.GAMES
        for part, loop in make_loops(load_game(name))._asdict().items()
    }
    return loops | {
        f"{module.__name__}.{name}": value
        for module in modules
        for name, value in vars(module).items()
        if hasattr(value, "py_func")
    }


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_machine_code__is_kept_until_one_of_its_functions_or_values_changes(edited: Edited) -> None:
    """No kernel counts by the sources of its package, which would compile it again after each edit in the package."""
    kernels = all_kernels()
    assert len(kernels) > 200
    fingerprint.sources_of_package.cache_clear()
    for kernel in kernels.values():
        fingerprint.fingerprint(kernel)
    assert fingerprint.sources_of_package.cache_info().currsize == 0


@pytest.mark.parametrize("name", ["BOUNDSCHECK", "DEBUG"])
def test_machine_code__compiled_another_way_lies_elsewhere(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_cache.config, "CACHE_DIR", str(tmp_path))

    def folder(source: Path = PACKAGES["envs"] / "core" / "batch.py") -> str:
        return str(kernel_cache.CacheLocator(names_in, str(source)).get_cache_path())

    usual = folder()
    assert Path(usual).parent == tmp_path
    assert folder() == usual == folder(PACKAGES["envs"] / "core" / "dice.py")
    assert folder(PACKAGES["envs"] / "yum" / "rules.py") != usual
    monkeypatch.setattr(kernel_cache.config, name, 1)
    assert folder() != usual


def test_machine_code__has_another_name_with_other_types_stamp_or_processor() -> None:
    files = {stamp: kernel_cache.CacheFiles("folder", "batch.step-50.py311", stamp) for stamp in ("one", "two")}
    names = {files[stamp]._name(key) for stamp in files for key in ("int64", "int32", ("int64", "cpu"))}
    assert len(names) == 6
    assert all(name.startswith("batch.step-50.py311.") and name.endswith(".nbc") for name in names)
    assert len({kernel_cache.seal_of(name, content) for name in ("a", "b") for content in (b"", b"c")}) == 4
