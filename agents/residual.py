"""A network that starts as another policy and learns where to differ from it.

The base policy's action is shown beside the observation, one number an action, and its logit is raised by a learned
weight: residual policy learning (Silver, Allen, Tenenbaum and Kaelbling, "Residual policy learning", 2018), here for
discrete actions and PPO. At the start the own logits of the network are near 0, so the base is followed by and large.
"""

from typing import Any, cast

import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import MlpExtractor
from stable_baselines3.common.type_aliases import Schedule


class ResidualExtractor(MlpExtractor):
    """The hidden layers, with what the base would do passed on beside those of the policy."""

    def __init__(self, *args: Any, num_actions: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.num_actions = num_actions
        self.latent_dim_pi += num_actions

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        """The policy's last hidden layer and the base's action, (N, width + num_actions)."""
        return torch.cat([self.policy_net(features), features[:, -self.num_actions :]], dim=1)


class ResidualPolicy(MaskableActorCriticPolicy):
    """See the module. Observations end with one number for each action: 1 for that of the base, else 0.

    Args:
        base_logit: the weight of that number at the start.
    """

    def __init__(self, *args: Any, base_logit: float, **kwargs: Any) -> None:
        self._base_logit = base_logit
        super().__init__(*args, **kwargs)

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = ResidualExtractor(
            self.features_dim,
            net_arch=self.net_arch,
            activation_fn=self.activation_fn,
            device=self.device,
            num_actions=self._num_actions,
        )

    def _build(self, lr_schedule: Schedule) -> None:
        super()._build(lr_schedule)
        with torch.no_grad():
            weight = cast(torch.nn.Linear, self.action_net).weight
            weight[:, -self._num_actions :] = self._base_logit * torch.eye(self._num_actions)

    @property
    def _num_actions(self) -> int:
        return int(cast(spaces.Discrete, self.action_space).n)
