"""N games in each of which a learner sits in one seat and policies sit in the others.

Every face with a single learner (Gymnasium, its vector form, Stable-Baselines3) runs this one. A transition is one
decision of the learner to its next, with everything that its seat was paid in between; its first one also has what the
seat was paid before it. A game that is over before the learner has decided anything is no game for it, and the next one
starts at once. The other seats' policies are asked in batches and change only between games.
"""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.batch import Batch, Rows
from fivedice.envs.core.chance import SEATING
from fivedice.envs.core.spec import Game, Options
from fivedice.envs.core.view import ChecksGame, Policy

LEARNER = -1  # in `Table.seated`: the learner's own seat


@runtime_checkable
class Lineup(Protocol):
    """Who may sit down against the learner."""

    def assign(self, uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
        """A policy number for each of (R, num_players - 1) seats, in turn order after the learner, given uniforms."""

    def policy(self, number: int) -> Policy:
        """The policy with this number."""


class FixedLineup:
    """The same policies at every game, in turn order after the learner."""

    def __init__(self, policies: Sequence[Policy]) -> None:
        self._policies = list(policies)

    def check(self, game: Game, options: Options) -> None:
        """Raise a ValueError if one of the policies cannot play `game` with `options`."""
        for policy in self._policies:
            if isinstance(policy, ChecksGame):
                policy.check(game, options)

    def assign(self, uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
        """See `Lineup`."""
        return np.tile(np.arange(len(self._policies)), (len(uniforms), 1))

    def policy(self, number: int) -> Policy:
        """See `Lineup`."""
        return self._policies[number]


Opponents: TypeAlias = "str | Path | Policy | Sequence[str | Path | Policy] | Lineup"


def make_lineup(opponents: Opponents, num_players: int) -> Lineup:
    """A lineup of policies or their names: one for all other seats, or one for each in turn order."""
    if isinstance(opponents, Lineup):
        return opponents
    if isinstance(opponents, str) or not isinstance(opponents, Sequence):
        opponent = load_policy(opponents)
        opponents = [opponent] * (num_players - 1)
    if len(opponents) != num_players - 1:
        seats = "1 other seat" if num_players == 2 else f"{num_players - 1} other seats"
        raise ValueError(
            f"opponents lists {len(opponents)} policies for {seats}; give one for each, or a single one for all"
        )
    return FixedLineup([load_policy(opponent) for opponent in opponents])


def load_policy(policy: str | Path | Policy) -> Policy:
    """A policy, loaded if it is given by name."""
    if isinstance(policy, (str, Path)):
        # The one place where an environment reaches for a player, and only when one is asked for by name.
        policy = importlib.import_module("fivedice.agents").load(policy)
    if not isinstance(policy, Policy):
        raise ValueError(
            f"{policy!r} is not a policy; use a name, a checkpoint's path, or an object with a name and act(view)"
        )
    return policy


class Outcome(NamedTuple):
    """How the games in some rows ended for the learner."""

    observations: NDArray[np.float32]  # (R, size) what its seat saw at the end
    scores: NDArray[np.float64]  # (R,) its points
    ranks: NDArray[np.int64]  # (R,) 1 for a win, alone or shared
    wins: NDArray[np.float64]  # (R,) 1 for a win, 1/k for one shared by k, 0 for a loss


class Table:
    """See the module.

    Args:
        game: what is played.
        num_games: how many rows.
        opponents: who sits in the other seats: a policy or its name for all of them, a list with one for each in turn
            order after the learner, or a `Lineup` that is asked anew for each game.
        seat: the learner's seat, or ``"random"`` for one drawn anew for each game.
        num_players, reward, options: as for `Batch`.

    Attributes (live arrays; copy what you keep):
        batch: the games. Of its arrays, `observations` and `masks` show the learner's decision in every live row.
        seats: (N,) int64, the learner's seat.
        seated: (N, num_players) int64, the number of each seat's policy in the lineup, or LEARNER.
        paid: (N,) float64, what the learner was paid by its last decision and since.
        owed: (N,) float64, what it was paid before its first decision, until that one's step delivers it.
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
        **options: Any,
    ) -> None:
        self.batch = Batch(game, num_games, num_players=num_players, reward=reward, **options)
        players = self.batch.num_players
        is_number = isinstance(seat, (int, np.integer)) and not isinstance(seat, bool)
        if seat != "random" and not (is_number and 0 <= int(seat) < players):
            raise ValueError(f"seat={seat!r} is not at this table; use 0 to {players - 1} or 'random'")
        self.seat = seat
        self.lineup = make_lineup(opponents, players)
        if isinstance(self.lineup, FixedLineup):
            self.lineup.check(game, self.batch.options)
        self.seats = np.zeros(num_games, np.int64)
        self.seated = np.full((num_games, players), LEARNER, np.int64)
        self.paid = np.zeros(num_games)
        self.owed = np.zeros(num_games)

    def reset(self, seed: int | None = None, script: Sequence[int] = ()) -> None:
        """Start every game and play on to the learner's first decision; `seed` and `script` as for `Batch.reset`."""
        self.batch.reset(seed, script=script)
        self._sit_down(self.batch.all_rows)

    def restart(self, rows: Rows) -> None:
        """Start the next game in each of `rows` and play on to the learner's first decision."""
        self.require_reset("restart")
        self.batch.restart(rows)
        self._sit_down(rows)

    def step(self, actions: NDArray[np.integer[Any]], rows: Rows | None = None) -> None:
        """Carry out the learner's action in each of `rows` and play on to its next decision, or the end of the game."""
        self.require_reset("step")
        rows = self.batch.all_rows if rows is None else rows
        self.batch.step(actions, rows, restart=False)
        self.paid[rows] = self.owed[rows] + self.batch.rewards[rows, self.seats[rows]]
        self.owed[rows] = 0.0
        self._play_on(rows)

    def outcome(self, rows: Rows) -> Outcome:
        """How the finished games in `rows` ended for the learner."""
        seats = self.seats[rows]
        points, won = self.batch.results(rows)
        own = np.arange(len(rows)), seats
        better = (points > points[own][:, None]) | (won > won[own][:, None])
        return Outcome(
            observations=self.batch.observe(rows, seats.astype(np.int8)),
            scores=points[own],
            ranks=np.where(won[own], 1, 1 + better.sum(axis=1)),
            wins=won[own] / np.maximum(won.sum(axis=1), 1),
        )

    def margins(self) -> NDArray[np.float64]:
        """The learner's points so far less the mean of the others', (N,); its own points, if there are no others."""
        points, _ = self.batch.results(self.batch.all_rows)
        own = points[self.batch.all_rows, self.seats]
        margins: NDArray[np.float64] = own - (points.sum(axis=1) - own) / max(1, self.batch.num_players - 1)
        return margins

    def opponents(self, row: int) -> list[str]:
        """The names of the other policies in `row`, in turn order after the learner."""
        players, seat = self.batch.num_players, self.seats[row]
        others = [self.seated[row, (seat + turn) % players] for turn in range(1, players)]
        return [self.lineup.policy(int(number)).name for number in others]

    def _sit_down(self, rows: Rows) -> None:
        """Seat the players in `rows` and play on to the learner's first decision, in a later game if there is none."""
        self._take_seats(rows)
        while (skipped := rows[self.batch.over[rows]]).size:
            self.batch.restart(skipped)
            self._take_seats(skipped)

    def _take_seats(self, rows: Rows) -> None:
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
        """Let the other seats play until, in each of `rows`, the learner is to move or the game is over."""
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
                        f"the policy {policy.name!r} answered {answer.dtype} {answer.shape} to {asked.sum()} decisions;"
                        " it must return one integer for each. The games are left in their middle: call reset()"
                    )
                actions[asked] = answer
            batch.step(actions, rows, restart=False)
            self.paid[rows] += batch.rewards[rows, self.seats[rows]]

    def require_reset(self, method: str) -> None:
        """Refuse a `method` that needs a game before there is one."""
        if not self.batch._has_started:
            raise RuntimeError(f"{method}() before the first game: call reset()")
