"""The command line, and what all commands share."""

import importlib.util
import io
import json
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from importlib import metadata, resources
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter
from cyclopts.argument import ArgumentCollection
from cyclopts.config import Dict
from rich.console import Console

from fivedice.agents.training.config import CONFIG, Mix, TrainConfig, whole
from fivedice.envs.core.option import Value, written
from fivedice.envs.core.spec import Game, Options, unknown_name
from fivedice.envs.core.view import Policy

console = Console(markup=False, emoji=False)  # names of files are no markup


def _read_files(called: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Fill in what the command line leaves open from the files that it names; the first file named here wins."""
    for option, file_of in (("--config", config_path), ("--resume", lambda folder: Path(folder) / CONFIG)):
        argument = arguments.get(option, None)
        if argument is not None and argument.tokens:
            path = file_of(argument.tokens[-1].value)
            if not path.is_file():
                raise ValueError(f"{option} needs {path}, and there is no such file")
            options = arguments["--options"]
            given, options.tokens = options.tokens, []  # else Cyclopts would leave out all options of the file
            Dict(read_settings(path), use_commands_as_keys=False, source=str(path))(called, commands, arguments)
            known = [token.keys for token in given]
            options.tokens = [*given, *(token for token in options.tokens if token.keys not in known)]


def read_settings(path: Path) -> dict[str, Any]:
    """What a TOML file or a run's own JSON file sets, every key a known one."""
    try:
        settings: dict[str, Any] = (json.loads if path.suffix == ".json" else tomllib.loads)(path.read_text())
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(settings, dict):
        raise ValueError(f"{path}: it holds {settings!r} where settings by name are expected")
    _refuse_unknown(path, "setting", settings, TrainConfig)
    if "opponents" in settings:
        if not isinstance(settings["opponents"], dict):
            raise ValueError(f"{path}: opponents is {settings['opponents']!r}; use a table of weights, as [opponents]")
        _refuse_unknown(path, "setting of opponents", settings["opponents"], Mix)
    return settings


def _refuse_unknown(path: Path, kind: str, settings: Mapping[str, Any], known: type[TrainConfig | Mix]) -> None:
    names = tuple(field.name for field in fields(known))
    for name in settings:
        if name not in names:
            raise ValueError(f"{path}: {unknown_name(kind, name, names)}")


def config_path(name: str) -> Path:
    """The file of that path, or the configuration of that name that comes with the package."""
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
    help_format="plaintext",
    version=lambda: metadata.version("fivedice"),
    config=_read_files,
    console=console,
    error_console=Console(stderr=True),
)
GameOptions = Annotated[dict[str, Value] | None, Parameter(help="The game's options by name, as --options.zeros free.")]
NumPlayers = Annotated[int | None, whole(least=1)]
Seed = Annotated[int, whole(least=0)]


def table_in_words(game: Game, options: Options) -> str:
    """A game, its seats and its options, for a heading."""
    chosen = ", ".join(f"{name}={written(choice)}" for name, choice in game.options_dict(options).items())
    seats = int(options["num_players"])
    return f"{game.title}, {seats} {'seat' if seats == 1 else 'seats'} ({chosen})"


def needs_module(name: str, extra: str) -> None:
    """Refuse to begin what could not be finished without a package that an extra brings."""
    if importlib.util.find_spec(name) is None:
        raise ValueError(f"this needs {name}, which comes with: pip install 'fivedice[{extra}]'")


def table_for(
    game: Game, policies: Iterable[Policy], num_players: int | None, options: dict[str, Value] | None
) -> tuple[int | None, dict[str, Any]]:
    """The seats and options to play with: as asked for, else those of the first checkpoint."""
    for policy in policies:
        record = getattr(policy, "options", None)  # only a checkpoint is bound to a table
        if record is not None:
            trained: Any = policy
            if trained.game is not game:
                raise ValueError(f"{trained.name} plays {trained.game.title}, not {game.title}")
            num_players = int(record["num_players"]) if num_players is None else num_players
            options = trained.game.options_dict(record) if options is None else options
            break
    return num_players, game.parse_options(options or {})


def main() -> None:
    """Run the command line; what is wrong with the input is said in one sentence, with exit status 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that knows no ± ends no training
    try:
        app(sys.argv[1:])
    except (ValueError, OSError, MemoryError) as error:
        _complain(f"fivedice: {error}")
        sys.exit(2)
    except ModuleNotFoundError as error:
        extra = "plot" if error.name == "matplotlib" else "train"
        said = f"fivedice: this needs {error.name}, which comes with: pip install 'fivedice[{extra}]'"
        _complain(said)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


def _complain(sentence: str) -> None:
    Console(stderr=True, markup=False, emoji=False).print(sentence, style="red", highlight=False, soft_wrap=True)
