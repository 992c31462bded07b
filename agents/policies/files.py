"""Writes files atomically, and computes checksums of tensors."""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import save


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Write a file atomically: `write` fills a temporary file in the same folder, which then replaces `path`.

    Raises:
        OSError: the file cannot be written; `path` is unchanged.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        temporary.chmod(0o644)
        temporary.replace(path)
    except SafetensorError as error:  # for example, the disk is full
        raise OSError(f"{path} cannot be written: {error}") from None
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8, whole or not at all."""

    def write(temporary: Path) -> None:
        temporary.write_text(text, encoding="utf-8")

    write_whole(path, write)


def write_tensors(path: Path, tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> None:
    """Write a safetensors file atomically. Equal tensors and metadata give equal bytes."""

    def write(temporary: Path) -> None:
        content = save(dict(tensors), dict(metadata))
        size = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + size])
        # The library writes the metadata in an order that changes from one call to the next.
        header = {"__metadata__": dict(sorted(header.pop("__metadata__").items())), **header}
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)  # so that the tensors are aligned
        temporary.write_bytes(len(text).to_bytes(8, "little") + text + content[8 + size :])

    write_whole(path, write)


def check_writable(path: Path) -> None:
    """Check that a file can be written later, by writing an empty file with a temporary name beside it.

    Raises:
        ValueError: `path` or a file in place of its folder is in the way.
        OSError: the folder is not writable, or the disk is full.
    """
    folder = path.parent
    refuse_file(folder, path.name)
    if path.is_dir():
        raise ValueError(f"{path} is a folder; choose another place")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{path.name}."):
        pass


def readable(name: str) -> str:
    """The name of a file as UTF-8 text, for labels and results, also where the locale cannot decode it."""
    return os.fsencode(name).decode("utf-8", errors="replace")


def no_checkpoint(path: Path) -> str:
    """The message for a checkpoint file that does not exist; for a folder it names a checkpoint inside."""
    inside = sorted(path.glob("*.safetensors"))
    return (
        f"{path} is a folder; name a file in it, for example {inside[0]}"
        if inside
        else f"the file {path} does not exist"
    )


def refuse_file(folder: Path, purpose: str) -> None:
    """Raise a ValueError if `folder` cannot be a folder for `purpose`, because it or a parent of it is a file."""
    for place in (folder, *folder.parents):
        if place.exists() and not place.is_dir():
            raise ValueError(f"{place} is a file; choose another folder for {purpose}")


def digest(tensors: Mapping[str, NDArray[Any]]) -> str:
    """A SHA-256 checksum, in hexadecimal, of the names, data types, shapes and values of tensors."""
    found = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        found.update(repr((name, tensor.dtype.str, tensor.shape)).encode())
        found.update(np.ascontiguousarray(tensor).tobytes())
    return found.hexdigest()
