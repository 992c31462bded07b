"""The rollout policy: whatever any policy plays, improved by playing every choice out a number of times.

After each legal action the game is played on to its end, with the base policy in every seat, and the action with the
best mean result is taken (Tesauro and Galperin, "On-line policy improvement using Monte-Carlo search", NIPS 1996). What
that gains over the base shows how much there is to gain in a game that is not solved.

Of some hundred noisy means the highest is too high, and a rollout that took it at its word could be weaker than its
base. So there are two rounds. In the first, the actions race against the base's own action, and those that fall behind
drop out. The one that does best is then compared with the base's own in `CONFIRM` times as many new games, which know
nothing of how it was chosen, and is taken only if it is better by `SURE` standard errors in these.

The dice of these games are fresh: they come from streams of their own, keyed by the random number that the view holds
for the decision, and tell nothing about the dice to come. All actions of one decision meet the same dice, turn by turn
(`align_streams`), so that their differences are less noisy than their values. Games of one decision that have come to
the same after the action, or after the turn, go on as one.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.batch import Batch
from fivedice.envs.core.chance import STREAM, align_streams
from fivedice.envs.core.spec import Game, Options
from fivedice.envs.core.view import Policy, View

GAMES = 64  # of each action, if not said otherwise
MOST_GAMES = 100_000
WIN, POINTS = AIMS = ("win", "points")
STAGE = 8  # games of each action before they are compared for the first time; then whenever there are twice as many
HOPE = 2.0  # standard errors that an action may be behind the base's own, and still be played on
CONFIRM = 8  # times as many games for the comparison with the one that did best
SURE = 1.65  # standard errors by which it must be better there: of twenty that are no better, one is
TILT = 1e-3  # of a win, what a point of the lead is worth: of actions that win as often the higher lead is better
PLAYOUTS_AT_ONCE = 16_384
KEY = 0x726F6C6C  # second word of the playouts' key; the first comes from `View.uniforms`


class RolloutPolicy:
    """Plays the action that does best in games played on by the base policy in every seat.

    Args:
        base: who plays these games. What is random in it comes from their streams.
        games: how many are played of each action at most, and eight times as many of the one that does best in them. An
            action that falls behind the base's own is given up.
        aim: what is maximised: ``"points"``, own points less the mean of the others', or ``"win"``, the share of the
            win. Leads tell two actions apart in far fewer games than wins do, so they are what counts if not said
            otherwise.
    """

    def __init__(self, base: Policy, games: int = GAMES, aim: str = POINTS) -> None:
        if not 1 <= games <= MOST_GAMES:
            raise ValueError(f"games={games} of each action cannot be played in a rollout; use 1 to {MOST_GAMES}")
        if aim not in AIMS:
            raise ValueError(f"aim={aim!r} is nothing that a rollout can maximise; use {' or '.join(map(repr, AIMS))}")
        self.base, self.games, self.aim = base, games, aim
        self.name = f"rollout:{base.name}:{games}" + ("" if aim == POINTS else f":{aim}")
        if hasattr(base, "options"):  # a checkpoint's: the table that it is bound to
            self.game, self.options = base.game, base.options  # type: ignore[attr-defined]

    def check(self, game: Game, options: Options) -> None:
        """Let the base refuse a table with a ValueError, if it is bound to another."""
        check = getattr(self.base, "check", None)
        if check is not None:
            check(game, options)

    def act(self, view: View) -> NDArray[np.int64]:
        """One action for each row, (N,) int64: one that is surely better than the base's own, or that one."""
        chosen = np.array(self.base.act(view), np.int64)
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
        """Play each candidate (C,) against the action `own` (N,) of its row, in as many `games` from ``first`` on.

        Returns the places (L,) of those that have not fallen behind, and their gains over `own`, (L, games).
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
        """The mean result of each action, (N, num_actions) float64; -inf where it is not legal."""
        values = np.full(view.masks.shape, -np.inf)
        rows, actions = np.nonzero(view.masks)
        values[rows, actions] = self._play(view, rows, actions, 0, self.games).mean(axis=1)
        return values

    def _play(
        self,
        view: View,
        rows: NDArray[np.int64],
        actions: NDArray[np.int64],
        first: int,
        count: int,
    ) -> NDArray[np.float64]:
        """How games ``first``, … of each candidate (C,) end for the seat that decides, (C, count)."""
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
        """How one game after each of `actions` (P,), in `rows` of the view (P,), ends for the seat that decides; those
        with the same number in `games` (P,) meet the same dice."""
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
        """Let the base policy play on in `rows`: to the end, or while it is the turn of these `deciders` (P,)."""
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
    """`STREAM` records (P,) for games of these numbers (P,) after decisions with these uniforms (P,)."""
    streams = np.zeros(len(uniforms), STREAM)
    streams["key"][:, 0] = (uniforms * 4294967296.0).astype(np.int64)
    streams["key"][:, 1] = KEY
    streams["game"][:, 0] = games
    streams["drawn"] = 4  # some, so that for `align_streams` the turn has begun, whether an action draws or not
    return streams


def distinct(batch: Batch, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Those of `rows` (R,) that stand for all, and for each its place (R,) among these.

    Rows with the same state and the same streams, at the same draw, have the same future.
    """
    content = np.hstack([_bytes(batch.states[rows]), _bytes(batch.streams[rows])])
    joined = np.ascontiguousarray(content).view(np.dtype((np.void, content.shape[1])))[:, 0]
    _, kept, place = np.unique(joined, return_index=True, return_inverse=True)
    return rows[kept], place


def _bytes(records: NDArray[np.void]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(records).view(np.uint8).reshape(len(records), records.itemsize)


def standard_errors(gains: NDArray[np.float64]) -> NDArray[np.float64]:
    """The standard error of each mean (C,) over `gains` (C, games), of two games at least."""
    errors: NDArray[np.float64] = gains.std(axis=1, ddof=1) / np.sqrt(gains.shape[1])
    return errors


def may_be_better(gains: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which candidates (C,) are worth more games: not those that are behind, or come to the same in every game."""
    ahead: NDArray[np.bool_] = (gains != 0).any(axis=1)
    if gains.shape[1] > 1:
        ahead &= gains.mean(axis=1) + HOPE * standard_errors(gains) > 0
    return ahead
