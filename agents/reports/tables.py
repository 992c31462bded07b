"""Figures for people: tables and progress in the terminal, and pictures."""

import importlib.util
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.columns import Columns
from rich.console import Console, Group
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table as RichTable
from rich.text import Text

from fivedice.agents.evaluation.breakdown import Measure, ScoreBreakdown, ScoreSheet
from fivedice.agents.evaluation.match import Estimate, Standing

if TYPE_CHECKING:
    from fivedice.agents.games.yahtzee_jr.exploit import Exploitability

NAME, NUMBER = 9, 7  # characters that a contender's name and a figure have at least in a narrow terminal
NARROW = 0.1  # points: how narrow an interval the tables say the cost of
PICTURES = (".png", ".svg", ".pdf")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # told apart by all eyes (Okabe and Ito)


def figure(estimate: Estimate, *, percent: bool = False) -> str:
    """A mean with its 95 % interval, as ``145.20 ± 0.81`` or ``62.1 ± 1.5 %``."""
    if percent:
        return f"{100 * estimate.mean:z.1f} ± {100 * estimate.half_width:.1f} %"
    half_width = "?" if math.isnan(estimate.half_width) else f"{estimate.half_width:.2f}"
    return f"{estimate.mean:.2f} ± {half_width}"


def games_for(standing: Standing, estimate: Estimate) -> str:
    """How many games of each pairing make an interval of an estimate this narrow, to two digits."""
    needed = standing.games / estimate.count * estimate.count_for(NARROW)
    if math.isnan(needed):
        return "?"
    return f"{max(1, round(needed, 1 - math.floor(math.log10(max(needed, 1))))):,.0f}"


def points_table(standings: Sequence[Standing], *, title: str, optimum: float | None) -> Group:
    """Each contender's points, with the luck of the dice and without it where that is known."""
    is_adjusted = any(standing.adjusted_points is not None for standing in standings)
    notes = ["± is the 95 % interval" + ("" if optimum is None else f"; the exact optimum is {optimum:.4f} points")]
    table = plain_table()
    table.add_column("contender", overflow="fold", min_width=NAME)
    table.add_column("points a game", justify="right", overflow="fold", min_width=NUMBER)
    if is_adjusted:
        table.add_column("adjusted", justify="right", overflow="fold", min_width=NUMBER)
        notes.append("adjusted: without the luck of the dice, by exact values; estimates the same mean")
        notes.append(f"games for ± {NARROW}: what each takes to be that narrow, in games of each pairing")
    if optimum is not None:
        table.add_column("of optimum", justify="right")
    if is_adjusted:
        for kind in ("games", "adjusted"):
            table.add_column(f"{kind}\nfor ± {NARROW}", justify="right", overflow="fold", min_width=NUMBER)
    for standing in standings:
        told = [standing.points]
        if standing.adjusted_points is not None:
            told.append(standing.adjusted_points)
        row = [standing.name, *(figure(estimate) for estimate in told)]
        if optimum is not None:
            row.append(f"{100 * told[-1].mean / optimum:.1f} %")
        if is_adjusted:
            row += [games_for(standing, estimate) for estimate in told]
        table.add_row(*row)
    return Group(Text(title), table, *map(Text, notes))


def wins_table(standings: Sequence[Standing], *, num_players: int) -> Group:
    """Each contender's share of the wins against each other one, raw and without luck where that is known."""
    title = "Share of the wins"
    if num_players > 2:
        title += f", one against {num_players - 1} of the other: a fair share is {100 / num_players:.1f} %"
    is_adjusted = any(standing.adjusted_wins for standing in standings)
    table = plain_table()
    for heading in ("contender", "against"):
        table.add_column(heading, overflow="fold", min_width=NAME)
    for heading in ("wins", "adjusted") if is_adjusted else ("wins",):
        table.add_column(heading, justify="right", overflow="fold", min_width=NUMBER)
    for standing in standings:
        for place, rival in enumerate(standing.wins):
            told = [wins[rival] for wins in (standing.wins, standing.adjusted_wins) if rival in wins]
            name = standing.name if place == 0 else ""
            table.add_row(name, rival, *(figure(estimate, percent=True) for estimate in told))
    return Group(Text(title), table)


def standings_report(standings: Sequence[Standing], *, title: str, num_players: int, optimum: float | None) -> Group:
    """The tables of an evaluation."""
    points = points_table(standings, title=title, optimum=optimum)
    if not any(standing.wins for standing in standings):
        return points
    return Group(points, "", wins_table(standings, num_players=num_players))


def breakdown_report(sheet: ScoreSheet, breakdowns: Mapping[str, ScoreBreakdown]) -> Columns:
    """A table for each measure, side by side if there is room: a row for each row of the sheet, the contenders beside
    each other."""
    return Columns([_measure_table(sheet, measure, breakdowns) for measure in sheet.measures], padding=(0, 2))


def _measure_table(sheet: ScoreSheet, measure: Measure, breakdowns: Mapping[str, ScoreBreakdown]) -> RichTable:
    columns = [breakdown.estimates(measure) for breakdown in breakdowns.values()]
    widest = max(estimate.half_width for column in columns for estimate in column if not math.isnan(estimate.mean))
    table = plain_table(measure.name, f"± {_cell(measure, widest)} at most")
    table.add_column("")
    for name in breakdowns:
        table.add_column(name, justify="right", overflow="fold", min_width=len("100.0 %"))
    for row, estimates in zip(sheet.rows, zip(*columns, strict=True), strict=True):
        if not all(math.isnan(estimate.mean) for estimate in estimates):  # a row that has this figure
            table.add_row(row, *(_cell(measure, estimate.mean) for estimate in estimates))
    if measure.adds_up:
        table.add_section()
        table.add_row("Total", *(_cell(measure, sum(estimate.mean for estimate in column)) for column in columns))
    return table


def _cell(measure: Measure, value: float) -> str:
    if math.isnan(value):
        return ""
    return f"{100 * value:.1f} %" if measure.is_share else f"{value:.2f}"


def exploitability_table(name: str, found: "Exploitability", *, as_it_is: bool, title: str) -> RichTable:
    """What a policy wins from either seat, and what two perfect players do.

    Args:
        as_it_is: whether the figures are those of the policy itself, or of it with similar boards shown to it as one.
    """
    exact = "exact" if as_it_is else f"exact for {name} with similar boards shown to it as one"
    caption = (
        f"{exact}; a drawn game counts half\n"
        f"{found.num_boards:,} boards before a turn, {found.num_decisions:,} decisions"
    )
    table = plain_table(title, caption)
    for heading in ("wins", "moving first", "second", "mean"):
        table.add_column(heading, justify="left" if heading == "wins" else "right", no_wrap=True)
    for who, wins in (
        ("perfect play against itself", found.perfect),
        (f"{name} against perfect play", found.against_equilibrium),
        (f"{name} against its best response", found.against_best_response),
    ):
        table.add_row(who, *(f"{100 * share:.2f} %" for share in (*wins, wins.mean())))
    return table


def plain_table(title: str | None = None, caption: str | None = None) -> RichTable:
    """An empty table in the style of all tables here."""
    return RichTable(
        title=title,
        title_justify="left",
        caption=caption,
        caption_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )


def check_picture(file: Path) -> None:
    """Refuse a picture that could not be drawn, before anything is played for it."""
    if file.suffix not in PICTURES:
        raise ValueError(
            f"{file} is no kind of picture that can be drawn; use a name that ends in {', '.join(PICTURES)}"
        )
    if not file.absolute().parent.is_dir():
        raise ValueError(f"there is no folder {file.absolute().parent} to draw {file.name} in")
    if importlib.util.find_spec("matplotlib") is None:
        raise ValueError("drawing needs matplotlib: pip install 'fivedice[plot]'")


def draw_breakdown(
    sheet: ScoreSheet,
    breakdowns: Mapping[str, ScoreBreakdown],
    file: Path,
    *,
    title: str,
    yardstick: str | None,
    kind: str | None = None,
) -> None:
    """Draw each measure of all rows as a panel of dots, one for each contender in each row, with 95 % intervals.

    Args:
        sheet, breakdowns: what is drawn.
        file: where to.
        title: above the panels.
        yardstick: the contender that is drawn as a line for the others to be compared with.
        kind: of picture, as png; what the file's name ends in, if None.
    """
    from matplotlib.figure import Figure

    measures = [measure for measure in sheet.measures if measure.only_row is None]
    picture = Figure(figsize=(3.4 * len(measures) + 1.2, 0.36 * len(sheet.rows) + 1.6), layout="constrained")
    panels = picture.subplots(1, len(measures), sharey=True, squeeze=False)[0]
    dots = [name for name in breakdowns if name != yardstick]
    for panel, measure in zip(panels, measures, strict=True):
        for row in range(0, len(sheet.rows), 2):
            panel.axhspan(row - 0.5, row + 0.5, color="0.95", zorder=0)
        for number, (name, breakdown) in enumerate(breakdowns.items()):
            estimates = breakdown.estimates(measure)
            scale = 100 if measure.is_share else 1
            means = [scale * estimate.mean for estimate in estimates]
            if name == yardstick:
                bars = {"marker": "|", "markersize": 17, "markeredgewidth": 2, "color": "black", "linestyle": ""}
                panel.plot(means, range(len(means)), label=name, zorder=2, **bars)
                continue
            place = dots.index(name)
            shift = 0.5 * ((place + 0.5) / len(dots) - 0.5)  # dots of one row stand below each other
            panel.errorbar(
                means,
                [row + shift for row in range(len(means))],
                xerr=[scale * estimate.half_width for estimate in estimates],
                fmt="o",
                markersize=5,
                linewidth=1.2,
                color=COLOURS[number % len(COLOURS)],
                label=name,
                zorder=3,
            )
        panel.set_title(f"{measure.name}, %" if measure.is_share else measure.name, fontsize=11)
        panel.set_ylim(len(sheet.rows) - 0.5, -0.5)
        panel.grid(axis="x", color="0.85", linewidth=0.7)
        panel.set_axisbelow(True)
        panel.tick_params(length=0)
        for side in panel.spines.values():
            side.set_visible(False)
    panels[0].set_yticks(range(len(sheet.rows)), sheet.rows)
    picture.suptitle(title, fontsize=12)
    handles, names = panels[0].get_legend_handles_labels()
    picture.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
    picture.savefig(file, dpi=150, format=kind)


@contextmanager
def progress_bar(console: Console, what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar that is told how many more are done; nothing at all where the output is not a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=total)
        yield lambda count: progress.advance(task, count)
