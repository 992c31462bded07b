"""A policy network that starts from a prior policy and learns where to deviate from it.

This is residual policy learning (Silver, Allen, Tenenbaum and Kaelbling, "Residual policy learning", 2018) for discrete
actions and PPO. The observation contains one number per action for what the prior would do. The output layer adds this
number, times a learned weight, to the logit of the action. At the start the network's other contributions to the logits
are near 0, so the policy mostly follows the prior.
"""

from typing import Any, cast

import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import MlpExtractor
from stable_baselines3.common.type_aliases import Schedule


class ResidualExtractor(MlpExtractor):
    """The hidden layers. The policy's last hidden layer is extended by the prior's number for each action.

    The hidden layers do not see the action features. The linear layer `query` computes one weight per feature from the
    policy's last hidden layer. The weighted sum of an action's features is added to the prior's number for the action.

    Args:
        size: the size of an observation with the prior's numbers and all action features.
        num_actions: the number of actions.
        num_features: the number of features per action, 0 for none.
        *args, **kwargs: see `MlpExtractor`.
    """

    def __init__(self, size: int, *args: Any, num_actions: int, num_features: int, **kwargs: Any) -> None:
        self.size, self.num_actions, self.num_features = size - num_features * num_actions, num_actions, num_features
        super().__init__(self.size, *args, **kwargs)
        self.query = torch.nn.Linear(self.latent_dim_pi, num_features) if num_features else None
        self.latent_dim_pi += num_actions

    def weights(self, features: torch.Tensor) -> torch.Tensor:
        """The weight of each action feature, (N, num_features), in units of the prior's numbers."""
        weights: torch.Tensor = cast(torch.nn.Linear, self.query)(self.policy_net(features[:, : self.size]))
        return weights

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        """The policy's last hidden layer and the corrected numbers of the prior, (N, width + num_actions)."""
        hidden = self.policy_net(features[:, : self.size])
        prior = features[:, self.size - self.num_actions : self.size]
        if self.query is not None:
            planes = features[:, self.size :].reshape(-1, self.num_features, self.num_actions)
            prior = prior + (self.query(hidden)[:, None] @ planes)[:, 0]
        return torch.cat([hidden, prior], dim=1)

    def forward_critic(self, features: torch.Tensor) -> torch.Tensor:
        """The last hidden layer of the value network, (N, width)."""
        return super().forward_critic(features[:, : self.size])


class ResidualPolicy(MaskableActorCriticPolicy):
    """Stable-Baselines3's maskable actor-critic policy with a prior; see the module.

    An observation is the game's observation, then the prior's number for each action, then the features of each action.

    Args:
        prior_logit: the initial weight of the prior's numbers in the logits.
        num_features: the number of features per action, 0 for none.
        features_only: whether to train only the feature weights. The output layer is frozen then, so the network learns
            no logit per action.
        *args, **kwargs: see `MaskableActorCriticPolicy`.
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
