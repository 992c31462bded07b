"""Loads policies by name.

A name of the form ``module:attribute`` imports a module, so such names come from a user only: from the command line,
from a configuration that the command line names, or from the caller's code. No other file causes an import.
"""

import difflib
import importlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fivedice.agents.policies.baselines import GREEDY, OPTIMAL, PLANNER, RandomPolicy
from fivedice.agents.policies.extras import import_optional
from fivedice.agents.policies.files import no_checkpoint, readable
from fivedice.agents.policies.rollout import AIMS, GAMES, POINTS, RolloutPolicy
from fivedice.agents.policies.zoo import agent_file, agent_names
from fivedice.envs.core.plugins import first_line, import_attribute, is_source, reason_of
from fivedice.envs.core.view import Policy, View

__all__ = ["NAMEABLE", "NAMES", "Policy", "View", "load", "load_all"]

NAMES = ("random", "greedy", "planner", "optimal", "rollout")
NAMEABLE = (  # what the command line says can be named
    f"{', '.join(NAMES)} (or rollout:BASE:GAMES), agents of 'fivedice zoo', .safetensors and .onnx files, and policies "
    "of your own as module:attribute"
)
ROLLOUT = "rollout"


def load(name: str | Path, *, deterministic: bool = True) -> Policy:
    """A policy: one of ours by its name (``"random"``, ``"greedy"``, …), a file, or one of your own.

    The names are ``"random"``, ``"greedy"``, ``"planner"``, ``"optimal"`` and ``"rollout"``, and those of the agents
    that come with the package, such as ``"yum-quick"`` (``fivedice zoo`` lists them).

    A rollout's name may give its base policy, the number of simulated games and the aim, in this order. Each is
    optional: ``"rollout:random:200"``, ``"rollout:runs/yum/best.safetensors"``, ``"rollout:greedy:64:win"``. See
    `RolloutPolicy`.

    ``"mypackage:MyPolicy"`` imports a policy of your own: an object with ``name`` and ``act``, or a class or function
    that makes one without arguments. The module is installed, or lies in the current folder.

    Args:
        name: one of the names; the path of a ``.safetensors`` or ``.onnx`` file, in which no code is executed; or
            ``"module:attribute"``, which is imported, so it must not come from a file that you do not trust.
        deterministic: True: a network plays its most probable action. False: it samples from its probabilities.

    Raises:
        ValueError: no policy has this name, or the file is not one that this version can play, or the import failed.
        ModuleNotFoundError: an ``.onnx`` file without ONNX Runtime (``pip install "fivedice[onnx]"``).
    """
    if name == "random":
        return RandomPolicy()
    if name == "greedy":
        return GREEDY
    if name == "planner":
        return PLANNER
    if name == "optimal":
        return OPTIMAL
    if isinstance(name, str) and (agent := agent_file(name)) is not None:
        name = agent
    if isinstance(name, str) and name.split(":")[0] == ROLLOUT:
        base, games, aim = read_rollout(name)
        return RolloutPolicy(load(base, deterministic=deterministic), games, aim)
    if isinstance(name, str) and is_imported(name):
        return import_policy(name)
    shown = str(name) if isinstance(name, Path) else name
    close = difflib.get_close_matches(str(name), (*NAMES, *agent_names()), 1)
    refused = (
        f"{shown!r} is not a policy; {f'did you mean {close[0]!r}? Else ' if close else ''}"
        f"use {', '.join(map(repr, NAMES))}, an agent of 'fivedice zoo', or the path of a .safetensors or .onnx file; "
        "name a policy of your own as module:attribute"
    )
    if not isinstance(name, (str, Path)) or name == "":
        raise ValueError(refused)
    path = Path(name)
    if path.suffix == ".onnx":
        onnx_file = import_optional("fivedice.agents.policies.onnx_file")  # only these files need ONNX Runtime
        network: Policy = onnx_file.OnnxPolicy(path, deterministic=deterministic)
        return network
    if path.suffix != ".safetensors":
        raise ValueError(no_checkpoint(path) if any(path.glob("*.safetensors")) else refused)
    checkpoint = importlib.import_module(
        "fivedice.agents.policies.checkpoint"
    )  # imported here, because only checkpoints need safetensors
    policy: Policy = checkpoint.load_checkpoint(path, deterministic=deterministic)
    return policy


def is_imported(name: str) -> bool:
    """Whether a policy's name is the place of an object to import, ``"module:attribute"``."""
    return is_source(name) and not name.endswith((".safetensors", ".onnx"))


def imports(name: str) -> bool:
    """Whether `load` imports a module for this name; also for the base policy of a rollout."""
    return imports(read_rollout(name)[0]) if name.split(":")[0] == ROLLOUT else is_imported(name)


def import_policy(name: str) -> Policy:
    """The policy that ``"module:attribute"`` names.

    Raises:
        ValueError: the import failed, or the object is not a policy and makes none.
    """
    here = str(Path.cwd())
    sys.path.append(here)  # the command itself may lie elsewhere, and nothing else is imported from this folder
    try:
        found: Any = import_attribute(name)
        if isinstance(found, type) or (callable(found) and not isinstance(found, Policy)):
            found = found()
    except Exception as error:  # a module of somebody else may raise anything
        said = str(error) if isinstance(error, ImportError) else f"{type(error).__name__}: {first_line(error)}"
        raise ValueError(f"the policy {name!r} cannot be used: {said}") from error
    finally:
        sys.path.remove(here)
    if not isinstance(found, Policy):
        raise ValueError(f"the policy {name!r} cannot be used: {reason_of(found)} has no name or no act(view)")
    return found


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
    labels = [readable(name) if short.count(own) > 1 else own for name, own in zip(names, short, strict=True)]
    for place, label in enumerate(labels):
        if label in labels[:place]:
            raise ValueError(f"{label!r} is listed twice; list each policy once")
    return dict(zip(labels, policies, strict=True))
