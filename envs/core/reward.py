"""The rewards of one step, the same for all games."""

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.kernel import kernel

REWARDS = ("win", "score", "margin")
ILLEGAL_ACTIONS = ("raise", "terminate")
WIN, SCORE, MARGIN = 0, 1, 2


def reward_kind(reward: str | None, num_players: int) -> int:
    """The index of a reward in `REWARDS`.

    Args:
        reward: ``"win"``, ``"score"`` or ``"margin"``; None for ``"win"``, or ``"score"`` with one player.
        num_players: the number of players.

    Raises:
        ValueError: the reward is unknown, or needs more than one player.
    """
    if reward is None:
        return SCORE if num_players == 1 else WIN
    if reward not in REWARDS:
        raise ValueError(f"reward={reward!r} is unknown; use {' or '.join(map(repr, REWARDS))}")
    if reward != "score" and num_players == 1:
        raise ValueError(f"reward={reward!r} compares players, but there is only one; use reward='score'")
    return REWARDS.index(reward)


def check_illegal(illegal_action: str, illegal_reward: float) -> None:
    """Check what happens at an illegal action, and the reward for it.

    Raises:
        ValueError: ``illegal_action`` is neither ``"raise"`` nor ``"terminate"``, or ``illegal_reward`` is not a finite
            number.
    """
    if illegal_action not in ILLEGAL_ACTIONS:
        raise ValueError(f"illegal_action={illegal_action!r} is not possible; use 'raise' or 'terminate'")
    is_number = isinstance(illegal_reward, (int, float, np.number)) and not isinstance(illegal_reward, bool)
    if not is_number or not np.isfinite(illegal_reward):
        raise ValueError(f"illegal_reward={illegal_reward!r} is not possible; use a finite number")


@kernel
def pay(
    kind: int,
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    over: bool,
    won: NDArray[np.int8],
    rewards: NDArray[np.float64],
) -> None:
    """Write the reward of each seat for a step that changed the points from ``before`` to ``after``.

    - ``SCORE``: the points gained in this step.
    - ``MARGIN``: the points gained, minus the mean of the points that the other players gained.
    - ``WIN``: 0 until the game is over. Then the winners share +1 and the losers share -1; if all players won, each
      gets 0.

    Args:
        kind: ``WIN``, ``SCORE`` or ``MARGIN``.
        before: (at least num_players,) points before the step. Not used for ``WIN``.
        after: (at least num_players,) points after the step. Not used for ``WIN``.
        over: whether the step ended the game.
        won: (at least num_players,) 1 for each winner. Used only for ``WIN`` when ``over``.
        rewards: (num_players,) the output.
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
