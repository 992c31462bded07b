"""Exact play of Yum for points: the highest expected final score from every state, for any choice of options.

Other players do not matter to it. Of a player's own card, three things matter to the turns to come: which boxes are
filled (2^12 sets), the total of Ones … Sixes up to the bonus (0 to 63), and what Low and High leave to each other while
one of them is open. Turns are computed backward from the full card; each turn of three throws is computed exactly
(`exact_turn`). Yahtzee was solved in the same way (Verhoeff, "Optimal solitaire yahtzee strategies", 1999; Glenn, "An
optimal strategy for Yahtzee", 2006: 254.5896 points). Points and legal actions come from the rules of Yum.
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
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import fivedice.agents.games.exact_turn
import fivedice.agents.games.turn
import fivedice.agents.games.yum.turn
import fivedice.envs.core.dice
import fivedice.envs.core.dice_lookup
import fivedice.envs.yum.lookup
import fivedice.envs.yum.rules
from fivedice.agents.games.exact_turn import THROWS_A_TURN
from fivedice.agents.games.optimal import Optimal
from fivedice.agents.games.turn import values_by_context
from fivedice.agents.games.yum.turn import GIVES, NUM_POINTS, TURN
from fivedice.agents.policies.files import write_whole
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.option import Value
from fivedice.envs.core.spec import Options, State
from fivedice.envs.core.view import View
from fivedice.envs.yum import GAME
from fivedice.envs.yum.lookup import POINTS, score, upper_total
from fivedice.envs.yum.rules import (
    BONUS_FROM,
    HIGH,
    LEAST_LOW,
    LOW,
    LOW_STRAIGHT,
    MOST_TOTAL,
    NUM_ACTIONS,
    NUM_BOXES,
    OPEN,
    STATE,
    bonus,
)

FULL = 2**NUM_BOXES - 1  # every box filled
NUM_LIMITS = MOST_TOTAL - LEAST_LOW + 2  # 0, and a limit for each total that Low or High may hold
NUM_TOTALS = BONUS_FROM + 1  # higher upper totals are equivalent: the bonus is earned
MOST_IN = POINTS.max(axis=(0, 1)).astype(np.int64)  # (12,) the most points that each box gives

write_turn_values = TURN.write_turn_values

# (4096, 11, 64) float64: the expected points to come before a turn, by the set of filled boxes (bit b: box b), the
# limit (`limit_of`) and the upper total; NaN where no such card exists.
Table = NDArray[np.float64]


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
    """The limit that one of Low and High sets to the other while that is open: its points less 20, or 0 if it was
    crossed out. 0, too, if both are open or both are filled."""
    if (boxes[LOW] == OPEN) == (boxes[HIGH] == OPEN):
        return 0
    return max(0, int(max(boxes[LOW], boxes[HIGH])) - LEAST_LOW + 1)


@kernel
def write_card(filled: int, limit: int, boxes: NDArray[np.int8]) -> None:
    """Write a card with these filled boxes and this limit into `boxes` (12,); 0 where the points do not matter."""
    for box in range(NUM_BOXES):
        boxes[box] = 0 if (filled >> box) & 1 else OPEN
    if limit > 0:
        boxes[LOW if boxes[HIGH] == OPEN else HIGH] = limit + LEAST_LOW - 1


@kernel
def write_worth(state: Any, options: Any, first: int, table: Table, worth: NDArray[np.float64]) -> None:
    """Write the points gained now and the expected points to come into `worth` (12, 31, L), if the seat to move writes
    each number of points into each open box, for upper totals of `first`, `first` + 1, …, all up to 63."""
    boxes = state["boxes"][state["player"]]
    filled, upper = filled_set(boxes), upper_total(boxes)
    for box in range(NUM_BOXES):
        if boxes[box] == OPEN:
            for points in range(NUM_POINTS):
                if GIVES[box, points]:
                    boxes[box] = points
                    limit, added = limit_of(boxes), upper_total(boxes) - upper
                    for lane in range(worth.shape[2]):
                        total = first + lane
                        gained = points + bonus(total + added) - bonus(total)
                        later = table[filled | 1 << box, limit, min(total + added, BONUS_FROM)]
                        worth[box, points, lane] = gained + later
            boxes[box] = OPEN


@kernel
def write_worth_here(state: Any, options: Any, table: Table, worth: NDArray[np.float64]) -> None:
    """The same into `worth` (12, 31, 1), for the upper total that the seat to move has."""
    write_worth(state, options, known_total(state["boxes"][state["player"]]), table, worth)


@kernel
def known_total(boxes: NDArray[np.int8]) -> int:
    """The upper total as far as it matters to the turns to come."""
    return min(upper_total(boxes), BONUS_FROM)


write_action_values = TURN.make_write_action_values(write_worth_here)


@kernel(allocates=True)
def solve_cards(cards: NDArray[np.int64], state: Any, options: Any, table: Table) -> None:
    """Write the value of each of `cards` (C, 2), given as filled set and limit, whose successors are in `table`."""
    for card in range(len(cards)):
        filled, limit = cards[card]
        most, rest = 0, 0
        for box in range(LOW_STRAIGHT):  # Ones … Sixes
            if (filled >> box) & 1:
                most += MOST_IN[box]
            else:
                rest += MOST_IN[box]
        # All totals from which the bonus is out of reach have the same value. Only the highest of them is computed.
        most = min(most, BONUS_FROM)
        first = min(most, max(0, BONUS_FROM - 1 - rest))
        worth = np.empty((NUM_BOXES, NUM_POINTS, most - first + 1))
        values = np.empty(most - first + 1)
        write_card(filled, limit, state["boxes"][0])
        write_worth(state, options, first, table, worth)
        write_turn_values(state, options, worth, values)
        table[filled, limit, first : most + 1] = values
        table[filled, limit, :first] = values[0]


@kernel
def number_contexts(states: Any, contexts: NDArray[np.int64]) -> None:
    """Write a number for each of `states` (N,) into `contexts` (N,). It is the same where the states differ only in
    the dice, or in what does not matter to the seat to move."""
    for i in range(len(states)):
        boxes = states[i]["boxes"][states[i]["player"]]
        card = filled_set(boxes) * NUM_LIMITS + limit_of(boxes)
        contexts[i] = (card * NUM_TOTALS + known_total(boxes)) * THROWS_A_TURN + int(states[i]["throws_left"])


@kernel
def write_scores(states: Any, points: NDArray[np.float64]) -> None:
    """Write the points so far of the seat to move in each of `states` (N,) into `points` (N,)."""
    for i in range(len(states)):
        points[i] = score(states[i]["boxes"][states[i]["player"]])


@kernel
def write_waiting_values(states: Any, seats: NDArray[np.int8], table: Table, values: NDArray[np.float64]) -> None:
    """Write the expected final score of one of the `seats` (N,) of each of `states` (N,) into `values` (N,), as it is
    before the next turn of that seat."""
    for i in range(len(states)):
        boxes = states[i]["boxes"][seats[i]]
        values[i] = score(boxes) + table[filled_set(boxes), limit_of(boxes), known_total(boxes)]


class YumValues:
    """The expected final score of a seat that plays optimally for points, under one choice of options.

    Attributes:
        options: the options record. These values do not depend on the number of players.
        table: (4096, 11, 64) float64, the expected points to come before a turn.
        start: the expected score of a whole game.
    """

    def __init__(self, options: Options, table: Table) -> None:
        self.options, self.table = options, table
        self.start = float(table[0, 0, 0])

    def value(self, state: State, seat: int) -> float:
        """The expected final score of `seat` in one state, whoever is to move; its score once the game is over."""
        return float(self.values(state.reshape(1), np.array([seat], np.int8))[0])

    def values(self, states: NDArray[np.void], seats: NDArray[np.int8]) -> NDArray[np.float64]:
        """`value` of one seat (N,) in each of many states (N,), as (N,) float64."""
        values = np.empty(len(states))
        write_waiting_values(states, seats, self.table, values)
        moving = states["player"] == seats
        best = self._action_values(states[moving], self.options).max(axis=1, initial=-np.inf)
        values[moving] = np.where(best > -np.inf, best, values[moving])  # without an action the game is over
        return values

    def action_values(self, view: View) -> NDArray[np.float64]:
        """The expected final score of the seat that decides after each action, if it plays optimally afterwards.

        Returns:
            (N, num_actions) float64, -inf where an action is not legal.
        """
        if view.game is not GAME or _choices(view.options) != _choices(self.options):
            asked = f"{view.game.title} with {view.game.options_dict(view.options)}"
            raise ValueError(f"these are values of {GAME.title} with {_choices(self.options)}, not of {asked}")
        return self._action_values(view.states, view.options)

    def _action_values(self, states: NDArray[np.void], options: Options) -> NDArray[np.float64]:
        values = np.empty((len(states), NUM_ACTIONS))
        contexts, points = np.empty(len(states), np.int64), np.empty(len(states))
        number_contexts(states, contexts)
        values_by_context(write_action_values, states, contexts, options, self.table, values)
        write_scores(states, points)
        values += points[:, None]
        return values


def solve(options: Options | None = None, *, folder: Path | None = None, threads: int | None = None) -> YumValues:
    """Solve Yum for an options record, or read the table that an earlier call has saved.

    The first call takes some seconds on two cores and 0.3 GiB of memory.

    Args:
        options: a record of `Game.make_options`; None for the default options.
        folder: the folder of the saved tables; None for the user's cache folder. A table of other options or of other
            sources is not used; it is replaced.
        threads: the number of threads; None for one per core.
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
    """Solve Yum for these options with so many threads; see `Table`."""
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
    """A digest of all sources that a table comes from."""
    digest = hashlib.sha256()
    for module in (
        fivedice.envs.core.dice,
        fivedice.envs.core.dice_lookup,
        fivedice.envs.yum.lookup,
        fivedice.envs.yum.rules,
        fivedice.agents.games.exact_turn,
        fivedice.agents.games.turn,
        fivedice.agents.games.yum.turn,
        sys.modules[__name__],
    ):
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()[:16]


def _read(path: Path, card: str) -> Table | None:
    """The table in a file with this `card`; None if there is no such file, or if it is damaged."""
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


OPTIMAL = Optimal(GAME, solve)  # each seat plays for points


def is_solved(options: Options) -> bool:
    """Whether the game is solved with these options: always."""
    return True


def optimum(options: Options) -> float:
    """The highest expected points of a player, for any number of players."""
    return solve(options).start


def point_values(options: Options) -> YumValues:
    """The values that remove the luck of the dice from results, for any number of players."""
    return solve(options)


def unit(options: Options) -> Literal["points", "win"]:
    """What the values of `OPTIMAL` are: expected final points, or the probability to win."""
    return "points"


def start_value(options: Options) -> float:
    """The value of the game for the first seat under optimal play, before the first throw."""
    return OPTIMAL.start_value(options)


def in_words(options: Options) -> str:
    """The value of a whole game, in a sentence."""
    return f"{optimum(options):.4f} points are the most that a player can expect in a game, playing for points alone."
