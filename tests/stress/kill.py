"""Kill training runs, tournaments and reports at random moments, and go on: the results are those of an unkilled one.

``python tests/stress/kill.py --times 100 --seed 1`` prints one line for each of the three commands. Each trial runs the
same command again and again in a new process. All but the last process are killed (SIGKILL, or the signal of
``--signal``) after a random time; the last one ends by itself. Then every file that the command promises to be
reproducible is compared with that of a run that nobody killed.
"""

import argparse
import hashlib
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from safetensors import safe_open

from fivedice.agents.cli import app
from fivedice.agents.cli import main as main_of_commands
from fivedice.agents.policies.files import digest

TRAIN = [
    "train",
    "--config",
    "yum-smoke",
    "--total-timesteps",
    "1024",
    "--n-envs",
    "16",
    "--n-steps",
    "16",
    "--batch-size",
    "64",
    "--eval-every",
    "512",
    "--snapshot-every",
    "256",
    "--eval-games",
    "8",
    "--final-games",
    "8",
    "--check-games",
    "8",
    "--net-arch",
    "8",
]
TOURNAMENT = "tournament yum random greedy --games 480 --seed 5".split()  # noqa: SIM905  # as it is typed


def in_child(arguments: Sequence[str], log: Path) -> int:
    """Start a command in a child process, and return its process id. A fork has all imports and compiled rules."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        with log.open("a", encoding="utf-8") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        sys.argv = ["fivedice", *arguments]
        main_of_commands()
        status = 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:  # the parent reads it
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


def ended(child: int, seconds: float | None = None) -> int | None:
    """The exit status of a child, or None if it still runs after so many seconds."""
    if seconds is None:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    end = time.monotonic() + seconds
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            return None
        time.sleep(0.002)


@dataclass
class Outcome:
    """What happened to the trials of one command."""

    kills: int = 0
    trials: int = 0
    faults: list[str] = field(default_factory=list)


def trial(
    arguments: Sequence[str], draw: random.Random, longest: float, log: Path, outcome: Outcome, number: int
) -> None:
    """Run a command until it ends by itself; kill it up to three times before."""
    outcome.trials += 1
    for _ in range(draw.choice((1, 1, 2, 3))):
        child = in_child(arguments, log)
        if (status := ended(child, draw.uniform(0, longest))) is None:
            os.kill(child, number)
            ended(child)
            outcome.kills += 1
        elif status:
            outcome.faults.append(f"exit status {status} after a kill: {log.read_text(encoding='utf-8')[-400:]}")
            return
    if status := ended(in_child(arguments, log)):
        outcome.faults.append(f"exit status {status}: {log.read_text(encoding='utf-8')[-400:]}")


def of_tensors(path: Path) -> str:
    """A digest of the tensors of a file."""
    with safe_open(path, framework="numpy") as file:
        return digest({name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118


def of_bytes(path: Path) -> str:
    """A digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def scalars(folder: Path) -> dict[str, list[tuple[float, float]]]:
    """What a run has logged, except its speed."""
    from fivedice.agents.reports.run_data import read_scalars

    return {
        name: [(step, value) for step, value in points.tolist()]
        for name, points in read_scalars(folder).items()
        if not name.startswith("time/")
    }


def train_state(folder: Path) -> dict[str, object]:
    """What a run promises to be equal to a run that was never stopped."""
    names = ["best", "last", "resume"]
    found: dict[str, object] = {name: of_tensors(folder / f"{name}.safetensors") for name in names}
    found["best card"] = of_bytes(folder / "best.safetensors")
    found["last card"] = of_bytes(folder / "last.safetensors")
    found["pool"] = [(path.name, of_bytes(path)) for path in sorted((folder / "pool").iterdir())]
    found["previous bests"] = [(path.name, of_bytes(path)) for path in sorted((folder / "previous_bests").iterdir())]
    found["scalars"] = scalars(folder)
    found["files"] = sorted(path.name for path in folder.iterdir() if "tfevents" not in path.name)
    return found


def tournament_state(folder: Path) -> dict[str, object]:
    """The files of a tournament."""
    found: dict[str, object] = {
        name: of_bytes(folder / name) for name in ("tournament.json", "standings.csv", "pairs.csv")
    }
    found["parts"] = [(path.name, of_bytes(path)) for path in sorted((folder / "parts").glob("*.safetensors"))]
    return found


def report_state(folder: Path) -> dict[str, object]:
    """The page of a report, which contains its pictures."""
    return {"page": of_bytes(folder / "report.html")}


def hunt(
    name: str,
    command: Callable[[Path], Sequence[str]],
    state: Callable[[Path], dict[str, object]],
    *,
    times: int,
    seed: int,
    place: Path,
    number: int = signal.SIGKILL,
) -> Outcome:
    """Kill one command in so many trials, each in a new folder. See the top of this file."""
    draw, outcome = random.Random(seed), Outcome()
    started = time.monotonic()
    app(list(command(place / "whole")), result_action="return_value")  # in this process: its children know all imports
    expected = state(place / "whole")
    again = time.monotonic()
    assert ended(in_child(command(place / "again"), place / "again.log")) == 0
    longest = time.monotonic() - again
    assert state(place / "again") == expected, "two runs that nobody killed differ"
    for count in range(times):
        folder, log = place / str(count), place / f"{count}.log"
        before = len(outcome.faults)
        trial(command(folder), draw, longest, log, outcome, number)
        if len(outcome.faults) == before:
            found = state(folder)
            differing = [part for part in expected if found[part] != expected[part]]
            outcome.faults += [f"trial {count}: other {', '.join(differing)}"] * bool(differing)
        if len(outcome.faults) == before:
            shutil.rmtree(folder)
    print(
        f"{name}: {outcome.trials} trials, {outcome.kills} kills, {len(outcome.faults)} faults, "
        f"{time.monotonic() - started:.0f} s",
        flush=True,
    )
    for fault in outcome.faults[:5]:
        print(f"  {fault}", flush=True)
    return outcome


def main() -> int:
    """Hunt in all three commands. Returns the number of commands with faults."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--times", type=int, default=100, help="trials of each command")
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--signal", type=int, default=signal.SIGKILL, help="its number; 9 is SIGKILL, 15 is SIGTERM")
    asked.add_argument("--only", choices=("train", "tournament", "report"), nargs="*")
    given = asked.parse_args()
    chosen = given.only or ["train", "tournament", "report"]
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        run = place / "run"
        commands: dict[str, tuple[Callable[[Path], Sequence[str]], Callable[[Path], dict[str, object]]]] = {
            "train": (lambda folder: [*TRAIN, "--resume", str(folder)], train_state),
            "tournament": (lambda folder: [*TOURNAMENT, "--out", str(folder)], tournament_state),
            "report": (lambda folder: ["report", str(run), "--games", "20", "--out", str(folder)], report_state),
        }
        if "report" in chosen:
            assert ended(in_child([*TRAIN, "--resume", str(run)], place / "run.log")) == 0
        for name in chosen:
            (place / name).mkdir()
            command, state = commands[name]
            outcome = hunt(
                name, command, state, times=given.times, seed=given.seed, place=place / name, number=given.signal
            )
            failed += bool(outcome.faults)
    return failed


if __name__ == "__main__":
    sys.exit(main())
