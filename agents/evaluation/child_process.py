"""A process that works for another one, its parent."""

import multiprocessing
import os
import signal
import threading

from fivedice.envs import register_game


def begin(game: tuple[str, str, int] | None) -> None:
    """Begin to work for the parent, see `follow_parent`, with a game that the parent has registered.

    Args:
        game: the `fivedice.envs.registration` of the game.
    """
    follow_parent()
    if game is not None:
        register_game(*game)


def follow_parent() -> None:
    """Ignore Ctrl-C, which the parent handles, and end when the parent ends.

    Without this the process would wait for work forever if the parent is killed.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # no file is incomplete
