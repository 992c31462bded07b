"""The AEC environment of Yum against PettingZoo's tic-tac-toe, in the same loop.

The loop is the one in PettingZoo's documentation: ``last()``, a random legal action, ``step()``. Both environments come
from ``env()``, with all its checks.
"""

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.measure import Claim, MissingPeer, alternate, rate, ratios, spread
from fivedice.envs import yum_v0

SECONDS = 1.0
BAR = 3.0


def loop(env: Any) -> Callable[[], int]:
    """A function that plays one game and returns its number of steps, the steps with action None included."""
    generator = random.Random(1)
    env.reset(seed=1)

    def play() -> int:
        env.reset()
        steps = 0
        while env.agents:
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                action = None
            else:
                legal = np.flatnonzero(observation["action_mask"])
                action = int(legal[int(generator.random() * len(legal))])
            env.step(action)
            steps += 1
        return steps

    play()
    return play


def run(repetitions: int) -> list[Claim]:
    """Measure microseconds per step."""
    try:
        from pettingzoo.classic import tictactoe_v3
    except ImportError as error:  # tictactoe imports pygame
        raise MissingPeer("pygame, which PettingZoo's tictactoe needs,") from error

    play, peer_play = loop(yum_v0.env()), loop(tictactoe_v3.env())
    ours, peer = alternate(repetitions, lambda: 1e6 / rate(play, SECONDS), lambda: 1e6 / rate(peer_play, SECONDS))
    return [
        Claim(
            "AEC env(), last() and step()",
            spread(ours).text(" µs a step"),
            f"PettingZoo tictactoe: {spread(peer).text(' µs a step')}",
            ratios(peer, ours),
            "x",
            BAR,
        )
    ]
