"""The command line: ``fivedice list | info | train | report | evaluate | tournament | play | watch | …``.

Each command is one file of this package. Importing the file adds the command to `app`.
"""

from fivedice.agents.cli import (
    evaluate,
    exploit,
    export,
    info,
    list,
    play,
    record,
    replay,
    report,
    serve,
    solve,
    tournament,
    train,
    watch,
    zoo,
)
from fivedice.agents.cli.app import app, console, main

__all__ = [
    "app",
    "console",
    "evaluate",
    "exploit",
    "export",
    "info",
    "list",
    "main",
    "play",
    "record",
    "replay",
    "report",
    "serve",
    "solve",
    "tournament",
    "train",
    "watch",
    "zoo",
]
