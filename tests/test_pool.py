"""Opponents in training: dealt by the stated mix, kept within the cap, never changed."""

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from fivedice.agents.checkpoint import CheckpointPolicy
from fivedice.agents.network import Network, tensor_shapes
from fivedice.agents.pool import BASELINES, FIRST_SNAPSHOT, OpponentPool
from fivedice.envs import load_game
from fivedice.envs.table import LEARNER, Lineup, Table

YUM = load_game("yum")
NO_ONE = np.zeros((0, 2), np.int64)
EVENLY = (np.arange(100_000) + 0.5) / 100_000  # noise spread evenly, so that shares are exact


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


def test_assign__follows_the_mix() -> None:
    pool = pool_of({"current": 4, "past": 3, "random": 1, "greedy": 2}, [0, 100, 200])
    dealt = np.bincount(pool.assign(EVENLY[:, None])[:, 0]) / len(EVENLY)
    first, second, newest = pool.steps
    names = {number: pool.policy(number).name for number in range(len(dealt))}
    assert names == {
        0: "random",
        1: "greedy",
        first: "step-000000000",
        second: "step-000000100",
        newest: "step-000000200",
    }
    # "past" is any snapshot, the newest too.
    expected = {0: 0.1, 1: 0.2, first: 0.1, second: 0.1, newest: 0.4 + 0.1}
    np.testing.assert_allclose(dealt, [expected[number] for number in range(len(dealt))], atol=1e-4)


def dealt(pool: OpponentPool) -> dict[str, float]:
    numbers, counts = np.unique(pool.assign(EVENLY), return_counts=True)
    shares = counts / len(EVENLY)
    return {pool.policy(int(number)).name: float(share) for number, share in zip(numbers, shares, strict=True)}


def test_assign__recent_is_one_of_the_newest_three() -> None:
    pool = pool_of({"recent": 1}, [0, 100, 200, 300, 400])
    expected = {f"step-000000{steps}": pytest.approx(1 / 3, abs=1e-4) for steps in (200, 300, 400)}
    assert dealt(pool) == expected
    assert dealt(pool_of({"recent": 1}, [0])) == {"step-000000000": 1}


def test_assign__hard_is_by_the_square_of_losses_lately() -> None:
    pool = pool_of({"hard": 1}, [0, 100, 200])
    assert dealt(pool) == pytest.approx({f"step-000000{steps}": 1 / 3 for steps in ("000", "100", "200")}, abs=1e-4)
    pool.tell({"step-000000000": [1.0] * 99, "step-000000100": [1.0, 0.0] * 50, "nobody": [1.0], "random": [1.0]})
    rates = pool.win_rates()
    assert rates[next(iter(pool.steps))] == 1
    assert rates[BASELINES["random"]] == 1
    losses = np.array([0.5 / 100, 0.5, 0.5]) ** 2
    assert list(dealt(pool).values()) == pytest.approx((losses / losses.sum()).tolist(), abs=1e-3)
    pool.tell({"step-000000000": [0.0] * 1000})  # what it did before hardly counts any more
    assert pool.win_rates()[next(iter(pool.steps))] < 0.01
    assert dealt(pool)["step-000000000"] > 0.6


def test_assign__baselines_get_the_floor() -> None:
    mix = {"current": 8, "random": 0.5, "greedy": 1.5, "floor": 0.5}
    assert dealt(pool_of(mix, [0])) == pytest.approx(
        {"step-000000000": 0.5, "random": 0.125, "greedy": 0.375}, abs=1e-4
    )
    assert dealt(pool_of(mix | {"floor": 0.1}, [0]))["step-000000000"] == pytest.approx(0.8, abs=1e-4)
    assert dealt(pool_of(mix | {"optimal": 2, "floor": 1.0}, [0])) == pytest.approx(
        {"random": 0.125, "greedy": 0.375, "optimal": 0.5}, abs=1e-4
    )


@pytest.mark.parametrize("kind", ["current", "past", "random", "greedy"])
def test_assign__a_single_kind_is_all_there_is(kind: str) -> None:
    pool = pool_of({kind: 0.3}, [0, 100])
    names = {pool.policy(int(number)).name for number in np.unique(pool.assign(EVENLY))}
    snapshots = ["step-000000000", "step-000000100"]
    assert names == {"current": {snapshots[1]}, "past": set(snapshots)}.get(kind, {kind})


@pytest.mark.parametrize("count", [1, 3, 7, 10])
def test_assign__the_ends_of_the_noise_deal_someone(count: int) -> None:
    mix = {"current": 0.1, "past": 0.7, "random": 1 / 3, "greedy": 1e-9}
    pool = pool_of(mix, list(range(count)))
    edges = np.concatenate([[0.0], pool._shares])
    noise = np.clip([edges, np.nextafter(edges, 0), np.nextafter(edges, 1)], 0, 1 - 2.0**-32)
    for number in pool.assign(noise).ravel():
        pool.policy(int(number))


def test_add__over_the_cap_lets_go_of_the_one_in_the_closest_company() -> None:
    pool = pool_of({"past": 1}, [0, 100, 110, 200], capacity=4)
    pool.add(snapshot(300), 300, NO_ONE)
    assert list(pool.steps.values()) == [0, 100, 200, 300]  # 110 lay between 100 and 200
    pool.add(snapshot(400), 400, NO_ONE)
    assert [list(pool.steps.values())[place] for place in (0, -1)] == [0, 400]


def test_add__two_hundred_snapshots_keep_memory_flat_and_span_the_run() -> None:
    pool = OpponentPool({"past": 1}, 10)
    taken: weakref.WeakSet[CheckpointPolicy] = weakref.WeakSet()
    for number in range(200):
        newest = snapshot(number * 1000)
        taken.add(newest)
        pool.add(newest, number * 1000, np.array([[LEARNER, FIRST_SNAPSHOT + number - 1]]))
        pool.tell({newest.name: [1.0, 0.0]})
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
    pool.tell({"step-000000100": [1.0, 0.0, 1 / 3]})
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
        ({"past": -1.0}, 10, "opponents.past=-1.0 is not a weight; use a number from 0 up"),
        ({"past": float("nan")}, 10, "opponents.past=nan is not a weight"),
        ({"past": float("inf")}, 10, "opponents.past=inf is not a weight"),
        ({"past": 0.0, "greedy": 0.0}, 10, "every weight in opponents is 0"),
        ({}, 10, "every weight in opponents is 0"),
        (
            {"past": 1.0, "floor": 0.1},
            10,
            "opponents.floor=0.1 has no baseline to deal; give random or greedy or optimal",
        ),
        ({"past": 1.0, "floor": 1.5}, 10, "opponents.floor=1.5 is not a share; use a number from 0 to 1"),
        ({"past": 1.0}, 1, "pool_size=1 is too small; use at least 2"),
    ],
)
def test_pool__wrong_settings_are_refused(mix: dict[str, Any], capacity: int, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        OpponentPool(mix, capacity)


def test_assign__without_a_snapshot_says_so() -> None:
    with pytest.raises(ValueError, match="there is no snapshot to play against yet; add one first"):
        OpponentPool({"current": 1.0, "random": 1.0}, 10).assign(EVENLY)
    assert set(OpponentPool({"random": 1.0}, 10).assign(EVENLY)) == {BASELINES["random"]}
