"""The window of ``render_mode="human"``: what it shows, and that text takes its place without a display."""

import contextlib
import copy
import importlib.util
import io
import pickle
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from fivedice.envs import yum_v0
from fivedice.envs.api import aec
from fivedice.envs.api.aec import DiceEnv
from fivedice.envs.display import window
from fivedice.envs.display.drawing import Drawing
from fivedice.envs.display.svg import HEIGHT, WIDTH


class TclError(Exception):
    """As tkinter's."""


class FakeTkinter:
    """Stands in for tkinter, and notes what it is asked for."""

    TclError = TclError

    def __init__(self, has_display: bool = True) -> None:
        self.has_display = has_display
        self.shown: list[bytes] = []
        self.said: list[str] = []
        self.close: Any = None

    def Tk(self) -> Any:
        if not self.has_display:
            raise TclError("no display")
        self.said.append("open")

        def protocol(name: str, function: Any) -> None:
            assert name == "WM_DELETE_WINDOW"
            self.close = function

        return SimpleNamespace(
            title=lambda text: self.said.append(text),
            protocol=protocol,
            update=lambda: self.said.append("update"),
            destroy=lambda: self.said.append("destroy"),
        )

    def Label(self, root: Any, borderwidth: int) -> Any:
        return SimpleNamespace(pack=lambda: None, configure=lambda image: self.shown.append(image))

    def PhotoImage(self, master: Any, data: bytes, format: str) -> bytes:
        assert format == "PPM"
        return data


@pytest.fixture
def tkinter(monkeypatch: pytest.MonkeyPatch) -> FakeTkinter:
    fake = FakeTkinter()
    monkeypatch.setitem(sys.modules, "tkinter", fake)  # type: ignore[arg-type]
    monkeypatch.setattr(aec, "can_open", lambda: True)
    return fake


def in_ppm(drawing: Drawing) -> bytes:
    return f"P6 {WIDTH} {HEIGHT} 255\n".encode() + drawing.pixels().tobytes()


def played(env: DiceEnv) -> str:
    """What is printed during a reset and two steps."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        env.reset(seed=1)
        env.step(0)
        env.step(1)
    return out.getvalue()


def test_human__shows_every_position_in_one_window(tkinter: FakeTkinter) -> None:
    env = yum_v0.env(render_mode="human")
    assert tkinter.said == []
    assert played(env) == ""
    assert tkinter.said == ["open", "Yum", "update", "update", "update"]
    assert len(tkinter.shown) == 3
    assert tkinter.shown[-1] == in_ppm(env.draw())
    env.close()
    env.close()
    assert tkinter.said[-2:] == ["update", "destroy"]


def test_human__a_window_that_the_user_closed_stays_closed(tkinter: FakeTkinter) -> None:
    env = yum_v0.env(render_mode="human")
    played(env)
    tkinter.close()
    assert tkinter.said.count("destroy") == 1
    assert played(env) == ""
    assert len(tkinter.shown) == 3
    assert tkinter.said.count("open") == 1


def test_human__without_a_usable_display_prints_the_text(tkinter: FakeTkinter) -> None:
    tkinter.has_display = False
    env = yum_v0.env(render_mode="human")
    assert played(env).count("throws left") + played(env).count("throw left") >= 3
    assert tkinter.shown == []
    env.close()


def test_human__a_copy_has_a_window_of_its_own(tkinter: FakeTkinter) -> None:
    env = yum_v0.env(render_mode="human")
    played(env)
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        opened = tkinter.said.count("open")
        twin.step(31)
        assert tkinter.said.count("open") == tkinter.said.count("Yum") == opened + 1
        twin.close()


@pytest.mark.parametrize("mode", ["ansi", "rgb_array", None])
def test_other_modes__open_no_window(tkinter: FakeTkinter, mode: str | None) -> None:
    played(yum_v0.env(render_mode=mode))
    assert tkinter.said == []


@pytest.mark.parametrize(
    ("platform", "variables", "missing", "can"),
    [
        ("linux", {"DISPLAY": ":0"}, None, True),
        ("linux", {}, None, False),
        ("darwin", {}, None, True),
        ("win32", {}, None, True),
        ("linux", {"DISPLAY": ":0"}, "tkinter", False),
        ("linux", {"DISPLAY": ":0"}, "pylunasvg", False),
    ],
)
def test_can_open__needs_a_display_and_two_packages(
    monkeypatch: pytest.MonkeyPatch, platform: str, variables: dict[str, str], missing: str | None, can: bool
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == missing else "there")
    monkeypatch.delenv("DISPLAY", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert window.can_open() is can
