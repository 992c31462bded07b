"""``fivedice report``: a page about a training run."""

from pathlib import Path
from typing import Annotated

from fivedice.agents.cli.app import app, console, needs_module
from fivedice.agents.policies.files import check_writable, refuse_file
from fivedice.agents.training.config import whole


@app.command(name="report")
def report_run(run: Path, *, out: Path | None = None, games: Annotated[int, whole(least=20)] = 1000) -> None:
    """Write a report on a training run: one self-contained HTML page, and its plots as PNG files.

    Parameters
    ----------
    run
        The folder of the run.
    out
        Folder for the page. Default: the folder report in the folder of the run.
    games
        Number of games to play for each baseline and for the score breakdown.
    """
    for name, extra in (("matplotlib", "plot"), ("tensorboard", "train")):
        needs_module(name, extra)
    from fivedice.agents.reports.run_data import read_run
    from fivedice.agents.reports.run_page import PAGE, write_report

    training_run = read_run(run)
    folder = run / "report" if out is None else out
    refuse_file(folder, "the report")
    check_writable(folder / PAGE)
    for path in write_report(training_run, folder, games=games):
        console.print(path, highlight=False, soft_wrap=True)
