"""Policies, checkpoints, training, evaluation, and the command line.

The names below are public; modules and all other names may change without notice. Except for `load` they are imported
when they are used. `train` and `SeatVecEnv` need torch and Stable-Baselines3 (``pip install "fivedice[train]"``),
`from_torch` needs torch, `export_onnx` needs onnx and ONNX Runtime (``fivedice[onnx]``), and `record` needs Minari
(``fivedice[data]``).
"""

if __name__ != "fivedice.agents":
    raise ImportError(
        "import this package as 'fivedice.agents', after 'pip install -e .'; 'agents' is only the folder's name"
    )

from typing import TYPE_CHECKING

from fivedice.agents.policies.extras import import_optional
from fivedice.agents.policies.registry import load

if TYPE_CHECKING:
    from fivedice.agents.evaluation.match import evaluate
    from fivedice.agents.evaluation.recording import record
    from fivedice.agents.policies.checkpoint import save_checkpoint
    from fivedice.agents.policies.onnx_file import export_onnx
    from fivedice.agents.policies.protocols import (
        BoundToGame,
        ChecksGame,
        HasActionFeatures,
        HasActionProbabilities,
        HasActionValues,
        Policy,
    )
    from fivedice.agents.training.config import TrainConfig
    from fivedice.agents.training.from_torch import from_torch
    from fivedice.agents.training.run import train
    from fivedice.agents.training.vec_env import SeatVecEnv

PROTOCOLS = ("BoundToGame", "ChecksGame", "HasActionFeatures", "HasActionProbabilities", "HasActionValues", "Policy")
LAZY = {
    **dict.fromkeys(PROTOCOLS, "fivedice.agents.policies.protocols"),
    "SeatVecEnv": "fivedice.agents.training.vec_env",
    "TrainConfig": "fivedice.agents.training.config",
    "evaluate": "fivedice.agents.evaluation.match",
    "export_onnx": "fivedice.agents.policies.onnx_file",
    "from_torch": "fivedice.agents.training.from_torch",
    "record": "fivedice.agents.evaluation.recording",
    "save_checkpoint": "fivedice.agents.policies.checkpoint",
    "train": "fivedice.agents.training.run",
}

__all__ = [
    "BoundToGame",
    "ChecksGame",
    "HasActionFeatures",
    "HasActionProbabilities",
    "HasActionValues",
    "Policy",
    "SeatVecEnv",
    "TrainConfig",
    "evaluate",
    "export_onnx",
    "from_torch",
    "load",
    "record",
    "save_checkpoint",
    "train",
]


def __getattr__(name: str) -> object:
    if name not in LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_optional(LAZY[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *LAZY]
