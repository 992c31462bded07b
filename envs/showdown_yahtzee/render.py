"""Showdown Yahtzee as text: the board, and the names of actions."""

from typing import Any

from fivedice.envs.core.dice import KEEP_ALL
from fivedice.envs.display.words import draw_dice, keep_names, name_keep, name_winners
from fivedice.envs.showdown_yahtzee.rules import (
    CARD_SPACES,
    CARDS,
    CHANCE_FROM,
    CHOOSING,
    CLAIM,
    EMPTY,
    NUM_CARDS,
    NUM_NUMBERS,
    SIDE,
    STAY,
    TARGET,
    chips_now,
    has_last_turn,
    is_corner,
    is_terminal,
    is_truncated,
    is_unused,
    least_dice,
    score,
    winners,
)

# What the dice must show to steal each fixed card.
CONDITIONS = (
    *("three alike", "four alike", "three of one number and two of another"),
    *("four in a row", "five in a row", f"a total of {CHANCE_FROM} or more"),
)
WIDTH = 14  # characters of a space
# The places of the spaces in the picture (row, column), clockwise from the upper left corner.
RING = {(0, 0): 0, (0, 1): 1, (0, 2): 2, (0, 3): 3, (0, 4): 4, (1, 4): 5, (2, 4): 6, (3, 4): 7}
RING |= {(4, 4): 8, (4, 3): 9, (4, 2): 10, (4, 1): 11, (4, 0): 12, (3, 0): 13, (2, 0): 14, (1, 0): 15}


def action_names(options: Any) -> tuple[str, ...]:
    """A name for each action, with slots for dice. It does not depend on the state."""
    claims = [f"claim {card}" for card in CARDS]
    targets = [f"target space {CARD_SPACES[number]}" for number in range(NUM_CARDS)]
    return (*keep_names(), *claims, *targets, "stay", "move on")


def name_action(state: Any, options: Any, action: int) -> str:
    """An action in words: the dice that are kept, or the card or space and its chips."""
    player = int(state["player"])
    if action < TARGET and state["target"] == CHOOSING:  # illegal: there are no dice yet, and no target
        return action_names(options)[action]
    if action < KEEP_ALL:
        return name_keep(state["dice"], action)
    if action < TARGET:
        card, space = action - CLAIM, int(state["target"])
        chips = chips_now(state, options, card)
        if state["card"][space] == EMPTY:
            return f"place {CARDS[card]} on space {space}: {chips}"
        if state["owner"][space] == player:
            return f"improve {CARDS[card]} on space {space}: {chips}"
        return f"steal {CARDS[card]} on space {space} from player_{int(state['owner'][space])}: {chips}"
    if action < STAY:
        space = CARD_SPACES[action - TARGET]
        return f"target space {space}, {name_space(state, space)}"
    space = int(state["pawns"][player])
    return f"stay on space {space}" if action == STAY else f"move on from space {space}"


def name_space(state: Any, space: int) -> str:
    """What lies on a space."""
    if state["card"][space] == EMPTY:
        return "empty"
    chips, owner = int(state["chips"][space]), int(state["owner"][space])
    return f"{CARDS[state['card'][space]]} with {chips} of player_{owner}"


def render(state: Any, options: Any) -> str:
    """The board, with pawns as <seat>. An arrow marks the target."""
    inside = _standings(state, options)
    rows = []
    for row in range(SIDE + 1):
        for part in range(3):
            cells = [
                _cell(state, options, RING[row, column])[part] for column in range(SIDE + 1) if (row, column) in RING
            ]
            if len(cells) == 2:  # the middle of the ring shows the standings
                cells[1:1] = [f"{inside.pop(0) if inside else '':<{3 * WIDTH + 2}}"]
            rows.append(" ".join(f"{cell:<{WIDTH}}" for cell in cells))
    unused = [name for card, name in enumerate(CARDS) if is_unused(state, card)]
    rows.append(f"Unused  {', '.join(unused) or 'none'}")
    if not is_terminal(state, options):
        rows.append(f"player_{int(state['player'])} {explain_stake(state, options)}")
        if state["target"] != CHOOSING:
            rows.append(draw_dice(state["dice"], int(state["throws_left"])))
    return "\n".join(line.rstrip() for line in rows)


def _standings(state: Any, options: Any) -> list[str]:
    """The turn or the end of the game, and the chips of each seat, as lines."""
    seats, over = range(int(options["num_players"])), bool(is_terminal(state, options))
    player = int(state["player"])
    if is_truncated(state, options):
        lines = [f"Cut short after {int(options['max_turns'])} turns"]
    else:
        lines = ["Game over" if over else "Showdown" if state["last_turns"] else f"Turn {int(state['turns'])}"]
    if over:
        lines.append(f"won by {name_winners(winners, state, options)}")
    for seat in seats:
        mark = "▸" if seat == player and not over else " "
        had = not over and has_last_turn(state, options, seat)
        lines.append(f"{mark} player_{seat}  {score(state, seat)} chips{', last turn' if had else ''}")
    return ["", *lines]


def _cell(state: Any, options: Any, space: int) -> tuple[str, str, str]:
    """Three lines for a space: its number and the pawns on it, its card, and the owner and number of its chips."""
    seats = range(int(options["num_players"]))
    pawns = "".join(f"<{seat}>" for seat in seats if state["pawns"][seat] == space)
    target = " →" if state["target"] == space and not is_terminal(state, options) else ""
    if is_corner(space):
        card, chips = "WILD", ""
    elif state["card"][space] == EMPTY:
        card, chips = "·", ""
    else:
        card = CARDS[state["card"][space]].replace(" of a ", " of ")
        chips = f"player_{int(state['owner'][space])}: {int(state['chips'][space])}"
    return f"{space}{target} {pawns}", card, chips


def explain_stake(state: Any, options: Any) -> str:
    """What the player is doing, in words that follow the name of the player."""
    player, space = int(state["player"]), int(state["target"])
    if space == CHOOSING:
        at = int(state["pawns"][player])
        if is_corner(at):
            return f"chooses a space to play for, from the Wild corner {at}"
        return f"may stay on space {at} for more chips, or move on"
    if state["card"][space] == EMPTY:
        return f"throws for any unused card on space {space}"
    card = int(state["card"][space])
    number_card = card < NUM_NUMBERS
    needs = f"{least_dice(state, options, space)} dice or more" if number_card else CONDITIONS[card - NUM_NUMBERS]
    return f"throws for {name_space(state, space)} on space {space}: needs {needs}"
