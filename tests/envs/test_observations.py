"""What every seat sees, field by field: each is held against a plain function of the state that says what it means.

The functions are told from the rulebook and the meanings in the tables, and share no code with the games. A field
without a function fails, and so does a function without a field.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from fivedice.agents import load
from fivedice.envs import GAMES, load_game
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.spec import Field, Game, Layout
from fivedice.envs.display import page
from fivedice.envs.showdown_yahtzee.observe import useful_dice

State: TypeAlias = dict[str, Any]  # the fields of a record as numbers and lists of Python
Choice: TypeAlias = dict[str, Any]  # the options by name, and num_players
Oracle: TypeAlias = Callable[[State, Choice, int], Any]
TOLERANCE = 1e-6  # float32 against float64


def seats_from(seat: int, choice: Choice) -> list[int]:
    """All seats in turn order, `seat` first."""
    number = choice["num_players"]
    return [*range(seat, number), *range(seat)]


def one_hot(place: int, size: int) -> list[bool]:
    return [place == at for at in range(size)]


# What all games of five dice show of a turn.


def dice_shown(state: State, choice: Choice, seat: int) -> Any:
    return [[die == face for face in range(1, 7)] for die in sorted(state["dice"])]


def dice_counts(state: State, choice: Choice, seat: int) -> Any:
    return [state["dice"].count(face) / 5 for face in range(1, 7)]


def dice_total(state: State, choice: Choice, seat: int) -> Any:
    return [sum(state["dice"]) / 30]


def throws_left(state: State, choice: Choice, seat: int) -> Any:
    return one_hot(state["throws_left"], 3)


def mover(is_over: Callable[[State, Choice], bool]) -> Oracle:
    """The field of a game that `is_over` tells the end of."""
    return lambda state, choice, seat: [
        other == state["player"] and not is_over(state, choice) for other in seats_from(seat, choice)
    ]


# Yum.

YUM_BOXES = 12
LOW_STRAIGHT, HIGH_STRAIGHT, LOW, HIGH, FULL_HOUSE, YUM = range(6, YUM_BOXES)


def yum_is_over(state: State, choice: Choice) -> bool:
    return not any(-1 in card for card in state["boxes"][: choice["num_players"]])


def yum_cards(state: State, choice: Choice, seat: int) -> list[list[int]]:
    return [state["boxes"][other] for other in seats_from(seat, choice)]


def yum_upper(card: list[int]) -> int:
    return sum(points for points in card[:6] if points > 0)


def yum_points(state: State, choice: Choice, seat: int) -> Any:
    """What the dice give in each own open box."""
    dice, card = state["dice"], state["boxes"][seat]
    dots, alike, faces = sum(dice), sorted(Counter(dice).values()), set(dice)
    points = [face * dice.count(face) for face in range(1, 7)] + [0] * 6
    points[LOW_STRAIGHT] = 15 if faces == {1, 2, 3, 4, 5} else 0
    points[HIGH_STRAIGHT] = 20 if faces == {2, 3, 4, 5, 6} else 0
    low, high = card[LOW], card[HIGH]
    if high == -1:
        low_may = choice["high_low"] == "either"
    elif high == 0:
        low_may = choice["crossed_high"] == "frees_low"
    else:
        low_may = dots < high
    points[LOW] = dots if low_may and 21 <= dots <= 29 else 0
    points[HIGH] = dots if dots >= 22 and dots > low else 0
    points[FULL_HOUSE] = 25 if alike == [2, 3] or (alike == [5] and choice["five_alike_full_house"]) else 0
    points[YUM] = 30 if alike == [5] else 0
    return [value / 30 if written == -1 else 0 for value, written in zip(points, card, strict=True)]


def yum_score(card: list[int]) -> int:
    return sum(max(0, points) for points in card) + (25 if yum_upper(card) >= 63 else 0)


YUM_ORACLES: dict[str, Oracle] = {
    "mover": mover(yum_is_over),
    "dice": dice_shown,
    "dice_counts": dice_counts,
    "throws_left": throws_left,
    "dice_total": dice_total,
    "points_now": yum_points,
    "open": lambda state, choice, seat: [[points == -1 for points in card] for card in yum_cards(state, choice, seat)],
    "low_high": lambda state, choice, seat: [
        [max(0, card[LOW]) / 30, max(0, card[HIGH]) / 30] for card in yum_cards(state, choice, seat)
    ],
    "upper_total": lambda state, choice, seat: [yum_upper(card) / 105 for card in yum_cards(state, choice, seat)],
    "upper_par": lambda state, choice, seat: [
        sum(card[face - 1] - 3 * face for face in range(1, 7) if card[face - 1] != -1) / 63
        for card in yum_cards(state, choice, seat)
    ],
    "bonus": lambda state, choice, seat: [yum_upper(card) >= 63 for card in yum_cards(state, choice, seat)],
    "score": lambda state, choice, seat: [yum_score(card) / 300 for card in yum_cards(state, choice, seat)],
}


# Yahtzee Jr.

JR_TURNS = {1: 5, 2: 5, 3: 4, 4: 3}
CLUBHOUSE = 6


def jr_tokens(state: State, choice: Choice, seat: int) -> list[list[int]]:
    return [state["tokens"][other] for other in seats_from(seat, choice)]


def jr_placed(tokens: list[int]) -> int:
    return sum(column != -1 for column in tokens)


def jr_is_over(state: State, choice: Choice) -> bool:
    number = choice["num_players"]
    return all(jr_placed(tokens) == JR_TURNS[number] for tokens in state["tokens"][:number])


def jr_count(state: State, character: int) -> int:
    """Dice that count for a character from 0 up."""
    return sum(die in (character + 1, CLUBHOUSE) for die in state["dice"])


def jr_column(state: State, choice: Choice, character: int, number: int) -> int:
    """Where the token of a character goes with so many dice."""
    taken = {tokens[character] for tokens in state["tokens"][: choice["num_players"]]}
    return max([column for column in range(1, number + 1) if column not in taken], default=0)


def jr_open(state: State, seat: int) -> list[bool]:
    return [column == -1 for column in state["tokens"][seat]]


JR_ORACLES: dict[str, Oracle] = {
    "mover": mover(jr_is_over),
    "dice": dice_shown,
    "dice_counts": dice_counts,
    "throws_left": throws_left,
    "same": lambda state, choice, seat: [
        jr_count(state, die - 1) / 5 if die != CLUBHOUSE and jr_open(state, seat)[die - 1] else 0
        for die in sorted(state["dice"])
    ],
    "showing": lambda state, choice, seat: [
        jr_count(state, character) / 5 if is_open else 0 for character, is_open in enumerate(jr_open(state, seat))
    ],
    "points_now": lambda state, choice, seat: [
        jr_column(state, choice, character, jr_count(state, character)) / 5 if is_open else 0
        for character, is_open in enumerate(jr_open(state, seat))
    ],
    "columns": lambda state, choice, seat: [
        [jr_column(state, choice, character, number) / 5 if is_open else 0 for number in range(1, 6)]
        for character, is_open in enumerate(jr_open(state, seat))
    ],
    "open": lambda state, choice, seat: [[column == -1 for column in own] for own in jr_tokens(state, choice, seat)],
    "board": lambda state, choice, seat: [
        [[column == stands for column in range(1, 6)] for stands in own] for own in jr_tokens(state, choice, seat)
    ],
    "turns_left": lambda state, choice, seat: [
        (JR_TURNS[choice["num_players"]] - jr_placed(own)) / 5 for own in jr_tokens(state, choice, seat)
    ],
    "score": lambda state, choice, seat: [
        sum(max(0, column) for column in own) / 25 for own in jr_tokens(state, choice, seat)
    ],
}


# Showdown Yahtzee.

SPACES = [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15]
CORNERS = [0, 4, 8, 12]
THREE, FOUR, FULL, SMALL, LARGE, CHANCE = range(6, 12)
# Chances of three throws, worked out by tests/agents/games/showdown_yahtzee/test_greedy.py.
NUMBER_CHANCES = {1: 0.93541, 2: 0.69948, 3: 0.35821, 4: 0.11831, 5: 0.04603, 6: 0.04603}
CARD_CHANCES = {THREE: 0.74320, FOUR: 0.29079, FULL: 0.36614, SMALL: 0.61602, LARGE: 0.26532, CHANCE: 0.41855}
MORE_CHIPS = {1: 1.18385, 2: 0.49983, 3: 0.15781, 4: 0.04603, 5: 0.0}


def sy_is_over(state: State, choice: Choice) -> bool:
    return state["turns"] > choice["max_turns"] or state["last_turns"] > choice["num_players"]


def sy_most(choice: Choice) -> int:
    """The most chips on a card."""
    return max(5, *choice["chips"])


def sy_unused(state: State) -> set[int]:
    return set(range(12)) - set(state["card"])


def sy_wanted(state: State) -> set[int]:
    """The cards that are played for."""
    target = state["target"]
    if target == -1:
        return set()
    return sy_unused(state) if state["card"][target] == -1 else {state["card"][target]}


def sy_stake(state: State, choice: Choice, seat: int) -> Any:
    target, player = state["target"], state["player"]
    if target == -1:
        return one_hot(3 if state["pawns"][player] in CORNERS else 4, 5)
    owner = state["owner"][target]
    return one_hot(0 if owner == -1 else 2 if owner == player else 1, 5)


def sy_least(state: State, choice: Choice) -> int:
    """Dice that the number card played for takes; 0 if there is none."""
    target = state["target"]
    if target == -1 or state["card"][target] not in range(6):
        return 0
    needs_more = state["owner"][target] == state["player"] or choice["steal"] == "beat"
    return state["chips"][target] + (1 if needs_more else 0)


def longest_run(dice: list[int]) -> int:
    faces = set(dice)
    return max(
        (length for length in range(1, 7) for low in faces if {*range(low, low + length)} <= faces),
        default=0,
    )


def sy_chips(state: State, choice: Choice, card: int) -> int:
    """What a wanted card bears if it is claimed with these dice."""
    dice = state["dice"]
    most_alike = max(Counter(dice).values())
    if card < 6:
        number = 5 if most_alike == 5 else dice.count(card + 1)
        return number if most_alike == 5 or number >= sy_least(state, choice) else 0
    is_met = {
        THREE: most_alike >= 3,
        FOUR: most_alike >= 4,
        FULL: sorted(Counter(dice).values()) == [2, 3],
        SMALL: longest_run(dice) >= 4,
        LARGE: longest_run(dice) == 5,
        CHANCE: sum(dice) >= 25,
    }
    return choice["chips"][card - 6] if is_met[card] or most_alike == 5 else 0


def sy_kept(card: int, dice: list[int]) -> list[bool]:
    """The dice that one keeps who aims at a card."""
    counts = Counter(dice)
    copies = [dice[:slot].count(die) for slot, die in enumerate(dice)]  # of each die, those like it to its left
    if card < 6:
        return [die == card + 1 for die in dice]
    if card in (THREE, FOUR):
        commonest = max(counts, key=lambda face: (counts[face], face))
        return [die == commonest for die in dice]
    if card == FULL:
        return [counts[die] >= 2 and copy < 3 for die, copy in zip(dice, copies, strict=True)]
    if card == CHANCE:
        return [die >= 5 for die in dice]
    length = 4 if card == SMALL else 5
    runs = [set(range(low, low + length)) for low in range(1, 8 - length)]
    middle = {2, 3, 4, 5}  # of equally near runs the middle one, else the lower
    aim = max(runs, key=lambda run: (len(run & set(dice)), run == middle, -min(run)))
    return [die in aim and copy == 0 for die, copy in zip(dice, copies, strict=True)]


def sy_useful(state: State, choice: Choice, seat: int) -> Any:
    wanted = sy_wanted(state)
    return [sy_kept(card, state["dice"]) if card in wanted else [False] * 5 for card in range(12)]


def sy_near(state: State, choice: Choice, seat: int) -> Any:
    asked = {**dict.fromkeys(range(6), 5), THREE: 3, FOUR: 4, FULL: 5, SMALL: 4, LARGE: 5, CHANCE: 5}
    useful = sy_useful(state, choice, seat)
    return [min(1, sum(useful[card]) / asked[card]) for card in range(12)]


def sy_chance(state: State, choice: Choice, space: int) -> float:
    """The chance that a try to steal what lies on a space succeeds."""
    card = state["card"][space]
    if card < 6:
        return NUMBER_CHANCES[state["chips"][space] + (1 if choice["steal"] == "beat" else 0)]
    return CARD_CHANCES[card]


def sy_promise(state: State, choice: Choice, space: int, seat: int) -> float:
    """Chips that a try for the card on a space promises to a seat, in the unit of what is shown."""
    card, owner, chips = (state[field][space] for field in ("card", "owner", "chips"))
    if card == -1:
        return 0.0
    if owner != seat:
        return sy_chance(state, choice, space) * chips / sy_most(choice)
    return MORE_CHIPS[chips] / sy_most(choice) if card < 6 and not state["last_turns"] else 0.0


def sy_worth(state: State, choice: Choice, seat: int) -> list[float]:
    return [
        sy_promise(state, choice, space, seat) if state["owner"][space] not in (-1, seat) else 0.0 for space in SPACES
    ]


def sy_firm_at(state: State, choice: Choice, space: int) -> float:
    if state["card"][space] == -1:
        return 0.0
    return (1 - sy_chance(state, choice, space)) * state["chips"][space] / sy_most(choice)


def sy_firm(state: State, choice: Choice, seat: int) -> list[float]:
    return [sy_firm_at(state, choice, space) for space in SPACES]


def sy_at_stake(state: State, choice: Choice, seat: int) -> Any:
    if state["target"] == -1:
        return [0, 0]
    number = SPACES.index(state["target"])
    return [sy_worth(state, choice, seat)[number], sy_firm(state, choice, seat)[number]]


def sy_by_card(figure: Callable[[State, Choice, int], float]) -> Oracle:
    """For each seat and card, the figure of the space on which the seat's chips lie on that card."""

    def oracle(state: State, choice: Choice, seat: int) -> Any:
        places = {(state["owner"][space], state["card"][space]): space for space in SPACES}
        return [
            [figure(state, choice, places[other, card]) if (other, card) in places else 0 for card in range(12)]
            for other in seats_from(seat, choice)
        ]

    return oracle


def sy_ahead(state: State, choice: Choice, seat: int) -> Any:
    shown = []
    for step in range(1, 7):
        space = (state["pawns"][seat] + step) % 16
        corner = space in CORNERS
        empty, own = not corner and state["card"][space] == -1, state["owner"][space] == seat
        shown.append([empty, own, corner, sy_promise(state, choice, space, seat)])
    return shown


def sy_more(state: State, choice: Choice, seat: int) -> Any:
    space = state["pawns"][seat]
    return [sy_promise(state, choice, space, seat) if state["owner"][space] == seat else 0]


def sy_last_turn(state: State, choice: Choice, seat: int) -> Any:
    """Last turns go round; the player's is the latest that has begun."""
    begun = seats_from((state["player"] + 1) % choice["num_players"], choice)[::-1][: state["last_turns"]]
    return [other in begun for other in seats_from(seat, choice)]


def sy_score(state: State, choice: Choice, seat: int) -> list[float]:
    most = 6 * 5 + sum(choice["chips"])
    return [
        sum(state["chips"][space] for space in SPACES if state["owner"][space] == other) / most
        for other in seats_from(seat, choice)
    ]


def sy_lead(state: State, choice: Choice, seat: int) -> Any:
    own, *others = sy_score(state, choice, seat)
    return [own - max(others)]


SHOWDOWN_ORACLES: dict[str, Oracle] = {
    "mover": mover(sy_is_over),
    "dice": dice_shown,
    "dice_counts": dice_counts,
    "throws_left": lambda state, choice, seat: one_hot(state["throws_left"], 4),
    "same": lambda state, choice, seat: [
        state["dice"].count(die) / 5 if die - 1 in sy_wanted(state) else 0 for die in state["dice"]
    ],
    "run": lambda state, choice, seat: [longest_run([die for die in state["dice"] if die]) / 5],
    "dice_total": dice_total,
    "stake": sy_stake,
    "target": lambda state, choice, seat: [space == state["target"] for space in SPACES],
    "least_dice": lambda state, choice, seat: [sy_least(state, choice) / 6],
    "wanted": lambda state, choice, seat: [card in sy_wanted(state) for card in range(12)],
    "chips_now": lambda state, choice, seat: [
        sy_chips(state, choice, card) / sy_most(choice) if card in sy_wanted(state) else 0 for card in range(12)
    ],
    "near": sy_near,
    "useful": sy_useful,
    "unused": lambda state, choice, seat: [card in sy_unused(state) for card in range(12)],
    "card": lambda state, choice, seat: [one_hot(state["card"][space], 12) for space in SPACES],
    "owner": lambda state, choice, seat: [
        [state["owner"][space] == other for space in SPACES] for other in seats_from(seat, choice)
    ],
    "chips": lambda state, choice, seat: [state["chips"][space] / sy_most(choice) for space in SPACES],
    "pawns": lambda state, choice, seat: [one_hot(state["pawns"][other], 16) for other in seats_from(seat, choice)],
    "worth": sy_worth,
    "firm": sy_firm,
    "at_stake": sy_at_stake,
    "held": sy_by_card(lambda state, choice, space: state["chips"][space] / sy_most(choice)),
    "lasting": sy_by_card(sy_firm_at),
    "ahead": sy_ahead,
    "more": sy_more,
    "showdown": lambda state, choice, seat: [state["last_turns"] >= 1],
    "last_turn": sy_last_turn,
    "score": sy_score,
    "lead": sy_lead,
    "turns_left": lambda state, choice, seat: [max(0, choice["max_turns"] - state["turns"]) / choice["max_turns"]],
}


# SET Cubed. Cells are (row, column) from (0, 0) up.

Cell: TypeAlias = tuple[int, int]
OPENING, PLAY, EXTRA, OVER = range(4)
WILD, NOTHING = 27, -1
FRAME = 2  # rows and columns of the record around the board


def sc_size(choice: Choice) -> Cell:
    rows = choice["drawing"]
    return len(rows), len(rows[0])


def sc_cell(number: int, choice: Choice) -> Cell:
    return divmod(number, sc_size(choice)[1])


def sc_cells(choice: Choice) -> list[Cell]:
    rows, columns = sc_size(choice)
    return list(itertools.product(range(rows), range(columns)))


def sc_at(state: State, field: str, cell: Cell) -> int:
    return state[field][cell[0] + FRAME][cell[1] + FRAME]


def sc_laid(state: State, choice: Choice) -> list[Cell]:
    return [sc_cell(number, choice) for number in state["laid"] if number != NOTHING]


def sc_declares(state: State, choice: Choice) -> bool:
    laid = sc_laid(state, choice)
    return bool(laid) and sc_at(state, "faces", laid[-1]) == WILD


def sc_plane(cells: dict[Cell, float], choice: Choice) -> NDArray[np.float64]:
    plane = np.zeros(sc_size(choice))
    for cell, value in cells.items():
        plane[cell] = value
    return plane


def sc_features(face: int) -> list[bool]:
    """Colour, shape, number, and WILD."""
    if face in (WILD, NOTHING):
        return [False] * 9 + [face == WILD]
    colour, shape, number = face // 9, face % 9 // 3, face % 3
    return [*one_hot(colour, 3), *one_hot(shape, 3), *one_hot(number, 3), False]


def is_set(*faces: int) -> bool:
    """Whether each feature of three faces is the same on all or different on all."""
    return all(len({face // place % 3 for face in faces}) != 2 for place in (1, 3, 9))


def sc_sets(state: State, choice: Choice, cell: Cell, face: int) -> list[tuple[Cell, Cell]]:
    """The SETs that a die with this face makes on a cell, each by its two other cells."""
    row, column = cell
    made = []
    for down, right in ((0, 1), (1, 0)):
        for start in (-2, -1, 0):
            others = [(row + step * down, column + step * right) for step in range(start, start + 3) if step]
            faces = [sc_at(state, "faces", other) for other in others]
            if min(faces) >= 0 and is_set(face, *faces):
                made.append((others[0], others[1]))
    return made


def sc_points(state: State, choice: Choice, cell: Cell, face: int, own: int) -> int:
    """The points of those SETs: 1 for each die, but `own` for the die itself and 0 for WILDs of this turn."""
    laid = sc_laid(state, choice)
    free = [other for other in laid if sc_at(state, "wild", other)]
    return sum(own + sum(other not in free for other in made) for made in sc_sets(state, choice, cell, face))


def sc_lay(state: State, choice: Choice, slot: int, cell: Cell) -> int:
    """The points of laying an own die, the bonus square included."""
    face = state["hand_faces"][state["player"]][slot]
    if sc_at(state, "faces", cell) != NOTHING:
        return 0  # a swap
    printed = choice["drawing"][cell[0]][cell[1]]
    bonus = int(printed) if printed.isdigit() else 0
    if face != WILD:
        return bonus + sc_points(state, choice, cell, face, 1)
    waiting = sc_cell(state["waiting"], choice) if state["waiting"] != NOTHING else None
    possible = [0]
    for declared in range(27):
        if waiting is None or any(waiting in made for made in sc_sets(state, choice, cell, declared)):
            possible.append(sc_points(state, choice, cell, declared, 0))
    return bonus + max(possible)


def sc_mask(state: State, seat: int) -> list[int]:
    """The legal actions, nothing for those who wait."""
    return state["mask"] if seat == state["player"] else [0] * len(state["mask"])


def sc_lay_points(state: State, choice: Choice, seat: int) -> Any:
    rows, columns = sc_size(choice)
    shown = np.zeros((5, rows, columns))
    for action in np.flatnonzero(sc_mask(state, seat)[: shown.size]).tolist():
        slot, number = divmod(action, rows * columns)
        cell = sc_cell(number, choice)
        shown[slot][cell] = min(1, sc_lay(state, choice, slot, cell) / 12)
    return shown


def sc_declare_points(state: State, choice: Choice, seat: int) -> Any:
    rows, columns = sc_size(choice)
    shown, laid = np.zeros(27), sc_laid(state, choice)
    for face in np.flatnonzero(sc_mask(state, seat)[5 * rows * columns :][:27]).tolist():
        shown[face] = min(1, sc_points(state, choice, laid[-1], face, 0) / 12)
    return shown


def sc_own_dice(state: State, choice: Choice, seat: int) -> Any:
    return [
        [choice["dice"][die].count(face) / 6 if die != NOTHING else 0 for face in range(28)]
        for die in state["hand_dice"][seat]
    ]


def sc_feature_planes(state: State, choice: Choice, seat: int) -> Any:
    planes = np.zeros((9, *sc_size(choice)))
    for row, column in sc_cells(choice):
        planes[:, row, column] = sc_features(sc_at(state, "faces", (row, column)))[:9]
    return planes


def sc_printed(shown: Callable[[str], float]) -> Oracle:
    """A plane of what is printed on the cells that are free."""
    return lambda state, choice, seat: sc_plane(
        {
            cell: shown(choice["drawing"][cell[0]][cell[1]])
            for cell in sc_cells(choice)
            if sc_at(state, "faces", cell) == NOTHING
        },
        choice,
    )


SET_CUBED_ORACLES: dict[str, Oracle] = {
    "mover": mover(lambda state, choice: state["phase"] == OVER),
    "opener": lambda state, choice, seat: [other == state["opener"] for other in seats_from(seat, choice)],
    "phase": lambda state, choice, seat: one_hot(state["phase"], 4),
    "declares": lambda state, choice, seat: [sc_declares(state, choice)],
    "laid": lambda state, choice, seat: one_hot(len(sc_laid(state, choice)), 4),
    "has_laid": lambda state, choice, seat: [state["has_laid"]],
    "idle_rounds": lambda state, choice, seat: [state["idle_rounds"] / 10],
    "dice_left": lambda state, choice, seat: [
        (42 - sum(die != NOTHING for row in (*state["dice"], *state["hand_dice"]) for die in row)) / 42
    ],
    "score": lambda state, choice, seat: [min(1, state["scores"][other] / 200) for other in seats_from(seat, choice)],
    "hands": lambda state, choice, seat: [
        [sc_features(face) for face in state["hand_faces"][other]] for other in seats_from(seat, choice)
    ],
    "own_dice": sc_own_dice,
    "declare_points": sc_declare_points,
    "lay_points": sc_lay_points,
    "features": sc_feature_planes,
    "wild": lambda state, choice, seat: sc_plane(
        {cell: 1 for cell in sc_cells(choice) if sc_at(state, "wild", cell)}, choice
    ),
    "laid_now": lambda state, choice, seat: sc_plane(dict.fromkeys(sc_laid(state, choice), 1), choice),
    "waiting": lambda state, choice, seat: sc_plane(
        {sc_cell(state["waiting"], choice): 1} if state["waiting"] != NOTHING else {}, choice
    ),
    "bonus": sc_printed(lambda printed: int(printed) / 9 if printed.isdigit() else 0),
    "logo": sc_printed(lambda printed: printed == "*"),
}

ORACLES: dict[str, dict[str, Oracle]] = {
    "yum": YUM_ORACLES,
    "yahtzee_jr": JR_ORACLES,
    "showdown_yahtzee": SHOWDOWN_ORACLES,
    "set_cubed": SET_CUBED_ORACLES,
}


# Positions that games seldom or never come to, built in the record.

EVERY_THROW = 84  # three cases show all 252 throws
DICE = [  # five alike, runs, houses, and sums at the edges of Low, High and Chance
    *([face] * 5 for face in range(1, 7)),
    *([1, 2, 3, 4, 5], [2, 3, 4, 5, 6], [1, 3, 4, 5, 6], [1, 2, 3, 4, 6], [1, 1, 2, 3, 4], [3, 4, 5, 6, 6]),
    *([2, 2, 3, 3, 3], [5, 5, 5, 6, 6], [1, 1, 2, 6, 6], [1, 2, 2, 2, 2], [4, 4, 4, 4, 6], [1, 2, 3, 3, 5]),
    *([2, 3, 4, 5, 6], [1, 3, 5, 5, 6], [1, 4, 4, 5, 6], [3, 4, 4, 5, 5], [2, 5, 5, 6, 6], [4, 4, 5, 6, 6]),
    *([3, 4, 5, 6, 6], [5, 5, 6, 6, 6], [5, 6, 6, 6, 6], [1, 1, 2, 2, 6], [1, 2, 2, 4, 6], [2, 2, 3, 4, 6]),
]


def throws_of(case: int) -> Iterator[list[int]]:
    """Dice for built positions: the edges, then all throws there are, begun in each case where the last one ended."""
    throws = list(map(list, itertools.combinations_with_replacement(range(1, 7), 5)))
    yield from DICE
    yield from itertools.islice(itertools.cycle(throws), case * EVERY_THROW, (case + 1) * EVERY_THROW)


def turns_taken(number: int, turns: int, generator: np.random.Generator) -> tuple[int, list[int]]:
    """A seat to move, and how many turns each seat has finished; now and then all of them, the last seat the mover."""
    if generator.random() < 0.1:
        return number - 1, [turns] * number
    done, player = int(generator.integers(turns)), int(generator.integers(number))
    return player, [done + (seat < player) for seat in range(number)]


def built_yum(state: Any, choice: Choice, dice: list[int], generator: np.random.Generator) -> None:
    player, done = turns_taken(choice["num_players"], YUM_BOXES, generator)
    state["player"], state["throws_left"] = player, generator.integers(3)
    state["dice"], state["boxes"] = dice, -1
    at_most = generator.random() < 0.2
    for seat, number in enumerate(done):
        high = int(generator.choice([0, *range(22, 31)]))
        low = int(generator.choice([0, *range(21, 30)]))
        if high and low >= high:
            low = 0
        card = [face * int(generator.integers(6)) for face in range(1, 7)]
        card += [15 * int(generator.integers(2)), 20 * int(generator.integers(2)), low, high, 25, 30]
        if at_most:
            card = [5, 10, 15, 20, 25, 30, 15, 20, 29, 30, 25, 30]
        for box in generator.permutation(YUM_BOXES)[:number]:
            state["boxes"][seat, box] = card[box]


def built_jr(state: Any, choice: Choice, dice: list[int], generator: np.random.Generator) -> None:
    number = choice["num_players"]
    player, done = turns_taken(number, JR_TURNS[number], generator)
    state["player"], state["throws_left"], state["roll_off"] = player, generator.integers(3), -1
    state["dice"] = dice
    state["tokens"] = -1
    columns = [generator.permutation(6)[: len(done)] for _ in range(5)]
    for seat, placed in enumerate(done):
        for character in generator.permutation(5)[:placed]:
            state["tokens"][seat, character] = columns[character][seat] if generator.random() < 0.8 else 0
    if generator.random() < 0.1:  # the most that a seat can have
        best = int(generator.integers(number))
        others = np.where(state["tokens"] == 5, 0, state["tokens"])
        state["tokens"] = others
        state["tokens"][best] = np.where(others[best] == -1, -1, 5)


def built_showdown(state: Any, choice: Choice, dice: list[int], generator: np.random.Generator) -> None:
    """Any board; what the mover plays for is what the rules allow from its pawn's space."""
    number = choice["num_players"]
    while True:
        placed = int(generator.choice([*range(13), 11, 12, 12, 12]))
        owners = generator.integers(number, size=12) if generator.random() < 0.8 else [0] * 12
        state["card"], state["owner"], state["chips"] = -1, -1, 0
        for space, card, owner in zip(
            generator.permutation(SPACES)[:placed], generator.permutation(12), owners, strict=False
        ):
            chips = int(generator.integers(1, 6)) if card < 6 else choice["chips"][card - 6]
            state["card"][space], state["owner"][space], state["chips"][space] = card, owner, chips
        state["pawns"] = [0, 4, 8, 12]
        state["pawns"][:number] = generator.integers(16, size=number)
        state["player"] = player = int(generator.integers(number))
        state["last_turns"] = generator.integers(1, number + 2) if placed == 12 else 0
        left = int(generator.choice([0, 0, 1, 2, choice["max_turns"] // 2, choice["max_turns"] - 1]))
        state["turns"] = max(1, choice["max_turns"] + 1 - left)
        pawn = int(state["pawns"][player])
        targets = [space for space in SPACES if state["owner"][space] != player]
        may_stay = 0 <= state["card"][pawn] < 6 and state["chips"][pawn] < 5 and not state["last_turns"]
        if pawn in CORNERS:
            possible = [-1, *targets] if len(targets) > 1 else targets
        elif state["owner"][pawn] == player:
            possible = [-1, pawn] if may_stay else []
        else:
            possible = [pawn]
        if possible:
            break
    state["target"] = target = int(generator.choice(possible))
    state["dice"] = [0] * 5 if target == -1 else dice
    state["throws_left"] = 3 if target == -1 else generator.integers(3)


def built_set_cubed(state: Any, choice: Choice, dice: list[int], generator: np.random.Generator) -> None:
    """Crowded boards of few faces, so that one die makes many SETs; an opening, a turn, an EXTRA roll or the end."""
    number, (rows, columns) = choice["num_players"], sc_size(choice)
    phase = int(generator.choice([OPENING, PLAY, PLAY, PLAY, EXTRA, OVER]))
    state["faces"], state["wild"], state["dice"] = -2, 0, NOTHING
    state["faces"][FRAME : FRAME + rows, FRAME : FRAME + columns] = NOTHING
    numbers = iter(generator.permutation(42).tolist())
    few = generator.random() < 0.6
    faces = generator.integers(27, size=1 + (not few) * int(generator.integers(9)))

    def put(cell: Cell, face: int, wild: bool) -> int:
        row, column = cell[0] + FRAME, cell[1] + FRAME
        state["faces"][row, column], state["wild"][row, column] = face, wild
        state["dice"][row, column] = next(numbers)
        return cell[0] * columns + cell[1]

    lying, laid = [], list[int]()
    if phase == OPENING:
        logo = [cell for cell in sc_cells(choice) if choice["drawing"][cell[0]][cell[1]] == "*"]
        size = int(generator.integers(4))
        for place in generator.permutation(3)[:size].tolist():
            is_wild = bool(generator.random() < 0.4)
            face = WILD if is_wild and len(laid) == size - 1 else int(generator.choice(faces))
            laid.append(put(logo[place], face, is_wild))
        if size == 3:  # else the turn would be over
            put_last = sc_cell(laid[-1], choice)
            state["faces"][put_last[0] + FRAME, put_last[1] + FRAME] = WILD
            state["wild"][put_last[0] + FRAME, put_last[1] + FRAME] = 1
    else:
        # A window of the board about one cell, as full as it may be, anywhere, its edges and corners too.
        row, column = int(generator.integers(rows)), int(generator.integers(columns))
        near = [cell for cell in sc_cells(choice) if abs(cell[0] - row) <= 2 and abs(cell[1] - column) <= 2]
        cross = [cell for cell in near if cell[0] == row or cell[1] == column]
        there = cross if few else [cell for cell in near if generator.random() < 0.6]
        empty = (row, column)
        for cell in there[:22]:
            if cell != empty:
                lying.append(put(cell, int(generator.choice(faces)), bool(generator.random() < 0.25)))
        if phase == PLAY:
            laid = generator.permutation(lying)[: int(generator.choice([0, 0, 1, 1, 2]))].tolist()
    state["laid"], state["waiting"] = NOTHING, NOTHING
    if phase == PLAY:
        if laid and generator.random() < 0.5:
            state["waiting"] = laid[-1]
        if generator.random() < 0.4:  # a WILD that is to be declared
            laid.append(put((row, column), WILD, True))
    state["laid"][: len(laid)] = laid
    state["hand_dice"], state["hand_faces"] = NOTHING, NOTHING
    for seat in range(number):
        size = int(generator.integers(0, 3 if number == 4 else 6))
        own = sorted(
            (WILD if generator.random() < 0.2 else int(generator.choice(faces)), next(numbers)) for _ in range(size)
        )
        for slot, (face, die) in enumerate(own):
            state["hand_faces"][seat, slot], state["hand_dice"][seat, slot] = face, die
    state["phase"] = phase
    state["player"], state["opener"] = generator.integers(number, size=2)
    state["scores"] = 0
    state["scores"][:number] = generator.choice([0, 7, 99, 150, 199, 200, 201, 260], size=number)
    state["has_laid"] = bool(laid) or (phase == PLAY and generator.random() < 0.5)
    state["idle_rounds"] = generator.integers(choice["max_idle_rounds"])


BUILDERS: dict[str, Callable[[Any, Choice, list[int], np.random.Generator], None]] = {
    "yum": built_yum,
    "yahtzee_jr": built_jr,
    "showdown_yahtzee": built_showdown,
    "set_cubed": built_set_cubed,
}


def yum_at_the_bonus(number: int) -> Iterator[list[list[int]]]:
    """Cards of all seats with 61 to 65 points in Ones … Sixes, and with the least and the most."""
    threes = [3, 6, 9, 12, 15, 18]
    totals = [[ones, *threes[1:]] for ones in (1, 2, 3, 4, 5)] + [[0] * 6, [5, 10, 15, 20, 25, 30]]
    for first in range(len(totals)):
        yield [totals[(first + seat) % len(totals)] for seat in range(number)]


# Cases: every number of seats, and options by turns.

ROUNDS = 3  # through the numbers of seats
UPRIGHT = "/".join(["2......"] * 2 + ["..*.7.."] * 3 + ["......."] * 4)
SAME_FACES = " / ".join(["1RO 1RO 3PS 1RO WILD 2GD", "2GS 2GS 2GS 2GS 2GS 2GS"] * 21)
FURTHER: dict[str, list[Choice]] = {
    "yum": [],
    "yahtzee_jr": [],
    "showdown_yahtzee": [{"num_players": 3, "chips": (1, 9, 2, 2, 7, 1), "steal": "beat", "max_turns": 60}],
    "set_cubed": [{"num_players": 3, "board": UPRIGHT, "dice": SAME_FACES, "max_idle_rounds": 10}],
}
WALKED = {"yum": 60, "yahtzee_jr": 50, "showdown_yahtzee": 60, "set_cubed": 25}  # positions of games, in a case
STEPS = 250  # after which games that are not over are left


def choices(game: Game) -> list[Choice]:
    """Every number of seats, and every sample of every option, in different combinations."""
    seats = range(game.min_players, game.max_players + 1)
    most = max([len(option.samples) for option in game.rules.OPTIONS], default=1)
    number = max(ROUNDS * len(seats), most)
    made: list[Choice] = [{"num_players": seats[case % len(seats)]} for case in range(number)]
    for place, option in enumerate(game.rules.OPTIONS):
        order = np.random.default_rng(place).permutation(number) % len(option.samples)  # every sample in some case
        for choice, sample in zip(made, order.tolist(), strict=True):
            choice[option.name] = option.samples[sample]
    return made + FURTHER[game.name]


@dataclass(frozen=True)
class Case:
    """Positions of one table."""

    choice: Choice
    batch: Batch  # a row for each position
    states: list[State]


def as_python(game: Game, choice: Choice, options: Any) -> Choice:
    """The choice with what the plain functions read of drawings and tables."""
    given = {**game.options_dict(options), **choice}
    if game.name == "set_cubed":
        rows, columns, *cells = options["board"].tolist()
        text = "".join(".123456789*"[cell] for cell in cells)
        given["drawing"] = [text[row * columns :][:columns] for row in range(rows)]
        given["dice"] = (options["dice"] - 1).tolist()
    return given


def walk(game: Game, choice: Choice, number: int, seed: int) -> list[Any]:
    """Positions of games between greedy and random play, their starts and their ends among them."""
    num_games = 4 if game.name == "set_cubed" else 8
    batch, generator = Batch(game, num_games, **choice), np.random.default_rng(seed)
    batch.reset(seed=seed)
    starts, later, ends = [batch.states[0].copy()], [], []
    rows, greedy = batch.all_rows, load("greedy")
    for _ in range(STEPS):
        view = batch.view(rows)
        actions = (generator.random(view.masks.shape) * view.masks).argmax(axis=1)
        careful = np.flatnonzero((rows % 2 == 0) & (generator.random(len(rows)) < 0.85))
        if len(careful):
            actions[careful] = greedy.act(view.rows(careful))
        batch.step(actions, rows, restart=False)
        # A step writes what has changed alone, and comes to the same as all of it.
        assert batch.observations.tobytes() == batch.observe(batch.all_rows, batch.movers).tobytes()
        ends += [batch.states[row].copy() for row in rows[batch.over[rows]]]
        rows = rows[~batch.over[rows]]
        later += [batch.states[row].copy() for row in rows]
        if not len(rows):
            break
    assert ends, f"no game of {choice} has ended"
    every = generator.permutation(len(later))[:number]
    return starts + [later[place] for place in every] + ends


def built(game: Game, choice: Choice, seed: int) -> list[Any]:
    """Positions that the builder of the game makes, one for each of some throws."""
    generator, throws = np.random.default_rng(seed), list(throws_of(seed))
    states, more = np.zeros(len(throws), game.rules.STATE), []
    for state, dice in zip(states, throws, strict=True):
        BUILDERS[game.name](state, choice, dice, generator)
    if game.name == "yum":
        for cards in yum_at_the_bonus(choice["num_players"]):
            state = states[0].copy()
            state["boxes"], state["player"] = -1, 0
            state["boxes"][: len(cards), :6] = cards
            more.append(state)
    return [*states, *more]


@cache
def cases(name: str) -> list[Case]:
    made, game = [], load_game(name)
    for seed, choice in enumerate(choices(game)):
        num_players = choice["num_players"]
        options = game.make_options(num_players, {key: choice[key] for key in choice if key != "num_players"})
        given = as_python(game, choice, options)
        states = walk(game, choice, WALKED[name], seed) + built(game, given, seed)
        batch = Batch(game, len(states), **choice)
        batch.states[:] = states
        batch.show()
        plain = [
            {field: state[field].tolist() for field in state.dtype.names} | {"mask": mask.tolist()}
            for state, mask in zip(batch.states, batch.masks, strict=True)
        ]
        made.append(Case(given, batch, plain))
    return made


# The tests.


@pytest.mark.parametrize("name", GAMES)
def test_observation__every_piece_has_a_meaning_that_is_tested(name: str) -> None:
    game = load_game(name)
    for choice in choices(game):
        options = game.make_options(choice["num_players"], {k: choice[k] for k in choice if k != "num_players"})
        fields = {field.name for field in game.layout(options).fields}
        assert not fields - set(ORACLES[name]), "ORACLES lacks a function for these fields"
        assert not set(ORACLES[name]) - fields, "ORACLES has functions for fields that there are not"


@pytest.mark.parametrize("name", GAMES)
def test_observation__every_piece_is_what_it_means_to_every_seat(name: str) -> None:
    seen: dict[str, list[NDArray[np.float32]]] = {field: [] for field in ORACLES[name]}
    for case in cases(name):
        layout, rows = case.batch.layout, case.batch.all_rows
        before = case.batch.states.tobytes()
        for seat in range(case.choice["num_players"]):
            shown = layout.named(case.batch.observe(rows, np.full(len(rows), seat, np.int8)))
            for field in layout.fields:
                values, oracle = shown[field.name], ORACLES[name][field.name]
                meant = np.array([oracle(state, case.choice, seat) for state in case.states], float)
                assert meant.shape[1:] == field.shape, f"{field.name} has shape {field.shape}"
                wrong = np.argwhere(~(np.abs(values - meant) <= TOLERANCE))
                if len(wrong):
                    at = tuple(wrong[0])
                    pytest.fail(
                        f"{field.name}{list(map(int, at[1:]))} is {values[at]} and means {meant[at]} to seat {seat} of "
                        f"{case.choice['num_players']}: {case.states[at[0]]} {case.choice}"
                    )
                assert (values >= field.low).all(), f"{field.name} is below {field.low}"
                assert (values <= field.high).all(), f"{field.name} is above {field.high}"
                seen[field.name].append(np.unique(values))
        assert case.batch.states.tobytes() == before
    assert_not_blind(load_game(name).layout(load_game(name).make_options()), seen)


# Those that never come near their upper end: chips to be expected of staying are few.
SMALL_FIELDS = {"more"}


def assert_not_blind(layout: Layout, seen: dict[str, list[NDArray[np.float32]]]) -> None:
    """Each field takes several values, from the lowest quarter of its range to the upper half."""
    for field in layout.fields:
        values = np.concatenate(seen[field.name])
        assert -1 <= field.low < field.high <= 1, f"{field.name} is not scaled"
        assert len(np.unique(values)) > 1, f"{field.name} is always {values[0]}"
        assert values.min() <= field.low + (field.high - field.low) / 4, f"{field.name} never comes near {field.low}"
        middle = (field.low + field.high) / 2
        assert values.max() > middle or field.name in SMALL_FIELDS, f"{field.name} is never above {middle}"


@pytest.mark.parametrize("name", [name for name in GAMES if load_game(name).observe_throw is not None])
def test_observe_throw__shows_what_observe_does_after_any_throw(name: str) -> None:
    game = load_game(name)
    assert game.observe_throw is not None
    for number, case in enumerate(cases(name)):
        throws = itertools.cycle(throws_of(number))
        size, options = case.batch.layout.size, case.batch.options
        shown, whole = np.zeros(size, np.float32), np.zeros(size, np.float32)
        for state in case.batch.states[::5].copy():
            seat = int(game.rules.current_player(state))
            game.observe(state, options, seat, shown)
            state["dice"], state["throws_left"] = next(throws), (state["throws_left"] + 2) % 3
            game.observe_throw(state, options, seat, shown)
            game.observe(state, options, seat, whole)
            assert shown.tobytes() == whole.tobytes()


def test_useful__of_every_throw_are_the_dice_that_one_keeps() -> None:
    for dice in itertools.combinations_with_replacement(range(1, 7), 5):
        for card in range(12):
            useful = useful_dice(card, np.array(dice, np.int8))
            assert [bool(useful >> slot & 1) for slot in range(5)] == sy_kept(card, list(dice)), (card, dice)


@pytest.mark.parametrize(
    ("card", "dice", "kept"),
    [
        (1, (1, 2, 2, 4, 6), (2, 2)),
        (5, (1, 2, 2, 4, 5), ()),
        (THREE, (1, 2, 2, 4, 6), (2, 2)),
        (FOUR, (1, 1, 2, 6, 6), (6, 6)),  # the higher of two pairs
        (FULL, (1, 1, 2, 6, 6), (1, 1, 6, 6)),
        (FULL, (3, 3, 3, 3, 6), (3, 3, 3)),
        (FULL, (1, 2, 3, 4, 6), ()),
        (SMALL, (1, 2, 2, 4, 6), (1, 2, 4)),
        (SMALL, (1, 2, 3, 3, 5), (2, 3, 5)),  # equally near: the middle one
        (SMALL, (1, 3, 4, 6, 6), (1, 3, 4)),
        (LARGE, (2, 2, 3, 4, 6), (2, 3, 4, 6)),
        (LARGE, (1, 2, 3, 4, 4), (1, 2, 3, 4)),
        (CHANCE, (1, 4, 5, 5, 6), (5, 5, 6)),
    ],
)
def test_useful__is_what_a_player_keeps(card: int, dice: tuple[int, ...], kept: tuple[int, ...]) -> None:
    assert tuple(itertools.compress(dice, sy_kept(card, list(dice)))) == kept


# Layouts.

FIELDS = (
    Field("first", (2,), 0, 1, "two numbers"),
    Field("second", (2, 3), -1, 0.5, "a small table"),
    Field("third", (1,), -0.25, 0, "one number"),
)


def test_layout__finds_pieces_by_name() -> None:
    layout = Layout(list(FIELDS))
    assert layout.fields == FIELDS
    assert [field.size for field in layout.fields] == [2, 6, 1]
    assert layout.size == 9
    assert layout.places == {"first": slice(0, 2), "second": slice(2, 8), "third": slice(8, 9)}
    one = np.arange(9, dtype=np.float32)
    named = layout.named(one)
    assert {name: values.tolist() for name, values in named.items()} == {
        "first": [0, 1],
        "second": [[2, 3, 4], [5, 6, 7]],
        "third": [8],
    }
    assert all(np.shares_memory(one, values) for values in named.values())
    many = np.arange(4 * 5 * 9, dtype=np.float32).reshape(4, 5, 9)
    for name, values in layout.named(many).items():
        assert values.shape == (4, 5, *named[name].shape)
        assert values[2, 3].tolist() == (named[name] + 9 * (2 * 5 + 3)).tolist()


def test_layout__bounds_are_those_of_the_pieces() -> None:
    low, high = Layout(list(FIELDS)).bounds()
    assert low.tolist() == [0, 0, -1, -1, -1, -1, -1, -1, -0.25]
    assert high.tolist() == [1, 1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0]
    assert low.dtype == high.dtype == np.float32


OTHER = {"name": "other", "shape": (3, 2), "low": -0.5, "high": 0.75, "meaning": "in other words"}  # of a field


def test_layout__digest_changes_with_all_that_a_network_was_trained_on() -> None:
    digest = Layout(list(FIELDS)).digest
    assert Layout([replace(field) for field in FIELDS]).digest == digest
    assert Layout([replace(field, meaning="in other words") for field in FIELDS]).digest == digest
    assert {field.name for field in fields(Field)} == set(OTHER), "a field of Field has no case"
    others = [
        [replace(field, **{attribute: other}) if field == changed else field for field in FIELDS]
        for attribute, other in OTHER.items()
        for changed in FIELDS
        if attribute != "meaning"
    ]
    others += [list(order) for order in itertools.permutations(FIELDS) if order != FIELDS]
    others += [list(FIELDS[1:]), list(FIELDS[:-1]), [*FIELDS, FIELDS[0]]]
    digests = [Layout(fields).digest for fields in others]
    assert len({digest, *digests}) == 1 + len(others)


@pytest.mark.parametrize("name", GAMES)
def test_layout__digest_is_another_with_another_number_of_seats(name: str) -> None:
    game = load_game(name)
    seats = range(game.min_players, game.max_players + 1)
    assert len({game.layout(game.make_options(number)).digest for number in seats}) == len(seats)


def test_page__command_makes_the_tables_of_the_files_that_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, left = tmp_path / "made.md", tmp_path / "left.md"
    text = "Before\n<!-- tables: {} -->\nstale\n<!-- end -->\nbetween\n<!-- tables: {} -->\n<!-- end -->\nafter\n"
    for file in (made, left):
        file.write_text(text.format("yum", "yahtzee_jr"))
    monkeypatch.setattr("sys.argv", ["page", str(made)])
    page.main()
    assert left.read_text() == text.format("yum", "yahtzee_jr")
    tables = [page.tables(load_game(name)) for name in ("yum", "yahtzee_jr")]
    assert made.read_text() == (
        f"Before\n<!-- tables: yum -->\n{tables[0]}<!-- end -->\nbetween\n"
        f"<!-- tables: yahtzee_jr -->\n{tables[1]}<!-- end -->\nafter\n"
    )


@pytest.mark.parametrize("name", GAMES)
def test_page__observation_table_names_every_piece_where_it_stands(name: str) -> None:
    game = load_game(name)
    layout = game.layout(game.make_options())
    table = page.tables(game).partition("| at | field | shape | range | meaning |\n")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[1:]]
    start = 0
    for field, (at, shown, shape, between, meaning) in zip(layout.fields, rows, strict=True):
        numbers = int(np.prod(field.shape))
        assert list(map(int, at.split("-"))) == ([start] if numbers == 1 else [start, start + numbers - 1])
        assert (shown, shape, meaning) == (f"`{field.name}`", str(field.shape), field.meaning)
        assert list(map(float, between.split(" to "))) == [field.low, field.high]
        start += numbers
    assert start == layout.size
