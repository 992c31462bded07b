"""Greedy play of Yahtzee Jr.: the most expected points from this turn, exactly, and no thought for what it leaves."""

from typing import Any

from fivedice.agents.games.greedy_turn import GreedyTurn, make_write_points
from fivedice.envs.core.dice import Dice
from fivedice.envs.core.kernel import kernel
from fivedice.envs.yahtzee_jr import GAME
from fivedice.envs.yahtzee_jr.lookup import column_for, least_showing
from fivedice.envs.yahtzee_jr.rules import NUM_CHARACTERS, OPEN, PLACE, showing


@kernel
def gain(action: int, dice: Dice, state: Any, options: Any) -> int:
    """The column that a token goes to with `dice`, given the cells that are still free."""
    return column_for(action - PLACE, dice, state["tokens"])


@kernel
def most_gain(dice: Dice, state: Any, options: Any) -> int:
    """The highest column that `dice` let an open token go to after the third throw."""
    own, most = state["tokens"][state["player"]], 0
    least = least_showing(dice, own, 0, options)
    for character in range(NUM_CHARACTERS):
        if own[character] == OPEN and showing(dice, character) >= least:
            most = max(most, column_for(character, dice, state["tokens"]))
    return most


class GreedyYahtzeeJr(GreedyTurn):
    """Places the token that goes to the highest column now, whichever tokens and cells that leaves for later turns.

    A zero is written with the first open token.
    """

    game = GAME
    write_points = staticmethod(make_write_points(gain, most_gain))


GREEDY = GreedyYahtzeeJr()
