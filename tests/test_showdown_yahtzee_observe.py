"""What a seat of Showdown Yahtzee sees, piece by piece against the state."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from fivedice.agents import load
from fivedice.envs import load_game
from fivedice.envs.batch import Batch
from fivedice.envs.showdown_yahtzee.observe import FIXED_CHANCES, MORE_CHIPS, NUMBER_CHANCES, useful_dice

GAME = load_game("showdown_yahtzee")
SPACES = [space for space in range(16) if space % 4]
THREE, FOUR, FULL_HOUSE, SMALL, LARGE, CHANCE = range(6, 12)


def states(num_players: int, **options: Any) -> tuple[Batch, list[Any]]:
    """States of games between greedy and random play, from the first to the last."""
    batch, generator, found = Batch(GAME, 12, num_players=num_players, **options), np.random.default_rng(1), []
    batch.reset(seed=1)
    rows = batch.all_rows
    while len(rows):
        found += [batch.states[row].copy() for row in rows if generator.random() < 0.15]
        actions = load("greedy").act(batch.view(rows))
        chances = generator.random((len(rows), 57)) * batch.masks[rows]
        batch.step(np.where(generator.random(len(rows)) < 0.2, chances.argmax(axis=1), actions), rows, restart=False)
        rows = rows[~batch.over[rows]]
    return batch, found + [state.copy() for state in batch.states]


def one_hot(place: int, size: int) -> list[float]:
    return [float(at == place) for at in range(size)]


@pytest.mark.parametrize(
    ("num_players", "options"),
    [(2, {}), (3, {"steal": "beat", "chips": (1, 9, 2, 2, 7, 1)}), (4, {"max_turns": 50})],
    ids=str,
)
def test_observation__is_what_the_table_says(num_players: int, options: dict[str, Any]) -> None:
    batch, found = states(num_players, **options)
    layout, chips, max_turns = batch.layout, batch.options["chips"].tolist(), int(batch.options["max_turns"])
    beat = batch.options["steal"] == 1
    most_card, most_board = max(5, *chips), 30 + sum(chips)
    stakes = Counter[int]()
    for state in found:
        over = bool(GAME.rules.is_terminal(state, batch.options))
        mask = np.zeros(57, np.int8)
        GAME.rules.legal_actions(state, batch.options, mask)
        player, target, dice = int(state["player"]), int(state["target"]), state["dice"].tolist()
        here = {s: int(state["card"][s]) for s in SPACES}
        unused = set(range(12)) - set(here.values())
        for seat in range(num_players):
            out = np.full(layout.size, np.nan, np.float32)
            GAME.observe(state, batch.options, seat, out)
            seen = {name: values.astype(float) for name, values in layout.named(out).items()}
            turn = [(seat + i) % num_players for i in range(num_players)]
            assert seen["mover"].tolist() == [float(other == player and not over) for other in turn]
            assert seen["unused"].tolist() == [float(card in unused) for card in range(12)]
            assert seen["throws_left"].tolist() == one_hot(int(state["throws_left"]), 4)
            for number, space in enumerate(SPACES):
                assert seen["card"][number].tolist() == one_hot(here[space], 12)
                owner = [float(state["owner"][space] == other) for other in turn]
                assert seen["owner"][:, number].tolist() == owner
                assert seen["chips"][number] == pytest.approx(state["chips"][space] / most_card)
            for i, other in enumerate(turn):
                assert seen["pawns"][i].tolist() == one_hot(int(state["pawns"][other]), 16)
                own = sum(int(state["chips"][s]) for s in SPACES if state["owner"][s] == other)
                assert seen["score"][i] == pytest.approx(own / most_board)
            others = max(seen["score"][1:])
            assert seen["lead"][0] == pytest.approx(seen["score"][0] - others, abs=1e-6)
            assert seen["showdown"][0] == (state["last_turns"] > 0) == (not unused and state["last_turns"] > 0)
            had = {(player - i) % num_players for i in range(min(num_players, int(state["last_turns"])))}
            assert seen["last_turn"].tolist() == [float(other in had) for other in turn]
            assert seen["turns_left"][0] == pytest.approx(max(0, max_turns - state["turns"]) / max_turns)

            def gives(space: int, seat: int = seat, state: Any = state) -> float:
                card, there = int(state["card"][space]), int(state["chips"][space])
                if card == -1:
                    return 0.0
                if state["owner"][space] == seat:
                    can_stay = card < 6 and there < 5 and state["last_turns"] == 0
                    return MORE_CHIPS[there - 1] if can_stay else 0.0
                chance = NUMBER_CHANCES[min(5, there + beat) - 1] if card < 6 else FIXED_CHANCES[card - 6]
                return chance * there

            at = int(state["pawns"][seat])
            worth = [gives(s) / most_card if state["owner"][s] not in (-1, seat) else 0.0 for s in SPACES]
            assert seen["worth"].tolist() == pytest.approx(worth)
            firm = [0.0] * 12
            for i, other in enumerate(turn):
                held, lasting = [0.0] * 12, [0.0] * 12
                for s in SPACES:
                    if state["owner"][s] == other:
                        card, there = here[s], int(state["chips"][s])
                        chance = NUMBER_CHANCES[min(5, there + beat) - 1] if card < 6 else FIXED_CHANCES[card - 6]
                        held[card], lasting[card] = there / most_card, there / most_card * (1 - chance)
                        firm[SPACES.index(s)] = lasting[card]
                assert seen["held"][i].tolist() == pytest.approx(held)
                assert seen["lasting"][i].tolist() == pytest.approx(lasting)
            assert seen["firm"].tolist() == pytest.approx(firm)
            played_for = [worth[SPACES.index(target)], firm[SPACES.index(target)]] if target != -1 else [0.0, 0.0]
            assert seen["at_stake"].tolist() == pytest.approx(played_for)
            for step in range(6):
                space = (at + step + 1) % 16
                corner, empty = space % 4 == 0, state["card"][space] == -1
                is_own = state["owner"][space] == seat
                figures = [empty and not corner, is_own, corner, gives(space) / most_card]
                assert seen["ahead"][step].tolist() == pytest.approx([float(figure) for figure in figures])
            more = gives(at) / most_card if state["owner"][at] == seat else 0.0
            assert seen["more"][0] == pytest.approx(more)
            if over:
                continue
            # What the mover has to decide.
            if target == -1:
                stake = 3 if player >= 0 and state["pawns"][player] % 4 == 0 else 4
                assert not seen["dice"].any()
                assert not seen["wanted"].any()
                assert not seen["target"].any()
            else:
                stake = 0 if here[target] == -1 else 2 if state["owner"][target] == player else 1
                wanted = unused if stake == 0 else {here[target]}
                assert seen["dice"].argmax(axis=1).tolist() == [die - 1 for die in dice]
                assert (seen["dice_counts"] * 5).round().tolist() == [dice.count(face) for face in range(1, 7)]
                assert seen["dice_total"][0] == pytest.approx(sum(dice) / 30)
                assert seen["target"].tolist() == one_hot(SPACES.index(target), 12)
                assert seen["wanted"].tolist() == [float(card in wanted) for card in range(12)]
                same = [dice.count(die) / 5 if die - 1 in wanted else 0.0 for die in dice]
                assert seen["same"].tolist() == pytest.approx(same)
                needed = 0
                if stake and here[target] < 6:
                    needed = int(state["chips"][target]) + (beat or stake == 2)
                assert seen["least_dice"][0] == pytest.approx(needed / 6)
                for card in range(12):
                    kept = [slot for slot in range(5) if useful_dice(card, state["dice"]) >> slot & 1]
                    shown = [float(card in wanted and slot in kept) for slot in range(5)]
                    assert seen["useful"][card].tolist() == shown
            assert seen["stake"].tolist() == one_hot(stake, 5)
            assert (seen["chips_now"] > 0).tolist() == mask[31:43].astype(bool).tolist()
            stakes[stake] += 1
    assert set(stakes) >= ({0, 1, 3} if num_players == 4 else {0, 1, 2, 3, 4})


@pytest.mark.parametrize(
    ("card", "dice", "kept"),
    [
        (1, (1, 2, 2, 4, 6), (2, 2)),
        (5, (1, 2, 2, 4, 5), ()),
        (THREE, (1, 2, 2, 4, 6), (2, 2)),
        (FOUR, (1, 1, 2, 6, 6), (6, 6)),  # the higher of two pairs
        (FULL_HOUSE, (1, 1, 2, 6, 6), (1, 1, 6, 6)),
        (FULL_HOUSE, (3, 3, 3, 3, 6), (3, 3, 3)),
        (FULL_HOUSE, (1, 2, 3, 4, 6), ()),
        (SMALL, (1, 2, 2, 4, 6), (1, 2, 4)),
        (SMALL, (1, 2, 3, 3, 5), (2, 3, 5)),  # equally near: the middle one
        (SMALL, (1, 3, 4, 6, 6), (1, 3, 4)),
        (LARGE, (2, 2, 3, 4, 6), (2, 3, 4, 6)),
        (LARGE, (1, 2, 3, 4, 4), (1, 2, 3, 4)),
        (CHANCE, (1, 4, 5, 5, 6), (5, 5, 6)),
    ],
)
def test_useful__is_what_a_player_keeps(card: int, dice: tuple[int, ...], kept: tuple[int, ...]) -> None:
    useful = useful_dice(card, np.array(dice, np.int8))
    assert tuple(die for slot, die in enumerate(dice) if useful >> slot & 1) == kept
