"""Loads policies by name."""

import importlib
import re
from collections.abc import Sequence
from pathlib import Path

from fivedice.agents.policies.baselines import GREEDY, OPTIMAL, PLANNER, RandomPolicy
from fivedice.agents.policies.files import no_checkpoint
from fivedice.agents.policies.rollout import AIMS, GAMES, POINTS, RolloutPolicy
from fivedice.envs.core.view import Policy, View

__all__ = ["NAMES", "Policy", "View", "load", "load_all"]

NAMES = ("random", "greedy", "planner", "optimal", "rollout")
ROLLOUT = "rollout"


def load(name: str | Path, *, deterministic: bool = True) -> Policy:
    """A policy for ``"random"``, ``"greedy"``, ``"planner"``, ``"optimal"``, ``"rollout"`` or a checkpoint file.

    A rollout's name may give its base policy, the number of simulated games and the aim, in this order. Each is
    optional: ``"rollout:random:200"``, ``"rollout:runs/yum/best.safetensors"``, ``"rollout:greedy:64:win"``. See
    `RolloutPolicy`.

    Args:
        name: one of the names, or the path of a ``.safetensors`` file. Nothing in it is executed.
        deterministic: True: a checkpoint plays its most probable action. False: it samples from its probabilities.

    Raises:
        ValueError: no policy has this name, or the file is not a checkpoint that this version can play.
    """
    if name == "random":
        return RandomPolicy()
    if name == "greedy":
        return GREEDY
    if name == "planner":
        return PLANNER
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
    )  # imported here, because only checkpoints need safetensors
    policy: Policy = checkpoint.load_checkpoint(path, deterministic=deterministic)
    return policy


def read_rollout(name: str) -> tuple[str, int, str]:
    """The base policy, the number of simulated games and the aim in the name of a rollout; see `load`."""
    words = name.split(":")[1:]
    aim = words.pop() if words and words[-1] in AIMS else POINTS
    is_number = bool(words) and re.fullmatch(r"-?\d{1,9}", words[-1]) is not None
    games = int(words.pop()) if is_number else GAMES
    base = ":".join(words) if words else "greedy"  # the path of a checkpoint may have a colon in it
    if not base or base.endswith(":"):
        raise ValueError(f"{name!r} is incomplete; name a rollout as rollout:BASE:GAMES, for example rollout:greedy:64")
    return base, games, aim


def load_all(names: Sequence[str], *, deterministic: bool = True) -> dict[str, Policy]:
    """Policies by unique labels: a checkpoint's label is its file's name, or its path if two files have that name.

    Raises:
        ValueError: as for `load`; or two policies have the same label.
    """
    policies = [load(name, deterministic=deterministic) for name in names]
    short = [policy.name for policy in policies]
    labels = [name if short.count(own) > 1 else own for name, own in zip(names, short, strict=True)]
    for place, label in enumerate(labels):
        if label in labels[:place]:
            raise ValueError(f"{label!r} is listed twice; list each policy once")
    return dict(zip(labels, policies, strict=True))
