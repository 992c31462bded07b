"""A game in the terminal: a person in one seat, policies in the others."""

import importlib
import sys
from contextlib import suppress
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from fivedice.agents.cli.answers import understand
from fivedice.agents.cli.ending import look_back, result_in_words
from fivedice.agents.cli.telling import (
    SIGNS,
    board,
    command_of,
    joined,
    move_lines,
    name_of,
    opening_lines,
    turn_of,
    with_you,
)
from fivedice.agents.cli.waiting import COMPILING, waiting
from fivedice.agents.play import saved
from fivedice.agents.play.advice import UNITS, Advice, AdviceTask, Adviser, figure, make_adviser
from fivedice.agents.play.choices import Choice, choices_of
from fivedice.agents.play.session import Move, PlaySession, Refused
from fivedice.agents.policies.baselines import GREEDY
from fivedice.envs.core.view import View

LINES, WIDTH = 24, 80  # of the smallest terminal that shows the board, the choices and the prompt at once
SHOWN = 5  # choices that are shown; `list` shows all
INTERVAL = 1.96  # standard errors in a 95 % interval
HELP = """\
Type a choice in words, in part or in full, or its letter: 'keep 5 4', 'fours'.
A number means the dice that show it, else a space, else an action: '4' keeps
the fours, and '#4' is always action 4.
list       all choices                    best    take the best choice
advice     show what choices are worth    undo    take your last choice back
board      show the board again           moves   what happened so far
save FILE  write the game into a file     quit    leave; the game is saved
Ctrl-C stops advice that takes long, and otherwise asks whether to leave."""


class Left(Exception):
    """The person leaves the game."""


class Terminal:
    """Plays a game with a person at a terminal.

    Args:
        session: the game. Persons may play several seats.
        console: the terminal.
        adviser: who advises before each choice; None for no advice until the person asks for it.
        folder: where a game that is left is saved.
    """

    def __init__(
        self,
        session: PlaySession,
        console: Console,
        adviser: Adviser | None = None,
        folder: Path = Path("saved-games"),
    ) -> None:
        self.session, self._console, self._adviser, self._folder = session, console, adviser, folder
        self._advises = adviser is not None
        self._told: list[tuple[int, str]] = []
        self._given: dict[int, Advice] = {}  # advice that was shown, by the number of moves before it
        self._file: Path | None = None
        self._saved_at = session.number
        persons = [seat for seat, one in enumerate(session.seats) if one.policy is None]
        self._own = persons[0] if len(persons) == 1 else None

    def play(self) -> None:
        """Play to the end, or until the person leaves. Whatever happens, a game that was begun is not lost."""
        self._greet()
        try:
            while True:
                while not self.session.is_over:
                    self._go_on()
                self._end()
                if not self._after_the_end():
                    return
        except Left:
            self._keep()
            self._say("You have quit the game.")
        except BaseException:
            self._keep()
            raise

    # What is shown

    def _say(self, text: str, style: str = "") -> None:
        self._console.print(Text(text, style=style))

    def _greet(self) -> None:
        session, own = self.session, self._own
        others = [name_of(session, seat, own) for seat in range(len(session.seats)) if seat != own]
        who = "You play" if own is not None else "The players are persons"
        against = f" against {', '.join(others)}" if own is not None and others else ""
        seat = f" You are player_{own}, and {own} on the board." if own is not None and others else ""
        self._say(f"{session.game.title}: {who}{against}.{seat} Seed {session.seed}. Type ? for help.")
        if session.number:
            self._say(f"The game goes on after move {session.number}; 'moves' shows what happened so far.")
            for move in session.moves[-len(session.seats) :]:
                self._tell(move)
        else:
            self._told = opening_lines(session, own)

    def _tell(self, move: Move, why: str = "") -> None:
        lines = move_lines(self.session, move, self._own)
        lines[0] = (lines[0][0], lines[0][1] + why)
        self._told += lines

    def _show_told(self) -> None:
        for line in joined(self.session, self._told, self._own):
            self._say(line, "dim")
        self._told = []

    # One decision

    def _go_on(self) -> None:
        session = self.session
        if session.waits_for_policy:
            number, name = session.number, name_of(session, session.position.mover, self._own)
            try:
                with waiting(self._console, f"{name} is thinking" if number else COMPILING):
                    move = session.play_policy(number)
            except KeyboardInterrupt:
                self._ask_to_leave()
                return
            self._tell(move)
            return
        view = session.position.view
        assert view is not None
        choices = choices_of(view)
        if len(choices) == 1:
            self._tell(session.play(choices[0].action), " (the only choice)")
            return
        self._decide(view, choices)

    def _decide(self, view: View, choices: list[Choice]) -> None:
        number = self.session.number
        letters = self._show_decision(view, choices)
        while self.session.number == number:
            answer = self._ask(f"{self._whose()}, your choice (? for help): ")
            word, _, rest = answer.strip().partition(" ")
            command, rest = word.lower(), rest.strip()
            if command in letters and not rest:
                self._move(letters[command])
            elif command in ("?", "help", "h"):
                self._help()
            elif command in ("list", "l") and (not rest or rest.isdecimal()):
                self._list(view, choices, int(rest[:6] or 1))
            elif command in ("best", "advice", "hint") and not rest:
                if command == "best":
                    advice = self._advice(view)
                    if advice is not None:
                        self._move(advice.best.choice.action)
                else:
                    self._advises = not self._advises
                    letters = self._show_decision(view, choices)
            elif command == "board" and not rest:
                letters = self._show_decision(view, choices)
            elif command == "moves" and not rest:
                self._show_moves()
            elif command in ("undo", "u") and not rest:
                if self._undo():
                    return
            elif not self._for_the_file(command, rest):
                action = understand(answer, view)
                if isinstance(action, int):
                    self._move(action)
                else:
                    self._say(action, "yellow")

    def _whose(self) -> str:
        mover = self.session.position.mover
        turn = f"Turn {turn_of(self.session, mover)}"
        return turn if self._own is not None else f"{turn} of player_{mover}"

    def _move(self, action: int) -> None:
        move = self.session.play(action)
        advice, lost = self._given.get(move.number - 1), ""
        if advice is not None and self._advises:
            advised = advice.of(action)
            if not advised.may_be_best:
                cost = figure(advice.adviser.unit, advised.behind).lstrip("+")
                lost = f" (this gives away {cost}; best: {with_you(advice.best.choice.words, self._own)})"
        self._tell(move, lost)

    def _show_decision(self, view: View, choices: list[Choice]) -> dict[str, int]:
        """Show what happened, the board, and some choices by letters."""
        self._show_told()
        advice = self._advice(view) if self._advises else None
        shown = board(self.session, self._own, max(WIDTH, self._console.width))
        for line in shown:
            self._console.print(Text(line), no_wrap=True, overflow="crop")
        height = max(LINES, self._console.height) if self._console.is_terminal else LINES
        picked = self._pick(view, choices, advice)
        entries = [f"{'abcde'[place]}  {words}" for place, (_, words) in enumerate(picked)]
        columns = 2 if max(map(cell_len, entries)) <= WIDTH // 2 - 2 else 1
        fits = max(3, height - len(shown) - 2) * columns
        entries, picked = entries[:fits], picked[:fits]
        more = f" 'list' shows all {len(choices)}." if len(choices) > len(picked) else ""
        if advice is None:
            self._say(f"{'Some choices' if more else 'Your choices'}.{more}", "bold")
        else:
            unit, name = UNITS[advice.adviser.unit], advice.adviser.name
            games = f", {advice.games} games, ± 95 %" if advice.games else ""
            self._say(f"Best first, by {name}: {unit}{games}.{more}", "bold")
        for line in in_columns(entries, columns):
            self._console.print(Text(line), no_wrap=True, overflow="ellipsis")
        return {"abcde"[place]: action for place, (action, _) in enumerate(picked)}

    def _pick(self, view: View, choices: list[Choice], advice: Advice | None) -> list[tuple[int, str]]:
        """The best choices with their values; without advice the most natural ones, in the order of their actions."""
        if advice is not None:
            words = self._advised_words(advice)
            return [(one.choice.action, words[one.choice.action]) for one in advice.choices[:SHOWN]]
        natural = choices[:SHOWN]
        if len(choices) > SHOWN and GREEDY.plays(view.game):
            try:
                greedy = AdviceTask(make_adviser(view.game, view.options, GREEDY.name), view)
                greedy.run()
            except ValueError:  # this greedy policy does not know values
                greedy = None
            if greedy is not None and greedy.advice is not None:
                best = [one.choice for one in greedy.advice.choices[:SHOWN]]
                natural = sorted(best, key=lambda choice: choice.action)
        return [(choice.action, with_you(choice.words, self._own)) for choice in natural]

    def _advised_words(self, advice: Advice) -> dict[int, str]:
        """The words of each choice with its value, by action."""
        unit, found = advice.adviser.unit, {}
        several = sum(one.is_best for one in advice.choices) > 1
        for one in advice.choices:
            noise = f" ± {figure(unit, INTERVAL * one.error).lstrip('+')}" if one.error else ""
            mark = " best" if one is advice.best else " equal" if one.is_best and several else ""
            mark = mark or (" perhaps best" if one.may_be_best else "")
            words = with_you(one.choice.words, self._own)
            found[one.choice.action] = f"{words}  {figure(unit, one.value)}{noise}{mark}"
        return found

    def _list(self, view: View, choices: list[Choice], page: int) -> None:
        advice = self._given.get(self.session.number) if self._advises else None
        if advice is None:
            entries = [f"#{choice.action}  {with_you(choice.words, self._own)}" for choice in choices]
        else:
            words = self._advised_words(advice)
            entries = [f"#{one.choice.action}  {words[one.choice.action]}" for one in advice.choices]
        columns = max(1, WIDTH // (max(map(cell_len, entries)) + 2))
        rows = columns * (LINES - 3)
        pages = -(-len(entries) // rows)
        page = min(max(1, page), pages)
        for line in in_columns(entries[(page - 1) * rows : page * rows], columns):
            self._say(line)
        onwards = f"Page {page} of {pages}; 'list {page + 1}' shows more. " if page < pages else ""
        self._say(f"{onwards}'board' shows the board again.")

    def _help(self) -> None:
        self._say(HELP)
        text = "\n".join(board(self.session, self._own))
        signs = [f"{sign} {meaning}" for sign, meaning in SIGNS.items() if sign in text]
        if signs:
            self._say(f"On the board: {'; '.join(signs)}.")

    # Advice

    def _advice(self, view: View) -> Advice | None:
        """Advice for the decision now. Ctrl-C stops the adviser; what it has found so far counts."""
        session = self.session
        if session.number in self._given:
            return self._given[session.number]
        if self._adviser is None:
            self._adviser = make_adviser(session.game, session.options)
        task = AdviceTask(self._adviser, view).start()
        try:
            with waiting(self._console, f"{self._adviser.name} is working out its advice; Ctrl-C stops it", task):
                while not task.is_done and not task.error and task.is_running:
                    task.wait(0.1)
        except KeyboardInterrupt:
            task.cancel()
            self._say("The adviser is stopped." + ("" if task.advice is None else " This is what it found so far."))
        if task.error:
            self._say(f"There is no advice: {task.error}.", "yellow")
        if task.advice is not None:
            self._given[session.number] = task.advice
        return task.advice

    # Files, undo, leaving

    def _ask(self, prompt: str) -> str:
        """What the person types. The end of the input leaves the game, and Ctrl-C asks."""
        while True:
            try:
                if self._console.is_terminal and sys.stdin.isatty():
                    return input(prompt)  # so that readline knows the prompt
                return self._console.input(prompt, markup=False)
            except EOFError:
                raise Left from None
            except KeyboardInterrupt:
                self._say("")
                self._ask_to_leave()

    def _ask_to_leave(self) -> None:
        try:
            answer = self._console.input("Leave the game? It will be saved. (y/n) ", markup=False)
        except (EOFError, KeyboardInterrupt):
            raise Left from None
        if answer.strip().lower() in ("y", "yes", "q", "quit"):
            raise Left

    def _for_the_file(self, command: str, rest: str) -> bool:
        """Do what `save` and `quit` ask for; whether it was one of them."""
        if command == "save":
            self._save(rest)
        elif command in ("q", "quit", "exit") and not rest:
            self._ask_to_leave()
        else:
            return False
        return True

    def _save(self, name: str) -> None:
        path = Path(name).expanduser() if name else self._unused()
        if path.exists() and path != self._file:
            self._say(f"{path} exists; choose another name.", "yellow")
            return
        try:
            self._write(path)
        except OSError as error:
            self._say(f"{path} cannot be written: {error.strerror or error}; choose another name.", "yellow")

    def _write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.unfinished")
        unfinished.write_text(saved.save(self.session), "utf-8")
        unfinished.replace(path)
        self._file, self._saved_at = path, self.session.number
        self._console.print(Text(f"Saved: {path}"), soft_wrap=True)
        self._console.print(Text(f"Continue by: fivedice play --file {path}"), soft_wrap=True)

    def _unused(self) -> Path:
        """A name in the folder that no file has."""
        stem, number = f"{self.session.game.name}-{self.session.seed}", 1
        path = self._folder / f"{stem}.txt"
        while path.exists():
            number += 1
            path = self._folder / f"{stem}-{number}.txt"
        return path

    def _keep(self) -> None:
        """Save a game with moves of a person that are in no file."""
        own = any(self.session.seats[move.seat].policy is None for move in self.session.moves)
        if own and not self.session.is_over and self.session.number != self._saved_at:
            self._save("")

    def _undo(self) -> bool:
        session = self.session
        decided = [
            move.number - 1
            for move in session.moves
            if session.seats[move.seat].policy is None and self._had_choice(move.number - 1)
        ]
        try:
            if not decided:
                raise Refused("there is no choice of yours to take back")
            taken = session.undo(decided[-1])
        except Refused as refused:
            self._say(f"{refused}."[0].upper() + f"{refused}."[1:], "yellow")
            return False
        self._told = []
        self._given = {number: advice for number, advice in self._given.items() if number <= session.number}
        self._say(f"Taken back: {taken} {'move' if taken == 1 else 'moves'}. The same choice gives the same dice.")
        return True

    def _had_choice(self, number: int) -> bool:
        view = self.session.positions[number].view
        return view is not None and len(choices_of(view)) > 1

    def _show_moves(self) -> None:
        session, own = self.session, self._own
        told = opening_lines(session, own)
        for move in session.moves:
            told += move_lines(session, move, own)
        for line in joined(session, told, own):
            self._say(line)

    # The end

    def _end(self) -> None:
        self._show_told()
        session, own = self.session, self._own
        for line in board(session, own):
            self._console.print(Text(line), no_wrap=True, overflow="crop")
        self._say(result_in_words(session, own), "bold")
        try:
            with waiting(self._console, "Working out what was luck and what was play; Ctrl-C skips it"):
                looked_back = look_back(session, own, self._given)
        except KeyboardInterrupt:
            looked_back = []
        for line in looked_back:
            self._say(line)
        self._console.print(Text(f"The same dice again: {command_of(session)}"), soft_wrap=True)

    def _after_the_end(self) -> bool:
        """Whether the game goes on, because the person took a move back."""
        while True:
            try:
                answer = self._ask("The game is over: undo, moves, save FILE, or Enter to leave: ")
            except Left:
                self._say("")
                return False
            word, _, rest = answer.strip().partition(" ")
            command = word.lower()
            if command in ("", "q", "quit", "exit"):
                return False
            if command in ("undo", "u"):
                if self._undo():
                    return True
            elif command == "moves":
                self._show_moves()
            elif command == "save":
                self._save(rest.strip())
            else:
                self._say(f"{answer.strip()!r} is not possible after the end; type undo, moves, save FILE or Enter.")


def in_columns(entries: list[str], columns: int) -> list[str]:
    """Entries as lines, ordered down the columns."""
    rows = -(-len(entries) // columns)
    width = max(map(cell_len, entries)) + 2
    lines = []
    for row in range(rows):
        cells = entries[row::rows]
        lines.append("".join(cell + " " * (width - cell_len(cell)) for cell in cells).rstrip())
    return lines


def play_game(
    session: PlaySession, console: Console, *, adviser: Adviser | None = None, folder: Path = Path("saved-games")
) -> None:
    """Play one game to its end, or until the person leaves.

    Args:
        session: the game.
        console: the terminal.
        adviser: who advises before each choice; None for no advice until the person asks for it.
        folder: where a game that is left is saved.
    """
    if console.is_terminal:
        with suppress(ImportError):  # Windows has none
            importlib.import_module("readline")  # gives `input` a history and the arrow keys
    Terminal(session, console, adviser, folder).play()
