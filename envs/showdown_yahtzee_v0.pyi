# Written by `python -m fivedice.envs.api.stub` from the declaration of Showdown Yahtzee.

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
    chips: tuple[int, ...] = (2, 3, 3, 3, 4, 2),
    steal: Literal["match", "beat"] = "match",
    max_turns: int = 400,
) -> DiceEnv: ...
def raw_env(
    num_players: int | None = None,
    reward: str | None = None,
    render_mode: str | None = None,
    illegal_action: str = "raise",
    illegal_reward: float = -1.0,
    mask_in: str = "observation",
    *,
    chips: tuple[int, ...] = (2, 3, 3, 3, 4, 2),
    steal: Literal["match", "beat"] = "match",
    max_turns: int = 400,
) -> DiceEnv: ...
