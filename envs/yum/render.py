"""Yum as text: the card, the dice, and actions in words."""

from typing import Any

import numpy as np

from fivedice.envs.dice import NUM_DICE
from fivedice.envs.yum.rules import (
    BONUS,
    BONUS_FROM,
    BOXES,
    FILL,
    OPEN,
    SIXES,
    is_terminal,
    points_in,
    score,
    upper_total,
    winners,
)

FACES = " ⚀⚁⚂⚃⚄⚅"


def action_names() -> tuple[str, ...]:
    """Each action in a few words, dice by slot."""
    keeps = ["throw all five"]
    for keep in range(1, FILL):
        slots = [str(slot + 1) for slot in range(NUM_DICE) if keep >> slot & 1]
        keeps.append(f"keep {'slot' if len(slots) == 1 else 'slots'} {' '.join(slots)}")
    return (*keeps, *(f"fill {box}" for box in BOXES))


def name_action(state: Any, action: int) -> str:
    """An action in words, dice by the faces that they show in `state`."""
    if action >= FILL:
        return f"fill {BOXES[action - FILL]}"
    kept = [str(int(die)) for slot, die in enumerate(state["dice"]) if action >> slot & 1]
    return f"keep {' '.join(kept)}" if kept else "throw all five"


def tell_action(state: Any, options: Any, action: int) -> str:
    """An action as a transcript tells it, a filled box with the points that it got."""
    if action < FILL:
        kept = [str(int(die)) for slot, die in enumerate(state["dice"]) if action >> slot & 1]
        return f"keeps {' '.join(kept)}" if kept else "keeps none"
    box, boxes = action - FILL, state["boxes"][state["player"]]
    points, upper = points_in(box, state["dice"], boxes, options), upper_total(boxes)
    earns_bonus = box <= SIXES and upper < BONUS_FROM <= upper + points
    return f"fills {BOXES[box]}: {points}" + (f" and the bonus of {BONUS}" if earns_bonus else "")


def render(state: Any, options: Any) -> str:
    """The score card of all seats, whose turn it is, and the dice."""
    seats = range(int(options["num_players"]))
    over = bool(is_terminal(state, options))
    mover = int(state["player"])

    def row(name: str, values: list[str]) -> str:
        return f"{name:<14}" + "".join(f"{value:>10}" for value in values)

    lines = [row("", [("▸ " if seat == mover and not over else "") + f"player_{seat}" for seat in seats])]
    for box, name in enumerate(BOXES):
        written = [int(state["boxes"][seat][box]) for seat in seats]
        lines.append(row(name, ["·" if points == OPEN else str(points) for points in written]))
        if name == "Sixes":
            totals = [int(upper_total(state["boxes"][seat])) for seat in seats]
            bonus = [f" +{BONUS}" if total >= BONUS_FROM else "" for total in totals]
            lines.append(row(f"  of {BONUS_FROM}", [f"{totals[seat]}{bonus[seat]}" for seat in seats]))
    lines.append(row("Total", [str(score(state["boxes"][seat])) for seat in seats]))
    if over:
        won = np.zeros(len(seats), np.int8)
        winners(state, options, won)
        lines.append("Game over, won by " + " and ".join(f"player_{seat}" for seat in np.flatnonzero(won)))
    else:
        dice = [int(die) for die in state["dice"]]
        faces = "  ".join(f"{FACES[die]} {die}" for die in dice)
        left = int(state["throws_left"])
        lines.append(f"Dice  {faces}    {left} {'throw' if left == 1 else 'throws'} left")
    return "\n".join(lines)
