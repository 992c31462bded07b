"""What a person's answer means: an answer in words, by the faces of dice, by a space, or by the number of an action."""

import re

from fivedice.agents.play.choices import Choice, choices_of
from fivedice.envs.core.view import View

FILLERS = {"the", "my", "a", "die", "dice", "please", "and", "i", "to"}  # words that change nothing
KEEP = ("keep", "hold", "k")
THROW_ALL = ({"roll"}, {"throw"}, {"reroll"}, {"roll", "all"}, {"throw", "all"}, {"none"}, {"keep", "nothing"})
# People use these verbs for one another. A choice is found without its verb, too.
VERBS = {"fill", "place", "score", "take", "put", "lay", "play", "choose", "target", "claim", "mark", "go"}
NUMBERS = ("ones", "twos", "threes", "fours", "fives", "sixes")
MOST_NAMED = 5  # choices in a message


def understand(answer: str, view: View) -> int | str:
    """The action that an answer means, or an error message of one sentence.

    Args:
        answer: what the person typed. The order of dice, capital letters and words such as "the" do not matter.
        view: one decision.
    """
    choices = choices_of(view)
    said = _words(answer)
    if not said:
        return f"You typed nothing; type a choice, such as {choices[0].words!r}, or ? for help."
    if re.fullmatch(r"#\d{1,9}", answer.strip()):
        return _action(int(answer.strip()[1:]), view)
    exact = [choice for choice in choices if said in _exact_names(choice)]
    if exact and not answer.strip().isdecimal():
        return _one(answer, exact)
    keeps = {choice.action: _kept(choice) for choice in choices if choice.words.startswith("keep ")}
    if keeps:
        kept = _keep(said, keeps, choices, view)
        if kept is not None:
            return kept
    elif said[0] == "keep":
        return f"No dice can be kept now; type a choice, such as {choices[0].words!r}."
    if len(said) == 1 and said[0].isdecimal():
        return _number(answer, said[0], choices, view)
    for words in (said, said[1:] if said[0] in VERBS else []):
        for matches in (_has_word, _begins_word):
            found = [choice for choice in choices if words and all(matches(word, choice) for word in words)]
            if found:
                return _one(answer, found)
        named = [choice for choice in choices if words in _exact_names(choice)]
        if words and named:
            return _one(answer, named)
    return f"{answer.strip()!r} is not a choice; type one such as {choices[0].words!r}, or 'list' to see all."


def _words(text: str) -> list[str]:
    """The words of a text that mean something."""
    return [word for word in re.sub(r"[,;:.()+&]", " ", text.lower()).split() if word not in FILLERS]


def _place(choice: Choice) -> str:
    """The words of a choice without its points."""
    return choice.words.split(":")[0].split(", ")[0]


def _exact_names(choice: Choice) -> list[list[str]]:
    """All ways to name a choice completely: with its points, without them, without the verb."""
    names = [_words(choice.words), _words(_place(choice))]
    return names + [name[1:] for name in names if len(name) > 1 and name[0] != "keep"]


def _kept(choice: Choice) -> list[str]:
    """The dice that a choice keeps."""
    dice = _words(choice.words)[1:]
    return [] if dice == ["none"] else dice


def _aliases(word: str) -> set[str]:
    """A word and its parts: a die of SET Cubed is ``1go#4``, ``1go`` or ``#4``."""
    face, number, which = word.partition("#")
    return {word, face, number + which} if number else {word}


def _has_word(said: str, choice: Choice) -> bool:
    return any(said in _aliases(word) for word in _words(_place(choice)))


def _begins_word(said: str, choice: Choice) -> bool:
    return not said.isdecimal() and any(word.startswith(said) for word in _words(_place(choice)))


def _one(answer: str, found: list[Choice]) -> int | str:
    if len(found) == 1:
        return found[0].action
    named = " or ".join(choice.words for choice in found[:MOST_NAMED])
    more = f" or one of {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return f"{answer.strip()!r} could mean {named}{more}; type more of the words."


def _action(action: int, view: View) -> int | str:
    if action < view.masks.shape[1] and view.masks[0, action]:
        return action
    return f"{action} is not a choice; type one such as {choices_of(view)[0].words!r}, or 'list' to see all."


def _number(answer: str, number: str, choices: list[Choice], view: View) -> int | str:
    """A number that names no dice: a space, a box, else an action."""
    if len(number) > 9:
        return f"{number} is not a choice; type 'list' to see all."
    at_space = [choice for choice in choices if re.search(rf"\bspace {int(number)}\b", choice.words)]
    if at_space:
        return _one(answer, at_space)
    if 1 <= int(number) <= len(NUMBERS):
        box = [choice for choice in choices if [NUMBERS[int(number) - 1]] in _exact_names(choice)]
        if box:
            return box[0].action
    return _action(int(number), view)


def _keep(said: list[str], keeps: dict[int, list[str]], choices: list[Choice], view: View) -> int | str | None:
    """The keep action that an answer names, an error message, or None if it does not name dice."""
    faces = [name.lower() for name in view.game.face_names]
    by_digit = all(face.isdecimal() for face in faces)
    if set(said) in THROW_ALL:
        return next((action for action, dice in keeps.items() if not dice), None)
    has_verb = said[0] in KEEP
    named = said[1:] if has_verb else said
    if named == ["all"]:
        return _keep_all(keeps, choices)
    if by_digit and all(word.isdecimal() for word in named):
        named = list("".join(named))
        if not all(face in faces for face in named):
            return "The dice show 1 to 6; type the faces to keep, such as 'keep 5 4'." if has_verb else None
    every = len(named) == 1 and (not has_verb or _plural(named[0], faces) is not None)
    named = [_plural(word, faces) or word for word in named]
    if not named or not all(_is_die(word, faces, keeps) for word in named):
        return None
    if not has_verb and not by_digit:
        return None  # a face is also the name of a box or of a die to lay
    if every:
        most = max((dice for dice in keeps.values() if set(dice) == set(named)), key=len, default=None)
        named = most or named
    found = [action for action, dice in keeps.items() if _same(named, dice)]
    if not found:
        number = "".join(said)
        but = f"; '#{number}' is action {number}" if number.isdecimal() else ""
        return f"The dice cannot show {' '.join(named)}, or all would be kept{but}; type faces that you see."
    if len(found) > 1:
        return _one(" ".join(said), [choice for choice in choices if choice.action in found])
    return found[0]


def _plural(word: str, faces: list[str]) -> str | None:
    """The face of which a word is the plural, such as "fours" or "mickeys"."""
    if word in NUMBERS and len(faces) == len(NUMBERS):
        return faces[NUMBERS.index(word)]
    return word[:-1] if word.endswith("s") and word[:-1] in faces and len(word) > 2 else None


def _is_die(word: str, faces: list[str], keeps: dict[int, list[str]]) -> bool:
    return word in faces or any(word in _aliases(die) for dice in keeps.values() for die in dice)


def _same(named: list[str], dice: list[str]) -> bool:
    """Whether the named dice are these, in any order."""
    left = list(dice)
    for word in named:
        held = next((die for die in left if word in _aliases(die)), None)
        if held is None:
            return False
        left.remove(held)
    return not left


def _keep_all(keeps: dict[int, list[str]], choices: list[Choice]) -> int | str:
    """To keep all dice is to stop throwing."""
    most = max(len(dice) for dice in keeps.values())
    fullest = [action for action, dice in keeps.items() if len(dice) == most]
    if len(fullest) == 1 and most:
        return fullest[0]
    others = [choice for choice in choices if choice.action not in keeps]
    if len(others) == 1:
        return others[0].action
    if not others:
        return "All dice cannot be kept here; type the ones to keep, such as 'keep 5 4'."
    named = " or ".join(choice.words for choice in others[:MOST_NAMED])
    return f"To keep all dice is to stop throwing; say where they count: {named}{' …' * (len(others) > MOST_NAMED)}."
