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
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from fivedice.agents import tournament as module
from fivedice.agents.baselines import RandomPolicy
from fivedice.agents.ranking import Ranking, finished_ahead, places, rank
from fivedice.agents.tournament import Contender, Part, Tournament, contender, play_part, play_tournament, seating
from fivedice.agents.tournament_report import PAIRS, RESULTS, STANDINGS, results_dict, title, write_results
from fivedice.envs import load_game
from fivedice.envs.view import View

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


def test_seating__does_not_depend_on_the_part() -> None:
    whole = seating(Part((0, 1, 2), 0, 12))
    pieces = np.concatenate([seating(Part((0, 1, 2), 0, 5)), seating(Part((0, 1, 2), 5, 12))])
    np.testing.assert_array_equal(whole, pieces)


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


def test_results__do_not_depend_on_the_size_of_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = play_tournament(TWO, tmp_path / "one")
    monkeypatch.setattr(module, "PART", 7)
    pieces = play_tournament(TWO, tmp_path / "other")
    np.testing.assert_array_equal(whole[0].points, pieces[0].points)
    np.testing.assert_array_equal(whole[0].seated, pieces[0].seated)


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
    resumed = play_tournament(TWO, tmp_path / "run")
    assert counted.calls == 1
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
    play_tournament(TWO, tmp_path)
    kept = digests(tmp_path)
    more = replace(TWO, games=120, contenders=(*TWO.contenders, contender("rollout", "rollout:random:1")))
    monkeypatch.setattr(module, "play_part", counted := Counted(module.play_part))
    play_tournament(more, tmp_path)
    # Of the two parts the second was of ten deals and is of twenty now; there are two more tables of three parts.
    assert counted.calls == 2 + 2 * 3
    assert sum(digests(tmp_path).get(name) == content for name, content in kept.items()) == 1


@pytest.mark.parametrize("harm", ["cut short", "random bytes", "other numbers", "missing tensor", "other games"])
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
        if harm == "other numbers":
            tensors["points"] = tensors["points"] + 1
        else:
            del tensors["shares"]
        save_file(tensors, path, metadata={"digest": "of something else"})
    notes: list[str] = []
    again = play_tournament(TWO, tmp_path, note=notes.append)
    assert notes == [f"{path} is damaged: its games are played anew"]
    assert digests(tmp_path) == before
    np.testing.assert_array_equal(straight[0].points, again[0].points)


def test_contender__that_has_changed_plays_anew_and_is_told(tmp_path: Path) -> None:
    play_tournament(TWO, tmp_path)
    before = digests(tmp_path)
    changed = replace(
        TWO, contenders=(TWO.contenders[0], replace(TWO.contenders[1], digest=f"{TWO.contenders[1].digest}x"))
    )
    notes: list[str] = []
    with pytest.raises(ValueError, match="greedy has changed while the tournament was played; start it again"):
        play_tournament(changed, tmp_path, note=notes.append)
    assert notes == [f"greedy has changed since it played in {tmp_path}: its games are played anew"]
    assert digests(tmp_path) == before


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seed": 6}, "holds a tournament with seed 5, not 6; name another folder"),
        ({"num_players": 3}, "holds a tournament with seats 2, not 3"),
        ({"game": "yum", "options": OPTIONS}, "holds a tournament with game 'yahtzee_jr', not 'yum'"),
        ({"sampled": True}, "holds a tournament with sampled False, not True"),
    ],
)
def test_folder__of_another_tournament_is_refused(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    module.claim(TWO, tmp_path)
    with pytest.raises(ValueError, match=said):
        play_tournament(replace(TWO, **changes), tmp_path)
    assert not (tmp_path / "parts").exists()


def test_folder__that_is_none_or_damaged_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="file is a file; name a folder"):
        play_tournament(TWO, tmp_path / "file")
    with pytest.raises(ValueError, match="file is a file; name a folder"):
        play_tournament(TWO, tmp_path / "file" / "in it")
    (tmp_path / "settings.json").write_text('{"tournament": 3')
    with pytest.raises(ValueError, match=r"settings\.json is damaged; remove it"):
        play_tournament(TWO, tmp_path)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"games": 38}, "games=38 make 19 deals of dice, too few for intervals; use 40 or more"),
        ({"num_players": 1}, "needs two seats or more; compare policies alone by fivedice evaluate"),
        ({"contenders": TWO.contenders[:1]}, "needs two contenders or more"),
        (
            {"contenders": (*TWO.contenders, replace(TWO.contenders[0], label="copy"))},
            "copy plays as random does; name each policy once",
        ),
    ],
)
def test_settings__that_make_no_tournament_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        replace(TWO, **changes)


def test_digest__follows_the_file_also_as_the_base_of_a_rollout(tmp_path: Path) -> None:
    path = tmp_path / "some.safetensors"
    path.write_bytes(b"one")
    before = module.policy_digest(str(path)), module.policy_digest(f"rollout:{path}:8")
    path.write_bytes(b"other")
    after = module.policy_digest(str(path)), module.policy_digest(f"rollout:{path}:8")
    assert len({*before, *after}) == 4
    assert module.policy_digest("rollout:random:8") != module.policy_digest("rollout:random:9")


# What comes out


def test_ahead__winners_first_then_points_together_half() -> None:
    points = np.array([[10.0, 20.0, 20.0, 5.0], [7.0, 7.0, 9.0, 9.0]])
    shares = np.array([[0.0, 0.5, 0.5, 0.0], [1.0, 0.0, 0.0, 0.0]])  # the second game was won with fewer points
    ahead = finished_ahead(points, shares)
    assert ahead[0].tolist() == [[0.5, 0, 0, 1], [1, 0.5, 0.5, 1], [1, 0.5, 0.5, 1], [0, 0, 0, 0.5]]
    assert ahead[1].tolist() == [[0.5, 1, 1, 1], [0, 0.5, 0, 0], [0, 1, 0.5, 0.5], [0, 1, 0.5, 0.5]]
    taken = places(ahead)
    assert taken[0].tolist() == [[0, 0, 1, 0], [0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 0, 1]]
    assert taken[1].tolist() == [[1, 0, 0, 0], [0, 0, 0, 1], [0, 0.5, 0.5, 0], [0, 0.5, 0.5, 0]]


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
    assert found["tournament"]["games_a_table"] == 60
    with (tmp_path / STANDINGS).open() as file:
        greedy, random = csv.DictReader(file)
    assert float(greedy["rating"]) == found["contenders"][0]["rating"]["mean"]
    assert (random["rating"], random["rating_half_width"]) == ("0.0", "0.0")
    with (tmp_path / PAIRS).open() as file:
        assert [row["against"] for row in csv.DictReader(file)] == ["random", "greedy"]
    for path in written:
        if path.suffix == ".png":
            assert path.read_bytes()[:4] == b"\x89PNG"
    assert "Yum, 3 seats, 60 games at each of 2 tables, seed 1" in title(tournament)


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
    assert all("holds another number of games" in note for note in notes)
