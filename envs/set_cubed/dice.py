"""The 42 dice: which six faces each of them has."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.option import Value
from fivedice.envs.set_cubed.faces import FACE_NAMES, NUM_FACES, WILD

NUM_DICE = 42
SIDES = 6
STANDARD = "standard"


def standard_dice() -> tuple[tuple[int, ...], ...]:
    """The faces of each die, this project's own: the rule sheet does not list them.

    The 27 faces in their order, nine times over and each time beginning one face later, are dealt to the 42 dice one at
    a time. The nine dice that come away with five get a WILD. So each face stands on nine dice, never twice on one.
    """
    dice: list[list[int]] = [[] for _ in range(NUM_DICE)]
    dealt = ((begin + place) % NUM_FACES for begin in range(9) for place in range(NUM_FACES))
    for die, face in zip(cycle(dice), dealt, strict=False):
        die.append(face)
    return tuple(tuple(die) if len(die) == SIDES else (*die, WILD) for die in dice)


def in_words(dice: Any) -> str:
    """A table of faces as the option has it."""
    return " / ".join(" ".join(FACE_NAMES[face] for face in die) for die in dice)


ALL_WITH_WILD = in_words([[*((die + 5 * side) % NUM_FACES for side in range(SIDES - 1)), WILD] for die in range(42)])


@dataclass(frozen=True)
class DiceTable:
    """The option that gives the faces of the dice.

    A value is ``"standard"``; or text, the dice separated by ``/`` or ends of lines and the names of their six faces by
    spaces; or 42 sequences of six names. The options record holds (42, 6) faces, from 1 up as scripts have them.
    """

    name: str
    meaning: str
    shape = (NUM_DICE, SIDES)
    samples: tuple[Value, ...] = (STANDARD, ALL_WITH_WILD)
    valid = "'standard', or 42 dice of six faces each, as '1RO 2GD 3PS 1GS 2PO WILD / …'"

    def encode(self, value: object) -> NDArray[np.int32]:
        """Faces from 1 up, (42, 6)."""
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
                        f"{self.name}: {face!r} on die {number} is no face; use 1, 2 or 3, then R, G or P, then O, D "
                        "or S, as '2RO', or 'WILD'"
                    )
        return np.array([[FACE_NAMES.index(face) + 1 for face in die] for die in dice], np.int32)

    def decode(self, held: Any) -> Value:
        """The table as text, or ``"standard"``."""
        if np.array_equal(held, self.encode(STANDARD)):
            return STANDARD
        return in_words(np.asarray(held) - 1)

    def parse(self, text: str) -> Value:
        """The text itself."""
        return text
