"""Every turn of Showdown Yahtzee that there can be: what it promises, for any way to value the chips that it moves.

Three throws can be for one of these stakes:

- placing, with a set of unused cards: the chips of the best card that the dice meet;
- stealing a card with so many chips on it: those that come, and those that go;
- improving a number card with so many chips on it: those that come on top.

There are few enough of them to compute every turn beforehand, once for each choice of options.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.games.exact_turn import FIRST_THROW, NUM_SETS, NUM_THROWS, solve_turn
from fivedice.envs.core.dice import NUM_DICE, THROWS, is_five_alike
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Options
from fivedice.envs.showdown_yahtzee import GAME
from fivedice.envs.showdown_yahtzee.rules import (
    ALL_THROWS,
    BEAT,
    EMPTY,
    NUM_CARDS,
    NUM_NUMBERS,
    chips_for,
    chips_now,
    unused_cards,
)

# The numbers of stakes: a set of unused cards is its own; then come number cards to steal and to improve, each with 0
# to 5 chips on it, and fixed cards to steal, whose chips the options tell.
CHIPS = NUM_DICE + 1
STEAL = 1 << NUM_CARDS
IMPROVE = STEAL + NUM_NUMBERS * CHIPS
STEAL_FIXED = IMPROVE + NUM_NUMBERS * CHIPS
NUM_STAKES = STEAL_FIXED + NUM_CARDS - NUM_NUMBERS

Table = NDArray[np.float64]  # (12, chips) what so many chips on a card are worth


class Turns(NamedTuple):
    """Every turn there can be, and what its chips are worth.

    Args:
        keeping: (2, NUM_STAKES, 210) float64, with one or two throws left what to expect of keeping each set of less
            than five dice.
        starting: (NUM_STAKES,) float64, what to expect before the first throw.
        put: (12, chips) float64, what it is worth to have so many chips on a card.
        taken: (12, chips) float64, what it is worth that an opponent loses so many there.
    """

    keeping: NDArray[np.float64]
    starting: NDArray[np.float64]
    put: Table
    taken: Table


@kernel
def write_stops(options: Any, put: Table, taken: Table, stops: NDArray[np.float64]) -> None:
    """Write into zeros `stops` (252, NUM_STAKES) the most that each throw is worth if it is the last."""
    for throw in range(NUM_THROWS):
        dice = THROWS[throw]
        for card in range(NUM_CARDS):
            chips = chips_for(card, dice, options)
            for unused in range(1 << card, 1 << (card + 1)):  # the sets whose last card it is
                stops[throw, unused] = max(put[card, chips], stops[throw, unused - (1 << card)])
            if card >= NUM_NUMBERS:
                stops[throw, STEAL_FIXED + card - NUM_NUMBERS] = put[card, chips] + taken[card, chips]
                continue
            for there in range(1, CHIPS):
                needed = there + 1 if options["steal"] == BEAT else there
                if chips >= needed or is_five_alike(dice):
                    stops[throw, STEAL + card * CHIPS + there] = put[card, chips] + taken[card, there]
                stops[throw, IMPROVE + card * CHIPS + there] = max(0.0, put[card, chips] - put[card, there])


def solve(options: Options, put: Table, taken: Table) -> Turns:
    """Every turn there can be, played for the most of what `put` and `taken` tell."""
    stops = np.zeros((NUM_THROWS, NUM_STAKES))
    write_stops(options, put, taken, stops)
    values = np.empty((ALL_THROWS, NUM_SETS, NUM_STAKES))
    # A player whose dice do nothing yet must go on, which is never worth less than the 0 for stopping.
    solve_turn(np.stack([stops] * ALL_THROWS), values)
    keeping = values[: ALL_THROWS - 1, :FIRST_THROW].transpose(0, 2, 1).copy()
    return Turns(keeping, values[ALL_THROWS - 1, 0].copy(), put, taken)


def turns_of(options: Options) -> Turns:
    """Every turn, played for the greatest swing in chips: what the player gains and an opponent loses."""
    chosen = GAME.options_dict(options)
    return _swings(chosen["chips"], chosen["steal"])


@cache
def _swings(chips: tuple[int, ...], steal: str) -> Turns:
    swing = np.tile(np.arange(1.0 + max(NUM_DICE, *chips)), (NUM_CARDS, 1))
    return solve(GAME.make_options(None, {"chips": chips, "steal": steal}), swing, swing)


@kernel
def stake_of(state: Any, space: int) -> int:
    """The number of what the player throws for on a space."""
    card = int(state["card"][space])
    if card == EMPTY:
        return unused_cards(state)
    if card >= NUM_NUMBERS:
        return STEAL_FIXED + card - NUM_NUMBERS
    stake = IMPROVE if state["owner"][space] == state["player"] else STEAL
    return stake + card * CHIPS + int(state["chips"][space])


@kernel
def worth_now(state: Any, options: Any, card: int, put: Table, taken: Table) -> float:
    """What claiming a card with the dice as they are is worth."""
    space = state["target"]
    there = int(state["chips"][space])
    worth = float(put[card, chips_now(state, options, card)])
    if state["card"][space] != EMPTY:
        worth += -put[card, there] if state["owner"][space] == state["player"] else taken[card, there]
    return worth
