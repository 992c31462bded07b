"""Look-ahead in SET Cubed: the time that greedy play and the planner need for a decision, on one core.

The decisions are those of whole games between greedy policies, two seats, in batches of one decision of each game.
"""

import time
from collections.abc import Callable
from typing import Any

from benchmarks.measure import Claim, alternate, spread
from fivedice.agents.policies.baselines import GREEDY, PLANNER
from fivedice.agents.policies.protocols import HasActionValues
from fivedice.envs import load_game
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.view import View

GAME = load_game("set_cubed")
NUM_GAMES = 50
SEED = 1


def decisions() -> list[View]:
    """All decisions of `NUM_GAMES` games."""
    batch = Batch(GAME, NUM_GAMES, num_players=2)
    batch.reset(SEED)
    rows, views = batch.all_rows, []
    while len(rows):
        views.append(batch.view(rows))
        batch.step(GREEDY.act(views[-1]), rows, restart=False)
        rows = rows[~batch.over[rows]]
    return views


def microseconds(ask: Callable[[View], Any], views: list[View]) -> float:
    """The processor time for a decision."""
    start = time.process_time()
    for view in views:
        ask(view)
    return 1e6 * (time.process_time() - start) / sum(len(view) for view in views)


def run(repetitions: int) -> list[Claim]:
    """Measure the time for a decision."""
    greedy, planner = GREEDY.of(GAME), PLANNER.of(GAME)
    asked: dict[str, Callable[[View], Any]] = {"greedy, act": greedy.act, "planner, act": planner.act}
    if isinstance(greedy, HasActionValues):
        asked["greedy, action_values"] = greedy.action_values
    views = decisions()
    for ask in asked.values():
        ask(views[0])  # compiles
    times = alternate(repetitions, *(lambda ask=ask: microseconds(ask, views) for ask in asked.values()))
    return [
        Claim(f"SET Cubed, {name}, a decision", f"{NUM_GAMES} games", "reported only", spread(measured), " µs")
        for name, measured in zip(asked, times, strict=True)
    ]
