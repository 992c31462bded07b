"""What each seat is paid for one step of the game, for every game."""

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.kernel import kernel

REWARDS = ("win", "score", "margin")
WIN, SCORE, MARGIN = 0, 1, 2


def reward_kind(reward: str | None, num_players: int) -> int:
    """The number of a kind of reward; None means ``"win"``, or ``"score"`` where one plays alone."""
    if reward is None:
        return SCORE if num_players == 1 else WIN
    if reward not in REWARDS:
        raise ValueError(f"reward={reward!r} is not a kind of reward; use {' or '.join(map(repr, REWARDS))}")
    if reward != "score" and num_players == 1:
        raise ValueError(f"reward={reward!r} compares seats and there is only one; use reward='score'")
    return REWARDS.index(reward)


@kernel
def pay(
    kind: int,
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    over: bool,
    won: NDArray[np.int8],
    rewards: NDArray[np.float64],
) -> None:
    """Write each seat's reward for a step that changed the points from `before` to `after`.

    - ``SCORE``: the points gained.
    - ``MARGIN``: the points gained, less the mean of what the others gained.
    - ``WIN``: 0 until the game is over; then the winners share +1 and the losers share -1, or all get 0 if all won.
    """
    num_players = len(rewards)
    if kind == SCORE:
        for seat in range(num_players):
            rewards[seat] = after[seat] - before[seat]
    elif kind == MARGIN:
        gained = 0.0
        for seat in range(num_players):
            gained += after[seat] - before[seat]
        for seat in range(num_players):
            own = after[seat] - before[seat]
            rewards[seat] = own - (gained - own) / (num_players - 1)
    else:
        rewards[:] = 0.0
        num_winners = 0
        for seat in range(num_players):
            num_winners += won[seat]
        if over and num_winners < num_players:
            for seat in range(num_players):
                rewards[seat] = 1.0 / num_winners if won[seat] else -1.0 / (num_players - num_winners)
