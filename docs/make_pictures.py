"""Draws the pictures of the README and of the games' pages: ``python docs/make_pictures.py``.

Each game is played by greedy policies up to the decision named here, so the pictures are the same on every machine with
the same version of pylunasvg (``pip install "fivedice[render]"``).
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from fivedice.agents import load
from fivedice.envs import GAMES, load_game
from fivedice.envs.api.aec import DiceEnv

FOLDER = Path(__file__).parent / "_static"
SEED = 1
PLAYERS = {"yum": 2, "yahtzee_jr": 4, "showdown_yahtzee": 3, "set_cubed": 3}
DECISIONS = {"yum": 46, "yahtzee_jr": 25, "showdown_yahtzee": 54, "set_cubed": 32}  # played before the picture
OTHERS = 30  # for a game that is not named
GAP = 16  # pixels between the four games of the README's picture
COLOURS = 128  # of a picture, so that the files stay small


def picture_of(name: str) -> NDArray[np.uint8]:
    """A game between greedy policies in its middle, (height, width, 3) uint8."""
    env = DiceEnv(load_game(name), PLAYERS.get(name))
    env.reset(seed=SEED)
    greedy = load("greedy")
    for _ in range(DECISIONS.get(name, OTHERS)):
        env.step(int(greedy.act(env.view())[0]))
    return env.draw().pixels()


def side_by_side(pictures: list[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """Pictures of one size in two columns."""
    height, width = pictures[0].shape[:2]
    rows = (len(pictures) + 1) // 2
    whole = np.full((rows * (height + GAP) - GAP, 2 * width + GAP, 3), 255, np.uint8)
    for number, picture in enumerate(pictures):
        row, column = divmod(number, 2)
        top, left = row * (height + GAP), column * (width + GAP)
        whole[top : top + height, left : left + width] = picture
    return whole


def save(picture: NDArray[np.uint8], file: Path) -> None:
    """Write a picture as a small PNG file."""
    Image.fromarray(picture).quantize(COLOURS, dither=Image.Dither.NONE).save(file, optimize=True)
    print(file)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    pictures = {name: picture_of(name) for name in GAMES}
    for name, picture in pictures.items():
        save(picture, FOLDER / f"{name}.png")
    save(side_by_side(list(pictures.values())), FOLDER / "games.png")
