"""Machine code of kernels, kept in the user's cache folder, so that a machine compiles a rule once.

Numba's own cache compares only the file of the decorated function and would keep stale code when a rule that it *calls*
is edited in another file (https://numba.readthedocs.io/en/stable/developer/caching.html). Here the stamp of each cached
function is its fingerprint, which covers everything that it is compiled from.
"""

import contextlib
import glob
import hashlib
import logging
import os
import pickle
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from numba.core import caching, config
from numba.misc.appdirs import AppDirs

from fivedice.envs.core.fingerprint import NoFingerprint, closure_of, fingerprint

SEAL_SIZE = hashlib.sha256().digest_size


def cache_roots() -> list[Path]:
    """The folders for machine code, the preferred one first: ``NUMBA_CACHE_DIR``, if it is set, and the user's own."""
    users = Path(AppDirs(appname="fivedice", appauthor=False).user_cache_dir)
    return [Path(config.CACHE_DIR), users] if config.CACHE_DIR else [users]


def can_write(folder: Path) -> bool:
    """Whether files can be written in `folder`, which is created if needed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


@cache
def say_once(sentence: str) -> None:
    """Log a warning, once in a process."""
    logging.getLogger("fivedice").warning(sentence)


class CacheLocator(caching._CacheLocator):
    """Where the machine code of one function lies: a folder for each installation and each way of compiling.

    It is read from all of `cache_roots`, so that a folder that another user has filled is of use, and written to the
    first one that is writable.
    """

    def __init__(self, function: FunctionType, source: str) -> None:
        self._py_file = source  # the name Numba reads for its own messages
        # In the name of the folder, not in the stamp: a change of the stamp removes the files of all other stamps.
        place = repr((str(Path(source).parent), tuple(sys.version_info), config.BOUNDSCHECK, config.DEBUG))
        self.folders = [root / hashlib.sha256(place.encode()).hexdigest()[:16] for root in cache_roots()]
        self._folder = next((folder for folder in self.folders if can_write(folder)), self.folders[0])

    def ensure_cache_path(self) -> None:
        """Say once that machine code is not kept where it should be; `CacheFiles.save` ignores a folder that fails."""
        wanted = self.folders[0].parent
        if not can_write(self._folder):
            say_once(f"compiled rules cannot be stored in {wanted}, so each process compiles them; set NUMBA_CACHE_DIR")
        elif self._folder != self.folders[0]:
            say_once(f"compiled rules cannot be stored in {wanted}; they are stored in {self._folder.parent}")

    def get_cache_path(self) -> str:
        """The folder."""
        return str(self._folder)

    def get_source_stamp(self) -> str:
        """Nothing: `KernelCache` asks for the fingerprint whenever it loads or stores."""
        return ""

    def get_disambiguator(self) -> str:
        """Nothing: `KernelCache` distinguishes functions of the same name."""
        return ""

    @classmethod
    def from_function(cls, function: FunctionType, source: str) -> "CacheLocator":
        """The locator of a function."""
        return cls(function, source)


class CacheFiles(caching.IndexDataCacheFile):
    """The files with the machine code of one function, one for each key. Their names hold digests of key and stamp.

    Numba numbers its files and keeps an index. Two processes that compile at the same time may use the same number, and
    a third one then loads the code of another function. Numba also runs the contents of a damaged file. Here each file
    begins with a digest of its name and contents; a file with a wrong digest is compiled again.
    """

    def __init__(self, cache_path: str, filename_base: str, source_stamp: str, folders: Sequence[Path] = ()) -> None:
        super().__init__(cache_path, filename_base, source_stamp)
        self._readable = folders or [Path(cache_path)]

    def save(self, key: Any, data: Any) -> None:
        """Write machine code, and remove the files of other versions of the function."""
        with contextlib.suppress(OSError):  # a full disk: compile in each process
            for path in self._files():
                if not path.name.startswith(self._current):  # of another version
                    path.unlink(missing_ok=True)
            name = self._name(key)
            content = self._dump(data)
            with self._open_for_write(self._data_path(name)) as file:
                file.write(seal_of(name, content) + content)

    def load(self, key: Any) -> Any:
        """The machine code of a key, or None if there is none or it is damaged."""
        name = self._name(key)
        for folder in self._readable:
            with contextlib.suppress(OSError):
                held = (folder / name).read_bytes()
                seal, content = held[:SEAL_SIZE], held[SEAL_SIZE:]
                if seal == seal_of(name, content):
                    return pickle.loads(content)
        return None

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
    """The cache of one kernel; Numba asks it before it compiles.

    Args:
        function: the plain function.
        options: how it is compiled.
    """

    _impl_class = _CacheImplementation

    def __init__(self, function: Callable[..., Any], *options: object) -> None:
        super().__init__(function)
        self._options = options

    def _load_overload(self, signature: Any, target_context: Any) -> Any:
        return super()._load_overload(signature, target_context) if self._find_files() else None

    def _save_overload(self, signature: Any, data: Any) -> None:
        if self._find_files():
            super()._save_overload(signature, data)

    def _find_files(self) -> bool:
        """Find the files for what the function is compiled from now; False if they cannot be known."""
        try:
            stamp = fingerprint(self._py_func, *self._options)
        except NoFingerprint:
            return False
        name = f"{self._impl.filename_base}{closure_of(self._py_func)}"
        self._cache_file = CacheFiles(self._cache_path, name, stamp, self._impl.locator.folders)
        return True

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        return signature, codegen.magic_tuple()  # the closure is in the name and the stamp
