"""A game as a film: its frames, and what the files show."""

import json
import re
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from fivedice.agents.policies.baselines import policy_for
from fivedice.agents.policies.protocols import HasActionValues
from fivedice.agents.policies.registry import load
from fivedice.agents.reports import film_files
from fivedice.agents.reports.film import MOST_LISTED, Choice, Film, film_of_match, film_of_transcript
from fivedice.agents.reports.film_files import KINDS, write_film
from fivedice.agents.reports.film_page import film_page
from fivedice.envs import load_game
from fivedice.envs.api.aec import DiceEnv
from fivedice.envs.api.transcript import parse, replay
from fivedice.envs.core.view import View
from fivedice.envs.display.drawing import draw, font_style
from fivedice.envs.display.svg import HEIGHT, WIDTH

GOLDEN = Path(__file__).parents[2] / "golden"
GREEDY: Any = policy_for(load("greedy"), load_game("yahtzee_jr"))


@pytest.fixture(scope="module")
def film() -> Film:
    return film_of_transcript(parse((GOLDEN / "yahtzee_jr-roll-off.txt").read_text("utf-8")), GREEDY)


def test_film__has_a_frame_before_each_decision_and_one_of_the_end(film: Film) -> None:
    transcript = parse((GOLDEN / "yahtzee_jr-roll-off.txt").read_text("utf-8"))
    decisions: list[tuple[str, str, View]] = []
    end = replay(
        transcript,
        lambda game, action: decisions.append(
            (
                game.env.agent_selection,
                game.env.game.name_action(game.env.get_state().state[0], game.env.options_record, action),
                game.env.view(),
            )
        ),
    )
    assert len(film.frames) == len(decisions) + 1
    assert sum((frame.lines for frame in film.frames), ()) == transcript.lines
    for frame, (mover, words, view) in zip(film.frames, decisions, strict=False):
        assert frame.mover == mover
        (chosen,) = [choice for choice in frame.choices if choice.is_chosen]
        assert chosen.words == words
        values = GREEDY.action_values(view)[0]
        named = {
            view.game.name_action(view.states[0], view.options, int(action)): values[action]
            for action in np.flatnonzero(view.masks[0])[::-1]
        }
        assert {choice.words: choice.value for choice in frame.choices} == {
            choice.words: named[choice.words] for choice in frame.choices
        }
        listed = [choice.value for choice in frame.choices[:MOST_LISTED]]
        assert listed == sorted(named.values(), reverse=True)[:MOST_LISTED]
        assert len(frame.choices) <= MOST_LISTED + 1
    assert (film.frames[-1].mover, film.frames[-1].choices) == ("", ())
    last = end.env.get_state().state[0]
    assert ET.fromstring(film.frames[-1].drawing.svg)[0].text == (
        ET.fromstring(draw(transcript.game, last, end.env.options_record).svg)[0].text
    )
    assert film.title == "Yahtzee Jr., 2 players"
    assert film.unit == "values of greedy"


def test_film__frames_show_the_last_lines_and_the_choice_that_follows(film: Film) -> None:
    for frame in film.frames:
        written = [text.text for text in ET.fromstring(frame.drawing.svg).iter("{http://www.w3.org/2000/svg}text")]
        assert ", ".join(frame.lines[-2:]) in written
        chosen = [choice for choice in frame.choices if choice.is_chosen]
        golden = frame.drawing.svg.count('stroke-width="4"')
        kept = re.findall(r"\w+", chosen[0].words)[1:] if chosen and chosen[0].words.startswith("keep") else None
        assert golden == (0 if not chosen else 1 if kept is None else 0 if kept == ["none"] else len(kept))


def test_film__without_an_adviser_has_no_values() -> None:
    film = film_of_transcript(parse((GOLDEN / "yum-tie.txt").read_text("utf-8")))
    assert film.unit == ""
    for frame in film.frames[:-1]:
        assert [(choice.value, choice.is_chosen) for choice in frame.choices] == [(None, True)]


class Fixed:
    """A policy whose values are those of the numbers of the actions, which it does not follow."""

    name = "fixed"

    def act(self, view: View) -> NDArray[np.int64]:
        return view.masks.argmax(axis=1)

    def action_values(self, view: View) -> NDArray[np.float64]:
        return np.where(view.masks != 0, np.arange(view.masks.shape[1], dtype=np.float64), -np.inf)


def test_match__is_played_by_its_policies_and_can_be_replayed() -> None:
    game = load_game("yahtzee_jr")
    policies = [load("random"), load("greedy")]
    film, transcript = film_of_match(game, policies, seed=5, options={"tie_break": "share"})
    again, _ = film_of_match(game, policies, seed=5, options={"tie_break": "share"})
    assert again == film
    assert film_of_match(game, policies, seed=6)[0] != film
    env = DiceEnv(game, 2, tie_break="share")
    env.reset(seed=5)
    frames = iter(film.frames)
    while env.agents and not env.terminations[env.agent_selection]:
        view, frame = env.view(), next(frames)
        action = int(policies[int(view.seats[0])].act(view)[0])
        (chosen,) = [choice for choice in frame.choices if choice.is_chosen]
        assert chosen.words == game.name_action(view.states[0], view.options, action)
        assert (chosen.value is None) == (frame.mover == "player_0")  # random play knows no values
        env.step(action)
    assert transcript.options["tie_break"] == "share"
    replayed = film_of_transcript(transcript)
    assert [frame.lines for frame in replayed.frames] == [frame.lines for frame in film.frames]
    assert film.title == "Yahtzee Jr.: player_0 random, player_1 greedy"
    assert film.unit == "values of the policy that decides"


def test_match__an_adviser_speaks_for_every_seat_and_a_value_stands_on_its_place() -> None:
    adviser = Fixed()
    assert isinstance(adviser, HasActionValues)
    film, _ = film_of_match(load_game("yum"), [load("random")], seed=5, adviser=adviser)
    assert film.unit == "values of fixed"
    for frame in film.frames[:-1]:
        assert frame.choices[0].value == max(choice.value or 0 for choice in frame.choices)
        fills = [choice for choice in frame.choices if choice.words.startswith("fill")]
        assert all(f">{choice.value:.1f}</text>" in frame.drawing.svg for choice in fills)


def test_match__a_policy_that_cannot_play_the_game_is_refused() -> None:
    with pytest.raises(ValueError, match="optimal"):
        film_of_match(load_game("set_cubed"), [load("optimal"), load("random")])


# The page


def data_of(page: str) -> Any:
    (data,) = re.findall(r'<script type="application/json" id="film">(.*?)</script>', page, re.DOTALL)
    return json.loads(data)


def test_page__holds_every_drawing_and_all_words(film: Film) -> None:
    data = data_of(film_page(film))
    assert len(data["frames"]) == len(film.frames)
    for shown, frame in zip(data["frames"], film.frames, strict=True):
        assert "".join(data["parts"][part] for part in shown["parts"]) == frame.drawing.svg
        assert shown["said"] == "; ".join(frame.lines)
        assert shown["mover"] == frame.mover
        assert f"<title>{shown['status']}</title>" in frame.drawing.svg
        assert shown["choices"] == [[choice.words, f"{choice.value:.2f}", choice.is_chosen] for choice in frame.choices]
    assert len(set(data["parts"])) == len(data["parts"])
    assert len(film_page(film)) - len(font_style()) < 0.5 * sum(len(frame.drawing.svg) for frame in film.frames)


class Elements(HTMLParser):
    """The elements of a page, and whether they are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_page__needs_nothing_from_outside_and_escapes_what_it_shows(film: Film) -> None:
    nasty = "</script><script>alert('&')</script>"
    frame = replace(film.frames[0], lines=(nasty,), choices=(Choice(nasty, None, True),))
    page = film_page(Film(nasty, (frame, *film.frames[1:]), nasty)).replace(font_style(), "")
    assert data_of(page)["frames"][0]["said"] == nasty
    elements = Elements()
    elements.feed(page)
    assert elements.open == []
    assert [tag for tag, _ in elements.found].count("script") == 2
    assert nasty not in page
    assert not any(key in attributes for _, attributes in elements.found for key in ("src", "href", "onclick"))
    links = set(re.findall(r"(?:https?:)?//[\w.]+", page))
    assert links <= {"http://www.w3.org"}
    assert "default-src 'none'" in page
    assert 'name="viewport" content="width=device-width' in page


def test_page__its_script_finds_every_element_that_it_names(film: Film) -> None:
    page = film_page(film)
    named = set(re.findall(r'byId\("(\w+)"\)', page)) | {"film"}
    assert named <= set(re.findall(r'id="(\w+)"', page))
    assert re.search(r'max="(\d+)"', page)[1] == str(len(film.frames) - 1)  # type: ignore[index]


# Files


def short(film: Film) -> Film:
    return Film(film.title, film.frames[:3], film.unit)


def test_gif__shows_each_drawing_for_its_time(film: Film, tmp_path: Path) -> None:
    write_film(short(film), tmp_path / "a.gif", 0.4)
    with Image.open(tmp_path / "a.gif") as gif:
        assert gif.n_frames == 3  # type: ignore[attr-defined]
        assert gif.info["loop"] == 0
        for number, frame in enumerate(film.frames[:3]):
            gif.seek(number)
            assert gif.info["duration"] == (400 if number < 2 else 1200)
            shown = np.asarray(gif.convert("RGB"), np.int16)
            assert shown.shape == (HEIGHT, WIDTH, 3)
            assert np.abs(shown - frame.drawing.pixels()).mean() < 3
    assert [path.name for path in tmp_path.iterdir()] == ["a.gif"]


def test_mp4__shows_each_drawing_for_its_time(film: Film, tmp_path: Path) -> None:
    import imageio_ffmpeg

    write_film(short(film), tmp_path / "a.mp4", 0.2)
    decode = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", tmp_path / "a.mp4", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    decoded = subprocess.run(decode, capture_output=True, check=True)
    said = decoded.stderr.decode()
    assert f"{WIDTH}x{HEIGHT}" in said
    assert f"{film_files.VIDEO_FPS} fps" in said
    shown = np.frombuffer(decoded.stdout, np.uint8).reshape(-1, HEIGHT, WIDTH, 3).astype(np.int16)
    assert len(shown) == 2 + 2 + 6
    for number, frame in ((0, 0), (1, 0), (2, 1), (3, 1), (4, 2), (9, 2)):
        errors = [np.abs(shown[number] - film.frames[other].drawing.pixels()).mean() for other in range(3)]
        assert int(np.argmin(errors)) == frame
        assert errors[frame] < 5


def test_html__is_the_page(film: Film, tmp_path: Path) -> None:
    write_film(film, tmp_path / "a.html", 1.0)
    assert (tmp_path / "a.html").read_text("utf-8") == film_page(film)


def test_write__leaves_the_old_file_if_it_fails(film: Film, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(film: Film, path: Path, seconds: float) -> None:
        path.write_text("half")
        raise OSError("the disk is full")

    (tmp_path / "a.html").write_text("old")
    monkeypatch.setitem(KINDS, ".html", fail)
    with pytest.raises(OSError, match="the disk is full"):
        write_film(film, tmp_path / "a.html", 1.0)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.html", "old")]
