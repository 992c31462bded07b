"""Training: what a run writes, and that its parts stay apart."""

import importlib.metadata
import io
import json
import pickle
import random
import re
import shlex
import shutil
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from rich.console import Console
from safetensors import SafetensorError, safe_open
from stable_baselines3.common.logger import configure
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import fivedice.agents
from fivedice.agents.cli import run as run_command
from fivedice.agents.evaluation import match
from fivedice.agents.evaluation.estimate import Estimate
from fivedice.agents.evaluation.match import Standing
from fivedice.agents.policies.baselines import optimum
from fivedice.agents.policies.checkpoint import read_card
from fivedice.agents.policies.files import write_whole
from fivedice.agents.policies.network import Network
from fivedice.agents.training import folder as folder_of_runs
from fivedice.agents.training import metrics, validation
from fivedice.agents.training import run as training_run
from fivedice.agents.training.config import Mix, TrainConfig
from fivedice.agents.training.folder import only_one
from fivedice.agents.training.gate import forgotten, loses_to
from fivedice.agents.training.group import Group
from fivedice.agents.training.metrics import Watch
from fivedice.agents.training.resume import FILE, restore
from fivedice.agents.training.run import Progress, Training, passes
from fivedice.agents.training.stop import StopOnSignal
from fivedice.agents.training.validation import load_start
from fivedice.envs import load_game

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


def contents(path: Path) -> tuple[dict[str, str], dict[str, bytes]]:
    """The metadata and every tensor of a file, to the last bit."""
    with safe_open(path, framework="numpy") as file:
        return file.metadata(), {name: file.get_tensor(name).tobytes() for name in file.keys()}  # noqa: SIM118


# A run


def test_run__writes_what_plays_and_what_resumes(straight: Training) -> None:
    names = {path.name for path in straight.folder.iterdir() if not path.name.startswith("events.")}
    assert names == {"best.safetensors", "last.safetensors", FILE, "pool", "previous_bests"}
    assert len(list((straight.folder / "pool").iterdir())) >= CONFIG.pool_size
    for name in ("best", "last"):
        policy = fivedice.agents.load(straight.folder / f"{name}.safetensors")
        assert policy.name == name
    last = fivedice.agents.load(straight.folder / "last.safetensors")
    for name, tensor in straight.policy().network.tensors.items():
        np.testing.assert_array_equal(last.network.tensors[name], tensor)  # type: ignore[attr-defined]


def test_train__starts_where_a_job_was_stopped_before_its_first_save(tmp_path: Path) -> None:
    """A cluster starts a job again by the same command, with or without ``--resume``."""
    config = replace(CONFIG, runs=tmp_path, name="job", total_timesteps=UPDATE)
    folder = tmp_path / "job"
    folder.mkdir()
    for name in ("config.json", ".lock", "events.out.tfevents.1.old"):
        (folder / name).write_text("{}")
    assert training_run.train(config).is_finished
    assert not (folder / "events.out.tfevents.1.old").exists()
    shutil.rmtree(folder)
    for begun in (False, True):  # the first time there is no folder, the second time the run has ended
        notes: list[str] = []
        reporter = training_run.Silent()
        reporter.note = notes.append  # type: ignore[method-assign]  # what is said is looked at
        assert training_run.train(config, folder, reporter).is_finished
        said = f"nothing is saved in {folder} yet, so the run starts from the beginning"
        ended = "the run has ended after 128 decisions; a greater --total-timesteps continues it"
        assert notes == [ended if begun else said]
    (folder / "resume.safetensors").unlink()
    with pytest.raises(ValueError, match=r"job cannot be resumed: .*resume\.safetensors is missing"):
        training_run.train(config, folder)
    with pytest.raises(ValueError, match="job exists already and holds nothing that can be resumed"):
        training_run.train(config)
    assert (folder / "best.safetensors").is_file()


@pytest.mark.parametrize("learning_rate", [1e30, 1e38])
def test_train__that_diverges_says_so_and_saves_no_broken_network(tmp_path: Path, learning_rate: float) -> None:
    config = replace(CONFIG, runs=tmp_path, name="it", learning_rate=learning_rate, eval_every=UPDATE)
    said = (
        rf"^training diverged after [\d,]+ decisions: .* smaller learning_rate than {re.escape(f'{learning_rate:g}')}; "
        "saved before: "
    )
    with pytest.raises(ValueError, match=said):
        training_run.train(config)
    for path in (tmp_path / "it").rglob("*.safetensors"):
        with safe_open(path, framework="numpy") as file:
            for name in file.keys():  # noqa: SIM118  # no dict
                assert np.isfinite(file.get_tensor(name)).all(), (path, name)


def test_run__whose_folder_is_removed_ends_with_one_sentence(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder, told = tmp_path / "run", list[Progress]()

    def report(progress: Progress) -> None:
        told.append(progress)
        if len(told) == 1:
            shutil.rmtree(folder)

    folder.mkdir()
    with pytest.raises(
        FileNotFoundError, match=rf"^the folder {re.escape(str(folder))} was removed .*; start it again$"
    ):
        Training(CONFIG, folder, report).learn()
    assert "Traceback" not in capfd.readouterr().err
    assert (len(told), folder.exists()) == (1, False)


def test_train__that_is_refused_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any) -> None:
        raise ValueError("no model")

    monkeypatch.setattr(training_run, "make_model", fail)
    config = replace(CONFIG, runs=tmp_path)
    (tmp_path / "mine").mkdir()
    for resume in (None, tmp_path / "new", tmp_path / "mine"):
        with pytest.raises(ValueError, match="no model"):
            training_run.train(config, resume)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_train__from_python_leaves_global_generators_and_settings_alone(tmp_path: Path) -> None:
    def settings() -> tuple[Any, ...]:
        of_numpy = np.random.get_state()  # noqa: NPY002  # the global one is looked at
        return (
            random.getstate(),
            torch.get_rng_state().tolist(),
            [part.tolist() if isinstance(part, np.ndarray) else part for part in of_numpy],
            torch.get_num_threads(),
            torch.distributions.Distribution._validate_args,
        )

    before = settings()
    training = training_run.train(replace(CONFIG, runs=tmp_path, name="quiet", total_timesteps=UPDATE))
    assert settings() == before
    assert (training.is_finished, training.folder) == (True, tmp_path / "quiet")
    assert fivedice.agents.load(tmp_path / "quiet" / "best.safetensors").name == "best"


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
            "opponents.floor=0.2 needs a baseline; give random or",
        ),
        (
            {"game": "yahtzee_jr", "num_players": 3, "opponents": Mix(optimal=1)},
            "opponents.optimal=1, but Yahtzee Jr. is not solved; use 0",
        ),
        ({"opponents": Mix(planner=0.5)}, "opponents.planner=0.5, but Yum has no planner; use 0"),
        ({"prior": "planner"}, "there is no 'planner' policy for Yum; use 'random' or 'greedy' or 'optimal'"),
        ({"opponents": Mix(current=0, past=0, random=0, greedy=0)}, "all weights in opponents are 0"),
        (
            {"features_only": True, "prior": "greedy"},
            "features_only=True trains only feature weights; set prior_features=True, too",
        ),
        (
            {"prior_span": 1.0},
            "prior_span, prior_keep_span and prior_features need a prior; use prior='greedy'",
        ),
    ],
)
def test_run__wrong_settings_are_refused_before_anything_is_written(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        Training(replace(CONFIG, **changes), tmp_path / "run", lambda progress: None)
    assert not (tmp_path / "run").exists()


# What a run logs

BY_GAMES = {
    "rollout/score",
    "rollout/return",
    "rollout/entropy_ratio",
    "pool/size",
    "pool/least_win_rate",
    "time/rollout_decisions_per_second",
}
BY_EVALUATION = {"eval/score", "eval/forgotten", "time/share_of_checks"}
BY_STABLE_BASELINES = {
    "rollout/ep_len_mean",
    "rollout/ep_rew_mean",
    "time/fps",
    "train/approx_kl",
    "train/clip_fraction",
    "train/clip_range",
    "train/entropy_loss",
    "train/explained_variance",
    "train/learning_rate",
    "train/loss",
    "train/policy_gradient_loss",
    "train/value_loss",
}
LIBRARIES = ["fivedice", "numpy", "torch", "stable-baselines3", "sb3-contrib", "gymnasium", "pettingzoo", "numba"]


def test_run__logs_each_scalar_over_the_steps_of_the_learner(straight: Training) -> None:
    log = EventAccumulator(str(straight.folder))
    log.Reload()
    opponents = {"random", "greedy", "optimal"}
    against = {f"eval/win_rate_vs_{rival}" for rival in opponents}
    found = {tag for tag in log.Tags()["scalars"] if "previous_best_" not in tag}  # those are there if it got better
    with_intervals = {f"{tag}_{end}" for tag in {"eval/score", *against} for end in ("low", "high")}
    met = {f"rollout/win_rate_vs_{rival}" for rival in ("random", "greedy", "snapshots")}
    assert found == BY_GAMES | BY_EVALUATION | BY_STABLE_BASELINES | against | with_intervals | met
    entropies = log.Scalars("rollout/entropy_ratio")
    assert [point.step for point in entropies] == [UPDATE * update for update in range(1, 5)]
    assert [point.step for point in log.Scalars("eval/score")] == [2 * UPDATE, 4 * UPDATE]
    assert all(0 < point.value <= 1 for point in entropies)
    returns = {point.step: point.value for point in log.Scalars("rollout/return")}
    for point in log.Scalars("rollout/score"):
        assert returns[point.step] == pytest.approx(point.value * CONFIG.reward_scale, rel=1e-4)


def disturb(training: Training, seed: int) -> None:
    """Give every parameter another value, so that no two of the same shape are alike."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in training.model.policy.parameters():
            parameter += 0.3 * torch.randn(parameter.shape, generator=generator)


class Clock:
    """Stands still until it is told."""

    def __init__(self, now: float) -> None:
        self.now = now

    def monotonic(self) -> float:
        return self.now


def game_of(score: float, paid: float, win: float, *opponents: str) -> dict[str, Any]:
    return {"score": score, "win": win, "opponents": list(opponents), "episode": {"r": paid, "l": 3}}


GAMES = [
    game_of(10, 1.0, 1.0, "step-000000100", "random"),
    game_of(31, -2.0, 0.0, "random", "random"),
    game_of(7, 0.5, 0.5, "greedy", "step-000000200"),
    game_of(2, 4.0, 1 / 3, "step-000000100", "step-000000200"),
]


def test_watch__logs_each_figure_of_the_games_that_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = replace(CONFIG, game="showdown_yahtzee", prior="greedy", prior_span=1.5, prior_features=True, pool_size=4)
    training = Training(config, tmp_path, lambda progress: None)
    disturb(training, seed=1)
    model, pool, clock = training.model, training.pool, Clock(50.0)
    for steps in (100, 200):
        pool.add(training.policy(name=f"step-{steps:09d}"), steps, training.env.table.seated)
    first, second, third = pool.steps
    pool.results = {0: (4.0, 0.0), first: (8.0, 6.0), 1: (1.0, 1.0)}  # random is no snapshot, so not the least one
    told: list[dict[str, list[float]]] = []
    add_results = pool.add_results

    def told_pool(wins: Any) -> None:
        told.append({name: list(shares) for name, shares in wins.items()})
        add_results(wins)

    monkeypatch.setattr(pool, "add_results", told_pool)
    monkeypatch.setattr(metrics, "time", clock)
    model.set_logger(configure(None, []))
    watch = Watch(pool, training.feature_names)
    watch.init_callback(model)
    watch.on_rollout_start()
    watch.update_locals({"infos": [GAMES[3], *[{}] * 7], "dones": np.arange(8) == 0})
    watch.on_step()
    watch.on_rollout_start()  # that game was of the update before
    for there in ([GAMES[0], {}, GAMES[1], *[{}] * 5], [{}, GAMES[2], *[{}] * 5, GAMES[3]]):
        watch.update_locals({"infos": there, "dones": np.array([bool(game) for game in there])})
        watch.on_step()
    clock.now += 0.5
    seen, masks = made_up_decisions(training)
    watch.on_rollout_end()

    assert told == [
        {
            "step-000000100": [1.0, 1 / 3],
            "random": [1.0, 0.0],
            "greedy": [0.5],
            "step-000000200": [0.5, 1 / 3],
        }
    ]
    rates = {second: (1 + 1 / 3) / 2, third: (0.5 + 1 / 3) / 2, first: 6 / 8}
    assert pool.win_rates() == pytest.approx(
        rates | {0: (1 + 0) / (2 + 4 * (1 - 1 / 200) ** 2), 1: pool_rate_of_greedy()}
    )
    network = training.policy().network
    logged = dict(model.logger.name_to_value)
    assert logged == pytest.approx(
        {
            "rollout/score": (10 + 31 + 7 + 2) / 4,
            "rollout/return": (1 - 2 + 0.5 + 4) / 4,
            "rollout/win_rate_vs_snapshots": (1 + 0.5 + 1 / 3 + 1 / 3) / 4,
            "rollout/win_rate_vs_random": 0.5,
            "rollout/win_rate_vs_greedy": 0.5,
            "pool/size": 3,
            "pool/least_win_rate": (0.5 + 1 / 3) / 2,
            "rollout/entropy_ratio": entropy_ratio(network.logits(seen), masks),
            "time/rollout_decisions_per_second": 8 * 16 / 0.5,
            **weights_by_hand(network, seen, training.feature_names),
        },
        rel=1e-4,
    )
    assert watch.score == 12.5


def pool_rate_of_greedy() -> float:
    fading = 1 - 1 / 200
    return (1 * fading + 0.5) / (1 * fading + 1)


def made_up_decisions(training: Training) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Fill the rollout with one thing and its last step with another; returns the last step."""
    buffer, generator = training.model.rollout_buffer, np.random.default_rng(5)
    num_actions = training.env.table.batch.num_actions
    buffer.observations[:] = generator.uniform(-1, 1, buffer.observations.shape)
    masks = generator.random((16, 8, num_actions)) < generator.uniform(0.1, 0.9, (16, 8, 1))
    masks[:, :, 3] = True
    masks[-1, :2] = np.arange(num_actions) == 7  # no choice: these two do not count
    masks[-1, 2] = np.isin(np.arange(num_actions), (3, 7))  # the least that is one
    buffer.action_masks[:] = masks.reshape(buffer.action_masks.shape)
    return buffer.observations[-1].copy(), masks[-1]


def entropy_ratio(logits: NDArray[np.float32], masks: NDArray[np.bool_]) -> float:
    ratios = []
    for row in range(len(logits)):
        legal = logits[row, masks[row]].astype(np.float64)
        if len(legal) > 1:
            chances = np.exp(legal) / np.exp(legal).sum()
            ratios.append(-(chances * np.log(chances)).sum() / np.log(len(legal)))
    assert len(ratios) == 6
    return float(np.mean(ratios))


def weights_by_hand(network: Network, seen: NDArray[np.float32], names: list[str]) -> dict[str, float]:
    tensors = network.tensors
    inputs = seen[:, : tensors["policy.0.weight"].shape[1]]
    hidden = np.tanh(inputs @ tensors["policy.0.weight"].T + tensors["policy.0.bias"])
    weights = (hidden @ tensors["policy.query.weight"].T + tensors["policy.query.bias"]).mean(axis=0)
    assert len(set(weights.tolist())) == len(names) == 3
    return {f"features/{name}": float(weight) for name, weight in zip(names, weights, strict=True)}


def test_watch__logs_nothing_of_games_where_none_ended(tmp_path: Path) -> None:
    training = Training(CONFIG, tmp_path, lambda progress: None)
    training.model.set_logger(configure(None, []))
    watch = Watch(training.pool, [])
    watch.init_callback(training.model)
    watch.on_rollout_start()
    made_up_decisions(training)
    watch.on_rollout_end()
    assert set(training.model.logger.name_to_value) == {
        "pool/size",
        "rollout/entropy_ratio",
        "time/rollout_decisions_per_second",
    }
    assert np.isnan(watch.score)


def estimate(number: float) -> Estimate:
    """A made-up one of which no figure is like another's."""
    return Estimate(number, number / 7, round(1000 * number))


class Evaluated:
    """A training whose evaluations and checks are made up, and what it logged, told and kept at each."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, config: TrainConfig, optimum: float | None
    ) -> None:
        self.training = Training(config, folder, lambda progress: None, optimum)
        self.clock = Clock(100.0)
        monkeypatch.setattr(training_run, "time", self.clock)
        self.training._started = 90.0
        self.asked: list[tuple[str, int]] = []
        self.of_checks: dict[str, Estimate] = {}
        self.logged: list[tuple[int, dict[str, float]]] = []
        monkeypatch.setattr(self.training, "_play", self._play)
        self.training.model.set_logger(configure(None, []))
        dump = self.training.model.logger.dump

        def dumped(step: int = 0) -> None:
            self.logged.append((step, dict(self.training.model.logger.name_to_value)))
            dump(step)

        monkeypatch.setattr(self.training.model.logger, "dump", dumped)

    def _play(self, rival: Any, games: int) -> Standing:
        self.asked.append((rival.name, games))
        self.clock.now += 1.0
        other = {"nobody": estimate(0.99)}
        return Standing("learner", games, estimate(77.0), other | {rival.name: self.of_checks[rival.name]})

    def evaluate(self, monkeypatch: pytest.MonkeyPatch, steps: int, **figures: Estimate) -> dict[str, Estimate]:
        """One evaluation, as if after so many steps."""
        named = {f"eval/{name}": figure for name, figure in figures.items()}
        monkeypatch.setattr(self.training, "evaluate", lambda: dict(named))
        self.training.model.num_timesteps = steps
        disturb(self.training, seed=steps)
        return self.training.evaluate_and_save()


def test_evaluation__is_logged_saved_and_checked_figure_by_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Evaluated(tmp_path, monkeypatch, replace(CONFIG, check_games=14), 250.0)
    training = run.training
    run.training.model._last_episode_starts = np.ones(8, np.bool_)
    rates = {"win_rate_vs_random": estimate(0.9), "win_rate_vs_greedy": estimate(0.45)}
    run.of_checks = {"optimal": estimate(0.2), "best-000000100": estimate(0.6), "best-000000200": estimate(0.7)}
    early = rates | {"win_rate_vs_random": Estimate(0.5, 0.01, 9)}
    run.evaluate(monkeypatch, 100, score=estimate(120.0), **early)
    found = run.evaluate(monkeypatch, 200, score=estimate(130.0), **early)
    assert found["eval/win_rate_vs_previous_best_1"] == estimate(0.6)
    last = run.evaluate(monkeypatch, 300, score=estimate(140.0), **rates)
    assert run.asked == [
        ("optimal", 14),
        ("best-000000100", 14),
        ("optimal", 14),
        ("best-000000200", 14),
        ("best-000000100", 14),
        ("optimal", 14),
    ]
    expected = {
        "eval/score": estimate(140.0),
        "eval/win_rate_vs_random": estimate(0.9),
        "eval/win_rate_vs_greedy": estimate(0.45),
        "eval/win_rate_vs_previous_best_1": estimate(0.7),  # the newest first
        "eval/win_rate_vs_previous_best_2": estimate(0.6),
        "eval/win_rate_vs_optimal": estimate(0.2),
    }
    assert last == expected
    assert [steps for steps, _ in run.logged] == [100, 200, 300]
    logged = {name: figure.mean for name, figure in expected.items()}
    logged |= {f"{name}_low": figure.low for name, figure in expected.items()}
    logged |= {f"{name}_high": figure.high for name, figure in expected.items()}
    logged |= {"eval/percent_of_optimum": 56.0, "eval/forgotten": 0, "time/share_of_checks": 6 / 16}
    assert run.logged[-1][1] == pytest.approx(logged)

    assert [previous_best.number for previous_best in training.previous_bests] == [1, 2]  # two are kept
    assert [previous_best.policy.name for previous_best in training.previous_bests] == [
        "best-000000200",
        "best-000000300",
    ]
    assert [dict(previous_best.figures) for previous_best in training.previous_bests] == [found, expected]
    assert weights_of(training.previous_bests[0].policy) != weights_of(training.previous_bests[1].policy)
    assert weights_of(training.previous_bests[1].policy) == weights_of(training.policy())
    assert (training.best, training.next_best) == (140.0, 3)
    for name in ("best", "last"):
        card = read_card(tmp_path / f"{name}.safetensors")
        assert (card["steps"], set(card["evaluation"])) == (300, {name.removeprefix("eval/") for name in expected})

    # No better one, which is not checked.
    run.evaluate(monkeypatch, 400, score=estimate(140.0), **rates)
    assert len(run.asked) == 6
    assert (training.best, training.next_best) == (140.0, 3)
    assert set(run.logged[-1][1]) == set(logged) - {
        tag for tag in logged if "previous_best" in tag or "optimal" in tag
    } - {
        "eval/forgotten",
        "time/share_of_checks",
    }
    assert [read_card(tmp_path / f"{name}.safetensors")["steps"] for name in ("best", "last")] == [300, 400]

    # A better one that has forgotten the elder previous_best, and what the last one had learned of random.
    run.of_checks["best-000000300"], run.of_checks["best-000000200"] = estimate(0.45), estimate(0.4)
    worse = {"win_rate_vs_random": Estimate(0.6, 0.01, 9), "win_rate_vs_greedy": estimate(0.45)}
    run.evaluate(monkeypatch, 500, score=estimate(150.0), **worse)
    assert training._forgot == ("random", "previous_best_2")
    assert run.logged[-1][1]["eval/forgotten"] == 2
    assert (training.best, training.next_best) == (140.0, 3)
    assert [read_card(tmp_path / f"{name}.safetensors")["steps"] for name in ("best", "last")] == [300, 500]


def test_evaluation__alone_is_never_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Evaluated(tmp_path, monkeypatch, replace(CONFIG, num_players=1), 200.0)
    run.training.model._last_episode_starts = np.ones(8, np.bool_)
    run.evaluate(monkeypatch, 100, score=estimate(120.0))
    assert run.asked == []
    assert run.logged == [
        (
            100,
            {
                "eval/score": 120.0,
                "eval/score_low": 120 - 120 / 7,
                "eval/score_high": 120 + 120 / 7,
                "eval/percent_of_optimum": 60.0,
            },
        )
    ]
    assert [previous_best.number for previous_best in run.training.previous_bests] == [0]


@pytest.mark.parametrize(("num_players", "reward"), [(1, "score"), (2, "win")])
def test_save__names_the_reward_of_the_game_where_none_is_set(tmp_path: Path, num_players: int, reward: str) -> None:
    training = Training(replace(CONFIG, num_players=num_players, reward=None), tmp_path, lambda progress: None)
    training.save(tmp_path / "it.safetensors", {})
    assert read_card(tmp_path / "it.safetensors")["reward"] == reward


def test_save__writes_each_field_of_the_card(tmp_path: Path) -> None:
    config = replace(
        CONFIG,
        num_players=3,
        options={"zeros": "free"},
        reward="margin",
        prior="greedy",
        prior_logit=3.0,
        activation="relu",
        net_arch=(6, 5),
        seed=17,
    )
    training = Training(config, tmp_path, lambda progress: None)
    training.model.num_timesteps = 4321
    figures = {"eval/score": Estimate(12.5, 0.5, 40), "eval/win_rate_vs_greedy": Estimate(0.25, 0.125, 30)}
    training.save(tmp_path / "it.safetensors", figures)
    game, options = training.game, training.options
    assert read_card(tmp_path / "it.safetensors") == {
        "game": "yum",
        "game_version": game.version,
        "num_players": 3,
        "options": game.options_dict(game.make_options(3, {"zeros": "free"})),
        "observation_digest": game.layout(options).digest,
        "action_digest": game.action_digest(options),
        "network": {
            "net_arch": [6, 5],
            "activation": "relu",
            "canonical_form": False,
            "prior": "greedy",
            "prior_span": 0.0,
            "prior_keep_span": 0.0,
            "prior_features": [],
        },
        "reward": "margin",
        "steps": 4321,
        "seed": 17,
        "libraries": {name: importlib.metadata.version(name) for name in LIBRARIES},
        "evaluation": {
            "score": {"mean": 12.5, "half_width": 0.5, "low": 12.0, "high": 13.0, "deals": 40},
            "win_rate_vs_greedy": {"mean": 0.25, "half_width": 0.125, "low": 0.125, "high": 0.375, "deals": 30},
        },
    }
    assert weights_of(fivedice.agents.load(tmp_path / "it.safetensors")) == weights_of(training.policy())


def test_progress__tells_each_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Updates of half a second each, of 128 decisions, the first before the run goes on."""
    told: list[Progress] = []
    config = replace(CONFIG, num_players=3, n_envs=8, eval_every=3 * UPDATE)
    training = Training(config, tmp_path, told.append)
    clock, collect = Clock(10.0), training.model.collect_rollouts
    ended: list[list[float]] = []  # the points of the games that end in each update
    monkeypatch.setattr(training_run, "time", clock)
    figures = {
        "eval/score": estimate(50.0),
        "eval/win_rate_vs_greedy": Estimate(0.34, 0.01, 9),
        "eval/win_rate_vs_random": Estimate(0.3, 0.03, 9),
    }

    def evaluate_and_save() -> dict[str, Estimate]:
        training._forgot = ("greedy",)
        return figures

    step = training.env.step_wait

    def step_wait() -> Any:
        found = step()
        clock.now += 1 / 32
        ended[-1].extend(info["score"] for info in found[3] if info)
        return found

    def collect_rollouts(*args: Any, **settings: Any) -> bool:
        ended.append([])
        return bool(collect(*args, **settings))

    monkeypatch.setattr(training, "evaluate_and_save", evaluate_and_save)
    monkeypatch.setattr(training.env, "step_wait", step_wait)
    monkeypatch.setattr(training.model, "collect_rollouts", collect_rollouts)
    training.model.learn(UPDATE)  # a run that goes on counts from where it begins
    assert training.learn()
    assert [progress.steps for progress in told] == [2 * UPDATE, 3 * UPDATE, 4 * UPDATE]
    assert [progress.decisions_per_second for progress in told] == [2 * UPDATE] * 3
    assert [progress.evaluation for progress in told] == [None, figures, figures]
    assert [progress.loses_to for progress in told] == [(), ("random",), ("random",)]  # less than a third
    assert told[-1].forgot == ("greedy",)
    lately = [[points for points in ended[1 : 2 + update] if points] for update in range(3)]
    expected = [np.mean(updates[-1]) if updates else np.nan for updates in lately]
    assert [progress.score for progress in told] == pytest.approx(expected, nan_ok=True)
    assert expected[-1] > 0


def test_passes__a_multiple_after_the_first_and_not_after_the_second() -> None:
    found = [(before, after) for before in range(12) for after in range(before, 12) if passes(before, after, 5)]
    expected = [
        (before, after)
        for before in range(12)
        for after in range(before, 12)
        if any(before < multiple <= after for multiple in (0, 5, 10))
    ]
    assert found == expected


def test_stop__the_first_signal_asks_and_the_second_is_for_whoever_listened_before() -> None:
    heard: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        for number in before:
            signal.signal(number, lambda number, frame: heard.append(number))
            with StopOnSignal() as stop:
                assert not stop.requested
                signal.raise_signal(number)
                assert (stop.requested, heard) == (True, [])
                signal.raise_signal(number)
                assert heard == [number]
            signal.raise_signal(number)
            assert heard == [number] * 2
            with StopOnSignal() as stop:
                pass
            signal.raise_signal(number)
            assert (stop.requested, heard) == (False, [number] * 3)
            heard.clear()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# Evaluation


@pytest.mark.parametrize("num_players", [1, 2, 3])
def test_evaluation__is_that_of_the_arena(tmp_path: Path, num_players: int) -> None:
    """Games of the run's table and of a seed of their own, the learner at its likeliest."""
    config = replace(CONFIG, num_players=num_players, options={"zeros": "free"}, eval_games=14, seed=3)
    training = Training(config, tmp_path, lambda progress: None)
    disturb(training, seed=2)
    likeliest = training.policy(deterministic=True)
    table: dict[str, Any] = {
        "games": 14,
        "num_players": num_players,
        "seed": 3 + 1_000_003,
        "options": {"zeros": "free"},
    }
    found = training.evaluate()
    if num_players == 1:
        (alone,) = match.evaluate(training.game, {"it": likeliest}, **table)
        assert found == {"eval/score": alone.points}
        return
    by_rival = {
        rival: match.evaluate(training.game, {"it": likeliest, rival: fivedice.agents.load(rival)}, **table)[0]
        for rival in ("random", "greedy")
    }
    assert found == {
        "eval/score": by_rival["greedy"].points,
        "eval/win_rate_vs_random": by_rival["random"].wins["random"],
        "eval/win_rate_vs_greedy": by_rival["greedy"].wins["greedy"],
    }
    sampled = training.policy(deterministic=False)
    assert (
        match.evaluate(training.game, {"it": sampled, "random": fivedice.agents.load("random")}, **table)[0]
        != by_rival["random"]
    )


def test_policy__plays_its_likeliest_action_and_a_snapshot_draws(tmp_path: Path) -> None:
    training = Training(CONFIG, tmp_path, lambda progress: None)
    disturb(training, seed=2)
    training.add_snapshot()
    batch = training.env.table.batch
    training.env.reset()
    view = batch.view()
    likeliest = np.where(view.masks, training.policy().network.logits(view.observations), -np.inf).argmax(axis=1)
    noises = [np.full(len(view), share) for share in (0.01, 0.5, 0.99)]
    shown = [replace(view, uniforms=uniforms) for uniforms in noises]
    for each in shown:
        assert np.array_equal(training.policy().act(each), likeliest)
    snapshot = list(training.pool.snapshots().values())[-1]
    assert snapshot.name == "step-000000000"
    assert len({snapshot.act(each).tobytes() for each in shown}) == 3


def test_evaluation__meets_exact_play_where_it_is_an_opponent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = replace(CONFIG, game="yahtzee_jr", reward="win", opponents=Mix(optimal=1))
    run = Evaluated(tmp_path, monkeypatch, config, None)
    run.of_checks = {rival: estimate(share) for rival, share in (("random", 0.9), ("greedy", 0.5), ("optimal", 0.25))}
    assert run.training.evaluate() == {
        "eval/score": estimate(77.0),
        **{f"eval/win_rate_vs_{rival}": figure for rival, figure in run.of_checks.items()},
    }
    assert run.asked == [("random", 10), ("greedy", 10), ("optimal", 10)]
    run.training.check_best(run.training.evaluate())
    assert run.asked[3:] == run.asked[:3]  # and not once more in checks


@pytest.mark.parametrize(("reward", "expected"), [("score", 50.0), ("win", 0.3), ("margin", 0.3)])
def test_measure__is_points_where_points_are_paid_and_else_the_mean_win_rate(
    tmp_path: Path, reward: Any, expected: float
) -> None:
    training = Training(replace(CONFIG, reward=reward), tmp_path, lambda progress: None)
    figures = {
        "eval/score": estimate(50.0),
        "eval/win_rate_vs_random": estimate(0.5),
        "eval/win_rate_vs_greedy": estimate(0.1),
        "eval/win_rate_vs_previous_best_1": estimate(0.9),
    }
    assert training.measure(figures) == pytest.approx(expected)


# What a run says


def console() -> tuple[Console, io.StringIO]:
    said = io.StringIO()
    return Console(file=said, width=200, markup=False, emoji=False), said


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """How tables at the end of runs were asked for; none is played."""
    asked: list[tuple[Any, ...]] = []

    def show(*args: Any, **settings: Any) -> None:
        asked.append((*args, settings))

    monkeypatch.setattr(run_command, "show_evaluation", show)
    return asked


def test_final_table__plays_the_best_one_at_the_run_s_table(tmp_path: Path, tables: list[tuple[Any, ...]]) -> None:
    config = replace(CONFIG, num_players=3, options={"zeros": "free"}, final_games=22, seed=4)
    training = Training(config, tmp_path, lambda progress: None)
    training.save(tmp_path / "best.safetensors", {})
    best = weights_of(training.policy())
    disturb(training, seed=5)
    training.save(tmp_path / "last.safetensors", {})
    assert best != weights_of(training.policy())
    out, _ = console()
    run_command.show_standings(training, out)
    ((shown_on, game, contenders, settings),) = tables
    assert (shown_on, game) == (out, training.game)
    assert list(contenders) == ["best", "greedy", "random"]
    assert weights_of(contenders["best"]) == best
    assert contenders["best"].deterministic
    assert {name: policy.name for name, policy in contenders.items()} == {name: name for name in contenders}
    assert settings == {
        "games": 22,
        "num_players": 3,
        "seed": 4 + 2_000_003,
        "options": {**config.options, "zeros": "free"},
    }


def test_session__says_what_begins_how_it_goes_and_what_to_do_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tables: list[tuple[Any, ...]]
) -> None:
    given: list[Any] = []

    class Watched(Training):
        def __init__(
            self, config: TrainConfig, folder: Path, report: Any, optimum: Any, start: Any, group: Group
        ) -> None:
            given.append((config, folder, optimum, start))
            super().__init__(config, folder, report, optimum, start, group)

    monkeypatch.setattr(training_run, "Training", Watched)
    out, said = console()
    config = replace(CONFIG, runs=tmp_path / "my runs")
    run_command.run(config, None, out)
    folder = tmp_path / "my runs" / "yum"
    lines = said.getvalue().splitlines()
    assert lines[0] == f"Yum, 2 players, reward score: {folder}"
    assert [line.split()[0] for line in lines if line[:11].strip().isdigit()] == ["256", "512"]
    assert lines[-1] == f"Play against it:  fivedice play yum --opponents '{folder / 'best.safetensors'}'"
    ((_, _, contenders, _),) = tables
    assert weights_of(contenders["best"]) == weights_of(fivedice.agents.load(folder / "best.safetensors"))
    exact = optimum(load_game("yum"), load_game("yum").make_options(2, {}))
    assert given == [(replace(config, workers=1), folder, exact, None)]
    assert exact is not None

    # Alone, from a start, and with exact play's points for another table.
    alone = replace(config, num_players=1, options={"zeros": "free"}, total_timesteps=UPDATE, name="solo")
    run_command.run(alone, None, out)
    again = replace(alone, start=tmp_path / "my runs" / "solo" / "last.safetensors", name="again")
    run_command.run(again, None, out)
    lines = said.getvalue().splitlines()
    folder = tmp_path / "my runs" / "again"
    assert f"Yum, 1 player, reward score: {folder}" in lines
    assert lines[-1] == f"Evaluate it again:  fivedice evaluate yum '{folder / 'best.safetensors'}'"
    free = optimum(load_game("yum"), load_game("yum").make_options(1, {"zeros": "free"}))
    assert [entry[2] for entry in given[1:]] == [free, free]
    assert free != exact
    assert weights_of(given[-1][3]) == weights_of(fivedice.agents.load(again.start or ""))


def test_session__that_is_stopped_says_how_to_go_on_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tables: list[tuple[Any, ...]]
) -> None:
    evaluate, evaluations = Training.evaluate, []

    def stop(training: Training) -> dict[str, Estimate]:
        evaluations.append(training.steps)
        if len(evaluations) == 1:
            signal.raise_signal(signal.SIGINT)
        return evaluate(training)

    monkeypatch.setattr(Training, "evaluate", stop)
    out, said = console()
    config = replace(CONFIG, runs=tmp_path, name="it's", total_timesteps=40 * UPDATE, eval_every=8 * UPDATE)
    run_command.run(config, None, out)
    folder = tmp_path / "it's"
    assert said.getvalue().splitlines()[-1] == (
        f"Stopped after 1,024 decisions; continue with: fivedice train --resume {shlex.quote(str(folder))}"
    )
    assert tables == []
    assert read_card(folder / "last.safetensors")["evaluation"].keys() >= {"score", "win_rate_vs_greedy"}  # kept
    with pytest.raises(
        ValueError, match=r"has made 1,024 decisions already, more than total_timesteps=800; use more to continue"
    ):
        run_command.run(replace(config, total_timesteps=800), folder, out)
    run_command.run(replace(config, total_timesteps=1000), folder, out)  # its last update ended after 1,024
    assert "Note: the run has ended after 1,024 decisions" in said.getvalue()
    tables.clear()
    run_command.run(replace(config, n_envs=4, batch_size=32, total_timesteps=1024 + UPDATE), folder, out)
    assert "Note: n_envs differs from that of the stopped run, so its running games are dropped" in said.getvalue()
    assert evaluations == [1024, 1024 + UPDATE]
    assert len(tables) == 1
    assert json.loads((folder / "config.json").read_text())["n_envs"] == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["it's"]


@pytest.mark.parametrize(
    ("name", "value", "was"), [("seed", 8, "7"), ("name", "other", "'mine'"), ("runs", Path("there"), "'here'")]
)
def test_check_resumed__refuses_what_only_a_new_run_can_have(tmp_path: Path, name: str, value: Any, was: str) -> None:
    config = replace(CONFIG, seed=7, name="mine", runs=Path("here"))
    settings = {"seed": 7, "name": "mine", "runs": "here", "n_envs": 99}
    (tmp_path / "config.json").write_text(json.dumps(settings))
    validation.validate_resumed(config, tmp_path)
    said = f"{tmp_path} was started with {name}={was}, which cannot change; leave out --{name}, or start a new run"
    with pytest.raises(ValueError, match=re.escape(said)):
        validation.validate_resumed(replace(config, **{name: value}), tmp_path)
    del settings[name]
    (tmp_path / "config.json").write_text(json.dumps(settings))
    validation.validate_resumed(replace(config, **{name: value}), tmp_path)


def test_new_folder__gets_the_first_number_that_is_free(tmp_path: Path) -> None:
    config = replace(CONFIG, runs=tmp_path / "a" / "b")
    made = [folder_of_runs.new_folder(config).name for _ in range(3)]
    assert made == ["yum", "yum-2", "yum-3"]
    (tmp_path / "a" / "b" / "yum-2").rmdir()
    assert folder_of_runs.new_folder(config) == tmp_path / "a" / "b" / "yum-2"
    assert folder_of_runs.new_folder(replace(config, game="set_cubed")).name == "set_cubed"
    named = replace(config, name="mine")
    assert folder_of_runs.new_folder(named) == tmp_path / "a" / "b" / "mine"
    assert folder_of_runs.new_folder(named) == tmp_path / "a" / "b" / "mine"  # nothing has begun there
    (tmp_path / "a" / "b" / "mine" / "notes.txt").touch()
    with pytest.raises(
        ValueError, match=r"mine exists already and holds nothing that can be resumed; remove it, or choose"
    ):
        folder_of_runs.new_folder(named)
    (tmp_path / "a" / "b" / "mine" / FILE).touch()
    with pytest.raises(ValueError, match=r"mine exists already; resume it by --resume .*mine, or choose another"):
        folder_of_runs.new_folder(named)
    for name in ("", "a/b", "x/"):
        with pytest.raises(ValueError, match="is not the name of a folder; use one without slashes"):
            folder_of_runs.new_folder(replace(config, name=name))


def test_session__that_cannot_begin_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(training_run, "Training", fail)
    with pytest.raises(KeyboardInterrupt):
        run_command.run(replace(CONFIG, runs=tmp_path), None, console()[0])
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "config.json").write_text("{}")
    with pytest.raises(KeyboardInterrupt):
        run_command.run(replace(CONFIG, runs=tmp_path), tmp_path / "old", console()[0])
    assert (tmp_path / "old" / "config.json").is_file()


def test_bar__shows_steps_points_speed_and_each_evaluation() -> None:
    out, said = console()
    bar = run_command.Bar(out, 4000)
    (task,) = bar._progress.tasks
    assert (task.total, task.completed, task.description) == (4000, 0, "starting")
    with bar:
        bar.updated(Progress(1000, 45.678, 2345.6, None))
        assert said.getvalue() == ""
        assert (task.completed, task.description) == (1000, "points   45.7  2,346 decisions/s")
        figures = {
            "eval/score": Estimate(123.456, 1.234, 9),
            "eval/win_rate_vs_random": Estimate(0.875, 0.0125, 9),
            "eval/win_rate_vs_previous_best_1": Estimate(0.25, 0.0625, 9),
        }
        bar.updated(Progress(12_000, 50.0, 100.0, figures, ("greedy", "previous_best_2"), ("optimal", "random")))
    assert task.completed == 12_000
    assert said.getvalue().splitlines() == [
        "     12,000  score 123.46 ± 1.23  vs_random 87.5 ± 1.2 %  vs_previous_best_1 25.0 ± 6.2 %  (100 decisions/s)",
        "             not taken as the best: it got worse against greedy, previous_best_2",
        "             loses significantly to optimal, random",
    ]


# No forgetting


def test_best__is_checked_against_the_last_bests_and_exact_play(straight: Training) -> None:
    log = EventAccumulator(str(straight.folder))
    log.Reload()
    tags = set(log.Tags()["scalars"])
    assert tags >= {"eval/win_rate_vs_optimal", "eval/forgotten", "eval/score_low", "time/share_of_checks"}
    assert 1 <= len(straight.previous_bests) <= 2
    names = [f"{previous_best.number:06d}.safetensors" for previous_best in straight.previous_bests]
    assert sorted(path.name for path in (straight.folder / "previous_bests").iterdir()) == names
    best = fivedice.agents.load(straight.folder / "best.safetensors")
    assert weights_of(straight.previous_bests[-1].policy) == weights_of(best)
    restored = Training(CONFIG, straight.folder, lambda progress: None)
    restore(restored)
    assert [previous_best.figures for previous_best in restored.previous_bests] == [
        dict(previous_best.figures) for previous_best in straight.previous_bests
    ]
    assert [weights_of(previous_best.policy) for previous_best in restored.previous_bests] == [
        weights_of(previous_best.policy) for previous_best in straight.previous_bests
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
    assert (training.best, len(training.previous_bests)) == ((20.0, 2) if taken else (10.0, 1))
    assert told[-1].forgot == (() if taken else ("previous_best_1",))
    assert told[-1].loses_to == (("optimal",) if taken else ("previous_best_1", "optimal"))


def test_forgotten__is_what_got_significantly_worse() -> None:
    before = {"eval/win_rate_vs_greedy": Estimate(0.50, 0.03, 9), "eval/win_rate_vs_random": Estimate(0.99, 0.01, 9)}

    def now(greedy: float, random: float = 0.99) -> dict[str, Estimate]:
        return {"eval/win_rate_vs_greedy": Estimate(greedy, 0.04, 9), "eval/win_rate_vs_random": Estimate(random, 0, 9)}

    assert forgotten(now(0.451), before, {}, 0.5) == []
    assert forgotten(now(0.449), before, {}, 0.5) == ["greedy"]  # by more than 5 points, of 3 and 4 each
    assert forgotten(now(0.55, 0.979), before, {}, 0.5) == ["random"]
    assert forgotten(now(0.55, 0.9), before, {"previous_best_1": Estimate(0.4, 0.09, 9)}, 0.5) == [
        "random",
        "previous_best_1",
    ]
    assert forgotten(now(0.1), {}, {"previous_best_1": Estimate(0.3, 0.09, 9)}, 1 / 3) == []
    assert forgotten(
        now(0.1), {}, {"previous_best_1": Estimate(0.24, 0.09, 9), "previous_best_2": Estimate(0.3, 0, 9)}, 1 / 3
    ) == [
        "previous_best_1",
        "previous_best_2",
    ]
    # Points are no win rates, and of whom nothing is known now nothing is said.
    assert forgotten({"eval/score": Estimate(5, 1, 9)}, {"eval/score": Estimate(9, 1, 9)} | before, {}, 0.5) == []


def test_loses_to__is_who_wins_significantly_more_than_a_fair_share() -> None:
    figures = {
        "eval/score": Estimate(0.1, 0.01, 9),
        "eval/win_rate_vs_greedy": Estimate(0.46, 0.04, 9),
        "eval/win_rate_vs_random": Estimate(0.459, 0.04, 9),
        "eval/win_rate_vs_optimal": Estimate(0.3, 0.02, 9),
    }
    assert loses_to(figures, 0.5) == ["random", "optimal"]
    assert loses_to(figures, 1 / 3) == ["optimal"]


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


# Beginning


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"net_arch": (9,)}, r"start=.*last.safetensors has net_arch=\[8\], but the run has net_arch=\[9\]"),
        ({"activation": "relu"}, r"start=.* has activation='tanh', but the run has activation='relu'"),
        ({"prior": "greedy"}, r"start=.* has prior=None, but the run has prior='greedy'"),
        ({"num_players": 3}, r"the checkpoint 'last' was trained for Yum with num_players=2, not 3"),
        ({"start": Path("nowhere.safetensors")}, r"nowhere.safetensors"),
    ],
)
def test_start__from_something_else_is_refused(straight: Training, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        load_start(replace(CONFIG, **({"start": straight.folder / "last.safetensors"} | changes)))


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
