"""Writing files so that none is ever half written, and telling when one was damaged."""

import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary file beside `path`, then move it into place at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def digest(tensors: Mapping[str, NDArray[Any]]) -> str:
    """Changes whenever a tensor's name, type, shape or value does."""
    found = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        found.update(repr((name, tensor.dtype.str, tensor.shape)).encode())
        found.update(np.ascontiguousarray(tensor).tobytes())
    return found.hexdigest()
