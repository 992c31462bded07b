"""One game between persons and policies: play a move, take it back, look at any position.

The dice depend only on the seed and on the seat that throws. So a move that is taken back and played again gives the
same dice, and a new game with the same seed has the same dice.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.policies.baselines import policy_for
from fivedice.agents.policies.protocols import ChecksGame, Policy
from fivedice.envs.api.aec import DiceEnv
from fivedice.envs.api.transcript import Recorder, Transcript
from fivedice.envs.core.spec import Game
from fivedice.envs.core.view import View

PERSON = "person"  # the name of a seat that a person plays
SEEDS = 1_000_000  # a seed that nobody chose is below this, so it is short enough to type


class Refused(ValueError):
    """A move that changes nothing: it is illegal, too late, or not this person's to make."""


@dataclass(frozen=True)
class Seat:
    """Who decides for one player.

    Args:
        name: the name of the policy as `fivedice.agents.load` takes it, or `PERSON`.
        policy: the policy, or None for a person.
    """

    name: str = PERSON
    policy: Policy | None = None


@dataclass(frozen=True)
class Throw:
    """Dice that one player threw.

    Args:
        seat: the player.
        faces: the names of the faces, in the order in which they were drawn.
    """

    seat: int
    faces: tuple[str, ...]


@dataclass(frozen=True)
class Move:
    """A move and the dice that were thrown after it.

    Args:
        number: its number, from 1.
        seat: the player who made it.
        action: the action.
        words: the action in words, such as ``"keep 5 5"``.
        throws: the dice that were thrown after it, until the next decision. They may be of another player.
    """

    number: int
    seat: int
    action: int
    words: str
    throws: tuple[Throw, ...]


@dataclass(frozen=True)
class Position:
    """The game after some moves.

    Args:
        number: how many moves were made.
        state: (1,) record of the game's STATE dtype.
        mover: the player to move; the last one who moved, if the game is over.
        view: the decision, as policies take it; None if the game is over.
        scores: the points of each player so far.
        lines: how many lines the transcript has.
    """

    number: int
    state: NDArray[np.void]
    mover: int
    view: View | None
    scores: tuple[float, ...]
    lines: int


class PlaySession:
    """One game between persons and policies.

    A policy moves when `play_policy` is called, a person when `play` is.

    Args:
        game: the game.
        seats: who decides for each player; their number is the number of players.
        options: the game's options by name. Options that are not given have their default.
        seed: the random seed for the dice and the policies. Default: a random one; the attribute `seed` says which.
        script: faces of the first dice, as in `DiceEnv.reset`. Default: none.

    Attributes:
        game, seats, seed, script: as given.
        options: the options record, with the number of players.
        moves: the moves so far.
        positions: the positions so far; ``positions[n]`` is the one after n moves.
        opening: the dice that were thrown before the first decision.

    Raises:
        ValueError: the number of players, an option or the seed is not possible, or a policy cannot play this game.
    """

    def __init__(
        self,
        game: Game,
        seats: Sequence[Seat],
        *,
        options: dict[str, Any] | None = None,
        seed: int | None = None,
        script: Sequence[int] = (),
    ) -> None:
        self.game, self.seats, self.script = game, tuple(seats), tuple(script)
        self.seed = secrets.randbelow(SEEDS) if seed is None else seed
        self.options = game.make_options(len(self.seats), options)
        for seat in self.seats:
            if seat.policy is not None:
                policy = policy_for(seat.policy, game)
                if isinstance(policy, ChecksGame):
                    policy.check(game, self.options)
        chosen: dict[str, Any] = game.options_dict(self.options)
        self._recorder = Recorder(DiceEnv(game, len(self.seats), **chosen))
        self.moves: list[Move] = []
        self.positions: list[Position] = []
        self.opening: tuple[Throw, ...] = ()
        self._start()

    @property
    def number(self) -> int:
        """How many moves were made. A person's move names this number, so that a late move can be refused."""
        return len(self.moves)

    @property
    def position(self) -> Position:
        """The position now."""
        return self.positions[-1]

    @property
    def is_over(self) -> bool:
        """Whether the game is over."""
        return self.position.view is None

    @property
    def waits_for_person(self) -> bool:
        """Whether the next move is a person's."""
        return not self.is_over and self.seats[self.position.mover].policy is None

    @property
    def waits_for_policy(self) -> bool:
        """Whether the next move is a policy's."""
        return not self.is_over and self.seats[self.position.mover].policy is not None

    @property
    def winners(self) -> tuple[int, ...]:
        """The players who share the win; nobody before the end of the game."""
        if not self.is_over:
            return ()
        won = np.zeros(len(self.seats), np.int8)
        self.game.rules.winners(self.position.state[0], self.options, won)
        return tuple(np.flatnonzero(won).tolist())

    @property
    def is_cut_short(self) -> bool:
        """Whether the game was ended by its limit of turns."""
        return bool(self.game.is_truncated(self.position.state[0], self.options))

    def play(self, action: int, number: int | None = None) -> Move:
        """Make a person's move.

        Args:
            action: the action.
            number: the number of moves that the person saw. Default: whatever it is now.

        Raises:
            Refused: the game is over or has gone on, the next move is a policy's, or the action is not legal. Nothing
                is changed.
        """
        if number is not None and number != self.number:
            raise Refused(f"this move answers move {number}, but the game is at move {self.number}; look at it again")
        if self.is_over:
            raise Refused("the game is over; start a new one")
        if not self.waits_for_person:
            name = self.seats[self.position.mover].name
            raise Refused(f"player_{self.position.mover} ({name}) is to move; wait for its move")
        return self._play(action)

    def choose(self, number: int | None = None) -> int:
        """The action of the policy whose turn it is, without making the move.

        Args:
            number: the number of moves that the caller saw. Default: whatever it is now.

        Raises:
            Refused: the game is over or has gone on, or the next move is a person's.
        """
        if number is not None and number != self.number:
            raise Refused(f"this request answers move {number}, but the game is at move {self.number}")
        position = self.position
        if position.view is None:
            raise Refused("the game is over; start a new one")
        policy = self.seats[position.mover].policy
        if policy is None:
            raise Refused(f"player_{position.mover} is a person, who is to move now")
        return int(policy.act(position.view)[0])

    def play_policy(self, number: int | None = None, action: int | None = None) -> Move:
        """Let the policy whose turn it is make one move.

        Args:
            number: as for `choose`.
            action: what `choose` returned. Default: the policy chooses now.

        Raises:
            Refused: as for `choose`. Nothing is changed.
        """
        chosen = self.choose(number) if action is None else action
        if number is not None and number != self.number:
            raise Refused(f"this request answers move {number}, but the game is at move {self.number}")
        return self._play(chosen)

    def replay(self, action: int) -> Move:
        """Make a move for whoever is to move, as when a saved game is loaded.

        Raises:
            Refused: the action is not legal.
        """
        return self._play(action)

    def undo(self, to: int | None = None) -> int:
        """Take moves back, until a person is to decide.

        Args:
            to: the number of moves that stay. Default: as many as possible, at least one move less than now.

        Returns:
            How many moves were taken back.

        Raises:
            Refused: no person has moved yet, or no person decides after `to` moves. Nothing is changed.
        """
        own = [move.number - 1 for move in self.moves if self.seats[move.seat].policy is None]
        if not own:
            raise Refused("there is no move of yours to take back")
        if to is None:
            to = own[-1]
        if to not in own:
            raise Refused(f"no decision of yours comes after move {to}; choose one of your own moves")
        taken_back = self.number - to
        actions = [move.action for move in self.moves[:to]]
        self._start()
        for action in actions:
            self._play(action)
        return taken_back

    def again(self) -> "PlaySession":
        """A new game with the same seats, options and dice."""
        options = self.game.options_dict(self.options)
        return PlaySession(self.game, self.seats, options=options, seed=self.seed, script=self.script)

    def transcript(self) -> Transcript:
        """The transcript of the game so far."""
        return self._recorder.transcript()

    def lines(self, number: int) -> tuple[str, ...]:
        """The lines of the transcript that tell the move with this number; 0: the throws before the first one."""
        first = self.positions[number - 1].lines if number else 0
        return self.transcript().lines[first : self.positions[number].lines]

    def _start(self) -> None:
        self._recorder.reset(self.seed, options={"script": list(self.script)})
        self.moves, self.positions = [], []
        self.opening = self._throws_since(0)
        self._add_position()

    def _play(self, action: int) -> Move:
        view, env = self.position.view, self._recorder.env
        if view is None or not (0 <= action < view.masks.shape[1] and view.masks[0, action]):
            said = self._words(action)
            raise Refused(f"{said} is not a legal move of player_{self.position.mover} here; choose one that is")
        words, mover = self._words(action), self.position.mover
        thrown = int(env.get_state().stream["scripted"][0])
        self._recorder.step(action)
        move = Move(self.number + 1, mover, action, words, self._throws_since(thrown))
        self.moves.append(move)
        self._add_position()
        return move

    def _words(self, action: int) -> str:
        if not 0 <= action < self.game.num_actions(self.options):
            return f"action {action}"
        return self.game.name_action(self.position.state[0], self.options, action)

    def _throws_since(self, first: int) -> tuple[Throw, ...]:
        snapshot = self._recorder.env.get_state()
        drawn = snapshot.script[0][first : int(snapshot.stream["scripted"][0])]
        names = self.game.face_names
        return tuple(
            Throw(seat, tuple(names[int(entry["face"]) - 1] for entry in entries))
            for seat, entries in groupby(drawn, lambda entry: int(entry["seat"]))
        )

    def _add_position(self) -> None:
        env = self._recorder.env
        state = env.get_state().state
        over = any(env.terminations.values()) or any(env.truncations.values())
        # One view for each decision, also of a person: the random numbers of the policies depend on their number.
        view = None if over else env.view()
        self.positions.append(
            Position(
                number=len(self.moves),
                state=state,
                mover=int(self.game.rules.current_player(state[0])),
                view=view,
                scores=tuple(env.scores().values()),
                lines=len(self._recorder.transcript().lines),
            )
        )
