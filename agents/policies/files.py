"""Writing files so that none is ever half written, and telling when one was damaged."""

import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError


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
    except SafetensorError as error:  # as of a full disk
        raise OSError(f"{path} cannot be written: {error}") from None
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8, whole or not at all."""

    def write(temporary: Path) -> None:
        temporary.write_text(text, encoding="utf-8")

    write_whole(path, write)


def no_checkpoint(path: Path) -> str:
    """What is wrong where the file of a checkpoint is expected and there is none; of a folder, what it has."""
    inside = sorted(path.glob("*.safetensors"))
    return f"{path} is a folder; name a file in it, such as {inside[0]}" if inside else f"there is no file {path}"


def refuse_file(folder: Path, purpose: str) -> None:
    """Refuse a folder for `purpose` that cannot be made, because it or one around it is a file."""
    for place in (folder, *folder.parents):
        if place.exists() and not place.is_dir():
            raise ValueError(f"{place} is a file; name a folder for {purpose}")


def digest(tensors: Mapping[str, NDArray[Any]]) -> str:
    """Changes whenever a tensor's name, type, shape or value does."""
    found = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        found.update(repr((name, tensor.dtype.str, tensor.shape)).encode())
        found.update(np.ascontiguousarray(tensor).tobytes())
    return found.hexdigest()
