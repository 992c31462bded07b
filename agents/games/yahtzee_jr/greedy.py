"""Greedy play of Yahtzee Jr.: the most expected points from this turn, exactly. It ignores all later turns."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.games.greedy_turn import GreedyTurn
from fivedice.agents.games.yahtzee_jr.turn import COLUMNS, TURN
from fivedice.envs.core.kernel import kernel
from fivedice.envs.yahtzee_jr import GAME
from fivedice.envs.yahtzee_jr.rules import NUM_CHARACTERS, OPEN, score


@kernel
def write_worth(state: Any, options: Any, nothing_known: None, worth: NDArray[np.float64]) -> None:
    """Write the points of each open token in each column into `worth` (5, 6, 1)."""
    own = state["tokens"][state["player"]]
    before = score(own)
    for character in range(NUM_CHARACTERS):
        if own[character] == OPEN:
            for column in range(COLUMNS):
                own[character] = column
                worth[character, column, 0] = score(own) - before
            own[character] = OPEN


write_all_stops = TURN.write_stops


@kernel(allocates=True)
def write_stops(state: Any, options: Any, worth: NDArray[np.float64], stops: NDArray[np.float64]) -> None:
    """See `Turn.make_write_action_values`. Only a placement for 0 has to wait for the last throw, so the values after
    the last throw serve for the others, too."""
    write_all_stops(state, options, worth, stops[:1])
    stops[1:] = stops[0]


class GreedyYahtzeeJr(GreedyTurn):
    """Places the token that goes to the highest column now, whichever tokens and cells remain for later turns.

    If every token would score 0, it places the first open one.
    """

    game = GAME
    write_action_values = staticmethod(TURN.make_write_action_values(write_worth, write_stops))


GREEDY = GreedyYahtzeeJr()
