"""Draw a game's text as a picture, for ``render_mode="rgb_array"``: the same lines, with dice and colours.

This needs matplotlib (``pip install "fivedice[plot]"``), which is imported with the first picture, but no display.
"""

import importlib.util
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.display.words import PICTURES

FONT = "DejaVu Sans Mono"  # comes with matplotlib
POINTS, DPI = 10.8, 100
CHARACTER, LINE, MARGIN = 9, 21, 16  # in pixels: width of a character, height of a line, margin of the picture
ROOM = 10, 2  # extra characters in a line and extra lines, because later texts of a game may be longer than the first

TABLE, INK, PAPER = "#17352b", "#e9e4d4", "#f7f3e8"
SEATS = ("#ffd166", "#8ecae6", "#ff8fab", "#b8e0a0", "#cdb4f6", "#ffb37c")
COLOURS = {"R": "#ff7b72", "G": "#7ee787", "P": "#d2a8ff"}  # of the symbols of SET Cubed
WORDS = re.compile(rf"player_(?P<seat>\d)|<(?P<pawn>\d)>|\b\d(?P<colour>[RGP])[OSD]\b|(?P<die>[{''.join(PICTURES)}])")
PIPS = {1: "4", 2: "08", 3: "048", 4: "0268", 5: "02468", 6: "023568"}  # the dots in a 3 x 3 grid, row by row


class Pictures:
    """Draws the texts of one environment. All pictures have the size that the first text needs.

    Raises:
        ModuleNotFoundError: matplotlib is not installed.
    """

    def __init__(self) -> None:
        if importlib.util.find_spec("matplotlib") is None:
            raise ModuleNotFoundError(
                "render_mode='rgb_array' needs matplotlib; install it with pip install 'fivedice[plot]'"
            )
        self._size: tuple[int, int] | None = None

    def draw(self, text: str) -> NDArray[np.uint8]:
        """Draw a text. A text that is too large for the size of the first one is scaled down.

        Returns:
            uint8 (height, width, 3), the picture.
        """
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        lines = text.split("\n")
        if self._size is None:
            columns, rows = max(map(len, lines)) + ROOM[0], len(lines) + ROOM[1]
            self._size = columns * CHARACTER + 2 * MARGIN, rows * LINE + 2 * MARGIN
        width, height = self._size
        scale = self.scale(lines)
        figure = Figure((width / DPI, height / DPI), DPI, facecolor=TABLE)
        canvas: Any = FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width / scale), ylim=(height / scale, 0))
        axes.axis("off")
        for row, line in enumerate(lines):
            _draw_line(axes, line, MARGIN, MARGIN + (row + 0.5) * LINE, scale)
        canvas.draw()
        picture: NDArray[np.uint8] = np.asarray(canvas.buffer_rgba())[:, :, :3].copy()
        return picture

    def scale(self, lines: list[str]) -> float:
        """The scale of these lines: 1, or less if they are too large for the picture."""
        if self._size is None:
            return 1.0
        width, height = self._size[0] - 2 * MARGIN, self._size[1] - 2 * MARGIN
        return min(1.0, width / (max(map(len, lines)) * CHARACTER), height / (len(lines) * LINE))


def _draw_line(axes: Any, line: str, x: float, y: float, scale: float) -> None:
    """Draw one line of text. It starts at ``x`` and is vertically centred at ``y``, both in pixels."""
    plain = WORDS.sub(lambda word: " " * len(word[0]), line)
    words = [(0, plain, INK)]
    for found in WORDS.finditer(line):
        seat = found["seat"] or found["pawn"]
        if found["die"]:
            _draw_die(axes, PICTURES.index(found["die"]) + 1, x + (found.start() + 0.6) * CHARACTER, y)
        else:
            colour = SEATS[int(seat) % len(SEATS)] if seat else COLOURS[found["colour"]]
            words.append((found.start(), found[0], colour))
    for start, word, colour in words:
        axes.text(
            x + start * CHARACTER,
            y,
            word,
            color=colour,
            family=FONT,
            fontsize=POINTS * scale,
            va="center_baseline",
            parse_math=False,
        )


def _draw_die(axes: Any, face: int, x: float, y: float) -> None:
    """Draw a die, about two characters wide, with its centre at (``x``, ``y``), in pixels."""
    from matplotlib.patches import Circle, FancyBboxPatch

    side = 1.6 * CHARACTER
    axes.add_patch(
        FancyBboxPatch((x - side / 2, y - side / 2), side, side, boxstyle="round,pad=1.2", color=PAPER, linewidth=0)
    )
    for place in map(int, PIPS[face]):
        down, right = divmod(place, 3)
        axes.add_patch(Circle((x + (right - 1) * side / 3, y + (down - 1) * side / 3), 1.7, color=TABLE, linewidth=0))
