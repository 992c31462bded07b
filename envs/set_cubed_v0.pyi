# Written by `python -m fivedice.envs.api.stub` from the declaration of SET Cubed.

from typing import Literal

from fivedice.envs.api.aec import DiceEnv

def env(
    num_players: int | None = None,
    reward: str | None = None,
    render_mode: str | None = None,
    illegal_action: str = "raise",
    illegal_reward: float = -1.0,
    mask_in: str = "observation",
    *,
    dice: str = "standard",
    board: str = "standard",
    opener: Literal["random", "first_seat"] = "random",
    max_idle_rounds: int = 3,
) -> DiceEnv: ...
def raw_env(
    num_players: int | None = None,
    reward: str | None = None,
    render_mode: str | None = None,
    illegal_action: str = "raise",
    illegal_reward: float = -1.0,
    mask_in: str = "observation",
    *,
    dice: str = "standard",
    board: str = "standard",
    opener: Literal["random", "first_seat"] = "random",
    max_idle_rounds: int = 3,
) -> DiceEnv: ...
