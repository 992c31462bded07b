"""Advice: the value of each choice of one decision, with its unit, and with its standard error where it is simulated.

An adviser is a policy that knows the values or the probabilities of actions. Exact and greedy values take no time that
a person notices. Values of a rollout take seconds, so a rollout advises in a thread (`AdviceTask`), which shows how far
it is and can be cancelled.
"""

import threading
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.play.choices import Choice, choices_of
from fivedice.agents.policies.baselines import OPTIMAL, PLANNER, baseline_names, is_solved, policy_for, value_in_words
from fivedice.agents.policies.by_game import exact_solution
from fivedice.agents.policies.checkpoint import CheckpointPolicy
from fivedice.agents.policies.protocols import ChecksGame, HasActionValues, Policy
from fivedice.agents.policies.registry import ROLLOUT, load
from fivedice.agents.policies.rollout import WIN, RolloutPolicy
from fivedice.envs.core.spec import Game, Options
from fivedice.envs.core.view import View

Unit: TypeAlias = Literal["points", "win", "lead", "turn", "plan", "probability"]
UNITS: dict[Unit, str] = {
    "points": "expected final points",
    "win": "chance to win",
    "lead": "expected final lead in points",
    "turn": "expected points of this turn",
    "plan": "points of this turn and what it leaves",
    "probability": "probability that the adviser plays it",
}
SHARES = ("win", "probability")  # units that are shown in percent
EQUAL = 1e-9  # values closer than this differ by rounding alone
PART = 512  # simulated games between two looks at the progress, about


@dataclass(frozen=True)
class Adviser:
    """A policy that advises, and the unit of its values.

    Args:
        name: its name.
        policy: the policy.
        unit: the unit.
    """

    name: str
    policy: HasActionValues | CheckpointPolicy
    unit: Unit

    @property
    def is_slow(self) -> bool:
        """Whether the values are simulated, which takes seconds."""
        return isinstance(self.policy, RolloutPolicy)


@dataclass(frozen=True)
class Advised:
    """A choice and its value.

    Args:
        choice: the choice.
        value: its value in the adviser's unit.
        error: the standard error of `value`; 0 if it is exact.
        behind: how much the value is below the best one, at least 0.
        behind_error: the standard error of `behind`. It is often smaller than `error`, because all choices are
            simulated with the same dice.
    """

    choice: Choice
    value: float
    error: float
    behind: float
    behind_error: float

    @property
    def is_best(self) -> bool:
        """Whether no choice has a higher value."""
        return self.behind <= EQUAL

    @property
    def may_be_best(self) -> bool:
        """Whether the value is so near to the best one that the difference may be noise."""
        return self.behind <= max(EQUAL, 2 * self.behind_error)


@dataclass(frozen=True)
class Advice:
    """The values of all choices of one decision.

    Args:
        adviser: who advises.
        choices: all choices, the best first; among equals in the order of their actions.
        games: how many simulated games of each choice there are; 0 if the values are exact.
    """

    adviser: Adviser
    choices: tuple[Advised, ...]
    games: int

    @property
    def best(self) -> Advised:
        """The best choice."""
        return self.choices[0]

    def of(self, action: int) -> Advised:
        """The choice with a legal action.

        Raises:
            ValueError: the action is not legal.
        """
        for advised in self.choices:
            if action in advised.choice.actions:
                return advised
        raise ValueError(f"action {action} is not one of the choices")


def find_adviser(game: Game, num_players: int | None, options: dict[str, Any], name: str | None) -> HasActionValues:
    """The policy that advises: that of this name; without a name, optimal play if the game is solved, else the
    planner if the game has one, else a rollout of greedy or, without a greedy policy, of random play.

    Raises:
        ValueError: the policy of this name has no action values, or cannot play this game or these options.
    """
    record = game.make_options(num_players, options)
    if name is None:
        rollout = f"{ROLLOUT}:{baseline_names(game)[0]}"
        name = OPTIMAL.name if is_solved(game, record) else PLANNER.name if PLANNER.plays(game) else rollout
    policy = load(name)
    if policy is OPTIMAL:
        value_in_words(game, record)  # raises a ValueError if the game is not solved
    adviser = policy_for(policy, game)
    if not isinstance(adviser, HasActionValues):
        raise ValueError(f"{name!r} has no action values in {game.title}; use 'optimal' or a rollout as adviser")
    if isinstance(adviser, ChecksGame):
        adviser.check(game, record)
    return adviser


def make_adviser(game: Game, options: Options, name: str | None = None) -> Adviser:
    """The adviser of this name, with its unit; a checkpoint advises with its probabilities.

    Raises:
        ValueError: as for `find_adviser`.
    """
    num_players, chosen = int(options["num_players"]), game.options_dict(options)
    policy: Policy | None = None if name is None else load(name)
    if isinstance(policy, CheckpointPolicy):
        policy.check(game, options)
        return Adviser(policy.name, policy, "probability")
    adviser = find_adviser(game, num_players, chosen, name)
    if isinstance(adviser, RolloutPolicy):
        alone: Unit = "points" if num_players == 1 else "lead"
        return Adviser(adviser.name, adviser, "win" if adviser.aim == WIN and num_players > 1 else alone)
    solution = exact_solution(game)
    if solution is not None and isinstance(adviser, Policy) and adviser is solution.OPTIMAL:
        return Adviser(OPTIMAL.name, adviser, solution.unit(options))
    if isinstance(adviser, Policy) and PLANNER.plays(game) and adviser is policy_for(PLANNER, game):
        return Adviser(PLANNER.name, adviser, "plan")
    return Adviser(name or "adviser", adviser, "turn")


def exact_adviser(game: Game, options: Options) -> Adviser | None:
    """Optimal play as the adviser, or None if the game is not solved with these options."""
    return make_adviser(game, options, OPTIMAL.name) if is_solved(game, options) else None


def advise(adviser: Adviser, view: View) -> Advice:
    """The values of all choices of a view of one decision. A rollout takes seconds; see `AdviceTask`."""
    if isinstance(adviser.policy, CheckpointPolicy):
        return _advice(adviser, view, adviser.policy.network_probabilities(view)[0])
    return _advice(adviser, view, adviser.policy.action_values(view)[0])


def _advice(adviser: Adviser, view: View, values: NDArray[np.float64]) -> Advice:
    """The advice of an adviser whose values (num_actions,) are exact."""
    choices = choices_of(view)
    if adviser.unit == "probability":  # of equivalent actions, the policy may prefer any
        worth = [float(sum(values[action] for action in choice.actions)) for choice in choices]
    else:
        worth = [float(values[choice.action]) for choice in choices]
    most = max(worth)
    found = [
        Advised(choice, value, 0.0, max(0.0, most - value), 0.0) for choice, value in zip(choices, worth, strict=True)
    ]
    return Advice(adviser, tuple(sorted(found, key=lambda advised: advised.behind)), 0)


def _simulated(adviser: Adviser, view: View, results: NDArray[np.float64]) -> Advice:
    """The advice of a rollout with these results (L, games) of the legal actions."""
    games = results.shape[1]
    place = {action: i for i, action in enumerate(np.flatnonzero(view.masks[0]).tolist())}
    choices = choices_of(view)
    rows = results[[place[choice.action] for choice in choices]]
    means = rows.mean(axis=1)
    behind = rows[int(means.argmax())] - rows
    unsure = 1 / np.sqrt(games) if games > 1 else np.inf
    errors = rows.std(axis=1, ddof=1) * unsure if games > 1 else np.full(len(rows), np.inf)
    behind_errors = behind.std(axis=1, ddof=1) * unsure if games > 1 else np.full(len(rows), np.inf)
    found = [
        Advised(choice, *map(float, figures))
        for choice, *figures in zip(
            choices, means, errors, np.maximum(0.0, behind.mean(axis=1)), behind_errors, strict=True
        )
    ]
    return Advice(adviser, tuple(sorted(found, key=lambda advised: advised.behind)), games)


@dataclass
class AdviceTask:
    """Advice that a thread computes.

    Args:
        adviser: who advises.
        view: one decision.

    Attributes:
        advice: the advice so far, of a rollout after some simulated games; None before the first part.
        is_done: whether `advice` is complete.
        error: why there is no advice, as a sentence; empty if all is well.
    """

    adviser: Adviser
    view: View
    advice: Advice | None = None
    is_done: bool = False
    error: str = ""
    _cancelled: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> "AdviceTask":
        """Begin to compute in a thread, which ends with the process."""
        self._thread = threading.Thread(target=self.run, name="fivedice advice", daemon=True)
        self._thread.start()
        return self

    def wait(self, timeout: float | None = None) -> None:
        """Wait until the thread has ended, at most `timeout` seconds."""
        if self._thread is not None:
            self._thread.join(timeout)

    def cancel(self) -> None:
        """End the thread after the part that it is at. `advice` stays as it is."""
        self._cancelled.set()

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled.is_set()

    @property
    def is_running(self) -> bool:
        """Whether the thread works."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def progress(self) -> float:
        """The share of the simulated games that are played, 0 to 1."""
        if self.is_done:
            return 1.0
        policy = self.adviser.policy
        if self.advice is None or not isinstance(policy, RolloutPolicy):
            return 0.0
        return self.advice.games / policy.games

    def run(self) -> None:
        """Compute the advice in the thread of the caller."""
        policy = self.adviser.policy
        try:
            if isinstance(policy, RolloutPolicy):
                self._simulate(policy)
            else:
                self.advice = advise(self.adviser, self.view)
        except ValueError as error:
            self.error = str(error)
        self.is_done = not self.error and not self.is_cancelled

    def _simulate(self, policy: RolloutPolicy) -> None:
        results = np.zeros((int(self.view.masks.sum()), 0))
        part = max(1, PART // len(results))
        while results.shape[1] < policy.games and not self.is_cancelled:
            played = results.shape[1]
            more = policy.simulate(self.view, played, min(part, policy.games - played))
            results = np.hstack([results, more])
            self.advice = _simulated(self.adviser, self.view, results)


def figure(unit: Unit, value: float, *, signed: bool = False) -> str:
    """A value in words: ``"187.3"``, ``"+4.1"`` or ``"53.2 %"``."""
    if unit in SHARES:
        return f"{100 * value:{'+' if signed else ''}.1f} %"
    return f"{value:{'+' if signed or unit == 'lead' else ''}.1f}"
