"""MaskablePPO of sb3-contrib on several workers: all of them make the same updates of the same network.

The algorithm is that of sb3-contrib. Four places of an update are changed, so that N workers with n games each learn
what one worker with N * n games would learn, up to rounding:

- gradients are averaged over all workers at each minibatch, before they are clipped;
- the advantages of a minibatch are normalised with the mean and the standard deviation over all workers;
- the KL divergence that is compared with ``target_kl`` is the mean over all workers, so all stop at the same minibatch;
- the logged numbers are those of all workers.

This is synchronous data parallelism as in DD-PPO (Wijmans et al., "DD-PPO: Learning near-perfect PointGoal navigators
from 2.5 billion frames", ICLR 2020).
"""

from collections.abc import Generator, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples

from fivedice.agents.training.group import Group

MEANS = ("entropy_loss", "policy_gradient_loss", "value_loss", "approx_kl", "clip_fraction", "loss")


class DataParallelPPO(MaskablePPO):
    """`MaskablePPO` that trains its network together with other workers.

    Args:
        *args, **kwargs: as for `MaskablePPO`, but ``batch_size`` is the part of this worker. The workers must have
            equal parts, and give equal settings and seeds.
        group: the workers.
    """

    def __init__(
        self,
        *args: Any,
        group: Group,
        target_kl: float | None = None,
        policy_kwargs: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        self.group = group
        shared: dict[str, Any] = {
            "target_kl": None if target_kl is None else SharedThreshold(target_kl, group),
            "normalize_advantage": False,  # the buffer does it
            "rollout_buffer_class": SharedRolloutBuffer,
            "rollout_buffer_kwargs": {"group": group},
            # The time of a step does not depend on the size of a minibatch, so a fused one pays here. The rest of the
            # settings is Stable-Baselines3's default.
            "policy_kwargs": {"optimizer_kwargs": {"eps": 1e-5, "fused": True}} | dict(policy_kwargs or {}),
        }
        super().__init__(*args, **kwargs | shared)
        average_gradients(self.policy, self.policy.optimizer, group)

    def collect_rollouts(self, *args: Any, **kwargs: Any) -> bool:
        """Play. ``num_timesteps`` counts the decisions of all workers."""
        before = self.num_timesteps
        goes_on = super().collect_rollouts(*args, **kwargs)
        self.num_timesteps = before + (self.num_timesteps - before) * self.group.size
        return goes_on

    def train(self) -> None:
        """Update the network, and log the numbers of all workers."""
        super().train()
        buffer, logged = self.rollout_buffer, self.logger.name_to_value
        returns, errors = buffer.returns.astype(np.float64), (buffer.returns - buffer.values).astype(np.float64)
        own = [float(logged[f"train/{name}"]) for name in MEANS]
        own += [returns.size, returns.sum(), (returns**2).sum(), errors.sum(), (errors**2).sum()]
        found = self.group.sum(np.array(own, np.float64))
        for name, total in zip(MEANS, found.tolist(), strict=False):
            self.logger.record(f"train/{name}", total / self.group.size)
        count, *sums = found[len(MEANS) :]
        variance, unexplained = (sums[i + 1] / count - (sums[i] / count) ** 2 for i in (0, 2))
        self.logger.record("train/explained_variance", 1 - unexplained / variance if variance > 0 else np.nan)


def average_gradients(policy: torch.nn.Module, optimizer: torch.optim.Optimizer, group: Group) -> None:
    """Average the gradients over all workers, in one message, as soon as a backward pass has computed all of them.

    Args:
        policy: the network. Each of its parameters that requires a gradient must get one in each backward pass.
        optimizer: its optimizer. A step with gradients that are not averaged raises a RuntimeError.
        group: the workers.
    """
    parameters = [parameter for parameter in policy.parameters() if parameter.requires_grad]
    missing: set[int] = set()  # parameters whose gradients are to come in this backward pass
    is_averaged = False

    def arrive(parameter: torch.Tensor) -> None:
        nonlocal is_averaged
        if not missing:
            missing.update(id(other) for other in parameters if other.requires_grad)
        missing.discard(id(parameter))
        if not missing:
            learning = [other for other in parameters if other.grad is not None]
            gradients = torch.cat([other.grad.reshape(-1) for other in learning if other.grad is not None])
            group.average(gradients)
            parts = torch.split(gradients, [other.numel() for other in learning])
            for other, part in zip(learning, parts, strict=True):
                other.grad = part.view_as(other)
            is_averaged = True

    def check(*args: Any) -> None:
        nonlocal is_averaged
        if not is_averaged:
            raise RuntimeError("a parameter has no gradient, so the gradients of the workers are not averaged")
        is_averaged = False

    for parameter in parameters:
        parameter.register_post_accumulate_grad_hook(arrive)  # type: ignore[no-untyped-call]  # of torch
    optimizer.register_step_pre_hook(check)


class SharedRolloutBuffer(MaskableRolloutBuffer):
    """A rollout buffer that normalises advantages over the minibatches of all workers together.

    Args:
        *args, **kwargs: as for `MaskableRolloutBuffer`.
        group: the workers.
    """

    def __init__(self, *args: Any, group: Group, **kwargs: Any) -> None:
        self._group = group
        super().__init__(*args, **kwargs)

    def get(self, batch_size: int | None = None) -> Generator[MaskableRolloutBufferSamples, None, None]:  # type: ignore[override]  # as in sb3-contrib
        """The minibatches of an epoch, in random order."""
        count = self.buffer_size * self.n_envs
        state = np.random.get_state()  # noqa: NPY002  # sb3-contrib shuffles with the global generator
        order = np.random.permutation(count)  # noqa: NPY002  # as sb3-contrib is about to do
        np.random.set_state(state)  # noqa: NPY002  # so that it does the same
        advantages = self.advantages if self.generator_ready else self.swap_and_flatten(self.advantages)
        parts = advantages.reshape(-1)[order].reshape(-1, batch_size or count).astype(np.float64)
        means, deviations = mean_and_deviation(parts, self._group)
        for samples, mean, deviation in zip(super().get(batch_size), means, deviations, strict=True):
            yield samples._replace(advantages=(samples.advantages - mean) / (deviation + 1e-8))

    def to_torch(self, array: NDArray[Any], copy: bool = True) -> torch.Tensor:
        """The array as a tensor. Stable-Baselines3 copies what `_get_samples` has just copied; this does not."""
        return torch.from_numpy(array).to(self.device)


def mean_and_deviation(parts: NDArray[np.float64], group: Group) -> tuple[list[float], list[float]]:
    """The mean and the standard deviation of each of B minibatches, over all workers.

    Args:
        parts: (B, n), the n numbers of this worker in each minibatch.
        group: the workers.
    """
    count = parts.shape[1] * group.size
    sums, squares = group.sum(np.stack([parts.sum(axis=1), (parts**2).sum(axis=1)]))
    variances = np.maximum(squares - sums**2 / count, 0.0) / (count - 1)
    return (sums / count).tolist(), np.sqrt(variances).tolist()


class SharedThreshold(float):
    """A threshold for a number that differs between workers: the mean over all workers is compared with it.

    Stable-Baselines3 evaluates ``number > 1.5 * target_kl``. Each worker must make the comparison at the same time.
    """

    __array_ufunc__ = None  # NumPy leaves the comparison to this class

    def __new__(cls, value: float, group: Group) -> "SharedThreshold":
        """A threshold of `value` for all workers of `group`."""
        threshold = super().__new__(cls, value)
        threshold._group = group
        return threshold

    _group: Group

    def __rmul__(self, factor: float) -> "SharedThreshold":
        return SharedThreshold(factor * float(self), self._group)

    def __lt__(self, number: Any) -> bool:
        mean = float(self._group.sum(np.array([number], np.float64))[0]) / self._group.size
        return float(self) < mean
