"""One seat of N games side by side, as Gymnasium's vector environment."""

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from fivedice.envs import load_game
from fivedice.envs.api.table import Opponents, Table
from fivedice.envs.core.option import is_whole
from fivedice.envs.core.spec import Game, check_reset_options

Floats = NDArray[np.float32]


class SeatVectorEnv(VectorEnv[Floats, NDArray[np.int64], NDArray[Any]]):
    """What `SeatEnv` is, N times, as ``gymnasium.make_vec("fivedice/Yum-v0", num_envs=256)`` makes it.

    ``infos["action_mask"]`` is int8 (N, num_actions). The rows of finished games are marked in ``infos["_score"]``,
    with ``score``, ``rank`` and ``seat`` as arrays and ``opponents`` as lists of names.

    Args:
        game, opponents, seat, num_players, reward, options: as for `SeatEnv`.
        num_envs: how many games.
        autoreset_mode: what happens to a finished game, one of Gymnasium's modes or its value:

            - ``"NextStep"`` (Gymnasium's default): the next step ignores that row's action, starts the next game, and
              returns its first observation with reward 0.
            - ``"SameStep"``: the next game starts at once; the last observation of the old one is in
              ``infos["final_obs"]``, and how it ended in ``infos["final_info"]`` too, where Gymnasium has it.
            - ``"Disabled"``: nothing, until ``reset(options={"reset_mask": finished})``.
        copy: whether returned arrays are the caller's to keep. False saves the copying: the next step then
            overwrites what has changed, so do not write into them.
    """

    def __init__(
        self,
        num_envs: int,
        game: str | Game,
        opponents: Opponents = "random",
        seat: int | str = "random",
        num_players: int | None = None,
        reward: str | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        **options: Any,
    ) -> None:
        modes = [mode.value for mode in AutoresetMode]
        if autoreset_mode not in modes and not isinstance(autoreset_mode, AutoresetMode):
            raise ValueError(f"autoreset_mode={autoreset_mode!r} is not possible; use {' or '.join(map(repr, modes))}")
        if not is_whole(num_envs) or num_envs < 1:
            raise ValueError(f"num_envs={num_envs!r} is not possible; use a whole number from 1 up")
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"autoreset_mode": self.autoreset_mode, "render_modes": []}
        self.num_envs, self.copy = num_envs, copy
        self.game = load_game(game) if isinstance(game, str) else game
        self.table = Table(
            self.game, num_envs, opponents=opponents, seat=seat, num_players=num_players, reward=reward, **options
        )
        low, high = self.table.batch.layout.bounds()
        self.single_observation_space = spaces.Box(low, high, dtype=np.float32)
        self.single_action_space = spaces.Discrete(self.table.batch.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """Start every game, or those that ``options["reset_mask"]`` (N,) bool names.

        Args:
            seed: one seed for all; row i plays that seed's game i. None goes on with the seed in use.
            options: ``"reset_mask"``, or ``"script"`` as for `SeatEnv`.
        """
        super().reset(seed=seed)
        options = {} if options is None else options
        check_reset_options(options, ("script", "reset_mask"))
        if "reset_mask" in options:
            mask = np.asarray(options["reset_mask"])
            if mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
                raise ValueError(f"reset_mask is {mask.dtype} {mask.shape}; use bool ({self.num_envs},)")
            if seed is not None:
                raise ValueError("seed starts every game anew; it cannot go with reset_mask")
            self.table.restart(np.flatnonzero(mask))
        else:
            self.table.reset(seed, options.get("script", ()))
        return self._kept(self.table.batch.observations), self._infos()

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Floats, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Carry out an action in each game; see the class for what happens to finished ones.

        Raises:
            ValueError: an action is not legal; no game is changed.
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
                fields["final_obs"] = _objects(list(outcome.observations))
                table.restart(finished)
            for name, values in fields.items():
                infos[name] = np.zeros(self.num_envs, values.dtype)
                infos[name][finished] = values
                infos[f"_{name}"] = over.copy()
            if self.autoreset_mode is AutoresetMode.SAME_STEP:
                infos["final_info"] = {name: value for name, value in infos.items() if "final_obs" not in name}
                infos["_final_info"] = over.copy()
        return (
            self._kept(batch.observations),
            rewards,
            terminated,
            truncated,
            infos | self._infos(),
        )

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions, bool (N, num_actions)."""
        self.table.require_reset("action_masks")
        return self.table.batch.masks.astype(np.bool_)

    def _infos(self) -> dict[str, Any]:
        return {"action_mask": self._kept(self.table.batch.masks)}

    def _kept(self, array: NDArray[Any]) -> NDArray[Any]:
        return array.copy() if self.copy else array


def _objects(items: list[Any]) -> NDArray[np.object_]:
    array = np.empty(len(items), np.object_)
    array[:] = items
    return array
