"""The agents that come with the package, by their names: checkpoints in ``agents/zoo/``, which ``make zoo`` trains."""

from pathlib import Path

FOLDER = Path(__file__).parent.parent / "zoo"


def agent_names() -> tuple[str, ...]:
    """The names of all agents, sorted."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.safetensors")))


def agent_file(name: str) -> Path | None:
    """The checkpoint of an agent; None if no agent has this name."""
    return FOLDER / f"{name}.safetensors" if name in agent_names() else None
