"""Every game in batches, on one core: two seats, random legal actions.

There are two loops. `play` steps a `Batch` as users do: it checks every action, writes the masks and observations of
all rows, and restarts finished games. `play_by_rules` calls only the rules of Yum: `legal_actions` and `apply`, and
`setup` for finished games. Both draw actions in the same way: one uniform number selects the k-th legal action.

The benchmark `pgx` also uses `play_in_one_call` and `play_in_batches`.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Claim, alternate, rate, ratios, spread
from fivedice.envs import GAMES, load_game
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.chance import new_script, new_streams
from fivedice.envs.core.kernel import kernel
from fivedice.envs.core.random_play import pick, pick_one, play_random
from fivedice.envs.yum import lookup as rules

GAME = load_game("yum")
SIZES = (512, 1024, 2048, 4096, 8192, 16384, 65536)
SECONDS = 1.0
PLAY_BAR, RULES_BAR = 12.0, 6.0  # Yum, in millions of decisions per second
OTHER_BARS = {"showdown_yahtzee": 1.0, "set_cubed": 0.2}  # other games, in millions of decisions per second
RATIO_BARS = {"yahtzee_jr": 0.5}  # other games, as a fraction of the rate of Yum
OTHER_SIZE = 2048
WARM_UP = 500  # decisions of each game before the measurement, so that the rows are at different stages of the game


@kernel
def play_rules(
    states: Any,
    options: Any,
    streams: Any,
    script: NDArray[np.void],
    masks: NDArray[np.int8],
    uniforms: NDArray[np.float64],
) -> None:
    """Play one decision of each game with the rules alone. `masks` are those of the current states, and are updated."""
    for row in range(len(states)):
        state, chance = states[row], (streams[row], script)
        rules.apply(state, options, pick_one(masks[row], uniforms[row]), chance)
        if rules.is_terminal(state, options):
            rules.setup(state, options, chance)
        rules.legal_actions(state, options, masks[row])


def start(num_games: int, threads: int, name: str, seed: int) -> tuple[Batch, np.random.Generator]:
    """A batch whose games are at different stages, and a random generator for its actions."""
    batch, generator = Batch(load_game(name), num_games, num_players=2, threads=threads), np.random.default_rng(seed)
    batch.reset(seed=seed)
    play_random(batch, WARM_UP, generator)
    return batch, generator


def play(num_games: int, threads: int = 1, name: str = GAME.name, seed: int = 1) -> Callable[[], int]:
    """A function that plays one decision in each of `num_games` games and returns the number of decisions."""
    batch, generator = start(num_games, threads, name, seed)
    generators = generator.spawn(threads)
    uniforms, actions = np.empty(num_games, np.float32), np.empty(num_games, np.int64)

    def pick_share(part: slice, share: int) -> None:
        generators[share].random(out=uniforms[part], dtype=np.float32)
        pick(batch.masks[part], uniforms[part], actions[part])

    def step() -> int:
        batch.share_out(num_games, pick_share)
        batch.step(actions)
        return num_games

    step()
    return step


def play_in_one_call(num_games: int, steps: int, threads: int = 1, seed: int = 1) -> Callable[[], int]:
    """A function that plays `steps` decisions of each game in one compiled call and returns the number of decisions."""
    batch, generator = start(num_games, threads, GAME.name, seed)

    def play_steps() -> int:
        play_random(batch, steps, generator)
        return num_games * steps

    return play_steps


def play_in_batches(num_games: int, threads: int, steps: int) -> Callable[[], int]:
    """A function like those of `play` and `play_in_one_call`, with one batch for each thread.

    The threads wait for each other after `steps` decisions of each game.
    """
    share, seeds = num_games // threads, range(1, 1 + threads)
    plays = [play(share, seed=seed) if steps == 1 else play_in_one_call(share, steps, seed=seed) for seed in seeds]
    pool = ThreadPoolExecutor(threads)

    def play_all() -> int:
        others = [pool.submit(play_one) for play_one in plays[1:]]
        return plays[0]() + sum(other.result() for other in others)

    return play_all


def play_by_rules(num_games: int) -> Callable[[], int]:
    """A function that plays one decision of each game with the rules alone and returns the number of decisions."""
    options = GAME.make_options(2, {})
    states, streams = np.zeros(num_games, rules.STATE), new_streams(1, num_games)
    masks, script = np.zeros((num_games, rules.NUM_ACTIONS), np.int8), new_script([], 6)
    for row in range(num_games):
        rules.setup(states[row], options, (streams[row], script))
        rules.legal_actions(states[row], options, masks[row])
    generator = np.random.default_rng(1)
    uniforms = np.empty(num_games)

    def step() -> int:
        generator.random(out=uniforms)
        play_rules(states, options, streams, script, masks, uniforms)
        return num_games

    step()
    return step


def best_size(make: Callable[[int], Callable[[], int]], sizes: tuple[int, ...] = SIZES) -> int:
    """The number of games for which the function that `make` returns is fastest."""
    return max(sizes, key=lambda size: rate(make(size), SECONDS / 4))


def run(repetitions: int) -> list[Claim]:
    """Measure decisions per second on one core."""
    play_size, rules_size = best_size(play), best_size(play_by_rules)
    others = [name for name in GAMES if name != GAME.name]
    steps = [play(play_size), play_by_rules(rules_size), *(play(OTHER_SIZE, name=name) for name in others)]
    played, by_rules, *by_game = alternate(
        repetitions, *(lambda step=step: rate(step, SECONDS) / 1e6 for step in steps)
    )
    return [
        Claim(
            "batched Yum, two seats, one core",
            f"Batch of {play_size} games",
            "a fixed bar",
            spread(played),
            " M decisions/s",
            PLAY_BAR,
        ),
        Claim(
            "the rules of Yum alone, one core",
            f"{rules_size} games, legal_actions and apply",
            "a fixed bar",
            spread(by_rules),
            " M decisions/s",
            RULES_BAR,
        ),
        *(
            Claim(
                f"batched {load_game(name).title}, two seats, one core",
                f"Batch of {OTHER_SIZE} games",
                "a fixed bar",
                spread(rates),
                " M decisions/s",
                OTHER_BARS[name],
            )
            if name in OTHER_BARS
            else Claim(
                f"batched {load_game(name).title}, two seats, one core",
                f"{spread(rates).text(' M decisions/s')}, Batch of {OTHER_SIZE} games",
                f"Yum, {spread(played).text(' M decisions/s')}",
                ratios(rates, played),
                "x",
                RATIO_BARS.get(name),
            )
            for name, rates in zip(others, by_game, strict=True)
        ),
    ]


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
