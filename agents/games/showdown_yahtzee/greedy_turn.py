"""All possible turns of Showdown Yahtzee: their expected value, for any valuation of the chips that a claim moves.

The player makes three throws for one of these stakes:

- to place a card, given the set of unused cards: the chips of the best card that the dice meet;
- to steal a card with a given number of chips: the chips that the player gains, and those that the owner loses;
- to improve an own number card with a given number of chips: the additional chips.

There are so few of them that each turn is computed in advance, once for each choice of options.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.games.exact_turn import FIRST_THROW, NUM_SETS, NUM_THROWS, solve_turn
from fivedice.envs.core.dice import NUM_DICE, THROWS
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Options
from fivedice.envs.showdown_yahtzee import GAME
from fivedice.envs.showdown_yahtzee.lookup import unused_cards
from fivedice.envs.showdown_yahtzee.rules import (
    ALL_THROWS,
    EMPTY,
    NUM_CARDS,
    NUM_NUMBERS,
    chips_for,
    chips_from,
    chips_now,
    dice_to_steal,
)

# The numbers of the stakes. First the sets of unused cards, as numbers with bit i for card i. Then number cards to
# steal, and number cards to improve, each with 0 to 5 chips. Then fixed cards to steal; their chips are an option.
CHIPS = NUM_DICE + 1
STEAL = 1 << NUM_CARDS
IMPROVE = STEAL + NUM_NUMBERS * CHIPS
STEAL_FIXED = IMPROVE + NUM_NUMBERS * CHIPS
NUM_STAKES = STEAL_FIXED + NUM_CARDS - NUM_NUMBERS

Table = NDArray[np.float64]  # (12, chips) the value of this number of chips on a card


class Turns(NamedTuple):
    """The values of all possible turns, for one valuation of the chips.

    Args:
        keeping: (2, NUM_STAKES, 210) float64, with one or two throws left the value of keeping each set of fewer than
            five dice.
        starting: (NUM_STAKES,) float64, the value before the first throw.
        put: (12, chips) float64, the value of having this number of chips on a card.
        taken: (12, chips) float64, the value of an opponent losing this number of chips there.
    """

    keeping: NDArray[np.float64]
    starting: NDArray[np.float64]
    put: Table
    taken: Table


@kernel
def write_stops(options: Any, put: Table, taken: Table, stops: NDArray[np.float64]) -> None:
    """Write into zeros `stops` (252, NUM_STAKES) the value of the best claim with each throw, 0 without a claim."""
    for throw in range(NUM_THROWS):
        dice = THROWS[throw]
        for card in range(NUM_CARDS):
            chips = chips_for(card, dice, options)
            for unused in range(1 << card, 1 << (card + 1)):  # the sets with this card as the last
                stops[throw, unused] = max(put[card, chips], stops[throw, unused - (1 << card)])
            if card >= NUM_NUMBERS:
                stops[throw, STEAL_FIXED + card - NUM_NUMBERS] = put[card, chips] + taken[card, chips]
                continue
            for held in range(1, CHIPS):
                if chips_from(card, dice, dice_to_steal(held, options), options) > 0:
                    stops[throw, STEAL + card * CHIPS + held] = put[card, chips] + taken[card, held]
                stops[throw, IMPROVE + card * CHIPS + held] = max(0.0, put[card, chips] - put[card, held])


def solve(options: Options, put: Table, taken: Table) -> Turns:
    """The values of all possible turns, each played to maximise the value by `put` and `taken`."""
    stops = np.zeros((NUM_THROWS, NUM_STAKES))
    write_stops(options, put, taken, stops)
    values = np.empty((ALL_THROWS, NUM_SETS, NUM_STAKES))
    # Stopping without a claim has value 0 here. The rules forbid it while throws are left, but throwing is never worse.
    solve_turn(np.stack([stops] * ALL_THROWS), values)
    keeping = values[: ALL_THROWS - 1, :FIRST_THROW].transpose(0, 2, 1).copy()
    return Turns(keeping, values[ALL_THROWS - 1, 0].copy(), put, taken)


def turns_of(options: Options) -> Turns:
    """The values of all turns in chips: those that the player gains plus those that an opponent loses."""
    chosen = GAME.options_dict(options)
    return _swings(chosen["chips"], chosen["steal"])


@cache
def _swings(chips: tuple[int, ...], steal: str) -> Turns:
    swing = np.tile(np.arange(1.0 + max(NUM_DICE, *chips)), (NUM_CARDS, 1))
    return solve(GAME.make_options(None, {"chips": chips, "steal": steal}), swing, swing)


@kernel
def stake_of(state: Any, space: int) -> int:
    """The number of the stake of the player on a space."""
    card = int(state["card"][space])
    if card == EMPTY:
        return unused_cards(state)
    if card >= NUM_NUMBERS:
        return STEAL_FIXED + card - NUM_NUMBERS
    stake = IMPROVE if state["owner"][space] == state["player"] else STEAL
    return stake + card * CHIPS + int(state["chips"][space])


@kernel
def worth_now(state: Any, options: Any, card: int, put: Table, taken: Table) -> float:
    """The value of claiming a card with the current dice."""
    space = state["target"]
    held = int(state["chips"][space])
    worth = float(put[card, chips_now(state, options, card)])
    if state["card"][space] != EMPTY:
        worth += -put[card, held] if state["owner"][space] == state["player"] else taken[card, held]
    return worth
