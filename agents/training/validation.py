"""Validation of the settings, before a run writes anything."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from fivedice.agents.policies.baselines import GREEDY, PLANNER, is_solved
from fivedice.agents.policies.checkpoint import CheckpointPolicy, load_checkpoint
from fivedice.agents.training.config import CONFIG, TrainConfig
from fivedice.envs import load_game


def validate(config: TrainConfig) -> None:
    """Check that the settings are possible and can be combined.

    Raises:
        ValueError: they are not. The message names the setting and says what to do.
    """
    game = load_game(config.game)
    options = game.make_options(config.num_players, config.options)
    rollout = config.n_envs * config.n_steps
    if config.batch_size > rollout or rollout % config.batch_size:
        raise ValueError(
            f"batch_size={config.batch_size} does not divide the {rollout} decisions between two updates "
            f"(n_envs={config.n_envs} times n_steps={config.n_steps}); use a divisor of {rollout}"
        )
    if isinstance(config.workers, int) and config.workers > 1:
        for name, count in (("n_envs", config.n_envs), ("batch_size", config.batch_size)):
            if count % config.workers:
                raise ValueError(
                    f"workers={config.workers} does not divide {name}={count}; use a divisor, because each worker has "
                    "an equal part of the games and of each minibatch"
                )
    weights = {f"opponents.{name}": weight for name, weight in vars(config.opponents).items()}
    for name, value in (vars(config) | weights).items():
        may_be_infinite = name in ("max_grad_norm", "target_kl")  # infinity turns them off
        if isinstance(value, float) and not np.isfinite(value) and not may_be_infinite:
            raise ValueError(f"{name}={value} is not finite; use a number")
    if config.opponents.optimal and not is_solved(game, options):
        raise ValueError(f"opponents.optimal={config.opponents.optimal}, but {game.title} is not solved; use 0")
    if config.opponents.greedy and not GREEDY.plays(game):
        raise ValueError(f"opponents.greedy={config.opponents.greedy}, but {game.title} has no greedy policy; use 0")
    if config.opponents.planner and not PLANNER.plays(game):
        raise ValueError(f"opponents.planner={config.opponents.planner}, but {game.title} has no planner; use 0")
    prior = config.make_prior()
    if prior is not None:
        prior.check(game)
    if config.features_only and not config.prior_features:
        raise ValueError("features_only=True trains only feature weights; set prior_features=True, too")
    try:
        torch.zeros(1, device=config.device).cpu()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ValueError(
            f"device={config.device!r} cannot be used here ({str(error).splitlines()[0]}); use cpu"
        ) from None


def validate_resumed(config: TrainConfig, folder: Path) -> None:
    """Check that a resumed run does not change a setting that must stay the same.

    Raises:
        ValueError: the seed, the name or the folder of runs differs from the one stored in `folder`.
    """
    if not (folder / CONFIG).is_file():  # nothing has begun there
        return
    stored = read_stored(folder / CONFIG)
    for name in ("seed", "name", "runs"):
        value = getattr(config, name)
        value = str(value) if isinstance(value, Path) else value
        if name in stored and value != stored[name]:
            raise ValueError(
                f"{folder} was started with {name}={stored[name]!r}, which cannot change; "
                f"leave out --{name}, or start a new run"
            )


def read_stored(path: Path) -> dict[str, Any]:
    """Read the settings that a run has stored in its folder.

    Raises:
        ValueError: the file does not contain settings.
    """
    try:
        stored = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} does not contain the settings of a run ({error})") from None
    if not isinstance(stored, dict):
        raise ValueError(f"{path} does not contain the settings of a run (it contains {str(stored)[:40]!r})")
    return stored


def load_start(config: TrainConfig) -> CheckpointPolicy | None:
    """Load the checkpoint whose network a new run starts with, or None if ``config.start`` is not set.

    Raises:
        ValueError: the file is missing or damaged, or its game, options or network differ from the run's.
    """
    if config.start is None:
        return None
    start = load_checkpoint(config.start)
    game = load_game(config.game)
    start.check(game, game.make_options(config.num_players, config.options))
    wanted = config.network_settings()
    for name, found in start.settings().items():
        if found != wanted[name]:
            raise ValueError(f"start={config.start} has {name}={found!r}, but the run has {name}={wanted[name]!r}")
    return start
