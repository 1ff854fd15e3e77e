"""A draft of a codebook from answers that nobody has coded: words that occur together.

``texts -> weighted words and letters -> non-negative factors -> groups -> codebook and draft``

What groups answers here knows words, not meanings: a draft, from which people make codes.
"""

import re
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from nldd._wording import quote
from nldd.coding.answers import Answers, BoolArray
from nldd.coding.codebook import FIELDS
from nldd.coding.wording import fill_words
from nldd.exceptions import InputError
from nldd.present.text import wrap

DESCRIBED = "draft: answers that share words, not yet a code"
N_WORDS, N_EXAMPLES = 8, 3
# A term must be in some answers and tell them from most others, which does without lists of words
# that mean nothing, in any language.
FEWEST, MOST_SHARE = 2, 0.2
# Groups are learned from so many answers at most, drawn at random.
LEARNED = 10_000
MOST_GROUPS = 30
# An answer is in its strongest group and in those that are at least so strong beside it.
STRENGTH = 0.5
LONGEST = 5_000
# Scripts that put no spaces between words: pairs of letters stand for these.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


@dataclass(frozen=True)
class Group:
    """Answers that share words: how many, the words, and the answers that have most of them."""

    code: str
    name: str
    words: tuple[str, ...]
    n_answers: int
    examples: tuple[str, ...]


@dataclass(frozen=True)
class CodeSuggestions:
    """A draft of a codebook: answers in groups that share words; made by :func:`suggest_codes`.

    Attributes
    ----------
    groups : tuple of Group
        The largest first: `code`, `name`, `words`, `n_answers` and `examples`.
    rows : tuple of tuple of int
        For each row of the table its groups, by their place; an empty row has none.
    n_answers : int
        Rows that say something.
    notes : tuple of str
        What a person should know about the table.

    Examples
    --------
    >>> from nldd.coding.suggestions import CodeSuggestions
    >>> CodeSuggestions(groups=(), rows=((0,), (), (0, 1)), n_answers=3).n_left
    1
    """

    groups: tuple[Group, ...]
    rows: tuple[tuple[int, ...], ...]
    n_answers: int
    notes: tuple[str, ...] = ()

    @property
    def n_left(self) -> int:
        """Answers that are in no group."""
        return self.n_answers - sum(map(bool, self.rows))

    def __str__(self) -> str:
        wide = max(len(group.code) for group in self.groups)
        lines = [
            f"  {group.code:{wide}}  {group.n_answers:6,}  {', '.join(group.words[:5])}\n"
            f"  {'':{wide}}          {quote(group.examples[0], 80)}"
            for group in self.groups
        ]
        return "\n".join([wrap(fill_words("suggested", found=self)), "", *lines])

    @property
    def drafted(self) -> list[str]:
        """The groups of each answer, as a list of codes."""
        return [";".join(self.groups[g].code for g in row) for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        counts = {"rows": len(self.rows), "answers": self.n_answers, "in_no_group": self.n_left}
        return {**counts, "notes": list(self.notes), "groups": [asdict(g) for g in self.groups]}

    def to_frame(self) -> pd.DataFrame:
        """A codebook that people complete, with words and examples beside it."""
        rows = []
        for order, group in enumerate(self.groups, 1):
            examples = [*group.examples, *[""] * N_EXAMPLES][:N_EXAMPLES]
            words = (", ".join(group.words), group.n_answers)
            rows.append((group.code, group.name, DESCRIBED, "", order, *words, *examples))
        examples = [f"example_{k}" for k in range(1, N_EXAMPLES + 1)]
        return pd.DataFrame(rows, columns=[*FIELDS, "words", "answers", *examples], dtype=object)


def suggest_codes(
    answers: Answers, n_groups: int | None = None, random_state: int = 0
) -> CodeSuggestions:
    """Group answers by the words that they share, as a draft of a codebook.

    What groups answers here knows words, not meanings: a draft, from which people make codes.

    Parameters
    ----------
    answers : Answers
        Their texts are looked at.
    n_groups : int, optional
        By default half as many as the square root of the number of answers, 30 at most: rather too
        many than too few, for groups are merged more easily than split.
    random_state : int
        Seed of the start.

    Returns
    -------
    CodeSuggestions
        The groups, and those of each answer.

    Notes
    -----
    Words and letters in a row are weighted by how rare they are (tf-idf), and the
    matrix ``X`` of answers by terms is factored as ``X = W H`` with non-negative
    factors. An answer is in the group of its largest ``w``, and in those of at least half of
    it.

    Examples
    --------
    >>> from nldd.coding import Answers, suggest_codes
    >>> answers = Answers(["more buses", "late buses", "lower rent", "the rent"] * 3)
    >>> found = suggest_codes(answers, n_groups=2)
    >>> [(group.code, group.words[0], group.n_answers) for group in found.groups]
    [('g1', 'buses', 6), ('g2', 'rent', 6)]
    """
    said = {i: text.strip()[:LONGEST] for i, text in enumerate(answers.texts) if text.strip()}
    texts, n = list(said.values()), len(said)
    if len({" ".join(text.casefold().split()) for text in texts}) < 2:
        found = "are all the same" if texts else "are all empty"
        message = f"The answers {found}, so there is nothing to group."
        raise InputError(message, hint="name the column with the answers; or use another file")
    wanted = n_groups or min(MOST_GROUPS, max(2, round(n**0.5 / 2)))
    X, terms = weigh_terms(texts, wanted)
    if not X.shape[1]:
        message = "The answers share no words by which they could be told apart."
        raise InputError(message, hint="read some of them, and begin a codebook by hand")
    strengths, parts = _factors(X, min(wanted, *X.shape), random_state)
    groups, members = describe_groups(texts, strengths, parts, terms)
    rows: list[tuple[int, ...]] = [()] * len(answers)
    for i, row in zip(said, members, strict=True):
        rows[i] = tuple(np.flatnonzero(row).tolist())
    return CodeSuggestions(tuple(groups), tuple(rows), n)


def weigh_terms(texts: Sequence[str], n_groups: int) -> tuple[csr_array, list[str]]:
    """Weights of words and of letters in a row, of those that some answers have and most lack.

    The names of words are given, and empty texts for letters, unless there are no words.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    # Of two groups, each may well be half of the answers, and its word in all of these.
    share = max(MOST_SHARE, 1.2 / n_groups)
    how = {"min_df": FEWEST, "max_df": max(FEWEST, round(share * len(texts)))}
    unspaced = sum(len(_UNSPACED.findall(text)) for text in texts) > 0.3 * sum(map(len, texts))
    size = 2 if unspaced else 4
    words = {"token_pattern": r"(?u)\b\w+\b"}
    letters = {"analyzer": "char_wb", "ngram_range": (size, size)}
    parts, names = list[csr_array](), list[str]()
    for options in (letters,) if unspaced else (words, letters):
        counter: Any = TfidfVectorizer(**options, **how, sublinear_tf=True, dtype=np.float64)
        with suppress(ValueError):  # scikit-learn's answer to texts without any term
            parts.append(csr_array(counter.fit_transform(texts)))
            named = options is words or not any(names)
            names += [n.strip() * named for n in counter.get_feature_names_out().tolist()]
    X = hstack(parts, format="csr") if parts else csr_array((len(texts), 0))
    return csr_array(X), names


def _factors(X: csr_array, n_groups: int, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """How strongly each answer has each group, and each group each term; learned from a part."""
    from sklearn.decomposition import NMF
    from sklearn.exceptions import ConvergenceWarning

    rng = np.random.default_rng(seed)
    n = X.shape[0]
    some = np.sort(rng.choice(n, LEARNED, replace=False)) if n > LEARNED else np.arange(n)
    model = NMF(n_groups, init="nndsvda", random_state=seed, max_iter=200)
    with warnings.catch_warnings():
        # A draft is as good before the last digits have settled.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X[some])
        strengths = model.transform(X)
    return strengths * np.linalg.norm(model.components_, axis=1), model.components_


def describe_groups(
    answers: Sequence[str], strengths: NDArray[Any], parts: NDArray[Any], terms: Sequence[str]
) -> tuple[list[Group], BoolArray]:
    """The groups that have answers, the largest first, and which answers are in each."""
    strongest = strengths.max(axis=1, keepdims=True, initial=0.0)
    members = (strengths >= STRENGTH * strongest) & (strongest > 0)
    sizes = members.sum(axis=0)
    order = [g for g in np.argsort(-sizes, kind="stable").tolist() if sizes[g]]
    # Examples have much of their group and little of all others.
    purity = strengths**2 / np.maximum(strengths.sum(axis=1, keepdims=True), 1e-12)
    # And words that a group has and others lack say more of it than those that all have.
    telling = parts**2 / np.maximum(parts.sum(axis=0), 1e-12)
    width, groups = len(str(len(order))), []
    named = np.array(list(map(bool, terms)))
    for number, g in enumerate(order, 1):
        best = np.argsort(-np.where(named, telling[g], -1.0), kind="stable")[:N_WORDS]
        words = tuple(terms[j] for j in best if named[j] and telling[g, j] > 0)
        ranked = np.argsort(-np.where(members[:, g], purity[:, g], -1.0), kind="stable")
        distinct: dict[str, str] = {}
        for i in ranked[: sizes[g]].tolist():
            distinct.setdefault(" ".join(answers[i].casefold().split()), answers[i])
        examples, name = tuple(distinct.values())[:N_EXAMPLES], ", ".join(words[:3])
        groups.append(Group(f"g{number:0{width}}", name, words, int(sizes[g]), examples))
    return groups, members[:, order]
