"""Showdown Yahtzee as PettingZoo's own modules are laid out: ``from fivedice.envs import showdown_yahtzee_v0``."""

from fivedice.envs.api.aec import environment
from fivedice.envs.showdown_yahtzee import GAME

env, raw_env = environment(GAME)
