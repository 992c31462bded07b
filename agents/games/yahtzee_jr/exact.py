"""Yahtzee Jr. for one and for two seats, solved: the most points alone, the best chance to win against another.

Two seats play a game of perfect information with chance, so every position has one value, which backward induction
finds (Zermelo 1913; with chance, Shapley 1953): whoever moves takes the best of what is left, and what is left to the
one is 1 less what is left to the other. A drawn game is worth 1/2, whether it is shared or thrown for. Whole turns are
computed backward from the full board, and the three throws of a turn exactly inside (`turn.py`).

What matters of a board are the kinds of its rows, in any order, since no character differs from another: both tokens
open; one open, and the column of the other; both placed. With the difference in points, that is all: 2 615 sets of
kinds can come up at the start of a turn, where there are 68 million boards. The rules give columns and legality.
"""

from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.games.exact_turn import (
    NOTHING,
    NUM_SETS,
    NUM_THROWS,
    THROWS,
    THROWS_A_TURN,
    set_number,
    solve_turn,
)
from fivedice.agents.games.optimal import Optimal
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Options, State
from fivedice.envs.core.view import View
from fivedice.envs.yahtzee_jr import GAME
from fivedice.envs.yahtzee_jr.rules import (
    NUM_ACTIONS,
    NUM_CHARACTERS,
    OPEN,
    PICTURE,
    PLACE,
    STATE,
    column_for,
    legal_actions,
    score,
    winners,
)

COLUMNS = 6
MOST_POINTS = 5 * NUM_CHARACTERS

# The kinds of rows, as the seat to move sees them.
BOTH_OPEN = 0
MINE_OPEN = 1  # + the column of the other's token
OTHER_OPEN = MINE_OPEN + COLUMNS  # + the column of the own token
BOTH_PLACED = OTHER_OPEN + COLUMNS
NUM_KINDS = BOTH_PLACED + 1

_SETS = [kinds for size in range(NUM_CHARACTERS + 1) for kinds in combinations_with_replacement(range(NUM_KINDS), size)]
_NUMBER = {kinds: number for number, kinds in enumerate(_SETS)}
_FIRST_BOARD = next(number for number, kinds in enumerate(_SETS) if len(kinds) == NUM_CHARACTERS)

# (8568, 5) int8: the kinds of the five rows of each board, ascending.
BOARDS = np.array(_SETS[_FIRST_BOARD:], np.int8)

# (3060, 14) int16: the set of fewer than five rows with a row of each kind added.
WITH_ROW = np.array(
    [[_NUMBER[tuple(sorted((*kinds, kind)))] for kind in range(NUM_KINDS)] for kinds in _SETS[:_FIRST_BOARD]], np.int16
)

for _array in (BOARDS, WITH_ROW):
    _array.setflags(write=False)

# What a position is worth before a turn. Two seats: (8568, 51) float64, the chance of the seat to move to win, by the
# kinds of rows and its lead in points + 25. One seat: (6, 1) float64, the points to come, by the tokens still open. NaN
# where there is no such position.
Table = NDArray[np.float64]


@kernel
def row_kind(mine: int, other: int) -> int:
    """The kind of a row, from the columns of its two tokens."""
    if mine == OPEN:
        return BOTH_OPEN if other == OPEN else MINE_OPEN + other
    return OTHER_OPEN + mine if other == OPEN else BOTH_PLACED


@kernel
def board_number(tokens: NDArray[np.int8], player: int) -> int:
    """The number of a board with `player` to move, of two."""
    number = 0
    for row in range(NUM_CHARACTERS):
        number = WITH_ROW[number, row_kind(int(tokens[player, row]), int(tokens[1 - player, row]))]
    return number - _FIRST_BOARD


@kernel
def write_row(kind: int, row: int, player: int, tokens: NDArray[np.int8]) -> None:
    """Write a row of a kind to `player`; a finished one has both tokens on the picture."""
    mine, other = OPEN, OPEN
    if kind == BOTH_PLACED:
        mine, other = PICTURE, PICTURE
    elif kind >= OTHER_OPEN:
        mine = kind - OTHER_OPEN
    elif kind >= MINE_OPEN:
        other = kind - MINE_OPEN
    tokens[player, row], tokens[1 - player, row] = mine, other


@kernel
def num_placed(own: NDArray[np.int8]) -> int:
    """How many of a player's tokens stand on the board."""
    number = 0
    for character in range(NUM_CHARACTERS):
        number += own[character] != OPEN
    return number


@kernel
def lead_of(tokens: NDArray[np.int8], player: int) -> int:
    """The points of `player` less those of the other; all of them where there is no other."""
    return score(tokens[player]) - score(tokens[1 - player])


@kernel
def value_before(tokens: NDArray[np.int8], player: int, num_players: int, lead: int, table: Table) -> float:
    """What a position is worth before a turn to the `player` whose turn it is: points in all, or the chance to win."""
    if num_players == 1:
        return float(lead + table[NUM_CHARACTERS - num_placed(tokens[0]), 0])
    return float(table[board_number(tokens, player), MOST_POINTS + lead])


@kernel
def write_worth(state: Any, options: Any, first: int, table: Table, worth: NDArray[np.float64]) -> None:
    """Write what each open token is worth in each column to the seat to move into `worth` (5, 6, L), for a lead of
    `first`, `first` + 1, … before."""
    num_players, player, tokens = int(options["num_players"]), int(state["player"]), state["tokens"]
    for character in range(NUM_CHARACTERS):
        if tokens[player, character] == OPEN:
            for column in range(COLUMNS):
                tokens[player, character] = column
                for lane in range(worth.shape[2]):
                    lead = first + lane + column
                    if num_players == 1:
                        worth[character, column, lane] = value_before(tokens, player, num_players, lead, table)
                    else:
                        other = value_before(tokens, 1 - player, num_players, -lead, table)
                        worth[character, column, lane] = 1.0 - other
            tokens[player, character] = OPEN


@kernel(allocates=True)
def write_stops(state: Any, options: Any, worth: NDArray[np.float64], stops: NDArray[np.float64]) -> None:
    """Write the value of ending the turn with each throw into `stops` (T, 252, L), by the throws left, from what each
    token is `worth` (5, 6, L) in each column. The dice of `state` are used up."""
    mask = np.empty(NUM_ACTIONS, np.int8)
    stops[:] = -np.inf
    for throw in range(NUM_THROWS):
        state["dice"][:] = THROWS[throw]
        for left in range(len(stops)):
            state["throws_left"] = left
            legal_actions(state, options, mask)
            for character in range(NUM_CHARACTERS):
                if mask[PLACE + character]:
                    column = column_for(character, state["dice"], state["tokens"])
                    for lane in range(stops.shape[2]):
                        stops[left, throw, lane] = max(stops[left, throw, lane], worth[character, column, lane])


@kernel(allocates=True)
def solve_boards(boards: NDArray[np.int64], state: Any, options: Any, table: Table) -> None:
    """Write the value of each of `boards` (B,), whose successors are in `table`: numbers of boards with two seats,
    numbers of open tokens with one."""
    tokens = state["tokens"]
    for number in boards:
        spread = 0
        if options["num_players"] == 1:
            state["player"] = 0
            for character in range(NUM_CHARACTERS):
                tokens[0, character] = OPEN if character < number else PICTURE
        else:
            for row in range(NUM_CHARACTERS):
                write_row(BOARDS[number, row], row, 0, tokens)
            state["player"] = (num_placed(tokens[0]) + num_placed(tokens[1])) % 2
            for row in range(NUM_CHARACTERS):
                write_row(BOARDS[number, row], row, state["player"], tokens)
                if BOARDS[number, row] == BOTH_PLACED:
                    spread += 5  # a finished row is worth up to 5 points to either
        first = lead_of(tokens, state["player"]) - spread
        worth = np.empty((NUM_CHARACTERS, COLUMNS, 2 * spread + 1))
        stops = np.empty((THROWS_A_TURN, NUM_THROWS, 2 * spread + 1))
        values = np.empty((THROWS_A_TURN, NUM_SETS, 2 * spread + 1))
        write_worth(state, options, first, table, worth)
        write_stops(state, options, worth, stops)
        solve_turn(stops, values)
        middle = table.shape[1] // 2 + first
        table[number, middle : middle + 2 * spread + 1] = values[THROWS_A_TURN - 1, NOTHING]


@kernel
def number_contexts(states: Any, contexts: NDArray[np.int64]) -> None:
    """Write a number for each of `states` (N,) into `contexts` (N,): the same where all but the dice is the same."""
    for i in range(len(states)):
        number = int(states[i]["player"])
        for seat in range(2):
            for row in range(NUM_CHARACTERS):
                number = number * (COLUMNS + 1) + int(states[i]["tokens"][seat, row]) - OPEN
        contexts[i] = number * THROWS_A_TURN + int(states[i]["throws_left"])


@kernel(allocates=True)
def write_action_values(
    states: Any,
    contexts: NDArray[np.int64],
    order: NDArray[np.int64],
    options: Any,
    table: Table,
    room: Any,
    values: NDArray[np.float64],
) -> None:
    """Write the value of each action in each of `states` (N,) into `values` (N, num_actions), -inf where it is not
    legal. `order` (N,) brings equal `contexts` (N,) together; `room` (1,) is a state to work in."""
    mask = np.empty(NUM_ACTIONS, np.int8)
    worth = np.empty((NUM_CHARACTERS, COLUMNS, 1))
    stops, turn_values = np.empty((THROWS_A_TURN, NUM_THROWS, 1)), np.empty((THROWS_A_TURN, NUM_SETS, 1))
    solved = -1  # the context that `worth` and `turn_values` are of
    values[:] = -np.inf
    for i in order:
        room[0] = states[i]
        dice, tokens, left = states[i]["dice"], room[0]["tokens"], int(states[i]["throws_left"])
        legal_actions(states[i], options, mask)
        if contexts[i] != solved:
            write_worth(room[0], options, lead_of(tokens, room[0]["player"]), table, worth)
            if left > 0:
                write_stops(room[0], options, worth, stops[:left])
                solve_turn(stops[:left], turn_values[:left])
            solved = contexts[i]
        for character in range(NUM_CHARACTERS):
            if mask[PLACE + character]:
                values[i, PLACE + character] = worth[character, column_for(character, dice, tokens), 0]
        for keep in range(PLACE):
            if mask[keep]:
                values[i, keep] = turn_values[left - 1, set_number(dice, keep), 0]


class YahtzeeJrValues:
    """What a seat can expect that plays as well as can be: points alone, the chance to win against one other.

    Attributes:
        options: the options record.
        table: what each position is worth before a turn.
        start: the value of a whole game to seat 0.
    """

    def __init__(self, options: Options, table: Table) -> None:
        self.options, self.table = options, table
        tokens = np.full((2, NUM_CHARACTERS), OPEN, np.int8)
        self.start = float(value_before(tokens, 0, int(options["num_players"]), 0, table))

    def value(self, state: State, seat: int) -> float:
        """The value of one state to `seat`, whoever is to move; its points or share of the win once it is over."""
        return float(self.values(state.reshape(1), np.array([seat], np.int8))[0])

    def values(self, states: NDArray[np.void], seats: NDArray[np.int8]) -> NDArray[np.float64]:
        """The same for one seat (N,) of each of many states (N,), as (N,) float64."""
        values: NDArray[np.float64] = self._action_values(states).max(axis=1, initial=-np.inf)
        others = states["player"] != seats
        values[others] = 1.0 - values[others]
        for i in np.flatnonzero(np.isinf(values)):  # without an action the game is over
            values[i] = self._final_value(states[i], int(seats[i]))
        return values

    def _final_value(self, state: State, seat: int) -> float:
        if self.options["num_players"] == 1:
            return float(score(state["tokens"][0]))
        won = np.zeros(2, np.int8)
        winners(state, self.options, won)
        return float(won[seat] / won.sum())

    def action_values(self, view: View) -> NDArray[np.float64]:
        """The value to the seat that decides of each action, if all play their best from then on.

        Returns:
            (N, num_actions) float64, -inf where an action is not legal.
        """
        if view.game is not GAME or view.options != self.options:
            asked = f"{view.game.title} with {_described(view.options)}"
            raise ValueError(f"these are values of {GAME.title} with {_described(self.options)}, not of {asked}")
        return self._action_values(view.states)

    def _action_values(self, states: NDArray[np.void]) -> NDArray[np.float64]:
        values = np.empty((len(states), NUM_ACTIONS))
        contexts = np.empty(len(states), np.int64)
        number_contexts(states, contexts)
        order = np.argsort(contexts, kind="stable")
        write_action_values(states, contexts, order, self.options, self.table, np.zeros(1, STATE), values)
        return values


def solve(options: Options | None = None) -> YahtzeeJrValues:
    """Solve Yahtzee Jr. for an options record of one or two seats (None: the defaults, two).

    Args:
        options: as `Game.make_options` gives it.

    Raises:
        ValueError: there are more seats.
    """
    if options is None:
        options = GAME.make_options(2, {})
    num_players = int(options["num_players"])
    room = np.zeros(1, STATE)[0]
    room["tokens"][:] = OPEN
    if num_players == 1:
        table = np.zeros((NUM_CHARACTERS + 1, 1))
        boards = np.arange(1, NUM_CHARACTERS + 1)
    elif num_players == 2:
        table = np.full((len(BOARDS), 2 * MOST_POINTS + 1), np.nan)
        table[-1] = np.sign(np.arange(-MOST_POINTS, MOST_POINTS + 1)) / 2 + 0.5  # all placed; a draw is worth 1/2
        boards = _boards_backward()
    else:
        raise ValueError(f"{GAME.title} is not solved for {num_players} seats; use 1 or 2")
    solve_boards(boards, room, options, table)
    return YahtzeeJrValues(options, table)


def _boards_backward() -> NDArray[np.int64]:
    """The boards that can come up at the start of a turn, those with more tokens first."""
    mine = (BOARDS >= OTHER_OPEN).sum(axis=1)
    other = ((BOARDS == BOTH_PLACED) | ((BOARDS >= MINE_OPEN) & (BOARDS < OTHER_OPEN))).sum(axis=1)
    possible = np.flatnonzero(((other == mine) | (other == mine + 1)) & (mine < NUM_CHARACTERS))
    backward: NDArray[np.int64] = possible[np.argsort(-(mine + other)[possible], kind="stable")]
    return backward


def _described(options: Options) -> dict[str, Any]:
    return {"num_players": int(options["num_players"]), **GAME.options_dict(options)}


OPTIMAL = Optimal(GAME, solve)


def point_values(options: Options) -> YahtzeeJrValues | None:
    """The values of the game for points, which is solved for one seat."""
    return solve(options) if options["num_players"] == 1 else None


def is_solved(options: Options) -> bool:
    """Whether there is exact play at such a table."""
    return bool(options["num_players"] <= 2)


def optimum(options: Options) -> float | None:
    """The highest expected points of a player, where none is in the way."""
    values = point_values(options)
    return None if values is None else values.start


def in_words(options: Options) -> str:
    """What a game is worth."""
    value = solve(options).start
    if options["num_players"] == 1:
        return f"{value:.4f} points are the most that a player can expect in a game."
    return (
        f"{100 * value:.4f} % is the chance of the seat that moves first to win if both play perfectly, and so "
        f"{100 - 100 * value:.4f} % that of the other; a drawn game counts as half a win."
    )
