"""Random play picks the legal action that a number points at."""

import numpy as np
import pytest

from fivedice.agents import load
from fivedice.envs import load_game
from fivedice.envs.batch import Batch
from fivedice.envs.random_play import pick


@pytest.mark.parametrize("num_actions", [1, 7, 8, 9, 43, 64, 150, 300])
def test_pick__is_the_kth_legal_action(num_actions: int) -> None:
    generator = np.random.default_rng(num_actions)
    masks = (generator.random((500, num_actions)) < generator.random((500, 1))).astype(np.int8)
    masks[np.arange(500), generator.integers(0, num_actions, 500)] = 1
    masks[0] = 1
    noise = generator.random(500)
    noise[:2] = np.nextafter(1.0, 0.0), 0.0
    actions = np.empty(500, np.int64)
    pick(masks, noise, actions)
    for mask, number, action in zip(masks, noise, actions, strict=True):
        legal = np.flatnonzero(mask)
        assert action == legal[int(number * len(legal))]


@pytest.mark.parametrize("name", ["random", "greedy", "optimal"])
def test_baselines__refuse_a_decision_without_a_legal_action(name: str) -> None:
    batch = Batch(load_game("yum"), 3)
    batch.reset(seed=1)
    batch.masks[1] = 0
    with pytest.raises(ValueError, match="decision 1 has no legal action: its game is over, or another"):
        load(name).act(batch.view())
