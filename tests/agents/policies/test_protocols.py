"""What policies and the modules of a game can do is asked by `isinstance` of a protocol, never by `hasattr`."""

import ast
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fivedice.agents import load
from fivedice.agents.evaluation.breakdown import HasScoreSheet
from fivedice.agents.policies import by_game, protocols
from fivedice.agents.policies.baselines import GREEDY, OPTIMAL, PLANNER, PerGamePolicy, RandomPolicy, policy_for
from fivedice.agents.policies.by_game import load_part
from fivedice.agents.policies.checkpoint import CheckpointPolicy
from fivedice.agents.policies.network import Network, tensor_shapes
from fivedice.agents.policies.protocols import (
    BoundToGame,
    ChecksGame,
    ExactSolution,
    GreedyPolicy,
    HasActionFeatures,
    HasActionProbabilities,
    HasActionValues,
    PlannerPolicy,
    Policy,
)
from fivedice.agents.policies.rollout import RolloutPolicy
from fivedice.envs import GAMES, load_game
from fivedice.envs.core.spec import Game
from fivedice.envs.core.view import View

ROOT = Path(__file__).parents[3]
YUM = load_game("yum")

# Every call of `hasattr` and `getattr` in the package, by file, with its reason. None is on a policy.
ALLOWED = {
    "agents/__init__.py": {"getattr(import_optional(LAZY[name]), name)"},  # what the package imports when asked
    "agents/training/launch.py": {"hasattr(os, 'sched_getaffinity')"},  # macOS and Windows do not have it
    "agents/training/validation.py": {"getattr(config, name)"},  # the settings with these names
    "agents/training/vec_env.py": {"getattr(self, attr_name)"},  # `get_attr` of Stable-Baselines3 names an attribute
    "envs/__init__.py": {"getattr(importlib.import_module(LAZY[name]), name)"},  # what the package imports when asked
    "envs/api/aec.py": {"getattr(kept, 'dtype', None)"},  # the caller's object may be of any type
    "envs/core/batch.py": {"hasattr(os, 'register_at_fork')"},  # Windows does not have it
    "envs/core/fingerprint.py": {  # a function may read a value of any type
        "getattr(compiler, '__qualname__', None)",
        "getattr(getattr(kernel, '_compiler', None), 'pipeline_class', None)",
        "getattr(kernel, '_compiler', None)",
        "getattr(kernel, 'targetoptions', None)",
        "getattr(module, '__file__', None)",
        "getattr(module, '__path__', ())",
        "getattr(value, '__module__', '')",
        "getattr(value, '__module__', None)",
        "getattr(value, '__name__', None)",
        "getattr(value, '__qualname__', None)",
        "getattr(value, '__wrapped__', None)",
        "getattr(value, '_fields', '')",
        "getattr(value, 'py_func', None)",
        "hasattr(value, '_fields')",
    },
    "envs/core/plugins.py": {"getattr(found, name)"},  # the attribute that a user or a package has named
    "envs/core/kernel.py": {  # whether a function is compiled; Numba's type has no base class to ask for
        "getattr(function, 'py_func', function)",
        "hasattr(value, 'py_func')",
    },
    "envs/testing.py": {"hasattr(env, 'clone')"},  # the caller's environment may be of any type
}


def asked_by_name(source: str) -> set[str]:
    """The calls of `hasattr` and `getattr` in a source."""
    return {
        ast.unparse(node)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr")
    }


def test_sources__ask_no_policy_by_the_name_of_an_attribute() -> None:
    files = [path for package in ("agents", "envs") for path in sorted((ROOT / package).rglob("*.py"))]
    found = {path.relative_to(ROOT).as_posix(): asked_by_name(path.read_text("utf-8")) for path in files}
    assert {file: calls for file, calls in found.items() if calls} == ALLOWED


@pytest.mark.parametrize(
    ("source", "calls"),
    [
        ("if hasattr(policy, 'check'): pass", {"hasattr(policy, 'check')"}),
        ("def late():\n    return getattr(base, 'options', None)", {"getattr(base, 'options', None)"}),
        ("def __getattr__(name): return policy.check", set()),
    ],
)
def test_sources__a_call_is_noticed(source: str, calls: set[str]) -> None:
    assert asked_by_name(source) == calls


def checkpoint() -> CheckpointPolicy:
    options = YUM.make_options(3)
    size, actions = YUM.layout(options).size, YUM.num_actions(options)
    tensors = {name: np.zeros(shape, np.float32) for name, shape in tensor_shapes(size, actions, (4,)).items()}
    return CheckpointPolicy("it", YUM, options, Network(tensors, size, actions, (4,), "relu"))


class Plain:
    """A user's policy: a name, `act`, and attributes that mean something else."""

    name = "plain"
    options: tuple[str, ...] = ()

    def act(self, view: View) -> NDArray[np.int64]:
        return view.masks.argmax(axis=1)


OPTIONAL = (HasActionValues, HasActionProbabilities, HasActionFeatures, BoundToGame, ChecksGame)
CAN: list[tuple[Any, set[type]]] = [
    (Plain(), set()),
    (RandomPolicy(), {HasActionProbabilities}),
    (GREEDY, set()),  # its implementations can do more
    (PLANNER, set()),
    (OPTIMAL, set()),
    (GREEDY.of(YUM), {HasActionValues}),
    (OPTIMAL.of(YUM), {HasActionValues}),
    (GREEDY.of(load_game("yahtzee_jr")), {HasActionValues}),
    (OPTIMAL.of(load_game("yahtzee_jr")), {HasActionValues}),
    (GREEDY.of(load_game("showdown_yahtzee")), {HasActionValues, HasActionFeatures}),
    (GREEDY.of(load_game("set_cubed")), {HasActionValues, HasActionFeatures}),
    (PLANNER.of(load_game("set_cubed")), {HasActionValues}),
    (checkpoint(), {BoundToGame, ChecksGame}),
    (RolloutPolicy(GREEDY), {HasActionValues, ChecksGame}),
    (RolloutPolicy(checkpoint()), {HasActionValues, ChecksGame, BoundToGame}),
    (RolloutPolicy(Plain()), {HasActionValues, ChecksGame}),
]


@pytest.mark.parametrize(("policy", "expected"), CAN, ids=lambda case: type(case).__name__)
def test_policies__can_do_what_they_declare(policy: Any, expected: set[type]) -> None:
    assert isinstance(policy, Policy)
    assert {protocol for protocol in OPTIONAL if isinstance(policy, protocol)} == expected


def test_protocols__every_optional_one_has_a_policy() -> None:
    declared = {kind for name, kind in vars(protocols).items() if name in protocols.__all__}
    modules = {ExactSolution, GreedyPolicy, PlannerPolicy, protocols.PointValues}
    assert set(OPTIONAL) == declared - modules - {Policy}
    assert set().union(*(expected for _, expected in CAN)) == set(OPTIONAL)


def test_policy_for__is_the_game_s_own_or_the_policy_itself() -> None:
    plain = Plain()
    assert policy_for(plain, YUM) is plain
    assert policy_for(GREEDY, YUM) is GREEDY.of(YUM)
    assert isinstance(load("greedy"), PerGamePolicy)
    with pytest.raises(
        ValueError, match="there is no 'optimal' policy for SET Cubed; use 'random' or 'greedy' or 'planner'"
    ):
        policy_for(OPTIMAL, load_game("set_cubed"))


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(
    ("part", "protocol"),
    [
        ("greedy", GreedyPolicy),
        ("planner", PlannerPolicy),
        ("exact", ExactSolution),
        ("breakdown", HasScoreSheet),
    ],
)
def test_modules_of_a_game__offer_what_their_protocol_lists(name: str, part: str, protocol: type) -> None:
    """Their functions have the parameters of the protocol, too, which `isinstance` does not compare."""
    module = load_part(load_game(name), part)
    assert part != "greedy" or module is not None
    if module is None:
        return
    assert isinstance(module, protocol)
    for member, declared in vars(protocol).items():
        if inspect.isfunction(declared) and not member.startswith("_"):
            expected = [parameter for parameter in inspect.signature(declared).parameters if parameter != "self"]
            assert list(inspect.signature(vars(module)[member]).parameters) == expected


def test_by_game__refuses_a_module_that_lacks_something(monkeypatch: pytest.MonkeyPatch) -> None:
    def load_empty(game: Game, part: str) -> ModuleType:
        return ModuleType(part)

    monkeypatch.setattr(by_game, "load_part", load_empty)
    with pytest.raises(TypeError, match="greedy must define GREEDY"):
        by_game.greedy_policy.__wrapped__(YUM)
    with pytest.raises(TypeError, match="planner must define PLANNER"):
        by_game.planner_policy.__wrapped__(YUM)
    with pytest.raises(TypeError, match="exact must define everything that the protocol ExactSolution lists"):
        by_game.exact_solution.__wrapped__(YUM)


def test_num_keeps__are_the_actions_that_keep_dice() -> None:
    for name in GAMES:
        game = load_game(name)
        first = [action.split()[0] == "keep" for action in game.action_names(game.make_options())]
        assert first.index(False) == game.num_keeps
        assert game.num_keeps == (0 if name == "set_cubed" else 31)
