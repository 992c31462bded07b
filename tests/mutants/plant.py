"""Plant faults one at a time and see whether the tests that own the faulty file notice: ``make mutants``.

Each fault in ``faults.toml`` replaces one field of source text. It is planted in a copy of the project, and the test
files that own the property run there until one of their tests fails. Before, these files run without a fault, and all
of their tests must pass. Numba compiles what a fault changes, so a fault in a rule takes up to a minute.
"""

import ast
import fnmatch
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Literal

from cyclopts import App
from rich.console import Console
from rich.progress import track
from rich.table import Table

ROOT = Path(__file__).parent.parent.parent
HERE = Path(__file__).parent
PACKAGES = ("envs", "agents", "configs")
COPIED = (*PACKAGES, "package", "tests", "benchmarks", "docs", "train.py", "setup.py", "pyproject.toml", "Makefile")
COPIED_TOO = (
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "CITATION.cff",
    "requirements.txt",
    "requirements-bench.txt",
    "requirements-docs.txt",
)
RESULTS = ROOT / "build" / "mutants.json"  # of the last run
TIME_LIMIT = 900  # seconds; a fault that makes a game endless is noticed, too

app = App(help=__doc__, help_format="plaintext")
console = Console(width=None if sys.stdout.isatty() else 160)


@dataclass(frozen=True)
class Fault:
    """One wrong edit.

    Args:
        file: the source file, from the root.
        old, new: what is replaced, which occurs once in the file, and by what.
        says: what is wrong then.
        explained: why no test can notice it, if that is known; empty for all others.
    """

    file: str
    old: str
    new: str
    says: str
    explained: str = ""

    @property
    def name(self) -> str:
        """Short and stable, for the command line and for results."""
        text = f"{self.file}\0{self.old}\0{self.new}"
        return f"{Path(self.file).stem}-{hashlib.sha256(text.encode()).hexdigest()[:6]}"


@dataclass(frozen=True)
class Result:
    """What the owning tests said of one fault."""

    name: str
    file: str
    says: str
    outcome: Literal["noticed", "survived", "endless"]
    noticed_by: str = ""


def read_faults() -> tuple[list[Fault], dict[str, list[str]]]:
    """The faults, and the test files that own each source file; a fault that cannot be planted is refused."""
    faults = [Fault(**entry) for entry in tomllib.loads((HERE / "faults.toml").read_text("utf-8"))["fault"]]
    owners: dict[str, list[str]] = tomllib.loads((HERE / "owners.toml").read_text("utf-8"))
    problems = []
    for fault in faults:
        times = (ROOT / fault.file).read_text("utf-8").count(fault.old)
        if times != 1:
            problems.append(f"{fault.name}: {fault.old!r} occurs {times} times in {fault.file}")
        if not owners_of(fault.file, owners):
            problems.append(f"{fault.name}: {fault.file} has no owner in owners.toml")
    missing = [test for tests in owners.values() for test in tests if not (ROOT / "tests" / test).is_file()]
    problems += [f"owners.toml names {test}, and there is no such file" for test in sorted(set(missing))]
    if problems:
        raise SystemExit("\n".join(problems))
    return faults, owners


def owners_of(file: str, owners: dict[str, list[str]]) -> list[str]:
    """The tests that own a source file: those of the first pattern that fits."""
    return next((tests for pattern, tests in owners.items() if fnmatch.fnmatch(file, pattern)), [])


def files_of_machine_code() -> set[str]:
    """The source files that kernels come from: those with a kernel, and all that these import, directly or not."""
    sources = {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
        for package in ("envs", "agents")
        for path in (ROOT / package).rglob("*.py")
    }
    found = {file for file, text in sources.items() if "fivedice.envs.core.kernel import" in text} | {
        "envs/core/kernel.py"
    }
    waiting = list(found)
    while waiting:
        for node in ast.walk(ast.parse(sources[waiting.pop()])):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("fivedice."):
                place = node.module.removeprefix("fivedice.").replace(".", "/")
                names = [f"{place}.py", f"{place}/__init__.py", *(f"{place}/{alias.name}.py" for alias in node.names)]
                new = {name for name in names if name in sources} - found
                found |= new
                waiting += new
    return found


# Loaded into pytest: files that no kernel comes from leave the machine code of the copy valid.
PLUGIN = """
import functools, os
from fivedice.envs.core import kernel_cache
kernel_cache.stamp_of = functools.wraps(kernel_cache.stamp_of.__wrapped__)(lambda source: os.environ["FIVEDICE_MUTANT"])
"""


class Copy:
    """A copy of the project in which faults are planted one after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        skip = shutil.ignore_patterns("__pycache__", "*.egg-info")
        for name in (*COPIED, *COPIED_TOO):
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name, ignore=skip)
            else:
                shutil.copy(ROOT / name, folder / name)
        self.path = folder / "build" / "path"  # not the root: programs that run there must not find the packages
        (self.path / "fivedice").mkdir(parents=True)
        for package in PACKAGES:
            (self.path / "fivedice" / package).symlink_to(folder / package)
        (self.path / "mutant_plugin.py").write_text(PLUGIN, "utf-8")

    @contextmanager
    def planted(self, fault: Fault) -> Iterator[None]:
        """The copy with this fault, and afterwards without it."""
        path = self.folder / fault.file
        whole = path.read_text("utf-8")
        path.write_text(whole.replace(fault.old, fault.new), "utf-8")
        try:
            yield
        finally:
            path.write_text(whole, "utf-8")

    def test(self, tests: list[str], stamp: str) -> tuple[int, str]:
        """Run test files; pytest's exit status (-1 if it took too long) and the first test that failed."""
        cache = self.folder / f"cache-{stamp}"
        environment = os.environ | {
            "PYTHONPATH": str(self.path),
            "NUMBA_CACHE_DIR": str(cache),
            "PYTHONDONTWRITEBYTECODE": "1",
            "FIVEDICE_MUTANT": stamp,
        }
        command = [sys.executable, "-m", "pytest", "-p", "mutant_plugin", "-x", "-q", "--no-header", "-rfE"]
        try:
            ran = subprocess.run(
                [*command, *(f"tests/{test}" for test in tests)],
                cwd=self.folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=TIME_LIMIT,
            )
        except subprocess.TimeoutExpired:
            return -1, "no test came to its end in time"
        finally:
            if stamp != "whole":
                shutil.rmtree(cache, ignore_errors=True)
        first = [line for line in ran.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return ran.returncode, (first[0] if first else ran.stdout[-300:] + ran.stderr[-300:]).partition(" - ")[0]


def outcome(fault: Fault, copy: Copy, tests: list[str], in_machine_code: bool) -> Result:
    """Plant a fault and run its owners."""
    with copy.planted(fault):
        status, first = copy.test(tests, fault.name if in_machine_code else "whole")
    if status == 0:
        return Result(fault.name, fault.file, fault.says, "survived")
    return Result(fault.name, fault.file, fault.says, "endless" if status < 0 else "noticed", first)


def summary(results: list[Result], faults: list[Fault]) -> Table:
    """A row for each part of the project: how many faults, how many noticed, and how many of the rest are explained."""
    explained = {fault.name for fault in faults if fault.explained}
    table = Table("part", "faults", "noticed", "explained", "left", title_justify="left")
    table.title = "Planted faults"
    parts = sorted({"/".join(Path(result.file).parts[:-1]) for result in results})
    for part in [*parts, "all"]:
        own = [result for result in results if part in ("all", "/".join(Path(result.file).parts[:-1]))]
        survived = [result for result in own if result.outcome == "survived"]
        why = sum(result.name in explained for result in survived)
        table.add_row(part, *map(str, (len(own), len(own) - len(survived), why, len(survived) - why)))
    return table


@app.default
def plant(*patterns: str, workers: int = 2, survivors: bool = False, control: bool = True) -> int:
    """Plant every fault, or those of some files, and print who noticed; exit status 1 if less than 90 % are noticed.

    Parameters
    ----------
    patterns
        Files of faults, as agents/*, or names of faults. All if none is given.
    workers
        How many faults are tried at the same time.
    survivors
        Only faults that the last run did not see noticed.
    control
        First run the tests without a fault. It takes some ten minutes, and all must pass.
    """
    faults, owners = read_faults()
    last = {entry["name"]: Result(**entry) for entry in json.loads(RESULTS.read_text())} if RESULTS.is_file() else {}
    chosen = [
        fault
        for fault in faults
        if (not patterns or any(fnmatch.fnmatch(text, p) for text in (fault.file, fault.name) for p in patterns))
        and not (survivors and fault.name in last and last[fault.name].outcome != "survived")
    ]
    machine_code = files_of_machine_code()
    copies: SimpleQueue[Copy] = SimpleQueue()
    with tempfile.TemporaryDirectory(prefix="fivedice-mutants-") as folder, ThreadPoolExecutor(workers) as pool:
        for number in range(workers):
            copies.put(Copy(Path(folder) / str(number)))

        def run_without_fault(test: str) -> str:
            copy = copies.get()
            try:
                status, first = copy.test([test], "whole")
                return "" if status == 0 else f"{test} fails without a fault: {first}"
            finally:
                copies.put(copy)

        def work(fault: Fault) -> Result:
            copy = copies.get()
            try:
                return outcome(fault, copy, owners_of(fault.file, owners), fault.file in machine_code)
            finally:
                copies.put(copy)

        tests = sorted({test for fault in chosen for test in owners_of(fault.file, owners)}) if control else []
        problems = list(track(pool.map(run_without_fault, tests), "without a fault", len(tests), console=console))
        if any(problems):
            raise SystemExit("\n".join(filter(None, problems)))
        running = [pool.submit(work, fault) for fault in chosen]
        for future in track(as_completed(running), "planting", len(chosen), console=console):
            result = future.result()
            last[result.name] = result
            sign = {"noticed": "  ", "endless": "  ", "survived": "->"}[result.outcome]
            told = result.noticed_by.removeprefix("FAILED ")
            line = f"{sign} {result.name}: {result.says}. {result.outcome} {told}"
            console.print(line, highlight=False, markup=False)
            RESULTS.parent.mkdir(exist_ok=True)
            RESULTS.write_text(json.dumps([asdict(entry) for entry in last.values()], indent=1))
    results = [last[fault.name] for fault in faults if fault.name in last]
    console.print(summary(results, faults))
    noticed = sum(result.outcome != "survived" for result in results)
    console.print(f"{noticed} of {len(results)} noticed ({100 * noticed / max(1, len(results)):.1f} %)")
    return 0 if noticed >= 0.9 * len(results) else 1


if __name__ == "__main__":
    sys.exit(app(result_action="return_value"))
