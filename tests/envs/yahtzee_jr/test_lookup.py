"""The fast functions of Yahtzee Jr. equal the plain rules of the same name."""

import itertools

import numpy as np
import pytest

from fivedice.envs.core.chance import new_script, new_streams
from fivedice.envs.core.dice import THROWS
from fivedice.envs.yahtzee_jr import GAME, lookup, rules
from fivedice.envs.yahtzee_jr.rules import MOST_SEATS, NUM_ACTIONS, NUM_CHARACTERS, OPEN, PICTURE, PLACE, STATE

CHOICES = [
    {"must_score_most": most, "tie_break": tie} for most, tie in itertools.product((True, False), ("roll", "share"))
]
COLUMNS = range(OPEN, 6)


def test_column_for__agrees_for_every_row_and_number_of_dice() -> None:
    tokens = np.full((MOST_SEATS, NUM_CHARACTERS), OPEN, np.int8)
    throws = {rules.showing(dice, 2): dice for dice in THROWS}
    assert set(throws) == set(range(6))
    for row in itertools.product(COLUMNS, repeat=MOST_SEATS):
        tokens[:, 2] = row
        taken = sum(1 << column for column in range(PICTURE + 1, 6) if rules.is_taken(2, column, tokens))
        assert lookup.taken_columns(2, tokens) == taken
        for dice in throws.values():
            assert lookup.column_for(2, dice, tokens) == rules.column_for(2, dice, tokens)


def test_column_for__agrees_for_every_throw_and_character() -> None:
    generator = np.random.default_rng(0)
    for dice in THROWS:
        for character in range(NUM_CHARACTERS):
            for _ in range(20):
                tokens = generator.integers(OPEN, 6, (MOST_SEATS, NUM_CHARACTERS)).astype(np.int8)
                assert lookup.column_for(character, dice, tokens) == rules.column_for(character, dice, tokens)


@pytest.mark.parametrize("num_players", [1, 2, 3, 4])
@pytest.mark.parametrize("choice", CHOICES[::2], ids=lambda choice: str(choice["must_score_most"]))
def test_legal_actions__agree_for_every_throw_and_set_of_tokens(num_players: int, choice: dict[str, object]) -> None:
    options, masks = GAME.make_options(num_players, choice), np.zeros((2, NUM_ACTIONS), np.int8)
    state = np.zeros(1, STATE)[0]
    for placed in itertools.product((OPEN, 0, 3), repeat=NUM_CHARACTERS):
        for player in {0, num_players - 1}:
            state["tokens"] = OPEN
            state["tokens"][player], state["player"] = placed, player
            opens = sum(1 << character for character in range(NUM_CHARACTERS) if placed[character] == OPEN)
            assert lookup.open_tokens(state["tokens"][player]) == opens
            assert lookup.is_terminal(state, options) == rules.is_terminal(state, options)
            if 3 in placed and 0 in placed:
                continue  # legal actions depend on what is open
            for dice in THROWS:
                for throws_left in (0, 2):
                    state["dice"], state["throws_left"] = dice, throws_left
                    own = state["tokens"][player]
                    least = rules.least_showing(dice, own, throws_left, options)
                    assert lookup.least_showing(dice, own, throws_left, options) == least
                    rules.legal_actions(state, options, masks[0])
                    lookup.legal_actions(state, options, masks[1])
                    assert (masks[0] == masks[1]).all()


@pytest.mark.parametrize("num_players", [1, 2, 3, 4])
@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: "-".join(map(str, choice.values())))
def test_games__are_the_same(num_players: int, choice: dict[str, object]) -> None:
    options, generator = GAME.make_options(num_players, choice), np.random.default_rng(num_players)
    for game in range(40):
        states, streams = np.zeros(2, STATE), np.array([new_streams(game, 1)[0]] * 2)
        chances = [(stream, new_script([], 6)) for stream in streams]
        rules.setup(states[0], options, chances[0])
        lookup.setup(states[1], options, chances[1])
        mask = np.zeros(NUM_ACTIONS, np.int8)
        while not rules.is_terminal(states[0], options):
            assert not lookup.is_terminal(states[1], options)
            rules.legal_actions(states[0], options, mask)
            legal = np.flatnonzero(mask)
            places = legal[legal >= PLACE]
            action = int(generator.choice(places if len(places) and generator.random() < 0.5 else legal))
            rules.apply(states[0], options, action, chances[0])
            lookup.apply(states[1], options, action, chances[1])
            assert states[0] == states[1]
        assert lookup.is_terminal(states[1], options)
        assert (streams[0] == streams[1]).all()
