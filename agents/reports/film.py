"""A game as a film: one frame for each decision, and one for the end of the game.

A frame shows the position, what has happened since the previous frame, the choice that follows, and, if a policy
knows them, the values of the legal actions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.policies.baselines import policy_for
from fivedice.agents.policies.protocols import ChecksGame, HasActionValues, Policy
from fivedice.envs.api.aec import DiceEnv
from fivedice.envs.api.transcript import Recorder, Transcript, replay
from fivedice.envs.core.marks import Marks
from fivedice.envs.core.spec import Game
from fivedice.envs.core.view import View
from fivedice.envs.display.drawing import Drawing, draw, mark_last, regions_of

MOST_LISTED = 5  # actions with their values in a frame


@dataclass(frozen=True)
class Choice:
    """A legal action in a frame.

    Attributes:
        words: the action in words.
        value: its value, or None if no policy knows it.
        is_chosen: whether it is the action that follows.
    """

    words: str
    value: float | None
    is_chosen: bool


@dataclass(frozen=True)
class Frame:
    """One position of a film.

    Attributes:
        drawing: the drawing of the position.
        lines: what has happened since the previous frame, as in a transcript.
        mover: the name of the agent that decides, or "" at the end of the game.
        choices: the actions with the highest values, the highest first, and the chosen one; none at the end.
    """

    drawing: Drawing
    lines: tuple[str, ...]
    mover: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class Film:
    """A game, frame by frame.

    Attributes:
        title: the game and who plays.
        frames: at least one frame.
        unit: whose values the frames show, or "" without values.
    """

    title: str
    frames: tuple[Frame, ...]
    unit: str


class _Camera:
    """Takes a frame before each step of a recorded game.

    Args:
        adviser: returns the policy whose values a frame shows, given the seat to move; None for no values.
    """

    def __init__(self, adviser: Callable[[int], HasActionValues | None]) -> None:
        self.frames: list[Frame] = []
        self._adviser = adviser
        self._seen = 0  # lines of the transcript
        self._last: tuple[Any, int] | None = None  # the state before the last action, and the action

    def take(self, recorder: Recorder, action: int | None, view: View | None = None) -> None:
        """Take a frame. ``action`` is the action that follows, and ``view`` its decision; None at the end."""
        env: DiceEnv = recorder.env
        game, options, state = env.game, env.options_record, env.get_state().state[0].copy()
        lines = recorder.transcript().lines
        new, self._seen = lines[self._seen :], len(lines)
        changed: frozenset[str] = frozenset()
        if self._last is not None:
            changed = mark_last(game, self._last[0], options, self._last[1]).changed
        chosen: frozenset[str] = frozenset()
        choices: tuple[Choice, ...] = ()
        values: dict[str, str] = {}
        mover = ""
        if action is not None and view is not None:
            adviser = self._adviser(int(view.seats[0]))
            known = None if adviser is None else adviser.action_values(view)[0]
            chosen, choices = regions_of(game, state, options, [action]), _choices(view, known, action)
            values, mover = _values_of_regions(view, known), env.agent_selection
            self._last = state, action
        marks = Marks(last=", ".join(new[-2:]), changed=changed, chosen=chosen, values=values)
        self.frames.append(Frame(draw(game, state, options, marks), new, mover, choices))


def _choices(view: View, values: NDArray[np.float64] | None, action: int) -> tuple[Choice, ...]:
    """The best actions and the chosen one. Of actions with the same words, one is listed."""
    legal = np.flatnonzero(view.masks[0])
    if values is not None:
        legal = legal[np.argsort(-values[legal], kind="stable")]
    named: dict[str, float | None] = {}
    for number in legal.tolist() if values is not None else [action]:
        words = view.game.name_action(view.states[0], view.options, number)
        named.setdefault(words, None if values is None else float(values[number]))
    chosen = view.game.name_action(view.states[0], view.options, action)
    listed = list(named)[:MOST_LISTED]
    if chosen not in listed:
        listed.append(chosen)
    return tuple(Choice(words, named[words], words == chosen) for words in listed)


def _values_of_regions(view: View, values: NDArray[np.float64] | None) -> dict[str, str]:
    """The value of each action that has a region of its own: a box, a card or a space, but no set of dice."""
    game = view.game
    if values is None or game.action_regions is None:
        return {}
    written: dict[str, str] = {}
    for action in np.flatnonzero(view.masks[0]).tolist():
        regions = game.action_regions(view.states[0], view.options, action)
        if len(regions) == 1 and not regions[0].startswith("die-"):
            written[regions[0]] = f"{values[action]:.1f}"
    return written


def film_of_transcript(transcript: Transcript, adviser: HasActionValues | None = None) -> Film:
    """The film of a transcript.

    Args:
        transcript: the transcript.
        adviser: the policy whose values the frames show. Default: none.

    Raises:
        ValueError: the transcript and the rules disagree.
    """
    camera = _Camera(lambda seat: adviser)
    camera.take(replay(transcript, lambda recorder, action: camera.take(recorder, action, recorder.env.view())), None)
    players = transcript.num_players
    title = f"{transcript.game.title}, {players} {'player' if players == 1 else 'players'}"
    return Film(title, tuple(camera.frames), _unit(adviser))


def film_of_match(
    game: Game,
    policies: Sequence[Policy],
    *,
    seed: int | None = None,
    options: dict[str, Any] | None = None,
    adviser: HasActionValues | None = None,
) -> tuple[Film, Transcript]:
    """Play a game among policies, one for each seat.

    Args:
        game: the game.
        policies: the policy of each seat.
        seed: the seed of the dice and the policies. Default: other dice in each game.
        options: the options of the game by name.
        adviser: the policy whose values the frames show. Default: each policy shows its own values, if it knows them.

    Returns:
        The film, and the transcript of the game.

    Raises:
        ValueError: the number of policies or an option is not possible, or a policy cannot play the game.
    """
    env = DiceEnv(game, len(policies), **(options or {}))
    own = [policy_for(policy, game) for policy in policies]
    for policy in own:
        if isinstance(policy, ChecksGame):
            policy.check(game, env.options_record)
    knowing = [policy if isinstance(policy, HasActionValues) else None for policy in own]
    camera = _Camera(lambda seat: knowing[seat] if adviser is None else adviser)
    recorder = Recorder(env)
    recorder.reset(seed)
    while env.agents and not (env.terminations[env.agent_selection] or env.truncations[env.agent_selection]):
        view = env.view()
        action = int(own[int(view.seats[0])].act(view)[0])
        camera.take(recorder, action, view)
        recorder.step(action)
    camera.take(recorder, None)
    names = ", ".join(f"player_{seat} {policy.name}" for seat, policy in enumerate(policies))
    unit = _unit(adviser)
    if adviser is None and any(policy is not None for policy in knowing):
        unit = "values of the policy that decides"
    return Film(f"{game.title}: {names}", tuple(camera.frames), unit), recorder.transcript()


def _unit(adviser: HasActionValues | None) -> str:
    return f"values of {adviser.name}" if isinstance(adviser, Policy) else ""
