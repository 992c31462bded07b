"""``fivedice train``: a training run."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from fivedice.agents.cli.app import app, console
from fivedice.agents.training.config import TrainConfig


@app.command
def train(
    settings: Annotated[TrainConfig | None, Parameter(name="*")] = None,
    *,
    config: str | None = None,
    resume: Path | None = None,
) -> None:
    """Train PPO by self-play, and show how it plays against the baselines.

    Parameters
    ----------
    config
        A TOML file with any of the other settings, or the name of one that comes with the package, as yum. The command
        line wins over it.
    resume
        The folder of a run to go on with, with its settings. The command line wins over them.
    """
    from fivedice.agents.cli.run import run

    run(settings or TrainConfig(), resume, console)
