"""How much a model may code automatically, and at which accuracy."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nldd.coding import guarantee, wording
from nldd.coding.answers import FloatArray
from nldd.coding.guarantee import USUAL, CodeSelection, GuaranteeTarget, Selection
from nldd.coding.model import TARGETS, CodingModel
from nldd.coding.predictions import PER_CODE
from nldd.coding.wording import exact_percent
from nldd.present.table import Table, TableEntry, tabulate, to_text
from nldd.present.text import percent, wrap

if TYPE_CHECKING:
    from nldd.coding.coded_answers import CodingOptions

# The surest answers of which the triage table has a line, in percent.
PERCENTS = (1, 2, 5, *range(10, 101, 10))


@dataclass(frozen=True)
class TriageRow:
    """Answers up to a doubt coded by machine, and `combined` with those that people code."""

    threshold: float
    n_auto: int
    share: float
    accuracy: float
    low: float
    high: float
    combined: float
    chosen: bool = False


@dataclass(frozen=True)
class TargetShare:
    """How many answers, and which share, may be coded automatically at a target accuracy."""

    target: float
    n_auto: int
    share: float
    chosen: bool = False
    n_answers: int = 0


@dataclass(frozen=True)
class Triage:
    """How much may be coded automatically at which accuracy; made by :func:`triage`.

    Attributes
    ----------
    rows : tuple of TriageRow
        From the surest answers to all: up to the doubt `threshold`, the machine codes `n_auto`
        answers, a `share` of all, with an `accuracy` between `low` and `high` (95 %). `combined` is
        the accuracy of all, if people code the rest; the row `chosen` is that of the selection.
    selection : Selection
        The threshold that holds the target.
    human_accuracy : float
        How right people are taken to be.
    codes : CodeSelection or None
        What may be settled code by code, if that was asked for.
    targets : tuple of TargetShare
        What other targets would allow: `target`, `n_auto`, `share`, and the one `chosen`. Each
        holds with the confidence by itself.
    earlier : Selection or None
        What an earlier fit may code, which stays in use as this one did not pass its test.

    Examples
    --------
    >>> from nldd.coding import Answers, Settings, fit_coding_model, triage
    >>> from nldd import load_survey
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in load_survey().rows if topics.issuperset(row[4].split(";"))][:100]
    >>> answers = Answers([row[1] for row in rows])
    >>> codes = [set(row[4].split(";")) for row in rows]
    >>> model = fit_coding_model(answers, codes, settings=Settings(n_folds=2))
    >>> [(line.target, line.n_auto) for line in triage(model).targets][:4]
    [(0.95, 0), (0.9, 0), (0.85, 66), (0.8, 73)]
    """

    rows: tuple[TriageRow, ...]
    selection: Selection
    human_accuracy: float = 1.0
    codes: CodeSelection | None = None
    targets: tuple[TargetShare, ...] = ()
    earlier: Selection | None = None

    def __str__(self) -> str:
        tables = (f"{to_text(table)}\n{wrap(table.notes)}" for table in self.tables() if table.rows)
        return wording.join_paragraphs(*tables, wrap(self.paragraphs()))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        found = self.selection
        return asdict(self) | {"selection": found.to_dict(), "measure": found.measure}

    def tables(self) -> tuple[Table, Table]:
        """What each target allows, and the lines from the surest answers to all."""
        rows = triage_table(self.rows, self.selection, self.human_accuracy)
        return targets_table(self.targets, self.selection), rows

    def paragraphs(self) -> tuple[str, ...]:
        """How much can be coded automatically at which accuracy, as a whole or code by code."""
        combined = next((row.combined for row in self.rows if row.chosen), None)
        return wording.fill_words("triaged", triage=self, combined=combined)


def targets_table(targets: Sequence[TargetShare], selection: Selection) -> Table:
    """How much can be coded automatically at which target, for people to choose from."""
    columns: dict[str, Any] = {
        "promised": lambda t: TableEntry(exact_percent(t.target), t.chosen, "chosen" * t.chosen),
        "auto": lambda t: TableEntry(percent(t.share, 1) if t.n_auto else "none", t.chosen),
        "of the tested answers": lambda t: TableEntry(f"{t.n_auto:,} of {t.n_answers:,}", t.chosen),
    }
    title = "How much can be coded automatically, by the accuracy that is promised"
    notes = wording.fill_words("targets_notes", found=selection, targets=targets)
    return tabulate("targets", title, targets, columns, *notes)


def triage_table(
    rows: Sequence[TriageRow], selection: Selection, human_accuracy: float = 1.0
) -> Table:
    """What is coded automatically up to which doubt, and how well; the chosen line is bold."""
    rank_by = selection.rank_by
    columns: dict[str, Any] = {
        wording.SURE[rank_by]: lambda r: TableEntry(
            wording.doubt_number(r.threshold, rank_by), r.chosen, "chosen" * r.chosen
        ),
        "auto": lambda r: TableEntry(percent(r.share, 1), r.chosen, f"{r.n_auto:,}"),
        "right": lambda r: TableEntry(
            percent(r.accuracy, 1), r.chosen, wording.percent_range(r.low, r.high)
        ),
        "combined": lambda r: TableEntry(percent(r.combined, 1), r.chosen),
    }
    about = {"found": selection, "rows": rows, "human_accuracy": human_accuracy}
    title = "Triage: the share of the machine and its accuracy"
    return tabulate("triage", title, rows, columns, *wording.fill_words("triage_notes", **about))


def triage(
    model: CodingModel, goal: GuaranteeTarget = USUAL, human_accuracy: float = 1.0
) -> Triage:
    """Tell how much a model may code automatically, and at which accuracy.

    Parameters
    ----------
    model : CodingModel
        Its answers that were drawn at random are looked at, each as predicted without itself.
    goal : GuaranteeTarget, optional
        The accuracy that automatic codes shall have, and how sure that is.
    human_accuracy : float
        How right people are, in what machine and people reach together.

    Returns
    -------
    Triage
        The table, and the threshold that holds the target.

    See Also
    --------
    selective_threshold : The test behind the threshold.

    Examples
    --------
    >>> from nldd.coding import Answers, GuaranteeTarget, Settings, fit_coding_model, triage
    >>> from nldd import load_survey
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in load_survey().rows if topics.issuperset(row[4].split(";"))][:100]
    >>> answers = Answers([row[1] for row in rows])
    >>> codes = [set(row[4].split(";")) for row in rows]
    >>> model = fit_coding_model(answers, codes, settings=Settings(n_folds=2))
    >>> found = triage(model, GuaranteeTarget(0.8))
    >>> found.selection.n_auto, round(found.selection.accuracy, 2)
    (73, 0.88)
    >>> [(row.n_auto, round(row.accuracy, 2)) for row in found.rows][-3:]
    [(70, 0.9), (73, 0.88), (77, 0.84)]
    """
    codes = None
    if goal.measure == PER_CODE:
        codes, goal = guarantee.select_codes(model, goal), goal._replace(measure="subset")
    tested, Y, selection = model.evidence[model.tested], model.Y[model.tested], model.select(goal)
    doubt, right = tested.doubt(selection.rank_by), tested.right(Y, goal.measure)
    rows = triage_rows(doubt, right, human_accuracy, selection.threshold)
    used, earlier = model.in_use(goal)
    more = (codes, target_shares(model, goal), earlier if used is not model else None)
    return Triage(rows, selection, human_accuracy, *more)


def target_shares(model: CodingModel, goal: GuaranteeTarget) -> tuple[TargetShare, ...]:
    """Automation rates that a model reaches at the usual targets and at `target`."""
    targets = sorted({*TARGETS[goal.measure], goal.target}, reverse=True)
    found = [model.in_use(goal._replace(target=target))[1] for target in targets]
    each = ((f.target, f.n_auto, f.share, f.target == goal.target, f.n_answers) for f in found)
    return tuple(TargetShare(*values) for values in each)


def triage_rows(
    doubt: FloatArray, right: FloatArray, human_accuracy: float = 1.0, chosen: float | None = None
) -> tuple[TriageRow, ...]:
    """A line for the surest 1, 2 and 5 %, each tenth of the answers, and the chosen threshold."""
    order = np.argsort(doubt, kind="stable")
    doubt, right = doubt[order], right[order]
    n = len(doubt)
    thresholds = {float(doubt[-(-percent * n // 100) - 1]) for percent in PERCENTS}
    if chosen is not None and chosen >= doubt[0]:
        thresholds.add(chosen)

    def row(threshold: float) -> TriageRow:
        k = int(np.searchsorted(doubt, threshold, side="right"))
        total, interval = float(right[:k].sum()), guarantee.accuracy_interval(right[:k])
        combined = (total + (n - k) * human_accuracy) / n
        chosen_here = threshold == chosen
        return TriageRow(threshold, k, k / n, total / k, *interval, combined, chosen_here)

    return tuple(map(row, sorted(thresholds)))


def apply_guarantee(
    model: CodingModel, goal: GuaranteeTarget, options: "CodingOptions"
) -> "tuple[CodingOptions, list[str]]":
    """The options that keep a guarantee, and what a person should know of it."""
    if goal.measure == PER_CODE:
        return options.apply(guarantee.select_codes(model, goal)), wording.drawn_notes(model)
    options, found = options.follow(model, goal)
    notes = wording.drawn_notes(model)
    if found.automates:
        return options, notes
    why = wording.fill_words("no_threshold", found=found, targets=target_shares(model, goal))
    return options, [wrap(why), *notes]
