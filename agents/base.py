"""The policy that a learner starts from, and what it is shown of it (`fivedice.agents.residual`)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.baselines import GREEDY, OfEachGame
from fivedice.envs.dice import KEEP_ALL
from fivedice.envs.kernel import kernel
from fivedice.envs.spec import Game
from fivedice.envs.view import Policy, View

BASES = {"greedy": GREEDY}


@dataclass(frozen=True)
class Base:
    """A policy to start from.

    Args:
        policy: which.
        span: 0 shows its action alone. More shows every action: 1 for the one that it holds for the best, going down in
            a straight line to 0 for one that it expects to be worth that much less.
        keep_span: the same for sets of dice to keep; 0 takes `span` for these, too. Greedy play knows much better which
            dice to keep than what its other choices leave for later.
    """

    policy: Policy
    span: float = 0.0
    keep_span: float = 0.0

    def check(self, game: Game) -> None:
        """Refuse, with a ValueError, a game of which the policy cannot tell what is to be shown."""
        policy = self.policy.of(game) if isinstance(self.policy, OfEachGame) else self.policy
        if self.span and not hasattr(policy, "action_values"):
            raise ValueError(
                f"{policy.name} does not tell what its actions are worth in {game.title}; use base_span=0, "
                "which shows the best one alone"
            )

    def shown(self, view: View) -> NDArray[np.float32]:
        """A number from 0 to 1 for each action of each row of `view`, (N, num_actions) float32."""
        shown = np.zeros(view.masks.shape, np.float32)
        if self.span:
            keep_span = self.keep_span or self.span
            show_near(self.policy.action_values(view), self.span, keep_span, shown)  # type: ignore[attr-defined]  # see `check`
        else:
            shown[np.arange(len(shown)), self.policy.act(view)] = 1.0
        return shown


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
