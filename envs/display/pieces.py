"""What the drawings of all games share: the table with its header and footer, dice, and seats."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from fivedice.envs.core.marks import Marks
from fivedice.envs.display.svg import (
    CREAM,
    FADED,
    GOLD,
    HEIGHT,
    INK,
    ON_TABLE,
    PAPER,
    SEATS,
    TABLE,
    TABLE_DARK,
    WIDTH,
    Svg,
)

MARGIN = 16
HEADER, FOOTER = 48, 36  # heights
TOP, BOTTOM = HEADER + 12, HEIGHT - FOOTER - 12  # of the room for the game
PIPS = {1: "4", 2: "08", 3: "048", 4: "0268", 5: "02468", 6: "023568"}  # the dots in a 3 x 3 grid, row by row


def draw_table(title: str, status: str, marks: Marks, seat: int | None, split: float) -> Svg:
    """Start a picture: the table, the title and the status above it, and the last action below.

    Args:
        title: the name of the game.
        status: who has to do what, or who has won.
        marks: what to highlight.
        seat: the seat to move, whose colour the status has; None: the game is over.
        split: where the picture may be cut in two, in pixels from the left.
    """
    svg = Svg(marks, f"{title}: {status}", split)
    svg.rect(0, 0, WIDTH, HEIGHT, TABLE)
    svg.rect(0, 0, WIDTH, HEADER, TABLE_DARK)
    svg.text(MARGIN, HEADER / 2, title, 23, ON_TABLE, bold=True)
    room = WIDTH - 260
    size = min(17, room / (0.54 * len(status)))
    wide = 30 + 0.54 * size * len(status)
    colour = GOLD if seat is None else seat_colour(seat)
    svg.rect(WIDTH - MARGIN - wide, 9, wide, HEADER - 18, colour, round=15)
    ink = ink_on(colour)
    svg.text(WIDTH - MARGIN - wide / 2, HEADER / 2, status, size, ink, anchor="middle", bold=True)
    svg.rect(0, HEIGHT - FOOTER, WIDTH, FOOTER, TABLE_DARK)
    if marks.last:
        svg.text(MARGIN, HEIGHT - FOOTER / 2, marks.last, 17, ON_TABLE, fit=WIDTH - 2 * MARGIN)
    return svg


def draw_text(title: str, text: str, marks: Marks) -> str:
    """The picture of a game that has no drawing: its text."""
    svg = Svg(marks, title)
    svg.rect(0, 0, WIDTH, HEIGHT, PAPER)
    lines = text.split("\n")
    height = min(20.0, (HEIGHT - FOOTER - 2 * MARGIN) / len(lines))
    size = min(0.75 * height, (WIDTH - 2 * MARGIN) / (0.62 * max(map(len, lines))))
    for row, line in enumerate(lines):
        svg.text(MARGIN, MARGIN + (row + 0.5) * height, line, size)
    svg.text(MARGIN, HEIGHT - FOOTER / 2, marks.last, 16, FADED, fit=WIDTH - 2 * MARGIN)
    return svg.finish()


def seat_colour(seat: int) -> str:
    """The colour of a seat."""
    return SEATS[seat % len(SEATS)]


def ink_on(colour: str) -> str:
    """White or dark, whichever can be read on a colour."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "#ffffff"


def draw_card(svg: Svg, x: float, y: float, width: float, height: float, fill: str = PAPER, round: float = 10) -> None:
    """A sheet of paper or a card on the table, with its shadow."""
    svg.rect(x + 2, y + 3, width, height, "#000000", round=round, opacity=0.22)
    svg.rect(x, y, width, height, fill, round=round)


def draw_seat(svg: Svg, x: float, y: float, seat: int, radius: float = 11) -> None:
    """The mark of a seat: a disc in its colour, with its number."""
    colour = seat_colour(seat)
    svg.circle(x, y, radius, colour, "#ffffff", 1.5)
    svg.text(x, y, seat, 1.15 * radius, ink_on(colour), anchor="middle", bold=True)


def draw_die_body(svg: Svg, x: float, y: float, side: float, fill: str = PAPER) -> None:
    """A die without a face, with the upper left corner (``x``, ``y``)."""
    svg.rect(x + 1.5, y + 2.5, side, side, "#000000", round=side * 0.18, opacity=0.25)
    svg.rect(x, y, side, side, fill, round=side * 0.18, stroke="#b9b09a", stroke_width=1)


def draw_pips(svg: Svg, x: float, y: float, side: float, face: int, fill: str = INK) -> None:
    """The dots of a face, on a die with the upper left corner (``x``, ``y``)."""
    for place in map(int, PIPS[face]):
        down, right = divmod(place, 3)
        svg.circle(x + side * (0.25 + 0.25 * right), y + side * (0.25 + 0.25 * down), side * 0.088, fill)


def draw_dice(
    svg: Svg,
    dice: Sequence[int],
    names: Sequence[str],
    draw_face: Callable[[Svg, float, float, float, int], None],
    places: Sequence[tuple[float, float]],
    side: float,
) -> None:
    """Dice with their regions.

    Args:
        svg: the picture.
        dice: the face of the die in each slot, from 1.
        names: the names of the faces, in order from face 1.
        draw_face: ``draw_face(svg, x, y, side, face)`` draws a face on a die with the upper left corner (x, y).
        places: the upper left corner of each die.
        side: the length of the sides.
    """
    for slot, (face, (x, y)) in enumerate(zip(dice, places, strict=True)):
        with die_region(svg, slot, names[int(face) - 1], x, y, side):
            draw_die_body(svg, x, y, side)
            draw_face(svg, x, y, side, int(face))


def three_and_two(middle: float, y: float, side: float) -> list[tuple[float, float]]:
    """The places of five dice in two rows, three above two, centred at ``middle``."""
    step = side + 12
    top = [(middle + (number - 1.5) * step + 6, y) for number in range(3)]
    return top + [(middle + (number - 1) * step + 6, y + side + 14) for number in range(2)]


def die_region(svg: Svg, slot: int, face_name: str, x: float, y: float, side: float) -> AbstractContextManager[None]:
    """The region of the die in a slot, from 0. Names count slots from 1, as the names of actions do."""
    return svg.region(die_name(slot), f"die {slot + 1}: {face_name}", x - 3, y - 3, side + 6, side + 6, side * 0.22)


def die_name(slot: int) -> str:
    """The name of the region of the die in a slot, from 0."""
    return f"die-{slot + 1}"


def kept_dice(keep: int, num_slots: int = 5) -> tuple[str, ...]:
    """The regions of the dice that a keep holds (bit i: slot i)."""
    return tuple(die_name(slot) for slot in range(num_slots) if keep >> slot & 1)


def draw_throws(svg: Svg, x: float, y: float, throws_left: int, total: int = 2, fill: str = ON_TABLE) -> None:
    """How many throws are left, in words and as dots; ``x`` is the middle."""
    words = f"{throws_left} {'throw' if throws_left == 1 else 'throws'} left"
    for number in range(total):
        middle = x - 50 - 18 * (total - 1 - number)
        svg.circle(middle, y, 6, GOLD if number < throws_left else "none", fill, 1.5)
    svg.text(x - 34, y, words, 16, fill, bold=True)


def winner_words(winners: Callable[..., None], state: Any, options: Any) -> str:
    """The winners of a finished game as a sentence, such as ``"player_0 and player_2 win"``."""
    won = np.zeros(int(options["num_players"]), np.int8)
    winners(state, options, won)
    names = [f"player_{seat}" for seat in np.flatnonzero(won)]
    return (
        f"{', '.join(names[:-1])}{' and ' if len(names) > 1 else ''}{names[-1]} {'win' if len(names) > 1 else 'wins'}"
    )


def draw_chip(svg: Svg, x: float, y: float, radius: float, colour: str) -> None:
    """A chip in the colour of a seat, seen from above."""
    svg.circle(x, y, radius, colour, "#ffffff", 1)
    svg.element(
        "circle", cx=x, cy=y, r=0.62 * radius, fill="none", stroke="#ffffff", stroke_width=1, stroke_dasharray="2 2"
    )


def draw_pawn(svg: Svg, x: float, y: float, seat: int) -> None:
    """The pawn of a seat; (``x``, ``y``) is the middle of its foot."""
    colour = seat_colour(seat)
    svg.path("M-9 0C-9-6-5-8-4-13A7 7 0 1 1 4-13C5-8 9-6 9 0Z", colour, "#ffffff", 1.5, move=f"translate({x:g} {y:g})")
    svg.text(x, y - 17.5, seat, 11, ink_on(colour), anchor="middle", bold=True)


def draw_standings(
    svg: Svg, x: float, y: float, width: float, points: Sequence[float], mover: int | None, notes: Sequence[str] = ()
) -> None:
    """A card with the points of each seat; the seat to move is marked.

    Args:
        svg: the picture.
        x: its left edge.
        y: its upper edge.
        width: its width.
        points: the points of each seat.
        mover: the seat to move; None: nobody.
        notes: a short note for each seat, written before its points.
    """
    line = 30
    draw_card(svg, x, y, width, line * len(points) + 12, CREAM)
    for seat, number in enumerate(points):
        middle = y + 6 + line * (seat + 0.5)
        if seat == mover:
            svg.rect(x + 5, middle - line / 2 + 2, width - 10, line - 4, "#fbe3a6", round=7)
        draw_seat(svg, x + 23, middle, seat)
        svg.text(x + 42, middle, f"player_{seat}", 15, bold=seat == mover)
        if seat < len(notes) and notes[seat]:
            svg.text(x + width - 52, middle, notes[seat], 12, FADED, anchor="end")
        svg.text(x + width - 14, middle, f"{number:g}", 18, anchor="end", bold=True)
