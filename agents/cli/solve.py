"""``fivedice solve``: the exact value of a game."""

from fivedice.agents.cli.app import GameOptions, Seats, app, console, table_in_words
from fivedice.agents.policies.baselines import value_in_words
from fivedice.envs import load_game


@app.command
def solve(game: str = "yum", *, seats: Seats = None, options: GameOptions = None) -> None:
    """Show the exact value of a game, where it is solved.

    Parameters
    ----------
    game
        What is solved, as yum.
    seats
        Seats at the table; the game's default if not given.
    """
    spec = load_game(game)
    record = spec.make_options(seats, spec.parse_options(options or {}))
    value = value_in_words(spec, record)
    console.print(f"{table_in_words(spec, record)}:", highlight=False)
    console.print(value, highlight=False)
