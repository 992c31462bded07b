"""Results without luck: the same means, less uniforms, and nothing that depends on who else plays or in which batch."""

import os
import statistics
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from fivedice.agents.evaluation.estimate import Estimate
from fivedice.agents.evaluation.match import evaluate, play_games
from fivedice.agents.evaluation.variance import point_values, regrets, without_luck
from fivedice.agents.policies.baselines import GREEDY, OPTIMAL, RandomPolicy
from fivedice.agents.policies.protocols import PointValues
from fivedice.envs import load_game
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.view import Policy, View

YUM, YAHTZEE_JR = load_game("yum"), load_game("yahtzee_jr")
needs_compiled_code = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too long in plain Python")


@pytest.fixture(scope="module")
def values() -> PointValues:
    values = point_values(YUM, YUM.make_options(2, {}))
    assert values is not None
    return values


class Mixed:
    """Plays at random now and then, and optimally else."""

    name = "mixed"

    def __init__(self, values: PointValues, mistakes: float) -> None:
        self.values, self.mistakes = values, mistakes

    def act(self, view: View) -> NDArray[np.int64]:
        is_mistake = view.uniforms < self.mistakes
        # Of the uniforms below that bound, what is left over it is uniforms again.
        random = RandomPolicy().act(replace(view, uniforms=view.uniforms / self.mistakes % 1))
        return np.where(is_mistake, random, self.values.action_values(view).argmax(axis=1))


# Points


@needs_compiled_code
@pytest.mark.parametrize("seats", [1, 2, 3])
def test_adjusted_points__of_optimal_play_are_the_optimum(values: PointValues, seats: int) -> None:
    played = play_games(YUM, np.zeros((40, seats), np.int64), [OPTIMAL], seed=1, values=values)
    assert played.adjusted == pytest.approx(np.full((40, seats), values.start), abs=1e-6)
    assert played.points.std() > 10
    (standing,) = evaluate(YUM, {"optimal": OPTIMAL}, games=40, num_players=seats, seed=1, values=values)
    assert standing.adjusted_points is not None
    assert standing.adjusted_points.mean == pytest.approx(169.8765, abs=1e-4)
    assert standing.adjusted_points.half_width < 1e-6


def ratio_of_variances(policy: Policy, values: PointValues, seats: int = 1) -> float:
    """How much the luck adds to the variance, after a check that it adds nothing to the mean."""
    played = play_games(YUM, np.zeros((1200, seats), np.int64), [policy], seed=2, values=values)
    assert played.adjusted is not None
    raw, adjusted = played.points.mean(axis=1), played.adjusted.mean(axis=1)
    luck = Estimate.of(raw - adjusted)
    assert abs(luck.mean) < 1.5 * luck.half_width  # three standard errors
    assert abs(raw.mean() - adjusted.mean()) < Estimate.of(raw).half_width + Estimate.of(adjusted).half_width
    return float(raw.var() / adjusted.var())


@needs_compiled_code
def test_adjusted_points__of_good_play_vary_far_less(values: PointValues) -> None:
    assert ratio_of_variances(Mixed(values, 0.03), values) > 8


@needs_compiled_code
def test_adjusted_points__of_weaker_play_vary_less(values: PointValues) -> None:
    assert ratio_of_variances(GREEDY, values, seats=2) > 4  # its mistakes are large, and are not luck
    assert ratio_of_variances(RandomPolicy(), values) > 0.8


@needs_compiled_code
def test_regrets__are_what_the_choice_gives_away(values: PointValues) -> None:
    batch = Batch(YUM, 50)
    batch.reset(6)
    view = batch.view()
    worth = values.action_values(view)
    assert regrets(values, view, OPTIMAL.act(view)) == pytest.approx(np.zeros(50), abs=1e-8)
    worst = np.where(worth == -np.inf, np.inf, worth).argmin(axis=1)
    lost = regrets(values, view, worst)
    assert lost == pytest.approx(worth.max(axis=1) - worth[np.arange(50), worst])
    assert (lost > 1).all()


@needs_compiled_code
def test_point_values__are_of_the_options_asked_for() -> None:
    free = point_values(YUM, YUM.make_options(4, {"zeros": "free"}))
    assert free is not None
    assert free.start == pytest.approx(174.9642, abs=5e-5)
    played = play_games(YUM, np.zeros((5, 4), np.int64), [OPTIMAL], seed=1, options={"zeros": "free"}, values=free)
    assert played.adjusted == pytest.approx(np.full((5, 4), free.start), abs=1e-6)


def test_point_values__are_none_where_the_game_is_not_solved() -> None:
    unknown = replace(YUM, name="no_such_game")
    assert point_values(unknown, unknown.make_options(2, {})) is None
    assert point_values(YAHTZEE_JR, YAHTZEE_JR.make_options(3, {})) is None
    (standing,) = evaluate(YUM, {"random": RandomPolicy()}, games=4, num_players=2, seed=1)
    assert (standing.adjusted_points, standing.adjusted_wins) == (None, {})


@needs_compiled_code
def test_point_values__of_another_solved_game() -> None:
    values = point_values(YAHTZEE_JR, YAHTZEE_JR.make_options(1, {}))
    assert values is not None
    assert values.start == pytest.approx(19.3928, abs=5e-5)
    alone = np.zeros((2000, 1), np.int64)
    optimal = play_games(YAHTZEE_JR, alone, [OPTIMAL], seed=1, values=values)
    assert optimal.adjusted == pytest.approx(np.full((2000, 1), values.start), abs=1e-6)
    random = play_games(YAHTZEE_JR, alone, [RandomPolicy()], seed=1, values=values)
    assert random.adjusted is not None
    luck = Estimate.of((random.points - random.adjusted)[:, 0])
    assert abs(luck.mean) < 1.5 * luck.half_width


# Wins


@needs_compiled_code
def test_adjusted_wins__agree_with_the_raw_ones_and_vary_less(values: PointValues) -> None:
    contenders: dict[str, Policy] = {"greedy": GREEDY, "mixed": Mixed(values, 0.05)}
    greedy, mixed = evaluate(YUM, contenders, games=1000, num_players=2, seed=5, values=values)
    raw, adjusted = mixed.wins["greedy"], mixed.adjusted_wins["greedy"]
    assert abs(raw.mean - adjusted.mean) < raw.half_width
    assert adjusted.half_width < 0.8 * raw.half_width
    assert greedy.adjusted_wins["mixed"].mean == pytest.approx(1 - adjusted.mean)
    assert greedy.adjusted_wins["mixed"].half_width == pytest.approx(adjusted.half_width)


def with_luck(deals: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    generator = np.random.default_rng(seed)
    luck = generator.normal(size=(deals, 2))
    return 0.3 + luck @ [0.5, -0.5] + generator.normal(scale=0.1, size=deals), luck


def test_without_luck__takes_off_what_goes_with_it() -> None:
    results, luck = with_luck(2000, 1)
    adjusted = without_luck(results, luck)
    assert adjusted.std() == pytest.approx(0.1, rel=0.1)
    assert adjusted.mean() == pytest.approx(0.3, abs=0.01)


@pytest.mark.parametrize("deals", [2, 3, 12, 25])
def test_without_luck__each_half_is_adjusted_by_the_slopes_of_the_other(deals: int) -> None:
    """Every other deal is a half; its luck counts by the line that goes best through the other half."""
    generator = np.random.default_rng(deals)
    luck, results = generator.normal(size=deals), generator.normal(size=deals) * 3
    adjusted = without_luck(results, luck[:, None])
    for deal in range(deals):
        others = [other for other in range(deals) if other % 2 != deal % 2]
        if len(others) > 1:
            slope = statistics.linear_regression(luck[others].tolist(), results[others].tolist()).slope
            assert adjusted[deal] == pytest.approx(results[deal] - slope * luck[deal], abs=1e-9)


def test_without_luck__both_sides_have_slopes_of_their_own() -> None:
    """Where results are made of both kinds of luck, nothing but a constant is left."""
    luck = np.random.default_rng(1).normal(size=(40, 2))
    assert without_luck(7 + luck @ [2.0, -0.5], luck) == pytest.approx(np.full(40, 7.0))


@pytest.mark.parametrize("deals", [1, 4])
def test_without_luck__is_unbiased_for_few_deals(deals: int) -> None:
    """Also where luck and result go together in a way that is no line, which biases a slope from the same deals."""

    def mean_of(adjust: Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]) -> Estimate:
        generator = np.random.default_rng(deals)
        luck = generator.exponential(size=(6000, deals, 1)) - 1
        results = luck[:, :, 0] ** 2
        return Estimate.of(np.array([adjust(*pair).mean() for pair in zip(results, luck, strict=True)]))

    estimate = mean_of(without_luck)
    assert abs(estimate.mean - 1) < 2 * estimate.half_width


def test_without_luck__bears_luck_that_says_nothing() -> None:
    results, luck = with_luck(200, 2)
    assert np.array_equal(without_luck(results, np.zeros((200, 2))), results)
    alike = np.repeat(luck[:, :1], 2, axis=1)  # both sides played alike
    assert np.isfinite(without_luck(results, alike)).all()
    assert np.array_equal(without_luck(np.full(200, 0.5), luck).round(12), np.full(200, 0.5))
