"""Who the learner meets in training: snapshots of itself, old and new, and fixed baselines.

Every seat of every game is dealt its opponent by the same stated mix:

- ``current``: the newest snapshot;
- ``recent``: one of the newest three, all equally likely;
- ``past``: any snapshot in the pool, all equally likely;
- ``hard``: any snapshot, the likelier the more often the learner has lost to it lately: in proportion to the square of
  the learner's share of losses ("prioritized fictitious self-play" of Vinyals et al., "Grandmaster level in StarCraft
  II using multi-agent reinforcement learning", Nature 575, 2019);
- ``random``, ``greedy``, ``optimal``: the baselines, so that what beats the last self does not forget how to beat them.

The baselines together get a share of at least ``floor``, whatever the weights. Snapshots never change. A game keeps the
opponents that it began with.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.policies.checkpoint import CheckpointPolicy
from fivedice.agents.policies.registry import load
from fivedice.envs.core.spec import unknown_name
from fivedice.envs.core.view import Policy

SNAPSHOTS = ("current", "recent", "past", "hard")
BASELINES = {"random": 0, "greedy": 1, "optimal": -2}  # their numbers; snapshots count from 2 up, and -1 is the learner
FIRST_SNAPSHOT = 2
FLOOR = "floor"
RECENT = 3  # snapshots
LATELY = 200.0  # games: what is older than so many of an opponent's games hardly counts for ``hard``


class OpponentPool:
    """A `Lineup` of baselines and snapshots.

    Args:
        mix: the weight of each kind of opponent, which need not sum to 1, and ``floor``, the least share of all seats
            that the baselines are dealt.
        capacity: how many snapshots to keep at most. When there are more, the one goes whose two neighbours are
            closest together in steps, so that the pool spans the whole run; the first and the newest stay.
    """

    def __init__(self, mix: Mapping[str, float], capacity: int) -> None:
        floor = mix.get(FLOOR, 0.0)
        if not 0 <= floor <= 1:
            raise ValueError(f"opponents.floor={floor} is not a share; use a number from 0 to 1")
        mix = {kind: weight for kind, weight in mix.items() if kind != FLOOR}
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
        self._shares = np.cumsum(
            _with_floor(weights / weights.sum(), [kind in BASELINES for kind in self.kinds], floor)
        )
        self.capacity = capacity
        self._policies: dict[int, Policy] = {number: load(name) for name, number in BASELINES.items()}
        self.steps: dict[int, int] = {}  # of each snapshot in the pool, oldest first: the learner's steps when taken
        self.results: dict[int, tuple[float, float]] = {}  # of each that was met: games, wins, as they count lately
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
        kept = {*BASELINES.values(), *self.steps, *in_use.ravel().tolist()}
        self._policies = {number: policy for number, policy in self._policies.items() if number in kept}
        self.results = {number: result for number, result in self.results.items() if number in self._policies}
        return number

    def tell(self, wins: Mapping[str, Sequence[float]]) -> None:
        """Take in the learner's shares of the win in games that ended, by the names of the others at the table."""
        names = {policy.name: number for number, policy in self._policies.items()}
        for name, shares in wins.items():
            if name in names:  # the one who let go of its last game a moment ago is not
                games, won = self.results.get(names[name], (0.0, 0.0))
                fading = (1 - 1 / LATELY) ** len(shares)
                self.results[names[name]] = (games * fading + len(shares), won * fading + float(np.sum(shares)))

    def win_rates(self) -> dict[int, float]:
        """The learner's share of the wins lately against each opponent that it has met, by number."""
        return {number: won / games for number, (games, won) in self.results.items()}

    def restore(
        self,
        policies: Mapping[int, CheckpointPolicy],
        steps: Mapping[int, int],
        following: int,
        results: Mapping[int, tuple[float, float]] | None = None,
    ) -> None:
        """Become what a pool was when it was saved."""
        self._policies = {number: self._policies[number] for number in BASELINES.values()} | dict(policies)
        self.steps = dict(steps)
        self.results = dict(results or {})
        self._next = following

    @property
    def following(self) -> int:
        """The number that the next snapshot will get."""
        return self._next

    def assign(self, uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
        """A policy number for each entry of `uniforms`, by the mix."""
        kinds = np.minimum(np.searchsorted(self._shares, uniforms, side="right"), len(self.kinds) - 1)
        starts = np.concatenate([[0.0], self._shares])
        within = (uniforms - starts[kinds]) / (starts[kinds + 1] - starts[kinds])  # uniform again, given the kind
        snapshots = np.array(list(self.steps))
        if not len(snapshots) and not set(SNAPSHOTS).isdisjoint(self.kinds):
            raise ValueError("there is no snapshot to play against yet; add one first")
        numbers = np.empty(uniforms.shape, np.int64)
        for place, kind in enumerate(self.kinds):
            dealt = kinds == place
            if kind == "current":
                numbers[dealt] = snapshots[-1]
            elif kind in ("recent", "past"):
                among = snapshots[-RECENT:] if kind == "recent" else snapshots
                numbers[dealt] = among[(within[dealt] * len(among)).astype(np.int64)]
            elif kind == "hard":
                harder = np.cumsum(self._difficulties())
                place = np.searchsorted(harder / harder[-1], within[dealt], side="right")
                numbers[dealt] = snapshots[np.minimum(place, len(snapshots) - 1)]
            else:
                numbers[dealt] = BASELINES[kind]
        return numbers

    def _difficulties(self) -> NDArray[np.float64]:
        """The weight of each snapshot for ``hard``, oldest first. A drawn game is added to each, and so none is 0."""
        played = np.array([self.results.get(number, (0.0, 0.0)) for number in self.steps])
        losses: NDArray[np.float64] = 1 - (played[:, 1] + 0.5) / (played[:, 0] + 1)
        return losses**2


def _with_floor(shares: NDArray[np.float64], is_baseline: list[bool], floor: float) -> NDArray[np.float64]:
    """The shares (K,), those of baselines raised in proportion to sum to `floor` if they sum to less."""
    baselines = np.array(is_baseline)
    held = float(shares[baselines].sum())
    if held >= floor:
        return shares
    if not held:
        raise ValueError(f"opponents.floor={floor} has no baseline to deal; give {' or '.join(BASELINES)} a weight")
    rest = 1 - held
    scaled: NDArray[np.float64] = np.where(
        baselines, shares * floor / held, shares * (1 - floor) / rest if rest else 0.0
    )
    return scaled
