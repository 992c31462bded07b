"""Training: what a run writes, that it goes on as if it had never stopped, and that its parts stay apart."""

import itertools
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import fivedice.agents
from fivedice.agents import trainer
from fivedice.agents.arena import Estimate, Standing
from fivedice.agents.champions import forgotten, loses_to
from fivedice.agents.checkpoint import read_card
from fivedice.agents.config import Mix, TrainConfig
from fivedice.agents.files import digest, write_whole
from fivedice.agents.resume import FILE, restore
from fivedice.agents.seat_vec_env import SeatVecEnv
from fivedice.agents.session import only_one
from fivedice.agents.trainer import Progress, Training, load_start

UPDATE = 128  # decisions between two updates of the runs below
CONFIG = TrainConfig(
    reward="score",
    reward_scale=0.05,
    opponents=Mix(current=1, recent=1, past=1, hard=1, random=1, greedy=1, floor=0.4),
    total_timesteps=4 * UPDATE,
    n_envs=8,
    n_steps=16,
    batch_size=64,
    n_epochs=2,
    net_arch=(8,),
    snapshot_every=UPDATE,
    pool_size=3,
    eval_every=2 * UPDATE,
    eval_games=10,
    check_games=10,
    torch_threads=1,
)


def train(
    folder: Path, config: TrainConfig = CONFIG, *, stop_after: int | None = None, resume: bool = False
) -> Training:
    """A run, interrupted as by Ctrl-C after so many updates."""
    told: list[Progress] = []

    def report(progress: Progress) -> None:
        told.append(progress)
        if len(told) == stop_after:
            signal.raise_signal(signal.SIGINT)

    training = Training(config, folder, report)
    if resume:
        assert restore(training) == []
    assert training.learn() is (stop_after is None)
    return training


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Training:
    """A run from start to end."""
    return train(tmp_path_factory.mktemp("straight"))


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    """The folder of a run stopped after two of its four updates."""
    train(tmp_path / "run", stop_after=2)
    return tmp_path / "run"


def contents(path: Path) -> tuple[dict[str, str], dict[str, bytes]]:
    """The metadata and every tensor of a file, to the last bit."""
    with safe_open(path, framework="numpy") as file:
        return file.metadata(), {name: file.get_tensor(name).tobytes() for name in file.keys()}  # noqa: SIM118


# A run


def test_run__writes_what_plays_and_what_resumes(straight: Training) -> None:
    names = {path.name for path in straight.folder.iterdir() if not path.name.startswith("events.")}
    assert names == {"best.safetensors", "last.safetensors", FILE, "pool", "champions"}
    assert len(list((straight.folder / "pool").iterdir())) >= CONFIG.pool_size
    for name in ("best", "last"):
        policy = fivedice.agents.load(straight.folder / f"{name}.safetensors")
        assert policy.name == name
    last = fivedice.agents.load(straight.folder / "last.safetensors")
    for name, tensor in straight.policy().network.tensors.items():
        np.testing.assert_array_equal(last.network.tensors[name], tensor)  # type: ignore[attr-defined]


def test_run__card_says_how_it_came_about(straight: Training) -> None:
    card = read_card(straight.folder / "last.safetensors")
    assert (card["game"], card["num_players"], card["reward"]) == ("yum", 2, "score")
    assert (card["steps"], card["seed"]) == (4 * UPDATE, CONFIG.seed)
    assert set(card["libraries"]) >= {"fivedice", "numpy", "torch", "sb3-contrib"}
    assert set(card["evaluation"]) >= {"score", "win_rate_vs_random", "win_rate_vs_greedy"}
    for figure in card["evaluation"].values():
        assert set(figure) == {"mean", "half_width", "deals"}
        assert figure["deals"] == 5  # ten games: each deal from both seats


def test_run__logs_each_scalar_over_the_steps_of_the_learner(straight: Training) -> None:
    log = EventAccumulator(str(straight.folder))
    log.Reload()
    for tag in ("eval/score", "eval/win_rate_vs_greedy", "rollout/entropy_ratio", "rollout/score", "rollout/return"):
        assert tag in log.Tags()["scalars"]
    entropies = log.Scalars("rollout/entropy_ratio")
    assert [point.step for point in entropies] == [UPDATE * update for update in range(1, 5)]
    assert all(0 < point.value <= 1 for point in entropies)
    returns = {point.step: point.value for point in log.Scalars("rollout/return")}
    for point in log.Scalars("rollout/score"):
        assert returns[point.step] == pytest.approx(point.value * CONFIG.reward_scale, rel=1e-4)


def test_run__improves_on_random_within_seconds(tmp_path: Path) -> None:
    config = replace(
        CONFIG,
        total_timesteps=24 * 1024,
        n_envs=64,
        batch_size=256,
        n_epochs=4,
        learning_rate=3e-3,
        net_arch=(32,),
        snapshot_every=8 * 1024,
        eval_every=10**9,
        eval_games=200,
    )
    training = Training(config, tmp_path, lambda progress: None)
    before = training.evaluate()["eval/score"]
    assert training.learn()
    after = training.evaluate()["eval/score"]
    # Seen with seeds 1 and 2: 40 and 52 before, 109 and 108 after. Random play is near 45.
    assert before.mean + before.half_width < 75
    assert after.mean - after.half_width > 90


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"batch_size": 100},
            r"^batch_size=100 does not divide the 128 decisions between two updates .* use a divisor",
        ),
        ({"batch_size": 256}, r"^batch_size=256 does not divide the 128 decisions"),
        ({"learning_rate": float("inf")}, "^learning_rate=inf is not finite"),
        ({"opponents": Mix(past=float("inf"))}, r"^opponents\.past=inf is not finite"),
        ({"device": "cuda:99"}, r"^device='cuda:99' cannot be used here \(.*\); use cpu$"),
        ({"device": "tpu"}, r"^device='tpu' cannot be used here \(.*\); use cpu$"),
        ({"game": "yam"}, "'yam' is not a known game; did you mean 'yum'"),
        ({"options": {"zero": "free"}}, "'zero' is not a known option of Yum; did you mean 'zeros'"),
        ({"num_players": 1, "reward": "win"}, "there is only one; use reward='score'"),
        (
            {"opponents": Mix(floor=0.2, random=0, greedy=0)},
            "opponents.floor=0.2 has no baseline to deal; give random or",
        ),
        (
            {"game": "yahtzee_jr", "num_players": 3, "opponents": Mix(optimal=1)},
            "opponents.optimal=1, but Yahtzee Jr. is not solved; use 0",
        ),
        ({"opponents": Mix(current=0, past=0, random=0, greedy=0)}, "every weight in opponents is 0"),
    ],
)
def test_run__wrong_settings_are_refused_before_anything_is_written(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        Training(replace(CONFIG, **changes), tmp_path / "run", lambda progress: None)
    assert not (tmp_path / "run").exists()


# No forgetting


def test_best__is_checked_against_the_last_bests_and_exact_play(straight: Training) -> None:
    log = EventAccumulator(str(straight.folder))
    log.Reload()
    tags = set(log.Tags()["scalars"])
    assert tags >= {"eval/win_rate_vs_optimal", "eval/forgotten", "eval/score_half_width", "time/share_of_checks"}
    assert 1 <= len(straight.champions) <= 2
    names = [f"{champion.number:06d}.safetensors" for champion in straight.champions]
    assert sorted(path.name for path in (straight.folder / "champions").iterdir()) == names
    best = fivedice.agents.load(straight.folder / "best.safetensors")
    assert weights_of(straight.champions[-1].policy) == weights_of(best)
    restored = Training(CONFIG, straight.folder, lambda progress: None)
    restore(restored)
    assert [champion.figures for champion in restored.champions] == [
        dict(champion.figures) for champion in straight.champions
    ]
    assert [weights_of(champion.policy) for champion in restored.champions] == [
        weights_of(champion.policy) for champion in straight.champions
    ]


@pytest.mark.parametrize(("share", "taken"), [(0.45, True), (0.35, False)])
def test_best__that_loses_to_the_last_one_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: float, taken: bool
) -> None:
    """Its points are higher, and against the best before it wins 45 or 35 ± 10 %."""
    told: list[Progress] = []
    training = Training(replace(CONFIG, game="yahtzee_jr", total_timesteps=2 * UPDATE), tmp_path, told.append)
    evaluations = iter([10.0, 20.0])
    figures = {f"eval/win_rate_vs_{rival}": Estimate(0.5, 0.1, 5) for rival in ("random", "greedy")}
    monkeypatch.setattr(training, "evaluate", lambda: {"eval/score": Estimate(next(evaluations), 1.0, 5)} | figures)

    def play(rival: Any, games: int) -> Standing:
        loses = rival.name.startswith("best-")
        return Standing("learner", 10, Estimate(0, 0, 5), {rival.name: Estimate(share if loses else 0.2, 0.1, 5)})

    monkeypatch.setattr(training, "_play", play)
    training.model.learn(UPDATE)
    training.evaluate_and_save()
    first = contents(tmp_path / "best.safetensors")
    training.learn()
    assert (contents(tmp_path / "best.safetensors") != first) == taken
    assert (training.best, len(training.champions)) == ((20.0, 2) if taken else (10.0, 1))
    assert told[-1].forgot == (() if taken else ("champion_1",))
    assert told[-1].loses_to == (("optimal",) if taken else ("champion_1", "optimal"))


def test_forgotten__is_what_got_significantly_worse() -> None:
    before = {"eval/win_rate_vs_greedy": Estimate(0.50, 0.03, 9), "eval/win_rate_vs_random": Estimate(0.99, 0.01, 9)}

    def now(greedy: float, random: float = 0.99) -> dict[str, Estimate]:
        return {"eval/win_rate_vs_greedy": Estimate(greedy, 0.04, 9), "eval/win_rate_vs_random": Estimate(random, 0, 9)}

    assert forgotten(now(0.46), before, {}, 0.5) == []
    assert forgotten(now(0.44), before, {}, 0.5) == ["greedy"]  # by more than 5 points
    assert forgotten(now(0.55, 0.9), before, {"champion_1": Estimate(0.4, 0.09, 9)}, 0.5) == ["random", "champion_1"]
    assert forgotten(now(0.1), {}, {"champion_1": Estimate(0.3, 0.09, 9)}, 1 / 3) == []
    assert loses_to(now(0.46, 0.49), 0.5) == ["random"]


# Apart


def test_evaluation__leaves_no_trace_in_training(tmp_path: Path) -> None:
    training = Training(CONFIG, tmp_path, lambda progress: None)
    training.model.learn(UPDATE)

    def everything() -> list[bytes]:
        buffer, batch = training.model.rollout_buffer, training.env.table.batch
        arrays = [buffer.observations, buffer.actions, buffer.rewards, buffer.action_masks, buffer.returns]
        arrays += [batch.states, batch.streams, batch.observations, batch.masks, training.env.table.seated]
        arrays += [training.model._last_obs, torch.get_rng_state().numpy(), np.random.get_state()[1]]  # noqa: NPY002
        arrays += network(training)
        return [array.tobytes() for array in arrays] + [str(training.steps).encode(), pickle.dumps(training.pool.steps)]

    before = everything()
    training.evaluate_and_save()
    assert everything() == before


def test_evaluation__plays_other_games_than_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = []
    evaluate = trainer.evaluate

    def spy(*args: Any, seed: int, **settings: Any) -> Any:
        seeds.append(seed)
        return evaluate(*args, seed=seed, **settings)

    monkeypatch.setattr(trainer, "evaluate", spy)
    Training(CONFIG, tmp_path, lambda progress: None).evaluate()
    assert seeds
    assert not set(seeds) & set(range(1000))  # no run's own seed in practice


def network(training: Training) -> list[np.ndarray]:
    return [tensor.numpy() for tensor in training.model.policy.state_dict().values()]


def test_opponents__stay_what_they_were_while_training_goes_on(tmp_path: Path) -> None:
    config = replace(CONFIG, pool_size=10)
    training = train(tmp_path, config, stop_after=2)
    learner = [tensor.copy() for tensor in network(training)]
    snapshots = training.pool.snapshots()
    weights = {number: weights_of(snapshot) for number, snapshot in snapshots.items()}
    files = {path: path.read_bytes() for path in (tmp_path / "pool").iterdir()}
    assert len(snapshots) == len(files) == 3
    training.learn()
    assert any((before != now).any() for before, now in zip(learner, network(training), strict=True))
    for number, snapshot in training.pool.snapshots().items():
        assert weights.get(number) in (None, weights_of(snapshot))
    assert files.items() <= {path: path.read_bytes() for path in (tmp_path / "pool").iterdir()}.items()
    newest = list(training.pool.steps)[-1]
    assert weights_of(training.pool.snapshots()[newest]) != weights[min(weights)]  # they are not all the same


def weights_of(snapshot: Any) -> list[bytes]:
    return [tensor.tobytes() for tensor in snapshot.network.tensors.values()]


OPENED: list[str] = []
LISTENING = [False]


@pytest.fixture
def opened() -> Iterator[list[str]]:
    """The files that are opened while LISTENING. A hook cannot be taken away again; it only falls silent."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if LISTENING[0] and event in ("open", "os.listdir", "os.scandir", "os.remove", "os.rename", "os.mkdir"):
            OPENED.append(f"{event} {arguments[0]}")

    sys.addaudithook(hook)
    OPENED.clear()
    yield OPENED
    LISTENING[0] = False


def test_rollout__reads_and_writes_no_file(tmp_path: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    training = Training(CONFIG, tmp_path, lambda progress: None)
    training.model.learn(UPDATE)  # the first one imports and compiles what it needs
    collect = training.model.collect_rollouts
    rollouts = []

    def listened(*args: Any, **settings: Any) -> bool:
        LISTENING[0] = True
        try:
            return bool(collect(*args, **settings))
        finally:
            LISTENING[0] = False
            rollouts.append(training.env.table.seated.copy())

    monkeypatch.setattr(training.model, "collect_rollouts", listened)
    training.learn()
    assert len(rollouts) == 3
    dealt = np.unique(np.concatenate(rollouts))
    assert len(dealt) > 3  # baselines and snapshots have played
    assert opened == []
    LISTENING[0] = True
    (tmp_path / "last.safetensors").read_bytes()
    assert len(opened) == 1  # the ear works


# Going on


@pytest.mark.parametrize("updates", [1, 2, 3])
def test_resume__equals_a_run_that_never_stopped(tmp_path: Path, straight: Training, updates: int) -> None:
    train(tmp_path, stop_after=updates)
    resumed = train(tmp_path, resume=True)
    assert resumed.steps == straight.steps == 4 * UPDATE
    for name in ("last.safetensors", "best.safetensors", FILE):
        assert contents(tmp_path / name) == contents(straight.folder / name)
    pools = [
        [*sorted((folder / "pool").iterdir()), *sorted((folder / "champions").iterdir())]
        for folder in (tmp_path, straight.folder)
    ]
    assert [path.name for path in pools[0]] == [path.name for path in pools[1]]
    for ours, theirs in zip(*pools, strict=True):
        assert contents(ours) == contents(theirs)


def test_resume__survives_a_stop_before_the_first_decision_of_a_game_was_paid(tmp_path: Path) -> None:
    config = replace(CONFIG, reward="margin", options={"zeros": "free"}, opponents=Mix(current=0, past=0, random=1))
    training = train(tmp_path, config, stop_after=1)
    training.env.table.owed[:] = np.arange(8)
    trainer.save_resume(training)
    again = Training(config, tmp_path, lambda progress: None)
    restore(again)
    np.testing.assert_array_equal(again.env.table.owed, np.arange(8))


def test_resume__with_other_n_envs_is_told_and_goes_on(stopped: Path) -> None:
    config = replace(CONFIG, n_envs=4, batch_size=32)
    training = Training(config, stopped, lambda progress: None)
    notes = restore(training)
    assert notes == ["n_envs differs from the stopped run's: its running games are dropped and new ones are started"]
    assert training.steps == 2 * UPDATE
    assert training.learn()
    assert training.steps == 4 * UPDATE


def test_resume__of_another_version_is_told_and_goes_on(stopped: Path) -> None:
    with safe_open(stopped / FILE, framework="numpy") as file:
        metadata, tensors = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    tensors["games.streams"] = tensors["games.streams"][: CONFIG.n_envs * 88]
    save_file(tensors, stopped / FILE, metadata={**metadata, "digest": digest(tensors)})
    training = Training(CONFIG, stopped, lambda progress: None)
    assert restore(training) == [
        "the stopped run is of another version of fivedice: its running games are dropped and new ones are started"
    ]
    assert training.learn()


def test_resume__after_the_end_has_nothing_left_to_do(straight: Training) -> None:
    training = Training(CONFIG, straight.folder, lambda progress: pytest.fail("nothing was left to do"))
    restore(training)
    assert training.learn()


def test_resume__drops_snapshots_of_after_the_last_save(stopped: Path) -> None:
    known = sorted((stopped / "pool").iterdir())
    late = stopped / "pool" / "000099.safetensors"
    late.write_bytes(known[0].read_bytes())
    restore(Training(CONFIG, stopped, lambda progress: None))
    assert sorted((stopped / "pool").iterdir()) == known


class Evil:
    """Leaves a folder when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.trace),)


def without_a_snapshot(folder: Path) -> None:
    max((folder / "pool").iterdir()).unlink()


def with_a_broken_snapshot(folder: Path) -> None:
    path = max((folder / "pool").iterdir())
    path.write_bytes(path.read_bytes()[:-10])


def cut_short(folder: Path) -> None:
    (folder / FILE).write_bytes((folder / FILE).read_bytes()[:-10])


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda folder: (folder / FILE).unlink(), rf"cannot be resumed: .*{FILE} is missing"),
    "cut short": (cut_short, rf"{FILE} is broken \(.*\); the checkpoints beside it can still be played"),
    "random bytes": (lambda folder: (folder / FILE).write_bytes(b"\x07" * 999), rf"{FILE} is broken"),
    "a checkpoint": (
        lambda folder: (folder / FILE).write_bytes((folder / "last.safetensors").read_bytes()),
        rf"{FILE} is broken",
    ),
    "a pickle": (lambda folder: (folder / FILE).write_bytes(pickle.dumps(Evil(folder / "trace"))), "is broken"),
    "snapshot missing": (without_a_snapshot, r"there is no file .*pool/000004\.safetensors"),
    "snapshot broken": (with_a_broken_snapshot, r"000004\.safetensors is not a checkpoint that can be played"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_resume__names_the_file_that_is_missing_or_broken(stopped: Path, what: str) -> None:
    break_it, said = BROKEN[what]
    break_it(stopped)
    with pytest.raises(ValueError, match=said) as refused:
        restore(Training(CONFIG, stopped, lambda progress: None))
    assert "\n" not in str(refused.value)
    assert not (stopped / "trace").exists()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"net_arch": (9,)}, r"is a run with net_arch=\[8\], not with net_arch=\[9\]"),
        ({"activation": "relu"}, r"is a run with activation='tanh', not with activation='relu'"),
        ({"base": "greedy"}, r"is a run with base=None, not with base='greedy'"),
        ({"num_players": 3}, r"is a run of Yum with 2 seats \(.*\), not of Yum with 3 seats"),
        ({"options": {"zeros": "free"}}, r"is a run of .*zeros='forced'\), not of .*zeros='free'\)"),
    ],
)
def test_resume__as_something_else_is_refused(stopped: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        restore(Training(replace(CONFIG, **changes), stopped, lambda progress: None))


def test_resume__of_another_version_says_what_is_missing(stopped: Path) -> None:
    with safe_open(stopped / FILE, framework="numpy") as file:
        metadata, tensors = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    del tensors["games.owed"]
    metadata["digest"] = digest(tensors)
    save_file(tensors, stopped / FILE, metadata=metadata)
    with pytest.raises(ValueError, match=rf"{FILE} has no 'games.owed': another version wrote it"):
        restore(Training(CONFIG, stopped, lambda progress: None))


def test_sigterm__leaves_a_run_that_goes_on(tmp_path: Path) -> None:
    settings = ["--total-timesteps", "100000000", "--snapshot-every", "1000", "--eval-every", "1000000000"]
    settings += ["--n-envs", "8", "--n-steps", "16", "--batch-size", "64", "--net-arch", "8", "--torch-threads", "1"]
    command = [sys.executable, "-c", "from fivedice.agents.cli import main; main()", "train", *settings]
    process = subprocess.Popen(
        [*command, "--runs", str(tmp_path), "--name", "run"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        deadline = time.monotonic() + 120
        while not list(tmp_path.glob("run/config.json")) and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(1)
        process.terminate()
        said, complained = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0, complained
    assert f"go on with: fivedice train --resume {tmp_path / 'run'}" in said.replace("\n", "")
    config = TrainConfig(n_envs=8, n_steps=16, batch_size=64, net_arch=(8,), torch_threads=1)
    assert json.loads((tmp_path / "run" / "config.json").read_text())["n_envs"] == 8
    training = Training(config, tmp_path / "run", lambda progress: None)
    assert restore(training) == []
    assert training.steps > 0
    assert isinstance(training.env, SeatVecEnv)


def test_start__takes_all_but_the_value_output(straight: Training, tmp_path: Path) -> None:
    config = replace(CONFIG, reward="win", start=straight.folder / "last.safetensors", seed=2)
    training = Training(config, tmp_path, lambda progress: None, start=load_start(config))
    taken, given = training.policy().network.tensors, straight.policy().network.tensors
    same = {name for name, tensor in taken.items() if np.array_equal(tensor, given[name])}
    assert set(taken) - same == {"value.1.weight", "value.1.bias"}
    assert training.learn()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"net_arch": (9,)}, r"start=.*last.safetensors has net_arch=\[8\], not \[9\] as the run"),
        ({"activation": "relu"}, r"start=.* has activation='tanh', not 'relu' as the run"),
        ({"base": "greedy"}, r"start=.* has base=None, not 'greedy' as the run"),
        ({"num_players": 3}, r"last plays Yum with 2 seats .*, not Yum with 3 seats"),
        ({"start": Path("nowhere.safetensors")}, r"nowhere.safetensors"),
    ],
)
def test_start__from_something_else_is_refused(straight: Training, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        load_start(replace(CONFIG, **({"start": straight.folder / "last.safetensors"} | changes)))


def test_evaluation__meets_exact_play_where_it_is_an_opponent(tmp_path: Path) -> None:
    config = replace(CONFIG, game="yahtzee_jr", reward="win", opponents=Mix(optimal=1))
    training = Training(config, tmp_path, lambda progress: None)
    assert "eval/win_rate_vs_optimal" in training.evaluate()


def test_value_steps__leave_the_policy_as_it_is(tmp_path: Path) -> None:
    def watch(progress: Progress) -> None:
        tensors.append(training.policy().network.tensors)

    tensors: list[dict[str, Any]] = []
    training = Training(replace(CONFIG, value_steps=2 * UPDATE, learning_rate_end=1e-3), tmp_path, watch)
    tensors.append(training.policy().network.tensors)
    assert training.learn()
    for name in tensors[0]:
        same = [np.array_equal(before[name], after[name]) for before, after in itertools.pairwise(tensors)]
        assert same == ([True, True, False, False] if name.startswith("policy") else [False] * 4), name


def test_resume__with_another_reward_keeps_what_the_stopped_run_needs(stopped: Path) -> None:
    """Until the next save; a stop before it leaves a run that goes on."""
    files = sorted((stopped / "champions").iterdir())
    assert files
    other = Training(replace(CONFIG, reward="win"), stopped, lambda progress: None)
    assert restore(other) == ["reward differs from the stopped run's: the best checkpoint is chosen anew"]
    assert sorted((stopped / "champions").iterdir()) == files
    assert other.learn()
    numbers = {champion.number for champion in other.champions}
    assert numbers
    assert not numbers & {int(file.stem) for file in files}  # no old file is taken for a new champion
    assert restore(Training(replace(CONFIG, reward="win"), stopped, lambda progress: None)) == []


def test_run__only_one_process_trains_in_a_folder(tmp_path: Path) -> None:
    with (
        only_one(tmp_path),
        pytest.raises(ValueError, match=f"another process is training in {tmp_path}"),
        only_one(tmp_path),
    ):
        pass
    with only_one(tmp_path):
        pass


def test_run__a_full_disk_is_told(tmp_path: Path) -> None:
    def fill(path: Path) -> None:
        raise SafetensorError("No space left on device")

    with pytest.raises(OSError, match=r"it\.safetensors cannot be written: No space left on device"):
        write_whole(tmp_path / "it.safetensors", fill)
    assert not list(tmp_path.iterdir())
