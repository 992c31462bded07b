"""``fivedice list``: the games."""

from rich.table import Table

from fivedice.agents.cli.app import app, console
from fivedice.envs import game_names, load_game


@app.command(name="list")
def list_games() -> None:
    """Show the games with their ids, numbers of players and options."""
    for name in game_names():
        try:
            game = load_game(name)
        except ValueError as error:  # of another package, which must not hide the other games
            console.print(f"{name}: {error}", highlight=False, soft_wrap=True)
            continue
        players = f"{game.min_players} to {game.max_players} players, {game.default_players} by default"
        table = Table("option", "values, the default first", "meaning", title_justify="left")
        table.title = (
            f"{name}: {game.title}, {players}\nids {game.aec_id} (PettingZoo), {game.gymnasium_id} (Gymnasium)"
        )
        if not game.rules.OPTIONS:
            console.print(f"{table.title}\nno options\n", highlight=False, soft_wrap=True)
            continue
        for option in game.rules.OPTIONS:
            table.add_row(option.name, option.valid, option.meaning)
        console.print(table)
