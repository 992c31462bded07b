"""Mickey Mouse Clubhouse Yahtzee Jr. (2007): place five tokens on a shared board; Clubhouses are wild."""

from typing import cast

from fivedice.envs.core.spec import Game, Rules
from fivedice.envs.yahtzee_jr import canonical, draw, lookup, observe, render, rules

GAME = Game(
    name="yahtzee_jr",
    title="Yahtzee Jr.",
    version=0,
    min_players=1,
    max_players=rules.MOST_SEATS,
    default_players=2,
    max_decisions_per_seat=rules.NUM_CHARACTERS * 3,
    face_names=render.FACES,
    rules=cast(Rules, lookup),
    layout=observe.layout,
    observe=observe.observe,
    observe_throw=observe.observe_throw,
    num_keeps=rules.PLACE,
    action_names=render.action_names,
    name_action=render.name_action,
    render=render.render,
    draw=draw.draw,
    action_regions=draw.action_regions,
    canonical=canonical.to_canonical,
)
