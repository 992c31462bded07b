"""The choices of one decision, as a person sees them: equivalent actions are one choice."""

from dataclasses import dataclass

import numpy as np

from fivedice.envs.core.view import View


@dataclass(frozen=True)
class Choice:
    """Legal actions that have the same words and therefore the same effect, such as keeping either of two fives.

    Args:
        action: the first of them.
        words: what they do, such as ``"keep 5"``.
        actions: all of them, ascending.
    """

    action: int
    words: str
    actions: tuple[int, ...]


def choices_of(view: View, row: int = 0) -> list[Choice]:
    """The choices of one decision, in the order of their first actions."""
    same: dict[str, list[int]] = {}
    for action in np.flatnonzero(view.masks[row]).tolist():
        same.setdefault(view.game.name_action(view.states[row], view.options, action), []).append(action)
    return [Choice(actions[0], words, tuple(actions)) for words, actions in same.items()]


def distinct_choices(view: View, row: int = 0) -> dict[int, str]:
    """The words of each choice by its first action."""
    return {choice.action: choice.words for choice in choices_of(view, row)}
