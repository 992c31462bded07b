"""What a seat of Yahtzee Jr. sees: the table, and the function that writes it.

The seat itself comes first, then the others in turn order. The table makes the space, the page and the named views; a
test holds the function against it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.dice import NUM_DICE, show_turn, turn_pieces
from fivedice.envs.kernel import kernel
from fivedice.envs.spec import Layout, Piece
from fivedice.envs.yahtzee_jr.rules import (
    NUM_CHARACTERS,
    OPEN,
    PICTURE,
    column_for,
    is_terminal,
    score,
    showing,
    turns,
)


def layout(num_players: int) -> Layout:
    """The table for a number of seats."""
    seats = num_players
    return Layout(
        [
            *turn_pieces(seats),
            Piece(
                "showing", (NUM_CHARACTERS,), 0, 1, "dice that show each own open character, wild ones too, in fifths"
            ),
            Piece("points_now", (NUM_CHARACTERS,), 0, 1, "column that each own open token would go to now / 5"),
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
    at = show_turn(state, num_players, seat, is_terminal(state, options), out)

    own = state["tokens"][seat]
    for character in range(NUM_CHARACTERS):
        if own[character] == OPEN:
            out[at + character] = showing(dice, character) / 5.0
            out[at + NUM_CHARACTERS + character] = column_for(character, dice, state["tokens"]) / 5.0
    opens = at + 2 * NUM_CHARACTERS
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
