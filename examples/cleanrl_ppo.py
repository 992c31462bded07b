"""A single-file PPO in the style of CleanRL, with action masks: one seat of Yum against greedy play.

python examples/cleanrl_ppo.py
"""

import sys
import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn, optim
from torch.distributions import Categorical

import fivedice.envs  # noqa: F401  # registers the ids
from fivedice.agents import evaluate, from_torch

TOTAL_TIMESTEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 400_000
NUM_ENVS, NUM_STEPS, NUM_EPOCHS, MINIBATCH = 256, 32, 4, 1024
LEARNING_RATE, GAMMA, GAE_LAMBDA, CLIP, ENTROPY, VALUE, REWARD_SCALE = 1e-3, 1.0, 0.95, 0.2, 0.01, 0.5, 0.05

torch.manual_seed(1)
torch.set_num_threads(1)
envs = gym.make_vec(
    "fivedice/Yum-v0",
    num_envs=NUM_ENVS,
    opponents="greedy",
    reward="score",
    autoreset_mode=gym.vector.AutoresetMode.SAME_STEP,
)
size, num_actions = envs.single_observation_space.shape[0], envs.single_action_space.n


def layer_init(layer: nn.Linear, std: float = np.sqrt(2)) -> nn.Linear:
    nn.init.orthogonal_(layer.weight, std)
    nn.init.constant_(layer.bias, 0.0)
    return layer


class Agent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.actor = nn.Sequential(
            layer_init(nn.Linear(size, 128)), nn.Tanh(), layer_init(nn.Linear(128, 128)), nn.Tanh(),
            layer_init(nn.Linear(128, num_actions), std=0.01),
        )  # fmt: skip
        self.critic = nn.Sequential(
            layer_init(nn.Linear(size, 128)), nn.Tanh(), layer_init(nn.Linear(128, 128)), nn.Tanh(),
            layer_init(nn.Linear(128, 1), std=1.0),
        )  # fmt: skip

    def distribution(self, obs: torch.Tensor, mask: torch.Tensor) -> Categorical:
        # An illegal action has probability 0. Use a large negative number instead of -inf: then the entropy is defined.
        return Categorical(logits=torch.where(mask, self.actor(obs), torch.tensor(-1e8)))


agent = Agent()
optimizer = optim.Adam(agent.parameters(), lr=LEARNING_RATE, eps=1e-5)
obs, infos = envs.reset(seed=1)
obs, mask = torch.tensor(obs), torch.tensor(infos["action_mask"], dtype=torch.bool)
start, scores, returns = time.time(), [], np.zeros(NUM_ENVS)
num_updates = TOTAL_TIMESTEPS // (NUM_ENVS * NUM_STEPS)
for update in range(num_updates):
    optimizer.param_groups[0]["lr"] = LEARNING_RATE * (1.0 - update / num_updates)
    batch = {name: [] for name in ("obs", "mask", "action", "logprob", "value", "reward", "done")}
    for _ in range(NUM_STEPS):
        with torch.no_grad():
            distribution = agent.distribution(obs, mask)
            action, value = distribution.sample(), agent.critic(obs).flatten()
        next_obs, reward, terminated, truncated, infos = envs.step(action.numpy())
        step = {
            "obs": obs, "mask": mask, "action": action, "logprob": distribution.log_prob(action), "value": value,
            "reward": torch.tensor(reward * REWARD_SCALE, dtype=torch.float32),
            "done": torch.tensor(terminated | truncated, dtype=torch.float32),
        }  # fmt: skip
        for name, tensor in step.items():
            batch[name].append(tensor)
        returns += reward
        if "score" in infos:
            ended = infos["_score"]
            assert np.allclose(returns[ended], infos["score"][ended])  # the rewards of a game add up to its points
            returns[ended] = 0.0
            scores = [*scores, *infos["score"][infos["_score"]]][-1000:]
        obs, mask = torch.tensor(next_obs), torch.tensor(infos["action_mask"], dtype=torch.bool)
    data = {name: torch.stack(tensors) for name, tensors in batch.items()}
    with torch.no_grad():
        next_value, advantage = agent.critic(obs).flatten(), torch.zeros(NUM_ENVS)
    advantages = torch.zeros_like(data["reward"])
    for t in reversed(range(NUM_STEPS)):
        running = 1.0 - data["done"][t]
        delta = data["reward"][t] + GAMMA * next_value * running - data["value"][t]
        advantages[t] = advantage = delta + GAMMA * GAE_LAMBDA * running * advantage
        next_value = data["value"][t]
    targets = advantages + data["value"]
    flat = {name: tensor.flatten(0, 1) for name, tensor in (data | {"adv": advantages, "target": targets}).items()}
    for _ in range(NUM_EPOCHS):
        for rows in torch.randperm(NUM_ENVS * NUM_STEPS).split(MINIBATCH):
            part = {name: tensor[rows] for name, tensor in flat.items()}
            distribution = agent.distribution(part["obs"], part["mask"])
            ratio = (distribution.log_prob(part["action"]) - part["logprob"]).exp()
            adv = (part["adv"] - part["adv"].mean()) / (part["adv"].std() + 1e-8)
            policy_loss = -torch.min(adv * ratio, adv * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
            value_loss = 0.5 * (agent.critic(part["obs"]).flatten() - part["target"]).pow(2).mean()
            loss = policy_loss + VALUE * value_loss - ENTROPY * distribution.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
    if update % 10 == 9:
        steps = (update + 1) * NUM_ENVS * NUM_STEPS
        print(f"{steps:>8,} decisions  score {np.mean(scores):6.1f}  {steps / (time.time() - start):,.0f} decisions/s")

policy = from_torch(agent.actor, agent.critic, "yum", name="cleanrl")
policy.save("cleanrl.safetensors", reward="score")
for standing in evaluate("yum", [policy, "greedy", "random"], games=400):
    print(f"{standing.name}: {standing.points.mean:.1f} ± {standing.points.half_width:.1f} points per game")
