"""The prior policy: where a learner starts from, and what it observes of it.

`fivedice.agents.training.torch_policy` is the network that uses it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.policies.baselines import GREEDY, PLANNER, policy_for
from fivedice.agents.policies.protocols import HasActionFeatures, HasActionValues
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Game
from fivedice.envs.core.view import Policy, View

PRIORS = {"greedy": GREEDY, "planner": PLANNER}
MOST_SPANS = 4.0  # features are clipped to this many spans


@dataclass(frozen=True)
class Prior:
    """A policy to start from, and what a learner observes of it.

    Args:
        policy: the policy.
        span: 0 shows only the policy's action, one-hot. Above 0 each action gets a number: 1 for the action with the
            highest value, falling linearly to 0 for an action whose value is lower by `span`.
        keep_span: replaces `span` for keep actions (the first `Game.num_keeps`); 0 means `span`. The greedy values of
            keep actions are more reliable than those of other actions.
        features: whether to append the policy's `action_features` of the actions with a number above 0.
    """

    policy: Policy
    span: float = 0.0
    keep_span: float = 0.0
    features: bool = False

    def check(self, game: Game) -> None:
        """Raise a ValueError if the policy does not offer in `game` what these settings need."""
        policy = policy_for(self.policy, game)
        if self.keep_span and not game.num_keeps:
            raise ValueError(f"{game.title} has no keep actions; use prior_keep_span=0")
        if self.features and not self.span:
            raise ValueError("prior_features shows features of near-best actions only; set prior_span above 0, too")
        if self.features and not isinstance(policy, HasActionFeatures):
            raise ValueError(f"{policy.name} has no action features in {game.title}; use prior_features=False")
        if self.span and not isinstance(policy, HasActionValues):
            raise ValueError(
                f"{policy.name} has no action values in {game.title}; use prior_span=0, which shows only its action"
            )

    def feature_names(self, game: Game) -> list[str]:
        """The names of the action features that a learner observes; empty without `features`."""
        if not self.features:
            return []
        policy = policy_for(self.policy, game)
        return list(policy.features) if isinstance(policy, HasActionFeatures) else []

    def shown(self, view: View) -> NDArray[np.float32]:
        """What a learner observes of the prior, (N, (1 + num_features) * num_actions) float32.

        First one number in [0, 1] for each action (see `span`), then the features, feature by feature: in units of
        `span`, clipped to [-4, 4].

        Raises:
            ValueError: the policy does not offer what is to be shown; see `check`.
        """
        near = np.zeros(view.masks.shape, np.float32)
        if not self.span:
            near[np.arange(len(near)), self.policy.act(view)] = 1.0
            return near
        policy = policy_for(self.policy, view.game)
        if not isinstance(policy, HasActionValues):
            raise ValueError(f"{policy.name} has no action values in {view.game.title}")
        values = policy.action_values(view)
        show_near(values, self.span, self.keep_span or self.span, view.game.num_keeps, near)
        if not self.features:
            return near
        if not isinstance(policy, HasActionFeatures):
            raise ValueError(f"{policy.name} has no action features in {view.game.title}")
        features = policy.action_features(view, values, near > 0.0) / np.float32(self.span)
        np.clip(features, -MOST_SPANS, MOST_SPANS, out=features)
        return np.concatenate([near, features.reshape(len(near), -1)], axis=1)


def make_prior(policy: Policy | None, span: float, keep_span: float, features: bool) -> Prior | None:
    """A `Prior` with these settings, or None if `policy` is None.

    Raises:
        ValueError: `policy` is None, but another setting is not 0 or False.
    """
    if policy is not None:
        return Prior(policy, span, keep_span, features)
    if span or keep_span or features:
        raise ValueError("prior_span, prior_keep_span and prior_features need a prior; use prior='greedy'")
    return None


@kernel
def show_near(
    values: NDArray[np.float64], span: float, keep_span: float, num_keeps: int, shown: NDArray[np.float32]
) -> None:
    """Write into zeros (N, num_actions) how near each action's value is to the highest value of its row.

    1 is the highest value, 0 a value that is lower by `span`, or by `keep_span` for the first `num_keeps` actions.
    """
    for i in range(len(values)):
        best = -np.inf
        for action in range(values.shape[1]):
            best = max(best, values[i, action])
        for action in range(values.shape[1]):
            behind = (best - values[i, action]) / (keep_span if action < num_keeps else span)
            if behind < 1.0:
                shown[i, action] = 1.0 - behind
