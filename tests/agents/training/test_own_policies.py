"""Policies of the user's own as opponents in training: named, tried, met, resumed, and never imported unasked."""

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fivedice.agents.cli.app import app
from fivedice.agents.policies.checkpoint import CheckpointPolicy
from fivedice.agents.policies.registry import imports
from fivedice.agents.training.config import CONFIG, Mix, TrainConfig
from fivedice.agents.training.folder import has_begun
from fivedice.agents.training.opponents import FIRST_OWN, OpponentPool
from fivedice.agents.training.own_policies import load_own, resume_command
from fivedice.agents.training.run import Training, train

POLICIES = """
import numpy as np

class Last:
    def __init__(self, name="last"):
        self.name = name
    def act(self, view):
        return view.masks.shape[1] - 1 - view.masks[:, ::-1].argmax(axis=1)

class First:
    name = "first"
    def act(self, view):
        return view.masks.argmax(axis=1)

class Floats(First):
    name = "floats"
    def act(self, view):
        return np.zeros(len(view))

class One(First):
    name = "one"
    def act(self, view):
        return np.zeros(1, np.int64)

class Illegal(First):
    name = "illegal"
    def act(self, view):
        return np.full(len(view), view.masks.shape[1])

class Raises(First):
    name = "raises"
    def act(self, view):
        return view.nothing

class Refuses(First):
    name = "refuses"
    def check(self, game, options):
        raise ValueError("only for chess")

class Needs(First):
    def __init__(self, size):
        pass

class Nameless:
    name = 3
    def act(self, view):
        return view.masks.argmax(axis=1)

SNAPSHOT = Last("step-1")
RANDOM = Last("random")
LAST = Last()
"""
SMALL = TrainConfig(
    game="yum",
    opponents=Mix(current=1, past=0, random=0, greedy=0, own=1, own_policies=("own_opponents:Last",)),
    total_timesteps=256,
    n_envs=8,
    n_steps=16,
    batch_size=128,
    net_arch=(4,),
    eval_every=128,
    eval_games=4,
    check_games=4,
    workers=1,
)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, in which there is a module with policies that is not imported yet."""
    (tmp_path / "own_opponents.py").write_text(POLICIES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "own_opponents", raising=False)
    return tmp_path


def with_own(*names: str, own: float | None = 1.0) -> TrainConfig:
    return replace(SMALL, opponents=replace(SMALL.opponents, own=own, own_policies=names))


def test_own_policies__are_met_as_often_as_the_weight_says(place: Path) -> None:
    training = Training(with_own("own_opponents:Last", "own_opponents:First", own=3), place, lambda progress: None)
    uniforms = (np.arange(8000) + 0.5) / 8000
    numbers, counts = np.unique(training.pool.assign(uniforms), return_counts=True)
    met = {training.pool.policy(int(number)).name: count / 8000 for number, count in zip(numbers, counts, strict=True)}
    assert met == pytest.approx({"step-000000000": 0.25, "last": 0.375, "first": 0.375}, abs=1e-3)
    training.learn()
    assert {FIRST_OWN, FIRST_OWN - 1} & set(training.pool.win_rates())  # they have played, and count
    assert set(training.pool.snapshots()) == set(training.pool.steps)


def test_own_weight__has_a_default_only_if_there_are_own_policies() -> None:
    assert Mix().weights()["own"] == 0
    assert Mix(own_policies=("a.onnx",)).weights()["own"] == 0.2
    assert Mix(own_policies=("a.onnx",), own=0).weights()["own"] == 0
    assert load_own(with_own("own_opponents:Raises", own=0)) == []
    assert "own_opponents" not in sys.modules
    with pytest.raises(ValueError, match=r"opponents.own=1.0, but no policy is named; name some in opponents.own_pol"):
        train(with_own())


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("own_opponents:Floats", "the policy 'floats' cannot play Yum: for 4 decisions, act returned dtype fl"),
        ("own_opponents:One", r"the policy 'one' cannot play .* shape \(1,\); it must return one integer for each"),
        ("own_opponents:Illegal", r"act returned \d+, which is not a legal action; see view.masks"),
        ("own_opponents:Raises", "'raises' cannot play .*AttributeError: 'View' object has no attribute 'nothing'"),
        ("own_opponents:Refuses", "the policy 'refuses' cannot play Yum: ValueError: only for chess"),
        ("own_opponents:Needs", r"the policy 'own_opponents:Needs' cannot be used: TypeError: .*argument: 'size'"),
        ("own_opponents:Nothing", "'own_opponents:Nothing' cannot be used: own_opponents has no attribute 'Nothing'"),
        ("own_opponents:Nameless", "3 is the name of another opponent"),
        ("own_opponents:SNAPSHOT", "'step-1' is the name of another opponent.*give this policy another name"),
        ("own_opponents:RANDOM", "'random' is the name of another opponent.*use opponents.random"),
        ("greedy", "'greedy' is the name of another opponent, so .*; use opponents.greedy"),
        ("missing.safetensors", "missing.safetensors"),
        ("own_opponents:Last own_opponents:Last", "'own_opponents:Last' is listed twice"),
        ("own_opponents:Last own_opponents:LAST", "two policies have the name 'last'; give each of them a name"),
        ("planner", "'planner' is the name of another opponent"),
    ],
)
def test_own_policy__that_does_not_fit_is_refused_in_one_sentence_before_a_run_begins(names: str, said: str) -> None:
    with pytest.raises(ValueError, match=rf"^opponents\.own_policies: .*({said})") as refused:
        train(with_own(*names.split()))
    assert "\n" not in str(refused.value)
    assert not Path("runs").exists()


def test_checkpoints__with_the_same_name_are_told_apart(place: Path) -> None:
    for name in ("a", "b"):
        training = Training(with_own(own=0), place, lambda progress: None)
        (place / name).mkdir()
        training.save(place / name / "best.safetensors", {})
    own = load_own(with_own("a/best.safetensors", "b/best.safetensors"))
    assert [policy.name for policy in own] == ["a/best.safetensors", "b/best.safetensors"]
    pool = OpponentPool({"own": 1.0}, 2, own)
    assert all(isinstance(policy, CheckpointPolicy) for policy in own)
    assert pool.snapshots() == {}  # they are no snapshots of this run


def test_imports__sees_through_rollouts() -> None:
    names = ["m:P", "a.b:c.d", "rollout:m:P", "rollout:m:P:8:win", "rollout:rollout:m:P"]
    assert all(imports(name) for name in names)
    assert not any(imports(name) for name in ("greedy", "rollout", "rollout:greedy:8", "C:x.onnx", "a/m.safetensors"))


def test_resumed_run__plays_on_exactly_and_drops_games_if_own_policies_change(place: Path) -> None:
    whole = train(SMALL)
    half = train(replace(SMALL, total_timesteps=128, name="half"))
    notes: list[str] = []

    class Reporter:
        def note(self, sentence: str) -> None:
            notes.append(sentence)

        def started(self, training: Training) -> None: ...

        def updated(self, progress: object) -> None: ...

    other = replace(with_own("own_opponents:First"), name="half")
    resumed = train(replace(SMALL, name="half"), half.folder, Reporter())
    assert notes == ["the run continues after 128 decisions"]
    np.testing.assert_array_equal(resumed.env.table.seated, whole.env.table.seated)
    assert resumed.pool.results == whole.pool.results
    assert FIRST_OWN in resumed.pool.results
    changed = train(replace(other, total_timesteps=384), half.folder, Reporter())
    assert "opponents.own_policies differs from that of the stopped run, so its running games are dropped" in notes[1]
    assert changed.pool.policy(FIRST_OWN).name == "first"


def test_resume__imports_only_what_the_command_itself_names(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, marker = place / "run", place / "imported"
    folder.mkdir()
    (place / "evil.py").write_text(f"open({str(marker)!r}, 'w').close()\n")
    settings = {"game": "yahtzee_jr", "total_timesteps": 128}
    told: list[TrainConfig] = []
    monkeypatch.setattr("fivedice.agents.cli.run.run", lambda config, resume, console: told.append(config))

    def command(*words: str) -> None:
        app(["train", *words], result_action="return_value", exit_on_error=False, print_error=False)

    for stored in (["evil:P"], "evil:P", ["greedy", "rollout:evil:P:8"], ["rollout:rollout:evil:P"]):
        text = json.dumps(settings | {"opponents": {"own": 1.0, "own_policies": stored}})
        (folder / CONFIG).write_text(text)
        with pytest.raises(
            ValueError, match=r"names policies that are imported.*add --opponents.own-policies .*evil:P"
        ):
            command("--resume", str(folder))
        with pytest.raises(ValueError, match="names policies that are imported"):
            command("--resume", str(folder), "--opponents.own", "2")
        assert not told
    command("--resume", str(folder), "--opponents.own-policies", "evil:P")
    (place / "mine.toml").write_text('[opponents]\nown_policies = ["evil:Q"]\n')
    command("--resume", str(folder), "--config", "mine.toml")
    assert [config.opponents.own_policies for config in told] == [("evil:P",), ("evil:Q",)]
    (folder / CONFIG).write_text(json.dumps(settings | {"opponents": {"own_policies": ["a.safetensors"]}}))
    command("--resume", str(folder))  # a file executes nothing
    assert told[-1].opponents.own_policies == ("a.safetensors",)
    assert not marker.exists()
    assert not has_begun(folder)


def test_resume_command__names_policies_that_are_imported() -> None:
    folder = Path("my runs") / "one"
    assert resume_command(SMALL, folder) == (
        f"fivedice train --resume '{folder}' --opponents.own-policies own_opponents:Last"
    )
    assert resume_command(with_own("a b.onnx"), folder) == f"fivedice train --resume '{folder}'"
    words = re.split(r"\s+", resume_command(with_own("m:P", "x.onnx"), Path("runs") / "one"))
    assert words[2:] == ["--resume", str(Path("runs") / "one"), "--opponents.own-policies", "m:P", "x.onnx"]
