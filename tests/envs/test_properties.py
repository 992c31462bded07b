"""What must hold in every position: of those that Hypothesis reaches, or of all."""

import pickle
from collections.abc import Callable
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fivedice.envs import GAMES, load_game
from fivedice.envs.api.aec import DiceEnv
from fivedice.envs.core.reward import REWARDS
from fivedice.envs.yum.rules import HIGH, LOW, OPEN

# The same examples in every run: a failure here is for everyone to see, not for the one who is unlucky.
steadily = settings(
    derandomize=True, deadline=None, max_examples=40, database=None, suppress_health_check=[HealthCheck.too_slow]
)


@st.composite
def environments(draw: Callable[..., Any], name: str) -> DiceEnv:
    """An environment with any settings."""
    game = load_game(name)
    num_players = draw(st.integers(game.min_players, game.max_players))
    reward = draw(st.sampled_from(REWARDS)) if num_players > 1 else "score"
    options = {option.name: draw(st.sampled_from(option.samples)) for option in game.rules.OPTIONS}
    return DiceEnv(game, num_players, reward, **options)


@st.composite
def positions(draw: Callable[..., Any], name: str) -> DiceEnv:
    """A game in the middle, or at its end."""
    env = draw(environments(name))
    env.reset(seed=draw(st.integers(0, 2**32 - 1)))
    decisions = draw(st.integers(0, env.game.max_decisions_per_seat * len(env.possible_agents) // 3) | st.just(100_000))
    play(env, np.random.default_rng(draw(st.integers(0, 99))), decisions)
    return env


def play(env: DiceEnv, generator: np.random.Generator, decisions: int = 100_000) -> dict[str, float]:
    """Play on at random; what the steps paid to each agent."""
    paid = dict.fromkeys(env.possible_agents, 0.0)
    # Later actions are chosen more often: in Yum the boxes, so that a game gets somewhere.
    for _ in range(decisions):
        if any(env.terminations.values()) or any(env.truncations.values()):
            break
        legal = np.flatnonzero(env.observe(env.agent_selection)["action_mask"])
        env.step(int(legal[-1 - int(len(legal) * generator.random() ** 2)]))
        for agent, reward in env.rewards.items():
            paid[agent] += reward
    return paid


@pytest.mark.parametrize("name", GAMES)
def test_equal_observations__have_equal_masks(name: str) -> None:
    masks: dict[tuple[str, bytes], bytes] = {}

    @steadily
    @given(positions(name))
    def check(env: DiceEnv) -> None:
        for agent in env.possible_agents:
            seen = env.observe(agent)
            key = (repr((len(env.possible_agents), env.options)), seen["observation"].tobytes())
            assert masks.setdefault(key, seen["action_mask"].tobytes()) == seen["action_mask"].tobytes()

    check()


@pytest.mark.parametrize("throws_left", [0, 2])
@pytest.mark.parametrize("high_low", ["either", "high_first"])
@pytest.mark.parametrize("crossed_high", ["blocks_low", "frees_low"])
def test_yum_mask__can_be_told_from_the_observation(throws_left: int, high_low: str, crossed_high: str) -> None:
    """Whatever Low and High hold and the dice show: a state made of nothing but what is seen has the same mask."""
    game = load_game("yum")
    rules, layout = game.rules, game.layout(game.make_options(2))
    options = game.make_options(2, {"high_low": high_low, "crossed_high": crossed_high})
    seen, masks = np.zeros(layout.size, np.float32), np.zeros((2, game.num_actions()), np.int8)
    state, rebuilt = np.zeros(2, rules.STATE)
    throws = {sum(dice): dice for dice in combinations_with_replacement(range(1, 7), 5)}
    for low, high, dice in product((OPEN, 0, *range(21, 30)), (OPEN, 0, *range(22, 31)), throws.values()):
        state["dice"], state["throws_left"], state["player"] = dice, throws_left, 1
        state["boxes"] = OPEN
        state["boxes"][1, [LOW, HIGH, *range(low % 4)]] = low, high, *[0] * (low % 4)
        rules.legal_actions(state, options, masks[0])
        game.observe(state, options, 1, seen)

        named = layout.named(seen)
        rebuilt["dice"] = named["dice"].argmax(axis=1) + 1
        rebuilt["throws_left"] = named["throws_left"].argmax()
        rebuilt["player"] = 1 - named["mover"].argmax()
        rebuilt["boxes"] = OPEN
        own = rebuilt["boxes"][1]
        own[named["open"][0] == 0] = 0
        for box, points in zip((LOW, HIGH), named["low_high"][0], strict=True):
            if own[box] != OPEN:
                own[box] = round(float(points) * 30)
        rules.legal_actions(rebuilt, options, masks[1])
        assert masks[0].tolist() == masks[1].tolist(), (low, high, dice)


@pytest.mark.parametrize("name", GAMES)
def test_clone__goes_on_alike_from_any_position(name: str) -> None:
    @steadily
    @given(positions(name))
    def check(env: DiceEnv) -> None:
        before = pickle.dumps(env.get_state())
        twins = [env.clone(), pickle.loads(pickle.dumps(env))]
        ended = []
        for twin in twins:
            play(twin, np.random.default_rng(1))
            ended.append((twin.get_state().state.tobytes(), twin.rewards))
        assert pickle.dumps(env.get_state()) == before
        play(env, np.random.default_rng(1))
        assert ended == [(env.get_state().state.tobytes(), env.rewards)] * 2

    check()


@pytest.mark.parametrize("name", GAMES)
def test_rewards__are_conserved_whatever_is_played(name: str) -> None:
    @steadily
    @given(environments(name), st.integers(0, 2**63))
    def check(env: DiceEnv, seed: int) -> None:
        env.reset(seed=seed)
        paid = list(play(env, np.random.default_rng(seed)).values())
        points = list(env.scores().values())
        kind = env.get_state().options["reward"]
        if kind == "score":
            assert paid == pytest.approx(points)
            return
        assert sum(paid) == pytest.approx(0)
        more = np.subtract.outer(points, points) > 0
        assert (np.subtract.outer(paid, paid)[more] >= -1e-9).all()  # more points are never paid less
        assert max(paid) > 0 or max(points) == min(points)  # a tie may be broken

    check()


@pytest.mark.parametrize("name", GAMES)
def test_illegal_actions__never_change_anything(name: str) -> None:
    @steadily
    @given(positions(name), st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 60), max_size=20))
    def check(env: DiceEnv, actions: list[int]) -> None:
        before = pickle.dumps(env.get_state())
        mask = env.observe(env.agent_selection)["action_mask"]
        for action in actions:
            if action not in range(len(mask)) or not mask[action]:
                with pytest.raises(ValueError, match=r"not legal|None"):
                    env.step(action)
                assert pickle.dumps(env.get_state()) == before

    check()
