"""Handles Ctrl-C and SIGTERM: the run finishes its update, and then saves."""

import signal
from typing import Protocol


class StopRequest(Protocol):
    """Says whether a run shall stop."""

    @property
    def requested(self) -> bool:
        """Whether the run shall stop after the current update."""


class StopOnSignal:
    """Turns the first Ctrl-C or SIGTERM into a request to stop after the current update. A second one acts at once."""

    requested = False

    def __enter__(self) -> "StopOnSignal":
        self._previous = {number: signal.signal(number, self._request) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *exception: object) -> None:
        self._restore()

    def _request(self, number: int, frame: object) -> None:
        self.requested = True
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
