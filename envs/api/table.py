"""N games of one learner against policies: the base of each API with a single learner.

These APIs are Gymnasium, Gymnasium's vector environments and Stable-Baselines3. A transition runs from one decision of
the learner to its next. Its reward is the sum of all rewards of the learner's seat in between, opponents' turns
included. The first transition of a game also includes the rewards before the learner's first decision. If a game ends
before the learner had a decision, the next one starts. The opponents' policies act on batches of decisions, and change
only between games. An illegal action of the learner raises an error, or it ends the game as a loss.
"""

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.batch import Batch, Rows, find_illegal, one_for_each
from fivedice.envs.core.chance import SEATING
from fivedice.envs.core.reward import check_illegal
from fivedice.envs.core.spec import Game, Options, check_keywords
from fivedice.envs.core.view import ChecksGame, Policy

LEARNER = -1  # marks the learner's seat in `Table.seated`


@runtime_checkable
class Lineup(Protocol):
    """Chooses the opponents of each game from numbered policies."""

    def assign(self, uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
        """Choose the opponents of R games.

        Args:
            uniforms: (R, num_players - 1) float64, independent uniform random numbers in [0, 1), one for each opponent.

        Returns:
            int64 (R, num_players - 1), the numbers of the policies in turn order after the learner's seat.
        """

    def policy(self, number: int) -> Policy:
        """The policy with this number."""


class FixedLineup:
    """The same opponents in every game.

    Args:
        policies: num_players - 1 policies, in turn order after the learner's seat.
    """

    def __init__(self, policies: Sequence[Policy]) -> None:
        self._policies = list(policies)

    def check(self, game: Game, options: Options) -> None:
        """Raise a ValueError if one of the policies cannot play ``game`` with ``options``."""
        for policy in self._policies:
            if isinstance(policy, ChecksGame):
                policy.check(game, options.copy())  # a policy may write into what it is shown

    def assign(self, uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
        """See `Lineup`."""
        return np.tile(np.arange(len(self._policies)), (len(uniforms), 1))

    def policy(self, number: int) -> Policy:
        """See `Lineup`."""
        return self._policies[number]


Opponents: TypeAlias = "str | Path | Policy | Sequence[str | Path | Policy] | Lineup"


def make_lineup(opponents: Opponents, num_players: int, game: Game) -> Lineup:
    """Make the lineup of the opponents of a learner.

    Args:
        opponents: a policy for all other seats, a list with one for each in turn order after the learner's seat, or a
            lineup, which is returned as it is. A policy can be given by its name or the path of its checkpoint.
        num_players: the number of players, the learner included.
        game: the game; the error message suggests a number of players that it allows.

    Raises:
        ValueError: the list does not have one entry for each other seat, or an entry is not a policy.
    """
    if isinstance(opponents, Lineup):
        return opponents
    if isinstance(opponents, str) or not isinstance(opponents, Sequence):
        opponent = load_policy(opponents)
        opponents = [opponent] * (num_players - 1)
    if len(opponents) != num_players - 1:
        raise ValueError(_explain_count(len(opponents), num_players, game))
    return FixedLineup([load_policy(opponent) for opponent in opponents])


def _explain_count(named: int, num_players: int, game: Game) -> str:
    """The error message for a list with a wrong number of opponents."""
    opponents = "1 opponent" if named == 1 else f"{named} opponents"
    others = {1: "is no other seat", 2: "is only 1 other seat"}.get(num_players, f"are {num_players - 1} other seats")
    advice = {1: "use opponents=[]", 2: "name one"}.get(num_players, "name one for each, or one for all without a list")
    more = f", or use num_players={named + 1}" if game.min_players <= named + 1 <= game.max_players else ""
    return f"You named {opponents}, but there {others}; {advice}{more}"


def load_policy(policy: str | Path | Policy) -> Policy:
    """Return a policy. Load it if it is given by its name or by the path of its checkpoint.

    Raises:
        ValueError: ``policy`` is not a policy, there is none with this name, or its file cannot be used.
    """
    if isinstance(policy, (str, Path)):
        # The environments do not depend on the package of the policies, so import it only if a name is given.
        policy = importlib.import_module("fivedice.agents.policies.registry").load(policy)
    if not isinstance(policy, Policy):
        raise ValueError(
            f"{policy!r} is not a policy; use a name, a checkpoint's path, or an object with a name and act(view)"
        )
    return policy


class Outcome(NamedTuple):
    """The results of R finished games for the learner.

    A game that an illegal action ended is lost, whatever the points say.

    Attributes:
        observations: (R, size) float32, the last observation of the learner's seat.
        scores: (R,) float64, the learner's points.
        ranks: (R,) int64, 1 for a win, alone or shared; otherwise 1 plus the number of players that are ahead. After
            an illegal action the last place, num_players.
        wins: (R,) float64, 1 for a win, 1/k for a win shared by k players, 0 for a loss or after an illegal action.
    """

    observations: NDArray[np.float32]
    scores: NDArray[np.float64]
    ranks: NDArray[np.int64]
    wins: NDArray[np.float64]


class Table:
    """N games of one learner against policies.

    The arrays below are the internal ones. Each step overwrites them, so copy what you want to keep.

    Args:
        game: the game, as `load_game` returns it.
        num_games: the number of games N, at least 1.
        opponents: the policies in the other seats: a policy or its name for all of them, a list with one for each in
            turn order after the learner's seat, or a `Lineup`, which chooses policies for each game. Default:
            ``"random"``.
        seat: the learner's seat, from 0, or ``"random"``: each game draws one. Default: ``"random"``.
        illegal_action: what happens at an illegal action of the learner. ``"raise"``: `step` raises a ValueError and no
            game changes. ``"terminate"``: this game ends. Default: ``"raise"``.
        illegal_reward: with ``illegal_action="terminate"``, the reward of an illegal action. Default: -1.
        num_players, reward, options: as for `Batch`.

    Attributes:
        batch: the games. Its ``observations`` and ``masks`` belong to the learner's decision in each game that is not
            over.
        seats: (N,) int64, the learner's seat.
        seated: (N, num_players) int64, for each seat the number of its policy in the lineup, or LEARNER.
        paid: (N,) float64, the rewards of the learner's last transition.
        owed: (N,) float64, the rewards before the learner's first decision. They are part of its first transition, and
            then 0.
        last_step: with one game, the state before the last action of any seat, and the action; else None.
        illegal: for each row whose game ended in the last step by an illegal action, a sentence that says why the
            action is illegal.

    Raises:
        ValueError: an argument is out of range, the value of an option is unknown, or a policy cannot play the game.
        TypeError: a keyword is unknown.
    """

    def __init__(
        self,
        game: Game,
        num_games: int,
        *,
        opponents: Opponents = "random",
        seat: int | str = "random",
        num_players: int | None = None,
        reward: str | None = None,
        illegal_action: str = "raise",
        illegal_reward: float = -1.0,
        **options: Any,
    ) -> None:
        check_keywords(Table, game, options)
        check_illegal(illegal_action, illegal_reward)
        self.ends_illegal, self.illegal_reward = illegal_action == "terminate", float(illegal_reward)
        self.illegal: dict[int, str] = {}
        self.batch = Batch(game, num_games, num_players=num_players, reward=reward, **options)
        players = self.batch.num_players
        is_number = isinstance(seat, (int, np.integer)) and not isinstance(seat, bool)
        if seat != "random" and not (is_number and 0 <= int(seat) < players):
            raise ValueError(
                f"seat={seat!r} does not exist in a game with {players} players; use 0 to {players - 1} or 'random'"
            )
        self.seat = seat
        self.lineup = make_lineup(opponents, players, game)
        if isinstance(self.lineup, FixedLineup):
            self.lineup.check(game, self.batch.options)
        self.seats = np.zeros(num_games, np.int64)
        self.seated = np.full((num_games, players), LEARNER, np.int64)
        self.paid = np.zeros(num_games)
        self.owed = np.zeros(num_games)
        self.last_step: tuple[Any, int] | None = None

    def reset(self, seed: int | None = None, script: Sequence[int] = (), first_game: int = 0) -> None:
        """Start a new game in every row, and play up to the learner's first decision.

        Args:
            seed, script, first_game: as for `Batch.reset`.

        Raises:
            ValueError: the seed or a face is out of range.
        """
        self.batch.reset(seed, first_game=first_game, script=script)
        self._sit_down(self.batch.all_rows)

    def restart(self, rows: Rows) -> None:
        """Start the next game in some rows, and play up to the learner's first decision.

        Args:
            rows: (R,) distinct integers, the rows.

        Raises:
            RuntimeError: `reset` was not called before.
        """
        self.require_reset("restart")
        self.batch.restart(rows)
        self._sit_down(rows)

    def step(
        self,
        actions: NDArray[np.integer[Any]],
        rows: Rows | None = None,
        explain: Callable[[int, int], str] | None = None,
    ) -> None:
        """Apply an action of the learner in some rows, and play up to its next decision or the end of the game.

        Args:
            actions: (R,) integers, one action for each of ``rows``.
            rows: (R,) distinct integers, games that are not over. Default: all.
            explain: ``explain(row, action)`` returns the sentence about an illegal action that ends a game. Default:
                `Batch.name_illegal`, because a learner without masks needs the sentence in most steps.

        Raises:
            ValueError: an action is illegal, and no game has changed; or an opponent's policy returned no legal
                actions, and the games must be reset.
            RuntimeError: `reset` was not called before.
        """
        self.require_reset("step")
        rows = self.batch.all_rows if rows is None else rows
        self.illegal = {}
        if self.ends_illegal:
            actions, rows = self._end_illegal(actions, rows, explain or self.batch.name_illegal)
        self._step(actions, rows)
        self.paid[rows] = self.owed[rows] + self.batch.rewards[rows, self.seats[rows]]
        self.owed[rows] = 0.0
        self._play_on(rows)

    def _end_illegal(
        self, actions: NDArray[np.integer[Any]], rows: Rows, explain: Callable[[int, int], str]
    ) -> tuple[NDArray[np.int64], Rows]:
        """End the games with an illegal action, and return the other actions and their rows.

        Raises:
            ValueError: a game is already over, or there is not one integer for each of ``rows``. No game has changed.
        """
        batch = self.batch
        chosen = one_for_each(actions, len(rows))
        if find_illegal(rows, chosen, batch.masks) < 0:
            return chosen, rows
        in_range = (chosen >= 0) & (chosen < batch.num_actions)
        legal = in_range & (batch.masks[rows, np.where(in_range, chosen, 0)] != 0)
        illegal, wrong = rows[~legal], chosen[~legal].tolist()
        over = np.flatnonzero(batch.over[illegal])
        if len(over):
            raise ValueError(f"game {illegal[over[0]]}: {batch.explain_illegal(int(illegal[over[0]]), wrong[over[0]])}")
        self.illegal = {row: explain(row, action) for row, action in zip(illegal.tolist(), wrong, strict=True)}
        self.paid[illegal] = self.owed[illegal] + self.illegal_reward
        self.owed[illegal] = 0.0
        batch.rewards[illegal], batch.masks[illegal] = 0.0, 0
        batch.terminated[illegal], batch.truncated[illegal] = True, False
        return chosen[legal], rows[legal]

    def outcome(self, rows: Rows) -> Outcome:
        """The learner's results in the games ``rows`` (R,), which ended in the last step."""
        seats = self.seats[rows]
        points, won = self.batch.results(rows)
        own = np.arange(len(rows)), seats
        better = (points > points[own][:, None]) | (won > won[own][:, None])
        ranks = np.where(won[own], 1, 1 + better.sum(axis=1))
        wins = won[own] / np.maximum(won.sum(axis=1), 1)
        lost = [place for place, row in enumerate(rows.tolist()) if row in self.illegal]
        ranks[lost], wins[lost] = self.batch.num_players, 0.0
        observations = self.batch.observe(rows, seats.astype(np.int8))
        if lost:
            observations[lost] = self.batch.observe_end(rows[lost], seats[lost].astype(np.int8))
        return Outcome(observations, points[own], ranks, wins)

    def margins(self) -> NDArray[np.float64]:
        """The learner's points so far minus the mean of the others' points, float64 (N,).

        With one player, the learner's points.
        """
        points, _ = self.batch.results(self.batch.all_rows)
        own = points[self.batch.all_rows, self.seats]
        margins: NDArray[np.float64] = own - (points.sum(axis=1) - own) / max(1, self.batch.num_players - 1)
        return margins

    def opponents(self, row: int) -> list[str]:
        """The names of the opponents in one row, in turn order after the learner's seat."""
        players, seat = self.batch.num_players, self.seats[row]
        others = [self.seated[row, (seat + turn) % players] for turn in range(1, players)]
        return [self.lineup.policy(int(number)).name for number in others]

    def _sit_down(self, rows: Rows) -> None:
        """Seat the players in ``rows`` and play up to the learner's first decision. Skip games that have none."""
        self._take_seats(rows)
        while (skipped := rows[self.batch.over[rows]]).size:
            self.batch.restart(skipped)
            self._take_seats(skipped)

    def _take_seats(self, rows: Rows) -> None:
        self.last_step = None
        players = self.batch.num_players
        streams = np.full(len(rows), SEATING, np.int64)
        if self.seat == "random":
            self.seats[rows] = (self.batch.uniforms(rows, streams) * players).astype(np.int64)
        else:
            self.seats[rows] = self.seat
        uniforms = (
            np.stack([self.batch.uniforms(rows, streams) for _ in range(players - 1)], axis=1) if players > 1 else None
        )
        self.seated[rows] = LEARNER
        if uniforms is not None:
            others = (self.seats[rows][:, None] + np.arange(1, players)) % players
            self.seated[rows[:, None], others] = self.lineup.assign(uniforms)
        self.paid[rows] = 0.0
        self._play_on(rows)
        self.owed[rows], self.paid[rows] = self.paid[rows], 0.0

    def _play_on(self, rows: Rows) -> None:
        """Play the opponents' turns until the learner is to move, or the game is over, in each of ``rows``."""
        batch = self.batch
        while True:
            rows = rows[~batch.over[rows] & (batch.movers[rows] != self.seats[rows])]
            if not len(rows):
                return
            deciders = self.seated[rows, batch.movers[rows]]
            actions = np.empty(len(rows), np.int64)
            for number in np.unique(deciders):
                asked = deciders == number
                policy = self.lineup.policy(int(number))
                answer = np.asarray(policy.act(batch.view(rows[asked])))
                if answer.shape != (asked.sum(),) or not np.issubdtype(answer.dtype, np.integer):
                    raise ValueError(
                        f"the policy {policy.name!r} returned dtype {answer.dtype} and shape {answer.shape} for "
                        f"{asked.sum()} decisions; it must return one integer for each. "
                        "The games were interrupted: call reset()"
                    )
                actions[asked] = answer
            self._step(actions, rows)
            self.paid[rows] += batch.rewards[rows, self.seats[rows]]

    def _step(self, actions: NDArray[np.integer[Any]], rows: Rows) -> None:
        before = self.batch.states[0].copy() if self.batch.num_games == 1 else None
        self.batch.step(actions, rows, restart=False)
        if before is not None and len(rows):
            self.last_step = before, int(actions[0])

    def require_reset(self, method: str) -> None:
        """Raise a RuntimeError, with the name of the method that was called, if `reset` was not called before."""
        if not self.batch._has_started:
            raise RuntimeError(f"{method}() before the first game: call reset()")
