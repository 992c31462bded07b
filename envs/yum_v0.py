"""Yum as PettingZoo's own modules are laid out: ``from fivedice.envs import yum_v0; yum_v0.env(num_players=3)``."""

from fivedice.envs.api.aec import environment
from fivedice.envs.yum import GAME

env, raw_env = environment(GAME)
