"""The 27 faces of SET Cubed, and which three of them are a SET."""

import numpy as np

COLOURS = ("red", "green", "purple")
SHAPES = ("oval", "diamond", "squiggle")
NUMBERS = (1, 2, 3)
NUM_FACES = 27  # face = 9 * colour + 3 * shape + number - 1
WILD = 27  # the face beside them; a WILD that is laid is declared to be one of the 27


def third_face(first: int, second: int) -> int:
    """The one face that makes a SET with two others: each feature is the same on all three, or different on all."""
    third = 0
    for place in (9, 3, 1):
        ours, theirs = first // place % 3, second // place % 3
        third += place * (ours if ours == theirs else 3 - ours - theirs)
    return third


THIRD = np.array([[third_face(first, second) for second in range(NUM_FACES)] for first in range(NUM_FACES)], np.int8)

# Number, initial of the colour, initial of the shape: "2RO" is two red ovals.
FACE_NAMES = (
    *(f"{number}{colour[0]}{shape[0]}".upper() for colour in COLOURS for shape in SHAPES for number in NUMBERS),
    "WILD",
)
