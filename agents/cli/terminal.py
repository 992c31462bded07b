"""A game in the terminal: a person in one seat, policies in the others."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from rich.columns import Columns
from rich.console import Console
from rich.text import Text

from fivedice.agents.policies.baselines import OPTIMAL, OfEachGame, is_solved, value_in_words
from fivedice.agents.policies.registry import ROLLOUT, load
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.spec import Game
from fivedice.envs.core.view import Policy, View


class Quit(Exception):
    """The person has left the table."""


@runtime_checkable
class Adviser(Protocol):
    """Knows what each legal action is worth."""

    def action_values(self, view: View) -> NDArray[np.float64]:
        """(N, num_actions) float64 for a view of N decisions."""


class Person:
    """Asks at the terminal for each decision.

    Args:
        console: where.
        adviser: whose values are shown beside the choices, the best choice marked; None for no advice.
    """

    name = "you"

    def __init__(self, console: Console, adviser: Adviser | None = None) -> None:
        self._console = console
        self._adviser = adviser

    def act(self, view: View) -> NDArray[np.int64]:
        """One action for each row, (N,) int64, asked one after the other."""
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
                answer = self._console.input("Your choice, by number or in words (q to leave): ").strip()
            except EOFError:
                raise Quit from None
            if answer.lower() in ("q", "quit"):
                raise Quit
            action = understand(answer, choices, view.masks[row])
            if isinstance(action, int):
                return action
            self._console.print(action, style="yellow", highlight=False, markup=False)


def distinct_choices(view: View, row: int) -> dict[int, str]:
    """Each legal action in words; of actions that come to the same, such as keeping either of two fives, the first."""
    choices: dict[int, str] = {}
    for action in np.flatnonzero(view.masks[row]).tolist():
        name = view.game.name_action(view.states[row], view.options, action)
        if name not in choices.values():
            choices[action] = name
    return choices


def understand(answer: str, choices: dict[int, str], mask: NDArray[np.int8]) -> int | str:
    """The action that an answer means, or one sentence that says why it means none."""
    if answer.isdecimal() and len(answer) < 10:
        action = int(answer)
        if action < len(mask) and mask[action]:
            return action
        return f"{action} is not one of your choices; type a number from the list, such as {next(iter(choices))}."
    said = " ".join(answer.lower().split())
    if not said:
        return "Nothing was typed; type a number from the list."
    exact = [action for action, name in choices.items() if name.lower() == said]
    matching = exact or [action for action, name in choices.items() if said in name.lower()]
    if len(matching) == 1:
        return matching[0]
    if matching:
        return f"{answer!r} could be {' or '.join(choices[action] for action in matching)}; say which."
    return (
        f"{answer!r} is not one of your choices; type a number or words from the list, such as {next(iter(choices))}."
    )


def find_adviser(game: Game, num_players: int | None, options: dict[str, Any], name: str | None) -> Adviser:
    """Who says what choices are worth: the policy of this name, or exact play if it is solved, or else a rollout.

    Raises:
        ValueError: the policy of this name knows no values, or not at this table.
    """
    record = game.make_options(num_players, options)
    if name is None:
        name = OPTIMAL.name if is_solved(game, record) else ROLLOUT
    adviser = load(name)
    if adviser is OPTIMAL:
        value_in_words(game, record)  # refuses a game that is not solved
    if isinstance(adviser, OfEachGame):
        adviser = adviser.of(game)
    if not isinstance(adviser, Adviser):
        raise ValueError(
            f"{name!r} does not tell what choices are worth in {game.title}; use 'optimal' or a rollout as adviser"
        )
    check = getattr(adviser, "check", None)
    if check is not None:
        check(game, record)
    return adviser


def play_game(
    game: Game,
    rivals: Sequence[Policy],
    console: Console,
    *,
    num_players: int | None = None,
    seat: int = 0,
    seed: int | None = None,
    adviser: Adviser | None = None,
    options: dict[str, Any] | None = None,
) -> None:
    """Play one game to its end, or until the person leaves.

    Args:
        game: what is played.
        rivals: one policy for all other seats, or one for each in turn order after the person's.
        console: where.
        num_players, seed, options: as for `Batch`.
        seat: the person's.
        adviser: whose values are shown beside the choices; None for no advice.
    """
    batch = Batch(game, 1, num_players=num_players, **(options or {}))
    players = batch.num_players
    if not 0 <= seat < players:
        raise ValueError(f"seat={seat} is not at this table; use 0 to {players - 1}")
    if len(rivals) not in (1, players - 1) and players > 1:
        others = "1 other seat" if players == 2 else f"{players - 1} other seats"
        raise ValueError(f"--opponents names {len(rivals)} policies for {others}; give one for each, or one")
    person = Person(console, adviser)
    policies: list[Policy] = [person] * players
    for turn in range(1, players):
        policies[(seat + turn) % players] = rivals[(turn - 1) % len(rivals)]
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
        console.print("You have left the table.")
        return
    console.print(Text(game.render(batch.states[0], batch.options)))
    _, won = batch.results(batch.all_rows)
    console.print("You won!" if won[0, seat] else "You did not win this time.", style="bold")
