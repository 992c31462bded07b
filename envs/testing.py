"""The conformance suite: what a game, and an environment around it, must do. For ours, and for yours.

    from fivedice.envs.testing import check_env, check_game

    def test_my_wrapper():
        check_env(lambda: MyWrapper(yum_v0.env()))

Each check plays a few games with random legal actions and raises an AssertionError that says what went wrong.
"""

import copy
import math
import pickle
import random
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fivedice.envs.api.aec import DiceEnv
from fivedice.envs.api.transcript import Recorder, parse, replay, write
from fivedice.envs.core.chance import new_script, new_streams
from fivedice.envs.core.reward import REWARDS
from fivedice.envs.core.spec import Game, Options

Env = Any  # a PettingZoo AECEnv, which ships without types
Payoff = Callable[[Env], Mapping[str, float]]
Trace = list[Any]  # what was shown before each step of a game


def check_env(
    make_env: Callable[[], Env],
    *,
    games: int = 3,
    seed: int = 0,
    copies: int = 6,
    illegal_raises: bool = True,
    payoff: Payoff | None = None,
) -> None:
    """Check a PettingZoo environment with action masks.

    Args:
        make_env: makes a new one.
        games: how many games to play in each check.
        seed: of the first game.
        copies: at how many steps of a game it is copied and the copy played to its end; the last steps come on top.
        illegal_raises: whether an illegal action must raise a ValueError; False if your wrapper does otherwise.
        payoff: what each agent must have been paid, in all, by a game that is over.
    """
    masks: dict[tuple[str, bytes], bytes] = {}
    _check_before_reset(make_env())
    for game_seed in range(seed, seed + games):
        with _UntouchedGenerators():
            plain = _play(make_env(), game_seed, check=_Rewards(payoff), masks=masks)
        _expect(_play(make_env(), game_seed) == plain, f"seed {game_seed} does not give the same game twice")
        if illegal_raises:
            tried = _play(make_env(), game_seed, check=_try_illegal)
            _expect(tried == plain, f"an illegal action left its mark on the game of seed {game_seed}")
        copied = _play(make_env(), game_seed, check=_Copies(plain, game_seed, copies))
        _expect(copied == plain, f"playing a copy on changed the game of seed {game_seed} that it was made of")
    _check_next_game(make_env, seed)


def check_game(game: Game, *, games: int = 1, seed: int = 0, **options: Any) -> None:
    """Check a game: its declaration, its rules, and its environments, few seats and many, every reward."""
    _check_declaration(game)
    for num_players in sorted({game.min_players, game.default_players, game.max_players}):
        record = game.make_options(num_players, options)
        for game_seed in range(seed, seed + games):
            _check_rules(game, record, game_seed)
            _check_transcript(game, num_players, options, game_seed)
        for reward in REWARDS if num_players > 1 else ("score",):

            def make_env(num_players: int = num_players, reward: str = reward) -> DiceEnv:
                return DiceEnv(game, num_players, reward, **options)

            _check_spaces(make_env(), game)
            check_env(make_env, games=games, seed=seed, payoff=_payoffs(reward))


def _expect(holds: object, otherwise: str) -> None:
    if not holds:
        raise AssertionError(otherwise)


# An environment.


def _play(
    env: Env,
    seed: int | None,
    check: Callable[[Env], None] | None = None,
    masks: dict[tuple[str, bytes], bytes] | None = None,
) -> Trace:
    """Play one game, with `check` before each step; what was shown before each step, and at the end."""
    env.reset(seed=seed)
    return _play_on(env, 0 if seed is None else seed, 0, check, masks)


def _play_on(
    env: Env,
    seed: int,
    step: int,
    check: Callable[[Env], None] | None = None,
    masks: dict[tuple[str, bytes], bytes] | None = None,
) -> Trace:
    """The rest of a game. The action depends on seed, step and mask alone, so a copy is played on alike."""
    trace: Trace = []
    while env.agents:
        shown = _shown(env)
        trace.append(shown)
        if check is not None:
            check(env)
            unchanged = env.agents and _shown(env) == shown
            _expect(unchanged, f"step {step}: looking, an illegal action or playing a copy on changed the game")
        if masks is not None:
            _check_masks(env, masks)
        agent = env.agent_selection
        if env.terminations[agent] or env.truncations[agent]:
            env.step(None)
        else:
            legal = np.flatnonzero(env.observe(agent)["action_mask"])
            env.step(int(np.random.default_rng((seed, step)).choice(legal)))
        step += 1
    if check is not None:
        check(env)
    return trace


def _shown(env: Env) -> Any:
    """All that an environment shows, in a form that can be compared."""
    seen = {agent: env.observe(agent) for agent in env.possible_agents}
    agents = {
        agent: (float(env.rewards[agent]), env.terminations[agent], env.truncations[agent]) for agent in env.agents
    }
    collected = float(env.last(observe=False)[1])
    arrays = {agent: {name: array.tobytes() for name, array in parts.items()} for agent, parts in seen.items()}
    return env.agent_selection, agents, collected, arrays


def _check_masks(env: Env, masks: dict[tuple[str, bytes], bytes]) -> None:
    """Observations and masks are what the spaces say, fresh, and equal observations have equal masks."""
    for agent in env.possible_agents:
        seen = env.observe(agent)
        for name, space in env.observation_space(agent).items():
            _expect(name in seen, f"{agent} is not shown its {name!r}")
            _expect(seen[name].dtype == space.dtype, f"{name} of {agent} is {seen[name].dtype}, not {space.dtype}")
            _expect(space.contains(seen[name]), f"{name} of {agent} is outside its space")
        mask = seen["action_mask"]
        _expect(mask.dtype == np.int8 and mask.ndim == 1, f"the mask of {agent} is not a row of int8")
        is_live = agent in env.agents and not (env.terminations[agent] or env.truncations[agent])
        if is_live and agent == env.agent_selection:
            _expect(mask.any(), f"{agent} is to move and has no legal action")
        else:
            _expect(not mask.any(), f"{agent} is not to move and yet has legal actions")
        known = masks.setdefault((agent, seen["observation"].tobytes()), mask.tobytes())
        _expect(known == mask.tobytes(), f"{agent} saw the same twice and had different legal actions")
        for array in seen.values():
            array.fill(1)  # the caller's to spoil
        again = env.observe(agent)
        _expect(again["action_mask"].tobytes() == known, f"writing into what {agent} was shown changed the game")


class _Rewards:
    """Collects what `last` delivers to each agent; at the end it must be what the steps paid and what the game pays."""

    def __init__(self, payoff: Payoff | None) -> None:
        self.payoff = payoff
        self.delivered: dict[str, float] = {}
        self.paid: dict[str, float] = {}
        self.finished: list[str] = []

    def __call__(self, env: Env) -> None:
        if not self.delivered:
            self.delivered, self.paid = dict.fromkeys(env.agents, 0.0), dict.fromkeys(env.agents, 0.0)
        for agent in env.agents:
            self.paid[agent] += float(env.rewards[agent])
        if env.agents:
            agent = env.agent_selection
            _, reward, terminated, truncated, _ = env.last()
            self.delivered[agent] += float(reward)
            ended = [env.terminations[other] or env.truncations[other] for other in env.agents]
            _expect(all(ended) or not any(ended), "the agents do not end together")
            if terminated or truncated:
                self.finished.append(agent)
            return
        _expect(sorted(self.finished) == sorted(env.possible_agents), f"only {self.finished} were told of the end")
        due = {"the steps paid": self.paid, **({"the game pays": self.payoff(env)} if self.payoff else {})}
        for said, amounts in due.items():
            for agent, delivered in self.delivered.items():
                _expect(
                    math.isclose(delivered, amounts[agent], abs_tol=1e-9),
                    f"{agent} was delivered {delivered} in all, but {said} {amounts[agent]}",
                )


def _try_illegal(env: Env) -> None:
    """Every kind of impossible action raises a ValueError; the caller compares what is shown before and after."""
    if not env.agents:
        return
    agent = env.agent_selection
    if env.terminations[agent] or env.truncations[agent]:
        attempts: list[Any] = [0]
    else:
        illegal = np.flatnonzero(env.observe(agent)["action_mask"] == 0).tolist()
        attempts = [*illegal[:1], *illegal[-1:], -1, env.action_space(agent).n, None]
    for action in attempts:
        try:
            env.step(action)
        except ValueError:
            continue
        raise AssertionError(f"action {action!r} of {agent} is not legal and was carried out")


class _Copies:
    """Copies the game at some steps in every way there is, and plays each copy to its end."""

    def __init__(self, whole: Trace, seed: int, copies: int) -> None:
        self.whole, self.seed, self.every = whole, seed, max(1, len(whole) // copies)
        self.step = 0

    def __call__(self, env: Env) -> None:
        if env.agents and (self.step % self.every == 0 or self.step >= len(self.whole) - len(env.possible_agents) - 1):
            for way, twin in _copies(env).items():
                rest = _play_on(twin, self.seed, self.step)
                _expect(rest == self.whole[self.step :], f"step {self.step}: a copy by {way} does not go on alike")
        self.step += 1


def _copies(env: Env) -> dict[str, Env]:
    copies = {"deepcopy": copy.deepcopy(env), "pickle": pickle.loads(pickle.dumps(env))}
    if hasattr(env, "clone"):
        copies["clone()"] = env.clone()
    if isinstance(env, DiceEnv):
        twin = copy.deepcopy(env)
        twin.reset(seed=1)
        twin.set_state(pickle.loads(pickle.dumps(env.get_state())))
        copies["set_state()"] = twin
    return copies


def _check_before_reset(env: Env) -> None:
    """Agents and spaces exist before the first game."""
    for agent in env.possible_agents:
        _expect(env.observation_space(agent) is env.observation_space(agent), "observation_space makes new ones")
        _expect(env.action_space(agent) is env.action_space(agent), "action_space makes new ones")
        mask = env.observation_space(agent)["action_mask"]
        _expect(mask.shape == (env.action_space(agent).n,), f"mask and action space of {agent} differ in size")


def _check_next_game(make_env: Callable[[], Env], seed: int) -> None:
    """`reset` without a seed goes on to other games, the same ones after the same seed."""
    first, second = ([_play(env, seed), _play(env, None), _play(env, seed)] for env in (make_env(), make_env()))
    _expect(first == second, "the games after a seeded one differ from run to run")
    _expect(first[0] == first[2], "reset with the same seed does not start the same game again")
    _expect(first[0][0] != first[1][0] or first[0] != first[1], "reset without a seed plays the same game again")


class _UntouchedGenerators:
    """Global random generators are neither read nor moved."""

    def __enter__(self) -> None:
        self._before = self._states()

    def __exit__(self, *_: object) -> None:
        for name, before, after in zip(("random", "numpy", "torch"), self._before, self._states(), strict=True):
            _expect(before == after, f"the global generator of {name} was moved")

    @staticmethod
    def _states() -> tuple[Any, ...]:
        torch = sys.modules.get("torch")
        numpy_state: Any = np.random.get_state(legacy=True)  # noqa: NPY002  # the one that must stay as it is
        numpy_state = (numpy_state[1].tobytes(), *numpy_state[2:])
        return random.getstate(), numpy_state, bytes(torch.get_rng_state().numpy()) if torch else b""


# A game.


def _check_declaration(game: Game) -> None:
    _expect(not game.rules.STATE.hasobject, "the state holds Python objects")
    _expect(game.min_players <= game.default_players <= game.max_players, "the default number of seats is not possible")
    _expect(
        pickle.loads(pickle.dumps(game)) is game and copy.deepcopy(game) is game, "a copy of the game is another game"
    )
    for option in game.rules.OPTIONS:
        for choice in option.samples:
            _expect(option.decode(option.encode(choice)) == choice, f"{option.name}={choice!r} is not kept")
    for num_players in range(game.min_players, game.max_players + 1):
        options = game.make_options(num_players)
        actions = game.action_names(options)
        _expect(len(set(actions)) == len(actions), "two actions have one name")
        layout = game.layout(options)
        names = [field.name for field in layout.fields]
        low, high = layout.bounds()
        _expect(len(set(names)) == len(names), "two fields of the observation have one name")
        _expect(low.shape == high.shape == (layout.size,), "the bounds and the size of the observation differ")
        _expect((low >= -1).all() and (high <= 1).all(), "the observation is not scaled into [-1, 1]")


def _check_spaces(env: DiceEnv, game: Game) -> None:
    for agent in env.possible_agents:
        space: Any = env.observation_space(agent)
        size = game.layout(env.options_record).size
        _expect(space["observation"].shape == (size,), f"the observation space of {agent} is not of size {size}")
        actions: Any = env.action_space(agent)
        _expect(actions.n == game.num_actions(env.options_record), f"the action space of {agent} is not the game's")


def _check_rules(game: Game, options: Options, seed: int) -> None:
    """Play one game by the rules alone."""
    rules, num_players = game.rules, int(options["num_players"])
    layout = game.layout(options)
    streams, script = new_streams(seed, 1), new_script([], 6)
    generator = np.random.default_rng(seed)
    states = np.frombuffer(bytes([170]) * rules.STATE.itemsize, rules.STATE).copy()  # setup must write all of it
    fresh = np.zeros(1, rules.STATE)
    rules.setup(states[0], options, (streams[0], script))
    rules.setup(fresh[0], options, (new_streams(seed, 1)[0], script))
    _expect(states.tobytes() == fresh.tobytes(), "setup leaves something of the last game in the state")
    decisions = [0] * num_players
    points = np.zeros(num_players)
    while True:
        mask = _mask(game, states[0], options)
        over = bool(rules.is_terminal(states[0], options))
        _expect(over != mask.any(), "a game is over exactly when there is no legal action")
        for seat in range(num_players):
            _check_observation(game, layout, states[0], options, seat)
        _expect(game.render(states[0], options), "the game renders as nothing")
        rules.scores(states[0], options, points)
        _expect(np.isfinite(points).all(), "the points are not finite")
        if over:
            break
        mover = int(rules.current_player(states[0]))
        _expect(0 <= mover < num_players, f"seat {mover} is to move and there are {num_players}")
        decisions[mover] += 1
        legal = np.flatnonzero(mask).tolist()
        _check_told(game, states, options, streams, legal)
        shown = np.zeros(layout.size, np.float32)
        game.observe(states[0], options, mover, shown)
        action = int(generator.choice(legal))
        rules.apply(states[0], options, action, (streams[0], script))
        if game.observe_throw is not None and action < game.num_keeps:
            _check_throw(game, states[0], options, mover, shown)
    _expect(int(rules.current_player(states[0])) == mover, "after the end, current_player is not the last mover")
    if options == game.make_options(num_players):
        _expect(
            max(decisions) <= game.max_decisions_per_seat,
            f"a seat had {max(decisions)} decisions; max_decisions_per_seat={game.max_decisions_per_seat}",
        )
    won = np.zeros(num_players, np.int8)
    rules.winners(states[0], options, won)
    _expect(won.any() and set(won.tolist()) <= {0, 1}, f"the winners are {won}")


def _mask(game: Game, state: Any, options: Options) -> NDArray[np.int8]:
    mask = np.full(game.num_actions(options), 7, np.int8)
    before = state.tobytes()
    game.rules.legal_actions(state, options, mask)
    _expect(set(mask.tolist()) <= {0, 1}, "legal_actions leaves a part of the mask unwritten")
    _expect(state.tobytes() == before, "legal_actions changes the state")
    return mask


def _check_observation(game: Game, layout: Any, state: Any, options: Options, seat: int) -> None:
    observation = np.full(layout.size, np.nan, np.float32)
    game.observe(state, options, seat, observation)
    for field in layout.fields:
        values = observation[layout.places[field.name]]
        _expect(not np.isnan(values).any(), f"the observation's {field.name} is not written")
        inside = ((values >= field.low) & (values <= field.high)).all()
        _expect(inside, f"the observation's {field.name} is outside {field.low} to {field.high}")


def _check_throw(game: Game, state: Any, options: Options, thrower: int, shown: NDArray[np.float32]) -> None:
    """The seat that has thrown is to move, and `shown`, what it saw before, becomes what it sees."""
    if game.rules.is_terminal(state, options):
        return
    _expect(int(game.rules.current_player(state)) == thrower, "another seat moves after one of the num_keeps actions")
    whole = np.zeros_like(shown)
    game.observe(state, options, thrower, whole)
    if game.observe_throw is not None:
        game.observe_throw(state, options, thrower, shown)
        _expect(shown.tobytes() == whole.tobytes(), "observe_throw leaves what a throw changes as it was")


def _check_told(game: Game, states: NDArray[np.void], options: Options, streams: Any, legal: list[int]) -> None:
    """Legal actions have words, and those that are told alike come to the same."""
    told: dict[str, bytes] = {}
    for action in legal:
        words = game.name_action(states[0], options, action)
        _expect(words, f"action {action} has no name")
        after, twin = states.copy(), streams.copy()
        script = new_script([1, 2, 3, 4, 5, 6] * 20, 6)
        game.rules.apply(after[0], options, action, (twin[0], script))
        _expect(
            told.setdefault(words, after.tobytes()) == after.tobytes(),
            f"two actions are told as {words!r} and do not come to the same",
        )


def _check_transcript(game: Game, num_players: int, options: Mapping[str, Any], seed: int) -> None:
    recorder = Recorder(DiceEnv(game, num_players, **options))
    _play(recorder, seed)
    text = write(recorder.transcript())
    _expect(write(replay(parse(text)).transcript()) == text, "a transcript does not replay")


def _payoffs(reward: str) -> Payoff:
    """What each agent must have been paid by a finished game, told apart from how the environment pays."""

    def payoff(env: DiceEnv) -> dict[str, float]:
        points = env.scores()
        if reward == "score":
            return points
        if reward == "margin":
            others = len(points) - 1
            return {agent: own - (sum(points.values()) - own) / others for agent, own in points.items()}
        won = np.zeros(len(points), np.int8)
        env.game.rules.winners(env.get_state().state[0], env.options_record, won)
        if won.all():
            return dict.fromkeys(points, 0.0)
        shares = np.where(won, 1 / won.sum(), -1 / max(1, (1 - won).sum()))
        return dict(zip(points, shares.tolist(), strict=True))

    return payoff
