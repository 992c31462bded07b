"""Options: what may be chosen, how it is written, and what is said of all else."""

from typing import Any

import numpy as np
import pytest

from fivedice.envs import GAMES, load_game
from fivedice.envs.option import OneOf, Option, WholeNumber, WholeNumbers, written

WORD = OneOf("zeros", ("forced", "free"), "")
SWITCH = OneOf("straight", (False, True), "")
NUMBER = WholeNumber("max_turns", 400, 1, 1000, "")
NUMBERS = WholeNumbers("chips", (2, 3, 4), 0, 5, "")
OPTIONS = [WORD, SWITCH, NUMBER, NUMBERS, *(option for name in GAMES for option in load_game(name).rules.OPTIONS)]


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_option__values_survive_record_and_text(option: Option) -> None:
    record = np.zeros(1, [(option.name, np.int32, option.shape)])
    for value in option.samples:
        record[option.name] = option.encode(value)
        kept = option.decode(record[0][option.name])
        assert kept == value
        assert type(kept) is type(value)
        assert option.parse(written(value)) == value
    assert str(option.samples[0]) in option.valid or written(option.samples[0]) in option.valid


@pytest.mark.parametrize(
    ("option", "wrong", "said"),
    [
        (WORD, "fre", "zeros='fre' is not a choice of this game; use 'forced' or 'free'"),
        (WORD, True, "zeros=True is not a choice"),
        (SWITCH, 1, "straight=1 is not a choice of this game; use False or True"),
        (SWITCH, np.zeros(2), "straight=.* is not a choice"),
        (NUMBER, 0, "max_turns=0 is not possible; use a whole number from 1 to 1000"),
        (NUMBER, 1001, "max_turns=1001 is not possible"),
        (NUMBER, 4.0, "max_turns=4.0 is not possible"),
        (NUMBER, True, "max_turns=True is not possible"),
        (NUMBER, "many", "max_turns='many' is not possible"),
        (NUMBERS, (2, 3), r"chips=\(2, 3\) is not possible; use 3 whole numbers from 0 to 5, as \(2, 3, 4\)"),
        (NUMBERS, (2, 3, 6), "chips=.* is not possible"),
        (NUMBERS, (2, 3, 4.5), "chips=.* is not possible"),
        (NUMBERS, "2;3;4", "chips='2;3;4' is not possible"),
        (NUMBERS, 2, "chips=2 is not possible"),
    ],
)
def test_option__refuses_what_it_cannot_be(option: Option, wrong: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        option.encode(option.parse(wrong) if isinstance(wrong, str) else wrong)


def test_option__lists_and_arrays_are_numbers_too() -> None:
    assert NUMBERS.encode([1, 2, 3]) == NUMBERS.encode(np.array([1, 2, 3])) == (1, 2, 3)
    assert NUMBER.encode(np.int64(7)) == 7


@pytest.mark.parametrize("text", ["true", "True"])
def test_option__reads_yes_as_toml_and_python_write_it(text: str) -> None:
    assert SWITCH.parse(text) is True
