"""What policies are shown, the decisions that wait for them, and what a policy is. Both are batched."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Game, Options


@dataclass(frozen=True)
class View:
    """N decisions of one game, each of the seat to move.

    Args:
        game: the game they are of.
        options: the options record, the same for all.
        states: (N,) records of the game's STATE dtype.
        seats: (N,) int8, who decides.
        observations: (N, size) float32, what those seats see.
        masks: (N, num_actions) int8, 1 for each legal action.
        uniforms: (N,) float64 in [0, 1), a random number for each decision that belongs to that game and seat. A policy
            that draws its actions from these gives the same actions whatever other games share its batch.
    """

    game: Game
    options: Options
    states: NDArray[np.void]
    seats: NDArray[np.int8]
    observations: NDArray[np.float32]
    masks: NDArray[np.int8]
    uniforms: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.seats)

    def rows(self, rows: NDArray[np.intp]) -> "View":
        """The view of some of the decisions."""
        return View(
            self.game,
            self.options,
            self.states[rows],
            self.seats[rows],
            self.observations[rows],
            self.masks[rows],
            self.uniforms[rows],
        )

    def require_choice(self) -> None:
        """Refuse a decision without a legal action."""
        row = find_empty(self.masks)
        if row >= 0:
            raise ValueError(f"decision {row} has no legal action: its game is over, or another seat is to move")


@kernel
def find_empty(masks: NDArray[np.int8]) -> int:
    """The first row of `masks` (N, num_actions) that is all 0, or -1."""
    for row in range(len(masks)):
        if not masks[row].any():
            return row
    return -1


@runtime_checkable
class Policy(Protocol):
    """Whoever decides: random, greedy, exact, a checkpoint or a person, in training, matches and play alike."""

    name: str

    def act(self, view: View) -> NDArray[np.int64]:
        """A legal action for each of the N decisions of `view`, (N,) int64.

        The same view always gives the same actions: what is random in a policy comes from ``view.uniforms``.

        Raises:
            ValueError: the policy cannot play this game, or not with these options or seats, or a decision has no
                legal action.
        """
