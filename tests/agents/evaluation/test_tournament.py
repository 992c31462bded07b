"""Tournaments: every seat order equally often with the same dice, and results that no stop and no worker changes."""

import csv
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from fivedice.agents.evaluation import schedule
from fivedice.agents.evaluation import tournament as module
from fivedice.agents.evaluation.ranking import Ranking, rank
from fivedice.agents.evaluation.schedule import Contender, Part, Tournament, contender, seating
from fivedice.agents.evaluation.tournament import play_part, play_tournament
from fivedice.agents.policies.baselines import RandomPolicy
from fivedice.agents.reports.tournament_page import PAIRS, RESULTS, STANDINGS, results_dict, title, write_results
from fivedice.envs import load_game
from fivedice.envs.core.view import View

YUM = load_game("yum")
OPTIONS = tuple(YUM.options_dict(YUM.make_options(2, {})).items())


class First:
    name = "first"

    def act(self, view: View) -> NDArray[np.int64]:
        return view.masks.argmax(axis=1)


class Last:
    name = "last"

    def act(self, view: View) -> NDArray[np.int64]:
        return view.masks.shape[1] - 1 - view.masks[:, ::-1].argmax(axis=1)


def some(count: int, seats: int = 2, games: int = 400) -> Tournament:
    names = ("random", "greedy", "rollout:random:1", "c", "d", "e")[:count]
    return Tournament("yum", OPTIONS, seats, 3, games, tuple(Contender(name, name, name) for name in names))


YAHTZEE_JR = load_game("yahtzee_jr")
OF_JR = tuple(YAHTZEE_JR.options_dict(YAHTZEE_JR.make_options(2, {})).items())
TWO = Tournament("yahtzee_jr", OF_JR, 2, 5, 60, (contender("random", "random"), contender("greedy", "greedy")))


def digests(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "parts").iterdir()}


# Who sits where


@pytest.mark.parametrize(("count", "seats"), [(2, 2), (4, 2), (3, 3), (5, 3), (4, 4), (5, 4), (2, 3), (3, 4), (2, 4)])
def test_seating__every_order_at_every_table_equally_often(count: int, seats: int) -> None:
    tournament = some(count, seats)
    assert tournament.deals * seats >= 400
    assert tournament.deals * seats < 400 + math.factorial(seats)
    for table in tournament.tables:
        seated = seating(Part(table, 0, tournament.deals)).reshape(-1, seats)
        orders = Counter(map(tuple, seated.tolist()))
        distinct = math.factorial(seats) // math.prod(math.factorial(table.count(number)) for number in set(table))
        assert len(orders) == distinct
        assert len(set(orders.values())) == 1
        for deal in seating(Part(table, 0, 3)):  # of each deal, everyone plays once from every seat
            assert all(sorted(seat) == sorted(table) for seat in deal.T.tolist())
            assert deal[1:].tolist() == [[*game[1:], game[0]] for game in deal[:-1].tolist()]  # all move on by one seat


@pytest.mark.parametrize(
    ("count", "seats", "tables"),
    [
        (3, 2, [(0, 1), (0, 2), (1, 2)]),
        (4, 3, [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]),
        (2, 4, [(0, 1, 1, 1), (0, 0, 1, 1), (0, 0, 0, 1)]),
        (3, 4, [(0, 1, 2, 2), (0, 1, 1, 2), (0, 0, 1, 2)]),
    ],
)
def test_tables__are_all_compositions(count: int, seats: int, tables: list[tuple[int, ...]]) -> None:
    assert some(count, seats).tables == tables


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_seating__orders_round_the_table_take_turns_from_deal_to_deal(seats: int) -> None:
    every = math.factorial(seats - 1)
    firsts = [tuple(deal[0]) for deal in seating(Part(tuple(range(seats)), 0, 3 * every)).tolist()]
    assert firsts == 3 * schedule.orders_round(seats)
    assert len(set(firsts)) == every
    assert all(sorted(order) == list(range(seats)) and order[0] == 0 for order in firsts)


@pytest.mark.parametrize(("count", "seats", "games"), [(3, 2, 401), (2, 4, 481), (5, 3, 60)])
def test_parts__are_every_deal_of_every_table_once(count: int, seats: int, games: int) -> None:
    tournament = some(count, seats, games)
    parts = list(tournament.parts())
    deals = [(part.table, deal) for part in parts for deal in range(part.start, part.stop)]
    assert deals == [(table, deal) for table in tournament.tables for deal in range(tournament.deals)]
    assert {part.stop - part.start for part in parts} <= {20, tournament.deals % 20 or 20}
    assert all(part.start % 20 == 0 for part in parts)
    assert tournament.num_games == len(deals) * seats
    assert tournament.deals * seats >= games > (tournament.deals - math.factorial(seats - 1)) * seats


def test_seating__does_not_depend_on_the_part() -> None:
    whole = seating(Part((0, 1, 2), 0, 12))
    fields = np.concatenate([seating(Part((0, 1, 2), 0, 5)), seating(Part((0, 1, 2), 5, 12))])
    np.testing.assert_array_equal(whole, fields)


@pytest.mark.parametrize("seats", [2, 3])
def test_dice__are_the_same_in_all_games_of_a_deal_and_at_all_tables(seats: int) -> None:
    """Policies that take no notice of who sits where make of each deal and seat the same points at every table."""
    tournament = some(4, seats, games=20 * 6)
    points: dict[tuple[int, int, int], set[float]] = {}
    for table in tournament.tables:
        part = Part(table, 0, 8)
        found, _ = play_part(tournament, part, [First(), Last(), First(), RandomPolicy()])
        for (deal, moved, seat), number in np.ndenumerate(seating(part)):
            points.setdefault((int(number) % 2 if number < 3 else 3, deal, seat), set()).add(found[deal, moved, seat])
    assert all(len(of_deal) == 1 for of_deal in points.values())  # in every game and at every table
    assert len({value for of_deal in points.values() for value in of_deal}) > 10


# No matter how it is played


def test_results__do_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    results = play_tournament(TWO, one, workers=1)
    again = play_tournament(TWO, other, workers=2)
    assert digests(one) == digests(other)
    assert len(digests(one)) == 2
    for mine, theirs in zip(results, again, strict=True):
        np.testing.assert_array_equal(mine.points, theirs.points)
    assert results_dict(TWO, rank(TWO, results)) == results_dict(TWO, rank(TWO, again))


class Interrupt(Exception):
    pass


def test_resume__plays_what_is_missing_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    straight = play_tournament(TWO, tmp_path / "straight")

    def stop(games: int) -> None:
        raise Interrupt

    with pytest.raises(Interrupt):
        play_tournament(TWO, tmp_path / "run", progress=stop)
    first = digests(tmp_path / "run")
    assert len(first) == 1
    monkeypatch.setattr(module, "play_part", counted := Counted(module.play_part))
    told: list[int] = []
    resumed = play_tournament(TWO, tmp_path / "run", progress=told.append)
    assert (counted.calls, told) == (1, [40, 20])
    assert digests(tmp_path / "run") == digests(tmp_path / "straight")
    np.testing.assert_array_equal(straight[0].points, resumed[0].points)


class Counted:
    def __init__(self, function: Any) -> None:
        self.function, self.calls = function, 0

    def __call__(self, *arguments: Any) -> Any:
        self.calls += 1
        return self.function(*arguments)


def test_resume__more_games_and_more_contenders_keep_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (before,) = play_tournament(TWO, tmp_path)
    kept = digests(tmp_path)
    more = replace(TWO, games=120, contenders=(*TWO.contenders, contender("rollout", "rollout:random:1")))
    monkeypatch.setattr(module, "play_part", counted := Counted(module.play_part))
    told: list[int] = []
    notes: list[str] = []
    after = play_tournament(more, tmp_path, progress=told.append, note=notes.append)
    np.testing.assert_array_equal(after[0].points[:30], before.points)
    longer = tmp_path / "parts" / f"{TWO.key(Part((0, 1), 20, 30))}.safetensors"
    assert notes == [f"{longer} has another number of games; its games will be played again"]
    assert sum(told) == more.num_games == 3 * 120
    # Of the two parts the second was of ten deals and is of twenty now; there are two more tables of three parts.
    assert counted.calls == 2 + 2 * 3
    assert sum(digests(tmp_path).get(name) == content for name, content in kept.items()) == 1


def test_resume__puts_parts_in_their_places_whichever_is_missing(tmp_path: Path) -> None:
    straight = play_tournament(TWO, tmp_path)
    first = next(TWO.parts())
    (tmp_path / "parts" / f"{TWO.key(first)}.safetensors").unlink()
    again = play_tournament(TWO, tmp_path)
    np.testing.assert_array_equal(straight[0].seated, again[0].seated)
    np.testing.assert_array_equal(straight[0].points, again[0].points)
    np.testing.assert_array_equal(straight[0].shares, again[0].shares)


@pytest.mark.parametrize(
    "harm", ["cut short", "random bytes", "other numbers", "missing tensor", "other games", "no digest"]
)
def test_part__that_is_damaged_is_told_and_played_anew(tmp_path: Path, harm: str) -> None:
    straight = play_tournament(TWO, tmp_path)
    before = digests(tmp_path)
    path, other = sorted((tmp_path / "parts").iterdir())
    if harm == "cut short":
        path.write_bytes(path.read_bytes()[:-7])
    elif harm == "other games":
        path.write_bytes(other.read_bytes())
    elif harm == "random bytes":
        path.write_bytes(b"\x07" * 999)
    else:
        tensors = load_file(path)
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata()
        if harm == "other numbers":
            tensors["shares"] = 1 - tensors["shares"]
        elif harm == "missing tensor":
            del tensors["shares"]
            part = next(part for part in TWO.parts() if TWO.key(part) == path.stem)
            metadata = {"digest": module._digest(TWO, part, tensors)}
        else:
            metadata = None
        save_file(tensors, path, metadata=metadata)
    notes: list[str] = []
    again = play_tournament(TWO, tmp_path, note=notes.append)
    assert notes == [f"{path} is damaged; its games will be played again"]
    assert digests(tmp_path) == before
    np.testing.assert_array_equal(straight[0].points, again[0].points)


def test_contender__that_has_changed_plays_anew_and_is_told(tmp_path: Path) -> None:
    play_tournament(TWO, tmp_path)
    before = digests(tmp_path)
    changed = replace(
        TWO, contenders=(TWO.contenders[0], replace(TWO.contenders[1], digest=f"{TWO.contenders[1].digest}x"))
    )
    notes: list[str] = []
    with pytest.raises(ValueError, match="greedy has changed during the tournament; start the tournament again"):
        play_tournament(changed, tmp_path, note=notes.append)
    assert notes == [f"greedy has changed since its games in {tmp_path}; they will be played again"]
    assert digests(tmp_path) == before


def of_version(version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tournaments think that the games' rules are of another version."""
    monkeypatch.setattr(schedule, "load_game", lambda name: replace(load_game(name), version=version))


# Another value of each field of a tournament, of a contender and of a part; None for those on which no game depends.
OTHER: dict[type, dict[str, Any]] = {
    Tournament: {
        "game": {"game": "yum"},
        "options": {"options": (("must_score_most", False), OF_JR[1])},
        "num_players": {"num_players": 3},
        "seed": {"seed": 6},
        "games": None,
        "contenders": {"contenders": (TWO.contenders[0], replace(TWO.contenders[1], digest="of another"))},
        "sampled": {"sampled": True},
    },
    Contender: {"label": None, "name": None, "digest": {"digest": "of another"}},
    Part: {"table": {"table": (1, 0)}, "start": {"start": 20}, "stop": None},
}
SAME: dict[type, dict[str, Any]] = {
    Tournament: {"games": 120},
    Contender: {"label": "other", "name": "other"},
    Part: {"stop": 10},
}


def test_key__changes_with_all_that_a_game_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    part = Part((0, 1), 0, 20)
    key = TWO.key(part)
    keys = {key}
    for kind, others in OTHER.items():
        assert {field.name for field in fields(kind)} == set(others), f"say whether its games depend on it: {kind}"
        for name, changes in others.items():
            for change in [changes] if changes else [{name: SAME[kind][name]}]:
                if kind is Tournament:
                    found = replace(TWO, **change).key(part)
                elif kind is Part:
                    found = TWO.key(replace(part, **change))
                else:
                    found = replace(TWO, contenders=(replace(TWO.contenders[0], **change), TWO.contenders[1])).key(part)
                assert (found == key) == (changes is None), (kind, name)
                keys.add(found)
    assert len(keys) == 1 + sum(changes is not None for others in OTHER.values() for changes in others.values())
    three = replace(TWO, contenders=(*TWO.contenders, Contender("c", "c", "c")))
    assert three.key(part) == key  # who does not sit at the table does not count
    of_version(9, monkeypatch)
    assert TWO.key(part) != key


def test_games__of_twenty_deals_are_enough() -> None:
    assert replace(TWO, games=39).deals == 20


def test_digest__of_a_policy_follows_all_that_it_plays_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "some.safetensors"
    path.write_bytes(b"one")
    names = [
        "random",
        "greedy",
        "optimal",
        str(path),
        f"rollout:{path}:8",
        f"rollout:{path}:9",
        f"rollout:{path}:8:win",
    ]
    names += ["rollout:random:8", "rollout:greedy:8"]
    before = [schedule.policy_digest(name) for name in names]
    path.write_bytes(b"other")
    after = [schedule.policy_digest(name) for name in names]
    assert len({*before, *after}) == 9 + 4
    assert [str(path) in name for name in names] == [one != other for one, other in zip(before, after, strict=True)]
    assert schedule.policy_digest("rollout") == schedule.policy_digest("rollout:greedy:64:points")
    monkeypatch.setattr(schedule.metadata, "version", lambda package: f"{package} 99")
    newer = [schedule.policy_digest(name) for name in names]
    assert [name != str(path) for name in names] == [one != other for one, other in zip(after, newer, strict=True)]
    assert contender("label", "greedy") == Contender("label", "greedy", newer[1])


def test_folder__is_refused_for_each_thing_in_which_it_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module.claim(TWO, tmp_path)
    settings = (tmp_path / module.SETTINGS).read_text()
    identity = json.loads(settings)["tournament"]
    assert identity == {
        "game": "yahtzee_jr",
        "game_version": YAHTZEE_JR.version,
        "options": dict(OF_JR),
        "seats": 2,
        "seed": 5,
        "sampled": False,
    }
    for name in identity:
        others = json.loads(settings)
        others["tournament"][name] = "another"
        (tmp_path / module.SETTINGS).write_text(json.dumps(others))
        with pytest.raises(ValueError, match=f"contains a tournament with {name} 'another', not "):
            module.claim(TWO, tmp_path)
        del others["tournament"][name]
        (tmp_path / module.SETTINGS).write_text(json.dumps(others))
        with pytest.raises(ValueError, match=f"contains a tournament with {name} None, not "):
            module.claim(TWO, tmp_path)
    (tmp_path / module.SETTINGS).write_text(settings)
    module.claim(TWO, tmp_path)


def test_folder__is_known_again_whatever_its_options_are(tmp_path: Path) -> None:
    """Those of Showdown Yahtzee are tuples, which no JSON file holds."""
    game = load_game("showdown_yahtzee")
    options = tuple(game.options_dict(game.make_options(2)).items())
    assert any(isinstance(value, tuple) for _, value in options)
    for _ in range(2):
        module.claim(replace(TWO, game=game.name, options=options), tmp_path)


def test_folder__remembers_all_who_have_played_there(tmp_path: Path) -> None:
    third = Contender("third", "third", "its digest")
    module.claim(TWO, tmp_path)
    module.claim(replace(TWO, contenders=(TWO.contenders[0], third)), tmp_path)
    known = json.loads((tmp_path / module.SETTINGS).read_text())["contenders"]
    assert known == {known.label: known.digest for known in (*TWO.contenders, third)}
    notes: list[str] = []
    changed = replace(TWO.contenders[1], digest="another")
    module.claim(replace(TWO, contenders=(third, changed)), tmp_path, notes.append)
    assert notes == [f"greedy has changed since its games in {tmp_path}; they will be played again"]
    assert json.loads((tmp_path / module.SETTINGS).read_text())["contenders"] == known | {"greedy": "another"}


def test_policies__are_loaded_by_name_and_sampled_if_said(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, bool]] = []

    def load(name: str, *, deterministic: bool) -> object:
        asked.append((name, deterministic))
        return len(asked)

    monkeypatch.setattr(module, "load", load)
    named = replace(TWO, contenders=(contender("one", "greedy"), contender("other", "random")))
    assert module.load_contenders(named) == [1, 2]
    module.load_contenders(replace(named, sampled=True))
    assert asked == [("greedy", True), ("random", True), ("greedy", False), ("random", False)]


def test_ask_once__every_policy_makes_the_first_decision_of_that_table() -> None:
    seen: list[View] = []

    class Seeing(First):
        def act(self, view: View) -> NDArray[np.int64]:
            seen.append(view)
            return super().act(view)

    class Refusing(First):
        def act(self, view: View) -> NDArray[np.int64]:
            raise ValueError("not here")

    table = replace(TWO, num_players=3, options=(("must_score_most", False), OF_JR[1]))
    module.ask_once(table, {"one": Seeing(), "other": Seeing()})
    assert [len(view) for view in seen] == [1, 1]
    for view in seen:
        assert (view.game, view.options) == (YAHTZEE_JR, YAHTZEE_JR.make_options(3, {"must_score_most": False}))
        assert (view.states["tokens"] == -1).all()
    with pytest.raises(ValueError, match="not here"):
        module.ask_once(TWO, {"one": Seeing(), "other": Refusing()})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seed": 6}, "contains a tournament with seed 5, not 6; use another folder"),
        ({"num_players": 3}, "contains a tournament with seats 2, not 3"),
        ({"game": "yum", "options": OPTIONS}, "contains a tournament with game 'yahtzee_jr', not 'yum'"),
        ({"sampled": True}, "contains a tournament with sampled False, not True"),
    ],
)
def test_folder__of_another_tournament_is_refused(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    module.claim(TWO, tmp_path)
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    with pytest.raises(ValueError, match=said):
        play_tournament(replace(TWO, **changes), tmp_path)
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")} == before


def test_folder__that_is_none_or_damaged_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="file is a file; choose another folder"):
        play_tournament(TWO, tmp_path / "file")
    with pytest.raises(ValueError, match="file is a file; choose another folder"):
        play_tournament(TWO, tmp_path / "file" / "in it")
    (tmp_path / "settings.json").write_text('{"tournament": 3')
    with pytest.raises(ValueError, match=r"settings\.json is damaged; delete this file"):
        play_tournament(TWO, tmp_path)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"games": 38}, "games=38 gives only 19 dice seeds, too few for intervals; use at least 40 games"),
        ({"num_players": 1}, "needs at least 2 players; use fivedice evaluate for games with one player"),
        ({"contenders": TWO.contenders[:1]}, "needs at least two policies"),
        (
            {"contenders": (*TWO.contenders, replace(TWO.contenders[0], label="copy"))},
            "copy is the same policy as random; name each policy once",
        ),
    ],
)
def test_settings__that_make_no_tournament_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        replace(TWO, **changes)


# What comes out


@pytest.fixture(scope="module")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tournament, Ranking]:
    options = tuple(YUM.options_dict(YUM.make_options(3, {})).items())
    contenders = tuple(contender(name, name) for name in ("greedy", "random"))
    tournament = Tournament("yum", options, 3, 1, 60, contenders)
    return tournament, rank(tournament, play_tournament(tournament, tmp_path_factory.mktemp("three")))


def test_rank__figures_belong_together(ranked: tuple[Tournament, Ranking]) -> None:
    tournament, ranking = ranked
    assert tournament.tables == [(0, 1, 1), (0, 0, 1)]
    assert ranking.names[ranking.anchor] == "random"
    assert ranking.order == [0, 1]
    assert (ranking.alike(0), ranking.ratings.means[1]) == ([], 0)
    assert ranking.pairs[0, 1].mean + ranking.pairs[1, 0].mean == pytest.approx(1)
    assert ranking.points[0].mean > 120 > 80 > ranking.points[1].mean
    for number in range(2):
        assert sum(share.mean for share in ranking.places[number]) == pytest.approx(1)
        place = sum((position + 1) * share.mean for position, share in enumerate(ranking.places[number]))
        assert ranking.place[number].mean == pytest.approx(place)
        assert ranking.places[number][0].mean == pytest.approx(ranking.wins[number].mean)
    assert sum(estimate.mean for estimate in ranking.place) == pytest.approx(4)


def test_results__are_written_as_json_and_csv(ranked: tuple[Tournament, Ranking], tmp_path: Path) -> None:
    tournament, ranking = ranked
    written = write_results(tournament, ranking, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in written}
    found = json.loads((tmp_path / RESULTS).read_text())
    assert [entry["name"] for entry in found["contenders"]] == ["greedy", "random"]
    assert found["tournament"]["games_per_combination"] == 60
    with (tmp_path / STANDINGS).open() as file:
        greedy, random = csv.DictReader(file)
    assert float(greedy["rating"]) == found["contenders"][0]["rating"]["mean"]
    assert (random["rating"], random["rating_half_width"]) == ("0.0", "0.0")
    with (tmp_path / PAIRS).open() as file:
        assert [row["against"] for row in csv.DictReader(file)] == ["random", "greedy"]
    for path in written:
        if path.suffix == ".png":
            assert path.read_bytes()[:4] == b"\x89PNG"
    assert "Yum, 3 players, 60 games for each of 2 combinations of policies, seed 1" in title(tournament)


# On the command line


@pytest.mark.parametrize(("kill", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_kill__leaves_a_tournament_that_goes_on(tmp_path: Path, kill: signal.Signals, status: int) -> None:
    # Ctrl-C as in a terminal, even if the tests run in the background, where it is ignored.
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code += "; from fivedice.agents.cli import main; main()"
    command = [
        sys.executable,
        "-c",
        code,
        "tournament",
        "yahtzee_jr",
        "random",
        "greedy",
        "--workers",
        "2",
        "--seed",
        "5",
    ]
    endless = subprocess.Popen(
        [*command, "--games", "400000", "--out", str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        deadline = time.monotonic() + 120
        while len(list(tmp_path.glob("parts/[!.]*"))) < 4 and time.monotonic() < deadline:
            time.sleep(0.1)
        os.kill(endless.pid, kill)
        endless.communicate(timeout=60)  # until its workers have ended, too: they hold the pipes
    finally:
        endless.kill()
    assert endless.returncode == status
    for path in (tmp_path / "parts").glob("[!.]*"):
        tensors = load_file(path)  # whole
        assert tensors["points"].shape == (20, 2, 2)
    notes: list[str] = []
    play_tournament(TWO, tmp_path, note=notes.append)  # a part of ten deals where one of twenty lies
    assert all("has another number of games" in note for note in notes)
