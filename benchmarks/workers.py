"""Learner's decisions per second of a training run with two workers, against the same run with one.

Both sides are whole runs of `fivedice.agents.train` with a configuration of the package. The measured time begins after
the first update, which loads the compiled rules, and ends before the evaluation at the end.
"""

import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any

from benchmarks.measure import Claim, alternate, ratios, spread

CONFIGS = Path(__file__).parent.parent / "configs"
UPDATES = {"yum": 60, "showdown_yahtzee": 5}  # about 20 seconds each with one worker
BAR = 1.75


class Clock:
    """A reporter that notes when each update has ended."""

    def __init__(self) -> None:
        self.points: list[tuple[float, int]] = []

    def note(self, sentence: str) -> None: ...

    def started(self, run: str, folder: Path) -> None: ...

    def updated(self, progress: Any) -> None:
        if progress.evaluation is None:
            self.points.append((time.monotonic(), progress.steps))

    def decisions_per_second(self) -> float:
        (start, before), (end, after) = self.points[0], self.points[-1]
        return (after - before) / (end - start)


def speed(name: str, workers: int) -> float:
    """Train with a configuration, and return the learner's decisions per second."""
    from fivedice.agents.training.config import Mix, TrainConfig
    from fivedice.agents.training.run import train

    settings = tomllib.loads((CONFIGS / f"{name}.toml").read_text())
    config = TrainConfig(**{**settings, "opponents": Mix(**settings["opponents"])})
    config.workers = workers
    config.total_timesteps = (UPDATES[name] + 2) * config.n_envs * config.n_steps
    config.eval_every, config.eval_games, config.check_games = config.total_timesteps, 2, 2
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        config.runs = Path(folder)
        train(config, None, clock)
    return clock.decisions_per_second()


def run(repetitions: int) -> list[Claim]:
    """Measure two workers against one, with two configurations."""
    claims = []
    for name in UPDATES:
        two, one = alternate(
            min(repetitions, 3), lambda name=name: speed(name, 2) / 1e3, lambda name=name: speed(name, 1) / 1e3
        )
        claims.append(
            Claim(
                f"training {name}, two workers",
                spread(two).text(" k learner decisions/s"),
                f"one worker: {spread(one).text(' k/s')}",
                ratios(two, one),
                "x",
                BAR,
            )
        )
    return claims
