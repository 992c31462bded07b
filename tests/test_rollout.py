"""Rollouts: better than their base, by dice of their own, whatever shares their batch."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fivedice.agents import load, rollout
from fivedice.agents.arena import evaluate
from fivedice.agents.baselines import GREEDY, RandomPolicy
from fivedice.agents.policy import load_all, read_rollout
from fivedice.agents.rollout import POINTS, WIN, RolloutPolicy, fresh_streams
from fivedice.envs import load_game
from fivedice.envs.batch import Batch
from fivedice.envs.chance import line_up, new_streams
from fivedice.envs.view import View

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


def decisions(game: Any, num_games: int, *, steps: int = 0, num_players: int = 2, seed: int = 1) -> View:
    batch = Batch(game, num_games, num_players=num_players)
    batch.reset(seed)
    for _ in range(steps):
        batch.step(RANDOM.act(batch.view()))
    return batch.view()


# Stronger than its base


def test_rollout__beats_its_base() -> None:
    policies = {"rollout": load("rollout:random:16"), "random": RANDOM}
    ours, _ = evaluate(YAHTZEE_JR, policies, games=60, num_players=2, seed=2)
    wins = ours.wins["random"]
    assert wins.mean - wins.half_width > 0.7


def test_rollout__alone_makes_more_points() -> None:
    ours, random = evaluate(
        YAHTZEE_JR, {"rollout": load("rollout:random:16"), "random": RANDOM}, games=40, num_players=1, seed=2
    )
    assert ours.points.mean - random.points.mean > ours.points.half_width + random.points.half_width


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


# Its dice are its own


def test_dice__are_not_those_to_come() -> None:
    batch = Batch(YUM, 2000)
    batch.reset(5)
    streams = fresh_streams(batch.view().noise, np.zeros(2000, np.int64))
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


def test_dice__are_the_same_for_all_actions_of_a_decision() -> None:
    noise = np.array([0.25, 0.25, 0.75])
    streams = fresh_streams(noise, np.array([3, 3, 3]))
    assert streams[0] == streams[1]
    assert streams[0] != streams[2]
    assert fresh_streams(noise[:1], np.array([4]))[0] != streams[0]


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
        line_up(rows, batch.movers, batch.streams)
        again = (before != batch.movers) & (batch.movers == first) & ~seen.any(axis=1)
        drawn = batch.streams["drawn"][rows, first]
        seen[again] = np.column_stack([drawn, batch.streams["words"][rows, first, (drawn - 1) & 3]])[again]
    np.testing.assert_array_equal(seen[:20], seen[20:])
    assert len(np.unique(seen[:, 1])) == 20


def test_act__leaves_the_game_alone() -> None:
    batch = Batch(YAHTZEE_JR, 20)
    batch.reset(3)
    view = batch.view()
    before = [array.tobytes() for array in (batch.states, batch.streams, view.states, view.masks, view.noise)]
    RolloutPolicy(RANDOM, 8).act(view)
    assert [array.tobytes() for array in (batch.states, batch.streams, view.states, view.masks, view.noise)] == before


# What does not matter


@pytest.mark.parametrize("base", [RANDOM, GREEDY], ids=lambda base: base.name)
def test_act__does_not_depend_on_what_shares_the_batch(base: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    view, policy = decisions(YAHTZEE_JR, 24, steps=4), RolloutPolicy(base, 12)
    whole = policy.act(view)
    values = policy.action_values(view)
    alone = [policy.act(view.rows(np.array([row])))[0] for row in range(24)]
    assert alone == whole.tolist()
    backwards = view.rows(np.arange(24)[::-1])
    assert policy.act(backwards)[::-1].tolist() == whole.tolist()
    monkeypatch.setattr(rollout, "PLAYOUTS_AT_ONCE", 37)
    assert policy.act(view).tolist() == whole.tolist()
    np.testing.assert_array_equal(policy.action_values(view), values)
    assert len(set(whole.tolist())) > 3


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


# What is only noise


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
    with pytest.raises(ValueError, match="'rollout' is named twice"):
        load_all(["rollout", "rollout"])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("rollout:", "'rollout:' ends in the middle; name a rollout as rollout:BASE:GAMES"),
        ("rollout:greedy:", "'rollout:greedy:' ends in the middle"),
        ("rollout:gredy:64", "'gredy' is not a policy; use 'random', 'greedy', 'optimal', 'rollout' or the path"),
        ("rollout:greedy:0", "games=0 of each action cannot be played in a rollout; use 1 to 100000"),
        ("rollout:greedy:100001", "games=100001 of each action cannot be played"),
        ("rollout:greedy:-3", "games=-3 of each action cannot be played"),
        ("rollout:greedy:64:wins", "'greedy:64:wins' is not a policy"),
        ("rollouts", "'rollouts' is not a policy; use"),
        ("rollout:nowhere.safetensors", "there is no file nowhere.safetensors"),
    ],
)
def test_name__that_is_none_is_refused(name: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        load(name)


def test_aim__that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="aim='wins' is nothing that a rollout can maximise; use 'win' or 'points'"):
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
    assert not hasattr(RolloutPolicy(RANDOM), "options")
