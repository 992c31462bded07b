"""The batched face: N games in one array, stepped by one compiled loop that calls the rules of one game row by row.

The loops are made once for each game. They know nothing about any game but its verbs, and every other face (AEC,
Gymnasium, Stable-Baselines3) runs them.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.chance import MAX_SEATS, SCRIPT, UNIFORMS, fill_uniforms, new_script, new_streams
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.option import is_whole
from fivedice.envs.core.reward import REWARDS, WIN, pay, reward_kind
from fivedice.envs.core.spec import Game
from fivedice.envs.core.view import View

Rows = NDArray[np.int64]
ROWS_PER_THREAD = 256  # below this, handing a share to another thread costs more than it saves


class Loops(NamedTuple):
    """The compiled loops over the rows of a batch of one game."""

    start: Callable[..., None]
    step: Callable[..., None]  # where the end of the game alone is paid
    step_for_points: Callable[..., None]  # where the points of each step are
    show: Callable[..., None]
    write: Callable[..., None]
    result: Callable[..., None]


@cache
def make_loops(game: Game) -> Loops:
    """The loops of one game. All arrays are rows of games; `rows` (R,) int64 names those to work on."""
    setup, apply = game.rules.setup, game.rules.apply
    current_player, legal_actions = game.rules.current_player, game.rules.legal_actions
    is_terminal, scores, winners = game.rules.is_terminal, game.rules.scores, game.rules.winners
    observe, observe_throw = game.observe, game.observe_throw or game.observe
    is_truncated, num_throws = game.is_truncated, game.num_keeps if game.observe_throw else 0

    @kernel
    def start(rows: Rows, states: Any, options: Any, streams: Any, scripts: NDArray[np.void]) -> None:
        """Set up a new game in each of `rows`."""
        for row in rows:
            setup(states[row], options, (streams[row], scripts[row]))

    def make_step(for_points: bool) -> Callable[..., None]:
        # There are two of them, since what is needed only where each step is paid would take registers from the other.
        @kernel(noalias=True)
        def step(
            rows: Rows,
            actions: NDArray[np.int64],
            restart: bool,
            kind: int,
            states: Any,
            options: Any,
            streams: Any,
            scripts: NDArray[np.void],
            before: NDArray[np.float64],
            after: NDArray[np.float64],
            won: NDArray[np.int8],
            rewards: NDArray[np.float64],
            terminated: NDArray[np.bool_],
            truncated: NDArray[np.bool_],
            movers: NDArray[np.int8],
            masks: NDArray[np.int8],
            observations: NDArray[np.float32],
        ) -> None:
            """Carry out one legal action in each of `rows`, pay the seats, and show the next decision.

            With `restart`, a finished game is set up anew at once and the next decision shown is its first.
            """
            for i in range(len(rows)):
                row = max(0, rows[i])  # so that the compiler need not look for rows below 0
                state = states[row]
                if for_points:
                    scores(state, options, before)
                apply(state, options, actions[i], (streams[row], scripts[row]))
                over = is_terminal(state, options)
                if for_points:
                    scores(state, options, after)
                if over:
                    winners(state, options, won)
                if over or for_points:
                    pay(kind, before, after, over, won, rewards[row])
                else:
                    # As many rounds at any table: a loop that ends earlier becomes a call.
                    for seat in range(MAX_SEATS):
                        if seat < rewards.shape[1]:
                            rewards[row, seat] = 0.0
                truncated[row] = over and is_truncated(state, options)
                terminated[row] = over and not truncated[row]
                if over and restart:
                    streams[row]["game"][1] += 1
                    streams[row]["drawn"][:] = 0
                    setup(state, options, (streams[row], scripts[row]))
                seat = current_player(state)
                movers[row] = seat
                legal_actions(state, options, masks[row])
                if actions[i] < num_throws and not over:
                    observe_throw(state, options, seat, observations[row])
                else:
                    observe(state, options, seat, observations[row])

        return step

    @kernel(noalias=True)
    def show(
        rows: Rows,
        states: Any,
        options: Any,
        movers: NDArray[np.int8],
        masks: NDArray[np.int8],
        observations: NDArray[np.float32],
    ) -> None:
        """Show the next decision of each of `rows`."""
        for row in rows:
            movers[row] = current_player(states[row])
            legal_actions(states[row], options, masks[row])
            observe(states[row], options, movers[row], observations[row])

    @kernel(noalias=True)
    def write(
        rows: Rows,
        seats: NDArray[np.int8],
        states: Any,
        options: Any,
        masks: NDArray[np.int8],
        observations: NDArray[np.float32],
    ) -> None:
        """Show each of `rows` to one of its `seats` (R,), with an empty mask unless that seat is to move."""
        for i in range(len(rows)):
            row = rows[i]
            state = states[row]
            if seats[i] == current_player(state):
                legal_actions(state, options, masks[i])
            else:
                masks[i][:] = 0
            observe(state, options, seats[i], observations[i])

    @kernel
    def result(rows: Rows, states: Any, options: Any, points: NDArray[np.float64], won: NDArray[np.int8]) -> None:
        """Write the points (R, num_players) and the winners (R, num_players) of each of `rows`."""
        for i in range(len(rows)):
            scores(states[rows[i]], options, points[i])
            winners(states[rows[i]], options, won[i])

    return Loops(start, make_step(False), make_step(True), show, write, result)


@kernel
def find_illegal(rows: Rows, actions: NDArray[np.int64], masks: NDArray[np.int8]) -> int:
    """The place in `rows` of the first action that is not legal there, or -1."""
    for i in range(len(rows)):
        if actions[i] < 0 or actions[i] >= masks.shape[1] or not masks[rows[i], actions[i]]:
            return i
    return -1


@kernel(allocates=True)
def find_wrong_row(rows: Rows, num_games: int, distinct: bool) -> int:
    """The place in `rows` of the first that there is not, or that stands there already if it must not, or -1."""
    seen = np.zeros(num_games, np.bool_)
    for i in range(len(rows)):
        if rows[i] < 0 or rows[i] >= num_games or (distinct and seen[rows[i]]):
            return i
        seen[rows[i]] = True
    return -1


def one_for_each(actions: Any, num_games: int) -> NDArray[np.int64]:
    """`actions` as compiled code takes them, (num_games,) int64, or a ValueError if they are not as many integers."""
    actions = np.asarray(actions)
    if actions.shape != (num_games,) or actions.dtype.kind not in "iu":
        raise ValueError(
            f"actions have shape {actions.shape} and dtype {actions.dtype}; "
            f"use one integer for each of the {num_games} games"
        )
    return np.ascontiguousarray(actions, np.int64)


class Batch:
    """N games of one kind, played side by side.

    Args:
        game: what is played.
        num_games: how many rows.
        num_players: seats in each game; None for the game's default.
        reward: ``"win"``, ``"score"`` or ``"margin"``; None for ``"win"``, or ``"score"`` with one seat.
        threads: how many threads share the rows. Results do not depend on it.
        options: the game's options by name.

    Attributes, each a live array that `reset`, `step` and `restart` write into (copy what you keep; a step writes what
    has changed, so do not write into them either, or call `show`):
        states: (N,) records of the game's STATE dtype.
        observations: (N, size) float32, what the seat to move sees.
        masks: (N, num_actions) int8, its legal actions.
        movers: (N,) int8, the seat to move.
        rewards: (N, num_players) float64, what the last step paid each seat.
        terminated: (N,) bool, whether the game came to its end with the last step.
        truncated: (N,) bool, whether the last step cut it short, at a limit of turns; it is paid all the same.
    """

    def __init__(
        self,
        game: Game,
        num_games: int,
        *,
        num_players: int | None = None,
        reward: str | None = None,
        threads: int = 1,
        **options: Any,
    ) -> None:
        for name, number in (("num_games", num_games), ("threads", threads)):
            if not is_whole(number):
                raise ValueError(f"{name}={number!r} is not a whole number")
            if number < 1:
                raise ValueError(f"{name}={number} is too few; use at least 1")
        self.game = game
        self.options = game.make_options(num_players, options)
        self.num_games, self.num_players = num_games, int(self.options["num_players"])
        self.kind = reward_kind(reward, self.num_players)
        self.reward = REWARDS[self.kind]
        self.layout = game.layout(self.options)
        self.num_actions = game.num_actions(self.options)
        self.threads = threads
        self.all_rows: Rows = np.arange(num_games)
        self.states = np.zeros(num_games, game.rules.STATE)
        self.streams = new_streams(0, num_games)
        self.scripts = np.zeros((num_games, 0), SCRIPT)
        self.observations = np.zeros((num_games, self.layout.size), np.float32)
        self.masks = np.zeros((num_games, self.num_actions), np.int8)
        self.movers = np.zeros(num_games, np.int8)
        self.rewards = np.zeros((num_games, self.num_players))
        self.terminated = np.zeros(num_games, np.bool_)
        self.truncated = np.zeros(num_games, np.bool_)
        self._points = [  # each thread's points before a step and after it, and winners
            (np.zeros(MAX_SEATS), np.zeros(MAX_SEATS), np.zeros(MAX_SEATS, np.int8)) for _ in range(threads)
        ]
        self._one_action = np.zeros(1, np.int64)
        self._has_started = False

    def reset(self, seed: int | None = None, *, first_game: int = 0, script: Sequence[int] = ()) -> None:
        """Start every game.

        Args:
            seed: the games of this seed; None goes on to the next games of the seed in use, or takes entropy from the
                system if there is none yet. Row i plays game ``(first_game + i, episode)`` of its seed.
            first_game: the number of row 0's game.
            script: faces that every row uses up before its generator.
        """
        entries = new_script(script, len(self.game.face_names))
        if seed is not None or not self._has_started:
            self.streams = new_streams(seed, self.num_games, first_game)
            self._has_started = True
        else:
            self.streams["game"][:, 1] += 1
            self.streams["drawn"] = 0
        self.streams["scripted"] = 0
        self.scripts = np.tile(entries, (self.num_games, 1))
        self.rewards[:] = 0.0
        self.terminated[:] = self.truncated[:] = False
        make_loops(self.game).start(self.all_rows, self.states, self.options, self.streams, self.scripts)
        self.show()

    @property
    def over(self) -> NDArray[np.bool_]:
        """(N,) whether the last step was the last of its game."""
        over: NDArray[np.bool_] = self.terminated | self.truncated
        return over

    def restart(self, rows: Rows) -> None:
        """Start the next game in each of `rows`."""
        self._require_reset("restart")
        rows = self._checked_rows(rows)
        self.streams["game"][rows, 1] += 1
        self.streams["drawn"][rows] = 0
        self.terminated[rows] = self.truncated[rows] = False
        make_loops(self.game).start(rows, self.states, self.options, self.streams, self.scripts)
        self.show(rows)

    def resume(self, states: NDArray[np.void], streams: NDArray[np.void]) -> None:
        """Go on with games that were running elsewhere: (N,) records of states and of streams."""
        self.states[:], self.streams[:] = states, streams
        self.scripts = np.zeros((self.num_games, 0), SCRIPT)
        self._has_started = True
        self.rewards[:] = 0.0
        self.terminated[:] = self.truncated[:] = False
        self.show()

    def show(self, rows: Rows | None = None) -> None:
        """Write mover, mask and observation of each of `rows` (all, if None) again, after their states were set."""
        rows = self._checked_rows(rows)
        make_loops(self.game).show(rows, self.states, self.options, self.movers, self.masks, self.observations)

    def step(self, actions: NDArray[np.integer[Any]], rows: Rows | None = None, *, restart: bool = True) -> None:
        """Carry out one action in each of `rows` (all, if None); nothing is changed if any of them is illegal.

        Args:
            actions: (R,) integers, one for each of `rows`.
            rows: (R,) int64, distinct rows whose games go on.
            restart: whether a finished game starts anew at once. The rewards, ``terminated`` and ``truncated`` are
                then still those of the game that ended, while the state, mover, mask and observation are those of the
                new one.

        Raises:
            ValueError: an action is not legal; says which, and what was.
            RuntimeError: no game has been started.
        """
        self._require_reset("step")
        rows = self._checked_rows(rows)
        chosen = self._checked(actions, rows)

        def step_part(part: slice, share: int) -> None:
            self.step_loop(rows[part], chosen[part], restart, *self.arrays(share))

        self.share_out(len(rows), step_part)

    def share_out(self, num_rows: int, work: Callable[[slice, int], None]) -> None:
        """Call ``work(part, share)`` for a part of so many rows in each of the threads, and wait for all."""
        shares = min(self.threads, max(1, num_rows // ROWS_PER_THREAD))
        parts = [slice(share * num_rows // shares, (share + 1) * num_rows // shares) for share in range(shares)]
        others = [_threads(shares - 1).submit(work, parts[share], share) for share in range(1, shares)]
        work(parts[0], 0)  # a share of its own costs this thread less than waiting
        for other in others:
            other.result()

    @property
    def step_loop(self) -> Callable[..., None]:
        """The compiled loop that carries out actions: ``(rows, actions, restart, *arrays(share))``."""
        loops = make_loops(self.game)
        return loops.step if self.kind == WIN else loops.step_for_points

    def arrays(self, share: int) -> tuple[Any, ...]:
        """What the compiled loop of a thread's `share` reads and writes, besides the actions."""
        return (
            self.kind,
            self.states,
            self.options,
            self.streams,
            self.scripts,
            *self._points[share],
            self.rewards,
            self.terminated,
            self.truncated,
            self.movers,
            self.masks,
            self.observations,
        )

    def step_one(self, action: int) -> None:
        """The same for row 0 alone and without a restart, for faces with one game."""
        if not (0 <= action < self.num_actions and self.masks[0, action]):
            raise ValueError(self.explain_illegal(0, action))
        self._one_action[0] = action
        self.step_loop(self.all_rows[:1], self._one_action, False, *self.arrays(0))

    def _require_reset(self, method: str) -> None:
        if not self._has_started:
            raise RuntimeError(f"{method}() before the first game: call reset()")

    def _checked_rows(self, rows: Rows | None, *, distinct: bool = True) -> Rows:
        """Rows that compiled code may trust: all, if None."""
        if rows is None or rows is self.all_rows:
            return self.all_rows
        rows = np.asarray(rows)
        if rows.ndim != 1 or (len(rows) and not np.issubdtype(rows.dtype, np.integer)):
            raise ValueError(f"rows have shape {rows.shape} and dtype {rows.dtype}; use a list of integers")
        rows = np.ascontiguousarray(rows, np.int64)
        place = find_wrong_row(rows, self.num_games, distinct)
        if place >= 0:
            numbers = "different numbers" if distinct else "numbers"
            raise ValueError(f"rows must be {numbers} from 0 to {self.num_games - 1}; {rows[place]} is wrong")
        return rows

    def _checked(self, actions: NDArray[np.integer[Any]], rows: Rows) -> NDArray[np.int64]:
        chosen = one_for_each(actions, len(rows))
        place = find_illegal(rows, chosen, self.masks)
        if place >= 0:
            row = int(rows[place])
            raise ValueError(f"game {row}: {self.explain_illegal(row, int(chosen[place]))}")
        return chosen

    def explain_illegal(self, row: int, action: int) -> str:
        """One sentence that says why `action` is not possible in `row`, and what is."""
        if not self.masks[row].any():
            return f"action {action} comes after the end of the game; start the next one first"
        if 0 <= action < self.num_actions:
            said = f"action {action} ({self.game.name_action(self.states[row], self.options, action)})"
        else:
            said = f"action {action}"
        return f"{said} is not legal for player_{self.movers[row]}; {self.explain_legal(row)}"

    def explain_legal(self, row: int) -> str:
        """The legal actions of `row` in words."""
        legal = np.flatnonzero(self.masks[row]).tolist()
        return "legal are " + ", ".join(
            f"{action} ({self.game.name_action(self.states[row], self.options, action)})" for action in legal
        )

    def view(self, rows: Rows | None = None) -> View:
        """The decisions that wait in `rows` (all, if None), with fresh uniforms, as policies take them."""
        rows = self._checked_rows(rows)
        seats = self.movers[rows]
        uniforms = self.uniforms(rows, UNIFORMS + seats.astype(np.int64))
        return View(
            self.game, self.options, self.states[rows], seats, self.observations[rows], self.masks[rows], uniforms
        )

    def uniforms(self, rows: Rows, streams: NDArray[np.int64]) -> NDArray[np.float64]:
        """The next number in [0, 1) of one stream of each of `rows`, (R,)."""
        uniforms = np.empty(len(rows))
        fill_uniforms(rows, streams, self.streams, uniforms)
        return uniforms

    def observe(self, rows: Rows, seats: NDArray[np.int8]) -> NDArray[np.float32]:
        """What one seat of each of `rows` sees, (R, size) float32."""
        rows = self._checked_rows(rows, distinct=False)
        if len(seats) != len(rows) or (len(seats) and not 0 <= seats.min() <= seats.max() < self.num_players):
            raise ValueError(f"seats must be one of 0 to {self.num_players - 1} for each of the {len(rows)} games")
        observations = np.empty((len(rows), self.layout.size), np.float32)
        masks = np.empty((len(rows), self.num_actions), np.int8)
        make_loops(self.game).write(rows, seats, self.states, self.options, masks, observations)
        return observations

    def results(self, rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        """Points (R, num_players) and winners (R, num_players) of each of `rows`."""
        rows = self._checked_rows(rows, distinct=False)
        points = np.zeros((len(rows), self.num_players))
        won = np.zeros((len(rows), self.num_players), np.int8)
        make_loops(self.game).result(rows, self.states, self.options, points, won)
        return points, won


@cache
def _threads(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, thread_name_prefix="fivedice")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.cache_clear)  # a child has none of its parent's threads
