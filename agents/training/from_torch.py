"""A policy from a network of PyTorch that any code has trained."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from fivedice.agents.policies.checkpoint import CheckpointPolicy
from fivedice.agents.policies.network import Network
from fivedice.envs import load_game
from fivedice.envs.core.spec import Game

ACTIVATIONS: dict[type[nn.Module], str] = {nn.Tanh: "tanh", nn.ReLU: "relu"}
IGNORED = (nn.Identity, nn.Flatten, nn.Dropout)  # they change nothing when a network plays

Layers = list[tuple[NDArray[np.float32], NDArray[np.float32]]]  # weights (width, inputs) and biases (width,)


def from_torch(
    policy: nn.Module,
    value: nn.Module | None,
    game: str | Game,
    *,
    num_players: int | None = None,
    name: str = "network",
    deterministic: bool = True,
    **options: Any,
) -> CheckpointPolicy:
    """The policy that a network of PyTorch plays. The parameters are copied.

    Each of the two modules is a multilayer perceptron with the observation as its input. Usually it is a
    ``torch.nn.Sequential`` of ``Linear`` layers with ``Tanh`` or ``ReLU`` after each but the last. It may be nested:
    ``Sequential(encoder, head)`` describes a network whose parts have other names. All hidden layers have the same
    activation, and both modules have hidden layers of the same widths.

    Args:
        policy: the module that computes the logits (N, num_actions).
        value: the module that computes the value (N, 1). None: the value is 0 in all positions.
        game: the game or its name.
        num_players: the number of players. Default: the game's default number of players.
        name: the policy's name in tables.
        deterministic: as for `fivedice.agents.load`.
        options: the game's options by name.

    Returns:
        A policy that plays at once, in `fivedice.agents.evaluate` and as ``opponents``. Its method ``save`` writes a
        checkpoint.

    Raises:
        ValueError: a module has another layer, or its inputs or outputs do not fit the game.
    """
    game = load_game(game) if isinstance(game, str) else game
    record = game.make_options(num_players, options)
    size, num_actions = game.layout(record).size, game.num_actions(record)
    layers, activation = _read("policy", policy, size, num_actions)
    net_arch = tuple(len(bias) for _, bias in layers[:-1])
    if value is None:
        value_layers = [(np.zeros_like(weight), np.zeros_like(bias)) for weight, bias in layers[:-1]]
        width = net_arch[-1] if net_arch else size
        value_layers.append((np.zeros((1, width), np.float32), np.zeros(1, np.float32)))
    else:
        value_layers, value_activation = _read("value", value, size, 1)
        value_arch = tuple(len(bias) for _, bias in value_layers[:-1])
        if (value_arch, value_activation) != (net_arch, activation):
            raise ValueError(
                f"the policy has hidden layers of widths {list(net_arch)} with {activation}, but the value has "
                f"{list(value_arch)} with {value_activation}; a checkpoint needs the same in both"
            )
    tensors = {
        f"{head}.{layer}.{kind}": tensor
        for head, pairs in (("policy", layers), ("value", value_layers))
        for layer, pair in enumerate(pairs)
        for kind, tensor in zip(("weight", "bias"), pair, strict=True)
    }
    network = Network(tensors, size, num_actions, net_arch, activation)
    return CheckpointPolicy(name, game, record, network, deterministic=deterministic)


def _read(head: str, module: nn.Module, inputs: int, outputs: int) -> tuple[Layers, str]:
    """The layers of a multilayer perceptron, and its activation."""
    layers: Layers = []
    activations: list[str] = []
    for part in _parts(module):
        if isinstance(part, nn.Linear):
            if len(activations) != len(layers):
                raise ValueError(f"the {head} has no activation between two Linear layers; use Tanh or ReLU")
            bias = np.zeros(part.out_features, np.float32) if part.bias is None else _array(part.bias)
            layers.append((_array(part.weight), bias))
        elif type(part) in ACTIVATIONS:
            if len(activations) != len(layers) - 1:
                raise ValueError(f"the {head} has {type(part).__name__} where a Linear layer must stand")
            activations.append(ACTIVATIONS[type(part)])
        elif not isinstance(part, IGNORED):
            raise ValueError(
                f"the {head} has a layer {type(part).__name__}; a checkpoint has Linear layers with Tanh or ReLU "
                "between them (any other network can be played as an ONNX file)"
            )
    if not layers:
        raise ValueError(f"the {head} has no Linear layer")
    if len(activations) == len(layers):
        raise ValueError(
            f"the {head} ends with {activations[-1]}; its last layer must be Linear, without an activation"
        )
    if len(set(activations)) > 1:
        raise ValueError(f"the {head} mixes tanh and relu; use one of them after all hidden layers")
    found = (layers[0][0].shape[1], len(layers[-1][1]))
    if found != (inputs, outputs):
        raise ValueError(
            f"the {head} has {found[0]} inputs and {found[1]} outputs; this game needs {inputs} and {outputs}"
        )
    return layers, activations[0] if activations else "tanh"


def _parts(module: nn.Module) -> Iterator[nn.Module]:
    """The layers inside a module, in the order in which they were registered."""
    inner = list(module.children())
    if not inner:
        yield module
    for child in inner:
        yield from _parts(child)


def _array(tensor: Any) -> NDArray[np.float32]:
    array: NDArray[np.float32] = tensor.detach().cpu().float().numpy()
    return array
