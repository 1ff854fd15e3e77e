"""Two or more people who coded the same answers: how far they agree, and where they do not."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, combinations, combinations_with_replacement, starmap
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from nldd._labels import indicator
from nldd._wording import quote
from nldd.coding.answers import (
    Answers,
    Coded,
    Decisions,
    FloatArray,
    merge_code_rows,
    rows_by_answer,
    take,
)
from nldd.coding.columns import LISTED, Codes, ColumnSpec, find_columns
from nldd.coding.decisions import read_sheet
from nldd.coding.model import order_codes
from nldd.coding.tables.reading import TableOptions, read_table
from nldd.coding.tables.spreadsheet import unique_column_names
from nldd.coding.wording import fill_words, join_paragraphs
from nldd.exceptions import InputError
from nldd.present.table import Table, to_text
from nldd.present.text import percent, visible, wrap

MOST_CODES = 60
BY_ORDER = "their order"
N_DRAWS, DRAWS_AT_ONCE = 1000, 50
# Drawn again, fewer units tell too little of what others would be like.
FEWEST_UNITS = 10
TAILS = [100 * (1 - 0.95) / 2, 100 - 100 * (1 - 0.95) / 2]
# Values whose distances are looked at together.
BLOCK = 1024


class SharedAnswer(NamedTuple):
    """An answer with the codes that each coder gave.

    Attributes
    ----------
    name : str
        By which people find the answer again.
    text : str
        What it says.
    codes : tuple of (frozenset of str or None)
        The codes of each coder, in their order; None for one who has not coded it, an empty set for
        one who says that no code applies.
    """

    name: str
    text: str
    codes: tuple[Codes | None, ...]


@dataclass(frozen=True)
class CodeAgreement:
    """Of the answers that two coders coded: which share they agree on a code, and kappa.

    With more coders, both are means over all pairs of them. Kappa is None where nobody used the
    code, or everybody always did. `counts` are answers that got the code from each coder.
    """

    code: str
    counts: tuple[int, ...]
    agreement: float
    kappa: float | None


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha with its 95 % interval; None where nothing can be told.

    There may be an alpha without limits, as of few answers, or if nobody disagrees.
    """

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Disagreement:
    """An answer that people coded differently; a coder who left it out has None."""

    name: str
    text: str
    codes: tuple[tuple[str, ...] | None, ...]
    distance: float


@dataclass(frozen=True)
class Agreement:
    """What coders agree on among the answers that at least two of them coded.

    Made by :func:`compare_coders` and :func:`agreement_of_tables`.

    Attributes
    ----------
    coders : tuple of str
        Their names; the codes below stand in this order.
    n_answers, n_same, n_single : int
        Answers that two or more coded, those of them that got the same codes from all who coded
        them, and answers that one coded alone.
    masi, nominal : Alpha
        Krippendorff's alpha as `value`, with the limits `low` and `high` of its 95 % interval. By
        MASI, sets of codes may agree in part; nominal, they are the same or not. None where nothing
        can be told: few answers have no limits, nor have those on which nobody disagrees.
    codes : tuple of CodeAgreement
        For each `code`: `counts`, answers that got it from each coder; `agreement`, the share of
        the answers on which they agree about it; and `kappa`, None where nobody used the code or
        everybody always did. With more than two coders, both are means over pairs. The worst kappa
        comes first.
    disagreements : tuple of Disagreement
        Answers that were coded differently, the farthest apart first: `name`, `text`, the `codes`
        of each coder (None for one who left it out), and the mean `distance` between them by MASI.
    matched_by : str
        How answers were found in the other tables.
    notes : tuple of str
        What a person should know about the tables.
    """

    coders: tuple[str, ...]
    n_answers: int
    n_same: int
    n_single: int
    masi: Alpha
    nominal: Alpha
    codes: tuple[CodeAgreement, ...]
    disagreements: tuple[Disagreement, ...]
    matched_by: str = ""
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        said, table = fill_words("agreement", found=self), self.table()
        return join_paragraphs(wrap(said), to_text(table, most=MOST_CODES), wrap(table.notes))

    def table(self) -> Table:
        """Make a table of the agreement on each code, the worst first."""
        rows = []
        for code in self.codes:
            kappa = "-" if code.kappa is None else f"{code.kappa:.2f}"
            counts = [f"{count:,}" for count in code.counts]
            rows.append((visible(code.code), *counts, percent(code.agreement, 1), kappa))
        notes = fill_words("agreement_notes", found=self)
        head = ("code", *map(visible, self.coders), "agree", "kappa")
        title = "Agreement on each code, the worst first"
        return Table("kappas", title, head, tuple(rows), notes=notes)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with all disagreements."""
        return asdict(self)

    def to_frame(self, separator: str = ";") -> pd.DataFrame:
        """Answers that were coded differently, the codes of all side by side."""
        rows = []
        for apart in self.disagreements:
            given = [frozenset(codes) for codes in apart.codes if codes is not None]
            differ = frozenset.union(*given) - frozenset.intersection(*given)
            cells = ["" if c is None else separator.join(c) or "(no code)" for c in apart.codes]
            found = separator.join(sorted(differ)), round(apart.distance, 4)
            rows.append((apart.name, apart.text, *cells, *found))
        first = "row" if self.matched_by == BY_ORDER else "id"
        names = (first, "answer", *self.coders, "differ_in", "distance")
        return pd.DataFrame(rows, columns=unique_column_names(names, ()), dtype=object)


def compare_coders(answers: Sequence[SharedAnswer], coders: Sequence[str]) -> Agreement:
    """Tell how far coders agree on answers.

    Parameters
    ----------
    answers : sequence of SharedAnswer
        Each has the codes of all coders, in their order.
    coders : sequence of str
        Their names.

    Returns
    -------
    Agreement
        Of the answers that at least two have coded.

    Notes
    -----
    Krippendorff's alpha is ``1 - D_o / D_e``, the observed by the expected mean
    distance of two codings of an answer. The distance MASI of two sets of codes is ``1 - J m``,
    where ``J`` is the size of their intersection by that of their union, and ``m`` is 1 for
    equal sets, 2/3 if one holds the other, 1/3 if they overlap, and else 0.

    Examples
    --------
    >>> from nldd.coding.agreement import SharedAnswer, compare_coders
    >>> codes = [({"a"}, {"a"}), ({"a", "b"}, {"b"}), ({"b"}, {"b"}), ({"a"}, None)]
    >>> answers = [SharedAnswer("", "", tuple(x and frozenset(x) for x in pair)) for pair in codes]
    >>> found = compare_coders(answers, ("Ann", "Bob"))
    >>> found.n_answers, found.n_same, round(found.masi.value, 3)
    (3, 2, 0.643)
    >>> [(code.code, code.counts, round(code.kappa, 2)) for code in found.codes]
    [('a', (2, 1), 0.4), ('b', (2, 2), 1.0)]
    """
    sizes = [sum(codes is not None for codes in answer.codes) for answer in answers]
    both = [answer for answer, n_coders in zip(answers, sizes, strict=True) if n_coders > 1]
    units = [answer.codes for answer in both]
    # As sets of one value, combinations of codes are the same or not.
    whole = [[None if codes is None else frozenset([codes]) for codes in unit] for unit in units]
    apart = [answer for answer in both if len({*answer.codes} - {None}) > 1]
    counts = (len(both), len(both) - len(apart), sizes.count(1))
    alphas = (krippendorff_alpha(units), krippendorff_alpha(whole))
    differ = sorted(map(_disagreement, apart), key=lambda found: -found.distance)
    return Agreement(tuple(coders), *counts, *alphas, _by_code(units), tuple(differ))


def _disagreement(answer: SharedAnswer) -> Disagreement:
    pairs = combinations([codes for codes in answer.codes if codes is not None], 2)
    distance = float(np.mean([masi_distance(*pair) for pair in pairs]))
    codes = tuple(None if own is None else tuple(sorted(own)) for own in answer.codes)
    return Disagreement(answer.name, answer.text, codes, distance)


def _by_code(units: Sequence[Sequence[Codes | None]]) -> tuple[CodeAgreement, ...]:
    """Agreement on each code, from the worst kappa to the best."""
    if not units:
        return ()
    labels = order_codes([codes for unit in units for codes in unit if codes], LISTED)
    names = np.array(labels, dtype=object)
    Y = [indicator([codes or () for codes in own], names) for own in zip(*units, strict=True)]
    coded = np.array([[codes is not None for codes in unit] for unit in units]).T
    pairs = [(i, j, coded[i] & coded[j]) for i, j in combinations(range(len(Y)), 2)]
    both = [(Y[i][common], Y[j][common]) for i, j, common in pairs if common.any()]
    same = np.mean([(A == B).mean(axis=0) for A, B in both], axis=0)
    kappas = np.ma.masked_invalid([cohen_kappa(A, B) for A, B in both])
    counts = zip(*(own.sum(axis=0, dtype=int).tolist() for own in Y), strict=True)
    # As a list, what is masked is None.
    found = map(CodeAgreement, labels, counts, same.tolist(), kappas.mean(axis=0).tolist())
    return tuple(sorted(found, key=lambda code: 2.0 if code.kappa is None else code.kappa))


def masi_distance(one: Collection[Any], other: Collection[Any]) -> float:
    """One minus the agreement of two sets (Passonneau, 2006): 0 if they are equal, 1 if disjoint.

    Parameters
    ----------
    one, other : collection
        Such as the codes that two people gave to an answer.

    Returns
    -------
    float

    Notes
    -----
    The agreement is their Jaccard index times 2/3 where one holds all of the other, and times 1/3
    where each has something of its own. Two empty sets are equal.

    Examples
    --------
    >>> from nldd.coding.agreement import masi_distance
    >>> masi_distance({"a"}, {"a"}), masi_distance({"a"}, {"b"}), masi_distance(set(), {"a"})
    (0.0, 1.0, 1.0)
    >>> round(masi_distance({1, 2}, {1, 2, 3, 4}), 3), round(masi_distance({1, 2}, {2, 3}), 3)
    (0.667, 0.889)
    """
    one, other = set(one), set(other)
    if one == other:
        return 0.0
    monotonicity = 2 / 3 if one < other or other < one else 1 / 3
    return 1 - monotonicity * len(one & other) / len(one | other)


def krippendorff_alpha(units: Sequence[Sequence[frozenset[Any] | None]]) -> Alpha:
    """Krippendorff's alpha with MASI distance, and an interval from units drawn a thousand times.

    Parameters
    ----------
    units : sequence of sequences of (frozenset or None)
        What each coder gave to each unit. Units that fewer than two coded do not count. Sets of one
        value each are the same or not, and alpha is that of nominal data.

    Returns
    -------
    Alpha
        Its value is 1 if all agree, 0 if they agree as much as by chance, and None where nothing
        can be told: no unit has two values, or all values are the same. Between the limits lie 95 %
        of the draws. They are None for fewer than ten units, and where all draws have the same
        alpha, as they do if nobody disagrees: such draws do not tell how far it may be off.

    Notes
    -----
    ``alpha = 1 - D_o / D_e``. D_o is the mean distance of values of the same unit, D_e that of all
    values (Krippendorff, 2011, Computing Krippendorff's alpha-reliability).

    Examples
    --------
    >>> from nldd.coding.agreement import krippendorff_alpha
    >>> units = [("a", "a"), ("b", "b"), ("c", "c"), ("a", "b")] * 20
    >>> found = krippendorff_alpha([tuple(map(frozenset, unit)) for unit in units])
    >>> print(f"{found.value:.2f}, from {found.low:.1f} to {found.high:.1f}")
    0.62, from 0.5 to 0.8
    """
    given = [[codes for codes in unit if codes is not None] for unit in units]
    pairable = [unit for unit in given if len(unit) > 1]
    rng, n = np.random.default_rng(0), len(pairable)
    counts = _count_members(pairable)
    # The sum over ordered pairs of coders, divided by the number of the others.
    within = np.array([2 * _sum_of_pairs(unit) / (len(unit) - 1) for unit in pairable])
    totals, apart = [np.ones((1, n)) @ counts], [np.ones((1, n)) @ within]
    for _ in range(N_DRAWS // DRAWS_AT_ONCE if n >= FEWEST_UNITS else 0):
        weights = rng.multinomial(n, np.full(n, 1 / n), size=DRAWS_AT_ONCE).astype(float)
        totals.append(weights @ counts)
        apart.append(weights @ within)
    values = list(dict.fromkeys(chain.from_iterable(pairable)))
    alpha, *draws = _alphas(values, np.concatenate(totals), np.concatenate(apart)).tolist()
    known = [value for value in draws if not np.isnan(value)]
    limits = np.percentile(known, TAILS).tolist() if len(set(known)) > 1 else (None, None)
    return Alpha(None if np.isnan(alpha) else alpha, *limits)


def _sum_of_pairs(unit: Sequence[frozenset[Any]]) -> float:
    return sum(starmap(masi_distance, combinations(unit, 2)))


def _count_members(groups: Sequence[Collection[Any]]) -> csr_array:
    """How often each group has each member, in the order in which members come first."""
    place = {m: k for k, m in enumerate(dict.fromkeys(chain.from_iterable(groups)))}
    columns = np.array([place[member] for group in groups for member in group], dtype=int)
    ends = np.cumsum([0, *map(len, groups)])
    return csr_array((np.ones(len(columns)), columns, ends), shape=(len(groups), len(place)))


def _alphas(values: Sequence[frozenset[Any]], totals: FloatArray, apart: FloatArray) -> FloatArray:
    """Alpha for each row of totals of the values, and of disagreement within units.

    Block by block, as the distances of many thousand values would not fit into memory.
    """
    n, pairs, members = totals.sum(axis=1), np.zeros(len(totals)), _count_members(values)
    blocks = [slice(i, i + BLOCK) for i in range(0, len(values), BLOCK)]
    for i, j in combinations_with_replacement(blocks, 2):
        distances = _masi_distances(members[i], members[j])
        pairs += (1 + (i != j)) * ((totals[:, i] @ distances) * totals[:, j]).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(pairs > 0, 1 - (n - 1) * apart / pairs, np.nan)


def _masi_distances(A: csr_array, B: csr_array) -> FloatArray:
    """:func:`masi_distance` of all pairs of sets, by how many members two have in common."""
    both = (A @ B.T).toarray()
    one, other = A.sum(axis=1)[:, np.newaxis], B.sum(axis=1)[np.newaxis]
    monotonicity = np.where(both == np.minimum(one, other), 2 / 3, 1 / 3)
    D = 1 - monotonicity * both / np.maximum(one + other - both, 1)
    return np.where((both == one) & (both == other), 0.0, D)


def cohen_kappa(Y_a: Any, Y_b: Any) -> FloatArray:
    """Cohen's kappa of two coders for each label.

    Parameters
    ----------
    Y_a, Y_b : array-like of shape (n_answers, n_labels)
        The labels of both as 0 and 1.

    Returns
    -------
    ndarray of shape (n_labels,)
        1 if both agree, 0 if they agree as much as by chance; NaN where both never, or always, give
        the label.

    Examples
    --------
    >>> from nldd.coding.agreement import cohen_kappa
    >>> cohen_kappa([[1, 0], [1, 0], [0, 0], [0, 0]], [[1, 0], [0, 0], [0, 0], [0, 0]])
    array([0.5, nan])
    """
    A, B = np.asarray(Y_a, dtype=bool), np.asarray(Y_b, dtype=bool)
    a, b = A.mean(axis=0), B.mean(axis=0)
    same, by_chance = (A == B).mean(axis=0), a * b + (1 - a) * (1 - b)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(by_chance < 1, (same - by_chance) / (1 - by_chance), np.nan)


def agreement_of_tables(
    paths: Sequence[Path],
    request: ColumnSpec,
    name: str | None = None,
    options: TableOptions = TableOptions(),
) -> Agreement:
    r"""Compare tables of the same answers, each coded by another person.

    Parameters
    ----------
    paths : sequence of Path
        Two tables or more, and coders are called by their names; or one with the codings of all,
        a row for each, that says in a column who coded it.
    request : ColumnSpec
        Which columns have the text, the codes and, in one table, the coders.
    name : str, optional
        Column by which rows are matched; without it, they are matched by their order, and texts
        that differ are refused. In one table, a column of ids is found by its name.
    options : TableOptions, optional
        How the tables are opened.

    Returns
    -------
    Agreement
        As of :func:`compare_coders`. An empty cell means that this person has not coded the answer.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding import ColumnSpec, agreement_of_tables
    >>> folder = TemporaryDirectory()
    >>> ann, bob = Path(folder.name, "ann.csv"), Path(folder.name, "bob.csv")
    >>> _ = ann.write_text("answer,codes\nmore buses,bus\na raise,pay\nsafe paths,bike\n")
    >>> _ = bob.write_text("answer,codes\nmore buses,bus\na raise,bus;pay\nsafe paths,\n")
    >>> found = agreement_of_tables([ann, bob], ColumnSpec(text=("answer",), labels="codes"))
    >>> found.coders, found.n_answers, found.n_same, found.n_single
    (('ann.csv', 'bob.csv'), 2, 1, 1)
    >>> folder.cleanup()
    """
    if len({path.resolve() for path in paths}) < len(paths):
        raise InputError("A table is named twice.", hint="name each once, one of each coder")
    coded, known = list[Coded](), set[str]()
    for path in paths:
        table = read_table(path, options)
        columns = find_columns(table, replace(request, id=name or ""))
        # A number is the code of an earlier table that it is equal to, as 2 is 02.
        coded.append(read_sheet(table, columns, known=known))
        known.update(*filter(None, coded[-1][1].codes))
    if len(paths) > 1:
        found = _compare(*_join_tables(coded, paths, by_id=name is not None))
        return replace(found, matched_by=BY_ORDER if name is None else f"column {quote(name)}")
    if not (columns.coder and columns.id):
        lacks = "who coded a row" if columns.id else "whose answer a row is"
        message = f"{paths[0].name}: no column is known to say {lacks}."
        hint = "--coder-column and --id; or one table per coder: nldd agreement a.csv b.csv"
        raise InputError(message, hint=hint)
    answers, decisions = merge_code_rows(*take(coded[0], coded[0][1].decided))
    key_of = {i: key for key, rows in rows_by_answer(answers, decisions).items() for i in rows}
    found = _compare(answers, decisions, [key_of[i] for i in range(len(answers))])
    return replace(found, matched_by=f"column {quote(columns.id)}")


def _compare(answers: Answers, decisions: Decisions, keys: Sequence[tuple[str, ...]]) -> Agreement:
    """Compare the coders of codings; those with the same key are of one answer, named by it."""
    coders, texts = tuple(dict.fromkeys(decisions.coders)), dict[tuple[str, ...], str]()
    given = defaultdict[tuple[str, ...], dict[str, Codes | None]](dict)
    for i in decisions.decided.tolist():
        texts.setdefault(keys[i], answers.texts[i])
        given[keys[i]][decisions.coders[i]] = decisions.codes[i]
    every = [SharedAnswer(k[0], texts[k], tuple(map(own.get, coders))) for k, own in given.items()]
    found = compare_coders(every, coders)
    if not found.n_answers:
        hint = "--id, --coder-column; and check that the tables are of the same answers"
        raise InputError("No answer was coded by two people.", hint=hint)
    return replace(found, notes=tuple(decisions.notes))


def _join_tables(
    coded: Sequence[Coded], paths: Sequence[Path], by_id: bool
) -> tuple[Answers, Decisions, list[tuple[str, ...]]]:
    """The codings of several tables in one, with keys: the ids of the answers, or their order."""
    names = [path.name for path in paths]
    coders = names if len(set(names)) == len(names) else list(map(str, paths))
    each = list(zip(coders, coded, strict=True))
    answers = Answers.join([own for own, _ in coded])
    decisions = Decisions(
        list(chain.from_iterable(own.codes for _, own in coded)),
        coders=[coder for coder, (own, _) in each for _ in own.texts],
        notes=[f"{coder}: {note}" for coder, (_, own) in each for note in own.notes],
    )
    if by_id:
        return answers, decisions, [(name,) for own in coded for name in _unique_ids(*own)]
    _check_order(coded)
    order = np.argsort(answers.rows, kind="stable")
    return answers[order], decisions[order], [(str(answers.rows[i]),) for i in order]


def _check_order(coded: Sequence[Coded]) -> None:
    """Refuse tables whose rows are not of the same answers in the same order."""
    (first, one), *others = coded
    hint = "--id with a column that tells the answers apart"
    for answers, decisions in others:
        name = decisions.source
        if len(answers) != len(first):
            sizes = f"{one.source} has {len(first):,} rows, {name} {len(answers):,}"
            raise InputError(f"{sizes}; rows cannot be matched by their order.", hint=hint)
        for row, known, text in zip(first.rows, first.texts, answers.texts, strict=True):
            if known.split() != text.split():
                differ = f"{quote(known)} in {one.source}, {quote(text)} in {name}"
                message = f"Row {row}: the answers differ: {differ}."
                raise InputError(message, hint=f"{hint}; or sort the tables alike")


def _unique_ids(answers: Answers, decisions: Decisions) -> list[str]:
    """The ids of all answers, which must tell them apart; one without an id is like no other."""
    rows: dict[str, int] = {}
    for row, name in zip(answers.rows, answers.ids, strict=True):
        if name and rows.setdefault(name, row) != row:
            message = f"{decisions.source}, row {row}: the id {quote(name)} is in row {rows[name]}"
            hint = "--id with a column in which no two rows are alike"
            raise InputError(f"{message} already; ids must tell the answers apart.", hint=hint)
    named = zip(answers.rows, answers.ids, strict=True)
    return [name or f"row {row} of {decisions.source}" for row, name in named]
