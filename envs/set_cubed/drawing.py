"""The printed board: plain cells, bonus squares and the logo, described by a text drawing."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.option import Value

FEWEST, MOST = 7, 15  # rows, and columns
PLAIN, LOGO = 0, 10  # kinds of printed cells; 1 to 9 is a bonus square of that value
CHARACTERS = ".123456789*"
STANDARD = "standard"
DRAWING = """
...........
.5...3...5.
...........
...2...2...
...........
.3..***..3.
...........
...2...2...
...........
.5...3...5.
...........
"""
SMALL = "......./.4.9.4./...*.../.1.*.1./...*.../.4.9.4./......."
LARGE = "/".join([".2..5..3..5..2."] + 6 * [15 * "."] + ["......***......"] + 4 * [15 * "."])


@dataclass(frozen=True)
class BoardDrawing:
    """The option that gives the board.

    A value is ``"standard"`` or a drawing with one character for each cell: ``.`` is plain, a digit from 1 to 9 is a
    bonus square of that value, and ``*`` belongs to the logo. The logo is three neighbouring cells of a row or column.
    ``/`` or a line break separates rows. The options record holds an array (2 + 225,) of int32: the number of rows, the
    number of columns, then the cells row by row.
    """

    name: str
    meaning: str
    shape = (2 + MOST * MOST,)
    samples: tuple[Value, ...] = (STANDARD, SMALL, LARGE)
    valid = f"'standard', or a drawing of {FEWEST} to {MOST} rows and columns, as '.5.…/.*.…/…'"

    def encode(self, value: object) -> NDArray[np.int32]:
        """Rows, columns and cells, (2 + 225,) int32. Raises ValueError if `value` is not a drawing of a board."""
        if not isinstance(value, str):
            raise ValueError(f"{self.name}={value!r:.60} is not possible; use 'standard' or a drawing as text")
        text = DRAWING if value == STANDARD else value
        rows = [row.strip() for row in text.replace("\n", "/").split("/") if row.strip()]
        columns = len(rows[0]) if rows else 0
        for number, row in enumerate(rows, 1):
            for character in row:
                if character not in CHARACTERS:
                    raise ValueError(
                        f"{self.name}: {character!r} in row {number} has no meaning; use '.', a digit from 1 up or '*'"
                    )
            if len(row) != columns:
                raise ValueError(f"{self.name}: row {number} has {len(row)} cells and row 1 has {columns}")
        if not (FEWEST <= len(rows) <= MOST and FEWEST <= columns <= MOST):
            raise ValueError(
                f"{self.name} has {len(rows)} rows of {columns} cells; use {FEWEST} to {MOST} rows and columns"
            )
        cells = [CHARACTERS.index(character) for row in rows for character in row]
        logo = [cell for cell, printed in enumerate(cells) if printed == LOGO]
        steps = [second - first for first, second in pairwise(logo)]
        across = steps == [1, 1] and logo[0] // columns == logo[2] // columns
        if not across and steps != [columns, columns]:
            raise ValueError(
                f"{self.name}: {len(logo)} cells are '*'; the logo is three '*' next to each other in one row or column"
            )
        record = np.zeros(self.shape, np.int32)
        record[:2] = len(rows), columns
        record[2 : 2 + len(cells)] = cells
        return record

    def decode(self, held: Any) -> Value:
        """The drawing, or ``"standard"``."""
        if np.array_equal(held, self.encode(STANDARD)):
            return STANDARD
        rows, columns = int(held[0]), int(held[1])
        text = "".join(CHARACTERS[cell] for cell in held[2 : 2 + rows * columns])
        return "/".join(text[row * columns :][:columns] for row in range(rows))

    def parse(self, text: str) -> Value:
        """The option from the command line: the text itself."""
        return text


@kernel
def num_rows(options: Any) -> int:
    """How many rows the board has."""
    return int(options["board"][0])


@kernel
def num_columns(options: Any) -> int:
    """How many columns the board has."""
    return int(options["board"][1])


@kernel
def num_cells(options: Any) -> int:
    """How many cells the board has."""
    return num_rows(options) * num_columns(options)


@kernel
def printed(options: Any, cell: int) -> int:
    """What is printed on a cell: PLAIN, LOGO, or the value of a bonus square."""
    return int(options["board"][2 + cell])


@kernel
def bonus(options: Any, cell: int) -> int:
    """The points that the first die on a cell earns, a WILD included: the value of a bonus square, else 0."""
    value = printed(options, cell)
    return 0 if value == LOGO else value
