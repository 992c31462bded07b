"""The rollout policy: improves a base policy by simulated games.

For each legal action the policy simulates the rest of the game several times, with the base policy in every seat, and
plays the action with the best mean result (Tesauro and Galperin, "On-line policy improvement using Monte-Carlo search",
NIPS 1996). Its gain over the base policy is a lower bound for what can be gained in a game that is not solved.

The highest of many noisy means is biased upwards. A rollout that simply took it could be weaker than its base policy.
So there are two rounds. In the first, each action is compared with the action of the base policy, and an action that
falls behind is dropped. In the second, the best action is compared with the action of the base policy again, in
`CONFIRM` times as many new games. It is played only if it is better there by `SURE` standard errors.

The simulated dice are independent of the real dice to come: they have random streams of their own, whose key is the
view's uniform random number of the decision. All actions of one decision get the same dice, turn by turn
(`align_streams`), because this makes the differences between actions less noisy. Simulated games of one decision that
reach the same state after the action, or after the turn, are continued as one.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.policies.protocols import BoundToGame, ChecksGame
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.chance import STREAM, align_streams
from fivedice.envs.core.spec import Game, Options
from fivedice.envs.core.view import Policy, View

GAMES = 64  # simulated games of each action, by default
MOST_GAMES = 100_000
WIN, POINTS = AIMS = ("win", "points")
STAGE = 8  # games of each action before the first comparison; each later comparison has twice as many
HOPE = 2.0  # an action is dropped if it is behind the base policy's action by more standard errors than this
CONFIRM = 8  # the second round has this many times the games of the first
SURE = 1.65  # standard errors needed in the second round; an equally good action passes in 1 of 20 cases
TILT = 1e-3  # value of one point of the lead, as a share of a win: decides between actions that win equally often
PLAYOUTS_AT_ONCE = 16_384
KEY = 0x726F6C6C  # second word of the simulated games' key; the first comes from `View.uniforms`


class RolloutPolicy:
    """Plays the action with the best mean result in simulated games, in which the base policy plays every seat.

    If the base policy is bound to one game setup, as checkpoints are, the rollout is, too, and has its `game` and
    `options` (`BoundToGame`).

    Args:
        base: the base policy. In simulated games its random numbers come from their random streams.
        games: the maximum number of simulated games of each action, 1 to 100,000. The best action is then confirmed in
            eight times as many. An action that falls behind the base policy's action is dropped earlier.
        aim: what to maximise: ``"points"``, own points minus the mean of the others' points, or ``"win"``, the share of
            the win. The default is ``"points"``, because points distinguish two actions in far fewer games than wins.

    Raises:
        ValueError: `games` or `aim` is not one of these.
    """

    def __init__(self, base: Policy, games: int = GAMES, aim: str = POINTS) -> None:
        if not 1 <= games <= MOST_GAMES:
            raise ValueError(f"a rollout cannot simulate games={games} of each action; use 1 to {MOST_GAMES}")
        if aim not in AIMS:
            raise ValueError(f"a rollout cannot maximise aim={aim!r}; use {' or '.join(map(repr, AIMS))}")
        self.base, self.games, self.aim = base, games, aim
        self.name = f"rollout:{base.name}:{games}" + ("" if aim == POINTS else f":{aim}")
        if isinstance(base, BoundToGame):
            self.game, self.options = base.game, base.options

    def check(self, game: Game, options: Options) -> None:
        """Raise a ValueError if the base policy cannot play `game` with `options`."""
        if isinstance(self.base, ChecksGame):
            self.base.check(game, options)

    def act(self, view: View) -> NDArray[np.int64]:
        """A legal action for each decision, (N,) int64: the base policy's, or one that is significantly better."""
        chosen = np.array(self.base.act(view.copy()), np.int64)
        choice = np.flatnonzero(view.masks.sum(axis=1) > 1)
        if not len(choice):
            return chosen
        asked = view if len(choice) == len(view) else view.rows(choice)
        own = chosen[choice]
        masks = asked.masks.copy()
        masks[np.arange(len(choice)), own] = 0
        rows, actions = np.nonzero(masks)  # the candidates
        left, gains = self._race(asked, rows, actions, own, 0, self.games)
        means = np.full(masks.shape, -np.inf)
        means[rows[left], actions[left]] = gains.mean(axis=1)
        rows = np.flatnonzero(means.max(axis=1) > 0)
        if not len(rows):
            return chosen
        actions = means[rows].argmax(axis=1)
        left, gains = self._race(asked, rows, actions, own, self.games, CONFIRM * self.games)
        sure = left[gains.mean(axis=1) > SURE * standard_errors(gains)]
        chosen[choice[rows[sure]]] = actions[sure]
        return chosen

    def _race(
        self,
        view: View,
        rows: NDArray[np.int64],
        actions: NDArray[np.int64],
        own: NDArray[np.int64],
        first: int,
        games: int,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Compare each candidate (C,) with the action `own` (N,) of its row, in simulated games numbered from `first`.

        Args:
            view: the decisions.
            rows, actions: (C,) the row in `view` and the action of each candidate.
            own: (N,) the base policy's actions.
            first, games: the number of the first simulated game, and how many there are at most.

        Returns:
            The indices (L,) of the candidates that have not fallen behind, and their gains over `own`, (L, games).
        """
        left, gains = np.arange(len(rows)), np.zeros((len(rows), 0))
        while len(left) and gains.shape[1] < games:
            played = gains.shape[1]
            count = min(max(STAGE, played), games - played)
            of_row, where = np.unique(rows[left], return_inverse=True)
            all_rows, all_actions = np.append(rows[left], of_row), np.append(actions[left], own[of_row])
            results = self._play(view, all_rows, all_actions, first + played, count)
            gains = np.hstack([gains, results[: len(left)] - results[len(left) :][where]])
            hopeful = may_be_better(gains)
            left, gains = left[hopeful], gains[hopeful]
        return left, gains

    def action_values(self, view: View) -> NDArray[np.float64]:
        """The mean result of each action in simulated games, (N, num_actions) float64; -inf where it is not legal.

        The unit is that of `aim`: points of the lead, or the share of the win (plus 0.001 for each point of the lead).
        """
        values = np.full(view.masks.shape, -np.inf)
        rows, actions = np.nonzero(view.masks)
        values[rows, actions] = self.simulate(view, 0, self.games).mean(axis=1)
        return values

    def simulate(self, view: View, first: int, count: int) -> NDArray[np.float64]:
        """The results of `count` simulated games after each legal action, for whoever needs them in parts.

        Args:
            view: the decisions.
            first: the number of the first simulated game. `action_values` is the mean over the games 0 to `games` - 1.
            count: how many games of each action.

        Returns:
            (L, count) float64, for the legal actions in the order of ``np.nonzero(view.masks)``.
        """
        rows, actions = np.nonzero(view.masks)
        return self._play(view, rows, actions, first, count)

    def _play(
        self,
        view: View,
        rows: NDArray[np.int64],
        actions: NDArray[np.int64],
        first: int,
        count: int,
    ) -> NDArray[np.float64]:
        """The results (C, count) of `count` simulated games of each candidate, for the player who decides."""
        total = len(rows) * count
        results = np.empty(total)
        for start in range(0, total, PLAYOUTS_AT_ONCE):
            here = np.arange(start, min(total, start + PLAYOUTS_AT_ONCE))
            candidates = here // count
            results[here] = self._play_out(view, rows[candidates], actions[candidates], first + here % count)
        return results.reshape(len(rows), count)

    def _play_out(
        self, view: View, rows: NDArray[np.int64], actions: NDArray[np.int64], games: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """The results (P,) of one simulated game after each of `actions` (P,), for the player who decides.

        `rows` (P,) are the decisions in `view`. Games of one decision with the same number in `games` (P,) get the same
        dice.
        """
        num_players = int(view.options["num_players"])
        options: dict[str, Any] = view.game.options_dict(view.options)
        batch = Batch(view.game, len(rows), num_players=num_players, **options)
        batch.resume(view.states[rows], fresh_streams(view.uniforms[rows], games))
        align_streams(batch.all_rows, batch.movers, batch.streams)
        batch.step(actions, restart=False)
        align_streams(batch.all_rows, batch.movers, batch.streams)
        kept, which = distinct(batch, batch.all_rows)
        self._play_on(batch, kept, view.seats[rows])
        kept, place = distinct(batch, kept)
        which = place[which]
        self._play_on(batch, kept)
        points, won = batch.results(kept)
        seats = view.seats[rows].astype(np.int64)
        own = which, seats
        others = (points.sum(axis=1)[which] - points[own]) / max(1, num_players - 1)
        ahead: NDArray[np.float64] = points[own] - others
        if self.aim == POINTS or num_players == 1:
            return ahead
        result: NDArray[np.float64] = won[own] / won.sum(axis=1)[which] + TILT * ahead
        return result

    def _play_on(self, batch: Batch, rows: NDArray[np.int64], deciders: NDArray[np.int8] | None = None) -> None:
        """Let the base policy continue the games in `rows` to their end, or until the turn of `deciders` (P,) ends."""
        while True:
            waiting = ~batch.over[rows]
            if deciders is not None:
                waiting &= batch.movers[rows] == deciders[rows]
            rows = rows[waiting]
            if not len(rows):
                return
            batch.step(self.base.act(batch.view(rows)), rows, restart=False)
            align_streams(rows, batch.movers, batch.streams)


def fresh_streams(uniforms: NDArray[np.float64], games: NDArray[np.int64]) -> NDArray[np.void]:
    """Random streams (P,) for simulated games with these numbers (P,), after decisions with these uniforms (P,)."""
    streams = np.zeros(len(uniforms), STREAM)
    streams["key"][:, 0] = (uniforms * 4294967296.0).astype(np.int64)
    streams["key"][:, 1] = KEY
    streams["game"][:, 0] = games
    streams["drawn"] = 4  # above 0: `align_streams` takes the turn as begun, even if an action draws nothing
    return streams


def distinct(batch: Batch, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct games in `rows` (R,): one row of each, and for each of `rows` its index (R,) among these.

    Games with the same state and the same streams at the same position have the same future.
    """
    content = np.hstack([_bytes(batch.states[rows]), _bytes(batch.streams[rows])])
    joined = np.ascontiguousarray(content).view(np.dtype((np.void, content.shape[1])))[:, 0]
    _, kept, place = np.unique(joined, return_index=True, return_inverse=True)
    return rows[kept], place


def _bytes(records: NDArray[np.void]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(records).view(np.uint8).reshape(len(records), records.itemsize)


def standard_errors(gains: NDArray[np.float64]) -> NDArray[np.float64]:
    """The standard errors (C,) of the means over `gains` (C, games); needs two games or more."""
    errors: NDArray[np.float64] = gains.std(axis=1, ddof=1) / np.sqrt(gains.shape[1])
    return errors


def may_be_better(gains: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which candidates (C,) get more games: not those that are behind, or equal to the base policy in every game."""
    ahead: NDArray[np.bool_] = (gains != 0).any(axis=1)
    if gains.shape[1] > 1:
        ahead &= gains.mean(axis=1) + HOPE * standard_errors(gains) > 0
    return ahead
