"""Every number in a table, a file, a picture or a page is the field that it is named after.

The results here are made up: no number equals another, and none stays the same when two are swapped, a table is
transposed, a share is inverted or a scale is left out.
"""

import base64
import csv
import html
import importlib.util
import io
import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rich.columns import Columns
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from fivedice.agents.evaluation.breakdown import Measure, ScoreBreakdown
from fivedice.agents.evaluation.estimate import Estimate
from fivedice.agents.evaluation.match import Standing
from fivedice.agents.evaluation.ranking import Ranking
from fivedice.agents.evaluation.ratings import Ratings
from fivedice.agents.evaluation.schedule import Contender, Tournament
from fivedice.agents.games.yahtzee_jr.exploit import Exploitability
from fivedice.agents.policies.baselines import GREEDY, PerGamePolicy, RandomPolicy
from fivedice.agents.policies.protocols import HasActionFeatures
from fivedice.agents.reports import run_data, run_page, tables, tournament_page
from fivedice.agents.reports.run_plots import Line, draw_lines, draw_pool
from fivedice.envs import GAMES, load_game
from fivedice.envs.core.batch import Batch

ROOT = Path(__file__).parents[3]
needs_matplotlib = pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="matplotlib is optional")


def shown(what: Any, width: int = 400) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(what)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def parts_of(what: Any) -> list[Any]:
    """Tables, texts and strings of a report, in order."""
    if isinstance(what, (Group, Columns)):
        return [part for inner in what.renderables for part in parts_of(inner)]
    return [what]


def tables_of(what: Any) -> list[Table]:
    return [part for part in parts_of(what) if isinstance(part, Table)]


def texts_of(what: Any) -> list[str]:
    return [str(part) for part in parts_of(what) if isinstance(part, (Text, str))]


def headings(table: Table) -> list[str]:
    return [str(column.header) for column in table.columns]


def rows_of(table: Table) -> list[dict[str, str]]:
    """A table's rows, each cell under the heading of its column."""
    names = headings(table)
    assert len(set(names)) == len(names), f"two columns of one name: {names}"
    columns = [[str(cell) for cell in column.cells] for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def plus_minus(estimate: Estimate) -> str:
    return f"{estimate.mean:.2f} ± {estimate.half_width:.2f}"


def in_percent(estimate: Estimate) -> str:
    return f"{estimate.mean * 100:.1f} ± {estimate.half_width * 100:.1f} %"


def changes(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The value with one number or word in it changed, for each that it has, and the path to that."""
    if is_dataclass(value):
        for field in fields(value):
            for place, changed in changes(getattr(value, field.name), f"{path}.{field.name}"):
                yield place, replace(value, **{field.name: changed})  # type: ignore[type-var]
    elif isinstance(value, dict):
        for key, item in value.items():
            for place, changed in changes(item, f"{path}[{key!r}]"):
                yield place, value | {key: changed}
    elif isinstance(value, (tuple, list)):
        for number, item in enumerate(value):
            for place, changed in changes(item, f"{path}[{number}]"):
                yield place, type(value)([*value[:number], changed, *value[number + 1 :]])
    elif isinstance(value, np.ndarray):
        for index in np.ndindex(value.shape):
            copy = value.copy()
            copy[index] = copy[index] * 3 + 7
            yield f"{path}[{', '.join(map(str, index))}]", copy
    elif isinstance(value, bool):
        yield path, not value
    elif isinstance(value, str):
        yield path, f"{value}x"
    elif isinstance(value, int):
        yield path, value // 2 if value else 1  # the number of a contender, too, is still one of them
    elif isinstance(value, float):
        yield path, value * 3 + 1
    else:
        assert value is None, f"{path} is a {type(value).__name__}, which no case here changes"


def unseen(value: Any, show: Callable[[Any], Any], exceptions: Sequence[str] = ()) -> list[str]:
    """The fields that make no difference to what is shown, but for those that have an exception in their path."""
    before = show(value)
    paths = [path for path, changed in changes(value, "") if show(changed) == before]
    return [path for path in paths if not any(exception in path for exception in exceptions)]


# The tables of an evaluation

STANDINGS = [
    Standing(
        "best",
        4020,
        Estimate(155.37, 0.83, 2003),
        {"greedy": Estimate(0.6133, 0.0147, 2003), "random": Estimate(0.9713, 0.0059, 2003)},
        Estimate(153.11, 0.29, 2003),
        {"greedy": Estimate(0.6271, 0.0113, 2003), "random": Estimate(0.9637, 0.0041, 2003)},
    ),
    Standing(
        "greedy",
        4020,
        Estimate(142.61, 0.97, 2003),
        {"best": Estimate(0.3867, 0.0173, 2003), "random": Estimate(0.9319, 0.0079, 2003)},
        Estimate(141.07, 0.43, 2003),
        {"best": Estimate(0.3729, 0.0127, 2003), "random": Estimate(0.9241, 0.0067, 2003)},
    ),
    Standing(
        "random",
        4020,
        Estimate(61.79, 1.31, 2003),
        {"best": Estimate(0.0287, 0.0061, 2003), "greedy": Estimate(0.0681, 0.0083, 2003)},
        Estimate(63.19, 0.71, 2003),
        {"best": Estimate(0.0363, 0.0047, 2003), "greedy": Estimate(0.0759, 0.0071, 2003)},
    ),
]
RAW = [replace(standing, adjusted_points=None, adjusted_wins={}) for standing in STANDINGS]
OPTIMUM = 169.8765


def games_to_be_narrow(standing: Standing, estimate: Estimate) -> str:
    """To two digits: the interval shrinks by the root of the number of games."""
    games = standing.games * (estimate.half_width / 0.1) ** 2
    digits = 10 ** (len(str(round(games))) - 2)
    return f"{round(games / digits) * digits:,}"


def adjusted(standing: Standing) -> Estimate:
    assert standing.adjusted_points is not None
    return standing.adjusted_points


POINTS_COLUMNS: dict[str, Callable[[Standing], str]] = {
    "contender": lambda one: one.name,
    "points per game": lambda one: plus_minus(one.points),
    "adjusted": lambda one: plus_minus(adjusted(one)),
    "of optimum": lambda one: f"{(one.adjusted_points or one.points).mean / OPTIMUM * 100:.1f} %",
    "games\nfor ± 0.1": lambda one: games_to_be_narrow(one, one.points),
    "adjusted\nfor ± 0.1": lambda one: games_to_be_narrow(one, adjusted(one)),
}
OF_ADJUSTED = ["adjusted", "games\nfor ± 0.1", "adjusted\nfor ± 0.1"]


@pytest.mark.parametrize("is_adjusted", [True, False])
@pytest.mark.parametrize("optimum", [OPTIMUM, None])
def test_points_table__each_column_is_what_its_heading_says(is_adjusted: bool, optimum: float | None) -> None:
    standings = STANDINGS if is_adjusted else RAW
    told = tables.points_table(standings, title="The title", optimum=optimum)
    (table,) = tables_of(told)
    without = ([] if is_adjusted else OF_ADJUSTED) + ([] if optimum else ["of optimum"])
    assert headings(table) == [heading for heading in POINTS_COLUMNS if heading not in without]
    assert rows_of(table) == [
        {heading: cell(standing) for heading, cell in POINTS_COLUMNS.items() if heading not in without}
        for standing in standings
    ]
    title, *notes = texts_of(told)
    assert title == "The title"
    assert notes[0] == "±: 95 % interval" + ("; the exact optimum is 169.8765 points" if optimum else "")
    assert [note.partition(":")[0] for note in notes[1:]] == (["adjusted", "games for ± 0.1"] if is_adjusted else [])


@pytest.mark.parametrize("num_players", [2, 3, 4])
@pytest.mark.parametrize("is_adjusted", [True, False])
def test_wins_table__each_column_is_what_its_heading_says(num_players: int, is_adjusted: bool) -> None:
    standings = STANDINGS if is_adjusted else RAW
    told = tables.wins_table(standings, num_players=num_players)
    (table,) = tables_of(told)
    expected = []
    for standing in standings:
        for rival in standing.wins:
            first = rival == next(iter(standing.wins))
            row = {"contender": standing.name if first else "", "against": rival}
            row["win rate"] = in_percent(standing.wins[rival])
            if is_adjusted:
                row["adjusted"] = in_percent(standing.adjusted_wins[rival])
            expected.append(row)
    assert rows_of(table) == expected
    assert texts_of(told) == [
        {
            2: "Win rate",
            3: "Win rate of one player against 2 of the other kind; equals win 33.3 %",
            4: "Win rate of one player against 3 of the other kind; equals win 25.0 %",
        }[num_players]
    ]


def test_standings_report__shows_every_field_of_every_standing() -> None:
    def show(standings: list[Standing]) -> list[Any]:
        told = tables.standings_report(standings, title="t", num_players=2, optimum=OPTIMUM)
        return [rows_of(table) for table in tables_of(told)]

    # An estimate's count is of deals. The tables give games, in which it cancels out.
    # Points show the half width, not the ends of their interval.
    assert unseen(STANDINGS, show, [".count", "points.low", "points.high"]) == []
    told = tables.standings_report(STANDINGS, title="a title", num_players=3, optimum=OPTIMUM)
    assert [headings(table)[1] for table in tables_of(told)] == ["points per game", "against"]
    assert texts_of(told)[0] == "a title"
    assert "the exact optimum is 169.8765 points" in texts_of(told)[1]
    assert "equals win 33.3 %" in texts_of(told)[-1]
    alone = [replace(standing, wins={}, adjusted_wins={}) for standing in STANDINGS]
    assert len(tables_of(tables.standings_report(alone, title="t", num_players=1, optimum=None))) == 1


def test_exploitability_table__each_figure_stands_where_it_belongs() -> None:
    found = Exploitability(
        np.array([0.5217, 0.4761]), np.array([0.4513, 0.4129]), np.array([0.4079, 0.3527]), 54_321, 987_653
    )
    table = tables.exploitability_table("mine", found, as_it_is=True, title="the title")
    rows = rows_of(table)
    assert [row["win rate of"] for row in rows] == [
        "optimal play against itself",
        "mine against optimal play",
        "mine against its best response",
    ]
    for row, wins in zip(rows, (found.perfect, found.against_equilibrium, found.against_best_response), strict=True):
        assert row["moving first"] == f"{wins[0] * 100:.2f} %"
        assert row["moving second"] == f"{wins[1] * 100:.2f} %"
        assert row["mean"] == f"{(wins[0] + wins[1]) * 50:.2f} %"
        assert len(row) == 4
    assert table.title == "the title"
    assert table.caption == (
        "exact; a draw counts as half a win\ncomputed from 54,321 boards at the start of a turn and 987,653 decisions"
    )
    merged = tables.exploitability_table("mine", found, as_it_is=False, title="t")
    assert str(merged.caption).startswith("exact, if mine is shown similar boards as the same board; a draw")
    assert not unseen(found, lambda one: shown(tables.exploitability_table("mine", one, as_it_is=True, title="t"), 120))


# Where the points go


class Sheet:
    """A made-up sheet; what it says is written is what is handed over as the view."""

    rows = ("Firsts", "Seconds", "Thirds")
    measures = (
        Measure("points", adds_up=True),
        Measure("share", is_share=True),
        Measure("turn"),
        Measure("earned", is_share=True, only_row="Thirds"),
    )

    def entries(self, view: Any, actions: NDArray[np.int64]) -> Any:
        return view


SHEET: Any = Sheet()
DEALS = 5


def written_down(seed: int) -> list[tuple[int, int, list[float]]]:
    """Deal, row and figures of what two games of each deal write."""
    draw = np.random.default_rng(seed)
    found = []
    for deal in [*range(DEALS), *range(DEALS)]:
        for row in range(3):
            figures = [float(draw.integers(5, 60)), float(draw.integers(2)), float(draw.integers(1, 9)), math.nan]
            if row == 2:
                figures = [*figures[:2], math.nan, float(draw.integers(2))]
            found.append((deal, row, figures))
    return found


def handed_over(entries: list[tuple[int, int, list[float]]]) -> tuple[NDArray[np.int64], Any, NDArray[np.int64]]:
    """The same as `ScoreBreakdown.add` takes it: the deal of each decision, and of these the ones that write."""
    deals = np.array([99] + [deal for deal, _, _ in entries])  # the first decision writes nothing
    view = (
        np.arange(len(entries)) + 1,
        np.array([row for _, row, _ in entries]),
        np.array([figures for _, _, figures in entries]),
    )
    return deals, view, np.zeros(len(deals), np.int64)


def wilson_by_hand(share: float, count: float) -> tuple[float, float]:
    z = 1.959963984540054
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z / (1 + z**2 / count) * math.sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
    return middle - half, middle + half


def by_hand(entries: list[tuple[int, int, list[float]]], measure: int) -> list[tuple[float, float]]:
    """The mean and half width of each row."""
    ends = ends_by_hand(entries, measure)
    means = [sum(samples) / DEALS for samples in samples_by_hand(entries, measure)]
    return [(mean, (high - low) / 2) for mean, (low, high) in zip(means, ends, strict=True)]


def samples_by_hand(entries: list[tuple[int, int, list[float]]], measure: int) -> list[list[float]]:
    """The samples of each row: the two games of a deal are one sample."""
    found = []
    for row in range(3):
        samples = []
        for deal in range(DEALS):
            two = [figures[measure] for at, where, figures in entries if (at, where) == (deal, row)]
            assert len(two) == 2
            samples.append(sum(two) / 2)
        found.append(samples)
    return found


def ends_by_hand(entries: list[tuple[int, int, list[float]]], measure: int) -> list[tuple[float, float]]:
    """The ends of the interval of each row: of Student's for points, of Wilson's for shares."""
    assert DEALS == 5
    z, t = 1.959963984540054, 2.776445105  # of 4 degrees of freedom
    found = []
    for samples in samples_by_hand(entries, measure):
        mean = sum(samples) / DEALS
        extended = [*samples, 0.0, 0.0, 1.0, 1.0] if SHEET.measures[measure].is_share else samples
        centre = sum(extended) / len(extended)
        variance = sum((sample - centre) ** 2 for sample in extended) / (len(extended) - 1)
        if SHEET.measures[measure].is_share and not math.isnan(mean):
            found.append(wilson_by_hand(mean, DEALS / min(1.0, variance / (centre * (1 - centre)) * (t / z) ** 2)))
        else:
            half = t * math.sqrt(variance / DEALS)
            found.append((mean - half, mean + half))
    return found


ENTRIES = {"mine": written_down(3), "theirs": written_down(5), "exact": written_down(8)}


def breakdowns() -> dict[str, ScoreBreakdown]:
    found = {}
    for name, entries in ENTRIES.items():
        found[name] = ScoreBreakdown(SHEET, DEALS)
        half = len(entries) // 2
        for some in (entries[:half], entries[half:]):
            found[name].add(*handed_over(some))
    return found


def test_score_breakdown__means_and_intervals_are_those_of_what_was_written() -> None:
    for name, breakdown in breakdowns().items():
        for number, measure in enumerate(SHEET.measures):
            found = breakdown.estimates(measure)
            assert [estimate.mean for estimate in found] == pytest.approx(
                [mean for mean, _ in by_hand(ENTRIES[name], number)], nan_ok=True
            )
            assert [estimate.half_width for estimate in found] == pytest.approx(
                [half for _, half in by_hand(ENTRIES[name], number)], nan_ok=True
            )
            for estimate, (mean, half) in zip(found, by_hand(ENTRIES[name], number), strict=True):
                if not measure.is_share and not math.isnan(mean):
                    assert (estimate.low, estimate.high) == pytest.approx((mean - half, mean + half))
            assert [estimate.count for estimate in found] == [DEALS] * 3


def test_breakdown_report__each_cell_is_of_its_row_contender_and_measure() -> None:
    found = tables_of(tables.breakdown_report(SHEET, breakdowns()))
    assert len(found) == len(SHEET.measures)
    for number, (table, measure) in enumerate(zip(found, SHEET.measures, strict=True)):
        expected = {name: by_hand(entries, number) for name, entries in ENTRIES.items()}

        def cell(value: float, is_share: bool = measure.is_share) -> str:
            return f"{value * 100:.1f} %" if is_share else f"{value:.2f}"

        rows = [
            {"": row, **{name: cell(figures[place][0]) for name, figures in expected.items()}}
            for place, row in enumerate(SHEET.rows)
            if not math.isnan(expected["mine"][place][0])
        ]
        if measure.adds_up:
            sums = {name: f"{sum(mean for mean, _ in figures):.2f}" for name, figures in expected.items()}
            rows.append({"": "Total", **sums})
        assert rows_of(table) == rows
        widest = max(half for figures in expected.values() for _, half in figures if not math.isnan(half))
        assert (table.title, table.caption) == (measure.name, f"± {cell(widest)} or less (95 %)")


# Pictures: what is drawn is looked at


class Drawn(list[Any]):
    """The figures that were saved; in the files stands only which of them it is."""

    looks: list[dict[str, Any]]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Drawn:
    return keep_figures(monkeypatch)


def keep_figures(monkeypatch: pytest.MonkeyPatch) -> Drawn:
    from matplotlib.figure import Figure

    found = Drawn()
    found.looks = []

    def save(figure: Figure, path: Path, **looks: Any) -> None:
        found.append(figure)
        found.looks.append(looks)
        Path(path).write_bytes(b"picture %d" % len(found))

    monkeypatch.setattr(Figure, "savefig", save)
    return found


def points_of(line: Any) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in zip(*line.get_data(), strict=True)]


def ends_of(collection: Any) -> list[list[float]]:
    """The ends of error bars, (x0, y0, x1, y1) each."""
    return [np.asarray(segment).ravel().tolist() for segment in collection.get_segments()]


def rgba(colour: str) -> tuple[float, ...]:
    from matplotlib.colors import to_rgba

    return tuple(to_rgba(colour))


COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]


@needs_matplotlib
@pytest.mark.parametrize("yardstick", ["exact", None])
def test_breakdown_picture__shows_means_and_intervals_of_each_row(
    drawn: Drawn, tmp_path: Path, yardstick: str | None
) -> None:
    tables.draw_breakdown(SHEET, breakdowns(), tmp_path / "some.svg", title="A title", yardstick=yardstick)
    (figure,) = drawn
    assert drawn.looks[0]["format"] == "svg"  # of the file, not of the temporary name it is written to
    assert figure.get_suptitle() == "A title"
    panels = figure.axes
    assert [panel.get_title() for panel in panels] == ["points", "share, %", "turn"]
    assert [label.get_text() for label in panels[0].get_yticklabels()] == list(SHEET.rows)
    assert panels[0].get_yticks().tolist() == [0, 1, 2]
    (legend,) = figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert sorted(names) == sorted(ENTRIES)
    dots = [name for name in ENTRIES if name != yardstick]
    for number, panel in enumerate(panels):
        scale = [1, 100, 1][number]
        assert panel.get_ylim() == (2.5, -0.5)  # the first row is the uppermost
        containers = {container.get_label(): container for container in panel.containers}
        assert list(containers) == dots
        places = []
        for name in dots:
            line, _, (bars,) = containers[name].lines
            expected = by_hand(ENTRIES[name], number)
            at = np.asarray(line.get_ydata(), float)
            assert np.round(at).tolist() == [0, 1, 2]
            places.append(float(at[0]))
            assert line.get_xdata() == pytest.approx([scale * mean for mean, _ in expected], nan_ok=True)
            assert line.get_color() == COLOURS[list(ENTRIES).index(name)]
            for row, ends in enumerate(ends_of(bars)):
                low, high = (scale * end for end in ends_by_hand(ENTRIES[name], number)[row])
                here = [] if math.isnan(low) else [low, at[row], high, at[row]]
                assert ends == pytest.approx(here)
        assert places == sorted(set(places))  # those of one row stand below each other, in their order
        assert sum(places) == pytest.approx(0)
        marks = [line for line in panel.lines if line.get_label() == yardstick]
        if yardstick is None:
            assert not marks
            continue
        (mark,) = marks
        assert mark.get_ydata() == pytest.approx([0, 1, 2])
        expected = [scale * mean for mean, _ in by_hand(ENTRIES[yardstick], number)]
        assert mark.get_xdata() == pytest.approx(expected, nan_ok=True)
        assert (mark.get_marker(), mark.get_color(), mark.get_linestyle()) == ("|", "black", "None")


@needs_matplotlib
def test_breakdown_picture__is_of_the_kind_that_was_asked_for(drawn: Drawn, tmp_path: Path) -> None:
    tables.draw_breakdown(SHEET, breakdowns(), tmp_path / "some", title="t", yardstick=None, kind="png")
    assert drawn.looks[0]["format"] == "png"


# Tournaments

NAMES = ("alpha", "beta", "random", "delta")
SHOWDOWN = load_game("showdown_yahtzee")


def made_up_ranking(seats: int) -> Ranking:
    """Of four contenders; the best rating is the last one's, and the anchor is the third."""
    draw = np.random.default_rng(11)

    def some(low: float, high: float, wide: float) -> Estimate:
        # No count, and no half width, is that of another.
        return Estimate(float(draw.uniform(low, high)), float(draw.uniform(wide / 3, wide)), int(draw.integers(999)))

    means = np.array([137.0, -61.0, 0.0, 211.0])
    differences = np.array([[0.0, 91, 97, 83], [91, 0, 67, 79], [97, 67, 0, 89], [83, 79, 89, 0]])
    halves = (41.0, 33.0, 0.0, 57.0)
    ratings = Ratings(
        tuple(
            Estimate(float(mean), half, 700 + number)
            for number, (mean, half) in enumerate(zip(means, halves, strict=True))
        ),
        means,
        differences,
    )
    return Ranking(
        NAMES,
        ratings,
        2,
        tuple(some(20, 90, 3) for _ in NAMES),
        tuple(some(0.1, 0.8, 0.06) for _ in NAMES),
        tuple(some(1, seats, 0.3) for _ in NAMES),
        tuple(tuple(some(0.1, 0.8, 0.05) for _ in range(seats)) for _ in NAMES),
        {(one, other): some(0.1, 0.9, 0.2) for one in range(4) for other in range(4) if one != other},
    )


ORDER = ["delta", "alpha", "random", "beta"]
ALIKE = {"alpha": ["delta"], "beta": ["random"], "random": ["beta"], "delta": ["alpha"]}
RANKING = made_up_ranking(3)
TOURNAMENT = Tournament(
    "showdown_yahtzee",
    (("chips", (2, 3, 3, 3, 4, 2)), ("steal", "beat"), ("max_turns", 300)),
    3,
    17,
    1000,
    tuple(Contender(name, f"{name}.safetensors", f"digest of {name}") for name in NAMES),
    True,
)
DEALS_OF_IT = 334  # of three games each, and as many of both orders round the table
RATINGS = {"delta": "211 ± 57", "alpha": "137 ± 41", "random": "0", "beta": "-61 ± 33"}


def number_of(name: str) -> int:
    return NAMES.index(name)


def test_ranking__order_and_who_is_alike() -> None:
    assert [NAMES[number] for number in RANKING.order] == ORDER
    assert {name: RANKING.alike(number_of(name)) for name in NAMES} == ALIKE
    # Whoever is alike stands in the order of the ratings; a difference as wide as its interval is not apart.
    wide = replace(RANKING, ratings=replace(RANKING.ratings, differences=np.full((4, 4), 272.0)))
    assert [wide.alike(number) for number in (0, 1, 3)] == [
        ["delta", "random", "beta"],
        ["delta", "alpha", "random"],
        ["alpha", "random", "beta"],
    ]


def pairs_rows(ranking: Ranking, heading: str) -> list[dict[str, str]]:
    return [
        {
            "contender": one if other == next(name for name in ORDER if name != one) else "",
            "against": other,
            heading: in_percent(ranking.pairs[number_of(one), number_of(other)]),
        }
        for one in ORDER
        for other in ORDER
        if one != other
    ]


def test_tournament_tables__each_column_is_what_its_heading_says() -> None:
    told = tournament_page.tournament_tables(TOURNAMENT, RANKING)
    standings, places, pairs = tables_of(told)
    assert rows_of(standings) == [
        {
            "contender": name,
            "rating": RATINGS[name],
            "points per game": plus_minus(RANKING.points[number_of(name)]),
            "win rate": in_percent(RANKING.wins[number_of(name)]),
            "not distinguishable from": ", ".join(ALIKE[name]),
        }
        for name in ORDER
    ]
    assert places.title == "Places"
    assert rows_of(places) == [
        {
            "contender": name,
            "mean place": plus_minus(RANKING.place[number_of(name)]),
            **{f"{seat + 1}.": in_percent(RANKING.places[number_of(name)][seat]) for seat in range(3)},
        }
        for name in ORDER
    ]
    assert pairs.title == "How often a contender finishes ahead of another"
    assert rows_of(pairs) == pairs_rows(RANKING, "ahead")
    title = (
        "Showdown Yahtzee, 3 players, steal=beat, max_turns=300, "
        "1,002 games for each of 4 combinations of policies, seed 17"
    )
    assert standings.title == tournament_page.title(TOURNAMENT) == title
    assert [text for text in texts_of(told) if text] == [
        "±: 95 % interval over 334 dice seeds, the same for all combinations of policies; equals win 33.3 %",
        "rating: an Elo-like scale; random is 0, and 400 more mean odds of 10 : 1 to finish ahead",
        "not distinguishable from: the 95 % interval of the difference of the ratings contains 0",
    ]


def test_tournament_tables__of_two_seats_tell_of_wins_and_no_places() -> None:
    two = replace(TOURNAMENT, num_players=2, contenders=TOURNAMENT.contenders[:2], games=1234, options=())
    told = tournament_page.tournament_tables(two, made_up_ranking(2))
    _, pairs = tables_of(told)
    assert pairs.title == "Win rate"
    assert rows_of(pairs) == pairs_rows(made_up_ranking(2), "win rate")
    assert texts_of(told)[0] == "±: 95 % interval over 617 dice seeds, the same for all combinations of policies"
    assert tournament_page.title(two) == (
        "Showdown Yahtzee, 2 players, 1,234 games for one combination of policies, seed 17"
    )


def estimate_in(estimate: Estimate) -> dict[str, float]:
    return {
        "mean": estimate.mean,
        "half_width": estimate.half_width,
        "low": estimate.low,
        "high": estimate.high,
    }


def test_tournament_json__each_key_is_the_field_it_names() -> None:
    found = tournament_page.results_dict(TOURNAMENT, RANKING)
    assert found.pop("contenders") == [
        {
            "name": name,
            "digest": f"digest of {name}",
            "rating": estimate_in(RANKING.ratings.estimates[number_of(name)]),
            "points": estimate_in(RANKING.points[number_of(name)]),
            "wins": estimate_in(RANKING.wins[number_of(name)]),
            "place": estimate_in(RANKING.place[number_of(name)]),
            "places": [estimate_in(share) for share in RANKING.places[number_of(name)]],
            "not_distinguishable_from": ALIKE[name],
        }
        for name in ORDER
    ]
    assert found.pop("pairs") == [
        {"name": NAMES[one], "against": NAMES[other], "ahead": estimate_in(RANKING.pairs[one, other])}
        for one in range(4)
        for other in range(4)
        if one != other
    ]
    assert found == {
        "anchor": "random",
        "tournament": {
            "game": "showdown_yahtzee",
            "game_version": SHOWDOWN.version,
            "options": {"chips": [2, 3, 3, 3, 4, 2], "steal": "beat", "max_turns": 300},
            "seats": 3,
            "seed": 17,
            "sampled": True,
            "games_per_combination": 1002,
            "deals": 334,
        },
    }


STANDINGS_CSV: dict[str, Callable[[int], Estimate]] = {
    "rating": lambda number: RANKING.ratings.estimates[number],
    "points": lambda number: RANKING.points[number],
    "wins": lambda number: RANKING.wins[number],
    "place": lambda number: RANKING.place[number],
    "place_1": lambda number: RANKING.places[number][0],
    "place_2": lambda number: RANKING.places[number][1],
    "place_3": lambda number: RANKING.places[number][2],
}


@needs_matplotlib
def test_tournament_csv__each_column_is_the_field_it_names(drawn: Drawn, tmp_path: Path) -> None:
    written = tournament_page.write_results(TOURNAMENT, RANKING, tmp_path)
    names = ["tournament.json", "standings.csv", "pairs.csv", "tournament.png"]
    assert written == [tmp_path / name for name in names]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    assert json.loads(written[0].read_text()) == tournament_page.results_dict(TOURNAMENT, RANKING)
    assert drawn.looks[0]["format"] == "png"
    with written[1].open(newline="") as file:
        standings = list(csv.DictReader(file))
    assert [row["contender"] for row in standings] == ORDER
    for row in standings:
        name = row.pop("contender")
        assert row.pop("not distinguishable from") == "; ".join(ALIKE[name])
        expected = {}
        for column, estimate in STANDINGS_CSV.items():
            expected[column] = estimate(number_of(name)).mean
            expected[f"{column}_half_width"] = estimate(number_of(name)).half_width
            expected[f"{column}_low"] = estimate(number_of(name)).low
            expected[f"{column}_high"] = estimate(number_of(name)).high
        assert {column: float(cell) for column, cell in row.items()} == expected
    with written[2].open(newline="") as file:
        pairs = list(csv.DictReader(file))
    assert [(row["contender"], row["against"]) for row in pairs] == [
        (one, other) for one in NAMES for other in NAMES if one != other
    ]
    for row in pairs:
        share = RANKING.pairs[number_of(row.pop("contender")), number_of(row.pop("against"))]
        assert {column: float(cell) for column, cell in row.items()} == {
            "ahead": share.mean,
            "ahead_half_width": share.half_width,
            "ahead_low": share.low,
            "ahead_high": share.high,
        }


@needs_matplotlib
def test_tournament_csv__lists_all_that_are_alike(tmp_path: Path) -> None:
    wide = replace(RANKING, ratings=replace(RANKING.ratings, differences=np.full((4, 4), 999.0)))
    picture = tournament_page.write_results(TOURNAMENT, wide, tmp_path)[3]
    assert picture.read_bytes()[:4] == b"\x89PNG"
    with (tmp_path / "standings.csv").open(newline="") as file:
        rows = {row["contender"]: row for row in csv.DictReader(file)}
    assert rows["alpha"]["not distinguishable from"] == "delta; random; beta"
    table = tables_of(tournament_page.tournament_tables(TOURNAMENT, wide))[0]
    assert rows_of(table)[1]["not distinguishable from"] == "delta, random, beta"


def test_tournament__shows_every_field_of_a_ranking(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *package: None if name == "matplotlib" else find_spec(name, *package)
    )

    def in_files(ranking: Ranking) -> list[str]:
        written = tournament_page.write_results(TOURNAMENT, ranking, tmp_path)
        assert len(written) == 3  # no picture
        return [path.read_text() for path in written]

    # The order and who is alike come of the ratings, see above. Counts are of deals, which all have in common.
    elsewhere = (".count", ".ratings.means", ".ratings.differences")
    before_tables, (before_json, *before_csv) = in_words(RANKING), in_files(RANKING)
    not_in_tables, not_in_json, not_in_csv = [], [], []
    for path, changed in changes(RANKING, ""):
        if any(name in path for name in elsewhere):
            continue
        json_text, *csv_texts = in_files(changed)
        not_in_tables += [path] * (in_words(changed) == before_tables)
        not_in_json += [path] * (json_text == before_json)
        not_in_csv += [path] * (csv_texts == before_csv)
    # The anchor's rating is 0, without an interval; files show it like any other.
    # Tables show the half widths of points, places and ratings, not the ends of their intervals.
    symmetric = [path for path in not_in_tables if re.search(r"\.(low|high)$", path)]
    assert len(symmetric) == 2 * 3 * 4
    assert {path.split("[")[0] for path in symmetric} == {".ratings.estimates", ".points", ".place"}
    assert sorted(set(not_in_tables) - set(symmetric)) == [
        ".ratings.estimates[2].half_width",
        ".ratings.estimates[2].mean",
    ]
    assert (not_in_json, not_in_csv) == ([], [".anchor"])


def in_words(ranking: Ranking) -> list[Any]:
    told = tournament_page.tournament_tables(TOURNAMENT, ranking)
    return [texts_of(told), *(rows_of(table) for table in tables_of(told))]


@needs_matplotlib
def test_tournament_picture__shows_pairs_and_ratings(drawn: Drawn, tmp_path: Path) -> None:
    tournament_page.draw_tournament(TOURNAMENT, RANKING, tmp_path / "some.png")
    (figure,) = drawn
    assert figure.get_suptitle() == ("Showdown Yahtzee, 3 players, 1,002 games per combination of policies, seed 17")
    pairs, ratings = figure.axes
    (image,) = pairs.images
    for row, one in enumerate(ORDER):
        for column, other in enumerate(ORDER):
            share = 0.5
            if one != other:
                pair = RANKING.pairs[number_of(one), number_of(other)]
                share = 0.5 if pair.low <= 0.5 <= pair.high else pair.mean  # white where it is not significant
            assert image.get_array()[row, column] == share
    assert (image.get_clim(), image.get_cmap().name) == ((0, 1), "RdBu")
    assert [label.get_text() for label in pairs.get_yticklabels()] == ORDER
    assert [label.get_text() for label in pairs.get_xticklabels()] == ORDER
    assert pairs.get_xticks().tolist() == pairs.get_yticks().tolist() == [0, 1, 2, 3]
    assert pairs.get_ylim()[0] > pairs.get_ylim()[1]  # the first row is the uppermost, in both panels
    assert pairs.get_xlim()[0] < pairs.get_xlim()[1]
    assert ratings.get_shared_y_axes().joined(pairs, ratings)
    assert pairs.get_title().startswith("how often the row finishes ahead of the column")
    words: dict[tuple[int, int], list[Any]] = {}
    for text in pairs.texts:
        x, y = text.get_position()
        words.setdefault((round(y), round(x)), []).append(text)
    for row, one in enumerate(ORDER):
        for column, other in enumerate(ORDER):
            told = sorted(words[row, column], key=lambda text: text.get_position()[1])
            if one == other:
                assert [text.get_text() for text in told] == ["-"]
                continue
            share = RANKING.pairs[number_of(one), number_of(other)]
            mean, half = told
            assert mean.get_text() == f"{share.mean * 100:.1f} %"
            assert half.get_text() == f"{share.low * 100:.1f} to {share.high * 100:.1f}"
            assert mean.get_position()[1] < row < half.get_position()[1]
            is_apart = not share.low <= 0.5 <= share.high
            assert mean.get_fontweight() == ("bold" if is_apart else "normal")
            dark = is_apart and (share.mean > 0.8 or share.mean < 0.2)
            assert mean.get_color() == half.get_color() == ("white" if dark else "black")
    weights = {text.get_fontweight() for texts in words.values() for text in texts}
    assert weights >= {"bold", "normal"}
    assert {text.get_color() for texts in words.values() for text in texts} >= {"white", "black"}
    assert ratings.get_title().startswith("rating, 95 % interval")
    assert ratings.get_xlabel() == "random is 0; 400 more: odds of 10 : 1"
    groups = RANKING.groups()
    assert groups
    dots, joined = ratings.lines[: len(ORDER)], ratings.lines[len(ORDER) :]
    for row, (name, dot, text) in enumerate(zip(ORDER, dots, ratings.texts, strict=True)):
        assert points_of(dot) == [(RANKING.ratings.means[number_of(name)], row)]
        assert text.get_text() == tournament_page.rating_in_words(RANKING, number_of(name))
    assert len(joined) == 2 * len(groups)
    places = set()
    for group, line, ends in zip(groups, joined[::2], joined[1::2], strict=True):
        rows = [ORDER.index(RANKING.names[number]) for number in group]
        assert [y for _, y in points_of(line)] == [rows[0], rows[-1]]
        assert [y for _, y in points_of(ends)] == rows
        places.add(points_of(line)[0][0])
        assert points_of(line)[0][0] > max(RANKING.ratings.means)
    assert len(places) == len(groups)


# The pictures of a run


def band(panel: Any) -> list[list[tuple[float, float]]]:
    """The corners of what is filled, collection by collection."""
    return [
        [(float(x), float(y)) for path in collection.get_paths() for x, y in path.vertices]
        for collection in panel.collections
    ]


@needs_matplotlib
def test_draw_lines__shows_lines_levels_and_intervals_at_their_places(drawn: Drawn, tmp_path: Path) -> None:
    long = np.column_stack([np.arange(1, 61) * 1000.0, np.arange(60) * 1.7])
    lines = [
        Line(
            "one",
            np.array([[1000.0, 31.3], [7000.0, 35.9], [61_000.0, 43.1]]),
            1,
            np.array([[29.0, np.nan, 39.4], [33.6, np.nan, 48.2]]),
        ),
        Line("many", long, 8),
        Line("faint", np.array([[2000.0, 11.9], [5000.0, 17.3]]), 1, faint=True),
    ]
    levels = {"first": Estimate(23.7, 1.9, 5), "second": Estimate(47.9, 0.0, 1)}
    draw_lines(lines, levels, tmp_path / "some.png", y="what it is", height=2.9)
    (figure,) = drawn
    assert drawn.looks[0]["format"] == "png"
    assert tuple(figure.get_size_inches()) == (9.0, 2.9)
    (panel,) = figure.axes
    found = {line.get_label(): line for line in panel.lines}
    assert list(found) == ["one", "many", "faint", "first", "second"]
    for line in lines:
        assert points_of(found[line.name]) == [(steps / 1000, value) for steps, value in line.points.tolist()]
    assert [found[line.name].get_color() for line in lines] == [COLOURS[1], COLOURS[2], COLOURS[1]]
    assert [found[line.name].get_marker() for line in lines] == ["o", "None", "None"]
    assert found["faint"].get_linewidth() < found["one"].get_linewidth()
    assert found["faint"].get_alpha() < 1
    assert found["faint"].get_zorder() < found["one"].get_zorder()
    assert found["first"].get_ydata() == [23.7, 23.7]
    assert found["second"].get_ydata() == [47.9, 47.9]
    assert found["first"].get_linestyle() != found["second"].get_linestyle()
    assert found["first"].get_color() != found["second"].get_color()
    (filled,) = band(panel)  # only the first line has intervals, and none at its second point
    assert {corner for corner in filled if not math.isnan(corner[1])} == {
        (1.0, 29.0),
        (1.0, 33.6),
        (61.0, 39.4),
        (61.0, 48.2),
    }
    assert tuple(panel.collections[0].get_facecolor()[0][:3]) == rgba(COLOURS[1])[:3]
    (span,) = panel.patches  # a level without an interval has none
    box = span.get_bbox() if hasattr(span, "get_bbox") else span.get_extents()
    assert (box.y0, box.y1) == pytest.approx((23.7 - 1.9, 23.7 + 1.9))
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("thousand decisions of the learner", "what it is")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(found)


@needs_matplotlib
def test_draw_lines__counts_in_the_unit_of_its_longest_line(drawn: Drawn, tmp_path: Path) -> None:
    short, long = (Line(str(last), np.array([[0.0, 1.3], [last, 2.9]]), 0) for last in (3000.0, 250_000.0))
    for lines in ([short, long], [long, short], [short]):
        draw_lines(lines, {}, tmp_path / "some.png", y="y")
    for figure, unit, word, legends in zip(
        drawn, (1e6, 1e6, 1e3), ("million", "million", "thousand"), (1, 1, 0), strict=True
    ):
        (panel,) = figure.axes
        assert sorted(float(line.get_xdata()[1]) for line in panel.lines)[0] == 3000 / unit
        assert panel.get_xlabel() == f"{word} decisions of the learner"
        assert len(figure.legends) == legends


SNAPSHOTS = [(1000, 0.713, 23.0), (4000, math.nan, 0.0), (9000, 0.389, 11.0), (17_000, 1.0, 7.0), (23_000, 0.13, 5.0)]


@needs_matplotlib
def test_draw_pool__shows_the_share_against_each_snapshot_that_was_met(drawn: Drawn, tmp_path: Path) -> None:
    draw_pool(SNAPSHOTS, tmp_path / "some.png", fair=0.3137)
    (figure,) = drawn
    assert drawn.looks[0]["format"] == "png"
    (panel,) = figure.axes
    ((line, _, (bars,)),) = [container.lines for container in panel.containers]
    met = [(steps, share, games) for steps, share, games in SNAPSHOTS if games]
    assert points_of(line) == [(steps / 1000, 100 * share) for steps, share, _ in met]
    for (steps, share, games), ends in zip(met, ends_of(bars), strict=True):
        low, high = wilson_by_hand(share, games)
        assert ends == pytest.approx([steps / 1000, 100 * low, steps / 1000, 100 * high])
    fair = next(line for line in panel.lines if line.get_label() == "equal strength")
    assert fair.get_ydata() == pytest.approx([31.37, 31.37])
    assert panel.get_xlabel() == "thousand decisions of the learner when the snapshot was taken"
    assert panel.get_ylabel() == "win rate of the learner, %"
    low, high = panel.get_xlim()
    assert low < 1 < 23 < high
    assert (1 - low, high - 23) == pytest.approx((1.15, 1.15))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["equal strength", "win rate"]


@needs_matplotlib
def test_draw_pool__before_any_game_shows_when_each_snapshot_was_taken(drawn: Drawn, tmp_path: Path) -> None:
    draw_pool([(steps * 100, math.nan, 0.0) for steps, _, _ in SNAPSHOTS], tmp_path / "some.png", fair=0.5)
    (panel,) = drawn[0].axes
    (lines,) = panel.collections
    assert [ends[0] for ends in ends_of(lines)] == [0.1, 0.4, 0.9, 1.7, 2.3]
    assert not panel.containers
    assert panel.get_yticks().size == 0
    assert panel.get_xlabel() == "million decisions of the learner when the snapshot was taken"


# The page of a run


class Page(HTMLParser):
    """What stands on a page, in order: ``(tag, words)``, ``("img", alt, source)``, ``("table", head, rows, foot)``."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[Any, ...]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.groups: dict[str, list[list[str]]] = {}
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "img":
            given = dict(attributes)
            self.found.append(("img", given["alt"], given["src"]))
            return
        if tag == "meta":
            return
        self.open.append(tag)
        if tag == "table":
            self.groups = {"thead": [], "tbody": [], "tfoot": []}
        elif tag == "tr":
            self.groups[self.open[-2]].append([])
        if tag not in ("i", "b"):
            self.words = []

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        said = "".join(self.words)
        if tag in ("title", "h1", "h2", "h3", "p", "li"):
            self.found.append((tag, said))
        elif tag in ("td", "th"):
            group = self.open[-2]
            assert (tag == "th") == (group == "thead")
            self.groups[group][-1].append(said)
        elif tag == "table":
            (head,) = self.groups["thead"]
            self.found.append(("table", head, self.groups["tbody"], self.groups["tfoot"]))

    def section(self, heading: str) -> list[tuple[Any, ...]]:
        """What follows a heading, up to the next."""
        start = self.found.index(("h2", heading)) + 1
        ends = [place for place, item in enumerate(self.found) if place >= start and item[0] == "h2"]
        return self.found[start : ends[0] if ends else None]


def of_kind(items: Sequence[tuple[Any, ...]], kind: str) -> list[tuple[Any, ...]]:
    return [item[1:] for item in items if item[0] == kind]


CHIPS = (1, 2, 3, 4, 5, 6)
CONFIG: dict[str, Any] = {
    "game": "showdown_yahtzee",
    "num_players": 3,
    "options": {"chips": list(CHIPS), "steal": "beat", "max_turns": 250},
    "opponents": {"current": 0.5, "past": 2.0, "hard": 0.0, "greedy": 1.25},
    "learning_rate": 0.00125,
    "name": '<script>&"',
    "start": None,
    "net_arch": [8, 16],
}
OVER_IT = 1000.0 * np.arange(1, 121)  # steps
FEATURES = ("lasting", "swing")


def made_up_scalars() -> dict[str, list[tuple[float, float]]]:
    draw = np.random.default_rng(21)

    def over(low: float, high: float, steps: Sequence[float] = OVER_IT) -> list[tuple[float, float]]:
        return [(step, float(np.float32(draw.uniform(low, high)))) for step in steps]

    few = [2000.0, 60_000.0, 119_000.0]
    return {
        "eval/score": over(20, 60, few),
        "eval/score_half_width": over(1, 3, [few[0], few[2]]),
        "rollout/score": over(20, 60),
        "eval/win_rate_vs_random": [(few[0], 0.375), (few[1], 0.6875), (few[2], 0.984375)],
        "eval/win_rate_vs_random_low": [(few[0], 0.3125), (few[1], 0.65625), (few[2], 0.9375)],
        "eval/win_rate_vs_random_high": [(few[0], 0.5), (few[1], 0.75), (few[2], 0.9921875)],
        "eval/win_rate_vs_previous_best_1": over(0.3, 0.7, few),
        "rollout/win_rate_vs_random": over(0.3, 0.9),
        "rollout/win_rate_vs_greedy": over(0.1, 0.5),
        "rollout/entropy_ratio": over(0.1, 0.9),
        "features/lasting": over(-3, 4),
        "features/swing": over(-3, 4),
        "time/rollout_decisions_per_second": over(10_000, 90_000),
        "pool/size": over(2, 9, [123_456.0]),
    }


SCALARS = made_up_scalars()
EVALUATION = {
    "score": {"mean": 41.237, "half_width": 1.913, "deals": 501},
    "win_rate_vs_greedy": {"mean": 0.37219, "half_width": 0.02871, "deals": 502},
}
LEVELS = {"random": Estimate(17.31, 0.59, 9), "greedy": Estimate(33.71, 0.83, 9)}
BEST = 71.23456789
SOLD = {"best": "mine", "greedy": "theirs", "optimal": "exact"}  # what these are said to write
SEED = 3_000_017


def make_run(folder: Path) -> Path:
    from safetensors.numpy import save_file
    from torch.utils.tensorboard import SummaryWriter

    from fivedice.agents.policies.checkpoint import make_card, save_checkpoint

    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG))
    for part in range(2):  # a run that was stopped and went on
        writer = SummaryWriter(str(folder), filename_suffix=f".{part}")  # type: ignore[no-untyped-call]
        for tag, points in SCALARS.items():
            half = len(points) // 2
            if part == 0 and len(points) == len(OVER_IT):
                writer.add_scalar(tag, -1e6, int(points[half][0]))  # type: ignore[no-untyped-call]  # logged again later
            for step, value in points[half:] if part else points[:half]:
                writer.add_scalar(tag, value, int(step))  # type: ignore[no-untyped-call]
        writer.close()  # type: ignore[no-untyped-call]
    options = SHOWDOWN.make_options(3, {"chips": CHIPS, "steal": "beat", "max_turns": 250})
    card = make_card(SHOWDOWN, options, (8,), "tanh") | {"steps": 60_017, "evaluation": EVALUATION}
    network: Any = SimpleNamespace(tensors={"policy.0.weight": np.zeros((1, 1), np.float32)})
    save_checkpoint(folder / "best.safetensors", card, network)
    pool = {
        "steps": {str(number): steps for number, (steps, _, _) in enumerate(SNAPSHOTS, 4)},
        "results": {
            str(number): (games, games * share) for number, (_, share, games) in enumerate(SNAPSHOTS, 4) if games
        },
    }
    notes = json.dumps({"steps": 1, "pool": pool})
    save_file({"some": np.zeros(1)}, folder / "resume.safetensors", metadata={"notes": notes})
    return folder


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "<a & b>")


@needs_matplotlib
def test_read_run__holds_what_the_folder_holds(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tensorboard.backend.event_processing import event_accumulator

    monkeypatch.setitem(event_accumulator.DEFAULT_SIZE_GUIDANCE, "scalars", 10)  # however long a run is, all is read
    run = run_data.read_run(run_folder)
    assert (run.folder, run.config, run.game, run.num_players) == (run_folder, CONFIG, SHOWDOWN, 3)
    assert run.game.options_dict(run.options) == {"chips": CHIPS, "steal": "beat", "max_turns": 250}
    assert {tag: [tuple(point) for point in points.tolist()] for tag, points in run.scalars.items()} == SCALARS
    assert len(run.snapshots) == len(SNAPSHOTS)
    for found, known in zip(run.snapshots, SNAPSHOTS, strict=True):
        assert found == pytest.approx(known, nan_ok=True)
    assert (run.card["steps"], run.card["evaluation"]) == (60_017, EVALUATION)


Pictures = dict[str, Any]


@pytest.fixture(scope="module")
def page(run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Page, Pictures]:
    """The page of the run with made-up games, and the figure of each of its pictures by name."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        return make_page(run_folder, tmp_path_factory.mktemp("report"), monkeypatch)


def make_page(run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Page, Pictures]:
    drawn = keep_figures(monkeypatch)
    monkeypatch.setattr(run_page, "score_sheet_of", lambda game: SHEET if game is SHOWDOWN else None)
    monkeypatch.setattr(run_page, "load", lambda name: f"policy {name}")
    monkeypatch.setattr(run_page, "load_checkpoint", lambda path: f"policy {path.relative_to(run_folder)}")
    exact = PerGamePolicy("optimal", lambda game: RandomPolicy() if game is SHOWDOWN else None)
    monkeypatch.setattr(run_page, "OPTIMAL", exact)  # as if the game was solved
    run = run_data.read_run(run_folder)

    def optimum(game: Any, options: Any) -> float:
        assert (game, options) == (SHOWDOWN, run.options)
        return BEST

    def evaluate(
        game: Any, contenders: Any, *, games: int, num_players: int, seed: int, options: Any, watch: Any = None
    ) -> Any:
        ((name, policy),) = contenders.items()
        assert (game, games, num_players, seed) == (SHOWDOWN, DEALS, 3, SEED)
        assert options == {"chips": CHIPS, "steal": "beat", "max_turns": 250}
        if watch is None:
            assert policy == f"policy {name}"
            return [Standing(name, games, LEVELS[name])]
        assert policy == {"best": "policy best.safetensors", "greedy": GREEDY, "optimal": exact}[name]
        watch(0, *handed_over(ENTRIES[SOLD[name]]))
        return []

    def film_of_match(game: Any, policies: Any, *, seed: int, options: Any) -> Any:
        assert (game, seed, options["steal"]) == (SHOWDOWN, SEED, "beat")
        return f"film of {policies}", None

    monkeypatch.setattr(run_page, "evaluate", evaluate)
    monkeypatch.setattr(run_page, "optimum", optimum)
    monkeypatch.setattr(run_page, "film_of_match", film_of_match)
    monkeypatch.setattr(run_page, "film_page", lambda film: f'<p title="a game">{film}</p>')
    written = run_page.write_report(run, tmp_path, games=DEALS)
    assert written[0] == tmp_path / "report.html"
    assert written[1:] == sorted(tmp_path.glob("*.png"))
    names = {path.read_bytes(): path.name for path in written[1:]}
    found = Page(written[0].read_text(encoding="utf-8"))
    held = [
        base64.b64decode(source.removeprefix("data:image/png;base64,")) for _, source in of_kind(found.found, "img")
    ]
    assert len(held) == len(set(held)) == len(names) == len(drawn)
    return found, {names[content]: drawn[int(content.split()[1]) - 1] for content in held}


def test_page__has_a_game_in_a_frame(page: tuple[Page, Pictures], run_folder: Path, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        make_page(run_folder, tmp_path, monkeypatch)
    (frame,) = re.findall(r"<iframe ([^>]*)>", (tmp_path / "report.html").read_text())
    policies = ["policy best.safetensors", "policy greedy", "policy greedy"]
    assert 'sandbox="allow-scripts"' in frame  # and no access to the page around it
    assert html.unescape(re.findall(r'srcdoc="([^"]*)"', frame)[0]) == f'<p title="a game">film of {policies}</p>'


@pytest.mark.parametrize(
    ("best", "figures", "said"),
    [
        (80.0, {"score": {"mean": 60.0, "half_width": 1.0, "deals": 9}}, "<b>75.0 %</b> of the optimum"),
        (None, EVALUATION, "<b>37.2 ± 2.9 %</b> win rate against greedy"),
        (None, {"score": EVALUATION["score"]}, ""),
    ],
)
def test_headline__is_of_the_optimum_or_of_greedy(best: float | None, figures: Any, said: str) -> None:
    run = SimpleNamespace(card={"evaluation": figures}, game=SHOWDOWN)
    found = run_page._headline(run, best)  # type: ignore[arg-type]  # it reads only these
    assert found == (f'<p class="headline">{said}</p>\n' if said else "")


def lines_of(figure: Any) -> dict[str, Any]:
    (panel,) = figure.axes
    return {line.get_label(): line for line in panel.lines}


def smooth(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The mean of each two neighbours: two are a fiftieth of all."""
    assert len(points) // 50 == 2
    return [((before[0] + after[0]) / 2, (before[1] + after[1]) / 2) for before, after in pairwise(points)]


def assert_line(line: Any, points: list[tuple[float, float]], scale: float = 1.0) -> None:
    found = points_of(line)
    assert [x for x, _ in found] == pytest.approx([step / 1000 for step, _ in points])
    assert [y for _, y in found] == pytest.approx([scale * value for _, value in points])


@needs_matplotlib
def test_page__begins_with_what_the_run_is(page: tuple[Page, Pictures]) -> None:
    found, _ = page
    assert found.found[:2] == [("title", "Showdown Yahtzee: <a & b>"), ("h1", "Showdown Yahtzee: <a & b>")]
    assert found.found[2] == ("p", "57.9 % of the optimum")
    assert found.found[3] == (
        "p",
        "3 players; chips 1,2,3,4,5,6, steal beat, max_turns 250. The learner made 123,456 decisions. "
        "The best checkpoint was saved after 60,017 decisions.",
    )
    assert [heading for (heading,) in of_kind(found.found, "h2")] == [
        "Result",
        "Where the points go",
        "A game",
        "Points over the run",
        "Win rate over the run",
        "Opponent pool",
        "Entropy",
        "Action features",
        "Speed",
        "Settings",
    ]


@needs_matplotlib
def test_page__result_beside_the_baselines(page: tuple[Page, Pictures]) -> None:
    found, _ = page
    section = found.section("Result")
    ((said,),) = of_kind(section, "p")
    assert "its evaluation games against greedy when it was saved. " in said
    assert said.endswith("Baselines, each in self-play: 5 games, seed 3000017.")
    assert of_kind(section, "table") == [
        (
            ["policy", "points per game", "of optimum"],
            [
                ["best checkpoint", "41.24 ± 1.91", "57.9 %"],
                ["greedy", "33.71 ± 0.83", "47.3 %"],
                ["random", "17.31 ± 0.59", "24.3 %"],
                ["optimal (exact)", "71.2346", "100 %"],
            ],
            [],
        ),
        (["against", "win rate"], [["greedy", "37.2 ± 2.9 %"]], []),
    ]


@needs_matplotlib
def test_page__settings_are_those_of_the_run(page: tuple[Page, Pictures]) -> None:
    found, _ = page
    assert found.section("Settings") == [
        ("table", ["setting", "value"], [[name, json.dumps(value)] for name, value in CONFIG.items()], [])
    ]


@needs_matplotlib
def test_page__points_over_the_run(page: tuple[Page, Pictures]) -> None:
    found, pictures = page
    section = found.section("Points over the run")
    assert of_kind(section, "img")[0][0] == "points over the run"
    lines = lines_of(pictures["learning.png"])
    levels = ["random", "greedy", "optimal"]
    assert list(lines) == ["learner, evaluation", "learner, training", *levels]
    assert_line(lines["learner, evaluation"], SCALARS["eval/score"])
    assert_line(lines["learner, training"], smooth(SCALARS["rollout/score"]))
    assert lines["learner, training"].get_alpha() < 1
    assert lines["learner, evaluation"].get_color() == lines["learner, training"].get_color()
    assert [lines[name].get_ydata()[0] for name in levels] == [17.31, 33.71, BEST]
    (panel,) = pictures["learning.png"].axes
    assert panel.get_ylabel() == "points per game"
    widths = dict(SCALARS["eval/score_half_width"])
    corners = {
        (step / 1000, value + sign * widths[step])
        for step, value in SCALARS["eval/score"]
        if step in widths
        for sign in (1, -1)
    }
    (filled,) = band(panel)
    assert sorted({corner for corner in filled if not math.isnan(corner[1])}) == sorted(corners)


@needs_matplotlib
def test_page__wins_over_the_run(page: tuple[Page, Pictures]) -> None:
    found, pictures = page
    assert of_kind(found.section("Win rate over the run"), "img")[0][0] == "win rate against each opponent over the run"
    lines = lines_of(pictures["wins.png"])
    expected = {
        "against random, evaluation": SCALARS["eval/win_rate_vs_random"],
        "against previous best 1, evaluation": SCALARS["eval/win_rate_vs_previous_best_1"],
        "against random, training": smooth(SCALARS["rollout/win_rate_vs_random"]),
        "against greedy, training": smooth(SCALARS["rollout/win_rate_vs_greedy"]),
    }
    assert set(lines) == {*expected, "equal strength"}
    for name, points in expected.items():
        assert_line(lines[name], points, 100)
        assert (lines[name].get_alpha() is None) == ("evaluation" in name)
    colours = {name: line.get_color() for name, line in lines.items()}
    assert colours["against random, evaluation"] == colours["against random, training"]
    assert len(set(colours.values())) == 4  # one for each of three opponents, and for the fair share
    assert lines["equal strength"].get_ydata()[0] == pytest.approx(100 / 3)
    (panel,) = pictures["wins.png"].axes
    assert panel.get_ylabel() == "win rate of the learner, %"
    (filled,) = band(panel)
    assert set(filled) == {
        (2.0, 31.25),
        (2.0, 50.0),
        (60.0, 65.625),
        (60.0, 75.0),
        (119.0, 93.75),
        (119.0, 99.21875),
    }


@needs_matplotlib
def test_page__opponents(page: tuple[Page, Pictures]) -> None:
    found, pictures = page
    section = found.section("Opponent pool")
    assert of_kind(section, "img")[0][0] == "the pool of snapshots"
    assert of_kind(section, "p")[0][0].endswith("Weights of the kinds of opponents: current 0.5, past 2, greedy 1.25.")
    (panel,) = pictures["pool.png"].axes
    met = [(steps, share) for steps, share, games in SNAPSHOTS if games]
    assert_line(panel.containers[0].lines[0], met, 100)
    assert lines_of(pictures["pool.png"])["equal strength"].get_ydata()[0] == pytest.approx(100 / 3)


@needs_matplotlib
def test_page__entropy_features_and_speed(page: tuple[Page, Pictures]) -> None:

    found, pictures = page
    assert of_kind(found.section("Entropy"), "img")[0][0] == "entropy over the run"
    assert_line(lines_of(pictures["entropy.png"])["learner"], SCALARS["rollout/entropy_ratio"])
    assert pictures["entropy.png"].axes[0].get_ylabel() == "entropy / log(legal actions)"
    section = found.section("Action features")
    assert of_kind(section, "img")[0][0] == "weights of features over the run"
    prior = GREEDY.of(SHOWDOWN)
    assert isinstance(prior, HasActionFeatures)
    meanings = prior.features
    rows = [[name, f"{SCALARS[f'features/{name}'][-1][1]:+.2f}", meanings.get(name, "")] for name in FEATURES]
    assert rows[0][2]
    assert of_kind(section, "table") == [(["feature", "final weight", "meaning"], rows, [])]
    lines = lines_of(pictures["features.png"])
    assert list(lines) == list(FEATURES)
    for name in FEATURES:
        assert_line(lines[name], smooth(SCALARS[f"features/{name}"]))
    assert lines["lasting"].get_color() != lines["swing"].get_color()
    assert pictures["features.png"].axes[0].get_ylabel() == "weight"
    section = found.section("Speed")
    speeds = SCALARS["time/rollout_decisions_per_second"]
    middle = sorted(speed for _, speed in speeds)[59:61]
    assert of_kind(section, "p")[0][0].endswith(f"the median is {sum(middle) / 2:,.0f} per second.")
    assert of_kind(section, "img")[0][0] == "speed over the run"
    assert_line(lines_of(pictures["speed.png"])["rollouts"], smooth(speeds), 1e-3)
    assert pictures["speed.png"].axes[0].get_ylabel() == "thousand decisions / s"


@needs_matplotlib
def test_page__where_the_points_go(page: tuple[Page, Pictures]) -> None:
    found, pictures = page
    section = found.section("Where the points go")
    assert section[0][:2] == ("img", "score breakdown")
    assert [heading for (heading,) in of_kind(section, "h3")] == [measure.name for measure in SHEET.measures]
    assert len(of_kind(section, "table")) == len(SHEET.measures)
    for number, (head, rows, foot) in enumerate(of_kind(section, "table")):
        measure = SHEET.measures[number]
        expected = {name: by_hand(ENTRIES[sold], number) for name, sold in SOLD.items()}

        ends = {name: ends_by_hand(ENTRIES[sold], number) for name, sold in SOLD.items()}

        def cell(name: str, place: int, is_share: bool = measure.is_share) -> str:
            (mean, half), (low, high) = expected[name][place], ends[name][place]  # noqa: B023  # called in this round
            return tables.figure(Estimate(mean, half, DEALS, low, high), percent=is_share)

        assert head == ["", *SOLD]
        assert rows == [
            [row, *(cell(name, place) for name in SOLD)]
            for place, row in enumerate(SHEET.rows)
            if not math.isnan(expected["best"][place][0])
        ]
        totals = [f"{sum(mean for mean, _ in figures):.2f}" for figures in expected.values()]
        assert foot == ([["Total", *totals]] if measure.adds_up else [])
    figure = pictures["breakdown.png"]
    assert figure.get_suptitle() == "Showdown Yahtzee, self-play, 5 games, seed 3000017"
    (mark,) = [line for line in figure.axes[0].lines if line.get_label() == "optimal"]
    assert mark.get_xdata() == pytest.approx([mean for mean, _ in by_hand(ENTRIES["exact"], 0)])
    assert [container.get_label() for container in figure.axes[0].containers] == ["best", "greedy"]


@needs_matplotlib
def test_page__shows_nothing_of_what_a_run_does_not_have(
    drawn: Drawn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    game = load_game("yum")

    def evaluate(game: Any, contenders: Any, **settings: Any) -> Any:
        (name,) = contenders
        return [Standing(name, 1, LEVELS[name])]

    monkeypatch.setattr(run_page, "evaluate", evaluate)
    monkeypatch.setattr(run_page, "optimum", lambda game, options: None)
    options = game.make_options(1, {"zeros": "free"})
    scalars = {"rollout/score": np.array([[1000.0, 31.7]])}
    run = run_data.Run(tmp_path / "some", {"game": "yum"}, game, options, scalars, SNAPSHOTS, {})
    run_page.write_report(run, tmp_path, games=2000)
    found = Page((tmp_path / "report.html").read_text())
    assert found.found[1:3] == [
        ("h1", "Yum: some"),
        (
            "p",
            "1 player; high_low either, crossed_high blocks_low, five_alike_full_house False, zeros free. "
            "The learner made 1,000 decisions.",
        ),
    ]
    assert found.found[3] == ("h2", "Result")
    assert [heading for (heading,) in of_kind(found.found, "h2")] == [
        "Result",
        "Where the points go",
        "A game",
        "Points over the run",
        "Settings",
    ]
    assert list(lines_of(drawn[0])) == ["learner, training", "random", "greedy"]
    section = found.section("Result")
    assert of_kind(section, "p")[0][0].endswith(
        "evaluation games when it was saved. Baselines, each in self-play: 2,000 games, seed 3000017."
    )
    assert of_kind(section, "table") == [
        (["policy", "points per game"], [["greedy", "33.71 ± 0.83"], ["random", "17.31 ± 0.59"]], [])
    ]
    ((said,),) = of_kind(found.section("Where the points go"), "p")
    assert said == f"the file {tmp_path / 'some' / 'best.safetensors'} does not exist."
    assert len(drawn) == 1


@needs_matplotlib
def test_page__lets_nothing_of_the_run_become_html(
    run_folder: Path, drawn: Drawn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(path: Path) -> Any:
        raise ValueError("it is <broken> & lost")

    monkeypatch.setattr(run_page, "score_sheet_of", lambda game: SHEET)
    monkeypatch.setattr(run_page, "load_checkpoint", refuse)
    monkeypatch.setattr(run_page, "evaluate", lambda *arguments, **settings: [STANDINGS[0]])
    run = replace(run_data.read_run(run_folder), config=CONFIG | {"opponents": {"<i>": 1}})
    run_page.write_report(run, tmp_path, games=DEALS)
    text = (tmp_path / "report.html").read_text()
    assert Page(text).section("Where the points go") == [("p", "it is <broken> & lost.")]
    assert of_kind(Page(text).section("Opponent pool"), "p")[0][0].endswith("opponents: <i> 1.")
    for raw in ("<script", "<a &", "<broken", "<i> 1"):
        assert raw not in text


# The text of a game


def played(name: str, num_players: int, seed: int, **options: Any) -> Iterator[tuple[Any, Any, int, Any]]:
    """Positions of a game at random: the state, the options, the action that is taken there, the state after it."""
    game = load_game(name)
    batch = Batch(game, 1, num_players=num_players, **options)
    batch.reset(seed)
    while not batch.over[0]:
        action = RandomPolicy().act(batch.view(batch.all_rows))
        before = batch.states[0].copy()
        batch.step(action, batch.all_rows, restart=False)
        yield before, batch.options, int(action[0]), batch.states[0].copy()


def numbers_in(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"-?\d+", text)]


def winners_in(line: str) -> list[int]:
    assert "won by " in line
    names = line.partition("won by ")[2].split(" after a tie")[0].split(" and ")
    assert all(re.fullmatch(r"player_\d", name) for name in names), line
    return [int(name[-1]) for name in names]


def best_of(points: Sequence[int]) -> list[int]:
    return [seat for seat, own in enumerate(points) if own == max(points)]


DICE = "⚀⚁⚂⚃⚄⚅"


def assert_dice(line: str, state: Any, faces: Sequence[str] | None = None) -> None:
    dice = [int(die) for die in state["dice"]]
    told = [f"{DICE[die - 1]} {die}" if faces is None else faces[die - 1] for die in dice]
    left = int(state["throws_left"])
    assert line == f"Dice  {'  '.join(told)}    {left} throw{'' if left == 1 else 's'} left"


def kept(state: Any, action: int, faces: Sequence[str]) -> str:
    names = [faces[int(die) - 1] for slot, die in enumerate(state["dice"]) if (action // 2**slot) % 2]
    return "keep " + (" ".join(names) if names else "none")


YUM_ROWS = [
    *("Ones", "Twos", "Threes", "Fours", "Fives", "Sixes", "of 63", "Low Straight", "High Straight"),
    *("Low", "High", "Full House", "Yum", "Total"),
]


def yum_points(boxes: Any) -> int:
    written = [max(0, int(points)) for points in boxes]
    return sum(written) + (25 if sum(written[:6]) >= 63 else 0)


def assert_yum(text: str, state: Any, seats: int) -> None:
    lines = text.split("\n")
    table = [[line[:14].strip(), *(line[14 + 12 * seat :][:12].strip() for seat in range(seats))] for line in lines]
    assert all(len(line) == 14 + 12 * seats for line in lines[:15])
    boxes = state["boxes"][:seats]
    is_over = bool((boxes >= 0).all())
    mover = -1 if is_over else int(state["player"])
    assert table[0] == ["", *(("▸ " if seat == mover else "") + f"player_{seat}" for seat in range(seats))]
    assert [row[0] for row in table[1:15]] == YUM_ROWS
    box = 0
    for row in table[1:15]:
        for seat in range(seats):
            upper = sum(max(0, int(points)) for points in boxes[seat][:6])
            if row[0] == "of 63":
                assert row[seat + 1] == f"{upper}{' +25' if upper > 62 else ''}"
            elif row[0] == "Total":
                assert row[seat + 1] == str(yum_points(boxes[seat]))
            else:
                points = int(boxes[seat][box])
                assert row[seat + 1] == ("·" if points == -1 else str(points))
        box += row[0] not in ("of 63", "Total")
    (last,) = lines[15:]
    if is_over:
        assert last.startswith("Game over, ")
        assert winners_in(last) == best_of([yum_points(boxes[seat]) for seat in range(seats)])
    else:
        assert_dice(last, state)


@pytest.mark.parametrize("seats", [1, 3])
def test_yum__text_shows_the_state_and_names_say_what_happens(seats: int) -> None:
    game = load_game("yum")
    for state, options, action, after in played("yum", seats, 5 + seats):
        assert_yum(game.render(state, options), state, seats)
        name = game.name_action(state, options, action)
        if action < 31:
            assert name == kept(state, action, "123456")
            continue
        mover = int(state["player"])
        earned = yum_points(after["boxes"][mover]) - yum_points(state["boxes"][mover])
        assert name == f"fill {[row for row in YUM_ROWS if row not in ('of 63', 'Total')][action - 31]}: {earned}"
    assert_yum(game.render(after, options), after, seats)


@pytest.mark.parametrize("mover", [0, 1, 2])
def test_yum__text_and_names_of_the_bonus_from_63_on(mover: int) -> None:
    game = load_game("yum")
    options = game.make_options(3, {})
    state = np.zeros(1, game.rules.STATE)[0]
    state["boxes"][:] = -1
    state["boxes"][:3, :6] = [[2, 8, 9, 12, 25, 6], [3, 6, 12, 8, 10, 24], [4, 4, 12, 20, -1, 24]]  # 62, 63, 64
    state["boxes"][1, 8], state["boxes"][2, 9], state["boxes"][0, 6] = 20, 0, 15
    state["player"], state["throws_left"], state["dice"] = mover, mover, [1, 2, 5, 5, 6]
    assert_yum(game.render(state, options), state, 3)
    assert ("+25" in game.render(state, options)) is True
    for upper, dice, name in (
        (52, [1, 2, 5, 5, 6], "fill Fives: 10"),
        (53, [1, 2, 5, 5, 6], "fill Fives: 10 and the bonus of 25"),
        (54, [1, 2, 5, 5, 6], "fill Fives: 10 and the bonus of 25"),
        (62, [1, 2, 3, 4, 6], "fill Fives: 0"),
        (63, [1, 2, 5, 5, 6], "fill Fives: 10"),
        (64, [1, 2, 5, 5, 6], "fill Fives: 10"),
    ):
        state["boxes"][mover, :6] = [upper - 30, 0, 0, 0, -1, 30]
        state["dice"] = dice
        assert game.name_action(state, options, 31 + 4) == name
    state["boxes"][mover, :6] = [30, 0, 0, 2, 30, -1]
    state["dice"] = [1, 2, 3, 5, 6]
    assert game.name_action(state, options, 31 + 5) == "fill Sixes: 6 and the bonus of 25"
    state["boxes"][mover, 5], state["boxes"][mover, 0] = 30, 1
    assert game.name_action(state, options, 31 + 7) == "fill High Straight: 0"


CHARACTERS = ["Mickey", "Minnie", "Donald", "Daisy", "Goofy"]


def assert_yahtzee_jr(text: str, state: Any, seats: int, is_over: bool) -> None:
    lines = text.split("\n")
    assert lines[0].split() == ["picture", "1", "2", "3", "4", "5"]
    ends = [10, 19, 24, 29, 34, 39, 44]
    for column, word in enumerate(lines[0].split()):
        assert lines[0][ends[column] : ends[column + 1]].strip() == word
    for row, line in enumerate(lines[1:6]):
        assert line[:10].strip() == CHARACTERS[row]
        assert not line[ends[-1] :]
        for column in range(6):
            here = [str(seat) for seat in range(seats) if state["tokens"][seat][row] == column]
            assert line[ends[column] : ends[column + 1]].split() == (here or ["·"])
    points = []
    for seat in range(seats):
        tokens = [int(column) for column in state["tokens"][seat]]
        points.append(sum(column for column in tokens if column > 0))
        left = [name for name, column in zip(CHARACTERS, tokens, strict=True) if column == -1]
        mark = "▸" if seat == state["player"] and not is_over else " "
        assert lines[6 + seat] == f"{mark} player_{seat}: {points[seat]} points, open {', '.join(left) or 'none'}"
    (last,) = lines[6 + seats :]
    if not is_over:
        assert_dice(last, state, [*CHARACTERS, "Clubhouse"])
        return
    assert last.startswith("Game over, ")
    roll_off = int(state["roll_off"])
    assert winners_in(last) == (best_of(points) if roll_off == -1 else [roll_off])
    assert last.endswith(" after a tie, by throwing the most Clubhouses") == (roll_off != -1)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_yahtzee_jr__text_shows_the_state_and_names_say_what_happens(seats: int) -> None:
    game = load_game("yahtzee_jr")
    for seed in range(3):
        for state, options, action, after in played("yahtzee_jr", seats, 40 + seed):
            assert_yahtzee_jr(game.render(state, options), state, seats, False)
            name = game.name_action(state, options, action)
            if action < 31:
                assert name == kept(state, action, [*CHARACTERS, "Clubhouse"])
            else:
                column = int(after["tokens"][state["player"]][action - 31])
                assert name == f"place {CHARACTERS[action - 31]}: {column}"
        assert_yahtzee_jr(game.render(after, options), after, seats, True)


CARDS = [
    *("Ones", "Twos", "Threes", "Fours", "Fives", "Sixes", "Three of a Kind", "Four of a Kind", "Full House"),
    *("Small Straight", "Large Straight", "Chance"),
]
NEEDED = [
    *("three alike", "four alike", "three of one number and two of another"),
    *("four in a row", "five in a row", "a total of 25 or more"),
]
CARD_SPACES = [space for space in range(16) if space % 4]


def place_of(space: int) -> tuple[int, int]:
    """Row and column of a space: clockwise from the upper left corner."""
    if space <= 4:
        return 0, space
    if space <= 8:
        return space - 4, 4
    return (4, 12 - space) if space <= 12 else (16 - space, 0)


def chips_of(state: Any, seat: int) -> int:
    return sum(int(state["chips"][space]) for space in range(16) if state["owner"][space] == seat)


def assert_showdown(text: str, state: Any, options: Any, is_over: bool) -> None:
    seats, player, target = int(options["num_players"]), int(state["player"]), int(state["target"])
    lines = text.split("\n")
    for space in range(16):
        row, column = place_of(space)
        number, card, chips = (lines[3 * row + part][15 * column :][:14].rstrip() for part in range(3))
        assert number.startswith(str(space))
        pawns = "".join(f"<{seat}>" for seat in range(seats) if state["pawns"][seat] == space)
        aimed = "→" if space == target and not is_over else ""
        assert number.split() == [str(space), *([aimed] if aimed else []), *([pawns] if pawns else [])]
        lies = int(state["card"][space])
        if space % 4 == 0:
            assert (card, chips) == ("WILD", "")
        elif lies == -1:
            assert (card, chips) == ("·", "")
        else:
            assert card == CARDS[lies].replace("of a Kind", "of Kind")
            assert chips == f"player_{int(state['owner'][space])}: {int(state['chips'][space])}"
    middle = [line[15:59].rstrip() for line in lines[3:12]]
    is_short = state["turns"] > options["max_turns"]
    last_turns = int(state["last_turns"])
    if is_short:
        head = f"Cut short after {int(options['max_turns'])} turns"
    elif is_over:
        head = "Game over"
    else:
        head = "Showdown" if last_turns else f"Turn {int(state['turns'])}"
    points = [chips_of(state, seat) for seat in range(seats)]
    assert middle[:2] == ["", head]
    told = middle[2:]
    if is_over:
        assert winners_in(told.pop(0)) == best_of(points)
    had = {(player - back) % seats for back in range(last_turns)} if not is_over else set()
    expected = [
        f"{'▸' if seat == player and not is_over else ' '} player_{seat}  {points[seat]} chips"
        + (", last turn" if seat in had else "")
        for seat in range(seats)
    ]
    assert told == expected + [""] * (len(told) - seats)
    unused = [name for card, name in enumerate(CARDS) if card not in state["card"]]
    rest = lines[15:]
    assert rest.pop(0) == f"Unused  {', '.join(unused) or 'none'}"
    if is_over:
        assert not rest
        return
    if target == -1:
        at = int(state["pawns"][player])
        corner = f"chooses a space to play for, from the Wild corner {at}"
        said = corner if at % 4 == 0 else f"may stay on space {at} for more chips, or move on"
    elif state["card"][target] == -1:
        said = f"throws for any unused card on space {target}"
    else:
        card, owner, chips = (int(state[field][target]) for field in ("card", "owner", "chips"))
        least = chips if owner != player and options["steal"] == 0 else chips + 1
        needs = f"{least} dice or more" if card < 6 else NEEDED[card - 6]
        said = f"throws for {CARDS[card]} with {chips} of player_{owner} on space {target}: needs {needs}"
    assert rest.pop(0) == f"player_{player} {said}"
    if target != -1:
        assert_dice(rest.pop(0), state)
    assert not rest


def showdown_action(state: Any, action: int, after: Any) -> str:
    player, target = int(state["player"]), int(state["target"])
    if action < 31:
        return kept(state, action, "123456")
    if action < 43:
        told = f"{CARDS[action - 31]} on space {target}"
        owner, lies = int(state["owner"][target]), int(state["card"][target])
        chips = int(after["chips"][target])
        if lies == -1:
            return f"place {told}: {chips}"
        return f"improve {told}: {chips}" if owner == player else f"steal {told} from player_{owner}: {chips}"
    if action < 55:
        space = CARD_SPACES[action - 43]
        lies = int(state["card"][space])
        there = f"{CARDS[lies]} with {int(state['chips'][space])} of player_{int(state['owner'][space])}"
        return f"target space {space}, {'empty' if lies == -1 else there}"
    at = int(state["pawns"][player])
    return f"stay on space {at}" if action == 55 else f"move on from space {at}"


@pytest.mark.parametrize(("seats", "steal", "max_turns"), [(2, "beat", 400), (3, "match", 61), (4, "beat", 60)])
def test_showdown_yahtzee__text_shows_the_state_and_names_say_what_happens(
    seats: int, steal: str, max_turns: int
) -> None:
    kinds, said = set(), ""
    chips = (3, 5, 4, 7, 6, 2)
    for state, options, action, after in played(
        "showdown_yahtzee", seats, 7, steal=steal, max_turns=max_turns, chips=chips
    ):
        text = SHOWDOWN.render(state, options)
        said += text
        assert_showdown(text, state, options, False)
        name = SHOWDOWN.name_action(state, options, action)
        assert name == showdown_action(state, action, after)
        kinds.add(name.split()[0])
    assert_showdown(SHOWDOWN.render(after, options), after, options, True)
    assert kinds >= {"keep", "place", "steal", "target"}
    assert (f"Cut short after {max_turns}" in SHOWDOWN.render(after, options)) == (max_turns < 400)
    assert ("last turn" in said) == (max_turns == 400)


def test_showdown_yahtzee__text_and_names_of_own_cards_and_illegal_claims() -> None:
    options = SHOWDOWN.make_options(3, {"steal": "match"})
    state = np.zeros(1, SHOWDOWN.rules.STATE)[0]
    state["card"][:], state["owner"][:] = -1, -1
    for space, card, owner, chips in ((5, 3, 1, 2), (7, 4, 0, 4), (14, 8, 2, 3), (2, 11, 1, 2)):
        state["card"][space], state["owner"][space], state["chips"][space] = card, owner, chips
    state["pawns"][:] = [5, 5, 7, 0]
    state["dice"], state["throws_left"], state["turns"] = [2, 4, 4, 4, 5], 1, 13
    for player, target, card, name in (
        (1, 5, 3, "improve Fours on space 5: 3"),
        (0, 5, 3, "steal Fours on space 5 from player_1: 3"),
        (2, 7, 4, "steal Fives on space 7 from player_0: 0"),
        (0, 14, 8, "steal Full House on space 14 from player_2: 0"),
        (2, 10, 6, "place Three of a Kind on space 10: 2"),
    ):
        state["player"], state["target"] = player, target
        assert_showdown(SHOWDOWN.render(state, options), state, options, False)
        assert SHOWDOWN.name_action(state, options, 31 + card) == name
    for player, last_turns in ((0, 1), (1, 1), (1, 2), (0, 2), (2, 3)):
        state["player"], state["last_turns"] = player, last_turns
        assert_showdown(SHOWDOWN.render(state, options), state, options, False)
        assert SHOWDOWN.render(state, options).count("last turn") == last_turns
    state["last_turns"] = 0
    state["player"], state["target"], state["throws_left"] = 1, -1, 3
    state["dice"] = 0
    assert_showdown(SHOWDOWN.render(state, options), state, options, False)
    assert SHOWDOWN.name_action(state, options, 55) == "stay on space 5"
    assert SHOWDOWN.name_action(state, options, 56) == "move on from space 5"
    assert SHOWDOWN.name_action(state, options, 31 + 7) == "claim Four of a Kind"
    assert SHOWDOWN.name_action(state, options, 5) == "keep slots 1 3"


BOARD = "4..2...../........./.1.....3./..***..../.5......./.......9./...6....."  # seven rows of nine
FACES = [f"{number}{colour}{shape}" for colour in "RGP" for shape in "ODS" for number in (1, 2, 3)] + ["WILD"]


def assert_set_cubed(text: str, state: Any, seats: int) -> None:
    rows = BOARD.split("/")
    lines = text.split("\n")
    assert [lines[0][4 + 6 * column :][:6].strip() for column in range(9)] == list("ABCDEFGHI")
    laid = [int(cell) for cell in state["laid"] if cell >= 0]
    on_board = 0
    for row in range(7):
        line = lines[1 + row]
        assert line[:4].strip() == str(row + 1)
        for column in range(9):
            face = int(state["faces"][row + 2, column + 2])
            on_board += face >= 0
            told = FACES[face] + ("~" if state["wild"][row + 2, column + 2] and face < 27 else "")
            if face < 0:
                told = rows[row][column].replace(".", "·")
            elif row * 9 + column in laid:
                told = f"[{told}]"
            assert line[4 + 6 * column :][:6].strip() == told
    in_hands = 0
    for seat in range(seats):
        hand = [
            f"{FACES[int(face)]}#{int(die) + 1}"
            for face, die in zip(state["hand_faces"][seat], state["hand_dice"][seat], strict=True)
            if face >= 0
        ]
        in_hands += len(hand)
        mark = "▸" if seat == state["player"] and state["phase"] != 3 else " "
        told = f"{mark} player_{seat}: {int(state['scores'][seat])} points, {'  '.join(hand) or 'no dice'}"
        assert lines[8 + seat] == told
    (last,) = lines[8 + seats :]
    bag, _, said = last.partition("; ")
    assert bag == f"{42 - in_hands - on_board} dice in the bag"
    points = [int(own) for own in state["scores"][:seats]]
    newest = divmod(laid[-1], 9) if laid else (0, 0)
    waiting = int(state["waiting"])
    if state["phase"] == 3:
        assert winners_in(said) == best_of(points)
        assert said.startswith("game over, ")
    elif state["phase"] == 2:
        assert said == "EXTRA roll"
    elif laid and state["faces"][newest[0] + 2, newest[1] + 2] == 27:
        assert said == "a WILD to declare"
    elif state["phase"] == 0:
        assert said == "a SET for the logo"
    elif waiting >= 0:
        assert said == f"now complete the SET with {'ABCDEFGHI'[waiting % 9]}{waiting // 9 + 1}"
    else:
        assert said == (f"{len(laid)} of 3 dice laid" if laid else "swap, lay or end the turn")


def assert_set_cubed_name(name: str, state: Any, action: int, after: Any) -> None:
    player = int(state["player"])
    faces, dice = state["hand_faces"][player], state["hand_dice"][player]

    def die(slot: int) -> str:
        return f"slot {slot + 1}" if faces[slot] < 0 else f"{FACES[int(faces[slot])]}#{int(dice[slot]) + 1}"

    earned = int(after["scores"][player]) - int(state["scores"][player])
    if action < 5 * 63:
        slot, cell = divmod(action, 63)
        row, column = divmod(cell, 9)
        at = f"{die(slot)} on {'ABCDEFGHI'[column]}{row + 1}"
        is_free = state["faces"][row + 2, column + 2] == -1
        assert name == (f"lay {at}: {earned}" if is_free else f"swap {at}")
    elif action < 5 * 63 + 27:
        assert name == f"declare {FACES[action - 5 * 63]}: {earned}"
    elif action < 5 * 63 + 27 + 32:
        keep = action - 5 * 63 - 27
        assert name == "keep " + (" ".join(die(slot) for slot in range(5) if keep >> slot & 1) or "none")
    else:
        assert name == "end the turn"


@pytest.mark.parametrize(("seats", "seed"), [(2, 3), (3, 4), (4, 6)])
def test_set_cubed__text_shows_the_state_and_names_say_what_happens(seats: int, seed: int) -> None:
    game = load_game("set_cubed")
    kinds, lasts = set(), set()
    for state, options, action, after in played("set_cubed", seats, seed, board=BOARD):
        text = game.render(state, options)
        assert_set_cubed(text, state, seats)
        name = game.name_action(state, options, action)
        assert_set_cubed_name(name, state, action, after)
        kinds.add(name.split()[0])
        lasts.add(text.split("; ")[-1].split()[0])
    assert_set_cubed(game.render(after, options), after, seats)
    assert kinds >= {"lay", "declare", "keep", "end"}
    assert lasts >= {"a", "EXTRA", "swap,"}


def test_set_cubed__names_of_actions_that_are_illegal() -> None:
    game = load_game("set_cubed")
    options = game.make_options(2, {"board": BOARD})
    state = np.zeros(1, game.rules.STATE)[0]
    for field in ("faces", "dice", "hand_dice", "hand_faces", "laid", "waiting"):
        state[field] = -1
    state["player"], state["phase"] = 1, 1
    state["hand_faces"][1, :2], state["hand_dice"][1, :2] = [4, 17], [30, 8]
    assert game.name_action(state, options, 63 + 25) == "lay 3GS#9 on H3: 3"
    assert game.name_action(state, options, 2 * 63) == "lay slot 3 on A1: 4"
    assert game.name_action(state, options, 5 * 63 + 13) == "declare 2GD"
    assert game.name_action(state, options, 5 * 63) == "declare 1RO"
    state["laid"][0], state["faces"][3, 4], state["dice"][3, 4], state["wild"][3, 4] = 9 + 2, 27, 40, 1
    assert game.name_action(state, options, 63 + 25) == "lay 3GS#9 on H3"  # what it would score depends on the WILD
    assert_set_cubed(game.render(state, options), state, 2)


STATIC = {
    "yum": lambda: [f"fill {row}" for row in YUM_ROWS if row not in ("of 63", "Total")],
    "yahtzee_jr": lambda: [f"place {name}" for name in CHARACTERS],
    "showdown_yahtzee": lambda: [
        *(f"claim {card}" for card in CARDS),
        *(f"target space {space}" for space in CARD_SPACES),
        "stay",
        "move on",
    ],
}


@pytest.mark.parametrize("name", GAMES)
def test_action_names__are_those_of_each_action(name: str) -> None:
    game = load_game(name)

    def keeps(count: int) -> list[str]:
        slots = [[str(slot + 1) for slot in range(5) if keep >> slot & 1] for keep in range(count)]
        return [
            f"keep {'slot ' if len(some) == 1 else 'slots '}{' '.join(some)}" if some else "keep none" for some in slots
        ]

    if name == "set_cubed":
        cells = [f"{'ABCDEFGHI'[cell % 9]}{cell // 9 + 1}" for cell in range(63)]
        expected = [f"lay slot {slot + 1} on {cell}" for slot in range(5) for cell in cells]
        expected += [*(f"declare {face}" for face in FACES[:27]), *keeps(32), "end the turn"]
        options = game.make_options(2, {"board": BOARD})
    else:
        assert name in STATIC, f"the names of the actions of {name} lack a case here"
        expected, options = [*keeps(31), *STATIC[name]()], game.make_options()
    assert list(game.action_names(options)) == expected


# Benchmarks


@pytest.fixture(scope="module")
def measure() -> Any:
    spec = importlib.util.spec_from_file_location("measure_of_benchmarks", ROOT / "benchmarks" / "measure.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_benchmarks__table_shows_each_claim_and_whether_it_is_met(measure: Any) -> None:
    spread = measure.spread([4.37, 1.13, 9.71])
    assert spread == (4.37, 1.13, 9.71)
    assert measure.spread([4.37, 1.13, 9.71, 5.11]).median == pytest.approx(4.74)
    assert measure.ratios([3.0, 8.0, 15.0], [1.5, 10.0, 3.0]) == (2.0, 0.8, 5.0)
    claims = [
        measure.Claim("speed", "ours 7", "peer 3", spread, "x", bar)
        if not at_most
        else measure.Claim("time", "ours 5", "peer 2", spread, " s", bar, at_most=True)
        for bar, at_most in ((4.37, False), (4.38, False), (4.37, True), (4.36, True), (None, False))
    ]
    assert [claim.met for claim in claims] == [True, False, True, False, True]
    assert claims[1].miss() == "speed: 4.37x is less than 4.38x"
    assert claims[3].miss() == "time: 4.37 s is more than 4.36 s"
    rows = rows_of(measure.table(claims))
    assert [list(row.values())[:3] for row in rows] == [[claim.measure, claim.ours, claim.peer] for claim in claims]
    assert [row["result"] for row in rows] == [
        f"[{colour}]4.37 (1.13\N{EN DASH}9.71){unit}[/{colour}]"
        for colour, unit in (("green", "x"), ("red", "x"), ("green", " s"), ("red", " s"), ("green", "x"))
    ]
    assert [row["must reach"] for row in rows] == ["≥ 4.37x", "≥ 4.38x", "≤ 4.37 s", "≤ 4.36 s", ""]
    assert list(rows[0]) == ["measure", "ours", "against", "result", "must reach"]


def test_benchmarks__repetitions_alternate_and_rates_are_a_second(
    measure: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def contender(number: int) -> Callable[[], float]:
        def measured() -> float:
            calls.append(number)
            return 10.0 * number + len(calls)

        return measured

    assert measure.alternate(3, contender(1), contender(2)) == [[11.0, 13.0, 15.0], [22.0, 24.0, 26.0]]
    assert calls == [1, 2, 1, 2, 1, 2]
    clock = iter([100.0, 100.0, 102.0, 104.0])
    monkeypatch.setattr(measure.time, "perf_counter", lambda: next(clock))
    assert measure.rate(lambda: 14, 3.0) == 7.0  # two times 14 in four seconds
