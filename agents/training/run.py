"""A training run: MaskablePPO of sb3-contrib plays one seat of N games against its own snapshots and baselines.

Read it from top to bottom: `train` checks the settings, opens the folder and starts the workers, `Training` makes the
environment, the opponents and the model, `Training.learn` is the loop. With several workers, each of them has a
`Training` and runs the same loop. What they share goes through `Training.group`.
"""

import importlib.metadata
import math
import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from fivedice.agents.evaluation.estimate import Estimate
from fivedice.agents.evaluation.match import Standing, evaluate, play_games
from fivedice.agents.policies.baselines import GREEDY, OPTIMAL, is_solved, optimum
from fivedice.agents.policies.checkpoint import CheckpointPolicy, save_checkpoint
from fivedice.agents.policies.files import digest
from fivedice.agents.policies.network import Network
from fivedice.agents.policies.prior import PRIORS
from fivedice.agents.policies.registry import load
from fivedice.agents.training.config import TrainConfig
from fivedice.agents.training.folder import has_begun, run_folder, write_settings
from fivedice.agents.training.gate import GATE_SIZE, WIN_RATE, PreviousBest, forgotten, loses_to
from fivedice.agents.training.group import ALONE, Group, WorkerLost
from fivedice.agents.training.launch import choose_workers, start_workers
from fivedice.agents.training.library_settings import global_generators_restored, library_settings
from fivedice.agents.training.metrics import Watch, make_logger
from fivedice.agents.training.model import (
    has_finite_weights,
    make_model,
    network_parameters,
    network_tensors,
    share_network,
    take_over,
)
from fivedice.agents.training.opponents import OpponentPool
from fivedice.agents.training.resume import restore, save_resume
from fivedice.agents.training.shared_games import play_together
from fivedice.agents.training.stop import StopOnSignal, StopRequest
from fivedice.agents.training.validation import load_start, validate, validate_resumed
from fivedice.agents.training.vec_env import SeatVecEnv
from fivedice.envs import load_game
from fivedice.envs.core.view import Policy

EVALUATION_SEED = 1_000_003  # added to the run's seed, so that no evaluation game is a training game
LIBRARIES = ("fivedice", "numpy", "torch", "stable-baselines3", "sb3-contrib", "gymnasium", "pettingzoo", "numba")


@dataclass(frozen=True)
class Progress:
    """What a run reports after an update."""

    steps: int
    score: float  # mean points of the games that ended in the last update
    decisions_per_second: float
    evaluation: dict[str, Estimate] | None  # by scalar name, if evaluation games were played
    forgot: tuple[str, ...] = ()  # opponents because of which the gate has refused the candidate
    loses_to: tuple[str, ...] = ()  # opponents against which its win rate is significantly too low


class Reporter(Protocol):
    """Is called during a run, for example to print its progress."""

    def note(self, sentence: str) -> None:
        """Is called before the run starts, with something that the user should know: a sentence without a full stop."""

    def started(self, run: str, folder: Path) -> None:
        """Is called before the first update, with the game, the number of players and so on in words."""

    def updated(self, progress: Progress) -> None:
        """Is called after each update."""


class Silent:
    """A `Reporter` that prints nothing."""

    def note(self, sentence: str) -> None:
        """Ignore it."""

    def started(self, run: str, folder: Path) -> None:
        """Ignore it."""

    def updated(self, progress: Progress) -> None:
        """Ignore it."""


def train(config: TrainConfig, resume: Path | None = None, reporter: Reporter | None = None) -> "Training":
    """Train an agent, or continue a run that was stopped.

    Args:
        config: the settings.
        resume: the folder of the run to continue; None starts a new one in ``config.runs``. If nothing was saved in the
            folder yet, the run starts from the beginning there. So a job can always be started by the same command.
        reporter: is called during the run; None prints nothing.

    Returns:
        The run. If ``training.is_finished`` is False, Ctrl-C or SIGTERM stopped it, and `resume` continues it. Its
        folder holds ``best.safetensors`` and ``last.safetensors``. With several workers, it is the run as worker 0 saw
        it: its environment has the games of worker 0.

    Raises:
        ValueError: a setting is not possible. Nothing has been written then.
        ChildProcessError: a worker has ended, for example because it was killed. `resume` continues from the last save.
    """
    reporter = reporter or Silent()
    config = replace(config, workers=choose_workers(config, resume))
    validate(config)
    if resume is not None:
        validate_resumed(config, resume)
    continues = resume is not None and has_begun(resume)
    start = None if continues else load_start(config)
    best_possible = optimum_of(config)
    with run_folder(config, resume) as folder, global_generators_restored(), workers_of(config, folder) as group:
        group.take_from_first(partial(take_part, config, folder, continues))
        if resume is not None and not continues:
            reporter.note(f"nothing is saved in {folder} yet, so the run starts from the beginning")
        training = Training(config, folder, reporter.updated, best_possible, start, group)
        lead(training, reporter, continues)
    training.group = ALONE  # the others have ended
    return training


def optimum_of(config: TrainConfig) -> float | None:
    """The exact highest expected points of the game of a run, if they are known."""
    game = load_game(config.game)
    return optimum(game, game.make_options(config.num_players, config.options))


def lead(training: "Training", reporter: Reporter, continues: bool, stop: StopRequest | None = None) -> None:
    """A run as worker 0 sees it.

    Args:
        training: the run; nothing has been trained or restored.
        reporter: is called during the run.
        continues: whether the run continues one that was stopped.
        stop: see `Training.learn`.

    Raises:
        ValueError: the run cannot be restored, or has made more decisions than it shall make.
    """
    config, folder = training.config, training.folder
    if continues:
        for sentence in restore(training):
            reporter.note(sentence)
        if training.steps > config.total_timesteps:
            raise ValueError(
                f"{folder} has made {training.steps:,} decisions already, more than "
                f"total_timesteps={config.total_timesteps}; use more to continue"
            )
        made = f"{training.steps:,} decisions"
        if training.is_finished and not training.owes_evaluation:
            reporter.note(f"the run has ended after {made}; a greater --total-timesteps continues it")
        else:
            reporter.note(f"the run continues after {made}")
    write_settings(config, folder)
    reporter.started(training.in_words(), folder)
    training.learn(stop)


@contextmanager
def workers_of(config: TrainConfig, folder: Path) -> Iterator[Group]:
    """Start the workers of a run, and explain how to go on if one of them ends too early."""
    try:
        with start_workers(int(config.workers), config.device) as group:
            yield group
    except WorkerLost as error:
        raise ChildProcessError(
            f"{error}; go on from the last save by: fivedice train --resume {shlex.quote(str(folder))}"
        ) from None


def take_part(config: TrainConfig, folder: Path, continues: bool, group: Group) -> None:
    """A run as the workers 1, 2, … see it: they train together with worker 0, but write and report nothing.

    Args:
        config, folder: as for `Training`.
        continues: whether the run continues one that was stopped.
        group: the workers. The default process group of `torch.distributed` is initialised.
    """
    training = Training(config, folder, Silent().updated, group=group)
    if continues:
        restore(training)
    training.learn()


class Training:
    """One run: the environment, the opponents, the model, and what is saved.

    Args:
        config: the settings; `validate` has checked them.
        folder: the folder of the run.
        report: is called after every update.
        optimum: the exact highest expected points, if they are known (`optimum_of`).
        start: the checkpoint with which a new run starts (`load_start`). Only worker 0 needs it.
        group: the workers of the run. Each of them makes a `Training`.
        saved: is called whenever the resume file was written, by all workers.
    """

    def __init__(
        self,
        config: TrainConfig,
        folder: Path,
        report: Callable[[Progress], None],
        optimum: float | None = None,
        start: CheckpointPolicy | None = None,
        group: Group = ALONE,
        saved: Callable[[], None] = lambda: None,
    ) -> None:
        validate(config)
        self.config, self.folder, self.report, self.optimum = config, folder, report, optimum
        self.group, self.saved = group, saved
        self.game = load_game(config.game)
        self.options = self.game.make_options(config.num_players, config.options)
        self.num_players = int(self.options["num_players"])
        self.canonical_form = config.network_settings()["canonical_form"]

        # The environment: N games, the learner in one seat of each, opponents from the pool in the others. Each worker
        # has a part of the games.
        self.pool = OpponentPool(vars(config.opponents), config.pool_size)
        options: dict[str, Any] = dict(config.options)
        self.env = SeatVecEnv(
            self.game,
            config.n_envs // group.size,
            opponents=self.pool if self.num_players > 1 else [],
            num_players=self.num_players,
            reward=config.reward,
            reward_scale=config.reward_scale,
            canonical_form=self.canonical_form,
            prior=PRIORS[config.prior] if config.prior else None,
            prior_span=config.prior_span,
            prior_keep_span=config.prior_keep_span,
            prior_features=config.prior_features,
            **options,
        )

        self.env.first_game = group.part(config.n_envs).start

        # The model.
        self.feature_names = self.env.prior.feature_names(self.game) if self.env.prior else []
        with library_settings(config.torch_threads):
            self.model = make_model(config, self.env, len(self.feature_names), group)
        self.model.lr_schedule = lambda _: self._between(config.learning_rate, config.learning_rate_end)
        self.fixed = {name for name, tensor in network_parameters(self.model).items() if not tensor.requires_grad}
        if start is not None:
            take_over(self.model, start.network)
        share_network(self.model, group)
        self.model.set_logger(make_logger(folder, group))

        # Evaluation: the baselines (with optimal play, if it is an opponent), and the best checkpoints so far.
        greedy = ("greedy",) if GREEDY.plays(self.game) else ()
        self.rivals = ("random", *greedy, *(("optimal",) if config.opponents.optimal else ()))
        self.best = -float("inf")
        self.previous_bests: list[PreviousBest] = []  # oldest first
        self.next_best = 0  # the number of the next one
        self.owes_evaluation = False  # whether the run was stopped in an evaluation
        self._forgot: tuple[str, ...] = ()
        self._started = time.monotonic()
        self._checking = 0.0  # seconds spent on checks of new bests
        self.add_snapshot()

    @property
    def steps(self) -> int:
        """Decisions of the learner so far."""
        return int(self.model.num_timesteps)

    @property
    def is_finished(self) -> bool:
        """Whether the run has made all its decisions."""
        return self.steps >= self.config.total_timesteps

    def in_words(self) -> str:
        """The game, the number of players, the reward and the number of workers."""
        players = f"{self.num_players} player{'s' * (self.num_players > 1)}"
        workers = f", {self.group.size} workers" if self.group.size > 1 else ""
        return f"{self.game.title}, {players}, reward {self.env.table.batch.reward}{workers}"

    def learn(self, stop: StopRequest | None = None) -> bool:
        """Train to ``total_timesteps``.

        Args:
            stop: says whether to stop. Default: Ctrl-C or SIGTERM does, which only the main thread can notice.

        Returns:
            False if it was stopped before; everything is saved then. If one worker is asked to stop, all
            stop after the same update.
        """
        config, model, group = self.config, self.model, self.group
        watch = Watch(self.pool, self.feature_names, group)
        with library_settings(config.torch_threads), StopOnSignal() if stop is None else nullcontext(stop) as stop:
            self._started, first = time.monotonic(), self.steps
            evaluation = None
            if self.owes_evaluation:
                evaluation = self._evaluate_and_report(first)
            while not self.is_finished and not group.any(stop.requested):
                before = self.steps
                self._set_schedules()
                with divergence_reported(self):
                    model.learn(config.n_envs * config.n_steps, callback=watch, reset_num_timesteps=False)
                if passes(before, self.steps, config.snapshot_every):
                    self.add_snapshot()
                evaluation = None
                if passes(before, self.steps, config.eval_every) or self.is_finished:
                    evaluation = self._evaluate_and_report(first, watch.score)
                else:
                    self.report(Progress(self.steps, watch.score, self._speed(first), None, self._forgot))
            if evaluation is None and self.steps > first:
                self.save(self.folder / "last.safetensors", {})
                self.save_resume()
        return self.is_finished

    def _evaluate_and_report(self, first: int, score: float = math.nan) -> dict[str, Estimate]:
        """Save the run, then evaluate it; a run that is killed during the evaluation plays it when it is resumed."""
        self.model.logger.dump(self.steps)  # what is not logged now would be lost with the process
        self.owes_evaluation = True
        self.save_resume()
        self.owes_evaluation = False
        evaluation = self.evaluate_and_save()
        lost = tuple(loses_to(evaluation, 1 / self.num_players))
        self.report(Progress(self.steps, score, self._speed(first), evaluation, self._forgot, lost))
        return evaluation

    def _speed(self, first: int) -> float:
        """Decisions per second since the run was started or resumed after `first` decisions."""
        return (self.steps - first) / (time.monotonic() - self._started)

    def _set_schedules(self) -> None:
        """Set what changes over the run, before an update."""
        config = self.config
        self.model.ent_coef = self._between(config.ent_coef, config.ent_coef_end)
        self.env.margin_coef = self._between(config.margin_coef, config.margin_coef_end)
        trains_policy = self.steps >= config.value_steps  # before, only the value network is trained
        for name, parameter in network_parameters(self.model).items():
            may_change = trains_policy or not name.startswith("policy")
            parameter.requires_grad_(may_change and name not in self.fixed)

    def _between(self, start: float, end: float) -> float:
        """The current value of a schedule that changes linearly from `start` to `end` over the run."""
        return start + (end - start) * min(1.0, self.steps / self.config.total_timesteps)

    def evaluate_and_save(self) -> dict[str, Estimate]:
        """Play evaluation games; write ``last``, the resume file, and ``best`` if it is better and passes the gate."""
        self.require_equal_workers()
        evaluation = self.evaluate()
        measure = self.measure(evaluation)
        self._forgot = ()
        is_best = measure > self.best
        if is_best and self.num_players > 1:
            evaluation |= self.check_best(evaluation)
            is_best = not self._forgot
        for name, figure in evaluation.items():
            self.model.logger.record(name, figure.mean)
            self.model.logger.record(f"{name}_low", figure.low)
            self.model.logger.record(f"{name}_high", figure.high)
        if self.optimum is not None:
            self.model.logger.record("eval/percent_of_optimum", 100 * evaluation["eval/score"].mean / self.optimum)
        self.model.logger.dump(self.steps)
        self.save(self.folder / "last.safetensors", evaluation)
        if is_best:
            self.best = measure
            self.save(self.folder / "best.safetensors", evaluation)
            previous_best = PreviousBest(self.next_best, self.policy(name=f"best-{self.steps:09d}"), evaluation)
            self.next_best += 1
            self.previous_bests = [*self.previous_bests, previous_best][-GATE_SIZE:]
        self.save_resume()
        return evaluation

    def check_best(self, evaluation: dict[str, Estimate]) -> dict[str, Estimate]:
        """The gate: the candidate for ``best`` plays the previous bests and, if the game is solved, optimal play.

        Store the names of the opponents against which it has become worse. Return the results by scalar name.
        """
        started = time.monotonic()
        found = {
            f"{WIN_RATE}previous_best_{back}": self._play(previous_best.policy, self.config.check_games).wins[
                previous_best.policy.name
            ]
            for back, previous_best in enumerate(reversed(self.previous_bests), 1)
        }
        previous_bests = {name.removeprefix(WIN_RATE): figure for name, figure in found.items()}
        if is_solved(self.game, self.options) and OPTIMAL.name not in self.rivals:
            found[f"{WIN_RATE}optimal"] = self._play(OPTIMAL, self.config.check_games).wins[OPTIMAL.name]
        before = self.previous_bests[-1].figures if self.previous_bests else {}
        yardsticks = {name: figure for name, figure in before.items() if "previous_best" not in name}
        self._forgot = tuple(forgotten(evaluation | found, yardsticks, previous_bests, 1 / self.num_players))
        self.model.logger.record("eval/forgotten", len(self._forgot))
        self._checking += time.monotonic() - started
        self.model.logger.record("time/share_of_checks", self._checking / (time.monotonic() - self._started))
        return found

    def require_equal_workers(self) -> None:
        """Raise a RuntimeError if the workers do not have the same network and the same opponents."""
        found = digest(network_tensors(self.model))
        self.group.require_equal(f"{found} {self.pool.steps} {self.pool.results}", "the networks or opponents")

    def measure(self, evaluation: dict[str, Estimate]) -> float:
        """What ``best`` maximises: points for ``reward="score"``, else the mean win rate against the baselines."""
        if self.env.table.batch.reward == "score":
            return evaluation["eval/score"].mean
        return float(np.mean([evaluation[f"{WIN_RATE}{rival}"].mean for rival in self.rivals]))

    def policy(self, *, name: str = "current", deterministic: bool = True) -> CheckpointPolicy:
        """A copy of the learner as it is now, as a policy."""
        network = Network(
            network_tensors(self.model),
            int(np.prod(self.env.observation_space.shape or 0)),
            self.env.table.batch.num_actions,
            self.config.net_arch,
            self.config.activation,
            residual=self.env.prior is not None,
            num_features=len(self.feature_names),
        )
        return CheckpointPolicy(
            name,
            self.game,
            self.options,
            network,
            canonical_form=self.canonical_form,
            prior=self.env.prior,
            deterministic=deterministic,
        )

    def add_snapshot(self) -> None:
        """Add a copy of the learner to the opponents; it plays in games that start from now on."""
        name = f"step-{self.steps:09d}"
        in_use = self.group.join(self.env.table.seated)
        self.pool.add(self.policy(name=name, deterministic=False), self.steps, in_use)

    def evaluate(self) -> dict[str, Estimate]:
        """Play evaluation games, which have other seeds than training games. Return the results by scalar name."""
        if self.num_players == 1:
            return {"eval/score": self._play(None, self.config.eval_games).points}
        found: dict[str, Estimate] = {}
        for rival in self.rivals:
            standing = self._play(load(rival), self.config.eval_games)
            found["eval/score"] = standing.points
            found[f"{WIN_RATE}{rival}"] = standing.wins[rival]
        return found

    def _play(self, rival: Policy | None, games: int) -> Standing:
        """The result of the current learner against another policy, or alone if `rival` is None."""
        contenders: dict[str, Policy] = {"learner": self.policy()}
        if rival is not None:
            contenders[rival.name] = rival
        return evaluate(
            self.game,
            contenders,
            games=games,
            num_players=self.num_players,
            seed=self.config.seed + EVALUATION_SEED,
            options=self.config.options,
            play_all=partial(play_together, self.group) if self.group.size > 1 else play_games,
        )[0]

    def save_resume(self) -> None:
        """Write the resume file."""
        save_resume(self)
        self.saved()

    def save(self, path: Path, evaluation: dict[str, Estimate]) -> None:
        """Write the learner as a checkpoint, with the results of its evaluation in the card. Only worker 0 does it."""
        if self.group.rank > 0:
            return
        policy = self.policy()
        card = policy.card() | {
            "reward": self.env.table.batch.reward,
            "steps": self.steps,
            "seed": self.config.seed,
            "libraries": {name: importlib.metadata.version(name) for name in LIBRARIES},
            "evaluation": {name.removeprefix("eval/"): figure.to_dict() for name, figure in evaluation.items()},
        }
        save_checkpoint(path, card, policy.network)


@contextmanager
def divergence_reported(training: Training) -> Iterator[None]:
    """Raise a ValueError if weights are not finite after an update. Nothing is saved then."""
    overflows = False
    try:
        yield
    except (ValueError, RuntimeError) as error:  # torch refuses to sample from probabilities that are not finite
        overflows = "overflow" in str(error)  # of the learning rate itself
        if has_finite_weights(training.model) and not overflows:
            raise
    if overflows or not has_finite_weights(training.model):
        saved = [path for name in ("best", "last") if (path := training.folder / f"{name}.safetensors").is_file()]
        raise ValueError(
            f"training diverged after {training.steps:,} decisions: weights of the network are not finite; "
            f"use a smaller learning_rate than {training.config.learning_rate:g}; "
            f"saved before: {', '.join(map(str, saved)) or 'nothing'}"
        )


def passes(before: int, after: int, every: int) -> bool:
    """Whether a multiple of `every` lies after `before` and not after `after`."""
    return before // every < after // every
