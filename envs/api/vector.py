"""One seat of each of N games, as a Gymnasium vector environment."""

from typing import Any, TypeAlias

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from fivedice.envs import load_game
from fivedice.envs.api.single import RENDER_MODES, check_modes, observation_space
from fivedice.envs.api.table import Opponents, Table
from fivedice.envs.core.chance import checked_seed
from fivedice.envs.core.option import is_whole
from fivedice.envs.core.spec import Game, check_keywords, check_reset_options
from fivedice.envs.display.drawing import draw, require_rasteriser

Observations: TypeAlias = Any  # float32 (N, size), or a dict of two arrays; see `mask_in`


class SeatVectorEnv(VectorEnv[Observations, NDArray[np.int64], NDArray[Any]]):
    """N games of `SeatEnv` in one environment. ``gymnasium.make_vec("fivedice/Yum-v0", num_envs=256)`` makes it.

    All arrays have one row for each game: observations float32 (N, size), rewards float64 (N,), ``terminated`` and
    ``truncated`` bool (N,). ``infos["action_mask"]`` is int8 (N, num_actions), 1 if legal. A finished
    game has no legal action. Its mask has a 1 for action 0 only, because code that samples from a mask, or takes the
    highest value in it, fails if the mask is all 0.

    If a step ends games, its infos also have the arrays ``"score"`` (float64), ``"rank"``, ``"seat"`` (int64) and
    ``"opponents"`` (object, lists of names), each of shape (N,), with the values of `SeatEnv`; and
    ``"illegal_action"`` (object, str) if an illegal action ended a game. As in other vector environments,
    ``infos["_score"]``, ``infos["_rank"]`` and so on, bool (N,), mark the rows that have a value.

    Args:
        num_envs: the number of games N, at least 1.
        game, opponents, seat, num_players, reward, illegal_action, illegal_reward, mask_in, options: as for `SeatEnv`.
        render_mode: as for `SeatEnv`, but `render` returns a tuple with one text or picture for each game.
        autoreset_mode: what happens to a finished game, as ``gymnasium.vector.AutoresetMode`` or its value. Default:
            ``"NextStep"``, as in Gymnasium.

            - ``"NextStep"``: the next step ignores the action of this row, starts the next game, and returns its first
              observation with reward 0.
            - ``"SameStep"``: the next game starts in the same step, and the observation is its first one. The last
              observation of the finished game is in ``infos["final_obs"]``, and its score, rank, seat and opponents
              are also in ``infos["final_info"]``.
            - ``"Disabled"``: the game stays over until ``reset(options={"reset_mask": finished})``.
        copy: True: return copies. False: return internal arrays (faster); the next step overwrites them, so do not keep
            or change them. Default: True.

    Raises:
        ValueError: an argument is out of range, the value of an option is unknown, or a policy does not exist or cannot
            play the game.
        TypeError: a keyword is unknown.
        ModuleNotFoundError: ``render_mode="rgb_array"`` without pylunasvg.
    """

    def __init__(
        self,
        num_envs: int,
        game: str | Game,
        opponents: Opponents = "random",
        seat: int | str = "random",
        num_players: int | None = None,
        reward: str | None = None,
        render_mode: str | None = None,
        illegal_action: str = "terminate",
        illegal_reward: float = -1.0,
        mask_in: str = "info",
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        **options: Any,
    ) -> None:
        self.game = load_game(game) if isinstance(game, str) else game
        check_keywords(SeatVectorEnv, self.game, options)
        check_modes(render_mode, mask_in)
        modes = [mode.value for mode in AutoresetMode]
        if autoreset_mode not in modes and not isinstance(autoreset_mode, AutoresetMode):
            raise ValueError(f"autoreset_mode={autoreset_mode!r} is not possible; use {' or '.join(map(repr, modes))}")
        if not is_whole(num_envs) or num_envs < 1:
            raise ValueError(f"num_envs={num_envs!r} is not possible; use a whole number of at least 1")
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"autoreset_mode": self.autoreset_mode, "render_modes": list(RENDER_MODES), "render_fps": 2}
        self.num_envs, self.copy = num_envs, copy
        self.render_mode, self.mask_in = render_mode, mask_in
        if render_mode == "rgb_array":
            require_rasteriser()
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
        self.single_observation_space = observation_space(self.table, mask_in)
        self.single_action_space = spaces.Discrete(self.table.batch.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Start a game in every row, or in some rows, and play up to the seat's first decision.

        Args:
            seed: a non-negative integer: row i plays game i of this seed. None: each row plays its next game of the
                current seed; the first reset takes a seed from the operating system.
            options: ``"script"``: as for `SeatEnv`, the same faces in every row. ``"reset_mask"``: bool (N,), start
                games only in these rows; not together with a seed, and a script then has no effect.

        Returns:
            The observations and the infos of all rows.

        Raises:
            ValueError: the seed or a face is out of range, the mask has a wrong dtype or shape or comes with a seed, or
                a key is probably misspelled.
        """
        seed = checked_seed(seed)  # Gymnasium accepts only int
        super().reset(seed=seed)
        options = {} if options is None else options
        check_reset_options(options, ("script", "reset_mask"))
        if "reset_mask" in options:
            mask = np.asarray(options["reset_mask"])
            if mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
                raise ValueError(
                    f"reset_mask has dtype {mask.dtype} and shape {mask.shape}; use bool and ({self.num_envs},)"
                )
            if seed is not None:
                raise ValueError("a seed starts every game, so it cannot be used with reset_mask; omit one of them")
            self.table.restart(np.flatnonzero(mask))
        else:
            self.table.reset(seed, options.get("script", ()))
        return self._observations(), self._infos()

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Observations, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Apply an action in each game, and play up to the seat's next decision or the end of the game.

        Args:
            actions: (N,) integers, one action for each game. With ``"NextStep"``, the actions of finished games are
                ignored.

        Returns:
            The observations, the rewards, terminated, truncated, and the infos.

        Raises:
            ValueError: the shape or dtype is wrong, an action is illegal with ``illegal_action="raise"``, or a game is
                over and must be reset first (``"Disabled"``). No game changes.
            RuntimeError: `reset` was not called before.
        """
        table, batch = self.table, self.table.batch
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,):
            raise ValueError(f"actions have shape {actions.shape}; use ({self.num_envs},)")
        over_before = np.flatnonzero(batch.over)
        if len(over_before) and self.autoreset_mode is AutoresetMode.DISABLED:
            raise ValueError(
                f"the games in rows {over_before.tolist()} are over; call reset(options={{'reset_mask': …}}) first"
            )
        live = np.flatnonzero(~batch.over)
        table.step(actions[live], live)
        if len(over_before):
            table.restart(over_before)
        rewards, terminated, truncated, over = (
            table.paid.copy(),
            batch.terminated.copy(),
            batch.truncated.copy(),
            batch.over,
        )
        infos: dict[str, Any] = {}
        finished = np.flatnonzero(over)
        if len(finished):
            outcome = table.outcome(finished)
            opponents = [table.opponents(int(row)) for row in finished]
            batch.observations[finished] = outcome.observations
            fields = {
                "score": outcome.scores,
                "rank": outcome.ranks,
                "seat": table.seats[finished],
                "opponents": _objects(opponents),
            }
            if self.autoreset_mode is AutoresetMode.SAME_STEP:
                fields["final_obs"] = _objects(self._final(outcome.observations))
                table.restart(finished)
            else:
                batch.masks[finished, 0] = 1
            for name, values in fields.items():
                self._add(infos, name, values, finished)
            if table.illegal:
                rows = np.fromiter(table.illegal, np.int64)
                self._add(infos, "illegal_action", _objects(list(table.illegal.values())), rows)
            if self.autoreset_mode is AutoresetMode.SAME_STEP:
                infos["final_info"] = {name: value for name, value in infos.items() if "final_obs" not in name}
                infos["_final_info"] = over.copy()
        return (
            self._observations(),
            rewards,
            terminated,
            truncated,
            infos | self._infos(),
        )

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions, bool (N, num_actions), as in ``infos["action_mask"]``.

        Raises:
            RuntimeError: `reset` was not called before.
        """
        self.table.require_reset("action_masks")
        return self.table.batch.masks.astype(np.bool_)

    def render(self) -> tuple[Any, ...] | None:
        """Render every game, as `SeatEnv.render` does.

        Returns:
            A tuple with one text (``"ansi"``) or picture (``"rgb_array"``) for each game. All pictures have the same
            size. Without a render mode None.

        Raises:
            RuntimeError: `reset` was not called before.
        """
        self.table.require_reset("render")
        if self.render_mode is None:
            return None
        batch = self.table.batch
        if self.render_mode == "ansi":
            return tuple(batch.render(row) for row in range(self.num_envs))
        return tuple(draw(self.game, state, batch.options).pixels() for state in batch.states)

    def _add(self, infos: dict[str, Any], name: str, values: NDArray[Any], rows: NDArray[np.int64]) -> None:
        """Add the values of some rows to the infos, in Gymnasium's form."""
        infos[name] = np.full(self.num_envs, None if values.dtype == np.object_ else 0, values.dtype)
        infos[name][rows] = values
        infos[f"_{name}"] = np.zeros(self.num_envs, np.bool_)
        infos[f"_{name}"][rows] = True

    def _observations(self) -> Observations:
        batch = self.table.batch
        observations = self._kept(batch.observations)
        return observations if self.mask_in == "info" else {"observation": observations, **self._infos()}

    def _final(self, observations: NDArray[np.float32]) -> list[Any]:
        """The last observations of finished games, one by one."""
        if self.mask_in == "info":
            return list(observations)
        mask = np.zeros(self.table.batch.num_actions, np.int8)
        mask[0] = 1
        return [{"observation": observation, "action_mask": mask.copy()} for observation in observations]

    def _infos(self) -> dict[str, Any]:
        return {"action_mask": self._kept(self.table.batch.masks)}

    def _kept(self, array: NDArray[Any]) -> NDArray[Any]:
        return array.copy() if self.copy else array


def _objects(items: list[Any]) -> NDArray[np.object_]:
    array = np.empty(len(items), np.object_)
    array[:] = items
    return array
