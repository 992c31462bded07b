"""A network of PyTorch becomes a policy and a checkpoint; what a checkpoint cannot hold is refused."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from fivedice.agents import evaluate, from_torch, load
from fivedice.agents.policies.checkpoint import CheckpointPolicy, read_card
from fivedice.envs import load_game
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.view import View

YUM = load_game("yum")
SIZE, ACTIONS = 90, 43


def mlp(outputs: int, *, inputs: int = SIZE, width: int = 12, activation: type[nn.Module] = nn.Tanh) -> nn.Sequential:
    torch.manual_seed(outputs)
    return nn.Sequential(
        nn.Linear(inputs, width), activation(), nn.Linear(width, 7), activation(), nn.Linear(7, outputs)
    )


def first_decisions(**settings: int) -> View:
    batch = Batch(YUM, 50, **settings)
    batch.reset(1)
    return batch.view()


@pytest.mark.parametrize("activation", [nn.Tanh, nn.ReLU])
def test_from_torch__plays_and_values_as_the_modules_do(tmp_path: Path, activation: type[nn.Module]) -> None:
    policy_net, value_net = mlp(ACTIONS, activation=activation), mlp(1, activation=activation)
    policy = from_torch(policy_net, value_net, "yum", name="mine")
    view = first_decisions()
    with torch.no_grad():
        logits = policy_net(torch.tensor(view.observations)).numpy()
        values = value_net(torch.tensor(view.observations)).numpy()
    np.testing.assert_allclose(policy.network.logits(view.observations), logits, atol=1e-5)
    np.testing.assert_allclose(policy.network.values(view.observations), values[:, 0], atol=1e-5)
    assert (policy.act(view) == np.where(view.masks, logits, -np.inf).argmax(axis=1)).all()
    policy.save(tmp_path / "mine.safetensors", reward="win")
    loaded = load(tmp_path / "mine.safetensors")
    assert isinstance(loaded, CheckpointPolicy)
    assert loaded.card() == policy.card()
    assert read_card(tmp_path / "mine.safetensors")["reward"] == "win"
    assert (loaded.act(view) == policy.act(view)).all()
    assert (evaluate("yum", [loaded], games=3)[0].games, loaded.name) == (3, "mine")


def test_from_torch__copies_the_parameters() -> None:
    net = mlp(ACTIONS)
    policy, view = from_torch(net, None, "yum"), first_decisions()
    before = policy.network.logits(view.observations)
    with torch.no_grad():
        net[-1].weight += 1.0
    assert (policy.network.logits(view.observations) == before).all()


def test_from_torch__takes_nested_parts_missing_biases_and_no_value() -> None:
    encoder = nn.Sequential(nn.Flatten(), nn.Linear(SIZE, 6, bias=False), nn.ReLU(), nn.Dropout())
    head = nn.Linear(6, ACTIONS)
    policy, view = from_torch(nn.Sequential(encoder, head), None, "yum"), first_decisions()
    with torch.no_grad():
        expected = head(encoder.eval()(torch.tensor(view.observations))).numpy()
    np.testing.assert_allclose(policy.network.logits(view.observations), expected, atol=1e-5)
    assert (policy.network.values(view.observations) == 0.0).all()


def test_from_torch__plays_the_table_that_it_is_given() -> None:
    layout = YUM.layout(YUM.make_options(3))
    policy = from_torch(mlp(ACTIONS, inputs=layout.size), None, YUM, num_players=3, zeros="free")
    assert policy.card()["options"]["zeros"] == "free"
    assert policy.act(first_decisions(num_players=3, zeros="free")).shape == (50,)  # type: ignore[arg-type]  # an option
    with pytest.raises(ValueError, match="num_players=3, not 2"):
        policy.check(YUM, YUM.make_options(2, {"zeros": "free"}))


@pytest.mark.parametrize(
    ("policy", "value", "why"),
    [
        (mlp(ACTIONS - 1), None, "the policy has 90 inputs and 42 outputs; this game needs 90 and 43"),
        (mlp(ACTIONS, inputs=91), None, "the policy has 91 inputs and 43 outputs; this game needs 90 and 43"),
        (mlp(ACTIONS), mlp(2), "the value has 90 inputs and 2 outputs; this game needs 90 and 1"),
        (mlp(ACTIONS), mlp(1, width=13), r"widths \[12, 7\] with tanh, but the value has \[13, 7\] with tanh"),
        (mlp(ACTIONS), mlp(1, activation=nn.ReLU), r"\[12, 7\] with tanh, but the value has \[12, 7\] with relu"),
        (
            mlp(ACTIONS, activation=nn.GELU),
            None,
            "the policy has a layer GELU; a checkpoint has Linear layers with",
        ),
        (nn.Sequential(nn.Linear(SIZE, 5), nn.LayerNorm(5), nn.Linear(5, ACTIONS)), None, "has a layer LayerNorm"),
        (nn.Sequential(nn.Linear(SIZE, 5), nn.Linear(5, ACTIONS)), None, "has no activation between two Linear layers"),
        (nn.Sequential(nn.Linear(SIZE, ACTIONS), nn.Tanh()), None, "the policy ends with tanh; its last layer must be"),
        (nn.Sequential(nn.Tanh(), nn.Linear(SIZE, ACTIONS)), None, "has Tanh where a Linear layer must stand"),
        (
            nn.Sequential(nn.Linear(SIZE, 5), nn.Tanh(), nn.Linear(5, 5), nn.ReLU(), nn.Linear(5, ACTIONS)),
            None,
            "the policy mixes tanh and relu",
        ),
        (nn.Sequential(), None, "the policy has a layer Sequential"),
    ],
)
def test_from_torch__what_a_checkpoint_cannot_hold_is_refused(
    policy: nn.Module, value: nn.Module | None, why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        from_torch(policy, value, "yum")


def test_from_torch__values_that_are_not_finite_are_refused() -> None:
    net = mlp(ACTIONS)
    with torch.no_grad():
        net[0].weight[0, 0] = torch.nan
    with pytest.raises(ValueError, match=r"tensor policy\.0\.weight has values that are not finite"):
        from_torch(net, None, "yum")


def test_save__another_ending_is_refused(tmp_path: Path) -> None:
    policy = from_torch(mlp(ACTIONS), None, "yum")
    with pytest.raises(ValueError, match=r"end it in \.safetensors"):
        policy.save(tmp_path / "mine.pt")
    assert not list(tmp_path.iterdir())
