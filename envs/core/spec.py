"""The declaration of a game: its name, players, options, actions, observation, and the functions of its rules."""

import difflib
import hashlib
import importlib
import inspect
import itertools
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.chance import Chance
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.marks import Marks
from fivedice.envs.core.option import Option, Value

State: TypeAlias = Any  # one record of the game's STATE dtype (np.void in Python, a Numba record when compiled)
Options: TypeAlias = Any  # one record of the game's options dtype


class Rules(Protocol):
    """The functions that every game's ``rules.py`` has.

    Each function is a compiled kernel. It does not check its arguments, and it changes a state in place. ``options`` is
    the options record (`Game.make_options`), ``chance`` the source of dice (``fivedice.envs.core.chance``).
    ``STATE`` is the dtype of a state, and ``OPTIONS`` lists the options.
    """

    __name__: str
    STATE: np.dtype[np.void]
    OPTIONS: tuple[Option, ...]

    def setup(self, state: State, options: Options, chance: Chance) -> None:
        """Write the start of a game into ``state``, after the first throw of the dice."""

    def current_player(self, state: State) -> int:
        """The seat of the player to move, from 0; the last player who moved if the game is over."""

    def legal_actions(self, state: State, options: Options, mask: NDArray[np.int8]) -> None:
        """Write 1 for each legal action into ``mask`` (num_actions,), else 0; all 0 if the game is over."""

    def apply(self, state: State, options: Options, action: int, chance: Chance) -> None:
        """Apply a legal action, and throw the dice for the next decision."""

    def is_terminal(self, state: State, options: Options) -> bool:
        """Whether the game is over: finished, or stopped by a limit of turns."""

    def scores(self, state: State, options: Options, points: NDArray[np.float64]) -> None:
        """Write the points of each player so far into ``points`` (at least num_players,)."""

    def winners(self, state: State, options: Options, won: NDArray[np.int8]) -> None:
        """Write 1 for each winner into ``won`` (at least num_players,), else 0; tied winners share the win.

        The result has a meaning only if the game is over.
        """


@kernel
def never(state: State, options: Options) -> bool:
    """`Game.is_truncated` of a game without a limit of turns."""
    return False


@dataclass(frozen=True)
class Field:
    """One named part of an observation.

    Args:
        name: its name, unique in the observation.
        shape: its shape.
        low: the lowest value of its numbers, at least -1.
        high: the highest value of its numbers, at most 1.
        meaning: what it shows, in one sentence.
    """

    name: str
    shape: tuple[int, ...]
    low: float
    high: float
    meaning: str

    @property
    def size(self) -> int:
        """The number of values in the field."""
        return math.prod(self.shape)


class Layout:
    """The fields of an observation, in their order in the flat float32 vector.

    Args:
        fields: the fields, in this order.

    Attributes:
        fields: the fields as a tuple.
        size: the length of the vector.
        places: for each field's name, the slice of the vector that holds the field.
    """

    def __init__(self, fields: list[Field]) -> None:
        self.fields = tuple(fields)
        self.size = sum(field.size for field in fields)
        ends = itertools.accumulate(field.size for field in fields)
        self.places = {field.name: slice(end - field.size, end) for field, end in zip(fields, ends, strict=True)}

    def bounds(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The lowest and the highest value of each element of the vector, two float32 arrays (size,)."""
        low = np.concatenate([np.full(field.size, field.low, np.float32) for field in self.fields])
        high = np.concatenate([np.full(field.size, field.high, np.float32) for field in self.fields])
        return low, high

    def named(self, observation: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
        """Split observations into their fields.

        Args:
            observation: (size,) or (…, size) float32.

        Returns:
            The values of each field by its name, (…, then the shape of the field); views if possible.
        """
        leading = observation.shape[:-1]
        return {
            field.name: observation[..., self.places[field.name]].reshape(*leading, *field.shape)
            for field in self.fields
        }

    @property
    def digest(self) -> str:
        """A hash of all fields. Two layouts with the same hash suit the same networks."""
        text = repr([(field.name, field.shape, field.low, field.high) for field in self.fields])
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class Game:
    """The declaration of a game. The package of each game, ``fivedice.envs.<game>``, has one instance named ``GAME``.

    Args:
        name: the name in ids and file names, such as ``"yum"``.
        title: the name on the box, such as ``"Yum"``.
        version: the number in the ids; it is raised when observations, actions, rewards or rules change.
        min_players: the smallest number of players.
        max_players: the largest number of players, at most 6.
        default_players: the default number of players.
        max_decisions_per_seat: the highest number of decisions of one player in a game with the default options. Longer
            games are possible in theory, but extremely rare.
        face_names: the names of the faces of a die, in order from face 1; each name is one word.
        rules: the module with the functions of `Rules`.
        layout: ``layout(options)`` returns the `Layout` of an observation. The options record contains the number of
            players.
        observe: kernel ``observe(state, options, seat, out)`` that writes the observation of a seat into ``out``,
            (size,) float32.
        observe_throw: kernel with the same arguments, after one of the first ``num_keeps`` actions. ``out`` still
            holds the observation before this action, and the kernel writes only what a throw changes. Declare it only
            if each of these actions throws dice, changes nothing else, and leaves the move to the same seat. Default:
            None, ``observe`` writes everything each time.
        num_keeps: how many of the first actions keep some dice and throw the others. Default: 0.
        action_names: ``action_names(options)`` returns a short name for each action, such as ``"keep slots 1 2"`` or
            ``"fill Sixes"``.
        name_action: ``name_action(state, options, action)`` returns a name that shows the dice, such as
            ``"keep 5 5 5"`` or ``"fill Fives: 15"``. It starts with a verb; a transcript adds the
            letter s: ``"player_0 keeps 5 5 5"``. Legal actions with the same name must have the same effect.
        render: ``render(state, options)`` returns the state as text for a terminal.
        draw: ``draw(state, options, marks)`` returns the state as an SVG document, as ``envs/display/drawing.py``
            describes it. Default: None, pictures show the text.
        action_regions: ``action_regions(state, options, action)`` returns the names of the regions of the drawing that
            belong to a legal action, such as the dice that a keep holds. In each position, different legal actions
            have different regions. Default: None, the drawing has no regions.
        is_truncated: kernel ``is_truncated(state, options)``: whether a finished game was stopped by a limit of turns.
            Its rewards are those of any finished game. Default: never.
        canonical: kernel ``canonical(state, options, seat, out, actions)`` for the canonical form of a state, as a seat
            observes it. ``out`` is a copy of ``state``; the kernel changes it into the canonical form. It writes into
            ``actions``, (num_actions,) int64, the action of ``state`` for each action of the canonical form; if several
            actions are equivalent, all but one of them get -1. Default: None, the game has no canonical form.
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
    draw: Callable[[State, Options, Marks], str] | None = None
    action_regions: Callable[[State, Options, int], tuple[str, ...]] | None = None
    observe_throw: Callable[[State, Options, int, NDArray[np.float32]], None] | None = None
    num_keeps: int = 0
    is_truncated: Callable[[State, Options], bool] = never
    canonical: Callable[[State, Options, int, State, NDArray[np.int64]], None] | None = None

    def __reduce__(self) -> tuple[Callable[[str, str], "Game"], tuple[str, str]]:
        # A copied or pickled game is a reference to its declaration, because it consists of code.
        return _declared, (self.home, next(n for n, value in vars(sys.modules[self.home]).items() if value is self))

    @property
    def home(self) -> str:
        """The name of the module that has the declaration: in general the package of the module with the rules.

        Raises:
            ValueError: no module of the package has it.
        """
        rules = self.rules.__name__
        package, top = rules.rpartition(".")[0], rules.partition(".")[0]
        others = sorted(name for name in sys.modules if name.startswith(f"{top}."))
        for module in (package, rules, top, *others):
            if any(value is self for value in vars(sys.modules.get(module, object)).values()):
                return module
        raise ValueError(f"no module of {top} has the declaration of {self.title} as an attribute")

    @property
    def aec_id(self) -> str:
        """The id of the PettingZoo environment, such as ``"fivedice/yum-v0"``."""
        return f"fivedice/{self.name}-v{self.version}"

    @property
    def gymnasium_id(self) -> str:
        """The id of the Gymnasium environments, such as ``"fivedice/Yum-v0"``."""
        return f"fivedice/{''.join(word.capitalize() for word in self.name.split('_'))}-v{self.version}"

    def num_actions(self, options: Options | None = None) -> int:
        """The size of the discrete action space.

        Args:
            options: the options record. Default: that of the default options.
        """
        return len(self.action_names(self.make_options() if options is None else options))

    def action_digest(self, options: Options | None = None) -> str:
        """A hash of the names of all actions. A checkpoint stores it, to detect that an action has another meaning.

        Args:
            options: the options record. Default: that of the default options.
        """
        names = self.action_names(self.make_options() if options is None else options)
        return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]

    @cached_property
    def options_dtype(self) -> np.dtype[np.void]:
        """The dtype of an options record: int32 fields for ``num_players`` and each option."""
        return np.dtype(
            [("num_players", np.int32), *((option.name, np.int32, option.shape) for option in self.rules.OPTIONS)]
        )

    def make_options(self, num_players: int | None = None, chosen: Mapping[str, object] | None = None) -> Options:
        """Make an options record, the form in which the rules take the options.

        Args:
            num_players: the number of players. Default: ``default_players``.
            chosen: values of options by name. Options that are not named have their default.

        Raises:
            ValueError: the number of players is out of range, an option does not exist, or its value is not valid.
        """
        if num_players is None:
            num_players = self.default_players
        if isinstance(num_players, bool) or not isinstance(num_players, (int, np.integer)):
            raise ValueError(f"num_players={num_players!r} is not a whole number")
        if not self.min_players <= num_players <= self.max_players:
            raise ValueError(
                f"num_players={num_players} is not possible: "
                f"{self.title} is for {self.min_players} to {self.max_players} players"
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
        """The values in an options record by name, without the number of players."""
        return {option.name: option.decode(options[option.name]) for option in self.rules.OPTIONS}

    def parse_options(self, chosen: Mapping[str, object]) -> dict[str, Any]:
        """Convert values that are given as text, as on a command line; other values stay as they are.

        Args:
            chosen: values of options by name. They are not checked; `make_options` does that.
        """
        known = {option.name: option for option in self.rules.OPTIONS}
        return {
            name: known[name].parse(value) if name in known and isinstance(value, str) else value
            for name, value in chosen.items()
        }


def _declared(module: str, name: str) -> Game:
    game: Game = vars(importlib.import_module(module))[name]
    return game


def unknown_name(kind: str, name: str, valid: "Mapping[str, object] | tuple[str, ...]") -> str:
    """The error message for an unknown name. It suggests the most similar valid name, or lists all of them.

    Args:
        kind: what the name should be, such as ``"game"``.
        name: the unknown name.
        valid: the valid names.
    """
    return f"{name!r} is not a known {kind}; {_nearest(name, valid)}"


def _nearest(name: str, valid: Iterable[str]) -> str:
    """The hint to the most similar valid name, or all of them."""
    valid = list(valid)
    near = difflib.get_close_matches(name, valid, n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(map(repr, valid)) or 'none'}"


def check_keywords(called: Callable[..., object], game: Game, keywords: Iterable[str]) -> None:
    """Raise a TypeError, in Python's words, if a keyword is neither a parameter nor an option of the game.

    Args:
        called: the class or function that was called. It takes the options of a game as ``**options``.
        game: the game.
        keywords: the keywords that are not parameters of ``called``.
    """
    options = [option.name for option in game.rules.OPTIONS]
    for name in keywords:
        if name not in options:
            parameters = inspect.signature(called).parameters.values()
            known = [parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD]
            hint = _nearest(name, [known_name for known_name in known if known_name != "game"] + options)
            raise TypeError(f"{called.__name__} got an unexpected keyword argument {name!r}; {hint}")


def check_reset_options(options: Mapping[str, object], known: tuple[str, ...]) -> None:
    """Raise a ValueError if a key of ``reset(options=...)`` is probably a misspelled one.

    Keys that resemble no known key are ignored, as in other environments of PettingZoo and Gymnasium.
    """
    if not isinstance(options, Mapping):
        raise ValueError(f"reset(options={options!r}) is not possible; use a dict, such as {{{known[0]!r}: …}}")
    for name in options:
        if name not in known and difflib.get_close_matches(name, known):
            raise ValueError(unknown_name("reset option", name, known))
