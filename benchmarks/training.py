"""Learner decisions in a second while training, against the way of PettingZoo's tutorial.

The tutorial (https://pettingzoo.farama.org/tutorials/sb3/connect_four/) turns one AEC environment into a Gymnasium
environment that steps for whichever agent is to move, and gives it to `MaskablePPO`. `train_as_in_tutorial` does the
same for any of our games, with network and PPO settings passed in. It is kind to the tutorial: as its learner plays
every seat, each step of a game counts as a decision of the learner.
"""

import tempfile
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Claim, alternate, ratios, spread
from fivedice.envs import load_game
from fivedice.envs.api.aec import DiceEnv
from fivedice.envs.core.spec import Game

BAR = 10.0
CONFIG = Path("configs/yum.toml")
UPDATES = 10  # of ours in each repetition; the tutorial's way gets one


class OneEnv(gymnasium.Env[NDArray[np.float32], int]):
    """An AEC environment as a Gymnasium one in which the learner moves for every seat, as in the tutorial.

    The flaw of that way is kept: the reward is what the mover was paid up to its step, so nobody but the last mover
    is shown the end of a game.
    """

    def __init__(self, env: DiceEnv) -> None:
        self.env = env
        agent = env.possible_agents[0]
        observation_space: Any = env.observation_space(agent)
        action_space: Any = env.action_space(agent)
        self.observation_space, self.action_space = observation_space["observation"], action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        self.env.reset(seed=seed, options=options)
        return self.observation(), {}

    def step(self, action: int) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        agent = self.env.agent_selection
        self.env.step(int(action))
        return (
            self.observation(),
            self.env._cumulative_rewards[agent],
            self.env.terminations[agent],
            self.env.truncations[agent],
            self.env.infos[agent],
        )

    def observation(self) -> NDArray[np.float32]:
        observation: NDArray[np.float32] = self.env.observe(self.env.agent_selection)["observation"]
        return observation

    def action_mask(self) -> NDArray[np.int8]:
        mask: NDArray[np.int8] = self.env.observe(self.env.agent_selection)["action_mask"]
        return mask


def _mask(env: Any) -> NDArray[np.int8]:
    mask: NDArray[np.int8] = env.unwrapped.action_mask()
    return mask


def train_as_in_tutorial(
    game: Game,
    decisions: int,
    *,
    policy: Any = "MlpPolicy",
    policy_kwargs: Mapping[str, Any] | None = None,
    ppo: Mapping[str, Any] | None = None,
    env_options: Mapping[str, Any] | None = None,
) -> float:
    """Train for about `decisions` and return how many of them there were in a second.

    Args:
        game: what is played.
        decisions: rounded up to whole rollouts.
        policy, policy_kwargs: the network, as `MaskablePPO` takes it.
        ppo: the other arguments of `MaskablePPO`. With one environment ``n_steps`` is the whole rollout: to have the
            same settings as a trainer with many, multiply its ``n_steps`` by their number.
        env_options: arguments of the environment.
    """
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.wrappers import ActionMasker

    env = ActionMasker(OneEnv(DiceEnv(game, **(env_options or {}))), _mask)
    settings: dict[str, Any] = {"device": "cpu", "seed": 1, **(ppo or {})}
    learner = MaskablePPO(policy, env, policy_kwargs=dict(policy_kwargs or {}), **settings)
    env.reset(seed=1)  # loads the machine code before the clock starts
    start = time.perf_counter()
    learner.learn(decisions)
    return learner.num_timesteps / (time.perf_counter() - start)


def train_as_we_do(game: Game, updates: int, settings: Mapping[str, Any]) -> float:
    """Train for some updates against the pool and return how many of the learner's decisions there were in a second."""
    from fivedice.agents.training.config import Mix, TrainConfig
    from fivedice.agents.training.run import Progress, Training

    config = TrainConfig(**{**settings, "opponents": Mix(**settings["opponents"])})
    config.total_timesteps = (updates + 1) * config.n_envs * config.n_steps
    config.eval_every, config.eval_games = config.total_timesteps, 2
    told: list[Progress] = []
    with tempfile.TemporaryDirectory() as folder:
        Training(config, Path(folder), told.append).learn()
    return told[-2].decisions_per_second  # the last update is followed by an evaluation


def run(repetitions: int) -> list[Claim]:
    """Our trainer with its default configuration against the tutorial's way with the same network and settings."""
    import torch

    settings = tomllib.loads(CONFIG.read_text())
    game = load_game(settings["game"])
    torch.set_num_threads(1)
    rollout = settings["n_envs"] * settings["n_steps"]
    activations = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}
    tutorial = {
        "policy_kwargs": {
            "net_arch": settings["net_arch"],
            "activation_fn": activations[settings["activation"]],
        },
        "ppo": {
            "n_steps": rollout,
            "gamma": 1.0,
            **{name: settings[name] for name in ("batch_size", "n_epochs", "learning_rate", "gae_lambda", "ent_coef")},
        },
        "env_options": {"reward": settings["reward"]},
    }
    train_as_we_do(game, 1, settings)  # machine code
    ours, theirs = alternate(
        min(repetitions, 3),
        lambda: train_as_we_do(game, UPDATES, settings) / 1e3,
        lambda: train_as_in_tutorial(game, rollout, **tutorial) / 1e3,
    )
    return [
        Claim(
            f"training {game.title}, one torch thread",
            spread(ours).text(" k learner decisions/s"),
            f"PettingZoo's tutorial, same network and settings: {spread(theirs).text(' k/s')}",
            ratios(ours, theirs),
            "x",
            BAR,
        )
    ]
