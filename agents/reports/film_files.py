"""A film as a file: an animated GIF, an MP4 video, or an HTML page to step through."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from fivedice.agents.reports.film import Film
from fivedice.agents.reports.film_page import film_page
from fivedice.envs.display.svg import HEIGHT, WIDTH

VIDEO_FPS = 10  # frames of a video per second; a position is repeated, because players may refuse slower videos
COLOURS = 128  # in a frame of a GIF


def write_film(film: Film, path: Path, seconds: float) -> None:
    """Write a film. The end of the name says how. An existing file is replaced when the new one is complete.

    Args:
        film: the film.
        path: a file that ends in one of `KINDS`.
        seconds: how long a position is shown; the last one is shown three times as long. A page ignores it.
    """
    unfinished = path.with_name(f".{path.name}.unfinished{path.suffix}")
    try:
        KINDS[path.suffix](film, unfinished, seconds)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def needed_modules(suffix: str) -> tuple[str, ...]:
    """The packages that a kind of file needs."""
    return {".gif": ("pylunasvg", "PIL"), ".mp4": ("pylunasvg", "imageio_ffmpeg")}.get(suffix, ())


def _write_gif(film: Film, path: Path, seconds: float) -> None:
    from PIL import Image

    pictures = [
        Image.fromarray(frame.drawing.pixels()).quantize(COLOURS, dither=Image.Dither.NONE) for frame in film.frames
    ]
    durations = [int(1000 * seconds)] * (len(pictures) - 1) + [int(3000 * seconds)]
    pictures[0].save(path, "GIF", save_all=True, append_images=pictures[1:], duration=durations, loop=0, optimize=False)


def _write_mp4(film: Film, path: Path, seconds: float) -> None:
    import imageio_ffmpeg

    # ffmpeg wants sizes that are multiples of 16; WIDTH and HEIGHT / 8 are whole numbers, so 8 is enough here.
    writer = imageio_ffmpeg.write_frames(
        path, (WIDTH, HEIGHT), fps=VIDEO_FPS, macro_block_size=8, quality=7, ffmpeg_log_level="error"
    )
    writer.send(None)
    repeated = max(1, round(VIDEO_FPS * seconds))
    for number, frame in enumerate(film.frames):
        pixels = np.ascontiguousarray(frame.drawing.pixels())
        for _ in range(repeated * (3 if number == len(film.frames) - 1 else 1)):
            writer.send(pixels)
    writer.close()


def _write_page(film: Film, path: Path, seconds: float) -> None:
    path.write_text(film_page(film), "utf-8")


KINDS: dict[str, Callable[[Film, Path, float], None]] = {
    ".gif": _write_gif,
    ".mp4": _write_mp4,
    ".html": _write_page,
}
