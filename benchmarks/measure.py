"""Shared by all benchmarks: alternating repetitions, the spread of their results, and the table."""

import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from rich.table import Table

NAMED_VERSIONS = ("numpy", "numba", "pettingzoo", "gymnasium", "pgx", "jax", "torch", "sb3-contrib")


class MissingPeer(Exception):
    """A peer is not installed. The message says how to install it."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} is not installed; install the peers with `pip install 'fivedice[bench]'` or `make bench`"
        )


class Spread(NamedTuple):
    """The median, the least and the greatest result of some repetitions."""

    median: float
    least: float
    greatest: float

    def text(self, unit: str = "") -> str:
        """The spread as text, such as ``4.21 (4.05-4.30) M/s``."""
        return f"{self.median:.2f} ({self.least:.2f}–{self.greatest:.2f}){unit}"  # noqa: RUF001


def spread(values: Sequence[float]) -> Spread:
    """The spread of the values."""
    return Spread(statistics.median(values), min(values), max(values))


@dataclass(frozen=True)
class Claim:
    """One line of the table.

    Args:
        measure: what is measured.
        ours: the result of fivedice, as text.
        peer: the name and the result of the peer, as text; ``"a fixed bar"`` if there is no peer.
        value: the result that is compared with the bar.
        unit: the unit of `value`; ``"x"`` for a ratio.
        bar: the value to reach. None: the result is only reported.
        at_most: True if the median of `value` must be at most `bar`, False if it must be at least `bar`.
    """

    measure: str
    ours: str
    peer: str
    value: Spread
    unit: str
    bar: float | None = None
    at_most: bool = False

    @property
    def met(self) -> bool:
        """Whether the median meets the bar. True if there is no bar."""
        if self.bar is None:
            return True
        return self.value.median <= self.bar if self.at_most else self.value.median >= self.bar

    def miss(self) -> str:
        """A sentence that says by what numbers the bar is missed."""
        relation = "more than" if self.at_most else "less than"
        return f"{self.measure}: {self.value.median:.2f}{self.unit} is {relation} {self.bar:g}{self.unit}"


def alternate(repetitions: int, *contenders: Callable[[], float]) -> list[list[float]]:
    """Call the contenders in turn, `repetitions` times, and return the results of each.

    Because they alternate, other load on the machine slows down all of them alike.
    """
    numbers: list[list[float]] = [[] for _ in contenders]
    for _ in range(repetitions):
        for contender, measured in zip(contenders, numbers, strict=True):
            measured.append(contender())
    return numbers


def ratios(ours: Sequence[float], peer: Sequence[float]) -> Spread:
    """The spread of ours / peer, computed for each repetition."""
    return spread([a / b for a, b in zip(ours, peer, strict=True)])


def rate(work: Callable[[], int], seconds: float) -> float:
    """Call `work` repeatedly for about `seconds`, and return the sum of its results per second."""
    amount = 0
    start = time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        amount += work()
    return amount / elapsed


def machine() -> str:
    """The processor, the number of cores and the versions of the measured packages, in one line."""
    versions = [f"Python {platform.python_version()}"]
    for name in NAMED_VERSIONS:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(f"no {name}")
    return f"{_processor()}, {os.cpu_count()} cores; {', '.join(versions)}"


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def table(claims: Sequence[Claim]) -> Table:
    """A table with one row for each claim."""
    shown = Table(title="fivedice: median (least to greatest) of alternating repetitions", title_justify="left")
    for column in ("measure", "ours", "against", "result", "must reach"):
        shown.add_column(column, overflow="fold")
    for claim in claims:
        bar = "" if claim.bar is None else f"{'≤' if claim.at_most else '≥'} {claim.bar:g}{claim.unit}"
        colour = "green" if claim.met else "red"
        shown.add_row(
            claim.measure, claim.ours, claim.peer, f"[{colour}]{claim.value.text(claim.unit)}[/{colour}]", bar
        )
    return shown
