"""A game is what its seed, its number and its players make of it: no batch, no order, no look, no worker changes it."""

import importlib
import inspect
import re
from collections.abc import Callable
from dataclasses import fields, replace
from itertools import combinations, permutations
from pathlib import Path
from types import MappingProxyType
from typing import Any

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray

import fivedice.agents
from fivedice.agents.evaluation import match, ratings
from fivedice.agents.evaluation import tournament as module
from fivedice.agents.evaluation.estimate import Estimate
from fivedice.agents.evaluation.match import Standing, evaluate, play_games
from fivedice.agents.evaluation.ranking import rank
from fivedice.agents.evaluation.recording import record
from fivedice.agents.evaluation.schedule import Tournament, contender
from fivedice.agents.evaluation.tournament import Results, play_part, play_tournament
from fivedice.agents.evaluation.variance import without_luck
from fivedice.agents.play.advice import AdviceTask, make_adviser
from fivedice.agents.policies import rollout
from fivedice.agents.policies.baselines import GREEDY, OPTIMAL, PLANNER, RandomPolicy
from fivedice.agents.policies.checkpoint import load_checkpoint, make_card, save_checkpoint
from fivedice.agents.policies.network import Network, tensor_shapes
from fivedice.agents.policies.prior import make_prior
from fivedice.agents.policies.registry import NAMES
from fivedice.agents.policies.rollout import RolloutPolicy
from fivedice.envs import GAMES, load_game
from fivedice.envs.api.aec import DiceEnv
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.chance import STREAM, UNIFORMS, fill_uniforms
from fivedice.envs.core.spec import Game
from fivedice.envs.core.view import Policy, View

YAHTZEE_JR = load_game("yahtzee_jr")


class First:
    """The first legal action."""

    name = "first"

    def act(self, view: View) -> NDArray[np.int64]:
        return view.masks.argmax(axis=1)


class Reading:
    """A legal action that depends on all that the state holds, of every seat, and on nothing else."""

    name = "reading"

    def act(self, view: View) -> NDArray[np.int64]:
        content = np.ascontiguousarray(view.states).view(np.uint8).reshape(len(view), -1)
        sums = content.astype(np.int64) @ (1 + np.arange(content.shape[1]) % 7)
        return np.array(
            [np.flatnonzero(mask)[number % mask.sum()] for mask, number in zip(view.masks, sums, strict=True)], np.int64
        )


FIRST, READING, RANDOM = First(), Reading(), RandomPolicy()
PLAYERS: MappingProxyType[str, Policy] = MappingProxyType({"random": RANDOM, "reading": READING, "greedy": GREEDY})


class Worth:
    """Made-up values of actions, so that each decision gives something else away."""

    start = 100.0

    def action_values(self, view: View) -> NDArray[np.float64]:
        seen = view.states["dice"].reshape(len(view), -1).sum(axis=1).astype(np.int64) + 5 * view.seats
        values = (seen[:, None] * (3 + np.arange(view.masks.shape[1]))) % 11 / 4
        return np.where(view.masks == 1, values, -np.inf)


# The same games as one by one

Decision = tuple[int, int, int, int]  # policy, game, seat, action


def play_alone(
    game: Game, seated: list[int], policies: list[Policy], seed: int, deal: int, options: dict[str, Any]
) -> tuple[list[float], list[float], list[float], list[Decision]]:
    """One game as the PettingZoo environment plays it: points, shares of the win, points without luck, decisions."""
    env = DiceEnv(game, len(seated), "win", **options)
    env.reset(seed, {"game": deal})
    left, decisions = [Worth.start] * len(seated), []
    while not any(env.terminations.values()) and not any(env.truncations.values()):
        seat, view = env.possible_agents.index(env.agent_selection), env.view()
        (action,) = policies[seated[seat]].act(view).tolist()
        values = Worth().action_values(view)[0]
        left[seat] -= max(values) - values[action]
        decisions.append((seated[seat], deal, seat, action))
        env.step(action)
    winners = [reward > 0 for reward in env.rewards.values()]
    if not any(winners):
        winners = [True] * len(seated)  # all won, which pays nothing
    return list(env.scores().values()), [won / sum(winners) for won in winners], left, decisions


class Watched:
    """All decisions that `watch` was told of, with games numbered from `first` on."""

    def __init__(self, first: int = 0) -> None:
        self.first, self.decisions = first, list[Decision]()

    def __call__(self, number: int, games: NDArray[np.int64], view: View, actions: NDArray[np.int64]) -> None:
        seats = view.seats.tolist()
        self.decisions += zip(
            [number] * len(seats), (games + self.first).tolist(), seats, actions.tolist(), strict=True
        )


SETTINGS: dict[str, tuple[int, dict[str, Any]]] = {
    "yum": (3, {"zeros": "free"}),
    "yahtzee_jr": (4, {"tie_break": "share"}),
    "showdown_yahtzee": (2, {"max_turns": 30}),
    "set_cubed": (3, {"max_idle_rounds": 2}),
}


def test_settings__there_are_some_of_every_game() -> None:
    assert set(SETTINGS) == set(GAMES)


@pytest.mark.parametrize("name", GAMES)
def test_play_games__are_those_of_an_environment_one_by_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    game, (seats, options), policies = load_game(name), SETTINGS[name], list(PLAYERS.values())
    seating = np.random.default_rng(1).integers(0, 3, (7, seats))
    monkeypatch.setattr(match, "GAMES_AT_ONCE", 3)
    watched, told = Watched(first=20), list[int]()
    played = play_games(
        game,
        seating,
        policies,
        seed=11,
        first_game=20,
        options=options,
        values=Worth(),
        watch=watched,
        progress=told.append,
    )
    alone = [play_alone(game, row, policies, 11, 20 + number, options) for number, row in enumerate(seating.tolist())]
    assert played.points.tolist() == [points for points, _, _, _ in alone]
    assert played.shares.tolist() == [shares for _, shares, _, _ in alone]
    assert played.adjusted == pytest.approx(np.array([left for _, _, left, _ in alone]), abs=1e-9)
    assert played.adjusted.std() > 0
    by_game = sorted(watched.decisions, key=lambda decision: decision[1])  # stable: in the order of play within each
    assert by_game == [decision for _, _, _, decisions in alone for decision in decisions]
    assert told == [3, 3, 1]


@pytest.mark.parametrize("seats", [2, 3])
def test_evaluate__is_made_of_games_one_by_one(seats: int) -> None:
    """Each deal once with the first in each seat and the second in all others; one sample is all games of a deal."""
    names, policies = ("random", "reading", "greedy")[: 5 - seats], [RANDOM, READING, GREEDY]
    options, deals = {"must_score_most": False}, 20
    watched = Watched()
    standings = evaluate(
        YAHTZEE_JR,
        {name: PLAYERS[name] for name in names},
        games=deals * seats - 1,
        num_players=seats,
        seed=12,
        options=options,
        values=Worth(),
        watch=watched,
    )
    points = {name: np.zeros((deals, 0)) for name in names}
    left = {name: np.zeros((deals, 0)) for name in names}
    wins: dict[tuple[str, str], tuple[Estimate, Estimate]] = {}
    decisions: list[Decision] = []
    pairs = combinations if seats == 2 else permutations
    for first, second in pairs(range(len(names)), 2):
        own, theirs, share = np.zeros((2, deals, seats)), np.zeros((2, deals, seats)), np.zeros((deals, seats))
        for deal in range(deals):
            for seat in range(seats):
                seated = [first if place == seat else second for place in range(seats)]
                found = play_alone(YAHTZEE_JR, seated, policies, 12, deal, options)
                for kind in (0, 1):
                    figures = found[2 * kind]
                    own[kind, deal, seat] = figures.pop(seat)
                    theirs[kind, deal, seat] = np.mean(figures)
                share[deal, seat] = found[1][seat]
                decisions += found[3]
        for number, both in ((first, own), (second, theirs)):
            points[names[number]] = np.column_stack([points[names[number]], both[0].mean(axis=1)])
            left[names[number]] = np.column_stack([left[names[number]], both[1].mean(axis=1)])
        luck = np.column_stack([both.mean(axis=2)[0] - both.mean(axis=2)[1] for both in (own, theirs)])
        shares = share.mean(axis=1)
        adjusted = without_luck(shares, luck)
        wins[names[first], names[second]] = Estimate.of_shares(shares), Estimate.of_shares(adjusted)
        if seats == 2:
            wins[names[second], names[first]] = Estimate.of_shares(1 - shares), Estimate.of_shares(1 - adjusted)
    assert sorted(watched.decisions) == sorted(decisions)
    for standing, name in zip(standings, names, strict=True):
        assert (standing.name, standing.games) == (name, deals * seats)
        same(standing.points, Estimate.of(points[name].mean(axis=1)))
        assert standing.adjusted_points is not None
        same(standing.adjusted_points, Estimate.of(left[name].mean(axis=1)))
        against = {other for one, other in wins if one == name}
        assert set(standing.wins) == set(standing.adjusted_wins) == against == set(names) - {name}
        for other in against:
            same(standing.wins[other], wins[name, other][0])
            same(standing.adjusted_wins[other], wins[name, other][1])
    compared = {"name", "games", "points", "wins", "adjusted_points", "adjusted_wins"}
    assert {field.name for field in fields(Standing)} == compared, "a figure of a standing is not compared here"


def same(found: Estimate, expected: Estimate) -> None:
    assert found.count == expected.count
    assert (found.mean, found.half_width) == pytest.approx((expected.mean, expected.half_width), rel=1e-9, abs=1e-12)


def some_tournament(
    names: tuple[str, ...], seats: int, *, games: int = 60, game: str = "yahtzee_jr", **options: Any
) -> Tournament:
    chosen = load_game(game).options_dict(load_game(game).make_options(seats, options))
    contenders = tuple(contender(name.upper(), name) for name in names)
    return Tournament(game, tuple(chosen.items()), seats, 13, games, contenders)


@pytest.fixture
def by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tournaments whose contenders are `PLAYERS`."""
    monkeypatch.setattr(module, "load", lambda name, *, deterministic: PLAYERS[name])


def test_tournament__is_made_of_games_one_by_one(by_name: None) -> None:
    tournament = some_tournament(("random", "greedy", "reading"), 3, must_score_most=False)
    part, policies = module.Part((0, 1, 2), 7, 11), list(PLAYERS.values())
    points, shares = play_part(tournament, part, [RANDOM, GREEDY, READING])
    orders = set()
    for row, deal in enumerate(range(7, 11)):
        for moved in range(3):
            seated = module.seating(part)[row, moved].tolist()
            orders.add(tuple(seated))
            found = play_alone(
                YAHTZEE_JR, [(0, 2, 1)[seat] for seat in seated], policies, 13, deal, {"must_score_most": False}
            )
            assert (points[row, moved].tolist(), shares[row, moved].tolist()) == found[:2]
    assert len(orders) == 6


# The order in which policies are named


@pytest.mark.parametrize("name", GAMES)
def test_order_of_policies__changes_no_game(name: str) -> None:
    game, (seats, options), policies = load_game(name), SETTINGS[name], list(PLAYERS.values())
    seating = np.random.default_rng(2).integers(0, 3, (8, seats))
    expected = play_games(game, seating, policies, seed=3, options=options)
    for order in ([2, 0, 1], [1, 0, 2]):
        turned = play_games(
            game, np.argsort(order)[seating], [policies[number] for number in order], seed=3, options=options
        )
        assert turned.points.tolist() == expected.points.tolist()
        assert turned.shares.tolist() == expected.shares.tolist()


@pytest.mark.parametrize("seats", [1, 2, 3])
def test_order_of_names__changes_no_standing(seats: int) -> None:
    def standings(names: tuple[str, ...]) -> dict[str, Standing]:
        found = evaluate(
            YAHTZEE_JR,
            {name: PLAYERS[name] for name in names},
            games=20 * seats,
            num_players=seats,
            seed=7,
            values=Worth(),
        )
        assert tuple(standing.name for standing in found) == names
        return {standing.name: standing for standing in found}

    expected = standings(("random", "reading", "greedy"))
    found = standings(("greedy", "random", "reading"))
    for name, standing in expected.items():
        assert found[name].games == standing.games
        same(found[name].points, standing.points)
        assert standing.adjusted_points is not None
        same(found[name].adjusted_points or standing.points, standing.adjusted_points)
        for told in ("wins", "adjusted_wins"):
            assert set(getattr(found[name], told)) == set(getattr(standing, told))
            for rival, share in getattr(standing, told).items():
                same(getattr(found[name], told)[rival], share)
    assert (seats == 1) == (not expected["greedy"].wins)


def alike(one: list[Results], other: list[Results]) -> None:
    for mine, theirs in zip(one, other, strict=True):
        assert mine.table == theirs.table
        for array in ("seated", "points", "shares"):
            np.testing.assert_array_equal(getattr(mine, array), getattr(theirs, array))


@pytest.mark.parametrize(("count", "seats"), [(3, 2), (2, 3)])
def test_order_of_names__changes_no_result_of_a_tournament_in_one_folder(
    count: int, seats: int, tmp_path: Path, by_name: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was played under other numbers is not taken for it, and who plays is told by name throughout."""
    monkeypatch.setattr(ratings, "RESAMPLES", 2)  # their draws do not count here
    names = ("random", "reading", "greedy")[-count:]
    first = rank(tournament := some_tournament(names, seats), play_tournament(tournament, tmp_path / "one"))
    for number, order in enumerate((names[::-1], (*names[1:], names[0]))[: count - 1]):
        turned = some_tournament(order, seats)
        results = play_tournament(turned, tmp_path / "one")
        alike(results, play_tournament(turned, tmp_path / f"fresh {number}"))
        again = rank(turned, results)
        for place, name in enumerate(again.names):
            before = first.names.index(name)
            for found, expected in (
                (again.points[place], first.points[before]),
                (again.wins[place], first.wins[before]),
                (again.place[place], first.place[before]),
                *zip(again.places[place], first.places[before], strict=True),
            ):
                same(found, expected)
        for (one, other), share in again.pairs.items():
            same(share, first.pairs[first.names.index(again.names[one]), first.names.index(again.names[other])])
        above = again.ratings.means - again.ratings.means[again.names.index("GREEDY")]
        expected_above = first.ratings.means - first.ratings.means[first.names.index("GREEDY")]
        for place, name in enumerate(again.names):
            assert above[place] == pytest.approx(expected_above[first.names.index(name)], abs=1e-3)


# How many are played at once


def of_evaluate(folder: Path) -> Any:
    watched = Watched()
    standings = evaluate(YAHTZEE_JR, {**PLAYERS}, games=42, num_players=2, seed=5, values=Worth(), watch=watched)
    return repr(standings), sorted(watched.decisions)


def of_tournament(folder: Path) -> Any:
    tournament = some_tournament(("random", "greedy"), 2)
    return [
        (result.table, result.seated.tolist(), result.points.tolist(), result.shares.tolist())
        for result in play_tournament(tournament, folder)
    ]


def of_rollout(folder: Path) -> Any:
    policy, view = RolloutPolicy(RANDOM, 6), some_decisions(YAHTZEE_JR, 10, 3)
    return policy.act(view).tolist(), policy.action_values(view).tolist()


def of_recording(folder: Path) -> Any:
    found: dict[str, Any] = {}
    with h5py.File(record(YAHTZEE_JR, ["random", "greedy"], games=9, seed=4, out=folder) / "main_data.hdf5") as file:
        file.visititems(lambda name, item: found.update({name: item[()].tolist()} if hasattr(item, "dtype") else {}))
    return found


def of_advice(folder: Path) -> Any:
    view = some_decisions(YAHTZEE_JR, 1, 3)
    task = AdviceTask(make_adviser(YAHTZEE_JR, view.options, "rollout:random:6"), view)
    task.run()
    assert task.advice is not None
    return [(advised.choice.action, advised.value, advised.error) for advised in task.advice.choices]


AT_ONCE: dict[str, tuple[Callable[[Path], Any], tuple[int, ...]]] = {
    "evaluation.match.GAMES_AT_ONCE": (of_evaluate, (1, 8)),
    "evaluation.recording.GAMES_AT_ONCE": (of_recording, (1, 8)),
    "evaluation.schedule.PART": (of_tournament, (7,)),
    "play.advice.PART": (of_advice, (1, 29)),
    "policies.rollout.PLAYOUTS_AT_ONCE": (of_rollout, (29,)),
}
OF_OTHERS = {"games.yahtzee_jr.exploit.AT_ONCE"}  # tests/agents/games/yahtzee_jr/test_exploit.py


def test_at_once__every_such_constant_has_a_case() -> None:
    found = set()
    folder = Path(fivedice.agents.__file__).parent
    for path in folder.rglob("*.py"):
        module = ".".join(path.relative_to(folder).with_suffix("").parts)
        found |= {f"{module}.{name}" for name in re.findall(r"(?m)^(\w*AT_ONCE|PART) = ", path.read_text())}
    assert found == AT_ONCE.keys() | OF_OTHERS, "add a case of how its number changes nothing"


@pytest.mark.parametrize("constant", AT_ONCE)
def test_at_once__however_many_are_played_the_results_are_the_same(
    constant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (play, numbers), (file, _, name) = AT_ONCE[constant], constant.rpartition(".")
    expected = play(tmp_path / "whole")
    for number in numbers:
        monkeypatch.setattr(importlib.import_module(f"fivedice.agents.{file}"), name, number)
        assert play(tmp_path / str(number)) == expected


def test_first_game__the_games_may_be_played_in_pieces() -> None:
    seating = np.random.default_rng(3).integers(0, 3, (9, 2))
    policies = list(PLAYERS.values())
    whole = play_games(YAHTZEE_JR, seating, policies, seed=6, first_game=2)
    fields = [
        play_games(YAHTZEE_JR, seating[start:stop], policies, seed=6, first_game=2 + start)
        for start, stop in ((0, 4), (4, 9))
    ]
    for array in ("points", "shares"):
        assert np.array_equal(np.concatenate([getattr(field, array) for field in fields]), getattr(whole, array))
    other = play_games(YAHTZEE_JR, seating, policies, seed=7, first_game=2)
    assert not np.array_equal(other.points, whole.points)


# What else is decided in the same call


def some_decisions(game: Game, num_games: int, num_players: int, **options: Any) -> View:
    """Decisions from early and late in games, of all seats."""
    batch = Batch(game, num_games, num_players=num_players, **options)
    batch.reset(4)
    for step in range(48):
        live = np.arange(step * num_games // 48, num_games)
        batch.step(RANDOM.act(batch.view(live)), live)
    return batch.view()


def checkpoint(game: Game, num_players: int, path: Path, **settings: Any) -> Policy:
    """A network with random weights."""
    options, deterministic = game.make_options(num_players), settings.pop("deterministic")
    size, actions = game.layout(options).size, game.num_actions(options)
    prior = make_prior(GREEDY if settings.get("prior") else None, 0.0, 0.0, False)
    inputs = size + (actions if prior else 0)
    generator = np.random.default_rng(5)
    tensors = {
        name: generator.normal(scale=0.5, size=shape).astype(np.float32)
        for name, shape in tensor_shapes(inputs, actions, (8,), residual=prior is not None).items()
    }
    network = Network(tensors, inputs, actions, (8,), "tanh", residual=prior is not None)
    card = make_card(game, options, (8,), "tanh", settings.get("canonical_form", False), prior)
    save_checkpoint(path, card, network)
    return load_checkpoint(path, deterministic=deterministic)


POLICIES: dict[str, Callable[[Game, int, Path], Policy]] = {
    "random": lambda game, seats, path: fivedice.agents.load("random"),
    "greedy": lambda game, seats, path: fivedice.agents.load("greedy"),
    "planner": lambda game, seats, path: fivedice.agents.load("planner"),
    "optimal": lambda game, seats, path: fivedice.agents.load("optimal"),
    "rollout": lambda game, seats, path: fivedice.agents.load("rollout:greedy:2"),
    "rollout of a random prior": lambda game, seats, path: fivedice.agents.load("rollout:random:3:win"),
    "checkpoint": lambda game, seats, path: checkpoint(game, seats, path, deterministic=True),
    "sampled checkpoint": lambda game, seats, path: checkpoint(game, seats, path, deterministic=False),
    "checkpoint on a prior": lambda game, seats, path: checkpoint(game, seats, path, deterministic=False, prior=True),
    "checkpoint of canonical forms": lambda game, seats, path: checkpoint(
        game, seats, path, deterministic=False, canonical_form=True
    ),
}
CASES = [
    (name, kind)
    for name in GAMES
    for kind in POLICIES
    if (kind != "optimal" or OPTIMAL.plays(load_game(name)))
    and (kind != "planner" or PLANNER.plays(load_game(name)))
    and (kind != "checkpoint of canonical forms" or load_game(name).canonical is not None)
    and (kind != "rollout of a random prior" or name in ("yum", "yahtzee_jr"))  # the others' games take too long
]


def test_policies__every_name_has_a_case() -> None:
    assert set(NAMES) <= set(POLICIES), "add a case of its decisions alone and among others"


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_decision__is_the_same_alone_and_among_others(name: str, kind: str, tmp_path: Path) -> None:
    game = load_game(name)
    policy = POLICIES[kind](game, 2, tmp_path / "some.safetensors")
    # Fewer of those that take long.
    view = some_decisions(game, 24 if "rollout" not in kind else 4 if name == "set_cubed" else 8, 2)
    rows = np.arange(len(view))
    together = policy.act(view)
    assert (together.dtype, together.shape) == (np.dtype(np.int64), (len(view),))
    assert (view.masks[rows, together] == 1).all()
    assert len(set(together.tolist())) > 1
    assert [policy.act(view.rows(np.array([row])))[0] for row in rows[::2]] == together[::2].tolist()
    shuffled = np.random.default_rng(6).permutation(np.tile(rows, 1 if "rollout" in kind else 3))
    assert policy.act(view.rows(shuffled)).tolist() == together[shuffled].tolist()
    assert policy.act(view).tolist() == together.tolist()  # nothing is kept from call to call


# Who plays in the other seats


@pytest.mark.parametrize("name", ["yum", "yahtzee_jr"])
def test_seat__its_dice_and_its_uniforms_do_not_depend_on_the_others(name: str) -> None:
    """A policy that takes no notice of the others makes the same decisions whatever they do, and how many."""
    game = load_game(name)

    def decisions(other: int) -> list[list[tuple[Any, ...]]]:
        seen: list[list[tuple[Any, ...]]] = [[] for _ in range(6)]

        def watch(number: int, games: NDArray[np.int64], view: View, actions: NDArray[np.int64]) -> None:
            for row, deal in enumerate(games.tolist()):
                if number == 0:
                    dice, uniforms = view.states["dice"][row].tolist(), view.uniforms[row]
                    seen[deal].append((dice, uniforms, int(actions[row])))

        seating = np.full((6, 3), other)
        seating[:, 1] = 0
        play_games(game, seating, [RANDOM, FIRST, GREEDY, READING], seed=8, watch=watch)
        return seen

    expected = decisions(1)
    assert all(len(of_game) > 4 for of_game in expected)
    for other in (2, 3):
        assert decisions(other) == expected


def test_noise__is_the_next_of_the_movers_own_stream() -> None:
    batch = Batch(YAHTZEE_JR, 12, num_players=3)
    batch.reset(9)
    batch.step(RANDOM.act(batch.view()))
    while len(set(batch.movers.tolist())) < 3:
        batch.step(RANDOM.act(batch.view()))
    streams, expected = batch.streams.copy(), np.zeros(12)
    fill_uniforms(batch.all_rows, UNIFORMS + batch.movers.astype(np.int64), streams, expected)
    drawn = batch.streams["drawn"].copy()
    assert batch.view().uniforms.tolist() == expected.tolist()
    more = batch.streams["drawn"] - drawn
    assert more.tolist() == [
        [int(which == UNIFORMS + mover) for which in range(STREAM["drawn"].shape[0])] for mover in batch.movers
    ]
    assert np.unique(expected).size == 12


# Who looks

CHANGING = {"reset", "step", "set_state", "close"}  # what is no look, of an environment
NOT_A_GAMES = {"observation_space", "action_space", "agent_iter"}  # these say nothing of the game
LOOKS_AT_ENV: dict[str, Callable[[DiceEnv], object]] = {
    "clone": lambda env: env.clone(seed=3).step(None if is_over(env) else legal(env)),
    "get_state": lambda env: env.get_state(),
    "last": lambda env: env.last(),
    "num_agents": lambda env: env.num_agents,
    "max_num_agents": lambda env: env.max_num_agents,
    "observe": lambda env: [env.observe(agent) for agent in env.possible_agents],
    "draw": lambda env: env.draw().svg,
    "options": lambda env: env.options,
    "options_record": lambda env: env.options_record,
    "render": lambda env: env.render(),
    "scores": lambda env: env.scores(),
    "state": lambda env: env.state(),
    "unwrapped": lambda env: env.unwrapped,
    "view": lambda env: None if is_over(env) else env.view(),
}


def is_over(env: DiceEnv) -> bool:
    return any(env.terminations.values()) or any(env.truncations.values())


def legal(env: DiceEnv) -> int:
    return int(env.observe(env.agent_selection)["action_mask"].argmax())


def methods(kind: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(kind) if not name.startswith("_") and name != "metadata"}


def test_looks__every_one_at_an_environment_has_a_case() -> None:
    found = methods(DiceEnv) - CHANGING - NOT_A_GAMES
    assert found == set(LOOKS_AT_ENV), "add a look that changes nothing, or say that it is none"


def trace(env: DiceEnv, look: Callable[[DiceEnv], object]) -> list[Any]:
    """All that a game shows, with actions that depend on what is legal alone, looked at before and after each."""
    shown, generator = [], np.random.default_rng(10)
    env.reset(seed=14)
    while True:
        look(env)
        seen = env.observe(env.agent_selection)
        shown.append((env.agent_selection, seen["observation"].tobytes(), seen["action_mask"].tobytes()))
        shown.append((dict(env.rewards), dict(env._cumulative_rewards), env.get_state().state.tobytes()))
        if is_over(env):
            return shown
        env.step(int(generator.choice(np.flatnonzero(seen["action_mask"]))))


@pytest.mark.parametrize("name", GAMES)
def test_looks__at_an_environment_change_no_game(name: str) -> None:
    seats, options = SETTINGS[name]
    if name == "showdown_yahtzee":
        options = {**options, "max_turns": 12}

    def every(env: DiceEnv) -> None:
        for look in LOOKS_AT_ENV.values():
            look(env)
            look(env)

    make = DiceEnv(load_game(name), seats, "margin", "ansi", **options)
    expected = trace(make, lambda env: None)
    assert trace(make, every) == expected
    assert len(expected) > 20


CHANGING_A_BATCH = {"reset", "restart", "resume", "step", "step_one"}
INSIDE_A_BATCH = {"arrays", "share_out", "step_loop"}  # of these `step` is made
LOOKS_AT_BATCH: dict[str, Callable[[Batch], object]] = {
    "explain_illegal": lambda batch: batch.explain_illegal(1, 0),
    "explain_legal": lambda batch: batch.explain_legal(1),
    "name_illegal": lambda batch: batch.name_illegal(1, 0),
    "render": lambda batch: batch.render(1),
    "uniforms": lambda batch: batch.uniforms(batch.all_rows, UNIFORMS + batch.movers.astype(np.int64)),
    "observe": lambda batch: [
        batch.observe(batch.all_rows, np.full(batch.num_games, seat, np.int8)) for seat in range(batch.num_players)
    ],
    "observe_end": lambda batch: batch.observe_end(batch.all_rows, np.zeros(batch.num_games, np.int8)),
    "over": lambda batch: batch.over,
    "results": lambda batch: batch.results(batch.all_rows),
    "show": lambda batch: batch.show(batch.all_rows[~batch.over]),
    "view": lambda batch: (batch.view(), batch.view(np.array([1]))),
}


def test_looks__every_one_at_a_batch_has_a_case() -> None:
    found = methods(Batch) - CHANGING_A_BATCH - INSIDE_A_BATCH
    assert found == set(LOOKS_AT_BATCH), "add a look that changes nothing, or say that it is none"


LIVE = ("states", "observations", "masks", "movers", "rewards", "terminated", "truncated")


@pytest.mark.parametrize("name", GAMES)
def test_looks__at_a_batch_change_no_game_whatever_its_others_do(name: str) -> None:
    """Among five looked at from all sides and at times of its own, a row's game goes as alone."""
    seats, options = SETTINGS[name]
    whole = Batch(load_game(name), 5, num_players=seats, reward="margin", **options)
    alone = Batch(load_game(name), 1, num_players=seats, reward="margin", **options)
    whole.reset(15, first_game=6)
    alone.reset(15, first_game=6 + 2)
    generator = np.random.default_rng(11)
    for _ in range(120):
        for look in LOOKS_AT_BATCH.values():
            look(whole)
        rows = np.flatnonzero(generator.random(5) < 0.6)
        chosen = (generator.random(whole.masks.shape) * whole.masks).argmax(axis=1)
        whole.step(chosen[rows], rows)
        if 2 in rows:
            alone.step(chosen[2:3])
        for array in LIVE:
            assert getattr(whole, array)[2].tobytes() == getattr(alone, array)[0].tobytes(), array


def test_view__is_the_policys_own() -> None:
    """What a policy writes into its view changes no game."""
    batch, twin = Batch(YAHTZEE_JR, 4, num_players=2), Batch(YAHTZEE_JR, 4, num_players=2)
    for one in (batch, twin):
        one.reset(16)
    for rows in (None, np.array([1, 3])):
        view = batch.view(rows)
        for field in fields(View):
            array = getattr(view, field.name)
            if field.name not in ("game", "options"):  # the one cannot be written into, the other is the table's
                array.view(np.uint8)[:] = 77
    for array in LIVE:
        assert getattr(batch, array).tobytes() == getattr(twin, array).tobytes(), array


def test_uniforms__others_gives_other_random_play_and_the_same_greedy_play() -> None:
    view = some_decisions(YAHTZEE_JR, 30, 3)
    other = replace(view, uniforms=1 - 0.999 * view.uniforms - 0.0005)
    assert RANDOM.act(view).tolist() != RANDOM.act(other).tolist()
    assert GREEDY.act(view).tolist() == GREEDY.act(other).tolist()
    assert rollout.fresh_streams(view.uniforms, np.zeros(30, np.int64)).tobytes() != (
        rollout.fresh_streams(other.uniforms, np.zeros(30, np.int64)).tobytes()
    )
