"""Explains a wait in the terminal."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from fivedice.agents.play.advice import AdviceTask

SLOW = 1.0  # seconds after which a wait is explained
COMPILING = "Compiling the rules. This happens once after an installation and takes a minute or two"


@contextmanager
def waiting(console: Console, why: str, task: AdviceTask | None = None) -> Iterator[None]:
    """Explain a wait that takes longer than a second; on a terminal with the seconds and the progress."""
    over = threading.Event()

    def explain() -> None:
        seconds = 0
        while not over.wait(SLOW):
            seconds += 1
            if console.is_terminal:
                part = f", {100 * task.progress:.0f} %" if task is not None and task.adviser.is_slow else ""
                console.file.write(f"\r{why} … {seconds} s{part} ")
                console.file.flush()
            elif seconds == 1:
                console.print(Text(f"{why} …"))
        if seconds and console.is_terminal:
            console.file.write("\n")

    thread = threading.Thread(target=explain, name="fivedice wait", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
