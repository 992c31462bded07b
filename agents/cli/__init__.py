"""The command line: ``fivedice list | info | train | report | evaluate | tournament | play | …``.

Each command is one file of this package. Importing the file adds the command to `app`.
"""

from fivedice.agents.cli import evaluate, exploit, info, list, play, report, serve, solve, tournament, train
from fivedice.agents.cli.app import app, console, main

__all__ = [
    "app",
    "console",
    "evaluate",
    "exploit",
    "info",
    "list",
    "main",
    "play",
    "report",
    "serve",
    "solve",
    "tournament",
    "train",
]
