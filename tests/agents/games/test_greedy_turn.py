"""What the greedy policies share: turns of three throws by brute force, ties, and views that stay unchanged."""

import os
from dataclasses import fields
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fivedice.agents.games.best_actions import best_actions
from fivedice.agents.games.greedy_turn import differ_from_the_one_before
from fivedice.agents.games.turn import Turn, values_by_context
from fivedice.agents.policies.baselines import GREEDY
from fivedice.agents.policies.protocols import HasActionFeatures, HasActionValues
from fivedice.envs import GAMES, load_game
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.dice import KEEP_ALL
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.view import View

needs_compiled_code = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too long in plain Python")
YUM = load_game("yum")


# Which action is taken.


def picked(values: list[list[float]], first: int = KEEP_ALL) -> list[int]:
    return best_actions(np.array(values), first).tolist()


def test_best_actions__have_the_highest_value() -> None:
    for action in range(36):
        values = [-np.inf] * 36
        values[action] = -3.0
        for first in (0, KEEP_ALL):
            assert picked([values], first) == [action]
            assert picked([[0.5 * (place == action) for place in range(36)], values], first) == [action, action]


@pytest.mark.parametrize("equals", [[3, 31, 33], [31, 35], [0, 35], [4, 9, 30], [0, 1], [30, 32, 34]])
def test_best_actions__of_equals_the_first_from_a_given_action_on(equals: list[int]) -> None:
    values = [2.0 if place in equals else 1.0 for place in range(36)]
    stops = [action for action in equals if action >= KEEP_ALL]
    assert picked([values]) == [min(stops or equals)]
    assert picked([values], 0) == [min(equals)]


def test_best_actions__ignore_a_difference_of_rounding() -> None:
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


# Expected values, for a made-up game. Action 31 gives the lowest die squared. Action 32 gives three for each pair of
# neighbours that differ by 2. Action 32 is not legal with two throws left.

NUM_ENDINGS = 2


def worth(ending: int, dice: tuple[int, ...]) -> int:
    if ending == 0:
        return dice[0] ** 2
    return 3 * sum(high - low == 2 for low, high in pairwise(dice))


@kernel
def outcome(ending: int, throw: int, state: Any, options: Any) -> int:
    dice = state["dice"]
    if ending == 0:
        return int(dice[0]) ** 2
    points = 0
    for slot in range(4):
        if dice[slot + 1] - dice[slot] == 2:
            points += 3
    return points


@kernel
def legal_actions(state: Any, options: Any, mask: NDArray[np.int8]) -> None:
    mask[:KEEP_ALL] = state["throws_left"] > 0
    mask[KEEP_ALL] = 1
    mask[KEEP_ALL + 1] = state["throws_left"] < 2


@kernel
def write_worth(state: Any, options: Any, factor: float, worth: NDArray[np.float64]) -> None:
    for ending in range(worth.shape[0]):
        for points in range(worth.shape[1]):
            worth[ending, points, 0] = factor * points


def early_stops(write_stops: Any) -> Any:
    """Stops as after the last throw, whatever the throws left."""

    @kernel(allocates=True)
    def write_early_stops(state: Any, options: Any, worth: NDArray[np.float64], stops: NDArray[np.float64]) -> None:
        write_stops(state, options, worth, stops[:1])
        stops[1:] = stops[0]

    return write_early_stops


def is_legal(ending: int, left: int) -> bool:
    return ending == 0 or left < 2


@cache
def value(dice: tuple[int, ...], left: int, early: bool) -> float:
    stopping = max(worth(ending, dice) for ending in range(NUM_ENDINGS) if is_legal(ending, 0 if early else left))
    return max(stopping, *(keeping(kept_of(dice, keep), left, early) for keep in range(KEEP_ALL))) if left else stopping


@cache
def keeping(kept: tuple[int, ...], left: int, early: bool) -> float:
    """Over every throw of the others, each die by itself."""
    thrown = list(product(range(1, 7), repeat=5 - len(kept)))
    return sum(value(tuple(sorted(kept + more)), left - 1, early) for more in thrown) / len(thrown)


def kept_of(dice: tuple[int, ...], keep: int) -> tuple[int, ...]:
    return tuple(dice[slot] for slot in range(5) if keep >> slot & 1)


@needs_compiled_code
@pytest.mark.parametrize("early", [False, True])
def test_write_action_values__expects_what_every_throw_by_itself_gives(early: bool) -> None:
    turn = Turn(legal_actions, outcome, num_actions=33, num_keeps=KEEP_ALL, num_outcomes=37)
    write_action_values = turn.make_write_action_values(write_worth, early_stops(turn.write_stops) if early else None)
    states = np.zeros(7, YUM.rules.STATE)
    states["dice"] = [
        [1, 3, 3, 5, 6],
        [2, 2, 2, 2, 2],
        [1, 2, 4, 4, 6],
        [6, 6, 6, 6, 6],
        [1, 3, 5, 5, 5],
        [2, 4, 4, 4, 6],
        [1, 1, 3, 5, 5],
    ]
    states["throws_left"] = [2, 2, 1, 1, 0, 2, 2]
    before, expected = states.copy(), np.full((7, 33), -np.inf)
    for row, (faces, left) in enumerate(zip(states["dice"].tolist(), states["throws_left"].tolist(), strict=True)):
        dice = tuple(faces)
        for action in range(33):
            if action < KEEP_ALL and left > 0:
                expected[row, action] = keeping(kept_of(dice, action), left, early)
            elif action >= KEEP_ALL and is_legal(action - KEEP_ALL, left):
                expected[row, action] = worth(action - KEEP_ALL, dice)
    values = np.empty((7, 33))
    for is_new in ([True, False, True, False, True, True, False], [True] * 7):
        write_action_values(states, np.array(is_new), YUM.make_options(), 1.0, values)
        assert values == pytest.approx(expected, abs=1e-9)
    values_by_context(
        write_action_values, states, states["throws_left"].astype(np.int64), YUM.make_options(), 1.0, values
    )
    assert values == pytest.approx(expected, abs=1e-9)
    assert np.array_equal(states, before)


@needs_compiled_code
def test_write_turn_values__are_those_before_the_first_throw_for_each_lane() -> None:
    turn = Turn(legal_actions, outcome, num_actions=33, num_keeps=KEEP_ALL, num_outcomes=37)
    state, lanes, values = np.zeros(1, YUM.rules.STATE)[0], np.empty((NUM_ENDINGS, 37, 3)), np.empty(3)
    for lane in range(3):
        one = np.empty((NUM_ENDINGS, 37, 1))
        write_worth(state, None, float(lane), one)
        lanes[:, :, lane] = one[:, :, 0]
    turn.write_turn_values(state, YUM.make_options(), lanes, values)
    assert values == pytest.approx([lane * keeping((), 3, False) for lane in range(3)], abs=1e-9)


# Of every game.


def decisions(name: str) -> View:
    """Decisions of two tables, after different numbers of random steps, so that every kind of decision occurs."""
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
