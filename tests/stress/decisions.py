"""Play random decisions of each game, and check in every position what must always hold.

``python tests/stress/decisions.py --decisions 10_000_000 --seed 1`` prints one line for each game. It plays batches
with the default options and with drawn ones, and with every number of players. Compiled code chooses the actions.

- The mask, the mover and the observation that `Batch` updates step by step equal those that the rules give anew. On a
  sample, the mask equals that of the rules as plain Python.
- Somebody can act as long as the game is not over, and nobody can act after its end.
- Each field of the state has a value that its declaration allows. Dice, tokens, cards and chips are conserved.
- Observations are in [-1, 1].
- The rewards of a game add up to its payoff.
- On a sample, equal observations have equal masks.
- With the default options, no seat has more decisions than the game declares.
"""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs import GAMES, load_game
from fivedice.envs.core.batch import Batch, make_loops
from fivedice.envs.core.kernel import plain
from fivedice.envs.core.random_play import pick
from fivedice.envs.core.reward import REWARDS
from fivedice.envs.core.spec import Game

GAMES_AT_ONCE = 2048
DRAWN = 6  # batches of each game with drawn options, after those with the default options
EVERY = 16  # steps between two samples
SAMPLE = 256
KNOWN = 400_000  # observations that are remembered
Found = dict[str, NDArray[np.bool_]]  # by the name of an invariant, (N,), where it is broken


def outside(values: NDArray[Any], low: float, high: float) -> NDArray[np.bool_]:
    """The rows in which a value is outside a range."""
    rows = values.reshape(len(values), -1)
    wrong: NDArray[np.bool_] = (rows.min(axis=1) < low) | (rows.max(axis=1) > high)
    return wrong


def yum(states: NDArray[np.void], batch: Batch) -> Found:
    """Every seat has filled one box for each of its turns."""
    boxes, players = states["boxes"][:, : batch.num_players], states["player"].astype(int)
    filled = (boxes >= 0).sum(axis=2)
    own = filled[np.arange(len(states)), players]
    earlier = np.arange(batch.num_players)[None] < players[:, None]
    running = ~batch.over
    return {
        "dice": outside(states["dice"], 1, 6) | (np.diff(states["dice"], axis=1) < 0).any(axis=1),
        "throws_left": states["throws_left"] > 2,
        "player": players >= batch.num_players,
        "boxes": outside(boxes, -1, 30),
        "boxes filled": running & (filled != own[:, None] + earlier).any(axis=1),
        "boxes at the end": batch.over & (filled != 12).any(axis=1),
    }


def yahtzee_jr(states: NDArray[np.void], batch: Batch) -> Found:
    """Every seat has placed one token for each of its turns, and no two tokens share a place that scores."""
    tokens, players = states["tokens"][:, : batch.num_players], states["player"].astype(int)
    placed = (tokens >= 0).sum(axis=2)
    own = placed[np.arange(len(states)), players]
    earlier = np.arange(batch.num_players)[None] < players[:, None]
    shared = np.zeros(len(states), bool)
    for column in range(1, 6):
        shared |= ((tokens == column).sum(axis=1) > 1).any(axis=1)
    return {
        "dice": outside(states["dice"], 1, 6) | (np.diff(states["dice"], axis=1) < 0).any(axis=1),
        "throws_left": states["throws_left"] > 2,
        "player": players >= batch.num_players,
        "tokens": outside(tokens, -1, 5) | shared,
        "tokens placed": ~batch.over & (placed != own[:, None] + earlier).any(axis=1),
        "tokens at the end": batch.over & (placed != {1: 5, 2: 5, 3: 4, 4: 3}[batch.num_players]).any(axis=1),
        "roll_off": outside(states["roll_off"], -1, batch.num_players - 1),
    }


def showdown_yahtzee(states: NDArray[np.void], batch: Batch) -> Found:
    """Every card lies once, with its chips and its owner, and none on a corner."""
    card, owner, chips = states["card"], states["owner"], states["chips"]
    twice = np.zeros(len(states), bool)
    for number in range(12):
        twice |= (card == number).sum(axis=1) > 1
    choosing = states["target"] < 0
    dice = states["dice"]
    rolled = ~outside(dice, 1, 6) & (np.diff(dice, axis=1) >= 0).all(axis=1)
    return {
        "card": outside(card, -1, 11) | twice | (card[:, [0, 4, 8, 12]] >= 0).any(axis=1),
        "owner": outside(owner, -1, batch.num_players - 1) | ((owner < 0) != (card < 0)).any(axis=1),
        "chips": outside(chips, 0, 20) | ((chips == 0) != (card < 0)).any(axis=1),
        "pawns": outside(states["pawns"], 0, 15),
        "dice": np.where(choosing & ~batch.over, (dice != 0).any(axis=1), ~rolled & (dice != 0).any(axis=1)),
        "throws_left": outside(states["throws_left"], 0, 3),
        "player": outside(states["player"], 0, batch.num_players - 1),
        "target": outside(states["target"], -1, 15),
        "turns": outside(states["turns"], 1, int(batch.options["max_turns"]) + 1),
        "last_turns": outside(states["last_turns"], 0, batch.num_players + 1),
    }


def set_cubed(states: NDArray[np.void], batch: Batch) -> Found:
    """Each of the 42 dice is in one place at most: on the board, in a hand, or in the bag."""
    count = len(states)
    board, hands = states["dice"].reshape(count, -1), states["hand_dice"].reshape(count, -1)
    numbers = np.sort(np.concatenate([board, hands], axis=1), axis=1)
    faces = states["faces"].reshape(count, -1)
    seats = batch.num_players
    return {
        "dice": outside(numbers, -1, 41) | ((np.diff(numbers, axis=1) == 0) & (numbers[:, 1:] >= 0)).any(axis=1),
        "board": ((board >= 0) != (faces >= 0)).any(axis=1),
        "hands": ((states["hand_dice"] >= 0) != (states["hand_faces"] >= 0)).any(axis=(1, 2)),
        "empty seats": (states["hand_dice"][:, seats:] >= 0).any(axis=(1, 2)),
        "wild": outside(states["wild"], 0, 1) | ((states["wild"] == 1) & (states["dice"] < 0)).any(axis=(1, 2)),
        "scores": outside(states["scores"], 0, 32_000),
        "phase": outside(states["phase"], 0, 3),
        "player": outside(states["player"], 0, seats - 1),
        "opener": outside(states["opener"], 0, seats - 1),
        "has_laid": outside(states["has_laid"], 0, 1),
        "idle_rounds": outside(states["idle_rounds"], 0, int(batch.options["max_idle_rounds"])),
    }


INVARIANTS: dict[str, Callable[[NDArray[np.void], Batch], Found]] = {
    "yum": yum,
    "yahtzee_jr": yahtzee_jr,
    "showdown_yahtzee": showdown_yahtzee,
    "set_cubed": set_cubed,
}


@dataclass
class Tally:
    """What was played, and which invariants were broken how often."""

    decisions: int = 0
    games: int = 0
    broken: dict[str, int] = field(default_factory=dict)

    def note(self, name: str, wrong: Any) -> None:
        """Count the rows in which an invariant is broken."""
        if number := int(np.count_nonzero(wrong)):
            self.broken[name] = self.broken.get(name, 0) + number


def payoff(kind: str, points: NDArray[np.float64], won: NDArray[np.int8]) -> NDArray[np.float64]:
    """The total reward of each seat in finished games, (N, num_players)."""
    if kind == "score":
        return points
    others = points.shape[1] - 1
    if kind == "margin":
        return points - (points.sum(axis=1, keepdims=True) - points) / others
    winners = won.sum(axis=1, keepdims=True)
    shares = np.where(won, 1 / winners, -1 / np.maximum(1, won.shape[1] - winners))
    return np.where(winners == won.shape[1], 0.0, shares)


def play(batch: Batch, tally: Tally, decisions: int, seed: int, *, has_limit: bool) -> None:
    """Play at least so many decisions in a batch, and check every position."""
    generator = np.random.default_rng(seed)
    game, rows, count = batch.game, batch.all_rows, batch.num_games
    loops = make_loops(game)
    legal = plain(game.rules.legal_actions)
    batch.reset(seed)
    masks, observations, movers = (np.empty_like(array) for array in (batch.masks, batch.observations, batch.movers))
    paid, asked = np.zeros((count, batch.num_players)), np.zeros((count, batch.num_players), np.int64)
    actions = np.empty(count, np.int64)
    known: dict[bytes, bytes] = {}
    for step in range(-(-decisions // count)):
        pick(batch.masks, generator.random(count, np.float32), actions)
        asked[rows, batch.movers] += 1
        batch.step(actions, restart=False)
        paid += batch.rewards
        tally.decisions += count
        for name, wrong in INVARIANTS[game.name](batch.states, batch).items():
            tally.note(name, wrong)
        over = np.flatnonzero(batch.over)
        tally.note("a mask after the end", batch.masks[over].any(axis=1))
        if len(over):
            points, won = batch.results(over)
            tally.note("payoff", np.abs(paid[over] - payoff(batch.reward, points, won)).max(axis=1) > 1e-9)
            tally.note("winners", ~won.any(axis=1) | outside(won, 0, 1))
            if has_limit:
                tally.note("length", asked[over].max(axis=1) > game.max_decisions_per_seat)
            tally.games += len(over)
            paid[over], asked[over] = 0, 0
            batch.restart(over)
        loops.show(rows, batch.states, batch.options, movers, masks, observations)
        tally.note("mask", (masks != batch.masks).any(axis=1) | outside(masks, 0, 1))
        tally.note("no legal action", ~masks.any(axis=1))
        tally.note("mover", movers != batch.movers)
        tally.note("observation", (observations != batch.observations).any(axis=1))
        tally.note("range of an observation", ~(np.abs(observations) <= 1).all(axis=1))  # NaN, too
        if step % EVERY == 0:
            sample = generator.integers(count, size=SAMPLE)
            for row in sample if len(known) < KNOWN else []:
                mask = known.setdefault(observations[row].tobytes(), masks[row].tobytes())
                tally.note("equal observations, other masks", mask != masks[row].tobytes())
            mask = np.full(batch.num_actions, 7, np.int8)
            legal(batch.states[sample[0]], batch.options, mask)
            tally.note("mask of the plain rules", (mask != masks[sample[0]]).any())


def hunt(game: Game, decisions: int, seed: int, *, count: int = GAMES_AT_ONCE) -> Tally:
    """Play random decisions of one game, a part of them with each number of players and with drawn options."""
    draw, tally = np.random.default_rng(seed), Tally()
    players = range(game.min_players, game.max_players + 1)
    settings: list[tuple[int, dict[str, Any]]] = [(number, {}) for number in players]
    for _ in range(DRAWN):
        options = {option.name: option.samples[draw.integers(len(option.samples))] for option in game.rules.OPTIONS}
        settings.append((int(draw.choice(players)), options))
    for number, (num_players, options) in enumerate(settings):
        rewards = REWARDS if num_players > 1 else ("score",)
        batch = Batch(game, count, num_players=num_players, reward=rewards[number % len(rewards)], **options)
        share = -(-(decisions - tally.decisions) // (len(settings) - number))
        play(batch, tally, share, seed + number, has_limit=not options)
    return tally


def main() -> int:
    """Hunt in all games. Returns the number of games with broken invariants."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("games", nargs="*", default=list(GAMES))
    asked.add_argument("--decisions", type=int, default=10_000_000, help="of each game, at least")
    asked.add_argument("--seed", type=int, default=1)
    given = asked.parse_args()
    failed = 0
    for name in given.games:
        started = time.monotonic()
        tally = hunt(load_game(name), given.decisions, given.seed)
        print(
            f"{name}: {tally.decisions:,} decisions in {tally.games:,} games, {sum(tally.broken.values())} violations, "
            f"{time.monotonic() - started:.0f} s",
            flush=True,
        )
        for invariant, number in tally.broken.items():
            print(f"  {invariant}: {number:,}", flush=True)
        failed += bool(tally.broken)
    return failed


if __name__ == "__main__":
    sys.exit(main())
