"""A game as text: written, read, and played again."""

import dataclasses
import itertools
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fivedice.envs import GAMES, load_game
from fivedice.envs.api.aec import DiceEnv
from fivedice.envs.api.transcript import ROOM, Recorder, Transcript, parse, replay, write
from fivedice.envs.core.chance import BLANK
from fivedice.envs.core.spec import Game

GOLDEN = Path(__file__).parents[2] / "golden"
NAMES = sorted(path.name for path in GOLDEN.glob("*.txt"))  # <game>-<what it shows>.txt


def without_comments(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))


def play(game: Recorder, seed: int, decisions: int = 10_000) -> Transcript:
    game.reset(seed=seed)
    generator = np.random.default_rng(seed)
    for _ in range(decisions):
        observation, _, terminated, truncated, _ = game.last()
        if terminated or truncated:
            break
        game.step(int(generator.choice(np.flatnonzero(observation["action_mask"]))))
    return game.transcript()


def record(name: str, num_players: int | None = None, **options: object) -> Recorder:
    return Recorder(DiceEnv(load_game(name), num_players, **options))


def test_golden__every_game_has_one() -> None:
    assert {name.partition("-")[0] for name in NAMES} == set(GAMES)
    assert len(NAMES) >= 2 * 4  # each of the first four games has several


@pytest.mark.parametrize("name", NAMES)
def test_golden__replayed_to_the_last_line(name: str) -> None:
    text = (GOLDEN / name).read_text()
    game = replay(parse(text))
    assert all((game.truncations if "cut-short" in name else game.terminations).values())
    assert write(game.transcript()) == without_comments(text)


def test_golden__tie_is_paid_as_a_tie() -> None:
    game = replay(parse((GOLDEN / "yum-tie.txt").read_text()))
    assert game.env.scores() == {"player_0": 152.0, "player_1": 152.0}
    assert set(game.rewards.values()) == {0.0}


def test_golden__roll_off_is_paid_to_its_winner() -> None:
    game = replay(parse((GOLDEN / "yahtzee_jr-roll-off.txt").read_text()))
    assert game.env.scores() == {"player_0": 14.0, "player_1": 14.0}
    assert game.rewards == {"player_0": -1.0, "player_1": 1.0}


@pytest.mark.parametrize(
    ("written", "instead", "said"),
    [
        ("player_0 throws Mickey Minnie", "player_1 throws Mickey Minnie", "the rules say 'player_0 throws Mickey"),
        ("Goofy Goofy Clubhouse Daisy", "Goofy Goofy Goofy Daisy", "the rules say 'player_0 throws"),  # tied again
        ("Minnie Clubhouse Donald", "Minnie Pluto Donald", "line 46: 'Pluto' is not a known face; known are 'Mickey',"),
        ("Minnie Clubhouse Donald", "Minnie Club Donald", "line 46: .* did you mean 'Clubhouse'"),
        ("won by player_1", "won by player_0", "line 50: .* the rules say 'won by player_1'"),
    ],
)
def test_golden__roll_off_must_be_written_as_it_happened(written: str, instead: str, said: str) -> None:
    text = (GOLDEN / "yahtzee_jr-roll-off.txt").read_text()
    assert text.count(written) == 1
    with pytest.raises(ValueError, match=said):
        replay(parse(text.replace(written, instead)))


@pytest.mark.parametrize("name", GAMES)
def test_transcript__written_read_and_replayed(name: str) -> None:
    game = load_game(name)
    for num_players in sorted({game.min_players, 3, game.max_players}):
        for decisions in (0, 7, 10_000) if num_players == 3 else (10_000,):
            text = write(play(record(name, num_players), seed=num_players, decisions=decisions))
            assert write(parse(text)) == text
            assert write(replay(parse(text)).transcript()) == text


@pytest.mark.parametrize("name", GAMES)
def test_transcript__names_every_option(name: str) -> None:
    for option in load_game(name).rules.OPTIONS:
        for choice in option.samples:
            transcript = play(record(name, **{option.name: choice}), seed=1, decisions=25)
            assert parse(write(transcript)).options == transcript.options
            assert transcript.options[option.name] == choice
            replay(transcript)


@pytest.mark.parametrize("name", GAMES)
def test_recorder__shows_the_dice_that_fall_without_it(name: str) -> None:
    recorded, plain = record(name), DiceEnv(load_game(name))
    play(recorded, seed=4)
    plain.reset(seed=4)
    generator = np.random.default_rng(4)
    while not any(plain.terminations.values()) and not any(plain.truncations.values()):
        plain.step(int(generator.choice(np.flatnonzero(plain.observe(plain.agent_selection)["action_mask"]))))
    assert recorded.env.scores() == plain.scores()
    assert recorded.env.get_state().state.tobytes() == plain.get_state().state.tobytes()


def test_recorder__records_the_script_it_is_given() -> None:
    game = record("yum")
    game.reset(seed=0, options={"script": [2, 3, 3, 5, 6, 1, 3, 6]})
    game.step(0b00110)
    game.step(31 + 2)
    assert game.transcript().lines[:2] == (
        "player_0 throws 2 3 3 5 6",
        "player_0 keeps 3 3, throws 1 3 6",
    )
    assert game.transcript().lines[2] == "player_0 fills Threes: 9"
    assert game.transcript().lines[3].startswith("player_1 throws ")


def test_recorder__illegal_action_is_not_recorded() -> None:
    game = record("yum")
    game.reset(seed=1)
    written = game.transcript()
    with pytest.raises(ValueError, match="not legal"):
        game.step(1000)
    assert game.transcript() == written


def test_recorder__refuses_what_it_cannot_record() -> None:
    with pytest.raises(ValueError, match="a transcript cannot hold illegal actions; use illegal_action='raise'"):
        Recorder(DiceEnv(load_game("yum"), illegal_action="terminate"))
    game = record("yum")
    game.reset(seed=1)
    with pytest.raises(ValueError, match="a Recorder cannot set a state, because its transcript would have a gap"):
        game.set_state(game.env.get_state())


@pytest.mark.parametrize(
    ("line", "replaced", "said"),
    [
        (3, "fivedice/yum-v1", r"line 3: 'fivedice/yum-v1' is not a known game; did you mean 'fivedice/yum-v0'\?"),
        (4, "num_players: 9", "line 4: num_players=9 is not possible: Yum is for 1 to 6 players"),
        (5, "high_lo: either", r"line 5: 'high_lo' is not a known option of Yum; did you mean 'high_low'\?"),
        (5, "high_low: both", "line 5: high_low='both' is not possible"),
        (11, "player_0 keeps 3 3, throws 1 3 7", r"line 11: '7' is not a known face; known are '1', .* '6'"),
        (11, "player_0 keeps 3 3, throws 1 3", "line 11: .* says 'player_0 keeps 3 3, throws 1 3', the rules say"),
        (11, "player_0 keeps 3 4, throws 1 3 6", "line 11: 'player_0 keeps 3 4' is not a legal action; the most"),
        (11, "player_1 keeps 3 3, throws 1 3 6", "line 11: 'player_1 keeps 3 3' is not a legal action"),
        (13, "player_0 fills Threes: 6", "line 13: .* the most similar one is 'player_0 fills Threes: 9'"),
        (14, "player_0 throws 1 1 2 5 5", "line 14: .* the rules say 'player_1 throws 1 1 2 5 5'"),
        (14, "", "line 15: .* the rules say 'player_1 throws 5 4 1 6 6'"),
        (-2, "final scores: player_0 152, player_1 153", "line 85: .* the rules say 'final scores: .* player_1 152'"),
        (-1, "won by player_1", "line 86: .* the rules say 'won by player_0 and player_1'"),
        (-1, "", "the transcript ends too early; the next line is 'won by player_0 and player_1'"),
    ],
)
def test_replay__names_the_first_line_that_disagrees(line: int, replaced: str, said: str) -> None:
    lines = (GOLDEN / "yum-tie.txt").read_text().splitlines()
    lines[line - 1 if line > 0 else line] = replaced
    with pytest.raises(ValueError, match=said):
        replay(parse("\n".join(lines)))


def test_replay__nothing_comes_after_the_end() -> None:
    text = (GOLDEN / "yum-tie.txt").read_text()
    with pytest.raises(ValueError, match="'player_0 keeps none' comes after the end of the game"):
        replay(parse(text + "player_0 keeps none\n"))


def test_parse__empty_text_is_refused() -> None:
    with pytest.raises(ValueError, match="empty; its first line must be a game's id, such as 'fivedice/set_cubed-v0'"):
        parse("# nothing but a comment\n")


def test_parse__options_not_named_have_their_default() -> None:
    transcript = parse("fivedice/yum-v0\nplayer_0 throws 1 2 3 4 5\n")
    assert transcript.options["high_low"] == "either"
    assert replay(transcript).agent_selection == "player_0"


def test_parse__a_number_of_seats_in_words_is_refused() -> None:
    with pytest.raises(ValueError, match="line 2: num_players='two' is not a whole number"):
        parse("fivedice/yum-v0\nnum_players: two\n")


# Every line, against what happened.

SETTINGS: list[tuple[str, int, dict[str, Any]]] = [
    ("yum", 3, {"zeros": "free", "five_alike_full_house": True}),
    ("yahtzee_jr", 4, {"must_score_most": False}),
    ("yahtzee_jr", 2, {}),
    ("showdown_yahtzee", 3, {"chips": (1, 9, 2, 2, 7, 1), "max_turns": 40}),
    ("set_cubed", 2, {"opener": "first_seat"}),
]


def expected_lines(env: DiceEnv, seed: int) -> tuple[list[str], list[int]]:
    """The lines of a game played at random, from the script that it fills in; and all faces in the order drawn."""
    env.reset(seed=seed, options={"script": [BLANK] * 4000})
    generator, lines, used = np.random.default_rng(seed), list[str](), 0

    def thrown() -> Iterator[tuple[str, str]]:
        nonlocal used
        snapshot = env.get_state()
        entries = snapshot.script[0, used : int(snapshot.stream["scripted"][0])]
        used += len(entries)
        for seat, faces in itertools.groupby(entries.tolist(), lambda entry: entry[1]):
            yield f"player_{seat}", " ".join(env.game.face_names[face - 1] for face, _ in faces)

    lines += [f"{thrower} throws {faces}" for thrower, faces in thrown()]
    while not any(env.terminations.values()) and not any(env.truncations.values()):
        mover, before = env.agent_selection, env.get_state().state[0]
        action = int(generator.choice(np.flatnonzero(env.observe(mover)["action_mask"])))
        env.step(action)
        verb, *rest = env.game.name_action(before, env.options_record, action).split(" ")
        lines.append(" ".join([mover, f"{verb}s", *rest]))
        for place, (thrower, faces) in enumerate(thrown()):
            if place == 0 and thrower == mover:
                lines[-1] += f", throws {faces}"
            else:
                lines.append(f"{thrower} throws {faces}")
    scores = env.scores()
    won = np.zeros(len(scores), np.int8)
    env.game.rules.winners(env.get_state().state[0], env.options_record, won)
    if any(env.truncations.values()):
        lines.append("cut short by the limit of turns")
    lines.append("final scores: " + ", ".join(f"{agent} {int(points)}" for agent, points in scores.items()))
    lines.append("won by " + " and ".join(agent for agent, shares in zip(scores, won, strict=True) if shares))
    return lines, env.get_state().script["face"][0, :used].tolist()


@pytest.mark.parametrize(("name", "num_players", "options"), SETTINGS, ids=str)
def test_lines__say_who_did_what_and_what_was_thrown(name: str, num_players: int, options: dict[str, Any]) -> None:
    game, seed = load_game(name), num_players + 7
    transcript = play(record(name, num_players, **options), seed)
    lines, faces = expected_lines(DiceEnv(game, num_players, **options), seed)
    assert list(transcript.lines) == lines
    assert transcript.faces() == faces
    defaults = {option.name: option.samples[0] for option in game.rules.OPTIONS}
    expected = {"game": game, "num_players": num_players, "options": {**defaults, **options}, "lines": tuple(lines)}
    first = len(defaults) + 4
    expected["numbers"] = tuple(range(first, first + len(lines)))
    assert {field.name: getattr(transcript, field.name) for field in dataclasses.fields(Transcript)} == expected
    assert parse(write(transcript)) == transcript


def test_write__is_the_text_that_the_page_shows() -> None:
    game = record("showdown_yahtzee", 3, chips=(1, 9, 2, 2, 7, 1), steal="beat", max_turns=3)
    game.reset(seed=0, options={"script": [1, 2, 5, 3, 6, 5, 4, 4, 1]})
    game.step(0b01100)
    assert write(game.transcript()).splitlines()[:9] == [
        "fivedice/showdown_yahtzee-v0",
        "num_players: 3",
        "chips: 1,9,2,2,7,1",
        "steal: beat",
        "max_turns: 3",
        "",
        "player_0 throws 1",
        "player_1 throws 2",
        "player_2 throws 5 3 6 5 4 4 1",
    ]
    assert write(game.transcript()).endswith("\n")


@pytest.mark.parametrize(("name", "num_players", "options"), SETTINGS, ids=str)
def test_replay__gives_the_game_itself(name: str, num_players: int, options: dict[str, Any]) -> None:
    """Within a game and at its end: state, seat, rewards, scores and what every agent sees."""
    for decisions in (6, 10_000):
        recorded = record(name, num_players, reward="win", **options)
        transcript = play(recorded, 5, decisions)
        again = replay(transcript)
        assert again.transcript() == transcript
        assert again.env.options == recorded.env.options
        assert again.agent_selection == recorded.agent_selection
        assert again.env.get_state().state.tobytes() == recorded.env.get_state().state.tobytes()
        for attribute in ("agents", "rewards", "terminations", "truncations"):
            assert getattr(again, attribute) == getattr(recorded, attribute)
        for agent in again.possible_agents:
            for part, array in again.observe(agent).items():
                assert array.tobytes() == recorded.observe(agent)[part].tobytes()


# Every kind of alteration.


def alterations(lines: list[str], place: int) -> dict[str, list[str]]:
    """The lines with one of them altered, by what was done to it."""
    line, before, after = lines[place], lines[:place], lines[place + 1 :]
    variants: dict[str, list[str]] = {
        "lost": [],
        "twice": [line, line],
        "another word": [line.replace(" ", " perhaps ", 1)],
    }
    if after and after[0] != line:
        variants["swapped with the next"] = [after[0], line]
    for seat, other in (("player_0", "player_1"), ("player_1", "player_0")):
        if seat in line:
            variants[f"{other} for {seat}"] = [line.replace(seat, other, 1)]
    if points := re.search(r": (\d+)|player_\d (\d+)$", line):
        digits = points[1] or points[2]
        variants["another number"] = [f"{line[: points.end() - len(digits)]}{int(digits) + 1}{line[points.end() :]}"]
    if " throws " in line:
        variants["a face more"] = [f"{line} 1"]
        variants["a face less"] = [line.rpartition(" ")[0]]
    return {
        kind: [*before, *instead, *(after[1:] if kind.startswith("swapped") else after)]
        for kind, instead in variants.items()
    }


def is_refused(altered: Transcript) -> bool:
    """Whether a transcript is refused; if not, its lines are those of the game that it replays."""
    said = ""
    try:
        assert replay(parse(write(altered))).transcript().lines == altered.lines
    except ValueError as error:
        said = str(error)
    assert re.match(r"line \d+: |the transcript ends too early; the next line is '|$", said)
    return said != ""


@pytest.mark.parametrize("name", ["yum-tie.txt", "yahtzee_jr-three-seats.txt", "showdown_yahtzee-cut-short.txt"])
def test_replay__refuses_every_kind_of_alteration(name: str) -> None:
    """Another throw, or one throw less or more, may be another game that can be; all else cannot."""
    transcript = parse((GOLDEN / name).read_text())
    lines, kinds = list(transcript.lines), Counter[str]()
    last = len(lines) - 1
    for place in sorted({*range(0, len(lines), 8), 1, 2, last - 2, last - 1, last}):
        for kind, altered in alterations(lines, place).items():
            refused = is_refused(dataclasses.replace(transcript, lines=tuple(altered)))
            may_be = " keeps " in lines[place] and kind in ("lost", "twice", "swapped with the next")
            assert refused or may_be, (kind, lines[place])
            kinds[kind] += refused
    assert len(kinds) == 9
    assert min(kinds.values()) >= 1, kinds


@pytest.mark.parametrize("name", NAMES)
def test_replay__another_face_is_refused_or_another_game(name: str) -> None:
    transcript = parse((GOLDEN / name).read_text())
    throws = [place for place, line in enumerate(transcript.lines) if " throws " in line]
    for place in throws[:: max(1, len(throws) // (2 if transcript.game.name == "set_cubed" else 5))]:
        words = transcript.lines[place].split(" ")
        words[-1] = transcript.game.face_names[(transcript.game.face_names.index(words[-1]) + 2) % 6]
        lines = (*transcript.lines[:place], " ".join(words), *transcript.lines[place + 1 :])
        is_refused(dataclasses.replace(transcript, lines=lines))


def test_parse__counts_lines_of_the_text_and_skips_comments_and_blanks() -> None:
    text = "\n# one\n fivedice/yum-v0 \n\n# two\nzeros: free\nnum_players: 3\n\n"
    text += "  player_0 throws 1 1 2 2 3\n#\nplayer_0 fills Ones: 2\n"
    transcript = parse(text)
    assert transcript.lines == ("player_0 throws 1 1 2 2 3", "player_0 fills Ones: 2")
    assert transcript.numbers == (9, 11)
    assert (transcript.num_players, transcript.options["zeros"]) == (3, "free")
    with pytest.raises(
        ValueError, match="line 11: 'player_0 fills Ones: 3' is not a legal action; the most similar one is"
    ):
        replay(parse(text.replace("Ones: 2", "Ones: 3")))


@pytest.mark.parametrize("name", GAMES)
def test_parse__each_option_is_read_and_a_wrong_value_is_refused_with_its_line(name: str) -> None:
    game = load_game(name)
    for option in game.rules.OPTIONS:
        with pytest.raises(ValueError, match=rf"^line 3: {option.name}"):
            parse(f"{game.aec_id}\nnum_players: 2\n{option.name}: nonsense\n")
        with pytest.raises(ValueError, match=f"^line 2: '{option.name}_' is not a known option of {game.title}"):
            parse(f"{game.aec_id}\n{option.name}_: nonsense\n")


def test_recorder__finds_room_in_a_game_that_draws_much() -> None:
    """The script is longer than a game's first blanks, and the faces are the same."""
    game, plain = record("showdown_yahtzee", 4), DiceEnv(load_game("showdown_yahtzee"), 4)
    transcript = play(game, seed=2)
    assert len(transcript.faces()) > ROOM
    assert play(game, seed=2) == transcript  # reset starts the transcript anew
    lines, faces = expected_lines(plain, 2)
    assert (list(transcript.lines), transcript.faces()) == (lines, faces)


def test_recorder__a_given_script_comes_before_the_blanks() -> None:
    game = record("yum")
    game.reset(options={"script": [4, BLANK, 4, 4, 4, 2]}, seed=3)
    first = game.transcript().lines[0].split(" ")
    assert first[:3] + first[4:] == ["player_0", "throws", "4", "4", "4", "4"]
    game.step(0)
    assert game.transcript().lines[1].startswith("player_0 keeps none, throws 2 ")
    game.reset(seed=3, options={"game": 4})
    assert game.env.get_state().stream["game"].tolist() == [[4, 0]]
    assert len(game.transcript().lines) == 1


# The names of actions.


def slots_kept(keep: int) -> str:
    """As a person would list them."""
    slots = [slot for slot in range(1, 6) if keep // 2 ** (slot - 1) % 2]
    return f"keep slot{'s' * (len(slots) > 1)} {' '.join(map(str, slots))}" if slots else "keep none"


def expected_names(game: Game, options: dict[str, Any]) -> list[str]:
    keeps = [slots_kept(keep) for keep in range(31)]
    cards = ["Ones", "Twos", "Threes", "Fours", "Fives", "Sixes"]
    if game.name == "yum":
        others = ["Low Straight", "High Straight", "Low", "High", "Full House", "Yum"]
        return [*keeps, *(f"fill {box}" for box in cards + others)]
    if game.name == "yahtzee_jr":
        return [*keeps, *(f"place {one}" for one in ("Mickey", "Minnie", "Donald", "Daisy", "Goofy"))]
    if game.name == "showdown_yahtzee":
        others = ["Three of a Kind", "Four of a Kind", "Full House", "Small Straight", "Large Straight", "Chance"]
        spaces = [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15]
        claims, targets = [f"claim {card}" for card in cards + others], [f"target space {space}" for space in spaces]
        return [*keeps, *claims, *targets, "stay", "move on"]
    rows = options["board"].split("/")
    cells = ["ABCDEFGHIJKLMNO"[column] + str(row + 1) for row in range(len(rows)) for column in range(len(rows[0]))]
    faces = [f"{number}{colour}{shape}" for colour in "RGP" for shape in "ODS" for number in "123"]
    lays = [f"lay slot {slot} on {cell}" for slot in range(1, 6) for cell in cells]
    return [*lays, *(f"declare {face}" for face in faces), *keeps, slots_kept(31), "end the turn"]


@pytest.mark.parametrize("name", GAMES)
def test_actions__each_has_its_name(name: str) -> None:
    game = load_game(name)
    chosen = {"board": "/".join(["." * 9] * 4 + ["...***..."] + ["." * 9] * 2)} if name == "set_cubed" else {}
    options = game.make_options(None, chosen)
    names = expected_names(game, chosen)
    assert list(game.action_names(options)) == names
    assert game.num_actions(options) == len(names)


@pytest.mark.parametrize("name", GAMES)
def test_actions__are_named_by_the_dice_that_they_keep(name: str) -> None:
    """Of every legal action in some games: the faces kept, those that the state holds in these slots."""
    env = DiceEnv(load_game(name), 2)
    env.reset(seed=6)
    generator, kept = np.random.default_rng(6), 0
    first = 5 * 121 + 27 if name == "set_cubed" else 0
    for _ in range(60):
        state = env.get_state().state[0]
        legal = np.flatnonzero(env.observe(env.agent_selection)["action_mask"])
        for action in legal[(legal >= first) & (legal < first + 31)].tolist():
            if name == "set_cubed":
                numbers, faces = (state[part][state["player"]].tolist() for part in ("hand_dice", "hand_faces"))
                dice = [f"{env.game.face_names[face]}#{die + 1}" for die, face in zip(numbers, faces, strict=True)]
            else:
                dice = [env.game.face_names[die - 1] for die in state["dice"].tolist()]
            keep = action - first
            words = " ".join(die for slot, die in enumerate(dice) if keep >> slot & 1)
            assert env.game.name_action(state, env.options_record, action) == f"keep {words or 'none'}"
            kept += 1
        env.step(int(generator.choice(legal)))
        if any(env.terminations.values()):
            env.reset()
    assert kept > 100


@pytest.mark.parametrize(("room", "is_enough"), [(4, False), (5, False), (6, True)])
def test_recorder__refuses_a_game_that_may_have_drawn_more_than_it_has_room_for(
    monkeypatch: pytest.MonkeyPatch, room: int, is_enough: bool
) -> None:
    monkeypatch.setattr(f"{Recorder.__module__}.ROOM", room)
    game, said = record("yum"), ""
    try:
        game.reset(seed=1)
    except ValueError as error:
        said = str(error)
    refusal = "too many dice were thrown between two decisions; a transcript has no room for them"
    assert said == ("" if is_enough else refusal)
