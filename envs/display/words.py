"""Words for people: dice, and the choice of which to keep, alike in every game with five dice and three throws.

Action ``keep``, from 0 to 30, is a set of slots, bit i for slot i: those dice stay, the others are thrown.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fivedice.envs.core.dice import KEEP_ALL, NUM_DICE

DOTS = ("1", "2", "3", "4", "5", "6")
PICTURES = "⚀⚁⚂⚃⚄⚅"


def keep_names() -> list[str]:
    """Each of the 31 actions that keep dice, by slot."""
    names = ["keep none"]
    for keep in range(1, KEEP_ALL):
        slots = [str(slot + 1) for slot in range(NUM_DICE) if keep >> slot & 1]
        names.append(f"keep {'slot' if len(slots) == 1 else 'slots'} {' '.join(slots)}")
    return names


def name_keep(dice: Any, keep: int, faces: Sequence[str] = DOTS) -> str:
    """An action that keeps dice, by the faces that it keeps."""
    kept = [faces[int(die) - 1] for slot, die in enumerate(dice) if keep >> slot & 1]
    return f"keep {' '.join(kept) or 'none'}"


def draw_dice(dice: Any, throws_left: int, faces: Sequence[str] | None = None) -> str:
    """A line that shows five dice, as ``⚀ 1`` or by the names of their faces, and how often they may be thrown."""
    shown = [PICTURES[int(die) - 1] + f" {int(die)}" if faces is None else faces[int(die) - 1] for die in dice]
    return f"Dice  {'  '.join(shown)}    {throws_left} {'throw' if throws_left == 1 else 'throws'} left"


def name_winners(winners: Callable[..., None], state: Any, options: Any) -> str:
    """Those who share the win of a game that is over, as ``player_0 and player_2``; `winners` is the game's verb."""
    won = np.zeros(int(options["num_players"]), np.int8)
    winners(state, options, won)
    return " and ".join(f"player_{seat}" for seat in np.flatnonzero(won))
