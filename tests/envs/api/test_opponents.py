"""A learner among policies: every environment with one seat plays the games that the rules, called plainly, give.

`PlainSeat` is the oracle. It plays one row with the verbs of the rules alone: who sits where, what each policy is
shown, what the learner is shown and paid, and how each game ends. It shares no code with the table, the batch and the
environments, but for the rules themselves. The opponents here answer with a hash of all that they are shown, so that
any slip in it changes the game.
"""

import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import cache
from itertools import combinations, count, cycle, product
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from fivedice.agents import load
from fivedice.agents.policies.baselines import RandomPolicy
from fivedice.agents.policies.prior import MOST_SPANS, Prior
from fivedice.agents.training.opponents import BASELINES, OpponentPool
from fivedice.agents.training.vec_env import SeatVecEnv
from fivedice.envs import GAMES, load_game
from fivedice.envs.api.single import SeatEnv
from fivedice.envs.api.table import LEARNER, Table
from fivedice.envs.api.vector import SeatVectorEnv
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.chance import SEATING, UNIFORMS, new_script, new_streams, philox
from fivedice.envs.core.reward import MARGIN, REWARDS, SCORE, WIN, pay, reward_kind
from fivedice.envs.core.view import View

ROWS, PLAYED = 3, 2  # PLAYED games of each of ROWS rows are compared
NAMES = ("left", "middle", "right")  # of opponents, in turn order after the learner

Array = NDArray[Any]


def one_of(legal: Array, *shown: bytes) -> int:
    """The legal action that a hash of all that was shown points at."""
    return int(legal[crc32(b"|".join(shown)) % len(legal)])


class Hashed:
    """A policy whose action depends on its name and on every part of what it is shown."""

    def __init__(self, name: str) -> None:
        self.name = name

    def act(self, view: View) -> NDArray[np.int64]:
        rows = zip(view.states, view.seats, view.observations, view.masks, view.uniforms, strict=True)
        words = self.name.encode(), view.game.name.encode(), view.options.tobytes()
        answers = [
            one_of(np.flatnonzero(mask), *words, state.tobytes(), bytes([seat]), seen.tobytes(), uniforms.tobytes())
            for state, seat, seen, mask, uniforms in rows
        ]
        return np.array(answers, np.int64)


class Dealt:
    """A lineup of five policies, all equally likely."""

    def __init__(self) -> None:
        self.policies = {10 + number: Hashed(f"number {number}") for number in range(5)}

    def assign(self, uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
        return 10 + (uniforms * 5).astype(np.int64)

    def policy(self, number: int) -> Hashed:
        return self.policies[number]


class Case(NamedTuple):
    game: str
    num_players: int
    reward: str
    seat: int | str = "random"
    dealt: bool = False
    canonical: bool = False
    seed: int = 5
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def settings(self) -> dict[str, Any]:
        opponents = Dealt() if self.dealt else [Hashed(name) for name in NAMES[: self.num_players - 1]]
        at_the_table = {"num_players": self.num_players, "reward": self.reward, "seat": self.seat}
        return at_the_table | {"opponents": opponents, **dict(self.options)}


class Decision(NamedTuple):
    """One decision of the learner, and what it has brought until the next one or the end."""

    observation: NDArray[np.float32]
    mask: NDArray[np.int8]
    action: int  # by the number that it has in what is shown
    paid: float
    lead: float  # own points less the mean of the others'


class PlainGame(NamedTuple):
    decisions: list[Decision]
    last: NDArray[np.float32]  # what the learner sees at the end
    points: list[float]
    won: list[bool]
    seat: int
    opponents: list[str]  # in turn order after the learner
    truncated: bool

    @property
    def rank(self) -> int:
        """1 for whoever won; else one more than there are who won or have more points."""
        if self.won[self.seat]:
            return 1
        own = self.points[self.seat]
        return 1 + sum(has_won or points > own for points, has_won in zip(self.points, self.won, strict=True))

    @property
    def win(self) -> float:
        return self.won[self.seat] / sum(self.won)


def payoff(reward: str, points: list[float], won: list[bool], seat: int) -> float:
    """What a finished game is worth to a seat."""
    if reward == "score":
        return points[seat]
    if reward == "margin":
        return lead(points, seat)
    if all(won):
        return 0.0
    return 1 / sum(won) if won[seat] else -1 / (len(won) - sum(won))


def lead(points: list[float], seat: int) -> float:
    others = points[:seat] + points[seat + 1 :]
    return points[seat] - (sum(others) / len(others) if others else 0.0)


def uniform(seed: int, row: int, episode: int, stream: int, draw: int) -> float:
    """The number that this draw of a stream gives, in [0, 1)."""
    low, high = (int(word) for word in new_streams(seed, 1)["key"][0])
    return int(philox(draw >> 2, stream, row, episode, low, high)[draw & 3]) / 2**32


class PlainSeat:
    """The games of one row, one after the other, as the learner meets them."""

    def __init__(self, case: Case, row: int) -> None:
        self.case, self.row, self.episode = case, row, 0
        self.game = load_game(case.game)
        self.options = self.game.make_options(case.num_players, dict(case.options))
        self.games: list[PlainGame] = []

    def play(self, number: int) -> PlainGame:
        """The learner's game of this number; one in which it decides nothing is none."""
        while len(self.games) <= number:
            game = self._play()
            self.episode += 1
            if game.decisions:
                self.games.append(game)
        return self.games[number]

    def seen(self, state: Any, seat: int) -> tuple[NDArray[np.float32], NDArray[np.int8], Array]:
        """The observation of `seat`, its mask, and which action each action shown is."""
        rules, options, num_actions = self.game.rules, self.options, self.game.num_actions(self.options)
        actions, shown = np.arange(num_actions), np.array([state])[0]
        if self.case.canonical:
            assert self.game.canonical is not None
            self.game.canonical(state, options, seat, shown, actions)
        mask = np.zeros(num_actions, np.int8)
        if rules.current_player(state) == seat:
            rules.legal_actions(shown, options, mask)
            mask[actions < 0] = 0
        observation = np.empty(self.game.layout(options).size, np.float32)
        self.game.observe(shown, options, seat, observation)
        return observation, mask, actions

    def points(self, state: Any) -> list[float]:
        points = np.zeros(self.case.num_players)
        self.game.rules.scores(state, self.options, points)
        return [float(number) for number in points]

    def won(self, state: Any) -> list[bool]:
        won = np.zeros(self.case.num_players, np.int8)
        self.game.rules.winners(state, self.options, won)
        return [bool(flag) for flag in won]

    def _play(self) -> PlainGame:
        case, rules, options = self.case, self.game.rules, self.options
        streams = new_streams(case.seed, 1, self.row)
        streams["game"][0, 1] = self.episode
        chance = streams[0], new_script((), len(self.game.face_names))
        drawn: Counter[int] = Counter()

        def uniforms(stream: int) -> float:
            drawn[stream] += 1
            return uniform(case.seed, self.row, self.episode, stream, drawn[stream] - 1)

        seat = int(uniforms(SEATING) * case.num_players) if case.seat == "random" else int(case.seat)
        dealt = [uniforms(SEATING) for _ in range(case.num_players - 1)]
        names = [f"number {int(number * 5)}" for number in dealt] if case.dealt else list(NAMES[: len(dealt)])
        policies = {(seat + turn) % case.num_players: Hashed(name) for turn, name in enumerate(names, 1)}
        decisions: list[Decision] = []
        paid, waiting = 0.0, None
        state = np.zeros(1, rules.STATE)[0]
        rules.setup(state, options, chance)
        while True:
            over, mover = bool(rules.is_terminal(state, options)), int(rules.current_player(state))
            if waiting is not None and (over or mover == seat):
                decisions.append(Decision(*waiting, paid, lead(self.points(state), seat)))
                paid = 0.0
            if over:
                break
            observation, mask, actions = self.seen(state, mover) if mover == seat else self.plainly_seen(state, mover)
            if mover == seat:
                chosen = one_of(np.flatnonzero(mask), bytes([self.row, len(self.games)]), mask.tobytes())
                waiting, action = (observation, mask, chosen), int(actions[chosen])
            else:
                seats, numbers = np.array([mover], np.int8), np.array([uniforms(UNIFORMS + mover)])
                view = View(self.game, options, np.array([state]), seats, observation[None], mask[None], numbers)
                action = int(policies[mover].act(view)[0])
            before = self.points(state)
            rules.apply(state, options, action, chance)
            after, over = self.points(state), bool(rules.is_terminal(state, options))
            if case.reward != "win":
                paid += payoff(case.reward, [b - a for a, b in zip(before, after, strict=True)], [], seat)
            elif over:
                paid += payoff("win", after, self.won(state), seat)
        truncated = bool(self.game.is_truncated(state, options))
        return PlainGame(decisions, self.seen(state, seat)[0], after, self.won(state), seat, names, truncated)

    def plainly_seen(self, state: Any, seat: int) -> tuple[NDArray[np.float32], NDArray[np.int8], Array]:
        return PlainSeat(self.case._replace(canonical=False), self.row).seen(state, seat)


@cache
def plain_rows(case: Case) -> list[PlainSeat]:
    return [PlainSeat(case, row) for row in range(ROWS)]


def all_cases() -> Iterator[Case]:
    """Every game, 1 to 4 seats where it has them, every kind of reward, fixed lists and dealt policies in turn."""
    others, seeds = cycle([False, True]), count(1)
    for name in GAMES:
        game = load_game(name)
        shorter = (("max_turns", 9),) if name == "showdown_yahtzee" else ()
        for num_players in range(game.min_players, min(4, game.max_players) + 1):
            for reward in REWARDS if num_players > 1 else ("score",):
                yield Case(name, num_players, reward, dealt=next(others), seed=next(seeds), options=shorter)
    # The first turns may be the only ones, so that some games are over before the learner has decided anything.
    yield Case("showdown_yahtzee", 3, "win", 1, options=(("max_turns", 1),))
    yield Case("showdown_yahtzee", 4, "margin", dealt=True, options=(("max_turns", 2),))
    for seat, reward in zip(range(3), REWARDS, strict=True):
        yield Case("yahtzee_jr", 3, reward, seat, options=(("tie_break", "share"), ("must_score_most", False)))


CASES = list(all_cases())
SHOWN_AS_ONE = [  # positions that come to the same
    Case("yahtzee_jr", 1, "score", canonical=True),
    Case("yahtzee_jr", 2, "win", canonical=True),
    Case("yahtzee_jr", 4, "margin", canonical=True),
]


def label(case: Case) -> str:
    return "-".join(map(str, case[:4]))


def close(paid: Any, expected: float) -> bool:
    return float(paid) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("case", CASES + SHOWN_AS_ONE, ids=label)
def test_plain_games__pay_the_payoff(case: Case) -> None:
    for row in plain_rows(case):
        for number in range(PLAYED):
            game = row.play(number)
            total = sum(decision.paid for decision in game.decisions)
            assert total == pytest.approx(payoff(case.reward, game.points, game.won, game.seat), abs=1e-9)


def test_cases__meet_every_seat_end_and_place() -> None:
    games = [(case, row.play(number)) for case in CASES for row in plain_rows(case) for number in range(PLAYED)]
    for num_players in (2, 3, 4):
        among = [game for case, game in games if case.num_players == num_players]
        assert {game.seat for game in among} == set(range(num_players))
        assert {game.rank for game in among} == set(range(1, num_players + 1))
    assert {game.truncated for _, game in games} == {True, False}
    assert any(row.episode > len(row.games) for case in CASES for row in plain_rows(case))  # some were no games for it


@pytest.mark.parametrize("case", CASES, ids=label)
def test_table__plays_the_plain_games(case: Case) -> None:
    """Row by row in any order, and with some rows further on than others."""
    table, rows = Table(load_game(case.game), ROWS, **case.settings), plain_rows(case)
    table.reset(seed=case.seed)
    generator = np.random.default_rng(1)
    at = [(0, 0)] * ROWS
    while min(number for number, _ in at) < PLAYED:
        some = generator.permutation(ROWS)[: generator.integers(1, ROWS + 1)]
        games = [rows[row].play(at[row][0]) for row in some]
        waiting = [game.decisions[at[row][1]] for game, row in zip(games, some, strict=True)]
        for row, game, decision in zip(some, games, waiting, strict=True):
            assert (table.seats[row], table.batch.movers[row]) == (game.seat, game.seat)
            assert table.seated[row, game.seat] == LEARNER
            assert table.opponents(int(row)) == game.opponents
            assert table.batch.observations[row].tobytes() == decision.observation.tobytes()
            assert table.batch.masks[row].tobytes() == decision.mask.tobytes()
        table.step(np.array([decision.action for decision in waiting]), some)
        assert not table.owed[some].any()
        finished = []
        for row, game, decision in zip(some, games, waiting, strict=True):
            number, place = at[row]
            is_last = place + 1 == len(game.decisions)
            assert close(table.paid[row], decision.paid)
            assert close(table.margins()[row], decision.lead)
            assert (table.batch.terminated[row], table.batch.truncated[row]) == (
                is_last and not game.truncated,
                is_last and game.truncated,
            )
            at[row] = (number + 1, 0) if is_last else (number, place + 1)
            finished += [(row, game)] if is_last else []
        if finished:
            over = np.array([row for row, _ in finished])
            outcome = table.outcome(over)
            for i, (_, game) in enumerate(finished):
                assert outcome.observations[i].tobytes() == game.last.tobytes()
                assert (outcome.scores[i], outcome.ranks[i], outcome.wins[i]) == (
                    game.points[game.seat],
                    game.rank,
                    game.win,
                )
            table.restart(over)
            assert not table.paid[over].any()


@pytest.mark.parametrize("case", CASES, ids=label)
def test_seat_env__plays_the_plain_games(case: Case) -> None:
    env, row = SeatEnv(case.game, **case.settings), plain_rows(case)[0]
    for number in range(PLAYED):
        game = row.play(number)
        observation, info = env.reset(seed=None if number else case.seed)
        for decision in game.decisions:
            assert set(info) == {"action_mask"}
            assert observation.tobytes() == decision.observation.tobytes()
            assert info["action_mask"].tobytes() == decision.mask.tobytes()
            assert env.action_masks().tolist() == (decision.mask == 1).tolist()
            assert env.observation_space.contains(observation)
            observation, paid, terminated, truncated, info = env.step(decision.action)
            assert close(paid, decision.paid)
            is_last = decision is game.decisions[-1]
            assert (terminated, truncated) == (is_last and not game.truncated, is_last and game.truncated)
        assert observation.tobytes() == game.last.tobytes()
        assert np.flatnonzero(info.pop("action_mask")).tolist() == [0]
        assert info == {
            "score": game.points[game.seat],
            "rank": game.rank,
            "seat": game.seat,
            "opponents": game.opponents,
        }


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("case", [case for case in CASES if case.num_players != 2 or case.dealt], ids=label)
def test_vector_env__plays_the_plain_games(case: Case, mode: AutoresetMode) -> None:
    env, rows = SeatVectorEnv(ROWS, case.game, autoreset_mode=mode, **case.settings), plain_rows(case)
    observations, infos = env.reset(seed=case.seed)
    at = [(0, 0)] * ROWS  # each row's game and its decision there; -1 once it is over
    while min(number for number, _ in at) < PLAYED:
        actions, expected = np.zeros(ROWS, np.int64), []
        for row, (number, place) in enumerate(at):
            if place < 0:
                actions[row] = -7  # ignored
                expected.append((0.0, False, None))
                at[row] = number + 1, 0
                continue
            game = rows[row].play(number)
            decision = game.decisions[place]
            assert observations[row].tobytes() == decision.observation.tobytes()
            assert infos["action_mask"][row].tobytes() == decision.mask.tobytes()
            actions[row] = decision.action
            is_last = place + 1 == len(game.decisions)
            expected.append((decision.paid, is_last, game))
            at[row] = (number, place + 1) if not is_last else (number + 1, 0)
            if is_last and mode is not AutoresetMode.SAME_STEP:
                at[row] = number, -1
        observations, paid, terminated, truncated, infos = env.step(actions)
        over = np.array([is_last for _, is_last, _ in expected])
        for row, (amount, is_last, game) in enumerate(expected):
            assert close(paid[row], amount)
            cut = game is not None and game.truncated
            assert (terminated[row], truncated[row]) == (is_last and not cut, is_last and cut)
            if is_last and mode is not AutoresetMode.SAME_STEP:
                assert observations[row].tobytes() == game.last.tobytes()
                assert np.flatnonzero(infos["action_mask"][row]).tolist() == [0]
        ends = [game for _, is_last, game in expected if is_last]
        compare_ends({name: held for name, held in infos.items() if name != "action_mask"}, over, ends, mode)
        if mode is AutoresetMode.DISABLED and over.any():
            observations, infos = env.reset(options={"reset_mask": over})
            at = [(number + 1, 0) if place < 0 else (number, place) for number, place in at]


def compare_ends(infos: dict[str, Any], over: Array, ends: list[Any], mode: AutoresetMode) -> None:
    """What a vector environment reports for the rows whose games are over, and nothing for the others."""
    if not ends:
        assert infos == {}
        return
    reported = {
        "score": [game.points[game.seat] for game in ends],
        "rank": [game.rank for game in ends],
        "seat": [game.seat for game in ends],
        "opponents": [game.opponents for game in ends],
    }
    names = set(reported) | {f"_{name}" for name in reported}
    if mode is AutoresetMode.SAME_STEP:
        assert set(infos) == names | {"final_obs", "_final_obs", "final_info", "_final_info"}
        assert [seen.tobytes() for seen in infos["final_obs"][over]] == [game.last.tobytes() for game in ends]
        assert all(seen is None for seen in infos["final_obs"][~over])
        assert infos["_final_obs"].tolist() == infos["_final_info"].tolist() == over.tolist()
        assert set(infos["final_info"]) == names
    for held in [infos, infos["final_info"]] if mode is AutoresetMode.SAME_STEP else [infos]:
        assert names <= set(held)
        for name, values in reported.items():
            assert held[f"_{name}"].tolist() == over.tolist()
            assert held[name][over].tolist() == values
            assert not held[name][~over].any()


@pytest.mark.parametrize("case", CASES + SHOWN_AS_ONE, ids=label)
def test_vec_env__plays_the_plain_games(case: Case) -> None:
    """Rewards with a scale and a share of the lead, which is not scaled."""
    scale, coefficient = -0.25, 0.75
    env = SeatVecEnv(case.game, ROWS, reward_scale=scale, canonical_form=case.canonical, **case.settings)
    env.margin_coef = coefficient
    rows, at = plain_rows(case), [(0, 0)] * ROWS
    leads, returns = [0.0] * ROWS, [0.0] * ROWS
    assert env.seed(case.seed) == [case.seed] * ROWS
    observations = env.reset()
    while min(number for number, _ in at) < PLAYED:
        games = [rows[row].play(number) for row, (number, _) in enumerate(at)]
        waiting = [game.decisions[place] for game, (_, place) in zip(games, at, strict=True)]
        for row, decision in enumerate(waiting):
            assert observations[row].tobytes() == decision.observation.tobytes()
        masks = env.action_masks()
        assert (masks.dtype, masks.tolist()) == (np.bool_, [(decision.mask == 1).tolist() for decision in waiting])
        observations, rewards, dones, infos = env.step(np.array([decision.action for decision in waiting]))
        for row, (game, decision) in enumerate(zip(games, waiting, strict=True)):
            number, place = at[row]
            expected = scale * decision.paid + coefficient * (decision.lead - leads[row])
            assert float(rewards[row]) == pytest.approx(expected, abs=1e-5)
            leads[row] = decision.lead
            returns[row] += expected
            assert dones[row] == (place + 1 == len(game.decisions))
            if not dones[row]:
                assert infos[row] == {}
                at[row] = number, place + 1
                continue
            assert infos[row].pop("terminal_observation").tobytes() == game.last.tobytes()
            assert infos[row] == {
                "TimeLimit.truncated": False,
                "cut_short": game.truncated,
                "score": game.points[game.seat],
                "rank": game.rank,
                "win": game.win,
                "seat": game.seat,
                "opponents": game.opponents,
                "episode": {"r": pytest.approx(returns[row], abs=1e-4), "l": len(game.decisions)},
            }
            at[row], leads[row], returns[row] = (number + 1, 0), 0.0, 0.0


# How a game ended


MADE_UP = [  # points, who won, and each seat's rank and share of the win
    ([5, 9, 3, 7], [0, 1, 0, 0], [3, 1, 4, 2], [0, 1, 0, 0]),
    ([9, 9, 3, 9], [1, 1, 0, 1], [1, 1, 4, 1], [1 / 3, 1 / 3, 0, 1 / 3]),
    ([9, 4, 9, 4], [0, 0, 1, 0], [2, 3, 1, 3], [0, 0, 1, 0]),  # a roll-off of two
    ([8, 8, 8, 8], [0, 0, 0, 1], [2, 2, 2, 1], [0, 0, 0, 1]),  # a roll-off of all
    ([8, 8, 8, 8], [1, 1, 1, 1], [1, 1, 1, 1], [0.25] * 4),
    ([0, 6, 2, 6], [1, 0, 0, 0], [1, 2, 4, 2], [1, 0, 0, 0]),  # points are not all that counts
]


@pytest.mark.parametrize("seat", range(4))
def test_outcome__is_the_learner_s_own(seat: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table(load_game("yum"), len(MADE_UP), opponents=RandomPolicy(), num_players=4)
    table.reset(seed=1)
    points, won = (np.array([case[place] for case in MADE_UP]) for place in (0, 1))
    monkeypatch.setattr(table.batch, "results", lambda rows: (points[rows].astype(float), won[rows].astype(np.int8)))
    table.seats[:] = seats = [(seat + row) % 4 for row in range(len(MADE_UP))]
    rows = np.array([4, 1, 2, 0, 5, 3])
    outcome = table.outcome(rows)
    for i, row in enumerate(rows):
        own_points, _, ranks, wins = (case[seats[row]] for case in MADE_UP[row])
        assert (outcome.scores[i], outcome.ranks[i], outcome.wins[i]) == (own_points, ranks, wins)
        observation = np.empty(table.batch.layout.size, np.float32)
        table.batch.game.observe(table.batch.states[row], table.batch.options, seats[row], observation)
        assert outcome.observations[i].tobytes() == observation.tobytes()
    others = [np.delete(points[row], seats[row]) for row in range(len(MADE_UP))]
    assert table.margins().tolist() == [
        pytest.approx(points[row, seats[row]] - others[row].mean()) for row in range(len(MADE_UP))
    ]


@pytest.mark.parametrize("num_players", [2, 3])
def test_outcome__of_a_roll_off_is_a_win_or_rank_2(num_players: int) -> None:
    env = SeatVecEnv("yahtzee_jr", 250, num_players=num_players)
    seen: list[Array] = []
    restart = env.table.restart

    def noting(rows: NDArray[np.int64]) -> None:
        seen.append(env.table.batch.states[rows].copy())
        restart(rows)

    env.table.restart = noting  # type: ignore[method-assign]
    env.seed(2)
    env.reset()
    ranks: Counter[tuple[int, float]] = Counter()
    for step in range(25):
        *_, dones, infos = env.step(random_actions(env.action_masks(), step))
        for row, state in zip(np.flatnonzero(dones), seen.pop() if dones.any() else (), strict=True):
            points = np.maximum(state["tokens"][:num_players], 0).sum(axis=1)
            rolled_off, seat = state["roll_off"] >= 0, infos[row]["seat"]
            assert rolled_off == ((points == points.max()).sum() > 1)
            if rolled_off and points[seat] == points.max():
                won = state["roll_off"] == seat
                assert (infos[row]["rank"] == 1) == won
                assert infos[row]["rank"] == 2 or num_players > 2 or won
                ranks[infos[row]["rank"], infos[row]["win"]] += 1
    assert set(ranks) == {(1, 1.0), (2, 0.0)}
    assert min(ranks.values()) > 5


def random_actions(masks: Array, *seed: int) -> NDArray[np.int64]:
    actions: NDArray[np.int64] = (np.random.default_rng(seed).random(masks.shape) * masks).argmax(axis=1)
    return actions


# Who sits where


def test_seating__is_dealt_from_numbers_of_its_own() -> None:
    """Each seat of each row and game has a number that nothing else uses, in turn order after the learner."""
    reported: list[Array] = []

    class Noted(Dealt):
        def assign(self, uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
            reported.append(uniforms.copy())
            return super().assign(uniforms)

    for seat in ("random", 0):
        table = Table(load_game("yum"), 4, opponents=Noted(), num_players=4, seat=seat)
        table.reset(seed=9)
        table.restart(np.array([3, 1]))
        first = int(seat == "random")
        deals = [[(row, 0) for row in range(4)], [(3, 1), (1, 1)]]
        for uniforms, dealt in zip(reported, deals, strict=True):
            expected = [[uniform(9, *game, SEATING, first + draw) for draw in range(3)] for game in dealt]
            assert uniforms.tolist() == expected
        seats = [int(uniform(9, row, int(row in (1, 3)), SEATING, 0) * 4) for row in range(4)]
        assert table.seats.tolist() == (seats if seat == "random" else [0] * 4)
        reported.clear()


def chi_square(table: Array) -> float:
    """How far the counts of a table are from the product of its margins, in units of its degrees of freedom."""
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True) / table.sum()
    return float(((table - expected) ** 2 / expected).sum() / np.prod(np.array(table.shape) - 1))


def test_seating__is_independent_across_seats_games_and_rows() -> None:
    lineup, num_games = Dealt(), 4000
    table = Table(load_game("yahtzee_jr"), num_games, opponents=lineup, num_players=4)
    table._play_on = lambda rows: None  # type: ignore[method-assign]  # nobody needs to play for this
    columns = []
    table.reset(seed=3)
    for game in range(2):
        if game:
            table.restart(table.batch.all_rows)
        turns = (table.seats[:, None] + np.arange(1, 4)) % 4
        columns += [table.seats.copy(), *(table.seated[table.batch.all_rows[:, None], turns] - 10).T]
    columns += [np.roll(column, 1) for column in columns[:4]]  # of the row before
    for column, sides in zip(columns, cycle([4, 5, 5, 5]), strict=False):
        counts = np.bincount(column, minlength=sides)
        assert len(counts) == sides
        assert abs(counts - num_games / sides).max() < 4.5 * np.sqrt(num_games / sides)
    for one, other in combinations(columns, 2):
        joint = np.zeros((5, 5))
        np.add.at(joint, (one, other), 1)
        assert chi_square(joint[joint.any(axis=1)][:, joint.any(axis=0)]) < 2.5


def snapshot_like(pool: OpponentPool, steps: int, table: Table) -> int:
    """Add to the pool a policy that stands for a snapshot."""
    return pool.add(Hashed(f"step-{steps:09d}"), steps, table.seated)  # type: ignore[arg-type]  # it acts like one


def test_games__keep_the_opponents_that_they_began_with() -> None:
    """While the pool takes in a snapshot at each step, and soon has dropped those that play."""
    pool = OpponentPool({"current": 2, "past": 2, "hard": 1, "random": 1}, 2)
    pool.add(Hashed("step-000000000"), 0, np.zeros((0, 3), np.int64))  # type: ignore[arg-type]  # it acts like one
    env = SeatVecEnv("yahtzee_jr", 12, opponents=pool, num_players=3)
    env.seed(4)
    env.reset()
    began = [env.table.opponents(row) for row in range(12)]
    dropped_while_playing, ends = 0, 0
    for step in range(1, 80):
        newest = snapshot_like(pool, step, env.table)
        assert pool.policy(newest).name == f"step-{step:09d}"
        *_, dones, infos = env.step(random_actions(env.action_masks(), step))
        for row in range(12):
            if not dones[row]:
                assert env.table.opponents(row) == began[row]
                continue
            assert infos[row]["opponents"] == began[row]
            began[row] = env.table.opponents(row)
            in_the_pool = {f"step-{steps:09d}" for steps in pool.steps.values()} | {"random"}
            assert set(began[row]) <= in_the_pool
            ends += 1
        dropped_while_playing += len(set(pool._policies) - set(pool.steps) - set(BASELINES.values()))
    assert ends > 50
    assert dropped_while_playing > 100


def test_opponents__are_asked_only_where_they_are_to_move() -> None:
    """Each is asked about its own decisions, and never again about one that is made."""
    asked: dict[str, list[tuple[int, ...]]] = {name: [] for name in NAMES}

    class Noted(Hashed):
        def act(self, view: View) -> NDArray[np.int64]:
            for state, seat, mask in zip(view.states, view.seats, view.masks, strict=True):
                assert state["player"] == seat
                assert mask.any()
                asked[self.name].append((int(seat), len(view)))
            return super().act(view)

    env = SeatVecEnv("yum", 30, opponents=[Noted(name) for name in NAMES], num_players=4, seat=1)
    env.seed(1)
    env.reset()
    for step in range(15):
        env.step(random_actions(env.action_masks(), step))
    assert {name: {seat for seat, _ in reported} for name, reported in asked.items()} == {
        "left": {2},
        "middle": {3},
        "right": {0},
    }
    sizes = [size for reported in asked.values() for _, size in reported]
    assert np.mean(sizes) > 10  # in batches


# Dice and views


@pytest.mark.parametrize("name", GAMES)
def test_view__leaves_the_dice_alone(name: str) -> None:
    looking, not_looking = Batch(load_game(name), 6), Batch(load_game(name), 6)
    for batch in (looking, not_looking):
        batch.reset(seed=8)
    generator = np.random.default_rng(2)
    for step in range(60):
        for _ in range(int(generator.integers(0, 4))):
            looking.view(generator.permutation(6)[: generator.integers(1, 7)])
        for batch in (looking, not_looking):
            batch.step(random_actions(batch.masks, step))
        for array in ("states", "movers", "masks", "observations", "rewards", "terminated", "truncated"):
            assert getattr(looking, array).tobytes() == getattr(not_looking, array).tobytes()


def test_dice__of_a_seat_do_not_depend_on_who_sits_beside_it() -> None:
    starts = []
    for opponents in ("random", "greedy", Hashed("left")):
        table = Table(load_game("yum"), 40, opponents=opponents, seat=1)
        table.reset(seed=6)
        starts.append((table.batch.states["dice"].tolist(), table.batch.states["boxes"][:, 0].tolist()))
    assert starts[0][0] == starts[1][0] == starts[2][0]
    assert starts[0][1] != starts[1][1] != starts[2][1]  # though the others have done something else


def test_view__shows_each_row_its_own() -> None:
    batch = Batch(load_game("yahtzee_jr"), 8, num_players=3)
    batch.reset(seed=2)
    looked: Counter[tuple[int, int]] = Counter()  # how often at each row and seat
    for step in range(30):
        rows = np.random.default_rng(step).permutation(8)[: 1 + step % 8]
        episodes = batch.streams["game"][:, 1].copy()
        view = batch.view(rows)
        assert len(view) == len(rows)
        assert (view.game, view.options) == (batch.game, batch.options)
        for i, row in enumerate(rows):
            seat = int(view.states[i]["player"])
            assert view.states[i] == batch.states[row]
            assert (view.seats[i], batch.movers[row]) == (seat, seat)
            seen, mask = np.empty(batch.layout.size, np.float32), np.empty(batch.num_actions, np.int8)
            batch.game.observe(batch.states[row], batch.options, seat, seen)
            batch.game.rules.legal_actions(batch.states[row], batch.options, mask)
            assert view.observations[i].tobytes() == seen.tobytes()
            assert view.masks[i].tobytes() == mask.tobytes()
            game = int(row), int(episodes[row])
            assert view.uniforms[i] == uniform(2, *game, UNIFORMS + seat, looked[(*game, seat)])
            looked[(*game, seat)] += 1
        batch.step(random_actions(batch.masks, step))


@pytest.mark.parametrize("rows", [None, np.array([2, 0])])
def test_view__is_the_policy_s_own(rows: Array | None) -> None:
    batch = Batch(load_game("yum"), 3)
    batch.reset(seed=1)
    held = [batch.states.copy(), batch.movers.copy(), batch.observations.copy(), batch.masks.copy()]
    view = batch.view(rows)
    for field in fields(View):
        array = getattr(view, field.name)
        if isinstance(array, np.ndarray):
            array.view(np.uint8)[...] = 77
    for array, before in zip((batch.states, batch.movers, batch.observations, batch.masks), held, strict=True):
        assert array.tobytes() == before.tobytes()


def test_view__rows_are_taken_from_every_field() -> None:
    batch = Batch(load_game("set_cubed"), 5)
    batch.reset(seed=1)
    for step in range(7):
        batch.step(random_actions(batch.masks, step))
    view = replace(batch.view(), seats=np.arange(5, dtype=np.int8))
    view.masks[:, 0] = view.observations[:, 0] = np.arange(5)
    rows = np.array([4, 1, 1])
    some = view.rows(rows)
    assert len(some) == 3
    for field in fields(View):
        whole, part = getattr(view, field.name), getattr(some, field.name)
        if field.name in ("game", "options"):
            assert part == whole
        else:
            assert part.tobytes() == b"".join(whole[row].tobytes() for row in rows), field.name


def test_view__without_a_choice_is_refused_by_its_number() -> None:
    batch = Batch(load_game("yum"), 3)
    batch.reset(seed=1)
    batch.view().require_choice()
    batch.masks[2] = 0
    with pytest.raises(ValueError, match="decision 2 has no legal action"):
        batch.view().require_choice()


# What is paid


@pytest.mark.parametrize("num_players", range(1, 7))
def test_pay__is_the_gain_the_lead_or_the_win(num_players: int) -> None:
    generator = np.random.default_rng(num_players)
    for over, _ in product((False, True), range(12)):
        before, after = generator.integers(0, 50, (2, 6)).astype(float)
        won = np.append(generator.integers(0, 2, num_players), np.ones(6 - num_players)).astype(np.int8)
        won[generator.integers(num_players)] = 1
        gains = (after - before)[:num_players].tolist()
        winners = [bool(flag) for flag in won[:num_players]]
        for kind, reward in ((SCORE, "score"), (MARGIN, "margin"), (WIN, "win")):
            if kind != SCORE and num_players == 1:
                continue
            rewards = np.full(num_players, 99.0)
            pay(kind, before, after, over, won, rewards)
            if kind == WIN and not over:
                assert not rewards.any()
            else:
                points = after[:num_players].tolist() if kind == WIN else gains
                assert rewards == pytest.approx([payoff(reward, points, winners, seat) for seat in range(num_players)])
    assert [reward_kind(None, players) for players in (1, 2, 6)] == [SCORE, WIN, WIN]
    assert [reward_kind(reward, 2) for reward in REWARDS] == [WIN, SCORE, MARGIN]


# Keywords


Apis = type[SeatEnv] | type[SeatVectorEnv] | type[SeatVecEnv] | type[Table]

# For each keyword: another value than the default below, and what must then hold.
ANOTHER: dict[str, tuple[Any, Callable[[Any], bool]]] = {
    "game": (load_game("yahtzee_jr"), lambda env: at(env).batch.game.name == "yahtzee_jr"),
    "num_envs": (3, lambda env: env.num_envs == 3 == env.table.batch.num_games),
    "num_games": (3, lambda env: env.batch.num_games == 3),
    "opponents": (Hashed("right"), lambda env: set(at(env).opponents(0)) == {"right"}),
    "seat": (2, lambda env: at(env).seats.tolist() == [2] * len(at(env).seats)),
    "num_players": (4, lambda env: at(env).batch.num_players == 4 == at(env).seated.shape[1]),
    "reward": ("margin", lambda env: at(env).batch.reward == "margin"),
    "render_mode": ("ansi", lambda env: env.render_mode == "ansi"),
    "SeatVecEnv.render_mode": ("rgb_array", lambda env: env.render_mode == "rgb_array"),
    "illegal_action": ("raise", lambda env: not at(env).ends_illegal),
    "SeatVecEnv.illegal_action": ("terminate", lambda env: at(env).ends_illegal),
    "Table.illegal_action": ("terminate", lambda env: at(env).ends_illegal),
    "illegal_reward": (-2.5, lambda env: at(env).illegal_reward == -2.5),
    "mask_in": ("observation", lambda env: env.mask_in == "observation"),
    "autoreset_mode": ("SameStep", lambda env: env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP),
    "copy": (False, lambda env: np.shares_memory(env.reset(seed=1)[0], env.table.batch.observations)),
    "reward_scale": (3.0, lambda env: env.reward_scale == 3.0),  # the amounts: see the plain games
    "canonical_form": (True, lambda env: env.canonical_form is True),  # what is shown: see the plain games
    "prior": ("greedy", lambda env: env.prior == Prior(load("greedy"))),
    "prior_span": (1.5, lambda env: env.prior == Prior(load("greedy"), 1.5)),
    "prior_keep_span": (0.5, lambda env: env.prior == Prior(load("greedy"), 1.5, 0.5)),
    "prior_features": (True, lambda env: env.prior == Prior(load("greedy"), 1.5, features=True)),
}
USUAL = {"num_players": 3, "opponents": Hashed("left"), "reward": "score", "seat": 1}
NEEDED = {  # what else must be there
    "game": {},
    "illegal_reward": {"illegal_action": "terminate"},
    "prior_span": {"prior": "greedy"},
    "prior_keep_span": {"prior": "greedy", "prior_span": 1.5},
    "prior_features": {"prior": "greedy", "prior_span": 1.5},
}
OTHER_GAME = {"canonical_form": "yahtzee_jr", "prior_span": "showdown_yahtzee"}
OTHER_GAME |= dict.fromkeys(("prior_keep_span", "prior_features"), "showdown_yahtzee")
KEYWORDS = [
    (api, keyword)
    for api in (SeatEnv, SeatVectorEnv, SeatVecEnv, Table)
    for keyword, parameter in inspect.signature(api).parameters.items()
    if parameter.kind is not inspect.Parameter.VAR_KEYWORD
]


def at(env: Any) -> Table:
    return env if isinstance(env, Table) else env.table


def make(api: Apis, settings: dict[str, Any]) -> Any:
    count = {SeatEnv: {}, Table: {"num_games": 4}}.get(api, {"num_envs": 4})
    settings = {"game": "yum"} | USUAL | count | settings
    if api is Table and isinstance(settings["game"], str):
        settings["game"] = load_game(settings["game"])
    env = api(**settings)
    if api is SeatVecEnv:
        env.seed(3)
        env.reset()
    else:
        env.reset(seed=3)
    return env


def exact(value: Any) -> Any:
    """Something that is equal where `value` is, to the last bit."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, (list, tuple, np.ndarray)):
        return [exact(item) for item in value]
    return {name: exact(item) for name, item in value.items()} if isinstance(value, dict) else value


def shown_by(env: Any) -> tuple[Any, ...]:
    """What anybody can see of the first decisions."""
    shown: list[Any] = [getattr(env, "observation_space", None), getattr(env, "metadata", None)]
    table = at(env)
    for step in range(6):
        actions = random_actions(table.batch.masks, step)
        if isinstance(env, Table):
            env.step(actions)
            shown += [env.batch.observations.tobytes(), env.paid.tolist()]
        elif isinstance(env, SeatVecEnv):
            masks = env.action_masks()
            shown += [masks.tolist(), exact(env.step(random_actions(masks, step)))]
        else:
            shown.append(exact(env.step(actions[0] if isinstance(env, SeatEnv) else actions)))
            shown.append(exact(env.render()))
            if isinstance(env, SeatVectorEnv):
                shown.append(env.reset(seed=3)[0] is env.reset(seed=3)[0])
        shown += [table.opponents(0), table.seats.tolist()]
    if isinstance(env, SeatVecEnv):
        shown += [exact(image) for image in env.get_images()]
    illegal = np.full(len(table.seats), -1)
    try:
        shown.append(exact(env.step(-1 if isinstance(env, SeatEnv) else illegal)))
    except ValueError as error:
        shown.append(str(error))
    return (*shown, table.paid.tolist())


@pytest.mark.parametrize(("api", "keyword"), KEYWORDS, ids=lambda value: getattr(value, "__name__", value))
def test_keywords__have_their_effect(api: Apis, keyword: str) -> None:
    assert keyword in ANOTHER, f"{api.__name__} takes {keyword}, which has no case here: add one to ANOTHER"
    value, holds = ANOTHER.get(f"{api.__name__}.{keyword}", ANOTHER[keyword])
    needed = {"game": OTHER_GAME[keyword]} if keyword in OTHER_GAME else {}
    needed |= NEEDED.get(keyword, {})
    with_it, without = make(api, needed | {keyword: value}), make(api, needed)
    assert holds(with_it)
    assert not holds(without)
    assert shown_by(with_it) != shown_by(without)


@pytest.mark.parametrize("api", [SeatEnv, SeatVectorEnv, SeatVecEnv, Table])
@pytest.mark.parametrize("name", GAMES)
def test_options__reach_the_rules(api: Apis, name: str) -> None:
    game = load_game(name)
    for option in game.rules.OPTIONS:
        chosen = {option.name: option.samples[-1]}
        env = make(api, {"game": game, "num_players": 2} | chosen)
        assert at(env).batch.options == game.make_options(2, chosen) != game.make_options(2)


def test_defaults__are_random_opponents_in_random_seats_for_the_win() -> None:
    for env in (SeatEnv("yum"), SeatVectorEnv(2, "yum"), SeatVecEnv("yum", 2), Table(load_game("yum"), 2)):
        table = at(env)
        assert table.seat == "random"
        assert table.lineup.policy(0).name == "random"
        assert (table.batch.num_players, table.batch.reward) == (load_game("yum").default_players, "win")
    assert SeatVectorEnv(2, "yum").autoreset_mode is AutoresetMode.NEXT_STEP
    assert SeatVectorEnv(2, "yum").copy is True
    assert SeatVectorEnv(2, "yum").metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    for env in (SeatEnv("yum"), SeatVectorEnv(2, "yum")):
        assert env.metadata["render_modes"] == ["ansi", "rgb_array"]
        assert env.metadata["render_fps"] == 2
    assert (SeatVecEnv("yum", 2).margin_coef, SeatVecEnv("yum", 2).reward_scale) == (0.0, 1.0)


# Stable-Baselines3


@pytest.mark.parametrize("canonical_form", [False, True])
def test_vec_env__reset_in_the_middle_is_a_fresh_environment(canonical_form: bool) -> None:
    settings = {"num_players": 3, "reward": "margin", "reward_scale": 0.5, "canonical_form": canonical_form}
    used, fresh = (SeatVecEnv("yahtzee_jr", 5, opponents=Hashed("left"), **settings) for _ in range(2))
    used.reset()
    used.margin_coef = 2.0
    for step in range(20):
        used.step(random_actions(used.action_masks(), step, 1))
    assert used.margins.any()
    assert used.lengths.any()
    fresh.margin_coef = 2.0
    for env in (used, fresh):
        env.seed(7)
    assert used.reset().tobytes() == fresh.reset().tobytes()
    ends = 0
    for step in range(25):
        masks = used.action_masks()
        assert masks.tobytes() == fresh.action_masks().tobytes()
        steps = [env.step(random_actions(masks, step)) for env in (used, fresh)]
        assert exact(steps[0]) == exact(steps[1])
        ends += int(steps[0][2].sum())
    assert ends > 3


def test_margin_coef__may_be_changed_at_any_time() -> None:
    """What the lead has grown by before the change is not paid for later."""
    envs = [SeatVecEnv("yum", 4, opponents=Hashed("left"), reward="score", zeros="free") for _ in range(2)]
    for env in envs:
        env.seed(1)
        env.reset()
    plain, paying = envs
    paid_for = np.zeros(4)  # of each row's lead, whether at 0 or more a point
    for step, coefficient in enumerate([0.0, 0.0, 3.0, 3.0, 0.0, -1.0] * 5):
        paying.margin_coef = coefficient
        actions = random_actions(plain.action_masks(), step)
        rewards, dones = plain.step(actions)[1:3]
        more = paying.step(actions)[1] - rewards
        leads = paying.table.margins()
        assert more[~dones] == pytest.approx(coefficient * (leads - paid_for)[~dones], abs=1e-4)
        paid_for = np.where(dones, 0.0, leads)


@pytest.mark.parametrize(("prior_span", "prior_features"), [(0.0, False), (1.5, True)])
def test_vec_env__shows_its_base_beside_each_decision_and_none_at_the_end(
    prior_span: float, prior_features: bool
) -> None:
    game = load_game("showdown_yahtzee")
    settings = {"opponents": Hashed("left"), "max_turns": 8}
    plain = SeatVecEnv(game, 4, **settings)
    env = SeatVecEnv(game, 4, prior="greedy", prior_span=prior_span, prior_features=prior_features, **settings)
    prior, num_actions = Prior(load("greedy"), prior_span, features=prior_features), game.num_actions()
    features = len(prior.feature_names(game)) * num_actions
    size = game.layout(plain.table.batch.options).size
    low, high = game.layout(plain.table.batch.options).bounds()
    assert plain.observation_space == spaces.Box(low, high, dtype=np.float32)
    space = env.observation_space
    assert isinstance(space, spaces.Box)
    assert space.low.tolist() == [*low.tolist(), *[0.0] * num_actions, *[-MOST_SPANS] * features]
    assert space.high.tolist() == [*high.tolist(), *[1.0] * num_actions, *[MOST_SPANS] * features]
    assert env.action_space == plain.action_space == spaces.Discrete(num_actions)
    ends = 0
    for one in (plain, env):
        one.seed(2)
    shown, seen = plain.reset(), env.reset()
    for step in range(25):
        batch = plain.table.batch
        view = View(game, batch.options, batch.states, batch.movers, shown, batch.masks, np.zeros(4))
        assert seen[:, :size].tobytes() == shown.tobytes()
        assert np.array_equal(seen[:, size:], prior.shown(view))
        actions = random_actions(plain.action_masks(), step)
        (shown, _, dones, infos), (seen, *_, others) = (one.step(actions) for one in (plain, env))
        for row in np.flatnonzero(dones):
            last = others[row]["terminal_observation"]
            assert last.shape == seen[row].shape
            assert last[:size].tobytes() == infos[row]["terminal_observation"].tobytes()
            assert not last[size:].any()
            ends += 1
    assert ends > 3


def test_canonical_form__the_legal_actions_of_the_wrong_row_are_named() -> None:
    game, env = load_game("yahtzee_jr"), SeatVecEnv("yahtzee_jr", 8, canonical_form=True, seat=0)
    env.seed(1)
    env.reset()
    for step in range(4):
        env.step(random_actions(env.action_masks(), step))
    batch, plain = env.table.batch, PlainSeat(Case("yahtzee_jr", 2, "win", 0, canonical=True), 0)
    named, distinguished = env.action_masks().argmax(axis=1), 0
    for row in range(8):
        _, mask, actions = plain.seen(batch.states[row], 0)
        legal = np.flatnonzero(mask)
        words = [game.name_action(batch.states[row], batch.options, int(actions[action])) for action in legal]
        others = [game.name_action(batch.states[row], batch.options, int(action)) for action in legal]
        distinguished += words != others and mask.tobytes() != batch.masks[row].tobytes()
        wrong = int(np.flatnonzero(mask == 0)[-1])
        said = ", ".join(f"{action} ({word})" for action, word in zip(legal, words, strict=True))
        with pytest.raises(ValueError, match=f"game {row}: ") as refused:
            env.step(np.where(np.arange(8) == row, wrong, named))
        assert f"action {wrong} is not legal in the canonical form that is shown; legal are {said}. " in str(
            refused.value
        )
    assert distinguished > 2
