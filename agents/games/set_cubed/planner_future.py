"""What a whole turn of SET Cubed is worth: its points, the replies of the others, and what it leaves for later.

The others who still have a turn in this round are assumed to play greedily. Their dice are open, so their replies are
exact. The position at the end of the round has features, which are weighted linearly.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.games.set_cubed.greedy_extra import SHOWS, hand_value, look_at_board
from fivedice.agents.games.set_cubed.greedy_turn import NO_ACTION, best_lay, slot_showing
from fivedice.agents.games.set_cubed.planner_turns import DIE_FACE, IS_WILD, PLACE
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Options, State
from fivedice.envs.set_cubed.board import EDGE, EMPTY, MOST_LAID, NONE, SPAN, cell_of
from fivedice.envs.set_cubed.dice import NUM_DICE
from fivedice.envs.set_cubed.drawing import bonus, num_columns, num_rows
from fivedice.envs.set_cubed.faces import NUM_FACES, WILD
from fivedice.envs.set_cubed.hand import HAND, hand_size, take_die
from fivedice.envs.set_cubed.rules import forget_laid, has_anyone_run_out, lay_or_declare, next_player

FEATURES = {
    "next": "1: there is another round",
    "reply": "mean points of the others' turns in this round",
    "rest": "points that the own dice left in the hand would score, by the estimate of the EXTRA roll of greedy play",
    "other_rest": "the same for the others' dice, their mean",
    "wilds": "WILDs left in the own hand",
    "other_wilds": "WILDs left in the others' hands, their mean",
    "dice": "dice left in the own hand",
    "other_dice": "dice left in the others' hands, their mean",
    "open": "points that a die can score on the board, the mean over all faces",
    "most_open": "the most points that a WILD can score alone",
    "pairs": "points that two dice can score with one of the board, the mean over all faces",
    "bonus": "the bonus squares that are still free",
}
(NEXT, REPLY, REST, OTHER_REST, WILDS, OTHER_WILDS, DICE, OTHER_DICE, OPEN, MOST_OPEN, PAIRS, BONUS) = range(
    len(FEATURES)
)
NUM_FEATURES = len(FEATURES)
FIRST, LATER = range(2)  # whether the player opens the rounds
MANY, FEW, NO_DICE = range(3)  # dice that are left in the bag
NUM_SITUATIONS = 6  # 3 * (FIRST or LATER) + (MANY, FEW or NO_DICE): each has weights of its own


@kernel
def lay_turn(state: State, dice: NDArray[np.int64], options: Options) -> None:
    """Lay the dice of a turn (3, 3), without counting their points."""
    player = state["player"]
    for die in range(MOST_LAID):
        if dice[die, PLACE] == NONE:
            return
        row, column = int(dice[die, PLACE]) // SPAN, int(dice[die, PLACE]) % SPAN
        slot = slot_showing(state, WILD if dice[die, IS_WILD] else int(dice[die, DIE_FACE]))
        state["faces"][row, column], state["wild"][row, column] = dice[die, DIE_FACE], dice[die, IS_WILD]
        state["dice"][row, column] = state["hand_dice"][player, slot]
        take_die(state["hand_dice"][player], state["hand_faces"][player], slot)
        state["has_laid"] = 1


@kernel
def play_greedily(state: State, options: Options) -> int:
    """Play the rest of the player's turn greedily, without swaps; returns its points. The turn does not end."""
    player = state["player"]
    before = int(state["scores"][player])
    while True:
        action = best_lay(state, options)[0]
        if action == NO_ACTION:
            return int(state["scores"][player]) - before
        lay_or_declare(state, options, action)


@kernel(allocates=True)
def look_after_turn(state: State, options: Options, features: NDArray[np.float64]) -> int:
    """Play the others' turns to the end of the round, and write the features of what is left; changes the state.

    Args:
        state: the player has laid the dice of the turn, and the turn has not ended.
        features: (NUM_FEATURES,), written.

    Returns:
        The situation, which says which weights to use.
    """
    player, num_players = int(state["player"]), int(options["num_players"])
    features[:] = 0.0
    forget_laid(state)
    while next_player(state, options) != state["opener"]:
        state["player"] = next_player(state, options)
        features[REPLY] += play_greedily(state, options) / (num_players - 1)
        forget_laid(state)
    situation = 0 if player == state["opener"] else 3
    num_left, wanted = NUM_DICE, 0
    for row in range(EDGE, EDGE + num_rows(options)):
        for column in range(EDGE, EDGE + num_columns(options)):
            if state["faces"][row, column] != EMPTY:
                num_left -= 1
            else:
                features[BONUS] += bonus(options, cell_of(row, column, options))
    for seat in range(num_players):
        size = hand_size(state["hand_faces"][seat])
        num_left -= size
        wanted += HAND - size
    if num_left == 0:
        situation += NO_DICE
    elif num_left - wanted < MOST_LAID * num_players:
        situation += FEW
    if has_anyone_run_out(state, options):
        features[REPLY + 1 :] = 0.0
        return situation
    features[NEXT] = 1.0
    singles, pairs = np.zeros(SHOWS, np.int64), np.zeros((SHOWS, SHOWS), np.int64)
    look_at_board(state, options, singles, pairs)
    for seat in range(num_players):
        shown = state["hand_faces"][seat]
        size = hand_size(shown)
        rest, wilds = hand_value(shown[:size], singles, pairs), 0
        for slot in range(size):
            wilds += shown[slot] == WILD
        if seat == player:
            features[REST], features[WILDS], features[DICE] = rest, wilds, size
        else:
            features[OTHER_REST] += rest / (num_players - 1)
            features[OTHER_WILDS] += wilds / (num_players - 1)
            features[OTHER_DICE] += size / (num_players - 1)
    features[OPEN] = singles[:NUM_FACES].mean()
    features[MOST_OPEN] = singles[WILD]
    features[PAIRS] = pairs[:NUM_FACES, :NUM_FACES].mean()
    return situation


@kernel
def future_value(features: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """The points that a turn will cost or gain later: the replies of the others, and the weighted features."""
    value = -features[REPLY]
    for feature in range(NUM_FEATURES):
        value += weights[feature] * features[feature]
    return float(value)


@kernel(allocates=True)
def write_futures(
    state: State,
    spare: Any,
    options: Options,
    dice: NDArray[np.int64],
    features: NDArray[np.float64],
    situations: NDArray[np.int64],
) -> None:
    """Write the features (n, NUM_FEATURES) and the situations (n,) after each of the turns `dice` (n, 3, 3)."""
    for turn in range(len(dice)):
        spare[0] = state
        lay_turn(spare[0], dice[turn], options)
        situations[turn] = look_after_turn(spare[0], options, features[turn])
