"""Learners that start from another policy: they begin as it, end elsewhere, and are the same in a file."""

import signal
from pathlib import Path

import numpy as np
import pytest
import torch

from fivedice.agents.baselines import GREEDY
from fivedice.agents.checkpoint import load_checkpoint, read_card
from fivedice.agents.config import TrainConfig
from fivedice.agents.network import beside
from fivedice.agents.resume import restore
from fivedice.agents.seat_vec_env import SeatVecEnv
from fivedice.agents.trainer import Progress, Training
from fivedice.envs.batch import Batch
from fivedice.envs.view import View
from fivedice.envs.yum import GAME as YUM

UPDATE = 128  # decisions between two updates
CONFIG = TrainConfig(
    base="greedy",
    reward="win",
    total_timesteps=4 * UPDATE,
    n_envs=8,
    n_steps=16,
    batch_size=64,
    n_epochs=2,
    learning_rate=0.1,
    net_arch=(8,),
    snapshot_every=UPDATE,
    eval_every=2 * UPDATE,
    eval_games=10,
)


def some_view() -> View:
    batch = Batch(YUM, 200)
    batch.reset(5)
    for _ in range(9):
        batch.step(GREEDY.act(batch.view()))
    return batch.view()


def train(folder: Path, config: TrainConfig = CONFIG) -> Training:
    training = Training(config, folder, lambda progress: None)
    training.learn()
    return training


def test_residual_learner__starts_as_its_base_and_learns(tmp_path: Path) -> None:
    training, view = Training(CONFIG, tmp_path, lambda progress: None), some_view()
    assert np.array_equal(training.policy().act(view), GREEDY.act(view))
    seen = beside(view.observations, GREEDY.act(view), view.masks.shape[1])
    before = training.policy().network.logits(seen)
    chances = np.exp(before) * view.masks
    followed = chances[np.arange(len(view)), GREEDY.act(view)] / chances.sum(axis=1)
    assert 0.5 < followed.min() < followed.max() < 1.0
    training.learn()
    assert np.abs(training.policy().network.logits(seen) - before).max() > 0.1


def test_residual_learner__plays_the_same_from_its_file(tmp_path: Path) -> None:
    training, view = train(tmp_path), some_view()
    loaded = load_checkpoint(tmp_path / "last.safetensors")
    assert read_card(tmp_path / "last.safetensors")["network"]["base"] == "greedy"
    assert np.array_equal(loaded.act(view), training.policy().act(view))
    seen = beside(view.observations, GREEDY.act(view), view.masks.shape[1])
    with torch.no_grad():
        distribution = training.model.policy.get_distribution(torch.from_numpy(seen))
        values = training.model.policy.predict_values(torch.from_numpy(seen))
    expected = distribution.distribution.logits  # type: ignore[union-attr]  # a categorical one has it
    logits = torch.from_numpy(loaded.network.logits(seen)).log_softmax(dim=1)
    assert torch.allclose(logits, expected, atol=1e-5)
    assert np.allclose(loaded.network.values(seen), values[:, 0], atol=1e-5)


def test_residual_learner__resumes_as_if_never_stopped(tmp_path: Path) -> None:
    def stop_in_the_middle(progress: Progress) -> None:
        if progress.steps == 2 * UPDATE:
            signal.raise_signal(signal.SIGINT)

    straight = train(tmp_path / "straight")
    assert not Training(CONFIG, tmp_path / "stopped", stop_in_the_middle).learn()
    resumed = Training(CONFIG, tmp_path / "stopped", lambda progress: None)
    assert restore(resumed) == []
    assert resumed.learn()
    for first, second in zip(straight.model.policy.parameters(), resumed.model.policy.parameters(), strict=True):
        assert torch.equal(first, second)


def test_seat_vec_env__shows_what_the_base_would_do() -> None:
    env = SeatVecEnv("yum", 8, opponents="random", base=GREEDY)
    env.seed(3)
    observations = env.reset()
    for _ in range(60):
        assert env.observation_space.contains(observations[0])
        batch = env.table.batch
        size = batch.layout.size
        assert np.array_equal(observations[:, :size], batch.observations)
        actions = observations[:, size:].argmax(axis=1)
        assert (observations[:, size:].sum(axis=1) == 1).all()
        assert np.array_equal(actions, GREEDY.act(batch.view()))
        observations, _, dones, infos = env.step(actions)
        for row in np.flatnonzero(dones):
            assert infos[row]["terminal_observation"].shape == env.observation_space.shape


def test_seat_vec_env__takes_a_base_by_name_and_refuses_what_is_none() -> None:
    assert SeatVecEnv("yum", 2, base="greedy").base is GREEDY
    with pytest.raises(ValueError, match="3 is not a policy; use a name"):
        SeatVecEnv("yum", 2, base=3)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(ValueError, match="'gredy' is not a policy"):
        SeatVecEnv("yum", 2, base="gredy")


def test_seat_vec_env__refuses_a_base_with_standard_forms() -> None:
    with pytest.raises(ValueError, match="leave out one of them"):
        SeatVecEnv("yahtzee_jr", 2, base=GREEDY, standard_form=True)
