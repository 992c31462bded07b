"""What a fresh process pays for: the import loads nothing heavy, and machine code is found on disk the second time."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"numba", "torch", "stable_baselines3", "sb3_contrib", "pygame", "matplotlib", "jax", "pgx", "tensorboard"}

IMPORT = """
import json, sys, time
start = time.perf_counter()
import fivedice.envs
print(json.dumps([time.perf_counter() - start, list(sys.modules)]))
"""

FIRST_STEP = """
import json, sys, time
start = time.perf_counter()
import fivedice.envs, pettingzoo
env = pettingzoo.make("aec", "fivedice/yum-v0")
env.reset(seed=1)
env.step(int(env.last()[0]["action_mask"].argmax()))
print(json.dumps([time.perf_counter() - start, list(sys.modules)]))
"""


def fresh_process(program: str, folder: Path) -> tuple[float, set[str]]:
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=folder,
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    seconds, modules = json.loads(ended.stdout)
    return seconds, set(modules)


def test_import__loads_nothing_heavy_and_compiles_nothing(tmp_path: Path) -> None:
    _, modules = fresh_process(IMPORT, tmp_path)
    assert not modules & HEAVY
    assert not (tmp_path / "cache").exists()


def test_import__is_quick(tmp_path: Path) -> None:
    seconds = min(fresh_process(IMPORT, tmp_path)[0] for _ in range(3))
    assert seconds < 3.0  # about 0.2; benchmarks/cold_start.py holds it to 1


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT", "0") != "0", reason="nothing is compiled")
def test_first_step__finds_the_machine_code_of_an_earlier_process(tmp_path: Path) -> None:
    first_ever, modules = fresh_process(FIRST_STEP, tmp_path)
    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").rglob("*.nb*")}
    later = min(fresh_process(FIRST_STEP, tmp_path)[0] for _ in range(2))
    assert written
    assert written == {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").rglob("*.nb*")}
    assert later < first_ever
    assert not modules & (HEAVY - {"numba"})
