"""Matches between policies: rotated seats, the same dice for both policies, 95 % intervals.

A *deal* is one dice seed. A match plays each deal once from every seat, so that no policy has better dice or a better
seat. The games of one deal depend on each other, so all of them together are one sample.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.evaluation.estimate import Estimate
from fivedice.agents.evaluation.variance import regrets, without_luck
from fivedice.agents.policies.protocols import PointValues
from fivedice.agents.policies.registry import load
from fivedice.envs import load_game
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.spec import Game
from fivedice.envs.core.view import ChecksGame, Policy, View

LEAST_DEALS = 20  # a regression needs at least this many
GAMES_AT_ONCE = 4096

# A callback for the decisions of a match. Its arguments are the index of the policy that decides, the indices of the
# games (R,), and the view and the actions (R,) of these R decisions.
Watch = Callable[[int, NDArray[np.int64], View, NDArray[np.int64]], None]


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
            is_kept = values is not None or watch is not None  # then a policy gets a copy, since it may write into it
            deciders = here[rows, view.seats]
            actions = np.empty(len(rows), np.int64)
            for number in np.unique(deciders).tolist():
                asked = np.flatnonzero(deciders == number)
                theirs = view if len(asked) == len(rows) and not is_kept else view.rows(asked)
                actions[asked] = policies[number].act(theirs)
                if watch is not None:
                    watch(number, start + rows[asked], view.rows(asked), actions[asked])
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

    def to_dict(self) -> dict[str, Any]:
        """All results in one flat dict, a row of a table.

        ``pandas.DataFrame([standing.to_dict() for standing in evaluate(…)])`` is the table.

        Returns:
            ``"policy"``, ``"games"``, ``"points"``, ``"wins/NAME"`` for each other contender, and, if the game is
            solved for points, ``"adjusted_points"`` and ``"adjusted_wins/NAME"``. Beside each mean stand half the
            width of its 95 % interval and its ends: ``"points_half_width"``, ``"points_low"``, ``"points_high"``.
        """
        row: dict[str, Any] = {"policy": self.name, "games": self.games}
        estimates = {"points": self.points}
        estimates |= {f"wins/{name}": estimate for name, estimate in self.wins.items()}
        if self.adjusted_points is not None:
            estimates["adjusted_points"] = self.adjusted_points
        estimates |= {f"adjusted_wins/{name}": estimate for name, estimate in self.adjusted_wins.items()}
        for name, estimate in estimates.items():
            row[name], row[f"{name}_half_width"] = estimate.mean, estimate.half_width
            row[f"{name}_low"], row[f"{name}_high"] = estimate.low, estimate.high
        return row


def evaluate(
    game: str | Game,
    contenders: Mapping[str, Policy] | Sequence[str | Path | Policy],
    *,
    games: int = 1000,
    num_players: int | None = None,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    values: PointValues | None = None,
    watch: Watch | None = None,
    progress: Callable[[int], None] = lambda games: None,
    play_all: Callable[..., Games] = play_games,
) -> list[Standing]:
    """Play every contender against every other contender.

    With one seat, each contender plays alone; with one contender, it plays against itself. All pairings use the same
    dice seeds. The win rate belongs to a contender in one seat. The other contender has all other seats, so
    contenders of equal strength win ``1 / num_players`` of the games. The 95 % intervals treat each deal as one sample:
    all games with the same dice seed, from every seat and in every pairing.

    Args:
        game: the game or its name.
        contenders: the policies by the names that tables show; or a list of policies, names and files.
        games: the number of games per pairing. It is rounded up to a multiple of `num_players`. Default: 1000.
        num_players: the number of seats. Default: the game's default number of players.
        seed: the random seed for the dice and for stochastic policies.
        options: the game's options by name; the defaults if None.
        values: exact values (`point_values`). With them, the results include luck-adjusted ones.
        watch: called with each batch of decisions. The policies have the order of `contenders`; the game indices are
            the deals.
        progress: called from time to time with the number of games played since the last call.
        play_all: plays the games of a seating; it takes and returns what `play_games` does.

    Returns:
        One `Standing` for each contender, in the given order.

    Raises:
        ValueError: the game or a policy does not exist, two policies have the same name, or a policy cannot play the
            game.
    """
    game = load_game(game) if isinstance(game, str) else game
    record = game.make_options(num_players, options or {})
    num_players = int(record["num_players"])
    contenders = contenders if isinstance(contenders, Mapping) else _by_name(contenders)
    if not contenders:
        raise ValueError("no policy given; name at least one")
    for policy in contenders.values():
        if isinstance(policy, ChecksGame):
            policy.check(game, record)
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


def _by_name(contenders: Sequence[str | Path | Policy]) -> dict[str, Policy]:
    """Policies by their names, which must differ."""
    if isinstance(contenders, str):
        raise ValueError(f"{contenders!r} is one policy; name policies in a list, [{contenders!r}]")
    policies = [load(one) if isinstance(one, (str, Path)) else one for one in contenders]
    by_name = {policy.name: policy for policy in policies}
    if len(by_name) < len(policies):
        raise ValueError(
            f"policies have the same name ({', '.join(policy.name for policy in policies)}); "
            "give them as a dict, {name: policy}"
        )
    return by_name


def count_deals(games: int, num_players: int) -> int:
    """The least number of deals that gives this many games, if each is played once from every seat."""
    return -(-games // num_players)


def count_games(contenders: int, *, games: int, num_players: int) -> int:
    """The number of games that `evaluate` plays, for a progress bar."""
    if num_players == 1 or contenders == 1:
        return games * contenders
    pairs = contenders * (contenders - 1) // (2 if num_players == 2 else 1)
    return pairs * num_players * count_deals(games, num_players)
