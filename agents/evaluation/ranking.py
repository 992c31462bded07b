"""What the games of a tournament say: who finishes ahead of whom, in which places, with how many points."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.evaluation.match import Estimate
from fivedice.agents.evaluation.ratings import Ratings, rate
from fivedice.agents.evaluation.tournament import Results, Tournament

ANCHOR = "random"


@dataclass(frozen=True)
class Ranking:
    """Of P contenders at tables of S seats, in the order in which they were named.

    Args:
        names: as in tables.
        ratings: see `agents/evaluation/ratings.py`.
        anchor: the number of the contender whose rating is 0: random play, or the first where that does not play.
        points: a game.
        wins: share of the wins at its tables.
        place: the mean place, from 1; who finish together share the mean of their places.
        places: how often each contender takes each place, S of them.
        pairs: by two numbers, how often the first finishes ahead of the second at one table, together half.
    """

    names: tuple[str, ...]
    ratings: Ratings
    anchor: int
    points: tuple[Estimate, ...]
    wins: tuple[Estimate, ...]
    place: tuple[Estimate, ...]
    places: tuple[tuple[Estimate, ...], ...]
    pairs: dict[tuple[int, int], Estimate]

    @property
    def order(self) -> list[int]:
        """The contenders' numbers, the highest rating first."""
        order: list[int] = np.argsort(-self.ratings.means, kind="stable").tolist()
        return order

    def alike(self, number: int) -> list[str]:
        """Whom a contender's rating is not distinguishable from."""
        others = [other for other in self.order if other != number and not self.ratings.are_apart(number, other)]
        return [self.names[other] for other in others]


def rank(tournament: Tournament, results: Sequence[Results]) -> Ranking:
    """The ranking by these games of a tournament."""
    names = tuple(contender.label for contender in tournament.contenders)
    contenders, seats, deals = len(names), tournament.num_players, tournament.deals
    ahead = np.zeros((deals, contenders, contenders))
    sums = np.zeros((deals, contenders, 3 + seats))  # games, points, wins, how often in each place
    for result in results:
        better = finished_ahead(result.points, result.shares)
        figures = np.concatenate(
            [
                np.ones_like(result.points)[..., None],
                result.points[..., None],
                result.shares[..., None],
                places(better),
            ],
            axis=3,
        )
        deal = np.arange(deals)[:, None, None]
        np.add.at(sums, (np.broadcast_to(deal, result.seated.shape), result.seated), figures)
        one, other = result.seated[..., :, None], result.seated[..., None, :]
        of_two = np.broadcast_to(deal[..., None], better.shape), *np.broadcast_arrays(one, other)
        np.add.at(ahead, of_two, np.where(one != other, better, 0.0))
    means = sums[:, :, 1:] / sums[:, :, :1]
    both = ahead + ahead.transpose(0, 2, 1)
    pairs = {
        (one, other): Estimate.of_shares(ahead[:, one, other] / both[:, one, other])
        for one in range(contenders)
        for other in range(contenders)
        if one != other
    }
    taken = means[:, :, 2:]
    anchor = names.index(ANCHOR) if ANCHOR in names else 0
    return Ranking(
        names,
        rate(ahead, anchor=anchor, seed=tournament.seed),
        anchor,
        tuple(Estimate.of(means[:, number, 0]) for number in range(contenders)),
        tuple(Estimate.of_shares(means[:, number, 1]) for number in range(contenders)),
        tuple(Estimate.of(taken[:, number] @ np.arange(1, seats + 1)) for number in range(contenders)),
        tuple(
            tuple(Estimate.of_shares(taken[:, number, place]) for place in range(seats)) for number in range(contenders)
        ),
        pairs,
    )


def finished_ahead(points: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Which seat finished ahead of which, 1, 0, or 0.5 together, (…, S, S), by points and shares of the win (…, S).

    Winners are ahead of all others, whatever the points; else points decide.
    """
    won = shares > 0
    alike = won[..., :, None] == won[..., None, :]
    more = points[..., :, None] - points[..., None, :]
    ahead: NDArray[np.float64] = np.where(alike, (1 + np.sign(more)) / 2, won[..., :, None])
    return np.where(alike & won[..., :, None], 0.5, ahead)  # winners share the first place


def places(ahead: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much of each place each seat takes, (…, S, S), by who finished ahead of whom; who finish together share."""
    seats = ahead.shape[-1]
    before = (ahead == 0).sum(axis=-1)[..., None]
    together = (ahead == 0.5).sum(axis=-1)[..., None]  # itself, too
    place = np.arange(seats)
    share: NDArray[np.float64] = ((place >= before) & (place < before + together)) / together
    return share
