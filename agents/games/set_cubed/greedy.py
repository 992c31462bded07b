"""Greedy play of SET Cubed: the most points from this turn, exactly, and no thought for what it leaves."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.games.set_cubed.features import FEATURES, write_features
from fivedice.agents.games.set_cubed.greedy_extra import best_keep, write_keeps
from fivedice.agents.games.set_cubed.greedy_turn import NO_ACTION, best_lay, is_swap, lay_or_declare
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Options, State
from fivedice.envs.core.view import View
from fivedice.envs.set_cubed import GAME
from fivedice.envs.set_cubed.board import NONE, column_of, is_undeclared, num_laid, row_of
from fivedice.envs.set_cubed.dice import SIDES
from fivedice.envs.set_cubed.drawing import num_cells
from fivedice.envs.set_cubed.faces import NUM_FACES, THIRD, WILD
from fivedice.envs.set_cubed.hand import HAND, hand_size, sort_hand
from fivedice.envs.set_cubed.legal import laid_face
from fivedice.envs.set_cubed.rules import EXTRA, OPENING, declare_action, end_action, keep_action

NEAR = 1e-9


@kernel
def open_play(state: State, options: Options, mask: NDArray[np.int8]) -> int:
    """The next action of a SET on the logo with the fewest WILDs; the first cell of the logo first."""
    best, most = -1, -1
    for action in range(len(mask)):
        if mask[action]:
            naturals = naturals_of(state, options, action)
            if naturals > most:
                best, most = action, naturals
    return best


@kernel
def naturals_of(state: State, options: Options, action: int) -> int:
    """How many dice that are no WILDs the SET on the logo gets from here on, if it goes on with `action`."""
    shown, laid = state["hand_faces"][state["player"]], num_laid(state)
    if is_undeclared(state, options):
        return naturals_with(state, action - int(declare_action(options)), NONE, laid - 1, options)
    slot = action // int(num_cells(options))
    if shown[slot] != WILD:
        return 1 + naturals_with(state, int(shown[slot]), slot, laid, options)
    naturals = 0
    for face in range(NUM_FACES):
        naturals = max(naturals, naturals_with(state, face, slot, laid, options))
    return naturals


@kernel
def naturals_with(state: State, face: int, slot: int, laid: int, options: Options) -> int:
    """How many dice that are no WILDs the SET still gets once die number `laid` of it is a face; below 0 if none."""
    shown = state["hand_faces"][state["player"]]
    most = -10
    if laid == 2:
        return 0 if face == THIRD[laid_face(state, 0, options), laid_face(state, 1, options)] else most
    for second in range(hand_size(shown)):
        if second == slot:
            continue
        if laid == 1:
            if shown[second] == WILD:
                most = max(most, 0)
            elif shown[second] == THIRD[laid_face(state, 0, options), face]:
                most = max(most, 1)
        else:
            for third in range(second + 1, HAND):
                if third == slot or shown[third] == NONE:
                    continue
                if shown[third] == WILD:
                    most = max(most, int(shown[second] != WILD))
                elif shown[third] == THIRD[face, shown[second]]:
                    most = max(most, 2)
    return most


@kernel
def lay_only(state: State, options: Options) -> tuple[int, float]:
    """The next action of the best turn without a swap, and its points."""
    action, points = best_lay(state, options)
    return end_action(options) if action == NO_ACTION else action, float(points)


def with_swap(go_on: Callable[..., tuple[int, float]]) -> tuple[Callable[..., Any], Callable[..., float]]:
    """Kernels of a turn that may begin with a swap, after which `go_on` tells how it goes on and its expected points:
    the next action of the best turn and its points, and the points after one swap. They leave the state as it was."""

    @kernel(allocates=True)
    def swap_points(state: State, options: Options, slot: int, cell: int) -> float:
        """What the turn can expect after the die in `slot` is swapped for the WILD on `cell`, over its faces."""
        player, row, column = int(state["player"]), row_of(cell, options), column_of(cell, options)
        dice, shown = state["hand_dice"][player], state["hand_faces"][player]
        dice_before, shown_before = dice.copy(), shown.copy()
        taken = int(state["dice"][row, column])
        state["dice"][row, column], state["wild"][row, column] = dice[slot], 0
        total = 0.0
        for side in range(SIDES):
            dice[slot], shown[slot] = taken, options["dice"][taken, side] - 1
            sort_hand(dice, shown)
            total += go_on(state, options)[1]
            dice[:], shown[:] = dice_before, shown_before
        state["dice"][row, column], state["wild"][row, column] = taken, 1
        return total / SIDES

    @kernel
    def best_turn(state: State, options: Options) -> tuple[int, float]:
        best, most = lay_only(state, options)
        if num_laid(state) > 0:
            return best, most
        shown = state["hand_faces"][state["player"]]
        for cell in range(num_cells(options)):
            row, column = row_of(cell, options), column_of(cell, options)
            if not state["wild"][row, column]:
                continue
            for slot in range(HAND):
                if shown[slot] == state["faces"][row, column]:
                    points = swap_points(state, options, slot, cell)
                    if points > most + NEAR:
                        best, most = slot * num_cells(options) + cell, points
        return best, most

    return best_turn, swap_points


best_turn, swap_points = with_swap(with_swap(lay_only)[0])  # of a chain of swaps, the next two


@kernel
def decide(states: Any, options: Options, masks: NDArray[np.int8], actions: NDArray[np.int64]) -> None:
    """Write an action (N,) for each of the decisions `states` (N,), which are worked on, with legal actions `masks`."""
    for i in range(len(states)):
        state = states[i]
        if state["phase"] == EXTRA:
            actions[i] = keep_action(options) + best_keep(state, options)
        elif state["phase"] == OPENING:
            actions[i] = open_play(state, options, masks[i])
        else:
            actions[i] = best_turn(state, options)[0]


@kernel(allocates=True)
def write_values(
    states: Any, spare: Any, options: Options, masks: NDArray[np.int8], values: NDArray[np.float64]
) -> None:
    """Write the points of the best turn after each legal action of `states` (N,) into `values` (N, num_actions).

    `states` is worked on, and left as it was; `spare` (1,) is room for one more.
    """
    for i in range(len(states)):
        state = states[i]
        if state["phase"] == EXTRA:
            keeps = np.zeros(1 << hand_size(state["hand_faces"][state["player"]]))
            write_keeps(state, options, keeps)
            values[i, keep_action(options) : keep_action(options) + len(keeps)] = keeps
            continue
        for action in range(masks.shape[1]):
            if not masks[i, action]:
                continue
            if state["phase"] == OPENING:
                values[i, action] = naturals_of(state, options, action)
            elif action == end_action(options):
                values[i, action] = 0.0
            elif is_swap(state, options, action):
                values[i, action] = swap_points(
                    state, options, action // num_cells(options), action % num_cells(options)
                )
            else:
                spare[0] = state
                before = int(state["scores"][state["player"]])
                lay_or_declare(spare[0], options, action)
                gained = int(spare[0]["scores"][state["player"]]) - before
                values[i, action] = gained + best_lay(spare[0], options)[1]


class GreedySetCubed:
    """Plays the turn that scores the most, of all turns that there are.

    - *Turn*: every way to lay up to three dice, WILDs at every face, by search; of ways that are equally good the first
      that the search meets. If nothing scores it ends the turn.
    - *Swap*: if it raises the expected points of the turn, over the six faces of the die that comes back. Of a chain of
      swaps it computes with the next two.
    - *Opening*: a SET with as few WILDs as there are.
    - *EXTRA roll*: keeps the dice with the most expected points on the board as it is now, over all throws, where a
      hand is worth the estimate of `set_cubed_extra`. To keep what is likeliest to have anything to lay at all is much
      weaker, since that is nearly certain anyway.
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
        """The points of the best turn that goes on with each action, (N, num_actions) float64; -inf if it is not legal.

        In the EXTRA roll they are the estimated points of the next turn. This takes longer than `act`.
        """
        self._check(view)
        values = np.full(view.masks.shape, -np.inf)
        write_values(view.states.copy(), np.empty_like(view.states[:1]), view.options, view.masks, values)
        return values

    def action_features(self, view: View, values: NDArray[np.float64], near: NDArray[np.bool_]) -> NDArray[np.float32]:
        """What each action leaves behind, (N, features, num_actions) float32; `features` names them.

        It is 0 unless an action is `near` (N, num_actions) the best of `values`.
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
