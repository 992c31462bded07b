"""The canonical form of a position of Yahtzee Jr.: one position for all that are equivalent for a seat.

- Characters differ only in their names, so rows may change places together with the faces of the dice. The canonical
  form puts the seat's open characters first, those that more dice show before others.
- A die is useless to a seat if it shows a character whose token that seat has placed. The canonical form lets all such
  dice show the character of the last row.
- In a row where everyone has placed a token, only the points matter. The canonical form moves each seat's points of
  these rows as far from the picture as possible, one row after the other.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.dice import NUM_DICE, count, name_keeps
from fivedice.envs.core.kernel import kernel
from fivedice.envs.yahtzee_jr.rules import CLUBHOUSE, NUM_CHARACTERS, OPEN, PLACE

FAR = 5  # the column furthest from the picture
PLACES = FAR + 2  # a token is open, or in one of six columns
CROWDS = PLACES**4  # how many ways four tokens may stand in a row
FINISHED = (NUM_DICE + 2) * CROWDS


@kernel
def to_canonical(state: Any, options: Any, seat: int, out: Any, actions: NDArray[np.int64]) -> None:
    """See `Game.canonical`."""
    num_players = int(options["num_players"])
    num_finished = 0
    for character in range(NUM_CHARACTERS):
        row = canonical_row(state, num_players, seat, character)
        actions[PLACE + row] = PLACE + character
        num_finished += order(state, num_players, seat, character) >= FINISHED
        for other in range(num_players):
            out["tokens"][other, row] = state["tokens"][other, character]
    write_dice(state, seat, out, actions)
    name_keeps(out["dice"], actions)
    for other in range(num_players):
        push_together(out["tokens"][other], NUM_CHARACTERS - num_finished)


@kernel
def order(state: Any, num_players: int, seat: int, character: int) -> int:
    """The sort key of a row in the canonical form; FINISHED or more if everyone has placed a token there."""
    crowd, some_open = 0, False
    for i in range(num_players):
        token = int(state["tokens"][(seat + i) % num_players, character])
        crowd = crowd * PLACES + token - OPEN
        some_open |= token == OPEN
    if state["tokens"][seat, character] == OPEN:
        return crowd + (NUM_DICE - count(state["dice"], character + 1)) * CROWDS
    return crowd + (NUM_DICE + 1) * CROWDS if some_open else crowd + FINISHED


@kernel
def canonical_row(state: Any, num_players: int, seat: int, character: int) -> int:
    """The row of a character in the canonical form."""
    own, row = order(state, num_players, seat, character), 0
    for other in range(NUM_CHARACTERS):
        key = order(state, num_players, seat, other)
        row += key < own or (key == own and other < character)
    return row


@kernel
def write_dice(state: Any, seat: int, out: Any, actions: NDArray[np.int64]) -> None:
    """Write the dice of the canonical form, ascending, and for each its slot in the position itself."""
    slot = 0
    for row in range(NUM_CHARACTERS):
        character = int(actions[PLACE + row]) - PLACE
        if state["tokens"][seat, character] == OPEN:
            for old in range(NUM_DICE):
                if state["dice"][old] == character + 1:
                    out["dice"][slot] = row + 1
                    actions[1 << slot] = 1 << old
                    slot += 1
    for old in range(NUM_DICE):
        face = int(state["dice"][old])
        if face != CLUBHOUSE and state["tokens"][seat, face - 1] != OPEN:
            out["dice"][slot] = NUM_CHARACTERS
            actions[1 << slot] = 1 << old
            slot += 1
    for old in range(NUM_DICE):
        if state["dice"][old] == CLUBHOUSE:
            out["dice"][slot] = CLUBHOUSE
            actions[1 << slot] = 1 << old
            slot += 1


@kernel
def push_together(tokens: NDArray[np.int8], first: int) -> None:
    """Move the tokens of the rows from `first` on as far from the picture as their points allow."""
    points = 0
    for row in range(first, NUM_CHARACTERS):
        points += int(tokens[row])
    for row in range(first, NUM_CHARACTERS):
        column = min(points, FAR)
        tokens[row] = column
        points -= column
