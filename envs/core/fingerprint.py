"""A digest of everything that a function is compiled from, in whatever module or package it is defined.

The machine code of a kernel contains the kernels that it calls, and the values of the global names and closure
variables that they read: numbers, tables, dtypes. The fingerprint covers the code of these functions and all of these
values. So it changes with each edit that changes the machine code, and with no other edit.

Functions of the compiler, NumPy and the standard library count by name, because the fingerprint has their versions.
Objects of an unknown kind count as text, together with all sources of their package. An ``overload`` of
``numba.extending`` must be in the module of the function that it extends, because the source of that module counts.
"""

import dis
import enum
import hashlib
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import llvmlite
import numba
import numpy as np

BY_NAME = {"numpy", "numba", "llvmlite", *sys.stdlib_module_names} - {"__main__"}
COMPILER = tuple(Path(__file__).with_name(name) for name in ("kernel.py", "fingerprint.py"))
VERSIONS = (sys.version, numba.__version__, np.__version__, llvmlite.__version__)
SCALARS = (bool, int, float, complex, str, bytes, range, slice, type(None), type(...))
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}")

# What each function was compiled from when this process first asked.
_first: WeakKeyDictionary[FunctionType, tuple[object, ...]] = WeakKeyDictionary()


class NoFingerprint(Exception):  # not an error: such a function is compiled in each process
    """A function depends on something without a stable description."""


def fingerprint(function: Callable[..., Any], *options: object) -> str:
    """The digest of everything that `function` and all functions that it calls are compiled from.

    Args:
        function: a kernel, or a plain function that is compiled.
        options: how it is compiled.

    Raises:
        NoFingerprint: a value has no stable description; or a function does not read the same values as when this
            process first asked, so a kernel may contain functions that were compiled before and after the change.
    """
    digest = hashlib.sha256(repr((VERSIONS, options)).encode())
    for path in COMPILER:
        digest.update(source_of(str(path)))
    waiting = [function_of(function)]
    numbers = {waiting[0]: 0}  # functions may call each other
    for called in waiting:  # it grows meanwhile
        assert called is not None
        description = Description()
        description.add_function(called)
        calls = description.calls
        found = description.digest(), *map(id, calls)
        if _first.setdefault(called, found) != found:
            _first[called] = ()  # it may be compiled by now, so this holds even if the former values return
            raise NoFingerprint(f"{called.__qualname__} reads other values than before")
        for other in calls:
            if other not in numbers:
                numbers[other] = len(waiting)
                waiting.append(other)
        digest.update(description.digest())
        digest.update(repr([numbers[other] for other in calls]).encode())
    return digest.hexdigest()


def closure_of(function: Callable[..., Any]) -> str:
    """A digest that distinguishes functions that one statement has made, as closures over different variables.

    Functions in the closure count by name. So the digest does not change when one of them is edited.
    """
    plain = function_of(function)
    assert plain is not None
    if not plain.__closure__:
        return ""
    description, waiting = Description(), [plain]
    for called in waiting:
        for cell in called.__closure__ or ():
            before = len(description.calls)
            try:
                description.add(contents(cell))
            except NoFingerprint:
                description.add_text(type(contents(cell)).__qualname__)
            waiting += [other for other in description.calls[before:] if other not in waiting]
    return description.digest().hex()[:16]


class Description:
    """What values are, as a digest, without the functions among them.

    Attributes:
        calls: these functions, in the order in which they were met.
    """

    def __init__(self) -> None:
        self.calls: list[FunctionType] = []
        self._digest = hashlib.sha256()
        self._modules: set[str] = set()

    def digest(self) -> bytes:
        """The digest of everything that was added."""
        return self._digest.digest()

    def add_text(self, *parts: object) -> None:
        """Add some texts or bytes."""
        for part in parts:
            data = part if isinstance(part, bytes) else str(part).encode()
            self._digest.update(b"%d:" % len(data) + data)

    def add_function(self, function: FunctionType) -> None:
        """Add the code of a function, and each value that it reads by a global name or in its closure."""
        self.add_text(function.__module__, function.__qualname__)
        self.add((function.__defaults__, function.__kwdefaults__, function.__code__))
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self.add_text(name)
            self.add(contents(cell))
        names = set(names_in(function.__code__))
        self._modules.clear()
        for name in sorted(global_names(function.__code__)):
            self.add_text(name)
            if name in function.__globals__:
                self.add(function.__globals__[name], names)

    def add(self, value: Any, names: set[str] = frozenset()) -> None:  # type: ignore[assignment]  # never changed
        """Add a value of any kind; of a module only the attributes in `names`."""
        kind = type(value).__qualname__
        function = function_of(value)
        if function is not None:
            self._add_call(function, value)
        elif isinstance(value, (enum.Enum, *SCALARS)):
            self.add_text(kind, repr(value))
        elif isinstance(value, np.dtype):
            self.add_text(kind, repr(value), value.itemsize, value.alignment)
        elif isinstance(value, (np.ndarray, np.generic)) and not value.dtype.hasobject:
            self.add(value.dtype)
            self.add_text(kind, value.shape, value.flags.c_contiguous, value.flags.writeable, value.tobytes())
        elif isinstance(value, (tuple, list)):
            self.add_text(kind, getattr(value, "_fields", ""), len(value))
            for item in value:
                self.add(item, names)
        elif isinstance(value, dict):
            self.add_text(kind, len(value))
            for item in value.items():
                self.add(item, names)
        elif isinstance(value, (set, frozenset)):
            self.add_text(kind, sorted(map(repr, value)))
        elif isinstance(value, CodeType):
            self._add_code(value)
        elif isinstance(value, ModuleType):
            self._add_module(value, names)
        elif isinstance(value, enum.EnumType):
            self.add_text(kind, value.__module__, value.__qualname__, dict(value.__members__))
        elif isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
            self.add_text(value.__module__, value.__qualname__)
            self.add((value._fields, vars(value)["_field_defaults"]))
        else:
            self._add_unknown(value)

    def _add_call(self, function: FunctionType, value: Any) -> None:
        self.add_text(function.__module__, function.__qualname__)
        if package_of(function) in BY_NAME:
            return
        self.calls.append(function)
        if value is function:  # it is not compiled itself, so its module may say what the compiler uses instead
            self.add_text(source_of(function.__code__.co_filename))
        else:
            self.add_text(type(value).__qualname__, compiler_options(value))

    def _add_code(self, code: CodeType) -> None:
        self.add_text("code", code.co_code, code.co_flags, code.co_argcount, code.co_kwonlyargcount)
        self.add_text(code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_exceptiontable)
        self.add(code.co_consts)

    def _add_module(self, module: ModuleType, names: set[str]) -> None:
        self.add_text("module", module.__name__)
        if module.__name__.partition(".")[0] in BY_NAME or module.__name__ in self._modules:
            return
        self._modules.add(module.__name__)  # modules may import each other
        for name in sorted(names & vars(module).keys()):
            self.add_text(name)
            self.add(vars(module)[name], names)

    def _add_unknown(self, value: Any) -> None:
        package = package_of(value)
        text = getattr(value, "__qualname__", None) or getattr(value, "__name__", None) or repr(value)
        if ADDRESS.search(text):
            raise NoFingerprint(f"{text} has no stable description")
        self.add_text(getattr(value, "__module__", ""), type(value).__qualname__, text)
        if package not in BY_NAME:
            self.add_text(sources_of_package(package))


def function_of(value: Any) -> FunctionType | None:
    """The plain function of a kernel or of anything else that Numba has compiled; None if `value` is no function."""
    if not isinstance(value, (FunctionType, ModuleType, type)):
        value = getattr(value, "py_func", None) or getattr(value, "__wrapped__", None)
    return value if isinstance(value, FunctionType) else None


def compiler_options(kernel: Any) -> str:
    """How a function is compiled, if it is one of Numba's dispatchers.

    Raises:
        NoFingerprint: an option is an object, such as a function.
    """
    compiler = getattr(getattr(kernel, "_compiler", None), "pipeline_class", None)
    text = f"{getattr(kernel, 'targetoptions', None)} {getattr(compiler, '__qualname__', None)}"
    if ADDRESS.search(text):
        raise NoFingerprint(f"{text} has no stable description")
    return text


def contents(cell: CellType) -> Any:
    """The value of a closure variable; `...` if it has none yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return ...


def all_code(code: CodeType) -> Iterator[CodeType]:
    """The code of a function, and that of all functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from all_code(constant)


def names_in(code: CodeType) -> set[str]:
    """All names of globals and attributes in some code."""
    return {name for inner in all_code(code) for name in inner.co_names}


@cache
def global_names(code: CodeType) -> frozenset[str]:
    """The names that some code looks up among the globals of its module."""
    return frozenset(
        instruction.argval
        for inner in all_code(code)
        for instruction in dis.get_instructions(inner)
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    )


def package_of(value: Any) -> str:
    """The name of the topmost package in which something was defined."""
    module = getattr(value, "__module__", None) or type(value).__module__
    return str(module).partition(".")[0]


@cache
def source_of(file: str) -> bytes:
    """A digest of a file; of nothing if there is no such file, as at the interactive prompt."""
    path = Path(file)
    return hashlib.sha256(path.read_bytes() if path.is_file() else b"").digest()


@cache
def sources_of_package(package: str) -> bytes:
    """A digest of all Python files of a package, or of the file of a module that is no package.

    Raises:
        NoFingerprint: it has no files.
    """
    module = sys.modules.get(package)
    file = getattr(module, "__file__", None)
    folders = [Path(folder) for folder in getattr(module, "__path__", ())]
    files = sorted({*([Path(file)] if file else []), *(path for folder in folders for path in folder.rglob("*.py"))})
    if not files:
        raise NoFingerprint(f"{package} has no source")
    digest = hashlib.sha256()
    for path in files:
        digest.update(source_of(str(path)))
    return digest.digest()
