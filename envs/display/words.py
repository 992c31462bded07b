"""Dice and keep actions in words, the same for every game with five dice and three throws.

A keep action is an integer from 0 to 30. Bit i is set if the die in slot i is kept; the other dice are thrown.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fivedice.envs.core.dice import KEEP_ALL, NUM_DICE

DOTS = ("1", "2", "3", "4", "5", "6")
PICTURES = "⚀⚁⚂⚃⚄⚅"


def keep_names() -> list[str]:
    """The names of the 31 keep actions by slots, such as ``"keep slots 1 2"``, in the order of the actions."""
    names = ["keep none"]
    for keep in range(1, KEEP_ALL):
        slots = [str(slot + 1) for slot in range(NUM_DICE) if keep >> slot & 1]
        names.append(f"keep {'slot' if len(slots) == 1 else 'slots'} {' '.join(slots)}")
    return names


def name_keep(dice: Any, keep: int, faces: Sequence[str] = DOTS) -> str:
    """The name of a keep action by faces, such as ``"keep 5 5 5"``.

    Args:
        dice: (5,) integers from 1, the face of the die in each slot.
        keep: the keep action, an integer from 0 to 30.
        faces: the names of the faces, in order from face 1. Default: ``"1"`` to ``"6"``.
    """
    kept = [faces[int(die) - 1] for slot, die in enumerate(dice) if keep >> slot & 1]
    return f"keep {' '.join(kept) or 'none'}"


def draw_dice(dice: Any, throws_left: int, faces: Sequence[str] | None = None) -> str:
    """A line of text that shows five dice and how many throws are left.

    Args:
        dice: (5,) integers from 1, the face of the die in each slot.
        throws_left: how many times the player may still throw in this turn.
        faces: the names of the faces, in order from face 1. Default: None, dice are shown as ``⚀ 1``.
    """
    shown = [PICTURES[int(die) - 1] + f" {int(die)}" if faces is None else faces[int(die) - 1] for die in dice]
    return f"Dice  {'  '.join(shown)}    {throws_left} {'throw' if throws_left == 1 else 'throws'} left"


def name_winners(winners: Callable[..., None], state: Any, options: Any) -> str:
    """The winners of a finished game, such as ``"player_0 and player_2"``.

    Args:
        winners: the function ``winners`` of the game's rules.
        state: the final state.
        options: the options record.
    """
    won = np.zeros(int(options["num_players"]), np.int8)
    winners(state, options, won)
    return " and ".join(f"player_{seat}" for seat in np.flatnonzero(won))


def print_text(text: str) -> None:
    """Print a text and an empty line. Characters that the output cannot encode are replaced by question marks."""
    try:
        print(text, end="\n\n", flush=True)
    except UnicodeEncodeError:
        encoding = sys.stdout.encoding
        print(text.encode(encoding, errors="replace").decode(encoding), end="\n\n", flush=True)
