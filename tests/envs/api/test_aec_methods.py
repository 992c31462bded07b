"""The AEC environment against plain bookkeeping from the rules, and every method and keyword of it by its effect."""

import copy
import importlib
import inspect
import io
import pickle
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from typing import Any

import numpy as np
import pytest

from fivedice.envs import GAMES, load_game
from fivedice.envs.api.aec import RENDER_MODES, RESET_OPTIONS, DiceEnv, Snapshot
from fivedice.envs.core.chance import BLANK, new_script, new_streams
from fivedice.envs.core.spec import Game
from fivedice.envs.display.drawing import draw, mark_last

YUM, JUNIOR, SHOWDOWN = (load_game(name) for name in ("yum", "yahtzee_jr", "showdown_yahtzee"))
FILL = 31
ONES, TWOS, YUMS = FILL, FILL + 1, FILL + 11
AGENT_ATTRIBUTES = ("rewards", "_cumulative_rewards", "terminations", "truncations", "infos")


class Ledger:
    """What an environment must show, from the rules of the game alone."""

    def __init__(
        self,
        game: Game,
        num_players: int,
        reward: str,
        seed: int,
        number: int = 0,
        script: tuple[int, ...] = (),
        **options: Any,
    ) -> None:
        self.game, self.reward = game, reward
        self.options = game.make_options(num_players, options)
        self.chance = (new_streams(seed, 1, number)[0], new_script(script, len(game.face_names)))
        self.state = np.zeros(1, game.rules.STATE)[0]
        game.rules.setup(self.state, self.options, self.chance)
        self.everyone = [f"player_{seat}" for seat in range(num_players)]
        self.agents, self.ended = list(self.everyone), ""
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self.uncollected = dict.fromkeys(self.agents, 0.0)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}

    @property
    def mover(self) -> str:
        return self.agents[0] if self.ended else self.everyone[int(self.game.rules.current_player(self.state))]

    def mask(self) -> np.ndarray:
        mask = np.zeros(self.game.num_actions(self.options), np.int8)
        if not self.ended:
            self.game.rules.legal_actions(self.state, self.options, mask)
        return mask

    def points(self) -> list[float]:
        points = np.zeros(len(self.everyone))
        self.game.rules.scores(self.state, self.options, points)
        return points.tolist()

    def observation(self, agent: str) -> np.ndarray:
        layout = self.game.layout(self.options)
        seen = np.zeros(layout.size, np.float32)
        self.game.observe(self.state, self.options, self.everyone.index(agent), seen)
        if self.ended and "mover" in layout.places:
            seen[layout.places["mover"]] = 0
        return seen

    def step(self, action: int | None) -> None:
        rules, before, mover = self.game.rules, self.points(), self.mover
        if self.ended:
            del self.agents[0]
            self.rewards = dict.fromkeys(self.agents, 0.0)
            return
        rules.apply(self.state, self.options, action, self.chance)
        gains = [after - earlier for after, earlier in zip(self.points(), before, strict=True)]
        if rules.is_terminal(self.state, self.options):
            self.ended = "truncated" if self.game.is_truncated(self.state, self.options) else "terminated"
        self._pay(mover, self._paid(gains))

    def step_illegally(self, said: str, penalty: float) -> None:
        """An illegal action where that ends the game."""
        mover = self.mover
        self.infos[mover]["illegal_action"] = said
        self.ended = "terminated"
        self._pay(mover, [penalty if agent == mover else 0.0 for agent in self.everyone])

    def _pay(self, mover: str, amounts: list[float]) -> None:
        self.uncollected[mover] = 0.0
        self.rewards = dict(zip(self.everyone, amounts, strict=True))
        for agent, amount in self.rewards.items():
            self.uncollected[agent] += amount

    def _paid(self, gains: list[float]) -> list[float]:
        number = len(gains)
        if self.reward == "score":
            return gains
        if self.reward == "margin":
            return [own - (sum(gains) - own) / (number - 1) for own in gains]
        won = np.zeros(number, np.int8)
        if self.ended:
            self.game.rules.winners(self.state, self.options, won)
        winners = int(won.sum())
        if winners in (0, number):
            return [0.0] * number
        return [1 / winners if seat_won else -1 / (number - winners) for seat_won in won]

    def check(self, env: DiceEnv) -> None:
        """The environment shows what the ledger says, of every agent."""
        assert env.agents == self.agents
        assert env.num_agents == len(self.agents)
        assert env.possible_agents == self.everyone
        by_agent = {
            "rewards": self.rewards,
            "_cumulative_rewards": {agent: self.uncollected[agent] for agent in self.agents},
            "terminations": dict.fromkeys(self.agents, self.ended == "terminated"),
            "truncations": dict.fromkeys(self.agents, self.ended == "truncated"),
            "infos": {agent: self.infos[agent] for agent in self.agents},
        }
        assert {name: getattr(env, name) for name in AGENT_ATTRIBUTES} == by_agent
        for agent in self.everyone:
            seen = env.observe(agent)
            assert list(seen) == ["observation", "action_mask"]
            assert seen["observation"].tobytes() == self.observation(agent).tobytes(), agent
            expected = self.mask() if self.agents and agent == self.mover else self.mask() * 0
            assert seen["action_mask"].tolist() == expected.tolist(), agent
        assert env.get_state().state[0].tobytes() == self.state.tobytes()
        assert env.scores() == dict(zip(self.everyone, self.points(), strict=True))
        shown_to_first = np.zeros_like(self.observation("player_0"))
        self.game.observe(self.state, self.options, 0, shown_to_first)
        assert env.state().tobytes() == shown_to_first.tobytes()
        if not self.agents:
            return
        assert env.agent_selection == self.mover
        seen, *rest = env.last()
        assert seen["observation"].tobytes() == self.observation(self.mover).tobytes()
        mover, over = self.mover, self.ended
        assert rest == [self.uncollected[mover], over == "terminated", over == "truncated", self.infos[mover]]
        assert env.last(observe=False) == (None, *rest)
        if not over:
            view = env.view()
            assert (view.game, view.options.tobytes()) == (self.game, self.options.tobytes())
            assert view.states.tobytes() == self.state.tobytes()
            assert view.seats.tolist() == [self.everyone.index(mover)]
            assert view.observations[0].tobytes() == seen["observation"].tobytes()
            assert view.masks[0].tobytes() == seen["action_mask"].tobytes()


def tables() -> Iterator[tuple[Game, int, str, dict[str, Any]]]:
    """Games with few seats and many, in every way of being paid, ending by themselves or cut short."""
    for number, name in enumerate(GAMES):
        game = load_game(name)
        for place, seats in enumerate(sorted({game.min_players, 2, 3, game.max_players})):
            yield game, seats, "score" if seats == 1 else ("win", "score", "margin")[(number + place) % 3], {}
    yield SHOWDOWN, 2, "score", {"max_turns": 5}
    yield JUNIOR, 3, "win", {"tie_break": "share"}


def actions_of(mask: np.ndarray, generator: np.random.Generator) -> int:
    """A legal action, later ones more often: boxes to fill rather than dice to keep."""
    legal = np.flatnonzero(mask)
    return int(legal[-1 - int(len(legal) * generator.random() ** 2)])


@pytest.mark.parametrize(
    ("game", "seats", "reward", "options"), list(tables()), ids=lambda part: getattr(part, "name", str(part))
)
def test_steps__show_every_agent_what_plain_bookkeeping_says(
    game: Game, seats: int, reward: str, options: dict[str, Any]
) -> None:
    env = DiceEnv(game, seats, reward, **options)
    env.reset(seed=seats, options={"game": 2, "script": [3, 1, 0, 2]})
    ledger = Ledger(game, seats, reward, seats, 2, (3, 1, 0, 2), **options)
    generator = np.random.default_rng(seats)
    ledger.check(env)
    while ledger.agents:
        action = None if ledger.ended else actions_of(ledger.mask(), generator)
        env.step(action)
        ledger.step(action)
        ledger.check(env)
    assert ledger.ended == ("truncated" if options == {"max_turns": 5} else "terminated")


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (YUMS, r"action 42 \(fill Yum: 0\)"),
        (-1, "action -1"),
        (43, "action 43"),
        (np.int64(2**40), "action 1099511627776"),
    ],
)
def test_illegal_action__ends_the_game_in_its_books(action: Any, said: str) -> None:
    """The second of three seats errs, while the others have points that they have not collected yet."""
    env = DiceEnv(YUM, 3, "margin", illegal_action="terminate", illegal_reward=-3)
    script = (6, 6, 6, 6, 6, 1, 1, 2, 2, 3, 1, 2, 2, 4, 5, 1, 1, 2, 2, 3)
    env.reset(seed=1, options={"script": script})
    ledger = Ledger(YUM, 3, "margin", 1, script=script)
    for legal in (YUMS, TWOS, TWOS, ONES):
        env.step(legal)
        ledger.step(legal)
    assert ledger.mover == "player_1"
    assert [ledger.uncollected[agent] != 0 for agent in ledger.agents] == [True, True, True]
    for kind in (None, 1.0, "3", True, np.array([1.0]), np.array([1, 2]), np.array(True)):
        with pytest.raises(ValueError, match=r"of player_1 is not an integer; legal are 0 \(keep none\), "):
            env.step(kind)
    ledger.check(env)
    env.step(action)
    ledger.step_illegally(env.infos["player_1"]["illegal_action"], -3.0)
    ledger.check(env)
    words = r" is not legal for player_1; legal are 0 \(keep none\), .* \(fill \w+: [1-9]"
    assert re.match(said + words, env.infos["player_1"]["illegal_action"])
    while ledger.agents:
        env.step(None)
        ledger.step(None)
        ledger.check(env)


# Snapshots and copies.


def started(game: Game = YUM, seed: int | None = 0, script: Any = (), **settings: Any) -> DiceEnv:
    env = DiceEnv(game, **settings)
    env.reset(seed=seed, options={"script": script} if len(script) else None)
    return env


def play(env: DiceEnv, generator: np.random.Generator, steps: int = 100_000) -> None:
    """So many steps, dead ones too, or until everybody has left."""
    for _ in range(steps):
        if not env.agents:
            return
        agent = env.agent_selection
        is_over = env.terminations[agent] or env.truncations[agent]
        env.step(None if is_over else actions_of(env.observe(agent)["action_mask"], generator))


def finish(env: DiceEnv, seed: int = 0) -> DiceEnv:
    play(env, np.random.default_rng(seed))
    return env


def shown(env: DiceEnv) -> tuple[Any, ...]:
    """All that can be seen of an environment, and what decides its future, in a form that can be compared."""
    seen = [[array.tobytes() for array in env.observe(agent).values()] for agent in env.possible_agents]
    attributes = [copy.deepcopy(getattr(env, name)) for name in AGENT_ATTRIBUTES]
    last = repr(env.last(observe=False)) if env.agents else ""
    return seen, attributes, list(env.agents), env.agents and env.agent_selection, last, content(env.get_state())


def content(snapshot: Snapshot) -> dict[str, Any]:
    return {
        name: (part.dtype, part.shape, part.tobytes()) if isinstance(part, np.ndarray) else copy.deepcopy(part)
        for name, part in snapshot._asdict().items()
    }


def mutables(thing: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every array and every container that can be changed, in whatever `thing` holds, games apart: they are shared."""
    if isinstance(thing, (Game, type, np.dtype, str, bytes)) or callable(thing):
        return
    if isinstance(thing, (np.ndarray, np.void)):
        yield path, thing
        return
    if isinstance(thing, (dict, list, set)) or hasattr(thing, "__dict__"):
        yield path, thing
    if isinstance(thing, Mapping):
        parts = {repr(key): value for key, value in thing.items()}
    elif isinstance(thing, (list, tuple, set)):
        names = getattr(thing, "_fields", range(len(thing)))
        parts = dict(zip(map(str, names), thing, strict=True))
    else:
        parts = getattr(thing, "__dict__", {})
    for name, part in parts.items():
        yield from mutables(part, f"{path}.{name}")


def shared(one: Any, other: Any) -> list[tuple[str, str]]:
    """Pairs of parts, one of each, that are the same or overlap in memory."""
    pairs = []
    for place, part in mutables(one):
        for there, found in mutables(other):
            if isinstance(part, (np.ndarray, np.void)) and isinstance(found, (np.ndarray, np.void)):
                if np.shares_memory(part, found):
                    pairs.append((place, there))
            elif part is found:
                pairs.append((place, there))
    return pairs


MOMENTS = {
    "start": (0, ()),
    "within a turn, by a script that records": (1, [BLANK] * 400),
    "later, by a script that ends": (9, [6, 6, 5, 5, 5, 1, 1, 2, 2, 3, 1, 0, 3, 4]),
    "dead steps": (-1, ()),
}


@pytest.fixture(params=[(name, moment) for name in GAMES for moment in MOMENTS], ids=" ".join)
def moment(request: pytest.FixtureRequest) -> DiceEnv:
    """An environment in which something goes on, of every game, at different moments."""
    name, at = request.param
    steps, script = MOMENTS[at]
    limit = {"max_turns": 20} if name == "showdown_yahtzee" else {}
    env = started(load_game(name), 3, script, num_players=3, reward="score", **limit)
    if steps < 0:
        while not any(env.terminations.values()) and not any(env.truncations.values()):
            play(env, np.random.default_rng(1), 1)
        steps = 1
    play(env, np.random.default_rng(1), steps)
    return env


def test_snapshot__shares_nothing_with_the_game(moment: DiceEnv) -> None:
    snapshot = moment.get_state()
    assert {"state", "stream", "script", "agents", "options"} <= {
        path.split(".")[1] for path, _ in mutables(snapshot) if path
    }
    assert shared(snapshot, moment) == []
    other = DiceEnv(moment.game, 3, "score", **moment.options)
    other.set_state(snapshot)
    assert shared(snapshot, other) == []
    assert shared(moment, other) == []


def test_snapshot__stays_as_it_was_whoever_plays_on(moment: DiceEnv) -> None:
    snapshot, before = moment.get_state(), shown(moment)
    kept = content(snapshot)
    finish(moment)
    played_on = shown(moment)
    assert content(snapshot) == kept
    other = started(moment.game, 8, num_players=3, reward="score", **moment.options)
    play(other, np.random.default_rng(2), 5)
    for env in (other, moment, DiceEnv(moment.game, 3, "score", **moment.options)):
        env.set_state(snapshot)
        assert shown(env) == before
        assert shown(finish(env)) == played_on
        assert content(snapshot) == kept
        env.reset()
        assert env.get_state().stream["game"].tolist() == [[0, 1]]


def test_snapshot__is_not_the_game_when_it_is_written_to(moment: DiceEnv) -> None:
    before, snapshot = shown(moment), moment.get_state()
    for array in (snapshot.state, snapshot.stream, snapshot.script):
        array.view(np.uint8)[...] = 7
    snapshot.agents.clear()
    snapshot.options.clear()
    assert shown(moment) == before


COPIES: dict[str, Callable[[DiceEnv], DiceEnv]] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "clone": lambda env: env.clone(),
    "clone with a seed": lambda env: env.clone(seed=5),
}


@pytest.mark.parametrize("way", COPIES)
def test_copy__shares_nothing_and_is_the_same(moment: DiceEnv, way: str) -> None:
    before, twin = shown(moment), COPIES[way](moment)
    assert shared(moment, twin) == []
    assert shown(twin)[:-1] == before[:-1]
    if way != "clone with a seed":
        assert shown(twin) == before
    finish(twin, 3)
    assert shown(moment) == before
    reference = shown(finish(moment, 3))
    if way != "clone with a seed":
        assert shown(twin) == reference
    reset = [env.reset() or shown(env) for env in (moment, twin)]
    assert (reset[0] == reset[1]) == (way != "clone with a seed")


def test_snapshot__of_a_game_that_an_illegal_action_ended() -> None:
    env, other = (started(seed=seed, num_players=3, illegal_action="terminate") for seed in (1, 2))
    play(env, np.random.default_rng(0), 1)
    env.step(-1)
    for dead in range(3):
        other.set_state(env.get_state())
        assert shown(other)[0] == shown(env)[0]
        assert other.agents == env.agents == env.possible_agents[dead:]
        assert other.rewards == env.rewards
        assert other.terminations == env.terminations == dict.fromkeys(env.agents, True)
        assert [other.last()[1:4], other.infos] == [env.last()[1:4], {agent: {} for agent in env.agents}]
        env.step(None)


def changed(part: Any) -> Any:
    """Another value for a part of a snapshot, of its own kind."""
    if isinstance(part, np.ndarray):
        other = part.copy()
        other.view(np.uint8)[...] += 1
        return other
    if isinstance(part, dict):
        key = list(part)[-1]
        value = part[key]
        return {**part, key: (1.5, 2.5, True, False) if isinstance(value, tuple) else not value}
    return "player_1"


TAKEN = ("state", "stream", "script", "agents", "selection", "skipped")


@pytest.mark.parametrize("field", Snapshot._fields)
def test_set_state__takes_each_field_or_refuses_it(field: str) -> None:
    env, other = started(script=[1, 2, 3, 4, 5, 6, 6, 6]), started(seed=3, script=[2] * 8)
    snapshot = env.get_state()
    other.set_state(snapshot._replace(**{field: changed(getattr(snapshot, field))}) if field in TAKEN else snapshot)
    assert (shown(other) == shown(env)) == (field not in TAKEN)
    if field in TAKEN:
        assert (
            content(other.get_state())[field]
            == content(snapshot._replace(**{field: changed(getattr(snapshot, field))}))[field]
        )
    else:
        with pytest.raises(ValueError, match="the snapshot is from"):
            env.set_state(snapshot._replace(**{field: changed(getattr(snapshot, field))}))


@pytest.mark.parametrize("part", ["state", "stream"])
@pytest.mark.parametrize("wrong", [np.zeros(1, np.int8), None, "two rows"], ids=str)
def test_set_state__records_of_another_form_are_refused(part: str, wrong: Any) -> None:
    env = started()
    snapshot, before = env.get_state(), shown(env)
    found = np.concatenate([getattr(snapshot, part)] * 2) if isinstance(wrong, str) else wrong
    with pytest.raises(ValueError, match="the snapshot is from a version of the game with other records"):
        env.set_state(snapshot._replace(**{part: found}))
    assert shown(env) == before


# Every method and every keyword, by its effect.

Case = Callable[[], None]
CASES: dict[str, Case] = {}


def case(name: str) -> Callable[[Case], Case]:
    def keep(check: Case) -> Case:
        assert name not in CASES
        CASES[name] = check
        return check

    return keep


def parameters() -> set[str]:
    """Each public method and property of an environment, and each keyword of each, as ``method.keyword``."""
    found = {f"reset.options.{name}" for name in RESET_OPTIONS}
    for name, member in vars(DiceEnv).items():
        if name.startswith("_") and name != "__init__":
            continue
        keywords = list(inspect.signature(member).parameters)[1:] if callable(member) else []
        found |= {f"{name}.{keyword}" for keyword in keywords} or {name}
    return found


def test_cases__there_is_one_for_every_method_and_keyword() -> None:
    assert set(CASES) == parameters()


@pytest.mark.parametrize("name", sorted(parameters()))
def test_keyword__does_what_it_says(name: str) -> None:
    CASES[name]()


@case("__init__.game")
def _() -> None:
    for name in GAMES:
        env = DiceEnv(load_game(name))
        assert env.game is load_game(name)
        assert env.metadata == {
            "name": f"{name}_v{GAMES[name]}",
            "render_modes": ["ansi", "human", "rgb_array"],
            "is_parallelizable": False,
            "render_fps": 2,
        }


@case("__init__.num_players")
def _() -> None:
    for name in GAMES:
        game = load_game(name)
        for seats in range(game.min_players, game.max_players + 1):
            env = DiceEnv(game, num_players=seats)
            assert env.possible_agents == [f"player_{seat}" for seat in range(seats)]
            assert list(env.observation_spaces) == list(env.action_spaces) == env.possible_agents
            assert env.options_record["num_players"] == seats
        assert len(DiceEnv(game).possible_agents) == game.default_players


@case("__init__.reward")
def _() -> None:
    """Sixes for 30 points by the first of three seats."""
    paid = {"score": [30.0, 0.0, 0.0], "margin": [30.0, -15.0, -15.0], "win": [0.0, 0.0, 0.0], None: [0.0, 0.0, 0.0]}
    for reward, amounts in paid.items():
        env = started(script=[6] * 5, num_players=3, reward=reward)
        env.step(FILL + 5)
        assert list(env.rewards.values()) == amounts, reward
        assert env.get_state().options["reward"] == (reward or "win")
    assert started(num_players=1).get_state().options["reward"] == "score"


@case("__init__.render_mode")
def _() -> None:
    env = started(render_mode="ansi")
    text = env.game.render(env.get_state().state[0], env.options_record)
    assert env.render() == text
    for mode in (*RENDER_MODES, None):
        out = io.StringIO()
        with redirect_stdout(out):
            env = started(render_mode=mode)
            assert env.render_mode == mode
            frame = env.render()
            env.step(0)
            after = env.game.render(env.get_state().state[0], env.options_record)
            finished = env.render()
        printed = [text, text, after, after] if mode == "human" else []
        assert out.getvalue() == "".join(f"{page}\n\n" for page in printed)
        if mode == "rgb_array":
            assert isinstance(frame, np.ndarray)
            assert isinstance(finished, np.ndarray)
            assert (frame.dtype, frame.shape, frame.ndim) == (np.uint8, finished.shape, 3)
            assert (frame != finished).any()
        else:
            assert (frame, finished) == ((text, after) if mode == "ansi" else (None, None))


@case("__init__.illegal_action")
def _() -> None:
    with pytest.raises(ValueError, match="not legal"):
        started().step(-1)
    with pytest.raises(ValueError, match="not legal"):
        started(illegal_action="raise").step(-1)
    env = started(illegal_action="terminate", render_mode="human")
    env.step(-1)
    assert env.terminations == {"player_0": True, "player_1": True}
    with pytest.raises(ValueError, match="the game is over, so there is no decision to make"):
        env.view()
    env.reset()
    assert env.infos == {"player_0": {}, "player_1": {}}


@case("__init__.illegal_reward")
def _() -> None:
    for given, paid in (({}, -1.0), ({"illegal_reward": -7}, -7.0), ({"illegal_reward": 0.25}, 0.25)):
        env = started(illegal_action="terminate", **given)
        env.step(43)
        assert env.rewards == {"player_0": paid, "player_1": 0.0}
        assert isinstance(env.illegal_reward, float)
        assert env.last()[1] == paid


@case("__init__.mask_in")
def _() -> None:
    """The same arrays, in another place; an info that the caller keeps does not change."""
    script = (1, 1, 2, 3, 4, 1, 1, 2, 3, 5)
    usual = started(script=script)
    env = started(script=script, mask_in="info", illegal_action="terminate")
    assert env.observation_space("player_0") == usual.observation_space("player_0")["observation"]
    for action in (0, ONES, 0):
        for agent in env.possible_agents:
            seen, mask = env.observe(agent), env.infos[agent]["action_mask"]
            assert seen.tobytes() == usual.observe(agent)["observation"].tobytes()
            assert env.observation_space(agent).contains(seen)
            assert mask.tobytes() == usual.observe(agent)["action_mask"].tobytes()
            assert (mask.dtype, mask.any()) == (np.int8, agent == env.agent_selection)
        kept = env.last()[4]
        before = kept["action_mask"].copy()
        env.step(action)
        usual.step(action)
        assert kept["action_mask"].tobytes() == before.tobytes()
    twin = started(mask_in="info")
    twin.set_state(env.get_state())
    assert twin.last()[4]["action_mask"].tobytes() == env.last()[4]["action_mask"].tobytes()
    mover = env.agent_selection
    env.step(-1)
    assert "not legal" in env.infos[mover]["illegal_action"]
    assert not any(info["action_mask"].any() for info in env.infos.values())


@case("__init__.options")
def _() -> None:
    for name in GAMES:
        game = load_game(name)
        defaults = {option.name: option.samples[0] for option in game.rules.OPTIONS}
        assert DiceEnv(game).options == defaults
        for option in game.rules.OPTIONS:
            env = DiceEnv(game, **{option.name: option.samples[-1]})
            assert env.options == {**defaults, option.name: option.samples[-1]}
            held = env.options_record[option.name]
            assert np.array_equal(held, option.encode(option.samples[-1]))


@case("reset.seed")
def _() -> None:
    env, streams = DiceEnv(YUM), []
    for seed, episode in ((5, 0), (None, 1), (None, 2), (6, 0), (5, 0), (None, 1)):
        env.reset(seed=seed)
        stream = env.get_state().stream
        assert stream["game"].tolist() == [[0, episode]]
        streams.append(stream.tobytes())
        finish(env, 1)
    assert streams[0] == streams[4]
    assert streams[1] == streams[5]
    assert len(set(streams)) == 4
    started(seed=np.int64(5))  # type: ignore[arg-type]


@case("reset.options")
def _() -> None:
    plain = shown(started(seed=4))
    for options in (None, {}, {"unheard_of": 1}):
        env = DiceEnv(YUM)
        env.reset(4, options)
        assert shown(env) == plain
    with pytest.raises(ValueError, match=r"'gam' is not a known reset option; did you mean 'game'\?"):
        env.reset(4, {"gam": 1})


@case("reset.options.script")
def _() -> None:
    env = started(script=[6, 6, 1, 6, 6, 3])
    assert env.get_state().state["dice"].tolist() == [[1, 6, 6, 6, 6]]
    env.step(0b11110)
    assert env.get_state().state["dice"].tolist() == [[3, 6, 6, 6, 6]]
    env.step(0b11110)
    assert env.get_state().script["face"].tolist() == [[6, 6, 1, 6, 6, 3]]
    unscripted = started()
    unscripted.step(0b11110)
    unscripted.step(0b11110)
    assert env.get_state().stream["drawn"].tolist() == unscripted.get_state().stream["drawn"].tolist()
    # The generator continues with the throw that it would have made without the script.
    unkept = [Counter(game.get_state().state["dice"][0].tolist()) for game in (env, unscripted)]
    assert len((unkept[0] - Counter([6] * 4)) & unkept[1]) == 1
    env.reset(seed=0)
    assert env.get_state().script.shape == (1, 0)


@case("reset.options.game")
def _() -> None:
    """Row 3 of a batch with the same seed."""
    env = DiceEnv(YUM)
    env.reset(seed=7, options={"game": 3})
    assert env.get_state().stream["game"].tolist() == [[3, 0]]
    dice = np.zeros(1, YUM.rules.STATE)
    YUM.rules.setup(dice[0], env.options_record, (new_streams(7, 5)[3], new_script([], 6)))
    assert env.get_state().state.tobytes() == dice.tobytes()
    env.reset()
    assert env.get_state().stream["game"].tolist() == [[3, 1]]
    for wrong in (-1, True, 2.0, "3"):
        with pytest.raises(ValueError, match="is not the index of a game"):
            env.reset(seed=7, options={"game": wrong})


@case("observation_space.agent")
def _() -> None:
    for name in GAMES:
        env = DiceEnv(load_game(name), load_game(name).max_players)
        low, high = env.game.layout(env.options_record).bounds()
        for agent in env.possible_agents:
            space = env.observation_space(agent)
            assert space is env.observation_spaces[agent]
            assert list(space.spaces) == ["action_mask", "observation"]
            assert space["observation"].dtype == np.float32
            assert (space["observation"].low == low).all()
            assert (space["observation"].high == high).all()
            mask = space["action_mask"]
            assert (mask.dtype, mask.shape) == (np.int8, (env.game.num_actions(env.options_record),))
            assert (mask.low == 0).all()
            assert (mask.high == 1).all()
    with pytest.raises(KeyError):
        env.observation_space("player_9")


@case("action_space.agent")
def _() -> None:
    for name in GAMES:
        env = DiceEnv(load_game(name))
        spaces = [env.action_space(agent) for agent in env.possible_agents]
        assert [space.n for space in spaces] == [len(env.game.action_names(env.options_record))] * len(spaces)
        assert len({id(space) for space in spaces}) == len(spaces)  # each samples by a generator of its own
    with pytest.raises(KeyError):
        env.action_space("player_9")


@case("observe.agent")
def _() -> None:
    env = started(num_players=3, script=[6] * 5)
    env.step(YUMS)
    layout = env.game.layout(env.options_record)
    scores = [layout.named(env.observe(agent)["observation"])["score"] for agent in env.possible_agents]
    assert [row.argmax() for row in scores] == [0, 2, 1]
    assert [env.observe(agent)["action_mask"].any() for agent in env.possible_agents] == [False, True, False]
    for agent in env.possible_agents:
        first, second = env.observe(agent), env.observe(agent)
        assert shared(first, second) == shared(first, env) == []
    with pytest.raises(ValueError, match=r"'player_3' is not a known agent; did you mean 'player_\d'"):
        env.observe("player_3")


@case("step.action")
def _() -> None:
    env = started(script=[1, 1, 1, 2, 3, 5, 6])
    env.step(np.int8(0b00111))
    assert env.get_state().state["dice"].tolist() == [[1, 1, 1, 5, 6]]
    env.step(ONES)
    assert env.scores() == {"player_0": 3.0, "player_1": 0.0}
    finish(env)
    with pytest.raises(ValueError, match=r"the game is over and every agent has left; call reset\(\)"):
        env.step(None)


@case("last.observe")
def _() -> None:
    env = started()
    observation, *rest = env.last()
    assert observation is not None
    assert observation["action_mask"].tolist() == env.observe("player_0")["action_mask"].tolist()
    assert env.last(observe=True)[0] is not None
    assert env.last(observe=False) == (None, *rest)
    finish(env)
    for look in (True, False):
        with pytest.raises(ValueError, match=r"every agent has left; call reset\(\)"):
            env.last(look)


@case("render")
def _() -> None:
    assert started().render() is None
    assert "Dice" in str(started(render_mode="ansi").render())


@case("draw")
def _() -> None:
    """The position, with the last action in words; it changes nothing."""
    env = started(script=[1, 1, 1, 2, 3])
    before = shown(env)
    first = env.draw()
    assert shown(env) == before
    assert first == draw(env.game, env.get_state().state[0], env.options_record)
    state = env.get_state().state[0]
    env.step(ONES)
    second = env.draw()
    words = "player_0 fills Ones: 3"
    assert (words in first.svg, words in second.svg) == (False, True)
    marks = mark_last(env.game, state, env.options_record, ONES)
    assert second == draw(env.game, env.get_state().state[0], env.options_record, marks)
    env.reset(0, {"script": [1, 1, 1, 2, 3]})
    assert (env.draw(), shown(env)) == (first, before)
    with pytest.raises(RuntimeError, match=r"reset\(\)"):
        DiceEnv(YUM).draw()


@case("close")
def _() -> None:
    env = started()
    before = shown(env)
    env.close()
    assert shown(env) == before


@case("state")
def _() -> None:
    env = started(num_players=3, script=[6] * 5)
    env.step(YUMS)
    seen = env.state()
    assert seen.tobytes() == env.observe("player_0")["observation"].tobytes()
    seen[:] = 9
    assert env.state().tobytes() == env.observe("player_0")["observation"].tobytes()


@case("view")
def _() -> None:
    """Each view takes one number of the mover's own for its uniforms, and shows copies."""
    env = started()
    before = shown(env)[:-1]
    uniforms = [float(env.view().uniforms[0]) for _ in range(3)]
    assert len(set(uniforms)) == 3
    assert env.get_state().stream["drawn"][0].tolist() == [1, 0, 0, 0, 0, 0, 3, *[0] * 6]
    view = env.view()
    for array in (view.states.view(np.uint8), view.observations, view.masks):
        array[...] = 1
    assert shown(env)[:-1] == before


@case("scores")
def _() -> None:
    env = started(num_players=3, script=[6] * 5 + [1, 1, 1, 2, 2])
    env.step(YUMS)
    env.step(ONES)
    assert env.scores() == {"player_0": 30.0, "player_1": 3.0, "player_2": 0.0}
    points = finish(env).scores()
    assert list(points) == env.possible_agents
    assert points["player_0"] >= 30


@case("get_state")
def _() -> None:
    env = started(JUNIOR, 9, [1, 2, 3, 4, 5], reward="margin", num_players=3)
    snapshot = env.get_state()
    assert snapshot.game == "yahtzee_jr_v0"
    assert snapshot.options == {"num_players": 3, "reward": "margin", "must_score_most": True, "tie_break": "roll"}
    assert snapshot.script.tolist() == [[(face, 0) for face in range(1, 6)]]
    assert snapshot.agents == dict.fromkeys(env.agents, (0.0, 0.0, False, False))
    assert (snapshot.selection, snapshot.skipped) == ("player_0", None)


@case("set_state.snapshot")
def _() -> None:
    env, other = started(seed=1), started(JUNIOR)
    with pytest.raises(ValueError, match=r"the snapshot is from yum_v0 .*, but this environment is yahtzee_jr_v0 with"):
        other.set_state(env.get_state())
    spoiled = started(illegal_action="terminate")
    spoiled.step(-1)
    spoiled.set_state(env.get_state())
    assert shown(spoiled) == shown(env)


@case("clone.seed")
def _() -> None:
    """The dice to come are the first of the seed's game 0, whatever script there was."""
    env = started(seed=0, script=[6] * 20, num_players=3)
    env.step(YUMS)
    twin = env.clone(seed=4)
    assert env.clone(None).get_state().stream.tobytes() == env.get_state().stream.tobytes()
    assert twin.get_state().stream.tobytes() == new_streams(4, 1).tobytes()
    assert twin.get_state().script.shape == (1, 0)
    assert twin.agent_selection == "player_1"
    twin.step(0)
    state = env.get_state().state
    YUM.rules.apply(state[0], env.options_record, 0, (new_streams(4, 1)[0], new_script([], 6)))
    assert twin.get_state().state.tobytes() == state.tobytes()
    assert env.get_state().script.shape == (1, 20)


@case("options")
def _() -> None:
    chosen = {"high_low": "high_first", "crossed_high": "frees_low", "five_alike_full_house": True, "zeros": "free"}
    assert DiceEnv(YUM, **chosen).options == chosen


@case("options_record")
def _() -> None:
    env = DiceEnv(YUM, 4, zeros="free")
    assert env.options_record == YUM.make_options(4, {"zeros": "free"})


def test_environment__module_functions_pass_their_keywords_on() -> None:
    for name in GAMES:
        module = importlib.import_module(f"fivedice.envs.{name}_v{GAMES[name]}")
        for make in (module.env, module.raw_env):
            env = make(
                num_players=3, reward="margin", render_mode="ansi", illegal_action="terminate", illegal_reward=-2
            )
            assert env.game is load_game(name)
            env.reset(seed=1)
            assert env.get_state().options["reward"] == "margin"
            assert (len(env.agents), env.render_mode, env.illegal_action, env.illegal_reward) == (
                3,
                "ansi",
                "terminate",
                -2,
            )
            assert load_game(name).title in str(make.__doc__)


@pytest.mark.parametrize(
    "kind", [np.int8, np.array, lambda action: np.array([action]), lambda action: np.array([[action]], np.uint16)]
)
def test_step__takes_whatever_is_one_integer(kind: Any) -> None:
    env, plain = DiceEnv(YUM), DiceEnv(YUM)
    for each in (env, plain):
        each.reset(seed=1)
    for _ in range(20):
        action = int(np.flatnonzero(plain.observe(plain.agent_selection)["action_mask"])[0])
        plain.step(action)
        env.step(kind(action))
    assert env.state().tolist() == plain.state().tolist()


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_render__for_people_replaces_what_the_terminal_cannot_show(
    monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", out)
    env = DiceEnv(YUM, render_mode="human")
    env.reset(seed=1)
    shown = out.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]  # a BytesIO
    assert "? player_0" in shown
    assert "2 throws left" in shown
