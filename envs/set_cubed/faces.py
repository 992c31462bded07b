"""The 27 faces of SET Cubed, and the rule which three of them are a SET."""

COLOURS = ("red", "green", "purple")
SHAPES = ("oval", "diamond", "squiggle")
NUMBERS = (1, 2, 3)
NUM_FACES = 27  # face = 9 * colour + 3 * shape + number - 1
WILD = 27  # as an upper face; a WILD on the board is declared to be one of the 27 faces


def third_face(first: int, second: int) -> int:
    """The only face that makes a SET with two others: each feature is the same on all three, or different on all three.

    The features are numbers from 0 to 2. If two of them differ, the third one is what is missing from 0 + 1 + 2 = 3.
    """
    third = 0
    for place in (9, 3, 1):  # colour, shape, number
        ours, theirs = first // place % 3, second // place % 3
        third += place * (ours if ours == theirs else 3 - ours - theirs)
    return third


# Number, initial of the colour, initial of the shape: "2RO" is two red ovals.
FACE_NAMES = (
    *(f"{number}{colour[0]}{shape[0]}".upper() for colour in COLOURS for shape in SHAPES for number in NUMBERS),
    "WILD",
)
