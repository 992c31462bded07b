"""A player's dice: their order, and which of them go together.

A hand is two rows of five slots, `dice` (numbers of dice, or NONE) and `shown` (their upper faces, or NONE). The dice
come first, in the order of their upper faces, WILDs last. Dice with the same face are in the order of their numbers.
The free slots come last. A set of slots is a number: bit i is 1 if slot i is in the set.
"""

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.kernel import kernel
from fivedice.envs.set_cubed.board import NONE
from fivedice.envs.set_cubed.faces import WILD
from fivedice.envs.set_cubed.lookup import third

HAND = 5  # slots

Row = NDArray[np.int8]


@kernel
def has_slot(slots: int, slot: int) -> bool:
    """Whether a slot is in a set of slots."""
    return bool((slots >> slot) & 1)


@kernel
def with_slot(slots: int, slot: int) -> int:
    """A set of slots with one more slot."""
    return slots | 1 << slot


@kernel
def hand_size(shown: Row) -> int:
    """How many dice are in a hand."""
    size = 0
    while size < HAND and shown[size] != NONE:
        size += 1
    return size


@kernel
def sort_hand(dice: Row, shown: Row) -> None:
    """Put a hand in order. Before, its dice may be in any slots."""
    for end in range(1, HAND):
        slot = end
        while slot > 0 and belongs_before(dice, shown, slot, slot - 1):
            dice[slot], dice[slot - 1] = dice[slot - 1], dice[slot]
            shown[slot], shown[slot - 1] = shown[slot - 1], shown[slot]
            slot -= 1


@kernel
def belongs_before(dice: Row, shown: Row, slot: int, other: int) -> bool:
    """Whether the content of `slot` comes before the content of `other`."""
    if shown[slot] == NONE or shown[other] == NONE:
        return bool(shown[slot] != NONE)
    if shown[slot] != shown[other]:
        return bool(shown[slot] < shown[other])
    return bool(dice[slot] < dice[other])


@kernel
def take_die(dice: Row, shown: Row, slot: int) -> None:
    """Take a die out of the hand; the dice behind it move up."""
    for behind in range(slot + 1, HAND):
        dice[behind - 1], shown[behind - 1] = dice[behind], shown[behind]
    dice[HAND - 1], shown[HAND - 1] = NONE, NONE


@kernel
def slots_for(shown: Row, face: int) -> int:
    """The set of slots whose die shows this face or is a WILD."""
    slots = 0
    for slot in range(HAND):
        if shown[slot] == face or shown[slot] == WILD:
            slots = with_slot(slots, slot)
    return slots


@kernel
def slots_in_pairs(shown: Row, face: int, without: int) -> int:
    """The set of slots whose dice make a SET with a die of this face and another die of the hand.

    The die in slot `without` does not take part; NONE: all dice take part.
    """
    slots = 0
    for slot in range(HAND):
        if slot != without and shown[slot] != NONE:
            for other in range(slot + 1, HAND):
                if other == without or shown[other] == NONE:
                    continue
                # Sorted hands have their WILDs last: if only one of the two is a WILD, it is the second.
                if shown[other] == WILD or shown[other] == third(face, shown[slot]):
                    slots = with_slot(with_slot(slots, slot), other)
    return slots


@kernel
def slots_in_sets(shown: Row) -> int:
    """The set of slots whose dice are part of a SET of three dice of the hand."""
    slots = 0
    for slot in range(HAND):
        if shown[slot] == WILD:
            if hand_size(shown) >= 3:
                slots = with_slot(slots, slot)
        elif shown[slot] != NONE and slots_in_pairs(shown, int(shown[slot]), slot):
            slots = with_slot(slots, slot)
    return slots
