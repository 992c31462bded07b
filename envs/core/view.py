"""What a policy is, and what it is given: a batch of decisions to be made now."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Game, Options


@dataclass(frozen=True)
class View:
    """N decisions in games with the same options, each to be made by the player to move.

    Every array of a view, and its options record, belongs to the policy that gets the view. The policy may write into
    them without an effect on the games.

    Args:
        game: the game.
        options: the options record, the same for all games.
        states: (N,) records of the game's STATE dtype.
        seats: (N,) int8, the seat of the player who decides.
        observations: (N, size) float32, the observations of these players.
        masks: (N, num_actions) int8, 1 for each legal action.
        uniforms: (N,) float64 in [0, 1), a uniform random number for each decision, from the random stream of its game
            and seat. A policy that samples its actions with these gives the same actions in a batch of any size.
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

    def copy(self) -> "View":
        """The same decisions with arrays of their own."""
        return self.rows(np.arange(len(self)))

    def rows(self, rows: NDArray[np.intp]) -> "View":
        """The view of the decisions with these indices, with arrays of its own."""
        return View(
            self.game,
            self.options.copy(),
            self.states[rows],
            self.seats[rows],
            self.observations[rows],
            self.masks[rows],
            self.uniforms[rows],
        )

    def require_choice(self) -> None:
        """Raise a ValueError if a decision has no legal action."""
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
    """Chooses actions: random, greedy or optimal play, a checkpoint, a person, or any object with these members."""

    name: str

    def act(self, view: View) -> NDArray[np.int64]:
        """A legal action for each of the N decisions of `view`, (N,) int64.

        The same view must always give the same actions: a random policy takes its random numbers from
        ``view.uniforms``.

        Raises:
            ValueError: the policy cannot play this game or these options, or a decision has no legal action.
        """


@runtime_checkable
class ChecksGame(Protocol):
    """A policy that can say, before any game is played, whether it can play a game with some options."""

    def check(self, game: Game, options: Options) -> None:
        """Raise a ValueError if the policy cannot play `game` with `options`."""
