"""What a person types is understood as the person means it, in every game."""

from collections.abc import Sequence

import numpy as np
import pytest

from fivedice.agents.cli.answers import understand
from fivedice.agents.play.choices import choices_of
from fivedice.agents.policies.baselines import GREEDY
from fivedice.envs import GAMES, load_game
from fivedice.envs.core.batch import Batch
from fivedice.envs.core.view import View


def view_of(game: str, faces: Sequence[int] = (), decisions: int = 0, seed: int = 3) -> View:
    """A decision of a game: the first one after these faces were thrown, or a later one of greedy play."""
    batch = Batch(load_game(game), 1, num_players=2)
    batch.reset(seed, script=list(faces))
    for _ in range(decisions):
        batch.step(GREEDY.act(batch.view()))
    return batch.view()


def words_of(view: View, answer: str) -> str:
    """The words of the choice that an answer means, or the error message."""
    action = understand(answer, view)
    if isinstance(action, str):
        return action
    assert view.masks[0, action]
    return view.game.name_action(view.states[0], view.options, action)


YUM = view_of("yum", [5, 5, 4, 2, 2])
ANSWERS = {
    "keep 5 4": "keep 4 5",
    "keep 4 5": "keep 4 5",
    "Keep 5, 4": "keep 4 5",
    "hold 5 and 4": "keep 4 5",
    "k 54": "keep 4 5",
    "5 4": "keep 4 5",
    "keep 55": "keep 5 5",
    "keep the 5 5": "keep 5 5",
    "keep 5": "keep 5",
    "keep fives": "keep 5 5",
    "fives": "fill Fives: 10",  # the name of a box is the box
    "fill fives": "fill Fives: 10",
    "score the fives": "fill Fives: 10",
    "Fives: 10": "fill Fives: 10",
    "5": "keep 5 5",  # a number means what is written on the dice before anything else
    "2 2": "keep 2 2",
    "four": "fill Fours: 4",
    "keep none": "keep none",
    "none": "keep none",
    "roll all": "keep none",
    "reroll": "keep none",
    "#0": "keep none",
    "": "You typed nothing; type a choice, such as 'keep none', or ? for help.",
    "   ": "You typed nothing; type a choice, such as 'keep none', or ? for help.",
    "keep 6": "The dice cannot show 6, or all would be kept; type faces that you see.",
    "keep 5 5 5": "The dice cannot show 5 5 5, or all would be kept; type faces that you see.",
    "7": "keep 2 2 4",  # no die shows 7, so this is action 7
    "31": "The dice cannot show 3 1, or all would be kept; '#31' is action 31; type faces that you see.",
    "#999": "999 is not a choice; type one such as 'keep none', or 'list' to see all.",
    "#999999999": "999999999 is not a choice; type one such as 'keep none', or 'list' to see all.",
    "1234567890": "1234567890 is not a choice; type 'list' to see all.",
    "yes": "'yes' is not a choice; type one such as 'keep none', or 'list' to see all.",
    "-1": "'-1' is not a choice; type one such as 'keep none', or 'list' to see all.",
    "²": "'²' is not a choice; type one such as 'keep none', or 'list' to see all.",
    "a [red]b[/red]": "'a [red]b[/red]' is not a choice; type one such as 'keep none', or 'list' to see all.",
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_understand__an_answer_in_yum(answer: str) -> None:
    assert words_of(YUM, answer) == ANSWERS[answer]


def test_understand__to_keep_all_dice_is_to_stop_throwing() -> None:
    said = words_of(YUM, "keep all")
    assert said.startswith("To keep all dice is to stop throwing; say where they count: fill Twos: 4 or fill Fours: 4")


def test_understand__an_ambiguous_answer_names_what_it_could_mean() -> None:
    straights = view_of("yum", [2, 3, 4, 5, 1])
    assert words_of(straights, "low straight") == "fill Low Straight: 15"
    assert words_of(straights, "fill").startswith("'fill' could mean fill Ones: 1 or fill Twos: 2 or ")


def test_understand__faces_by_their_names() -> None:
    view = view_of("yahtzee_jr", [1, 1, 2, 3, 5])  # Mickey Mickey Minnie Donald Goofy
    assert words_of(view, "keep mickeys") == "keep Mickey Mickey"
    assert words_of(view, "keep goofy minnie") == "keep Minnie Goofy"
    assert words_of(view, "mickey").startswith("place Mickey")


def test_understand__a_space_of_showdown_by_its_number() -> None:
    for decisions in range(60):
        view = view_of("showdown_yahtzee", decisions=decisions)
        named = [choice for choice in choices_of(view) if "space " in choice.words]
        if named and not any(choice.words.startswith("keep") for choice in choices_of(view)):
            number = named[-1].words.split("space ")[1].split()[0].rstrip(":,")
            assert understand(number, view) == named[-1].action
            return
    raise AssertionError("no decision between spaces")


@pytest.mark.parametrize("game", GAMES)
def test_understand__every_choice_by_its_own_words_and_by_its_number(game: str) -> None:
    random = np.random.default_rng(5)
    batch = Batch(load_game(game), 1, num_players=2)
    batch.reset(5)
    for _ in range(40):
        view = batch.view()
        for choice in choices_of(view):
            assert words_of(view, choice.words) == choice.words
            assert words_of(view, f"  {choice.words.upper()} ") == choice.words
            assert understand(f"#{choice.action}", view) == choice.action
        batch.step(np.array([random.choice(np.flatnonzero(view.masks[0]))]))


@pytest.mark.parametrize("game", GAMES)
def test_understand__whatever_is_typed_is_a_legal_action_or_a_sentence(game: str) -> None:
    random = np.random.default_rng(7)
    words = [
        "keep",
        "hold",
        "all",
        "none",
        "5",
        "4 4",
        "#3",
        "fives",
        "mickey",
        "space",
        "fill",
        "1go",
        "#",
        ":",
        "the",
    ]
    words += ["\x00", "é", "²", "٣", "[b]", "9" * 30, "low", "-", "lay", "'", "wild"]
    batch = Batch(load_game(game), 1, num_players=2)
    batch.reset(5)
    for _ in range(150):
        view = batch.view()
        answer = " ".join(random.choice(words, random.integers(0, 5)))
        found = understand(answer, view)
        if isinstance(found, str):
            assert found[0].isupper() or found[0] in "'\"" or found[0].isdecimal()
            assert found.endswith(".")
            assert "\n" not in found
        else:
            assert view.masks[0, found]
        batch.step(np.array([random.choice(np.flatnonzero(view.masks[0]))]))
