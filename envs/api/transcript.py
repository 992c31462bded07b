"""Games as text. A transcript can be read, mailed and replayed; it serves as a bug report or as a test.

Example::

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

The first lines are the id of the game, the number of players and the options of the game. Each line after them is an
action with the throw that follows it, a throw without an action, or a result. The faces of a throw are in the order in
which they were drawn, by their names on the game's dice. Blank lines and lines that start with ``#`` are ignored.
"""

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from pettingzoo.utils.wrappers import BaseWrapper

from fivedice.envs import game_names, load_game
from fivedice.envs.api.aec import DiceEnv, Observation, Snapshot
from fivedice.envs.core.chance import BLANK, SCRIPT
from fivedice.envs.core.option import written
from fivedice.envs.core.spec import Game, unknown_name
from fivedice.envs.display.words import name_winners

THROW = re.compile(r",? throws (.+)$")  # the end of a line: the throw after an action, or a throw on its own
ROOM = 1000  # unused script entries at the start of a game; each records one face


@dataclass(frozen=True)
class Transcript:
    """A game as it was played.

    Args:
        game: the game.
        num_players: the number of players.
        options: the game's options by name.
        lines: the actions, throws and results, one line each, in the order in which they happened.
        numbers: for each of ``lines`` its line number in the text, from 1; error messages name it.
    """

    game: Game
    num_players: int
    options: dict[str, Any]
    lines: tuple[str, ...]
    numbers: tuple[int, ...]

    def faces(self) -> list[int]:
        """All faces that were thrown, as integers from 1, in the order in which they were drawn."""
        return [1 + self.game.face_names.index(name) for line in self.lines for name in _thrown(line)]


class Recorder(BaseWrapper[str, Observation, int | None]):
    """A wrapper that records the transcript of each game. Play as usual, then call `transcript`.

    Args:
        env: an environment with ``illegal_action="raise"``.

    Attributes:
        actions: the actions of the game since the last `reset`.

    Raises:
        ValueError: ``env`` has ``illegal_action="terminate"``.
    """

    def __init__(self, env: DiceEnv) -> None:
        if env.illegal_action != "raise":
            raise ValueError("a transcript cannot hold illegal actions; use illegal_action='raise'")
        super().__init__(env)
        self._lines: list[str] = []
        self.actions: list[int] = []

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start a game and a new transcript. Arguments and errors are those of `DiceEnv.reset`.

        Raises:
            ValueError: also if the setup of the game throws more dice than a transcript has room for.
        """
        env, options = self.env, dict(options or {})
        env.reset(seed, {**options, "script": [*options.get("script", ()), *[BLANK] * ROOM]})
        start = env.get_state()
        self._lines, self.actions = [], []
        self._record_throws(None, 0, start)

    def step(self, action: int | None) -> None:
        """Apply an action and record it. Argument and errors are those of `DiceEnv.step`.

        Raises:
            ValueError: also if a transcript has no room for all dice that were thrown since the last action.
        """
        env = self.env
        if not env.agents or _is_over(env, env.agent_selection):
            env.step(action)
            return
        agent, before = env.agent_selection, self._with_room(env.get_state())
        env.step(action)
        after = env.get_state()
        assert action is not None
        self.actions.append(int(action))
        self._lines.append(describe_action(env, before, agent, int(action)))
        self._record_throws(agent, int(before.stream["scripted"][0]), after)
        if _is_over(env, agent):
            scores = ", ".join(f"{name} {points:g}" for name, points in env.scores().items())
            won = name_winners(env.game.rules.winners, after.state[0], env.options_record)
            cut_short = ["cut short by the limit of turns"] if env.truncations[agent] else []
            self._lines += [*cut_short, f"final scores: {scores}", f"won by {won}"]

    def set_state(self, snapshot: Snapshot) -> None:
        """Not supported, because the transcript would have a gap.

        Raises:
            ValueError: always.
        """
        raise ValueError(
            "a Recorder cannot set a state, because its transcript would have a gap; set the state of a clone() instead"
        )

    def _with_room(self, snapshot: Snapshot) -> Snapshot:
        """Append blank entries to the environment's script if few are left. Return the snapshot with this script.

        The environment writes each random face into the next blank entry.
        """
        if snapshot.script.shape[1] - int(snapshot.stream["scripted"][0]) >= ROOM // 2:
            return snapshot
        blanks = np.zeros((1, ROOM), SCRIPT)
        snapshot = snapshot._replace(script=np.concatenate([snapshot.script, blanks], axis=1))
        self.env.set_state(snapshot)
        return snapshot

    def _record_throws(self, actor: str | None, start: int, after: Snapshot) -> None:
        """Record the throws from entry ``start`` of the script on. A throw of ``actor`` joins the line of its action.

        Raises:
            ValueError: the script is used up, so the environment may have drawn faces without writing them down.
        """
        end, script = int(after.stream["scripted"][0]), after.script[0]
        if end == len(script):
            raise ValueError("too many dice were thrown between two decisions; a transcript has no room for them")
        for seat, entries in groupby(script[start:end], lambda entry: int(entry["seat"])):
            thrower = self.env.possible_agents[seat]
            faces = " ".join(self.env.game.face_names[entry["face"] - 1] for entry in entries)
            if thrower == actor:
                self._lines[-1] += f", throws {faces}"
            else:
                self._lines.append(f"{thrower} throws {faces}")
            actor = None

    def transcript(self) -> Transcript:
        """The transcript of the game since the last `reset`, finished or not."""
        env, options = self.env, self.env.options
        first = len(options) + 4  # after the id, the number of players, the options and a blank line
        numbers = range(first, first + len(self._lines))
        return Transcript(env.game, len(env.possible_agents), options, tuple(self._lines), tuple(numbers))


def _is_over(env: DiceEnv, agent: str) -> bool:
    return env.terminations[agent] or env.truncations[agent]


def describe_action(env: DiceEnv, snapshot: Snapshot, agent: str, action: int) -> str:
    """The line of an action in a transcript, without the throw that follows."""
    verb, _, rest = env.game.name_action(snapshot.state[0], env.options_record, action).partition(" ")
    return f"{agent} {verb}s {rest}"


def write(transcript: Transcript) -> str:
    """Write a transcript as text, as shown above. `parse` reads it."""
    settings = {"num_players": transcript.num_players, **transcript.options}
    header = [transcript.game.aec_id, *(f"{name}: {written(value)}" for name, value in settings.items())]
    return "\n".join([*header, "", *transcript.lines]) + "\n"


def parse(text: str) -> Transcript:
    """Read a transcript from text, without replaying it. Players and options that the text omits have their default.

    Raises:
        ValueError: the game, an option, a value or a face is unknown; the message names the line. Or the text is empty.
    """
    numbered = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    numbered = [(number, line) for number, line in numbered if line and not line.startswith("#")]
    ids = {f"fivedice/{name}-v{version}": name for name, version in game_names().items()}
    if not numbered:
        raise ValueError(f"the transcript is empty; its first line must be a game's id, such as {next(iter(ids))!r}")
    number, line = numbered.pop(0)
    if line not in ids:
        raise ValueError(f"line {number}: {unknown_name('game', line, ids)}")
    try:
        game = load_game(ids[line])
    except ValueError as error:
        raise ValueError(f"line {number}: {error}") from error
    num_players: Any = game.default_players
    options: dict[str, Any] = {option.name: option.samples[0] for option in game.rules.OPTIONS}
    while numbered and (setting := re.fullmatch(r"(\w+): (.+)", numbered[0][1])):
        number, (name, value) = numbered.pop(0)[0], setting.groups()
        try:
            if name == "num_players":
                num_players = int(value) if value.isdecimal() else value  # make_options refuses a string
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
    """The names of the faces that a line says were thrown."""
    found = THROW.search(line)
    return found[1].split() if found else []


def replay(transcript: Transcript, before_step: Callable[[Recorder, int], None] | None = None) -> Recorder:
    """Play a transcript again with its dice, through the PettingZoo API.

    Args:
        transcript: the transcript.
        before_step: called as ``before_step(recorder, action)`` before each action. Default: nothing is called.

    Returns:
        The recorder, after the last action of the transcript. The game can be continued.

    Raises:
        ValueError: the transcript and the rules disagree; the message names the first such line.
    """
    game = Recorder(DiceEnv(transcript.game, transcript.num_players, **transcript.options))
    game.reset(seed=0, options={"script": transcript.faces()})
    agreed = 0
    while True:
        for expected in game.transcript().lines[agreed:]:
            if agreed == len(transcript.lines):
                raise ValueError(f"the transcript ends too early; the next line is {expected!r}")
            if transcript.lines[agreed] != expected:
                raise ValueError(
                    f"line {transcript.numbers[agreed]}: the transcript says {transcript.lines[agreed]!r}, "
                    f"the rules say {expected!r}"
                )
            agreed += 1
        if agreed == len(transcript.lines):
            return game
        number, line = transcript.numbers[agreed], transcript.lines[agreed]
        if _is_over(game.env, game.env.agent_selection):
            raise ValueError(f"line {number}: {line!r} comes after the end of the game")
        action = _find_action(game.env, number, line)
        if before_step is not None:
            before_step(game, action)
        game.step(action)


def _find_action(env: DiceEnv, number: int, line: str) -> int:
    """The legal action that a line describes; of several with the same words, the one with the lowest number."""
    agent, snapshot = env.agent_selection, env.get_state()
    legal = np.flatnonzero(env.observe(agent)["action_mask"]).tolist()
    actions = {describe_action(env, snapshot, agent, action): action for action in reversed(legal)}
    words = THROW.sub("", line)
    if words not in actions:
        nearest = difflib.get_close_matches(words, actions, n=1, cutoff=0.0)[0]
        raise ValueError(f"line {number}: {words!r} is not a legal action; the most similar one is {nearest!r}")
    return actions[words]
