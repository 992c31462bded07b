"""Opponents in training: dealt by the stated mix, kept within the cap, never changed."""

import gc
import weakref
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fivedice.agents import load
from fivedice.agents.policies.checkpoint import CheckpointPolicy, save_checkpoint
from fivedice.agents.policies.network import Network, tensor_shapes
from fivedice.agents.training.config import TrainConfig
from fivedice.agents.training.opponents import BASELINES, FIRST_SNAPSHOT, OpponentPool
from fivedice.agents.training.run import Training
from fivedice.envs import load_game
from fivedice.envs.api.table import LEARNER, Lineup, Table
from fivedice.envs.core.batch import Batch

YUM = load_game("yum")
NO_ONE = np.zeros((0, 2), np.int64)
EVENLY = (np.arange(100_000) + 0.5) / 100_000  # uniforms spread evenly, so that shares are exact


def snapshot(steps: int) -> CheckpointPolicy:
    size = YUM.layout(YUM.make_options(2)).size
    generator = np.random.default_rng(steps)
    shapes = tensor_shapes(size, YUM.num_actions(), (4,))
    tensors = {name: generator.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    network = Network(tensors, size, YUM.num_actions(), (4,), "tanh")
    return CheckpointPolicy(f"step-{steps:09d}", YUM, YUM.make_options(2, {}), network, deterministic=False)


def pool_of(mix: dict[str, float], steps: list[int], capacity: int = 10) -> OpponentPool:
    pool = OpponentPool(mix, capacity)
    for taken in steps:
        pool.add(snapshot(taken), taken, NO_ONE)
    return pool


def dealt(pool: OpponentPool) -> dict[str, float]:
    numbers, counts = np.unique(pool.assign(EVENLY), return_counts=True)
    shares = counts / len(EVENLY)
    return {pool.policy(int(number)).name: float(share) for number, share in zip(numbers, shares, strict=True)}


def expected(mix: dict[str, float], taken: list[int], losses: dict[int, tuple[float, float]]) -> dict[str, float]:
    """The share of each name, told from the mix alone; `losses` and games of each snapshot by its steps."""
    floor = mix.get("floor", 0.0)
    weights = {kind: weight for kind, weight in mix.items() if kind != "floor"}
    total = sum(weights.values())
    held = sum(weight for kind, weight in weights.items() if kind in BASELINES)
    if held / total < floor:
        grow, shrink = floor * total / held, (1 - floor) * total / (total - held)
        weights = {kind: weight * (grow if kind in BASELINES else shrink) for kind, weight in weights.items()}
    squares = [((losses.get(steps, (0, 0))[0] + 0.5) / (losses.get(steps, (0, 0))[1] + 1)) ** 2 for steps in taken]
    within = {
        "current": [0.0] * (len(taken) - 1) + [1.0],
        "recent": [float(place >= len(taken) - 3) for place in range(len(taken))],
        "past": [1.0] * len(taken),
        "hard": squares,
    }
    shares: dict[str, float] = defaultdict(float)
    for kind, weight in weights.items():
        if kind in BASELINES:
            shares[kind] += weight / total
        else:
            for steps, part in zip(taken, within[kind], strict=True):
                shares[f"step-{steps:09d}"] += weight / total * part / sum(within[kind])
    return {name: share for name, share in shares.items() if share > 0}


ALL_KINDS = {
    "current": 4,
    "recent": 3,
    "past": 2.5,
    "hard": 5,
    "random": 1,
    "greedy": 2,
    "optimal": 1.5,
    "planner": 0.5,
}


@pytest.mark.parametrize("num_snapshots", [1, 2, 3, 6])
@pytest.mark.parametrize(
    "mix",
    [
        ALL_KINDS,
        ALL_KINDS | {"floor": 0.2},  # less than they have anyway
        ALL_KINDS | {"floor": 0.4},
        ALL_KINDS | {"floor": 1.0},
        {"optimal": 0.5, "hard": 0.3, "floor": 0.75},
        {"greedy": 2, "past": 7, "current": 0, "random": 0, "floor": 0.5},
        {"greedy": 3, "random": 1, "floor": 0.9},
        *({kind: 0.3} for kind in ALL_KINDS),
    ],
)
def test_assign__follows_the_mix(mix: dict[str, float], num_snapshots: int) -> None:
    taken = [100 * number for number in range(num_snapshots)]
    pool = pool_of(mix, taken)
    # The first is lost to most often, the second hardly ever, the third has not been met.
    pool.add_results({"step-000000000": [0.0] * 30 + [0.5] * 10, "step-000000100": [1.0] * 9, "random": [0.0] * 50})
    pool.add_results({"nobody": [0.0] * 99})
    shares = expected(mix, taken, {0: (35.0, 40.0), 100: (0.0, 9.0)})
    assert sum(shares.values()) == pytest.approx(1)
    assert dealt(pool) == pytest.approx(shares, abs=1e-4)


def test_assign__each_entry_stands_for_itself() -> None:
    """Whatever else is dealt with it: one number, one opponent."""
    pool = pool_of(ALL_KINDS | {"floor": 0.3}, [0, 100, 200, 300])
    pool.add_results({"step-000000100": [0.0] * 20})
    uniforms = np.random.default_rng(1).random((200, 3))
    together = pool.assign(uniforms)
    assert together.shape == uniforms.shape
    assert together.dtype == np.int64
    alone = [[int(pool.assign(np.array([[number]]))[0, 0]) for number in row] for row in uniforms]
    assert together.tolist() == alone
    assert len(np.unique(together)) == 4 + len(BASELINES)  # each snapshot and each baseline


def test_tell__fades_by_the_number_of_games() -> None:
    pool = pool_of({"hard": 1, "random": 1}, [0, 100])
    first, second = pool.steps
    pool.add_results({"step-000000000": [1.0, 0.0, 0.5], "random": [1.0]})
    assert pool.results == {first: (3.0, 1.5), BASELINES["random"]: (1.0, 1.0)}
    pool.add_results({"step-000000000": [0.0, 1.0], "step-000000100": [0.25]})
    keeps = 199 / 200
    assert pool.results == {
        first: pytest.approx((3 * keeps**2 + 2, 1.5 * keeps**2 + 1)),
        BASELINES["random"]: (1.0, 1.0),
        second: (1.0, 0.25),
    }
    assert pool.win_rates() == {
        first: pytest.approx((1.5 * keeps**2 + 1) / (3 * keeps**2 + 2)),
        BASELINES["random"]: 1.0,
        second: 0.25,
    }
    pool.add_results({"step-000000000": [0.0] * 3000})
    assert pool.win_rates()[first] < 1e-6  # what was before hardly counts any more


@pytest.mark.parametrize("count", [1, 3, 7, 10])
def test_assign__the_ends_of_the_noise_deal_someone(count: int) -> None:
    mix = {"current": 0.1, "past": 0.7, "random": 1 / 3, "greedy": 1e-9}
    pool = pool_of(mix, list(range(count)))
    edges = np.concatenate([[0.0], pool._shares])
    uniforms = np.clip([edges, np.nextafter(edges, 0), np.nextafter(edges, 1)], 0, 1 - 2.0**-32)
    for number in pool.assign(uniforms).ravel():
        pool.policy(int(number))


def test_baselines__keep_their_numbers() -> None:
    """A stopped run has results and seats by these numbers on disk."""
    assert BASELINES == {"random": 0, "greedy": 1, "optimal": -2, "planner": -3}
    assert (LEARNER, FIRST_SNAPSHOT) == (-1, 2)


@pytest.mark.parametrize("capacity", [2, 3, 5])
def test_add__over_the_cap_lets_go_of_the_one_in_the_closest_company(capacity: int) -> None:
    generator = np.random.default_rng(capacity)
    pool, kept, last = OpponentPool({"past": 1}, capacity), list[int](), 0
    for number in range(40):
        last += int(generator.integers(1, 9)) * 10
        assert pool.following == FIRST_SNAPSHOT + number
        assert pool.add(snapshot(last), last, NO_ONE) == FIRST_SNAPSHOT + number
        kept.append(last)
        if len(kept) > capacity:  # the first of those between whose neighbours there are the fewest steps
            gaps = {kept[place + 1] - kept[place - 1]: place for place in reversed(range(1, len(kept) - 1))}
            del kept[gaps[min(gaps)]]
        assert list(pool.steps.values()) == kept
        names = {number: f"step-{steps:09d}" for number, steps in pool.steps.items()}
        assert {number: policy.name for number, policy in pool.snapshots().items()} == names
        assert {name: pool.policy(number).name for name, number in BASELINES.items()} == {
            name: name for name in BASELINES
        }


def test_add__lets_go_of_results_with_their_policy_only() -> None:
    pool = pool_of({"past": 1}, [0, 100], capacity=2)
    pool.add_results({"step-000000000": [1.0], "step-000000100": [0.5], "greedy": [0.0], "random": [0.25]})
    first, second = pool.steps
    baselines = {BASELINES["greedy"]: (1.0, 0.0), BASELINES["random"]: (1.0, 0.25)}
    pool.add(snapshot(200), 200, in_use=np.array([[LEARNER, 0], [second, LEARNER]]))
    assert pool.results == {first: (1.0, 1.0), second: (1.0, 0.5)} | baselines
    pool.add_results({"step-000000100": [1.0]})  # it has left the pool, but its last game tells, too
    assert pool.results[second][0] > 1.9
    pool.add(snapshot(300), 300, NO_ONE)
    assert pool.results == {first: (1.0, 1.0)} | baselines


def test_add__two_hundred_snapshots_keep_memory_flat_and_span_the_run() -> None:
    pool = OpponentPool({"past": 1}, 10)
    taken: weakref.WeakSet[CheckpointPolicy] = weakref.WeakSet()
    for number in range(200):
        newest = snapshot(number * 1000)
        taken.add(newest)
        pool.add(newest, number * 1000, np.array([[LEARNER, FIRST_SNAPSHOT + number - 1]]))
        pool.add_results({newest.name: [1.0, 0.0]})
        assert len(pool.steps) <= 10
        assert len(pool.results) <= 11
        assert len(pool.snapshots()) <= 11  # one more is still playing
    gc.collect()
    assert len(taken) <= 11
    steps = list(pool.steps.values())
    assert (steps[0], steps[-1]) == (0, 199_000)
    assert max(np.diff(steps)) <= 199_000 / 2
    assert min(steps[1:-1]) < 100_000 < max(steps[1:-1])


def test_add__keeps_whoever_is_still_playing() -> None:
    pool = pool_of({"past": 1}, [0, 100], capacity=2)
    first, second = pool.steps
    third = pool.add(snapshot(200), 200, in_use=np.array([[LEARNER, second]]))
    assert list(pool.steps) == [first, third]
    assert pool.policy(second).name == "step-000000100"
    assert second not in pool.assign(EVENLY)  # but is dealt to nobody
    pool.add(snapshot(300), 300, NO_ONE)
    with pytest.raises(KeyError):
        pool.policy(second)


def test_restore__goes_on_as_if_nothing_had_been() -> None:
    mix = {"current": 1, "past": 1, "hard": 1, "random": 1}
    pool, again = pool_of(mix, [0, 100, 250], capacity=3), OpponentPool(mix, 3)
    again.add(snapshot(0), 0, NO_ONE)  # a training has one from its start
    pool.add_results({"step-000000100": [1.0, 0.0, 1 / 3]})
    again.restore(pool.snapshots(), pool.steps, pool.following, pool.results)
    assert again.results == pool.results
    for one in (pool, again):
        one.add(snapshot(300), 300, NO_ONE)
    assert again.steps == pool.steps
    assert again.following == pool.following
    np.testing.assert_array_equal(again.assign(EVENLY), pool.assign(EVENLY))
    assert {number: policy.name for number, policy in again.snapshots().items()} == {
        number: policy.name for number, policy in pool.snapshots().items()
    }


def test_restore__forgets_the_snapshots_of_before() -> None:
    pool, again = pool_of({"past": 1}, [0, 100, 200, 300], capacity=2), OpponentPool({"past": 1}, 2)
    stale = again.add(snapshot(7), 7, NO_ONE)
    newest = {number: pool.policy(number) for number in pool.steps if number != stale}
    again.restore(newest, {number: pool.steps[number] for number in newest}, pool.following)
    assert set(again.snapshots()) == set(again.steps) == set(newest)


def test_snapshots__are_read_only() -> None:
    for tensor in snapshot(1).network.tensors.values():
        assert not tensor.flags.writeable


def test_snapshots__sample_their_actions_and_loaded_policies_do_not(tmp_path: Path) -> None:
    batch, sampling = Batch(YUM, 3000), snapshot(1)
    batch.reset(seed=1, script=[1, 2, 3, 4, 6])
    view = batch.view()
    logits = sampling.network.logits(view.observations[:1])[0].astype(np.float64)
    chances = np.where(view.masks[0] == 1, np.exp(logits - logits.max()), 0.0)
    chances /= chances.sum()
    shares = np.bincount(sampling.act(view), minlength=len(chances)) / len(view)
    assert abs(shares - chances).max() < 0.05
    path = tmp_path / "one.safetensors"
    save_checkpoint(path, sampling.card(), sampling.network)
    assert set(load(path).act(view)) == {chances.argmax()}
    drawn = load(path, deterministic=False).act(view)
    assert drawn.tolist() == sampling.act(view).tolist()


def test_training__lets_snapshots_sample_and_what_it_evaluates_not(tmp_path: Path) -> None:
    config = TrainConfig(n_envs=4, n_steps=8, batch_size=16, net_arch=(4,), torch_threads=1, pool_size=2)
    training = Training(config, tmp_path, lambda progress: None)
    assert [policy.deterministic for policy in training.pool.snapshots().values()] == [False]
    assert training.policy().deterministic
    assert training.env.table.lineup is training.pool
    assert training.pool.capacity == 2


def test_table__deals_anew_only_between_games() -> None:
    pool = pool_of({"past": 1}, [0])
    assert isinstance(pool, Lineup)
    table = Table(YUM, 40, opponents=pool)
    table.reset(seed=1)
    first = next(iter(pool.steps))
    newcomer = None
    generator, seen = np.random.default_rng(1), set()
    for step in range(80):
        if step == 5:
            newcomer = pool.add(snapshot(100), 100, table.seated)
        before = table.seated.copy()
        masks = table.batch.masks
        table.step((generator.random(masks.shape) * masks).argmax(axis=1))
        np.testing.assert_array_equal(table.seated, before)
        finished = np.flatnonzero(table.batch.terminated)
        table.restart(finished)
        seen.update(table.seated[finished].ravel().tolist())
        going_on = np.setdiff1d(np.arange(40), finished)
        np.testing.assert_array_equal(table.seated[going_on], before[going_on])
    assert seen == {LEARNER, first, newcomer}


@pytest.mark.parametrize(
    ("mix", "capacity", "said"),
    [
        ({"curent": 1.0}, 10, "'curent' is not a known kind of opponent; did you mean 'current'?"),
        ({"past": -1.0}, 10, "opponents.past=-1.0 is not possible; use a finite number of at least 0"),
        ({"past": float("nan")}, 10, "opponents.past=nan is not possible"),
        ({"past": float("inf")}, 10, "opponents.past=inf is not possible"),
        ({"past": 0.0, "greedy": 0.0}, 10, "all weights in opponents are 0"),
        ({}, 10, "all weights in opponents are 0"),
        (
            {"past": 1.0, "floor": 0.1},
            10,
            "opponents.floor=0.1 needs a baseline; give random or greedy or optimal or planner or own",
        ),
        ({"past": 1.0, "floor": 1.5}, 10, "opponents.floor=1.5 is not possible; use a number from 0 to 1"),
        ({"greedy": 1.0, "floor": -0.1}, 10, "opponents.floor=-0.1 is not possible; use a number from 0 to 1"),
        ({"greedy": 1.0, "floor": float("nan")}, 10, "opponents.floor=nan is not possible"),
        ({"past": 1.0}, 1, "pool_size=1 is too small; use at least 2"),
    ],
)
def test_pool__wrong_settings_are_refused(mix: dict[str, Any], capacity: int, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        OpponentPool(mix, capacity)


def test_assign__without_a_snapshot_says_so() -> None:
    with pytest.raises(ValueError, match="the pool has no snapshot yet; add one before the first game"):
        OpponentPool({"current": 1.0, "random": 1.0}, 10).assign(EVENLY)
    assert set(OpponentPool({"random": 1.0}, 10).assign(EVENLY)) == {BASELINES["random"]}
