"""The observation of a seat: its layout, and the kernel that writes it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Field, Layout


def layout(options: Any) -> Layout:
    """The observation fields for an options record."""
    seats = int(options["num_players"])
    return Layout(
        [
            Field("to_move", (seats,), 0, 1, "for each seat: 1 if it is this seat's turn"),
            Field("may_hold", (1,), 0, 1, "1 if the mover may hold"),
            Field("turn", (1,), 0, 1, "points of this turn / goal, at most 1"),
            Field("points", (seats,), 0, 1, "for each seat: points of the turns that are over / goal, at most 1"),
        ]
    )


@kernel
def observe(state: Any, options: Any, seat: int, out: NDArray[np.float32]) -> None:
    """Write the observation of `seat` into `out`, (size,) float32."""
    seats, goal = int(options["num_players"]), int(options["goal"])
    over = state["points"][state["player"]] >= goal
    for i in range(seats):
        other = (seat + i) % seats
        out[i] = state["player"] == other and not over
        out[seats + 2 + i] = min(1.0, state["points"][other] / goal)
    out[seats] = state["turn"] > 0 and not over
    out[seats + 1] = min(1.0, state["turn"] / goal)
