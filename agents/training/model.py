"""The model of a run: sb3-contrib's MaskablePPO, and its parameters under the names of `Network`."""

from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO

from fivedice.agents.policies.network import Network
from fivedice.agents.training.config import TrainConfig
from fivedice.agents.training.data_parallel import DataParallelPPO
from fivedice.agents.training.group import ALONE, Group
from fivedice.agents.training.torch_policy import ResidualExtractor, ResidualPolicy
from fivedice.agents.training.vec_env import SeatVecEnv

ACTIVATIONS: dict[str, type[torch.nn.Module]] = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}


def make_model(config: TrainConfig, env: SeatVecEnv, num_features: int, group: Group = ALONE) -> MaskablePPO:
    """The untrained model.

    Args:
        config: the settings of the run.
        env: its environment; the model sets its seed to the seed of the run.
        num_features: how many action features the prior policy shows; 0 without prior features.
        group: the workers of the run. All get the same network, and random numbers of their own.
    """
    network: dict[str, Any] = {"net_arch": list(config.net_arch), "activation_fn": ACTIVATIONS[config.activation]}
    if config.prior:
        network["prior_logit"] = config.prior_logit
        network["num_features"] = num_features
        network["features_only"] = config.features_only
    model = (MaskablePPO if group.size == 1 else partial(DataParallelPPO, group=group))(
        ResidualPolicy if config.prior else "MlpPolicy",
        env,
        learning_rate=config.learning_rate,
        n_steps=config.n_steps,
        batch_size=config.batch_size // group.size,
        n_epochs=config.n_epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip_range,
        ent_coef=config.ent_coef,
        vf_coef=config.vf_coef,
        max_grad_norm=config.max_grad_norm,
        target_kl=config.target_kl,
        policy_kwargs=network,
        seed=config.seed,
        device=device_of(config, group),
    )
    if group.rank > 0:  # Stable-Baselines3 has seeded all workers alike; worker 0 keeps this seed
        seed_generators(config.seed, group.rank)
    return model


def device_of(config: TrainConfig, group: Group) -> str:
    """The device of a worker. Each worker gets a GPU of its own if there are enough."""
    if config.device == "cuda" and 1 < group.size <= torch.cuda.device_count():
        return f"cuda:{group.rank}"
    return config.device


def seed_generators(seed: int, rank: int) -> None:
    """Seed the global generators of a worker. Stable-Baselines3 draws actions and minibatches with them."""
    own = int(np.random.SeedSequence((seed, rank)).generate_state(1)[0])
    torch.manual_seed(own)
    np.random.seed(own)  # noqa: NPY002  # the global generator


def take_over(model: MaskablePPO, network: Network) -> None:
    """Copy the tensors of a network into the model, except its value output, because the rewards may be different."""
    last = f"value.{len(network.net_arch)}."
    with torch.no_grad():
        for name, parameter in network_parameters(model).items():
            if not name.startswith(last):
                parameter.copy_(torch.tensor(network.tensors[name]))


def share_network(model: MaskablePPO, group: Group) -> None:
    """Copy the network of worker 0 into the models of all workers."""
    if group.size > 1:
        tensors = {name: tensor.cpu() for name, tensor in model.policy.state_dict().items()}
        model.policy.load_state_dict(group.take_from_first(tensors))


def has_finite_weights(model: MaskablePPO) -> bool:
    """Whether no weight of the network is infinite or NaN."""
    return all(bool(torch.isfinite(parameter).all()) for parameter in model.policy.parameters())


def network_tensors(model: MaskablePPO) -> dict[str, NDArray[np.float32]]:
    """The model's tensors under the names of `Network`, copied."""
    parameters = network_parameters(model)
    return {name: parameter.detach().cpu().numpy().copy() for name, parameter in parameters.items()}


def network_parameters(model: MaskablePPO) -> dict[str, torch.Tensor]:
    """The model's parameters under the names of `Network`."""
    policy = model.policy
    heads = {
        "policy": [*policy.mlp_extractor.policy_net, policy.action_net],
        "value": [*policy.mlp_extractor.value_net, policy.value_net],
    }
    parameters: dict[str, torch.Tensor] = {}
    for head, modules in heads.items():
        layers = [module for module in modules if isinstance(module, torch.nn.Linear)]
        for number, layer in enumerate(layers):
            parameters[f"{head}.{number}.weight"] = layer.weight
            parameters[f"{head}.{number}.bias"] = layer.bias
    if isinstance(policy.mlp_extractor, ResidualExtractor) and policy.mlp_extractor.query is not None:
        query = policy.mlp_extractor.query
        parameters["policy.query.weight"], parameters["policy.query.bias"] = query.weight, query.bias
    return parameters
