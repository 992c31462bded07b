"""Yum as a PettingZoo module: ``from fivedice.envs import yum_v0``."""

from fivedice.envs.api.aec import environment
from fivedice.envs.yum import GAME

env, raw_env = environment(GAME)
