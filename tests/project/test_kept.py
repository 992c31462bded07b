"""What is kept on disk between processes is made anew whenever a source that it came from has changed."""

import ast
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import fivedice.agents
import fivedice.envs
from fivedice.envs.core import kernel_cache
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


# Machine code


def test_machine_code__has_another_stamp_after_an_edit_of_any_source(
    edited: Edited, monkeypatch: pytest.MonkeyPatch
) -> None:
    stamp: Callable[[str], str] = kernel_cache.stamp_of.__wrapped__
    assert set(kernel_cache.PACKAGES) == set(PACKAGES.values())
    assert len(FILES) > 80
    mine = str(PACKAGES["envs"] / "core" / "batch.py")
    stamps = {"": stamp(mine)}
    assert stamp(mine) == stamps[""]
    for file in FILES:
        edited.file = file
        stamps[short(file)] = stamp(mine)
    same = [name for name, found in stamps.items() if name and found == stamps[""]]
    assert same == []
    assert len(set(stamps.values())) == len(FILES) + 1


def test_machine_code__of_others_depends_on_their_source_too(tmp_path: Path) -> None:
    """A game of somebody else's, which lies in no package of ours."""
    stamp: Callable[[str], str] = kernel_cache.stamp_of.__wrapped__
    theirs = tmp_path / "rules.py"
    theirs.write_text("A = 1")
    first = stamp(str(theirs))
    theirs.write_text("A = 2")
    assert len({first, stamp(str(theirs)), stamp(kernel_cache.__file__)}) == 3
    assert stamp(str(tmp_path / "of the interactive prompt")) != first


def test_machine_code__has_another_stamp_when_a_file_comes_or_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stamp: Callable[[str], str] = kernel_cache.stamp_of.__wrapped__
    monkeypatch.setattr(kernel_cache, "PACKAGES", (tmp_path,))
    mine, stamps = str(tmp_path / "mine.py"), []
    for file, text in (("mine.py", "A = 1"), ("deep/in/it.py", ""), ("deep/other.py", "B"), ("deep/it.txt", "C")):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
        stamps.append(stamp(mine))
    assert len(set(stamps)) == 3
    assert stamps[2] == stamps[3]  # no source
    (tmp_path / "deep/other.py").unlink()
    assert stamp(mine) == stamps[1]
    (tmp_path / "deep/in/it.py").write_text("A = 1")
    (tmp_path / "mine.py").write_text("")
    assert stamp(mine) not in stamps  # which file holds what matters


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


def test_machine_code__of_two_functions_at_one_place_is_told_apart() -> None:
    """Loops are closures over the rules of one game: the same function, other rules."""

    def loop(rule: Callable[[], int], *others: Any) -> Any:
        def run() -> int:
            return rule() + len(others)

        return run

    def one() -> int:
        return 1

    def two() -> int:
        return 1

    rules = (one,), (two,), (one, two), (loop(one),), (loop(two),)
    names = {kernel_cache.closure_names(loop(*some)) for some in rules}
    assert len(names) == 5
    assert kernel_cache.closure_names(loop(one)) == kernel_cache.closure_names(loop(one))
    assert kernel_cache.closure_names(one) == ()


def test_machine_code__has_another_name_with_other_types_stamp_or_processor() -> None:
    files = {stamp: kernel_cache.CacheFiles("folder", "batch.step-50.py311", stamp) for stamp in ("one", "two")}
    names = {files[stamp]._name(key) for stamp in files for key in ("int64", "int32", ("int64", "cpu"))}
    assert len(names) == 6
    assert all(name.startswith("batch.step-50.py311.") and name.endswith(".nbc") for name in names)
    assert len({kernel_cache.seal_of(name, content) for name in ("a", "b") for content in (b"", b"c")}) == 4
