"""Frames of vector environments, and masks that can always be sampled from."""

import sys
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordVideo

from fivedice.envs import GAMES, load_game
from fivedice.envs.api.single import SeatEnv
from fivedice.envs.api.vector import SeatVectorEnv

YUM = "fivedice/Yum-v0"


def test_render__is_a_tuple_with_a_text_of_each_game() -> None:
    env = gymnasium.make_vec(YUM, num_envs=3, render_mode="ansi")
    env.reset(seed=1)
    texts = env.render()
    assert isinstance(texts, tuple)
    singles = [SeatEnv("yum", render_mode="ansi") for _ in range(1)]
    singles[0].reset(seed=1)
    assert texts[0] == singles[0].render()
    batch = env.unwrapped.table.batch
    assert texts == tuple(batch.game.render(state, batch.options) for state in batch.states)
    assert len(set(texts)) == 3


@pytest.mark.parametrize("name", GAMES)
def test_render__pictures_have_one_size(name: str) -> None:
    env = SeatVectorEnv(2, name, render_mode="rgb_array")
    _, infos = env.reset(seed=1)
    shapes = set()
    for _ in range(3):
        frames = env.render()
        assert isinstance(frames, tuple)
        assert len(frames) == 2
        assert all(frame.dtype == np.uint8 for frame in frames)
        assert (frames[0] != frames[1]).any()
        shapes |= {frame.shape for frame in frames}
        *_, infos = env.step(infos["action_mask"].argmax(axis=1))
    assert len(shapes) == 1


def test_render__is_nothing_without_a_render_mode() -> None:
    for settings in ({}, {"render_mode": None}):
        env = gymnasium.make_vec(YUM, num_envs=2, **settings)
        with pytest.raises(RuntimeError, match=r"render\(\) before the first game: call reset\(\)"):
            env.render()
        env.reset(seed=1)
        assert env.render() is None


@pytest.mark.parametrize("mode", ["NextStep", "Disabled"])
def test_record_video__gets_the_frames_of_every_step(
    mode: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The wrapper's own code, up to the file: moviepy, which writes it, is not there."""
    recorded: list[list[Any]] = []

    def stop_recording(env: RecordVideo) -> None:
        recorded.append(env.recorded_frames)
        env.recording, env.recorded_frames = False, []

    monkeypatch.setitem(sys.modules, "moviepy", ModuleType("moviepy"))
    monkeypatch.setattr(RecordVideo, "stop_recording", stop_recording)
    envs = gymnasium.make_vec(YUM, num_envs=4, render_mode="rgb_array", autoreset_mode=mode)
    env = RecordVideo(envs, str(tmp_path / "videos"), step_trigger=lambda step: step == 0, video_length=5)
    assert env.frames_per_sec == 2
    _, infos = env.reset(seed=1)
    for _ in range(8):
        *_, infos = env.step(infos["action_mask"].argmax(axis=1))
    env.close()
    height, width, _ = envs.render()[0].shape
    assert {frame.shape for frame in recorded[0]} == {(2 * height, 2 * width, 3)}
    assert len(recorded[0]) > 5


def ends(env: Any, steps: int) -> Any:
    """The masks of finished rows, in a loop that samples from every mask."""
    generator = np.random.default_rng(1)
    _, infos = env.reset(seed=2)
    for _ in range(steps):
        masks = infos["action_mask"]
        assert masks.any(axis=1).all()
        actions = np.array([generator.choice(np.flatnonzero(mask)) for mask in masks])
        *_, terminated, truncated, infos = env.step(actions)
        over = terminated | truncated
        yield from infos["action_mask"][over]
        if env.metadata["autoreset_mode"] is AutoresetMode.DISABLED and over.any():
            _, infos = env.reset(options={"reset_mask": over})


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("mode", AutoresetMode)
def test_mask__of_a_finished_row_has_action_0_only(name: str, mode: AutoresetMode) -> None:
    settings: dict[str, Any] = {"max_turns": 3} if name == "showdown_yahtzee" else {}
    env = SeatVectorEnv(3, name, autoreset_mode=mode, **settings)
    masks = list(ends(env, 150 if name == "set_cubed" else 110))
    assert masks
    if mode is not AutoresetMode.SAME_STEP:
        assert all(np.flatnonzero(mask).tolist() == [0] for mask in masks)


def test_mask__can_be_sampled_from_in_gymnasium_s_own_vector_environments() -> None:
    assert list(ends(SyncVectorEnv([partial(SeatEnv, "yum")] * 2), 110))


@pytest.mark.parametrize("mode", AutoresetMode)
def test_mask_in_observation__is_what_gymnasium_s_own_does(mode: AutoresetMode) -> None:
    ours = SeatVectorEnv(1, "yum", autoreset_mode=mode, mask_in="observation")
    theirs = SyncVectorEnv([partial(SeatEnv, "yum", mask_in="observation")], autoreset_mode=mode)
    assert ours.observation_space == theirs.observation_space
    assert list(ours.single_observation_space) == ["action_mask", "observation"]
    seen, expected = ours.reset(seed=3)[0], theirs.reset(seed=3)[0]
    finished = 0
    for _ in range(90):
        for part in ("observation", "action_mask"):
            np.testing.assert_array_equal(seen[part], expected[part])
        assert ours.observation_space.contains(seen)
        actions = seen["action_mask"].argmax(axis=1)
        (seen, _, over, _, infos), (expected, *_, their_infos) = ours.step(actions), theirs.step(actions)
        finished += int(over[0])
        if "final_obs" in their_infos:
            for part in ("observation", "action_mask"):
                np.testing.assert_array_equal(infos["final_obs"][0][part], their_infos["final_obs"][0][part])
        if mode is AutoresetMode.DISABLED and over.any():
            seen, expected = (env.reset(options={"reset_mask": over})[0] for env in (ours, theirs))
    assert finished


def test_mask_in_observation__is_a_copy_and_the_info_has_it_too() -> None:
    env = SeatEnv("yum", mask_in="observation")
    seen, info = env.reset(seed=1)
    plain, usual = SeatEnv("yum").reset(seed=1)
    assert seen["observation"].tobytes() == plain.tobytes()
    assert seen["action_mask"].tobytes() == usual["action_mask"].tobytes() == info["action_mask"].tobytes()
    assert env.observation_space.contains(seen)
    seen["action_mask"][:] = 0
    info["action_mask"][:] = 0
    assert env.action_masks().any()
    assert load_game("yum").num_actions() == len(seen["action_mask"])
