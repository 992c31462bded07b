"""The luck of the dice taken out of results, where a game is solved for points.

Let V be the score that a seat expects if it plays its best from here on. Along a game V changes in two ways: a decision
loses its *regret*, the value of the best action less that of the one chosen; and a throw adds its *luck*, what came
less what was to be expected. V ends as the score, so that

    score = V(start) - regrets + luck.

Whoever plays, luck has mean zero given all that came before, since dice do not know who throws them. Hence:

- ``V(start) - regrets`` has the mean of the score, without the luck of the dice: the *adjusted* points. (Zinkevich,
  Bowling, Bard, Kan and Billings, "Optimal unbiased estimators for evaluating agent performance", AAAI 2006; Burch,
  Schmid, Moravčík, Morrill and Bowling, "AIVAT", AAAI 2018.)
- Any multiple of luck may be taken off another result, such as the share of a win, and leaves its mean: luck is a
  *control variate* (Lavenberg and Welch, "A perspective on the use of control variables to increase the efficiency of
  Monte Carlo simulations", Management Science 27, 1981).
"""

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.policies.by_game import exact_solution
from fivedice.agents.policies.protocols import PointValues
from fivedice.envs.core.spec import Game, Options
from fivedice.envs.core.view import View


def point_values(game: Game, options: Options) -> PointValues | None:
    """The values of a game with these options, or None if it is not solved for points."""
    solution = exact_solution(game)
    return None if solution is None else solution.point_values(options)


def regrets(values: PointValues, view: View, actions: NDArray[np.int64]) -> NDArray[np.float64]:
    """The expected points that each of `actions` (N,) gives away, (N,)."""
    worth = values.action_values(view)
    lost: NDArray[np.float64] = worth.max(axis=1) - worth[np.arange(len(actions)), actions]
    return lost


def without_luck(results: NDArray[np.float64], luck: NDArray[np.float64]) -> NDArray[np.float64]:
    """Results (N,) of independent deals, less the part of them that goes with `luck` (N, K).

    The slopes are those of a regression. Each half of the deals is adjusted by the slopes of the other half, which know
    nothing of its luck, so that the mean stays unbiased for any number of deals.
    """
    adjusted = results.copy()
    for half in (0, 1):
        here, there = slice(half, None, 2), slice(1 - half, None, 2)
        inputs = np.column_stack([np.ones(len(luck[there])), luck[there]])
        slopes = np.linalg.lstsq(inputs, results[there])[0][1:]
        adjusted[here] -= luck[here] @ slopes
    return adjusted
