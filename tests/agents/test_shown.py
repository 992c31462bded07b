"""What a policy is shown is its own: a policy that writes into its view changes nothing but its own view."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from fivedice.agents.evaluation.match import play_games
from fivedice.agents.policies.rollout import RolloutPolicy
from fivedice.agents.training.vec_env import SeatVecEnv
from fivedice.envs import Batch, load_game
from fivedice.envs.api.aec import DiceEnv
from fivedice.envs.api.single import SeatEnv
from fivedice.envs.api.table import Table
from fivedice.envs.api.vector import SeatVectorEnv
from fivedice.envs.core.spec import Game, Options
from fivedice.envs.core.view import View

YUM = load_game("yum")
FIELDS = [field.name for field in dataclasses.fields(View) if field.name != "game"]


class Writer:
    """Takes a legal action that depends on the random number, and then writes into one field of its view."""

    name = "writer"

    def __init__(self, field: str | None) -> None:
        self.field = field

    def check(self, game: Game, options: Options) -> None:
        if self.field == "options":
            overwrite(options)

    def act(self, view: View) -> np.ndarray:
        numbers = (view.uniforms * view.masks.sum(axis=1)).astype(int)
        actions = [np.flatnonzero(mask)[number] for mask, number in zip(view.masks, numbers, strict=True)]
        if self.field is not None:
            overwrite(getattr(view, self.field))
        return np.array(actions)


def overwrite(held: Any) -> None:
    """Write 1 into every number of an array or a record."""
    for name in held.dtype.names or ():
        held[name] = 1
    if not held.dtype.names:
        held[...] = 1


def in_seat_env(policy: Writer) -> list[Any]:
    env = SeatEnv("yum", opponents=policy, num_players=3, reward="score")
    observation, info = env.reset(seed=4)
    shown, over = [observation.tobytes()], False
    while not over:
        observation, reward, over, _, info = env.step(np.flatnonzero(info["action_mask"])[-1])
        shown += [observation.tobytes(), reward, info["action_mask"].tolist(), env.table.batch.options.item()]
    return [*shown, info["score"]]


def in_vector_env(policy: Writer) -> list[Any]:
    envs = SeatVectorEnv(3, "yum", opponents=policy)
    _, infos = envs.reset(seed=4)
    shown = []
    for _ in range(40):
        observations, rewards, _, _, infos = envs.step(infos["action_mask"].argmax(axis=1))
        shown += [observations.tobytes(), rewards.tolist()]
    return shown


def in_training(policy: Writer) -> list[Any]:
    """The policy is the opponent, and also the prior policy that the learner observes."""
    env = SeatVecEnv("yum", 3, opponents=policy, prior=policy)
    env.seed(4)
    shown = [env.reset().tobytes()]
    for _ in range(20):
        observations, rewards, *_ = env.step(env.action_masks().argmax(axis=1))
        shown += [observations.tobytes(), rewards.tolist(), env.action_masks().tolist()]
    return shown


def in_canonical_form(policy: Writer) -> list[Any]:
    env = SeatVecEnv("yahtzee_jr", 3, opponents=policy, canonical_form=True)
    env.seed(4)
    shown = [env.reset().tobytes()]
    for _ in range(20):
        observations, rewards, *_ = env.step(env.action_masks().argmax(axis=1))
        shown += [observations.tobytes(), rewards.tolist(), env.action_masks().tolist()]
    return shown


def in_aec(policy: Writer) -> list[Any]:
    env = DiceEnv(YUM)
    env.reset(seed=4)
    shown = []
    for _ in range(60):
        env.step(int(policy.act(env.view())[0]))
        shown += [env.state().tobytes(), env.get_state().state.tobytes(), env.options]
    return shown


def in_a_match(policy: Writer, watched: bool = False) -> list[Any]:
    shown: list[Any] = []

    def watch(number: int, games: np.ndarray, view: View, actions: np.ndarray) -> None:
        shown.append((number, games.tolist(), actions.tolist(), *(getattr(view, field).tobytes() for field in FIELDS)))

    for seating in ([[0, 1]] * 3, [[0, 0]] * 3):
        games = play_games(YUM, np.array(seating), [policy, Writer(None)], seed=4, watch=watch if watched else None)
        shown += [games.points.tolist(), games.shares.tolist()]
    return shown


class Values:
    """Stands for exact values; what it returns depends on all that it is shown."""

    start = 0.0

    def action_values(self, view: View) -> np.ndarray:
        seen = sum(ord(letter) for letter in view.states.tobytes().hex()) + float(view.observations.sum())
        return np.where(view.masks, seen % 7.0 * np.arange(view.masks.shape[1]), -np.inf)


def in_a_luck_adjusted_match(policy: Writer) -> list[Any]:
    adjusted = play_games(YUM, np.array([[0, 0]] * 2), [policy], seed=4, values=Values()).adjusted  # type: ignore[arg-type]  # only what the match needs
    assert adjusted is not None
    return list(adjusted.tolist())


def in_a_rollout(policy: Writer) -> list[Any]:
    batch = Batch(YUM, 4)
    batch.reset(seed=4)
    return list(RolloutPolicy(policy, 8).act(batch.view()).tolist())


PLACES = [
    in_seat_env,
    in_vector_env,
    in_training,
    in_canonical_form,
    in_aec,
    in_a_match,
    lambda policy: in_a_match(policy, watched=True),
    in_a_luck_adjusted_match,
    in_a_rollout,
]
HONEST = {}


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("place", range(len(PLACES)))
def test_policy__that_writes_into_its_view_changes_nothing(place: int, field: str) -> None:
    if place not in HONEST:
        HONEST[place] = PLACES[place](Writer(None))
    assert PLACES[place](Writer(field)) == HONEST[place]


@pytest.mark.parametrize("part", [lambda view: view.copy(), lambda view: view.rows(np.arange(2))])
def test_view__parts_and_copies_share_nothing(part: Any) -> None:
    batch = Batch(YUM, 3)
    batch.reset(seed=1)
    view = batch.view()
    before = [getattr(view, field).tobytes() for field in FIELDS]
    own = part(view)
    for field in FIELDS:
        assert getattr(own, field).dtype == getattr(view, field).dtype
        overwrite(getattr(own, field))
    assert [getattr(view, field).tobytes() for field in FIELDS] == before


def test_check__gets_a_copy_of_the_options() -> None:
    table = Table(YUM, 1, opponents=Writer("options"), zeros="free")
    assert table.batch.options == YUM.make_options(None, {"zeros": "free"})


def test_options_record__of_an_environment_is_a_copy() -> None:
    env = DiceEnv(YUM)
    overwrite(env.options_record)
    assert env.options_record == YUM.make_options()
