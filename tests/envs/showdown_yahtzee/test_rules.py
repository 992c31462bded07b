"""Showdown Yahtzee against its rule sheet, told a second time below in other words and without the rules' code."""

import re
from collections.abc import Generator, Iterator
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from fivedice.envs.api.aec import DiceEnv
from fivedice.envs.api.transcript import parse, replay
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.chance import BLANK, new_script, new_streams
from fivedice.envs.core.kernel import kernel, plain
from fivedice.envs.showdown_yahtzee import GAME, lookup, rules

GOLDEN = Path(__file__).parents[2] / "golden"
NUMBERS = ["Ones", "Twos", "Threes", "Fours", "Fives", "Sixes"]
FIXED = ["Three of a Kind", "Four of a Kind", "Full House", "Small Straight", "Large Straight", "Chance"]
CARDS = [*NUMBERS, *FIXED]
CORNERS = {0, 4, 8, 12}
SPACES = [space for space in range(16) if space not in CORNERS]


class Card(NamedTuple):
    """A card on the board, with its owner's chips."""

    name: str
    owner: int
    chips: int


Board = dict[int, Card]
OVER: tuple[int, set["Move"]] = (-1, set())
Move = tuple[Any, ...]  # ("keep", dice …), ("claim", card), ("target", space), ("stay",), ("move on",)


# The rule sheet in other words: a game that asks for its dice and its moves.


class Sheet:
    """A game by the sheet; `play` yields each seat that has to move with its legal moves, ("keep",) for any dice."""

    def __init__(self, seats: int, drawn: Iterator[tuple[int, int]], chips: tuple[int, ...], steal: str, turns: int):
        self.seats, self.drawn, self.steal, self.max_turns = seats, drawn, steal, turns
        self.fixed_chips = dict(zip(FIXED, chips, strict=True))
        self.board: Board = {}
        self.pawns = [4 * seat for seat in range(seats)]
        self.dice: list[int] = []
        self.turn_of: list[int] = []  # the seat of every turn so far
        self.last_turn_of: list[int] = []  # the same of those in the Showdown
        self.num_drawn = 0
        self.ended = ""

    def throw(self, seat: int, number: int) -> list[int]:
        faces = []
        for _ in range(number):
            who, face = next(self.drawn)
            assert who == seat
            faces.append(face)
        self.num_drawn += number
        return faces

    def chips_of(self, seat: int) -> int:
        return sum(card.chips for card in self.board.values() if card.owner == seat)

    def play(self) -> Generator[tuple[int, set[Move]], Move, None]:
        throwing = list(range(self.seats))
        while len(throwing) > 1:
            red = {seat: self.throw(seat, 1)[0] for seat in throwing}
            throwing = [seat for seat in throwing if red[seat] == max(red.values())]
        seat = throwing[0]
        while len(self.last_turn_of) < self.seats:
            if len(self.turn_of) == self.max_turns:
                self.ended = "cut short"
                return
            self.turn_of.append(seat)
            if len(self.board) == 12:
                self.last_turn_of.append(seat)
            yield from self.turn(seat, in_showdown=len(self.board) == 12)
            seat = (seat + 1) % self.seats
        self.ended = "over"

    def turn(self, seat: int, in_showdown: bool) -> Generator[tuple[int, set[Move]], Move, None]:
        while True:
            space = self.pawns[seat] = (self.pawns[seat] + self.throw(seat, 1)[0]) % 16
            self.dice = []
            here = self.board.get(space)
            if space in CORNERS:
                targets = [s for s in SPACES if s not in self.board or self.board[s].owner != seat]
                if not targets:
                    return
                space = targets[0]
                if len(targets) > 1:
                    _, space = yield seat, {("target", target) for target in targets}
            elif here and here.owner == seat:
                if all(self.board.get(s, Card("", -1, 0)).owner == seat for s in SPACES):
                    return
                if in_showdown or here.name in FIXED or here.chips == 5:
                    continue
                move = yield seat, {("stay",), ("move on",)}
                if move == ("move on",):
                    continue
            succeeded = yield from self.three_throws(seat, space)
            if not (in_showdown and succeeded):
                return

    def three_throws(self, seat: int, space: int) -> Generator[tuple[int, set[Move]], Move, bool]:
        kept: list[int] = []
        for left in (2, 1, 0):
            self.dice = sorted(kept + self.throw(seat, 5 - len(kept)))
            claims = self.claims(seat, space)
            if left == 0 and not claims:
                return False
            legal: set[Move] = {("claim", name) for name in claims}
            move = yield seat, legal | ({("keep",)} if left else set())
            if move[0] == "claim":
                self.board[space] = Card(move[1], seat, claims[move[1]])
                return True
            kept = list(move[1:])
        raise AssertionError("three throws are all there are")

    def claims(self, seat: int, space: int) -> dict[str, int]:
        """Each card that these dice win on that space, with its chips."""
        there = self.board.get(space)
        if there is None:
            unused = set(CARDS) - {card.name for card in self.board.values()}
            return {name: chips for name in unused if (chips := self.worth(name))}
        chips = self.worth(there.name)
        if there.name in NUMBERS and len(set(self.dice)) > 1:
            if there.owner == seat or self.steal == "beat":
                chips = chips if chips > there.chips else 0
            else:
                chips = chips if chips >= there.chips else 0
        return {there.name: chips} if chips else {}

    def worth(self, name: str) -> int:
        dice, groups = self.dice, sorted(len(list(group)) for _, group in groupby(self.dice))
        if name in NUMBERS:
            return 5 if groups == [5] else dice.count(1 + NUMBERS.index(name))
        faces = set(dice)
        met = {
            "Three of a Kind": groups[-1] >= 3,
            "Four of a Kind": groups[-1] >= 4,
            "Full House": groups == [2, 3],
            "Small Straight": any(set(range(low, low + 4)) <= faces for low in (1, 2, 3)),
            "Large Straight": faces in ({1, 2, 3, 4, 5}, {2, 3, 4, 5, 6}),
            "Chance": sum(dice) >= 25,
        }[name]
        return self.fixed_chips[name] if met or groups == [5] else 0


def send(game: Generator[tuple[int, set[Move]], Move, None], move: Move) -> tuple[int, set[Move]]:
    try:
        return game.send(move)
    except StopIteration:
        return OVER


def in_words(action: int, dice: list[int]) -> Move:
    if action < 31:
        return ("keep", *(die for slot, die in enumerate(dice) if action >> slot & 1))
    if action < 43:
        return ("claim", CARDS[action - 31])
    if action < 55:
        return ("target", SPACES[action - 43])
    return ("stay",) if action == 55 else ("move on",)


def board_of(state: Any) -> Board:
    assert all((state["card"][s] == -1) == (state["owner"][s] == -1) == (state["chips"][s] == 0) for s in range(16))
    return {
        space: Card(CARDS[state["card"][space]], int(state["owner"][space]), int(state["chips"][space]))
        for space in range(16)
        if state["card"][space] != -1
    }


def draws(script: np.ndarray, stream: Any) -> Iterator[tuple[int, int]]:
    """Whoever has drawn, and what, as far as the script is used up."""
    at = 0
    while True:
        assert at < stream["scripted"], "the sheet throws a die that the rules do not"
        yield int(script[at]["seat"]), int(script[at]["face"])
        at += 1


def compare(seed: int, seats: int, eager: float, **choice: Any) -> Sheet:
    """Play one game by the rules and by the sheet; the sheet at its end."""
    options = GAME.make_options(seats, choice)
    chosen = GAME.options_dict(options)
    state, stream, script = np.zeros(1, rules.STATE)[0], new_streams(seed, 1)[0], new_script([BLANK] * 20_000, 6)
    chance, mask, generator = (stream, script), np.zeros(57, np.int8), np.random.default_rng(seed)
    rules.setup(state, options, chance)
    sheet = Sheet(seats, draws(script, stream), chosen["chips"], chosen["steal"], chosen["max_turns"])
    game, move = sheet.play(), None
    points, won = np.zeros(seats), np.zeros(seats, np.int8)
    while True:
        rules.legal_actions(state, options, mask)
        rules.scores(state, options, points)
        seat, legal = next(game, OVER) if move is None else send(game, move)
        assert board_of(state) == sheet.board
        assert points.tolist() == [sheet.chips_of(seat) for seat in range(seats)]
        assert stream["scripted"] == sheet.num_drawn < len(script)
        if not legal:
            break
        actions = np.flatnonzero(mask).tolist()
        told = {in_words(action, sheet.dice)[:1] if action < 31 else in_words(action, []) for action in actions}
        assert rules.current_player(state) == seat
        assert not rules.is_terminal(state, options)
        assert told == legal
        assert {action for action in actions if action < 31} in (set(), set(range(31)))
        assert state["pawns"][:seats].tolist() == sheet.pawns
        assert state["dice"].tolist() == (sheet.dice or [0] * 5)
        assert state["turns"] == len(sheet.turn_of)
        assert state["last_turns"] == len(sheet.last_turn_of)
        claims = [action for action in actions if action >= 31]
        action = int(generator.choice(claims if claims and generator.random() < eager else actions))
        move = in_words(action, sheet.dice)
        rules.apply(state, options, action, chance)
    assert not mask.any()
    assert rules.is_terminal(state, options)
    assert rules.is_truncated(state, options) == (sheet.ended == "cut short")
    rules.winners(state, options, won)
    assert won.tolist() == [int(score == points.max()) for score in points]
    return sheet


@pytest.mark.parametrize("steal", ["match", "beat"])
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_games__are_played_by_the_sheet(seats: int, steal: str) -> None:
    ends = set()
    for seed in range(8):
        chips = (2, 3, 3, 3, 4, 2) if seed % 2 else (1, 9, 20, 5, 6, 3)
        sheet = compare(seed, seats, 0.3 + 0.1 * (seed % 7), steal=steal, chips=chips, max_turns=[400, 90][seed % 2])
        ends.add(sheet.ended)
        first, count = sheet.turn_of[0], len(sheet.turn_of)
        assert sheet.turn_of == [(first + turn) % seats for turn in range(count)]
        if sheet.ended == "over":
            assert sorted(sheet.last_turn_of) == list(range(seats))
            assert sheet.turn_of[-seats:] == sheet.last_turn_of
    assert "over" in ends


@pytest.mark.parametrize("max_turns", [1, 2, 7])
def test_games__are_cut_short_after_max_turns(max_turns: int) -> None:
    for seed in range(5):
        sheet = compare(seed, 3, 0.5, max_turns=max_turns)
        assert (sheet.ended, len(sheet.turn_of)) == ("cut short", max_turns)


# Positions.

ALL_PLACED: Board = {
    space: Card(
        name, 1, 2 if name in NUMBERS else {"Large Straight": 4, "Three of a Kind": 2, "Chance": 2}.get(name, 3)
    )
    for space, name in zip(SPACES, CARDS, strict=True)
}


class Table:
    """A position before a seat's turn, or with dice on the table, to play on from with these faces next."""

    def __init__(
        self,
        board: Board,
        script: tuple[int, ...] = (),
        *,
        pawns: tuple[int, ...] = (0, 4),
        player: int = 0,
        target: int | None = None,
        dice: tuple[int, ...] = (),
        left: int = 0,
        last_turns: int = 0,
        turns: int = 50,
        **choice: Any,
    ) -> None:
        self.options = GAME.make_options(len(pawns), choice)
        self.state = state = np.zeros(1, rules.STATE)[0]
        state["card"], state["owner"] = -1, -1
        for space, card in board.items():
            state["card"][space], state["owner"][space] = CARDS.index(card.name), card.owner
            state["chips"][space] = card.chips
        state["pawns"][: len(pawns)] = pawns
        state["player"], state["turns"], state["last_turns"] = player, turns, last_turns
        state["target"] = -1 if target is None else target
        state["dice"], state["throws_left"] = sorted(dice) or 0, left if dice else 3
        self.stream, self.script = new_streams(0, 1)[0], new_script(script, 6)
        self.chance = (self.stream, self.script)

    def start_turn(self) -> "Table":
        """Pass the dice to the seat named as `player`."""
        self.state["player"] = (self.state["player"] - 1) % self.options["num_players"]
        rules.pass_dice(self.state, self.options, self.chance)
        return self

    def legal(self) -> set[Move]:
        mask = np.full(57, 7, np.int8)
        rules.legal_actions(self.state, self.options, mask)
        actions = np.flatnonzero(mask).tolist()
        return {("keep",) if action < 31 else in_words(action, []) for action in actions}

    def play(self, *move: Any) -> "Table":
        assert move[:1] in self.legal() or move in self.legal()
        dice = self.state["dice"].tolist()
        action = next(action for action in range(57) if in_words(action, dice) == move)
        rules.apply(self.state, self.options, action, self.chance)
        return self

    @property
    def board(self) -> Board:
        return board_of(self.state)

    @property
    def player(self) -> int:
        return int(rules.current_player(self.state))

    @property
    def pawns(self) -> list[int]:
        return self.state["pawns"][: self.options["num_players"]].tolist()

    def scores(self) -> list[float]:
        points = np.zeros(int(self.options["num_players"]))
        rules.scores(self.state, self.options, points)
        return points.tolist()

    def used(self) -> int:
        return int(self.stream["scripted"])

    def is_over(self) -> bool:
        return bool(rules.is_terminal(self.state, self.options))


def test_start__the_highest_red_die_begins_and_ties_throw_again() -> None:
    options = GAME.make_options(4, {})
    state = np.zeros(1, rules.STATE)[0]
    faces = [5, 2, 5, 5, 3, 6, 6, 1, 4, 2, 1, 1, 2, 3, 4]
    script = new_script(faces, 6)
    rules.setup(state, options, (new_streams(0, 1)[0], script))
    # Seats 0, 2 and 3 tie; then 2 and 3; then 3 has more and moves two spaces from its corner, 12.
    assert script["seat"].tolist() == [0, 1, 2, 3, 0, 2, 3, 2, 3, *[3] * 6]
    assert rules.current_player(state) == 3
    assert state["pawns"].tolist() == [0, 4, 8, 14]
    assert state["dice"].tolist() == [1, 1, 2, 3, 4]
    assert (state["throws_left"], state["target"], state["turns"]) == (2, 14, 1)


def test_landing__on_an_empty_space_is_for_any_unused_card() -> None:
    table = Table({1: Card("Ones", 1, 2)}, (2, 1, 1, 3, 3, 3)).start_turn()
    assert (table.pawns, table.player) == ([2, 4], 0)
    names = {"Threes", "Three of a Kind", "Full House"}
    assert table.legal() == {("keep",), *(("claim", name) for name in names)}
    assert table.play("claim", "Threes").board[2] == Card("Threes", 0, 3)


def test_landing__on_an_opponent_s_card_is_for_that_card_alone() -> None:
    table = Table({2: Card("Threes", 1, 2), 3: Card("Fours", 0, 1)}, (2, 1, 1, 3, 3, 3)).start_turn()
    assert table.legal() == {("keep",), ("claim", "Threes")}


@pytest.mark.parametrize("card", [Card("Full House", 0, 3), Card("Sixes", 0, 5)])
def test_landing__on_an_own_card_without_a_choice_moves_on(card: Card) -> None:
    table = Table({2: card}, (2, 1, 1, 2, 3, 4, 6)).start_turn()
    assert table.pawns[0] == 3
    assert table.used() == 7
    assert table.state["dice"].tolist() == [1, 2, 3, 4, 6]


def test_landing__on_an_own_number_card_is_a_choice() -> None:
    for moves, used in ((("stay",), 6), (("move on",), 7)):
        table = Table({2: Card("Sixes", 0, 4)}, (2, 3, 3, 2, 3, 4, 6)).start_turn()
        assert table.legal() == {("stay",), ("move on",)}
        assert table.state["dice"].tolist() == [0] * 5
        table.play(*moves)
        assert table.used() == used
        assert table.pawns[0] == (2 if used == 6 else 5)


def test_landing__on_a_corner_lets_choose_all_but_own_cards() -> None:
    table = Table({1: Card("Ones", 0, 1), 2: Card("Twos", 1, 2)}, (4, 2, 2, 3, 4, 6)).start_turn()
    assert table.legal() == {("target", space) for space in SPACES if space != 1}
    table.play("target", 2)
    assert table.pawns[0] == 4
    assert table.legal() == {("keep",), ("claim", "Twos")}
    assert table.play("claim", "Twos").board[2] == Card("Twos", 0, 2)


def test_landing__on_a_corner_with_one_space_to_play_for_plays_for_it() -> None:
    board = {space: card._replace(owner=0) for space, card in ALL_PLACED.items()}
    del board[13]  # Four of a Kind … Chance lie on the others
    table = Table(board, (4, 2, 2, 3, 4, 6)).start_turn()
    assert table.state["target"] == 13
    assert table.used() == 6


def test_last_throw__a_met_card_must_be_claimed_and_the_player_chooses() -> None:
    table = Table({}, target=2, dice=(1, 1, 2, 3, 4))
    names = {"Ones", "Twos", "Threes", "Fours", "Small Straight"}
    assert table.legal() == {("claim", name) for name in names}


def test_last_throw__without_a_met_card_the_turn_passes_by_itself() -> None:
    left = {space: card for space, card in ALL_PLACED.items() if card.name != "Four of a Kind"}
    script = (4, 4, 4, 1, 1, 2, 3, 4)
    table = Table(left, script, target=10, dice=(3, 3, 3, 4, 4), left=1, pawns=(10, 4))
    table.play("keep", 3, 3, 3)
    assert table.player == 1
    assert table.board == left
    assert table.pawns == [10, 8]
    assert table.state["dice"].tolist() == [1, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("card", "dice", "chips"),
    [
        ("Ones", (1, 2, 3, 4, 6), 1),
        ("Ones", (2, 2, 3, 4, 6), 0),
        ("Sixes", (6, 6, 6, 6, 1), 4),
        ("Three of a Kind", (5, 5, 5, 1, 2), 2),
        ("Three of a Kind", (5, 5, 5, 5, 2), 2),
        ("Three of a Kind", (5, 5, 4, 4, 2), 0),
        ("Four of a Kind", (2, 5, 5, 5, 5), 3),
        ("Four of a Kind", (5, 5, 5, 4, 4), 0),
        ("Full House", (5, 5, 5, 4, 4), 3),
        ("Full House", (5, 5, 5, 5, 4), 0),
        ("Full House", (5, 5, 4, 4, 1), 0),
        ("Small Straight", (1, 2, 3, 4, 6), 3),
        ("Small Straight", (2, 3, 4, 5, 5), 3),
        ("Small Straight", (3, 3, 4, 5, 6), 3),
        ("Small Straight", (1, 2, 3, 4, 5), 3),
        ("Small Straight", (1, 2, 3, 5, 6), 0),
        ("Large Straight", (2, 3, 4, 5, 6), 4),
        ("Large Straight", (1, 2, 3, 4, 6), 0),
        ("Chance", (6, 6, 6, 6, 1), 2),
        ("Chance", (6, 6, 6, 5, 1), 0),
    ],
)
def test_cards__ask_for(card: str, dice: tuple[int, ...], chips: int) -> None:
    table = Table({}, target=2, dice=dice, left=2)
    assert (("claim", card) in table.legal()) == (chips > 0)
    if chips:
        assert table.play("claim", card).board[2] == Card(card, 0, chips)


def test_chips__are_those_of_the_option() -> None:
    table = Table({}, target=2, dice=(2, 3, 4, 5, 6), left=2, chips=(1, 2, 3, 4, 9, 6))
    assert table.play("claim", "Large Straight").board[2] == Card("Large Straight", 0, 9)


@pytest.mark.parametrize(
    ("steal", "dice", "chips"),
    [
        ("match", (5, 5, 1, 2, 3), 2),
        ("match", (5, 5, 5, 2, 3), 3),
        ("match", (5, 1, 1, 2, 3), 0),
        ("beat", (5, 5, 1, 2, 3), 0),
        ("beat", (5, 5, 5, 2, 3), 3),
        ("beat", (2, 2, 2, 2, 2), 5),
    ],
)
def test_steal__takes_as_many_dice_as_there_are_chips_or_more(steal: str, dice: tuple[int, ...], chips: int) -> None:
    board = {2: Card("Fives", 1, 2), 3: Card("Chance", 1, 2)}
    table = Table(board, target=2, dice=dice, left=2, steal=steal)
    assert table.scores() == [0, 4]
    assert (("claim", "Fives") in table.legal()) == (chips > 0)
    if chips:
        assert table.play("claim", "Fives").board[2] == Card("Fives", 0, chips)
        assert table.scores() == [chips, 2]  # the owner's chips went back


@pytest.mark.parametrize("steal", ["match", "beat"])
@pytest.mark.parametrize("dice", [(5, 5, 5, 5, 5), (3, 3, 3, 3, 3)])
def test_steal__of_a_card_with_five_chips_takes_a_yahtzee(steal: str, dice: tuple[int, ...]) -> None:
    table = Table({2: Card("Fives", 1, 5)}, target=2, dice=dice, left=0, steal=steal)
    assert table.play("claim", "Fives").board[2] == Card("Fives", 0, 5)


def test_steal__of_a_fixed_card_takes_its_dice() -> None:
    board = {2: Card("Full House", 1, 3)}
    assert ("claim", "Full House") not in Table(board, target=2, dice=(5, 5, 5, 5, 1), left=1).legal()
    assert ("claim", "Full House") in Table(board, target=2, dice=(5, 5, 5, 1, 1), left=1).legal()


def test_improve__takes_more_dice_and_loses_nothing() -> None:
    board = {2: Card("Fives", 0, 2)}
    assert ("claim", "Fives") not in Table(board, target=2, dice=(5, 5, 1, 2, 3), left=1).legal()
    table = Table(board, target=2, dice=(5, 5, 5, 2, 3), left=1)
    assert table.play("claim", "Fives").board == {2: Card("Fives", 0, 3)}
    failed = Table(board, (1, 2, 1, 1, 1, 1, 1, 2), target=2, dice=(5, 5, 1, 2, 3), left=1)
    failed.play("keep", 1, 5, 5)
    assert (failed.board, failed.player) == (board, 1)


@pytest.mark.parametrize("name", CARDS)
@pytest.mark.parametrize("face", [1, 4, 6])
def test_yahtzee__is_right_for_every_card(name: str, face: int) -> None:
    dice, chips = (face,) * 5, 5 if name in NUMBERS else ALL_PLACED[SPACES[CARDS.index(name)]].chips
    placed = Table({}, target=2, dice=dice)
    assert placed.legal() == {("claim", card) for card in CARDS}
    assert placed.play("claim", name).board[2] == Card(name, 0, chips)
    stolen = Table({2: Card(name, 1, chips)}, target=2, dice=dice)
    assert stolen.legal() == {("claim", name)}
    assert stolen.play("claim", name).board[2] == Card(name, 0, chips)
    if name in NUMBERS:
        improved = Table({2: Card(name, 0, 4)}, target=2, dice=dice)
        assert improved.play("claim", name).board[2] == Card(name, 0, 5)


# The Showdown.


def test_showdown__begins_with_the_seat_after_the_one_that_places_the_twelfth_card() -> None:
    board = {space: card for space, card in ALL_PLACED.items() if card.name != "Twos"}
    dice = (2, 2, 1, 1, 1)
    table = Table(board, (3, 1, 1, 1, 1, 2), player=1, target=2, dice=dice, left=1, pawns=(2, 2, 3))
    table.play("claim", "Twos")
    assert (table.player, table.state["last_turns"], table.pawns[2], table.state["target"]) == (2, 1, 6, 6)
    eleventh = {space: card for space, card in board.items() if card.name != "Ones"}
    table = Table(eleventh, (3, 1, 1, 1, 1, 2), player=1, target=2, dice=dice, left=1, pawns=(2, 2, 3))
    table.play("claim", "Twos")
    assert (table.player, table.state["last_turns"]) == (2, 0)


def test_showdown__every_seat_has_one_last_turn() -> None:
    board = {space: card._replace(owner=2) for space, card in ALL_PLACED.items()}
    script = (
        *(1, 1, 1, 2, 2, 3),  # seat 0 to space 1: two Ones are enough
        *(1, *[1, 1, 3, 3, 4] * 3),  # to space 2: no Twos in three throws
        *(3, *[1, 1, 2, 2, 4] * 3),  # seat 1 to space 3: no Threes
        *(1, 3, *[2, 2, 3, 3, 4] * 3),  # seat 2 to its own card on 9, to the corner 12 with the Ones to play for
    )
    table = Table(board, script, pawns=(0, 0, 8)).start_turn()
    assert (table.player, table.state["last_turns"]) == (0, 1)
    table.play("claim", "Ones").play("keep")
    assert (table.player, table.pawns[0]) == (0, 2)
    table.play("keep")
    assert (table.player, table.state["last_turns"]) == (1, 2)
    table.play("keep").play("keep")
    assert (table.player, table.state["last_turns"], table.state["target"]) == (2, 3, 1)
    table.play("keep")
    assert not table.is_over()
    table.play("keep")
    assert table.is_over()
    assert not rules.is_truncated(table.state, table.options)
    assert table.legal() == set()
    assert table.used() == len(script)
    assert table.scores() == [2, 0, 27]


def test_showdown__a_success_is_followed_by_the_red_die_until_a_try_fails() -> None:
    script = (
        *(2, 2, 2, 5, 5, 6),  # to space 2: two Twos are enough
        *(1, 3, 3, 3, 5, 6),  # to space 3: three Threes
        *(1, 1, 1, 6, 6, 6),  # to the corner 4, where the Sixes on space 7 are chosen
        *(6, 5, 5, 5, 6, 2, 5, 1),  # from the corner to space 10: a fourth five with the second throw
        *(1, *[1, 2, 3, 4, 6] * 3),  # to space 11: no Full House
        *(3, 1, 1, 1, 1, 2),  # the next seat to space 7
    )
    table = Table(ALL_PLACED, script).start_turn()
    table.play("claim", "Twos").play("claim", "Threes")
    assert table.pawns[0] == 4
    assert table.legal() == {("target", space) for space in SPACES if space not in (2, 3)}
    table.play("target", 7)
    assert table.legal() == {("keep",), ("claim", "Sixes")}
    table.play("claim", "Sixes")
    assert (table.player, table.pawns[0], table.state["target"]) == (0, 10, 10)
    table.play("keep", 5, 5, 5).play("claim", "Four of a Kind")
    assert (table.player, table.pawns[0]) == (0, 11)
    table.play("keep").play("keep")
    assert (table.player, table.state["last_turns"], table.state["target"]) == (1, 2, 7)
    stolen = [Card("Twos", 0, 2), Card("Threes", 0, 3), Card("Sixes", 0, 3), Card("Four of a Kind", 0, 3)]
    assert [table.board[space] for space in (2, 3, 7, 10)] == stolen
    assert table.used() == len(script)


def test_showdown__nobody_stays_for_more_chips() -> None:
    board = ALL_PLACED | {2: Card("Twos", 0, 1)}
    table = Table(board, (2, 1, 3, 3, 4, 5, 6)).start_turn()
    assert (table.pawns[0], table.state["target"]) == (3, 3)


@pytest.mark.parametrize(("red", "space"), [(2, 1), (1, 0)])  # an own card, a Wild corner
def test_showdown__who_owns_all_twelve_ends_the_turn(red: int, space: int) -> None:
    board = {space: card._replace(owner=0) for space, card in ALL_PLACED.items()} | {15: Card("Chance", 1, 2)}
    script = (1, 6, 6, 6, 6, 1, red, 1, 1, 1, 2, 2, 3)
    table = Table(board, script, pawns=(14, 4)).start_turn()
    table.play("claim", "Chance")
    assert table.pawns == [space, 5]
    assert (table.player, table.state["last_turns"]) == (1, 2)
    assert table.used() == len(script)


@pytest.mark.parametrize("red", [1, 2])
def test_showdown__who_begins_with_all_twelve_has_nothing_to_decide(red: int) -> None:
    board = {space: card._replace(owner=0) for space, card in ALL_PLACED.items()}
    table = Table(board, (red,), pawns=(15, 3), last_turns=1).start_turn()
    assert table.is_over()
    assert table.scores() == [29, 0]


def test_limit__the_end_of_the_showdown_is_no_cut() -> None:
    """The last turn of the Showdown is also the last of max_turns: it ends; one turn less, and it is cut short."""
    board = {space: card._replace(owner=0) for space, card in ALL_PLACED.items()}
    for max_turns, is_cut in ((51, False), (50, True)):
        last_turns = 1
        table = Table(board, (1,), pawns=(15, 3), last_turns=last_turns, turns=50, max_turns=max_turns).start_turn()
        assert table.is_over()
        assert rules.is_truncated(table.state, table.options) == is_cut


# All that ends.


@kernel
def pick(masks: np.ndarray, uniforms: np.ndarray, actions: np.ndarray) -> None:
    """A legal action each, mostly one of the last, which are claims and moves."""
    for i in range(len(masks)):
        legal = 0
        for action in range(masks.shape[1]):
            legal += masks[i, action]
        left = int(legal * uniforms[i] ** 2)
        for action in range(masks.shape[1] - 1, -1, -1):
            if masks[i, action]:
                if left == 0:
                    actions[i] = action
                    break
                left -= 1


@pytest.mark.parametrize(("seats", "games"), [(2, 1500), (3, 800), (4, 800)])
def test_games__end_by_themselves_without_a_limit(seats: int, games: int) -> None:
    batch = Batch(GAME, games, num_players=seats, max_turns=1_000_000)
    batch.reset(seed=7)
    rows, generator, actions = batch.all_rows, np.random.default_rng(7), np.zeros(games, np.int64)
    for _ in range(20_000):
        pick(batch.masks[rows], generator.random(len(rows)), actions)
        batch.step(actions[: len(rows)], rows, restart=False)
        rows = rows[~batch.over[rows]]
        if not len(rows):
            break
    assert batch.terminated.all()
    assert not batch.truncated.any()
    points, won = batch.results(batch.all_rows)
    assert (won == (points == points.max(axis=1, keepdims=True))).all()
    assert (batch.states["card"][:, SPACES] != -1).all()


# Through the PettingZoo face.


def test_golden__cut_short_is_truncated_and_paid_by_the_chips() -> None:
    game = replay(parse((GOLDEN / "showdown_yahtzee-cut-short.txt").read_text()))
    assert set(game.truncations.values()) == {True}
    assert set(game.terminations.values()) == {False}
    assert game.env.scores() == {"player_0": 4.0, "player_1": 8.0, "player_2": 5.0, "player_3": 4.0}
    assert game.rewards["player_1"] == 1.0
    assert sum(game.rewards.values()) == pytest.approx(0)
    with pytest.raises(ValueError, match="the game is over"):
        game.env.view()


def test_golden__joker_places_and_steals_cards_of_other_numbers() -> None:
    lines = (GOLDEN / "showdown_yahtzee-joker.txt").read_text().splitlines()
    jokers = []
    for before, line in pairwise(lines):
        kept, _, thrown = before.partition(", throws ")
        dice = [*re.findall(r"\d", kept.partition(" keeps ")[2]), *thrown.split()]
        if len(dice) == 5 and len(set(dice)) == 1 and f" {NUMBERS[int(dice[0]) - 1]} " not in line:
            jokers.append(line.split()[1])
    assert jokers == ["places", "steals"]
    assert any(" steals " in line and ", throws " in line for line in lines)  # on in the Showdown
    assert any(" targets " in line for line in lines)


def test_score_rewards__are_negative_for_what_is_stolen() -> None:
    env = DiceEnv(GAME, reward="score")
    env.reset(seed=3)
    generator = np.random.default_rng(3)
    lost = []
    while not any(env.terminations.values()) and not any(env.truncations.values()):
        legal = np.flatnonzero(env.observe(env.agent_selection)["action_mask"])
        mover, before = env.agent_selection, env.scores()
        env.step(int(generator.choice(legal)))
        assert env.rewards == {agent: points - before[agent] for agent, points in env.scores().items()}
        lost += [amount for agent, amount in env.rewards.items() if agent != mover and amount]
    assert lost
    assert max(lost) < 0


def test_end__comes_without_a_decision_of_who_owns_every_card() -> None:
    """The last seat's turn has nothing in it, so the last mover is the one before, and no dice are left."""
    board = {space: Card(CARDS[number], 1, 2) for number, space in enumerate(rules.CARD_SPACES)}
    table = Table(board, (1, 1, 3, 4, 6, 1), pawns=(2, 3), target=2, dice=(1, 1, 3, 4, 6), left=1, last_turns=1)
    table.play("keep")
    assert table.is_over()
    assert table.player == 0
    layout = GAME.layout(table.options)
    for seat in range(2):
        shown, slowly = np.full((2, layout.size), np.nan, np.float32)
        GAME.observe(table.state, table.options, seat, shown)
        plain(GAME.observe)(table.state, table.options, seat, slowly)
        np.testing.assert_array_equal(shown, slowly)
        seen = layout.named(shown)
        for field in ("mover", "dice", "dice_counts", "run", "dice_total", "wanted", "chips_now", "target"):
            assert not seen[field].any(), field


def test_names__of_what_is_not_possible_before_the_dice_are_thrown() -> None:
    table = Table({}, (4,), pawns=(0, 4)).start_turn()
    assert [GAME.name_action(table.state, table.options, action) for action in (7, 31)] == [
        "keep slots 1 2 3",
        "claim Ones",
    ]


def test_lookup__sets_of_cards_are_those_of_the_rules() -> None:
    batch, generator = Batch(GAME, 64), np.random.default_rng(8)
    batch.reset(seed=8)
    sizes = set()
    for _ in range(100):
        for state in batch.states[::8]:
            unused, wanted = lookup.unused_cards(state), lookup.wanted_cards(state)
            for card in range(12):
                assert lookup.has_card(unused, card) == rules.is_unused(state, card)
                assert lookup.has_card(wanted, card) == rules.is_wanted(state, card)
            sizes |= {int(unused).bit_count(), 100 + int(wanted).bit_count()}
        batch.step((generator.random(batch.masks.shape) * batch.masks).argmax(axis=1))
    assert {2, 11, 12, 100, 101, 111} <= sizes
