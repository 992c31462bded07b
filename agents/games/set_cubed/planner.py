"""The planner for SET Cubed: it compares whole turns, with the replies of the others and what is left for later."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.games.set_cubed.greedy import naturals_of, swap_points
from fivedice.agents.games.set_cubed.greedy_turn import slot_showing, write_first_lays
from fivedice.agents.games.set_cubed.lays import board_of, put, take
from fivedice.agents.games.set_cubed.planner_extra import write_exact_keeps
from fivedice.agents.games.set_cubed.planner_future import (
    NUM_FEATURES,
    future_value,
    lay_turn,
    look_after_turn,
    play_greedily,
)
from fivedice.agents.games.set_cubed.planner_turns import DIE_FACE, IS_WILD, PLACE, Turns, find_turns, no_turns
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Options, State
from fivedice.envs.core.view import View
from fivedice.envs.set_cubed import GAME
from fivedice.envs.set_cubed.actions import declare_action, end_action, keep_action, lay_action, slot_and_cell
from fivedice.envs.set_cubed.board import (
    EMPTY,
    MOST_LAID,
    NONE,
    SPAN,
    cell_of,
    column_of,
    is_undeclared,
    num_laid,
    row_of,
)
from fivedice.envs.set_cubed.drawing import bonus
from fivedice.envs.set_cubed.faces import WILD
from fivedice.envs.set_cubed.hand import HAND, hand_size, sort_hand
from fivedice.envs.set_cubed.rules import EXTRA, OPENING, forget_laid, is_swap, next_player

WEIGHTS = Path(__file__).with_name("planner_weights.toml")  # `fit_planner` writes it
NEARLY = 1e-6  # what an action that the planner has not looked at is worth less, at least, than the best one


@kernel(allocates=True)
def write_planner_values(
    states: Any,
    options: Options,
    weights: NDArray[np.float64],
    masks: NDArray[np.int8],
    every_action: bool,
    values: NDArray[np.float64],
) -> None:
    """Write the values of the legal actions of `states` (N,) into `values` (N, num_actions), all -inf before.

    Without `every_action`, some actions that are not the best may keep -inf. `weights` has shape (NUM_SITUATIONS,
    NUM_FEATURES).
    """
    spare, start, turns = states[:1].copy(), states[:1].copy(), no_turns()
    for i in range(len(states)):
        state = states[i]
        spare[0] = state
        if state["phase"] == EXTRA:
            keeps = np.zeros(1 << hand_size(state["hand_faces"][state["player"]]))
            play_others_before(spare[0], options)
            write_exact_keeps(spare[0], options, keeps)
            values[i, keep_action(options) : keep_action(options) + len(keeps)] = keeps
        elif state["phase"] == OPENING:
            for action in range(masks.shape[1]):
                if masks[i, action]:
                    values[i, action] = naturals_of(spare[0], options, action)
        else:
            write_turn_values(spare[0], start, options, weights, masks[i], every_action, turns, values[i])


@kernel
def play_others_before(state: State, options: Options) -> None:
    """Play the turns of those who come before the player in the next round, greedily: their dice do not change."""
    player = state["player"]
    state["player"] = state["opener"]
    forget_laid(state)
    while state["player"] != player:
        play_greedily(state, options)
        forget_laid(state)
        state["player"] = next_player(state, options)


@kernel(allocates=True)
def write_turn_values(
    state: State,
    start: Any,
    options: Options,
    weights: NDArray[np.float64],
    mask: NDArray[np.int8],
    every_action: bool,
    turns: Turns,
    values: NDArray[np.float64],
) -> None:
    """Write the values of the legal actions in a turn. `start` (1,) is scratch memory for a state."""
    start[0] = state
    laid = take_up_laid(start[0], options)
    turns.number[0] = 0
    find_turns(start[0], options, turns)
    features = np.empty(NUM_FEATURES)
    best, most, its_value = -np.inf, -1, 0.0
    before = start[0:1].copy()
    for turn in range(int(turns.number[0])):
        action = next_action(state, turns.dice[turn], mask, options)
        if action == NONE:
            continue
        start[0] = before[0]
        lay_turn(start[0], turns.dice[turn], options)
        situation = look_after_turn(start[0], options, features)
        value = int(turns.points[turn]) + future_value(features, weights[situation])
        if most < 0:
            most, its_value = int(turns.points[turn]), value  # the turn with the most points comes first
        best = max(best, value)
        for slot in range(HAND):  # equal dice are worth the same
            values_of_equal(state, action, value, slot, options, values)
    if most < 0:
        best, its_value, most = np.inf, 0.0, 0  # the dice laid belong to none of the turns: points alone count
        every_action = True
    for action in range(declare_action(options)):
        if mask[action] and num_laid(state) == 0 and is_swap(state, options, action):
            slot, cell = slot_and_cell(options, action)
            values[action] = its_value - most + swap_points(state, options, slot, cell)
    if not every_action:
        return
    lays = np.empty(keep_action(options), np.int64)
    write_first_lays(state, options, lays)
    for action in range(len(mask)):
        if mask[action] and values[action] == -np.inf:
            points = laid + (int(lays[action]) if action < len(lays) else 0)
            values[action] = min(its_value - most + points, best) - NEARLY


@kernel
def values_of_equal(
    state: State, action: int, value: float, slot: int, options: Options, values: NDArray[np.float64]
) -> None:
    """Note the value of an action for `slot`, if its die is the same as that of the action."""
    if action >= declare_action(options):
        values[action] = max(values[action], value)
        return
    own, cell = slot_and_cell(options, action)
    shown = state["hand_faces"][state["player"]]
    if shown[slot] == shown[own]:
        equal = lay_action(options, slot, cell)
        values[equal] = max(values[equal], value)


@kernel(allocates=True)
def take_up_laid(state: State, options: Options) -> int:
    """Take up all dice laid in this turn, back into the hand; returns the points that they had scored."""
    player, number, points = int(state["player"]), num_laid(state), 0
    dice, shown = state["hand_dice"][player], state["hand_faces"][player]
    is_open = is_undeclared(state, options)
    board = board_of(state, options)
    cells, faces = np.empty(MOST_LAID, np.int64), np.empty(MOST_LAID, np.int64)
    wilds = np.empty(MOST_LAID, np.int64)
    for place in range(number):
        cells[place] = state["laid"][place]
        row, column = row_of(int(cells[place]), options), column_of(int(cells[place]), options)
        faces[place], wilds[place] = state["faces"][row, column], state["wild"][row, column]
        slot = hand_size(shown)
        shown[slot] = WILD if wilds[place] else faces[place]
        dice[slot] = state["dice"][row, column]
        state["faces"][row, column], state["wild"][row, column], state["dice"][row, column] = EMPTY, 0, NONE
    for place in range(number):
        row, column = row_of(int(cells[place]), options), column_of(int(cells[place]), options)
        if is_open and place == number - 1:
            points += bonus(options, int(cells[place]))
        else:
            points += put(board, row, column, int(faces[place]), int(wilds[place]))
    for place in range(number):
        take(board, row_of(int(cells[place]), options), column_of(int(cells[place]), options))
    sort_hand(dice, shown)
    forget_laid(state)
    return int(points)


@kernel
def next_action(state: State, dice: NDArray[np.int64], mask: NDArray[np.int8], options: Options) -> int:
    """The next action of a turn, if the dice laid so far belong to it, else NONE."""
    number, cell_laid = num_laid(state), 0
    is_open = is_undeclared(state, options)
    for place in range(number):
        cell_laid = int(state["laid"][place])
        row, column = row_of(cell_laid, options), column_of(cell_laid, options)
        die = find_die(dice, row * SPAN + column)
        if die == NONE or dice[die, IS_WILD] != state["wild"][row, column]:
            return NONE
        if is_open and place == number - 1:
            action = int(declare_action(options)) + int(dice[die, DIE_FACE])
            return action if mask[action] else NONE
        if dice[die, DIE_FACE] != state["faces"][row, column]:
            return NONE
    is_complete = True
    for die in range(MOST_LAID):
        if dice[die, PLACE] == NONE:
            break
        row, column = int(dice[die, PLACE]) // SPAN, int(dice[die, PLACE]) % SPAN
        if state["faces"][row, column] == EMPTY:
            is_complete = False
            slot = slot_showing(state, WILD if dice[die, IS_WILD] else int(dice[die, DIE_FACE]))
            if slot != NONE:
                action = int(lay_action(options, slot, cell_of(row, column, options)))
                if mask[action]:
                    return action
    return int(end_action(options)) if is_complete and mask[end_action(options)] else NONE


@kernel
def find_die(dice: NDArray[np.int64], place: int) -> int:
    """The number of the die of a turn in a place, or NONE."""
    for die in range(MOST_LAID):
        if dice[die, PLACE] == place:
            return die
    return NONE


def read_weights() -> dict[str, Any]:
    """The weights by the number of players, each with the command that computed them."""
    return tomllib.loads(WEIGHTS.read_text("utf-8"))


@cache
def weights_for(num_players: int) -> NDArray[np.float64]:
    """The weights for a number of players, (NUM_SITUATIONS, NUM_FEATURES) float64."""
    weights = np.array(read_weights()[str(num_players)]["weights"], np.float64)
    weights.flags.writeable = False
    return weights


class PlannerSetCubed:
    """Compares whole turns, by their points, the replies of the others and what they leave for the next rounds.

    - *Turn*: of the turns with the most points it takes the one with the highest value. The value is the points of the
      turn, minus the mean points of the others' greedy turns in the rest of the round, plus weighted features of the
      position at the end of the round. Linear regression on simulated games gave the weights.
    - *Swap*: its value is that of the turn with the most points, plus what the swap adds to the expected points.
    - *EXTRA roll*: keeps the dice with the most expected points of the best turn, exactly, over all throws. Players who
      come before it in the round have rolled already; they are assumed to play greedily.
    - *Opening*: as greedy play.

    Args:
        weights: (NUM_SITUATIONS, NUM_FEATURES) float64, what the features are worth; None: those of the file.
    """

    name = "planner"

    def __init__(self, weights: NDArray[np.float64] | None = None) -> None:
        self._weights = weights

    def act(self, view: View) -> NDArray[np.int64]:
        """The action of each decision of `view`, (N,) int64."""
        actions: NDArray[np.int64] = self._values(view, False).argmax(axis=1)
        return actions

    def action_values(self, view: View) -> NDArray[np.float64]:
        """The value of each action, (N, num_actions) float64; -inf where it is not legal.

        The unit is points. In a turn it is the value of the best turn that continues with the action. An action that
        begins none of the turns looked at is rated by its points alone: it has the value of the turn with the most
        points, minus the difference of the points.
        """
        return self._values(view, True)

    def _values(self, view: View, every_action: bool) -> NDArray[np.float64]:
        if view.game is not GAME:
            raise ValueError(f"this planner plays {GAME.title}, not {view.game.title}")
        values = np.full(view.masks.shape, -np.inf)
        weights = weights_for(int(view.options["num_players"])) if self._weights is None else self._weights
        write_planner_values(view.states.copy(), view.options, weights, view.masks, every_action, values)
        return values


PLANNER = PlannerSetCubed()
