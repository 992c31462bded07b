"""The ranking of a tournament: ratings, points, win rates, places, and results of each pair."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.evaluation.estimate import Estimate
from fivedice.agents.evaluation.ratings import Ratings, rate
from fivedice.agents.evaluation.schedule import Tournament
from fivedice.agents.evaluation.tournament import Results

ANCHOR = "random"


@dataclass(frozen=True)
class Ranking:
    """The ranking of P contenders in games with S seats. All sequences have the contenders' order in the tournament.

    Args:
        names: the contenders' names in tables.
        ratings: see `agents/evaluation/ratings.py`.
        anchor: the index of the contender whose rating is 0: ``random`` if it takes part, else the first contender.
        points: the mean points per game.
        wins: the win rate, over all games of the contender.
        place: the mean place, where 1 is the best. Players who tie get the mean of their places.
        places: the frequency of each of the S places, for each contender.
        pairs: for two contenders' indices, how often the first finishes ahead of the second in a game with both. A tie
            counts as half.
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
        """The contenders' indices, sorted from the highest rating to the lowest."""
        order: list[int] = np.argsort(-self.ratings.means, kind="stable").tolist()
        return order

    def alike(self, number: int) -> list[str]:
        """The names of the contenders whose ratings do not differ significantly from this contender's."""
        others = [other for other in self.order if other != number and not self.ratings.are_apart(number, other)]
        return [self.names[other] for other in others]

    def groups(self) -> list[list[int]]:
        """The largest groups in which no two ratings differ significantly: the contenders' indices, best first.

        A contender can be in several groups. One that differs from all others is in none.
        """
        order, ratings = self.order, self.ratings
        groups: list[list[int]] = []

        def extend(group: list[int], later: list[int]) -> None:
            joining = [one for one in later if not any(ratings.are_apart(one, member) for member in group)]
            for place, one in enumerate(joining):
                extend([*group, one], joining[place + 1 :])
            if len(group) > 1 and not any(set(group) <= set(larger) for larger in groups):
                groups.append(group)

        extend([], order)
        return groups


def rank(tournament: Tournament, results: Sequence[Results]) -> Ranking:
    """Compute the ranking from the results of all games of a tournament."""
    names = tuple(contender.label for contender in tournament.contenders)
    contenders, seats, deals = len(names), tournament.num_players, tournament.deals
    ahead = np.zeros((deals, contenders, contenders))
    sums = np.zeros((deals, contenders, 3 + seats))  # games, points, wins, count of each place
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
    """Compare the results of all pairs of seats.

    Winners are ahead of all others, whatever their points. Points decide between the others.

    Args:
        points: (…, S), the final scores.
        shares: (…, S), the shares of the win.

    Returns:
        (…, S, S): 1 where the first seat finished ahead of the second, 0.5 where they tied, 0 where it finished behind.
    """
    won = shares > 0
    alike = won[..., :, None] == won[..., None, :]
    more = points[..., :, None] - points[..., None, :]
    ahead: NDArray[np.float64] = np.where(alike, (1 + np.sign(more)) / 2, won[..., :, None])
    return np.where(alike & won[..., :, None], 0.5, ahead)  # several winners tie for first place


def places(ahead: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of each place for each seat, (…, S, S), from `finished_ahead`. Seats that tie share their places."""
    seats = ahead.shape[-1]
    before = (ahead == 0).sum(axis=-1)[..., None]
    together = (ahead == 0.5).sum(axis=-1)[..., None]  # includes the seat itself
    place = np.arange(seats)
    share: NDArray[np.float64] = ((place >= before) & (place < before + together)) / together
    return share
