"""Games of other packages: given to `register_game`, or declared by an installed package as entry points.

A package declares its game in its pyproject.toml. The name may end in the version of the ids, here 0::

    [project.entry-points."fivedice.games"]
    pig_v0 = "pigdice:GAME"

Nothing of such a package is imported before its game is asked for. Whatever is wrong with it is said then, in one
sentence that names the package.
"""

import importlib
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fivedice.envs.core.spec import Game

GROUP = "fivedice.games"
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
VERSIONED = re.compile(r"(.+)_v(\d+)")


@dataclass(frozen=True)
class Plugin:
    """A game of another package.

    Args:
        name: the name of the game.
        version: the version in its ids.
        source: the declaration of the game, or where it is, as ``"module:attribute"``.
        package: the installed package that declares it; empty for a registered game.
        problem: why it cannot be used, as a sentence; empty if nothing is wrong so far.
    """

    name: str
    version: int
    source: "str | Game"
    package: str = ""
    problem: str = ""

    @property
    def where(self) -> str:
        """Where its declaration is, for messages."""
        return self.source if isinstance(self.source, str) else "its declaration"

    def load(self) -> "Game":
        """The declaration of the game.

        Raises:
            ValueError: it cannot be imported, or it is not the declaration of this game.
        """
        from fivedice.envs.core.spec import Game

        if self.problem:
            raise ValueError(self.problem)
        owner = f"the game {self.name!r}" + (f" of the installed package {self.package!r}" if self.package else "")
        game: object = self.source
        if isinstance(self.source, str):
            try:
                game = import_attribute(self.source)
            except ImportError as error:
                raise ValueError(f"{owner} cannot be used: {error}") from error
        if not isinstance(game, Game):
            raise ValueError(f"{owner} cannot be used: {self.where} is not a Game, but {reason_of(game)}")
        if (game.name, game.version) != (self.name, self.version):
            raise ValueError(
                f"{owner} cannot be used: it is declared as {self.name}_v{self.version}, "
                f"but {self.where} is {game.name}_v{game.version}"
            )
        return game


def import_attribute(source: str) -> object:
    """The object that ``"module:attribute"`` names.

    Raises:
        ImportError: the module cannot be imported, for whatever reason, or has no such attribute.
    """
    module, _, attribute = source.partition(":")
    try:
        found: object = importlib.import_module(module)
    except (Exception, SystemExit) as error:  # a module of somebody else may raise anything
        raise ImportError(f"the import of {module} failed with {type(error).__name__}: {first_line(error)}") from error
    for name in attribute.split("."):
        try:
            found = getattr(found, name)
        except AttributeError:
            raise ImportError(f"{module} has no attribute {attribute!r}") from None
    return found


def first_line(error: BaseException) -> str:
    """The first line of an error message."""
    return (str(error).splitlines() or ["no message"])[0]


def reason_of(value: object) -> str:
    """What a wrong value is, in a few characters."""
    text = repr(value)
    return f"a {type(value).__name__}" if len(text) > 60 else text


def check_new(name: str, source: object, taken: Collection[str]) -> None:
    """Check the name and the source of a game that is to be registered.

    Raises:
        ValueError: they are not possible.
    """
    if not isinstance(name, str) or not NAME.fullmatch(name) or VERSIONED.fullmatch(name):
        raise ValueError(
            f"{name!r} cannot be the name of a game; use lower-case letters, digits and single underscores, "
            "such as 'liars_dice'"
        )
    if name in taken:
        raise ValueError(f"there is a game {name!r} already; use another name")
    if isinstance(source, str) and not is_source(source):
        raise ValueError(f"{source!r} does not say where a game is; use 'module:attribute', such as 'pigdice:GAME'")


def is_source(text: str) -> bool:
    """Whether a text has the form ``"module:attribute"``."""
    module, colon, attribute = text.partition(":")
    return bool(colon) and all(part.isidentifier() for part in (*module.split("."), *attribute.split(".")))


@cache
def installed(own: frozenset[str]) -> dict[str, Plugin]:
    """The games that installed packages declare, by name.

    Args:
        own: the names of the games of this package.
    """
    found: dict[str, list[Plugin]] = {}
    for entry in metadata.entry_points(group=GROUP):
        package = entry.dist.name if entry.dist else "?"
        versioned = VERSIONED.fullmatch(entry.name)
        name, version = (versioned[1], int(versioned[2])) if versioned else (entry.name, 0)
        source, says = entry.value.replace(" ", ""), f"the installed package {package!r} declares a game"
        problem = ""
        try:
            check_new(name, source, own)
        except ValueError as error:
            problem = f"{says} {entry.name!r} that cannot be used: {error}"
        found.setdefault(name, []).append(Plugin(name, version, source, package, problem))
    return {name: plugins[0] if len(plugins) == 1 else _several(name, plugins) for name, plugins in found.items()}


def _several(name: str, plugins: list[Plugin]) -> Plugin:
    packages = " and ".join(repr(package) for package in sorted({plugin.package for plugin in plugins}))
    problem = f"the game {name!r} is declared {len(plugins)} times, by {packages}; uninstall all but one"
    return Plugin(name, plugins[0].version, plugins[0].source, packages, problem)
