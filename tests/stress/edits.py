"""Edit the sources of a game of another package at random: compiled rules are those of the sources as they are now.

``python tests/stress/edits.py --times 50 --seed 1`` writes two packages into a folder: a game, and a library whose
kernels the game calls. Between two processes it edits some of them: an expression or a number of a kernel, a kernel of
the library, a table that a kernel reads, and the record of the state. There are few variants of each part, so old ones
come back, and their machine code is still in the cache. The file times of some edits are set back, too. Each process
plays games by `Batch` and by the PettingZoo environment, first compiled, then in another process as plain Python. Both
must see the same masks, observations, rewards and states.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

VARIANTS: dict[str, tuple[str, ...]] = {
    "STEP": ("1", "2", "3"),
    "MOVE": (
        "gain(int(state['die'][0]), action) + STEP",
        "gain(int(state['die'][0]), action) * STEP",
        "gain(int(state['die'][0]), 1 - action) + 2 * STEP",
    ),
    "FIELDS": (
        "('die', np.int8, (1,)), ('player', np.uint8), ('points', np.int16, (MAX_SEATS,))",
        "('die', np.int8, (1,)), ('player', np.uint8), ('points', np.int64, (MAX_SEATS,))",
        "('points', np.int16, (MAX_SEATS,)), ('player', np.uint8), ('die', np.int8, (1,))",
        "('player', np.int32), ('spare', np.int8, (3,)), ('points', np.int32, (MAX_SEATS,)), ('die', np.int8, (1,))",
    ),
    "SCALE": ("1.0", "0.5", "0.25"),
    "TABLE": ("[3, 1, 4, 1, 5, 9]", "[2, 7, 1, 8, 2, 8]", "[1, 1, 1, 1, 1, 1]"),
    "GAIN": ("TABLE[die - 1] + twist(action)", "TABLE[6 - die] * (1 + action)", "twist(die) + action"),
    "INLINE": ("inline=True", "inline=False"),
    "TWIST": ("x + 1", "x * x", "abs(x - 2)"),
}
LIBRARY = {"TABLE", "GAIN", "INLINE", "TWIST"}  # parts of the second package

SOURCES = {
    "racelib/__init__.py": "",
    "racelib/twisting.py": """
from fivedice.envs.core.kernel import kernel

@kernel
def twist(x: int) -> int:
    return <TWIST>
""",
    "racelib/gains.py": """
import numpy as np
from fivedice.envs.core.kernel import kernel
from racelib.twisting import twist

TABLE = np.array(<TABLE>, np.int64)

@kernel(<INLINE>)
def gain(die: int, action: int) -> int:
    return <GAIN>
""",
    "racegame/rules.py": """
from typing import Any
import numpy as np
from fivedice.envs.core.chance import MAX_SEATS, roll_dice
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.option import WholeNumber
from fivedice.envs.core.winners import mark_highest
from racelib.gains import gain

STATE = np.dtype([<FIELDS>])
OPTIONS = (WholeNumber("goal", 40, 10, 1000, "how many points win"),)
STEP = <STEP>

@kernel
def setup(state, options, chance):
    state["player"] = 0
    state["points"][:] = 0
    roll_dice(state["die"], 0, 6, 0, chance)

@kernel
def current_player(state):
    return int(state["player"])

@kernel
def is_terminal(state, options):
    for seat in range(options["num_players"]):
        if state["points"][seat] >= options["goal"]:
            return True
    return False

@kernel
def legal_actions(state, options, mask):
    over = is_terminal(state, options)
    mask[0] = not over
    mask[1] = not over and state["die"][0] > 1

@kernel
def apply(state, options, action, chance):
    player = int(state["player"])
    state["points"][player] += <MOVE>
    state["player"] = (player + 1) % int(options["num_players"])
    roll_dice(state["die"], 0, 6, int(state["player"]), chance)

@kernel
def scores(state, options, points):
    for seat in range(options["num_players"]):
        points[seat] = state["points"][seat]

@kernel
def winners(state, options, won):
    highest = 0
    for seat in range(options["num_players"]):
        highest = mark_highest(seat, int(state["points"][seat]), highest, won)
""",
    "racegame/__init__.py": """
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Field, Game, Layout
from racegame import rules

def layout(options):
    seats = int(options["num_players"])
    return Layout([Field("die", (6,), 0, 1, "the die"), Field("points", (seats,), 0, 1, "points / goal, at most 1")])

@kernel
def observe(state, options, seat, out):
    seats = int(options["num_players"])
    for face in range(6):
        out[face] = state["die"][0] == face + 1
    for i in range(seats):
        out[6 + i] = min(1.0, <SCALE> * state["points"][(seat + i) % seats] / options["goal"])

GAME = Game(
    name="race", title="Race", version=0, min_players=2, max_players=4, default_players=2, max_decisions_per_seat=200,
    face_names=("1", "2", "3", "4", "5", "6"), rules=rules, layout=layout, observe=observe,
    action_names=lambda options: ("take", "swap"), name_action=lambda state, options, action: ("take", "swap")[action],
    render=lambda state, options: str(state),
)
""",
}

PLAY = """
import hashlib, sys
import numpy as np
import pettingzoo
from fivedice.envs import Batch, register_game
register_game("race", "racegame:GAME")
seed, seen = int(sys.argv[1]), hashlib.sha256()
def note(*values):
    for value in values:
        array = np.round(np.asarray(value, np.float64), 5) + 0.0
        seen.update(array.tobytes())
def choose(mask, uniform):
    legal = np.flatnonzero(mask)
    return int(legal[int(uniform * len(legal))])
generator = np.random.default_rng(seed)
batch = Batch("race", 8)
batch.reset(seed)
for _ in range(30):
    note(batch.masks, batch.observations, *(batch.states[name] for name in ("die", "player", "points")))
    batch.step(np.array([choose(mask, generator.random()) for mask in batch.masks]))
    note(batch.rewards, batch.terminated)
of_batch, seen = seen.hexdigest(), hashlib.sha256()
env = pettingzoo.make("aec", "fivedice/race-v0", num_players=3)
env.reset(seed=seed)
while env.agents:
    shown, reward, terminated, truncated, _ = env.last()
    note(shown["observation"], shown["action_mask"], reward)
    env.step(None if terminated or truncated else choose(shown["action_mask"], generator.random()))
note(*env.unwrapped.scores().values())
print(of_batch, seen.hexdigest())
"""


@dataclass
class Tally:
    """What was done, and what was wrong."""

    rounds: int = 0
    edits: dict[str, int] = field(default_factory=lambda: dict.fromkeys(VARIANTS, 0))
    set_back: int = 0
    faults: list[str] = field(default_factory=list)


def write(folder: Path, chosen: dict[str, str], set_back: bool) -> None:
    """Write the sources with these variants. With `set_back`, a changed file gets the times that it had before."""
    for name, text in SOURCES.items():
        for part, variant in chosen.items():
            text = text.replace(f"<{part}>", variant)
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        before = path.stat() if path.exists() else None
        if before is None or path.read_text() != text:
            path.write_text(text)
            if before is not None and set_back:
                os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def play(folder: Path, seed: int, *, compiled: bool) -> str:
    """What a new process sees in its games; the last line of its error if it fails."""
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "XDG_CACHE_HOME": f"{folder}/cache"}
    environment["NUMBA_DISABLE_JIT"] = "0" if compiled else "1"
    command = [sys.executable, "-c", PLAY, str(seed)]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=600)
    if ran.returncode:
        return f"exit status {ran.returncode}: {(ran.stderr.strip().splitlines() or ['no message'])[-1]}"
    return ran.stdout.strip()


def hunt(times: int, seed: int, folder: Path) -> Tally:
    """Play `times` rounds in `folder`. Between two rounds, one to three parts of the sources are edited."""
    generator, tally = random.Random(seed), Tally()
    chosen = {part: variants[0] for part, variants in VARIANTS.items()}
    for number in range(times):
        set_back = False
        if number:
            for part in generator.sample(sorted(VARIANTS), generator.randint(1, 3)):
                chosen[part] = generator.choice([variant for variant in VARIANTS[part] if variant != chosen[part]])
                tally.edits[part] += 1
            set_back = generator.random() < 0.5
        write(folder, chosen, set_back)
        tally.set_back += set_back
        expected = play(folder, number, compiled=False)
        found = play(folder, number, compiled=True)
        tally.rounds += 1
        if found != expected or "exit status" in expected:
            tally.faults.append(f"round {number}, {chosen}: compiled {found!r}, plain Python {expected!r}")
    return tally


def main() -> None:
    """Run it, print the numbers, and exit with status 1 if something was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fivedice-") as folder:
        tally = hunt(given.times, given.seed, Path(folder))
    of_library = sum(count for part, count in tally.edits.items() if part in LIBRARY)
    for fault in tally.faults:
        print(fault)
    print(
        f"{tally.rounds} rounds with {sum(tally.edits.values())} edits, {of_library} of them of the second package and "
        f"{tally.edits['FIELDS']} of the record, {tally.set_back} times with old file times, "
        f"{time.monotonic() - started:.0f} s: {len(tally.faults)} faults"
    )
    sys.exit(bool(tally.faults))


if __name__ == "__main__":
    main()
