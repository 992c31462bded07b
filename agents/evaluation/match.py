"""Matches between policies: rotated seats, the same dice for both policies, 95 % intervals.

A *deal* is one dice seed. A match plays each deal once from every seat, so that no policy has better dice or a better
seat. The games of one deal depend on each other, so all of them together are one sample.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.evaluation.variance import regrets, without_luck
from fivedice.agents.policies.protocols import PointValues
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.spec import Game
from fivedice.envs.core.view import Policy, View

LEAST_DEALS = 20  # a regression needs at least this many
GAMES_AT_ONCE = 4096
Z = 1.959963984540054  # the 97.5 % quantile of the standard normal distribution, for 95 % intervals

# A callback for the decisions of a match. Its arguments are the index of the policy that decides, the indices of the
# games (R,), and the view and the actions (R,) of these R decisions.
Watch = Callable[[int, NDArray[np.int64], View, NDArray[np.int64]], None]


@dataclass(frozen=True)
class Estimate:
    """A mean and half the width of its 95 % interval, which is NaN if there is only one sample."""

    mean: float
    half_width: float
    count: int

    @classmethod
    def of(cls, samples: NDArray[np.float64]) -> "Estimate":
        """The mean of independent samples (N,)."""
        count = len(samples)
        half_width = Z * float(samples.std(ddof=1)) / math.sqrt(count) if count > 1 else math.nan
        return cls(float(samples.mean()), half_width, count)

    @classmethod
    def of_shares(cls, samples: NDArray[np.float64]) -> "Estimate":
        """The mean of independent samples (N,) between 0 and 1.

        The standard deviation includes two more samples of 0 and two of 1, so that the interval has a width above 0
        even if all samples are equal (after Agresti and Coull, "Approximate is better than 'exact' for interval
        estimation of binomial proportions", The American Statistician 52, 1998).
        """
        spread = float(np.concatenate([samples, [0.0, 0.0, 1.0, 1.0]]).std(ddof=1))
        return cls(float(samples.mean()), Z * spread / math.sqrt(len(samples)), len(samples))

    def count_for(self, half_width: float) -> float:
        """The number of such samples that an interval of this half width needs; NaN if it is unknown."""
        return self.count * (self.half_width / half_width) ** 2


@dataclass(frozen=True)
class Games:
    """The results of N games, one row for each.

    Args:
        points: float64 (N, num_players), the final scores.
        shares: float64 (N, num_players), each seat's share of the win: 1 for the winner, 1/k if k players tie, else 0.
        adjusted: float64 (N, num_players), luck-adjusted points; None if the game has no exact values.
    """

    points: NDArray[np.float64]
    shares: NDArray[np.float64]
    adjusted: NDArray[np.float64] | None


def play_games(
    game: Game,
    seating: NDArray[np.int64],
    policies: Sequence[Policy],
    *,
    seed: int,
    first_game: int = 0,
    options: Mapping[str, Any] | None = None,
    values: PointValues | None = None,
    watch: Watch | None = None,
    progress: Callable[[int], None] = lambda games: None,
) -> Games:
    """Play one game for each row of `seating`.

    Args:
        game: the game.
        seating: int64 (N, num_players), the index in `policies` of the policy in each seat. Row i plays game
            ``first_game + i`` of `seed`.
        policies: the policies that `seating` refers to.
        seed: the random seed for the dice and for stochastic policies. Results do not depend on the batch size.
        first_game: the index of the first game among the games of `seed`.
        options: the game's options by name.
        values: exact values, for luck-adjusted points; or None.
        watch: called with each batch of decisions; its game indices are rows of `seating`.
        progress: called after each batch with its number of games.
    """
    num_games, num_players = seating.shape
    points, shares, given_away = np.zeros(seating.shape), np.zeros(seating.shape), np.zeros(seating.shape)
    for start in range(0, num_games, GAMES_AT_ONCE):
        here = seating[start : start + GAMES_AT_ONCE]
        batch = Batch(game, len(here), num_players=num_players, **(options or {}))
        batch.reset(seed, first_game=first_game + start)
        rows = batch.all_rows
        while len(rows):
            view = batch.view(rows)
            deciders = here[rows, view.seats]
            actions = np.empty(len(rows), np.int64)
            for number in np.unique(deciders).tolist():
                asked = np.flatnonzero(deciders == number)
                theirs = view if len(asked) == len(rows) else view.rows(asked)
                actions[asked] = policies[number].act(theirs)
                if watch is not None:
                    watch(number, start + rows[asked], theirs, actions[asked])
            if values is not None:
                given_away[start + rows, view.seats] += regrets(values, view, actions)
            batch.step(actions, rows, restart=False)
            rows = rows[~batch.over[rows]]
        points[start : start + len(here)], won = batch.results(batch.all_rows)
        shares[start : start + len(here)] = won / won.sum(axis=1, keepdims=True)
        progress(len(here))
    return Games(points, shares, None if values is None else values.start - given_away)


@dataclass(frozen=True)
class Match:
    """The results of a match: policy A in one seat against policy B in all others, in every seat in turn.

    Args:
        points: (2, deals), the mean points per game of A and of B.
        share: (deals,), the win rate of A.
        adjusted: (2, deals), luck-adjusted points, or None.
    """

    points: NDArray[np.float64]
    share: NDArray[np.float64]
    adjusted: NDArray[np.float64] | None

    def share_without_luck(self) -> NDArray[np.float64] | None:
        """The luck-adjusted win rate of A, (deals,); None without exact values or with too few deals."""
        if self.adjusted is None or len(self.share) < LEAST_DEALS:
            return None
        return without_luck(self.share, (self.points - self.adjusted).T)


def play_match(
    play: Callable[[NDArray[np.int64]], Games], first: int, second: int, *, deals: int, num_players: int
) -> Match:
    """Play each deal once with policy `first` in each seat and policy `second` in all others.

    Args:
        play: plays one game for each row of a seating, as `play_games` does.
        first, second: indices of two policies.
        deals: the number of deals.
        num_players: the number of seats, at least 2.
    """
    rotated = []
    for seat in range(num_players):
        seating = np.full((deals, num_players), second)
        seating[:, seat] = first
        rotated.append(play(seating))

    def both(figures: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """The mean over the seats of `first` and over the seats of `second`, (2, deals)."""
        own = np.stack([figure[:, seat] for seat, figure in enumerate(figures)])
        others = (np.stack(figures).sum(axis=2) - own) / (num_players - 1)
        return np.stack([own.mean(axis=0), others.mean(axis=0)])

    adjusted = [games.adjusted for games in rotated if games.adjusted is not None]
    return Match(
        both([games.points for games in rotated]),
        np.mean([games.shares[:, seat] for seat, games in enumerate(rotated)], axis=0),
        both(adjusted) if adjusted else None,
    )


@dataclass(frozen=True)
class Standing:
    """The results of one contender.

    Args:
        name: the contender's name in tables.
        games: the number of games per pairing.
        points: the mean points per game.
        wins: the win rate against each other contender, by name.
        adjusted_points: luck-adjusted points; None if the game is not solved for points.
        adjusted_wins: luck-adjusted win rates; empty if the game is not solved for points.
    """

    name: str
    games: int
    points: Estimate
    wins: dict[str, Estimate] = field(default_factory=dict)
    adjusted_points: Estimate | None = None
    adjusted_wins: dict[str, Estimate] = field(default_factory=dict)


def evaluate(
    game: Game,
    contenders: Mapping[str, Policy],
    *,
    games: int,
    num_players: int,
    seed: int,
    options: Mapping[str, Any] | None = None,
    values: PointValues | None = None,
    watch: Watch | None = None,
    progress: Callable[[int], None] = lambda games: None,
    play_all: Callable[..., Games] = play_games,
) -> list[Standing]:
    """Play every contender against every other contender.

    With one seat, each contender plays alone; with one contender, it plays against itself. All pairings use the same
    dice seeds. The win rate is that of a contender in one seat while the other contender has all other seats, so
    contenders of equal strength win ``1 / num_players`` of the games. The 95 % intervals treat each deal as one sample:
    all games with the same dice seed, from every seat and in every pairing.

    Args:
        game: the game.
        contenders: the policies by the names that tables show.
        games: the number of games per pairing. It is rounded up to a multiple of `num_players`.
        num_players: the number of seats.
        seed: the random seed for the dice and for stochastic policies.
        options: the game's options by name; the defaults if None.
        values: exact values (`point_values`). With them, the results include luck-adjusted ones.
        watch: called with each batch of decisions. The policies have the order of `contenders`; the game indices are
            the deals.
        progress: called from time to time with the number of games played since the last call.
        play_all: plays the games of a seating; it takes and returns what `play_games` does.

    Returns:
        One `Standing` for each contender, in the given order.
    """
    names, policies = list(contenders), list(contenders.values())
    play = partial(
        play_all,
        game,
        policies=policies,
        seed=seed,
        options=options,
        values=values,
        watch=watch,
        progress=progress,
    )
    points: list[list[NDArray[np.float64]]] = [[] for _ in names]
    adjusted: list[list[NDArray[np.float64]]] = [[] for _ in names]
    wins: list[dict[str, Estimate]] = [{} for _ in names]
    adjusted_wins: list[dict[str, Estimate]] = [{} for _ in names]
    if num_players == 1 or len(names) == 1:
        for number in range(len(names)):
            played = play(np.full((games, num_players), number))
            points[number].append(played.points.mean(axis=1))
            if played.adjusted is not None:
                adjusted[number].append(played.adjusted.mean(axis=1))
    else:
        deals = count_deals(games, num_players)
        games = deals * num_players
        pairs = combinations if num_players == 2 else permutations
        for first, second in pairs(range(len(names)), 2):
            match = play_match(play, first, second, deals=deals, num_players=num_players)
            for side, number in enumerate((first, second)):
                points[number].append(match.points[side])
                if match.adjusted is not None:
                    adjusted[number].append(match.adjusted[side])
            for share, rates in ((match.share, wins), (match.share_without_luck(), adjusted_wins)):
                if share is not None:
                    rates[first][names[second]] = Estimate.of_shares(share)
                    if num_players == 2:
                        rates[second][names[first]] = Estimate.of_shares(1 - share)
    return [
        Standing(
            name,
            games,
            Estimate.of(np.mean(points[number], axis=0)),
            wins[number],
            Estimate.of(np.mean(adjusted[number], axis=0)) if adjusted[number] else None,
            adjusted_wins[number],
        )
        for number, name in enumerate(names)
    ]


def count_deals(games: int, num_players: int) -> int:
    """The least number of deals that gives this many games, if each is played once from every seat."""
    return -(-games // num_players)


def count_games(contenders: int, *, games: int, num_players: int) -> int:
    """The number of games that `evaluate` plays, for a progress bar."""
    if num_players == 1 or contenders == 1:
        return games * contenders
    pairs = contenders * (contenders - 1) // (2 if num_players == 2 else 1)
    return pairs * num_players * count_deals(games, num_players)
