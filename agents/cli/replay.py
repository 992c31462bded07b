"""``fivedice replay`` and ``fivedice watch``: a game as text, as a film, or as a page to step through."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from fivedice.agents.cli.app import GameOptions, app, console, game_setup, needs_module
from fivedice.agents.cli.terminal import find_adviser
from fivedice.agents.policies.registry import load
from fivedice.agents.reports.film import Film, film_of_match, film_of_transcript
from fivedice.agents.reports.film_files import KINDS, needed_modules, write_film
from fivedice.agents.training.config import whole
from fivedice.envs import load_game
from fivedice.envs.api.transcript import parse, write

Seconds = Annotated[float, Parameter(help="How long each position is shown, in a .gif or .mp4.")]
EXTRAS = {"pylunasvg": "render", "PIL": "render", "imageio_ffmpeg": "video"}


@app.command(name="replay")
def replay_transcript(
    transcript: Path,
    *,
    out: Path | None = None,
    seconds: Seconds = 1.0,
    advice: bool = False,
    adviser: str | None = None,
) -> None:
    """Play a transcript again, and show it as text, as a film, or as a page to step through.

    Parameters
    ----------
    transcript
        The file of the transcript.
    out
        Write the game into this file: .html is a page to step through, .gif and .mp4 are films. Default: print it.
    advice
        Show the values of the choices: from optimal play if the game is solved, else from a rollout.
    adviser
        Which values to show, as for `fivedice play`.
    """
    _check_file(out, (*KINDS,))
    _check_seconds(seconds)
    game = parse(transcript.read_text("utf-8"))
    advised = None
    if advice or adviser is not None:
        advised = find_adviser(game.game, game.num_players, game.options, adviser)
    film = film_of_transcript(game, advised)
    _show(film, out, seconds)


@app.command
def watch(
    game: str,
    *policies: str,
    out: Path | None = None,
    seconds: Seconds = 1.0,
    seed: Annotated[int | None, whole(least=0)] = None,
    adviser: str | None = None,
    options: GameOptions = None,
) -> None:
    """Play a game among policies, and show it as text, as a film, or as a page to step through.

    Parameters
    ----------
    game
        The game, for example yum; see `fivedice list`.
    policies
        The policy of each seat: random, greedy, optimal, rollout (or rollout:BASE:GAMES) or checkpoint files. Their
        number is the number of players.
    out
        Write the game into this file: .html is a page to step through, .gif and .mp4 are films, .txt is a transcript.
        Default: print it.
    seed
        Random seed for the dice and policies. Default: other dice in every game.
    adviser
        Whose values to show, as for `fivedice play`. Default: each policy shows its own, if it knows them.
    """
    _check_file(out, (*KINDS, ".txt"))
    _check_seconds(seconds)
    spec = load_game(game)
    if not policies:
        raise ValueError(
            "no policy given; name one for each seat: random, greedy, optimal, rollout or a checkpoint file"
        )
    seated = [load(name) for name in policies]
    _, chosen = game_setup(spec, seated, len(seated), options)
    advised = None if adviser is None else find_adviser(spec, len(seated), chosen, adviser)
    film, transcript = film_of_match(spec, seated, seed=seed, options=chosen, adviser=advised)
    if out is not None and out.suffix == ".txt":
        unfinished = out.with_name(f".{out.name}.unfinished")
        unfinished.write_text(write(transcript), "utf-8")
        unfinished.replace(out)
        console.print(f"Wrote {out}", highlight=False, soft_wrap=True)
        return
    _show(film, out, seconds)


def _check_file(out: Path | None, suffixes: tuple[str, ...]) -> None:
    if out is None:
        return
    if out.suffix not in suffixes:
        raise ValueError(f"--out {out} has an unknown format; use a name that ends in {', '.join(suffixes)}")
    if not out.parent.is_dir():
        raise ValueError(f"--out {out}: the folder {out.parent} does not exist")
    for module in needed_modules(out.suffix):
        needs_module(module, EXTRAS[module])


def _check_seconds(seconds: float) -> None:
    if not 0.05 <= seconds <= 60:
        raise ValueError(f"--seconds {seconds:g} is not possible; use 0.05 to 60")


def _show(film: Film, out: Path | None, seconds: float) -> None:
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
