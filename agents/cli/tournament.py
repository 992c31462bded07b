"""``fivedice tournament``: policies at every table."""

from pathlib import Path
from typing import Annotated

from fivedice.agents.cli.app import GameOptions, NumPlayers, Seed, app, console, needs_module, table_for
from fivedice.agents.policies.registry import load_all
from fivedice.agents.training.config import whole
from fivedice.envs import load_game


@app.command(name="tournament")
def play_tournament(
    game: str,
    *policies: str,
    games: Annotated[int, whole(least=1)] = 1000,
    num_players: NumPlayers = None,
    seed: Seed = 0,
    workers: Annotated[int, whole(least=1, most=1024)] = 1,
    sampled: bool = False,
    out: Path | None = None,
    options: GameOptions = None,
) -> None:
    """Rate policies by games at every table that they can make, every seat order and the same dice for all.

    Writes tables of results as JSON and CSV, and a heat map. A tournament that was stopped goes on by the same command;
    with more games or more policies it keeps the games that it has.

    Parameters
    ----------
    game
        What is played, as yum.
    policies
        Two or more of random, greedy, optimal, rollout (or rollout:BASE:GAMES), or checkpoint files.
    games
        How many games each table plays, or a little more: all seat orders equally often.
    num_players
        Number of players, two or more. The first checkpoint's, or the game's default, if not given.
    seed
        Of dice and of what is random in policies.
    workers
        How many processes play. Results do not depend on it.
    sampled
        Checkpoints draw from their probabilities instead of playing their likeliest action.
    out
        The folder for the results; tournaments/GAME-N-players if not given.
    """
    from fivedice.agents.evaluation.ranking import rank
    from fivedice.agents.evaluation.schedule import Tournament, contender
    from fivedice.agents.evaluation.tournament import ask_once, play_tournament
    from fivedice.agents.reports.tables import progress_bar
    from fivedice.agents.reports.tournament_page import PICTURE, tournament_tables, write_results

    spec = load_game(game)
    needs_module("choix", "arena")
    named = load_all(policies, deterministic=not sampled)
    num_players, chosen = table_for(spec, named.values(), num_players, options)
    record = spec.make_options(num_players, chosen)
    tournament = Tournament(
        spec.name,
        tuple(spec.options_dict(record).items()),
        int(record["num_players"]),
        seed,
        games,
        tuple(contender(label, name) for label, name in zip(named, policies, strict=True)),
        sampled,
    )
    ask_once(tournament, named)
    folder = Path("tournaments") / f"{spec.name}-{tournament.num_players}-players" if out is None else out
    with progress_bar(console, "games", tournament.num_games) as advance:
        results = play_tournament(
            tournament,
            folder,
            workers=workers,
            progress=advance,
            note=lambda sentence: console.print(f"Note: {sentence}.", highlight=False),
        )
    ranking = rank(tournament, results)
    console.print(tournament_tables(tournament, ranking))
    written = write_results(tournament, ranking, folder)
    console.print(f"\nWritten: {', '.join(map(str, written))}", highlight=False, soft_wrap=True)
    if PICTURE not in [path.name for path in written]:
        console.print("For a picture: pip install 'fivedice[plot]'", highlight=False)
