"""Writes an SVG picture: shapes, text, and regions that a page can make clickable.

Every text and attribute is escaped here. A picture contains no scripts, no ids and no references, so that several
pictures can stand in one page.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from xml.sax.saxutils import escape, quoteattr

from fivedice.envs.core.marks import Marks

WIDTH, HEIGHT = 800, 600  # of every picture, in pixels
FONT = "Fivedice Sans"  # in fonts/; a browser without it uses the next family
FAMILIES = f"{FONT}, Lato, Carlito, Verdana, sans-serif"
LETTER = 0.53  # the mean width of a letter, as a share of the size of the font
BASELINE = 0.35  # from the middle of a capital letter down to the baseline, as a share of the size of the font

INK, FADED, PAPER, CREAM, RULE = "#24292b", "#6b7478", "#fffdf6", "#f3ecdb", "#d8cfb8"
TABLE, TABLE_DARK, ON_TABLE = "#20564a", "#17423a", "#f3ecdb"
GOLD, CHANGED = "#e8a200", "#2a7de1"
# The seats, in colours that colour-blind people can tell apart (Okabe and Ito, "Color Universal Design", 2008).
SEATS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")


class Svg:
    """An SVG picture that is written from the back to the front.

    Args:
        marks: what the regions highlight.
        label: what the picture shows, for screen readers.
        split: where the picture may be cut into a left and a right part that a narrow page shows one below the other,
            in pixels from the left; ``data-split`` of the ``<svg>`` element.
    """

    def __init__(self, marks: Marks, label: str, split: float = WIDTH) -> None:
        self.marks = marks
        self._parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family={quoteattr(FAMILIES)} role="img" '
            f'data-split="{split:g}">',
            f"<title>{escape(label)}</title>",
        ]

    def finish(self) -> str:
        """The picture as text."""
        return "".join([*self._parts, "</svg>"])

    def element(self, tag: str, **attributes: float | str | None) -> None:
        """Write an element without content. ``_`` in a name stands for ``-``; attributes that are None are left out."""
        self._parts.append(f"<{tag}{_written(attributes)}/>")

    def rect(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        fill: str,
        *,
        round: float = 0,
        stroke: str | None = None,
        stroke_width: float | None = None,
        opacity: float | None = None,
        dash: str | None = None,
    ) -> None:
        """Write a rectangle with the upper left corner (``x``, ``y``)."""
        self.element(
            "rect",
            x=x,
            y=y,
            width=width,
            height=height,
            rx=round or None,
            fill=fill,
            stroke=stroke,
            stroke_width=stroke_width,
            opacity=opacity,
            stroke_dasharray=dash,
        )

    def circle(
        self, x: float, y: float, radius: float, fill: str, stroke: str | None = None, stroke_width: float | None = None
    ) -> None:
        """Write a circle with the centre (``x``, ``y``)."""
        self.element("circle", cx=x, cy=y, r=radius, fill=fill, stroke=stroke, stroke_width=stroke_width)

    def line(self, x1: float, y1: float, x2: float, y2: float, stroke: str, stroke_width: float = 1) -> None:
        """Write a straight line."""
        self.element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke, stroke_width=stroke_width)

    def path(
        self, d: str, fill: str, stroke: str | None = None, stroke_width: float | None = None, move: str | None = None
    ) -> None:
        """Write a path. ``move`` is a transform, such as ``"translate(3 4)"``."""
        self.element(
            "path", d=d, fill=fill, stroke=stroke, stroke_width=stroke_width, stroke_linejoin="round", transform=move
        )

    def text(
        self,
        x: float,
        y: float,
        text: object,
        size: float = 16,
        fill: str = INK,
        *,
        anchor: str = "start",
        bold: bool = False,
        fit: float | None = None,
    ) -> None:
        """Write one line of text, with its capital letters centred at the height ``y``.

        Args:
            x: the start, the middle or the end of the text, as ``anchor`` says.
            y: the middle of its height.
            text: what to write.
            size: the size of the font.
            fill: the colour.
            anchor: ``"start"``, ``"middle"`` or ``"end"``.
            bold: whether the letters are bold.
            fit: the width that the text may take; a longer text is written smaller.
        """
        written = str(text)
        if fit is not None:
            size = min(size, fit / (LETTER * max(1, len(written))))
        attributes: dict[str, float | str | None] = {
            "x": x,
            "y": y + BASELINE * size,
            "font_size": round(size, 1),
            "fill": fill,
            "text_anchor": anchor if anchor != "start" else None,
            "font_weight": "bold" if bold else None,
        }
        self._parts.append(f"<text{_written(attributes)}>{escape(written)}</text>")

    @contextmanager
    def region(
        self,
        name: str,
        label: str,
        x: float,
        y: float,
        width: float,
        height: float,
        round: float = 4,
        fill: str | None = None,
    ) -> Iterator[None]:
        """Write a group that can be chosen. What is written inside the ``with`` block belongs to it.

        The group is ``<g data-region="box-0-fours" data-kind="box">``. It begins with a ``<title>`` and a rectangle
        that makes the whole region clickable, and ends with ``<rect class="frame">``. `Marks` make this frame visible;
        a page may style it, too. Regions can stand in each other, such as a card on a space.

        Args:
            name: the unique name of the region; its kind is what stands before the first ``-``.
            label: what the region shows, in words.
            x: the left edge of its frame.
            y: the upper edge of its frame.
            width: the width of its frame.
            height: the height of its frame.
            round: the radius of the corners of its frame.
            fill: the colour of its ground. Default: it is transparent.
        """
        kind = name.partition("-")[0]
        self._parts.append(f"<g data-region={quoteattr(name)} data-kind={quoteattr(kind)}>")
        self._parts.append(f"<title>{escape(label)}</title>")
        clear = 0 if fill is None else None  # transparent, but it can be clicked
        self.element("rect", x=x, y=y, width=width, height=height, rx=round, fill=fill or "#fff", fill_opacity=clear)
        yield
        marks = self.marks
        stroke, stroke_width, dash = None, None, None
        if name in marks.chosen:
            stroke, stroke_width = GOLD, 4.0
        elif name in marks.changed:
            stroke, stroke_width = CHANGED, 3.0
        elif name in marks.legal:
            stroke, stroke_width, dash = GOLD, 2.0, "5 3"
        self.element(
            "rect",
            x=x,
            y=y,
            width=width,
            height=height,
            rx=round,
            fill="none",
            pointer_events="none",
            stroke=stroke,
            stroke_width=stroke_width,
            stroke_dasharray=dash,
            **{"class": "frame"},
        )
        if name in marks.values:
            value = marks.values[name]
            wide = 8 + 6.6 * len(value)
            right, top = min(x + width + 4, WIDTH - 2.0), max(y - 7, 2.0)
            self.rect(right - wide, top, wide, 16, GOLD if name in marks.chosen else INK, round=8)
            colour = INK if name in marks.chosen else PAPER
            self.text(right - wide / 2, top + 8, value, 11.5, colour, anchor="middle", bold=True)
        self._parts.append("</g>")


def _written(attributes: dict[str, float | str | None]) -> str:
    """Attributes as they stand in a tag."""
    parts = []
    for name, value in attributes.items():
        if value is not None:
            written = _quoted(value) if isinstance(value, str) else f'"{value:.6g}"'
            parts.append(f" {_hyphened(name)}={written}")
    return "".join(parts)


@lru_cache(maxsize=1024)
def _quoted(value: str) -> str:
    return quoteattr(value)


@cache
def _hyphened(name: str) -> str:
    return name.replace("_", "-")
