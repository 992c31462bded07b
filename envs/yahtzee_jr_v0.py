"""Yahtzee Jr. as a PettingZoo module: ``from fivedice.envs import yahtzee_jr_v0``."""

from fivedice.envs.api.aec import environment
from fivedice.envs.yahtzee_jr import GAME

env, raw_env = environment(GAME)
