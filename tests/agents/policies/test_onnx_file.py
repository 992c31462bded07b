"""ONNX files: an exported checkpoint plays the same actions, and a file that does not fit is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from fivedice.agents import export_onnx, load
from fivedice.agents.policies.checkpoint import CheckpointPolicy
from fivedice.agents.policies.network import Network, tensor_shapes
from fivedice.agents.policies.onnx_file import CARD, OnnxPolicy
from fivedice.agents.policies.prior import PRIORS, Prior
from fivedice.envs import load_game
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.spec import Game
from fivedice.envs.core.view import View

YUM, JR = load_game("yum"), load_game("yahtzee_jr")
LOWEST = np.finfo(np.float32).min


def some_policy(
    activation: str = "tanh",
    net_arch: tuple[int, ...] = (16, 8),
    game: Game = YUM,
    num_players: int = 2,
    **settings: Any,
) -> CheckpointPolicy:
    options = game.make_options(num_players)
    size, num_actions = game.layout(options).size, game.num_actions(options)
    prior, canonical = settings.get("prior"), settings.get("canonical_form", False)
    size += num_actions if prior else 0
    generator = np.random.default_rng(5)
    shapes = tensor_shapes(size, num_actions, net_arch, residual=bool(prior))
    tensors = {name: generator.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    network = Network(tensors, size, num_actions, net_arch, activation, residual=bool(prior))
    return CheckpointPolicy("some", game, options, network, canonical_form=canonical, prior=prior)


def positions(count: int, game: Game = YUM, **settings: Any) -> View:
    """Decisions from everywhere in games of random play."""
    batch = Batch(game, count, **settings)
    batch.reset(3)
    generator = np.random.default_rng(3)
    for step in range(60):
        live = batch.all_rows[step * count // 60 :]
        masks = batch.masks[live]
        batch.step((generator.random(masks.shape) * masks).argmax(axis=1), live)
    return batch.view()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    export_onnx(some_policy(), tmp_path / "some.onnx")
    return tmp_path / "some.onnx"


@pytest.mark.parametrize(("activation", "net_arch"), [("tanh", (16, 8)), ("relu", (16,)), ("relu", ())])
def test_export__gives_our_logits_and_values_on_ten_thousand_positions(
    tmp_path: Path, activation: str, net_arch: tuple[int, ...]
) -> None:
    policy, view = some_policy(activation, net_arch), positions(10_000)
    export_onnx(policy, tmp_path / "deep" / "some.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "deep" / "some.onnx")
    inputs = {"observation": view.observations, "action_mask": view.masks}
    logits, values = session.run(["logits", "value"], inputs)
    legal = view.masks.astype(bool)
    assert (logits[~legal] == LOWEST).all()
    np.testing.assert_allclose(logits[legal], policy.network.logits(view.observations)[legal], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(values, policy.network.values(view.observations), rtol=1e-5, atol=1e-5)
    assert values.shape == (10_000,)


@pytest.mark.parametrize("deterministic", [True, False])
def test_loaded__plays_as_the_checkpoint_does(path: Path, deterministic: bool) -> None:
    view, policy = positions(500), some_policy()
    policy.deterministic = deterministic
    loaded = load(path, deterministic=deterministic)
    assert loaded.name == "some"
    assert (loaded.act(view) == policy.act(view)).all()
    assert (loaded.act(view) == load(path, deterministic=not deterministic).act(view)).mean() < 1


def test_export__describes_itself_and_is_the_same_each_time(path: Path) -> None:
    model = onnx.load(path)
    assert model.doc_string.startswith("observation: float32 (N, size), action_mask: int8 (N, num_actions)")
    assert json.loads({entry.key: entry.value for entry in model.metadata_props}[CARD]) == some_policy().card()
    before = path.read_bytes()
    export_onnx(some_policy(), path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["some.onnx"]


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        (some_policy(prior=Prior(PRIORS["greedy"])), "was trained with a prior policy"),
        (some_policy(game=JR, canonical_form=True), "was trained with a canonical form"),
    ],
)
def test_export__of_what_is_computed_outside_the_network_is_refused(
    tmp_path: Path, policy: CheckpointPolicy, why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        export_onnx(policy, tmp_path / "it.onnx")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        (
            {"num_players": 3},
            r"the input 'observation' of the ONNX file 'some' has 90 columns, but Yum with num_players=3",
        ),
        ({"zeros": "free"}, r"the ONNX file 'some' was exported for zeros='forced', not 'free'"),
    ],
)
def test_loaded__for_another_table_is_refused(path: Path, settings: dict[str, Any], why: str) -> None:
    policy = load(path)
    assert isinstance(policy, OnnxPolicy)
    num_players = settings.pop("num_players", 2)
    policy.check(YUM, YUM.make_options(2))  # the near miss
    with pytest.raises(ValueError, match=why):
        policy.check(YUM, YUM.make_options(num_players, settings))


def write(path: Path, inputs: dict[str, tuple[int, list[Any]]], outputs: dict[str, list[Any]], **card: str) -> Path:
    """A network of another program: its logits are the first columns of the observation."""
    size = outputs[next(iter(outputs))][1]
    first = next(iter(inputs))
    constants = [helper.make_tensor("columns", TensorProto.INT64, [size], list(range(size)))]
    graph = helper.make_graph(
        [helper.make_node("Gather", [first, "columns"], [next(iter(outputs))], axis=1)],
        "theirs",
        [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    helper.set_model_props(model, card)
    onnx.save(model, path)
    return path


FLOAT, INT8, INT64 = TensorProto.FLOAT, TensorProto.INT8, TensorProto.INT64


@pytest.mark.parametrize("mask", [{}, {"action_mask": (INT8, ["N", 43])}, {"action_mask": (FLOAT, ["N", 43])}])
def test_loaded__from_another_program_plays_legal_actions(tmp_path: Path, mask: dict[str, Any]) -> None:
    path = write(tmp_path / "theirs.onnx", {"observation": (FLOAT, ["N", 90]), **mask}, {"logits": ["N", 43]})
    view = positions(300)
    expected = np.where(view.masks, view.observations[:, :43], -np.inf).argmax(axis=1)
    assert (load(path).act(view) == expected).all()


@pytest.mark.parametrize(
    ("inputs", "outputs", "card", "why"),
    [
        (
            {"obs": (FLOAT, ["N", 90])},
            {"logits": ["N", 43]},
            {},
            r"has the inputs \['obs'\] and the outputs \['logits'\]",
        ),
        ({"observation": (FLOAT, ["N", 90])}, {"q": ["N", 43]}, {}, r"the outputs \['q'\]; name them 'observation'"),
        (
            {"observation": (FLOAT, ["N", 90]), "action_mask": (INT64, ["N", 43])},
            {"logits": ["N", 43]},
            {},
            r"the input 'action_mask' has the type tensor\(int64\); use tensor\(float\) or tensor\(int8\)",
        ),
        (
            {"observation": (FLOAT, ["N", 90])},
            {"logits": ["N", 43]},
            {CARD: "{"},
            "its card is missing or not valid JSON",
        ),
        ({"observation": (FLOAT, ["N", 90])}, {"logits": ["N", 43]}, {CARD: "{}"}, "its card has no valid 'game'"),
    ],
)
def test_loaded__with_other_names_is_refused(
    tmp_path: Path, inputs: dict[str, Any], outputs: dict[str, Any], card: dict[str, str], why: str
) -> None:
    path = write(tmp_path / "theirs.onnx", inputs, outputs, **card)
    with pytest.raises(ValueError, match=why):
        load(path)


def test_loaded__with_a_wrong_number_of_logits_is_refused_when_it_plays(tmp_path: Path) -> None:
    path = write(tmp_path / "theirs.onnx", {"observation": (FLOAT, ["N", 90])}, {"logits": ["N", 42]})
    with pytest.raises(ValueError, match=r"returned logits of shape \(10, 42\) for masks of shape \(10, 43\)"):
        load(path).act(positions(10))


def test_loaded__what_is_no_onnx_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"it\.onnx does not exist"):
        load(tmp_path / "it.onnx")
    (tmp_path / "it.onnx").write_bytes(b"not a network")
    with pytest.raises(ValueError, match=r"it\.onnx cannot be used as an ONNX file: "):
        load(tmp_path / "it.onnx")
