"""Yum alone, solved: the highest expected score from every state, for any choice of options.

A player's card matters to the turns to come only through which boxes are filled (2^12), the total of Ones … Sixes as
far as the bonus (0 to 63), and what Low leaves to High or High to Low while one of them is open. The turn of three
throws is computed exactly inside (`turn.py`), and whole turns backward from the full card, the cards with the same
number of filled boxes side by side. This is how Yahtzee was solved (Verhoeff, "Optimal solitaire yahtzee strategies",
1999; Glenn, "An optimal strategy for Yahtzee", 2006: 254.5896 points); the rules of Yum give points and legality.
"""

import contextlib
import hashlib
import json
import os
import sys
import zipfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fivedice.agents.games.exact_turn
import fivedice.envs.core.dice
import fivedice.envs.yum.rules
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
from fivedice.agents.policies.files import write_whole
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.option import Value
from fivedice.envs.core.spec import Options, State
from fivedice.envs.core.view import View
from fivedice.envs.yum import GAME
from fivedice.envs.yum.rules import (
    BONUS_FROM,
    FILL,
    HIGH,
    LEAST_LOW,
    LOW,
    LOW_STRAIGHT,
    NUM_ACTIONS,
    NUM_BOXES,
    OPEN,
    SIXES,
    STATE,
    legal_actions,
    points_in,
    score,
    upper_total,
)

FULL = 2**NUM_BOXES - 1  # every box filled
NUM_LIMITS = 11
NUM_TOTALS = BONUS_FROM + 1  # a higher total changes nothing any more
MOST_POINTS = 30  # in one box
MOST_UPPER = 5 * (1 + 2 + 3 + 4 + 5 + 6)  # the highest total of Ones … Sixes

# (4096, 11, 64) float64: the expected points to come before a turn, by the set of filled boxes (bit b: box b), the
# limit and the upper total; NaN where there is no such card.
Table = NDArray[np.float64]


@kernel(allocates=True)
def upper_scores() -> NDArray[np.int64]:
    """What a total of 0, 1, … 105 in Ones … Sixes counts, the bonus included."""
    boxes = np.full(NUM_BOXES, OPEN, np.int8)
    counted = np.empty(MOST_UPPER + 1, np.int64)
    for points in range(len(counted)):
        boxes[SIXES] = points
        counted[points] = score(boxes)
    return counted


@kernel
def filled_set(boxes: NDArray[np.int8]) -> int:
    """The boxes (12,) that are filled, as a set of bits."""
    filled = 0
    for box in range(NUM_BOXES):
        if boxes[box] != OPEN:
            filled |= 1 << box
    return filled


@kernel
def limit_of(boxes: NDArray[np.int8]) -> int:
    """What `boxes` (12,) leave to the one open box of Low and High: the points of the other less 20; 0 if that was
    crossed out, or if both are open, or both filled."""
    if (boxes[LOW] == OPEN) == (boxes[HIGH] == OPEN):
        return 0
    return max(0, int(max(boxes[LOW], boxes[HIGH])) - LEAST_LOW + 1)


@kernel
def write_card(filled: int, limit: int, boxes: NDArray[np.int8]) -> None:
    """Write boxes (12,) with this set of filled ones and this limit, and 0 wherever points do not matter."""
    for box in range(NUM_BOXES):
        boxes[box] = 0 if (filled >> box) & 1 else OPEN
    if limit > 0:
        boxes[LOW if boxes[HIGH] == OPEN else HIGH] = limit + LEAST_LOW - 1


@kernel(allocates=True)
def after_filling(box: int, points: int, boxes: NDArray[np.int8], filled: int, table: Table) -> NDArray[np.float64]:
    """The points to come (64,), by the upper total, once `points` are written in an open `box` of `boxes` (12,)."""
    boxes[box] = points
    limit = limit_of(boxes)
    boxes[box] = OPEN
    later: NDArray[np.float64] = table[filled | 1 << box, limit]
    return later


@kernel
def fill_value(box: int, points: int, total: int, upper: NDArray[np.int64], later: NDArray[np.float64]) -> float:
    """The points gained now, and expected `later` (64,), by filling `box` at an upper total of `total`."""
    if box > SIXES:
        return float(points + later[total])
    return float(upper[total + points] - upper[total] + later[min(total + points, BONUS_FROM)])


@kernel(allocates=True)
def write_stops(
    state: Any, options: Any, first: int, upper: NDArray[np.int64], table: Table, stops: NDArray[np.float64]
) -> None:
    """Write the value of ending the turn of the seat to move with each throw into `stops` (T, 252, L), by the throws
    left and for upper totals of `first`, `first` + 1, …; `state` is used up."""
    boxes = state["boxes"][state["player"]]
    masks = np.empty((len(stops), NUM_THROWS, NUM_ACTIONS), np.int8)
    points_of = np.empty((NUM_BOXES, NUM_THROWS), np.int8)
    for throw in range(NUM_THROWS):
        state["dice"][:] = THROWS[throw]
        for left in range(len(stops)):
            state["throws_left"] = left
            legal_actions(state, options, masks[left, throw])
        # Two loops: the compiler then knows which boxes are numbers.
        for box in range(LOW_STRAIGHT):
            points_of[box, throw] = points_in(box, state["dice"], boxes, options)
        for box in range(LOW_STRAIGHT, NUM_BOXES):
            points_of[box, throw] = points_in(box, state["dice"], boxes, options)
    stops[:] = -np.inf
    lanes = stops.shape[2]
    filled = filled_set(boxes)
    worth = np.empty((MOST_POINTS + 1, lanes))  # what the box gives, now and later, by the points written there
    is_known = np.empty(MOST_POINTS + 1, np.bool_)
    for box in range(NUM_BOXES):
        if boxes[box] == OPEN:
            is_known[:] = False
            for throw in range(NUM_THROWS):
                points = int(points_of[box, throw])
                if not is_known[points]:
                    is_known[points] = True
                    later = after_filling(box, points, boxes, filled, table)
                    for lane in range(lanes):
                        worth[points, lane] = fill_value(box, points, first + lane, upper, later)
                for left in range(len(stops)):
                    if masks[left, throw, FILL + box]:
                        for lane in range(lanes):
                            stops[left, throw, lane] = max(stops[left, throw, lane], worth[points, lane])


@kernel(allocates=True)
def solve_cards(cards: NDArray[np.int64], state: Any, options: Any, table: Table) -> None:
    """Write the value of each of `cards` (C, 2), given as filled set and limit, whose successors are in `table`."""
    upper = upper_scores()
    for card in range(len(cards)):
        filled, limit = cards[card]
        most, rest = 0, 0
        for box in range(SIXES + 1):
            if (filled >> box) & 1:
                most += 5 * (box + 1)
            else:
                rest += 5 * (box + 1)
        # Totals from which the bonus is out of reach are worth the same: the highest of them stands for all.
        most = min(most, BONUS_FROM)
        first = min(most, max(0, BONUS_FROM - 1 - rest))
        stops = np.empty((THROWS_A_TURN, NUM_THROWS, most - first + 1))
        values = np.empty((THROWS_A_TURN, NUM_SETS, most - first + 1))
        write_card(filled, limit, state["boxes"][0])
        write_stops(state, options, first, upper, table, stops)
        solve_turn(stops, values)
        table[filled, limit, first : most + 1] = values[THROWS_A_TURN - 1, NOTHING]
        table[filled, limit, :first] = values[THROWS_A_TURN - 1, NOTHING, 0]


@kernel
def number_contexts(states: Any, contexts: NDArray[np.int64]) -> None:
    """Write a number for each of `states` (N,) into `contexts` (N,): the same where all but the dice is the same to
    the seat to move."""
    for i in range(len(states)):
        boxes = states[i]["boxes"][states[i]["player"]]
        card = filled_set(boxes) * NUM_LIMITS + limit_of(boxes)
        total = min(upper_total(boxes), BONUS_FROM)
        contexts[i] = (card * NUM_TOTALS + total) * THROWS_A_TURN + int(states[i]["throws_left"])


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
    upper = upper_scores()
    mask = np.empty(NUM_ACTIONS, np.int8)
    stops, turn_values = np.empty((THROWS_A_TURN, NUM_THROWS, 1)), np.empty((THROWS_A_TURN, NUM_SETS, 1))
    solved = -1  # the context that `turn_values` are of
    values[:] = -np.inf
    for i in order:
        room[0] = states[i]
        dice, boxes, left = states[i]["dice"], room[0]["boxes"][states[i]["player"]], int(states[i]["throws_left"])
        so_far, total = score(boxes), min(upper_total(boxes), BONUS_FROM)
        legal_actions(room[0], options, mask)
        for box in range(NUM_BOXES):
            if mask[FILL + box]:
                points = points_in(box, dice, boxes, options)
                later = after_filling(box, points, boxes, filled_set(boxes), table)
                values[i, FILL + box] = so_far + fill_value(box, points, total, upper, later)
        if left > 0:
            if contexts[i] != solved:
                write_stops(room[0], options, total, upper, table, stops[:left])
                solve_turn(stops[:left], turn_values[:left])
                solved = contexts[i]
            for keep in range(FILL):
                if mask[keep]:
                    values[i, keep] = so_far + turn_values[left - 1, set_number(dice, keep), 0]


@kernel
def write_waiting_values(states: Any, seats: NDArray[np.int8], table: Table, values: NDArray[np.float64]) -> None:
    """Write what each of `states` (N,) is worth to one of its `seats` (N,) before its next turn into `values` (N,)."""
    for i in range(len(states)):
        boxes = states[i]["boxes"][seats[i]]
        values[i] = score(boxes) + table[filled_set(boxes), limit_of(boxes), min(upper_total(boxes), BONUS_FROM)]


class YumValues:
    """The expected final score of a seat that plays for points as well as can be, under one choice of options.

    Attributes:
        options: the options record. Other seats do not matter to these values.
        table: (4096, 11, 64) float64, the expected points to come before a turn.
        start: the expected score of a whole game.
    """

    def __init__(self, options: Options, table: Table) -> None:
        self.options, self.table = options, table
        self.start = float(table[0, 0, 0])

    def value(self, state: State, seat: int) -> float:
        """The expected final score of `seat` in one state, whoever is to move; the final score once it is over."""
        return float(self.values(state.reshape(1), np.array([seat], np.int8))[0])

    def values(self, states: NDArray[np.void], seats: NDArray[np.int8]) -> NDArray[np.float64]:
        """The same for one seat (N,) of each of many states (N,), as (N,) float64."""
        values = np.empty(len(states))
        write_waiting_values(states, seats, self.table, values)
        moving = states["player"] == seats
        best = self._action_values(states[moving], self.options).max(axis=1, initial=-np.inf)
        values[moving] = np.where(best > -np.inf, best, values[moving])  # without an action the game is over
        return values

    def action_values(self, view: View) -> NDArray[np.float64]:
        """The expected final score of the seat that decides for each action, if it plays its best from then on.

        Returns:
            (N, num_actions) float64, -inf where an action is not legal.
        """
        if view.game is not GAME or _choices(view.options) != _choices(self.options):
            asked = f"{view.game.title} with {view.game.options_dict(view.options)}"
            raise ValueError(f"these are values of {GAME.title} with {_choices(self.options)}, not of {asked}")
        return self._action_values(view.states, view.options)

    def _action_values(self, states: NDArray[np.void], options: Options) -> NDArray[np.float64]:
        values = np.empty((len(states), NUM_ACTIONS))
        contexts = np.empty(len(states), np.int64)
        number_contexts(states, contexts)
        order = np.argsort(contexts, kind="stable")
        write_action_values(states, contexts, order, options, self.table, np.zeros(1, STATE), values)
        return values


def solve(options: Options | None = None, *, folder: Path | None = None, threads: int | None = None) -> YumValues:
    """Solve Yum for an options record (None: the defaults), or read the table that an earlier call left.

    It takes some seconds of each of two cores and 0.3 GiB of memory the first time.

    Args:
        options: as `Game.make_options` gives it.
        folder: where tables are kept; None for the user's cache folder. A table of other options, or of other sources
            than these, is not used but replaced.
        threads: how many to solve with; None for as many as there are cores.
    """
    if options is None:
        options = GAME.make_options(1, {})
    if folder is None:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fivedice"
    choices = json.dumps(_choices(options), sort_keys=True)
    path = folder / f"yum-{hashlib.sha256(choices.encode()).hexdigest()[:16]}.npz"
    card = json.dumps({"options": choices, "sources": _sources_digest()})
    table = _read(path, card)
    if table is None:
        table = solve_table(options, threads or os.cpu_count() or 1)
        with contextlib.suppress(OSError):  # no folder to write to: solve again next time
            write_whole(path, partial(_write, card=card, table=table))
    return YumValues(options, table)


def solve_table(options: Options, threads: int) -> Table:
    """The table for these options, solved by that many threads."""
    alone = options.copy()
    alone["num_players"] = 1
    table = np.full((FULL + 1, NUM_LIMITS, NUM_TOTALS), np.nan)
    table[FULL, 0] = 0.0
    levels: list[list[tuple[int, int]]] = [[] for _ in range(NUM_BOXES + 1)]
    for filled in range(FULL + 1):
        one_of_two = (filled >> LOW & 1) != (filled >> HIGH & 1)
        levels[filled.bit_count()] += [(filled, limit) for limit in range(NUM_LIMITS if one_of_two else 1)]
    with ThreadPoolExecutor(threads) as pool:
        for level in reversed(levels[:NUM_BOXES]):
            shares = [np.array(level[share::threads], np.int64).reshape(-1, 2) for share in range(threads)]
            rooms = [np.zeros(1, STATE)[0] for _ in shares]
            for done in [pool.submit(solve_cards, *work, alone, table) for work in zip(shares, rooms, strict=True)]:
                done.result()
    return table


def _choices(options: Options) -> dict[str, Value]:
    return GAME.options_dict(options)


def _sources_digest() -> str:
    """Changes whenever a table might."""
    digest = hashlib.sha256()
    for module in (
        fivedice.envs.core.dice,
        fivedice.envs.yum.rules,
        fivedice.agents.games.exact_turn,
        sys.modules[__name__],
    ):
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()[:16]


def _read(path: Path, card: str) -> Table | None:
    """The table in a file that carries this `card`; None if there is no such file."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            table: Table = stored["table"]
            fits = str(stored["card"]) == card and table.shape == (FULL + 1, NUM_LIMITS, NUM_TOTALS)
    except (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile, zlib.error):
        return None
    return table if fits else None


def _write(path: Path, card: str, table: Table) -> None:
    with path.open("wb") as file:
        np.savez_compressed(file, card=card, table=table)


OPTIMAL = Optimal(GAME, solve)  # plays each seat for points


def is_solved(options: Options) -> bool:
    """Whether the game is solved with these options: always."""
    return True


def optimum(options: Options) -> float:
    """The highest expected points of a player, at a table of any size."""
    return solve(options).start


def point_values(options: Options) -> YumValues:
    """The values that take the luck out of results, at a table of any size."""
    return solve(options)


def in_words(options: Options) -> str:
    """What a game is worth."""
    return f"{optimum(options):.4f} points are the most that a player can expect in a game, playing for points alone."
