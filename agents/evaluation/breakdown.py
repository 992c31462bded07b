"""Score breakdown: what a policy scores in each row of a game's score sheet.

A game supports it if the module ``agents/games/<game>/breakdown.py`` defines a `ScoreSheet` named ``SCORE_SHEET``.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.evaluation.estimate import Estimate
from fivedice.agents.policies.by_game import load_part
from fivedice.envs.core.spec import Game
from fivedice.envs.core.view import View


@dataclass(frozen=True)
class Measure:
    """A statistic that is computed for each row of a score sheet.

    Args:
        name: the heading in tables and plots.
        is_share: whether it is a fraction from 0 to 1, which is shown in percent.
        adds_up: whether the sum over all rows is meaningful.
        only_row: the only row that has this statistic; None if most rows have it.
    """

    name: str
    is_share: bool = False
    adds_up: bool = False
    only_row: str | None = None


class ScoreSheet(Protocol):
    """The score sheet of a game.

    Attributes:
        rows: the names of the rows, for example the boxes of Yum. Each seat fills every row once per game.
        measures: the statistics of each row.
    """

    rows: tuple[str, ...]
    measures: tuple[Measure, ...]

    def entries(
        self, view: View, actions: NDArray[np.int64]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
        """The entries on the score sheet that N actions cause.

        Args:
            view: N decisions.
            actions: int64 (N,), the chosen actions.

        Returns:
            Three arrays with one row for each of the K entries: the index of the decision, (K,); the index of the row
            of the sheet, (K,); and the value of each of the M measures, (K, M), NaN where a row lacks the measure.
        """


@runtime_checkable
class HasScoreSheet(Protocol):
    """The module ``agents/games/<game>/breakdown.py``."""

    @property
    def SCORE_SHEET(self) -> ScoreSheet:
        """The score sheet of the game."""


def score_sheet_of(game: Game) -> ScoreSheet:
    """The score sheet of a game.

    Raises:
        ValueError: the game has no score breakdown.
    """
    module = load_part(game, "breakdown")
    if module is None or (module.__name__ == game.home and not isinstance(module, HasScoreSheet)):
        raise ValueError(f"{game.title} has no score breakdown")
    if not isinstance(module, HasScoreSheet):
        raise TypeError(f"{module.__name__} must define SCORE_SHEET, as the protocol HasScoreSheet says")
    sheet: ScoreSheet = module.SCORE_SHEET
    return sheet


class ScoreBreakdown:
    """The score breakdown of one contender.

    Args:
        sheet: the score sheet of the game.
        deals: the number of deals. All games of one deal (one dice seed) together are one sample.
    """

    def __init__(self, sheet: ScoreSheet, deals: int) -> None:
        self._sheet = sheet
        self._sums = np.zeros((deals, len(sheet.rows), len(sheet.measures)))
        self._counts = np.zeros((deals, len(sheet.rows), 1))

    def add(self, deals: NDArray[np.int64], view: View, actions: NDArray[np.int64]) -> None:
        """Add the entries that the `actions` (N,) cause in games of these `deals` (N,)."""
        decisions, rows, figures = self._sheet.entries(view, actions)
        np.add.at(self._sums, (deals[decisions], rows), figures)
        np.add.at(self._counts, (deals[decisions], rows), 1)

    def estimates(self, measure: Measure) -> list[Estimate]:
        """The mean of a measure in each row, with its 95 % interval."""
        samples = (self._sums / self._counts)[:, :, self._sheet.measures.index(measure)]
        estimate = Estimate.of_shares if measure.is_share else Estimate.of
        return [estimate(row) for row in samples.T]
