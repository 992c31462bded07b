"""One seat of a game as a Gymnasium environment; the other seats are played by policies."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fivedice.envs import load_game
from fivedice.envs.api.table import Opponents, Table
from fivedice.envs.core.spec import Game, check_reset_options
from fivedice.envs.display.picture import Pictures


class SeatEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """One seat of a game, as ``gymnasium.make("fivedice/Yum-v0", opponents="greedy")`` makes it.

    An observation is float32 (size,), the table of the game's page. The legal actions are in
    ``info["action_mask"]``, int8 (num_actions,), and in `action_masks`, bool, where sb3-contrib looks for them. A
    reward is everything that the seat was paid from one of its decisions to its next. At the end of a game the info
    also has ``score`` (points), ``rank`` (1 for a win, alone or shared), ``seat`` and ``opponents`` (names).

    Args:
        game: what is played, or its name.
        opponents: a policy or its name for all other seats, or a list with one for each in turn order.
        seat: the seat that is played here, or ``"random"`` for one drawn anew for each game.
        num_players: seats; None for the game's default.
        reward: ``"win"``, ``"score"`` or ``"margin"``; None for ``"win"``, or ``"score"`` with one seat.
        render_mode: ``"ansi"`` for text, ``"rgb_array"`` for pictures (``pip install "fivedice[plot]"``), or None.
        options: the game's options by name.
    """

    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 2}  # noqa: RUF012  # Gymnasium's own form

    def __init__(
        self,
        game: str | Game,
        opponents: Opponents = "random",
        seat: int | str = "random",
        num_players: int | None = None,
        reward: str | None = None,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        if render_mode not in (None, "ansi", "rgb_array"):
            raise ValueError(f"render_mode={render_mode!r} is not possible; use 'ansi', 'rgb_array' or None")
        self.render_mode = render_mode
        self._pictures = Pictures() if render_mode == "rgb_array" else None
        self.game = load_game(game) if isinstance(game, str) else game
        self.table = Table(
            self.game, 1, opponents=opponents, seat=seat, num_players=num_players, reward=reward, **options
        )
        low, high = self.table.batch.layout.bounds()
        self.observation_space = spaces.Box(low, high, dtype=np.float32)
        self.action_space = spaces.Discrete(self.table.batch.num_actions)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start a game and play on to this seat's first decision.

        Args:
            seed: play the first game of this seed; None goes on to the next game of the seed in use.
            options: ``"script"``, a list of faces for the next dice thrown, before the generator takes over.
        """
        super().reset(seed=seed)
        options = {} if options is None else options
        check_reset_options(options, ("script",))
        self.table.reset(seed, options.get("script", ()))
        return self.table.batch.observations[0].copy(), self._info()

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Carry out an action of this seat and play on to its next decision, or the end of the game.

        Raises:
            ValueError: the action is not legal; the game is as it was.
        """
        actions = np.asarray(action)
        if actions.size != 1:
            raise ValueError(f"action {action!r} is not one integer")
        self.table.step(actions.reshape(1))
        terminated, truncated = bool(self.table.batch.terminated[0]), bool(self.table.batch.truncated[0])
        info = self._info()
        observation = self.table.batch.observations[0].copy()
        if terminated or truncated:
            outcome = self.table.outcome(self.table.batch.all_rows)
            observation = outcome.observations[0]
            info |= {
                "score": float(outcome.scores[0]),
                "rank": int(outcome.ranks[0]),
                "seat": int(self.table.seats[0]),
                "opponents": self.table.opponents(0),
            }
        return observation, float(self.table.paid[0]), terminated, truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions, bool (num_actions,), as sb3-contrib asks for them."""
        self.table.require_reset("action_masks")
        masks: NDArray[np.bool_] = self.table.batch.masks[0].astype(np.bool_)
        return masks

    def render(self) -> str | NDArray[np.uint8] | None:
        """The card, the mover and the dice as text, or as a picture, (height, width, 3) uint8."""
        self.table.require_reset("render")
        if self.render_mode is None:
            return None
        text = self.game.render(self.table.batch.states[0], self.table.batch.options)
        return text if self._pictures is None else self._pictures.draw(text)

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.table.batch.masks[0].copy()}
