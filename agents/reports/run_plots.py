"""The plots of a training run: quantities over the learner's decisions, and the opponent pool."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.evaluation.estimate import Estimate, wilson
from fivedice.agents.policies.files import write_whole
from fivedice.agents.reports.tables import COLOURS

LEVELS = ("0.45", "0.2", "black", "0.6")
STYLES = (":", "--", "-", "-.")


@dataclass(frozen=True)
class Line:
    """A line over the steps of a run.

    Args:
        name: its name in the legend.
        points: float64 (K, 2), steps and values.
        colour: the index of its colour. Lines of one opponent share a colour.
        ends: float64 (2, K), the lower and the upper ends of the 95 % intervals, NaN where unknown; or None.
        faint: whether the line is thin and behind the others.
    """

    name: str
    points: NDArray[np.float64]
    colour: int
    ends: NDArray[np.float64] | None = None
    faint: bool = False


def draw_lines(
    lines: Sequence[Line],
    levels: Mapping[str, Estimate],
    path: Path,
    *,
    y: str,
    height: float = 4.2,
    most: float = float("inf"),
) -> None:
    """Draw lines with their 95 % intervals, and horizontal levels for comparison, as a PNG.

    Args:
        lines: the lines.
        levels: the levels by name.
        path: the file of the picture.
        y: the label of the y axis.
        height: the height of the picture in inches.
        most: the greatest possible value, for example 100 for percentages. Intervals are cut at 0 and at this value.
            Without it, they are not cut.
    """
    write_whole(path, partial(_draw_lines, lines, levels, y, height, most))


def decisions_unit(steps: NDArray[np.float64]) -> tuple[float, str]:
    """The unit of the axis of decisions: its size and its name. It keeps the numbers on the axis short."""
    return (1e3, "thousand decisions") if steps.max(initial=0) < 2e5 else (1e6, "million decisions")


def _draw_lines(
    lines: Sequence[Line], levels: Mapping[str, Estimate], y: str, height: float, most: float, path: Path
) -> None:
    from matplotlib.figure import Figure

    picture = Figure(figsize=(9.0, height), layout="constrained")
    panel = picture.subplots()
    unit, counted = decisions_unit(np.concatenate([line.points[:, 0] for line in lines]))
    least = -np.inf if most == np.inf else 0.0
    for line in lines:
        steps, values = line.points[:, 0] / unit, line.points[:, 1]
        colour = COLOURS[line.colour % len(COLOURS)]
        if line.faint:
            panel.plot(steps, values, color=colour, linewidth=0.9, alpha=0.6, label=line.name, zorder=2)
            continue
        marker = "o" if len(steps) < 60 else None
        panel.plot(steps, values, color=colour, linewidth=1.8, marker=marker, markersize=4, label=line.name, zorder=4)
        if line.ends is not None:
            low, high = np.maximum(line.ends[0], least), np.minimum(line.ends[1], most)
            panel.fill_between(steps, low, high, color=colour, alpha=0.22, linewidth=0, zorder=3)
    for number, (name, level) in enumerate(levels.items()):
        grey = LEVELS[number % len(LEVELS)]
        panel.axhline(
            level.mean, color=grey, linestyle=STYLES[number % len(STYLES)], linewidth=1.3, label=name, zorder=1
        )
        if level.half_width:
            panel.axhspan(level.low, level.high, color=grey, alpha=0.15, linewidth=0, zorder=0)
    panel.margins(y=0.06)
    panel.set_xlabel(f"{counted} of the learner")
    panel.set_ylabel(y)
    panel.grid(color="0.9", linewidth=0.7)
    panel.set_axisbelow(True)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
    if len(lines) + len(levels) > 1:
        picture.legend(loc="outside right upper", frameon=False, fontsize=9)
    picture.savefig(path, dpi=130, format="png")


def draw_pool(snapshots: Sequence[tuple[int, float, float]], path: Path, *, fair: float) -> None:
    """Draw the learner's win rate against each snapshot, over the steps when the snapshot was taken, as a PNG.

    Args:
        snapshots: for each snapshot its steps, the win rate (NaN if they have not met) and the number of games.
        path: the file of the picture.
        fair: the win rate of equal players.
    """
    write_whole(path, partial(_draw_pool, snapshots, fair))


def _draw_pool(snapshots: Sequence[tuple[int, float, float]], fair: float, path: Path) -> None:
    from matplotlib.figure import Figure

    steps, shares, games = np.array(snapshots, np.float64).T
    picture = Figure(figsize=(9.0, 2.8), layout="constrained")
    panel = picture.subplots()
    unit, counted = decisions_unit(steps)
    panel.set_xlabel(f"{counted} of the learner when the snapshot was taken")
    room = max(0.05 * steps.max(), 1.0) / unit
    panel.set_xlim(steps.min() / unit - room, steps.max() / unit + room)
    met = games > 0
    if met.any():
        ends = np.array(
            [wilson(share, count) for share, count in zip(shares[met].clip(0, 1), games[met], strict=True)]
        ).T
        panel.errorbar(
            steps[met] / unit,
            100 * shares[met],
            yerr=100 * np.abs(ends - shares[met]),
            fmt="o",
            color=COLOURS[0],
            markersize=5,
            capsize=3,
            linewidth=1.3,
            label="win rate",
            zorder=3,
        )
        panel.axhline(100 * fair, color="0.2", linestyle="--", linewidth=1.2, label="equal strength", zorder=1)
        panel.set_ylabel("win rate of the learner, %")
        picture.legend(loc="outside right upper", frameon=False, fontsize=9)
    else:
        panel.vlines(steps / unit, 0, 1, color=COLOURS[0], linewidth=2)
        panel.set_yticks([])
        panel.set_ylim(0, 1.15)
    panel.grid(axis="y", color="0.9", linewidth=0.7)
    panel.set_axisbelow(True)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
    picture.savefig(path, dpi=130, format="png")
