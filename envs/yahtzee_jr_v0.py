"""Yahtzee Jr. as PettingZoo's own modules are laid out: ``from fivedice.envs import yahtzee_jr_v0``."""

from fivedice.envs.api.aec import environment
from fivedice.envs.yahtzee_jr import GAME

env, raw_env = environment(GAME)
