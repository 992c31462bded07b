"""Starts the workers of a run on this machine, and ends them with it.

Worker 0 is the process that calls `start_workers`, so that progress, errors and Ctrl-C are handled as in a run with one
worker. `torch.multiprocessing` starts the others. They find each other through a file, and talk to each other over
loopback only.
"""

import json
import os
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType

import torch
import torch.distributed
from torch.distributed import FileStore, Store  # type: ignore[attr-defined]  # documented, but without type hints
from torch.multiprocessing.spawn import start_processes

from fivedice.agents.evaluation.child_process import follow_parent
from fivedice.agents.training.config import AUTO, CONFIG, TrainConfig
from fivedice.agents.training.group import ALONE, TIMEOUT, Group, WorkerLost

# With fewer, a worker waits for the others about as long as it works.
LEAST_GAMES = 128  # of a worker
LEAST_DECISIONS = 1024  # of a worker in a minibatch

LOST, FAILED = 3, 4  # exit codes: another worker has ended; an error, whose sentence is in the store
PATIENCE = 10.0  # seconds until all workers have ended after one has
Work = Callable[[Group], None]


def choose_workers(config: TrainConfig, resume: Path | None = None, cores: int | None = None) -> int:
    """The number of workers of a run.

    ``"auto"`` is the largest number, up to the number of cores, that divides ``n_envs`` and ``batch_size``
    so that each worker has `LEAST_GAMES` games and `LEAST_DECISIONS` decisions of a minibatch. It is 1 if the network
    is not trained on the CPU, or if torch chooses its threads. A run that was stopped keeps its number.

    Args:
        config: the settings.
        resume: the folder of the run to continue, if any.
        cores: the number of cores. Default: those of this machine.
    """
    if config.workers != AUTO:
        return int(config.workers)
    if resume is not None and (resume / CONFIG).is_file():
        stored = json.loads((resume / CONFIG).read_text("utf-8")).get("workers")
        if isinstance(stored, int):
            return stored
    cores = count_cores() if cores is None else cores
    most = cores // config.torch_threads if config.torch_threads and config.device == "cpu" else 1
    return most_workers(config, min(most, config.n_envs // LEAST_GAMES, config.batch_size // LEAST_DECISIONS))


def most_workers(config: TrainConfig, most: int) -> int:
    """The largest number of workers, up to `most`, that divides ``n_envs`` and ``batch_size``."""
    divisors = [count for count in range(2, most + 1) if not (config.n_envs % count or config.batch_size % count)]
    return max(divisors, default=1)


def count_cores(limit: Path = Path("/sys/fs/cgroup/cpu.max")) -> int:
    """The number of processor cores that this process may use.

    Args:
        limit: the file with the limit of a Linux container: the processor time that all its processes together may use
            in each period, and the length of a period.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if limit.is_file():
        time_of_all, period = limit.read_text("utf-8").split()
        if time_of_all != "max":
            cores = min(cores, max(1, int(time_of_all) // int(period)))
    return cores


@contextmanager
def start_workers(size: int, device: str = "cpu") -> Iterator[Group]:
    """Start the workers 1, 2, … and join them as worker 0. They end with the block.

    Each of them waits for `Group.take_from_first`. It calls what it gets with its own group, and waits again.

    Args:
        size: the number of workers. With 1, nothing is started.
        device: the device on which networks are trained.

    Raises:
        WorkerLost: a worker has ended, or does not answer.
        ValueError, OSError, MemoryError: this error was raised in a worker. Or another part of the program has
            initialised `torch.distributed`.
    """
    if size == 1:
        yield ALONE
        return
    if torch.distributed.is_initialized():
        raise ValueError(
            "torch.distributed is initialised in this process; use workers=1, or destroy its process group before"
        )
    with tempfile.TemporaryDirectory(prefix="fivedice-") as place:
        path = str(Path(place) / "store")
        store = FileStore(path, size)
        with no_main_module():
            context = start_processes(_serve, (path, size, device), nprocs=size - 1, join=False, start_method="spawn")  # type: ignore[no-untyped-call]  # of torch
        others: Sequence[BaseProcess] = context.processes
        try:
            _wait_for(others, store, size)
            join_on_loopback(store, 0, size, device)
            group = Group(0, size)
            yield group
            group.take_from_first(None)
            for process in others:
                process.join(PATIENCE)
        except WorkerLost as error:
            raise _cause(others, store, size, error) from None
        finally:
            for process in others:
                process.kill()  # the workers write no files, so nothing is left incomplete
                process.join()
            if torch.distributed.is_initialized():
                torch.distributed.destroy_process_group()


@contextmanager
def no_main_module() -> Iterator[None]:
    """Keep processes that are started meanwhile from importing the main module of this one.

    So scripts need no ``if __name__ == "__main__":``, and nothing in them runs twice.
    """
    main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _serve(index: int, path: str, size: int, device: str) -> None:
    """What the workers 1, 2, … do. No traceback is printed for an error that worker 0 reports in one sentence."""
    rank = index + 1
    follow_parent()
    store = FileStore(path, size)
    try:
        store.set(f"ready {rank}", "")
        join_on_loopback(store, rank, size, device)
        group = Group(rank, size)
        while (work := _next_work(group)) is not None:
            work(group)
        torch.distributed.destroy_process_group()
    except WorkerLost:
        os._exit(LOST)
    except (ValueError, OSError, MemoryError) as error:
        store.set(f"error {rank}", json.dumps([type(error).__name__, str(error)]))
        os._exit(FAILED)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def _next_work(group: Group) -> Work | None:
    nothing: Work | None = None
    return group.take_from_first(nothing)


def _wait_for(others: Sequence[BaseProcess], store: Store, size: int) -> None:
    """Wait until all workers have started."""
    deadline = time.monotonic() + TIMEOUT.total_seconds()
    while not all(store.check([f"ready {rank}"]) for rank in range(1, size)):
        if time.monotonic() > deadline or any(process.exitcode is not None for process in others):
            raise WorkerLost("a worker did not start")
        time.sleep(0.02)


def join_on_loopback(store: Store, rank: int, size: int, device: str) -> None:
    """Initialise the default process group, which listens on loopback only."""
    own_gpus = device == "cuda" and torch.cuda.device_count() >= size  # NCCL needs a GPU for each worker
    loopback = next((name for _, name in socket.if_nameindex() if name.startswith("lo")), "lo")
    with environment(GLOO_SOCKET_IFNAME=loopback, NCCL_SOCKET_IFNAME=loopback):
        torch.distributed.init_process_group(
            "cpu:gloo,cuda:nccl" if own_gpus else "gloo", store=store, rank=rank, world_size=size, timeout=TIMEOUT
        )


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Set variables of the environment until the block ends."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _cause(others: Sequence[BaseProcess], store: Store, size: int, error: WorkerLost) -> Exception:
    """The error of the worker that has ended first. The others end because of it, with the exit code LOST."""
    deadline = time.monotonic() + PATIENCE
    while True:
        for rank, process in enumerate(others, 1):
            code = process.exitcode
            if code == FAILED:
                name, said = json.loads(store.get(f"error {rank}"))
                kind: type[Exception] = {"ValueError": ValueError, "MemoryError": MemoryError}.get(name, OSError)
                return kind(said)
            if code is not None and code < 0:
                return WorkerLost(f"worker {rank} of {size} was killed by {signal.Signals(-code).name}")
            if code not in (None, LOST):
                return WorkerLost(f"worker {rank} of {size} has ended with exit code {code}")
        if time.monotonic() > deadline:
            return WorkerLost(f"the {size} workers have lost each other ({error})")
        time.sleep(0.05)
