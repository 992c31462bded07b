"""A game in sentences: what each move did, every throw, and the board, with "you" for the person at the terminal."""

import re
import shlex
import textwrap

from fivedice.agents.play.session import PERSON, Move, PlaySession, Throw
from fivedice.envs.core.option import written

# What the signs on a board mean. The help explains those that the board shows.
SIGNS = {
    "▸": "whose turn it is",
    "→": "the space that is played for",
    "·": "empty",
    "<": "a pawn, with the number of its player",
    "[": "a die that was laid in this turn",
    "~": "a WILD that was declared to be this face",
    "needs": "what the dice must show to take the card",
}


def name_of(session: PlaySession, seat: int, own: int | None) -> str:
    """The name of a seat: "You", or the player with its policy."""
    if seat == own:
        return "You"
    policy = session.seats[seat].policy
    return f"player_{seat}" if policy is None else f"player_{seat} ({policy.name})"


def with_you(text: str, own: int | None) -> str:
    """A text with "you" in place of the person's seat. Columns stay aligned."""
    if own is None:
        return text
    me = f"player_{own}"
    lines = []
    for line in text.split("\n"):
        if re.fullmatch(r"\s+((▸ )?player_\d\s*)+", line):  # names above right-aligned columns
            marked = re.sub(rf"(▸ )?{me}\b", lambda found: f"{found[1] or ''}you".rjust(len(found[0])), line)
            lines.append(marked)
        else:  # what follows the name moves to the left, up to the next column
            kept = re.sub(rf"\b{me}\b((?:(?!  ).)*)", lambda found: f"you{found[1]}".ljust(len(found[0])), line)
            kept = re.sub(r"\byou (throws|chooses)\b", lambda found: f"you {found[1][:-1]}", kept)
            kept = re.sub(r"\byou (is|has)\b", lambda found: f"you {'are' if found[1] == 'is' else 'have'}", kept)
            lines.append(kept.rstrip())
    return "\n".join(lines)


def board(session: PlaySession, own: int | None, width: int = 80) -> list[str]:
    """The lines of the board, at most `width` characters each."""
    text = with_you(session.game.render(session.position.state[0], session.options), own)
    lines: list[str] = []
    for line in text.split("\n"):
        lines += [line] if len(line) <= width else textwrap.wrap(line, width, subsequent_indent=" " * 8)
    return lines


def throw_in_words(throw: Throw, own: int | None) -> str:
    """The dice of one throw, after the name of its player."""
    return f"{'throw' if throw.seat == own else 'throws'} {' '.join(throw.faces)}"


def opening_lines(session: PlaySession, own: int | None) -> list[tuple[int, str]]:
    """The throws before the first decision: (seat, words)."""
    return [(throw.seat, throw_in_words(throw, own)) for throw in session.opening]


def move_lines(session: PlaySession, move: Move, own: int | None) -> list[tuple[int, str]]:
    """What a move did and every die that was thrown after it: (seat, words) in order."""
    if move.seat == own:
        did = move.words
    else:
        did = re.sub(r"^player_\d+ ", "", session.lines(move.number)[0]).split(", throws ")[0]
    found = [(move.seat, with_you(did, own))]
    after = session.positions[move.number]
    ended = after.view is None or after.mover != move.seat
    for throw in move.throws:
        words = throw_in_words(throw, own) + _red_die(session, move.number, throw, own)
        if throw.seat == move.seat and ended and move.words.startswith("keep ") and _has_throws(session):
            words += ", and it does not succeed" if throw.seat != own else ", without success"
        if throw.seat == found[-1][0]:
            found[-1] = (throw.seat, f"{found[-1][1]}, {words}")
        else:
            found.append((throw.seat, words))
    return found


def _has_throws(session: PlaySession) -> bool:
    return "throws_left" in (session.position.state.dtype.names or ())


def _red_die(session: PlaySession, number: int, throw: Throw, own: int | None) -> str:
    """Where the first die of a throw led the pawn; empty in a game without pawns."""
    before, after = session.positions[number - 1].state[0], session.positions[number].state[0]
    if "pawns" not in (before.dtype.names or ()) or before["pawns"][throw.seat] == after["pawns"][throw.seat]:
        return ""
    return f" (the first is the red die: to space {int(after['pawns'][throw.seat])})"


def joined(session: PlaySession, told: list[tuple[int, str]], own: int | None) -> list[str]:
    """What happened, as one line for all that one player did without a break."""
    lines: list[tuple[int, str]] = []
    for seat, words in told:
        if lines and lines[-1][0] == seat:
            lines[-1] = (seat, f"{lines[-1][1]}; {words}")
        else:
            lines.append((seat, f"{name_of(session, seat, own)} {words}"))
    return [words + "." for _, words in lines]


def turn_of(session: PlaySession, seat: int) -> int:
    """The number of the turn of a player who is to move, from 1."""
    turns, before, left = 0, None, -1
    for position in session.positions:
        if position.view is None:
            continue
        state = position.state[0]
        now = int(state["throws_left"]) if "throws_left" in (state.dtype.names or ()) else -1
        if position.mover == seat and (before != seat or now > left):
            turns += 1
        before, left = position.mover, now
    return turns


def command_of(session: PlaySession) -> str:
    """The command that starts the same game with the same dice."""
    seats = [seat.name for seat in session.seats]
    own = seats.index(PERSON) if PERSON in seats else 0
    words = ["fivedice", "play", session.game.name, "--num-players", str(len(seats))]
    if own:
        words += ["--seat", str(own)]
    others = [seats[(own + turn) % len(seats)] for turn in range(1, len(seats))]
    if others and PERSON not in others:
        words += ["--opponents", *(others[:1] if len(set(others)) == 1 else others)]
    plain = session.game.options_dict(session.game.make_options(len(seats)))
    for name, value in session.game.options_dict(session.options).items():
        if value != plain[name]:
            words += [f"--options.{name}", str(written(value))]
    return shlex.join([*words, "--seed", str(session.seed)])
