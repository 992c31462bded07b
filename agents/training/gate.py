"""No forgetting: what is to be the new best of a run must not have lost what the best before it could do.

It is checked against the last `GATE_SIZE` bests, and against exact play where the game is solved, by games of its own;
and against random and greedy play by its evaluation. It is refused if

- it wins significantly less than its fair share against one of those bests, or
- it does significantly worse against random, greedy or exact play than the best before it did.

Losing to exact play or, early in a run, to greedy play is no reason by itself, but is told and logged.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import hypot

from fivedice.agents.evaluation.match import Estimate
from fivedice.agents.policies.checkpoint import CheckpointPolicy

GATE_SIZE = 2
WIN_RATE = "eval/win_rate_vs_"  # how the names of win rates begin


@dataclass(frozen=True)
class PreviousBest:
    """A best of a run: its number, counted from 0, its policy, and the figures that made it best."""

    number: int
    policy: CheckpointPolicy
    figures: Mapping[str, Estimate]


def forgotten(
    figures: Mapping[str, Estimate], before: Mapping[str, Estimate], previous_bests: Mapping[str, Estimate], fair: float
) -> list[str]:
    """Against whom a candidate has got significantly worse, by their names.

    Args:
        figures: its win rates against baselines, by the names of their scalars.
        before: those of the best before it.
        previous_bests: its win rates against the last bests, by their names.
        fair: the share of the wins of equals.
    """
    lost = [
        name.removeprefix(WIN_RATE)
        for name, old in before.items()
        if name in figures
        and name.startswith(WIN_RATE)
        and figures[name].mean + hypot(figures[name].half_width, old.half_width) < old.mean
    ]
    return lost + [name for name, share in previous_bests.items() if share.mean + share.half_width < fair]


def loses_to(figures: Mapping[str, Estimate], fair: float) -> list[str]:
    """Against whom it wins significantly less than a fair share."""
    return [
        name.removeprefix(WIN_RATE)
        for name, share in figures.items()
        if name.startswith(WIN_RATE) and share.mean + share.half_width < fair
    ]
