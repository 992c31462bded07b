"""README and docs/: their examples run, their links lead somewhere, and what they list is what the code has."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import pytest

import fivedice
from fivedice.agents import load
from fivedice.agents.cli import app
from fivedice.agents.policies.checkpoint import make_card
from fivedice.agents.training.config import Mix
from fivedice.envs import GAMES, load_game, yum_v0

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PACKAGE = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
SOURCE = PACKAGE["urls"]["Source"]
IN_REPOSITORY = (f"{SOURCE}/blob/main/", f"{SOURCE.replace('github.com', 'raw.githubusercontent.com')}/main/")

# Files that are read in two places, in the repository and as (a part of) a page: relative links would break in one.
READ_TWICE = [
    *(ROOT / name for name in ("CHANGELOG.md", "CONTRIBUTING.md")),
    *(ROOT / "envs" / name / "README.md" for name in GAMES),
]
PAGES = sorted(DOCS.rglob("*.md"))
EXAMPLES = [ROOT / "README.md", *sorted((DOCS / "guides").glob("*.md"))]

FENCE = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NOT_RUN = re.compile(r"<!-- not run: \S.* -->\n\Z")
LINK = re.compile(r"!?\[[^]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`]+)`")


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: its language, its text, and whether a comment before it says why it is not run."""

    page: Path
    language: str
    text: str
    is_run: bool


def blocks(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    # The installation is tested by test_install and by whoever runs the tests.
    run_by_others = ("pip install", "make train", "make test")
    return [
        Block(
            page,
            found[1],
            found[2],
            NOT_RUN.search(text[: found.start()]) is None and not any(word in found[2] for word in run_by_others),
        )
        for found in FENCE.finditer(text)
    ]


def commands(block: Block) -> list[str]:
    return [line[2:].split("  #")[0] for line in block.text.splitlines() if line.startswith("$ ")]


def prose(page: Path) -> str:
    return FENCE.sub("", page.read_text("utf-8"))


# Runs in one process of their own, because to start one is most of the time.
RUN_COMMANDS = """
import io, json, sys
from fivedice.agents.cli import main
for page, command in json.loads(sys.argv[1]):
    print("RUN", page, command, file=sys.stderr, flush=True)
    sys.argv, sys.stdin = command.split(), io.StringIO("q\\n")
    try:
        main()
    except SystemExit as end:
        assert not end.code, f"{page}: {command} ends with {end.code}"
"""
RUN_BLOCKS = """
import json, sys
for page, block in json.loads(sys.argv[1]):
    exec(compile(block, page, "exec"), {"__name__": "__main__"})
"""


def run(program: str, examples: list[tuple[str, str]], folder: Path, *flags: str) -> None:
    done = subprocess.run(
        [sys.executable, *flags, "-c", program, json.dumps(examples)],
        cwd=folder,
        text=True,
        capture_output=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr


def test_examples__run_in_order_in_an_empty_folder(tmp_path: Path) -> None:
    """Every Python and console block of README and guides; the checkpoint of README's commands serves all others."""
    every = [block for page in EXAMPLES for block in blocks(page) if block.is_run]
    calls = [
        (shown(block.page), command) for block in every if block.language == "console" for command in commands(block)
    ]
    python = [(shown(block.page), block.text) for block in every if block.language == "python"]
    assert sum(page == "README.md" for page, _ in calls) == 6
    assert sum(page == "README.md" for page, _ in python) == 5
    assert len(python) > 12
    assert all(command.startswith("fivedice ") for _, command in calls)
    once = {command: page for page, command in reversed(calls)}
    order = sorted(once, key=[command for _, command in calls].index)
    run(RUN_COMMANDS, [(once[command], command) for command in order], tmp_path)
    run(RUN_BLOCKS, python, tmp_path, "-W", "error")


def written_commands() -> Iterator[tuple[str, str]]:
    """Every command in README, docs/ and the pages of the games; those with an ellipsis are not whole."""
    for page in [*PAGES, *READ_TWICE]:
        if page.name == "CHANGELOG.md":
            continue  # tells of names that have changed since
        found = [command for block in blocks(page) for command in commands(block)]
        found += [" ".join(code.split()) for code in CODE.findall(prose(page))]
        for command in found:
            if command.startswith("--config "):  # a column of docs/results
                command = f"fivedice train {command}"
            if command.startswith("fivedice ") and "…" not in command:
                yield shown(page), command.removeprefix("fivedice ")


def test_commands__are_ones_that_the_command_line_takes() -> None:
    every = list(written_commands())
    assert len(every) > 40
    for page, command in every:
        words = command.replace("--resume runs/yum", "").split()  # a run that is not there
        if len(words) == 1 and words[0] in app:
            continue  # the command is named, not called
        try:
            app.parse_args(words, exit_on_error=False, print_error=False)
        except Exception as error:
            pytest.fail(f"{page}: fivedice {command}: {error}")


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and MyST make them."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, *READ_TWICE, ROOT / "README.md"], ids=shown)
def test_links__lead_to_files_and_headings_that_exist(page: Path) -> None:
    for link in LINK.findall(prose(page)):
        path, _, anchor = link.partition("#")
        if link.startswith("https://"):
            (inside,) = [path.removeprefix(base) for base in IN_REPOSITORY if path.startswith(base)] or [None]
            if inside is None:
                assert not path.startswith((SOURCE + "/", IN_REPOSITORY[1][:40])), f"{link} is not on the main branch"
                continue
            target = ROOT / inside
        else:
            # A game's page lies as deep as the page of docs/games that includes it, so its picture is found from both.
            is_picture = page.name == "README.md" and (DOCS / "games" / path).resolve().parent == DOCS / "_static"
            assert page not in READ_TWICE or not path or is_picture, (
                f"{link}: use {IN_REPOSITORY[0]}…, which works wherever it is read"
            )
            target = page.parent / path if path else page
        assert target.is_file(), f"{link}: there is no {target}"
        if anchor:
            assert anchor in anchors(target), f"{link}: no heading of {shown(target.resolve())} is called so"


def test_pages__are_in_one_toctree_each() -> None:
    listed: list[Path] = []
    for page in PAGES:
        for block in blocks(page):
            if block.language != "{toctree}":
                continue
            for entry in block.text.splitlines():
                if entry and not entry.startswith(":"):
                    found = [path for path in page.parent.glob(f"{entry}.md") if path != page]
                    assert found, f"{shown(page)}: no page is called {entry}"
                    listed += found
    assert sorted(listed) == [page for page in PAGES if page != DOCS / "index.md"]


def test_pages__that_include_a_file_include_one_that_exists() -> None:
    included = {
        page: page.parent / file
        for page in PAGES
        for file in re.findall(r"^```\{include\} (.*)$", page.read_text(), re.M)
    }
    assert all(file.is_file() for file in included.values())
    for name in GAMES:
        assert included[DOCS / "games" / f"{name}.md"].resolve() == ROOT / "envs" / name / "README.md"


def test_pages__of_what_is_listed_list_all_of_it() -> None:
    """Commands, configurations, kinds of opponents and what a checkpoint holds."""
    help_of = re.findall(r"^```\{command-help\} (\w+)$", (DOCS / "guides" / "command_line.md").read_text(), re.M)
    assert sorted(help_of) == sorted(name for name in app if not name.startswith("-"))
    training = (DOCS / "guides" / "training.md").read_text()
    for name in [path.stem for path in (ROOT / "configs").glob("*.toml")] + [field.name for field in fields(Mix)]:
        assert f"`{name}`" in training, f"{name} is not in docs/guides/training.md"
    game = load_game("yum")
    card = make_card(game, game.make_options(), (8,), "relu")
    policies = (DOCS / "guides" / "opponents_and_policies.md").read_text()
    for name in [*card, *card["network"]]:
        assert f"`{name}`" in policies, f"{name} is not in docs/guides/opponents_and_policies.md"


def test_getting_started__shows_a_game_that_was_played() -> None:
    env = yum_v0.env(render_mode="ansi")
    env.reset(seed=1)
    policies = {"player_0": load("greedy"), "player_1": load("random")}
    for _ in range(26):
        env.step(int(policies[env.agent_selection].act(env.view())[0]))
    (text,) = [block.text for block in blocks(DOCS / "guides" / "getting_started.md") if block.language == "text"]
    assert text == f"{env.render()}\n"


def test_readme__is_short_and_its_results_are_those_of_the_results_pages() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert len(readme.splitlines()) <= 200
    results = "\n".join(path.read_text("utf-8") for path in (DOCS / "results").glob("*.md"))
    table = readme.split("## Results")[1].split("\n## ")[0]
    figures = re.findall(r"[\d.]+ ± [\d.]+|[\d.]+ %", table.partition("|---")[2])
    assert len(figures) >= len(GAMES)
    for figure in figures:
        assert figure in results, f"{figure} is in README.md, but on no page of docs/results"


def test_citation__names_the_version_and_the_address_of_the_package() -> None:
    lines = (ROOT / "CITATION.cff").read_text("utf-8").splitlines()
    assert "cff-version: 1.2.0" in lines
    assert f'version: "{fivedice.__version__}"' in lines
    assert f'repository-code: "{SOURCE}"' in lines
    assert f"license: {PACKAGE['license']}" in lines
