"""What a drawing of a position highlights: the last action, legal places, a choice, and values of actions."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Marks:
    """What to highlight in a drawing. Regions are named as in `Game.action_regions`; unknown names have no effect.

    Args:
        last: the last action in words, such as ``"player_0 keeps 5 5 5"``; it is written under the board.
        changed: the regions that the last action changed; they have a blue frame.
        legal: the regions that may be chosen now; they have a dashed frame.
        chosen: the regions of a choice, such as the dice that a keep holds; they have a thick golden frame.
        values: short texts by region, such as the value of the action; they are written on the corner of the region.
    """

    last: str = ""
    changed: frozenset[str] = frozenset()
    legal: frozenset[str] = frozenset()
    chosen: frozenset[str] = frozenset()
    values: Mapping[str, str] = field(default_factory=dict)


NO_MARKS = Marks()
