"""Greedy play of SET Cubed: it maximises the points of the current turn, exactly, and ignores what follows."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.games.set_cubed.features import FEATURES, write_features
from fivedice.agents.games.set_cubed.greedy_extra import best_keep, write_keeps
from fivedice.agents.games.set_cubed.greedy_turn import NO_ACTION, best_lay, write_first_lays
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Options, State
from fivedice.envs.core.view import View
from fivedice.envs.set_cubed import GAME
from fivedice.envs.set_cubed.actions import (
    declare_action,
    end_action,
    keep_action,
    lay_action,
    slot_and_cell,
)
from fivedice.envs.set_cubed.board import NONE, column_of, is_undeclared, num_laid, row_of
from fivedice.envs.set_cubed.dice import SIDES, face_on
from fivedice.envs.set_cubed.drawing import num_cells
from fivedice.envs.set_cubed.faces import NUM_FACES, WILD
from fivedice.envs.set_cubed.hand import HAND, hand_size, sort_hand
from fivedice.envs.set_cubed.legal import laid_face, may_swap
from fivedice.envs.set_cubed.lookup import third
from fivedice.envs.set_cubed.rules import EXTRA, OPENING, exchange_dice, is_swap

NEAR = 1e-9  # values closer than this are equal: they differ only by rounding


@kernel
def open_play(state: State, options: Options, mask: NDArray[np.int8]) -> int:
    """The next action of the opening SET with the fewest WILDs; among equals, the one with the lowest number."""
    best, most = -1, -1
    for action in range(len(mask)):
        if mask[action]:
            naturals = naturals_of(state, options, action)
            if naturals > most:
                best, most = action, naturals
    return best


@kernel
def naturals_of(state: State, options: Options, action: int) -> int:
    """How many more dice of the opening SET are no WILDs, at most, if the player continues with `action`."""
    shown, laid = state["hand_faces"][state["player"]], num_laid(state)
    if is_undeclared(state, options):
        return naturals_with(state, action - int(declare_action(options)), NONE, laid - 1, options)
    slot = slot_and_cell(options, action)[0]
    if shown[slot] != WILD:
        return 1 + naturals_with(state, int(shown[slot]), slot, laid, options)
    naturals = 0
    for face in range(NUM_FACES):
        naturals = max(naturals, naturals_with(state, face, slot, laid, options))
    return naturals


@kernel
def naturals_with(state: State, face: int, slot: int, laid: int, options: Options) -> int:
    """How many more dice of the opening SET are no WILDs, at most, if its die number `laid` (0 to 2) has this face.

    `slot` is the slot of that die, or NONE if it is on the board. The result is negative if no SET is possible.
    """
    shown = state["hand_faces"][state["player"]]
    most = -10
    if laid == 2:
        return 0 if face == third(laid_face(state, 0, options), laid_face(state, 1, options)) else most
    for second in range(hand_size(shown)):
        if second == slot:
            continue
        if laid == 1:
            if shown[second] == WILD:
                most = max(most, 0)
            elif shown[second] == third(laid_face(state, 0, options), face):
                most = max(most, 1)
        else:
            for last in range(second + 1, HAND):
                if last == slot or shown[last] == NONE:
                    continue
                if shown[last] == WILD:
                    most = max(most, int(shown[second] != WILD))
                elif shown[last] == third(face, shown[second]):
                    most = max(most, 2)
    return most


@kernel
def lay_only(state: State, options: Options) -> tuple[int, float]:
    """The next action of the best turn without a swap, and its points."""
    action, points = best_lay(state, options)
    return end_action(options) if action == NO_ACTION else action, float(points)


def with_swap(best_after: Callable[..., tuple[int, float]]) -> tuple[Callable[..., Any], Callable[..., float]]:
    """Make two kernels for a turn that can begin with a swap. They leave the state unchanged.

    Args:
        best_after: a kernel for the turn after the swap, of the same form as the first kernel that is made.

    Returns:
        A kernel that returns the next action of the best turn and its expected points, and a kernel that returns the
        expected points of the turn after a given swap.
    """

    @kernel(allocates=True)
    def swap_points(state: State, options: Options, slot: int, cell: int) -> float:
        """The expected points of the turn after swapping the die in `slot` for the WILD on `cell`."""
        dice, shown = state["hand_dice"][state["player"]], state["hand_faces"][state["player"]]
        dice_before, shown_before = dice.copy(), shown.copy()
        taken = exchange_dice(state, options, slot, cell)
        total = 0.0
        for side in range(SIDES):
            dice[:], shown[:] = dice_before, shown_before
            dice[slot], shown[slot] = taken, face_on(options, taken, side)
            sort_hand(dice, shown)
            total += best_after(state, options)[1]
        dice[:], shown[:] = dice_before, shown_before
        row, column = row_of(cell, options), column_of(cell, options)
        state["dice"][row, column], state["wild"][row, column] = taken, 1
        return total / SIDES

    @kernel
    def best_turn(state: State, options: Options) -> tuple[int, float]:
        best, most = lay_only(state, options)
        for cell in range(num_cells(options)):
            for slot in range(HAND):
                if may_swap(state, slot, row_of(cell, options), column_of(cell, options)):
                    points = swap_points(state, options, slot, cell)
                    if points > most + NEAR:
                        best, most = lay_action(options, slot, cell), points
        return best, most

    return best_turn, swap_points


best_turn, swap_points = with_swap(with_swap(lay_only)[0])  # looks at chains of up to two swaps


@kernel
def decide(states: Any, options: Options, masks: NDArray[np.int8], actions: NDArray[np.int64]) -> None:
    """Write the action for each state of `states` (N,) into `actions` (N,); may use `states` as scratch memory.

    `masks` (N, num_actions) marks the legal actions.
    """
    for i in range(len(states)):
        state = states[i]
        if state["phase"] == EXTRA:
            actions[i] = keep_action(options) + best_keep(state, options)
        elif state["phase"] == OPENING:
            actions[i] = open_play(state, options, masks[i])
        else:
            actions[i] = best_turn(state, options)[0]


@kernel(allocates=True)
def write_values(states: Any, options: Options, masks: NDArray[np.int8], values: NDArray[np.float64]) -> None:
    """Write the points of the best turn after each legal action of `states` (N,) into `values` (N, num_actions).

    `states` changes while the kernel runs, but is the same in the end.
    """
    lays = np.empty(keep_action(options), np.int64)
    for i in range(len(states)):
        state = states[i]
        if state["phase"] == EXTRA:
            keeps = np.zeros(1 << hand_size(state["hand_faces"][state["player"]]))
            write_keeps(state, options, keeps)
            values[i, keep_action(options) : keep_action(options) + len(keeps)] = keeps
            continue
        if state["phase"] != OPENING:
            write_first_lays(state, options, lays)
        for action in range(masks.shape[1]):
            if not masks[i, action]:
                continue
            if state["phase"] == OPENING:
                values[i, action] = naturals_of(state, options, action)
            elif action == end_action(options):
                values[i, action] = 0.0
            elif is_swap(state, options, action):
                slot, cell = slot_and_cell(options, action)
                values[i, action] = swap_points(state, options, slot, cell)
            else:
                values[i, action] = lays[action]


class GreedySetCubed:
    """Plays the turn that scores the most points.

    - *Turn*: a search over all ways to lay up to three dice, with every face for a WILD. Among equally good ways it
      takes the first one of the search. If nothing scores, it ends the turn.
    - *Swap*: if a swap increases the expected points of the turn, over the six faces of the WILD die. The computation
      looks at chains of up to two swaps.
    - *Opening*: a SET with the fewest WILDs possible.
    - *EXTRA roll*: keeps the dice with the most expected points on the current board, over all throws. The value of a
      hand is the estimate of `fivedice.agents.games.set_cubed.greedy_extra`. An alternative is to maximise the chance
      that any die can be laid. It is much weaker, because that chance is close to 1 anyway.
    """

    name = "greedy"
    features = FEATURES

    def act(self, view: View) -> NDArray[np.int64]:
        """The action of each decision of `view`, (N,) int64."""
        self._check(view)
        actions = np.empty(len(view), np.int64)
        decide(view.states.copy(), view.options, view.masks, actions)
        return actions

    def action_values(self, view: View) -> NDArray[np.float64]:
        """The points of the best turn that continues with each action, (N, num_actions) float64; -inf if illegal.

        In the opening the value is the number of dice that are no WILDs, in the EXTRA roll the estimated points of the
        next turn.
        """
        self._check(view)
        values = np.full(view.masks.shape, -np.inf)
        write_values(view.states.copy(), view.options, view.masks, values)
        return values

    def action_features(self, view: View, values: NDArray[np.float64], near: NDArray[np.bool_]) -> NDArray[np.float32]:
        """The features of each action, (N, features, num_actions) float32; `features` names them.

        `values` is the result of `action_values`. Actions for which `near` (N, num_actions) is False have features 0.
        """
        self._check(view)
        features = np.zeros((len(view), len(FEATURES), near.shape[1]), np.float32)
        states, spare = view.states.copy(), np.empty_like(view.states[:1])
        write_features(states, spare, view.options, values, near, features)
        return features

    def _check(self, view: View) -> None:
        if view.game is not GAME:
            raise ValueError(f"this greedy policy plays {GAME.title}, not {view.game.title}")


GREEDY = GreedySetCubed()
