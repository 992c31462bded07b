"""``fivedice play``: a game in the terminal, or in the browser."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from fivedice.agents.cli.app import GameOptions, NumPlayers, app, console, game_setup, needs_module, say
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
        Random seed for the dice and opponents. Default: other dice in every game.
    advice
        Show the value of each choice: from optimal play if the game is solved, else from the planner if the game has
        one, else from a rollout.
    adviser
        Which values to show: optimal (expected final points or chance to win), greedy (expected points of this turn),
        planner (points of this turn and what it leaves), or rollout:greedy:64 (mean final lead in 64 simulated games).
    browser
        Play in the browser of this computer, on a board to click on. The browser page has its own buttons for advice.
    port
        With --browser: the port of the server. Default: any free one.
    saved
        With --browser: the folder for saved games.
    open_browser
        With --browser: open the address in the browser.
    """
    from fivedice.agents.cli.terminal import find_adviser, play_game

    spec = load_game(game)
    names = opponents or list(baseline_names(spec)[:1])
    policies = [load(name) for name in names]
    num_players, chosen = game_setup(spec, policies, num_players, options)
    if opponents and spec.make_options(num_players, chosen)["num_players"] == 1:
        raise ValueError("a game with one player has no opponents; leave out --opponents, or raise --num-players")
    if browser:
        needs_module("uvicorn", "web")
        needs_module("starlette", "web")
        from fivedice.agents.play.seats import seats_around
        from fivedice.agents.play.session import PlaySession, Seat
        from fivedice.agents.web import server

        others = [Seat(name, policy) for name, policy in zip(names, policies, strict=True)]
        players = int(spec.make_options(num_players, chosen)["num_players"])
        session = PlaySession(spec, seats_around(spec, players, seat, others), options=chosen, seed=seed)
        server.serve(say, session=session, port=port, folder=saved, open_browser=open_browser)
        return
    if sys.stdin is None:
        raise ValueError("standard input is closed; run this command in a terminal, where you type your choices")
    advised = find_adviser(spec, num_players, chosen, adviser) if advice or adviser is not None else None
    play_game(
        spec,
        policies,
        console,
        num_players=num_players,
        seat=seat,
        seed=seed,
        adviser=advised,
        options=chosen,
    )
