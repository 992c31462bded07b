"""A player's dice: their order, and which of them go together.

A hand is two rows of five, `dice` (numbers of dice, or NONE) and `shown` (their upper faces, or NONE). The dice come
first, by upper face, the WILDs last, and by number where faces are alike; then come the free slots.
"""

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.kernel import kernel
from fivedice.envs.set_cubed.board import NONE
from fivedice.envs.set_cubed.faces import THIRD, WILD

HAND = 5  # slots

Row = NDArray[np.int8]


@kernel
def hand_size(shown: Row) -> int:
    """How many dice are in a hand."""
    size = 0
    while size < HAND and shown[size] != NONE:
        size += 1
    return size


@kernel
def sort_hand(dice: Row, shown: Row) -> None:
    """Put a hand in order; dice may stand in any slots before."""
    for end in range(1, HAND):
        slot = end
        while slot > 0 and belongs_before(dice, shown, slot, slot - 1):
            dice[slot], dice[slot - 1] = dice[slot - 1], dice[slot]
            shown[slot], shown[slot - 1] = shown[slot - 1], shown[slot]
            slot -= 1


@kernel
def belongs_before(dice: Row, shown: Row, slot: int, other: int) -> bool:
    """Whether what is in `slot` comes before what is in `other`."""
    if shown[slot] == NONE or shown[other] == NONE:
        return bool(shown[slot] != NONE)
    if shown[slot] != shown[other]:
        return bool(shown[slot] < shown[other])
    return bool(dice[slot] < dice[other])


@kernel
def take_die(dice: Row, shown: Row, slot: int) -> None:
    """Take a die out of the hand; those behind it move up."""
    for behind in range(slot + 1, HAND):
        dice[behind - 1], shown[behind - 1] = dice[behind], shown[behind]
    dice[HAND - 1], shown[HAND - 1] = NONE, NONE


@kernel
def slots_for(shown: Row, face: int) -> int:
    """The slots whose die can be this face, WILDs included, as a set of bits."""
    slots = 0
    for slot in range(HAND):
        if shown[slot] == face or shown[slot] == WILD:
            slots |= 1 << slot
    return slots


@kernel
def slots_in_pairs(shown: Row, face: int, without: int) -> int:
    """The slots of dice that make a SET with a die of this face and one more of the hand, as a set of bits.

    The die in slot `without` (NONE for none of them) does not take part.
    """
    slots = 0
    for slot in range(HAND):
        if slot != without and shown[slot] != NONE:
            for other in range(slot + 1, HAND):
                if other == without or shown[other] == NONE:
                    continue
                # Sorted hands have their WILDs last: if one of the two is a WILD, the second is.
                if shown[other] == WILD or shown[other] == THIRD[face, shown[slot]]:
                    slots |= 1 << slot | 1 << other
    return slots


@kernel
def slots_in_sets(shown: Row) -> int:
    """The slots of dice that are part of a SET in the hand itself, as a set of bits."""
    slots = 0
    for slot in range(HAND):
        if shown[slot] == WILD:
            if hand_size(shown) >= 3:
                slots |= 1 << slot
        elif shown[slot] != NONE and slots_in_pairs(shown, int(shown[slot]), slot):
            slots |= 1 << slot
    return slots
