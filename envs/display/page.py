"""The tables of a game's page, made from the game's declaration.

In a Markdown file, the lines ``<!-- tables: yum -->`` and ``<!-- end -->`` enclose the tables of a game.
``python -m fivedice.envs.display.page FILE ...`` replaces everything between them. A test fails if a page differs from
the code.
"""

import re
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from fivedice.envs import load_game
from fivedice.envs.core.spec import Game

REWARDS = (
    (
        "win",
        "at the end of the game: the winners share +1 and the losers share -1; all get 0 if everyone wins",
        "default with 2 players or more",
    ),
    ("score", "at each step: the change of the player's points", "default with 1 player"),
    ("margin", "at each step: the change of the player's points, minus the mean change of the others' points", ""),
)
BLOCK = re.compile(r"(<!-- tables: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def tables(game: Game) -> str:
    """The tables of observations, actions, rewards and options in Markdown, for the default options."""
    players, options = game.default_players, game.make_options()
    layout = game.layout(options)
    parts = [
        f"Ids `{game.aec_id}` (PettingZoo) and `{game.gymnasium_id}` (Gymnasium); {game.min_players} to "
        f"{game.max_players} players, {players} by default; "
        f"a player makes at most {game.max_decisions_per_seat} decisions in a game.",
        f"**Observation**, float32 ({layout.size},) with {players} players; own seat first, then the others in turn "
        "order:",
        markdown(
            ("at", "field", "shape", "range", "meaning"),
            [
                (
                    f"{at.start}-{at.stop - 1}" if field.size > 1 else str(at.start),
                    f"`{field.name}`",
                    str(field.shape),
                    f"{field.low:g} to {field.high:g}",
                    field.meaning,
                )
                for field, at in zip(layout.fields, layout.places.values(), strict=True)
            ],
        ),
        f"**Actions**, `Discrete({game.num_actions(options)})`:",
        markdown(("action", "meaning"), action_rows(game.action_names(options))),
        "**Rewards**:",
        markdown(("`reward`", "reward of a player", ""), [(f"`{name}`", *rest) for name, *rest in REWARDS]),
        "**Options**:",
        markdown(
            ("option", "values, the default first", "meaning"),
            [(f"`{option.name}`", option.valid, option.meaning) for option in game.rules.OPTIONS],
        ),
    ]
    return "\n\n".join(parts) + "\n"


def action_rows(action_names: Sequence[str]) -> list[tuple[str, str]]:
    """One row for each group of consecutive actions whose names start with the same word.

    A row lists all names if there are at most twelve, otherwise the first two and the last one.

    Args:
        action_names: the names of all actions, in order.

    Returns:
        For each row the range of actions, such as ``"31-42"``, and the names.
    """
    rows = []
    for _, run in groupby(enumerate(action_names), lambda entry: entry[1].split()[0]):
        actions = list(run)
        first, last = actions[0][0], actions[-1][0]
        names = [name for _, name in actions]
        listed = ", ".join(names) if len(names) <= 12 else f"{names[0]}, {names[1]}, … {names[-1]}"
        rows.append((str(first) if first == last else f"{first}-{last}", listed))
    return rows


def markdown(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def with_tables(text: str) -> str:
    """Return the Markdown text with every block of tables replaced by the current one."""
    return BLOCK.sub(lambda block: f"{block[1]}{tables(load_game(block[2]))}{block[3]}", text)


def main() -> None:
    """Update the tables in the files that are named on the command line."""
    for path in map(Path, sys.argv[1:]):
        path.write_text(with_tables(path.read_text()))


if __name__ == "__main__":
    main()
