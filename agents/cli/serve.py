"""``fivedice serve``: the games in the browser."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from fivedice.agents.cli.app import app, needs_module, say
from fivedice.agents.training.config import whole


@app.command
def serve(
    *,
    port: Annotated[int, whole(least=0, most=65535)] = 0,
    saved: Path = Path("saved-games"),
    runs: Path = Path("runs"),
    open_browser: Annotated[bool, Parameter(name="--open")] = True,
) -> None:
    """Play all games in the browser of this computer.

    Prints the address of a page on which you choose a game and who plays. The server answers this computer only.

    Parameters
    ----------
    port
        The port of the server. Default: any free one.
    saved
        The folder for saved games.
    runs
        The folder in which checkpoints are looked for, to play against.
    open_browser
        Open the address in the browser.
    """
    needs_module("uvicorn", "web")
    needs_module("starlette", "web")
    from fivedice.agents.web import server

    server.serve(say, port=port, folder=saved, runs=runs, open_browser=open_browser)
