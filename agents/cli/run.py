"""A training run on the command line: its progress, its table at the end, and what to do next."""

import shlex
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from fivedice.agents.policies.baselines import baseline_names
from fivedice.agents.policies.registry import load
from fivedice.agents.reports.evaluation import show_evaluation
from fivedice.agents.reports.tables import figure
from fivedice.agents.training.config import TrainConfig
from fivedice.agents.training.own_policies import resume_command
from fivedice.agents.training.run import Progress as Update
from fivedice.agents.training.run import Training, train
from fivedice.envs.core.view import Policy

FINAL_SEED = 2_000_003  # added to the run's seed: the games of the final table are no training or evaluation games


def run(config: TrainConfig, resume: Path | None, console: Console) -> None:
    """Train, then print the evaluation table and the command that plays against the result."""
    with Bar(console, config.total_timesteps) as bar:
        training = train(config, resume, bar)
    if not training.is_finished:
        command = resume_command(config, training.folder)
        console.print(f"Stopped after {training.steps:,} decisions; continue with: {command}", soft_wrap=True)
        return
    show_standings(training, console)
    best_file = shlex.quote(str(training.folder / "best.safetensors"))
    if training.num_players == 1:
        console.print(f"\nEvaluate it again:  fivedice evaluate {config.game} {best_file}", soft_wrap=True)
    else:
        console.print(f"\nPlay against it:  fivedice play {config.game} --opponents {best_file}", soft_wrap=True)


def show_standings(training: Training, console: Console) -> None:
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

    def started(self, training: Training) -> None:
        """Print which run it is."""
        players = f"{training.num_players} player{'s' * (training.num_players > 1)}"
        reward = training.env.table.batch.reward
        size = training.group.size
        workers = f", {size} workers" if size > 1 else ""
        said = f"{training.game.title}, {players}, reward {reward}{workers}: {training.folder}"
        self._console.print(said, soft_wrap=True)

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
