"""The environment for RLlib. RLlib is not installed here: its base class is replaced by an empty one.

``make interop`` runs the environment in RLlib itself.
"""

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import pytest

from fivedice.envs import load_game
from fivedice.envs.api.aec import DiceEnv

Make = Callable[..., Any]


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Make:
    """Makes the environment from an ``env_config``."""
    if "ray" not in sys.modules:
        for name in ("ray", "ray.rllib", "ray.rllib.env", "ray.rllib.env.multi_agent_env"):
            monkeypatch.setitem(sys.modules, name, ModuleType(name))
        base = type("MultiAgentEnv", (gymnasium.Env,), {})
        monkeypatch.setattr(sys.modules["ray.rllib.env.multi_agent_env"], "MultiAgentEnv", base, raising=False)
    monkeypatch.delitem(sys.modules, "fivedice.envs.api.rllib", raising=False)
    module = importlib.import_module("fivedice.envs.api.rllib")
    monkeypatch.delitem(sys.modules, "fivedice.envs.api.rllib")
    return lambda **config: module.DiceMultiAgentEnv(config)


@pytest.mark.parametrize(("game", "num_players"), [("yum", 3), ("yahtzee_jr", 1), ("showdown_yahtzee", 2)])
def test_game__gives_what_the_aec_environment_gives(make: Make, game: str, num_players: int) -> None:
    reward = "score" if num_players == 1 else "margin"
    env = make(game=game, num_players=num_players, reward=reward)
    aec = DiceEnv(load_game(game), num_players=num_players, reward=reward)
    agents = [f"player_{seat}" for seat in range(num_players)]
    assert env.possible_agents == env.agents == agents
    observations, infos = env.reset(seed=5)
    aec.reset(5)
    has_acted: set[str] = set()
    total, payoff = dict.fromkeys(agents, 0.0), dict.fromkeys(agents, 0.0)
    while True:
        (mover,) = observations
        assert (mover, infos) == (aec.agent_selection, {mover: {}})
        seen = aec.observe(mover)
        assert (observations[mover]["observations"] == seen["observation"]).all()
        assert (observations[mover]["action_mask"] == seen["action_mask"]).all()
        assert env.observation_spaces[mover].contains(observations[mover])
        action = np.flatnonzero(seen["action_mask"])[-1]
        observations, rewards, terminated, truncated, infos = env.step({mover: action})
        aec.step(int(action))
        has_acted.add(mover)
        for agent in agents:
            assert agent in has_acted or rewards[agent] == 0.0 or terminated["__all__"], "RLlib would drop it"
            total[agent] += rewards[agent]
            payoff[agent] += aec.rewards[agent]
        assert terminated == dict.fromkeys([*agents, "__all__"], aec.terminations[mover])
        assert truncated == dict.fromkeys([*agents, "__all__"], aec.truncations[mover])
        if terminated["__all__"] or truncated["__all__"]:
            break
    assert set(observations) == set(infos) == set(agents)
    assert not any(observations[agent]["action_mask"].any() for agent in agents)
    assert total == payoff
    assert any(total.values())


def test_step__of_another_agent_is_refused_and_an_illegal_action_ends_the_game(make: Make) -> None:
    env = make(game="yum")
    observations, _ = env.reset(seed=1)
    with pytest.raises(ValueError, match=r"actions of \['player_1'\] were given, but player_0 is to act"):
        env.step({"player_1": 0})
    illegal = int(np.flatnonzero(observations["player_0"]["action_mask"] == 0)[0])
    _, rewards, terminated, _, infos = env.step({"player_0": illegal})
    assert (rewards, terminated["__all__"]) == ({"player_0": -1.0, "player_1": 0.0}, True)
    assert "is not legal" in infos["player_0"]["illegal_action"]
    strict = make(game="yum", illegal_action="raise")
    strict.reset(seed=1)
    with pytest.raises(ValueError, match="is not legal"):
        strict.step({"player_0": illegal})


def test_config__needs_a_game_and_takes_the_keywords_of_the_environment(make: Make) -> None:
    with pytest.raises(TypeError, match="the game is missing"):
        make()
    with pytest.raises(TypeError, match="num_player"):
        make(game="yum", num_player=3)
    with pytest.raises(ValueError, match="'yam' is not a known game"):
        make(game="yam")
