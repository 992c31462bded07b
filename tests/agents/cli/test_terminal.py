"""A game in the terminal: it is the engine's game, every throw and the board are shown, and nothing is lost."""

import io
import re
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from fivedice.agents.cli.ending import result_in_words
from fivedice.agents.cli.terminal import LINES, play_game
from fivedice.agents.cli.waiting import COMPILING, waiting
from fivedice.agents.play import saved
from fivedice.agents.play.advice import AdviceTask, Adviser, advise, make_adviser
from fivedice.agents.play.choices import choices_of
from fivedice.agents.play.seats import seat_of
from fivedice.agents.play.session import PERSON, PlaySession
from fivedice.envs import GAMES, load_game

WIDTH = 80
PROMPT = "your choice (? for help): "
SHORT = {"showdown_yahtzee": {"max_turns": 6}}


def session_of(game: str, *names: str, seed: int = 3, **options: Any) -> PlaySession:
    return PlaySession(load_game(game), [seat_of(name) for name in names], seed=seed, options=options)


class Typist:
    """A terminal of 80 columns; the answers come from a function or a list, whose end is the end of the input."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answers: list[str] | Callable[[], str]) -> None:
        self.console = Console(file=io.StringIO(), width=WIDTH)
        self._answers: Iterator[str] | None = iter(answers) if isinstance(answers, list) else None
        self._next = answers if callable(answers) else None
        monkeypatch.setattr(self.console, "input", self._input)

    def _input(self, prompt: str, **settings: Any) -> str:
        self.console.file.write(prompt)
        try:
            answer = self._next() if self._next else next(self._answers or iter(()))
        except StopIteration:
            raise EOFError from None
        if answer == "^C":
            raise KeyboardInterrupt
        self.console.file.write(f"{answer}\n")
        return answer

    @property
    def said(self) -> str:
        text: str = self.console.file.getvalue()  # type: ignore[attr-defined]
        return text


def play(
    monkeypatch: pytest.MonkeyPatch,
    session: PlaySession,
    answers: list[str] | Callable[[], str],
    folder: Path,
    adviser: Adviser | None = None,
) -> str:
    typist = Typist(monkeypatch, answers)
    play_game(session, typist.console, adviser=adviser, folder=folder)
    return typist.said


def at_random(session: PlaySession, seed: int) -> Callable[[], str]:
    """Types a random choice, in words and by number in turn; Enter at the end."""
    random = np.random.default_rng(seed)

    def answer() -> str:
        view = session.position.view
        if session.is_over or view is None:
            return ""
        choice = choices_of(view)[random.integers(len(choices_of(view)))]
        return choice.words if session.number % 2 else f"#{choice.action}"

    return answer


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize(
    ("game", "names"),
    [
        ("yum", [PERSON, "greedy"]),
        ("yum", ["random", PERSON, "greedy"]),
        ("yahtzee_jr", [PERSON]),
        ("yahtzee_jr", ["random", "greedy", "random", PERSON]),
        ("showdown_yahtzee", ["greedy", PERSON, "random"]),
        ("set_cubed", [PERSON, "random"]),
    ],
)
def test_play__a_whole_game_with_every_throw_and_board(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, game: str, names: list[str]
) -> None:
    session = session_of(game, *names, **SHORT.get(game, {}))
    said = play(monkeypatch, session, at_random(session, 5), tmp_path)
    assert session.is_over
    own = names.index(PERSON)
    # Each throw of each player is told, in order.
    told = re.findall(
        r"\bthrows? (?!left|for)((?:[^\s,;.()]+ ?)+)", flat(re.sub(r"Luck and play.*", "", said, flags=re.DOTALL))
    )
    throws = [*session.opening, *(throw for move in session.moves for throw in move.throws)]
    assert [one.strip() for one in told] == [" ".join(throw.faces) for throw in throws]
    # Before each choice comes the whole board, and no line is wider than the terminal.
    blocks = said.split(PROMPT)
    decided = [
        move.number - 1
        for move in session.moves
        if move.seat == own and len(choices_of(session.positions[move.number - 1].view)) > 1  # type: ignore[arg-type]
    ]
    assert len(blocks) == len(decided) + 1
    for block, number in zip(blocks[:-1], decided, strict=True):
        board = session.game.render(session.positions[number].state[0], session.options)
        marked = flat(board.replace(f"player_{own}", "you")).replace("you throws", "you throw")
        assert marked.replace("you chooses", "you choose") in flat(block)
    assert max(map(len, said.splitlines())) <= WIDTH or all(
        line.startswith("The same dice again") for line in said.splitlines() if len(line) > WIDTH
    )
    assert result_in_words(session, own) in said.replace("\n", " ")
    assert f"--seed {session.seed}" in said


@pytest.mark.parametrize("game", GAMES)
def test_play__board_choices_and_prompt_fit_on_a_small_terminal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, game: str
) -> None:
    session = session_of(game, PERSON, "random", **SHORT.get(game, {}))
    adviser = make_adviser(session.game, session.options, "greedy")
    said = play(monkeypatch, session, at_random(session, 5), tmp_path, adviser)
    boards = [session.game.render(one.state[0], session.options) for one in session.positions]
    height = max(len(board.splitlines()) for board in boards) + 1  # a long line is wrapped
    blocks = said.split(PROMPT)[:-1]
    assert len(blocks) > 2
    for block in blocks:
        shown = block.splitlines()
        heads = [
            place for place, line in enumerate(shown) if line.startswith(("Best first", "Your choices", "Some ch"))
        ]
        assert heads
        assert height + len(shown) - heads[-1] <= LINES


def test_advice__is_sorted_has_a_unit_and_shows_its_noise(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    session = session_of("showdown_yahtzee", PERSON, "greedy")
    adviser = make_adviser(session.game, session.options, "rollout:random:4")
    said = play(monkeypatch, session, ["list", "quit", "y"], tmp_path, adviser)
    assert re.search(r"Best first, by rollout\S*: expected final lead in points, 4 games, ± 95 %", flat(said))
    values = [float(one) for one in re.findall(r"#\d+ .*?([+-]?\d+\.\d+) ±", said)]
    assert len(values) > 5
    assert values == sorted(values, reverse=True)


def test_advice__says_what_a_choice_gives_away(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    session = session_of("yum", PERSON, "greedy")
    adviser = make_adviser(session.game, session.options)
    said = play(monkeypatch, session, ["keep none", "best", "quit", "y"], tmp_path, adviser)
    assert re.search(r"You keep none, throw [\d ]+ \(this gives away \d+\.\d; best: keep [\d ]+\)", flat(said))
    assert flat(said).count("gives away") == 1
    assert session.number == 2


def test_advice__comes_and_goes_when_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    session = session_of("yum", PERSON, "greedy")
    said = play(monkeypatch, session, ["advice", "advice", "board", "quit", "y"], tmp_path)
    assert [flat(block).rpartition(" a ")[0].split("left ")[-1][:4] for block in said.split(PROMPT)[:-1]] == [
        "Some",
        "Best",
        "Some",
        "Some",
    ]


def test_advice__that_is_slow_says_so_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    session = session_of("yum", PERSON, "greedy")
    waited = threading.Event()

    def interrupt(self: AdviceTask, timeout: float | None = None) -> None:
        waited.set()
        raise KeyboardInterrupt

    monkeypatch.setattr(AdviceTask, "wait", interrupt)
    adviser = make_adviser(session.game, session.options, "rollout:random:100000")
    said = play(monkeypatch, session, ["quit", "y"], tmp_path, adviser)
    assert waited.is_set()
    assert "The adviser is stopped." in said
    assert PROMPT in said  # the game goes on


def test_waiting__explains_itself_after_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fivedice.agents.cli.waiting.SLOW", 0.01)
    console = Console(file=io.StringIO(), width=WIDTH)
    with waiting(console, COMPILING):
        threading.Event().wait(0.3)
    assert console.file.getvalue().count(COMPILING[:20]) == 1  # type: ignore[attr-defined]
    quick = Console(file=io.StringIO(), width=WIDTH)
    monkeypatch.setattr("fivedice.agents.cli.waiting.SLOW", 30.0)
    with waiting(quick, COMPILING):
        pass
    assert quick.file.getvalue() == ""  # type: ignore[attr-defined]


def test_undo__takes_back_the_last_choice_of_the_person(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    session = session_of("yum", PERSON, "greedy")
    answers = ["undo", "keep none", "undo", "keep none", "quit", "y"]
    said = flat(play(monkeypatch, session, answers, tmp_path))
    assert "There is no choice of yours to take back." in said
    assert "Taken back: 1 move. The same choice gives the same dice." in said
    thrown = re.findall(r"You keep none, throw ([\d ]+)\.", said)
    assert len(thrown) == 2
    assert thrown[0] == thrown[1]


def test_undo__after_the_end_goes_on_with_the_game(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    session = session_of("yahtzee_jr", PERSON)
    choose, ends = at_random(session, 2), iter(["undo", "", "x", "moves", "save end.txt", ""])
    asked: list[int] = []

    def answer() -> str:
        if session.is_over:
            asked.append(session.number)
            return next(ends)
        return choose()

    monkeypatch.chdir(tmp_path)
    said = flat(play(monkeypatch, session, answer, tmp_path))
    assert len(asked) == 2 or asked[0] == asked[1]
    assert said.count("You finished with") == 2
    assert not (tmp_path / "end.txt").exists()


def test_end__can_be_saved_looked_through_and_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    session = session_of("yahtzee_jr", PERSON)
    choose, ends = at_random(session, 2), iter(["what?", "moves", "save end.txt", ""])
    monkeypatch.chdir(tmp_path)
    said = flat(play(monkeypatch, session, lambda: next(ends) if session.is_over else choose(), tmp_path))
    assert "'what?' is not possible after the end; type undo, moves, save FILE or Enter." in said
    again = saved.load((tmp_path / "end.txt").read_text("utf-8"), seat_of)
    assert again.is_over
    assert again.position.scores == session.position.scores


@pytest.mark.parametrize("leave", [["quit", "y"], [], ["^C", "y"], ["^C", "^C"], ["q", "no", "quit", "yes"]])
def test_leaving__saves_a_game_that_was_begun(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, leave: list[str]
) -> None:
    session = session_of("yum", PERSON, "greedy")
    said = play(monkeypatch, session, ["keep none", *leave], tmp_path / "kept")
    (file,) = (tmp_path / "kept").iterdir()
    assert f"fivedice play --file {file}" in said.replace("\n", "")
    assert said.rstrip().endswith("You have quit the game.")
    again = saved.load(file.read_text("utf-8"), seat_of)
    assert (again.number, again.seed) == (1, 3)
    assert again.position.state[0] == session.position.state[0]


def test_leaving__before_the_first_choice_leaves_no_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    play(monkeypatch, session_of("yum", PERSON, "greedy"), ["quit", "y"], tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_save__never_overwrites_a_file_of_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    answers = ["keep none", "save mine.txt", "save folder", "save a/b.txt", "best", "save a/b.txt", "quit", "y"]
    said = play(monkeypatch, session_of("yum", PERSON, "greedy"), answers, tmp_path / "kept")
    assert "mine.txt exists; choose another name." in said
    assert "folder exists; choose another name." in said
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert saved.load((tmp_path / "a" / "b.txt").read_text("utf-8"), seat_of).number == 2
    assert not (tmp_path / "kept").exists()  # nothing is left that is in no file


def test_save__that_fails_says_why_and_the_game_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    session = session_of("yum", PERSON, "greedy")
    answers = ["keep none", f"save {tmp_path / 'file' / 'game.txt'}", "best", "quit", "y"]
    said = flat(play(monkeypatch, session, answers, tmp_path))
    assert "cannot be written: " in said
    assert session.number == 2


def test_help__explains_the_signs_that_the_board_shows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    said = play(monkeypatch, session_of("yum", PERSON, "greedy"), ["?", "help", "quit", "y"], tmp_path)
    assert said.count("On the board: ▸ whose turn it is; · empty.") == 2
    assert max(map(len, said.splitlines())) <= WIDTH


def test_list__has_pages_of_all_choices(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    session = session_of("set_cubed", PERSON, "random")
    answers = ["list", "list 2", "list 99", "quit", "y"]
    said = play(monkeypatch, session, answers, tmp_path)
    view = session.position.view
    assert view is not None
    listed = said.partition(PROMPT)[2]
    numbers = {int(number) for number in re.findall(r"(?:^|  )#(\d+)  ", listed, re.MULTILINE)}
    assert numbers == {choice.action for choice in choices_of(view)}


def test_solved_game__ends_with_luck_and_play_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    session = session_of("yum", PERSON, "greedy")
    said = flat(play(monkeypatch, session, at_random(session, 2), tmp_path))
    assert re.search(r"Luck and play: your dice were worth [+-]\d+\.\d, your choices cost \d+\.\d\.", said)
    assert "player_1's dice were worth" in said
    assert re.search(r"The costliest choice, move \d+: .+\. It cost \d+\.\d; best: ", said)


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ("best", "No choice was worse than the best one by greedy."),
        ("worst", "The costliest choice, move "),
        ("", "Luck and play are told apart in solved games only. With advice, the costliest choice is named."),
    ],
)
def test_game_that_is_not_solved__ends_with_the_costliest_choice(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answers: str, said: str
) -> None:
    session = session_of("showdown_yahtzee", PERSON, "greedy", max_turns=6)
    adviser = make_adviser(session.game, session.options, "greedy")

    def answer() -> str:
        view = session.position.view
        if session.is_over or view is None:
            return ""
        if answers == "worst":
            return f"#{advise(adviser, view).choices[-1].choice.action}"
        return answers or f"#{choices_of(view)[0].action}"

    told = flat(play(monkeypatch, session, answer, tmp_path, adviser if answers else None))
    assert said in told
    if answers == "worst":
        assert re.search(r"It cost \d+\.\d of expected points of this turn, by greedy; best: ", told)


@pytest.mark.parametrize(
    ("scores", "winners", "own", "said"),
    [
        ((12.0,), (0,), 0, "You finished with 12 points."),
        ((12.0, 9.0), (0,), 0, "You won by 3: 12 points against 9."),
        ((12.0, 9.0), (0,), 1, "You lost by 3: 9 points against 12."),
        ((9.0, 9.0), (0, 1), 1, "You share the win: 9 points against 9."),
        ((9.0, 9.0), (1,), 1, "You won after a tie: 9 points against 9."),
        ((9.0, 9.0), (1,), 0, "You lost after a tie: 9 points against 9."),
        ((9.0, 7.0, 8.5), (0,), 2, "You lost by 0.5: 8.5 points against 9."),
        ((9.0, 7.0, 9.0), (0, 2), None, "Won by player_0 and player_2."),
    ],
)
@pytest.mark.parametrize("cut_short", [False, True])
def test_result__is_told_from_the_person_s_seat(
    scores: tuple[float, ...], winners: tuple[int, ...], own: int | None, said: str, cut_short: bool
) -> None:
    session = SimpleNamespace(position=SimpleNamespace(scores=scores), winners=winners, is_cut_short=cut_short)
    cut = "The game was cut short by its limit of turns. " if cut_short else ""
    assert result_in_words(session, own) == cut + said  # type: ignore[arg-type]  # it reads only these


def test_persons__may_play_all_seats(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    session = session_of("yahtzee_jr", PERSON, PERSON)
    said = play(monkeypatch, session, at_random(session, 4), tmp_path)
    assert "The players are persons." in flat(said)
    assert "Turn 1 of player_0, your choice" in said
    assert "Turn 1 of player_1, your choice" in said
    assert "Won by player_" in said


def test_answers__in_a_row_are_all_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is taken from standard input beside the answers, so a game can be piped in."""
    session = session_of("yahtzee_jr", PERSON)
    monkeypatch.setattr(sys, "stdin", io.StringIO("keep none\nkeep none\n"))
    console = Console(file=io.StringIO(), width=WIDTH)
    play_game(session, console, folder=tmp_path)
    assert [move.words for move in session.moves[:2]] == ["keep none", "keep none"]
