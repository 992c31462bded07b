"""Random play picks the legal action that a number points at."""

from typing import Any

import numpy as np
import pytest

from fivedice.agents import load
from fivedice.envs import GAMES, load_game
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.kernel import plain
from fivedice.envs.core.random_play import count_bits, nth, pick, play_random


@pytest.mark.parametrize("number", [np.float64, np.float32])
@pytest.mark.parametrize("num_actions", [1, 7, 8, 9, 43, 55, 56, 57, 63, 64, 65, 112, 150, 300, 665])
def test_pick__is_the_kth_legal_action(num_actions: int, number: type[np.floating[Any]]) -> None:
    generator = np.random.default_rng(num_actions)
    masks = (generator.random((500, num_actions)) < generator.random((500, 1))).astype(np.int8)
    masks[np.arange(500), generator.integers(0, num_actions, 500)] = 1
    masks[0] = 1
    uniforms = generator.random(500).astype(number)
    uniforms[uniforms == 1] = 0
    uniforms[:2] = np.nextafter(number(1), number(0)), 0
    actions = np.empty(500, np.int64)
    pick(masks, uniforms, actions)
    for mask, chooses, action in zip(masks, uniforms, actions, strict=True):
        legal = np.flatnonzero(mask)
        assert action == legal[int(float(chooses) * len(legal))]
    in_plain_python = np.empty(500, np.int64)
    plain(pick)(masks, uniforms, in_plain_python)
    assert in_plain_python.tolist() == actions.tolist()


def test_nth__finds_each_bit_of_a_number() -> None:
    generator = np.random.default_rng(4)
    for number in [
        1,
        1 << 62,
        (1 << 63) - 1,
        *(int(word) >> 1 for word in generator.integers(0, 2**64, 200, np.uint64)),
    ]:
        places = [bit for bit in range(63) if (number >> bit) & 1]
        assert count_bits(number) == len(places)
        assert [nth(number, n) for n in range(len(places))] == places


@pytest.mark.parametrize("name", ["random", "greedy", "optimal"])
def test_baselines__refuse_a_decision_without_a_legal_action(name: str) -> None:
    batch = Batch(load_game("yum"), 3)
    batch.reset(seed=1)
    batch.masks[1] = 0
    with pytest.raises(ValueError, match="decision 1 has no legal action: its game is over, or another"):
        load(name).act(batch.view())


LIVE = ("states", "streams", "movers", "masks", "observations", "rewards", "terminated", "truncated")


@pytest.mark.parametrize("reward", ["win", "score"])
@pytest.mark.parametrize("name", GAMES)
def test_play_random__comes_to_the_same_as_step_by_step(name: str, reward: str) -> None:
    """With several blocks of rows, threads and portions of uniforms, and games that end on the way."""
    one, many = (Batch(load_game(name), 600, num_players=2, reward=reward, threads=threads) for threads in (1, 2))
    one.reset(seed=3)
    many.reset(seed=3)
    generator, actions, ends = np.random.default_rng(5), np.empty(600, np.int64), 0
    for _ in range(150):
        pick(one.masks, generator.random(600, np.float32), actions)
        one.step(actions)
        ends += int(one.over.sum())
    play_random(many, 150, np.random.default_rng(5))
    assert ends > 0
    for array in LIVE:
        assert getattr(one, array).tobytes() == getattr(many, array).tobytes(), array


def test_play_random__refuses_a_game_that_is_over() -> None:
    batch = Batch(load_game("yum"), 3)
    batch.reset(seed=1)
    while not batch.over.any():
        batch.step(batch.masks.argmax(axis=1), restart=False)
    before = batch.states.copy()
    with pytest.raises(ValueError, match=r"game \d has no decision to make: it is over, or reset\(\) was not called"):
        play_random(batch, 1, np.random.default_rng(1))
    assert batch.states.tobytes() == before.tobytes()


@pytest.mark.parametrize("name", GAMES)
def test_observations__are_whole_after_each_step_of_any_rows(name: str) -> None:
    """A step writes what has changed; what is shown must be what would be written anew."""
    game, generator = load_game(name), np.random.default_rng(8)
    for num_players in range(game.min_players, game.max_players + 1):
        batch = Batch(game, 40, num_players=num_players)
        batch.reset(seed=num_players)
        actions = np.empty(40, np.int64)
        for _ in range(120):
            pick(batch.masks, generator.random(40), actions)
            rows = np.sort(generator.permutation(40)[: generator.integers(1, 41)])
            batch.step(actions[rows], rows)
            assert batch.observations.tobytes() == batch.observe(batch.all_rows, batch.movers).tobytes()


@pytest.mark.parametrize(
    ("steps", "generator", "said"),
    [
        (-1, np.random.default_rng(1), "steps=-1 is not possible; use a whole number of at least 0"),
        (1.5, np.random.default_rng(1), "steps=1.5 is not possible"),
        (1, 7, r"generator=7 is not a NumPy generator; use numpy.random.default_rng\(seed\)"),
    ],
)
def test_play_random__wrong_settings_are_named(steps: Any, generator: Any, said: str) -> None:
    batch = Batch(load_game("yum"), 2)
    batch.reset(seed=1)
    with pytest.raises(ValueError, match=said):
        play_random(batch, steps, generator)
