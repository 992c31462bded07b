"""Who the learner meets in training: snapshots of itself, old and new, and fixed baselines.

Every seat of every game is dealt its opponent by the same stated mix:

- ``current``: the newest snapshot;
- ``past``: any snapshot in the pool, all equally likely;
- ``random``, ``greedy``: the baselines, so that what beats the last self does not forget how to beat them.

Snapshots never change. A game keeps the opponents that it began with.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.checkpoint import CheckpointPolicy
from fivedice.agents.policy import load
from fivedice.envs.spec import unknown_name
from fivedice.envs.view import Policy

SNAPSHOTS = ("current", "past")
BASELINES = ("random", "greedy")
FIRST_SNAPSHOT = len(BASELINES)


class OpponentPool:
    """A `Lineup` of baselines and snapshots.

    Args:
        mix: the weight of each kind of opponent; they need not sum to 1.
        capacity: how many snapshots to keep at most. When there are more, the one goes whose two neighbours are
            closest together in steps, so that the pool spans the whole run; the first and the newest stay.
    """

    def __init__(self, mix: Mapping[str, float], capacity: int) -> None:
        for kind, weight in mix.items():
            if kind not in (*SNAPSHOTS, *BASELINES):
                raise ValueError(unknown_name("kind of opponent", kind, (*SNAPSHOTS, *BASELINES)))
            if not 0 <= weight < float("inf"):
                raise ValueError(f"opponents.{kind}={weight} is not a weight; use a number from 0 up")
        if sum(mix.values()) <= 0:
            raise ValueError("every weight in opponents is 0; give at least one kind a positive weight")
        if capacity < 2:
            raise ValueError(f"pool_size={capacity} is too small; use at least 2")
        self.kinds = [kind for kind in (*SNAPSHOTS, *BASELINES) if mix.get(kind, 0) > 0]
        weights = np.array([mix[kind] for kind in self.kinds], np.float64)
        self._shares = np.cumsum(weights / weights.sum())
        self.capacity = capacity
        self._policies: dict[int, Policy] = {number: load(name) for number, name in enumerate(BASELINES)}
        self.steps: dict[int, int] = {}  # of each snapshot in the pool, oldest first: the learner's steps when taken
        self._next = FIRST_SNAPSHOT

    def policy(self, number: int) -> Policy:
        """The policy with this number."""
        return self._policies[number]

    def snapshots(self) -> dict[int, CheckpointPolicy]:
        """The snapshots that still play or may be dealt, by number."""
        return {number: policy for number, policy in self._policies.items() if isinstance(policy, CheckpointPolicy)}

    def add(self, snapshot: CheckpointPolicy, steps: int, in_use: NDArray[np.int64]) -> int:
        """Take in a snapshot and let go of those that are neither in the pool nor `in_use`; returns its number."""
        number = self._next
        self._next += 1
        self._policies[number] = snapshot
        self.steps[number] = steps
        if len(self.steps) > self.capacity:
            numbers = list(self.steps)
            gaps = [
                self.steps[after] - self.steps[before] for before, after in zip(numbers[:-2], numbers[2:], strict=True)
            ]
            del self.steps[numbers[1 + int(np.argmin(gaps))]]
        kept = {*range(FIRST_SNAPSHOT), *self.steps, *in_use.ravel().tolist()}
        self._policies = {number: policy for number, policy in self._policies.items() if number in kept}
        return number

    def restore(self, policies: Mapping[int, CheckpointPolicy], steps: Mapping[int, int], following: int) -> None:
        """Become what a pool was when it was saved."""
        self._policies = {number: self._policies[number] for number in range(FIRST_SNAPSHOT)} | dict(policies)
        self.steps = dict(steps)
        self._next = following

    @property
    def following(self) -> int:
        """The number that the next snapshot will get."""
        return self._next

    def assign(self, noise: NDArray[np.float64]) -> NDArray[np.int64]:
        """A policy number for each entry of `noise`, by the mix."""
        kinds = np.minimum(np.searchsorted(self._shares, noise, side="right"), len(self.kinds) - 1)
        starts = np.concatenate([[0.0], self._shares])
        within = (noise - starts[kinds]) / (starts[kinds + 1] - starts[kinds])  # uniform again, given the kind
        snapshots = np.array(list(self.steps))
        if not len(snapshots) and not set(SNAPSHOTS).isdisjoint(self.kinds):
            raise ValueError("there is no snapshot to play against yet; add one first")
        numbers = np.empty(noise.shape, np.int64)
        for place, kind in enumerate(self.kinds):
            dealt = kinds == place
            if kind == "current":
                numbers[dealt] = snapshots[-1]
            elif kind == "past":
                numbers[dealt] = snapshots[(within[dealt] * len(snapshots)).astype(np.int64)]
            else:
                numbers[dealt] = BASELINES.index(kind)
        return numbers
