"""SET Cubed, situation by situation: what may be laid, what it scores, and how rounds go by."""

import re
from typing import Any

import numpy as np
import pytest

from fivedice.envs.api.aec import DiceEnv
from fivedice.envs.core.chance import new_script, new_streams
from fivedice.envs.set_cubed import GAME, rules
from fivedice.envs.set_cubed.board import EDGE
from fivedice.envs.set_cubed.dice import STANDARD
from fivedice.envs.set_cubed.faces import FACE_NAMES
from fivedice.envs.set_cubed.rules import EXTRA, NONE, OPENING, OVER, PLAY, SCRIPT_NAMES

PLAIN = "/".join(["." * 9] * 4 + ["...***..."] + ["." * 9] * 4)


class Table:
    """A position: dice on the board by cell, as ``{"D5": "2RO", "E5": "2RD~"}``, and hands, as ``"1GD WILD"``.

    ``~`` marks a WILD. Dice are numbered as they come, those of the board first.
    """

    def __init__(
        self,
        board: dict[str, str] | None = None,
        hand: str = "",
        others: tuple[str, ...] = ("1RO",),
        script: str = "",
        drawing: str = PLAIN,
        phase: int = PLAY,
        **options: Any,
    ) -> None:
        self.options = GAME.make_options(1 + len(others), {"board": drawing, **options})
        self.state = np.zeros(1, rules.STATE)[0]
        self.chance = (new_streams(0, 1)[0], new_script([1 + SCRIPT_NAMES.index(w) for w in script.split()], 74))
        rules.setup(self.state, self.options, (new_streams(0, 1)[0], new_script([], 74)))
        self.state["hand_dice"], self.state["hand_faces"] = NONE, NONE
        self.state["phase"], self.state["player"], self.state["opener"] = phase, 0, 0
        numbers = iter(range(42))
        for name, face in (board or {}).items():
            row, column = EDGE + int(name[1:]) - 1, EDGE + "ABCDEFGHIJKLMNO".index(name[0])
            self.state["faces"][row, column] = FACE_NAMES.index(face.removesuffix("~"))
            self.state["wild"][row, column] = face.endswith("~")
            self.state["dice"][row, column] = next(numbers)
        for seat, dice in enumerate((hand, *others)):
            faces = sorted(FACE_NAMES.index(face) for face in dice.split())
            for slot, face in enumerate(faces):
                self.state["hand_faces"][seat, slot], self.state["hand_dice"][seat, slot] = face, next(numbers)

    def legal(self) -> set[str]:
        mask = np.full(GAME.num_actions(self.options), 7, np.int8)
        rules.legal_actions(self.state, self.options, mask)
        assert set(mask.tolist()) <= {0, 1}
        return {self.words(action) for action in np.flatnonzero(mask).tolist()}

    def words(self, action: int) -> str:
        return re.sub(r"#\d+", "", GAME.name_action(self.state, self.options, action))

    def cells(self, face: str) -> set[str]:
        """Where a die that shows this may be laid."""
        found = (re.match(rf"lay {face} on (\w+)", words) for words in self.legal())
        return {match[1] for match in found if match}

    def play(self, *words: str) -> "Table":
        """Carry out legal actions that begin with these words."""
        for said in words:
            mask = np.zeros(GAME.num_actions(self.options), np.int8)
            rules.legal_actions(self.state, self.options, mask)
            fitting = [a for a in np.flatnonzero(mask).tolist() if re.match(rf"{said}($|:)", self.words(a))]
            assert fitting, f"{said!r} is not legal; legal are {sorted(self.legal())}"
            rules.apply(self.state, self.options, fitting[0], self.chance)
        return self

    def hand(self, seat: int = 0) -> list[str]:
        return [FACE_NAMES[face] for face in self.state["hand_faces"][seat] if face != NONE]

    def numbers(self, seat: int = 0) -> list[int]:
        return [1 + die for die in self.state["hand_dice"][seat].tolist() if die != NONE]

    @property
    def score(self) -> int:
        return int(self.state["scores"][0])


# SETs and points. 1RO 2RO 3RO is a SET, and so is any face thrice.


def test_set__in_a_row_and_in_a_column() -> None:
    table = Table({"D5": "1RO", "E5": "2RO"}, "3RO")
    assert table.cells("3RO") == {"C5", "F5"}
    assert table.play("lay 3RO on C5").score == 3
    table = Table({"D5": "1RO", "D6": "2RO"}, "3RO")
    assert table.cells("3RO") == {"D4", "D7"}
    assert table.play("lay 3RO on D4").score == 3


def test_set__in_a_gap_and_not_round_a_corner() -> None:
    assert Table({"D5": "1RO", "F5": "2RO"}, "3RO").cells("3RO") == {"E5"}
    assert Table({"D5": "1RO", "E6": "2RO"}, "3RO").cells("3RO") == set()
    assert Table({"I5": "1RO", "A6": "2RO"}, "3RO").cells("3RO") == set()  # the end of one row, the start of the next


@pytest.mark.parametrize("near_miss", ["2RO", "3RD", "3GO", "1RO"])
def test_set__near_miss_is_none(near_miss: str) -> None:
    assert Table({"D5": "1RO", "E5": "2RO"}, near_miss).legal() == {"end the turn"}


def test_set__runs_of_four_and_five_are_overlapping_windows() -> None:
    run = {"C5": "1RO", "D5": "2RO", "E5": "3RO"}
    assert Table(run, "1RO").play("lay 1RO on F5").score == 3  # 2 3 1 is new, 1 2 3 was there
    assert Table({"C5": "1RO", "D5": "2RO", "F5": "1RO", "G5": "2RO"}, "3RO").play("lay 3RO on E5").score == 9
    assert Table({"C5": "1RO", "D5": "2RO", "F5": "1RO", "G5": "3RO"}, "3RO").play("lay 3RO on E5").score == 6


def test_set__a_die_in_two_sets_counts_in_both() -> None:
    cross = {"D5": "1RO", "E5": "2RO", "F4": "3GO", "F3": "3PO"}
    assert Table(cross, "3RO").play("lay 3RO on F5").score == 6


def test_set__dice_may_touch_without_one() -> None:
    table = Table({"D5": "1RO", "E5": "2RO", "F4": "1GD", "G5": "2PS"}, "3RO")
    assert table.play("lay 3RO on F5").score == 3


def test_points__the_sheets_example_is_twelve() -> None:
    """The first die closes two SETs, the second one, the third one."""
    table = Table({"D5": "1RO", "E5": "2RO", "F4": "3GO", "F3": "3PO"}, "1RO 3RO 3PO 2GD", others=("1RO", "1RO"))
    scores = []
    for words in ("lay 3RO on F5", "lay 3PO on F6", "lay 1RO on G5"):
        scores.append(table.play(words).score)
    assert scores == [6, 9, 12]
    assert (table.state["player"], table.hand()) == (1, ["2GD"])  # the third die ends the turn


def test_points__each_new_set_is_counted_once() -> None:
    table = Table({"D5": "1RO", "E5": "2RO"}, "1RO 2RO 3RO 3RO").play("lay 3RO on F5", "lay 1RO on G5")
    assert table.score == 6
    assert table.play("lay 2RO on H5").score == 9


# Pairs.


def test_pair__needs_its_second_die() -> None:
    table = Table({"E5": "1RO"}, "2RO 3RO")
    near = {"C5", "D5", "F5", "G5", "E3", "E4", "E6", "E7"}
    assert table.cells("2RO") == table.cells("3RO") == near
    assert Table({"E5": "1RO"}, "2RO 3RD").legal() == {"end the turn"}
    table.play("lay 2RO on F5")
    assert table.score == 0
    assert table.legal() == {"lay 3RO on D5: 3", "lay 3RO on G5: 3"}  # no end before it has its SET
    table.play("lay 3RO on D5")
    assert (table.score, table.state["player"]) == (3, 1)  # no dice are left in the hand


def test_pair__needs_two_dice_still_to_be_laid() -> None:
    table = Table({"E5": "1RO"}, "2RO 3RO 2RO 3RO 2GD").play("lay 2RO on F5", "lay 3RO on G5")
    assert (table.cells("2RO"), table.cells("3RO")) == (set(), {"D5"})  # 3 1 2 is a SET, and no pair is begun
    assert "end the turn" in table.legal()


def test_pair__needs_room() -> None:
    walls = {"D5": "1GD", "F5": "2PS", "E4": "1GS", "E6": "3PD", "E5": "1RO"}
    blocked = Table(walls, "2RO 3RO")
    assert not {"D5", "F5"} & blocked.cells("2RO")
    assert blocked.cells("2RO") == set()
    corner = Table({"A1": "1RO"}, "2RO 3RO")
    assert corner.cells("2RO") == {"B1", "C1", "A2", "A3"}


def test_pair__may_hang_on_a_die_laid_in_this_turn() -> None:
    table = Table({"D5": "1RO", "E5": "2RO"}, "3RO 1GD 2PS").play("lay 3RO on F5")
    assert {"G5", "F6", "F7", "F3", "F4"} <= table.cells("1GD")  # 3RO 1GD 2PS is a SET
    table.play("lay 1GD on F6", "lay 2PS on F7")
    assert table.score == 6


def test_pair__never_of_three_new_dice_alone() -> None:
    assert Table({"A1": "1RO"}, "2GD 2GD 2GD").legal() == {"end the turn"}


# WILDs.


def test_wild__is_declared_and_counts_nothing_in_its_turn() -> None:
    table = Table({"D5": "1RO", "E5": "2RO"}, "WILD").play("lay WILD on F5")
    assert table.legal() == {"declare 3RO: 2"}
    assert table.play("declare 3RO").score == 2


def test_wild__counts_like_any_die_later() -> None:
    assert Table({"D5": "1RO", "E5": "2RO~"}, "3RO").play("lay 3RO on F5").score == 3


def test_wild__counts_nothing_in_any_set_of_its_turn() -> None:
    table = Table({"D5": "1RO", "E5": "2RO"}, "WILD 1RO 2RO 1GD").play("lay WILD on F5", "declare 3RO", "lay 1RO on G5")
    assert table.score == 4
    assert table.play("lay 2RO on H5").score == 6


def test_wild__may_be_what_the_hand_can_complete() -> None:
    table = Table({"E5": "1RO"}, "WILD 2GD").play("lay WILD on D5")
    assert table.legal() == {"declare 3PS: 0"}  # the third of 1RO and 2GD
    table.play("declare 3PS")
    assert table.legal() == {"lay 2GD on C5: 2", "lay 2GD on F5: 2"}


def test_wild__as_the_second_of_a_pair_completes_it() -> None:
    table = Table({"E5": "1RO"}, "WILD 2GD").play("lay 2GD on D5", "lay WILD on C5")
    assert table.legal() == {"declare 3PS: 2"}


def test_wild__two_and_three_in_a_set() -> None:
    table = Table({"E5": "1RO"}, "WILD WILD").play("lay WILD on D5")
    assert len(table.legal()) == 27
    assert table.play("declare 2RO", "lay WILD on C5").legal() == {"declare 3RO: 1"}
    three = Table({"D5": "1RO", "E5": "2RO"}, "WILD WILD WILD")
    three.play("lay WILD on F5", "declare 3RO", "lay WILD on G5", "declare 1RO", "lay WILD on H5", "declare 2RO")
    assert three.score == 2 + 1 + 0


def test_wild__cannot_be_declared_into_a_dead_end() -> None:
    table = Table({"D5": "1RO", "E5": "2RO"}, "WILD 1GD 3RD").play("lay WILD on F5")
    # Complete 1RO 2RO, or be the first of a pair on window E5 F5 G5 with a die of the hand.
    assert table.legal() == {"declare 3RO: 2", "declare 3PS: 0", "declare 1RS: 0"}


# Swaps.

WITH_WILD = " / ".join(["WILD 1RO 1RD 1RS 1GO 1GD"] + 41 * ["1RO 2RO 3RO 1GO 2GO 3GO"])


def test_swap__takes_the_die_and_throws_it_for_nothing() -> None:
    table = Table({"D5": "3RO~", "E5": "2RO"}, "3RO 1GD 1PD", script="1GO", dice=WITH_WILD)
    assert "swap 3RO on D5" in table.legal()
    table.play("swap 3RO on D5")
    assert (table.score, table.hand()) == (0, ["1GO", "1GD", "1PD"])
    assert 1 in table.numbers()  # die 1, which lay there, with its own six faces
    assert not table.state["wild"].any()
    assert table.state["laid"][0] == NONE  # not one of the three


def test_swap__the_die_may_come_back_as_a_wild_and_be_laid_at_once() -> None:
    table = Table({"D5": "3RO~", "E5": "2RO"}, "3RO 1GD", script="WILD", dice=WITH_WILD).play("swap 3RO on D5")
    assert table.hand() == ["1GD", "WILD"]
    assert "F5" in table.cells("WILD")


def test_swap__any_number_before_laying_and_none_after() -> None:
    board = {"D5": "3RO~", "E5": "2RO~", "H8": "1PS~"}
    table = Table(board, "1RO 2RO 3RO 1PS", script="1GD 1GD", dice=WITH_WILD.replace("2GO 3GO", "2GO 1GD"))
    table.play("swap 3RO on D5", "swap 2RO on E5")
    assert "swap 1PS on H8" in table.legal()
    table.play("lay 1RO on F5")
    assert not [words for words in table.legal() if words.startswith("swap")]


def test_swap__needs_a_natural_die_with_that_very_face() -> None:
    assert Table({"D5": "3RO~"}, "3RD WILD 3RO").legal() >= {"swap 3RO on D5"}
    assert not [words for words in Table({"D5": "3RO~"}, "3RD WILD").legal() if words.startswith("swap")]
    assert not [words for words in Table({"D5": "3RO"}, "3RO").legal() if words.startswith("swap")]  # no WILD


def test_swap__earns_no_bonus() -> None:
    drawing = PLAIN.replace(".........", "9........", 1)
    assert Table({"A1": "3RO~"}, "3RO", drawing=drawing, script="1RO", dice=WITH_WILD).play("swap 3RO on A1").score == 0


# Bonus squares.

BONUS = "/".join(["." * 9] * 4 + ["...***..."] + ["..7......"] + ["." * 9] * 3)


def test_bonus__once_for_the_first_die() -> None:
    table = Table({"C4": "1RO", "C5": "2RO"}, "3RO 1RO", drawing=BONUS)
    assert table.legal() >= {"lay 3RO on C6: 10", "lay 3RO on C3: 3"}
    table.play("lay 3RO on C6", "lay 1RO on C7")
    assert table.score == 13
    covered = Table({"C5": "2RO", "C6": "3RO"}, "1RO", drawing=BONUS)
    assert covered.play("lay 1RO on C7").score == 3


def test_bonus__under_a_wild_too_and_before_a_pair_is_complete() -> None:
    assert Table({"C4": "1RO", "C5": "2RO"}, "WILD", drawing=BONUS).play("lay WILD on C6").score == 7
    assert Table({"C5": "1RO"}, "2RO 3RO", drawing=BONUS).play("lay 2RO on C6").score == 7


# The opening.


def test_opening__a_set_of_the_hand_on_the_logo_in_any_order() -> None:
    table = Table({}, "1RO 2RO 3RO 1GD 1GS", phase=OPENING)
    logo = {"D5", "E5", "F5"}
    assert all(table.cells(face) == logo for face in ("1RO", "2RO", "3RO"))
    assert table.cells("1GD") == table.cells("1GS") == set()
    table.play("lay 3RO on E5")
    assert table.cells("1RO") == {"D5", "F5"}
    table.play("lay 1RO on F5")
    assert table.legal() == {"lay 2RO on D5: 3"}
    table.play("lay 2RO on D5")
    assert (table.score, table.state["phase"], table.state["player"]) == (3, PLAY, 1)


def test_opening__with_wilds() -> None:
    table = Table({}, "1RO 2GD 3GS WILD WILD", phase=OPENING)
    assert all(table.cells(face) for face in ("1RO", "2GD", "3GS", "WILD"))
    table.play("lay WILD on D5")
    assert len(table.legal()) == 27  # the other WILD completes any
    table.play("declare 1RO", "lay 2GD on E5")
    assert table.legal() == {"lay WILD on F5: 0"}
    assert table.play("lay WILD on F5").legal() == {"declare 3PS: 1"}
    assert table.play("declare 3PS").score == 1


def test_opening__the_opener_holds_a_set_and_is_drawn_among_those_who_do() -> None:
    openers: dict[str, list[int]] = {"random": [], "first_seat": []}
    for choice, found in openers.items():
        env = DiceEnv(GAME, 4, opener=choice)
        for seed in range(100):
            env.reset(seed=seed)
            state = env.get_state().state[0]
            holders = [seat for seat in range(4) if holds_a_set(state["hand_faces"][seat].tolist())]
            assert state["opener"] in holders
            found.append(holders.index(int(state["opener"])))
    assert set(openers["first_seat"]) == {0}
    assert {0, 1, 2} <= set(openers["random"])


def holds_a_set(faces: list[int]) -> bool:
    names = [FACE_NAMES[face] for face in faces]
    naturals = [name for name in names if name != "WILD"]
    if len(naturals) < 5:
        return True
    return any(
        all(len({a[i], b[i], c[i]}) != 2 for i in range(3))
        for x, a in enumerate(names)
        for y, b in enumerate(names[:x])
        for c in names[:y]
    )


def test_opening__dice_that_never_hold_a_set_are_drawn_again() -> None:
    """Nine faces without a SET among them, one to a die: only three alike can be one."""
    faces = ["1RO", "2RO", "1RD", "2RD", "1GO", "2GO", "1GD", "2GD"]
    env = DiceEnv(GAME, dice=[[faces[die % 8]] * 6 for die in range(42)])
    for seed in range(10):
        env.reset(seed=seed)
        state = env.get_state().state[0]
        assert holds_a_set(state["hand_faces"][int(state["opener"])].tolist())


# Rounds.

FULL = ("1RO 1RO 1RD 1RD 1GO",) * 2


def test_round__refills_from_the_opener_and_then_the_extra_roll() -> None:
    script = "#30 1RO #31 2RO"  # what #30 shows is on it: see the table of dice
    table = Table({"D5": "1RO", "E5": "2RO"}, "3RO 1GO 2GO 3GO 1GO", others=FULL, script=script, dice=WITH_WILD)
    table.state["opener"] = 0
    table.play("lay 3RO on F5", "end the turn", "end the turn", "end the turn")
    assert (table.state["phase"], table.state["player"]) == (EXTRA, 0)
    assert len(table.hand()) == 5
    assert 30 in table.numbers()
    assert [table.hand(seat) for seat in (1, 2)] == [["1RO", "1RO", "1RD", "1RD", "1GO"]] * 2
    mask = np.zeros(GAME.num_actions(table.options), np.int8)
    rules.legal_actions(table.state, table.options, mask)
    assert np.flatnonzero(mask).tolist() == list(range(5 * 81 + 27, 5 * 81 + 59))  # every set of slots
    table.play("keep none")
    assert (table.state["phase"], table.state["player"]) == (EXTRA, 1)
    before = table.numbers(1)
    table.play("keep 1RO 1RO 1RD 1RD 1GO")
    assert (table.numbers(1), table.state["player"]) == (before, 2)
    table.play("keep 1RO 1RO 1RD 1RD 1GO")
    assert (table.state["phase"], table.state["player"]) == (PLAY, 0)


def test_round__starts_with_the_opener_every_time() -> None:
    table = Table({"D5": "1RO", "E5": "2RO"}, "1GD", others=FULL)
    table.state["opener"], table.state["player"] = 1, 1
    table.play("end the turn", "end the turn", "end the turn")
    assert table.state["player"] == 1


@pytest.mark.parametrize(("opener", "sizes"), [(0, [5, 4, 3]), (1, [3, 5, 4]), (2, [4, 3, 5])])
def test_round__the_bag_runs_out_in_seat_order_from_the_opener(opener: int, sizes: list[int]) -> None:
    """Three dice in the bag: the opener gets two, the next seat one, the last none."""
    hands = ["3RO 3RO 3RO 3RO" if seat == opener else "3RO 3RO 3RO" for seat in range(3)]
    table = Table({"D5": "1RO", "E5": "2RO"}, hands[0], others=(hands[1], hands[2]))
    for row in range(3):  # 27 more dice out of the bag
        table.state["dice"][EDGE + 6 + row, EDGE : EDGE + 9] = range(12 + 9 * row, 21 + 9 * row)
    table.state["opener"] = table.state["player"] = opener
    table.play("lay 3RO on F5", "end the turn", "end the turn", "end the turn")
    assert [len(table.hand(seat)) for seat in range(3)] == sizes


def test_round__the_last_one_is_completed() -> None:
    table = Table({"D5": "1RO", "E5": "2RO"}, "3RO", others=("1GD", "1RO"))
    table.play("lay 3RO on F5")
    assert (table.state["phase"], table.state["player"]) == (PLAY, 1)  # seat 0 has no dice; seats 1 and 2 still play
    assert table.play("end the turn").legal() >= {"lay 1RO on G5: 3", "end the turn"}
    table.play("end the turn")
    assert table.state["phase"] == OVER
    assert table.legal() == set()
    assert table.hand(1) == ["1GD"]  # counts nothing
    won = np.zeros(3, np.int8)
    rules.winners(table.state, table.options, won)
    assert won.tolist() == [1, 0, 0]


@pytest.mark.parametrize("most", [1, 3])
def test_round__idle_ones_throw_all_dice_and_end_the_game(most: int) -> None:
    table = Table({"D5": "1RO", "E5": "2RO"}, "1GD 1GD", others=("1GS",), max_idle_rounds=most, dice=WITH_WILD)
    before = table.numbers(), table.numbers(1)
    for played in range(1, most + 1):
        assert table.state["phase"] == PLAY
        table.play("end the turn", "end the turn")
        assert table.state["idle_rounds"] == played
    assert table.state["phase"] == OVER
    assert (sorted(table.numbers()), table.numbers(1)) == (sorted(before[0]), before[1])  # nobody drew
    assert (table.hand() != ["1GD", "1GD"]) == (most > 1)  # thrown between rounds, not after the last


def test_round__a_die_laid_ends_the_row_of_idle_ones() -> None:
    table = Table({"D5": "1RO", "E5": "2RO"}, "3RO 1GD 1GD", others=("1GS 1GS",))
    table.state["idle_rounds"] = 2
    table.play("lay 3RO on F5", "end the turn", "end the turn")
    assert (table.state["phase"], table.state["idle_rounds"]) == (EXTRA, 0)


def test_round__the_next_one_may_be_idle_again() -> None:
    table = Table({"D5": "1RO", "E5": "2RO"}, "3RO 1GD 1GD", others=("1GS 1GS",))
    table.play("lay 3RO on F5", "end the turn", "end the turn")
    assert table.state["has_laid"] == 0
    keep_all = GAME.num_actions(table.options) - 2
    for _ in range(2):
        rules.apply(table.state, table.options, keep_all, table.chance)
    assert table.play("end the turn", "end the turn").state["idle_rounds"] == 1


def test_round__swaps_alone_are_idle() -> None:
    table = Table({"D5": "3RO~"}, "3RO 1GD", others=("1GS",), script="1GO", dice=WITH_WILD)
    table.play("swap 3RO on D5", "end the turn", "end the turn")
    assert table.state["idle_rounds"] == 1


def test_hand__equal_hands_look_equal() -> None:
    seen = []
    for faces in ((5, 27, 3, 3, 9), (3, 9, 3, 27, 5)):
        table = Table({"D5": "1RO"}, "1RO 1RO 1RO 1RO 1RO", script="")
        numbers = {5: 10, 27: 20, 9: 30}
        threes = iter((12, 11) if faces[0] == 5 else (11, 12))
        table.state["hand_faces"][0] = faces
        table.state["hand_dice"][0] = [numbers.get(face) or next(threes) for face in faces]
        table.state["phase"] = EXTRA
        rules.apply(table.state, table.options, GAME.num_actions(table.options) - 2, table.chance)  # keep all
        assert table.state["hand_faces"][0].tolist() == [3, 3, 5, 9, 27]
        assert table.state["hand_dice"][0].tolist() == [11, 12, 10, 30, 20]
        seen.append(table.state.tobytes())
    assert seen[0] == seen[1]


def test_script__what_cannot_be_is_left_to_chance_and_recorded() -> None:
    env = DiceEnv(GAME)
    env.reset(seed=3)
    drawn = env.get_state()
    env.reset(seed=3, options={"script": [74, 1, 60, 60, 0, 6]})  # an opener, a face, and die 32 twice, for dice
    script, state = env.get_state().script[0], env.get_state().state[0]
    assert script["face"][2] == 60
    assert all(29 <= entry <= 70 for entry in script["face"][:5])
    assert len({*script["face"][:5].tolist()}) == 5
    assert 31 in state["hand_dice"][0]
    assert drawn.state.tobytes() != env.get_state().state.tobytes()


def test_layout__digest_and_actions_follow_the_options() -> None:
    small = GAME.make_options(2, {"board": PLAIN})
    assert GAME.layout(small).digest != GAME.layout(GAME.make_options()).digest
    assert GAME.action_digest(small) != GAME.action_digest()
    assert GAME.num_actions(small) == 5 * 81 + 60
    assert STANDARD in GAME.options_dict(small).values()


def test_names__beside_a_wild_without_a_face_tell_no_points() -> None:
    table = Table({"D5": "1RO", "E5": "2RO"}, "WILD 2RO 1GS").play("lay WILD on F5")
    slot = [words.partition(" on ")[0] for words in map(table.words, range(0, 3 * 81, 81))].index("lay 2RO")
    action = next(a for a in range(81 * slot, 81 * (slot + 1)) if " on G5" in table.words(a))
    assert table.words(action) == "lay 2RO on G5"
