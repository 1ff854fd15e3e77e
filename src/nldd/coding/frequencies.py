"""Shares of codes in all answers of a coded table, corrected for the errors of the machine.

What people coded counts as it is. For what only the machine coded, a random part that people
checked tells how often it was wrong, drawn by ``nldd audit`` or by ``nldd predict --random``.
Answers that the machine was sure of and those that it left to people are two parts, as it errs
more in the latter. Where nothing of a part was checked, coded answers of the model stand in, as
predicted without themselves: those about which it was as sure.

Of the answers that only the machine coded, those with the code and those without it are looked at
apart: of the former a share is right, of the latter a share was missed, and the sample tells both.
This is the calibration estimator of double sampling (Tenenbein, 1970), stratified by what the
machine said, which is prediction-powered inference where a prediction is yes or no. The limits of
each share are those of an exact test with mid-P in a finite population, so that they have a width
where no error was found. They are put together as squares (MOVER: Zou and Donner, 2008).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import hypergeom, norm

from nldd._labels import indicator
from nldd._wording import quote_first
from nldd.coding.answers import BoolArray, FloatArray, LabelArray
from nldd.coding.codebook import CodebookEntry
from nldd.coding.columns import AUTO, BY_PEOPLE, LISTED, REVIEW
from nldd.coding.decisions import CodedRows, add_decided, open_decided, read_rows
from nldd.coding.guarantee import RANKINGS
from nldd.coding.model import CodingModel, order_codes
from nldd.coding.tables.reading import TableOptions
from nldd.coding.wording import fill_words, percent_range
from nldd.exceptions import InputError
from nldd.present.table import Table, TableEntry, tabulate, to_text
from nldd.present.text import percent, visible, wrap

Counts = NDArray[np.int64]
LEVEL = 0.95
# Sums that should be whole numbers are so but for this.
ROUNDING = 1e-9
# Where the errors of a part are known from.
CHECKED, MODEL = "checked", "model"
MOST_CODES = 60


@dataclass(frozen=True)
class Frequency:
    """Answers with a code: of people and of the machine alone, and their share, raw and corrected.

    `low` and `high` are the limits of the corrected share.
    """

    code: str
    name: str
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
    r"""Shares of codes in all answers of a table, corrected; see :func:`code_frequencies`.

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
    """

    codes: tuple[Frequency, ...]
    n_answers: int
    n_people: int
    n_empty: int
    basis: tuple[Basis, ...]
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        table = self.table()
        shares = to_text(table, most=MOST_CODES)
        return "\n\n".join([shares, wrap(table.notes), wrap(self.paragraphs())])

    def table(self) -> Table:
        """Make a table of the share of each code, the most frequent first."""
        columns: dict[str, Any] = {
            "code": lambda f: visible(CodebookEntry(f.code, f.name).shown),
            "corrected": lambda f: TableEntry(
                percent(f.share, 1), under=percent_range(f.low, f.high)
            ),
            "raw": lambda f: percent(f.raw, 1),
            "bias": lambda f: points(f.bias),
            "people": lambda f: f"{f.n_people:,}",
            "machine": lambda f: f"{f.n_machine:,}",
        }
        title = f"Shares of the codes in all {self.n_answers:,} answers"
        return tabulate("frequencies", title, self.codes, columns, *fill_words("frequencies_notes"))

    def paragraphs(self) -> tuple[str, ...]:
        """Whom the codes come from, and how the errors of the machine are known."""
        return fill_words("frequencies", found=self)

    @property
    def assumes(self) -> bool:
        """True if errors of the machine are known from answers of the model alone."""
        return any(part.source == MODEL for part in self.basis)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self) | {"codes": [asdict(f) | {"bias": f.bias} for f in self.codes]}

    def to_frame(self) -> pd.DataFrame:
        """One row per code, for other programs."""
        parts = [f"{p.part}: {p.n_rest} by {p.n_checked} {p.source}" for p in self.basis]
        basis = "; ".join(parts) or "people"
        rows = []
        for f in self.codes:
            shares = (round(share, 6) for share in (f.share, f.low, f.high, f.raw, f.bias))
            rows.append((f.code, f.name, *shares, f.n_people, f.n_machine, basis))
        names = ("code", "name", "share", "low", "high", "raw", "bias", "people", "machine")
        return pd.DataFrame(rows, columns=(*names, "basis"), dtype=object)


@dataclass(frozen=True, eq=False)
class PartCounts:
    """Answers of one kind in numbers; all arrays have one entry a code.

    Of those that nobody checked, the machine gave the code to `rest_with` and did not give it to
    `rest_without`. Of those that people checked, it gave it to `checked_with`, in `right` of them
    rightly, and did not give it to `checked_without`, where in `missed` it should have.
    """

    rest_with: Counts
    rest_without: Counts
    checked_with: Counts
    right: Counts
    checked_without: Counts
    missed: Counts


def count_part(Y_rest: NDArray[Any], Y_machine: NDArray[Any], Y_people: NDArray[Any]) -> PartCounts:
    """Numbers of a part: the machine's codes of the rest, and those of both for what was checked.

    The sample must have been drawn at random from both together, or be like the rest.
    """
    machine, people = Y_machine.astype(bool), Y_people.astype(bool)
    given, asked = Y_rest.astype(bool).sum(axis=0), machine.sum(axis=0)
    right, missed = (machine & people).sum(axis=0), (~machine & people).sum(axis=0)
    return PartCounts(given, len(Y_rest) - given, asked, right, len(machine) - asked, missed)


def rest_limits(found: Counts, n: Counts, rest: Counts) -> tuple[Counts, Counts]:
    """Fewest and most of `rest` answers that carry something, if `found` of `n` like them do.

    If k of all n + rest carry it, then `found` is hypergeometric. Kept are those k under which as
    few as that, and as many, are not too rare; what is just as many counts half (mid-P).

    >>> rest_limits(np.array([0, 0, 3]), np.array([50, 0, 50]), np.array([1000, 1000, 0]))
    (array([0, 0, 0]), array([  59, 1000,    0]))
    """
    tail = (1 - LEVEL) / 2

    def is_likely(total: Counts, more: bool) -> BoolArray:
        shape = (np.maximum(n + rest, 1), total, n)
        beyond = hypergeom.sf(found, *shape) if more else hypergeom.cdf(found - 1, *shape)
        return np.asarray(beyond + hypergeom.pmf(found, *shape) / 2 >= tail)

    fewest = _first(found, found + rest, lambda total: is_likely(total, more=True))
    beyond = _first(found, found + rest + 1, lambda total: ~is_likely(total, more=False))
    return fewest - found, beyond - 1 - found


def _first(low: Counts, high: Counts, holds: Callable[[Counts], BoolArray]) -> Counts:
    """The first number of each range for which something holds, else `high`; by halving."""
    while (low < high).any():
        middle, is_closed = (low + high) // 2, low == high
        enough = holds(middle)
        low = np.where(enough | is_closed, low, middle + 1)
        high = np.where(enough, middle, high)
    return low


def estimate_rest(parts: Sequence[PartCounts]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """How many of the answers that nobody checked carry each code, with limits; over all parts.

    Where nothing like them was checked, the machine is taken at its word, and the limits are the
    widest.
    """
    groups = [(p.right, p.checked_with, p.rest_with, p.rest_with) for p in parts]
    groups += [(p.missed, p.checked_without, p.rest_without, 0 * p.missed) for p in parts]
    found, n, rest, word = (np.array(values) for values in zip(*groups, strict=True))
    looked = n > 0
    value = np.where(looked, found / np.maximum(n, 1) * rest, word)
    fewest, most = rest_limits(found, n, rest)
    # Errors of estimates partly cancel, and add up as squares. What was not looked at at all is
    # no estimate: all of it may be wrong at once.
    low, high = (np.where(looked, value, limit).sum(axis=0) for limit in (fewest, most))
    squares = (np.square(np.maximum(error, 0)) for error in (value - fewest, most - value))
    below, above = (np.where(looked, square, 0).sum(axis=0) for square in squares)
    # There are only whole answers: what lies between two numbers allows for both.
    lower = np.floor(low - np.sqrt(below) + ROUNDING)
    upper = np.ceil(high + np.sqrt(above) - ROUNDING)
    n_rest = rest.sum(axis=0)
    return value.sum(axis=0), np.clip(lower, 0, n_rest), np.clip(upper, 0, n_rest)


@dataclass(frozen=True)
class CodeBias:
    """Shares of answers to which people gave a code, and the machine; and how they differ.

    The difference is that of the machine's share from that of people, with a 95 % interval.
    """

    code: str
    n_answers: int
    people: float
    machine: float
    difference: float
    low: float
    high: float


def code_bias(model: CodingModel) -> list[CodeBias]:
    """What coding all answers by machine would do to the share of each code, the worst first.

    By predictions of answers that were drawn at random, each without itself.
    """
    Y, found = model.Y[model.tested].astype(bool), model.evidence[model.tested].Y.astype(bool)
    n = len(Y)
    wrong, missed = (found & ~Y).sum(axis=0), (Y & ~found).sum(axis=0)
    low, high = difference_limits(wrong, missed, n)
    columns = (Y.mean(axis=0), found.mean(axis=0), (wrong - missed) / n, low, high)
    each = zip(model.labels, *(values.tolist() for values in columns), strict=True)
    biases = [CodeBias(code, n, *values) for code, *values in each]
    return sorted(biases, key=lambda bias: (-abs(bias.difference), bias.code))


def difference_limits(plus: Counts, minus: Counts, n: int) -> tuple[FloatArray, FloatArray]:
    """Limits of the difference of two shares of the same `n` answers, of which so many differ.

    Bonett and Price (2012): one more of either kind keeps a width where none differ.

    >>> [round(float(limit), 4) for limit in difference_limits(np.array(8), np.array(2), 100)]
    [-0.0068, 0.1244]
    """
    more, less = (plus + 1) / (n + 2), (minus + 1) / (n + 2)
    centre = more - less
    half = norm.ppf((1 + LEVEL) / 2) * np.sqrt((more + less - centre**2) / (n + 2))
    return np.maximum(centre - half, -1.0), np.minimum(centre + half, 1.0)


def points(difference: float) -> str:
    """A difference of shares in percentage points, with its sign."""
    text = f"{100 * difference:+.1f}"
    return "0.0" if float(text) == 0 else text


def bias_table(found: Iterable[CodeBias]) -> Table:
    """What coding by machine alone would do to the shares of the codes, the worst first."""
    columns: dict[str, Any] = {
        "code": lambda b: visible(b.code),
        "people": lambda b: percent(b.people, 1),
        "machine": lambda b: percent(b.machine, 1),
        "difference": lambda b: TableEntry(
            points(b.difference), under=f"{points(b.low)} to {points(b.high)}"
        ),
    }
    title = "Shares of the codes by people and by the machine alone"
    return tabulate("bias", title, found, columns, *fill_words("bias_notes"))


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
    table, decisions = open_decided(model, path, options)
    rows, notes = read_rows(model, table, decisions), table.notes
    if not len(rows.drop_blank()):
        hint = "name the table that nldd predict wrote"
        raise InputError(f"{path.name} has no answers.", hint=hint)
    # The sheet and the numbers are those of the coded table.
    how = replace(options, numbers=None, sheet=None)
    for other in checked:
        notes += add_decided(model, rows, table, *open_decided(model, other, how))
    found = estimate_frequencies(model, rows)
    return replace(found, notes=[*notes, *found.notes])


def estimate_frequencies(model: CodingModel, rows: CodedRows) -> Frequencies:
    """Estimate the share of each code in answers that a model has coded, and people in part."""
    answers = rows.drop_blank()
    n, known = len(answers), answers.known
    given = frozenset().union(*answers.machine, *answers.people[known])
    new = order_codes([given - set(model.labels)], LISTED)
    labels = (*model.labels, *new)
    names = np.array(labels, dtype=object)
    both = (answers.machine, answers.people)
    machine, people = (indicator([c or () for c in codes], names) for codes in both)
    parts = list(_parts(model, answers, machine, people))
    counts = [counts for _, counts in parts]
    totals = estimate_rest(counts) if parts else (0.0, 0.0, 0.0)
    by_people = people[known].sum(axis=0)
    by_machine = sum((part.rest_with for part in counts), np.zeros(len(labels), dtype=int))
    shares = [(by_people + total) / n for total in totals]
    columns = (by_people, by_machine, (by_people + by_machine) / n, *shares)
    called = (getattr(model.codebook.by_code.get(code), "name", "") for code in labels)
    found = map(Frequency, labels, called, *(values.tolist() for values in columns))
    shown = tuple(sorted(found, key=lambda f: (-f.share, f.code)))
    basis = tuple(basis for basis, _ in parts)
    notes = [f"Codes that the model does not know: {quote_first(new)}."] * bool(new)
    return Frequencies(shown, n, int(known.sum()), len(rows) - n, basis, notes)


def _parts(
    model: CodingModel, rows: CodedRows, machine: LabelArray, people: LabelArray
) -> Iterator[tuple[Basis, PartCounts]]:
    """What only the machine coded, by status, with what is known about its errors."""
    for part in dict.fromkeys((AUTO, REVIEW, *rows.status)):
        here = (rows.status == part) & (part != BY_PEOPLE)
        rest, done = here & ~rows.known, here & rows.known
        sample = done & rows.sampled
        if not rest.any():
            continue
        codes, source = (machine[sample], people[sample]), CHECKED
        if not sample.any():
            codes, source = _stand_ins(model, rows, part, machine.shape[1]), MODEL
        n_open, n_chosen = (rest & rows.sampled).sum(), (done & ~sample).sum()
        basis = Basis(part, int(rest.sum()), len(codes[0]), source, int(n_open), int(n_chosen))
        yield basis, count_part(machine[rest], *codes)


def _find_limit(model: CodingModel, rows: CodedRows) -> tuple[str, float]:
    """By which ranking answers were coded automatically, and up to which doubt; NaN if by none."""
    auto, others = rows.status == AUTO, rows.status == REVIEW
    limits = rows.doubts[auto].max(axis=0, initial=-1.0)
    # Of the ranking that was used, none are within the limit but for what rounding does.
    each = zip((rows.doubts[others] <= limits).sum(axis=0), RANKINGS, limits, strict=True)
    known = [e for e in each if np.isfinite(e[2])]
    known = [e for e in known if e[1] == "theta" or model.evidence.chance is not None]
    _, ranking, limit = min(known, key=lambda e: e[0], default=(0, "theta", np.nan))
    return ranking, float(limit)


def _stand_ins(
    model: CodingModel, rows: CodedRows, part: str, n_labels: int
) -> tuple[LabelArray, LabelArray]:
    """Codes of the machine and of people for answers of the model like those of a part.

    There are none where codes were settled one by one, which leaves no doubt about the whole.
    """
    ranking, limit = _find_limit(model, rows)
    found, Y = model.evidence[model.tested], model.Y[model.tested]
    sure = found.doubt(ranking) <= limit
    like = (sure if part == AUTO else ~sure) & np.isfinite(limit) & (part in (AUTO, REVIEW))
    padding = ((0, 0), (0, n_labels - Y.shape[1]))
    return np.pad(found.Y[like], padding), np.pad(Y[like], padding)
