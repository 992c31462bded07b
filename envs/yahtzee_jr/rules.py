"""The rules of Mickey Mouse Clubhouse Yahtzee Jr. (2007), for one game. The page beside this file tells them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.chance import Chance
from fivedice.envs.core.dice import KEEP_ALL, NUM_DICE, THROWS, Dice, count, seat_after, start_turn, throw, throw_number
from fivedice.envs.core.kernel import kernel, plain
from fivedice.envs.core.option import OneOf

CHARACTERS = ("Mickey", "Minnie", "Donald", "Daisy", "Goofy")  # faces 1..5 of a die, rows 0..4 of the board
NUM_CHARACTERS = 5
CLUBHOUSE = 6  # the wild face
PICTURE = 0  # the column that takes any number of tokens and scores nothing
MOST_SEATS = 4

OPEN = -1  # in `tokens`: not placed yet
NOBODY = -1  # in `roll_off`: there was none

STATE = np.dtype(
    [
        ("dice", np.int8, (NUM_DICE,)),  # faces 1..6, ascending; after a tie those of the last throw for the win
        ("throws_left", np.uint8),  # 2, 1 or 0
        ("player", np.uint8),  # the seat whose turn it is
        ("tokens", np.int8, (MOST_SEATS, NUM_CHARACTERS)),  # the column of each token, 0..5, or OPEN
        ("roll_off", np.int8),  # the seat that won a tie by throwing the most Clubhouses, or NOBODY
    ]
)

# Actions 0..30 keep the dice in these slots and throw the others; action 31 + c places the token of character c.
PLACE = KEEP_ALL
NUM_ACTIONS = PLACE + NUM_CHARACTERS

ROLL, SHARE = 0, 1
OPTIONS = (
    OneOf("must_score_most", (True, False), "whether the character scored must be one that shows the most dice"),
    OneOf("tie_break", ("roll", "share"), "whether tied players throw for the win, or share it"),
)


@kernel
def setup(state: Any, options: Any, chance: Chance) -> None:
    state["tokens"][:] = OPEN
    state["roll_off"] = NOBODY
    start_turn(state, 0, chance)


@kernel(inline=True)
def current_player(state: Any) -> int:
    return int(state["player"])


@kernel(inline=True)
def turns(options: Any) -> int:
    """How many turns each player has: 5 for one or two players, 4 for three, 3 for four."""
    return min(5, 7 - int(options["num_players"]))


@kernel
def showing(dice: Dice, character: int) -> int:
    """How many dice show a character, the wild ones included."""
    return count(dice, character + 1) + count(dice, CLUBHOUSE)


# How many dice show each character, for each throw.
SHOWING = np.array(
    [[plain(showing)(dice, character) for character in range(NUM_CHARACTERS)] for dice in THROWS], np.int8
)


@kernel(inline=True)
def least_showing(dice: Dice, own: NDArray[np.int8], throws_left: int, options: Any) -> int:
    """How many dice must show a character for a player with tokens `own` to place its token now."""
    shown, most = SHOWING[throw_number(dice)], 0
    for character in range(NUM_CHARACTERS):
        most = max(most, int(shown[character]) * (own[character] == OPEN))
    if most == 0 and throws_left == 0:
        return 0  # a zero: only after the third throw, and only if no open character shows
    return max(1, most) if options["must_score_most"] else 1


@kernel(inline=True)
def legal_actions(state: Any, options: Any, mask: NDArray[np.int8]) -> None:
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
    """The column that a token of `character` goes to with these dice."""
    return free_column(taken_columns(character, tokens), showing(dice, character))


@kernel(inline=True)
def taken_columns(character: int, tokens: NDArray[np.int8]) -> int:
    """The cells of a row that are not free, as a set (bit c: column c). PICTURE always is: it takes any number."""
    taken = 0
    for seat in range(MOST_SEATS):
        taken |= (1 << int(tokens[seat, character]) - OPEN) >> 1  # no bit for OPEN
    return taken & ~(1 << PICTURE)


@kernel(inline=True)
def free_column(taken: int, number: int) -> int:
    """The column that `number` dice give a token: that one, or the first cell to its left that is not `taken`."""
    column = number
    while (taken >> column) & 1:
        column -= 1
    return column


@kernel(inline=True)
def apply(state: Any, options: Any, action: int, chance: Chance) -> None:
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
    """The characters whose token is not placed yet, as a set (bit c: character c)."""
    opens = 0
    for character in range(NUM_CHARACTERS):
        opens |= int(own[character] == OPEN) << character
    return opens


@kernel(inline=True)
def is_terminal(state: Any, options: Any) -> bool:
    # The last seat places the last token of the game.
    player, placed = state["player"], 0
    for character in range(NUM_CHARACTERS):
        placed += state["tokens"][player, character] != OPEN
    return bool((player == options["num_players"] - 1) & (placed == turns(options)))


@kernel
def break_tie(state: Any, options: Any, chance: Chance) -> None:
    """The tied players throw five dice each and most Clubhouses win; those still tied throw again."""
    tied = best_seats(state, options)
    while num_seats(tied) > 1:
        throwing, tied, most = tied, 0, 0
        for seat in range(options["num_players"]):
            if has_seat(throwing, seat):
                throw(state["dice"], 0, seat, chance)
                clubhouses = count(state["dice"], CLUBHOUSE)
                if clubhouses > most:
                    tied, most = 0, clubhouses
                if clubhouses == most:
                    tied |= 1 << seat
                    state["roll_off"] = seat  # if one seat is left, the last that got here is that seat


@kernel
def best_seats(state: Any, options: Any) -> int:
    """The seats with the most points, as a set of bits."""
    best, most = 0, 0
    for seat in range(options["num_players"]):
        points = score(state["tokens"][seat])
        if points > most:
            best, most = 0, points
        if points == most:
            best |= 1 << seat
    return best


@kernel
def has_seat(seats: int, seat: int) -> bool:
    """Whether `seat` is in a set of bits."""
    return bool((seats >> seat) & 1)


@kernel
def num_seats(seats: int) -> int:
    """How many seats are in a set of bits."""
    number = 0
    for seat in range(MOST_SEATS):
        number += has_seat(seats, seat)
    return number


@kernel(inline=True)
def score(own: NDArray[np.int8]) -> int:
    """The points of a player with tokens `own`: a point for each column that a token stands away from the picture."""
    points = 0
    for character in range(NUM_CHARACTERS):
        points += max(0, int(own[character]))
    return points


@kernel
def scores(state: Any, options: Any, points: NDArray[np.float64]) -> None:
    for seat in range(options["num_players"]):
        points[seat] = score(state["tokens"][seat])


@kernel
def winners(state: Any, options: Any, won: NDArray[np.int8]) -> None:
    best = best_seats(state, options)
    for seat in range(options["num_players"]):
        if state["roll_off"] == NOBODY:
            won[seat] = has_seat(best, seat)
        else:
            won[seat] = seat == state["roll_off"]
