"""The picture at the top of the README, one game each, drawn by the environments: ``python docs/make_pictures.py``.

Each game is played by greedy policies up to the decision named here, so the picture is the same on every machine with
the same version of matplotlib (``pip install "fivedice[plot]"``).
"""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from fivedice.agents import load
from fivedice.envs import GAMES, load_game
from fivedice.envs.api.aec import DiceEnv

PICTURE = Path(__file__).parent / "_static" / "games.png"
SEED = 1
DECISIONS = {"yum": 45, "yahtzee_jr": 24, "showdown_yahtzee": 70, "set_cubed": 30}  # played before the picture
OTHERS = 30  # for a game that is not named
GAP, TITLE, DPI = 16, 32, 100  # pixels around each picture and above it; pixels per inch


def picture_of(name: str) -> NDArray[np.uint8]:
    """A game between greedy policies in its middle, (height, width, 3) uint8."""
    env = DiceEnv(load_game(name), render_mode="rgb_array")
    env.reset(seed=SEED)
    greedy = load("greedy")
    for _ in range(DECISIONS.get(name, OTHERS)):
        env.step(int(greedy.act(env.view())[0]))
    picture: Any = env.render()
    return cropped(picture)


def cropped(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The picture without the empty room at its right and its lower edge, but for as much as at the other two."""
    drawn = (picture != picture[0, 0]).any(axis=2)
    rows, columns = np.flatnonzero(drawn.any(axis=1)), np.flatnonzero(drawn.any(axis=0))
    return picture[: rows[-1] + rows[0] + 1, : columns[-1] + columns[0] + 1]


def draw(pictures: dict[str, NDArray[np.uint8]]) -> Figure:
    """Pictures under their titles in two columns of one width, each in the shorter column, the highest first."""
    width, heights, places = max(picture.shape[1] for picture in pictures.values()), [GAP, GAP], {}
    for title, picture in sorted(pictures.items(), key=lambda entry: len(entry[1]), reverse=True):
        column = heights.index(min(heights))
        places[title] = (GAP + column * (width + GAP), heights[column] + TITLE)
        heights[column] += TITLE + len(picture) + GAP
    height = max(heights)
    figure = Figure(figsize=((2 * width + 3 * GAP) / DPI, height / DPI), dpi=DPI, facecolor="white")
    for title, (left, top) in places.items():
        picture = pictures[title]
        whole = np.broadcast_to(picture[0, 0], (len(picture), width, 3)).copy()  # its own background
        whole[:, : picture.shape[1]] = picture
        figure.figimage(whole, left, height - top - len(picture))
        figure.text(
            left / figure.bbox.width, 1 - (top - 8) / height, title, fontsize=14, fontweight="bold", color="black"
        )
    return figure


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    draw({load_game(name).title: picture_of(name) for name in GAMES}).savefig(PICTURE, dpi=DPI)
    print(PICTURE)
