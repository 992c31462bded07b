"""Ratings from who finished ahead of whom, all games at once, so that their order makes no difference.

The model is Bradley and Terry's: the odds of one contender to finish ahead of another are the ratio of their strengths
("Rank analysis of incomplete block designs: the method of paired comparisons", Biometrika 39, 1952). A table of more
than two is taken as all pairs of its seats. That estimates the strengths of the model of Plackett and Luce, where each
place goes to one of those left in proportion to its strength (Azari Soufiani, Chen, Parkes and Xia, "Generalized
method-of-moments for rank aggregation", NIPS 2013). Finishing together counts half for either.

A rating is 400 times the decimal logarithm of a strength, as in chess: 400 more are odds of ten to one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.evaluation.match import Estimate, Z

POINTS = 400.0
DRAWN = 0.5  # a drawn game more for every pair, so that a rating is finite where all games were won
RESAMPLES = 400


@dataclass(frozen=True)
class Ratings:
    """Of P contenders, in points above the anchor.

    Args:
        estimates: (P,) each rating with its 95 % interval; the anchor's is 0 without one.
        means: (P,) the ratings alone.
        differences: (P, P) half the width of the 95 % interval of each difference.
    """

    estimates: tuple[Estimate, ...]
    means: NDArray[np.float64]
    differences: NDArray[np.float64]

    def are_apart(self, one: int, other: int) -> bool:
        """Whether the ratings of two contenders differ by more than their difference's interval."""
        return bool(abs(self.means[one] - self.means[other]) > self.differences[one, other])


def rate(ahead: NDArray[np.float64], *, anchor: int, seed: int) -> Ratings:
    """Ratings with their intervals.

    Args:
        ahead: (D, P, P), in how many games of each deal one contender finished ahead of another. Deals are what is
            independent: the intervals come from `RESAMPLES` fits with an exponential weight for each deal (Rubin, "The
            Bayesian bootstrap", The Annals of Statistics 9, 1981). So do the drawn games that are added have, and
            who won every game gets a wide interval instead of none.
        anchor: the contender whose rating is 0.
        seed: of the draws.
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
    """The ratings (P,) that make these results (P, P) likeliest, how often each finished ahead of each.

    So much is added to both sides of every pair that has met.
    """
    from choix import ilsr_pairwise_dense

    met = (ahead + ahead.T) > 0
    strengths = ilsr_pairwise_dense(ahead + drawn * met, max_iter=100_000)
    ratings: NDArray[np.float64] = POINTS / np.log(10.0) * (strengths - strengths[anchor])
    return ratings
