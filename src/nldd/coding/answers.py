"""The two values of a coding study: what answers say, and what people decided on them.

A table may have an answer several times: coded by two people, exported twice, asked again. A model
that has learned from one copy knows the other, and a test on it would say nothing of new answers.
Ids tell: all answers of a respondent stay in one fold, and one of them, drawn at random, is tested.
Without ids nobody knows whether equal words are copies or several people who say the same. Then
answers whose words stand in the training data are tested apart from all others, see
:mod:`nldd.coding.guarantee`.

A model learns from each answer once. Rows are of one answer if their id and words are the same.
Where the rows of an answer hold one code each, and never the same, they are the export of a program
that writes a row for each code. Else they are codings of several people. Where these agree, the
answer is learned from; where not, it is only tested, against the codes of one coder drawn at
random: to test where coders agree alone would look too good.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from nldd._labels import number_groups
from nldd._wording import quote, quote_first
from nldd.coding.wording import fill_words
from nldd.exceptions import InputError
from nldd.present.text import count_noun

if TYPE_CHECKING:
    from nldd.coding.columns import Columns

# Arrays of answers: numbers, labels as 0 and 1, places, and marks.
FloatArray = NDArray[np.float64]
LabelArray = NDArray[np.int8]
RowArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]
_WORD = re.compile(r"\w+")
# So many rows without text must have the same codes, and so large a share of them, to be learned.
FEWEST_BLANK, SAME = 5, 0.9
# Of decisions, one entry per answer.
LISTS = ("codes", "drawn", "coders", "times", "agreed")


class Entries:
    """Lists and arrays of one entry per answer; an index takes some of them, in its order."""

    def __len__(self) -> int:
        return len(getattr(self, fields(cast(Any, self))[0].name))

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
    numbers: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
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
        usual = {"categories": (), "ids": "", "keys": ()}
        for name in usual.keys() - {name for name in usual if getattr(self, name)}:
            set_field(name, [usual[name]] * n)
        set_field("rows", self.rows or [*range(1, n + 1)])

    @property
    def normalized_texts(self) -> list[str]:
        """The words of each answer, whatever their case and what stands between them."""
        return list(map(normalize_text, self.texts))

    def group_by_words(self) -> RowArray:
        """Answers of the same words as numbers; without any text, of the same features."""
        if any(map(str.strip, self.texts)):
            return number_groups(self.normalized_texts)
        known: dict[object, int] = {}
        return np.array([known.setdefault(said, len(known)) for said in self.contents()])

    @property
    def respondents(self) -> RowArray:
        """Answers of one respondent as numbers; who has no id is known by the words."""
        pairs = zip(self.ids, self.group_by_words().tolist(), strict=True)
        return number_groups([f"id {name}" if name else f"words {said}" for name, said in pairs])

    def draw_one_per_respondent(self, rows: RowArray, random_state: int) -> RowArray:
        """One of the rows of each respondent, drawn at random."""
        groups, order = self.respondents, np.random.default_rng(random_state).permutation(len(self))
        order = order[np.isin(order, rows)]
        _, first = np.unique(groups[order], return_index=True)
        return np.sort(order[first])

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
        usual = {"drawn": False, "coders": "", "times": "", "agreed": True}
        for name in usual.keys() - {name for name in usual if getattr(self, name)}:
            object.__setattr__(self, name, [usual[name]] * len(self.codes))

    def _entries(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in LISTS}

    @property
    def given(self) -> list[frozenset[str]]:
        """The codes of the answers that somebody has decided."""
        return [codes for codes in self.codes if codes is not None]

    @property
    def decided(self) -> RowArray:
        """Places of the answers that somebody has decided."""
        return np.flatnonzero([codes is not None for codes in self.codes])


Key = tuple[str, ...]
Coded = tuple[Answers, Decisions]


def normalize_text(text: str) -> str:
    """The words of a text, whatever their case and what stands between them.

    >>> normalize_text("More  buses!") == normalize_text("more buses")
    True
    """
    return " ".join(_WORD.findall(text.casefold())) or text.strip()


def take(coded: Coded, places: Iterable[int], *notes: str) -> Coded:
    """Some of the answers and their decisions, with notes on the others."""
    chosen, (answers, decisions) = np.array(list(places), dtype=np.intp), coded
    return answers[chosen], replace(decisions[chosen], notes=[*decisions.notes, *notes])


def drop_blank_answers(
    coded: Coded, columns: "Columns", earlier: Iterable[Collection[str]] = (), fewest: int = 1
) -> Coded:
    """Leave out answers that say nothing, unless nearly all of them have the same codes.

    A code for "no answer" can be learned. Otherwise codes come from something that is not in the
    table, and what empty answers get would be a guess.
    """
    (answers, decisions), n = coded, len(coded[0])
    silent = [i for i, text in enumerate(answers.texts) if columns.text and not text.strip()]
    has_more = [any(answers.categories[i]) or answers.extra.shape[1] > 0 for i in range(n)]
    blank = [i for i in silent if not has_more[i] and np.isnan(answers.numbers[i]).all()]
    of = f"of {count_noun(n, 'coded row')} without text"
    if n_more := len(silent) - len(blank):
        coded = take(coded, range(n), f"{n_more:,} {of}: learned from their other columns.")
    if not blank:
        return coded
    given = decisions.given
    sets = Counter(map(frozenset, chain(earlier, (given[i] for i in blank))))
    (most, n_most), n_all = sets.most_common(1)[0], sets.total()
    if n_most >= max(FEWEST_BLANK, SAME * n_all):
        which = f"are coded {quote_first(sorted(most))}" if most else "have no code"
        learned = f"learned, as nearly all {which}; new answers without text may be coded so too"
        return take(coded, range(n), f"{len(blank):,} {of}: {learned}.")
    kept = sorted({*range(n)} - {*blank})
    if len(kept) < fewest:
        message = f"{decisions.source}: {len(kept)} of {n:,} coded rows have text; expected"
        hint = f"check that the answers stand in {quote_first(columns.text)}, or name it by --text"
        raise InputError(f"{message} {fewest} or more.", hint=hint)
    left = "left out, as their codes cannot come from it; if it stands in another column, add that"
    return take(coded, kept, f"{len(blank):,} {of}: {left} to --text.")


def settle_repeats(answers: Answers, decisions: Decisions, seed: int = 0) -> Coded:
    """Each answer of a respondent once; without ids, nobody knows, and all rows stay."""
    if not any(answers.ids):
        return answers, decisions
    answers, decisions = merge_code_rows(answers, decisions)
    rng, kept = np.random.default_rng(seed), dict[int, bool]()
    for rows in rows_by_answer(answers, decisions).values():
        agreed = all(decisions.codes[row] == decisions.codes[rows[0]] for row in rows)
        kept[rows[0] if agreed else rows[int(rng.integers(len(rows)))]] = agreed
    names = Counter(answers.ids[row] for row in kept)
    about = {"n_kept": len(kept), "n_repeated": len(answers) - len(kept)}
    about["n_coders"] = len({*decisions.coders} - {""})
    about["n_differ"] = len(kept) - sum(kept.values())
    about["n_several"] = sum(n > 1 for name, n in names.items() if name)
    notes = fill_words("repeated_rows", **about)
    order = sorted(kept)
    answers, decisions = take((answers, decisions), order, *notes)
    return answers, replace(decisions, agreed=[kept[row] for row in order])


def rows_by_answer(
    answers: Answers, decisions: Decisions, by_coder: bool = False
) -> dict[Key, list[int]]:
    """The rows of each answer: of one id and the same words, and of one coder if asked for."""
    found = defaultdict[Key, list[int]](list)
    rows = zip(answers.ids, answers.normalized_texts, decisions.coders, strict=True)
    for row, (name, words, coder) in enumerate(rows):
        who = (coder,) if by_coder else ()
        found[(name, words, *who) if name else ("", str(row))].append(row)
    return dict(found)


def merge_code_rows(answers: Answers, decisions: Decisions) -> Coded:
    """Each coding in one row, where a table has a row for each code."""
    rows_of, codes = rows_by_answer(answers, decisions, by_coder=True), decisions.given
    several = [rows for rows in rows_of.values() if len(rows) > 1]
    sets = [[codes[row] for row in rows] for rows in several]
    n_apart = sum(len({*given}) == len(given) for given in sets)
    if 2 * n_apart <= len(sets) or max(map(len, chain.from_iterable(sets))) > 1:
        return answers, decisions
    for rows, given in zip(several, sets, strict=True):
        if any(given) and not all(given):
            where = " and ".join(f"{answers.rows[row]:,}" for row in rows)
            what = f"{quote(answers.texts[rows[0]])} has codes in one row and no code in another"
            message = f"{decisions.source}, rows {where}: {what}."
            raise InputError(message, hint="correct the rows; or --coder-column, if coders differ")
        codes[rows[0]] = frozenset().union(*given)
    notes = fill_words("code_rows", n_rows=len(codes), n_answers=len(rows_of))
    merged = replace(decisions, codes=list(codes))
    return take((answers, merged), sorted(rows[0] for rows in rows_of.values()), *notes)


def drop_duplicates(answers: Answers, decisions: Decisions) -> Coded:
    """Each answer once that is known by its cells."""
    seen, kept = set[str](), list[int]()
    for i, keys in enumerate(answers.keys):
        own = {key for key in keys if key.startswith("cells:")}
        if seen.isdisjoint(own):
            kept.append(i)
        seen |= own
    n_out = len(answers) - len(kept)
    note = f"{count_noun(n_out, 'coded answer')}: in the table twice, and count once."
    return take((answers, decisions), kept, *[note] * bool(n_out))
