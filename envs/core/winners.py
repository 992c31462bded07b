"""Who wins: the seats with the most points, and sets of seats."""

from typing import Any

from numpy.typing import NDArray

from fivedice.envs.core.chance import MAX_SEATS
from fivedice.envs.core.kernel import kernel

NO_SEATS = 0  # the empty set; bit s of a set: seat s


@kernel
def mark_highest(seat: int, points: int, highest: int, won: NDArray[Any]) -> int:
    """Write 1 into ``won[seat]`` if no lower seat has more `points`, and 0 for every lower seat that has fewer.

    Call it for each seat in order, seat 0 first, with the return value of the call before as `highest`. ``won`` then
    has a 1 for each seat with the most points.

    Returns:
        The most points of the seats so far.
    """
    if points > highest:
        for lower in range(seat):
            won[lower] = 0
    won[seat] = points >= highest
    return max(points, highest)


@kernel
def with_seat(seats: int, seat: int) -> int:
    """The set `seats` and `seat`."""
    return seats | 1 << seat


@kernel
def has_seat(seats: int, seat: int) -> bool:
    """Whether `seat` is in the set `seats`."""
    return bool((seats >> seat) & 1)


@kernel
def num_seats(seats: int) -> int:
    """How many seats are in the set `seats`."""
    number = 0
    for seat in range(MAX_SEATS):
        number += has_seat(seats, seat)
    return number
