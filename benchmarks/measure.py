"""What the benchmarks share: repetitions that alternate between contenders, their spread, and one table."""

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
    """A peer is not installed; the message says how to get it."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is not installed; get the peers with `pip install 'fivedice[bench]'` or `make bench`")


class Spread(NamedTuple):
    """The median of some repetitions, with the least and the greatest."""

    median: float
    least: float
    greatest: float

    def text(self, unit: str = "") -> str:
        """As in ``4.21 (4.05-4.30) M/s``."""
        return f"{self.median:.2f} ({self.least:.2f}–{self.greatest:.2f}){unit}"  # noqa: RUF001


def spread(values: Sequence[float]) -> Spread:
    """The spread of the values."""
    return Spread(statistics.median(values), min(values), max(values))


@dataclass(frozen=True)
class Claim:
    """One line of the table.

    Args:
        measure: what was measured.
        ours: our number.
        peer: the peer's number and name, or what the bar is about.
        value: what is held against the bar.
        unit: of `value`; ``"x"`` for a ratio.
        bar: what must be reached, or None for a number that is only reported.
        at_most: whether `value` must stay below the bar rather than reach it.
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
        """Whether the median is on the right side of the bar."""
        if self.bar is None:
            return True
        return self.value.median <= self.bar if self.at_most else self.value.median >= self.bar

    def miss(self) -> str:
        """One sentence that says how the bar was missed."""
        relation = "more than" if self.at_most else "less than"
        return f"{self.measure}: {self.value.median:.2f}{self.unit} is {relation} {self.bar:g}{self.unit}"


def alternate(repetitions: int, *contenders: Callable[[], float]) -> list[list[float]]:
    """The numbers of each contender, measured in turn, so that a busy minute of the machine meets all of them."""
    numbers: list[list[float]] = [[] for _ in contenders]
    for _ in range(repetitions):
        for contender, measured in zip(contenders, numbers, strict=True):
            measured.append(contender())
    return numbers


def ratios(ours: Sequence[float], peer: Sequence[float]) -> Spread:
    """The spread of ours / peer, repetition by repetition."""
    return spread([a / b for a, b in zip(ours, peer, strict=True)])


def rate(work: Callable[[], int], seconds: float) -> float:
    """How much of something `work` does in a second, calling it again and again for about `seconds`."""
    amount = 0
    start = time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        amount += work()
    return amount / elapsed


def machine() -> str:
    """The processor, its cores, and the versions that matter, in one line."""
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
    """All claims as one table."""
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
