"""Trains the agents that come with the package: ``make zoo``.

For each agent of ``agents/zoo/agents.toml``: train it, or continue its run; play it against greedy play with dice that
no training used; write the checkpoint with these results in its card. A finished run is not trained again.
"""

import platform
import subprocess
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from fivedice.agents.evaluation.match import Standing, evaluate
from fivedice.agents.evaluation.variance import point_values
from fivedice.agents.policies.baselines import GREEDY, is_solved, optimum
from fivedice.agents.policies.checkpoint import load_checkpoint, read_card, save_checkpoint
from fivedice.agents.policies.zoo import FOLDER
from fivedice.agents.training import run as training_run
from fivedice.agents.training.config import Mix, TrainConfig
from fivedice.agents.training.launch import count_cores
from fivedice.agents.training.run import Silent, train

CONFIGS = Path(__file__).parent.parent.parent / "configs"
SEED = 7  # of the evaluations; no training uses dice of this seed

app = App(name="pretrain", help=__doc__, help_format="plaintext")


@dataclass(frozen=True)
class Plan:
    """How an agent is trained and evaluated, as in ``agents.toml``."""

    config: str
    seed: int
    games: int
    settings: dict[str, Any] = field(default_factory=dict)


class Progress(Silent):
    """A `Reporter` that prints a line for each evaluation."""

    def updated(self, progress: training_run.Progress) -> None:
        """Print how far the run is."""
        if progress.evaluation is not None:
            score = progress.evaluation["eval/score"].mean
            print(f"  {progress.steps:,} decisions, {score:.1f} points per game", flush=True)


def plans() -> dict[str, Plan]:
    """The plan of each agent by name."""
    found = tomllib.loads((FOLDER / "agents.toml").read_text("utf-8"))
    return {name: Plan(**plan) for name, plan in found.items()}


def config_of(name: str, plan: Plan, runs: Path) -> TrainConfig:
    """The settings of an agent's run."""
    settings = tomllib.loads((CONFIGS / f"{plan.config}.toml").read_text("utf-8")) | plan.settings
    opponents = Mix(**settings.pop("opponents", {}))
    return TrainConfig(**settings | {"opponents": opponents, "seed": plan.seed, "runs": runs, "name": name})


def results_of(path: Path, games: int) -> dict[str, Any]:
    """Play a checkpoint against greedy play, or alone, and return its results for a card.

    Args:
        path: the checkpoint.
        games: the number of games.

    Returns:
        The number of games, the seed, the mean points, and whichever of these exist: the luck-adjusted points, their
        share of the optimum, the win rate against greedy play.
    """
    policy = load_checkpoint(path)
    game, record = policy.game, policy.options
    players, options = int(record["num_players"]), policy.game.options_dict(policy.options)
    rivals: list[Any] = [GREEDY.name] if players > 1 else []
    values = point_values(game, record) if is_solved(game, record) else None
    standing: Standing = evaluate(
        game, [policy, *rivals], games=games, num_players=players, seed=SEED, options=options, values=values
    )[0]
    found: dict[str, Any] = {"games": games, "seed": SEED, "points": standing.points.to_dict()}
    best = optimum(game, record)
    points = standing.points
    if standing.adjusted_points is not None:
        points = standing.adjusted_points
        found["adjusted_points"] = points.to_dict()
    if best is not None:
        found["of_optimum"] = points.mean / best
    for rival, wins in standing.wins.items():
        found[f"win_rate_vs_{rival}"] = wins.to_dict()
    return found


def commit() -> str:
    """The commit of the sources; empty outside a repository."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    return ran.stdout.strip()


def pretrain(name: str, plan: Plan, runs: Path, out: Path) -> Path:
    """Train an agent, or continue its run, evaluate it, and write its checkpoint. Returns the checkpoint's path."""
    folder = runs / name
    config = config_of(name, plan, runs)
    print(f"{name}: {folder}", flush=True)
    training = train(config, folder if folder.exists() else None, Progress())
    if not training.is_finished:
        raise KeyboardInterrupt
    best = training.folder / "best.safetensors"
    card = read_card(best) | {
        "zoo": {
            "config": plan.config,
            "settings": plan.settings,
            "decisions": training.steps,
            "commit": commit(),
            "machine": f"{platform.system()} {platform.machine()}, {count_cores()} cores",
            "results": results_of(best, plan.games),
        }
    }
    path = out / f"{name}.safetensors"
    save_checkpoint(path, card, load_checkpoint(best).network)
    return path


@app.default
def main(*names: str, runs: Path = Path("runs/zoo"), out: Annotated[Path, Parameter(name="--out")] = FOLDER) -> None:
    """Train agents that come with the package.

    Parameters
    ----------
    names
        The agents; default: all of agents/zoo/agents.toml.
    runs
        The folder of the runs. A run that was stopped continues.
    out
        The folder for the checkpoints.
    """
    known = plans()
    for name in names:
        if name not in known:
            raise SystemExit(f"pretrain: there is no agent {name!r} in agents.toml; known are {', '.join(known)}")
    for name in names or known:
        try:
            print(f"Wrote {pretrain(name, known[name], runs, out)}", flush=True)
        except (ValueError, OSError) as error:
            raise SystemExit(f"pretrain: {error}") from None
        except KeyboardInterrupt:
            raise SystemExit("pretrain: stopped; the same command goes on") from None


if __name__ == "__main__":
    app()
