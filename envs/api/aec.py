"""The PettingZoo face, one class for every game.

Seat ``i`` is the agent ``"player_i"``. The same agent may move several times in a row. What an agent sees is
``{"observation": float32 (size,), "action_mask": int8 (num_actions,)}``; only the mover's mask is not all 0.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from fivedice.envs.core.batch import Batch
from fivedice.envs.core.chance import SCRIPT, new_streams
from fivedice.envs.core.option import Value
from fivedice.envs.core.reward import REWARDS
from fivedice.envs.core.spec import Game, check_reset_options, unknown_name
from fivedice.envs.core.view import View
from fivedice.envs.display.picture import Pictures

Observation: TypeAlias = dict[str, NDArray[Any]]

RENDER_MODES = ("ansi", "human", "rgb_array")
RESET_OPTIONS = ("script", "game")


class Snapshot(NamedTuple):
    """Everything that a running game is, chance included; from `DiceEnv.get_state`, for `DiceEnv.set_state`."""

    game: str
    options: dict[str, Any]
    state: NDArray[np.void]
    stream: NDArray[np.void]
    script: NDArray[np.void]
    # Of each live agent: reward, reward not collected yet, terminated, truncated.
    agents: dict[str, tuple[float, float, bool, bool]]
    selection: str
    skipped: str | None


class DiceEnv(AECEnv[str, Observation, int | None]):
    """A game as a PettingZoo environment.

    Args:
        game: what is played.
        num_players: seats; None for the game's default.
        reward: what agents are paid. ``"win"`` (zero-sum, at the end: the winners share +1, the losers -1), ``"score"``
            (own points as they are scored) or ``"margin"`` (own points less the mean of the others'). None for
            ``"win"``, or ``"score"`` with one seat.
        render_mode: ``"ansi"`` (`render` returns text), ``"human"`` (each change is printed) or None.
        illegal_action: ``"raise"``, or ``"terminate"``: the game ends at once, the mover is paid `illegal_reward` and
            the others 0, as with PettingZoo's ``TerminateIllegalWrapper``.
        illegal_reward: see above.
        options: the game's options by name.
    """

    def __init__(
        self,
        game: Game,
        num_players: int | None = None,
        reward: str | None = None,
        render_mode: str | None = None,
        illegal_action: str = "raise",
        illegal_reward: float = -1.0,
        **options: Any,
    ) -> None:
        super().__init__()
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode={render_mode!r} is not possible; use 'ansi', 'human', 'rgb_array' or None")
        if illegal_action not in ("raise", "terminate"):
            raise ValueError(f"illegal_action={illegal_action!r} is not possible; use 'raise' or 'terminate'")
        self.game = game
        self._batch = Batch(game, 1, num_players=num_players, reward=reward, **options)
        self.render_mode = render_mode
        self._pictures = Pictures() if render_mode == "rgb_array" else None
        self.illegal_action, self.illegal_reward = illegal_action, float(illegal_reward)
        self.metadata = {
            "name": f"{game.name}_v{game.version}",
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": 2,
        }
        self.possible_agents = [f"player_{seat}" for seat in range(self._batch.num_players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        low, high = self._batch.layout.bounds()
        self._observation_space = spaces.Dict(
            {
                "observation": spaces.Box(low, high, dtype=np.float32),
                "action_mask": spaces.Box(0, 1, (self._batch.num_actions,), dtype=np.int8),
            }
        )
        self.observation_spaces = dict.fromkeys(self.possible_agents, self._observation_space)
        self.action_spaces = {agent: spaces.Discrete(self._batch.num_actions) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of what `observe` returns, the same object at each call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """``Discrete(num_actions)``, the same object at each call."""
        return self.action_spaces[agent]

    def __getattr__(self, name: str) -> Any:
        if name in ("agents", "num_agents", "agent_selection", "rewards", "terminations", "truncations", "infos"):
            raise AttributeError(f"{name!r} does not exist before the first game: call reset()")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start a game.

        Args:
            seed: play the first game of this seed; None goes on to the next game of the seed in use.
            options: ``"script"``, a list of faces for the next dice thrown, in slot order and whoever throws, before
                the generator takes over (a 0 leaves that face to it); ``"game"``, which row's game of a batch
                with this seed to play (0), only together with a seed.
        """
        options = {} if options is None else options
        check_reset_options(options, RESET_OPTIONS)
        if seed is None and "game" in options:
            raise ValueError(
                f"options={{'game': {options['game']!r}}} names a game of a seed; give reset() the seed, too"
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
        self._print()

    def observe(self, agent: str) -> Observation:
        """What `agent` sees and may do: fresh arrays, the mask all 0 unless the agent is to move."""
        if agent not in self._seats:
            raise ValueError(unknown_name("agent", agent, self._seats))
        self._require_reset("observe")
        batch = self._batch
        seat = self._seats[agent]
        if not self.agents or self._is_over():
            return self._observe_end(seat)
        if seat == batch.movers[0]:
            return {"observation": batch.observations[0].copy(), "action_mask": batch.masks[0].copy()}
        return {
            "observation": batch.observe(batch.all_rows, np.array([seat], np.int8))[0],
            "action_mask": np.zeros(batch.num_actions, np.int8),
        }

    def _observe_end(self, seat: int) -> Observation:
        """What a seat sees when the game is over, even if it was an illegal action that ended it: no one is to move."""
        batch = self._batch
        observation = batch.observe(batch.all_rows, np.array([seat], np.int8))[0]
        observation[batch.layout.places.get("mover", slice(0))] = 0.0
        return {"observation": observation, "action_mask": np.zeros(batch.num_actions, np.int8)}

    def step(self, action: int | None) -> None:
        """Carry out the selected agent's action; None for an agent whose game is over.

        Raises:
            ValueError: the action is not legal (unless ``illegal_action="terminate"``); the game is as it was.
        """
        self._require_reset("step")
        if not self.agents:
            raise ValueError("the game is over and every agent has left; call reset()")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        batch = self._batch
        if isinstance(action, (bool, np.bool_)) or not isinstance(action, (int, np.integer)):
            raise ValueError(f"action {action!r} of {agent} is not an integer; {batch.explain_legal(0)}")
        if self.illegal_action == "terminate" and not (0 <= action < batch.num_actions and batch.masks[0, action]):
            self._cumulative_rewards[agent] = 0.0
            self.rewards = dict.fromkeys(self.agents, 0.0)
            self.rewards[agent] = self.illegal_reward
            self.infos[agent]["illegal_action"] = batch.explain_illegal(0, int(action))
            self._end()
            return
        batch.step_one(int(action))
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict(zip(self.agents, batch.rewards[0].tolist(), strict=True))
        if batch.terminated[0] or batch.truncated[0]:
            self._end(truncated=bool(batch.truncated[0]))
        else:
            self._accumulate_rewards()
            self.agent_selection = self.possible_agents[batch.movers[0]]
        self._print()

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """What the selected agent sees, was paid since its last action, and whether its game is over."""
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
        self._deads_step_first()

    def render(self) -> str | NDArray[np.uint8] | None:
        """The card, the mover and the dice as text (``"ansi"``), or None after printing it (``"human"``), or as a
        picture, (height, width, 3) uint8, of the same size throughout (``"rgb_array"``)."""
        self._require_reset("render")
        text = self.game.render(self._batch.states[0], self._batch.options)
        if self._pictures is not None:
            return self._pictures.draw(text)
        if self.render_mode == "ansi":
            return text
        if self.render_mode == "human":
            print(text, end="\n\n", flush=True)
        return None

    def close(self) -> None:
        """Nothing is held that would have to be released."""

    def _print(self) -> None:
        if self.render_mode == "human":
            self.render()

    def state(self) -> NDArray[np.float32]:
        """What seat 0 sees, (size,) float32: nothing is hidden in these games, so it is the whole table."""
        self._require_reset("state")
        state: NDArray[np.float32] = self._batch.observe(self._batch.all_rows, np.zeros(1, np.int8))[0]
        return state

    def view(self) -> View:
        """The decision that waits, as a policy takes it: ``policy.act(env.view())`` is an array of one action."""
        self._require_reset("view")
        if not self.agents or self._is_over():
            raise ValueError("the game is over: there is nothing left to decide")
        return self._batch.view()

    def scores(self) -> dict[str, float]:
        """Each seat's points so far."""
        self._require_reset("scores")
        points, _ = self._batch.results(self._batch.all_rows)
        return dict(zip(self.possible_agents, points[0].tolist(), strict=True))

    def get_state(self) -> Snapshot:
        """The running game, chance included, independent of what happens to this environment afterwards."""
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
        """Go on from a snapshot of the same game with the same options."""
        if not isinstance(snapshot, Snapshot):
            raise ValueError(f"{snapshot!r:.60} is not a snapshot; use what get_state() gives")
        here = (f"{self.game.name}_v{self.game.version}", self._settings())
        if (snapshot.game, snapshot.options) != here:
            raise ValueError(
                f"the snapshot is of {snapshot.game} with {snapshot.options}; this is {here[0]} with {here[1]}"
            )
        batch = self._batch
        forms = ((snapshot.state, batch.states), (snapshot.stream, batch.streams))
        if any(getattr(kept, "dtype", None) != own.dtype or kept.shape != own.shape for kept, own in forms):
            raise ValueError("the snapshot's records are not those of this version; take it with get_state() here")
        batch.states[:], batch.streams[:] = snapshot.state, snapshot.stream
        batch.scripts = snapshot.script.copy()
        batch._has_started = True  # so that reset() goes on to the snapshot's next game
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

    def clone(self, seed: int | None = None) -> "DiceEnv":
        """A copy that goes on independently, with the same dice to come, or with dice of another `seed`."""
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
        """The game's options as the rules take them."""
        return self._batch.options

    def _settings(self) -> dict[str, Any]:
        # The kind of reward is among them because a snapshot holds rewards not collected yet.
        return {"num_players": self._batch.num_players, "reward": REWARDS[self._batch.kind], **self.options}

    def _is_over(self) -> bool:
        return any(self.terminations.values()) or any(self.truncations.values())

    def _require_reset(self, method: str) -> None:
        if "agents" not in self.__dict__:
            raise RuntimeError(f"{method}() before the first game: call reset()")


def environment(game: Game) -> tuple[Callable[..., DiceEnv], Callable[..., DiceEnv]]:
    """The functions ``env`` and ``raw_env`` of a game's PettingZoo module.

    Both make the same: the checks that PettingZoo's wrappers add are part of `DiceEnv`.
    """

    def env(**kwargs: Any) -> DiceEnv:
        return DiceEnv(game, **kwargs)

    env.__doc__ = f"{game.title} as a PettingZoo AEC environment; the arguments are those of `DiceEnv`."
    return env, env
