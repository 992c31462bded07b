"""One seat of many games for Stable-Baselines3: its VecEnv contract, and the same promises as the other faces."""

import warnings
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecMonitor, VecNormalize

from fivedice.agents.training.vec_env import SeatVecEnv
from fivedice.envs import GAMES, load_game

YUM = "fivedice.envs:fivedice/Yum-v0"


class Chooser:
    """Picks a legal action in each row, in the same way for the same row."""

    def __init__(self, rows: int) -> None:
        self.generators = [np.random.default_rng([3, row]) for row in range(rows)]

    def choose(self, masks: np.ndarray) -> np.ndarray:
        picks = [generator.choice(np.flatnonzero(mask)) for generator, mask in zip(self.generators, masks, strict=True)]
        return np.array(picks)


def masked_ppo(env: Any, **settings: Any) -> MaskablePPO:
    return MaskablePPO("MlpPolicy", env, **({"n_steps": 8, "batch_size": 16, "n_epochs": 1, "seed": 1} | settings))


# The contract


@pytest.mark.parametrize("name", GAMES)
def test_masked_ppo__learns_without_a_warning(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = SeatVecEnv(name, 4)
        model = masked_ppo(env)
        before = model.policy.action_net.weight.detach().clone()
        model.learn(64)
    assert model.num_timesteps == 64
    assert not (model.policy.action_net.weight == before).all()
    masks = model.rollout_buffer.action_masks.reshape(-1, env.game.num_actions())
    actions = model.rollout_buffer.actions.reshape(-1).astype(int)
    assert masks[np.arange(len(actions)), actions].all()


def test_unmasked_ppo__is_stopped_at_its_first_illegal_action() -> None:
    with pytest.raises(ValueError, match=r"game \d+: action \d+ \(.*\) is not legal for player_\d; legal are "):
        PPO("MlpPolicy", SeatVecEnv("yum", 8), n_steps=32, batch_size=256, seed=1).learn(256)


def test_masks__are_where_sb3_contrib_looks() -> None:
    env = SeatVecEnv("yum", 5)
    env.reset()
    assert is_masking_supported(env)
    for masks in (env.action_masks(), env.env_method("action_masks"), get_action_masks(env)):
        assert (masks.dtype, masks.shape) == (np.bool_, (5, env.game.num_actions()))
        np.testing.assert_array_equal(masks, env.table.batch.masks == 1)
    masks = env.action_masks()
    np.testing.assert_array_equal(env.env_method("action_masks", indices=[1, 3]), masks[[1, 3]])
    np.testing.assert_array_equal(env.env_method("action_masks", indices=2), masks[[2]])


@pytest.mark.parametrize("wrapper", [VecMonitor, VecNormalize])
def test_masks__pass_through_sb3_s_wrappers(wrapper: Any) -> None:
    env = SeatVecEnv("yum", 3)
    wrapped = wrapper(env)
    assert wrapped.reset().shape == (3, env.observation_space.shape[0])
    assert is_masking_supported(wrapped)
    np.testing.assert_array_equal(get_action_masks(wrapped), env.action_masks())
    *_, infos = wrapped.step(Chooser(3).choose(get_action_masks(wrapped)))
    assert len(infos) == 3


def test_vec_env__answers_what_sb3_asks() -> None:
    env = SeatVecEnv("yum", 3)
    assert env.env_is_wrapped(gymnasium.Wrapper) == [False] * 3
    assert env.env_is_wrapped(gymnasium.Wrapper, indices=0) == [False]
    assert env.get_attr("num_envs", indices=[0, 2]) == [3, 3]
    assert env.get_attr("render_mode") == [None] * 3
    assert env.has_attr("action_masks")
    assert not env.has_attr("no_such_thing")
    assert env.get_images() == [None] * 3
    assert env.unwrapped is env
    with pytest.raises(AttributeError, match="'rest'; use 'action_masks'"):
        env.env_method("rest")
    with pytest.raises(AttributeError, match="'seat' cannot be set"):
        env.set_attr("seat", 1)
    env.close()


def test_vec_env__steps_are_what_sb3_expects() -> None:
    env, chooser = SeatVecEnv("yum", 3, num_players=3), Chooser(3)
    assert env.seed(4) == [4, 4, 4]
    observations = env.reset()
    layout, ends = env.table.batch.layout, 0
    for _ in range(60):
        assert (observations.dtype, observations.shape) == (np.float32, (3, layout.size))
        assert all(env.observation_space.contains(observation) for observation in observations)
        # What the learner is shown is always a decision of its own seat.
        assert (layout.named(observations)["mover"][:, 0] == 1).all()
        masks = env.action_masks()
        assert masks.any(axis=1).all()
        observations, rewards, dones, infos = env.step(chooser.choose(masks))
        assert (rewards.dtype, rewards.shape) == (np.float32, (3,))
        assert (dones.dtype, dones.shape) == (np.bool_, (3,))
        for done, info, observation in zip(dones, infos, observations, strict=True):
            if not done:
                assert info == {}
                continue
            ends += 1
            assert set(info) == {
                "terminal_observation",
                "TimeLimit.truncated",
                "cut_short",
                "score",
                "rank",
                "win",
                "seat",
                "opponents",
                "episode",
            }
            terminal = layout.named(info["terminal_observation"])
            assert not terminal["mover"].any()
            assert not terminal["open"].any()
            assert terminal["score"][0] == pytest.approx(info["score"] / 300)
            assert layout.named(observation)["open"][0].all()  # the next game has begun
            assert info["TimeLimit.truncated"] is False
            assert 12 <= info["episode"]["l"] <= env.game.max_decisions_per_seat
    assert ends >= 3


def test_vec_env__the_caller_keeps_what_it_was_given() -> None:
    env = SeatVecEnv("yum", 3, reward="score")
    observations, masks = env.reset(), env.action_masks()
    kept = observations.copy(), masks.copy()
    later, rewards, dones, _ = env.step(Chooser(3).choose(masks))
    np.testing.assert_array_equal(observations, kept[0])
    np.testing.assert_array_equal(masks, kept[1])
    kept = later.copy(), rewards.copy(), dones.copy()
    env.step(Chooser(3).choose(env.action_masks()))
    for given, before in zip((later, rewards, dones), kept, strict=True):
        np.testing.assert_array_equal(given, before)


def test_seed__repeats_the_games_and_none_goes_on() -> None:
    env = SeatVecEnv("yum", 3)
    env.seed(4)
    first, second = env.reset(), env.reset()
    env.seed(4)
    np.testing.assert_array_equal(env.reset(), first)
    assert not np.array_equal(first, second)


# The same promises as the other faces


def test_vec_env__an_illegal_action_changes_no_game() -> None:
    env = SeatVecEnv("yum", 3)
    env.reset()
    before = env.table.batch.states.tobytes(), env.table.batch.streams.tobytes()
    with pytest.raises(ValueError, match="game 1: action 43 is not legal for player_"):
        env.step(np.array([0, 43, 0]))
    assert before == (env.table.batch.states.tobytes(), env.table.batch.streams.tobytes())
    env.step(np.array([0, 0, 0]))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"num_envs": 0}, "num_games=0 is too few; use at least 1"),
        ({"num_envs": 2.0}, "num_games=2.0 is not a whole number"),
        ({"reward_scale": float("nan")}, "reward_scale=nan is not possible; use a finite number"),
        ({"reward_scale": "1"}, "reward_scale='1' is not possible"),
    ],
)
def test_settings__that_are_no_numbers_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        SeatVecEnv("yum", **({"num_envs": 2} | settings))


# Stable-Baselines3's own vector environments


@pytest.mark.parametrize("name", GAMES)
def test_check_env__passes_without_a_warning(name: str) -> None:
    """Stable-Baselines3's checker samples actions without looking at the mask."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(load_game(name).gymnasium_id, render_mode="ansi"), skip_render_check=False)


@pytest.mark.parametrize("algorithm", [PPO, DQN])
@pytest.mark.parametrize("name", GAMES)
def test_unmasked_learner__trains_on_what_gymnasium_makes(name: str, algorithm: type[PPO] | type[DQN]) -> None:
    """It chooses illegal actions, and each of them ends a game."""
    steps = {"n_steps": 32, "batch_size": 32} if algorithm is PPO else {"learning_starts": 16, "batch_size": 16}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(load_game(name).gymnasium_id)
        model = algorithm("MlpPolicy", env, seed=1, device="cpu", **steps)
        model.learn(64)
        mean, _ = evaluate_policy(model, model.get_env(), n_eval_episodes=2, deterministic=False)
    assert -2.0 <= mean <= 1.0


def test_dummy_vec_env__of_seats_trains() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = DummyVecEnv([partial(gymnasium.make, YUM)] * 2)
        assert is_masking_supported(env)
        masked_ppo(env).learn(32)


@pytest.mark.parametrize("start_method", ["spawn", "forkserver"])
def test_subproc_vec_env__of_seats_trains(start_method: str) -> None:
    env = SubprocVecEnv([partial(gymnasium.make, YUM)], start_method=start_method)
    try:
        assert is_masking_supported(env)
        masked_ppo(env).learn(16)
    finally:
        env.close()


@pytest.mark.parametrize("actions", [[-5, 0], [36, 0], [100, 0], [2, 0]])
def test_canonical_form__an_illegal_action_is_refused_by_its_number(actions: list[int]) -> None:
    env = SeatVecEnv("yahtzee_jr", 2, opponents="random", canonical_form=True, seat=0)
    env.seed(0)
    env.reset()
    assert not 0 <= actions[0] < 36 or not env.action_masks()[0, actions[0]]
    before = env.table.batch.states.tobytes()
    said = rf"game 0: action {actions[0]} is not legal in the canonical form .*; legal are 0 \(keep none\), .*"
    with pytest.raises(
        ValueError, match=said + r"Choose legal actions only, which action_masks\(\) returns: train with MaskablePPO"
    ):
        env.step(np.array(actions))
    assert env.table.batch.states.tobytes() == before


@pytest.mark.parametrize("canonical_form", [False, True])
def test_vec_env__actions_that_are_no_integers_are_refused(canonical_form: bool) -> None:
    env = SeatVecEnv("yahtzee_jr", 2, canonical_form=canonical_form)
    env.reset()
    for actions in (np.zeros(2), np.zeros(3, np.int64), np.zeros((2, 1), np.int64)):
        with pytest.raises(ValueError, match="use one integer for each of the 2 games"):
            env.step(actions)


def test_unmasked_evaluation__names_the_masked_one() -> None:
    env = SeatVecEnv("yum", 4)
    with pytest.raises(ValueError, match=r"MaskableEvalCallback of sb3_contrib\.common\.maskable"):
        evaluate_policy(masked_ppo(env, n_steps=16), env, n_eval_episodes=4, warn=False)


@pytest.mark.parametrize("canonical_form", [False, True])
def test_vec_env__nothing_is_legal_before_the_first_game(canonical_form: bool) -> None:
    env = SeatVecEnv("yahtzee_jr", 2, canonical_form=canonical_form)
    for ask in (env.action_masks, lambda: env.step(np.zeros(2, np.int64))):
        with pytest.raises(RuntimeError, match=r"before the first game: call reset\(\)"):
            ask()
