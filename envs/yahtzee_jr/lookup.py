"""Fast versions of functions of `rules`, for batches. The tests compare each with the plain function of its name.

This module has all verbs of a game's rules. Verbs that need no fast version are those of `rules`. The table is made on
import by asking the plain rules.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.chance import Chance
from fivedice.envs.core.dice import THROWS, Dice, seat_after, start_turn, throw
from fivedice.envs.core.dice_lookup import throw_number
from fivedice.envs.core.kernel import kernel, plain
from fivedice.envs.yahtzee_jr.rules import (
    MOST_SEATS,
    NUM_CHARACTERS,
    OPEN,
    OPTIONS,
    PICTURE,
    PLACE,
    ROLL,
    STATE,
    break_tie,
    current_player,
    scores,
    setup,
    showing,
    turns,
    winners,
)

__all__ = [
    "OPTIONS",
    "STATE",
    "apply",
    "current_player",
    "is_terminal",
    "legal_actions",
    "scores",
    "setup",
    "winners",
]

# How many dice show each character, for each throw.
SHOWING = np.array(
    [[plain(showing)(dice, character) for character in range(NUM_CHARACTERS)] for dice in THROWS], np.int8
)


@kernel(inline=True)
def least_showing(dice: Dice, own: NDArray[np.int8], throws_left: int, options: Any) -> int:
    """`rules.least_showing`."""
    shown, most = SHOWING[throw_number(dice)], 0
    for character in range(NUM_CHARACTERS):
        most = max(most, int(shown[character]) * (own[character] == OPEN))
    if most == 0 and throws_left == 0:
        return 0
    return max(1, most) if options["must_score_most"] else 1


@kernel(inline=True)
def legal_actions(state: Any, options: Any, mask: NDArray[np.int8]) -> None:
    """`rules.legal_actions`."""
    if is_terminal(state, options):
        mask[:] = 0
        return
    may_throw = state["throws_left"] > 0
    for keep in range(PLACE):
        mask[keep] = may_throw
    dice, own = state["dice"], state["tokens"][state["player"]]
    shown, least = SHOWING[throw_number(dice)], least_showing(dice, own, state["throws_left"], options)
    for character in range(NUM_CHARACTERS):
        mask[PLACE + character] = (own[character] == OPEN) & (shown[character] >= least)


@kernel(inline=True)
def column_for(character: int, dice: Dice, tokens: NDArray[np.int8]) -> int:
    """`rules.column_for`."""
    return free_column(taken_columns(character, tokens), int(SHOWING[throw_number(dice), character]))


@kernel(inline=True)
def taken_columns(character: int, tokens: NDArray[np.int8]) -> int:
    """`rules.is_taken` of columns 1 to 5 of a row, as a set (bit c: column c). PICTURE is always free."""
    taken = 0
    for seat in range(MOST_SEATS):
        taken |= (1 << int(tokens[seat, character]) - OPEN) >> 1  # no bit for OPEN
    return taken & ~(1 << PICTURE)


@kernel(inline=True)
def free_column(taken: int, number: int) -> int:
    """Column `number`, or the first column to its left that is not in the set `taken`."""
    column = number
    while (taken >> column) & 1:
        column -= 1
    return column


@kernel(inline=True)
def apply(state: Any, options: Any, action: int, chance: Chance) -> None:
    """`rules.apply`."""
    player = int(state["player"])
    if action < PLACE:
        state["throws_left"] -= 1
        throw(state["dice"], action, player, chance)
        return
    character = action - PLACE
    state["tokens"][player, character] = column_for(character, state["dice"], state["tokens"])
    if not is_terminal(state, options):
        start_turn(state, seat_after(player, 1, int(options["num_players"])), chance)
    elif options["tie_break"] == ROLL:
        break_tie(state, options, chance)


@kernel(inline=True)
def open_tokens(own: NDArray[np.int8]) -> int:
    """The characters whose token in `own` is open, as a set (bit c: character c)."""
    opens = 0
    for character in range(NUM_CHARACTERS):
        opens |= int(own[character] == OPEN) << character
    return opens


@kernel(inline=True)
def is_terminal(state: Any, options: Any) -> bool:
    """`rules.is_terminal`."""
    player, placed = state["player"], 0
    for character in range(NUM_CHARACTERS):
        placed += state["tokens"][player, character] != OPEN
    return bool((player == options["num_players"] - 1) & (placed == turns(options)))
