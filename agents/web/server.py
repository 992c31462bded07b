"""Runs the server on the loopback address, until Ctrl-C."""

import secrets
import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn

from fivedice.agents.play.session import PlaySession
from fivedice.agents.web.app import Games, make_app

HOST = "127.0.0.1"  # never another: the server is for the person at this computer


def serve(
    say: Callable[[str], None],
    *,
    session: PlaySession | None = None,
    port: int = 0,
    folder: Path,
    runs: Path = Path("runs"),
    open_browser: bool = True,
) -> None:
    """Serve the games to the browser of this computer, until Ctrl-C.

    Args:
        say: prints one line.
        session: the game to show first. Default: the page on which a game can be chosen.
        port: the port. Default: 0, any free one.
        folder: where games are saved.
        runs: where checkpoints are looked for.
        open_browser: whether to open the address in the browser.

    Raises:
        ValueError: the port is in use.
    """
    games, token = Games(folder, runs), secrets.token_urlsafe(24)
    path = "/" if session is None else f"/game/{games.add(session)}"
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((HOST, port))
        except OSError as error:
            raise ValueError(f"--port {port} cannot be used: {error.strerror}; choose another one") from None
        port = int(listening.getsockname()[1])
        address = f"http://{HOST}:{port}{path}?token={token}"
        say(f"Open this address in a browser of this computer: {address}")
        say(f"Saved games: {folder.resolve()}")
        say("Stop the server with Ctrl-C. Games that are not saved end with it.")
        config = uvicorn.Config(
            make_app(games, port, token), log_level="warning", access_log=False, server_header=False, lifespan="off"
        )
        if open_browser:
            webbrowser.open(address)
        uvicorn.Server(config).run(sockets=[listening])
