"""Drawings of games: well-formed, with every fact of the position, and a region for every legal action."""

import copy
import importlib.util
import itertools
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import pytest
from numpy.typing import NDArray

from fivedice.agents.policies.baselines import RandomPolicy
from fivedice.envs import GAMES, load_game, yum_v0
from fivedice.envs.api.aec import DiceEnv
from fivedice.envs.api.single import SeatEnv
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.marks import Marks
from fivedice.envs.core.spec import Game
from fivedice.envs.display import drawing as drawing_module
from fivedice.envs.display.drawing import Drawing, draw, font_file, font_style, mark_last, regions_of
from fivedice.envs.display.pieces import PIPS, ink_on
from fivedice.envs.display.svg import CHANGED, GOLD, HEIGHT, SEATS, WIDTH, Svg
from fivedice.envs.set_cubed import draw as set_cubed_draw
from fivedice.envs.set_cubed.drawing import LARGE, SMALL
from fivedice.envs.set_cubed.faces import FACE_NAMES, WILD
from fivedice.envs.set_cubed.render import LETTERS
from fivedice.envs.showdown_yahtzee import rules as showdown_yahtzee
from fivedice.envs.yahtzee_jr import rules as yahtzee_jr
from fivedice.envs.yum import rules as yum

SVG = "{http://www.w3.org/2000/svg}"
DRAWN = {"svg", "g", "title", "rect", "circle", "line", "path", "text"}  # all of them show something by themselves
TABLES = [
    *((name, players, {}) for name in GAMES for players in (load_game(name).min_players, load_game(name).max_players)),
    ("set_cubed", 4, {"board": SMALL, "max_idle_rounds": 1}),
    ("set_cubed", 2, {"board": LARGE}),
    ("showdown_yahtzee", 3, {"chips": (20, 20, 20, 20, 20, 20), "max_turns": 30}),
    ("yahtzee_jr", 3, {"must_score_most": False}),
    ("yum", 2, {"zeros": "free"}),
]
FIRST, EACH = 16, 20  # of a game, the first positions are drawn, then each twentieth, and the last


class Position(NamedTuple):
    """A position of a game between random policies, and its drawing."""

    batch: Batch
    over: bool
    svg: str
    root: ET.Element


@cache
def positions(table: int) -> list[Position]:
    """Positions of a game at one of `TABLES`, its end included."""
    name, players, options = TABLES[table]
    batch = Batch(load_game(name), 1, num_players=players, **options)
    batch.reset(3)
    policy, found, played = RandomPolicy(), [], 0
    while True:
        over = bool(batch.over[0])
        if played < FIRST or played % EACH == 0 or over:
            svg = drawing_of(batch).svg
            found.append(Position(copy.deepcopy(batch), over, svg, ET.fromstring(svg)))
        if over:
            return found
        batch.step(policy.act(batch.view()), restart=False)
        played += 1


def drawing_of(batch: Batch, marks: Marks | None = None) -> Drawing:
    return draw(batch.game, batch.states[0], batch.options, marks or Marks())


each_table = pytest.mark.parametrize(
    "table", range(len(TABLES)), ids=[f"{name}-{players}-{n}" for n, (name, players, _) in enumerate(TABLES)]
)


def regions_in(root: ET.Element) -> dict[str, ET.Element]:
    """The regions of a drawing by name."""
    found = [group for group in root.iter(f"{SVG}g") if "data-region" in group.attrib]
    named = {group.attrib["data-region"]: group for group in found}
    assert len(named) == len(found), "a region is there twice"
    for name, group in named.items():
        assert group.attrib["data-kind"] == name.split("-")[0]
        assert group[0].tag == f"{SVG}title"
        assert any(rect.attrib.get("class") == "frame" for rect in list(group)[-3:])  # its value stands on it
    return named


def texts_in(element: ET.Element) -> list[str]:
    return [text.text or "" for text in element.iter(f"{SVG}text")]


def label_of(group: ET.Element) -> str:
    return group[0].text or ""


@each_table
def test_svg__is_well_formed_and_needs_nothing_from_outside(table: int) -> None:
    for _, _, svg, root in positions(table):
        assert {element.tag.removeprefix(SVG) for element in root.iter()} <= DRAWN
        assert (root.attrib["width"], root.attrib["height"]) == (str(WIDTH), str(HEIGHT)) == ("800", "600")
        assert root.attrib["viewBox"] == "0 0 800 600"
        assert 400 < float(root.attrib["data-split"]) < 600
        for element in root.iter():
            assert not {"id", "href", "style"} & set(element.attrib)
            assert not any(key.startswith("on") or "url(" in value for key, value in element.attrib.items())
        assert svg.count("http") == 1  # the namespace


@each_table
def test_regions__every_legal_action_has_its_own(table: int) -> None:
    game = load_game(TABLES[table][0])
    assert game.action_regions is not None
    for batch, over, _, root in positions(table):
        there = set(regions_in(root))
        legal = np.flatnonzero(batch.masks[0]).tolist() if not over else []
        chosen = {action: game.action_regions(batch.states[0], batch.options, action) for action in legal}
        assert regions_of(game, batch.states[0], batch.options, legal) <= there
        assert len({frozenset(regions) for regions in chosen.values()}) == len(legal)
        assert all(len(set(regions)) == len(regions) for regions in chosen.values())


@each_table
def test_drawing__all_that_is_written_lies_within_it(table: int) -> None:
    for _, _, _, root in positions(table):
        for text in root.iter(f"{SVG}text"):
            size, written = float(text.attrib["font-size"]), text.text or ""
            x, y, width = float(text.attrib["x"]), float(text.attrib["y"]), 0.5 * size * len(written)
            left = x - {"start": 0, "middle": width / 2, "end": width}[text.attrib.get("text-anchor", "start")]
            assert left >= 0, written
            assert left + width <= WIDTH, written
            assert size <= y <= HEIGHT, written
        for rect in root.iter(f"{SVG}rect"):
            assert float(rect.attrib["x"]) >= 0
            assert float(rect.attrib["x"]) + float(rect.attrib["width"]) <= WIDTH
            assert float(rect.attrib["y"]) + float(rect.attrib["height"]) <= HEIGHT


@each_table
def test_drawing__says_who_moves_and_in_the_end_who_has_won(table: int) -> None:
    for batch, over, _, root in positions(table):
        said = root[0].text or ""
        if not over:
            assert re.search(rf": player_{batch.movers[0]}(:| to move)", said)
        else:
            _, won = batch.results(batch.all_rows)
            names = [f"player_{seat}" for seat in np.flatnonzero(won[0])]
            assert set(re.findall(r"player_\d", said)) == set(names)
            assert ("wins" if len(names) == 1 else "win") in said.replace(",", "").split()
        points, _ = batch.results(batch.all_rows)
        written = texts_in(root)
        assert all(f"{number:g}" in written for number in points[0])
        assert said.split(": ", 1)[1] in written


def drawn_pips(group: ET.Element) -> int:
    return len(group.findall(f"{SVG}circle"))


def check_dice(regions: dict[str, ET.Element], dice: Any, root: ET.Element, throws_left: int, over: bool) -> None:
    for slot, face in enumerate(dice):
        die = regions[f"die-{slot + 1}"]
        assert drawn_pips(die) == face
        assert label_of(die) == f"die {slot + 1}: {face}"
    words = [text for text in texts_in(root) if re.fullmatch(r"\d throws? left", text)]
    assert words == ([] if over else [f"{throws_left} throw{'' if throws_left == 1 else 's'} left"])


def check_yum(batch: Batch, root: ET.Element, over: bool) -> None:
    state, regions = batch.states[0], regions_in(root)
    check_dice(regions, state["dice"], root, int(state["throws_left"]), over)
    for seat in range(batch.num_players):
        for box, name in enumerate(yum.BOXES):
            group, written = regions[f"box-{seat}-{name.lower().replace(' ', '-')}"], int(state["boxes"][seat, box])
            shown = texts_in(group)
            if written != yum.OPEN:
                assert shown == [str(written)]
            elif seat == state["player"] and batch.masks[0, yum.FILL + box]:  # what the dice give there now
                assert shown == [str(yum.points_in(box, state["dice"], state["boxes"][seat], batch.options))]
            else:
                assert shown == []
            assert label_of(group) == f"{name} of player_{seat}: {'open' if written == yum.OPEN else written}"
        upper = int(yum.upper_total(state["boxes"][seat]))
        assert ("+25" if upper >= 63 else f"{upper} of 63") in texts_in(root)
        assert texts_in(root).count(f"{yum.score(state['boxes'][seat])}") >= 2  # in the total and in the standings


def check_yahtzee_jr(batch: Batch, root: ET.Element, over: bool) -> None:
    state, regions = batch.states[0], regions_in(root)
    for slot, face in enumerate(state["dice"].tolist()):
        assert label_of(regions[f"die-{slot + 1}"]) == f"die {slot + 1}: {batch.game.face_names[face - 1]}"
    looks = [ET.tostring(drawn_symbol(face)) for face in range(1, 7)]
    assert len(set(looks)) == 6
    for row, name in enumerate(yahtzee_jr.CHARACTERS):
        for column in range(6):
            group = regions[f"cell-{name.lower()}-{column}"]
            here = [seat for seat in range(batch.num_players) if state["tokens"][seat, row] == column]
            numbers = [text for text in texts_in(group) if text.isdecimal()]
            printed = [] if column == 0 else [str(column)]
            assert sorted(numbers) == sorted([*printed, *map(str, here)])
            ghosts = [circle for circle in group.iter(f"{SVG}circle") if "fill-opacity" in circle.attrib]
            legal = batch.masks[0, yahtzee_jr.PLACE + row] and not over
            target = legal and yahtzee_jr.column_for(row, state["dice"], state["tokens"]) == column
            assert len(ghosts) == bool(target)
    words = [text for text in texts_in(root) if text.endswith("left")]
    left = int(state["throws_left"])
    assert words == ([] if over else [f"{left} throw{'' if left == 1 else 's'} left"])


def drawn_symbol(face: int) -> ET.Element:
    from fivedice.envs.yahtzee_jr.draw import draw_symbol

    svg = Svg(Marks(), "")
    draw_symbol(svg, face, 0, 0, 1)
    return ET.fromstring(svg.finish())


def check_showdown_yahtzee(batch: Batch, root: ET.Element, over: bool) -> None:
    state, regions = batch.states[0], regions_in(root)
    if state["target"] == showdown_yahtzee.CHOOSING or over:
        assert "die-1" not in regions
    else:
        check_dice(regions, state["dice"], root, int(state["throws_left"]), over)
    for card, name in enumerate(showdown_yahtzee.CARDS):
        group = regions[f"card-{name.lower().replace(' ', '-')}"] if not over or card in state["card"] else None
        if card not in state["card"]:
            continue
        assert group is not None
        space = state["card"].tolist().index(card)
        chips, owner = int(state["chips"][space]), int(state["owner"][space])
        assert group in list(regions[f"space-{space}"])
        assert label_of(group) == f"{name}, {chips} of player_{owner}"
        assert str(chips) in texts_in(group)
        assert sum(path.attrib["fill"] == SEATS[owner] for path in group.iter(f"{SVG}path")) == 1
        discs = [c for c in group.iter(f"{SVG}circle") if c.attrib["fill"] == SEATS[owner]]
        assert len(discs) == (chips if chips <= 5 else 0)
    for seat in range(batch.num_players):
        assert regions[f"pawn-{seat}"] in list(regions[f"space-{state['pawns'][seat]}"])
    placed = int((state["card"] >= 0).sum())
    assert f"Unused cards: {12 - placed} of 12" in texts_in(root)
    assert texts_in(root).count("last turn") == sum(
        bool(showdown_yahtzee.has_last_turn(state, batch.options, seat)) and not over
        for seat in range(batch.num_players)
    )
    for card in range(12):  # the chips that the dice give now
        name = showdown_yahtzee.CARDS[card].lower().replace(" ", "-")
        if batch.masks[0, showdown_yahtzee.CLAIM + card] and not over:
            chips = showdown_yahtzee.chips_now(state, batch.options, card)
            assert texts_in(regions[f"card-{name}"])[-1] == str(chips)


def check_set_cubed(batch: Batch, root: ET.Element, over: bool) -> None:
    state, regions, options = batch.states[0], regions_in(root), batch.options
    rows, columns = options["board"][:2].tolist()
    laid = state["laid"].tolist()
    for cell in range(rows * columns):
        row, column = divmod(cell, columns)
        name = f"{LETTERS[column]}{row + 1}"
        group, face = regions[f"cell-{name}"], int(state["faces"][row + 2, column + 2])
        is_wild = bool(state["wild"][row + 2, column + 2])
        paths = group.findall(f"{SVG}path")
        if 0 <= face < WILD:
            assert_face(paths, face)
            assert ("W" in texts_in(group)) == is_wild
        elif face == WILD:
            assert texts_in(group)[0] == "WILD"
        elif 1 <= options["board"][2 + cell] <= 9:
            assert texts_in(group) == [f"+{options['board'][2 + cell]}"]
        assert (str(laid.index(cell) + 1) in texts_in(group)) if cell in laid else True
        what = "empty" if face < 0 else FACE_NAMES[face] + (", a WILD" if is_wild and face != WILD else "")
        assert label_of(group).startswith(f"{name}: {what}")
    written = texts_in(root)
    for seat in range(batch.num_players):
        dice = [int(die) for die in state["hand_dice"][seat] if die >= 0]
        assert all(f"#{die + 1}" in written for die in dice)
        if seat == state["player"] and not over:
            for slot in range(len(dice)):
                face = int(state["hand_faces"][seat, slot])
                assert label_of(regions[f"die-{slot + 1}"]) == f"die {slot + 1}: {FACE_NAMES[face]}"
                if face != WILD:
                    assert_face(regions[f"die-{slot + 1}"].findall(f"{SVG}path"), face)
    in_hands = int((state["hand_dice"][: batch.num_players] >= 0).sum())
    bag = 42 - in_hands - int((state["dice"] >= 0).sum())
    assert any(text.startswith(f"{bag} dice in the bag") for text in written)
    assert any("idle rounds" in text for text in written) == (state["idle_rounds"] > 0)
    assert ("button-end" in regions) == bool(batch.masks[0, -1] and not over)
    declares = int(set_cubed_draw.declare_action(options))
    is_declaring = bool(batch.masks[0, declares : declares + 27].any()) and not over
    assert [name for name in regions if name.startswith("face-")] == (
        [f"face-{name}" for name in FACE_NAMES[:WILD]] if is_declaring else []
    )


def assert_face(paths: list[ET.Element], face: int) -> None:
    colour, shape, number = face // 9, face // 3 % 3, face % 3 + 1
    assert [path.attrib["fill"] for path in paths] == [set_cubed_draw.INKS[colour]] * number
    assert {path.attrib["d"] for path in paths} == {set_cubed_draw.PATHS[shape]}


FACTS = {
    "yum": check_yum,
    "yahtzee_jr": check_yahtzee_jr,
    "showdown_yahtzee": check_showdown_yahtzee,
    "set_cubed": check_set_cubed,
}


def test_facts__every_game_has_its_check() -> None:
    assert set(FACTS) == set(GAMES)


@each_table
def test_drawing__shows_every_fact_of_the_position(table: int) -> None:
    for batch, over, _, root in positions(table):
        FACTS[TABLES[table][0]](batch, root, over)


@each_table
def test_drawings__of_different_positions_differ(table: int) -> None:
    seen: dict[str, bytes] = {}
    for batch, _, svg, _ in positions(table):
        state = batch.states[0].copy()
        if batch.game.name == "set_cubed":
            state["has_laid"] = 0  # it only says whether a round counts as idle once it is over
        assert seen.setdefault(svg, state.tobytes()) == state.tobytes()


def test_action_regions__are_where_a_player_would_put_a_finger() -> None:
    def regions(name: str, action: int, **fields: Any) -> tuple[str, ...]:
        game = load_game(name)
        batch = Batch(game, 1)
        batch.reset(1)
        for field, value in fields.items():
            batch.states[field] = value
        assert game.action_regions is not None
        return game.action_regions(batch.states[0], batch.options, action)

    assert regions("yum", 0b10101) == ("die-1", "die-3", "die-5")
    assert regions("yum", 0) == ()
    assert regions("yum", yum.FILL + yum.HIGH_STRAIGHT, player=1) == ("box-1-high-straight",)
    place = yahtzee_jr.PLACE + 4
    assert regions("yahtzee_jr", 0b00010) == ("die-2",)
    assert regions("yahtzee_jr", place, dice=[1, 5, 5, 5, 6], tokens=-1) == ("cell-goofy-4",)
    assert regions("yahtzee_jr", place, dice=[1, 1, 2, 3, 4], tokens=-1) == ("cell-goofy-0",)
    pawns = [5, 4, 8, 12]
    assert regions("showdown_yahtzee", 0b11000) == ("die-4", "die-5")
    assert regions("showdown_yahtzee", showdown_yahtzee.CLAIM + 8) == ("card-full-house",)
    assert regions("showdown_yahtzee", showdown_yahtzee.TARGET + 11) == ("space-15",)
    assert regions("showdown_yahtzee", showdown_yahtzee.STAY, player=0, pawns=pawns) == ("space-5",)
    assert regions("showdown_yahtzee", showdown_yahtzee.MOVE_ON, player=1, pawns=pawns) == ("pawn-1",)
    assert regions("set_cubed", 2 * 121 + 12) == ("die-3", "cell-B2")
    assert regions("set_cubed", 5 * 121 + 1) == ("face-2RO",)
    assert regions("set_cubed", 5 * 121 + 27 + 0b00011) == ("die-1", "die-2")
    assert regions("set_cubed", 5 * 121 + 27 + 32) == ("button-end",)


def test_yahtzee_jr__every_token_on_a_picture_is_drawn() -> None:
    batch = Batch(load_game("yahtzee_jr"), 1, num_players=4)
    batch.reset(1)
    batch.states["tokens"][0, :, 2] = yahtzee_jr.PICTURE
    picture = regions_in(ET.fromstring(drawing_of(batch).svg))["cell-donald-0"]
    tokens = [text for text in picture.iter(f"{SVG}text") if text.text in ("0", "1", "2", "3")]
    assert len({(token.attrib["x"], token.attrib["y"]) for token in tokens}) == 4
    assert label_of(picture) == "Donald, the picture: player_0 and player_1 and player_2 and player_3"


# Marks


def yum_drawing(marks: Marks) -> ET.Element:
    batch = Batch(load_game("yum"), 1)
    batch.reset(1)
    return ET.fromstring(drawing_of(batch, marks).svg)


def frame_of(root: ET.Element, name: str) -> dict[str, str]:
    group = regions_in(root)[name]
    (frame,) = [rect for rect in group.findall(f"{SVG}rect") if rect.attrib.get("class") == "frame"]
    return frame.attrib


@pytest.mark.parametrize(
    ("kind", "colour", "dashed"), [("chosen", GOLD, False), ("changed", CHANGED, False), ("legal", GOLD, True)]
)
def test_marks__frame_the_regions_that_they_name_and_no_other(kind: str, colour: str, dashed: bool) -> None:
    root = yum_drawing(Marks(**{kind: frozenset({"die-2", "box-1-low", "nothing"})}))
    for name in regions_in(root):
        frame = frame_of(root, name)
        assert (frame.get("stroke") == colour) == (name in ("die-2", "box-1-low"))
        assert ("stroke-dasharray" in frame) == (dashed and name in ("die-2", "box-1-low"))


def test_marks__a_choice_stands_out_among_the_legal_ones() -> None:
    both = frozenset({"die-2"})
    frame = frame_of(yum_drawing(Marks(legal=both, changed=both, chosen=both)), "die-2")
    assert (frame["stroke"], frame["stroke-width"]) == (GOLD, "4")
    assert frame_of(yum_drawing(Marks(legal=both, changed=both)), "die-2")["stroke"] == CHANGED


def test_marks__values_are_written_on_their_regions() -> None:
    root = yum_drawing(Marks(values={"box-0-ones": "21.3", "nothing": "9"}))
    assert [name for name, group in regions_in(root).items() if "21.3" in texts_in(group)] == ["box-0-ones"]
    assert "9" not in texts_in(root)


@pytest.mark.parametrize("name", GAMES)
def test_marks__the_last_action_is_written_below(name: str) -> None:
    batch = Batch(load_game(name), 1)
    batch.reset(1)
    written = "<script>&\"'</script> " * 9  # long, and in need of escapes
    root = ET.fromstring(drawing_of(batch, Marks(last=written)).svg)
    (last,) = [text for text in root.iter(f"{SVG}text") if text.text == written]
    assert float(last.attrib["y"]) > HEIGHT - 36
    assert float(last.attrib["font-size"]) * 0.53 * len(written) <= WIDTH - 32 + 6


def test_mark_last__says_what_was_done_and_where_but_frames_no_dice() -> None:
    game = load_game("yum")
    batch = Batch(game, 1)
    batch.reset(1, script=[1, 2, 3, 4, 5])
    keep = mark_last(game, batch.states[0], batch.options, 0b00110)
    assert keep == Marks(last="player_0 keeps 2 3")
    fill = mark_last(game, batch.states[0], batch.options, yum.FILL + yum.LOW_STRAIGHT)
    assert fill == Marks(last="player_0 fills Low Straight: 15", changed=frozenset({"box-0-low-straight"}))


def test_svg__escapes_every_text_and_attribute() -> None:
    nasty = "\"'<>&"
    svg = Svg(Marks(values={nasty: nasty}), nasty)
    svg.text(0, 0, nasty)
    svg.rect(0, 0, 1, 1, nasty)
    with svg.region(nasty, nasty, 0, 0, 1, 1, fill=nasty):
        pass
    root = ET.fromstring(svg.finish())
    assert root[0].text == nasty
    assert texts_in(root) == [nasty, nasty]
    assert next(root.iter(f"{SVG}rect")).attrib["fill"] == nasty
    assert list(regions_in(root)) == [nasty]


def test_text__shrinks_only_as_far_as_it_must() -> None:
    svg = Svg(Marks(), "")
    svg.text(0, 0, "short", 20, fit=200)
    svg.text(0, 0, "very long" * 10, 20, fit=200)
    sizes = [float(text.attrib["font-size"]) for text in ET.fromstring(svg.finish()).iter(f"{SVG}text")]
    assert sizes == [20, pytest.approx(200 / (0.53 * 90), abs=0.06)]


# Colours


def linear(colour: str) -> NDArray[np.float64]:
    values = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    """CIE L*a*b* of a linear RGB colour."""
    matrix = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(matrix @ np.clip(rgb, 0, 1) / np.array([0.9505, 1.0, 1.089]))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


# How colour-blind people see linear RGB colours (Machado, Oliveira and Fernandes, 2009; severity 1).
SEEN = {
    "normal": np.eye(3),
    "protanopia": np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
    "deuteranopia": np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
    "tritanopia": np.array([[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]),
}


@pytest.mark.parametrize("eyes", SEEN)
def test_set_cubed__its_colours_differ_for_everybody(eyes: str) -> None:
    seen = [lab(SEEN[eyes] @ linear(colour)) for colour in set_cubed_draw.INKS]
    for one, other in itertools.combinations(seen, 2):
        assert np.linalg.norm(one - other) > 30  # 10 is easily seen side by side


def test_ink__can_be_read_on_every_colour_of_a_seat() -> None:
    for colour in (*SEATS, GOLD):
        light, dark = sorted((0.2126, 0.7152, 0.0722) @ linear(one) for one in (colour, ink_on(colour)))[::-1]
        assert (light + 0.05) / (dark + 0.05) > 3  # for large letters: WCAG 2


# Pixels


@pytest.mark.parametrize("name", GAMES)
def test_rgb_array__is_of_one_size_and_changes_with_the_game(name: str) -> None:
    env = DiceEnv(load_game(name), render_mode="rgb_array")
    env.reset(seed=3)
    before = env.render()
    for _ in range(4):
        assert isinstance(before, np.ndarray)
        assert (before.dtype, before.shape) == (np.uint8, (HEIGHT, WIDTH, 3))
        assert before.flags.c_contiguous
        assert before.flags.writeable
        env.step(int(RandomPolicy().act(env.view())[0]))
        after = env.render()
        assert isinstance(after, np.ndarray)
        assert (after != before).any()
        before = after


@pytest.mark.parametrize("name", GAMES)
def test_rgb_array__a_frame_takes_a_moment(name: str) -> None:
    """`python -m benchmarks pictures` measures it; here a limit that a busy machine meets, too."""
    env = DiceEnv(load_game(name), load_game(name).max_players, render_mode="rgb_array")
    env.reset(seed=3)
    env.render()
    spent = []
    for _ in range(5):
        start = time.process_time()
        env.render()
        spent.append(time.process_time() - start)
    assert min(spent) < 0.1


def test_pixels__colours_are_those_of_the_drawing() -> None:
    svg = Svg(Marks(), "")
    svg.rect(0, 0, WIDTH, HEIGHT, "#ff8000")
    svg.rect(0, 0, WIDTH / 2, HEIGHT / 2, "#0040c0")
    pixels = Drawing(svg.finish()).pixels()
    assert pixels[10, 10].tolist() == [0, 0x40, 0xC0]
    assert pixels[590, 790].tolist() == pixels[590, 10].tolist() == pixels[10, 790].tolist() == [0xFF, 0x80, 0]
    half = Drawing(svg.finish()).pixels(0.5)
    assert half.shape == (HEIGHT // 2, WIDTH // 2, 3)
    assert half[10, 10].tolist() == [0, 0x40, 0xC0]


def test_pixels__letters_come_from_the_fonts_of_the_package() -> None:
    def ink(bold: bool, text: str) -> int:
        svg = Svg(Marks(), "")
        svg.rect(0, 0, WIDTH, HEIGHT, "#ffffff")
        svg.text(10, 100, text, 60, "#000000", bold=bold)
        return int((Drawing(svg.finish()).pixels() < 128).all(axis=2).sum())

    assert 500 < ink(False, "player_0") < ink(True, "player_0")
    assert ink(False, "") == 0


def test_fonts__have_every_character_and_their_licence() -> None:
    from fontTools.ttLib import TTFont

    written = {character for table in range(len(TABLES)) for position in positions(table) for character in position.svg}
    for weight in ("normal", "bold"):
        font = TTFont(font_file(weight))
        assert font["name"].getBestFamilyName() == "Fivedice Sans"
        assert {ord(character) for character in written} - {0x0A} <= set(font.getBestCmap())
    licence = (font_file("bold").parent / "OFL.txt").read_text("utf-8")
    assert "SIL OPEN FONT LICENSE" in licence.upper()
    assert "url(data:font/ttf;base64," in font_style()
    assert font_style().count("@font-face") == 2


@pytest.mark.parametrize("face", range(1, 7))
def test_pips__lie_as_on_a_die(face: int) -> None:
    assert len(PIPS[face]) == face
    assert {8 - int(place) for place in PIPS[face]} == set(map(int, PIPS[face]))  # the same upside down
    assert ("4" in PIPS[face]) == (face % 2 == 1)


# Where a drawing is seen


def test_draw__a_game_without_a_drawing_shows_its_text() -> None:
    game = replace(load_game("yum"), draw=None, action_regions=None)
    batch = Batch(game, 1)
    batch.reset(1)
    drawn = draw(game, batch.states[0], batch.options, Marks(last="player_0 fills Ones: 1 & more"))
    written = texts_in(ET.fromstring(drawn.svg))
    assert written == [*game.render(batch.states[0], batch.options).split("\n"), "player_0 fills Ones: 1 & more"]
    assert regions_of(game, batch.states[0], batch.options, [0]) == frozenset()
    assert drawn.pixels().shape == (HEIGHT, WIDTH, 3)


@pytest.mark.parametrize("name", GAMES)
def test_env__draws_its_position_with_its_last_action(name: str) -> None:
    env = DiceEnv(load_game(name))
    assert env._repr_svg_() is None
    with pytest.raises(RuntimeError, match="draw\\(\\) before the first game: call reset"):
        env.draw()
    env.reset(seed=5)
    game, batch = env.game, env._batch
    assert env.draw() == draw(game, batch.states[0], batch.options)
    for _ in range(5):
        before, action = batch.states[0].copy(), int(RandomPolicy().act(env.view())[0])
        env.step(action)
        marks = mark_last(game, before, batch.options, action)
        assert env.draw() == draw(game, batch.states[0], batch.options, marks)
        assert env._repr_svg_() == env.draw().svg == env.draw()._repr_svg_()
    snapshot = env.get_state()
    env.set_state(snapshot)
    assert env.draw() == draw(game, batch.states[0], batch.options)  # what led here is not part of a snapshot
    env.reset(seed=5)
    assert env.draw() == draw(game, batch.states[0], batch.options)


def test_env__a_refused_action_is_not_the_last_one() -> None:
    env = yum_v0.env()
    env.reset(seed=1)
    env.step(0)
    drawn = env.draw()
    with pytest.raises(ValueError, match="is not legal"):
        env.step(yum.FILL + yum.YUM)
    assert env.draw() == drawn


def test_seat_env__draws_the_last_action_of_any_seat() -> None:
    env = SeatEnv("yum", seat=0, opponents="greedy", render_mode="rgb_array")
    assert env._repr_svg_() is None
    env.reset(seed=1)
    assert "keeps" not in env.draw().svg
    env.step(0)
    assert ">player_0 keeps none</text>" in env.draw().svg
    env.step(0)
    filled = int(np.flatnonzero(env.action_masks())[-1])
    env.step(filled)
    assert re.search(">player_1 fills [^<]*</text>", env.draw().svg)
    assert env._repr_svg_() == env.draw().svg
    np.testing.assert_array_equal(env.render(), env.draw().pixels())
    env.reset()
    assert "player_1 fills" not in env.draw().svg


def test_gymnasium__shows_and_records_pictures() -> None:
    env = gymnasium.make("fivedice/YahtzeeJr-v0", render_mode="rgb_array", opponents="greedy")
    env.reset(seed=1)
    picture = env.render()
    assert isinstance(picture, np.ndarray)
    assert picture.shape == (HEIGHT, WIDTH, 3)
    env.close()


def test_without_pylunasvg__says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    drawing_module._rasteriser.cache_clear()
    for make in (
        lambda: yum_v0.env(render_mode="rgb_array"),
        lambda: SeatEnv("yum", render_mode="rgb_array"),
        lambda: Drawing("<svg/>").pixels(),
    ):
        with pytest.raises(ModuleNotFoundError, match=r"need pylunasvg; install it with .* 'fivedice\[render\]'"):
            make()


def test_pylunasvg__is_loaded_with_the_first_pixels() -> None:
    code = """
import sys
from fivedice.envs import yum_v0
env = yum_v0.env(render_mode="rgb_array")
env.reset(seed=1)
env.draw()
assert "pylunasvg" not in sys.modules
env.render()
assert "pylunasvg" in sys.modules
assert not {"tkinter", "PIL", "matplotlib"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_pages__have_a_picture_each() -> None:
    root = Path(__file__).parents[3]
    for name in GAMES:
        page = (root / "envs" / name / "README.md").read_text("utf-8")
        (picture,) = re.findall(r"!\[[^]]+\]\((\S+)\)", page)
        file = (root / "envs" / name / picture).resolve()
        assert file == root / "docs" / "_static" / f"{name}.png"
        assert file.stat().st_size < 60_000


def declared(game: Game) -> bool:
    return game.draw is not None and game.action_regions is not None


def test_games__all_have_a_drawing() -> None:
    assert all(declared(load_game(name)) for name in GAMES)
