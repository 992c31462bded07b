"""SuperSuit: its wrappers on an AEC environment. ``mask_in="info"`` makes the observation a plain array.

python examples/supersuit_wrappers.py
"""

import numpy as np
import supersuit

from fivedice.envs import yum_v0

WRAPPERS = {
    "dtype": lambda env: supersuit.dtype_v0(env, np.float64),
    "frame_stack": lambda env: supersuit.frame_stack_v1(env, 4),
    "flatten": lambda env: supersuit.flatten_v0(env),
    "all of them": lambda env: supersuit.flatten_v0(supersuit.frame_stack_v1(supersuit.dtype_v0(env, np.float64), 4)),
}


def returns(env, seed: int) -> tuple[dict[str, float], tuple[int, ...]]:
    """Play a game: the sum of the rewards of each agent, and the shape of an observation."""
    env.reset(seed=seed)
    total = dict.fromkeys(env.agents, 0.0)
    generator = np.random.default_rng(seed)
    shape = ()
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        total[agent] += reward
        legal = np.flatnonzero(info["action_mask"]) if not (termination or truncation) else []
        shape = shape or observation.shape
        env.step(generator.choice(legal) if len(legal) else None)
    return total, shape


for name, wrap in WRAPPERS.items():
    for seed in range(20):
        expected, _ = returns(yum_v0.env(mask_in="info", reward="margin"), seed)
        total, shape = returns(wrap(yum_v0.env(mask_in="info", reward="margin")), seed)
        assert total == expected, (name, total, expected)
    print(f"{name}: observation {shape}, returns of 20 games equal those of the unwrapped environment")

# black_death is the exception: it turns the environment into one where all agents act at the same time.
try:
    supersuit.black_death_v3(yum_v0.env(mask_in="info"))
except AssertionError as error:
    print(f"black_death: {str(error).partition('.')[0][:100]} …")
