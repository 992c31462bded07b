"""RLlib (new API stack): two policies of PPO with action masks learn Yum by self-play; one becomes a checkpoint.

pip install "fivedice[rllib]"
"""

import sys

from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from torch import nn

from fivedice.agents import evaluate, from_torch
from fivedice.envs.api.rllib import DiceMultiAgentEnv

ITERATIONS = int(sys.argv[1]) if len(sys.argv) > 1 else 8

module = RLModuleSpec(
    module_class=ActionMaskingTorchRLModule,
    model_config={"fcnet_hiddens": [64, 64], "fcnet_activation": "tanh", "vf_share_layers": False},
)
config = (
    PPOConfig()
    .environment(DiceMultiAgentEnv, env_config={"game": "yum", "reward": "margin"})
    .multi_agent(policies={"player_0", "player_1"}, policy_mapping_fn=lambda agent, episode, **kwargs: agent)
    .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"player_0": module, "player_1": module}))
    .env_runners(num_env_runners=0, num_envs_per_env_runner=16, batch_mode="complete_episodes")
    .training(train_batch_size_per_learner=4000, minibatch_size=256, num_epochs=6, lr=5e-4, gamma=1.0)
    .training(vf_clip_param=float("inf"), entropy_coeff=0.01)
)
algorithm = config.build_algo()

# RLlib's episodes have all rewards: the margins of both players add up to 0.
for episode in algorithm.env_runner.sample(num_episodes=4):
    returns = [part.get_return() for part in episode.agent_episodes.values()]
    assert abs(sum(returns)) < 1e-3, returns
print("returns of the last of these games:", *returns)

for iteration in range(ITERATIONS):
    result = algorithm.train()
    print(f"iteration {iteration + 1}: {result['env_runners']['num_env_steps_sampled_lifetime']:.0f} decisions")

trained = algorithm.get_module("player_0")
encoder = trained.encoder
policy = from_torch(
    policy=nn.Sequential(encoder.actor_encoder.net, trained.pi.net),
    value=nn.Sequential(encoder.critic_encoder.net, trained.vf.net),
    game="yum",
    name="rllib",
)
policy.save("rllib.safetensors", reward="margin")
for standing in evaluate("yum", [policy, "random"], games=400):
    print(f"{standing.name}: {standing.points.mean:.1f} ± {standing.points.half_width:.1f} points per game")
