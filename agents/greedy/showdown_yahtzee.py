"""Greedy play of Showdown Yahtzee: the highest expected swing in chips of this try, exactly, and no further thought.

The swing is what the player gains and what an opponent loses by it. Three throws can be for one of these stakes:

- placing, with a set of unused cards: the chips of the best card that the dice meet;
- stealing a card with so many chips on it: those that come, and those that go;
- improving a number card with so many chips on it: those that come on top.

There are few enough of them to reckon every turn beforehand, once for each choice of options.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.exact.turn import FIRST_THROW, NEAR, NUM_SETS, NUM_THROWS, THROWS, set_number, solve_turn
from fivedice.agents.greedy.turn import pick_most
from fivedice.envs.dice import NUM_DICE, SIDES, is_five_alike
from fivedice.envs.kernel import kernel
from fivedice.envs.showdown_yahtzee import GAME
from fivedice.envs.showdown_yahtzee.rules import (
    ALL_THROWS,
    BEAT,
    CARD_SPACES,
    CHOOSING,
    CLAIM,
    EMPTY,
    MOVE_ON,
    NUM_CARDS,
    NUM_NUMBERS,
    NUM_SPACES,
    STAY,
    TARGET,
    chips_for,
    chips_now,
    is_corner,
    is_target,
    may_stay,
    unused_cards,
)
from fivedice.envs.spec import Options
from fivedice.envs.view import View

# The numbers of stakes: a set of unused cards is its own; then come number cards to steal and to improve, each with 0
# to 5 chips on it, and fixed cards to steal, whose chips the options tell.
CHIPS = NUM_DICE + 1
STEAL = 1 << NUM_CARDS
IMPROVE = STEAL + NUM_NUMBERS * CHIPS
STEAL_FIXED = IMPROVE + NUM_NUMBERS * CHIPS
NUM_STAKES = STEAL_FIXED + NUM_CARDS - NUM_NUMBERS


class Turns(NamedTuple):
    """Every turn there can be.

    Args:
        keeping: (2, NUM_STAKES, 210) float64, with one or two throws left the expected swing of keeping each set of
            less than five dice.
        starting: (NUM_STAKES,) float64, the expected swing before the first throw.
    """

    keeping: NDArray[np.float64]
    starting: NDArray[np.float64]


@kernel
def write_stops(options: Any, stops: NDArray[np.float64]) -> None:
    """Write into `stops` (252, NUM_STAKES) the most that each throw swings if it is the last, 0 if it does nothing."""
    for throw in range(NUM_THROWS):
        dice = THROWS[throw]
        for card in range(NUM_CARDS):
            chips = chips_for(card, dice, options)
            for unused in range(1 << card, 1 << (card + 1)):  # the sets whose last card it is
                stops[throw, unused] = max(chips, stops[throw, unused - (1 << card)])
            if card >= NUM_NUMBERS:
                stops[throw, STEAL_FIXED + card - NUM_NUMBERS] = 2 * chips
                continue
            for there in range(1, CHIPS):
                needed = there + 1 if options["steal"] == BEAT else there
                if chips >= needed or is_five_alike(dice):
                    stops[throw, STEAL + card * CHIPS + there] = chips + there
                stops[throw, IMPROVE + card * CHIPS + there] = max(0, chips - there)


@cache
def turns(chips: tuple[int, ...], steal: str) -> Turns:
    """Every turn there can be with these options."""
    stops = np.zeros((NUM_THROWS, NUM_STAKES))
    write_stops(GAME.make_options(None, {"chips": chips, "steal": steal}), stops)
    values = np.empty((ALL_THROWS, NUM_SETS, NUM_STAKES))
    # A player whose dice do nothing yet must go on, which is never worth less than the 0 for stopping.
    solve_turn(np.stack([stops] * ALL_THROWS), values)
    keeping = values[: ALL_THROWS - 1, :FIRST_THROW].transpose(0, 2, 1).copy()
    return Turns(keeping, values[ALL_THROWS - 1, 0].copy())


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
def swing_now(state: Any, options: Any, card: int) -> int:
    """What claiming a card with the dice as they are gains, and an opponent loses."""
    space = state["target"]
    there = int(state["chips"][space])
    return chips_now(state, options, card) + (-there if state["owner"][space] == state["player"] else there)


@kernel
def best_target(state: Any, starting: NDArray[np.float64]) -> int:
    """The space that promises the most from a Wild corner, the first of equals; a corner if there is none."""
    best, most = 0, -np.inf
    for number in range(NUM_CARDS):
        space = CARD_SPACES[number]
        if is_target(state, space):
            swing = starting[stake_of(state, space)]
            if swing > most + NEAR:
                best, most = space, swing
    return best


@kernel
def moving_on(state: Any, starting: NDArray[np.float64], landing: NDArray[np.float64]) -> float:
    """The expected swing of moving on, before the Showdown; `landing` (16,) is room for what each space promises."""
    target = best_target(state, starting)
    for space in range(NUM_SPACES):
        if is_corner(space):
            landing[space] = 0.0 if is_corner(target) else starting[stake_of(state, target)]
        elif state["owner"][space] != state["player"] or may_stay(state, space):
            landing[space] = starting[stake_of(state, space)]
        else:
            landing[space] = 0.0
    change = 1.0
    while change > NEAR / 1000:  # a player may move on from own cards again and again, around the board
        change = 0.0
        for space in range(NUM_SPACES - 1, -1, -1):
            if state["owner"][space] == state["player"]:
                swing = max(landing[space], ahead(space, landing))
                change = max(change, swing - landing[space])
                landing[space] = swing
    return ahead(state["pawns"][state["player"]], landing)


@kernel
def ahead(space: int, landing: NDArray[np.float64]) -> float:
    """What the red die promises to a pawn on a space."""
    promised = 0.0
    for red in range(1, SIDES + 1):
        promised += landing[(space + red) % NUM_SPACES]
    return promised / SIDES


@kernel(makes_arrays=True)
def write_swings(
    states: Any,
    options: Any,
    masks: NDArray[np.int8],
    keeping: NDArray[np.float64],
    starting: NDArray[np.float64],
    swings: NDArray[np.float64],
) -> None:
    """Write the expected swing of each legal action, of `masks` (N, num_actions), into `swings` of that shape."""
    landing = np.empty(NUM_SPACES)
    for i in range(len(states)):
        state = states[i]
        if state["target"] == CHOOSING:
            for number in range(NUM_CARDS):
                if masks[i, TARGET + number]:
                    swings[i, TARGET + number] = starting[stake_of(state, CARD_SPACES[number])]
            if masks[i, STAY]:
                swings[i, STAY] = starting[stake_of(state, state["pawns"][state["player"]])]
                swings[i, MOVE_ON] = moving_on(state, starting, landing)
            continue
        for card in range(NUM_CARDS):
            if masks[i, CLAIM + card]:
                swings[i, CLAIM + card] = swing_now(state, options, card)
        left = int(state["throws_left"])
        if left > 0:
            stake = stake_of(state, state["target"])
            for keep in range(CLAIM):
                swings[i, keep] = keeping[left - 1, stake, set_number(state["dice"], keep)]


class GreedyShowdownYahtzee:
    """Swings the most chips with this try; a try that a success would bring, or a space left to others, counts nothing.

    Of equally good choices it claims rather than throws, stays rather than moves on, and takes the lowest action.
    """

    name = "greedy"

    def act(self, view: View) -> NDArray[np.int64]:
        """The action of each decision of `view`, (N,) int64."""
        actions = np.empty(len(view), np.int64)
        pick_most(self.action_values(view), actions)
        return actions

    def action_values(self, view: View) -> NDArray[np.float64]:
        """The expected swing of each action in chips, (N, num_actions) float64; -inf where it is not legal."""
        if view.game is not GAME:
            raise ValueError(f"this greedy policy plays {GAME.title}, not {view.game.title}")
        swings = np.full(view.masks.shape, -np.inf)
        write_swings(view.states, view.options, view.masks, *turns_of(view.options), swings)
        return swings


def turns_of(options: Options) -> Turns:
    """Every turn there can be with these options."""
    chosen = GAME.options_dict(options)
    return turns(chosen["chips"], chosen["steal"])


GREEDY = GreedyShowdownYahtzee()
