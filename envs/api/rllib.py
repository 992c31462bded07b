"""A game as a multi-agent environment of RLlib (``pip install "fivedice[rllib]"``)."""

from collections.abc import Mapping
from typing import Any

from gymnasium import spaces
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from fivedice.envs import load_game
from fivedice.envs.api.aec import DiceEnv

MASK, OBSERVATIONS = "action_mask", "observations"  # the keys that RLlib's ActionMaskingTorchRLModule expects


class DiceMultiAgentEnv(MultiAgentEnv):  # RLlib is Any where types are checked
    """N agents of one game, ``"player_0"``, ``"player_1"``, …, for RLlib's new API stack.

    ``PPOConfig().environment(DiceMultiAgentEnv, env_config={"game": "yum"})`` makes it. An observation is the dict
    ``{"observations": float32 (size,), "action_mask": int8 (num_actions,)}``, as RLlib's `ActionMaskingTorchRLModule`
    expects. `reset` and `step` return the observation of the agent that is to act, and at the end of the game the
    observations of all agents, with masks that are all 0. The rewards of every step are delivered to all agents. What
    an agent is paid before its first decision is delivered with its first step, because RLlib would drop it.

    By default an illegal action ends the game, because RLlib checks an environment by actions that it draws from the
    whole action space. A policy that takes the masks into account never plays one.

    Args:
        config: ``"game"``, the name of the game, and the keywords of `DiceEnv`, such as ``"num_players"`` and
            ``"reward"``.

    Raises:
        ValueError: an argument is out of range.
        TypeError: a keyword is unknown, or there is no ``"game"``.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        keywords = dict(config)
        if "game" not in keywords:
            raise TypeError('the game is missing; use env_config={"game": "yum"}')
        game = keywords.pop("game")
        keywords.setdefault("illegal_action", "terminate")
        self.game_env = DiceEnv(load_game(game) if isinstance(game, str) else game, **keywords)
        self.possible_agents = list(self.game_env.possible_agents)
        self.agents = list(self.possible_agents)  # always all of them: a game ends for all at the same time
        self.observation_spaces, self.action_spaces = {}, {}
        for agent in self.possible_agents:
            space: Any = self.game_env.observation_space(agent)
            self.observation_spaces[agent] = spaces.Dict(
                {OBSERVATIONS: space["observation"], MASK: space["action_mask"]}
            )
            self.action_spaces[agent] = self.game_env.action_space(agent)
        super().__init__()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start a game.

        Args:
            seed, options: as for `DiceEnv.reset`.

        Returns:
            The observation of the agent that is to act, and its info, by its name.
        """
        self.game_env.reset(seed, options)
        self._owed = dict.fromkeys(self.possible_agents, 0.0)
        self._has_acted: set[str] = set()
        mover = self.game_env.agent_selection
        return self._observe([mover]), {mover: {}}

    def step(
        self, action_dict: Mapping[str, int]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Apply the action of the agent that is to act.

        Args:
            action_dict: a legal action, by the name of this agent.

        Returns:
            The observation of the agent that is to act next, or of all agents after the end of the game; the rewards of
            all agents; whether the game is over and whether its limit of turns ended it, for each agent and for
            ``"__all__"``; and the infos.

        Raises:
            ValueError: the action is not that of the agent that is to act, or it is illegal with
                ``illegal_action="raise"``. The game does not change.
        """
        mover = self.game_env.agent_selection
        if set(action_dict) != {mover}:
            raise ValueError(f"actions of {sorted(action_dict)} were given, but {mover} is to act")
        self.game_env.step(int(action_dict[mover]))
        terminated, truncated = self.game_env.terminations[mover], self.game_env.truncations[mover]
        over = terminated or truncated
        shown = self.possible_agents if over else [self.game_env.agent_selection]
        self._has_acted.add(mover)
        rewards = {}
        for agent, reward in self.game_env.rewards.items():
            self._owed[agent] += float(reward)
            is_delivered = over or agent in self._has_acted
            rewards[agent], self._owed[agent] = (self._owed[agent], 0.0) if is_delivered else (0.0, self._owed[agent])
        everyone = [*self.possible_agents, "__all__"]
        infos = {agent: dict(self.game_env.infos[agent]) for agent in shown}
        return (
            self._observe(shown),
            rewards,
            dict.fromkeys(everyone, terminated),
            dict.fromkeys(everyone, truncated),
            infos,
        )

    def _observe(self, agents: list[str]) -> dict[str, Any]:
        shown = {agent: self.game_env.observe(agent) for agent in agents}
        return {agent: {OBSERVATIONS: seen["observation"], MASK: seen["action_mask"]} for agent, seen in shown.items()}
