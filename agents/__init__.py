"""Policies, checkpoints, training, evaluation, and the command line."""

if __name__ != "fivedice.agents":
    raise ImportError(
        "import this package as 'fivedice.agents', after 'pip install -e .'; 'agents' is only the folder's name"
    )

from fivedice.agents.policies.registry import load

__all__ = ["load"]
