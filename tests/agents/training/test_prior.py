"""Learners that start from another policy: they begin as it, end elsewhere, and are the same in a file."""

import signal
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from fivedice.agents.policies.baselines import GREEDY
from fivedice.agents.policies.checkpoint import load_checkpoint, read_card, read_prior
from fivedice.agents.policies.network import Network
from fivedice.agents.policies.prior import Prior
from fivedice.agents.training.config import TrainConfig
from fivedice.agents.training.resume import restore
from fivedice.agents.training.run import Progress, Training
from fivedice.agents.training.torch_policy import ResidualExtractor
from fivedice.agents.training.validation import validate
from fivedice.agents.training.vec_env import SeatVecEnv
from fivedice.envs import load_game
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.view import View
from fivedice.envs.yum import GAME as YUM

UPDATE = 128  # decisions between two updates
CONFIG = TrainConfig(
    prior="greedy",
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


def beside_prior(view: View) -> NDArray[np.float32]:
    """What the network sees: the observation, and what greedy would do."""
    return np.concatenate([view.observations, np.eye(view.masks.shape[1])[GREEDY.act(view)]], axis=1, dtype=np.float32)


def train(folder: Path, config: TrainConfig = CONFIG) -> Training:
    training = Training(config, folder, lambda progress: None)
    training.learn()
    return training


def test_residual_learner__starts_as_its_prior_and_learns(tmp_path: Path) -> None:
    training, view = Training(CONFIG, tmp_path, lambda progress: None), some_view()
    assert np.array_equal(training.policy().act(view), GREEDY.act(view))
    seen = beside_prior(view)
    before = training.policy().network.logits(seen)
    chances = np.exp(before) * view.masks
    followed = chances[np.arange(len(view)), GREEDY.act(view)] / chances.sum(axis=1)
    assert 0.5 < followed.min() < followed.max() < 1.0
    training.learn()
    assert np.abs(training.policy().network.logits(seen) - before).max() > 0.1


def test_residual_learner__plays_the_same_from_its_file(tmp_path: Path) -> None:
    training, view = train(tmp_path), some_view()
    loaded = load_checkpoint(tmp_path / "last.safetensors")
    assert read_card(tmp_path / "last.safetensors")["network"]["prior"] == "greedy"
    assert np.array_equal(loaded.act(view), training.policy().act(view))
    seen = beside_prior(view)
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
    env = SeatVecEnv("yum", 8, opponents="random", prior=GREEDY)
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
    assert SeatVecEnv("yum", 2, prior="greedy").prior == Prior(GREEDY)
    with pytest.raises(ValueError, match="3 is not a policy; use a name"):
        SeatVecEnv("yum", 2, prior=3)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(ValueError, match="'gredy' is not a policy"):
        SeatVecEnv("yum", 2, prior="gredy")


def test_seat_vec_env__refuses_a_base_with_canonical_forms() -> None:
    with pytest.raises(ValueError, match="leave out one of them"):
        SeatVecEnv("yahtzee_jr", 2, prior=GREEDY, canonical_form=True)


SHOWDOWN = load_game("showdown_yahtzee")


def test_base__shows_how_near_each_action_is_to_the_best() -> None:
    batch = Batch(SHOWDOWN, 60)
    batch.reset(2)
    prior, alike, compared = Prior(GREEDY, span=0.5, keep_span=2.0), Prior(GREEDY, span=1.5), np.zeros(2, np.int64)
    keeps = np.arange(batch.num_actions) < 31
    for _ in range(40):
        view = batch.view()
        values = np.where(view.masks, GREEDY.of(SHOWDOWN).action_values(view), -np.inf)
        behind = values.max(axis=1, keepdims=True) - values
        shown = prior.shown(view)
        expected = np.maximum(0.0, 1 - behind / np.where(keeps, 2.0, 0.5))
        np.testing.assert_allclose(shown, expected, atol=1e-6)
        np.testing.assert_allclose(alike.shown(view), np.maximum(0.0, 1 - behind / 1.5), atol=1e-6)
        between = (expected > 0) & (expected < 1)
        compared += between[:, keeps].sum(), between[:, ~keeps].sum()
        assert (shown[np.arange(len(view)), GREEDY.act(view)] == 1).all()
        batch.step(GREEDY.act(view))
    assert compared.min() > 20
    assert compared.sum() > 500


def test_prior_span__is_the_same_in_a_run_its_file_and_its_resume(tmp_path: Path) -> None:
    config = replace(CONFIG, game="showdown_yahtzee", prior_span=1.5, prior_keep_span=2.5)
    training = train(tmp_path, config)
    batch = Batch(SHOWDOWN, 200)
    batch.reset(5)
    view, loaded = batch.view(), load_checkpoint(tmp_path / "last.safetensors")
    assert loaded.prior == Prior(GREEDY, 1.5, 2.5)
    assert np.array_equal(loaded.act(view), training.policy().act(view))
    with pytest.raises(ValueError, match=r"is a run with prior_span=1.5, not with prior_span=0.0"):
        restore(Training(replace(config, prior_span=0.0), tmp_path, lambda progress: None))


def test_prior_span__without_a_base_is_refused() -> None:
    for settings in ({"prior_span": 1.0}, {"prior_keep_span": 1.0}, {"prior_features": True}):
        with pytest.raises(ValueError, match="need a prior; use prior='greedy'"):
            SeatVecEnv("yum", 2, **settings)  # type: ignore[arg-type]  # of several types


def test_prior_span__of_a_policy_that_does_not_tell_is_refused() -> None:
    with pytest.raises(ValueError, match=r"random has no action values in SET Cubed; use prior_span=0"):
        SeatVecEnv("set_cubed", 2, prior="random", prior_span=1.0)


@pytest.mark.parametrize(
    ("game", "settings", "said"),
    [
        (
            "set_cubed",
            {"prior_keep_span": 1.0},
            "SET Cubed has no keep actions; use prior_keep_span=0",
        ),
        ("showdown_yahtzee", {"prior_features": True}, "features of near-best actions only; set prior_span above 0"),
        (
            "yum",
            {"prior_features": True, "prior_span": 1.0},
            "has no action features in Yum; use prior_features=False",
        ),
    ],
)
def test_base__of_a_game_that_has_no_such_thing_is_refused(game: str, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        SeatVecEnv(game, 2, prior="greedy", **settings)
    with pytest.raises(ValueError, match=said):  # as early in a run
        validate(replace(CONFIG, game=game, **settings))


@pytest.mark.parametrize("span", [-1, "wide", float("inf"), None, True])
def test_prior_span__of_a_card_must_be_a_number(span: object) -> None:
    with pytest.raises(ValueError, match="it must be a finite number, 0 or more"):
        read_prior({"prior": "greedy", "prior_span": span}, SHOWDOWN)


# Features of actions.

FEATURES = replace(CONFIG, game="showdown_yahtzee", prior_span=1.5, prior_features=True)


def seen_with_features(view: View, prior: Prior) -> NDArray[np.float32]:
    return np.concatenate([view.observations, prior.shown(view)], axis=1)


def showdown_view() -> View:
    batch = Batch(SHOWDOWN, 300)
    batch.reset(5)
    for _ in range(25):
        batch.step(GREEDY.act(batch.view()))
    return batch.view()


def test_prior_features__are_shown_in_spans_after_what_the_base_holds() -> None:
    view, prior = showdown_view(), Prior(GREEDY, 1.5, 0.2, features=True)
    near, greedy = Prior(GREEDY, 1.5, 0.2).shown(view), GREEDY.of(SHOWDOWN)
    shown = prior.shown(view)
    assert prior.feature_names(SHOWDOWN) == list(greedy.features) == ["lasting", "taken", "placing"]
    assert np.array_equal(shown[:, : near.shape[1]], near)
    features = shown[:, near.shape[1] :].reshape(len(view), 3, -1)
    expected = greedy.action_features(view, GREEDY.of(SHOWDOWN).action_values(view), near > 0)
    assert np.allclose(features * 1.5, expected, atol=1e-6)
    assert np.abs(features).max() < 4.0  # so that nothing was cut off
    assert not features.transpose(0, 2, 1)[near == 0].any()
    assert features.any(axis=(0, 2)).all()
    far = Prior(GREEDY, 0.1, 0.2, features=True).shown(view)
    near = far[:, : near.shape[1]]
    cut = greedy.action_features(view, GREEDY.of(SHOWDOWN).action_values(view), near > 0) / 0.1
    assert (np.abs(cut) > 4.0).any()
    features = far[:, near.shape[1] :].reshape(len(view), 3, -1)
    assert np.allclose(features, np.clip(cut, -4.0, 4.0), atol=1e-5)
    env = SeatVecEnv(SHOWDOWN, 8, prior="greedy", prior_span=1.5, prior_features=True)
    assert env.observation_space.contains(env.reset()[0])


def test_prior_features__weigh_alike_for_all_actions(tmp_path: Path) -> None:
    view, prior = showdown_view(), Prior(GREEDY, 1.5, features=True)
    network = Training(FEATURES, tmp_path, lambda progress: None).policy().network
    seen = seen_with_features(view, prior)
    plain = network.logits(seen)
    tensors = {name: tensor.copy() for name, tensor in network.tensors.items()}
    assert not tensors["policy.query.weight"].any()
    tensors["policy.query.bias"][:] = (0.5, 0.0, -2.0)
    weighed = Network(
        tensors, seen.shape[1], view.masks.shape[1], network.net_arch, "tanh", residual=True, num_features=3
    ).logits(seen)
    features = seen[:, -3 * view.masks.shape[1] :].reshape(len(view), 3, -1)
    added = CONFIG.prior_logit * (0.5 * features[:, 0] - 2.0 * features[:, 2])
    assert np.allclose(weighed - plain, added, atol=1e-4)
    assert np.abs(added).max() > 0.1
    assert np.array_equal(network.values(seen), network.values(seen * _only_observation(view, seen)))


def _only_observation(view: View, seen: NDArray[np.float32]) -> NDArray[np.float32]:
    kept = np.ones(seen.shape[1], np.float32)
    kept[view.observations.shape[1] + view.masks.shape[1] :] = 0.0
    return kept


def test_prior_features__play_the_same_in_torch_in_a_file_and_after_a_resume(tmp_path: Path) -> None:
    training, view = train(tmp_path, FEATURES), showdown_view()
    loaded = load_checkpoint(tmp_path / "last.safetensors")
    assert loaded.prior == Prior(GREEDY, 1.5, features=True)
    assert np.abs(loaded.network.tensors["policy.query.weight"]).max() > 0.0
    seen = seen_with_features(view, loaded.prior)
    with torch.no_grad():
        distribution = training.model.policy.get_distribution(torch.from_numpy(seen))
        values = training.model.policy.predict_values(torch.from_numpy(seen))
    expected = distribution.distribution.logits  # type: ignore[union-attr]  # a categorical one has it
    assert torch.allclose(torch.from_numpy(loaded.network.logits(seen)).log_softmax(dim=1), expected, atol=1e-4)
    assert np.allclose(loaded.network.values(seen), values[:, 0], atol=1e-4)
    assert np.array_equal(loaded.act(view), training.policy().act(view))

    resumed = Training(replace(FEATURES, total_timesteps=5 * UPDATE), tmp_path, lambda progress: None)
    assert restore(resumed) == []
    assert np.array_equal(resumed.policy().act(view), loaded.act(view))
    assert resumed.learn()
    with pytest.raises(ValueError, match=r"is a run with prior_features=\['lasting'.*, not with prior_features=\[\]"):
        restore(Training(replace(FEATURES, prior_features=False), tmp_path, lambda progress: None))


@pytest.mark.parametrize("features", [True, ["lasting"], ["lasting", "placing", "taken"], "lasting"])
def test_prior_features__of_a_card_must_be_those_of_this_version(features: object) -> None:
    card = {"prior": "greedy", "prior_span": 1.0, "prior_features": ["lasting", "taken", "placing"]}
    assert read_prior(card, SHOWDOWN) == Prior(GREEDY, 1.0, features=True)
    with pytest.raises(
        ValueError, match=r"has prior_features=.*; this version's are \['lasting', 'taken', 'placing'\]"
    ):
        read_prior(card | {"prior_features": features}, SHOWDOWN)
    with pytest.raises(ValueError, match="no action features in Yum"):
        read_prior(card, YUM)


def test_prior_features__their_weights_are_logged(tmp_path: Path) -> None:
    training = train(tmp_path, FEATURES)
    events = EventAccumulator(str(tmp_path)).Reload()
    logged = [events.Scalars(f"features/{name}")[-1].value for name in training.feature_names]
    extractor = cast(ResidualExtractor, training.model.policy.mlp_extractor)
    seen = torch.from_numpy(seen_with_features(showdown_view(), Prior(GREEDY, 1.5, features=True)))
    weights = extractor.weights(seen).mean(dim=0).tolist()
    assert len(logged) == len(weights) == 3
    assert np.sign(logged).tolist() == np.sign(weights).tolist()  # one update later, and in other positions
    assert np.abs(logged).max() > 0.01


def test_features_only__leaves_the_logits_of_actions_alone(tmp_path: Path) -> None:
    training = train(tmp_path, replace(FEATURES, features_only=True, value_steps=UPDATE))
    num_actions = training.env.table.batch.num_actions
    tensors = training.policy().network.tensors
    assert not tensors["policy.1.bias"].any()
    assert not tensors["policy.1.weight"][:, :-num_actions].any()
    assert np.array_equal(tensors["policy.1.weight"][:, -num_actions:], CONFIG.prior_logit * np.eye(num_actions))
    for name in ("policy.0.weight", "policy.query.weight", "value.0.weight", "value.1.weight"):
        assert tensors[name].any()
    assert np.abs(tensors["policy.query.bias"]).max() > 0.01
