"""Short versions of the scripts in ``tests/stress``, and that these notice what they look for."""

import importlib.util
import os
import resource
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import strategies as st

from fivedice.agents.policies.files import check_writable, readable, write_text
from fivedice.envs import GAMES, load_game
from fivedice.envs.core.batch import Batch

FOLDER = Path(__file__).parents[1] / "stress"


def script(name: str) -> ModuleType:
    """One of the scripts, imported."""
    spec = importlib.util.spec_from_file_location(f"stress_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


decisions, fuzz, kill, edits = script("decisions"), script("fuzz"), script("kill"), script("edits")


# Random decisions


@pytest.mark.parametrize("name", GAMES)
def test_decisions__break_no_invariant(name: str) -> None:
    tally = decisions.hunt(load_game(name), 6000, seed=2, count=16)
    assert tally.broken == {}
    assert tally.decisions >= 6000
    if name in ("yum", "yahtzee_jr"):  # games of the others take longer; see test_conformance.py
        assert tally.games > 0


@pytest.mark.parametrize(
    ("name", "field", "index", "value", "invariant"),
    [
        ("yum", "boxes", (0, 3), 31, "boxes"),
        ("yum", "boxes", (1, 3), 30, "boxes filled"),
        ("yum", "dice", (0,), 7, "dice"),
        ("yahtzee_jr", "tokens", (slice(2), 0), 3, "tokens"),
        ("yahtzee_jr", "tokens", (1, 0), 1, "tokens placed"),
        ("showdown_yahtzee", "card", (slice(1, 3),), 5, "card"),
        ("showdown_yahtzee", "chips", (1,), 2, "chips"),
        ("set_cubed", "dice", (slice(9, 10), slice(9, 11)), 7, "dice"),
        ("set_cubed", "hand_faces", (0, 0), -1, "hands"),
    ],
)
def test_decisions__notice_a_broken_state(name: str, field: str, index: Any, value: int, invariant: str) -> None:
    batch = Batch(load_game(name), 3, num_players=2)
    batch.reset(1)
    check = decisions.INVARIANTS[name]
    assert not any(wrong.any() for wrong in check(batch.states, batch).values())
    batch.states[field][(1, *index)] = value
    assert check(batch.states, batch)[invariant].tolist() == [False, True, False]


def test_decisions__notice_a_wrong_payoff_and_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "payoff", lambda kind, points, won: points + 1)
    monkeypatch.setattr(decisions, "plain", lambda rules: lambda state, options, mask: mask.fill(0))
    tally = decisions.Tally()
    batch = Batch(load_game("yum"), 4, num_players=1)
    decisions.play(batch, tally, 400, 1, has_limit=True)
    assert set(tally.broken) == {"payoff", "mask of the plain rules"}


# Malformed files


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("malformed")


def test_fuzz__every_malformed_file_is_refused_in_one_sentence(place: Path) -> None:
    for kind in fuzz.kinds(place):
        outcome = fuzz.hunt(kind, place, 25, 3)
        assert outcome.faults == {}, kind.name
        assert outcome.refused > 5, kind.name
        valid = fuzz.Outcome()
        if kind.name != "part.safetensors":  # its digest is made up
            fuzz.try_one(kind, place, kind.content, valid)
            assert (valid.read, valid.refused) == (1, 0), kind.name


def test_fuzz__notices_other_errors_long_messages_and_changed_files(place: Path) -> None:
    def read(path: Path) -> None:
        content = path.read_bytes()
        if content == b"t":
            raise TypeError("no")
        if content == b"l":
            raise ValueError("two\nlines")
        path.write_bytes(b"")

    kind = fuzz.Kind("some", b"", st.sampled_from([b"t", b"l", b"c"]), read)
    outcome = fuzz.hunt(kind, place, 20, 1)
    assert sorted(fault.split(":")[0] for fault in outcome.faults) == [
        "TypeError",
        "message of 9 characters",
        "the file was changed",
    ]


# Killed processes, full disks


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the script starts its processes by fork")
def test_kill__of_a_tournament_loses_nothing(tmp_path: Path) -> None:
    pytest.importorskip("choix")

    def command(folder: Path) -> list[str]:
        return ["tournament", "yum", "random", "greedy", "--games", "80", "--seed", "5", "--out", str(folder)]

    outcome = kill.hunt("tournament", command, kill.tournament_state, times=2, seed=1, place=tmp_path)
    assert (outcome.trials, outcome.faults) == (2, [])


# Edited rules


def test_edits__make_each_part_count_and_a_stale_kernel_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = {part: variants[0] for part, variants in edits.VARIANTS.items()}
    edits.write(tmp_path, first, set_back=False)
    expected = edits.play(tmp_path, 1, compiled=False)
    assert len(expected.split()) == 2
    for part in ("STEP", "TABLE", "TWIST", "FIELDS"):
        edits.write(tmp_path, first | {part: edits.VARIANTS[part][1]}, set_back=True)
        seen = edits.play(tmp_path, 1, compiled=False)
        assert (seen == expected) == (part == "FIELDS"), part  # another record plays the same games
    # As if the compiled process did not see the edits.
    played = edits.play(tmp_path, 0, compiled=False)
    monkeypatch.setattr(edits, "play", lambda folder, seed, compiled: played if compiled else "other games")
    tally = edits.hunt(2, 1, tmp_path)
    assert (tally.rounds, len(tally.faults)) == (2, 2)
    assert 1 <= sum(tally.edits.values()) <= 3


def test_full_disk__leaves_the_previous_file(tmp_path: Path) -> None:
    """A limit of the size of files has the effect of a full disk, without the rights to mount one."""
    path = tmp_path / "some.txt"
    write_text(path, "before")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_text(path, "x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_check_writable__refuses_what_would_fail_later(tmp_path: Path) -> None:
    check_writable(tmp_path / "new" / "some.csv")
    assert list((tmp_path / "new").iterdir()) == []
    (tmp_path / "folder").mkdir()
    with pytest.raises(ValueError, match="folder is a folder; choose another place"):
        check_writable(tmp_path / "folder")
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match=r"file is a file; choose another folder for some\.csv"):
        check_writable(tmp_path / "file" / "some.csv")


def test_readable__is_utf_8_whatever_the_locale_could_decode() -> None:
    assert readable("wähl") == "wähl"
    undecoded = os.fsencode("wähl").decode("ascii", errors="surrogateescape")  # as the C locale gives it
    assert readable(undecoded) == "wähl"
    assert readable(b"\xff".decode("ascii", errors="surrogateescape")) == "\ufffd"
