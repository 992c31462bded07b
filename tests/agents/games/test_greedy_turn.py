"""What the greedy policies share: turns of three throws by brute force, ties, and views that are left as they were."""

import os
from dataclasses import fields
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from fivedice.agents.games.greedy_turn import differ_from_the_one_before, make_write_points, pick_most
from fivedice.agents.policies.baselines import GREEDY
from fivedice.agents.policies.protocols import HasActionFeatures, HasActionValues
from fivedice.envs import GAMES, load_game
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.dice import Dice
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.view import View

needs_compiled_code = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too long in plain Python")
YUM = load_game("yum")


# Which action is taken.


def picked(values: list[list[float]]) -> list[int]:
    actions = np.full(len(values), 99, np.int64)
    pick_most(np.array(values), actions)
    return actions.tolist()


def test_pick_most__takes_the_highest_value() -> None:
    for action in range(36):
        values = [-np.inf] * 36
        values[action] = -3.0
        assert picked([values]) == [action]
        assert picked([[0.5 * (place == action) for place in range(36)], values]) == [action, action]


def test_pick_most__of_equals_stops_before_it_throws_and_takes_the_lowest() -> None:
    for equals in ([3, 31, 33], [31, 35], [0, 35], [4, 9, 30], [0, 1], [30, 32, 34]):
        values = [2.0 if place in equals else 1.0 for place in range(36)]
        stops = [action for action in equals if action >= 31]
        assert picked([values]) == [min(stops or equals)]


def test_pick_most__a_difference_of_rounding_is_none() -> None:
    for action, other in ((31, 4), (32, 35), (2, 3)):
        values = [0.0] * 36
        values[action], values[other] = 1.0, 1.0 + 1e-12
        assert picked([values]) == [action]
        values[other] = 1.0 + 1e-6
        assert picked([values]) == [other]


def test_differ__by_everything_in_a_state_but_its_dice() -> None:
    for name in ("yum", "yahtzee_jr"):
        dtype = load_game(name).rules.STATE
        assert dtype.names is not None
        for field in dtype.names:
            states = np.zeros(5, dtype)
            states[field][2:4] = 1
            states["dice"] += np.arange(5, dtype=np.int8)[:, None]
            expected = [True, False, field != "dice", False, field != "dice"]
            assert differ_from_the_one_before(states).tolist() == expected, field


# Expected values, for whatever a turn is worth.


def worth(action: int, dice: tuple[int, ...]) -> int:
    """A made-up game: action 31 gives the lowest die squared, 32 three for each pair of neighbours that differ by 2."""
    if action == 31:
        return dice[0] ** 2
    return 3 * sum(high - low == 2 for low, high in pairwise(dice))


@kernel
def gain(action: int, dice: Dice, state: Any, options: Any) -> int:
    if action == 31:
        return int(dice[0]) ** 2
    points = 0
    for slot in range(4):
        if dice[slot + 1] - dice[slot] == 2:
            points += 3
    return points


@kernel
def most_gain(dice: Dice, state: Any, options: Any) -> int:
    return max(gain(31, dice, state, options), gain(32, dice, state, options))


@cache
def value(dice: tuple[int, ...], left: int) -> float:
    stopping = max(worth(31, dice), worth(32, dice))
    return max(stopping, *(keeping(kept_of(dice, keep), left) for keep in range(31))) if left else stopping


@cache
def keeping(kept: tuple[int, ...], left: int) -> float:
    """Over every throw of the others, each die by itself."""
    thrown = list(product(range(1, 7), repeat=5 - len(kept)))
    return sum(value(tuple(sorted(kept + more)), left - 1) for more in thrown) / len(thrown)


def kept_of(dice: tuple[int, ...], keep: int) -> tuple[int, ...]:
    return tuple(dice[slot] for slot in range(5) if keep >> slot & 1)


@needs_compiled_code
def test_write_points__expects_what_every_throw_by_itself_gives() -> None:
    write_points = make_write_points(gain, most_gain)
    states = np.zeros(6, YUM.rules.STATE)
    states["dice"] = [
        [1, 3, 3, 5, 6],
        [2, 2, 2, 2, 2],
        [1, 2, 4, 4, 6],
        [6, 6, 6, 6, 6],
        [1, 3, 5, 5, 5],
        [2, 4, 4, 4, 6],
    ]
    states["throws_left"] = [2, 2, 1, 1, 0, 2]
    masks = np.ones((6, 33), np.int8)
    masks[states["throws_left"] == 0, :31] = 0
    masks[0, 31] = masks[1, 32] = masks[2, 5] = 0  # what is not legal is not told
    for differ in ([True, False, True, False, True, True], [True] * 6):
        points = np.full((6, 33), -np.inf)
        write_points(states, np.array(differ), YUM.make_options(), masks, points)
        for row, (dice, left) in enumerate(zip(states["dice"].tolist(), states["throws_left"].tolist(), strict=True)):
            for action in range(33):
                expected = -np.inf
                if masks[row, action]:
                    faces = tuple(dice)
                    expected = keeping(kept_of(faces, action), left) if action < 31 else worth(action, faces)
                assert points[row, action] == pytest.approx(expected, abs=1e-9), (row, action)


# Of every game.


def decisions(name: str) -> View:
    """Decisions of two tables, after different numbers of random steps, so that every kind of them is there."""
    game = load_game(name)
    batch = Batch(game, 16, num_players=2)
    batch.reset(seed=8)
    generator = np.random.default_rng(8)
    for step in range(60):
        rows = batch.all_rows[: 16 - step // 4]
        wish = generator.random((len(rows), batch.num_actions)) + (np.arange(batch.num_actions) >= 31) * 0.5
        batch.step((wish * batch.masks[rows]).argmax(axis=1), rows)
    return batch.view()


def reversed_twice(view: View) -> View:
    """Each decision twice, the last first."""
    return view.rows(np.repeat(np.arange(len(view))[::-1], 2))


@needs_compiled_code
@pytest.mark.parametrize("name", GAMES)
def test_greedy__decides_each_row_by_itself_and_leaves_the_view_as_it_was(name: str) -> None:
    policy = GREEDY.of(load_game(name))
    view = decisions(name)
    before = {field.name: getattr(view, field.name) for field in fields(view)}
    kept = {key: part.tobytes() for key, part in before.items() if isinstance(part, np.ndarray)}
    assert isinstance(policy, HasActionValues)
    actions, values = policy.act(view), policy.action_values(view)
    other = reversed_twice(view)
    assert (actions.shape, actions.dtype) == ((len(view),), np.int64)
    assert (values.shape, values.dtype) == (view.masks.shape, np.float64)
    assert policy.act(other).tolist() == np.repeat(actions[::-1], 2).tolist()
    assert np.array_equal(policy.action_values(other), np.repeat(values[::-1], 2, axis=0))
    single = [view.rows(np.array([row])) for row in range(len(view))]
    assert [policy.act(one).item() for one in single] == actions.tolist()
    assert np.array_equal(np.isfinite(values), view.masks == 1)
    assert np.allclose(values[np.arange(len(view)), actions], values.max(axis=1), atol=1e-6)
    assert np.array_equal(GREEDY.act(view), actions)
    if isinstance(policy, HasActionFeatures):
        near = view.masks == 1
        found = policy.action_features(view, values, near)
        assert (found.shape, found.dtype) == ((len(view), len(policy.features), view.masks.shape[1]), np.float32)
        assert not found.transpose(0, 2, 1)[view.masks == 0].any()
        again = policy.action_features(other, np.repeat(values[::-1], 2, axis=0), np.repeat(near[::-1], 2, axis=0))
        assert np.array_equal(again, np.repeat(found[::-1], 2, axis=0))
        some = near & (np.arange(near.shape[1]) % 2 == 0)
        assert np.array_equal(policy.action_features(view, values, some), found * some[:, None])
    for key, part in kept.items():
        assert before[key].tobytes() == part, key


@pytest.mark.parametrize("name", GAMES)
def test_greedy__is_that_game_s_own(name: str) -> None:
    policy, game = GREEDY.of(load_game(name)), load_game(name)
    assert policy.name == "greedy"
    assert isinstance(policy, HasActionValues)
    other = load_game("yum" if name != "yum" else "yahtzee_jr")
    batch = Batch(other, 1)
    batch.reset(seed=1)
    with pytest.raises(ValueError, match=f"plays {game.title}, not {other.title}"):
        policy.act(batch.view())
    with pytest.raises(ValueError, match=f"plays {game.title}, not {other.title}"):
        policy.action_values(batch.view())
