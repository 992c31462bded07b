"""The command line, and what all its commands share."""

import importlib.util
import io
import json
import re
import shlex
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from importlib import metadata, resources
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, CycloptsError, MissingArgumentError, Parameter
from cyclopts.argument import ArgumentCollection
from cyclopts.config import Dict
from rich.console import Console

from fivedice.agents.policies.checkpoint import RENAMED
from fivedice.agents.policies.extras import extra_of
from fivedice.agents.policies.protocols import BoundToGame, Policy
from fivedice.agents.policies.registry import imports
from fivedice.agents.training.config import CONFIG, Mix, TrainConfig, whole
from fivedice.envs.core.kernel_error import KernelError
from fivedice.envs.core.option import Value, written
from fivedice.envs.core.spec import Game, Options, unknown_name

_from_files: dict[str, str] = {}  # names and values of settings that come from files, with the paths of these
console = Console(markup=False, emoji=False)  # names of files may look like markup


def _read_files(called: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Read settings that the command line does not give from the files that it names, first --config, then --resume."""
    _from_files.clear()
    for option, file_of in (("--config", config_path), ("--resume", lambda folder: Path(folder) / CONFIG)):
        argument = arguments.get(option, None)
        if argument is not None and argument.tokens:
            path = file_of(argument.tokens[-1].value)
            if option == "--resume" and path.parent.is_file():
                raise ValueError(f"--resume: {path.parent} is a file; name the folder of the run, {path.parent.parent}")
            if not path.is_file():
                if option == "--resume" and arguments["--config"].tokens:
                    continue  # nothing has begun there, and the settings are those of --config
                raise ValueError(f"{option}: the file {path} does not exist")
            options = arguments["--options"]
            given, options.tokens = options.tokens, []  # otherwise Cyclopts ignores all options in the file
            Dict(read_settings(path), use_commands_as_keys=False, source=str(path))(called, commands, arguments)
            known = [token.keys for token in given]
            options.tokens = [*given, *(token for token in options.tokens if token.keys not in known)]
            if option == "--resume":
                own = arguments["--opponents.own-policies"].tokens
                _refuse_imports(path, [token.value for token in own if token.source == str(path)])
    for argument in arguments:
        for token in argument.tokens:
            if token.source != "cli":
                name = token.keys[-1] if token.keys else argument.name.lstrip("-").rpartition(".")[2]
                _from_files.update(dict.fromkeys((name.replace("-", "_"), token.value), token.source))


def read_settings(path: Path) -> dict[str, Any]:
    """The settings in a TOML file, or in the JSON file of a run.

    Raises:
        ValueError: the file cannot be parsed, or has a setting that is not known.
    """
    try:
        settings: dict[str, Any] = (json.loads if path.suffix == ".json" else tomllib.loads)(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(settings, dict):
        raise ValueError(f"{path}: expected settings by name, found {settings!r}")
    _refuse_unknown(path, "setting", settings, TrainConfig)
    if "opponents" in settings:
        if not isinstance(settings["opponents"], dict):
            raise ValueError(f"{path}: opponents is {settings['opponents']!r}; write a table of weights, [opponents]")
        _refuse_unknown(path, "setting of opponents", settings["opponents"], Mix)
    return settings


def _refuse_imports(path: Path, names: Sequence[str]) -> None:
    """Raise a ValueError if the stored settings of a run name a policy to import. The folder may be a stranger's."""
    if any(imports(name) for name in names):
        raise ValueError(
            f"{path} names policies that are imported, which the folder of a run must not cause; if you trust them, "
            f"add --opponents.own-policies {shlex.join(names)}"
        )


def _refuse_unknown(path: Path, kind: str, settings: Mapping[str, Any], known: type[TrainConfig | Mix]) -> None:
    names = tuple(field.name for field in fields(known))
    for name in settings:
        if name in RENAMED:
            raise ValueError(f"{path}: the {kind} {name!r} is called {RENAMED[name]!r} now")
        if name not in names:
            raise ValueError(f"{path}: {unknown_name(kind, name, names)}")


def config_path(name: str) -> Path:
    """The path of a configuration: `name` itself if it is a file, else the packaged configuration of that name."""
    path = Path(name)
    if path.suffix or path.exists():
        return path
    folder = Path(str(resources.files("fivedice.configs")))
    packaged = {file.stem: file for file in sorted(folder.glob("*.toml"))}
    if name not in packaged:
        raise ValueError(unknown_name("configuration", name, packaged))
    return packaged[name]


app = App(
    name="fivedice",
    help="Dice games for reinforcement learning: train, evaluate and play.",
    help_format="markdown",
    version=lambda: metadata.version("fivedice"),
    config=_read_files,
    console=console,
    error_console=Console(stderr=True),
)
GameOptions = Annotated[
    dict[str, Value] | None,
    Parameter(help="Options of the game, for example --options.zeros free; see `fivedice list`."),
]
NumPlayers = Annotated[int | None, whole(least=1)]
Seed = Annotated[int, whole(least=0)]


def table_in_words(game: Game, options: Options) -> str:
    """A game, its number of players and its options, for a heading."""
    chosen = ", ".join(f"{name}={written(choice)}" for name, choice in game.options_dict(options).items())
    num_players = int(options["num_players"])
    return f"{game.title}, {num_players} {'player' if num_players == 1 else 'players'} ({chosen})"


def say(line: str) -> None:
    """Print one line that is not wrapped, such as an address."""
    console.print(line, highlight=False, soft_wrap=True)


def needs_module(name: str, extra: str) -> None:
    """Raise a ValueError if the package `name`, which `extra` installs, is missing: before a command starts to work."""
    if importlib.util.find_spec(name) is None:
        raise ValueError(f"this command needs {name}; install it by: pip install 'fivedice[{extra}]'")


def game_setup(
    game: Game, policies: Iterable[Policy], num_players: int | None, options: dict[str, Value] | None
) -> tuple[int | None, dict[str, Any]]:
    """The number of players and the options to play with: as given, else those of the first checkpoint, if any."""
    for policy in policies:
        if isinstance(policy, BoundToGame):
            if policy.game is not game:
                raise ValueError(
                    f"the checkpoint {policy.name!r} was trained for {policy.game.title}, not for {game.title}"
                )
            num_players = int(policy.options["num_players"]) if num_players is None else num_players
            options = game.options_dict(policy.options) if options is None else options
            break
    return num_players, game.parse_options(options or {})


def main() -> None:
    """Run the command line. An error in the input is reported in one sentence, with exit status 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without ± must not stop a training run
    try:
        app(sys.argv[1:], exit_on_error=False, print_error=False)
    except CycloptsError as error:
        _complain(f"fivedice: {sentence_of(error)}")
        sys.exit(2)
    except OSError as error:
        where = f"{error.filename} cannot be used: " if error.filename else ""
        _complain(f"fivedice: {where}{error.strerror or error}")
        sys.exit(2)
    except (ValueError, MemoryError, KernelError) as error:
        _complain(f"fivedice: {_file_of(str(error))}{error}")
        sys.exit(2)
    except ModuleNotFoundError as error:
        extra = extra_of(error.name) or "train"
        _complain(f"fivedice: this command needs {error.name}; install it by: pip install 'fivedice[{extra}]'")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


def sentence_of(error: CycloptsError) -> str:
    """An error in the words of the command line, in one sentence."""
    argument = error.argument
    if isinstance(error, MissingArgumentError) and argument is not None and argument.index is not None:
        command = " ".join(("fivedice", *(error.command_chain or ())))
        return f"{argument.name.lstrip('-').upper()} is missing; see {command} --help"
    said = " ".join(str(error).split()).rstrip(".")
    return re.sub("^(Command|Invalid|Missing|Parameter|Unknown|Unused)", lambda word: word[0].lower(), said)


def _file_of(message: str) -> str:
    """The file of the setting that a message begins with, as ``"FILE: "``; empty if it is not from a file."""
    begins = re.match(r"(?:opponents\.)?(\w+)=|'(.*?)' is not", message)
    path = _from_files.get((begins[1] or begins[2]).replace("-", "_")) if begins else None
    return f"{path}: " if path else ""


def _complain(sentence: str) -> None:
    Console(stderr=True, markup=False, emoji=False).print(sentence, style="red", highlight=False, soft_wrap=True)
