"""The policy that a learner starts from, and what it is shown of it (`fivedice.agents.training.torch_policy`)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.policies.baselines import GREEDY, OfEachGame
from fivedice.envs.core.dice import KEEP_ALL
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Game
from fivedice.envs.core.view import Policy, View

PRIORS = {"greedy": GREEDY}
MOST_SPANS = 4.0  # of a feature


@dataclass(frozen=True)
class Prior:
    """A policy to start from.

    Args:
        policy: which.
        span: 0 shows its action alone. More shows every action: 1 for the one that it holds for the best, going down in
            a straight line to 0 for one that it expects to be worth that much less.
        keep_span: the same for sets of dice to keep; 0 takes `span` for these, too. Greedy play knows much better which
            dice to keep than what its other choices leave for later.
        features: whether to show the policy's `action_features`, too, of each action that is shown.
    """

    policy: Policy
    span: float = 0.0
    keep_span: float = 0.0
    features: bool = False

    def check(self, game: Game) -> None:
        """Refuse, with a ValueError, a game of which the policy cannot tell what is to be shown."""
        policy = self._of(game)
        if self.keep_span and "throws_left" not in (game.rules.STATE.names or ()):
            raise ValueError(f"no turn of {game.title} has throws between which dice are kept; use prior_keep_span=0")
        if self.features and not self.span:
            raise ValueError(
                "prior_features shows what actions that are near the best leave; say how near by prior_span"
            )
        if self.features and not hasattr(policy, "action_features"):
            raise ValueError(f"{policy.name} has no features of actions in {game.title}; use prior_features=False")
        if self.span and not hasattr(policy, "action_values"):
            raise ValueError(
                f"{policy.name} does not tell what its actions are worth in {game.title}; use prior_span=0, "
                "which shows the best one alone"
            )

    def feature_names(self, game: Game) -> list[str]:
        """The features of each action that are shown beside what the prior holds of it."""
        return list(self._of(game).features) if self.features else []  # type: ignore[attr-defined]  # see `check`

    def _of(self, game: Game) -> Policy:
        return self.policy.of(game) if isinstance(self.policy, OfEachGame) else self.policy

    def shown(self, view: View) -> NDArray[np.float32]:
        """What a learner sees of each action, (N, (1 + features) * num_actions) float32.

        First a number from 0 to 1 for each, then each feature of each, in spans and within 4 of them.
        """
        near = np.zeros(view.masks.shape, np.float32)
        if not self.span:
            near[np.arange(len(near)), self.policy.act(view)] = 1.0
            return near
        policy = self._of(view.game)
        values = policy.action_values(view)  # type: ignore[attr-defined]  # see `check`
        show_near(values, self.span, self.keep_span or self.span, near)
        if not self.features:
            return near
        features = policy.action_features(view, values, near > 0.0) / np.float32(self.span)  # type: ignore[attr-defined]  # as above
        np.clip(features, -MOST_SPANS, MOST_SPANS, out=features)
        return np.concatenate([near, features.reshape(len(near), -1)], axis=1)


def make_prior(policy: Policy | None, span: float, keep_span: float, features: bool) -> Prior | None:
    """A prior, or None for no policy.

    Raises:
        ValueError: there is no policy of which the others could be shown.
    """
    if policy is not None:
        return Prior(policy, span, keep_span, features)
    if span or keep_span or features:
        raise ValueError(
            "prior_span, prior_keep_span and prior_features say what is shown of a prior; use prior='greedy'"
        )
    return None


@kernel
def show_near(values: NDArray[np.float64], span: float, keep_span: float, shown: NDArray[np.float32]) -> None:
    """Write into zeros (N, num_actions) how near each action's value is to the highest of its row, in spans."""
    for i in range(len(values)):
        best = -np.inf
        for action in range(values.shape[1]):
            best = max(best, values[i, action])
        for action in range(values.shape[1]):
            behind = (best - values[i, action]) / (keep_span if action < KEEP_ALL else span)
            if behind < 1.0:
                shown[i, action] = 1.0 - behind
