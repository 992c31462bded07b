"""A game in the terminal: a person in one seat, policies in the others."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.columns import Columns
from rich.console import Console
from rich.text import Text

from fivedice.agents.play.advice import find_adviser
from fivedice.agents.play.choices import distinct_choices
from fivedice.agents.play.seats import seats_around
from fivedice.agents.play.session import Seat
from fivedice.agents.policies.protocols import HasActionValues, Policy
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.spec import Game
from fivedice.envs.core.view import View

__all__ = ["Person", "Quit", "distinct_choices", "find_adviser", "play_game", "understand"]

HELP = """\
Type the number of a choice ({}), its words ({}), or a part of the words that no other choice has.
If several choices have the same effect, such as keeping either of two equal dice, the list shows only one of them.
Type q to quit."""


class Quit(Exception):
    """The person wants to stop playing."""


class Person:
    """A policy that asks a person at the terminal for each decision.

    Args:
        console: the terminal.
        adviser: a policy whose action values are shown beside the choices, with the best choice marked; None for no
            advice.
    """

    name = "you"

    def __init__(self, console: Console, adviser: HasActionValues | None = None) -> None:
        self._console = console
        self._adviser = adviser

    def act(self, view: View) -> NDArray[np.int64]:
        """A legal action for each decision, (N,) int64, asked for one after the other.

        Raises:
            Quit: the person wants to stop, or the input has ended.
        """
        return np.array([self._ask(view, row) for row in range(len(view))], np.int64)

    def _ask(self, view: View, row: int) -> int:
        self._console.print(Text(view.game.render(view.states[row], view.options)))
        choices = distinct_choices(view, row)
        names = [f"{action:>3}  {name}" for action, name in choices.items()]
        if self._adviser is not None:
            values = self._adviser.action_values(view)[row]
            best = max(values[action] for action in choices)
            marks = [f"{values[action]:.2f}{'  best' if values[action] == best else ''}" for action in choices]
            names = [f"{name}  ({mark})" for name, mark in zip(names, marks, strict=True)]
        self._console.print(Columns(names, equal=True, column_first=True, padding=(0, 3)))
        while True:
            try:
                answer = self._console.input("Your choice, by number or in words (? for help, q to quit): ").strip()
            except EOFError:
                raise Quit from None
            if answer.lower() in ("q", "quit"):
                raise Quit
            if answer in ("?", "help"):
                first = next(iter(choices))
                self._console.print(HELP.format(first, choices[first]), highlight=False, markup=False)
                continue
            action = understand(answer, choices, view.masks[row])
            if isinstance(action, int):
                return action
            self._console.print(action, style="yellow", highlight=False, markup=False)


def understand(answer: str, choices: dict[int, str], mask: NDArray[np.int8]) -> int | str:
    """The action that an answer means, or an error message of one sentence."""
    first = next(iter(choices))
    if answer.isdecimal() and len(answer) < 10:
        action = int(answer)
        if action < len(mask) and mask[action]:
            return action
        return f"{action} is not a choice; type a number from the list ({first})."
    said = " ".join(answer.lower().split())
    if not said:
        return f"You typed nothing; type a number from the list ({first})."
    exact = [action for action, name in choices.items() if name.lower() == said]
    matching = exact or [action for action, name in choices.items() if said in name.lower()]
    if len(matching) == 1:
        return matching[0]
    if matching:
        return f"{answer!r} could mean {' or '.join(choices[action] for action in matching)}; type more of the words."
    return f"{answer!r} is not a choice; type a number from the list ({first}) or its words ({choices[first]})."


def play_game(
    game: Game,
    opponents: Sequence[Policy],
    console: Console,
    *,
    num_players: int | None = None,
    seat: int = 0,
    seed: int | None = None,
    adviser: HasActionValues | None = None,
    options: dict[str, Any] | None = None,
) -> None:
    """Play one game to its end, or until the person quits.

    Args:
        game: the game.
        opponents: one policy for all other seats, or one for each in turn order after the person's seat.
        console: the terminal.
        num_players, seed, options: as for `Batch`.
        seat: the person's seat.
        adviser: a policy whose action values are shown beside the choices; None for no advice.

    Raises:
        ValueError: the seat does not exist, or the number of opponents is wrong.
    """
    batch = Batch(game, 1, num_players=num_players, **(options or {}))
    players = batch.num_players
    others = [Seat(policy.name, policy) for policy in opponents]
    person = Person(console, adviser)
    policies = [one.policy or person for one in seats_around(game, players, seat, others)]
    batch.reset(seed)
    console.print(f"You are player_{seat}.", highlight=False)
    try:
        while not batch.over[0]:
            mover = int(batch.movers[0])
            action = policies[mover].act(batch.view())
            if policies[mover] is not person:
                said = game.name_action(batch.states[0], batch.options, int(action[0]))
                console.print(f"player_{mover} ({policies[mover].name}): {said}", style="dim", highlight=False)
            batch.step(action, restart=False)
    except Quit:
        console.print("You have quit the game.")
        return
    console.print(Text(game.render(batch.states[0], batch.options)))
    _, won = batch.results(batch.all_rows)
    console.print("You won!" if won[0, seat] else "You did not win.", style="bold")
