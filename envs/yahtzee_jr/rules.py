"""The rules of Mickey Mouse Clubhouse Yahtzee Jr. (2007), for one game. They define the game; the page explains them.

`lookup` has fast versions of some of these functions, and games run those. The tests compare them with the functions
here for all throws and boards, so a change of a rule is made here first, then there.

The parts: the state and the actions, legal actions, a step of the game, its end, ties.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.chance import Chance
from fivedice.envs.core.dice import KEEP_ALL, NUM_DICE, Dice, count, seat_after, start_turn, throw
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.option import OneOf
from fivedice.envs.core.winners import NO_SEATS, has_seat, mark_highest, num_seats, with_seat

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
    if options["num_players"] <= 2:
        return 5
    return 4 if options["num_players"] == 3 else 3


@kernel
def showing(dice: Dice, character: int) -> int:
    """How many dice show `character`, Clubhouses included."""
    return count(dice, character + 1) + count(dice, CLUBHOUSE)


@kernel
def least_showing(dice: Dice, own: NDArray[np.int8], throws_left: int, options: Any) -> int:
    """How many dice must show a character so that a player with tokens `own` may place its token now."""
    most = 0
    for character in range(NUM_CHARACTERS):
        if own[character] == OPEN:
            most = max(most, showing(dice, character))
    if most == 0:
        # No open character shows. The player must throw again (no token has one die or more) or, after the third
        # throw, place a token that scores nothing.
        return 0 if throws_left == 0 else 1
    return most if options["must_score_most"] else 1


@kernel
def legal_actions(state: Any, options: Any, mask: NDArray[np.int8]) -> None:
    if is_terminal(state, options):
        mask[:] = 0
        return
    for keep in range(PLACE):
        mask[keep] = state["throws_left"] > 0
    dice, own = state["dice"], state["tokens"][state["player"]]
    least = least_showing(dice, own, state["throws_left"], options)
    for character in range(NUM_CHARACTERS):
        mask[PLACE + character] = own[character] == OPEN and showing(dice, character) >= least


@kernel
def column_for(character: int, dice: Dice, tokens: NDArray[np.int8]) -> int:
    """The column that a token of `character` goes to: one for each die, or the next free one towards the picture."""
    column = showing(dice, character)
    while column > PICTURE and is_taken(character, column, tokens):
        column -= 1
    return column


@kernel
def is_taken(character: int, column: int, tokens: NDArray[np.int8]) -> bool:
    """Whether a player's token stands in this cell of the board."""
    for seat in range(MOST_SEATS):
        if tokens[seat, character] == column:
            return True
    return False


@kernel
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


@kernel
def is_terminal(state: Any, options: Any) -> bool:
    player, placed = state["player"], 0
    for character in range(NUM_CHARACTERS):
        if state["tokens"][player, character] != OPEN:
            placed += 1
    is_last_seat = player == options["num_players"] - 1  # the last seat has the last turn
    return bool(is_last_seat and placed == turns(options))


@kernel(inline=True)
def score(own: NDArray[np.int8]) -> int:
    """The points of a player with tokens `own`: the number of each token's column."""
    points = 0
    for character in range(NUM_CHARACTERS):
        points += max(0, int(own[character]))
    return points


@kernel
def scores(state: Any, options: Any, points: NDArray[np.float64]) -> None:
    for seat in range(options["num_players"]):
        points[seat] = score(state["tokens"][seat])


@kernel
def break_tie(state: Any, options: Any, chance: Chance) -> None:
    """The tied players throw five dice each, and the most Clubhouses win. Those still tied throw again."""
    tied = best_seats(state, options)
    while num_seats(tied) > 1:
        throwing, tied, most = tied, NO_SEATS, 0
        for seat in range(options["num_players"]):
            if has_seat(throwing, seat):
                throw(state["dice"], 0, seat, chance)
                clubhouses = count(state["dice"], CLUBHOUSE)
                if clubhouses > most:
                    tied, most = NO_SEATS, clubhouses
                if clubhouses == most:
                    tied = with_seat(tied, seat)
                    state["roll_off"] = seat  # if one seat is left, it is the last one written here


@kernel
def best_seats(state: Any, options: Any) -> int:
    """The set of the seats with the most points."""
    best, most = NO_SEATS, 0
    for seat in range(options["num_players"]):
        points = score(state["tokens"][seat])
        if points > most:
            best, most = NO_SEATS, points
        if points == most:
            best = with_seat(best, seat)
    return best


@kernel
def winners(state: Any, options: Any, won: NDArray[np.int8]) -> None:
    highest = 0
    for seat in range(options["num_players"]):
        if state["roll_off"] == NOBODY:
            highest = mark_highest(seat, score(state["tokens"][seat]), highest, won)
        else:
            won[seat] = seat == state["roll_off"]
