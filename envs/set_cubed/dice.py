"""The 42 dice and their faces."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.option import Value
from fivedice.envs.set_cubed.faces import FACE_NAMES, NUM_FACES, WILD

NUM_DICE = 42
SIDES = 6
STANDARD = "standard"


def standard_dice() -> tuple[tuple[int, ...], ...]:
    """The six faces of each die. The rule sheet does not list them, so this project chose them.

    A list repeats the 27 faces in order nine times, and each repetition starts one face later. The 42 dice take turns
    to get the next face of this list. Nine dice get only five faces this way; their sixth is WILD. So each face is on
    nine dice, and never twice on the same die.
    """
    dice: list[list[int]] = [[] for _ in range(NUM_DICE)]
    dealt = ((begin + place) % NUM_FACES for begin in range(9) for place in range(NUM_FACES))
    for die, face in zip(cycle(dice), dealt, strict=False):
        die.append(face)
    return tuple(tuple(die) if len(die) == SIDES else (*die, WILD) for die in dice)


def in_words(dice: Any) -> str:
    """A table of faces as text, in the form that the option accepts."""
    return " / ".join(" ".join(FACE_NAMES[face] for face in die) for die in dice)


ALL_WITH_WILD = in_words([[*((die + 5 * side) % NUM_FACES for side in range(SIDES - 1)), WILD] for die in range(42)])


@dataclass(frozen=True)
class DiceTable:
    """The option that gives the faces of the dice.

    A value is ``"standard"``, a text, or 42 sequences of six names. In a text, ``/`` or a line break separates the
    dice, and spaces separate the names of their six faces. The options record holds the faces as an array (42, 6) of
    int32. They start at 1, as in a script of dice.
    """

    name: str
    meaning: str
    shape = (NUM_DICE, SIDES)
    samples: tuple[Value, ...] = (STANDARD, ALL_WITH_WILD)
    valid = "'standard', or 42 dice of six faces each, as '1RO 2GD 3PS 1GS 2PO WILD / …'"

    def encode(self, value: object) -> NDArray[np.int32]:
        """The faces, (42, 6) int32 from 1 to 28. Raises ValueError if `value` is not a table of 42 dice."""
        if isinstance(value, str) and value == STANDARD:
            return np.array(standard_dice(), np.int32) + 1
        if isinstance(value, str):
            dice = [die.split() for die in value.replace("\n", "/").split("/") if die.strip()]
        elif isinstance(value, Sequence) and all(isinstance(die, Sequence) for die in value):
            dice = [die.split() if isinstance(die, str) else list(die) for die in value]
        else:
            raise ValueError(
                f"{self.name}={value!r:.60} is not possible; use 'standard', a text or 42 rows of six names"
            )
        if len(dice) != NUM_DICE:
            raise ValueError(f"{self.name} lists {len(dice)} dice; the game has {NUM_DICE}")
        for number, die in enumerate(dice, 1):
            if len(die) != SIDES:
                raise ValueError(f"{self.name}: die {number} has {len(die)} faces; a die has {SIDES}")
            for face in die:
                if face not in FACE_NAMES:
                    raise ValueError(
                        f"{self.name}: {face!r} on die {number} is not a face; use 1, 2 or 3, then R, G or P, then O, "
                        "D or S, as in '2RO', or 'WILD'"
                    )
        return np.array([[FACE_NAMES.index(face) + 1 for face in die] for die in dice], np.int32)

    def decode(self, held: Any) -> Value:
        """The table as text, or ``"standard"``."""
        if np.array_equal(held, self.encode(STANDARD)):
            return STANDARD
        return in_words(np.asarray(held) - 1)

    def parse(self, text: str) -> Value:
        """The option from the command line: the text itself."""
        return text


@kernel
def face_on(options: Any, die: int, side: int) -> int:
    """The face on a side (0 to 5) of a die: 0 to 26, or WILD."""
    return int(options["dice"][die, side]) - 1
