"""Greedy play of Showdown Yahtzee: it maximises the expected swing of the current try, exactly, and nothing else.

The swing is the number of chips that the player gains plus those that an opponent loses. `greedy_turn` computes it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.games.best_actions import NEAR, best_actions
from fivedice.agents.games.exact_turn import set_number
from fivedice.agents.games.showdown_yahtzee.features import FEATURES, features_of
from fivedice.agents.games.showdown_yahtzee.greedy_turn import Turns, stake_of, turns_of, worth_now
from fivedice.envs.core.dice import SIDES
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.view import View
from fivedice.envs.showdown_yahtzee import GAME
from fivedice.envs.showdown_yahtzee.rules import (
    CARD_SPACES,
    CHOOSING,
    CLAIM,
    MOVE_ON,
    NUM_CARDS,
    NUM_SPACES,
    STAY,
    TARGET,
    is_corner,
    is_target,
    may_stay,
)


@kernel
def best_target(state: Any, starting: NDArray[np.float64]) -> int:
    """The best space to choose from a Wild corner; among equals, the first. A corner if there is no target."""
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
    """The expected swing of moving on, before the Showdown.

    `landing` (16,) is scratch memory for the expected swing of landing on each space.
    """
    target = best_target(state, starting)
    for space in range(NUM_SPACES):
        if is_corner(space):
            landing[space] = 0.0 if is_corner(target) else starting[stake_of(state, target)]
        elif state["owner"][space] != state["player"] or may_stay(state, space):
            landing[space] = starting[stake_of(state, space)]
        else:
            landing[space] = 0.0
    change = 1.0
    while change > NEAR / 1000:  # repeat: a player can move on from own cards any number of times, around the board
        change = 0.0
        for space in range(NUM_SPACES - 1, -1, -1):
            if state["owner"][space] == state["player"]:
                swing = max(landing[space], ahead(space, landing))
                change = max(change, swing - landing[space])
                landing[space] = swing
    return ahead(state["pawns"][state["player"]], landing)


@kernel
def ahead(space: int, landing: NDArray[np.float64]) -> float:
    """The mean of `landing` over the red die, for a pawn on a space."""
    swing = 0.0
    for red in range(1, SIDES + 1):
        swing += landing[(space + red) % NUM_SPACES]
    return swing / SIDES


@kernel(allocates=True)
def write_worths(
    states: Any,
    options: Any,
    masks: NDArray[np.int8],
    turns: Turns,
    worths: NDArray[np.float64],
) -> None:
    """Write the expected value of each legal action of `masks` (N, num_actions) into `worths` of the same shape."""
    landing, starting = np.empty(NUM_SPACES), turns.starting
    for i in range(len(states)):
        state = states[i]
        if state["target"] == CHOOSING:
            for number in range(NUM_CARDS):
                if masks[i, TARGET + number]:
                    worths[i, TARGET + number] = starting[stake_of(state, CARD_SPACES[number])]
            if masks[i, STAY]:
                worths[i, STAY] = starting[stake_of(state, state["pawns"][state["player"]])]
                worths[i, MOVE_ON] = moving_on(state, starting, landing)
            continue
        for card in range(NUM_CARDS):
            if masks[i, CLAIM + card]:
                worths[i, CLAIM + card] = worth_now(state, options, card, turns.put, turns.taken)
        left = int(state["throws_left"])
        if left > 0:
            stake = stake_of(state, state["target"])
            for keep in range(CLAIM):
                worths[i, keep] = turns.keeping[left - 1, stake, set_number(state["dice"], keep)]


class GreedyShowdownYahtzee:
    """Maximises the expected swing in chips of the current try.

    It does not count that in the Showdown a success gives another try, nor what it leaves to others. Among equally good
    actions it prefers a claim to a throw and staying to moving on, and then takes the one with the lowest number.
    """

    name = "greedy"
    features = FEATURES

    def act(self, view: View) -> NDArray[np.int64]:
        """The action of each decision of `view`, (N,) int64."""
        return best_actions(self.action_values(view), first=CLAIM)

    def action_values(self, view: View) -> NDArray[np.float64]:
        """The expected swing of each action in chips, (N, num_actions) float64; -inf for illegal ones."""
        if view.game is not GAME:
            raise ValueError(f"this greedy policy plays {GAME.title}, not {view.game.title}")
        return worths(view, turns_of(view.options))

    def action_features(self, view: View, values: NDArray[np.float64], near: NDArray[np.bool_]) -> NDArray[np.float32]:
        """The features of each action, (N, features, num_actions) float32; `features` names them.

        Each is a difference to the action with the highest of `values`. Actions for which `near` (N, num_actions) is
        False have features 0. So do all actions in the Showdown.
        """
        near = near & (view.states["last_turns"] == 0)[:, None]
        best = values.argmax(axis=1)
        features = np.zeros((len(view), len(FEATURES), near.shape[1]), np.float32)
        for feature, turns in enumerate(features_of(view.options)):
            values_of = worths(view, turns)
            of_best = values_of[np.arange(len(view)), best][:, None]
            np.subtract(values_of, of_best, out=features[:, feature], where=near, casting="same_kind")
        return features


def worths(view: View, turns: Turns) -> NDArray[np.float64]:
    """The expected value of each action, (N, num_actions) float64; -inf for illegal ones."""
    found = np.full(view.masks.shape, -np.inf)
    write_worths(view.states, view.options, view.masks, turns, found)
    return found


GREEDY = GreedyShowdownYahtzee()
