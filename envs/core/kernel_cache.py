"""Machine code of kernels, kept in the user's cache folder, so that a machine compiles a rule once.

Numba's own cache compares only the file of the decorated function and would keep stale code when a rule that it *calls*
is edited in another file (https://numba.readthedocs.io/en/stable/developer/caching.html). Here the stamp of each cached
function covers all sources of the project: after any edit, what is used next is compiled again.
"""

import contextlib
import glob
import hashlib
import os
import pickle
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from numba.core import caching, config
from numba.misc.appdirs import AppDirs

SEAL_SIZE = hashlib.sha256().digest_size
PACKAGES = tuple(Path(__file__).parents[2] / name for name in ("envs", "agents"))


@cache
def stamp_of(source: str) -> str:
    """A digest of all sources from which a function in the file `source` may be compiled."""
    digest = hashlib.sha256()
    files = {Path(source), *(path for package in PACKAGES for path in package.rglob("*.py"))}
    for path in sorted(files):
        digest.update(path.read_bytes() if path.is_file() else b"")
        digest.update(b"\0")
    return digest.hexdigest()


class CacheLocator(caching._CacheLocator):
    """Where the machine code of one function lies: a folder for each installation and each way of compiling."""

    def __init__(self, function: FunctionType, source: str) -> None:
        self._source = source
        self._line = function.__code__.co_firstlineno
        root = config.CACHE_DIR or AppDirs(appname="fivedice", appauthor=False).user_cache_dir
        self._py_file = source  # the name Numba reads for its own messages
        # In the name of the folder, not in the stamp: a change of the stamp removes the files of all other stamps.
        place = repr((str(Path(source).parent), tuple(sys.version_info), config.BOUNDSCHECK, config.DEBUG))
        self._folder = Path(root) / hashlib.sha256(place.encode()).hexdigest()[:16]

    def get_cache_path(self) -> str:
        """The folder."""
        return str(self._folder)

    def get_source_stamp(self) -> str:
        """A digest that changes when machine code must be compiled again."""
        return stamp_of(self._source)

    def get_disambiguator(self) -> str:
        """What distinguishes functions of the same name in one file."""
        return str(self._line)

    @classmethod
    def from_function(cls, function: FunctionType, source: str) -> "CacheLocator | None":
        """The locator of a function, or None if nothing can be written there."""
        locator = cls(function, source)
        try:
            locator._folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            return None
        return locator if os.access(locator._folder, os.W_OK) else None


class CacheFiles(caching.IndexDataCacheFile):
    """The files with the machine code of one function, one for each key. Their names hold digests of key and sources.

    Numba numbers its files and keeps an index. Two processes that compile at the same time may use the same number, and
    a third one then loads the code of another function. Numba also runs the contents of a damaged file. Here each file
    begins with a digest of its name and contents; a file with a wrong digest is compiled again.
    """

    def save(self, key: Any, data: Any) -> None:
        """Write machine code, and remove the files of other versions of the sources."""
        with contextlib.suppress(OSError):  # a full disk: compile in each process
            for path in self._files():
                if not path.name.startswith(self._current):  # from other versions of the sources
                    path.unlink(missing_ok=True)
            name = self._name(key)
            content = self._dump(data)
            with self._open_for_write(self._data_path(name)) as file:
                file.write(seal_of(name, content) + content)

    def load(self, key: Any) -> Any:
        """The machine code of a key, or None if there is none or it is damaged."""
        name = self._name(key)
        try:
            held = Path(self._data_path(name)).read_bytes()
        except OSError:
            return None
        seal, content = held[:SEAL_SIZE], held[SEAL_SIZE:]
        return pickle.loads(content) if seal == seal_of(name, content) else None

    def flush(self) -> None:
        """Remove the files of this function."""
        for path in self._files():
            path.unlink(missing_ok=True)

    @property
    def _current(self) -> str:
        return f"{self._index_name}.{_digest((self._version, self._source_stamp))}."

    def _name(self, key: Any) -> str:
        return f"{self._current}{_digest(key)}.nbc"

    def _files(self) -> list[Path]:
        return list(Path(self._cache_path).glob(f"{glob.escape(self._index_name)}.*.nbc"))


def seal_of(name: str, content: bytes) -> bytes:
    """The digest at the beginning of a file."""
    return hashlib.sha256(name.encode() + content).digest()


def _digest(value: Any) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]


class _CacheImplementation(caching.CompileResultCacheImpl):
    _locator_classes = [CacheLocator]  # noqa: RUF012  # the name and form Numba reads


class KernelCache(caching.FunctionCache):
    """The cache of one kernel; Numba asks it before it compiles."""

    _impl_class = _CacheImplementation

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = CacheFiles(self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp())

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        # Numba would pickle the closure. The pickle of a compiled function differs between processes, so its name is
        # used instead; the stamp covers its source.
        return signature, codegen.magic_tuple(), closure_names(self._py_func)


def closure_names(function: Callable[..., Any]) -> tuple[Any, ...]:
    """The names of the functions in the closure of `function`, and the values of all else in it."""
    names: list[Any] = []
    for cell in function.__closure__ or ():
        value = getattr(cell.cell_contents, "py_func", cell.cell_contents)
        if isinstance(value, FunctionType):
            names.append((value.__module__, value.__qualname__, closure_names(value)))
        else:
            names.append(repr(value))
    return tuple(names)
