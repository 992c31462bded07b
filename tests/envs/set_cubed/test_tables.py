"""The faces, dice and board of SET Cubed: tables that are counted, and tables that are refused."""

import itertools
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

from fivedice.envs.api.aec import DiceEnv
from fivedice.envs.set_cubed import GAME
from fivedice.envs.set_cubed.dice import standard_dice
from fivedice.envs.set_cubed.faces import FACE_NAMES, NUM_FACES, WILD, third_face
from fivedice.envs.set_cubed.lookup import THIRD, third

FEATURES = [(name[1], name[2], name[0]) for name in FACE_NAMES[:27]]  # colour, shape, number
STANDARD = [[FACE_NAMES[face] for face in die] for die in standard_dice()]


def is_a_set(faces: tuple[int, int, int]) -> bool:
    """The sheet's three questions."""
    return all(len(set(feature)) != 2 for feature in zip(*(FEATURES[face] for face in faces), strict=True))


def test_third__is_the_one_face_that_passes_the_three_questions() -> None:
    assert len(set(FEATURES)) == 27
    for first, second in itertools.product(range(27), repeat=2):
        assert [face for face in range(27) if is_a_set((first, second, face))] == [third_face(first, second)]


def test_lookup__is_the_rule_for_every_two_faces() -> None:
    for first, second in itertools.product(range(27), repeat=2):
        assert THIRD[first, second] == third(first, second) == third_face(first, second)


def test_third__the_sheets_examples() -> None:
    def named(first: str, second: str) -> str:
        return FACE_NAMES[third_face(FACE_NAMES.index(first), FACE_NAMES.index(second))]

    assert named("2RO", "2RD") == "2RS"  # one colour, three shapes, one number
    assert named("1RO", "1GO") == "1PO"
    assert named("1RO", "2GD") == "3PS"
    assert named("3GS", "3GS") == "3GS"


def test_dice__252_faces_each_on_nine_dice_and_never_twice_on_one() -> None:
    faces = Counter(itertools.chain(*standard_dice()))
    assert sum(faces.values()) == 252
    assert faces == Counter({**dict.fromkeys(range(NUM_FACES), 9), WILD: 9})
    assert all(len(set(die)) == 6 for die in standard_dice())


def test_dice__show_every_feature() -> None:
    for die in standard_dice():
        for feature in zip(*(FEATURES[face] for face in die if face != WILD), strict=True):
            assert len(set(feature)) > 1


def test_dice__every_form_of_a_table_is_the_same() -> None:
    table = [[*STANDARD[0][:5], "1GO"], *STANDARD[1:]]
    lines = "\n".join(" ".join(die) for die in table)
    records = [GAME.make_options(2, {"dice": form}) for form in (table, lines, lines.replace("\n", "/"))]
    assert records[0] == records[1] == records[2]
    told: Any = GAME.options_dict(records[0])["dice"]
    assert told.split(" / ") == lines.split("\n")
    assert GAME.options_dict(GAME.make_options(2, {"dice": STANDARD}))["dice"] == "standard"


@pytest.mark.parametrize(
    ("dice", "said"),
    [
        (STANDARD[:41], "dice lists 41 dice; the game has 42"),
        ([*STANDARD, STANDARD[0]], "dice lists 43 dice; the game has 42"),
        ([*STANDARD[:41], STANDARD[41][:5]], "dice: die 42 has 5 faces; a die has 6"),
        ([[*STANDARD[0], "1RO"], *STANDARD[1:]], "dice: die 1 has 7 faces; a die has 6"),
        (
            [STANDARD[0], [*STANDARD[1][:5], "4RO"], *STANDARD[2:]],
            "dice: '4RO' on die 2 is not a face; use 1, 2 or 3, then",
        ),
        ([STANDARD[0], [*STANDARD[1][:5], 3], *STANDARD[2:]], "dice: 3 on die 2 is not a face"),
        (7, "dice=7 is not possible; use 'standard', a text or 42 rows of six names"),
        ("Standard", "dice lists 1 dice"),
    ],
)
def test_dice__wrong_table_is_refused_in_words(dice: object, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        DiceEnv(GAME, dice=dice)


ROWS = ["." * 9] * 3 + ["...***..."] + ["." * 9] * 4
UPRIGHT = ["." * 7] * 2 + ["..*...."] * 3 + ["." * 7] * 2


@pytest.mark.parametrize(
    ("rows", "columns"), [(7, 7), (7, 15), (15, 7), (15, 15), (11, 11)], ids=lambda size: str(size)
)
def test_board__sizes(rows: int, columns: int) -> None:
    drawing = ["." * columns] * (rows - 1) + ["." * (columns - 3) + "***"]
    env = DiceEnv(GAME, board="\n".join(drawing))
    env.reset(seed=1)
    assert env.options["board"] == "/".join(drawing)
    assert env.action_space("player_0").n == 5 * rows * columns + 27 + 32 + 1
    layout = GAME.layout(env.options_record)
    assert layout.named(env.observe("player_0")["observation"])["features"].shape == (9, rows, columns)
    assert layout.digest != GAME.layout(GAME.make_options()).digest or rows == columns == 11


def test_board__standard_is_the_rulebooks() -> None:
    options = GAME.make_options()
    drawn = np.array(options["board"][2 : 2 + 121]).reshape(11, 11)
    assert options["board"][:2].tolist() == [11, 11]
    assert [tuple(cell) for cell in np.argwhere(drawn == 10).tolist()] == [(5, 4), (5, 5), (5, 6)]
    squares = {value: {tuple(cell) for cell in np.argwhere(drawn == value).tolist()} for value in (2, 3, 5)}
    assert squares[2] == {(3, 3), (3, 7), (7, 3), (7, 7)}
    assert squares[3] == {(1, 5), (5, 1), (5, 9), (9, 5)}
    assert squares[5] == {(1, 1), (1, 9), (9, 1), (9, 9)}
    assert np.count_nonzero(drawn) == 15


@pytest.mark.parametrize(
    ("drawing", "said"),
    [
        (ROWS[:6], "board has 6 rows of 9 cells; use 7 to 15 rows and columns"),
        ([row[:6] for row in ROWS], "board has 8 rows of 6 cells; use 7 to 15 rows and columns"),
        (ROWS * 2, "board has 16 rows of 9 cells"),
        ([row + "." * 7 for row in ROWS], "board has 8 rows of 16 cells"),
        ([*ROWS[:7], "." * 8], "board: row 8 has 8 cells and row 1 has 9"),
        ([*ROWS[:7], "....0...."], "board: '0' in row 8 has no meaning; use '.', a digit from 1 up or '*'"),
        ([*ROWS[:7], "....x...."], "board: 'x' in row 8 has no meaning"),
        (
            [*ROWS[:7], "....*...."],
            "board: 4 cells are '*'; the logo is three '*' next to each other in one row or column",
        ),
        ([row.replace("***", "*.**")[:9] for row in ROWS], "board: 3 cells are '*'; the logo is three"),
        ([row.replace("*", ".") for row in ROWS], "board: 0 cells are '*'"),
        ([*ROWS[:3], ".......**", "*........", *ROWS[5:]], "board: 3 cells are '*'"),  # round the edge
        ([*UPRIGHT[:2], "..*....", "...*...", "....*..", *UPRIGHT[5:]], "board: 3 cells are '*'"),  # slanted
        ([], "board has 0 rows of 0 cells"),
    ],
)
def test_board__wrong_drawing_is_refused_in_words(drawing: list[str], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        DiceEnv(GAME, board="/".join(drawing))


def test_board__that_is_no_text_is_refused() -> None:
    with pytest.raises(ValueError, match=r"board=\[.* is not possible; use 'standard' or a drawing as text"):
        DiceEnv(GAME, board=ROWS)


def test_board__logo_may_stand_upright() -> None:
    assert DiceEnv(GAME, board="/".join(UPRIGHT)).options["board"] == "/".join(UPRIGHT)
