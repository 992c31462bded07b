"""The command line: ``fivedice list | info | train | report | evaluate | tournament | play | …``."""

import importlib.util
import io
import json
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from importlib import metadata, resources
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter
from cyclopts.argument import ArgumentCollection
from cyclopts.config import Dict
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fivedice.agents.baselines import value_in_words
from fivedice.agents.config import CONFIG, Mix, TrainConfig, whole
from fivedice.agents.evaluation import show_evaluation
from fivedice.agents.files import refuse_file
from fivedice.agents.policy import load, load_all
from fivedice.envs import GAMES, load_game
from fivedice.envs.option import Value, written
from fivedice.envs.spec import Game, Options, unknown_name
from fivedice.envs.view import Policy

console = Console(markup=False, emoji=False)  # names of files are no markup


def _read_files(called: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Fill in what the command line leaves open from the files that it names; the first file named here wins."""
    for option, file_of in (("--config", config_path), ("--resume", lambda folder: Path(folder) / CONFIG)):
        argument = arguments.get(option, None)
        if argument is not None and argument.tokens:
            path = file_of(argument.tokens[-1].value)
            if not path.is_file():
                raise ValueError(f"{option} needs {path}, and there is no such file")
            Dict(read_settings(path), use_commands_as_keys=False, source=str(path))(called, commands, arguments)


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
Seats = Annotated[int | None, whole(least=1)]
Seed = Annotated[int, whole(least=0)]


@app.command(name="list")
def list_games() -> None:
    """Show the games, their ids, seats and options."""
    for name in GAMES:
        game = load_game(name)
        seats = f"{game.min_players} to {game.max_players} seats, {game.default_players} by default"
        table = Table("option", "values, the default first", "meaning", title_justify="left")
        table.title = f"{name}: {game.title}, {seats}\nids {game.aec_id} (PettingZoo), {game.gymnasium_id} (Gymnasium)"
        for option in game.rules.OPTIONS:
            table.add_row(option.name, option.valid, option.meaning)
        console.print(table)


@app.command
def info(file: Path) -> None:
    """Show what a checkpoint plays, how it came about and how well it did.

    Parameters
    ----------
    file
        A .safetensors checkpoint.
    """
    from fivedice.agents.checkpoint import read_card

    card = read_card(file)
    table = Table(title=Text(str(file)), show_header=False, title_justify="left")
    for name, value in card.items():
        if isinstance(value, dict):
            shown = written if name == "options" else _card_value
            value = "\n".join(f"{key} {shown(item)}" for key, item in value.items()) or "none"
        table.add_row(_plain(name), _plain(str(value)))
    console.print(table)
    load(file)  # refuses one that is damaged, or that this version cannot play


def _plain(text: str) -> Text:
    """A stranger's text, with what a terminal would take for commands written out."""
    return Text("".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text))


def _card_value(item: Any) -> str:
    figures = [item.get("mean"), item.get("half_width")] if isinstance(item, dict) else [None]
    if all(isinstance(figure, float) for figure in figures):
        return f"{item['mean']:.4g} ± {item['half_width']:.2g} (95 % interval, {item.get('deals')} deals)"
    return str(item)


@app.command
def train(
    settings: Annotated[TrainConfig | None, Parameter(name="*")] = None,
    *,
    config: str | None = None,
    resume: Path | None = None,
) -> None:
    """Train PPO by self-play, and show how it plays against the baselines.

    Parameters
    ----------
    config
        A TOML file with any of the other settings, or the name of one that comes with the package, as yum. The command
        line wins over it.
    resume
        The folder of a run to go on with, with its settings. The command line wins over them.
    """
    from fivedice.agents.session import run

    run(settings or TrainConfig(), resume, console)


@app.command(name="report")
def report_run(run: Path, *, out: Path | None = None, games: Annotated[int, whole(least=20)] = 1000) -> None:
    """Show a training run as one HTML page that needs nothing else, and its pictures as PNGs.

    Parameters
    ----------
    run
        The folder of a run.
    out
        The folder for the page; report in the run's own, if not given.
    games
        How many games are played for each yardstick, and for where the points go.
    """
    for name, extra in (("matplotlib", "plot"), ("tensorboard", "train")):
        needs_module(name, extra)
    from fivedice.agents.run_report import read_run, write_report

    told = read_run(run)
    folder = run / "report" if out is None else out
    refuse_file(folder, "the report")
    for path in write_report(told, folder, games=games):
        console.print(path, highlight=False, soft_wrap=True)


@app.command(name="evaluate")
def evaluate_policies(
    game: str,
    *policies: str,
    games: Annotated[int, whole(least=2)] = 4000,
    seats: Seats = None,
    seed: Seed = 0,
    sampled: bool = False,
    luck: bool = True,
    detail: bool = False,
    plot: Path | None = None,
    options: GameOptions = None,
) -> None:
    """Play policies against each other, seats rotated, and show points and wins with their 95 % intervals.

    Parameters
    ----------
    game
        What is played, as yum.
    policies
        Two or more of random, greedy, optimal, rollout (or rollout:BASE:GAMES), or checkpoint files; one is enough to
        see its points.
    games
        How many games each pairing plays; every deal of dice is played once from each seat.
    seats
        Seats at the table. The first checkpoint's, or the game's default, if not given.
    seed
        Of dice and of what is random in policies.
    sampled
        Checkpoints draw from their probabilities instead of playing their likeliest action.
    luck
        Where the game is solved, show the results with the luck of the dice taken out too. Takes some time.
    detail
        Show where the points go, beside exact play where the game is solved.
    plot
        A .png, .svg or .pdf file to draw that in.
    """
    spec = load_game(game)
    if not policies:
        raise ValueError("name at least one policy: random, greedy, optimal, rollout or a checkpoint file")
    contenders = load_all(policies, deterministic=not sampled)
    seats, chosen = table_for(spec, contenders.values(), seats, options)
    show_evaluation(
        console,
        spec,
        contenders,
        games=games,
        num_players=int(spec.make_options(seats, chosen)["num_players"]),
        seed=seed,
        options=chosen,
        luck=luck,
        detail=detail,
        plot=plot,
    )


@app.command(name="tournament")
def play_tournament(
    game: str,
    *policies: str,
    games: Annotated[int, whole(least=1)] = 1000,
    seats: Seats = None,
    seed: Seed = 0,
    workers: Annotated[int, whole(least=1, most=1024)] = 1,
    sampled: bool = False,
    out: Path | None = None,
    options: GameOptions = None,
) -> None:
    """Rate policies by games at every table that they can make, every seat order and the same dice for all.

    Writes tables of results as JSON and CSV, and a heat map. A tournament that was stopped goes on by the same command;
    with more games or more policies it keeps the games that it has.

    Parameters
    ----------
    game
        What is played, as yum.
    policies
        Two or more of random, greedy, optimal, rollout (or rollout:BASE:GAMES), or checkpoint files.
    games
        How many games each table plays, or a little more: all seat orders equally often.
    seats
        Seats at the table, two or more. The first checkpoint's, or the game's default, if not given.
    seed
        Of dice and of what is random in policies.
    workers
        How many processes play. Results do not depend on it.
    sampled
        Checkpoints draw from their probabilities instead of playing their likeliest action.
    out
        The folder for the results; tournaments/GAME-SEATS-seats if not given.
    """
    from fivedice.agents.ranking import rank
    from fivedice.agents.report import progress_bar
    from fivedice.agents.tournament import Tournament, ask_once, contender, play_tournament
    from fivedice.agents.tournament_report import PICTURE, tournament_tables, write_results

    spec = load_game(game)
    needs_module("choix", "arena")
    named = load_all(policies, deterministic=not sampled)
    seats, chosen = table_for(spec, named.values(), seats, options)
    record = spec.make_options(seats, chosen)
    tournament = Tournament(
        spec.name,
        tuple(spec.options_dict(record).items()),
        int(record["num_players"]),
        seed,
        games,
        tuple(contender(label, name) for label, name in zip(named, policies, strict=True)),
        sampled,
    )
    ask_once(tournament, named)
    folder = Path("tournaments") / f"{spec.name}-{tournament.num_players}-seats" if out is None else out
    with progress_bar(console, "games", tournament.num_games) as advance:
        results = play_tournament(
            tournament,
            folder,
            workers=workers,
            progress=advance,
            note=lambda sentence: console.print(f"Note: {sentence}.", highlight=False),
        )
    ranking = rank(tournament, results)
    console.print(tournament_tables(tournament, ranking))
    written = write_results(tournament, ranking, folder)
    console.print(f"\nWritten: {', '.join(map(str, written))}", highlight=False, soft_wrap=True)
    if PICTURE not in [path.name for path in written]:
        console.print("For a picture: pip install 'fivedice[plot]'", highlight=False)


@app.command
def play(
    game: str = "yum",
    *,
    against: Annotated[list[str] | None, Parameter(consume_multiple=True, negative=())] = None,
    seats: Seats = None,
    seat: Annotated[int, whole(least=0)] = 0,
    seed: Annotated[int | None, whole(least=0)] = None,
    advice: bool = False,
    adviser: str | None = None,
    options: GameOptions = None,
) -> None:
    """Play a game in the terminal.

    Parameters
    ----------
    game
        What is played, as yum.
    against
        Who sits in the other seats, in turn order after yours: random, greedy, optimal, rollout (or rollout:BASE:GAMES)
        or checkpoint files. One for all of them, or one each; greedy if not given.
    seats
        Seats at the table. The first checkpoint's, or the game's default, if not given.
    seat
        Your seat in turn order, from 0. In some games the dice say who begins.
    seed
        Play this seed's dice; new ones if not given.
    advice
        Show what each choice is worth: under exact play where the game is solved, else by rollout.
    adviser
        Who gives the advice: optimal, greedy (of what this turn can give), or a rollout, as rollout:greedy:64, which
        shows the mean lead in games played on.
    """
    from fivedice.agents.play import find_adviser, play_game

    spec = load_game(game)
    rivals = [load(name) for name in against or ["greedy"]]
    seats, chosen = table_for(spec, rivals, seats, options)
    if against and spec.make_options(seats, chosen)["num_players"] == 1:
        raise ValueError("nobody else sits at a table of one seat; leave out --against, or use more --seats")
    if sys.stdin is None:
        raise ValueError("standard input is closed, and there your choices are read; run it in a terminal")
    advised = find_adviser(spec, seats, chosen, adviser) if advice or adviser is not None else None
    play_game(
        spec,
        rivals,
        console,
        num_players=seats,
        seat=seat,
        seed=seed,
        adviser=advised,
        options=chosen,
    )


@app.command
def solve(game: str = "yum", *, seats: Seats = None, options: GameOptions = None) -> None:
    """Show the exact value of a game, where it is solved.

    Parameters
    ----------
    game
        What is solved, as yum.
    seats
        Seats at the table; the game's default if not given.
    """
    spec = load_game(game)
    record = spec.make_options(seats, spec.parse_options(options or {}))
    value = value_in_words(spec, record)
    console.print(f"{_table_in_words(spec, record)}:", highlight=False)
    console.print(value, highlight=False)


def _table_in_words(game: Game, options: Options) -> str:
    chosen = ", ".join(f"{name}={written(choice)}" for name, choice in game.options_dict(options).items())
    seats = int(options["num_players"])
    return f"{game.title}, {seats} {'seat' if seats == 1 else 'seats'} ({chosen})"


@app.command
def exploit(
    policy: str,
    *,
    boards: Literal["kinds", "points", "names", "all"] | None = None,
    options: GameOptions = None,
) -> None:
    """Show what a policy for Yahtzee Jr. wins against perfect play and against its best response, exactly.

    Parameters
    ----------
    policy
        random, greedy, optimal or a checkpoint file, at a table of two.
    boards
        Which boards are different to the policy: all of them (a day for a checkpoint); names, all but those that differ
        in the names of characters alone (some minutes); points, of finished rows only the points of either seat (a
        minute); kinds, only the difference in points (half a minute). If not given, points for a checkpoint, which is
        as good as all if it was trained on standard forms, and kinds for the others, which look no further.
    """
    from fivedice.agents.checkpoint import CheckpointPolicy
    from fivedice.agents.exploit import exploit as reckon
    from fivedice.agents.report import exploitability_table, progress_bar
    from fivedice.agents.rollout import RolloutPolicy

    game, asked = load_game("yahtzee_jr"), load(policy)
    if isinstance(asked, RolloutPolicy):
        raise ValueError("a rollout cannot be reckoned, it plays out too many boards; use its base or a checkpoint")
    plays = getattr(asked, "game", game)  # only a checkpoint is bound to one
    if plays is not game:
        raise ValueError(f"{asked.name} plays {plays.title}; only policies for {game.title} can be reckoned")
    _, chosen = table_for(game, [asked], None, options)
    record = game.make_options(2, chosen)
    checkpoint = asked if isinstance(asked, CheckpointPolicy) else None
    if boards is None:
        boards = "points" if checkpoint else "kinds"
    with progress_bar(console, "percent", 100) as advance:
        found = reckon(asked, record, boards=boards, progress=advance)
    as_it_is = boards == "all" or checkpoint is None or (checkpoint.standard_form and boards != "kinds")
    console.print(exploitability_table(asked.name, found, as_it_is=as_it_is, title=_table_in_words(game, record)))


def needs_module(name: str, extra: str) -> None:
    """Refuse to begin what could not be finished without a package that an extra brings."""
    if importlib.util.find_spec(name) is None:
        raise ValueError(f"this needs {name}, which comes with: pip install 'fivedice[{extra}]'")


def table_for(
    game: Game, policies: Iterable[Policy], seats: int | None, options: dict[str, Value] | None
) -> tuple[int | None, dict[str, Any]]:
    """The seats and options to play with: as asked for, else those of the first checkpoint."""
    for policy in policies:
        record = getattr(policy, "options", None)  # only a checkpoint is bound to a table
        if record is not None:
            trained: Any = policy
            if trained.game is not game:
                raise ValueError(f"{trained.name} plays {trained.game.title}, not {game.title}")
            seats = int(record["num_players"]) if seats is None else seats
            options = trained.game.options_dict(record) if options is None else options
            break
    return seats, game.parse_options(options or {})


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
