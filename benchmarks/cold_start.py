"""Start-up time of a new process: the import, and the first step.

The new process measures its own time, from its first line on. The benchmark has its own folder for compiled code. So
the first process compiles everything, and the later ones load what it compiled.
"""

import json
import os
import subprocess
import sys
import tempfile

from benchmarks.measure import Claim, alternate, spread

IMPORT_BAR, STEP_BAR = 1.0, 1.5  # seconds
HEAVY = ("torch", "pygame", "matplotlib", "numba", "stable_baselines3", "jax")  # the import should not load these

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
    """Run `program` in a new process. Return the seconds that it printed, and the modules that it had loaded."""
    # The second variable is the user's own cache folder on Linux, which is read, too.
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "XDG_CACHE_HOME": cache}
    with tempfile.TemporaryDirectory() as elsewhere:  # not in the source folder, from which `envs` could be imported
        ended = subprocess.run(
            [sys.executable, "-c", program], cwd=elsewhere, env=environment, capture_output=True, text=True, check=False
        )
    if ended.returncode:
        raise RuntimeError(f"the new process ended with exit status {ended.returncode}:\n{ended.stderr}")
    seconds, modules = json.loads(ended.stdout)
    return seconds, set(modules)


def run(repetitions: int) -> list[Claim]:
    """Measure seconds until the end of the import, and of the first step."""
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
            "with compiled code on disk",
            "a fixed bar",
            spread(steps),
            " s",
            STEP_BAR,
            at_most=True,
        ),
        Claim("the same, first time ever", "compiles everything", "reported only", spread([first_ever]), " s"),
    ]
