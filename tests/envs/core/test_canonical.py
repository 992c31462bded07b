"""Canonical forms: what comes to the same looks the same, is worth the same, and is played the same."""

import os
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fivedice.agents import load
from fivedice.agents.games.yahtzee_jr.exact import OPTIMAL
from fivedice.agents.games.yahtzee_jr.exploit import exploit
from fivedice.agents.policies.checkpoint import CheckpointPolicy
from fivedice.agents.policies.network import Network, tensor_shapes
from fivedice.agents.training.vec_env import SeatVecEnv
from fivedice.envs import GAMES, load_game
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.canonical import canonical_view
from fivedice.envs.core.chance import new_script, new_streams
from fivedice.envs.core.spec import Options
from fivedice.envs.core.view import View
from fivedice.envs.yahtzee_jr import GAME
from fivedice.envs.yahtzee_jr.rules import CLUBHOUSE, NUM_CHARACTERS, OPEN, PLACE

needs_compiled_code = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too long in plain Python")
any_seats = pytest.mark.parametrize("num_players", [1, 2, 3, 4])
STANDARD = GAME.canonical
assert STANDARD is not None


def positions(num_players: int, num_games: int, decisions: int, seed: int = 1) -> Batch:
    """Games after some random decisions each."""
    batch = Batch(GAME, num_games, num_players=num_players)
    batch.reset(seed)
    for _ in range(decisions):
        batch.step(load("random").act(batch.view()))
    return batch


def canonical_form(state: Any, options: Options, seat: int) -> tuple[Any, NDArray[np.int64]]:
    """The canonical form of one position, and which action each action there is in the position."""
    form, actions = state.copy(), np.full(GAME.num_actions(), -7, np.int64)
    STANDARD(state, options, seat, form, actions)  # type: ignore[misc]
    return form, actions


def renamed(state: Any, names: tuple[int, ...]) -> Any:
    """The position with other names: character c becomes ``names[c]``."""
    twin = state.copy()
    for old, new in enumerate(names):
        twin["tokens"][:, new] = state["tokens"][:, old]
    faces = np.array([0, *(name + 1 for name in names), CLUBHOUSE])
    twin["dice"] = np.sort(faces[state["dice"]])
    return twin


def twin_of(state: Any, seat: int, num_players: int, generator: np.random.Generator) -> Any:
    """A position that comes to the same for `seat`: other names, dice without use and cells of finished rows."""
    twin = renamed(state, tuple(generator.permutation(NUM_CHARACTERS).tolist()))
    placed = [character + 1 for character in range(NUM_CHARACTERS) if twin["tokens"][seat, character] != OPEN]
    for slot in range(5):
        if twin["dice"][slot] in placed:
            twin["dice"][slot] = generator.choice(placed)
    twin["dice"].sort()
    finished = [row for row in range(NUM_CHARACTERS) if OPEN not in twin["tokens"][:num_players, row]]
    for _ in range(20 if len(finished) > 1 else 0):
        giving, taking = generator.permutation(finished)[:2]
        other = generator.integers(num_players)
        if twin["tokens"][other, giving] > 0 and twin["tokens"][other, taking] < 5:
            twin["tokens"][other, giving] -= 1
            twin["tokens"][other, taking] += 1
    return twin


def near_misses(state: Any, seat: int, num_players: int, generator: np.random.Generator) -> list[Any]:
    """Positions that differ in one thing."""
    made = [state.copy() for _ in range(6)]
    other, row, slot = generator.integers(num_players), generator.integers(NUM_CHARACTERS), generator.integers(5)
    made[0]["dice"][slot] = generator.integers(1, CLUBHOUSE + 1)
    made[0]["dice"].sort()
    made[1]["tokens"][other, row] = generator.integers(OPEN, 6)
    made[2]["throws_left"] = (state["throws_left"] + 1) % 3
    made[3]["player"] = (state["player"] + 1) % num_players
    made[4]["roll_off"] = generator.integers(-1, num_players)
    made[5]["tokens"][:num_players] = np.roll(state["tokens"][:num_players], 1, axis=0)
    return made


def what_counts(state: Any, seat: int, num_players: int) -> tuple[Any, ...]:
    """All of a position that makes a difference to `seat`, whatever it is called."""
    order = [(seat + turn) % num_players for turn in range(num_players)]
    dice, rows, points = state["dice"].tolist(), [], [0] * num_players
    for character in range(NUM_CHARACTERS):
        tokens = [int(state["tokens"][other, character]) for other in order]
        if OPEN in tokens:
            rows.append((dice.count(character + 1) if tokens[0] == OPEN else -1, *tokens))
        else:
            points = [had + column for had, column in zip(points, tokens, strict=True)]
    rest = (int(state[field]) for field in ("throws_left", "player", "roll_off"))
    return (sorted(rows), points, dice.count(CLUBHOUSE), *rest)


def kept_faces(state: Any, seat: int, keep: int) -> tuple[int, ...]:
    """What a set of slots keeps, dice without use all called 0."""
    dice = [int(state["dice"][slot]) for slot in range(5) if keep >> slot & 1]
    return tuple(sorted(die if die == CLUBHOUSE or state["tokens"][seat, die - 1] == OPEN else 0 for die in dice))


@cache
def walked(num_players: int) -> tuple[Options, NDArray[np.void]]:
    """Positions of random games from their starts to their ends, ends among them."""
    batch, generator = Batch(GAME, 12, num_players=num_players), np.random.default_rng(num_players)
    batch.reset(seed=num_players)
    found, rows = [batch.states[:2].copy()], batch.all_rows
    while len(rows):
        batch.step(load("random").act(batch.view(rows)), rows, restart=False)
        found.append(batch.states[rows[generator.random(len(rows)) < 0.15]])
        found.append(batch.states[rows[batch.over[rows]]])
        rows = rows[~batch.over[rows]]
    return batch.options, np.concatenate(found)


def network(seed: int, options: Options) -> Network:
    """One that nobody has trained: all that it sees makes a difference to it."""
    generator = np.random.default_rng(seed)
    size, actions = GAME.layout(options).size, GAME.num_actions(options)
    tensors = {
        name: generator.normal(size=shape).astype(np.float32)
        for name, shape in tensor_shapes(size, actions, (8,)).items()
    }
    return Network(tensors, size, actions, (8,), "tanh")


def test_canonical_form__every_game_that_has_one_is_tested() -> None:
    assert [name for name in GAMES if load_game(name).canonical is not None] == [GAME.name]


@any_seats
def test_canonical_form__is_one_for_all_that_come_to_the_same_and_for_no_others(num_players: int) -> None:
    options, states = walked(num_players)
    generator = np.random.default_rng(0)
    for seat in range(num_players):
        forms: dict[str, bytes] = {}
        for state in states:
            twins = [twin_of(state, seat, num_players, generator) for _ in range(3)]
            for twin in twins:
                assert what_counts(twin, seat, num_players) == what_counts(state, seat, num_players)
            for position in (state, *twins, *near_misses(state, seat, num_players, generator)):
                form, _ = canonical_form(position, options, seat)
                key = repr(what_counts(position, seat, num_players))
                assert forms.setdefault(key, form.tobytes()) == form.tobytes(), (position, seat)
                assert key == repr(what_counts(form, seat, num_players))
                assert canonical_form(form, options, seat)[0].tobytes() == form.tobytes()
        assert len(set(forms.values())) == len(forms)


def scattered(num_players: int) -> NDArray[np.void]:
    """Tokens anywhere, such as games seldom have them, and any dice."""
    generator = np.random.default_rng(num_players)
    states = np.zeros(150, GAME.rules.STATE)
    states["tokens"], states["roll_off"] = OPEN, -1
    tokens = generator.integers(OPEN, 6, (len(states), num_players, NUM_CHARACTERS))
    states["tokens"][:, :num_players] = np.where(generator.random(tokens.shape) < 0.3, OPEN, tokens)
    states["dice"] = np.sort(generator.integers(1, CLUBHOUSE + 1, (len(states), 5)), axis=1)
    states["player"] = generator.integers(num_players, size=len(states))
    return states


@any_seats
def test_canonical_form__stands_in_the_order_that_networks_were_trained_on(num_players: int) -> None:
    """Open characters come first, those that most dice show before others, and the tokens decide between equals."""
    options, states = walked(num_players)
    for state in (*states, *scattered(num_players)):
        for seat in range(num_players):
            form, _ = canonical_form(state, options, seat)
            dice, keys, points = form["dice"].tolist(), [], [list[int]() for _ in range(num_players)]
            for row in range(NUM_CHARACTERS):
                tokens = [int(form["tokens"][(seat + turn) % num_players, row]) for turn in range(num_players)]
                if OPEN in tokens:
                    assert not points[0], "a finished row stands before another one"
                    keys.append((tokens[0] != OPEN, -dice.count(row + 1) if tokens[0] == OPEN else 0, tokens))
                else:
                    for own, column in zip(points, tokens, strict=True):
                        own.append(column)
            assert keys == sorted(keys)
            assert dice == sorted(dice)
            assert {die for die in dice if die != CLUBHOUSE and form["tokens"][seat, die - 1] != OPEN} <= {5}
            for own in points:
                left = [sum(own) - 5 * place for place in range(len(own))]
                assert own == [min(5, max(0, more)) for more in left]
            assert what_counts(form, seat, num_players) == what_counts(state, seat, num_players)


@any_seats
def test_canonical_form__is_the_same_from_every_seat(num_players: int) -> None:
    options, states = walked(num_players)
    states = states[[not GAME.rules.is_terminal(state, options) for state in states]]
    for seat in range(num_players):
        shown = canonical_view(GAME, options, states, np.full(len(states), seat))
        for turn in range(1, num_players):
            others = (seat + turn) % num_players
            moved = states.copy()
            moved["tokens"][:, :num_players] = np.roll(states["tokens"][:, :num_players], turn, axis=1)
            moved["player"] = (states["player"] + turn) % num_players
            there = canonical_view(GAME, options, moved, np.full(len(states), others))
            for here, elsewhere in zip(shown, there, strict=True):
                assert np.array_equal(here, elsewhere)


@any_seats
def test_canonical_form__every_action_is_there_once(num_players: int) -> None:
    """Of those that keep the same; which token is placed is told apart."""
    options, states = walked(num_players)
    seats = states["player"].astype(np.int64)
    shown = canonical_view(GAME, options, states, seats)
    for state, seat, shown_mask, actions in zip(states, seats, shown.masks, shown.actions, strict=True):
        mask = np.zeros(GAME.num_actions(), np.int8)
        GAME.rules.legal_actions(state, options, mask)
        assert sorted(actions[PLACE:]) == list(range(PLACE, GAME.num_actions()))
        assert ((actions[:PLACE] >= -1) & (actions[:PLACE] < PLACE)).all()
        assert shown_mask.tolist() == [int(action >= 0 and mask[action]) for action in actions]
        legal = actions[np.flatnonzero(shown_mask)]
        assert sorted(legal[legal >= PLACE]) == [action for action in np.flatnonzero(mask) if action >= PLACE]
        kept = [kept_faces(state, seat, int(keep)) for keep in legal if keep < PLACE]
        assert sorted(kept) == sorted({kept_faces(state, seat, keep) for keep in np.flatnonzero(mask[:PLACE])})


def after(state: Any, options: Options, action: int, faces: list[int]) -> Any:
    """The position after an action and the dice that fall then."""
    state = state.copy()
    GAME.rules.apply(state, options, action, (new_streams(1, 1)[0], new_script(faces, CLUBHOUSE)))
    return state


@any_seats
@pytest.mark.parametrize("chosen", [{}, {"must_score_most": False, "tie_break": "share"}], ids=str)
def test_canonical_form__is_played_like_the_position_itself(num_players: int, chosen: dict[str, Any]) -> None:
    """The same action and the same dice, by their names there, come to the same."""
    options, generator = GAME.make_options(num_players, chosen), np.random.default_rng(3)
    ends = 0
    for state in walked(num_players)[1][::2]:
        seat = int(state["player"])
        form, actions = canonical_form(state, options, seat)
        mask = np.zeros(GAME.num_actions(), np.int8)
        GAME.rules.legal_actions(form, options, mask)
        legal = np.flatnonzero(mask & (actions >= 0))
        names = {row + 1: int(actions[PLACE + row]) - PLACE + 1 for row in range(NUM_CHARACTERS)} | {
            CLUBHOUSE: CLUBHOUSE
        }
        for action in (*generator.permutation(legal[legal < PLACE])[:5], *legal[legal >= PLACE]):
            faces = generator.integers(1, CLUBHOUSE + 1, 200).tolist()  # enough for all ties
            there = after(form, options, action, faces)
            here = after(state, options, int(actions[action]), [names[face] for face in faces])
            is_over = GAME.rules.is_terminal(here, options)
            assert GAME.rules.is_terminal(there, options) == is_over
            ends += is_over
            # Dice that the mover has no use for may be of use to others, so these compare fresh dice alone.
            for other in [seat] if action < PLACE or is_over else range(num_players):
                forms = {canonical_form(position, options, other)[0].tobytes() for position in (here, there)}
                assert len(forms) == 1, f"{state} {action}"
    assert ends


@any_seats
def test_canonical_view__shows_what_a_seat_sees_of_the_canonical_form(num_players: int) -> None:
    options, states = walked(num_players)
    before = states.tobytes()
    generator = np.random.default_rng(0)
    for rows in (states, states[::3]):
        seats = generator.integers(num_players, size=len(rows))
        shown = canonical_view(GAME, options, rows, seats)
        seen = np.zeros(shown.observations.shape[1], np.float32)
        for row, seat in enumerate(seats.tolist()):
            form, actions = canonical_form(rows[row], options, seat)
            GAME.observe(form, options, seat, seen)
            assert shown.observations[row].tobytes() == seen.tobytes()
            assert shown.actions[row].tolist() == actions.tolist()
            assert seat == rows[row]["player"] or not shown.masks[row].any()
        chosen = generator.integers(GAME.num_actions(), size=len(rows))
        assert shown.names(chosen).tolist() == [shown.actions[row][action] for row, action in enumerate(chosen)]
    assert states.tobytes() == before


@pytest.mark.parametrize("name", [name for name in GAMES if name != GAME.name])
def test_canonical_view__refuses_a_game_without_canonical_forms(name: str) -> None:
    batch = Batch(load_game(name), 2)
    batch.reset(seed=1)
    with pytest.raises(ValueError, match=f"{batch.game.title} has no canonical form"):
        canonical_view(batch.game, batch.options, batch.states, batch.movers)


@pytest.mark.parametrize("num_players", [1, 2])
@pytest.mark.parametrize("decisions", [0, 7, 16, 23])
@needs_compiled_code
def test_canonical_form__is_worth_the_same(num_players: int, decisions: int) -> None:
    batch = positions(num_players, 60, decisions)
    view = batch.view()
    shown = canonical_view(GAME, batch.options, batch.states, batch.movers)
    states = np.array(
        [canonical_form(state, batch.options, seat)[0] for state, seat in zip(batch.states, batch.movers, strict=True)]
    )
    masks = np.zeros_like(view.masks)
    for row in range(len(view)):
        GAME.rules.legal_actions(states[row], batch.options, masks[row])
    there = OPTIMAL.action_values(
        View(GAME, batch.options, states, view.seats, shown.observations, masks, view.uniforms)
    )
    here = OPTIMAL.action_values(view)
    for row in range(len(view)):
        legal = np.flatnonzero(shown.masks[row])
        assert view.masks[row, shown.actions[row, legal]].all()
        assert np.allclose(there[row, legal], here[row, shown.actions[row, legal]], atol=1e-12)
        # ... and no legal action is left without one that comes to the same
        values = here[row, view.masks[row] == 1]
        assert (np.abs(values[:, None] - there[row, legal]).min(axis=1) < 1e-12).all()


def test_checkpoint_policy__on_canonical_forms_plays_twins_alike() -> None:
    batch = positions(2, 40, 9)
    batch.states["throws_left"] = 0  # so that all of them place a token
    batch.show()
    view = batch.view()
    names = (3, 1, 4, 0, 2)
    twins = np.array([renamed(state, names) for state in batch.states])
    other = Batch(GAME, 40)
    other.reset(2)
    other.states[:] = twins
    other.show()
    policies = {
        form: CheckpointPolicy("it", GAME, batch.options, network(5, batch.options), canonical_form=form)
        for form in (True, False)
    }
    same = {}
    for form, policy in policies.items():
        here, there = policy.act(view), policy.act(other.view())
        rows = [
            [
                (np.count_nonzero(state["dice"] == action - PLACE + 1), state["tokens"][:, action - PLACE].tolist())
                for state, action in zip(states, actions, strict=True)
            ]
            for states, actions in ((view.states, here), (twins, there))
        ]
        same[form] = rows[0] == rows[1]  # names apart, since rows may be just alike
    assert same == {True: True, False: False}


@needs_compiled_code
def test_exploit__is_exact_on_few_boards_for_canonical_forms() -> None:
    tokens = np.array([(5, 3, OPEN, 2, OPEN), (4, OPEN, 3, OPEN, 3)], np.int8)
    options = GAME.make_options(2)
    wins = {}
    for form in (True, False):
        policy = CheckpointPolicy("it", GAME, options, network(6, options), canonical_form=form)
        for boards in ("points", "all"):
            found = exploit(policy, boards=boards, tokens=tokens)  # type: ignore[arg-type]  # two of the literals
            wins[form, boards] = found.against_best_response
    assert np.allclose(wins[True, "points"], wins[True, "all"], atol=1e-12)
    assert not np.allclose(wins[False, "points"], wins[False, "all"], atol=1e-6)


def test_seat_vec_env__on_canonical_forms_plays_the_same_games() -> None:
    env = SeatVecEnv("yahtzee_jr", 16, opponents="greedy", canonical_form=True)
    env.seed(4)
    observations = env.reset()
    ended = 0
    while ended < 32:
        shown = canonical_view(GAME, env.table.batch.options, env.table.batch.states, env.table.seats)
        assert np.array_equal(observations, shown.observations)
        assert np.array_equal(env.action_masks(), shown.masks == 1)
        before = env.table.batch.states.copy()
        actions = env.action_masks().argmax(axis=1)
        observations, _, dones, infos = env.step(actions)
        for row in np.flatnonzero(dones):
            assert observations.shape[1:] == infos[row]["terminal_observation"].shape
            ended += 1
        assert (before["player"] == env.table.seats).all() or dones.any()


def test_seat_vec_env__refuses_canonical_forms_that_there_are_not() -> None:
    with pytest.raises(ValueError, match="has no canonical form; leave canonical_form at False"):
        SeatVecEnv("yum", 2, canonical_form=True)
