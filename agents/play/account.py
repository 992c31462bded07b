"""The account of a game: what the moves gave away, and luck and play apart, where the game is solved.

Let V be the value of the game for a seat if everybody plays optimally from now on: its expected final points, or its
chance to win. A choice lowers V by what it gives away, a throw raises or lowers V by luck. At the end V is the result:

    result = V(start) + luck - given away by the own choices + given away by those of the others.

The last term is 0 for points, where the others' choices do not matter. `fivedice.agents.evaluation.variance` uses the
same account over many games.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.play.advice import EQUAL, Adviser, Unit, exact_adviser
from fivedice.agents.play.choices import choices_of
from fivedice.agents.play.session import Move, PlaySession
from fivedice.agents.policies.by_game import exact_solution
from fivedice.agents.policies.protocols import HasActionValues
from fivedice.envs.core.view import View


@dataclass(frozen=True)
class Loss:
    """What one move gave away against the best choice.

    Args:
        move: the move.
        lost: the value that it gave away, at least 0.
        best: the best choice in words; among equals the first.
    """

    move: Move
    lost: float
    best: str


@dataclass(frozen=True)
class SeatAccount:
    """Luck and play of one seat, in the unit of the account.

    Args:
        start: the value before the first throw, under optimal play.
        luck: what the dice were worth.
        lost: what the seat's own choices gave away.
        gained: what the choices of the others gave to it.
        result: the final points, or the share of the win.
    """

    start: float
    luck: float
    lost: float
    gained: float
    result: float


@dataclass(frozen=True)
class Account:
    """Luck and play of a finished game.

    Args:
        unit: expected final points or chance to win.
        seats: the account of each seat.
        losses: the moves that gave something away, the most expensive first.
    """

    unit: Unit
    seats: tuple[SeatAccount, ...]
    losses: tuple[Loss, ...]


def losses(session: PlaySession, moves: list[Move]) -> list[Loss] | None:
    """What some moves of a game gave away; None if the game is not solved."""
    exact = exact_adviser(session.game, session.options)
    if exact is None or not moves:
        return None if exact is None else []
    views = [session.positions[move.number - 1].view for move in moves]
    decisions = [view for view in views if view is not None]
    values = _values(exact, _joined(decisions))
    found = []
    for move, view, worth in zip(moves, decisions, values, strict=True):
        lost = float(worth.max() - worth[move.action])
        found.append(Loss(move, lost if lost > EQUAL else 0.0, best_words(view, worth)))
    return found


def best_words(view: View, values: NDArray[np.float64]) -> str:
    """The best choice in words, of values (num_actions,)."""
    best = values.max() - EQUAL
    return next(choice.words for choice in choices_of(view) if values[choice.action] >= best)


def _values(exact: Adviser, view: View) -> NDArray[np.float64]:
    assert isinstance(exact.policy, HasActionValues)
    return exact.policy.action_values(view)


def _joined(views: list[View]) -> View:
    """Views of one game as one view."""
    return View(
        views[0].game,
        views[0].options,
        np.concatenate([view.states for view in views]),
        np.concatenate([view.seats for view in views]),
        np.concatenate([view.observations for view in views]),
        np.concatenate([view.masks for view in views]),
        np.concatenate([view.uniforms for view in views]),
    )


def account(session: PlaySession) -> Account | None:
    """Luck and play of a finished game; None if the game is not solved.

    Raises:
        ValueError: the game is not over.
    """
    if not session.is_over:
        raise ValueError("the game is not over, so its luck is not known yet")
    exact = exact_adviser(session.game, session.options)
    found = losses(session, session.moves)
    if exact is None or found is None:
        return None
    solution = exact_solution(session.game)
    assert solution is not None
    first = solution.start_value(session.options)
    num_seats, of_points = len(session.seats), exact.unit == "points"
    lost = [sum(loss.lost for loss in found if loss.move.seat == seat) for seat in range(num_seats)]
    seats = []
    for seat in range(num_seats):
        # The chance to win is only known for two seats, and theirs sum to 1.
        start = first if of_points or seat == 0 else 1 - first
        gained = 0.0 if of_points else sum(lost) - lost[seat]
        result = session.position.scores[seat] if of_points else share_of_win(session, seat)
        seats.append(SeatAccount(start, result - start + lost[seat] - gained, lost[seat], gained, result))
    worst = sorted((loss for loss in found if loss.lost), key=lambda loss: -loss.lost)
    return Account(exact.unit, tuple(seats), tuple(worst))


def share_of_win(session: PlaySession, seat: int) -> float:
    """The share of the win of a seat in a finished game."""
    return (seat in session.winners) / len(session.winners)
