"""What a seat of Yahtzee Jr. sees: the table, and the function that writes it.

The seat itself comes first, then the others in turn order. The table makes the space, the page and the named views; a
test holds the function against it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.dice import NUM_DICE, show_turn, throw_number, turn_pieces
from fivedice.envs.kernel import kernel
from fivedice.envs.spec import Layout, Piece
from fivedice.envs.yahtzee_jr.rules import (
    CLUBHOUSE,
    NUM_CHARACTERS,
    OPEN,
    PICTURE,
    column_for,
    free_column,
    is_terminal,
    score,
    showing,
    turns,
)


def layout(options: Any) -> Layout:
    """The table for an options record."""
    seats = int(options["num_players"])
    return Layout(
        [
            *turn_pieces(seats),
            Piece("same", (NUM_DICE,), 0, 1, "of each die: dice that show its character, if open, wild too, in fifths"),
            Piece("showing", (NUM_CHARACTERS,), 0, 1, "dice that show each own open character, wild too, in fifths"),
            Piece("points_now", (NUM_CHARACTERS,), 0, 1, "column that each own open token would go to now / 5"),
            Piece("columns", (NUM_CHARACTERS, NUM_DICE), 0, 1, "the same if 1, 2, … 5 dice showed it / 5"),
            Piece("open", (seats, NUM_CHARACTERS), 0, 1, "1 for each token of each seat that is not placed yet"),
            Piece(
                "board", (seats, NUM_CHARACTERS, NUM_DICE), 0, 1, "1 where a seat's token stands: row, column 1 to 5"
            ),
            Piece("turns_left", (seats,), 0, 1, "turns that each seat has still to finish / 5"),
            Piece("score", (seats,), 0, 1, "points so far / 25"),
        ]
    )


@kernel
def observe(state: Any, options: Any, seat: int, out: NDArray[np.float32]) -> None:
    """Write what `seat` sees into `out`, the pieces of the table one after the other."""
    num_players = int(options["num_players"])
    dice = state["dice"]
    out[:] = 0.0
    at = show_turn(state, throw_number(state["dice"]), num_players, seat, is_terminal(state, options), out)

    own = state["tokens"][seat]
    for slot in range(NUM_DICE):
        character = int(dice[slot]) - 1
        if dice[slot] != CLUBHOUSE and own[character] == OPEN:
            out[at + slot] = showing(dice, character) / 5.0
    at += NUM_DICE
    for character in range(NUM_CHARACTERS):
        if own[character] == OPEN:
            out[at + character] = showing(dice, character) / 5.0
            out[at + NUM_CHARACTERS + character] = column_for(character, dice, state["tokens"]) / 5.0
            for number in range(1, NUM_DICE + 1):
                place = at + 2 * NUM_CHARACTERS + character * NUM_DICE + number - 1
                out[place] = free_column(character, number, state["tokens"]) / 5.0
    opens = at + 2 * NUM_CHARACTERS + NUM_CHARACTERS * NUM_DICE
    board = opens + num_players * NUM_CHARACTERS
    turns_left = board + num_players * NUM_CHARACTERS * NUM_DICE
    points = turns_left + num_players
    for i in range(num_players):
        tokens = state["tokens"][(seat + i) % num_players]
        left = turns(options)
        for character in range(NUM_CHARACTERS):
            column = int(tokens[character])
            if column == OPEN:
                out[opens + i * NUM_CHARACTERS + character] = 1.0
            else:
                left -= 1
                if column > PICTURE:
                    out[board + (i * NUM_CHARACTERS + character) * NUM_DICE + column - 1] = 1.0
        out[turns_left + i] = left / 5.0
        out[points + i] = score(tokens) / 25.0
