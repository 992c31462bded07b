"""AgileRL: DQN with the masks of the infos, one seat of Yum against random play.

python examples/agilerl_dqn.py
"""

import sys

import gymnasium as gym
import numpy as np
import torch
from agilerl.algorithms import DQN
from agilerl.components.replay_buffer import ReplayBuffer
from tensordict import TensorDict

import fivedice.envs  # noqa: F401  # registers the ids
from fivedice.agents import evaluate

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 60_000
NUM_ENVS = 64

torch.manual_seed(1)
torch.set_num_threads(1)
envs = gym.make_vec(
    "fivedice/Yum-v0", num_envs=NUM_ENVS, reward="score", autoreset_mode=gym.vector.AutoresetMode.SAME_STEP
)
agent = DQN(
    envs.single_observation_space,
    envs.single_action_space,
    lr=1e-3,
    gamma=1.0,
    tau=0.01,
    batch_size=256,
    double=True,
    net_config={"latent_dim": 64, "encoder_config": {"hidden_size": [128]}, "head_config": {"hidden_size": [64]}},
)
memory = ReplayBuffer(max_size=50_000)
observations, infos = envs.reset(seed=1)
returns, scores = np.zeros(NUM_ENVS), []
for step in range(STEPS // NUM_ENVS):
    epsilon = max(0.05, 1.0 - 2.0 * step * NUM_ENVS / STEPS)
    actions = agent.get_action(observations, epsilon=epsilon, action_mask=infos["action_mask"])
    next_observations, rewards, terminated, truncated, infos = envs.step(actions)
    over = terminated | truncated
    transitions = TensorDict(
        {
            "obs": torch.tensor(observations),
            "action": torch.tensor(actions)[:, None],
            "reward": torch.tensor(rewards * 0.05, dtype=torch.float32)[:, None],
            "next_obs": torch.tensor(next_observations),  # of the next game if this one is over: then it is not used
            "done": torch.tensor(over, dtype=torch.float32)[:, None],
        },
        batch_size=[NUM_ENVS],
    )
    memory.add(transitions)
    observations = next_observations
    returns += rewards
    if over.any():
        assert np.allclose(returns[over], infos["score"][over])  # the rewards of a game add up to its points
        scores = [*scores, *returns[over]][-500:]
        returns[over] = 0.0
    if len(memory) >= 1000:
        agent.learn(memory.sample(agent.batch_size))
    if step % 200 == 199:
        print(f"{(step + 1) * NUM_ENVS:>6} decisions, {np.mean(scores):.1f} points per game, epsilon {epsilon:.2f}")


class Trained:
    """Any object with a name and `act` is a policy, so a network of any framework can be evaluated."""

    name = "agilerl"

    def act(self, view):
        return agent.get_action(view.observations, epsilon=0.0, action_mask=view.masks)


agent.set_training_mode(False)
for standing in evaluate("yum", [Trained(), "random"], games=400):
    print(f"{standing.name}: {standing.points.mean:.1f} ± {standing.points.half_width:.1f} points per game")
