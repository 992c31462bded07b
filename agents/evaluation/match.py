"""Matches between policies: seats rotated, the same dice for both sides, every figure with its interval."""

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

LEAST_DEALS = 20  # fewer are too few for a regression
GAMES_AT_ONCE = 4096
Z = 1.959963984540054  # 95 % of a normal distribution lie within this many standard deviations

# Told of decisions while games are played: which policy (its number), in which games (R,), and the view and the
# actions of these R decisions.
Watch = Callable[[int, NDArray[np.int64], View, NDArray[np.int64]], None]


@dataclass(frozen=True)
class Estimate:
    """A mean and half the width of its 95 % interval; NaN where one sample alone does not tell."""

    mean: float
    half_width: float
    count: int

    @classmethod
    def of(cls, samples: NDArray[np.float64]) -> "Estimate":
        """Of independent samples (N,)."""
        count = len(samples)
        half_width = Z * float(samples.std(ddof=1)) / math.sqrt(count) if count > 1 else math.nan
        return cls(float(samples.mean()), half_width, count)

    @classmethod
    def of_shares(cls, samples: NDArray[np.float64]) -> "Estimate":
        """Of independent samples (N,) from 0 to 1.

        Two shares of 0 and two of 1 are added for the spread, so that it is not nothing where all samples are alike
        (after Agresti and Coull, "Approximate is better than 'exact' for interval estimation of binomial proportions",
        The American Statistician 52, 1998).
        """
        spread = float(np.concatenate([samples, [0.0, 0.0, 1.0, 1.0]]).std(ddof=1))
        return cls(float(samples.mean()), Z * spread / math.sqrt(len(samples)), len(samples))

    def count_for(self, half_width: float) -> float:
        """How many samples like these give an interval of that half width; NaN where that is not known."""
        return self.count * (self.half_width / half_width) ** 2


@dataclass(frozen=True)
class Games:
    """Games that were played, one row each.

    Args:
        points: (N, num_players) float64.
        shares: (N, num_players) float64, each seat's share of the win: 1, 1/k where k share it, or 0.
        adjusted: (N, num_players) float64, points with the luck of the dice taken out; None where there are no values.
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
        game: what is played.
        seating: (N, num_players), which of `policies` sits where. Row i plays game ``first_game + i`` of `seed`.
        policies: who sits there.
        seed: of dice and of what is random in policies. No result depends on how games are batched.
        options: the game's options by name.
        values: what takes the luck out of points.
        watch: told of each decision; its games are rows of `seating`.
        progress: told after each batch how many games it had.
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
    """One policy in one seat against another in all others, seats rotated; each figure deal by deal.

    Args:
        points: (2, deals), mean points a game of the first and of the second.
        share: (deals,), the first's share of the wins.
        adjusted: (2, deals), points with the luck of the dice taken out, or None.
    """

    points: NDArray[np.float64]
    share: NDArray[np.float64]
    adjusted: NDArray[np.float64] | None

    def share_without_luck(self) -> NDArray[np.float64] | None:
        """(deals,): the first's share of the wins less what goes with the luck of either side, or None."""
        if self.adjusted is None or len(self.share) < LEAST_DEALS:
            return None
        return without_luck(self.share, (self.points - self.adjusted).T)


def play_match(
    play: Callable[[NDArray[np.int64]], Games], first: int, second: int, *, deals: int, num_players: int
) -> Match:
    """Play each deal of dice once with `first` in each seat and `second` in all others, two numbers in the seating."""
    rotated = []
    for seat in range(num_players):
        seating = np.full((deals, num_players), second)
        seating[:, seat] = first
        rotated.append(play(seating))

    def both(figures: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """The mean of a figure over the first's seats and over the second's, (2, deals)."""
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
    """What the matches say of one contender.

    Args:
        name: as in tables.
        games: how many games of each pairing this comes from.
        points: a game.
        wins: its share of the wins, by the name of the other contender.
        adjusted_points, adjusted_wins: the same with the luck of the dice taken out, where the game is solved.
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
) -> list[Standing]:
    """Every contender against every other, or each alone where the table has one seat or there is one contender.

    All pairings meet the same dice. The win share is that of the contender in one seat with the other in all others;
    at tables of more than two, a fair share is 1 / num_players. The samples that intervals come from are the deals: the
    games with the same dice, from every seat and in every pairing, are one sample.

    Args:
        game, num_players, seed, options: what is played.
        contenders: by the names that tables give them.
        games: of each pairing; as many deals from each seat as make this or a little more.
        values: what takes the luck out of the results, beside the raw ones.
        watch: told of each decision; its policies are numbered as in `contenders`, and its games are the deals.
        progress: told now and then how many more games are played.
    """
    names, policies = list(contenders), list(contenders.values())
    play = partial(
        play_games,
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
            for share, told in ((match.share, wins), (match.share_without_luck(), adjusted_wins)):
                if share is not None:
                    told[first][names[second]] = Estimate.of_shares(share)
                    if num_players == 2:
                        told[second][names[first]] = Estimate.of_shares(1 - share)
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
    """How many deals, each played once from every seat, make this many games or a little more."""
    return -(-games // num_players)


def count_games(contenders: int, *, games: int, num_players: int) -> int:
    """How many games `evaluate` will play, for a progress bar."""
    if num_players == 1 or contenders == 1:
        return games * contenders
    pairs = contenders * (contenders - 1) // (2 if num_players == 2 else 1)
    return pairs * num_players * count_deals(games, num_players)
