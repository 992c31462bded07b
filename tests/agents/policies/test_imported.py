"""Policies of the form ``module:attribute`` are imported when a user names them, and never because a file does."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fivedice.agents import load
from fivedice.agents.evaluation.schedule import policy_digest
from fivedice.agents.policies.checkpoint import load_checkpoint, make_card, save_checkpoint
from fivedice.agents.policies.network import Network, tensor_shapes
from fivedice.agents.policies.registry import load_all
from fivedice.agents.policies.rollout import RolloutPolicy
from fivedice.agents.training.config import TrainConfig
from fivedice.agents.training.validation import validate
from fivedice.envs import load_game
from fivedice.envs.core import fingerprint

SOURCE = """
class First:
    name = "first legal"

    def act(self, view):
        return view.masks.argmax(axis=1)

class Named(First):
    def __init__(self, name="named"):
        self.name = name

class Inner:
    policy = Named("inner")

ready = Named("ready")

def make():
    return Named("made")

def fails():
    return 1 / 0

number = 3
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with a module of policies."""
    (tmp_path / "own_policies.py").write_text(SOURCE)
    (tmp_path / "broken_policies.py").write_text("import missing_library\n")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in ("own_policies", "broken_policies"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("attribute", "name"),
    [("First", "first legal"), ("Named", "named"), ("ready", "ready"), ("make", "made"), ("Inner.policy", "inner")],
)
def test_imported_policy__is_an_object_or_made_by_a_class_or_function(attribute: str, name: str) -> None:
    before = list(sys.path)
    policy = load(f"own_policies:{attribute}")
    assert policy.name == name
    assert list(load_all([f"own_policies:{attribute}", "random"])) == [name, "random"]
    assert sys.path == before


def test_imported_policy__can_be_the_base_of_a_rollout() -> None:
    policy = load("rollout:own_policies:First:8:win")
    assert isinstance(policy, RolloutPolicy)
    assert "own_policies" in sys.modules


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere_at_all:Mine", "the import of nowhere_at_all failed with ModuleNotFoundError: No module named 'nowh"),
        ("broken_policies:Mine", "the import of broken_policies failed with ModuleNotFoundError: No module named 'mis"),
        ("own_policies:Mine", "own_policies has no attribute 'Mine'"),
        ("own_policies:fails", "ZeroDivisionError: division by zero"),
        ("own_policies:number", "3 has no name or no act"),
    ],
)
def test_imported_policy__that_cannot_be_used_is_refused_in_one_sentence(name: str, message: str) -> None:
    with pytest.raises(ValueError, match="cannot be used") as caught:
        load(name)
    assert str(caught.value).startswith(f"the policy {name!r} cannot be used: {message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["own_policies", "own_policies:", ":First", "own policies:First", "own_policies:F()"])
def test_other_names__import_nothing(name: str) -> None:
    with pytest.raises(ValueError, match="is not a policy"):
        load(name)
    assert "own_policies" not in sys.modules


def test_checkpoint_file__with_a_colon_in_its_name_is_a_file(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"own_policies:First\.safetensors does not exist"):
        load("own_policies:First.safetensors")
    assert "own_policies" not in sys.modules


@pytest.mark.parametrize("place", ["game", "prior"])
def test_card__of_a_checkpoint_imports_nothing(place: str, folder: Path) -> None:
    yum = load_game("yum")
    options = yum.make_options()
    card: dict[str, Any] = make_card(yum, options, (8,), "tanh")
    if place == "game":
        card["game"] = "own_policies:First"
    else:
        card["network"]["prior"] = "own_policies:First"
    size, actions = yum.layout(options).size, yum.num_actions(options)
    tensors = {name: np.zeros(shape, np.float32) for name, shape in tensor_shapes(size, actions, (8,)).items()}
    network = Network(tensors, size, actions, (8,), "tanh")
    save_checkpoint(folder / "evil.safetensors", card, network)
    with pytest.raises(ValueError, match="own_policies:First"):
        load_checkpoint(folder / "evil.safetensors")
    assert "own_policies" not in sys.modules


def test_configuration__imports_nothing() -> None:
    with pytest.raises(ValueError, match="is not a known game"):
        validate(TrainConfig(game="own_policies:First"))
    assert "own_policies" not in sys.modules


def test_digest__of_an_imported_policy_changes_with_its_source(folder: Path) -> None:
    found = set()
    for text in (SOURCE, SOURCE, SOURCE + "# edited\n"):
        (folder / "own_policies.py").write_text(text)
        sys.modules.pop("own_policies", None)
        fingerprint.source_of.cache_clear()
        fingerprint.sources_of_package.cache_clear()
        load("own_policies:First")
        found.add(policy_digest("own_policies:First"))
    assert len(found) == 2
