"""Rollouts: better than their base, by dice of their own, whatever shares their batch."""

import math
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fivedice.agents import load
from fivedice.agents.evaluation.match import evaluate
from fivedice.agents.policies import rollout
from fivedice.agents.policies.baselines import GREEDY, RandomPolicy
from fivedice.agents.policies.protocols import BoundToGame
from fivedice.agents.policies.registry import load_all, read_rollout
from fivedice.agents.policies.rollout import (
    POINTS,
    WIN,
    RolloutPolicy,
    distinct,
    fresh_streams,
    may_be_better,
    standard_errors,
)
from fivedice.envs import load_game
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.chance import SCRIPT, STREAM, align_streams, fill_uniforms, new_streams
from fivedice.envs.core.view import Policy, View

YUM, YAHTZEE_JR = load_game("yum"), load_game("yahtzee_jr")
RANDOM = RandomPolicy()


class Counted:
    """Random play that knows how many decisions it was asked for, and how many at once."""

    name = "counted"

    def __init__(self) -> None:
        self.asked: list[int] = []

    def act(self, view: View) -> NDArray[np.int64]:
        self.asked.append(len(view))
        return RANDOM.act(view)


def decisions(
    game: Any, num_games: int, *, steps: int = 0, num_players: int = 2, seed: int = 1, **options: Any
) -> View:
    batch = Batch(game, num_games, num_players=num_players, **options)
    batch.reset(seed)
    for _ in range(steps):
        batch.step(RANDOM.act(batch.view()))
    return batch.view()


# Stronger than its base


def test_rollout__beats_its_base() -> None:
    policies = {"rollout": load("rollout:random:16"), "random": RANDOM}
    ours, _ = evaluate(YAHTZEE_JR, policies, games=40, num_players=2, seed=2)
    wins = ours.wins["random"]
    assert wins.mean - wins.half_width > 0.7


def last_decision(dice: list[int]) -> View:
    """One box of each of two seats is open, and no throw is left: player_0 fills Yum last but one, player_1 Ones."""
    batch = Batch(YUM, 1)
    batch.reset(1)
    batch.states["boxes"][0, :2] = 0
    batch.states["boxes"][0, 0, [0, 11]] = -1
    batch.states["boxes"][0, 1, [0, 1]] = -1
    batch.states["dice"][0] = dice
    batch.states["throws_left"] = 0
    batch.show()
    return batch.view()


def test_values__are_what_follows() -> None:
    """With five ones, filling Yum is worth 30 now, filling Ones 5, and what comes after is worth less than that."""
    values = RolloutPolicy(GREEDY, games=200).action_values(last_decision([1, 1, 1, 1, 1]))[0]
    assert np.flatnonzero(np.isfinite(values)).tolist() == [31, 42]
    assert values[42] - values[31] == pytest.approx(30 + 2.1 - (5 + 30 * 0.046), abs=1.0)  # Ones later, or Yum later
    assert RolloutPolicy(RANDOM, games=200).act(last_decision([1, 1, 1, 1, 1])).tolist() == [42]


def test_aims__a_sure_win_is_preferred_to_points() -> None:
    win, points = (
        RolloutPolicy(GREEDY, 8, aim).action_values(last_decision([1, 1, 1, 1, 1]))[0] for aim in (WIN, POINTS)
    )
    assert 0 < win[42] < 1.1
    assert points[42] > 20


# The same by plain steps


def played_plainly(view: View, row: int, action: int, number: int, base: Policy, aim: str) -> float:
    """One game on from a decision by the rules of one game: fresh dice of the decision's, each turn at a new block."""
    rules, options, players = view.game.rules, view.options, int(view.options["num_players"])
    state, stream = view.states[row : row + 1].copy(), np.zeros(1, STREAM)
    stream["key"][0] = int(view.uniforms[row] * 2**32), 0x726F6C6C
    stream["game"][0], stream["drawn"][0] = (number, 0), 4
    chance, mask = (stream[0], np.zeros(0, SCRIPT)), np.zeros((1, view.masks.shape[1]), np.int8)
    seen, uniforms = np.zeros((1, view.observations.shape[1]), np.float32), np.zeros(1)

    def wait() -> int:
        """Whoever is not to move goes on with a multiple of 64 draws, of dice and of uniforms; who is to move."""
        mover = int(rules.current_player(state[0]))
        for seat in set(range(6)) - {mover}:
            for which in (seat, 6 + seat):
                stream["drawn"][0, which] = -(-int(stream["drawn"][0, which]) // 64) * 64
        return mover

    wait()
    rules.apply(state[0], options, action, chance)
    while not rules.is_terminal(state[0], options):
        mover = wait()
        rules.legal_actions(state[0], options, mask[0])
        view.game.observe(state[0], options, mover, seen[0])
        fill_uniforms(np.zeros(1, np.int64), np.array([6 + mover]), stream, uniforms)
        shown = View(view.game, options, state.copy(), np.array([mover], np.int8), seen.copy(), mask.copy(), uniforms)
        rules.apply(state[0], options, int(base.act(shown)[0]), chance)
    points, won, seat = np.zeros(players), np.zeros(players, np.int8), int(view.seats[row])
    rules.scores(state[0], options, points)
    rules.winners(state[0], options, won)
    others = [points[other] for other in range(players) if other != seat]
    lead = float(points[seat]) - (sum(others) / len(others) if others else 0.0)
    return lead if aim == POINTS or players == 1 else won[seat] / won.sum() + 0.001 * lead


@pytest.mark.parametrize(
    ("name", "num_players", "steps", "base", "aim"),
    [
        ("yahtzee_jr", 3, 14, RANDOM, POINTS),
        ("yahtzee_jr", 4, 20, GREEDY, WIN),
        ("yahtzee_jr", 1, 5, RANDOM, WIN),
        ("yum", 3, 225, RANDOM, WIN),
        ("set_cubed", 3, 150, GREEDY, POINTS),
        ("showdown_yahtzee", 3, 60, GREEDY, POINTS),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_results__are_those_of_games_played_on_one_by_one(
    name: str, num_players: int, steps: int, base: Policy, aim: str
) -> None:
    view = decisions(load_game(name), 5, steps=steps, num_players=num_players, seed=6)
    generator, found = np.random.default_rng(7), {}
    assert len(set(view.seats.tolist())) > 1 or num_players == 1
    rows = np.repeat(np.arange(5), 3)
    actions = np.array([generator.choice(np.flatnonzero(view.masks[row])) for row in rows])
    results = RolloutPolicy(base, 9, aim)._play(view, rows, actions, 4, 2)
    for place, number in np.ndindex(15, 2):
        row, action = int(rows[place]), int(actions[place])
        found[place, number] = played_plainly(view, row, action, 4 + number, base, aim)
        assert results[place, number] == pytest.approx(found[place, number], abs=1e-9)
    assert len(set(found.values())) > 5


def test_results__of_a_shared_win_are_its_share() -> None:
    view = decisions(YAHTZEE_JR, 30, steps=35, num_players=2, tie_break="share")
    rows, actions = np.arange(30), RANDOM.act(view)
    results = RolloutPolicy(GREEDY, 1, WIN)._play(view, rows, actions, 0, 1)[:, 0]
    expected = [played_plainly(view, row, int(actions[row]), 0, GREEDY, WIN) for row in range(30)]
    assert results == pytest.approx(expected, abs=1e-9)
    assert {round(result, 1) for result in expected} == {0, 0.5, 1}


def test_values__are_means_over_the_first_games() -> None:
    view = decisions(YAHTZEE_JR, 2, steps=14, num_players=3)
    values = RolloutPolicy(RANDOM, 2).action_values(view)
    assert np.array_equal(np.isfinite(values), view.masks == 1)
    for row, action in np.argwhere(view.masks)[::5].tolist():
        games = [played_plainly(view, row, action, number, RANDOM, POINTS) for number in (0, 1)]
        assert values[row, action] == pytest.approx(np.mean(games), abs=1e-9)


def chosen_plainly(results: Callable[[int, int], float], legal: list[int], own: int, games: int) -> tuple[int, int]:
    """The choice of one decision by the results of each action's games, and how many games that takes.

    Those that fall behind the base's own drop out after 8 games, 16, 32, …; the best of the others must be better in
    eight times as many new ones, too.
    """
    played = 0

    def race(left: list[int], first: int, total: int) -> dict[int, list[float]]:
        nonlocal played
        gains: dict[int, list[float]] = {action: [] for action in left}
        so_far = 0
        while left and so_far < total:
            count = min(max(8, so_far), total - so_far)
            for number in range(first + so_far, first + so_far + count):
                played += 1 + len(left)
                for action in left:
                    gains[action].append(results(action, number) - results(own, number))
            so_far += count
            left = [
                action
                for action in left
                if any(gains[action])
                and (so_far == 1 or fmean(gains[action]) + 2 * stdev(gains[action]) / math.sqrt(so_far) > 0)
            ]
        return {action: gains[action] for action in left}

    hopeful = race([action for action in legal if action != own], 0, games)
    best = max(hopeful, key=lambda action: fmean(hopeful[action]), default=own)
    if not hopeful or fmean(hopeful[best]) <= 0:
        return own, played
    for gains in race([best], games, 8 * games).values():
        if fmean(gains) > 1.65 * stdev(gains) / math.sqrt(len(gains)):
            return best, played
    return own, played


@pytest.mark.parametrize("games", [1, 3, 12, 40])
def test_act__takes_what_the_race_and_its_confirmation_say(games: int) -> None:
    view = decisions(YAHTZEE_JR, 60, steps=6, num_players=3)
    assert 0 < (view.masks.sum(axis=1) == 1).sum() < 30  # nothing is played of these
    # Whole numbers, so that some actions come to the same; those of one game of a row go up and down together.
    generator = np.random.default_rng(games)
    results = generator.integers(0, 3, (60, 36, 9 * games)) + 4 * generator.integers(0, 3, (60, 1, 9 * games))
    # In some rows some do better, by as much as is hard to tell. Sums of sixteenths are exact.
    results = results + (generator.random((60, 36, 1)) < 0.06) * generator.integers(0, 9, (60, 1, 1)) / 16
    results[:, 3] = results[:, 4] = results[:, 5]
    asked = 0

    class Scripted(RolloutPolicy):
        def _play(
            self, view: View, rows: NDArray[np.int64], actions: NDArray[np.int64], first: int, count: int
        ) -> NDArray[np.float64]:
            nonlocal asked
            asked += len(rows) * count
            assert (view.masks[rows, actions] == 1).all()
            which = np.searchsorted(uniforms, view.uniforms[rows])
            return results[place[which], actions, first : first + count].astype(np.float64)

    place = np.argsort(view.uniforms)
    uniforms = view.uniforms[place]
    chosen = Scripted(RANDOM, games).act(view)
    own = RANDOM.act(view)
    expected, needed = own.copy(), 0
    for row in range(60):
        legal = np.flatnonzero(view.masks[row]).tolist()
        if len(legal) > 1:
            of_row = results[row].tolist()
            said = chosen_plainly(lambda action, number, of=of_row: of[action][number], legal, int(own[row]), games)
            expected[row], needed = said[0], needed + said[1]
    assert chosen.tolist() == expected.tolist()
    assert asked == needed
    if games > 3:
        assert 5 < (chosen != own).sum() < 55


def test_act__is_what_plain_games_say() -> None:
    view = decisions(YAHTZEE_JR, 4, steps=27, num_players=3, seed=3)
    own = RANDOM.act(view)
    for row in range(4):
        found = chosen_plainly(
            lambda action, number, row=row: played_plainly(view, row, action, number, RANDOM, POINTS),
            np.flatnonzero(view.masks[row]).tolist(),
            int(own[row]),
            3,
        )
        assert RolloutPolicy(RANDOM, 3).act(view)[row] == found[0]


def test_gains__standard_errors_and_hope() -> None:
    gains = np.array([[-1.0, -1.0, -1.1], [0.0, 0.0, 0.0], [-1.0, 2.0, -2.0], [0.0, 0.0, 1.0], [-3.0, -1.0, -1.1]])
    errors = [stdev(row) / math.sqrt(3) for row in gains.tolist()]
    assert standard_errors(gains) == pytest.approx(errors)
    hope = [any(row) and fmean(row) + 2 * error > 0 for row, error in zip(gains.tolist(), errors, strict=True)]
    assert may_be_better(gains).tolist() == hope == [False, False, True, True, False]
    assert may_be_better(np.array([[-5.0], [0.0], [2.0]])).tolist() == [True, False, True]  # one game says little
    assert (rollout.HOPE, rollout.SURE, rollout.CONFIRM, rollout.STAGE) == (2.0, 1.65, 8, 8)


def test_distinct__are_those_that_differ_in_state_or_stream() -> None:
    batch = Batch(YAHTZEE_JR, 7, num_players=2)
    batch.reset(1)
    batch.states[[2, 4]], batch.streams[[2, 4]] = batch.states[0], batch.streams[0]
    batch.states[5] = batch.states[1]  # with other dice to come
    batch.states[6], batch.streams[6] = batch.states[3], batch.streams[3]
    batch.states["throws_left"][6] = 1
    rows = np.array([4, 1, 2, 5, 6, 3, 0])
    kept, place = distinct(batch, rows)
    assert sorted(set(kept.tolist()) - {4, 2, 0}) == [1, 3, 5, 6]
    assert len(kept) == 5
    for row, stands in zip(rows.tolist(), kept[place].tolist(), strict=True):
        assert stands == row or {stands, row} <= {0, 2, 4}


def test_streams__are_named_by_the_noise_and_the_game() -> None:
    streams = fresh_streams(np.array([0.25, 0.75]), np.array([3, 9]))
    assert streams["key"].tolist() == [[2**30, rollout.KEY], [3 * 2**30, rollout.KEY]]
    assert streams["game"].tolist() == [[3, 0], [9, 0]]
    assert (streams["drawn"] == 4).all()
    assert not streams["words"].any()
    assert not streams["scripted"].any()


# Its dice are its own


def test_dice__are_not_those_to_come() -> None:
    batch = Batch(YUM, 2000)
    batch.reset(5)
    streams = fresh_streams(batch.view().uniforms, np.zeros(2000, np.int64))
    assert not (streams["key"] == batch.streams["key"]).all(axis=1).any()
    playout = Batch(YUM, 2000)
    playout.resume(batch.states, streams)
    for one in (batch, playout):
        one.step(np.zeros(2000, np.int64))  # throw all dice
    same = (batch.states["dice"] == playout.states["dice"]).all(axis=1).mean()
    assert same < 0.02  # by chance: the chance of two equal throws is about one in a hundred


def test_dice__of_no_seed_collide_with_those_of_playouts() -> None:
    keys = {int(new_streams(seed, 1)["key"][0, 1]) for seed in range(2000)}
    assert rollout.KEY not in keys


@pytest.mark.parametrize("game", ["yum", "yahtzee_jr", "showdown_yahtzee"])
def test_dice__are_the_same_again_after_a_turn_with_other_throws(game: str) -> None:
    """Of two games that part at once, one throws all dice again, the other none."""
    batch = Batch(load_game(game), 40)
    batch.reset(3)
    batch.states[20:], batch.streams[20:] = batch.states[:20], batch.streams[:20]
    batch.show()
    first, seen, rows = batch.movers.copy(), np.zeros((40, 2), np.int64), np.arange(40)
    while not seen.all():
        fewest, most = (batch.masks.argmax(axis=1), batch.num_actions - 1 - batch.masks[:, ::-1].argmax(axis=1))
        before = batch.movers.copy()
        batch.step(np.where(np.arange(40) < 20, fewest, most), rows, restart=False)
        align_streams(rows, batch.movers, batch.streams)
        again = (before != batch.movers) & (batch.movers == first) & ~seen.any(axis=1)
        drawn = batch.streams["drawn"][rows, first]
        seen[again] = np.column_stack([drawn, batch.streams["words"][rows, first, (drawn - 1) & 3]])[again]
    np.testing.assert_array_equal(seen[:20], seen[20:])
    assert len(np.unique(seen[:, 1])) == 20


def test_act__leaves_the_game_alone() -> None:
    batch = Batch(YAHTZEE_JR, 20)
    batch.reset(3)
    view = batch.view()
    before = [array.tobytes() for array in (batch.states, batch.streams, view.states, view.masks, view.uniforms)]
    RolloutPolicy(RANDOM, 8).act(view)
    assert [
        array.tobytes() for array in (batch.states, batch.streams, view.states, view.masks, view.uniforms)
    ] == before


# What is not played


def test_act__of_one_legal_action_plays_nothing() -> None:
    view = decisions(YUM, 400, steps=30, num_players=1)  # near the end many have one box left to fill
    lone = view.rows(np.flatnonzero(view.masks.sum(axis=1) == 1))
    assert len(lone)
    base = Counted()
    assert RolloutPolicy(base, 8).act(lone).tolist() == lone.masks.argmax(axis=1).tolist()
    assert base.asked == [len(lone)]  # what it would do itself


def test_act__plays_games_that_have_come_to_the_same_once() -> None:
    """Of five equal dice, every set of as many to keep is the same."""
    batch = Batch(YUM, 1)
    batch.reset(1)
    batch.states["dice"] = 6
    batch.show()
    base = Counted()
    RolloutPolicy(base, 4).action_values(batch.view())
    assert int(batch.masks.sum()) > 31
    assert base.asked[0] <= 4 * (5 + int(batch.masks[0, 31:].sum()))


def test_act__plays_games_that_have_come_to_the_same_after_the_turn_once() -> None:
    """Whether player_0 throws once more or not, the last box but one is crossed out in nearly every game."""
    batch = Batch(YUM, 1, zeros="free")
    batch.reset(1)
    batch.states["boxes"][0, :2] = 0
    batch.states["boxes"][0, 0, 11] = -1
    batch.states["boxes"][0, 1, 0] = -1
    batch.states["dice"][0] = [1, 2, 3, 4, 6]
    batch.states["throws_left"] = 1
    batch.show()
    candidates, games = int(batch.masks.sum()), 8
    seats: list[int] = []

    class Watched:
        name = "watched"

        def act(self, view: View) -> NDArray[np.int64]:
            seats.extend(view.seats.tolist())
            return GREEDY.act(view)

    RolloutPolicy(Watched(), games).action_values(batch.view())
    assert candidates > 30
    assert seats.count(0) > 15 * games  # different throws
    assert games <= seats.count(1) <= 3 * (games + 4)  # a turn of three decisions at most


# What is only uniforms


class Noisy(RolloutPolicy):
    """A rollout of 16 games that plays nothing: results are normal, and by `better` higher for action 1."""

    def __init__(self, num_rows: int, better: float) -> None:
        super().__init__(Counted(), 16)
        self.results = np.random.default_rng(1).normal(size=(num_rows, 43, 9 * 16))
        self.results[:, 1] += better

    def _play(
        self, view: View, rows: NDArray[np.int64], actions: NDArray[np.int64], first: int, count: int
    ) -> NDArray[np.float64]:
        return self.results[rows, actions, first : first + count]


def test_act__of_many_that_come_to_the_same_seldom_takes_another() -> None:
    """If the games in which an action did best were counted again, it would be taken in most rows."""
    view = decisions(YUM, 600)
    assert (view.masks.sum(axis=1) > 30).all()
    assert 0.01 < (Noisy(600, 0.0).act(view) != RANDOM.act(view)).mean() < 0.08


def test_act__of_many_takes_the_better_one() -> None:
    assert (Noisy(200, 1.5).act(decisions(YUM, 200)) == 1).mean() > 0.95


# Names


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("rollout", ("greedy", 64, "points")),
        ("rollout:random", ("random", 64, "points")),
        ("rollout:8", ("greedy", 8, "points")),
        ("rollout:greedy:200", ("greedy", 200, "points")),
        ("rollout:greedy:200:win", ("greedy", 200, "win")),
        ("rollout:win", ("greedy", 64, "win")),
        ("rollout:runs/yum/best.safetensors:32", ("runs/yum/best.safetensors", 32, "points")),
        ("rollout:C:/best.safetensors", ("C:/best.safetensors", 64, "points")),
        ("rollout:rollout:random:8:16", ("rollout:random:8", 16, "points")),
    ],
)
def test_name__is_read(name: str, read: tuple[str, int, str]) -> None:
    assert read_rollout(name) == read


def test_name__tells_rollouts_apart() -> None:
    named = load_all(["rollout", "rollout:random:8", "rollout:greedy:64:win"])
    assert list(named) == ["rollout:greedy:64", "rollout:random:8", "rollout:greedy:64:win"]
    with pytest.raises(ValueError, match="'rollout' is listed twice"):
        load_all(["rollout", "rollout"])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("rollout:", "'rollout:' is incomplete; name a rollout as rollout:BASE:GAMES"),
        ("rollout:greedy:", "'rollout:greedy:' is incomplete"),
        (
            "rollout:gredy:64",
            "'gredy' is not a policy; did you mean 'greedy'\\? Else use 'random', 'greedy', 'planner', 'optimal', ",
        ),
        ("rollout:greedy:0", "a rollout cannot simulate games=0 of each action; use 1 to 100000"),
        ("rollout:greedy:100001", "a rollout cannot simulate games=100001 of each action"),
        ("rollout:greedy:-3", "a rollout cannot simulate games=-3 of each action"),
        ("rollout:greedy:64:wins", "'greedy:64:wins' is not a policy"),
        ("rollouts", "'rollouts' is not a policy; did you mean 'rollout'\\? Else use"),
        ("rollout:nowhere.safetensors", "the file nowhere.safetensors does not exist"),
    ],
)
def test_name__that_is_none_is_refused(name: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        load(name)


def test_aim__that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="a rollout cannot maximise aim='wins'; use 'win' or 'points'"):
        RolloutPolicy(RANDOM, 8, "wins")


def test_base__that_is_bound_to_a_table_binds_the_rollout(tmp_path: Path) -> None:
    class Bound:
        name = "bound"
        game, options = YUM, YUM.make_options(3, {})

        def check(self, game: Any, options: Any) -> None:
            raise ValueError("bound plays another table")

        def act(self, view: View) -> NDArray[np.int64]:
            return RANDOM.act(view)

    policy = RolloutPolicy(Bound(), 8)
    assert policy.options["num_players"] == 3
    with pytest.raises(ValueError, match="bound plays another table"):
        policy.check(YUM, YUM.make_options(2, {}))
    assert isinstance(policy, BoundToGame)
    assert not isinstance(RolloutPolicy(RANDOM), BoundToGame)
