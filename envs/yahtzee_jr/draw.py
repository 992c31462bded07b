"""Yahtzee Jr. as a drawing: the board with the tokens, the dice, and where the player may place a token now.

Each face has a simple symbol of our own.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from fivedice.envs.core.marks import Marks
from fivedice.envs.display.pieces import (
    BOTTOM,
    MARGIN,
    TOP,
    draw_card,
    draw_dice,
    draw_seat,
    draw_table,
    draw_throws,
    kept_dice,
    seat_colour,
    three_and_two,
    winner_words,
)
from fivedice.envs.display.svg import CREAM, FADED, INK, RULE, WIDTH, Svg
from fivedice.envs.yahtzee_jr.render import FACES
from fivedice.envs.yahtzee_jr.rules import (
    CHARACTERS,
    CLUBHOUSE,
    NOBODY,
    NUM_ACTIONS,
    OPEN,
    PICTURE,
    PLACE,
    column_for,
    is_terminal,
    legal_actions,
    score,
    turns,
    winners,
)

BOARD = 528  # its width
HEAD = 34  # the height of the row with the points
ROW = (BOTTOM - TOP - HEAD) / len(CHARACTERS)
PICTURES = 178  # the width of the picture column
COLUMN = (BOARD - PICTURES) / 5
SIDE = 62  # of a die
# Symbols for a square from (-1, -1) to (1, 1), and their colours: a star, a heart, a drop, a hat, a house.
STAR = "M0-.95L.24-.32.92-.29.39.13.57.78 0 .41-.57.78-.39.13-.92-.29-.24-.32Z"
HEART = (
    "M0 .85C-.55.4-.95.05-.95-.4-.95-.75-.7-.9-.48-.9-.25-.9-.08-.75 0-.55"
    ".08-.75.25-.9.48-.9.7-.9.95-.75.95-.4.95.05.55.4 0 .85Z"
)
DROP = "M0-.95C.3-.45.7-.05.7.32.7.7.38.92 0 .92-.38.92-.7.7-.7.32-.7-.05-.3-.45 0-.95Z"
HAT = "M-.95.62H.95V.85H-.95ZM-.55.5C-.6-.1-.45-.85 0-.85.45-.85.6-.1.55.5Z"
HOUSE = "M0-.9 1-.05H.72V.85H.22V.25H-.22V.85H-.72V-.05H-1Z"
COLOURS = ("#d55e00", "#c2477f", "#2b7bba", "#e69f00", "#00805d", INK)


def cell_name(character: int, column: int) -> str:
    """The name of the region of a cell of the board, such as ``"cell-goofy-3"``; column 0 is the picture."""
    return f"cell-{CHARACTERS[character].lower()}-{column}"


def action_regions(state: Any, options: Any, action: int) -> tuple[str, ...]:
    """The dice that a keep holds, or the cell that the token goes to."""
    if action < PLACE:
        return kept_dice(action)
    return (cell_name(action - PLACE, int(column_for(action - PLACE, state["dice"], state["tokens"]))),)


def draw(state: Any, options: Any, marks: Marks) -> str:
    """The board, the dice, and the points and open tokens of each seat."""
    over, mover = bool(is_terminal(state, options)), int(state["player"])
    status = _status(state, options, over)
    svg = draw_table("Yahtzee Jr.", status, marks, None if over else mover, MARGIN + BOARD + 8)
    _draw_board(svg, state, options)
    middle = (MARGIN + BOARD + WIDTH) / 2
    draw_dice(svg, state["dice"], FACES, draw_face, three_and_two(middle, TOP + 8, SIDE), SIDE)
    if not over:
        draw_throws(svg, middle, TOP + 2 * (SIDE + 14) + 26, int(state["throws_left"]))
    elif state["roll_off"] != NOBODY:
        svg.text(middle, TOP + 2 * (SIDE + 14) + 26, "the last throw for the win", 15, CREAM, anchor="middle")
    _draw_seats(svg, state, options, None if over else mover)
    return svg.finish()


def _status(state: Any, options: Any, over: bool) -> str:
    if over:
        words = winner_words(winners, state, options)
        return f"{words} the throw for the most Clubhouses" if state["roll_off"] != NOBODY else words
    turn = 1 + int((state["tokens"][state["player"]] != OPEN).sum())
    return f"player_{int(state['player'])} to move, turn {turn} of {int(turns(options))}"


def _draw_board(svg: Svg, state: Any, options: Any) -> None:
    seats, tokens, mover = int(options["num_players"]), state["tokens"], int(state["player"])
    legal = np.zeros(NUM_ACTIONS, np.int8)
    legal_actions(state, options, legal)
    draw_card(svg, MARGIN, TOP, BOARD, BOTTOM - TOP)
    svg.rect(MARGIN, TOP, BOARD, HEAD, CREAM, round=10)
    svg.text(MARGIN + 14, TOP + HEAD / 2, "picture: 0 points", 14, FADED)
    for column in range(1, 6):
        x = MARGIN + PICTURES + (column - 0.5) * COLUMN
        points = f"{column} {'point' if column == 1 else 'points'}"
        svg.text(x, TOP + HEAD / 2, points, 14, FADED, anchor="middle", bold=True)
    for row, character in enumerate(CHARACTERS):
        y = TOP + HEAD + row * ROW
        svg.line(MARGIN, y, MARGIN + BOARD, y, RULE)
        target = int(column_for(row, state["dice"], tokens)) if legal[PLACE + row] else None
        for column in range(6):
            x = MARGIN if column == PICTURE else MARGIN + PICTURES + (column - 1) * COLUMN
            here = [seat for seat in range(seats) if tokens[seat, row] == column]
            place = "the picture" if column == PICTURE else f"column {column}"
            names = " and ".join(f"player_{seat}" for seat in here)
            label = f"{character}, {place}: {names or 'free'}"
            width = PICTURES if column == PICTURE else COLUMN
            with svg.region(cell_name(row, column), label, x + 3, y + 3, width - 6, ROW - 6, 8):
                if column == PICTURE:
                    draw_symbol(svg, row + 1, x + 36, y + ROW / 2 - 8, 26)
                    svg.text(x + 36, y + ROW - 15, character, 14, anchor="middle", bold=True)
                    for seat in here:
                        draw_seat(svg, *_place_on_picture(seat, seats, y), seat, 18)
                    if target == PICTURE:
                        _draw_ghost(svg, *_place_on_picture(mover, seats, y), mover, 18)
                else:
                    middle = x + COLUMN / 2, y + ROW / 2
                    svg.circle(*middle, 27, CREAM, RULE, 1.5)
                    svg.text(*middle, column, 22, RULE, anchor="middle", bold=True)
                    for seat in here:
                        draw_seat(svg, *middle, seat, 24)
                    if target == column:
                        _draw_ghost(svg, *middle, mover, 24)


def _place_on_picture(seat: int, seats: int, y: float) -> tuple[float, float]:
    """Where the token of a seat stands in the picture column of the row with the upper edge ``y``."""
    right, down = seat % 2, seat // 2
    return MARGIN + 94 + 44 * right, y + ROW / 2 + (44 * down - 22 if seats > 2 else 0)


def _draw_ghost(svg: Svg, x: float, y: float, seat: int, radius: float) -> None:
    """Where the player's token would go."""
    colour = seat_colour(seat)
    svg.element("circle", cx=x, cy=y, r=radius, fill=colour, fill_opacity=0.18, stroke=colour, stroke_width=2.5)


def _draw_seats(svg: Svg, state: Any, options: Any, mover: int | None) -> None:
    """The points of each seat, and its open tokens; the symbols of placed tokens are grey."""
    seats, left, line = int(options["num_players"]), MARGIN + BOARD + 20, 58
    top = BOTTOM - line * seats - 10
    draw_card(svg, left, top, WIDTH - MARGIN - left, line * seats + 10, CREAM)
    for seat in range(seats):
        y = top + 5 + line * seat
        if seat == mover:
            svg.rect(left + 5, y + 2, WIDTH - MARGIN - left - 10, line - 4, "#fbe3a6", round=7)
        draw_seat(svg, left + 24, y + 18, seat)
        svg.text(left + 43, y + 18, f"player_{seat}", 15, bold=seat == mover)
        svg.text(WIDTH - MARGIN - 14, y + 18, score(state["tokens"][seat]), 19, anchor="end", bold=True)
        for row in range(len(CHARACTERS)):
            is_open = state["tokens"][seat, row] == OPEN
            draw_symbol(svg, row + 1, left + 52 + 26 * row, y + 42, 9, None if is_open else RULE)


def draw_face(svg: Svg, x: float, y: float, side: float, face: int) -> None:
    """The symbol of a face, on a die with the upper left corner (``x``, ``y``)."""
    draw_symbol(svg, face, x + side / 2, y + side / 2, 0.36 * side)


def draw_symbol(svg: Svg, face: int, x: float, y: float, size: float, colour: str | None = None) -> None:
    """The symbol of a face with the centre (``x``, ``y``); ``size`` is half its height."""
    _SYMBOLS[face - 1](svg, f"translate({x:g} {y:g}) scale({size:g})", colour or COLOURS[face - 1])


def _draw_path(d: str) -> Callable[[Svg, str, str], None]:
    return lambda svg, move, colour: svg.path(d, colour, move=move)


def _draw_flower(svg: Svg, move: str, colour: str) -> None:
    petals = [(0.0, -0.58), (0.55, -0.18), (0.34, 0.47), (-0.34, 0.47), (-0.55, -0.18)]
    for x, y in petals:
        svg.element("circle", cx=x, cy=y, r=0.37, fill=colour, transform=move)
    svg.element("circle", cx=0, cy=0, r=0.27, fill=CREAM, transform=move)


_SYMBOLS: tuple[Callable[[Svg, str, str], None], ...] = (
    *(_draw_path(STAR), _draw_path(HEART), _draw_path(DROP)),
    *(_draw_flower, _draw_path(HAT), _draw_path(HOUSE)),
)
assert len(_SYMBOLS) == CLUBHOUSE
