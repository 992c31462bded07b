"""``fivedice train``: a training run."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from fivedice.agents.cli.app import app, console, needs_module
from fivedice.agents.training.config import TrainConfig


@app.command
def train(
    settings: Annotated[TrainConfig | None, Parameter(name="*")] = None,
    *,
    config: str | None = None,
    resume: Path | None = None,
    ray: str | None = None,
    gpus_per_worker: Annotated[float, Parameter(validator=Number(gte=0))] = 0.0,
    storage: str | None = None,
) -> None:
    """Train PPO by self-play, and show how it plays against the baselines.

    Parameters
    ----------
    config
        A TOML file with any of the other settings, or the name of one that comes with the package, as yum. The command
        line wins over it.
    resume
        The folder of a run to go on with, with its settings. The command line wins over them.
    ray
        Run the workers on Ray: local starts Ray on this machine, HOST:PORT or auto names a cluster that runs already.
    gpus_per_worker
        With --ray: the GPUs of each worker; less than 1 if several workers share one.
    storage
        With --ray: a folder or another address (s3://…) that all machines reach, for the saves of the run.
    """
    from fivedice.agents.cli.run import run, run_on_ray

    settings = settings or TrainConfig()
    if ray is None:
        for name, given in (("gpus_per_worker", gpus_per_worker), ("storage", storage)):
            if given:
                raise ValueError(f"{name}={given} needs --ray; without it, all workers run on this machine")
        run(settings, resume, console)
    else:
        needs_module("ray", "ray")
        run_on_ray(settings, resume, console, address=ray, gpus_per_worker=gpus_per_worker, storage=storage)
