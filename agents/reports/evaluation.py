"""The evaluation of the command line: play the matches, print tables, and draw the score breakdown."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from fivedice.agents.evaluation.breakdown import ScoreBreakdown, score_sheet_of
from fivedice.agents.evaluation.match import count_deals, count_games, evaluate, play_games
from fivedice.agents.evaluation.variance import point_values
from fivedice.agents.policies.baselines import OPTIMAL, optimum
from fivedice.agents.reports.tables import (
    breakdown_report,
    check_picture,
    draw_breakdown,
    progress_bar,
    standings_report,
)
from fivedice.envs.core.spec import Game
from fivedice.envs.core.view import Policy, View


def show_evaluation(
    console: Console,
    game: Game,
    contenders: Mapping[str, Policy],
    *,
    games: int,
    num_players: int,
    seed: int,
    options: dict[str, Any] | None = None,
    luck: bool = True,
    breakdown: bool = False,
    plot: Path | None = None,
) -> None:
    """Play every contender against every other, and print the results.

    Args:
        console: the console for the tables.
        game, contenders, games, num_players, seed, options: see `evaluate`.
        luck: whether to show luck-adjusted results, too, if the game is solved for points.
        breakdown: whether to print the score breakdown. If the game is solved for points, the table includes optimal
            play.
        plot: a file for a plot of the score breakdown (.png, .svg or .pdf), or None.

    Raises:
        ValueError: the plot cannot be drawn, or the game has no score breakdown.
    """
    record = game.make_options(num_players, options or {})
    if plot is not None:
        check_picture(plot)
    sheet = score_sheet_of(game) if breakdown or plot is not None else None
    values = point_values(game, record)
    policies = dict(contenders)
    if sheet is not None and values is not None and OPTIMAL.name not in policies:
        policies[OPTIMAL.name] = OPTIMAL  # its index follows those of the contenders
    plays_alone = len(policies) - len(contenders)
    lone = num_players == 1 or len(contenders) == 1
    deals = games if lone else count_deals(games, num_players)
    breakdowns = {} if sheet is None else {name: ScoreBreakdown(sheet, deals) for name in policies}
    by_number = list(breakdowns.values())

    def watch(number: int, deals: NDArray[np.int64], view: View, actions: NDArray[np.int64]) -> None:
        by_number[number].add(deals, view, actions)

    total = count_games(len(contenders), games=games, num_players=num_players) + deals * plays_alone
    with progress_bar(console, "games", total) as advance:
        standings = evaluate(
            game,
            contenders,
            games=games,
            num_players=num_players,
            seed=seed,
            options=options,
            values=values if luck else None,
            watch=None if sheet is None else watch,
            progress=advance,
        )
        if plays_alone:
            seating = np.full((deals, num_players), len(contenders))
            play_games(
                game, seating, list(policies.values()), seed=seed, options=options, watch=watch, progress=advance
            )
    players = "1 player" if num_players == 1 else f"{num_players} players"
    title = f"{game.title}, {players}, {standings[0].games} games{'' if lone else ' per pairing'}, seed {seed}"
    best = optimum(game, record)
    console.print(standings_report(standings, title=title, num_players=num_players, optimum=best))
    if sheet is not None and breakdown:
        console.print(breakdown_report(sheet, breakdowns))
    if sheet is not None and plot is not None:
        exact = next((name for name, policy in policies.items() if policy is OPTIMAL), None)
        draw_breakdown(sheet, breakdowns, plot, title=title, yardstick=exact)
        console.print(f"Plot: {plot}", highlight=False)
