"""What ``fivedice replay`` and ``fivedice watch`` share: the file to write, and a game as text."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from fivedice.agents.cli.app import console, needs_module
from fivedice.agents.reports.film import Film
from fivedice.agents.reports.film_files import KINDS, needed_modules, write_film

Seconds = Annotated[
    float,
    Parameter(validator=Number(gte=0.05, lte=60), help="How long each position is shown, in a .gif or .mp4."),
]
EXTRAS = {"pylunasvg": "render", "PIL": "render", "imageio_ffmpeg": "video"}


def check_file(out: Path | None, suffixes: tuple[str, ...] = (*KINDS,)) -> None:
    """Raise a ValueError if the file cannot be written: before any game is played."""
    if out is None:
        return
    if out.suffix not in suffixes:
        raise ValueError(f"--out {out} has an unknown format; use a name that ends in {', '.join(suffixes)}")
    if not out.parent.is_dir():
        raise ValueError(f"--out {out}: the folder {out.parent} does not exist")
    for module in needed_modules(out.suffix):
        needs_module(module, EXTRAS[module])


def show_film(film: Film, out: Path | None, seconds: float) -> None:
    """Write a film into a file, or print its lines, with the value of each choice if it is known."""
    if out is not None:
        write_film(film, out, seconds)
        console.print(f"Wrote {out}: {len(film.frames)} positions", highlight=False, soft_wrap=True)
        return
    console.print(film.title, style="bold", highlight=False)
    for frame in film.frames:
        for line in frame.lines:
            console.print(line, highlight=False, soft_wrap=True)
        for choice in frame.choices:
            if choice.is_chosen and choice.value is not None:
                best = max(other.value for other in frame.choices if other.value is not None)
                console.print(f"    value {choice.value:.2f}, best {best:.2f}", style="dim", highlight=False)
