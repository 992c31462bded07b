"""``fivedice evaluate``: policies against each other."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from fivedice.agents.cli.app import GameOptions, NumPlayers, Seed, app, console, game_setup
from fivedice.agents.policies.registry import NAMEABLE, load_all
from fivedice.agents.reports.evaluation import show_evaluation
from fivedice.agents.training.config import whole
from fivedice.envs import load_game

POLICIES = f"Any of {NAMEABLE}. One policy shows its points; two or more also play against each other."


@app.command(name="evaluate")
def evaluate_policies(
    game: str,
    *policies: Annotated[str, Parameter(help=POLICIES)],
    games: Annotated[int, whole(least=2)] = 4000,
    num_players: NumPlayers = None,
    seed: Seed = 0,
    deterministic: bool = True,
    luck: bool = True,
    breakdown: bool = False,
    plot: Path | None = None,
    options: GameOptions = None,
) -> None:
    """Play policies against each other with seats rotated, and show points and win rates with 95 % intervals.

    Parameters
    ----------
    game
        The game, for example yum; see `fivedice list`.
    games
        Number of games of each pairing. Each dice seed is played once from every seat.
    num_players
        Number of players. Default: as in the first checkpoint, else the game's default.
    seed
        Random seed for dice and policies.
    deterministic
        Checkpoints play their most probable action. With --no-deterministic they sample from their probabilities.
    luck
        If the game is solved, also show luck-adjusted results, which have narrower intervals. This takes longer.
    breakdown
        Show the mean points in each row of the score sheet, and, if the game is solved, those of optimal play.
    plot
        Draw the breakdown into this .png, .svg or .pdf file.
    """
    spec = load_game(game)
    if not policies:
        raise ValueError(f"no policy given; name at least one of {NAMEABLE}")
    contenders = load_all(policies, deterministic=deterministic)
    num_players, chosen = game_setup(spec, contenders.values(), num_players, options)
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
