"""Words for five dice."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.chance import Chance, roll_dice
from fivedice.envs.kernel import kernel
from fivedice.envs.spec import Piece

NUM_DICE = 5
SIDES = 6
KEEP_ALL = 31  # as a set of slots; every smaller set leaves something to throw

Dice = NDArray[np.int8]  # (5,) faces 1..6


@kernel
def throw(dice: Dice, keep: int, seat: int, chance: Chance) -> None:
    """Throw every die whose slot is not in `keep` (bit i: slot i is kept), in slot order, then sort the dice.

    Sorted dice make equal throws look equal: 252 throws instead of 7776.
    """
    roll_dice(dice, keep, SIDES, seat, chance)
    # The nine exchanges of the shortest sorting network for five (Knuth, The Art of Computer Programming 3, 5.3.4).
    exchange(dice, 0, 3)
    exchange(dice, 1, 4)
    exchange(dice, 0, 2)
    exchange(dice, 1, 3)
    exchange(dice, 0, 1)
    exchange(dice, 2, 4)
    exchange(dice, 1, 2)
    exchange(dice, 3, 4)
    exchange(dice, 2, 3)


@kernel
def exchange(dice: Dice, left: int, right: int) -> None:
    """Put the smaller of two dice on the left."""
    smaller, larger = min(dice[left], dice[right]), max(dice[left], dice[right])
    dice[left], dice[right] = smaller, larger


@kernel
def start_turn(state: Any, player: int, chance: Chance) -> None:
    """Give `player` the dice and make the first of three throws; the state has the fields of `show_turn`."""
    state["player"] = player
    state["throws_left"] = 2
    throw(state["dice"], 0, player, chance)


@kernel
def count(dice: Dice, face: int) -> int:
    """How many dice show `face`."""
    number = 0
    for slot in range(NUM_DICE):
        if dice[slot] == face:
            number += 1
    return number


@kernel
def total(dice: Dice) -> int:
    """The sum of the five dice."""
    number = 0
    for slot in range(NUM_DICE):
        number += int(dice[slot])
    return number


@kernel
def is_run(dice: Dice, first: int) -> bool:
    """Whether five sorted dice are `first`, `first` + 1, … `first` + 4."""
    for slot in range(NUM_DICE):
        if dice[slot] != first + slot:
            return False
    return True


@kernel
def is_five_alike(dice: Dice) -> bool:
    """Whether five sorted dice all show one face."""
    return bool(dice[0] == dice[4])


@kernel
def is_three_and_two(dice: Dice) -> bool:
    """Whether five sorted dice are three of one face and two of another."""
    low_pair = dice[0] == dice[1] and dice[2] == dice[4]
    high_pair = dice[0] == dice[2] and dice[3] == dice[4]
    return bool((low_pair or high_pair) and dice[0] != dice[4])


@kernel
def name_keeps(dice: Dice, actions: NDArray[np.int64]) -> None:
    """Write for each set of slots in a standard form (`fivedice.envs.standard`) which set it is in the position.

    The single slots, ``actions[1 << slot]``, are written already. Of the sets that keep the same faces only one is
    named, the one with the first slots of each face; the others become -1.
    """
    actions[0] = 0
    for keep in range(1, KEEP_ALL):
        first = keep & -keep
        if keep != first:
            actions[keep] = actions[first] | actions[keep ^ first]
    for slot in range(1, NUM_DICE):
        if dice[slot] == dice[slot - 1]:
            for keep in range(KEEP_ALL):
                if (keep >> (slot - 1)) & 3 == 2:  # this slot without the one before it
                    actions[keep] = -1


def turn_pieces(num_players: int) -> list[Piece]:
    """What every seat sees of a turn of five dice: who is to move, the dice, the throws left."""
    return [
        Piece("mover", (num_players,), 0, 1, "1 for the seat to move (own seat first); all 0 once the game is over"),
        Piece("dice", (NUM_DICE, SIDES), 0, 1, "the face of each die, ascending, one-hot"),
        Piece("dice_counts", (SIDES,), 0, 1, "how many dice show each face, in fifths"),
        Piece("throws_left", (3,), 0, 1, "0, 1 or 2 throws left, one-hot"),
    ]


@kernel
def show_turn(state: Any, num_players: int, seat: int, is_over: bool, out: NDArray[np.float32]) -> int:
    """Write `turn_pieces` as `seat` sees them into the zeros of `out`; returns where the next piece starts.

    The state has the fields ``dice``, ``throws_left`` and ``player``.
    """
    if not is_over:
        out[(int(state["player"]) - seat + num_players) % num_players] = 1.0
    at = num_players
    dice = state["dice"]
    for slot in range(NUM_DICE):
        out[at + slot * SIDES + int(dice[slot]) - 1] = 1.0
    at += NUM_DICE * SIDES
    for face in range(SIDES):
        out[at + face] = count(dice, face + 1) / 5.0
    at += SIDES
    out[at + int(state["throws_left"])] = 1.0
    return at + 3
