"""The compiler. The only file that imports Numba.

A rule is written once, as a plain Python function, and decorated with `kernel`. It then runs compiled; under
``NUMBA_DISABLE_JIT=1`` the very same function runs as plain Python, which the tests use to check one against the other.

Machine code is kept in the user's cache folder, so a machine compiles a rule once. Numba's own cache looks at the file
of the decorated function only and would keep stale code when a rule that it *calls* is edited elsewhere
(https://numba.readthedocs.io/en/stable/developer/caching.html). Here the stamp of every cached function covers all
sources of the project, so that editing any file compiles anew what is used next.
"""

import contextlib
import glob
import hashlib
import os
import pickle
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, overload

import numba
import numba.extending
import numpy as np
from numba.core import caching, config
from numba.core.compiler import Compiler
from numba.misc.appdirs import AppDirs

F = TypeVar("F", bound=Callable[..., Any])

SEAL_SIZE = hashlib.sha256().digest_size
PACKAGES = tuple(Path(__file__).parents[2] / name for name in ("envs", "agents"))


@cache
def _stamp(source: str) -> str:
    """A digest of all sources that machine code of a function in `source` may come from."""
    digest = hashlib.sha256()
    files = {Path(source), *(path for package in PACKAGES for path in package.rglob("*.py"))}
    for path in sorted(files):
        digest.update(path.read_bytes() if path.is_file() else b"")
        digest.update(b"\0")
    return digest.hexdigest()


class _NoAlias(Compiler):
    """Compiles a function for arrays that share no memory, so that none of them need be read again after a write."""

    def define_pipelines(self) -> Any:
        self.state.flags.noalias = True
        return super().define_pipelines()


class _ProjectLocator(caching._CacheLocator):
    """Keeps machine code in the user's cache folder, apart for each installed place and each way of compiling."""

    def __init__(self, function: FunctionType, source: str) -> None:
        self._source = source
        self._line = function.__code__.co_firstlineno
        root = config.CACHE_DIR or AppDirs(appname="fivedice", appauthor=False).user_cache_dir
        self._py_file = source  # the name Numba reads for its own messages
        # Not part of the stamp: a run with bounds checks would throw away the code of all others, and they its.
        place = repr((str(Path(source).parent), tuple(sys.version_info), config.BOUNDSCHECK, config.DEBUG))
        self._folder = Path(root) / hashlib.sha256(place.encode()).hexdigest()[:16]

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return _stamp(self._source)

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, function: FunctionType, source: str) -> "_ProjectLocator | None":
        locator = cls(function, source)
        try:
            locator._folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            return None
        return locator if os.access(locator._folder, os.W_OK) else None


class _ProjectFiles(caching.IndexDataCacheFile):
    """The files of machine code of one function, one for each key. Its name tells the key and the sources.

    Numba numbers the files and keeps an index. Two processes that compile at the same time may both take a number, and
    the next one then finds the code of one game's loop where the index has another's. Numba also runs what a damaged
    file holds; here each begins with a digest of its name and the rest, and one that does not fit is compiled anew.
    """

    def save(self, key: Any, data: Any) -> None:
        with contextlib.suppress(OSError):  # a full disk: compile in each process
            for path in self._files():
                if not path.name.startswith(self._current):  # what other sources have left
                    path.unlink(missing_ok=True)
            name = self._name(key)
            content = self._dump(data)
            with self._open_for_write(self._data_path(name)) as file:
                file.write(_seal(name, content) + content)

    def load(self, key: Any) -> Any:
        name = self._name(key)
        try:
            held = Path(self._data_path(name)).read_bytes()
        except OSError:
            return None
        seal, content = held[:SEAL_SIZE], held[SEAL_SIZE:]
        return pickle.loads(content) if seal == _seal(name, content) else None

    def flush(self) -> None:
        for path in self._files():
            path.unlink(missing_ok=True)

    @property
    def _current(self) -> str:
        return f"{self._index_name}.{_digest((self._version, self._source_stamp))}."

    def _name(self, key: Any) -> str:
        return f"{self._current}{_digest(key)}.nbc"

    def _files(self) -> list[Path]:
        return list(Path(self._cache_path).glob(f"{glob.escape(self._index_name)}.*.nbc"))


def _seal(name: str, content: bytes) -> bytes:
    return hashlib.sha256(name.encode() + content).digest()


def _digest(value: Any) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]


class _ProjectCacheImpl(caching.CompileResultCacheImpl):
    _locator_classes = [_ProjectLocator]  # noqa: RUF012  # the name and form Numba reads


class _ProjectCache(caching.FunctionCache):
    _impl_class = _ProjectCacheImpl

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = _ProjectFiles(
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        # Numba pickles the closure, which differs from process to process where the closure holds compiled functions.
        # Their names are enough here: the stamp covers their text.
        return signature, codegen.magic_tuple(), _closure_names(self._py_func)


def _closure_names(function: Callable[..., Any]) -> tuple[Any, ...]:
    names: list[Any] = []
    for cell in function.__closure__ or ():
        value = getattr(cell.cell_contents, "py_func", cell.cell_contents)
        if isinstance(value, FunctionType):
            names.append((value.__module__, value.__qualname__, _closure_names(value)))
        else:
            names.append(repr(value))
    return tuple(names)


@overload
def kernel(function: F) -> F: ...
@overload
def kernel(*, inline: bool = ..., allocates: bool = ..., noalias: bool = ...) -> Callable[[F], F]: ...
def kernel(
    function: Callable[..., Any] | None = None,
    *,
    inline: bool = False,
    allocates: bool = False,
    noalias: bool = False,
) -> Any:
    """Compile `function` on its first call, or load its machine code if no source has changed since.

    The compiled function releases the GIL and trusts its arguments: whoever calls it checks them. Functions that a
    factory makes for one game each (closures over that game's rules) are told apart by the names of those rules.

    Args:
        function: what to compile.
        inline: whether it becomes part of every kernel that calls it, for short ones that are called for each decision.
        allocates: whether it makes or returns arrays. The others do not count who holds an array, which would cost
            more than many a rule.
        noalias: whether the arrays it writes share no memory with any other, so that the compiler may keep what it has
            read and write several numbers at once.
    """
    if function is None:
        return partial(kernel, inline=inline, allocates=allocates, noalias=noalias)
    if not allocates and "ndarray" in str(function.__annotations__.get("return")).lower():
        raise TypeError(f"{function.__qualname__} returns an array: @kernel(allocates=True)")
    compiler = {"pipeline_class": _NoAlias} if noalias else {}
    dispatcher: Any = numba.njit(nogil=True, forceinline=inline, _nrt=allocates, **compiler)(function)
    if dispatcher is not function:  # NUMBA_DISABLE_JIT leaves the function alone
        with contextlib.suppress(RuntimeError):  # no folder to write to: compile in each process
            dispatcher._cache = _ProjectCache(function)
    return dispatcher


@cache
def plain(function: F) -> F:
    """`function` as plain Python, and so every kernel that it calls.

    For tables of what a rule gives, which are made by asking the rule while its module is loaded: nothing is compiled
    then. A kernel that reads such a table has it in its machine code.
    """
    source: Any = getattr(function, "py_func", function)
    names = {
        name: plain(value) if hasattr(value, "py_func") else value
        for name, value in source.__globals__.items()
        if name in source.__code__.co_names
    }
    names["__builtins__"] = source.__globals__["__builtins__"]
    return FunctionType(source.__code__, names)  # type: ignore[return-value]  # it has the same signature


def wrapping_product(a: int, b: int) -> int:
    """The lowest 64 bits of a product. Compiled they are signed, so take the bits that are wanted by `&`.

    Elsewhere products of compiled integers must stay below 2**63: the compiler takes for granted that they do.
    """
    return a * b & 0xFFFFFFFFFFFFFFFF


@numba.extending.overload(wrapping_product)
def _compiled_product(a: int, b: int) -> Any:
    def product(a: int, b: int) -> Any:
        return np.int64(np.uint64(a) * np.uint64(b))

    return product
