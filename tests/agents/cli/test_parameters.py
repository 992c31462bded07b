"""Every parameter of every command: what reaches the functions below it, and what it changes in the output.

`ARRIVES` holds a case for each parameter, `SHOWN` names those that a test sees in the output, and `SETTINGS` holds a
case for each setting of a training run. A parameter that has none fails by its name.
"""

import importlib
import inspect
import io
import json
import re
import runpy
import socket
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import minari
import numpy as np
import pytest
from numpy.typing import NDArray
from rich.console import Console

from fivedice.agents import cli
from fivedice.agents.cli import run as run_command
from fivedice.agents.cli import terminal
from fivedice.agents.evaluation import ranking, recording, schedule, tournament
from fivedice.agents.evaluation.breakdown import ScoreBreakdown, score_sheet_of
from fivedice.agents.evaluation.estimate import Estimate
from fivedice.agents.evaluation.match import Standing, count_deals, evaluate, play_games
from fivedice.agents.evaluation.variance import point_values
from fivedice.agents.games.yahtzee_jr import exploit
from fivedice.agents.games.yahtzee_jr.exploit import Exploitability
from fivedice.agents.play.advice import find_adviser
from fivedice.agents.play.session import PlaySession
from fivedice.agents.policies import checkpoint, onnx_file
from fivedice.agents.policies.baselines import GREEDY, OPTIMAL, PerGamePolicy, RandomPolicy, is_solved, optimum
from fivedice.agents.policies.checkpoint import CheckpointPolicy, load_checkpoint, make_card, read_card, save_checkpoint
from fivedice.agents.policies.network import Network, tensor_shapes
from fivedice.agents.policies.registry import NAMEABLE, NAMES, load, load_all, read_rollout
from fivedice.agents.policies.rollout import RolloutPolicy
from fivedice.agents.reports import evaluation, run_data, run_page, tables, tournament_page
from fivedice.agents.reports.tables import breakdown_report, standings_report
from fivedice.agents.training import folder as folder_of_runs
from fivedice.agents.training import run as training_run
from fivedice.agents.training.config import CONFIG, Mix, TrainConfig
from fivedice.agents.training.group import ALONE
from fivedice.agents.training.run import Progress
from fivedice.agents.web import app as web_app
from fivedice.agents.web import server as web_server
from fivedice.envs import GAMES, load_game
from fivedice.envs.api.transcript import parse
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.option import OneOf, WholeNumber, WholeNumbers, written
from fivedice.envs.core.spec import Game
from fivedice.envs.core.view import Policy, View

YUM, YAHTZEE_JR = load_game("yum"), load_game("yahtzee_jr")
COMMANDS = {name: cli.app[name].default_command for name in cli.app if not name.startswith("-")}
PARAMETERS = [
    (command, parameter)
    for command, function in COMMANDS.items()
    for parameter in inspect.signature(function).parameters
]
WIDTH = 200
Run = Callable[..., str]
Tried = Callable[..., tuple[int, str, str]]


def write_checkpoint(
    path: Path, game: Game, num_players: int, canonical_form: bool = False, bias: float = 0.0, **options: Any
) -> Path:
    """A checkpoint to which all actions are equally likely: the likeliest is the first one that is legal."""
    record = game.make_options(num_players, options)
    size, actions = game.layout(record).size, game.num_actions(record)
    tensors = {name: np.full(shape, bias, np.float32) for name, shape in tensor_shapes(size, actions, (4,)).items()}
    card = make_card(game, record, (4,), "relu", canonical_form)
    path.parent.mkdir(parents=True, exist_ok=True)
    save_checkpoint(path, card, Network(tensors, size, actions, (4,), "relu"))
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Files that command lines name: checkpoints, and the folder of a run that was never trained."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "run").mkdir()
    (folder / "run" / CONFIG).write_text(json.dumps({"seed": 17}))
    (folder / "it.toml").write_text("seed = 18\n")
    (folder / "played.txt").write_text(TRANSCRIPT)
    (folder / "kept.txt").write_text(f"# seed: 12\n# seats: person\n{TRANSCRIPT}")
    return {
        "YUM3": write_checkpoint(folder / "some.safetensors", YUM, 3, zeros="free"),
        "YUM4": write_checkpoint(folder / "four.safetensors", YUM, 4, high_low="high_first"),
        "JR": write_checkpoint(folder / "plain.safetensors", YAHTZEE_JR, 2),
        "SHARE": write_checkpoint(folder / "share.safetensors", YAHTZEE_JR, 2, tie_break="share"),
        "STANDARD": write_checkpoint(folder / "standard.safetensors", YAHTZEE_JR, 2, canonical_form=True),
        "YUM3_ONNX": folder / "some.onnx",
        "JR_ONNX": folder / "plain.onnx",
        "RUN": folder / "run",
        "PLAYED": folder / "played.txt",
        "KEPT": folder / "kept.txt",
        "TOML": folder / "it.toml",
    }


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Tried:
    """Runs ``fivedice …`` here, in an empty folder: exit status, output and complaints."""
    for console in (cli.console, cli.app.error_console):  # which took their widths when they were made
        monkeypatch.setattr(console, "width", WIDTH)
    monkeypatch.chdir(tmp_path)

    def tried(*arguments: object, typed: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["fivedice", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        status = 0
        try:
            cli.main()
        except SystemExit as left:
            status = int(left.code or 0)
        said, complained = capsys.readouterr()
        return status, said, complained

    return tried


@pytest.fixture
def run(tried: Tried) -> Run:
    """Runs ``fivedice …`` here, in an empty folder, and gives its output; a complaint fails."""

    def run(*arguments: object, typed: str = "") -> str:
        status, said, complained = tried(*arguments, typed=typed)
        assert (status, complained) == (0, "")
        return said

    return run


def lines(said: str) -> list[str]:
    return [line.rstrip() for line in said.splitlines() if line.strip()]


def cells(said: str, first: str) -> list[str]:
    """The cells of the first line that begins with this word."""
    line = next(line for line in said.splitlines() if line.strip().startswith(first))
    return re.split(r"  +", line.strip())


def printed(*what: Any) -> list[str]:
    console = Console(file=io.StringIO(), width=WIDTH, markup=False, emoji=False)
    for one in what:
        console.print(one, highlight=False)
    return lines(console.file.getvalue())  # type: ignore[attr-defined]


# What reaches the functions below a command


class Recorder:
    """Stands in for functions, and notes by name what they are called with; of an object seen before, only that."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.told: dict[str, Any] = {}
        self._seen: list[Any] = []
        self._monkeypatch = monkeypatch

    def stand_in(self, module: Any, name: str, result: Any) -> None:
        signature = inspect.signature(getattr(module, name))

        def spy(*arguments: Any, **keywords: Any) -> Any:
            bound = signature.bind(*arguments, **keywords)
            bound.apply_defaults()
            for parameter, value in bound.arguments.items():
                self._note(f"{name}.{parameter}", value)
            return result

        spy.__signature__ = signature  # type: ignore[attr-defined]  # for whoever stands in for it next
        self._monkeypatch.setattr(module, name, spy)

    def _note(self, name: str, value: Any) -> None:
        if any(value is seen for seen in self._seen):
            self.told[name] = "seen before"
        elif isinstance(value, schedule.Tournament):
            self._seen.append(value)
            for part in fields(value):
                self._note(f"{name}.{part.name}", getattr(value, part.name))
        elif isinstance(value, TrainConfig):
            self.told |= {f"{name}.{part}": held for part, held in asdict(value).items()}
        else:
            self.told[name] = described(value)


def described(value: Any) -> Any:
    """What tells a value from others of its kind, to compare."""
    if value is cli.console:
        return "the console"
    if isinstance(value, Game):
        return value.name
    if isinstance(value, PlaySession):
        return {
            "game": value.game.name,
            "seats": [seat.name for seat in value.seats],
            "seed": value.seed,
            "options": described(value.options),
        }
    if isinstance(value, np.void):  # options
        return {name: value[name].tolist() for name in value.dtype.names or ()}
    if isinstance(value, CheckpointPolicy):
        return f"{value.name} {'likeliest' if value.deterministic else 'sampled'}"
    if isinstance(value, RolloutPolicy):
        return f"rollout of {described(value.base)}, {value.games}, {value.aim}"
    if isinstance(value, (RandomPolicy, PerGamePolicy)):
        return value.name
    if isinstance(value, schedule.Contender):
        return (value.label, Path(value.name).name)
    if isinstance(value, Mapping):
        return {name: described(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [described(item) for item in value]
    return "a function" if callable(value) and not isinstance(value, type) else value


TRANSCRIPT = """\
fivedice/yahtzee_jr-v0
num_players: 1

player_0 throws Mickey Mickey Minnie Goofy Goofy
player_0 keeps Mickey Mickey, throws Mickey Donald Daisy
player_0 places Mickey: 3, throws Minnie Minnie Minnie Donald Daisy
"""
DOORS: dict[str, list[tuple[Any, str, Any]]] = {
    "list": [],
    "zoo": [],
    "info": [(checkpoint, "read_card", {}), (cli.info, "load", None)],
    "train": [(run_command, "run", None)],
    "export": [(checkpoint, "load_checkpoint", "the policy"), (onnx_file, "export_onnx", None)],
    "record": [(recording, "record", Path("data"))],
    "report": [(run_data, "read_run", "the run"), (run_page, "write_report", [Path("page")])],
    "evaluate": [(cli.evaluate, "show_evaluation", None)],
    "tournament": [
        (tournament, "ask_once", None),
        (tournament, "play_tournament", "the results"),
        (ranking, "rank", "the ranking"),
        (tournament_page, "tournament_tables", "the tables"),
        (tournament_page, "write_results", [Path("standings.csv")]),
    ],
    "play": [
        (cli.play, "make_adviser", "the adviser"),
        (terminal, "play_game", None),
        (web_server, "serve", None),
    ],
    "serve": [(web_server, "serve", None)],
    "replay": [
        (cli.replay, "find_adviser", "the adviser"),
        (cli.replay, "film_of_transcript", "the film"),
        (cli.replay, "show_film", None),
    ],
    "watch": [
        (cli.watch, "find_adviser", "the adviser"),
        (cli.watch, "film_of_match", ("the film", "the transcript")),
        (cli.watch, "show_film", None),
    ],
    "solve": [(cli.solve, "value_in_words", "the words")],
    "exploit": [(exploit, "exploit", "the figures"), (tables, "exploitability_table", "the table")],
}
YUM_OPTIONS = {"num_players": 2, "high_low": 0, "crossed_high": 0, "five_alike_full_house": 0, "zeros": 0}
YUM_CHOICES = [["high_low", "either"], ["crossed_high", "blocks_low"], ["five_alike_full_house", False]]
JR_TABLE = "Yahtzee Jr., 2 players (must_score_most={}, tie_break=roll)"
PLAIN: dict[str, tuple[str, dict[str, Any]]] = {  # a command line, and all that it comes to
    "list": ("", {}),
    "zoo": ("", {}),
    "info": ("YUM3", {"read_card.path": "YUM3", "load.name": "YUM3", "load.deterministic": True}),
    "train": (
        "",
        {f"run.config.{name}": value for name, value in asdict(TrainConfig()).items()}
        | {"run.resume": None, "run.console": "the console"},
    ),
    "export": (
        "YUM3",
        {
            "load_checkpoint.path": "YUM3",
            "load_checkpoint.deterministic": True,
            "export_onnx.policy": "the policy",
            "export_onnx.path": "YUM3_ONNX",
        },
    ),
    "record": (
        "yum random greedy",
        {
            "record.game": "yum",
            "record.policies": ["random", "greedy"],
            "record.out": Path("datasets/yum-random-greedy-v0"),
            "record.games": 1000,
            "record.num_players": 2,
            "record.reward": None,
            "record.seed": 0,
            "record.options": {},
            "record.progress": "a function",
        },
    ),
    "report": (
        "RUN",
        {
            "read_run.folder": "RUN",
            "write_report.run": "the run",
            "write_report.out": "RUN/report",
            "write_report.games": 1000,
        },
    ),
    "evaluate": (
        "yum random greedy",
        {
            "show_evaluation.console": "the console",
            "show_evaluation.game": "yum",
            "show_evaluation.contenders": {"random": "random", "greedy": "greedy"},
            "show_evaluation.games": 4000,
            "show_evaluation.num_players": 2,
            "show_evaluation.seed": 0,
            "show_evaluation.options": {},
            "show_evaluation.luck": True,
            "show_evaluation.breakdown": False,
            "show_evaluation.plot": None,
        },
    ),
    "tournament": (
        "yum random greedy",
        {
            "ask_once.tournament.game": "yum",
            "ask_once.tournament.options": [*YUM_CHOICES, ["zeros", "forced"]],
            "ask_once.tournament.num_players": 2,
            "ask_once.tournament.seed": 0,
            "ask_once.tournament.games": 1000,
            "ask_once.tournament.contenders": [("random", "random"), ("greedy", "greedy")],
            "ask_once.tournament.sampled": False,
            "ask_once.policies": {"random": "random", "greedy": "greedy"},
            "play_tournament.tournament": "seen before",
            "play_tournament.folder": Path("tournaments/yum-2-players"),
            "play_tournament.workers": 1,
            "play_tournament.progress": "a function",
            "play_tournament.note": "a function",
            "rank.tournament": "seen before",
            "rank.results": "the results",
            "tournament_tables.tournament": "seen before",
            "tournament_tables.ranking": "the ranking",
            "write_results.tournament": "seen before",
            "write_results.ranking": "the ranking",
            "write_results.folder": Path("tournaments/yum-2-players"),
        },
    ),
    "play": (
        "--seed 4",
        {
            "play_game.session": {"game": "yum", "seats": ["person", "greedy"], "seed": 4, "options": YUM_OPTIONS},
            "play_game.console": "the console",
            "play_game.adviser": None,
            "play_game.folder": Path("saved-games"),
        },
    ),
    "replay": (
        "PLAYED",
        {
            "film_of_transcript.transcript": parse(TRANSCRIPT),
            "film_of_transcript.adviser": None,
            "show_film.film": "the film",
            "show_film.out": None,
            "show_film.seconds": 1.0,
        },
    ),
    "watch": (
        "yum greedy random",
        {
            "film_of_match.game": "yum",
            "film_of_match.policies": ["greedy", "random"],
            "film_of_match.seed": None,
            "film_of_match.options": {},
            "film_of_match.adviser": None,
            "show_film.film": "the film",
            "show_film.out": None,
            "show_film.seconds": 1.0,
        },
    ),
    "serve": (
        "",
        {
            "serve.say": "a function",
            "serve.session": None,
            "serve.port": 0,
            "serve.folder": Path("saved-games"),
            "serve.runs": Path("runs"),
            "serve.open_browser": True,
        },
    ),
    "solve": ("", {"value_in_words.game": "yum", "value_in_words.options": YUM_OPTIONS}),
    "exploit": (
        "greedy",
        {
            "exploit.policy": "greedy",
            "exploit.options": {"num_players": 2, "must_score_most": 1, "tie_break": 0},
            "exploit.boards": "kinds",
            "exploit.tokens": None,
            "exploit.threads": None,
            "exploit.progress": "a function",
            "exploitability_table.name": "greedy",
            "exploitability_table.found": "the figures",
            "exploitability_table.as_it_is": True,
            "exploitability_table.title": JR_TABLE.format(True),
        },
    ),
}


@dataclass(frozen=True)
class Arrives:
    """What changes below a command when words are added to its plain command line, or when it is another one."""

    parameter: str
    words: str
    changes: dict[str, Any]
    instead: bool = False


GONE = "what is not called"  # a change that takes something off the plain command line


def added(parameter: str, words: str, **changes: Any) -> Arrives:
    return Arrives(parameter, words, {name.replace("__", "."): value for name, value in changes.items()})


def instead(parameter: str, words: str, **changes: Any) -> Arrives:
    return replace(added(parameter, words, **changes), instead=True)


ADVISED: dict[str, Any] = {
    "make_adviser__game": "yum",
    "make_adviser__options": YUM_OPTIONS,
    "make_adviser__name": None,
    "play_game__adviser": "the adviser",
}
JR_ADVISED: dict[str, Any] = {
    "find_adviser__game": "yahtzee_jr",
    "find_adviser__num_players": 1,
    "find_adviser__options": {"must_score_most": True, "tie_break": "roll"},
    "film_of_transcript__adviser": "the adviser",
}
YUM_SESSION = {"game": "yum", "seats": ["person", "greedy"], "seed": 4, "options": YUM_OPTIONS}
SHOWDOWN4 = {"num_players": 4, "chips": [2, 3, 3, 3, 4, 2], "steal": 1, "max_turns": 400}
YUM3_OPTIONS = YUM_OPTIONS | {"num_players": 3}
IN_BROWSER: dict[str, Any] = {
    **dict.fromkeys((f"play_game__{name}" for name in inspect.signature(terminal.play_game).parameters), GONE),
    "serve__say": "a function",
    "serve__session": YUM_SESSION,
    "serve__port": 0,
    "serve__folder": Path("saved-games"),
    "serve__runs": Path("runs"),
    "serve__open_browser": True,
}
TABLE_OF_FILE = {"high_low": "either", "crossed_high": "blocks_low", "five_alike_full_house": False, "zeros": "free"}
ARRIVES: dict[str, list[Arrives]] = {
    "list": [],
    "zoo": [],
    "replay": [
        instead(
            "transcript",
            str(Path(__file__).parents[2] / "golden" / "yum-tie.txt"),
            film_of_transcript__transcript=parse(
                (Path(__file__).parents[2] / "golden" / "yum-tie.txt").read_text("utf-8")
            ),
        ),
        added("out", "--out it.html", show_film__out=Path("it.html")),
        added("seconds", "--seconds 0.25", show_film__seconds=0.25),
        added("advice", "--advice", **JR_ADVISED, find_adviser__name=None),
        added("adviser", "--adviser greedy", **JR_ADVISED, find_adviser__name="greedy"),
    ],
    "watch": [
        instead("game", "yahtzee_jr greedy random", film_of_match__game="yahtzee_jr"),
        instead("policies", "yum random random optimal", film_of_match__policies=["random", "random", "optimal"]),
        instead(
            "policies",  # the options of the first checkpoint
            "yum YUM3 greedy random",
            film_of_match__policies=["some likeliest", "greedy", "random"],
            film_of_match__options=TABLE_OF_FILE,
        ),
        added("out", "--out it.gif", show_film__out=Path("it.gif")),
        added("seconds", "--seconds 2.5", show_film__seconds=2.5),
        added("seed", "--seed 7", film_of_match__seed=7),
        added("options", "--options.zeros free", film_of_match__options={"zeros": "free"}),
        added(
            "adviser",
            "--adviser optimal",
            find_adviser__game="yum",
            find_adviser__num_players=2,
            find_adviser__options={},
            find_adviser__name="optimal",
            film_of_match__adviser="the adviser",
        ),
    ],
    "info": [instead("file", "JR", read_card__path="JR", load__name="JR")],
    "train": [
        added("settings", "--n-envs 7", run__config__n_envs=7),
        added("config", "--config TOML", run__config__seed=18),
        added("resume", "--resume RUN", run__config__seed=17, run__resume="RUN"),
    ],
    "export": [
        instead("file", "JR", load_checkpoint__path="JR", export_onnx__path="JR_ONNX"),
        added("to", "--to a/b.onnx", export_onnx__path=Path("a/b.onnx")),
    ],
    "record": [
        instead(
            "game",
            "yahtzee_jr random greedy",
            record__game="yahtzee_jr",
            record__out=Path("datasets/yahtzee_jr-random-greedy-v0"),
        ),
        added(
            "policies",
            "random",
            record__policies=["random", "greedy", "random"],
            record__num_players=3,
        ),
        instead(
            "policies",  # the table of the checkpoint
            "yum YUM3",
            record__policies=["some likeliest"],
            record__num_players=3,
            record__options=TABLE_OF_FILE,
            record__out=Path("datasets/yum-some-v0"),
        ),
        instead(
            "policies",  # one policy for all seats: the game's own number of players
            "yum rollout:random:3",
            record__policies=["rollout of random, 3, points"],
            record__num_players=None,
            record__out=Path("datasets/yum-rollout-v0"),
        ),
        added("games", "--games 7", record__games=7),
        added("out", "--out a/b", record__out=Path("a/b")),
        added("num_players", "--num-players 3", record__num_players=3),
        added("reward", "--reward margin", record__reward="margin"),
        added("seed", "--seed 5", record__seed=5),
        instead(
            "deterministic",
            "yum YUM3 --no-deterministic",
            record__policies=["some sampled"],
            record__num_players=3,
            record__options=TABLE_OF_FILE,
            record__out=Path("datasets/yum-some-v0"),
        ),
        added("options", "--options.zeros free", record__options={"zeros": "free"}),
    ],
    "report": [
        instead("run", "other", read_run__folder=Path("other"), write_report__out=Path("other/report")),
        added("out", "--out else/where", write_report__out=Path("else/where")),
        added("games", "--games 21", write_report__games=21),
    ],
    "evaluate": [
        instead("game", "yahtzee_jr random greedy", show_evaluation__game="yahtzee_jr"),
        instead(
            "policies",
            "yum optimal random rollout:random:3 greedy",
            show_evaluation__contenders={
                "optimal": "optimal",
                "random": "random",
                "rollout:random:3": "rollout of random, 3, points",
                "greedy": "greedy",
            },
        ),
        added("games", "--games 2", show_evaluation__games=2),
        added("num_players", "--num-players 4", show_evaluation__num_players=4),
        instead(
            "num_players",  # and options: those of the first checkpoint
            "yum random YUM3",
            show_evaluation__num_players=3,
            show_evaluation__options=TABLE_OF_FILE,
            show_evaluation__contenders={"random": "random", "some": "some likeliest"},
        ),
        instead(
            "num_players",  # as asked for, and only the options of the checkpoint
            "yum random YUM3 --num-players 1",
            show_evaluation__num_players=1,
            show_evaluation__options=TABLE_OF_FILE,
            show_evaluation__contenders={"random": "random", "some": "some likeliest"},
        ),
        instead(
            "policies",  # of two checkpoints the first one's table
            "yum YUM3 YUM4",
            show_evaluation__num_players=3,
            show_evaluation__options=TABLE_OF_FILE,
            show_evaluation__contenders={"some": "some likeliest", "four": "four likeliest"},
        ),
        instead(
            "policies",  # the same where a rollout plays on by it
            "yum random rollout:YUM4:2 YUM3",
            show_evaluation__num_players=4,
            show_evaluation__options=TABLE_OF_FILE | {"high_low": "high_first", "zeros": "forced"},
            show_evaluation__contenders={
                "random": "random",
                "rollout:four:2": "rollout of four likeliest, 2, points",
                "some": "some likeliest",
            },
        ),
        added("seed", "--seed 5", show_evaluation__seed=5),
        instead(
            "deterministic",
            "yum random YUM3 --no-deterministic",
            show_evaluation__num_players=3,
            show_evaluation__options=TABLE_OF_FILE,
            show_evaluation__contenders={"random": "random", "some": "some sampled"},
        ),
        added("luck", "--no-luck", show_evaluation__luck=False),
        added("breakdown", "--breakdown", show_evaluation__breakdown=True),
        added("plot", "--plot a/b.png", show_evaluation__plot=Path("a/b.png")),
        added("options", "--options.zeros free", show_evaluation__options={"zeros": "free"}),
        added(
            "options",
            "--options.five_alike_full_house true --options.high_low high_first",
            show_evaluation__options={"five_alike_full_house": True, "high_low": "high_first"},
        ),
        instead(
            "options",  # as asked for, and only the seats of the checkpoint
            "yum YUM3 random --options.high_low high_first",
            show_evaluation__num_players=3,
            show_evaluation__options={"high_low": "high_first"},
            show_evaluation__contenders={"some": "some likeliest", "random": "random"},
        ),
    ],
    "tournament": [
        instead(
            "game",
            "yahtzee_jr random greedy",
            ask_once__tournament__game="yahtzee_jr",
            ask_once__tournament__options=[["must_score_most", True], ["tie_break", "roll"]],
            play_tournament__folder=Path("tournaments/yahtzee_jr-2-players"),
            write_results__folder=Path("tournaments/yahtzee_jr-2-players"),
        ),
        added(
            "policies",
            "optimal",
            ask_once__tournament__contenders=[("random", "random"), ("greedy", "greedy"), ("optimal", "optimal")],
            ask_once__policies={"random": "random", "greedy": "greedy", "optimal": "optimal"},
        ),
        added("games", "--games 400", ask_once__tournament__games=400),
        added(
            "num_players",
            "--num-players 3",
            ask_once__tournament__num_players=3,
            play_tournament__folder=Path("tournaments/yum-3-players"),
            write_results__folder=Path("tournaments/yum-3-players"),
        ),
        added("seed", "--seed 5", ask_once__tournament__seed=5),
        added("workers", "--workers 6", play_tournament__workers=6),
        instead(
            "deterministic",
            "yum random YUM3 --no-deterministic",
            ask_once__tournament__sampled=True,
            ask_once__tournament__num_players=3,
            ask_once__tournament__options=[*YUM_CHOICES, ["zeros", "free"]],
            ask_once__tournament__contenders=[("random", "random"), ("some", "some.safetensors")],
            ask_once__policies={"random": "random", "some": "some sampled"},
            play_tournament__folder=Path("tournaments/yum-3-players"),
            write_results__folder=Path("tournaments/yum-3-players"),
        ),
        added("out", "--out a/b", play_tournament__folder=Path("a/b"), write_results__folder=Path("a/b")),
        added("options", "--options.zeros free", ask_once__tournament__options=[*YUM_CHOICES, ["zeros", "free"]]),
    ],
    "play": [
        added(
            "game",
            "yahtzee_jr",
            play_game__session={
                "game": "yahtzee_jr",
                "seats": ["person", "greedy"],
                "seed": 4,
                "options": {"num_players": 2, "must_score_most": 1, "tie_break": 0},
            },
        ),
        added("opponents", "--opponents random", play_game__session=YUM_SESSION | {"seats": ["person", "random"]}),
        added(
            "opponents",
            "--opponents random optimal --num-players 3",
            play_game__session=YUM_SESSION | {"seats": ["person", "random", "optimal"], "options": YUM3_OPTIONS},
        ),
        added(
            "opponents",  # the table of the checkpoint
            "--opponents random YUM3",
            play_game__session=YUM_SESSION
            | {"seats": ["person", "random", "YUM3"], "options": YUM3_OPTIONS | {"zeros": 1}},
        ),
        added(
            "num_players",
            "--num-players 3",
            play_game__session=YUM_SESSION | {"seats": ["person", "greedy", "greedy"], "options": YUM3_OPTIONS},
        ),
        added("seat", "--seat 1", play_game__session=YUM_SESSION | {"seats": ["greedy", "person"]}),
        instead("seed", "--seed 0", play_game__session=YUM_SESSION | {"seed": 0}),
        instead(
            "file",
            "--file KEPT",
            play_game__session={
                "game": "yahtzee_jr",
                "seats": ["person"],
                "seed": 12,
                "options": {"num_players": 1, "must_score_most": 1, "tie_break": 0},
            },
        ),
        added("advice", "--advice", **ADVISED),
        added("adviser", "--adviser greedy", **ADVISED | {"make_adviser__name": "greedy"}),
        added(
            "adviser",
            "showdown_yahtzee --num-players 4 --options.steal beat --adviser greedy",
            make_adviser__game="showdown_yahtzee",
            make_adviser__options=SHOWDOWN4,
            make_adviser__name="greedy",
            play_game__session={
                "game": "showdown_yahtzee",
                "seats": ["person", *["greedy"] * 3],
                "seed": 4,
                "options": SHOWDOWN4,
            },
            play_game__adviser="the adviser",
        ),
        added("saved", "--saved a/b", play_game__folder=Path("a/b")),
        added(
            "options",
            "--options.zeros free",
            play_game__session=YUM_SESSION | {"options": YUM_OPTIONS | {"zeros": 1}},
        ),
        instead("browser", "--browser --seed 4", **IN_BROWSER),
        instead(
            "browser",  # with what else is asked for
            "yahtzee_jr --browser --seed 5 --seat 1 --num-players 3 --opponents random greedy "
            "--options.tie_break share",
            **IN_BROWSER
            | {
                "serve__session": {
                    "game": "yahtzee_jr",
                    "seats": ["greedy", "person", "random"],
                    "seed": 5,
                    "options": {"num_players": 3, "must_score_most": 1, "tie_break": 1},
                }
            },
        ),
        instead("port", "--browser --seed 4 --port 8123", **IN_BROWSER | {"serve__port": 8123}),
        instead("saved", "--browser --seed 4 --saved a/b", **IN_BROWSER | {"serve__folder": Path("a/b")}),
        instead("open_browser", "--browser --seed 4 --no-open", **IN_BROWSER | {"serve__open_browser": False}),
    ],
    "serve": [
        added("port", "--port 8123", serve__port=8123),
        added("saved", "--saved a/b", serve__folder=Path("a/b")),
        added("runs", "--runs a/b", serve__runs=Path("a/b")),
        added("open_browser", "--no-open", serve__open_browser=False),
    ],
    "solve": [
        added(
            "game",
            "yahtzee_jr",
            value_in_words__game="yahtzee_jr",
            value_in_words__options={"num_players": 2, "must_score_most": 1, "tie_break": 0},
        ),
        added("num_players", "--num-players 4", value_in_words__options=YUM_OPTIONS | {"num_players": 4}),
        added("options", "--options.zeros free", value_in_words__options=YUM_OPTIONS | {"zeros": 1}),
    ],
    "exploit": [
        instead("policy", "random", exploit__policy="random", exploitability_table__name="random"),
        instead(
            "policy",
            "SHARE",
            exploit__policy="share likeliest",
            exploit__boards="points",
            exploit__options={"num_players": 2, "must_score_most": 1, "tie_break": 1},
            exploitability_table__name="share",
            exploitability_table__as_it_is=False,
            exploitability_table__title=JR_TABLE.format(True).replace("roll", "share"),
        ),
        added("boards", "--boards all", exploit__boards="all"),
        added(
            "options",
            "--options.must_score_most False",
            exploit__options={"num_players": 2, "must_score_most": 0, "tie_break": 0},
            exploitability_table__title=JR_TABLE.format(False),
        ),
    ],
}


def what_arrives(
    monkeypatch: pytest.MonkeyPatch, run: Run, files: dict[str, Path], command: str, words: str
) -> dict[str, Any]:
    recorder = Recorder(monkeypatch)
    for module, name, result in DOORS[command]:
        recorder.stand_in(module, name, result)
    run(command, *given(words, files))
    return recorder.told


def given(words: str, files: Mapping[str, Path]) -> list[str]:
    """The words of a command line, with paths for the names of files."""

    def part(text: str) -> str:
        return str(files.get(text, text))

    return [":".join(map(part, word.split(":"))) for word in words.split()]


def with_files(told: Mapping[str, Any], files: dict[str, Path]) -> dict[str, Any]:
    """Names of files as the paths that they stand for."""

    def found(value: Any) -> Any:
        if isinstance(value, dict):
            return with_files(value, files)
        if isinstance(value, list):
            return [str(files[one]) if isinstance(one, str) and one in files else one for one in value]
        name, *inside = value.split("/") if isinstance(value, str) else [None]
        return files[name].joinpath(*inside) if name in files else value

    return {name: found(value) for name, value in told.items()}


@pytest.mark.parametrize("command", COMMANDS)
def test_command__plain_reaches_what_is_below_with_its_defaults(
    monkeypatch: pytest.MonkeyPatch, run: Run, files: dict[str, Path], command: str
) -> None:
    words, expected = PLAIN[command]
    assert what_arrives(monkeypatch, run, files, command, words) == with_files(expected, files)


@pytest.mark.parametrize(
    ("command", "case"),
    [pytest.param(command, case, id=f"{command} {case.words}") for command, own in ARRIVES.items() for case in own],
)
def test_parameter__changes_what_it_should_below_and_only_that(
    monkeypatch: pytest.MonkeyPatch, run: Run, files: dict[str, Path], command: str, case: Arrives
) -> None:
    words, expected = PLAIN[command]
    told = what_arrives(monkeypatch, run, files, command, case.words if case.instead else f"{words} {case.words}")
    changed = {name: value for name, value in (expected | case.changes).items() if value is not GONE}
    assert told == with_files(changed, files)
    assert told != with_files(expected, files)


@pytest.mark.parametrize(("command", "parameter"), PARAMETERS)
def test_every_parameter__has_a_case_below_and_one_in_the_output(command: str, parameter: str) -> None:
    assert parameter in [case.parameter for case in ARRIVES[command]], "add a case to ARRIVES"
    assert (command, parameter) in SHOWN, "add a test marked with shows()"


def test_tables__hold_no_parameter_that_is_gone() -> None:
    assert set(DOORS) == set(PLAIN) == set(ARRIVES) == set(COMMANDS)
    assert {(command, case.parameter) for command, cases in ARRIVES.items() for case in cases} == set(PARAMETERS)
    assert set(PARAMETERS) == SHOWN


@pytest.mark.parametrize("name", GAMES)
def test_options__of_every_game_arrive_with_every_value_that_they_have(
    monkeypatch: pytest.MonkeyPatch, run: Run, files: dict[str, Path], name: str
) -> None:
    game = load_game(name)
    for option in game.rules.OPTIONS:
        for value in option.samples:
            told = []
            for command, words in (
                ("evaluate", [name, "random"]),
                ("play", [name]),
                ("train", ["--game", name]),
            ):
                recorder = Recorder(monkeypatch)
                for module, function, result in DOORS[command]:
                    recorder.stand_in(module, function, result)
                run(command, *words, f"--options.{option.name}", written(value))
                told += [held for place, held in recorder.told.items() if place.endswith((".options", ".session"))]
            expected = list(value) if isinstance(value, tuple) else value
            at_table = described(game.make_options(None, {option.name: value}))
            assert told[1]["options"] == at_table
            assert [told[0], told[2]] == [{option.name: expected}, {option.name: value}]


# Settings of a training run


@dataclass(frozen=True)
class Setting:
    """Two values of a setting, the first off its default, as the command line writes them and as they arrive."""

    words: str
    value: Any
    other_words: str
    other: Any


def of(first: Any, second: Any) -> Setting:
    return Setting(str(first), first, str(second), second)


SETTINGS: dict[str, Setting] = {
    "game": of("set_cubed", "showdown_yahtzee"),
    "num_players": of(3, 1),
    "reward": of("margin", "score"),
    "reward_scale": of(0.125, 3.0),
    "margin_coef": of(0.75, 0.5),
    "margin_coef_end": of(0.25, 0.875),
    "canonical_form": of(False, True),
    "prior": Setting("greedy", "greedy", "", None),
    "prior_logit": of(2.5, 0.0),
    "prior_span": of(1.5, 7.0),
    "prior_keep_span": of(2.5, 9.0),
    "prior_features": of(True, False),
    "features_only": of(True, False),
    "start": Setting("a/b.safetensors", Path("a/b.safetensors"), "c.safetensors", Path("c.safetensors")),
    "value_steps": of(17, 18),
    "total_timesteps": of(1_000, 2_000),
    "n_envs": of(3, 4),
    "n_steps": of(5, 6),
    "batch_size": of(7, 9),
    "n_epochs": of(11, 12),
    "learning_rate": of(0.5, 0.0625),
    "learning_rate_end": of(0.03125, 0.25),
    "gamma": of(0.5, 0.75),
    "gae_lambda": of(0.25, 1.0),
    "clip_range": of(0.375, 0.625),
    "ent_coef": of(0.875, 0.75),
    "ent_coef_end": of(0.125, 0.375),
    "vf_coef": of(0.25, 1.5),
    "max_grad_norm": of(0.25, 2.5),
    "target_kl": of(0.0625, 0.125),
    "net_arch": Setting("7", (7,), "5 6 8", (5, 6, 8)),
    "activation": of("relu", "tanh"),
    "snapshot_every": of(101, 102),
    "pool_size": of(2, 3),
    "eval_every": of(103, 104),
    "eval_games": of(105, 106),
    "check_games": of(107, 108),
    "final_games": of(109, 110),
    "seed": of(0, 21),
    "device": of("cuda", "mps"),
    "workers": of(2, 3),
    "torch_threads": of(0, 8),
    "runs": Setting("else/where", Path("else/where"), "here", Path("here")),
    "name": of("one", "two"),
    "options.zeros": of("free", "forced"),
} | {f"opponents.{kind.name}": of(0.625, 0.875) for kind in fields(Mix)}
SETTINGS["opponents.own_policies"] = Setting("a.onnx", ("a.onnx",), "b.onnx c.onnx", ("b.onnx", "c.onnx"))


def flag(name: str, words: str) -> list[str]:
    """A setting on the command line."""
    dashed = f"--{name.replace('_', '-')}"
    if words in ("True", "False"):
        return [dashed if words == "True" else dashed.replace("--", "--no-")]
    return [dashed, *words.split()]


def nested(name: str, value: Any) -> dict[str, Any]:
    """A setting as files hold it."""
    table, _, key = name.rpartition(".")
    plain = str(value) if isinstance(value, Path) else value
    return {table: {key: plain}} if table else {key: plain}


def in_toml(name: str, value: Any) -> str:
    table, _, key = name.rpartition(".")
    plain = str(value) if isinstance(value, Path) else list(value) if isinstance(value, tuple) else value
    return (f"[{table}]\n" if table else "") + f"{key} = {json.dumps(plain)}\n"


def config_with(name: str, value: Any) -> TrainConfig:
    """The default configuration but for this setting."""
    table, _, key = name.rpartition(".")
    if table == "opponents":
        return TrainConfig(opponents=Mix(**{key: value}))
    return TrainConfig(options={key: value}) if table else TrainConfig(**{key: value})


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch, run: Run) -> Callable[..., tuple[TrainConfig, Path | None]]:
    """Runs ``fivedice train …`` and gives the configuration and the folder that a run would have been started with."""
    started: list[tuple[TrainConfig, Path | None]] = []
    monkeypatch.setattr(run_command, "run", lambda config, resume, console: started.append((config, resume)))

    def train(*words: object) -> tuple[TrainConfig, Path | None]:
        run("train", *words)
        return started.pop()

    return train


Train = Callable[..., tuple[TrainConfig, Path | None]]


def test_settings__every_field_has_a_case() -> None:
    names = {setting.name for setting in fields(TrainConfig)} - {"opponents", "options"}
    names |= {f"opponents.{kind.name}" for kind in fields(Mix)}
    assert {name for name in SETTINGS if not name.startswith("options.")} == names


@pytest.mark.parametrize("name", SETTINGS)
def test_setting__arrives_from_each_place_and_the_command_line_wins_over_files(
    trained: Train, tmp_path: Path, name: str
) -> None:
    case = SETTINGS[name]
    first, second = config_with(name, case.value), config_with(name, case.other)
    assert first != TrainConfig()
    assert first != second
    toml, other_toml, folder, other_folder = (tmp_path / part for part in ("a.toml", "b.toml", "one", "two"))
    toml.write_text(in_toml(name, case.value))
    if case.other is not None:
        other_toml.write_text(in_toml(name, case.other))
    for run_folder, config in ((folder, first), (other_folder, second)):
        run_folder.mkdir()
        (run_folder / CONFIG).write_text(json.dumps(asdict(config), indent=2, default=str))  # as a run writes it
    words = flag(name, case.words)
    assert trained(*words) == (first, None)
    assert trained("--config", toml) == (first, None)
    assert trained("--resume", folder) == (first, folder)
    assert trained("--resume", other_folder) == (second, other_folder)
    assert trained(*words, "--resume", other_folder) == (first, other_folder)
    assert trained("--config", toml, "--resume", other_folder) == (first, other_folder)
    if case.other is not None:
        assert trained("--config", other_toml, *words) == (first, None)
        assert trained("--config", other_toml, "--resume", folder) == (second, folder)
        assert trained("--config", toml, "--resume", folder, *flag(name, case.other_words)) == (second, folder)


def test_settings__all_at_once_from_one_run(trained: Train, tmp_path: Path) -> None:
    told: dict[str, Any] = {"opponents": {}}
    for name, case in SETTINGS.items():
        if name not in ("game", "options.zeros"):
            table, _, key = name.rpartition(".")
            (told[table] if table else told)[key] = case.value
    config = TrainConfig(**told | {"opponents": Mix(**told["opponents"]), "options": {"zeros": "free"}})
    (tmp_path / CONFIG).write_text(json.dumps(asdict(config), default=str))
    assert trained("--resume", tmp_path) == (config, tmp_path)


# Bounds

BOUNDS: dict[str, tuple[str, str]] = {  # what is accepted, what is refused
    "evaluate yum random --games": ("2", "1"),
    "evaluate yum random --num-players": ("1", "0"),
    "evaluate yum random --seed": ("0", "-1"),
    "tournament yum random greedy --games": ("40", "0"),
    "tournament yum random greedy --num-players": ("2", "0"),
    "tournament yum random greedy --seed": ("0", "-1"),
    "tournament yum random greedy --workers": ("1 1024", "0 1025"),
    "play yum --num-players": ("1", "0"),
    "watch yum random --seed": ("0", "-1"),
    "watch yum random --seconds": ("0.05 60", "0.04 61"),
    "replay PLAYED --seconds": ("0.05 60", "0.04 61"),
    "play yum --seat": ("0", "-1"),
    "play yum --seed": ("0", "-1"),
    "play yum --port": ("0 65535", "-1 65536"),
    "serve --port": ("0 65535", "-1 65536"),
    "solve yum --num-players": ("1", "0"),
    "record yum random --games": ("1", "0"),
    "record yum random --num-players": ("1", "0"),
    "record yum random --seed": ("0", "-1"),
    "report RUN --games": ("20", "19"),
    "train --num-players": ("1", "0"),
    "train --reward-scale": ("1e-9", "0"),
    "train --margin-coef": ("0", "-0.001"),
    "train --margin-coef-end": ("0", "-0.001"),
    "train --prior-logit": ("0", "-0.001"),
    "train --prior-span": ("0", "-0.001"),
    "train --prior-keep-span": ("0", "-0.001"),
    "train --value-steps": ("0", "-1"),
    "train --total-timesteps": ("1", "0"),
    "train --n-envs": ("1", "0"),
    "train --n-steps": ("1", "0"),
    "train --batch-size": ("2", "1"),
    "train --n-epochs": ("1", "0"),
    "train --learning-rate": ("1e-9", "0"),
    "train --learning-rate-end": ("0", "-0.001"),
    "train --gamma": ("0 1", "-0.001 1.001"),
    "train --gae-lambda": ("0 1", "-0.001 1.001"),
    "train --clip-range": ("0 1", "-0.001 1.001"),
    "train --ent-coef": ("0", "-0.001"),
    "train --ent-coef-end": ("0", "-0.001"),
    "train --vf-coef": ("0", "-0.001"),
    "train --max-grad-norm": ("1e-9", "0"),
    "train --target-kl": ("1e-9", "0"),
    "train --net-arch": ("1", "0"),
    "train --snapshot-every": ("1", "0"),
    "train --pool-size": ("2", "1"),
    "train --eval-every": ("1", "0"),
    "train --eval-games": ("1", "0"),
    "train --check-games": ("1", "0"),
    "train --final-games": ("1", "0"),
    "train --seed": (f"0 {2**31}", f"-1 {2**31 + 1}"),
    "train --torch-threads": ("0", "-1"),
    "train --workers": ("1 1024", "0 1025"),
    "train --opponents.floor": ("0 1", "-0.001 1.001"),
} | {
    f"train --opponents.{kind.name}": ("0 100", "-0.001")
    for kind in fields(Mix)
    if kind.name not in ("floor", "own_policies")
}


@pytest.mark.parametrize("what", BOUNDS)
def test_number__is_taken_up_to_its_bounds_and_refused_beyond(
    monkeypatch: pytest.MonkeyPatch, tried: Tried, files: dict[str, Path], what: str
) -> None:
    accepted, refused = BOUNDS[what]
    *words, flag = given(what, files)
    for module, name, result in DOORS[words[0]]:
        Recorder(monkeypatch).stand_in(module, name, result)
    for value in accepted.split():
        assert tried(*words, f"{flag}={value}")[::2] == (0, "")
    for value in refused.split():
        status, _, complained = tried(*words, f"{flag}={value}")
        assert (status, f"for {flag}. Must be " in complained) == (2, True), complained
    if "." not in accepted and "e-" not in accepted and "." not in refused:
        status, _, complained = tried(*words, f"{flag}=4.5")
        assert status == 2
        assert re.search(f"{flag}: ('4.5' is not a whole number|unable to convert \"4.5\" into int)", complained)


def test_bounds__every_number_has_a_case() -> None:
    numbers = {
        f"train --{name.replace('_', '-')}"
        for name, case in SETTINGS.items()
        if isinstance(case.value, (int, float, tuple))
        and not isinstance(case.value, bool)
        and not name.endswith("own_policies")
    }
    for command, function in COMMANDS.items():
        for name, parameter in inspect.signature(function).parameters.items():
            if any(word in str(parameter.annotation) for word in ("int,", "int |", "float")) and name != "options":
                numbers.add(f"{command} --{name.replace('_', '-')}")
    held = {" ".join([what.split()[0], what.split()[-1]]) for what in BOUNDS}
    assert held == numbers


PACKAGED = sorted((Path(cli.__file__).parents[2] / "configs").glob("*.toml"))


@pytest.mark.parametrize("file", PACKAGED, ids=[file.stem for file in PACKAGED])
def test_config__that_comes_with_the_package_is_read_by_name_and_by_path(trained: Train, file: Path) -> None:
    settings = tomllib.loads(file.read_text())
    by_name, _ = trained("--config", file.stem)
    assert by_name == trained("--config", file)[0]
    table = asdict(by_name)
    for name, value in settings.items():
        for key, held in value.items() if isinstance(value, dict) else [(None, value)]:
            arrived = table[name] if key is None else table[name][key]
            assert arrived == type(arrived)(held), name
    rest = {name: value for name, value in asdict(TrainConfig()).items() if name not in settings}
    assert {name: table[name] for name in rest} == rest


def test_config__is_a_file_of_any_name_that_is_there(trained: Train, tmp_path: Path) -> None:
    (tmp_path / "yum").write_text("seed = 31\n")  # goes before the one of this name in the package
    assert trained("--config", tmp_path / "yum")[0] == TrainConfig(seed=31)
    assert trained("--config", "yum")[0] == TrainConfig(seed=31)  # the folder that the command runs in


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[1, 2]", "expected settings by name, found [1, 2]"),
        ("{", "Expecting property name"),
        ('{"n_env": 3}', "'n_env' is not a known setting; did you mean 'n_envs'?"),
        ('{"opponents": {"curent": 1}}', "'curent' is not a known setting of opponents; did you mean 'current'?"),
        ('{"opponents": 3}', "opponents is 3; write a table of weights, [opponents]"),
    ],
)
def test_resume__a_damaged_configuration_is_told(tried: Tried, tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / CONFIG).write_text(text)
    status, said, complained = tried("train", "--resume", tmp_path)
    assert (status, said) == (2, "")
    assert f"{tmp_path / CONFIG}: {complaint}" in " ".join(re.sub("[│╭╮╰╯─]", " ", complained).split())


def test_script__trains_with_the_words_after_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[TrainConfig] = []
    monkeypatch.setattr(run_command, "run", lambda config, resume, console: started.append(config))
    script = Path(__file__).parents[3] / "train.py"
    monkeypatch.setattr(sys, "argv", [str(script), "--n-envs", "3", "--config", "yum-win"])
    with pytest.raises(SystemExit) as left:
        runpy.run_path(str(script), run_name="__main__")
    assert left.value.code in (0, None)
    assert [(config.n_envs, config.net_arch) for config in started] == [(3, (256, 256))]
    runpy.run_path(str(script), run_name="train")  # importing it starts nothing
    assert len(started) == 1


# What is seen of each parameter

SHOWN: set[tuple[str, str]] = set()


def shows(command: str, *parameters: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Marks a test that sees in the output what a parameter changes."""
    SHOWN.update((command, parameter) for parameter in parameters)
    return lambda test: test


def evaluated(
    game: str,
    names: Sequence[object],
    *,
    games: int = 40,
    seats: int = 2,
    seed: int = 0,
    sampled: bool = False,
    luck: bool = True,
    detail: bool = False,
    **options: Any,
) -> list[str]:
    """The lines that ``fivedice evaluate`` should print: `evaluate` called by hand."""
    spec, contenders = load_game(game), load_all([str(name) for name in names], deterministic=not sampled)
    record = spec.make_options(seats, options)
    values = point_values(spec, record)
    alone = len(contenders) == 1 or seats == 1
    of_each: dict[str, Any] = {"seed": seed, "options": options}
    deals = games if alone else -(-games // seats)
    sheet = score_sheet_of(spec) if detail else None
    breakdowns = {name: ScoreBreakdown(sheet, deals) for name in contenders} if sheet else {}

    def watch(number: int, deals: NDArray[np.int64], view: View, actions: NDArray[np.int64]) -> None:
        list(breakdowns.values())[number].add(deals, view, actions)

    standings = evaluate(
        spec,
        contenders,
        games=games,
        num_players=seats,
        values=values if luck else None,
        watch=watch if detail else None,
        **of_each,
    )
    played = deals if alone else deals * seats
    title = (
        f"{spec.title}, {seats} player{'s' * (seats > 1)}, {played} games{'' if alone else ' per pairing'}, seed {seed}"
    )
    best = optimum(spec, record)
    shown: list[Any] = [standings_report(standings, title=title, num_players=seats, optimum=best)]
    if sheet:
        if values is not None and "optimal" not in breakdowns:
            breakdowns["optimal"] = exact = ScoreBreakdown(sheet, deals)
            play_games(
                spec,
                np.zeros((deals, seats), np.int64),
                [OPTIMAL],
                watch=lambda number, deals, view, actions: exact.add(deals, view, actions),
                **of_each,
            )
        shown.append(breakdown_report(sheet, breakdowns))
    return printed(*shown)


TWO = ("random", "greedy")
EVALUATIONS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "game": [("yahtzee_jr random greedy", {"game": "yahtzee_jr"})],
    "policies": [
        ("yum greedy random", {"names": ("greedy", "random")}),
        ("yum greedy", {"names": ("greedy",)}),
        ("yum optimal random greedy", {"names": ("optimal", "random", "greedy")}),
    ],
    "games": [("yum random greedy --games 42", {"games": 42})],
    "num_players": [
        ("yum random greedy --num-players 3", {"seats": 3}),
        ("yum random greedy --num-players 1", {"seats": 1}),
        ("yum random YUM3", {"names": ("random", "YUM3"), "seats": 3, "zeros": "free"}),
    ],
    "seed": [("yum random greedy --seed 7", {"seed": 7})],
    "deterministic": [
        (
            "yum random YUM3 --no-deterministic",
            {"names": ("random", "YUM3"), "seats": 3, "zeros": "free", "sampled": True},
        )
    ],
    "luck": [("yum random greedy --no-luck", {"luck": False})],
    "breakdown": [
        ("yum random greedy --breakdown", {"detail": True}),
        ("yum optimal --breakdown", {"names": ("optimal",), "detail": True}),
        (
            "yum greedy random --breakdown --num-players 1 --seed 3",
            {"names": TWO[::-1], "detail": True, "seats": 1, "seed": 3},
        ),
        (
            "yum random greedy --games 7 --breakdown --num-players 3 --no-luck",
            {"games": 7, "detail": True, "seats": 3, "luck": False},
        ),
    ],
    "options": [("yum random greedy --options.zeros free", {"zeros": "free"})],
}


@shows("evaluate", *EVALUATIONS)
@pytest.mark.parametrize(
    ("words", "settings"), [case for cases in EVALUATIONS.values() for case in cases], ids=lambda case: str(case)[:60]
)
def test_evaluate__prints_what_evaluate_gives_by_hand(
    run: Run, files: dict[str, Path], words: str, settings: dict[str, Any]
) -> None:
    settings = {"game": "yum", "names": TWO} | settings
    settings["names"] = [files.get(name, name) for name in settings["names"]]
    games = () if "games" in settings else ("--games", 40)
    said = run("evaluate", *given(words, files), *games)
    assert lines(said) == evaluated(**settings)


def test_evaluate__each_flag_off_its_default_gives_other_figures(files: dict[str, Path]) -> None:
    plain = {
        "names": evaluated("yum", TWO, luck=False),
        "seed": evaluated("yum", TWO, luck=False, seed=7),
        "options": evaluated("yum", TWO, luck=False, zeros="free"),
        "seats": evaluated("yum", TWO, luck=False, seats=3),
        "likeliest": evaluated("yum", [files["YUM3"]], luck=False, seats=3, zeros="free"),
        "deterministic": evaluated("yum", [files["YUM3"]], luck=False, seats=3, zeros="free", sampled=True),
    }
    rows = [re.findall(r"\d+\.\d\d ± \d+\.\d\d", " ".join(said))[0] for said in plain.values()]
    assert len(set(rows)) == len(rows), rows


def test_evaluate__exact_play_alone_is_all_of_the_optimum_of_its_options(run: Run) -> None:
    for words, best in ((("--options.zeros", "free"), 174.9642), ((), 169.8765)):
        said = run("evaluate", "yum", "optimal", "--games", 400, "--num-players", 1, *words)
        assert f"the exact optimum is {best:.4f} points" in said
        name, raw, adjusted, share, *_ = cells(said, "optimal")
        assert name == "optimal"
        assert float(raw.split()[0]) == pytest.approx(best, abs=6)
        assert adjusted == f"{best:.2f} ± 0.00"  # without luck it is the optimum itself
        assert share == "100.0 %"


@shows("evaluate", "plot")
def test_evaluate__plot_draws_the_contenders_and_the_yardstick(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(evaluation, "draw_breakdown", lambda *told, **named: drawn.append((told, named)))
    said = run("evaluate", "yum", "greedy", "--games", 20, "--no-luck", "--plot", tmp_path / "it.svg")
    assert lines(said) == [*evaluated("yum", ["greedy"], games=20, luck=False), f"Plot: {tmp_path / 'it.svg'}"]
    (sheet, breakdowns, file), keywords = drawn[0]
    assert (sheet, list(breakdowns), file) == (score_sheet_of(YUM), ["greedy", "optimal"], tmp_path / "it.svg")
    assert keywords == {"title": "Yum, 2 players, 20 games, seed 0", "yardstick": "optimal"}


# An evaluation, with made-up standings

MADE_UP = [
    Standing("one", 12, Estimate(150.25, 1.5, 6), {"two": Estimate(0.625, 0.0125, 6)}),
    Standing("two", 12, Estimate(50.5, 2.25, 6), {"one": Estimate(0.375, 0.0375, 6)}),
]
ADJUSTED = [
    replace(MADE_UP[0], adjusted_points=Estimate(160.0, 0.5, 6), adjusted_wins={"two": Estimate(0.75, 0.02, 6)}),
    replace(MADE_UP[1], adjusted_points=Estimate(40.0, 0.25, 6), adjusted_wins={"one": Estimate(0.25, 0.01, 6)}),
]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[str, dict[str, Any]]]:
    """What `show_evaluation` prints of made-up standings, and what `evaluate` was called with."""

    def shown(standings: Sequence[Standing], contenders: Mapping[str, Policy], **settings: Any) -> Any:
        called: dict[str, Any] = {}
        signature = inspect.signature(evaluate)

        def stand_in(*arguments: Any, **keywords: Any) -> Sequence[Standing]:
            called.update(signature.bind(*arguments, **keywords).arguments)
            return standings

        def best(game: Game, options: Any) -> float:
            called["optimum"] = described(options)
            return 200.0

        monkeypatch.setattr(evaluation, "evaluate", stand_in)
        monkeypatch.setattr(evaluation, "optimum", best)
        console = Console(file=io.StringIO(), width=WIDTH)
        game = settings.pop("game", YUM)
        evaluation.show_evaluation(console, game, contenders, **{"games": 12, "num_players": 2, "seed": 5} | settings)
        return console.file.getvalue(), called  # type: ignore[attr-defined]

    return shown


Shown = Callable[..., tuple[str, dict[str, Any]]]
CONTENDERS: dict[str, Policy] = {"one": GREEDY, "two": RandomPolicy()}


def test_show_evaluation__prints_the_standings_that_it_is_given(shown: Shown) -> None:
    said, _ = shown(MADE_UP, CONTENDERS)
    points, wins = said.split("Win rate")
    assert lines(points)[0] == "Yum, 2 players, 12 games per pairing, seed 5"
    assert "the exact optimum is 200.0000 points" in points
    assert cells(points, "one") == ["one", "150.25 ± 1.50", "75.1 %"]
    assert cells(points, "two") == ["two", "50.50 ± 2.25", "25.2 %"]
    assert cells(wins, "one") == ["one", "two", "62.5 ± 1.2 %"]
    assert cells(wins, "two") == ["two", "one", "37.5 ± 3.8 %"]
    said, _ = shown(ADJUSTED, CONTENDERS)
    points, wins = said.split("Win rate")
    # 12 games are 6 deals. They make 1.5 with Student's 2.571 in place of 1.960; 0.1 takes 131 times as many.
    assert cells(points, "one") == ["one", "150.25 ± 1.50", "160.00 ± 0.50", "80.0 %", "1,600", "170"]
    assert cells(points, "two") == ["two", "50.50 ± 2.25", "40.00 ± 0.25", "20.0 %", "3,500", "44"]
    assert cells(wins, "one") == ["one", "two", "62.5 ± 1.2 %", "75.0 ± 2.0 %"]
    assert cells(wins, "two") == ["two", "one", "37.5 ± 3.8 %", "25.0 ± 1.0 %"]


@pytest.mark.parametrize(
    ("game", "contenders", "seats", "title"),
    [
        (YUM, CONTENDERS, 1, "Yum, 1 player, 12 games, seed 5"),
        (YUM, CONTENDERS, 3, "Yum, 3 players, 12 games per pairing, seed 5"),
        (YUM, {"one": GREEDY}, 3, "Yum, 3 players, 12 games, seed 5"),
        (YAHTZEE_JR, CONTENDERS, 4, "Yahtzee Jr., 4 players, 12 games per pairing, seed 5"),
    ],
)
def test_show_evaluation__its_title_says_what_was_played(
    shown: Shown, game: Game, contenders: dict[str, Policy], seats: int, title: str
) -> None:
    said, called = shown(MADE_UP, contenders, game=game, num_players=seats)
    assert lines(said)[0] == title
    assert called["num_players"] == seats
    said, _ = shown([replace(standing, games=34) for standing in MADE_UP], contenders, game=game, num_players=seats)
    assert lines(said)[0] == title.replace("12 games", "34 games")  # those that were played, not those asked for


def test_show_evaluation__asks_for_what_it_is_told(shown: Shown) -> None:
    options = {"zeros": "free"}
    _, called = shown(MADE_UP, CONTENDERS, games=34, num_players=3, seed=6, options=options)
    assert {name: called[name] for name in ("game", "contenders", "games", "num_players", "seed", "options")} == {
        "game": YUM,
        "contenders": CONTENDERS,
        "games": 34,
        "num_players": 3,
        "seed": 6,
        "options": options,
    }
    assert called["optimum"] == YUM_OPTIONS | {"num_players": 3, "zeros": 1}
    assert called["values"].start == pytest.approx(174.9642, abs=1e-4)
    assert called["watch"] is None
    assert shown(MADE_UP, CONTENDERS)[1]["values"].start == pytest.approx(169.8765, abs=1e-4)
    assert shown(MADE_UP, CONTENDERS, luck=False)[1]["values"] is None
    assert shown(MADE_UP, CONTENDERS, game=YAHTZEE_JR)[1]["values"] is None


@pytest.mark.parametrize("contenders", [("greedy",), ("greedy", "random"), ("optimal", "random", "greedy")])
@pytest.mark.parametrize("seats", [1, 2, 3])
@pytest.mark.parametrize("detail", [False, True])
def test_show_evaluation__its_progress_ends_at_its_total(
    monkeypatch: pytest.MonkeyPatch, contenders: tuple[str, ...], seats: int, detail: bool
) -> None:
    bars: list[tuple[str, int]] = []
    done: list[int] = []

    class Bar:
        def __init__(self, console: Console, what: str, total: int) -> None:
            bars.append((what, total))

        def __enter__(self) -> Callable[[int], None]:
            return done.append

        def __exit__(self, *exception: object) -> None:
            assert sum(done) == bars[0][1]

    monkeypatch.setattr(evaluation, "progress_bar", Bar)
    console = Console(file=io.StringIO(), width=WIDTH)
    policies = {name: load(name) for name in contenders}
    evaluation.show_evaluation(console, YUM, policies, games=7, num_players=seats, seed=1, luck=False, breakdown=detail)
    assert [what for what, _ in bars] == ["games"]
    assert bars[0][1] >= 7 * len(contenders) // 2
    assert count_deals(7, 3) == 3


def test_show_evaluation__exact_play_is_added_to_the_detail_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[dict[str, Any]] = []
    signature = inspect.signature(play_games)

    def spy(*arguments: Any, **keywords: Any) -> Any:
        played.append(dict(signature.bind(*arguments, **keywords).arguments))
        return play_games(*arguments, **keywords)

    monkeypatch.setattr(evaluation, "play_games", spy)
    shown: list[list[str]] = []
    monkeypatch.setattr(
        evaluation, "breakdown_report", lambda sheet, breakdowns: shown.append(list(breakdowns)) or "the detail"
    )

    def show(contenders: dict[str, Policy], game: Game = YUM, **settings: Any) -> str:
        console = Console(file=io.StringIO(), width=WIDTH)
        settings = {"games": 8, "num_players": 2, "seed": 4, "luck": False} | settings
        evaluation.show_evaluation(console, game, contenders, **settings)
        return str(console.file.getvalue())  # type: ignore[attr-defined]

    said = show(CONTENDERS, breakdown=True, options={"zeros": "free"})
    assert "optimal" not in said.split("the detail")[0]
    assert shown == [["one", "two", "optimal"]]
    (call,) = played
    assert (call["seed"], call["options"], call["seating"].tolist()) == (4, {"zeros": "free"}, [[2, 2]] * 4)
    assert call["policies"][2] is OPTIMAL
    show({"optimal": OPTIMAL, "one": GREEDY}, breakdown=True)
    assert shown[1] == ["optimal", "one"]
    assert "the detail" not in show(CONTENDERS)
    show({"one": GREEDY}, breakdown=True, num_players=3)
    assert (shown[2], played[1]["seating"].tolist()) == (["one", "optimal"], [[1, 1, 1]] * 8)
    assert (len(played), len(shown)) == (2, 3)


# Tournament, report, exploit, solve


@pytest.fixture(scope="module")
def without_pictures() -> Iterator[None]:
    """Heat maps are drawn elsewhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tournament_page, "draw_tournament", lambda tournament, ranking, path: path.write_bytes(b"PNG"))
        yield


@shows("tournament", "game", "policies", "games", "num_players", "seed", "deterministic", "out", "options", "workers")
def test_tournament__each_parameter_is_seen_in_its_results(
    run: Run, files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without_pictures: None
) -> None:
    settings = {"game": "yahtzee_jr", "seats": 2, "seed": 0, "sampled": False, "games_per_combination": 40}

    def results(*words: object, game: str = "yahtzee_jr", folder: str | None = None) -> tuple[dict[str, Any], str]:
        said = run("tournament", game, *words)
        where = tmp_path / (folder or f"tournaments/{game}-{2}-players")
        found = json.loads((where / "tournament.json").read_text())
        told = {name: found["tournament"][name] for name in settings}
        names = sorted(contender["name"] for contender in found["contenders"])
        return {**told, "names": names, "points": [one["points"]["mean"] for one in found["contenders"]]}, said

    few = ("--games", 40)
    plain, said = results("random", "greedy", *few)
    assert {name: plain[name] for name in settings} == settings
    assert plain["names"] == ["greedy", "random"]
    assert "Yahtzee Jr., 2 players, 40 games for one combination of policies, seed 0" in said
    assert (
        "Written: tournaments/yahtzee_jr-2-players/tournament.json, tournaments/yahtzee_jr-2-players/standings" in said
    )
    seeded, said = results("random", "greedy", *few, "--seed", 9, "--out", "a", folder="a")
    assert (seeded["seed"], said.count("seed 9")) == (9, 1)
    assert seeded["points"] != plain["points"]
    chosen, said = results("random", "greedy", *few, "--options.must_score_most", False, "--out", "b", folder="b")
    assert "Yahtzee Jr., 2 players, must_score_most=False, 40 games" in said
    assert chosen["points"] != plain["points"]
    three, said = results("random", "greedy", "--games", 150, "--num-players", 3, "--out", "c", folder="c")
    assert (three["seats"], three["games_per_combination"]) == (3, 150)
    assert "Yahtzee Jr., 3 players, 150 games for each of 2 combinations" in said
    likeliest, said = results(files["JR"], "random", *few, "--out", "d", folder="d")
    assert likeliest["names"] == ["plain", "random"]
    sampled, _ = results(files["JR"], "random", *few, "--out", "e", "--no-deterministic", folder="e")
    assert (likeliest["sampled"], sampled["sampled"]) == (False, True)
    assert sampled["points"] != likeliest["points"]
    _, said = results("random", "greedy", *few, "--out", "f", game="yum", folder="f")
    assert "Yum, 2 players, 40 games" in said
    processes: list[int] = []

    class Pool:
        """Does the work here, at once."""

        def __init__(self, workers: int, **settings: Any) -> None:
            processes.append(workers)

        def submit(self, work: Callable[..., Any], *arguments: Any) -> "Future[Any]":
            future: Future[Any] = Future()
            future.set_result(work(*arguments))
            return future

        def shutdown(self) -> None:
            """Nothing waits."""

    monkeypatch.setattr(tournament, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr(schedule, "PART", 10)
    more, _ = results("random", "greedy", "--games", 80, "--workers", 3, "--out", "g", folder="g")
    assert processes == [3]
    assert more["games_per_combination"] == 80
    alone, _ = results("random", "greedy", "--games", 80, "--out", "h", folder="h")
    assert alone == more


def test_tournament__notes_and_the_missing_picture_are_told(
    run: Run, monkeypatch: pytest.MonkeyPatch, files: dict[str, Path]
) -> None:
    recorder = Recorder(monkeypatch)
    for module, name, result in DOORS["tournament"]:
        recorder.stand_in(module, name, result)

    def noting(*arguments: Any, note: Callable[[str], None], progress: Callable[[int], None], **others: Any) -> str:
        note("[b] has changed")
        progress(3)
        return "the results"

    monkeypatch.setattr(tournament, "play_tournament", noting)
    said = run("tournament", "yum", "random", "greedy")
    assert lines(said) == [
        "Note: [b] has changed.",
        "the tables",
        "Written: standings.csv",
        "For a picture: pip install 'fivedice[plot]'",
    ]
    monkeypatch.setattr(tournament_page, "write_results", lambda *all: [Path("a/1"), Path("a/tournament.png")])
    assert lines(run("tournament", "yum", "random", "greedy"))[2:] == ["Written: a/1, a/tournament.png"]


@pytest.mark.parametrize("boards", [None, "kinds", "points", "names", "all"])
@pytest.mark.parametrize("policy", ["random", "greedy", "optimal", "JR", "STANDARD"])
def test_exploit__says_of_each_policy_and_boards_whether_it_is_exact(
    run: Run, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch, policy: str, boards: str | None
) -> None:
    asked: dict[str, Any] = {}

    def compute(policy: Policy, options: Any, **others: Any) -> Exploitability:
        asked.update(others, policy=policy, options=options)
        others["progress"](50)
        return Exploitability(np.array([0.53, 0.48]), np.array([0.52, 0.46]), np.array([0.5125, 0.4525]), 12_345, 678)

    monkeypatch.setattr(exploit, "exploit", compute)
    file = files.get(policy, Path(policy))
    said = run("exploit", files.get(policy, policy), *(() if boards is None else ("--boards", boards)))
    is_file = policy in ("JR", "STANDARD")
    assert asked["boards"] == (boards or ("points" if is_file else "kinds"))
    assert asked["policy"].name == file.stem
    exact = {  # what no boards are merged for, or boards that are no different to the policy
        "JR": ("all",),
        "STANDARD": (None, "points", "names", "all"),
    }
    is_exact = boards in exact[policy] if is_file else True
    similar = f"exact, if {file.stem} is shown similar boards as the same board; a draw counts as half a win"
    told = " ".join(said.split())
    assert ("% exact; a draw counts as half a win" in told, similar in told) == (is_exact, not is_exact)
    assert told.startswith("Yahtzee Jr., 2 players (must_score_most=True, tie_break=roll) win rate of ")
    assert told.endswith("computed from 12,345 boards at the start of a turn and 678 decisions")
    name = "optimal play against itself"
    assert cells(said, name) == [name, "53.00 %", "48.00 %", "50.50 %"]
    name = f"{file.stem} against optimal play"
    assert cells(said, name) == [name, "52.00 %", "46.00 %", "49.00 %"]
    name = f"{file.stem} against its best response"
    assert cells(said, name) == [name, "51.25 %", "45.25 %", "48.25 %"]


@shows("exploit", "policy", "boards", "options")
def test_exploit__each_parameter_changes_the_figures(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = np.array([(5, -1, -1, 2, 4), (4, 2, -1, -1, 3)], np.int8)  # two turns of each seat are left
    assert exploit.OPEN == -1
    compute = partial(exploit.exploit, tokens=tokens, threads=1)
    monkeypatch.setattr(exploit, "exploit", compute)
    figures: list[list[str]] = []
    for policy, boards, must in (
        ("greedy", "all", True),
        ("random", "all", True),
        ("greedy", "kinds", True),
        ("greedy", "all", False),
    ):
        said = run("exploit", policy, "--boards", boards, "--options.must_score_most", must)
        record = YAHTZEE_JR.make_options(2, {"must_score_most": must})
        found = compute(load(policy), record, boards=boards)  # type: ignore[arg-type]  # a name of boards
        shown = (found.perfect, found.against_equilibrium, found.against_best_response)
        figures.append([f"{100 * share:.2f} %" for wins in shown for share in (*wins, wins.mean())])
        assert re.findall(r"\d+\.\d\d %", said) == figures[-1]
        assert f"{found.num_boards} boards at the start of a turn and {found.num_decisions:,} decisions" in said
        assert f"must_score_most={must}" in said
    assert len(set(map(tuple, figures[:3]))) == 3


@shows("solve", "game", "num_players", "options")
def test_solve__says_the_table_and_its_value(run: Run) -> None:
    most = "points are the most that a player can expect in a game"
    table = "high_low=either, crossed_high=blocks_low, five_alike_full_house=False"
    yum = f"Yum, {{}} players ({table}, zeros={{}}):"
    assert lines(run("solve")) == [yum.format(2, "forced"), f"169.8765 {most}, playing for points alone."]
    assert lines(run("solve", "--num-players", 3)) == [
        yum.format(3, "forced"),
        f"169.8765 {most}, playing for points alone.",
    ]
    free = run("solve", "yum", "--options.zeros", "free")
    assert lines(free) == [yum.format(2, "free"), f"174.9642 {most}, playing for points alone."]
    alone = run("solve", "yahtzee_jr", "--num-players", 1)
    assert lines(alone) == [
        "Yahtzee Jr., 1 player (must_score_most=True, tie_break=roll):",
        f"19.3928 {most}.",
    ]
    said = " ".join(run("solve", "yahtzee_jr").split())
    assert said == (
        "Yahtzee Jr., 2 players (must_score_most=True, tie_break=roll): If both seats play optimally, the seat that "
        "moves first wins with a probability of 53.1554 % and the other seat with 46.8446 %. A drawn game counts as "
        "half a win."
    )


# Films


@shows("replay", "transcript", "out", "seconds", "advice", "adviser")
@shows("watch", "game", "policies", "out", "seconds", "seed", "adviser", "options")
def test_watch_and_replay__each_parameter_is_seen_in_the_game(run: Run, tmp_path: Path) -> None:
    from PIL import Image

    def length_of(file: str) -> float:
        with Image.open(file) as film:
            spent = 0.0
            for number in range(film.n_frames):  # type: ignore[attr-defined]
                film.seek(number)
                spent += film.info["duration"] / 1000
            return spent

    watch = ("watch", "yahtzee_jr", "random", "--seed", 3)
    said = lines(run(*watch))
    assert said[0] == "Yahtzee Jr.: player_0 random"
    assert said[-1] == "won by player_0"
    assert lines(run(*watch)) == said
    assert lines(run(*watch[:-1], 4)) != said
    assert lines(run("watch", "yum", "random", "--seed", 3))[0] == "Yum: player_0 random"
    assert lines(run("watch", "yahtzee_jr", "random", "greedy"))[0] == "Yahtzee Jr.: player_0 random, player_1 greedy"
    assert run(*watch, "--out", "game.txt").strip() == "Wrote game.txt"
    kept = Path("game.txt").read_text()
    assert kept.splitlines()[-len(said) + 1 :] == said[1:]
    assert "must_score_most: False" not in kept
    run(*watch, "--options.must_score_most", False, "--out", "other.txt")
    assert "must_score_most: False" in Path("other.txt").read_text()
    advised = lines(run(*watch, "--adviser", "greedy"))
    assert [line for line in advised if "value" not in line] == said
    assert len(advised) > len(said)

    assert lines(run("replay", "game.txt"))[1:] == said[1:]
    by_greedy = run("replay", "game.txt", "--adviser", "greedy")
    assert by_greedy.count("    value ") == len(re.findall(r" (?:keep|place)s ", kept))
    exactly = run("replay", "game.txt", "--advice")
    assert exactly.count("    value ") == by_greedy.count("    value ")
    assert exactly != by_greedy
    decisions = by_greedy.count("    value ")
    assert run("replay", "game.txt", "--out", "a.html").strip() == f"Wrote a.html: {decisions + 1} positions"
    assert "Yahtzee Jr., 1 player" in Path("a.html").read_text("utf-8")
    run("replay", "game.txt", "--out", "a.gif", "--seconds", 0.2)
    assert length_of("a.gif") == pytest.approx(0.2 * (decisions + 3))
    run(*watch, "--out", "b.gif", "--seconds", 0.5)
    assert length_of("b.gif") == pytest.approx(0.5 * (decisions + 3))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.gif", "a.html", "b.gif", "game.txt", "other.txt"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("replay PLAYED --out a.png", "--out a.png has an unknown format; use a name that ends in .gif, .mp4, .html"),
        ("watch yum random --out a", "--out a has an unknown format; use a name that ends in .gif, .mp4, .html, .txt"),
        ("watch yum random --out no/a.gif", "--out no/a.gif: the folder no does not exist"),
        ("watch yum", f"no policy given; name one for each seat: {NAMEABLE}"),
        ("watch yahtzee_jr random random random random random", "num_players=5 is not possible"),
        ("replay missing.txt", "missing.txt cannot be used: No such file or directory"),
    ],
)
def test_watch_and_replay__refuse_before_they_begin(
    tried: Tried, files: dict[str, Path], tmp_path: Path, words: str, complaint: str
) -> None:
    status, said, complained = tried(*(files.get(word, word) for word in words.split()))
    assert (status, said) == (2, "")
    assert complaint in " ".join(complained.split())
    assert list(tmp_path.iterdir()) == []


# A run, from the command line to its report

SMALL = {
    "game": "yahtzee_jr",
    "total_timesteps": 64,
    "n_envs": 8,
    "n_steps": 8,
    "batch_size": 64,
    "net_arch": [4],
    "eval_every": 64,
    "eval_games": 4,
    "check_games": 4,
    "final_games": 6,
    "torch_threads": 1,
}


@shows("train", "settings", "config", "resume")
@shows("report", "run", "out", "games")
def test_train_and_report__each_parameter_is_seen_in_the_run(run: Run, tried: Tried, tmp_path: Path) -> None:
    toml = "".join(in_toml(name, value) for name, value in SMALL.items())
    (tmp_path / "it.toml").write_text(toml + "[options]\nmust_score_most = false\n")
    said = run("train", "--config", "it.toml", "--seed", 3, "--runs", "all", "--name", "my run")
    folder = Path("all") / "my run"
    config = json.loads((folder / CONFIG).read_text())
    assert {name: config[name] for name in SMALL} == SMALL
    assert (config["seed"], config["options"]) == (3, {"must_score_most": False})
    assert lines(said)[0] == f"Yahtzee Jr., 2 players, reward win: {folder}"
    assert f"Yahtzee Jr., 2 players, 6 games per pairing, seed {3 + run_command.FINAL_SEED}" in said
    assert f"Play against it:  fivedice play yahtzee_jr --opponents '{folder / 'best.safetensors'}'" in said
    assert read_card(folder / "last.safetensors")["steps"] == 64
    run("train", "--resume", folder, "--total-timesteps", 128)
    assert read_card(folder / "last.safetensors")["steps"] == 128
    config["total_timesteps"] = 128
    assert json.loads((folder / CONFIG).read_text()) == config
    status, _, complained = tried("train", "--resume", folder, "--net-arch", 7)
    assert (status, "is a run with net_arch=[4], not with net_arch=[7]" in complained) == (2, True)
    assert json.loads((folder / CONFIG).read_text()) == config
    said = run("play", "yahtzee_jr", "--opponents", folder / "best.safetensors", "--seat", 1, "--seed", 3, typed="q\n")
    assert "player_0 (best)" in said
    pytest.importorskip("matplotlib")
    said = run("report", folder, "--games", 21, "--out", "else/where")
    assert lines(said)[0] == "else/where/report.html"
    assert sorted(lines(said)) == sorted(str(path) for path in Path("else/where").iterdir())
    page = Path("else/where/report.html").read_text()
    assert "in self-play: 21 games, seed" in page
    assert "<h1>Yahtzee Jr.: my run</h1>" in page
    assert not (folder / "report").exists()


def test_final_table__plays_the_best_against_the_baselines(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, files: dict[str, Path]
) -> None:
    write_checkpoint(tmp_path / "best.safetensors", YUM, 3, bias=1.0, zeros="free")
    write_checkpoint(tmp_path / "last.safetensors", YUM, 3, bias=2.0, zeros="free")
    config = TrainConfig(final_games=77, seed=13, num_players=3, options={"zeros": "free"})
    training: Any = SimpleNamespace(config=config, folder=tmp_path, game=YUM, num_players=3)
    called: dict[str, Any] = {}
    signature = inspect.signature(evaluation.show_evaluation)
    monkeypatch.setattr(
        run_command, "show_evaluation", lambda *a, **k: called.update(signature.bind(*a, **k).arguments)
    )
    run_command.show_standings(training, cli.console)
    contenders = called.pop("contenders")
    assert {name: described(policy) for name, policy in contenders.items()} == {
        "best": "best likeliest",
        "greedy": "greedy",
        "random": "random",
    }
    assert all((tensor == 1.0).all() for tensor in contenders["best"].network.tensors.values())
    assert called == {
        "console": cli.console,
        "game": YUM,
        "games": 77,
        "num_players": 3,
        "seed": 13 + run_command.FINAL_SEED,
        "options": {"zeros": "free"},
    }


def test_bar__tells_each_evaluation_in_a_line() -> None:
    console = Console(file=io.StringIO(), width=WIDTH)
    told = {"eval/points": Estimate(150.25, 1.5, 9), "eval/win_rate_greedy": Estimate(0.625, 0.02, 9)}
    with run_command.Bar(console, 5_000) as bar:
        bar.updated(Progress(1_000, 140.5, 98_765.4, None))
        bar.updated(Progress(1_234, 140.5, 98_765.4, told, ("last", "greedy"), ("optimal", "random")))
    assert console.file.getvalue().splitlines() == [  # type: ignore[attr-defined]
        "      1,234  points 150.25 ± 1.50  greedy 62.5 ± 2.0 %  (98,765 decisions/s)",
        "             not taken as the best: it got worse against last, greedy",
        "             loses significantly to optimal, random",
    ]


class Stopped:
    """A training run that was stopped."""

    told: ClassVar[list[Any]] = []
    num_players, game, steps, interval, is_finished = 2, YUM, 12_345, 0, False
    env = SimpleNamespace(table=SimpleNamespace(batch=SimpleNamespace(reward="margin")))
    group = ALONE

    def __init__(self, *arguments: Any) -> None:
        self.told.append(arguments)
        self.folder = arguments[1]

    def learn(self) -> bool:
        return False


def test_run__that_is_stopped_says_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, run: Run, tried: Tried, files: dict[str, Path]
) -> None:
    monkeypatch.setattr(training_run, "Training", Stopped)
    monkeypatch.setattr(training_run, "validate", lambda config: checked.append(config.num_players))
    monkeypatch.setattr(training_run, "load_start", lambda config: config.start)
    monkeypatch.setattr(training_run, "restore", lambda training: ["one", "other"])
    checked: list[int] = []
    words = ("--runs", "my runs", "--options.zeros", "free", "--num-players", 3, "--start", "some")
    said = run("train", *words)
    folder = Path("my runs/yum")
    assert lines(said) == [
        f"Yum, 2 players, reward margin: {folder}",
        f"Stopped after 12,345 decisions; continue with: fivedice train --resume '{folder}'",
    ]
    config, where, _, best, start, _ = Stopped.told.pop()
    assert (config.options, config.num_players, where, start) == ({"zeros": "free"}, 3, folder, Path("some"))
    assert checked == [3]
    assert best == pytest.approx(174.9642, abs=1e-4)
    assert json.loads((folder / CONFIG).read_text()) == json.loads(json.dumps(asdict(config), default=str))
    (folder / "resume.safetensors").touch()
    assert lines(run("train", "--resume", folder, "--n-epochs", 9))[:2] == ["Note: one.", "Note: other."]
    assert Stopped.told.pop()[4] is None  # a run that goes on begins from nothing else
    assert json.loads((folder / CONFIG).read_text())["n_epochs"] == 9
    for steps, status in ((4_153, 2), (4_154, 0), (12_345, 0)):  # an update makes 8,192 decisions
        found = tried("train", "--resume", folder, "--total-timesteps", steps)
        assert found[0] == status
        assert (f"more than total_timesteps={steps}" in found[2]) == (status == 2)
    for name, value in (("seed", 2), ("name", "other"), ("runs", "other")):
        status, _, complained = tried("train", "--resume", folder, f"--{name}", value)
        assert (status, f"leave out --{name}, or start a new run" in complained) == (2, True)
    names = [folder_of_runs.new_folder(TrainConfig(game="set_cubed", runs=tmp_path)).name for _ in range(3)]
    assert names == ["set_cubed", "set_cubed-2", "set_cubed-3"]


# list and info


def test_list__every_word_is_that_of_its_game(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    options = (
        OneOf("pace", ("slow", "fast"), "how the game goes"),
        WholeNumber("limit", 17, 3, 99, "when it ends"),
        WholeNumbers("prices", (4, 5), 1, 8, "what is paid"),
    )
    made_up = replace(
        YUM,
        name="made_up",
        title="Made Up!",
        version=6,
        min_players=2,
        max_players=7,
        default_players=5,
        rules=SimpleNamespace(OPTIONS=options),
    )
    monkeypatch.setattr(cli.list, "game_names", lambda: ["made_up"])
    monkeypatch.setattr(cli.list, "load_game", {"made_up": made_up}.__getitem__)
    said = [re.sub("[┃│┏┓┡┩└┘━─┳╇┴├┼┤]+", " ", line).strip() for line in run("list").splitlines()]
    shown = [re.sub("  +", " | ", line) for line in said if line]
    assert shown[-4:] == [
        "option | values, the default first | meaning",
        "pace | 'slow', 'fast' | how the game goes",
        "limit | 17, or 3 to 99 | when it ends",
        "prices | 4,5, or 2 from 1 to 8 | what is paid",
    ]
    assert " ".join(shown[:-4]) == (
        "made_up: Made Up!, 2 to 7 players, 5 by default "
        "ids fivedice/made_up-v6 (PettingZoo), fivedice/MadeUp-v6 (Gymnasium)"
    )


@shows("export", "file", "to")
def test_export__writes_what_plays_as_the_checkpoint(
    tried: Tried, run: Run, files: dict[str, Path], tmp_path: Path
) -> None:
    batch = Batch(YUM, 20, num_players=3, zeros="free")
    batch.reset(1)
    view = batch.view()
    beside = files["YUM3"].with_suffix(".onnx")
    assert lines(run("export", files["YUM3"])) == [str(beside), onnx_file.INPUTS_AND_OUTPUTS]
    assert lines(run("export", files["YUM3"], "--to", "onnx"))[0] == str(beside)
    assert run("export", files["YUM3"], "--to", "deep/it.onnx").startswith("deep/it.onnx\n")
    for path in (beside, tmp_path / "deep/it.onnx"):
        assert (load(path).act(view) == load(files["YUM3"]).act(view)).all()
    for words, why in (
        (
            (files["YUM3"], "--to", "torch"),
            "--to torch is not possible; use onnx, or the path of a file that ends in .onnx",
        ),
        ((beside,), f"{beside} is not a .safetensors checkpoint"),
        ((tmp_path / "none.safetensors",), f"the file {tmp_path / 'none.safetensors'} does not exist"),
        ((files["STANDARD"],), "was trained with a canonical form"),
    ):
        status, said, complained = tried("export", *words)
        assert (status, said, why in complained) == (2, "", True), complained


@shows("record", "game", "policies", "games", "out", "num_players", "reward", "seed", "deterministic", "options")
def test_record__each_parameter_is_seen_in_the_data_set(run: Run, files: dict[str, Path], tmp_path: Path) -> None:
    count = 0

    def recorded(*words: object) -> tuple[dict[str, Any], list[dict[str, Any]], list[NDArray[np.int64]]]:
        nonlocal count
        count += 1
        said = run("record", *words, "--games", 2, "--out", f"set{count}")
        assert lines(said) == [f"Read it by:  minari.MinariDataset('set{count}/data')"]
        dataset = minari.MinariDataset(tmp_path / f"set{count}" / "data")
        kwargs = dataset.spec.env_spec.kwargs
        metadata = list(dataset.storage.get_episode_metadata(range(dataset.total_episodes)))
        return kwargs, metadata, [episode.actions for episode in dataset.iterate_episodes()]

    kwargs, metadata, actions = recorded("yum", "random", "greedy")
    assert (kwargs["game"], kwargs["num_players"], kwargs["reward"], kwargs["zeros"]) == ("yum", 2, "win", "forced")
    assert [(one["game"], one["seat"], one["policy"]) for one in metadata] == [
        (0, 0, "random"),
        (0, 1, "greedy"),
        (1, 0, "greedy"),
        (1, 1, "random"),
    ]
    assert recorded("yahtzee_jr", "random")[0]["game"] == "yahtzee_jr"
    kwargs, metadata, _ = recorded(
        "yum", "random", "--num-players", 3, "--reward", "score", "--options.zeros", "free", "--seed", 4
    )
    assert (kwargs["num_players"], kwargs["reward"], kwargs["zeros"]) == (3, "score", "free")
    assert [(one["policy"], one["seed"]) for one in metadata] == [("random", 4)] * 6
    assert [list(one) for one in recorded("yum", "random", "greedy", "--seed", 4)[2]] != [list(one) for one in actions]
    _, _, likeliest = recorded("yum", files["YUM3"])
    _, _, sampled = recorded("yum", files["YUM3"], "--no-deterministic")
    assert len(likeliest) == len(sampled) == 6
    assert [list(one) for one in likeliest] != [list(one) for one in sampled]


@shows("info", "file")
def test_info__every_row_is_that_of_the_card(run: Run, monkeypatch: pytest.MonkeyPatch, files: dict[str, Path]) -> None:
    card = {
        "game": "made_up",
        "game_version": 6,
        "num_players": 7,
        "options": {"chips": [2, 3], "steal": "beat"},
        "nothing": {},
        "network": {"net_arch": [8, 9], "activation": "relu"},
        "evaluation": {
            "score": {"mean": 123.456, "half_width": 1.26, "deals": 34},
            "count": {"mean": 5, "half_width": 6, "deals": 7},
            "steps": 89,
        },
    }
    asked: list[Any] = []
    monkeypatch.setattr(checkpoint, "read_card", lambda path: asked.append(path) or card)
    monkeypatch.setattr(cli.info, "load", asked.append)
    said = [re.sub("[│┌┐└┘─┬┴├┼┤]+", " ", line).strip() for line in run("info", files["YUM3"]).splitlines()]
    shown = [re.sub("  +", " | ", line) for line in said if line]
    assert shown[0] == str(files["YUM3"])
    assert shown[1:] == [
        "game | made_up",
        "game_version | 6",
        "num_players | 7",
        "options | chips 2,3",
        "steal beat",
        "nothing | none",
        "network | net_arch [8, 9]",
        "activation relu",
        "evaluation | score 123.5 ± 1.3 (95 % interval, 34 deals)",
        "count {'mean': 5, 'half_width': 6, 'deals': 7}",
        "steps 89",
    ]
    assert asked == [files["YUM3"]] * 2


# Play


@shows("play", "browser", "port", "saved", "open_browser")
@shows("serve", "port", "saved", "runs", "open_browser")
@pytest.mark.parametrize("command", [("serve",), ("play", "yum", "--browser")])
def test_browser__the_address_and_the_folder_are_printed(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: tuple[str, ...]
) -> None:
    opened: list[str] = []
    made: list[tuple[Path, Path]] = []

    class Server:
        def __init__(self, config: Any) -> None:
            self.config = config

        def run(self, sockets: list[socket.socket]) -> None:
            assert [one.getsockname() for one in sockets] == [("127.0.0.1", port)]

    class Games(web_app.Games):
        def __init__(self, folder: Path, runs: Path) -> None:
            made.append((folder, runs))
            super().__init__(folder, runs)

    monkeypatch.setattr(web_server.uvicorn, "Server", Server)
    monkeypatch.setattr(web_server, "Games", Games)
    monkeypatch.setattr(web_server.webbrowser, "open", opened.append)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    said = run(*command, "--port", port, "--saved", "here")
    (address,) = opened
    page = "/" if command == ("serve",) else r"/game/[\w-]+"
    assert re.fullmatch(rf"http://127\.0\.0\.1:{port}{page}\?token=[\w-]{{32}}", address)
    assert f"browser of this computer: {address}\n" in said
    assert f"Saved games: {tmp_path / 'here'}\n" in said
    runs = ("--runs", "there") if command == ("serve",) else ()
    other = run(*command, "--port", port, "--no-open", *runs)
    assert opened == [address]
    assert address not in other  # another token
    assert [folder for folder, _ in made] == [Path("here"), Path("saved-games")]
    assert made[1][1] == Path("there" if runs else "runs")


def test_browser__a_port_in_use_is_refused(tried: Tried) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = int(taken.getsockname()[1])
        status, _, complained = tried("serve", "--port", port)
    assert (status, complained.startswith(f"fivedice: --port {port} cannot be used: ")) == (2, True)


@shows("play", "game", "opponents", "num_players", "seat", "seed", "file", "advice", "adviser", "options")
def test_play__each_parameter_is_seen_in_the_game(run: Run, files: dict[str, Path]) -> None:
    plain = run("play", "--seed", 4, typed="q\ny\n")
    assert plain == run("play", "--seed", 4, typed="q\ny\n")
    assert lines(plain)[0].startswith("Yum: You play against player_1 (greedy).")
    assert lines(run("play", "set_cubed", "--seed", 4, typed="q\ny\n"))[0].startswith("SET Cubed: ")
    random = run("play", "--seed", 4, "--opponents", "random", typed="q\ny\n")
    assert "player_1 (random)" in random
    three = run("play", "--seed", 4, "--num-players", 3, typed="q\ny\n")
    assert "player_2 (greedy)" in three
    assert "You are player_1" in run("play", "--seed", 4, "--seat", 1, typed="q\ny\n")
    assert lines(run("play", "--seed", 5, typed="q\ny\n"))[1] != lines(plain)[1]  # other dice
    kept = run("play", "--file", files["KEPT"], typed="q\ny\n")
    assert "you: 3 points" in kept
    assert "The game goes on after move 2" in kept
    assert "expected final points" not in plain
    assert "Best first, by optimal: expected final points" in run("play", "--seed", 4, "--advice", typed="q\ny\n")
    assert "Best first, by greedy: expected points" in run("play", "--seed", 4, "--adviser", "greedy", typed="q\ny\n")
    crossed = "list\nq\ny\n"
    zeros = run("play", "--seed", 4, "--options.zeros", "free", typed=crossed)
    assert zeros.count(": 0") > run("play", "--seed", 4, typed=crossed).count(": 0")


def test_play__without_a_seed_no_two_games_are_alike(run: Run) -> None:
    boards = {run("play", "yahtzee_jr", "--num-players", 1, typed="q\n") for _ in range(6)}
    assert len(boards) > 1


@pytest.mark.parametrize("players", [1, 2, 3, 4])
def test_play__takes_one_rival_or_one_for_each_other_seat(players: int, tried: Tried) -> None:
    for rivals in range(1, 5):
        words = ["play", "yahtzee_jr", "--num-players", players, "--seat", players - 1]
        status, said, complained = tried(*words, "--opponents", *["random"] * rivals, typed="q\ny\n")
        if players == 1:
            assert complained.startswith("fivedice: a game with one player has no opponents; leave out --opponents")
        elif rivals in (1, players - 1):
            assert (status, complained) == (0, "")
            assert f"You are player_{players - 1}" in said
        else:
            others = "is only 1 other seat" if players == 2 else f"are {players - 1} other seats"
            more = f", or play with --num-players {rivals + 1}" if rivals < 4 else ""
            assert complained == (
                f"fivedice: --opponents lists {rivals} policies, but there {others}; "
                f"list one for all or one for each{more}\n"
            )
    status, _, complained = tried("play", "yahtzee_jr", "--num-players", players, "--seat", players, typed="q\n")
    assert complained.startswith(f"fivedice: --seat {players} does not exist in a game with {players} players; use 0")


ADVISERS: list[tuple[str, int | None, dict[str, Any], str | None, str]] = [
    # game, seats, options, the adviser asked for, and who it is
    ("yum", None, {}, None, "fivedice.agents.games.yum.exact OPTIMAL"),
    ("yum", 4, {"zeros": "free"}, None, "fivedice.agents.games.yum.exact OPTIMAL"),
    ("yahtzee_jr", 1, {}, None, "fivedice.agents.games.yahtzee_jr.exact OPTIMAL"),
    ("yahtzee_jr", None, {}, None, "fivedice.agents.games.yahtzee_jr.exact OPTIMAL"),
    ("yahtzee_jr", 3, {}, None, "rollout of greedy, 64, points"),
    ("set_cubed", None, {}, None, "fivedice.agents.games.set_cubed.planner PLANNER"),
    ("showdown_yahtzee", None, {}, None, "rollout of greedy, 64, points"),
    ("yum", None, {}, "optimal", "fivedice.agents.games.yum.exact OPTIMAL"),
    ("yum", None, {}, "rollout:random:5:win", "rollout of random, 5, win"),
    ("set_cubed", None, {}, "greedy", "fivedice.agents.games.set_cubed.greedy GREEDY"),
    ("showdown_yahtzee", None, {}, "greedy", "fivedice.agents.games.showdown_yahtzee.greedy GREEDY"),
    ("yum", 3, {"zeros": "free"}, "rollout:YUM3:5", "rollout of some likeliest, 5, points"),
]


@pytest.mark.parametrize(("game", "seats", "options", "name", "expected"), ADVISERS)
def test_find_adviser__is_the_one_asked_for_or_the_best_there_is(
    files: dict[str, Path], game: str, seats: int | None, options: dict[str, Any], name: str | None, expected: str
) -> None:
    asked = name.replace("YUM3", str(files["YUM3"])) if name else None
    adviser = find_adviser(load_game(game), seats, options, asked)
    if " " in expected and expected.startswith("fivedice"):
        module, attribute = expected.split()
        assert adviser is getattr(importlib.import_module(module), attribute)
    else:
        assert described(adviser) == expected


@pytest.mark.parametrize(
    ("game", "seats", "name", "complaint"),
    [
        ("set_cubed", None, "optimal", "SET Cubed is not solved"),
        ("yahtzee_jr", 3, "optimal", "Yahtzee Jr. is not solved for 3 seats"),
        ("yum", None, "random", "'random' has no action values in Yum; use 'optimal' or a rollout"),
        ("yum", None, "YUM3", "has no action values in Yum"),
        (
            "yum",
            3,
            "rollout:YUM3:5",
            "the checkpoint 'some' was trained for Yum with zeros='free', not 'forced'",
        ),
        ("yum", None, "nobody", "'nobody' is not a policy"),
    ],
)
def test_find_adviser__refuses_who_knows_no_values_or_not_at_this_table(
    files: dict[str, Path], game: str, seats: int | None, name: str, complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        find_adviser(load_game(game), seats, {}, name.replace("YUM3", str(files["YUM3"])))


# Policies by name

LOADED = {
    "random": "random",
    "greedy": "greedy",
    "optimal": "optimal",
    "rollout": "rollout of greedy, 64, points",
    "rollout:random": "rollout of random, 64, points",
    "rollout:optimal:3": "rollout of optimal, 3, points",
    "rollout:7": "rollout of greedy, 7, points",
    "rollout:win": "rollout of greedy, 64, win",
    "rollout:points": "rollout of greedy, 64, points",
    "rollout:9:win": "rollout of greedy, 9, win",
    "rollout:random:win": "rollout of random, 64, win",
    "rollout:random:5:win": "rollout of random, 5, win",
    "rollout:random:5:points": "rollout of random, 5, points",
    "rollout:rollout:random:2:3": "rollout of rollout of random, 2, points, 3, points",
    "YUM3": "some likeliest",
    "rollout:YUM3": "rollout of some likeliest, 64, points",
    "rollout:YUM3:6:win": "rollout of some likeliest, 6, win",
    "COLON": "b likeliest",
    "rollout:COLON": "rollout of b likeliest, 64, points",
    "rollout:COLON:4": "rollout of b likeliest, 4, points",
}


@pytest.fixture(scope="module")
def colon(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file whose path has colons and numbers in it."""
    return write_checkpoint(tmp_path_factory.mktemp("of:8") / "a:9" / "b.safetensors", YAHTZEE_JR, 2)


@pytest.mark.parametrize("name", LOADED)
def test_load__gives_the_policy_of_that_name(files: dict[str, Path], colon: Path, name: str) -> None:
    path = name.replace("YUM3", str(files["YUM3"])).replace("COLON", str(colon))
    assert described(load(path)) == LOADED[name]
    assert described(load(path, deterministic=True)) == LOADED[name]
    assert described(load(path, deterministic=False)) == LOADED[name].replace("likeliest", "sampled")
    if name in ("YUM3", "COLON"):
        assert described(load(Path(path))) == LOADED[name]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rollout", ("greedy", 64, "points")),
        ("rollout:-3", ("greedy", -3, "points")),  # which a rollout refuses
        ("rollout:1234567890", ("1234567890", 64, "points")),
        ("rollout:5:6", ("5", 6, "points")),
        ("rollout:win:5", ("win", 5, "points")),
        ("rollout:a:b:5:win", ("a:b", 5, "win")),
        ("rollout:1.5", ("1.5", 64, "points")),
    ],
)
def test_read_rollout__in_parts(name: str, expected: tuple[str, int, str]) -> None:
    assert read_rollout(name) == expected


@pytest.mark.parametrize("name", ["rollout:", "rollout::5", "rollout:random:", "rollout::win", "rollout:a::3"])
def test_read_rollout__that_ends_in_the_middle_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"'{name}' is incomplete; name a rollout as rollout:BASE:GAMES"):
        read_rollout(name)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("", ""),
        ("Random", "random"),
        ("rollouts", "rollout"),
        ("yum-quik", "yum-quick"),
        ("it.zip", ""),
        (Path("it.zip"), ""),
        (3, ""),
        (None, ""),
    ],
)
def test_load__anything_else_is_refused_with_what_there_is(name: Any, meant: str) -> None:
    shown = str(name) if isinstance(name, Path) else name
    suggested = f"did you mean {meant!r}? Else " if meant else ""
    expected = (
        f"{shown!r} is not a policy; {suggested}use {', '.join(map(repr, NAMES))}, an agent of 'fivedice zoo', "
        "or the path of a .safetensors"
    )
    with pytest.raises(ValueError, match=re.escape(expected)):
        load(name)


def test_load_all__names_tell_policies_apart(tmp_path: Path, files: dict[str, Path]) -> None:
    one, two = (write_checkpoint(tmp_path / part / "x.safetensors", YAHTZEE_JR, 2) for part in ("one", "two"))
    names = [str(one), "random", str(two), str(files["JR"]), "rollout:random:3", "greedy"]
    named = load_all(names)
    assert {label: described(policy) for label, policy in named.items()} == {
        str(one): "x likeliest",
        "random": "random",
        str(two): "x likeliest",
        "plain": "plain likeliest",
        "rollout:random:3": "rollout of random, 3, points",
        "greedy": "greedy",
    }
    assert list(named) == [str(one), "random", str(two), "plain", "rollout:random:3", "greedy"]
    assert [described(policy) for policy in load_all(names, deterministic=False).values()][2:4] == [
        "x sampled",
        "plain sampled",
    ]
    assert list(load_all([str(one), "random"])) == ["x", "random"]
    for twice in (["random", "greedy", "random"], [str(one), str(two), str(one)]):
        with pytest.raises(ValueError, match=f"{twice[0]!r} is listed twice; list each policy once"):
            load_all(twice)


def test_load__likeliest_and_sampled_play_differently(files: dict[str, Path]) -> None:
    batch = Batch(YUM, 64, num_players=3, zeros="free")
    batch.reset(2)
    view = batch.view()
    assert (load(files["YUM3"]).act(view) == view.masks.argmax(axis=1)).all()
    drawn = load(files["YUM3"], deterministic=False).act(view)
    assert len(set(drawn.tolist())) > 10
    assert load_checkpoint(files["YUM3"]).deterministic


def test_random_policy__every_legal_action_has_its_share_of_the_random_number() -> None:
    batch = Batch(YUM, 200)
    batch.reset(3)
    view = batch.view()
    policy = RandomPolicy()
    legal = [np.flatnonzero(mask) for mask in view.masks]
    expected = [actions[int(uniforms * len(actions))] for actions, uniforms in zip(legal, view.uniforms, strict=True)]
    assert policy.act(view).tolist() == expected
    probabilities = policy.action_probabilities(view)
    for row, actions in enumerate(legal):
        assert np.flatnonzero(probabilities[row]).tolist() == actions.tolist()
        assert probabilities[row, actions] == pytest.approx(1 / len(actions))


@pytest.mark.parametrize(
    ("name", "seats", "options", "best", "solved"),
    [
        ("yum", 2, {}, 169.8765, True),
        ("yum", 4, {"zeros": "free"}, 174.9642, True),
        ("yahtzee_jr", 1, {}, 19.3928, True),
        ("yahtzee_jr", 2, {}, None, True),
        ("yahtzee_jr", 3, {}, None, False),
        ("set_cubed", 2, {}, None, False),
        ("showdown_yahtzee", 2, {}, None, False),
    ],
)
def test_baselines__know_what_is_solved(
    name: str, seats: int, options: dict[str, Any], best: float | None, solved: bool
) -> None:
    game = load_game(name)
    record = game.make_options(seats, options)
    found = optimum(game, record)
    assert (found is None) == (best is None)
    assert found is None or found == pytest.approx(best, abs=1e-4)
    assert is_solved(game, record) is solved
    assert OPTIMAL.plays(game) == (name in ("yum", "yahtzee_jr"))
    assert GREEDY.plays(game)
    assert GREEDY.of(game) is importlib.import_module(f"fivedice.agents.games.{name}.greedy").GREEDY


# Exit statuses


@pytest.mark.parametrize(
    ("error", "status", "complaint"),
    [
        (ValueError("[b]wrong[/b] :robot:"), 2, "fivedice: [b]wrong[/b] :robot:\n"),
        (OSError("no room"), 2, "fivedice: no room\n"),
        (MemoryError("too much"), 2, "fivedice: too much\n"),
        (KeyboardInterrupt(), 130, ""),
        (
            ModuleNotFoundError("no", name="matplotlib"),
            2,
            "fivedice: this command needs matplotlib; install it by: pip install 'fivedice[plot]'\n",
        ),
        (
            ModuleNotFoundError("no", name="pylunasvg"),
            2,
            "fivedice: this command needs pylunasvg; install it by: pip install 'fivedice[render]'\n",
        ),
        (
            ModuleNotFoundError("no", name="torch"),
            2,
            "fivedice: this command needs torch; install it by: pip install 'fivedice[train]'\n",
        ),
    ],
)
def test_main__ends_with_a_status_and_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    status: int,
    complaint: str,
) -> None:
    def fail(*arguments: object) -> None:
        raise error

    monkeypatch.setattr(run_command, "run", fail)
    monkeypatch.setattr(sys, "argv", ["fivedice", "train"])
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == status
    assert capsys.readouterr() == ("", complaint)


def test_main__lets_other_errors_through(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise TypeError("a fault in the program")

    monkeypatch.setattr(run_command, "run", fail)
    monkeypatch.setattr(sys, "argv", ["fivedice", "train"])
    with pytest.raises(TypeError, match="a fault in the program"):
        cli.main()


def test_main__a_terminal_that_lacks_a_character_shows_another(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="ascii") for _ in range(2)]
    monkeypatch.setattr(sys, "stdout", streams[0])
    monkeypatch.setattr(sys, "stderr", streams[1])
    monkeypatch.setattr(sys, "argv", ["fivedice", "--version"])
    with pytest.raises(SystemExit):
        cli.main()
    assert [stream.errors for stream in streams] == ["replace"] * 2


@pytest.mark.parametrize(
    ("words", "module", "extra"),
    [
        ("report RUN", "matplotlib", "plot"),
        ("report RUN", "tensorboard", "train"),
        ("tournament yum random greedy", "choix", "arena"),
        ("watch yum random --out a.gif", "pylunasvg", "render"),
        ("watch yum random --out a.gif", "PIL", "render"),
        ("watch yum random --out a.mp4", "imageio_ffmpeg", "video"),
    ],
)
def test_command__refuses_at_once_without_a_package_that_it_needs(
    monkeypatch: pytest.MonkeyPatch, files: dict[str, Path], words: str, module: str, extra: str
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *package: None if name == module else real(name, *package)
    )
    arguments = [str(files.get(word, word)) for word in words.split()]
    command, *rest = arguments
    keywords = {"out": Path(rest.pop())} if "--out" in rest else {}
    rest = [word for word in rest if word != "--out"]
    with pytest.raises(
        ValueError, match=re.escape(f"this command needs {module}; install it by: pip install 'fivedice[{extra}]'")
    ):
        COMMANDS[command](*([Path(rest[0])] if command == "report" else rest), **keywords)


def test_main__ends_quietly_when_stopped_while_it_reads_its_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*arguments: object, **keywords: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules[cli.main.__module__], "app", stop)
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == 130


def test_options__of_the_command_line_leave_the_others_of_a_file(
    monkeypatch: pytest.MonkeyPatch, run: Run, tmp_path: Path
) -> None:
    """The command line wins over --config, which wins over --resume, option by option."""
    started: list[TrainConfig] = []
    monkeypatch.setattr(run_command, "run", lambda config, resume, console: started.append(config))
    file = tmp_path / "it.toml"
    file.write_text('game = "showdown_yahtzee"\n[options]\nmax_turns = 7\nsteal = "beat"\n')
    stopped = {"options": {"max_turns": 5, "steal": "match", "chips": [1, 4, 2, 2, 4, 1]}}
    (tmp_path / CONFIG).write_text(json.dumps(stopped))
    run("train", "--options.max_turns", "9", "--config", file, "--resume", tmp_path)
    run("train", "--config", file)
    assert [config.options for config in started] == [
        {"max_turns": 9, "steal": "beat", "chips": (1, 4, 2, 2, 4, 1)},
        {"max_turns": 7, "steal": "beat"},
    ]
