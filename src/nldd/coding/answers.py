"""The two values of a coding study: what answers say, and what people decided on them.

A table may have an answer several times: coded by two people, exported twice, asked again. A model
that has learned from one copy knows the other, and a test on it would say nothing of new answers.
Ids tell: all answers of a respondent stay in one fold, and one of them, drawn at random, is tested.
Without ids nobody knows whether equal words are copies or several people who say the same. Then
answers whose words stand in the training data are tested apart from all others, see
:mod:`nldd.coding.guarantee`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import chain
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from nldd._labels import number_groups

_WORD = re.compile(r"\w+")
# Of decisions, one entry per answer.
LISTS = ("codes", "drawn", "coders", "times", "agreed")


class Entries:
    """Lists and arrays of one entry per answer; an index takes some of them, in its order."""

    def __getitem__(self, places: Any) -> Self:
        taken = {name: _take(values, places) for name, values in self._entries().items()}
        return replace(cast(Any, self), **taken)

    def _entries(self) -> dict[str, Any]:
        known = {each.name: getattr(self, each.name) for each in fields(cast(Any, self))}
        return {n: v for n, v in known.items() if v is not None and not isinstance(v, str)}

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """All entries of the parts, in their order."""
        names = parts[0]._entries()
        joined = {name: _join([getattr(part, name) for part in parts]) for name in names}
        return replace(cast(Any, parts[0]), **joined)


def _take(values: Any, places: Any) -> Any:
    return [values[i] for i in places.tolist()] if isinstance(values, list) else values[places]


def _join(values: Sequence[Any]) -> Any:
    if isinstance(values[0], list):
        return list(chain.from_iterable(values))
    return np.concatenate(values) if isinstance(values[0], np.ndarray) else values[0].join(values)


@dataclass(frozen=True, eq=False)
class Answers(Entries):
    """What answers say, without codes.

    Attributes
    ----------
    texts : list of str
        One text an answer.
    numbers : ndarray of shape (n_answers, n_numeric)
        Numeric features, NaN where one is missing; none if left out.
    categories : list of tuple of str
        Categorical features, empty where one is missing; none if left out.
    extra : ndarray of float32 of shape (n_answers, n_extra)
        Features that a person has made of the answers, such as embeddings; none if left out.
    ids : list of str
        Respondents who gave the answers; empty where one is not known, and all if left out.
    keys : list of tuple of str
        By which an answer that comes a second time is known again: its row in a review, its cells,
        its id and words. Two answers that share one are the same; all are empty if left out.
    rows : list of int
        Numbers of the answers in their table, from 1.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd.coding import Answers
    >>> answers = Answers(["more buses", "a raise", "safe cycle paths"])
    >>> len(answers), answers[np.array([2])].texts
    (3, ['safe cycle paths'])
    """

    texts: list[str]
    numbers: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))
    categories: list[tuple[str, ...]] = field(default_factory=list)
    extra: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 0), dtype=np.float32))
    ids: list[str] = field(default_factory=list)
    keys: list[tuple[str, ...]] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        n, set_field = len(self), partial(object.__setattr__, self)
        for name in ("numbers", "extra"):
            values = getattr(self, name)
            if not values.shape[1]:
                set_field(name, np.empty((n, 0), dtype=values.dtype))
        usual = {
            "categories": [()] * n,
            "ids": [""] * n,
            "keys": [()] * n,
            "rows": [*range(1, n + 1)],
        }
        for name in usual.keys() - {name for name in usual if getattr(self, name)}:
            set_field(name, usual[name])

    def __len__(self) -> int:
        return len(self.texts)

    def contents(self) -> list[tuple[str, bytes, tuple[str, ...], bytes]]:
        """All that each answer says, to tell whether two say the same."""
        rows = zip(self.texts, self.numbers, self.categories, self.extra, strict=True)
        return [(text, nums.tobytes(), words, more.tobytes()) for text, nums, words, more in rows]


@dataclass(frozen=True, eq=False)
class Decisions(Entries):
    """What people decided on some answers, one entry per answer.

    Attributes
    ----------
    codes : list of (frozenset of str or None)
        The codes of each answer; None if nobody has decided, an empty set if no code applies.
    drawn : list of bool
        Which answers belong to the random check sample; none if left out.
    coders : list of str
        Who decided; empty if not known, and all if left out.
    times : list of str
        When, in UTC; empty if not known, and all if left out.
    agreed : list of bool
        False for answers on whose codes coders disagree: these are tested, and not learned from.
        All are agreed on if left out.
    source : str
        The file that they come from.
    sha256 : str
        Its checksum; of a review, that of its decisions.
    kind : {"table", "review sheet", "check sample", "review file"}
        What file that is.
    notes : list of str
        What a person should know about them.

    Examples
    --------
    >>> from nldd.coding import Decisions
    >>> decisions = Decisions([frozenset({"bus"}), None, frozenset()])
    >>> len(decisions), decisions.decided.tolist()
    (3, [0, 2])
    """

    codes: list[frozenset[str] | None]
    drawn: list[bool] = field(default_factory=list)
    coders: list[str] = field(default_factory=list)
    times: list[str] = field(default_factory=list)
    agreed: list[bool] = field(default_factory=list)
    source: str = ""
    sha256: str = ""
    kind: str = "table"
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        usual = (("drawn", False), ("coders", ""), ("times", ""), ("agreed", True))
        for name, missing in usual:
            if not getattr(self, name):
                object.__setattr__(self, name, [missing] * len(self.codes))

    def __len__(self) -> int:
        return len(self.codes)

    def _entries(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in LISTS}

    @property
    def decided(self) -> NDArray[np.intp]:
        """Places of the answers that somebody has decided."""
        return np.flatnonzero([codes is not None for codes in self.codes])


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
