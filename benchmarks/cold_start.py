"""What a fresh process waits for: the import, and the first step.

Times are taken inside the new process from its first line on. Machine code is kept in a folder of its own for this
benchmark, so that "the first ever" is just that, and later processes find what that one left.
"""

import json
import os
import subprocess
import sys
import tempfile

from benchmarks.measure import Claim, alternate, spread

IMPORT_BAR, STEP_BAR = 1.0, 1.5  # seconds
HEAVY = ("torch", "pygame", "matplotlib", "numba", "stable_baselines3", "jax")  # what an import must not load

IMPORT = """
import json, sys, time
start = time.perf_counter()
import fivedice.envs
print(json.dumps([time.perf_counter() - start, sorted(sys.modules)]))
"""

STEP = """
import json, sys, time
start = time.perf_counter()
import fivedice.envs, pettingzoo
env = pettingzoo.make("aec", "fivedice/yum-v0")
env.reset(seed=1)
observation = env.last()[0]
env.step(int(observation["action_mask"].argmax()))
print(json.dumps([time.perf_counter() - start, sorted(sys.modules)]))
"""


def fresh_process(program: str, cache: str) -> tuple[float, set[str]]:
    """How many seconds `program` took in a process of its own, and the modules it had loaded at the end."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    with tempfile.TemporaryDirectory() as elsewhere:  # not in the source folder, where `envs` could be imported
        ended = subprocess.run(
            [sys.executable, "-c", program], cwd=elsewhere, env=environment, capture_output=True, text=True, check=False
        )
    if ended.returncode:
        raise RuntimeError(f"the fresh process failed:\n{ended.stderr}")
    seconds, modules = json.loads(ended.stdout)
    return seconds, set(modules)


def run(repetitions: int) -> list[Claim]:
    """Seconds to import, and to the first step of a process."""
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as empty:
        _, modules = fresh_process(IMPORT, empty)
        loaded = [name for name in HEAVY if name in modules]
        first_ever, _ = fresh_process(STEP, cache)
        imports, steps = alternate(
            repetitions, lambda: fresh_process(IMPORT, cache)[0], lambda: fresh_process(STEP, cache)[0]
        )
    unloaded = f"loads {', '.join(loaded)}" if loaded else "loads no torch, pygame, matplotlib or numba"
    return [
        Claim("import fivedice.envs", unloaded, "a fixed bar", spread(imports), " s", IMPORT_BAR, at_most=True),
        Claim(
            "import, first reset and step of a process",
            "machine code on disk",
            "a fixed bar",
            spread(steps),
            " s",
            STEP_BAR,
            at_most=True,
        ),
        Claim("the same, first ever", "everything is compiled, once", "reported only", spread([first_ever]), " s"),
    ]
