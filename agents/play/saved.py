"""A game as a file: a transcript with the seed and the seats in comments, so that it can be continued and replayed.

Example::

    # seed: 17
    # seats: person, greedy
    fivedice/yum-v0
    num_players: 2
    …
"""

import re
from collections.abc import Callable

from fivedice.agents.play.session import PERSON, PlaySession, Seat
from fivedice.envs.api import transcript
from fivedice.envs.api.transcript import Transcript

COMMENT = re.compile(r"# (seed|seats): (.+)")


def save(session: PlaySession) -> str:
    """The game as text, for `load`."""
    seats = ", ".join(seat.name for seat in session.seats)
    return f"# seed: {session.seed}\n# seats: {seats}\n" + transcript.write(session.transcript())


def load(text: str, seat_of: Callable[[str], Seat]) -> PlaySession:
    """Make a session from a saved game, or from any transcript.

    Without a line ``# seats``, a person plays every seat. Without the seed, the dice after the last move are new.

    Args:
        text: the text.
        seat_of: returns the seat for a name in the line ``# seats``.

    Raises:
        ValueError: the text is not a transcript, or a seat is not known.
    """
    found = [COMMENT.fullmatch(line.strip()) for line in text.splitlines()]
    comments = {comment[1]: comment[2] for comment in found if comment}
    parsed = transcript.parse(text)
    names = comments.get("seats", ", ".join([PERSON] * parsed.num_players)).split(", ")
    if len(names) != parsed.num_players:
        raise ValueError(f"the line '# seats' lists {len(names)} seats, but the game has {parsed.num_players} players")
    seats = [seat_of(name) for name in names]
    actions = transcript.replay(parsed).actions
    seed = int(comments["seed"]) if comments.get("seed", "").isdecimal() else None
    if seed is not None:
        session = PlaySession(parsed.game, seats, options=parsed.options, seed=seed)
        if _replays(session, actions, parsed):
            return session
    session = PlaySession(parsed.game, seats, options=parsed.options, seed=seed, script=parsed.faces())
    _replays(session, actions, parsed)
    return session


def _replays(session: PlaySession, actions: list[int], parsed: Transcript) -> bool:
    """Play these actions, and return whether they lead to the lines of the transcript."""
    for action in actions:
        view = session.position.view
        if view is None or not view.masks[0, action]:
            return False
        session.replay(action)
    return session.transcript().lines == parsed.lines
