"""The network of a checkpoint, in NumPy: playing with a checkpoint does not need torch."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.kernel import kernel

Floats = NDArray[np.float32]
Tensors = Mapping[str, NDArray[Any]]

ACTIVATIONS = ("tanh", "relu")


class Network:
    """Two multilayer perceptrons with the same input: one for the policy's logits, one for the value.

    Args:
        tensors: ``policy.0.weight`` (width, inputs), ``policy.0.bias`` (width,), … one pair for each layer, the last
            one for the logits; ``value.0.weight``, … the same with one output. All are float32 and are copied.
        num_inputs: the number of inputs, those of the prior included.
        num_actions: the number of logits.
        net_arch: the widths of the hidden layers.
        activation: ``"tanh"`` or ``"relu"``, after each hidden layer.
        residual: whether the observation is followed by one number for each action from a prior policy (`Prior.shown`).
            The policy's last layer gets these numbers as inputs, too.
        num_features: how many features of each action follow then. The policy's last hidden layer computes one weight
            for each feature (``policy.query.weight`` (num_features, width), ``policy.query.bias`` (num_features,)). The
            weights are the same for all actions; the weighted features are added to the prior's numbers.

    Raises:
        ValueError: the activation is not known, or the tensors do not fit such a network.
    """

    def __init__(
        self,
        tensors: Tensors,
        num_inputs: int,
        num_actions: int,
        net_arch: Sequence[int],
        activation: str,
        residual: bool = False,
        num_features: int = 0,
    ) -> None:
        if activation not in ACTIVATIONS:
            raise ValueError(f"activation {activation!r} is not known; use {' or '.join(map(repr, ACTIVATIONS))}")
        self.activation = activation
        self.net_arch = tuple(net_arch)
        self.num_actions, self.residual, self.num_features = num_actions, residual, num_features
        expected = tensor_shapes(num_inputs, num_actions, net_arch, residual, num_features)
        if set(tensors) != set(expected):
            missing, extra = sorted(set(expected) - set(tensors)), sorted(set(tensors) - set(expected))
            raise ValueError(f"its tensors do not fit its network: missing {missing}, not expected {extra}")
        for name, shape in expected.items():
            tensor = tensors[name]
            if tensor.shape != shape or tensor.dtype != np.float32:
                raise ValueError(f"tensor {name} is {tensor.dtype} {tensor.shape}; its network needs float32 {shape}")
            if not np.isfinite(tensor).all():
                raise ValueError(f"tensor {name} has values that are not finite")
        self.tensors = {name: np.array(tensors[name], order="C") for name in expected}  # copies, because ...
        for tensor in self.tensors.values():
            tensor.flags.writeable = False  # ... an opponent must never change

    def logits(self, observations: Floats) -> Floats:
        """The policy's logits (N, num_actions) float32 for inputs (N, num_inputs) float32."""
        return self._run("policy", observations)

    def values(self, observations: Floats) -> Floats:
        """The values (N,) float32 for inputs (N, num_inputs), in units of the training reward."""
        return self._run("value", observations)[:, 0]

    def _run(self, head: str, inputs: Floats) -> Floats:
        rows, size = len(inputs), inputs.shape[1] - self.num_features * self.num_actions
        prior, features = inputs[:, size - self.num_actions : size], inputs[:, size:]
        inputs = inputs[:, :size]
        for layer in range(len(self.net_arch) + 1):
            if layer == len(self.net_arch) and head == "policy" and self.residual:
                if self.num_features:
                    query = inputs @ self.tensors["policy.query.weight"].T + self.tensors["policy.query.bias"]
                    planes = features.reshape(rows, self.num_features, self.num_actions)
                    prior = prior + (query[:, None] @ planes)[:, 0]
                inputs = np.concatenate([inputs, prior], axis=1)
            inputs = inputs @ self.tensors[f"{head}.{layer}.weight"].T + self.tensors[f"{head}.{layer}.bias"]
            if layer < len(self.net_arch):
                inputs = np.tanh(inputs) if self.activation == "tanh" else np.maximum(inputs, np.float32(0.0))
        return inputs


def tensor_shapes(
    num_inputs: int, num_actions: int, net_arch: Sequence[int], residual: bool = False, num_features: int = 0
) -> dict[str, tuple[int, ...]]:
    """The name and shape of each tensor of a network."""
    shapes: dict[str, tuple[int, ...]] = {}
    for head, outputs in (("policy", num_actions), ("value", 1)):
        widths = [num_inputs - num_features * num_actions, *net_arch, outputs]
        for layer, (inputs, width) in enumerate(pairwise(widths)):
            shapes[f"{head}.{layer}.weight"] = (width, inputs)
            shapes[f"{head}.{layer}.bias"] = (width,)
    if residual:
        last = f"policy.{len(net_arch)}.weight"
        width = shapes[last][1]
        shapes[last] = (num_actions, width + num_actions)
        if num_features:
            shapes["policy.query.weight"], shapes["policy.query.bias"] = (num_features, width), (num_features,)
    return shapes


@kernel
def likeliest(logits: Floats, masks: NDArray[np.int8], actions: NDArray[np.int64]) -> None:
    """Write into `actions` (N,) each row's legal action with the highest logit, the lowest action of equal ones."""
    for i in range(len(masks)):
        best = -1
        for action in range(masks.shape[1]):
            if masks[i, action] and (best < 0 or logits[i, action] > logits[i, best]):
                best = action
        actions[i] = best


@kernel
def sampled(logits: Floats, masks: NDArray[np.int8], uniforms: NDArray[np.float64], actions: NDArray[np.int64]) -> None:
    """Write into `actions` (N,) a legal action sampled from the softmax of each row's logits, with its uniform."""
    for i in range(len(masks)):
        highest = -np.inf
        for action in range(masks.shape[1]):
            if masks[i, action]:
                highest = max(highest, logits[i, action])
        total = 0.0
        for action in range(masks.shape[1]):
            if masks[i, action]:
                total += np.exp(logits[i, action] - highest)
        left = uniforms[i] * total
        for action in range(masks.shape[1]):
            if masks[i, action]:
                actions[i] = action
                left -= np.exp(logits[i, action] - highest)
                if left < 0:
                    break
