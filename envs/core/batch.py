"""The batched API: N games in one array, stepped by one compiled loop that calls the rules row by row.

The loops are compiled once for each game. They call only the functions that a game declares. All other APIs
(PettingZoo, Gymnasium, Stable-Baselines3) run these loops.
"""

import importlib
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
from fivedice.envs.core.spec import Game, check_keywords
from fivedice.envs.core.view import View

Rows = NDArray[np.int64]
ROWS_PER_THREAD = 256  # with fewer rows, starting work in another thread costs more time than it saves


class Loops(NamedTuple):
    """The compiled loops over the rows of a batch of one game."""

    start: Callable[..., None]
    step: Callable[..., None]  # for the reward that is only paid at the end of a game
    step_for_points: Callable[..., None]  # for the rewards that depend on the points of each step
    show: Callable[..., None]
    write: Callable[..., None]
    result: Callable[..., None]


@cache
def make_loops(game: Game) -> Loops:
    """Make the loops of one game.

    The first axis of each array is the game. The loops work on the games whose indices are in ``rows``, (R,) int64.
    """
    setup, apply = game.rules.setup, game.rules.apply
    current_player, legal_actions = game.rules.current_player, game.rules.legal_actions
    is_terminal, scores, winners = game.rules.is_terminal, game.rules.scores, game.rules.winners
    observe, observe_throw = game.observe, game.observe_throw or game.observe
    is_truncated, num_throws = game.is_truncated, game.num_keeps if game.observe_throw else 0

    @kernel
    def start(rows: Rows, states: Any, options: Any, streams: Any, scripts: NDArray[np.void]) -> None:
        """Set up a new game in each of ``rows``."""
        for row in rows:
            setup(states[row], options, (streams[row], scripts[row]))

    def make_step(for_points: bool) -> Callable[..., None]:
        # Two versions: the code for the points of each step would slow down the loop that does not need them.
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
            """Carry out one legal action in each of ``rows``, pay the seats, and show the next decision.

            With `restart`, the next game of a row starts as soon as its game is over, and the decision shown is the
            first one of the new game.
            """
            for i in range(len(rows)):
                row = max(0, rows[i])  # so the compiler omits the code for negative indices
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
                    # The length of this loop is fixed: a loop of variable length compiles to a slower call.
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
        """Show the next decision of each of ``rows``."""
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
        """Write the observation of one seat, ``seats`` (R,), in each of ``rows``, and its mask (all 0 off turn)."""
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
        """Write the points (R, num_players) and the winners (R, num_players) of each of ``rows``."""
        for i in range(len(rows)):
            scores(states[rows[i]], options, points[i])
            winners(states[rows[i]], options, won[i])

    return Loops(start, make_step(False), make_step(True), show, write, result)


@kernel
def find_illegal(rows: Rows, actions: NDArray[np.int64], masks: NDArray[np.int8]) -> int:
    """The index in ``rows`` of the first action that is illegal in its game, or -1 if all are legal."""
    for i in range(len(rows)):
        if actions[i] < 0 or actions[i] >= masks.shape[1] or not masks[rows[i], actions[i]]:
            return i
    return -1


@kernel(allocates=True)
def find_wrong_row(rows: Rows, num_games: int, distinct: bool) -> int:
    """The index in ``rows`` of the first row that is out of range or, with ``distinct``, a duplicate; -1 if none is."""
    seen = np.zeros(num_games, np.bool_)
    for i in range(len(rows)):
        if rows[i] < 0 or rows[i] >= num_games or (distinct and seen[rows[i]]):
            return i
        seen[rows[i]] = True
    return -1


def one_for_each(actions: Any, num_games: int) -> NDArray[np.int64]:
    """Convert ``actions`` to a contiguous (num_games,) int64 array.

    Raises:
        ValueError: ``actions`` is not an array of ``num_games`` integers.
    """
    actions = np.asarray(actions)
    if actions.shape != (num_games,) or actions.dtype.kind not in "iu":
        raise ValueError(
            f"actions have shape {actions.shape} and dtype {actions.dtype}; "
            f"use one integer for each of the {num_games} games"
        )
    return np.ascontiguousarray(actions, np.int64)


def one_integer(action: Any) -> int | None:
    """``action`` as an int, if it is an integer or an array or tensor of one integer; else None."""
    if isinstance(action, (bool, np.bool_)):
        return None
    array = np.asarray(action)
    return int(array.reshape(())) if array.size == 1 and array.dtype.kind in "iu" else None


class Batch:
    """N games with the same rules and options, played in parallel.

    The arrays below are the internal ones: `reset`, `step` and `restart` overwrite them in place, so copy what you want
    to keep. Do not change them, except ``states``, followed by a call of `show`.

    Args:
        game: the game or its name, such as ``"yum"``.
        num_games: the number of games N, at least 1.
        num_players: the number of players in each game. Default: the game's ``default_players``.
        reward: ``"win"``, ``"score"`` or ``"margin"``, as in `DiceEnv`. Default: ``"win"``, or ``"score"`` with one
            player.
        threads: how many threads share the games. Results do not depend on it. Default: 1.
        options: the game's options by name. Options that are not given have their default.

    Attributes:
        states: (N,) records of dtype ``game.rules.STATE``, the states of the games.
        observations: (N, size) float32, the observation of the player to move.
        masks: (N, num_actions) int8, 1 for each legal action of the player to move, else 0.
        movers: (N,) int8, the seat of the player to move.
        rewards: (N, num_players) float64, the rewards of the last step by seat.
        terminated: (N,) bool, whether the last step ended the game.
        truncated: (N,) bool, whether the last step reached the game's limit of turns. The rewards of such a step are
            those of a finished game.
        num_games: the number of games N.
        num_players: the number of players in each game.
        num_actions: the size of the action space.
        layout: the `Layout` of an observation.
        options: the options record that the rules take.

    Raises:
        ValueError: an argument is out of range, or the game or the value of an option is unknown.
        TypeError: a keyword is unknown.
    """

    def __init__(
        self,
        game: str | Game,
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
        # The games are in packages above this one, so they are found by name.
        self.game: Game = importlib.import_module("fivedice.envs").load_game(game) if isinstance(game, str) else game
        check_keywords(Batch, self.game, options)
        self.options = self.game.make_options(num_players, options)
        self.num_games, self.num_players = num_games, int(self.options["num_players"])
        self.kind = reward_kind(reward, self.num_players)
        self.reward = REWARDS[self.kind]
        self.layout = self.game.layout(self.options)
        self.num_actions = self.game.num_actions(self.options)
        self.threads = threads
        self.all_rows: Rows = np.arange(num_games)
        self.states = np.zeros(num_games, self.game.rules.STATE)
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
        """Start a new game in every row.

        Args:
            seed: a non-negative integer: play the first games of this seed. None: play the next games of the current
                seed; the first reset takes a seed from the operating system. Row i plays the game ``first_game + i`` of
                the seed.
            first_game: the index of row 0's game, from 0; takes effect only together with a seed. Default: 0.
            script: faces (integers from 1) of the next dice, in each row, before its random generator is used; 0 stands
                for a face from the generator. Default: no script.

        Raises:
            ValueError: the seed, the index or a face is out of range.
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
        """(N,) bool, whether each game is over: ``terminated | truncated``."""
        over: NDArray[np.bool_] = self.terminated | self.truncated
        return over

    def restart(self, rows: Rows) -> None:
        """Start the next game of the current seed in some rows.

        Args:
            rows: (R,) distinct integers from 0 to N - 1.

        Raises:
            ValueError: ``rows`` are not such numbers.
            RuntimeError: `reset` was not called before.
        """
        self._require_reset("restart")
        rows = self._checked_rows(rows)
        self.streams["game"][rows, 1] += 1
        self.streams["drawn"][rows] = 0
        self.terminated[rows] = self.truncated[rows] = False
        make_loops(self.game).start(rows, self.states, self.options, self.streams, self.scripts)
        self.show(rows)

    def resume(self, states: NDArray[np.void], streams: NDArray[np.void]) -> None:
        """Continue games of another batch.

        Args:
            states: (N,) records of dtype ``game.rules.STATE``.
            streams: (N,) records of dtype ``STREAM``, the random streams of the games. They have no script.
        """
        self.states[:], self.streams[:] = states, streams
        self.scripts = np.zeros((self.num_games, 0), SCRIPT)
        self._has_started = True
        self.rewards[:] = 0.0
        self.terminated[:] = self.truncated[:] = False
        self.show()

    def show(self, rows: Rows | None = None) -> None:
        """Update ``movers``, ``masks`` and ``observations``. Call it after you have changed ``states``.

        Args:
            rows: (R,) distinct integers, the rows to update. Default: all.
        """
        rows = self._checked_rows(rows)
        make_loops(self.game).show(rows, self.states, self.options, self.movers, self.masks, self.observations)

    def step(self, actions: NDArray[np.integer[Any]], rows: Rows | None = None, *, restart: bool = True) -> None:
        """Apply one action in each of some games. If any action is illegal, no game changes.

        Args:
            actions: (R,) integers, one action for each of ``rows``.
            rows: (R,) distinct integers from 0 to N - 1, games that are not over. Default: all.
            restart: True: when a game is over, the next one starts in the same step. ``rewards``, ``terminated`` and
                ``truncated`` are then those of the old game, and ``states``, ``movers``, ``masks`` and ``observations``
                those of the new one. False: the game stays over; start the next one with `restart`. Default: True.

        Raises:
            ValueError: an action is illegal (the message names it and the legal ones), or an argument has a wrong shape
                or dtype.
            RuntimeError: `reset` was not called before.
        """
        self._require_reset("step")
        rows = self._checked_rows(rows)
        chosen = self._checked(actions, rows)

        def step_part(part: slice, share: int) -> None:
            self.step_loop(rows[part], chosen[part], restart, *self.arrays(share))

        self.share_out(len(rows), step_part)

    def share_out(self, num_rows: int, work: Callable[[slice, int], None]) -> None:
        """Divide rows among the threads: call ``work(part, share)`` in each of them, and wait until all have finished.

        Args:
            num_rows: how many rows there are.
            work: takes the rows of one thread, as a slice, and the number of the thread.
        """
        shares = min(self.threads, max(1, num_rows // ROWS_PER_THREAD))
        parts = [slice(share * num_rows // shares, (share + 1) * num_rows // shares) for share in range(shares)]
        others = [_threads(shares - 1).submit(work, parts[share], share) for share in range(1, shares)]
        work(parts[0], 0)  # this thread would only wait otherwise
        for other in others:
            other.result()

    @property
    def step_loop(self) -> Callable[..., None]:
        """The compiled loop that applies actions; its arguments are ``(rows, actions, restart, *arrays(share))``."""
        loops = make_loops(self.game)
        return loops.step if self.kind == WIN else loops.step_for_points

    def arrays(self, share: int) -> tuple[Any, ...]:
        """The last arguments of `step_loop` in the thread with the number ``share``."""
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
        """Like ``step([action], [0], restart=False)``, but faster; for APIs with a single game.

        Raises:
            ValueError: the action is illegal.
        """
        if not (0 <= action < self.num_actions and self.masks[0, action]):
            raise ValueError(self.explain_illegal(0, action))
        self._one_action[0] = action
        self.step_loop(self.all_rows[:1], self._one_action, False, *self.arrays(0))

    def _require_reset(self, method: str) -> None:
        if not self._has_started:
            raise RuntimeError(f"{method}() before the first game: call reset()")

    def _checked_rows(self, rows: Rows | None, *, distinct: bool = True) -> Rows:
        """``rows`` as (R,) int64 after all checks; None means all rows."""
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
        """One sentence that says why ``action`` is illegal in `row`, and which actions are legal."""
        if not self.masks[row].any():
            return f"action {action} is illegal after the end of the game; start the next game first"
        return f"{self.name_illegal(row, action)}; {self.explain_legal(row)}"

    def name_illegal(self, row: int, action: int) -> str:
        """The first half of `explain_illegal`, which takes a fraction of its time."""
        if 0 <= action < self.num_actions:
            said = f"action {action} ({self.game.name_action(self.states[row], self.options, action)})"
        else:
            said = f"action {action}"
        return f"{said} is not legal for player_{self.movers[row]}"

    def explain_legal(self, row: int) -> str:
        """The legal actions of `row` by number and in words."""
        legal = np.flatnonzero(self.masks[row]).tolist()
        return "legal are " + ", ".join(
            f"{action} ({self.game.name_action(self.states[row], self.options, action)})" for action in legal
        )

    def view(self, rows: Rows | None = None) -> View:
        """The decisions to be made now, as policies take them; the arrays and the options record are copies.

        Each call draws a new uniform random number for each decision, from a stream that does not affect the dice.

        Args:
            rows: (R,) distinct integers, the games. Default: all.
        """
        rows = self._checked_rows(rows)
        seats = self.movers[rows]
        uniforms = self.uniforms(rows, UNIFORMS + seats.astype(np.int64))
        return View(
            self.game,
            self.options.copy(),  # a policy may write into what it is shown
            self.states[rows],
            seats,
            self.observations[rows],
            self.masks[rows],
            uniforms,
        )

    def render(self, row: int) -> str:
        """One game as text for a terminal."""
        return self.game.render(self.states[row], self.options)

    def uniforms(self, rows: Rows, streams: NDArray[np.int64]) -> NDArray[np.float64]:
        """Draw a random number from one stream of each of ``rows``.

        Args:
            rows: (R,) int64, the games.
            streams: (R,) int64, the index of the stream in each of these games.

        Returns:
            (R,) float64, uniform in [0, 1).
        """
        uniforms = np.empty(len(rows))
        fill_uniforms(rows, streams, self.streams, uniforms)
        return uniforms

    def observe(self, rows: Rows, seats: NDArray[np.int8]) -> NDArray[np.float32]:
        """The observation of one seat in each of some games.

        Args:
            rows: (R,) integers from 0 to N - 1; a row may occur several times.
            seats: (R,) int8, the seats.

        Returns:
            (R, size) float32.

        Raises:
            ValueError: a row or a seat is out of range.
        """
        rows = self._checked_rows(rows, distinct=False)
        if len(seats) != len(rows) or (len(seats) and not 0 <= seats.min() <= seats.max() < self.num_players):
            raise ValueError(f"seats must be one of 0 to {self.num_players - 1} for each of the {len(rows)} games")
        observations = np.empty((len(rows), self.layout.size), np.float32)
        masks = np.empty((len(rows), self.num_actions), np.int8)
        make_loops(self.game).write(rows, seats, self.states, self.options, masks, observations)
        return observations

    def observe_end(self, rows: Rows, seats: NDArray[np.int8]) -> NDArray[np.float32]:
        """Like `observe`, for games that are over: no seat is to move.

        An illegal action may have ended a game. Then its state still has a seat to move.
        """
        observations = self.observe(rows, seats)
        observations[:, self.layout.places.get("mover", slice(0))] = 0.0
        return observations

    def results(self, rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        """The points so far and the winners in some games.

        Args:
            rows: (R,) integers from 0 to N - 1; a row may occur several times.

        Returns:
            points: (R, num_players) float64.
            won: (R, num_players) int8, 1 for each player who shares the win. Use it only for games that are over.
        """
        rows = self._checked_rows(rows, distinct=False)
        points = np.zeros((len(rows), self.num_players))
        won = np.zeros((len(rows), self.num_players), np.int8)
        make_loops(self.game).result(rows, self.states, self.options, points, won)
        return points, won


@cache
def _threads(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, thread_name_prefix="fivedice")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.cache_clear)  # a forked process does not have the threads of its parent
