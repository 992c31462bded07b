"""Fill the disk at every point of a command, make room, and run the command again.

``python tests/stress/disk.py --times 40 --seed 1`` needs root on Linux, because it mounts a small file system in
memory. Each trial runs a command on a disk with a random number of free bytes. The command must end with one sentence
and exit status 2, or succeed; files that it wrote before must be intact. Then the disk is enlarged, and the same
command must give the results of a run that always had room.
"""

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from kill import (  # type: ignore[import-not-found]  # a script of the same folder
    TOURNAMENT,
    TRAIN,
    Outcome,
    app,
    ended,
    in_child,
    report_state,
    tournament_state,
    train_state,
)

PAGE = 4096
ROOM = "64m"


def resize(place: Path, size: str) -> None:
    """Change the size of a mounted tmpfs."""
    subprocess.run(["mount", "-o", f"remount,size={size}", place], check=True)


def size_of(folder: Path) -> int:
    """The bytes of all files in a folder, in whole pages."""
    return sum(-(-path.stat().st_size // PAGE) * PAGE for path in folder.rglob("*") if path.is_file())


def hunt(
    name: str,
    command: Callable[[Path], Sequence[str]],
    state: Callable[[Path], dict[str, object]],
    *,
    times: int,
    seed: int,
    place: Path,
    disk: Path,
) -> Outcome:
    """Fill the disk in so many trials of a command."""
    draw, outcome, started = random.Random(seed), Outcome(), time.monotonic()
    app(list(command(place / "whole")), result_action="return_value")
    expected, needed = state(place / "whole"), size_of(place / "whole")
    for count in range(times):
        folder, log = disk / "out", place / f"{count}.log"
        outcome.trials += 1
        resize(disk, str(draw.randrange(PAGE, needed + 8 * PAGE)))
        status = ended(in_child(command(folder), log))
        said = log.read_text(encoding="utf-8")
        if status not in (0, 2) or "Traceback" in said or (status == 2 and "fivedice: " not in said):
            outcome.faults.append(f"trial {count}: exit status {status}: {said[-600:]}")
        outcome.kills += status == 2
        resize(disk, ROOM)
        status = ended(in_child(command(folder), log))
        if status:
            outcome.faults.append(f"trial {count}, with room: {status}: {log.read_text(encoding='utf-8')[-600:]}")
        else:
            found = state(folder)
            differing = [part for part in expected if found[part] != expected[part]]
            outcome.faults += [f"trial {count}: other {', '.join(differing)}"] * bool(differing)
        shutil.rmtree(folder, ignore_errors=True)
    print(
        f"{name}: {outcome.trials} trials, {outcome.kills} of them with a full disk, {len(outcome.faults)} faults, "
        f"{time.monotonic() - started:.0f} s",
        flush=True,
    )
    for fault in outcome.faults[:5]:
        print(f"  {fault}", flush=True)
    return outcome


def main() -> int:
    """Hunt in training runs, tournaments and reports. Returns the number of commands with faults."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--times", type=int, default=40, help="trials of each command")
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--only", choices=("train", "tournament", "report"), nargs="*")
    given = asked.parse_args()
    chosen = given.only or ["train", "tournament", "report"]
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        disk, run = Path(temporary) / "disk", Path(temporary) / "run"
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", disk], check=True)
        try:
            if "report" in chosen:
                app([*TRAIN, "--resume", str(run)], result_action="return_value")
            commands: dict[str, tuple[Callable[[Path], Sequence[str]], Callable[[Path], dict[str, object]]]] = {
                "train": (lambda folder: [*TRAIN, "--resume", str(folder)], train_state),
                "tournament": (lambda folder: [*TOURNAMENT, "--out", str(folder)], tournament_state),
                "report": (lambda folder: ["report", str(run), "--games", "20", "--out", str(folder)], report_state),
            }
            for name in chosen:
                command, state = commands[name]
                place = Path(temporary) / name
                place.mkdir()
                outcome = hunt(name, command, state, times=given.times, seed=given.seed, place=place, disk=disk)
                failed += bool(outcome.faults)
        finally:
            subprocess.run(["umount", disk], check=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
