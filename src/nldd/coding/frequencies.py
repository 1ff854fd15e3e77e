"""Shares of codes in all answers of a coded table, corrected for the errors of the machine.

What people coded counts as it is. For what only the machine coded, a random part that people
checked tells how often it was wrong (:mod:`.frequency_estimates`), drawn by ``nldd audit`` or by
``nldd predict --random``. Answers that the machine was sure of and those that it left to people are
two parts, as it errs more in the latter. Where nothing of a part was checked, coded answers of the
model stand in, as predicted without themselves: those about which it was as sure.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nldd import __version__
from nldd._labels import indicator
from nldd._wording import quote_first
from nldd.coding.coded_answers import AUTO, BY_PEOPLE, PARTLY, REVIEW
from nldd.coding.coded_rows import CodedRows, add_decided, open_decided, read_rows
from nldd.coding.columns import LISTED
from nldd.coding.frequency_estimates import PartCounts, count_part, estimate_rest, points
from nldd.coding.guarantee import RANKINGS
from nldd.coding.model import CodingModel, order_codes
from nldd.coding.tables.cells import TableFormat
from nldd.coding.tables.reading import TableOptions
from nldd.coding.wording import percent_range
from nldd.exceptions import InputError
from nldd.present.page import Page, Section
from nldd.present.table import Table, TableEntry, tabulate, to_text
from nldd.present.text import count_noun, percent, visible, wrap

# Where the errors of a part are known from.
CHECKED, MODEL = "checked", "model"
PARTS = {
    AUTO: "coded automatically",
    REVIEW: "left to people, which nobody has coded yet",
    PARTLY: "coded in part, which nobody has completed yet",
}
MOST_CODES = 60
CITED = (
    "The share of each code is that in all answers of the table, had people coded them. It was "
    "estimated by double sampling (Tenenbein, 1970), separately for answers with and without the "
    "machine's code; the 95 % intervals are exact (mid-P) for the sample that people checked, and "
    "hold for each code by itself."
)
ASSUMED = (
    "Where no answer drawn at random was checked, coded answers that the model learned from stood "
    "in for it, each predicted without itself: it was assumed that the new ones are like these."
)
PUBLISH = (
    "For shares to publish, let people code answers that are drawn at random: nldd predict "
    "--random puts some into a review, nldd audit draws automatic ones. Give the tables that come "
    "back with --checked."
)


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

    @property
    def shown(self) -> str:
        """The code with its name, if it has one."""
        return f"{self.code}: {self.name}" if self.name and self.name != self.code else self.code


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

    def paragraphs(self) -> Iterator[str]:
        """How the errors of the machine in this part are known, and what that is worth."""
        what = f"{count_noun(self.n_rest, 'answer')} {PARTS.get(self.part, self.part)}"
        none = f"{what}: none drawn at random was checked"
        if self.source == CHECKED:
            like = count_noun(self.n_checked, "answer")
            yield f"{what}: corrected by {like} of that kind, drawn at random and coded by people."
        elif self.n_checked:
            like = f"{count_noun(self.n_checked, 'coded answer')} of the model"
            about = "about which it was as sure, each predicted without itself"
            yield f"{none}. Corrected as if they were like {like} {about}. That is an assumption."
        else:
            stand = "answers of the model cannot stand in for these. Nothing is corrected"
            wide = "all that is not known is in the interval: let people check some first"
            yield f"{none}, and {stand}, and {wide}."
        if self.n_open:
            drawn = f"{self.n_open:,} were drawn at random and are not coded yet"
            yield f"Of these, {drawn}. Code them all: those left for last may be the hard ones."
        if self.n_chosen:
            chosen = f"People coded {self.n_chosen:,} more of that kind, not drawn at random"
            harder = "the rest is harder than the correction knows: code all"
            yield f"{chosen}. If they took easy ones first, {harder}."


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
    format : TableFormat
        Of the coded table, so that what is written is like it.
    """

    codes: tuple[Frequency, ...]
    n_answers: int
    n_people: int
    n_empty: int
    basis: tuple[Basis, ...]
    notes: list[str] = field(default_factory=list)
    format: TableFormat | None = None

    def __str__(self) -> str:
        table = self.table()
        shares = to_text(table, most=MOST_CODES)
        return "\n\n".join([shares, wrap(table.notes), wrap(self.paragraphs())])

    def table(self) -> Table:
        """Make a table of the share of each code, the most frequent first."""
        return tabulate(
            "frequencies",
            f"Shares of the codes in all {self.n_answers:,} answers",
            self.codes,
            {
                "code": lambda f: visible(f.shown),
                "corrected": lambda f: TableEntry(
                    percent(f.share, 1), under=percent_range(f.low, f.high)
                ),
                "raw": lambda f: percent(f.raw, 1),
                "bias": lambda f: points(f.bias),
                "people": lambda f: f"{f.n_people:,}",
                "machine": lambda f: f"{f.n_machine:,}",
            },
            "Corrected: what people would have found, had they coded all answers of this table; "
            "its 95 % interval holds that in 95 of 100 such cases, for each code by itself.",
            "Raw: codes of people and machine counted together. Bias: how many percentage points "
            "that is too much. People, machine: answers that got the code from people, and from "
            "the machine alone.",
        )

    def paragraphs(self) -> Iterator[str]:
        """Whom the codes come from, and how the errors of the machine are known."""
        n_machine = self.n_answers - self.n_people
        yield (
            f"Of {count_noun(self.n_answers, 'answer')}, people coded {self.n_people:,}, which "
            f"count as they are; {n_machine:,} have codes of the machine alone."
        )
        if self.n_empty:
            yield f"{count_noun(self.n_empty, 'row')} without an answer: left out."
        for part in self.basis:
            yield from part.paragraphs()
        if self._assumes:
            yield PUBLISH

    @property
    def _assumes(self) -> bool:
        return any(part.source == MODEL for part in self.basis)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        record = asdict(replace(self, format=None))
        del record["format"]
        return record | {"codes": [asdict(f) | {"bias": f.bias} for f in self.codes]}

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

    def page(self, coded: str) -> Page:
        """A page with the shares in the table of that name."""
        people = percent(self.n_people / self.n_answers, 1) if self.n_answers else "-"
        cited = (CITED, *[ASSUMED] * self._assumes)
        return Page(
            f"Shares of the codes: {visible(coded)}",
            "How many of all answers carry each code, machine and people together, corrected for "
            "the errors of the machine.",
            (("answers", f"{self.n_answers:,}"), ("coded by people", people)),
            (
                Section("Shares", tuple(self.paragraphs()), (self.table(),)),
                Section("For the methods section of a paper", cited),
            ),
            f"Made by nldd {__version__}.",
        )


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
    coded = open_decided(model, path, options)
    table, rows = coded.table, read_rows(model, coded)
    notes = list(table.notes)
    # The sheet and the numbers are those of the coded table.
    how = replace(options, numbers=None, sheet=None)
    for other in checked if len(rows) else ():
        notes += add_decided(model, rows, table, open_decided(model, other, how))
    if not len(rows.drop_blank()):
        hint = "name the table that nldd predict wrote"
        raise InputError(f"{path.name} has no answers.", hint=hint)
    found = estimate_frequencies(model, rows)
    return replace(found, notes=[*notes, *found.notes], format=table.format)


def estimate_frequencies(model: CodingModel, rows: CodedRows) -> Frequencies:
    """Estimate the share of each code in answers that a model has coded, and people in part."""
    answers = rows.drop_blank()
    n, known = len(answers), answers.known
    given = frozenset().union(*answers.machine, *answers.people[known])
    new = order_codes([given - set(model.labels)], LISTED)
    labels = (*model.labels, *new)
    names = np.array(labels, dtype=object)
    machine, people = (
        indicator([c or () for c in codes], names) for codes in (answers.machine, answers.people)
    )
    parts = list(_parts(model, answers, machine, people))
    counts = [counts for _, counts in parts]
    totals = estimate_rest(counts) if parts else (0.0, 0.0, 0.0)
    by_people = people[known].sum(axis=0)
    by_machine = sum((part.rest_with for part in counts), np.zeros(len(labels), dtype=int))
    shares = [(by_people + total) / n for total in totals]
    columns = (by_people, by_machine, (by_people + by_machine) / n, *shares)
    called = {code: entry.name for code, entry in model.codebook.by_code.items()}
    each = zip(labels, *(values.tolist() for values in columns), strict=True)
    found = [Frequency(code, called.get(code, ""), *values) for code, *values in each]
    return Frequencies(
        tuple(sorted(found, key=lambda f: (-f.share, f.code))),
        n,
        int(known.sum()),
        len(rows) - n,
        tuple(basis for basis, _ in parts),
        [f"Codes that the model does not know: {quote_first(new)}."] * bool(new),
    )


def _parts(
    model: CodingModel, rows: CodedRows, machine: NDArray[np.int8], people: NDArray[np.int8]
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
    best, fewest = ("theta", np.nan if auto.any() else -1.0), others.sum() + 1
    for ranking, doubts in zip(RANKINGS, rows.doubts.T, strict=True):
        limit = float(doubts[auto].max(initial=-1.0))
        # Of the ranking that was used, none are within the limit but for what rounding does.
        n_within = (doubts[others] <= limit).sum()
        has_ranking = ranking == "theta" or model.evidence.chance is not None
        if has_ranking and np.isfinite(limit) and n_within < fewest:
            best, fewest = (ranking, limit), n_within
    return best


def _stand_ins(
    model: CodingModel, rows: CodedRows, part: str, n_labels: int
) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Codes of the machine and of people for answers of the model like those of a part.

    There are none where codes were settled one by one, which leaves no doubt about the whole.
    """
    ranking, limit = _find_limit(model, rows)
    found, Y = model.evidence[model.tested], model.Y[model.tested]
    sure = found.doubt(ranking) <= limit
    like = (sure if part == AUTO else ~sure) & np.isfinite(limit) & (part in (AUTO, REVIEW))
    padding = ((0, 0), (0, n_labels - Y.shape[1]))
    return np.pad(found.Y[like], padding), np.pad(Y[like], padding)
