"""The report of a run: one page that needs nothing else, with every picture in it."""

import base64
import importlib.util
import json
import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fivedice.agents import cli
from fivedice.agents.reports.run_data import read_run
from fivedice.agents.reports.run_page import PAGE, write_report
from fivedice.agents.reports.run_plots import Line, decisions_unit, draw_lines
from fivedice.agents.training.config import CONFIG, Mix, TrainConfig
from fivedice.agents.training.run import Training

pytestmark = pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="matplotlib is optional")

SETTINGS = TrainConfig(
    game="yahtzee_jr",
    opponents=Mix(current=1, past=1, hard=1, random=1, greedy=1),
    total_timesteps=1024,
    n_envs=16,
    n_steps=16,
    batch_size=64,
    n_epochs=1,
    net_arch=(8,),
    snapshot_every=256,
    eval_every=512,
    eval_games=10,
    check_games=10,
    torch_threads=1,
)


def trained(folder: Path, config: TrainConfig) -> Path:
    Training(config, folder, lambda progress: None).learn()
    (folder / CONFIG).write_text(json.dumps(asdict(config), default=str))
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained(tmp_path_factory.mktemp("<a & b>"), SETTINGS)


def test_report__is_one_page_with_every_picture_in_it(run: Path, tmp_path: Path) -> None:
    written = write_report(read_run(run), tmp_path, games=20)
    assert written[0] == tmp_path / PAGE
    pictures = {path.name: path.read_bytes() for path in written[1:]}
    assert set(pictures) == {"entropy.png", "learning.png", "pool.png", "speed.png", "wins.png"}
    page = written[0].read_text()
    sources = re.findall(r'src="([^"]*)"', page)
    held = [base64.b64decode(source.removeprefix("data:image/png;base64,")) for source in sources]
    assert sorted(held) == sorted(pictures.values())
    for forbidden in ("http", "<script", "<link", "<a & b>"):
        assert forbidden not in re.sub(r'src(doc)?="[^"]*"', "", page)
    assert page.count("<iframe") == 1
    for heading in (
        "Result",
        "A game",
        "Points over the run",
        "Win rate over the run",
        "Opponent pool",
        "Entropy",
        "Speed",
        "Settings",
    ):
        assert f"<h2>{heading}</h2>" in page
    assert "Where the points go" not in page  # Yahtzee Jr. has none
    assert "The learner made 1,024 decisions" in page
    assert re.search(r"<td>greedy</td><td>\d+\.\d (± \d+\.\d|\(\d+\.\d to \d+\.\d\)) %</td>", page)
    assert "hard 1" in page


def test_read_run__pool_and_scalars_are_the_run_s(run: Path) -> None:
    told = read_run(run)
    assert [steps for steps, _, _ in told.snapshots] == [0, 256, 512, 768, 1024]
    assert all(0 <= share <= 1 for _, share, games in told.snapshots if games)
    assert sum(games for _, _, games in told.snapshots) > 5
    assert told.scalars["rollout/score"][:, 0].tolist() == [256, 512, 768, 1024]
    score, low, high = (told.scalars[f"eval/score{end}"] for end in ("", "_low", "_high"))
    assert (low[:, 1] < score[:, 1]).all()
    assert (score[:, 1] < high[:, 1]).all()
    np.testing.assert_array_equal(low[:, 0], score[:, 0])


def test_report__alone_and_without_checkpoints(tmp_path: Path) -> None:
    run = trained(tmp_path / "run", replace(SETTINGS, num_players=1, total_timesteps=512))
    for name in ("best.safetensors", "resume.safetensors"):
        (run / name).unlink()
    page = write_report(read_run(run), tmp_path / "out", games=20)[0].read_text()
    assert "<h2>Points over the run</h2>" in page
    assert "<td>optimal (exact)</td><td>19.39" in page
    assert "<h2>Win rate over the run</h2>" not in page
    assert "<h2>Opponent pool</h2>" not in page


def test_report__of_features_has_their_weights(tmp_path: Path) -> None:
    config = replace(
        SETTINGS, game="showdown_yahtzee", prior="greedy", prior_span=2.0, prior_features=True, eval_every=1024
    )
    folder = trained(tmp_path / "run", config)
    written = write_report(read_run(folder), tmp_path / "report", games=4)
    assert tmp_path / "report" / "features.png" in written
    page = written[0].read_text()
    last = read_run(folder).scalars["features/lasting"][-1, 1]
    assert f"<td>lasting</td><td>{last:+.2f}</td><td>the swing, each chip weighed by the chance" in page


def test_report__of_yum_has_the_table_of_boxes(tmp_path: Path) -> None:
    run = trained(tmp_path / "run", replace(SETTINGS, game="yum", num_players=1))
    written = write_report(read_run(run), tmp_path / "out", games=20)
    page = written[0].read_text()
    assert tmp_path / "out" / "breakdown.png" in written
    assert "<th>best</th><th>greedy</th><th>optimal</th>" in page
    assert page.count("<td>Full House</td>") == 3  # points, zeros, turn of filling
    totals = re.search(r"<tfoot><tr><td>Total</td><td>([\d.]+)</td><td>([\d.]+)</td><td>([\d.]+)</td>", page)
    assert totals is not None
    assert float(totals[3]) > float(totals[2]) > float(totals[1])


def test_decisions__are_counted_so_that_axes_have_short_numbers() -> None:
    assert decisions_unit(np.array([0.0, 199_999.0])) == (1e3, "thousand decisions")
    assert decisions_unit(np.array([0.0, 200_000.0])) == (1e6, "million decisions")
    assert decisions_unit(np.zeros(0)) == (1e3, "thousand decisions")


def test_draw_lines__cuts_intervals_of_shares_where_shares_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.axes import Axes

    drawn = []
    monkeypatch.setattr(Axes, "fill_between", lambda panel, steps, low, high, **looks: drawn.append((low, high)))
    line = Line("learner", np.array([[1.0, 10.0], [2.0, 90.0]]), 0, np.array([[-10.0, 70.0], [30.0, 110.0]]))
    draw_lines([line], {}, tmp_path / "shares.png", y="share", most=100.0)
    draw_lines([line], {}, tmp_path / "points.png", y="points")
    assert [(low.tolist(), high.tolist()) for low, high in drawn] == [
        ([0.0, 70.0], [30.0, 100.0]),
        ([-10.0, 70.0], [30.0, 110.0]),
    ]


def broken(folder: Path, text: str) -> Path:
    (folder / CONFIG).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "is not the folder of a run, because .*config.json does not exist"),
        ("{", "config.json does not contain the settings of a run"),
        ("{}", "config.json does not contain the settings of a run"),
        (json.dumps(asdict(SETTINGS), default=str), "nothing has been logged in .* yet; train longer"),
    ],
)
def test_report__of_no_run_is_refused(tmp_path: Path, text: str | None, said: str) -> None:
    if text is not None:
        broken(tmp_path, text)
    with pytest.raises(ValueError, match=said):
        read_run(tmp_path)


def test_command__writes_into_the_run_s_folder(run: Path, capsys: Any) -> None:
    cli.report.report_run(run, games=20)
    assert "report.html" in capsys.readouterr().out
    assert (run / "report" / PAGE).is_file()
    with pytest.raises(ValueError, match="is a file; choose another folder for the report"):
        cli.report.report_run(run, out=run / CONFIG)
