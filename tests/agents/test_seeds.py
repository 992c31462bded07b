"""A seed is a non-negative integer of Python or NumPy, in every API alike."""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest

from fivedice.agents import evaluate, load
from fivedice.agents.training.vec_env import SeatVecEnv
from fivedice.envs import Batch, load_game, yum_v0

YUM = load_game("yum")


def pettingzoo(seed: Any) -> bytes:
    env = yum_v0.env()
    env.reset(seed=seed)
    return env.state().tobytes()


def clone(seed: Any) -> bytes:
    env = yum_v0.env()
    env.reset(seed=1)
    twin = env.clone(seed=seed)
    twin.step(0)
    return twin.state().tobytes()


def single(seed: Any) -> bytes:
    return gymnasium.make(YUM.gymnasium_id).reset(seed=seed)[0].tobytes()


def vector(seed: Any) -> bytes:
    return gymnasium.make_vec(YUM.gymnasium_id, num_envs=2).reset(seed=seed)[0].tobytes()


def stable_baselines3(seed: Any) -> bytes:
    env = SeatVecEnv("yum", 2)
    env.seed(seed)
    return env.reset().tobytes()


def batch(seed: Any) -> bytes:
    games = Batch("yum", 2)
    games.reset(seed=seed)
    return games.observations.tobytes()


def evaluation(seed: Any) -> str:
    return repr(evaluate(YUM, {"random": load("random")}, games=2, num_players=2, seed=seed))


APIS: list[Callable[[Any], Any]] = [pettingzoo, clone, single, vector, stable_baselines3, batch, evaluation]


@pytest.mark.parametrize("api", APIS)
def test_seed__of_numpy_is_the_same_seed(api: Callable[[Any], Any]) -> None:
    assert api(7) != api(8)
    for kind in (np.int64, np.uint8, np.int32, np.uint64):
        assert api(kind(7)) == api(7), kind


@pytest.mark.parametrize(
    "seed", [-1, np.int64(-1), 1.0, np.float64(1.0), True, np.True_, "1", [1], np.array([1])], ids=repr
)
@pytest.mark.parametrize("api", APIS)
def test_seed__that_is_none_is_refused(api: Callable[[Any], Any], seed: Any) -> None:
    with pytest.raises(ValueError, match=r"is not possible; use a non-negative integer or None$"):
        api(seed)
