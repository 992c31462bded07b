"""Tables and progress bars in the terminal, and plots of score breakdowns."""

import importlib.util
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.columns import Columns
from rich.console import Console, Group
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table as RichTable
from rich.text import Text

from fivedice.agents.evaluation.breakdown import Measure, ScoreBreakdown, ScoreSheet
from fivedice.agents.evaluation.estimate import Estimate
from fivedice.agents.evaluation.match import Standing
from fivedice.agents.policies.files import check_writable, write_whole

if TYPE_CHECKING:
    from fivedice.agents.games.yahtzee_jr.exploit import Exploitability

NAME, NUMBER = 9, 7  # the least widths, in characters, of the columns for names and for numbers
ENDS_NOTE = "62.1 (50.3 to 72.6) %: a mean and the ends of its 95 % interval, which is not symmetric"
NARROW = 0.1  # points; the tables show how many games an interval of this half width needs
PICTURES = (".png", ".svg", ".pdf")
# Okabe and Ito's palette, which colour-blind readers can distinguish
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def figure(estimate: Estimate, *, percent: bool = False) -> str:
    """A mean with its 95 % interval, as ``145.20 ± 0.81``, ``62.1 ± 1.5 %`` or ``98.0 (90.2 to 99.6) %``.

    A share has the last form if its interval is visibly not symmetric.
    """
    if percent:
        if estimate.is_symmetric:
            return f"{100 * estimate.mean:z.1f} ± {100 * estimate.half_width:.1f} %"
        return f"{100 * estimate.mean:z.1f} ({100 * estimate.low:z.1f} to {100 * estimate.high:z.1f}) %"
    half_width = "?" if math.isnan(estimate.half_width) else f"{estimate.half_width:.2f}"
    return f"{estimate.mean:.2f} ± {half_width}"


def error_bars(estimates: Sequence[Estimate], scale: float = 1.0) -> NDArray[np.float64]:
    """The distances from each mean to the ends of its interval, float64 (2, N), for matplotlib."""
    ends = [(estimate.mean - estimate.low, estimate.high - estimate.mean) for estimate in estimates]
    distances: NDArray[np.float64] = scale * np.maximum(np.array(ends, np.float64).T, 0.0)  # rounding
    return distances


def games_for(standing: Standing, estimate: Estimate) -> str:
    """The number of games per pairing that an interval of ± `NARROW` needs, rounded to two digits."""
    needed = standing.games / estimate.count * estimate.count_for(NARROW)
    if math.isnan(needed):
        return "?"
    return f"{max(1, round(needed, 1 - math.floor(math.log10(max(needed, 1))))):,.0f}"


def points_table(standings: Sequence[Standing], *, title: str, optimum: float | None) -> Group:
    """A table of each contender's points per game, with luck-adjusted points if they are known."""
    is_adjusted = any(standing.adjusted_points is not None for standing in standings)
    notes = ["±: 95 % interval" + ("" if optimum is None else f"; the exact optimum is {optimum:.4f} points")]
    table = plain_table()
    table.add_column("contender", overflow="fold", min_width=NAME)
    table.add_column("points per game", justify="right", overflow="fold", min_width=NUMBER)
    if is_adjusted:
        table.add_column("adjusted", justify="right", overflow="fold", min_width=NUMBER)
        notes.append("adjusted: luck-adjusted points; the same mean with less variance, computed from exact values")
        notes.append(f"games for ± {NARROW}: games needed per pairing for a 95 % interval of ± {NARROW}")
    if optimum is not None:
        table.add_column("of optimum", justify="right")
    if is_adjusted:
        for kind in ("games", "adjusted"):
            table.add_column(f"{kind}\nfor ± {NARROW}", justify="right", overflow="fold", min_width=NUMBER)
    if any(math.isnan(standing.points.half_width) for standing in standings):
        notes.append("?: one dice seed gives no interval; play more games")
    for standing in standings:
        estimates = [standing.points]
        if standing.adjusted_points is not None:
            estimates.append(standing.adjusted_points)
        row = [standing.name, *(figure(estimate) for estimate in estimates)]
        if optimum is not None:
            row.append(f"{100 * estimates[-1].mean / optimum:.1f} %")
        if is_adjusted:
            row += [games_for(standing, estimate) for estimate in estimates]
        table.add_row(*row)
    return Group(Text(title), table, *map(Text, notes))


def wins_table(standings: Sequence[Standing], *, num_players: int) -> Group:
    """A table of each contender's win rate against each other contender, with luck-adjusted rates if they are known."""
    title = "Win rate"
    if num_players > 2:
        title += f" of one player against {num_players - 1} of the other kind; equals win {100 / num_players:.1f} %"
    is_adjusted = any(standing.adjusted_wins for standing in standings)
    table = plain_table()
    for heading in ("contender", "against"):
        table.add_column(heading, overflow="fold", min_width=NAME)
    for heading in ("win rate", "adjusted") if is_adjusted else ("win rate",):
        table.add_column(heading, justify="right", overflow="fold", min_width=NUMBER)
    for standing in standings:
        for place, rival in enumerate(standing.wins):
            rates = [wins[rival] for wins in (standing.wins, standing.adjusted_wins) if rival in wins]
            name = standing.name if place == 0 else ""
            table.add_row(name, rival, *(figure(estimate, percent=True) for estimate in rates))
    shares = [share for standing in standings for share in (*standing.wins.values(), *standing.adjusted_wins.values())]
    return Group(Text(title), table, *([] if all(share.is_symmetric for share in shares) else [Text(ENDS_NOTE)]))


def standings_report(standings: Sequence[Standing], *, title: str, num_players: int, optimum: float | None) -> Group:
    """All tables of an evaluation."""
    points = points_table(standings, title=title, optimum=optimum)
    if not any(standing.wins for standing in standings):
        return points
    return Group(points, "", wins_table(standings, num_players=num_players))


def breakdown_report(sheet: ScoreSheet, breakdowns: Mapping[str, ScoreBreakdown]) -> Columns:
    """One table for each measure, side by side if the terminal is wide enough.

    A table has one row for each row of the score sheet, and one column for each contender.
    """
    return Columns([_measure_table(sheet, measure, breakdowns) for measure in sheet.measures], padding=(0, 2))


def _measure_table(sheet: ScoreSheet, measure: Measure, breakdowns: Mapping[str, ScoreBreakdown]) -> RichTable:
    columns = [breakdown.estimates(measure) for breakdown in breakdowns.values()]
    widest = max(estimate.half_width for column in columns for estimate in column if not math.isnan(estimate.mean))
    table = plain_table(measure.name, f"± {_cell(measure, widest)} or less (95 %)")
    table.add_column("")
    for name in breakdowns:
        table.add_column(name, justify="right", overflow="fold", min_width=len("100.0 %"))
    for row, estimates in zip(sheet.rows, zip(*columns, strict=True), strict=True):
        if not all(math.isnan(estimate.mean) for estimate in estimates):  # the row has this measure
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
    """A table of a policy's exact win rates against optimal play and against its best response, from either seat.

    Args:
        name: the name of the policy.
        found: the win rates.
        as_it_is: whether they are those of the policy itself. If False, the policy saw one board of each group of
            similar boards in place of all of them.
        title: the title of the table.
    """
    exact = "exact" if as_it_is else f"exact, if {name} is shown similar boards as the same board"
    caption = (
        f"{exact}; a draw counts as half a win\n"
        f"computed from {found.num_boards:,} boards at the start of a turn and {found.num_decisions:,} decisions"
    )
    table = plain_table(title, caption)
    for heading in ("win rate of", "moving first", "moving second", "mean"):
        table.add_column(heading, justify="left" if heading == "win rate of" else "right", no_wrap=True)
    for who, wins in (
        ("optimal play against itself", found.perfect),
        (f"{name} against optimal play", found.against_equilibrium),
        (f"{name} against its best response", found.against_best_response),
    ):
        table.add_row(who, *(f"{100 * share:.2f} %" for share in (*wins, wins.mean())))
    return table


def plain_table(title: str | None = None, caption: str | None = None) -> RichTable:
    """An empty table in the common style."""
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
    """Check that a plot can be drawn, before any game is played for it.

    Raises:
        ValueError: the format is unknown, the folder does not exist or is not writable, or matplotlib is missing.
    """
    if file.suffix not in PICTURES:
        raise ValueError(f"{file} has an unknown picture format; use a name that ends in {', '.join(PICTURES)}")
    if not file.absolute().parent.is_dir():
        raise ValueError(f"the folder {file.absolute().parent} for {file.name} does not exist; create it first")
    try:
        check_writable(file)
    except (OSError, ValueError):
        raise ValueError(f"{file} cannot be written; choose another place") from None
    if importlib.util.find_spec("matplotlib") is None:
        raise ValueError("plots need matplotlib: pip install 'fivedice[plot]'")


def draw_breakdown(
    sheet: ScoreSheet,
    breakdowns: Mapping[str, ScoreBreakdown],
    file: Path,
    *,
    title: str,
    yardstick: str | None,
    kind: str | None = None,
) -> None:
    """Draw score breakdowns: one panel for each measure, one dot for each contender in each row, with 95 % intervals.

    Args:
        sheet: the score sheet of the game.
        breakdowns: the score breakdowns by the names of the contenders.
        file: the file of the picture.
        title: the title above the panels.
        yardstick: the name of a contender that is drawn as a vertical line, for comparison; or None.
        kind: the format, for example ``"png"``; None for the format that the file's name ends in.
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
            shift = 0.5 * ((place + 0.5) / len(dots) - 0.5)  # the dots of one row are drawn one below the other
            panel.errorbar(
                means,
                [row + shift for row in range(len(means))],
                xerr=error_bars(estimates, scale),
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
    write_whole(file, lambda temporary: picture.savefig(temporary, dpi=150, format=kind or file.suffix[1:]))


@contextmanager
def progress_bar(console: Console, what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar: a function that is called with the number of new steps. It shows nothing without a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=total)
        yield lambda count: progress.advance(task, count)
