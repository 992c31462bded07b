"""What is wrong with a kernel that cannot be compiled, in a few lines. Numba's own message may have a hundred."""

import linecache
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

# Words in Numba's message, and what they mean here. The first that occurs counts.
ADVICE = (
    ("Only accept returning of array passed", "a kernel that makes arrays needs @kernel(allocates=True)"),
    (
        "Untyped global name",
        "by a global name, a kernel can read numbers, texts, tuples, arrays, other kernels; a function needs @kernel",
    ),
    ("Cannot unify", "a variable, and what a kernel returns, must have one type"),
    ("was not found in record", "the dtype of the record has no such field"),
    ("NameError", "the name is not defined in the module of the kernel"),
    ("too many positional arguments", "the kernel that is called has fewer arguments"),
    ("missing a required argument", "the kernel that is called has more arguments"),
    ("Unknown attribute", "a value of this type has no such attribute in compiled code"),
    ("No implementation of function", "this operation does not exist for these types in compiled code"),
)
OTHERWISE = "compiled code can use only a part of Python; keep to numbers, arrays, if and for"
SIGNATURE = re.compile(r"^ *>>> (.+)$", re.MULTILINE)
RECORD = re.compile(r"Record\(\[.*?\], \d+, \w+\)")
PLACE = re.compile(r"^During: .* at (.+) \((\d+)\)\n\nFile .*\ndef (\w+)", re.MULTILINE)
NUMBA = str(Path(numba.__file__).parent)


class KernelError(TypeError):
    """A kernel cannot be compiled. The message names file, line and likely cause; ``__cause__`` has all of Numba's."""


def explain(function: Callable[..., Any], error: Exception) -> str:
    """Where a kernel is wrong, and why.

    Args:
        function: the plain function of the kernel.
        error: Numba's error.
    """
    whole = str(error).removesuffix(". Raised from None")
    lines = [line for line in whole.splitlines() if not line.startswith("Failed in nopython mode pipeline")]
    cause = lines[0] if lines else type(error).__name__
    signature = SIGNATURE.search(whole)
    if cause.startswith("No implementation of function") and signature:
        cause = f"{signature[1]} is not possible"
    advice = next((advice for words, advice in ADVICE if words in whole), OTHERWISE)
    name, file, line = function.__name__, function.__code__.co_filename, function.__code__.co_firstlineno
    found = vars(error).get("loc")  # most of Numba's errors have it
    if found is not None:
        file, line = found.filename, found.line
    for place in PLACE.finditer(whole):  # the innermost kernel first
        if not place[1].startswith(NUMBA):
            file, line, name = place[1], int(place[2]), place[3]
            break
    code = linecache.getline(file, line).strip()
    shown = f"\n    {code}" if code else ""
    return f"{file}, line {line}, in {name}: {RECORD.sub('record', cause)}{shown}\nLikely cause: {advice}."
