"""The numbers of the actions.

On a board of n cells, ``slot * n + cell`` lays the die in that slot on that cell, or swaps it for the WILD there. Then
come the 27 faces that a WILD can be declared to be, the 32 sets of slots that the EXTRA roll can keep, and last the end
of the turn.
"""

from typing import Any

from fivedice.envs.core.kernel import kernel
from fivedice.envs.set_cubed.drawing import num_cells
from fivedice.envs.set_cubed.faces import NUM_FACES
from fivedice.envs.set_cubed.hand import HAND

NUM_KEEPS = 1 << HAND


@kernel
def lay_action(options: Any, slot: int, cell: int) -> int:
    """The action that lays, or swaps, the die in a slot on a cell."""
    return slot * num_cells(options) + cell


@kernel
def slot_and_cell(options: Any, action: int) -> tuple[int, int]:
    """The slot and the cell of an action that lays or swaps a die."""
    return action // num_cells(options), action % num_cells(options)


@kernel
def declare_action(options: Any) -> int:
    """The first of the actions that declare a face."""
    return HAND * num_cells(options)


@kernel
def keep_action(options: Any) -> int:
    """The first of the actions that keep dice in the EXTRA roll."""
    return declare_action(options) + NUM_FACES


@kernel
def end_action(options: Any) -> int:
    """The action that ends the turn. It is the last one."""
    return keep_action(options) + NUM_KEEPS
