"""Time of one frame of ``render_mode="rgb_array"``: the drawing of a position and its pixels, 800 x 600.

A frame is drawn by one thread, so its processor time is its time on an idle core, whatever else runs.
"""

import importlib.util
import time

import numpy as np

from benchmarks.measure import Claim, MissingPeer, alternate, spread
from fivedice.agents import load
from fivedice.envs import GAMES, load_game
from fivedice.envs.api.aec import DiceEnv

BAR = 20.0  # milliseconds
FRAMES = 40  # positions from the start of a game on, in each repetition


def milliseconds(name: str, num_players: int) -> float:
    """The mean processor time of a frame, over the first positions of a game between random policies."""
    env = DiceEnv(load_game(name), num_players, render_mode="rgb_array")
    env.reset(seed=1)
    env.render()
    policy, spent, frames = load("random"), 0.0, 0
    while frames < FRAMES and env.agents and not (env.terminations["player_0"] or env.truncations["player_0"]):
        env.step(int(policy.act(env.view())[0]))
        start = time.process_time()
        picture = env.render()
        spent += time.process_time() - start
        frames += 1
        assert isinstance(picture, np.ndarray)
    return 1000 * spent / frames


def run(repetitions: int) -> list[Claim]:
    """Measure a frame of each game with the most players."""
    if importlib.util.find_spec("pylunasvg") is None:
        raise MissingPeer("pylunasvg")
    games = [load_game(name) for name in GAMES]
    for game in games:
        milliseconds(game.name, game.max_players)  # compiles the rules and loads the fonts
    times = alternate(
        repetitions,
        *(lambda game=game: milliseconds(game.name, game.max_players) for game in games),  # type: ignore[misc]
    )
    return [
        Claim(
            f"a frame of {game.title}",
            f"{game.max_players} players, 800 x 600",
            "a fixed bar",
            spread(measured),
            " ms",
            BAR,
            at_most=True,
        )
        for game, measured in zip(games, times, strict=True)
    ]
