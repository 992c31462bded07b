"""The picture at the top of the README, one game each, drawn by the environments: ``python docs/make_pictures.py``.

Each game is played by greedy policies up to the decision named here, so the picture is the same on every machine with
the same version of matplotlib (``pip install "fivedice[plot]"``).
"""

from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
from numpy.typing import NDArray

from fivedice.agents import load
from fivedice.envs import GAMES, load_game
from fivedice.envs.api.aec import DiceEnv

PICTURE = Path(__file__).parent / "_static" / "games.png"
SEED = 1
DECISIONS = {"yum": 45, "yahtzee_jr": 24, "showdown_yahtzee": 70, "set_cubed": 30}  # played before the picture
OTHERS = 30  # for a game that is not named
GAP = 8  # pixels around each game


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


def side_by_side(pictures: list[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """Pictures in two columns of one width, each put into the shorter column, the highest first; with transparency."""
    width = max(picture.shape[1] for picture in pictures)
    columns = [np.zeros((0, width + 2 * GAP, 4), np.uint8) for _ in range(2)]
    for picture in sorted(pictures, key=len, reverse=True):
        shorter = min(range(2), key=lambda number: len(columns[number]))
        columns[shorter] = np.concatenate([columns[shorter], framed(picture, width)])
    whole = np.zeros((max(map(len, columns)), sum(column.shape[1] for column in columns), 4), np.uint8)
    for number, column in enumerate(columns):
        whole[: len(column), number * column.shape[1] :][:, : column.shape[1]] = column
    return whole


def framed(picture: NDArray[np.uint8], width: int) -> NDArray[np.uint8]:
    """The picture on its own background, `width` pixels wide, with a transparent gap around it."""
    frame = np.zeros((len(picture) + 2 * GAP, width + 2 * GAP, 4), np.uint8)
    frame[GAP:-GAP, GAP:-GAP] = (*picture[0, 0], 255)
    frame[GAP:-GAP, GAP : GAP + picture.shape[1], :3] = picture
    return frame


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    matplotlib.image.imsave(PICTURE, side_by_side([picture_of(name) for name in GAMES]))
    print(PICTURE)
