"""The PettingZoo API. One class serves every game.

Seat ``i`` is the agent ``"player_i"``. The same agent may act several times in a row. An observation is
``{"observation": float32 (size,), "action_mask": int8 (num_actions,)}``, or with ``mask_in="info"`` the first array
alone. The mask has non-zero entries only for the agent that is to act.
"""

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from fivedice.envs.core.batch import Batch, one_integer
from fivedice.envs.core.chance import SCRIPT, new_streams
from fivedice.envs.core.marks import Marks
from fivedice.envs.core.option import Value
from fivedice.envs.core.reward import REWARDS, check_illegal
from fivedice.envs.core.spec import Game, check_keywords, check_reset_options, unknown_name
from fivedice.envs.core.view import View
from fivedice.envs.display.drawing import Drawing, draw, mark_last, require_rasteriser
from fivedice.envs.display.window import Window, can_open
from fivedice.envs.display.words import print_text

Observation: TypeAlias = Any  # a dict of two arrays, or one array; see `mask_in`

RENDER_MODES = ("ansi", "human", "rgb_array")
RESET_OPTIONS = ("script", "game")
GIVEN = ("game", "options")  # the parameters of `DiceEnv` that `env` of a game does not take under these names


class Snapshot(NamedTuple):
    """The complete state of a running game, including the random generator.

    `DiceEnv.get_state` returns it and `DiceEnv.set_state` takes it.

    Attributes:
        game: the name and version of the game, such as ``"yum_v0"``.
        options: the number of players, the kind of reward, and the game's options, by name.
        state: (1,) record, the state of the game.
        stream: (1,) record, the position in the stream of random numbers.
        script: (1, length) records, the scripted faces, used and unused.
        agents: for each live agent its last reward, its reward since its last action, terminated, and truncated.
        selection: the agent that is to act.
        skipped: PettingZoo's ``_skip_agent_selection``: the agent that acts after agents whose game is over have left.
    """

    game: str
    options: dict[str, Any]
    state: NDArray[np.void]
    stream: NDArray[np.void]
    script: NDArray[np.void]
    agents: dict[str, tuple[float, float, bool, bool]]
    selection: str
    skipped: str | None


class DiceEnv(AECEnv[str, Observation, int | None]):
    """A game as a PettingZoo AEC environment.

    ``agents``, ``rewards``, ``terminations``, ``truncations`` and ``infos`` exist after the first `reset`. During a
    game the environment can be copied (`clone`, ``copy.deepcopy``) and pickled. A copy throws the same dice as the
    original. A game that reaches its limit of turns is truncated; its rewards are those of a finished game.

    Args:
        game: the game, as `load_game` returns it.
        num_players: the number of agents. Default: the game's default number of players.
        reward: ``"win"``: at the end of the game the winners share +1 and the losers share -1, or all get 0 if everyone
            wins. ``"score"``: at each step the change of the own points. ``"margin"``: at each step the change of the
            own points, minus the mean change of the others' points. Default: ``"win"``, or ``"score"`` with one player.
        render_mode: ``"ansi"``: `render` returns text. ``"human"``: a window shows each position, after `reset` and
            each `step`; without a display, or without ``pip install "fivedice[render]"``, the text is printed instead.
            ``"rgb_array"``: `render` returns a picture; needs ``pip install "fivedice[render]"``. None: no rendering.
            Default: None.
        illegal_action: what happens at an illegal action. ``"raise"``: `step` raises a ValueError and the game does not
            change. ``"terminate"``: the game ends, as with PettingZoo's ``TerminateIllegalWrapper``, and the agent's
            info has a sentence under ``"illegal_action"``. Default: ``"raise"``, because every observation comes with
            the legal actions.
        illegal_reward: with ``illegal_action="terminate"``, the reward of the agent that acted illegally; the others
            get 0. Default: -1.
        mask_in: where the mask is. ``"observation"``: in the observation. ``"info"``: in the info of every live agent,
            under ``"action_mask"``, and an observation is the float32 array alone. Default: ``"observation"``.
        options: the game's options by name. Options that are not given have their default.

    Raises:
        ValueError: an argument is out of range, or the value of an option is unknown.
        TypeError: a keyword is unknown.
        ModuleNotFoundError: ``render_mode="rgb_array"`` without pylunasvg.
    """

    def __init__(
        self,
        game: Game,
        num_players: int | None = None,
        reward: str | None = None,
        render_mode: str | None = None,
        illegal_action: str = "raise",
        illegal_reward: float = -1.0,
        mask_in: str = "observation",
        **options: Any,
    ) -> None:
        super().__init__()
        check_keywords(DiceEnv, game, options)
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode={render_mode!r} is not possible; use 'ansi', 'human', 'rgb_array' or None")
        check_illegal(illegal_action, illegal_reward)
        if mask_in not in ("observation", "info"):
            raise ValueError(f"mask_in={mask_in!r} is not possible; use 'observation' or 'info'")
        self.game = game
        self._batch = Batch(game, 1, num_players=num_players, reward=reward, **options)
        self.render_mode = render_mode
        if render_mode == "rgb_array":
            require_rasteriser()
        self._window = Window(game.title) if render_mode == "human" and can_open() else None
        self._last_step: tuple[NDArray[np.void], int] | None = None  # the state before the last action, and the action
        self.illegal_action, self.illegal_reward = illegal_action, float(illegal_reward)
        self.mask_in = mask_in
        self.metadata = {
            "name": f"{game.name}_v{game.version}",
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": 2,
        }
        self.possible_agents = [f"player_{seat}" for seat in range(self._batch.num_players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        low, high = self._batch.layout.bounds()
        observation_space: spaces.Space[Any] = spaces.Box(low, high, dtype=np.float32)
        self.state_space = observation_space  # of `state`
        if mask_in == "observation":
            mask = spaces.Box(0, 1, (self._batch.num_actions,), dtype=np.int8)
            observation_space = spaces.Dict({"observation": observation_space, "action_mask": mask})
        self.observation_spaces = dict.fromkeys(self.possible_agents, observation_space)
        self.action_spaces = {agent: spaces.Discrete(self._batch.num_actions) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's observations; the same object at each call.

        Returns:
            ``Dict(observation=Box(size,), action_mask=Box(num_actions,))``, or ``Box(size,)`` with
            ``mask_in="info"``. The bounds of the observation lie in [-1, 1].
        """
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's actions, ``Discrete(num_actions)``; the same object at each call."""
        return self.action_spaces[agent]

    def __getattr__(self, name: str) -> Any:
        if name in ("agents", "num_agents", "agent_selection", "rewards", "terminations", "truncations", "infos"):
            raise AttributeError(f"{name!r} does not exist before the first game: call reset()")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start a game.

        Args:
            seed: a non-negative integer: play the first game of this seed. None: play the next game of the current
                seed; the first reset takes a seed from the operating system.
            options: ``"script"``: a list of faces (integers from 1) for the next dice, in slot order, whichever agent
                throws them; 0 stands for a random face. Dice after the end of the list are random.
                ``"game"``: the index (default 0) of the game to play in a batch with this seed; needs a seed.

        Raises:
            ValueError: the seed, the index or a face is out of range, ``"game"`` was given without a seed, or a key is
                probably misspelled.
        """
        options = {} if options is None else options
        check_reset_options(options, RESET_OPTIONS)
        if seed is None and "game" in options:
            raise ValueError(
                f"options={{'game': {options['game']!r}}} needs a seed; call reset(seed=…) with these options"
            )
        script: Sequence[int] = options.get("script", ())
        self._batch.reset(seed, first_game=options.get("game", 0), script=script)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection: str | None = None
        self.agent_selection = self.possible_agents[self._batch.movers[0]]
        self._last_step = None
        self._show_masks()
        self._print()

    def observe(self, agent: str) -> Observation:
        """The observation and the legal actions of any agent, also after the end of the game.

        Returns:
            A dict of two copies. ``"observation"`` is float32 (size,), own seat first, then the others in turn order.
            ``"action_mask"`` is int8 (num_actions,), 1 for each legal action of the agent that is to act. It is all 0
            for the other agents and after the end of the game. With ``mask_in="info"``, the first array alone.

        Raises:
            ValueError: there is no agent with this name.
            RuntimeError: `reset` was not called before.
        """
        if agent not in self._seats:
            raise ValueError(unknown_name("agent", agent, self._seats))
        self._require_reset("observe")
        batch = self._batch
        seat = self._seats[agent]
        if not self.agents or self._is_over():
            observation = batch.observe_end(batch.all_rows, np.array([seat], np.int8))[0]
        elif seat == batch.movers[0]:
            observation = batch.observations[0].copy()
        else:
            observation = batch.observe(batch.all_rows, np.array([seat], np.int8))[0]
        if self.mask_in == "info":
            return observation
        return {"observation": observation, "action_mask": self._mask(seat)}

    def _mask(self, seat: int) -> NDArray[np.int8]:
        """A copy of the mask of a seat. The masks of the batch are all 0 after the end of the game."""
        batch = self._batch
        return batch.masks[0].copy() if seat == batch.movers[0] else np.zeros(batch.num_actions, np.int8)

    def _show_masks(self) -> None:
        """With ``mask_in="info"``, add the masks to new infos. The old ones may belong to the caller."""
        if self.mask_in == "info":
            self.infos = {
                agent: {**info, "action_mask": self._mask(self._seats[agent])} for agent, info in self.infos.items()
            }

    def step(self, action: int | None) -> None:
        """Apply the action of the selected agent.

        Args:
            action: an integer from 0 to num_actions - 1, or an array or tensor of one such integer; None for an agent
                whose game is over.

        Raises:
            ValueError: the action is illegal (unless ``illegal_action="terminate"``) or not an integer, an agent whose
                game is over got an action, or every agent has left. The game does not change.
            RuntimeError: `reset` was not called before.
        """
        self._require_reset("step")
        if not self.agents:
            raise ValueError("the game is over and every agent has left; call reset()")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        batch = self._batch
        number = one_integer(action)
        if number is None:
            raise ValueError(f"action {action!r} of {agent} is not an integer; {batch.explain_legal(0)}")
        if self.illegal_action == "terminate" and not (0 <= number < batch.num_actions and batch.masks[0, number]):
            self._cumulative_rewards[agent] = 0.0
            self.rewards = dict.fromkeys(self.agents, 0.0)
            self.rewards[agent] = self.illegal_reward
            self.infos[agent]["illegal_action"] = batch.explain_illegal(0, number)
            self._end()
            return
        before = batch.states.copy()
        batch.step_one(number)
        self._last_step = before, number
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict(zip(self.agents, batch.rewards[0].tolist(), strict=True))
        if batch.terminated[0] or batch.truncated[0]:
            self._end(truncated=bool(batch.truncated[0]))
        else:
            self._accumulate_rewards()
            self.agent_selection = self.possible_agents[batch.movers[0]]
            self._show_masks()
        self._print()

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """The selected agent's observation, its reward since its last action, and whether its game is over.

        Args:
            observe: False: return None instead of the observation. Default: True.

        Returns:
            The observation as from `observe`, the reward, terminated, truncated, and the agent's info.

        Raises:
            ValueError: the game is over and every agent has left.
            AttributeError: `reset` was not called before.
        """
        try:
            last: tuple[Observation | None, float, bool, bool, dict[str, Any]] = super().last(observe)
        except KeyError:
            raise ValueError("the game is over and every agent has left; call reset()") from None
        return last

    def _end(self, *, truncated: bool = False) -> None:
        self._accumulate_rewards()
        self.terminations = dict.fromkeys(self.agents, not truncated)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self._batch.masks[0] = 0
        self._show_masks()
        self._deads_step_first()

    def render(self) -> str | NDArray[np.uint8] | None:
        """Render the score cards or the board, the seat that is to move, and the dice.

        Returns:
            With ``"ansi"`` text; with ``"rgb_array"`` a picture, uint8 (height, width, 3), of the same size at each
            call. With ``"human"`` a window shows the picture, or the text is printed, and None is returned. Without a
            render mode None.

        Raises:
            RuntimeError: `reset` was not called before.
        """
        self._require_reset("render")
        if self.render_mode == "rgb_array":
            return self.draw().pixels()
        if self.render_mode == "ansi":
            return self._batch.render(0)
        if self._window is not None and self._window.show(self.draw()):
            return None
        if self.render_mode == "human":
            self._window = None
            print_text(self._batch.render(0))
        return None

    def draw(self) -> Drawing:
        """The position and the last action as a vector drawing: SVG text, or pixels. A notebook shows it.

        Raises:
            RuntimeError: `reset` was not called before.
        """
        self._require_reset("draw")
        batch, marks = self._batch, Marks()
        if self._last_step is not None:
            before, action = self._last_step
            marks = mark_last(self.game, before[0], batch.options, action)
        return draw(self.game, batch.states[0], batch.options, marks)

    def _repr_svg_(self) -> str | None:
        return self.draw().svg if "agents" in self.__dict__ else None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()

    def _print(self) -> None:
        if self.render_mode == "human":
            self.render()

    def state(self) -> NDArray[np.float32]:
        """The observation of seat 0, float32 (size,). It is a global view, because these games hide nothing.

        The attribute ``state_space`` is its space, ``Box(size,)``.

        Raises:
            RuntimeError: `reset` was not called before.
        """
        self._require_reset("state")
        state: NDArray[np.float32] = self._batch.observe(self._batch.all_rows, np.zeros(1, np.int8))[0]
        return state

    def view(self) -> View:
        """The selected agent's decision, as policies take it.

        ``policy.act(env.view())`` returns its action as an int64 array of shape (1,).

        Raises:
            ValueError: the game is over.
            RuntimeError: `reset` was not called before.
        """
        self._require_reset("view")
        if not self.agents or self._is_over():
            raise ValueError("the game is over, so there is no decision to make; call reset()")
        return self._batch.view()

    def scores(self) -> dict[str, float]:
        """The points of each agent so far, also of agents that have left.

        Raises:
            RuntimeError: `reset` was not called before.
        """
        self._require_reset("scores")
        points, _ = self._batch.results(self._batch.all_rows)
        return dict(zip(self.possible_agents, points[0].tolist(), strict=True))

    def get_state(self) -> Snapshot:
        """A copy of the complete state of the game, including the random generator, for `set_state`.

        Raises:
            RuntimeError: `reset` was not called before.
        """
        self._require_reset("get_state")
        batch = self._batch
        return Snapshot(
            game=f"{self.game.name}_v{self.game.version}",
            options=self._settings(),
            state=batch.states.copy(),
            stream=batch.streams.copy(),
            script=batch.scripts.copy(),
            agents={
                agent: (
                    self.rewards[agent],
                    self._cumulative_rewards[agent],
                    self.terminations[agent],
                    self.truncations[agent],
                )
                for agent in self.agents
            },
            selection=self.agent_selection,
            skipped=self._skip_agent_selection,
        )

    def set_state(self, snapshot: Snapshot) -> None:
        """Continue from a snapshot of the same game with the same options. ``infos`` have only the masks afterwards.

        Args:
            snapshot: the return value of `get_state`, from this or another environment.

        Raises:
            ValueError: the snapshot is from another game, other options, another number of players, another kind of
                reward, or another version of the game's records.
        """
        if not isinstance(snapshot, Snapshot):
            raise ValueError(f"{snapshot!r:.60} is not a snapshot; use the return value of get_state()")
        here = (f"{self.game.name}_v{self.game.version}", self._settings())
        if (snapshot.game, snapshot.options) != here:
            raise ValueError(
                f"the snapshot is from {snapshot.game} with {snapshot.options}, "
                f"but this environment is {here[0]} with {here[1]}; make one with the same settings"
            )
        batch = self._batch
        forms = ((snapshot.state, batch.states), (snapshot.stream, batch.streams))
        if any(getattr(kept, "dtype", None) != own.dtype or kept.shape != own.shape for kept, own in forms):
            raise ValueError(
                "the snapshot is from a version of the game with other records; take a new one with get_state()"
            )
        self._last_step = None
        batch.states[:], batch.streams[:] = snapshot.state, snapshot.stream
        batch.scripts = snapshot.script.copy()
        batch._has_started = True  # so that reset() starts the next game of the snapshot's seed
        batch.show()
        self.agents = list(snapshot.agents)
        self.rewards = {agent: kept[0] for agent, kept in snapshot.agents.items()}
        self._cumulative_rewards = {agent: kept[1] for agent, kept in snapshot.agents.items()}
        self.terminations = {agent: kept[2] for agent, kept in snapshot.agents.items()}
        self.truncations = {agent: kept[3] for agent, kept in snapshot.agents.items()}
        self.infos = {agent: {} for agent in self.agents}
        self.agent_selection, self._skip_agent_selection = snapshot.selection, snapshot.skipped
        if not self.agents or self._is_over():
            batch.masks[0] = 0
        self._show_masks()

    def clone(self, seed: int | None = None) -> "DiceEnv":
        """An independent copy of the environment and its game.

        Args:
            seed: None: the copy will throw the same dice as the original. A non-negative integer: the copy throws the
                dice of the first game of this seed, and drops its script.

        Raises:
            ValueError: the seed is out of range.
        """
        twin = copy.deepcopy(self)
        if seed is not None:
            twin._batch.streams = new_streams(seed, 1)
            twin._batch.scripts = np.zeros((1, 0), SCRIPT)
        return twin

    @property
    def options(self) -> dict[str, Value]:
        """The game's options by name."""
        return self.game.options_dict(self._batch.options)

    @property
    def options_record(self) -> Any:
        """A copy of the game's options, with the number of players, as the record that the rules take."""
        return self._batch.options.copy()

    def _settings(self) -> dict[str, Any]:
        # The kind of reward is included because a snapshot contains rewards that agents have not received yet.
        return {"num_players": self._batch.num_players, "reward": REWARDS[self._batch.kind], **self.options}

    def _is_over(self) -> bool:
        return any(self.terminations.values()) or any(self.truncations.values())

    def _require_reset(self, method: str) -> None:
        if "agents" not in self.__dict__:
            raise RuntimeError(f"{method}() before the first game: call reset()")


def environment(game: Game) -> tuple[Callable[..., DiceEnv], Callable[..., DiceEnv]]:
    """Make the functions ``env`` and ``raw_env`` of a game's PettingZoo module.

    Both are the same function: `DiceEnv` makes the checks that PettingZoo's wrappers would add.
    """

    def env(*args: Any, **kwargs: Any) -> DiceEnv:
        return DiceEnv(game, *args, **kwargs)

    options = "".join(f"\n    {option.name}: {option.meaning}: {option.valid}." for option in game.rules.OPTIONS)
    env.__doc__ = (
        f"Make {game.title} as a PettingZoo AEC environment.\n\n"
        "`DiceEnv` explains the keywords that all games have in common.\n\n"
        f"Args:\n    num_players: {game.min_players} to {game.max_players}. Default: {game.default_players}.{options}"
    )
    env.__signature__ = signature(game)  # type: ignore[attr-defined]  # functions have it, mypy does not know
    return env, env


def signature(game: Game) -> inspect.Signature:
    """The signature of `env` of a game: the parameters of `DiceEnv` without the game, and the game's options."""
    parameters = inspect.signature(DiceEnv).parameters.values()
    kind, inherited = inspect.Parameter.KEYWORD_ONLY, [each for each in parameters if each.name not in GIVEN]
    options = [
        inspect.Parameter(option.name, kind, default=option.samples[0], annotation=_type_of(option.samples[0]))
        for option in game.rules.OPTIONS
    ]
    return inspect.Signature([*inherited, *options], return_annotation=DiceEnv)


def _type_of(value: Value) -> Any:
    return tuple[int, ...] if isinstance(value, tuple) else type(value)
