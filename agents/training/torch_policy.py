"""A network that starts as another policy and learns where to differ from it.

The prior policy's action is shown beside the observation, one number an action, and its logit is raised by a learned
weight: residual policy learning (Silver, Allen, Tenenbaum and Kaelbling, "Residual policy learning", 2018), here for
discrete actions and PPO. At the start the own logits of the network are near 0, so the prior is followed by and large.
"""

from typing import Any, cast

import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import MlpExtractor
from stable_baselines3.common.type_aliases import Schedule


class ResidualExtractor(MlpExtractor):
    """The hidden layers, with what the prior would do passed on beside those of the policy.

    The layers do not see the features of actions. From the last of the policy's, `query` makes the weight of each,
    and what the prior would do is corrected by their sum.
    """

    def __init__(self, size: int, *args: Any, num_actions: int, num_features: int, **kwargs: Any) -> None:
        self.size, self.num_actions, self.num_features = size - num_features * num_actions, num_actions, num_features
        super().__init__(self.size, *args, **kwargs)
        self.query = torch.nn.Linear(self.latent_dim_pi, num_features) if num_features else None
        self.latent_dim_pi += num_actions

    def weights(self, features: torch.Tensor) -> torch.Tensor:
        """How much of what the prior holds of an action one unit of each feature counts for, (N, num_features)."""
        weights: torch.Tensor = cast(torch.nn.Linear, self.query)(self.policy_net(features[:, : self.size]))
        return weights

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        """The policy's last hidden layer and what the prior would do, corrected, (N, width + num_actions)."""
        hidden = self.policy_net(features[:, : self.size])
        prior = features[:, self.size - self.num_actions : self.size]
        if self.query is not None:
            planes = features[:, self.size :].reshape(-1, self.num_features, self.num_actions)
            prior = prior + (self.query(hidden)[:, None] @ planes)[:, 0]
        return torch.cat([hidden, prior], dim=1)

    def forward_critic(self, features: torch.Tensor) -> torch.Tensor:
        """The value's last hidden layer, (N, width)."""
        return super().forward_critic(features[:, : self.size])


class ResidualPolicy(MaskableActorCriticPolicy):
    """See the module. Observations end with one number for each action, what the prior holds of it, and the features.

    Args:
        prior_logit: the weight of that number at the start.
        num_features: how many further numbers for each action come after these.
        features_only: whether the last layer stays as it is: no action gets a logit of its own, and where to differ is
            learned by the weights of the features alone.
    """

    def __init__(
        self, *args: Any, prior_logit: float, num_features: int = 0, features_only: bool = False, **kwargs: Any
    ) -> None:
        self._prior_logit, self._num_features, self._features_only = prior_logit, num_features, features_only
        super().__init__(*args, **kwargs)

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = ResidualExtractor(
            self.features_dim,
            net_arch=self.net_arch,
            activation_fn=self.activation_fn,
            device=self.device,
            num_actions=self._num_actions,
            num_features=self._num_features,
        )

    def _build(self, lr_schedule: Schedule) -> None:
        super()._build(lr_schedule)
        with torch.no_grad():
            last = cast(torch.nn.Linear, self.action_net)
            weight = last.weight
            weight[:, -self._num_actions :] = self._prior_logit * torch.eye(self._num_actions)
            query = cast(ResidualExtractor, self.mlp_extractor).query
            if query is not None:
                query.weight.zero_()
                query.bias.zero_()
            if self._features_only:
                weight[:, : -self._num_actions].zero_()
                last.bias.zero_()
                last.requires_grad_(False)

    @property
    def _num_actions(self) -> int:
        return int(cast(spaces.Discrete, self.action_space).n)
