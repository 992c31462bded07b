"""Chance: the source of the dice, a counter-based random generator or a script.

Chance is an argument of the rules, never part of a game's state. So a copy of a state does not reveal future dice.
Chance is a pair ``(stream, script)``:

- ``stream`` is one `STREAM` record. Every seat has its own random stream. So two policies that play the same game with
  the same seed get the same dice, whatever the other players do.
- ``script`` is an array of `SCRIPT` entries. Its faces are used first, in the order in which dice are drawn, by any
  seat. The generator replaces a `BLANK` face, and every entry gets the seat that has drawn it. So a script of blanks
  records all dice of a game.

Random words come from Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
SC 2011), a function of (seed, game, stream, draw). The function has no internal state.
It returns four words at a time, and a `STREAM` keeps the words of the seats for their next draws. Therefore ``drawn``
may only increase by one, be set to a higher multiple of four, or be set to 0 when ``game`` changes.
"""

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.kernel import kernel, wrapping_product

MAX_SEATS = 6
UNIFORMS = MAX_SEATS  # stream UNIFORMS + seat: the random numbers of the policy in that seat
SEATING = 2 * MAX_SEATS  # the stream for the seats of the learner and its opponents
TURN = 64  # draws that `align_streams` reserves for a turn; a longer turn reserves another block
BLANK = 0  # in a script: take this face from the generator

STREAM = np.dtype(
    [
        ("key", np.int64, (2,)),  # the seed as two words below 2**32
        ("game", np.int64, (2,)),  # the index of the game: (row, episode), each below 2**32
        ("drawn", np.int32, (2 * MAX_SEATS + 1,)),  # the number of draws from each stream
        ("scripted", np.int32),  # the number of script entries that are used
        ("words", np.uint32, (MAX_SEATS + 1, 4)),  # four words of each seat, and of other streams
    ]
)

SCRIPT = np.dtype(
    [
        ("face", np.int8),  # from 1, or BLANK
        ("seat", np.int8),  # the seat that has drawn it, when it is used
    ]
)

Chance: TypeAlias = tuple[Any, NDArray[np.void]]


@kernel(inline=True)
def philox(c0: int, c1: int, c2: int, c3: int, k0: int, k1: int) -> tuple[int, int, int, int]:
    """Four random words of 32 bits, from a counter of four such words and a key of two."""
    for _ in range(10):
        a = wrapping_product(0xD2511F53, c0)
        b = wrapping_product(0xCD9E8D57, c2)
        c0 = ((b >> 32) & 0xFFFFFFFF) ^ c1 ^ k0
        c1 = b & 0xFFFFFFFF
        c2 = ((a >> 32) & 0xFFFFFFFF) ^ c3 ^ k1
        c3 = a & 0xFFFFFFFF
        k0 = (k0 + 0x9E3779B9) & 0xFFFFFFFF
        k1 = (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c0, c1, c2, c3


@kernel(inline=True)
def word(stream: Any, which: int) -> int:
    """The next random word, 0 to 2**32 - 1, of stream `which`."""
    draw = int(stream["drawn"][which])
    stream["drawn"][which] = draw + 1
    # To keep records small, all streams that belong to no seat share the last row, which each draw computes again.
    words = stream["words"][min(which, MAX_SEATS)]
    if (draw & 3 == 0) | (which >= MAX_SEATS):
        words[0], words[1], words[2], words[3] = philox(
            draw >> 2,
            int(which),
            int(stream["game"][0]),
            int(stream["game"][1]),
            int(stream["key"][0]),
            int(stream["key"][1]),
        )
    return int(words[draw & 3])


@kernel(inline=True)
def roll_dice(dice: NDArray[np.int8], keep: int, sides: int, seat: int, chance: Chance) -> None:
    """Roll every die whose slot is not in ``keep`` (bit i: slot i is kept), in slot order; faces are 1 to ``sides``.

    Faces come from the script first. The others are the leading digits, in base ``sides``, of one random fraction of 32
    bits. With five dice of six sides, the relative error of each probability is at most two in a million.
    """
    stream, script = chance
    fraction = word(stream, seat)
    if stream["scripted"] < len(script):
        roll_by_script(dice, keep, sides, seat, chance, fraction)
        return
    for slot in range(len(dice)):
        # A kept die counts as a die with one side here, so it does not change the fraction. This arithmetic replaces an
        # `if`: a processor cannot predict which dice are kept.
        kept = (keep >> slot) & 1
        face, fraction = first_digit(fraction, sides - (sides - 1) * kept)
        dice[slot] = face + (int(dice[slot]) - 1) * kept


@kernel
def roll_by_script(dice: NDArray[np.int8], keep: int, sides: int, seat: int, chance: Chance, fraction: int) -> None:
    """`roll_dice` if some faces come from the script."""
    stream, script = chance
    for slot in range(len(dice)):
        if not (keep >> slot) & 1:
            place = stream["scripted"]
            if place < len(script):
                stream["scripted"] += 1
                script[place]["seat"] = seat
                if script[place]["face"] != BLANK:
                    dice[slot] = script[place]["face"]
                    continue
            dice[slot], fraction = first_digit(fraction, sides)
            if place < len(script):
                script[place]["face"] = dice[slot]


@kernel(inline=True)
def first_digit(fraction: int, sides: int) -> tuple[int, int]:
    """The face for the leading digit, in base ``sides``, of a fraction of 32 bits, and the rest of the fraction."""
    return ((fraction * sides) >> 32) + 1, (fraction * sides) & 0xFFFFFFFF


@kernel
def draw_one(choices: NDArray[np.integer[Any]], seat: int, chance: Chance) -> int:
    """Draw one of ``choices`` (n,), numbers from 1, and return its index; all indices are equally likely.

    It uses one random word and one entry of the script. An entry that is not among the choices is treated as `BLANK`,
    and the drawn choice replaces it. With 42 choices, the relative error of each probability is at most one in fifty
    million.
    """
    stream, script = chance
    drawn = (word(stream, seat) * len(choices)) >> 32
    place = stream["scripted"]
    if place < len(script):
        stream["scripted"] += 1
        script[place]["seat"] = seat
        for choice in range(len(choices)):
            if choices[choice] == script[place]["face"]:
                return choice
        script[place]["face"] = choices[drawn]
    return int(drawn)


@kernel
def fill_uniforms(
    rows: NDArray[np.int64], which: NDArray[np.int64], streams: Any, uniforms: NDArray[np.float64]
) -> None:
    """Write a uniform random number in [0, 1) for each of ``rows`` (R,), from its stream `which` (R,)."""
    for i in range(len(rows)):
        uniforms[i] = word(streams[rows[i]], which[i]) / 4294967296.0


@kernel
def align_streams(rows: NDArray[np.int64], movers: NDArray[np.int8], streams: Any) -> None:
    """Move the streams of all seats but `movers` (N,) to the start of the next block of `TURN` draws, in ``rows`` (R,).

    Two copies of a game that took different actions then get the same dice again from each seat's next turn, even if
    the numbers of draws differ.
    """
    for row in rows:
        stream = streams[row]
        for seat in range(MAX_SEATS):
            if seat != movers[row]:
                for which in (seat, UNIFORMS + seat):
                    stream["drawn"][which] = (stream["drawn"][which] + TURN - 1) // TURN * TURN
                stream["words"][seat] = 0
        stream["words"][MAX_SEATS] = 0


def new_streams(seed: int | None, num_games: int, first_game: int = 0) -> NDArray[np.void]:
    """Make `STREAM` records for the games ``first_game``, ``first_game + 1``, … of a seed.

    Args:
        seed: a non-negative integer, or None to take a seed from the operating system.
        num_games: the number of records.
        first_game: the index of the first game, from 0.

    Raises:
        ValueError: the seed or the index is out of range.
    """
    if isinstance(first_game, bool) or not isinstance(first_game, (int, np.integer)) or not 0 <= first_game < 2**31:
        raise ValueError(f"game {first_game!r} is not the index of a game; use a whole number of at least 0")
    streams = np.zeros(num_games, STREAM)
    streams["key"] = np.random.SeedSequence(checked_seed(seed)).generate_state(2, np.uint32)
    streams["game"][:, 0] = np.arange(first_game, first_game + num_games)
    return streams


def checked_seed(seed: int | None) -> int | None:
    """The seed as an int of Python. An integer of NumPy is the same seed.

    Raises:
        ValueError: the seed is neither a non-negative integer nor None.
    """
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0):
        raise ValueError(f"seed={seed!r} is not possible; use a non-negative integer or None")
    return None if seed is None else int(seed)


def new_script(faces: Iterable[int], sides: int) -> NDArray[np.void]:
    """Make the `SCRIPT` entries for faces from 1 to ``sides``; `BLANK` stands for a face from the generator.

    Raises:
        ValueError: ``faces`` is not iterable, or a face is out of range.
    """
    if not isinstance(faces, Iterable):
        raise ValueError(f"script={faces!r} is not a list of faces; use a list such as [1, {sides}]")
    faces = list(faces)
    for position, face in enumerate(faces):
        if isinstance(face, bool) or not isinstance(face, (int, np.integer)) or not BLANK <= face <= sides:
            raise ValueError(
                f"script[{position}] is {face!r}; "
                f"each entry must be a face from 1 to {sides}, or {BLANK} for a face from the generator"
            )
    script = np.zeros(len(faces), SCRIPT)
    script["face"] = faces
    return script
