"""A sample of the automatic codes, for people to check, and what their checks prove."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import beta

from nldd._wording import quote
from nldd.coding import columns as own
from nldd.coding.coded_table import check_paths_differ, draw_at_random
from nldd.coding.decisions import predicted_texts, refuse_checked
from nldd.coding.guarantee import OPEN, Guarantee, accuracy_interval, judge_interval
from nldd.coding.rows import CHECKS, CHECKS_HINT, identity_rows
from nldd.coding.tables.reading import TableOptions, read_table
from nldd.coding.tables.spreadsheet import Spreadsheet
from nldd.coding.tables.writing import write_table
from nldd.coding.wording import checked_accuracy, fill_words
from nldd.exceptions import InputError
from nldd.present.text import count_noun, wrap

CROSS = "x"
# Checks that nobody would make.
MOST_CHECKS = 1_000_000
# The cells of a row, and its number among equal rows, which are several answers.
RowKey = tuple[tuple[str, ...], int]


@dataclass(frozen=True)
class Sample:
    """How many automatic codes :func:`draw_sample` has drawn, and from how many.

    Attributes
    ----------
    out : Path or str
        Where the sample is.
    n_rows, n_auto, n_sample : int
        Rows of the coded table, those of them with automatic codes that were not drawn before, and
        those drawn now.
    n_besides : int
        Rows of earlier samples, which are not drawn again.
    earlier : tuple of Path
        The earlier samples.

    Examples
    --------
    >>> from pathlib import Path
    >>> from nldd.coding.audit import Sample
    >>> sample = Sample(Path("coded.audit.csv"), n_rows=1000, n_auto=700, n_sample=200)
    >>> print(str(sample).split(":")[0])
    200 of 700 automatic codes drawn at random
    """

    out: Path | str
    n_rows: int
    n_auto: int
    n_sample: int
    n_besides: int = 0
    earlier: tuple[Path, ...] = ()

    def __str__(self) -> str:
        besides = f" besides the {self.n_besides:,} of earlier samples" if self.n_besides else ""
        return (
            f"{self.n_sample:,} of {count_noun(self.n_auto, 'automatic code')}{besides} drawn at "
            f"random: {self.out}\nWrite yes or no in the column {own.CHECK} of each row, and the "
            f"right codes into {own.RIGHT_CODES} where it is no; then run\n  nldd audit "
            f"{' '.join(map(str, (*self.earlier, self.out)))}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {name: value for name, value in asdict(self).items() if name != "earlier"}


@dataclass(frozen=True)
class Audit:
    r"""What checks of automatic codes prove; made by :func:`read_audit`.

    Attributes
    ----------
    n_checked, n_right, n_open : int
        Rows that people have checked, those of them that are right, and rows not looked at yet.
    accuracy, low, high : float
        The share that is right, with its exact 95 % interval.
    target : float
        The accuracy that was guaranteed.
    verdict : str or None
        "kept" if the whole interval is at or above the target, "broken" if it is below, and else
        "cannot tell yet". None if the target is not about whole answers.
    needed : int or None
        About so many checks in all would tell, if as many of them are right; None if no number
        would, or the verdict is there.
    n_crosses : int
        Rows marked with x, which is read as right.
    measure : {"subset", "hamming", "per-code"}
        Measure of the target; the checks are about whole answers ("subset").

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding import read_audit
    >>> folder = TemporaryDirectory()
    >>> sample = Path(folder.name, "coded.audit.csv")
    >>> _ = sample.write_text("answer,nldd_check\n" + "a bus,yes\n" * 49 + "a park,no\n")
    >>> found = read_audit(sample, target=0.8)
    >>> found.accuracy, round(found.low, 3), round(found.high, 3), found.verdict
    (0.98, 0.894, 0.999, 'kept')
    >>> folder.cleanup()
    """

    n_checked: int
    n_right: int
    n_open: int
    accuracy: float
    low: float
    high: float
    target: float
    verdict: str | None
    needed: int | None
    n_crosses: int
    measure: str = "subset"

    def __str__(self) -> str:
        result = checked_accuracy(self.n_right, self.n_checked, self.low, self.high)
        return f"{result}\n{wrap(fill_words('audited', found=self))}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def draw_sample(
    path: Path,
    out: Path | str,
    size: int,
    random_state: int = 0,
    options: TableOptions = TableOptions(),
    raw: bool = False,
    besides: Sequence[Path] = (),
) -> Sample:
    r"""Draw rows with automatic codes at random, and write them with columns to fill in.

    Each set of rows is equally likely, and rows keep their order. In ``nldd_check`` people write
    yes or no, and the right codes into ``nldd_right_codes`` where it is no; then :func:`read_audit`
    tells what that proves.

    Parameters
    ----------
    path : Path
        A table that :func:`code_table` wrote.
    out : Path or str
        File for the sample, in the format that its ending says.
    size : int
        Rows to draw; all, if there are fewer.
    random_state : int
        Seed of the draw.
    options : TableOptions, optional
        How the tables are opened.
    raw : bool
        Whether to write cells as they are that a spreadsheet would run as formulas.
    besides : sequence of Path
        Earlier samples, whose rows are left out.

    Returns
    -------
    Sample
        How many were drawn, and from how many.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding import draw_sample
    >>> folder = TemporaryDirectory()
    >>> coded, sample = Path(folder.name, "coded.csv"), Path(folder.name, "sample.csv")
    >>> rows = "a bus,bus,auto\na path,bike,review\na tram,bus,auto\n"
    >>> _ = coded.write_text("answer,nldd_codes,nldd_status\n" + rows)
    >>> draw_sample(coded, sample, size=2).n_auto
    2
    >>> print(sample.read_text(), end="")
    answer,nldd_codes,nldd_status,nldd_check,nldd_right_codes
    a bus,bus,auto,,
    a tram,bus,auto,,
    >>> folder.cleanup()
    """
    check_paths_differ(path, out, hint="-o sample.csv")
    if size < 1:
        raise InputError(f"The sample must have at least one row; got {size}.", hint="--sample 200")
    if str(out) != "-":
        refuse_checked(Path(out), options)
    table, samples = read_table(path, options), [read_table(other, options) for other in besides]
    names = _common_columns([table, *samples]) if besides else []
    earlier = _join_checks([_read_checks(sample, names) for sample in samples])
    status, rows = predicted_texts(table, own.STATUS), identity_rows(table, names)
    auto = [place for place, text in enumerate(status) if text.strip().lower() == own.AUTO]
    keys = _number_repeats([rows[place] for place in auto])
    if lost := earlier.keys() - set(keys):
        which = f"{count_noun(len(lost), 'row')} of {', '.join(p.name for p in besides)}"
        hint = f"give samples of {path.name}, with its columns as they were"
        raise InputError(f"{which} not found among the automatic codes of {path.name}.", hint=hint)
    open_places = [place for place, key in zip(auto, keys, strict=True) if key not in earlier]
    if not open_places and earlier:
        message = f"{path.name}: all {len(earlier):,} automatic codes are in the earlier samples."
        raise InputError(message, hint="check the rows that are still open there")
    if not open_places:
        message = f"{path.name}: none of the {len(table)} rows has the status {own.AUTO!r}."
        raise InputError(message, hint="nldd predict with a lower --target-accuracy")
    drawn = sorted(draw_at_random(open_places, size, random_state))
    frame = table.frame.iloc[drawn].assign(**{own.CHECK: "", own.RIGHT_CODES: ""})
    header = (*table.header, own.CHECK, own.RIGHT_CODES)
    write_table(out, frame, header=header, like=table.format, raw=raw)
    return Sample(out, len(table), len(open_places), len(drawn), len(earlier), tuple(besides))


def is_check_sample(path: Path, options: TableOptions = TableOptions()) -> bool:
    """True if a table has the column in which a sample is checked."""
    return own.CHECK in read_table(path, options).names


def read_audit(
    *paths: Path, options: TableOptions = TableOptions(), target: float | None = None
) -> Audit:
    r"""Tell what samples prove whose rows people have marked as right or wrong.

    Parameters
    ----------
    *paths : Path
        Samples of :func:`draw_sample`, filled in. Rows that are in several count once.
    options : TableOptions, optional
        How the tables are opened.
    target : float, optional
        Accuracy that whole answers must have. By default that of the column ``nldd_guarantee``, or
        0.9 if it is empty or missing.

    Returns
    -------
    Audit
        The share that is right, its interval and the verdict.

    Notes
    -----
    The interval is Clopper and Pearson's: all accuracies under which neither as few
    right rows as were found nor as many have a chance below 2.5 %.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding import read_audit
    >>> folder = TemporaryDirectory()
    >>> sample = Path(folder.name, "sample.csv")
    >>> _ = sample.write_text("answer,nldd_check\n" + "a bus,yes\n" * 9 + "a park,no\na path,\n")
    >>> found = read_audit(sample, target=0.9)
    >>> found.n_checked, found.n_open, found.accuracy, found.verdict
    (10, 1, 0.9, 'cannot tell yet')
    >>> folder.cleanup()
    """
    tables = [read_table(path, options) for path in paths]
    names = _common_columns(tables) if len(paths) > 1 else []
    samples = [_read_checks(table, names) for table in tables]
    given, guarantee = list(_join_checks(samples).values()), _common_guarantee(samples)
    checked = [mark for mark in map(CHECKS.__getitem__, given) if mark is not None]
    if not checked:
        which = ", ".join(path.name for path in paths)
        message = f"{which}: no row of the column {own.CHECK!r} is filled in yet."
        hint = "write yes or no into each row, then run the same command again"
        raise InputError(message, hint=hint)
    measure = "subset"
    if target is None and guarantee is not None:
        target, measure = guarantee.target, guarantee.measure
    found = judge_checks(checked, len(given) - len(checked), 0.9 if target is None else target)
    if measure != "subset":  # checks of whole answers say nothing of it
        found = replace(found, verdict=None, needed=None, measure=measure)
    return replace(found, n_crosses=given.count(CROSS))


def judge_checks(checks: Sequence[bool], n_open: int = 0, target: float = 0.9) -> Audit:
    """What checks of automatic codes drawn at random prove, if `n_open` more wait for theirs.

    >>> found = judge_checks([True] * 49 + [False], n_open=10)
    >>> found.accuracy, round(found.low, 3), round(found.high, 3), found.verdict
    (0.98, 0.894, 0.999, 'cannot tell yet')
    """
    if not checks:
        hint = "judge them once the first is made"
        raise InputError("There are no checks yet, so nothing can be told.", hint=hint)
    n, n_right = len(checks), sum(checks)
    low, high = accuracy_interval(checks)
    verdict = judge_interval(low, high, target)
    needed = None if verdict != OPEN else checks_needed(n, n_right, target)
    return Audit(n, n_right, n_open, n_right / n, low, high, target, verdict, needed, n_crosses=0)


class _CheckedRow(NamedTuple):
    """A row of a sample: where it stands, by what it is known again, its mark and guarantee."""

    where: str
    key: RowKey
    mark: str
    guarantee: Guarantee | None


def _common_columns(tables: Sequence[Spreadsheet]) -> list[str]:
    """Columns by which rows of several tables are known again."""
    found = list(own.own_columns(tables[0]))
    for table in tables[1:]:
        there = own.own_columns(table)
        found = [name for name in found if name in there]
    if not found:
        names, hint = ", ".join(t.path.name for t in tables), "give samples of one coded table"
        raise InputError(f"{names} have no column of answers in common.", hint=hint)
    return found


def _number_repeats(rows: Sequence[tuple[str, ...]]) -> list[RowKey]:
    """The rows as keys: those that are equal get numbers."""
    numbers = defaultdict[tuple[str, ...], Iterator[int]](count)
    return [(row, next(numbers[row])) for row in rows]


def _read_checks(table: Spreadsheet, names: Sequence[str]) -> list[_CheckedRow]:
    marks = own.read_marks(table, table.find(own.CHECK), CHECKS, "yes or no", CHECKS_HINT)
    column = own.latest_column(table, own.GUARANTEE)
    stated = [""] * len(table) if column is None else [t.strip() for t in table.texts(column)]
    keys = _number_repeats(identity_rows(table, names))
    rows = []
    for row, (key, mark, text) in enumerate(zip(keys, marks, stated, strict=True), 1):
        guarantee = Guarantee.parse(text, table.where(row, column)) if text else None
        rows.append(_CheckedRow(table.where(row), key, mark, guarantee))
    return rows


def _common_guarantee(samples: Sequence[list[_CheckedRow]]) -> Guarantee | None:
    """The guarantee of all rows; others are refused."""
    found = {row.guarantee: row.where for sample in samples for row in sample}
    if len(found) > 1:
        each = "; ".join(f"{where}: {stated or 'none'}" for stated, where in found.items())
        hint = "give samples of one coded table together, and others each alone"
        raise InputError(f"These rows have different accuracy guarantees: {each}.", hint=hint)
    return next(iter(found), None)


def _join_checks(samples: Sequence[list[_CheckedRow]]) -> dict[RowKey, str]:
    """The marks of all rows of the samples; those that are in several of them once."""
    marks: dict[RowKey, str] = {}
    for where, key, mark, _ in chain.from_iterable(samples):
        known, new = CHECKS[marks.get(key, "")], CHECKS[mark]
        if None not in (known, new) and known != new:
            says = f"says {quote(mark)}, another sample the opposite."
            hint = "let both say the same, or give one of the samples alone"
            raise InputError(f"{where}, column {own.CHECK!r}: {says}", hint=hint)
        if known is None:
            marks[key] = mark
    return marks


def checks_needed(n: int, n_right: int, target: float) -> int | None:
    """About how many checks tell on which side of a target an accuracy is, if it stays as it is.

    Sizes grow by two percent; the interval is that of Clopper and Pearson. Without an accuracy
    that differs from the target, no number does.
    """
    steps = np.ceil(np.log(MOST_CHECKS / n) / np.log(1.02)) if n < MOST_CHECKS else 0
    sizes = np.unique(np.ceil(n * 1.02 ** np.arange(1, steps + 1)).astype(int))
    right = np.round(sizes * (n_right / n))
    low = np.where(right > 0, beta.ppf(0.025, right, sizes - right + 1), 0.0)
    high = np.where(right < sizes, beta.isf(0.025, right + 1, sizes - right), 1.0)
    told = np.flatnonzero((low >= target) | (high < target))
    return int(sizes[told[0]]) if len(told) else None
