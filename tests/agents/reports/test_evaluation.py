"""What an evaluation shows: tables whose figures are those of the games, and a picture."""

import importlib.util
import io
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rich.console import Console, RenderableType
from rich.progress import Progress

from fivedice.agents.evaluation.breakdown import Measure, ScoreBreakdown, score_sheet_of
from fivedice.agents.evaluation.estimate import Estimate
from fivedice.agents.evaluation.match import Standing, evaluate, play_games
from fivedice.agents.policies.baselines import GREEDY, RandomPolicy
from fivedice.agents.reports import tables
from fivedice.agents.reports.evaluation import show_evaluation
from fivedice.agents.reports.tables import (
    breakdown_report,
    check_picture,
    draw_breakdown,
    figure,
    games_for,
    points_table,
    progress_bar,
    standings_report,
    wins_table,
)
from fivedice.envs import load_game
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.view import Policy, View
from fivedice.envs.yum.rules import BOXES

YUM, YAHTZEE_JR = load_game("yum"), load_game("yahtzee_jr")
SCORE_SHEET = score_sheet_of(YUM)
POINTS, ZEROS, TURN, BONUS = SCORE_SHEET.measures
RARE = ("Yum", "Bonus")  # where random play hardly ever writes points
needs_compiled_code = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too long in plain Python")
needs_matplotlib = pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="matplotlib is optional")

RAW = Standing("greedy", 4000, Estimate(142.5, 0.8, 2000), {"best": Estimate(0.355, 0.014, 2000)})
BOTH = Standing(
    "best",
    4000,
    Estimate(155.0, 0.8, 2000),
    {"greedy": Estimate(0.645, 0.014, 2000)},
    Estimate(155.7, 0.15, 2000),
    {"greedy": Estimate(0.648, 0.009, 2000)},
)


def shown(what: RenderableType, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(what)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def cells(said: str, first: str) -> list[str]:
    """The cells of the first line that begins with this word."""
    line = next(line for line in said.splitlines() if line.strip().startswith(first))
    return re.split(r"  +", line.strip())


# Standings


def test_figure__has_its_interval() -> None:
    assert figure(Estimate(145.2, 0.806, 9)) == "145.20 ± 0.81"
    assert figure(Estimate(0.621, 0.0149, 9), percent=True) == "62.1 ± 1.5 %"
    assert figure(Estimate(-0.0001, 0.124, 9), percent=True) == "0.0 ± 12.4 %"
    assert figure(Estimate(145.2, float("nan"), 1)) == "145.20 ± ?"
    assert figure(Estimate.of_shares(np.ones(2)), percent=True) == "100.0 (34.2 to 100.0) %"
    assert figure(Estimate.of_shares(np.zeros(2)), percent=True) == "0.0 (0.0 to 65.8) %"
    assert figure(Estimate.of_shares(np.array([1.0] * 1999 + [0.0])), percent=True) == "100.0 (99.7 to 100.0) %"
    assert figure(Estimate.of_shares(np.array([1.0, 0.5] * 500)), percent=True) == "75.0 ± 1.6 %"


def test_tables__say_what_few_games_cannot_tell() -> None:
    """Two games of two players are one dice seed."""
    won, lost = Estimate.of_shares(np.ones(1)), Estimate.of_shares(np.zeros(1))
    few = [
        Standing("best", 2, Estimate.of(np.array([150.0])), {"greedy": won}),
        Standing("greedy", 2, Estimate.of(np.array([140.0])), {"best": lost}),
    ]
    said = shown(standings_report(few, title="Yum", num_players=2, optimum=None))
    assert cells(said, "best")[:2] == ["best", "150.00 ± ?"]
    assert "?: one dice seed gives no interval; play more games" in said
    assert "100.0 (20.7 to 100.0) %" in said
    assert "the ends of its 95 % interval" in said
    many = shown(standings_report([BOTH, RAW], title="Yum", num_players=2, optimum=None))
    assert "the ends" not in many
    assert "?" not in many


def test_games_for__a_narrow_interval() -> None:
    assert games_for(BOTH, Estimate(155.0, 0.8, 2000)) == "260,000"  # 4000 games make it 0.8: 64 times as many
    assert games_for(BOTH, Estimate(155.0, 0.15, 2000)) == "9,000"
    assert games_for(BOTH, Estimate(155.0, 0.1, 2000)) == "4,000"
    assert games_for(BOTH, Estimate(169.9, 1e-12, 2000)) == "1"
    assert games_for(BOTH, Estimate(169.9, 0.0, 2000)) == "1"
    assert games_for(BOTH, Estimate(155.0, float("nan"), 1)) == "?"


def test_points_table__beside_the_optimum_and_without_luck() -> None:
    said = shown(points_table([BOTH], title="Yum", optimum=169.8765))
    assert cells(said, "best") == ["best", "155.00 ± 0.80", "155.70 ± 0.15", "91.7 %", "260,000", "9,000"]
    assert "169.8765 points" in said
    said = shown(points_table([RAW], title="Yum", optimum=None))
    assert cells(said, "greedy") == ["greedy", "142.50 ± 0.80"]
    for word in ("adjusted", "optimum"):
        assert word not in said


def test_wins_table__raw_and_without_luck() -> None:
    said = shown(wins_table([BOTH, RAW], num_players=2))
    assert cells(said, "best") == ["best", "greedy", "64.5 ± 1.4 %", "64.8 ± 0.9 %"]
    assert cells(said, "greedy") == ["greedy", "best", "35.5 ± 1.4 %"]
    assert "equals win" not in said
    assert "adjusted" not in shown(wins_table([RAW], num_players=2))
    assert "one player against 2 of the other kind; equals win 33.3 %" in shown(wins_table([BOTH], num_players=3))


def test_tables__names_are_folded_before_figures_are_cut() -> None:
    name = "some/where/far/away/" * 4
    long = replace(BOTH, name=name, wins={name: BOTH.wins["greedy"]}, adjusted_wins={name: BOTH.wins["greedy"]})
    said = shown(standings_report([long, RAW], title="Yum", num_players=2, optimum=169.8765))
    greedy, random = tallied([GREEDY, RandomPolicy()], 2, 3, seed=9)
    breakdowns = {name: greedy, f"{name}too/": random, f"{name}three/": greedy, f"{name}four/": random}
    said += shown(breakdown_report(SCORE_SHEET, breakdowns))
    assert said.count("100.0 %") >= 2
    for told in ("155.00 ± 0.80", "155.70 ± 0.15", "91.7 %", "260,000", "9,000", "64.5 ± 1.4 %"):
        assert told in said
    assert "…" not in said
    assert max(len(line) for line in said.splitlines()) <= 80


# Where the points go


def tallied(policies: Sequence[Policy], seats: int, deals: int, seed: int) -> list[ScoreBreakdown]:
    breakdowns = [ScoreBreakdown(SCORE_SHEET, deals) for _ in policies]

    def watch(number: int, games: NDArray[np.int64], view: View, actions: NDArray[np.int64]) -> None:
        breakdowns[number].add(games, view, actions)

    named = {str(number): policy for number, policy in enumerate(policies)}
    evaluate(YUM, named, games=deals * (seats if len(policies) > 1 else 1), num_players=seats, seed=seed, watch=watch)
    return breakdowns


def means(breakdown: ScoreBreakdown, measure: Measure) -> NDArray[np.float64]:
    return np.array([estimate.mean for estimate in breakdown.estimates(measure)])


@pytest.mark.parametrize("policy", [GREEDY, RandomPolicy()], ids=lambda policy: policy.name)
def test_breakdown__is_what_stands_in_the_boxes(policy: Policy) -> None:
    """Against the boxes as the games leave them, and the turns as they come."""
    (breakdown,) = tallied([policy], 2, 30, seed=5)
    batch = Batch(YUM, 30)
    batch.reset(5)
    rows, turns = batch.all_rows, np.zeros((30, 2, 12))
    while len(rows):
        before = batch.states["boxes"][rows, :2].copy()
        seats = batch.movers[rows].copy()
        batch.step(policy.act(batch.view(rows)), rows, restart=False)
        for place, row in enumerate(rows):
            filled = batch.states["boxes"][row, seats[place]] != before[place, seats[place]]
            turns[row, seats[place], filled] = turns[row, seats[place]].max() + 1
        rows = rows[~batch.terminated[rows]]
    boxes = batch.states["boxes"][:, :2].astype(float)
    bonus = boxes[:, :, :6].sum(axis=2) >= 63
    points, _ = batch.results(batch.all_rows)
    assert means(breakdown, POINTS) == pytest.approx([*boxes.mean(axis=(0, 1)), 25 * bonus.mean()])
    assert means(breakdown, POINTS).sum() == pytest.approx(points.mean())
    assert means(breakdown, ZEROS) == pytest.approx([*(boxes == 0).mean(axis=(0, 1)), 1 - bonus.mean()])
    assert means(breakdown, TURN) == pytest.approx([*turns.mean(axis=(0, 1)), np.nan], nan_ok=True)
    assert means(breakdown, BONUS) == pytest.approx([*[np.nan] * 12, bonus.mean()], nan_ok=True)
    assert bonus.any() == (policy is GREEDY)


def test_breakdown__measures_of_yum() -> None:
    assert [
        (measure.name, measure.is_share, measure.adds_up, measure.only_row) for measure in SCORE_SHEET.measures
    ] == [
        ("points", False, True, None),
        ("zeros", True, False, None),
        ("turn of filling", False, False, None),
        ("bonus earned", True, False, "Bonus"),
    ]
    assert SCORE_SHEET.rows == (*BOXES, "Bonus")


def test_breakdown__of_made_up_cards() -> None:
    """Of several seats: points, zeros, turns, and a bonus from 63 on that is written with the last box."""
    states = np.zeros(6, YUM.rules.STATE)
    states["boxes"][:] = 1
    upper = [62, 63, 64, 40, 40, 40]  # of the mover, without what is written now
    for state, points, seat in zip(states, upper, (0, 1, 2, 1, 0, 1), strict=True):
        state["player"] = seat
        state["boxes"][seat] = [points - 38, 6, 0, 8, 24, 0, 15, 20, 21, 0, 25, 30]
        state["dice"] = [1, 2, 3, 4, 6]
    states["boxes"][0, 0, 7] = states["boxes"][1, 1, 11] = states["boxes"][2, 2, 10] = -1  # the last box
    states["boxes"][3, 1, [0, 9, 11]] = -1  # the tenth is filled
    states["boxes"][4, 0, [2, 5]] = -1  # a throw, nothing is written
    states["boxes"][5, 1] = [-1] * 12  # the first
    states["boxes"][5, 1, 3], states["dice"][5] = -1, [2, 4, 4, 4, 5]
    options = YUM.make_options(3, {})
    empty = np.zeros((6, 1), np.float32)
    seats = states["player"].astype(np.int8)
    view = View(YUM, options, states, seats, empty, np.ones((6, 43), np.int8), np.zeros(6))
    before = states.copy()
    actions = np.array([31 + 7, 31 + 11, 31 + 10, 31 + 0, 5, 31 + 3])
    decisions, rows, figures = SCORE_SHEET.entries(view, actions)
    found = {
        (int(one), SCORE_SHEET.rows[row]): told.tolist()
        for one, row, told in zip(decisions, rows, figures, strict=True)
    }
    nan = float("nan")
    expected = {
        (0, "High Straight"): [0, 1, 12, nan],
        (1, "Yum"): [0, 1, 12, nan],
        (2, "Full House"): [0, 1, 12, nan],
        (3, "Ones"): [1, 0, 10, nan],
        (5, "Fours"): [12, 0, 1, nan],
        (0, "Bonus"): [0, 1, nan, 0],
        (1, "Bonus"): [25, 0, nan, 1],
        (2, "Bonus"): [25, 0, nan, 1],
    }
    assert set(found) == set(expected)
    for place, told in expected.items():
        assert found[place] == pytest.approx(told, nan_ok=True), place
    assert np.array_equal(states, before)  # of the view nothing is used up


@pytest.mark.parametrize("seats", [1, 2, 3])
def test_breakdown__of_each_contender_adds_up_to_its_points(seats: int) -> None:
    policies = [GREEDY, RandomPolicy(), GREEDY]
    breakdowns = tallied(policies, seats, 8, seed=6)
    named: dict[str, Policy] = {str(number): policy for number, policy in enumerate(policies)}
    for breakdown, standing in zip(
        breakdowns, evaluate(YUM, named, games=8 * seats, num_players=seats, seed=6), strict=True
    ):
        assert means(breakdown, POINTS).sum() == pytest.approx(standing.points.mean)
        assert np.nansum(means(breakdown, TURN)) == pytest.approx(78)  # each of the turns 1 to 12 fills a box


def test_breakdown__intervals_hold_the_long_run() -> None:
    (long,) = tallied([RandomPolicy()], 2, 4000, seed=7)
    held = []
    for seed in range(60):
        (short,) = tallied([RandomPolicy()], 2, 100, seed=8 + seed)
        boxes = zip(means(long, POINTS), short.estimates(POINTS), SCORE_SHEET.rows, strict=True)
        held += [abs(found.mean - truth) <= found.half_width for truth, found, row in boxes if row not in RARE]
    assert 0.9 < np.mean(held) < 0.985


def test_breakdown__a_table_for_each_measure() -> None:
    greedy, random = tallied([GREEDY, RandomPolicy()], 2, 20, seed=9)
    said = shown(breakdown_report(SCORE_SHEET, {"greedy": greedy, "random": random}))
    for row in BOXES:
        assert len(re.findall(rf"\b(?<!Low )(?<!High ){row}  ", said)) == 3, row  # points, zeros, turn
    assert len(re.findall("Bonus  ", said)) == 3  # points, zeros, earned
    total = means(greedy, POINTS).sum()
    assert cells(said, "Total")[:3] == ["Total", f"{total:.2f}", f"{means(random, POINTS).sum():.2f}"]
    assert re.search(r"± \d+\.\d % or less", said)
    assert max(len(line) for line in said.splitlines()) <= 80


@needs_compiled_code
def test_show_evaluation__breakdown_stands_beside_exact_play() -> None:
    console = Console(file=io.StringIO(), width=200)
    show_evaluation(
        console, YUM, {"greedy": GREEDY, "random": RandomPolicy()}, games=200, num_players=2, seed=3, breakdown=True
    )
    said = str(console.file.getvalue())  # type: ignore[attr-defined]
    line = cells(said[said.index("turn of filling") :], "Low Straight")
    assert len(line) == 3 * 4  # the name and three contenders, in three tables side by side
    total = [float(cell) for cell in cells(said, "Total")[1:4]]
    assert total[2] == pytest.approx(169.9, abs=6)
    assert total[0] == pytest.approx(float(cells(said, "greedy")[1].split()[0]), abs=0.006)
    assert "200 games per pairing" in said


def test_breakdown__of_a_game_without_it_is_refused_in_one_sentence() -> None:
    with pytest.raises(ValueError, match=f"{YAHTZEE_JR.title} has no score breakdown"):
        score_sheet_of(YAHTZEE_JR)
    with pytest.raises(ValueError, match="has no score breakdown"):
        show_evaluation(
            Console(file=io.StringIO()),
            YAHTZEE_JR,
            {"random": RandomPolicy()},
            games=2,
            num_players=2,
            seed=1,
            breakdown=True,
        )


# The picture


@needs_matplotlib
@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_draw__makes_a_picture(tmp_path: Path, suffix: str) -> None:
    greedy, random = tallied([GREEDY, RandomPolicy()], 2, 5, seed=10)
    file = tmp_path / f"some.{suffix}"
    check_picture(file)
    draw_breakdown(SCORE_SHEET, {"greedy": greedy, "random": random}, file, title="Yum", yardstick="random")
    assert file.stat().st_size > 5000
    assert file.read_bytes()[:4] == {"png": b"\x89PNG", "svg": b"<?xm", "pdf": b"%PDF"}[suffix]
    if suffix == "svg":
        assert file.read_text().count("<!-- Full House -->") == 1


def test_picture__that_cannot_be_drawn_is_refused_before_any_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match=r"use a name that ends in \.png, \.svg, \.pdf"):
        check_picture(tmp_path / "picture.docx")
    with pytest.raises(ValueError, match=r"the folder .* does not exist"):
        check_picture(tmp_path / "nowhere" / "picture.png")
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *package: None if name == "matplotlib" else find_spec(name, *package)
    )
    played: list[View] = []
    monkeypatch.setattr(RandomPolicy, "act", lambda self, view: played.append(view))
    with pytest.raises(ValueError, match=r"plots need matplotlib: pip install 'fivedice\[plot\]'"):
        show_evaluation(
            Console(),
            YUM,
            {"random": RandomPolicy()},
            games=2,
            num_players=1,
            seed=1,
            luck=False,
            plot=tmp_path / "picture.png",
        )
    assert not played


def test_progress_bar__counts_what_it_is_told_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    bars: list[Progress] = []

    class Kept(Progress):
        def __init__(self, *columns: Any, **settings: Any) -> None:
            super().__init__(*columns, **settings)
            bars.append(self)

    monkeypatch.setattr(tables, "Progress", Kept)
    said = []
    for is_terminal in (True, False):
        console = Console(file=io.StringIO(), force_terminal=is_terminal, width=80)
        with progress_bar(console, "games", 41) as advance:
            advance(7)
            advance(9)
        (task,) = bars.pop().tasks
        assert (task.description, task.total, task.completed) == ("games", 41, 16)
        said.append(str(console.file.getvalue()))  # type: ignore[attr-defined]
    assert "games" in said[0]
    assert said[0].endswith("\x1b[2K")  # it leaves nothing behind
    assert said[1] == ""


def test_matplotlib__is_not_imported_for_tables() -> None:
    code = "import sys, fivedice.agents.cli, fivedice.agents.reports.evaluation; print('matplotlib' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


def test_play_games__with_watch_gives_the_same_games() -> None:
    seating = np.zeros((10, 2), np.int64)
    watched = play_games(YUM, seating, [GREEDY], seed=1, watch=lambda number, games, view, actions: None)
    assert np.array_equal(watched.points, play_games(YUM, seating, [GREEDY], seed=1).points)
