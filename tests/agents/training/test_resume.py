"""Going on: a run that was stopped is, to the last bit, the run that was not; and what is damaged is refused."""

import fnmatch
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass, replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.numpy import save_file
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.policies import BasePolicy
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from fivedice.agents.policies.checkpoint import load_checkpoint
from fivedice.agents.policies.files import digest
from fivedice.agents.training.config import Mix, TrainConfig
from fivedice.agents.training.folder import is_fresh, run_folder
from fivedice.agents.training.opponents import OpponentPool
from fivedice.agents.training.resume import FILE, restore, save_resume
from fivedice.agents.training.run import Progress, Training, train
from fivedice.agents.training.vec_env import SeatVecEnv
from fivedice.envs.api.table import Table
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.chance import new_streams
from fivedice.envs.core.spec import Game, Layout

UPDATE = 128  # decisions between two updates of the runs below
SMALL = TrainConfig(
    opponents=Mix(current=1, recent=1, past=1, hard=2, random=1, greedy=1, floor=0.4),
    total_timesteps=5 * UPDATE,
    n_envs=8,
    n_steps=16,
    batch_size=64,
    n_epochs=2,
    learning_rate=0.01,
    learning_rate_end=0.002,
    ent_coef=0.02,
    ent_coef_end=0.001,
    net_arch=(8,),
    snapshot_every=UPDATE,
    pool_size=3,
    eval_every=2 * UPDATE,
    eval_games=6,
    check_games=6,
    torch_threads=1,
)
# Everything switched on that goes together.
CONFIGS = {
    "prior": replace(
        SMALL,
        game="showdown_yahtzee",
        num_players=3,
        options={"max_turns": 9},
        reward="win",
        reward_scale=0.5,
        margin_coef=0.08,
        margin_coef_end=0.01,
        prior="greedy",
        prior_span=6.0,
        prior_keep_span=3.0,
        prior_features=True,
        value_steps=UPDATE,
        seed=3,
    ),
    "canonical forms": replace(
        SMALL, game="yahtzee_jr", num_players=3, reward="margin", margin_coef=0.3, activation="relu", net_arch=(8, 6)
    ),
    "alone": replace(SMALL, game="yum", num_players=1, reward="score", reward_scale=0.05, options={"zeros": "free"}),
}
STOPS = {"prior": (1, 2, 3, 4), "canonical forms": (1, 2), "alone": (3,)}  # after so many updates


# All that a run is


ONLY_ONE = (Training, SeatVecEnv, Table, Batch, OpponentPool, BaseAlgorithm, torch.nn.Module)  # of each in a run


def state_of(training: Training) -> dict[str, str]:
    """Every number, text and array of a run by its path, wherever it hangs."""
    found: dict[str, str] = {}
    _walk(training, "run", found, {}, str(training.folder))
    return found


def _walk(value: Any, path: str, found: dict[str, str], seen: dict[int, str], folder: str) -> None:
    if isinstance(value, ONLY_ONE):
        if id(value) in seen:
            found[path] = f"the same as {seen[id(value)]}"
            return
        seen[id(value)] = path

    def inside(parts: Mapping[Any, Any], join: str = ".") -> None:
        for name, part in parts.items():
            _walk(part, f"{path}{join}{name}", found, seen, folder)

    if isinstance(value, torch.nn.Module):
        inside(value.state_dict())
        inside({f"{name} learns": parameter.requires_grad for name, parameter in value.named_parameters()})
        if isinstance(value, BasePolicy):
            adam = value.optimizer.state_dict()
            moments = {number: dict(sorted(state.items())) for number, state in sorted(adam["state"].items())}
            inside({"optimizer": {"state": moments, "param_groups": adam["param_groups"]}})
    elif isinstance(value, torch.Tensor):
        found[path] = digest({"": value.detach().cpu().numpy()})
    elif isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        found[path] = digest({"": array}) if array.dtype != object else repr(array.tolist())
    elif isinstance(value, (bool, int, float, str, bytes, type(None))):
        found[path] = repr(value)
    elif isinstance(value, Path):
        found[path] = str(value).replace(folder, "FOLDER")
    elif isinstance(value, Mapping):
        found[path] = f"the keys {list(value)}"
        inside(value)
    elif isinstance(value, (list, tuple, deque)):
        found[path] = f"{type(value).__name__} of {len(value)}"
        inside(dict(enumerate(value)))
    elif isinstance(value, (set, frozenset)):
        found[path] = repr(sorted(value))
    elif isinstance(value, (type, FunctionType, BuiltinFunctionType, MethodType, torch.device, np.dtype)):
        found[path] = f"{getattr(value, '__name__', value)}"[:60]
    elif isinstance(value, (Game, Layout, Logger)):
        found[path] = type(value).__name__  # a game and its layout never change; what is logged is compared
    elif type(value).__module__.startswith("gymnasium.spaces"):
        found[path] = repr(value)
    elif type(value).__module__.startswith(("fivedice.", "stable_baselines3.", "sb3_contrib.")):
        found[path] = type(value).__name__
        inside(vars(value) if hasattr(value, "__dict__") else {})
    elif is_dataclass(value):
        found[path] = type(value).__name__
        inside(vars(value))
    else:
        pytest.fail(f"{path} is a {type(value)}; say in _walk how it is compared")


# What differs all the same, and why. In the end of both runs:
CLOCK = {
    "run._started": "seconds",
    "run._checking": "seconds",
    "run.model.start_time": "seconds",
    "run.report*": "belongs to the caller",
    "run.env._seed": "the next reset() uses it up, of which a run that goes on needs none",
    "run.model._custom_logger": "whether one was given",
}
# Before the next update, which sets these before it reads them:
SET_ANEW = {
    "run._forgot": "said of the last evaluation; empty before each",
    "run.env.margin_coef": "set before each update",
    "run.env._actions": "written by step_async, read by step_wait",
    "run.env._chosen": "the same, as the learner named them",
    "run.env.table.paid": "what the last decision was paid; the rollout has it",
    "run.env.table.batch.rewards": "the same for all seats",
    "run.env.table.batch._points*": "room for one step",
    "run.env.table.batch._one_action": "room for one step",
    "run.model.rollout_buffer*": "filled anew by each update",
    "run.model.ent_coef": "set before each update",
    "run.model.policy.optimizer.param_groups.0.lr": "set before each update",
    "run.model.policy.* learns": "set before each update",
    "run.model.lr_schedule*": "a function of the steps",
    "run.model._current_progress_remaining": "set in each update",
    "run.model._total_timesteps": "where the update in hand ends",
    "run.model._num_timesteps_at_start": "where the update in hand began",
    "run.model._last_obs": "of a rollout buffer's own; compared as what the table shows",
}


def differences(
    one: dict[str, str], other: dict[str, str], but_for: Mapping[str, str]
) -> dict[str, tuple[str | None, str | None]]:
    """What differs by its path."""
    return {
        path: (one.get(path), other.get(path))
        for path in {**one, **other}
        if one.get(path) != other.get(path) and not any(fnmatch.fnmatchcase(path, pattern) for pattern in but_for)
    }


@dataclass
class Stop:
    """A run in its middle: a copy of its folder, and all that it was."""

    folder: Path
    state: dict[str, str]
    shown: np.ndarray
    evaluated: bool


@dataclass
class Course:
    """A run that went from start to end, and where it might have been stopped."""

    config: TrainConfig
    training: Training
    told: list[str]
    end: dict[str, str]
    stops: dict[int, Stop]


Courses = dict[str, tuple[Course, Course]]


def in_short(progress: Progress) -> str:
    """All that a run tells, without its speed."""
    return repr(replace(progress, decisions_per_second=0.0))


def run(config: TrainConfig, folder: Path) -> Course:
    told: list[str] = []
    training = Training(config, folder, lambda progress: told.append(in_short(progress)), 170.0)
    assert training.learn()
    return Course(config, training, told, state_of(training), {})


def run_with_stops(config: TrainConfig, folder: Path, places: tuple[int, ...]) -> Course:
    """The same; the folder is copied as a stop there would leave it."""
    told: list[str] = []
    stops: dict[int, Stop] = {}

    def report(progress: Progress) -> None:
        told.append(in_short(progress))
        if len(told) in places:
            if progress.evaluation is None:
                save_resume(training)
            training.model.logger.output_formats[0].writer.flush()
            copy = folder.with_name(f"stop-{len(told)}")
            shutil.copytree(folder, copy)
            shown = np.array(training.model._last_obs)
            stops[len(told)] = Stop(copy, state_of(training), shown, progress.evaluation is not None)

    training = Training(config, folder, report, 170.0)
    assert training.learn()
    return Course(config, training, told, state_of(training), stops)


@pytest.fixture(scope="module")
def courses(tmp_path_factory: pytest.TempPathFactory) -> Courses:
    """Each run twice: left alone, and with the places where it was copied."""
    folder = tmp_path_factory.mktemp("runs")
    return {
        name: (
            run(config, folder / name / "straight"),
            run_with_stops(config, folder / name / "watched", STOPS[name]),
        )
        for name, config in CONFIGS.items()
    }


def contents(path: Path) -> tuple[dict[str, str], dict[str, bytes]]:
    """The metadata and every tensor of a file, to the last bit."""
    with safe_open(path, framework="numpy") as file:
        return file.metadata(), {name: file.get_tensor(name).tobytes() for name in file.keys()}  # noqa: SIM118


def checkpoints(folder: Path) -> dict[str, Any]:
    """All that a run has saved."""
    return {str(path.relative_to(folder)): contents(path) for path in folder.rglob("*.safetensors")}


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """What a run has logged over its steps, but for times."""
    log = EventAccumulator(str(folder))
    log.Reload()
    tags = [tag for tag in log.Tags()["scalars"] if not tag.startswith("time/")]
    return {tag: [(point.step, point.value) for point in log.Scalars(tag)] for tag in tags}


PLACES = [(name, updates) for name, stops in STOPS.items() for updates in stops]


def test_configs__switch_on_what_there_is(courses: Courses) -> None:
    """Lest the tests below compare what is empty."""
    straight = {name: course[0].training for name, course in courses.items()}
    dealt = straight["prior"].pool
    assert set(dealt.kinds) == {"current", "recent", "past", "hard", "random", "greedy"}
    for name in ("prior", "canonical forms"):
        results = straight[name].pool.results
        assert {0, 1} < set(results), name  # baselines and snapshots
        assert any(number > 1 for number in results), name
        assert any(0 < won < games for games, won in results.values()), name
        for stop in courses[name][1].stops.values():
            assert stop.state["run.env.margins"] != digest({"": np.zeros(SMALL.n_envs)})
            assert stop.state["run.env.lengths"] != digest({"": np.zeros(SMALL.n_envs, np.int64)})
    assert straight["prior"].feature_names
    assert straight["canonical forms"].canonical_form
    assert any(len(training.previous_bests) > 1 for training in straight.values())
    assert any(course.stops[updates].evaluated for _, course in courses.values() for updates in course.stops)
    ended = scalars(courses["prior"][0].training.folder)["rollout/score"]
    assert len(ended) == 5  # games end in each update


@pytest.mark.parametrize("name", CONFIGS)
def test_run__is_the_same_twice_and_saving_leaves_no_trace(courses: Courses, name: str) -> None:
    straight, watched = courses[name]
    assert straight.told == watched.told
    assert differences(straight.end, watched.end, CLOCK) == {}
    assert checkpoints(straight.training.folder) == checkpoints(watched.training.folder)
    assert scalars(straight.training.folder) == scalars(watched.training.folder)


@pytest.mark.parametrize(("name", "updates"), PLACES)
def test_resume__equals_a_run_that_never_stopped(courses: Courses, tmp_path: Path, name: str, updates: int) -> None:
    straight, watched = courses[name]
    stop, told = watched.stops[updates], list[str]()
    shutil.copytree(stop.folder, tmp_path / "run")
    before = set((tmp_path / "run").glob("events.*"))
    resumed = Training(straight.config, tmp_path / "run", lambda progress: told.append(in_short(progress)), 170.0)
    assert restore(resumed) == []
    wrong = differences(stop.state, state_of(resumed), CLOCK | SET_ANEW)
    assert wrong == {}, "resume.py does not restore this"
    np.testing.assert_array_equal(resumed.model._last_obs, stop.shown)

    assert resumed.learn()
    assert differences(straight.end, state_of(resumed), CLOCK) == {}
    assert told == straight.told[updates:]
    assert checkpoints(tmp_path / "run") == checkpoints(straight.training.folder)

    for path in before:
        path.unlink()  # what the stopped run has logged
    ours, steps = scalars(tmp_path / "run"), updates * UPDATE
    for tag, points in scalars(straight.training.folder).items():
        later = [point for point in points if point[0] > steps]
        if tag.startswith("train/") and not stop.evaluated:
            later = later[1:]  # of the update before the stop: they are logged with the next, and so are not kept
        assert ours.get(tag, []) == later, tag


def test_exceptions__are_of_what_there_is(courses: Courses) -> None:
    paths = {path for _, watched in courses.values() for stop in watched.stops.values() for path in stop.state}
    for pattern in CLOCK | SET_ANEW:
        assert fnmatch.filter(paths, pattern), pattern


# What may be otherwise


@pytest.fixture
def stopped(courses: Courses, tmp_path: Path) -> Path:
    """The folder of a run stopped after two of its five updates."""
    return shutil.copytree(courses[CALM][1].stops[2].folder, tmp_path / "run")


CALM = "canonical forms"
CONFIG = CONFIGS[CALM]


def silent(progress: Progress) -> None:
    """Take in what a run tells."""


def test_resume__by_a_signal_and_again_is_the_same_run(courses: Courses, tmp_path: Path) -> None:
    """Stopped twice, by what Ctrl-C sends, between two evaluations."""
    told = []
    for until in (1, 3, 5):

        def report(progress: Progress, until: int = until) -> None:
            told.append(in_short(progress))
            if len(told) == until < 5:
                signal.raise_signal(signal.SIGINT)

        training = Training(CONFIG, tmp_path, report, 170.0)
        if until > 1:
            assert restore(training) == []
        assert training.learn() is (until == 5)
        assert training.steps == until * UPDATE
    straight = courses[CALM][0]
    assert told == straight.told
    assert checkpoints(tmp_path) == checkpoints(straight.training.folder)


def test_resume__after_a_kill_logs_each_step_once(courses: Courses, tmp_path: Path) -> None:
    """It was killed after it had logged more than it had saved."""

    class Killed(Exception):
        pass

    def report(progress: Progress) -> None:
        if progress.steps == 3 * UPDATE:
            raise Killed

    with pytest.raises(Killed):
        Training(CONFIG, tmp_path, report, 170.0).learn()
    logged = {step for points in scalars(tmp_path).values() for step, _ in points}
    resumed = Training(CONFIG, tmp_path, silent, 170.0)
    assert restore(resumed) == []
    assert (resumed.steps, max(logged)) == (2 * UPDATE, 3 * UPDATE)
    assert resumed.learn()
    straight = scalars(courses[CALM][0].training.folder)
    assert {tag: points for tag, points in scalars(tmp_path).items() if not tag.startswith("train/")} == {
        tag: points for tag, points in straight.items() if not tag.startswith("train/")
    }


def test_resume__survives_a_stop_before_the_first_decision_of_a_game_was_paid(stopped: Path) -> None:
    training = Training(CONFIG, stopped, silent)
    assert restore(training) == []
    owed = np.arange(8) + 0.25
    training.env.table.owed[:] = owed
    save_resume(training)
    again = Training(CONFIG, stopped, silent)
    assert restore(again) == []
    np.testing.assert_array_equal(again.env.table.owed, owed)


def test_resume__with_other_n_envs_is_told_and_goes_on(stopped: Path) -> None:
    training = Training(replace(CONFIG, n_envs=4, batch_size=32), stopped, silent)
    notes = restore(training)
    assert notes == [
        "n_envs differs from that of the stopped run, so its running games are dropped and new ones are started"
    ]
    assert training.steps == 2 * UPDATE
    assert training.env._seed == CONFIG.seed + 2 * UPDATE  # not the games of the run's start
    assert training.learn()
    keys = new_streams(CONFIG.seed + 2 * UPDATE, 4)["key"]
    np.testing.assert_array_equal(training.env.table.batch.streams["key"], keys)
    assert training.steps == 5 * UPDATE


def written_by_another_version(path: Path, change: Callable[[dict[str, Any], dict[str, np.ndarray]], object]) -> None:
    """Change notes and tensors of a resume file as a version would that writes others."""
    with safe_open(path, framework="numpy") as file:
        notes, tensors = json.loads(file.metadata()["notes"]), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    change(notes, tensors)
    text = json.dumps(notes)
    seals = {"digest": digest(tensors), "notes_digest": sha256(text.encode()).hexdigest()}
    save_file(tensors, path, metadata={"notes": text, **seals})


def test_resume__of_another_version_is_told_and_goes_on(stopped: Path) -> None:
    def shorten(notes: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        tensors["games.streams"] = tensors["games.streams"][: CONFIG.n_envs * 88]

    written_by_another_version(stopped / FILE, shorten)
    training = Training(CONFIG, stopped, silent)
    assert restore(training) == [
        "the stopped run was made by another version of fivedice, "
        "so its running games are dropped and new ones are started"
    ]
    assert training.learn()


def test_resume__after_the_end_has_nothing_left_to_do(courses: Courses, tmp_path: Path) -> None:
    folder = shutil.copytree(courses[CALM][0].training.folder, tmp_path / "run")
    training = Training(CONFIG, folder, lambda progress: pytest.fail("nothing was left to do"))
    restore(training)
    assert training.learn()


@pytest.mark.parametrize("place", ["pool", "previous_bests"])
def test_resume__drops_policies_of_after_the_last_save(stopped: Path, place: str) -> None:
    known = sorted((stopped / place).iterdir())
    late = stopped / place / "000099.safetensors"
    late.write_bytes(known[0].read_bytes())
    restore(Training(CONFIG, stopped, silent))
    assert sorted((stopped / place).iterdir()) == known


def test_resume__with_another_reward_keeps_what_the_stopped_run_needs(stopped: Path) -> None:
    """Until the next save; a stop before it leaves a run that goes on."""
    files = sorted((stopped / "previous_bests").iterdir())
    assert files
    other = Training(replace(CONFIG, reward="win"), stopped, silent)
    assert restore(other) == ["the reward differs from that of the stopped run, so the best checkpoint is chosen again"]
    assert (other.best, other.previous_bests) == (-float("inf"), [])
    assert sorted((stopped / "previous_bests").iterdir()) == files
    assert other.learn()
    numbers = {previous_best.number for previous_best in other.previous_bests}
    assert numbers
    assert not numbers & {int(file.stem) for file in files}  # no old file is taken for a new previous_best
    assert restore(Training(replace(CONFIG, reward="win"), stopped, silent)) == []


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
        time.sleep(0.3)
        process.terminate()
        said, complained = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0, complained
    assert f"continue with: fivedice train --resume {tmp_path / 'run'}" in said.replace("\n", "")
    config = TrainConfig(n_envs=8, n_steps=16, batch_size=64, net_arch=(8,), torch_threads=1)
    assert json.loads((tmp_path / "run" / "config.json").read_text())["n_envs"] == 8
    training = Training(config, tmp_path / "run", silent)
    assert restore(training) == []
    assert training.steps > 0
    assert isinstance(training.env, SeatVecEnv)


# What is refused


def files_in(folder: Path) -> dict[Path, bytes]:
    """All that a refusal must leave as it is; the log is written by a thread of its own."""
    return {
        path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and not path.name.startswith("events.")
    }


def refused(training: Training, said: str | None = None) -> str:
    """What a refusal says, which is one sentence and changes no file."""
    before = files_in(training.folder)
    with pytest.raises(ValueError, match=said) as error:
        restore(training)
    assert files_in(training.folder) == before
    assert "\n" not in str(error.value)
    assert str(training.folder) in str(error.value)
    assert error.value.__suppress_context__ or error.value.__context__ is None
    return str(error.value)


# One change for each setting of a network, and the run that it is of.
CHANGES: dict[str, tuple[str, dict[str, Any], str]] = {
    "net_arch": (CALM, {"net_arch": (8, 7)}, r"is a run with net_arch=\[8, 6\], not with net_arch=\[8, 7\]"),
    "activation": (CALM, {"activation": "tanh"}, "is a run with activation='relu', not with activation='tanh'"),
    "canonical_form": (CALM, {"canonical_form": False}, "with canonical_form=True, not with canonical_form=False"),
    "prior": (
        "prior",
        {"prior": None, "prior_span": 0.0, "prior_keep_span": 0.0, "prior_features": False},
        "is a run with prior='greedy', not with prior=None",
    ),
    "prior_span": ("prior", {"prior_span": 5.0}, r"with prior_span=6\.0, not with prior_span=5\.0"),
    "prior_keep_span": ("prior", {"prior_keep_span": 2.0}, r"with prior_keep_span=3\.0, not with prior_keep_span=2\.0"),
    "prior_features": ("prior", {"prior_features": False}, r"with prior_features=\[.*\], not with prior_features=\[\]"),
    "seats": (CALM, {"num_players": 2}, r"is a run for Yahtzee Jr\. with num_players=3, not 2$"),
    "options": (
        CALM,
        {"options": {"tie_break": "share"}},
        "is a run for Yahtzee Jr. with tie_break='roll', not 'share'",
    ),
    "game": (CALM, {"game": "yum"}, r"is a run for Yahtzee Jr\., not for Yum$"),
}


def test_changes__has_every_setting_of_a_network() -> None:
    assert set(CONFIG.network_settings()) <= set(CHANGES)


@pytest.mark.parametrize("what", CHANGES)
def test_resume__as_something_else_is_refused(courses: Courses, tmp_path: Path, what: str) -> None:
    name, changes, said = CHANGES[what]
    folder = shutil.copytree(courses[name][1].stops[2].folder, tmp_path / "run")
    refused(Training(replace(CONFIGS[name], **changes), folder, silent), said)


@dataclass
class Victim:
    """A run that cannot go on, and what its resume file was."""

    training: Training
    whole: bytes
    metadata: dict[str, str]
    tensors: dict[str, np.ndarray]

    @property
    def path(self) -> Path:
        return self.training.folder / FILE

    def hold(self, metadata: dict[str, str], tensors: dict[str, np.ndarray]) -> None:
        save_file(tensors, self.path, metadata=metadata)


@pytest.fixture(scope="module")
def run_to_damage(courses: Courses, tmp_path_factory: pytest.TempPathFactory) -> Victim:
    folder = shutil.copytree(courses[CALM][1].stops[2].folder, tmp_path_factory.mktemp("victim") / "run")
    with safe_open(folder / FILE, framework="numpy") as file:
        metadata, tensors = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    return Victim(Training(CONFIG, folder, silent), (folder / FILE).read_bytes(), metadata, tensors)


@pytest.fixture
def victim(run_to_damage: Victim) -> Iterator[Victim]:
    """The same, whole again after each test, and never changed by a file that is damaged."""
    yield run_to_damage
    run_to_damage.path.write_bytes(run_to_damage.whole)


def sampled_bits(whole: bytes, seed: int, *, header: int, rest: int) -> list[int]:
    """Bits of a safetensors file: the length of its header, some of the header, and some of its tensors."""
    begin = 8 * (8 + int.from_bytes(whole[:8], "little"))
    generator = np.random.default_rng(seed)
    some = [*generator.integers(64, begin, header), *generator.integers(begin, 8 * len(whole), rest)]
    return [*range(0, 64, 3), *map(int, some)]


def flipped(whole: bytes, bit: int) -> bytes:
    found = bytearray(whole)
    found[bit // 8] ^= 1 << bit % 8
    return bytes(found)


BROKEN = "cannot be read .*; the checkpoints in the same folder can still be played"
DAMAGED = "is damaged: its contents are not those that were written; the checkpoints in the same folder can"


def test_damage__of_one_bit_anywhere_is_refused(victim: Victim) -> None:
    before = state_of(victim.training)
    said = set()
    for bit in sampled_bits(victim.whole, 7, header=200, rest=100):
        victim.path.write_bytes(flipped(victim.whole, bit))
        said.add("broken" if "cannot be read" in refused(victim.training, f"{BROKEN}|{DAMAGED}") else "damaged")
    assert said == {"broken", "damaged"}
    assert state_of(victim.training) == before


@pytest.mark.parametrize("kept", [0, 7, 8, 100, 0.5, -1])
def test_damage__cut_short_is_refused(victim: Victim, kept: float) -> None:
    kept = int(kept * len(victim.whole)) if kept == 0.5 else int(kept)
    victim.path.write_bytes(victim.whole[:kept])
    refused(victim.training, BROKEN)
    victim.path.write_bytes(victim.whole + b"\0")
    refused(victim.training, BROKEN)


def test_damage__of_any_tensor_is_refused(victim: Victim) -> None:
    for name, tensor in victim.tensors.items():
        others: list[np.ndarray | None] = [None, tensor[None], flipped_in(tensor)]
        others.append(tensor.view(np.int8 if tensor.dtype == np.uint8 else f"i{tensor.dtype.itemsize}").copy())
        if tensor.dtype.kind == "f":
            others += [np.where(np.arange(tensor.size).reshape(tensor.shape) == 0, np.nan, tensor).astype(tensor.dtype)]
        for other in others:
            if other is None or other.dtype != tensor.dtype or digest({"": other}) != digest({"": tensor}):
                changed = {key: value for key, value in (victim.tensors | {name: other}).items() if value is not None}
                victim.hold(victim.metadata, changed)
                refused(victim.training, DAMAGED)
    names = list(victim.tensors)
    swaps = 0
    for one, two in pairwise(names):
        victim.hold(victim.metadata, victim.tensors | {one: victim.tensors[two], two: victim.tensors[one]})
        if digest({"": victim.tensors[one]}) != digest({"": victim.tensors[two]}):
            refused(victim.training, DAMAGED)
            swaps += 1
    assert swaps > len(names) / 2
    victim.hold(victim.metadata, victim.tensors | {"more": np.zeros(1)})
    refused(victim.training, DAMAGED)


def flipped_in(tensor: np.ndarray) -> np.ndarray:
    found = tensor.copy()
    np.atleast_1d(found).reshape(-1).view(np.uint8)[-1] ^= 1
    return found


def leaves(notes: Any, *path: Any) -> Iterator[tuple[Any, ...]]:
    """The path of every number and text in the notes."""
    parts = notes.items() if isinstance(notes, dict) else enumerate(notes) if isinstance(notes, list) else ()
    for name, part in parts:
        yield from leaves(part, *path, name)
    if not parts:
        yield path


def test_damage__of_any_note_is_refused(victim: Victim) -> None:
    found = list(leaves(json.loads(victim.metadata["notes"])))
    assert len(found) > 40
    for path in found:
        notes = json.loads(victim.metadata["notes"])
        place = notes
        for name in path[:-1]:
            place = place[name]
        place[path[-1]] = "7" if isinstance(place[path[-1]], str) else 7_777_777
        victim.hold({**victim.metadata, "notes": json.dumps(notes)}, victim.tensors)
        refused(victim.training, DAMAGED)


def test_damage__of_what_is_said_beside_the_tensors_is_refused(victim: Victim) -> None:
    assert set(victim.metadata) == {"notes", "digest", "notes_digest"}
    for name in victim.metadata:
        victim.hold({key: text for key, text in victim.metadata.items() if key != name}, victim.tensors)
        refused(victim.training, rf"cannot be read \('{name}'\)")
        for text in ("", "{", "null", victim.metadata[name][::-1]):
            victim.hold(victim.metadata | {name: text}, victim.tensors)
            refused(victim.training, f"{BROKEN}|{DAMAGED}")


# Notes that versions before this one did not write, and what a run has without them.
OPTIONAL: dict[str, Callable[[Training], bool]] = {
    "previous_bests": lambda training: training.previous_bests == [],
    "previous_bests.0.digest": lambda training: len(training.previous_bests) > 0,
    "pool.results": lambda training: training.pool.results == {},
    "pool.own": lambda training: training.config.opponents.own_policies == (),
    "pool.digests": lambda training: len(training.pool.snapshots()) == 3,
    "episodes": lambda training: list(training.model.ep_info_buffer or []) == [],
    "workers": lambda training: training.group.size == 1,
    "owes_evaluation": lambda training: not training.owes_evaluation,
}


def test_resume__of_another_version_says_which_note_is_missing(victim: Victim) -> None:
    notes = json.loads(victim.metadata["notes"])
    paths: list[tuple[Any, ...]] = [(name,) for name in notes]
    paths += [("pool", name) for name in notes["pool"]]
    paths += [("previous_bests", 0, name) for name in notes["previous_bests"][0]]
    assert {".".join(map(str, path)) for path in paths} >= set(OPTIONAL)
    previous_bests = files_in(victim.training.folder / "previous_bests")
    late = victim.training.folder / "pool" / "000099.safetensors"
    for path in paths:

        def leave_out(notes: dict[str, Any], tensors: dict[str, np.ndarray], path: tuple[Any, ...] = path) -> None:
            place: Any = notes
            for name in path[:-1]:
                place = place[name]
            del place[path[-1]]

        victim.path.write_bytes(victim.whole)
        written_by_another_version(victim.path, leave_out)
        dotted = ".".join(map(str, path))
        if dotted in OPTIONAL:
            assert restore(victim.training) == []
            assert OPTIONAL[dotted](victim.training)
        else:
            late.write_bytes(next(iter(previous_bests.values())))  # a refusal does not even remove what is left over
            refused(victim.training, rf"{FILE} has no '{path[-1]}'; it was written by another version of fivedice")
            late.unlink()
        for file, content in previous_bests.items():
            file.write_bytes(content)


def test_resume__of_another_version_says_which_tensor_is_missing(victim: Victim) -> None:
    for name in victim.tensors:
        if not name.startswith("adam."):  # what has not learned yet has no moments
            victim.path.write_bytes(victim.whole)
            written_by_another_version(victim.path, lambda notes, tensors, name=name: tensors.pop(name))
            missing = rf"has no '{name}'; it was written by another version of fivedice"
            refused(victim.training, "holds a network of another size" if name.startswith("model.") else missing)


class Evil:
    """Leaves a folder when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.trace),)


OTHERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda folder: (folder / FILE).unlink(), rf"cannot be resumed: .*{FILE} is missing"),
    "a folder": (
        lambda folder: ((folder / FILE).unlink(), (folder / FILE).mkdir()),
        rf"cannot be resumed: .*{FILE} is missing",
    ),
    "random bytes": (lambda folder: (folder / FILE).write_bytes(b"\x07" * 999), rf"{FILE} {BROKEN}"),
    "a checkpoint": (
        lambda folder: (folder / FILE).write_bytes((folder / "last.safetensors").read_bytes()),
        rf"{FILE} {BROKEN}",
    ),
    "a pickle": (lambda folder: (folder / FILE).write_bytes(pickle.dumps(Evil(folder / "trace"))), "cannot be read"),
}


@pytest.mark.parametrize("what", OTHERS)
def test_resume__from_something_else_is_refused(stopped: Path, what: str) -> None:
    break_it, said = OTHERS[what]
    break_it(stopped)
    refused(Training(CONFIG, stopped, silent), said)
    assert not (stopped / "trace").exists()


def test_resume__from_the_file_of_another_run_is_refused(courses: Courses, stopped: Path, tmp_path: Path) -> None:
    """The same settings and another seed: it has met other snapshots."""
    other = Training(replace(CONFIG, seed=77), tmp_path / "other", silent)
    other.model.learn(UPDATE)
    save_resume(other)
    (stopped / FILE).write_bytes((tmp_path / "other" / FILE).read_bytes())
    refused(Training(CONFIG, stopped, silent), r"pool/000002\.safetensors is not the file that this run wrote")
    (stopped / FILE).write_bytes((courses["prior"][1].stops[2].folder / FILE).read_bytes())
    refused(Training(CONFIG, stopped, silent), r"pool/000002\.safetensors is not the file that this run wrote")


def test_damage__of_a_snapshot_or_a_previous_best_is_refused(victim: Victim) -> None:
    folder = victim.training.folder
    policies = [*sorted((folder / "pool").iterdir()), *sorted((folder / "previous_bests").iterdir())]
    assert [str(path.relative_to(folder)) for path in policies] == [
        "pool/000002.safetensors",
        "pool/000003.safetensors",
        "pool/000004.safetensors",
        "previous_bests/000000.safetensors",
    ]
    wholes = {path: path.read_bytes() for path in policies}
    networks = {path: digest(load_checkpoint(path).network.tensors) for path in policies}
    for path, whole in wholes.items():
        for bit in sampled_bits(whole, 5, header=0, rest=8)[-8:]:
            path.write_bytes(flipped(whole, bit))
            assert str(path) in refused(victim.training, "cannot be used as a checkpoint: the file is damaged")
        for kept in (0, 8, len(whole) - 1):
            path.write_bytes(whole[:kept])
            assert str(path) in refused(victim.training, "cannot be used as a checkpoint: .* not a complete")
        path.unlink()
        assert refused(victim.training) == f"the file {path} does not exist"
        assert len(set(networks.values())) >= 3
        for other, content in wholes.items():
            if networks[other] != networks[path]:
                path.write_bytes(content)
                assert str(path) in refused(victim.training, "is not the file that this run wrote")
        path.write_bytes(whole)
    for path in policies:  # and whole they go on
        assert path.read_bytes() == wholes[path]
    assert restore(victim.training) == []


# Killed at other moments


class Killed(BaseException):
    """In place of SIGKILL: no code of the run handles it."""


@pytest.mark.parametrize("evaluations", [0, 1, 2])
def test_kill__in_an_evaluation_is_made_up_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, evaluations: int
) -> None:
    """The decisions before it are saved, and the resumed run plays it; also if it is the first or the last one."""
    config = replace(CONFIGS["alone"], runs=tmp_path, name="run")
    straight = train(replace(config, name="straight")).folder
    left, evaluate = [evaluations], Training.evaluate

    def killed(training: Training) -> Any:
        if not left[0]:
            raise Killed
        left[0] -= 1
        return evaluate(training)

    monkeypatch.setattr(Training, "evaluate", killed)
    with pytest.raises(Killed):
        train(config)
    played: list[int] = []

    def watched(training: Training) -> Any:
        played.append(training.steps)
        return evaluate(training)

    monkeypatch.setattr(Training, "evaluate", watched)
    resumed = train(config, tmp_path / "run")
    assert played == [2 * UPDATE, 4 * UPDATE, 5 * UPDATE][evaluations:]
    for name in ("best", "last", "resume"):
        assert contents(resumed.folder / f"{name}.safetensors")[1] == contents(straight / f"{name}.safetensors")[1]
    assert resumed.is_finished
    assert not resumed.owes_evaluation


def test_folder__of_a_process_that_was_killed_while_it_wrote_is_taken(tmp_path: Path) -> None:
    """Before the first save: temporary files, settings and snapshots, which a run of other settings may have left."""
    folder = tmp_path / "run"
    for name in (".config.json.x7", ".resume.safetensors.x8", "pool/000000.safetensors", "pool/.000001.safetensors.x9"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"half")
    assert is_fresh(folder)
    with run_folder(SMALL, folder):
        assert [path.name for path in folder.iterdir()] == [".lock"]
    (folder / "best.safetensors").touch()  # a near miss: this is worth something
    assert not is_fresh(folder)
    with pytest.raises(ValueError, match="cannot be resumed"), run_folder(SMALL, folder):
        pass
