"""The rules of Pig, for one game."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.chance import MAX_SEATS, Chance, roll_dice
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.option import WholeNumber
from fivedice.envs.core.winners import mark_highest

STATE = np.dtype(
    [
        ("die", np.int8, (1,)),  # the face of the last roll, 1..6; 0 before the first roll
        ("turn", np.int16),  # points of this turn, which a 1 takes away
        ("player", np.uint8),  # the seat whose turn it is
        ("points", np.int16, (MAX_SEATS,)),  # points of the turns that are over
    ]
)
OPTIONS = (WholeNumber("goal", 100, 10, 1000, "how many points win"),)
ROLL, HOLD = 0, 1
SIDES, LOSES = 6, 1


@kernel
def setup(state: Any, options: Any, chance: Chance) -> None:
    state["die"][:] = 0
    state["turn"] = 0
    state["player"] = 0
    state["points"][:] = 0


@kernel
def current_player(state: Any) -> int:
    return int(state["player"])


@kernel
def legal_actions(state: Any, options: Any, mask: NDArray[np.int8]) -> None:
    over = is_terminal(state, options)
    mask[ROLL] = not over
    mask[HOLD] = not over and state["turn"] > 0  # a turn has at least one roll


@kernel
def apply(state: Any, options: Any, action: int, chance: Chance) -> None:
    player = int(state["player"])
    if action == ROLL:
        roll_dice(state["die"], 0, SIDES, player, chance)
        if state["die"][0] != LOSES:
            state["turn"] += state["die"][0]
            return
    else:
        state["points"][player] += state["turn"]
    state["turn"] = 0
    if not is_terminal(state, options):
        state["player"] = (player + 1) % int(options["num_players"])


@kernel
def is_terminal(state: Any, options: Any) -> bool:
    return bool(state["points"][state["player"]] >= options["goal"])


@kernel
def scores(state: Any, options: Any, points: NDArray[np.float64]) -> None:
    for seat in range(options["num_players"]):
        points[seat] = state["points"][seat]


@kernel
def winners(state: Any, options: Any, won: NDArray[np.int8]) -> None:
    highest = 0
    for seat in range(options["num_players"]):
        highest = mark_highest(seat, int(state["points"][seat]), highest, won)
