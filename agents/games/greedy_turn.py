"""Greedy play of a turn of five dice and up to three throws: what every game with such turns has in common."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.games.exact_turn import NEAR, NUM_SETS, NUM_THROWS, THROWS, set_number, solve_turn
from fivedice.envs.core.dice import KEEP_ALL
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Game
from fivedice.envs.core.view import View


class GreedyTurn:
    """Maximises the expected points of the turn, exactly; what follows after the turn does not count.

    Where stopping is as good as going on, it stops. Of sets to keep, or of ways to stop, that are equally good it takes
    the one with the lowest action.
    """

    name = "greedy"
    game: ClassVar[Game]
    write_points: ClassVar[Callable[..., None]]  # made by `make_write_points`

    def act(self, view: View) -> NDArray[np.int64]:
        """The action of each decision of `view`, (N,) int64."""
        actions = np.empty(len(view), np.int64)
        pick_most(self.action_values(view), actions)
        return actions

    def action_values(self, view: View) -> NDArray[np.float64]:
        """The expected points of the turn after each action, (N, num_actions) float64; -inf where it is not legal."""
        if view.game is not self.game:
            raise ValueError(f"this greedy policy plays {self.game.title}, not {view.game.title}")
        points = np.full(view.masks.shape, -np.inf)
        self.write_points(view.states, differ_from_the_one_before(view.states), view.options, view.masks, points)
        return points


def differ_from_the_one_before(states: NDArray[np.void]) -> NDArray[np.bool_]:
    """Which states (N,) differ from the one before them in more than their dice; the first does."""
    undiced = states.copy()
    undiced["dice"] = 0
    content = undiced.view(np.uint8).reshape(len(states), states.itemsize)
    differ = np.ones(len(states), np.bool_)
    differ[1:] = (content[1:] != content[:-1]).any(axis=1)
    return differ


@kernel
def pick_most(values: NDArray[np.float64], actions: NDArray[np.int64]) -> None:
    """Write the action of the highest value of each row of `values` (N, num_actions) into `actions` (N,).

    Of equals the first one, counted from the actions that throw no dice: these come after the sets of dice to keep.
    """
    num_actions = values.shape[1]
    for i in range(len(values)):
        actions[i] = KEEP_ALL
        for place in range(1, num_actions):
            action = (KEEP_ALL + place) % num_actions
            if values[i, action] > values[i, actions[i]] + NEAR:
                actions[i] = action


def make_write_points(gain: Callable[..., int], most_gain: Callable[..., int]) -> Callable[..., None]:
    """The loop over the decisions of a game whose actions 0 to 30 keep dice, and whose others end the turn.

    Args:
        gain: kernel ``(action, dice, state, options)``, the points of ending the turn with `action` and these `dice`.
        most_gain: kernel ``(dice, state, options)``, the most that a player can gain with these `dice` after the third
            throw. With throws left it may be that no action ends the turn yet; that makes no difference where the most
            is then 0, since going on is never worth less.
    """

    @kernel(allocates=True)
    def write_points(
        states: Any, differ: NDArray[np.bool_], options: Any, masks: NDArray[np.int8], points: NDArray[np.float64]
    ) -> None:
        """Write the expected points after each legal action, of `masks` (N, num_actions), into `points` of that shape;
        a turn is computed anew where a state's `differ` (N,)."""
        stops, values = np.empty((2, NUM_THROWS, 1)), np.empty((2, NUM_SETS, 1))
        for i in range(len(states)):
            state = states[i]
            dice, left = state["dice"], int(state["throws_left"])
            for action in range(KEEP_ALL, masks.shape[1]):
                if masks[i, action]:
                    points[i, action] = gain(action, dice, state, options)
            if left > 0:
                if differ[i]:
                    for throw in range(NUM_THROWS):
                        stops[:left, throw] = most_gain(THROWS[throw], state, options)
                    solve_turn(stops[:left], values[:left])
                for keep in range(KEEP_ALL):
                    if masks[i, keep]:
                        points[i, keep] = values[left - 1, set_number(dice, keep), 0]

    return write_points
