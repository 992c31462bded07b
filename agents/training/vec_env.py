"""One seat of N games as Stable-Baselines3's VecEnv."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from fivedice.agents.policies.prior import MOST_SPANS, make_prior
from fivedice.envs import load_game
from fivedice.envs.api.table import Opponents, Outcome, Table, load_policy
from fivedice.envs.core.batch import Rows, find_illegal, one_for_each
from fivedice.envs.core.canonical import canonical_view
from fivedice.envs.core.spec import Game
from fivedice.envs.core.view import Policy

MASKED = (
    "Choose by action_masks(), as MaskablePPO of sb3-contrib does; "
    "evaluate_policy and MaskableEvalCallback that do so are in sb3_contrib.common.maskable"
)


class SeatVecEnv(VecEnv):
    """N games, the learner in one seat of each, policies in the others, for ``MaskablePPO(policy, env)``.

    Observations are float32 (N, size). A reward is everything that the learner's seat was paid from one of its
    decisions to its next, times `reward_scale`. A finished game is followed by the next at once, as Stable-Baselines3
    has it: its info holds ``terminal_observation``, ``score`` (points), ``rank`` (1 for a win, alone or shared),
    ``win`` (1, a share of 1, or 0), ``seat``, ``opponents`` (names), and ``episode`` for the learner's own log. A game
    that its limit of turns cut short has ``cut_short``. It has been paid like any other, so ``TimeLimit.truncated``
    stays False: there is nothing to come that the learner should estimate and add.

    Args:
        game: what is played, or its name.
        num_envs: how many games.
        opponents, seat, num_players, reward, options: as for `Table`.
        reward_scale: what a reward is multiplied with.
        canonical_form: whether positions that come to the same are shown as one (`fivedice.envs.core.canonical`).
        Actions are
            then those of the positions shown.
        prior: a policy, or its name, of which each observation ends with what it would do, (size + num_actions,): 1 for
            its action, else 0. Not together with `canonical_form`.
        prior_span, prior_keep_span: more than 0 shows others too, going down from 1 to 0 for an action that is worth so
            much less; the second for sets of dice to keep, 0 for the same.
        prior_features: whether observations go on with the features of each action (`Prior.shown`).

    Attributes:
        margin_coef: a reward on top, for a curriculum from points to wins: this much for each point by which the
            learner's lead over the mean of the others grows (its own points, alone at the table). It may be changed at
            any time; 0 at first.
    """

    def __init__(
        self,
        game: str | Game,
        num_envs: int,
        *,
        opponents: Opponents = "random",
        seat: int | str = "random",
        num_players: int | None = None,
        reward: str | None = None,
        reward_scale: float = 1.0,
        canonical_form: bool = False,
        prior: str | Path | Policy | None = None,
        prior_span: float = 0.0,
        prior_keep_span: float = 0.0,
        prior_features: bool = False,
        **options: Any,
    ) -> None:
        self.game = load_game(game) if isinstance(game, str) else game
        self.table = Table(
            self.game, num_envs, opponents=opponents, seat=seat, num_players=num_players, reward=reward, **options
        )
        if not isinstance(reward_scale, (int, float)) or not np.isfinite(reward_scale):
            raise ValueError(f"reward_scale={reward_scale!r} is not possible; use a finite number")
        self.reward_scale = reward_scale
        policy = None if prior is None else load_policy(prior)
        self.canonical_form, self.prior = (
            canonical_form,
            make_prior(policy, prior_span, prior_keep_span, prior_features),
        )
        if self.prior is not None:
            self.prior.check(self.game)
        if canonical_form and self.game.canonical is None:
            raise ValueError(f"{self.game.title} has no canonical form; leave canonical_form at False")
        if canonical_form and prior is not None:
            raise ValueError(
                "a prior shows its actions, which have other numbers in canonical forms; leave out one of them"
            )
        self.margin_coef = 0.0
        self.render_mode = None
        low, high = self.table.batch.layout.bounds()
        actions = spaces.Discrete(self.table.batch.num_actions)
        if self.prior is not None:
            features = len(self.prior.feature_names(self.game)) * int(actions.n)
            low, high = np.pad(low, (0, int(actions.n))), np.pad(high, (0, int(actions.n)), constant_values=1.0)
            low = np.pad(low, (0, features), constant_values=-MOST_SPANS)
            high = np.pad(high, (0, features), constant_values=MOST_SPANS)
        super().__init__(num_envs, spaces.Box(low, high, dtype=np.float32), actions)
        self._seed: int | None = None
        self._actions = np.zeros(num_envs, np.int64)
        self.returns = np.zeros(num_envs)
        self.lengths = np.zeros(num_envs, np.int64)
        self.margins = np.zeros(num_envs)  # the lead that `margin_coef` has paid for

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Play that seed's games from the next reset on; row i plays its game i."""
        self._seed = seed
        return [seed] * self.num_envs

    def reset(self) -> VecEnvObs:
        """Start every game, (N, size) float32."""
        self.table.reset(self._seed)
        self._seed = None
        self.returns[:] = 0.0
        self.lengths[:] = 0
        self.margins[:] = 0.0
        return self.show()

    def step_async(self, actions: NDArray[Any]) -> None:
        """Take the actions that `step_wait` carries out."""
        self.table.require_reset("step")
        actions = one_for_each(actions, self.num_envs)
        masks = self._shown.masks if self.canonical_form else self.table.batch.masks
        row = find_illegal(self.table.batch.all_rows, actions, masks)
        if row >= 0:
            raise ValueError(f"game {row}: {self._explain_illegal(row, int(actions[row]))}. {MASKED}")
        self._actions = self._shown.names(actions) if self.canonical_form else actions

    def step_wait(self) -> VecEnvStepReturn:
        """Carry out the actions, let the others play, and start the next game where one is over."""
        table, batch = self.table, self.table.batch
        table.step(self._actions)
        rewards = (table.paid * self.reward_scale).astype(np.float32)
        margins = table.margins()
        rewards += (self.margin_coef * (margins - self.margins)).astype(np.float32)
        self.margins = margins
        self.returns += rewards
        self.lengths += 1
        over = batch.over
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        finished = np.flatnonzero(over)
        if len(finished):
            outcome, cut_short = table.outcome(finished), batch.truncated[finished].tolist()
            last = self._last_observations(finished, outcome)
            for i, row in enumerate(finished):
                infos[row] = {
                    "terminal_observation": last[i],
                    "TimeLimit.truncated": False,
                    "cut_short": cut_short[i],
                    "score": float(outcome.scores[i]),
                    "rank": int(outcome.ranks[i]),
                    "win": float(outcome.wins[i]),
                    "seat": int(table.seats[row]),
                    "opponents": table.opponents(int(row)),
                    "episode": {"r": float(self.returns[row]), "l": int(self.lengths[row])},
                }
            self.returns[finished] = 0.0
            self.lengths[finished] = 0
            self.margins[finished] = 0.0
            table.restart(finished)
        return self.show(), rewards, over, infos

    def show(self) -> NDArray[np.float32]:
        """The decisions that wait, (N, size) float32."""
        batch = self.table.batch
        if self.prior is not None:
            return np.concatenate([batch.observations, self.prior.shown(batch.view())], axis=1)
        if not self.canonical_form:
            return batch.observations.copy()
        self._shown = canonical_view(self.game, batch.options, batch.states, self.table.seats)
        return self._shown.observations

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions, bool (N, num_actions)."""
        self.table.require_reset("action_masks")
        masks = self._shown.masks if self.canonical_form else self.table.batch.masks
        return masks.astype(np.bool_)

    def env_method(self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any) -> Any:
        """Only ``"action_masks"``, which sb3-contrib asks for: one array (N, num_actions), not a list of rows."""
        if method_name != "action_masks":
            raise AttributeError(f"the games of this environment have no method {method_name!r}; use 'action_masks'")
        masks = self.action_masks()
        return masks if indices is None else masks[list(self._get_indices(indices))]

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """An attribute of this object, once for each game that `indices` names."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Not possible: the games have no attributes of their own."""
        raise AttributeError(f"{attr_name!r} cannot be set: the games share one array")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        """Never."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """None: a thousand games are not looked at."""
        return [None] * self.num_envs

    def close(self) -> None:
        """Nothing to release."""

    def _explain_illegal(self, row: int, action: int) -> str:
        batch = self.table.batch
        if not self.canonical_form:
            return batch.explain_illegal(row, action)
        names = [
            f"{legal} ({self.game.name_action(batch.states[row], batch.options, self._shown.actions[row, legal])})"
            for legal in np.flatnonzero(self._shown.masks[row])
        ]
        return f"action {action} is not legal in the canonical form that is shown; legal are {', '.join(names)}"

    def _last_observations(self, finished: Rows, outcome: Outcome) -> NDArray[np.float32]:
        if self.prior is not None:
            shape = self.observation_space.shape or ()
            return np.pad(outcome.observations, ((0, 0), (0, shape[0] - outcome.observations.shape[1])))
        if not self.canonical_form:
            return outcome.observations
        batch, seats = self.table.batch, self.table.seats[finished]
        return canonical_view(self.game, batch.options, batch.states[finished], seats).observations

    def _get_indices(self, indices: VecEnvIndices) -> Iterable[int]:
        return range(self.num_envs) if indices is None else [indices] if isinstance(indices, int) else indices
