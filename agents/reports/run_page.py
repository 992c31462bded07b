"""A training run as one page of HTML that needs nothing else, and its pictures as PNGs."""

import base64
import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from fivedice.agents.evaluation.breakdown import ScoreBreakdown, ScoreSheet, score_sheet_of
from fivedice.agents.evaluation.match import Estimate, evaluate
from fivedice.agents.policies.baselines import GREEDY, optimum
from fivedice.agents.policies.checkpoint import load_checkpoint, read_card
from fivedice.agents.policies.files import write_whole
from fivedice.agents.policies.protocols import HasActionFeatures
from fivedice.agents.policies.registry import load
from fivedice.agents.reports.run_plots import Line, draw_lines, draw_pool
from fivedice.agents.reports.tables import draw_breakdown, figure
from fivedice.agents.training.config import CONFIG
from fivedice.agents.training.resume import FILE
from fivedice.envs import load_game
from fivedice.envs.core.option import written
from fivedice.envs.core.spec import Game, Options
from fivedice.envs.core.view import Policy, View

PAGE = "report.html"
YARDSTICKS = ("random", "greedy")
FEATURE = "features/"  # the scalars of weights
SEED = 3_000_017  # of the games that the page is made of; no game of training or evaluation is one of them
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
img { max-width: 100%; } p { max-width: 46rem; }
table { border-collapse: collapse; } th, td { padding: .15rem .8rem .15rem 0; text-align: right; vertical-align: top; }
th:first-child, td:first-child { text-align: left; } thead th, tfoot td { border-bottom: 1px solid #999; }
tfoot td { border-top: 1px solid #999; border-bottom: none; font-weight: bold; }
"""


@dataclass(frozen=True)
class Run:
    """What a run's folder tells.

    Args:
        folder: the run's.
        config: its settings, as they were written.
        game, options: what is played.
        scalars: by their names, (K, 2) steps and values.
        snapshots: of those in the pool, the learner's steps when taken, oldest first, and its share of the wins and the
            games behind it, if it has met them.
        card: the best checkpoint's, or {} where there is none.
    """

    folder: Path
    config: Mapping[str, Any]
    game: Game
    options: Options
    scalars: Mapping[str, NDArray[np.float64]]
    snapshots: Sequence[tuple[int, float, float]]
    card: Mapping[str, Any]

    @property
    def num_players(self) -> int:
        """Seats at its table."""
        return int(self.options["num_players"])


def read_run(folder: Path) -> Run:
    """Read a run's folder.

    Raises:
        ValueError: it is not one, or nothing was logged there yet.
    """
    path = folder / CONFIG
    if not path.is_file():
        raise ValueError(f"{folder} is not the folder of a run: there is no {path}")
    try:
        config = json.loads(path.read_text())
        game = load_game(config["game"])
        options = game.make_options(config["num_players"], game.parse_options(config["options"]))
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} does not hold the settings of a run ({error})") from None
    scalars = read_scalars(folder)
    if not scalars:
        raise ValueError(f"nothing was logged in {folder} yet; there is nothing to report")
    best = folder / "best.safetensors"
    card = read_card(best) if best.is_file() else {}
    return Run(folder, config, game, options, scalars, _read_pool(folder / FILE), card)


def read_scalars(folder: Path) -> dict[str, NDArray[np.float64]]:
    """Everything that was logged, by name, (K, 2) steps and values; of a step logged twice the later."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    log = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    log.Reload()
    return {
        tag: np.array(sorted({point.step: point.value for point in log.Scalars(tag)}.items()), np.float64)
        for tag in log.Tags()["scalars"]
    }


def _read_pool(path: Path) -> list[tuple[int, float, float]]:
    try:
        with safe_open(path, framework="numpy") as file:
            pool = json.loads(file.metadata()["notes"])["pool"]
    except (SafetensorError, OSError, KeyError, TypeError, ValueError):
        return []  # not saved yet, or broken: the page does without
    results = pool.get("results", {})
    found = []
    for number, steps in pool["steps"].items():
        games, won = results.get(number, (0.0, 0.0))
        found.append((int(steps), won / games if games else np.nan, games))
    return found


def write_report(run: Run, out: Path, *, games: int) -> list[Path]:
    """Write the page and its pictures into a folder; returns what was written, the page first.

    Args:
        run: what is told of.
        out: the folder.
        games: how many are played for each yardstick, and for the table of where the points go.
    """
    sections = [
        ("Points", _learning(run, out, games)),
        ("Wins", _wins(run, out)),
        ("Opponents", _pool(run, out)),
        ("Entropy", _entropy(run, out)),
        ("Features of actions", _features(run, out)),
        ("Speed", _speed(run, out)),
        ("Where the points go", _boxes(run, out, games)),
        ("Settings", _settings(run)),
    ]
    title = f"{run.game.title}: {run.folder.absolute().name}"
    body = "".join(f"<h2>{html.escape(name)}</h2>\n{content}\n" for name, content in sections if content)
    page = (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{html.escape(title)}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<h1>{html.escape(title)}</h1>\n{_summary(run)}\n{body}</body>\n</html>\n"
    )
    write_whole(out / PAGE, partial(_write_text, text=page))
    return [out / PAGE, *sorted(out.glob("*.png"))]


def _summary(run: Run) -> str:
    last = max(int(points[-1, 0]) for points in run.scalars.values())
    chosen = ", ".join(f"{name} {written(value)}" for name, value in run.game.options_dict(run.options).items())
    said = f"{run.num_players} seat{'s' * (run.num_players > 1)}; {chosen}. {last:,} decisions of the learner."
    if run.card:
        said += f" The best checkpoint was taken after {run.card.get('steps', 0):,}."
    rows = []
    for name, told in run.card.get("evaluation", {}).items():
        estimate = Estimate(told["mean"], told["half_width"], told["deals"])
        rows.append([name.replace("_", " "), figure(estimate, percent="win" in name)])
    table = _table(["the best when it was taken", "95 % interval"], rows) if rows else ""
    return f"<p>{html.escape(said)}</p>\n{table}"


def _learning(run: Run, out: Path, games: int) -> str:
    lines = [_line(run, "eval/score", "learner, likeliest actions", 0)]
    if "rollout/score" in run.scalars:
        lines.append(
            Line("learner in training, drawn actions", _smooth(run.scalars["rollout/score"]), colour=0, faint=True)
        )
    levels = {}
    for name in YARDSTICKS:
        policy = {name: load(name)}
        (standing,) = evaluate(
            run.game,
            policy,
            games=games,
            num_players=run.num_players,
            seed=SEED,
            options=run.game.options_dict(run.options),
        )
        levels[name] = standing.points
    best = optimum(run.game, run.options)
    if best is not None:
        levels["exact optimum"] = Estimate(best, 0.0, 1)
    path = out / "learning.png"
    draw_lines([line for line in lines if line is not None], levels, path, y="points a game")
    told = "".join(f"<li>{name}: {figure(level)}</li>" for name, level in levels.items() if level.half_width)
    best_said = f"<li>exact optimum: {best:.4f}</li>" if best is not None else ""
    return (
        f"{_image(path, 'points over the run')}<p>To compare with, each among its equals, in {games:,} games of seed "
        f"{SEED}, with 95 % intervals:</p><ul>{told}{best_said}</ul>"
    )


def _wins(run: Run, out: Path) -> str:
    begin, training = "eval/win_rate_vs_", "rollout/win_rate_vs_"
    known = {
        tag.partition("_vs_")[2]: None
        for tag in run.scalars
        if tag.startswith((begin, training)) and not _is_width(tag)
    }
    lines = []
    for colour, name in enumerate(known):
        if begin + name in run.scalars:
            lines.append(_line(run, begin + name, f"against {name.replace('_', ' ')}, evaluation", colour, scale=100))
        if training + name in run.scalars:
            smooth = _smooth(run.scalars[training + name]) * [1, 100]
            lines.append(Line(f"against {name}, in training", smooth, colour=colour, faint=True))
    if not lines:
        return ""
    path = out / "wins.png"
    fair = {"fair share": Estimate(100 / run.num_players, 0.0, 1)}
    draw_lines([line for line in lines if line is not None], fair, path, y="share of the wins, %", most=100.0)
    return (
        f"{_image(path, 'wins against each opponent over the run')}<p>Evaluations play the likeliest actions from "
        "every seat in turn, with 95 % intervals where they were logged; in training actions are drawn, and the "
        "line is a running mean. <i>previous_best 1</i> is the best before, at the time.</p>"
    )


def _pool(run: Run, out: Path) -> str:
    if run.num_players == 1 or not run.snapshots:
        return ""
    path = out / "pool.png"
    draw_pool(run.snapshots, path, fair=1 / run.num_players)
    mix = ", ".join(f"{kind} {weight:g}" for kind, weight in run.config.get("opponents", {}).items() if weight)
    return (
        f"{_image(path, 'the pool of snapshots')}<p>The snapshots that may be dealt as opponents at the run's end, "
        "and the learner's share of the wins against each, the latest games counting most, with intervals for about as "
        f"many games. Weights of the kinds of opponents: {html.escape(mix)}.</p>"
    )


def _entropy(run: Run, out: Path) -> str:
    tag = "rollout/entropy_ratio"
    if tag not in run.scalars:
        return ""
    path = out / "entropy.png"
    draw_lines([Line("learner", run.scalars[tag], colour=0)], {}, path, y="entropy / log(legal actions)", height=2.6)
    return f"{_image(path, 'entropy over the run')}<p>1 is random play, 0 is decided; where there is a choice.</p>"


def _features(run: Run, out: Path) -> str:
    tags = sorted(tag for tag in run.scalars if tag.startswith(FEATURE))
    if not tags:
        return ""
    prior = GREEDY.of(run.game)
    meanings = prior.features if isinstance(prior, HasActionFeatures) else {}
    path = out / "features.png"
    lines = [
        Line(tag.removeprefix(FEATURE), _smooth(run.scalars[tag]), colour=number) for number, tag in enumerate(tags)
    ]
    draw_lines(lines, {}, path, y="weight", height=3.2)
    rows = [
        [line.name, f"{run.scalars[tag][-1, 1]:+.2f}", meanings.get(line.name, "")]
        for line, tag in zip(lines, tags, strict=True)
    ]
    return (
        f"{_image(path, 'weights of features over the run')}<p>What one more of each feature is worth to the learner, "
        "in the unit of what its prior expects of an action; the mean over positions.</p>"
        f"{_table(['feature', 'weight at the end', 'of what'], rows)}"
    )


def _speed(run: Run, out: Path) -> str:
    tag = "time/rollout_decisions_per_second"
    if tag not in run.scalars:
        return ""
    path = out / "speed.png"
    speed = _smooth(run.scalars[tag]) * [1, 1e-3]
    draw_lines([Line("while playing", speed, colour=0)], {}, path, y="thousand decisions / s", height=2.6)
    median = np.median(run.scalars[tag][:, 1])
    return (
        f"{_image(path, 'speed over the run')}<p>The learner's decisions while playing, without learning; "
        f"the median is {median:,.0f} a second.</p>"
    )


def _boxes(run: Run, out: Path, games: int) -> str:
    best = run.folder / "best.safetensors"
    try:
        sheet = score_sheet_of(run.game)
        policies: dict[str, Policy] = {
            "best": load_checkpoint(best),
            "greedy": load("greedy"),
            "optimal": load("optimal"),
        }
    except ValueError as error:
        no_table = "there is no detailed table" in str(error)
        return "" if no_table else f"<p>{html.escape(str(error))}.</p>"
    breakdowns = {}
    for name, policy in policies.items():
        breakdown = breakdowns[name] = ScoreBreakdown(sheet, games)
        evaluate(
            run.game,
            {name: policy},
            games=games,
            num_players=run.num_players,
            seed=SEED,
            options=run.game.options_dict(run.options),
            watch=partial(_write_down, breakdown),
        )
    path = out / "boxes.png"
    title = f"{run.game.title}, {games:,} games, seed {SEED}"
    write_whole(path, partial(_draw_boxes, sheet, breakdowns, title))
    tables = []
    for measure in sheet.measures:
        columns = [breakdown.estimates(measure) for breakdown in breakdowns.values()]
        rows = [
            [row, *(_cell(estimate, measure.is_share) for estimate in estimates)]
            for row, estimates in zip(sheet.rows, zip(*columns, strict=True), strict=True)
            if not all(np.isnan(estimate.mean) for estimate in estimates)
        ]
        total = ["Total", *(f"{sum(e.mean for e in column):.2f}" for column in columns)] if measure.adds_up else None
        tables.append(f"<h3>{html.escape(measure.name)}</h3>{_table(['', *breakdowns], rows, total)}")
    return _image(path, "where the points go") + "".join(tables)


def _write_down(
    breakdown: ScoreBreakdown, number: int, deals: NDArray[np.int64], view: View, actions: NDArray[np.int64]
) -> None:
    breakdown.add(deals, view, actions)


def _draw_boxes(sheet: ScoreSheet, breakdowns: Mapping[str, ScoreBreakdown], title: str, path: Path) -> None:
    draw_breakdown(sheet, breakdowns, path, title=title, yardstick="optimal", kind="png")


def _cell(estimate: Estimate, is_share: bool) -> str:
    return "" if np.isnan(estimate.mean) else figure(estimate, percent=is_share)


def _settings(run: Run) -> str:
    rows = [[name, json.dumps(value)] for name, value in run.config.items()]
    return _table(["setting", "value"], rows)


def _line(run: Run, tag: str, name: str, colour: int, *, scale: float = 1.0) -> Line | None:
    if tag not in run.scalars:
        return None
    points, widths = run.scalars[tag] * [1, scale], run.scalars.get(f"{tag}_half_width")
    half = None
    if widths is not None:
        at = dict(widths.tolist())
        half = np.array([scale * at.get(step, np.nan) for step in points[:, 0]])
    return Line(name, points, colour=colour, half_widths=half)


def _is_width(tag: str) -> bool:
    return tag.endswith("_half_width")


def _smooth(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The running mean over a fiftieth of the run."""
    width = max(1, len(points) // 50)
    kernel = np.ones(width) / width
    return np.column_stack([np.convolve(column, kernel, mode="valid") for column in points.T])


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]], total: Sequence[str] | None = None) -> str:
    def line(cells: Sequence[str], kind: str) -> str:
        return f"<tr>{''.join(f'<{kind}>{html.escape(cell)}</{kind}>' for cell in cells)}</tr>"

    body = "\n".join(line(row, "td") for row in rows)
    foot = f"<tfoot>{line(total, 'td')}</tfoot>" if total else ""
    return f"<table><thead>{line(headings, 'th')}</thead><tbody>\n{body}\n</tbody>{foot}</table>\n"


def _image(path: Path, alt: str) -> str:
    data = base64.b64encode(path.read_bytes()).decode()
    return f'<img alt="{html.escape(alt)}" src="data:image/png;base64,{data}">\n'


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
