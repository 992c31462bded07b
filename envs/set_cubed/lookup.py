"""A table that answers which face makes a SET with two others. `fivedice.envs.set_cubed.faces` has the rule."""

import numpy as np

from fivedice.envs.core.kernel import kernel
from fivedice.envs.set_cubed.faces import NUM_FACES, third_face

THIRD = np.array([[third_face(first, second) for second in range(NUM_FACES)] for first in range(NUM_FACES)], np.int8)


@kernel
def third(first: int, second: int) -> int:
    """`third_face` of two faces from 0 to 26, as an int8 like the faces of the state: comparing int8 is faster."""
    face: int = THIRD[first, second]
    return face
