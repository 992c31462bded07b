"""A library that is not installed: the message names the extra that installs it."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from fivedice.agents.policies.extras import EXTRAS

ROOT = Path(__file__).parents[3]
WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
{code}
"""


def run_without(missing: tuple[str, ...], code: str) -> subprocess.CompletedProcess[str]:
    program = WITHOUT.format(missing=missing, code=code)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("missing", "code", "library", "extra"),
    [
        ("torch", "from fivedice.agents import SeatVecEnv", "torch", "train"),
        ("stable_baselines3", "from fivedice.agents import SeatVecEnv", "stable_baselines3", "train"),
        ("torch", "from fivedice.agents import from_torch", "torch", "train"),
        ("onnxruntime", "from fivedice.agents import load; load('some.onnx')", "onnxruntime", "onnx"),
        ("minari", "from fivedice.agents import record", "minari", "data"),
    ],
)
def test_missing_library__names_the_extra(missing: str, code: str, library: str, extra: str) -> None:
    ran = run_without((missing,), code)
    last = ran.stderr.splitlines()[-1]
    assert last.startswith("ModuleNotFoundError: fivedice.agents.")
    assert last.endswith(f" needs {library}; install it by: pip install 'fivedice[{extra}]'")


def test_missing_library__that_no_extra_installs_is_reported_as_it_is() -> None:
    ran = run_without(("safetensors",), "from fivedice.agents import save_checkpoint")
    assert ran.stderr.splitlines()[-1] == "ModuleNotFoundError: No module named 'safetensors'"


def test_missing_libraries__leave_policies_and_evaluation() -> None:
    everything = tuple(library for libraries in EXTRAS.values() for library in libraries)
    code = "from fivedice.agents import evaluate, load, save_checkpoint; print(load('random').name)"
    assert run_without(everything, code).stdout == "random\n"


def test_extras__are_those_of_the_package() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    for extra, libraries in EXTRAS.items():
        needed = " ".join(extras[extra]).replace("-", "_").replace("pillow", "PIL")
        assert [library for library in libraries if library not in needed] == []
