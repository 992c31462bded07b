"""Showdown Yahtzee as a drawing: the ring of spaces, the cards with their chips, the pawns, and what is tried."""

import textwrap
from typing import Any

from fivedice.envs.core.marks import Marks
from fivedice.envs.display.pieces import (
    BOTTOM,
    MARGIN,
    TOP,
    draw_chip,
    draw_dice,
    draw_pawn,
    draw_pips,
    draw_seat,
    draw_standings,
    draw_table,
    draw_throws,
    ink_on,
    kept_dice,
    seat_colour,
    winner_words,
)
from fivedice.envs.display.svg import CREAM, FADED, GOLD, INK, ON_TABLE, PAPER, TABLE_DARK, WIDTH, Svg
from fivedice.envs.display.words import DOTS
from fivedice.envs.showdown_yahtzee.lookup import has_card, wanted_cards
from fivedice.envs.showdown_yahtzee.render import RING, explain_stake
from fivedice.envs.showdown_yahtzee.rules import (
    CARD_SPACES,
    CARDS,
    CHANCE_FROM,
    CHOOSING,
    CLAIM,
    EMPTY,
    NUM_CARDS,
    NUM_NUMBERS,
    NUM_SPACES,
    STAY,
    TARGET,
    chips_now,
    has_last_turn,
    is_corner,
    is_terminal,
    is_truncated,
    is_unused,
    num_placed,
    score,
    winners,
)

ASKS = ("3 alike", "4 alike", "3 and 2", "4 in a row", "5 in a row", f"{CHANCE_FROM} or more")  # the fixed cards
SPACE = (BOTTOM - TOP) / 5  # the side of a space of the ring
PLACES = {space: (MARGIN + column * SPACE, TOP + row * SPACE) for (row, column), space in RING.items()}
PANEL = MARGIN + 5 * SPACE + 16  # the left edge of what stands right of the ring
SIDE = 46  # of a die
MOST_CHIPS = 5  # that are drawn one by one


def card_name(card: int) -> str:
    """The name of the region of a card, such as ``"card-full-house"``."""
    return f"card-{CARDS[card].lower().replace(' ', '-')}"


def action_regions(state: Any, options: Any, action: int) -> tuple[str, ...]:
    """The dice that a keep holds, the card that is claimed, the space that is chosen; to move on, the own pawn."""
    if action < CLAIM:
        return kept_dice(action)
    if action < TARGET:
        return (card_name(action - CLAIM),)
    if action < STAY:
        return (f"space-{CARD_SPACES[action - TARGET]}",)
    player = int(state["player"])
    return (f"space-{int(state['pawns'][player])}" if action == STAY else f"pawn-{player}",)


def draw(state: Any, options: Any, marks: Marks) -> str:
    """The ring with the dice in its middle; beside it the unused cards and the chips of each seat."""
    seats, over, mover = int(options["num_players"]), bool(is_terminal(state, options)), int(state["player"])
    if over:
        status = winner_words(winners, state, options)
        if is_truncated(state, options):
            status = f"cut short after {int(options['max_turns'])} turns, {status}"
    else:
        phase = "Showdown" if state["last_turns"] else f"turn {int(state['turns'])}"
        status = f"player_{mover} to move, {phase}"
    svg = draw_table("Showdown Yahtzee", status, marks, None if over else mover, PANEL - 8)
    claims = {} if over else _claims(state, options)
    for space in range(NUM_SPACES):
        _draw_space(svg, state, options, space, over, claims)
    _draw_middle(svg, state, options, over)
    _draw_unused(svg, state, options, claims)
    points = [score(state, seat) for seat in range(seats)]
    notes = ["last turn" if not over and has_last_turn(state, options, seat) else "" for seat in range(seats)]
    draw_standings(svg, PANEL, BOTTOM - 30 * seats - 12, WIDTH - MARGIN - PANEL, points, None if over else mover, notes)
    return svg.finish()


def _claims(state: Any, options: Any) -> dict[int, int]:
    """The chips of each card that the dice meet and the player may claim."""
    if state["target"] == CHOOSING:
        return {}
    wanted = int(wanted_cards(state))
    chips = {card: int(chips_now(state, options, card)) for card in range(NUM_CARDS) if has_card(wanted, card)}
    return {card: number for card, number in chips.items() if number > 0}


def _draw_space(svg: Svg, state: Any, options: Any, space: int, over: bool, claims: dict[int, int]) -> None:
    x, y = PLACES[space]
    x, y, side = x + 3, y + 3, SPACE - 6
    is_tried = not over and state["target"] == space
    card = int(state["card"][space])
    label = f"space {space}: " + (
        "Wild corner"
        if is_corner(space)
        else "empty"
        if card == EMPTY
        else f"{CARDS[card]} with {int(state['chips'][space])} of player_{int(state['owner'][space])}"
    )
    ground = "#f2c14e" if is_corner(space) else "#2f6d5e"
    with svg.region(f"space-{space}", label, x, y, side, side, 10, ground):
        if is_tried:
            svg.rect(x - 2.5, y - 2.5, side + 5, side + 5, "none", round=12, stroke="#ffd84d", stroke_width=5)
        ink = INK if is_corner(space) else ON_TABLE
        svg.text(x + 7, y + 10, space, 12, ink, bold=True)
        if is_corner(space):
            svg.text(x + side / 2, y + 32, "WILD", 17, INK, anchor="middle", bold=True)
        if card != EMPTY:
            owner, chips = int(state["owner"][space]), int(state["chips"][space])
            _draw_game_card(svg, card, x + 5, y + 19, side - 10, 60, owner, chips, claims.get(card))
        pawns = [seat for seat in range(int(options["num_players"])) if state["pawns"][seat] == space]
        for number, seat in enumerate(pawns):
            at = x + side - 14 - 20 * number if card != EMPTY else x + side / 2 + 22 * (number - (len(pawns) - 1) / 2)
            foot, words = y + side - 1, f"the pawn of player_{seat} on space {space}"
            with svg.region(f"pawn-{seat}", words, at - 10, foot - 26, 20, 28):
                draw_pawn(svg, at, foot, seat)


def _draw_game_card(
    svg: Svg,
    card: int,
    x: float,
    y: float,
    width: float,
    height: float,
    owner: int | None,
    chips: int,
    claim: int | None,
) -> None:
    """A card. ``owner`` is None for an unused one; ``claim`` is the chips that the dice give on it now."""
    name = CARDS[card]
    held = f", {chips} of player_{owner}" if owner is not None else ", unused"
    with svg.region(card_name(card), f"{name}{held}", x, y, width, height, 7, PAPER):
        colour = CREAM if owner is None else seat_colour(owner)
        svg.rect(x, y, width, height, "none", round=7, stroke=colour, stroke_width=2.5 if owner is not None else 1)
        svg.text(x + width / 2, y + 11, name, 12, anchor="middle", bold=True, fit=width - 6)
        if card < NUM_NUMBERS:
            side = 17 if owner is not None else 24
            svg.rect(x + 6, y + 20, side, side, PAPER, round=4, stroke=FADED, stroke_width=1)
            draw_pips(svg, x + 6, y + 20, side, card + 1)
        else:
            svg.text(x + 6, y + 28, ASKS[card - NUM_NUMBERS], 12, FADED, fit=width - 12)
        if owner is not None:
            below = y + height - 10
            svg.path(_lower_part(x, y + height - 20, width, 20, 7), colour)
            svg.text(x + 6, below, f"{chips}", 15, ink_on(colour), bold=True)
            if chips <= MOST_CHIPS:
                for number in range(chips):
                    draw_chip(svg, x + 24 + 12 * number, below, 6.5, colour)
        if claim is not None:
            svg.circle(x + width - 11, y + 28 if owner is not None else y + height - 12, 10, GOLD, "#ffffff", 1.5)
            at = y + 28 if owner is not None else y + height - 12
            svg.text(x + width - 11, at, claim, 13, INK, anchor="middle", bold=True)


def _lower_part(x: float, y: float, width: float, height: float, round: float) -> str:
    """The path of a rectangle whose two lower corners are round."""
    return (
        f"M{x:g} {y:g}h{width:g}v{height - round:g}a{round:g} {round:g} 0 0 1 -{round:g} {round:g}"
        f"h-{width - 2 * round:g}a{round:g} {round:g} 0 0 1 -{round:g} -{round:g}z"
    )


def _draw_middle(svg: Svg, state: Any, options: Any, over: bool) -> None:
    """Inside the ring: what the player tries, the dice and the throws."""
    left, top, width = MARGIN + SPACE + 10, TOP + SPACE + 10, 3 * SPACE - 20
    middle, player = left + width / 2, int(state["player"])
    svg.rect(left, top, width, width, TABLE_DARK, round=14)
    if over:
        words = ["Game over", winner_words(winners, state, options)]
    else:
        words = textwrap.wrap(f"player_{player} {explain_stake(state, options)}", 34)
    for number, line in enumerate(words[:5]):
        svg.text(middle, top + 26 + 22 * number, line, 17 if over else 16, ON_TABLE, anchor="middle", bold=over)
    if over:
        return
    places = [(middle + (slot - 2.5) * (SIDE + 8) + 4, top + 142) for slot in range(5)]
    if state["target"] == CHOOSING:
        for x, y in places:
            svg.rect(x, y, SIDE, SIDE, "none", round=8, stroke="#5d8f82", stroke_width=1.5, dash="4 4")
        svg.text(middle, top + 222, "no dice thrown yet", 15, ON_TABLE, anchor="middle")
    else:
        draw_dice(svg, state["dice"], DOTS, draw_pips, places, SIDE)
        draw_throws(svg, middle, top + 222, int(state["throws_left"]))
    draw_seat(svg, middle, top + width - 22, player, 13)


def _draw_unused(svg: Svg, state: Any, options: Any, claims: dict[int, int]) -> None:
    """The cards that are not on the board, each in its own place, with the chips that the dice give on them now."""
    width, height = (WIDTH - MARGIN - PANEL - 12) / 3, 66
    placed = int(num_placed(state))
    svg.text(PANEL, TOP + 9, f"Unused cards: {NUM_CARDS - placed} of {NUM_CARDS}", 15, ON_TABLE, bold=True)
    for card in range(NUM_CARDS):
        row, column = divmod(card, 3)
        x, y = PANEL + column * (width + 6), TOP + 26 + row * (height + 6)
        if is_unused(state, card):
            _draw_game_card(svg, card, x, y, width, height, None, 0, claims.get(card))
        else:
            svg.rect(x, y, width, height, "none", round=7, stroke="#4a8172", stroke_width=1, dash="4 4")
