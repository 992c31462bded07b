"""Choosing the action with the highest value, where equal values may differ by rounding."""

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.kernel import kernel

NEAR = 1e-9  # values closer than this are equal: they differ by rounding alone


def best_actions(values: NDArray[np.float64], first: int = 0) -> NDArray[np.int64]:
    """The action with the highest value in each row.

    Args:
        values: (N, num_actions), -inf where an action is not legal.
        first: breaks ties. Of equal values the first action counts, in the order `first`, `first` + 1, …, the last
            action, 0, 1, …

    Returns:
        (N,) int64.
    """
    actions = np.empty(len(values), np.int64)
    write_best_actions(values, first, actions)
    return actions


@kernel
def write_best_actions(values: NDArray[np.float64], first: int, actions: NDArray[np.int64]) -> None:
    """Write `best_actions` into `actions` (N,)."""
    num_actions = values.shape[1]
    for i in range(len(values)):
        actions[i] = first
        for place in range(1, num_actions):
            action = (first + place) % num_actions
            if values[i, action] > values[i, actions[i]] + NEAR:
                actions[i] = action
