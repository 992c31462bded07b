"""``fivedice solve``: the exact value of a game."""

from fivedice.agents.cli.app import GameOptions, NumPlayers, app, console, table_in_words
from fivedice.agents.policies.baselines import value_in_words
from fivedice.envs import load_game


@app.command
def solve(game: str = "yum", *, num_players: NumPlayers = None, options: GameOptions = None) -> None:
    """Show the exact value of a game, where it is solved.

    Parameters
    ----------
    game
        What is solved, as yum.
    num_players
        Number of players; the game's default if not given.
    """
    spec = load_game(game)
    record = spec.make_options(num_players, spec.parse_options(options or {}))
    value = value_in_words(spec, record)
    console.print(f"{table_in_words(spec, record)}:", highlight=False)
    console.print(value, highlight=False)
