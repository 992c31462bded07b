"""SET Cubed as text: the board, the hands, and the names of actions."""

from typing import Any

from fivedice.envs.display.words import name_winners
from fivedice.envs.set_cubed.actions import NUM_KEEPS, declare_action, end_action, keep_action, slot_and_cell
from fivedice.envs.set_cubed.board import (
    EMPTY,
    MOST_LAID,
    column_of,
    is_laid_now,
    is_undeclared,
    lay_points,
    num_laid,
    points_at,
    row_of,
)
from fivedice.envs.set_cubed.dice import NUM_DICE
from fivedice.envs.set_cubed.drawing import CHARACTERS, num_cells, num_columns, num_rows, printed
from fivedice.envs.set_cubed.faces import FACE_NAMES, NUM_FACES, WILD
from fivedice.envs.set_cubed.hand import HAND, hand_size, has_slot
from fivedice.envs.set_cubed.rules import EXTRA, OPENING, OVER, is_swap, winners

LETTERS = "ABCDEFGHIJKLMNO"


def cell_name(cell: int, options: Any) -> str:
    """The name of a cell: a letter for its column and a number for its row, as in ``F6``."""
    columns = int(num_columns(options))
    return f"{LETTERS[cell % columns]}{cell // columns + 1}"


def action_names(options: Any) -> tuple[str, ...]:
    """A name for each action, with slots for dice. It does not depend on the state."""
    cells = range(int(num_cells(options)))
    keeps = [[str(slot + 1) for slot in range(HAND) if has_slot(keep, slot)] for keep in range(NUM_KEEPS)]
    return (
        *(f"lay slot {slot + 1} on {cell_name(cell, options)}" for slot in range(HAND) for cell in cells),
        *(f"declare {FACE_NAMES[face]}" for face in range(NUM_FACES)),
        *(
            f"keep {'slot' if len(slots) == 1 else 'slots'} {' '.join(slots)}" if slots else "keep none"
            for slots in keeps
        ),
        "end the turn",
    )


def name_die(dice: Any, shown: Any, slot: int) -> str:
    """A die of a hand: its upper face and its number, as in ``2RO#17``."""
    if shown[slot] < 0:
        return f"slot {slot + 1}"
    return f"{FACE_NAMES[int(shown[slot])]}#{int(dice[slot]) + 1}"


def name_action(state: Any, options: Any, action: int) -> str:
    """An action in words: the die, the cell and the points it scores at once; the face; or the dice that are kept."""
    player = int(state["player"])
    dice, shown = state["hand_dice"][player], state["hand_faces"][player]
    if action < declare_action(options):
        slot, cell = (int(number) for number in slot_and_cell(options, action))
        row, column = int(row_of(cell, options)), int(column_of(cell, options))
        named = f"{name_die(dice, shown, slot)} on {cell_name(cell, options)}"
        if is_swap(state, options, action):
            return f"swap {named}"
        if is_undeclared(state, options):  # illegal: its points would depend on the face of the WILD
            return f"lay {named}"
        return f"lay {named}: {int(lay_points(state, row, column, int(shown[slot]), 1, options))}"
    if action < keep_action(options):
        face = action - int(declare_action(options))
        laid = int(num_laid(state))
        if laid == 0:
            return f"declare {FACE_NAMES[face]}"
        cell = int(state["laid"][laid - 1])
        points = int(points_at(state, int(row_of(cell, options)), int(column_of(cell, options)), face, 0, options))
        return f"declare {FACE_NAMES[face]}: {points}"
    if action < end_action(options):
        keep = action - int(keep_action(options))
        kept = [name_die(dice, shown, slot) for slot in range(HAND) if has_slot(keep, slot)]
        return f"keep {' '.join(kept) or 'none'}"
    return "end the turn"


def render(state: Any, options: Any) -> str:
    """The board, the points and the dice of each seat, and what the player has to decide.

    A die laid in this turn is in brackets. ``~`` behind a face marks a WILD that is declared to be this face.
    """
    rows, columns, seats = int(num_rows(options)), int(num_columns(options)), int(options["num_players"])
    lines = ["    " + "".join(f"{LETTERS[column]:^6}" for column in range(columns))]
    for row in range(rows):
        shown = [draw_cell(state, row * columns + column, options) for column in range(columns)]
        lines.append(f"{row + 1:>2}  " + "".join(shown))
    in_hands = 0
    for seat in range(seats):
        dice, shown = state["hand_dice"][seat], state["hand_faces"][seat]
        size = int(hand_size(shown))
        in_hands += size
        hand = "  ".join(name_die(dice, shown, slot) for slot in range(size)) or "no dice"
        mark = "▸" if seat == state["player"] and state["phase"] != OVER else " "
        lines.append(f"{mark} player_{seat}: {int(state['scores'][seat])} points, {hand}")
    left = NUM_DICE - in_hands - int((state["dice"] >= 0).sum())
    lines.append(f"{left} dice in the bag; {in_words(state, options)}")
    return "\n".join(line.rstrip() for line in lines)


def draw_cell(state: Any, cell: int, options: Any) -> str:
    """A cell as six characters."""
    row, column = int(row_of(cell, options)), int(column_of(cell, options))
    face = int(state["faces"][row, column])
    if face == EMPTY:
        return f"{CHARACTERS[printed(options, cell)].replace('.', '·'):^6}"
    name = FACE_NAMES[face] + ("~" if state["wild"][row, column] and face != WILD else "")
    return f"{f'[{name}]' if is_laid_now(state, row, column, options) else name:^6}"


def in_words(state: Any, options: Any) -> str:
    """What the player has to decide, or who has won."""
    if state["phase"] == OVER:
        return f"game over, won by {name_winners(winners, state, options)}"
    if state["phase"] == EXTRA:
        return "EXTRA roll"
    if is_undeclared(state, options):
        return "a WILD to declare"
    if state["phase"] == OPENING:
        return "a SET for the logo"
    if state["waiting"] >= 0:
        return f"now complete the SET with {cell_name(int(state['waiting']), options)}"
    laid = int(num_laid(state))
    return f"{laid} of {MOST_LAID} dice laid" if laid else "swap, lay or end the turn"
