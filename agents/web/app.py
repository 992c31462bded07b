"""What the server answers: the page, and the games as JSON."""

import json
import re
import secrets
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from fivedice.agents.play import saved
from fivedice.agents.play.seats import offers, seat_of
from fivedice.agents.play.session import PERSON, PlaySession, Refused, Seat
from fivedice.agents.policies.registry import NAMES, ROLLOUT, read_rollout
from fivedice.agents.policies.zoo import agent_names
from fivedice.agents.web.guard import Guard
from fivedice.agents.web.table import Table
from fivedice.envs import GAMES, load_game
from fivedice.envs.core.option import OneOf, written
from fivedice.envs.display.drawing import font_file

STATIC = Path(__file__).parent / "static"
MOST_BYTES = 1_000_000  # of a request
MOST_TABLES = 200  # the oldest game is forgotten when there are more
NAME = re.compile(r"[\w-]{1,80}\.txt")  # of a saved game

Answer = dict[str, Any]


class NotFound(LookupError):
    """There is no such game or file."""


class Games:
    """All games of a server.

    Args:
        folder: where games are saved.
        runs: where checkpoints are looked for.
    """

    def __init__(self, folder: Path, runs: Path) -> None:
        self.folder, self.runs = folder, runs
        self._tables: dict[str, Table] = {}
        self._lock = threading.Lock()

    def add(self, session: PlaySession) -> str:
        """Take in a game, and return its id."""
        table, name = Table(session), secrets.token_urlsafe(9)
        table.position()  # compiles what draws the game, before the page asks for it
        with self._lock:
            self._tables[name] = table
            while len(self._tables) > MOST_TABLES:
                del self._tables[next(iter(self._tables))]
        return name

    def of(self, name: str) -> Table:
        """The table with this id.

        Raises:
            NotFound: there is none.
        """
        if name not in self._tables:
            raise NotFound("there is no such game; games end when the server stops, unless they are saved")
        return self._tables[name]

    def overview(self) -> Answer:
        """What can be played, and the saved games."""
        files = sorted(self.folder.glob("*.txt"), key=lambda path: -path.stat().st_mtime)
        return {
            "games": [self._describe(name) for name in GAMES],
            "folder": str(self.folder.resolve()),
            "saved": [path.name for path in files if NAME.fullmatch(path.name)][:50],
        }

    def _describe(self, name: str) -> Answer:
        game = load_game(name)
        return {
            "name": name,
            "title": game.title,
            "min_players": game.min_players,
            "max_players": game.max_players,
            "default_players": game.default_players,
            "options": [
                {
                    "name": option.name,
                    "meaning": option.meaning,
                    "valid": option.valid,
                    "choices": [written(choice) for choice in option.choices] if isinstance(option, OneOf) else None,
                    "default": written(option.samples[0]),
                }
                for option in game.rules.OPTIONS
            ],
            "policies": [
                {
                    "name": offer.name,
                    "about": offer.about,
                    "num_players": offer.num_players,
                    "options": None if offer.options is None else {k: written(v) for k, v in offer.options.items()},
                }
                for offer in offers(game, runs=self.runs)
            ],
        }

    def start(self, asked: Answer) -> Answer:
        """Start a game.

        Raises:
            ValueError: the game, a seat, an option or the seed is not possible.
        """
        name, seats, options, seed = (asked.get(key) for key in ("game", "seats", "options", "seed"))
        if not isinstance(name, str) or not isinstance(seats, list) or not all(isinstance(s, str) for s in seats):
            raise ValueError("a new game needs 'game', a name, and 'seats', a list of names")
        if not isinstance(options or {}, dict) or not (seed is None or type(seed) is int):
            raise ValueError("'options' must be values by name, and 'seed' a whole number")
        game = load_game(name)
        found = [self.seat(seat) for seat in seats]
        return {"id": self.add(PlaySession(game, found, options=game.parse_options(options or {}), seed=seed))}

    def seat(self, name: str) -> Seat:
        """The seat of this name. A file must be in the folder of runs, so that a page cannot ask for any other.

        Raises:
            ValueError: there is no such policy.
        """
        base = read_rollout(name)[0] if name.split(":")[0] == ROLLOUT else name
        named = base in (PERSON, *NAMES, *agent_names())
        if not named and not Path(base).resolve().is_relative_to(self.runs.resolve()):
            raise ValueError(f"{name!r} is neither a policy nor a checkpoint in the folder {self.runs}")
        return seat_of(name)

    def save(self, name: str) -> Answer:
        """Write a game into the folder of saved games.

        Raises:
            NotFound: there is no such game.
            OSError: the file cannot be written.
        """
        table = self.of(name)
        self.folder.mkdir(parents=True, exist_ok=True)
        stamp = time.strftime("%Y-%m-%d-%H%M%S")
        path = self.folder / f"{table.session.game.name}-{stamp}-{name[:4].replace('_', '-')}.txt"
        part = path.with_suffix(".part")
        part.write_text(saved.save(table.session), "utf-8")
        part.replace(path)
        return {"file": str(path.resolve()), "name": path.name}

    def load(self, asked: Answer) -> Answer:
        """Continue a saved game: a file of the folder, or the text of a transcript.

        Raises:
            NotFound: there is no such file.
            ValueError: the text is not a transcript.
        """
        text, file = asked.get("text"), asked.get("file")
        if isinstance(file, str):
            if not NAME.fullmatch(file) or not (self.folder / file).is_file():
                raise NotFound(f"there is no saved game {file!r} in {self.folder}")
            text = (self.folder / file).read_text("utf-8")
        if not isinstance(text, str):
            raise ValueError("name a 'file' of the folder, or give the 'text' of a transcript")
        return {"id": self.add(saved.load(text, self.seat))}


def make_app(games: Games, port: int, token: str) -> ASGIApp:
    """The application, which answers requests with the token on this port alone.

    Args:
        games: the games.
        port: the port of the server.
        token: the token.
    """

    def page(request: Request) -> Response:
        return FileResponse(STATIC / ("game.html" if "id" in request.path_params else "index.html"))

    def static(request: Request) -> Response:
        path = STATIC / request.path_params["name"]
        if path.name not in FILES:
            return JSONResponse({"error": "there is no such file"}, 404)
        return FileResponse(path)

    def font(request: Request) -> Response:
        return FileResponse(font_file("bold" if request.path_params["weight"] == "bold" else "normal"))

    def at(answer: Callable[[Table, Answer], Answer]) -> Callable[[Request, Answer], Answer]:
        """An answer of the table that the address names. A number in the address is ``asked["number"]``."""
        return lambda request, asked: answer(games.of(request.path_params["id"]), {**asked, **request.path_params})

    def transcript(request: Request) -> Response:
        try:
            table = games.of(request.path_params["id"])
        except NotFound as error:
            return JSONResponse({"error": str(error)}, 404)
        named = f'attachment; filename="{table.session.game.name}-{table.session.seed}.txt"'
        return PlainTextResponse(saved.save(table.session), headers={"content-disposition": named})

    def undo(table: Table, asked: Answer) -> Answer:
        return table.undo(_number(asked, "number"), None if asked.get("to") is None else _number(asked, "to"))

    table = "/api/game/{id}"
    read: dict[str, Callable[[Request, Answer], Answer]] = {
        "/api/games": lambda request, asked: games.overview(),
        table: at(lambda table, asked: table.game()),
        f"{table}/position": at(lambda table, asked: table.position()),
        f"{table}/position/{{number:int}}": at(lambda table, asked: table.position(_number(asked, "number"))),
        f"{table}/loss/{{number:int}}": at(lambda table, asked: table.loss(_number(asked, "number"))),
        f"{table}/result": at(lambda table, asked: table.result()),
        f"{table}/account": at(lambda table, asked: table.account()),
    }
    change: dict[str, Callable[[Request, Answer], Answer]] = {
        "/api/games": lambda request, asked: games.start(asked),
        "/api/load": lambda request, asked: games.load(asked),
        f"{table}/move": at(lambda table, asked: table.play(_number(asked, "action"), _number(asked, "number"))),
        f"{table}/policy": at(lambda table, asked: table.play_policy(_number(asked, "number"))),
        f"{table}/undo": at(undo),
        f"{table}/advice": at(
            lambda table, asked: table.advice(_number(asked, "number"), str(asked.get("adviser", "")))
        ),
        f"{table}/cancel": at(lambda table, asked: table.cancel()),
        f"{table}/again": at(lambda table, asked: {"id": games.add(table.session.again())}),
        f"{table}/save": lambda request, asked: games.save(request.path_params["id"]),
    }
    routes = [
        Route("/", page),
        Route("/game/{id}", page),
        Route("/static/{name}", static),
        Route("/font/{weight}.ttf", font),
        Route(f"{table}/transcript", transcript),
        *(Route(path, _json(answer)) for path, answer in read.items()),
        *(Route(path, _json(answer), methods=["POST"]) for path, answer in change.items()),
    ]
    return Guard(Starlette(routes=routes), port, token)


FILES = {path.name for path in STATIC.glob("*.*")}


def _number(asked: Answer, name: str) -> int:
    number = asked.get(name)
    if type(number) is not int:
        raise ValueError(f"the request needs {name!r}, a whole number; it has {number!r}")
    return number


def _json(answer: Callable[[Request, Answer], Answer]) -> Callable[[Request], Any]:
    """An endpoint that reads JSON, calls `answer` in a thread, and turns its errors into one sentence."""

    async def endpoint(request: Request) -> Response:
        asked: Any = {}
        if request.method == "POST":
            body = bytearray()
            async for part in request.stream():
                body += part
                if len(body) > MOST_BYTES:
                    return JSONResponse({"error": f"the request is longer than {MOST_BYTES} bytes"}, 413)
            try:
                asked = json.loads(bytes(body) or b"{}")
            except ValueError:
                return JSONResponse({"error": "the request is not JSON"}, 400)
            if not isinstance(asked, dict):
                return JSONResponse({"error": "the request is not a JSON object"}, 400)
        try:
            return JSONResponse(await run_in_threadpool(answer, request, asked))
        except Refused as error:
            return JSONResponse({"error": str(error)}, 409)
        except NotFound as error:
            return JSONResponse({"error": str(error)}, 404)
        except (ValueError, OSError) as error:
            return JSONResponse({"error": str(error)}, 400)

    return endpoint
