"""The command line: what it shows, and that what is wrong is said in one sentence with exit status 2."""

import io
import re
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from safetensors.numpy import save_file

from fivedice.agents import cli
from fivedice.agents.cli import list as cli_list
from fivedice.agents.policies.checkpoint import load_checkpoint, make_card, read_card, save_checkpoint
from fivedice.agents.policies.network import Network, tensor_shapes
from fivedice.agents.reports import tournament_page
from fivedice.agents.training.config import Mix, TrainConfig
from fivedice.envs import GAMES, Batch, load_game

YUM = load_game("yum")
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs ``fivedice …`` here: exit status, output, and complaints with their line breaks and frames taken out."""
    monkeypatch.setenv("COLUMNS", "200")
    for console in (cli.console, cli.app.error_console):  # which took their widths when they were made
        monkeypatch.setattr(console, "width", 200)

    def run(*arguments: object, typed: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["fivedice", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        status = 0
        try:
            cli.main()
        except SystemExit as left:
            status = int(left.code or 0)
        said, complained = capsys.readouterr()
        return status, said, " ".join(re.sub("[╭╮╰╯─│]|Error ", " ", complained).split())

    return run


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    size, path = YUM.layout(YUM.make_options(3)).size, tmp_path / "some.safetensors"
    shapes = tensor_shapes(size, YUM.num_actions(), (4,))
    tensors = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    options = YUM.make_options(3, {"zeros": "free"})
    card = make_card(YUM, options, (4,), "relu")
    card |= {"steps": 12_345, "evaluation": {"score": {"mean": 45.678, "half_width": 1.25, "deals": 500}}}
    save_checkpoint(path, card, Network(tensors, size, YUM.num_actions(), (4,), "relu"))
    return path


# What it shows


def test_list__of_a_game_without_options_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = SimpleNamespace(OPTIONS=())
    plain = SimpleNamespace(
        title="Plain", min_players=2, max_players=3, default_players=2, aec_id="a", gymnasium_id="b", rules=rules
    )
    monkeypatch.setattr(cli_list, "game_names", lambda: {"plain": 0})
    monkeypatch.setattr(cli_list, "load_game", lambda name: plain)
    _, said, _ = run("list")
    assert said == "plain: Plain, 2 to 3 players, 2 by default\nids a (PettingZoo), b (Gymnasium)\nno options\n\n"


def test_list__names_every_game_id_and_option(run: Run) -> None:
    status, said, _ = run("list")
    assert status == 0
    for name in GAMES:
        game = load_game(name)
        for word in (game.title, game.aec_id, game.gymnasium_id, *(option.name for option in game.rules.OPTIONS)):
            assert word in said


def test_info__prints_the_card(run: Run, checkpoint: Path) -> None:
    status, said, _ = run("info", checkpoint)
    assert status == 0
    for word in ("yum", "12345", "zeros free", "net_arch [4]", "score 45.68 ± 1.2", "95 % interval"):
        assert word in said


def test_a_folder__where_a_checkpoint_is_asked_for_says_what_is_in_it(run: Run, checkpoint: Path) -> None:
    folder = checkpoint.parent
    for arguments in (["info", folder], ["evaluate", "yum", folder, "random"], ["play", "--opponents", folder]):
        status, _, complained = run(*arguments)
        assert status == 2
        assert f"{folder} is a folder; name a file in it, for example {folder}" in complained


def test_train_help__explains_every_key(run: Run) -> None:
    status, said, _ = run("train", "--help")
    assert status == 0
    said = " ".join(re.sub("[│]", " ", said).split())
    keys = [field.name for field in fields(TrainConfig)] + [f"opponents.{field.name}" for field in fields(Mix)]
    for key in keys:
        if key not in ("options", "opponents"):  # shown as --options.zeros, --opponents.past, …
            flag = key.replace("_", "-")
            assert re.search(rf"--{flag}\b (--no-{flag} )?[^-]", said), key
    for meaning in (
        "Number of games that are played in parallel",
        "The newest snapshot of the learner",
        "[default: 0.2]",
        "--config",
    ):
        assert meaning in said


def test_evaluate__takes_seats_and_options_from_a_checkpoint(run: Run, checkpoint: Path) -> None:
    status, said, _ = run("evaluate", "yum", checkpoint, "random", "--games", 6)
    assert status == 0
    assert "3 players, 6 games" in said
    status, _, complained = run("evaluate", "yum", checkpoint, "random", "--games", 6, "--num-players", 2)
    assert (status, complained == "fivedice: the checkpoint 'some' was trained for Yum with num_players=3, not 2") == (
        2,
        True,
    )


@pytest.fixture
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Heat maps are drawn elsewhere."""
    monkeypatch.setattr(
        tournament_page, "draw_tournament", lambda tournament, ranking, path: path.write_bytes(b"a picture")
    )


def test_tournament__shows_ratings_and_goes_on(run: Run, tmp_path: Path, no_pictures: None) -> None:
    command = ("tournament", "yahtzee_jr", "random", "greedy", "optimal", "--games", 40, "--out", tmp_path / "it")
    status, said, complained = run(*command)
    assert (status, complained) == (0, "")
    share = r"\d+\.\d (± \d+\.\d|\(\d+\.\d to \d+\.\d\)) %"  # Wilson's interval need not be symmetric
    assert re.search(rf"greedy +\d+ ± \d+ +\d+\.\d\d ± \d+\.\d\d +{share}", said)
    assert re.search(r"^ *random +0 ", said, re.MULTILINE)
    assert "not distinguishable from" in said
    assert "Yahtzee Jr., 2 players, 40 games for each of 3 combinations of policies, seed 0" in said
    assert {path.name for path in (tmp_path / "it").iterdir()} >= {"tournament.json", "standings.csv", "pairs.csv"}
    again = run(*command)
    assert again[1] == said


# What is wrong


def written(text: str) -> Callable[[Path], list[object]]:
    def arguments(folder: Path) -> list[object]:
        (folder / "it.toml").write_text(text)
        return ["train", "--config", folder / "it.toml"]

    return arguments


def given(*arguments: object) -> Callable[[Path], list[object]]:
    return lambda folder: list(arguments)


WRONG = {
    "no such command": (given("trian"), r'"trian"\. Did you mean "train"\?'),
    "no such key": (given("train", "--totl-timesteps", 5), r"--totl-timesteps\. Did you mean --total-timesteps\?"),
    "no such key of a table": (given("train", "--opponents.curent", 1), r"Did you mean --opponents\.current\?"),
    "a word for a number": (given("train", "--n-envs", "many"), "--n-envs: 'many' is not a whole number"),
    "a fraction for a whole number": (given("train", "--n-envs", "4.5"), r"--n-envs: '4\.5' is not a whole number"),
    "too small": (given("train", "--n-envs", 0), r'"0" for --n-envs\. Must be >= 1'),
    "too large": (given("train", "--gamma", 2), r"--gamma\. Must be <= 1"),
    "no such choice": (given("train", "--reward", "wins"), r'"wins" for --reward\. Choose from: "win"'),
    "an old key in a file": (
        written('base = "greedy"'),
        r"it\.toml: the setting 'base' is called 'prior' now",
    ),
    "no such key in a file": (written("n_env = 4"), r"it\.toml: 'n_env' is not a known setting; did you mean 'n_envs'"),
    "no such key of a table in a file": (
        written("[opponents]\ncurent = 1.0"),
        r"it\.toml: 'curent' is not a known setting of opponents; did you mean 'current'",
    ),
    "a word for a number in a file": (written('n_envs = "many"'), r"n_envs.*'many' is not a whole number"),
    "a fraction for a whole number in a file": (written("n_envs = 4.5"), r"n_envs.*'4\.5' is not a whole number"),
    "a word for a table in a file": (written('opponents = "past"'), "opponents"),
    "a table for a number in a file": (written("[n_envs]\nmany = 1"), "n_envs"),
    "not TOML": (written("n_envs = = 3"), r"it\.toml.* Invalid value \(at line 1"),
    "no such file": (given("train", "--config", "none.toml"), r"--config: the file none\.toml does not exist"),
    "no such configuration": (given("train", "--config", "yum-smok"), "'yum-smok' .*did you mean 'yum-smoke'"),
    "nothing to resume": (
        given("train", "--resume", "none"),
        r"--resume: the file none/config\.json does not exist",
    ),
    "batches that do not fit": (given("train", "--n-envs", 3), "batch_size=2048 does not divide the 96 decisions"),
    "no such game": (given("evaluate", "yam", "random"), "'yam' is not a known game; did you mean 'yum'"),
    "no such policy": (
        given("evaluate", "yum", "rndom"),
        "'rndom' is not a policy; did you mean 'random'\\? Else use 'random', 'greedy'",
    ),
    "no policy": (given("evaluate", "yum"), "name at least one of random"),
    "a contender twice": (given("tournament", "yum", "random", "random"), "'random' is listed twice"),
    "one contender": (given("tournament", "yum", "random"), "a tournament needs at least two policies"),
    "no such contender": (
        given("tournament", "yum", "random", "gredy"),
        "'gredy' is not a policy; did you mean 'greedy'\\? Else use 'random'",
    ),
    "too few games": (
        given("tournament", "yum", "random", "greedy", "--games", 30),
        "games=30 gives only 15 dice seeds, too few for intervals; use at least 40 games",
    ),
    "too few games by far": (
        given("tournament", "yum", "random", "greedy", "--games", 1),
        "games=1 gives only 1 dice seed",
    ),
    "a policy that the game has not": (
        given("evaluate", "showdown_yahtzee", "optimal", "greedy"),
        "there is no 'optimal' policy for Showdown Yahtzee; use 'random' or 'greedy'",
    ),
    "runs in a file": (
        lambda folder: [*written("")(folder), "--runs", folder / "it.toml" / "runs"],
        r"it\.toml is a file; choose another folder for runs",
    ),
    "a weight without end": (given("train", "--prior-logit", "inf"), "prior_logit=inf is not finite; use a number"),
    "a contender that cannot play": (
        given("tournament", "yahtzee_jr", "random", "optimal", "--num-players", 3),
        "Yahtzee Jr. is not solved for 3 seats; use 1 or 2",
    ),
    "an adviser without values": (
        given("play", "set_cubed", "--adviser", "random"),
        "'random' has no action values in SET Cubed; use 'optimal' or a rollout as adviser",
    ),
    "a policy twice": (given("evaluate", "yum", "random", "random"), "'random' is listed twice"),
    "no such option": (given("evaluate", "yum", "random", "--options.zero", "free"), "did you mean 'zeros'"),
    "a prior without features": (
        given("train", "--game", "yum", "--prior", "greedy", "--prior-span", 1, "--prior-features"),
        "greedy has no action features in Yum; use prior_features=False",
    ),
    "dice that are never kept": (
        given("train", "--game", "set_cubed", "--prior", "greedy", "--prior-span", 1, "--prior-keep-span", 1),
        "SET Cubed has no keep actions; use prior_keep_span=0",
    ),
    "features alone, of none": (
        given("train", "--game", "set_cubed", "--prior", "greedy", "--prior-span", 1, "--features-only"),
        "features_only=True trains only feature weights; set prior_features=True, too",
    ),
    "features without a prior": (
        given("train", "--game", "set_cubed", "--prior-features"),
        "prior_span, prior_keep_span and prior_features need a prior; use prior='greedy'",
    ),
    "features of nothing": (
        given("train", "--game", "set_cubed", "--prior", "greedy", "--prior-features"),
        "prior_features shows features of near-best actions only; set prior_span above 0, too",
    ),
    "no such file to start from": (
        given("train", "--start", "none.safetensors"),
        r"the file none\.safetensors does not exist",
    ),
    "no such file to show": (given("info", "none.safetensors"), r"the file none\.safetensors does not exist"),
    "no such seat": (given("play", "yum", "--seat", 2), "--seat 2 does not exist in a game with 2 players; use 0 to 1"),
    "too many rivals": (
        given("play", "--opponents", "random", "--opponents", "greedy"),
        "lists 2 policies, but there is only 1 other seat; .* or play with --num-players 3",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_input__is_one_sentence_and_exit_status_2(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, expected = WRONG[what]
    status, said, complained = run(*arguments(tmp_path))
    assert status == 2
    assert re.search(expected, complained), complained
    assert "Traceback" not in complained
    assert said == ""
    assert {path.name for path in tmp_path.iterdir()} <= {"it.toml"}  # no run was begun


# Play


def test_play__explains_what_was_wrong_and_asks_again(run: Run) -> None:
    typed = "99\n\nfill\nHello [red]there[/red]\n²\n-1\n   KEEP   nothing\nq\ny\n"
    status, said, _ = run("play", "yum", "--seed", 4, typed=typed)
    assert status == 0
    for complaint in (
        "99 is not a choice; type one such as 'keep none', or 'list' to see all.",
        "You typed nothing; type a choice, such as 'keep none', or ? for help.",
        "'fill' could mean fill ",
        "'Hello [red]there[/red]' is not a choice; type one such as 'keep none', or 'list' to see all.",
        "'²' is not a choice",
        "'-1' is not a choice",
        "You keep none, throw ",
    ):
        assert complaint in said
    assert said.count("your choice (? for help)") == 8


def test_play__a_question_mark_shows_how_to_answer(run: Run) -> None:
    status, said, _ = run("play", "yum", "--seed", 4, typed="?\nhelp\nq\ny\n")
    assert status == 0
    assert said.count("Type a choice in words, in part or in full, or its letter") == 2
    assert said.count("your choice (? for help)") == 3


@pytest.mark.parametrize("typed", ["q\n", "Q\n", "quit\n", "0\nq\n", "", "0\n"])
def test_play__q_or_the_end_of_the_input_leaves(run: Run, typed: str) -> None:
    status, said, complained = run("play", "yum", "--seed", 4, typed=typed)
    assert (status, complained) == (0, "")
    assert said.rstrip().endswith("You have quit the game.")


def test_play__takes_its_seat_and_the_checkpoint_s_table(run: Run, checkpoint: Path) -> None:
    status, said, _ = run("play", "yum", "--opponents", checkpoint, "--seat", 2, "--seed", 1, typed="q\n")
    assert status == 0
    assert "You are player_2" in said
    assert "player_0 (some) throws" in said
    assert "player_1 (some) throws" in said


# Exploit


def test_exploit__refuses_a_checkpoint_of_another_game(run: Run, checkpoint: Path) -> None:
    status, _, complained = run("exploit", checkpoint)
    assert status == 2
    assert complained == "fivedice: the checkpoint 'some' was trained for Yum; exploit works for Yahtzee Jr. only"


def test_evaluate__refuses_a_checkpoint_of_another_game(run: Run, checkpoint: Path) -> None:
    status, _, complained = run("evaluate", "yahtzee_jr", checkpoint, "random")
    assert status == 2
    assert "the checkpoint 'some' was trained for Yum, not for Yahtzee Jr." in complained


def test_train__refuses_before_it_makes_a_folder(run: Run, tmp_path: Path) -> None:
    for wrong in (("--batch-size", 1000), ("--name", "a/b"), ("--reward-scale", "inf"), ("--device", "meta")):
        status, _, complained = run("train", "--runs", tmp_path / "runs", *wrong)
        assert status != 0
        assert complained
        assert not list((tmp_path / "runs").glob("*")), wrong


def test_train__a_refusal_leaves_the_name_free(run: Run, tmp_path: Path) -> None:
    weights = [word for name in ("greedy", "current", "past", "random") for word in (f"--opponents.{name}", 0)]
    status, _, complained = run("train", "--runs", tmp_path, "--name", "it", *weights)
    assert status == 2
    assert "all weights in opponents are 0" in complained
    assert not list(tmp_path.iterdir())


def test_train__a_folder_without_a_run_is_told_from_one_to_go_on_with(run: Run, tmp_path: Path) -> None:
    (tmp_path / "it").mkdir()
    (tmp_path / "it" / "notes.txt").touch()
    _, _, complained = run("train", "--runs", tmp_path, "--name", "it")
    assert "exists already and holds nothing that can be resumed; remove it, or choose another --name" in complained
    (tmp_path / "it" / "resume.safetensors").touch()
    _, _, complained = run("train", "--runs", tmp_path, "--name", "it")
    assert f"exists already; resume it by --resume {tmp_path / 'it'}, or choose another --name" in complained


SMALL = ("--n-envs", 8, "--n-steps", 8, "--batch-size", 64, "--net-arch", 4, "--eval-every", 64)
SMALL += ("--eval-games", 10, "--check-games", 10, "--final-games", 20)


def test_train__what_is_printed_at_the_end_can_be_pasted(run: Run, tmp_path: Path) -> None:
    solo = ("--game", "yahtzee_jr", "--num-players", 1)
    status, said, _ = run("train", *SMALL, *solo, "--total-timesteps", 128, "--runs", tmp_path, "--name", "my run")
    assert status == 0
    best = tmp_path / "my run" / "best.safetensors"
    assert f"Evaluate it again:  fivedice evaluate yahtzee_jr '{best}'\n" in said
    folder = tmp_path / "my run"
    for changed, expected in (
        (("--seed", 5), "was started with seed=1, which cannot change; leave out --seed, or start a new run"),
        (("--name", "other"), "was started with name='my run', which cannot change; leave out --name"),
        (("--total-timesteps", 10), "has made 128 decisions already, more than total_timesteps=10"),
    ):
        status, _, complained = run("train", "--resume", folder, *changed)
        assert status == 2
        assert expected in complained


def test_info__writes_out_what_a_terminal_would_obey_and_tells_of_damage(run: Run, checkpoint: Path) -> None:
    policy = load_checkpoint(checkpoint)
    path = checkpoint.with_name("other.safetensors")
    save_checkpoint(path, read_card(checkpoint) | {"reward": "\x1b[31mred\x07"}, policy.network)
    status, said, _ = run("info", path)
    assert status == 0
    assert r"\x1b[31mred\x07" in said
    assert "\x1b" not in said
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    status, said, complained = run("info", path)
    assert status == 2
    assert "net_arch" in said
    assert "the file is damaged" in complained


def test_names__are_no_markup(run: Run, checkpoint: Path, tmp_path: Path, no_pictures: None) -> None:
    names = ["a[red]b", "c[", ":robot:"]
    for name in names:
        (tmp_path / f"{name}.safetensors").write_bytes(checkpoint.read_bytes())
    files = [tmp_path / f"{name}.safetensors" for name in names]
    _, said, _ = run("evaluate", "yum", *files, "--games", 20, "--no-luck")
    assert all(name in said for name in names)
    for name, file in zip(names, files, strict=True):
        _, said, _ = run("tournament", "yum", file, "random", "--games", 60, "--out", tmp_path / f"of {name}")
        assert name in said


def test_tables__keep_names_in_a_narrow_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli.console, "width", 40)
    _, said, _ = run("evaluate", "yum", "random", "greedy", "--games", 40)
    rows = [line.split() for line in said.splitlines()]
    assert sum(row[:1] == ["greedy"] for row in rows) == 2  # in both tables


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("play", "yum", "--num-players", 1, "--opponents", "random"), "a game with one player has no opponents"),
        (("exploit", "rollout"), "exploit does not work for a rollout"),
        (("evaluate", "yum", "", "random"), "'' is not a policy; use 'random'"),
        (("evaluate", "yum", "rollout:greedy:-3", "random"), "a rollout cannot simulate games=-3 of each action"),
    ],
)
def test_what_makes_no_sense__is_refused(run: Run, arguments: tuple[object, ...], expected: str) -> None:
    status, _, complained = run(*arguments)
    assert status == 2
    assert expected in complained


def test_play__without_standard_input_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(io, "StringIO", lambda typed: None)
    status, _, complained = run("play", "yum")
    assert status == 2
    assert "standard input is closed" in complained


# Errors


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("evaluate",), "fivedice: GAME is missing; see fivedice evaluate --help"),
        (("info",), "fivedice: FILE is missing; see fivedice info --help"),
        (("train", "--bogus", 3), "fivedice: unknown option: --bogus. Did you mean --runs?"),
        (
            ("evaluate", "yum", "random", "--games", "x"),
            "fivedice: invalid value for --games: 'x' is not a whole number",
        ),
    ],
)
def test_usage_errors__have_the_style_of_all_errors(run: Run, arguments: tuple[object, ...], complaint: str) -> None:
    assert run(*arguments) == (2, "", complaint)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("batch_size = 100", "batch_size=100 does not divide the 8192 decisions"),
        ("batch_size = 1", 'invalid value "1" for [batch_size] provided by'),
        ('game = "yam"', "'yam' is not a known game"),
        ('[options]\nzeros = "x"', "zeros='x' is not possible"),
        ("[opponents]\ngreedy = inf", "opponents.greedy=inf is not finite"),
    ],
)
def test_settings__of_a_file_that_are_wrong_name_the_file(run: Run, tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "some.toml"
    path.write_text(text)
    status, said, complained = run("train", "--config", path, "--runs", tmp_path / "runs")
    assert (status, said) == (2, "")
    assert complaint in complained
    assert complained.count(str(path)) == 1
    if "=" in complaint:  # a near miss: the command line wins, and its setting is not of the file
        path.write_text("n_envs = 8")
        _, _, complained = run("train", "--config", path, "--batch-size", 100, "--runs", tmp_path / "runs")
        assert complained.startswith("fivedice: batch_size=100 does not divide")
    assert not (tmp_path / "runs").exists()


def test_info__says_what_a_resume_file_is(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "resume.safetensors"
    save_file({"some": np.zeros(1, np.float32)}, path, metadata={"notes": "{}"})
    status, _, complained = run("info", path)
    assert status == 2
    assert "it is the resume file of a training run, not a policy; use best.safetensors beside it" in complained
    assert f"fivedice train --resume {tmp_path}" in complained


@pytest.mark.parametrize("name", ["tournament.json", "standings.csv", "pairs.csv", "tournament.png"])
def test_tournament__looks_for_room_before_the_first_game(run: Run, tmp_path: Path, name: str) -> None:
    pytest.importorskip("choix")
    (tmp_path / name).mkdir()
    status, said, complained = run("tournament", "yum", "random", "greedy", "--games", 40, "--out", tmp_path)
    assert (status, said) == (2, "")
    assert f"{tmp_path / name} is a folder; choose another place" in complained
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    "command",
    [
        "train --config yum-smoke --runs /dev/null/it",
        "tournament yum random greedy --games 40 --out /dev/null/it",
        "evaluate yum random greedy --games 40 --plot /dev/null/it.png",
        "record yum random --games 2 --out /dev/null/it",
        "watch yum random greedy --out /dev/null/it.html",
    ],
)
def test_place__that_cannot_be_written_is_named_before_anything_is_played(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Even root cannot make files below a file, so this stands for the folder of another user."""

    def play(*arguments: object, **keywords: object) -> None:
        raise AssertionError("something was played")

    monkeypatch.setattr(Batch, "step", play)
    status, said, complained = run(*command.split())
    assert (status, said) == (2, "")
    assert re.fullmatch(r"fivedice: .*/dev/null.*", complained)
