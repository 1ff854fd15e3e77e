"""Two or more people who coded the same answers: how far they agree, and where they do not."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nldd._labels import indicator
from nldd._wording import quote
from nldd.coding.agreement_measures import (
    alpha_with_interval,
    cohen_kappa,
    masi_distance,
    nominal_distance,
)
from nldd.coding.answers import row_identity
from nldd.coding.coded_answers import CodedAnswers
from nldd.coding.columns import LISTED, ColumnSpec, find_columns
from nldd.coding.decisions import read_coded
from nldd.coding.model import order_codes
from nldd.coding.tables.reading import TableOptions
from nldd.coding.tables.spreadsheet import plain_text
from nldd.coding.training_set import merge_code_rows, rows_by_answer
from nldd.exceptions import InputError

Codes = frozenset[str]
Distance = Callable[[Codes, Codes], float]


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


class Alpha(NamedTuple):
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
    codes: tuple[Codes | None, ...]
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

    Examples
    --------
    >>> from nldd.coding.agreement import SharedAnswer, compare_coders
    >>> bus, pay = frozenset({"bus"}), frozenset({"pay"})
    >>> answers = [SharedAnswer("1", "more buses", (bus, bus)), SharedAnswer("2", "?", (bus, pay))]
    >>> found = compare_coders(answers, ("Ann", "Bob"))
    >>> found.n_answers, found.n_same
    (2, 1)
    >>> [(apart.text, apart.distance) for apart in found.disagreements]
    [('?', 1.0)]
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

    Examples
    --------
    >>> from nldd.coding.agreement import SharedAnswer
    >>> answer = SharedAnswer("r1", "more buses", (frozenset({"transport"}), None))
    >>> [codes is not None for codes in answer.codes]
    [True, False]
    """

    name: str
    text: str
    codes: tuple[Codes | None, ...]


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
    both = [answer for answer in answers if sum(c is not None for c in answer.codes) > 1]
    units = [answer.codes for answer in both]
    masi, nominal = _alpha(units, masi_distance), _alpha(units, nominal_distance)
    differing = [
        Disagreement(*answer, distance)
        for answer in both
        if (distance := _mean_distance(answer.codes)) > 0
    ]
    return Agreement(
        tuple(coders),
        len(both),
        len(both) - len(differing),
        sum(any(c is not None for c in answer.codes) for answer in answers) - len(both),
        masi,
        nominal,
        _by_code(units),
        tuple(sorted(differing, key=lambda d: -d.distance)),
    )


def _alpha(units: Sequence[Sequence[Codes | None]], distance: Distance) -> Alpha:
    values = alpha_with_interval(units, distance)
    return Alpha(*(None if np.isnan(value) else value for value in values))


def _mean_distance(codes: Sequence[Codes | None]) -> float:
    given = [c for c in codes if c is not None]
    return float(np.mean([masi_distance(*pair) for pair in combinations(given, 2)]))


def _by_code(units: Sequence[Sequence[Codes | None]]) -> tuple[CodeAgreement, ...]:
    """Agreement on each code, from the worst kappa to the best."""
    given = [set(codes) for unit in units for codes in unit if codes is not None]
    if not given:
        return ()
    labels = order_codes(given, LISTED)
    names = np.array(labels, dtype=object)
    n_coders = len(units[0])
    Y = [indicator([unit[i] or () for unit in units], names) for i in range(n_coders)]
    there = np.array([[codes is not None for codes in unit] for unit in units])
    same, kappas = [], []
    for i, j in combinations(range(n_coders), 2):
        common = there[:, i] & there[:, j]
        if common.any():
            same.append((Y[i][common] == Y[j][common]).mean(axis=0))
            kappas.append(cohen_kappa(Y[i][common], Y[j][common]))
    counts = np.array([y.sum(axis=0) for y in Y]).T.tolist()
    known = np.isfinite(np.array(kappas))
    mean = np.where(known, kappas, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    means = zip(mean.tolist(), known.sum(axis=0).tolist(), strict=True)
    kappa = [value if n_known else None for value, n_known in means]
    columns = (map(tuple, counts), np.mean(same, axis=0).tolist(), kappa)
    found = map(CodeAgreement, labels, *columns)
    return tuple(sorted(found, key=lambda code: 2.0 if code.kappa is None else code.kappa))


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
    if len(paths) == 1:
        return _agreement_in_table(paths[0], replace(request, id=name or ""), options)
    places = [path.resolve() for path in paths]
    if len(set(places)) < len(places):
        message = f"{next(p for p in paths if places.count(p.resolve()) > 1)} is named twice."
        raise InputError(message, hint="name each table once, one of each coder")
    tables = _read_tables(paths, request, options)
    answers = _by_order(paths, tables) if name is None else _by_name(paths, tables, name, options)
    coders = _distinct([path.name for path in paths], paths)
    found = compare_coders(answers, coders)
    if not found.n_answers:
        hint = "name the column of ids with --id, and check that the tables are of the same answers"
        raise InputError("No answer was coded by two people.", hint=hint)
    notes = tuple(
        f"{coder}: {note}" for coder, t in zip(coders, tables, strict=True) for note in t.notes
    )
    how = "their order" if name is None else f"column {quote(name)}"
    return replace(found, matched_by=how, notes=notes)


def _agreement_in_table(path: Path, request: ColumnSpec, options: TableOptions) -> Agreement:
    """Compare the coders of one table."""
    columns = find_columns(path, request, options)
    if not (columns.coder and columns.id):
        lacks = "who coded a row" if columns.id else "whose answer a row is"
        message = f"{path.name}: no column is known to say {lacks}."
        hint = "--coder-column and --id; or one table for each coder: nldd agreement a.csv b.csv"
        raise InputError(message, hint=hint)
    table = merge_code_rows(read_coded(path, columns, options), path)
    coders = tuple(dict.fromkeys(table.coders))
    answers = []
    for rows in rows_by_answer(table).values():
        given = {table.coders[row]: frozenset(table.codes[row]) for row in rows}
        name, text = table.answers.ids[rows[0]], table.answers.texts[rows[0]]
        answers.append(SharedAnswer(name, text, tuple(given.get(coder) for coder in coders)))
    found = compare_coders(answers, coders)
    if not found.n_answers:
        hint = f"check that {quote(columns.id)} and {quote(columns.coder)} are the right columns"
        raise InputError(f"{path.name}: no answer was coded by two people.", hint=hint)
    return replace(found, matched_by=f"column {quote(columns.id)}", notes=tuple(table.notes))


def _read_tables(
    paths: Sequence[Path], request: ColumnSpec, options: TableOptions
) -> list[CodedAnswers]:
    """The tables; a number is the code of an earlier table that it is equal to, as 2 is 02."""
    tables, known = list[CodedAnswers](), set[str]()
    for path in paths:
        columns = find_columns(path, request, options)
        tables.append(read_coded(path, columns, options, known=sorted(known)))
        known.update(*tables[-1].codes)
    return tables


def _distinct(names: list[str], paths: Sequence[Path]) -> list[str]:
    """File names, or paths where two files have the same name."""
    return names if len(set(names)) == len(names) else [str(path) for path in paths]


def _by_order(paths: Sequence[Path], tables: Sequence[CodedAnswers]) -> list[SharedAnswer]:
    """Answers by the number of their row; refused where texts of the same row differ."""
    first = tables[0]
    for path, table in zip(paths, tables, strict=True):
        if table.n_rows != first.n_rows:
            sizes = f"{paths[0].name} has {first.n_rows:,} rows, {path.name} {table.n_rows:,}"
            hint = "--id with a column that tells the answers apart, to match rows by it"
            raise InputError(f"{sizes}; rows cannot be matched by their order.", hint=hint)
    texts: dict[int, tuple[str, Path]] = {}
    for path, table in zip(paths, tables, strict=True):
        for row, text in zip(table.rows, table.answers.texts, strict=True):
            known, other = texts.setdefault(row, (text, path))
            if known.split() != text.split():
                differ = f"{quote(known)} in {other.name}, {quote(text)} in {path.name}"
                hint = "--id with a column that tells the answers apart; or sort the tables alike"
                raise InputError(f"Row {row}: the answers differ: {differ}.", hint=hint)
    codes = [dict(zip(t.rows, map(frozenset, t.codes), strict=True)) for t in tables]
    return [
        SharedAnswer(str(row), texts[row][0], tuple(known.get(row) for known in codes))
        for row in sorted(texts)
    ]


def _by_name(
    paths: Sequence[Path], tables: Sequence[CodedAnswers], name: str, options: TableOptions
) -> list[SharedAnswer]:
    """Answers by what a column says, in the order in which they come."""
    texts: dict[str, str] = {}
    codes: list[dict[str, Codes]] = []
    for path, table in zip(paths, tables, strict=True):
        names = _read_names(path, name, options)
        rows = [names[row - 1] for row in table.rows]
        codes.append(dict(zip(rows, map(frozenset, table.codes), strict=True)))
        for key, text in zip(rows, table.answers.texts, strict=True):
            texts.setdefault(key, text)
    return [
        SharedAnswer(key, text, tuple(known.get(key) for known in codes))
        for key, text in texts.items()
    ]


def _read_names(path: Path, name: str, options: TableOptions) -> list[str]:
    """The cells of a column that tells all rows of a table apart."""
    names: list[str] = []
    seen: dict[str, int] = {}
    with options.open(path) as table:
        place = table.column(name)
        for block in table.blocks():
            for number, row in enumerate(block.rows, block.first):
                (key,) = row_identity((plain_text(row[place]).strip(),), (0,))
                if key and key in seen:
                    where = table.where(number, place)
                    hint = "--id with a column in which no two rows are alike"
                    message = f"{where}: {quote(key)} is in row {seen[key]} already"
                    raise InputError(f"{message}; ids must tell the answers apart.", hint=hint)
                seen[key] = number
                names.append(key or f"row {number} of {path.name}")
    if not any(seen):
        hint = "--id with a column that tells the answers apart"
        raise InputError(f"{path.name}: no cell of {quote(name)} is filled in.", hint=hint)
    return names
