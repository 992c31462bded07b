"""Yahtzee Jr. against its rule sheet, told a second time below in other words and without the rules' code."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fivedice.envs.core.batch import Batch
from fivedice.envs.core.chance import BLANK, new_script, new_streams
from fivedice.envs.yahtzee_jr import GAME, rules

PAGE = Path(__file__).parents[3] / "envs" / "yahtzee_jr" / "README.md"
CHARACTERS = ["Mickey", "Minnie", "Donald", "Daisy", "Goofy"]
FACES = [*CHARACTERS, "Clubhouse"]
NUM_TURNS = {1: 5, 2: 5, 3: 4, 4: 3}
CHOICES = [
    {"must_score_most": most, "tie_break": tie_break}
    for most, tie_break in itertools.product((True, False), ("roll", "share"))
]

Tokens = dict[str, int]  # a player's placed tokens: the column of each


def dice_of(words: str) -> list[str]:
    """``"3 Goofy 2 Daisy"`` as five names."""
    parts = words.split()
    dice = [name for number, name in zip(parts[::2], parts[1::2], strict=True) for _ in range(int(number))]
    assert len(dice) == 5
    assert set(dice) <= set(FACES)
    return dice


def faces_of(words: str) -> list[int]:
    return [1 + FACES.index(name) for name in dice_of(words)]


# The rule sheet in other words.


def sheet_count(character: str, dice: list[str]) -> int:
    return len([die for die in dice if die in (character, "Clubhouse")])


def sheet_column(character: str, dice: list[str], seats: list[Tokens]) -> int:
    taken = {tokens[character] for tokens in seats if character in tokens}
    free = {1, 2, 3, 4, 5} - taken
    return max({column for column in free if column <= sheet_count(character, dice)} | {0})


def sheet_places(dice: list[str], throws_left: int, own: Tokens, must_score_most: bool) -> set[str]:
    remaining = set(CHARACTERS) - set(own)
    shown = {character for character in remaining if sheet_count(character, dice) >= 1}
    if not shown:
        return set() if throws_left else remaining
    if must_score_most:
        return {one for one in shown if all(sheet_count(one, dice) >= sheet_count(other, dice) for other in shown)}
    return shown


def sheet_roll_off(tied: list[int], drawn: Iterator[tuple[int, int]]) -> int:
    """The winner, from the (seat, face) of every die as it is drawn."""
    while len(tied) > 1:
        clubhouses = {}
        for seat in tied:
            throw = list(itertools.islice(drawn, 5))
            assert [who for who, _ in throw] == [seat] * 5
            clubhouses[seat] = [face for _, face in throw].count(6)
        tied = [seat for seat in tied if clubhouses[seat] == max(clubhouses.values())]
    return tied[0]


# The rules under test.


class Table:
    """A position to look at and to play on from, with these throws next."""

    def __init__(
        self,
        dice: str = "5 Goofy",
        throws_left: int = 0,
        seats: tuple[Tokens, ...] = ({},),
        player: int = 0,
        script: tuple[str, ...] = (),
        **choice: Any,
    ) -> None:
        self.options = GAME.make_options(len(seats), choice)
        self.state = np.zeros(1, rules.STATE)[0]
        self.state["player"], self.state["roll_off"], self.state["tokens"] = player, rules.NOBODY, rules.OPEN
        for seat, tokens in enumerate(seats):
            for character, column in tokens.items():
                self.state["tokens"][seat, CHARACTERS.index(character)] = column
        self.chance = (new_streams(0, 1)[0], new_script([face for dice in script for face in faces_of(dice)], 6))
        self.throw(dice, throws_left)

    def throw(self, dice: str, throws_left: int = 0) -> "Table":
        self.state["dice"], self.state["throws_left"] = sorted(faces_of(dice)), throws_left
        return self

    def legal(self) -> set[int]:
        mask = np.full(GAME.num_actions(), 7, np.int8)
        rules.legal_actions(self.state, self.options, mask)
        assert set(mask.tolist()) <= {0, 1}
        return set(np.flatnonzero(mask).tolist())

    def places(self) -> set[str]:
        return {CHARACTERS[action - 31] for action in self.legal() if action >= 31}

    def place(self, character: str) -> int:
        """Place a token; the column it went to."""
        assert character in self.places()
        player = self.state["player"]
        rules.apply(self.state, self.options, 31 + CHARACTERS.index(character), self.chance)
        return int(self.state["tokens"][player, CHARACTERS.index(character)])

    def scores(self) -> list[float]:
        points = np.zeros(int(self.options["num_players"]))
        rules.scores(self.state, self.options, points)
        return points.tolist()

    def winners(self) -> list[int]:
        won = np.zeros(int(self.options["num_players"]), np.int8)
        rules.winners(self.state, self.options, won)
        return np.flatnonzero(won).tolist()

    def drawn(self) -> list[tuple[int, int]]:
        """The seat and the face of every die that the script gave."""
        stream, script = self.chance
        return [(int(entry["seat"]), int(entry["face"])) for entry in script[: stream["scripted"]]]


# What may be scored.


def test_three_daisy_and_two_donald__go_to_daisys_column_three() -> None:
    table = Table("3 Daisy 2 Donald", throws_left=2)
    assert table.places() == {"Daisy"}
    assert table.place("Daisy") == 3
    assert Table("3 Daisy 2 Donald", must_score_most=False).places() == {"Daisy", "Donald"}
    assert Table("3 Daisy 2 Donald", seats=({"Daisy": 1},)).place("Donald") == 2


def test_two_and_two__the_player_chooses() -> None:
    assert Table("2 Daisy 2 Donald 1 Goofy").places() == {"Daisy", "Donald"}
    assert Table("2 Daisy 2 Donald 1 Clubhouse").places() == {"Daisy", "Donald"}
    assert Table("2 Daisy 1 Donald 2 Goofy", seats=({"Daisy": 5},)).places() == {"Goofy"}


@pytest.mark.parametrize("character", CHARACTERS)
@pytest.mark.parametrize("must_score_most", [True, False])
def test_five_clubhouses__are_five_of_any_open_character(character: str, must_score_most: bool) -> None:
    table = Table("5 Clubhouse", seats=({"Mickey": 2},), must_score_most=must_score_most)
    assert table.places() == set(CHARACTERS) - {"Mickey"}
    if character != "Mickey":
        assert table.place(character) == 5


def test_four_clubhouses__stand_for_any_open_character() -> None:
    assert Table("4 Clubhouse 1 Minnie").places() == {"Minnie"}  # five, and four of any other
    assert Table("4 Clubhouse 1 Minnie").place("Minnie") == 5
    table = Table("4 Clubhouse 1 Minnie", seats=({"Minnie": 5},))
    assert table.places() == {"Mickey", "Donald", "Daisy", "Goofy"}
    assert table.place("Daisy") == 4
    for character in CHARACTERS:
        table = Table("4 Clubhouse 1 Minnie", must_score_most=False)
        assert table.place(character) == (5 if character == "Minnie" else 4)


def test_three_goofy_a_clubhouse_and_a_minnie__count_as_the_sheet_says() -> None:
    dice = "3 Goofy 1 Clubhouse 1 Minnie"
    assert Table(dice).places() == {"Goofy"}
    assert Table(dice).place("Goofy") == 4
    assert Table(dice, seats=({"Goofy": 3},)).place("Minnie") == 2
    assert Table(dice, seats=({"Goofy": 3, "Minnie": 1},)).places() == {"Mickey", "Donald", "Daisy"}
    columns = {"Goofy": 4, "Minnie": 2, "Mickey": 1, "Donald": 1, "Daisy": 1}
    for character, column in columns.items():
        assert Table(dice, must_score_most=False).place(character) == column


def test_most_dice__are_counted_before_the_token_slides() -> None:
    """Three Daisy must be scored although their cells are taken and two Donald would give more."""
    seats: tuple[Tokens, ...] = ({}, {"Daisy": 1}, {"Daisy": 2}, {"Daisy": 3})
    table = Table("3 Daisy 2 Donald", seats=seats)
    assert table.places() == {"Daisy"}
    assert table.place("Daisy") == 0
    assert Table("3 Daisy 2 Donald", seats=seats, must_score_most=False).place("Donald") == 2


# Where the token goes.


def test_five_that_is_taken__slides_to_four() -> None:
    table = Table("5 Mickey", seats=({}, {"Mickey": 5}))
    assert table.place("Mickey") == 4


def test_token__slides_only_where_its_own_row_is_taken() -> None:
    assert Table("5 Mickey", seats=({"Minnie": 5}, {"Mickey": 4, "Goofy": 5})).place("Mickey") == 5


@pytest.mark.parametrize(
    ("counts", "columns"),
    [
        ((5, 5, 5, 5), [5, 4, 3, 2]),
        ((2, 2, 2, 2), [2, 1, 0, 0]),  # from the right until only the picture is left
        ((1, 1, 1, 1), [1, 0, 0, 0]),
        ((1, 2, 3, 3), [1, 2, 3, 0]),  # over a row of taken cells
        ((4, 2, 4, 4), [4, 2, 3, 1]),  # into the gap first
        ((4, 5, 5, 3), [4, 5, 3, 2]),
        ((3, 4, 5, 1), [3, 4, 5, 1]),
    ],
)
def test_row__is_filled_to_the_left(counts: tuple[int, ...], columns: list[int]) -> None:
    table = Table(seats=({},) * 4)
    placed = []
    for count in counts:
        others = f"{5 - count} Donald" if count < 5 else ""
        table.throw(f"{count} Mickey {others}")
        table.state["tokens"][table.state["player"], CHARACTERS.index("Donald")] = 0  # so that Mickey counts most
        placed.append(table.place("Mickey"))
    assert placed == columns


# Zeros.


def test_zero__donalds_token_goes_to_his_picture() -> None:
    table = Table("3 Minnie 2 Goofy", seats=({"Minnie": 4, "Goofy": 2}, {}))
    assert table.places() == {"Mickey", "Donald", "Daisy"}
    assert table.place("Donald") == 0
    assert table.scores() == [6, 0]


def test_zero__two_tokens_stand_on_one_picture() -> None:
    seen = {"Minnie": 3, "Goofy": 2}
    table = Table("3 Minnie 2 Goofy", seats=({**seen, "Donald": 0}, seen), player=1)
    assert table.place("Donald") == 0
    assert table.state["tokens"][:2, CHARACTERS.index("Donald")].tolist() == [0, 0]


@pytest.mark.parametrize("throws_left", [1, 2])
@pytest.mark.parametrize("must_score_most", [True, False])
def test_zero__not_before_the_third_throw(throws_left: int, must_score_most: bool) -> None:
    seats: tuple[Tokens, ...] = ({"Minnie": 4, "Goofy": 2},)
    table = Table("3 Minnie 2 Goofy", throws_left, seats, must_score_most=must_score_most)
    assert table.legal() == set(range(31))


def test_zero__not_while_an_open_character_shows() -> None:
    seats: tuple[Tokens, ...] = ({"Minnie": 4, "Goofy": 2},)
    assert Table("3 Minnie 1 Goofy 1 Daisy", seats=seats).places() == {"Daisy"}
    assert Table("4 Minnie 1 Clubhouse", seats=seats).places() == {"Mickey", "Donald", "Daisy"}
    assert Table("4 Minnie 1 Clubhouse", seats=seats).place("Daisy") == 1


def test_stop__after_any_throw_and_must_after_the_third() -> None:
    for throws_left in (2, 1):
        assert Table("3 Daisy 2 Donald", throws_left).legal() == {*range(31), 31 + CHARACTERS.index("Daisy")}
    assert Table("3 Daisy 2 Donald", 0).legal() == {31 + CHARACTERS.index("Daisy")}


# Turns, and the end.


def test_apply__throws_the_dice_that_are_not_kept() -> None:
    table = Table("2 Mickey 1 Donald 1 Daisy 1 Goofy", throws_left=2, script=("3 Minnie 2 Goofy", "1 Minnie 4 Daisy"))
    rules.apply(table.state, table.options, 0b00011, table.chance)  # the sheet's example: keeps Mickey …
    assert table.state["dice"].tolist() == sorted(faces_of("2 Mickey 3 Minnie"))
    rules.apply(table.state, table.options, 0b11100, table.chance)  # … then Minnie
    assert (table.state["throws_left"], table.state["player"]) == (0, 0)


@pytest.mark.parametrize("num_players", NUM_TURNS)
def test_turns__as_many_as_the_seats_allow_and_tokens_are_left_over(num_players: int) -> None:
    table = Table(seats=({},) * num_players, tie_break="share")
    rules.setup(table.state, table.options, table.chance)
    for turn in range(num_players * NUM_TURNS[num_players]):
        assert not rules.is_terminal(table.state, table.options)
        assert table.state["player"] == turn % num_players
        table.throw("5 Clubhouse")
        table.place(CHARACTERS[turn // num_players])
    assert rules.is_terminal(table.state, table.options)
    assert table.legal() == set()
    left = (table.state["tokens"][:num_players] == rules.OPEN).sum(axis=1)
    assert left.tolist() == [5 - NUM_TURNS[num_players]] * num_players
    assert table.scores() == [NUM_TURNS[num_players] * (5 - seat) for seat in range(num_players)]
    assert table.winners() == [0]


def last_turn(*totals: int, script: tuple[str, ...] = (), **choice: Any) -> Table:
    """The last seat has nothing left to place but one die of a character, with which the totals are these."""
    *before, last = CHARACTERS[: NUM_TURNS[len(totals)]]
    seats: list[Tokens] = []
    for total in (*totals[:-1], totals[-1] - 1):
        columns = [min(5, max(0, total - 5 * place)) for place in range(len(before))]
        seats.append({**dict(zip(before, columns, strict=True)), last: 0})
    del seats[-1][last]
    dice = f"1 {last} 4 {before[0]}"
    return Table(dice, seats=tuple(seats), player=len(totals) - 1, script=script, **choice)


def end(table: Table) -> Table:
    (last,) = table.places()
    assert table.place(last) == 1
    assert rules.is_terminal(table.state, table.options)
    assert table.legal() == set()
    return table


@pytest.mark.parametrize(
    ("totals", "winner"), [((3, 9), 1), ((10, 9), 0), ((4, 8, 7), 1), ((0, 0, 1, 6), 3), ((12,), 0)]
)
def test_winners__most_points_and_nobody_throws(totals: tuple[int, ...], winner: int) -> None:
    table = end(last_turn(*totals))
    assert table.scores() == list(totals)
    assert table.winners() == [winner]
    assert table.chance[0]["drawn"].sum() == 0


# Ties.


def test_tie__two_throw_and_most_clubhouses_win() -> None:
    for first, second, winner in (("2", "1", 0), ("0", "1", 1), ("4", "5", 1)):
        script = (f"{first} Clubhouse {5 - int(first)} Mickey", f"{second} Clubhouse {5 - int(second)} Mickey")
        table = end(last_turn(9, 9, script=script))
        assert table.scores() == [9, 9]
        assert table.winners() == [winner]
        assert [seat for seat, _ in table.drawn()] == [0] * 5 + [1] * 5


def test_tie__still_tied_throw_again() -> None:
    script = (
        *("1 Clubhouse 4 Goofy", "1 Clubhouse 4 Mickey"),
        *("5 Mickey", "5 Daisy"),  # none at all is a tie too
        *("2 Clubhouse 3 Goofy", "1 Clubhouse 4 Goofy"),
    )
    table = end(last_turn(9, 9, script=script))
    assert table.winners() == [0]
    assert table.chance[0]["drawn"][:2].tolist() == [3, 3]


def test_tie__three_throw_and_only_the_best_throw_again() -> None:
    script = (
        *("2 Clubhouse 3 Goofy", "1 Clubhouse 4 Mickey", "2 Clubhouse 3 Mickey"),
        *("1 Clubhouse 4 Goofy", "3 Clubhouse 2 Mickey"),
    )
    table = end(last_turn(9, 9, 9, script=script))
    assert table.winners() == [2]
    assert [seat for seat, _ in table.drawn()][::5] == [0, 1, 2, 0, 2]


def test_tie__whoever_has_fewer_points_does_not_throw() -> None:
    table = end(last_turn(9, 4, 9, 9, script=("1 Clubhouse 4 Goofy", "3 Clubhouse 2 Goofy", "2 Clubhouse 3 Goofy")))
    assert table.winners() == [2]
    assert [seat for seat, _ in table.drawn()][::5] == [0, 2, 3]


def test_tie__without_points_is_a_tie() -> None:
    table = Table(
        "5 Goofy", seats=({"Mickey": 0, "Minnie": 0, "Donald": 0},) * 3 + ({"Goofy": 0, "Mickey": 0},), player=3
    )
    table.place("Donald")
    assert table.scores() == [0, 0, 0, 0]
    assert len(table.winners()) == 1


def test_tie__is_shared_when_chosen() -> None:
    table = end(last_turn(9, 9, 7, 9, tie_break="share"))
    assert table.winners() == [0, 1, 3]
    assert table.chance[0]["drawn"].sum() == 0


def test_tie__pays_the_winner_of_the_throw_and_the_points_alone_otherwise() -> None:
    script = faces_of("1 Clubhouse 4 Goofy") + faces_of("2 Clubhouse 3 Goofy")
    for reward, paid in (("win", [-1, 1]), ("score", [0, 1]), ("margin", [-1, 1])):
        batch = Batch(GAME, 1, reward=reward)
        batch.reset(seed=0, script=script)
        batch.streams["scripted"] = 0
        batch.scripts = np.array([new_script(script, 6)])
        batch.states[0] = last_turn(9, 9).state
        batch.show()
        batch.step(batch.masks.argmax(axis=1), restart=False)
        assert batch.rewards.tolist() == [paid]
        points, won = batch.results(batch.all_rows)
        assert (points.tolist(), won.tolist()) == ([[9, 9]], [[0, 1]])


# Everything at once.


@pytest.mark.parametrize("num_players", NUM_TURNS)
@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: "-".join(map(str, choice.values())))
def test_random_games__agree_with_the_sheet_at_every_decision(num_players: int, choice: dict[str, Any]) -> None:
    generator = np.random.default_rng(num_players)
    ties = 0
    for game in range(24):
        table = Table(seats=({},) * num_players, **choice)
        table.chance = (new_streams(game, 1)[0], new_script([BLANK] * 1000, 6))
        rules.setup(table.state, table.options, table.chance)
        seats: list[Tokens] = [{} for _ in range(num_players)]
        for turn in range(num_players * NUM_TURNS[num_players]):
            mover, own = turn % num_players, seats[turn % num_players]
            for throws_left in (2, 1, 0):
                assert not rules.is_terminal(table.state, table.options)
                assert (rules.current_player(table.state), table.state["throws_left"]) == (mover, throws_left)
                dice = [FACES[face - 1] for face in table.state["dice"]]
                places = sheet_places(dice, throws_left, own, choice["must_score_most"])
                assert table.places() == places, (dice, throws_left, seats)
                assert table.legal() - set(range(31, 36)) == (set(range(31)) if throws_left else set())
                if (places and generator.random() < 0.6) or not throws_left:
                    break
                rules.apply(table.state, table.options, int(generator.integers(31)), table.chance)
            thrown = len(table.drawn())
            character = str(generator.choice(sorted(places)))
            expected = sheet_column(character, dice, seats)
            assert table.place(character) == expected, (dice, seats)
            own[character] = expected
            totals = [sum(tokens.values()) for tokens in seats]
            assert table.scores() == totals
        assert rules.is_terminal(table.state, table.options)
        assert table.legal() == set()
        best = [seat for seat in range(num_players) if totals[seat] == max(totals)]
        drawn = iter(table.drawn()[thrown:])
        ties += len(best) > 1
        assert table.winners() == ([sheet_roll_off(best, drawn)] if choice["tie_break"] == "roll" else best)
        assert next(drawn, None) is None
    assert (ties > 0) == (num_players > 1)


def assert_helps(state: np.void, seat: int, seen: dict[str, np.ndarray]) -> None:
    """What an observation adds for convenience is what the sheet says of the seat's open characters."""
    dice = [FACES[face - 1] for face in state["dice"]]
    seats = [
        {name: int(column) for name, column in zip(CHARACTERS, tokens, strict=True) if column != rules.OPEN}
        for tokens in state["tokens"]
    ]
    counts = {name: sheet_count(name, dice) for name in CHARACTERS if name not in seats[seat]}
    same = [0 if die == "Clubhouse" else counts.get(die, 0) for die in dice]
    assert np.allclose(seen["same"] * 5, same)
    for row, name in enumerate(CHARACTERS):
        columns, now = [0] * 5, 0
        if name in counts:
            columns = [sheet_column(name, [name] * number, seats) for number in range(1, 6)]
            now = sheet_column(name, dice, seats)
        assert np.allclose(seen["columns"][row] * 5, columns)
        assert np.isclose(seen["points_now"][row] * 5, now)
        assert np.isclose(seen["showing"][row] * 5, counts.get(name, 0))


@pytest.mark.parametrize("num_players", NUM_TURNS)
def test_observation__tells_the_whole_table(num_players: int) -> None:
    """A state made of nothing but what a seat sees is the state, whichever seat looks."""
    batch = Batch(GAME, 6, num_players=num_players)
    batch.reset(seed=num_players)
    generator = np.random.default_rng(0)
    for _ in range(40):
        for seat in range(num_players):
            seen = batch.layout.named(batch.observe(batch.all_rows, np.full(6, seat, np.int8)))
            others = (np.arange(num_players) + seat) % num_players
            tokens = np.where(seen["open"] == 1, rules.OPEN, seen["board"] @ np.arange(1, 6))
            assert (tokens == batch.states["tokens"][:, others]).all()
            assert (seen["dice"].argmax(axis=2) + 1 == batch.states["dice"]).all()
            assert (seen["dice_counts"].sum(axis=1) == 1).all()
            assert (seen["throws_left"].argmax(axis=1) == batch.states["throws_left"]).all()
            assert (others[seen["mover"].argmax(axis=1)] == batch.movers).all()
            assert np.allclose(seen["score"] * 25, np.maximum(tokens, 0).sum(axis=2))
            turns_left = NUM_TURNS[num_players] - (tokens != rules.OPEN).sum(axis=2)
            assert np.allclose(seen["turns_left"] * 5, turns_left)
            for row in range(6):
                assert_helps(batch.states[row], seat, {name: field[row] for name, field in seen.items()})
        batch.step(np.argmax(generator.random(batch.masks.shape) * batch.masks, axis=1))


# In words.


def test_render__shows_who_stands_where() -> None:
    table = Table("2 Mickey 2 Daisy 1 Clubhouse", 1, ({"Daisy": 0, "Goofy": 4}, {"Daisy": 0, "Goofy": 3}), player=1)
    assert GAME.render(table.state, table.options).splitlines() == [
        "           picture   1    2    3    4    5",
        "Mickey        ·      ·    ·    ·    ·    ·",
        "Minnie        ·      ·    ·    ·    ·    ·",
        "Donald        ·      ·    ·    ·    ·    ·",
        "Daisy        0 1     ·    ·    ·    ·    ·",
        "Goofy         ·      ·    ·    1    0    ·",
        "  player_0: 4 points, open Mickey, Minnie, Donald",
        "▸ player_1: 3 points, open Mickey, Minnie, Donald",
        "Dice  Mickey  Mickey  Daisy  Daisy  Clubhouse    1 throw left",
    ]


def test_place__finds_the_next_free_column() -> None:
    seats = {"Mickey": 4, "Minnie": 4, "Donald": 0, "Goofy": 4}, {"Mickey": 5, "Donald": 0, "Daisy": 3, "Goofy": 3}
    table = Table("1 Mickey 2 Minnie 1 Daisy 1 Clubhouse", 2, seats, player=1)
    assert table.throw("2 Minnie 1 Clubhouse 2 Daisy").place("Minnie") == 3
    table = Table("3 Minnie 1 Clubhouse 1 Daisy", 0, seats, player=1)
    assert table.place("Minnie") == 3


def test_render__says_how_the_game_was_won() -> None:
    won_by_throw = end(last_turn(9, 9, script=("1 Clubhouse 4 Goofy", "2 Clubhouse 3 Goofy")))
    shared = end(last_turn(9, 9, tie_break="share"))
    outright = end(last_turn(9, 10))
    assert [GAME.render(table.state, table.options).splitlines()[-1] for table in (won_by_throw, shared, outright)] == [
        "Game over, won by player_1 after a tie, by throwing the most Clubhouses",
        "Game over, won by player_0 and player_1",
        "Game over, won by player_1",
    ]


def test_name_action__tells_the_column_that_is_free() -> None:
    table = Table("3 Goofy 1 Clubhouse 1 Minnie", seats=({}, {"Goofy": 4}))
    assert GAME.name_action(table.state, table.options, 31 + CHARACTERS.index("Goofy")) == "place Goofy: 3"
    assert GAME.name_action(table.state, table.options, 0b10001) == "keep Minnie Clubhouse"
