"""A training run as the command line starts it: its folder, its progress, and the table at its end."""

import json
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from fivedice.agents.policies.baselines import optimum
from fivedice.agents.policies.files import refuse_file, write_whole
from fivedice.agents.policies.registry import load
from fivedice.agents.reports.evaluation import show_evaluation
from fivedice.agents.reports.tables import figure
from fivedice.agents.training.config import CONFIG, TrainConfig
from fivedice.agents.training.resume import FILE, restore
from fivedice.agents.training.trainer import FINAL_SEED, Training, check, load_start
from fivedice.agents.training.trainer import Progress as Told
from fivedice.envs import load_game
from fivedice.envs.core.view import Policy


def run(config: TrainConfig, resume: Path | None, console: Console) -> None:
    """Train, save, and print the evaluation table and the command that plays against the result."""
    game = load_game(config.game)
    record = game.make_options(config.num_players, config.options)
    check(config, int(record["num_players"]))
    start = load_start(config) if resume is None else None
    best = optimum(game, record)
    if resume is not None:
        check_resumed(config, resume)
    folder = resume if resume is not None else new_folder(config)
    with only_one(folder), Bar(console, config.total_timesteps) as bar:
        try:
            training = Training(config, folder, bar.tell, best, start)
        except BaseException:
            if resume is None:
                shutil.rmtree(folder)  # nothing has begun, and its name is free again
            raise
        if resume is not None:
            for note in restore(training):
                console.print(f"Note: {note}.")
            if training.steps > config.total_timesteps:
                raise ValueError(
                    f"{folder} has made {training.steps:,} decisions; "
                    f"total_timesteps={config.total_timesteps} is less, use more to go on"
                )
        settings = json.dumps(asdict(config), indent=2, default=str)
        write_whole(folder / CONFIG, partial(_write_text, text=settings))
        seats = f"{training.num_players} seat{'s' * (training.num_players > 1)}"
        console.print(
            f"{training.game.title}, {seats}, reward {training.env.table.batch.reward}: {folder}", soft_wrap=True
        )
        finished = training.learn()
    if not finished:
        command = f"fivedice train --resume {shlex.quote(str(folder))}"
        console.print(f"Stopped after {training.steps:,} decisions; go on with: {command}", soft_wrap=True)
        return
    show_standings(training, console)
    best_file = shlex.quote(str(folder / "best.safetensors"))
    if training.num_players == 1:
        console.print(f"\nEvaluate it again:  fivedice evaluate {config.game} {best_file}", soft_wrap=True)
    else:
        console.print(f"\nPlay against it:  fivedice play {config.game} --opponents {best_file}", soft_wrap=True)


def check_resumed(config: TrainConfig, folder: Path) -> None:
    """Refuse settings that only a new run can have."""
    stored = json.loads((folder / CONFIG).read_text())
    for name in ("seed", "name", "runs"):
        value = getattr(config, name)
        value = str(value) if isinstance(value, Path) else value
        if name in stored and value != stored[name]:
            raise ValueError(f"{folder} goes on with {name}={stored[name]!r}; leave out --{name}, or begin a new run")


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Keep any other process from training in the same folder meanwhile."""
    lock = FileLock(folder / ".lock", timeout=0)
    try:
        with lock:
            yield
    except Timeout:
        raise ValueError(f"another process is training in {folder}; wait for it, or begin a new run") from None


def new_folder(config: TrainConfig) -> Path:
    """A folder for this run that no other run has, made at once so that none can take it."""
    refuse_file(config.runs, "runs")
    if config.name is not None:
        if not config.name or Path(config.name).name != config.name:
            raise ValueError(f"name={config.name!r} is not the name of a folder; use one without slashes")
        folder = config.runs / config.name
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            has_begun = (folder / FILE).is_file()
            said = "" if has_begun else " and holds nothing to go on with"
            first = f"go on with it by --resume {folder}" if has_begun else "remove it"
            raise ValueError(f"{folder} is there already{said}; {first}, or choose another --name") from None
        return folder
    number = 1
    while True:
        folder = config.runs / (config.game if number == 1 else f"{config.game}-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            number += 1
        else:
            return folder


def show_standings(training: Training, console: Console) -> None:
    """The best checkpoint against the baselines, on a seed of its own."""
    config = training.config
    contenders: dict[str, Policy] = {"best": load(training.folder / "best.safetensors")}
    contenders |= {name: load(name) for name in ("greedy", "random")}
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
    """The progress bar of a run; where the output is not a terminal, a line for each evaluation."""

    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        columns = (BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TimeElapsedColumn(), TimeRemainingColumn())
        self._progress = Progress(
            TextColumn("{task.description}"), *columns, console=console, disable=not console.is_terminal
        )
        self._task = self._progress.add_task("compiling the rules", total=total)

    def __enter__(self) -> "Bar":
        self._progress.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._progress.stop()

    def tell(self, told: Told) -> None:
        """Take in what the run says after an update."""
        speed = f"{told.decisions_per_second:,.0f} decisions/s"
        self._progress.update(self._task, completed=told.steps, description=f"points {told.score:6.1f}  {speed}")
        if told.evaluation is not None:
            figures = "  ".join(
                f"{name.removeprefix('eval/').removeprefix('win_rate_')} {figure(value, percent='win' in name)}"
                for name, value in told.evaluation.items()
            )
            self._console.print(f"{told.steps:>11,}  {figures}  ({speed})", highlight=False)
            if told.forgot:
                against = ", ".join(told.forgot)
                self._console.print(f"{'':>11}  not taken as the best: it got worse against {against}", highlight=False)
            if told.loses_to:
                self._console.print(f"{'':>11}  loses significantly to {', '.join(told.loses_to)}", highlight=False)


def _write_text(path: Path, text: str) -> Any:
    path.write_text(text)
