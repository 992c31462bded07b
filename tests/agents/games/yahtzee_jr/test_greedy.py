"""Greedy play of Yahtzee Jr., against a slow and separate computation of the turn, die by die."""

import os
from collections import Counter
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from fivedice.agents.evaluation.estimate import Estimate
from fivedice.agents.evaluation.match import play_games
from fivedice.agents.games.yahtzee_jr.greedy import GreedyYahtzeeJr
from fivedice.agents.policies.registry import load
from fivedice.envs import load_game
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.view import View

GAME = load_game("yahtzee_jr")
MICKEY, MINNIE, DONALD, DAISY, GOOFY, CLUBHOUSE = range(1, 7)
PLACE = 31
needs_compiled_code = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too long in plain Python")

Dice = tuple[int, ...]


@cache
def outcomes(kept: Dice) -> list[tuple[Dice, int]]:
    """All five dice after every throw of the others, die by die, with how many of the throws give them."""
    return list(Counter(tuple(sorted(kept + more)) for more in product(range(1, 7), repeat=5 - len(kept))).items())


class Turn:
    """The turn of the seat to move, from the rule sheet.

    Args:
        tokens: every seat's column for each of the five characters, or -1.
        seat: who moves.
        must_score_most: the option.
    """

    def __init__(self, tokens: list[list[int]], seat: int, must_score_most: bool) -> None:
        self.tokens, self.own, self.must_score_most = tokens, tokens[seat], must_score_most

    def places(self, dice: Dice, left: int) -> dict[int, int]:
        """The points of each token that may be placed, by its face."""
        showing = {face: dice.count(face) + dice.count(6) for face in range(1, 6) if self.own[face - 1] == -1}
        most = max(showing.values())
        if most == 0:
            return {} if left else dict.fromkeys(showing, 0)
        return {
            face: self.column(face, count)
            for face, count in showing.items()
            if count == most or (count > 0 and not self.must_score_most)
        }

    def column(self, face: int, count: int) -> int:
        while count and any(seat[face - 1] == count for seat in self.tokens):
            count -= 1
        return count

    @cache  # noqa: B019  # lives as long as one test
    def value(self, dice: Dice, left: int) -> float:
        keeps = product((False, True), repeat=5) if left else ()
        ways = [self.keeping(tuple(die for die, kept in zip(dice, keep, strict=True) if kept), left) for keep in keeps]
        return max([*self.places(dice, left).values(), *ways[:-1]])  # the last keeps all five, which is no throw

    @cache  # noqa: B019
    def keeping(self, kept: Dice, left: int) -> float:
        return sum(ways * self.value(dice, left - 1) for dice, ways in outcomes(kept)) / 6 ** (5 - len(kept))


def some_view(num_players: int, **options: Any) -> View:
    """Decisions from random games, at different moments of them."""
    batch = Batch(GAME, 40, num_players=num_players, **options)
    batch.reset(3)
    generator = np.random.default_rng(3)
    for step in range(12 * num_players):
        rows = batch.all_rows[: 40 - 36 * step // (12 * num_players)]  # the later rows stay behind
        wish = generator.random((len(rows), GAME.num_actions()))
        wish[:, PLACE:] += generator.random((len(rows), 1)) < 0.6
        batch.step(np.argmax(wish * batch.masks[rows], axis=1), rows)
    return batch.view()


def position(dice: Dice, left: int, *tokens: tuple[int, ...]) -> View:
    """A decision of seat 0; the tokens of each seat are columns, or -1, from Mickey to Goofy."""
    batch = Batch(GAME, 1, num_players=len(tokens))
    batch.reset(0)
    batch.states["dice"], batch.states["throws_left"] = sorted(dice), left
    batch.states["tokens"][0, : len(tokens)] = tokens
    batch.show()
    return batch.view()


def choice(view: View) -> int:
    return int(GreedyYahtzeeJr().act(view)[0])


@needs_compiled_code
@pytest.mark.parametrize("must_score_most", [True, False])
@pytest.mark.parametrize("num_players", [1, 2, 3, 4])
def test_greedy__takes_the_action_with_the_most_expected_points(num_players: int, must_score_most: bool) -> None:
    view = some_view(num_players, must_score_most=must_score_most)
    assert set(view.states["throws_left"].tolist()) == {0, 1, 2}
    told = GreedyYahtzeeJr().action_values(view)
    for row, action in enumerate(GreedyYahtzeeJr().act(view).tolist()):
        state, seat = view.states[row], int(view.seats[row])
        turn = Turn(state["tokens"][:num_players].tolist(), seat, must_score_most)
        dice, left = tuple(state["dice"].tolist()), int(state["throws_left"])
        values: dict[int, float] = {PLACE + face - 1: points for face, points in turn.places(dice, left).items()}
        for keep in range(31 if left else 0):
            values[keep] = turn.keeping(tuple(dice[slot] for slot in range(5) if keep >> slot & 1), left)
        assert sorted(values) == np.flatnonzero(view.masks[row]).tolist()
        expected = [values.get(each, -np.inf) for each in range(GAME.num_actions())]
        assert told[row].tolist() == pytest.approx(expected, abs=1e-9)
        best = [each for each, value in values.items() if value > max(values.values()) - 1e-9]
        assert action == min([each for each in best if each >= PLACE] or best)


def test_greedy__stops_where_nothing_is_to_be_gained() -> None:
    """Five Goofy would slide to three like the three that are there, and no other token is left."""
    seats = (0, 0, 0, 0, -1), (-1, -1, -1, -1, 4), (-1, -1, -1, -1, 5)
    assert choice(position((GOOFY, GOOFY, GOOFY, MICKEY, DAISY), 2, *seats)) == PLACE + GOOFY - 1
    assert choice(position((GOOFY, GOOFY, MICKEY, MICKEY, DAISY), 2, *seats)) == 0b11000  # keeps the two Goofy


def test_greedy__prefers_the_token_that_goes_further() -> None:
    seats = (-1, -1, -1, -1, -1), (3, 4, 4, 4, 4), (2, -1, -1, -1, -1)
    assert choice(position((MICKEY, MICKEY, DAISY, DAISY, CLUBHOUSE), 0, *seats)) == PLACE + DAISY - 1
    assert choice(position((MINNIE, MINNIE, DAISY, DAISY, CLUBHOUSE), 0, *seats)) == PLACE + MINNIE - 1  # the lowest


def test_greedy__writes_a_zero_with_the_first_open_token() -> None:
    assert (
        choice(position((MICKEY, MICKEY, GOOFY, GOOFY, GOOFY), 0, (2, -1, -1, 0, 3), (-1,) * 5)) == PLACE + MINNIE - 1
    )


def test_greedy__refuses_another_game() -> None:
    yum = Batch(load_game("yum"), 1)
    yum.reset(0)
    with pytest.raises(ValueError, match=r"plays Yahtzee Jr\., not Yum"):
        GreedyYahtzeeJr().act(yum.view())


@needs_compiled_code
def test_greedy__is_optimal_alone() -> None:
    """Alone, all that a turn leaves is one open token fewer, so the best turns make the best game: 19.3928 points."""
    best = sum(Turn([[0] * placed + [-1] * (5 - placed)], 0, True).keeping((), 3) for placed in range(5))
    assert best == pytest.approx(19.3928, abs=5e-5)
    played = play_games(GAME, np.zeros((8000, 1), np.int64), [load("greedy")], seed=2)
    assert played.points.mean() == pytest.approx(best, abs=0.09)  # four standard errors


@needs_compiled_code
@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_greedy__beats_random_play(num_players: int) -> None:
    seating = np.ones((2000, num_players), np.int64)
    seating[np.arange(2000), np.arange(2000) % num_players] = 0  # greedy in each seat in turn
    played = play_games(GAME, seating, [load("greedy"), load("random")], seed=1)
    share = Estimate.of(played.shares[seating == 0])
    assert share.mean - share.half_width > 0.9
