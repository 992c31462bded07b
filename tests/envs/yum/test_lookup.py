"""The fast functions of Yum equal the plain rules of the same name."""

import itertools

import numpy as np
import pytest

from fivedice.envs.core.chance import new_script, new_streams
from fivedice.envs.core.dice import THROWS, sort
from fivedice.envs.core.dice_lookup import TOTALS, throw_number
from fivedice.envs.core.kernel import kernel
from fivedice.envs.yum import GAME, lookup, rules
from fivedice.envs.yum.rules import FILL, HIGH, LOW, NUM_ACTIONS, NUM_BOXES, OPEN, SIXES, STATE

CHOICES = [
    dict(zip(("high_low", "crossed_high", "five_alike_full_house", "zeros"), choice, strict=True))
    for choice in itertools.product(
        ("either", "high_first"), ("blocks_low", "frees_low"), (False, True), ("forced", "free")
    )
]
LOWS = (OPEN, 0, *range(21, 30))
HIGHS = (OPEN, 0, *range(22, 31))
UPPER_STEP = np.arange(1, SIXES + 2)


def cards(generator: np.random.Generator) -> np.ndarray:
    """A card for each set of filled boxes, 2**12, with points that these boxes may hold."""
    filled = (np.arange(1 << NUM_BOXES)[:, None] >> np.arange(NUM_BOXES)) & 1
    points = np.zeros(filled.shape, np.int8)
    points[:, : SIXES + 1] = generator.integers(0, 6, (len(filled), SIXES + 1)) * UPPER_STEP
    for box, possible in ((6, (0, 15)), (7, (0, 20)), (LOW, LOWS[1:]), (HIGH, HIGHS[1:]), (10, (0, 25)), (11, (0, 30))):
        points[:, box] = generator.choice(possible, len(filled))
    return np.where(filled, points, OPEN).astype(np.int8)


@kernel
def count_differences(states, options, throws, masks):  # type: ignore[no-untyped-def]
    """How many masks differ between the plain and the fast rules, for each state with each throw."""
    number = 0
    for i in range(len(states)):
        for throw in range(len(throws)):
            for slot in range(throws.shape[1]):
                states[i]["dice"][slot] = throws[throw, slot]
            rules.legal_actions(states[i], options, masks[0])
            lookup.legal_actions(states[i], options, masks[1])
            for action in range(masks.shape[1]):
                number += masks[0, action] != masks[1, action]
    return number


def states_of(boxes: np.ndarray, throws_left: int) -> np.ndarray:
    states = np.zeros(len(boxes), STATE)
    states["boxes"] = OPEN
    states["boxes"][:, 0] = boxes
    states["throws_left"] = throws_left
    return states


def test_throw_number__counts_the_throws() -> None:
    assert [throw_number(dice) for dice in THROWS] == list(range(252))
    assert [sum(dice) for dice in THROWS.tolist()] == TOTALS.tolist()


def test_sort__orders_every_throw_of_five_dice() -> None:
    for faces in itertools.product(range(1, 7), repeat=5):
        dice = np.array(faces, np.int8)
        sort(dice)
        assert dice.tolist() == sorted(faces)


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: "-".join(map(str, choice.values())))
@pytest.mark.parametrize("throws_left", [0, 1])
def test_legal_actions__agree_for_every_throw_and_set_of_boxes(choice: dict[str, object], throws_left: int) -> None:
    states = states_of(cards(np.random.default_rng(throws_left)), throws_left)
    masks = np.zeros((2, NUM_ACTIONS), np.int8)
    assert count_differences(states, GAME.make_options(2, choice), THROWS, masks) == 0


@pytest.mark.parametrize("choice", CHOICES[::2], ids=lambda choice: "-".join(map(str, choice.values())))
def test_points__agree_for_every_throw_low_and_high(choice: dict[str, object]) -> None:
    options = GAME.make_options(1, choice)
    for low, high in itertools.product(LOWS, HIGHS):
        boxes = np.full(NUM_BOXES, OPEN, np.int8)
        boxes[LOW], boxes[HIGH] = low, high
        for number, dice in enumerate(THROWS):
            assert lookup.low_fits(TOTALS[number], high, options) == rules.low_fits(TOTALS[number], high, options)
            points = [rules.points_in(box, dice, boxes, options) for box in range(NUM_BOXES)]
            assert [lookup.points_of(number, box, boxes, options) for box in range(NUM_BOXES)] == points
            scoring = sum(1 << box for box in range(NUM_BOXES) if points[box])
            assert lookup.scoring_boxes(number, boxes, options) == scoring


def test_cards__agree_for_every_set_of_boxes() -> None:
    for seed in range(8):
        for boxes in cards(np.random.default_rng(seed)):
            opens = sum(1 << box for box in range(NUM_BOXES) if rules.is_open(box, boxes))
            assert lookup.open_boxes(boxes) == opens
            assert lookup.any_open(boxes) == rules.any_open(boxes) == (opens > 0)
            assert lookup.upper_total(boxes) == rules.upper_total(boxes)
            assert lookup.score(boxes) == rules.score(boxes)


def test_score__agrees_about_the_bonus() -> None:
    for upper in itertools.product(range(0, 6), repeat=SIXES + 1):
        if 60 <= np.dot(upper, UPPER_STEP) <= 66:
            boxes = np.array([*(np.array(upper) * UPPER_STEP), *[OPEN] * 6], np.int8)
            assert lookup.score(boxes) == rules.score(boxes)


@pytest.mark.parametrize("num_players", [1, 2, 6])
@pytest.mark.parametrize("choice", CHOICES[::5], ids=lambda choice: "-".join(map(str, choice.values())))
def test_games__are_the_same(num_players: int, choice: dict[str, object]) -> None:
    options, generator = GAME.make_options(num_players, choice), np.random.default_rng(num_players)
    for game in range(20):
        states, streams = np.zeros(2, STATE), np.array([new_streams(game, 1)[0]] * 2)
        chances = [(stream, new_script([], 6)) for stream in streams]
        rules.setup(states[0], options, chances[0])
        lookup.setup(states[1], options, chances[1])
        mask, points = np.zeros(NUM_ACTIONS, np.int8), np.zeros((2, num_players))
        while not rules.is_terminal(states[0], options):
            assert not lookup.is_terminal(states[1], options)
            rules.legal_actions(states[0], options, mask)
            legal = np.flatnonzero(mask)
            fills = legal[legal >= FILL]
            action = int(generator.choice(fills if len(fills) and generator.random() < 0.5 else legal))
            rules.apply(states[0], options, action, chances[0])
            lookup.apply(states[1], options, action, chances[1])
            assert states[0] == states[1]
            rules.scores(states[0], options, points[0])
            lookup.scores(states[1], options, points[1])
            assert points[0].tolist() == points[1].tolist()
        assert lookup.is_terminal(states[1], options)
        assert (streams[0] == streams[1]).all()
