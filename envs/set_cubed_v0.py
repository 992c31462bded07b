"""SET Cubed as PettingZoo's own modules are laid out: ``from fivedice.envs import set_cubed_v0``."""

from fivedice.envs.api.aec import environment
from fivedice.envs.set_cubed import GAME

env, raw_env = environment(GAME)
