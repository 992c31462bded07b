"""Five dice: throwing them, properties of a throw, and observation fields. `dice_lookup` has fast versions."""

from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.chance import Chance, roll_dice
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Field

NUM_DICE = 5
SIDES = 6
KEEP_ALL = 31  # the set of all slots; every other set leaves at least one die to throw

Dice = NDArray[np.int8]  # (5,) faces 1..6

# (252, 5): all throws as sorted dice, in the order of their highest die, then of the next lower one, and so on. Tables
# with a row for each throw have this order.
THROWS = np.array(
    sorted(combinations_with_replacement(range(1, SIDES + 1), NUM_DICE), key=lambda faces: faces[::-1]), np.int8
)


@kernel(inline=True)
def throw(dice: Dice, keep: int, seat: int, chance: Chance) -> None:
    """Throw every die whose slot is not in `keep` (bit i: slot i is kept), in slot order, then sort the dice.

    Sorting leaves 252 different throws of the 7776 ordered ones.
    """
    roll_dice(dice, keep, SIDES, seat, chance)
    sort(dice)


@kernel(inline=True)
def sort(dice: Dice) -> None:
    """Put five dice in ascending order."""
    # The nine exchanges of a shortest sorting network for five (Knuth, The Art of Computer Programming 3, 5.3.4).
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
def start_turn(state: Any, player: int, chance: Chance) -> None:
    """Start the turn of `player` with the first of three throws.

    The state has the fields ``player``, ``throws_left`` and ``dice``.
    """
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
    """Whether five sorted dice all show the same face."""
    return bool(dice[0] == dice[4])


@kernel
def is_three_and_two(dice: Dice) -> bool:
    """Whether five sorted dice are three of one face and two of another."""
    low_pair = dice[0] == dice[1] and dice[2] == dice[4]
    high_pair = dice[0] == dice[2] and dice[3] == dice[4]
    return bool((low_pair or high_pair) and dice[0] != dice[4])


@kernel
def name_keeps(dice: Dice, actions: NDArray[np.int64]) -> None:
    """Complete the keep actions of a canonical form (see `Game.canonical`).

    The caller has already written the actions that keep a single die, ``actions[1 << slot]``. If several actions keep
    the same faces, only the one that keeps the first slots of each face gets an action. The others get -1.

    Args:
        dice: (5,) the sorted dice of the canonical form.
        actions: for each action of the canonical form the action of the original position. The first 31 are written.
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


TURN_SIZE = NUM_DICE * SIDES + SIDES + 3  # how many values `turn_fields` have, without `mover`


def turn_fields(num_players: int) -> list[Field]:
    """The observation fields of a turn with five dice: the player to move, the dice, and the throws left."""
    return [
        Field("mover", (num_players,), 0, 1, "1 for the seat to move (own seat first); all 0 once the game is over"),
        Field("dice", (NUM_DICE, SIDES), 0, 1, "the face of each die, ascending, one-hot"),
        Field("dice_counts", (SIDES,), 0, 1, "how many dice show each face / 5"),
        Field("throws_left", (3,), 0, 1, "0, 1 or 2 throws left, one-hot"),
    ]


@kernel
def show_dice(dice: Dice, out: NDArray[np.float32]) -> None:
    """Write the fields `dice` and `dice_counts` into `out`, which is all 0 before."""
    for slot in range(NUM_DICE):
        out[slot * SIDES + int(dice[slot]) - 1] = 1.0
    for face in range(SIDES):
        out[NUM_DICE * SIDES + face] = count(dice, face + 1) / 5.0


@kernel(inline=True)
def seat_after(seat: int, turns: int, num_players: int) -> int:
    """The seat that moves `turns` turns after `seat`; `turns` is at most `num_players`."""
    after = seat + turns
    return after - num_players if after >= num_players else after  # `%` takes ten times as long
