"""A game as text that a person can read, and that can be played again: a bug report, a game by mail, a test.

    fivedice/yum-v0
    num_players: 2
    high_low: either
    ...

    player_0 throws 2 3 3 5 6
    player_0 keeps 3 3, throws 1 3 6
    player_0 fills Threes: 9
    player_1 throws 1 1 2 4 5
    ...
    final scores: player_0 171, player_1 188
    won by player_1

Faces stand in the order in which they were drawn, under their names on the game's dice. Blank lines, and lines that
begin with ``#``, mean nothing.
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from pettingzoo.utils.wrappers import BaseWrapper

from fivedice.envs import GAMES, load_game
from fivedice.envs.api.aec import DiceEnv, Observation, Snapshot
from fivedice.envs.core.chance import BLANK, SCRIPT
from fivedice.envs.core.option import written
from fivedice.envs.core.spec import Game, unknown_name
from fivedice.envs.display.words import name_winners

THROW = re.compile(r",? throws (.+)$")  # at the end of a line: that of an action, or one of its own
ROOM = 1000  # faces that can be recorded between two decisions; a game that draws more is refused


@dataclass(frozen=True)
class Transcript:
    """What was played, and how it went.

    Args:
        game: what was played.
        num_players: how many seats.
        options: the game's options by name.
        lines: what happened, one line for each action, throw and result.
        numbers: of each line, its number in the text that it was read from.
    """

    game: Game
    num_players: int
    options: dict[str, Any]
    lines: tuple[str, ...]
    numbers: tuple[int, ...]

    def faces(self) -> list[int]:
        """All faces, in the order in which they were drawn."""
        return [1 + self.game.face_names.index(name) for line in self.lines for name in _thrown(line)]


class Recorder(BaseWrapper[str, Observation, int | None]):
    """An environment that keeps its transcript: play it as usual, then ask for `transcript`."""

    def __init__(self, env: DiceEnv) -> None:
        if env.illegal_action != "raise":
            raise ValueError("only games without illegal actions can be told; use illegal_action='raise'")
        super().__init__(env)
        self._told: list[str] = []

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start a game and its transcript; see `DiceEnv.reset`."""
        env, options = self.env, dict(options or {})
        env.reset(seed, {**options, "script": [*options.get("script", ()), *[BLANK] * ROOM]})
        start = env.get_state()
        self._told = []
        self._tell_throws(None, 0, start)

    def step(self, action: int | None) -> None:
        """Carry out an action and tell it; see `DiceEnv.step`."""
        env = self.env
        if not env.agents or _is_over(env, env.agent_selection):
            env.step(action)
            return
        agent, before = env.agent_selection, self._with_room(env.get_state())
        env.step(action)
        after = env.get_state()
        assert action is not None
        self._told.append(tell(env, before, agent, int(action)))
        self._tell_throws(agent, int(before.stream["scripted"][0]), after)
        if _is_over(env, agent):
            scores = ", ".join(f"{name} {points:g}" for name, points in env.scores().items())
            won = name_winners(env.game.rules.winners, after.state[0], env.options_record)
            cut_short = ["cut short by the limit of turns"] if env.truncations[agent] else []
            self._told += [*cut_short, f"final scores: {scores}", f"won by {won}"]

    def set_state(self, snapshot: Snapshot) -> None:
        """Not possible: a transcript has no gaps."""
        raise ValueError("a recorded game only goes forward; set the state of a clone() instead")

    def _with_room(self, snapshot: Snapshot) -> Snapshot:
        """Have blanks for the faces to come; the snapshot, with them if there were too few."""
        if snapshot.script.shape[1] - int(snapshot.stream["scripted"][0]) >= ROOM // 2:
            return snapshot
        blanks = np.zeros((1, ROOM), SCRIPT)
        snapshot = snapshot._replace(script=np.concatenate([snapshot.script, blanks], axis=1))
        self.env.set_state(snapshot)
        return snapshot

    def _tell_throws(self, actor: str | None, start: int, after: Snapshot) -> None:
        """Tell the throws since the script stood at `start`; one of the actor's own belongs to its action."""
        end, script = int(after.stream["scripted"][0]), after.script[0]
        if end == len(script):
            raise ValueError("more dice were thrown than a transcript has room for")
        for seat, entries in groupby(script[start:end], lambda entry: int(entry["seat"])):
            thrower = self.env.possible_agents[seat]
            faces = " ".join(self.env.game.face_names[entry["face"] - 1] for entry in entries)
            if thrower == actor:
                self._told[-1] += f", throws {faces}"
            else:
                self._told.append(f"{thrower} throws {faces}")
            actor = None

    def transcript(self) -> Transcript:
        """The game since the last `reset`, finished or not."""
        env, options = self.env, self.env.options
        first = len(options) + 4  # after the id, the number of seats, the options and a blank line
        numbers = range(first, first + len(self._told))
        return Transcript(env.game, len(env.possible_agents), options, tuple(self._told), tuple(numbers))


def _is_over(env: DiceEnv, agent: str) -> bool:
    return env.terminations[agent] or env.truncations[agent]


def tell(env: DiceEnv, snapshot: Snapshot, agent: str, action: int) -> str:
    """An action in a transcript's words, without the throw that follows."""
    verb, _, rest = env.game.name_action(snapshot.state[0], env.options_record, action).partition(" ")
    return f"{agent} {verb}s {rest}"


def write(transcript: Transcript) -> str:
    """A transcript as text."""
    settings = {"num_players": transcript.num_players, **transcript.options}
    header = [transcript.game.aec_id, *(f"{name}: {written(value)}" for name, value in settings.items())]
    return "\n".join([*header, "", *transcript.lines]) + "\n"


def parse(text: str) -> Transcript:
    """A transcript from text; a ValueError says which line is wrong. Options that are not named have their default."""
    numbered = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    numbered = [(number, line) for number, line in numbered if line and not line.startswith("#")]
    ids = {load_game(name).aec_id: load_game(name) for name in GAMES}
    if not numbered:
        raise ValueError("the transcript is empty")
    number, line = numbered.pop(0)
    if line not in ids:
        raise ValueError(f"line {number}: {unknown_name('game', line, ids)}")
    game = ids[line]
    num_players: Any = game.default_players
    options: dict[str, Any] = {option.name: option.samples[0] for option in game.rules.OPTIONS}
    while numbered and (setting := re.fullmatch(r"(\w+): (.+)", numbered[0][1])):
        number, (name, value) = numbered.pop(0)[0], setting.groups()
        try:
            if name == "num_players":
                num_players = int(value) if value.isdecimal() else value  # refused below
            else:
                options |= game.parse_options({name: value})
            game.make_options(num_players, options)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from error
    for number, line in numbered:
        for name in _thrown(line):
            if name not in game.face_names:
                raise ValueError(f"line {number}: {unknown_name('face', name, game.face_names)}")
    return Transcript(
        game,
        num_players,
        options,
        tuple(line for _, line in numbered),
        tuple(number for number, _ in numbered),
    )


def _thrown(line: str) -> list[str]:
    """The faces thrown, by name."""
    found = THROW.search(line)
    return found[1].split() if found else []


def replay(transcript: Transcript) -> Recorder:
    """Play a transcript again with its dice, through the PettingZoo face; the game stands where the transcript ends.

    Raises:
        ValueError: at the first line that does not agree with the rules.
    """
    game = Recorder(DiceEnv(transcript.game, transcript.num_players, **transcript.options))
    game.reset(seed=0, options={"script": transcript.faces()})
    agreed = 0
    while True:
        for told in game.transcript().lines[agreed:]:
            if agreed == len(transcript.lines):
                raise ValueError(f"the transcript ends before {told!r}")
            if transcript.lines[agreed] != told:
                raise ValueError(
                    f"line {transcript.numbers[agreed]}: the transcript says {transcript.lines[agreed]!r}, "
                    f"the rules say {told!r}"
                )
            agreed += 1
        if agreed == len(transcript.lines):
            return game
        number, line = transcript.numbers[agreed], transcript.lines[agreed]
        if _is_over(game.env, game.env.agent_selection):
            raise ValueError(f"line {number}: {line!r} comes after the end of the game")
        game.step(_told_action(game.env, number, line))


def _told_action(env: DiceEnv, number: int, line: str) -> int:
    """The legal action that a line tells."""
    agent, snapshot = env.agent_selection, env.get_state()
    legal = np.flatnonzero(env.observe(agent)["action_mask"]).tolist()
    told = {tell(env, snapshot, agent, action): action for action in reversed(legal)}
    words = THROW.sub("", line)
    if words not in told:
        nearest = difflib.get_close_matches(words, told, n=1, cutoff=0.0)[0]
        raise ValueError(f"line {number}: {words!r} is not possible; the nearest that is would be {nearest!r}")
    return told[words]
