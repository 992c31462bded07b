"""Learner's decisions per second in training, against the method of PettingZoo's tutorial.

The tutorial (https://pettingzoo.farama.org/tutorials/sb3/connect_four/) converts one AEC environment into a Gymnasium
environment in which every step is a step of the agent to move, and trains `MaskablePPO` on it. `train_as_in_tutorial`
does the same for any game of fivedice, with a given network and PPO settings. The comparison favours the tutorial: its
learner plays every seat, so each step of a game counts as a decision of the learner.
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
UPDATES = 10  # updates of our trainer in each repetition; the tutorial's method makes one


class OneEnv(gymnasium.Env[NDArray[np.float32], int]):
    """An AEC environment as a Gymnasium environment in which the learner plays every seat, as in the tutorial.

    It keeps a flaw of the tutorial: a step returns the rewards of the agent that moved. So only the last mover gets
    its reward for the end of the game.
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
    """Train as the tutorial does, and return the learner's decisions per second.

    Args:
        game: the game to train.
        decisions: the number of decisions, rounded up to whole rollouts.
        policy: the policy class of `MaskablePPO`, or its name.
        policy_kwargs: the network, as `MaskablePPO` takes it.
        ppo: other arguments of `MaskablePPO`. With one environment, ``n_steps`` is the length of the whole rollout. To
            match a trainer with several environments, multiply its ``n_steps`` by the number of environments.
        env_options: arguments of the environment.
    """
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.wrappers import ActionMasker

    env = ActionMasker(OneEnv(DiceEnv(game, **(env_options or {}))), _mask)
    settings: dict[str, Any] = {"device": "cpu", "seed": 1, **(ppo or {})}
    learner = MaskablePPO(policy, env, policy_kwargs=dict(policy_kwargs or {}), **settings)
    env.reset(seed=1)  # loads the compiled code before the measurement
    start = time.perf_counter()
    learner.learn(decisions)
    return learner.num_timesteps / (time.perf_counter() - start)


def train_as_we_do(game: Game, updates: int, settings: Mapping[str, Any]) -> float:
    """Train with our trainer for some updates, and return the learner's decisions per second."""
    from fivedice.agents.training.config import Mix, TrainConfig
    from fivedice.agents.training.run import Progress, Training

    config = TrainConfig(**{**settings, "opponents": Mix(**settings["opponents"])})
    config.total_timesteps = (updates + 1) * config.n_envs * config.n_steps
    config.eval_every, config.eval_games = config.total_timesteps, 2
    reports: list[Progress] = []
    with tempfile.TemporaryDirectory() as folder:
        Training(config, Path(folder), reports.append).learn()
    return reports[-2].decisions_per_second  # the last report includes the time of an evaluation


def run(repetitions: int) -> list[Claim]:
    """Measure our trainer with its default configuration, and the tutorial's method with the same settings."""
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
    train_as_we_do(game, 1, settings)  # compiles or loads the code
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
