"""Greedy play of Showdown Yahtzee: the highest expected swing in chips of this try, exactly, and no further thought.

The swing is what the player gains and what an opponent loses by it (`showdown_yahtzee_turn`).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.games.best_actions import NEAR, best_actions
from fivedice.agents.games.exact_turn import set_number
from fivedice.agents.games.showdown_yahtzee.features import FEATURES, features_of
from fivedice.agents.games.showdown_yahtzee.greedy_turn import Table, Turns, stake_of, turns_of, worth_now
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


@kernel(allocates=True)
def write_worths(
    states: Any,
    options: Any,
    masks: NDArray[np.int8],
    keeping: NDArray[np.float64],
    starting: NDArray[np.float64],
    put: Table,
    taken: Table,
    worths: NDArray[np.float64],
) -> None:
    """Write what each legal action, of `masks` (N, num_actions), promises into `worths` of that shape.

    The four before `worths` are `Turns`.
    """
    landing = np.empty(NUM_SPACES)
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
                worths[i, CLAIM + card] = worth_now(state, options, card, put, taken)
        left = int(state["throws_left"])
        if left > 0:
            stake = stake_of(state, state["target"])
            for keep in range(CLAIM):
                worths[i, keep] = keeping[left - 1, stake, set_number(state["dice"], keep)]


class GreedyShowdownYahtzee:
    """Swings the most chips with this try; a try that a success would bring, or a space left to others, counts nothing.

    Of equally good choices it claims rather than throws, stays rather than moves on, and takes the lowest action.
    """

    name = "greedy"
    features = FEATURES

    def act(self, view: View) -> NDArray[np.int64]:
        """The action of each decision of `view`, (N,) int64."""
        return best_actions(self.action_values(view), first=CLAIM)

    def action_values(self, view: View) -> NDArray[np.float64]:
        """The expected swing of each action in chips, (N, num_actions) float64; -inf where it is not legal."""
        if view.game is not GAME:
            raise ValueError(f"this greedy policy plays {GAME.title}, not {view.game.title}")
        return worths(view, turns_of(view.options))

    def action_features(self, view: View, values: NDArray[np.float64], near: NDArray[np.bool_]) -> NDArray[np.float32]:
        """What else each action promises, (N, features, num_actions) float32; `features` names them.

        It is 0 unless an action is `near` (N, num_actions) the best of `values`, and in the Showdown.
        """
        near = near & (view.states["last_turns"] == 0)[:, None]
        best = values.argmax(axis=1)
        features = np.zeros((len(view), len(FEATURES), near.shape[1]), np.float32)
        for feature, turns in enumerate(features_of(view.options)):
            promised = worths(view, turns)
            of_best = promised[np.arange(len(view)), best][:, None]
            np.subtract(promised, of_best, out=features[:, feature], where=near, casting="same_kind")
        return features


def worths(view: View, turns: Turns) -> NDArray[np.float64]:
    """What each action promises, (N, num_actions) float64; -inf where it is not legal."""
    found = np.full(view.masks.shape, -np.inf)
    write_worths(view.states, view.options, view.masks, *turns, found)
    return found


GREEDY = GreedyShowdownYahtzee()
