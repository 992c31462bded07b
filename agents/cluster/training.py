"""A training run on Ray: Ray Train starts the workers, and starts them again when one of them is lost.

`train_on_ray` runs where the command was given. Ray Train calls `work` in each worker, on any machine. The workers join
one process group of `torch.distributed`, and do what the workers of `fivedice.agents.training.launch` do. After each
save, worker 0 reports the folder of the run to Ray Train, which copies it to the storage. After a loss, all workers
start again from that copy. If fewer machines are left, they go on with fewer workers.
"""

import shlex
import shutil
import tempfile
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import ray
import ray.train
import torch.distributed
from ray.train import Checkpoint, CheckpointConfig, FailureConfig, LoggingConfig, RunConfig, ScalingConfig, UserCallback
from ray.train.backend import Backend
from ray.train.torch import TorchConfig, TorchTrainer, get_device

from fivedice.agents.cluster.desk import ERRORS, DeskReporter, NeverStops, open_desk
from fivedice.agents.policies.files import write_whole
from fivedice.agents.training.config import CONFIG, TrainConfig
from fivedice.agents.training.folder import EVENTS, KEPT, has_begun, run_folder, write_settings
from fivedice.agents.training.group import TIMEOUT, Group, WorkerLost
from fivedice.agents.training.launch import join_on_loopback, most_workers
from fivedice.agents.training.resume import FILE
from fivedice.agents.training.run import Reporter, Silent, Training, lead, optimum_of
from fivedice.agents.training.stop import StopOnSignal
from fivedice.agents.training.validation import load_start
from fivedice.envs import load_game
from fivedice.envs.core.spec import Game

LOSSES = 20  # after so many losses of workers a run ends; the command with --resume continues it
POLL = 0.2  # seconds between two looks at the desk
START = "start.safetensors"  # the checkpoint to start with, among the files that the workers get
FOREVER = timedelta(days=365)


@dataclass(frozen=True)
class RayRun:
    """A run on Ray that has ended.

    Args:
        config: the settings.
        folder: the folder of the run, on this machine.
        steps: decisions of the learner.
        is_finished: False if Ctrl-C or SIGTERM stopped the run.
    """

    config: TrainConfig
    folder: Path
    steps: int
    is_finished: bool

    @property
    def game(self) -> Game:
        """The game."""
        return load_game(self.config.game)

    @property
    def num_players(self) -> int:
        """The number of players."""
        return int(self.game.make_options(self.config.num_players, self.config.options)["num_players"])


@dataclass(frozen=True)
class Order:
    """What a worker needs to know.

    Args:
        config: the settings.
        files: the contents of the folder of a run to continue, by path; and of the checkpoint to start with.
        desk: see `Desk`.
    """

    config: TrainConfig
    files: Mapping[str, bytes]
    desk: Any


def train_on_ray(
    config: TrainConfig,
    resume: Path | None = None,
    reporter: Reporter | None = None,
    *,
    gpus_per_worker: float = 0.0,
    storage: str | None = None,
    on_loopback: bool = False,
) -> RayRun:
    """Train an agent, or continue a run that was stopped. Ray must be initialised.

    Args:
        config: the settings, checked by `validate`; ``workers`` is the largest number of workers. Each of them
            takes one core, or its part of the GPUs. If the cluster has less, fewer workers train.
        resume, reporter: as for `fivedice.agents.train`.
        gpus_per_worker: the GPUs of each worker; less than 1 if several workers share one.
        storage: a folder or another address of fsspec that all machines reach. None takes a folder on this machine,
            which only a local Ray reaches.
        on_loopback: whether the workers are all on this machine, and talk over loopback only.

    Raises:
        ValueError: a setting is not possible.
        ChildProcessError: workers were lost too often. `resume` continues from the last save.
    """
    reporter = reporter or Silent()
    continues = resume is not None and has_begun(resume)
    files = {}
    if config.start is not None and not continues:
        load_start(config)
        files[START] = config.start.read_bytes()
    with ExitStack() as stack:
        folder = stack.enter_context(run_folder(config, resume))
        if resume is not None and not continues:
            reporter.note(f"nothing is saved in {folder} yet, so the run starts from the beginning")
        if continues:
            files |= {path.relative_to(folder).as_posix(): path.read_bytes() for path in _files(folder)}
        if storage is None:
            storage = stack.enter_context(tempfile.TemporaryDirectory(prefix="fivedice-"))
        desk = open_desk()
        trainer = TorchTrainer(
            work,
            train_loop_config={"order": Order(config, files, desk)},
            torch_config=OnLoopback() if on_loopback else TorchConfig(_backend(gpus_per_worker), timeout_s=_seconds()),
            scaling_config=ScalingConfig(
                num_workers=(1, int(config.workers)),
                use_gpu=gpus_per_worker > 0,
                resources_per_worker={"CPU": 1} | ({"GPU": gpus_per_worker} if gpus_per_worker else {}),
            ),
            run_config=RunConfig(
                name=f"{folder.name}-{uuid.uuid4().hex[:8]}",
                storage_path=str(Path(storage).absolute()) if "://" not in storage else storage,
                failure_config=FailureConfig(max_failures=LOSSES),
                checkpoint_config=CheckpointConfig(num_to_keep=2),
                callbacks=[Losses(desk)],
                logging_config=LoggingConfig(log_level="ERROR"),
            ),
        )
        ended = _follow(trainer, config, desk, reporter, folder)
    return RayRun(config, folder, *ended)


def _backend(gpus_per_worker: float) -> str:
    return "cpu:gloo,cuda:nccl" if gpus_per_worker >= 1 else "gloo"  # NCCL needs a GPU for each worker


def _seconds() -> int:
    return int(TIMEOUT.total_seconds())


def _follow(
    trainer: TorchTrainer, config: TrainConfig, desk: Any, reporter: Reporter, folder: Path
) -> tuple[int, bool]:
    """Train; meanwhile pass the news on, and keep a copy of the last save in the folder of the run.

    Returns:
        Decisions so far, and whether the run is finished.
    """
    found: list[Any] = []

    def fit() -> None:
        try:
            found.append(trainer.fit())
        except BaseException as error:
            found.append(error)

    ended: tuple[int, bool] | None = None
    thread = threading.Thread(target=fit, daemon=True)
    thread.start()
    with StopOnSignal() as stop:
        while True:
            goes_on = thread.is_alive()  # before the news are fetched, so that none is missed
            for what, value in ray.get(desk.fetch.remote()):
                if what == "note":
                    reporter.note(value)
                elif what == "started":
                    write_settings(config, folder)
                    reporter.started(value, folder)
                elif what == "updated":
                    reporter.updated(value)
                elif what == "saved":
                    _take_over(value, folder)
                elif what == "ended":
                    ended = value
            if stop.requested:
                desk.stop.remote()
            if not goes_on:
                break
            thread.join(POLL)
    failure = ray.get(desk.failed.remote())
    if failure is not None:
        kind, sentence = failure
        raise ERRORS[kind](sentence)
    if ended is None:
        cause = str(found[0]).strip().splitlines() if found and isinstance(found[0], BaseException) else []
        raise ChildProcessError(
            f"the workers were lost ({cause[-1] if cause else 'without an error'}); go on from the last save by: "
            f"fivedice train --ray ADDRESS --resume {shlex.quote(str(folder))}"
        )
    return ended


def _take_over(checkpoint: Checkpoint, folder: Path) -> None:
    """Make the folder of the run equal to a save. The resume file is written after all that it refers to."""
    with tempfile.TemporaryDirectory(prefix="fivedice-") as place:
        try:
            saved = Path(checkpoint.to_directory(place))
        except FileNotFoundError:
            return  # Ray Train has replaced it by a newer save, which comes next
        for path in sorted(_files(saved), key=lambda path: path.name == FILE):
            if path.name == CONFIG:
                continue  # it names the device of a worker
            target = folder / path.relative_to(saved)
            if not target.is_file() or target.read_bytes() != path.read_bytes():
                write_whole(target, partial(shutil.copyfile, path))
        for name in KEPT:
            for path in (folder / name).glob("*.safetensors"):
                if not (saved / path.relative_to(folder)).exists():
                    path.unlink()


def _files(folder: Path) -> Iterator[Path]:
    """The files of a run."""
    kept = (folder / name for name in KEPT)
    for place in (folder, *kept):
        for pattern in ("*.safetensors", "*.json", EVENTS):
            yield from (path for path in place.glob(pattern) if not path.name.startswith("."))


class Losses(UserCallback):
    """Tells the desk which workers were lost, and why."""

    def __init__(self, desk: Any) -> None:
        self._desk = desk

    def after_exception(self, run_context: Any, worker_exceptions: dict[int, Exception]) -> None:
        """Pass the losses on."""
        ranks = ", ".join(map(str, sorted(worker_exceptions)))
        causes = {type(error).__name__ for error in worker_exceptions.values()} - {WorkerLost.__name__}
        why = ", ".join(sorted(causes)) or WorkerLost.__name__
        sentence = f"workers were lost (reported by {ranks}: {why}), so all start again from the last save"
        self._desk.tell.remote("note", sentence)


class OnLoopback(TorchConfig):
    """A process group that talks over loopback only; Ray's own would listen on all interfaces."""

    @property
    def backend_cls(self) -> type[Backend]:
        """The backend."""
        return LoopbackBackend


class LoopbackBackend(Backend):
    """Initialises the process group of `OnLoopback`."""

    share_cuda_visible_devices = True

    def on_start(self, worker_group: Any, backend_config: Any) -> None:
        """Let all workers join."""
        path = str(Path(tempfile.mkdtemp(prefix="fivedice-")) / "store")
        size = len(worker_group)
        ray.get([worker_group.execute_single_async(rank, _join, path, rank, size) for rank in range(size)])

    def on_shutdown(self, worker_group: Any, backend_config: Any) -> None:
        """Nothing: the processes end."""


def _join(path: str, rank: int, size: int) -> None:
    device = "cuda" if get_device().type == "cuda" else "cpu"
    join_on_loopback(torch.distributed.FileStore(path, size), rank, size, device)  # type: ignore[attr-defined]


def work(settings: dict[str, Order]) -> None:
    """What Ray Train calls in each worker: train, and tell the desk about it.

    An error that would come again, such as a setting that is not possible, goes to the desk, and the run ends. After
    any other error, Ray Train starts the workers again.
    """
    order = settings["order"]
    try:
        with working_group(order.config) as (everyone, group):
            if group.rank >= group.size:
                wait_for_the_others(everyone)
            else:
                take_part(order, everyone, group)
    except WorkerLost:
        if ray.get(order.desk.failed.remote()) is None:
            raise
    except (ValueError, MemoryError) as error:
        kind = "ValueError" if isinstance(error, ValueError) else "MemoryError"
        ray.get(order.desk.fail.remote(kind, str(error)))
        torch.distributed.destroy_process_group()  # the others notice it, and end, too


@contextmanager
def working_group(config: TrainConfig) -> Iterator[tuple[Group, Group]]:
    """All workers that there are, and those of them that train: as many as divide the games and the minibatches."""
    rank, there_are = torch.distributed.get_rank(), torch.distributed.get_world_size()
    size = most_workers(config, there_are)
    if size == there_are:
        yield Group(rank, size), Group(rank, size)
    else:
        channel = torch.distributed.new_group(list(range(size)), timeout=TIMEOUT)
        everyone = Group(rank, there_are, torch.distributed.new_group(timeout=FOREVER))
        yield everyone, Group(rank, size, channel)


def wait_for_the_others(everyone: Group) -> None:
    """What a worker does that is too many: it reports nothing, whenever the others report."""
    while everyone.take_from_first(False):
        ray.train.report({})


def take_part(order: Order, everyone: Group, group: Group) -> None:
    """Train with the others."""
    config, is_first = order.config, group.rank == 0
    reporter = DeskReporter(order.desk)
    with tempfile.TemporaryDirectory(prefix="fivedice-") as place:
        folder, continues = fetch_folder(order, Path(place), is_first)
        start = None
        if is_first and START in order.files and not continues:
            (Path(place) / START).write_bytes(order.files[START])
            start = load_start(replace(config, start=Path(place) / START))

        def saved() -> None:
            if everyone.size > group.size:
                everyone.take_from_first(True)
            checkpoint = Checkpoint.from_directory(folder) if is_first else None
            ray.train.report({"steps": training.steps}, checkpoint=checkpoint)
            if is_first:
                reporter.tell("saved", ray.train.get_checkpoint())

        own = replace(config, device=str(get_device())) if config.device == "cuda" else config
        report = reporter.updated if is_first else Silent().updated
        training = Training(own, folder, report, optimum_of(config), start, group, saved)
        if is_first:
            lead(training, reporter, continues, reporter)
            reporter.tell("ended", (training.steps, training.is_finished))
        else:
            lead(training, Silent(), continues, NeverStops())
    if everyone.size > group.size:
        everyone.take_from_first(False)


def fetch_folder(order: Order, place: Path, is_first: bool) -> tuple[Path, bool]:
    """The folder of the run as it was saved last, and whether anything was saved."""
    folder = place / "run"
    folder.mkdir()
    checkpoint = ray.train.get_checkpoint()
    if checkpoint is not None:
        checkpoint.to_directory(folder)
    else:
        for name, content in order.files.items():
            if name != START:
                (folder / name).parent.mkdir(exist_ok=True)
                (folder / name).write_bytes(content)
    return folder, has_begun(folder)
