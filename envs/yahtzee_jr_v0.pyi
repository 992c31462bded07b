# Written by `python -m fivedice.envs.api.stub` from the declaration of Yahtzee Jr..

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
    must_score_most: bool = True,
    tie_break: Literal["roll", "share"] = "roll",
) -> DiceEnv: ...
def raw_env(
    num_players: int | None = None,
    reward: str | None = None,
    render_mode: str | None = None,
    illegal_action: str = "raise",
    illegal_reward: float = -1.0,
    mask_in: str = "observation",
    *,
    must_score_most: bool = True,
    tie_break: Literal["roll", "share"] = "roll",
) -> DiceEnv: ...
