"""Policies by name."""

import importlib
from pathlib import Path

from fivedice.agents.baselines import GREEDY, OPTIMAL, RandomPolicy
from fivedice.envs.view import Policy, View

__all__ = ["NAMES", "Policy", "View", "load"]

NAMES = ("random", "greedy", "optimal")


def load(name: str | Path, *, deterministic: bool = True) -> Policy:
    """A policy for ``"random"``, ``"greedy"``, ``"optimal"`` or a checkpoint file.

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
    path = Path(name)
    if path.suffix != ".safetensors":
        raise ValueError(
            f"{str(name)!r} is not a policy; use {', '.join(map(repr, NAMES))} or the path of a .safetensors checkpoint"
        )
    checkpoint = importlib.import_module("fivedice.agents.checkpoint")  # needs safetensors, which the others do without
    policy: Policy = checkpoint.load_checkpoint(path, deterministic=deterministic)
    return policy
