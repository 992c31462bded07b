"""TorchRL: PPO with MaskedCategorical, one seat of Yum against random play. No wrappers of our own are needed.

python examples/torchrl_ppo.py
"""

import sys

import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import (
    ActionMask,
    Compose,
    DTypeCastTransform,
    GymEnv,
    PettingZooWrapper,
    TransformedEnv,
    check_env_specs,
)
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from fivedice.agents import evaluate, from_torch
from fivedice.envs import yum_v0  # this also registers the ids of Gymnasium

TOTAL_FRAMES = int(sys.argv[1]) if len(sys.argv) > 1 else 16_000
FRAMES_PER_BATCH, MINIBATCH, EPOCHS = 2000, 250, 6

torch.manual_seed(1)
torch.set_num_threads(1)

# Several agents: the masks reach the random actions of a rollout, and the rewards add up to the payoff.
games = PettingZooWrapper(yum_v0.env(reward="margin"), use_mask=True, categorical_actions=True)
check_env_specs(games)
games.set_seed(1)
game = games.rollout(1000)
print("margins of one game:", *(game["next", agent, "reward"].sum().item() for agent in games.group_map))

# One seat. TorchRL's masks are bool; ActionMask gives them to the action spec, for random actions.
env = TransformedEnv(
    GymEnv("fivedice/Yum-v0", mask_in="observation", reward="score", categorical_action_encoding=True),
    Compose(DTypeCastTransform(torch.int8, torch.bool, in_keys=["action_mask"]), ActionMask()),
)
check_env_specs(env)
env.set_seed(1)
size, num_actions = env.observation_spec["observation"].shape[-1], env.action_spec.n


def mlp(outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs))


actor_net, critic_net = mlp(num_actions), mlp(1)
actor = ProbabilisticActor(
    TensorDictModule(actor_net, in_keys=["observation"], out_keys=["logits"]),
    spec=env.action_spec,
    in_keys={"logits": "logits", "mask": "action_mask"},
    distribution_class=MaskedCategorical,
    return_log_prob=True,
)
critic = ValueOperator(critic_net, in_keys=["observation"])
loss_module = ClipPPOLoss(actor, critic, clip_epsilon=0.2, entropy_coeff=0.01, normalize_advantage=True)
advantage = GAE(gamma=1.0, lmbda=0.95, value_network=critic)
optimizer = torch.optim.Adam(loss_module.parameters(), lr=1e-3)

collector = Collector(env, actor, frames_per_batch=FRAMES_PER_BATCH, total_frames=TOTAL_FRAMES)
for number, data in enumerate(collector):
    data["next", "reward"] *= 0.05
    for _ in range(EPOCHS):
        advantage(data)
        for rows in torch.randperm(len(data)).split(MINIBATCH):
            losses = loss_module(data[rows])
            optimizer.zero_grad()
            sum(losses[name] for name in ("loss_objective", "loss_critic", "loss_entropy")).backward()
            nn.utils.clip_grad_norm_(loss_module.parameters(), 0.5)
            optimizer.step()
    points = data["next", "reward"].sum().item() / 0.05 / data["next", "done"].sum().item()
    print(f"{(number + 1) * FRAMES_PER_BATCH:>6} decisions, {points:.1f} points per game")

policy = from_torch(actor_net, critic_net, "yum", name="torchrl")
policy.save("torchrl.safetensors", reward="score")
for standing in evaluate("yum", [policy, "random"], games=400):
    print(f"{standing.name}: {standing.points.mean:.1f} ± {standing.points.half_width:.1f} points per game")
