"""The resume file of a run: tensors, counters, random generators, running games and the opponent pool.

The snapshots of the pool are separate checkpoints in the folder of the run, because a snapshot never changes. A resumed
run computes exactly what it would have computed without the stop.

The file holds the games and the random generators of all workers. If a run is resumed with another number of workers,
they share the same games, and get new random generators.
"""

import hashlib
import json
from collections import deque
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from sb3_contrib import MaskablePPO

from fivedice.agents.evaluation.estimate import Estimate
from fivedice.agents.policies.checkpoint import (
    CheckpointPolicy,
    differences,
    load_checkpoint,
    read_card,
    save_checkpoint,
)
from fivedice.agents.policies.files import digest, write_tensors
from fivedice.agents.training.config import TrainConfig
from fivedice.agents.training.gate import PreviousBest
from fivedice.agents.training.group import Group
from fivedice.agents.training.metrics import make_logger
from fivedice.agents.training.model import seed_generators
from fivedice.agents.training.opponents import FIRST_OWN, OpponentPool
from fivedice.agents.training.vec_env import SeatVecEnv
from fivedice.envs.core.spec import Game, Options

FILE = "resume.safetensors"
PLAYABLE = "the checkpoints in the same folder can still be played"


class Resumable(Protocol):
    """The parts of a run that are saved; `fivedice.agents.training.run.Training` has them."""

    config: TrainConfig
    folder: Path
    group: Group
    game: Game
    options: Options
    env: SeatVecEnv
    pool: OpponentPool
    model: MaskablePPO
    best: float
    previous_bests: list[PreviousBest]
    next_best: int
    owes_evaluation: bool

    @property
    def steps(self) -> int:
        """Decisions of the learner so far."""


def save_resume(training: Resumable) -> None:
    """Write the resume file and the snapshots that are not on disk yet, each file completely or not at all.

    All workers call this function. Worker 0 writes the files.
    """
    games = {name: training.group.join(rows) for name, rows in _running_games(training).items()}
    generators = training.group.gather(_generators())
    if training.group.rank > 0:
        return
    pool = training.pool
    for number, snapshot in pool.snapshots().items():
        _save_policy(snapshot, _snapshot_path(training.folder, number))
    for previous_best in training.previous_bests:
        _save_policy(previous_best.policy, _best_path(training.folder, previous_best.number))
    notes = {
        "steps": training.steps,
        "updates": training.model._n_updates,
        "best": training.best,
        "owes_evaluation": training.owes_evaluation,
        "reward": training.env.table.batch.reward,
        "pool": {
            "steps": pool.steps,
            "numbers": list(pool.snapshots()),
            "own": list(training.config.opponents.own_policies),
            "following": pool.following,
            "results": pool.results,
            "digests": {number: digest(snapshot.network.tensors) for number, snapshot in pool.snapshots().items()},
        },
        "previous_bests": [
            {
                "number": previous_best.number,
                "digest": digest(previous_best.policy.network.tensors),
                "figures": {
                    name: [estimate.mean, estimate.half_width, estimate.count, estimate.low, estimate.high]
                    for name, estimate in previous_best.figures.items()
                },
            }
            for previous_best in training.previous_bests
        ],
        "episodes": list(training.model.ep_info_buffer or []),
        **{f"numpy{_suffix(rank)}": note for rank, (note, _) in enumerate(generators)},
        "workers": training.group.size,
    }
    tensors = {
        **{
            f"{name}{_suffix(rank)}": state
            for rank, (_, states) in enumerate(generators)
            for name, state in states.items()
        },
        **games,
        **{f"model.{name}": tensor.cpu().numpy() for name, tensor in training.model.policy.state_dict().items()},
        **_adam(training),
    }
    text = json.dumps(notes)
    metadata = {"notes": text, "digest": digest(tensors), "notes_digest": hashlib.sha256(text.encode()).hexdigest()}
    write_tensors(training.folder / FILE, tensors, metadata)
    _remove_all_but(_files(training), training.folder)


def _suffix(rank: int) -> str:
    """What the names of the random generators of a worker end with in the file."""
    return f".{rank}" if rank else ""


def _generators() -> tuple[list[Any], dict[str, NDArray[Any]]]:
    """The state of the global generators of this worker, with which Stable-Baselines3 draws: notes and tensors."""
    kind, keys, position, has_gauss, gauss = np.random.get_state(legacy=True)  # noqa: NPY002  # it shuffles with it
    return [kind, position, has_gauss, gauss], {"numpy": np.asarray(keys), "torch": torch.get_rng_state().numpy()}


def _save_policy(policy: CheckpointPolicy, path: Path) -> None:
    """Write a snapshot or a previous best, unless it exists; it never changes."""
    if not path.exists():
        save_checkpoint(path, policy.card() | {"steps": int(policy.name.rpartition("-")[2])}, policy.network)


def restore(training: Resumable) -> list[str]:
    """Restore a run from the resume file in its folder.

    Returns:
        Notes for the user about what cannot be restored, each a sentence without a full stop.

    Raises:
        ValueError: the file is missing or damaged, or belongs to a run with another network or game.
    """
    path = training.folder / FILE
    if not path.is_file():
        raise ValueError(f"{training.folder} cannot be resumed: {path} is missing")
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata()
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        notes = json.loads(metadata["notes"])
        written = (metadata["digest"], metadata["notes_digest"])
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path} cannot be read ({error}); {PLAYABLE}") from None
    if written != (digest(tensors), hashlib.sha256(metadata["notes"].encode()).hexdigest()):
        raise ValueError(f"{path} is damaged: its contents are not those that were written; {PLAYABLE}")
    try:
        return _restore(training, notes, tensors)
    except KeyError as missing:
        raise ValueError(f"{path} has no {missing}; it was written by another version of fivedice") from None


def _restore(training: Resumable, notes: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> list[str]:
    pool = notes["pool"]
    snapshots = {}
    for number in pool["numbers"]:
        path = _snapshot_path(training.folder, number)
        snapshot = _load_policy(path, "step", pool.get("digests", {}).get(str(number)), deterministic=False)
        if snapshot.game is not training.game or snapshot.options != training.options:
            raise ValueError(
                f"{training.folder} is a run for "
                + differences(snapshot.game, snapshot.options, training.game, training.options)
            )
        asked = training.config.network_settings()
        for name, was in snapshot.settings().items():
            if was != asked[name]:
                raise ValueError(f"{training.folder} is a run with {name}={was!r}, not with {name}={asked[name]!r}")
        snapshots[number] = snapshot
    results = {int(number): (games, won) for number, (games, won) in pool.get("results", {}).items()}
    has_same_own = pool.get("own", []) == list(training.config.opponents.own_policies)
    training.pool.restore(
        snapshots,
        {int(number): steps for number, steps in pool["steps"].items()},
        pool["following"],
        {number: result for number, result in results.items() if has_same_own or number > FIRST_OWN},
    )

    model = training.model
    state = {
        name.removeprefix("model."): torch.from_numpy(t) for name, t in tensors.items() if name.startswith("model.")
    }
    try:
        model.policy.load_state_dict(state)
    except RuntimeError:
        raise ValueError(
            f"{training.folder / FILE} holds a network of another size than net_arch={training.config.net_arch}"
        ) from None
    _restore_adam(training, tensors)
    model.num_timesteps, model._n_updates = notes["steps"], notes["updates"]
    remarks = []
    training.best = notes["best"]
    training.owes_evaluation = notes.get("owes_evaluation", False)
    training.previous_bests = []
    for found in notes.get("previous_bests", []):
        path = _best_path(training.folder, found["number"])
        policy = _load_policy(path, "best", found.get("digest"), deterministic=True)
        figures = {name: Estimate(*figures) for name, figures in found["figures"].items()}
        training.previous_bests.append(PreviousBest(found["number"], policy, figures))
        training.next_best = found["number"] + 1
    of_the_run = _files(training)
    if notes["reward"] != training.env.table.batch.reward:
        training.best, training.previous_bests = -float("inf"), []
        remarks.append("the reward differs from that of the stopped run, so the best checkpoint is chosen again")
    batch, n_envs, why_not = training.env.table.batch, training.config.n_envs, ""
    if len(tensors["games.states"]) != n_envs * batch.states.itemsize:
        why_not = "n_envs differs from that of the stopped run"
    elif not has_same_own:
        why_not = "opponents.own_policies differs from that of the stopped run"
    elif len(tensors["games.streams"]) != n_envs * batch.streams.itemsize:
        why_not = "the stopped run was made by another version of fivedice"
    if why_not:
        remarks.append(f"{why_not}, so its running games are dropped and new ones are started")
        training.env.seed(training.config.seed + notes["steps"])
    else:
        _restore_games(training, tensors)
    workers = notes.get("workers", 1)
    if workers != training.group.size:
        remarks.append(
            f"the stopped run had {workers} worker{'s' * (workers > 1)} and this one has {training.group.size}, "
            "so it draws other actions than the stopped run would have drawn"
        )
        seed_generators(training.config.seed + notes["steps"], training.group.rank)
    elif not why_not:
        suffix = _suffix(training.group.rank)
        kind, position, has_gauss, gauss = notes[f"numpy{suffix}"]
        np.random.set_state((kind, tensors[f"numpy{suffix}"], position, has_gauss, gauss))  # noqa: NPY002  # as above
        torch.set_rng_state(torch.from_numpy(tensors[f"torch{suffix}"]))
    # What the stopped run logged after this point is logged again.
    model.logger.close()
    model.set_logger(make_logger(training.folder, training.group, notes["steps"] + 1))
    episodes = notes.get("episodes", [])
    model.ep_info_buffer = deque(episodes, maxlen=model._stats_window_size)
    model.ep_success_buffer = deque(maxlen=model._stats_window_size)
    # Remove snapshots that were made after the last save: new ones will get the same numbers.
    if training.group.rank == 0:
        _remove_all_but(of_the_run, training.folder)
    return remarks


def _load_policy(path: Path, name: str, written: str | None, *, deterministic: bool) -> CheckpointPolicy:
    """Load a snapshot or a previous best.

    Raises:
        ValueError: the file is missing or damaged, or its network does not have the digest `written`.
    """
    policy = load_checkpoint(path, deterministic=deterministic)
    if written not in (None, digest(policy.network.tensors)):  # None: written by a version without digests
        raise ValueError(f"{path} is not the file that this run wrote, so the run cannot be resumed")
    policy.name = f"{name}-{read_card(path)['steps']:09d}"
    return policy


def _snapshot_path(folder: Path, number: int) -> Path:
    return folder / "pool" / f"{number:06d}.safetensors"


def _best_path(folder: Path, number: int) -> Path:
    return folder / "previous_bests" / f"{number:06d}.safetensors"


def _files(training: Resumable) -> set[Path]:
    """The files of the snapshots and previous bests of a run."""
    kept = {_snapshot_path(training.folder, number) for number in training.pool.snapshots()}
    return kept | {_best_path(training.folder, previous_best.number) for previous_best in training.previous_bests}


def _remove_all_but(kept: set[Path], folder: Path) -> None:
    for path in [*(folder / "pool").glob("*.safetensors"), *(folder / "previous_bests").glob("*.safetensors")]:
        if path not in kept:
            path.unlink()


def _running_games(training: Resumable) -> dict[str, NDArray[Any]]:
    """The games of this worker."""
    env, table = training.env, training.env.table
    return {
        "games.states": _bytes(table.batch.states),
        "games.streams": _bytes(table.batch.streams),
        "games.seats": table.seats,
        "games.seated": table.seated,
        "games.owed": table.owed,
        "games.returns": env.returns,
        "games.lengths": env.lengths,
        "games.margins": env.margins,
        "games.starts": np.asarray(training.model._last_episode_starts, np.uint8),
    }


def _restore_games(training: Resumable, tensors: dict[str, NDArray[Any]]) -> None:
    """Restore the games of this worker, which are a part of those in the file."""
    env, table = training.env, training.env.table
    part = training.group.part(training.config.n_envs)
    streams = tensors["games.streams"].view(table.batch.streams.dtype)[part]
    table.batch.resume(tensors["games.states"].view(table.batch.states.dtype)[part], streams)
    table.seats[:], table.seated[:] = tensors["games.seats"][part], tensors["games.seated"][part]
    table.owed[:] = tensors["games.owed"][part]
    env.returns[:], env.lengths[:] = tensors["games.returns"][part], tensors["games.lengths"][part]
    env.margins[:] = tensors["games.margins"][part]
    training.model._last_obs = env.show()
    table.batch.streams[:] = streams  # `show` draws uniforms for a prior policy; these were drawn before the stop
    training.model._last_episode_starts = tensors["games.starts"][part].astype(np.bool_)


def _bytes(records: NDArray[np.void]) -> NDArray[np.uint8]:
    return np.frombuffer(records.tobytes(), np.uint8)


def _adam(training: Resumable) -> dict[str, NDArray[Any]]:
    moments = training.model.policy.optimizer.state_dict()["state"]
    return {
        f"adam.{number}.{name}": tensor.cpu().numpy()
        for number, state in moments.items()
        for name, tensor in state.items()
    }


def _restore_adam(training: Resumable, tensors: dict[str, NDArray[Any]]) -> None:
    optimizer = training.model.policy.optimizer
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, tensor in tensors.items():
        if name.startswith("adam."):
            _, number, moment = name.split(".")
            state.setdefault(int(number), {})[moment] = torch.from_numpy(tensor.copy())
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
