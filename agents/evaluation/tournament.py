"""Tournaments: play every combination of contenders with the same dice, in several processes.

`schedule` says which games a tournament has. They are played in parts of `PART` deals of one table, which do not depend
on the number of processes. Each part is one file, which is written whole or not at all. Its name is a digest of
everything that its games depend on. So the same command continues a stopped tournament; with more games or more
contenders only the new games are played; and if a contender changes, its games are played again.
"""

import hashlib
import json
import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from threadpoolctl import threadpool_limits

from fivedice.agents.evaluation.child_process import begin
from fivedice.agents.evaluation.match import Games, play_games
from fivedice.agents.evaluation.schedule import Part, Tournament, policy_digest, seating
from fivedice.agents.policies.files import digest, refuse_file, write_tensors, write_text
from fivedice.agents.policies.registry import load
from fivedice.envs import load_game, registration
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.view import Policy

PARTS = "parts"  # in a tournament's folder: the folder of the results of each part
SETTINGS = "settings.json"  # in a tournament's folder: its settings and contenders


@dataclass(frozen=True)
class Results:
    """The results of one table, with S seats, in D deals of S games each.

    Args:
        table: the indices of its contenders.
        seated: int64 (D, S, S), for each deal, game and seat the index of the contender.
        points: float64 (D, S, S), the final scores of these seats.
        shares: float64 (D, S, S), the shares of the win of these seats.
    """

    table: tuple[int, ...]
    seated: NDArray[np.int64]
    points: NDArray[np.float64]
    shares: NDArray[np.float64]


def play_part(tournament: Tournament, part: Part, policies: Sequence[Policy]) -> tuple[NDArray[np.float64], ...]:
    """Play a part. Returns points and shares of the win, each float64 (deals, games per deal, seats)."""
    seated = seating(part)
    played: list[Games] = []
    with threadpool_limits(1, user_api="blas"):  # rounding may depend on the number of threads
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
    """Play the games of a tournament that its folder does not contain yet, and return the results of all games.

    Args:
        tournament: the settings.
        folder: the folder for the games, which is created if it does not exist.
        workers: the number of processes. Results do not depend on it.
        progress: called from time to time with the number of games that were played or read since the last call.
        note: called with a sentence for each reason to play games again.

    Returns:
        The results of each table, in the order of ``tournament.tables``.

    Raises:
        ValueError: the folder contains another tournament, a contender changed during the tournament, or other
            processes cannot know the game, because it was registered as an object.
    """
    game = registration(tournament.game) if workers > 1 else None
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
            note(f"{path} {error}; its games will be played again")
            missing.append(part)
    for part in _played(tournament, missing, folder, workers, game):
        progress((part.stop - part.start) * tournament.num_players)
        found[part] = read_part(tournament, part, _path(tournament, part, folder))
    return [_joined(tournament, table, found) for table in tournament.tables]


def claim(tournament: Tournament, folder: Path, note: Callable[[str], None] = lambda sentence: None) -> None:
    """Write the settings of a tournament into its folder.

    Raises:
        ValueError: the folder contains another tournament.
        OSError: the folder is not writable.
    """
    path = folder / SETTINGS
    refuse_file(folder, "the results")
    digests = {contender.label: contender.digest for contender in tournament.contenders}
    known: dict[str, str] = {}
    if path.is_file():
        try:
            settings = json.loads(path.read_text(encoding="utf-8"))
            identity, known = dict(settings["tournament"]), dict(settings["contenders"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise ValueError(
                f"{path} is damaged; delete this file to continue the tournament in {folder}, or use another folder"
            ) from None
        for name, value in tournament.identity().items():
            if identity.get(name) != value:
                raise ValueError(
                    f"{folder} contains a tournament with {name} {identity.get(name)!r}, not {value!r}; "
                    "use another folder, or the same settings to continue that tournament"
                )
        for label in digests:
            if known.get(label, digests[label]) != digests[label]:
                note(f"{label} has changed since its games in {folder}; they will be played again")
    (folder / PARTS).mkdir(parents=True, exist_ok=True)
    settings = {"tournament": tournament.identity(), "contenders": known | digests}
    write_text(path, json.dumps(settings, indent=2) + "\n")


def read_part(tournament: Tournament, part: Part, path: Path) -> tuple[NDArray[np.float64], ...]:
    """Read the points and the shares of the win of a part from its file.

    Raises:
        FileNotFoundError: the part has not been played.
        ValueError: the file is damaged, or has another number of games.
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
        raise ValueError("has another number of games")
    return tensors["points"], tensors["shares"]


def _path(tournament: Tournament, part: Part, folder: Path) -> Path:
    return folder / PARTS / f"{tournament.key(part)}.safetensors"


def _write_part(tournament: Tournament, part: Part, folder: Path, policies: Sequence[Policy]) -> None:
    points, shares = play_part(tournament, part, policies)
    tensors = {"points": points, "shares": shares}
    sealed = {"digest": _digest(tournament, part, tensors)}
    write_tensors(_path(tournament, part, folder), tensors, sealed)


def _digest(tournament: Tournament, part: Part, tensors: dict[str, NDArray[np.float64]]) -> str:
    """A digest of the results of a part and of its key."""
    return hashlib.sha256(f"{tournament.key(part)} {digest(tensors)}".encode()).hexdigest()


def _played(
    tournament: Tournament,
    parts: Sequence[Part],
    folder: Path,
    workers: int,
    game: tuple[str, str, int] | None,
) -> Iterator[Part]:
    """Play these parts, and yield each part when its file is complete."""
    if workers == 1 or len(parts) < 2:
        policies = load_contenders(tournament) if parts else []
        for part in parts:
            _write_part(tournament, part, folder, policies)
            yield part
        return
    others = set(multiprocessing.active_children())
    # Start new processes, because a fork of a process with threads can hang.
    pool = ProcessPoolExecutor(
        min(workers, len(parts)),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=begin,
        initargs=(game,),
    )
    try:
        running = {pool.submit(_work, tournament, part, folder): part for part in parts}
        for future in as_completed(running):
            future.result()
            yield running[future]
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()  # its current part will be played again; no file is incomplete
        raise
    pool.shutdown()


def _work(tournament: Tournament, part: Part, folder: Path) -> None:
    _write_part(tournament, part, folder, _loaded(tournament))


@cache
def _loaded(tournament: Tournament) -> "list[Policy]":
    """The policies of a tournament, loaded once per worker process."""
    return load_contenders(tournament)


def load_contenders(tournament: Tournament) -> list[Policy]:
    """Load the policies of a tournament.

    Raises:
        ValueError: a policy has changed since the tournament started.
    """
    policies = []
    for known in tournament.contenders:
        policies.append(load(known.name, deterministic=not tournament.sampled))
        if policy_digest(known.name) != known.digest:
            raise ValueError(f"{known.label} has changed during the tournament; start the tournament again")
    return policies


def ask_once(tournament: Tournament, policies: Mapping[str, Policy]) -> None:
    """Ask every policy for the first decision of a game, so that a policy that cannot play fails before any game.

    Raises:
        ValueError: a policy cannot play this game with these settings.
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
