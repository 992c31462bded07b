"""A clock that jumps changes nothing: durations come from a clock that never does."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for folder in ("agents", "envs") for path in (ROOT / folder).rglob("*.py"))
WALL_CLOCK = re.compile(
    r"\btime\.time(_ns)?\(|\bdatetime\.(now|today|utcnow)|\bdate\.today|\bfrom time import\b|\blocaltime\(|\bgmtime\("
)


def test_sources__never_read_the_wall_clock() -> None:
    assert len(SOURCES) > 100
    assert [str(path) for path in SOURCES if WALL_CLOCK.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    ("source", "reads"),
    [("time.time() - started", True), ("time.monotonic() - started", False), ("datetime.now()", True)],
)
def test_sources__a_look_at_the_wall_clock_is_noticed(source: str, reads: bool) -> None:
    assert bool(WALL_CLOCK.search(source)) is reads
