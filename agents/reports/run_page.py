"""The report of a training run: one self-contained HTML page, and its pictures as PNG files."""

import html
import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fivedice.agents.evaluation.breakdown import ScoreBreakdown, ScoreSheet, score_sheet_of
from fivedice.agents.evaluation.estimate import Estimate
from fivedice.agents.evaluation.match import evaluate
from fivedice.agents.policies.baselines import GREEDY, OPTIMAL, baseline_names, optimum
from fivedice.agents.policies.checkpoint import load_checkpoint
from fivedice.agents.policies.files import write_text, write_whole
from fivedice.agents.policies.protocols import HasActionFeatures
from fivedice.agents.policies.registry import load
from fivedice.agents.reports.film import film_of_match
from fivedice.agents.reports.film_page import film_page
from fivedice.agents.reports.html_page import html_frame, html_headline, html_image, html_page, html_table
from fivedice.agents.reports.run_data import Run
from fivedice.agents.reports.run_plots import Line, draw_lines, draw_pool
from fivedice.agents.reports.tables import draw_breakdown, figure
from fivedice.envs.core.option import written
from fivedice.envs.core.view import Policy, View

PAGE = "report.html"
EVALUATION, TRAINING = "eval/win_rate_vs_", "rollout/win_rate_vs_"  # prefixes of the scalars of win rates
FEATURE = "features/"  # the prefix of the scalars of feature weights
SEED = 3_000_017  # for the games of the page; training and evaluation use other seeds


def write_report(run: Run, out: Path, *, games: int) -> list[Path]:
    """Write the page and its pictures into a folder.

    Args:
        run: the run.
        out: the folder, which is created if it does not exist.
        games: the number of games of each baseline, and of each policy in the score breakdown.

    Returns:
        The paths of the page and of all pictures, the page first.
    """
    baselines = {name: _points_in_self_play(run, name, games) for name in reversed(baseline_names(run.game))}
    best = optimum(run.game, run.options)
    sections = [
        ("Result", _result(run, baselines, best, games)),
        ("Where the points go", _breakdown(run, out, games)),
        ("A game", _game(run)),
        ("Points over the run", _points(run, baselines, best, out)),
        ("Win rate over the run", _wins(run, out)),
        ("Opponent pool", _pool(run, out)),
        ("Entropy", _entropy(run, out)),
        ("Action features", _features(run, out)),
        ("Speed", _speed(run, out)),
        ("Settings", _settings(run)),
    ]
    body = "".join(f"<h2>{html.escape(name)}</h2>\n{content}\n" for name, content in sections if content)
    title = f"{run.game.title}: {run.folder.absolute().name}"
    write_text(out / PAGE, html_page(title, f"{_headline(run, best)}{_summary(run)}\n{body}"))
    return [out / PAGE, *sorted(out.glob("*.png"))]


def _points_in_self_play(run: Run, name: str, games: int) -> Estimate:
    (standing,) = evaluate(
        run.game,
        {name: load(name)},
        games=games,
        num_players=run.num_players,
        seed=SEED,
        options=run.game.options_dict(run.options),
    )
    return standing.points


def _headline(run: Run, best: float | None) -> str:
    """How good the best checkpoint is, in one figure: percent of the optimum, or its win rate against greedy play."""
    figures = run.card.get("evaluation", {})
    if best is not None and "score" in figures:
        return html_headline(_of_optimum(Estimate.from_dict(figures["score"]), best), "of the optimum")
    for rival in baseline_names(run.game):
        if f"win_rate_vs_{rival}" in figures:
            wins = Estimate.from_dict(figures[f"win_rate_vs_{rival}"])
            return html_headline(figure(wins, percent=True), f"win rate against {rival}")
    return ""


def _summary(run: Run) -> str:
    last = max(int(points[-1, 0]) for points in run.scalars.values())
    chosen = ", ".join(f"{name} {written(value)}" for name, value in run.game.options_dict(run.options).items())
    said = f"{run.num_players} player{'s' * (run.num_players > 1)}; {chosen}. The learner made {last:,} decisions."
    if run.card:
        said += f" The best checkpoint was saved after {run.card.get('steps', 0):,} decisions."
    return f"<p>{html.escape(said)}</p>"


def _result(run: Run, baselines: Mapping[str, Estimate], best: float | None, games: int) -> str:
    figures = {name: Estimate.from_dict(said) for name, said in run.card.get("evaluation", {}).items()}
    points = {"best checkpoint": figures["score"]} if "score" in figures else {}
    points |= dict(sorted(baselines.items(), key=lambda item: -item[1].mean))
    rows = [[name, figure(estimate), _of_optimum(estimate, best)] for name, estimate in points.items()]
    if best is not None:
        rows.append(["optimal (exact)", f"{best:.4f}", "100 %"])
    said = (
        "Points per game with 95 % intervals. "
        f"The best checkpoint: its evaluation games{_rival(run)} when it was saved. "
        f"Baselines, each in self-play: {games:,} games, seed {SEED}."
    )
    if best is None:
        table = html_table(["policy", "points per game"], [row[:2] for row in rows])
    else:
        table = html_table(["policy", "points per game", "of optimum"], rows)
    wins = [
        [_opponent(name), figure(estimate, percent=True)]
        for name, estimate in figures.items()
        if name.startswith("win_rate_vs_")
    ]
    if wins:
        table += f"<h3>Win rate of the best checkpoint</h3>\n{html_table(['against', 'win rate'], wins)}"
    return f"<p>{said}</p>\n{table}"


def _rival(run: Run) -> str:
    """Against whom an evaluation measures points: the last of its baselines, see `Training.evaluate`."""
    if run.num_players == 1:
        return ""
    baselines = baseline_names(run.game)
    return " against optimal" if run.config.get("opponents", {}).get("optimal") else f" against {baselines[0]}"


def _of_optimum(estimate: Estimate, best: float | None) -> str:
    return "" if best is None else f"{100 * estimate.mean / best:.1f} %"


def _opponent(tag: str) -> str:
    """The opponent in the name of a win rate, in words."""
    return tag.partition("_vs_")[2].replace("_", " ")


def _points(run: Run, baselines: Mapping[str, Estimate], best: float | None, out: Path) -> str:
    lines = [_line(run, "eval/score", "learner, evaluation", 0)]
    if "rollout/score" in run.scalars:
        lines.append(Line("learner, training", _smooth(run.scalars["rollout/score"]), colour=0, faint=True))
    levels = dict(baselines)
    if best is not None:
        levels["optimal"] = Estimate(best, 0.0, 1)
    path = out / "learning.png"
    draw_lines([line for line in lines if line is not None], levels, path, y="points per game")
    return (
        f"{html_image(path, 'points over the run')}<p>Evaluation: games{_rival(run)} with the most probable "
        "actions; the band is the 95 % interval. Training: sampled actions against the opponents of training, as a "
        "running mean. Horizontal lines: the baselines.</p>"
    )


def _wins(run: Run, out: Path) -> str:
    known = {
        tag.partition("_vs_")[2]: _opponent(tag)
        for tag in run.scalars
        if tag.startswith((EVALUATION, TRAINING)) and not _is_end(tag)
    }
    lines = []
    for colour, (name, opponent) in enumerate(known.items()):
        if EVALUATION + name in run.scalars:
            lines.append(_line(run, EVALUATION + name, f"against {opponent}, evaluation", colour, scale=100))
        if TRAINING + name in run.scalars:
            smooth = _smooth(run.scalars[TRAINING + name]) * [1, 100]
            lines.append(Line(f"against {opponent}, training", smooth, colour=colour, faint=True))
    if not lines:
        return ""
    path = out / "wins.png"
    equal = {"equal strength": Estimate(100 / run.num_players, 0.0, 1)}
    draw_lines([line for line in lines if line is not None], equal, path, y="win rate of the learner, %", most=100.0)
    said = (
        "Evaluation: most probable actions, from every seat in turn; a band is a 95 % interval. "
        "Training: sampled actions; a running mean."
    )
    if "snapshots" in known:
        said += " <i>snapshots</i>: all snapshots in the opponent pool together."
    if any(name.startswith("previous_best_") for name in known):
        said += (
            " <i>previous best 1</i> is the previous best checkpoint at that moment, and <i>previous best 2</i> is the "
            "best checkpoint before it."
        )
    return f"{html_image(path, 'win rate against each opponent over the run')}<p>{said}</p>"


def _pool(run: Run, out: Path) -> str:
    if run.num_players == 1 or not run.snapshots:
        return ""
    path = out / "pool.png"
    draw_pool(run.snapshots, path, fair=1 / run.num_players)
    mix = ", ".join(
        f"{kind} {weight:g}" if isinstance(weight, (int, float)) else f"{kind} {', '.join(weight)}"
        for kind, weight in run.config.get("opponents", {}).items()
        if weight
    )
    return (
        f"{html_image(path, 'the pool of snapshots')}<p>The snapshots in the opponent pool at the end of the run, and "
        "the learner's win rate against each in training. Recent games count most. Each bar is a 95 % interval for the "
        f"weighted number of games. Weights of the kinds of opponents: {html.escape(mix)}.</p>"
    )


def _entropy(run: Run, out: Path) -> str:
    tag = "rollout/entropy_ratio"
    if tag not in run.scalars:
        return ""
    path = out / "entropy.png"
    draw_lines([Line("learner", run.scalars[tag], colour=0)], {}, path, y="entropy / log(legal actions)", height=2.6)
    return (
        f"{html_image(path, 'entropy over the run')}<p>Policy entropy divided by log(number of legal actions), for "
        "decisions with at least two legal actions: 1 is uniform random play, 0 is deterministic play.</p>"
    )


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
        f"{html_image(path, 'weights of features over the run')}<p>For each action, the learner adds each "
        "feature times its weight to the prior's value estimate. The weights shown here are means over positions.</p>"
        f"{html_table(['feature', 'final weight', 'meaning'], rows)}"
    )


def _speed(run: Run, out: Path) -> str:
    tag = "time/rollout_decisions_per_second"
    if tag not in run.scalars:
        return ""
    path = out / "speed.png"
    speed = _smooth(run.scalars[tag]) * [1, 1e-3]
    draw_lines([Line("rollouts", speed, colour=0)], {}, path, y="thousand decisions / s", height=2.6)
    median = np.median(run.scalars[tag][:, 1])
    return (
        f"{html_image(path, 'speed over the run')}<p>The learner's decisions per second during rollouts, without "
        f"the time for updates of the network; the median is {median:,.0f} per second.</p>"
    )


def _breakdown(run: Run, out: Path, games: int) -> str:
    try:
        sheet = score_sheet_of(run.game)
    except ValueError:
        return ""  # the game has no score sheet
    try:
        policies: dict[str, Policy] = {
            "best": load_checkpoint(run.folder / "best.safetensors"),
            **{policy.name: policy for policy in (GREEDY, OPTIMAL) if policy.plays(run.game)},
        }
    except ValueError as error:
        return f"<p>{html.escape(str(error))}.</p>"
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
    path = out / "breakdown.png"
    title = f"{run.game.title}, self-play, {games:,} games, seed {SEED}"
    write_whole(path, partial(_draw_breakdown, sheet, breakdowns, title))
    tables = []
    for measure in sheet.measures:
        columns = [breakdown.estimates(measure) for breakdown in breakdowns.values()]
        rows = [
            [row, *(_cell(estimate, measure.is_share) for estimate in estimates)]
            for row, estimates in zip(sheet.rows, zip(*columns, strict=True), strict=True)
            if not all(np.isnan(estimate.mean) for estimate in estimates)
        ]
        total = ["Total", *(f"{sum(e.mean for e in column):.2f}" for column in columns)] if measure.adds_up else None
        tables.append(f"<h3>{html.escape(measure.name)}</h3>{html_table(['', *breakdowns], rows, total)}")
    said = "Means over all games in self-play, with 95 % intervals. <i>best</i> is the best checkpoint."
    folded = f"<details><summary>The numbers</summary>{''.join(tables)}</details>"
    return f"{html_image(path, 'score breakdown')}<p>{said}</p>{folded}"


def _write_down(
    breakdown: ScoreBreakdown, number: int, deals: NDArray[np.int64], view: View, actions: NDArray[np.int64]
) -> None:
    breakdown.add(deals, view, actions)


def _draw_breakdown(sheet: ScoreSheet, breakdowns: Mapping[str, ScoreBreakdown], title: str, path: Path) -> None:
    yardstick = OPTIMAL.name if OPTIMAL.name in breakdowns else None
    draw_breakdown(sheet, breakdowns, path, title=title, yardstick=yardstick, kind="png")


def _game(run: Run) -> str:
    """A game of the best checkpoint, to step through: against greedy play, or alone."""
    rival = load(baseline_names(run.game)[0])
    try:
        policies: list[Policy] = [load_checkpoint(run.folder / "best.safetensors")]
        policies += [rival] * (run.num_players - 1)
        film, _ = film_of_match(run.game, policies, seed=SEED, options=run.game.options_dict(run.options))
    except ValueError as error:
        return f"<p>{html.escape(str(error))}.</p>"
    return html_frame(film_page(film), "a game of the best checkpoint", height="64rem")


def _cell(estimate: Estimate, is_share: bool) -> str:
    return "" if np.isnan(estimate.mean) else figure(estimate, percent=is_share)


def _settings(run: Run) -> str:
    rows = [[name, json.dumps(value)] for name, value in run.config.items()]
    return html_table(["setting", "value"], rows)


def _line(run: Run, tag: str, name: str, colour: int, *, scale: float = 1.0) -> Line | None:
    if tag not in run.scalars:
        return None
    points = run.scalars[tag]
    steps, means = points.T
    half_widths = _at(run, f"{tag}_half_width", steps)  # version 0.1 has logged this in place of the ends
    low, high = _at(run, f"{tag}_low", steps), _at(run, f"{tag}_high", steps)
    low = np.where(np.isnan(low), means - half_widths, low)
    high = np.where(np.isnan(high), means + half_widths, high)
    ends = None if np.isnan(low).all() else scale * np.stack([low, high])
    return Line(name, points * [1, scale], colour=colour, ends=ends)


def _at(run: Run, tag: str, steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values of a scalar at these steps, NaN where it is missing."""
    logged = dict(run.scalars[tag].tolist()) if tag in run.scalars else {}
    return np.array([logged.get(step, np.nan) for step in steps])


def _is_end(tag: str) -> bool:
    return tag.endswith(("_half_width", "_low", "_high"))


def _smooth(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The running mean over 2 % of the run."""
    width = max(1, len(points) // 50)
    kernel = np.ones(width) / width
    return np.column_stack([np.convolve(column, kernel, mode="valid") for column in points.T])
