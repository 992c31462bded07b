"""Sets of cards as numbers: bit i is 1 if card i is in the set. This is faster than asking the rules card by card.

The rules import this file, so it cannot use their names. A card below 0 is EMPTY, a target below 0 is CHOOSING.
"""

from typing import Any

from fivedice.envs.core.kernel import kernel

ALL_CARDS = (1 << 12) - 1


@kernel
def has_card(cards: int, card: int) -> bool:
    """Whether a card is in a set of cards."""
    return bool((cards >> card) & 1)


@kernel
def unused_cards(state: Any) -> int:
    """The set of cards for which `is_unused` is true."""
    unused = ALL_CARDS
    for space in range(len(state["card"])):
        if state["card"][space] >= 0:
            unused &= ~(1 << int(state["card"][space]))
    return unused


@kernel
def wanted_cards(state: Any) -> int:
    """The set of cards for which `is_wanted` is true."""
    space = state["target"]
    if space < 0:
        return 0
    if state["card"][space] < 0:
        return unused_cards(state)
    return 1 << int(state["card"][space])
