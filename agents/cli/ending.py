"""The end of a game in words: who won, what was luck and what was play, and the costliest choice."""

from collections.abc import Mapping

from fivedice.agents.cli.telling import with_you
from fivedice.agents.play.account import account
from fivedice.agents.play.advice import UNITS, Advice, Unit, figure
from fivedice.agents.play.session import Move, PlaySession


def result_in_words(session: PlaySession, own: int | None) -> str:
    """Who won, and by how much."""
    scores, winners = session.position.scores, session.winners
    end = "The game was cut short by its limit of turns. " if session.is_cut_short else ""
    if len(scores) == 1:
        return f"{end}You finished with {scores[0]:g} points." if own == 0 else f"{end}{scores[0]:g} points."
    if own is None:
        return f"{end}Won by {' and '.join(f'player_{seat}' for seat in winners)}."
    rivals = max(points for seat, points in enumerate(scores) if seat != own)
    margin = scores[own] - rivals
    points = f"{scores[own]:g} points against {rivals:g}"
    if own in winners and len(winners) > 1:
        return f"{end}You share the win: {points}."
    if own in winners:
        return f"{end}You won by {margin:g}: {points}." if margin else f"{end}You won after a tie: {points}."
    return f"{end}You lost by {-margin:g}: {points}." if margin else f"{end}You lost after a tie: {points}."


def look_back(session: PlaySession, own: int | None, given: Mapping[int, Advice]) -> list[str]:
    """Luck and play apart where the game is solved, else the costliest choice by the advice that was shown.

    Args:
        session: a game that is over.
        own: the person's seat; None if persons played several seats.
        given: the advice that was shown, by the number of moves before it.
    """
    found = account(session)
    if found is None:
        return _by_advice(session, own, given)
    lines = []
    for seat, one in enumerate(found.seats):
        luck, lost = figure(found.unit, one.luck, signed=True), figure(found.unit, one.lost)
        whose, plays = ("your", "your") if seat == own else (f"player_{seat}'s", "its")
        lines.append(f"Luck and play: {whose} dice were worth {luck}, {plays} choices cost {lost}.")
    lines.append(f"Unit: {UNITS[found.unit]}, under optimal play.")
    costliest = next((loss for loss in found.losses if own is None or loss.move.seat == own), None)
    if costliest is not None:
        lines.append(_costliest(found.unit, costliest.move, costliest.lost, costliest.best, own))
    return lines


def _by_advice(session: PlaySession, own: int | None, given: Mapping[int, Advice]) -> list[str]:
    if not given:
        return ["Luck and play are told apart in solved games only. With advice, the costliest choice is named."]
    costs = []
    for move in session.moves:
        advice = given.get(move.number - 1)
        if advice is not None and session.seats[move.seat].policy is None:
            advised = advice.of(move.action)
            if not advised.may_be_best:
                costs.append((advised.behind, move, advice))
    if not costs:
        return [f"No choice was worse than the best one by {next(iter(given.values())).adviser.name}."]
    lost, move, advice = max(costs, key=lambda cost: cost[0])
    adviser = advice.adviser
    return [
        _costliest(
            adviser.unit, move, lost, advice.best.choice.words, own, f" of {UNITS[adviser.unit]}, by {adviser.name}"
        )
    ]


def _costliest(unit: Unit, move: Move, lost: float, best: str, own: int | None, judged: str = "") -> str:
    cost = figure(unit, lost).lstrip("+")
    words, instead = (with_you(text, own) for text in (move.words, best))
    return f"The costliest choice, move {move.number}: {words}. It cost {cost}{judged}; best: {instead}."
