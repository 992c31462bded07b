"""Options: rules that the user can choose. An option converts its values to and from text and the options record."""

import re
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

Value: TypeAlias = str | bool | int | tuple[int, ...]


class Option(Protocol):
    """An option of a game. `OneOf`, `WholeNumber` and `WholeNumbers` are the common kinds."""

    @property
    def name(self) -> str:
        """The keyword of the option."""

    @property
    def meaning(self) -> str:
        """What the option changes, in a few words."""

    @property
    def samples(self) -> tuple[Value, ...]:
        """Some valid values, the default first; all values if there are only a few. The tests try each of them."""

    @property
    def valid(self) -> str:
        """The valid values in words, the default first."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the option's int32 field in the options record; ``()`` for one number."""

    def encode(self, value: object) -> Any:
        """Convert a value to what the options record stores.

        Raises:
            ValueError: the value is not valid; the message says which values are.
        """

    def decode(self, held: Any) -> Value:
        """Convert what the options record stores, ``held``, to a value."""

    def parse(self, text: str) -> Value:
        """Convert a text, as `written` returns it, to a value. An invalid text is returned unchanged."""


@dataclass(frozen=True)
class OneOf:
    """A choice between some words, or between True and False.

    Args:
        name: the keyword of the option.
        choices: the valid values, the default first; all of them str, or all of them bool.
        meaning: what the option changes, in a few words.
    """

    name: str
    choices: tuple[str, ...] | tuple[bool, ...]
    meaning: str
    shape = ()

    @property
    def samples(self) -> tuple[Value, ...]:
        """All choices."""
        return self.choices

    @property
    def valid(self) -> str:
        """The choices, written as in Python."""
        return ", ".join(map(repr, self.choices))

    def encode(self, value: object) -> int:
        """0 or 1 for a bool, else the index of ``value`` in ``choices``; raises a ValueError as `Option` says."""
        for place, choice in enumerate(self.choices):
            if isinstance(value, type(choice)) and value == choice:
                return int(choice) if isinstance(choice, bool) else place
        valid = " or ".join(repr(choice) for choice in self.choices)
        raise ValueError(f"{self.name}={value!r} is not possible; use {valid}")

    def decode(self, held: Any) -> Value:
        """The choice with this number."""
        return bool(held) if isinstance(self.choices[0], bool) else self.choices[int(held)]

    def parse(self, text: str) -> Value:
        """The choice written as ``text``; a bool may be written as in Python or as in TOML, ``True`` or ``true``."""
        for choice in self.choices:
            if text == str(choice) or (isinstance(choice, bool) and text == str(choice).lower()):
                return choice
        return text


@dataclass(frozen=True)
class WholeNumber:
    """A whole number in a range.

    Args:
        name: the keyword of the option.
        default: the default value.
        least: the lowest valid value.
        most: the highest valid value.
        meaning: what the option changes, in a few words.
    """

    name: str
    default: int
    least: int
    most: int
    meaning: str
    shape = ()

    @property
    def samples(self) -> tuple[Value, ...]:
        """The default and both ends of the range."""
        return tuple(dict.fromkeys((self.default, self.least, self.most)))

    @property
    def valid(self) -> str:
        """The default and the range."""
        return f"{self.default}, or {self.least} to {self.most}"

    def encode(self, value: object) -> int:
        """The number itself."""
        if not is_whole(value) or not self.least <= value <= self.most:  # type: ignore[operator]  # it is a number
            raise ValueError(
                f"{self.name}={value!r} is not possible; use a whole number from {self.least} to {self.most}"
            )
        return int(value)  # type: ignore[call-overload, no-any-return]  # it is a number

    def decode(self, held: Any) -> Value:
        """The number itself."""
        return int(held)

    def parse(self, text: str) -> Value:
        """The number written as ``text``, such as ``"300"``."""
        return int(text) if re.fullmatch(r"-?\d+", text) else text


@dataclass(frozen=True)
class WholeNumbers:
    """A tuple or list of whole numbers of a fixed length.

    Args:
        name: the keyword of the option.
        default: the default values; their number is the length.
        least: the lowest valid value of each number.
        most: the highest valid value of each number.
        meaning: what the option changes, in a few words.
    """

    name: str
    default: tuple[int, ...]
    least: int
    most: int
    meaning: str

    @property
    def shape(self) -> tuple[int, ...]:
        """``(length,)``."""
        return (len(self.default),)

    @property
    def samples(self) -> tuple[Value, ...]:
        """The default, all numbers at their lowest, and all numbers at their highest."""
        size = len(self.default)
        return self.default, (self.least,) * size, (self.most,) * size

    @property
    def valid(self) -> str:
        """The default, the length, and the range."""
        return f"{written(self.default)}, or {len(self.default)} from {self.least} to {self.most}"

    def encode(self, value: object) -> tuple[int, ...]:
        """The numbers themselves."""
        numbers = tuple(value) if isinstance(value, (list, tuple, np.ndarray)) else ()
        in_range = all(is_whole(number) and self.least <= number <= self.most for number in numbers)
        if len(numbers) != len(self.default) or not in_range:
            raise ValueError(
                f"{self.name}={value!r} is not possible; "
                f"use {len(self.default)} whole numbers from {self.least} to {self.most}, such as {self.default}"
            )
        return tuple(map(int, numbers))

    def decode(self, held: Any) -> Value:
        """The numbers themselves."""
        return tuple(int(number) for number in held)

    def parse(self, text: str) -> Value:
        """The numbers written as ``text``, such as ``"2,3,3"``."""
        return tuple(map(int, text.split(","))) if re.fullmatch(r"-?\d+(,-?\d+)*", text) else text


def is_whole(value: object) -> bool:
    """Whether ``value`` is an integer of Python or NumPy; True and False do not count as integers."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def written(value: object) -> str:
    """The text of an option's value in transcripts and on the command line: ``free``, ``True``, ``300``, ``2,3,3``."""
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
