"""Games between policies as a data set of Minari, for learners that learn offline.

Minari has no format for several agents: an episode belongs to one learner. So each seat of each game is one episode,
with the transitions of `fivedice.envs.api.single.SeatEnv`: from one decision of the seat to its next.
"""

import copy
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from minari import MinariDataset
from minari import __version__ as minari_version
from minari.data_collector import EpisodeBuffer
from minari.dataset.minari_storage import MinariStorage
from numpy.typing import NDArray

from fivedice.agents.policies.registry import load
from fivedice.envs import load_game
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.spec import Game
from fivedice.envs.core.view import ChecksGame, Policy

GAMES_AT_ONCE = 256


@dataclass(frozen=True)
class SeatEpisode:
    """All T decisions of one seat in one game.

    Args:
        game: the index of the game.
        seat: the seat.
        policy: the index of the policy in this seat.
        observations: (T + 1, size) float32, the last one after the end of the game.
        masks: (T + 1, num_actions) int8, the legal actions; the last row is all 0.
        actions: (T,) int64.
        rewards: (T,) float64, the sum of all rewards of the seat up to its next decision.
        truncated: whether the game's limit of turns ended it.
        score: the final points.
        win: the share of the win: 1 for the winner, 1/k if k players tie, else 0.
    """

    game: int
    seat: int
    policy: int
    observations: NDArray[np.float32]
    masks: NDArray[np.int8]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float64]
    truncated: bool
    score: float
    win: float


def record(
    game: str | Game,
    policies: Sequence[str | Path | Policy],
    out: str | Path,
    *,
    games: int,
    num_players: int | None = None,
    reward: str | None = None,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    progress: Callable[[int], None] = lambda games: None,
) -> Path:
    """Play games between policies, and write all decisions as a data set of Minari.

    Each seat of each game is one episode. Its transitions run from one decision of the seat to its next, as in the
    Gymnasium environment. So the rewards of an episode add up to the seat's payoff. A seat that never decides has no
    episode. Equal arguments give equal files, byte for byte. The folder appears when it is complete.

    An episode has ``observations`` (T + 1, size) float32, ``actions`` (T,) int64, ``rewards`` (T,) float64,
    ``terminations`` and ``truncations`` (T,) bool, and ``infos["action_mask"]`` (T + 1, num_actions) int8. Its metadata
    has ``seed``, ``game``, ``seat``, ``policy``, ``score`` and ``win``. In a game of several agents, the next
    observation depends on the other policies, too; their names are in the metadata of the data set.

    Args:
        game: the game or its name.
        policies: one policy for all seats, or one for each seat. Each game moves them on by one seat. A policy can be
            given by its name or its file.
        out: the folder of the data set. It must not exist. Minari loads it by ``minari.MinariDataset(out / "data")``.
        games: the number of games.
        num_players: the number of players. Default: the number of policies, or with one policy the game's default.
        reward: ``"win"``, ``"score"`` or ``"margin"``. Default: ``"win"``, or ``"score"`` with one player.
        seed: the random seed for dice and policies. Game i is game i of this seed.
        options: the game's options by name.
        progress: called from time to time with the number of games played since the last call.

    Returns:
        The folder for `minari.MinariDataset`, ``out / "data"``.

    Raises:
        ValueError: the folder exists or has a name that Minari does not allow, a policy does not exist or cannot play
            the game, or their number does not fit.
        OSError: the data set cannot be written.
    """
    game = load_game(game) if isinstance(game, str) else game
    if isinstance(policies, str):
        raise ValueError(f"{policies!r} is one policy; name policies in a list, [{policies!r}]")
    loaded = [load(policy) if isinstance(policy, (str, Path)) else policy for policy in policies]
    if not loaded:
        raise ValueError("no policy given; name one for all seats, or one for each seat")
    if num_players is None and len(loaded) > 1:
        num_players = len(loaded)
    batch = Batch(game, 1, num_players=num_players, reward=reward, **(options or {}))
    num_players = batch.num_players
    if len(loaded) not in (1, num_players):
        raise ValueError(f"{len(loaded)} policies do not fit {num_players} seats; name one, or {num_players}")
    if games < 1:
        raise ValueError(f"games={games} is too few; use at least 1")
    for policy in loaded:
        if isinstance(policy, ChecksGame):
            policy.check(game, batch.options)
    out = Path(out)
    if not re.fullmatch(r"[\w-]+", out.name):
        raise ValueError(f"{out.name!r} is no name for a data set; use letters, digits, '_' and '-'")
    if out.exists():
        raise ValueError(f"{out} exists; choose another folder, or remove it")
    out.parent.mkdir(parents=True, exist_ok=True)
    # Minari computes the size of a data set correctly only for an absolute path.
    temporary = Path(tempfile.mkdtemp(dir=out.parent.absolute(), prefix=f".{out.name}."))
    try:
        storage = _new_storage(temporary / "data", game, batch)
        for first in range(0, games, GAMES_AT_ONCE):
            count = min(GAMES_AT_ONCE, games - first)
            part = Batch(game, count, num_players=num_players, reward=batch.reward, **(options or {}))
            _append(storage, play_episodes(part, loaded, seed=seed, first_game=first), loaded, seed)
            progress(count)
        _describe(storage, out, game, loaded, seed, games)
        temporary.chmod(0o755)
        temporary.rename(out)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return out / "data"


def play_episodes(batch: Batch, policies: Sequence[Policy], *, seed: int, first_game: int) -> Iterator[SeatEpisode]:
    """Play one game in each row of a batch, and yield the episodes, game by game and seat by seat.

    Args:
        batch: the batch; its games are reset.
        policies: one policy for all seats, or one for each seat; game i gives seat s the policy number s + i.
        seed: the seed of the games.
        first_game: the index of the first row's game.
    """
    batch.reset(seed, first_game=first_game)
    rows, seats = batch.all_rows, np.arange(batch.num_players)
    seating = (first_game + rows[:, None] + seats) % len(policies)
    due = np.zeros((batch.num_games, batch.num_players))  # the rewards since the last decision of each seat
    steps: list[tuple[NDArray[Any], ...]] = []
    while len(rows):
        view = batch.view(rows)
        deciders = seating[rows, view.seats]
        actions = np.empty(len(rows), np.int64)
        for number in np.unique(deciders).tolist():
            asked = np.flatnonzero(deciders == number)
            actions[asked] = policies[number].act(view.rows(asked))
        steps.append((rows, view.seats, view.observations, view.masks, actions, due[rows, view.seats]))
        due[rows, view.seats] = 0.0
        batch.step(actions, rows, restart=False)
        due[rows] += batch.rewards[rows]
        rows = rows[~batch.over[rows]]
    of_row, of_seat, observations, masks, chosen, before = (np.concatenate(parts) for parts in zip(*steps, strict=True))
    points, won = batch.results(batch.all_rows)
    shares = won / won.sum(axis=1, keepdims=True)
    for row in range(batch.num_games):
        last = batch.observe(np.full(batch.num_players, row), seats.astype(np.int8))
        for seat in seats.tolist():
            own = np.flatnonzero((of_row == row) & (of_seat == seat))
            if not len(own):
                continue
            rewards = np.append(before[own][1:], due[row, seat])
            rewards[0] += before[own[0]]  # what was paid before the first decision
            yield SeatEpisode(
                game=first_game + row,
                seat=seat,
                policy=int(seating[row, seat]),
                observations=np.concatenate([observations[own], last[seat : seat + 1]]),
                masks=np.concatenate([masks[own], np.zeros_like(masks[:1])]),
                actions=chosen[own],
                rewards=rewards,
                truncated=bool(batch.truncated[row]),
                score=float(points[row, seat]),
                win=float(shares[row, seat]),
            )


def _new_storage(path: Path, game: Game, batch: Batch) -> MinariStorage:
    spec = copy.deepcopy(gymnasium.spec(game.gymnasium_id))
    spec.kwargs |= {"num_players": batch.num_players, "reward": batch.reward, **game.options_dict(batch.options)}
    low, high = batch.layout.bounds()
    return MinariStorage.new(
        path,
        observation_space=spaces.Box(low, high, dtype=np.float32),
        action_space=spaces.Discrete(batch.num_actions),
        env_spec=spec,
        data_format="hdf5",
    )


def _append(storage: MinariStorage, episodes: Iterator[SeatEpisode], policies: Sequence[Policy], seed: int) -> None:
    buffers, metadata = [], []
    for episode in episodes:
        ends = np.zeros(len(episode.actions), np.bool_)
        ends[-1] = True
        never = np.zeros_like(ends)
        buffers.append(
            EpisodeBuffer(
                seed=seed,
                observations=episode.observations,
                actions=episode.actions,
                rewards=episode.rewards,
                terminations=never if episode.truncated else ends,
                truncations=ends if episode.truncated else never,
                infos={"action_mask": episode.masks},
            )
        )
        metadata.append(
            {
                "game": episode.game,
                "seat": episode.seat,
                "policy": policies[episode.policy].name,
                "score": episode.score,
                "win": episode.win,
            }
        )
    first = storage.total_episodes
    storage.update_episodes(buffers)
    storage.update_episode_metadata(metadata, range(first, first + len(metadata)))


def _describe(storage: MinariStorage, out: Path, game: Game, policies: Sequence[Policy], seed: int, games: int) -> None:
    names = ", ".join(policy.name for policy in policies)
    version = "" if re.search(r"-v\d+$", out.name) else "-v0"
    storage.update_metadata(
        {
            "dataset_id": f"{game.name}/{out.name}{version}",
            "algorithm_name": names,
            "description": f"{games} games of {game.title} between {names}, seed {seed}; each seat is an episode",
            "minari_version": minari_version,
        }
    )
    MinariDataset(storage)  # raises an error if Minari cannot read what was written
