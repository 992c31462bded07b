"""The same games through every API are the same games, whether compiled, bounds-checked or plain Python.

Run as a program, this file prints a digest of all that the faces showed; the test compares the digests of three ways of
running it. Under NUMBA_DISABLE_JIT the rules, the batch and the AEC environment are all plain Python.
"""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from fivedice.envs import GAMES, load_game
from fivedice.envs.api.aec import DiceEnv
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.chance import new_script, new_streams
from fivedice.envs.core.spec import Game

SEED = 5
SWITCHES = ("NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK")


class Case(NamedTuple):
    game: str
    num_players: int
    reward: str
    options: dict[str, Any]
    script: tuple[int, ...] = ()

    @property
    def settings(self) -> dict[str, Any]:
        return {"num_players": self.num_players, "reward": self.reward, **self.options}


class Moment(NamedTuple):
    """What an API shows between two actions, as bytes: equal means equal to the last bit."""

    state: bytes
    mover: int
    mask: bytes
    observations: tuple[bytes, ...]  # of every seat
    rewards: tuple[float, ...]
    over: bool
    truncated: bool


Played = dict[tuple[int, int], list[Moment]]  # (row, episode): the moments of that game


def cases(game: Game) -> Iterator[Case]:
    """Every number of seats and every value of every option at least once."""
    yield Case(game.name, game.default_players, "win", {})
    yield Case(game.name, game.default_players, "margin", {}, script=(6, 6, 6, 6, 6, 1, 2, 3, 4, 5, 5))
    for num_players in range(game.min_players, game.max_players + 1):
        yield Case(game.name, num_players, "score" if num_players % 2 else "margin", {})
    for option in game.rules.OPTIONS:
        for choice in option.samples[1:]:
            yield Case(game.name, game.default_players, "score", {option.name: choice})
    last_choices = {option.name: option.samples[-1] for option in game.rules.OPTIONS}
    yield Case(game.name, game.default_players, "win", last_choices)


class Chooser:
    """Picks the same legal actions in the same game, whichever API asks."""

    def __init__(self, row: int, episode: int) -> None:
        self.generator = np.random.default_rng([SEED, row, episode])

    def choose(self, mask: np.ndarray) -> int:
        return int(self.generator.choice(np.flatnonzero(mask)))


def paid(case: Case, before: np.ndarray, after: np.ndarray, over: bool, won: np.ndarray) -> tuple[float, ...]:
    """The rewards of one step as the README words them."""
    gains = (after - before).tolist()
    if case.reward == "score":
        return tuple(gains)
    if case.reward == "margin":
        return tuple(own - (sum(gains) - own) / (len(gains) - 1) for own in gains)
    winners = int(won.sum())
    if not over or winners == len(gains):
        return (0.0,) * len(gains)
    return tuple(1 / winners if seat_won else -1 / (len(gains) - winners) for seat_won in won)


def play_rules(case: Case, row: int, episodes: int) -> Played:
    """The rules of one game called directly, with nothing in between."""
    game, played = load_game(case.game), Played()
    rules, options = game.rules, game.make_options(case.num_players, case.options)
    script = new_script(case.script, 6)
    streams = new_streams(SEED, 1, row)
    size = game.layout(options).size
    state = np.zeros(1, rules.STATE)[0]
    for episode in range(episodes):
        if episode:
            streams["game"][0, 1] += 1
            streams["drawn"] = 0
        chance = (streams[0], script)
        chooser = Chooser(row, episode)
        moments = played[row, episode] = []
        points, points_before = np.zeros(case.num_players), np.zeros(case.num_players)
        won = np.zeros(case.num_players, np.int8)
        rewards = (0.0,) * case.num_players
        rules.setup(state, options, chance)
        while True:
            mask = np.zeros(game.num_actions(options), np.int8)
            rules.legal_actions(state, options, mask)
            seen = np.zeros((case.num_players, size), np.float32)
            for seat in range(case.num_players):
                game.observe(state, options, seat, seen[seat])
            over, mover = bool(rules.is_terminal(state, options)), int(rules.current_player(state))
            truncated = over and bool(game.is_truncated(state, options))
            shown = tuple(observation.tobytes() for observation in seen)
            moments.append(Moment(state.tobytes(), mover, mask.tobytes(), shown, rewards, over, truncated))
            if over:
                break
            rules.scores(state, options, points_before)
            rules.apply(state, options, chooser.choose(mask), chance)
            rules.scores(state, options, points)
            over = rules.is_terminal(state, options)
            if over:
                rules.winners(state, options, won)
            rewards = paid(case, points_before, points, over, won)
    return played


def play_aec(case: Case, row: int, episodes: int) -> Played:
    env, played = DiceEnv(load_game(case.game), **case.settings), Played()
    for episode in range(episodes):
        if episode:
            env.reset()
        else:
            env.reset(SEED, {"game": row, "script": case.script})
        if case.script and episode:  # a new script begins with each reset() here, with each reset of all rows there
            raise AssertionError("compare one game of a scripted case")
        chooser = Chooser(row, episode)
        moments = played[row, episode] = []
        while True:
            seen = [env.observe(agent) for agent in env.possible_agents]
            truncated = all(env.truncations.values())
            over = truncated or all(env.terminations.values())
            mover = int(env.get_state().state["player"][0]) if over else env.agents.index(env.agent_selection)
            for seat, observation in enumerate(seen):
                assert over or seat == mover or not observation["action_mask"].any()
            mask = seen[mover]["action_mask"]
            shown = tuple(observation["observation"].tobytes() for observation in seen)
            rewards = tuple(env.rewards.values())
            state = env.get_state().state[0].tobytes()
            moments.append(Moment(state, mover, mask.tobytes(), shown, rewards, over, truncated))
            if over:
                break
            env.step(chooser.choose(mask))
    return played


def moment_of(batch: Batch, row: int) -> Moment:
    seats = np.arange(batch.num_players, dtype=np.int8)
    seen = batch.observe(np.full(batch.num_players, row), seats)
    assert batch.over[row] or seen[batch.movers[row]].tobytes() == batch.observations[row].tobytes()
    return Moment(
        batch.states[row].tobytes(),
        int(batch.movers[row]),
        batch.masks[row].tobytes(),
        tuple(observation.tobytes() for observation in seen),
        tuple(batch.rewards[row].tolist()),
        bool(batch.over[row]),
        bool(batch.truncated[row]),
    )


def play_batch(case: Case, rows: int, episodes: int) -> Played:
    """Rows that take steps at times of their own: each is left out of some steps, and restarted at some later time."""
    batch, played = Batch(load_game(case.game), rows, **case.settings), Played()
    batch.reset(SEED, script=case.script)
    episode = [0] * rows
    choosers = [Chooser(row, 0) for row in range(rows)]
    for row in range(rows):
        played[row, 0] = [moment_of(batch, row)]
    whims = np.random.default_rng(0)
    while True:
        running = [row for row in range(rows) if not batch.over[row]]
        waiting = [row for row in range(rows) if batch.over[row] and episode[row] + 1 < episodes]
        if not running and not waiting:
            return played
        restarted = np.array([row for row in waiting if whims.random() < 0.3], np.int64)
        if len(restarted):
            batch.rewards[restarted] = 0.0
            batch.restart(restarted)
            for row in restarted.tolist():
                episode[row] += 1
                choosers[row] = Chooser(row, episode[row])
                played[row, episode[row]] = [moment_of(batch, row)]
        stepped = np.array([row for row in running if whims.random() < 0.7], np.int64)
        if len(stepped):
            actions = np.array([choosers[row].choose(batch.masks[row]) for row in stepped.tolist()])
            batch.step(actions, stepped, restart=False)
            for row in stepped.tolist():
                played[row, episode[row]].append(moment_of(batch, row))


def play_restarting_batch(case: Case, rows: int, episodes: int) -> Played:
    """Rows that start their next game by themselves while their neighbours are still in the middle of theirs."""
    batch, played = Batch(load_game(case.game), rows, **case.settings), Played()
    batch.reset(SEED, script=case.script)
    episode = [0] * rows
    choosers = [Chooser(row, 0) for row in range(rows)]
    for row in range(rows):
        played[row, 0] = [moment_of(batch, row)]
    while min(episode) < episodes:
        batch.step(np.array([choosers[row].choose(batch.masks[row]) for row in range(rows)]))
        for row in range(rows):
            moment = moment_of(batch, row)
            if moment.over:  # the rewards belong to the game that ended, all else to the one that began
                played[row, episode[row]].append(moment)
                episode[row] += 1
                choosers[row] = Chooser(row, episode[row])
                played[row, episode[row]] = [
                    moment._replace(rewards=(0.0,) * case.num_players, over=False, truncated=False)
                ]
            else:
                played[row, episode[row]].append(moment)
    return {key: moments for key, moments in played.items() if key[1] < episodes}


def compare(case: Case, rows: int, episodes: int) -> Played:
    """Play the same games through all faces; what the rules showed, once all faces showed the same."""
    played = Played()
    for row in range(rows):
        played |= play_rules(case, row, episodes)
    for row in range(rows):
        assert play_aec(case, row, episodes) == {key: played[key] for key in played if key[0] == row}, case
    assert play_batch(case, rows, episodes) == dict(sorted(played.items())), case
    for key, moments in play_restarting_batch(case, rows, episodes).items():
        assert moments[:-1] == played[key][:-1], (case, key)
        last, ended = moments[-1], played[key][-1]
        assert (last.rewards, last.over, last.truncated) == (ended.rewards, True, ended.truncated), (case, key)
    return played


def shortened(case: Case) -> Case:
    """The same case with fewer turns, where they can be limited; one case of a game is played to its own end."""
    limited = any(option.name == "max_turns" for option in load_game(case.game).rules.OPTIONS)
    if limited and case.reward != "win":
        return case._replace(options={"max_turns": 30, **case.options})
    return case


def digest() -> str:
    """One line for all that the rules and a batch showed in three games of each kind."""
    sha, moments = hashlib.sha256(), 0
    for name in GAMES:
        game = load_game(name)
        choices = {option.name: option.samples[-1] for option in game.rules.OPTIONS if option.name != "max_turns"}
        for case in (
            Case(name, game.default_players, "margin", {}, script=(6, 6, 6, 6, 6, 1, 2, 3, 4, 5, 5)),
            Case(name, 3, "score", choices),
            Case(name, game.max_players, "win", {"max_turns": 30} if name == "showdown_yahtzee" else {}),
        ):
            played = play_rules(shortened(case), 0, 1)
            assert play_batch(shortened(case), 1, 1) == played, case
            for key in sorted(played):
                sha.update(repr(played[key]).encode())
                moments += len(played[key])
    return f"{moments} moments {sha.hexdigest()}"


@pytest.mark.parametrize(
    "case", [shortened(case) for name in GAMES for case in cases(load_game(name))], ids=lambda case: str(case)[:120]
)
def test_faces__show_the_same_games(case: Case) -> None:
    compare(case, rows=2, episodes=1 if case.script else 2)


def test_faces__agree_when_compiled_checked_or_plain() -> None:
    ways = {"compiled": {}, "bounds-checked": {"NUMBA_BOUNDSCHECK": "1"}, "plain": {"NUMBA_DISABLE_JIT": "1"}}
    environment = {name: value for name, value in os.environ.items() if name not in SWITCHES}
    running = {
        way: subprocess.Popen(
            [sys.executable, "-W", "error", Path(__file__)],
            env={**environment, **variables},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for way, variables in ways.items()
    }
    printed = {}
    for way, process in running.items():
        printed[way], errors = process.communicate(timeout=900)
        assert process.returncode == 0, f"{way}: {errors}"
    assert len(set(printed.values())) == 1, printed
    assert int(printed["plain"].split()[0]) > 500


@pytest.mark.parametrize("name", GAMES)
def test_batch__threads_change_nothing(name: str) -> None:
    one, two = (Batch(load_game(name), 600, threads=threads) for threads in (1, 2))
    one.reset(seed=1)
    two.reset(seed=1)
    generator = np.random.default_rng(0)
    for _ in range(150):
        chances = generator.random(one.masks.shape) * one.masks
        actions = chances.argmax(axis=1)
        one.step(actions)
        two.step(actions)
        for array in ("states", "observations", "masks", "movers", "rewards", "terminated", "truncated"):
            assert getattr(one, array).tobytes() == getattr(two, array).tobytes(), array
    assert (one.streams["game"][:, 1] > 0).any()  # some games were restarted


@pytest.mark.parametrize("rows", [[0, 0], [3], [-1], [0.0], [[0]], [True]], ids=str)
def test_batch__rows_that_cannot_be_are_refused(rows: list[Any]) -> None:
    batch = Batch(load_game("yum"), 3)
    batch.reset(seed=1)
    before = batch.states.tobytes(), batch.streams.tobytes()
    wrong = np.array(rows)
    writing = (
        lambda: batch.step(np.zeros(len(rows), np.int64), wrong),
        lambda: batch.restart(wrong),
        lambda: batch.view(wrong),
    )
    reading = (lambda: batch.results(wrong), lambda: batch.observe(wrong, np.zeros(len(rows), np.int8)))
    for call in writing if rows == [0, 0] else writing + reading:
        with pytest.raises(ValueError, match="rows "):
            call()
    assert (batch.states.tobytes(), batch.streams.tobytes()) == before


def test_batch__before_the_first_game_says_so() -> None:
    batch = Batch(load_game("yum"), 2)
    with pytest.raises(RuntimeError, match=r"step\(\) before the first game: call reset\(\)"):
        batch.step(np.zeros(2, np.int64))
    with pytest.raises(RuntimeError, match=r"restart\(\) before the first game: call reset\(\)"):
        batch.restart(np.array([0]))


if __name__ == "__main__":
    print(digest())
