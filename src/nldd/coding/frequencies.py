"""Shares of codes in all answers of a coded table, corrected for the errors of the machine.

What people coded counts as it is. For what only the machine coded, a random part that people
checked tells how often it was wrong (:mod:`.frequency_estimates`), drawn by ``nldd audit`` or by
``nldd predict --random``. Answers that the machine was sure of and those that it left to people are
two parts, as it errs more in the latter. Where nothing of a part was checked, coded answers of the
model stand in, as predicted without themselves: those about which it was as sure.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nldd._labels import indicator
from nldd._wording import quote_first
from nldd.coding.coded_answers import AUTO, BY_PEOPLE, REVIEW
from nldd.coding.coded_rows import CodedRow, Codes, add_decided, read_rows
from nldd.coding.frequency_estimates import PartCounts, count_part, estimate_rest
from nldd.coding.guarantee import RANKINGS
from nldd.coding.model import CodingModel, order_codes
from nldd.coding.tables.cells import TableFormat
from nldd.coding.tables.reading import TableOptions
from nldd.exceptions import InputError

# Where the errors of a part are known from.
CHECKED, MODEL = "checked", "model"


@dataclass(frozen=True)
class Frequency:
    """Answers with a code: of people and of the machine alone, and their share, raw and corrected.

    `low` and `high` are the limits of the corrected share.
    """

    code: str
    n_people: int
    n_machine: int
    raw: float
    share: float
    low: float
    high: float

    @property
    def bias(self) -> float:
        """How much the raw share is too large."""
        return self.raw - self.share


@dataclass(frozen=True)
class Basis:
    """A part of the answers: how many only the machine coded, and what tells of its errors.

    `source` says what the `n_checked` answers are: ``checked`` ones of the same part, drawn at
    random, of which `n_open` more are not coded yet; or coded ones of the ``model``. People chose
    to code `n_chosen` more of this part themselves.
    """

    part: str
    n_rest: int
    n_checked: int
    source: str
    n_open: int = 0
    n_chosen: int = 0


@dataclass(frozen=True)
class Frequencies:
    r"""Shares of codes in all answers of a table, corrected; made by :func:`code_frequencies`.

    Attributes
    ----------
    codes : tuple of Frequency
        For each `code`: answers that got it from people (`n_people`) and from the machine alone
        (`n_machine`), the `raw` share of both together, the corrected `share` with the limits `low`
        and `high` of its 95 % interval, and `bias`, by which the raw one is too large. The most
        frequent first.
    n_answers, n_people, n_empty : int
        All answers, those that people coded, and rows more that say nothing and do not count.
    basis : tuple of Basis
        For each `part` of what only the machine coded: its size `n_rest`, how many answers tell of
        its errors (`n_checked`), and whether these are ``checked`` ones or those of the ``model``
        (`source`). Of those drawn, `n_open` are not coded yet; people chose `n_chosen` more.
    notes : list of str
        What a person should know.
    format : TableFormat
        Of the coded table.

    Examples
    --------
    >>> from nldd.coding import Answers, CodingOptions, Settings
    >>> from nldd.coding import code_frequencies, code_table, fit_coding_model
    >>> from nldd import load_survey
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in load_survey().rows if topics.issuperset(row[4].split(";"))][:100]
    >>> answers = Answers([row[1] for row in rows])
    >>> codes = [set(row[4].split(";")) for row in rows]
    >>> model = fit_coding_model(answers, codes, settings=Settings(n_folds=2))
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     new, coded = Path(folder, "new.csv"), Path(folder, "coded.csv")
    ...     _ = new.write_text("answer\n" + "cheaper rents\nsafe cycle paths\nlower rents\n" * 20)
    ...     _ = code_table(model, new, coded, CodingOptions(threshold=0.1))
    ...     found = code_frequencies(model, coded)
    >>> found.n_answers, found.n_people, [(part.part, part.source) for part in found.basis]
    (60, 0, [('auto', 'model')])
    """

    codes: tuple[Frequency, ...]
    n_answers: int
    n_people: int
    n_empty: int
    basis: tuple[Basis, ...]
    notes: list[str]
    format: TableFormat


def code_frequencies(
    model: CodingModel,
    path: Path,
    checked: Sequence[Path] = (),
    options: TableOptions = TableOptions(),
) -> Frequencies:
    r"""Estimate the share of each code in a coded table, corrected for the errors of the machine.

    Parameters
    ----------
    model : CodingModel
        Which has coded the table.
    path : Path
        The table that :func:`code_table` wrote.
    checked : sequence of Path
        Tables that came back from people: reviews, and samples of :func:`draw_sample`.
    options : TableOptions, optional
        How the tables are opened.

    Returns
    -------
    Frequencies
        Raw and corrected shares, with 95 % intervals.

    Notes
    -----
    What people coded counts as it is. Of what only the machine coded, let ``N_1``
    answers have a code and ``N_0`` not. Of the checked ones with the code a share ``p`` is
    right, and of those without a share ``q`` has it all the same; then ``N_1 p + N_0 q``
    have it. Where nothing was checked, answers of the model stand in, each predicted without
    itself.

    Examples
    --------
    >>> from nldd.coding import Answers, CodingOptions, Settings
    >>> from nldd.coding import code_frequencies, code_table, fit_coding_model
    >>> from nldd import load_survey
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in load_survey().rows if topics.issuperset(row[4].split(";"))][:100]
    >>> answers = Answers([row[1] for row in rows])
    >>> codes = [set(row[4].split(";")) for row in rows]
    >>> model = fit_coding_model(answers, codes, settings=Settings(n_folds=2))
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> folder = TemporaryDirectory()
    >>> new, coded = Path(folder.name, "new.csv"), Path(folder.name, "coded.csv")
    >>> _ = new.write_text("answer\n" + "cheaper rents\nsafe cycle paths\nlower rents\n" * 20)
    >>> _ = code_table(model, new, coded, CodingOptions(threshold=0.1))
    >>> found = code_frequencies(model, coded)
    >>> [(code.code, round(code.raw, 2)) for code in found.codes]
    [('housing costs', 0.67), ('cycling', 0.33), ('safety', 0.0)]
    >>> all(code.low <= code.share <= code.high for code in found.codes)
    True
    >>> folder.cleanup()
    """
    table = read_rows(model, path, options)
    notes = list(table.notes)
    for other in checked if table.rows else ():
        notes += add_decided(model, table.rows, other, path, options)
    # What says nothing is no answer, unless people gave it codes.
    rows = [row for row in table.rows if row.people is not None or not row.empty]
    if not rows:
        hint = "name the table that nldd predict wrote"
        raise InputError(f"{path.name} has no answers.", hint=hint)
    known = [row for row in rows if row.people is not None]
    labels = _all_labels(model, rows)
    if new := labels[len(model.labels) :]:
        notes.append(f"Codes that the model does not know: {quote_first(new)}.")
    parts = _parts(model, rows, labels)
    totals = estimate_rest([counts for _, counts in parts]) if parts else (0.0, 0.0, 0.0)
    by_people = _matrix([row.people or frozenset() for row in known], labels).sum(axis=0)
    by_machine = sum((counts.rest_with for _, counts in parts), np.zeros(len(labels), dtype=int))
    shares = [(by_people + total) / len(rows) for total in totals]
    raw = (by_people + by_machine) / len(rows)
    columns = (by_people, by_machine, raw, *shares)
    each = zip(labels, *(values.tolist() for values in columns), strict=True)
    found = sorted((Frequency(*values) for values in each), key=lambda f: (-f.share, f.code))
    basis = tuple(basis for basis, _ in parts)
    counts = (len(rows), len(known), len(table.rows) - len(rows))
    return Frequencies(tuple(found), *counts, basis, notes, table.format)


def _all_labels(model: CodingModel, rows: list[CodedRow]) -> tuple[str, ...]:
    """The codes of the model, and those that people gave besides."""
    found = {code for row in rows for code in (*row.machine, *(row.people or ()))}
    new = found - set(model.labels)
    listed = replace(model.columns, codes=replace(model.columns.codes, separator=";"))
    return (*model.labels, *(order_codes([new], listed) if new else ()))


def _matrix(codes: Sequence[Codes], labels: Sequence[str]) -> NDArray[np.int8]:
    return indicator(codes, np.array(labels, dtype=object))


def _parts(
    model: CodingModel, rows: list[CodedRow], labels: tuple[str, ...]
) -> list[tuple[Basis, PartCounts]]:
    """What only the machine coded, by status, with what is known about its errors."""
    ranking, limit = _find_limit(model, rows)
    parts = []
    for part in dict.fromkeys((AUTO, REVIEW, *(row.status for row in rows))):
        here = [row for row in rows if row.status == part != BY_PEOPLE]
        rest = [row for row in here if row.people is None]
        if not rest:
            continue
        sample = [row for row in here if row.sampled and row.people is not None]
        machine = _matrix([row.machine for row in sample], labels)
        people = _matrix([row.people or frozenset() for row in sample], labels)
        source = CHECKED
        if not sample:
            machine, people = _stand_ins(model, ranking, limit, part, len(labels))
            source = MODEL
        counts = count_part(_matrix([row.machine for row in rest], labels), machine, people)
        n_open, n_chosen = sum(row.sampled for row in rest), len(here) - len(rest) - len(sample)
        basis = Basis(part, len(rest), len(machine), source, n_open, n_chosen)
        parts.append((basis, counts))
    return parts


def _find_limit(model: CodingModel, rows: list[CodedRow]) -> tuple[str, float]:
    """By which ranking answers were coded automatically, and up to which doubt; NaN if by none."""
    auto = [row for row in rows if row.status == AUTO]
    others = [row for row in rows if row.status == REVIEW]
    best = ("theta", np.nan if auto else -1.0)
    fewest = len(others) + 1
    for ranking in RANKINGS if model.evidence.chance is not None else ("theta",):
        limit = max((row.doubts[ranking] for row in auto), default=-1.0)
        # Of the ranking that was used, none are within the limit but for what rounding does.
        n_within = sum(row.doubts[ranking] <= limit for row in others)
        if np.isfinite(limit) and n_within < fewest:
            best, fewest = (ranking, limit), n_within
    return best


def _stand_ins(
    model: CodingModel, ranking: str, limit: float, part: str, n_labels: int
) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Codes of the machine and of people for answers of the model like those of a part.

    There are none where codes were settled one by one, which leaves no doubt about the whole.
    """
    found, Y = model.evidence[model.tested], model.Y[model.tested]
    sure = found.doubt(ranking) <= limit
    like = (sure if part == AUTO else ~sure) & np.isfinite(limit) & (part in (AUTO, REVIEW))
    padding = ((0, 0), (0, n_labels - Y.shape[1]))
    return np.pad(found.Y[like], padding), np.pad(Y[like], padding)
