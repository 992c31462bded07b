"""Batched Yum against Pgx ``tic_tac_toe`` and ``backgammon``, both on all cores.

Both sides play random legal actions, restart finished games, and write the observation and the mask of every decision.
Each side uses its fastest batch size, and either one batch (one device) that uses all cores or one batch (one device)
for each core, whichever is faster.

The time of ``tic_tac_toe`` depends much on two choices, so there is a line for each combination:

- Calls. With one call a step, a compiled call plays one decision of each game. A policy outside the compiled code needs
  this. With 64 steps a call, both sides play 64 decisions of each game in one compiled call: a jitted ``lax.scan`` for
  Pgx, and `play_random` for fivedice.
- Drawing actions. As documented, Pgx draws them with `jax.random.categorical`. With our pick, one uniform number
  selects the k-th legal action, as on our side; this is faster.

The bar is for the documented use of Pgx: one call a step, actions drawn as in its documentation. Our pick is not part
of Pgx, and 64 steps a call exclude a policy outside the compiled code. So the other lines have no bar. They show how
much of the ratio comes from the calls and from drawing actions. The last line is Pgx's dice game for two players.
"""

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.batch import SECONDS, SIZES, cores, play, play_in_batches, play_in_one_call
from benchmarks.measure import Claim, MissingPeer, alternate, rate, ratios, spread

BAR = 2.0


class Peer(NamedTuple):
    """A game of Pgx, and how to run it."""

    game: str
    our_pick: bool  # one uniform number selects the k-th legal action; False: as in the documentation of Pgx
    sizes: tuple[int, ...]  # batch sizes to try
    steps: int  # decisions of each game in one call, on both sides
    bar: float | None  # the ratio to reach


PEERS = (
    Peer("tic_tac_toe", False, (1024, 4096, 16384, 65536), 1, BAR),
    Peer("tic_tac_toe", True, (1024, 4096, 16384, 65536), 1, None),
    Peer("tic_tac_toe", False, (1024, 4096, 16384, 65536), 64, None),
    Peer("tic_tac_toe", True, (1024, 4096, 16384, 65536), 64, None),
    Peer("backgammon", True, (1024, 4096), 4, None),
)


def pgx_play(peer: Peer, num_games: int, devices: int) -> Callable[[], int]:
    """A function that plays `peer.steps` decisions of each of `num_games` games and returns their number."""
    try:
        import jax
        import jax.numpy as jnp
        import pgx
        from pgx.experimental import auto_reset
    except ModuleNotFoundError as error:
        raise MissingPeer("pgx") from error

    env = pgx.make(peer.game)
    init = jax.vmap(env.init)
    step = jax.vmap(auto_reset(env.step, env.init))
    share = num_games // devices

    def pick(mask: Any, key: Any) -> Any:
        if not peer.our_pick:
            return jax.random.categorical(key, jnp.log(mask.astype(jnp.float32)), axis=1)
        nth = jnp.cumsum(mask, axis=1)
        k = jnp.int32(jax.random.uniform(key, (share,)) * nth[:, -1])
        return jnp.argmax(nth > k[:, None], axis=1)

    def scan(state: Any, key: Any) -> Any:
        def one_step(carry: Any, _: None) -> Any:
            state, key = carry
            key, pick_key, step_key = jax.random.split(key, 3)
            action = pick(state.legal_action_mask, pick_key)
            return (step(state, action, jax.random.split(step_key, share)), key), None

        return jax.lax.scan(one_step, (state, key), None, length=peer.steps)[0]

    key = jax.random.key(1)
    if devices == 1:
        play_scan = jax.jit(scan, donate_argnums=0)
        state = jax.jit(init)(jax.random.split(key, share))
    else:
        key = jax.random.split(key, devices)
        play_scan = jax.pmap(scan, donate_argnums=0)
        state = jax.pmap(lambda key: init(jax.random.split(key, share)))(key)
    carry = [state, key]

    def run_scan() -> int:
        carry[:] = jax.block_until_ready(play_scan(*carry))
        return num_games * peer.steps

    for _ in range(3):  # JAX compiles again when it gets its own first result as input
        run_scan()
    return run_scan


def run(repetitions: int) -> list[Claim]:
    """Measure decisions per second on all cores."""
    threads = cores()
    # The number of devices must be set before JAX starts. A single device uses all cores, too.
    os.environ["XLA_FLAGS"] = (
        f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={threads}".strip()
    )
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    return [against(peer, threads, repetitions) for peer in PEERS]


def best_of_ours(threads: int, steps: int) -> tuple[str, Callable[[], int]]:
    """The fastest way to run our side: its name, and a function that plays and returns the number of decisions."""
    sizes = tuple(size for size in SIZES if size >= 512 * threads)
    ways = {
        f"{size} games in one Batch": play(size, threads) if steps == 1 else play_in_one_call(size, steps, threads)
        for size in sizes
    }
    ways |= {f"{size} games in {threads} Batches": play_in_batches(size, threads, steps) for size in sizes}
    return max(ways.items(), key=lambda way: rate(way[1], SECONDS / 4))


def against(peer: Peer, threads: int, repetitions: int) -> Claim:
    """Measure the fastest way of each side."""
    way, step = best_of_ours(threads, peer.steps)
    ways = [(peer_size, devices) for peer_size in peer.sizes for devices in sorted({1, threads})]
    best = max(ways, key=lambda way: rate(pgx_play(peer, way[0], way[1]), SECONDS / 4))
    peer_step = pgx_play(peer, best[0], best[1])
    ours, theirs = alternate(repetitions, lambda: rate(step, SECONDS) / 1e6, lambda: rate(peer_step, SECONDS) / 1e6)
    return Claim(
        f"batched Yum, two seats, {threads} cores",
        f"{spread(ours).text(' M decisions/s')}, {way}",
        f"Pgx {peer.game}, {'our pick' if peer.our_pick else 'as documented'}, "
        f"{'one call a step' if peer.steps == 1 else f'{peer.steps} steps a call'}: "
        f"{spread(theirs).text(' M decisions/s')}, {best[0]} games on {best[1]} devices",
        ratios(ours, theirs),
        "x",
        peer.bar,
    )
