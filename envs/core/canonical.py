"""Canonical forms: positions that come to the same for a seat, told as one of them.

Where the rules treat names alike, as those of the characters in Yahtzee Jr., positions that differ in the names alone
have the same future. A game may say which of them stands for all (`Game.canonical`); whoever learns or plays on
canonical forms learns each such position once, and plays its twins alike.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Game, Options


class CanonicalView(NamedTuple):
    """N decisions in canonical form."""

    observations: NDArray[np.float32]  # (N, size) what the seats see there
    masks: NDArray[np.int8]  # (N, num_actions) 1 for each legal action there, one of those that come to the same
    actions: NDArray[np.int64]  # (N, num_actions) which action each is in the position itself

    def names(self, actions: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Actions (N,) taken in the canonical forms, as those in the positions themselves."""
        named: NDArray[np.int64] = self.actions[np.arange(len(actions)), actions]
        return named


def canonical_view(
    game: Game, options: Options, states: NDArray[np.void], seats: NDArray[np.integer[Any]]
) -> CanonicalView:
    """What `seats` (N,) see of the canonical forms of `states` (N,); masks are empty for seats that are not to move."""
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
    """The lengths of an observation and of a mask; kept, since tables of words are made to count them."""
    record = np.frombuffer(options, game.options_dtype)[0]
    return game.layout(record).size, game.num_actions(record)


@cache
def _make_show(game: Game) -> Callable[..., None]:
    standard, observe = game.canonical, game.observe
    current_player, legal_actions = game.rules.current_player, game.rules.legal_actions
    if standard is None:
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
            standard(states[i], options, seats[i], room[0], actions[i])
            masks[i][:] = 0
            if seats[i] == current_player(states[i]):
                legal_actions(room[0], options, masks[i])
                for action in range(masks.shape[1]):
                    masks[i, action] &= actions[i, action] >= 0
            observe(room[0], options, seats[i], observations[i])

    return show
