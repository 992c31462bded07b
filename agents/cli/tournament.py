"""``fivedice tournament``: policies in every combination."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from fivedice.agents.cli.app import GameOptions, NumPlayers, Seed, app, console, game_setup, needs_module
from fivedice.agents.policies.registry import NAMEABLE, load_all
from fivedice.agents.training.config import whole
from fivedice.envs import load_game


@app.command(name="tournament")
def play_tournament(
    game: str,
    *policies: Annotated[str, Parameter(help=f"Two or more of {NAMEABLE}.")],
    games: Annotated[int, whole(least=1)] = 1000,
    num_players: NumPlayers = None,
    seed: Seed = 0,
    workers: Annotated[int, whole(least=1, most=1024)] = 1,
    deterministic: bool = True,
    out: Path | None = None,
    options: GameOptions = None,
) -> None:
    """Rate policies: play all combinations in all seating orders with the same dice.

    Writes the results as JSON and CSV, and a picture. The same command continues a stopped tournament. With more games
    or policies, only the new games are played.

    Parameters
    ----------
    game
        The game, for example yum; see `fivedice list`.
    games
        Number of games of each combination of policies, rounded up so that all seating orders are equally frequent.
    num_players
        Number of players, 2 or more. Default: as in the first checkpoint, else the game's default.
    seed
        Random seed for dice and policies.
    workers
        Number of processes. The results do not depend on it.
    deterministic
        Checkpoints play their most probable action. With --no-deterministic they sample from their probabilities.
    out
        Folder for the results. Default: tournaments/GAME-N-players.
    """
    from fivedice.agents.evaluation.ranking import rank
    from fivedice.agents.evaluation.schedule import Tournament, contender
    from fivedice.agents.evaluation.tournament import ask_once, play_tournament
    from fivedice.agents.reports.tables import progress_bar
    from fivedice.agents.reports.tournament_page import PICTURE, check_results, tournament_tables, write_results

    spec = load_game(game)
    needs_module("choix", "arena")
    named = load_all(policies, deterministic=deterministic)
    num_players, chosen = game_setup(spec, named.values(), num_players, options)
    record = spec.make_options(num_players, chosen)
    tournament = Tournament(
        spec.name,
        tuple(spec.options_dict(record).items()),
        int(record["num_players"]),
        seed,
        games,
        tuple(contender(label, name) for label, name in zip(named, policies, strict=True)),
        sampled=not deterministic,
    )
    ask_once(tournament, named)
    folder = Path("tournaments") / f"{spec.name}-{tournament.num_players}-players" if out is None else out
    check_results(folder)
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
