"""Greedy play of Showdown Yahtzee, against a slow and separate reckoning with every single throw to come."""

import os
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import combinations_with_replacement, product
from math import factorial
from typing import Any

import numpy as np
import pytest

from fivedice.agents import load
from fivedice.agents.evaluation.match import evaluate
from fivedice.agents.games.showdown_yahtzee.greedy import GREEDY
from fivedice.agents.games.showdown_yahtzee.greedy_turn import turns_of
from fivedice.envs import load_game
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.view import View
from fivedice.envs.showdown_yahtzee.observe import FIXED_CHANCES, MORE_CHIPS, NUMBER_CHANCES

GAME = load_game("showdown_yahtzee")
CHIPS = (2, 3, 3, 3, 4, 2)
CARD_SPACES = [space for space in range(16) if space % 4]
KEEP_ALL, CLAIM, TARGET, STAY, MOVE_ON = 31, 31, 43, 55, 56
needs_compiled_code = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too long in plain Python")

Dice = tuple[int, ...]


@cache
def throws(number: int) -> list[tuple[Dice, float]]:
    """Every throw of so many dice, with its chance."""
    found = []
    for dice in combinations_with_replacement(range(1, 7), number):
        ways = factorial(number)
        for same in Counter(dice).values():
            ways //= factorial(same)
        found.append((dice, ways / 6**number))
    return found


@cache
def outcomes(kept: Dice) -> list[tuple[Dice, float]]:
    """All five dice after the others are thrown, with their chances."""
    return [(tuple(sorted(kept + more)), chance) for more, chance in throws(5 - len(kept))]


@cache
def ways_to_keep(dice: Dice) -> set[Dice]:
    """What may be kept of five dice; something is thrown."""
    return {
        tuple(die for die, keep in zip(dice, keeps, strict=True) if keep) for keeps in product((0, 1), repeat=5)
    } - {dice}


class Turn:
    """A turn for whatever `stop` gives for the last dice; None where the player has to go on if a throw is left."""

    def __init__(self, stop: Callable[[Dice], float | None]) -> None:
        self.stop = stop

    @cache  # noqa: B019  # lives as long as one test
    def value(self, dice: Dice, left: int) -> float:
        stopping = self.stop(dice)
        if left == 0:
            return stopping or 0.0
        going = max(self.keeping(one, left) for one in ways_to_keep(dice))
        return going if stopping is None else max(stopping, going)

    @cache  # noqa: B019
    def keeping(self, kept: Dice, left: int) -> float:
        return sum(chance * self.value(dice, left - 1) for dice, chance in outcomes(kept))

    def start(self) -> float:
        return self.keeping((), 3)


def worth(card: int, dice: Dice, chips: tuple[int, ...] = CHIPS) -> int:
    """The chips of a card that these dice place."""
    counts, faces = sorted(Counter(dice).values()), set(dice)
    if counts == [5]:
        return 5 if card < 6 else chips[card - 6]
    if card < 6:
        return dice.count(card + 1)
    met = (
        counts[-1] >= 3,
        counts[-1] >= 4,
        counts == [2, 3],
        any({low, low + 1, low + 2, low + 3} <= faces for low in (1, 2, 3)),
        len(faces) == 5 and max(faces) - min(faces) == 4,
        sum(dice) >= 25,
    )
    return chips[card - 6] if met[card - 6] else 0


def swing(state: Any, options: Any, space: int) -> Callable[[Dice], float | None]:
    """What the last dice swing for the player who plays for a space."""
    chips, beat = tuple(options["chips"].tolist()), int(options["steal"] == 1)
    card, owner, there = (int(state[name][space]) for name in ("card", "owner", "chips"))
    unused = sorted(set(range(12)) - set(state["card"].tolist()))

    def stop(dice: Dice) -> float | None:
        if card == -1:
            return max(worth(one, dice, chips) for one in unused) or None
        now, five_alike = worth(card, dice, chips), len(set(dice)) == 1
        if owner == state["player"]:
            return now - there if now > there else None
        if card < 6 and not five_alike and now < there + beat:
            return None
        return now + there if now else None

    return stop


# The chances of three throws that are known exactly.


@pytest.mark.parametrize(
    ("aim", "chance"),
    [
        (lambda dice: len(set(dice)) == 1, 0.0460),
        (lambda dice: dice.count(6) >= 1, 0.9351),
        (lambda dice: dice.count(6) >= 2, 0.69884),
        (lambda dice: dice.count(6) >= 3, 0.35485),
        (lambda dice: dice.count(6) >= 4, 0.10443),
        (lambda dice: dice.count(6) >= 5, 0.0133),
    ],
)
def test_reckoning__gives_the_chances_that_are_known(aim: Callable[[Dice], bool], chance: float) -> None:
    tolerance = 0.5 * 10 ** -len(f"{chance}".partition(".")[2].ljust(4, "0"))
    assert Turn(lambda dice: float(aim(dice)) or None).start() == pytest.approx(chance, abs=tolerance)


def test_chances__that_are_shown_are_those_of_the_cards() -> None:
    """A card is also met by five alike, so that four of one number are a little easier than by themselves."""
    for needed, chance in enumerate(NUMBER_CHANCES, 1):
        turn = Turn(lambda dice, needed=needed: float(worth(5, dice) >= needed) or None)
        assert turn.start() == pytest.approx(chance, abs=5e-6)
    for card, chance in enumerate(FIXED_CHANCES, 6):
        assert Turn(lambda dice, card=card: float(worth(card, dice) > 0) or None).start() == pytest.approx(
            chance, abs=5e-6
        )
    for there, more in enumerate(MORE_CHIPS, 1):
        assert Turn(lambda dice, there=there: max(0, worth(0, dice) - there) or None).start() == pytest.approx(
            more, abs=5e-6
        )


# Its decisions.


def positions(count: int, seed: int, **options: Any) -> tuple[View, Batch]:
    """Decisions of games between greedy and random play, every kind among them."""
    batch = Batch(GAME, 200, **options)
    batch.reset(seed=seed)
    generator, kept, greedy, rows = np.random.default_rng(seed), [], load("greedy"), batch.all_rows
    for step in range(60):
        view = batch.view(rows)
        kept += [view.rows(np.flatnonzero(generator.random(len(rows)) < count / 4000))] if step else []
        actions = greedy.act(view)
        careless = generator.random(len(rows)) < 0.2
        chances = generator.random(view.masks.shape) * view.masks
        batch.step(np.where(careless, chances.argmax(axis=1), actions), rows, restart=False)
        rows = rows[~batch.over[rows]]
    view = View(
        GAME,
        batch.options,
        np.concatenate([view.states for view in kept]),
        np.concatenate([view.seats for view in kept]),
        np.concatenate([view.observations for view in kept]),
        np.concatenate([view.masks for view in kept]),
        np.concatenate([view.uniforms for view in kept]),
    )
    return view, batch


class Reckoner:
    """What every action is worth, remembered by stake."""

    def __init__(self, options: Any) -> None:
        self.options, self.turns = options, dict[Any, Turn]()

    def turn(self, state: Any, space: int) -> Turn:
        key = (int(state["card"][space]), int(state["chips"][space]), state["owner"][space] == state["player"])
        if key[0] == -1:
            key = tuple(sorted(state["card"].tolist()))  # type: ignore[assignment]
        if key not in self.turns:
            self.turns[key] = Turn(swing(state.copy(), self.options, space))
        return self.turns[key]

    def value(self, state: Any, action: int) -> float:
        player = int(state["player"])
        if action < KEEP_ALL:
            kept = tuple(int(die) for slot, die in enumerate(state["dice"]) if action >> slot & 1)
            return self.turn(state, int(state["target"])).keeping(kept, int(state["throws_left"]))
        if action < TARGET:
            space = int(state["target"])
            now = worth(action - CLAIM, tuple(state["dice"].tolist()), tuple(self.options["chips"].tolist()))
            there = int(state["chips"][space])
            return now - there if state["owner"][space] == player else now + there
        if action < STAY:
            return self.turn(state, CARD_SPACES[action - TARGET]).start()
        here = int(state["pawns"][player])
        return self.turn(state, here).start() if action == STAY else self.moving_on(state, here)

    def moving_on(self, state: Any, here: int) -> float:
        """By a thousand rounds of looking one throw of the red die ahead."""
        player = int(state["player"])
        others = [space for space in CARD_SPACES if state["owner"][space] != player]
        promise = [0.0] * 16
        for _ in range(1000):
            before = promise
            promise = []
            for space in range(16):
                ahead = sum(before[(space + red) % 16] for red in range(1, 7)) / 6
                if space % 4 == 0:
                    promise.append(max(self.turn(state, other).start() for other in others))
                elif state["owner"][space] != player:
                    promise.append(self.turn(state, space).start())
                elif state["card"][space] < 6 and state["chips"][space] < 5:
                    promise.append(max(ahead, self.turn(state, space).start()))
                else:
                    promise.append(ahead)
        return sum(promise[(here + red) % 16] for red in range(1, 7)) / 6


@pytest.mark.parametrize("options", [{}, {"steal": "beat", "chips": (1, 9, 2, 2, 7, 1), "num_players": 3}], ids=str)
def test_greedy__takes_the_best_of_all_actions(options: dict[str, Any]) -> None:
    view, _ = positions(70, seed=3, **options)
    reckoner, kinds = Reckoner(view.options), Counter[str]()
    told = GREEDY.action_values(view)
    for state, mask, found, action in zip(
        view.states, view.masks, told, load("greedy").act(view).tolist(), strict=True
    ):
        legal = np.flatnonzero(mask).tolist()
        values = {one: reckoner.value(state, one) for one in legal}
        assert found.tolist() == pytest.approx([values.get(one, -np.inf) for one in range(57)], abs=1e-9)
        best = max(values.values())
        assert mask[action]
        assert values[action] == pytest.approx(best, abs=1e-9)
        equal = [one for one in legal if values[one] > best - 1e-9]
        claims = [one for one in equal if CLAIM <= one < TARGET]
        assert action == (claims or equal)[0]
        kinds["keep" if action < CLAIM else "claim" if action < TARGET else "target" if action < STAY else "stay"] += 1
    assert set(kinds) == {"keep", "claim", "target", "stay"}


@pytest.mark.parametrize(
    ("own", "rivals", "choice"),
    [
        (1, (4, 5), STAY),  # nothing but a Yahtzee takes the rival's Fives
        (2, (4, 5), STAY),
        (3, (4, 5), MOVE_ON),  # four Twos are as seldom as the way to the Fives is long
        (1, (4, 2), MOVE_ON),  # two dice take them
        (1, (10, 4), MOVE_ON),  # a Large Straight takes it
    ],
)
def test_greedy__stays_where_that_promises_more(own: int, rivals: tuple[int, int], choice: int) -> None:
    """The player stands on its own Twos and owns all cards, full, but for one of its rival."""
    options = GAME.make_options(2, {})
    state = np.zeros(1, GAME.rules.STATE)
    one = state[0]
    one["card"], one["owner"], one["target"], one["throws_left"], one["turns"] = -1, -1, -1, 3, 9
    for card, space in enumerate(CARD_SPACES):
        one["card"][space], one["owner"][space], one["chips"][space] = card, 0, 5 if card < 6 else CHIPS[card - 6]
    here, there = CARD_SPACES[1], CARD_SPACES[rivals[0]]
    one["pawns"][0], one["chips"][here] = here, own
    one["owner"][there], one["chips"][there] = 1, rivals[1]
    mask = np.zeros((1, 57), np.int8)
    GAME.rules.legal_actions(one, options, mask[0])
    assert np.flatnonzero(mask[0]).tolist() == [STAY, MOVE_ON]
    nothing = np.zeros((1, 0), np.float32)
    view = View(GAME, options, state, np.zeros(1, np.int8), nothing, mask, np.zeros(1))
    reckoner = Reckoner(options)
    expected = [reckoner.value(one, action) for action in (STAY, MOVE_ON)]
    assert (expected[0] > expected[1] + 0.01) == (choice == STAY)
    assert load("greedy").act(view).tolist() == [choice]
    told = GREEDY.action_values(view)
    assert told[0, [STAY, MOVE_ON]].tolist() == pytest.approx(expected, abs=1e-9)


@needs_compiled_code
def test_greedy__beats_random() -> None:
    standings = evaluate(GAME, {"greedy": load("greedy"), "random": load("random")}, games=400, num_players=2, seed=0)
    assert standings[0].wins["random"].mean > 0.99
    assert standings[0].points.mean > 30


def test_turns__are_reckoned_once_for_a_choice_of_options() -> None:
    options = [GAME.make_options(seats, {"steal": steal}) for seats in (2, 3) for steal in ("match", "beat")]
    assert turns_of(options[0]) is turns_of(options[2])
    assert turns_of(options[0]) is not turns_of(options[1])


def test_greedy__refuses_another_game() -> None:
    batch = Batch(load_game("yum"), 1)
    batch.reset(seed=1)
    with pytest.raises(ValueError, match="plays Showdown Yahtzee, not Yum"):
        load("greedy").of(GAME).act(batch.view())  # type: ignore[attr-defined]


# What else an action promises.


@pytest.mark.parametrize("options", [{}, {"steal": "beat", "chips": (1, 4, 2, 2, 4, 1), "num_players": 3}], ids=str)
def test_features__are_what_turns_played_for_them_alone_promise(options: dict[str, Any]) -> None:
    view, _ = positions(12, seed=5, **options)
    greedy = GREEDY
    features = greedy.action_features(view, greedy.action_values(view), view.masks == 1)
    chips, beat = tuple(view.options["chips"].tolist()), int(view.options["steal"] == 1)

    def lasting(card: int, number: int) -> float:
        needed = min(5, number + beat)
        taken = FIXED_CHANCES[card - 6] if card >= 6 else NUMBER_CHANCES[needed - 1]
        return number * (1 - taken)

    def placed(card: int, number: int) -> float:
        return 1.0

    def nothing(card: int, number: int) -> float:
        return 0.0

    def as_it_is(card: int, number: int) -> float:
        return float(number)

    kinds = [(lasting, lasting), (nothing, as_it_is), (placed, lambda card, number: -1.0)]
    reckoners = [Weighed(view.options, chips, beat, put, taken) for put, taken in kinds]
    told = [0, 0, 0]
    for state, mask, best, found in zip(
        view.states, view.masks, greedy.action_values(view).argmax(axis=1), features, strict=True
    ):
        if state["last_turns"]:
            continue
        for kind, reckoner in enumerate(reckoners):
            for action in np.flatnonzero(mask).tolist():
                if action < 31 and action % 10:
                    continue  # a slow reckoning: some of the sets to keep
                expected = reckoner.value(state, action) - reckoner.value(state, best)
                assert found[kind, action] == pytest.approx(expected, abs=2e-4)
                told[kind] += abs(expected) > 1e-3
            assert not found[kind, mask == 0].any()
    assert min(told) > 10


def test_features__there_are_none_in_the_showdown() -> None:
    """The same decisions, as if the Showdown had begun in some of them."""
    view, _ = positions(60, seed=6)
    view.states["last_turns"] = 0
    greedy = GREEDY
    values, near = greedy.action_values(view), view.masks == 1
    before = greedy.action_features(view, values, near)
    view.states["last_turns"][::2] = np.arange(len(view))[::2] % 3 + 1
    after = greedy.action_features(view, values, near)
    assert before[::2].any()
    assert not after[::2].any()
    assert np.array_equal(after[1::2], before[1::2])


class Weighed(Reckoner):
    """The same, where chips that are put on a card and chips that an opponent loses there are worth what one says."""

    def __init__(self, options: Any, chips: tuple[int, ...], beat: int, put: Any, taken: Any) -> None:
        super().__init__(options)
        self.chips, self.beat, self.put, self.taken = chips, beat, put, taken

    def turn(self, state: Any, space: int) -> Turn:
        card, owner, there = (int(state[name][space]) for name in ("card", "owner", "chips"))
        unused = tuple(sorted(set(range(12)) - set(state["card"].tolist())))
        mine = owner == state["player"]
        key = unused if card == -1 else (card, there, mine)
        if key not in self.turns:
            self.turns[key] = Turn(lambda dice: self.stop(dice, card, there, mine, unused) or None)
        return self.turns[key]

    def stop(self, dice: Dice, card: int, there: int, mine: bool, unused: tuple[int, ...]) -> float | None:
        if card == -1:
            met = [(one, worth(one, dice, self.chips)) for one in unused]
            return max((self.put(one, chips) for one, chips in met if chips), default=None)
        now = worth(card, dice, self.chips)
        if mine:
            return max(0.0, self.put(card, now) - self.put(card, there)) if now > there else None
        if card < 6 and len(set(dice)) > 1 and now < there + self.beat:
            return None
        return self.put(card, now) + self.taken(card, there) if now else None

    def value(self, state: Any, action: int) -> float:
        if not KEEP_ALL <= action < TARGET:
            return super().value(state, action)
        space, card = int(state["target"]), action - CLAIM
        worth_now = self.put(card, worth(card, tuple(state["dice"].tolist()), self.chips))
        there = int(state["chips"][space])
        if not there:
            return float(worth_now)
        if state["owner"][space] == state["player"]:
            return float(worth_now - self.put(card, there))
        return float(worth_now + self.taken(card, there))
