"""Answers as numbers: weighted words and letters of the text, and the features beside it.

``Answers -> count_terms -> AnswerFeatures.fit -> AnswerFeatures.transform -> rows of features``

Terms are counted once; which of them are known, and what they weigh, each fold learns anew.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, hstack
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils.extmath import row_norms

from nldd.coding.answers import Answers, FloatArray, RowArray
from nldd.exceptions import NLDDWarning, warn_caller
from nldd.present.text import count_noun

# Words; and letters in a row, which see through endings, compounds and typing errors and do
# without spaces between words.
ANALYZERS: dict[str, dict[str, Any]] = {
    "words": {"analyzer": "word", "token_pattern": r"(?u)\b\w+\b"},
    "letters": {"analyzer": "char_wb", "ngram_range": (2, 3)},
}
# Of a longer answer so much is read; its terms would take a hundred times the bytes of its text.
MOST_CHARACTERS = 100_000
MOST_TERMS = {"words": 50_000, "letters": 100_000}


# The terms of an answer are divided by their length to this power: by 1, all answers have length 1,
# and each topic of an answer with several is diluted; by 0, long answers are far from everything.
SHORTENING = 0.5
# The weight of numbers and categories: shrunk as little as texts are, they would be noise.
BESIDE = 0.25
# All numbers fit single precision, and half the bytes of a model file.
LARGEST = np.finfo(np.float32).max


@dataclass(frozen=True, eq=False)
class TermCounts:
    """How often each answer has each term: a column for each, in the order of the terms."""

    terms: list[str]
    counts: csr_array

    def __getitem__(self, rows: RowArray) -> "TermCounts":
        return TermCounts(self.terms, csr_array(self.counts[rows]))

    def of(self, terms: list[str]) -> csr_array:
        """The counts of some of the terms."""
        place = {term: j for j, term in enumerate(self.terms)}
        return csr_array(self.counts[:, [place[term] for term in terms]])


@dataclass(frozen=True, eq=False)
class CountedAnswers(Answers):
    """Answers with the counts of all their words and letters."""

    words: TermCounts | None = None
    letters: TermCounts | None = None


def count_terms(answers: Answers) -> CountedAnswers:
    """Count the terms of answers, once for the model and all of its folds."""
    if isinstance(answers, CountedAnswers):
        return answers
    texts = _beginnings(answers.texts)
    counts: dict[str, Any] = {kind: _count(texts, kind) for kind in ANALYZERS}
    return CountedAnswers(**vars(answers), **counts)


def _count(texts: list[str], kind: str) -> TermCounts:
    counter = _counter(kind)
    try:
        counts = counter.fit_transform(texts)
    except ValueError:  # scikit-learn's answer to texts without any term
        return TermCounts([], csr_array((len(texts), 0)))
    return TermCounts(counter.get_feature_names_out().tolist(), csr_array(counts))


def _counter(kind: str, **options: Any) -> Any:
    return CountVectorizer(**ANALYZERS[kind], dtype=np.float64, **options)


def _beginnings(texts: list[str]) -> list[str]:
    """What is read of each text; a warning tells where that is not all of it."""
    n_long = sum(len(text) > MOST_CHARACTERS for text in texts)
    if not n_long:
        return texts
    what = f"{count_noun(n_long, 'answer')} had more than {MOST_CHARACTERS:,} characters"
    warn_caller(f"{what}; only the first ones were read.", NLDDWarning)
    return [text[:MOST_CHARACTERS] for text in texts]


@dataclass(frozen=True, eq=False)
class Terms:
    """Words, or letters in a row, and the weight of each: its inverse document frequency.

    Weights are divided by the mean length of the answers.
    """

    kind: str
    terms: list[str]
    weights: FloatArray

    @classmethod
    def fit(cls, known: TermCounts, kind: str) -> Self:
        """The terms that answers have, the most frequent ones if there are many."""
        n_answers, width = known.counts.shape
        df = np.bincount(known.counts.indices, minlength=width)
        total = np.bincount(known.counts.indices, known.counts.data, minlength=width)
        often = np.argsort(-total, kind="stable")[: MOST_TERMS[kind]]
        kept = np.sort(often[df[often] > 0])
        weights = np.log((1 + n_answers) / (1 + df[kept])) + 1
        terms = [known.terms[j] for j in kept]
        lengths = row_norms(_weighted(known.of(terms), weights))
        mean = lengths[lengths > 0].mean() if lengths.any() else 1.0
        return cls(kind, terms, weights / mean)

    def count(self, texts: list[str]) -> csr_array:
        """How often each text has each of the terms."""
        if not self.terms:
            return csr_array((len(texts), 0))
        return csr_array(self._counter.transform(texts))

    def weigh(self, counts: csr_array) -> csr_array:
        """Counts as points, of length 1 on average, or 0 where there is no known term."""
        X = _weighted(counts, self.weights)
        divisors = row_norms(X) ** SHORTENING
        X.data /= np.repeat(divisors, np.diff(X.indptr))
        return X

    @cached_property
    def _counter(self) -> Any:
        return _counter(self.kind, vocabulary=self.terms)


def _weighted(counts: csr_array, weights: FloatArray) -> csr_array:
    data = (1 + np.log(counts.data)) * weights[counts.indices]
    return csr_array((data, counts.indices, counts.indptr), shape=counts.shape)


@dataclass(frozen=True, eq=False)
class AnswerFeatures:
    """How answers become rows of features, one of them for each number that may be missing."""

    words: Terms
    letters: Terms
    centre: FloatArray
    scale: FloatArray
    levels: tuple[tuple[str, ...], ...]

    @classmethod
    def fit(cls, answers: Answers) -> Self:
        """Learn terms, scales and levels."""
        counted = count_terms(answers)
        words, letters = (Terms.fit(getattr(counted, kind), kind) for kind in ANALYZERS)
        columns = map(set, zip(*answers.categories, strict=True))
        levels = tuple(tuple(sorted(cells - {""})) for cells in columns)
        return cls(words, letters, *_standard(answers), levels)

    def transform(self, answers: Answers) -> csr_array:
        """One row of features for each answer."""
        n_numeric = answers.numbers.shape[1]
        missing = np.isnan(answers.numbers)
        numbers = (np.hstack([answers.numbers, answers.extra]) - self.centre) / self.scale
        numbers[:, :n_numeric] = np.where(missing, 0.0, BESIDE * numbers[:, :n_numeric])
        others = [numbers, BESIDE * missing, BESIDE * self._one_hot(answers.categories)]
        X = csr_array(hstack([*self._terms(answers), *map(csr_array, others)], format="csr"))
        X.data = np.clip(X.data, -LARGEST, LARGEST).astype(np.float32).astype(np.float64)
        if X.nnz < 2**31:  # half the memory to read in each of many passes
            X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        return X

    def _terms(self, answers: Answers) -> list[csr_array]:
        each = (self.words, self.letters)
        if isinstance(answers, CountedAnswers):
            return [some.weigh(getattr(answers, some.kind).of(some.terms)) for some in each]
        texts = _beginnings(answers.texts)
        return [some.weigh(some.count(texts)) for some in each]

    def _one_hot(self, categories: list[tuple[str, ...]]) -> csr_array:
        known = [(column, level) for column, levels in enumerate(self.levels) for level in levels]
        place = {level: j for j, level in enumerate(known)}
        rows = [[place[cell] for cell in enumerate(row) if cell in place] for row in categories]
        ends = np.cumsum([0, *map(len, rows)])
        parts = (np.ones(ends[-1]), list(chain(*rows)), ends)
        return csr_array(parts, shape=(len(categories), len(place)))


def _standard(answers: Answers) -> tuple[FloatArray, FloatArray]:
    """Mean and scale of each number beside the text, extra features behind."""
    numbers = np.hstack([answers.numbers, answers.extra])
    present = [column[~np.isnan(column)] for column in numbers.T]
    centre = np.array([column.mean() if len(column) else 0.0 for column in present])
    scale = np.array([column.std() if len(column) else 0.0 for column in present])
    # A column of an embedding means nothing alone. As points around their mean, extra features
    # have length 1 on average, as texts have, and their distances keep their proportions.
    n_numeric = answers.numbers.shape[1]
    scale[n_numeric:] = np.linalg.norm(scale[n_numeric:])
    # The deviation of a constant is seldom exactly 0: its mean is rounded.
    varies = scale > 1e-9 * np.maximum(np.abs(centre), np.finfo(float).tiny)
    return centre, np.where(varies, scale, 1.0)
