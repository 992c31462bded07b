"""A rule that can be chosen: how people, files and the options record that the rules read hold its values."""

import re
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

Value: TypeAlias = str | bool | int | tuple[int, ...]


class Option(Protocol):
    """What every kind of option has."""

    @property
    def name(self) -> str:
        """The keyword."""

    @property
    def meaning(self) -> str:
        """What it decides, in a few words."""

    @property
    def samples(self) -> tuple[Value, ...]:
        """Some of its values, the default first; all of them where they can be listed. Tests try each."""

    @property
    def valid(self) -> str:
        """Its values in words, the default first."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Of its field of int32 in the options record; () for one number."""

    def encode(self, value: object) -> Any:
        """What the options record holds for `value`, or a ValueError that says what would be right."""

    def decode(self, held: Any) -> Value:
        """The value that `held` stands for."""

    def parse(self, text: str) -> Value:
        """The value that `written` writes as `text`; the text itself if there is none, for `encode` to refuse."""


@dataclass(frozen=True)
class OneOf:
    """One of some words, or yes or no. The first of `choices` is the default; all are of one type, str or bool."""

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
        """The choices, as Python writes them."""
        return ", ".join(map(repr, self.choices))

    def encode(self, value: object) -> int:
        """0 or 1 for a bool, else the place of `value` in `choices`."""
        for place, choice in enumerate(self.choices):
            if isinstance(value, type(choice)) and value == choice:
                return int(choice) if isinstance(choice, bool) else place
        valid = " or ".join(repr(choice) for choice in self.choices)
        raise ValueError(f"{self.name}={value!r} is not a choice of this game; use {valid}")

    def decode(self, held: Any) -> Value:
        """The choice that `held` stands for."""
        return bool(held) if isinstance(self.choices[0], bool) else self.choices[int(held)]

    def parse(self, text: str) -> Value:
        """The choice written as `text`; ``true`` and ``false`` as Python or TOML writes them."""
        for choice in self.choices:
            if text == str(choice) or (isinstance(choice, bool) and text == str(choice).lower()):
                return choice
        return text


@dataclass(frozen=True)
class WholeNumber:
    """A whole number from `least` to `most`."""

    name: str
    default: int
    least: int
    most: int
    meaning: str
    shape = ()

    @property
    def samples(self) -> tuple[Value, ...]:
        """The default and both ends."""
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
        """As in ``"300"``."""
        return int(text) if re.fullmatch(r"-?\d+", text) else text


@dataclass(frozen=True)
class WholeNumbers:
    """As many whole numbers as `default` has, each from `least` to `most`; a tuple, or a list of them."""

    name: str
    default: tuple[int, ...]
    least: int
    most: int
    meaning: str

    @property
    def shape(self) -> tuple[int, ...]:
        """One axis."""
        return (len(self.default),)

    @property
    def samples(self) -> tuple[Value, ...]:
        """The default, and all of them at the least and at the most."""
        size = len(self.default)
        return self.default, (self.least,) * size, (self.most,) * size

    @property
    def valid(self) -> str:
        """The default, how many, and the range."""
        return f"{written(self.default)}, or {len(self.default)} from {self.least} to {self.most}"

    def encode(self, value: object) -> tuple[int, ...]:
        """The numbers themselves."""
        numbers = tuple(value) if isinstance(value, (list, tuple, np.ndarray)) else ()
        in_range = all(is_whole(number) and self.least <= number <= self.most for number in numbers)
        if len(numbers) != len(self.default) or not in_range:
            raise ValueError(
                f"{self.name}={value!r} is not possible; "
                f"use {len(self.default)} whole numbers from {self.least} to {self.most}, as {self.default}"
            )
        return tuple(map(int, numbers))

    def decode(self, held: Any) -> Value:
        """The numbers themselves."""
        return tuple(int(number) for number in held)

    def parse(self, text: str) -> Value:
        """As in ``"2,3,3"``."""
        return tuple(map(int, text.split(","))) if re.fullmatch(r"-?\d+(,-?\d+)*", text) else text


def is_whole(value: object) -> bool:
    """Whether `value` is a whole number; True and False are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def written(value: object) -> str:
    """A value of an option as transcripts and command lines have it: ``free``, ``True``, ``300``, ``2,3,3``."""
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
