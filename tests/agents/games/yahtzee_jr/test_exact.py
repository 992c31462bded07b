"""Yahtzee Jr. solved: against the known value, plain enumeration at the end of the game, the rules, and play."""

import os
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from fivedice.agents import load
from fivedice.agents.evaluation.match import play_games
from fivedice.agents.games.exact_turn import NUM_THROWS, set_number, throw_chances
from fivedice.agents.games.yahtzee_jr import exact
from fivedice.agents.games.yahtzee_jr.exact import BOARDS, OPTIMAL, YahtzeeJrValues, board_number, solve
from fivedice.agents.policies.baselines import is_solved, optimum, value_in_words
from fivedice.envs import load_game
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.dice import THROWS
from fivedice.envs.core.spec import Options
from fivedice.envs.yahtzee_jr import GAME
from fivedice.envs.yahtzee_jr.rules import (
    NOBODY,
    NUM_CHARACTERS,
    OPEN,
    PLACE,
    STATE,
    column_for,
    is_terminal,
    legal_actions,
)

needs_compiled_code = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too long in plain Python")
Z = 3.2905  # 99.9 % of a normal distribution lie within this many standard deviations
Tokens = tuple[tuple[int, ...], tuple[int, ...]]


def record(num_players: int, **chosen: Any) -> Options:
    return GAME.make_options(num_players, chosen)


@pytest.fixture(scope="module")
def two() -> YahtzeeJrValues:
    return solve()


@pytest.fixture(scope="module")
def alone() -> YahtzeeJrValues:
    return solve(record(1))


# What the game is worth


@needs_compiled_code
@pytest.mark.parametrize("must_score_most", [True, False])
def test_solo__is_worth_the_known_points(must_score_most: bool) -> None:
    """Alone the rows are all alike, so scoring what shows most is best even where it is not demanded."""
    options = record(1, must_score_most=must_score_most)
    assert solve(options).start == pytest.approx(19.3928, abs=5e-5)
    assert optimum(GAME, options) == solve(options).start
    assert value_in_words(GAME, options) == "19.3928 points are the most that a player can expect in a game."
    points = exact.point_values(options)
    assert points is not None
    assert (points.start, points.options) == (solve(options).start, options)


@needs_compiled_code
@pytest.mark.parametrize(("must_score_most", "first"), [(True, 0.531554), (False, 0.530691)])
def test_two_seats__chance_of_the_first_to_win(must_score_most: bool, first: float) -> None:
    for tie_break in ("roll", "share"):
        options = record(2, must_score_most=must_score_most, tie_break=tie_break)
        assert solve(options).start == pytest.approx(first, abs=5e-7)
        value = solve(options).start
        assert value_in_words(GAME, options) == (
            f"If both seats play optimally, the seat that moves first wins with a probability of {100 * value:.4f} % "
            f"and the other seat with {100 * (1 - value):.4f} %. A drawn game counts as half a win."
        )
        assert optimum(GAME, options) is None
        assert exact.point_values(options) is None


def test_three_seats__are_not_solved() -> None:
    with pytest.raises(ValueError, match=r"Yahtzee Jr\. is not solved for 3 seats; use 1 or 2"):
        value_in_words(GAME, record(3))
    assert [is_solved(GAME, record(seats)) for seats in (1, 2, 3, 4)] == [True, True, False, False]
    assert optimum(GAME, record(3)) is None


def test_other_games__are_not_solved() -> None:
    for name in ("showdown_yahtzee", "set_cubed"):
        game = load_game(name)
        options = game.make_options(2, {})
        assert not is_solved(game, options)
        assert optimum(game, options) is None
        with pytest.raises(ValueError, match=f"^{game.title} is not solved$"):
            value_in_words(game, options)


# The end of the game, one ordered throw after the other


def worth_by_enumeration(tokens: Tokens, player: int, options: Options) -> float:
    """What `player`, who is to move, wins or scores from a board on; every move as the rules make it."""
    num_players = int(options["num_players"])

    def state_of(dice: tuple[int, ...], left: int) -> Any:
        state = np.zeros(1, STATE)[0]
        state["tokens"][:], state["roll_off"] = OPEN, NOBODY
        state["tokens"][:2] = tokens
        state["dice"], state["throws_left"], state["player"] = dice, left, player
        return state

    @cache
    def placing(character: int, column: int) -> float:
        state = state_of((1, 1, 1, 1, 1), 0)
        state["tokens"][player, character] = column
        own, other = (int(row[row != OPEN].sum()) for row in (state["tokens"][player], state["tokens"][1 - player]))
        over = is_terminal(state, options)
        if num_players == 1:
            return own if over else worth_by_enumeration(to_tuple(state), 0, options)
        if over:
            return 1.0 if own > other else 0.5 if own == other else 0.0
        return 1.0 - worth_by_enumeration(to_tuple(state), 1 - player, options)

    @cache
    def deciding(dice: tuple[int, ...], left: int) -> float:
        state, mask = state_of(dice, left), np.empty(GAME.num_actions(), np.int8)
        legal_actions(state, options, mask)
        ends = [
            placing(character, int(column_for(character, state["dice"], state["tokens"])))
            for character in np.flatnonzero(mask[PLACE:]).tolist()
        ]
        if left == 0:
            return max(ends)
        kept = {tuple(dice[slot] for slot in range(5) if keep >> slot & 1) for keep in range(PLACE)}
        return max(*ends, *(throwing(dice, left - 1) for dice in kept))

    @cache
    def throwing(kept: tuple[int, ...], left: int) -> float:
        thrown = list(product(range(1, 7), repeat=5 - len(kept)))
        return sum(deciding(tuple(sorted(kept + dice)), left) for dice in thrown) / len(thrown)

    return throwing((), 2)


def to_tuple(state: Any) -> Tokens:
    first, second = state["tokens"][:2].tolist()
    return tuple(first), tuple(second)


@needs_compiled_code
@pytest.mark.parametrize(
    ("chosen", "mine", "other"),
    [
        ({}, (5, 3, 4, 2, -1), (4, 2, 3, 5, 3)),  # one turn left: the last
        ({}, (-1, 3, 4, 5, 2), (5, 2, 3, 5, 2)),  # the cell that would win is taken
        ({"must_score_most": False}, (5, 0, 4, 2, -1), (4, 0, 3, 5, 0)),
        ({}, (5, 3, 4, 2, -1), (4, 2, 3, 5, -1)),  # two turns left, for the same row
        ({}, (5, 3, -1, 2, 4), (-1, 2, 3, 5, 3)),
        ({"must_score_most": False}, (5, 3, -1, 2, 4), (-1, 2, 3, 4, 3)),
        ({"tie_break": "share"}, (3, 3, -1, 4, 0), (-1, 5, 5, 0, 0)),
    ],
)
def test_two_seats__the_end_of_the_game_is_that_of_enumeration(
    chosen: dict[str, Any], mine: tuple[int, ...], other: tuple[int, ...]
) -> None:
    values = solve(record(2, **chosen))
    player = 0 if OPEN in other else 1
    tokens = (mine, other) if player == 0 else (other, mine)
    assert before_a_turn(values, tokens, player) == pytest.approx(
        worth_by_enumeration(tokens, player, values.options), abs=1e-12
    )


@needs_compiled_code
@pytest.mark.parametrize("own", [(5, 3, 4, 2, -1), (-1, 0, 5, 3, -1)])
def test_solo__the_end_of_the_game_is_that_of_enumeration(own: tuple[int, ...], alone: YahtzeeJrValues) -> None:
    tokens = (own, (OPEN,) * NUM_CHARACTERS)
    expected = worth_by_enumeration(tokens, 0, alone.options)
    assert before_a_turn(alone, tokens, 0) == pytest.approx(expected, abs=1e-12)


def before_a_turn(values: YahtzeeJrValues, tokens: Tokens, player: int) -> float:
    """The mean over the first throw."""
    states = np.zeros(NUM_THROWS, STATE)
    states["tokens"], states["roll_off"] = OPEN, NOBODY
    states["tokens"][:, :2] = tokens
    states["dice"], states["throws_left"], states["player"] = THROWS, 2, player
    return float(throw_chances()[0] @ values.values(states, np.full(NUM_THROWS, player, np.int8)))


# What it is made of


@needs_compiled_code
def test_before_the_game__is_the_mean_over_the_first_throw(two: YahtzeeJrValues, alone: YahtzeeJrValues) -> None:
    nothing = (OPEN,) * NUM_CHARACTERS
    for values in (two, alone):
        assert before_a_turn(values, (nothing, nothing), 0) == pytest.approx(values.start, abs=1e-12)


def some_batch(values: YahtzeeJrValues, num_games: int = 24) -> Batch:
    """Random games, each at another moment."""
    batch = Batch(GAME, num_games, num_players=int(values.options["num_players"]), **GAME.options_dict(values.options))
    batch.reset(8)
    generator = np.random.default_rng(8)
    for step in range(num_games):
        rows = batch.all_rows[step:]
        wish = generator.random((len(rows), GAME.num_actions())) * batch.masks[rows]
        wish[:, PLACE:] *= generator.choice([1, 9], (len(rows), 1))
        batch.step(np.argmax(wish, axis=1), rows)
    return batch


@needs_compiled_code
@pytest.mark.parametrize("num_players", [1, 2])
def test_action_values__are_the_mean_of_what_an_action_leads_to(num_players: int) -> None:
    values = solve(record(num_players, must_score_most=False))
    view = some_batch(values).view()
    action_values = values.action_values(view)
    assert np.array_equal(action_values > -np.inf, view.masks == 1)
    after = np.zeros(NUM_THROWS, STATE)
    for row, action in zip(*np.nonzero(view.masks), strict=True):
        seat, dice = view.seats[row], view.states[row]["dice"]
        after[:] = view.states[row]
        after["dice"] = THROWS
        if action < PLACE:
            after["throws_left"] -= 1
            chances = throw_chances()[set_number(dice, int(action))]
        else:
            character = int(action - PLACE)
            after["tokens"][:, seat, character] = column_for(character, dice, view.states[row]["tokens"])
            after["player"] = (seat + 1) % num_players if not is_terminal(after[0], values.options) else seat
            after["throws_left"] = 2
            chances = throw_chances()[0]
        if is_terminal(after[0], values.options):
            worth = values.value(after[0], int(seat))
        else:
            worth = float(chances @ values.values(after, np.full(NUM_THROWS, seat, np.int8)))
        assert action_values[row, action] == pytest.approx(worth, abs=1e-12)


@needs_compiled_code
def test_values__of_two_seats_add_up_to_one(two: YahtzeeJrValues) -> None:
    states = some_batch(two).states
    both = [two.values(states, np.full(len(states), seat, np.int8)) for seat in range(2)]
    assert np.allclose(both[0] + both[1], 1.0, atol=1e-14)
    assert all(((values >= 0) & (values <= 1)).all() for values in both)


@needs_compiled_code
def test_values__do_not_look_at_the_names_of_characters(two: YahtzeeJrValues) -> None:
    batch = some_batch(two)
    renamed = batch.states.copy()
    order = np.array([3, 0, 4, 1, 2])  # row r becomes row order[r]
    renamed["tokens"][:, :, order] = batch.states["tokens"]
    renamed["dice"] = np.sort(np.array([0, *(order + 1), 6])[batch.states["dice"]], axis=1)
    seats = batch.movers
    assert np.allclose(two.values(renamed, seats), two.values(batch.states, seats), atol=1e-14)


@needs_compiled_code
@pytest.mark.parametrize("tie_break", ["roll", "share"])
def test_values__of_a_finished_game_are_its_result(tie_break: str) -> None:
    values = solve(record(2, tie_break=tie_break))
    batch = Batch(GAME, 40, num_players=2, tie_break=tie_break)
    batch.reset(2)
    while not batch.terminated.all():
        rows = np.flatnonzero(~batch.terminated)
        batch.step(GAME.num_actions() - 1 - np.argmax(batch.masks[rows, ::-1], axis=1), rows, restart=False)
    points, won = batch.results(batch.all_rows)
    assert (points[:, 0] == points[:, 1]).any()  # some were drawn
    for row, state in enumerate(batch.states):
        shares = (won[row] / won[row].sum()).tolist()
        assert [values.value(state, seat) for seat in range(2)] == shares


def test_boards__every_one_has_its_number() -> None:
    assert len(BOARDS) == 8568
    tokens = np.full((2, NUM_CHARACTERS), OPEN, np.int8)
    assert BOARDS[board_number(tokens, 0)].tolist() == [0, 0, 0, 0, 0]
    tokens[:] = (3, OPEN, 5, OPEN, 0), (OPEN, 4, 2, OPEN, 0)
    assert BOARDS[board_number(tokens, 0)].tolist() == [0, 1 + 4, 7 + 3, 13, 13]
    assert BOARDS[board_number(tokens, 1)].tolist() == [0, 1 + 3, 7 + 4, 13, 13]


# The policy


@needs_compiled_code
@pytest.mark.parametrize("num_players", [1, 2])
def test_optimal__takes_the_lowest_of_the_best_actions_and_leaves_the_view_alone(num_players: int) -> None:
    view = some_batch(solve(record(num_players))).view()
    before = view.states.copy()
    values = OPTIMAL.action_values(view)
    assert OPTIMAL.act(view).tolist() == [int(np.flatnonzero(row > row.max() - 1e-9)[0]) for row in values]
    assert np.array_equal(OPTIMAL.value(view), values.max(axis=1))
    assert np.array_equal(view.states, before)


@needs_compiled_code
def test_optimal__is_refused_at_larger_tables() -> None:
    batch = Batch(GAME, 1, num_players=4)
    batch.reset(0)
    with pytest.raises(ValueError, match="is not solved for 4 seats"):
        OPTIMAL.act(batch.view())


@needs_compiled_code
def test_values__of_other_options_are_refused(two: YahtzeeJrValues) -> None:
    batch = Batch(GAME, 1, must_score_most=False)
    batch.reset(0)
    with pytest.raises(ValueError, match=r"'must_score_most': True.* not of .*'must_score_most': False"):
        two.action_values(batch.view())


@needs_compiled_code
def test_optimal__alone_scores_what_the_value_says(alone: YahtzeeJrValues) -> None:
    points = play_games(GAME, np.zeros((3000, 1), np.int64), [load("optimal")], seed=3).points[:, 0]
    assert abs(points.mean() - alone.start) < Z * points.std() / len(points) ** 0.5


@needs_compiled_code
@pytest.mark.parametrize(
    ("first", "second", "share"),
    [("optimal", "optimal", 0.531554), ("optimal", "greedy", 0.536916), ("greedy", "optimal", 0.527918)],
)
def test_optimal__wins_as_often_as_is_computed(first: str, second: str, share: float) -> None:
    """The last two figures are those of tests/agents/games/yahtzee_jr/test_exploit.py."""
    played = play_games(GAME, np.tile([0, 1], (2500, 1)), [load(first), load(second)], seed=5)
    won = played.shares[:, 0]
    assert abs(won.mean() - share) < Z * won.std() / len(won) ** 0.5
