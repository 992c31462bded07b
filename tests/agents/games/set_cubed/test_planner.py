"""The planner of SET Cubed: its turns, its EXTRA roll, and how it plays."""

import os
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fivedice.agents.evaluation.match import play_games
from fivedice.agents.games.set_cubed import fit_planner
from fivedice.agents.games.set_cubed.greedy import GREEDY
from fivedice.agents.games.set_cubed.greedy_turn import best_lay
from fivedice.agents.games.set_cubed.planner import PLANNER, WEIGHTS, PlannerSetCubed, read_weights, weights_for
from fivedice.agents.games.set_cubed.planner_extra import write_exact_keeps, write_exact_threes
from fivedice.agents.games.set_cubed.planner_future import (
    FEATURES,
    NUM_FEATURES,
    NUM_SITUATIONS,
    REPLY,
    lay_turn,
    look_after_turn,
)
from fivedice.agents.games.set_cubed.planner_turns import MARGIN, PLACE, find_turns, no_turns
from fivedice.agents.games.set_cubed.throws import read_sides, write_throws
from fivedice.agents.policies.baselines import PLANNER as ANY_PLANNER
from fivedice.agents.policies.prior import PRIORS, Prior
from fivedice.agents.policies.registry import load
from fivedice.agents.policies.rollout import RolloutPolicy
from fivedice.envs import load_game
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.chance import new_script, new_streams
from fivedice.envs.core.random_play import pick
from fivedice.envs.set_cubed import GAME
from fivedice.envs.set_cubed.dice import ALL_WITH_WILD, SIDES
from fivedice.envs.set_cubed.rules import EXTRA, PLAY, apply

SMALL = "......./.4.9.4./...*.../.1.*.1./...*.../.4.9.4./......."
TABLES: list[dict[str, Any]] = [{}, {"num_players": 4, "board": SMALL}, {"dice": ALL_WITH_WILD}]
pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too long in plain Python")


def positions(phase: int, number: int, **table: Any) -> tuple[NDArray[np.void], Any]:
    """Starts of turns, or EXTRA rolls, from greedy play with some random decisions."""
    batch = Batch(GAME, 20, **table)
    batch.reset(5)
    generator = np.random.default_rng(5)
    found: list[Any] = []
    while len(found) < number:
        view = batch.view()
        wanted = (view.states["phase"] == phase) & (view.states["laid"][:, 0] < 0)
        found += [state.copy() for state in view.states[wanted & (generator.random(20) < 0.3)]]
        drawn = np.empty(20, np.int64)
        pick(view.masks, generator.random(20), drawn)
        batch.step(np.where(generator.random(20) < 0.1, drawn, GREEDY.act(view)))
    return np.array(found[:number], batch.states.dtype), batch.options


def record_of(states: NDArray[np.void], row: int) -> Any:
    return states[row : row + 1].copy()[0]


@pytest.mark.parametrize("table", TABLES, ids=("standard", "small", "WILDs"))
def test_turns__the_first_has_the_points_of_the_exact_search_and_all_are_legal(table: dict[str, Any]) -> None:
    """Each turn is laid by the rules, die by die, as the planner says: it scores what the search said."""
    states, options = positions(PLAY, 40 if "dice" not in table else 6, **table)
    several = wilds = 0
    for row in range(len(states)):
        turns = no_turns()
        find_turns(record_of(states, row), options, turns)
        number = int(turns.number[0])
        points = turns.points[:number].tolist()
        assert points[0] == best_lay(record_of(states, row), options)[1]
        assert points == sorted(points, reverse=True)
        # Turns that score MARGIN less are listed only if they come before the best: with that one known, none is left.
        known = no_turns()
        known.number[0] = 1
        for part, found in ((known.points, turns.points), (known.keys, turns.keys), (known.dice, turns.dice)):
            part[0] = found[0]
        find_turns(record_of(states, row), options, known)
        assert known.points[: known.number[0]].tolist() == [some for some in points if some >= points[0] - MARGIN]
        sets = {frozenset(map(tuple, dice[dice[:, PLACE] >= 0].tolist())) for dice in turns.dice[:number]}
        assert len(sets) == number, "a turn is listed twice"
        for turn in range(number):
            assert laid_by_rules(record_of(states, row), turns.dice[turn], options) == points[turn]
        several += number > 3
        wilds += int(turns.dice[:number, :, 2].max() > 0)
    assert several > 3
    assert wilds > 0


def laid_by_rules(state: Any, dice: NDArray[np.int64], options: Any) -> int:
    """The points of a turn, laid by the rules in the order of its dice. The rules must allow each action."""
    player, before = int(state["player"]), int(state["scores"][state["player"]])
    columns = int(options["board"][1])
    cells, end = int(options["board"][0]) * columns, GAME.num_actions(options) - 1
    chance = new_streams(0, 1)[0], new_script([], 74)
    points = 0
    for place, face, is_wild in dice.tolist():
        if place < 0:
            break
        row, column = divmod(place, 19)
        slot = state["hand_faces"][player].tolist().index(27 if is_wild else face)
        actions = [slot * cells + (row - 2) * columns + column - 2, *([5 * cells + face] if is_wild else [])]
        for action in actions:
            mask = np.zeros(GAME.num_actions(options), np.int8)
            GAME.rules.legal_actions(state, options, mask)
            assert mask[action]
            apply(state, options, action, chance)
        points = int(state["scores"][player]) - before
    if state["player"] == player and state["phase"] == PLAY and (state["laid"] >= 0).sum() > 0:
        mask = np.zeros(GAME.num_actions(options), np.int8)
        GAME.rules.legal_actions(state, options, mask)
        assert mask[end], "a die waits for its SET"
    return points


@pytest.mark.parametrize("table", TABLES, ids=("standard", "small", "WILDs"))
def test_extra__each_throw_has_the_points_of_the_exact_search(table: dict[str, Any]) -> None:
    states, options = positions(EXTRA, 12, **table)
    generator = np.random.default_rng(2)
    scoring = 0
    for row in range(len(states)):
        state = record_of(states, row)
        shown = state["hand_faces"][state["player"]]
        size = int((shown >= 0).sum())
        sides = np.empty((5, SIDES), np.int64)
        read_sides(state, options, sides)
        of_threes, of_throws = np.empty((10, *[SIDES] * 3), np.int64), np.empty([SIDES] * 5, np.int64)
        write_exact_threes(state, options, sides, of_threes)
        write_throws(of_threes, size, of_throws)
        keeps = np.zeros(1 << size)
        write_exact_keeps(state, options, keeps)
        whole = of_throws[tuple(slice(SIDES if slot < size else 1) for slot in reversed(range(5)))]
        assert keeps[0] == pytest.approx(whole.mean())
        assert keeps[-1] == pytest.approx(best_lay(state.copy(), options)[1] + size * 1e-9)
        for throw in generator.integers(SIDES, size=(15, 5)):
            throw[size:] = 0
            thrown = state.copy()
            thrown["hand_faces"][state["player"], :size] = sides[np.arange(size), throw[:size]]
            expected = best_lay(thrown, options)[1]
            assert of_throws[tuple(throw[::-1])] == expected
            scoring += expected > 6
    assert scoring > 20


def test_features__the_reply_is_the_turn_that_greedy_play_takes_next() -> None:
    states, options = positions(PLAY, 40)
    replies = 0
    for row in range(len(states)):
        state, turns = record_of(states, row), no_turns()
        find_turns(state, options, turns)
        features = np.empty(NUM_FEATURES)
        lay_turn(state, turns.dice[0], options)
        after = state.copy()
        situation = look_after_turn(state, options, features)
        is_first = int(after["player"]) == int(after["opener"])
        assert situation // 3 == (0 if is_first else 1)
        after["player"], after["laid"] = 1 - after["player"], -1
        assert features[REPLY] == (best_lay(after, options)[1] if is_first else 0)
        replies += features[REPLY] > 0
    assert replies > 5


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_act__is_the_best_of_the_values_and_depends_on_nothing_else(num_players: int) -> None:
    batch = Batch(GAME, 12, num_players=num_players)
    batch.reset(9)
    places, met = np.arange(12), set()
    for step in range(40):
        view = batch.view()
        before = view.states.tobytes()
        values, actions = PLANNER.action_values(view), PLANNER.act(view)
        assert view.states.tobytes() == before
        assert np.array_equal(np.isfinite(values), view.masks == 1)
        assert np.array_equal(actions, values.argmax(axis=1))
        assert PLANNER.act(view.rows(places[3:4]))[0] == actions[3]
        met |= set(view.states["phase"].tolist())
        if step % 4 == 3:  # also decisions in the middle of turns that it would not have begun
            pick(view.masks, view.uniforms, actions)
        batch.step(actions)
    assert met == {0, PLAY, EXTRA}


def test_weights__are_those_of_the_planner() -> None:
    tables = read_weights()
    assert set(tables) == {"2", "3", "4"}
    assert fit_planner.in_toml(tables) == WEIGHTS.read_text("utf-8")
    for num_players in (2, 3, 4):
        assert weights_for(num_players).shape == (NUM_SITUATIONS, len(FEATURES))
    batch = Batch(GAME, 60)
    batch.reset(1)
    other = PlannerSetCubed(np.zeros((NUM_SITUATIONS, NUM_FEATURES)))
    differ = 0
    for _ in range(12):
        view = batch.view()
        differ += int((PLANNER.act(view) != other.act(view)).sum())
        batch.step(PLANNER.act(view))
    assert differ > 0


def test_fit__computes_weights_from_games() -> None:
    weights = fit_planner.fit(2, 8, 3, np.zeros((NUM_SITUATIONS, NUM_FEATURES)))
    again = fit_planner.fit(2, 8, 3, np.zeros((NUM_SITUATIONS, NUM_FEATURES)))
    assert np.array_equal(weights, again)
    assert np.isfinite(weights).all()
    assert (np.abs(weights).sum(axis=1) > 0).all(), "every situation should have come"


def test_planner__wins_against_greedy() -> None:
    """Far above half of the games; docs/results has the figure."""
    seating = np.array([[game % 2, 1 - game % 2] for game in range(200)])
    played = play_games(GAME, seating, [load("planner"), load("greedy")], seed=1)
    assert played.shares[seating == 0].mean() > 0.53


def test_planner__is_a_policy_like_greedy() -> None:
    assert load("planner") is ANY_PLANNER
    assert ANY_PLANNER.of(GAME) is PLANNER
    assert RolloutPolicy(load("planner"), 2).name == "rollout:planner:2"
    batch = Batch(GAME, 3)
    batch.reset(0)
    assert Prior(PRIORS["planner"], 3.0).shown(batch.view()).shape == batch.masks.shape
    yum = Batch(load_game("yum"), 1)
    yum.reset(0)
    with pytest.raises(ValueError, match="there is no 'planner' policy for Yum; use 'random' or 'greedy' or 'optimal'"):
        load("planner").act(yum.view())
    with pytest.raises(ValueError, match="this planner plays SET Cubed, not Yum"):
        PLANNER.act(yum.view())
