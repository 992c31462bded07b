"""The opponents of the learner in training: earlier snapshots of itself, and fixed baselines.

For each other seat of each game one opponent is drawn at random. The weights of these kinds are settings:

- ``current``: the newest snapshot;
- ``recent``: one of the newest three snapshots, with equal probability;
- ``past``: any snapshot in the pool, with equal probability;
- ``hard``: any snapshot in the pool, with probability proportional to the squared loss rate of the learner against it,
  over about the latest 200 games ("prioritized fictitious self-play" of Vinyals et al., "Grandmaster level in StarCraft
  II using multi-agent reinforcement learning", Nature 575, 2019);
- ``random``, ``greedy``, ``planner``, ``optimal``: the baselines. They keep the learner from forgetting how to beat
  them;
- ``own``: one of the user's own policies, with equal probability.

All but the snapshots together have a probability of at least ``floor``, whatever the weights. Snapshots never change,
and a game keeps its opponents until it ends.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.policies.checkpoint import CheckpointPolicy
from fivedice.agents.policies.registry import load
from fivedice.envs.core.spec import unknown_name
from fivedice.envs.core.view import Policy

SNAPSHOTS = ("current", "recent", "past", "hard")
BASELINES = {
    "random": 0,
    "greedy": 1,
    "optimal": -2,
    "planner": -3,
}  # policy numbers; snapshots have the numbers from 2, -1 is the learner, and own policies have -10, -11, …
OWN = "own"
FIRST_OWN = -10
KINDS = (*SNAPSHOTS, *BASELINES, OWN)
FIRST_SNAPSHOT = 2
FLOOR = "floor"
RECENT = 3  # the number of snapshots for ``recent``
LATELY = 200.0  # games; in the loss rate for ``hard``, the weight of a game falls by a factor of e every 200 games


class OpponentPool:
    """A pool of opponents: a `Lineup` of baselines and snapshots.

    Args:
        mix: the weight of each kind of opponent, at least 0; the weights need not sum to 1. The key ``floor`` is the
            least probability of all kinds but the snapshots together, from 0 to 1.
        capacity: the greatest number of snapshots, at least 2. When the pool is full, the snapshot whose two neighbours
            in time are closest to each other is removed, so the rest stay spread over the whole run. The first and the
            newest snapshot are never removed.
        own: the policies of the kind ``own``. All names differ from each other and from those of the other policies.

    Raises:
        ValueError: an argument is out of range, or a kind of opponent is unknown.
    """

    def __init__(self, mix: Mapping[str, float], capacity: int, own: Sequence[Policy] = ()) -> None:
        floor = mix.get(FLOOR, 0.0)
        if not 0 <= floor <= 1:
            raise ValueError(f"opponents.floor={floor} is not possible; use a number from 0 to 1")
        mix = {kind: weight for kind, weight in mix.items() if kind != FLOOR}
        for kind, weight in mix.items():
            if kind not in KINDS:
                raise ValueError(unknown_name("kind of opponent", kind, KINDS))
            if not 0 <= weight < float("inf"):
                raise ValueError(f"opponents.{kind}={weight} is not possible; use a finite number of at least 0")
        if sum(mix.values()) <= 0:
            raise ValueError("all weights in opponents are 0; give at least one kind of opponent a positive weight")
        if mix.get(OWN) and not own:
            raise ValueError(f"opponents.own={mix[OWN]}, but no policy is named; name some in opponents.own_policies")
        if capacity < 2:
            raise ValueError(f"pool_size={capacity} is too small; use at least 2")
        self.kinds = [kind for kind in KINDS if mix.get(kind, 0) > 0]
        weights = np.array([mix[kind] for kind in self.kinds], np.float64)
        self._shares = np.cumsum(
            _with_floor(weights / weights.sum(), [kind not in SNAPSHOTS for kind in self.kinds], floor)
        )
        self.capacity = capacity
        self._own = [FIRST_OWN - place for place in range(len(own))]
        self._lasting: dict[int, Policy] = {number: load(name) for name, number in BASELINES.items()}
        self._lasting |= dict(zip(self._own, own, strict=True))
        self._policies = dict(self._lasting)
        self.steps: dict[int, int] = {}  # for each snapshot, oldest first: the learner's steps when it was taken
        self.results: dict[
            int, tuple[float, float]
        ] = {}  # for each opponent that was met: weighted numbers of games and wins
        self._next = FIRST_SNAPSHOT

    def policy(self, number: int) -> Policy:
        """The policy with a number."""
        return self._policies[number]

    def snapshots(self) -> dict[int, CheckpointPolicy]:
        """The snapshots in the pool and those that still play a game, by number."""
        return {
            number: policy
            for number, policy in self._policies.items()
            if number not in self._lasting and isinstance(policy, CheckpointPolicy)
        }

    def add(self, snapshot: CheckpointPolicy, steps: int, in_use: NDArray[np.int64]) -> int:
        """Add a snapshot, and delete those that are neither in the pool nor in use.

        Args:
            snapshot: the policy. It must not change later.
            steps: the learner's steps when it was taken.
            in_use: int64, the numbers of all policies in running games.

        Returns:
            The number of the snapshot.
        """
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
        kept = {*self._lasting, *self.steps, *in_use.ravel().tolist()}
        self._policies = {number: policy for number, policy in self._policies.items() if number in kept}
        self.results = {number: result for number, result in self.results.items() if number in self._policies}
        return number

    def add_results(self, wins: Mapping[str, Sequence[float]]) -> None:
        """Record results of the learner.

        Args:
            wins: for the name of each opponent, the learner's share of the win in each game that ended: 1 for a win,
                1 / k if k players tie for it, else 0.
        """
        names = {policy.name: number for number, policy in self._policies.items()}
        for name, shares in wins.items():
            if name in names:  # a snapshot that has just finished its last game may be deleted already
                games, won = self.results.get(names[name], (0.0, 0.0))
                fading = (1 - 1 / LATELY) ** len(shares)
                self.results[names[name]] = (games * fading + len(shares), won * fading + float(np.sum(shares)))

    def win_rates(self) -> dict[int, float]:
        """The learner's recent win rate against each opponent that it has met, by number."""
        return {number: won / games for number, (games, won) in self.results.items()}

    def restore(
        self,
        policies: Mapping[int, CheckpointPolicy],
        steps: Mapping[int, int],
        following: int,
        results: Mapping[int, tuple[float, float]] | None = None,
    ) -> None:
        """Restore the state of a saved pool.

        Args:
            policies: the snapshots by number.
            steps: see `steps`.
            following: the number of the next snapshot.
            results: see `results`.
        """
        self._policies = self._lasting | dict(policies)
        self.steps = dict(steps)
        self.results = dict(results or {})
        self._next = following

    @property
    def following(self) -> int:
        """The number of the next snapshot."""
        return self._next

    def assign(self, uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
        """Draw an opponent for each entry of `uniforms`, with the probabilities of the mix.

        Args:
            uniforms: float64 of any shape, independent uniform random numbers in [0, 1).

        Returns:
            int64 of the same shape, the numbers of the policies.

        Raises:
            ValueError: the mix has a kind of snapshot, but the pool is empty.
        """
        kinds = np.minimum(np.searchsorted(self._shares, uniforms, side="right"), len(self.kinds) - 1)
        starts = np.concatenate([[0.0], self._shares])
        within = (uniforms - starts[kinds]) / (starts[kinds + 1] - starts[kinds])  # uniform in [0, 1), given the kind
        snapshots = np.array(list(self.steps))
        if not len(snapshots) and not set(SNAPSHOTS).isdisjoint(self.kinds):
            raise ValueError("the pool has no snapshot yet; add one before the first game")
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
            elif kind == OWN:
                numbers[dealt] = np.array(self._own)[(within[dealt] * len(self._own)).astype(np.int64)]
            else:
                numbers[dealt] = BASELINES[kind]
        return numbers

    def _difficulties(self) -> NDArray[np.float64]:
        """The weight of each snapshot for ``hard``, oldest first. One virtual tie each keeps the weights above 0."""
        played = np.array([self.results.get(number, (0.0, 0.0)) for number in self.steps])
        losses: NDArray[np.float64] = 1 - (played[:, 1] + 0.5) / (played[:, 0] + 1)
        return losses**2


def _with_floor(shares: NDArray[np.float64], is_fixed: list[bool], floor: float) -> NDArray[np.float64]:
    """The probabilities (K,) of the kinds. The sum of those of fixed policies is raised to `floor` if it is lower."""
    fixed = np.array(is_fixed)
    held = float(shares[fixed].sum())
    if held >= floor:
        return shares
    if not held:
        known = " or ".join((*BASELINES, OWN))
        raise ValueError(f"opponents.floor={floor} needs a baseline; give {known} a positive weight")
    rest = 1 - held
    scaled: NDArray[np.float64] = np.where(fixed, shares * floor / held, shares * (1 - floor) / rest if rest else 0.0)
    return scaled
