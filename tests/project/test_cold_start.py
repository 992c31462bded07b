"""What a fresh process pays for: the import loads nothing heavy, and machine code is found on disk the second time."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fivedice.envs import GAMES

# What the import of the environments does not load.
HEAVY = {
    *("numba", "llvmlite", "torch", "stable_baselines3", "sb3_contrib", "tensorboard", "safetensors", "choix"),
    *("matplotlib", "pygame", "jax", "pgx"),
}

IMPORT = """
import json, sys, time
import gymnasium, pettingzoo, numpy  # what any user of an environment has loaded
start = time.process_time()
import fivedice.envs
print(json.dumps([time.process_time() - start, list(sys.modules)]))
"""

GAMES_TOO = f"""
import importlib, json, sys
from fivedice.envs import load_game
for name, version in {GAMES}.items():
    load_game(name)
    importlib.import_module(f"fivedice.envs.{{name}}_v{{version}}")
print(json.dumps([0.0, list(sys.modules)]))
"""

FIRST_STEP = """
import json, sys
import fivedice.envs, pettingzoo
env = pettingzoo.make("aec", "fivedice/yum-v0")
env.reset(seed=1)
env.step(int(env.last()[0]["action_mask"].argmax()))
modules = list(sys.modules)
from fivedice.envs.core.batch import make_loops
from fivedice.envs.yum import GAME
stats = [loop.stats for loop in make_loops(GAME)]
compiled, loaded = (sum(sum(kind.values()) for kind in kinds) for kinds in
    ([of.cache_misses for of in stats], [of.cache_hits for of in stats]))
print(json.dumps([[compiled, loaded], modules]))
"""


def fresh_process(program: str, folder: Path, **environment: str) -> tuple[Any, set[str]]:
    """What a program said first, and the modules that it loaded."""
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=folder,
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    said, modules = json.loads(ended.stdout)
    return said, set(modules)


def test_import__loads_nothing_heavy_and_compiles_nothing(tmp_path: Path) -> None:
    _, modules = fresh_process(IMPORT, tmp_path)
    assert not modules & HEAVY
    assert not (tmp_path / "cache").exists()


def test_import__costs_a_tenth_of_a_second_beside_its_libraries(tmp_path: Path) -> None:
    assert min(fresh_process(IMPORT, tmp_path)[0] for _ in range(2)) < 0.1


def test_import__of_every_game_compiles_nothing(tmp_path: Path) -> None:
    _, modules = fresh_process(GAMES_TOO, tmp_path)
    assert "numba" in modules
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT", "0") != "0", reason="nothing is compiled")
def test_first_step__finds_the_machine_code_of_an_earlier_process(tmp_path: Path) -> None:
    """Whoever compiled it: in the cache that is in use, another test may have."""
    kept = os.environ.get("NUMBA_CACHE_DIR", "")
    (compiled, loaded), modules = fresh_process(FIRST_STEP, tmp_path, NUMBA_CACHE_DIR=kept)
    if compiled:
        (compiled, loaded), modules = fresh_process(FIRST_STEP, tmp_path, NUMBA_CACHE_DIR=kept)
    assert compiled == 0
    assert loaded > 2
    assert not modules & (HEAVY - {"numba", "llvmlite"})
