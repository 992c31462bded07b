"""Several workers: together they learn what one would, stop and go on together, and none is left behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors import safe_open
from stable_baselines3.common.logger import Logger
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from fivedice.agents.evaluation import match
from fivedice.agents.policies.registry import load
from fivedice.agents.training import launch
from fivedice.agents.training.config import Mix, TrainConfig
from fivedice.agents.training.data_parallel import SharedThreshold, mean_and_deviation
from fivedice.agents.training.group import ALONE, Group, WorkerLost
from fivedice.agents.training.launch import choose_workers, count_cores, start_workers
from fivedice.agents.training.library_settings import global_generators_restored
from fivedice.agents.training.metrics import Watch
from fivedice.agents.training.resume import FILE, restore
from fivedice.agents.training.run import EVALUATION_SEED, Progress, Training, take_part
from fivedice.agents.training.validation import validate
from fivedice.envs.core.chance import STREAM, new_streams

UPDATE = 128  # decisions of all workers between two updates of the runs below
CONFIG = TrainConfig(
    reward="score",
    reward_scale=0.05,
    opponents=Mix(current=1, recent=1, past=1, hard=3, random=1, greedy=1),
    total_timesteps=4 * UPDATE,
    n_envs=8,
    n_steps=16,
    batch_size=64,
    n_epochs=2,
    learning_rate=0.01,
    net_arch=(8,),
    snapshot_every=UPDATE,
    pool_size=3,
    eval_every=2 * UPDATE,
    eval_games=6,
    check_games=6,
    workers=2,
)


RUN = replace(  # games end in each update
    CONFIG, n_steps=32, total_timesteps=8 * UPDATE, snapshot_every=2 * UPDATE, eval_every=4 * UPDATE
)


def ignore(progress: Progress) -> None:
    """Take in what a run tells."""


# Two workers as threads of this process


@dataclass
class Meeting:
    """Where threads exchange values."""

    size: int
    values: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.values = [None] * self.size
        self.barrier = threading.Barrier(self.size, timeout=600)


@dataclass(frozen=True)
class InThreads(Group):
    """A worker that is a thread."""

    meeting: Meeting

    def gather(self, value: Any) -> list[Any]:
        self.meeting.values[self.rank] = value
        self.meeting.barrier.wait()
        found = list(self.meeting.values)
        self.meeting.barrier.wait()
        return found

    def sum(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.sum(self.gather(numbers.copy()), axis=0)  # type: ignore[no-any-return]  # of NumPy

    def average(self, tensor: torch.Tensor) -> None:
        tensor.copy_(sum(self.gather(tensor.clone())) / self.size)

    def take_from_first(self, value: Any) -> Any:
        return self.gather(value)[0]


def at_once(work: Callable[[int], Any], size: int = 2) -> list[Any]:
    """Call `work` with each rank, in threads."""
    found: list[Any] = [None] * size
    errors: list[BaseException] = []

    def call(rank: int) -> None:
        try:
            found[rank] = work(rank)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=call, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return found


def trainings(config: TrainConfig, folder: Path) -> list[Training]:
    meeting = Meeting(2)
    return at_once(lambda rank: Training(config, folder, ignore, group=InThreads(rank, 2, meeting)))


def weights(training: Training) -> dict[str, NDArray[np.float32]]:
    return {name: tensor.numpy().copy() for name, tensor in training.model.policy.state_dict().items()}


ARRAYS = ("observations", "actions", "rewards", "values", "log_probs", "advantages", "returns", "episode_starts")


def share_rollout(one: Training, workers: list[Training]) -> None:
    """Let one worker play, with a policy far from that of the update, and give each of the others its rows of that."""
    one.model.learn(UPDATE)
    disturb(one)
    buffer = one.model.rollout_buffer
    one.model.collect_rollouts(one.model.env, one.model._init_callback(None), buffer, 16)
    state = {name: tensor.clone() for name, tensor in one.model.policy.state_dict().items()}
    for training in workers:
        training.model.policy.load_state_dict(state)
        training.model.policy.optimizer.load_state_dict(deepcopy(one.model.policy.optimizer.state_dict()))
        training.model.num_timesteps, training.model._n_updates = one.model.num_timesteps, one.model._n_updates
        part, own = training.group.part(8), training.model.rollout_buffer
        own.reset()
        for name in (*ARRAYS, "action_masks"):
            setattr(own, name, getattr(buffer, name)[:, part].copy())
        own.pos, own.full = buffer.pos, True


def disturb(training: Training) -> None:
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in training.model.policy.parameters():
            parameter += 0.2 * torch.randn(parameter.shape, generator=generator)


@pytest.mark.parametrize("frozen", [False, True])
def test_update__of_two_workers_is_that_of_one_on_the_joined_minibatches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, frozen: bool
) -> None:
    """Gradients are clipped, advantages are normalised, several minibatches follow each other."""
    config = replace(CONFIG, learning_rate=0.02, learning_rate_end=0.02, max_grad_norm=0.1, value_steps=frozen * 10**6)
    with global_generators_restored():
        one = Training(config, tmp_path / "one", ignore)
        two = trainings(config, tmp_path / "two")
        share_rollout(one, two)
    for training in (one, *two):
        training._set_schedules()
        training.model.set_logger(Logger(None, []))
    before = weights(one)
    # Each worker shuffles its 64 decisions into minibatches of 32, and one worker joins these minibatches.
    own = np.random.default_rng(5).permutation(64)
    joined = np.concatenate([own[:32], own[:32] + 64, own[32:], own[32:] + 64])
    monkeypatch.setattr(np.random, "permutation", lambda count: {64: own, 128: joined}[count])
    one.model.train()
    at_once(lambda rank: two[rank].model.train())
    after = weights(one)
    changed = {name for name in before if not np.array_equal(before[name], after[name])}
    assert changed == {name for name in before if "value" in name or not frozen}
    for training in two:
        for name, expected in after.items():
            np.testing.assert_allclose(weights(training)[name], expected, atol=1e-6)
        logged = dict(training.model.logger.name_to_value)
        assert logged == pytest.approx(dict(one.model.logger.name_to_value), rel=1e-4, abs=1e-6)
    for name, tensor in weights(two[0]).items():
        assert tensor.tobytes() == weights(two[1])[name].tobytes()


def test_update__stops_at_the_same_minibatch_for_all_workers(tmp_path: Path) -> None:
    """Only one of them is far from the policy that played."""
    config = replace(CONFIG, target_kl=0.01, n_epochs=50)
    with global_generators_restored():
        one, two = Training(config, tmp_path, ignore), trainings(config, tmp_path)
        share_rollout(one, two)
        two[1].model.rollout_buffer.log_probs += 0.3  # type: ignore[misc]  # an array
        steps = [0, 0]
        for rank, training in enumerate(two):
            training.model.set_logger(Logger(None, []))
            training.model.policy.optimizer.register_step_post_hook(
                lambda *args, rank=rank: steps.__setitem__(rank, steps[rank] + 1)
            )
        at_once(lambda rank: two[rank].model.train())
    assert steps[0] == steps[1] < 100
    assert weights(two[0])["value_net.weight"].tobytes() == weights(two[1])["value_net.weight"].tobytes()


def test_update__without_a_gradient_of_each_parameter_is_refused(tmp_path: Path) -> None:
    training, _ = trainings(CONFIG, tmp_path)
    training.model.policy.value_net(torch.ones(1, 8)).sum().backward()  # the other parameters have none
    with pytest.raises(RuntimeError, match="so the gradients of the workers are not averaged"):
        training.model.policy.optimizer.step()


def test_threshold__is_that_of_the_mean() -> None:
    meeting = Meeting(2)
    for numbers, expected in (((0.1, 0.19), False), ((0.1, 0.21), True), ((0.31, 0.0), True), ((0.29, 0.0), False)):

        def compare(rank: int, numbers: tuple[float, float] = numbers) -> bool:
            target = SharedThreshold(0.1, InThreads(rank, 2, meeting))
            assert target == 0.1
            return bool(np.array(numbers[rank], np.float32) > 1.5 * target)

        assert at_once(compare) == [expected] * 2


def test_advantages__are_normalised_over_all_workers() -> None:
    parts = np.random.default_rng(1).normal(3, 2, (2, 5, 8))
    meeting = Meeting(2)
    both = at_once(lambda rank: mean_and_deviation(parts[rank], InThreads(rank, 2, meeting)))
    assert both[0] == both[1]
    joined = np.concatenate(parts, axis=1)
    np.testing.assert_allclose(both[0], [joined.mean(axis=1), joined.std(axis=1, ddof=1)])


def test_workers__that_differ_are_noticed(tmp_path: Path) -> None:
    two = trainings(CONFIG, tmp_path)
    at_once(lambda rank: two[rank].require_equal_workers())
    with torch.no_grad():
        two[1].model.policy.value_net.bias += 1e-6
    with pytest.raises(RuntimeError, match="the networks or opponents differ between the workers"):
        at_once(lambda rank: two[rank].require_equal_workers())


def game_of(score: float, win: float, *opponents: str) -> dict[str, Any]:
    return {"score": score, "win": win, "opponents": list(opponents), "episode": {"r": score / 20, "l": 9}, "more": 1}


def test_watch__counts_the_games_of_all_workers_in_their_order(tmp_path: Path) -> None:
    two = trainings(CONFIG, tmp_path)
    newest = "step-000000000"
    ended = [
        [[game_of(10, 1.0, newest)], [], [game_of(30, 0.0, "random"), game_of(50, 0.0, newest)]],
        [[], [game_of(20, 0.5, newest)], [game_of(70, 1.0, "random")]],
    ]

    def watch(rank: int) -> tuple[Any, ...]:
        training = two[rank]
        training.model.set_logger(Logger(None, []))
        training.model.ep_info_buffer = deque([{"r": 9.0, "l": 9}] * 3, maxlen=100)
        training.model.rollout_buffer.reset()
        training.model.rollout_buffer.observations[-1] = training.env.reset()
        watch = Watch(training.pool, [], training.group)
        watch.init_callback(training.model)
        watch.on_rollout_start()
        for games in ended[rank]:
            watch.update_locals({"infos": [*games, *[{}] * 4], "dones": np.arange(6) < len(games)})
            watch.on_step()
        training.model.ep_info_buffer.extend(game["episode"] for games in ended[rank] for game in games)
        watch.on_rollout_end()
        logged = training.model.logger.name_to_value
        ratio = logged.pop("rollout/entropy_ratio")
        assert logged.pop("time/rollout_decisions_per_second") > 0
        episodes = [episode["r"] for episode in training.model.ep_info_buffer]
        return dict(logged), dict(training.pool.results), episodes, watch.score, ratio

    both = at_once(watch)
    assert both[0] == both[1]
    logged, results, episodes, score, ratio = both[0]
    assert logged == {
        "rollout/score": 36.0,
        "rollout/return": pytest.approx(1.8),
        "rollout/win_rate_vs_snapshots": 0.5,
        "rollout/win_rate_vs_random": 0.5,
        "pool/size": 1,
        "pool/least_win_rate": 0.5,
    }
    assert results == {0: (2.0, 1.0), 2: (3.0, 1.5)}
    assert episodes == [9.0] * 3 + [0.5, 1.0, 1.5, 2.5, 3.5]
    assert score == 36.0
    assert 0.9 < ratio <= 1.0  # of all four observations of each; the networks are new


# Two workers as processes


@pytest.fixture(scope="module")
def group() -> Iterator[Group]:
    with global_generators_restored(), start_workers(2) as group:
        yield group


def run(
    group: Group, config: TrainConfig, folder: Path, *, stop_after: int | None = None, resume: bool = False
) -> list[str]:
    """A run of two workers, stopped as by Ctrl-C after so many updates. Return what it tells."""
    told: list[str] = []

    def report(progress: Progress) -> None:
        told.append(repr(replace(progress, decisions_per_second=0.0)))
        if len(told) == stop_after:
            signal.raise_signal(signal.SIGINT)

    group.take_from_first(partial(take_part, config, folder, resume))
    training = Training(config, folder, report, 170.0, group=group)
    if resume:
        assert restore(training) == []
    assert training.learn() is (stop_after is None)
    return told


def contents(path: Path) -> tuple[dict[str, str], dict[str, bytes]]:
    with safe_open(path, framework="numpy") as file:
        return file.metadata(), {name: file.get_tensor(name).tobytes() for name in file.keys()}  # noqa: SIM118


def files(folder: Path) -> dict[str, Any]:
    """All that a run has saved, to the last bit: networks, games and random generators of all workers, the pool."""
    return {str(path.relative_to(folder)): contents(path) for path in folder.rglob("*.safetensors")}


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    log = EventAccumulator(str(folder))
    log.Reload()
    tags = [tag for tag in log.Tags()["scalars"] if not tag.startswith("time/")]
    return {tag: [(point.step, point.value) for point in log.Scalars(tag)] for tag in tags}


@pytest.fixture(scope="module")
def straight(group: Group, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    folder = tmp_path_factory.mktemp("straight")
    return folder, run(group, RUN, folder)


def test_run__is_the_same_twice_stopped_and_resumed(
    group: Group, straight: tuple[Path, list[str]], tmp_path: Path
) -> None:
    folder, told = straight
    assert len(told) == 4
    first = run(group, RUN, tmp_path, stop_after=1)
    second = run(group, RUN, tmp_path, stop_after=2, resume=True)
    third = run(group, RUN, tmp_path, resume=True)
    assert [first, second, third] == [told[:1], told[1:3], told[3:]]
    assert files(tmp_path) == files(folder)
    resumed, expected = scalars(tmp_path), scalars(folder)
    assert set(resumed) == set(expected)
    for tag, points in expected.items():
        if not tag.startswith("train/"):  # logged with the next update, so not after a stop
            assert resumed[tag] == points, tag


def test_run__plays_the_games_of_one_worker(straight: tuple[Path, list[str]]) -> None:
    with safe_open(straight[0] / FILE, framework="numpy") as file:
        streams = file.get_tensor("games.streams").view(STREAM)
        generators = [file.get_tensor(name) for name in ("torch", "torch.1", "numpy", "numpy.1")]
    assert np.array_equal(streams["key"], new_streams(CONFIG.seed, 8)["key"])
    assert streams["game"][:, 0].tolist() == list(range(8))
    assert not np.array_equal(generators[0], generators[1])
    assert not np.array_equal(generators[2], generators[3])


def test_run__evaluates_as_one_worker(straight: tuple[Path, list[str]]) -> None:
    """Its games are shared out, and the results are the same to the last digit."""
    folder, told = straight
    learner = load(folder / "last.safetensors")
    training = Training(replace(RUN, workers=1), folder.with_name("alone"), ignore)
    settings: dict[str, Any] = {"games": 6, "num_players": 2, "seed": CONFIG.seed + EVALUATION_SEED}
    for rival in ("random", "greedy"):
        (standing, _) = match.evaluate(training.game, {"learner": learner, rival: load(rival)}, **settings)
        assert f"'eval/win_rate_vs_{rival}': {standing.wins[rival]!r}" in told[-1]
    assert f"'eval/score': {standing.points!r}" in told[-1]


def test_resume__with_another_number_of_workers_shares_the_same_games(
    group: Group, straight: tuple[Path, list[str]], tmp_path: Path
) -> None:
    run(group, RUN, tmp_path, stop_after=1)
    with safe_open(tmp_path / FILE, framework="numpy") as file:
        saved = {name: file.get_tensor(name) for name in file.keys() if name.startswith("games.")}  # noqa: SIM118
    one = Training(RUN, tmp_path, ignore)
    assert restore(one) == [
        "the stopped run had 2 workers and this one has 1, so it draws other actions than the stopped run would have "
        "drawn"
    ]
    assert one.env.table.batch.states.tobytes() == saved["games.states"].tobytes()
    both = trainings(RUN, tmp_path)
    assert [restore(training) for training in both] == [[], []]
    for name, join in {
        "games.states": lambda training: training.env.table.batch.states,
        "games.streams": lambda training: training.env.table.batch.streams,
        "games.seated": lambda training: training.env.table.seated,
        "games.returns": lambda training: training.env.returns,
        "games.lengths": lambda training: training.env.lengths,
    }.items():
        assert np.concatenate([join(training) for training in both]).tobytes() == saved[name].tobytes(), name
    with global_generators_restored():
        assert one.learn()
    assert one.steps == 8 * UPDATE


ERROR_OF_A_WORKER = """
from functools import partial
from pathlib import Path
from fivedice.agents.training.config import TrainConfig
from fivedice.agents.training.launch import start_workers
from fivedice.agents.training.run import take_part
try:
    with start_workers(2) as group:
        group.take_from_first(partial(take_part, TrainConfig(batch_size=100), Path("nowhere"), False))
        group.any(False)  # waits for the worker
except ValueError as error:
    print(error)
"""


def test_start_workers__raises_the_error_of_a_worker(group: Group) -> None:
    ran = subprocess.run([sys.executable, "-c", ERROR_OF_A_WORKER], capture_output=True, text=True, timeout=900)
    assert ran.stderr == ""
    assert ran.stdout.startswith("batch_size=100 does not divide the 8192 decisions between two updates")
    assert ran.stdout.count("\n") == 1
    with pytest.raises(ValueError, match=r"^torch\.distributed is initialised in this process; use workers=1"):
        start_workers(2).__enter__()


@pytest.fixture
def run_of_a_script(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts the command line from a script that does not ask for its ``__name__``."""
    script = tmp_path / "script.py"
    script.write_text("print('once', flush=True)\nfrom fivedice.agents.cli import main\nmain()\n")
    started: list[subprocess.Popen[str]] = []

    def start(*words: object) -> subprocess.Popen[str]:
        command = [sys.executable, str(script), "train", *map(str, words)]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_kill__of_any_worker_ends_all_and_the_run_goes_on(
    run_of_a_script: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    folder = tmp_path / "runs" / "it"
    settings = {
        "n-envs": 8,
        "n-steps": 16,
        "batch-size": 64,
        "net-arch": 8,
        "eval-every": UPDATE,
        "eval-games": 2,
        "check-games": 2,
        "total-timesteps": 10**8,
        "workers": 2,
        "runs": folder.parent,
        "name": "it",
    }
    words = [word for name, value in settings.items() for word in (f"--{name}", value)]
    process = run_of_a_script(*words)
    wait_for(lambda: (folder / FILE).is_file() and (folder / "best.safetensors").is_file(), process)
    (worker,) = workers_of(process.pid)
    os.kill(worker, signal.SIGKILL)
    said, complained = process.communicate(timeout=300)
    assert process.returncode == 2, complained
    assert complained.splitlines() == [
        f"fivedice: worker 1 of 2 was killed by SIGKILL; go on from the last save by: fivedice train --resume {folder}"
    ]
    assert said.splitlines()[:2] == ["once", f"Yum, 2 players, reward win, 2 workers: {folder}"]

    saved = (folder / FILE).stat().st_mtime_ns
    process = run_of_a_script("--resume", folder)
    wait_for(lambda: (folder / FILE).stat().st_mtime_ns > saved, process)
    (worker,) = workers_of(process.pid)
    os.kill(process.pid, signal.SIGKILL)  # worker 0
    deadline = time.monotonic() + 300
    while is_alive(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_alive(worker)
    assert process.communicate()[1] == ""
    config = replace(CONFIG, reward=None, reward_scale=1.0, workers=1)
    training = Training(config, folder, ignore)
    assert len(restore(training)) == 1  # another number of workers
    assert training.steps > 0


def wait_for(happens: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + 900
    while not happens():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def workers_of(pid: int) -> list[int]:
    """The workers that a process has started."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text()]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


# Settings


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"workers": 3}, r"^workers=3 does not divide n_envs=8; use a divisor, because each worker has"),
        ({"workers": 4, "batch_size": 2}, r"^workers=4 does not divide batch_size=2; use a divisor"),
    ],
)
def test_settings__that_workers_cannot_share_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        validate(replace(CONFIG, **changes))
    validate(replace(CONFIG, workers=4))


BIG = TrainConfig(n_envs=512, batch_size=4096)


@pytest.mark.parametrize(
    ("cores", "changes", "expected"),
    [
        (1, {}, 1),
        (2, {}, 2),
        (3, {}, 2),  # 3 does not divide 512
        (4, {}, 4),
        (64, {}, 4),  # 1024 decisions of each minibatch for each
        (64, {"batch_size": 8192}, 4),  # 128 games for each
        (4, {"n_envs": 768, "batch_size": 3072}, 3),
        (2, {"n_envs": 254}, 1),
        (2, {"n_envs": 256}, 2),
        (2, {"batch_size": 2046}, 1),
        (2, {"batch_size": 2048}, 2),
        (4, {"torch_threads": 2}, 2),
        (4, {"torch_threads": 0}, 1),
        (4, {"device": "cuda"}, 1),
        (4, {"workers": 2}, 2),
        (1, {"workers": 2}, 2),
    ],
)
def test_auto__is_the_most_that_have_enough_to_do(
    monkeypatch: pytest.MonkeyPatch, cores: int, changes: dict[str, Any], expected: int
) -> None:
    monkeypatch.setattr(launch, "count_cores", lambda: cores)
    assert choose_workers(replace(BIG, **changes)) == expected


def test_auto__keeps_the_number_of_a_stopped_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(launch, "count_cores", lambda: 4)
    assert choose_workers(BIG, tmp_path) == 4  # nothing has begun there
    (tmp_path / "config.json").write_text('{"workers": 2}')
    assert choose_workers(BIG, tmp_path) == 2
    assert choose_workers(replace(BIG, workers=1), tmp_path) == 1
    (tmp_path / "config.json").write_text('{"workers": "auto"}')
    assert choose_workers(BIG, tmp_path) == 4


@pytest.mark.parametrize(("limit", "most"), [("max 100000", 99), ("150000 100000", 1), ("50000 100000", 1)])
def test_cores__are_those_of_the_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(99)))
    (tmp_path / "cpu.max").write_text(limit)
    assert count_cores(tmp_path / "cpu.max") == most
    assert count_cores(tmp_path / "none") == 99


def test_part__shares_all_rows_once() -> None:
    for count in (0, 1, 7, 8):
        parts = [Group(rank, 3).part(count) for rank in range(3)]
        assert [row for part in parts for row in range(count)[part]] == list(range(count))
        assert max(part.stop - part.start for part in parts) <= -(-count // 3)


def test_alone__changes_nothing_and_waits_for_nobody() -> None:
    numbers, tensor = np.arange(3.0), torch.arange(3.0)
    ALONE.average(tensor)
    assert tensor.tolist() == [0.0, 1.0, 2.0]
    assert ALONE.join(numbers) is numbers
    assert ALONE.sum(numbers) is numbers
    assert ALONE.gather("it") == ["it"]
    assert (ALONE.any(False), ALONE.any(True), ALONE.take_from_first(5)) == (False, True, 5)
    ALONE.require_equal("it", "things")
    with start_workers(1) as group:
        assert group is ALONE
    assert issubclass(WorkerLost, OSError)  # the command line reports it in one sentence
