"""The folder of a run: a name that no other run has, one process at a time, the settings of the run in a file."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from fivedice.agents.policies.files import refuse_file, write_whole
from fivedice.agents.training.config import CONFIG, TrainConfig
from fivedice.agents.training.resume import FILE


@contextmanager
def run_folder(config: TrainConfig, resume: Path | None) -> Iterator[Path]:
    """The folder of a new run, or the folder to resume, locked until the block ends.

    The folder of a new run is removed again if the block fails before it has written the settings.

    Raises:
        ValueError: the name is taken, or another process trains in this folder.
    """
    folder = new_folder(config) if resume is None else resume
    with only_one(folder):
        try:
            yield folder
        except BaseException:
            if resume is None and not (folder / CONFIG).is_file():
                shutil.rmtree(folder)
            raise


def new_folder(config: TrainConfig) -> Path:
    """Create the folder of a new run. Its name is ``config.name``, or that of the game with a number if needed."""
    refuse_file(config.runs, "runs")
    if config.name is not None:
        if not config.name or Path(config.name).name != config.name:
            raise ValueError(f"name={config.name!r} is not the name of a folder; use one without slashes")
        folder = config.runs / config.name
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            has_begun = (folder / FILE).is_file()
            said = "" if has_begun else " and holds nothing that can be resumed"
            first = f"resume it by --resume {folder}" if has_begun else "remove it"
            raise ValueError(f"{folder} exists already{said}; {first}, or choose another --name") from None
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


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Keep other processes from training in the same folder."""
    lock = FileLock(folder / ".lock", timeout=0)
    try:
        with lock:
            yield
    except Timeout:
        raise ValueError(f"another process is training in {folder}; wait for it, or start a new run") from None


def write_settings(config: TrainConfig, folder: Path) -> None:
    """Write the settings of a run into its folder; ``--resume`` reads them."""
    settings = json.dumps(asdict(config), indent=2, default=str)
    write_whole(folder / CONFIG, partial(_write_text, text=settings))


def _write_text(path: Path, text: str) -> Any:
    path.write_text(text, "utf-8")
