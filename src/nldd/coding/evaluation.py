"""How good a model's codes are on answers that people have coded, and whether its promise held."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nldd._labels import indicator
from nldd.coding.answers import Answers, Decisions, draw_one_per_group, respondents
from nldd.coding.calibration import Calibration, calibration_deciles
from nldd.coding.code_slips import find_new_slips, first_rows, list_slips, sep_options
from nldd.coding.codebook import Codebook
from nldd.coding.columns import CodeFormat
from nldd.coding.decisions import read_coded
from nldd.coding.guarantee import CodeSelection, GuaranteeTarget, select_codes
from nldd.coding.model import TARGETS, CodingModel
from nldd.coding.predictions import PER_CODE, Predictions
from nldd.coding.selective import Selection, accuracy_interval
from nldd.coding.tables.reading import TableOptions
from nldd.coding.training_set import Coded, given_codes, settle_repeats, take
from nldd.exceptions import InputError
from nldd.metrics._counts import label_counts, weighted_values
from nldd.metrics._measures import MEASURES
from nldd.present.text import count_noun

N_CONFUSIONS = 20
N_DRAWS = 1000
DRAWS_AT_ONCE = 50
# The surest answers of which the triage table has a line, in percent.
PERCENTS = (1, 2, 5, *range(10, 101, 10))
SHARES_OF_ANSWERS = ("subset_accuracy", "zero_one_loss")

LabelArray = NDArray[np.int8]
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


@dataclass(frozen=True)
class ScoreSummary:
    """Counts of coded answers: by code, codes an answer, and combinations (some seen once)."""

    labels: dict[str, int]
    cardinality: float
    n_labelsets: int
    n_seen_once: int
    n_without_code: int


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
    repeated : ndarray of bool of shape (n_answers,)
        Answers whose words stand in the training data.

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
    >>> {score.key: round(score.value, 2) for score in found.scores}["subset_accuracy"]
    0.87
    >>> [(score.name, score.n_true, score.n_pred) for score in found.by_label][0]
    ('safety', 21, 14)
    """

    labels: Names
    n_known: int
    Y: LabelArray
    predictions: Predictions
    scores: tuple[AnswerScore, ...]
    calibration: Calibration
    by_label: tuple[LabelScore, ...]
    confusions: tuple[Confusion, ...]
    repeated: NDArray[np.bool_] | bool = False

    def right(self, measure: str = "subset") -> NDArray[np.float64]:
        """How right each prediction is, as a whole or by its share of labels."""
        return self.predictions.right(self.Y, measure)

    def named(self, codebook: Codebook) -> "Evaluation":
        """The same with the names of the codes, as reports show them."""
        name = codebook.shown
        return replace(
            self,
            labels=tuple(map(name, self.labels)),
            by_label=tuple(replace(score, name=name(score.name)) for score in self.by_label),
            confusions=tuple(
                replace(pair, missed=name(pair.missed), predicted=name(pair.predicted))
                for pair in self.confusions
            ),
        )

    @property
    def unknown_labels(self) -> tuple[str, ...]:
        """Codes that the model cannot predict."""
        return self.labels[self.n_known :]


@dataclass(frozen=True)
class GuaranteeCheck:
    """A promise of a model beside what new answers showed; made by :func:`check_guarantee`.

    Attributes
    ----------
    selection : Selection
        The promise.
    measure : {"subset", "hamming"}
        What it is about.
    n_answers, n_auto : int
        New answers, and those that the threshold lets through.
    accuracy, low, high : float or None
        Of those that it lets through, with an exact 95 % interval; None if it lets none.
    targets : tuple of TargetShare
        What each target would allow, if the model has no threshold.

    Examples
    --------
    >>> from nldd.coding.evaluation import GuaranteeCheck
    >>> from nldd.coding.selective import Selection
    >>> promise = Selection(0.9, 0.9, 0.12, 400, 150, 0.95)
    >>> kept = GuaranteeCheck(promise, "subset", 200, 80, 0.95, low=0.877, high=0.986)
    >>> kept.share, kept.low < promise.target < kept.high
    (0.4, True)
    """

    selection: Selection
    measure: str
    n_answers: int
    n_auto: int
    accuracy: float | None
    low: float | None
    high: float | None
    targets: "tuple[TargetShare, ...]" = ()

    @property
    def share(self) -> float:
        """Share of the new answers that is coded automatically."""
        return self.n_auto / self.n_answers


def evaluate_table(
    model: CodingModel,
    path: Path,
    options: TableOptions = TableOptions(),
    listing: CodeFormat = CodeFormat(),
) -> tuple[Evaluation, "EvaluatedAnswers"]:
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

    Returns
    -------
    evaluation : Evaluation
        All measures with intervals, and which codes are the worst.
    table : CodedAnswers
        The answers that were read; its `notes` say what a person should know.

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
    >>> found, read = evaluate_table(step.model, second)
    >>> len(read.codes), {score.key: round(score.value, 2) for score in found.scores}["f_measure"]
    (83, 0.89)
    >>> folder.cleanup()
    """
    columns = replace(model.columns, codes=model.columns.codes.listed_as(listing))
    how = {"known": model.labels, "codebook": model.codebook}
    answers, decisions = read_coded(path, columns, options, **how)
    known, rows = (
        (*model.labels, *model.codebook.by_code),
        [answers.rows[i] for i in decisions.decided],
    )
    found = find_new_slips(first_rows(given_codes(decisions), rows), known, columns.codes)
    if slips := [slip for slip in found if slip.meant]:
        lists = sep_options(slips, columns.codes.separators)
        sep = f", or use {lists}" if any(slip.separator for slip in slips) else ""
        decisions.notes.append(f"These codes may be slips; correct them{sep}:{list_slips(slips)}")
    return evaluate(model, answers, decisions)


@dataclass(frozen=True, eq=False)
class EvaluatedAnswers:
    """Coded answers on which a model is evaluated: those of a table that it has not learned from.

    `n_rows` are all rows of the table, and `n_set_aside` those without codes.
    """

    answers: Answers
    decisions: Decisions
    n_rows: int
    n_set_aside: int

    @property
    def codes(self) -> list[frozenset[str]]:
        """The codes that people gave."""
        return given_codes(self.decisions)

    @property
    def n_coded(self) -> int:
        """Answers on which the model is evaluated."""
        return len(self.answers)

    @property
    def notes(self) -> list[str]:
        """What a person should know about the table."""
        return self.decisions.notes


def evaluate(
    model: CodingModel, answers: Answers, decisions: Decisions
) -> tuple[Evaluation, EvaluatedAnswers]:
    """Evaluate a model on coded answers; those that it has learned from are left out."""
    n_rows, n_set_aside = len(decisions), len(decisions) - len(decisions.decided)
    answers, decisions = take((answers, decisions), decisions.decided)
    codes = [frozenset(model.codebook.translate(c)) for c in given_codes(decisions)]
    chosen = settle_repeats(answers, replace(decisions, codes=[*codes]))
    answers, decisions = drop_training_answers(model, *chosen)
    codes = given_codes(decisions)
    labels = (*model.labels, *sorted(frozenset().union(*codes) - set(model.labels)))
    Y = indicator(codes, np.array(labels, dtype=object))
    found = _evaluate(Y, model.code(answers), labels)
    found = replace(found, repeated=model.knows_words(answers))
    return found, EvaluatedAnswers(answers, decisions, n_rows, n_set_aside)


def drop_training_answers(model: CodingModel, answers: Answers, decisions: Decisions) -> Coded:
    """One answer of each respondent that the model has not learned from."""
    own, same, n = set(model.answers.ids) - {""}, model.places, len(answers)
    learned = decisions.sha256 in {event.sha256 for event in model.history}
    each = enumerate(zip(answers.ids, answers.keys, strict=True))
    new = [
        i for i, (who, keys) in each if not (learned or who in own or any(k in same for k in keys))
    ]
    if not new:
        message = f"{decisions.source}: the model was trained on all {n:,} coded answers."
        hint = "nldd triage shows its accuracy by cross-validation; or give other answers"
        raise InputError(message, hint=hint)
    out = (
        f"{count_noun(n - len(new), 'coded answer')}: of respondents that the model was trained on"
    )
    coded = take((answers, decisions), new, *[f"{out}; left out."] * (len(new) < n))
    if not any(coded[0].ids):
        return coded
    first = draw_one_per_group(respondents(coded[0]), np.arange(len(new)), 0)
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
    ('Hamming loss', 0.087, True)
    """
    return _evaluate(model.Y[model.tested], model.evidence[model.tested], model.labels)


def _evaluate(Y: LabelArray, found: Predictions, labels: Names) -> Evaluation:
    n_known = found.Y.shape[1]
    Y_pred = np.pad(found.Y, ((0, 0), (0, len(labels) - n_known)))
    # Theta speaks about the labels that the model knows.
    calibration = calibration_deciles(found.theta, found.n_wrong(Y[:, :n_known]), n_known)
    scores, by_label = score_answers(Y, Y_pred), label_scores(Y, Y_pred, labels)
    confusions = count_confusions(Y, Y_pred, labels)
    return Evaluation(labels, n_known, Y, found, scores, calibration, by_label, confusions)


def score_answers(
    Y: LabelArray, Y_pred: LabelArray, random_state: int = 0
) -> tuple[AnswerScore, ...]:
    """Every measure of nldd with a 95 % interval, from answers drawn again with replacement.

    Shares of the answers have an exact one, and measures that no drawing changes take it too.
    """
    rng, n = np.random.default_rng(random_state), len(Y)
    values = weighted_values(Y, Y_pred, np.ones((1, n)))
    sizes = [min(DRAWS_AT_ONCE, N_DRAWS - start) for start in range(0, N_DRAWS, DRAWS_AT_ONCE)]
    weights = (rng.multinomial(n, np.full(n, 1 / n), size=size).astype(float) for size in sizes)
    draws = [weighted_values(Y, Y_pred, some) for some in weights]
    exact = accuracy_interval((Y_pred == Y).all(axis=1))
    scores = []
    for key, measure in MEASURES.items():
        low, high = np.percentile(np.concatenate([drawn[key] for drawn in draws]), [2.5, 97.5])
        if key in SHARES_OF_ANSWERS or low == high:
            low, high = exact if measure.greater_is_better else (1 - exact[1], 1 - exact[0])
        scores.append(
            AnswerScore(key, measure.name, float(values[key][0]), float(low), float(high))
        )
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
    order = sorted(pairs, key=lambda pair: (-pair.count, pair.missed, pair.predicted))
    return tuple(order[:N_CONFUSIONS])


def check_guarantee(
    model: CodingModel,
    quality: Evaluation,
    target: float = 0.9,
    confidence: float = 0.9,
    measure: str = "subset",
    rank_by: str = "chance",
) -> GuaranteeCheck:
    """Compare a model's promise with what an evaluation found.

    Parameters
    ----------
    model : CodingModel
        Which gives the promise.
    quality : Evaluation
        Of other answers, from :func:`evaluate_table`.
    target, confidence : float in (0, 1)
        The promise, see :func:`triage`.
    measure : {"subset", "hamming"}
        Whether an answer is right as a whole, or by its share of labels.
    rank_by : {"chance", "theta"}
        What answers are ranked by.

    Returns
    -------
    GuaranteeCheck
        How many answers the threshold lets through, and their accuracy.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding import ColumnSpec, Settings, evaluate_table, fit_table
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
    >>> kept = check_guarantee(step.model, evaluate_table(step.model, second)[0], target=0.8)
    >>> kept.n_answers, kept.n_auto, round(kept.accuracy, 2)
    (83, 73, 0.95)
    >>> folder.cleanup()
    """
    promise = (target, confidence, measure, rank_by)
    selection = model.select(GuaranteeTarget(*promise))
    n, right = len(quality.Y), quality.right(measure)
    limits = [-1.0 if limit is None else limit for limit in selection.limits]
    doubt = quality.predictions.doubt(selection.rank_by)
    auto = right[doubt <= np.where(quality.repeated, limits[1], limits[0])]
    accuracy = (float(auto.mean()), *accuracy_interval(auto)) if len(auto) else (None, None, None)
    allowed = () if selection.limit is not None else target_shares(model, *promise)
    return replace(GuaranteeCheck(selection, measure, n, len(auto), *accuracy), targets=allowed)


def summarise(labels: Sequence[str], Y: LabelArray) -> ScoreSummary:
    """Counts of answers that carry the codes `labels` as `Y` says."""
    _, times = np.unique(Y, axis=0, return_counts=True)
    sizes = Y.sum(axis=1)
    by_code = dict(zip(labels, Y.sum(axis=0).tolist(), strict=True))
    n_seen_once, n_without_code = int((times == 1).sum()), int((sizes == 0).sum())
    return ScoreSummary(by_code, float(sizes.mean()), len(times), n_seen_once, n_without_code)


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
    measure : {"subset", "hamming"}
        Whether an answer is right as a whole, or by its share of labels.
    human_accuracy : float
        How right people are taken to be.
    codes : CodeSelection or None
        What may be settled code by code, if that was asked for; its `limits` go into
        :class:`Policy`.
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
    [(0.95, 0), (0.9, 0), (0.85, 68), (0.8, 75)]
    """

    rows: tuple[TriageRow, ...]
    selection: Selection
    measure: str
    human_accuracy: float
    codes: CodeSelection | None = None
    targets: tuple[TargetShare, ...] = ()
    earlier: Selection | None = None


def triage(
    model: CodingModel,
    target: float = 0.9,
    confidence: float = 0.9,
    measure: str = "subset",
    rank_by: str = "chance",
    human_accuracy: float = 1.0,
) -> Triage:
    """Tell how much a model may code automatically, and at which accuracy.

    Parameters
    ----------
    model : CodingModel
        Its answers that were drawn at random are looked at, each as predicted without itself.
    target : float in (0, 1)
        Accuracy that the automatic codes shall have.
    confidence : float in (0, 1)
        The chance to promise too much is at most one minus it.
    measure : {"subset", "hamming", "per-code"}
        Whether an answer is right as a whole, or by its share of labels; or whether single codes
        are settled where the whole answer is not sure.
    rank_by : {"chance", "theta"}
        What answers are ranked by; fewer than 250 are ranked by theta.
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
    >>> from nldd.coding import Answers, Settings, fit_coding_model, triage
    >>> from nldd import load_survey
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in load_survey().rows if topics.issuperset(row[4].split(";"))][:100]
    >>> answers = Answers([row[1] for row in rows])
    >>> codes = [set(row[4].split(";")) for row in rows]
    >>> model = fit_coding_model(answers, codes, settings=Settings(n_folds=2))
    >>> found = triage(model, target=0.8)
    >>> found.selection.n_auto, found.selection.accuracy
    (75, 0.88)
    >>> [(row.n_auto, round(row.accuracy, 2)) for row in found.rows][-3:]
    [(70, 0.91), (75, 0.88), (77, 0.87)]
    """
    codes = None
    if measure == PER_CODE:
        codes, measure = select_codes(model, GuaranteeTarget(target, confidence)), "subset"
    tested = model.evidence[model.tested]
    right = tested.right(model.Y[model.tested], measure)
    selection = model.select(GuaranteeTarget(target, confidence, measure, rank_by))
    doubt = tested.doubt(selection.rank_by)
    rows = triage_rows(doubt, right, human_accuracy, selection.threshold)
    targets = target_shares(model, target, confidence, measure, rank_by)
    used, earlier = model.in_use(GuaranteeTarget(target, confidence, measure, rank_by))
    more = (codes, targets, earlier if used is not model else None)
    return Triage(rows, selection, measure, human_accuracy, *more)


def target_shares(
    model: CodingModel,
    target: float = 0.9,
    confidence: float = 0.9,
    measure: str = "subset",
    rank_by: str = "chance",
) -> tuple[TargetShare, ...]:
    """Automation rates that a model reaches at the usual targets and at `target`."""
    targets = sorted({*TARGETS[measure], target}, reverse=True)
    found = [
        model.in_use(GuaranteeTarget(each, confidence, measure, rank_by))[1] for each in targets
    ]
    each = ((f.target, f.n_auto, f.share, f.target == target, f.n_answers) for f in found)
    return tuple(TargetShare(*values) for values in each)


def triage_rows(
    doubt: NDArray[np.float64],
    right: NDArray[np.float64],
    human_accuracy: float = 1.0,
    chosen: float | None = None,
) -> tuple[TriageRow, ...]:
    """A line for the surest 1, 2 and 5 %, each tenth of the answers, and the chosen threshold."""
    order = np.argsort(doubt, kind="stable")
    doubt, right = doubt[order], right[order]
    n = len(doubt)
    thresholds = {float(doubt[-(-percent * n // 100) - 1]) for percent in PERCENTS}
    if chosen is not None and chosen >= doubt[0]:
        thresholds.add(chosen)
    rows = []
    for threshold in sorted(thresholds):
        k = int(np.searchsorted(doubt, threshold, side="right"))
        total, interval = float(right[:k].sum()), accuracy_interval(right[:k])
        combined = (total + (n - k) * human_accuracy) / n
        values = (k / n, total / k, *interval, combined, threshold == chosen)
        rows.append(TriageRow(threshold, k, *values))
    return tuple(rows)
