"""A policy in one file: it plays what was trained, nothing in it runs, and what does not fit is refused."""

import json
import os
import pickle
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.numpy import save_file
from safetensors.torch import save_file as save_torch_file
from sb3_contrib import MaskablePPO

import fivedice.agents
from fivedice.agents.policies.checkpoint import (
    FORMAT,
    RENAMED,
    REQUIRED,
    CheckpointPolicy,
    load_checkpoint,
    make_card,
    read_card,
    save_checkpoint,
)
from fivedice.agents.policies.files import digest, write_whole
from fivedice.agents.policies.network import Network, likeliest, sampled, tensor_shapes
from fivedice.agents.policies.prior import PRIORS, Prior
from fivedice.agents.training.config import TrainConfig
from fivedice.agents.training.model import ACTIVATIONS, network_tensors
from fivedice.agents.training.vec_env import SeatVecEnv
from fivedice.envs import load_game
from fivedice.envs.api.single import SeatEnv
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.canonical import canonical_view
from fivedice.envs.core.view import View

YUM, JR = load_game("yum"), load_game("yahtzee_jr")
OPTIONS = YUM.make_options(2, {})
SIZE = YUM.layout(YUM.make_options(2)).size
WIDTHS = (8,)
CARD = make_card(YUM, OPTIONS, WIDTHS, "tanh")


def some_tensors(seed: int = 1) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(seed)
    shapes = tensor_shapes(SIZE, YUM.num_actions(), WIDTHS)
    return {name: generator.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def some_network(seed: int = 1) -> Network:
    return Network(some_tensors(seed), SIZE, YUM.num_actions(), WIDTHS, "tanh")


def some_view(rows: int = 50, **settings: Any) -> View:
    """Decisions from early and late in games."""
    batch = Batch(YUM, rows, **settings)
    batch.reset(3)
    generator = np.random.default_rng(3)
    for step in range(60):
        live = np.arange(step * rows // 60, rows)
        masks = batch.masks[live]
        batch.step((generator.random(masks.shape) * masks).argmax(axis=1), live)
    return batch.view()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A checkpoint."""
    path = tmp_path / "some.safetensors"
    save_checkpoint(path, CARD, some_network())
    return path


# What comes back


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_round_trip__plays_as_stable_baselines_does(tmp_path: Path, activation: str) -> None:
    settings = {"net_arch": [16, 12], "activation_fn": ACTIVATIONS[activation]}
    env = SeatVecEnv("yum", 8)
    model = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=64, seed=1, policy_kwargs=settings).learn(128)
    network = Network(network_tensors(model), SIZE, YUM.num_actions(), (16, 12), activation)
    save_checkpoint(tmp_path / "it.safetensors", make_card(YUM, OPTIONS, (16, 12), activation), network)
    policy = load_checkpoint(tmp_path / "it.safetensors")

    view = some_view(200)
    masks = view.masks.astype(np.bool_)
    with torch.no_grad():
        observations = torch.as_tensor(view.observations)
        distribution = model.policy.get_distribution(observations, masks)
        expected, values = distribution.distribution.probs.numpy(), model.policy.predict_values(observations).numpy()
    logits = np.where(masks, policy.network.logits(view.observations), -np.inf)
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    np.testing.assert_allclose(chances / chances.sum(axis=1, keepdims=True), expected, atol=1e-5)
    np.testing.assert_allclose(policy.network.values(view.observations), values[:, 0], atol=1e-5)
    actions, _ = model.predict(view.observations, action_masks=masks, deterministic=True)
    np.testing.assert_array_equal(policy.act(view), actions)


def test_round_trip__every_tensor_and_the_card(path: Path) -> None:
    policy = load_checkpoint(path)
    assert {name: tensor.tobytes() for name, tensor in policy.network.tensors.items()} == {
        name: tensor.tobytes() for name, tensor in some_tensors().items()
    }
    card = read_card(path)
    assert card == CARD
    assert card == {
        "game": "yum",
        "game_version": 0,
        "num_players": 2,
        "options": {
            "high_low": "either",
            "crossed_high": "blocks_low",
            "five_alike_full_house": False,
            "zeros": "forced",
        },
        "observation_digest": YUM.layout(YUM.make_options(2)).digest,
        "action_digest": YUM.action_digest(),
        "network": {
            "net_arch": [8],
            "activation": "tanh",
            "canonical_form": False,
            "prior": None,
            "prior_span": 0.0,
            "prior_keep_span": 0.0,
            "prior_features": [],
        },
    }
    assert (policy.name, policy.game, policy.options) == ("some", YUM, OPTIONS)


def test_sampled__plays_each_legal_action_as_often_as_its_probability_says() -> None:
    logits = np.array([0.0, 5.0, 1.0, -2.0, 0.5], np.float32)
    mask = np.array([1, 0, 1, 1, 1], np.int8)
    count = 100_000
    uniforms = (np.arange(count) + 0.5) / count  # spread evenly, so that the shares are exact
    actions = np.empty(count, np.int64)
    sampled(np.tile(logits, (count, 1)), np.tile(mask, (count, 1)), uniforms, actions)
    chances = np.exp(logits.astype(np.float64)) * mask
    np.testing.assert_allclose(np.bincount(actions, minlength=5) / count, chances / chances.sum(), atol=2 / count)
    ends = np.array([0.0, 1 - 2.0**-32])
    sampled(np.tile(logits, (2, 1)), np.tile(mask, (2, 1)), ends, actions)
    assert actions[:2].tolist() == [0, 4]


@pytest.mark.parametrize("deterministic", [True, False])
def test_act__is_legal_and_the_same_for_the_same_view(path: Path, deterministic: bool) -> None:
    policy, view = fivedice.agents.load(path, deterministic=deterministic), some_view()
    actions = policy.act(view)
    assert view.masks[np.arange(len(view)), actions].all()
    np.testing.assert_array_equal(policy.act(view), actions)
    half = np.arange(0, len(view), 2)  # whoever else is in the batch
    np.testing.assert_array_equal(policy.act(view.rows(half)), actions[half])


def test_network__cannot_be_changed_from_outside() -> None:
    tensors = some_tensors()
    network = Network(tensors, SIZE, YUM.num_actions(), WIDTHS, "tanh")
    for tensor in network.tensors.values():
        with pytest.raises(ValueError, match="read-only"):
            tensor[:] = 0
    view = some_view()
    before = network.logits(view.observations)
    for tensor in tensors.values():
        tensor[:] = 0  # the arrays that it was made from are the caller's
    np.testing.assert_array_equal(network.logits(view.observations), before)


def test_act__refuses_other_options_seats_and_finished_games(path: Path) -> None:
    policy = load_checkpoint(path)
    with pytest.raises(ValueError, match=r"^the checkpoint 'some' was trained for Yum with num_players=2, not 3$"):
        policy.act(some_view(num_players=3))
    with pytest.raises(ValueError, match=r"was trained for Yum with zeros='forced', not 'free'$"):
        policy.act(some_view(zeros="free"))
    with pytest.raises(ValueError, match=r"was trained for Yum with zeros='forced', not 'free'$"):
        SeatEnv("yum", opponents=path, seat=1, zeros="free").reset(seed=1)
    view = some_view(4)
    view.masks[2] = 0
    with pytest.raises(ValueError, match="no legal action: its game is over"):
        policy.act(view)


# What is refused


def with_card(**changes: Any) -> Callable[[Path], None]:
    return lambda path: save_checkpoint(path, CARD | changes, some_network())


def with_tensors(**changes: np.ndarray | None) -> Callable[[Path], None]:
    tensors = {name: tensor for name, tensor in (some_tensors() | changes).items() if tensor is not None}
    return lambda path: save_file(tensors, path, metadata={"format": FORMAT, "card": json.dumps(CARD)})


def with_metadata(**metadata: str) -> Callable[[Path], None]:
    return lambda path: save_file(some_tensors(), path, metadata=metadata or None)


def with_bytes(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with_card()(path)
        path.write_bytes(change(path.read_bytes()))

    return write


def in_bfloat16(path: Path) -> None:
    tensors = {name: torch.from_numpy(tensor).to(torch.bfloat16) for name, tensor in some_tensors().items()}
    save_torch_file(tensors, path, metadata={"format": FORMAT, "card": json.dumps(CARD)})


NAN = np.full(YUM.num_actions(), np.nan, np.float32)
REFUSED = {
    "another game": (with_card(game="yam"), "'yam' is not a known game; did you mean 'yum'"),
    "another version": (with_card(game_version=7), "it is for version 7 of Yum; this is version 0"),
    "unknown option": (with_card(options={"zeroes": "free"}), "'zeroes' is not a known option of Yum; did you mean"),
    "unknown choice": (with_card(options={"zeros": "never"}), "zeros='never' is not possible"),
    "too many seats": (with_card(num_players=9), "num_players=9 is not possible: Yum is for 1 to 6 players"),
    "no seats": (with_card(num_players=None), "its card has no valid 'num_players'"),
    "seats of another network": (with_card(num_players=3), "differs from this version's"),
    "observation layout": (
        with_card(observation_digest="0" * 16),
        "the layout of its observations or actions differs from this version's",
    ),
    "action layout": (
        with_card(action_digest="0" * 16),
        "the layout of its observations or actions differs from this version's",
    ),
    "a form that the game has not": (
        with_card(network={"net_arch": [8], "activation": "tanh", "canonical_form": True}),
        "has canonical_form=True; Yum has no such form",
    ),
    "a prior that is not there": (
        with_card(network={"net_arch": [8], "activation": "tanh", "prior": "gredy"}),
        "has prior='gredy'; known are 'greedy'",
    ),
    "a prior and a canonical form": (
        with_card(
            game="yahtzee_jr",
            options={},
            observation_digest=JR.layout(JR.make_options()).digest,
            action_digest=JR.action_digest(JR.make_options()),
            network={"net_arch": [8], "activation": "tanh", "prior": "greedy", "canonical_form": True},
        ),
        "has both canonical_form and a prior; only one of them is possible",
    ),
    "a prior without its part of the network": (
        with_card(network={"net_arch": [8], "activation": "tanh", "prior": "greedy"}),
        r"its network needs float32 \(",
    ),
    "another width": (with_card(network={"net_arch": [9], "activation": "tanh"}), r"its network needs float32 \(9, "),
    "more layers": (with_card(network={"net_arch": [8, 8], "activation": "tanh"}), "missing .*policy.2.bias"),
    "widths in words": (with_card(network={"net_arch": "88", "activation": "tanh"}), "net_arch as a list of widths"),
    "no widths": (with_card(network={"activation": "tanh"}), "net_arch as a list of widths"),
    "activation": (with_card(network={"net_arch": [8], "activation": "gelu"}), "use 'tanh' or 'relu'"),
    "tensor missing": (with_tensors(**{"value.1.bias": None}), r"missing \['value.1.bias'\]"),
    "tensor extra": (with_tensors(more=NAN), r"not expected \['more'\]"),
    "tensor of float64": (with_tensors(**{"policy.1.bias": np.zeros(YUM.num_actions())}), "policy.1.bias is float64"),
    # NumPy knows this type only if ml_dtypes is installed.
    "tensors of bfloat16": (
        in_bfloat16,
        "weight is bfloat16 .* needs float32|not a complete safetensors file of float32",
    ),
    "not a number": (with_tensors(**{"policy.1.bias": NAN}), "policy.1.bias has values that are not finite"),
    "no metadata": (with_metadata(), "its format is None, not 'fivedice checkpoint 1'"),
    "another format": (with_metadata(format="a\nb"), r"its format is 'a\\nb'"),
    "no card": (with_metadata(format=FORMAT), "its card is missing or not valid JSON"),
    "card cut short": (with_metadata(format=FORMAT, card="{"), "its card is missing or not valid JSON"),
    "card without end": (with_metadata(format=FORMAT, card="[" * 200_000), "its card is missing or not valid JSON"),
    "card of nothing": (with_metadata(format=FORMAT, card="null"), "its card has no valid 'game'"),
    "cut short": (with_bytes(lambda whole: whole[:-100]), "it is not a complete safetensors file"),
    "header cut short": (with_bytes(lambda whole: whole[:50]), "it is not a complete safetensors file"),
    "empty": (with_bytes(lambda whole: b""), "it is not a complete safetensors file"),
    "random bytes": (with_bytes(lambda whole: np.random.default_rng(1).bytes(5000)), "not a complete safetensors file"),
    "endless header": (with_bytes(lambda whole: struct.pack("<Q", 2**63) + whole), "not a complete safetensors file"),
    "directory": (lambda path: path.mkdir(), " does not exist"),
    "missing": (lambda path: None, " does not exist"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_load__refuses_in_one_sentence_and_changes_nothing(tmp_path: Path, what: str) -> None:
    write, said = REFUSED[what]
    path = tmp_path / "bad.safetensors"
    write(path)
    before = {file: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()}
    for name in (path, str(path)):
        with pytest.raises(ValueError, match=said) as refused:
            fivedice.agents.load(name)
        assert str(path) in str(refused.value)
        assert "\n" not in str(refused.value)
        assert refused.value.__cause__ is None
        assert refused.value.__suppress_context__ or refused.value.__context__ is None
    assert before == {file: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()}


@pytest.mark.parametrize("name", ["gredy", "model.zip", "model.pt", "", "."])
def test_load__of_no_policy_says_what_there_is(name: str) -> None:
    with pytest.raises(ValueError, match=r"is not a policy; .*use 'random', 'greedy'.* or the path of a \.safetensors"):
        fivedice.agents.load(name)


class Evil:
    """Leaves a file when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.trace),)


def as_pickle(path: Path, evil: Evil) -> None:
    path.write_bytes(pickle.dumps(evil))


def as_zip(path: Path, evil: Evil) -> None:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("data", pickle.dumps(evil))
        file.writestr("policy.pth", pickle.dumps(evil))


def as_torch_file(path: Path, evil: Evil) -> None:
    torch.save({"policy.0.weight": evil}, path)


def as_card(path: Path, evil: Evil) -> None:
    save_file(some_tensors(), path, metadata={"format": FORMAT, "card": pickle.dumps(evil, protocol=0).decode()})


@pytest.mark.parametrize("disguise", [as_pickle, as_zip, as_torch_file, as_card])
def test_load__executes_nothing(tmp_path: Path, disguise: Callable[[Path, Evil], None]) -> None:
    trace, path = tmp_path / "trace", tmp_path / "evil.safetensors"
    disguise(path, Evil(trace))
    for read in (fivedice.agents.load, read_card):
        with pytest.raises(ValueError, match="cannot be used as a checkpoint"):
            read(path)
    assert not trace.exists()
    if disguise is as_pickle:  # the trap works
        pickle.loads(path.read_bytes())
        assert trace.exists()


def test_play__needs_no_torch(path: Path) -> None:
    code = f"""
import sys, gymnasium, fivedice.envs, fivedice.agents
fivedice.agents.load({str(path)!r})
gymnasium.make("fivedice/Yum-v0", opponents=[{str(path)!r}], seat=1).reset(seed=1)
print(sorted({{"torch", "stable_baselines3", "matplotlib", "pygame"}} & set(sys.modules)))
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


# Writing


def test_save__replaces_the_old_file_at_once(path: Path) -> None:
    save_checkpoint(path, CARD | {"steps": 7}, some_network(seed=2))
    assert read_card(path)["steps"] == 7
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert path.stat().st_mode & 0o777 == 0o644


def test_save__that_fails_leaves_the_old_file(path: Path) -> None:
    before = path.read_bytes()

    def fail(temporary: Path) -> None:
        temporary.write_bytes(before[:100])
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        write_whole(path, fail)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_write_whole__makes_the_folders_that_are_not_there(tmp_path: Path) -> None:
    path = tmp_path / "one" / "two" / "it.txt"
    write_whole(path, lambda temporary: temporary.write_text("all of it"))
    assert path.read_text() == "all of it"
    assert [file.name for file in path.parent.iterdir()] == ["it.txt"]


def test_save__that_is_killed_leaves_the_old_file(path: Path) -> None:
    before = path.read_bytes()
    code = f"""
import os, pathlib
from fivedice.agents.policies.files import write_whole
write_whole(pathlib.Path({str(path)!r}), lambda temporary: (temporary.write_bytes(b"half"), os._exit(9)))
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    assert path.read_bytes() == before
    assert isinstance(fivedice.agents.load(path), CheckpointPolicy)


def test_load__a_flipped_bit_anywhere_is_refused_or_harmless(tmp_path: Path) -> None:
    """Harmless is only what hits the name of a digest: the card and the tensors are then whole."""
    path = tmp_path / "some.safetensors"
    tensors = {name: tensor * 0 + 1 for name, tensor in some_tensors().items()}
    save_checkpoint(path, CARD | {"steps": 128}, Network(tensors, SIZE, YUM.num_actions(), WIDTHS, "tanh"))
    whole, written = path.read_bytes(), digest(load_checkpoint(path).network.tensors)
    begin = 8 * (8 + struct.unpack("<Q", whole[:8])[0])
    generator = np.random.default_rng(1)
    in_header, in_tensors = generator.integers(64, begin, 400), generator.integers(begin, 8 * len(whole), 100)
    harmless, said = [], set()
    for bit in [*range(64), *map(int, in_header), *map(int, in_tensors)]:
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            policy = load_checkpoint(path)
        except ValueError as error:
            message = str(error)
            assert message.startswith(f"{path} cannot be used as a checkpoint: "), bit
            assert "\n" not in message
            said |= {
                part
                for part in ("of its tensors does not", "of its card does not", "not a complete")
                if part in message
            }
        else:
            harmless.append(bit)
            assert read_card(path) == CARD | {"steps": 128}, bit
            assert digest(policy.network.tensors) == written, bit
    assert said == {"of its tensors does not", "of its card does not", "not a complete"}
    assert len(harmless) < 20


def test_load__a_card_of_another_policy_is_refused(tmp_path: Path) -> None:
    """The card tells how it came about, too, which nobody could check otherwise."""
    path = tmp_path / "some.safetensors"
    save_checkpoint(path, CARD | {"steps": 128}, some_network())
    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata()
    assert set(metadata) == {"format", "card", "digest", "card_digest"}
    save_file(some_tensors(), path, metadata=metadata | {"card": json.dumps(CARD | {"steps": 256})})
    for read in (load_checkpoint, read_card):
        with pytest.raises(ValueError, match="the file is damaged: the checksum of its card does not match"):
            read(path)
    save_file(some_tensors(seed=2), path, metadata=metadata)
    with pytest.raises(ValueError, match="the file is damaged: the checksum of its tensors does not match"):
        load_checkpoint(path)
    older = {name: metadata[name] for name in ("format", "card")}  # as versions before have written
    save_file(some_tensors(), path, metadata=older)
    assert load_checkpoint(path).network.tensors.keys() == some_tensors().keys()


# What is said in a card


@pytest.mark.parametrize("field", REQUIRED)
def test_load__each_field_of_a_card_is_needed_and_of_its_kind(tmp_path: Path, field: str) -> None:
    assert set(REQUIRED) == set(CARD)  # what a card says of play is all required
    path = tmp_path / "some.safetensors"
    without = {name: value for name, value in CARD.items() if name != field}
    save_checkpoint(path, without, some_network())
    for read in (load_checkpoint, read_card):
        with pytest.raises(ValueError, match=f"as a checkpoint: its card has no valid '{field}'$"):
            read(path)
    values: tuple[Any, ...] = ("text", 3, {"a": 1}, [1], None, 2.5)
    wrong = [value for value in values if not isinstance(value, REQUIRED[field])]
    assert len(wrong) == 5
    for value in wrong:
        save_checkpoint(path, CARD | {field: value}, some_network())
        with pytest.raises(ValueError, match=f"as a checkpoint: its card has no valid '{field}'$"):
            load_checkpoint(path)
    kind: dict[type, Any] = {str: "other", int: 5, dict: {"other": 1}}
    save_checkpoint(path, CARD | {field: kind[REQUIRED[field]]}, some_network())
    with pytest.raises(ValueError, match="cannot be used as a checkpoint"):
        load_checkpoint(path)


SHOWDOWN = load_game("showdown_yahtzee")
WITH_PRIOR = Prior(PRIORS["greedy"], 6.0, 3.0, features=True)


def a_policy_of(kind: str) -> CheckpointPolicy:
    """A policy of each way of showing a decision to a network."""
    game, prior = {"plain": (YUM, None), "standard": (JR, None), "prior": (SHOWDOWN, WITH_PRIOR)}[kind]
    options = game.make_options(2, {})
    size, actions = game.layout(options).size, game.num_actions(options)
    num_features = len(prior.feature_names(game)) if prior else 0
    inputs = size + (1 + num_features) * actions if prior else size
    shapes = tensor_shapes(inputs, actions, (7, 5), prior is not None, num_features)
    generator = np.random.default_rng(4)
    tensors = {name: generator.normal(size=shape, scale=0.3).astype(np.float32) for name, shape in shapes.items()}
    network = Network(tensors, inputs, actions, (7, 5), "relu", residual=prior is not None, num_features=num_features)
    return CheckpointPolicy("it", game, options, network, canonical_form=kind == "standard", prior=prior)


def decisions_of(policy: CheckpointPolicy, rows: int = 40, rounds: int = 11) -> View:
    batch = Batch(policy.game, rows, num_players=int(policy.options["num_players"]))
    batch.reset(5)
    generator = np.random.default_rng(6)
    for _ in range(rounds):
        batch.step((generator.random(batch.masks.shape) * batch.masks).argmax(axis=1))
    return batch.view()


def hidden(network: Network, head: str, seen: np.ndarray) -> np.ndarray:
    """The hidden layers by hand, in float64."""
    for layer in range(len(network.net_arch)):
        weight, bias = (network.tensors[f"{head}.{layer}.{part}"].astype(float) for part in ("weight", "bias"))
        seen = np.maximum(seen @ weight.T + bias, 0.0)
    return seen


def logits_by_hand(policy: CheckpointPolicy, row: View) -> np.ndarray:
    """The logits of one decision as `Network` says that they come about."""
    network, actions = policy.network, policy.network.num_actions
    last = len(network.net_arch)
    weight, bias = (network.tensors[f"policy.{last}.{part}"].astype(float) for part in ("weight", "bias"))
    seen = row.observations[0].astype(float)
    if policy.prior is None:
        return np.asarray(hidden(network, "policy", seen) @ weight.T + bias)
    near, *features = policy.prior.shown(row)[0].astype(float).reshape(-1, actions)
    within = hidden(network, "policy", np.concatenate([seen, near]))
    query = within @ network.tensors["policy.query.weight"].T + network.tensors["policy.query.bias"]
    held = near + sum(weight * plane for weight, plane in zip(query, features, strict=True))
    return np.asarray(np.concatenate([within, held]) @ weight.T + bias)


@pytest.mark.parametrize("kind", ["plain", "prior"])
def test_network__is_what_its_layers_make_of_a_decision(kind: str) -> None:
    policy = a_policy_of(kind)
    view = decisions_of(policy)
    actions = policy.act(view)
    shown = view.observations if policy.prior is None else np.hstack([view.observations, policy.prior.shown(view)])
    values = policy.network.values(shown)
    for i in range(len(view)):
        logits = logits_by_hand(policy, view.rows(np.array([i])))
        np.testing.assert_allclose(policy.network.logits(shown[i : i + 1])[0], logits, atol=2e-4)
        legal = np.where(view.masks[i] == 1, logits, -np.inf)
        assert legal[actions[i]] > legal.max() - 2e-4
        within = hidden(policy.network, "value", shown[i, : policy.network.tensors["value.0.weight"].shape[1]])
        last = [policy.network.tensors[f"value.2.{part}"].astype(float) for part in ("weight", "bias")]
        assert values[i] == pytest.approx(float((within @ last[0].T + last[1])[0]), abs=2e-4)
    if policy.prior is not None:
        assert len(policy.prior.feature_names(policy.game)) > 1


@pytest.mark.parametrize("kind", ["plain", "standard", "prior"])
@pytest.mark.parametrize("deterministic", [True, False])
def test_round_trip__plays_and_says_the_same(tmp_path: Path, kind: str, deterministic: bool) -> None:
    policy = a_policy_of(kind)
    policy.deterministic = deterministic
    save_checkpoint(tmp_path / "it.safetensors", policy.card(), policy.network)
    loaded = load_checkpoint(tmp_path / "it.safetensors", deterministic=deterministic)
    assert vars(loaded).keys() == vars(policy).keys()
    for name, value in vars(loaded).items():
        if name != "network":
            assert value == vars(policy)[name], name
    for name, value in vars(loaded.network).items():
        if name != "tensors":
            assert value == vars(policy.network)[name], name
    assert digest(loaded.network.tensors) == digest(policy.network.tensors)
    assert loaded.card() == policy.card()
    assert read_card(tmp_path / "it.safetensors") == json.loads(json.dumps(policy.card()))  # a list for a tuple
    assert loaded.settings() == policy.settings() == policy.card()["network"]
    view = decisions_of(policy)
    np.testing.assert_array_equal(loaded.act(view), policy.act(view))


def test_settings__are_those_of_a_run_by_name_and_value() -> None:
    config = TrainConfig(
        game="showdown_yahtzee",
        net_arch=(7, 5),
        activation="relu",
        prior="greedy",
        prior_span=6.0,
        prior_keep_span=3.0,
        prior_features=True,
    )
    assert a_policy_of("prior").settings() == config.network_settings()
    config = TrainConfig(game="yahtzee_jr", net_arch=(7, 5), activation="relu")
    assert a_policy_of("standard").settings() == config.network_settings()


# A change of each setting of a network: what it says, where the network or the game does not bear it.
ALTERED: dict[str, tuple[str, Any, str | None]] = {
    "net_arch": ("prior", [5, 7], r"its network needs float32 \("),
    "activation": ("prior", "tanh", None),
    "canonical_form": ("standard", False, None),
    "prior": ("prior", None, r"tensors do not fit its network: .*policy\.query"),
    "prior_span": ("prior", 7.0, None),
    "prior_keep_span": ("prior", 0.0, None),
    "prior_features": ("prior", ["other"], "has prior_features=\\['other'\\]; this version's are"),
}


@pytest.mark.parametrize("setting", ALTERED)
def test_load__each_setting_of_a_network_counts(tmp_path: Path, setting: str) -> None:
    assert set(ALTERED) == set(TrainConfig().network_settings())
    kind, value, said = ALTERED[setting]
    policy, path = a_policy_of(kind), tmp_path / "it.safetensors"
    card = policy.card()
    assert card["network"][setting] != value
    save_checkpoint(path, card | {"network": card["network"] | {setting: value}}, policy.network)
    if said is not None:
        with pytest.raises(ValueError, match=said):
            load_checkpoint(path)
        return
    loaded = load_checkpoint(path)
    assert loaded.settings() == policy.settings() | {setting: value}
    view = decisions_of(policy, rows=300)
    assert (loaded.act(view) != policy.act(view)).any()


@pytest.mark.parametrize(("setting", "value"), [("prior_span", -1.0), ("prior_keep_span", np.inf), ("prior_span", "6")])
def test_load__a_span_that_is_none_is_refused(tmp_path: Path, setting: str, value: Any) -> None:
    policy, path = a_policy_of("prior"), tmp_path / "it.safetensors"
    card = policy.card()
    save_checkpoint(path, card | {"network": card["network"] | {setting: value}}, policy.network)
    with pytest.raises(ValueError, match=f"has {setting}={value!r}; it must be a finite number, 0 or more"):
        load_checkpoint(path)


# What it draws


@pytest.mark.parametrize("kind", ["plain", "standard", "prior"])
def test_act__draws_in_proportion_to_the_exponentials_of_the_logits_by_the_uniforms_alone(kind: str) -> None:
    policy = a_policy_of(kind)
    policy.deterministic = False
    view = decisions_of(policy)
    row = int(view.masks.sum(axis=1).argmax())  # the widest choice
    count = 4000
    many = view.rows(np.full(count, row))
    uniforms = (np.arange(count) + 0.5) / count
    many.uniforms[:] = uniforms
    drawn = policy.act(many)
    if kind == "standard":
        shown = canonical_view(JR, policy.options, view.states[row : row + 1], view.seats[row : row + 1])
        logits, masks = policy.network.logits(shown.observations)[0], shown.masks[0]
        names = shown.actions[0]
    else:
        logits, masks = logits_by_hand(policy, view.rows(np.array([row]))), view.masks[row]
        names = np.arange(len(masks))
    chances = np.zeros(len(masks))
    for action in np.flatnonzero(masks):
        chances[names[action]] += np.exp(float(logits[action]))
    shares = np.bincount(drawn, minlength=len(masks)) / count
    np.testing.assert_allclose(shares, chances / chances.sum(), atol=2 / count + 1e-4)
    order = np.random.default_rng(1).permutation(count)
    many.uniforms[:] = uniforms[order]
    np.testing.assert_array_equal(policy.act(many), drawn[order])  # each row by its own number
    policy.deterministic = True
    assert len(set(policy.act(many).tolist())) == 1


def test_likeliest__is_the_first_of_the_highest_legal() -> None:
    logits = np.array([[9, 1, 5, 5], [-3, -2, -2, -9], [-np.inf, 0, 0, 0], [1, 1, 1, 1]], np.float32)
    masks = np.array([[0, 1, 1, 1], [1, 1, 1, 1], [1, 0, 0, 0], [0, 0, 0, 1]], np.int8)
    actions = np.empty(4, np.int64)
    likeliest(logits, masks, actions)
    assert actions.tolist() == [2, 1, 0, 3]


# Digests


def test_digest__changes_with_a_name_type_shape_and_value_and_with_nothing_else() -> None:
    tensors = {"b": np.arange(6, dtype=np.float32), "a": np.zeros((2, 3), np.float32)}
    changes: list[dict[str, np.ndarray]] = [
        {"b": tensors["b"]},
        {"c": tensors["b"], "a": tensors["a"]},
        {"b": tensors["a"], "a": tensors["b"]},
        tensors | {"b": tensors["b"].reshape(2, 3)},
        tensors | {"a": tensors["a"].view(np.int32)},
        tensors | {"a": -tensors["a"]},  # -0.0
        tensors | {"b": np.nextafter(tensors["b"], 9, dtype=np.float32)},
        tensors | {"c": np.zeros(0, np.float32)},
        {"b": tensors["b"], "a": np.zeros((3, 2), np.float32)},
    ]
    assert len({digest(changed) for changed in [tensors, *changes]}) == 1 + len(changes)
    assert digest(dict(reversed(tensors.items()))) == digest(tensors)
    wide = np.repeat(tensors["b"], 2)
    assert digest(tensors | {"b": wide[::2]}) == digest(tensors)


def test_save__of_equal_content_writes_equal_bytes(tmp_path: Path) -> None:
    wholes = set()
    for number in range(12):
        path = tmp_path / f"{number}.safetensors"
        save_checkpoint(path, CARD, some_network())
        wholes.add(path.read_bytes())
    assert len(wholes) == 1
    save_checkpoint(path, CARD, some_network(seed=2))
    assert path.read_bytes() not in wholes


def test_load__a_card_of_an_earlier_version_with_its_names(tmp_path: Path) -> None:
    """A prior policy was called base, a canonical form standard form."""
    now = a_policy_of("prior")
    path = tmp_path / "old.safetensors"
    card = now.card()
    old = {new: old for old, new in RENAMED.items()}
    earlier = {old.get(name, name): value for name, value in card["network"].items()}
    assert set(earlier) != set(card["network"])
    save_checkpoint(path, card | {"network": earlier, "steps": 1}, now.network)
    loaded = load_checkpoint(path)
    assert loaded.settings() == now.settings()
    view = decisions_of(now)
    np.testing.assert_array_equal(loaded.act(view), now.act(view))
