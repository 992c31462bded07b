"""Pig as text: the state, and the names of actions."""

from typing import Any

from fivedice.envs.display.words import name_winners
from pigdice.rules import is_terminal, winners


def action_names(options: Any) -> tuple[str, ...]:
    """A name for each action."""
    return ("roll", "hold")


def name_action(state: Any, options: Any, action: int) -> str:
    """The name of an action in this state."""
    return f"hold {state['turn']} points" if action else "roll"


def render(state: Any, options: Any) -> str:
    """The points of all seats, and the turn or the winners."""
    seats = range(int(options["num_players"]))
    lines = [f"player_{seat}: {state['points'][seat]} of {options['goal']}" for seat in seats]
    if is_terminal(state, options):
        lines.append(f"Game over, won by {name_winners(winners, state, options)}")
    else:
        lines.append(f"player_{state['player']} has {state['turn']} points in this turn")
    return "\n".join(lines)
