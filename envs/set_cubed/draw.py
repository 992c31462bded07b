"""SET Cubed as a drawing: the board with the dice, the hands, and what the player has to decide.

The three colours can be told apart by colour-blind people. Green and red are those of Okabe and Ito; their purple
looks like their green to some of them, so ours is darker.
"""

from typing import Any

from fivedice.envs.core.marks import Marks
from fivedice.envs.display.pieces import (
    BOTTOM,
    MARGIN,
    TOP,
    die_region,
    draw_die_body,
    draw_seat,
    draw_table,
    kept_dice,
    winner_words,
)
from fivedice.envs.display.svg import CREAM, FADED, GOLD, INK, ON_TABLE, PAPER, RULE, WIDTH, Svg
from fivedice.envs.set_cubed.actions import declare_action, end_action, keep_action, slot_and_cell
from fivedice.envs.set_cubed.board import EDGE, EMPTY, NONE, is_undeclared
from fivedice.envs.set_cubed.dice import NUM_DICE
from fivedice.envs.set_cubed.drawing import LOGO, PLAIN, num_columns, num_rows, printed
from fivedice.envs.set_cubed.faces import FACE_NAMES, NUM_FACES, WILD
from fivedice.envs.set_cubed.hand import hand_size
from fivedice.envs.set_cubed.render import LETTERS, cell_name, in_words
from fivedice.envs.set_cubed.rules import OVER, PLAY, winners

BOARD = BOTTOM - TOP  # the side of the board with its letters and numbers
LABELS = 18  # the room for letters and numbers at the board's edge
PANEL = MARGIN + BOARD + 16  # the left edge of what stands right of the board
SIDE = 42  # of a die in a hand
HAND_HEIGHT = 86
INKS = ("#d55e00", "#009e73", "#54278f")  # red, green, purple
# The shapes, upright in a rectangle from (-0.5, -1) to (0.5, 1).
PATHS = (
    "M-.5-.5A.5.5 0 0 1 .5-.5V.5A.5.5 0 0 1-.5.5Z",
    "M0-1 .5 0 0 1-.5 0Z",
    "M-.1-1C.35-1 .55-.65 .42-.2 .3.2.25.35.42.62.6.9.3 1 .1 1"
    "-.35 1-.55.65-.42.2-.3-.2-.25-.35-.42-.62-.6-.9-.3-1-.1-1Z",
)
BONUS_FILLS = {2: "#cfe3d3", 3: "#f6dfae", 5: "#f2c0a8"}


def cell_region(cell: int, options: Any) -> str:
    """The name of the region of a cell, such as ``"cell-E4"``."""
    return f"cell-{cell_name(cell, options)}"


def face_name(face: int) -> str:
    """The name of the region of a face that can be declared, such as ``"face-2RO"``."""
    return f"face-{FACE_NAMES[face]}"


def action_regions(state: Any, options: Any, action: int) -> tuple[str, ...]:
    """The die and the cell, the face that is declared, the dice that a keep holds, or the button."""
    if action < declare_action(options):
        slot, cell = slot_and_cell(options, action)
        return (*kept_dice(1 << int(slot)), cell_region(int(cell), options))
    if action < keep_action(options):
        return (face_name(action - int(declare_action(options))),)
    if action < end_action(options):
        return kept_dice(action - int(keep_action(options)))
    return ("button-end",)


def draw(state: Any, options: Any, marks: Marks) -> str:
    """The board, and beside it the hands; below them the faces of a WILD, if the player has to declare one."""
    over, mover = state["phase"] == OVER, int(state["player"])
    status = winner_words(winners, state, options) if over else f"player_{mover}: {in_words(state, options)}"
    svg = draw_table("SET Cubed", status, marks, None if over else mover, PANEL - 8)
    _draw_board(svg, state, options)
    _draw_hands(svg, state, options, bool(over))
    _draw_notes(svg, state, options)
    return svg.finish()


def _draw_board(svg: Svg, state: Any, options: Any) -> None:
    rows, columns = int(num_rows(options)), int(num_columns(options))
    side = (BOARD - LABELS) / max(rows, columns)
    left = MARGIN + LABELS + (BOARD - LABELS - side * columns) / 2
    top = TOP + LABELS + (BOARD - LABELS - side * rows) / 2
    for column in range(columns):
        svg.text(left + (column + 0.5) * side, top - 9, LETTERS[column], 13, ON_TABLE, anchor="middle", bold=True)
    for row in range(rows):
        svg.text(left - 10, top + (row + 0.5) * side, row + 1, 13, ON_TABLE, anchor="middle", bold=True)
    svg.rect(left - 2, top - 2, side * columns + 4, side * rows + 4, RULE, round=6)
    inside = slice(EDGE, EDGE + rows), slice(EDGE, EDGE + columns)
    faces, wild = state["faces"][inside].ravel().tolist(), state["wild"][inside].ravel().tolist()
    laid, waiting = state["laid"].tolist(), int(state["waiting"])
    for cell, face in enumerate(faces):
        x, y = left + (cell % columns) * side, top + (cell // columns) * side
        _draw_cell(svg, options, cell, face, bool(wild[cell]), x, y, side, laid, waiting)


def _draw_cell(
    svg: Svg,
    options: Any,
    cell: int,
    face: int,
    is_wild: bool,
    x: float,
    y: float,
    side: float,
    laid: list[int],
    waiting: int,
) -> None:
    """A cell: what is printed on it, or its die; a die of this turn is framed and numbered."""
    print_, name = int(printed(options, cell)), cell_name(cell, options)
    ground = CREAM if print_ == PLAIN else "#b9c7c0" if print_ == LOGO else BONUS_FILLS.get(print_, "#ead7f0")
    what = "empty" if face == EMPTY else FACE_NAMES[face] + (", a WILD" if is_wild and face != WILD else "")
    bonus = f", bonus {print_}" if PLAIN < print_ < LOGO and face == EMPTY else ""
    with svg.region(f"cell-{name}", f"{name}: {what}{bonus}", x + 1, y + 1, side - 2, side - 2, 3, ground):
        middle = x + side / 2, y + side / 2
        if face == EMPTY:
            if print_ == LOGO:
                draw_shape(svg, 1, *middle, 0.3 * side, "#8fa39a")
            elif print_ != PLAIN:
                svg.text(*middle, f"+{print_}", 0.42 * side, "#7a5a2e", anchor="middle", bold=True)
            return
        inset = 0.07 * side
        draw_die_body(svg, x + inset, y + inset, side - 2 * inset, "#fff1c9" if is_wild else PAPER)
        draw_face(svg, x + inset, y + inset, side - 2 * inset, face)
        if is_wild and face != WILD:
            svg.circle(x + side - 0.2 * side, y + 0.2 * side, 0.16 * side, GOLD)
            svg.text(x + side - 0.2 * side, y + 0.2 * side, "W", 0.22 * side, INK, anchor="middle", bold=True)
        if cell in laid:
            frame = "#d62246" if cell == waiting else "#2a7de1"
            svg.rect(
                x + 2.5,
                y + 2.5,
                side - 5,
                side - 5,
                "none",
                round=0.2 * side,
                stroke=frame,
                stroke_width=3.5,
                dash="6 3" if cell == waiting else None,
            )
            svg.circle(x + 0.18 * side, y + 0.18 * side, 0.17 * side, frame)
            number = laid.index(cell) + 1
            svg.text(x + 0.18 * side, y + 0.18 * side, number, 0.24 * side, "#ffffff", anchor="middle", bold=True)


def _draw_hands(svg: Svg, state: Any, options: Any, over: bool) -> None:
    mover = None if over else int(state["player"])
    width = WIDTH - MARGIN - PANEL
    for seat in range(int(options["num_players"])):
        y = TOP + (HAND_HEIGHT + 4) * seat
        svg.rect(PANEL, y, width, HAND_HEIGHT, "#fbe3a6" if seat == mover else CREAM, round=9)
        draw_seat(svg, PANEL + 19, y + 16, seat, 10)
        svg.text(PANEL + 35, y + 16, f"player_{seat}", 15, bold=seat == mover)
        if seat == state["opener"]:
            svg.text(PANEL + 110, y + 16, "opens the rounds", 12, FADED)
        svg.text(PANEL + width - 12, y + 16, int(state["scores"][seat]), 19, anchor="end", bold=True)
        dice, shown = state["hand_dice"][seat].tolist(), state["hand_faces"][seat].tolist()
        for slot in range(int(hand_size(state["hand_faces"][seat]))):
            x, top = PANEL + 13 + slot * (SIDE + 6), y + 29
            if seat == mover:
                with die_region(svg, slot, FACE_NAMES[shown[slot]], x, top, SIDE):
                    _draw_hand_die(svg, x, top, shown[slot])
            else:
                _draw_hand_die(svg, x, top, shown[slot])
            svg.text(x + SIDE / 2, top + SIDE + 9, f"#{dice[slot] + 1}", 10, FADED, anchor="middle")


def _draw_hand_die(svg: Svg, x: float, y: float, face: int) -> None:
    draw_die_body(svg, x, y, SIDE, "#fff1c9" if face == WILD else PAPER)
    draw_face(svg, x, y, SIDE, face)


def _draw_notes(svg: Svg, state: Any, options: Any) -> None:
    """The bag, the rounds without a die laid, the end of the turn, and the faces that can be declared."""
    bottom, width = BOTTOM, WIDTH - MARGIN - PANEL
    in_hands = sum(int(hand_size(state["hand_faces"][seat])) for seat in range(int(options["num_players"])))
    on_board = int((state["dice"] >= 0).sum())
    words = f"{NUM_DICE - in_hands - on_board} dice in the bag"
    if state["idle_rounds"]:
        words += f", {int(state['idle_rounds'])} of {int(options['max_idle_rounds'])} idle rounds"
    is_declaring = state["phase"] != OVER and is_undeclared(state, options)
    y = bottom - 12 if not is_declaring else bottom - 12 - 104
    svg.text(PANEL, y, words, 14, ON_TABLE, bold=True)
    if is_declaring:
        step = width / 9
        svg.text(PANEL, bottom - 92, "the face of the WILD:", 13, ON_TABLE)
        for face in range(NUM_FACES):
            x, top, side = PANEL + face % 9 * step, bottom - 82 + face // 9 * step, step - 3
            with svg.region(face_name(face), f"declare {FACE_NAMES[face]}", x, top, side, side, 5, PAPER):
                draw_face(svg, x, top, side, face)
    if state["phase"] == PLAY and state["waiting"] == NONE and not is_declaring:
        with svg.region("button-end", "end the turn", PANEL + width - 92, y - 14, 92, 27, 8, "#e9dfc6"):
            svg.text(PANEL + width - 46, y - 0.5, "end the turn", 14, INK, anchor="middle", bold=True)


def draw_face(svg: Svg, x: float, y: float, side: float, face: int) -> None:
    """The symbols of a face, on a die with the upper left corner (``x``, ``y``)."""
    if face == WILD:
        svg.text(x + side / 2, y + side / 2, "WILD", 0.3 * side, INK, anchor="middle", bold=True)
        return
    colour, shape, number = face // 9, face // 3 % 3, face % 3 + 1
    step = 0.28 * side
    for place in range(number):
        middle = x + side / 2 + (place - (number - 1) / 2) * step
        draw_shape(svg, shape, middle, y + side / 2, 0.3 * side, INKS[colour])


def draw_shape(svg: Svg, shape: int, x: float, y: float, size: float, colour: str) -> None:
    """One symbol with the centre (``x``, ``y``); ``size`` is half its height."""
    svg.path(PATHS[shape], colour, move=f"translate({x:.2f} {y:.2f}) scale({0.8 * size:.2f} {size:.2f})")
