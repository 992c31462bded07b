"""The page in a real browser: whole games by clicks, by keys, in a narrow window, in two tabs, across a reload."""

import shutil
import socket
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uvicorn
from playwright.sync_api import Browser, Page, expect, sync_playwright

from fivedice.agents.play.seats import seat_of
from fivedice.agents.play.session import PlaySession
from fivedice.agents.policies.baselines import GREEDY
from fivedice.agents.web.app import Games, make_app
from fivedice.envs import GAMES, load_game
from fivedice.envs.core.batch import Batch

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium, so the page is not tested in a browser")
TOKEN = "a-token"
SEED = 3
SHORT = {"showdown_yahtzee": 35, "set_cubed": 12}  # seeds of short games between greedy policies
WIDE, NARROW = (1280, 800), (390, 844)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Games]]:
    """The address of a running server, and its games."""
    folder = tmp_path_factory.mktemp("web")
    games = Games(folder / "saved", folder / "runs")
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = int(listening.getsockname()[1])
        server = uvicorn.Server(
            uvicorn.Config(make_app(games, port, TOKEN), log_level="error", lifespan="off", access_log=False)
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{port}", games
        server.should_exit = True
        thread.join(10)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as found:
        # Chromium's own sandbox does not run as root, as in a container.
        browser = found.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Tab:
    """A tab of the browser, and what it should not do: ask another host, or report an error."""

    def __init__(self, browser: Browser, address: str, size: tuple[int, int] = WIDE) -> None:
        self.address = address
        self.context = browser.new_context(viewport={"width": size[0], "height": size[1]})
        self.context.add_init_script("sessionStorage.getItem('pace') || sessionStorage.setItem('pace', '0')")
        self.errors: list[str] = []
        self.page = self.open(f"/?token={TOKEN}")

    def open(self, path: str) -> Page:
        page = self.context.new_page()
        page.set_default_timeout(30_000)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        page.on(
            "request",
            lambda asked: None if asked.url.startswith(self.address) else self.errors.append(f"asked for {asked.url}"),
        )
        page.goto(self.address + path)
        return page


@pytest.fixture
def tab(browser: Browser, served: tuple[str, Games]) -> Iterator[Tab]:
    found = Tab(browser, served[0])
    yield found
    assert found.errors == []
    found.context.close()


@pytest.fixture
def narrow(browser: Browser, served: tuple[str, Games]) -> Iterator[Tab]:
    found = Tab(browser, served[0], NARROW)
    yield found
    assert found.errors == []
    found.context.close()


def start(served: tuple[str, Games], page: Page, game: str, *seats: str) -> PlaySession:
    """Show a new game on the page."""
    address, games = served
    session = PlaySession(load_game(game), [seat_of(seat) for seat in seats], seed=SHORT.get(game, SEED))
    page.goto(f"{address}/game/{games.add(session)}")
    expect(page.locator("#board svg").first).to_be_visible()
    return session


def at(page: Page, number: int, waits: str) -> None:
    """Wait until the page shows the position after so many moves."""
    page.wait_for_selector(f'body[data-number="{number}"][data-waits="{waits}"]')


def click(page: Page, session: PlaySession, action: int) -> None:
    """Choose an action on the board: its places, and the button to throw if it keeps dice."""
    game, state = session.game, session.position.state[0]
    assert game.action_regions is not None
    keeps = game.name_action(state, session.options, action).startswith("keep")
    for place in game.action_regions(state, session.options, action):
        page.click(f'#board [data-region="{place}"]')
    if keeps:
        page.click("#throw")


@cache
def greedy_game(name: str) -> tuple[list[int], list[int], list[float], list[int]]:
    """The actions, their seats, the points and the winners of a game between greedy policies, by the engine."""
    batch, actions, seats = Batch(load_game(name), 1, num_players=2), [], []
    batch.reset(SHORT.get(name, SEED))
    while not batch.over[0]:
        action = GREEDY.act(batch.view())
        actions.append(int(action[0]))
        seats.append(int(batch.movers[0]))
        batch.step(action, restart=False)
    points, won = batch.results(batch.all_rows)
    return actions, seats, points[0].tolist(), np.flatnonzero(won[0]).tolist()


@pytest.mark.parametrize("name", GAMES)
def test_game__by_clicks_is_the_game_of_the_engine(served: tuple[str, Games], tab: Tab, name: str) -> None:
    actions, seats, points, winners = greedy_game(name)
    session = start(served, tab.page, name, "person", "greedy")
    for number, (action, seat) in enumerate(zip(actions, seats, strict=True)):
        if seat == 0:
            at(tab.page, number, "person")
            click(tab.page, session, action)
    at(tab.page, len(actions), "nobody")
    assert [move.action for move in session.moves] == actions
    assert list(session.position.scores) == points
    end = tab.page.locator("#end")
    expect(end).to_be_visible()
    solved = name in ("yum", "yahtzee_jr")
    expect(end).to_contain_text("Your dice were worth" if solved else "This game is not solved", timeout=120_000)
    for seat in (0, 1):
        expect(end).to_contain_text(f"{points[seat]:g}{', won' if seat in winners else ''}")
    assert tab.page.locator("#moves li").count() == len(actions) + 1


def test_places__that_are_not_legal_do_nothing(served: tuple[str, Games], tab: Tab) -> None:
    session = start(served, tab.page, "yum", "person", "person")
    at(tab.page, 0, "person")
    tab.page.click('#board [data-region="box-1-ones"]')  # of the other player
    tab.page.click("#status")
    assert session.number == 0
    legal = tab.page.evaluate("[...document.querySelectorAll('#board .legal')].map((place) => place.dataset.region)")
    view = session.position.view
    assert view is not None
    assert session.game.action_regions is not None
    state, options = session.position.state[0], session.options
    actions = np.flatnonzero(view.masks[0]).tolist()
    expected = {place for action in actions for place in session.game.action_regions(state, options, action)}
    assert set(legal) == expected


def test_keys__are_enough_for_a_game(served: tuple[str, Games], tab: Tab) -> None:
    """From the choice of the game to the end of the first turn, without a mouse."""
    page = tab.page
    expect(page.locator("#games input").first).to_be_visible()
    page.focus("#seed") if page.locator("#seed").is_visible() else page.focus("#start")
    page.keyboard.press("Enter")
    page.wait_for_selector('body[data-number="0"][data-waits="person"]')
    game = page.evaluate("fetch('/api' + location.pathname).then((answer) => answer.json())")
    session = served[1].of(page.url.split("/")[-1]).session
    assert game["game"] == session.game.name
    page.keyboard.press("1")
    page.keyboard.press("3")
    pressed = page.evaluate(
        "[...document.querySelectorAll('#board [aria-pressed=true]')].map((die) => die.dataset.region)"
    )
    assert sorted(pressed) == ["die-1", "die-3"]
    page.keyboard.press("t")
    at(page, 1, "person")
    assert session.moves[0].action == 0b00101
    page.keyboard.press("t")  # nothing is kept
    at(page, 2, "person")
    assert session.moves[1].action == 0
    for _ in range(60):  # Tab leads to a place that ends the turn
        page.keyboard.press("Tab")
        kind = page.evaluate("document.activeElement.dataset.kind ?? ''")
        if kind not in ("", "die"):
            break
    before = page.evaluate("document.activeElement.dataset.region")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.dataset.kind") not in ("", "die")
    assert before
    page.keyboard.press("Enter")
    page.wait_for_selector("body:not([data-number='2'])")
    assert session.moves[2].seat == 0
    page.keyboard.press("u")
    page.wait_for_selector("body[data-number='2'][data-waits='person']")


def test_undo_and_moves__lead_back(served: tuple[str, Games], tab: Tab) -> None:
    page, session = tab.page, start(served, tab.page, "yum", "person", "person")
    at(page, 0, "person")
    first = page.locator("#board").inner_html()
    click(page, session, 0b00011)
    at(page, 1, "person")
    dice = session.position.state[0]["dice"].tolist()
    click(page, session, 0)
    at(page, 2, "person")
    page.click('#moves [data-number="0"]')
    page.wait_for_selector('body[data-number="0"][data-waits="nobody"]')
    assert "looking back" in page.locator("#status").inner_text()
    assert page.locator("#board .legal").count() == 0
    assert page.url.endswith("?move=0")
    page.reload()  # the link to the position
    page.wait_for_selector('body[data-number="0"][data-waits="nobody"]')
    page.click("#now")
    at(page, 2, "person")
    page.click("#undo")
    at(page, 1, "person")
    assert session.position.state[0]["dice"].tolist() == dice
    page.click("#undo")
    at(page, 0, "person")
    assert page.locator("#board").inner_html() == first


def test_reload__loses_nothing(served: tuple[str, Games], tab: Tab) -> None:
    page, session = tab.page, start(served, tab.page, "showdown_yahtzee", "person", "person")
    for number in range(2):
        at(page, number, "person")
        view = session.position.view
        assert view is not None
        click(page, session, int(view.masks[0].argmax()))
    at(page, 2, "person")
    before = page.locator("#board").inner_html(), page.locator("#moves").inner_text()
    page.reload()
    at(page, 2, "person")
    assert (page.locator("#board").inner_html(), page.locator("#moves").inner_text()) == before


def test_tabs__are_two_games_and_a_late_click_says_why(served: tuple[str, Games], tab: Tab) -> None:
    session = start(served, tab.page, "yum", "person", "person")
    other = tab.open("/")
    twin = start(served, other, "yum", "person", "person")
    at(other, 0, "person")
    click(other, twin, 0)
    at(other, 1, "person")
    assert (session.number, twin.number) == (0, 1)
    same = tab.open(tab.page.url.removeprefix(tab.address))  # the same game in another tab
    at(same, 0, "person")
    click(tab.page, session, 0)
    at(tab.page, 1, "person")
    same.click("#throw")  # it still shows the position before
    expect(same.locator("#message")).to_contain_text("answers move 0, but the game is at move 1")
    at(same, 1, "person")  # and shows the present one now
    assert session.number == 1
    assert [error for error in tab.errors if "409" not in error] == []
    tab.errors.clear()  # the browser reports the refusal


def test_advice__stands_on_the_board(served: tuple[str, Games], tab: Tab) -> None:
    page, session = tab.page, start(served, tab.page, "yum", "person", "person")
    at(page, 0, "person")
    page.click("#advise")
    page.wait_for_selector("#values .best")
    expect(page.locator("#advice-note")).to_contain_text("optimal: expected final points")
    table = served[1].of(page.url.split("/")[-1])
    found = table.advice(0, "")
    shown = page.locator("#values button").all_inner_texts()
    for text, choice in zip(shown, found["choices"], strict=False):
        assert choice["words"] in text
        assert choice["text"] in text
    assert len(shown) == 5
    page.click("#more")
    assert page.locator("#values button").count() == len(found["choices"])
    fills = [choice for choice in found["choices"] if choice["words"].startswith("fill")]
    assert sorted(page.locator("#board .value text").all_text_contents()) == sorted(choice["text"] for choice in fills)
    page.locator("#values button").first.click()
    at(page, 1, "person")
    expect(page.locator("#loss")).to_contain_text("this was the best choice")
    assert session.moves[0].action == found["choices"][0]["action"]


def test_narrow__fits_and_has_dice_for_a_thumb(served: tuple[str, Games], narrow: Tab) -> None:
    for name in GAMES:
        session = start(served, narrow.page, name, "person", "person")
        at(narrow.page, 0, "person")
        assert narrow.page.evaluate("document.documentElement.scrollWidth") <= NARROW[0]
        assert narrow.page.locator("#board svg").count() == 2
    assert session.game.name == "yum"
    dice = narrow.page.locator("#dice button")
    assert dice.count() == 5
    box = dice.first.bounding_box()
    assert box is not None
    assert min(box["width"], box["height"]) >= 40
    dice.nth(1).click()
    dice.nth(4).click()
    narrow.page.click("#throw")
    at(narrow.page, 1, "person")
    assert session.moves[0].action == 0b10010


def test_watching__policies_move_one_after_the_other(served: tuple[str, Games], tab: Tab) -> None:
    session = start(served, tab.page, "yahtzee_jr", "greedy", "random")
    expect(tab.page.locator("#end")).to_be_visible(timeout=120_000)
    assert session.is_over
    assert tab.page.locator("#throw").is_hidden()


def test_saved__games_come_back(served: tuple[str, Games], tab: Tab, tmp_path: Path) -> None:
    page, session = tab.page, start(served, tab.page, "yum", "person", "person")
    at(page, 0, "person")
    click(page, session, 0)
    at(page, 1, "person")
    page.click(".menu summary")
    page.click("#save")
    expect(page.locator("#message")).to_contain_text("Saved as ")
    file = Path(page.locator("#message").inner_text().removeprefix("Saved as "))
    page.goto(served[0] + "/")
    page.click(f"text={file.name}")
    at(page, 1, "person")
    copy = tmp_path / "game.txt"
    copy.write_bytes(file.read_bytes())
    page.goto(served[0] + "/")
    expect(page.locator("#games input").first).to_be_visible()
    page.set_input_files("#file", copy)
    at(page, 1, "person")


def test_setup__starts_the_game_that_was_chosen(served: tuple[str, Games], tab: Tab) -> None:
    page = tab.page
    page.check('#games input[value="yum"]')
    page.select_option("#players", "3")
    page.select_option("#own", "1")
    page.select_option("[name=seat-2]", "random")
    page.click("summary")
    page.select_option("[name=option-zeros]", "free")
    page.fill("#seed", "17")
    page.click("#start")
    page.wait_for_selector("#board svg")
    game: dict[str, Any] = served[1].of(page.url.split("/")[-1]).game()
    assert game["seats"] == ["greedy", "person", "random"]
    assert (game["seed"], game["options"]["zeros"]) == (17, "free")
