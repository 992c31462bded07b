"""The folder of a run: creating it, locking it for one process, and writing the settings of the run into it."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from filelock import FileLock, Timeout

from fivedice.agents.policies.files import refuse_file, write_text
from fivedice.agents.training.config import CONFIG, TrainConfig
from fivedice.agents.training.resume import FILE

KEPT = ("pool", "previous_bests")  # folders that are filled before the resume file is written
ENDING = ".safetensors"
EVENTS = "events.out.tfevents.*"  # the files of TensorBoard


@contextmanager
def run_folder(config: TrainConfig, resume: Path | None) -> Iterator[Path]:
    """The folder of a run, locked until the block ends.

    A folder in which a run was stopped before its first save is used as if it were new. A new folder is removed again
    if the block fails before it has written the settings.

    Args:
        config: the settings of the run.
        resume: the folder; None creates a new one in ``config.runs``.

    Raises:
        ValueError: the folder contains something else than a run, or another process trains in it.
    """
    is_new = resume is None or not resume.exists()
    if resume is None:
        folder = new_folder(config)
    else:
        folder = resume
        refuse_file(folder, "the run")
        folder.mkdir(parents=True, exist_ok=True)
    with only_one(folder):
        if not has_begun(folder):
            if not is_fresh(folder):
                raise ValueError(f"{folder} cannot be resumed: {folder / FILE} is missing")
            for path in folder.glob(EVENTS):
                path.unlink()
            for name in KEPT:
                shutil.rmtree(folder / name, ignore_errors=True)  # usually they do not exist
        for place in (folder, *(folder / name for name in KEPT)):
            for pattern in (f".*{ENDING}.*", f".{CONFIG}.*"):  # of a process that was killed while it wrote a file
                for path in place.glob(pattern):
                    path.unlink()
        try:
            yield folder
        except BaseException:
            if is_new and is_fresh(folder) and not (folder / CONFIG).is_file():
                shutil.rmtree(folder)
            raise


def has_begun(folder: Path) -> bool:
    """Whether `folder` contains a run that has saved something, so that it can be resumed."""
    return (folder / FILE).is_file()


def is_fresh(folder: Path) -> bool:
    """Whether `folder` contains only files that a run writes before its first save."""
    written = {*folder.glob(".lock"), *folder.glob(CONFIG), *folder.glob(EVENTS), *(folder / name for name in KEPT)}
    temporary = {*folder.glob(f".{CONFIG}.*"), *folder.glob(f".{FILE}.*")}
    return written | temporary >= set(folder.iterdir())


def new_folder(config: TrainConfig) -> Path:
    """Create the folder of a new run. Its name is ``config.name``, or the name of the game, with a number if needed.

    Raises:
        ValueError: ``config.name`` is not the name of a folder, or the folder exists and is not empty.
    """
    refuse_file(config.runs, "runs")
    if config.name is not None:
        if not config.name or Path(config.name).name != config.name:
            raise ValueError(f"name={config.name!r} is not the name of a folder; use one without slashes")
        folder = config.runs / config.name
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            if folder.is_dir() and is_fresh(folder):
                return folder
            said = "" if has_begun(folder) else " and holds nothing that can be resumed"
            first = f"resume it by --resume {folder}" if has_begun(folder) else "remove it"
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
    """Keep other processes from training in the same folder, until the block ends.

    Raises:
        ValueError: another process already trains there.
    """
    lock = FileLock(folder / ".lock", timeout=0)
    try:
        with lock:
            yield
    except Timeout:
        raise ValueError(f"another process is training in {folder}; wait for it, or start a new run") from None


def write_settings(config: TrainConfig, folder: Path) -> None:
    """Write the settings of a run into its folder; ``--resume`` reads them."""
    settings = json.dumps(asdict(config), indent=2, default=str)
    write_text(folder / CONFIG, settings)
