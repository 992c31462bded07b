"""The Stable-Baselines3 vector environment: the learner has one seat in each of N games."""

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
from fivedice.envs.core.spec import Game, check_keywords
from fivedice.envs.core.view import Policy
from fivedice.envs.display.drawing import draw, require_rasteriser

MASKED = (
    "Choose legal actions only, which action_masks() returns: train with MaskablePPO of sb3-contrib, and evaluate with "
    "evaluate_policy or MaskableEvalCallback of sb3_contrib.common.maskable"
)


class SeatVecEnv(VecEnv):
    """A vector environment of N games for Stable-Baselines3; policies play the other seats.

    Use it with ``MaskablePPO("MlpPolicy", env)`` of sb3-contrib, because not every action is legal. One step of a game
    runs from one decision of the learner to its next. Its reward is the sum of all rewards of the learner's seat in
    between, times `reward_scale`. Observations are float32 (N, size), actions are integers (N,), rewards are float32
    (N,).

    When a game ends, the next one starts at once, as Stable-Baselines3 expects. The info dictionary of the step has
    these keys then; in all other steps it is empty:

    - ``"terminal_observation"``: float32 (size,), the last observation of the game that ended;
    - ``"score"``: float, the final score of the learner;
    - ``"rank"``: int, the place of the learner, 1 for a win, alone or tied;
    - ``"win"``: float, 1.0 for a win, 1 / k if k players tie for it, else 0.0;
    - ``"seat"``: int, the seat of the learner;
    - ``"opponents"``: the names of the policies in the other seats;
    - ``"episode"``: ``"r"``, the sum of the rewards, and ``"l"``, the number of steps, for Stable-Baselines3's log;
    - ``"cut_short"``: bool, whether the game's limit of turns ended it;
    - ``"TimeLimit.truncated"``: always False. A game that was cut short has had its final rewards. Treat it as a
      terminal state, without bootstrapping a value;
    - ``"illegal_action"``: only if an illegal action ended the game, a sentence that says why it is illegal.
      ``"score"`` is then the points so far, ``"rank"`` the last place, and ``"win"`` 0.0.

    Args:
        game: the game or its name.
        num_envs: the number N of games, at least 1.
        opponents: the policies in the other seats: a policy, its name or file for all of them; a list with one for each
            other seat, in turn order after the learner; or a `Lineup`, which draws opponents for every game.
        seat: the learner's seat, from 0, or ``"random"`` for a new seat in every game.
        num_players: the number of players; None for the game's default.
        reward: ``"win"``, ``"score"`` or ``"margin"``; None for ``"win"``, or ``"score"`` with one player.
        render_mode: ``"rgb_array"``: `render` returns a picture of all games, and `get_images` one of each; needs
            ``pip install "fivedice[render]"``. None for no rendering.
        illegal_action: what happens at an illegal action. ``"raise"``: `step_async` raises a ValueError and no game
            changes, because a learner that gets the masks chooses an illegal action only by mistake. ``"terminate"``:
            the game ends as a loss.
        illegal_reward: with ``illegal_action="terminate"``, the reward of an illegal action.
        reward_scale: every reward is multiplied by this finite number.
        canonical_form: whether to show positions in canonical form: equivalent positions get the same observation
            (`fivedice.envs.core.canonical`). Observations, masks and actions are those of the canonical form then. Not
            every game has one.
        prior: a policy or its name. Its action, one-hot (num_actions,), is appended to each observation. Not together
            with `canonical_form`. None for no prior.
        prior_span: if above 0, other actions get a number too: 1 for the best, falling linearly to 0 for one worth this
            much less. 0 shows only the prior's action.
        prior_keep_span: replaces `prior_span` for keep actions; 0 means the same span.
        prior_features: whether to append the features of each action, too (`Prior.shown`).
        **options: the game's options by name.

    Attributes:
        margin_coef: extra reward (shaping): this much per point gained on the others' mean score (per own point with
            one player). It is 0.0 at the start and may be changed between steps.
        first_game: row i plays the game ``first_game + i`` of the seed. It is 0 at the start and may be changed before
            `reset`.
        returns: float64 (N,), the sum of the rewards in each running game.
        lengths: int64 (N,), the number of steps in each running game.

    Raises:
        ValueError: an argument is out of range, the game has no canonical form, or arguments exclude each other.
        TypeError: a keyword is unknown.
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
        render_mode: str | None = None,
        illegal_action: str = "raise",
        illegal_reward: float = -1.0,
        reward_scale: float = 1.0,
        canonical_form: bool = False,
        prior: str | Path | Policy | None = None,
        prior_span: float = 0.0,
        prior_keep_span: float = 0.0,
        prior_features: bool = False,
        **options: Any,
    ) -> None:
        self.game = load_game(game) if isinstance(game, str) else game
        check_keywords(SeatVecEnv, self.game, options)
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode={render_mode!r} is not possible; use 'rgb_array' or None")
        self.table = Table(
            self.game,
            num_envs,
            opponents=opponents,
            seat=seat,
            num_players=num_players,
            reward=reward,
            illegal_action=illegal_action,
            illegal_reward=illegal_reward,
            **options,
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
                "prior and canonical_form cannot be combined, because actions have other numbers in canonical form; "
                "leave out one of them"
            )
        self.margin_coef = 0.0
        self.first_game = 0
        self.render_mode = render_mode
        if render_mode == "rgb_array":
            require_rasteriser()
        low, high = self.table.batch.layout.bounds()
        actions = spaces.Discrete(self.table.batch.num_actions)
        if self.prior is not None:
            features = len(self.prior.feature_names(self.game)) * int(actions.n)
            low, high = np.pad(low, (0, int(actions.n))), np.pad(high, (0, int(actions.n)), constant_values=1.0)
            low = np.pad(low, (0, features), constant_values=-MOST_SPANS)
            high = np.pad(high, (0, features), constant_values=MOST_SPANS)
        super().__init__(num_envs, spaces.Box(low, high, dtype=np.float32), actions)
        self._seed: int | None = None
        self._actions = self._chosen = np.zeros(num_envs, np.int64)
        self.returns = np.zeros(num_envs)
        self.lengths = np.zeros(num_envs, np.int64)
        self.margins = np.zeros(num_envs)  # the lead up to which `margin_coef` has been paid

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Set the seed of the games that the next `reset` starts. Row i starts with game ``first_game + i`` of it.

        Args:
            seed: the seed, or None to continue with the next games of the current seed.

        Returns:
            The seed, once for each game.
        """
        self._seed = seed
        return [seed] * self.num_envs

    def reset(self) -> VecEnvObs:
        """Start N new games.

        Returns:
            float32 (N, size), the learner's first observation in each game.
        """
        self.table.reset(self._seed, first_game=self.first_game)
        self._seed = None
        self.returns[:] = 0.0
        self.lengths[:] = 0
        self.margins[:] = 0.0
        return self.show()

    def step_async(self, actions: NDArray[Any]) -> None:
        """Set the actions of the next `step_wait`.

        Args:
            actions: integers (N,), one action for each game.

        Raises:
            ValueError: an action is illegal (unless ``illegal_action="terminate"``), or there is not one integer for
                each game.
            RuntimeError: `reset` has not been called.
        """
        self.table.require_reset("step")
        actions = one_for_each(actions, self.num_envs)
        masks = self._shown.masks if self.canonical_form else self.table.batch.masks
        row = find_illegal(self.table.batch.all_rows, actions, masks)
        if row >= 0 and not self.table.ends_illegal:
            raise ValueError(f"game {row}: {self._explain_illegal(row, int(actions[row]))}. {MASKED}")
        self._chosen = actions
        self._actions = self._shown.names(actions) if self.canonical_form else actions

    def step_wait(self) -> VecEnvStepReturn:
        """Play the actions and the turns of the opponents up to the learner's next decision in each game.

        Where a game ends, the next one starts.

        Returns:
            Observations, float32 (N, size); rewards, float32 (N,); whether the game ended, bool (N,); and a list of N
            info dictionaries, as described above.
        """
        table, batch = self.table, self.table.batch
        chosen = self._chosen
        table.step(self._actions, explain=lambda row, _: self._name_illegal(row, int(chosen[row])))
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
            for i, row in enumerate(finished.tolist()):
                infos[row] = {
                    "terminal_observation": last[i],
                    "TimeLimit.truncated": False,
                    "cut_short": cut_short[i],
                    "score": float(outcome.scores[i]),
                    "rank": int(outcome.ranks[i]),
                    "win": float(outcome.wins[i]),
                    "seat": int(table.seats[row]),
                    "opponents": table.opponents(row),
                    "episode": {"r": float(self.returns[row]), "l": int(self.lengths[row])},
                }
                if row in table.illegal:
                    infos[row]["illegal_action"] = table.illegal[row]
            self.returns[finished] = 0.0
            self.lengths[finished] = 0
            self.margins[finished] = 0.0
            table.restart(finished)
        return self.show(), rewards, over, infos

    def show(self) -> NDArray[np.float32]:
        """The learner's current observations, float32 (N, size)."""
        batch = self.table.batch
        if self.prior is not None:
            return np.concatenate([batch.observations, self.prior.shown(batch.view())], axis=1)
        if not self.canonical_form:
            return batch.observations.copy()
        self._shown = canonical_view(self.game, batch.options, batch.states, self.table.seats)
        return self._shown.observations

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions: bool (N, num_actions), True if legal.

        Raises:
            RuntimeError: `reset` has not been called.
        """
        self.table.require_reset("action_masks")
        masks = self._shown.masks if self.canonical_form else self.table.batch.masks
        return masks.astype(np.bool_)

    def env_method(self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any) -> Any:
        """Call a method of the games; only ``"action_masks"`` exists, which sb3-contrib calls.

        Returns:
            bool (N, num_actions), or the rows that `indices` selects.

        Raises:
            AttributeError: another method was asked for.
        """
        if method_name != "action_masks":
            raise AttributeError(f"the games of SeatVecEnv have no method {method_name!r}; use 'action_masks'")
        masks = self.action_masks()
        return masks if indices is None else masks[list(self._get_indices(indices))]

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """An attribute of this environment, once for each game that `indices` selects."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Not supported: the games have no attributes of their own.

        Raises:
            AttributeError: always.
        """
        raise AttributeError(f"{attr_name!r} cannot be set for single games; set it on the SeatVecEnv itself")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        """False for each game: the games are never wrapped."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """A picture of each game, uint8 (height, width, 3); None without a render mode."""
        if self.render_mode is None:
            return [None] * self.num_envs
        batch = self.table.batch
        return [draw(batch.game, state, batch.options).pixels() for state in batch.states]

    def close(self) -> None:
        """Does nothing, because there is nothing to release."""

    def _explain_illegal(self, row: int, action: int) -> str:
        batch = self.table.batch
        if not self.canonical_form:
            return batch.explain_illegal(row, action)
        names = [
            f"{legal} ({self.game.name_action(batch.states[row], batch.options, self._shown.actions[row, legal])})"
            for legal in np.flatnonzero(self._shown.masks[row])
        ]
        return f"{self._name_illegal(row, action)}; legal are {', '.join(names)}"

    def _name_illegal(self, row: int, action: int) -> str:
        if not self.canonical_form:
            return self.table.batch.name_illegal(row, action)
        return f"action {action} is not legal in the canonical form that is shown"

    def _last_observations(self, finished: Rows, outcome: Outcome) -> NDArray[np.float32]:
        if self.prior is not None:
            shape = self.observation_space.shape or ()
            return np.pad(outcome.observations, ((0, 0), (0, shape[0] - outcome.observations.shape[1])))
        if not self.canonical_form:
            return outcome.observations
        batch, seats = self.table.batch, self.table.seats[finished]
        last = canonical_view(self.game, batch.options, batch.states[finished], seats).observations
        last[:, batch.layout.places.get("mover", slice(0))] = 0.0  # no seat is to move, also after an illegal action
        return last

    def _get_indices(self, indices: VecEnvIndices) -> Iterable[int]:
        return range(self.num_envs) if indices is None else [indices] if isinstance(indices, int) else indices
