"""Training: sb3-contrib's MaskablePPO on one seat of N games, against a pool of its own snapshots and baselines."""

import importlib.metadata
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import configure
from threadpoolctl import threadpool_limits

from fivedice.agents.evaluation.match import Estimate, Standing, evaluate
from fivedice.agents.policies.baselines import OPTIMAL, is_solved
from fivedice.agents.policies.checkpoint import CheckpointPolicy, load_checkpoint, save_checkpoint
from fivedice.agents.policies.network import Network
from fivedice.agents.policies.prior import PRIORS
from fivedice.agents.policies.registry import load
from fivedice.agents.training.config import TrainConfig
from fivedice.agents.training.gate import GATE_SIZE, WIN_RATE, PreviousBest, forgotten, loses_to
from fivedice.agents.training.metrics import Watch
from fivedice.agents.training.opponents import OpponentPool
from fivedice.agents.training.resume import save_resume
from fivedice.agents.training.torch_policy import ResidualExtractor, ResidualPolicy
from fivedice.agents.training.vec_env import SeatVecEnv
from fivedice.envs import load_game
from fivedice.envs.core.view import Policy

EVALUATION_SEED = 1_000_003  # added to the run's seed, so that no evaluation game is a training game
FINAL_SEED = 2_000_003
LIBRARIES = ("fivedice", "numpy", "torch", "stable-baselines3", "sb3-contrib", "gymnasium", "pettingzoo", "numba")
ACTIVATIONS: dict[str, type[torch.nn.Module]] = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}


@dataclass(frozen=True)
class Progress:
    """What a run tells while it goes on."""

    steps: int
    score: float  # mean points of the games finished lately
    decisions_per_second: float
    evaluation: dict[str, Estimate] | None  # by scalar name, when one was just played
    forgot: tuple[str, ...] = ()  # why it is not taken as the best, though better: against whom it has got worse
    loses_to: tuple[str, ...] = ()  # whom it loses to significantly


class Training:
    """One run: the model, its environment and pool, and what is saved.

    Args:
        config: what to train and how.
        folder: the run's folder.
        report: told after every update.
        optimum: the exact highest expected points, if they are known.
        start: the checkpoint that ``config.start`` names, for a run that begins (`load_start`).
    """

    def __init__(
        self,
        config: TrainConfig,
        folder: Path,
        report: Callable[[Progress], None],
        optimum: float | None = None,
        start: CheckpointPolicy | None = None,
    ) -> None:
        self.config, self.folder, self.report, self.optimum = config, folder, report, optimum
        self.game = load_game(config.game)
        self.options = self.game.make_options(config.num_players, config.options)
        self.num_players = int(self.options["num_players"])
        check(config, self.num_players)
        self.canonical_form = config.network_settings()["canonical_form"]
        if config.torch_threads:
            torch.set_num_threads(config.torch_threads)
            threadpool_limits(config.torch_threads, user_api="blas")  # the opponents' networks run on NumPy
        # Masked probabilities of float32 do not always sum to 1 within the bounds that torch checks by default.
        torch.distributions.Distribution.set_default_validate_args(False)
        self.pool = OpponentPool(vars(config.opponents), config.pool_size)
        options: dict[str, Any] = dict(config.options)
        self.env = SeatVecEnv(
            self.game,
            config.n_envs,
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
        self.feature_names = self.env.prior.feature_names(self.game) if self.env.prior else []
        residual = {
            "prior_logit": config.prior_logit,
            "num_features": len(self.feature_names),
            "features_only": config.features_only,
        }
        self.model = MaskablePPO(
            ResidualPolicy if config.prior else "MlpPolicy",
            self.env,
            learning_rate=lambda _: self._between(config.learning_rate, config.learning_rate_end),
            n_steps=config.n_steps,
            batch_size=config.batch_size,
            n_epochs=config.n_epochs,
            gamma=config.gamma,
            gae_lambda=config.gae_lambda,
            clip_range=config.clip_range,
            ent_coef=config.ent_coef,
            vf_coef=config.vf_coef,
            max_grad_norm=config.max_grad_norm,
            target_kl=config.target_kl,
            policy_kwargs={
                "net_arch": list(config.net_arch),
                "activation_fn": ACTIVATIONS[config.activation],
                **(residual if config.prior else {}),
            },
            seed=config.seed,  # of the environment, too
            device=config.device,
        )
        self.fixed = {name for name, tensor in network_parameters(self.model).items() if not tensor.requires_grad}
        if start is not None:
            take_over(self.model, start.network)
        self._started = time.monotonic()
        self.model.set_logger(configure(str(folder), ["tensorboard"]))
        # In evaluations; exact play, where it is an opponent, too.
        self.rivals = ("random", "greedy", "optimal") if config.opponents.optimal else ("random", "greedy")
        self.best = -float("inf")
        self.previous_bests: list[PreviousBest] = []  # the last bests, oldest first
        self.next_best = 0  # its number
        self._forgot: tuple[str, ...] = ()
        self._checking = 0.0  # seconds spent on checks of new bests
        self.add_snapshot()

    @property
    def steps(self) -> int:
        """Decisions of the learner so far."""
        return int(self.model.num_timesteps)

    def _between(self, start: float, end: float) -> float:
        """The value of a schedule that goes from `start` to `end` in a straight line over the run."""
        # Before the first step Stable-Baselines3 asks for the learning rate of a model that is not there yet.
        done = self.steps / self.config.total_timesteps if hasattr(self, "model") else 0.0
        return start + (end - start) * min(1.0, done)

    def learn(self) -> bool:
        """Train to ``total_timesteps``; False if Ctrl-C or SIGTERM stopped it, after saving everything."""
        config, model = self.config, self.model
        rollout = config.n_envs * config.n_steps
        watch = Watch(self.pool, self.feature_names)
        with StopOnSignal() as stop:
            self._started, first = time.monotonic(), self.steps
            while self.steps < config.total_timesteps and not stop.requested:
                before = self.steps
                model.ent_coef = self._between(config.ent_coef, config.ent_coef_end)
                self.env.margin_coef = self._between(config.margin_coef, config.margin_coef_end)
                learns_policy = before >= config.value_steps
                for name, parameter in network_parameters(model).items():
                    may_learn = learns_policy or not name.startswith("policy")
                    parameter.requires_grad_(may_learn and name not in self.fixed)
                model.learn(rollout, callback=watch, reset_num_timesteps=False)
                if passes(before, self.steps, config.snapshot_every):
                    self.add_snapshot()
                evaluation = None
                if passes(before, self.steps, config.eval_every) or self.steps >= config.total_timesteps:
                    evaluation = self.evaluate_and_save()
                speed = (self.steps - first) / (time.monotonic() - self._started)
                lost = () if evaluation is None else tuple(loses_to(evaluation, 1 / self.num_players))
                self.report(Progress(self.steps, watch.score, speed, evaluation, self._forgot, lost))
            if stop.requested:
                self.save(self.folder / "last.safetensors", {})
                save_resume(self)
        return not stop.requested

    def evaluate_and_save(self) -> dict[str, Estimate]:
        """Play evaluation games, write ``last`` and perhaps ``best``, and what resuming needs."""
        evaluation = self.evaluate()
        measure = self.measure(evaluation)
        self._forgot = ()
        is_best = measure > self.best
        if is_best and self.num_players > 1:
            evaluation |= self.check_best(evaluation)
            is_best = not self._forgot
        for name, figure in evaluation.items():
            self.model.logger.record(name, figure.mean)
            self.model.logger.record(f"{name}_half_width", figure.half_width)
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
        save_resume(self)
        return evaluation

    def check_best(self, evaluation: dict[str, Estimate]) -> dict[str, Estimate]:
        """Play what would be the new best against the last ones and exact play, and see what it has forgotten.

        Returns the figures of these games by the names of their scalars.
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

    def measure(self, evaluation: dict[str, Estimate]) -> float:
        """What ``best`` is best at: points, or the mean win rate where winning is what is paid."""
        if self.env.table.batch.reward == "score":
            return evaluation["eval/score"].mean
        return float(np.mean([evaluation[f"{WIN_RATE}{rival}"].mean for rival in self.rivals]))

    def policy(self, *, name: str = "current", deterministic: bool = True) -> CheckpointPolicy:
        """The learner as it is now, independent of what becomes of it."""
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
        """Let the learner as it is now play as an opponent, in games that start from here on."""
        name = f"step-{self.steps:09d}"
        self.pool.add(self.policy(name=name, deterministic=False), self.steps, self.env.table.seated)

    def evaluate(self) -> dict[str, Estimate]:
        """Play games of their own seeds; the figures by the names of their scalars."""
        if self.num_players == 1:
            return {"eval/score": self._play(None, self.config.eval_games).points}
        found: dict[str, Estimate] = {}
        for rival in self.rivals:
            standing = self._play(load(rival), self.config.eval_games)
            found["eval/score"] = standing.points
            found[f"{WIN_RATE}{rival}"] = standing.wins[rival]
        return found

    def _play(self, rival: Policy | None, games: int) -> Standing:
        """How the learner as it is now does against another policy, or alone."""
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
        )[0]

    def save(self, path: Path, evaluation: dict[str, Estimate]) -> None:
        """Write the learner as a checkpoint, with what its evaluation said."""
        policy = self.policy()
        card = policy.card() | {
            "reward": self.env.table.batch.reward,
            "steps": self.steps,
            "seed": self.config.seed,
            "libraries": {name: importlib.metadata.version(name) for name in LIBRARIES},
            "evaluation": {
                name.removeprefix("eval/"): {
                    "mean": figure.mean,
                    "half_width": figure.half_width,
                    "deals": figure.count,
                }
                for name, figure in evaluation.items()
            },
        }
        save_checkpoint(path, card, policy.network)


def check(config: TrainConfig, num_players: int) -> None:
    """Refuse settings that cannot go together, before anything is written."""
    rollout = config.n_envs * config.n_steps
    if config.batch_size > rollout or rollout % config.batch_size:
        raise ValueError(
            f"batch_size={config.batch_size} does not divide the {rollout} decisions between two updates "
            f"(n_envs={config.n_envs} times n_steps={config.n_steps}); use a divisor of {rollout}"
        )
    game = load_game(config.game)
    if config.opponents.optimal and not is_solved(game, game.make_options(num_players, config.options)):
        raise ValueError(f"opponents.optimal={config.opponents.optimal}, but {game.title} is not solved; use 0")
    prior = config.make_prior()
    if prior is not None:
        prior.check(game)
    if config.features_only and not config.prior_features:
        raise ValueError("features_only learns the weights of features; show them by prior_features")
    weights = {f"opponents.{name}": weight for name, weight in vars(config.opponents).items()}
    for name, value in (vars(config) | weights).items():
        may_be_infinite = name in ("max_grad_norm", "target_kl")  # for none
        if isinstance(value, float) and not np.isfinite(value) and not may_be_infinite:
            raise ValueError(f"{name}={value} is not finite; use a number")
    try:
        torch.zeros(1, device=config.device).cpu()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ValueError(
            f"device={config.device!r} cannot be used here ({str(error).splitlines()[0]}); use cpu"
        ) from None


def load_start(config: TrainConfig) -> CheckpointPolicy | None:
    """The checkpoint that a run begins from, if any.

    Raises:
        ValueError: it is missing or broken, or plays another table or with another network than the run's.
    """
    if config.start is None:
        return None
    start = load_checkpoint(config.start)
    game = load_game(config.game)
    start.check(game, game.make_options(config.num_players, config.options))
    wanted = config.network_settings()
    for name, found in start.settings().items():
        if found != wanted[name]:
            raise ValueError(f"start={config.start} has {name}={found!r}, not {wanted[name]!r} as the run")
    return start


def take_over(model: MaskablePPO, network: Network) -> None:
    """Give the model the tensors of a network, but for its value output: what it values may be paid otherwise."""
    last = f"value.{len(network.net_arch)}."
    with torch.no_grad():
        for name, parameter in network_parameters(model).items():
            if not name.startswith(last):
                parameter.copy_(torch.tensor(network.tensors[name]))


def network_tensors(model: MaskablePPO) -> dict[str, NDArray[np.float32]]:
    """The model's tensors under the names of `Network`, copied."""
    parameters = network_parameters(model)
    return {name: parameter.detach().cpu().numpy().copy() for name, parameter in parameters.items()}


def network_parameters(model: MaskablePPO) -> dict[str, torch.Tensor]:
    """The model's parameters under the names of `Network`."""
    policy = model.policy
    heads = {
        "policy": [*policy.mlp_extractor.policy_net, policy.action_net],
        "value": [*policy.mlp_extractor.value_net, policy.value_net],
    }
    parameters: dict[str, torch.Tensor] = {}
    for head, modules in heads.items():
        layers = [module for module in modules if isinstance(module, torch.nn.Linear)]
        for number, layer in enumerate(layers):
            parameters[f"{head}.{number}.weight"] = layer.weight
            parameters[f"{head}.{number}.bias"] = layer.bias
    if isinstance(policy.mlp_extractor, ResidualExtractor) and policy.mlp_extractor.query is not None:
        query = policy.mlp_extractor.query
        parameters["policy.query.weight"], parameters["policy.query.bias"] = query.weight, query.bias
    return parameters


def passes(before: int, after: int, every: int) -> bool:
    """Whether a multiple of `every` lies after `before` and not after `after`."""
    return before // every < after // every


class StopOnSignal:
    """Turns the first Ctrl-C or SIGTERM into a request to stop after the update in hand; the second is immediate."""

    requested = False

    def __enter__(self) -> "StopOnSignal":
        self._previous = {number: signal.signal(number, self._request) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *exception: object) -> None:
        self._restore()

    def _request(self, number: int, frame: object) -> None:
        self.requested = True
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
