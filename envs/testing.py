"""The conformance suite: tests of the contract of a game or a PettingZoo environment.

    from fivedice.envs import yum_v0
    from fivedice.envs.testing import check_env, check_game

    def test_my_wrapper():
        check_env(lambda: MyWrapper(yum_v0.env()))

Each check plays a few games with random legal actions. It raises an AssertionError with the first fault that it finds.
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
from fivedice.envs.core.spec import Game, Options, check_keywords

Env = Any  # a PettingZoo AECEnv, which ships without types
Payoff = Callable[[Env], Mapping[str, float]]
Trace = list[Any]  # what the environment showed before each step of a game, as `_shown` returns it


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

    The check verifies that

    - observations and masks are contained in their spaces, and only the agent to move has legal actions
    - equal observations have equal masks
    - `last` returns every reward exactly once, and reports the end of the game once to each agent
    - a seed determines the game, and the global random generators are not used
    - an illegal action raises a ValueError and changes nothing
    - copies continue identically and share nothing with the original.

    Args:
        make_env: a function that returns a new environment. Observations are dictionaries with the keys
            ``"observation"`` and ``"action_mask"``, or arrays, and the info of each live agent then has the mask under
            ``"action_mask"``.
        games: the number of games to play in each check. Their seeds are `seed`, `seed` + 1, …
        seed: the seed of the first game, at least 0.
        copies: at about how many evenly spaced steps each game is copied, at least 1. The last steps are always added.
            Each copy is played to its end.
        illegal_raises: whether an illegal action must raise a ValueError. Set it to False if your wrapper treats
            illegal actions differently; they are then not tried.
        payoff: a function of an environment whose game is over. It returns the total reward that each agent must have
            received, by agent. None skips this comparison.

    Raises:
        AssertionError: the environment breaks the contract. The message says what is wrong.
    """
    masks: dict[tuple[str, bytes], bytes] = {}
    _check_before_reset(make_env())
    for game_seed in range(seed, seed + games):
        with _UntouchedGenerators():
            plain = _play(make_env(), game_seed, check=_Rewards(payoff), masks=masks)
        _expect(
            _play(make_env(), game_seed) == plain,
            f"seed {game_seed}: two games with the same actions differ; the seed must determine the game",
        )
        if illegal_raises:
            tried = _play(make_env(), game_seed, check=_try_illegal)
            _expect(tried == plain, f"seed {game_seed}: illegal actions changed the rest of the game")
        copied = _play(make_env(), game_seed, check=_Copies(plain, game_seed, copies))
        _expect(copied == plain, f"seed {game_seed}: steps of a copy changed the rest of the original game")
    _check_next_game(make_env, seed)


def check_game(game: Game, *, games: int = 1, seed: int = 0, **options: Any) -> None:
    """Check a game: its declaration, its rules, its transcripts and its environments.

    The smallest, the default and the largest number of players are checked, with every reward. `check_env` checks the
    environments.

    Args:
        game: the game to check.
        games: the number of games to play in each check.
        seed: the seed of the first game, at least 0.
        **options: the game's options. Options that are not given have their default values.

    Raises:
        AssertionError: the game breaks the contract. The message says what is wrong.
        TypeError: the game has no option of this name.
        ValueError: an option has an invalid value.
    """
    check_keywords(check_game, game, options)
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


def _expect(condition: object, message: str) -> None:
    if not condition:
        raise AssertionError(message)


# Checks of an environment.


def _play(
    env: Env,
    seed: int | None,
    check: Callable[[Env], None] | None = None,
    masks: dict[tuple[str, bytes], bytes] | None = None,
) -> Trace:
    """Play one game and return its trace. `check` is called before each step and at the end."""
    env.reset(seed=seed)
    return _play_on(env, 0 if seed is None else seed, 0, check, masks)


def _play_on(
    env: Env,
    seed: int,
    step: int,
    check: Callable[[Env], None] | None = None,
    masks: dict[tuple[str, bytes], bytes] | None = None,
) -> Trace:
    """Play the rest of a game. Actions depend only on seed, step and mask, so a copy gets the same actions."""
    trace: Trace = []
    while env.agents:
        shown = _shown(env)
        trace.append(shown)
        if check is not None:
            check(env)
            unchanged = env.agents and _shown(env) == shown
            _expect(unchanged, f"step {step}: last(), an illegal action or a step of a copy changed the game")
        if masks is not None:
            _check_masks(env, masks)
        agent = env.agent_selection
        if env.terminations[agent] or env.truncations[agent]:
            env.step(None)
        else:
            legal = np.flatnonzero(_seen(env, agent)["action_mask"])
            env.step(int(np.random.default_rng((seed, step)).choice(legal)))
        step += 1
    if check is not None:
        check(env)
    return trace


def _shown(env: Env) -> Any:
    """Everything that an environment shows, in a form that ``==`` can compare."""
    seen = {agent: _seen(env, agent) for agent in env.possible_agents}
    agents = {
        agent: (float(env.rewards[agent]), env.terminations[agent], env.truncations[agent]) for agent in env.agents
    }
    collected = float(env.last(observe=False)[1])
    arrays = {agent: {name: array.tobytes() for name, array in parts.items()} for agent, parts in seen.items()}
    return env.agent_selection, agents, collected, arrays


def _seen(env: Env, agent: str) -> dict[str, NDArray[Any]]:
    """The observation of an agent and its mask, wherever the environment shows it; no mask if the agent has left."""
    seen = env.observe(agent)
    if isinstance(seen, Mapping):
        return dict(seen)
    mask = env.infos[agent]["action_mask"] if agent in env.agents else np.zeros(env.action_space(agent).n, np.int8)
    return {"observation": seen, "action_mask": np.array(mask)}


def _spaces(env: Env, agent: str) -> dict[str, Any]:
    """The spaces of what `_seen` returns; without the mask if it is in the info."""
    space = env.observation_space(agent)
    return dict(space.items()) if isinstance(space, Mapping) else {"observation": space}


def _check_masks(env: Env, masks: dict[tuple[str, bytes], bytes]) -> None:
    """Observations and masks fit their spaces and are copies. Equal observations have equal masks."""
    for agent in env.possible_agents:
        seen = _seen(env, agent)
        for name, space in _spaces(env, agent).items():
            _expect(name in seen, f"observe({agent!r}) has no {name!r}, which is in its observation space")
            dtype = seen[name].dtype
            _expect(dtype == space.dtype, f"{name} of {agent} has dtype {dtype}, but its space has {space.dtype}")
            _expect(space.contains(seen[name]), f"{name} of {agent} has a shape or values outside its space")
        mask = seen["action_mask"]
        _expect(
            mask.dtype == np.int8 and mask.ndim == 1, f"the action mask of {agent} is not a one-dimensional int8 array"
        )
        is_live = agent in env.agents and not (env.terminations[agent] or env.truncations[agent])
        if is_live and agent == env.agent_selection:
            _expect(mask.any(), f"{agent} is to move, but its action mask has no legal action")
        else:
            _expect(not mask.any(), f"{agent} is not to move, but its action mask has legal actions")
        known = masks.setdefault((agent, seen["observation"].tobytes()), mask.tobytes())
        _expect(known == mask.tobytes(), f"{agent} had equal observations with different action masks")
        for array in seen.values():
            array.fill(1)  # a caller may write into what it got
        again = _seen(env, agent)
        _expect(
            again["action_mask"].tobytes() == known,
            f"writing into what observe({agent!r}) returned changed its mask; return copies",
        )


class _Rewards:
    """Sums the rewards that `last` returns. At the end it compares them with `rewards` and with the payoff."""

    def __init__(self, payoff: Payoff | None) -> None:
        self.payoff = payoff
        self.delivered: dict[str, float] = {}  # by agent, the sum of what `last` returned
        self.paid: dict[str, float] = {}  # by agent, the sum of `rewards` after each step
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
            _expect(
                all(ended) or not any(ended),
                "the game is over for some agents only; it must end for all of them in the same step",
            )
            if terminated or truncated:
                self.finished.append(agent)
            return
        _expect(
            sorted(self.finished) == sorted(env.possible_agents),
            f"last() reported the end of the game to {self.finished}, not once to each agent",
        )
        expected = {"the sum of its rewards": self.paid, **({"its payoff": self.payoff(env)} if self.payoff else {})}
        for name, amounts in expected.items():
            for agent, delivered in self.delivered.items():
                _expect(
                    math.isclose(delivered, amounts[agent], abs_tol=1e-9),
                    f"{agent} got {delivered} in total from last(), but {name} is {amounts[agent]}",
                )


def _try_illegal(env: Env) -> None:
    """Every kind of illegal action raises a ValueError. The caller compares what is shown before and after."""
    if not env.agents:
        return
    agent = env.agent_selection
    if env.terminations[agent] or env.truncations[agent]:
        attempts: list[Any] = [0]
    else:
        illegal = np.flatnonzero(_seen(env, agent)["action_mask"] == 0).tolist()
        attempts = [*illegal[:1], *illegal[-1:], -1, env.action_space(agent).n, None]
    for action in attempts:
        try:
            env.step(action)
        except ValueError:
            continue
        raise AssertionError(f"action {action!r} of {agent} is illegal, but step() did not raise a ValueError")


class _Copies:
    """Copies the environment in every way at some steps of a game, and plays each copy to its end."""

    def __init__(self, whole: Trace, seed: int, copies: int) -> None:
        self.whole, self.seed, self.every = whole, seed, max(1, len(whole) // copies)
        self.step = 0

    def __call__(self, env: Env) -> None:
        if env.agents and (self.step % self.every == 0 or self.step >= len(self.whole) - len(env.possible_agents) - 1):
            for way, twin in _copies(env).items():
                rest = _play_on(twin, self.seed, self.step)
                _expect(
                    rest == self.whole[self.step :], f"step {self.step}: a copy by {way} does not continue identically"
                )
        self.step += 1


def _copies(env: Env) -> dict[str, Env]:
    """A copy of the environment for each way to copy it, by the name of the way."""
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
    """Agents and spaces exist before the first `reset`."""
    for agent in env.possible_agents:
        _expect(
            env.observation_space(agent) is env.observation_space(agent),
            "observation_space() returns a new object at each call",
        )
        _expect(env.action_space(agent) is env.action_space(agent), "action_space() returns a new object at each call")
        size = env.action_space(agent).n
        shape = _spaces(env, agent)["action_mask"].shape if "action_mask" in _spaces(env, agent) else (size,)
        _expect(shape == (size,), f"the action mask of {agent} has shape {shape}, but there are {size} actions")


def _check_next_game(make_env: Callable[[], Env], seed: int) -> None:
    """`reset` without a seed starts a new game, which the last seed determines."""
    first, second = ([_play(env, seed), _play(env, None), _play(env, seed)] for env in (make_env(), make_env()))
    _expect(first == second, "reset() without a seed does not start the same games after the same seed")
    _expect(first[0] == first[2], "reset() with the same seed starts another game the second time")
    _expect(first[0][0] != first[1][0] or first[0] != first[1], "reset() without a seed starts the same game again")


class _UntouchedGenerators:
    """Within this context nothing changes the state of a global random generator."""

    def __enter__(self) -> None:
        self._before = self._states()

    def __exit__(self, *_: object) -> None:
        for name, before, after in zip(("random", "numpy", "torch"), self._before, self._states(), strict=True):
            _expect(before == after, f"the environment draws from the global random generator of {name}")

    @staticmethod
    def _states() -> tuple[Any, ...]:
        torch = sys.modules.get("torch")
        numpy_state: Any = np.random.get_state(legacy=True)  # noqa: NPY002  # the global generator is what is checked
        numpy_state = (numpy_state[1].tobytes(), *numpy_state[2:])
        return random.getstate(), numpy_state, bytes(torch.get_rng_state().numpy()) if torch else b""


# Checks of a game.


def _check_declaration(game: Game) -> None:
    _expect(not game.rules.STATE.hasobject, "rules.STATE has a field of Python objects; all fields must be numbers")
    _expect(
        game.min_players <= game.default_players <= game.max_players,
        f"default_players={game.default_players} is not in {game.min_players} to {game.max_players}",
    )
    try:
        is_found = pickle.loads(pickle.dumps(game)) is game and copy.deepcopy(game) is game
    except ValueError:  # no module has it
        is_found = False
    _expect(is_found, "pickle or deepcopy does not return the game itself; its package must have it as an attribute")
    for option in game.rules.OPTIONS:
        for choice in option.samples:
            _expect(
                option.decode(option.encode(choice)) == choice,
                f"{option.name}={choice!r} is another value after encode() and decode()",
            )
    for num_players in range(game.min_players, game.max_players + 1):
        options = game.make_options(num_players)
        actions = game.action_names(options)
        _expect(len(set(actions)) == len(actions), "action_names() has the same name for two actions")
        thrown = next((name for name in actions if name.split()[:1] == ["throw"]), "")
        _expect(
            not thrown, f"an action is named {thrown!r}, but 'throws' is for dice in a transcript; say 'roll' instead"
        )
        layout = game.layout(options)
        names = [field.name for field in layout.fields]
        low, high = layout.bounds()
        _expect(len(set(names)) == len(names), "layout() has two fields with the same name")
        _expect(low.shape == high.shape == (layout.size,), "layout.bounds() does not have layout.size values")
        _expect((low >= -1).all() and (high <= 1).all(), "a field of layout() has bounds outside [-1, 1]")


def _check_spaces(env: DiceEnv, game: Game) -> None:
    for agent in env.possible_agents:
        space: Any = env.observation_space(agent)
        size = game.layout(env.options_record).size
        shape = space["observation"].shape
        _expect(shape == (size,), f"the observation space of {agent} has shape {shape}, but the layout has size {size}")
        actions: Any = env.action_space(agent)
        count = game.num_actions(env.options_record)
        _expect(actions.n == count, f"the action space of {agent} has {actions.n} actions, but the game has {count}")


def _check_rules(game: Game, options: Options, seed: int) -> None:
    """Play one game with the functions of the rules, without an environment."""
    rules, num_players = game.rules, int(options["num_players"])
    layout = game.layout(options)
    streams, script = new_streams(seed, 1), new_script([], 6)
    generator = np.random.default_rng(seed)
    states = np.frombuffer(bytes([170]) * rules.STATE.itemsize, rules.STATE).copy()  # setup must overwrite every byte
    fresh = np.zeros(1, rules.STATE)
    rules.setup(states[0], options, (streams[0], script))
    rules.setup(fresh[0], options, (new_streams(seed, 1)[0], script))
    _expect(states.tobytes() == fresh.tobytes(), "setup() leaves values of the previous game in the state")
    decisions = [0] * num_players
    points = np.zeros(num_players)
    while True:
        mask = _mask(game, states[0], options)
        over = bool(rules.is_terminal(states[0], options))
        _expect(over != mask.any(), "is_terminal() must be true exactly when no action is legal")
        for seat in range(num_players):
            _check_observation(game, layout, states[0], options, seat)
        _expect(game.render(states[0], options), "render() returns an empty text")
        rules.scores(states[0], options, points)
        _expect(np.isfinite(points).all(), "scores() writes points that are not finite")
        if over:
            break
        mover = int(rules.current_player(states[0]))
        _expect(0 <= mover < num_players, f"current_player() is {mover}, but there are {num_players} players")
        decisions[mover] += 1
        legal = np.flatnonzero(mask).tolist()
        _check_action_names(game, states, options, streams, legal)
        shown = np.zeros(layout.size, np.float32)
        game.observe(states[0], options, mover, shown)
        action = int(generator.choice(legal))
        rules.apply(states[0], options, action, (streams[0], script))
        if game.observe_throw is not None and action < game.num_keeps:
            _check_throw(game, states[0], options, mover, shown)
    _expect(int(rules.current_player(states[0])) == mover, "current_player() of a finished game is not the last mover")
    if options == game.make_options(num_players):
        _expect(
            max(decisions) <= game.max_decisions_per_seat,
            f"a seat had {max(decisions)} decisions, but max_decisions_per_seat={game.max_decisions_per_seat}",
        )
    won = np.zeros(num_players, np.int8)
    rules.winners(states[0], options, won)
    _expect(
        won.any() and set(won.tolist()) <= {0, 1},
        f"winners() writes {won}; it must write 1 for each winner, at least one, and 0 for the others",
    )


def _mask(game: Game, state: Any, options: Options) -> NDArray[np.int8]:
    """The action mask of the seat to move, after a check of `legal_actions`."""
    mask = np.full(game.num_actions(options), 7, np.int8)
    before = state.tobytes()
    game.rules.legal_actions(state, options, mask)
    _expect(set(mask.tolist()) <= {0, 1}, "legal_actions() does not write 0 or 1 into every entry of the mask")
    _expect(state.tobytes() == before, "legal_actions() changes the state")
    return mask


def _check_observation(game: Game, layout: Any, state: Any, options: Options, seat: int) -> None:
    observation = np.full(layout.size, np.nan, np.float32)
    game.observe(state, options, seat, observation)
    for field in layout.fields:
        values = observation[layout.places[field.name]]
        _expect(not np.isnan(values).any(), f"observe() leaves part of the field {field.name} unwritten")
        inside = ((values >= field.low) & (values <= field.high)).all()
        _expect(inside, f"observe() writes values outside {field.low} to {field.high} into the field {field.name}")


def _check_throw(game: Game, state: Any, options: Options, thrower: int, shown: NDArray[np.float32]) -> None:
    """After a throw the same seat is to move, and `observe_throw` updates `shown`, its observation before the throw."""
    if game.rules.is_terminal(state, options):
        return
    _expect(
        int(game.rules.current_player(state)) == thrower,
        "after one of the first num_keeps actions another seat is to move",
    )
    whole = np.zeros_like(shown)
    game.observe(state, options, thrower, whole)
    if game.observe_throw is not None:
        game.observe_throw(state, options, thrower, shown)
        _expect(shown.tobytes() == whole.tobytes(), "observe_throw() does not update everything that a throw changes")


def _check_action_names(game: Game, states: NDArray[np.void], options: Options, streams: Any, legal: list[int]) -> None:
    """Every legal action has a name. Legal actions with the same name have the same effect."""
    effects: dict[str, bytes] = {}  # by name, the state after the action
    for action in legal:
        name = game.name_action(states[0], options, action)
        _expect(name, f"name_action() returns an empty name for action {action}")
        _expect(
            name.split()[0] != "throw",
            f"name_action() returns {name!r}, but 'throws' is for dice in a transcript; say 'roll' instead",
        )
        after, twin = states.copy(), streams.copy()
        script = new_script([1, 2, 3, 4, 5, 6] * 20, 6)
        game.rules.apply(after[0], options, action, (twin[0], script))
        _expect(
            effects.setdefault(name, after.tobytes()) == after.tobytes(),
            f"two legal actions have the name {name!r}, but different effects",
        )


def _check_transcript(game: Game, num_players: int, options: Mapping[str, Any], seed: int) -> None:
    """The transcript of a game replays to the same transcript."""
    recorder = Recorder(DiceEnv(game, num_players, **options))
    _play(recorder, seed)
    text = write(recorder.transcript())
    _expect(
        write(replay(parse(text)).transcript()) == text, "the replay of a transcript does not have the same transcript"
    )


def _payoffs(reward: str) -> Payoff:
    """The total reward of each agent in a finished game, computed without `fivedice.envs.core.reward`."""

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
