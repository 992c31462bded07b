"""The turn of Yahtzee Jr.: it ends when a token is placed, and its outcome is the column of the token."""

from typing import Any

from fivedice.agents.games.turn import Turn
from fivedice.envs.core.dice import NUM_DICE
from fivedice.envs.core.kernel import kernel
from fivedice.envs.yahtzee_jr.lookup import column_for, legal_actions
from fivedice.envs.yahtzee_jr.rules import NUM_ACTIONS, PLACE

COLUMNS = NUM_DICE + 1  # the picture, and one for each number of dice


@kernel
def column_reached(character: int, throw: int, state: Any, options: Any) -> int:
    """The column to which the token of a character goes."""
    return column_for(character, state["dice"], state["tokens"])


TURN = Turn(legal_actions, column_reached, num_actions=NUM_ACTIONS, num_keeps=PLACE, num_outcomes=COLUMNS)
