"""``fivedice play``: a game in the terminal."""

import sys
from typing import Annotated

from cyclopts import Parameter

from fivedice.agents.cli.app import GameOptions, NumPlayers, app, console, table_for
from fivedice.agents.policies.registry import load
from fivedice.agents.training.config import whole
from fivedice.envs import load_game


@app.command
def play(
    game: str = "yum",
    *,
    opponents: Annotated[list[str] | None, Parameter(consume_multiple=True, negative=())] = None,
    num_players: NumPlayers = None,
    seat: Annotated[int, whole(least=0)] = 0,
    seed: Annotated[int | None, whole(least=0)] = None,
    advice: bool = False,
    adviser: str | None = None,
    options: GameOptions = None,
) -> None:
    """Play a game in the terminal.

    Parameters
    ----------
    game
        What is played, as yum.
    opponents
        Who sits in the other seats, in turn order after yours: random, greedy, optimal, rollout (or rollout:BASE:GAMES)
        or checkpoint files. One for all of them, or one each; greedy if not given.
    num_players
        Number of players. The first checkpoint's, or the game's default, if not given.
    seat
        Your seat in turn order, from 0. In some games the dice say who begins.
    seed
        Play this seed's dice; new ones if not given.
    advice
        Show what each choice is worth: under exact play where the game is solved, else by rollout.
    adviser
        Who gives the advice: optimal, greedy (of what this turn can give), or a rollout, as rollout:greedy:64, which
        shows the mean lead in games played on.
    """
    from fivedice.agents.cli.terminal import find_adviser, play_game

    spec = load_game(game)
    rivals = [load(name) for name in opponents or ["greedy"]]
    num_players, chosen = table_for(spec, rivals, num_players, options)
    if opponents and spec.make_options(num_players, chosen)["num_players"] == 1:
        raise ValueError("nobody else sits at a table of one seat; leave out --opponents, or use more --num-players")
    if sys.stdin is None:
        raise ValueError("standard input is closed, and there your choices are read; run it in a terminal")
    advised = find_adviser(spec, num_players, chosen, adviser) if advice or adviser is not None else None
    play_game(
        spec,
        rivals,
        console,
        num_players=num_players,
        seat=seat,
        seed=seed,
        adviser=advised,
        options=chosen,
    )
