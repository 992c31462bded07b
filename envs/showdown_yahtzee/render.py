"""Showdown Yahtzee in words: the board for a terminal, the names of actions."""

from typing import Any

from fivedice.envs.core.dice import KEEP_ALL
from fivedice.envs.display.words import draw_dice, keep_names, name_keep, name_winners
from fivedice.envs.showdown_yahtzee.rules import (
    CARD_SPACES,
    CARDS,
    CHOOSING,
    CLAIM,
    EMPTY,
    NUM_CARDS,
    NUM_NUMBERS,
    SIDE,
    STAY,
    TARGET,
    chips_now,
    has_card,
    is_corner,
    is_terminal,
    is_truncated,
    least_dice,
    score,
    unused_cards,
    winners,
)

WIDTH = 14  # of a space on the drawing
# The spaces as they lie on the table, clockwise from the upper left corner.
RING = {(0, 0): 0, (0, 1): 1, (0, 2): 2, (0, 3): 3, (0, 4): 4, (1, 4): 5, (2, 4): 6, (3, 4): 7}
RING |= {(4, 4): 8, (4, 3): 9, (4, 2): 10, (4, 1): 11, (4, 0): 12, (3, 0): 13, (2, 0): 14, (1, 0): 15}


def action_names(options: Any) -> tuple[str, ...]:
    """Each action in a few words."""
    claims = [f"claim {card}" for card in CARDS]
    targets = [f"target space {CARD_SPACES[number]}" for number in range(NUM_CARDS)]
    return (*keep_names(), *claims, *targets, "stay", "move on")


def name_action(state: Any, options: Any, action: int) -> str:
    """An action in words that show dice, chips and spaces."""
    player = int(state["player"])
    if action < TARGET and state["target"] == CHOOSING:  # illegal: there are no dice and nothing to claim yet
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
    """The board as it lies on the table, pawns as <seat>, the space that is played for marked by an arrow."""
    inside = _standings(state, options)
    rows = []
    for row in range(SIDE + 1):
        for part in range(3):
            cells = [
                _cell(state, options, RING[row, column])[part] for column in range(SIDE + 1) if (row, column) in RING
            ]
            if len(cells) == 2:  # the middle of the ring holds what is to be said
                cells[1:1] = [f"{inside.pop(0) if inside else '':<{3 * WIDTH + 2}}"]
            rows.append(" ".join(f"{cell:<{WIDTH}}" for cell in cells))
    unused = [card for number, card in enumerate(CARDS) if has_card(unused_cards(state), number)]
    rows.append(f"Unused  {', '.join(unused) or 'none'}")
    if not is_terminal(state, options):
        rows.append(f"player_{int(state['player'])} {_stake(state, options)}")
        if state["target"] != CHOOSING:
            rows.append(draw_dice(state["dice"], int(state["throws_left"])))
    return "\n".join(line.rstrip() for line in rows)


def _standings(state: Any, options: Any) -> list[str]:
    """How the game stands, in a few lines."""
    seats, over = range(int(options["num_players"])), bool(is_terminal(state, options))
    player, last_turns = int(state["player"]), int(state["last_turns"])
    if is_truncated(state, options):
        lines = [f"Cut short after {int(options['max_turns'])} turns"]
    else:
        lines = ["Game over" if over else "Showdown" if last_turns else f"Turn {int(state['turns'])}"]
    if over:
        lines.append(f"won by {name_winners(winners, state, options)}")
    for seat in seats:
        mark = "▸" if seat == player and not over else " "
        # The seats have their last turns in turn order, the player's is the latest.
        had = not over and (player - seat) % len(seats) < last_turns
        lines.append(f"{mark} player_{seat}  {score(state, seat)} chips{', last turn' if had else ''}")
    return ["", *lines]


def _cell(state: Any, options: Any, space: int) -> tuple[str, str, str]:
    """Three lines for a space: its number with the pawns on it, its card, and whose chips lie there."""
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


def _stake(state: Any, options: Any) -> str:
    """What the player does, in a few words that follow the player's name."""
    player, space = int(state["player"]), int(state["target"])
    if space == CHOOSING:
        at = int(state["pawns"][player])
        if is_corner(at):
            return f"chooses a space to play for, from the Wild corner {at}"
        return f"may stay on space {at} for more chips, or move on"
    if state["card"][space] == EMPTY:
        return f"throws for any unused card on space {space}"
    needs = f"{least_dice(state, options, space)} dice or more" if state["card"][space] < NUM_NUMBERS else "its dice"
    return f"throws for {name_space(state, space)} on space {space}: needs {needs}"
