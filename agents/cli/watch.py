"""``fivedice watch``: a game among policies, as text, as a film, or as a page to step through."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from fivedice.agents.cli.app import GameOptions, app, console, game_setup
from fivedice.agents.cli.film import Seconds, check_file, show_film
from fivedice.agents.play.advice import find_adviser
from fivedice.agents.policies.registry import NAMEABLE, load
from fivedice.agents.reports.film import film_of_match
from fivedice.agents.reports.film_files import KINDS
from fivedice.agents.training.config import whole
from fivedice.envs import load_game
from fivedice.envs.api.transcript import write

POLICIES = f"The policy of each seat: {NAMEABLE}. Their number is the number of players."


@app.command
def watch(
    game: str,
    *policies: Annotated[str, Parameter(help=POLICIES)],
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
    out
        Write the game into this file: .html is a page to step through, .gif and .mp4 are films, .txt is a transcript.
        Default: print it.
    seed
        Random seed for the dice and policies. Default: other dice in every game.
    adviser
        Whose values to show, as for `fivedice play`. Default: each policy shows its own, if it knows them.
    """
    check_file(out, (*KINDS, ".txt"))
    spec = load_game(game)
    if not policies:
        raise ValueError(f"no policy given; name one for each seat: {NAMEABLE}")
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
    show_film(film, out, seconds)
