"""Standard forms: what comes to the same looks the same, is worth the same, and is played the same."""

import os
from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray

from fivedice.agents import load
from fivedice.agents.checkpoint import CheckpointPolicy
from fivedice.agents.exact.yahtzee_jr import OPTIMAL
from fivedice.agents.exploit import exploit
from fivedice.agents.network import Network, tensor_shapes
from fivedice.agents.seat_vec_env import SeatVecEnv
from fivedice.envs.batch import Batch
from fivedice.envs.spec import Options
from fivedice.envs.standard import show_standard
from fivedice.envs.view import View
from fivedice.envs.yahtzee_jr import GAME
from fivedice.envs.yahtzee_jr.rules import CLUBHOUSE, NUM_CHARACTERS, OPEN, PLACE

needs_compiled_code = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too long in plain Python")
STANDARD = GAME.standard
assert STANDARD is not None


def positions(num_players: int, num_games: int, decisions: int, seed: int = 1) -> Batch:
    """Games after some random decisions each."""
    batch = Batch(GAME, num_games, num_players=num_players)
    batch.reset(seed)
    for _ in range(decisions):
        batch.step(load("random").act(batch.view()))
    return batch


def standard_states(batch: Batch) -> NDArray[np.void]:
    """The standard form of each game for its mover."""
    states, actions = batch.states.copy(), np.empty(GAME.num_actions(), np.int64)
    for row in range(len(states)):
        STANDARD(batch.states[row], batch.options, int(batch.movers[row]), states[row], actions)  # type: ignore[misc]
    return states


def renamed(state: np.void, names: tuple[int, ...]) -> np.void:
    """The position with other names: character c becomes ``names[c]``."""
    twin = state.copy()
    for old, new in enumerate(names):
        twin["tokens"][:, new] = state["tokens"][:, old]
    faces = np.array([0, *(name + 1 for name in names), CLUBHOUSE])
    twin["dice"] = np.sort(faces[state["dice"]])
    return twin


def network(seed: int, options: Options) -> Network:
    """One that nobody has trained: all that it sees makes a difference to it."""
    generator = np.random.default_rng(seed)
    size, actions = GAME.layout(options).size, GAME.num_actions(options)
    tensors = {
        name: generator.normal(size=shape).astype(np.float32)
        for name, shape in tensor_shapes(size, actions, (8,)).items()
    }
    return Network(tensors, size, actions, (8,), "tanh")


@pytest.mark.parametrize("num_players", [1, 2])
@pytest.mark.parametrize("decisions", [0, 7, 16, 23])
@needs_compiled_code
def test_standard_form__is_worth_the_same(num_players: int, decisions: int) -> None:
    batch = positions(num_players, 60, decisions)
    view = batch.view()
    shown = show_standard(GAME, batch.options, batch.states, batch.movers)
    states = standard_states(batch)
    masks = np.zeros_like(view.masks)
    for row in range(len(view)):
        GAME.rules.legal_actions(states[row], batch.options, masks[row])
    there = OPTIMAL.action_values(View(GAME, batch.options, states, view.seats, shown.observations, masks, view.noise))
    here = OPTIMAL.action_values(view)
    for row in range(len(view)):
        legal = np.flatnonzero(shown.masks[row])
        assert view.masks[row, shown.actions[row, legal]].all()
        assert np.allclose(there[row, legal], here[row, shown.actions[row, legal]], atol=1e-12)
        # ... and no legal action is left without one that comes to the same
        values = here[row, view.masks[row] == 1]
        assert (np.abs(values[:, None] - there[row, legal]).min(axis=1) < 1e-12).all()


@pytest.mark.parametrize("num_players", [1, 2, 3, 4])
def test_standard_form__does_not_know_names(num_players: int) -> None:
    batch = positions(num_players, 8, 9)
    for row, names in enumerate(list(permutations(range(NUM_CHARACTERS)))[7:120:15]):
        pair = np.array([batch.states[row], renamed(batch.states[row], names)])
        shown = show_standard(GAME, batch.options, pair, np.repeat(batch.movers[row], 2))
        assert np.array_equal(shown.observations[0], shown.observations[1])
        assert np.array_equal(shown.masks[0], shown.masks[1])
        for character in range(NUM_CHARACTERS):
            first, second = shown.actions[:, PLACE + character] - PLACE
            rows = [state["tokens"][:, name].tolist() for state, name in zip(pair, (first, second), strict=True)]
            assert rows[0] == rows[1]


def test_standard_form__dice_without_use_and_finished_rows_look_alike() -> None:
    batch = positions(2, 2, 0)
    batch.states["tokens"][:, :2] = [(5, 3, OPEN, OPEN, 1), (4, 1, OPEN, 2, 5)]
    batch.states["throws_left"] = 1
    batch.states["dice"] = [(1, 2, 3, 3, 6), (3, 3, 5, 5, 6)]  # Mickey, Minnie and Goofy are placed
    batch.states["tokens"][1, :2] = [(2, 2, OPEN, OPEN, 5), (5, 4, OPEN, 2, 1)]  # the same points otherwise
    batch.show()
    shown = show_standard(GAME, batch.options, batch.states, batch.movers)
    assert np.array_equal(shown.observations[0], shown.observations[1])
    batch.states["dice"][1] = (3, 3, 3, 5, 6)  # the near miss: Donald is of use
    shown = show_standard(GAME, batch.options, batch.states, batch.movers)
    assert not np.array_equal(shown.observations[0], shown.observations[1])
    batch.states["dice"][1] = (3, 3, 5, 5, 6)
    batch.states["tokens"][1, 0, 0] = 3  # a point more
    shown = show_standard(GAME, batch.options, batch.states, batch.movers)
    assert not np.array_equal(shown.observations[0], shown.observations[1])


def test_standard_form__each_kept_set_of_faces_has_one_action() -> None:
    batch = positions(2, 30, 1)
    batch.states["throws_left"] = 2
    shown = show_standard(GAME, batch.options, batch.states, batch.movers)
    for row, dice in enumerate(batch.states["dice"]):
        keeps = [int(keep) for keep in shown.actions[row, np.flatnonzero(shown.masks[row])] if keep < PLACE]
        kept = [tuple(dice[slot] for slot in range(5) if keep >> slot & 1) for keep in keeps]
        every = {tuple(dice[slot] for slot in range(5) if keep >> slot & 1) for keep in range(31)}
        assert len(kept) == len(set(kept))
        assert set(kept) == every


def test_show_standard__masks_are_empty_for_those_who_wait() -> None:
    batch = positions(2, 4, 3)
    assert not show_standard(GAME, batch.options, batch.states, 1 - batch.movers).masks.any()


def test_checkpoint_policy__on_standard_forms_plays_twins_alike() -> None:
    batch = positions(2, 40, 9)
    view = batch.view()
    names = (3, 1, 4, 0, 2)
    twins = np.array([renamed(state, names) for state in batch.states])
    other = Batch(GAME, 40)
    other.reset(2)
    other.states[:] = twins
    other.show()
    policies = {
        form: CheckpointPolicy("it", GAME, batch.options, network(5, batch.options), standard_form=form)
        for form in (True, False)
    }
    same = {}
    for form, policy in policies.items():
        here, there = policy.act(view), policy.act(other.view())
        placed = (here >= PLACE) & (there >= PLACE)
        same[form] = np.array(names)[here[placed] - PLACE] == there[placed] - PLACE
    assert same[True].all() or not len(same[True])
    assert not same[False].all()


@needs_compiled_code
def test_exploit__is_exact_on_few_boards_for_standard_forms() -> None:
    tokens = np.array([(5, 3, OPEN, 2, OPEN), (4, OPEN, 3, OPEN, 3)], np.int8)
    options = GAME.make_options(2)
    wins = {}
    for form in (True, False):
        policy = CheckpointPolicy("it", GAME, options, network(6, options), standard_form=form)
        for boards in ("points", "all"):
            found = exploit(policy, boards=boards, tokens=tokens)  # type: ignore[arg-type]  # two of the literals
            wins[form, boards] = found.against_best_response
    assert np.allclose(wins[True, "points"], wins[True, "all"], atol=1e-12)
    assert not np.allclose(wins[False, "points"], wins[False, "all"], atol=1e-6)


def test_seat_vec_env__on_standard_forms_plays_the_same_games() -> None:
    env = SeatVecEnv("yahtzee_jr", 16, opponents="greedy", standard_form=True)
    env.seed(4)
    observations = env.reset()
    ended = 0
    while ended < 32:
        shown = show_standard(GAME, env.table.batch.options, env.table.batch.states, env.table.seats)
        assert np.array_equal(observations, shown.observations)
        assert np.array_equal(env.action_masks(), shown.masks == 1)
        before = env.table.batch.states.copy()
        actions = env.action_masks().argmax(axis=1)
        observations, _, dones, infos = env.step(actions)
        for row in np.flatnonzero(dones):
            assert observations.shape[1:] == infos[row]["terminal_observation"].shape
            ended += 1
        assert (before["player"] == env.table.seats).all() or dones.any()


def test_seat_vec_env__refuses_standard_forms_that_there_are_not() -> None:
    with pytest.raises(ValueError, match="has no standard form; leave standard_form at False"):
        SeatVecEnv("yum", 2, standard_form=True)
