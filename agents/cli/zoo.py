"""``fivedice zoo``: the agents that come with the package."""

from rich.text import Text

from fivedice.agents.cli.app import app, console
from fivedice.agents.evaluation.estimate import Estimate
from fivedice.agents.policies.checkpoint import read_card
from fivedice.agents.policies.zoo import FOLDER, agent_names
from fivedice.agents.reports.tables import figure, plain_table
from fivedice.envs import load_game


@app.command
def zoo() -> None:
    """Show the agents that come with the package: each can be named wherever a policy is named."""
    table = plain_table()
    for heading in ("name", "game", "players", "strength", "decisions", "size"):
        table.add_column(heading, justify="right" if heading in ("decisions", "size") else "left", overflow="fold")
    for name in agent_names():
        path = FOLDER / f"{name}.safetensors"
        card = read_card(path)
        trained = card["zoo"]
        table.add_row(
            name,
            load_game(card["game"]).title,
            str(card["num_players"]),
            strength(trained["results"]),
            f"{trained['decisions'] / 1e6:.2f} M",
            f"{path.stat().st_size / 1000:.0f} kB",
        )
    console.print(table)
    console.print(Text("Intervals: 95 %. 'fivedice info NAME' shows how an agent was trained and evaluated."))


def strength(results: dict[str, object]) -> str:
    """The results in a card, in words."""
    parts = []
    if "of_optimum" in results:
        parts.append(f"{100 * float(str(results['of_optimum'])):.1f} % of the optimum")
    for name, found in results.items():
        if name.startswith("win_rate_vs_") and isinstance(found, dict):
            wins = figure(Estimate.from_dict(found), percent=True)
            parts.append(f"wins {wins} against {name.removeprefix('win_rate_vs_')}")
    return ", ".join(parts)
