"""Dice games as reinforcement-learning environments: `fivedice.envs`, and agents that play them: `fivedice.agents`."""

__version__ = "0.1.0"
