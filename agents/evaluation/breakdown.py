"""Where points go, row by row of a score sheet: what each contender writes, and how it differs from exact play.

A game has such a table if there is ``agents/games/<game>/breakdown.py``, with a `ScoreSheet` named ``SCORE_SHEET``.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.evaluation.match import Estimate
from fivedice.agents.policies.by_game import load_part
from fivedice.envs.core.spec import Game
from fivedice.envs.core.view import View


@dataclass(frozen=True)
class Measure:
    """One figure of each row.

    Args:
        name: what it is, as a heading.
        is_share: whether it goes from 0 to 1 and is shown in percent.
        adds_up: whether its sum over the rows means something.
        only_row: the one row that has it; None where most rows do.
    """

    name: str
    is_share: bool = False
    adds_up: bool = False
    only_row: str | None = None


class ScoreSheet(Protocol):
    """What a game writes down.

    Attributes:
        rows: the rows of its sheet, such as boxes. In every game each seat writes every row once.
        measures: what is counted of each.
    """

    rows: tuple[str, ...]
    measures: tuple[Measure, ...]

    def entries(
        self, view: View, actions: NDArray[np.int64]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
        """What `actions` (N,) write.

        Returns:
            (K,) which of the N decisions writes, (K,) the row, (K, M) its figure for each measure, NaN if it has none.
        """


@runtime_checkable
class HasScoreSheet(Protocol):
    """The module ``agents/games/<game>/breakdown.py``."""

    @property
    def SCORE_SHEET(self) -> ScoreSheet:
        """The score sheet of the game."""


def score_sheet_of(game: Game) -> ScoreSheet:
    """What `game` writes down, or a ValueError if it has no such table."""
    module = load_part(game, "breakdown")
    if module is None:
        raise ValueError(f"there is no detailed table for {game.title}")
    if not isinstance(module, HasScoreSheet):
        raise TypeError(f"{module.__name__} must define SCORE_SHEET, as the protocol HasScoreSheet says")
    sheet: ScoreSheet = module.SCORE_SHEET
    return sheet


class ScoreBreakdown:
    """What one contender writes in some deals.

    Args:
        sheet: of the game.
        deals: how many. The games with the same dice are one sample.
    """

    def __init__(self, sheet: ScoreSheet, deals: int) -> None:
        self._sheet = sheet
        self._sums = np.zeros((deals, len(sheet.rows), len(sheet.measures)))
        self._counts = np.zeros((deals, len(sheet.rows), 1))

    def add(self, deals: NDArray[np.int64], view: View, actions: NDArray[np.int64]) -> None:
        """Take in what `actions` (N,) write in games of these `deals` (N,)."""
        decisions, rows, figures = self._sheet.entries(view, actions)
        np.add.at(self._sums, (deals[decisions], rows), figures)
        np.add.at(self._counts, (deals[decisions], rows), 1)

    def estimates(self, measure: Measure) -> list[Estimate]:
        """The mean of a measure in each row."""
        samples = (self._sums / self._counts)[:, :, self._sheet.measures.index(measure)]
        estimate = Estimate.of_shares if measure.is_share else Estimate.of
        return [estimate(row) for row in samples.T]
