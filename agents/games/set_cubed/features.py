"""What a turn of SET Cubed leaves behind: features of an action for a learner that starts from greedy play.

Greedy looks at the points of its own turn alone. Of turns that score about the same these figures tell them apart.
Each is a difference to the action that greedy holds for the best, after the turn has been played on greedily, so the
learner reads them like the points themselves: so much for each point that the next player can score.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.games.set_cubed.greedy_extra import SHOWS, hand_value, look_at_board
from fivedice.agents.games.set_cubed.greedy_turn import NO_ACTION, best_lay, is_swap, lay_or_declare
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Options, State
from fivedice.envs.set_cubed.board import NONE
from fivedice.envs.set_cubed.faces import NUM_FACES, WILD
from fivedice.envs.set_cubed.hand import hand_size
from fivedice.envs.set_cubed.rules import PLAY, end_action

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
    """Write the features of each action that is `near` (N, num_actions) into zeros (N, num_features, num_actions).

    `values` (N, num_actions) are those of greedy; `spare` (1,) is room for a state. Swaps, the opening and the EXTRA
    roll have none: they stay 0, as does the best action.
    """
    found, best = np.zeros(features.shape[1]), np.zeros(features.shape[1])
    for i in range(len(states)):
        if states[i]["phase"] != PLAY:
            continue
        first = int(np.argmax(values[i]))
        if is_swap(states[i], options, first):
            continue  # what it leaves depends on the die that comes back
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
    """Play the turn on greedily from `action`, and write what it leaves into `found`; the state is worked on."""
    while action != end_action(options) and action != NO_ACTION:
        lay_or_declare(state, options, action)
        action = best_lay(state, options)[0]
    player = int(state["player"])
    shown = state["hand_faces"][player]
    size = hand_size(shown)
    singles, pairs = np.zeros(SHOWS, np.int64), np.zeros((SHOWS, SHOWS), np.int64)
    state["laid"][:], state["waiting"] = NONE, NONE
    look_at_board(state, options, singles, pairs)
    found[REST] = hand_value(shown[:size], singles, pairs)
    found[WILDS] = (shown == WILD).sum()
    found[DICE] = size
    found[OPEN] = singles[:NUM_FACES].mean()
    following = (player + 1) % int(options["num_players"])
    state["player"] = following
    reply = 0.0 if is_last_turn(state, options) else float(best_lay(state, options)[1])
    found[REPLY], found[LATER] = (0.0, reply) if following == state["opener"] else (reply, 0.0)


@kernel
def is_last_turn(state: State, options: Options) -> bool:
    """Whether the game ends with the turn before that of the player: the round is over and somebody has no dice."""
    if state["player"] != state["opener"]:
        return False
    for seat in range(options["num_players"]):
        if hand_size(state["hand_faces"][seat]) == 0:
            return True
    return False
