"""Which dice to keep in the EXTRA roll of SET Cubed."""

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.kernel import kernel
from fivedice.envs.set_cubed.board import EDGE, EMPTY, NUM_WINDOWS, WINDOWS
from fivedice.envs.set_cubed.dice import SIDES
from fivedice.envs.set_cubed.drawing import num_columns, num_rows
from fivedice.envs.set_cubed.faces import NUM_FACES, THIRD, WILD
from fivedice.envs.set_cubed.hand import HAND, hand_size
from fivedice.envs.spec import Options, State

SHOWS = NUM_FACES + 1
KEPT = SIDES  # of the ways in which a die can come to its upper face: it is kept, or shows one of its six sides


@kernel
def best_keep(state: State, options: Options) -> int:
    """The set of slots with the highest chance that something can be laid on the board as it is, exactly.

    Of sets that are equally good, the one that keeps the most; then the lowest.
    """
    fits, pairs = np.zeros(SHOWS, np.bool_), np.zeros((SHOWS, SHOWS), np.bool_)
    look_at_board(state, options, fits, pairs)
    player = state["player"]
    dice, shown = state["hand_dice"][player], state["hand_faces"][player]
    size = hand_size(shown)
    chances = np.zeros(1 << size)
    # An odometer with a wheel for each die: it is kept, or shows each of its sides.
    wheels, hand = np.zeros(size, np.int8), np.zeros(size, np.int8)
    while True:
        keep, weight = 0, 1.0
        for slot in range(size):
            if wheels[slot] == KEPT:
                keep |= 1 << slot
                hand[slot] = shown[slot]
            else:
                weight /= SIDES
                hand[slot] = options["dice"][dice[slot], wheels[slot]] - 1
        if can_lay(hand, fits, pairs):
            chances[keep] += weight
        slot = 0
        while slot < size and wheels[slot] == KEPT:
            wheels[slot] = 0
            slot += 1
        if slot == size:
            break
        wheels[slot] += 1
    best = 0
    for keep in range(1 << size):
        if chances[keep] > chances[best] + 1e-9 or (chances[keep] > chances[best] - 1e-9 and more(keep, best)):
            best = keep
    return best


@kernel
def more(keep: int, other: int) -> bool:
    """Whether a set of slots has more of them than another."""
    number = 0
    for slot in range(HAND):
        number += ((keep >> slot) & 1) - ((other >> slot) & 1)
    return number > 0


@kernel
def can_lay(hand: NDArray[np.int8], fits: NDArray[np.bool_], pairs: NDArray[np.bool_]) -> bool:
    """Whether a die of the hand, or two, make a SET on the board."""
    for slot in range(len(hand)):
        if fits[hand[slot]]:
            return True
        for other in range(slot):
            if pairs[hand[other], hand[slot]]:
                return True
    return False


@kernel
def look_at_board(state: State, options: Options, fits: NDArray[np.bool_], pairs: NDArray[np.bool_]) -> None:
    """Write what makes a SET: `fits` (28,) a die that shows this, `pairs` (28, 28) two that show these."""
    faces = state["faces"]
    for row in range(EDGE, EDGE + num_rows(options)):
        for column in range(EDGE, EDGE + num_columns(options)):
            face = int(faces[row, column])
            for window in range(NUM_WINDOWS):
                first = int(faces[row + WINDOWS[window, 0], column + WINDOWS[window, 1]])
                second = int(faces[row + WINDOWS[window, 2], column + WINDOWS[window, 3]])
                if face == EMPTY and first >= 0 and second >= 0:
                    fits[THIRD[first, second]] = True
                    fits[WILD] = True
                elif face >= 0 and first == EMPTY and second == EMPTY:
                    for one in range(NUM_FACES):
                        pairs[one, THIRD[face, one]] = True
                    pairs[WILD, :] = True
                    pairs[:, WILD] = True
