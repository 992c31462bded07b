"""Who may sit at a table: the policies by name that can play a game, and the checkpoints in a folder of runs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fivedice.agents.play.session import PERSON, Seat
from fivedice.agents.policies.baselines import GREEDY, OPTIMAL, PLANNER, baseline_names, is_solved
from fivedice.agents.policies.checkpoint import read_card
from fivedice.agents.policies.registry import ROLLOUT, imports, load
from fivedice.agents.policies.zoo import FOLDER, agent_names
from fivedice.envs.core.spec import Game, Options


@dataclass(frozen=True)
class Offer:
    """A policy that may take a seat.

    Args:
        name: its name, as `fivedice.agents.load` takes it.
        about: what it does, in a few words.
        num_players: the number of players that it needs; None for any.
        options: the options that it needs, by name; None for any.
    """

    name: str
    about: str
    num_players: int | None = None
    options: dict[str, object] | None = None


def offers(game: Game, options: Options | None = None, runs: Path = Path("runs")) -> list[Offer]:
    """The policies that can play a game: the named ones, then the checkpoints in `runs`, whose card says this game.

    Args:
        game: the game.
        options: the options record. Default: the record of the default options.
        runs: the folder of training runs; it need not exist.
    """
    record = game.make_options() if options is None else options
    found = [Offer("random", "plays any legal move")]
    if GREEDY.plays(game):
        found.append(Offer(GREEDY.name, "takes the most points of the turn"))
    if PLANNER.plays(game):
        found.append(Offer(PLANNER.name, "looks beyond its turn"))
    if is_solved(game, record):
        found.append(Offer(OPTIMAL.name, "plays perfectly"))
    base = baseline_names(game)[0]
    name = ROLLOUT if base == GREEDY.name else f"{ROLLOUT}:{base}"
    found.append(Offer(name, "simulates games before each move; slow"))
    agents = [
        replace(offer, name=name, about=f"comes with the package, {offer.about}")
        for name in agent_names()
        if (offer := _offer_of(game, FOLDER / f"{name}.safetensors"))
    ]
    trained = [offer for path in sorted(runs.glob("**/*.safetensors")) if (offer := _offer_of(game, path))]
    return found + agents + trained


def _offer_of(game: Game, path: Path) -> Offer | None:
    """The offer of a checkpoint file; None if it cannot be read or plays another game."""
    try:
        card = read_card(path)
    except ValueError:
        return None
    if card["game"] != game.name:
        return None
    num_players = int(card["num_players"])
    players = "1 player" if num_players == 1 else f"{num_players} players"
    return Offer(path.as_posix(), f"trained for {players}", num_players, dict(card["options"]))


def seat_of(name: str) -> Seat:
    """The seat of this name, which a file or a page gives: `PERSON`, or a policy as `fivedice.agents.load` takes it.

    Raises:
        ValueError: no policy has this name, or it names an object to import, which only a user's command may do.
    """
    if imports(name):
        raise ValueError(f"the policy {name!r} would be imported, so a file or a page cannot name it")
    return Seat() if name == PERSON else Seat(name, load(name))


def seats_around(game: Game, num_players: int, own: int, others: Sequence[Seat]) -> list[Seat]:
    """The seats of a game, with a person in one of them.

    Args:
        game: the game.
        num_players: the number of players.
        own: the person's seat.
        others: one for all other seats, or one for each in turn order after the person's seat.

    Raises:
        ValueError: the seat does not exist, or the number of others is wrong.
    """
    if not 0 <= own < num_players:
        raise ValueError(
            f"--seat {own} does not exist in a game with {num_players} players; use 0 to {num_players - 1}"
        )
    if len(others) not in (1, num_players - 1) and num_players > 1:
        seats = "is only 1 other seat" if num_players == 2 else f"are {num_players - 1} other seats"
        needed = len(others) + 1
        more = f", or play with --num-players {needed}" if needed <= game.max_players else ""
        raise ValueError(
            f"--opponents lists {len(others)} policies, but there {seats}; list one for all or one for each{more}"
        )
    found = [Seat()] * num_players
    for turn in range(1, num_players):
        found[(own + turn) % num_players] = others[(turn - 1) % len(others)]
    return found
