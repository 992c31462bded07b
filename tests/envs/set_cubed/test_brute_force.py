"""SET Cubed told a second time, with sets and loops and none of the rules' code, on positions from random play."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from fivedice.envs.core.batch import Batch
from fivedice.envs.core.chance import new_script, new_streams
from fivedice.envs.set_cubed import GAME, rules
from fivedice.envs.set_cubed.dice import ALL_WITH_WILD

Cell = tuple[int, int]

SQUARE = "/".join(["." * 7, ".3...3.", "..***..", ".......", ".9...9.", "." * 7, "." * 7])
TALL = "/".join([".2....2.", *["........"] * 3, "...*....", "...*....", "...*....", *["....1..."] * 6])
WIDE = "/".join(["." * 15] * 3 + ["......***......"] + ["..5.........5.."] * 3)
TABLES: list[dict[str, Any]] = [
    {},
    {"num_players": 3, "dice": ALL_WITH_WILD},
    {"num_players": 4, "board": SQUARE},
    {"board": SQUARE, "dice": ALL_WITH_WILD},
    {"board": TALL, "dice": ALL_WITH_WILD},
    {"board": WIDE},
]


def features(face: int) -> tuple[int, int, int]:
    return face // 9, face // 3 % 3, face % 3


def is_set(faces: tuple[int, ...]) -> bool:
    return all({a, b, c} == {a} or len({a, b, c}) == 3 for a, b, c in zip(*map(features, faces), strict=True))


@cache
def can_be_set(shown: tuple[int, ...]) -> bool:
    """Whether three dice can be a SET, 27 being a WILD that may be any face."""
    return any(is_set(faces) for faces in itertools.product(*(range(27) if s == 27 else (s,) for s in shown)))


@cache
def declared(shown: tuple[int, ...]) -> frozenset[int]:
    """What the first of three dice, a WILD, can be in a SET with the others."""
    return frozenset(face for face in range(27) if can_be_set((face, *shown[1:])))


@dataclass
class Position:
    """A state in plain words; cells are (row, column) from 0."""

    rows: int
    columns: int
    bonuses: dict[Cell, int]
    logo: set[Cell]
    board: dict[Cell, int]  # faces; 27 until it is declared
    wilds: set[Cell]
    laid: list[Cell]
    waiting: Cell | None
    hand: list[int]
    phase: str

    @staticmethod
    def of(state: Any, options: Any) -> "Position":
        rows, columns = options["board"][:2].tolist()
        cells = list(itertools.product(range(rows), range(columns)))
        printed = dict(zip(cells, options["board"][2:].tolist(), strict=False))
        faces, wild = state["faces"][2:, 2:], state["wild"][2:, 2:]
        hand = state["hand_faces"][state["player"]]
        return Position(
            rows=rows,
            columns=columns,
            bonuses={cell: value for cell, value in printed.items() if 1 <= value <= 9},
            logo={cell for cell, value in printed.items() if value == 10},
            board={cell: int(faces[cell]) for cell in cells if faces[cell] >= 0},
            wilds={cell for cell in cells if wild[cell]},
            laid=[cells[number] for number in state["laid"].tolist() if number >= 0],
            waiting=None if state["waiting"] < 0 else cells[int(state["waiting"])],
            hand=[int(face) for face in hand if face >= 0],
            phase=("opening", "play", "extra", "over")[state["phase"]],
        )

    def windows(self) -> Iterator[tuple[Cell, ...]]:
        yield from _windows(self.rows, self.columns)

    def sets(self) -> set[tuple[Cell, ...]]:
        return {
            window
            for window in self.windows()
            if all(self.board.get(cell, 27) < 27 for cell in window) and is_set(tuple(self.board[c] for c in window))
        }

    def legal(self) -> set[tuple[Any, ...]]:
        if self.phase == "over":
            return set()
        if self.phase == "extra":
            size = len(self.hand)
            return {("keep", kept) for n in range(size + 1) for kept in itertools.combinations(range(size), n)}
        if self.laid and self.board[self.laid[-1]] == 27:
            return {("declare", face) for face in self.declarations()}
        if self.phase == "opening":
            return set(self.openings())
        lays = set(self.completing()) | set(self.firsts()) | set(self.swaps())
        return lays if self.waiting else lays | {("end",)}

    def declarations(self) -> set[int]:
        own = self.laid[-1]
        if self.phase == "opening":
            others = [self.board[cell] for cell in self.laid[:-1]]
            rest = itertools.permutations(self.hand, 3 - len(self.laid))
            return {face for dice in rest for face in declared((27, *others, *dice))}
        found = set()
        for window in self.windows():
            if own not in window:
                continue
            others = [cell for cell in window if cell != own]
            lying = [self.board[cell] for cell in others if cell in self.board]
            if len(lying) == 2 and (self.waiting is None or self.waiting in others):
                found |= declared((27, *lying))
            if len(lying) == 1 and self.waiting is None and len(self.laid) < 3:
                for die in self.hand:
                    found |= declared((27, *lying, die))
        return found

    def openings(self) -> Iterator[tuple[Any, ...]]:
        lying = [self.board[cell] for cell in self.laid]
        free = self.logo - set(self.board)
        for slots in itertools.permutations(range(len(self.hand)), 3 - len(lying)):
            if can_be_set((*lying, *(self.hand[slot] for slot in slots))):
                yield from (("lay", slots[0], cell) for cell in free)

    def completing(self) -> Iterator[tuple[Any, ...]]:
        for window in self.windows():
            free = [cell for cell in window if cell not in self.board]
            if len(free) == 1 and (self.waiting is None or self.waiting in window):
                lying = [self.board[cell] for cell in window if cell in self.board]
                for slot, die in enumerate(self.hand):
                    if can_be_set((*lying, die)):
                        yield "lay", slot, free[0]

    def firsts(self) -> Iterator[tuple[Any, ...]]:
        if self.waiting is not None or len(self.laid) > 1:
            return
        for window in self.windows():
            free = [cell for cell in window if cell not in self.board]
            if len(free) == 2:
                lying = [self.board[cell] for cell in window if cell in self.board]
                for slot, other in itertools.permutations(range(len(self.hand)), 2):
                    if can_be_set((*lying, self.hand[slot], self.hand[other])):
                        yield from (("lay", slot, cell) for cell in free)

    def swaps(self) -> Iterator[tuple[Any, ...]]:
        if not self.laid:
            for cell in self.wilds:
                for slot, die in enumerate(self.hand):
                    if die == self.board[cell]:
                        yield "lay", slot, cell


@cache
def _windows(rows: int, columns: int) -> tuple[tuple[Cell, ...], ...]:
    across = [tuple((r, c + i) for i in range(3)) for r in range(rows) for c in range(columns - 2)]
    down = [tuple((r + i, c) for i in range(3)) for r in range(rows - 2) for c in range(columns)]
    return tuple(across + down)


def named(action: int, position: Position) -> tuple[Any, ...]:
    cells = position.rows * position.columns
    if action < 5 * cells:
        return "lay", action // cells, divmod(action % cells, position.columns)
    if action < 5 * cells + 27:
        return "declare", action - 5 * cells
    if action < 5 * cells + 59:
        return "keep", tuple(slot for slot in range(5) if (action - 5 * cells - 27) >> slot & 1)
    return ("end",)


def gained(before: Position, action: tuple[Any, ...], after_board: dict[Cell, int]) -> int:
    """The points of an action, from all SETs on the board before and after it."""
    if action[0] not in ("lay", "declare") or (action[0] == "lay" and action[2] in before.board):
        return 0
    is_wild = action[0] == "lay" and before.hand[action[1]] == 27
    new_wilds = before.wilds & set(before.laid)
    after = Position(**{**vars(before), "board": after_board})
    points = sum(cell not in new_wilds for window in after.sets() - before.sets() for cell in window)
    assert not is_wild or points == 0  # it is not declared yet
    return points + (before.bonuses.get(action[2], 0) if action[0] == "lay" else 0)


def check_turn(old: set[Cell], position: Position) -> None:
    """Every die laid in a turn is in a SET, and these hang, SET by SET, on one with a die that lay there before."""
    hanging, sets = set(old), position.sets()
    while True:
        more = {cell for window in sets if hanging & set(window) for cell in window} - hanging
        if not more:
            break
        hanging |= more
    assert set(position.laid) <= hanging
    assert all(any(cell in window for window in sets) for cell in position.laid)


@pytest.mark.parametrize("table", TABLES, ids=range(len(TABLES)))
def test_random_play__agrees_with_the_brute_force(table: dict[str, Any]) -> None:
    """Legal actions and points at 600 decisions a table, 3600 in all."""
    generator = np.random.default_rng(5)
    batch = Batch(GAME, 8, reward="score", **table)
    batch.reset(seed=7)
    seen = dict.fromkeys(("declare", "waiting", "swap", "keep", "opening", "wild"), 0)
    checked = 0
    starts: list[set[Cell]] = [set() for _ in range(8)]
    while checked < 600:
        actions = np.zeros(8, np.int64)
        before = [Position.of(state, batch.options) for state in batch.states]
        for row, position in enumerate(before):
            legal = np.flatnonzero(batch.masks[row]).tolist()
            words = {named(action, position): action for action in legal}
            assert set(words) == position.legal()
            checked += 1
            lays = [action for name, action in words.items() if name[0] != "end"]
            ends = generator.random() < 0.1 or not lays
            actions[row] = generator.choice(legal if ends else lays)
            if not position.laid:
                starts[row] = set(position.board)
        player = batch.movers.copy()
        batch.step(actions)
        for row, position in enumerate(before):
            if batch.terminated[row]:
                continue
            action = named(int(actions[row]), position)
            after = Position.of(batch.states[row], batch.options)
            assert batch.rewards[row, player[row]] == gained(position, action, after.board), (position, action)
            assert batch.rewards[row].sum() == batch.rewards[row, player[row]]
            if position.phase == "play" and not after.laid and (position.laid or action[0] == "lay"):
                laid = [
                    *position.laid,
                    *([action[2]] if action[0] == "lay" and action[2] not in position.board else []),
                ]
                check_turn(starts[row], Position(**{**vars(after), "laid": laid}))
            seen["declare"] += action[0] == "declare"
            seen["keep"] += action[0] == "keep"
            seen["waiting"] += position.waiting is not None
            seen["swap"] += action[0] == "lay" and action[2] in position.board
            seen["opening"] += position.phase == "opening"
            seen["wild"] += 27 in position.hand
    assert all(number > 0 for what, number in seen.items() if what != "swap"), seen


def test_turns__every_one_that_the_sheet_allows_can_be_laid_die_by_die() -> None:
    """All ways to put up to three dice on a small board, against what can be reached by legal actions."""
    numbers = []
    for seed in range(2):
        state, options, chance = crowded(seed)
        position = Position.of(state, options)
        free = [c for c in itertools.product(range(7), range(7)) if c not in position.board]
        allowed = {frozenset[tuple[Cell, int]]()}
        for number in (1, 2, 3):
            for slots in itertools.combinations(range(len(position.hand)), number):
                for cells in itertools.permutations(free, number):
                    dice = dict(zip(cells, (position.hand[slot] for slot in slots), strict=True))
                    if is_allowed(position, dice):
                        allowed.add(frozenset(dice.items()))
        assert reachable(state, options, chance, set(position.board)) == allowed
        numbers.append(len(allowed))
    assert sum(numbers) > 20, numbers


def is_allowed(position: Position, dice: dict[Cell, int]) -> bool:
    near = {(r + i, c + j) for r, c in position.board for i in range(-2, 3) for j in range(-2, 3) if 0 in (i, j)}
    if not near & set(dice):
        return False
    board = {**position.board, **dice}
    hanging, left = set(position.board), set(dice)
    windows = [
        window
        for cell in dice
        for window in _through(cell)
        if all(other in board for other in window) and is_set(tuple(board[other] for other in window))
    ]
    while True:
        more = {cell for window in windows if hanging & set(window) for cell in window} & left
        if not more:
            return not left
        hanging, left = hanging | more, left - more


@cache
def _through(cell: Cell) -> tuple[tuple[Cell, ...], ...]:
    return tuple(window for window in _windows(7, 7) if cell in window)


def crowded(seed: int) -> tuple[Any, Any, Any]:
    """A position on a board of 7 by 7 with a hand of three dice and no WILD in it, in which something can be laid."""
    generator = np.random.default_rng(seed)
    options = GAME.make_options(2, {"board": SQUARE})
    state = np.zeros(1, rules.STATE)[0]
    chance = (new_streams(seed, 1)[0], new_script([], 74))
    mask = np.zeros(GAME.num_actions(options), np.int8)
    rules.setup(state, options, chance)
    for _ in range(100_000):
        rules.legal_actions(state, options, mask)
        player = state["player"]
        is_start = state["phase"] == 1 and state["laid"][0] < 0
        if is_start and (state["faces"] >= 0).sum() > 9 and 27 not in state["hand_faces"][player, :3]:
            trimmed = state.copy()
            trimmed["hand_faces"][player, 3:], trimmed["hand_dice"][player, 3:] = -1, -1
            rules.legal_actions(trimmed, options, mask)
            if mask.sum() > 6:
                return trimmed, options, chance
            rules.legal_actions(state, options, mask)
        if rules.is_terminal(state, options):
            chance[0]["game"][1] += 1
            rules.setup(state, options, chance)
        else:
            rules.apply(state, options, int(generator.choice(np.flatnonzero(mask))), chance)
    raise AssertionError("no such position was found")


def reachable(state: Any, options: Any, chance: Any, old: set[Cell]) -> set[frozenset[tuple[Cell, int]]]:
    """What lies on the board at the end of every turn from here."""
    found = set()
    player, phase = int(state["player"]), int(state["phase"])
    mask = np.zeros(GAME.num_actions(options), np.int8)
    rules.legal_actions(state, options, mask)
    end = len(mask) - 1
    for action in np.flatnonzero(mask).tolist():
        if action != end and named(action, Position.of(state, options))[2] in old:
            continue  # a swap
        after = state.copy()
        rules.apply(after, options, action, (chance[0].copy(), chance[1]))
        if action == end or after["player"] != player or after["phase"] != phase:
            board = Position.of(after, options).board
            found.add(frozenset((cell, face) for cell, face in board.items() if cell not in old))
        else:
            found |= reachable(after, options, chance, old)
    return found
