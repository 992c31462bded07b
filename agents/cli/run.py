"""A training run on the command line: its progress, its table at the end, and what to do next."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from fivedice.agents.policies.baselines import baseline_names
from fivedice.agents.policies.registry import load
from fivedice.agents.reports.evaluation import show_evaluation
from fivedice.agents.reports.tables import figure
from fivedice.agents.training.config import AUTO, TrainConfig
from fivedice.agents.training.launch import choose_workers
from fivedice.agents.training.run import Progress as Update
from fivedice.agents.training.run import Training, train
from fivedice.agents.training.validation import validate, validate_resumed
from fivedice.envs.core.view import Policy

if TYPE_CHECKING:
    from fivedice.agents.cluster.training import RayRun

FINAL_SEED = 2_000_003  # added to the run's seed: the games of the final table are no training or evaluation games


def run(config: TrainConfig, resume: Path | None, console: Console) -> None:
    """Train, then print the evaluation table and the command that plays against the result."""
    with Bar(console, config.total_timesteps) as bar:
        training = train(config, resume, bar)
    finish(training, console)


def run_on_ray(
    config: TrainConfig,
    resume: Path | None,
    console: Console,
    *,
    address: str,
    gpus_per_worker: float,
    storage: str | None,
) -> None:
    """Train on Ray, then print the same as `run`.

    Args:
        config, resume, console: as for `run`.
        address: see `connected`.
        gpus_per_worker, storage: see `train_on_ray`.
    """
    from fivedice.agents.cluster.connection import LOCAL, connected, count_cluster_cores

    is_local = address == LOCAL
    if not is_local and storage is None:
        raise ValueError("--storage is missing: with a cluster, name a folder or an address that all machines reach")
    if config.workers == AUTO and gpus_per_worker:
        raise ValueError("workers='auto' counts cores, not GPUs; give --workers, too")
    first = replace(config, workers=choose_workers(config, resume) if is_local else 1)
    check_order(first if config.workers == AUTO else config, resume, gpus_per_worker)
    with connected(address, int(first.workers)), Bar(console, config.total_timesteps) as bar:
        from fivedice.agents.cluster.training import train_on_ray

        config = replace(config, workers=choose_workers(config, resume, None if is_local else count_cluster_cores()))
        config = check_order(config, resume, gpus_per_worker)
        training = train_on_ray(
            config, resume, bar, gpus_per_worker=gpus_per_worker, storage=storage, on_loopback=is_local
        )
    finish(training, console)


def check_order(config: TrainConfig, resume: Path | None, gpus_per_worker: float) -> TrainConfig:
    """The settings of a run on Ray, checked before Ray is started.

    Raises:
        ValueError: a setting is not possible.
    """
    validate(replace(config, device="cpu"))  # a GPU is needed on the machines of the workers only
    if resume is not None:
        validate_resumed(config, resume)
    return replace(config, device="cuda") if gpus_per_worker and config.device == "cpu" else config


def finish(training: "Training | RayRun", console: Console) -> None:
    """Print the evaluation table and the command that plays against the result; or how to go on."""
    if not training.is_finished:
        command = f"fivedice train --resume {shlex.quote(str(training.folder))}"
        console.print(f"Stopped after {training.steps:,} decisions; continue with: {command}", soft_wrap=True)
        return
    show_standings(training, console)
    best_file = shlex.quote(str(training.folder / "best.safetensors"))
    if training.num_players == 1:
        console.print(f"\nEvaluate it again:  fivedice evaluate {training.config.game} {best_file}", soft_wrap=True)
    else:
        console.print(
            f"\nPlay against it:  fivedice play {training.config.game} --opponents {best_file}", soft_wrap=True
        )


def show_standings(training: "Training | RayRun", console: Console) -> None:
    """Play the best checkpoint against the baselines, with a seed of its own, and print the table."""
    config = training.config
    contenders: dict[str, Policy] = {"best": load(training.folder / "best.safetensors")}
    contenders |= {name: load(name) for name in baseline_names(training.game)}
    show_evaluation(
        console,
        training.game,
        contenders,
        games=config.final_games,
        num_players=training.num_players,
        seed=config.seed + FINAL_SEED,
        options=config.options,
    )


class Bar:
    """The progress bar of a run, and a line for each evaluation. Without a terminal there are only the lines."""

    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        columns = (BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TimeElapsedColumn(), TimeRemainingColumn())
        self._progress = Progress(
            TextColumn("{task.description}"), *columns, console=console, disable=not console.is_terminal
        )
        self._task = self._progress.add_task("starting", total=total)

    def __enter__(self) -> "Bar":
        self._progress.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._progress.stop()

    def note(self, sentence: str) -> None:
        """Print what a user should know before the run starts."""
        self._console.print(f"Note: {sentence}.", soft_wrap=True)

    def started(self, run: str, folder: Path) -> None:
        """Print which run it is."""
        self._console.print(f"{run}: {folder}", soft_wrap=True)

    def updated(self, update: Update) -> None:
        """Show an update in the bar, and print its evaluation."""
        speed = f"{update.decisions_per_second:,.0f} decisions/s"
        self._progress.update(self._task, completed=update.steps, description=f"points {update.score:6.1f}  {speed}")
        if update.evaluation is not None:
            figures = "  ".join(
                f"{name.removeprefix('eval/').removeprefix('win_rate_')} {figure(value, percent='win' in name)}"
                for name, value in update.evaluation.items()
            )
            self._console.print(f"{update.steps:>11,}  {figures}  ({speed})", highlight=False, soft_wrap=True)
            if update.forgot:
                against = ", ".join(update.forgot)
                self._console.print(f"{'':>11}  not taken as the best: it got worse against {against}", highlight=False)
            if update.loses_to:
                self._console.print(f"{'':>11}  loses significantly to {', '.join(update.loses_to)}", highlight=False)
