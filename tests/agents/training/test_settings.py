"""Settings of a run: each one, set to something else than its default, is what happens."""

import io
import itertools
import json
import re
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, cast, get_type_hints

import numpy as np
import pytest
import torch
from cyclopts.exceptions import CycloptsError
from numpy.typing import NDArray
from rich.console import Console
from sb3_contrib import MaskablePPO
from threadpoolctl import threadpool_info
from torch.distributions import Distribution

import fivedice.configs
from fivedice.agents.cli import app
from fivedice.agents.cli import run as run_command
from fivedice.agents.evaluation.estimate import Estimate
from fivedice.agents.evaluation.match import Standing
from fivedice.agents.policies.baselines import GREEDY
from fivedice.agents.policies.checkpoint import load_checkpoint
from fivedice.agents.policies.prior import Prior
from fivedice.agents.training import model as model_file
from fivedice.agents.training import run as training_run
from fivedice.agents.training.config import Mix, TrainConfig
from fivedice.agents.training.group import ALONE, Group
from fivedice.agents.training.run import Progress, Training
from fivedice.agents.training.torch_policy import ResidualExtractor, ResidualPolicy
from fivedice.agents.training.validation import load_start, validate
from fivedice.agents.training.vec_env import SeatVecEnv
from fivedice.envs import load_game
from fivedice.envs.core.canonical import canonical_view

UPDATE = 128  # decisions between two updates of the runs below
CONFIG = TrainConfig(
    reward="score",
    opponents=Mix(current=1, recent=0, past=0, hard=0, random=1, greedy=0),
    total_timesteps=4 * UPDATE,
    n_envs=8,
    n_steps=16,
    batch_size=128,
    n_epochs=1,
    net_arch=(8,),
    snapshot_every=4 * UPDATE,
    eval_every=4 * UPDATE,
    eval_games=4,
    check_games=6,
)
SETTINGS = [setting.name for setting in fields(TrainConfig)]


@dataclass
class Update:
    """One update of a run, as its parts saw it."""

    margin_coef: float  # of the environment, while its games were played
    decisions: tuple[int, ...] = ()  # of the rollout: steps, games
    played: dict[str, NDArray[Any]] = field(default_factory=dict)
    minibatches: list[int] = field(default_factory=list)  # the decisions in each, in order
    max_decisions_per_seat: set[float] = field(default_factory=set)  # what gradients were cut at
    rate: float = -1.0  # Adam's step size
    logged: dict[str, float] = field(default_factory=dict)
    policy: list[bytes] = field(default_factory=list)  # its tensors afterwards
    value: list[bytes] = field(default_factory=list)


@dataclass
class Seen:
    """What a run did."""

    training: Training
    updates: list[Update] = field(default_factory=list)
    infos: list[dict[str, Any]] = field(default_factory=list)  # of games that ended
    told: list[Progress] = field(default_factory=list)
    matches: list[tuple[list[str], dict[str, Any]]] = field(default_factory=list)  # names and settings of evaluations


class Trial:
    """Begins runs and watches them. A setting that is `ignored` stays at what CONFIG has for it."""

    def __init__(self, folder: Path, ignored: str = "") -> None:
        self.folder, self.ignored = folder, ignored

    def config(self, **settings: Any) -> TrainConfig:
        return replace(CONFIG, **{name: value for name, value in settings.items() if name != self.ignored})

    def begin(self, report: Callable[[Progress], None] = lambda progress: None, **settings: Any) -> Training:
        config = self.config(**settings)
        return Training(config, self.folder / "run", report, start=load_start(config))

    def run(self, **settings: Any) -> Seen:
        """From start to end, with made-up evaluations, each of them better than the one before."""
        told: list[Progress] = []
        training = self.begin(told.append, **settings)
        seen = Seen(training, told=told)
        with pytest.MonkeyPatch.context() as patch:
            watch(seen, patch)
            assert training.learn()
        return seen

    def command(self, **settings: Any) -> dict[str, Any]:
        """As the command line trains; returns how the table at the end was asked for."""
        table: dict[str, Any] = {}
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            patch.setattr(training_run, "evaluate", made_up([]))
            patch.setattr(run_command, "show_evaluation", lambda *args, **asked: table.update(asked))
            run_command.run(self.config(total_timesteps=UPDATE, **settings), None, Console(file=io.StringIO()))
        return table


def made_up(matches: list[tuple[list[str], dict[str, Any]]]) -> Callable[..., list[Standing]]:
    def evaluate(game: Any, contenders: dict[str, Any], **settings: Any) -> list[Standing]:
        names = [policy.name for policy in contenders.values()]
        matches.append((names, settings | {"game": game, "policies": list(contenders.values())}))
        wins = {name: Estimate(0.5, 0.1, 5) for name in names[1:]}
        return [Standing("learner", settings["games"], Estimate(10.0 * len(matches), 1.0, 5), wins)]

    return evaluate


def watch(seen: Seen, patch: pytest.MonkeyPatch) -> None:
    training, updates = seen.training, seen.updates
    model, env, buffer = training.model, training.env, training.model.rollout_buffer
    collect, train, finish = model.collect_rollouts, model.train, buffer.compute_returns_and_advantage
    answer, cut, step = model.policy.evaluate_actions, torch.nn.utils.clip_grad_norm_, env.step_wait

    def collect_rollouts(*args: Any, **settings: Any) -> bool:
        updates.append(Update(env.margin_coef))
        return collect(*args, **settings)

    def compute(last_values: torch.Tensor, dones: NDArray[np.bool_]) -> None:
        finish(last_values=last_values, dones=dones)
        updates[-1].decisions = buffer.rewards.shape
        updates[-1].played = {
            "rewards": buffer.rewards.copy(),
            "values": np.vstack([buffer.values, last_values.numpy().T]),
            "starts": np.vstack([buffer.episode_starts, dones]),
            "advantages": buffer.advantages.copy(),
            "returns": buffer.returns.copy(),
        }

    def evaluate_actions(observations: torch.Tensor, *args: Any, **settings: Any) -> Any:
        updates[-1].minibatches.append(len(observations))
        return answer(observations, *args, **settings)

    def clip_grad_norm(parameters: Any, longest: float) -> Any:
        updates[-1].max_decisions_per_seat.add(longest)
        return cut(parameters, longest)

    def step_wait() -> Any:
        observations, rewards, over, infos = step()
        seen.infos += [infos[row] for row in np.flatnonzero(over)]
        return observations, rewards, over, infos

    def train_and_look() -> None:
        train()
        (group,) = model.policy.optimizer.param_groups
        tensors = model_file.network_tensors(model)
        updates[-1].rate, updates[-1].logged = group["lr"], dict(model.logger.name_to_value)
        updates[-1].policy = [tensor.tobytes() for name, tensor in tensors.items() if name.startswith("policy")]
        updates[-1].value = [tensor.tobytes() for name, tensor in tensors.items() if name.startswith("value")]

    patch.setattr(model, "collect_rollouts", collect_rollouts)
    patch.setattr(model, "train", train_and_look)
    patch.setattr(buffer, "compute_returns_and_advantage", compute)
    patch.setattr(model.policy, "evaluate_actions", evaluate_actions)
    patch.setattr(torch.nn.utils, "clip_grad_norm_", clip_grad_norm)
    patch.setattr(env, "step_wait", step_wait)
    patch.setattr(training_run, "evaluate", made_up(seen.matches))


# Each setting by its name: values off its default, and a check that fails if the run does not do as they say.

Check = Callable[[Trial, Any], None]
CASES: dict[str, tuple[tuple[Any, ...], Check]] = {}


def shows(*names_and_values: Any) -> Callable[[Check], Check]:
    name, *values = names_and_values

    def register(check: Check) -> Check:
        CASES[name] = (tuple(values), check)
        return check

    return register


@shows("game", "yahtzee_jr", "showdown_yahtzee")
def _game(trial: Trial, value: str) -> None:
    seen = trial.run(game=value)
    assert seen.training.env.game is load_game(value)
    assert seen.matches
    assert {match["game"] for _, match in seen.matches} == {load_game(value)}
    assert seen.training.policy().game is load_game(value)


@shows("num_players", 3, 1)
def _num_players(trial: Trial, value: int) -> None:
    seen = trial.run(num_players=value)
    assert seen.training.env.table.batch.num_players == value
    assert {len(info["opponents"]) for info in seen.infos} == {value - 1}
    assert {info["seat"] for info in seen.infos} == set(range(value))
    assert {match["num_players"] for _, match in seen.matches} == {value}
    assert seen.training.policy().options["num_players"] == value


@shows("options", {"zeros": "free"}, {"high_low": "high_first", "crossed_high": "frees_low"})
def _options(trial: Trial, value: dict[str, Any]) -> None:
    seen = trial.run(options=value)
    game = load_game("yum")
    expected = game.options_dict(game.make_options(2, value))
    assert game.options_dict(seen.training.env.table.batch.options) == expected
    assert game.options_dict(seen.training.policy().options) == expected
    for _, match in seen.matches:
        assert game.options_dict(game.make_options(2, match["options"])) == expected


@shows("reward", "win", "margin")
def _reward(trial: Trial, value: str) -> None:
    seen = trial.run(reward=value)
    assert seen.training.env.table.batch.reward == value
    assert len(seen.infos) >= 8
    for info in seen.infos:
        if value == "win":
            assert info["episode"]["r"] == 2 * info["win"] - 1
        elif info["win"] == 1:
            assert 0 < info["episode"]["r"] < info["score"]
        elif info["win"] == 0:
            assert info["episode"]["r"] < 0


@shows("reward_scale", 0.25, 3.0)
def _reward_scale(trial: Trial, value: float) -> None:
    seen = trial.run(reward_scale=value)
    assert len(seen.infos) >= 8
    for info in seen.infos:
        assert info["episode"]["r"] == info["score"] * value > 0


def between(start: float, end: float, done: float) -> float:
    """On a straight line, at whose end it stays."""
    return end if done >= 1 else start * (1 - done) + end * done


DONE = [step / 3.5 for step in range(5)]  # in a run of 3.5 updates, which makes 4: the share before each and after all


def scheduled(trial: Trial, **settings: Any) -> Seen:
    seen = trial.run(total_timesteps=7 * UPDATE // 2, **settings)
    assert len(seen.updates) == 4
    return seen


def _margin_coefs(trial: Trial, start: float, end: float) -> None:
    seen = scheduled(trial, margin_coef=start, margin_coef_end=end)
    expected = [between(start, end, done) for done in DONE[:4]]
    assert [update.margin_coef for update in seen.updates] == pytest.approx(expected)


@shows("margin_coef", 0.7, 0.02)
def _margin_coef(trial: Trial, value: float) -> None:
    _margin_coefs(trial, value, 0.1)


@shows("margin_coef_end", 0.03, 0.8)
def _margin_coef_end(trial: Trial, value: float) -> None:
    _margin_coefs(trial, 0.3, value)


def _learning_rates(trial: Trial, start: float, end: float) -> None:
    seen = scheduled(trial, learning_rate=start, learning_rate_end=end)
    expected = [between(start, end, done) for done in DONE[1:]]  # asked for when the rollout is there
    assert [update.rate for update in seen.updates] == pytest.approx(expected, rel=1e-9)


@shows("learning_rate", 0.02, 3e-4)
def _learning_rate(trial: Trial, value: float) -> None:
    _learning_rates(trial, value, 1e-4)


@shows("learning_rate_end", 0.004, 2e-5)
def _learning_rate_end(trial: Trial, value: float) -> None:
    _learning_rates(trial, 5e-4, value)


def _losses(trial: Trial, ent_coef: float, ent_coef_end: float, vf_coef: float) -> None:
    """The one minibatch of each update: its loss is the sum of its parts by their weights."""
    seen = scheduled(trial, ent_coef=ent_coef, ent_coef_end=ent_coef_end, vf_coef=vf_coef, reward_scale=0.01)
    for update, done in zip(seen.updates, DONE, strict=False):
        logged = {name.removeprefix("train/"): value for name, value in update.logged.items()}
        weighed = between(ent_coef, ent_coef_end, done) * logged["entropy_loss"] + vf_coef * logged["value_loss"]
        assert logged["loss"] == pytest.approx(logged["policy_gradient_loss"] + weighed, rel=1e-5, abs=1e-6)


@shows("ent_coef", 0.5, 0.03)
def _ent_coef(trial: Trial, value: float) -> None:
    _losses(trial, value, 0.1, 0.25)


@shows("ent_coef_end", 0.4, 0.02)
def _ent_coef_end(trial: Trial, value: float) -> None:
    _losses(trial, 0.2, value, 0.25)


@shows("vf_coef", 0.75, 2.0)
def _vf_coef(trial: Trial, value: float) -> None:
    _losses(trial, 0.2, 0.1, value)


def _advantages(trial: Trial, gamma: float, gae_lambda: float) -> None:
    """Generalized advantage estimation, as its paper has it."""
    seen, ends = trial.run(gamma=gamma, gae_lambda=gae_lambda), 0
    for update in seen.updates:
        rewards, values, starts = (update.played[name] for name in ("rewards", "values", "starts"))
        for row in range(rewards.shape[1]):
            following = 0.0
            for step in reversed(range(len(rewards))):
                goes_on = 0.0 if starts[step + 1, row] else 1.0
                ends += not goes_on
                error = rewards[step, row] + gamma * goes_on * values[step + 1, row] - values[step, row]
                following = error + gamma * gae_lambda * goes_on * following
                assert update.played["advantages"][step, row] == pytest.approx(following, rel=1e-3, abs=1e-3)
                assert update.played["returns"][step, row] == pytest.approx(
                    following + values[step, row], rel=1e-3, abs=1e-3
                )
    assert ends > 4


@shows("gamma", 0.9, 0.5)
def _gamma(trial: Trial, value: float) -> None:
    _advantages(trial, value, 0.8)


@shows("gae_lambda", 0.9, 0.25)
def _gae_lambda(trial: Trial, value: float) -> None:
    _advantages(trial, 0.95, value)


@shows("canonical_form", False)
def _canonical_form(trial: Trial, value: bool) -> None:
    for wanted in (True, value):
        training = trial.begin(game="yahtzee_jr", canonical_form=wanted)
        observations, batch = training.env.reset(), training.env.table.batch
        shown = canonical_view(training.game, batch.options, batch.states, training.env.table.seats)
        assert (shown.observations != batch.observations).any()
        assert np.array_equal(observations, shown.observations if wanted else batch.observations)
        assert training.policy().canonical_form is wanted


def shown_beside(training: Training) -> NDArray[np.float32]:
    """What a learner sees of a prior, after the observation."""
    return cast(NDArray[np.float32], training.env.reset())[:, training.env.table.batch.layout.size :]


@shows("prior", "greedy")
def _base(trial: Trial, value: str) -> None:
    training = trial.begin(prior=value)
    assert isinstance(training.model.policy, ResidualPolicy)
    assert training.env.prior == training.policy().prior == Prior(GREEDY)
    shown, view = shown_beside(training), training.env.table.batch.view()
    assert np.array_equal(shown, np.eye(view.masks.shape[1])[GREEDY.act(view)])


@shows("prior_logit", 3.0, 7.5)
def _prior_logit(trial: Trial, value: float) -> None:
    training = trial.begin(prior="greedy", prior_logit=value)
    tensors, num_actions = training.policy().network.tensors, training.env.table.batch.num_actions
    assert np.array_equal(tensors["policy.1.weight"][:, -num_actions:], value * np.eye(num_actions))


def _bases(trial: Trial, span: float, keep_span: float, features: bool) -> None:
    training = trial.begin(
        game="showdown_yahtzee", prior="greedy", prior_span=span, prior_keep_span=keep_span, prior_features=features
    )
    prior = Prior(GREEDY, span, keep_span, features)
    shown, view = shown_beside(training), training.env.table.batch.view()
    expected = prior.shown(view)
    assert np.array_equal(shown, expected)
    assert ((shown > 0) & (shown < 1)).any()
    policy = training.policy()
    assert policy.prior == prior
    assert len(policy.act(view)) == len(view)
    assert isinstance(training.model.policy.mlp_extractor, ResidualExtractor)
    assert training.model.policy.mlp_extractor.num_features == 3 * features


@shows("prior_span", 2.5, 1.25)
def _prior_span(trial: Trial, value: float) -> None:
    _bases(trial, value, 0.5, False)


@shows("prior_keep_span", 3.0, 0.75)
def _prior_keep_span(trial: Trial, value: float) -> None:
    _bases(trial, 1.5, value, False)


@shows("prior_features", True)
def _prior_features(trial: Trial, value: bool) -> None:
    _bases(trial, 1.5, 2.0, value)


@shows("features_only", True)
def _features_only(trial: Trial, value: bool) -> None:
    settings = {"game": "showdown_yahtzee", "prior": "greedy", "prior_span": 1.5, "prior_features": True}
    training = trial.begin(features_only=value, learning_rate_end=0.1, total_timesteps=2 * UPDATE, **settings)
    before = training.policy().network.tensors
    last = ["policy.1.weight", "policy.1.bias"]
    num_actions = training.env.table.batch.num_actions
    assert not before["policy.1.weight"][:, :-num_actions].any()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training_run, "evaluate", made_up([]))
        assert training.learn()
    after = training.policy().network.tensors
    assert [name for name in before if np.array_equal(before[name], after[name])] == last


@shows("start", Path("one.safetensors"), Path("other.safetensors"))
def _start(trial: Trial, value: Path) -> None:
    given = Training(replace(CONFIG, seed=50 + len(value.name)), trial.folder, lambda progress: None)
    disturb(given.model, seed=len(value.name))
    given.save(trial.folder / value, {})
    training = trial.begin(start=trial.folder / value)
    taken, tensors = training.policy().network.tensors, given.policy().network.tensors
    same = {name for name, tensor in taken.items() if np.array_equal(tensor, tensors[name])}
    assert set(taken) - same == {"value.1.weight", "value.1.bias"}


def disturb(model: MaskablePPO, seed: int) -> None:
    """Give every parameter another value, so that no two of the same shape are alike."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.policy.parameters():
            parameter += 0.3 * torch.randn(parameter.shape, generator=generator)


@shows("value_steps", UPDATE, UPDATE + 1)
def _value_steps(trial: Trial, value: int) -> None:
    training = trial.begin(value_steps=value, learning_rate_end=1e-3)
    tensors = model_file.network_tensors(training.model)
    first = Update(0.0)
    first.policy = [tensor.tobytes() for name, tensor in tensors.items() if name.startswith("policy")]
    first.value = [tensor.tobytes() for name, tensor in tensors.items() if name.startswith("value")]
    updates = [first, *trial.run(value_steps=value, learning_rate_end=1e-3).updates]
    learned = [
        [before.policy[place] != after.policy[place] for place in range(4)]
        for before, after in itertools.pairwise(updates)
    ]
    frozen = {UPDATE: 1, UPDATE + 1: 2}[value]
    assert learned == [[False] * 4] * frozen + [[True] * 4] * (4 - frozen)
    for before, after in itertools.pairwise(updates):
        assert all(before.value[place] != after.value[place] for place in range(4))


@shows("opponents", Mix(current=3, past=0, random=1, greedy=0), Mix(current=0, past=2, random=0, greedy=1))
def _opponents(trial: Trial, value: Mix) -> None:
    training = trial.begin(opponents=value)
    assert training.env.table.lineup is training.pool
    newest = "step-000000000"
    expected = {newest: 0.75, "random": 0.25} if value.random else {newest: 2 / 3, "greedy": 1 / 3}
    assert dealt(training) == pytest.approx(expected, abs=1e-3)


def dealt(training: Training) -> dict[str, float]:
    """The share of seats that each opponent is dealt."""
    numbers, counts = np.unique(training.pool.assign((np.arange(10_000) + 0.5) / 10_000), return_counts=True)
    shares = counts / 10_000
    return {training.pool.policy(int(number)).name: float(share) for number, share in zip(numbers, shares, strict=True)}


@shows("total_timesteps", 2 * UPDATE, 2 * UPDATE + 1)
def _total_timesteps(trial: Trial, value: int) -> None:
    seen = trial.run(total_timesteps=value)
    updates = {2 * UPDATE: 2, 2 * UPDATE + 1: 3}[value]
    assert len(seen.updates) == updates
    assert seen.training.steps == updates * UPDATE
    assert [told.steps for told in seen.told] == [UPDATE * (number + 1) for number in range(updates)]


@shows("n_envs", 4, 12)
def _n_envs(trial: Trial, value: int) -> None:
    seen = trial.run(n_envs=value, batch_size=32)
    assert {update.decisions for update in seen.updates} == {(16, value)}
    assert seen.training.env.table.batch.num_games == value
    assert seen.told[0].steps == 16 * value


@shows("n_steps", 4, 24)
def _n_steps(trial: Trial, value: int) -> None:
    seen = trial.run(n_steps=value, batch_size=32)
    assert {update.decisions for update in seen.updates} == {(value, 8)}
    assert seen.told[0].steps == 8 * value


@shows("batch_size", 32, 64)
def _batch_size(trial: Trial, value: int) -> None:
    assert [update.minibatches for update in trial.run(batch_size=value).updates] == [[value] * (UPDATE // value)] * 4


@shows("n_epochs", 3, 2)
def _n_epochs(trial: Trial, value: int) -> None:
    assert [update.minibatches for update in trial.run(n_epochs=value).updates] == [[128] * value] * 4


@shows("clip_range", 0.05, 0.6)
def _clip_range(trial: Trial, value: float) -> None:
    seen = trial.run(clip_range=value, learning_rate=1e-3, n_epochs=2)
    assert [update.logged["train/clip_range"] for update in seen.updates] == [value] * 4


@shows("max_grad_norm", 0.125, 3.0)
def _max_grad_norm(trial: Trial, value: float) -> None:
    assert [update.max_decisions_per_seat for update in trial.run(max_grad_norm=value).updates] == [{value}] * 4


@shows("target_kl", 1e-4, 1e6)
def _target_kl(trial: Trial, value: float) -> None:
    seen = trial.run(target_kl=value, learning_rate=0.1, n_epochs=4)
    assert seen.training.model.target_kl == value
    # The first pass is over the policy that played; the second finds it far away, and stops there.
    assert [len(update.minibatches) for update in seen.updates[:3]] == [2 if value < 1 else 4] * 3


@shows("net_arch", (6,), (5, 4))
def _net_arch(trial: Trial, value: tuple[int, ...]) -> None:
    training = trial.begin(net_arch=value)
    size, num_actions = training.env.table.batch.layout.size, training.env.table.batch.num_actions
    extractor = training.model.policy.mlp_extractor
    for net in (extractor.policy_net, extractor.value_net):
        widths = [(layer.in_features, layer.out_features) for layer in net if isinstance(layer, torch.nn.Linear)]
        assert widths == list(itertools.pairwise((size, *value)))
    assert training.policy().network.net_arch == value
    assert training.policy().network.tensors[f"policy.{len(value)}.weight"].shape == (num_actions, value[-1])


@shows("activation", "relu")
def _activation(trial: Trial, value: str) -> None:
    training = trial.begin(activation=value)
    extractor = training.model.policy.mlp_extractor
    assert [type(layer) for layer in extractor.policy_net] == [torch.nn.Linear, torch.nn.ReLU]
    assert [type(layer) for layer in extractor.value_net] == [torch.nn.Linear, torch.nn.ReLU]
    assert training.policy().network.activation == value


HALF = UPDATE * 3 // 2  # lies between two updates


@shows("snapshot_every", HALF, 3 * UPDATE)
def _snapshot_every(trial: Trial, value: int) -> None:
    seen = trial.run(snapshot_every=value)
    taken = {HALF: [0, 2, 3], 3 * UPDATE: [0, 3]}[value]
    assert list(seen.training.pool.steps.values()) == [UPDATE * update for update in taken]


@shows("eval_every", HALF, 3 * UPDATE)
def _eval_every(trial: Trial, value: int) -> None:
    seen = trial.run(eval_every=value)
    played = {HALF: [2, 3, 4], 3 * UPDATE: [3, 4]}[value]  # and at the end in any case
    assert [told.steps for told in seen.told if told.evaluation is not None] == [UPDATE * update for update in played]


@shows("pool_size", 2, 3)
def _pool_size(trial: Trial, value: int) -> None:
    pool = trial.run(pool_size=value, snapshot_every=UPDATE).training.pool
    assert len(pool.steps) == value
    assert [list(pool.steps.values())[place] for place in (0, -1)] == [0, 4 * UPDATE]


def _games(trial: Trial, eval_games: int, check_games: int) -> None:
    seen = trial.run(eval_games=eval_games, check_games=check_games, eval_every=2 * UPDATE)
    games = [(names[1], match["games"]) for names, match in seen.matches]
    evaluation = [("random", eval_games), ("greedy", eval_games)]
    exact = [("optimal", check_games)]
    assert games == evaluation + exact + evaluation + [(f"best-{2 * UPDATE:09d}", check_games)] + exact


@shows("eval_games", 14, 22)
def _eval_games(trial: Trial, value: int) -> None:
    _games(trial, value, 8)


@shows("check_games", 14, 22)
def _check_games(trial: Trial, value: int) -> None:
    _games(trial, 8, value)


@shows("final_games", 14, 22)
def _final_games(trial: Trial, value: int) -> None:
    assert trial.command(final_games=value)["games"] == value


@shows("seed", 5, 6)
def _seed(trial: Trial, value: int) -> None:
    seen = trial.run(seed=value, opponents=Mix(current=0, past=0, random=1, greedy=0))
    assert {match["seed"] for _, match in seen.matches} == {value + 1_000_003}
    training = trial.begin(seed=value, opponents=Mix(current=0, past=0, random=1, greedy=0))
    env = SeatVecEnv("yum", 8, opponents="random", reward="score")
    env.seed(value)
    assert np.array_equal(training.env.reset(), env.reset())
    alone = MaskablePPO("MlpPolicy", env, seed=value, policy_kwargs={"net_arch": [8]}, batch_size=8, device="cpu")
    for ours, theirs in zip(training.model.policy.parameters(), alone.policy.parameters(), strict=True):
        assert torch.equal(ours, theirs)


@shows("device", "cpu:0")
def _device(trial: Trial, value: str) -> None:
    assert trial.begin(device=value).model.device == torch.device(value)


@shows("workers", 2, 4)
def _workers(trial: Trial, value: int) -> None:
    """As many are started, which the tests of workers look at; here all but the first are missing."""
    started: list[int] = []

    @contextmanager
    def start_workers(size: int, device: str, game: str) -> Iterator[Group]:
        started.append(size)
        yield ALONE

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training_run, "start_workers", start_workers)
        trial.command(workers=value)
    assert started == [value]


@shows("torch_threads", 2, 0)
def _torch_threads(trial: Trial, value: int) -> None:
    before, seen = torch.get_num_threads(), []

    def note(progress: Progress) -> None:
        of_numpy = {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}
        seen.append((torch.get_num_threads(), of_numpy, Distribution._validate_args))

    torch.set_num_threads(3)
    validates = Distribution._validate_args
    try:
        training = trial.begin(torch_threads=value)
        training.report = note
        training.learn()
        assert seen
        for threads, of_numpy, validated in seen:
            assert threads == (value or 3)  # 0 leaves them
            assert value == 0 or of_numpy <= {value}  # no library at all, where NumPy has one of its own
            assert not validated
        assert (torch.get_num_threads(), Distribution._validate_args) == (3, validates)  # as before the run
    finally:
        torch.set_num_threads(before)


@shows("runs", Path("elsewhere"), Path("far/away"))
def _runs(trial: Trial, value: Path) -> None:
    trial.command(runs=value)
    assert (trial.folder / value / "yum" / "last.safetensors").is_file()


@shows("name", "mine", "my own")
def _name(trial: Trial, value: str) -> None:
    trial.command(name=value)
    assert [path.name for path in (trial.folder / "runs").iterdir()] == [value]


# The tests of them.


def cases() -> Iterator[Any]:
    for name in SETTINGS:
        values, check = CASES.get(name, ((), None))
        for number, value in enumerate(values):
            yield pytest.param(name, value, check, id=f"{name}-{number}")


def default(cls: type[Any], name: str) -> Any:
    (found,) = [entry for entry in fields(cls) if entry.name == name]
    return found.default if found.default_factory is MISSING else found.default_factory()


def test_settings__each_has_a_case_off_its_default() -> None:
    missing = [name for name in SETTINGS if name not in CASES]
    assert not missing, f"no case here shows what these settings of TrainConfig do: {', '.join(missing)}"
    gone = [name for name in CASES if name not in SETTINGS]
    assert not gone, f"there are no such settings any more: {', '.join(gone)}"
    for name, (values, _) in CASES.items():
        kept = default(TrainConfig, name), getattr(CONFIG, name)
        assert values, name
        assert all(value not in kept for value in values), f"a value of {name} is its default or CONFIG's"


@pytest.mark.parametrize(("name", "value", "check"), list(cases()))
def test_setting__is_in_effect(tmp_path: Path, name: str, value: Any, check: Check) -> None:
    check(Trial(tmp_path), value)


@pytest.mark.parametrize("name", [name for name in SETTINGS if name in CASES])
def test_setting__its_case_notices_if_it_is_ignored(tmp_path: Path, name: str) -> None:
    """So that no case holds whatever a run does."""
    values, check = CASES[name]
    with pytest.raises(AssertionError):
        check(Trial(tmp_path, ignored=name), values[0])


@pytest.mark.parametrize("name", [name for name in SETTINGS if name in CASES])
def test_setting__is_in_the_run_s_folder_and_read_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    class NoTraining(Training):
        def __init__(self, config: TrainConfig, folder: Path, *args: Any) -> None:
            super().__init__(CONFIG, folder, lambda progress: None)

        def learn(self) -> bool:
            return False

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(training_run, "Training", NoTraining)
    monkeypatch.setattr(training_run, "validate", lambda *args: None)
    monkeypatch.setattr(training_run, "load_start", lambda config: None)
    config = TrainConfig(**{"workers": 1, name: CASES[name][0][0]})
    monkeypatch.setattr(training_run, "start_workers", lambda size, device, game: nullcontext(ALONE))
    run_command.run(config, None, Console(file=io.StringIO()))
    (written,) = tmp_path.rglob("config.json")
    assert written.relative_to(tmp_path).parent == config.runs / (config.name or config.game)
    settings = json.loads(written.read_text())
    assert set(settings) == set(SETTINGS)
    assert parsed("--resume", str(written.parent)) == config


def parsed(*arguments: str) -> TrainConfig:
    """The settings that the command line makes of these arguments of `train`."""
    _, bound, *_ = app.parse_args(["train", *arguments], exit_on_error=False, print_error=False)
    return cast(TrainConfig, bound.arguments.get("settings", TrainConfig()))


# The mix of opponents.

MIXES = {
    "current": 2.5,
    "recent": 1.5,
    "past": 1.25,
    "hard": 3.0,
    "random": 0.75,
    "greedy": 0.5,
    "planner": 1.0,
    "optimal": 2.0,
    "own": 0.8,
    "own_policies": ("rollout:random:1", "rollout:random:2", "rollout:random:3"),
    "floor": 0.65,
}
LOST = {0: 3, 1: 1, 2: 0, 3: 2, 4: 4}  # of four games against the snapshots of the pool, oldest first


def expected_deal(mix: Mix) -> dict[str, float]:
    """The share of each opponent, by hand."""
    weights = dict(vars(mix))
    floor, own = weights.pop("floor"), weights.pop("own_policies")
    snapshots = {f"step-{number:09d}": 0.0 for number in LOST}
    names = list(snapshots)
    for name in names:
        snapshots[name] += weights["past"] / 5
    for name in names[-3:]:
        snapshots[name] += weights["recent"] / 3
    snapshots[names[-1]] += weights["current"]
    losses = {}  # a drawn game is added to each; the results fade by half a per cent a game
    for number, name in enumerate(names):
        losses[name] = ((LOST[number] + 0.5) / 5) ** 2
    for name in names:
        snapshots[name] += weights["hard"] * losses[name] / sum(losses.values())
    baselines = {name: weights[name] for name in ("random", "greedy", "planner", "optimal")}
    baselines |= {name: weights["own"] / len(own) for name in own}
    assert sum(snapshots.values()) + sum(baselines.values()) == pytest.approx(sum(weights.values())), "a new kind?"
    total = sum(weights.values())
    held = sum(baselines.values()) / total
    raised = max(held, floor)
    shares = {name: share / total * raised / held for name, share in baselines.items()}
    return shares | {name: share / total * (1 - raised) / (1 - held) for name, share in snapshots.items()}


@pytest.mark.parametrize("name", [entry.name for entry in fields(Mix)])
def test_mix__each_weight_is_in_effect(tmp_path: Path, name: str) -> None:
    assert name in MIXES, f"no case here shows what opponents.{name} does"
    assert set(MIXES) == {entry.name for entry in fields(Mix)}
    assert MIXES[name] != default(Mix, name)
    plain = Mix(current=1, recent=0.5, past=2, hard=0, random=0.25, greedy=1.5, own=2.0)
    plain.own_policies = ("rollout:random:1", "rollout:random:4")
    mix = replace(plain, **{name: MIXES[name]})
    game = {"planner": "set_cubed"}.get(name, CONFIG.game)  # a game that has such a policy
    training = Training(replace(CONFIG, game=game, opponents=mix), tmp_path, lambda progress: None)
    for steps in range(1, 5):
        training.pool.add(training.policy(name=f"step-{steps:09d}"), steps, training.env.table.seated)
    # The learner's shares of wins. Of each pool's own games, so that fading changes nothing.
    training.pool.add_results(
        {f"step-{number:09d}": [0.0] * lost + [1.0] * (4 - lost) for number, lost in LOST.items()}
    )
    found, expected = dealt(training), expected_deal(mix)
    assert {opponent: found.get(opponent, 0.0) for opponent in expected} == pytest.approx(expected, abs=1e-3)
    before = expected_deal(plain)
    assert max(abs(expected[opponent] - before.get(opponent, 0.0)) for opponent in expected) > 0.02


# Defaults, bounds and the configurations that come with the package.


def test_defaults__are_those_that_configurations_and_resumed_runs_rely_on() -> None:
    assert vars(TrainConfig()) == {
        "game": "yum",
        "num_players": None,
        "options": {},
        "reward": None,
        "reward_scale": 1.0,
        "margin_coef": 0.0,
        "margin_coef_end": 0.0,
        "canonical_form": True,
        "prior": None,
        "prior_logit": 4.0,
        "prior_span": 0.0,
        "prior_keep_span": 0.0,
        "prior_features": False,
        "features_only": False,
        "start": None,
        "value_steps": 0,
        "opponents": Mix(
            current=0.4, recent=0, past=0.3, hard=0, random=0.1, greedy=0.2, planner=0, optimal=0, floor=0
        ),
        "total_timesteps": 2_000_000,
        "n_envs": 256,
        "n_steps": 32,
        "batch_size": 2048,
        "n_epochs": 4,
        "learning_rate": 1e-3,
        "learning_rate_end": 0.0,
        "gamma": 1.0,
        "gae_lambda": 0.5,
        "clip_range": 0.2,
        "ent_coef": 0.01,
        "ent_coef_end": 0.0,
        "vf_coef": 0.5,
        "max_grad_norm": 0.5,
        "target_kl": None,
        "net_arch": (128, 128),
        "activation": "tanh",
        "snapshot_every": 100_000,
        "pool_size": 10,
        "eval_every": 250_000,
        "eval_games": 1000,
        "check_games": 300,
        "final_games": 4000,
        "seed": 1,
        "device": "cpu",
        "workers": "auto",
        "torch_threads": 1,
        "runs": Path("runs"),
        "name": None,
    }
    assert vars(Mix(greedy=0.2)) == vars(TrainConfig().opponents)


# The last number that is refused and the first that is taken, on each side that has an end.
COUNT = (("0", "1"),)
WEIGHT = (("-0.001", "0"),)
ABOVE_ZERO = (("0", "0.001"),)
SHARE = (("-0.001", "0"), ("1.001", "1"))
BOUNDS: dict[str, tuple[tuple[str, str], ...]] = {
    "num_players": COUNT,
    "reward_scale": ABOVE_ZERO,
    "margin_coef": WEIGHT,
    "margin_coef_end": WEIGHT,
    "prior_logit": WEIGHT,
    "prior_span": WEIGHT,
    "prior_keep_span": WEIGHT,
    "value_steps": (("-1", "0"),),
    "total_timesteps": COUNT,
    "n_envs": COUNT,
    "n_steps": COUNT,
    "batch_size": (("1", "2"),),
    "n_epochs": COUNT,
    "learning_rate": ABOVE_ZERO,
    "learning_rate_end": WEIGHT,
    "gamma": SHARE,
    "gae_lambda": SHARE,
    "clip_range": SHARE,
    "ent_coef": WEIGHT,
    "ent_coef_end": WEIGHT,
    "vf_coef": WEIGHT,
    "max_grad_norm": ABOVE_ZERO,
    "target_kl": ABOVE_ZERO,
    "net_arch": COUNT,
    "snapshot_every": COUNT,
    "pool_size": (("1", "2"),),
    "eval_every": COUNT,
    "eval_games": COUNT,
    "check_games": COUNT,
    "final_games": COUNT,
    "seed": (("-1", "0"), ("2147483649", "2147483648")),
    "workers": (("0", "1"), ("1025", "1024")),
    "torch_threads": (("-1", "0"),),
    "opponents.current": WEIGHT,
    "opponents.recent": WEIGHT,
    "opponents.past": WEIGHT,
    "opponents.hard": WEIGHT,
    "opponents.random": WEIGHT,
    "opponents.greedy": WEIGHT,
    "opponents.planner": WEIGHT,
    "opponents.optimal": WEIGHT,
    "opponents.own": WEIGHT,
    "opponents.floor": SHARE,
}


def numbers_of(cls: type[Any], prefix: str = "") -> list[str]:
    hints = get_type_hints(cls)
    return [f"{prefix}{name}" for name, hint in hints.items() if re.search(r"\b(int|float)\b", str(hint))]


def test_bounds__each_number_has_some() -> None:
    numbers = [name for name in (*numbers_of(TrainConfig), *numbers_of(Mix, "opponents.")) if name != "options"]
    assert set(numbers) == set(BOUNDS), "settings without a case here, or cases without a setting"


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds__lie_between_what_is_refused_and_what_is_taken(name: str) -> None:
    option = f"--{name.replace('_', '-')}"
    for refused, taken in BOUNDS[name]:
        with pytest.raises(CycloptsError, match=r"Must be|is not"):
            parsed(option, refused)
        config: Any = parsed(option, taken)
        for part in name.split("."):
            config = getattr(config, part)
        assert config == ((int(taken),) if name == "net_arch" else float(taken))
    if "." not in name and get_type_hints(TrainConfig)[name] in (int, int | None):
        with pytest.raises(CycloptsError, match=r"'4\.5' is not a whole number"):
            parsed(option, "4.5")


FLOATS = [name for name, hint in get_type_hints(TrainConfig).items() if hint in (float, float | None)]
FLOATS += [f"opponents.{name}" for name, hint in get_type_hints(Mix).items() if hint in (float, float | None)]


@pytest.mark.parametrize("name", FLOATS)
def test_check__refuses_what_is_not_finite(name: str) -> None:
    for value in (float("nan"), float("inf")):
        if name.startswith("opponents."):
            config = replace(CONFIG, opponents=replace(CONFIG.opponents, **{name.removeprefix("opponents."): value}))
        else:
            config = replace(CONFIG, prior="greedy", **{name: value})
        if name in ("max_grad_norm", "target_kl"):  # so that nothing is cut, or stopped
            validate(config)
        else:
            with pytest.raises(ValueError, match=rf"^{re.escape(name)}={value} is not finite; use a number"):
                validate(config)


def test_network_settings__are_those_of_the_game_and_the_prior() -> None:
    of_yum = {
        "net_arch": [8],
        "activation": "tanh",
        "canonical_form": False,  # it has none
        "prior": None,
        "prior_span": 0.0,
        "prior_keep_span": 0.0,
        "prior_features": [],
    }
    assert CONFIG.network_settings() == of_yum
    junior = replace(CONFIG, game="yahtzee_jr", activation="relu", net_arch=(6, 5))
    of_junior = of_yum | {"activation": "relu", "net_arch": [6, 5]}
    assert junior.network_settings() == of_junior | {"canonical_form": True}
    assert replace(junior, canonical_form=False).network_settings() == of_junior
    assert replace(junior, prior="greedy").network_settings() == of_junior | {"prior": "greedy"}
    showdown = replace(
        CONFIG, game="showdown_yahtzee", prior="greedy", prior_span=1.5, prior_keep_span=2.5, prior_features=True
    )
    features = ["lasting", "taken", "placing"]
    assert showdown.network_settings() == of_yum | {
        "prior": "greedy",
        "prior_span": 1.5,
        "prior_keep_span": 2.5,
        "prior_features": features,
    }


CONFIGURATIONS = sorted(Path(fivedice.configs.__file__).parent.glob("*.toml"))


@pytest.mark.parametrize("path", CONFIGURATIONS, ids=lambda path: path.stem)
def test_configuration__that_comes_with_the_package_is_read_and_can_begin(path: Path) -> None:
    told = tomllib.loads(path.read_text())
    config = parsed("--config", path.stem)
    assert config == parsed("--config", str(path))
    for name in SETTINGS:
        value = getattr(config, name)
        if name == "opponents":
            for kind in vars(Mix()):
                usual = 0.2 if kind == "greedy" else default(Mix, kind)  # each of these games has a greedy policy
                assert getattr(value, kind) == told.get(name, {}).get(kind, usual)
        elif name in told and isinstance(told[name], list):
            assert list(value) == told[name]
        elif name in told:
            assert value == (Path(told[name]) if isinstance(value, Path) else told[name])
        else:
            assert value == default(TrainConfig, name)
    assert set(told) <= set(SETTINGS)
    assert config.game == path.stem.partition("-")[0]
    validate(config)


# The network of a checkpoint, and the model's.

NETWORKS: dict[str, dict[str, Any]] = {
    "tanh": {"net_arch": (6, 4)},
    "relu": {"net_arch": (6, 4), "activation": "relu"},
    "no hidden layer": {"net_arch": ()},
    "a prior": {"prior": "greedy", "net_arch": (6,)},
    "a prior, no hidden layer": {"prior": "greedy", "net_arch": ()},
    "features": {"game": "showdown_yahtzee", "prior": "greedy", "prior_span": 1.5, "prior_features": True},
    "features, relu": {
        "game": "showdown_yahtzee",
        "prior": "greedy",
        "prior_span": 1.5,
        "prior_features": True,
        "activation": "relu",
        "net_arch": (7, 5),
    },
}


@pytest.mark.parametrize("what", NETWORKS)
def test_network__of_a_checkpoint_is_the_model_s(tmp_path: Path, what: str) -> None:
    training = Training(replace(CONFIG, **NETWORKS[what]), tmp_path, lambda progress: None)
    disturb(training.model, seed=3)
    training.save(tmp_path / "it.safetensors", {})
    policy, size = training.model.policy, training.env.observation_space.shape
    seen = np.random.default_rng(4).uniform(-1, 1, (60, *(size or ()))).astype(np.float32)
    with torch.no_grad():
        distribution = policy.get_distribution(torch.from_numpy(seen))
        expected = distribution.distribution.logits.numpy()  # type: ignore[union-attr]  # a categorical one has it
        values = policy.predict_values(torch.from_numpy(seen)).numpy()[:, 0]
    for network in (training.policy().network, load_checkpoint(tmp_path / "it.safetensors").network):
        logits = torch.from_numpy(network.logits(seen)).log_softmax(dim=1).numpy()
        assert np.allclose(logits, expected, rtol=1e-4, atol=1e-4)
        assert np.allclose(network.values(seen), values, rtol=1e-4, atol=1e-4)
        assert logits.std() > 0.1 < values.std()
    assert training.policy().settings() == training.config.network_settings()
    again = Training(replace(CONFIG, seed=9, **NETWORKS[what]), tmp_path / "again", lambda progress: None)
    model_file.take_over(again.model, training.policy().network)
    assert np.array_equal(again.policy().network.logits(seen), training.policy().network.logits(seen))
    assert not np.allclose(again.policy().network.values(seen), values, atol=0.01)
