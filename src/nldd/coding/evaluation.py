"""How good a model's codes are on answers that people have coded, and if its guarantee was met."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from nldd._labels import indicator
from nldd.coding import guarantee, wording
from nldd.coding.answers import (
    Answers,
    Coded,
    Decisions,
    FloatArray,
    LabelArray,
    settle_repeats,
    take,
)
from nldd.coding.automation import TargetShare, target_shares
from nldd.coding.calibration import Calibration, calibration_deciles
from nldd.coding.code_slips import find_new_slips, first_rows, list_slips, sep_options
from nldd.coding.codebook import Codebook
from nldd.coding.columns import CodeFormat
from nldd.coding.decisions import read_coded
from nldd.coding.guarantee import USUAL, GuaranteeTarget, Selection, accuracy_interval
from nldd.coding.model import CodingModel
from nldd.coding.predictions import Predictions
from nldd.coding.tables.reading import TableOptions
from nldd.coding.wording import fill_words, join_paragraphs, percent_range
from nldd.exceptions import InputError
from nldd.metrics._measures import MEASURES, label_counts, weighted_values
from nldd.present.table import Table, TableEntry, tabulate, to_text
from nldd.present.text import count_noun, percent, visible, wrap

MOST_WORST = 10
N_CONFUSIONS = 20
N_DRAWS = 1000
DRAWS_AT_ONCE = 50
SHARES_OF_ANSWERS = ("subset_accuracy", "zero_one_loss")
FEW_MEASURES = ("subset_accuracy", "hamming_loss", "f_measure", "micro_f")
Names = tuple[str, ...]


@dataclass(frozen=True)
class LabelScore:
    """How well one code is predicted; answers that carry it, that are predicted to, and both."""

    name: str
    n_true: int
    n_pred: int
    n_both: int
    precision: float
    recall: float
    f: float


@dataclass(frozen=True)
class Confusion:
    """A code that was predicted instead of another one, and how often."""

    missed: str
    predicted: str
    count: int


@dataclass(frozen=True)
class AnswerScore:
    """A measure of :data:`nldd.metrics.MEASURES` with its value and a 95 % interval."""

    key: str
    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How good predictions are, against the codes that people gave.

    Made by :func:`evaluate_table` and :func:`evaluate_evidence`.

    Attributes
    ----------
    labels : tuple of str
        The codes, those that the model knows first.
    n_known : int
        So many labels the model knows.
    Y : ndarray of shape (n_answers, n_labels)
        The codes of people as 0 and 1.
    predictions : Predictions
        What the model said.
    scores : tuple of AnswerScore
        Every measure of :data:`nldd.metrics.MEASURES` by `key` and `name`, with its `value` and the
        limits `low` and `high` of a 95 % interval.
    calibration : Calibration
        Whether theta is the share of wrong labels that it says.
    by_label : tuple of LabelScore
        For each code `name`: answers that carry it (`n_true`), that are predicted to (`n_pred`) and
        both (`n_both`), with `precision`, `recall` and `f`; the worst first.
    confusions : tuple of Confusion
        Codes that were `missed` where another one was `predicted`, and the `count`; the most
        frequent first.
    answers : Answers
        What was predicted.
    codebook : Codebook
        What codes are called.
    n_rows, n_set_aside : int
        Rows of the table, and those of them without codes.
    notes : sequence of str
        What a person should know about the table.
    check : GuaranteeCheck or None
        If the guarantee of the model was met.

    Examples
    --------
    >>> from nldd.coding import Answers, Settings, fit_coding_model
    >>> from nldd.coding.evaluation import evaluate_evidence
    >>> from nldd import load_survey
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in load_survey().rows if topics.issuperset(row[4].split(";"))][:100]
    >>> answers = Answers([row[1] for row in rows])
    >>> codes = [set(row[4].split(";")) for row in rows]
    >>> model = fit_coding_model(answers, codes, settings=Settings(n_folds=2))
    >>> found = evaluate_evidence(model)
    >>> round(found.value("subset_accuracy"), 2)
    0.84
    >>> [(score.name, score.n_true, score.n_pred) for score in found.by_label][0]
    ('safety', 21, 13)
    """

    labels: Names
    n_known: int
    Y: LabelArray
    predictions: Predictions
    scores: tuple[AnswerScore, ...]
    calibration: Calibration
    by_label: tuple[LabelScore, ...]
    confusions: tuple[Confusion, ...]
    answers: Answers
    codebook: Codebook = Codebook()
    n_rows: int = 0
    n_set_aside: int = 0
    notes: Sequence[str] = ()
    check: "GuaranteeCheck | None" = None

    def __str__(self) -> str:
        return join_paragraphs(
            to_text(wording.counts_table({"here": self.counts()})),
            wrap(self.unknown_words()),
            to_text(measures_table(self.scores, digits=4), columns=(0, 1)),
            wrap(self.check.paragraphs() if self.check else ()),
            f"{to_text(calibration_table(self.calibration))}\n"
            f"{wrap([calibration_words(self.calibration)])}",
            to_text(self.labels_table(), most=MOST_WORST),
            to_text(self.confusions_table(), most=MOST_WORST) if self.confusions else "",
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "rows": self.n_rows,
            "coded": len(self.Y),
            "set_aside": self.n_set_aside,
            "notes": list(self.notes),
            "unknown_labels": list(self.unknown_labels),
            "scores": [asdict(score) for score in self.scores],
            "promise": self.check and self.check.to_dict(),
            "calibration": asdict(self.calibration),
            "by_label": [asdict(score) for score in self.by_label],
            "confusions": [asdict(pair) for pair in self.confusions],
        }

    def right(self, measure: str = "subset") -> FloatArray:
        """How right each prediction is, as a whole or by its share of labels."""
        return self.predictions.right(self.Y, measure)

    def value(self, key: str) -> float:
        """The value of a measure."""
        return next(score.value for score in self.scores if score.key == key)

    @property
    def shown(self) -> Names:
        """The codes with their names, as reports show them."""
        return tuple(map(self.codebook.shown, self.labels))

    @property
    def unknown_labels(self) -> Names:
        """Codes that the model cannot predict."""
        return self.labels[self.n_known :]

    def unknown_words(self) -> list[str]:
        """A sentence on codes that people gave and the model cannot give, if there are any."""
        names = wording.name_list(self.shown[self.n_known :])
        unknown = f"Codes that the model does not know, so that it cannot give them: {names}."
        return [f"{unknown} They count as missed."] if names else []

    def counts(self, n_never_seen: int | None = None) -> wording.CodeCounts:
        """Counts of the answers and their codes."""
        return wording.count_codes(self.shown, self.Y, self.n_rows, self.n_set_aside, n_never_seen)

    def labels_table(self) -> Table:
        """How well each code is predicted, from the worst to the best."""
        remark = dict.fromkeys(self.unknown_labels, "unknown to the model")
        shown = self.codebook.shown
        columns: dict[str, Any] = {
            "code": lambda s: TableEntry(visible(shown(s.name)), under=remark.get(s.name, "")),
            "people": lambda s: f"{s.n_true:,}",
            "machine": lambda s: f"{s.n_pred:,}",
            "both": lambda s: f"{s.n_both:,}",
            "precision": lambda s: f"{s.precision:.3f}" if s.n_pred else "-",
            "recall": lambda s: f"{s.recall:.3f}" if s.n_true else "-",
            "F": lambda s: f"{s.f:.3f}" if s.n_true + s.n_pred else "-",
        }
        # A code that nobody gave was not predicted badly: it goes to the end.
        scores = sorted(self.by_label, key=lambda s: s.n_true + s.n_pred == 0)
        title, notes = "Codes, those that are predicted worst first", fill_words("labels_notes")
        return tabulate("labels", title, scores, columns, *notes)

    def confusions_table(self) -> Table:
        """Codes that the machine gave in place of others."""
        shown = self.codebook.shown
        columns: dict[str, Any] = {
            "people gave": lambda pair: visible(shown(pair.missed)),
            "the machine gave instead": lambda pair: visible(shown(pair.predicted)),
            "answers": lambda pair: f"{pair.count:,}",
        }
        title = "Codes given in place of others, the most frequent first"
        return tabulate("confusions", title, self.confusions, columns)


@dataclass(frozen=True)
class GuaranteeCheck:
    """A promise of a model beside what new answers showed; made by :func:`check_guarantee`.

    Attributes
    ----------
    selection : Selection
        The promise.
    n_answers, n_auto : int
        New answers, and those that the threshold lets through.
    accuracy, low, high : float or None
        Of those that it lets through, with an exact 95 % interval; None if it lets none.
    targets : tuple of TargetShare
        What each target would allow, if the model has no threshold.

    Examples
    --------
    >>> from nldd.coding.evaluation import GuaranteeCheck
    >>> from nldd.coding.guarantee import Selection
    >>> promise = Selection(0.9, 0.9, 0.12, 400, 150, 0.95)
    >>> kept = GuaranteeCheck(promise, 200, 80, 0.95, low=0.877, high=0.986)
    >>> kept.share, kept.verdict
    (0.4, 'cannot tell yet')
    """

    selection: Selection
    n_answers: int
    n_auto: int
    accuracy: float | None = None
    low: float | None = None
    high: float | None = None
    targets: tuple[TargetShare, ...] = ()

    @property
    def share(self) -> float:
        """Share of the new answers that is coded automatically."""
        return self.n_auto / self.n_answers

    @property
    def verdict(self) -> str | None:
        """If the guarantee was met, as in :class:`nldd.coding.audit.Audit`."""
        if self.low is None or self.high is None:
            return None
        return guarantee.judge_interval(self.low, self.high, self.selection.target)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        found = self.selection
        return asdict(self) | {"selection": found.to_dict(), "measure": found.measure}

    def paragraphs(self) -> tuple[str, ...]:
        """Say if the guarantee was met on the evaluated answers."""
        return fill_words("compared", check=self)


def evaluate_table(
    model: CodingModel,
    path: Path,
    options: TableOptions = TableOptions(),
    listing: CodeFormat = CodeFormat(),
    goal: GuaranteeTarget = USUAL,
) -> Evaluation:
    """Evaluate a model on a table that people have coded.

    Parameters
    ----------
    model : CodingModel
        It should not have learned from these answers.
    path : Path
        The table, with the columns of that which the model was fitted to.
    options : TableOptions, optional
        How the table is opened.
    listing : CodeFormat, optional
        How the table lists its codes, if otherwise than that of the model.
    goal : GuaranteeTarget, optional
        The guarantee that is checked.

    Returns
    -------
    Evaluation
        All measures with intervals, which codes are the worst, and if the guarantee was met.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding import ColumnSpec, Settings, evaluate_table, fit_table
    >>> from nldd import load_survey
    >>> folder, survey = TemporaryDirectory(), load_survey()
    >>> table, model = Path(folder.name, "answers.csv"), Path(folder.name, "model.nldd")
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in survey.rows if topics.issuperset(row[4].split(";"))]
    >>> survey.write(table, rows[:80])
    >>> how = ColumnSpec(text=("answer",), labels="codes"), Settings(n_folds=2)
    >>> step = fit_table(table, model, *how)
    >>> second = Path(folder.name, "second.csv")
    >>> survey.write(second, rows[100:])
    >>> found = evaluate_table(step.model, second)
    >>> len(found.answers), round(found.value("f_measure"), 2)
    (83, 0.89)
    >>> folder.cleanup()
    """
    columns = replace(model.columns, codes=model.columns.codes.listed_as(listing))
    how = {"known": model.labels, "codebook": model.codebook}
    answers, decisions = read_coded(path, columns, options, **how)
    known = (*model.labels, *model.codebook.by_code)
    found = find_new_slips(first_rows(answers, decisions), known, columns.codes)
    if slips := [slip for slip in found if slip.meant]:
        lists = sep_options(slips, columns.codes.separators)
        sep = f", or use {lists}" if any(slip.separator for slip in slips) else ""
        decisions.notes.append(f"These codes may be slips; correct them{sep}:{list_slips(slips)}")
    return evaluate(model, answers, decisions, goal)


def evaluate(
    model: CodingModel, answers: Answers, decisions: Decisions, goal: GuaranteeTarget = USUAL
) -> Evaluation:
    """Evaluate a model on coded answers; those that it has learned from are left out."""
    n_rows, n_set_aside = len(decisions), len(decisions) - len(decisions.decided)
    answers, decisions = take((answers, decisions), decisions.decided)
    codes = [frozenset(model.codebook.translate(c)) for c in decisions.given]
    chosen = settle_repeats(answers, replace(decisions, codes=[*codes]))
    answers, decisions = drop_training_answers(model, *chosen)
    codes = decisions.given
    labels = (*model.labels, *sorted(frozenset().union(*codes) - set(model.labels)))
    Y = indicator(codes, np.array(labels, dtype=object))
    found = _evaluate(Y, model.code(answers), labels, answers, model.codebook)
    check = check_guarantee(model, found, goal)
    read: dict[str, Any] = {"n_rows": n_rows, "n_set_aside": n_set_aside, "notes": decisions.notes}
    return replace(found, check=check, **read)


def drop_training_answers(model: CodingModel, answers: Answers, decisions: Decisions) -> Coded:
    """One answer of each respondent that the model has not learned from."""
    own, same, n = set(model.answers.ids) - {""}, model.places.keys(), len(answers)
    learned = decisions.sha256 in {event.sha256 for event in model.history}
    each = enumerate(zip(answers.ids, answers.keys, strict=True))
    new = [i for i, (who, keys) in each if not (learned or who in own) and same.isdisjoint(keys)]
    if not new:
        message = f"{decisions.source}: the model was trained on all {n:,} coded answers."
        hint = "nldd triage shows its accuracy by cross-validation; or give other answers"
        raise InputError(message, hint=hint)
    out = f"{count_noun(n - len(new), 'coded answer')} left out: the model knows the respondents."
    coded = take((answers, decisions), new, *[out] * (len(new) < n))
    if not any(coded[0].ids):
        return coded
    first = coded[0].draw_one_per_respondent(np.arange(len(new)), 0)
    n_out = count_noun(len(new) - len(first), "coded answer")
    several = f"{n_out}: of respondents with several, of which one is tested."
    return take(coded, first.tolist(), *[several] * (len(first) < len(new)))


def evaluate_evidence(model: CodingModel) -> Evaluation:
    """Evaluate a model by its predictions of its own answers, each without itself.

    Parameters
    ----------
    model : CodingModel
        Only answers that were drawn at random count.

    Returns
    -------
    Evaluation
        All measures with intervals, and which codes are the worst.

    Examples
    --------
    >>> from nldd.coding import Answers, Settings, fit_coding_model
    >>> from nldd.coding.evaluation import evaluate_evidence
    >>> from nldd import load_survey
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in load_survey().rows if topics.issuperset(row[4].split(";"))][:100]
    >>> answers = Answers([row[1] for row in rows])
    >>> codes = [set(row[4].split(";")) for row in rows]
    >>> model = fit_coding_model(answers, codes, settings=Settings(n_folds=2))
    >>> found = evaluate_evidence(model)
    >>> loss = found.scores[0]
    >>> loss.name, round(loss.value, 3), loss.low < loss.value < loss.high
    ('Hamming loss', 0.104, True)
    """
    tested = model.tested
    found, answers = model.evidence[tested], model.answers[tested]
    return _evaluate(model.Y[tested], found, model.labels, answers, model.codebook)


def _evaluate(
    Y: LabelArray, found: Predictions, labels: Names, answers: Answers, codebook: Codebook
) -> Evaluation:
    n_known = found.Y.shape[1]
    Y_pred = np.pad(found.Y, ((0, 0), (0, len(labels) - n_known)))
    # Theta speaks about the labels that the model knows.
    calibration = calibration_deciles(found.theta, found.n_wrong(Y[:, :n_known]), n_known)
    by_label, confusions = label_scores(Y, Y_pred, labels), count_confusions(Y, Y_pred, labels)
    measured = (score_answers(Y, Y_pred), calibration, by_label, confusions)
    return Evaluation(labels, n_known, Y, found, *measured, answers, codebook)


def score_answers(Y: LabelArray, Y_pred: LabelArray) -> tuple[AnswerScore, ...]:
    """Every measure of nldd with a 95 % interval, from answers drawn again with replacement.

    Shares of the answers have an exact one, and measures that no drawing changes take it too.
    """
    rng, n = np.random.default_rng(0), len(Y)
    values, even = weighted_values(Y, Y_pred, np.ones((1, n))), np.full(n, 1 / n)
    drawn = (rng.multinomial(n, even, DRAWS_AT_ONCE) for _ in range(N_DRAWS // DRAWS_AT_ONCE))
    draws = [weighted_values(Y, Y_pred, weights.astype(float)) for weights in drawn]
    exact = accuracy_interval((Y_pred == Y).all(axis=1))
    scores = []
    for key, measure in MEASURES.items():
        low, high = np.percentile(np.concatenate([found[key] for found in draws]), [2.5, 97.5])
        if key in SHARES_OF_ANSWERS or low == high:
            low, high = exact if measure.greater_is_better else (1 - exact[1], 1 - exact[0])
        limits = float(values[key][0]), float(low), float(high)
        scores.append(AnswerScore(key, measure.name, *limits))
    return tuple(scores)


def label_scores(Y: LabelArray, Y_pred: LabelArray, labels: Names) -> tuple[LabelScore, ...]:
    """Precision, recall and F of each label, from the smallest F to the largest."""
    counts = label_counts(Y, Y_pred)
    ratios = (counts.precision(0.0), counts.recall(0.0), counts.f(0.0))
    columns = (column.tolist() for column in (counts.true, counts.pred, counts.both, *ratios))
    scores = map(LabelScore, labels, *columns)
    return tuple(sorted(scores, key=lambda score: (score.f, -score.n_true, score.name)))


def count_confusions(Y: LabelArray, Y_pred: LabelArray, labels: Names) -> tuple[Confusion, ...]:
    """Pairs of a label that was missed and one that was predicted wrongly in the same answer."""
    # Floating point: whole numbers are exact in it, and products of matrices are fast.
    counts = (Y_pred < Y).T.astype(float) @ (Y_pred > Y).astype(float)
    pairs = [Confusion(labels[i], labels[j], int(counts[i, j])) for i, j in np.argwhere(counts)]
    pairs.sort(key=lambda pair: (-pair.count, pair.missed, pair.predicted))
    return tuple(pairs[:N_CONFUSIONS])


def check_guarantee(
    model: CodingModel, quality: Evaluation, goal: GuaranteeTarget = USUAL
) -> GuaranteeCheck:
    """Compare a model's promise with what an evaluation found.

    Parameters
    ----------
    model : CodingModel
        Which gives the promise.
    quality : Evaluation
        Of other answers, from :func:`evaluate_table`.
    goal : GuaranteeTarget, optional
        What is promised, see :func:`triage`.

    Returns
    -------
    GuaranteeCheck
        How many answers the threshold lets through, and their accuracy.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding import ColumnSpec, GuaranteeTarget, Settings, evaluate_table, fit_table
    >>> from nldd.coding.evaluation import check_guarantee
    >>> from nldd import load_survey
    >>> folder, survey = TemporaryDirectory(), load_survey()
    >>> table, model = Path(folder.name, "answers.csv"), Path(folder.name, "model.nldd")
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in survey.rows if topics.issuperset(row[4].split(";"))]
    >>> survey.write(table, rows[:80])
    >>> how = ColumnSpec(text=("answer",), labels="codes"), Settings(n_folds=2)
    >>> step = fit_table(table, model, *how)
    >>> second = Path(folder.name, "second.csv")
    >>> survey.write(second, rows[100:])
    >>> found = evaluate_table(step.model, second)
    >>> kept = check_guarantee(step.model, found, GuaranteeTarget(0.8))
    >>> kept.n_answers, kept.n_auto, round(kept.accuracy, 2)
    (83, 74, 0.95)
    >>> folder.cleanup()
    """
    selection, right = model.select(goal), quality.right(goal.measure)
    new, again = [-1.0 if limit is None else limit for limit in selection.limits]
    limits = np.where(model.knows_words(quality.answers), again, new)
    auto = right[quality.predictions.doubt(selection.rank_by) <= limits]
    accuracy = low = high = None
    if len(auto):
        accuracy, (low, high) = float(auto.mean()), accuracy_interval(auto)
    allowed = () if selection.limit is not None else target_shares(model, goal)
    return GuaranteeCheck(selection, len(right), len(auto), accuracy, low, high, allowed)


def measures_table(scores: Iterable[AnswerScore], digits: int = 3) -> Table:
    """Measures with their intervals and meanings."""
    columns: dict[str, Any] = {
        "measure": lambda s: TableEntry(s.name, under=MEASURES[s.key].direction),
        "value": lambda s: TableEntry(
            f"{s.value:.{digits}f}", under=f"{s.low:.{digits}f} to {s.high:.{digits}f}"
        ),
        "what it is": lambda s: "".join(fill_words("meaning", key=s.key)),
    }
    title, notes = "Measures, with their 95 % intervals", fill_words("measures_notes")
    return tabulate("measures", title, scores, columns, *notes)


def measures_tables(scores: Sequence[AnswerScore]) -> tuple[Table, Table]:
    """The few measures that most people need, and the others folded away."""
    few = measures_table(score for score in scores if score.key in FEW_MEASURES)
    more = measures_table(score for score in scores if score.key not in FEW_MEASURES)
    title = "All other measures"
    return few, replace(more, key="more-measures", title=title, notes=(), folded=True)


def calibration_table(found: Calibration) -> Table:
    """Groups of answers of similar theta, with the wrong labels expected and observed."""
    columns: dict[str, Any] = {
        "expected": lambda b: TableEntry(percent(b[0], 2), under=count_noun(b[2], "answer")),
        "observed": lambda b: TableEntry(percent(b[1], 2), under=percent_range(b[3], b[4], 2)),
        "agree": lambda b: "yes" if b[3] <= b[0] <= b[4] else "no",
    }
    title = "Wrong labels that theta expects, and those observed with 95 % intervals"
    bins = zip(*(column.tolist() for column in astuple(found)), strict=True)
    return tabulate("calibration", title, bins, columns, *fill_words("calibration_notes"))


def calibration_words(found: Calibration) -> str:
    """Say if theta is calibrated."""
    from scipy.stats import binom

    n_more = int((found.expected < found.lower).sum())
    n_fewer = int((found.expected > found.upper).sum())
    n, means = len(found.counts), np.average(astuple(found)[:2], axis=1, weights=found.counts)
    # Of a calibrated theta, fewer intervals than that hold it in less than one of twenty cases.
    is_calibrated = n - n_more - n_fewer >= binom.ppf(0.05, n, 0.95)
    shares = dict(zip(("expected", "observed"), means.tolist(), strict=True))
    about = {"is_calibrated": is_calibrated, "n_fewer": n_fewer, "n_more": n_more, **shares}
    return " ".join(fill_words("theta", found=found, **about))
