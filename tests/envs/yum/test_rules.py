"""Yum against its rule sheet, told a second time below in other words and without the rules' code."""

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest

from fivedice.envs.core.chance import new_script, new_streams
from fivedice.envs.core.dice_lookup import throw_number
from fivedice.envs.yum import GAME, lookup, rules
from fivedice.envs.yum.rules import BOXES, FILL, HIGH, LOW, OPEN

NUMBERS = {"Ones": 1, "Twos": 2, "Threes": 3, "Fours": 4, "Fives": 5, "Sixes": 6}
THROWS = list(itertools.combinations_with_replacement(range(1, 7), 5))
CHOICES = [
    dict(zip(("high_low", "crossed_high", "five_alike_full_house", "zeros"), choice, strict=True))
    for choice in itertools.product(
        ("either", "high_first"), ("blocks_low", "frees_low"), (False, True), ("forced", "free")
    )
]

Card = dict[str, int]  # what is written, by box; an open box is absent


# The rule sheet in other words.


def sheet_points(box: str, dice: tuple[int, ...], card: Card, choice: dict[str, Any]) -> int:
    alike = sorted(Counter(dice).values())
    dots = sum(dice)
    if box in NUMBERS:
        return dots - sum(die for die in dice if die != NUMBERS[box])
    if box == "Low Straight":
        return 15 * (set(dice) == {1, 2, 3, 4, 5})
    if box == "High Straight":
        return 20 * (set(dice) == {2, 3, 4, 5, 6})
    if box == "Full House":
        return 25 * (alike == [2, 3] or (alike == [5] and choice["five_alike_full_house"]))
    if box == "Yum":
        return 30 * (len(set(dice)) == 1)
    if box == "High":
        return dots * (dots in range(max(22, card.get("Low", 0) + 1), 31))
    may_score = {
        "open": choice["high_low"] == "either",
        "crossed": choice["crossed_high"] == "frees_low",
        "scored": dots < card.get("High", 0),
    }
    high = "open" if "High" not in card else "scored" if card["High"] else "crossed"
    return dots * (may_score[high] and dots in range(21, 30))


def sheet_legal(dice: tuple[int, ...], throws_left: int, card: Card, choice: dict[str, Any]) -> set[int]:
    is_open = [box for box in BOXES if box not in card]
    scoring = [box for box in is_open if sheet_points(box, dice, card, choice)]
    if choice["zeros"] == "free":
        boxes = is_open
    elif throws_left:
        boxes = scoring
    else:
        boxes = scoring or is_open
    keeps = range(31) if throws_left else ()
    return {*keeps, *(31 + BOXES.index(box) for box in boxes)}


def sheet_total(card: Card) -> int:
    return sum(card.values()) + 25 * (sum(card.get(box, 0) for box in NUMBERS) >= 63)


# The rules under test.


def boxes_of(card: Card) -> np.ndarray:
    return np.array([card.get(box, OPEN) for box in BOXES], np.int8)


def points(box: str, dice: tuple[int, ...], card: Card | None = None, **choice: Any) -> int:
    faces = np.array(sorted(dice), np.int8)
    return rules.points_in(BOXES.index(box), faces, boxes_of(card or {}), GAME.make_options(1, choice))


class Table:
    """A position to look at and to play on from, with these faces next."""

    def __init__(
        self, dice: str, throws_left: int = 0, cards: tuple[Card, ...] = ({},), script: str = "", **choice: Any
    ) -> None:
        self.options = GAME.make_options(len(cards), choice)
        self.state = np.zeros(1, rules.STATE)[0]
        self.state["dice"] = sorted(int(die) for die in dice)
        self.state["throws_left"] = throws_left
        self.state["boxes"] = OPEN
        for seat, card in enumerate(cards):
            self.state["boxes"][seat] = boxes_of(card)
        self.chance = (new_streams(0, 1)[0], new_script([int(face) for face in script], 6))

    def legal(self) -> set[int]:
        mask = np.full(GAME.num_actions(), 7, np.int8)
        rules.legal_actions(self.state, self.options, mask)
        assert set(mask.tolist()) <= {0, 1}
        return set(np.flatnonzero(mask).tolist())

    def fillable(self) -> set[str]:
        return {BOXES[action - FILL] for action in self.legal() if action >= FILL}

    def fill(self, box: str) -> None:
        rules.apply(self.state, self.options, FILL + BOXES.index(box), self.chance)

    def written(self, box: str, seat: int = 0) -> int:
        return int(self.state["boxes"][seat][BOXES.index(box)])

    def scores(self) -> list[float]:
        totals = np.zeros(int(self.options["num_players"]))
        rules.scores(self.state, self.options, totals)
        return totals.tolist()

    def winners(self) -> list[int]:
        won = np.zeros(int(self.options["num_players"]), np.int8)
        rules.winners(self.state, self.options, won)
        return np.flatnonzero(won).tolist()


def all_but(*is_open: str, **written: int) -> Card:
    """A card with 0 in every box but those left open, and these points in Ones …, Low or High."""
    return {box: written.get(box, 0) for box in BOXES if box not in is_open}


# Points.


@pytest.mark.parametrize("box", BOXES)
def test_points__agree_with_the_sheet_for_every_throw(box: str) -> None:
    assert len(THROWS) == 252
    for choice in CHOICES[::2]:  # the last option, zeros, says what may be filled and not what it gives
        for dice in THROWS:
            assert points(box, dice, {}, **choice) == sheet_points(box, dice, {}, choice), (dice, choice)


@pytest.mark.parametrize("choice", CHOICES[::2], ids=str)
def test_low_and_high__agree_with_the_sheet_whatever_the_other_holds(choice: dict[str, Any]) -> None:
    options = GAME.make_options(1, choice)
    throws = {sum(dice): dice for dice in THROWS}
    for dots, dice in throws.items():
        faces = np.array(dice, np.int8)
        for other in (0, *range(21, 31)):
            for box, held in ((LOW, "High"), (HIGH, "Low")):
                card = {held: other}
                found = rules.points_in(box, faces, boxes_of(card), options)
                assert found == sheet_points(BOXES[box], dice, card, choice), (BOXES[box], dots, card)


@pytest.mark.parametrize("choice", CHOICES[::2], ids=str)
def test_points__looked_up_are_those_of_the_rules(choice: dict[str, Any]) -> None:
    options = GAME.make_options(1, choice)
    for card in ({}, {"High": 0}, {"High": 25}, {"Low": 0, "High": 22}, {"Low": 24}, {"Low": 29}):
        boxes = boxes_of(card)
        for dice in THROWS:
            faces = np.array(dice, np.int8)
            number = throw_number(faces)
            expected = [rules.points_in(box, faces, boxes, options) for box in range(len(BOXES))]
            assert [lookup.points_of(number, box, boxes, options) for box in range(len(BOXES))] == expected
            scoring = lookup.scoring_boxes(number, boxes, options)
            assert [scoring >> box & 1 for box in range(len(BOXES))] == [found > 0 for found in expected]


def test_open_boxes__are_those_with_nothing_written() -> None:
    generator = np.random.default_rng(1)
    for opens in range(1 << len(BOXES)):
        is_open = (opens >> np.arange(len(BOXES))) & 1 == 1
        boxes = np.where(is_open, OPEN, generator.integers(0, 31, len(BOXES))).astype(np.int8)
        assert lookup.open_boxes(boxes) == opens


@pytest.mark.parametrize(
    ("box", "dice", "expected"),
    [
        ("Sixes", (6, 6, 6, 2, 3), 18),  # the sheet's own examples
        ("Low", (6, 6, 6, 2, 3), 23),
        ("Full House", (6, 6, 6, 5, 5), 25),
        ("High", (6, 6, 6, 5, 5), 28),
        ("Sixes", (6, 6, 6, 5, 5), 18),
        ("Fives", (6, 6, 6, 5, 5), 10),
        ("Ones", (1, 1, 1, 4, 6), 3),
        ("Threes", (3, 3, 3, 3, 5), 12),
        ("Full House", (5, 5, 5, 3, 3), 25),  # from here on hits, each with its near misses
        ("Full House", (5, 5, 5, 3, 5), 0),
        ("Full House", (5, 5, 3, 3, 1), 0),
        ("Full House", (5, 5, 5, 3, 1), 0),
        ("Full House", (5, 5, 5, 5, 5), 0),
        ("Yum", (1, 1, 1, 1, 1), 30),
        ("Yum", (1, 1, 1, 1, 2), 0),
        ("Low Straight", (5, 4, 3, 2, 1), 15),
        ("Low Straight", (1, 2, 3, 4, 6), 0),
        ("Low Straight", (1, 2, 3, 4, 4), 0),
        ("Low Straight", (2, 3, 4, 5, 6), 0),
        ("High Straight", (2, 3, 4, 5, 6), 20),
        ("High Straight", (1, 2, 3, 4, 5), 0),
        ("High Straight", (2, 3, 4, 5, 5), 0),
        ("High Straight", (1, 3, 4, 5, 6), 0),
        ("Low", (6, 6, 6, 2, 1), 21),
        ("Low", (6, 6, 6, 1, 1), 0),
        ("Low", (6, 6, 6, 6, 5), 29),
        ("Low", (6, 6, 6, 6, 6), 0),
        ("High", (6, 6, 6, 2, 2), 22),
        ("High", (6, 6, 6, 2, 1), 0),
        ("High", (6, 6, 6, 6, 6), 30),
    ],
)
def test_points__near_misses_beside_the_hits(box: str, dice: tuple[int, ...], expected: int) -> None:
    assert points(box, dice) == expected


@pytest.mark.parametrize(
    ("box", "dice", "card", "expected"),
    [
        ("High", (6, 6, 6, 4, 3), {"Low": 24}, 25),
        ("High", (6, 6, 6, 3, 3), {"Low": 24}, 0),  # not above, but equal
        ("High", (6, 6, 6, 3, 2), {"Low": 24}, 0),
        ("High", (6, 6, 6, 2, 2), {"Low": 21}, 22),
        ("High", (6, 6, 6, 2, 2), {"Low": 0}, 22),  # a crossed-out Low restricts nothing
        ("High", (6, 6, 6, 6, 6), {"Low": 29}, 30),
        ("Low", (6, 6, 6, 3, 2), {"High": 24}, 23),
        ("Low", (6, 6, 6, 3, 3), {"High": 24}, 0),
        ("Low", (6, 6, 6, 4, 3), {"High": 24}, 0),
        ("Low", (6, 6, 6, 2, 1), {"High": 22}, 21),
        ("Low", (6, 6, 6, 2, 1), {"High": 0}, 0),
    ],
)
def test_low_and_high__second_respects_the_first(box: str, dice: tuple[int, ...], card: Card, expected: int) -> None:
    assert points(box, dice, card) == expected


# Options.


def test_high_low__high_first_lets_low_score_once_high_holds_points() -> None:
    dice = (6, 6, 6, 2, 3)
    assert points("Low", dice, {}, high_low="either") == 23
    assert points("Low", dice, {}, high_low="high_first") == 0
    assert points("Low", dice, {"High": 24}, high_low="high_first") == 23
    assert points("High", dice, {}, high_low="high_first") == 23


@pytest.mark.parametrize("high_low", ["either", "high_first"])
def test_crossed_high__blocks_or_frees_low(high_low: str) -> None:
    crossed = {"High": 0}
    assert points("Low", (6, 6, 6, 2, 3), crossed, high_low=high_low, crossed_high="blocks_low") == 0
    assert points("Low", (6, 6, 6, 2, 3), crossed, high_low=high_low, crossed_high="frees_low") == 23
    assert points("Low", (6, 6, 6, 6, 5), crossed, high_low=high_low, crossed_high="frees_low") == 29
    assert points("Low", (6, 6, 6, 6, 6), crossed, high_low=high_low, crossed_high="frees_low") == 0


def test_five_alike_full_house__counts_when_chosen() -> None:
    assert points("Full House", (4, 4, 4, 4, 4), five_alike_full_house=False) == 0
    assert points("Full House", (4, 4, 4, 4, 4), five_alike_full_house=True) == 25
    assert points("Full House", (4, 4, 4, 4, 5), five_alike_full_house=True) == 0


def test_zeros__forced_with_throws_left_only_scoring_boxes() -> None:
    table = Table("11126", throws_left=1)
    assert table.fillable() == {"Ones", "Twos", "Sixes"}
    assert set(range(FILL)) <= table.legal()


def test_zeros__forced_after_the_third_throw_a_scoring_box_must_be_filled() -> None:
    table = Table("11126", cards=(all_but("Twos", "Low", "High", "Yum"),))
    assert table.fillable() == {"Twos"}
    assert min(table.legal()) >= FILL


def test_zeros__forced_after_the_third_throw_any_open_box_if_none_scores() -> None:
    table = Table("11126", cards=(all_but("Low", "High", "Yum"),))
    assert table.fillable() == {"Low", "High", "Yum"}
    assert min(table.legal()) >= FILL


def test_zeros__forced_none_may_be_filled_with_throws_left_if_none_scores() -> None:
    assert Table("11126", throws_left=1, cards=(all_but("Low", "High", "Yum"),)).legal() == set(range(FILL))


def test_zeros__free_any_open_box_at_any_time() -> None:
    for throws_left in (0, 1, 2):
        table = Table("11126", throws_left, cards=(all_but("Twos", "Low", "Yum"),), zeros="free")
        assert table.fillable() == {"Twos", "Low", "Yum"}


# Play.


def test_apply__crossed_out_high_leaves_low_nothing_but_zero() -> None:
    table = Table("11112", cards=(all_but("Low", "High"),), script="66652")
    assert table.fillable() == {"Low", "High"}
    table.fill("High")
    assert table.written("High") == 0
    assert table.legal() == set(range(FILL))  # 25 dots, but nothing to fill with throws left
    table.state["throws_left"] = 0
    assert table.fillable() == {"Low"}
    table.fill("Low")
    assert table.written("Low") == 0
    assert table.legal() == set()


def test_apply__filled_box_never_changes() -> None:
    table = Table("66652", cards=({},), script="66653")
    table.fill("Low")
    table.fill("High")
    assert (table.written("Low"), table.written("High")) == (25, 26)


def test_apply__keeps_the_named_slots_and_sorts_the_dice() -> None:
    table = Table("13355", throws_left=2, script="621")
    rules.apply(table.state, table.options, 0b00110, table.chance)
    assert table.state["dice"].tolist() == [1, 2, 3, 3, 6]
    assert table.state["throws_left"] == 1


def test_apply__next_seat_throws_after_a_fill() -> None:
    table = Table("66652", throws_left=1, cards=({}, {}, {}), script="54321")
    table.fill("Sixes")
    assert (int(table.state["player"]), int(table.state["throws_left"])) == (1, 2)
    assert table.state["dice"].tolist() == [1, 2, 3, 4, 5]


def test_scores__bonus_from_63_and_not_from_62() -> None:
    upper = {"Ones": 3, "Twos": 6, "Threes": 9, "Fours": 12, "Fives": 15, "Sixes": 18}
    assert sum(upper.values()) == 63
    assert Table("11111", cards=(upper,)).scores() == [63 + 25]
    assert Table("11111", cards=({**upper, "Ones": 2, "Yum": 30},)).scores() == [62 + 30]
    assert Table("11111", cards=({**upper, "Ones": 4, "Low": 0},)).scores() == [64 + 25]


def test_winners__most_points_and_ties_are_shared() -> None:
    assert Table("11111", cards=({"Yum": 30}, {"Low": 29}, {"Low Straight": 15})).winners() == [0]
    assert Table("11111", cards=({"Low": 25}, {"Full House": 25}, {"High Straight": 20})).winners() == [0, 1]
    assert Table("11111", cards=(all_but(), all_but())).winners() == [0, 1]  # both 0
    assert Table("11111", cards=({"Ones": 1},)).winners() == [0]


@pytest.mark.parametrize("num_players", range(1, 7))
@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: "-".join(map(str, choice.values())))
def test_random_games__agree_with_the_sheet_at_every_decision(num_players: int, choice: dict[str, Any]) -> None:
    generator = np.random.default_rng(num_players)
    table = Table("11111", cards=({},) * num_players, **choice)
    cards: list[Card] = [{} for _ in range(num_players)]
    rules.setup(table.state, table.options, table.chance)
    for turn in range(12 * num_players):
        mover, throws_left = turn % num_players, 2
        while True:
            dice = tuple(table.state["dice"].tolist())
            assert (rules.current_player(table.state), table.state["throws_left"]) == (mover, throws_left)
            assert dice in THROWS
            legal = sheet_legal(dice, throws_left, cards[mover], choice)
            assert table.legal() == legal, (dice, throws_left, cards[mover])
            assert not rules.is_terminal(table.state, table.options)
            fills = [action for action in legal if action >= 31]
            action = int(generator.choice(fills if fills and generator.random() < 0.5 else list(legal)))
            rules.apply(table.state, table.options, action, table.chance)
            if action >= 31:
                break
            kept = Counter(dice[slot] for slot in range(5) if action >> slot & 1)
            assert kept <= Counter(table.state["dice"].tolist())
            throws_left -= 1
        box = BOXES[action - 31]
        cards[mover][box] = sheet_points(box, dice, cards[mover], choice)
        assert table.scores() == [sheet_total(card) for card in cards]
    assert rules.is_terminal(table.state, table.options)
    assert table.legal() == set()
    best = max(table.scores())
    assert table.winners() == [seat for seat, score in enumerate(table.scores()) if score == best]


def test_low_and_high__sheet_example_in_either_order() -> None:
    low_first, high_first = Table("66623", script="66655"), Table("66655", script="66623")
    low_first.fill("Low")
    low_first.fill("High")
    high_first.fill("High")
    high_first.fill("Low")
    assert low_first.scores() == high_first.scores() == [23 + 28]


# In words.

FULL_UPPER = {"Ones": 3, "Twos": 6, "Threes": 9, "Fours": 12, "Fives": 15}  # 45 points


@pytest.mark.parametrize(
    ("card", "dice", "words"),
    [
        (FULL_UPPER, "66612", "fill Sixes: 18 and the bonus of 25"),  # 63
        ({**FULL_UPPER, "Ones": 4}, "66612", "fill Sixes: 18 and the bonus of 25"),
        ({**FULL_UPPER, "Ones": 2}, "66612", "fill Sixes: 18"),  # 62
        (FULL_UPPER, "66112", "fill Sixes: 12"),
        ({**FULL_UPPER, "Fives": 25, "Fours": 20}, "66612", "fill Sixes: 18"),  # 63 were there before
        ({**FULL_UPPER, "Fives": 25, "Fours": 19}, "61112", "fill Sixes: 6 and the bonus of 25"),
    ],
)
def test_name_action__tells_the_bonus_when_it_is_earned(card: Card, dice: str, words: str) -> None:
    """The other seat's card, which has none of it, makes no difference; nor does a box that counts for no bonus."""
    table = Table(dice, cards=({}, card))
    table.state["player"] = 1
    assert GAME.name_action(table.state, table.options, FILL + BOXES.index("Sixes")) == words
    full_house = GAME.name_action(table.state, table.options, FILL + BOXES.index("Full House"))
    assert full_house == "fill Full House: 0"
    assert GAME.name_action(table.state, table.options, 0b10001) == f"keep {min(dice)} {max(dice)}"


def test_render__shows_every_card_and_the_bonus_from_63() -> None:
    cards = (FULL_UPPER | {"Sixes": 18}, FULL_UPPER | {"Sixes": 12, "Low": 0}, {"Yum": 30})
    table = Table("12266", 1, cards=cards)
    table.state["player"] = 1
    lines = [line.split() for line in GAME.render(table.state, table.options).splitlines()]
    assert lines[0] == ["player_0", "▸", "player_1", "player_2"]
    for line, box in zip((line for line in lines if " ".join(line[:-3]) in BOXES), BOXES, strict=True):
        assert " ".join(line[:-3]) == box
        assert line[-3:] == [str(card.get(box, "·")) for card in cards]
    assert lines[7] == ["of", "63", "63", "+25", "57", "0"]
    assert lines[-2] == ["Total", "88", "57", "30"]
    assert lines[-1] == ["Dice", "⚀", "1", "⚁", "2", "⚁", "2", "⚅", "6", "⚅", "6", "1", "throw", "left"]
    table = Table("12266", 0, cards=(all_but(Yum=30), all_but(Low=29)))
    table.state["player"] = 1
    assert GAME.render(table.state, table.options).splitlines()[0].split() == ["player_0", "player_1"]
    assert GAME.render(table.state, table.options).splitlines()[-1] == "Game over, won by player_0"
