"""What a turn of SET Cubed leaves behind: action features for a learner whose prior policy is greedy play.

Greedy play counts only the points of its own turn. These features distinguish turns with about the same points. Each
feature of an action is a difference: its value after the turn is played greedily from this action, minus its value
after the greedy action. Features in points have the same unit as the points of the turn.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.games.set_cubed.greedy_extra import SHOWS, hand_value, look_at_board
from fivedice.agents.games.set_cubed.greedy_turn import NO_ACTION, best_lay
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Options, State
from fivedice.envs.set_cubed.actions import end_action
from fivedice.envs.set_cubed.faces import NUM_FACES, WILD
from fivedice.envs.set_cubed.hand import hand_size
from fivedice.envs.set_cubed.rules import PLAY, forget_laid, has_anyone_run_out, is_swap, lay_or_declare, next_player

FEATURES = {
    "reply": "points of the next player's best turn, if that follows at once",
    "reply_later": "the same, if a new round comes between",
    "rest": "points that the dice left in the hand would score, by the estimate of the EXTRA roll",
    "wilds": "WILDs left in the hand",
    "dice": "dice left in the hand",
    "open": "points that a die can score on the board, the mean over all faces",
}
REPLY, LATER, REST, WILDS, DICE, OPEN = range(len(FEATURES))


@kernel(allocates=True)
def write_features(
    states: Any,
    spare: Any,
    options: Options,
    values: NDArray[np.float64],
    near: NDArray[np.bool_],
    features: NDArray[np.float32],
) -> None:
    """Write the features of each action for which `near` (N, num_actions) is True into zeros `features`.

    `features` has shape (N, num_features, num_actions), `values` (N, num_actions) are the action values of greedy play,
    and `spare` (1,) is scratch memory for a state. The best action has features 0. So do all actions of the opening and
    of the EXTRA roll, swaps, and all actions where a swap is best.
    """
    found, best = np.zeros(features.shape[1]), np.zeros(features.shape[1])
    for i in range(len(states)):
        if states[i]["phase"] != PLAY:
            continue
        first = int(np.argmax(values[i]))
        if is_swap(states[i], options, first):
            continue  # what it leaves depends on the face of the WILD die
        spare[0] = states[i]
        look_after(spare[0], options, first, best)
        for action in range(near.shape[1]):
            if near[i, action] and not is_swap(states[i], options, action):
                spare[0] = states[i]
                look_after(spare[0], options, action, found)
                for feature in range(len(found)):
                    features[i, feature, action] = found[feature] - best[feature]


@kernel(allocates=True)
def look_after(state: State, options: Options, action: int, found: NDArray[np.float64]) -> None:
    """Play the turn greedily from `action` to its end, and write what it leaves into `found`; changes the state."""
    while action != end_action(options) and action != NO_ACTION:
        lay_or_declare(state, options, action)
        action = best_lay(state, options)[0]
    player = int(state["player"])
    shown = state["hand_faces"][player]
    size = hand_size(shown)
    singles, pairs = np.zeros(SHOWS, np.int64), np.zeros((SHOWS, SHOWS), np.int64)
    forget_laid(state)
    look_at_board(state, options, singles, pairs)
    found[REST] = hand_value(shown[:size], singles, pairs)
    found[WILDS] = (shown == WILD).sum()
    found[DICE] = size
    found[OPEN] = singles[:NUM_FACES].mean()
    state["player"] = next_player(state, options)
    is_round_over = bool(state["player"] == state["opener"])
    is_game_over = is_round_over and has_anyone_run_out(state, options)
    reply = 0.0 if is_game_over else float(best_lay(state, options)[1])
    found[REPLY], found[LATER] = (0.0, reply) if is_round_over else (reply, 0.0)
