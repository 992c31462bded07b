"""A tournament: every table that contenders can make, every seat order, the same dice for all, by several processes.

Each deal of dice is played at every table once from every seat: a table's contenders sit down in one order round the
table and move on by one seat from game to game. The orders round the table take turns from deal to deal, and there are
as many deals of each, so that every seat order is played equally often. A deal, with all its games, is one sample.

The games are played in parts of `PART` deals of one table, always the same whatever the number of processes, and each
part is a file that is written whole or not at all. Its name is a digest of all that the games depend on, so that a
tournament that was stopped goes on, one with more games or more contenders keeps what it has, and the games of a
contender that has changed are played anew.
"""

import hashlib
import json
import math
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache, partial
from importlib import metadata
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from threadpoolctl import threadpool_limits

from fivedice.agents.evaluation.match import LEAST_DEALS, Games, play_games
from fivedice.agents.policies.files import digest, refuse_file, write_whole
from fivedice.agents.policies.registry import ROLLOUT, load, read_rollout
from fivedice.envs import load_game
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.option import Value
from fivedice.envs.core.view import Policy

PART = 20  # deals in a part
SETTINGS = "settings.json"  # in a tournament's folder: what is played there, and by whom


@dataclass(frozen=True)
class Contender:
    """One policy: what tables call it, how `load` knows it, and what changes when it plays differently."""

    label: str
    name: str
    digest: str


@dataclass(frozen=True)
class Tournament:
    """What is played.

    Args:
        game: its name.
        options: the game's options with their names, all of them.
        num_players: seats at each table.
        seed: of dice and of what is random in policies.
        games: of each table; as many deals as make this or a little more, every seat order equally often.
        contenders: who plays.
        sampled: whether checkpoints draw from their probabilities.
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
            raise ValueError("a tournament needs two seats or more; compare policies alone by fivedice evaluate")
        if len(self.contenders) < 2:
            raise ValueError("a tournament needs two contenders or more; name them after the game")
        if self.deals < LEAST_DEALS:
            raise ValueError(
                f"games={self.games} make {self.deals} deal{'s' * (self.deals != 1)} of dice, too few for intervals; "
                f"use {LEAST_DEALS * self.num_players} or more"
            )
        digests = [contender.digest for contender in self.contenders]
        for place, contender in enumerate(self.contenders):
            if contender.digest in digests[:place]:
                same = self.contenders[digests.index(contender.digest)].label
                raise ValueError(f"{contender.label} plays as {same} does; name each policy once")

    @property
    def deals(self) -> int:
        """How many deals of dice: each table plays one game of each from every seat."""
        every = math.factorial(self.num_players - 1)
        return every * -(-self.games // (every * self.num_players))

    @property
    def tables(self) -> list[tuple[int, ...]]:
        """Who sits together, by their numbers: all sets of as many contenders as there are seats or, where they are
        fewer, all ways to fill the seats with each of them at least once."""
        numbers = range(len(self.contenders))
        if len(self.contenders) >= self.num_players:
            return list(combinations(numbers, self.num_players))
        return [
            tuple(np.repeat(numbers, np.diff([0, *ends, self.num_players])).tolist())
            for ends in combinations(range(1, self.num_players), len(self.contenders) - 1)
        ]

    @property
    def num_games(self) -> int:
        """Of the whole tournament."""
        return len(self.tables) * self.deals * self.num_players

    def parts(self) -> Iterator["Part"]:
        """The fields of work."""
        for table in self.tables:
            for start in range(0, self.deals, PART):
                yield Part(table, start, min(self.deals, start + PART))

    def identity(self) -> dict[str, Any]:
        """What the games of a folder have in common."""
        identity: dict[str, Any] = {
            "game": self.game,
            "game_version": load_game(self.game).version,
            "options": dict(self.options),
            "seats": self.num_players,
            "seed": self.seed,
            "sampled": self.sampled,
        }
        found: dict[str, Any] = json.loads(json.dumps(identity))  # as a file holds it: JSON has no tuples
        return found

    def key(self, part: "Part") -> str:
        """Changes whenever a game of the part might go differently."""
        said = [self.identity(), [self.contenders[number].digest for number in part.table], part.start]
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Part:
    """Deals ``start`` to ``stop`` - 1 at one table."""

    table: tuple[int, ...]
    start: int
    stop: int


def contender(label: str, name: str) -> Contender:
    """A contender with the digest of all that its play comes from: its file, or this version's name for it."""
    return Contender(label, name, policy_digest(name))


def policy_digest(name: str) -> str:
    """Changes whenever the policy of this name may play differently."""
    if name.split(":")[0] == ROLLOUT:
        base, games, aim = read_rollout(name)
        return f"{ROLLOUT} {metadata.version('fivedice')} {games} {aim} of {policy_digest(base)}"
    path = Path(name)
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    return f"{name} {metadata.version('fivedice')}"


def seat_order(table: Sequence[int], deal: int, moved: int) -> list[int]:
    """The place in `table` of who sits in each seat in one game of a deal, when all have moved on by so many seats."""
    rounds = orders_round(len(table))
    order = rounds[deal % len(rounds)]
    return [order[(seat + moved) % len(order)] for seat in range(len(order))]


@cache
def orders_round(num_players: int) -> list[tuple[int, ...]]:
    """All orders round a table that differ in who follows whom."""
    return [(0, *rest) for rest in permutations(range(1, num_players))]


@dataclass(frozen=True)
class Results:
    """The games of one table.

    Args:
        table: who sat there.
        seated: (D, S, S) which contender sat in each seat, for each deal and each of its games.
        points, shares: (D, S, S), of these seats.
    """

    table: tuple[int, ...]
    seated: NDArray[np.int64]
    points: NDArray[np.float64]
    shares: NDArray[np.float64]


def seating(part: Part) -> NDArray[np.int64]:
    """Which contender sits where, (deals, games of each, seats)."""
    seats = range(len(part.table))
    orders = [[seat_order(part.table, deal, moved) for moved in seats] for deal in range(part.start, part.stop)]
    seated: NDArray[np.int64] = np.array(part.table, np.int64)[np.array(orders)]
    return seated


def play_part(tournament: Tournament, part: Part, policies: Sequence[Policy]) -> tuple[NDArray[np.float64], ...]:
    """Points and shares of the wins of the games of a part, (deals, games of each, seats) each."""
    seated = seating(part)
    played: list[Games] = []
    with threadpool_limits(1, user_api="blas"):  # more threads might round differently, and wait for each other
        for moved in range(tournament.num_players):
            played.append(
                play_games(
                    load_game(tournament.game),
                    seated[:, moved],
                    policies,
                    seed=tournament.seed,
                    first_game=part.start,
                    options=dict(tournament.options),
                )
            )
    return np.stack([games.points for games in played], axis=1), np.stack([games.shares for games in played], axis=1)


def play_tournament(
    tournament: Tournament,
    folder: Path,
    *,
    workers: int = 1,
    progress: Callable[[int], None] = lambda games: None,
    note: Callable[[str], None] = lambda sentence: None,
) -> list[Results]:
    """Play what is not yet in the folder, and read what is.

    Args:
        tournament: what is played.
        folder: where its parts are kept.
        workers: how many processes play. No result depends on it.
        progress: told now and then how many more games there are.
        note: told in a sentence what is played anew, and why.

    Raises:
        ValueError: the folder holds another tournament, or a contender changed while it was played.
    """
    claim(tournament, folder, note)
    found: dict[Part, tuple[NDArray[np.float64], ...]] = {}
    missing = []
    for part in tournament.parts():
        path = _path(tournament, part, folder)
        try:
            found[part] = read_part(tournament, part, path)
            progress((part.stop - part.start) * tournament.num_players)
        except FileNotFoundError:
            missing.append(part)
        except ValueError as error:
            note(f"{path} {error}: its games are played anew")
            missing.append(part)
    for part in _played(tournament, missing, folder, workers):
        progress((part.stop - part.start) * tournament.num_players)
        found[part] = read_part(tournament, part, _path(tournament, part, folder))
    return [_joined(tournament, table, found) for table in tournament.tables]


def claim(tournament: Tournament, folder: Path, note: Callable[[str], None] = lambda sentence: None) -> None:
    """Make the folder this tournament's, or refuse if it is another's."""
    path = folder / SETTINGS
    refuse_file(folder, "the results")
    digests = {contender.label: contender.digest for contender in tournament.contenders}
    known: dict[str, str] = {}
    if path.is_file():
        try:
            settings = json.loads(path.read_text())
            identity, known = settings["tournament"], dict(settings["contenders"])
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{path} is damaged; remove it to play on in {folder}, or name another folder") from None
        for name, value in tournament.identity().items():
            if identity.get(name) != value:
                raise ValueError(
                    f"{folder} holds a tournament with {name} {identity.get(name)!r}, not {value!r}; "
                    "name another folder, or the same settings to go on with that one"
                )
        for label in digests:
            if known.get(label, digests[label]) != digests[label]:
                note(f"{label} has changed since it played in {folder}: its games are played anew")
    settings = {"tournament": tournament.identity(), "contenders": known | digests}
    write_whole(path, partial(_write_text, text=json.dumps(settings, indent=2) + "\n"))


def read_part(tournament: Tournament, part: Part, path: Path) -> tuple[NDArray[np.float64], ...]:
    """Points and shares of a part from its file.

    Raises:
        FileNotFoundError: it has not been played.
        ValueError: it is damaged, or of fewer deals.
    """
    if not path.exists():
        raise FileNotFoundError(path)
    try:
        with safe_open(path, framework="numpy") as file:
            written = (file.metadata() or {}).get("digest")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, TypeError, AttributeError):
        raise ValueError("is damaged") from None
    if written != _digest(tournament, part, tensors) or set(tensors) != {"points", "shares"}:
        raise ValueError("is damaged")
    shape = (part.stop - part.start, tournament.num_players, tournament.num_players)
    if tensors["points"].shape != shape or tensors["shares"].shape != shape:
        raise ValueError("holds another number of games")
    return tensors["points"], tensors["shares"]


def _path(tournament: Tournament, part: Part, folder: Path) -> Path:
    return folder / "parts" / f"{tournament.key(part)}.safetensors"


def _write_part(tournament: Tournament, part: Part, folder: Path, policies: Sequence[Policy]) -> None:
    points, shares = play_part(tournament, part, policies)
    tensors = {"points": points, "shares": shares}
    sealed = {"digest": _digest(tournament, part, tensors)}
    write_whole(_path(tournament, part, folder), partial(save_file, tensors, metadata=sealed))


def _digest(tournament: Tournament, part: Part, tensors: dict[str, NDArray[np.float64]]) -> str:
    """Of a part's results and of which part they are."""
    return hashlib.sha256(f"{tournament.key(part)} {digest(tensors)}".encode()).hexdigest()


def _played(tournament: Tournament, parts: Sequence[Part], folder: Path, workers: int) -> Iterator[Part]:
    """Play these parts, and say of each when its file is there."""
    if workers == 1 or len(parts) < 2:
        policies = load_contenders(tournament) if parts else []
        for part in parts:
            _write_part(tournament, part, folder, policies)
            yield part
        return
    others = set(multiprocessing.active_children())
    # Fresh processes: a fork of one with threads can hang.
    pool = ProcessPoolExecutor(
        min(workers, len(parts)), mp_context=multiprocessing.get_context("spawn"), initializer=_follow_parent
    )
    try:
        running = {pool.submit(_work, tournament, part, folder): part for part in parts}
        for future in as_completed(running):
            future.result()
            yield running[future]
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()  # what it was playing is played again; no file is half written
        raise
    pool.shutdown()


def _follow_parent() -> None:
    """Leave Ctrl-C to the parent, and end with it even if it is killed: its pool would wait for work forever."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # no file is half written


def _work(tournament: Tournament, part: Part, folder: Path) -> None:
    _write_part(tournament, part, folder, _loaded(tournament))


@cache
def _loaded(tournament: Tournament) -> "list[Policy]":
    """The policies of the tournament that this process works for."""
    return load_contenders(tournament)


def load_contenders(tournament: Tournament) -> list[Policy]:
    """The policies, which must still be those that the tournament began with."""
    policies = []
    for known in tournament.contenders:
        policies.append(load(known.name, deterministic=not tournament.sampled))
        if policy_digest(known.name) != known.digest:
            raise ValueError(f"{known.label} has changed while the tournament was played; start it again")
    return policies


def ask_once(tournament: Tournament, policies: Mapping[str, Policy]) -> None:
    """Let every policy make the first decision of a game, so that one that cannot play is refused before any game.

    Raises:
        ValueError: from the policy.
    """
    options: dict[str, Any] = dict(tournament.options)
    batch = Batch(load_game(tournament.game), 1, num_players=tournament.num_players, **options)
    batch.reset(tournament.seed)
    for policy in policies.values():
        policy.act(batch.view())


def _joined(
    tournament: Tournament, table: tuple[int, ...], found: Mapping[Part, tuple[NDArray[np.float64], ...]]
) -> Results:
    parts = sorted((part for part in found if part.table == table), key=lambda part: part.start)
    return Results(
        table,
        np.concatenate([seating(part) for part in parts]),
        np.concatenate([found[part][0] for part in parts]),
        np.concatenate([found[part][1] for part in parts]),
    )


def _write_text(path: Path, text: str) -> None:
    path.write_text(text)
