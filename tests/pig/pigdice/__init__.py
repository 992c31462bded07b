"""Pig: roll one die as often as you dare, and lose the points of the turn with a 1."""

from typing import cast

from fivedice.envs.core.spec import Game, Rules
from pigdice import observe, render, rules

GAME = Game(
    name="pig",
    title="Pig",
    version=0,
    min_players=2,
    max_players=4,
    default_players=2,
    max_decisions_per_seat=1000,
    face_names=("1", "2", "3", "4", "5", "6"),
    rules=cast(Rules, rules),
    layout=observe.layout,
    observe=observe.observe,
    action_names=render.action_names,
    name_action=render.name_action,
    render=render.render,
)
