"""A keyword that does not exist is a TypeError in Python's words, with the nearest of all keywords."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import pettingzoo
import pytest

from fivedice.agents.training.vec_env import SeatVecEnv
from fivedice.envs import GAMES, Batch, load_game, set_cubed_v0, yum_v0
from fivedice.envs.api.aec import DiceEnv
from fivedice.envs.api.single import SeatEnv
from fivedice.envs.api.table import Table
from fivedice.envs.api.vector import SeatVectorEnv
from fivedice.envs.testing import check_game

YUM = load_game("yum")
LEARNER = {"opponent": "opponents", "seats": "seat", "ilegal_reward": "illegal_reward"}
GYMNASIUM = {**LEARNER, "rendermode": "render_mode", "illegal_actions": "illegal_action", "mask": "mask_in"}
COMMON = {"players": "num_players", "num_player": "num_players", "rewards": "reward", "zero": "zeros"}
# Each call: who is named, and for each wrong keyword the nearest one, besides those in COMMON.
CALLS: dict[str, tuple[Callable[..., Any], str, dict[str, str]]] = {
    "DiceEnv": (
        partial(DiceEnv, YUM),
        "DiceEnv",
        {"rendermode": "render_mode", "illegal_actions": "illegal_action", "mask": "mask_in"},
    ),
    "env": (yum_v0.env, "DiceEnv", {"render": "render_mode"}),
    "raw_env": (yum_v0.raw_env, "DiceEnv", {"render": "render_mode"}),
    "pettingzoo.make": (partial(pettingzoo.make, "aec", YUM.aec_id), "DiceEnv", {"ilegal_action": "illegal_action"}),
    "SeatEnv": (partial(SeatEnv, "yum"), "SeatEnv", GYMNASIUM),
    "gymnasium.make": (partial(gymnasium.make, YUM.gymnasium_id), "SeatEnv", GYMNASIUM),
    "SeatVectorEnv": (partial(SeatVectorEnv, 2, "yum"), "SeatVectorEnv", {**GYMNASIUM, "autoreset": "autoreset_mode"}),
    "gymnasium.make_vec": (
        partial(gymnasium.make_vec, YUM.gymnasium_id, num_envs=2),
        "SeatVectorEnv",
        {**GYMNASIUM, "num_env": "num_envs"},
    ),
    "SeatVecEnv": (partial(SeatVecEnv, "yum", 2), "SeatVecEnv", {**LEARNER, "scale": "reward_scale"}),
    "Table": (partial(Table, YUM, 2), "Table", LEARNER),
    "Batch": (partial(Batch, YUM, 2), "Batch", {"thread": "threads"}),
    "Batch by name": (partial(Batch, "yum", 2), "Batch", {"thread": "threads"}),
}


@pytest.mark.parametrize("call", CALLS)
def test_keyword__that_does_not_exist_names_the_nearest(call: str) -> None:
    make, named, cases = CALLS[call]
    for wrong, right in {**COMMON, **cases}.items():
        said = f"{named} got an unexpected keyword argument {wrong!r}; did you mean {right!r}?"
        with pytest.raises(TypeError, match=f"^{re.escape(said)}($| was raised)"):  # Gymnasium adds where
            make(**{wrong: 1})


@pytest.mark.parametrize("call", CALLS)
def test_keyword__that_resembles_none_gets_the_list(call: str) -> None:
    """TorchRL looks for these words of Python."""
    make, named, _ = CALLS[call]
    with pytest.raises(TypeError, match=f"^{named} got an unexpected keyword argument 'xyz'; known are '") as error:
        make(xyz=4)
    known = re.findall(r"'(\w+)'", str(error.value).partition(" was raised")[0])
    assert {"num_players", *(option.name for option in YUM.rules.OPTIONS)} < set(known)
    assert not {"game", "self", "options"} & set(known)


@pytest.mark.parametrize("call", CALLS)
def test_keyword__wrong_value_stays_a_value_error(call: str) -> None:
    make, _, _ = CALLS[call]
    for settings in ({"zeros": "none"}, {"num_players": 9}, {"reward": "points"}):
        with pytest.raises(ValueError, match=f"^{next(iter(settings))}="):
            make(**settings)


def test_options__are_those_of_the_game_itself() -> None:
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'zeros'"):
        set_cubed_v0.env(zeros="free")
    for name in GAMES:
        game = load_game(name)
        for option in game.rules.OPTIONS:
            with pytest.raises(TypeError, match=f"'{option.name}_'; did you mean '{option.name}'"):
                Batch(game, 1, **{f"{option.name}_": option.samples[0]})


def test_check_game__names_the_nearest_keyword() -> None:
    with pytest.raises(
        TypeError, match=r"^check_game got an unexpected keyword argument 'zero'; did you mean 'zeros'\?"
    ):
        check_game(YUM, zero="free")


def test_batch__takes_the_name_of_a_game() -> None:
    assert Batch("yum", 2).game is YUM
    with pytest.raises(ValueError, match="'yam' is not a known game; did you mean 'yum'"):
        Batch("yam", 2)
