"""SET Cubed (2007): 42 dice with colours, shapes and numbers, a board, and WILDs."""

from typing import cast

from fivedice.envs.core.spec import Game, Rules
from fivedice.envs.set_cubed import draw, observe, render, rules

GAME = Game(
    name="set_cubed",
    title="SET Cubed",
    version=0,
    min_players=2,
    max_players=rules.MOST_SEATS,
    default_players=2,
    max_decisions_per_seat=600,  # 42 dice laid, declared and swapped at the most, and at most 400 rounds
    face_names=rules.SCRIPT_NAMES,
    rules=cast(Rules, rules),
    layout=observe.layout,
    observe=observe.observe,
    action_names=render.action_names,
    name_action=render.name_action,
    render=render.render,
    draw=draw.draw,
    action_regions=draw.action_regions,
)
