"""``fivedice record``: games as a data set for offline learners."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from fivedice.agents.cli.app import GameOptions, NumPlayers, Seed, app, console, game_setup, needs_module
from fivedice.agents.policies.registry import NAMEABLE, load
from fivedice.agents.training.config import whole
from fivedice.envs import load_game

POLICIES = f"One policy for all seats, or one for each seat: {NAMEABLE}. Each game moves them on by one seat."


@app.command(name="record")
def record_games(
    game: str,
    *policies: Annotated[str, Parameter(help=POLICIES)],
    games: Annotated[int, whole(least=1)] = 1000,
    out: Path | None = None,
    num_players: NumPlayers = None,
    reward: Literal["win", "score", "margin"] | None = None,
    seed: Seed = 0,
    deterministic: bool = True,
    options: GameOptions = None,
) -> None:
    """Play games between policies, and write them as a data set of Minari, for learners that learn offline.

    Each seat of each game is one episode. Equal commands write equal files. Needs the extra data.

    Parameters
    ----------
    game
        The game, for example yum; see `fivedice list`.
    games
        Number of games.
    out
        Folder for the data set, which must not exist. Default: datasets/GAME-POLICIES-v0.
    num_players
        Number of players. Default: the number of policies, or with one policy as in its checkpoint, else the game's
        default.
    reward
        Reward of the episodes. Default: win, or score with one player.
    seed
        Random seed for dice and policies.
    deterministic
        Checkpoints play their most probable action. With --no-deterministic they sample from their probabilities.
    """
    needs_module("minari", "data")
    needs_module("h5py", "data")
    from fivedice.agents.evaluation.recording import record
    from fivedice.agents.reports.tables import progress_bar

    spec = load_game(game)
    named = [load(name, deterministic=deterministic) for name in policies]
    num_players, chosen = game_setup(spec, named, num_players if len(named) < 2 else num_players or len(named), options)
    if out is None:
        words = "-".join(dict.fromkeys(policy.name.partition(":")[0] for policy in named))
        out = Path("datasets") / f"{game}-{''.join(c if c.isalnum() or c in '-_' else '_' for c in words)}-v0"
    with progress_bar(console, "games", games) as advance:
        data = record(
            spec,
            named,
            out,
            games=games,
            num_players=num_players,
            reward=reward,
            seed=seed,
            options=chosen,
            progress=advance,
        )
    console.print(f"Read it by:  minari.MinariDataset({str(data)!r})", soft_wrap=True)
