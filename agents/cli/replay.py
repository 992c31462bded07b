"""``fivedice replay``: a transcript as text, as a film, or as a page to step through."""

from pathlib import Path

from fivedice.agents.cli.app import app
from fivedice.agents.cli.film import Seconds, check_file, show_film
from fivedice.agents.play.advice import find_adviser
from fivedice.agents.reports.film import film_of_transcript
from fivedice.envs.api.transcript import parse


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
    check_file(out)
    game = parse(transcript.read_text("utf-8"))
    advised = None
    if advice or adviser is not None:
        advised = find_adviser(game.game, game.num_players, game.options, adviser)
    film = film_of_transcript(game, advised)
    show_film(film, out, seconds)
