"""Variance reduction: remove the luck of the dice from results, for games that are solved for points.

Let V be the expected final score of a seat if it plays optimally from now on. V changes in two ways during a game. A
decision reduces V by its *regret*: the value of the best action minus the value of the chosen action. A throw changes V
by its *luck*: the value after the throw minus the expected value before it. At the end V is the score. Therefore

    score = V(start) - sum of regrets + sum of luck.

For every policy the luck has mean zero, given everything before the throw. Two results follow:

- ``V(start) - sum of regrets`` has the same mean as the score and a smaller variance. These are the *luck-adjusted*
  points. (Zinkevich, Bowling, Bard, Kan and Billings, "Optimal unbiased estimators for evaluating agent performance",
  AAAI 2006; Burch, Schmid, Moravčík, Morrill and Bowling, "AIVAT", AAAI 2018.)
- Luck is a *control variate*: subtracting a multiple of it from another result, for example from the win rate, does not
  change the mean (Lavenberg and Welch, "A perspective on the use of control variables to increase the efficiency of
  Monte Carlo simulations", Management Science 27, 1981).
"""

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.policies.by_game import exact_solution
from fivedice.agents.policies.protocols import PointValues
from fivedice.envs.core.spec import Game, Options
from fivedice.envs.core.view import View


def point_values(game: Game, options: Options) -> PointValues | None:
    """The exact values of a game with these options, or None if it is not solved for points."""
    solution = exact_solution(game)
    return None if solution is None else solution.point_values(options)


def regrets(values: PointValues, view: View, actions: NDArray[np.int64]) -> NDArray[np.float64]:
    """The expected points that each of the `actions` (N,) loses against the best action, float64 (N,), at least 0."""
    worth = values.action_values(view)
    lost: NDArray[np.float64] = worth.max(axis=1) - worth[np.arange(len(actions)), actions]
    return lost


def without_luck(results: NDArray[np.float64], luck: NDArray[np.float64]) -> NDArray[np.float64]:
    """Subtract from the results of N independent deals the part that a linear regression on luck explains.

    Each half of the deals uses the regression slopes of the other half. These slopes do not depend on its own luck, so
    the mean stays unbiased for any number of deals.

    Args:
        results: float64 (N,).
        luck: float64 (N, K), K control variates with mean 0.

    Returns:
        float64 (N,), the adjusted results.
    """
    adjusted = results.copy()
    for half in (0, 1):
        here, there = slice(half, None, 2), slice(1 - half, None, 2)
        inputs = np.column_stack([np.ones(len(luck[there])), luck[there]])
        slopes = np.linalg.lstsq(inputs, results[there])[0][1:]
        adjusted[here] -= luck[here] @ slopes
    return adjusted
