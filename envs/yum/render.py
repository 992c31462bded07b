"""Yum as text: the score sheet, the dice, and the names of actions."""

from typing import Any

from fivedice.envs.display.words import draw_dice, keep_names, name_keep, name_winners
from fivedice.envs.yum.rules import (
    BONUS,
    BONUS_FROM,
    BOXES,
    FILL,
    OPEN,
    SIXES,
    earns_bonus,
    has_bonus,
    is_terminal,
    points_in,
    score,
    upper_total,
    winners,
)


def action_names(options: Any) -> tuple[str, ...]:
    """A name for each action. Dice are named by their slots."""
    return (*keep_names(), *(f"fill {box}" for box in BOXES))


def name_action(state: Any, options: Any, action: int) -> str:
    """The name of an action in this state: the faces of the dice kept, or the box to fill and its points."""
    if action < FILL:
        return name_keep(state["dice"], action)
    box, boxes = action - FILL, state["boxes"][state["player"]]
    points, upper = points_in(box, state["dice"], boxes, options), upper_total(boxes)
    earned = box <= SIXES and earns_bonus(upper, points)
    return f"fill {BOXES[box]}: {points}" + (f" and the bonus of {BONUS}" if earned else "")


def render(state: Any, options: Any) -> str:
    """The score sheets of all seats with a mark at the player to move, and the dice or the winners."""
    seats = range(int(options["num_players"]))
    over = bool(is_terminal(state, options))
    mover = int(state["player"])
    width = 12 if len(seats) < 6 else 11  # six columns fit in 80 characters, too

    def row(name: str, values: list[str]) -> str:
        return f"{name:<14}" + "".join(f"{value:>{width}}" for value in values)

    lines = [row("", [("▸ " if seat == mover and not over else "") + f"player_{seat}" for seat in seats])]
    for box, name in enumerate(BOXES):
        written = [int(state["boxes"][seat][box]) for seat in seats]
        lines.append(row(name, ["·" if points == OPEN else str(points) for points in written]))
        if name == "Sixes":
            totals = [int(upper_total(state["boxes"][seat])) for seat in seats]
            bonus = [f" +{BONUS}" if has_bonus(total) else "" for total in totals]
            lines.append(row(f"  of {BONUS_FROM}", [f"{totals[seat]}{bonus[seat]}" for seat in seats]))
    lines.append(row("Total", [str(score(state["boxes"][seat])) for seat in seats]))
    if over:
        lines.append(f"Game over, won by {name_winners(winners, state, options)}")
    else:
        lines.append(draw_dice(state["dice"], int(state["throws_left"])))
    return "\n".join(lines)
