"""Words for five dice."""

from itertools import combinations_with_replacement
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.chance import MAX_SEATS, Chance, roll_dice
from fivedice.envs.core.kernel import kernel, plain
from fivedice.envs.core.spec import Field

NUM_DICE = 5
SIDES = 6
KEEP_ALL = 31  # as a set of slots; every smaller set leaves something to throw

Dice = NDArray[np.int8]  # (5,) faces 1..6

# The 252 throws: sorted dice, those with the lower highest die first. Tables of what a throw gives have a row for each.
THROWS = np.array(
    sorted(combinations_with_replacement(range(1, SIDES + 1), NUM_DICE), key=lambda faces: faces[::-1]), np.int8
)
TOTALS = THROWS.sum(axis=1, dtype=np.uint8)
# How many throws come before one for having this face in this slot: the number of ways to put lower faces there and to
# its left (the combinatorial number system; Knuth, The Art of Computer Programming 4A, 7.2.1.3).
BEFORE = np.array(
    [[comb(max(face - 1, 0) + slot, slot + 1) for face in range(SIDES + 1)] for slot in range(NUM_DICE)], np.uint16
)


@kernel(inline=True)
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


@kernel(inline=True)
def exchange(dice: Dice, left: int, right: int) -> None:
    """Put the smaller of two dice on the left."""
    smaller, larger = min(dice[left], dice[right]), max(dice[left], dice[right])
    dice[left], dice[right] = smaller, larger


@kernel(inline=True)
def throw_number(dice: Dice) -> int:
    """The place of five sorted dice in `THROWS`."""
    number = 0
    for slot in range(NUM_DICE):
        number += int(BEFORE[slot, np.uint8(dice[slot])])  # no index below 0 to look for
    return number


@kernel(inline=True)
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
    """Write for each set of slots in a canonical form (`fivedice.envs.core.canonical`) which set it is in the position.

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


TURN_SIZE = NUM_DICE * SIDES + SIDES + 3  # of `turn_fields`, besides a number for each seat


def turn_fields(num_players: int) -> list[Field]:
    """What every seat sees of a turn of five dice: who is to move, the dice, the throws left."""
    return [
        Field("mover", (num_players,), 0, 1, "1 for the seat to move (own seat first); all 0 once the game is over"),
        Field("dice", (NUM_DICE, SIDES), 0, 1, "the face of each die, ascending, one-hot"),
        Field("dice_counts", (SIDES,), 0, 1, "how many dice show each face, in fifths"),
        Field("throws_left", (3,), 0, 1, "0, 1 or 2 throws left, one-hot"),
    ]


@kernel
def show_dice(dice: Dice, out: NDArray[np.float32]) -> None:
    """Write the fields `dice` and `dice_counts` into the zeros of `out`."""
    for slot in range(NUM_DICE):
        out[slot * SIDES + int(dice[slot]) - 1] = 1.0
    for face in range(SIDES):
        out[NUM_DICE * SIDES + face] = count(dice, face + 1) / 5.0


DICE_SHOWN = np.zeros((len(THROWS), NUM_DICE * SIDES + SIDES), np.float32)
for _dice, _shown in zip(THROWS, DICE_SHOWN, strict=True):
    plain(show_dice)(_dice, _shown)
LEFT_SHOWN = np.eye(3, dtype=np.float32)


@kernel(inline=True)
def seat_after(seat: int, turns: int, num_players: int) -> int:
    """The seat whose turn is so many `turns`, `num_players` at most, after that of `seat`."""
    after = seat + turns
    return after - num_players if after >= num_players else after  # a remainder takes ten times as long


@kernel(inline=True)
def show_mover(state: Any, num_players: int, seat: int, is_over: bool, out: NDArray[np.float32]) -> None:
    """Write the first of `turn_fields` as `seat` sees it into `out`. The state has the field ``player``."""
    for i in range(MAX_SEATS):  # as many zeros at any table, which is quicker; the dice are written over the rest
        out[i] = 0.0
    out[seat_after(int(state["player"]), num_players - seat, num_players)] = not is_over


@kernel(inline=True)
def show_throw(state: Any, number: int, num_players: int, out: NDArray[np.float32]) -> int:
    """Write the others of `turn_fields` into `out`; returns where the next field starts.

    The state has the fields ``dice``, of which `number` is the throw number, and ``throws_left``.
    """
    at, shown = num_players, DICE_SHOWN[number]
    for i in range(DICE_SHOWN.shape[1]):
        out[at + i] = shown[i]
    at += DICE_SHOWN.shape[1]
    shown = LEFT_SHOWN[state["throws_left"]]
    for i in range(3):
        out[at + i] = shown[i]
    return at + 3
