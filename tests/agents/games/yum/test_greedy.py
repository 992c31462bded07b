"""Greedy play of Yum, against a slow and separate computation of the turn with ordered dice and its own scoring."""

import os
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from fivedice.agents.games.yum.greedy import GreedyYum
from fivedice.envs import load_game
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.view import View

GAME = load_game("yum")
OPTIONS = [
    {},
    {"zeros": "free"},
    {"high_low": "high_first"},
    {"crossed_high": "frees_low"},
    {"five_alike_full_house": True},
]
needs_compiled_code = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too long in plain Python")


def gain(box: int, dice: tuple[int, ...], boxes: tuple[int, ...], options: dict[str, Any]) -> int:
    """What filling an open box adds to the score, from the rule sheet."""
    dots, counts = sum(dice), sorted(Counter(dice).values())
    if box < 6:
        points = (box + 1) * dice.count(box + 1)
        upper = sum(max(0, written) for written in boxes[:6])
        return points + (25 if upper < 63 <= upper + points else 0)
    if box == 6:
        return 15 * (dice == (1, 2, 3, 4, 5))
    if box == 7:
        return 20 * (dice == (2, 3, 4, 5, 6))
    if box == 8:
        high = boxes[9]
        if high == -1:
            high = 0 if options["high_low"] == "high_first" else 30
        elif high == 0 and options["crossed_high"] == "frees_low":
            high = 30
        return dots if 21 <= dots < high else 0
    if box == 9:
        return dots if dots >= 22 and dots > boxes[8] else 0
    if box == 10:
        return 25 * (counts == [2, 3] or (counts == [5] and options["five_alike_full_house"]))
    return 30 * (counts == [5])


@cache
def outcomes(kept: tuple[int, ...]) -> list[tuple[tuple[int, ...], int]]:
    """All five dice after every throw of the others, die by die, with how many of the throws give them."""
    return list(Counter(tuple(sorted(kept + more)) for more in product(range(1, 7), repeat=5 - len(kept))).items())


def action_values(
    dice: tuple[int, ...], boxes: tuple[int, ...], left: int, options: dict[str, Any]
) -> dict[int, float]:
    """The expected points of this turn for each action, legal or not."""

    @cache
    def most_now(dice: tuple[int, ...]) -> int:
        return max(gain(box, dice, boxes, options) for box in range(12) if boxes[box] == -1)

    @cache
    def value(dice: tuple[int, ...], left: int) -> float:
        if left == 0:
            return most_now(dice)
        keeps = {tuple(dice[slot] for slot in range(5) if keep >> slot & 1) for keep in range(31)}
        return max(most_now(dice), *(keeping(kept, left) for kept in keeps))

    @cache
    def keeping(kept: tuple[int, ...], left: int) -> float:
        return sum(ways * value(dice, left - 1) for dice, ways in outcomes(kept)) / 6 ** (5 - len(kept))

    values: dict[int, float] = {}
    for keep in range(31 if left else 0):
        values[keep] = keeping(tuple(dice[slot] for slot in range(5) if keep >> slot & 1), left)
    for box in range(12):
        if boxes[box] == -1:
            values[31 + box] = gain(box, dice, boxes, options)
    return values


def some_view(seed: int, options: dict[str, Any]) -> View:
    """Decisions from random games of two seats, at different moments of them."""
    batch = Batch(GAME, 24, num_players=2, **options)
    batch.reset(seed)
    generator = np.random.default_rng(seed)
    for step in range(110):
        rows = batch.all_rows[: max(8, 24 - step // 5)]  # the later rows stay behind
        fill_first = generator.random((len(rows), 1)) < 0.6
        wish = generator.random((len(rows), GAME.num_actions()))
        wish[:, 31:] += fill_first
        batch.step(np.argmax(wish * batch.masks[rows], axis=1), rows)
    return batch.view()


@needs_compiled_code
@pytest.mark.parametrize("chosen", OPTIONS, ids=str)
def test_greedy_takes_the_action_with_the_most_expected_points(chosen: dict[str, Any]) -> None:
    view = some_view(31, chosen)
    options = GAME.options_dict(view.options)
    told = GreedyYum().action_values(view)
    assert set(view.states["throws_left"].tolist()) == {0, 1, 2}
    for row, action in enumerate(GreedyYum().act(view).tolist()):
        state = view.states[row]
        dice, left = tuple(state["dice"].tolist()), int(state["throws_left"])
        values = action_values(dice, tuple(state["boxes"][view.seats[row]].tolist()), left, options)
        legal = {action: value for action, value in values.items() if view.masks[row, action]}
        assert len(legal) == view.masks[row].sum()
        expected = [legal.get(each, -np.inf) for each in range(GAME.num_actions())]
        assert told[row].tolist() == pytest.approx(expected, abs=1e-9)
        best = [each for each, value in legal.items() if value > max(legal.values()) - 1e-9]
        assert action == min([each for each in best if each >= 31] or best)


def test_the_bonus_counts_in_the_turn_that_earns_it() -> None:
    batch = Batch(GAME, 1, num_players=1)
    batch.reset(0)
    batch.states["dice"] = [6, 6, 6, 6, 6]
    batch.states["throws_left"] = 0
    batch.states["boxes"][0, 0] = [3, 6, 9, 12, 15, -1, 0, 0, 0, 0, 0, -1]
    batch.show()
    assert GreedyYum().act(batch.view())[0] == 31 + 5  # 30 points and the bonus, against 30 in Yum
    batch.states["boxes"][0, 0, 4] = 0
    batch.states["dice"] = [6, 6, 6, 6, 6]
    batch.states["boxes"][0, 0, 10:] = [-1, 0]
    batch.show()
    assert GreedyYum().act(batch.view())[0] == 31 + 5


@pytest.mark.parametrize(
    ("ones", "fours", "dice", "expected"),
    [
        (3, 12, (6, 6, 6, 1, 1), 18 + 25),  # 63 in all
        (2, 12, (6, 6, 6, 1, 1), 18),  # 62
        (4, 12, (6, 6, 6, 1, 1), 18 + 25),
        (1, 32, (6, 6, 6, 1, 1), 18),  # 63 were there before
        (0, 32, (1, 1, 1, 1, 6), 6 + 25),  # the last point of 63 and more
    ],
)
def test_the_bonus_counts_from_63_and_once(ones: int, fours: int, dice: tuple[int, ...], expected: int) -> None:
    batch = Batch(GAME, 1, num_players=2)
    batch.reset(0)
    batch.states["dice"], batch.states["throws_left"], batch.states["player"] = sorted(dice), 0, 1
    batch.states["boxes"][0, 1] = [ones, 6, 9, fours, 15, -1, 0, 0, 0, 0, 0, -1]
    batch.states["boxes"][0, 0, :6] = 20  # the other seat's own
    batch.show()
    values = GreedyYum().action_values(batch.view())[0]
    assert values[31 + 5] == expected
    assert np.isfinite(values).sum() == 1


def test_a_zero_goes_into_the_first_open_box() -> None:
    batch = Batch(GAME, 1, num_players=1)
    batch.reset(0)
    batch.states["dice"] = [1, 1, 2, 2, 3]
    batch.states["throws_left"] = 0
    batch.states["boxes"][0, 0] = [1, 2, 3, 4, 5, -1, 0, -1, 21, 30, 25, -1]
    batch.show()
    assert GreedyYum().act(batch.view())[0] == 31 + 5


def test_another_game_is_refused() -> None:
    view = some_view(1, {})
    other = replace(view, game=replace(view.game, name="chess", title="Chess"))
    with pytest.raises(ValueError, match="plays Yum, not Chess"):
        GreedyYum().act(other)


@needs_compiled_code
def test_greedy_scores_about_142_points() -> None:
    batch = Batch(GAME, 4000, num_players=1)
    batch.reset(20)
    rows = batch.all_rows
    while len(rows):
        batch.step(GreedyYum().act(batch.view(rows)), rows, restart=False)
        rows = rows[~batch.terminated[rows]]
    points, _ = batch.results(batch.all_rows)
    assert points.mean() == pytest.approx(142.4, abs=1.3)  # four standard errors
