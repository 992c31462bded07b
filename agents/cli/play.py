"""``fivedice play``: a game in the terminal, or in the browser."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from fivedice.agents.cli.app import GameOptions, NumPlayers, app, console, game_setup, needs_module, say
from fivedice.agents.cli.waiting import COMPILING, waiting
from fivedice.agents.play.advice import make_adviser
from fivedice.agents.play.saved import load as load_saved
from fivedice.agents.play.seats import seat_of, seats_around
from fivedice.agents.play.session import PlaySession, Seat
from fivedice.agents.policies.baselines import baseline_names
from fivedice.agents.policies.registry import NAMEABLE, load
from fivedice.agents.training.config import whole
from fivedice.envs import load_game

OPPONENTS = (
    f"The policies in the other seats, in turn order after you: {NAMEABLE}. One policy plays all other seats; else "
    "give one for each. Default: greedy, or random if the game has no greedy policy."
)


@app.command
def play(
    game: str = "yum",
    *,
    opponents: Annotated[list[str] | None, Parameter(help=OPPONENTS, consume_multiple=True, negative=())] = None,
    num_players: NumPlayers = None,
    seat: Annotated[int, whole(least=0)] = 0,
    seed: Annotated[int | None, whole(least=0)] = None,
    file: Path | None = None,
    advice: bool = False,
    adviser: str | None = None,
    browser: bool = False,
    port: Annotated[int, whole(least=0, most=65535)] = 0,
    saved: Path = Path("saved-games"),
    open_browser: Annotated[bool, Parameter(name="--open")] = True,
    options: GameOptions = None,
) -> None:
    """Play a game in the terminal or in the browser.

    Parameters
    ----------
    game
        The game, for example yum; see `fivedice list`.
    num_players
        Number of players. Default: as in the first checkpoint, else the game's default.
    seat
        Your seat, from 0. Seats are in turn order; in some games the dice decide who begins.
    seed
        Random seed for the dice and opponents. The game shows it. Default: other dice in every game.
    file
        Continue a saved game, or any transcript; the file says the game, the players and the options.
    advice
        Show the value of each choice: from optimal play if the game is solved, else from the planner if the game has
        one, else from a rollout.
    adviser
        Which values to show: optimal (expected final points or chance to win), greedy (expected points of this turn),
        planner (points of this turn and what it leaves), rollout:greedy:64 (mean final lead in 64 simulated games), or
        a checkpoint file (the probability that it plays the choice).
    browser
        Play in the browser of this computer, on a board to click on. The browser page has its own buttons for advice.
    port
        With --browser: the port of the server. Default: any free one.
    saved
        The folder for saved games.
    open_browser
        With --browser: open the address in the browser.
    """
    from fivedice.agents.cli import terminal

    if not browser and sys.stdin is None:
        raise ValueError("standard input is closed; run this command in a terminal, where you type your choices")
    if browser:
        needs_module("uvicorn", "web")
        needs_module("starlette", "web")
    if file is not None:
        with waiting(console, COMPILING):
            session = load_saved(file.read_text("utf-8"), seat_of)
    else:
        spec = load_game(game)
        names = opponents or list(baseline_names(spec)[:1])
        policies = [load(name) for name in names]
        num_players, chosen = game_setup(spec, policies, num_players, options)
        players = int(spec.make_options(num_players, chosen)["num_players"])
        if opponents and players == 1:
            raise ValueError("a game with one player has no opponents; leave out --opponents, or raise --num-players")
        others = [Seat(name, policy) for name, policy in zip(names, policies, strict=True)]
        seats = seats_around(spec, players, seat, others)
        with waiting(console, COMPILING):
            session = PlaySession(spec, seats, options=chosen, seed=seed)
    if browser:
        from fivedice.agents.web import server

        server.serve(say, session=session, port=port, folder=saved, open_browser=open_browser)
        return
    advised = None
    if advice or adviser is not None:
        advised = make_adviser(session.game, session.options, adviser)
    terminal.play_game(session, console, adviser=advised, folder=saved)
