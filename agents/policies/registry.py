"""Policies by name."""

import importlib
import re
from collections.abc import Sequence
from pathlib import Path

from fivedice.agents.policies.baselines import GREEDY, OPTIMAL, RandomPolicy
from fivedice.agents.policies.files import no_checkpoint
from fivedice.agents.policies.rollout import AIMS, GAMES, POINTS, RolloutPolicy
from fivedice.envs.core.view import Policy, View

__all__ = ["NAMES", "Policy", "View", "load", "load_all"]

NAMES = ("random", "greedy", "optimal", "rollout")
ROLLOUT = "rollout"


def load(name: str | Path, *, deterministic: bool = True) -> Policy:
    """A policy for ``"random"``, ``"greedy"``, ``"optimal"``, ``"rollout"`` or a checkpoint file.

    A rollout may name its base, the games of each action and what it maximises, in this order and each left out at
    will: ``"rollout:random:200"``, ``"rollout:runs/yum/best.safetensors"``, ``"rollout:greedy:64:win"``. See
    `RolloutPolicy`.

    Args:
        name: one of the names, or the path of a ``.safetensors`` file. Nothing in it is executed.
        deterministic: whether a checkpoint plays its likeliest action, or draws from its probabilities.

    Raises:
        ValueError: there is no such policy, or the file is not a checkpoint that this version can play.
    """
    if name == "random":
        return RandomPolicy()
    if name == "greedy":
        return GREEDY
    if name == "optimal":
        return OPTIMAL
    if isinstance(name, str) and name.split(":")[0] == ROLLOUT:
        base, games, aim = read_rollout(name)
        return RolloutPolicy(load(base, deterministic=deterministic), games, aim)
    shown = str(name) if isinstance(name, Path) else name
    refused = f"{shown!r} is not a policy; use {', '.join(map(repr, NAMES))} or the path of a .safetensors checkpoint"
    if not isinstance(name, (str, Path)) or name == "":
        raise ValueError(refused)
    path = Path(name)
    if path.suffix != ".safetensors":
        raise ValueError(no_checkpoint(path) if any(path.glob("*.safetensors")) else refused)
    checkpoint = importlib.import_module(
        "fivedice.agents.policies.checkpoint"
    )  # needs safetensors, which the others do without
    policy: Policy = checkpoint.load_checkpoint(path, deterministic=deterministic)
    return policy


def read_rollout(name: str) -> tuple[str, int, str]:
    """The base, the games of each action and the aim that the name of a rollout says; see `load`."""
    words = name.split(":")[1:]
    aim = words.pop() if words and words[-1] in AIMS else POINTS
    is_number = bool(words) and re.fullmatch(r"-?\d{1,9}", words[-1]) is not None
    games = int(words.pop()) if is_number else GAMES
    base = ":".join(words) if words else "greedy"  # the path of a checkpoint may have a colon in it
    if not base or base.endswith(":"):
        raise ValueError(
            f"{name!r} ends in the middle; name a rollout as rollout:BASE:GAMES, such as rollout:greedy:64"
        )
    return base, games, aim


def load_all(names: Sequence[str], *, deterministic: bool = True) -> dict[str, Policy]:
    """Policies by names that tell them apart: a file's own name, or its path where two files share it."""
    policies = [load(name, deterministic=deterministic) for name in names]
    short = [policy.name for policy in policies]
    labels = [name if short.count(own) > 1 else own for name, own in zip(names, short, strict=True)]
    for place, label in enumerate(labels):
        if label in labels[:place]:
            raise ValueError(f"{label!r} is named twice; name each policy once")
    return dict(zip(labels, policies, strict=True))
