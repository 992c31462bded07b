"""Showdown Yahtzee as a PettingZoo module: ``from fivedice.envs import showdown_yahtzee_v0``."""

from fivedice.envs.api.aec import environment
from fivedice.envs.showdown_yahtzee import GAME

env, raw_env = environment(GAME)
