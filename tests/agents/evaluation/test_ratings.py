"""Ratings: the model's own strengths come out, and a winner's rating never falls."""

import numpy as np
import pytest
from numpy.typing import NDArray

from fivedice.agents.evaluation.ratings import POINTS, fit, rate


def played(strengths: list[float], games: int, seed: int) -> NDArray[np.float64]:
    """Who finished ahead of whom in each of `games` deals of every pair, (games, P, P)."""
    generator, count = np.random.default_rng(seed), len(strengths)
    ahead = np.zeros((games, count, count))
    for one in range(count):
        for other in range(one):
            chance = 1 / (1 + 10 ** ((strengths[other] - strengths[one]) / POINTS))
            wins = generator.random(games) < chance
            ahead[:, one, other], ahead[:, other, one] = wins, ~wins
    return ahead


def places(strengths: list[float], games: int, seed: int) -> NDArray[np.float64]:
    """The same for tables of all, each place going to one of those left in proportion to its strength."""
    generator, count = np.random.default_rng(seed), len(strengths)
    times = generator.exponential(10 ** (-np.array(strengths) / POINTS), size=(games, count))  # the first to ring wins
    return (times[:, :, None] < times[:, None, :]).astype(np.float64)


@pytest.mark.parametrize("games", [played, places])
def test_fit__finds_the_strengths_of_the_model(games: object) -> None:
    strengths = [0.0, 60.0, 250.0, 400.0]
    found = fit(games(strengths, 40_000, 1).sum(axis=0), anchor=0)  # type: ignore[operator]
    assert found == pytest.approx(strengths, abs=12)


def test_fit__a_winner_never_falls_and_a_loser_never_rises() -> None:
    generator = np.random.default_rng(3)
    for _ in range(120):
        count = int(generator.integers(2, 6))
        ahead = generator.integers(0, 30, (count, count)).astype(np.float64)
        np.fill_diagonal(ahead, 0)
        ahead[0, 1:] += 1  # everyone has met the anchor
        winner, loser = generator.choice(count, 2, replace=False)
        before = fit(ahead, anchor=0)
        ahead[winner, loser] += 1
        after = fit(ahead, anchor=0)
        assert after[winner] >= before[winner] - 1e-6
        assert after[loser] <= before[loser] + 1e-6
        assert after[winner] - after[loser] > before[winner] - before[loser]


def test_fit__who_wins_every_game_has_a_finite_rating() -> None:
    ratings = fit(np.array([[0.0, 0.0, 3.0], [1000.0, 0.0, 1000.0], [5.0, 0.0, 0.0]]), anchor=0)
    assert np.isfinite(ratings).all()
    assert ratings[1] > 1000


def test_rate__who_wins_every_game_has_a_wide_interval() -> None:
    ahead = np.zeros((100, 2, 2))
    ahead[:, 1, 0] = 2
    ratings = rate(ahead, anchor=0, seed=1)
    assert 900 < ratings.means[1] < 1200
    assert ratings.estimates[1].half_width > 300
    assert ratings.are_apart(0, 1)


def test_rate__the_anchor_is_zero_without_an_interval() -> None:
    ratings = rate(played([0, 100], 50, 1), anchor=1, seed=1)
    assert (ratings.means[1], ratings.estimates[1].half_width) == (0, 0)
    assert ratings.are_apart(0, 1)
    assert not ratings.are_apart(1, 1)


def test_rate__games_of_one_deal_are_one_sample() -> None:
    ahead = played([0, 50], 40, 4)
    one = rate(ahead, anchor=0, seed=1)
    many = rate(10 * ahead, anchor=0, seed=1)  # each deal ten times with the same result tells hardly more
    assert many.estimates[1].half_width == pytest.approx(one.estimates[1].half_width, rel=0.15)
