"""The user's own policies as opponents in training: `Mix.own_policies`.

A name of the form ``module:attribute`` imports a module. So it comes from the caller's code, from the command line, or
from a configuration that the command line names. The folder of a run also stores the names, but `fivedice train
--resume` refuses to import what the command itself does not name.
"""

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from fivedice.agents.policies.checkpoint import CheckpointPolicy
from fivedice.agents.policies.registry import imports, load_all
from fivedice.agents.training.config import TrainConfig
from fivedice.agents.training.opponents import BASELINES
from fivedice.envs import load_game
from fivedice.envs.core.batch import Batch, find_illegal
from fivedice.envs.core.plugins import first_line
from fivedice.envs.core.spec import Game
from fivedice.envs.core.view import ChecksGame, Policy

SETTING = "opponents.own_policies"
TRIAL = 4  # games


def load_own(config: TrainConfig) -> list[Policy]:
    """Load the user's own policies, and ask each of them for its first action in a few games.

    Returns:
        The policies in the order of ``config.opponents.own_policies``; none if they are never drawn.

    Raises:
        ValueError: one of them cannot be loaded or cannot play the game, or two have the same name.
    """
    names = config.opponents.own_policies
    if not config.opponents.weights()["own"]:
        return []
    game = load_game(config.game)
    try:
        policies = load_all(names)
    except ValueError as error:
        raise ValueError(f"{SETTING}: {error}") from error
    for label, policy in policies.items():
        if isinstance(policy, CheckpointPolicy):
            policy.name = label  # two files may have the same name
        if not isinstance(policy.name, str) or policy.name in BASELINES or policy.name.startswith("step-"):
            raise ValueError(
                f"{SETTING}: {policy.name!r} is the name of another opponent, so results could not be told apart; "
                + (f"use opponents.{policy.name}" if policy.name in BASELINES else "give this policy another name")
            )
        _try(policy, game, config)
    own = [policy.name for policy in policies.values()]
    twice = [name for place, name in enumerate(own) if name in own[:place]]
    if twice:
        raise ValueError(f"{SETTING}: two policies have the name {twice[0]!r}; give each of them a name of its own")
    return list(policies.values())


def _try(policy: Policy, game: Game, config: TrainConfig) -> None:
    """Raise a ValueError if a policy cannot choose the first actions of some games."""
    options: dict[str, Any] = dict(config.options)
    batch = Batch(game, TRIAL, num_players=config.num_players, **options)
    batch.reset(seed=config.seed)
    says = f"{SETTING}: the policy {policy.name!r} cannot play {game.title}"
    try:
        if isinstance(policy, ChecksGame):
            policy.check(game, batch.options.copy())
        answer = np.asarray(policy.act(batch.view()))
    except Exception as error:  # a policy of somebody else may raise anything
        raise ValueError(f"{says}: {type(error).__name__}: {first_line(error)}") from error
    if answer.shape != (TRIAL,) or not np.issubdtype(answer.dtype, np.integer):
        raise ValueError(
            f"{says}: for {TRIAL} decisions, act returned dtype {answer.dtype} and shape {answer.shape}; "
            "it must return one integer for each"
        )
    row = find_illegal(batch.all_rows, answer.astype(np.int64), batch.masks)
    if row >= 0:
        raise ValueError(f"{says}: act returned {answer[row]}, which is not a legal action; see view.masks")


def imported_names(config: TrainConfig) -> list[str]:
    """Those of the own policies that are imported."""
    return [name for name in config.opponents.own_policies if imports(name)]


def resume_command(config: TrainConfig, folder: Path) -> str:
    """The command that continues a run. It names all own policies if one of them is imported."""
    own = named(config.opponents.own_policies) if imported_names(config) else ""
    return f"fivedice train --resume {shlex.quote(str(folder))}{own}"


def named(names: Iterable[str]) -> str:
    """Own policies as arguments of the command line."""
    return f" --{SETTING.replace('_', '-')} {shlex.join(names)}"
