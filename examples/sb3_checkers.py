"""The checkers and the video recorders of Gymnasium, Stable-Baselines3 and PettingZoo, with warnings as errors.

python -W error examples/sb3_checkers.py
"""

import contextlib
import io
import tempfile
from pathlib import Path

import gymnasium as gym
from gymnasium.utils.env_checker import check_env as gymnasium_check
from gymnasium.wrappers import RecordVideo
from gymnasium.wrappers.vector import RecordVideo as RecordVideoOfVector
from pettingzoo.test import api_test, render_test, seed_test
from stable_baselines3.common.env_checker import check_env as sb3_check

from fivedice.envs import yum_v0  # this also registers the ids of Gymnasium

gymnasium_check(gym.make("fivedice/Yum-v0").unwrapped)
gymnasium_check(gym.make("fivedice/Yum-v0", mask_in="observation").unwrapped)
print("Gymnasium: check_env passes")

sb3_check(gym.make("fivedice/Yum-v0").unwrapped)
print("Stable-Baselines3: check_env passes")

with contextlib.redirect_stdout(io.StringIO()):  # render_test prints the position after each step
    api_test(yum_v0.env(mask_in="info"), num_cycles=500)  # it warns of observations that are dicts
    seed_test(yum_v0.env, num_cycles=500)
    render_test(yum_v0.env)
print("PettingZoo: api_test, seed_test and render_test pass")


def play(env: gym.Env | gym.vector.VectorEnv) -> None:
    _, info = env.reset(seed=1)
    for _ in range(20):
        *_, info = env.step(info["action_mask"].argmax(axis=-1))
    env.close()


with tempfile.TemporaryDirectory() as folder:
    env = gym.make("fivedice/Yum-v0", render_mode="rgb_array", disable_env_checker=True)
    play(RecordVideo(env, f"{folder}/one", video_length=10))
    print("RecordVideo of one game:", *sorted(path.name for path in Path(folder).rglob("*.mp4")))
with tempfile.TemporaryDirectory() as folder:
    envs = gym.make_vec("fivedice/Yum-v0", num_envs=4, render_mode="rgb_array")
    play(RecordVideoOfVector(envs, f"{folder}/one", video_length=10))
    print("RecordVideo of four games:", *sorted(path.name for path in Path(folder).rglob("*.mp4")))
