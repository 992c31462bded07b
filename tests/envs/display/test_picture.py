"""Pictures of games: of one size, with something to see in them, and drawn without a display."""

import importlib.util
import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from numpy.typing import NDArray

from fivedice.agents.policies.baselines import RandomPolicy
from fivedice.envs import GAMES, load_game, yum_v0
from fivedice.envs.api.aec import DiceEnv
from fivedice.envs.api.single import SeatEnv
from fivedice.envs.display.picture import CHARACTER, LINE, MARGIN, ROOM, Pictures


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
    for _ in range(3):
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


class Drawn:
    """What is drawn: each word with its place in columns and lines, and its looks; each die and each pip."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from matplotlib.axes import Axes
        from matplotlib.patches import Circle, FancyBboxPatch

        self.words: list[tuple[float, float, str, str]] = []
        self.sizes: set[float] = set()
        self.dice: list[tuple[float, float]] = []
        self.pips: list[tuple[float, float]] = []

        def text(axes: Axes, x: float, y: float, word: str, *, color: str, fontsize: float, **looks: Any) -> None:
            assert (looks["va"], looks["parse_math"]) == ("center_baseline", False)
            self.words.append(((x - MARGIN) / CHARACTER, (y - MARGIN) / LINE - 0.5, word, color))
            self.sizes.add(fontsize)

        def add_patch(axes: Axes, patch: Any) -> None:
            if isinstance(patch, FancyBboxPatch):
                middle = patch.get_x() + patch.get_width() / 2, patch.get_y() + patch.get_height() / 2
                self.dice.append(((middle[0] - MARGIN) / CHARACTER, (middle[1] - MARGIN) / LINE - 0.5))
            if isinstance(patch, Circle):
                self.pips.append(patch.center)  # type: ignore[attr-defined]

        monkeypatch.setattr(Axes, "text", text)
        monkeypatch.setattr(Axes, "add_patch", add_patch)


SEAT_COLOURS = ["#ffd166", "#8ecae6", "#ff8fab", "#b8e0a0", "#cdb4f6", "#ffb37c"]


def test_draw__each_word_stands_where_it_stands_in_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = Drawn(monkeypatch)
    picture = Pictures().draw("\u25b8 player_1 3 <5>\n\nab 1RD 2GO\u2684 3PS 1XX player_7")
    plain = {(column, line): word for column, line, word, colour in drawn.words if colour == "#e9e4d4"}
    assert plain == {(0, 0): "\u25b8          3    ", (0, 1): "", (0, 2): f"ab{' ' * 14}1XX{' ' * 9}"}
    found = {(column, line): (word, colour) for column, line, word, colour in drawn.words if colour != "#e9e4d4"}
    assert found == {
        (2, 0): ("player_1", SEAT_COLOURS[1]),
        (13, 0): ("<5>", SEAT_COLOURS[5]),
        (3, 2): ("1RD", "#ff7b72"),
        (7, 2): ("2GO", "#7ee787"),
        (12, 2): ("3PS", "#d2a8ff"),
        (20, 2): ("player_7", SEAT_COLOURS[1]),
    }
    assert drawn.dice == [pytest.approx((10.6, 2.0))]
    assert drawn.sizes == {10.8}
    assert picture.shape == ((3 + ROOM[1]) * LINE + 2 * MARGIN, (28 + ROOM[0]) * CHARACTER + 2 * MARGIN, 3)


def test_draw__a_text_that_has_grown_has_smaller_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = Pictures()
    pictures.draw("x" * 10)  # room for 20 columns and 3 lines
    assert pictures.scale(["x" * 20] * 3) == 1
    assert pictures.scale(["x" * 25]) == 20 / 25
    assert pictures.scale(["x"] * 4) == 3 / 4
    assert pictures.scale(["x" * 40, "x", "x", "x"]) == 1 / 2
    drawn = Drawn(monkeypatch)
    pictures.draw("x" * 25)
    assert drawn.sizes == {10.8 * 20 / 25}


def test_draw__pips_lie_as_on_a_die(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = Drawn(monkeypatch)
    rows = {1: "   . * .   ", 2: "*  .   .  *", 3: "*  . * .  *", 4: "* *.   .* *", 5: "* *. * .* *", 6: "* *.* *.* *"}
    for face, die in enumerate("\u2680\u2681\u2682\u2683\u2684\u2685", 1):
        drawn.pips.clear()
        drawn.dice.clear()
        Pictures().draw(f" {die}")
        ((column, line),) = drawn.dice
        middle = column * CHARACTER + MARGIN, (line + 0.5) * LINE + MARGIN
        third = 1.6 * CHARACTER / 3
        found = {(round((y - middle[1]) / third) + 1, round((x - middle[0]) / third) + 1) for x, y in drawn.pips}
        marks = [part.ljust(3) for part in rows[face].split(".")]
        assert found == {(down, right) for down in range(3) for right in range(3) if marks[down][right] == "*"}
        assert len(drawn.pips) == face


@pytest.mark.parametrize("name", GAMES)
def test_rgb_array__draws_the_text_of_the_game(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []

    def draw(pictures: Pictures, text: str) -> NDArray[np.uint8]:
        texts.append(text)
        return np.zeros((2, 3, 3), np.uint8)

    monkeypatch.setattr(Pictures, "draw", draw)
    picture, text = (DiceEnv(load_game(name), render_mode=mode) for mode in ("rgb_array", "ansi"))
    seats = [SeatEnv(name, render_mode=mode, opponents="random") for mode in ("rgb_array", "ansi")]
    for env in (picture, text, *seats):
        env.reset(seed=3)
    for _ in range(6):
        shown = picture.render()
        assert isinstance(shown, np.ndarray)
        assert shown.shape == (2, 3, 3)
        assert texts.pop() == text.render()
        seats[0].render()
        assert texts.pop() == seats[1].render()
        assert not texts
        action = int(RandomPolicy().act(text.view())[0])
        for env in (picture, text):
            env.step(action)
        legal = int(seats[0].action_masks().argmax())
        for seat in seats:
            seat.step(legal)


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
        with pytest.raises(ModuleNotFoundError, match=r"needs matplotlib; install it with .* 'fivedice\[plot\]'"):
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
