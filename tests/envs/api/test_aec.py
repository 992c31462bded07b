"""The PettingZoo API."""

import copy
import pickle
import warnings
from typing import Any

import cloudpickle
import gymnasium
import numpy as np
import pettingzoo
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # PettingZoo's tests import a game of its own the old way
    from pettingzoo.test import api_test, performance_benchmark, render_test, seed_test
    from pettingzoo.test.performance_benchmark import time as benchmark_time
    from pettingzoo.test.state_test import test_state as check_state
    from pettingzoo.test.state_test import test_state_space as check_state_space

from fivedice.envs import GAMES, load_game, yum_v0
from fivedice.envs.api.aec import DiceEnv
from fivedice.envs.api.transcript import Recorder

# PettingZoo's own games with a mask are on a list that spares them these two, which ask for no Dict.
dict_observations = pytest.mark.filterwarnings(
    "ignore:Observation is not a NumPy array:UserWarning",
    "ignore:Observation space for each agent probably should be:UserWarning",
)
FILL = 31
ONES, TWOS, THREES, YUM = FILL, FILL + 1, FILL + 2, FILL + 11


def started(seed: int = 0, **settings: Any) -> DiceEnv:
    env = yum_v0.env(**settings)
    env.reset(seed=seed)
    return env


def act(env: DiceEnv, generator: np.random.Generator) -> None:
    env.step(int(generator.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"]))))


def finish(env: DiceEnv, seed: int = 0) -> None:
    """Play to the end, before the dead steps."""
    generator = np.random.default_rng(seed)
    while not any(env.terminations.values()):
        act(env, generator)


# PettingZoo's own tests.


@dict_observations
@pytest.mark.parametrize("name", GAMES)
def test_pettingzoo__api(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    game = load_game(name)
    for num_players in (game.min_players, game.max_players):
        api_test(DiceEnv(game, num_players), num_cycles=200)
    api_test(Recorder(DiceEnv(game)), num_cycles=200)
    capsys.readouterr()


@pytest.mark.parametrize("name", GAMES)
def test_pettingzoo__api_with_masks_in_the_info(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With flat observations nothing is to be spared."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        api_test(DiceEnv(load_game(name), mask_in="info"), num_cycles=200)
        api_test(DiceEnv(load_game(name), mask_in="info", illegal_action="terminate"), num_cycles=200)
    capsys.readouterr()


@pytest.mark.parametrize("name", GAMES)
def test_pettingzoo__state(name: str) -> None:
    """It samples actions without looking at the mask."""
    env = DiceEnv(load_game(name), illegal_action="terminate")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_state_space(env)
        for seed in range(5):
            check_state(env, 20, seed)


def test_pettingzoo__benchmark(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It would play for five seconds; this clock makes it play 50 rounds."""
    clock = iter(range(100))
    monkeypatch.setattr(benchmark_time, "time", lambda: next(clock) / 10)
    performance_benchmark(yum_v0.env())
    assert "turns per second" in capsys.readouterr().out


@pytest.mark.parametrize("name", GAMES)
def test_pettingzoo__seed(name: str) -> None:
    seed_test(lambda: DiceEnv(load_game(name)))


@pytest.mark.parametrize("name", GAMES)
def test_pettingzoo__render(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    render_test(lambda render_mode: DiceEnv(load_game(name), render_mode=render_mode))
    capsys.readouterr()


# Making one.


@pytest.mark.parametrize("name", GAMES)
def test_make__both_ways_without_a_warning(name: str) -> None:
    game = load_game(name)
    made = pettingzoo.make("aec", game.aec_id, num_players=game.max_players)
    assert len(made.possible_agents) == game.max_players
    assert str(made.unwrapped) == f"{name}_v{game.version}"
    assert made.unwrapped.metadata["render_modes"] == ["ansi", "human", "rgb_array"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"num_players": 0}, "num_players=0 is not possible: Yum is for 1 to 6 players"),
        ({"num_players": 7}, "num_players=7 is not possible: Yum is for 1 to 6 players"),
        ({"num_players": 2.0}, "num_players=2.0 is not a whole number"),
        ({"reward": "points"}, "reward='points' is unknown; use 'win' or 'score' or 'margin'"),
        (
            {"num_players": 1, "reward": "win"},
            "reward='win' compares players, but there is only one; use reward='score'",
        ),
        ({"render_mode": "rgb"}, "render_mode='rgb' is not possible; use 'ansi', 'human', 'rgb_array' or None"),
        ({"illegal_action": "ignore"}, "illegal_action='ignore' is not possible; use 'raise' or 'terminate'"),
        ({"illegal_reward": "-1"}, "illegal_reward='-1' is not possible; use a finite number"),
        ({"illegal_reward": float("nan")}, "illegal_reward=nan is not possible; use a finite number"),
        ({"mask_in": "state"}, "mask_in='state' is not possible; use 'observation' or 'info'"),
        ({"zeros": "none"}, "zeros='none' is not possible; use 'forced' or 'free'"),
        ({"five_alike_full_house": 1}, "five_alike_full_house=1 is not possible; use False or True"),
    ],
)
def test_make__wrong_setting_is_named_with_what_is_right(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        yum_v0.env(**settings)


def test_spaces__exist_before_reset_and_stay_the_same() -> None:
    env = yum_v0.env(num_players=3)
    assert env.possible_agents == ["player_0", "player_1", "player_2"]
    for agent in env.possible_agents:
        assert env.observation_space(agent) is env.observation_space(agent)
        assert env.action_space(agent) is env.action_space(agent)
        assert isinstance(env.action_space(agent), gymnasium.spaces.Discrete)


@pytest.mark.parametrize(
    "touch",
    [
        lambda env: env.agents,
        lambda env: env.num_agents,
        lambda env: env.rewards,
        lambda env: env.last(),
        lambda env: env.observe("player_0"),
        lambda env: env.step(0),
        lambda env: env.render(),
        lambda env: env.state(),
        lambda env: env.view(),
        lambda env: env.scores(),
        lambda env: env.get_state(),
        lambda env: list(env.agent_iter()),
    ],
)
def test_before_reset__says_call_reset(touch: Any) -> None:
    with pytest.raises((AttributeError, RuntimeError), match=r"call reset\(\)"):
        touch(yum_v0.env())


def test_unknown_attribute__is_an_ordinary_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'agent_selector'"):
        yum_v0.env().agent_selector  # noqa: B018


# Observations and masks.


def test_observe__every_agent_has_a_mask_that_is_empty_unless_it_is_to_act() -> None:
    env = started(num_players=3)
    generator = np.random.default_rng(0)
    for _ in range(40):
        for agent in env.possible_agents:
            seen = env.observe(agent)
            assert seen["action_mask"].dtype == np.int8
            assert seen["action_mask"].any() == (agent == env.agent_selection)
            assert seen["observation"].dtype == np.float32
            assert env.observation_space(agent).contains(seen)
        sampled = env.action_space(env.agent_selection).sample(env.observe(env.agent_selection)["action_mask"])
        assert env.observe(env.agent_selection)["action_mask"][sampled]
        act(env, generator)


def test_observe__own_seat_first_and_the_others_in_turn_order() -> None:
    env = started(num_players=3)
    layout = env.game.layout(env.game.make_options(3))
    env.reset(seed=0, options={"script": [6, 6, 6, 6, 6]})
    env.step(FILL + 5)  # player_0 has 30 in Sixes, and player_1 is to move
    for seat, agent in enumerate(env.possible_agents):
        named = layout.named(env.observe(agent)["observation"])
        assert named["mover"].tolist() == [float((seat + place) % 3 == 1) for place in range(3)]
        assert named["open"][(0 - seat) % 3].tolist() == [1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1]
        assert named["upper_total"].tolist() == pytest.approx([30 / 105 * ((seat + i) % 3 == 0) for i in range(3)])


def test_observe__after_the_end_no_mask_and_no_mover() -> None:
    env = started()
    finish(env)
    for agent in env.possible_agents:
        seen = env.observe(agent)
        assert not seen["action_mask"].any()
        assert not env.game.layout(env.game.make_options(2)).named(seen["observation"])["mover"].any()


def test_observe__unknown_agent_is_named() -> None:
    with pytest.raises(
        ValueError, match=r"'player_7' is not a known agent; did you mean 'player_0'\?|'player_7' is not"
    ):
        started().observe("player_7")


# Steps.


@pytest.mark.parametrize("action", [-1, 43, 1000, None, 1.0, "3", True, np.array([1, 1]), np.array([1.0])])
def test_step__impossible_action_raises_and_changes_nothing(action: Any) -> None:
    env = started()
    env.step(0)
    before = pickle.dumps(env.get_state())
    with pytest.raises(ValueError, match="legal are 0"):
        env.step(action)
    assert pickle.dumps(env.get_state()) == before


def test_step__illegal_action_is_named_in_words_with_the_legal_ones() -> None:
    env = yum_v0.env()
    env.reset(seed=0, options={"script": [1, 1, 2, 2, 2]})
    with pytest.raises(
        ValueError, match=r"^action 42 \(fill Yum: 0\) is not legal for player_0; legal are 0 \(keep none\), "
    ):
        env.step(YUM)
    with pytest.raises(
        ValueError, match=r"3 \(keep 1 1\).* 31 \(fill Ones: 2\), 32 \(fill Twos: 6\), 41 \(fill Full House: 25\)$"
    ):
        env.step(YUM)


def test_step__illegal_action_leaves_uncollected_rewards() -> None:
    env = yum_v0.env(reward="score")
    env.reset(seed=0, options={"script": [6, 6, 6, 6, 6, 1, 1, 1, 1, 2]})
    env.step(YUM)
    env.step(ONES)
    assert env.last()[1] == 30.0
    with pytest.raises(ValueError, match="not legal"):
        env.step(YUM)
    assert env.last()[1] == 30.0


@pytest.mark.parametrize("kind", [int, np.int8, np.int32, np.int64])
def test_step__takes_integers_of_any_kind(kind: Any) -> None:
    started().step(kind(0))


def test_step__dead_agents_take_none_only_and_then_reset_is_asked_for() -> None:
    env = started(num_players=3)
    finish(env)
    assert env.agents == env.possible_agents
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    left = list(env.agents)
    while env.agents:
        assert env.agents == left
        with pytest.raises(ValueError, match="None"):
            env.step(0)
        left.remove(env.agent_selection)
        env.step(None)
    for action in (None, 0):
        with pytest.raises(ValueError, match=r"call reset\(\)"):
            env.step(action)
    with pytest.raises(ValueError, match="the game is over, so there is no decision to make"):
        env.view()
    with pytest.raises(ValueError, match=r"every agent has left; call reset\(\)"):
        env.last()


def test_step__same_agent_may_move_again() -> None:
    env = started()
    env.step(0)
    assert env.agent_selection == "player_0"
    env.step(0)
    assert env.agent_selection == "player_0"
    act(env, np.random.default_rng(0))  # after the third throw a box must be filled
    assert env.agent_selection == "player_1"


# Rewards.


@pytest.mark.parametrize(
    ("num_players", "reward"),
    [(1, None), (1, "score"), *((seats, reward) for seats in (2, 5) for reward in (None, "win", "score", "margin"))],
)
def test_rewards__delivered_once_and_in_all_the_payoff(num_players: int, reward: str | None) -> None:
    env = yum_v0.env(num_players=num_players, reward=reward)
    for seed in range(5):
        env.reset(seed=seed)
        generator = np.random.default_rng(seed)
        delivered = dict.fromkeys(env.possible_agents, 0.0)
        for agent in env.agent_iter():
            seen, paid, terminated, _, _ = env.last()
            delivered[agent] += paid
            env.step(None if terminated else int(generator.choice(np.flatnonzero(seen["action_mask"]))))
        points = list(env.scores().values())
        best = max(points)
        if reward == "score" or num_players == 1:
            payoff = points
        elif reward == "margin":
            payoff = [own - (sum(points) - own) / (num_players - 1) for own in points]
        else:
            winners = points.count(best)
            payoff = [1 / winners if own == best else -1 / (num_players - winners) for own in points]
            assert sum(delivered.values()) == pytest.approx(0)
            assert min(delivered.values()) < 0 < max(delivered.values())
        assert list(delivered.values()) == pytest.approx(payoff)


def test_rewards__last_mover_is_paid_through_last_before_its_dead_step() -> None:
    env = started(reward="score")
    finish(env)
    last_mover = "player_1"
    paid = env.rewards[last_mover]
    assert paid == env.scores()[last_mover] - sum_before_last(env)
    env.step(None)
    assert env.agent_selection == last_mover
    assert env.last()[1] == paid


def sum_before_last(env: DiceEnv) -> float:
    """The points of player_1 before the last step, from the same game played once more."""
    again = started(reward="score")
    generator, points = np.random.default_rng(0), 0.0
    while not any(again.terminations.values()):
        points = again.scores()["player_1"]
        act(again, generator)
    assert again.scores() == env.scores()
    return points


# The option to end the game at an illegal action.


def test_terminate__illegal_action_is_paid_and_ends_the_game() -> None:
    env = started(illegal_action="terminate", illegal_reward=-3.0)
    env.step(0)
    env.step(43)
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.rewards == {"player_0": -3.0, "player_1": 0.0}
    assert "action 43 is not legal" in env.infos["player_0"]["illegal_action"]
    delivered = {}
    for agent in env.agent_iter():
        delivered[agent] = env.last()[1]
        seen = env.observe(agent)
        assert not seen["action_mask"].any()
        assert not env.game.layout(env.options_record).named(seen["observation"])["mover"].any()
        env.step(None)
    assert delivered == {"player_0": -3.0, "player_1": 0.0}
    assert not env.game.layout(env.options_record).named(env.observe("player_0")["observation"])["mover"].any()


def test_terminate__next_games_start_with_the_right_agent() -> None:
    env = started(illegal_action="terminate", num_players=3)
    for _ in range(3):
        act(env, np.random.default_rng(0))
        while env.agent_selection != "player_1":
            act(env, np.random.default_rng(1))
        env.step(-1)
        if env.agents[0] == "player_0":
            env.step(None)  # a game may also be left with its dead agents still there
        env.reset()
        assert env.agents == env.possible_agents
        assert env.agent_selection == "player_0"
        assert not any(env.terminations.values())
        assert env.infos["player_1"] == {}
    finish(env)
    assert set(env.terminations.values()) == {True}


# Seeds and scripts.


def test_reset__same_seed_repeats_and_no_seed_plays_the_next_game() -> None:
    env = started(seed=5)
    first = [started_game(env, seed) for seed in (5, None, None, 5, None)]
    assert first[0] == first[3]
    assert first[1] == first[4]
    assert len(set(first[:3])) == 3


def started_game(env: DiceEnv, seed: int | None) -> bytes:
    env.reset(seed=seed)
    finish(env)
    return env.get_state().state.tobytes()


def test_reset__first_without_a_seed_differs_each_time() -> None:
    games = set()
    for _ in range(4):
        env = yum_v0.env()
        env.reset()
        games.add(env.get_state().stream.tobytes())
    assert len(games) == 4


def test_reset__script_gives_the_next_faces_in_slot_order_whoever_throws() -> None:
    env = yum_v0.env()
    env.reset(seed=0, options={"script": [5, 1, 1, 6, 2, 4, 3, 3, 3, 3, 3]})
    assert env.get_state().state["dice"].tolist() == [[1, 1, 2, 5, 6]]
    env.step(0b11011)  # throws the 2
    assert env.get_state().state["dice"].tolist() == [[1, 1, 4, 5, 6]]
    env.step(ONES)
    assert env.agent_selection == "player_1"
    assert env.get_state().state["dice"].tolist() == [[3, 3, 3, 3, 3]]
    scripted = started_game(env, 1)
    plain = started_game(yum_v0.env(), 1)
    assert scripted == plain  # a script is for one game


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"script": [1, 7]}, r"script\[1\] is 7; each entry must be a face from 1 to 6"),
        ({"scripts": [1]}, r"'scripts' is not a known reset option; did you mean 'script'\?"),
        ({"script": None}, r"script=None is not a list of faces; use a list such as \[1, 6\]"),
        ({"script": 6}, r"script=6 is not a list of faces"),
        (["script"], r"reset\(options=\['script'\]\) is not possible; use a dict, such as \{'script': …\}"),
        (0, r"reset\(options=0\) is not possible; use a dict"),
    ],
)
def test_reset__bad_option_is_named_and_the_game_does_not_change(options: Any, said: str) -> None:
    env = started()
    before = pickle.dumps(env.get_state())
    with pytest.raises(ValueError, match=said):
        env.reset(seed=1, options=options)
    assert pickle.dumps(env.get_state()) == before


def test_reset__bad_seed_is_named() -> None:
    with pytest.raises(ValueError, match="seed=-1 is not possible"):
        yum_v0.env().reset(seed=-1)


# Copies.

COPIES = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "cloudpickle": lambda env: cloudpickle.loads(cloudpickle.dumps(env)),
    "clone": lambda env: env.clone(),
}


@pytest.mark.parametrize("way", COPIES)
def test_copy__before_and_during_a_game(way: str) -> None:
    fresh = COPIES[way](yum_v0.env(num_players=3))
    fresh.reset(seed=1)
    env = started(seed=1, num_players=3)
    generator = np.random.default_rng(0)
    while not any(env.terminations.values()):
        twin = COPIES[way](env)
        assert twin.get_state().state.tobytes() == env.get_state().state.tobytes()
        ahead = copy.deepcopy(generator)
        act(twin, ahead)
        act(env, generator)
        assert twin.get_state().state.tobytes() == env.get_state().state.tobytes()
        assert twin.get_state().stream.tobytes() == env.get_state().stream.tobytes()
        assert twin.rewards == env.rewards


def test_copy__goes_on_to_the_same_next_games() -> None:
    env = started(seed=1)
    twin = env.clone()
    assert started_game(env, None) == started_game(twin, None)


def test_set_state__goes_back_and_into_another_environment() -> None:
    env, other = started(seed=1), yum_v0.env()
    env.step(0)
    snapshot = env.get_state()
    finish(env)
    final = env.get_state().state.tobytes()
    for again in (env, other):
        again.set_state(snapshot)
        assert again.agents == again.possible_agents
        finish(again)
        assert again.get_state().state.tobytes() == final
    assert started_game(env, None) == started_game(other, None)  # also the next game of the seed


@pytest.mark.parametrize("settings", [{"num_players": 3}, {"zeros": "free"}, {"reward": "score"}])
def test_set_state__snapshot_of_other_settings_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"the snapshot is from yum_v0 with .*, but this environment is yum_v0 with"):
        started(**settings).set_state(started().get_state())


@pytest.mark.parametrize("other", [None, b"junk", {"game": "yum_v0"}])
def test_set_state__of_what_is_no_snapshot_is_refused(other: Any) -> None:
    env = started()
    before = pickle.dumps(env.get_state())
    with pytest.raises(ValueError, match=r"is not a snapshot; use the return value of get_state\(\)"):
        env.set_state(other)
    assert pickle.dumps(env.get_state()) == before


# Everything else.


def test_one_seat__is_paid_its_points_by_default() -> None:
    env = started(num_players=1)
    finish(env)
    assert env.agents == ["player_0"]
    points = env.scores()["player_0"]
    assert points > 0
    assert sum(started_rewards()) == points


def started_rewards() -> list[float]:
    env, generator, rewards = started(num_players=1), np.random.default_rng(0), []
    while not any(env.terminations.values()):
        act(env, generator)
        rewards.append(env.rewards["player_0"])
    return rewards


def test_render__ansi_shows_the_dice_and_changes(capsys: pytest.CaptureFixture[str]) -> None:
    env = yum_v0.env(render_mode="ansi")
    env.reset(seed=0, options={"script": [1, 3, 3, 4, 6, 5, 5, 5, 5, 5]})
    before = env.render()
    assert before is not None
    assert "⚂ 3" in before
    assert "2 throws left" in before
    env.step(0)
    assert env.render() != before
    finish(env)
    assert "won by" in str(env.render())
    assert capsys.readouterr().out == ""


def test_close__may_be_called_at_any_time() -> None:
    env = yum_v0.env()
    env.close()
    env.reset(seed=0)
    env.close()
    env.close()


def test_reset__a_game_of_no_seed_is_refused() -> None:
    env = started()
    with pytest.raises(ValueError, match=r"options=\{'game': 5\} needs a seed; call reset\(seed=…\)"):
        env.reset(options={"game": 5})
    env.reset(seed=1, options={"game": 5})
