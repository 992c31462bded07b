"""Computes the weights of the planner for SET Cubed: ``python -m fivedice.agents.games.set_cubed.fit_planner``.

The planner plays games against itself. In each turn, several of the turns that it looks at are tried, and greedy play
continues the game from there. The result of the game, minus the points that the planner knows anyway, is regressed on
the features of the turn. Only differences between turns of one decision count, and all of them get the same dice.
"""

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.games.set_cubed.greedy import GREEDY
from fivedice.agents.games.set_cubed.planner import WEIGHTS, PlannerSetCubed, read_weights
from fivedice.agents.games.set_cubed.planner_future import (
    FEATURES,
    NUM_FEATURES,
    NUM_SITUATIONS,
    REPLY,
    future_value,
    lay_turn,
    look_after_turn,
)
from fivedice.agents.games.set_cubed.planner_turns import MOST_TURNS, find_turns, no_turns
from fivedice.agents.policies.files import write_text
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.chance import align_streams, new_script, new_streams
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.spec import Options
from fivedice.envs.set_cubed import GAME
from fivedice.envs.set_cubed.board import NONE
from fivedice.envs.set_cubed.rules import OVER, PLAY, end_turn

MODULE = "fivedice.agents.games.set_cubed.fit_planner"
GAMES = 150
TRIED = 6  # turns of a decision
RIDGE = 30.0  # strength of the regularisation, in games
ACCURACY = 3  # decimal places of the weights


@kernel(allocates=True)
def describe(
    states: Any,
    options: Options,
    weights: NDArray[np.float64],
    dice: NDArray[np.int64],
    points: NDArray[np.int64],
    features: NDArray[np.float64],
    situations: NDArray[np.int64],
    values: NDArray[np.float64],
) -> None:
    """Write the turns of each state (N,), their points, features, situations and values; values are -inf for none.

    `dice` has shape (N, MOST_TURNS, 3, 3), `features` (N, MOST_TURNS, NUM_FEATURES), the others (N, MOST_TURNS).
    """
    spare, turns = states[:1].copy(), no_turns()
    values[:] = -np.inf
    for i in range(len(states)):
        spare[0] = states[i]
        turns.number[0] = 0
        find_turns(spare[0], options, turns)
        for turn in range(int(turns.number[0])):
            spare[0] = states[i]
            lay_turn(spare[0], turns.dice[turn], options)
            situations[i, turn] = look_after_turn(spare[0], options, features[i, turn])
            dice[i, turn], points[i, turn] = turns.dice[turn], turns.points[turn]
            values[i, turn] = points[i, turn] + future_value(features[i, turn], weights[situations[i, turn]])


@kernel
def finish_turns(
    states: Any, options: Options, dice: NDArray[np.int64], points: NDArray[np.int64], streams: Any, script: Any
) -> None:
    """Lay the turns `dice` (N, 3, 3) in `states` (N,), and end the turn of each."""
    for i in range(len(states)):
        lay_turn(states[i], dice[i], options)
        states[i]["scores"][states[i]["player"]] += points[i]
        end_turn(states[i], options, (streams[i], script))


def try_turns(
    batch: Batch, rows: NDArray[np.int64], weights: NDArray[np.float64], generator: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Try some turns in each of `rows`, where a turn begins.

    Returns:
        For each turn tried: a row of the regression (n, NUM_SITUATIONS * NUM_FEATURES), what the game brought beyond
        the known points (n,), and the number of the decision (n,).
    """
    states, count = batch.states[rows], len(rows)
    dice, points = np.zeros((count, MOST_TURNS, 3, 3), np.int64), np.zeros((count, MOST_TURNS), np.int64)
    features, situations = np.zeros((count, MOST_TURNS, NUM_FEATURES)), np.zeros((count, MOST_TURNS), np.int64)
    values = np.zeros((count, MOST_TURNS))
    describe(states, batch.options, weights, dice, points, features, situations, values)
    # The best turn and a random choice of the others.
    wish = np.where(np.isfinite(values), generator.random(values.shape), -1.0)
    wish[np.arange(count), values.argmax(axis=1)] = 2.0
    tried = np.argsort(-wish, axis=1)[:, :TRIED]
    decision, column = np.nonzero(np.take_along_axis(wish, tried, axis=1) >= 0.0)
    turn = tried[decision, column]
    several = np.bincount(decision, minlength=count)[decision] > 1
    decision, turn = decision[several], turn[several]
    lead = play_on(batch, states[decision], dice[decision, turn], points[decision, turn], decision, generator)
    found = features[decision, turn]
    design = np.zeros((len(decision), NUM_SITUATIONS, NUM_FEATURES))
    design[np.arange(len(decision)), situations[decision, turn]] = found
    known = points[decision, turn] - found[:, REPLY]
    return design.reshape(len(decision), NUM_SITUATIONS * NUM_FEATURES), lead - known, decision


def play_on(
    batch: Batch,
    states: NDArray[np.void],
    dice: NDArray[np.int64],
    points: NDArray[np.int64],
    decision: NDArray[np.int64],
    generator: np.random.Generator,
) -> NDArray[np.float64]:
    """The own points minus the mean of the others' (n,), at the end of games that greedy play continues."""
    seats = states["player"].astype(np.int64)
    before = lead_of(states["scores"][:, : batch.num_players].astype(np.float64), seats)
    streams = new_streams(int(generator.integers(2**31)), len(states))
    streams["game"][:, 0] = decision  # the same dice for all turns of one decision
    states = states.copy()
    finish_turns(states, batch.options, dice, points, streams, new_script([], 1))
    left = np.flatnonzero(states["phase"] != OVER)
    final = states["scores"][:, : batch.num_players].astype(np.float64)
    if len(left):
        options: dict[str, Any] = GAME.options_dict(batch.options)
        games = Batch(GAME, len(left), num_players=batch.num_players, **options)
        games.resume(states[left], streams[left])
        rows = games.all_rows
        while len(rows):
            align_streams(rows, games.movers, games.streams)
            games.step(GREEDY.act(games.view(rows)), rows, restart=False)
            rows = rows[~games.over[rows]]
        final[left] = games.results(games.all_rows)[0]
    return lead_of(final, seats) - before


def lead_of(points: NDArray[np.float64], seats: NDArray[np.int64]) -> NDArray[np.float64]:
    """The points of these seats (n,) minus the mean of the others', from points (n, num_players)."""
    own = points[np.arange(len(points)), seats]
    lead: NDArray[np.float64] = own - (points.sum(axis=1) - own) / (points.shape[1] - 1)
    return lead


def fit(num_players: int, games: int, seed: int, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights (NUM_SITUATIONS, NUM_FEATURES) from games that the planner plays with `weights`."""
    size = NUM_SITUATIONS * NUM_FEATURES
    normal, right = np.zeros((size, size)), np.zeros(size)
    generator = np.random.default_rng(seed)
    planner = PlannerSetCubed(weights)
    batch = Batch(GAME, games, num_players=num_players)
    batch.reset(seed)
    rows = batch.all_rows
    while len(rows):
        view = batch.view(rows)
        begins = (view.states["phase"] == PLAY) & (view.states["laid"][:, 0] == NONE)
        actions = np.empty(len(rows), np.int64)
        is_turn = view.states["phase"] == PLAY
        for policy, asked in ((planner, is_turn), (GREEDY, ~is_turn)):
            if asked.any():
                actions[asked] = policy.act(view.rows(np.flatnonzero(asked)))
        if begins.any():
            design, result, decision = try_turns(batch, rows[begins], weights, generator)
            for array in (design, result):  # only differences within a decision count
                counts = np.maximum(np.bincount(decision, minlength=int(begins.sum())), 1)
                means = np.zeros((len(counts), *array.shape[1:]))
                np.add.at(means, decision, array)
                array -= (means / counts.reshape(-1, *(1,) * (array.ndim - 1)))[decision]
            normal += design.T @ design
            right += design.T @ result
        batch.step(actions, rows, restart=False)
        rows = rows[~batch.over[rows]]
    spread = np.diag(normal) / games
    solution = np.linalg.solve(normal + RIDGE * np.diag(np.where(spread > 0, spread, 1.0)), right)
    return solution.astype(np.float64).reshape(NUM_SITUATIONS, NUM_FEATURES)


def main() -> None:
    """Compute the weights for one number of players, and write them into ``planner_weights.toml``."""
    parser = argparse.ArgumentParser(prog=f"python -m {MODULE}", description=__doc__)
    parser.add_argument("--num-players", type=int, choices=(2, 3, 4), default=2)
    parser.add_argument("--games", type=int, default=GAMES, help="games to play (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="random seed (default: %(default)s)")
    arguments = parser.parse_args()
    start = np.zeros((NUM_SITUATIONS, NUM_FEATURES))
    found = fit(arguments.num_players, arguments.games, arguments.seed, start)
    command = (
        f"python -m {MODULE} --num-players {arguments.num_players} --games {arguments.games} --seed {arguments.seed}"
    )
    tables = {
        **read_weights(),
        str(arguments.num_players): {"command": command, "weights": found.round(ACCURACY).tolist()},
    }
    write_text(WEIGHTS, in_toml(tables))


def in_toml(tables: dict[str, Any]) -> str:
    """The text of ``planner_weights.toml``."""
    lines = [
        "# The weights of the planner for SET Cubed, by the number of players.",
        "# A row is a situation (see planner_future.py). Its columns are the features",
        f"# {', '.join(FEATURES)}.",
    ]
    for num_players, table in sorted(tables.items()):
        lines += ["", f"[{num_players}]", f'command = "{table["command"]}"', "weights = ["]
        lines += [*(f"    {row}," for row in table["weights"]), "]"]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
