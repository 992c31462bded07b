"""A position of any game as a vector drawing: SVG text, or pixels.

`draw` is the entry for everybody who shows a game: ``render_mode="rgb_array"``, notebooks, `fivedice replay`, and the
board in the browser. Pixels need pylunasvg (``pip install "fivedice[render]"``), which is imported with the first
picture; SVG needs nothing.

**Regions.** In the SVG, everything that can be chosen is a group::

    <g data-region="die-2" data-kind="die"><title>die 2: 5</title> … <rect class="frame" …/></g>

The last child is a frame, which is invisible unless `Marks` highlight it. A region can stand in another one, such as a
card on a space; a click belongs to the innermost region that has a legal action.
``game.action_regions(state, options, action)`` returns the names of the regions of an action. In each position,
different legal actions have different regions, so a page can collect what a player clicks and find the action:

- a keep has the dice that are kept, in any order: ``("die-1", "die-4")``; keeping none has ``()``
- most other actions have one region, such as a box, a card or a space: ``("box-0-fours",)``
- laying a die has the die and the cell: ``("die-2", "cell-E4")``
- the end of a turn in SET Cubed has ``("button-end",)``
"""

import base64
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.marks import NO_MARKS, Marks
from fivedice.envs.core.spec import Game, Options, State
from fivedice.envs.display.pieces import draw_text
from fivedice.envs.display.svg import FONT, HEIGHT, WIDTH

FONTS = {"normal": "FivediceSans-Regular.ttf", "bold": "FivediceSans-Bold.ttf"}


@dataclass(frozen=True)
class Drawing:
    """A drawing of a position.

    Attributes:
        svg: the drawing as an SVG document. Its size is `width` x `height` pixels.
    """

    svg: str
    width = WIDTH
    height = HEIGHT

    def pixels(self, scale: float = 1.0) -> NDArray[np.uint8]:
        """The drawing as an RGB picture.

        Args:
            scale: the size of the picture, relative to `width` x `height`. Default: 1.

        Returns:
            uint8 (height, width, 3).

        Raises:
            ModuleNotFoundError: pylunasvg is not installed.
        """
        bitmap = (
            _rasteriser()
            .Document.loadFromData(self.svg)
            .renderToBitmap(round(self.width * scale), round(self.height * scale))
        )
        blue_green_red: NDArray[np.uint8] = np.array(bitmap, copy=False)[:, :, 2::-1]
        return np.ascontiguousarray(blue_green_red)

    def _repr_svg_(self) -> str:
        return self.svg


def draw(game: Game, state: State, options: Options, marks: Marks = NO_MARKS) -> Drawing:
    """Draw a position.

    A game without a drawing of its own is shown as its text.

    Args:
        game: the game.
        state: the state, one record.
        options: the options record.
        marks: what to highlight, and the last action in words. Default: nothing.
    """
    if game.draw is None:
        return Drawing(draw_text(game.title, game.render(state, options), marks))
    return Drawing(game.draw(state, options, marks))


def mark_last(game: Game, before: State, options: Options, action: int) -> Marks:
    """The marks that show an action as the last one: its words, and the regions that it changed.

    Args:
        game: the game.
        before: the state before the action.
        options: the options record.
        action: the action.
    """
    seat = int(game.rules.current_player(before))
    verb, _, rest = game.name_action(before, options, action).partition(" ")
    # The dice have been thrown or sorted anew, so the regions of those that were chosen now show others.
    changed = frozenset(name for name in regions_of(game, before, options, [action]) if not name.startswith("die-"))
    return Marks(last=f"player_{seat} {verb}s {rest}", changed=changed)


def regions_of(game: Game, state: State, options: Options, actions: Sequence[int]) -> frozenset[str]:
    """The names of all regions of some actions. They are empty for a game without a drawing."""
    if game.action_regions is None:
        return frozenset()
    return frozenset(name for action in actions for name in game.action_regions(state, options, int(action)))


def require_rasteriser() -> None:
    """Raise a ModuleNotFoundError if pylunasvg is not installed."""
    if importlib.util.find_spec("pylunasvg") is None:
        raise ModuleNotFoundError(
            "pictures of games need pylunasvg; install it with pip install 'fivedice[render]'", name="pylunasvg"
        )


def font_file(weight: str) -> Path:
    """The file of the font of the drawings, for the weight ``"normal"`` or ``"bold"``."""
    return Path(__file__).parent / "fonts" / FONTS[weight]


@cache
def font_style() -> str:
    """The font of the drawings as CSS, for a page that contains everything it needs."""
    return "".join(
        f'@font-face{{font-family:"{FONT}";font-weight:{weight};'
        f"src:url(data:font/ttf;base64,{base64.b64encode(font_file(weight).read_bytes()).decode()})}}"
        for weight in FONTS
    )


@cache
def _rasteriser() -> Any:
    """The module pylunasvg, with the fonts of the drawings."""
    require_rasteriser()
    import pylunasvg

    for weight in FONTS:
        pylunasvg.lunasvg_add_font_face_from_file(FONT, weight == "bold", False, str(font_file(weight)))
    return pylunasvg
