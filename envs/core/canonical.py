"""Canonical forms: one position that represents a set of equivalent positions.

Some positions differ only in details that do not matter for the rest of the game, such as the names of the characters
in Yahtzee Jr. A game can declare how to map equivalent positions to one of them (`Game.canonical`). A policy that is
trained on canonical forms learns each set of equivalent positions only once.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Game, Options


class CanonicalView(NamedTuple):
    """N decisions in canonical form.

    Attributes:
        observations: (N, size) float32, the observations of the canonical forms.
        masks: (N, num_actions) int8, 1 for each legal action of the canonical forms; of equivalent actions only one.
        actions: (N, num_actions) int64, the action of the original position for each action of the canonical form, or
            -1 if the mask leaves it out as a duplicate.
    """

    observations: NDArray[np.float32]
    masks: NDArray[np.int8]
    actions: NDArray[np.int64]

    def names(self, actions: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Translate actions (N,) of the canonical forms into actions of the original positions, (N,) int64.

        A number that is no action becomes -1.
        """
        in_range = (actions >= 0) & (actions < self.actions.shape[1])
        return np.where(in_range, self.actions[np.arange(len(actions)), np.where(in_range, actions, 0)], -1)


def canonical_view(
    game: Game, options: Options, states: NDArray[np.void], seats: NDArray[np.integer[Any]]
) -> CanonicalView:
    """Compute the canonical forms of N states.

    Args:
        game: a game with canonical forms (``game.canonical`` is not None).
        options: the options record of all the states.
        states: (N,) records of dtype ``game.rules.STATE``.
        seats: (N,) integers, the seat of the player who observes each state. The mask is all 0 if another seat is to
            move.

    Raises:
        ValueError: the game has no canonical form.
    """
    size, num_actions = _sizes(game, options.tobytes())
    shown = CanonicalView(
        np.empty((len(states), size), np.float32),
        np.empty((len(states), num_actions), np.int8),
        np.empty((len(states), num_actions), np.int64),
    )
    room = np.zeros(1, game.rules.STATE)
    _make_show(game)(np.ascontiguousarray(states), options, seats.astype(np.int64), room, *shown)
    return shown


@cache
def _sizes(game: Game, options: bytes) -> tuple[int, int]:
    """The lengths of an observation and of a mask; cached, because counting them builds lists of names."""
    record = np.frombuffer(options, game.options_dtype)[0]
    return game.layout(record).size, game.num_actions(record)


@cache
def _make_show(game: Game) -> Callable[..., None]:
    to_canonical, observe = game.canonical, game.observe
    current_player, legal_actions = game.rules.current_player, game.rules.legal_actions
    if to_canonical is None:
        raise ValueError(f"{game.title} has no canonical form")

    @kernel
    def show(
        states: Any,
        options: Any,
        seats: NDArray[np.int64],
        room: Any,
        observations: NDArray[np.float32],
        masks: NDArray[np.int8],
        actions: NDArray[np.int64],
    ) -> None:
        for i in range(len(states)):
            room[0] = states[i]
            to_canonical(states[i], options, seats[i], room[0], actions[i])
            masks[i][:] = 0
            if seats[i] == current_player(states[i]):
                legal_actions(room[0], options, masks[i])
                for action in range(masks.shape[1]):
                    masks[i, action] &= actions[i, action] >= 0
            observe(room[0], options, seats[i], observations[i])

    return show
