"""The rules of SET Cubed (2007), for one game. The page beside this file tells them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.chance import Chance, draw_one
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.option import OneOf, WholeNumber
from fivedice.envs.set_cubed.board import (
    EDGE,
    EMPTY,
    MOST_LAID,
    NONE,
    OUTSIDE,
    SPAN,
    cell_of,
    column_of,
    is_undeclared,
    new_sets,
    num_laid,
    row_of,
    worth,
)
from fivedice.envs.set_cubed.dice import NUM_DICE, DiceTable
from fivedice.envs.set_cubed.drawing import BoardDrawing, bonus, num_cells, num_columns, num_rows
from fivedice.envs.set_cubed.faces import FACE_NAMES, NUM_FACES, WILD
from fivedice.envs.set_cubed.hand import HAND, hand_size, slots_in_sets, sort_hand, take_die
from fivedice.envs.set_cubed.legal import mark_faces, mark_keeps, mark_lays

MOST_SEATS = 4
KEEP_ALL = (1 << HAND) - 1  # as a set of slots

OPENING, PLAY, EXTRA, OVER = 0, 1, 2, 3  # phases

STATE = np.dtype(
    [
        ("faces", np.int8, (SPAN, SPAN)),  # on the board: face 0..26, WILD until it is declared, EMPTY or OUTSIDE
        ("wild", np.int8, (SPAN, SPAN)),  # 1 where a WILD lies, whatever its face is declared to be
        ("dice", np.int8, (SPAN, SPAN)),  # the number of each die on the board, 0..41, or NONE
        ("hand_dice", np.int8, (MOST_SEATS, HAND)),  # numbers of dice, or NONE; in the order of hand.py
        ("hand_faces", np.int8, (MOST_SEATS, HAND)),  # their upper faces, 0..26 or WILD, or NONE
        ("scores", np.int16, (MOST_SEATS,)),  # points so far
        ("phase", np.int8),  # OPENING, PLAY, EXTRA or OVER
        ("player", np.int8),  # the seat that decides
        ("opener", np.int8),  # the seat that starts every round
        ("laid", np.int16, (MOST_LAID,)),  # the cells of the dice laid in this turn, in order, or NONE
        ("waiting", np.int16),  # the cell of a die laid in this turn that is in no SET yet, or NONE
        ("has_laid", np.int8),  # 1 if anybody has laid a die in this round
        ("idle_rounds", np.int8),  # rounds in a row in which nobody has
    ]
)

# Actions, with n cells: slot * n + cell lays a die, or swaps it for the WILD that lies there; then the faces that a
# WILD is declared to be, the sets of slots that are kept in the EXTRA roll, and the end of the turn.
NUM_KEEPS = KEEP_ALL + 1

# What a script holds, and what transcripts call it: faces, dice drawn from the bag, and who of several opens.
FIRST_DIE = NUM_FACES + 2
FIRST_OPENER = FIRST_DIE + NUM_DICE
SCRIPT_NAMES = (
    *FACE_NAMES,
    *(f"#{number}" for number in range(1, NUM_DICE + 1)),
    *(f"opener_{seat}" for seat in range(MOST_SEATS)),
)

RANDOM, FIRST_SEAT = 0, 1
OPTIONS = (
    DiceTable("dice", "the faces of the 42 dice"),
    BoardDrawing("board", "the cells of the board"),
    OneOf("opener", ("random", "first_seat"), "who of those opens whose dice hold a SET"),
    WholeNumber("max_idle_rounds", 3, 1, 10, "rounds in a row without a die laid that end the game"),
)

FRUITLESS = 100  # throws without a SET in any hand, after which the dice are drawn anew


@kernel
def declare_action(options: Any) -> int:
    """The first of the actions that declare a face."""
    return HAND * num_cells(options)


@kernel
def keep_action(options: Any) -> int:
    """The first of the actions that keep dice."""
    return declare_action(options) + NUM_FACES


@kernel
def end_action(options: Any) -> int:
    """The action that ends the turn, the last one."""
    return keep_action(options) + NUM_KEEPS


@kernel
def setup(state: Any, options: Any, chance: Chance) -> None:
    state["faces"][:] = OUTSIDE
    state["faces"][EDGE : EDGE + num_rows(options), EDGE : EDGE + num_columns(options)] = EMPTY
    state["wild"][:] = 0
    state["dice"][:] = NONE
    state["hand_dice"][:] = NONE
    state["hand_faces"][:] = NONE
    state["scores"][:] = 0
    state["phase"] = OPENING
    state["opener"] = 0
    state["laid"][:] = NONE
    state["waiting"] = NONE
    state["has_laid"] = 0
    state["idle_rounds"] = 0
    refill(state, options, chance)
    throws = 1
    while not anyone_holds_a_set(state, options):
        if throws % FRUITLESS == 0:
            state["hand_dice"][:] = NONE
            state["hand_faces"][:] = NONE
            refill(state, options, chance)
        else:
            throw_all(state, options, chance)
        throws += 1
    state["opener"] = choose_opener(state, options, chance)
    state["player"] = state["opener"]


@kernel
def anyone_holds_a_set(state: Any, options: Any) -> bool:
    """Whether a SET is among the dice of some player."""
    for seat in range(options["num_players"]):
        if slots_in_sets(state["hand_faces"][seat]):
            return True
    return False


@kernel(allocates=True)
def choose_opener(state: Any, options: Any, chance: Chance) -> int:
    """One of those whose dice hold a SET."""
    entries = np.empty(MOST_SEATS, np.int8)
    number = 0
    for seat in range(options["num_players"]):
        if slots_in_sets(state["hand_faces"][seat]):
            entries[number] = FIRST_OPENER + seat
            number += 1
    place = 0
    if number > 1 and options["opener"] == RANDOM:
        place = draw_one(entries[:number], 0, chance)
    return int(entries[place]) - FIRST_OPENER


@kernel(allocates=True)
def refill(state: Any, options: Any, chance: Chance) -> None:
    """From the opener round, each player draws dice up to five, or what is left, and throws the new ones."""
    is_drawn = np.zeros(NUM_DICE, np.bool_)
    for row in range(EDGE, EDGE + num_rows(options)):
        for column in range(EDGE, EDGE + num_columns(options)):
            if state["dice"][row, column] != NONE:
                is_drawn[state["dice"][row, column]] = True
    for seat in range(options["num_players"]):
        for slot in range(HAND):
            if state["hand_dice"][seat, slot] != NONE:
                is_drawn[state["hand_dice"][seat, slot]] = True
    entries = np.empty(NUM_DICE, np.int8)
    for turn in range(options["num_players"]):
        seat = (int(state["opener"]) + turn) % int(options["num_players"])
        dice, shown = state["hand_dice"][seat], state["hand_faces"][seat]
        size = hand_size(shown)
        for slot in range(size, HAND):
            number = 0
            for die in range(NUM_DICE):
                if not is_drawn[die]:
                    entries[number] = FIRST_DIE + die
                    number += 1
            if number > 0:
                die = int(entries[draw_one(entries[:number], seat, chance)]) - FIRST_DIE
                dice[slot] = die
                is_drawn[die] = True
        for slot in range(size, HAND):
            if dice[slot] != NONE:
                shown[slot] = throw_die(int(dice[slot]), seat, options, chance)
        sort_hand(dice, shown)


@kernel
def throw_die(die: int, seat: int, options: Any, chance: Chance) -> int:
    """The upper face of a die that `seat` throws."""
    entries = options["dice"][die]
    return int(entries[draw_one(entries, seat, chance)]) - 1


@kernel
def throw_hand(state: Any, seat: int, keep: int, options: Any, chance: Chance) -> None:
    """Throw the dice of `seat` whose slot is not in `keep`."""
    dice, shown = state["hand_dice"][seat], state["hand_faces"][seat]
    for slot in range(HAND):
        if dice[slot] != NONE and not (keep >> slot) & 1:
            shown[slot] = throw_die(int(dice[slot]), seat, options, chance)
    sort_hand(dice, shown)


@kernel
def throw_all(state: Any, options: Any, chance: Chance) -> None:
    """From the opener round, all throw all their dice."""
    for turn in range(options["num_players"]):
        throw_hand(state, (int(state["opener"]) + turn) % int(options["num_players"]), 0, options, chance)


@kernel
def current_player(state: Any) -> int:
    return int(state["player"])


@kernel
def is_terminal(state: Any, options: Any) -> bool:
    return bool(state["phase"] == OVER)


@kernel
def legal_actions(state: Any, options: Any, mask: NDArray[np.int8]) -> None:
    mask[:] = 0
    if state["phase"] == OVER:
        return
    if state["phase"] == EXTRA:
        mark_keeps(state, mask[keep_action(options) : end_action(options)])
    elif is_undeclared(state, options):
        mark_faces(state, state["phase"] == OPENING, options, mask[declare_action(options) : keep_action(options)])
    else:
        mark_lays(state, state["phase"] == OPENING, options, mask[: declare_action(options)])
        if state["phase"] == PLAY and state["waiting"] == NONE:
            mask[end_action(options)] = 1


@kernel
def apply(state: Any, options: Any, action: int, chance: Chance) -> None:
    if action < declare_action(options):
        slot, cell = action // num_cells(options), action % num_cells(options)
        if state["faces"][row_of(cell, options), column_of(cell, options)] == EMPTY:
            lay(state, options, slot, cell)
        else:
            swap(state, options, slot, cell, chance)
    elif action < keep_action(options):
        declare(state, options, action - declare_action(options))
    elif action < end_action(options):
        extra_roll(state, options, action - keep_action(options), chance)
        return
    player = int(state["player"])
    is_over = num_laid(state) == MOST_LAID or hand_size(state["hand_faces"][player]) == 0  # nothing more can be laid
    if action == end_action(options) or (is_over and not is_undeclared(state, options)):
        end_turn(state, options, chance)


@kernel
def swap(state: Any, options: Any, slot: int, cell: int, chance: Chance) -> None:
    """Put a die in the place of a WILD that it equals, take the WILD's die and throw it."""
    player, row, column = int(state["player"]), row_of(cell, options), column_of(cell, options)
    dice, shown = state["hand_dice"][player], state["hand_faces"][player]
    taken = int(state["dice"][row, column])
    state["dice"][row, column] = dice[slot]
    state["wild"][row, column] = 0
    dice[slot] = taken
    shown[slot] = throw_die(taken, player, options, chance)
    sort_hand(dice, shown)


@kernel
def lay(state: Any, options: Any, slot: int, cell: int) -> None:
    """Put a die on an empty cell; a WILD is declared next."""
    player, row, column = int(state["player"]), row_of(cell, options), column_of(cell, options)
    dice, shown = state["hand_dice"][player], state["hand_faces"][player]
    state["faces"][row, column] = shown[slot]
    state["wild"][row, column] = shown[slot] == WILD
    state["dice"][row, column] = dice[slot]
    take_die(dice, shown, slot)
    state["laid"][num_laid(state)] = cell
    state["has_laid"] = 1
    state["scores"][player] += bonus(options, cell)
    if state["faces"][row, column] != WILD:
        count_sets(state, options, row, column)


@kernel
def declare(state: Any, options: Any, face: int) -> None:
    """Say what the WILD that was just laid is."""
    cell = int(state["laid"][num_laid(state) - 1])
    state["faces"][row_of(cell, options), column_of(cell, options)] = face
    count_sets(state, options, row_of(cell, options), column_of(cell, options))


@kernel
def count_sets(state: Any, options: Any, row: int, column: int) -> None:
    """Score the SETs of the die that was just laid; one that is in none waits for the next."""
    face = int(state["faces"][row, column])
    own = worth(state, row, column, options)
    number, points = new_sets(state, row, column, face, own, options)
    state["scores"][state["player"]] += points
    if state["phase"] == PLAY:
        state["waiting"] = NONE if number > 0 else cell_of(row, column, options)


@kernel
def end_turn(state: Any, options: Any, chance: Chance) -> None:
    state["laid"][:] = NONE
    state["phase"] = PLAY
    following = (int(state["player"]) + 1) % int(options["num_players"])
    if following != state["opener"]:
        state["player"] = following
    else:
        end_round(state, options, chance)


@kernel
def end_round(state: Any, options: Any, chance: Chance) -> None:
    for seat in range(options["num_players"]):
        if hand_size(state["hand_faces"][seat]) == 0:
            state["phase"] = OVER
            return
    if state["has_laid"]:
        state["idle_rounds"] = 0
        refill(state, options, chance)
        state["phase"] = EXTRA
    else:
        state["idle_rounds"] += 1
        if state["idle_rounds"] >= options["max_idle_rounds"]:
            state["phase"] = OVER
            return
        throw_all(state, options, chance)
    state["has_laid"] = 0
    state["player"] = state["opener"]


@kernel
def extra_roll(state: Any, options: Any, keep: int, chance: Chance) -> None:
    """Throw the dice that are not kept; after the last player the next round begins."""
    throw_hand(state, int(state["player"]), keep, options, chance)
    state["player"] = (int(state["player"]) + 1) % int(options["num_players"])
    if state["player"] == state["opener"]:
        state["phase"] = PLAY


@kernel
def scores(state: Any, options: Any, points: NDArray[np.float64]) -> None:
    for seat in range(options["num_players"]):
        points[seat] = state["scores"][seat]


@kernel
def winners(state: Any, options: Any, won: NDArray[np.int8]) -> None:
    most = 0
    for seat in range(options["num_players"]):
        most = max(most, int(state["scores"][seat]))
    for seat in range(options["num_players"]):
        won[seat] = state["scores"][seat] == most
