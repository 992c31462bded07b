"""The rules of Showdown Yahtzee, for one game. The page beside this file tells them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.core.chance import Chance, roll_dice
from fivedice.envs.core.dice import (
    KEEP_ALL,
    NUM_DICE,
    SIDES,
    Dice,
    count,
    is_five_alike,
    is_three_and_two,
    throw,
    total,
)
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.option import OneOf, WholeNumber, WholeNumbers

CARDS = (
    *("Ones", "Twos", "Threes", "Fours", "Fives", "Sixes"),
    *("Three of a Kind", "Four of a Kind", "Full House", "Small Straight", "Large Straight", "Chance"),
)
NUM_CARDS = 12
NUM_NUMBERS = 6  # cards 0..5 ask for dice of one number; the others are fixed: their chips are printed on them
THREE_OF_A_KIND, FOUR_OF_A_KIND, FULL_HOUSE, SMALL_STRAIGHT, LARGE_STRAIGHT, CHANCE = range(NUM_NUMBERS, NUM_CARDS)
CHANCE_FROM = 25
MOST_SEATS = 4

NUM_SPACES = 16  # 0..15 clockwise
SIDE = 4  # spaces 0, 4, 8, 12 are Wild corners; the twelve others hold a card each at most
CARD_SPACES = (1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15)

EMPTY = -1  # in `card`
NOBODY = -1  # in `owner`
CHOOSING = -1  # in `target`
ALL_THROWS = 3

STATE = np.dtype(
    [
        ("card", np.int8, (NUM_SPACES,)),  # the card on each space, 0..11, or EMPTY
        ("owner", np.int8, (NUM_SPACES,)),  # the seat whose chips lie on it, or NOBODY
        ("chips", np.int8, (NUM_SPACES,)),  # how many, 0 without a card
        ("pawns", np.int8, (MOST_SEATS,)),  # the space of each pawn, 0..15
        ("dice", np.int8, (NUM_DICE,)),  # faces 1..6, ascending; 0 while the player is CHOOSING
        ("throws_left", np.int8),  # 3 while the player is CHOOSING, then 2, 1, 0
        ("player", np.int8),  # the seat whose turn it is
        ("target", np.int8),  # the space that is played for; CHOOSING on a Wild corner, or whether to stay
        ("turns", np.int32),  # turns begun, by all seats; max_turns + 1 once the game is cut short
        ("last_turns", np.int8),  # last turns begun in the Showdown, 0 before it; num_players + 1 once they are over
    ]
)

# Actions 0..30 keep the dice in these slots and throw the others; then come claims of a card, spaces to play for
# (the twelve that are no corners), stay, and move on.
CLAIM = KEEP_ALL
TARGET = CLAIM + NUM_CARDS
STAY = TARGET + NUM_CARDS
MOVE_ON = STAY + 1
NUM_ACTIONS = MOVE_ON + 1

MATCH, BEAT = 0, 1
OPTIONS = (
    WholeNumbers(
        "chips",
        (2, 3, 3, 3, 4, 2),
        1,
        20,
        "chips of Three of a Kind, Four of a Kind, Full House, Small Straight, Large Straight and Chance",
    ),
    OneOf("steal", ("match", "beat"), "whether a number card is stolen with as many dice as its chips, or with more"),
    WholeNumber("max_turns", 400, 1, 1_000_000, "turns, of all seats together, after which a game is cut short"),
)


@kernel
def setup(state: Any, options: Any, chance: Chance) -> None:
    state["card"][:] = EMPTY
    state["owner"][:] = NOBODY
    state["chips"][:] = 0
    for seat in range(MOST_SEATS):
        state["pawns"][seat] = SIDE * seat
    state["turns"] = 0
    state["last_turns"] = 0
    num_players = options["num_players"]
    first = throw_for_start(state, num_players, chance)
    state["player"] = (first + num_players - 1) % num_players  # from whom the dice are passed on
    pass_dice(state, options, chance)


@kernel
def throw_for_start(state: Any, num_players: int, chance: Chance) -> int:
    """The seat that throws the highest red die; those tied throw again."""
    throwing = (1 << num_players) - 1  # a set of seats, as bits
    while True:
        tied, highest, first, number = 0, 0, 0, 0
        for seat in range(num_players):
            if (throwing >> seat) & 1:
                red = throw_red_die(state, seat, chance)
                if red > highest:
                    highest, tied, number = red, 0, 0
                if red == highest:
                    tied |= 1 << seat
                    number += 1
                    first = seat
        if number == 1:
            return first
        throwing = tied


@kernel
def throw_red_die(state: Any, seat: int, chance: Chance) -> int:
    """A face from 1 to 6; it falls in the first slot, where the five dice are thrown afterwards."""
    roll_dice(state["dice"][:1], 0, SIDES, seat, chance)
    return int(state["dice"][0])


@kernel
def pass_dice(state: Any, options: Any, chance: Chance) -> None:
    """Begin the next seat's turn, and the next one's if that has nothing to decide, unless the game is over."""
    last_mover = state["player"]
    while True:
        if state["last_turns"] == options["num_players"]:
            state["last_turns"] += 1
            state["player"] = last_mover
            return
        if state["turns"] == options["max_turns"]:
            state["turns"] += 1
            state["player"] = last_mover
            return
        state["turns"] += 1
        if num_placed(state) == NUM_CARDS:
            state["last_turns"] += 1
        state["player"] = (state["player"] + 1) % options["num_players"]
        if move(state, chance):
            return


@kernel
def move(state: Any, chance: Chance) -> bool:
    """Move by the red die, again where that is all there is to do; whether the player then has something to decide."""
    player = state["player"]
    choose(state)  # until a space is played for there are no dice
    while True:
        space = (state["pawns"][player] + throw_red_die(state, player, chance)) % NUM_SPACES
        state["pawns"][player] = space
        state["dice"][0] = 0
        if is_corner(space):
            return choose_target(state, chance)
        if state["owner"][space] != player:
            play_for(state, space, chance)
            return True
        if may_stay(state, space):
            choose(state)
            return True
        if num_owned(state, player) == NUM_CARDS:
            return False


@kernel
def choose_target(state: Any, chance: Chance) -> bool:
    """Go on from a Wild corner; whether there is a space to play for."""
    targets, only = 0, 0
    for space in range(NUM_SPACES):
        if is_target(state, space):
            targets, only = targets + 1, space
    if targets == 1:
        play_for(state, only, chance)
    elif targets > 1:
        choose(state)
    return targets > 0


@kernel
def choose(state: Any) -> None:
    """Let the player choose before any dice are thrown."""
    state["dice"][:] = 0
    state["target"] = CHOOSING
    state["throws_left"] = ALL_THROWS


@kernel
def play_for(state: Any, space: int, chance: Chance) -> None:
    """Make the first of three throws for a space."""
    state["target"] = space
    state["throws_left"] = ALL_THROWS - 1
    throw(state["dice"], 0, state["player"], chance)


@kernel
def current_player(state: Any) -> int:
    return int(state["player"])


@kernel
def is_corner(space: int) -> bool:
    """Whether a space is a Wild corner."""
    return space % SIDE == 0


@kernel
def is_target(state: Any, space: int) -> bool:
    """Whether the player may play for a space from a Wild corner: an empty one, or one with an opponent's card.

    There are as many spaces as cards, so while one is empty there is a card for it.
    """
    return bool(not is_corner(space) and state["owner"][space] != state["player"])


@kernel
def may_stay(state: Any, space: int) -> bool:
    """Whether more chips can be thrown for on the player's own card: not on a fixed one, nor in the Showdown."""
    is_number = state["card"][space] < NUM_NUMBERS
    return bool(is_number and state["chips"][space] < NUM_DICE and state["last_turns"] == 0)


@kernel
def num_placed(state: Any) -> int:
    """How many cards lie on the board."""
    number = 0
    for space in range(NUM_SPACES):
        number += state["card"][space] != EMPTY
    return number


@kernel
def num_owned(state: Any, seat: int) -> int:
    """On how many cards a seat's chips lie."""
    number = 0
    for space in range(NUM_SPACES):
        number += state["owner"][space] == seat
    return number


@kernel
def unused_cards(state: Any) -> int:
    """The cards that are not on the board, as a set of bits."""
    unused = (1 << NUM_CARDS) - 1
    for space in range(NUM_SPACES):
        if state["card"][space] != EMPTY:
            unused &= ~(1 << int(state["card"][space]))
    return unused


@kernel
def has_card(cards: int, card: int) -> bool:
    """Whether a card is in a set of bits."""
    return bool((cards >> card) & 1)


@kernel
def wanted_cards(state: Any) -> int:
    """The cards that may be claimed for the target if the dice are right, as a set of bits."""
    space = state["target"]
    if space == CHOOSING:
        return 0
    if state["card"][space] == EMPTY:
        return unused_cards(state)
    return 1 << int(state["card"][space])


@kernel
def least_dice(state: Any, options: Any, space: int) -> int:
    """How many dice of its number the player needs for the number card on a space."""
    if state["owner"][space] == state["player"] or options["steal"] == BEAT:
        return int(state["chips"][space]) + 1
    return int(state["chips"][space])


@kernel
def has_alike(dice: Dice, number: int) -> bool:
    """Whether that many of five sorted dice show one face."""
    for slot in range(NUM_DICE - number + 1):
        if dice[slot] == dice[slot + number - 1]:
            return True
    return False


@kernel
def longest_run(dice: Dice) -> int:
    """How many different faces of five sorted dice follow one another."""
    longest, run = 1, 1
    for slot in range(1, NUM_DICE):
        if dice[slot] == dice[slot - 1] + 1:
            run += 1
            longest = max(longest, run)
        elif dice[slot] != dice[slot - 1]:
            run = 1
    return longest


@kernel
def chips_for(card: int, dice: Dice, options: Any) -> int:
    """The chips that dice give on a card of their own, 0 if they do not meet it; five alike meet every card."""
    five_alike = is_five_alike(dice)
    if card < NUM_NUMBERS:
        return NUM_DICE if five_alike else count(dice, card + 1)
    if card == THREE_OF_A_KIND:
        is_met = has_alike(dice, 3)
    elif card == FOUR_OF_A_KIND:
        is_met = has_alike(dice, 4)
    elif card == FULL_HOUSE:
        is_met = is_three_and_two(dice)
    elif card == SMALL_STRAIGHT:
        is_met = longest_run(dice) >= 4
    elif card == LARGE_STRAIGHT:
        is_met = longest_run(dice) == 5
    else:
        is_met = total(dice) >= CHANCE_FROM
    return int(options["chips"][card - NUM_NUMBERS]) if is_met or five_alike else 0


@kernel
def chips_now(state: Any, options: Any, card: int) -> int:
    """The chips that lie on a wanted card once it is claimed with the dice as they are; 0 if they do not do."""
    chips, space = chips_for(card, state["dice"], options), state["target"]
    if card < NUM_NUMBERS and state["card"][space] != EMPTY and not is_five_alike(state["dice"]):
        return chips if chips >= least_dice(state, options, space) else 0
    return chips


@kernel
def legal_actions(state: Any, options: Any, mask: NDArray[np.int8]) -> None:
    mask[:] = 0
    if is_terminal(state, options):
        return
    if state["target"] != CHOOSING:
        if state["throws_left"] > 0:
            mask[:CLAIM] = 1
        wanted = wanted_cards(state)
        for card in range(NUM_CARDS):
            if has_card(wanted, card):
                mask[CLAIM + card] = chips_now(state, options, card) > 0
    elif is_corner(state["pawns"][state["player"]]):
        for number in range(NUM_CARDS):
            mask[TARGET + number] = is_target(state, CARD_SPACES[number])
    else:
        mask[STAY] = 1
        mask[MOVE_ON] = 1


@kernel
def apply(state: Any, options: Any, action: int, chance: Chance) -> None:
    player = state["player"]
    goes_on = True  # whether the turn does
    if action < CLAIM:
        state["throws_left"] -= 1
        throw(state["dice"], action, player, chance)
        goes_on = state["throws_left"] > 0 or may_claim(state, options)
    elif action < TARGET:
        claim(state, options, action - CLAIM)
        goes_on = state["last_turns"] > 0 and move(state, chance)
    elif action < STAY:
        play_for(state, CARD_SPACES[action - TARGET], chance)
    elif action == STAY:
        play_for(state, state["pawns"][player], chance)
    else:
        goes_on = move(state, chance)
    if not goes_on:
        pass_dice(state, options, chance)


@kernel
def may_claim(state: Any, options: Any) -> bool:
    """Whether the dice are right for any card that is wanted."""
    wanted = wanted_cards(state)
    for card in range(NUM_CARDS):
        if has_card(wanted, card) and chips_now(state, options, card) > 0:
            return True
    return False


@kernel
def claim(state: Any, options: Any, card: int) -> None:
    """Put a card, or the one that lies there, under the player's chips."""
    space = state["target"]
    state["chips"][space] = chips_now(state, options, card)
    state["card"][space] = card
    state["owner"][space] = state["player"]


@kernel
def is_terminal(state: Any, options: Any) -> bool:
    return bool(state["last_turns"] > options["num_players"] or is_truncated(state, options))


@kernel
def is_truncated(state: Any, options: Any) -> bool:
    return bool(state["turns"] > options["max_turns"])


@kernel
def score(state: Any, seat: int) -> int:
    """A seat's chips on the board."""
    points = 0
    for space in range(NUM_SPACES):
        if state["owner"][space] == seat:
            points += int(state["chips"][space])
    return points


@kernel
def scores(state: Any, options: Any, points: NDArray[np.float64]) -> None:
    points[: options["num_players"]] = 0.0
    for space in range(NUM_SPACES):
        if state["owner"][space] != NOBODY:
            points[state["owner"][space]] += state["chips"][space]


@kernel
def winners(state: Any, options: Any, won: NDArray[np.int8]) -> None:
    most = 0
    for seat in range(options["num_players"]):
        most = max(most, score(state, seat))
    for seat in range(options["num_players"]):
        won[seat] = score(state, seat) == most
