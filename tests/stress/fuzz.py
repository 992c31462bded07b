"""Give malformed files to everything that reads files: each is refused in one sentence, or harmless.

``python tests/stress/fuzz.py --times 2000 --seed 1`` makes so many files of each kind with Hypothesis and prints
one line for each kind. A file is a valid one with some bytes, tensors, keys or values changed, or with a header that
promises more than the file holds. Reading it must raise one of `REFUSALS` with a message of one line, or succeed. It
must not raise anything else, execute anything, change the file, or need much memory.
"""

import argparse
import hashlib
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from safetensors.numpy import save

from fivedice.agents.cli.app import read_settings
from fivedice.agents.evaluation.schedule import Tournament, contender
from fivedice.agents.evaluation.tournament import claim, read_part
from fivedice.agents.policies.checkpoint import make_card, read_card, save_checkpoint
from fivedice.agents.policies.network import Network
from fivedice.agents.policies.registry import load
from fivedice.agents.reports.run_data import read_run
from fivedice.envs import load_game
from fivedice.envs.api.transcript import parse, replay

REFUSALS = (ValueError, OSError, FileNotFoundError)
MEMORY = 512 * 2**20  # bytes that reading a small file may need beside what the process has
GAME = load_game("yum")

WORDS = st.sampled_from(
    [
        "yum",
        "game",
        "options",
        "num_players",
        "network",
        "card",
        "digest",
        "__metadata__",
        "zeros",
        "free",
        "greedy",
        "é",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=5,
)


@st.composite
def changed_bytes(draw: Callable[..., Any], content: bytes) -> bytes:
    """A file with some bytes changed, cut off, put in or doubled."""
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(content)))
        kind = draw(st.sampled_from(["set", "cut", "insert", "double", "remove"]))
        some = draw(st.binary(max_size=9))
        if kind == "set":
            content = content[:at] + some + content[at + len(some) :]
        elif kind == "cut":
            content = content[:at]
        elif kind == "insert":
            content = content[:at] + some + content[at:]
        elif kind == "double":
            content = content[:at] + content[max(0, at - 40) :]
        else:
            content = content[:at] + content[at + draw(st.integers(0, 60)) :]
    return content


@st.composite
def changed_json(draw: Callable[..., Any], value: Any) -> Any:
    """A JSON value with one value, somewhere in it, replaced, removed or put in."""
    if isinstance(value, dict) and value and draw(st.integers(0, 5)):
        name = draw(st.sampled_from(sorted(value)))
        kind = draw(st.sampled_from(["inside", "inside", "remove", "rename"]))
        rest = {key: item for key, item in value.items() if key != name}
        if kind == "remove":
            return rest
        if kind == "rename":
            return rest | {draw(WORDS): value[name]}
        return rest | {name: draw(changed_json(value[name]))}
    if isinstance(value, list) and value and draw(st.integers(0, 3)):
        at = draw(st.integers(0, len(value) - 1))
        return [*value[:at], draw(changed_json(value[at])), *value[at + 1 :]]
    return draw(VALUES)


@st.composite
def changed_tensors(draw: Callable[..., Any], content: bytes) -> bytes:
    """A safetensors file whose header was changed: metadata, types, shapes or offsets that do not fit the file."""
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    metadata = header.get("__metadata__", {})
    kind = draw(st.sampled_from(["metadata", "card", "card", "tensor", "huge", "size"]))
    if kind == "metadata":
        header["__metadata__"] = draw(changed_json(metadata))
    elif kind == "card":
        name = draw(st.sampled_from([name for name in ("card", "notes") if name in metadata] or ["card"]))
        try:
            text = json.dumps(draw(changed_json(json.loads(metadata.get(name, "{}")))))
        except ValueError:
            text = "{"
        digests = {f"{name}_digest": hashlib.sha256(text.encode()).hexdigest()} if draw(st.booleans()) else {}
        header["__metadata__"] = metadata | {name: text} | digests
    else:
        tensors = [name for name in header if name != "__metadata__"]
        name = draw(st.sampled_from(sorted(tensors)))
        if kind == "tensor":
            header[name] = draw(changed_json(header[name]))
        elif kind == "huge":
            count = draw(st.sampled_from([10**6, 10**12, 2**62]))
            header[name] = header[name] | {"shape": [count], "data_offsets": [0, 4 * count]}
    text_of_header = json.dumps(header).encode()
    told = draw(st.sampled_from([0, 10**6, 10**12, 2**63])) if kind == "size" else len(text_of_header)
    return told.to_bytes(8, "little") + text_of_header + content[8 + size :]


def of_tensors(content: bytes) -> st.SearchStrategy[bytes]:
    """Malformed safetensors files."""
    return changed_bytes(content) | changed_tensors(content)


def of_json(content: bytes) -> st.SearchStrategy[bytes]:
    """Malformed JSON files."""
    return changed_bytes(content) | changed_json(json.loads(content)).map(lambda value: json.dumps(value).encode())


@dataclass
class Kind:
    """A kind of file: its name, a valid one, how to make malformed ones, and what reads it."""

    name: str
    content: bytes
    malformed: st.SearchStrategy[bytes]  # deeply nested lists are always among them
    read: Callable[[Path], object]


@dataclass
class Outcome:
    """How many files were refused or read, and what went wrong."""

    refused: int = 0
    read: int = 0
    faults: dict[str, bytes] = field(default_factory=dict)


def small_checkpoint(path: Path) -> None:
    """Write a valid checkpoint of Yum with a small network."""
    options = GAME.make_options(2, {})
    inputs, actions = GAME.layout(options).size, GAME.num_actions(options)
    shapes = {
        "policy.0.weight": (4, inputs),
        "policy.0.bias": (4,),
        "policy.1.weight": (actions, 4),
        "policy.1.bias": (actions,),
        "value.0.weight": (4, inputs),
        "value.0.bias": (4,),
        "value.1.weight": (1, 4),
        "value.1.bias": (1,),
    }
    tensors = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    network = Network(tensors, inputs, actions, (4,), "tanh")
    save_checkpoint(path, make_card(GAME, options, (4,), "tanh") | {"steps": 7, "evaluation": {}}, network)


def read_checkpoint(path: Path) -> None:
    """Read a checkpoint as `load` and as ``fivedice info`` do."""
    read_card(path)
    load(str(path))


CONFIG = {
    "game": "yum",
    "num_players": 2,
    "options": {"zeros": "free"},
    "reward": "win",
    "net_arch": [32, 32],
    "learning_rate": 0.001,
    "opponents": {"greedy": 0.2},
    "name": None,
    "seed": 1,
}
TOML = b"""game = "yum"
num_players = 2
net_arch = [32, 32]
learning_rate = 1e-3
name = "l\xc3\xa4uf"
[options]
zeros = "free"
[opponents]
greedy = 0.2
"""


def read_configuration(path: Path) -> None:
    """Read a configuration, and make the settings of a run of it, as ``fivedice train --config`` does."""
    from fivedice.agents.cli.app import app
    from fivedice.agents.training.config import TrainConfig
    from fivedice.agents.training.validation import validate

    read_settings(path)
    try:
        _, bound, _ = app.parse_args(
            ["train", "--config", str(path)], exit_on_error=False, print_error=False, verbose=False
        )
    except Exception as error:
        if type(error).__module__.startswith("cyclopts"):
            raise ValueError(str(error).splitlines()[0]) from None
        raise
    validate(bound.arguments.get("settings") or TrainConfig())


def read_transcript(path: Path) -> None:
    """Parse and replay a transcript."""
    replay(parse(path.read_text(encoding="utf-8")))


def read_run_folder(path: Path) -> None:
    """Read the settings of a run's folder, as ``fivedice report`` and ``--resume`` do."""
    from fivedice.agents.training.config import TrainConfig
    from fivedice.agents.training.validation import validate_resumed

    folder = path.parent / "run"
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_bytes(path.read_bytes())
    first = None
    for read in (lambda: read_run(folder), lambda: validate_resumed(TrainConfig(seed=1), folder)):
        try:
            read()
        except REFUSALS as error:
            if "nothing has been logged" not in str(error):
                first = error
    if first is not None:
        raise first


def kinds(place: Path) -> list[Kind]:
    """All kinds of files that something reads."""
    small_checkpoint(place / "valid.safetensors")
    checkpoint = (place / "valid.safetensors").read_bytes()
    tournament = Tournament(
        "yum", (), 2, 1, 40, (contender("random", "random"), contender("greedy", "greedy")), sampled=False
    )
    claim(tournament, place / "tournament")
    settings_of_it = (place / "tournament" / "settings.json").read_bytes()
    part = next(tournament.parts())
    points = save({"points": np.zeros((20, 2, 2)), "shares": np.zeros((20, 2, 2))}, {"digest": "0"})
    config = json.dumps(CONFIG).encode()
    transcript = (Path(__file__).parents[1] / "golden" / "yum-tie.txt").read_bytes()

    def claim_again(path: Path) -> None:
        folder = path.parent / "claimed"
        folder.mkdir(exist_ok=True)
        (folder / "settings.json").write_bytes(path.read_bytes())
        claim(tournament, folder)

    return [
        Kind("checkpoint.safetensors", checkpoint, of_tensors(checkpoint), read_checkpoint),
        Kind("transcript.txt", transcript, changed_bytes(transcript), read_transcript),
        Kind("configuration.toml", TOML, changed_bytes(TOML), read_configuration),
        Kind("configuration.json", config, of_json(config), read_configuration),
        Kind("config.json", config, of_json(config), read_run_folder),
        Kind("settings.json", settings_of_it, of_json(settings_of_it), claim_again),
        Kind("part.safetensors", points, of_tensors(points), lambda path: read_part(tournament, part, path)),
    ]


def try_one(kind: Kind, place: Path, content: bytes, outcome: Outcome) -> None:
    """Read one malformed file."""
    path = place / kind.name
    path.write_bytes(content)
    try:
        kind.read(path)
        outcome.read += 1
    except REFUSALS as error:
        said = str(error)
        if "\n" in said.strip() or not said.strip() or len(said) > 2000:
            outcome.faults.setdefault(f"message of {len(said)} characters: {said[:120]!r}", content)
        outcome.refused += 1
    except Exception as error:  # this is what the hunt looks for
        outcome.faults.setdefault(f"{type(error).__name__}: {str(error)[:160]}", content)
    if path.read_bytes() != content:
        outcome.faults.setdefault("the file was changed", content)


def hunt(kind: Kind, place: Path, times: int, number: int) -> Outcome:
    """Read so many malformed files of one kind."""
    outcome = Outcome()

    @seed(number)
    @settings(max_examples=times, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(kind.malformed)
    def read(content: bytes) -> None:
        try_one(kind, place, content, outcome)

    read()
    if kind.name.endswith(("json", "toml")):
        prefix = b"game = " if kind.name.endswith("toml") else b""
        try_one(kind, place, prefix + b"[" * 200_000, outcome)
    return outcome


def hunt_all(times: int, number: int, report: Callable[[str], None]) -> Mapping[str, Outcome]:
    """Read malformed files of all kinds, in a process whose memory is limited."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, most))
    found = {}
    try:
        with tempfile.TemporaryDirectory() as temporary:
            for kind in kinds(Path(temporary)):
                started = time.monotonic()
                outcome = found[kind.name] = hunt(kind, Path(temporary), times, number)
                report(
                    f"{kind.name}: {outcome.refused + outcome.read} files, {outcome.refused} refused, "
                    f"{outcome.read} read, {len(outcome.faults)} faults, {time.monotonic() - started:.0f} s"
                )
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    return found


def main() -> int:
    """Hunt in all kinds of files. Returns the number of kinds with faults."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--times", type=int, default=2000, help="files of each kind")
    asked.add_argument("--seed", type=int, default=1)
    given_ = asked.parse_args()
    found = hunt_all(given_.times, given_.seed, lambda line: print(line, flush=True))
    for name, outcome in found.items():
        for fault, content in outcome.faults.items():
            print(f"{name}: {fault}\n    {content[:300]!r}", flush=True)
    return sum(bool(outcome.faults) for outcome in found.values())


if __name__ == "__main__":
    sys.exit(main())
