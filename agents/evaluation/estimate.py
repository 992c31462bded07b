"""Estimates: a mean of independent samples with its 95 % interval.

Points have the interval of Student's t distribution (Student, "The probable error of a mean", Biometrika 6, 1908).

Shares, such as win rates, lie between 0 and 1. They have Wilson's score interval, which never leaves this range and is
honest for few games (Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the
American Statistical Association 22, 1927; Brown, Cai and DasGupta, "Interval estimation for a binomial proportion",
Statistical Science 16, 2001). Wilson's interval is for wins and losses. A sample here is the mean of several games with
ties, which varies less. Therefore the number of samples is replaced by the *effective* number: the number of wins and
losses that would vary as much (Korn and Graubard, "Confidence intervals for proportions with small expected number of
positive counts estimated from survey data", Survey Methodology 24, 1998; Franco, Little, Louis and Slud, "Comparative
study of confidence intervals for proportions in complex sample surveys", Journal of Survey Statistics and Methodology
7, 2019).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Z = 1.959963984540054  # the 97.5 % quantile of the standard normal distribution, for 95 % intervals
STUDENT = (12.706204736, 4.302652730, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135)
PSEUDO = (0.0, 0.0, 1.0, 1.0)
ROUNDING = 1e-9  # luck-adjusted shares of 0 and 1 are not exact


def student(freedom: int) -> float:
    """The 97.5 % quantile of Student's t distribution with this number of degrees of freedom, at least 1.

    Above 8 it is an expansion around the normal quantile (Abramowitz and Stegun, "Handbook of mathematical functions",
    1964, 26.7.5), whose error is below 0.00002.
    """
    if freedom <= len(STUDENT):
        return STUDENT[freedom - 1]
    terms = (
        Z,
        (Z**3 + Z) / 4,
        (5 * Z**5 + 16 * Z**3 + 3 * Z) / 96,
        (3 * Z**7 + 19 * Z**5 + 17 * Z**3 - 15 * Z) / 384,
        (79 * Z**9 + 776 * Z**7 + 1482 * Z**5 - 1920 * Z**3 - 945 * Z) / 92160,
    )
    return math.fsum(term / freedom**power for power, term in enumerate(terms))


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % interval.

    Args:
        mean: the mean of the samples.
        half_width: half the width of the interval; NaN if one sample gives no interval.
        count: the number of samples.
        low, high: the ends of the interval. Default: ``mean - half_width`` and ``mean + half_width``. The interval of a
            share is not symmetric about the mean.
    """

    mean: float
    half_width: float
    count: int
    low: float = math.nan
    high: float = math.nan

    def __post_init__(self) -> None:
        if math.isnan(self.low):
            object.__setattr__(self, "low", self.mean - self.half_width)
            object.__setattr__(self, "high", self.mean + self.half_width)

    @classmethod
    def of(cls, samples: NDArray[np.float64]) -> "Estimate":
        """The mean of independent samples (N,), with Student's interval."""
        count = len(samples)
        if count == 1:
            return cls(float(samples[0]), math.nan, 1)
        return cls(float(samples.mean()), student(count - 1) * float(samples.std(ddof=1)) / math.sqrt(count), count)

    @classmethod
    def of_shares(cls, samples: NDArray[np.float64]) -> "Estimate":
        """The mean of independent samples (N,) of a share, with Wilson's interval for their effective number.

        The spread of the samples includes two more samples of 0 and two of 1, so that equal samples do not seem exact
        (after Agresti and Coull, "Approximate is better than 'exact' for interval estimation of binomial proportions",
        The American Statistician 52, 1998). The mean and the ends are cut at 0 and 1, because luck-adjusted samples may
        lie outside. Samples with NaN have the mean NaN, without an interval.
        """
        count = len(samples)
        if np.isnan(samples).any():
            return cls(math.nan, math.nan, count)
        mean = min(1.0, max(0.0, float(samples.mean())))
        around = (count * mean + sum(PSEUDO)) / (count + len(PSEUDO))
        spread = float(np.concatenate([samples, PSEUDO]).var(ddof=1))
        effect = math.inf if count == 1 else spread / (around * (1 - around)) * (student(count - 1) / Z) ** 2
        if samples.min() >= -ROUNDING and samples.max() <= 1 + ROUNDING:
            effect = min(effect, 1.0)  # no samples between 0 and 1 vary more than wins and losses
        low, high = wilson(mean, count / effect)
        return cls(mean, (high - low) / 2, count, low, high)

    @classmethod
    def from_dict(cls, figures: Mapping[str, Any]) -> "Estimate":
        """The estimate that `to_dict` has written. Files of version 0.1 lack the ends."""
        mean, half_width, low, high = (
            math.nan if figures.get(name) is None else float(figures[name])
            for name in ("mean", "half_width", "low", "high")
        )
        return cls(mean, half_width, int(figures["deals"]), low, high)

    def to_dict(self) -> dict[str, Any]:
        """The estimate for JSON, which has no NaN: None stands for an interval that is not known."""
        figures = {"mean": self.mean, "half_width": self.half_width, "low": self.low, "high": self.high}
        return {name: None if math.isnan(value) else value for name, value in figures.items()} | {"deals": self.count}

    @property
    def is_symmetric(self) -> bool:
        """Whether the mean is as good as in the middle of the interval, so that ± `half_width` describes it."""
        return abs((self.low + self.high) / 2 - self.mean) <= min(0.001, self.half_width / 5)

    def excludes(self, value: float) -> bool:
        """Whether the interval excludes `value`, so that the mean differs significantly from it."""
        return value < self.low or value > self.high

    def count_for(self, half_width: float) -> float:
        """The number of such samples that an interval of this half width needs; NaN if it is unknown."""
        if self.count == 1:
            return math.nan
        return self.count * (self.half_width / half_width * Z / student(self.count - 1)) ** 2


def wilson(share: float, count: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of `count` wins and losses; the ends are between 0 and 1."""
    shrunk = Z**2 / count
    centre = (share + shrunk / 2) / (1 + shrunk)
    half_width = Z / (1 + shrunk) * math.sqrt(share * (1 - share) / count + shrunk / (4 * count))
    return max(0.0, min(share, centre - half_width)), min(1.0, max(share, centre + half_width))
