"""Tianshou 2: two DQN agents learn Yum by self-play; `PettingZooEnv` reads the masks of the environment as it is.

python examples/tianshou_dqn.py
"""

import sys

import numpy as np
import torch
from gymnasium import make
from gymnasium.spaces import Dict
from gymnasium.wrappers import TransformObservation
from tianshou.algorithm import DQN, MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from torch import nn

from fivedice.agents import evaluate, from_torch
from fivedice.envs import yum_v0  # this also registers the ids of Gymnasium

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
torch.manual_seed(1)
np.random.seed(1)  # noqa: NPY002  # Tianshou explores with it
torch.set_num_threads(1)


def make_game() -> PettingZooEnv:
    return PettingZooEnv(yum_v0.env(reward="score"))


game = make_game()
size, num_actions = game.observation_space["observation"].shape[0], game.action_space.n


class QNetwork(nn.Module):
    """Tianshou gives a batch with the keys "obs" and "mask"; the policy itself applies the mask."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(size, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, num_actions)
        )

    def forward(self, batch, state=None, info=None):
        return self.layers(torch.as_tensor(batch.obs if hasattr(batch, "obs") else batch, dtype=torch.float32)), state


def make_agent() -> DQN:
    policy = DiscreteQLearningPolicy(
        model=QNetwork(), action_space=game.action_space, observation_space=game.observation_space, eps_training=0.1
    )
    optimizer = AdamOptimizerFactory(lr=1e-3)
    return DQN(policy=policy, optim=optimizer, gamma=1.0, n_step_return_horizon=1, target_update_freq=500)


# The rewards of both agents arrive in one vector. Over a game they add up to the points.
seen, info = game.reset(seed=1)
returns, is_over = np.zeros(2), False
while not is_over:
    seen, rewards, terminated, truncated, info = game.step(int(np.argmax(seen["mask"])))
    returns, is_over = returns + rewards, terminated or truncated
print("returns:", *returns, " points:", *game.env.unwrapped.scores().values())

# Two agents learn in one game.
agents = [make_agent(), make_agent()]
both = MultiAgentOffPolicyAlgorithm(algorithms=agents, env=game)
training_envs = DummyVectorEnv([make_game for _ in range(16)])
training_envs.seed(1)
collector = Collector(both, training_envs, VectorReplayBuffer(20_000, 16), exploration_noise=True)
collector.reset()
result = both.run_training(
    OffPolicyTrainerParams(
        training_collector=collector,
        max_epochs=1,
        epoch_num_steps=STEPS,
        collection_step_num_env_steps=160,
        update_step_num_gradient_steps_per_sample=0.1,
        batch_size=128,
        test_collector=None,
        multi_agent_return_reduction=lambda returns: returns.mean(axis=-1),
        show_progress=False,
    )
)
policy = from_torch(agents[0].policy.model.layers, None, "yum", name="tianshou")
policy.save("tianshou.safetensors", reward="score")
for standing in evaluate("yum", [policy, "random"], games=400):
    print(f"{standing.name}: {standing.points.mean:.1f} ± {standing.points.half_width:.1f} points per game")

# One seat as a Gymnasium environment: Tianshou's keys are "obs" and "mask".
env = make("fivedice/Yum-v0", mask_in="observation", reward="score")
names = {"obs": "observation", "mask": "action_mask"}
space = Dict({theirs: env.observation_space[ours] for theirs, ours in names.items()})
env = TransformObservation(env, lambda seen: {theirs: seen[ours] for theirs, ours in names.items()}, space)
alone = Collector(make_agent(), env, VectorReplayBuffer(1000, 1), exploration_noise=True)
alone.reset(gym_reset_kwargs={"seed": 1})
stats = alone.collect(n_episode=5)
print("points of one seat in five games:", *np.asarray(stats.returns).tolist())
