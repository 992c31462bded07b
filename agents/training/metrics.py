"""The scalars that a training run logs after each rollout."""

import time
from collections import defaultdict, deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat
from torch.utils.tensorboard import SummaryWriter

from fivedice.agents.training.group import ALONE, Group
from fivedice.agents.training.opponents import OpponentPool
from fivedice.agents.training.torch_policy import ResidualExtractor

LOGGED = ("score", "win", "opponents", "episode")  # of the info of a game that ended


class TensorBoardFile(TensorBoardOutputFormat):
    """Writes scalars for TensorBoard. From step `purge_step` on, TensorBoard ignores scalars in earlier files."""

    def __init__(self, folder: str, purge_step: int | None) -> None:
        self.writer = SummaryWriter(log_dir=folder, purge_step=purge_step)
        self._is_closed = False
        self._folder = Path(folder)

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """Write scalars.

        Raises:
            FileNotFoundError: the folder does not exist any more. TensorBoard would notice it in a thread, too late.
        """
        if not self._folder.is_dir():
            raise FileNotFoundError(
                f"the folder {self._folder} was removed while its run was going on, so the run cannot be saved; "
                "start it again"
            )
        super().write(key_values, key_excluded, step)


def make_logger(folder: Path, group: Group = ALONE, purge_step: int | None = None) -> Logger:
    """The logger of a run. It writes for TensorBoard in worker 0, and nothing in the others.

    Args:
        folder: the folder of the run.
        group: the workers of the run.
        purge_step: the first step of a resumed run. TensorBoard ignores what the stopped run logged from this step on.
    """
    return Logger(str(folder), [TensorBoardFile(str(folder), purge_step)] if group.rank == 0 else [])


class Watch(BaseCallback):
    """A callback that collects the games that end during a rollout, and logs their results.

    It also passes these results to the opponent pool.

    Args:
        pool: the opponent pool.
        feature_names: the names of the prior's action features; empty without them.
        group: the workers of the run. The logged numbers and the results for the pool are those of all workers.

    Attributes:
        score: the mean score of the games that ended in the last rollout with such games; NaN before.
    """

    model: MaskablePPO

    def __init__(self, pool: OpponentPool, feature_names: Sequence[str], group: Group = ALONE) -> None:
        super().__init__()
        self._pool, self._feature_names, self._group = pool, feature_names, group
        self.score = float("nan")
        self._ended: list[list[dict[str, Any]]] = []  # for each step, the games of this worker that ended
        self._games: list[dict[str, Any]] = []  # of all workers
        self._episodes: list[dict[str, Any]] = []  # what Stable-Baselines3 knew of earlier games
        self._started = 0.0

    def _on_rollout_start(self) -> None:
        self._ended = []
        self._episodes = list(self.model.ep_info_buffer or [])
        self._started = time.monotonic()

    def _on_step(self) -> bool:
        infos, dones = self.locals["infos"], self.locals["dones"]
        self._ended.append([{name: infos[row][name] for name in LOGGED} for row in np.flatnonzero(dones)])
        return True

    def _on_rollout_end(self) -> None:
        record = self.logger.record
        self._games = [
            game for step in zip(*self._group.gather(self._ended), strict=True) for ended in step for game in ended
        ]
        if self._group.size > 1:
            episodes = [*self._episodes, *(game["episode"] for game in self._games)]
            self.model.ep_info_buffer = deque(episodes, maxlen=self.model._stats_window_size)
        if self._games:
            self.score = float(np.mean([game["score"] for game in self._games]))
            record("rollout/score", self.score)
            record("rollout/return", float(np.mean([game["episode"]["r"] for game in self._games])))
        wins, by_name = defaultdict(list), defaultdict(list)
        for game in self._games:
            for opponent in sorted(set(game["opponents"])):
                by_name[opponent].append(game["win"])
                wins["snapshots" if opponent.startswith("step-") else opponent].append(game["win"])
        for opponent, shares in wins.items():
            record(f"rollout/win_rate_vs_{opponent}", float(np.mean(shares)))
        self._pool.add_results(by_name)
        record("pool/size", len(self._pool.steps))
        rates = [rate for number, rate in self._pool.win_rates().items() if number in self._pool.steps]
        if rates:
            record("pool/least_win_rate", min(rates))
        record("rollout/entropy_ratio", self._entropy_ratio())
        if self._feature_names:
            for name, weight in zip(self._feature_names, self._weights(), strict=True):
                record(f"features/{name}", weight)
        steps = self.model.n_steps * self.training_env.num_envs * self._group.size
        record("time/rollout_decisions_per_second", steps / (time.monotonic() - self._started))

    def _weights(self) -> list[float]:
        """The weight of each action feature, averaged over the last observation of each environment."""
        buffer, extractor = self.model.rollout_buffer, self.model.policy.mlp_extractor
        with torch.no_grad():
            observations = torch.as_tensor(buffer.observations[-1], device=self.model.device)
            weights = cast(ResidualExtractor, extractor).weights(observations).mean(dim=0)
        self._group.average(weights)
        found: list[float] = weights.tolist()
        return found

    def _entropy_ratio(self) -> float:
        """The mean of policy entropy / log(number of legal actions), over decisions with two or more legal actions."""
        buffer = self.model.rollout_buffer
        with torch.no_grad():
            observations = torch.as_tensor(buffer.observations[-1], device=self.model.device)
            masks = buffer.action_masks[-1].astype(bool)
            distribution = self.model.policy.get_distribution(observations, masks)
            entropy = distribution.entropy().cpu().numpy()  # type: ignore[union-attr]  # categorical distributions have one
        legal = masks.reshape(len(entropy), -1).sum(axis=1)
        choice = legal > 1
        ratios = entropy[choice] / np.log(legal[choice])
        if self._group.size == 1:
            return float(ratios.mean())
        total, count = self._group.sum(np.array([ratios.sum(), len(ratios)], np.float64))
        return float(total / count)
