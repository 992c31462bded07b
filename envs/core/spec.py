"""What is declared of a game: name, seats, options, actions, observation, and the functions that are its rules."""

import difflib
import hashlib
import importlib
import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.chance import Chance
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.option import Option, Value

State: TypeAlias = Any  # one record of the game's STATE dtype (np.void in Python, a Numba record when compiled)
Options: TypeAlias = Any  # one record of the game's options dtype


class Rules(Protocol):
    """The verbs of a game. Each is a `kernel` and trusts its caller; a state is changed in place."""

    __name__: str
    STATE: np.dtype[np.void]
    OPTIONS: tuple[Option, ...]

    def setup(self, state: State, options: Options, chance: Chance) -> None:
        """Make `state` the start of a game, the first throw included."""

    def current_player(self, state: State) -> int:
        """The seat that decides; that of the last mover once the game is over."""

    def legal_actions(self, state: State, options: Options, mask: NDArray[np.int8]) -> None:
        """Write 1 for each legal action of the seat to move into `mask`, else 0; all 0 once the game is over."""

    def apply(self, state: State, options: Options, action: int, chance: Chance) -> None:
        """Carry out a legal `action`, and what chance does before the next decision."""

    def is_terminal(self, state: State, options: Options) -> bool:
        """Whether the game is over, by itself or cut short."""

    def scores(self, state: State, options: Options, points: NDArray[np.float64]) -> None:
        """Write each seat's points so far."""

    def winners(self, state: State, options: Options, won: NDArray[np.int8]) -> None:
        """Write 1 for each seat that shares the win, else 0; meaningful once the game is over."""


@kernel
def never(state: State, options: Options) -> bool:
    """`Game.is_truncated` of a game that always comes to its end."""
    return False


@dataclass(frozen=True)
class Field:
    """One named part of an observation."""

    name: str
    shape: tuple[int, ...]
    low: float
    high: float
    meaning: str

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return math.prod(self.shape)


class Layout:
    """An observation as a table: its fields in the order in which they stand in the flat float32 vector, and their
    `places` there by name."""

    def __init__(self, fields: list[Field]) -> None:
        self.fields = tuple(fields)
        self.size = sum(field.size for field in fields)
        ends = itertools.accumulate(field.size for field in fields)
        self.places = {field.name: slice(end - field.size, end) for field, end in zip(fields, ends, strict=True)}

    def bounds(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The lowest and the highest value of each number of the vector."""
        low = np.concatenate([np.full(field.size, field.low, np.float32) for field in self.fields])
        high = np.concatenate([np.full(field.size, field.high, np.float32) for field in self.fields])
        return low, high

    def named(self, observation: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
        """Views of the fields of one observation (size,) or of many (…, size), in the shapes of the table."""
        leading = observation.shape[:-1]
        return {
            field.name: observation[..., self.places[field.name]].reshape(*leading, *field.shape)
            for field in self.fields
        }

    @property
    def digest(self) -> str:
        """Changes whenever what a network was trained on would mean something else."""
        text = repr([(field.name, field.shape, field.low, field.high) for field in self.fields])
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class Game:
    """A game, declared. Its folder under ``envs/`` makes one instance, named ``GAME``.

    Args:
        name: as in ids and file names, such as ``"yum"``.
        title: as on the box.
        version: the number in the ids; raised when observations, actions, rewards or rules change.
        min_players, max_players, default_players: how many seats there may be.
        max_decisions_per_seat: the most decisions of one seat in a game with the default options. Longer games are
            possible in theory, but too rare to matter.
        face_names: what the faces of a die are called, from 1 up; each one word.
        rules: the module with the verbs.
        layout: the observation's table for an options record, which holds the number of seats too.
        observe: kernel ``(state, options, seat, out)`` that writes what `seat` sees into ``out`` (size,) float32.
        observe_throw: the same after one of the first `num_keeps` actions, into an ``out`` that still shows what `seat`
            saw before it: it writes only what a throw changes. A game may have it if each of these actions throws dice,
            changes nothing else, and leaves the move to the same seat. None: `observe` writes everything each time.
        num_keeps: how many of the first actions keep some dice and throw the others; 0 if there are none.
        action_names: each action under an options record in a few words, as ``"keep slots 1 2"`` or ``"fill Sixes"``.
        name_action: ``(state, options, action)`` in words that show dice, as ``"keep 5 5 5"``, ``"fill Fives: 15"``.
            The first word is a verb that takes an s: a transcript says ``"player_0 keeps 5 5 5"``. Actions with the
            same words must come to the same.
        render: ``(state, options)`` as text for a terminal.
        is_truncated: kernel ``(state, options)``, whether a game that is over was cut short by a limit of turns. It is
            paid like any other that is over.
        canonical: kernel ``(state, options, seat, out, actions)`` that makes the record ``out``, a copy of `state`, its
            canonical form for `seat`, and writes which action each action there is here into ``actions``
            (num_actions,) int64, -1 for all but one of those that come to the same. None if there is no such form.
    """

    name: str
    title: str
    version: int
    min_players: int
    max_players: int
    default_players: int
    max_decisions_per_seat: int
    face_names: tuple[str, ...]
    rules: Rules
    layout: Callable[[Options], Layout]
    observe: Callable[[State, Options, int, NDArray[np.float32]], None]
    action_names: Callable[[Options], tuple[str, ...]]
    name_action: Callable[[State, Options, int], str]
    render: Callable[[State, Options], str]
    observe_throw: Callable[[State, Options, int, NDArray[np.float32]], None] | None = None
    num_keeps: int = 0
    is_truncated: Callable[[State, Options], bool] = never
    canonical: Callable[[State, Options, int, State, NDArray[np.int64]], None] | None = None

    def __reduce__(self) -> tuple[Callable[[str], "Game"], tuple[str]]:
        # A game is its code: copies and pickles of what holds one refer to the folder's GAME.
        return _game_of_package, (self.rules.__name__.rpartition(".")[0],)

    @property
    def aec_id(self) -> str:
        """The id of the PettingZoo environment."""
        return f"fivedice/{self.name}-v{self.version}"

    @property
    def gymnasium_id(self) -> str:
        """The id of the Gymnasium environment."""
        return f"fivedice/{''.join(word.capitalize() for word in self.name.split('_'))}-v{self.version}"

    def num_actions(self, options: Options | None = None) -> int:
        """The size of the discrete action space under `options`, None for the default ones."""
        return len(self.action_names(self.make_options() if options is None else options))

    def action_digest(self, options: Options | None = None) -> str:
        """Changes whenever an action's number would mean something else; `options` as for `num_actions`."""
        names = self.action_names(self.make_options() if options is None else options)
        return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]

    @cached_property
    def options_dtype(self) -> np.dtype[np.void]:
        """The record that the rules take as ``options``."""
        return np.dtype(
            [("num_players", np.int32), *((option.name, np.int32, option.shape) for option in self.rules.OPTIONS)]
        )

    def make_options(self, num_players: int | None = None, chosen: Mapping[str, object] | None = None) -> Options:
        """The options record for these choices, or a ValueError that says what is wrong and what would be right."""
        if num_players is None:
            num_players = self.default_players
        if isinstance(num_players, bool) or not isinstance(num_players, (int, np.integer)):
            raise ValueError(f"num_players={num_players!r} is not a whole number")
        if not self.min_players <= num_players <= self.max_players:
            raise ValueError(
                f"num_players={num_players} is not possible in {self.title}; "
                f"use {self.min_players} to {self.max_players}"
            )
        chosen = chosen or {}
        known = {option.name: option for option in self.rules.OPTIONS}
        for name in chosen:
            if name not in known:
                raise ValueError(unknown_name(f"option of {self.title}", name, known))
        record = np.zeros(1, self.options_dtype)
        record["num_players"] = num_players
        for option in self.rules.OPTIONS:
            record[option.name] = option.encode(chosen.get(option.name, option.samples[0]))
        return record[0]

    def options_dict(self, options: Options) -> dict[str, Value]:
        """The choices in an options record by name, without the number of players."""
        return {option.name: option.decode(options[option.name]) for option in self.rules.OPTIONS}

    def parse_options(self, chosen: Mapping[str, object]) -> dict[str, Any]:
        """The same choices, those read that are written as text, as on a command line; `make_options` checks them."""
        known = {option.name: option for option in self.rules.OPTIONS}
        return {
            name: known[name].parse(value) if name in known and isinstance(value, str) else value
            for name, value in chosen.items()
        }


def _game_of_package(package: str) -> Game:
    game: Game = importlib.import_module(package).GAME
    return game


def unknown_name(kind: str, name: str, valid: "Mapping[str, object] | tuple[str, ...]") -> str:
    """One sentence for a name that is not among the valid ones, with the nearest of them."""
    near = difflib.get_close_matches(name, list(valid), n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(map(repr, valid)) or 'none'}"
    return f"{name!r} is not a known {kind}; {hint}"


def check_reset_options(options: Mapping[str, object], known: tuple[str, ...]) -> None:
    """Refuse a slip of the pen; other foreign keys are ignored, as is the custom of PettingZoo and Gymnasium."""
    if not isinstance(options, Mapping):
        raise ValueError(f"the options of a reset are {options!r}; use a dict, such as {{{known[0]!r}: …}}")
    for name in options:
        if name not in known and difflib.get_close_matches(name, known):
            raise ValueError(unknown_name("reset option", name, known))
