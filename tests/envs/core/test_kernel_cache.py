"""Machine code is kept between processes, and never outlives the source that it came from."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core import config
from numpy.typing import NDArray

from fivedice.envs.core.dice import is_five_alike
from fivedice.envs.core.kernel import kernel, plain, wrapping_product
from fivedice.envs.core.kernel_cache import CacheFiles, say_once
from fivedice.envs.yum import rules

needs_compiled_code = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
ROOT = Path(__file__).parents[3]

# Adds up a card that earns the bonus, through a loop over rows (one file) that calls the rules (another file), and says
# whether the loop was loaded or compiled.
PROGRAM = """
import fivedice.envs
import numpy as np
from fivedice.envs.core.batch import Batch, make_loops
from fivedice.envs.yum import GAME, rules
batch = Batch(GAME, 1, num_players=1)
batch.states["boxes"][0, 0] = [3, 6, 9, 12, 15, 18, *[rules.OPEN] * 6]
points, _ = batch.results(batch.all_rows)
stats = make_loops(GAME).result.stats
print(fivedice.envs.__file__, int(points[0, 0]), sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""
LOADED, COMPILED = (1, 0), (0, 1)


class Copy:
    """The project's sources in a folder of their own, to be edited, with a cache of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for package in ("envs", "agents"):
            shutil.copytree(ROOT / package, folder / "fivedice" / package)

    def run(self, **environment: str) -> tuple[int, tuple[int, int]]:
        """The points, and how often the loop was loaded and compiled."""
        ran = subprocess.run(
            [sys.executable, "-B", "-c", PROGRAM],
            env={
                **{name: value for name, value in os.environ.items() if name != "NUMBA_BOUNDSCHECK"},
                "PYTHONPATH": str(self.folder),
                "NUMBA_CACHE_DIR": str(self.folder / "cache"),
                **environment,
            },
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert ran.returncode == 0, ran.stderr
        file, points, hits, misses = ran.stdout.split()
        assert file.startswith(str(self.folder))
        return int(points), (int(hits), int(misses))

    def edit(self, file: str, old: str, new: str) -> None:
        """Change a file as the least careful of editors does: size and time of the last change stay the same."""
        path = self.folder / "fivedice" / file
        times, text = path.stat(), path.read_text()
        assert text.count(old) == 1
        assert len(old) == len(new)
        path.write_text(text.replace(old, new))
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        assert (path.stat().st_size, path.stat().st_mtime_ns) == (times.st_size, times.st_mtime_ns)


@pytest.fixture
def project(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def test_cache__compiles_once_for_each_way_and_again_after_an_edit(project: Copy) -> None:
    """That any file counts, and where each way of compiling is kept, is in tests/project/test_kept.py."""
    assert project.run() == (63 + 25, COMPILED)
    assert project.run(NUMBA_BOUNDSCHECK="1") == (63 + 25, COMPILED)
    assert project.run() == (63 + 25, LOADED)  # neither throws the other's away
    project.edit("envs/yum/rules.py", "return BONUS if has_bonus", "return-BONUS if has_bonus")
    assert project.run() == (63 - 25, COMPILED)
    assert project.run() == (63 - 25, LOADED)


# Another package: a rule, its helper, a constant and the layout of its states, each in a module of its own.
PACKAGE = {
    "rule.py": """
import numpy as np
from fivedice.envs.core.dice import is_five_alike
from fivedice.envs.core.kernel import kernel
from theirs.helper import doubled
from theirs.layout import STATE

@kernel
def points(state):
    total = 0
    for _ in range(3):
        total += doubled(state["points"]) + state["turn"]
    return total + 100 * is_five_alike(state["dice"])

def make_state(points, turn, dice):
    state = np.zeros(1, STATE)[0]
    state["points"], state["turn"], state["dice"] = points, turn, dice
    return state
""",
    "helper.py": """
from fivedice.envs.core.kernel import kernel
from theirs import constant

@kernel
def doubled(number):
    return constant.TWO * number
""",
    "constant.py": "TWO = 2",
    "layout.py": """
import numpy as np
STATE = np.dtype([("points", np.int16), ("turn", np.int16), ("dice", np.int8, (5,))])
""",
}
THEIR_PROGRAM = """
from theirs import rule
found = rule.points(rule.make_state(5, 1, 4)), rule.points(rule.make_state(7, 2, [1, 2, 3, 4, 5]))
print(*found, sum(rule.points.stats.cache_hits.values()), sum(rule.points.stats.cache_misses.values()))
"""


@needs_compiled_code
def test_cache__of_another_package_is_compiled_again_after_an_edit_of_anything_in_it(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    for name, text in PACKAGE.items():
        (tmp_path / "theirs" / name).write_text(text)

    def run() -> tuple[int, ...]:
        return tuple(map(int, run_program(tmp_path, THEIR_PROGRAM).split()))

    def edit(name: str, old: str, new: str) -> None:
        path = tmp_path / "theirs" / name
        assert path.read_text().count(old) == 1
        path.write_text(path.read_text().replace(old, new))

    assert run() == (133, 48, *COMPILED)
    edit("helper.py", "import kernel\n", "import kernel  # a comment\n\n\n")
    edit("constant.py", "TWO = 2", "TWO = 2\nTHREE = 3")
    assert run() == (133, 48, *LOADED)
    edit("rule.py", "range(3)", "range(4)")
    assert run() == (144, 64, *COMPILED)
    edit("helper.py", "* number", "* number + 1")
    assert run() == (148, 68, *COMPILED)
    edit("constant.py", "TWO = 2", "TWO = 3")
    assert run() == (168, 96, *COMPILED)
    edit("layout.py", '("points", np.int16), ("turn", np.int16)', '("turn", np.int64), ("points", np.int8)')
    assert run() == (168, 96, *COMPILED)
    assert run() == (168, 96, *LOADED)


# One function for two layouts. Each process meets only one of them first, so the compiler gives them the same number.
TWO_LAYOUTS = """
import sys
import numpy as np
from fivedice.envs.core.kernel import kernel

NEAR = np.dtype([("x", np.int64), ("y", np.int64)])
FAR = np.dtype([*[(f"unused {i}", np.int64) for i in range(9)], ("y", np.int64), ("x", np.int64)])

@kernel
def mixed(state, count):
    number = 0
    for i in range(count):
        number = number + state["x"] * i if i % 7 == 3 and number % 5 != 2 else number ^ (i + state["y"])
        for j in range(i):
            number = (number * 31 + j) % 1000003
    return number

def make():
    @kernel
    def both(state):
        return mixed(state, 50) + mixed(state, 51) + mixed(state, 60)
    return both

for name in sys.argv[1:]:
    state = np.zeros(1, globals()[name])[0]
    state["x"], state["y"] = 3, 5
    both = make()
    print(both(state), both.stats.cache_hits.total(), end=" ")
"""


@needs_compiled_code
def test_cache__never_mixes_functions_that_other_processes_have_stored(tmp_path: Path) -> None:
    """Numba numbers functions and record types in each process, so stored functions could have the same name."""
    near, far = (run_program(tmp_path, TWO_LAYOUTS, name).split() for name in ("NEAR", "FAR"))
    assert near == far
    assert near[1] == "0"
    assert run_program(tmp_path, TWO_LAYOUTS, "NEAR", "FAR").split() == [near[0], "1"] * 2


def run_program(folder: Path, program: str, *arguments: str) -> str:
    """What a program prints that finds modules in a folder, with a cache of its own there."""
    ran = subprocess.run(
        [sys.executable, "-B", "-c", program, *arguments],
        env=os.environ
        | {
            "PYTHONPATH": os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]),
            "NUMBA_CACHE_DIR": str(folder / "cache"),
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_cache__keeps_apart_what_processes_write_at_the_same_time(tmp_path: Path) -> None:
    """The loops of all games are one function, and each process looks before any other has written."""

    class Process(CacheFiles):
        def _load_index(self) -> dict[Any, str]:
            return {}

    def files(stamp: str = "now") -> Process:
        return Process(str(tmp_path), "batch.step-50.py311", stamp)

    keys = ("yum", "float64"), ("yum", "float32"), ("yahtzee_jr", "float64")
    for key in keys:
        files().save(key, f"code of {key}")
    assert [files().load(key) for key in keys] == [f"code of {key}" for key in keys]
    assert files("later").load(keys[0]) is None
    files("later").save(keys[0], "other code")
    assert files("later").load(keys[0]) == "other code"
    assert len(list(tmp_path.iterdir())) == 1  # nothing is left behind
    being_written = tmp_path / "batch.step-50.py311.nbi.0.1.nbc.tmp.2"
    being_written.touch()
    files("later still").save(keys[0], "other code")
    files("later still").flush()
    assert list(tmp_path.iterdir()) == [being_written]


@pytest.mark.parametrize("damage", ["cut short", "a block of zeros", "emptied", "another's", "a folder"])
def test_cache__compiles_anew_what_is_damaged(tmp_path: Path, damage: str) -> None:
    """Numba would run it: a hole in machine code ends the process."""
    files = CacheFiles(str(tmp_path), "batch.step-50.py311", "now")
    files.save("other", "other code")
    (others,) = (path.read_bytes() for path in tmp_path.iterdir())
    files.flush()
    files.save("key", "code" * 1000)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    assert files.load("key") == "code" * 1000
    path.unlink()
    if damage == "a folder":
        path.mkdir()
    else:
        half = len(whole) // 2
        broken = {
            "cut short": whole[:-1],
            "a block of zeros": whole[:half] + bytes(512) + whole[half + 512 :],
            "emptied": b"",
            "another's": others,
        }
        path.write_bytes(broken[damage])
    assert files.load("key") is None
    files.save("key", "code")
    assert files.load("key") == (None if damage == "a folder" else "code")


def test_cache__full_disk_costs_only_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    files = CacheFiles(str(tmp_path), "batch.step-50.py311", "now")
    monkeypatch.setattr(os, "replace", full)
    files.save("key", "code")
    assert files.load("key") is None
    assert not list(tmp_path.iterdir())


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "fivedice"]


@pytest.fixture
def users_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    say_once.cache_clear()
    return tmp_path / "home" / "fivedice"


@needs_compiled_code
@pytest.mark.parametrize("place", ["in the way", "in the way/deeper"])
def test_cache__without_a_folder_that_can_be_written_costs_only_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, users_folder: Path, place: str
) -> None:
    (tmp_path / "in the way").write_text("a file")
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / place))
    users_folder.parent.write_text("a file, too")

    for factor in (3, 4):

        @kernel
        def times(number: int, factor: int = factor) -> int:
            return factor * number

        assert times(5) == 5 * factor
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "in the way"]
    assert said(caplog) == [
        f"compiled rules cannot be stored in {tmp_path / place}, so each process compiles them; set NUMBA_CACHE_DIR"
    ]


@needs_compiled_code
def test_cache__of_another_user_is_read_and_ones_own_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, users_folder: Path
) -> None:
    theirs = tmp_path / "theirs"
    monkeypatch.setattr(config, "CACHE_DIR", str(theirs))

    def make() -> Any:
        @kernel
        def double(number: float) -> float:
            return 2 * number

        return double

    assert make()(4) == 8  # by them
    before = sorted(theirs.rglob("*.nbc"))
    assert len(before) == 1
    writable = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: theirs not in Path(path).parents and writable(path, mode))
    mine = make()
    assert mine(4) == 8
    assert sum(mine.stats.cache_hits.values()) == 1
    assert said(caplog) == []
    assert mine(0.5) == 1.0  # not compiled by them
    assert sorted(theirs.rglob("*.nbc")) == before
    assert len(list(users_folder.rglob("*.nbc"))) == 1
    again = make()
    assert (again(4), again(0.5), sum(again.stats.cache_misses.values())) == (8, 1.0, 0)
    assert said(caplog) == [f"compiled rules cannot be stored in {theirs}; they are stored in {users_folder}"]


@needs_compiled_code
def test_cache__holds_what_was_compiled_in_one_file_for_each_kind_of_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))

    def make() -> Any:
        @kernel
        def double(number: float) -> float:
            return 2 * number

        return double

    first, second = make(), make()
    assert (first(4), first(0.25)) == (8, 0.5)
    assert len(list(tmp_path.rglob("*.nbc"))) == 2
    assert (second(4), second(0.25)) == (8, 0.5)
    for function, hits, misses in ((first, 0, 2), (second, 2, 0)):
        stats = function.stats
        assert (sum(stats.cache_hits.values()), sum(stats.cache_misses.values())) == (hits, misses)


def test_kernel__that_returns_an_array_says_so() -> None:
    def first_row(table: NDArray[np.int8]) -> NDArray[np.int8]:
        return table[0]

    with pytest.raises(TypeError, match=r"first_row returns an array: @kernel\(allocates=True\)"):
        kernel(first_row)
    assert kernel(allocates=True)(first_row)(np.ones((2, 3), np.int8)).tolist() == [1, 1, 1]


def test_plain__asks_the_kernels_that_a_kernel_calls_in_plain_python() -> None:
    assert plain(is_five_alike)([2, 2, 2, 2, 2])
    assert plain(rules.score)(np.array([3, 6, 9, 12, 15, 18] + [rules.OPEN] * 6, np.int8)) == 63 + 25


def test_wrapping_product__gives_the_lowest_bits_compiled_and_not() -> None:
    @kernel
    def highest_byte(a: int, b: int) -> int:
        return wrapping_product(a, b) >> 56 & 0xFF

    # The second is above 62 only if the compiler takes it for granted that the product stays below 2**63.
    for a in (0x0505050505050505, 5 | 23 << 32 | 22 << 40, 2**62 + 1, 1):
        for b in (0x0101010101010101, 0x0102040810204080, 0xD2511F53):
            assert highest_byte(a, b) == plain(highest_byte)(a, b) == a * b >> 56 & 0xFF
            assert above(a) == plain(above)(a)


@kernel
def above(word: int) -> bool:
    return (wrapping_product(word & 0xFFFFFFFFFFFF, 0x0101010101010101) >> 56 & 0xFF) >= 63
