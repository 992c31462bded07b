"""Pictures of games: of one size, with something to see in them, and drawn without a display."""

import importlib.util
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from numpy.typing import NDArray

from fivedice.agents.baselines import RandomPolicy
from fivedice.envs import GAMES, load_game, yum_v0
from fivedice.envs.aec import DiceEnv
from fivedice.envs.picture import LINE, MARGIN, Pictures
from fivedice.envs.seat import SeatEnv


def share_of(picture: NDArray[np.uint8], colour: str) -> float:
    """The share of a picture that is of a colour such as ``#f7f3e8``."""
    return float((picture == np.frombuffer(bytes.fromhex(colour[1:]), np.uint8)).all(axis=2).mean())


@pytest.mark.parametrize("name", GAMES)
def test_rgb_array__is_of_one_size_and_changes_with_the_game(name: str) -> None:
    env = DiceEnv(load_game(name), render_mode="rgb_array")
    env.reset(seed=3)
    before = env.render()
    assert isinstance(before, np.ndarray)
    assert before.dtype == np.uint8
    assert before.shape[2:] == (3,)
    assert len(np.unique(before.reshape(-1, 3), axis=0)) > 20
    for _ in range(8):
        env.step(int(RandomPolicy().act(env.view())[0]))
        after = env.render()
        assert isinstance(after, np.ndarray)
        assert after.shape == before.shape
        assert (after != before).any()
        before = after


@pytest.mark.parametrize("name", GAMES)
def test_texts__of_a_whole_game_fit_as_they_are(name: str) -> None:
    """With the room that the first picture leaves, none has to be drawn smaller."""
    game = load_game(name)
    for num_players in {game.min_players, game.max_players}:
        env = DiceEnv(game, num_players=num_players, render_mode="ansi")
        pictures = Pictures()
        env.reset(seed=4)
        pictures.draw(str(env.render()))
        while env.agents and not env.terminations["player_0"] and not env.truncations["player_0"]:
            env.step(int(RandomPolicy().act(env.view())[0]))
            assert pictures.scale(str(env.render()).split("\n")) == 1.0


def test_draw__a_text_that_has_grown_is_drawn_smaller() -> None:
    pictures = Pictures()
    first = pictures.draw("one line")
    grown = pictures.draw("\n".join(["player_1 has many more lines, and longer ones"] * 12))
    assert grown.shape == first.shape
    used = np.flatnonzero((grown != grown[0, 0]).any(axis=(1, 2)))
    assert used[0] >= MARGIN / 4
    assert used[-1] < grown.shape[0] - 1


def test_draw__dice_show_their_pips() -> None:
    pictures = Pictures()
    pictures.draw("Dice  ⚀ 1")
    paper = [share_of(pictures.draw(f"Dice  {die}  "), "#f7f3e8") for die in "⚀⚁⚂⚃⚄⚅"]
    assert paper == sorted(paper, reverse=True)  # the more pips, the less paper
    assert len(set(paper)) == 6


def test_draw__seats_have_colours_of_their_own() -> None:
    pictures = Pictures()
    shares = [share_of(pictures.draw(text), "#ffd166") for text in ("player_0 <0>", "player_0", "player_1", "1RD")]
    assert shares[0] > shares[1] > 0
    assert shares[2:] == [0, 0]


def test_draw__lines_stand_below_one_another() -> None:
    pictures = Pictures()
    upper, lower = pictures.draw("x\n."), pictures.draw(" \nx")
    np.testing.assert_array_equal(np.flatnonzero((lower != lower[0, 0]).any(axis=(1, 2)))[0] > LINE + MARGIN, True)
    assert np.flatnonzero((upper != upper[0, 0]).any(axis=(1, 2)))[0] < LINE + MARGIN


def test_seat_env__draws_too_and_can_be_recorded() -> None:
    env = gymnasium.make("fivedice/YahtzeeJr-v0", render_mode="rgb_array", opponents="greedy")
    env.reset(seed=1)
    picture = env.render()
    assert isinstance(picture, np.ndarray)
    assert picture.ndim == 3
    env.close()


def test_without_matplotlib__says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    for make in (lambda: yum_v0.env(render_mode="rgb_array"), lambda: SeatEnv("yum", render_mode="rgb_array")):
        with pytest.raises(ModuleNotFoundError, match=r"draws with matplotlib: pip install 'fivedice\[plot\]'"):
            make()


def test_matplotlib__is_loaded_for_the_first_picture_and_leaves_the_users_settings_alone() -> None:
    code = """
import sys
from fivedice.envs import yum_v0
env = yum_v0.env(render_mode="rgb_array")
env.reset(seed=1)
assert "matplotlib" not in sys.modules
env.render()
import matplotlib
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
