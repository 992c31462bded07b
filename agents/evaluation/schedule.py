"""The schedule of a tournament: which contenders play which games, in which seats.

A *table* is a combination of contenders, one for each seat. A *deal* is one dice seed; all tables play the same deals.
Each table plays one game per seat with each deal: its contenders start in one circular order, and move on by one seat
after each game. The circular orders change from deal to deal and occur equally often, and so does every seating order.
All games of one deal together are one sample.
"""

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.evaluation.match import LEAST_DEALS
from fivedice.agents.policies.registry import ROLLOUT, is_imported, read_rollout
from fivedice.agents.policies.zoo import agent_file
from fivedice.envs import load_game
from fivedice.envs.core.fingerprint import sources_of_package
from fivedice.envs.core.option import Value

PART = 20  # deals per part


@dataclass(frozen=True)
class Contender:
    """A policy in a tournament.

    Args:
        label: its name in the results.
        name: its name or file, for `load`.
        digest: see `policy_digest`.
    """

    label: str
    name: str
    digest: str


@dataclass(frozen=True)
class Tournament:
    """The settings of a tournament.

    Args:
        game: the name of the game.
        options: all options of the game, as pairs of name and value.
        num_players: the number of seats, at least 2.
        seed: the random seed for the dice and for stochastic policies.
        games: the number of games for each table. It is rounded up so that every seating order occurs equally often.
        contenders: the policies that take part, at least 2.
        sampled: whether checkpoints sample their actions. If False, they take the most probable action.

    Raises:
        ValueError: there are too few seats, contenders or games, or two contenders are the same policy.
    """

    game: str
    options: tuple[tuple[str, Value], ...]
    num_players: int
    seed: int
    games: int
    contenders: tuple[Contender, ...]
    sampled: bool = False

    def __post_init__(self) -> None:
        if self.num_players < 2:
            raise ValueError("a tournament needs at least 2 players; use fivedice evaluate for games with one player")
        if len(self.contenders) < 2:
            raise ValueError("a tournament needs at least two policies; name them after the game")
        if self.deals < LEAST_DEALS:
            raise ValueError(
                f"games={self.games} gives only {self.deals} dice seed{'s' * (self.deals != 1)}, too few for "
                f"intervals; use at least {LEAST_DEALS * self.num_players} games"
            )
        digests = [contender.digest for contender in self.contenders]
        for place, contender in enumerate(self.contenders):
            if contender.digest in digests[:place]:
                same = self.contenders[digests.index(contender.digest)].label
                raise ValueError(f"{contender.label} is the same policy as {same}; name each policy once")

    @property
    def deals(self) -> int:
        """The number of deals (dice seeds). Each table plays `num_players` games of each deal."""
        every = math.factorial(self.num_players - 1)  # the number of circular orders
        return every * -(-self.games // (every * self.num_players))

    @property
    def tables(self) -> list[tuple[int, ...]]:
        """The combinations of contenders, as tuples of their indices, one for each seat.

        These are all sets of `num_players` different contenders. If there are fewer contenders than seats, they are all
        combinations that contain every contender at least once.
        """
        numbers = range(len(self.contenders))
        if len(self.contenders) >= self.num_players:
            return list(combinations(numbers, self.num_players))
        return [
            tuple(np.repeat(numbers, np.diff([0, *ends, self.num_players])).tolist())
            for ends in combinations(range(1, self.num_players), len(self.contenders) - 1)
        ]

    @property
    def num_games(self) -> int:
        """The number of games of the whole tournament."""
        return len(self.tables) * self.deals * self.num_players

    def parts(self) -> Iterator["Part"]:
        """The parts into which the games are divided."""
        for table in self.tables:
            for start in range(0, self.deals, PART):
                yield Part(table, start, min(self.deals, start + PART))

    def identity(self) -> dict[str, Any]:
        """The settings that all games of a tournament's folder share, as JSON has them."""
        identity: dict[str, Any] = {
            "game": self.game,
            "game_version": load_game(self.game).version,
            "options": dict(self.options),
            "seats": self.num_players,
            "seed": self.seed,
            "sampled": self.sampled,
        }
        found: dict[str, Any] = json.loads(json.dumps(identity))  # JSON turns tuples into lists
        return found

    def key(self, part: "Part") -> str:
        """A digest that changes whenever a game of the part may go differently."""
        said = [self.identity(), [self.contenders[number].digest for number in part.table], part.start]
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Part:
    """The games of one table in the deals from ``start`` to ``stop - 1``."""

    table: tuple[int, ...]
    start: int
    stop: int


def contender(label: str, name: str) -> Contender:
    """A contender with the digest of its policy."""
    return Contender(label, name, policy_digest(name))


def policy_digest(name: str) -> str:
    """A digest that changes whenever the policy with this name may play differently.

    It comes from the file of a checkpoint, from all sources of the package of an imported policy, and from the name and
    the version of this package for other policies.
    """
    if name.split(":")[0] == ROLLOUT:
        base, games, aim = read_rollout(name)
        return f"{ROLLOUT} {metadata.version('fivedice')} {games} {aim} of {policy_digest(base)}"
    if is_imported(name):
        return f"{name} {sources_of_package(name.partition(':')[0].partition('.')[0]).hex()}"
    path = agent_file(name) or Path(name)
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    return f"{name} {metadata.version('fivedice')}"


def seat_order(table: Sequence[int], deal: int, moved: int) -> list[int]:
    """The seating of one game of a deal.

    Args:
        table: the contenders of the game.
        deal: the index of the deal.
        moved: by how many seats everyone has moved on, from 0 to S - 1.

    Returns:
        For each seat, the position in `table` of its contender.
    """
    rounds = orders_round(len(table))
    order = rounds[deal % len(rounds)]
    return [order[(seat + moved) % len(order)] for seat in range(len(order))]


@cache
def orders_round(num_players: int) -> list[tuple[int, ...]]:
    """All circular orders of the players: those that differ in who follows whom."""
    return [(0, *rest) for rest in permutations(range(1, num_players))]


def seating(part: Part) -> NDArray[np.int64]:
    """The index of the contender in each seat, int64 (deals, games per deal, seats)."""
    seats = range(len(part.table))
    orders = [[seat_order(part.table, deal, moved) for moved in seats] for deal in range(part.start, part.stop)]
    seated: NDArray[np.int64] = np.array(part.table, np.int64)[np.array(orders)]
    return seated
