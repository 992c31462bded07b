"""``fivedice evaluate``: policies against each other."""

from pathlib import Path
from typing import Annotated

from fivedice.agents.cli.app import GameOptions, NumPlayers, Seed, app, console, table_for
from fivedice.agents.policies.registry import load_all
from fivedice.agents.reports.evaluation import show_evaluation
from fivedice.agents.training.config import whole
from fivedice.envs import load_game


@app.command(name="evaluate")
def evaluate_policies(
    game: str,
    *policies: str,
    games: Annotated[int, whole(least=2)] = 4000,
    num_players: NumPlayers = None,
    seed: Seed = 0,
    sampled: bool = False,
    luck: bool = True,
    breakdown: bool = False,
    plot: Path | None = None,
    options: GameOptions = None,
) -> None:
    """Play policies against each other, seats rotated, and show points and wins with their 95 % intervals.

    Parameters
    ----------
    game
        What is played, as yum.
    policies
        Two or more of random, greedy, optimal, rollout (or rollout:BASE:GAMES), or checkpoint files; one is enough to
        see its points.
    games
        How many games each pairing plays; every deal of dice is played once from each seat.
    num_players
        Number of players. The first checkpoint's, or the game's default, if not given.
    seed
        Of dice and of what is random in policies.
    sampled
        Checkpoints draw from their probabilities instead of playing their likeliest action.
    luck
        Where the game is solved, show the results with the luck of the dice taken out too. Takes some time.
    breakdown
        Show where the points go, beside exact play where the game is solved.
    plot
        A .png, .svg or .pdf file to draw that in.
    """
    spec = load_game(game)
    if not policies:
        raise ValueError("name at least one policy: random, greedy, optimal, rollout or a checkpoint file")
    contenders = load_all(policies, deterministic=not sampled)
    num_players, chosen = table_for(spec, contenders.values(), num_players, options)
    show_evaluation(
        console,
        spec,
        contenders,
        games=games,
        num_players=int(spec.make_options(num_players, chosen)["num_players"]),
        seed=seed,
        options=chosen,
        luck=luck,
        breakdown=breakdown,
        plot=plot,
    )
