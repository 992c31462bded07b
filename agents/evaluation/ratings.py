"""Elo-like ratings. They are fitted to all games at once, so the order of the games does not matter.

The model is that of Bradley and Terry: the odds that one contender finishes ahead of another are the ratio of their
strengths ("Rank analysis of incomplete block designs: the method of paired comparisons", Biometrika 39, 1952). A game
with more than two players counts as one comparison for each pair of seats. This is a consistent estimate of the
strengths in the Plackett-Luce model, where each place goes to one of the remaining players with a probability
proportional to its strength (Azari Soufiani, Chen, Parkes and Xia, "Generalized method-of-moments for rank
aggregation", NIPS 2013). A tie counts as half for both.

A rating is ``400 * log10(strength)``, as in chess: 400 points more mean odds of 10 : 1.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.evaluation.estimate import Estimate, Z

POINTS = 400.0
DRAWN = 0.5  # a virtual tie for every pair keeps a rating finite if a contender wins all games
RESAMPLES = 400


@dataclass(frozen=True)
class Ratings:
    """The ratings of P contenders, relative to the anchor, whose rating is 0.

    Args:
        estimates: (P,), the ratings with their 95 % intervals. The anchor's interval has the width 0.
        means: float64 (P,), the ratings alone.
        differences: float64 (P, P), half the width of the 95 % interval of each difference of two ratings.
    """

    estimates: tuple[Estimate, ...]
    means: NDArray[np.float64]
    differences: NDArray[np.float64]

    def are_apart(self, one: int, other: int) -> bool:
        """Whether two ratings differ significantly: the 95 % interval of their difference excludes 0."""
        return bool(abs(self.means[one] - self.means[other]) > self.differences[one, other])


def rate(ahead: NDArray[np.float64], *, anchor: int, seed: int) -> Ratings:
    """Fit ratings and compute their 95 % intervals.

    The deals are independent samples. The intervals come from a Bayesian bootstrap: `RESAMPLES` fits, each with
    random exponential weights for the deals (Rubin, "The Bayesian bootstrap", The Annals of Statistics 9, 1981). The
    virtual ties have random weights, too, so a contender that wins every game gets a wide interval, not one of width 0.

    Args:
        ahead: (D, P, P), for each of D deals the number of games in which one contender finished ahead of another; a
            tie counts 0.5 for both.
        anchor: the index of the contender whose rating is 0.
        seed: the random seed of the bootstrap.
    """
    deals, contenders, _ = ahead.shape
    means = fit(ahead.sum(axis=0), anchor=anchor)
    generator = np.random.default_rng(seed)
    weights = generator.exponential(size=(RESAMPLES, deals))
    tables = (weights @ ahead.reshape(deals, -1)).reshape(RESAMPLES, contenders, contenders)
    drawn = DRAWN * generator.exponential(size=tables.shape)
    again = np.stack([fit(*both, anchor=anchor) for both in zip(tables, drawn, strict=True)])
    half_widths = Z * again.std(axis=0, ddof=1)
    differences = Z * (again[:, :, None] - again[:, None, :]).std(axis=0, ddof=1)
    estimates = tuple(Estimate(float(mean), float(half), deals) for mean, half in zip(means, half_widths, strict=True))
    return Ratings(estimates, means, differences)


def fit(ahead: NDArray[np.float64], drawn: float | NDArray[np.float64] = DRAWN, *, anchor: int) -> NDArray[np.float64]:
    """Fit the ratings by maximum likelihood.

    Args:
        ahead: (P, P), how often each contender finished ahead of each other.
        drawn: the weight of the virtual ties: this is added in both directions to every pair that met. A number, or one
            for each pair, (P, P).
        anchor: the index of the contender whose rating is 0.

    Returns:
        float64 (P,), the ratings.
    """
    from choix import ilsr_pairwise_dense

    met = (ahead + ahead.T) > 0
    strengths = ilsr_pairwise_dense(ahead + drawn * met, max_iter=100_000)
    ratings: NDArray[np.float64] = POINTS / np.log(10.0) * (strengths - strengths[anchor])
    return ratings
