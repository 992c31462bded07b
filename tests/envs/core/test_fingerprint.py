"""The fingerprint of a kernel differs after each edit that changes its machine code, and after no other."""

import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fivedice.envs.core import fingerprint as module
from fivedice.envs.core.fingerprint import NoFingerprint, closure_of, fingerprint

HELP = """
import enum
import math
from typing import NamedTuple

import numpy as np

from fivedice.envs.core.kernel import kernel, wrapping_product

class Colour(enum.IntEnum):
    RED = 1
    BLUE = 2

class Pair(NamedTuple):
    first: int
    second: int

TABLE = np.arange(2000, dtype=np.int16)
LAYOUT = np.dtype([("points", np.int8), ("turn", np.int16)])
LIMITS = (3, 5)
WORDS = {"a": 1}
SIDES = 6

@kernel
def deep(number):
    return number + 1

@kernel(inline=True)
def middle(number, by=2):
    return deep(number) * by
"""
RULES = """
import helping
from helping import Colour, Pair, LAYOUT, LIMITS, TABLE, WORDS, middle, wrapping_product
from fivedice.envs.core.kernel import kernel

TOLD = 7

@kernel
def rule(number):
    '''What it does.'''
    pair = Pair(number, Colour.RED)
    if number > 1:
        return middle(number) + TABLE[1500] + LIMITS[0] + helping.SIDES + pair.first + wrapping_product(3, number)
    return len(WORDS) + LAYOUT.itemsize

def other(number):
    return number
"""
# What is edited: the file, the old text and the new text.
EDITS = {
    "a number in the rule": ("rules", "number > 1", "number > 2"),
    "an operator in the rule": ("rules", "number > 1", "number < 1"),
    "a name in the rule": ("rules", "pair.first", "pair.second"),
    "a helper": ("helping", "number + 1", "number - 1"),
    "a default of a helper": ("helping", "by=2", "by=3"),
    "how a helper is compiled": ("helping", "@kernel(inline=True)", "@kernel(allocates=True)"),
    "a table, far inside": ("helping", "np.int16)\n", "np.int16)\nTABLE[1501] = 1\n"),
    "the dtype of a table": ("helping", "dtype=np.int16", "dtype=np.int32"),
    "a layout": ("helping", '("turn", np.int16)', '("turn", np.int32)'),
    "the order of a layout": (
        "helping",
        '("points", np.int8), ("turn", np.int16)',
        '("turn", np.int16), ("points", np.int8)',
    ),
    "a tuple": ("helping", "(3, 5)", "(4, 5)"),
    "a dict": ("helping", '{"a": 1}', '{"a": 2}'),
    "an attribute of a module": ("helping", "SIDES = 6", "SIDES = 8"),
    "a value of an enum": ("helping", "RED = 1", "RED = 3"),
    "a field of a tuple": ("helping", "first: int\n    second: int", "second: int\n    first: int"),
}
IDLE = {
    "a comment": ("rules", "TOLD = 7", "# Said.\nTOLD = 7"),
    "a number that the rule does not read": ("rules", "TOLD = 7", "TOLD = 8"),
    "another function": ("rules", "    return number\n", "    return -number\n"),
    "an import": ("helping", "import math", "import json"),
}


@pytest.fixture
def rule(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Make the rule after an edit, in modules of its own."""

    def make(edit: tuple[str, str, str] | None = None) -> Any:
        for name, text in (("helping", HELP), ("rules", RULES)):
            if edit and edit[0] == name:
                assert text.count(edit[1]) == 1
                text = text.replace(edit[1], edit[2])
            made = types.ModuleType(name)
            monkeypatch.setitem(sys.modules, name, made)
            exec(text, vars(made))
        return made.rule

    return make


def test_fingerprint__is_the_same_for_the_same_sources(rule: Callable[..., Any]) -> None:
    assert len({fingerprint(rule()) for _ in range(3)}) == 1
    assert len(fingerprint(rule())) == 64


@pytest.mark.parametrize("edit", EDITS)
def test_fingerprint__differs_after_an_edit_of(edit: str, rule: Callable[..., Any]) -> None:
    assert fingerprint(rule(EDITS[edit])) != fingerprint(rule())


@pytest.mark.parametrize("edit", IDLE)
def test_fingerprint__is_the_same_after_an_edit_of(edit: str, rule: Callable[..., Any]) -> None:
    assert fingerprint(rule(IDLE[edit])) == fingerprint(rule())


def test_fingerprint__differs_with_options_versions_and_the_compiler(
    rule: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {fingerprint(rule()), fingerprint(rule(), True), fingerprint(rule(), False)}
    monkeypatch.setattr(module, "VERSIONS", ("another",))
    found.add(fingerprint(rule()))
    monkeypatch.setattr(module, "COMPILER", (Path(__file__),))
    found.add(fingerprint(rule()))
    assert len(found) == 5


def test_fingerprint__covers_the_source_of_a_function_that_the_compiler_replaces(tmp_path: Path) -> None:
    """An overload is found by no name, so the module of the plain function counts."""
    made = []
    for number in (1, 2):
        path = tmp_path / f"{number}.py"
        path.write_text(f"def replaced(): return 0\n# overload: {number}")
        names: dict[str, Any] = {"__name__": "somewhere"}
        exec(compile(path.read_text(), str(path), "exec"), names)
        exec("def rule(): return replaced()", names)
        made.append(fingerprint(names["rule"]))
    assert made[0] != made[1]


def test_fingerprint__of_functions_that_call_each_other_ends() -> None:
    def make(step: int) -> Any:
        def even(number: int) -> bool:
            return number == 0 or odd(number - 1)

        def odd(number: int) -> bool:
            return number != 0 and even(number - step)

        return even

    assert fingerprint(make(1)) == fingerprint(make(1))
    assert fingerprint(make(1)) != fingerprint(make(2))


def test_fingerprint__refuses_values_without_a_description(rule: Callable[..., Any]) -> None:
    class Thing:
        pass

    thing, objects = Thing(), np.array([Thing()])
    for value in (thing, objects, object(), (1, thing), {"a": thing}):
        with pytest.raises(NoFingerprint):
            fingerprint(lambda value=value: value)


def test_fingerprint__refuses_a_function_whose_values_have_changed(rule: Callable[..., Any]) -> None:
    """A kernel may have been compiled before, and be in the machine code of another that is compiled now."""
    made = rule()
    first = fingerprint(made)
    assert fingerprint(made) == first
    helping = sys.modules["helping"]
    helping.SIDES = 8  # type: ignore[attr-defined]
    with pytest.raises(NoFingerprint, match="rule reads other values"):
        fingerprint(made)
    helping.SIDES = 6  # type: ignore[attr-defined]
    with pytest.raises(NoFingerprint, match="rule reads other values"):
        fingerprint(made)


def test_closure_of__distinguishes_what_one_statement_makes_but_not_edits() -> None:
    """Loops are closures over the rules of one game: the same function, other rules."""

    def loop(rule: Any, *others: Any) -> Any:
        def run() -> int:
            return int(rule()) + len(others)

        return run

    def one() -> int:
        return 1

    def two() -> int:
        return 1

    many = np.arange(2000)
    far = many.copy()
    far[1000] = 0
    made = [(one,), (two,), (one, two), (one, 3), (one, 4), (one, many), (one, far), (loop(one),), (loop(two),)]
    names = [closure_of(loop(*some)) for some in made]
    assert len(set(names)) == len(made)
    assert closure_of(loop(one)) == names[0]
    assert closure_of(one) == ""
    edited = types.FunctionType(two.__code__, {}, "one")
    edited.__qualname__, edited.__module__ = one.__qualname__, one.__module__
    assert closure_of(loop(edited)) == names[0]
    assert fingerprint(loop(edited)) != fingerprint(loop(one)) or one.__code__.co_code == two.__code__.co_code
