"""Matches between policies: seats rotated, the same dice for both sides, every figure with its interval."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.batch import Batch
from fivedice.envs.spec import Game
from fivedice.envs.view import Policy

GAMES_AT_ONCE = 1024
Z = 1.959963984540054  # 95 % of a normal distribution lie within this many standard deviations


@dataclass(frozen=True)
class Estimate:
    """A mean and half the width of its 95 % interval."""

    mean: float
    half_width: float
    count: int

    @classmethod
    def of(cls, samples: NDArray[np.float64]) -> "Estimate":
        """Of independent samples (N,)."""
        count = len(samples)
        half_width = Z * float(samples.std(ddof=1)) / count**0.5 if count > 1 else float("nan")
        return cls(float(samples.mean()), half_width, count)


@dataclass(frozen=True)
class Games:
    """Games that were played, one row each.

    Args:
        points: (N, num_players) float64.
        shares: (N, num_players) float64, each seat's share of the win: 1, 1/k where k share it, or 0.
    """

    points: NDArray[np.float64]
    shares: NDArray[np.float64]


def play_games(
    game: Game,
    seating: NDArray[np.int64],
    policies: Sequence[Policy],
    *,
    seed: int,
    first_game: int = 0,
    options: dict[str, Any] | None = None,
    progress: Callable[[int], None] = lambda games: None,
) -> Games:
    """Play one game for each row of `seating`.

    Args:
        game: what is played.
        seating: (N, num_players), which of `policies` sits where. Row i plays game ``first_game + i`` of `seed`.
        policies: who sits there.
        seed: of dice and of what is random in policies. No result depends on how games are batched.
        options: the game's options by name.
        progress: told after each batch how many games it had.
    """
    num_games, num_players = seating.shape
    points, shares = np.zeros(seating.shape), np.zeros(seating.shape)
    for start in range(0, num_games, GAMES_AT_ONCE):
        here = seating[start : start + GAMES_AT_ONCE]
        batch = Batch(game, len(here), num_players=num_players, **(options or {}))
        batch.reset(seed, first_game=first_game + start)
        rows = batch.all_rows
        while len(rows):
            deciders = here[rows, batch.movers[rows]]
            actions = np.empty(len(rows), np.int64)
            for number in np.unique(deciders):
                asked = deciders == number
                actions[asked] = policies[number].act(batch.view(rows[asked]))
            batch.step(actions, rows, restart=False)
            rows = rows[~batch.terminated[rows]]
        points[start : start + len(here)], won = batch.results(batch.all_rows)
        shares[start : start + len(here)] = won / won.sum(axis=1, keepdims=True)
        progress(len(here))
    return Games(points, shares)


@dataclass(frozen=True)
class Match:
    """One policy in one seat against another in all others, seats rotated."""

    points: NDArray[np.float64]  # (2, deals): mean points a game of the first and of the second, deal by deal
    share: NDArray[np.float64]  # (deals,): the first's share of the wins


def play_match(
    game: Game,
    pair: tuple[Policy, Policy],
    *,
    games: int,
    num_players: int,
    seed: int,
    options: dict[str, Any] | None = None,
    progress: Callable[[int], None] = lambda games: None,
) -> Match:
    """Play about `games` games: each deal of dice once with the first policy in each seat, the second in all others."""
    deals = max(1, -(-games // num_players))
    points, share = np.zeros((2, deals)), np.zeros(deals)
    for seat in range(num_players):
        seating = np.ones((deals, num_players), np.int64)
        seating[:, seat] = 0
        played = play_games(game, seating, pair, seed=seed, options=options, progress=progress)
        points[0] += played.points[:, seat] / num_players
        if num_players > 1:
            points[1] += np.delete(played.points, seat, axis=1).mean(axis=1) / num_players
        share += played.shares[:, seat] / num_players
    return Match(points, share)


@dataclass(frozen=True)
class Standing:
    """What the matches say of one contender."""

    name: str
    points: Estimate
    wins: dict[str, Estimate]  # against each other contender: its share of the wins


def evaluate(
    game: Game,
    contenders: Mapping[str, Policy],
    *,
    games: int,
    num_players: int,
    seed: int,
    options: dict[str, Any] | None = None,
    progress: Callable[[int], None] = lambda games: None,
) -> list[Standing]:
    """Every contender against every other, or each alone where the table has one seat.

    All pairings meet the same dice. The win share is that of the contender in one seat with the other in all others;
    at tables of more than two, a fair share is 1 / num_players.
    """
    points: dict[str, list[NDArray[np.float64]]] = {name: [] for name in contenders}
    wins: dict[str, dict[str, Estimate]] = {name: {} for name in contenders}
    if num_players == 1 or len(contenders) == 1:
        for name, policy in contenders.items():
            seating = np.zeros((games, num_players), np.int64)
            played = play_games(game, seating, [policy], seed=seed, options=options, progress=progress)
            points[name].append(played.points.mean(axis=1))
    else:
        pairs = combinations if num_players == 2 else permutations
        for pair in pairs(contenders, 2):
            first, second = pair
            match = play_match(
                game,
                (contenders[first], contenders[second]),
                games=games,
                num_players=num_players,
                seed=seed,
                options=options,
                progress=progress,
            )
            for name, samples in zip(pair, match.points, strict=True):
                points[name].append(samples)
            wins[first][second] = Estimate.of(match.share)
            if num_players == 2:
                wins[second][first] = Estimate.of(1 - match.share)
    # The same dice meet a contender in each of its matches, so its samples are the deals, not the games.
    return [Standing(name, Estimate.of(np.mean(points[name], axis=0)), wins[name]) for name in contenders]


def count_games(contenders: int, *, games: int, num_players: int) -> int:
    """How many games `evaluate` will play, for a progress bar."""
    if num_players == 1 or contenders == 1:
        return games * contenders
    pairs = contenders * (contenders - 1) // (2 if num_players == 2 else 1)
    return pairs * num_players * max(1, -(-games // num_players))
