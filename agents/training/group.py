"""The workers of a run: processes that train one network together, each with its own part of the games.

All workers do the same at the same time: each calls the same methods of its `Group` in the same order. A run with one
worker has the group `ALONE`, whose methods return at once.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import numpy as np
import torch
import torch.distributed
from numpy.typing import NDArray

T = TypeVar("T")

TIMEOUT = timedelta(minutes=10)  # a worker that does not answer for so long has failed; first uses compile for a minute


class WorkerLost(ChildProcessError):
    """Another worker has ended, or does not answer."""


@dataclass(frozen=True)
class Group:
    """The workers of a run, as one of them sees them.

    With more than one worker, the methods use the default process group of `torch.distributed`, which must be
    initialised.

    Args:
        rank: the number of this worker, from 0. Worker 0 writes all files and reports the progress.
        size: the number of workers.
        channel: the process group of these workers, if the default one has more.
    """

    rank: int
    size: int
    channel: Any = None

    def part(self, count: int) -> slice:
        """This worker's part of `count` rows. The parts are consecutive, in the order of the workers."""
        return slice(self.rank * count // self.size, (self.rank + 1) * count // self.size)

    def gather(self, value: T) -> list[T]:
        """The values of all workers, in the order of the workers. Each value can be any object that can be pickled."""
        if self.size == 1:
            return [value]
        values: list[Any] = [None] * self.size
        with lost_workers_noticed():
            torch.distributed.all_gather_object(values, value, group=self.channel)
        return values

    def join(self, rows: NDArray[Any]) -> NDArray[Any]:
        """The rows of all workers in one array, in the order of the workers."""
        return rows if self.size == 1 else np.concatenate(self.gather(rows))

    def any(self, flag: bool) -> bool:
        """Whether the flag of any worker is set."""
        return flag if self.size == 1 else bool(self.sum(np.array([flag], np.float64))[0])

    def sum(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sums over all workers of each of some numbers."""
        if self.size == 1:
            return numbers
        total = torch.tensor(numbers, dtype=torch.float64)
        with lost_workers_noticed():
            torch.distributed.all_reduce(total, group=self.channel)
        return total.numpy()

    def average(self, tensor: torch.Tensor) -> None:
        """Replace a tensor by its mean over all workers. All of them get the same numbers, to the last bit."""
        if self.size > 1:
            with lost_workers_noticed():
                torch.distributed.all_reduce(tensor, group=self.channel)
            tensor /= self.size

    def take_from_first(self, value: T) -> T:
        """The value of worker 0. It can be any object that can be pickled."""
        if self.size == 1:
            return value
        values = [value]
        with lost_workers_noticed():
            torch.distributed.broadcast_object_list(values, src=0, group=self.channel)
        return values[0]

    def require_equal(self, value: str, what: str) -> None:
        """Raise a RuntimeError if the values of the workers differ.

        Args:
            value: for example a digest.
            what: what it is a digest of, for the message.
        """
        if len(set(self.gather(value))) > 1:
            raise RuntimeError(f"{what} differ between the workers; this is an error of fivedice or of the machine")


ALONE = Group(0, 1)


@contextmanager
def lost_workers_noticed() -> Iterator[None]:
    """Raise `WorkerLost` if communication fails: the connection to a worker is closed, or it does not answer."""
    try:
        yield
    except RuntimeError as error:
        raise WorkerLost(str(error).splitlines()[0]) from None
