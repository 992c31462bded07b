"""Action features of Showdown Yahtzee for a learner whose prior policy is greedy play.

Greedy play values all chips equally. But some chips are easily stolen again, some are taken from an opponent, and each
placed card brings the end of the game nearer. A feature is the expected value of an action if the turn is played only
for that. In the Showdown all features are 0, because the game ends with it.
"""

from functools import cache

import numpy as np

from fivedice.agents.games.showdown_yahtzee.greedy_turn import CHIPS, STEAL, STEAL_FIXED, Turns, solve
from fivedice.envs.core.dice import NUM_DICE
from fivedice.envs.core.spec import Options
from fivedice.envs.showdown_yahtzee import GAME
from fivedice.envs.showdown_yahtzee.rules import NUM_CARDS, NUM_NUMBERS

FEATURES = {
    "lasting": "the swing, each chip weighed by the chance that a try to steal it fails",
    "taken": "chips that an opponent loses",
    "placing": "the chance to place a card",
}


def features_of(options: Options) -> tuple[Turns, ...]:
    """The values of all turns for each feature."""
    chosen = GAME.options_dict(options)
    return _features(chosen["chips"], chosen["steal"])


@cache
def _features(chips: tuple[int, ...], steal: str) -> tuple[Turns, ...]:
    options = GAME.make_options(None, {"chips": chips, "steal": steal})
    number = np.tile(np.arange(1.0 + max(NUM_DICE, *chips)), (NUM_CARDS, 1))
    nothing, one = np.zeros_like(number), np.minimum(number, 1.0)
    # Only a card that is placed counts: `one` for the new chips, and minus `one` for a card that was on the board.
    placing, stealing = solve(options, one, -one), solve(options, nothing, one)
    lasting = number * (1.0 - chances_to_steal(stealing, number.shape[1]))
    return solve(options, lasting, lasting), solve(options, nothing, number), placing


def chances_to_steal(stealing: Turns, width: int) -> np.ndarray:
    """The chance to steal each card with each number of chips (12, width); `stealing` values every stolen card at 1."""
    chances = np.zeros((NUM_CARDS, width))
    for card in range(NUM_CARDS):
        if card >= NUM_NUMBERS:
            chances[card] = stealing.starting[STEAL_FIXED + card - NUM_NUMBERS]
        else:
            chances[card, 1:CHIPS] = stealing.starting[STEAL + card * CHIPS + 1 : STEAL + (card + 1) * CHIPS]
    return chances
