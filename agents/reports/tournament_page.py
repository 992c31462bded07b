"""The results of a tournament: tables in the terminal, JSON and CSV files, and a plot with a heat map."""

import csv
import importlib.util
import io
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from fivedice.agents.evaluation.estimate import Estimate
from fivedice.agents.evaluation.ranking import Ranking
from fivedice.agents.evaluation.schedule import Tournament
from fivedice.agents.policies.files import check_writable, write_text, write_whole
from fivedice.agents.reports.tables import NAME, NUMBER, figure, plain_table
from fivedice.envs import load_game

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RESULTS = "tournament.json"
STANDINGS = "standings.csv"
PAIRS = "pairs.csv"
PICTURE = "tournament.png"
ENDS = ("_half_width", "_low", "_high")  # the columns of an interval, beside its mean
NOT_DISTINGUISHABLE = "not distinguishable from"
GROUP = 0.3  # inches: the width of a line in the picture that joins contenders


def title(tournament: Tournament) -> str:
    """The settings of a tournament, in one line."""
    game = load_game(tournament.game)
    usual = game.options_dict(game.make_options(tournament.num_players, {}))
    chosen = "".join(f", {name}={value}" for name, value in tournament.options if value != usual[name])
    games = tournament.deals * tournament.num_players
    tables = len(tournament.tables)
    return (
        f"{game.title}, {tournament.num_players} players{chosen}, {games:,} games for "
        f"{f'each of {tables} combinations' if tables > 1 else 'one combination'} of policies, seed {tournament.seed}"
    )


def tournament_tables(tournament: Tournament, ranking: Ranking) -> Group:
    """The tables of a tournament: the ranking, the places (with more than two players), and each pair."""
    seats = tournament.num_players
    standings = plain_table(title(tournament))
    standings.add_column("contender", overflow="fold", min_width=NAME)
    for heading in ("rating", "points per game", "win rate"):
        standings.add_column(heading, justify="right", overflow="fold", min_width=NUMBER)
    standings.add_column(NOT_DISTINGUISHABLE, overflow="fold", min_width=NAME)
    for number in ranking.order:
        standings.add_row(
            ranking.names[number],
            rating_in_words(ranking, number),
            figure(ranking.points[number]),
            figure(ranking.wins[number], percent=True),
            ", ".join(ranking.alike(number)),
        )
    parts: list[Any] = [standings, *map(Text, _notes(tournament, ranking))]
    if seats > 2:
        parts += ["", _places_table(ranking, seats)]
    pairs = plain_table("How often a contender finishes ahead of another" if seats > 2 else "Win rate")
    for heading in ("contender", "against"):
        pairs.add_column(heading, overflow="fold", min_width=NAME)
    pairs.add_column("ahead" if seats > 2 else "win rate", justify="right", overflow="fold", min_width=NUMBER)
    for one in ranking.order:
        others = [other for other in ranking.order if other != one]
        for place, other in enumerate(others):
            share = figure(ranking.pairs[one, other], percent=True)
            pairs.add_row(ranking.names[one] if place == 0 else "", ranking.names[other], share)
    return Group(*parts, "", pairs)


def _notes(tournament: Tournament, ranking: Ranking) -> list[str]:
    fair = f"; equals win {100 / tournament.num_players:.1f} %" * (tournament.num_players > 2)
    return [
        f"±: 95 % interval over {tournament.deals:,} dice seeds, the same for all combinations of policies{fair}",
        f"rating: an Elo-like scale; {ranking.names[ranking.anchor]} is 0, "
        "and 400 more mean odds of 10 : 1 to finish ahead",
        f"{NOT_DISTINGUISHABLE}: the 95 % interval of the difference of the ratings contains 0",
    ]


def _places_table(ranking: Ranking, seats: int) -> Any:
    table = plain_table("Places")
    table.add_column("contender", overflow="fold", min_width=NAME)
    for heading in ("mean place", *(f"{place + 1}." for place in range(seats))):
        table.add_column(heading, justify="right", overflow="fold", min_width=NUMBER)
    for number in ranking.order:
        shares = (figure(share, percent=True) for share in ranking.places[number])
        table.add_row(ranking.names[number], figure(ranking.place[number]), *shares)
    return table


def rating_in_words(ranking: Ranking, number: int) -> str:
    """A rating with its interval. The anchor has no interval."""
    rating = ranking.ratings.estimates[number]
    return "0" if number == ranking.anchor else f"{rating.mean:z.0f} ± {rating.half_width:.0f}"


def check_results(folder: Path) -> None:
    """Check that the results can be written into `folder`, before any game is played.

    Raises:
        ValueError: a file or a folder is in the way.
        OSError: the folder is not writable.
    """
    for name in (RESULTS, STANDINGS, PAIRS, PICTURE):
        check_writable(folder / name)


def write_results(tournament: Tournament, ranking: Ranking, folder: Path) -> list[Path]:
    """Write the JSON and CSV files and, if matplotlib is installed, the plot. Returns the paths of all files."""
    text = json.dumps(results_dict(tournament, ranking), indent=2) + "\n"
    written = {RESULTS: text, STANDINGS: _standings_csv(ranking), PAIRS: _pairs_csv(ranking)}
    for name, content in written.items():
        write_text(folder / name, content)
    paths = [folder / name for name in written]
    if importlib.util.find_spec("matplotlib") is not None:
        write_whole(folder / PICTURE, partial(_draw_as_png, tournament, ranking))
        paths.append(folder / PICTURE)
    return paths


def results_dict(tournament: Tournament, ranking: Ranking) -> dict[str, Any]:
    """All results as a dictionary, for JSON."""
    return {
        "tournament": tournament.identity()
        | {"games_per_combination": tournament.deals * tournament.num_players, "deals": tournament.deals},
        "anchor": ranking.names[ranking.anchor],
        "contenders": [
            {
                "name": ranking.names[number],
                "digest": tournament.contenders[number].digest,
                "rating": _interval(ranking.ratings.estimates[number]),
                "points": _interval(ranking.points[number]),
                "wins": _interval(ranking.wins[number]),
                "place": _interval(ranking.place[number]),
                "places": [_interval(share) for share in ranking.places[number]],
                "not_distinguishable_from": ranking.alike(number),
            }
            for number in ranking.order
        ],
        "pairs": [
            {"name": ranking.names[one], "against": ranking.names[other], "ahead": _interval(share)}
            for (one, other), share in ranking.pairs.items()
        ],
    }


def _interval(estimate: Estimate) -> dict[str, Any]:
    return {name: value for name, value in estimate.to_dict().items() if name != "deals"}


def _standings_csv(ranking: Ranking) -> str:
    seats = len(ranking.places[0])
    columns = ["rating", "points", "wins", "place", *(f"place_{place + 1}" for place in range(seats))]
    rows: list[list[object]] = [
        ["contender", *(f"{column}{end}" for column in columns for end in ("", *ENDS)), NOT_DISTINGUISHABLE]
    ]
    for number in ranking.order:
        estimates = [ranking.ratings.estimates[number], ranking.points[number], ranking.wins[number]]
        estimates += [ranking.place[number], *ranking.places[number]]
        figures = [value for estimate in estimates for value in _figures(estimate)]
        rows.append([ranking.names[number], *figures, "; ".join(ranking.alike(number))])
    return _csv(rows)


def _pairs_csv(ranking: Ranking) -> str:
    rows: list[list[object]] = [["contender", "against", *(f"ahead{end}" for end in ("", *ENDS))]]
    for (one, other), share in ranking.pairs.items():
        rows.append([ranking.names[one], ranking.names[other], *_figures(share)])
    return _csv(rows)


def _figures(estimate: Estimate) -> tuple[float, ...]:
    return estimate.mean, estimate.half_width, estimate.low, estimate.high


def _csv(rows: list[list[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _draw_as_png(tournament: Tournament, ranking: Ranking, path: Path) -> None:
    draw_tournament(tournament, ranking, path)


def draw_tournament(tournament: Tournament, ranking: Ranking, path: Path) -> None:
    """Draw a heat map of all pairs and, beside it, the ratings and which of them do not differ, as a PNG."""
    from matplotlib.figure import Figure

    count, groups = len(ranking.names), len(ranking.groups())
    longest = max(len(name) for name in ranking.names)
    height = 0.72 * count + 1.9
    width = 0.95 * count + 0.085 * longest + 5.6 + GROUP * groups
    picture = Figure(figsize=(width, height), layout="constrained")
    pairs, ratings = picture.subplots(1, 2, width_ratios=[0.95 * count + 0.6, 3.4 + GROUP * groups], sharey=True)
    _draw_pairs(pairs, ranking)
    _draw_ratings(ratings, ranking)
    seats = tournament.num_players
    games = tournament.deals * seats
    head = (
        f"{load_game(tournament.game).title}, {seats} players, {games:,} games per combination of policies, "
        f"seed {tournament.seed}"
    )
    picture.suptitle(head, fontsize=12)
    picture.savefig(path, dpi=150, format="png")


def _draw_ratings(panel: "Axes", ranking: Ranking) -> None:
    """The ratings, and a vertical line for each group of contenders whose ratings do not differ significantly."""
    means = ranking.ratings.means
    span = max(float(means.max() - means.min()), 1.0)
    for row, number in enumerate(ranking.order):
        panel.plot(means[number], row, "o", color="#0072B2", markersize=6)
        panel.annotate(
            rating_in_words(ranking, number),
            (means[number], row),
            xytext=(0, 7),
            textcoords="offset points",
            ha="center",
            fontsize=9,
        )
    rows = {number: row for row, number in enumerate(ranking.order)}
    groups = ranking.groups()
    for place, group in enumerate(groups):
        x = means.max() + span * (0.22 + 0.09 * place)
        members = [rows[number] for number in group]
        panel.plot([x, x], [members[0], members[-1]], color="#D55E00", linewidth=2.5, solid_capstyle="round")
        panel.plot([x] * len(members), members, "o", color="#D55E00", markersize=5)
    alike = "lines join contenders that are not distinguishable" if groups else "all differences are significant"
    panel.set_title(f"rating, 95 % interval\n({alike})", fontsize=11)
    panel.grid(axis="x", color="0.85", linewidth=0.7)
    panel.set_axisbelow(True)
    panel.set_xlim(means.min() - 0.2 * span, means.max() + span * (0.2 + 0.09 * len(groups)))
    panel.tick_params(axis="y", length=0)
    panel.set_xlabel(f"{ranking.names[ranking.anchor]} is 0; 400 more: odds of 10 : 1", fontsize=9)
    for side in ("left", "right", "top"):
        panel.spines[side].set_visible(False)


def _draw_pairs(panel: "Axes", ranking: Ranking) -> None:
    order = ranking.order
    count = len(order)
    shares = [[_significant_share(ranking, one, other) for other in order] for one in order]
    panel.imshow(shares, cmap="RdBu", vmin=0, vmax=1, aspect="auto")
    for row, one in enumerate(order):
        for column, other in enumerate(order):
            if one == other:
                panel.text(column, row, "-", ha="center", va="center", color="0.4")
                continue
            share = ranking.pairs[one, other]
            is_significant = share.excludes(0.5)
            colour = "white" if is_significant and abs(share.mean - 0.5) > 0.3 else "black"
            panel.text(
                column,
                row - 0.13,
                f"{100 * share.mean:.1f} %",
                ha="center",
                va="center",
                color=colour,
                fontsize=10,
                fontweight="bold" if is_significant else "normal",
            )
            panel.text(
                column,
                row + 0.2,
                f"{100 * share.low:z.1f} to {100 * share.high:z.1f}",
                ha="center",
                va="center",
                color=colour,
                fontsize=8,
            )
    names = [ranking.names[number] for number in order]
    panel.set_yticks(range(count), names)
    panel.set_xticks(range(count), names, rotation=30, ha="right", rotation_mode="anchor")
    panel.tick_params(length=0)
    panel.set_title(
        "how often the row finishes ahead of the column\n(bold on colour: significantly different from 50 %)",
        fontsize=11,
    )
    for side in panel.spines.values():
        side.set_visible(False)


def _significant_share(ranking: Ranking, one: int, other: int) -> float:
    """How often `one` finishes ahead of `other`; 0.5, which is white, if that is not distinguishable from equal."""
    if one == other or not ranking.pairs[one, other].excludes(0.5):
        return 0.5
    return ranking.pairs[one, other].mean
