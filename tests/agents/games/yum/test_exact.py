"""Yum solved: against published values, plain enumeration at the end of the game, the rules, and play."""

import os
import pickle
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fivedice.agents.games.exact_turn import NUM_THROWS, set_number, throw_chances
from fivedice.agents.games.yum import exact
from fivedice.agents.games.yum.exact import OPTIMAL, YumValues, solve
from fivedice.agents.policies.baselines import is_solved, optimum, value_in_words
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.dice import KEEP_ALL, THROWS
from fivedice.envs.core.spec import Options
from fivedice.envs.yum import GAME
from fivedice.envs.yum.rules import FILL, OPEN, STATE, legal_actions, points_in, score

needs_compiled_code = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too long in plain Python")


@pytest.fixture(scope="module")
def forced() -> YumValues:
    return solve()


@pytest.fixture(scope="module")
def free() -> YumValues:
    return solve(GAME.make_options(1, {"zeros": "free"}))


@needs_compiled_code
def test_the_value_of_the_game(forced: YumValues, free: YumValues) -> None:
    assert free.start == pytest.approx(174.9642, abs=5e-5)
    assert forced.start == pytest.approx(169.8765, abs=5e-5)
    for values in (forced, free):
        for num_players in (1, 4):
            options = GAME.make_options(num_players, GAME.options_dict(values.options))
            assert is_solved(GAME, options)
            assert optimum(GAME, options) == values.start
            point_values = exact.point_values(options)
            assert (point_values.start, GAME.options_dict(point_values.options)) == (
                values.start,
                GAME.options_dict(options),
            )
            assert value_in_words(GAME, options) == (
                f"{values.start:.4f} points are the most that a player can expect in a game, playing for points alone."
            )


def to_come(card: tuple[int, ...], options: Options) -> float:
    """The expected points of the turns left on a card, one ordered throw after the other."""

    @cache
    def ending(dice: tuple[int, ...], left: int) -> float:
        state, mask = np.zeros(1, STATE)[0], np.empty(GAME.num_actions(), np.int8)
        state["dice"], state["throws_left"], state["boxes"][0] = dice, left, card
        legal_actions(state, options, mask)
        values = [-np.inf]
        for box in np.flatnonzero(mask[FILL:]).tolist():
            boxes = state["boxes"][0].copy()
            boxes[box] = points_in(box, state["dice"], boxes, options)
            gained = score(boxes) - score(state["boxes"][0])
            values.append(gained + to_come_after(tuple(boxes.tolist())))
        return max(values)

    @cache
    def deciding(dice: tuple[int, ...], left: int) -> float:
        if left == 0:
            return ending(dice, left)
        kept = {tuple(dice[slot] for slot in range(5) if keep >> slot & 1) for keep in range(KEEP_ALL)}
        return max(ending(dice, left), *(throwing(dice, left - 1) for dice in kept))

    @cache
    def throwing(kept: tuple[int, ...], left: int) -> float:
        thrown = list(product(range(1, 7), repeat=5 - len(kept)))
        return sum(deciding(tuple(sorted(kept + dice)), left) for dice in thrown) / len(thrown)

    @cache
    def to_come_after(card: tuple[int, ...]) -> float:
        return to_come(card, options)

    return throwing((), 2) if OPEN in card else 0.0


@needs_compiled_code
@pytest.mark.parametrize(
    ("chosen", "card"),
    [
        ({}, (3, 6, 9, 12, 15, -1, 0, 20, 0, 24, 25, 30)),  # Sixes, with the bonus in reach
        ({}, (3, 6, 9, 12, 15, 18, 0, 20, -1, 24, 25, 30)),  # Low below 24
        ({}, (3, 6, 9, 12, 15, 18, 0, 20, -1, 0, 25, 30)),  # Low blocked
        ({}, (1, 6, 9, 12, 15, 18, 0, 20, -1, -1, 25, 30)),
        ({}, (3, -1, 9, 12, 15, 18, 0, 20, 21, 23, 25, -1)),
        ({}, (3, 6, 9, 12, 15, 18, 0, 20, 27, -1, -1, 0)),
        ({"zeros": "free"}, (1, 6, 9, 12, 15, 18, 0, 20, -1, -1, 25, 30)),
        ({"zeros": "free"}, (3, 6, 9, 12, 10, -1, -1, 20, 0, 0, 25, 30)),
    ],
)
def test_the_end_of_the_game_is_that_of_enumeration(
    chosen: dict[str, Any], card: tuple[int, ...], forced: YumValues, free: YumValues
) -> None:
    values = free if chosen else forced
    state = np.zeros(1, STATE)[0]
    state["player"], state["boxes"][:] = 1, OPEN
    state["boxes"][0] = card
    expected = score(state["boxes"][0]) + to_come(card, values.options)
    assert values.value(state, 0) == pytest.approx(expected, abs=1e-10)


@needs_compiled_code
@pytest.mark.parametrize(
    ("chosen", "card"),
    [
        ({"high_low": "high_first"}, (3, 6, 9, 12, 15, 18, 0, 20, -1, -1, 25, 30)),
        ({"crossed_high": "frees_low"}, (3, 6, 9, 12, 15, 18, 0, 20, -1, -1, 25, 30)),
        ({"five_alike_full_house": True, "zeros": "free"}, (3, 6, 9, 12, 15, 18, 0, 20, 0, 24, -1, -1)),
    ],
)
def test_the_last_two_boxes_under_other_options(chosen: dict[str, Any], card: tuple[int, ...]) -> None:
    options = GAME.make_options(1, chosen)
    table = np.full((exact.FULL + 1, exact.NUM_LIMITS, exact.NUM_TOTALS), np.nan)
    table[exact.FULL, 0] = 0.0
    boxes = np.array(card, np.int8)
    filled, (one, other) = exact.filled_set(boxes), np.flatnonzero(boxes == OPEN).tolist()
    for last in (filled | 1 << one, filled | 1 << other):
        cards = np.array([(last, limit) for limit in range(exact.NUM_LIMITS)])
        exact.solve_cards(cards, np.zeros(1, STATE)[0], options, table)
    exact.solve_cards(np.array([(filled, 0)]), np.zeros(1, STATE)[0], options, table)
    assert table[filled, 0, 63] == pytest.approx(to_come(card, options), abs=1e-10)


def some_batch(values: YumValues, num_players: int = 2, num_games: int = 24) -> Batch:
    """Random games, each at another moment."""
    batch = Batch(GAME, num_games, num_players=num_players, **GAME.options_dict(values.options))
    batch.reset(8)
    generator = np.random.default_rng(8)
    for step in range(num_games):
        rows = batch.all_rows[step:]
        wish = generator.random((len(rows), GAME.num_actions())) * batch.masks[rows]
        wish[:, FILL:] *= generator.choice([1, 9], (len(rows), 1))
        batch.step(np.argmax(wish, axis=1), rows)
    return batch


@needs_compiled_code
def test_an_action_is_worth_the_mean_of_what_it_leads_to(forced: YumValues) -> None:
    batch = some_batch(forced)
    view = batch.view()
    action_values = forced.action_values(view)
    assert np.array_equal(action_values > -np.inf, view.masks == 1)
    after = np.zeros(NUM_THROWS, STATE)
    for row, action in zip(*np.nonzero(view.masks), strict=True):
        seat = view.seats[row]
        after[:] = view.states[row]
        if action < FILL:
            after["dice"], after["throws_left"] = THROWS, view.states[row]["throws_left"] - 1
            chances = throw_chances()[set_number(view.states[row]["dice"], int(action))]
        else:
            boxes = after["boxes"][:, seat]
            boxes[:, action - FILL] = points_in(int(action - FILL), view.states[row]["dice"], boxes[0], batch.options)
            after["player"] = 1 - seat
            chances = np.full(NUM_THROWS, 1 / NUM_THROWS)
        worth = chances @ forced.values(after, np.full(NUM_THROWS, seat))
        assert action_values[row, action] == pytest.approx(worth, abs=1e-9)


@needs_compiled_code
def test_the_value_before_a_turn_is_the_mean_over_its_first_throw(forced: YumValues) -> None:
    states = np.zeros(NUM_THROWS, STATE)
    states["boxes"], states["dice"], states["throws_left"] = OPEN, THROWS, 2
    assert throw_chances()[0] @ forced.values(states, np.zeros(NUM_THROWS, np.int8)) == pytest.approx(forced.start)


@needs_compiled_code
def test_seats_do_not_matter(forced: YumValues) -> None:
    view = some_batch(forced, num_players=1).view()
    batch = Batch(GAME, len(view), num_players=3)
    batch.states["dice"], batch.states["throws_left"] = view.states["dice"], view.states["throws_left"]
    batch.states["player"], batch.states["boxes"] = 2, OPEN
    batch.states["boxes"][:, 2] = view.states["boxes"][:, 0]
    batch.show()
    assert np.array_equal(forced.action_values(batch.view()), forced.action_values(view))


@needs_compiled_code
def test_a_finished_game_is_worth_its_score(forced: YumValues) -> None:
    batch = Batch(GAME, 5, num_players=2)
    batch.reset(2)
    while not batch.terminated.all():
        rows = np.flatnonzero(~batch.terminated)
        batch.step(np.argmax(batch.masks[rows], axis=1), rows, restart=False)
    for row, points in enumerate(batch.results(batch.all_rows)[0]):
        assert [forced.value(batch.states[row], seat) for seat in range(2)] == points.tolist()


@needs_compiled_code
def test_optimal_takes_the_lowest_of_the_best_actions_and_leaves_the_view_alone(forced: YumValues) -> None:
    view = some_batch(forced).view()
    before = view.states.copy()
    policy = OPTIMAL
    values = policy.action_values(view)
    assert policy.act(view).tolist() == [int(np.flatnonzero(row > row.max() - 1e-9)[0]) for row in values]
    assert np.array_equal(policy.value(view), values.max(axis=1))
    assert np.array_equal(view.states, before)


@needs_compiled_code
def test_5000_games_of_optimal_play_score_what_the_value_says(forced: YumValues) -> None:
    batch = Batch(GAME, 5_000, num_players=1)
    batch.reset(3)
    rows, policy = batch.all_rows, OPTIMAL
    while len(rows):
        batch.step(policy.act(batch.view(rows)), rows, restart=False)
        rows = rows[~batch.terminated[rows]]
    points = batch.results(batch.all_rows)[0][:, 0]
    assert abs(points.mean() - forced.start) < 3.29 * points.std() / np.sqrt(len(points))  # 99.9 %


@needs_compiled_code
def test_values_of_other_options_are_refused(forced: YumValues) -> None:
    batch = Batch(GAME, 1, num_players=1, zeros="free")
    batch.reset(0)
    with pytest.raises(ValueError, match=r"'zeros': 'forced'.* not of .*'zeros': 'free'"):
        forced.action_values(batch.view())


class Solver:
    """Stands for `solve_table`: counts how often it is asked."""

    def __init__(self) -> None:
        self.table = np.full((exact.FULL + 1, exact.NUM_LIMITS, exact.NUM_TOTALS), 0.5)
        self.calls = 0
        self.asked: list[tuple[Options, int]] = []

    def __call__(self, options: Options, threads: int) -> NDArray[np.float64]:
        self.calls += 1
        self.asked.append((options, threads))
        return self.table


@pytest.fixture
def solver(monkeypatch: pytest.MonkeyPatch) -> Solver:
    stub = Solver()
    monkeypatch.setattr(exact, "solve_table", stub)
    return stub


def test_a_table_is_solved_once_for_any_number_of_seats(solver: Solver, tmp_path: Path) -> None:
    for num_players in (1, 2, 6):
        values = solve(GAME.make_options(num_players, {}), folder=tmp_path)
        assert np.array_equal(values.table, solver.table)
    assert solver.calls == 1
    solve(GAME.make_options(1, {"zeros": "free"}), folder=tmp_path)
    assert solver.calls == 2
    assert len(list(tmp_path.iterdir())) == 2  # no temporary file is left


def test_a_table_of_other_sources_is_replaced(solver: Solver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as other:
        other.setattr(exact, "_sources_digest", lambda: "other")
        solve(folder=tmp_path)
    for _ in range(2):
        solve(folder=tmp_path)
    assert solver.calls == 2
    assert len(list(tmp_path.iterdir())) == 1


def test_a_table_of_other_options_is_replaced(solver: Solver, tmp_path: Path) -> None:
    solve(folder=tmp_path)
    (mine,) = tmp_path.iterdir()
    solve(GAME.make_options(1, {"zeros": "free"}), folder=tmp_path)
    (other,) = set(tmp_path.iterdir()) - {mine}
    mine.write_bytes(other.read_bytes())
    for _ in range(2):
        solve(folder=tmp_path)
    assert solver.calls == 3


class Malicious:
    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path("executed"),)


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "text", "array", "pickle", "pickle inside"])
def test_a_damaged_table_is_replaced_and_nothing_in_it_executed(
    damage: str, solver: Solver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    solve(folder=tmp_path / "cache")
    (path,) = (tmp_path / "cache").iterdir()
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 255  # in the middle of the table
    if damage == "array":
        with path.open("wb") as file:
            np.save(file, solver.table[0])
    elif damage == "pickle inside":
        with path.open("wb") as file:
            np.savez(file, card=np.array([Malicious()], object), table=solver.table)
    else:
        path.write_bytes(
            {
                "empty": b"",
                "cut": path.read_bytes()[:-100],
                "flipped": bytes(content),
                "text": b"a table",
                "pickle": pickle.dumps(Malicious()),
            }[damage]
        )
    for _ in range(2):
        assert np.array_equal(solve(folder=tmp_path / "cache").table, solver.table)
    assert solver.calls == 2
    assert not (tmp_path / "executed").exists()


def test_without_a_folder_to_write_to_it_is_solved_each_time(solver: Solver, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for _ in range(2):
        solve(folder=tmp_path / "file")
    assert solver.calls == 2


# Each option at a value that is not its default.
OTHERWISE = [{option.name: value} for option in GAME.rules.OPTIONS for value in option.samples[1:]]


def test_each_choice_of_options_is_solved_and_kept_by_itself(solver: Solver, tmp_path: Path) -> None:
    choices: list[dict[str, Any]] = [{}, *OTHERWISE]
    assert {name for chosen in choices for name in chosen} == {option.name for option in GAME.rules.OPTIONS}
    records = [GAME.make_options(2, chosen) for chosen in choices]
    for number, options in enumerate(records):
        solver.table = solver.table + 1.0
        values = solve(options, folder=tmp_path, threads=3)
        assert solver.asked[-1] == (options, 3)
        assert (values.options, values.start) == (options, 1.5 + number)
    for number, options in enumerate(records):
        assert solve(options, folder=tmp_path).start == 1.5 + number
    assert solver.calls == len(choices) == len(list(tmp_path.iterdir()))


def test_tables_are_kept_in_the_user_s_cache_folder(
    solver: Solver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for folder, place in ((str(tmp_path / "here"), "here/fivedice"), ("", "home/.cache/fivedice")):
        monkeypatch.setenv("XDG_CACHE_HOME", folder)
        assert solve().options == GAME.make_options(1, {})
        (kept,) = (tmp_path / place).iterdir()
        assert kept.name.startswith("yum-")
    assert [threads for _, threads in solver.asked] == [os.cpu_count() or 1] * 2
