"""Exact play of Yahtzee Jr. with one or two seats: the most points alone, the best chance to win against another.

With two seats it is a game of perfect information with chance, so every position has one value. Backward induction
computes it (Zermelo 1913; with chance, Shapley 1953): the seat to move takes the best action, and the value for the
other seat is 1 minus its own. A drawn game is worth 1/2, whether the win is shared or decided by a throw. Turns are
computed backward from the full board; each turn of three throws is computed exactly (`exact_turn`).

All characters are equal, so of a board only the kinds of its rows matter, in any order: both tokens open; one open, and
the column of the other; both placed. A position is these kinds and the difference in points. At the start of a turn,
2 615 combinations of kinds can occur, and 68 million boards. Columns, points and legal actions come from the rules.
"""

from itertools import combinations_with_replacement
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.games.exact_turn import THROWS_A_TURN
from fivedice.agents.games.optimal import Optimal
from fivedice.agents.games.turn import values_by_context
from fivedice.agents.games.yahtzee_jr.turn import COLUMNS, TURN
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Options, State
from fivedice.envs.core.view import View
from fivedice.envs.yahtzee_jr import GAME
from fivedice.envs.yahtzee_jr.rules import NUM_ACTIONS, NUM_CHARACTERS, OPEN, PICTURE, STATE, score, winners

MOST_POINTS = NUM_CHARACTERS * (COLUMNS - 1)

write_turn_values = TURN.write_turn_values

# The kinds of rows, from the view of the seat to move.
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

# The values of positions before a turn. Two seats: (8568, 51) float64, the chance of the seat to move to win, by the
# number of the board and its lead in points + 25. One seat: (6, 1) float64, the expected points to come, by the number
# of open tokens. NaN where no such position exists.
Table = NDArray[np.float64]


@kernel
def row_kind(mine: int, other: int) -> int:
    """The kind of a row, from the columns of its two tokens."""
    if mine == OPEN:
        return BOTH_OPEN if other == OPEN else MINE_OPEN + other
    return OTHER_OPEN + mine if other == OPEN else BOTH_PLACED


@kernel
def board_number(tokens: NDArray[np.int8], player: int) -> int:
    """The number of a board of two seats with `player` to move; see `BOARDS`."""
    number = 0
    for row in range(NUM_CHARACTERS):
        number = WITH_ROW[number, row_kind(int(tokens[player, row]), int(tokens[1 - player, row]))]
    return number - _FIRST_BOARD


@kernel
def write_row(kind: int, row: int, player: int, tokens: NDArray[np.int8]) -> None:
    """Write a row of a kind from the view of `player` into `tokens`; a finished row has both tokens on the picture."""
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
    """The points of `player` minus those of the other seat, whose tokens are all open if one seat plays."""
    return score(tokens[player]) - score(tokens[1 - player])


def win_chance(leads: NDArray[np.int64]) -> NDArray[np.float64]:
    """The chance to win with these leads in points at the end of a game of two: 1, 1/2 or 0."""
    chances: NDArray[np.float64] = np.sign(leads) / 2 + 0.5
    return chances


@kernel
def value_before(tokens: NDArray[np.int8], player: int, num_players: int, lead: int, table: Table) -> float:
    """The value of a position before a turn for the `player` to move: points in all, or the chance to win."""
    if num_players == 1:
        return float(lead + table[NUM_CHARACTERS - num_placed(tokens[0]), 0])
    return float(table[board_number(tokens, player), MOST_POINTS + lead])


@kernel
def write_worth(state: Any, options: Any, first: int, table: Table, worth: NDArray[np.float64]) -> None:
    """Write the value of placing each open token in each column into `worth` (5, 6, L) for the seat to move, if its
    lead before is `first`, `first` + 1, …"""
    num_players, player, tokens = int(options["num_players"]), int(state["player"]), state["tokens"]
    before = score(tokens[player])
    for character in range(NUM_CHARACTERS):
        if tokens[player, character] == OPEN:
            for column in range(COLUMNS):
                tokens[player, character] = column
                gained = score(tokens[player]) - before
                for lane in range(worth.shape[2]):
                    lead = first + lane + gained
                    if num_players == 1:
                        worth[character, column, lane] = value_before(tokens, player, num_players, lead, table)
                    else:
                        other = value_before(tokens, 1 - player, num_players, -lead, table)
                        worth[character, column, lane] = 1.0 - other
            tokens[player, character] = OPEN


@kernel
def write_worth_here(state: Any, options: Any, table: Table, worth: NDArray[np.float64]) -> None:
    """The same into `worth` (5, 6, 1), for the lead that the seat to move has."""
    write_worth(state, options, lead_of(state["tokens"], state["player"]), table, worth)


write_action_values = TURN.make_write_action_values(write_worth_here)


@kernel(allocates=True)
def solve_boards(boards: NDArray[np.int64], state: Any, options: Any, table: Table) -> None:
    """Write the value of each of `boards` (B,), whose successors are in `table`. They are numbers of boards with two
    seats, and numbers of open tokens with one."""
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
                    spread += COLUMNS - 1  # the most points that a finished row gives to either seat
        first = lead_of(tokens, state["player"]) - spread
        worth = np.empty((NUM_CHARACTERS, COLUMNS, 2 * spread + 1))
        values = np.empty(2 * spread + 1)
        write_worth(state, options, first, table, worth)
        write_turn_values(state, options, worth, values)
        middle = table.shape[1] // 2 + first
        table[number, middle : middle + len(values)] = values


@kernel
def number_contexts(states: Any, contexts: NDArray[np.int64]) -> None:
    """Write a number for each of `states` (N,) into `contexts` (N,), the same where only the dice differ."""
    for i in range(len(states)):
        number = int(states[i]["player"])
        for seat in range(2):
            for row in range(NUM_CHARACTERS):
                number = number * (COLUMNS + 1) + int(states[i]["tokens"][seat, row]) - OPEN
        contexts[i] = number * THROWS_A_TURN + int(states[i]["throws_left"])


class YahtzeeJrValues:
    """The value for a seat if all seats play optimally: points with one seat, the chance to win with two.

    Attributes:
        options: the options record.
        table: the values of positions before a turn; see `Table`.
        start: the value of a whole game for seat 0.
    """

    def __init__(self, options: Options, table: Table) -> None:
        self.options, self.table = options, table
        tokens = np.full((2, NUM_CHARACTERS), OPEN, np.int8)
        self.start = float(value_before(tokens, 0, int(options["num_players"]), 0, table))

    def value(self, state: State, seat: int) -> float:
        """The value of one state for `seat`, whoever is to move; its points or share of the win once it is over."""
        return float(self.values(state.reshape(1), np.array([seat], np.int8))[0])

    def values(self, states: NDArray[np.void], seats: NDArray[np.int8]) -> NDArray[np.float64]:
        """`value` for one seat (N,) in each of many states (N,), as (N,) float64."""
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
        """The value of each action for the seat that decides, if all seats play optimally afterwards.

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
        values_by_context(write_action_values, states, contexts, self.options, self.table, values)
        return values


def solve(options: Options | None = None) -> YahtzeeJrValues:
    """Solve Yahtzee Jr. for an options record of one or two seats.

    Args:
        options: a record of `Game.make_options`; None for the default options and two seats.

    Raises:
        ValueError: the record is of three or four seats.
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
        table[-1] = win_chance(np.arange(-MOST_POINTS, MOST_POINTS + 1))  # all tokens are placed
        boards = _boards_backward()
    else:
        raise ValueError(f"{GAME.title} is not solved for {num_players} seats; use 1 or 2")
    solve_boards(boards, room, options, table)
    return YahtzeeJrValues(options, table)


def _boards_backward() -> NDArray[np.int64]:
    """The numbers of the boards that can occur at the start of a turn, those with more placed tokens first."""
    mine = (BOARDS >= OTHER_OPEN).sum(axis=1)
    other = ((BOARDS == BOTH_PLACED) | ((BOARDS >= MINE_OPEN) & (BOARDS < OTHER_OPEN))).sum(axis=1)
    possible = np.flatnonzero(((other == mine) | (other == mine + 1)) & (mine < NUM_CHARACTERS))
    backward: NDArray[np.int64] = possible[np.argsort(-(mine + other)[possible], kind="stable")]
    return backward


def _described(options: Options) -> dict[str, Any]:
    return {"num_players": int(options["num_players"]), **GAME.options_dict(options)}


OPTIMAL = Optimal(GAME, solve)


def point_values(options: Options) -> YahtzeeJrValues | None:
    """The values in points, which are known with one seat; else None."""
    return solve(options) if options["num_players"] == 1 else None


def is_solved(options: Options) -> bool:
    """Whether exact play exists for these options: with one or two seats."""
    return bool(options["num_players"] <= 2)


def optimum(options: Options) -> float | None:
    """The highest expected points of a player, which are known with one seat; else None."""
    values = point_values(options)
    return None if values is None else values.start


def unit(options: Options) -> Literal["points", "win"]:
    """What the values of `OPTIMAL` are: expected final points, or the probability to win."""
    return "points" if options["num_players"] == 1 else "win"


def start_value(options: Options) -> float:
    """The value of the game for the first seat under optimal play, before the first throw."""
    return OPTIMAL.start_value(options)


def in_words(options: Options) -> str:
    """The value of a whole game, in a sentence."""
    value = solve(options).start
    if options["num_players"] == 1:
        return f"{value:.4f} points are the most that a player can expect in a game."
    return (
        f"If both seats play optimally, the seat that moves first wins with a probability of {100 * value:.4f} % "
        f"and the other seat with {100 - 100 * value:.4f} %. A drawn game counts as half a win."
    )
