"""The rules of SET Cubed (2007), for one game. The page in this folder explains them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.chance import Chance, draw_one
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.option import OneOf, WholeNumber
from fivedice.envs.set_cubed.actions import declare_action, end_action, keep_action, slot_and_cell
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
    put_die,
    row_of,
    worth,
)
from fivedice.envs.set_cubed.dice import NUM_DICE, DiceTable
from fivedice.envs.set_cubed.drawing import BoardDrawing, bonus, num_columns, num_rows
from fivedice.envs.set_cubed.faces import FACE_NAMES, NUM_FACES, WILD
from fivedice.envs.set_cubed.hand import HAND, hand_size, has_slot, slots_in_sets, sort_hand, take_die
from fivedice.envs.set_cubed.legal import mark_faces, mark_keeps, mark_lays

MOST_SEATS = 4
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
        ("waiting", np.int16),  # the cell of a die laid in this turn that is in no SET yet and needs one, or NONE
        ("has_laid", np.int8),  # 1 if anybody has laid a die in this round
        ("idle_rounds", np.int8),  # rounds in a row in which nobody has
    ]
)

# A script of chance, and a transcript, has entries of three kinds: faces, dice drawn from the bag, and the seat that
# opens.
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

MOST_THROWS = 100  # without a SET in any hand, before all players draw new dice


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
        if throws % MOST_THROWS == 0:
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
    """Whether the dice of at least one player hold a SET."""
    for seat in range(options["num_players"]):
        if slots_in_sets(state["hand_faces"][seat]):
            return True
    return False


@kernel(allocates=True)
def choose_opener(state: Any, options: Any, chance: Chance) -> int:
    """One of the seats whose dice hold a SET."""
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
    """In turn order from the opener, each player draws dice up to five, or what is left, and throws the new dice."""
    is_drawn = np.zeros(NUM_DICE, np.bool_)
    mark_drawn(state, options, is_drawn)
    entries = np.empty(NUM_DICE, np.int8)
    for turn in range(options["num_players"]):
        seat = (int(state["opener"]) + turn) % int(options["num_players"])
        dice, shown = state["hand_dice"][seat], state["hand_faces"][seat]
        size = hand_size(shown)
        for slot in range(size, HAND):
            dice[slot] = draw_die(is_drawn, entries, seat, chance)
        for slot in range(size, HAND):
            if dice[slot] != NONE:
                shown[slot] = throw_die(int(dice[slot]), seat, options, chance)
        sort_hand(dice, shown)


@kernel
def mark_drawn(state: Any, options: Any, is_drawn: NDArray[np.bool_]) -> None:
    """Write True into `is_drawn` (42,), all False before, for each die that is on the board or in a hand."""
    for row in range(EDGE, EDGE + num_rows(options)):
        for column in range(EDGE, EDGE + num_columns(options)):
            if state["dice"][row, column] != NONE:
                is_drawn[state["dice"][row, column]] = True
    for seat in range(options["num_players"]):
        for slot in range(HAND):
            if state["hand_dice"][seat, slot] != NONE:
                is_drawn[state["hand_dice"][seat, slot]] = True


@kernel
def draw_die(is_drawn: NDArray[np.bool_], entries: NDArray[np.int8], seat: int, chance: Chance) -> int:
    """The die that `seat` draws from the bag, or NONE if the bag is empty; `entries` (42,) is scratch memory."""
    number = 0
    for die in range(NUM_DICE):
        if not is_drawn[die]:
            entries[number] = FIRST_DIE + die
            number += 1
    if number == 0:
        return NONE
    drawn = int(entries[draw_one(entries[:number], seat, chance)]) - FIRST_DIE
    is_drawn[drawn] = True
    return drawn


@kernel
def throw_die(die: int, seat: int, options: Any, chance: Chance) -> int:
    """The upper face of a die that `seat` throws."""
    entries = options["dice"][die]
    return int(entries[draw_one(entries, seat, chance)]) - 1


@kernel
def throw_hand(state: Any, seat: int, keep: int, options: Any, chance: Chance) -> None:
    """Throw the dice of `seat` whose slots are not in the set `keep`."""
    dice, shown = state["hand_dice"][seat], state["hand_faces"][seat]
    for slot in range(HAND):
        if dice[slot] != NONE and not has_slot(keep, slot):
            shown[slot] = throw_die(int(dice[slot]), seat, options, chance)
    sort_hand(dice, shown)


@kernel
def throw_all(state: Any, options: Any, chance: Chance) -> None:
    """In turn order from the opener, all players throw all their dice."""
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
    if state["phase"] == EXTRA:
        extra_roll(state, options, action - keep_action(options), chance)
    elif action == end_action(options):
        end_turn(state, options, chance)
    elif is_swap(state, options, action):
        slot, cell = slot_and_cell(options, action)
        swap(state, options, slot, cell, chance)
    else:
        lay_or_declare(state, options, action)
        if is_turn_over(state, options):
            end_turn(state, options, chance)


@kernel
def is_swap(state: Any, options: Any, action: int) -> bool:
    """Whether an action puts a die on a cell that is not empty."""
    cell = slot_and_cell(options, action)[1]
    is_empty = state["faces"][row_of(cell, options), column_of(cell, options)] == EMPTY
    return bool(action < declare_action(options) and not is_empty)


@kernel
def swap(state: Any, options: Any, slot: int, cell: int, chance: Chance) -> None:
    """Put a die in the place of a WILD, take the WILD die and throw it. It scores nothing."""
    player = int(state["player"])
    taken = exchange_dice(state, options, slot, cell)
    state["hand_faces"][player, slot] = throw_die(taken, player, options, chance)
    sort_hand(state["hand_dice"][player], state["hand_faces"][player])


@kernel
def exchange_dice(state: Any, options: Any, slot: int, cell: int) -> int:
    """Exchange a die for a WILD on the board; returns the number of the WILD die, which still has to be thrown."""
    row, column = row_of(cell, options), column_of(cell, options)
    dice, taken = state["hand_dice"][state["player"]], int(state["dice"][row, column])
    state["dice"][row, column] = dice[slot]
    state["wild"][row, column] = 0
    dice[slot] = taken
    return taken


@kernel
def lay_or_declare(state: Any, options: Any, action: int) -> None:
    """Apply an action that lays a die or declares a WILD. The turn does not end here, even if nothing can follow."""
    if action < declare_action(options):
        slot, cell = slot_and_cell(options, action)
        lay(state, options, slot, cell)
    else:
        declare(state, options, action - declare_action(options))


@kernel
def lay(state: Any, options: Any, slot: int, cell: int) -> None:
    """Put a die on an empty cell. If it is a WILD, the player declares its face next."""
    player, row, column = int(state["player"]), row_of(cell, options), column_of(cell, options)
    dice, shown = state["hand_dice"][player], state["hand_faces"][player]
    is_wild = bool(shown[slot] == WILD)
    put_die(state, cell, int(shown[slot]), is_wild, options)
    state["dice"][row, column] = dice[slot]
    take_die(dice, shown, slot)
    state["has_laid"] = 1
    state["scores"][player] += bonus(options, cell)
    if not is_wild:
        count_sets(state, options, row, column)


@kernel
def declare(state: Any, options: Any, face: int) -> None:
    """Give the WILD that was laid last its face."""
    cell = int(state["laid"][num_laid(state) - 1])
    row, column = row_of(cell, options), column_of(cell, options)
    state["faces"][row, column] = face
    count_sets(state, options, row, column)


@kernel
def count_sets(state: Any, options: Any, row: int, column: int) -> None:
    """Score the SETs of the die that was laid last. A die that is in no SET waits for the next die to complete one."""
    face, own = int(state["faces"][row, column]), worth(state, row, column, options)
    number, points = new_sets(state, row, column, face, own, options)
    state["scores"][state["player"]] += points
    if state["phase"] == PLAY:
        state["waiting"] = NONE if number > 0 else cell_of(row, column, options)


@kernel
def is_turn_over(state: Any, options: Any) -> bool:
    """Whether the player can lay nothing more, and has no WILD to declare."""
    can_lay = num_laid(state) < MOST_LAID and hand_size(state["hand_faces"][state["player"]]) > 0
    return not can_lay and not is_undeclared(state, options)


@kernel
def end_turn(state: Any, options: Any, chance: Chance) -> None:
    forget_laid(state)
    state["phase"] = PLAY
    if next_player(state, options) != state["opener"]:
        state["player"] = next_player(state, options)
    else:
        end_round(state, options, chance)


@kernel
def next_player(state: Any, options: Any) -> int:
    """The seat after the player's, clockwise."""
    return (int(state["player"]) + 1) % int(options["num_players"])


@kernel
def forget_laid(state: Any) -> None:
    """After a turn no die counts as laid in this turn, and none waits for a SET."""
    state["laid"][:] = NONE
    state["waiting"] = NONE


@kernel
def has_anyone_run_out(state: Any, options: Any) -> bool:
    """Whether at least one player has no dice. The game then ends with the round."""
    for seat in range(options["num_players"]):
        if hand_size(state["hand_faces"][seat]) == 0:
            return True
    return False


@kernel
def end_round(state: Any, options: Any, chance: Chance) -> None:
    if has_anyone_run_out(state, options):
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
    """Throw the dice that are not kept. After the last player the next round begins."""
    throw_hand(state, int(state["player"]), keep, options, chance)
    state["player"] = next_player(state, options)
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
