"""A game that is cut short by its limit of turns, through every API: truncated, and paid like a finished game."""

import copy
import io

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from rich.console import Console

from fivedice.agents import load
from fivedice.agents.cli.terminal import play_game
from fivedice.agents.evaluation.match import evaluate, play_games
from fivedice.agents.play.session import PlaySession, Seat
from fivedice.agents.training.vec_env import SeatVecEnv
from fivedice.envs import load_game
from fivedice.envs.api.aec import DiceEnv
from fivedice.envs.api.single import SeatEnv
from fivedice.envs.api.table import Table
from fivedice.envs.api.vector import SeatVectorEnv
from fivedice.envs.core.batch import Batch
from fivedice.envs.testing import check_env

GAME = load_game("showdown_yahtzee")
ID = "fivedice/ShowdownYahtzee-v0"


def random_actions(masks: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    actions: np.ndarray = (generator.random(masks.shape) * masks).argmax(axis=1)
    return actions


def expected(points: np.ndarray, seat: int) -> float:
    won = points == points.max()
    if won.all():
        return 0.0
    return 1 / won.sum() if won[seat] else -1 / (~won).sum()


def test_batch__distinguishes_a_cut_from_an_end() -> None:
    batch = Batch(GAME, 40, max_turns=60)
    batch.reset(seed=1)
    greedy, ended = load("greedy"), []
    rows = batch.all_rows
    while len(rows):
        batch.step(greedy.act(batch.view(rows)), rows, restart=False)
        assert not (batch.terminated & batch.truncated).any()
        ended += [(int(batch.states["turns"][row]), bool(batch.truncated[row])) for row in rows[batch.over[rows]]]
        rows = rows[~batch.over[rows]]
    assert {turns for turns, truncated in ended if truncated} == {61}
    assert 5 < sum(truncated for _, truncated in ended) < 35
    assert max(turns for turns, truncated in ended if not truncated) <= 60
    batch.restart(np.flatnonzero(batch.truncated))
    assert not batch.truncated.any()
    assert batch.terminated.any()


def test_batch__pays_and_starts_anew() -> None:
    batch, generator = Batch(GAME, 64, max_turns=9), np.random.default_rng(2)
    batch.reset(seed=2)
    cut = 0
    for _ in range(120):
        twin = copy.deepcopy(batch)
        actions = random_actions(batch.masks, generator)
        batch.step(actions)
        twin.step(actions, restart=False)
        assert (batch.truncated == twin.truncated).all()
        assert (batch.rewards == twin.rewards).all()
        points, _ = twin.results(twin.all_rows)
        for row in np.flatnonzero(twin.truncated):
            assert batch.rewards[row].tolist() == [expected(points[row], seat) for seat in (0, 1)]
            assert batch.states["turns"][row] == 1  # of the next game
            cut += 1
        assert not batch.rewards[~batch.over].any()
    assert cut > 50


def test_aec__agents_are_truncated_together_and_copies_know() -> None:
    check_env(lambda: DiceEnv(GAME, 3, "win", max_turns=7), games=2)
    env = DiceEnv(GAME, max_turns=3, reward="margin")
    env.reset(seed=1)
    generator = np.random.default_rng(1)
    while not any(env.truncations.values()):
        env.step(int(random_actions(env.observe(env.agent_selection)["action_mask"][None], generator)[0]))
    twin = DiceEnv(GAME, max_turns=3, reward="margin")
    twin.reset(seed=5)
    twin.set_state(env.get_state())
    for one in (env, twin, copy.deepcopy(env)):
        assert set(one.truncations.values()) == {True}
        assert set(one.terminations.values()) == {False}
        _, _, terminated, truncated, _ = one.last()
        assert (terminated, truncated) == (False, True)
        assert not any(one.observe(agent)["action_mask"].any() for agent in one.possible_agents)
        with pytest.raises(ValueError, match="None"):
            one.step(0)
        one.step(None)
        one.step(None)
        assert one.agents == []
    env.reset()
    assert not any(env.truncations.values())


def test_seat_env__is_truncated_with_its_payoff() -> None:
    env = gymnasium.make(f"fivedice.envs:{ID}", opponents="greedy", seat=0, max_turns=5)
    for seed in range(5):
        _, info = env.reset(seed=seed)
        generator, over, paid = np.random.default_rng(seed), False, 0.0
        while not over:
            action = random_actions(info["action_mask"][None], generator)[0]
            _, reward, terminated, truncated, info = env.step(action)
            paid += float(reward)
            over = terminated or truncated
        assert (terminated, truncated) == (False, True)
        points, _ = env.unwrapped.table.batch.results(np.array([0]))  # type: ignore[attr-defined]
        assert paid == expected(points[0], 0)
        assert info["score"] == points[0, 0]
        assert info["rank"] == 1 + int(points[0, 1] > points[0, 0])


@pytest.mark.parametrize("mode", AutoresetMode)
def test_vector_env__rows_are_truncated(mode: AutoresetMode) -> None:
    envs = SeatVectorEnv(6, GAME, "random", autoreset_mode=mode, max_turns=4)
    _, infos = envs.reset(seed=1)
    generator, cut = np.random.default_rng(1), 0
    for _ in range(60):
        actions = random_actions(infos["action_mask"], generator)
        _, _, terminated, truncated, infos = envs.step(actions)
        assert not terminated.any()
        assert truncated.dtype == np.bool_
        if truncated.any():
            cut += int(truncated.sum())
            assert (infos["_score"] == truncated).all()
            if mode is AutoresetMode.SAME_STEP:
                assert (infos["_final_info"] == truncated).all()
            if mode is AutoresetMode.DISABLED:
                with pytest.raises(ValueError, match="are over"):
                    envs.step(actions)
                _, infos = envs.reset(options={"reset_mask": truncated})
    assert cut > 10


def test_sb3__a_cut_is_an_end_with_its_payoff() -> None:
    env, generator = SeatVecEnv(GAME, 8, opponents="random", max_turns=6), np.random.default_rng(1)
    env.seed(1)
    env.reset()
    paid, cut = np.zeros(8), 0
    for _ in range(80):
        _, rewards, dones, infos = env.step(random_actions(env.action_masks(), generator))
        paid += rewards
        for row in np.flatnonzero(dones):
            info = infos[row]
            assert (info["TimeLimit.truncated"], info["cut_short"]) == (False, True)
            assert info["terminal_observation"].shape == env.observation_space.shape
            assert paid[row] == (info["win"] == 1.0) - (info["win"] == 0.0) == info["episode"]["r"]
            paid[row], cut = 0.0, cut + 1
    assert cut > 20


# A game that is over before the learner has decided anything.


@pytest.mark.parametrize("num_players", [2, 4])
def test_table__skips_games_without_a_decision_of_the_learner(num_players: int) -> None:
    table, generator = Table(GAME, 50, seat=1, num_players=num_players, max_turns=1), np.random.default_rng(1)
    table.reset(seed=1)
    batch = table.batch
    assert (batch.streams["game"][:, 1] > 0).any()  # some first games were skipped
    for _ in range(30):
        assert (batch.movers == 1).all()
        assert batch.masks.any(axis=1).all()
        assert not batch.over.any()
        assert not table.paid.any()
        assert not table.owed.any()
        while not batch.over.all():
            rows = np.flatnonzero(~batch.over)
            table.step(random_actions(batch.masks[rows], generator), rows)
        points, _ = batch.results(batch.all_rows)
        assert table.paid.tolist() == [expected(points[row], 1) for row in range(50)]
        table.restart(batch.all_rows)


def test_seat_env__begins_with_a_decision() -> None:
    env = SeatEnv(GAME, seat=0, max_turns=1)
    for seed in range(10):
        _, info = env.reset(seed=seed)
        assert info["action_mask"].any()
        assert env.table.batch.movers[0] == 0


def test_arena__counts_games_without_a_decision_of_one_side() -> None:
    policies = [load("greedy"), load("random")]
    seating = np.tile([0, 1], (200, 1))
    games = play_games(GAME, seating, policies, seed=1, options={"max_turns": 1})
    assert games.shares.sum(axis=1).tolist() == [1.0] * 200
    assert ((games.points > 0).sum(axis=1) <= 1).all()  # only one seat had a turn
    assert 0.3 < (games.points[:, 0] > 0).mean() < 0.7
    standings = evaluate(
        GAME, {"greedy": policies[0], "random": policies[1]}, games=200, num_players=2, seed=1, options={"max_turns": 5}
    )
    assert standings[0].wins["random"].mean > 0.6


def test_play__ends_with_the_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    console = Console(file=said, width=200)
    session = PlaySession(GAME, [Seat(), Seat("greedy", load("greedy"))], seed=1, options={"max_turns": 2})
    monkeypatch.setattr(Console, "input", lambda *_, **__: "" if session.is_over else "a")
    play_game(session, console)
    assert "Cut short after 2 turns" in said.getvalue()
    assert "The game was cut short by its limit of turns. " in said.getvalue()
