"""An illegal action in every API with one learner: it raises an error and changes nothing, or it loses the game."""

from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from fivedice.agents.training.vec_env import SeatVecEnv
from fivedice.envs import load_game
from fivedice.envs.api.aec import DiceEnv
from fivedice.envs.api.single import SeatEnv
from fivedice.envs.api.table import Table
from fivedice.envs.api.vector import SeatVectorEnv
from fivedice.envs.core.view import View

YUM = load_game("yum")
SETTINGS: dict[str, Any] = {"num_players": 3, "reward": "margin", "zeros": "free"}
WRONG = (42, 43, 10**9, -1)  # 42 fills Yum with a zero, while other boxes would give points
FILL = 31  # the first of Yum's actions that fill a box


class Fills:
    """Fills the first open box at each decision."""

    name = "fills"

    def act(self, view: View) -> np.ndarray:
        return fills(view.masks)


def fills(masks: np.ndarray) -> np.ndarray:
    return FILL + masks[:, FILL:].argmax(axis=1)


def last(masks: np.ndarray) -> np.ndarray:
    return masks.shape[1] - 1 - np.argmax(masks[:, ::-1], axis=1)


def seat_env(**settings: Any) -> SeatEnv:
    env = SeatEnv("yum", opponents=Fills(), seat=1, **(SETTINGS | settings))
    env.reset(seed=5, options={"script": [1, 1, 1, 2, 3]})  # player_0 fills Ones with 3
    return env


def state_of(table: Table) -> tuple[bytes, ...]:
    batch = table.batch
    held = (batch.states, batch.streams, batch.masks, batch.observations, batch.terminated, table.paid, table.owed)
    return tuple(array.tobytes() for array in held)


def test_defaults__are_those_of_each_api() -> None:
    """Gymnasium's `step` takes every action of the space; the learners of the other APIs get the masks."""
    assert SeatEnv("yum").table.ends_illegal
    assert SeatVectorEnv(2, "yum").table.ends_illegal
    assert not SeatVecEnv("yum", 2).table.ends_illegal
    assert DiceEnv(YUM).illegal_action == "raise"


@pytest.mark.parametrize("after", [0, 3])
def test_terminate__pays_once_all_that_is_due_and_loses(after: int) -> None:
    """Every reward of the seat has been delivered: the margin so far, and the reward for the illegal action."""
    env = seat_env(illegal_reward=-2.5)
    paid = 0.0
    for _ in range(after):
        paid += env.step(fills(env.table.batch.masks)[0])[1]
    margin, points = env.table.margins()[0], env.table.batch.results(np.array([0]))[0][0, 1]
    state = env.table.batch.states.tobytes()
    observation, reward, terminated, truncated, info = env.step(-1)
    assert paid + reward == pytest.approx(margin - 2.5)
    assert margin != 0
    assert (terminated, truncated) == (True, False)
    assert info["illegal_action"] == "action -1 is not legal for player_1"
    assert (info["score"], info["rank"], info["seat"], info["opponents"]) == (points, 3, 1, ["fills", "fills"])
    assert np.flatnonzero(info["action_mask"]).tolist() == [0]
    assert env.table.batch.states.tobytes() == state
    assert not env.table.batch.layout.named(observation)["mover"].any()
    with pytest.raises(ValueError, match="action 0 is illegal after the end of the game; start the next game first"):
        env.step(0)
    _, info = env.reset()
    assert set(info) == {"action_mask"}
    assert env.table.batch.streams["game"][0, 1] == 1  # the next game of the seed
    *_, info = env.step(fills(env.table.batch.masks)[0])
    assert "illegal_action" not in info


@pytest.mark.parametrize("action", WRONG)
def test_terminate__ends_a_game_as_the_aec_environment_does(action: int) -> None:
    aec, env = DiceEnv(YUM, illegal_action="terminate", illegal_reward=-3), SeatEnv("yum", seat=0, illegal_reward=-3)
    aec.reset(seed=2, options={"script": [1, 1, 2, 2, 3]})
    env.reset(seed=2, options={"script": [1, 1, 2, 2, 3]})
    aec.step(action)
    observation, reward, *_, info = env.step(action)
    seen, paid, terminated, truncated, said = aec.last()
    assert (reward, True, False) == (paid, terminated, truncated)
    assert said["illegal_action"].startswith(f"{info['illegal_action']}; legal are 0 (keep none), ")
    assert observation.tobytes() == seen["observation"].tobytes()
    assert aec.scores()["player_0"] == info["score"]


@pytest.mark.parametrize("action", WRONG)
@pytest.mark.parametrize("canonical_form", [False, True])
def test_raise__changes_nothing(action: int, canonical_form: bool) -> None:
    one, many = seat_env(illegal_action="raise", zeros="forced"), SeatVectorEnv(2, "yum", illegal_action="raise")
    vec = SeatVecEnv("yahtzee_jr", 2, canonical_form=canonical_form)
    many.reset(seed=1)
    vec.reset()
    unused = int(np.flatnonzero(~vec.action_masks()[1])[0]) if 0 <= action < 43 else action
    for env, actions in ((one, action), (many, np.array([0, action])), (vec, np.array([0, unused]))):
        if env is vec:
            actions[0] = vec.action_masks()[0].argmax()
        before = state_of(env.table)
        with pytest.raises(ValueError, match="is not legal"):
            env.step(actions)
        assert state_of(env.table) == before


@pytest.mark.parametrize("illegal_action", ["raise", "terminate"])
def test_step__what_is_no_integer_raises_and_changes_nothing(illegal_action: str) -> None:
    one = seat_env(illegal_action=illegal_action)
    many = SeatVectorEnv(2, "yum", illegal_action=illegal_action)
    vec = SeatVecEnv("yum", 2, illegal_action=illegal_action)
    many.reset(seed=1)
    vec.reset()
    for env, actions in (
        (one, 1.0),
        (one, "3"),
        (one, True),
        (one, None),
        (one, [1, 2]),
        (many, np.array([0.0, 1.0])),
        (many, np.array([-1])),
        (vec, np.array([0.0, 1.0])),
        (vec, np.array([-1, -1, -1])),
    ):
        before = state_of(env.table)
        with pytest.raises(ValueError, match=r"integer|actions have shape"):
            env.step(actions)
        assert state_of(env.table) == before


@pytest.mark.parametrize("mode", AutoresetMode)
def test_vector_env__ends_the_rows_with_an_illegal_action_only(mode: AutoresetMode) -> None:
    env, twin = (SeatVectorEnv(4, "yum", opponents=Fills(), autoreset_mode=mode, seat=0, **SETTINGS) for _ in range(2))
    _, infos = env.reset(seed=3)
    twin.reset(seed=3)
    actions = fills(infos["action_mask"])
    expected = twin.step(actions)
    legal, illegal = np.array([0, 3]), np.array([1, 2])
    actions[illegal] = -1, 43
    observations, rewards, terminated, truncated, infos = env.step(actions)
    for given, usual in zip((observations, rewards, terminated), expected, strict=False):
        assert given[legal].tobytes() == usual[legal].tobytes()
    assert rewards[illegal].tolist() == [-1.0, -1.0]
    assert terminated.tolist() == infos["_illegal_action"].tolist() == [False, True, True, False]
    assert not truncated.any()
    assert infos["illegal_action"][legal].tolist() == [None, None]
    assert infos["illegal_action"][illegal].tolist() == [
        "action -1 is not legal for player_0",
        "action 43 is not legal for player_0",
    ]
    assert infos["rank"][illegal].tolist() == [3, 3]
    assert infos["score"][illegal].tolist() == [0.0, 0.0]
    if mode is AutoresetMode.SAME_STEP:
        assert infos["final_info"]["illegal_action"][1] == infos["illegal_action"][1]
        assert [seen is None for seen in infos["final_obs"]] == [True, False, False, True]
        assert env.table.batch.streams["game"][:, 1].tolist() == [0, 1, 1, 0]
        return
    assert [np.flatnonzero(mask).tolist() for mask in infos["action_mask"][illegal]] == [[0], [0]]
    if mode is AutoresetMode.DISABLED:
        with pytest.raises(ValueError, match=r"the games in rows \[1, 2\] are over"):
            env.step(np.zeros(4, np.int64))
        return
    actions = fills(infos["action_mask"])
    actions[illegal] = -5  # ignored
    _, rewards, terminated, _, infos = env.step(actions)
    assert rewards[illegal].tolist() == [0.0, 0.0]
    assert not terminated.any()
    assert "illegal_action" not in infos
    assert env.table.batch.streams["game"][:, 1].tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("settings", [{}, {"canonical_form": True}, {"prior": "random"}], ids=str)
def test_vec_env__an_illegal_action_loses_the_game_and_the_next_one_starts(settings: dict[str, Any]) -> None:
    game = load_game("yahtzee_jr")
    env = SeatVecEnv(
        "yahtzee_jr", 3, opponents="random", seat=0, reward_scale=0.5, illegal_action="terminate", **settings
    )
    env.seed(3)
    env.reset()
    size = env.table.batch.layout.size
    for _ in range(2):  # some places are taken
        env.step(last(env.action_masks()))
    actions = last(env.action_masks())
    actions[0] = np.flatnonzero(~env.action_masks()[0])[-1]
    actions[2] = game.num_actions()
    lengths, games = env.lengths.copy(), env.table.batch.streams["game"][:, 1].copy()
    points = env.table.batch.results(env.table.batch.all_rows)[0][:, 0]
    observations, rewards, over, infos = env.step(actions)
    assert over.tolist() == [True, False, True]
    assert (env.table.batch.streams["game"][:, 1] - games).tolist() == [1, 0, 1]
    assert rewards.tolist() == [-0.5, 0.0, -0.5]
    assert env.observation_space.contains(observations[0])
    for row in (0, 2):
        info = infos[row]
        assert (info["win"], info["rank"], info["score"]) == (0.0, 2, points[row])
        assert info["episode"] == {"r": pytest.approx(info["episode"]["r"]), "l": lengths[row] + 1}
        assert f"action {actions[row]} " in info["illegal_action"]
        assert "is not legal in the canonical form" in info["illegal_action"] or "canonical_form" not in settings
        assert (info["cut_short"], info["TimeLimit.truncated"]) == (False, False)
        assert info["terminal_observation"].shape == env.observation_space.shape
        assert not env.table.batch.layout.named(info["terminal_observation"][:size])["mover"].any()
    assert infos[1] == {}
    assert env.action_masks().any(axis=1).all()
    *_, infos = env.step(last(env.action_masks()))
    assert not any("illegal_action" in info for info in infos)
