"""One game of the server: a session, its advice, and what its moves gave away. Several threads may use it."""

import threading
from typing import Any

from fivedice.agents.play.account import Account, account, losses
from fivedice.agents.play.advice import UNITS, Advice, AdviceTask, Adviser, Unit, exact_adviser, figure, make_adviser
from fivedice.agents.play.choices import choices_of
from fivedice.agents.play.session import PERSON, PlaySession, Position, Refused
from fivedice.envs.core.marks import NO_MARKS
from fivedice.envs.core.option import written
from fivedice.envs.display.drawing import draw, mark_last

MOST_LOSSES = 8  # in the account of a game


class Table:
    """A session, as the page shows it: every method returns what JSON can hold.

    Args:
        session: the session.
    """

    def __init__(self, session: PlaySession) -> None:
        self.session = session
        self._lock = threading.Lock()
        self._tasks: dict[tuple[int, str], AdviceTask] = {}
        self._advisers: dict[str, Adviser] = {}
        self._given_up: dict[int, dict[str, Any]] = {}  # by advice, which need not be exact

    def game(self) -> dict[str, Any]:
        """The game and all its moves, without a position."""
        session = self.session
        with self._lock:
            return {
                "game": session.game.name,
                "title": session.game.title,
                "seats": [seat.name for seat in session.seats],
                "options": {name: written(v) for name, v in session.game.options_dict(session.options).items()},
                "seed": session.seed,
                "moves": [self._move(number) for number in range(len(session.moves) + 1)],
                **self._status(),
            }

    def position(self, number: int | None = None) -> dict[str, Any]:
        """The position after some moves; the last one also with what may be chosen.

        Raises:
            Refused: the game has no such position.
        """
        session = self.session
        with self._lock:
            if number is not None and not 0 <= number <= session.number:
                raise Refused(f"there is no move {number}; the game has {session.number} moves")
            return self._position(session.positions[session.number if number is None else number])

    def play(self, action: int, number: int) -> dict[str, Any]:
        """Make a person's move; see `PlaySession.play`."""
        with self._lock:
            given_up = self._loss_by_advice(action)
            self.session.play(action, number)
            if given_up is not None:
                self._given_up[self.session.number] = given_up
            return self._after()

    def play_policy(self, number: int) -> dict[str, Any]:
        """Let a policy make one move; see `PlaySession.play_policy`. Others may ask while a slow policy thinks."""
        action = self.session.choose(number)
        with self._lock:
            self.session.play_policy(number, action)
            return self._after()

    def undo(self, number: int, to: int | None) -> dict[str, Any]:
        """Take moves back; see `PlaySession.undo`.

        Raises:
            Refused: also if the game is not at move `number`.
        """
        with self._lock:
            if number != self.session.number:
                raise Refused(f"this request answers move {number}, but the game is at move {self.session.number}")
            first = self.session.number
            self.session.undo(to)
            for task in self._tasks.values():
                task.cancel()
            self._tasks = {key: task for key, task in self._tasks.items() if key[0] <= self.session.number}
            self._given_up = {n: loss for n, loss in self._given_up.items() if n <= self.session.number}
            return {**self._after(), "taken_back": first - self.session.number}

    def advice(self, number: int, name: str) -> dict[str, Any]:
        """The advice of an adviser so far. The first call starts it.

        Args:
            number: the number of moves before the decision.
            name: the adviser, as `make_adviser` takes it; empty for the best there is.

        Raises:
            Refused: the game has no such decision.
            ValueError: the adviser cannot advise here.
        """
        adviser = self._adviser(name)
        with self._lock:
            if not 0 <= number <= self.session.number or self.session.positions[number].view is None:
                raise Refused(f"there is no decision after move {number}")
            view = self.session.positions[number].view
            assert view is not None
            task = self._tasks.get((number, name))
            if task is None or task.is_cancelled:
                for other in self._tasks.values():
                    if not other.is_done:
                        other.cancel()  # one adviser at a time, so that they do not slow each other down
                task = self._tasks[number, name] = AdviceTask(adviser, view).start()
        if not adviser.is_slow:
            task.wait(0.05)
        if task.error:
            raise ValueError(task.error)
        return {
            "number": number,
            "done": task.is_done,
            "progress": task.progress,
            **advice_as_json(adviser, task.advice),
        }

    def cancel(self) -> dict[str, Any]:
        """Stop every adviser that is not done yet."""
        with self._lock:
            for task in self._tasks.values():
                if not task.is_done:
                    task.cancel()
            return {}

    def loss(self, number: int) -> dict[str, Any]:
        """What the move with this number gave away, if it is known: exactly, or by advice that was given before it.

        Raises:
            Refused: there is no such move.
        """
        with self._lock:
            if not 1 <= number <= self.session.number:
                raise Refused(f"there is no move {number}; the game has {self.session.number} moves")
            move = self.session.moves[number - 1]
            known = self._given_up.get(number)
        exact = exact_adviser(self.session.game, self.session.options)
        if exact is not None:
            found = losses(self.session, [move])
            assert found is not None
            return loss_as_json(exact.unit, found[0].lost, 0.0, found[0].best)
        return known if known is not None else {"known": False}

    def result(self) -> dict[str, Any]:
        """Who won, and where the points went.

        Raises:
            Refused: the game is not over.
        """
        session = self.session
        if not session.is_over:
            raise Refused("the game is not over")
        return {
            "scores": list(session.position.scores),
            "winners": list(session.winners),
            "cut_short": session.is_cut_short,
            "points": [list(position.scores) for position in session.positions],
            "gains": gains(session),
            "solved": exact_adviser(session.game, session.options) is not None,
        }

    def account(self) -> dict[str, Any]:
        """Luck and play apart, where the game is solved. The first call may have to solve the game, which takes time.

        Raises:
            Refused: the game is not over, or it is not solved.
        """
        if not self.session.is_over:
            raise Refused("the game is not over")
        found = account(self.session)
        if found is None:
            raise Refused("the game is not solved, so luck and play cannot be told apart")
        return account_as_json(found)

    def _adviser(self, name: str) -> Adviser:
        if name not in self._advisers:
            self._advisers[name] = make_adviser(self.session.game, self.session.options, name or None)
        return self._advisers[name]

    def _after(self) -> dict[str, Any]:
        """What a page needs after a move: the new lines and the position."""
        return {
            "move": self._move(self.session.number),
            **self._status(),
            "position": self._position(self.session.position),
        }

    def _status(self) -> dict[str, Any]:
        session = self.session
        waits = "person" if session.waits_for_person else "policy" if session.waits_for_policy else "nobody"
        return {
            "number": session.number,
            "mover": session.position.mover,
            "waits": waits,
            "scores": list(session.position.scores),
            "winners": list(session.winners),
            "can_undo": any(session.seats[move.seat].name == PERSON for move in session.moves),
        }

    def _move(self, number: int) -> dict[str, Any]:
        session = self.session
        if number == 0:
            return {"number": 0, "seat": None, "words": "The game begins", "lines": list(session.lines(0))}
        move = session.moves[number - 1]
        throws = [{"seat": throw.seat, "faces": list(throw.faces)} for throw in move.throws]
        return {
            "number": number,
            "seat": move.seat,
            "words": move.words,
            "lines": list(session.lines(number)),
            "throws": throws,
        }

    def _position(self, position: Position) -> dict[str, Any]:
        session = self.session
        game, options, marks = session.game, session.options, NO_MARKS
        if position.number:
            before = session.positions[position.number - 1].state[0]
            marks = mark_last(game, before, options, session.moves[position.number - 1].action)
        choices: list[dict[str, Any]] = []
        if position.view is not None and position is session.position and session.waits_for_person:
            for choice in choices_of(position.view):
                keeps = game.action_regions is not None and choice.words.split()[0] == "keep"
                regions = [
                    list(game.action_regions(position.state[0], options, action)) if game.action_regions else []
                    for action in choice.actions
                ]
                choices.append(
                    {"action": choice.action, "words": choice.words, "keeps": keeps, "regions": regions}
                    | ({"actions": list(choice.actions)} if len(choice.actions) > 1 else {})
                )
        return {
            "number": position.number,
            "mover": position.mover,
            "scores": list(position.scores),
            "svg": draw(game, position.state[0], options, marks).svg,
            "text": game.render(position.state[0], options),
            "choices": choices,
        }

    def _loss_by_advice(self, action: int) -> dict[str, Any] | None:
        """What an action gives away by the advice that was given for this decision; None without such advice."""
        for (number, _), task in self._tasks.items():
            advice = task.advice
            if number == self.session.number and advice is not None and task.is_done:
                for advised in advice.choices:
                    if action in advised.choice.actions:
                        unit, error = advice.adviser.unit, advised.behind_error
                        return loss_as_json(unit, advised.behind, error, advice.best.choice.words)
        return None


def loss_as_json(unit: Unit, lost: float, error: float, best: str) -> dict[str, Any]:
    """What a move gave away, and the best choice."""
    text = figure(unit, lost) + (f" ± {figure(unit, 2 * error)}" if error else "")
    return {"known": True, "lost": lost, "text": text, "unit": UNITS[unit], "best": best, "noise": lost <= 2 * error}


def advice_as_json(adviser: Adviser, advice: Advice | None) -> dict[str, Any]:
    """The choices with their values, the best first."""
    choices = () if advice is None else advice.choices
    return {
        "adviser": adviser.name,
        "unit": UNITS[adviser.unit],
        "simulated": adviser.is_slow,
        "games": 0 if advice is None else advice.games,
        "choices": [
            {
                "action": advised.choice.action,
                "words": advised.choice.words,
                "value": advised.value,
                "text": figure(adviser.unit, advised.value),
                "error": figure(adviser.unit, 2 * advised.error) if 0 < advised.error < float("inf") else "",
                "best": advised.is_best,
                "near": advised.may_be_best,
            }
            for advised in choices
        ],
    }


def account_as_json(found: Account) -> dict[str, Any]:
    """Luck and play of each seat, and the most expensive moves."""

    def text(value: float) -> str:
        return figure(found.unit, value)

    def change(value: float) -> str:
        return figure(found.unit, value, signed=True)

    return {
        "unit": UNITS[found.unit],
        "seats": [
            {
                "start": text(seat.start),
                "luck": change(seat.luck),
                "lost": text(seat.lost),
                "gained": text(seat.gained) if found.unit == "win" else "",
                "result": text(seat.result),
            }
            for seat in found.seats
        ],
        "losses": [
            {
                "number": loss.move.number,
                "seat": loss.move.seat,
                "words": loss.move.words,
                "lost": text(loss.lost),
                "best": loss.best,
            }
            for loss in found.losses[:MOST_LOSSES]
        ],
    }


def gains(session: PlaySession) -> list[dict[str, Any]]:
    """The moves that changed the points of a seat, in their order."""
    found = []
    for move, before, after in zip(session.moves, session.positions, session.positions[1:], strict=False):
        changes = [new - old for old, new in zip(before.scores, after.scores, strict=True)]
        if any(changes):
            found.append({"number": move.number, "seat": move.seat, "words": move.words, "changes": changes})
    return found
