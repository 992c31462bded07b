"""The fast look-ahead of greedy play, and its EXTRA roll, against plain searches: their values are identical."""

import os
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fivedice.agents.games.set_cubed.greedy import GREEDY, swap_points
from fivedice.agents.games.set_cubed.greedy_extra import SHOWS, Points, look_at_board
from fivedice.agents.games.set_cubed.greedy_turn import best_lay
from fivedice.agents.games.set_cubed.throws import KEEP_BONUS
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.random_play import pick
from fivedice.envs.core.spec import Options, State
from fivedice.envs.set_cubed import GAME
from fivedice.envs.set_cubed.actions import end_action, keep_action, slot_and_cell
from fivedice.envs.set_cubed.board import is_undeclared
from fivedice.envs.set_cubed.dice import ALL_WITH_WILD, SIDES, face_on
from fivedice.envs.set_cubed.hand import hand_size, with_slot
from fivedice.envs.set_cubed.rules import EXTRA, PLAY, is_swap, lay_or_declare

SMALL = "......./.4.9.4./...*.../.1.*.1./...*.../.4.9.4./......."
KEPT = SIDES  # a die that is thrown shows side 0 to 5; this number says that it is kept


@kernel(allocates=True)
def write_plain(states: Any, options: Options, masks: NDArray[np.int8], values: NDArray[np.float64]) -> None:
    """Write the values of `write_values` outside the opening: a search of its own for each action."""
    spare = states[:1].copy()
    for i in range(len(states)):
        state = states[i]
        if state["phase"] == EXTRA:
            keeps = np.zeros(1 << hand_size(state["hand_faces"][state["player"]]))
            plain_keeps(state, options, keeps)
            values[i, keep_action(options) : keep_action(options) + len(keeps)] = keeps
        for action in range(masks.shape[1]):
            if state["phase"] != PLAY or not masks[i, action]:
                continue
            if action == end_action(options):
                values[i, action] = 0.0
            elif is_swap(state, options, action):
                slot, cell = slot_and_cell(options, action)
                values[i, action] = swap_points(state, options, slot, cell)
            else:
                spare[0] = state
                before = int(state["scores"][state["player"]])
                lay_or_declare(spare[0], options, action)
                gained = int(spare[0]["scores"][state["player"]]) - before
                values[i, action] = gained + best_lay(spare[0], options)[1]


@kernel(allocates=True)
def plain_keeps(state: State, options: Options, values: NDArray[np.float64]) -> None:
    """Add the expected points of keeping each set of slots, and KEEP_BONUS for each die kept, to zeros (2 ** dice,)."""
    singles, pairs = np.zeros(SHOWS, np.int64), np.zeros((SHOWS, SHOWS), np.int64)
    look_at_board(state, options, singles, pairs)
    player = state["player"]
    dice, shown = state["hand_dice"][player], state["hand_faces"][player]
    size = hand_size(shown)
    # An odometer with a wheel for each die goes through its six sides and through keeping it. The first die has no
    # wheel: the loop tries all its cases for each position of the wheels, because they share the values of the others.
    wheels, hand, without = np.zeros(size, np.int8), np.zeros(size, np.int8), np.zeros(size, np.int64)
    while True:
        keep, weight, kept = 0, 1.0, 0
        for slot in range(1, size):
            if wheels[slot] == KEPT:
                keep = with_slot(keep, slot)
                kept += 1
                hand[slot] = shown[slot]
            else:
                weight /= SIDES
                hand[slot] = face_on(options, int(dice[slot]), int(wheels[slot]))
        others = look_at_others(hand, singles, pairs, without)
        for side in range(SIDES):
            hand[0] = face_on(options, int(dice[0]), side)
            value = value_with_first(hand, others, without, singles, pairs)
            values[keep] += weight / SIDES * value + KEEP_BONUS * kept * (weight / SIDES)
        hand[0] = shown[0]
        value = value_with_first(hand, others, without, singles, pairs)
        values[with_slot(keep, 0)] += weight * value + KEEP_BONUS * (kept + 1) * weight
        slot = 1
        while slot < size and wheels[slot] == KEPT:
            wheels[slot] = 0
            slot += 1
        if slot >= size:
            return
        wheels[slot] += 1


@kernel
def look_at_others(
    hand: NDArray[np.int8], singles: Points, pairs: Points, without: NDArray[np.int64]
) -> tuple[int, int, int, int]:
    """The points of all dice of a hand except the first one.

    Writes into `without` (dice,) the most points of one die alone if the die of this slot is not used.

    Returns:
        The sum of the three dice that score the most alone, the lowest of these three, the best pair, and the best pair
        with the best other die.
    """
    first, second, least, best = 0, 0, 0, 0  # the most points of a die alone, the next two, and the slot of the most
    for slot in range(1, len(hand)):
        points = singles[hand[slot]]
        if points > first:
            first, second, least, best = points, first, second, slot
        elif points > second:
            second, least = points, second
        elif points > least:
            least = points
    for slot in range(1, len(hand)):
        without[slot] = second if slot == best else first
    pair, pair_and_die = 0, 0
    for slot in range(2, len(hand)):
        for other in range(1, slot):
            points = pairs[hand[other], hand[slot]]
            if points > 0:
                left = first
                if best in (slot, other):
                    partner = other if slot == best else slot
                    left = least if singles[hand[partner]] == second else second
                pair = max(pair, points)
                pair_and_die = max(pair_and_die, points + left)
    return first + second + least, least, pair, pair_and_die


@kernel
def value_with_first(
    hand: NDArray[np.int8],
    others: tuple[int, int, int, int],
    without: NDArray[np.int64],
    singles: Points,
    pairs: Points,
) -> int:
    """The estimated points of a turn with these dice. `look_at_others` computes `others` and `without`."""
    three, least, pair, pair_and_die = others
    alone = singles[hand[0]]
    value = max(three + max(0, alone - least), pair_and_die)
    if pair > 0:
        value = max(value, pair + alone)
    for slot in range(1, len(hand)):
        points = pairs[hand[0], hand[slot]]
        if points > 0:
            value = max(value, points + without[slot])
    return int(value)


# Greedy play with some random decisions, on several boards, with usual dice and with many WILDs.
GAMES = {
    "two": (2, {}, 150, 0.1),
    "three": (3, {}, 40, 0.3),
    "small board": (4, {"board": SMALL}, 40, 0.3),
    "WILDs": (2, {"dice": ALL_WITH_WILD}, 3, 0.1),
}


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too long in plain Python")
@pytest.mark.parametrize("name", GAMES)
def test_action_values__are_equal_to_the_last_bit_to_those_of_a_plain_search(name: str) -> None:
    """Tens of thousands of positions, over whole games."""
    num_players, options, number, mixed = GAMES[name]
    batch = Batch(GAME, number, num_players=num_players, **options)
    batch.reset(8)
    generator = np.random.default_rng(8)
    seen = dict.fromkeys(("turn", "laid", "undeclared", "waiting", "extra", "few dice"), 0)
    rows = batch.all_rows
    while len(rows):
        view = batch.view(rows)
        states = view.states
        expected = np.full(view.masks.shape, -np.inf)
        write_plain(states.copy(), view.options, view.masks, expected)
        values = GREEDY.action_values(view)
        asked = (states["phase"] == PLAY) | (states["phase"] == EXTRA)
        assert np.array_equal(values[asked], expected[asked])
        in_turn = states["phase"] == PLAY
        seen["turn"] += in_turn.sum()
        seen["laid"] += (in_turn & (states["laid"][:, 0] >= 0)).sum()
        seen["waiting"] += (in_turn & (states["waiting"] >= 0)).sum()
        seen["undeclared"] += sum(in_turn[row] and is_undeclared(states[row], view.options) for row in range(len(rows)))
        extra = states["phase"] == EXTRA
        seen["extra"] += extra.sum()
        sizes = (states["hand_faces"][np.arange(len(rows)), view.seats] >= 0).sum(axis=1)
        seen["few dice"] += (extra & (sizes < 5)).sum()
        drawn = np.empty(len(rows), np.int64)
        pick(view.masks, generator.random(len(rows)), drawn)
        actions = np.where(generator.random(len(rows)) < mixed, drawn, GREEDY.act(view))
        batch.step(actions, rows, restart=False)
        rows = rows[~batch.over[rows]]
    assert min(seen.values()) > 0, f"every kind of decision should have come: {seen}"
