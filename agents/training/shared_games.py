"""The games of an evaluation, shared out among the workers of a run."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.evaluation.match import Games, play_games
from fivedice.agents.training.group import Group
from fivedice.envs.core.spec import Game
from fivedice.envs.core.view import Policy


def play_together(
    group: Group, game: Game, seating: NDArray[np.int64], policies: Sequence[Policy], *, seed: int, **settings: Any
) -> Games:
    """`play_games` by all workers of a group: each plays its part of the games, and all get the results of all games.

    The dice of a game depend only on `seed` and the number of the game. So the results are those of one worker.

    Args:
        group: the workers. All of them must call this function with the same arguments.
        game, seating, policies, seed, settings: as for `play_games`.
    """
    part = group.part(len(seating))
    own = play_games(game, seating[part], policies, seed=seed, first_game=part.start, **settings)
    adjusted = None if own.adjusted is None else group.join(own.adjusted)
    return Games(group.join(own.points), group.join(own.shares), adjusted)
