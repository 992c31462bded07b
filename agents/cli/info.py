"""``fivedice info``: the card of a checkpoint."""

from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from fivedice.agents.cli.app import app, console
from fivedice.agents.evaluation.estimate import Estimate
from fivedice.agents.policies.registry import load
from fivedice.agents.policies.zoo import agent_file
from fivedice.envs.core.option import written


@app.command
def info(file: Path) -> None:
    """Show the card of a checkpoint: its game, its training settings and its results.

    Parameters
    ----------
    file
        A .safetensors checkpoint, or the name of an agent that comes with the package.
    """
    from fivedice.agents.policies.checkpoint import read_card

    file = agent_file(str(file)) or file
    card = read_card(file)
    table = Table(title=Text(str(file)), show_header=False, title_justify="left")
    for name, value in card.items():
        if isinstance(value, dict):
            shown = written if name == "options" else _card_value
            value = "\n".join(f"{key} {shown(item)}" for key, item in value.items()) or "none"
        table.add_row(_plain(name), _plain(str(value)))
    console.print(table)
    load(file)  # raises an error if the file is damaged or cannot be played by this version


def _plain(text: str) -> Text:
    """Text from a file that may not be trusted, with control characters escaped."""
    return Text("".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text))


def _card_value(item: Any) -> str:
    figures = [item.get("mean"), item.get("half_width")] if isinstance(item, dict) else [None]
    if not all(isinstance(figure, float) for figure in figures):
        return str(item)
    try:
        estimate = Estimate.from_dict(item)
    except (KeyError, TypeError, ValueError, OverflowError):  # a card may hold anything
        return str(item)
    if estimate.is_symmetric:
        return f"{estimate.mean:.4g} ± {estimate.half_width:.2g} (95 % interval, {estimate.count} deals)"
    return f"{estimate.mean:.4g} (95 % interval {estimate.low:.4g} to {estimate.high:.4g}, {estimate.count} deals)"
