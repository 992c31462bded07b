"""``fivedice report``: a training run as a page."""

from pathlib import Path
from typing import Annotated

from fivedice.agents.cli.app import app, console, needs_module
from fivedice.agents.policies.files import refuse_file
from fivedice.agents.training.config import whole


@app.command(name="report")
def report_run(run: Path, *, out: Path | None = None, games: Annotated[int, whole(least=20)] = 1000) -> None:
    """Show a training run as one HTML page that needs nothing else, and its pictures as PNGs.

    Parameters
    ----------
    run
        The folder of a run.
    out
        The folder for the page; report in the run's own, if not given.
    games
        How many games are played for each yardstick, and for where the points go.
    """
    for name, extra in (("matplotlib", "plot"), ("tensorboard", "train")):
        needs_module(name, extra)
    from fivedice.agents.reports.run_data import read_run
    from fivedice.agents.reports.run_page import write_report

    told = read_run(run)
    folder = run / "report" if out is None else out
    refuse_file(folder, "the report")
    for path in write_report(told, folder, games=games):
        console.print(path, highlight=False, soft_wrap=True)
