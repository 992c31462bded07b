"""Learner decisions in a second while training, against the way of PettingZoo's tutorial.

The tutorial (https://pettingzoo.farama.org/tutorials/sb3/connect_four/) turns one AEC environment into a Gymnasium
environment that steps for whichever agent is to move, and gives it to `MaskablePPO`. `train_as_in_tutorial` does the
same for any of our games, with network and PPO settings passed in. It is kind to the tutorial: as its learner plays
every seat, each step of a game counts as a decision of the learner.
"""

import time
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from fivedice.envs.aec import DiceEnv
from fivedice.envs.spec import Game

BAR = 10.0


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
