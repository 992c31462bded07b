"""The gate: a candidate for the best checkpoint of a run must not have forgotten what the previous best could do.

The candidate plays extra games against the last `GATE_SIZE` best checkpoints and, if the game is solved, against
optimal play. Its win rates against random and greedy play come from its evaluation. The gate refuses the candidate if

- it wins significantly less than ``1 / num_players`` against one of these best checkpoints, or
- its win rate against random, greedy or optimal play is significantly lower than the win rate of the previous best.

Losing to optimal play, or to greedy play early in a run, is reported and logged, but is not a reason to refuse it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import hypot

from fivedice.agents.evaluation.estimate import Estimate
from fivedice.agents.policies.checkpoint import CheckpointPolicy

GATE_SIZE = 2
WIN_RATE = "eval/win_rate_vs_"  # the prefix of the scalars of win rates


@dataclass(frozen=True)
class PreviousBest:
    """A best checkpoint of a run: its number, from 0, its policy, and the evaluation that made it the best."""

    number: int
    policy: CheckpointPolicy
    figures: Mapping[str, Estimate]


def forgotten(
    figures: Mapping[str, Estimate], before: Mapping[str, Estimate], previous_bests: Mapping[str, Estimate], fair: float
) -> list[str]:
    """The names of the opponents against whom a candidate has become significantly worse.

    Args:
        figures: the candidate's win rates against baselines, by the names of the scalars.
        before: the previous best's win rates against baselines, likewise.
        previous_bests: the candidate's win rates against the last best checkpoints, by their names.
        fair: the win rate of equal players, ``1 / num_players``.
    """
    lost = [
        name.removeprefix(WIN_RATE)
        for name, old in before.items()
        if name in figures and name.startswith(WIN_RATE) and _is_below(figures[name], old)
    ]
    return lost + [name for name, share in previous_bests.items() if share.high < fair]


def loses_to(figures: Mapping[str, Estimate], fair: float) -> list[str]:
    """The names of the opponents against whom the win rate is significantly below `fair`, that of equal players."""
    return [
        name.removeprefix(WIN_RATE)
        for name, share in figures.items()
        if name.startswith(WIN_RATE) and share.high < fair
    ]


def _is_below(new: Estimate, old: Estimate) -> bool:
    """Whether a share is significantly below another.

    The interval of the difference comes from the intervals of both (Newcombe, "Interval estimation for the difference
    between independent proportions: comparison of eleven methods", Statistics in Medicine 17, 1998, method 10).
    """
    return new.mean + hypot(new.high - new.mean, old.mean - old.low) < old.mean
