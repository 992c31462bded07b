"""A game of another package: installed, it is known everywhere; broken, it is reported when it is asked for."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PIG = ROOT / "tests" / "pig"
TRAIN = (
    "train --game pig --options.goal 20 --total-timesteps 256 --n-envs 8 --n-steps 16 --batch-size 128 --net-arch 8 "
    "--eval-every 256 --eval-games 10 --check-games 10 --final-games 10 --name small"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has installed the game."""
    folder = tmp_path_factory.mktemp("pig")
    shutil.copytree(PIG, folder / "source", ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    command += ["--disable-pip-version-check", "--root-user-action=ignore", "--target", str(folder / "site"), "."]
    ran = subprocess.run(command, cwd=folder / "source", capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return folder / "site"


def run(site: Path, program: str, folder: Path | None = None) -> str:
    """What a program prints, as plain Python, in an environment with this folder of packages."""
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"PYTHONPATH": path, "NUMBA_DISABLE_JIT": "1", "COLUMNS": "200"}
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, env=environment, cwd=folder or site, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr + ran.stdout
    return ran.stdout


def run_commands(site: Path, folder: Path, *commands: str) -> str:
    """What commands of fivedice print, one after the other in one process; with ! one that is refused."""
    program = f"""
import sys
from fivedice.agents.cli import app
for command in {list(commands)!r}:
    try:
        app(command.lstrip("!").split(), result_action="return_value")
        assert command[0] != "!"
    except ValueError as error:
        print("refused:", error)
        assert command[0] == "!", command
"""
    return run(site, program, folder)


def test_installed_game__passes_the_checks_and_is_known_by_every_api(site: Path) -> None:
    code = """
import copy, pickle, sys
import gymnasium, pettingzoo, fivedice.envs
from fivedice.envs import GAMES, game_names, load_game
assert "pigdice" not in sys.modules and "pig" not in GAMES and game_names()["pig"] == 0
env = pettingzoo.make("aec", "fivedice/pig-v0", num_players=3, goal=50)
from fivedice.agents import SeatVecEnv, load
from fivedice.envs.api.transcript import Recorder, parse, replay, write
from fivedice.envs.testing import check_game
game = load_game("pig")
assert pickle.loads(pickle.dumps(game)) is copy.deepcopy(game) is game
check_game(game, goal=10)
recorder = Recorder(env)
recorder.reset(seed=1)
for _ in range(30):
    recorder.step(int(load("greedy").act(env.view())[0]))
text = write(recorder.transcript())
assert text.startswith("fivedice/pig-v0") and "goal: 50" in text
assert write(replay(parse(text)).transcript()) == text
seat = gymnasium.make("fivedice/Pig-v0", opponents=["pigdice.greedy:CAUTIOUS"])
assert seat.reset(seed=1)[1]["action_mask"].tolist() == [1, 0]
assert len(gymnasium.make_vec("fivedice/Pig-v0", num_envs=3).reset(seed=1)[0]) == 3
assert SeatVecEnv("pig", 4, opponents="greedy").reset().shape[0] == 4
"""
    assert run(site, code) == ""


def test_installed_game__is_listed_trained_evaluated_and_reported(site: Path, tmp_path: Path) -> None:
    best = "runs/small/best.safetensors"
    said = run_commands(
        site,
        tmp_path,
        "list",
        TRAIN,
        f"evaluate pig {best} greedy pigdice.greedy:CAUTIOUS --games 10",
        f"info {best}",
    )
    assert "pig: Pig, 2 to 4 players" in said
    assert f"Play against it:  fivedice play pig --opponents {best}" in said
    assert all(name in said for name in ("best", "greedy", "hold-at-10", "goal 20"))


def test_game__needs_no_greedy_policy(site: Path, tmp_path: Path) -> None:
    shutil.copytree(site, tmp_path / "site")
    (tmp_path / "site" / "pigdice" / "greedy.py").unlink()
    refused = (f"!{TRAIN} --opponents.greedy 0.1", "!evaluate pig greedy")
    said = run_commands(tmp_path / "site", tmp_path, *refused, TRAIN, "report runs/small --games 20")
    sentences, trained = said.splitlines()[:2], "\n".join(said.splitlines()[2:])
    assert sentences == [
        "refused: opponents.greedy=0.1, but Pig has no greedy policy; use 0",
        "refused: there is no 'greedy' policy for Pig; use 'random'",
    ]
    assert "report/report.html" in trained  # so the run that was refused has not taken the name
    assert "greedy" not in trained
    assert "against random" in (tmp_path / "runs" / "small" / "report" / "report.html").read_text()


# What a package may declare, and what is said of it: the name, the value, the module, and the sentence.
BROKEN = {
    "fails": (
        "fails_game",
        "fails:GAME",
        "import missing_library",
        "the import of fails failed with ModuleNotFoundError",
    ),
    "exits": ("exits_game", "exits:GAME", "raise SystemExit('no')", "the import of exits failed with SystemExit: no"),
    "empty": ("empty_game", "empty:GAME", "", "empty has no attribute 'GAME'"),
    "wrong": ("wrong_game", "wrong:GAME", "GAME = 3", "wrong:GAME is not a Game, but 3"),
    "named": ("named_game", "named:GAME", "from fivedice.envs.yum import GAME", "named:GAME is yum_v0"),
    "newer": ("pig_v7", "newer:GAME", "from pigdice import GAME", "newer:GAME is pig_v0"),
    "badly": ("Bad-Name", "badly:GAME", "", "'Bad-Name' cannot be the name of a game"),
    "place": ("place_game", "just_a_module", "", "'just_a_module' does not say where a game is"),
    "ours": ("yum", "ours:GAME", "", "there is a game 'yum' already"),
    "first": ("twice", "first:GAME", "", "the game 'twice' is declared 2 times, by 'first' and 'second'"),
    "second": ("twice_v1", "second:GAME", "", "the game 'twice' is declared 2 times, by 'first' and 'second'"),
}


def test_broken_games__are_reported_in_one_sentence_when_they_are_asked_for(site: Path, tmp_path: Path) -> None:
    for package, (name, value, source, _) in BROKEN.items():
        (tmp_path / f"{package}.py").write_text(f"print('imported')\n{source}\n")
        info = tmp_path / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[fivedice.games]\n{name} = {value}\n")
    shutil.copytree(site / "pigdice", tmp_path / "pigdice")
    code = """
import fivedice.envs, gymnasium
print(sorted(fivedice.envs.game_names()))
from fivedice.envs import load_game
print(load_game("yum").title)
for name in sorted(fivedice.envs.game_names()):
    if name not in fivedice.envs.GAMES:
        try:
            load_game(name)
        except ValueError as error:
            print(error)
from fivedice.agents.cli import app
app(["list"])
"""
    said = run(tmp_path, code).splitlines()
    assert said[1] == "Yum"  # and nothing was imported before
    for package, (name, _, _, sentence) in BROKEN.items():
        for prefix in ("the ", f"{name.removesuffix('_v7').removesuffix('_v1')}: the "):
            if name == "yum":
                continue
            (line,) = {line for line in said if sentence in line and line.startswith(prefix)}
            assert f"'{package}'" in line
    assert any(line.startswith("yum: Yum") for line in said)


def test_registered_game__is_known_in_the_processes_of_tournaments_and_trainings(site: Path, tmp_path: Path) -> None:
    (tmp_path / "hogdice.py").write_text(
        'import dataclasses\nfrom pigdice import GAME as PIG\nGAME = dataclasses.replace(PIG, name="hog")\n'
    )
    code = """
import dataclasses, sys
from pathlib import Path
sys.path.insert(0, ".")
from fivedice.envs import load_game, register_game
register_game("hog", "hogdice:GAME")
from fivedice.agents.evaluation.schedule import Tournament, contender
from fivedice.agents.evaluation.tournament import play_tournament
from fivedice.agents.training.config import Mix, TrainConfig
from fivedice.agents.training.run import train
game = load_game("hog")
options = tuple(game.options_dict(game.make_options(2, {"goal": 20})).items())
def played(name, workers):
    entered = (contender("r", "random"), contender("g", "pigdice.greedy:CAUTIOUS"))
    tournament = Tournament(name, options, 2, 1, 80, entered)
    return play_tournament(tournament, Path(f"{name}{workers}"), workers=workers)
one, two = played("hog", 1), played("hog", 2)
print(all((a.points == b.points).all() for a, b in zip(one, two, strict=True)))
config = TrainConfig(
    game="hog", options={"goal": 20}, workers=2, total_timesteps=256, n_envs=8, n_steps=16, batch_size=128,
    net_arch=[8], eval_every=256, eval_games=10, check_games=10, opponents=Mix(greedy=0.0, random=1.0),
)
print(train(config).steps)
register_game("sow", dataclasses.replace(game, name="sow"))
try:
    played("sow", 2)
except ValueError as error:
    print(error)
"""
    assert run(site, code, tmp_path).splitlines() == [
        "True",
        "256",
        "the game 'sow' was registered as an object, which other processes cannot import; "
        "register it as 'module:attribute', or use one process",
    ]


def test_register_game__takes_a_place_or_a_declaration(site: Path) -> None:
    code = """
import sys
import fivedice.envs
from fivedice.envs import load_game, register_game
def refused(*given):
    try:
        register_game(*given)
    except ValueError as error:
        print(error)
refused("Pig!", "pigdice:GAME")
refused("hog_v1", "pigdice:GAME")
refused("yum", "pigdice:GAME")
refused("pig", "pigdice:GAME")
refused("hog", "pigdice")
register_game("hog", "hogs:GAME")
register_game("hog", "hogs:GAME")
refused("hog", "others:GAME")
assert "hogs" not in sys.modules and "pigdice" not in sys.modules
try:
    load_game("hog")
except ValueError as error:
    print(error)
import dataclasses, gymnasium, pettingzoo
from pigdice import GAME
refused("sow", GAME)
SOW = dataclasses.replace(GAME, name="sow", version=2)
register_game("sow", SOW)
assert load_game("sow") is SOW
print(pettingzoo.make("aec", "fivedice/sow-v2").metadata["name"], gymnasium.make("fivedice/Sow-v2").unwrapped.game.name)
"""
    assert run(site, code).splitlines() == [
        "'Pig!' cannot be the name of a game; use lower-case letters, digits and single underscores, "
        "such as 'liars_dice'",
        "'hog_v1' cannot be the name of a game; use lower-case letters, digits and single underscores, "
        "such as 'liars_dice'",
        "there is a game 'yum' already; use another name",
        "there is a game 'pig' already; use another name",
        "'pigdice' does not say where a game is; use 'module:attribute', such as 'pigdice:GAME'",
        "there is a game 'hog' already; use another name",
        "the game 'hog' cannot be used: the import of hogs failed with ModuleNotFoundError: No module named 'hogs'",
        "the game 'sow' cannot be used: it is declared as sow_v0, but its declaration is pig_v0",
        "sow_v2 sow",
    ]
