"""The observation of a seat in Yahtzee Jr.: its layout, and the function that writes it.

The observing seat comes first, then the others in turn order. The observation space, the table on the page of the game
and the named views are made from the layout. A test compares the function with the layout.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.dice import NUM_DICE, THROWS, TURN_SIZE, seat_after, turn_fields
from fivedice.envs.core.dice_lookup import show_mover, show_throw, throw_number
from fivedice.envs.core.kernel import kernel, plain
from fivedice.envs.core.spec import Field, Layout
from fivedice.envs.yahtzee_jr.lookup import SHOWING, free_column, is_terminal, open_tokens, taken_columns
from fivedice.envs.yahtzee_jr.rules import CLUBHOUSE, NUM_CHARACTERS, OPEN, score, turns

# The values of the observation are looked up, because divisions and branches would take longer than everything else.
FIFTHS = (np.arange(NUM_DICE + 1) / 5.0).astype(np.float32)
SCORE_SHOWN = (np.arange(NUM_CHARACTERS * NUM_DICE + 1) / 25.0).astype(np.float32)
SAME_SHOWN = np.array(  # (252, 5): for each die of a throw, how many dice show its character / 5; 0 for a Clubhouse
    [
        [0.0 if face == CLUBHOUSE else SHOWING[number, face - 1] / 5.0 for face in dice]
        for number, dice in enumerate(THROWS)
    ],
    np.float32,
)
COLUMNS_SHOWN = np.array(  # (32, 6): the column for a number of dice / 5; the first index is the set of taken columns
    [
        [plain(free_column)(taken << 1, number) / 5.0 for number in range(NUM_DICE + 1)]
        for taken in range(1 << NUM_DICE)
    ],
    np.float32,
)
OPENS_SHOWN = np.array(  # (32, 5): a set of tokens as one number for each token
    [[(opens >> character) & 1 for character in range(NUM_CHARACTERS)] for opens in range(1 << NUM_CHARACTERS)],
    np.float32,
)
PLACED = (NUM_CHARACTERS - OPENS_SHOWN.sum(axis=1)).astype(np.int8)  # (32,): placed tokens by the set of open ones
BOARD_SHOWN = np.array(  # (7, 5): the columns 1 to 5, one-hot, for a token that is open or in column 0, 1, … 5
    [[column == stands for column in range(1, NUM_DICE + 1)] for stands in range(OPEN, NUM_DICE + 1)], np.float32
)


def layout(options: Any) -> Layout:
    """The observation fields for an options record."""
    seats = int(options["num_players"])
    return Layout(
        [
            *turn_fields(seats),
            Field("same", (NUM_DICE,), 0, 1, "for each die: dice with its open character, Clubhouses too, / 5"),
            Field("showing", (NUM_CHARACTERS,), 0, 1, "for each own open character: dice with it, Clubhouses too, / 5"),
            Field("points_now", (NUM_CHARACTERS,), 0, 1, "for each own open token: its column if placed now / 5"),
            Field("columns", (NUM_CHARACTERS, NUM_DICE), 0, 1, "the same if 1, 2, … 5 dice showed its character"),
            Field("open", (seats, NUM_CHARACTERS), 0, 1, "for each seat and token: 1 if the token is not placed yet"),
            Field("board", (seats, NUM_CHARACTERS, NUM_DICE), 0, 1, "1 where a seat's token is: row, column 1 to 5"),
            Field("turns_left", (seats,), 0, 1, "turns that each seat has not finished yet / 5"),
            Field("score", (seats,), 0, 1, "points so far / 25"),
        ]
    )


@kernel(inline=True)
def observe(state: Any, options: Any, seat: int, out: NDArray[np.float32]) -> None:
    """Write the observation of `seat` into `out`, (size,) float32."""
    num_players = max(1, int(options["num_players"]))  # tells the compiler that no index is negative
    show_mover(state, num_players, seat, is_terminal(state, options), out)
    opens = open_tokens(state["tokens"][seat])
    at = num_players + TURN_SIZE + NUM_DICE + 2 * NUM_CHARACTERS
    for character in range(NUM_CHARACTERS):
        places = COLUMNS_SHOWN[taken_columns(character, state["tokens"]) >> 1]
        for column in range(NUM_DICE):
            out[at + column] = places[column + 1] * OPENS_SHOWN[opens, character]
        at += NUM_DICE

    board = at + num_players * NUM_CHARACTERS
    turns_left = board + num_players * NUM_CHARACTERS * NUM_DICE
    points = turns_left + num_players
    for i in range(num_players):
        tokens = state["tokens"][seat_after(seat, i, num_players)]
        opens = open_tokens(tokens)
        is_open = OPENS_SHOWN[opens]
        for character in range(NUM_CHARACTERS):
            out[at + character] = is_open[character]
            stands = BOARD_SHOWN[int(tokens[character]) - OPEN]
            for column in range(NUM_DICE):
                out[board + character * NUM_DICE + column] = stands[column]
        at += NUM_CHARACTERS
        board += NUM_CHARACTERS * NUM_DICE
        out[turns_left + i] = FIFTHS[turns(options) - int(PLACED[opens])]
        out[points + i] = SCORE_SHOWN[score(tokens)]
    observe_throw(state, options, seat, out)


@kernel(inline=True)
def observe_throw(state: Any, options: Any, seat: int, out: NDArray[np.float32]) -> None:
    """Write the fields from `dice` to `points_now`, which a throw changes. `out` already has the other fields."""
    dice, number = state["dice"], throw_number(state["dice"])
    at = show_throw(state, number, max(1, int(options["num_players"])), out)
    opens = open_tokens(state["tokens"][seat])
    same, is_open = SAME_SHOWN[number], OPENS_SHOWN[opens]
    for slot in range(NUM_DICE):
        out[at + slot] = same[slot] * np.float32((opens >> (int(dice[slot]) - 1)) & 1)
    at += NUM_DICE
    shown = SHOWING[number]
    for character in range(NUM_CHARACTERS):
        out[at + character] = FIFTHS[shown[character]] * is_open[character]
        places = COLUMNS_SHOWN[taken_columns(character, state["tokens"]) >> 1]
        out[at + NUM_CHARACTERS + character] = places[shown[character]] * is_open[character]
