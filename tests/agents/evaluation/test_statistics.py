"""Statistics: each figure equals a plain computation, and intervals hold the truth as often as they say."""

import json
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import fields
from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import t as student_law

from fivedice.agents.evaluation import ratings as module
from fivedice.agents.evaluation.estimate import Estimate, Z, student, wilson
from fivedice.agents.evaluation.ranking import Ranking, finished_ahead, places, rank
from fivedice.agents.evaluation.ratings import DRAWN, POINTS, Ratings, fit, rate
from fivedice.agents.evaluation.schedule import Contender, Tournament
from fivedice.agents.evaluation.tournament import Results

NORMAL = statistics.NormalDist().inv_cdf(0.975)
SAMPLES = {
    "two": [3.0, 7.0],
    "some": [1.0, 4.0, 4.0, 9.5, -2.25],
    "many": np.random.default_rng(1).gumbel(150, 25, 400).tolist(),
    "alike": [2.5] * 6,
}
SHARES = {
    "one": [1.0],
    "lost": [0.0] * 7,
    "won": [1.0] * 20,
    "shared": [0.0, 0.5, 1 / 3, 1.0, 0.25, 0.25],
    "many": np.random.default_rng(2).random(300).tolist(),
}


def within(shares_held: float, expected: float, repeats: int) -> bool:
    """Whether so many of independent intervals held the truth as should, by four standard deviations."""
    return abs(shares_held - expected) <= 4 * math.sqrt(expected * (1 - expected) / repeats)


# One estimate


@pytest.mark.parametrize("samples", SAMPLES.values(), ids=SAMPLES)
def test_estimate__is_the_mean_with_student_s_interval(samples: list[float]) -> None:
    found = Estimate.of(np.array(samples))
    quantile = student_law.ppf(0.975, len(samples) - 1)
    half = quantile * statistics.stdev(samples) / math.sqrt(len(samples))
    assert found.mean == pytest.approx(statistics.mean(samples), rel=1e-12)
    assert found.half_width == pytest.approx(half, rel=1e-5)
    assert (found.low, found.high) == pytest.approx((found.mean - half, found.mean + half), rel=1e-5)
    assert (found.count, type(found.mean), type(found.half_width)) == (len(samples), float, float)


def test_student__is_the_quantile_of_its_law() -> None:
    for freedom in [*range(1, 40), 100, 1999, 10**6]:
        assert student(freedom) == pytest.approx(student_law.ppf(0.975, freedom), abs=2e-5), freedom
    assert student(10**6) == pytest.approx(NORMAL, abs=1e-5)


def wilson_by_hand(share: float, count: float) -> tuple[float, float]:
    """The shares whose distance from the observed one is 1.96 of their own standard errors."""
    z2 = NORMAL**2
    roots = np.roots([1 + z2 / count, -(2 * share + z2 / count), share**2])
    return min(roots), max(roots)


@pytest.mark.parametrize("count", [1, 2, 7, 500])
@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.9, 1.0])
def test_wilson__solves_the_equation_of_the_score_test(share: float, count: float) -> None:
    low, high = wilson(share, count)
    assert (low, high) == pytest.approx(wilson_by_hand(share, count), abs=1e-9)
    assert 0 <= low <= share <= high <= 1
    assert (1 - high, 1 - low) == pytest.approx(wilson(1 - share, count))


def test_wilson__of_a_published_example() -> None:
    """Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17, 1998."""
    assert wilson(81 / 263, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(15 / 148, 148) == pytest.approx((0.0624, 0.1605), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0, 0.1611), abs=5e-5)
    assert wilson(1 / 29, 29) == pytest.approx((0.0061, 0.1718), abs=5e-5)


@pytest.mark.parametrize("samples", SHARES.values(), ids=SHARES)
def test_estimate_of_shares__is_wilson_s_interval_for_the_effective_number(samples: list[float]) -> None:
    found = Estimate.of_shares(np.array(samples))
    count = len(samples)
    extended = [*samples, 0.0, 0.0, 1.0, 1.0]
    centre = statistics.mean(extended)
    effect = 1.0  # of the spread of wins and losses
    if count > 1:
        effect = statistics.variance(extended) / (centre * (1 - centre))
        effect = min(1.0, effect * (student_law.ppf(0.975, count - 1) / NORMAL) ** 2)
    low, high = wilson_by_hand(statistics.mean(samples), count / effect)
    assert found.mean == pytest.approx(statistics.mean(samples), rel=1e-12)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-5)
    assert found.half_width == pytest.approx((high - low) / 2, abs=1e-5)
    assert (found.count, found.half_width > 0) == (count, True)
    assert 0 <= found.low <= found.mean <= found.high <= 1
    mirrored = Estimate.of_shares(1 - np.array(samples))
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((found.low, found.high), rel=1e-9, abs=1e-12)


def test_estimate_of_shares__of_two_games_that_were_won_stays_below_100_percent() -> None:
    won = Estimate.of_shares(np.array([1.0]))
    assert (won.mean, won.high) == (1, 1)
    assert won.low == pytest.approx(0.2065, abs=1e-4)


def test_estimate_of_shares__of_many_is_the_normal_interval() -> None:
    samples = np.array(SHARES["many"] * 20)
    found = Estimate.of_shares(samples)
    half = NORMAL * samples.std() / math.sqrt(len(samples))
    assert (found.low, found.high) == pytest.approx((found.mean - half, found.mean + half), abs=1e-4)
    assert found.is_symmetric


def test_estimate_of_shares__luck_adjusted_ones_are_cut_at_the_ends() -> None:
    """They may lie outside. Then their own spread counts, even if it is greater than that of wins and losses."""
    beyond = Estimate.of_shares(np.array([1.2, 0.9, 1.1, 0.95] * 10))
    assert (beyond.mean, beyond.high) == (1, 1)
    assert 0.8 < beyond.low < 1
    wild = np.array([3.0, -2.0] * 20)
    assert Estimate.of_shares(wild).half_width > 2 * Estimate.of_shares((wild + 2) / 5).half_width


def test_estimate__of_one_sample_has_no_interval() -> None:
    lone = Estimate.of(np.array([3.0]))
    assert (lone.mean, lone.count) == (3, 1)
    for figure in (lone.half_width, lone.low, lone.high, lone.count_for(0.1)):
        assert math.isnan(figure)
    assert not lone.excludes(1000)


def test_estimate__survives_json() -> None:
    for estimate in (Estimate.of_shares(np.array([1.0, 0.5])), Estimate(3.5, 0.25, 9)):
        assert Estimate.from_dict(json.loads(json.dumps(estimate.to_dict()))) == estimate
    text = json.dumps(Estimate.of(np.array([3.0])).to_dict(), allow_nan=False)
    assert json.loads(text) == {"mean": 3, "half_width": None, "low": None, "high": None, "deals": 1}
    assert math.isnan(Estimate.from_dict(json.loads(text)).low)
    old = Estimate.from_dict({"mean": 0.5, "half_width": 0.1, "deals": 7})
    assert (old.low, old.high, old.count) == (0.4, 0.6, 7)


def test_excludes__is_what_lies_outside() -> None:
    share = Estimate(0.9, 0.1, 9, 0.75, 0.95)
    assert [share.excludes(value) for value in (0.74, 0.75, 0.95, 0.96)] == [True, False, False, True]


def test_count_for__is_what_narrows_the_interval_to_that() -> None:
    assert Estimate(5.0, 0.3, 20_000).count_for(0.1) == pytest.approx(180_000, rel=1e-3)
    # Of few samples a part of the width comes from the spread, which is not known well.
    few = Estimate(5.0, 0.3, 6)
    assert few.count_for(0.1) == pytest.approx(6 * 9 * (NORMAL / student_law.ppf(0.975, 5)) ** 2)


def coverage(estimate: Callable[[NDArray[np.float64]], Estimate], samples: NDArray[np.float64], truth: float) -> float:
    """How many intervals of rows of `samples` hold the truth."""
    estimates = [estimate(row) for row in samples]
    return float(np.mean([found.low - 1e-12 <= truth <= found.high + 1e-12 for found in estimates]))


@pytest.mark.parametrize("count", [2, 5, 20, 200])
def test_interval__of_normal_samples_holds_the_mean_19_times_in_20(count: int) -> None:
    samples = np.random.default_rng(3).normal(150, 25, (2000, count))
    assert within(coverage(Estimate.of, samples, 150), 0.95, 2000)

    def narrow(row: NDArray[np.float64]) -> Estimate:
        """90 % called 95 %."""
        found = Estimate.of(row)
        half = found.half_width * student_law.ppf(0.95, count - 1) / student_law.ppf(0.975, count - 1)
        return Estimate(found.mean, half, count)

    assert not within(coverage(narrow, samples, 150), 0.95, 2000)


@pytest.mark.parametrize("chance", [0.5, 0.8, 0.9, 0.98, 0.998])
@pytest.mark.parametrize("count", [5, 20, 100, 500])
def test_interval__of_shares_holds_the_chance_19_times_in_20(count: int, chance: float) -> None:
    """On average over the chances it does, see below; for a single chance it may be a little less often."""
    generator = np.random.default_rng(4)
    wins = (generator.random((1000, count, 2)) < chance).astype(np.float64)
    for samples in (wins[:, :, 0], wins.mean(axis=2)):  # single games; both seats of a deal
        assert coverage(Estimate.of_shares, samples, chance) >= 0.88
        if count * (1 - chance) < 0.6:  # mostly wins alone: the plain interval is nothing then
            assert coverage(Estimate.of, samples, chance) < 0.75


def test_interval__of_shares_holds_the_chance_in_95_percent_on_average() -> None:
    generator = np.random.default_rng(5)
    for count in (1, 3, 10, 40):
        held = [
            coverage(Estimate.of_shares, (generator.random((60, count)) < chance).astype(np.float64), chance)
            for chance in np.linspace(0.005, 0.995, 100)
        ]
        assert 0.94 < np.mean(held) < 0.98, count


# Ratings


def plain_fit(ahead: NDArray[np.float64], drawn: float, anchor: int) -> list[float]:
    """Hunter's way: each strength by turns is what the wins are to the games, weighed by the strengths that met."""
    count = len(ahead)
    wins = [
        [ahead[one, other] + drawn * (ahead[one, other] + ahead[other, one] > 0) for other in range(count)]
        for one in range(count)
    ]
    strengths = [1.0] * count
    for _ in range(3000):
        strengths = [
            sum(wins[one])
            / sum(
                (wins[one][other] + wins[other][one]) / (strengths[one] + strengths[other])
                for other in range(count)
                if other != one
            )
            for one in range(count)
        ]
        total = sum(strengths)
        strengths = [strength / total for strength in strengths]
    return [400 * math.log10(strength / strengths[anchor]) for strength in strengths]


@pytest.mark.parametrize("count", [2, 3, 5])
def test_fit__is_the_likeliest_by_another_way_to_find_it(count: int) -> None:
    generator = np.random.default_rng(count)
    ahead = generator.integers(1, 30, (count, count)) * (1 - np.eye(count))
    if count == 5:
        ahead[0, 4] = ahead[4, 0] = 0  # these have not met, so no drawn game of theirs is added
        ahead[1, 2] = 0
    for anchor in (0, count - 1):
        found = fit(ahead, anchor=anchor)
        assert found == pytest.approx(plain_fit(ahead, 0.5, anchor), abs=0.01)
        assert found[anchor] == 0
        assert fit(ahead, 7.0, anchor=anchor) == pytest.approx(plain_fit(ahead, 7.0, anchor), abs=0.01)


def test_fit__of_two_is_the_logarithm_of_the_odds() -> None:
    assert (POINTS, DRAWN) == (400, 0.5)
    ratings = fit(np.array([[0.0, 25.0], [75.0, 0.0]]), anchor=0)
    assert ratings == pytest.approx([0, 400 * math.log10(75.5 / 25.5)])


def met(deals: int, contenders: int, seed: int, *, games: int = 4) -> NDArray[np.float64]:
    """How often one finished ahead of another in made-up deals, (deals, P, P)."""
    ahead = np.random.default_rng(seed).integers(0, games, (deals, contenders, contenders)).astype(np.float64)
    return ahead * (1 - np.eye(contenders))


def test_rating__depends_neither_on_the_order_of_games_nor_on_that_of_contenders() -> None:
    ahead = met(40, 4, 1)
    ahead[:, 2] += 1
    means = fit(ahead.sum(axis=0), anchor=1)
    for order in map(list, permutations(range(4))):
        turned = fit(ahead.sum(axis=0)[order][:, order], anchor=order.index(1))
        assert turned == pytest.approx(means[order], abs=1e-4)
    order = [2, 0, 3, 1]
    for others in (
        rate(ahead[::-1], anchor=1, seed=3).means,
        rate(ahead[:, order][:, :, order], anchor=3, seed=3).means[[1, 3, 0, 2]],
    ):
        assert others == pytest.approx(means, abs=1e-4)


class Recorded:
    """`fit`, and what it was asked and answered."""

    def __init__(self) -> None:
        self.asked: list[NDArray[np.float64]] = []
        self.drawn: list[NDArray[np.float64]] = []
        self.answers: list[NDArray[np.float64]] = []
        self.anchors: set[int] = set()

    def __call__(
        self, ahead: NDArray[np.float64], drawn: float | NDArray[np.float64] = DRAWN, *, anchor: int
    ) -> NDArray[np.float64]:
        self.asked.append(ahead)
        self.drawn.append(np.broadcast_to(drawn, ahead.shape))
        self.answers.append(fit(ahead, drawn, anchor=anchor))
        self.anchors.add(anchor)
        return self.answers[-1]


def test_rate__intervals_are_the_spread_of_fits_with_exponential_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "fit", recorded := Recorded())
    ahead = met(5, 3, 2, games=9)
    ratings = rate(ahead, anchor=1, seed=4)
    assert recorded.anchors == {1}
    assert np.array_equal(recorded.asked[0], ahead.sum(axis=0))
    assert np.array_equal(ratings.means, fit(ahead.sum(axis=0), anchor=1))
    again = np.array(recorded.answers[1:])
    assert len(again) == module.RESAMPLES == 400
    for number in range(3):
        estimate = ratings.estimates[number]
        assert (estimate.mean, estimate.count) == (ratings.means[number], 5)
        spread = statistics.stdev(again[:, number].tolist())
        assert estimate.half_width == pytest.approx(NORMAL * spread, rel=1e-9, abs=1e-12)
        for other in range(3):
            spread = statistics.stdev((again[:, number] - again[:, other]).tolist())
            assert ratings.differences[number, other] == pytest.approx(NORMAL * spread, rel=1e-9, abs=1e-12)
    assert ratings.estimates[1].half_width == 0
    # The tables are the deals with one weight for each deal, exponential with mean 1.
    tables = np.array(recorded.asked[1:]).reshape(400, 9)
    weights, left, _, _ = np.linalg.lstsq(ahead.reshape(5, 9).T, tables.T)
    assert left == pytest.approx(np.zeros(400), abs=1e-9)
    drawn = np.array(recorded.drawn[1:])[:, ~np.eye(3, dtype=bool)]
    assert np.array(recorded.drawn[0]) == pytest.approx(np.full((3, 3), 0.5))
    for draws, mean in ((weights.ravel(), 1.0), (drawn.ravel(), 0.5)):
        assert draws.min() >= -1e-9
        assert (draws.mean(), draws.std()) == pytest.approx((mean, mean), rel=0.08)
        assert (draws < mean * math.log(2)).mean() == pytest.approx(0.5, abs=0.04)
        assert len(np.unique(draws.round(9))) > 0.99 * len(draws)


def test_rate__draws_are_those_of_the_seed() -> None:
    ahead = met(20, 2, 5)
    one, same, other = (rate(ahead, anchor=0, seed=seed) for seed in (1, 1, 2))
    assert one.estimates == same.estimates
    assert one.estimates[1].half_width != other.estimates[1].half_width
    assert one.estimates[1].half_width == pytest.approx(other.estimates[1].half_width, rel=0.2)


def test_rate__interval_of_independent_games_is_that_of_a_logarithm_of_odds() -> None:
    """The variance of a logarithm of the odds is the sum of the reciprocal numbers of wins of either."""
    ahead = np.zeros((400, 2, 2))
    ahead[:280, 1, 0] = ahead[280:, 0, 1] = 1
    expected = NORMAL * 400 / math.log(10) * math.sqrt(1 / 280 + 1 / 120)
    assert rate(ahead, anchor=0, seed=1).estimates[1].half_width == pytest.approx(expected, rel=0.08)


def test_rate__differences_are_narrow_between_those_that_win_together() -> None:
    """Two that win and lose against the anchor in the same deals are told apart by less than either's interval."""
    generator = np.random.default_rng(6)
    wins = generator.random(100) < 0.6
    ahead = np.zeros((100, 3, 3))
    for number in (1, 2):
        ahead[:, number, 0], ahead[:, 0, number] = wins, ~wins
    ahead[:, 1, 2], ahead[:, 2, 1] = 2, 1
    ratings = rate(ahead, anchor=0, seed=1)
    assert ratings.differences[1, 2] < ratings.estimates[1].half_width / 4
    # Against the anchor, which has no spread of its own, a difference is a rating.
    assert ratings.differences[1, 0] == pytest.approx(ratings.estimates[1].half_width)


MADE_UP = Ratings(
    tuple(Estimate(mean, 1.0, 9) for mean in (0.0, 30.0, 45.0, -20.0)),
    np.array([0.0, 30.0, 45.0, -20.0]),
    np.array([[0.0, 29.0, 46.0, 20.0], [29.0, 0.0, 14.0, 60.0], [46.0, 14.0, 0.0, 64.0], [20.0, 60.0, 64.0, 0.0]]),
)
APART = {(0, 1), (1, 2), (2, 3)}  # differences of 30, 15 and 65; the others' intervals hold 0, (0, 3)'s just so


def test_are_apart__if_the_difference_is_more_than_its_own_interval() -> None:
    for one in range(4):
        for other in range(4):
            assert MADE_UP.are_apart(one, other) == (tuple(sorted((one, other))) in APART)


def test_ranking__order_is_by_rating_and_alike_are_those_not_apart() -> None:
    none: tuple[Estimate, ...] = ()
    ranking = Ranking(("a", "b", "c", "d"), MADE_UP, 0, none, none, none, (), {})
    assert ranking.order == [2, 1, 0, 3]
    assert [ranking.alike(number) for number in range(4)] == [["c", "d"], ["d"], ["a"], ["b", "a"]]
    assert ranking.groups() == [[2, 0], [1, 3], [0, 3]]


@pytest.mark.parametrize(
    ("apart", "groups"),
    [
        (set(), [[0, 1, 2, 3]]),
        ({(0, 3)}, [[0, 1, 2], [1, 2, 3]]),
        ({(0, 1), (2, 3)}, [[0, 2], [0, 3], [1, 2], [1, 3]]),
        ({(0, 3), (1, 3), (2, 3)}, [[0, 1, 2]]),
        ({(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}, []),
    ],
)
def test_groups__are_the_largest_without_significant_differences(
    apart: set[tuple[int, int]], groups: list[list[int]]
) -> None:
    means = np.array([3.0, 2.0, 1.0, 0.0])
    differences = np.full((4, 4), 10.0)
    for one, other in apart:
        differences[one, other] = differences[other, one] = 0.5
    none: tuple[Estimate, ...] = ()
    ratings = Ratings(tuple(Estimate(mean, 1.0, 9) for mean in means), means, differences)
    assert Ranking(("a", "b", "c", "d"), ratings, 0, none, none, none, (), {}).groups() == groups


# Rankings


def some_tournament(contenders: int, seats: int, names: str = "abcdef", games: int = 80) -> Tournament:
    labels = [{"r": "random"}.get(name, name) for name in names[:contenders]]
    return Tournament("yum", (), seats, 7, games, tuple(Contender(label, label, label) for label in labels))


def some_results(tournament: Tournament, seed: int) -> list[Results]:
    """Made-up games with many equal points, winners that do not have the most of them, and seats in any order."""
    generator, found = np.random.default_rng(seed), []
    for table in tournament.tables:
        shape = (tournament.deals, tournament.num_players, tournament.num_players)
        seated = np.array([generator.permuted(np.tile(table, (shape[1], 1)), axis=1) for _ in range(shape[0])])
        points = generator.integers(0, 6, shape) + seated
        won = generator.random(shape) < 0.3
        won[~won.any(axis=2), 0] = True
        found.append(Results(table, seated, points.astype(np.float64), won / won.sum(axis=2, keepdims=True)))
    return found


def finishers(points: list[float], shares: list[float]) -> list[tuple[bool, float]]:
    """What decides: a win, alone or shared; among the losers the points."""
    return [(share > 0, 0.0 if share > 0 else own) for own, share in zip(points, shares, strict=True)]


def each_game(results: list[Results]) -> Iterator[tuple[int, list[int], list[float], list[float]]]:
    """Deal, who sat where, points, shares."""
    for result in results:
        for deal, games in enumerate(result.seated.tolist()):
            for game, seated in enumerate(games):
                yield deal, seated, result.points[deal, game].tolist(), result.shares[deal, game].tolist()


@pytest.mark.parametrize(
    ("contenders", "seats", "names"), [(3, 2, "abc"), (4, 3, "abrd"), (2, 3, "ab"), (2, 4, "ar"), (3, 4, "abc")]
)
def test_rank__every_figure_is_that_of_a_plain_count(contenders: int, seats: int, names: str) -> None:
    tournament = some_tournament(contenders, seats, names)
    results = some_results(tournament, contenders + seats)
    deals = range(tournament.deals)
    figures: dict[str, dict[tuple[int, ...], list[float]]] = defaultdict(lambda: defaultdict(list))
    ahead = np.zeros((len(deals), contenders, contenders))
    for deal, seated, points, shares in each_game(results):
        finished = finishers(points, shares)
        for one, number in enumerate(seated):
            better = sum(other > finished[one] for other in finished)
            together = sum(other == finished[one] for other in finished)
            figures["points"][number, deal].append(points[one])
            figures["wins"][number, deal].append(shares[one])
            figures["place"][number, deal].append(1 + better + (together - 1) / 2)
            for place in range(seats):
                taken = 1 / together if better <= place < better + together else 0.0
                figures[f"place {place}"][number, deal].append(taken)
            for other, rival in enumerate(seated):
                if rival != number:
                    half = 0.5 * (finished[one] == finished[other])
                    ahead[deal, number, rival] += 1.0 if finished[one] > finished[other] else half
    ranking = rank(tournament, results)

    def same(found: Estimate, samples: list[float], *, of: Callable[[NDArray[np.float64]], Estimate]) -> None:
        expected = of(np.array(samples))
        assert (found.mean, found.half_width, found.count) == pytest.approx(
            (expected.mean, expected.half_width, expected.count), rel=1e-9, abs=1e-12
        )

    for number in range(contenders):
        mean = {name: [statistics.mean(of[number, deal]) for deal in deals] for name, of in figures.items()}
        same(ranking.points[number], mean["points"], of=Estimate.of)
        same(ranking.wins[number], mean["wins"], of=Estimate.of_shares)
        same(ranking.place[number], mean["place"], of=Estimate.of)
        for place in range(seats):
            same(ranking.places[number][place], mean[f"place {place}"], of=Estimate.of_shares)
        for other in range(contenders):
            if other != number:
                both = ahead[:, number, other] + ahead[:, other, number]
                same(ranking.pairs[number, other], (ahead[:, number, other] / both).tolist(), of=Estimate.of_shares)
    assert set(ranking.pairs) == set(permutations(range(contenders), 2))
    assert ranking.names == tuple(contender.label for contender in tournament.contenders)
    assert ranking.anchor == max(0, names.find("r"))
    expected = rate(ahead, anchor=ranking.anchor, seed=7)
    assert ranking.ratings.estimates == expected.estimates
    assert np.array_equal(ranking.ratings.differences, expected.differences)
    named = {"names", "ratings", "anchor", "points", "wins", "place", "places", "pairs"}
    assert {field.name for field in fields(Ranking)} == named, "a figure of a ranking is not compared here"


def test_ahead__winners_first_then_points_together_half() -> None:
    points = np.array([[10.0, 20.0, 20.0, 5.0], [7.0, 7.0, 9.0, 9.0]])
    shares = np.array([[0.0, 0.5, 0.5, 0.0], [1.0, 0.0, 0.0, 0.0]])  # the second game was won with fewer points
    ahead = finished_ahead(points, shares)
    assert ahead[0].tolist() == [[0.5, 0, 0, 1], [1, 0.5, 0.5, 1], [1, 0.5, 0.5, 1], [0, 0, 0, 0.5]]
    assert ahead[1].tolist() == [[0.5, 1, 1, 1], [0, 0.5, 0, 0], [0, 1, 0.5, 0.5], [0, 1, 0.5, 0.5]]
    taken = places(ahead)
    assert taken[0].tolist() == [[0, 0, 1, 0], [0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 0, 1]]
    assert taken[1].tolist() == [[1, 0, 0, 0], [0, 0, 0, 1], [0, 0.5, 0.5, 0], [0, 0.5, 0.5, 0]]


# Whole tournaments, again and again

SKILLS = (0.0, 0.4, 0.9)  # in standard deviations of a deal's luck
REPEATS = 300


def simulated(tournament: Tournament, generator: np.random.Generator) -> list[Results]:
    """Points of a skill, of the luck that a deal gives a seat in all its games, and of chance; who has more wins."""
    luck = generator.normal(size=(tournament.deals, 1, 2))
    results = []
    for table in tournament.tables:
        seated = np.array([[table, table[::-1]]] * tournament.deals)
        points = np.array(SKILLS)[seated] + luck + generator.normal(scale=0.7, size=seated.shape)
        results.append(Results(table, seated, points, (points == points.max(axis=2, keepdims=True)).astype(float)))
    return results


def test_intervals__of_a_ranking_hold_the_truth_19_times_in_20(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RESAMPLES", 40)
    tournament = some_tournament(3, 2, games=240)
    spread = math.sqrt(2 * (1 + 0.7**2))
    ahead = np.array([[statistics.NormalDist(other - own, spread).cdf(0) for other in SKILLS] for own in SKILLS])
    np.fill_diagonal(ahead, 0)
    wins = ahead.sum(axis=1) / 2
    strengths = fit(1e7 * ahead, anchor=0)
    held: dict[str, list[bool]] = defaultdict(list)
    generator = np.random.default_rng(8)
    for _ in range(REPEATS):
        ranking = rank(tournament, simulated(tournament, generator))

        def note(kind: str, found: Estimate, truth: float) -> None:
            held[kind].append(abs(found.mean - truth) <= found.half_width)

        for one in range(3):
            note("points", ranking.points[one], SKILLS[one])
            note("wins", ranking.wins[one], wins[one])
            note("place", ranking.place[one], 2 - wins[one])
            for other in range(one):
                note("pairs", ranking.pairs[one, other], ahead[one, other])
                apart = ranking.ratings.means[one] - ranking.ratings.means[other] - strengths[one] + strengths[other]
                held["differences"].append(abs(apart) <= ranking.ratings.differences[one, other])
            if one:
                note("ratings", ranking.ratings.estimates[one], strengths[one])
    for kind, found in held.items():
        assert 0.92 <= np.mean(found) <= 0.985, (kind, np.mean(found))


def test_interval__is_of_two_sides() -> None:
    assert pytest.approx(NORMAL, rel=1e-12) == Z
