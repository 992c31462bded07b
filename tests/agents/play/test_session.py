"""A session plays the engine's game, whatever is taken back, saved or refused on the way."""

from pathlib import Path

import numpy as np
import pytest

from fivedice.agents.play import saved
from fivedice.agents.play.seats import offers, seat_of
from fivedice.agents.play.session import PERSON, PlaySession, Refused, Seat
from fivedice.agents.policies.baselines import GREEDY, RandomPolicy
from fivedice.agents.policies.zoo import agent_names
from fivedice.envs import GAMES, load_game
from fivedice.envs.core.batch import Batch

YUM = load_game("yum")


def session_of(game: str, *names: str, seed: int = 3) -> PlaySession:
    return PlaySession(load_game(game), [seat_of(name) for name in names], seed=seed)


def lowest(session: PlaySession) -> int:
    view = session.position.view
    assert view is not None
    return int(view.masks[0].argmax())


def told(session: PlaySession) -> list[tuple[int, str, object]]:
    """The moves without their actions: of actions with the same words, a transcript does not say which it was."""
    return [(move.seat, move.words, move.throws) for move in session.moves]


def play_on(session: PlaySession, moves: int = 10_000) -> None:
    """Play with the person taking the greedy policy's moves."""
    while not session.is_over and session.number < moves:
        view = session.position.view
        assert view is not None
        if session.waits_for_policy:
            session.play_policy()
        else:
            session.play(int(GREEDY.act(view)[0]), session.number)


@pytest.mark.parametrize("name", GAMES)
def test_session__plays_the_game_of_the_engine(name: str) -> None:
    session = session_of(name, PERSON, "random")
    play_on(session)
    game = load_game(name)
    batch, policies, actions = Batch(game, 1, num_players=2), (GREEDY, RandomPolicy()), []
    batch.reset(3)
    while not batch.over[0]:
        action = policies[batch.movers[0]].act(batch.view())
        actions.append(int(action[0]))
        batch.step(action, restart=False)
    points, won = batch.results(batch.all_rows)
    assert [move.action for move in session.moves] == actions
    assert session.position.scores == tuple(points[0])
    assert session.winners == tuple(np.flatnonzero(won[0]))


def test_moves__tell_who_what_and_the_dice_that_came() -> None:
    session = session_of("yum", PERSON, "random")
    (opening,) = session.opening
    assert (opening.seat, len(opening.faces)) == (0, 5)
    move = session.play(0, 0)
    assert (move.number, move.seat, move.action, move.words) == (1, 0, 0, "keep none")
    (throw,) = move.throws
    assert sorted(map(int, throw.faces)) == session.position.state[0]["dice"].tolist()
    assert session.lines(1) == (f"player_0 keeps none, throws {' '.join(throw.faces)}",)
    assert session.lines(0) == (f"player_0 throws {' '.join(opening.faces)}",)


@pytest.mark.parametrize("name", GAMES)
def test_undo__leads_back_to_the_last_own_decision_and_the_same_dice(name: str) -> None:
    session = session_of(name, "random", PERSON)
    play_on(session, 25)
    before = [position.state.tobytes() for position in session.positions]
    taken_back = session.undo()
    assert taken_back == 25 - session.number
    assert session.waits_for_person
    assert [position.state.tobytes() for position in session.positions] == before[: session.number + 1]
    play_on(session, 25)
    assert [position.state.tobytes() for position in session.positions] == before


def test_undo__to_a_move_or_not_at_all() -> None:
    session = session_of("yum", PERSON, "random")
    with pytest.raises(Refused, match="no move of yours"):
        session.undo()
    play_on(session, 20)
    others = next(move.number - 1 for move in session.moves if move.seat == 1)
    with pytest.raises(Refused, match=f"no decision of yours comes after move {others};"):
        session.undo(others)
    assert session.number == 20
    assert session.undo(0) == 20
    assert session.number == 0


def test_undo__after_the_end_goes_on() -> None:
    session = session_of("yahtzee_jr", PERSON, "greedy")
    play_on(session)
    with pytest.raises(Refused, match="the game is over"):
        session.play(0)
    session.undo()
    assert session.waits_for_person
    assert session.winners == ()


@pytest.mark.parametrize(
    ("action", "number", "why"),
    [
        (0, 1, "answers move 1, but the game is at move 0"),
        (0, -1, "answers move -1, but the game is at move 0"),
        (43, 0, "action 43 is not a legal move of player_0"),
        (-1, 0, "action -1 is not a legal move"),
    ],
)
def test_play__refuses_what_is_late_or_illegal_and_changes_nothing(action: int, number: int, why: str) -> None:
    session = session_of("yum", PERSON, "random")
    with pytest.raises(Refused, match=why):
        session.play(action, number)
    assert (session.number, len(session.positions)) == (0, 1)
    session.play(0, 0)
    with pytest.raises(Refused, match="answers move 0, but the game is at move 1"):
        session.play(0, 0)


def test_play__is_for_persons_and_play_policy_for_policies() -> None:
    session = session_of("yum", "random", PERSON)
    with pytest.raises(Refused, match=r"player_0 \(random\) is to move"):
        session.play(lowest(session))
    while session.waits_for_policy:
        session.play_policy(session.number)
    with pytest.raises(Refused, match="player_1 is a person"):
        session.play_policy()
    with pytest.raises(Refused, match="answers move 0"):
        session.play_policy(0)


def test_again__has_the_same_dice() -> None:
    session = session_of("set_cubed", PERSON, "greedy")
    play_on(session, 8)
    again = session.again()
    assert again.number == 0
    assert again.opening == session.opening
    play_on(again, 8)
    assert again.moves == session.moves


def test_seed__of_a_game_is_known() -> None:
    session = PlaySession(YUM, [Seat(), Seat()])
    twin = PlaySession(YUM, [Seat(), Seat()], seed=session.seed)
    assert twin.opening == session.opening
    assert PlaySession(YUM, [Seat()]).seed != PlaySession(YUM, [Seat()]).seed


def test_session__refuses_who_cannot_play_before_it_begins() -> None:
    with pytest.raises(ValueError, match="there is no 'optimal' policy for SET Cubed"):
        session_of("set_cubed", "optimal", PERSON)
    with pytest.raises(ValueError, match="num_players=7 is not possible"):
        session_of("yum", *[PERSON] * 7)


@pytest.mark.parametrize("name", GAMES)
def test_saved__continues_as_if_nothing_had_happened(name: str) -> None:
    session = session_of(name, PERSON, "random")
    play_on(session, 12)
    text = saved.save(session)
    loaded = saved.load(text, seat_of)
    assert saved.save(loaded) == text
    assert [seat.name for seat in loaded.seats] == [PERSON, "random"]
    play_on(session, 30)
    play_on(loaded, 30)
    assert told(loaded) == told(session)


def test_saved__a_transcript_without_a_seed_keeps_its_dice() -> None:
    session = session_of("yum", PERSON, "random")
    play_on(session, 12)
    text = "\n".join(line for line in saved.save(session).splitlines() if not line.startswith("#"))
    loaded = saved.load(text, seat_of)
    assert told(loaded) == told(session)
    assert [seat.name for seat in loaded.seats] == [PERSON, PERSON]
    loaded.undo(0)
    assert loaded.opening == session.opening


def test_saved__a_wrong_seed_does_not_change_the_dice() -> None:
    session = session_of("yum", PERSON, "random")
    play_on(session, 12)
    loaded = saved.load(saved.save(session).replace("# seed: 3", "# seed: 4"), seat_of)
    assert told(loaded) == told(session)


def test_saved__refuses_a_wrong_number_of_seats_and_unknown_ones() -> None:
    text = saved.save(session_of("yum", PERSON, "random"))
    with pytest.raises(ValueError, match="lists 1 seats, but the game has 2 players"):
        saved.load(text.replace("# seats: person, random", "# seats: person"), seat_of)
    with pytest.raises(ValueError, match="'nobody' is not a policy"):
        saved.load(text.replace("# seats: person, random", "# seats: person, nobody"), seat_of)


def test_offers__are_who_can_play(tmp_path: Path) -> None:
    agents = [name for name in agent_names() if name.startswith("yum-")]
    named = ["random", "greedy", "optimal", "rollout", *agents]
    assert [offer.name for offer in offers(YUM, runs=tmp_path)] == named
    assert agents
    in_set_cubed = [offer.name for offer in offers(load_game("set_cubed"), runs=tmp_path)]
    assert in_set_cubed == ["random", "greedy", "planner", "rollout"]
    jr = load_game("yahtzee_jr")
    assert "optimal" not in [offer.name for offer in offers(jr, jr.make_options(3), tmp_path)]
    (tmp_path / "broken.safetensors").write_bytes(b"nothing")
    assert len(offers(YUM, runs=tmp_path)) == len(named)
