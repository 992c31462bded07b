"""One turn of five dice, against the published chances and against plain enumeration of ordered dice."""

from collections import Counter
from functools import cache
from itertools import combinations, product
from math import comb, factorial, prod
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fivedice.agents.games.exact_turn import (
    FIRST_THROW,
    NOTHING,
    NUM_SETS,
    NUM_THROWS,
    THROWS_A_TURN,
    set_number,
    solve_turn,
    throw_chances,
)
from fivedice.agents.games.yahtzee_jr import exact as yahtzee_jr
from fivedice.agents.games.yum import exact as yum
from fivedice.envs import load_game
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.dice import KEEP_ALL, THROWS
from fivedice.envs.core.kernel import plain
from fivedice.envs.core.random_play import play_random

FACES = range(1, 7)


def solved(stops: NDArray[np.float64]) -> NDArray[np.float64]:
    values = np.empty((len(stops), NUM_SETS, 1))
    solve_turn(np.ascontiguousarray(stops[:, :, None]), values)
    return values[:, :, 0]


def value_of(aim: NDArray[np.bool_]) -> float:
    """The chance to end a turn of three throws with a throw in `aim` (252,)."""
    return float(solved(np.tile(aim.astype(float), (3, 1)))[2, NOTHING])


def test_there_are_252_throws_and_462_sets() -> None:
    assert (NUM_THROWS, NUM_SETS) == (252, 462)
    assert len({tuple(dice) for dice in THROWS.tolist()}) == 252
    assert np.array_equal(THROWS, np.sort(THROWS, axis=1))


@pytest.mark.parametrize("name", ["yum", "yahtzee_jr"])
def test_a_turn_has_three_throws(name: str) -> None:
    batch = Batch(load_game(name), 1)
    batch.reset(seed=1)
    assert batch.states["throws_left"].tolist() == [THROWS_A_TURN - 1]


def test_every_set_of_slots_has_the_number_of_its_dice() -> None:
    sets: dict[tuple[int, ...], set[int]] = {}
    for dice in THROWS:
        for keep in range(KEEP_ALL + 1):
            kept = tuple(int(dice[slot]) for slot in range(5) if keep >> slot & 1)
            sets.setdefault(kept, set()).add(set_number(dice, keep))
    assert len(sets) == 462
    assert set().union(*sets.values()) == set(range(462))
    assert all(len(numbers) == 1 for numbers in sets.values())
    assert [set_number(dice, KEEP_ALL) for dice in THROWS] == list(range(FIRST_THROW, NUM_SETS))
    assert set_number(THROWS[0], 0) == NOTHING


def test_chances_are_those_of_counting_ordered_dice() -> None:
    chances = throw_chances()
    assert np.allclose(chances.sum(axis=1), 1.0, atol=1e-14)
    for place, dice in enumerate(THROWS.tolist()):
        orders = factorial(5) // prod(factorial(n) for n in Counter(dice).values())
        assert chances[NOTHING, place] == pytest.approx(orders / 6**5, rel=1e-13)
    place = THROWS.tolist().index([2, 2, 2, 3, 5])
    assert chances[set_number(THROWS[place], 0b00111), place] == pytest.approx(2 / 36, rel=1e-13)


def test_aiming_at_five_alike() -> None:
    assert value_of(THROWS[:, 0] == THROWS[:, 4]) == pytest.approx(0.0460, abs=5e-5)


@pytest.mark.parametrize("number", range(1, 6))
def test_aiming_at_dice_of_one_number(number: int) -> None:
    """Keeping every such die is best, so each die shows the number in the end with chance 1 - (5/6)^3."""
    hit = 1 - (5 / 6) ** 3
    chance = sum(comb(5, dice) * hit**dice * (1 - hit) ** (5 - dice) for dice in range(number, 6))
    for face in FACES:
        assert value_of(np.count_nonzero(face == THROWS, axis=1) >= number) == pytest.approx(chance, abs=1e-12)


def test_values_are_those_of_enumeration_where_stopping_is_not_always_allowed() -> None:
    generator = np.random.default_rng(5)
    stops = generator.normal(size=(3, NUM_THROWS))
    stops[1:][generator.random((2, NUM_THROWS)) < 0.5] = -np.inf
    number = {tuple(dice): place for place, dice in enumerate(THROWS.tolist())}

    @cache
    def value(dice: tuple[int, ...], left: int) -> float:
        options = [stops[left, number[dice]]]
        if left > 0:
            options += [after_keeping(kept, left - 1) for size in range(5) for kept in set(combinations(dice, size))]
        return float(max(options))

    @cache
    def after_keeping(kept: tuple[int, ...], left: int) -> float:
        thrown = list(product(FACES, repeat=5 - len(kept)))
        return sum(value(tuple(sorted(kept + dice)), left) for dice in thrown) / len(thrown)

    values = solved(stops)
    for dice, place in number.items():
        for left in range(3):
            assert values[left, FIRST_THROW + place] == pytest.approx(value(dice, left), abs=1e-12)
            for keep in range(KEEP_ALL):
                kept = tuple(dice[slot] for slot in range(5) if keep >> slot & 1)
                expected = after_keeping(kept, left)
                assert values[left, set_number(THROWS[place], keep)] == pytest.approx(expected, abs=1e-12)


def test_turns_side_by_side_do_not_disturb_each_other() -> None:
    stops = np.random.default_rng(6).normal(size=(3, NUM_THROWS, 7))
    values = np.empty((3, NUM_SETS, 7))
    solve_turn(stops, values)
    for lane in range(7):
        assert np.array_equal(values[:, :, lane], solved(stops[:, :, lane]))


@pytest.mark.parametrize("solver", [yum, yahtzee_jr], ids=lambda solver: solver.__name__.split(".")[-2])
def test_contexts__have_the_same_numbers_compiled_and_in_plain_python(solver: Any) -> None:
    """In plain Python, a narrow integer of a record overflows where compiled code has 64 bits."""
    batch = Batch(load_game(solver.__name__.split(".")[-2]), 200, num_players=2)
    batch.reset(seed=3)
    play_random(batch, 20, np.random.default_rng(3))
    compiled, in_python = np.zeros((2, len(batch.states)), np.int64)
    solver.number_contexts(batch.states, compiled)
    plain(solver.number_contexts)(batch.states, in_python)
    assert compiled.tolist() == in_python.tolist()
    assert len(set(compiled.tolist())) > 100
