"""Yahtzee Jr. as text: the board, the dice, and the names of actions."""

from typing import Any

from fivedice.envs.display.words import draw_dice, keep_names, name_keep, name_winners
from fivedice.envs.yahtzee_jr.rules import (
    CHARACTERS,
    NOBODY,
    OPEN,
    PICTURE,
    PLACE,
    column_for,
    is_terminal,
    score,
    winners,
)

FACES = (*CHARACTERS, "Clubhouse")


def action_names(options: Any) -> tuple[str, ...]:
    """A name for each action. Dice are named by their slots."""
    return (*keep_names(), *(f"place {character}" for character in CHARACTERS))


def name_action(state: Any, options: Any, action: int) -> str:
    """The name of an action in this state: the faces of the dice kept, or the token to place and its column."""
    if action < PLACE:
        return name_keep(state["dice"], action, FACES)
    character = action - PLACE
    column = int(column_for(character, state["dice"], state["tokens"]))
    return f"place {CHARACTERS[character]}: {column}"


def render(state: Any, options: Any) -> str:
    """The board with tokens as seat numbers, each seat's points and open tokens, and the dice or the winners."""
    seats = range(int(options["num_players"]))
    over = bool(is_terminal(state, options))
    lines = [f"{'':<10}{'picture':^9}" + "".join(f"{column:^5}" for column in range(1, 6))]
    for row, character in enumerate(CHARACTERS):
        columns = [int(state["tokens"][seat][row]) for seat in seats]
        cells = [" ".join(str(seat) for seat in seats if columns[seat] == column) or "·" for column in range(6)]
        lines.append(f"{character:<10}{cells[PICTURE]:^9}" + "".join(f"{cell:^5}" for cell in cells[1:]))
    for seat in seats:
        tokens = state["tokens"][seat]
        left = ", ".join(name for row, name in enumerate(CHARACTERS) if tokens[row] == OPEN)
        mark = "▸" if seat == state["player"] and not over else " "
        lines.append(f"{mark} player_{seat}: {score(tokens)} points, open {left or 'none'}")
    if over:
        how = " after a tie, by throwing the most Clubhouses" if state["roll_off"] != NOBODY else ""
        lines.append(f"Game over, won by {name_winners(winners, state, options)}{how}")
    else:
        lines.append(draw_dice(state["dice"], int(state["throws_left"]), FACES))
    return "\n".join(line.rstrip() for line in lines)
