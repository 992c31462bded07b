"""Mutation testing: plant faults one at a time, and check that the owning tests notice them: ``make mutants``.

Each fault in ``faults.toml`` replaces one piece of source text. It is planted in a copy of the project, and the test
files that ``owners.toml`` names for the source file run there until one of their tests fails. Before that, these test
files run without a fault, and all of their tests must pass. Numba compiles the changed source again, so a fault in the
rules takes up to a minute.
"""

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
COPIED = (
    *PACKAGES,
    "package",
    "tests",
    "benchmarks",
    "docs",
    "examples",
    "train.py",
    "setup.py",
    "pyproject.toml",
    "Makefile",
)
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
RESULTS = ROOT / "build" / "mutants.json"  # the results of the last run
TIME_LIMIT = 900  # seconds; a fault that makes a game endless counts as noticed

app = App(help=__doc__, help_format="plaintext")
console = Console(width=None if sys.stdout.isatty() else 160)


@dataclass(frozen=True)
class Fault:
    """A wrong edit of one source file.

    Args:
        file: the source file, relative to the root of the project.
        old: the text that is replaced. It must occur exactly once in the file.
        new: the replacement.
        says: what goes wrong with this fault.
        explained: why no test can notice the fault, if that is known; empty for all others.
    """

    file: str
    old: str
    new: str
    says: str
    explained: str = ""

    @property
    def name(self) -> str:
        """A short and stable name, for the command line and for the results."""
        text = f"{self.file}\0{self.old}\0{self.new}"
        return f"{Path(self.file).stem}-{hashlib.sha256(text.encode()).hexdigest()[:6]}"


@dataclass(frozen=True)
class Result:
    """The result of the owning tests for one fault."""

    name: str
    file: str
    says: str
    outcome: Literal["noticed", "survived", "endless"]
    noticed_by: str = ""


def read_faults() -> tuple[list[Fault], dict[str, list[str]]]:
    """Read the faults, and for each pattern of source files the test files that own them.

    Raises:
        SystemExit: a fault cannot be planted, has no owner, or a test file does not exist.
    """
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
    problems += [f"owners.toml names {test}, but this file does not exist" for test in sorted(set(missing))]
    if problems:
        raise SystemExit("\n".join(problems))
    return faults, owners


def owners_of(file: str, owners: dict[str, list[str]]) -> list[str]:
    """The test files that own a source file: those of the first pattern that matches."""
    return next((tests for pattern, tests in owners.items() if fnmatch.fnmatch(file, pattern)), [])


class Copy:
    """A copy of the project, in which faults are planted one at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        skip = shutil.ignore_patterns("__pycache__", "*.egg-info")
        for name in (*COPIED, *COPIED_TOO):
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name, ignore=skip)
            else:
                shutil.copy(ROOT / name, folder / name)
        self.path = (
            folder / "build" / "path"
        )  # not the root, because programs that run there must not find the packages
        (self.path / "fivedice").mkdir(parents=True)
        for package in PACKAGES:
            (self.path / "fivedice" / package).symlink_to(folder / package)

    @contextmanager
    def planted(self, fault: Fault) -> Iterator[None]:
        """Plant a fault for the duration of the context."""
        path = self.folder / fault.file
        whole = path.read_text("utf-8")
        path.write_text(whole.replace(fault.old, fault.new), "utf-8")
        try:
            yield
        finally:
            path.write_text(whole, "utf-8")

    def test(self, tests: list[str]) -> tuple[int, str]:
        """Run test files. Returns the exit status of pytest (-1 if it took too long) and the first failed test."""
        environment = os.environ | {
            "PYTHONPATH": str(self.path),
            "NUMBA_CACHE_DIR": str(self.folder / "cache"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-rfE"]
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
            return -1, f"the tests did not finish in {TIME_LIMIT} seconds"
        first = [line for line in ran.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return ran.returncode, (first[0] if first else ran.stdout[-300:] + ran.stderr[-300:]).partition(" - ")[0]


def outcome(fault: Fault, copy: Copy, tests: list[str]) -> Result:
    """Plant a fault and run the tests that own its file."""
    with copy.planted(fault):
        status, first = copy.test(tests)
    if status == 0:
        return Result(fault.name, fault.file, fault.says, "survived")
    return Result(fault.name, fault.file, fault.says, "endless" if status < 0 else "noticed", first)


def summary(results: list[Result], faults: list[Fault]) -> Table:
    """A table with the numbers of faults, noticed faults and explained faults in each part of the project."""
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
    """Plant faults and print which tests notice them. The exit status is 1 if fewer than 90 % are noticed.

    Parameters
    ----------
    patterns
        Source files, for example agents/*, or names of faults. The default is all faults.
    workers
        How many faults to test at the same time.
    survivors
        Plant only the faults that were not noticed in the last run, or not planted at all.
    control
        First run the tests without a fault; all must pass. This takes about ten minutes.
    """
    faults, owners = read_faults()
    last = (
        {entry["name"]: Result(**entry) for entry in json.loads(RESULTS.read_text("utf-8"))}
        if RESULTS.is_file()
        else {}
    )
    chosen = [
        fault
        for fault in faults
        if (not patterns or any(fnmatch.fnmatch(text, p) for text in (fault.file, fault.name) for p in patterns))
        and not (survivors and fault.name in last and last[fault.name].outcome != "survived")
    ]
    copies: SimpleQueue[Copy] = SimpleQueue()
    with tempfile.TemporaryDirectory(prefix="fivedice-mutants-") as folder, ThreadPoolExecutor(workers) as pool:
        for number in range(workers):
            copies.put(Copy(Path(folder) / str(number)))

        def run_without_fault(test: str) -> str:
            copy = copies.get()
            try:
                status, first = copy.test([test])
                return "" if status == 0 else f"{test} fails without a fault: {first}"
            finally:
                copies.put(copy)

        def work(fault: Fault) -> Result:
            copy = copies.get()
            try:
                return outcome(fault, copy, owners_of(fault.file, owners))
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
            test = result.noticed_by.removeprefix("FAILED ")
            line = f"{sign} {result.name}: {result.says}. {result.outcome} {test}"
            console.print(line, highlight=False, markup=False)
            RESULTS.parent.mkdir(exist_ok=True)
            RESULTS.write_text(json.dumps([asdict(entry) for entry in last.values()], indent=1), "utf-8")
    results = [last[fault.name] for fault in faults if fault.name in last]
    console.print(summary(results, faults))
    noticed = sum(result.outcome != "survived" for result in results)
    console.print(f"{noticed} of {len(results)} noticed ({100 * noticed / max(1, len(results)):.1f} %)")
    return 0 if noticed >= 0.9 * len(results) else 1


if __name__ == "__main__":
    sys.exit(app(result_action="return_value"))
