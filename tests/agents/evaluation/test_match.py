"""Matches: who sits where and meets which dice, what a table of standings is made of, and whether intervals hold."""

import os
from collections import defaultdict

import numpy as np
import pytest
from numpy.typing import NDArray

from fivedice.agents.evaluation.match import (
    Estimate,
    Games,
    Match,
    Standing,
    count_deals,
    count_games,
    evaluate,
    play_games,
    play_match,
)
from fivedice.agents.evaluation.variance import without_luck
from fivedice.agents.policies.baselines import GREEDY, RandomPolicy
from fivedice.envs import load_game
from fivedice.envs.core.view import Policy, View
from fivedice.envs.yum.rules import OPEN

YUM = load_game("yum")
needs_compiled_code = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too long in plain Python")


class First:
    """The first legal action: throws all dice again, then fills the first box that it may."""

    name = "first"

    def act(self, view: View) -> NDArray[np.int64]:
        return view.masks.argmax(axis=1)


class Worth:
    """Made-up values of actions, by their numbers."""

    start = 10.0

    def action_values(self, view: View) -> NDArray[np.float64]:
        return np.where(view.masks == 1, np.arange(view.masks.shape[1]) % 5 + view.seats[:, None], -np.inf)


RANDOM, FIRST = RandomPolicy(), First()


# Who sits where


@pytest.mark.parametrize("seats", [2, 3, 6])
def test_match__each_deal_from_every_seat_with_the_same_dice(seats: int) -> None:
    games: list[tuple[NDArray[np.int64], dict[tuple[int, int], tuple[int, ...]]]] = []

    def play(seating: NDArray[np.int64]) -> Games:
        first_throws: dict[tuple[int, int], tuple[int, ...]] = {}

        def watch(number: int, rows: NDArray[np.int64], view: View, actions: NDArray[np.int64]) -> None:
            assert (seating[rows, view.seats] == number).all()
            for row, seat, state in zip(rows.tolist(), view.seats.tolist(), view.states, strict=True):
                if state["throws_left"] == 2 and (state["boxes"][seat] == OPEN).all():
                    first_throws[row, seat] = tuple(state["dice"].tolist())

        games.append((seating, first_throws))
        return play_games(YUM, seating, [RANDOM, FIRST], seed=3, watch=watch)

    play_match(play, 1, 0, deals=5, num_players=seats)
    assert [seating.tolist() for seating, _ in games] == [
        [[int(seat == place) for place in range(seats)]] * 5 for seat in range(seats)
    ]
    throws = [first_throws for _, first_throws in games]
    assert set(throws[0]) == {(deal, seat) for deal in range(5) for seat in range(seats)}
    assert all(other == throws[0] for other in throws)
    assert len(set(throws[0].values())) > 3 * seats  # other dice for each deal and seat


@pytest.mark.parametrize("seats", [2, 3, 5])
def test_match__of_a_policy_with_itself_is_fair(seats: int) -> None:
    match = play_match(
        lambda seating: play_games(YUM, seating, [RANDOM, RandomPolicy()], seed=4), 0, 1, deals=20, num_players=seats
    )
    assert match.share == pytest.approx(np.full(20, 1 / seats))
    assert match.points[0] == pytest.approx(match.points[1])


def test_match__means_are_over_the_seats_of_each_side() -> None:
    points = np.arange(18.0).reshape(3, 2, 3)  # first's seat, deal, seat
    played = iter([Games(points[seat], np.eye(3)[[seat, 0]], None) for seat in range(3)])
    match = play_match(lambda seating: next(played), 0, 1, deals=2, num_players=3)
    assert match.points[0].tolist() == [(0 + 7 + 14) / 3, (3 + 10 + 17) / 3]
    assert match.points[1].tolist() == [(1 + 2 + 6 + 8 + 12 + 13) / 6, (4 + 5 + 9 + 11 + 15 + 16) / 6]
    assert match.share.tolist() == [1, 1 / 3]
    assert (match.adjusted, match.share_without_luck()) == (None, None)


@pytest.mark.parametrize(("deals", "known"), [(19, False), (20, True)])
def test_match__luck_is_taken_out_of_the_wins_of_twenty_deals(deals: int, known: bool) -> None:
    points, adjusted = np.random.default_rng(1).normal(size=(2, 2, deals))
    share = np.linspace(0, 1, deals)
    found = Match(points, share, adjusted).share_without_luck()
    assert (found is not None) == known
    if found is not None:
        assert found == pytest.approx(without_luck(share, np.column_stack(points - adjusted)))


# What comes out


def test_evaluate__one_contender_alone_and_at_a_table_of_its_own() -> None:
    for seats in (1, 3):
        (standing,) = evaluate(YUM, {"random": RANDOM}, games=25, num_players=seats, seed=8, values=Worth())
        played = play_games(YUM, np.zeros((25, seats), np.int64), [RANDOM], seed=8, values=Worth())
        assert played.adjusted is not None
        adjusted = Estimate.of(played.adjusted.mean(axis=1))
        assert standing == Standing("random", 25, Estimate.of(played.points.mean(axis=1)), {}, adjusted, {})


def test_evaluate__several_contenders_at_one_seat_meet_the_same_dice() -> None:
    one, other, greedy = evaluate(
        YUM, {"one": RANDOM, "other": RandomPolicy(), "greedy": GREEDY}, games=30, num_players=1, seed=9
    )
    assert one.points == other.points
    assert greedy.points.mean > one.points.mean + 40
    assert (one.wins, one.games, one.points.count) == ({}, 30, 30)


def test_evaluate__two_seats_share_every_win() -> None:
    standings = evaluate(YUM, {"random": RANDOM, "first": FIRST, "greedy": GREEDY}, games=40, num_players=2, seed=10)
    shares = {(standing.name, rival): share for standing in standings for rival, share in standing.wins.items()}
    assert len(shares) == 6
    for (name, rival), share in shares.items():
        assert share.mean + shares[rival, name].mean == pytest.approx(1)
        assert share.half_width == pytest.approx(shares[rival, name].half_width)
        assert share.count == 20
    assert shares["greedy", "random"].mean > 0.9


def test_evaluate__three_seats_play_one_against_two() -> None:
    random, greedy = evaluate(YUM, {"random": RANDOM, "greedy": GREEDY}, games=31, num_players=3, seed=11)
    assert (greedy.games, greedy.points.count) == (33, 11)  # rounded up to whole deals
    assert greedy.wins["random"].mean > 0.9  # one greedy, two random
    assert random.wins["greedy"].mean < 0.1  # one random, two greedy
    assert greedy.wins["random"].mean + random.wins["greedy"].mean != 1


@pytest.mark.parametrize("contenders", [1, 2, 3])
@pytest.mark.parametrize("seats", [1, 2, 3])
def test_progress__tells_of_every_game(contenders: int, seats: int) -> None:
    told: list[int] = []
    named: dict[str, Policy] = {str(number): FIRST for number in range(contenders)}
    evaluate(YUM, named, games=10, num_players=seats, seed=1, progress=told.append)
    assert sum(told) == count_games(contenders, games=10, num_players=seats)


@pytest.mark.parametrize("seats", [1, 2, 3])
def test_watch__sees_every_decision_of_each_contender_once(seats: int) -> None:
    turns: defaultdict[int, int] = defaultdict(int)
    deals: defaultdict[int, set[int]] = defaultdict(set)

    def watch(number: int, games: NDArray[np.int64], view: View, actions: NDArray[np.int64]) -> None:
        assert (view.masks[np.arange(len(actions)), actions] == 1).all()
        turns[number] += int((actions >= 31).sum())
        deals[number] |= set(games.tolist())

    evaluate(YUM, {"random": RANDOM, "first": FIRST}, games=12, num_players=seats, seed=1, watch=watch)
    pairings = {1: 1, 2: 1, 3: 2}[seats]  # the one against two of the other, and the other way round
    half_of_the_seats = 12 * (2 if seats == 1 else pairings * seats) // 2
    assert turns == {0: 12 * half_of_the_seats, 1: 12 * half_of_the_seats}
    assert deals[0] == deals[1] == set(range(count_deals(12, seats)))


# Intervals


def test_interval__of_matches_holds_the_long_run() -> None:
    """The games of one deal are one sample: they share dice, and are far from independent."""
    game = load_game("yahtzee_jr")

    def points_and_share(seed: int, games: int) -> tuple[Estimate, Estimate]:
        random, _ = evaluate(game, {"random": RANDOM, "first": FIRST}, games=games, num_players=3, seed=seed)
        return random.points, random.wins["first"]

    long = points_and_share(1000, 9000)
    short = [points_and_share(seed, 60) for seed in range(80)]
    for which, truth in enumerate(long):
        assert truth.half_width < short[0][which].half_width / 5
        held = np.mean([abs(pair[which].mean - truth.mean) <= pair[which].half_width for pair in short])
        assert 0.88 <= held <= 1.0


def test_evaluate__takes_names_and_policies_as_the_games_and_policies_that_they_name() -> None:
    expected = evaluate(YUM, {"random": RANDOM, "first": FIRST}, games=6, num_players=2, seed=0)
    assert evaluate("yum", ["random", FIRST], games=6) == expected
    three = evaluate("yum", {"a": RANDOM, "b": FIRST}, games=6, num_players=3, seed=4)
    assert [standing.name for standing in three] == ["a", "b"]
    assert three[0].points != expected[0].points


def test_evaluate__refuses_what_cannot_be_played_before_it_plays() -> None:
    with pytest.raises(ValueError, match="no policy given; name at least one"):
        evaluate("yum", [])
    with pytest.raises(ValueError, match="'greedy' is one policy; name policies in a list"):
        evaluate("yum", "greedy")
    with pytest.raises(ValueError, match=r"policies have the same name \(random, random\); give them as a dict"):
        evaluate("yum", ["random", RANDOM])
    with pytest.raises(ValueError, match="'yam' is not a known game"):
        evaluate("yam", ["random"])
    with pytest.raises(ValueError, match="there is no 'optimal' policy for SET Cubed"):
        evaluate("set_cubed", ["random", "optimal"])


def test_standing__as_a_dict_has_every_figure_beside_its_interval() -> None:
    standing = Standing(
        "mine",
        40,
        Estimate(1.0, 0.1, 20),
        {"a": Estimate(0.5, 0.2, 20)},
        Estimate(2.0, 0.3, 20),
        {"a": Estimate(0.6, 0.4, 20)},
    )
    row = standing.to_dict()
    assert row == {
        "policy": "mine",
        "games": 40,
        "points": 1.0,
        "points_half_width": 0.1,
        "wins/a": 0.5,
        "wins/a_half_width": 0.2,
        "adjusted_points": 2.0,
        "adjusted_points_half_width": 0.3,
        "adjusted_wins/a": 0.6,
        "adjusted_wins/a_half_width": 0.4,
    } | {
        f"{name}_{end}": pytest.approx(value)
        for name, ends in {
            "points": (0.9, 1.1),
            "wins/a": (0.3, 0.7),
            "adjusted_points": (1.7, 2.3),
            "adjusted_wins/a": (0.2, 1.0),
        }.items()
        for end, value in zip(("low", "high"), ends, strict=True)
    }
    assert list(Standing("it", 1, Estimate(1.0, 0.1, 1)).to_dict()) == [
        "policy",
        "games",
        "points",
        "points_half_width",
        "points_low",
        "points_high",
    ]
