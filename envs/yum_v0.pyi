# Written by `python -m fivedice.envs.api.stub` from the declaration of Yum.

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
    high_low: Literal["either", "high_first"] = "either",
    crossed_high: Literal["blocks_low", "frees_low"] = "blocks_low",
    five_alike_full_house: bool = False,
    zeros: Literal["forced", "free"] = "forced",
) -> DiceEnv: ...
def raw_env(
    num_players: int | None = None,
    reward: str | None = None,
    render_mode: str | None = None,
    illegal_action: str = "raise",
    illegal_reward: float = -1.0,
    mask_in: str = "observation",
    *,
    high_low: Literal["either", "high_first"] = "either",
    crossed_high: Literal["blocks_low", "frees_low"] = "blocks_low",
    five_alike_full_house: bool = False,
    zeros: Literal["forced", "free"] = "forced",
) -> DiceEnv: ...
