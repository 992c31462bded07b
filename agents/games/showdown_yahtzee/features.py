"""What else an action of Showdown Yahtzee promises beside chips: features for a learner that starts from greedy play.

Greedy takes all chips for equal. Some are easily stolen again, some are taken from an opponent, and each card that is
placed brings the end nearer. A feature is what an action promises of that, if the turn is played for it alone. In the
Showdown, where every chip counts once more and no longer, there are none.
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
    """The turns that are played for each feature."""
    chosen = GAME.options_dict(options)
    return _features(chosen["chips"], chosen["steal"])


@cache
def _features(chips: tuple[int, ...], steal: str) -> tuple[Turns, ...]:
    options = GAME.make_options(None, {"chips": chips, "steal": steal})
    number = np.tile(np.arange(1.0 + max(NUM_DICE, *chips)), (NUM_CARDS, 1))
    nothing, one = np.zeros_like(number), np.minimum(number, 1.0)
    # A card that is stolen or improved is worth as much as it was: only one that is placed counts.
    placing, robbing = solve(options, one, -one), solve(options, nothing, one)
    lasting = number * (1.0 - chances_to_steal(robbing, number.shape[1]))
    return solve(options, lasting, lasting), solve(options, nothing, number), placing


def chances_to_steal(robbing: Turns, width: int) -> np.ndarray:
    """The chance to steal each card with so many chips on it (12, width), from turns in which a theft counts 1."""
    chances = np.zeros((NUM_CARDS, width))
    for card in range(NUM_CARDS):
        if card >= NUM_NUMBERS:
            chances[card] = robbing.starting[STEAL_FIXED + card - NUM_NUMBERS]
        else:
            chances[card, 1:CHIPS] = robbing.starting[STEAL + card * CHIPS + 1 : STEAL + (card + 1) * CHIPS]
    return chances
