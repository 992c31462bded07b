"""What the workers of a run on Ray and the process that started it tell each other."""

from pathlib import Path
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from fivedice.agents.training.run import Progress

ERRORS: dict[str, type[Exception]] = {"ValueError": ValueError, "MemoryError": MemoryError}


class Desk:
    """An actor that keeps news until they are fetched. It lives on the node of the process that starts the run."""

    def __init__(self) -> None:
        self.news: list[tuple[str, Any]] = []
        self.stops = False
        self.failure: tuple[str, str] | None = None

    def tell(self, what: str, value: Any) -> bool:
        """Add a piece of news. Returns whether the run shall stop."""
        self.news.append((what, value))
        return self.stops

    def fetch(self) -> list[tuple[str, Any]]:
        """All news since the last call."""
        news, self.news = self.news, []
        return news

    def stop(self) -> None:
        """Ask the run to stop after its current update."""
        self.stops = True

    def fail(self, kind: str, sentence: str) -> None:
        """Keep the first error with which a repetition would end as well, such as a setting that is not possible."""
        self.failure = self.failure or (kind, sentence)

    def failed(self) -> tuple[str, str] | None:
        """The error that `fail` has kept: its type and its message."""
        return self.failure


def open_desk() -> Any:
    """A desk on this node."""
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    return ray.remote(Desk).options(num_cpus=0, scheduling_strategy=here).remote()


class DeskReporter:
    """A `Reporter` in worker 0 that tells everything to the desk. It is also the request to stop.

    Args:
        desk: the desk.
    """

    def __init__(self, desk: Any) -> None:
        self._desk = desk
        self.requested = False

    def tell(self, what: str, value: Any) -> None:
        """Tell a piece of news."""
        self.requested = bool(ray.get(self._desk.tell.remote(what, value))) or self.requested

    def note(self, sentence: str) -> None:
        """Pass a note on."""
        self.tell("note", sentence)

    def started(self, run: str, folder: Path) -> None:
        """Pass on which run it is. The folder is that of the process that started the run."""
        self.tell("started", run)

    def updated(self, progress: Progress) -> None:
        """Pass the progress on."""
        self.tell("updated", progress)


class NeverStops:
    """The request to stop of all workers but worker 0, which stops them all."""

    requested = False
