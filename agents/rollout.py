"""The rollout policy: whatever any policy plays, improved by playing every choice out a number of times.

After each legal action the game is played on to its end, with the base policy in every seat, and the action with the
best mean result is taken (Tesauro and Galperin, "On-line policy improvement using Monte-Carlo search", NIPS 1996). What
that gains over the base shows how much there is to gain in a game that is not solved.

Of some hundred noisy means the highest is too high. So the base's own action stands unless another one is better by
`SURE` standard errors, and of these that one is taken whose mean, less so many standard errors, is highest. That keeps
most noise from being taken for better moves, but not all of it where dozens of actions are close: the README has a game
in which a rollout is weaker than its base.

The dice of these games are fresh: they come from streams of their own, keyed by the random number that the view holds
for the decision, and tell nothing about the dice to come. All actions of one decision meet the same dice, so that their
differences are less noisy than their values, and games of one decision that have come to the same go on as one.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.batch import Batch
from fivedice.envs.chance import STREAM
from fivedice.envs.spec import Game, Options
from fivedice.envs.view import Policy, View

GAMES = 64  # of each action, if not said otherwise
MOST_GAMES = 100_000
WIN, POINTS = AIMS = ("win", "points")
STAGE = 8  # games that are played before the actions are compared again
SURE = 2.0  # standard errors by which an action must be better than the base's own to be taken instead
HOPE = 1.0  # standard errors that an action may be behind it, and still be played on
TILT = 1e-3  # of a win, what a point of the lead is worth: of actions that win as often the higher lead is better
PLAYOUTS_AT_ONCE = 16_384
KEY = 0x726F6C6C  # the second word of the playouts' key; the first one is the decision's noise


class RolloutPolicy:
    """Plays the action that does best in games played on by the base policy in every seat.

    Args:
        base: who plays these games. What is random in it comes from their streams.
        games: how many are played of each action at most. An action that falls behind the base's own is given up.
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
        """One action for each row, (N,) int64: the one that is most surely better than the base's own, or that one."""
        chosen = np.array(self.base.act(view), np.int64)
        choice = np.flatnonzero(view.masks.sum(axis=1) > 1)
        if not len(choice):
            return chosen
        asked = view if len(choice) == len(view) else view.rows(choice)
        own = chosen[choice]
        masks = asked.masks.copy()
        masks[np.arange(len(choice)), own] = 0
        rows, actions = np.nonzero(masks)  # the candidates
        gains = np.zeros((len(rows), 0))  # of each over the base's own action, game by game
        left = np.arange(len(rows))
        while len(left) and gains.shape[1] < self.games:
            played = gains.shape[1]
            count = min(STAGE, self.games - played)
            of_row, where = np.unique(rows[left], return_inverse=True)
            all_rows, all_actions = np.append(rows[left], of_row), np.append(actions[left], own[of_row])
            results = self._play(asked, all_rows, all_actions, played, count)
            gained = results[: len(left)] - results[len(left) :][where]
            rest = np.full((len(rows), count), np.nan)
            rest[left] = gained
            gains = np.hstack([gains, rest])
            left = left[_may_be_better(gains[left])]
        sure = np.zeros(masks.shape)
        sure[rows[left], actions[left]] = _surely(gains[left])
        better = sure.max(axis=1) > 0
        chosen[choice[better]] = sure[better].argmax(axis=1)
        return chosen

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
        batch.resume(view.states[rows], fresh_streams(view.noise[rows], games))
        batch.step(actions, restart=False)
        kept, which = _distinct(batch.states, batch.streams)
        waiting = kept[~batch.over[kept]]
        while len(waiting):
            batch.step(self.base.act(batch.view(waiting)), waiting, restart=False)
            waiting = waiting[~batch.over[waiting]]
        points, won = batch.results(kept)
        seats = view.seats[rows].astype(np.int64)
        own = which, seats
        others = (points.sum(axis=1)[which] - points[own]) / max(1, num_players - 1)
        ahead: NDArray[np.float64] = points[own] - others
        if self.aim == POINTS or num_players == 1:
            return ahead
        result: NDArray[np.float64] = won[own] / won.sum(axis=1)[which] + TILT * ahead
        return result


def fresh_streams(noise: NDArray[np.float64], games: NDArray[np.int64]) -> NDArray[np.void]:
    """`STREAM` records (P,) for games of these numbers (P,) after decisions with this noise (P,)."""
    streams = np.zeros(len(noise), STREAM)
    streams["key"][:, 0] = (noise * 4294967296.0).astype(np.int64)
    streams["key"][:, 1] = KEY
    streams["game"][:, 0] = games
    return streams


def _distinct(states: NDArray[np.void], streams: NDArray[np.void]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows that stand for all, and for each row the place of the one that stands for it.

    Rows with the same state and the same streams, at the same draw, have the same future.
    """
    content = np.hstack([_bytes(states), _bytes(streams)])
    joined = np.ascontiguousarray(content).view(np.dtype((np.void, content.shape[1])))[:, 0]
    _, kept, which = np.unique(joined, return_index=True, return_inverse=True)
    return kept, which


def _bytes(records: NDArray[np.void]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(records).view(np.uint8).reshape(len(records), records.itemsize)


def _surely(gains: NDArray[np.float64]) -> NDArray[np.float64]:
    """What is surely gained, (C,), by `gains` (C, games): the mean less `SURE` standard errors."""
    surely: NDArray[np.float64] = gains.mean(axis=1)
    if gains.shape[1] > 1:
        surely -= SURE * gains.std(axis=1, ddof=1) / np.sqrt(gains.shape[1])
    return surely


def _may_be_better(gains: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which candidates (C,) are worth more games: not those that are behind, or come to the same in every game."""
    ahead: NDArray[np.bool_] = (gains != 0).any(axis=1)
    if gains.shape[1] > 1:
        ahead &= gains.mean(axis=1) + HOPE * gains.std(axis=1, ddof=1) / np.sqrt(gains.shape[1]) > 0
    return ahead
