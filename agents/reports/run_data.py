"""What the folder of a training run contains: settings, logged scalars, the opponent pool and the best checkpoint."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from fivedice.agents.policies.checkpoint import read_card
from fivedice.agents.training.config import CONFIG
from fivedice.agents.training.resume import FILE
from fivedice.envs import load_game
from fivedice.envs.core.spec import Game, Options


@dataclass(frozen=True)
class Run:
    """The contents of a run's folder.

    Args:
        folder: the folder of the run.
        config: the settings of the run, as in its file.
        game, options: the game and its options.
        scalars: the logged scalars by name, each float64 (K, 2): steps and values.
        snapshots: the snapshots in the pool, oldest first. For each: the learner's steps when it was taken, the
            learner's win rate against it (NaN if they have not met), and the weighted number of games behind that rate.
        card: the card of the best checkpoint, or {} if there is none.
    """

    folder: Path
    config: Mapping[str, Any]
    game: Game
    options: Options
    scalars: Mapping[str, NDArray[np.float64]]
    snapshots: Sequence[tuple[int, float, float]]
    card: Mapping[str, Any]

    @property
    def num_players(self) -> int:
        """The number of players."""
        return int(self.options["num_players"])


def read_run(folder: Path) -> Run:
    """Read a run's folder.

    Raises:
        ValueError: the folder does not belong to a run, or nothing has been logged yet.
    """
    path = folder / CONFIG
    if not path.is_file():
        raise ValueError(f"{folder} is not the folder of a run, because {path} does not exist")
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
        game = load_game(config["game"])
        options = game.make_options(config["num_players"], game.parse_options(config["options"]))
    except (KeyError, TypeError, AttributeError, RecursionError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} does not contain the settings of a run ({error})") from None
    scalars = read_scalars(folder)
    if not scalars:
        raise ValueError(f"nothing has been logged in {folder} yet; train longer before you make a report")
    best = folder / "best.safetensors"
    card = read_card(best) if best.is_file() else {}
    return Run(folder, config, game, options, scalars, _read_pool(folder / FILE), card)


def read_scalars(folder: Path) -> dict[str, NDArray[np.float64]]:
    """Read all logged scalars of a run.

    Returns:
        The scalars by name, each float64 (K, 2): steps and values. If a step was logged twice, the later value counts.
    """
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    log = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    log.Reload()
    return {
        tag: np.array(sorted({point.step: point.value for point in log.Scalars(tag)}.items()), np.float64)
        for tag in log.Tags()["scalars"]
    }


def _read_pool(path: Path) -> list[tuple[int, float, float]]:
    try:
        with safe_open(path, framework="numpy") as file:
            pool = json.loads(file.metadata()["notes"])["pool"]
    except (SafetensorError, OSError, KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return []  # not saved yet, or damaged: the page omits the pool
    results = pool.get("results", {})
    found = []
    for number, steps in pool["steps"].items():
        games, won = results.get(number, (0.0, 0.0))
        found.append((int(steps), won / games if games else np.nan, games))
    return found
