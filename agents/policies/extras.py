"""Which extra of the package installs which library, for the message if one is missing."""

import importlib
from types import ModuleType

EXTRAS = {
    "train": ("torch", "stable_baselines3", "sb3_contrib", "tensorboard", "filelock"),
    "plot": ("matplotlib",),
    "render": ("pylunasvg", "PIL"),
    "video": ("imageio_ffmpeg",),
    "arena": ("choix",),
    "onnx": ("onnx", "onnxruntime"),
    "data": ("minari", "h5py"),
    "ray": ("ray",),  # the extra rllib installs it, too, with the version of Gymnasium that RLlib wants
}


def extra_of(library: str | None) -> str | None:
    """The extra that installs a library, or None if no extra does."""
    return next((extra for extra, libraries in EXTRAS.items() if library in libraries), None)


def import_optional(module: str) -> ModuleType:
    """Import a module that needs an extra.

    Raises:
        ModuleNotFoundError: a library is missing; the message names it and the extra that installs it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        extra = extra_of(library)
        if extra is None:
            raise
        message = f"{module} needs {library}; install it by: pip install 'fivedice[{extra}]'"
        raise ModuleNotFoundError(message, name=library) from None
