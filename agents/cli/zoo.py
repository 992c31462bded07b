"""``fivedice zoo``: the agents that come with the package."""

from typing import Any

from rich.text import Text

from fivedice.agents.cli.app import app, console
from fivedice.agents.evaluation.estimate import Estimate
from fivedice.agents.policies.checkpoint import read_card
from fivedice.agents.policies.zoo import FOLDER, agent_names
from fivedice.agents.reports.tables import figure, plain_table


@app.command
def zoo() -> None:
    """Show the agents that come with the package: each can be named wherever a policy is named."""
    table = plain_table()
    table.add_column("name", no_wrap=True)
    for heading in ("players", "of optimum", "wins against greedy", "decisions", "size"):
        table.add_column(heading, justify="right", overflow="fold")
    for name in agent_names():
        path = FOLDER / f"{name}.safetensors"
        card = read_card(path)
        trained = card["zoo"]
        results: dict[str, Any] = trained["results"]
        wins = results.get("win_rate_vs_greedy")
        table.add_row(
            name,
            str(card["num_players"]),
            f"{100 * results['of_optimum']:.1f} %" if "of_optimum" in results else "",
            figure(Estimate.from_dict(wins), percent=True) if wins else "",
            f"{trained['decisions'] / 1e6:.2f} M",
            f"{path.stat().st_size / 1000:.0f} kB",
        )
    console.print(table)
    said = "Intervals: 95 %. 'fivedice info NAME' shows how an agent was trained and evaluated."
    console.print(Text(said), soft_wrap=True)
