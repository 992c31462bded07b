"""Batched Yum against Pgx ``tic_tac_toe`` and ``backgammon``, both on all cores.

Random legal play, automatic reset, observation and mask written for each decision. Each side has the fastest of several
batch sizes, of one batch (one device) that spreads its work over the cores and of one batch (one device) for each core.
How Pgx is driven is a good part of its time in tic-tac-toe, so there are four lines. On the first two, both sides play
64 decisions of each game in one compiled call: a jitted ``lax.scan`` of Pgx, `play_random` of ours. On the next two it
is one call a decision, as a policy outside of the compiled code needs it. And Pgx takes its actions with the cheap pick
that our side has too (a number chooses the k-th legal action), or with `jax.random.categorical`, as in its
documentation. Pgx at its best, with many decisions a call and the cheap pick, has the bar. A fifth line is against
Pgx's one game of dice for two.
"""

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.batch import SECONDS, SIZES, cores, play, play_apart, play_at_once
from benchmarks.measure import Claim, MissingPeer, alternate, rate, ratios, spread

BAR = 2.0


class Peer(NamedTuple):
    """A game of Pgx, and how it is played."""

    game: str
    cheap_pick: bool
    sizes: tuple[int, ...]
    steps: int  # decisions of each game in one call, on both sides
    bar: float | None


PEERS = (
    Peer("tic_tac_toe", True, (1024, 4096, 16384, 65536), 64, BAR),
    Peer("tic_tac_toe", False, (1024, 4096, 16384, 65536), 64, None),
    Peer("tic_tac_toe", True, (1024, 4096, 16384, 65536), 1, None),
    Peer("tic_tac_toe", False, (1024, 4096, 16384, 65536), 1, None),
    Peer("backgammon", True, (1024, 4096), 4, None),
)


def pgx_play(peer: Peer, num_games: int, devices: int) -> Callable[[], int]:
    """A function that plays one scan of `num_games` and returns how many decisions those were."""
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
        if not peer.cheap_pick:
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

    for _ in range(3):  # compiled anew for the first carry of its own making
        run_scan()
    return run_scan


def run(repetitions: int) -> list[Claim]:
    """Decisions in a second on all cores against Pgx."""
    threads = cores()
    # One device for each core must be asked for before JAX starts; a single device still spreads over all cores.
    os.environ["XLA_FLAGS"] = (
        f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={threads}".strip()
    )
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    return [against(peer, threads, repetitions) for peer in PEERS]


def best_of_ours(threads: int, steps: int) -> tuple[str, Callable[[], int]]:
    """Our fastest way, in words and as a function like `play`."""
    sizes = tuple(size for size in SIZES if size >= 512 * threads)
    ways = {
        f"{size} games in one Batch": play(size, threads) if steps == 1 else play_at_once(size, steps, threads)
        for size in sizes
    }
    ways |= {f"{size} games in {threads} Batches": play_apart(size, threads, steps) for size in sizes}
    return max(ways.items(), key=lambda way: rate(way[1], SECONDS / 4))


def against(peer: Peer, threads: int, repetitions: int) -> Claim:
    """Our best against the best of `peer`."""
    way, step = best_of_ours(threads, peer.steps)
    ways = [(peer_size, devices) for peer_size in peer.sizes for devices in sorted({1, threads})]
    best = max(ways, key=lambda way: rate(pgx_play(peer, way[0], way[1]), SECONDS / 4))
    peer_step = pgx_play(peer, best[0], best[1])
    ours, theirs = alternate(repetitions, lambda: rate(step, SECONDS) / 1e6, lambda: rate(peer_step, SECONDS) / 1e6)
    return Claim(
        f"batched Yum, two seats, {threads} cores",
        f"{spread(ours).text(' M decisions/s')}, {way}",
        f"Pgx {peer.game}, {'our pick' if peer.cheap_pick else 'as documented'}, "
        f"{'one call a step' if peer.steps == 1 else f'{peer.steps} steps a call'}: "
        f"{spread(theirs).text(' M decisions/s')}, {best[0]} games on {best[1]} devices",
        ratios(ours, theirs),
        "x",
        peer.bar,
    )
