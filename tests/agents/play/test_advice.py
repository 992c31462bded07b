"""Advice is the adviser's values with their unit and noise; the account splits a result into luck and play."""

import threading
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fivedice.agents.play.account import account, losses
from fivedice.agents.play.advice import AdviceTask, Adviser, advise, exact_adviser, figure, make_adviser
from fivedice.agents.play.choices import choices_of
from fivedice.agents.play.seats import seat_of
from fivedice.agents.play.session import PERSON, PlaySession
from fivedice.agents.policies.baselines import GREEDY, OPTIMAL
from fivedice.agents.policies.checkpoint import CheckpointPolicy
from fivedice.agents.policies.network import Network, tensor_shapes
from fivedice.agents.policies.rollout import RolloutPolicy
from fivedice.envs import load_game
from fivedice.envs.core.view import View

YUM, JR, SHOWDOWN = load_game("yum"), load_game("yahtzee_jr"), load_game("showdown_yahtzee")


def view_of(session: PlaySession) -> View:
    view = session.position.view
    assert view is not None
    return view


def played(game: Any, *names: str, seed: int = 3) -> PlaySession:
    """A finished game, in which persons play the greedy policy's moves."""
    session = PlaySession(game, [seat_of(name) for name in names], seed=seed)
    while not session.is_over:
        if session.waits_for_policy:
            session.play_policy()
        else:
            session.play(int(GREEDY.act(view_of(session))[0]))
    return session


def test_choices__join_actions_with_the_same_words() -> None:
    session = PlaySession(YUM, [seat_of(PERSON)], seed=5)
    view = view_of(session)
    choices = choices_of(view)
    assert sorted(action for choice in choices for action in choice.actions) == np.flatnonzero(view.masks[0]).tolist()
    for choice in choices:
        assert choice.action == choice.actions[0]
        assert {YUM.name_action(view.states[0], view.options, action) for action in choice.actions} == {choice.words}
    assert len({choice.words for choice in choices}) == len(choices)


UNITS = [
    (YUM, 2, None, "points", False),
    (YUM, 2, "greedy", "turn", False),
    (YUM, 2, "rollout", "lead", True),
    (YUM, 1, "rollout", "points", True),
    (YUM, 2, "rollout:greedy:8:win", "win", True),
    (JR, 1, None, "points", False),
    (JR, 2, None, "win", False),
    (JR, 3, None, "lead", True),
    (SHOWDOWN, 2, None, "lead", True),
]


@pytest.mark.parametrize(("game", "players", "name", "unit", "slow"), UNITS)
def test_adviser__knows_its_unit(game: Any, players: int, name: str | None, unit: str, slow: bool) -> None:
    adviser = make_adviser(game, game.make_options(players), name)
    assert (adviser.unit, adviser.is_slow) == (unit, slow)


def test_advice__is_sorted_and_exact_without_error() -> None:
    session = PlaySession(YUM, [seat_of(PERSON), seat_of("random")], seed=5)
    view = view_of(session)
    advice = advise(make_adviser(YUM, session.options), view)
    values = OPTIMAL.of(YUM).action_values(view)[0]  # type: ignore[attr-defined]  # the exact policy has them
    assert advice.best.value == values.max()
    assert [advised.value for advised in advice.choices] == sorted((a.value for a in advice.choices), reverse=True)
    for advised in advice.choices:
        assert advised.value == values[advised.choice.action]
        assert advised.behind == values.max() - advised.value
        assert (advised.error, advised.behind_error, advice.games) == (0, 0, 0)
        assert advised.may_be_best == advised.is_best
    assert advice.of(advice.choices[3].choice.actions[-1]) is advice.choices[3]
    with pytest.raises(ValueError, match="action 43 is not one of the choices"):
        advice.of(43)


def test_advice__of_a_rollout_is_its_mean_with_the_noise() -> None:
    session = PlaySession(SHOWDOWN, [seat_of(PERSON), seat_of("random")], seed=5)
    view, policy = view_of(session), RolloutPolicy(GREEDY, 24)
    task = AdviceTask(Adviser("rollout", policy, "lead"), view)
    task.run()
    assert (task.is_done, task.progress, task.error) == (True, 1.0, "")
    advice = task.advice
    assert advice is not None
    assert advice.games == 24
    values, results = policy.action_values(view)[0], policy.simulate(view, 0, 24)
    legal = np.flatnonzero(view.masks[0]).tolist()
    best = results[legal.index(advice.best.choice.action)]
    for advised in advice.choices:
        own = results[legal.index(advised.choice.action)]
        assert advised.value == values[advised.choice.action]
        assert advised.error == pytest.approx(own.std(ddof=1) / 24**0.5)
        assert advised.behind == pytest.approx((best - own).mean())
        assert advised.behind_error == pytest.approx((best - own).std(ddof=1) / 24**0.5)
    assert advice.best.is_best


class Slow(RolloutPolicy):
    """Waits in its second part until the test has cancelled."""

    def __init__(self) -> None:
        super().__init__(GREEDY, 1000)
        self.second, self.cancelled = threading.Event(), threading.Event()

    def simulate(self, view: View, first: int, count: int) -> NDArray[np.float64]:
        if first:
            self.second.set()
            assert self.cancelled.wait(10)
        return np.zeros((int(view.masks.sum()), count))


def test_advice__shows_progress_and_can_be_cancelled() -> None:
    policy = Slow()
    session = PlaySession(YUM, [seat_of(PERSON)], seed=5)
    task = AdviceTask(Adviser("slow", policy, "lead"), view_of(session)).start()
    assert policy.second.wait(10)
    assert 0 < task.progress < 1
    assert not task.is_done
    task.cancel()
    policy.cancelled.set()
    task.wait(10)
    assert (task.is_done, task.is_cancelled) == (False, True)
    assert task.advice is not None
    assert 0 < task.advice.games < 1000


def checkpoint() -> CheckpointPolicy:
    options = YUM.make_options(2)
    size, actions = YUM.layout(options).size, YUM.num_actions(options)
    random = np.random.default_rng(4)
    shapes = tensor_shapes(size, actions, (4,))
    tensors = {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    return CheckpointPolicy("it", YUM, options, Network(tensors, size, actions, (4,), "relu"))


def test_advice__of_a_checkpoint_is_the_probability_of_a_choice() -> None:
    session = PlaySession(YUM, [seat_of(PERSON), seat_of("random")], seed=5)
    view, policy = view_of(session), checkpoint()
    advice = advise(Adviser("it", policy, "probability"), view)
    assert sum(advised.value for advised in advice.choices) == pytest.approx(1)
    logits = policy.network.logits(view.observations)[0].astype(float)
    weights = np.where(view.masks[0] > 0, np.exp(logits), 0)
    for advised in advice.choices:
        expected = sum(weights[action] for action in advised.choice.actions) / weights.sum()
        assert advised.value == pytest.approx(expected)
    assert policy.act(view)[0] == policy.network_probabilities(view)[0].argmax()


def test_losses__are_what_the_moves_gave_away() -> None:
    session = played(YUM, PERSON, "random")
    found = losses(session, session.moves)
    assert found is not None
    values = OPTIMAL.of(YUM)
    for loss in found[:20]:
        view = session.positions[loss.move.number - 1].view
        assert view is not None
        worth = values.action_values(view)[0]  # type: ignore[attr-defined]  # the exact policy has them
        assert loss.lost == pytest.approx(worth.max() - worth[loss.move.action])
        best = {
            YUM.name_action(view.states[0], view.options, int(a)) for a in np.flatnonzero(worth > worth.max() - 1e-9)
        }
        assert loss.best in best
    assert any(loss.lost > 1 for loss in found)
    assert losses(played(SHOWDOWN, "random", "random"), []) is None


@pytest.mark.parametrize(("game", "names"), [(YUM, (PERSON, "random")), (JR, (PERSON,)), (JR, (PERSON, "random"))])
def test_account__splits_the_result_into_luck_and_play(game: Any, names: tuple[str, ...]) -> None:
    session = played(game, *names)
    found = account(session)
    assert found is not None
    exact = exact_adviser(game, session.options)
    assert exact is not None
    # Luck, the long way: what each throw was worth, summed over the game.
    for seat, part in enumerate(found.seats):
        value, luck = part.start, 0.0
        for number, move in enumerate(session.moves, 1):
            view = session.positions[number - 1].view
            assert view is not None
            worth = exact.policy.action_values(view)[0]  # type: ignore[union-attr]  # it is exact
            own = move.seat == seat
            if found.unit == "points" and not own:
                continue
            before = worth.max() if own else 1 - worth.max()
            luck += before - value  # the throw before this decision
            value = worth[move.action] if own else 1 - worth[move.action]
        luck += part.result - value
        assert part.luck == pytest.approx(luck, abs=1e-6)
        assert part.result == pytest.approx(part.start + part.luck - part.lost + part.gained)
    assert [loss.lost for loss in found.losses] == sorted((loss.lost for loss in found.losses), reverse=True)
    assert found.seats[0].result == (
        session.position.scores[0] if found.unit == "points" else float(0 in session.winners)
    )


def test_account__is_known_at_the_end_of_a_solved_game_alone() -> None:
    assert account(played(JR, "random", "random", "random")) is None
    with pytest.raises(ValueError, match="not over"):
        account(PlaySession(YUM, [seat_of(PERSON)], seed=1))


def test_random__has_no_values_to_advise_with() -> None:
    with pytest.raises(ValueError, match="'random' has no action values in Yum"):
        make_adviser(YUM, YUM.make_options(2), "random")


@pytest.mark.parametrize(
    ("unit", "value", "signed", "text"),
    [
        ("points", 187.26, False, "187.3"),
        ("points", 4.06, True, "+4.1"),
        ("win", 0.5321, False, "53.2 %"),
        ("win", -0.014, True, "-1.4 %"),
        ("lead", 3.0, False, "+3.0"),
        ("probability", 1.0, False, "100.0 %"),
    ],
)
def test_figure__has_the_unit(unit: Any, value: float, signed: bool, text: str) -> None:
    assert figure(unit, value, signed=signed) == text
