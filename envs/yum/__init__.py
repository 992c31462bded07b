"""Yum (Parker Brothers): fill twelve boxes with five dice and up to three throws a turn."""

from typing import cast

from fivedice.envs.core.spec import Game, Rules
from fivedice.envs.display.words import DOTS
from fivedice.envs.yum import draw, lookup, observe, render, rules

GAME = Game(
    name="yum",
    title="Yum",
    version=0,
    min_players=1,
    max_players=6,
    default_players=2,
    max_decisions_per_seat=rules.NUM_BOXES * 3,
    face_names=DOTS,
    rules=cast(Rules, lookup),
    layout=observe.layout,
    observe=observe.observe,
    observe_throw=observe.observe_throw,
    num_keeps=rules.FILL,
    action_names=render.action_names,
    name_action=render.name_action,
    render=render.render,
    draw=draw.draw,
    action_regions=draw.action_regions,
)
