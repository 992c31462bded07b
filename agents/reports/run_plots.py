"""The pictures of a training run: lines over its decisions, and the pool."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.evaluation.match import Estimate, Z
from fivedice.agents.policies.files import write_whole
from fivedice.agents.reports.tables import COLOURS

LEVELS = ("0.45", "0.2", "black", "0.6")
STYLES = (":", "--", "-", "-.")


@dataclass(frozen=True)
class Line:
    """A line over the steps of a run.

    Args:
        name: in the legend.
        points: (K, 2) steps and values.
        colour: its number; lines of one opponent share it.
        half_widths: (K,) half the widths of 95 % intervals, or None.
        faint: whether it is thin and stands behind the others.
    """

    name: str
    points: NDArray[np.float64]
    colour: int
    half_widths: NDArray[np.float64] | None = None
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
    """Draw lines with their intervals, and levels to compare them with, as a PNG.

    Args:
        lines, levels: what is drawn; `y` says what it is.
        path: where to.
        height: in inches.
        most: of what can be, such as 100 for shares, from 0 on: intervals are cut there. No end if not given.
    """
    write_whole(path, partial(_draw_lines, lines, levels, y, height, most))


def decisions_unit(steps: NDArray[np.float64]) -> tuple[float, str]:
    """In what to count the decisions of a run, so that its axis has short numbers: how many, and their name."""
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
        if line.half_widths is not None:
            low, high = np.maximum(values - line.half_widths, least), np.minimum(values + line.half_widths, most)
            panel.fill_between(steps, low, high, color=colour, alpha=0.22, linewidth=0, zorder=3)
    for number, (name, level) in enumerate(levels.items()):
        grey = LEVELS[number % len(LEVELS)]
        panel.axhline(
            level.mean, color=grey, linestyle=STYLES[number % len(STYLES)], linewidth=1.3, label=name, zorder=1
        )
        if level.half_width:
            bounds = level.mean - level.half_width, level.mean + level.half_width
            panel.axhspan(*bounds, color=grey, alpha=0.15, linewidth=0, zorder=0)
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
    """Draw the learner's share of the wins against each snapshot over the steps at which it was taken, as a PNG.

    Args:
        snapshots: steps, share (NaN where they have not met) and games.
        path: where to.
        fair: the share of equals.
    """
    write_whole(path, partial(_draw_pool, snapshots, fair))


def _draw_pool(snapshots: Sequence[tuple[int, float, float]], fair: float, path: Path) -> None:
    from matplotlib.figure import Figure

    steps, shares, games = np.array(snapshots, np.float64).T
    picture = Figure(figsize=(9.0, 2.8), layout="constrained")
    panel = picture.subplots()
    unit, counted = decisions_unit(steps)
    panel.set_xlabel(f"snapshot taken after so many {counted}")
    room = max(0.05 * steps.max(), 1.0) / unit
    panel.set_xlim(steps.min() / unit - room, steps.max() / unit + room)
    met = games > 0
    if met.any():
        spread = np.sqrt(np.maximum(shares[met] * (1 - shares[met]), 1 / (games[met] + 4)) / games[met])
        panel.errorbar(
            steps[met] / unit,
            100 * shares[met],
            yerr=100 * np.minimum(Z * spread, (shares[met], 1 - shares[met])),
            fmt="o",
            color=COLOURS[0],
            markersize=5,
            capsize=3,
            linewidth=1.3,
            label="learner's wins",
            zorder=3,
        )
        panel.axhline(100 * fair, color="0.2", linestyle="--", linewidth=1.2, label="fair share", zorder=1)
        panel.set_ylabel("wins of the learner, %")
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
