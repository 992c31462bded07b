"""``python -m benchmarks [NAME ...]`` runs all or the named benchmarks and prints one table.

The exit status is 1 if a bar is missed or a peer is not installed.
"""

import argparse
import importlib
import sys

from rich.console import Console

from benchmarks.measure import Claim, MissingPeer, machine, table

BENCHMARKS = {
    "batch": "every game in batches, and the rules of Yum alone, on one core, decisions/s",
    "pgx": "batched Yum against Pgx tic_tac_toe and backgammon, on all cores, decisions/s",
    "aec": "loop over an AEC env() against PettingZoo's tictactoe, time per step",
    "training": "training against the method of PettingZoo's tutorial, learner's decisions/s",
    "pictures": 'a frame of render_mode="rgb_array" of every game, milliseconds',
    "workers": "training with two workers against one, learner's decisions/s",
    "look_ahead": "greedy play and the planner of SET Cubed, processor time for a decision",
    "cold_start": "import and first step in a new process, seconds",
}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure the speed of fivedice and of named peers on this machine, in one run.",
        epilog="Benchmarks: "
        + "; ".join(f"{name}: {what}" for name, what in BENCHMARKS.items())
        + ". Install the peers with: pip install 'fivedice[bench]'. The exit status is 1 if a bar is missed.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(BENCHMARKS)} (default: all)")
    parser.add_argument(
        "--repetitions", type=int, default=7, help="how often each side is measured, alternately (default: %(default)s)"
    )
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
