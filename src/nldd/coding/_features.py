"""Answers as numbers: weighted words and letters of the text, and the features beside it."""

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack
from sklearn.feature_extraction.text import TfidfVectorizer

from nldd._wording import count_noun
from nldd.coding._answers import Answers
from nldd.exceptions import NLDDWarning, warn_caller

# Words and pairs of words; letters in a row, which see through endings, compounds and typing
# errors and do without spaces between words.
ANALYZERS: dict[str, dict[str, Any]] = {
    "words": {"analyzer": "word", "ngram_range": (1, 2), "token_pattern": r"(?u)\b\w+\b"},
    "letters": {"analyzer": "char_wb", "ngram_range": (2, 4)},
}
# Of a longer answer so much is read; its terms would take a hundred times the bytes of its text.
MOST_CHARACTERS = 100_000
MOST_TERMS = {"words": 50_000, "letters": 100_000}


@dataclass(frozen=True, eq=False)
class Terms:
    """Words, or letters in a row, and the weight of each: its inverse document frequency."""

    kind: str
    terms: list[str]
    weights: NDArray[np.float64]

    @classmethod
    def fit(cls, texts: list[str], kind: str) -> Self:
        vectorizer = _vectorizer(kind, max_features=MOST_TERMS[kind])
        try:
            vectorizer.fit(texts)
        except ValueError:  # scikit-learn's answer to texts without any term
            return cls(kind, [], np.empty(0))
        return cls(kind, vectorizer.get_feature_names_out().tolist(), vectorizer.idf_)

    def transform(self, texts: list[str]) -> Any:
        """Each text as a point of length 1, or 0 if it has no known term."""
        if not self.terms:
            return csr_array((len(texts), 0))
        return csr_array(self._vectorizer.transform(texts))

    @cached_property
    def _vectorizer(self) -> Any:
        vectorizer = _vectorizer(self.kind, vocabulary=self.terms)
        vectorizer.idf_ = self.weights
        return vectorizer


def _vectorizer(kind: str, **options: Any) -> Any:
    return TfidfVectorizer(**ANALYZERS[kind], sublinear_tf=True, dtype=np.float64, **options)


def _beginnings(texts: list[str]) -> list[str]:
    """What is read of each text; a warning tells where that is not all of it."""
    n_long = sum(len(text) > MOST_CHARACTERS for text in texts)
    if not n_long:
        return texts
    what = f"{count_noun(n_long, 'answer')} had more than {MOST_CHARACTERS:,} characters"
    warn_caller(f"{what}; only the first ones were read.", NLDDWarning)
    return [text[:MOST_CHARACTERS] for text in texts]


@dataclass(frozen=True, eq=False)
class AnswerFeatures:
    """How answers become rows of features, one of them for each number that may be missing."""

    words: Terms
    letters: Terms
    centre: NDArray[np.float64]
    scale: NDArray[np.float64]
    levels: tuple[tuple[str, ...], ...]

    @classmethod
    def fit(cls, answers: Answers) -> Self:
        """Learn terms, scales and levels."""
        present = [column[~np.isnan(column)] for column in answers.numbers.T]
        centre = np.array([column.mean() if len(column) else 0.0 for column in present])
        scale = np.array([column.std() if len(column) else 0.0 for column in present])
        # The deviation of a constant is seldom exactly 0: its mean is rounded.
        varies = scale > 1e-9 * np.maximum(np.abs(centre), np.finfo(float).tiny)
        texts = _beginnings(answers.texts)
        words, letters = (Terms.fit(texts, kind) for kind in ANALYZERS)
        columns = map(set, zip(*answers.categories, strict=True))
        levels = tuple(tuple(sorted(cells - {""})) for cells in columns)
        return cls(words, letters, centre, np.where(varies, scale, 1.0), levels)

    def transform(self, answers: Answers) -> csr_array:
        """One row of features for each answer."""
        missing = np.isnan(answers.numbers)
        numbers = np.where(missing, 0.0, (answers.numbers - self.centre) / self.scale)
        texts = _beginnings(answers.texts)
        terms = [kind.transform(texts) for kind in (self.words, self.letters)]
        others = [csr_array(numbers), csr_array(missing * 1.0), self._one_hot(answers.categories)]
        return csr_array(hstack([*terms, *others], format="csr"))

    def _one_hot(self, categories: list[tuple[str, ...]]) -> csr_array:
        known = [(column, level) for column, levels in enumerate(self.levels) for level in levels]
        place = {level: j for j, level in enumerate(known)}
        rows = [[place[cell] for cell in enumerate(row) if cell in place] for row in categories]
        ends = np.cumsum([0, *map(len, rows)])
        parts = (np.ones(ends[-1]), list(chain(*rows)), ends)
        return csr_array(parts, shape=(len(categories), len(place)))
