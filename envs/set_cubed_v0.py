"""SET Cubed as a PettingZoo module: ``from fivedice.envs import set_cubed_v0``."""

from fivedice.envs.api.aec import environment
from fivedice.envs.set_cubed import GAME

env, raw_env = environment(GAME)
