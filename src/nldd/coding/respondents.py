"""Who gave an answer, so that what is tested has not been learned from.

A table may have an answer several times: coded by two people, exported twice, asked again. A model
that has learned from one copy knows the other, and a test on it would say nothing of new answers.
Ids tell: all answers of a respondent stay in one fold, and one of them, drawn at random, is tested.
Without ids nobody knows whether equal words are copies or several people who say the same. Then
answers whose words stand in the training data are tested apart from all others, see
:mod:`nldd.coding.guarantee`.
"""

import re

import numpy as np
from numpy.typing import NDArray

from nldd._labels import number_groups
from nldd.coding.answers import Answers

_WORD = re.compile(r"\w+")


def normalize_text(text: str) -> str:
    """The words of a text, whatever their case and what stands between them.

    >>> normalize_text("More  buses!") == normalize_text("more buses")
    True
    """
    return " ".join(_WORD.findall(text.casefold())) or text.strip()


def group_by_words(answers: Answers) -> NDArray[np.intp]:
    """Answers of the same words as numbers; without any text, of the same features."""
    if any(map(str.strip, answers.texts)):
        return number_groups(list(map(normalize_text, answers.texts)))
    known: dict[object, int] = {}
    return np.array([known.setdefault(said, len(known)) for said in answers.contents()])


def respondents(answers: Answers) -> NDArray[np.intp]:
    """Answers of one respondent as numbers; who has no id is known by the words of the answer."""
    words = group_by_words(answers).tolist()
    pairs = zip(answers.ids, words, strict=True)
    return number_groups([f"id {name}" if name else f"words {said}" for name, said in pairs])


def draw_one_per_group(
    groups: NDArray[np.intp], rows: NDArray[np.intp], random_state: int
) -> NDArray[np.intp]:
    """One of the rows of each group, drawn at random."""
    order = np.random.default_rng(random_state).permutation(len(groups))
    order = order[np.isin(order, rows)]
    _, first = np.unique(groups[order], return_index=True)
    return np.sort(order[first])
