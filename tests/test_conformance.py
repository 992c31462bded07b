"""The conformance suite over all games, and proof that it notices what it looks for."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pettingzoo.utils.wrappers import BaseWrapper

from fivedice.envs import GAMES, load_game
from fivedice.envs.aec import DiceEnv
from fivedice.envs.kernel import kernel
from fivedice.envs.option import Value
from fivedice.envs.testing import _check_rules, check_env, check_game

YUM = load_game("yum")


@pytest.mark.parametrize("name", GAMES)
def test_game__conforms(name: str) -> None:
    check_game(load_game(name))


@pytest.mark.parametrize(
    ("name", "option", "choice"),
    [
        (name, option.name, choice)
        for name in GAMES
        for option in load_game(name).rules.OPTIONS
        for choice in option.samples[1:]
    ],
)
def test_game__conforms_with_every_option(name: str, option: str, choice: Value) -> None:
    check_env(lambda: DiceEnv(load_game(name), **{option: choice}), games=2)


def test_check_env__accepts_a_wrapper() -> None:
    check_env(lambda: BaseWrapper(DiceEnv(YUM)), games=1)


# One fault each, and the words with which it is found.


class Faulty(BaseWrapper):
    """A faithful wrapper, for others to spoil."""

    def __init__(self) -> None:
        super().__init__(DiceEnv(YUM))


class HidesLosses(Faulty):
    def last(self, observe: bool = True) -> Any:
        observation, reward, *rest = super().last(observe)
        return observation, max(reward, 0.0), *rest


class MasksTooLittle(Faulty):
    def observe(self, agent: str) -> Any:
        seen = self.env.observe(agent)
        return {**seen, "action_mask": np.zeros_like(seen["action_mask"])}


class MasksOthers(Faulty):
    def observe(self, agent: str) -> Any:
        seen = self.env.observe(agent)
        return {**seen, "action_mask": self.env.observe(self.env.agent_selection)["action_mask"]}


class ForgetsTheDice(Faulty):
    """Shows a live player nothing that would explain its mask."""

    def observe(self, agent: str) -> Any:
        seen = self.env.observe(agent)
        return {**seen, "observation": np.zeros_like(seen["observation"])}


class WrongDtype(Faulty):
    def observe(self, agent: str) -> Any:
        seen = self.env.observe(agent)
        return {**seen, "observation": seen["observation"].astype(np.float64)}


class OutOfRange(Faulty):
    def observe(self, agent: str) -> Any:
        seen = self.env.observe(agent)
        return {**seen, "observation": seen["observation"] + 2}


class LendsItsOwnArrays(Faulty):
    def observe(self, agent: str) -> Any:
        if agent == self.env.agent_selection and not any(self.env.terminations.values()):
            return {"observation": self.env._batch.observations[0], "action_mask": self.env._batch.masks[0]}
        return self.env.observe(agent)


class IgnoresTheSeed(Faulty):
    def reset(self, seed: int | None = None, options: Any = None) -> None:
        self.env.reset(None, options)


class RepeatsOneGame(Faulty):
    def reset(self, seed: int | None = None, options: Any = None) -> None:
        self.env.reset(seed or 0, options)


class CorrectsIllegalActions(Faulty):
    def step(self, action: int | None) -> None:
        live = not any(self.env.terminations.values())
        legal = self.env.observe(self.env.agent_selection)["action_mask"]
        self.env.step(
            int(legal.argmax()) if live and (action not in range(len(legal)) or not legal[action]) else action
        )


class MovesBeforeItRefuses(Faulty):
    def step(self, action: int | None) -> None:
        if action == -1 and not any(self.env.terminations.values()):
            self.env.step(int(self.env.observe(self.env.agent_selection)["action_mask"].argmax()))
        self.env.step(action)


class DrawsFromTheGlobalGenerator(Faulty):
    def step(self, action: int | None) -> None:
        np.random.random()  # noqa: NPY002
        self.env.step(action)


class CopiesShareTheGame(Faulty):
    def __deepcopy__(self, memo: Any) -> "CopiesShareTheGame":
        twin = CopiesShareTheGame()
        twin.env = self.env
        return twin


class PicklesAsAnotherGame(Faulty):
    def __reduce__(self) -> Any:
        return other_game, ()


def other_game() -> Faulty:
    env = Faulty()
    env.reset(seed=99)
    return env


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (HidesLosses, "was delivered .* in all, but the steps paid"),
        (MasksTooLittle, "is to move and has no legal action"),
        (MasksOthers, "is not to move and yet has legal actions"),
        (ForgetsTheDice, "saw the same twice and had different legal actions"),
        (WrongDtype, "is float64, not float32"),
        (OutOfRange, "is outside its space"),
        (LendsItsOwnArrays, "writing into what player_0 was shown changed the game"),
        (IgnoresTheSeed, "does not give the same game twice"),
        (RepeatsOneGame, "reset without a seed plays the same game again"),
        (CorrectsIllegalActions, "is not legal and was carried out"),
        (MovesBeforeItRefuses, "an illegal action or .* changed the game"),
        (DrawsFromTheGlobalGenerator, "the global generator of numpy was moved"),
        (CopiesShareTheGame, "playing a copy on changed the game"),
        (PicklesAsAnotherGame, "a copy by (deepcopy|pickle) does not go on alike"),
    ],
)
def test_check_env__finds(fault: Callable[[], Any], said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        check_env(fault)


def test_check_env__finds_a_wrong_payoff() -> None:
    with pytest.raises(AssertionError, match="but the game pays"):
        check_env(lambda: DiceEnv(YUM, reward="score"), games=1, payoff=lambda env: dict.fromkeys(env.scores(), 1.0))


@kernel
def shows_nothing(state: Any, options: Any, seat: int, out: NDArray[np.float32]) -> None:
    """An `observe_throw` that forgets the dice."""


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ({"observe_throw": shows_nothing}, "observe_throw leaves what a throw changes as it was"),
        ({"num_keeps": YUM.num_actions()}, "another seat moves after one of the num_keeps actions"),
    ],
)
def test_check_rules__finds_a_throw_that_is_shown_wrongly(fault: dict[str, Any], said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        _check_rules(dataclasses.replace(YUM, **fault), YUM.make_options(), 1)
