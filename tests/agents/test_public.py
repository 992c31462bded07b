"""The public names of both packages: each can be imported, and nothing heavy is loaded before it is used."""

import subprocess
import sys

import pytest

import fivedice.agents
import fivedice.envs


@pytest.mark.parametrize("package", [fivedice.agents, fivedice.envs], ids=lambda package: package.__name__)
def test_public_names__are_there(package: object) -> None:
    names = package.__all__  # type: ignore[attr-defined]  # a module
    assert len(names) == len(set(names)) > 3
    assert set(names) <= set(dir(package))
    for name in names:
        value = getattr(package, name)
        assert value.__doc__ or isinstance(value, dict), name
    with pytest.raises(AttributeError, match="has no attribute 'lod'"):
        package.lod  # type: ignore[attr-defined]  # noqa: B018  # what is asked for is refused


def test_public_names__load_torch_only_when_it_is_needed() -> None:
    code = """
import sys
from fivedice.agents import Policy, TrainConfig, evaluate, load, save_checkpoint
print("torch" in sys.modules)
from fivedice.agents import train
print("torch" in sys.modules)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "True"]
