"""Figures for people: tables and progress in the terminal."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table as RichTable

from fivedice.agents.arena import Estimate, Standing


def figure(estimate: Estimate, *, percent: bool = False) -> str:
    """A mean with its 95 % interval, as ``145.20 ± 0.81`` or ``62.1 ± 1.5 %``."""
    if percent:
        return f"{100 * estimate.mean:.1f} ± {100 * estimate.half_width:.1f} %"
    return f"{estimate.mean:.2f} ± {estimate.half_width:.2f}"


def standings_table(standings: Sequence[Standing], *, title: str, optimum: float | None) -> RichTable:
    """Each contender's points and its share of the wins against each other one."""
    caption = "± is the 95 % interval"
    if optimum is not None:
        caption += f"; the exact optimum is {optimum:.4f} points"
    table = RichTable(title=title, title_justify="left", caption=caption, caption_justify="left")
    table.add_column("contender")
    table.add_column("points a game", justify="right")
    if optimum is not None:
        table.add_column("of the optimum", justify="right")
    rivals = [standing.name for standing in standings] if any(standing.wins for standing in standings) else []
    for rival in rivals:
        table.add_column(f"wins vs {rival}", justify="right")
    for standing in standings:
        row = [standing.name, figure(standing.points)]
        if optimum is not None:
            row.append(f"{100 * standing.points.mean / optimum:.1f} %")
        row += [figure(standing.wins[rival], percent=True) if rival in standing.wins else "" for rival in rivals]
        table.add_row(*row)
    return table


@contextmanager
def progress_bar(console: Console, what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar that is told how many more are done; nothing at all where the output is not a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=total)
        yield lambda count: progress.advance(task, count)
