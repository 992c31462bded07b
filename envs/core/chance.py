"""Where faces come from: a seed, or a script.

Chance is an argument of the rules, never part of a game's state, so a copy of the state tells nobody the dice to come.
It is a pair ``(stream, script)``:

- ``stream`` is one `STREAM` record. Every seat has a stream of draws of its own, so that two policies compared on the
  same game meet the same dice, whatever the other seats do in between.
- ``script`` is an array of `SCRIPT` entries, faces that are used up first, in the order in which dice are drawn,
  whoever draws. A `BLANK` face is filled in by the generator, and the seat in any case, so that a script of blanks
  records what was drawn and by whom.

Random words come from Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
SC 2011), a function of (seed, game, stream, draw): no generator has a state that could be shared, lost or disturbed.
The function gives four words at a time, and a `STREAM` keeps those of the seats for their next draws. So its ``drawn``
is only ever raised by one, set to a higher multiple of four, or to 0 when its ``game`` changes.
"""

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.kernel import kernel, wrapping_product

MAX_SEATS = 6
UNIFORMS = MAX_SEATS  # stream UNIFORMS + seat holds the random numbers of the policy in that seat
SEATING = 2 * MAX_SEATS  # the stream that decides who sits where
TURN = 64  # draws that `align_streams` reserves for a turn; a longer turn reserves another block
BLANK = 0  # in a script

STREAM = np.dtype(
    [
        ("key", np.int64, (2,)),  # the seed as two words below 2**32
        ("game", np.int64, (2,)),  # which game of that seed: (row, episode), each below 2**32
        ("drawn", np.int32, (2 * MAX_SEATS + 1,)),  # how many draws each stream has made
        ("scripted", np.int32),  # how many faces of the script are used up
        ("words", np.uint32, (MAX_SEATS + 1, 4)),  # each seat's last four words, of which some may be left; and others'
    ]
)

SCRIPT = np.dtype(
    [
        ("face", np.int8),  # from 1 up, or BLANK
        ("seat", np.int8),  # who has drawn it, once it is used up
    ]
)

Chance: TypeAlias = tuple[Any, NDArray[np.void]]


@kernel(inline=True)
def philox(c0: int, c1: int, c2: int, c3: int, k0: int, k1: int) -> tuple[int, int, int, int]:
    """Four random words of 32 bits for a counter of four words and a key of two."""
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
    # Streams that are no seat's share a row, which is filled anew for each draw: a small record is a quick one.
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
    """Roll every die whose slot is not in `keep` (bit i: slot i is kept), in slot order, to a face from 1 to `sides`.

    Faces come from the script while it lasts. The others are the leading digits, in base `sides`, of one random
    fraction of 32 bits: five dice of six sides are fair to within two parts in a million of each probability.
    """
    stream, script = chance
    fraction = word(stream, seat)
    if stream["scripted"] < len(script):
        roll_by_script(dice, keep, sides, seat, chance, fraction)
        return
    for slot in range(len(dice)):
        # A die that is kept has a single side here, face 1, and so leaves the fraction as it is. This compiles to no
        # jump on which dice are kept, which no processor could guess.
        kept = (keep >> slot) & 1
        face, fraction = first_digit(fraction, sides - (sides - 1) * kept)
        dice[slot] = face + (int(dice[slot]) - 1) * kept


@kernel
def roll_by_script(dice: NDArray[np.int8], keep: int, sides: int, seat: int, chance: Chance, fraction: int) -> None:
    """`roll_dice` where some faces come from the script."""
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
    """The face that the leading digit of a fraction of 32 bits stands for, and the rest of the fraction."""
    return ((fraction * sides) >> 32) + 1, (fraction * sides) & 0xFFFFFFFF


@kernel
def draw_one(choices: NDArray[np.integer[Any]], seat: int, chance: Chance) -> int:
    """The place of one of `choices` (n,), numbers from 1 up that a script may hold, all places equally likely.

    Takes one random word and one entry of the script. An entry that is not among the choices is like a `BLANK` one, and
    what was drawn is written over it. Of 42 choices each is fair to within a part in fifty million.
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
    """Write a number in [0, 1) for each of `rows` (R,) from its stream `which` (R,)."""
    for i in range(len(rows)):
        uniforms[i] = word(streams[rows[i]], which[i]) / 4294967296.0


@kernel
def align_streams(rows: NDArray[np.int64], movers: NDArray[np.int8], streams: Any) -> None:
    """Let every seat that waits in `rows` (R,) go on with its next whole `TURN` of draws; `movers` (N,) does not wait.

    Two games that have parted then meet the same dice again from each seat's next turn on, however many were thrown.
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
    """`STREAM` records for games ``first_game``, … of `seed`; None takes entropy from the system."""
    if isinstance(first_game, bool) or not isinstance(first_game, (int, np.integer)) or not 0 <= first_game < 2**31:
        raise ValueError(f"game {first_game!r} is not the number of a game; use a whole number from 0 up")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0):
        raise ValueError(f"seed={seed!r} is not a seed; use a non-negative integer or None")
    streams = np.zeros(num_games, STREAM)
    streams["key"] = np.random.SeedSequence(seed).generate_state(2, np.uint32)
    streams["game"][:, 0] = np.arange(first_game, first_game + num_games)
    return streams


def new_script(faces: Iterable[int], sides: int) -> NDArray[np.void]:
    """`SCRIPT` entries for these faces, or `BLANK` for one from the generator."""
    if not isinstance(faces, Iterable):
        raise ValueError(f"script={faces!r} is not a list of faces; use one, such as [1, {sides}]")
    faces = list(faces)
    for position, face in enumerate(faces):
        if isinstance(face, bool) or not isinstance(face, (int, np.integer)) or not BLANK <= face <= sides:
            raise ValueError(
                f"script[{position}] is {face!r}; "
                f"each entry must be a face from 1 to {sides}, or {BLANK} for one from the generator"
            )
    script = np.zeros(len(faces), SCRIPT)
    script["face"] = faces
    return script
