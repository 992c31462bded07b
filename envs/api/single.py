"""One seat of a game as a Gymnasium environment. Policies play the other seats."""

from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fivedice.envs import load_game
from fivedice.envs.api.table import Opponents, Table
from fivedice.envs.core.chance import checked_seed
from fivedice.envs.core.marks import NO_MARKS
from fivedice.envs.core.spec import Game, check_keywords, check_reset_options
from fivedice.envs.display.drawing import Drawing, draw, mark_last, require_rasteriser

Observation: TypeAlias = Any  # float32 (size,), or a dict of two arrays; see `mask_in`

RENDER_MODES = ("ansi", "rgb_array")
MASK_PLACES = ("info", "observation")


def check_modes(render_mode: str | None, mask_in: str) -> None:
    """Raise a ValueError if a Gymnasium environment does not have this render mode, or the mask elsewhere."""
    if render_mode not in (None, *RENDER_MODES):
        raise ValueError(f"render_mode={render_mode!r} is not possible; use 'ansi', 'rgb_array' or None")
    if mask_in not in MASK_PLACES:
        raise ValueError(f"mask_in={mask_in!r} is not possible; use 'info' or 'observation'")


def observation_space(table: Table, mask_in: str) -> spaces.Space[Any]:
    """The space of the observations of one seat; with ``mask_in="observation"``, a dict that includes the mask."""
    low, high = table.batch.layout.bounds()
    box = spaces.Box(low, high, dtype=np.float32)
    if mask_in == "info":
        return box
    mask = spaces.Box(0, 1, (table.batch.num_actions,), dtype=np.int8)
    return spaces.Dict({"observation": box, "action_mask": mask})


class SeatEnv(gymnasium.Env[Observation, np.int64]):
    """One seat of a game. ``gymnasium.make("fivedice/Yum-v0", opponents="greedy")`` makes it.

    An observation is float32 (size,), with the fields that the game's page lists and bounds within [-1, 1]; own seat
    first, then the others in turn order. An action is an integer from 0 to num_actions - 1. The legal actions are in
    ``info["action_mask"]``, int8 (num_actions,), 1 if legal, and in `action_masks`. After the end of the game the mask
    has a 1 for action 0 only: no action is legal, but code that samples from a mask, or takes the highest value in it,
    fails if the mask is all 0. The reward of a step is the sum of all rewards of this seat up to its next decision,
    opponents' turns included. The first step also includes the rewards before this seat's first decision. If a game
    ends before this seat had a decision, the next one starts.

    The info of the last step of a game also has ``"score"`` (points, float), ``"rank"`` (1 for a win, alone or shared),
    ``"seat"`` (the seat that was played) and ``"opponents"`` (names in turn order after this seat). If an illegal
    action ended the game, it also has ``"illegal_action"``, a sentence that says why the action is illegal.
    ``"score"`` is then the points so far, and ``"rank"`` the last place.

    Args:
        game: the game or its name, such as ``"yum"``.
        opponents: a policy, its name or the path of its checkpoint, for all other seats; or a list with one for each in
            turn order after this seat. Default: ``"random"``.
        seat: the seat to play, from 0, or ``"random"``: each game draws one. Default: ``"random"``.
        num_players: the number of players, this seat included. Default: the game's default number of players.
        reward: ``"win"``, ``"score"`` or ``"margin"``, as for `DiceEnv`. Default: ``"win"``, or ``"score"`` with one
            player.
        render_mode: ``"ansi"``: `render` returns text. ``"rgb_array"``: `render` returns a picture; needs
            ``pip install "fivedice[render]"``. None: no rendering. Default: None.
        illegal_action: what happens at an illegal action. ``"terminate"``: the game ends as a loss. ``"raise"``: `step`
            raises a ValueError and the game does not change. Default: ``"terminate"``, because `step` of a Gymnasium
            environment takes every action of the action space.
        illegal_reward: with ``illegal_action="terminate"``, the reward of an illegal action. Default: -1.
        mask_in: where the mask is. ``"info"``: only in the info. ``"observation"``: an observation is the dict
            ``{"observation", "action_mask"}``, and the info has the mask, too. Default: ``"info"``.
        options: the game's options by name. Options that are not given have their default.

    Raises:
        ValueError: an argument is out of range, the value of an option is unknown, or a policy does not exist or cannot
            play the game.
        TypeError: a keyword is unknown.
        ModuleNotFoundError: ``render_mode="rgb_array"`` without pylunasvg.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 2}  # noqa: RUF012  # Gymnasium's own form

    def __init__(
        self,
        game: str | Game,
        opponents: Opponents = "random",
        seat: int | str = "random",
        num_players: int | None = None,
        reward: str | None = None,
        render_mode: str | None = None,
        illegal_action: str = "terminate",
        illegal_reward: float = -1.0,
        mask_in: str = "info",
        **options: Any,
    ) -> None:
        self.game = load_game(game) if isinstance(game, str) else game
        check_keywords(SeatEnv, self.game, options)
        check_modes(render_mode, mask_in)
        self.render_mode, self.mask_in = render_mode, mask_in
        if render_mode == "rgb_array":
            require_rasteriser()
        self.table = Table(
            self.game,
            1,
            opponents=opponents,
            seat=seat,
            num_players=num_players,
            reward=reward,
            illegal_action=illegal_action,
            illegal_reward=illegal_reward,
            **options,
        )
        self.observation_space = observation_space(self.table, mask_in)
        self.action_space = spaces.Discrete(self.table.batch.num_actions)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a game and play up to this seat's first decision.

        Args:
            seed: a non-negative integer: play the first game of this seed. None: play the next game of the current
                seed; the first reset takes a seed from the operating system.
            options: ``"script"``: a list of faces (integers from 1) for the next dice, whichever seat throws them; 0
                stands for a random face. Dice after the end of the list are random.

        Returns:
            The observation and the info.

        Raises:
            ValueError: the seed or a face is out of range, or a key is probably misspelled.
        """
        seed = checked_seed(seed)  # Gymnasium accepts only int
        super().reset(seed=seed)
        options = {} if options is None else options
        check_reset_options(options, ("script",))
        self.table.reset(seed, options.get("script", ()))
        return self._shown(self.table.batch.observations[0].copy()), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Apply an action of this seat, and play up to its next decision or the end of the game.

        Args:
            action: one integer, a legal action.

        Returns:
            The observation, the reward, terminated, truncated, and the info. A game that reaches its limit of turns is
            truncated; its rewards are those of a finished game.

        Raises:
            ValueError: the action is not one integer, or illegal with ``illegal_action="raise"``, or the game is over.
                The game does not change.
            RuntimeError: `reset` was not called before.
        """
        actions = np.asarray(action)
        if actions.size != 1:
            raise ValueError(f"action {action!r} is not a single integer")
        table, batch = self.table, self.table.batch
        if batch.terminated[0] or batch.truncated[0]:
            raise ValueError(f"action {action!r} is illegal after the end of the game; start the next game first")
        table.step(actions.reshape(1))
        terminated, truncated = bool(batch.terminated[0]), bool(batch.truncated[0])
        observation, info = batch.observations[0].copy(), {}
        if terminated or truncated:
            batch.masks[0, 0] = 1
            outcome = table.outcome(batch.all_rows)
            observation = outcome.observations[0]
            info = {
                "score": float(outcome.scores[0]),
                "rank": int(outcome.ranks[0]),
                "seat": int(table.seats[0]),
                "opponents": table.opponents(0),
            }
            if table.illegal:
                info["illegal_action"] = table.illegal[0]
        return self._shown(observation), float(table.paid[0]), terminated, truncated, info | self._info()

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions, bool (num_actions,). sb3-contrib calls this method.

        Raises:
            RuntimeError: `reset` was not called before.
        """
        self.table.require_reset("action_masks")
        masks: NDArray[np.bool_] = self.table.batch.masks[0].astype(np.bool_)
        return masks

    def render(self) -> str | NDArray[np.uint8] | None:
        """Render the score cards or the board, the seat that is to move, and the dice.

        Returns:
            With ``"ansi"`` text; with ``"rgb_array"`` a picture, uint8 (height, width, 3), of the same size at each
            call. Without a render mode None.

        Raises:
            RuntimeError: `reset` was not called before.
        """
        self.table.require_reset("render")
        if self.render_mode is None:
            return None
        if self.render_mode == "rgb_array":
            return self.draw().pixels()
        return self.table.batch.render(0)

    def draw(self) -> Drawing:
        """The position and the last action as a vector drawing: SVG text, or pixels. A notebook shows it.

        Raises:
            RuntimeError: `reset` was not called before.
        """
        self.table.require_reset("draw")
        batch, last = self.table.batch, self.table.last_step
        marks = NO_MARKS if last is None else mark_last(self.game, last[0], batch.options, last[1])
        return draw(self.game, batch.states[0], batch.options, marks)

    def _repr_svg_(self) -> str | None:
        return self.draw().svg if self.table.batch._has_started else None

    def _shown(self, observation: NDArray[np.float32]) -> Observation:
        if self.mask_in == "info":
            return observation
        return {"observation": observation, "action_mask": self.table.batch.masks[0].copy()}

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.table.batch.masks[0].copy()}
