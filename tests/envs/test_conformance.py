"""The conformance suite over all games, and proof that it notices what it looks for."""

import ast
import copy
import dataclasses
import random
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from gymnasium import spaces
from pettingzoo.utils.wrappers import BaseWrapper

from fivedice.envs import GAMES, load_game, testing
from fivedice.envs.api.aec import DiceEnv
from fivedice.envs.api.transcript import replay
from fivedice.envs.core.option import OneOf, Value
from fivedice.envs.core.spec import Field, Game, Layout, Rules
from fivedice.envs.testing import _check_rules, check_env, check_game

YUM = load_game("yum")


@pytest.mark.parametrize("name", GAMES)
def test_game__conforms(name: str) -> None:
    check_game(load_game(name), **({"max_turns": 40} if name == "showdown_yahtzee" else {}))


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
    limit = {"max_turns": 60} if name == "showdown_yahtzee" and option != "max_turns" else {}
    check_env(lambda: DiceEnv(load_game(name), **{option: choice}, **limit), games=1, copies=4)


def test_check_env__accepts_a_wrapper() -> None:
    check_env(lambda: BaseWrapper(DiceEnv(YUM)), games=1)


@pytest.mark.parametrize("wrap", [lambda env: env, BaseWrapper])
def test_check_env__accepts_masks_in_the_info(wrap: Callable[[DiceEnv], Any]) -> None:
    check_env(lambda: wrap(DiceEnv(YUM, mask_in="info")), games=1)


def test_check_env__misses_a_mask_in_the_info() -> None:
    def hides() -> DiceEnv:
        env = DiceEnv(YUM, mask_in="info")
        env._mask = lambda seat: np.zeros(43, np.int8)  # type: ignore[method-assign]  # on purpose
        return env

    with pytest.raises(AssertionError, match="is to move, but its action mask has no legal action"):
        check_env(hides, games=1)


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


class LeavesAMark(Faulty):
    """An illegal action is refused, but the dice to come are others."""

    def step(self, action: int | None) -> None:
        try:
            self.env.step(action)
        except ValueError:
            self.env._batch.streams["drawn"] += 1
            raise


class BlinksAfterACopy(Faulty):
    """Shows something else once, a step after it was first copied."""

    blinks, was_copied = 0, False

    def __deepcopy__(self, memo: Any) -> "BlinksAfterACopy":
        twin = BlinksAfterACopy()
        twin.env, twin.was_copied = copy.deepcopy(self.env, memo), True
        if not self.was_copied:
            self.was_copied, self.blinks = True, 2
        return twin

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "blinks": 0}

    def step(self, action: int | None) -> None:
        self.blinks = max(0, self.blinks - 1)
        self.env.step(action)

    def observe(self, agent: str) -> Any:
        seen = self.env.observe(agent)
        return {**seen, "observation": 1 - seen["observation"]} if self.blinks == 1 else seen


class HidesTheObservation(Faulty):
    def observe(self, agent: str) -> Any:
        seen = self.env.observe(agent)
        return seen if agent == self.env.agent_selection else {"action_mask": seen["action_mask"]}


class WideMasks(Faulty):
    """Masks are of int64, and the space says so."""

    def __init__(self) -> None:
        super().__init__()
        mask = spaces.Box(0, 1, (YUM.num_actions(),), dtype=np.int64)
        self._space = spaces.Dict({**self.env.observation_space("player_0"), "action_mask": mask})

    def observation_space(self, agent: str) -> Any:
        return self._space

    def observe(self, agent: str) -> Any:
        seen = self.env.observe(agent)
        return {**seen, "action_mask": seen["action_mask"].astype(np.int64)}


class EndsForOneAgent(Faulty):
    @property
    def terminations(self) -> Any:
        return {agent: over and agent == "player_0" for agent, over in self.env.terminations.items()}


class LeavesAtOnce(Faulty):
    @property
    def agents(self) -> list[str]:
        return [] if any(self.env.terminations.values()) else self.env.agents


class MakesSpacesAnew(Faulty):
    def observation_space(self, agent: str) -> Any:
        return copy.deepcopy(self.env.observation_space(agent))


class MakesActionSpacesAnew(Faulty):
    def action_space(self, agent: str) -> Any:
        return copy.deepcopy(self.env.action_space(agent))


class HasMoreActions(Faulty):
    more = spaces.Discrete(YUM.num_actions() + 1)

    def action_space(self, agent: str) -> Any:
        return self.more


class GoesOnAtRandom(Faulty):
    def reset(self, seed: int | None = None, options: Any = None) -> None:
        self.env.reset(np.random.SeedSequence().generate_state(1).item() if seed is None else seed, options)


class RemembersTheSeed(Faulty):
    """Starts the same game only once."""

    seen = 0

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        self.env.reset(None if seed is None else seed + self.seen, options)
        self.seen += seed is not None


class MovesPythonsGenerator(Faulty):
    def step(self, action: int | None) -> None:
        random.random()
        self.env.step(action)


class MovesTorchsGenerator(Faulty):
    def step(self, action: int | None) -> None:
        torch.rand(1)
        self.env.step(action)


class ClonesWithOtherDice(DiceEnv):
    def clone(self, seed: int | None = None) -> DiceEnv:
        return super().clone(1)


class SetsTheDiceBack(DiceEnv):
    def set_state(self, snapshot: Any) -> None:
        super().set_state(snapshot)
        self._batch.streams["drawn"] = 0


class DeepcopiesAnotherGame(Faulty):
    def __deepcopy__(self, memo: Any) -> Faulty:
        return other_game()


# A game, declared with one fault. Copies and pickles of it are the same game, as they should be.

DECLARED: list[Game] = []


class Declared(Game):
    def __reduce__(self) -> Any:
        return declared_at, (DECLARED.index(self),)


def declared_at(place: int) -> Game:
    return DECLARED[place]


def declared(**changes: Any) -> Game:
    facts = {field.name: getattr(YUM, field.name) for field in dataclasses.fields(YUM)}
    verbs = {name: getattr(YUM.rules, name) for name in RULES}
    rules = SimpleNamespace(**{name: changes.pop(name, verb) for name, verb in verbs.items()})
    DECLARED.append(Declared(**{**facts, "rules": rules, **changes}))
    return DECLARED[-1]


RULES = ("STATE", "OPTIONS", *(name for name, verb in vars(Rules).items() if callable(verb) and name[0] != "_"))


class Forgetful(OneOf):
    def decode(self, held: Any) -> Value:
        return self.choices[0]


class TooLong(Layout):
    def __init__(self, fields: list[Field]) -> None:
        super().__init__(fields)
        self.size += 1


def fields(*names: str, low: float = 0, layout: Callable[..., Layout] = Layout) -> Callable[[Any], Layout]:
    return lambda options: layout([Field(name, (3,), low, 1, "") for name in names])


def setup_in_part(state: Any, options: Any, chance: Any) -> None:
    before = state["boxes"][5].copy()
    YUM.rules.setup(state, options, chance)
    state["boxes"][5] = before


def mask_in_part(state: Any, options: Any, mask: Any) -> None:
    kept = mask[-1]
    YUM.rules.legal_actions(state, options, mask)
    mask[-1] = kept


def mask_that_plays(state: Any, options: Any, mask: Any) -> None:
    YUM.rules.legal_actions(state, options, mask)
    state["throws_left"] = 1


def last_mover_is_seat_0(state: Any) -> int:
    return int(state["player"]) if (state["boxes"][:2] < 0).any() else 0


def all_are(value: float) -> Callable[[Any, Any, Any], None]:
    def write(state: Any, options: Any, out: Any) -> None:
        out[:] = value

    return write


def observes(value: float) -> Callable[[Any, Any, int, Any], None]:
    def write(state: Any, options: Any, seat: int, out: Any) -> None:
        YUM.observe(state, options, seat, out)
        out[-1] = value

    return write


def rules_of(**changes: Any) -> Callable[[], None]:
    return lambda: _check_rules(declared(**changes), YUM.make_options(), 1)


def declaration_of(**changes: Any) -> Callable[[], None]:
    return lambda: testing._check_declaration(declared(**changes))


def env_of(make_env: Callable[[], Any]) -> Callable[[], None]:
    return lambda: check_env(make_env, games=1)


def replays_another_game() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            testing, "replay", lambda transcript: replay(dataclasses.replace(transcript, lines=transcript.lines[:1]))
        )
        testing._check_transcript(YUM, 2, {}, 1)


def wrong_payoff() -> None:
    check_env(lambda: DiceEnv(YUM, reward="score"), games=1, payoff=lambda env: dict.fromkeys(env.scores(), 1.0))


# What a check says, with {} for what depends on the case: faults that must be found with those words.
FAULTS: dict[str, list[Callable[[], None]]] = {
    "seed {}: two games with the same actions differ; the seed must determine the game": [env_of(IgnoresTheSeed)],
    "seed {}: illegal actions changed the rest of the game": [env_of(LeavesAMark)],
    "seed {}: steps of a copy changed the rest of the original game": [env_of(BlinksAfterACopy)],
    "step {}: last(), an illegal action or a step of a copy changed the game": [
        env_of(MovesBeforeItRefuses),
        env_of(CopiesShareTheGame),
    ],
    "observe({}) has no {}, which is in its observation space": [env_of(HidesTheObservation)],
    "{} of {} has dtype {}, but its space has {}": [env_of(WrongDtype)],
    "{} of {} has a shape or values outside its space": [env_of(OutOfRange)],
    "the action mask of {} is not a one-dimensional int8 array": [env_of(WideMasks)],
    "{} is to move, but its action mask has no legal action": [env_of(MasksTooLittle)],
    "{} is not to move, but its action mask has legal actions": [env_of(MasksOthers)],
    "{} had equal observations with different action masks": [env_of(ForgetsTheDice)],
    "writing into what observe({}) returned changed its mask; return copies": [env_of(LendsItsOwnArrays)],
    "the game is over for some agents only; it must end for all of them in the same step": [env_of(EndsForOneAgent)],
    "last() reported the end of the game to {}, not once to each agent": [env_of(LeavesAtOnce)],
    "{} got {} in total from last(), but {} is {}": [env_of(HidesLosses), wrong_payoff],
    "action {} of {} is illegal, but step() did not raise a ValueError": [env_of(CorrectsIllegalActions)],
    "step {}: a copy by {} does not continue identically": [
        env_of(DeepcopiesAnotherGame),
        env_of(PicklesAsAnotherGame),
        env_of(lambda: ClonesWithOtherDice(YUM)),
        env_of(lambda: SetsTheDiceBack(YUM)),
    ],
    "observation_space() returns a new object at each call": [env_of(MakesSpacesAnew)],
    "action_space() returns a new object at each call": [env_of(MakesActionSpacesAnew)],
    "the action mask of {} has shape {}, but there are {} actions": [env_of(HasMoreActions)],
    "reset() without a seed does not start the same games after the same seed": [env_of(GoesOnAtRandom)],
    "reset() with the same seed starts another game the second time": [env_of(RemembersTheSeed)],
    "reset() without a seed starts the same game again": [env_of(RepeatsOneGame)],
    "the environment draws from the global random generator of {}": [
        env_of(MovesPythonsGenerator),
        env_of(DrawsFromTheGlobalGenerator),
        env_of(MovesTorchsGenerator),
    ],
    "rules.STATE has a field of Python objects; all fields must be numbers": [
        declaration_of(STATE=np.dtype([("cards", object)]))
    ],
    "default_players={} is not in {} to {}": [
        declaration_of(default_players=7),
        declaration_of(default_players=0),
    ],
    "pickle or deepcopy does not return the game itself; its package must have it as an attribute": [
        lambda: testing._check_declaration(dataclasses.replace(YUM))
    ],
    "{}={} is another value after encode() and decode()": [
        declaration_of(OPTIONS=(Forgetful("zeros", ("forced", "free"), ""),))
    ],
    "action_names() has the same name for two actions": [
        declaration_of(action_names=lambda options: ("roll", "stop", "roll"))
    ],
    "layout() has two fields with the same name": [declaration_of(layout=fields("dice", "score", "dice"))],
    "layout.bounds() does not have layout.size values": [declaration_of(layout=fields("dice", layout=TooLong))],
    "a field of layout() has bounds outside [-1, 1]": [declaration_of(layout=fields("dice", low=-1.5))],
    "the observation space of {} has shape {}, but the layout has size {}": [
        lambda: testing._check_spaces(DiceEnv(YUM), declared(layout=fields("dice")))
    ],
    "the action space of {} has {} actions, but the game has {}": [
        lambda: testing._check_spaces(DiceEnv(YUM), declared(action_names=lambda options: ("throw", "stop")))
    ],
    "setup() leaves values of the previous game in the state": [rules_of(setup=setup_in_part)],
    "is_terminal() must be true exactly when no action is legal": [
        rules_of(is_terminal=lambda state, options: False),
        rules_of(is_terminal=lambda state, options: bool((state["boxes"][0] >= 0).all())),
    ],
    "render() returns an empty text": [rules_of(render=lambda state, options: "")],
    "scores() writes points that are not finite": [rules_of(scores=all_are(np.inf)), rules_of(scores=all_are(np.nan))],
    "current_player() is {}, but there are {} players": [
        rules_of(current_player=lambda state: 2),
        rules_of(current_player=lambda state: -1),
    ],
    "current_player() of a finished game is not the last mover": [rules_of(current_player=last_mover_is_seat_0)],
    "a seat had {} decisions, but max_decisions_per_seat={}": [rules_of(max_decisions_per_seat=11)],
    "winners() writes {}; it must write 1 for each winner, at least one, and 0 for the others": [
        rules_of(winners=all_are(2)),
        rules_of(winners=all_are(0)),
    ],
    "legal_actions() does not write 0 or 1 into every entry of the mask": [rules_of(legal_actions=mask_in_part)],
    "legal_actions() changes the state": [rules_of(legal_actions=mask_that_plays)],
    "observe() leaves part of the field {} unwritten": [rules_of(observe=observes(np.nan))],
    "observe() writes values outside {} to {} into the field {}": [
        rules_of(observe=observes(1.01)),
        rules_of(observe=observes(-0.01)),
    ],
    "after one of the first num_keeps actions another seat is to move": [rules_of(num_keeps=YUM.num_actions())],
    "observe_throw() does not update everything that a throw changes": [
        rules_of(observe_throw=lambda state, options, seat, out: None)
    ],
    "name_action() returns an empty name for action {}": [rules_of(name_action=lambda state, options, action: "")],
    "two legal actions have the name {}, but different effects": [
        rules_of(name_action=lambda state, options, action: "keep" if action < 31 else "fill")
    ],
    "name_action() returns {}, but 'throws' is for dice in a transcript; say 'roll' instead": [
        rules_of(name_action=lambda state, options, action: f"throw {action}")
    ],
    "an action is named {}, but 'throws' is for dice in a transcript; say 'roll' instead": [
        declaration_of(action_names=lambda options: ("stop", "throw one die"))
    ],
    "the replay of a transcript does not have the same transcript": [replays_another_game],
}


def checks() -> dict[str, str]:
    """What each check of the suite says if it fails, with {} for what is put in, and the pattern of it."""
    found = {}
    for node in ast.walk(ast.parse(Path(testing.__file__).read_text())):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("_expect", "AssertionError"):
            text = node.args[-1]
            parts = text.values if isinstance(text, ast.JoinedStr) else [text]
            if not isinstance(text, ast.Name):  # the words that `_expect` was given
                words = [part.value if isinstance(part, ast.Constant) else None for part in parts]
                told = "".join("{}" if word is None else word for word in words)
                found[told] = "".join(".*" if word is None else re.escape(word) for word in words)
    return found


def test_checks__there_is_a_fault_for_each() -> None:
    assert set(FAULTS) == set(checks())


@pytest.mark.parametrize(
    ("said", "place"), [(said, place) for said, found in FAULTS.items() for place in range(len(found))]
)
def test_check__finds_the_fault(said: str, place: int) -> None:
    with pytest.raises(AssertionError, match=f"^{checks()[said]}$"):
        FAULTS[said][place]()


def test_check_env__copies_in_every_way() -> None:
    env = DiceEnv(YUM)
    env.reset(seed=1)
    copies = testing._copies(env)
    assert set(copies) == {"deepcopy", "pickle", "clone()", "set_state()"}
    assert len(FAULTS["step {}: a copy by {} does not continue identically"]) == len(copies)
    assert len({id(twin) for twin in (*copies.values(), env)}) == len(copies) + 1
    for twin in copies.values():
        assert twin.get_state().state.tobytes() == env.get_state().state.tobytes()


class Counted(Faulty):
    """Writes down how it is used."""

    seeds: ClassVar[list[int | None]] = []
    copied = 0

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        Counted.seeds.append(seed)
        self.env.reset(seed, options)

    def __deepcopy__(self, memo: Any) -> "Counted":
        Counted.copied += 1
        twin = Counted()
        twin.env = copy.deepcopy(self.env, memo)
        return twin


def test_check_env__plays_so_many_games_of_seeds_that_follow() -> None:
    Counted.seeds, Counted.copied = [], 0
    check_env(Counted, games=2, seed=8, copies=2)
    assert Counted.seeds == [8] * 4 + [9] * 4 + [8, None, 8] * 2
    assert 2 * 2 < Counted.copied <= 2 * (2 + 4)
    Counted.seeds = []
    check_env(Counted, games=1, seed=3, illegal_raises=False)
    assert Counted.seeds == [3] * 3 + [3, None, 3] * 2
    check_env(CorrectsIllegalActions, games=1, illegal_raises=False)


def test_check_game__checks_everything_at_few_seats_and_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which checks are made, of which tables; the checks themselves are replaced."""
    made: list[Any] = []
    names = [name for name in vars(testing) if name.startswith("_check_") or name == "check_env"]
    inner = {
        "_check_before_reset",
        "_check_masks",
        "_check_next_game",
        "_check_observation",
        "_check_throw",
        "_check_action_names",
    }
    for name in set(names) - inner:
        monkeypatch.setattr(testing, name, lambda *args, name=name, **rest: made.append((name, args, rest)))
    check_game(YUM, games=2, seed=5, zeros="free")
    records = {seats: YUM.make_options(seats, {"zeros": "free"}) for seats in (1, 2, 6)}
    expected: list[Any] = [("_check_declaration", YUM)]
    for seats, record in records.items():
        for seed in (5, 6):
            expected += [
                ("_check_rules", YUM, record, seed),
                ("_check_transcript", YUM, seats, {"zeros": "free"}, seed),
            ]
        for reward in ("score",) if seats == 1 else ("win", "score", "margin"):
            table = {"num_players": seats, "reward": reward, **YUM.options_dict(record)}
            expected += [("_check_spaces", table, YUM), ("check_env", table, 2, 5)]
    told = []
    for name, args, rest in made:
        if name == "check_env":
            env = args[0]()
            env.reset(seed=4)
            told.append((name, env.get_state().options, rest.pop("games"), rest.pop("seed")))
            assert_payoff(env, rest.pop("payoff"))
            assert not rest
        elif name == "_check_spaces":
            args[0].reset(seed=4)
            told.append((name, args[0].get_state().options, *args[1:]))
        else:
            told.append((name, *args))
    assert told == expected


def assert_payoff(env: DiceEnv, payoff: Callable[[Any], Any]) -> None:
    """What a game is said to pay in all is what it pays step by step."""
    generator, paid = np.random.default_rng(0), dict.fromkeys(env.possible_agents, 0.0)
    while not any(env.terminations.values()):
        env.step(int(generator.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"]))))
        for agent, reward in env.rewards.items():
            paid[agent] += reward
    assert payoff(env) == pytest.approx(paid)


def test_payoff__of_a_tie_is_nothing_and_of_a_shared_win_a_share() -> None:
    """The last of three seats ends a game; what the others have decides."""
    shares = {
        (25, 25, 25): [0, 0, 0],
        (25, 15, 25): [0.5, -1, 0.5],
        (20, 15, 25): [-0.5, -0.5, 1],
    }
    for totals, paid in shares.items():
        env = DiceEnv(YUM, 3)
        env.reset(seed=0)
        snapshot = env.get_state()
        snapshot.state["boxes"] = 0
        snapshot.state["boxes"][0, :3, 10] = totals
        env.set_state(snapshot)
        assert testing._payoffs("win")(env) == dict(zip(env.possible_agents, paid, strict=True))
