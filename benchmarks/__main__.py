"""``python -m benchmarks [NAME ...]``: all benchmarks, or those named; one table; exit status 1 if a bar is missed."""

import argparse
import importlib
import sys

from rich.console import Console

from benchmarks.measure import Claim, MissingPeer, machine, table

BENCHMARKS = {
    "batch": "batched Yum and its rules alone, and every other game, one core, decisions/s",
    "pgx": "batched Yum against Pgx tic_tac_toe, all cores, decisions/s",
    "aec": "AEC env() loop against PettingZoo's tictactoe, time per step",
    "training": "learner's decisions/s against the way of PettingZoo's tutorial",
    "cold_start": "import, and first step of a fresh process, seconds",
}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure the speed of fivedice against named peers, on this machine, in one run.",
        epilog="Benchmarks: "
        + "; ".join(f"{name}: {what}" for name, what in BENCHMARKS.items())
        + ". The peers are an extra: pip install 'fivedice[bench]'. Exit status 1 if a bar is missed.",
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"one of {', '.join(BENCHMARKS)}; all if none is given"
    )
    parser.add_argument("--repetitions", type=int, default=7, help="of each contender, in turn (default: %(default)s)")
    arguments = parser.parse_args()
    for name in arguments.names:
        if name not in BENCHMARKS:
            parser.error(f"{name!r} is not a benchmark; use {', '.join(BENCHMARKS)}")

    console = Console(width=None if sys.stdout.isatty() else 160)
    claims: list[Claim] = []
    problems: list[str] = []
    for name in arguments.names or BENCHMARKS:
        try:
            with console.status(f"measuring {name}: {BENCHMARKS[name]}"):
                claims += importlib.import_module(f"benchmarks.{name}").run(arguments.repetitions)
        except MissingPeer as error:
            problems.append(f"{name}: {error}")
    problems += [claim.miss() for claim in claims if not claim.met]
    console.print(table(claims))
    console.print(machine(), highlight=False)
    for problem in problems:
        console.print(f"[red]missed[/red]  {problem}", highlight=False)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
