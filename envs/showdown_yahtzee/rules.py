"""The rules of Showdown Yahtzee, for one game. The page in this folder explains them."""

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
from fivedice.envs.showdown_yahtzee.lookup import has_card, wanted_cards

CARDS = (
    *("Ones", "Twos", "Threes", "Fours", "Fives", "Sixes"),
    *("Three of a Kind", "Four of a Kind", "Full House", "Small Straight", "Large Straight", "Chance"),
)
NUM_CARDS = 12
NUM_NUMBERS = 6  # cards 0..5 ask for dice of one number; the others are fixed: their number of chips is fixed
THREE_OF_A_KIND, FOUR_OF_A_KIND, FULL_HOUSE, SMALL_STRAIGHT, LARGE_STRAIGHT, CHANCE = range(NUM_NUMBERS, NUM_CARDS)
CHANCE_FROM = 25
MOST_SEATS = 4

NUM_SPACES = 16  # 0..15 clockwise
SIDE = 4  # spaces 0, 4, 8, 12 are Wild corners; each of the twelve others holds one card at most
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
        (
            "target",
            np.int8,
        ),  # the space that the player throws for, or CHOOSING: a target from a Wild corner, or to stay
        ("turns", np.int32),  # turns begun, by all seats; max_turns + 1 once the game is cut short
        ("last_turns", np.int8),  # last turns begun in the Showdown, 0 before it; num_players + 1 once they are over
    ]
)

# Actions 0 to 30 are sets of slots: these dice are kept, the others are thrown. Then come claims of the twelve cards,
# the twelve spaces that are no corners as targets, stay, and move on.
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


@kernel(allocates=True)
def throw_for_start(state: Any, num_players: int, chance: Chance) -> int:
    """The seat that throws the highest red die. Tied players throw again."""
    is_throwing, reds = np.ones(num_players, np.bool_), np.zeros(num_players, np.int8)
    while True:
        highest = 0
        for seat in range(num_players):
            if is_throwing[seat]:
                reds[seat] = throw_red_die(state, seat, chance)
                highest = max(highest, int(reds[seat]))
        number, first = 0, 0
        for seat in range(num_players):
            if is_throwing[seat] and reds[seat] == highest:
                number += 1
                first = seat
            else:
                is_throwing[seat] = False
        if number == 1:
            return first


@kernel
def throw_red_die(state: Any, seat: int, chance: Chance) -> int:
    """A face from 1 to 6. The first slot of the five dice holds it for a moment."""
    roll_dice(state["dice"][:1], 0, SIDES, seat, chance)
    return int(state["dice"][0])


@kernel
def pass_dice(state: Any, options: Any, chance: Chance) -> None:
    """Begin the turn of the next seat that has something to decide, unless the game ends first."""
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
    """Throw the red die and move, again if there is no other choice; returns whether the player has to decide."""
    player = state["player"]
    choose(state)  # there are no dice before the player has a target
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
    """From a Wild corner, take the only target or let the player choose; returns whether there is a target."""
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
    """Let the player choose before the first throw of the dice."""
    state["dice"][:] = 0
    state["target"] = CHOOSING
    state["throws_left"] = ALL_THROWS


@kernel
def play_for(state: Any, space: int, chance: Chance) -> None:
    """Make a space the target, and make the first of three throws."""
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
    """Whether the player may choose a space from a Wild corner: an empty space, or one with an opponent's card.

    There are as many spaces as cards, so while a space is empty, there is an unused card for it.
    """
    return bool(not is_corner(space) and state["owner"][space] != state["player"])


@kernel
def may_stay(state: Any, space: int) -> bool:
    """Whether the player may stay on an own card for more chips: a number card below five, before the Showdown."""
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
    """How many cards have chips of a seat."""
    number = 0
    for space in range(NUM_SPACES):
        number += state["owner"][space] == seat
    return number


@kernel
def is_unused(state: Any, card: int) -> bool:
    """Whether a card is not on the board."""
    for space in range(NUM_SPACES):
        if state["card"][space] == card:
            return False
    return True


@kernel
def is_wanted(state: Any, card: int) -> bool:
    """Whether the player may claim a card for the target if the dice meet it. `wanted_cards` is their set."""
    space = state["target"]
    if space == CHOOSING:
        return False
    if state["card"][space] == EMPTY:
        return is_unused(state, card)
    return bool(state["card"][space] == card)


@kernel
def dice_to_steal(chips: int, options: Any) -> int:
    """How many dice of its number steal a number card with so many chips: as many, or (option `steal`) one more."""
    return chips + 1 if options["steal"] == BEAT else chips


@kernel
def least_dice(state: Any, options: Any, space: int) -> int:
    """How many dice of its number the player needs for the number card on a space, to steal it or to get more chips."""
    chips = int(state["chips"][space])
    if state["owner"][space] == state["player"]:
        return chips + 1
    return dice_to_steal(chips, options)


@kernel
def has_alike(dice: Dice, number: int) -> bool:
    """Whether at least `number` of five sorted dice show the same face."""
    for slot in range(NUM_DICE - number + 1):
        if dice[slot] == dice[slot + number - 1]:
            return True
    return False


@kernel
def longest_run(dice: Dice) -> int:
    """The most consecutive faces that five sorted dice show."""
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
    """The chips that dice give on an unused card, 0 if they do not meet it. Five alike meet every card."""
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
def chips_from(card: int, dice: Dice, needed: int, options: Any) -> int:
    """The chips that dice give on a card, 0 if they do not meet it; a number card takes `needed` dice or five alike."""
    chips = chips_for(card, dice, options)
    if card < NUM_NUMBERS and chips < needed and not is_five_alike(dice):
        return 0
    return chips


@kernel
def chips_now(state: Any, options: Any, card: int) -> int:
    """The chips on a wanted card if the player claims it with the current dice, 0 if they do not meet it."""
    space, needed = state["target"], 0
    if card < NUM_NUMBERS and state["card"][space] != EMPTY:
        needed = least_dice(state, options, space)
    return chips_from(card, state["dice"], needed, options)


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
    continues = True  # whether the turn does
    if action < CLAIM:
        state["throws_left"] -= 1
        throw(state["dice"], action, player, chance)
        continues = state["throws_left"] > 0 or may_claim(state, options)
    elif action < TARGET:
        claim(state, options, action - CLAIM)
        continues = state["last_turns"] > 0 and move(state, chance)
    elif action < STAY:
        play_for(state, CARD_SPACES[action - TARGET], chance)
    elif action == STAY:
        play_for(state, state["pawns"][player], chance)
    else:
        continues = move(state, chance)
    if not continues:
        pass_dice(state, options, chance)


@kernel
def may_claim(state: Any, options: Any) -> bool:
    """Whether the dice meet at least one card that the player may claim."""
    wanted = wanted_cards(state)
    for card in range(NUM_CARDS):
        if has_card(wanted, card) and chips_now(state, options, card) > 0:
            return True
    return False


@kernel
def claim(state: Any, options: Any, card: int) -> None:
    """Put the player's chips on the target, and the card if the target is empty."""
    space = state["target"]
    state["chips"][space] = chips_now(state, options, card)
    state["card"][space] = card
    state["owner"][space] = state["player"]


@kernel
def is_terminal(state: Any, options: Any) -> bool:
    return bool(state["last_turns"] > options["num_players"] or is_truncated(state, options))


@kernel
def has_last_turn(state: Any, options: Any, seat: int) -> bool:
    """Whether a seat has had its last turn or has it now. Last turns go in turn order; the player's is the latest."""
    since = (int(state["player"]) - seat + int(options["num_players"])) % int(options["num_players"])
    return bool(since < state["last_turns"])


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
    for seat in range(options["num_players"]):
        points[seat] = score(state, seat)


@kernel
def winners(state: Any, options: Any, won: NDArray[np.int8]) -> None:
    most = 0
    for seat in range(options["num_players"]):
        most = max(most, score(state, seat))
    for seat in range(options["num_players"]):
        won[seat] = score(state, seat) == most
