"""Yum as a drawing: the score sheet, the dice, and what each open box would give now."""

from typing import Any

from fivedice.envs.core.marks import Marks
from fivedice.envs.display.pieces import (
    BOTTOM,
    MARGIN,
    TOP,
    draw_card,
    draw_dice,
    draw_pips,
    draw_seat,
    draw_standings,
    draw_table,
    draw_throws,
    ink_on,
    kept_dice,
    seat_colour,
    three_and_two,
    winner_words,
)
from fivedice.envs.display.svg import CREAM, FADED, GOLD, INK, PAPER, RULE, WIDTH, Svg
from fivedice.envs.display.words import DOTS
from fivedice.envs.yum.rules import (
    BONUS,
    BONUS_FROM,
    BOXES,
    FILL,
    OPEN,
    SIXES,
    has_bonus,
    is_terminal,
    may_fill,
    points_in,
    score,
    upper_total,
    winners,
)

HINTS = (
    *(f"sum of the {name.lower()}" for name in BOXES[: SIXES + 1]),
    *("1 2 3 4 5: 15", "2 3 4 5 6: 20", "21 to 29, below High", "22 or more, above Low"),
    *("three and two: 25", "five alike: 30"),
)
SHEET, COLUMN = 528, 96  # widths of the sheet and, at most, of the column of a seat
NAMES = 112  # width of the names of the boxes; hints stand behind them if there is room
SIDE = 62  # of a die


def box_name(seat: int, box: int) -> str:
    """The name of the region of a box, such as ``"box-0-low-straight"``."""
    return f"box-{seat}-{BOXES[box].lower().replace(' ', '-')}"


def action_regions(state: Any, options: Any, action: int) -> tuple[str, ...]:
    """The dice that a keep holds, or the box that is filled."""
    return kept_dice(action) if action < FILL else (box_name(int(state["player"]), action - FILL),)


def draw(state: Any, options: Any, marks: Marks) -> str:
    """The score sheet with a column for each seat, and the dice."""
    seats, over, mover = int(options["num_players"]), bool(is_terminal(state, options)), int(state["player"])
    status = winner_words(winners, state, options) if over else f"player_{mover} to move"
    svg = draw_table("Yum", status, marks, None if over else mover, MARGIN + SHEET + 8)
    _draw_sheet(svg, state, options, None if over else mover)
    left, middle = MARGIN + SHEET + 20, (MARGIN + SHEET + WIDTH) / 2
    draw_dice(svg, state["dice"], DOTS, draw_pips, three_and_two(middle, TOP + 8, SIDE), SIDE)
    if not over:
        draw_throws(svg, middle, TOP + 2 * (SIDE + 14) + 26, int(state["throws_left"]))
    points = [score(state["boxes"][seat]) for seat in range(seats)]
    draw_standings(svg, left, BOTTOM - 30 * seats - 12, WIDTH - MARGIN - left, points, None if over else mover)
    return svg.finish()


def _draw_sheet(svg: Svg, state: Any, options: Any, mover: int | None) -> None:
    seats = int(options["num_players"])
    column = min(COLUMN, (SHEET - NAMES) / seats)
    first = MARGIN + SHEET - column * seats
    height = (BOTTOM - TOP) / 15
    draw_card(svg, MARGIN, TOP, SHEET, BOTTOM - TOP)
    if mover is not None:
        svg.rect(first + mover * column, TOP, column, BOTTOM - TOP, "#fdf0c8", round=10)

    def middle(row: int) -> float:
        return TOP + (row + 0.5) * height

    def centre(seat: int) -> float:
        return first + (seat + 0.5) * column

    for seat in range(seats):
        if column >= 84:
            draw_seat(svg, centre(seat) - 32, middle(0), seat, 9)
            svg.text(centre(seat) + 9, middle(0), f"player_{seat}", 13, anchor="middle", bold=seat == mover)
        else:
            draw_seat(svg, centre(seat), middle(0), seat)
    for box, name in enumerate(BOXES):
        row = box + 1 + (box > SIXES)
        svg.line(MARGIN, TOP + row * height, MARGIN + SHEET, TOP + row * height, RULE)
        svg.text(MARGIN + 12, middle(row), name, 16, bold=True)
        if first - MARGIN > 300:
            svg.text(MARGIN + 140, middle(row), HINTS[box], 14, FADED)
        for seat in range(seats):
            _draw_box(svg, state, options, seat, box, seat == mover, first + seat * column, TOP + row * height, column)
    for row, name, hint in ((SIXES + 2, "Bonus", f"{BONUS}, from {BONUS_FROM} in these six"), (14, "Total", "")):
        svg.rect(MARGIN, TOP + row * height, SHEET, height, CREAM, round=10 if row == 14 else 0)
        svg.text(MARGIN + 12, middle(row), name, 16, bold=True)
        if first - MARGIN > 300:
            svg.text(MARGIN + 140, middle(row), hint, 14, FADED)
    for seat in range(seats):
        upper = int(upper_total(state["boxes"][seat]))
        if has_bonus(upper):
            svg.text(centre(seat), middle(SIXES + 2), f"+{BONUS}", 16, anchor="middle", bold=True)
        else:
            svg.text(centre(seat), middle(SIXES + 2), f"{upper} of {BONUS_FROM}", 13, FADED, anchor="middle")
        colour = seat_colour(seat)
        svg.rect(centre(seat) - 24, middle(14) - 12, 48, 24, colour, round=12)
        svg.text(centre(seat), middle(14), score(state["boxes"][seat]), 17, ink_on(colour), anchor="middle", bold=True)


def _draw_box(
    svg: Svg, state: Any, options: Any, seat: int, box: int, is_mover: bool, x: float, y: float, width: float
) -> None:
    written = int(state["boxes"][seat][box])
    height = (BOTTOM - TOP) / 15
    label = f"{BOXES[box]} of player_{seat}: {'open' if written == OPEN else written}"
    with svg.region(box_name(seat, box), label, x + 3, y + 2, width - 6, height - 4):
        if written != OPEN:
            svg.text(x + width / 2, y + height / 2, written, 18, INK, anchor="middle", bold=True)
        elif is_mover and may_fill(box, state, options):
            points = int(points_in(box, state["dice"], state["boxes"][seat], options))
            svg.rect(
                x + width / 2 - 17, y + 5, 34, height - 10, PAPER, round=6, stroke=GOLD, stroke_width=1, dash="3 2"
            )
            svg.text(x + width / 2, y + height / 2, points, 15, FADED, anchor="middle")
