"""Dice are fair, belong to a seat, and come from the script first."""

import random

import numpy as np
import pytest

from fivedice.envs import GAMES, load_game
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.chance import (
    BLANK,
    MAX_SEATS,
    STREAM,
    UNIFORMS,
    align_streams,
    draw_one,
    new_script,
    new_streams,
    philox,
    roll_dice,
    word,
)
from fivedice.envs.core.dice import KEEP_ALL, THROWS, throw
from fivedice.envs.core.dice_lookup import throw_number

FACES = 6
NO_SCRIPT = new_script([], FACES)


def throws(seed: int, number: int, keep: int = 0) -> np.ndarray:
    """Throws of five dice from one stream, sorted, (number, 5)."""
    stream, dice = new_streams(seed, 1)[0], np.ones((number, 5), np.int8)
    for row in dice:
        throw(row, keep, 0, (stream, NO_SCRIPT))
    return dice


def chi_square(observed: np.ndarray, probabilities: np.ndarray) -> float:
    """How many standard deviations the chi-square statistic lies above its mean."""
    expected = observed.sum() * probabilities
    freedom = len(probabilities) - 1
    return float((((observed - expected) ** 2 / expected).sum() - freedom) / np.sqrt(2 * freedom))


# Published with the generator: Random123, tests/kat_vectors, philox4x32 of 10 rounds.
@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ],
)
def test_philox__gives_the_published_words(counter: str, key: str, words: str) -> None:
    arguments = [int(text, 16) for text in (*counter.split(), *key.split())]
    assert [f"{number:08x}" for number in philox(*arguments)] == words.split()


def test_word__reads_the_four_words_of_a_counter_then_the_next_counter() -> None:
    stream = new_streams(3, 1, first_game=7)[0]
    stream["game"][1] = 2
    key = stream["key"].tolist()
    expected = [number for block in range(3) for number in philox(block, 4, 7, 2, *key)]
    assert [word(stream, 4) for _ in range(12)] == expected
    assert stream["drawn"].tolist() == [12 if which == 4 else 0 for which in range(len(stream["drawn"]))]


def test_word__streams_that_take_turns_do_not_disturb_each_other() -> None:
    stream = new_streams(3, 1)[0]
    key = stream["key"].tolist()
    drawn: dict[int, list[int]] = {which: [] for which in range(len(stream["drawn"]))}
    for which in random.Random(1).choices(list(drawn), k=200):
        drawn[which].append(word(stream, which))
    for which, words in drawn.items():
        assert words == [philox(draw // 4, which, 0, 0, *key)[draw % 4] for draw in range(len(words))]


@pytest.mark.parametrize("left_over", range(4))
def test_word__nothing_is_left_over_for_the_next_game(left_over: int) -> None:
    stream = new_streams(3, 1)[0]
    for _ in range(4 - left_over):
        word(stream, 0)
    stream["game"][1], stream["drawn"][:] = 1, 0
    assert word(stream, 0) == philox(0, 0, 0, 1, *stream["key"].tolist())[0]


def test_line_up__seats_that_wait_go_on_with_a_whole_turn() -> None:
    streams = new_streams(1, 2)
    for row, draws in enumerate((3, 65)):
        for _ in range(draws):
            for which in (0, 1, UNIFORMS + 1):
                word(streams[row], which)
    align_streams(np.array([0, 1]), np.array([0, 0], np.int8), streams)
    for row, (draws, turns) in enumerate(((3, 1), (65, 2))):
        assert streams[row]["drawn"][[0, 1, 2, UNIFORMS, UNIFORMS + 1]].tolist() == [
            draws,
            64 * turns,
            0,
            0,
            64 * turns,
        ]
        key = streams[row]["key"].tolist()
        assert word(streams[row], 1) == philox(16 * turns, 1, row, 0, *key)[0]
        assert word(streams[row], 0) == philox(draws // 4, 0, row, 0, *key)[draws % 4]
    once = streams.copy()
    align_streams(np.array([0]), np.array([1, 1], np.int8), streams)
    assert streams[1] == once[1]


def test_faces__fair_in_every_slot() -> None:
    stream, dice = new_streams(1, 1)[0], np.zeros((60_000, 5), np.int8)
    for row in dice:
        roll_dice(row, 0, FACES, 0, (stream, NO_SCRIPT))
    for slot in range(5):
        counts = np.bincount(dice[:, slot], minlength=FACES + 1)[1:]
        assert abs(chi_square(counts, np.full(FACES, 1 / FACES))) < 3


def test_throws__each_of_7776_equally_often() -> None:
    stream, dice = new_streams(2, 1)[0], np.zeros((80_000, 5), np.int8)
    for row in dice:
        roll_dice(row, 0, FACES, 0, (stream, NO_SCRIPT))
    numbers = (dice.astype(np.int64) - 1) @ (FACES ** np.arange(5))
    assert abs(chi_square(np.bincount(numbers, minlength=7776), np.full(7776, 1 / 7776))) < 3


def test_throws__sorted_as_often_as_counting_says() -> None:
    every_roll = np.sort(np.indices((FACES,) * 5).reshape(5, -1).T + 1, axis=1)
    kinds, ways = np.unique(every_roll, axis=0, return_counts=True)
    assert len(kinds) == 252
    found, counts = np.unique(throws(3, 40_000), axis=0, return_counts=True)
    observed = np.zeros(252)
    place = {tuple(kind): number for number, kind in enumerate(kinds.tolist())}
    for kind, number in zip(found.tolist(), counts, strict=True):
        observed[place[tuple(kind)]] = number
    assert abs(chi_square(observed, ways / 7776)) < 3


@pytest.mark.parametrize("keep", range(KEEP_ALL + 1))
def test_roll_dice__leaves_what_is_kept(keep: int) -> None:
    dice, stream = np.full(5, 9, np.int8), new_streams(0, 1)[0]
    roll_dice(dice, keep, FACES, 0, (stream, NO_SCRIPT))
    assert [(die == 9) for die in dice.tolist()] == [bool(keep >> slot & 1) for slot in range(5)]


def test_throw_number__is_the_place_among_all_throws() -> None:
    assert len({tuple(faces) for faces in THROWS.tolist()}) == 252
    assert [throw_number(faces) for faces in THROWS] == list(range(252))


def test_throw__sorts_every_order() -> None:
    for roll in np.indices((FACES,) * 5).reshape(5, -1).T[::7] + 1:
        dice = np.zeros(5, np.int8)
        throw(dice, 0, 0, (new_streams(0, 1)[0], new_script(roll, FACES)))
        assert dice.tolist() == sorted(roll.tolist())


@pytest.mark.parametrize("number", [1, 2, 6, 42])
def test_draw_one__every_place_equally_often(number: int) -> None:
    stream, choices = new_streams(4, 1)[0], np.arange(1, number + 1, dtype=np.int8)
    drawn = np.bincount([draw_one(choices, 2, (stream, NO_SCRIPT)) for _ in range(40_000)], minlength=number)
    assert len(drawn) == number
    assert number == 1 or abs(chi_square(drawn, np.full(number, 1 / number))) < 3
    assert stream["drawn"].tolist() == [40_000 if which == 2 else 0 for which in range(len(stream["drawn"]))]


def test_draw_one__takes_the_script_where_it_is_possible_and_a_word_in_any_case() -> None:
    choices = np.array([5, 9, 7], np.int8)
    stream, script = new_streams(4, 1)[0], new_script([9, BLANK, 3, 5], 9)
    places = [draw_one(choices, 1, (stream, script)) for _ in range(5)]
    plain = new_streams(4, 1)[0]
    free = [draw_one(choices, 1, (plain, NO_SCRIPT)) for _ in range(5)]
    assert (places[0], places[3]) == (1, 0)
    assert [places[draw] for draw in (1, 2, 4)] == [free[draw] for draw in (1, 2, 4)]
    assert script["face"].tolist() == [9, choices[free[1]], choices[free[2]], 5]
    assert script["seat"].tolist() == [1] * 4


def test_streams__independent_of_seat_row_and_seed() -> None:
    by_seat, by_row, by_seed = (np.zeros((6, 5_000), np.int64) for _ in range(3))
    for which in range(6):
        streams = [new_streams(1, 1)[0], new_streams(1, 1, first_game=which)[0], new_streams(which, 1)[0]]
        for numbers, stream, seat in zip((by_seat, by_row, by_seed), streams, (which, 0, 0), strict=True):
            numbers[which] = [word(stream, seat) for _ in range(5_000)]
    for numbers in (by_seat, by_row, by_seed):
        correlations = np.corrcoef(numbers)[np.triu_indices(6, 1)]
        assert np.abs(correlations).max() < 4 / np.sqrt(5_000)


def test_streams__paired_dice_a_seats_throws_do_not_depend_on_the_others() -> None:
    """Seat 0 throws all its dice three times a turn, whatever seat 1 does: it meets the same dice."""
    met = []
    for others_keep in (False, True):
        batch = Batch(load_game("yum"), 8, zeros="free")
        batch.reset(seed=11)
        dice: list[list[bytes]] = [[] for _ in range(8)]
        while not batch.terminated.any():
            for row in np.flatnonzero(batch.movers == 0):
                dice[row].append(batch.states[row]["dice"].tobytes())
            fills = np.array([np.flatnonzero(mask)[-1] for mask in batch.masks])
            throws_again = (batch.states["throws_left"] > 0) & ((batch.movers == 0) | others_keep)
            batch.step(np.where(throws_again, 0, fills), restart=False)
        met.append(dice)
    assert met[0] == met[1]
    assert all(len(set(row)) > 20 for row in met[0])


def test_script__comes_first_and_the_generator_goes_on() -> None:
    dice, stream = np.zeros(5, np.int8), new_streams(0, 1)[0]
    script = new_script([6, 5, 4, 3, 2, 1, 1], FACES)
    roll_dice(dice, 0, FACES, 0, (stream, script))
    assert dice.tolist() == [6, 5, 4, 3, 2]
    roll_dice(dice, 0b00001, FACES, 1, (stream, script))
    assert dice[:3].tolist() == [6, 1, 1]
    assert stream["scripted"] == 7
    rolled = dice[3:].tolist()
    assert all(1 <= die <= FACES for die in rolled)

    other, unscripted = np.zeros(5, np.int8), new_streams(0, 1)[0]
    roll_dice(other, 0b11100, FACES, 1, (unscripted, NO_SCRIPT))
    assert other[:2].tolist() == rolled  # the generator's first faces of that throw


def test_script__blanks_are_filled_with_what_the_generator_gives() -> None:
    recorded, plain = np.zeros(5, np.int8), np.zeros(5, np.int8)
    script = new_script([3, BLANK, BLANK, 4, BLANK, BLANK], FACES)
    roll_dice(recorded, 0, FACES, 0, (new_streams(0, 1)[0], script))
    roll_dice(plain, 0b01001, FACES, 0, (new_streams(0, 1)[0], NO_SCRIPT))
    assert script["face"].tolist() == [*recorded.tolist(), BLANK]
    assert recorded.tolist() == [3, plain[1], plain[2], 4, plain[4]]


def test_script__records_who_has_drawn_each_face() -> None:
    dice, stream = np.zeros(2, np.int8), new_streams(0, 1)[0]
    script = new_script([3, BLANK, 4, BLANK, BLANK], FACES)
    for seat, keep in ((1, 0), (3, 0b01), (0, 0b10)):
        roll_dice(dice, keep, FACES, seat, (stream, script))
    assert script["seat"][:4].tolist() == [1, 1, 3, 0]


def test_script__uses_no_less_of_the_generator() -> None:
    scripted, plain = new_streams(0, 1)[0], new_streams(0, 1)[0]
    dice = np.zeros(5, np.int8)
    for stream, script in ((scripted, new_script([1] * 5, FACES)), (plain, NO_SCRIPT)):
        for _ in range(2):
            roll_dice(dice, 0, FACES, 0, (stream, script))
    assert scripted["drawn"].tolist() == plain["drawn"].tolist()


@pytest.mark.parametrize("face", [7, -1, 2.0, "3", None, True])
def test_script__bad_face_is_named(face: object) -> None:
    with pytest.raises(ValueError, match=r"script\[2\] is .*; each entry must be a face from 1 to 6"):
        new_script([1, 6, face], FACES)  # type: ignore[list-item]


@pytest.mark.parametrize("seed", [-1, 1.0, "7", True])
def test_seed__bad_seed_is_named(seed: object) -> None:
    with pytest.raises(ValueError, match=r"seed=.* is not possible; use a non-negative integer or None"):
        new_streams(seed, 1)  # type: ignore[arg-type]


def test_seed__large_and_numpy_integers_are_seeds() -> None:
    assert new_streams(2**200, 1)["key"].tolist() != new_streams(0, 1)["key"].tolist()
    assert new_streams(np.int32(5), 1).tobytes() == new_streams(5, 1).tobytes()  # type: ignore[arg-type]


def test_seed__none_differs_each_time() -> None:
    assert new_streams(None, 1)["key"].tolist() != new_streams(None, 1)["key"].tolist()


def test_streams__none_shared_by_rows_or_games() -> None:
    streams = new_streams(0, 4, first_game=2)
    assert streams["game"].tolist() == [[2, 0], [3, 0], [4, 0], [5, 0]]
    assert STREAM["drawn"].shape[0] >= 2 * MAX_SEATS


@pytest.mark.parametrize("name", GAMES)
def test_global_generators__untouched(name: str) -> None:
    before = random.getstate(), np.random.get_state()[1].tobytes()  # noqa: NPY002  # the one that must stay as it is
    batch = Batch(load_game(name), 3)
    batch.reset()
    batch.reset(seed=1)
    batch.step(batch.masks.argmax(axis=1))
    batch.view()
    assert before == (random.getstate(), np.random.get_state()[1].tobytes())  # noqa: NPY002
