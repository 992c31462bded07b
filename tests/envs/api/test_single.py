"""One seat of a game for Gymnasium, alone and many side by side."""

import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv

from fivedice.agents.policies.checkpoint import make_card, save_checkpoint
from fivedice.agents.policies.network import Network, tensor_shapes
from fivedice.envs import GAMES, _register, load_game
from fivedice.envs.api.single import SeatEnv
from fivedice.envs.api.vector import SeatVectorEnv
from fivedice.envs.core.view import View

YUM = "fivedice/Yum-v0"
FIRST_FILL = 31  # of Yum's actions; those before it keep dice
TWO_OTHERS = "but there are 2 other seats; name one for each, or one for all without a list"


class Last:
    """Takes the last legal action. With ``zeros="free"`` that fills a box each time: a game has 12 of its decisions."""

    def __init__(self, name: str = "last") -> None:
        self.name = name
        self.asked: set[int] = set()  # the seats it was asked for

    def act(self, view: View) -> np.ndarray:
        self.asked.update(view.seats.tolist())
        return last_legal(view.masks)


def last_legal(masks: np.ndarray) -> np.ndarray:
    return masks.shape[1] - 1 - np.argmax(masks[:, ::-1], axis=1)


class Chooser:
    """Picks the same actions for the same masks in the same order."""

    def __init__(self, *seed: int) -> None:
        self.generator = np.random.default_rng(seed)

    def choose(self, mask: np.ndarray) -> int:
        return int(self.generator.choice(np.flatnonzero(mask)))


def play_seat(env: SeatEnv, chooser: Chooser, seed: int | None = None) -> tuple[list[float], dict[str, Any]]:
    """The rewards of a whole game, and its last info."""
    _, info = env.reset(seed=seed)
    rewards, terminated = [], False
    while not terminated:
        _, reward, terminated, _, info = env.step(chooser.choose(info["action_mask"]))
        rewards.append(reward)
    return rewards, info


# Registration


@pytest.mark.parametrize("mask_in", ["info", "observation"])
@pytest.mark.parametrize("name", GAMES)
def test_check_env__passes_without_a_warning(name: str, mask_in: str) -> None:
    """Gymnasium's checker samples actions without looking at the mask."""
    settings = {"render_mode": "ansi", "reward": "margin", "mask_in": mask_in}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(load_game(name).gymnasium_id, disable_env_checker=True, **settings).unwrapped)


@pytest.mark.parametrize("name", GAMES)
def test_make__by_id_with_or_without_the_module(name: str) -> None:
    spec = load_game(name)
    for name_or_path in (spec.gymnasium_id, f"fivedice.envs:{spec.gymnasium_id}"):
        env = gymnasium.make(name_or_path, num_players=2, opponents="random")
        assert isinstance(env.unwrapped, SeatEnv)
        observation, info = env.reset(seed=1)
        assert env.observation_space.contains(observation)
        env.step(env.action_space.sample(info["action_mask"]))
        assert isinstance(gymnasium.make_vec(name_or_path, num_envs=2).unwrapped, SeatVectorEnv)


def test_register__twice_is_harmless() -> None:
    before = dict(gymnasium.registry)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _register()
    assert gymnasium.registry == before


def test_make__by_module_in_a_process_that_has_not_imported_it() -> None:
    code = f"import gymnasium; print(gymnasium.make('fivedice.envs:{YUM}').reset(seed=1)[0].shape)"
    said = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == str(gymnasium.make(YUM).observation_space.shape)


@pytest.mark.parametrize("context", ["spawn", "forkserver"])
def test_async_vector_env__plays_the_same_games_in_other_processes(context: str) -> None:
    makers = [partial(gymnasium.make, f"fivedice.envs:{YUM}", reward="score")] * 2
    here, there = SyncVectorEnv(makers), AsyncVectorEnv(makers, context=context)
    try:
        shown = [env.reset(seed=3)[0] for env in (here, there)]
        _, infos = here.reset(seed=3)
        chooser = Chooser(1)
        for _ in range(20):
            np.testing.assert_array_equal(*shown)
            actions = np.array([chooser.choose(mask) for mask in infos["action_mask"]])
            (seen, *_, infos), (seen_there, *_) = here.step(actions), there.step(actions)
            shown = [seen, seen_there]
    finally:
        there.close()


# Rewards


def test_seat_env__is_paid_what_the_others_gain_before_its_first_decision() -> None:
    env = SeatEnv("yum", opponents=Last(), seat=1, reward="margin", zeros="free")
    env.reset(seed=1, options={"script": [6, 6, 6, 6, 6]})  # player_0 fills Yum with 30
    _, reward, *_ = env.step(FIRST_FILL)
    points, _ = env.table.batch.results(env.table.batch.all_rows)
    assert points[0, 0] >= 30
    assert reward == points[0, 1] - points[0, 0]


# Opponents


def test_opponents__one_for_all_and_names_mix_with_objects() -> None:
    _, info = play_seat(SeatEnv("yum", opponents=["random", Last()], num_players=3), Chooser(1), seed=1)
    assert info["opponents"] == ["random", "last"]
    _, info = play_seat(SeatEnv("yum", opponents=Last(), num_players=3), Chooser(1), seed=1)
    assert info["opponents"] == ["last", "last"]


@pytest.mark.parametrize("action", [[1, 2], [], "a", None, 1.0])
def test_step__what_is_no_integer_is_refused_and_changes_nothing(action: Any) -> None:
    env = SeatEnv("yum", opponents="random")
    env.reset(seed=1)
    before = env.table.batch.states.copy()
    with pytest.raises(ValueError, match=r"^(action .* is not a single integer$|actions have .* use one integer)"):
        env.step(action)
    assert env.table.batch.states == before


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"opponents": ["random"]}, f"You named 1 opponent, {TWO_OTHERS}, or use num_players=2"),
        (
            {"opponents": ["random", "greedy", "random"]},
            f"You named 3 opponents, {TWO_OTHERS}, or use num_players=4",
        ),
        (
            {"opponents": ["random", "greedy"], "num_players": 2},
            "You named 2 opponents, but there is only 1 other seat; name one, or use num_players=3",
        ),
        (
            {"opponents": ["random"], "num_players": 1},
            "You named 1 opponent, but there is no other seat; use opponents=[], or use num_players=2",
        ),
        ({"opponents": ["random"] * 6}, f"You named 6 opponents, {TWO_OTHERS}"),
        ({"opponents": "gredy"}, "'gredy' is not a policy; did you mean 'greedy'? Else use 'random', 'greedy'"),
        ({"opponents": ["random", None]}, "None is not a policy; use a name, a checkpoint's path, or an object"),
        ({"opponents": None}, "None is not a policy"),
        ({"opponents": 3}, "3 is not a policy"),
        ({"opponents": Path("none.safetensors")}, "the file none.safetensors does not exist"),
        ({"seat": 3}, "seat=3 does not exist in a game with 3 players; use 0 to 2 or 'random'"),
        ({"seat": -1}, "seat=-1 does not exist in a game with 3 players"),
        ({"seat": 0.5}, "seat=0.5 does not exist in a game with 3 players"),
        ({"seat": True}, "seat=True does not exist in a game with 3 players"),
        ({"seat": "first"}, "seat='first' does not exist in a game with 3 players"),
        ({"seat": None}, "seat=None does not exist in a game with 3 players"),
        ({"reward": "wins"}, "reward='wins' is unknown; use 'win' or 'score' or 'margin'"),
        ({"num_players": 7}, "num_players=7 is not possible: Yum is for 1 to 6 players"),
        ({"zeros": "none"}, "zeros='none' is not possible; use 'forced' or 'free'"),
        ({"render_mode": "human"}, "render_mode='human' is not possible; use 'ansi', 'rgb_array' or None"),
        ({"mask_in": "state"}, "mask_in='state' is not possible; use 'info' or 'observation'"),
        ({"illegal_action": "ignore"}, "illegal_action='ignore' is not possible; use 'raise' or 'terminate'"),
        ({"illegal_reward": None}, "illegal_reward=None is not possible; use a finite number"),
    ],
)
@pytest.mark.parametrize("make", [SeatEnv, partial(SeatVectorEnv, 2)])
def test_settings__wrong_ones_are_refused_in_a_sentence(
    make: Callable[..., Any], settings: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(said)}[^\n]*$"):
        make("yum", **({"num_players": 3} | settings))


# Stepping


def test_seat_env__an_illegal_action_changes_nothing() -> None:
    env = SeatEnv("yum", seat=0, illegal_action="raise")
    env.reset(seed=1, options={"script": [1, 1, 2, 2, 3]})
    before = env.table.batch.states.tobytes(), env.table.batch.streams.tobytes()
    full_house = FIRST_FILL + 10  # gives nothing, while Ones would
    for action, said in (
        (
            full_house,
            r"action 41 \(fill Full House: 0\) is not legal for player_0; legal are 0 \(keep none\), .*Ones",
        ),
        (43, r"action 43 is not legal"),
        (-1, r"action -1 is not legal"),
        (1.0, "dtype float64; use one integer"),
        (True, "dtype bool; use one integer"),
    ):
        with pytest.raises(ValueError, match=said):
            env.step(action)
    assert before == (env.table.batch.states.tobytes(), env.table.batch.streams.tobytes())
    env.step(FIRST_FILL)


def test_seat_env__has_to_be_reset_before_and_after_a_game() -> None:
    env = SeatEnv("yum", seat=0)
    with pytest.raises(RuntimeError, match=r"call reset\(\)"):
        env.step(0)
    play_seat(env, Chooser(1))
    with pytest.raises(ValueError, match="after the end of the game"):
        env.step(0)


def test_seat_env__the_same_seed_is_the_same_game_and_none_the_next() -> None:
    env = SeatEnv("yum", reward="score")
    first, second, again = (play_seat(env, Chooser(5), seed)[0] for seed in (4, None, 4))
    assert first == again
    assert first != second
    assert play_seat(SeatEnv("yum", reward="score"), Chooser(5), seed=4)[0] == first


def test_seat_env__the_caller_keeps_what_it_was_given() -> None:
    env = SeatEnv("yum", seat=0)
    observation, info = env.reset(seed=1)
    kept, mask = observation.copy(), info["action_mask"].copy()
    observation_after, *_ = env.step(0)
    np.testing.assert_array_equal(observation, kept)
    np.testing.assert_array_equal(info["action_mask"], mask)
    assert not np.array_equal(observation_after, kept)


def test_script__is_what_the_first_dice_show() -> None:
    game = load_game("yum")
    layout = game.layout(game.make_options(2))
    env, envs = SeatEnv("yum", seat=0), SeatVectorEnv(3, "yum", seat=0)
    shown = [env.reset(seed=1, options={"script": [6, 2, 2, 5, 1]})[0]]
    shown.extend(envs.reset(seed=1, options={"script": [6, 2, 2, 5, 1]})[0])
    for observation in shown:
        assert (layout.named(observation)["dice"].argmax(axis=1) + 1).tolist() == [1, 2, 2, 5, 6]
    with pytest.raises(ValueError, match=r"script\[1\] is 7; each entry must be a face from 1 to 6"):
        env.reset(options={"script": [1, 7]})


def test_render__is_text_of_the_game_as_it_stands_or_nothing() -> None:
    env = SeatEnv("yum", render_mode="ansi", zeros="free", opponents=Last())
    _, info = env.reset(seed=1)
    texts = []
    for _ in range(3):
        batch = env.table.batch
        texts.append(env.render())
        assert texts[-1] == batch.game.render(batch.states[0].copy(), batch.options)
        _, _, _, _, info = env.step(last_legal(info["action_mask"][None])[0])
    assert len(set(texts)) == 3
    assert "player_1" in str(texts[0])
    silent = SeatEnv("yum")
    silent.reset(seed=1)
    assert silent.render() is None
    with pytest.raises(ValueError, match="render_mode='human' is not possible; use 'ansi', 'rgb_array' or None"):
        SeatEnv("yum", render_mode="human")


# Many games side by side


def stepped(env: VectorEnv[Any, Any, Any], steps: int) -> Iterator[tuple[Any, ...]]:
    """What a vector environment returns, row i choosing as row i does in any other."""
    choosers = [Chooser(9, row) for row in range(env.num_envs)]
    observations, infos = env.reset(seed=8)
    yield observations, None, None, infos
    for _ in range(steps):
        masks = infos["action_mask"]
        actions = np.array(
            [chooser.choose(mask) for chooser, mask in zip(choosers, masks, strict=True)]  # no mask is all 0
        )
        observations, rewards, terminated, truncated, infos = env.step(actions)
        assert not truncated.any()
        yield observations, rewards, terminated, infos
        if env.metadata["autoreset_mode"] is AutoresetMode.DISABLED and terminated.any():
            observations, infos = env.reset(options={"reset_mask": terminated})
            yield observations, None, None, infos


@pytest.mark.parametrize("mode", AutoresetMode)
def test_vector_env__does_what_gymnasium_s_own_does(mode: AutoresetMode) -> None:
    settings = {"reward": "margin", "num_players": 3}
    ours = SeatVectorEnv(1, "yum", autoreset_mode=mode, **settings)
    theirs = SyncVectorEnv([partial(SeatEnv, "yum", **settings)], autoreset_mode=mode)
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"]
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.action_space == theirs.action_space
    ends = 0
    for here, there in zip(stepped(ours, 150), stepped(theirs, 150), strict=True):
        for mine, other in zip(here[:3], there[:3], strict=True):
            np.testing.assert_array_equal(mine, other)
        infos, expected = here[3], there[3]
        assert set(expected) - {"_action_mask"} <= set(infos)
        for name in {"action_mask", "score", "rank", "seat", "_score"} & set(expected):
            np.testing.assert_array_equal(infos[name], expected[name])
        if "final_obs" in expected:
            np.testing.assert_array_equal(infos["final_obs"][0], expected["final_obs"][0])
            for name in ("score", "rank", "seat", "_score"):
                np.testing.assert_array_equal(infos["final_info"][name], expected["final_info"][name])
        ends += here[2] is not None and bool(here[2][0])
    assert ends >= 3


def test_disabled__asks_for_the_reset() -> None:
    env = SeatVectorEnv(2, "yum", opponents=Last(), zeros="free", autoreset_mode="Disabled", seat=0)
    with pytest.raises(RuntimeError, match=r"call reset\(\)"):
        env.reset(options={"reset_mask": np.array([True, False])})
    _, infos = env.reset(seed=1)
    for _ in range(12):
        _, _, terminated, _, infos = env.step(last_legal(infos["action_mask"]))
    assert terminated.all()
    with pytest.raises(ValueError, match=r"the games in rows \[0, 1\] are over; call reset"):
        env.step(np.zeros(2, np.int64))
    first, second = env.table.batch.states.copy()
    env.reset(options={"reset_mask": np.array([False, True])})
    assert env.table.batch.states[0] == first
    assert env.table.batch.states[1] != second
    for mask in (np.array([1, 0]), np.array([True]), np.array([[True, False]])):
        with pytest.raises(ValueError, match=r"^reset_mask has dtype .* and shape .*; use bool and \(2,\)$"):
            env.reset(options={"reset_mask": mask})
    with pytest.raises(ValueError, match="it cannot be used with reset_mask"):
        env.reset(seed=1, options={"reset_mask": np.array([True, True])})


@pytest.mark.parametrize("copy", [True, False])
def test_vector_env__returned_arrays_are_the_caller_s_if_copied(copy: bool) -> None:
    env = SeatVectorEnv(4, "yum", copy=copy, reward="score")
    live = env.table.batch.observations, env.table.batch.masks
    observations, infos = env.reset(seed=1)
    for _ in range(2):
        kept = observations.copy(), infos["action_mask"].copy()
        stepped_on, rewards, terminated, _, infos_after = env.step(last_legal(infos["action_mask"]))
        for given, array, before in zip((observations, infos["action_mask"]), live, kept, strict=True):
            assert np.shares_memory(given, array) is not copy
            assert np.array_equal(given, before) is copy
        assert not np.shares_memory(rewards, env.table.paid)
        assert not np.shares_memory(terminated, env.table.batch.terminated)
        observations, infos = stepped_on, infos_after


def test_vector_env__an_illegal_action_changes_no_game() -> None:
    env = SeatVectorEnv(3, "yum", illegal_action="raise")
    env.reset(seed=1)
    before = env.table.batch.states.tobytes(), env.table.batch.streams.tobytes()
    for actions, said in (
        (np.array([0, 0, 99]), "game 2: action 99 is not legal for player_"),
        (np.zeros(2, np.int64), r"actions have shape \(2,\); use \(3,\)"),
        (np.zeros(3), "dtype float64; use one integer for each of the 3 games"),
    ):
        with pytest.raises(ValueError, match=said):
            env.step(actions)
    assert before == (env.table.batch.states.tobytes(), env.table.batch.streams.tobytes())


def test_vector_env__an_illegal_action_leaves_finished_neighbours_finished() -> None:
    env = SeatVectorEnv(2, "yum", opponents=Last(), zeros="free", illegal_action="raise")
    env.reset(seed=1)
    env.table.batch.terminated[0] = True
    state = env.table.batch.states[0].copy()
    with pytest.raises(ValueError, match="game 1: action 99 is not legal"):
        env.step(np.array([0, 99]))
    assert env.table.batch.states[0] == state


@pytest.mark.parametrize("faces", [1, 3], ids=["SeatEnv", "SeatVectorEnv"])
def test_reset__slip_of_the_pen_in_an_option_is_refused(faces: int) -> None:
    env = gymnasium.make("fivedice/Yum-v0") if faces == 1 else gymnasium.make_vec("fivedice/Yum-v0", num_envs=faces)
    with pytest.raises(ValueError, match="'scrpt' is not a known reset option; did you mean 'script'"):
        env.reset(options={"scrpt": [1]})


def test_opponents__that_answer_in_another_form_are_named() -> None:
    class Careless:
        name = "careless"

        def act(self, view: View) -> Any:
            return int(view.masks[0].argmax())

    env = SeatEnv("yum", opponents=Careless(), seat=1)
    with pytest.raises(ValueError, match=r"the policy 'careless' returned dtype .* must return one integer for each"):
        env.reset(seed=1)


def test_opponents__bound_to_another_table_are_refused_at_once(tmp_path: Path) -> None:
    game = load_game("yum")
    size, net = game.layout(game.make_options(3)).size, (4,)
    tensors = {
        name: np.zeros(shape, np.float32) for name, shape in tensor_shapes(size, game.num_actions(), net).items()
    }
    card = make_card(game, game.make_options(3, {}), net, "relu")
    save_checkpoint(tmp_path / "three.safetensors", card, Network(tensors, size, game.num_actions(), net, "relu"))
    with pytest.raises(ValueError, match=r"'three' was trained for Yum with num_players=3, not 2"):
        SeatEnv("yum", opponents=str(tmp_path / "three.safetensors"))
    with pytest.raises(ValueError, match=r"'three' was trained for Yum, not for Yahtzee Jr\."):
        SeatVectorEnv(2, "yahtzee_jr", opponents=str(tmp_path / "three.safetensors"), num_players=3)


def test_seat_env__shows_nothing_before_the_first_game() -> None:
    env, envs = SeatEnv("yum", render_mode="ansi"), SeatVectorEnv(2, "yum")
    for ask in (env.render, env.action_masks, envs.action_masks):
        with pytest.raises(RuntimeError, match=r"before the first game: call reset\(\)"):
            ask()


def test_vector_env__wrong_settings_are_named() -> None:
    with pytest.raises(ValueError, match="num_envs=0 is not possible; use a whole number of at least 1"):
        SeatVectorEnv(0, "yum")
    with pytest.raises(ValueError, match="autoreset_mode='x' is not possible; use 'NextStep' or 'SameStep' or"):
        SeatVectorEnv(2, "yum", autoreset_mode="x")
