"""Greedy play of SET Cubed, against trying everything that the rules allow."""

import itertools
import os
from typing import Any

import numpy as np
import pytest

from fivedice.agents.evaluation.match import play_games
from fivedice.agents.games.set_cubed.greedy import GREEDY
from fivedice.agents.games.set_cubed.greedy_extra import look_at_board
from fivedice.agents.policies.registry import load
from fivedice.envs import load_game
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.chance import new_script, new_streams
from fivedice.envs.core.view import View
from fivedice.envs.set_cubed import GAME, rules
from fivedice.envs.set_cubed.dice import ALL_WITH_WILD
from fivedice.envs.set_cubed.faces import FACE_NAMES, WILD

BOARD = "/".join(["." * 7, ".3...3.", "..***..", ".......", ".9...9.", "." * 7, "." * 7])
OPENING, PLAY, EXTRA = 0, 1, 2
needs_compiled_code = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too long in plain Python")


def chance_of(seed: int = 0) -> Any:
    return new_streams(seed, 1)[0], new_script([], 74)


def mask_of(state: Any, options: Any) -> np.ndarray:
    mask = np.zeros(GAME.num_actions(options), np.int8)
    rules.legal_actions(state, options, mask)
    return mask


def view_of(state: Any, options: Any) -> View:
    mask, observation = mask_of(state, options), np.zeros(GAME.layout(options).size, np.float32)
    GAME.observe(state, options, int(state["player"]), observation)
    seat = np.array([state["player"]], np.int8)
    return View(GAME, options, state.reshape(1).copy(), seat, observation[None], mask[None], np.zeros(1))


def positions(phase: int, number: int, size: int, **table: Any) -> list[tuple[Any, Any]]:
    """Starts of turns, or EXTRA rolls, from random play, with the last `size` dice of the hand."""
    batch = Batch(GAME, 16, **table)
    batch.reset(4)
    generator = np.random.default_rng(4)
    found: list[tuple[Any, Any]] = []
    while len(found) < number:
        for row in batch.all_rows[: number - len(found)]:
            state = batch.states[row].copy()
            if state["phase"] == phase and state["laid"][0] < 0 and (state["faces"] >= 0).sum() > 5:
                for hand in (state["hand_faces"][state["player"]], state["hand_dice"][state["player"]]):
                    kept = hand[hand >= 0][-size:].copy()  # WILDs come last
                    hand[:] = -1
                    hand[: len(kept)] = kept
                if phase == EXTRA or mask_of(state, batch.options).sum() > 3:
                    found.append((state, batch.options))
        for _ in range(7):
            wish = generator.random(batch.masks.shape) * batch.masks
            batch.step(wish.argmax(axis=1))
    return found


def most_points(state: Any, options: Any) -> int:
    """The most that can be added to the score from here to the end of the turn, without swaps, by trying everything."""
    player, phase = int(state["player"]), int(state["phase"])
    cells, most = int(np.prod(options["board"][:2])), 0
    for action in np.flatnonzero(mask_of(state, options)).tolist():
        if action == GAME.num_actions(options) - 1:
            continue
        if action < 5 * cells:
            row, column = divmod(action % cells, int(options["board"][1]))
            if state["faces"][2 + row, 2 + column] >= 0:
                continue
        after = state.copy()
        rules.apply(after, options, action, chance_of())
        gained = int(after["scores"][player] - state["scores"][player])
        if after["player"] == player and after["phase"] == phase:
            gained += most_points(after, options)
        most = max(most, gained)
    return most


@needs_compiled_code
@pytest.mark.parametrize(
    ("size", "number", "table"),
    [(3, 8, {"board": BOARD}), (2, 2, {"board": BOARD, "dice": ALL_WITH_WILD})],
    ids=("three dice", "WILDs"),
)
def test_turn__scores_the_most_there_is(size: int, number: int, table: dict[str, Any]) -> None:
    wilds = 0
    for state, options in positions(PLAY, number, size, **table):
        player = int(state["player"])
        hand = state["hand_faces"][player].tolist()
        state["wild"] = 0  # nothing to swap
        best = most_points(state, options)
        wilds += WILD in hand
        played = state.copy()
        while played["player"] == player and played["phase"] == PLAY:
            action = int(GREEDY.act(view_of(played, options))[0])
            if action == GAME.num_actions(options) - 1:
                assert played["laid"][0] < 0 or played["waiting"] < 0
            rules.apply(played, options, action, chance_of())
        assert played["scores"][player] - state["scores"][player] == best, GAME.render(state, options)
    assert wilds > 0 or "dice" not in table


def table_with(board: dict[tuple[int, int], str], hand: str, **options: Any) -> tuple[Any, Any]:
    """A turn that begins, ``~`` for WILDs; dice are numbered as they come."""
    record = GAME.make_options(2, options)
    state = np.zeros(1, rules.STATE)[0]
    rules.setup(state, record, chance_of())
    state["phase"], state["player"], state["opener"] = PLAY, 0, 0
    state["hand_dice"] = state["hand_faces"] = -1
    numbers = iter(range(42))
    for (row, column), face in board.items():
        state["faces"][row + 2, column + 2] = FACE_NAMES.index(face.removesuffix("~"))
        state["wild"][row + 2, column + 2], state["dice"][row + 2, column + 2] = face.endswith("~"), next(numbers)
    faces = sorted(FACE_NAMES.index(face) for face in hand.split())
    for slot, face in enumerate(faces):
        state["hand_faces"][0, slot], state["hand_dice"][0, slot] = face, next(numbers)
    state["hand_faces"][1, 0], state["hand_dice"][1, 0] = 0, next(numbers)
    return state, record


def said(state: Any, options: Any) -> str:
    return GAME.name_action(state, options, int(GREEDY.act(view_of(state, options))[0])).split("#")[0]


DICE = " / ".join(["1RO 1RO 1RO 2GD 2GD WILD"] + 41 * ["1RO 2RO 3RO 1GO 2GO 3GO"])


def test_swap__when_the_die_that_comes_back_is_worth_more() -> None:
    # A swap spends a die that scores nothing otherwise; the one that comes back as 1RO or WILD is laid.
    state, options = table_with({(5, 4): "3GS~", (5, 8): "2RO", (5, 9): "3RO"}, "3GS", dice=DICE)
    assert said(state, options) == "swap 3GS"
    # Not where the same die scores six as it is, which it would have to give up.
    board = {(5, 4): "3RO~", (5, 8): "2RO", (5, 9): "1RO", (2, 4): "1RO", (3, 4): "2RO"}
    state, options = table_with(board, "3RO", dice=DICE)
    assert said(state, options) == "lay 3RO"


def test_swap__leaves_the_view_as_it_was() -> None:
    state, options = table_with({(5, 4): "3GS~", (5, 8): "2RO", (5, 9): "3RO"}, "3GS 1RO WILD", dice=DICE)
    view = view_of(state, options)
    before = view.states.tobytes()
    GREEDY.act(view)
    assert view.states.tobytes() == before


def test_turn__nothing_that_scores_is_no_reason_to_lay() -> None:
    state, options = table_with({(5, 4): "3GS", (5, 5): "2RO"}, "3GS 1RO")
    assert said(state, options) == "end the turn"


@needs_compiled_code
def test_opening__has_as_few_wilds_as_there_are() -> None:
    batch = Batch(GAME, 300, dice=ALL_WITH_WILD)
    batch.reset(1)
    hands = [batch.states[row]["hand_faces"][batch.movers[row]].tolist() for row in batch.all_rows]
    players = batch.movers.copy()
    while (batch.states["phase"] == OPENING).any():
        rows = np.flatnonzero(batch.states["phase"] == OPENING)
        batch.step(GREEDY.act(batch.view(rows)), rows)
    for row, hand in enumerate(hands):
        assert batch.states[row]["scores"][players[row]] == most_naturals(hand)
    assert {most_naturals(hand) for hand in hands} >= {1, 2, 3}


def most_naturals(hand: list[int]) -> int:
    most = 0
    for dice in itertools.combinations(hand, 3):
        naturals = [FACE_NAMES[face] for face in dice if face != WILD]
        if len(naturals) < 3 or all(len(set(feature)) != 2 for feature in zip(*naturals, strict=True)):
            most = max(most, len(naturals))
    return most


Board = dict[tuple[int, int], int]
WINDOWS = [
    tuple((row + down * place, column + (1 - down) * place) for place in range(3))
    for down in (0, 1)
    for row in range(7 - 2 * down)
    for column in range(5 + 2 * down)
]
SQUARES = {(1, 1): 3, (1, 5): 3, (4, 1): 9, (4, 5): 9}


def is_set(faces: list[int]) -> bool:
    return all(len(set(feature)) != 2 for feature in zip(*(FACE_NAMES[face] for face in faces), strict=True))


def single(board: Board, shows: int, squares: Board = SQUARES) -> int:
    """The most points of one die on a board of 7 by 7."""
    most = 0
    for cell in {cell for window in WINDOWS for cell in window} - set(board):
        for face in range(27) if shows == WILD else [shows]:
            after = {**board, cell: face}
            sets = [w for w in WINDOWS if cell in w and set(w) <= set(after) and is_set([after[c] for c in w])]
            if sets:
                most = max(most, (2 if shows == WILD else 3) * len(sets) + squares.get(cell, 0))
    return most


def pair(board: Board, one: int, two: int) -> int:
    """The most points of two dice that make a SET with one of the board, in that SET alone."""
    most = 0
    for window in WINDOWS:
        lying = [board[cell] for cell in window if cell in board]
        if len(lying) == 1:
            faces = [range(27) if shows == WILD else [shows] for shows in (one, two)]
            if any(is_set([*lying, *dice]) for dice in itertools.product(*faces)):
                earned = sum(SQUARES.get(cell, 0) for cell in window if cell not in board)
                most = max(most, 1 + (one != WILD) + (two != WILD) + earned)
    return most


@needs_compiled_code
def test_extra__estimates_are_what_one_die_and_two_dice_score_on_the_board() -> None:
    """Every single die, and a sample of the pairs; bonus squares are free on these boards, and count."""
    lower_without_squares = 0
    for state, options in positions(EXTRA, 3, 2, board=BOARD):
        board = {(r, c): int(state["faces"][2 + r, 2 + c]) for r in range(7) for c in range(7)}
        board = {cell: face for cell, face in board.items() if face >= 0}
        singles, pairs = np.zeros(28, np.int64), np.zeros((28, 28), np.int64)
        look_at_board(state, options, singles, pairs)
        assert singles.tolist() == [single(board, shows) for shows in range(28)]
        for one, two in [(0, 13), (5, 5), (WILD, 4), (4, WILD), (WILD, WILD), (26, 1), (9, 11), (17, 3)]:
            assert pairs[one, two] == pair(board, one, two)
        lower_without_squares += sum(single(board, shows, {}) < singles[shows] for shows in range(0, WILD, 3))
    assert lower_without_squares > 0


@needs_compiled_code
def test_extra__keeps_what_promises_the_most() -> None:
    """Hands of two dice: the estimate is the sum of both alone, or their pair, whichever is more."""
    changed = 0
    for state, options in positions(EXTRA, 12, 2, board=BOARD):
        player = int(state["player"])
        board = {(r, c): int(state["faces"][2 + r, 2 + c]) for r in range(7) for c in range(7)}
        board = {cell: face for cell, face in board.items() if face >= 0}
        singles = [single(board, shows) for shows in range(28)]
        hand = state["hand_faces"][player, :2].tolist()
        sides = [(options["dice"][die] - 1).tolist() for die in state["hand_dice"][player, :2]]
        values = {}
        for keep in range(4):
            throws = itertools.product(*([hand[slot]] if keep >> slot & 1 else sides[slot] for slot in range(2)))
            worth = [max(singles[one] + singles[two], pair(board, one, two)) for one, two in throws]
            values[keep] = sum(worth) / len(worth)
        keep = int(GREEDY.act(view_of(state, options))[0]) - (GAME.num_actions(options) - 33)
        assert values[keep] == pytest.approx(max(values.values()))
        equal = [other for other in values if values[other] > values[keep] - 1e-9]
        assert keep.bit_count() == max(other.bit_count() for other in equal)
        changed += keep != 3
    assert 1 < changed < 12


def test_act__refuses_another_game() -> None:
    batch = Batch(load_game("yum"), 1)
    batch.reset(0)
    with pytest.raises(ValueError, match="this greedy policy plays SET Cubed, not Yum"):
        GREEDY.act(batch.view())


@needs_compiled_code
def test_greedy__wins_almost_every_game_against_random_at_every_number_of_seats() -> None:
    for seats, least in ((2, 95), (4, 80)):
        seating = np.array([[int(seat != game % seats) for seat in range(seats)] for game in range(100)])
        played = play_games(GAME, seating, [load("greedy"), load("random")], seed=1)
        assert played.shares[seating == 0].sum() > least


# What it tells of every action.


def after_action(state: Any, options: Any, action: int) -> Any:
    after = state.copy()
    rules.apply(after, options, action, chance_of())
    return after


@needs_compiled_code
@pytest.mark.parametrize(
    ("size", "number", "table"),
    [(3, 6, {"board": BOARD}), (2, 1, {"board": BOARD, "dice": ALL_WITH_WILD})],
    ids=("three dice", "WILDs"),
)
def test_action_values__are_the_most_points_after_each_action(size: int, number: int, table: dict[str, Any]) -> None:
    compared = 0
    for state, options in positions(PLAY, number, size, **table):
        state["wild"] = 0  # nothing to swap
        player = int(state["player"])
        view = view_of(state, options)
        values = GREEDY.action_values(view)[0]
        assert np.array_equal(np.isfinite(values), view.masks[0] == 1)
        for action in np.flatnonzero(view.masks[0]).tolist():
            after, expected = after_action(state, options, action), 0
            if action < GAME.num_actions(options) - 1:
                expected = int(after["scores"][player] - state["scores"][player])
                if after["player"] == player and after["phase"] == PLAY:
                    expected += most_points(after, options)
            assert values[action] == expected
            compared += expected > 0
    assert compared > 20


@needs_compiled_code
def test_action_values__are_highest_for_what_greedy_does() -> None:
    batch = Batch(GAME, 40, num_players=3)
    batch.reset(6)
    kinds, places = [0] * 4, np.arange(40)
    for _ in range(80):
        view = batch.view()
        before = view.states.tobytes()
        values, actions = GREEDY.action_values(view), GREEDY.act(view)
        assert view.states.tobytes() == before
        assert np.array_equal(np.isfinite(values), view.masks == 1)
        assert np.allclose(values[places, actions], values.max(axis=1), atol=1e-6)
        for phase in range(3):
            kinds[phase] += (view.states["phase"] == phase).sum()
        cells = int(np.prod(view.options["board"][:2]))
        lying = view.states["faces"][:, 2:13, 2:13].reshape(40, -1)[places, actions % cells] >= 0
        kinds[3] += (lying & (actions < 5 * cells)).sum()
        batch.step(actions)
    assert min(kinds) > 0, f"an opening, turns, EXTRA rolls and swaps should all have come: {kinds}"


def test_action_values__of_a_swap_are_a_mean_over_the_faces_that_come_back() -> None:
    # Of its six faces the die that comes back shows 1RO on three, for three points, and WILD on one, for two.
    state, options = table_with({(5, 4): "3GS~", (5, 8): "2RO", (5, 9): "3RO"}, "3GS", dice=DICE)
    values = GREEDY.action_values(view_of(state, options))[0]
    swaps = [action for action in np.flatnonzero(np.isfinite(values)) if values[action] > 0]
    assert [GAME.name_action(state, options, int(action)).split("#")[0] for action in swaps] == ["swap 3GS"]
    assert values[swaps[0]] == pytest.approx((3 + 3 + 3 + 2) / 6)


# What it tells of what an action leaves.


@needs_compiled_code
def test_action_features__are_what_the_turn_leaves_when_it_is_played_on() -> None:
    """Against the rules themselves, and for the next player's turn against trying everything."""
    seen = [0] * len(GREEDY.features)
    for state, options in positions(PLAY, 8, 3, board=BOARD):
        state["wild"] = 0
        player, following = int(state["player"]), 1 - int(state["player"])
        for row in ("hand_faces", "hand_dice"):
            state[row][following, 3:] = -1  # trying everything takes too long with five dice
        view = view_of(state, options)
        near = view.masks == 1
        values = GREEDY.action_values(view)
        features = GREEDY.action_features(view, values, near)[0]
        assert not GREEDY.action_features(view, values, near & False).any()
        left = {}
        for action in np.flatnonzero(near[0]).tolist():
            played = played_on(state, options, action)
            hand = played["hand_faces"][player]
            game_over = following == state["opener"] and (hand < 0).all()
            board = played.copy()
            board["player"], board["phase"], board["laid"], board["waiting"] = following, PLAY, -1, -1
            reply = 0 if game_over else most_points(board, options)
            at_once = following != state["opener"]
            left[action] = [reply * at_once, reply * (not at_once), (hand == WILD).sum(), (hand >= 0).sum()]
        best = left[int(values[0].argmax())]
        for action, found in left.items():
            differences = [one - other for one, other in zip(found, best, strict=True)]
            assert features[[0, 1, 3, 4], action].tolist() == differences, GAME.render(state, options)
        for feature in range(len(seen)):
            seen[feature] += int((features[feature] != 0).sum())
    assert min(seen) > 0, f"every feature should tell some actions apart: {seen}"


def played_on(state: Any, options: Any, action: int) -> Any:
    """The state after an action and greedy play to the end of the turn, before the next player or round begins."""
    player, end = int(state["player"]), GAME.num_actions(options) - 1
    state = state.copy()
    while action != end:
        after = after_action(state, options, action)
        if after["player"] != player or after["phase"] != PLAY:
            # The turn is over. What a new round brings must not be seen: lay the last die by hand.
            slot, cell = divmod(action, int(np.prod(options["board"][:2])))
            row, column = 2 + cell // int(options["board"][1]), 2 + cell % int(options["board"][1])
            state["faces"][row, column] = state["hand_faces"][player, slot]
            for name in ("hand_faces", "hand_dice"):
                hand = state[name][player]
                hand[slot:-1], hand[-1] = hand[slot + 1 :].copy(), -1
            return state
        state, action = after, int(GREEDY.act(view_of(after, options))[0])
    return state
