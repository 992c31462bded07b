"""The observation of a seat in Showdown Yahtzee: the list of its fields, and the function that writes it.

The own seat comes first, then the other seats in turn order. The observation space, the table in the page of the game
and the named views are made from the list. A test compares the function with it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.dice import NUM_DICE, SIDES, Dice, count, total
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Field, Layout
from fivedice.envs.showdown_yahtzee.lookup import has_card, unused_cards, wanted_cards
from fivedice.envs.showdown_yahtzee.rules import (
    CARD_SPACES,
    CHANCE,
    CHOOSING,
    EMPTY,
    FOUR_OF_A_KIND,
    FULL_HOUSE,
    NUM_CARDS,
    NUM_NUMBERS,
    NUM_SPACES,
    SMALL_STRAIGHT,
    THREE_OF_A_KIND,
    chips_now,
    dice_to_steal,
    has_last_turn,
    is_corner,
    is_terminal,
    least_dice,
    longest_run,
    may_stay,
    score,
)

# Chances that three throws meet a card if the player aims only at it; five alike meet every card. A test computes them.
NUMBER_CHANCES = (0.93541, 0.69948, 0.35821, 0.11831, 0.04603)  # 1, 2, 3, 4 or 5 dice of one number
FIXED_CHANCES = (0.74320, 0.29079, 0.36614, 0.61602, 0.26532, 0.41855)  # the six fixed cards
MORE_CHIPS = (1.18385, 0.49983, 0.15781, 0.04603)  # expected new chips on an own number card with 1, 2, 3 or 4 chips

ASKED = (5, 5, 5, 5, 5, 5, 3, 4, 5, 4, 5, 5)  # dice that each card needs, for the field `near`

STAKES = 5
PLACE, STEAL, IMPROVE, CHOOSE_TARGET, CHOOSE_TO_STAY = range(STAKES)
AHEAD = 4  # numbers for each space ahead


def layout(options: Any) -> Layout:
    """The fields of the observation, for an options record."""
    seats = int(options["num_players"])
    return Layout(
        [
            Field("mover", (seats,), 0, 1, "1 for the seat to move (own seat first); all 0 once the game is over"),
            Field(
                "dice", (NUM_DICE, SIDES), 0, 1, "the face of each die, ascending, one-hot; 0 before the first throw"
            ),
            Field("dice_counts", (SIDES,), 0, 1, "how many dice show each face / 5"),
            Field("throws_left", (4,), 0, 1, "0, 1, 2 or (before a choice) 3 throws left, one-hot"),
            Field(
                "same", (NUM_DICE,), 0, 1, "of each die: dice like it, if the card of its number is wanted, in fifths"
            ),
            Field("run", (1,), 0, 1, "longest run of faces / 5"),
            Field("dice_total", (1,), 0, 1, "the sum of the dice / 30"),
            Field("stake", (STAKES,), 0, 1, "place, steal, improve, choose a target or whether to stay, one-hot"),
            Field("target", (NUM_CARDS,), 0, 1, "the space played for (1-3, 5-7, 9-11, 13-15), one-hot"),
            Field("least_dice", (1,), 0, 1, "dice needed on the target's number card / 6; 0 for other targets"),
            Field("wanted", (NUM_CARDS,), 0, 1, "1 for each card that the right dice would claim"),
            Field("chips_now", (NUM_CARDS,), 0, 1, "chips on each card if it is claimed now / most on a card"),
            Field(
                "near",
                (NUM_CARDS,),
                0,
                1,
                "of each wanted card: useful dice / dice it asks for (5 for numbers, Chance)",
            ),
            Field(
                "useful", (NUM_CARDS, NUM_DICE), 0, 1, "of each wanted card: 1 for each die to keep when aiming at it"
            ),
            Field("unused", (NUM_CARDS,), 0, 1, "1 for each card that is not on the board"),
            Field("card", (NUM_CARDS, NUM_CARDS), 0, 1, "the card on each of the twelve spaces, one-hot"),
            Field("owner", (seats, NUM_CARDS), 0, 1, "1 where a seat's chips lie: seat, space"),
            Field("chips", (NUM_CARDS,), 0, 1, "chips on each space / most on a card"),
            Field("pawns", (seats, NUM_SPACES), 0, 1, "the space of each seat's pawn, one-hot"),
            Field("worth", (NUM_CARDS,), 0, 1, "of each opponent's card: chips / most on a card x chance to steal it"),
            Field(
                "firm", (NUM_CARDS,), 0, 1, "of each space: chips / most on a card x chance that a try to steal fails"
            ),
            Field("at_stake", (2,), 0, 1, "`worth` and `firm` of the space played for"),
            Field("held", (seats, NUM_CARDS), 0, 1, "chips of each seat on each card / most on a card"),
            Field("lasting", (seats, NUM_CARDS), 0, 1, "the same x chance that a try to steal fails"),
            Field(
                "ahead", (6, AHEAD), 0, 1, "1 to 6 spaces ahead: is empty, is own, is a corner, worth of trying there"
            ),
            Field("more", (1,), 0, 1, "chips to be expected of staying here / most on a card"),
            Field("showdown", (1,), 0, 1, "1 in the Showdown"),
            Field("last_turn", (seats,), 0, 1, "1 for each seat that has had or has its last turn"),
            Field("score", (seats,), 0, 1, "chips on the board / most there can be"),
            Field("lead", (1,), -1, 1, "own chips less the most of another seat, in the same unit"),
            Field("turns_left", (1,), 0, 1, "turns after this one until the game is cut short / max_turns"),
        ]
    )


@kernel
def useful_dice(card: int, dice: Dice) -> int:
    """The dice to keep when aiming at one card, as a set of slots: bit i is 1 if the die in slot i is kept."""
    first, last = 1, SIDES  # the range of faces that are kept
    most_of_one, least_of_one = NUM_DICE, 1  # of one face, how many dice are kept, and how many must be there
    if card < NUM_NUMBERS:
        first = last = card + 1
    elif card in (THREE_OF_A_KIND, FOUR_OF_A_KIND):
        first = last = commonest(dice)
    elif card == FULL_HOUSE:
        most_of_one, least_of_one = 3, 2
    elif card == CHANCE:
        first = 5
    else:
        length = 4 if card == SMALL_STRAIGHT else 5
        first, most_of_one = fullest(dice, length), 1
        last = first + length - 1
    kept = 0
    for slot in range(NUM_DICE):
        before = slot  # the first die of its face
        while before > 0 and dice[before - 1] == dice[slot]:
            before -= 1
        is_enough = least_of_one == 1 or count(dice, dice[slot]) >= least_of_one
        if first <= dice[slot] <= last and slot - before < most_of_one and is_enough:
            kept |= 1 << slot
    return kept


@kernel
def commonest(dice: Dice) -> int:
    """The face that most dice show; among equals, the highest."""
    best = 1
    for face in range(2, SIDES + 1):
        if count(dice, face) >= count(dice, best):
            best = face
    return best


@kernel
def fullest(dice: Dice, length: int) -> int:
    """The first face of the run of `length` of which the dice show most; among equals, the middle or first run."""
    best, most = 0, -1
    for first in range(1, SIDES - length + 2):
        number = 0
        for face in range(first, first + length):
            number += count(dice, face) > 0
        if number > most or (number == most and length == 4 and first == 2):
            best, most = first, number
    return best


@kernel
def steal_chance(state: Any, options: Any, space: int) -> float:
    """The chance to steal the card on a space with three throws that aim only at it."""
    card = int(state["card"][space])
    if card >= NUM_NUMBERS:
        return float(FIXED_CHANCES[card - NUM_NUMBERS])
    needed = min(dice_to_steal(int(state["chips"][space]), options), NUM_DICE)  # five alike are always enough
    return float(NUMBER_CHANCES[needed - 1])


@kernel
def trying_gives(state: Any, options: Any, space: int, seat: int) -> float:
    """The approximate expected chips of a seat that tries for the card on a space."""
    if state["owner"][space] != seat:
        return steal_chance(state, options, space) * int(state["chips"][space])
    return float(MORE_CHIPS[int(state["chips"][space]) - 1]) if may_stay(state, space) else 0.0


@kernel
def most_on_card(options: Any) -> int:
    """The most chips that can lie on one card."""
    most = NUM_DICE
    for card in range(NUM_CARDS - NUM_NUMBERS):
        most = max(most, int(options["chips"][card]))
    return most


@kernel
def most_on_board(options: Any) -> int:
    """The most chips that can lie on the board."""
    most = NUM_DICE * NUM_NUMBERS
    for card in range(NUM_CARDS - NUM_NUMBERS):
        most += int(options["chips"][card])
    return most


@kernel
def show_dice(state: Any, options: Any, out: NDArray[np.float32]) -> int:
    """Write the fields from `dice` to `dice_total` into the zeros of `out`; returns where the next field starts."""
    dice, wanted = state["dice"], wanted_cards(state)
    at = NUM_DICE * SIDES
    out[at + SIDES + int(state["throws_left"])] = 1.0
    if state["target"] != CHOOSING:
        for slot in range(NUM_DICE):
            out[slot * SIDES + int(dice[slot]) - 1] = 1.0
            if has_card(wanted, int(dice[slot]) - 1):
                out[at + SIDES + 4 + slot] = count(dice, dice[slot]) / 5.0
        for face in range(SIDES):
            out[at + face] = count(dice, face + 1) / 5.0
        out[at + SIDES + 4 + NUM_DICE] = longest_run(dice) / 5.0
        out[at + SIDES + 4 + NUM_DICE + 1] = total(dice) / 30.0
    return at + SIDES + 4 + NUM_DICE + 2


@kernel
def show_stake(state: Any, options: Any, out: NDArray[np.float32]) -> int:
    """Write the fields from `stake` to `unused` into the zeros of `out`; returns where the next field starts."""
    space, player, wanted, unused = int(state["target"]), state["player"], wanted_cards(state), unused_cards(state)
    most = most_on_card(options)
    if space == CHOOSING:
        out[CHOOSE_TARGET if is_corner(state["pawns"][player]) else CHOOSE_TO_STAY] = 1.0
    else:
        if state["card"][space] == EMPTY:
            out[PLACE] = 1.0
        else:
            out[IMPROVE if state["owner"][space] == player else STEAL] = 1.0
            if state["card"][space] < NUM_NUMBERS:
                out[STAKES + NUM_CARDS] = least_dice(state, options, space) / 6.0
        out[STAKES + space - 1 - space // 4] = 1.0
    at = STAKES + NUM_CARDS + 1
    for card in range(NUM_CARDS):
        if has_card(wanted, card):
            out[at + card] = 1.0
            out[at + NUM_CARDS + card] = chips_now(state, options, card) / most
            useful, number = useful_dice(card, state["dice"]), 0
            for slot in range(NUM_DICE):
                if (useful >> slot) & 1:
                    out[at + 3 * NUM_CARDS + card * NUM_DICE + slot] = 1.0
                    number += 1
            out[at + 2 * NUM_CARDS + card] = min(1.0, number / ASKED[card])
        out[at + 3 * NUM_CARDS + NUM_CARDS * NUM_DICE + card] = has_card(unused, card)
    return at + 4 * NUM_CARDS + NUM_CARDS * NUM_DICE


@kernel
def show_board(state: Any, options: Any, seat: int, out: NDArray[np.float32]) -> int:
    """Write the fields from `card` to `more` into the zeros of `out`; returns where the next field starts."""
    num_players, most = int(options["num_players"]), most_on_card(options)
    owners = NUM_CARDS * NUM_CARDS
    chips = owners + num_players * NUM_CARDS
    pawns = chips + NUM_CARDS
    worth = pawns + num_players * NUM_SPACES
    firm = worth + NUM_CARDS
    at_stake = firm + NUM_CARDS
    held = at_stake + 2
    lasting = held + num_players * NUM_CARDS
    ahead = lasting + num_players * NUM_CARDS
    for number in range(NUM_CARDS):
        space = CARD_SPACES[number]
        if state["card"][space] != EMPTY:
            card, chips_here = int(state["card"][space]), state["chips"][space] / most
            out[number * NUM_CARDS + card] = 1.0
            turn = (int(state["owner"][space]) - seat + num_players) % num_players
            out[owners + turn * NUM_CARDS + number] = 1.0
            out[chips + number] = chips_here
            out[held + turn * NUM_CARDS + card] = chips_here
            out[firm + number] = chips_here * (1.0 - steal_chance(state, options, space))
            out[lasting + turn * NUM_CARDS + card] = out[firm + number]
            if turn > 0:
                out[worth + number] = trying_gives(state, options, space, seat) / most
            if state["target"] == space:
                out[at_stake] = out[worth + number]
                out[at_stake + 1] = out[firm + number]
    for turn in range(num_players):
        out[pawns + turn * NUM_SPACES + int(state["pawns"][(seat + turn) % num_players])] = 1.0
    here = int(state["pawns"][seat])
    for step in range(6):
        space = (here + step + 1) % NUM_SPACES
        if is_corner(space):
            out[ahead + step * AHEAD + 2] = 1.0
        elif state["card"][space] == EMPTY:
            out[ahead + step * AHEAD] = 1.0
        else:
            out[ahead + step * AHEAD + 1] = state["owner"][space] == seat
            out[ahead + step * AHEAD + 3] = trying_gives(state, options, space, seat) / most
    more = ahead + 6 * AHEAD
    if state["owner"][here] == seat:
        out[more] = trying_gives(state, options, here, seat) / most
    return more + 1


@kernel
def show_course(state: Any, options: Any, seat: int, out: NDArray[np.float32]) -> None:
    """Write the fields from `showdown` to the end into the zeros of `out`."""
    num_players, most = int(options["num_players"]), most_on_board(options)
    out[0] = state["last_turns"] > 0
    lead, best = 0, 0
    for turn in range(num_players):
        other = (seat + turn) % num_players
        out[1 + turn] = has_last_turn(state, options, other)
        points = score(state, other)
        out[1 + num_players + turn] = points / most
        if turn == 0:
            lead = points
        elif turn == 1 or points > best:
            best = points
    out[1 + 2 * num_players] = (lead - best) / most
    out[2 + 2 * num_players] = max(0, int(options["max_turns"]) - int(state["turns"])) / options["max_turns"]


@kernel
def observe(state: Any, options: Any, seat: int, out: NDArray[np.float32]) -> None:
    """Write the observation of `seat` into `out`, the fields of `layout` one after the other."""
    num_players = int(options["num_players"])
    out[:] = 0.0
    if not is_terminal(state, options):
        out[(int(state["player"]) - seat + num_players) % num_players] = 1.0
    at = num_players
    at += show_dice(state, options, out[at:])
    at += show_stake(state, options, out[at:])
    at += show_board(state, options, int(seat), out[at:])
    show_course(state, options, int(seat), out[at:])
