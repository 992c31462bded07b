"""The canonical form of a position in Yahtzee Jr.: one position represents all that are equivalent for a seat.

- Characters differ only in their names. Swapping two rows, and the faces of the dice with them, gives an equivalent
  position. The canonical form has the seat's open characters first, sorted by the number of dice that show them, the
  highest number first.
- A die is useless to a seat if it shows a character whose token that seat has placed. In the canonical form all such
  dice show the character of the last row.
- A row is finished when everyone has placed a token in it. Only the sum of a seat's points in these rows matters. The
  canonical form moves as many of these points as possible into the first finished row, then into the next.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.dice import NUM_DICE, count, name_keeps
from fivedice.envs.core.kernel import kernel
from fivedice.envs.yahtzee_jr.rules import CLUBHOUSE, NUM_CHARACTERS, OPEN, PLACE

FARTHEST = 5  # the column farthest from the picture
PLACES = FARTHEST + 2  # a token is open, or in one of six columns
ARRANGEMENTS = PLACES**4  # how many arrangements the tokens of four seats have in a row
FINISHED = (NUM_DICE + 2) * ARRANGEMENTS  # the lowest sort key of a finished row


@kernel
def to_canonical(state: Any, options: Any, seat: int, out: Any, actions: NDArray[np.int64]) -> None:
    """Change `out`, a copy of `state`, into its canonical form for `seat`. See `Game.canonical`."""
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
        gather_points(out["tokens"][other], NUM_CHARACTERS - num_finished)


@kernel
def order(state: Any, num_players: int, seat: int, character: int) -> int:
    """The sort key of a character's row, at least FINISHED if the row is finished. The lowest key comes first."""
    arrangement, some_open = 0, False
    for i in range(num_players):
        token = int(state["tokens"][(seat + i) % num_players, character])
        arrangement = arrangement * PLACES + token - OPEN
        some_open |= token == OPEN
    if state["tokens"][seat, character] == OPEN:
        return arrangement + (NUM_DICE - count(state["dice"], character + 1)) * ARRANGEMENTS
    return arrangement + (NUM_DICE + 1) * ARRANGEMENTS if some_open else arrangement + FINISHED


@kernel
def canonical_row(state: Any, num_players: int, seat: int, character: int) -> int:
    """The row of a character in the canonical form. Rows with equal keys keep their order."""
    own, row = order(state, num_players, seat, character), 0
    for other in range(NUM_CHARACTERS):
        key = order(state, num_players, seat, other)
        row += key < own or (key == own and other < character)
    return row


@kernel
def write_dice(state: Any, seat: int, out: Any, actions: NDArray[np.int64]) -> None:
    """Write the dice of the canonical form, ascending, and the action that keeps only each of them.

    The action ``1 << slot`` keeps one die. Its entry in `actions` is the action that keeps this die in `state`.
    """
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
def gather_points(tokens: NDArray[np.int8], first: int) -> None:
    """Move the points of the rows from `first` on into as few rows as possible, the first rows first."""
    points = 0
    for row in range(first, NUM_CHARACTERS):
        points += int(tokens[row])
    for row in range(first, NUM_CHARACTERS):
        column = min(points, FARTHEST)
        tokens[row] = column
        points -= column
