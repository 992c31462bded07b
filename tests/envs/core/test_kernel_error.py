"""A kernel that cannot be compiled says in three lines where and why."""

import os
from typing import Any

import numpy as np
import pytest
from numba.core.errors import NumbaError, UnsupportedBytecodeError

from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.kernel_error import OTHERWISE, KernelError

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")

STATE = np.dtype([("points", np.int16), ("turn", np.int8)])
NAMES = {"first": 1}


@kernel
def misspells(state: Any) -> int:
    return int(state["point"])  # line A


@kernel
def reads_dict(state: Any) -> int:
    return NAMES["first"]  # line B


@kernel
def has_two_types(state: Any) -> Any:
    found = 1 if state["turn"] else "none"  # line C
    return found


@kernel
def makes_array(state: Any) -> float:
    return np.zeros(3).sum()  # line D  # type: ignore[no-any-return]


@kernel
def adds_text(state: Any) -> Any:
    return state["turn"] + "x"  # line E


@kernel
def opens_file(state: Any) -> Any:
    with open("x") as file:  # noqa: PTH123
        return file


@kernel
def calls_wrongly(state: Any) -> int:
    return misspells(state, 3)  # line G  # type: ignore[call-arg]


@kernel
def calls(state: Any) -> int:
    return 1 + misspells(state)


@kernel
def calls_caller(state: Any) -> int:
    return 1 + calls(state)


CASES = {
    "A": (misspells, "misspells", "Field 'point' was not found in record", "the dtype of the record has no such field"),
    "B": (
        reads_dict,
        "reads_dict",
        "Untyped global name 'NAMES'",
        "by a global name, a kernel can read",
    ),
    "C": (has_two_types, "has_two_types", "Cannot unify", "a variable, and what a kernel returns, must have one type"),
    "D": (makes_array, "makes_array", "zeros(", "a kernel that makes arrays needs @kernel(allocates=True)"),
    "E": (adds_text, "adds_text", "add(int8, Literal[str](x)) is not possible", "this operation does not exist"),
    "F": (opens_file, "opens_file", "", OTHERWISE),
    "G": (calls_wrongly, "calls_wrongly", "args=(record, Literal[int](3))", "the kernel that is called has fewer"),
}


@pytest.mark.parametrize("line", CASES)
def test_kernel_error__names_file_line_and_likely_cause(line: str) -> None:
    function, name, cause, advice = CASES[line]
    with pytest.raises(KernelError) as caught:
        function(np.zeros(1, STATE)[0])
    first, code, last = str(caught.value).splitlines()
    assert first.startswith(f"{__file__}, line ")
    assert f"in {name}: " in first
    assert cause in first
    assert code.strip() == "@kernel" if line == "F" else f"# line {line}" in code  # Numba does not say which line
    assert last.startswith(f"Likely cause: {advice}")
    assert isinstance(caught.value.__cause__, (NumbaError, UnsupportedBytecodeError))


@pytest.mark.parametrize("function", [calls, calls_caller])
def test_kernel_error__is_about_the_kernel_with_the_slip_not_about_its_callers(function: Any) -> None:
    with pytest.raises(KernelError, match="line A") as caught:
        function(np.zeros(1, STATE)[0])
    assert "in misspells: Field 'point'" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 3


def test_kernel_error__of_an_earlier_kernel_is_forgotten() -> None:
    with pytest.raises(KernelError, match="line A"):
        calls(np.zeros(1, STATE)[0])
    with pytest.raises(KernelError, match="line E"):
        adds_text(np.zeros(1, STATE)[0])
