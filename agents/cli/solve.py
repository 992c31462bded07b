"""``fivedice solve``: the exact value of a game."""

from fivedice.agents.cli.app import GameOptions, NumPlayers, app, console, table_in_words
from fivedice.agents.policies.baselines import value_in_words
from fivedice.envs import load_game


@app.command
def solve(game: str = "yum", *, num_players: NumPlayers = None, options: GameOptions = None) -> None:
    """Compute the exact value of a game under optimal play, if the game is solved.

    Parameters
    ----------
    game
        The game, for example yum; see `fivedice list`.
    num_players
        Number of players. Default: the game's default.
    """
    spec = load_game(game)
    record = spec.make_options(num_players, spec.parse_options(options or {}))
    value = value_in_words(spec, record)
    console.print(f"{table_in_words(spec, record)}:", highlight=False)
    console.print(value, highlight=False)
