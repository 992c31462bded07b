"""Showdown Yahtzee: a ring of sixteen spaces, twelve cards to place and to steal, and a last turn for everyone."""

from typing import cast

from fivedice.envs.core.spec import Game, Rules
from fivedice.envs.display.words import DOTS
from fivedice.envs.showdown_yahtzee import draw, observe, render, rules

GAME = Game(
    name="showdown_yahtzee",
    title="Showdown Yahtzee",
    version=0,
    min_players=2,
    max_players=rules.MOST_SEATS,
    default_players=2,
    max_decisions_per_seat=1000,
    face_names=DOTS,
    rules=cast(Rules, rules),
    layout=observe.layout,
    observe=observe.observe,
    action_names=render.action_names,
    name_action=render.name_action,
    render=render.render,
    draw=draw.draw,
    action_regions=draw.action_regions,
    num_keeps=rules.CLAIM,
    is_truncated=rules.is_truncated,
)
