"""The value of each action of a turn, for any game with turns of five dice and up to three throws.

The rules say which actions are legal, and what the dice give when a turn ends (`Turn`). Greedy play and exact play of a
game differ only in the value that they give to each such outcome.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.games.exact_turn import NOTHING, NUM_SETS, NUM_THROWS, THROWS_A_TURN, set_number, solve_turn
from fivedice.envs.core.dice import THROWS
from fivedice.envs.core.dice_lookup import throw_number
from fivedice.envs.core.kernel import kernel


class Turn:
    """The turn of a game: which actions end it, and with which outcomes.

    The game's state has the fields ``dice`` and ``throws_left``. An *ending* is an action that does not keep dice,
    counted from 0: ending e is action ``num_keeps + e``.

    Args:
        legal_actions: of the rules.
        outcome: kernel ``(ending, throw, state, options)``. It returns what the dice of the state, ``THROWS[throw]``,
            give for this ending, as a number below `num_outcomes`: in Yum the points written, in Yahtzee Jr. the column
            of the token.
        num_actions: the size of the action space.
        num_keeps: how many of the first actions keep dice, as in `Game`.
        num_outcomes: how many outcomes an ending may have.

    Attributes:
        write_turn_values: kernel ``(state, options, worth, values)``. It writes the value of a whole turn of the seat
            to move, before its first throw, into `values` (L,). `worth` (endings, outcomes, L) is the value of each
            outcome of each ending. It overwrites the dice and the throws left of `state`.
    """

    def __init__(
        self,
        legal_actions: Callable[..., None],
        outcome: Callable[..., int],
        *,
        num_actions: int,
        num_keeps: int,
        num_outcomes: int,
    ) -> None:
        self.legal_actions, self.outcome = legal_actions, outcome
        self.num_actions, self.num_keeps, self.num_outcomes = num_actions, num_keeps, num_outcomes
        self.write_stops = self._make_write_stops()
        self.write_turn_values = self._make_write_turn_values()

    def _make_write_stops(self) -> Callable[..., None]:
        legal_actions, outcome = self.legal_actions, self.outcome
        num_actions, num_keeps = self.num_actions, self.num_keeps

        @kernel(allocates=True)
        def write_stops(state: Any, options: Any, worth: NDArray[np.float64], stops: NDArray[np.float64]) -> None:
            """Write the value of ending the turn with each throw into `stops` (T, 252, L), by the throws left; -inf
            where no action ends it. `worth` and `state` are those of `Turn.write_turn_values`."""
            mask = np.empty(num_actions, np.int8)
            stops[:] = -np.inf
            for throw in range(NUM_THROWS):
                state["dice"][:] = THROWS[throw]
                for left in range(len(stops)):
                    state["throws_left"] = left
                    legal_actions(state, options, mask)
                    for ending in range(num_actions - num_keeps):
                        if mask[num_keeps + ending]:
                            found = outcome(ending, throw, state, options)
                            for lane in range(stops.shape[2]):
                                stops[left, throw, lane] = max(stops[left, throw, lane], worth[ending, found, lane])

        return write_stops

    def _make_write_turn_values(self) -> Callable[..., None]:
        write_stops = self.write_stops

        @kernel(allocates=True)
        def write_turn_values(
            state: Any, options: Any, worth: NDArray[np.float64], values: NDArray[np.float64]
        ) -> None:
            stops = np.empty((THROWS_A_TURN, NUM_THROWS, len(values)))
            turn_values = np.empty((THROWS_A_TURN, NUM_SETS, len(values)))
            write_stops(state, options, worth, stops)
            solve_turn(stops, turn_values)
            values[:] = turn_values[THROWS_A_TURN - 1, NOTHING]

        return write_turn_values

    def make_write_action_values(
        self, write_worth: Callable[..., None], write_stops: Callable[..., None] | None = None
    ) -> Callable[..., None]:
        """Make the kernel that computes the value of each action in many states.

        Args:
            write_worth: kernel ``(state, options, known, worth)``. It writes the value of each outcome of each ending
                that is still possible in `state` into `worth` (endings, outcomes, 1). It may change `state`, a copy.
            write_stops: a faster kernel that writes the same as `Turn.write_stops`, or None. Where no legal action ends
                the turn yet, it may write any value that is not higher than the value of continuing.

        Returns:
            kernel ``(states, is_new, options, known, values)``. It writes the value of each action in each of `states`
            (N,) into `values` (N, num_actions), -inf where an action is not legal. `is_new` (N,) bool is False where
            only the dice differ from the state before: the turn is then not computed again. `known` is handed to
            `write_worth`.
        """
        legal_actions, outcome = self.legal_actions, self.outcome
        if write_stops is None:
            write_stops = self.write_stops
        num_actions, num_keeps, num_outcomes = self.num_actions, self.num_keeps, self.num_outcomes

        @kernel(allocates=True)
        def write_action_values(
            states: Any, is_new: NDArray[np.bool_], options: Any, known: Any, values: NDArray[np.float64]
        ) -> None:
            mask = np.empty(num_actions, np.int8)
            worth = np.zeros((num_actions - num_keeps, num_outcomes, 1))
            stops = np.empty((THROWS_A_TURN - 1, NUM_THROWS, 1))
            turn_values = np.empty((THROWS_A_TURN - 1, NUM_SETS, 1))
            copy = states[:1].copy()
            values[:] = -np.inf
            for i in range(len(states)):
                dice, left = states[i]["dice"], int(states[i]["throws_left"])
                throw = throw_number(dice)
                if is_new[i]:
                    copy[0] = states[i]
                    write_worth(copy[0], options, known, worth)
                    if left > 0:
                        write_stops(copy[0], options, worth, stops[:left])
                        solve_turn(stops[:left], turn_values[:left])
                legal_actions(states[i], options, mask)
                for ending in range(num_actions - num_keeps):
                    if mask[num_keeps + ending]:
                        values[i, num_keeps + ending] = worth[ending, outcome(ending, throw, states[i], options), 0]
                for keep in range(num_keeps):
                    if mask[keep]:
                        values[i, keep] = turn_values[left - 1, set_number(dice, keep), 0]

        return write_action_values


def values_by_context(
    write_action_values: Callable[..., None],
    states: NDArray[np.void],
    contexts: NDArray[np.int64],
    options: Any,
    known: Any,
    values: NDArray[np.float64],
) -> None:
    """Call a kernel of `Turn.make_write_action_values` so that each turn is computed once.

    States with equal `contexts` (N,) differ only in their dice, as far as the values are concerned.
    """
    order = np.argsort(contexts, kind="stable")
    ordered = contexts[order]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = ordered[1:] != ordered[:-1]
    values_in_order = np.empty_like(values)
    write_action_values(states[order], is_new, options, known, values_in_order)
    values[order] = values_in_order
