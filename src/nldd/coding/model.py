"""The model of a coding study: its coded answers, what was learned from them, its history."""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nldd import __version__
from nldd._labels import as_label_sets, indicator, number_groups
from nldd.coding import guarantee
from nldd.coding.answers import Answers, BoolArray, Decisions, LabelArray, RowArray
from nldd.coding.codebook import Codebook
from nldd.coding.columns import DRAWN, LISTED, Codes, Columns
from nldd.coding.cross_validation import CrossValidation, cross_validate, usual_folds
from nldd.coding.features import AnswerFeatures, count_terms
from nldd.coding.guarantee import USUAL, GuaranteeTarget, GuaranteeTest, Selection
from nldd.coding.predictions import NO_EVIDENCE, UNKNOWN, Predictions, Watch, no_progress
from nldd.estimators._nldd import NLDDClassifier
from nldd.exceptions import InputError
from nldd.linear._logistic import MultiLabelLogisticRegression
from nldd.present.text import count_noun, printable, visible

FEWEST_ANSWERS = 10
# How much answers count against shrinkage. Points of texts have about length 1, so that their
# coordinates are small and need little; how little differs from study to study.
GRID = (1.0, 3.0, 10.0, 30.0, 100.0)
# Scores so near to the lowest are as good; a small C is fitted faster, and less sure of itself.
TIED = 1.02
MOST_TO_CHOOSE = 4000
# Targets by which it is found out whether a refit codes all that the model before it did.
TARGETS = {"subset": (0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5), "hamming": (0.99, 0.98, 0.95, 0.9, 0.8)}
# Newton's method squares its error in each step: this gives probabilities to five digits.
TOL = 1e-3


@dataclass(frozen=True)
class Settings:
    """How a model is fitted.

    Attributes
    ----------
    n_folds : int or None
        Of the cross-validation; by default 20, or 10 of more than 5,000 answers.
    random_state : int
        Seed of whatever is random.
    n_jobs : int or None
        Threads; not kept with the model.

    Examples
    --------
    >>> from nldd.coding import Settings
    >>> Settings(n_folds=10)
    Settings(n_folds=10, random_state=0, n_jobs=None)
    """

    n_folds: int | None = None
    random_state: int = 0
    n_jobs: int | None = None


@dataclass(frozen=True)
class Event:
    """A step with a file: rows that joined or had no codes, and the model after it."""

    action: str
    time: str
    file: str
    sha256: str
    n_added: int
    n_set_aside: int
    n_answers: int
    n_labels: int
    n_labelsets: int
    subset_accuracy: float
    hamming_accuracy: float
    version: str = __version__

    def __str__(self) -> str:
        """In words, with its file, time and answers."""
        step = visible(f"{self.action} with {self.file}")
        time = visible(self.time.replace("T", " ").replace("Z", " UTC"))
        return f"{step} of {time}, {count_noun(self.n_added, 'answer')} joined"


@dataclass(frozen=True, eq=False)
class CodingModel:
    """A fitted model for the codes of open-ended answers.

    Made by :func:`fit_table`, or by :func:`fit_coding_model` of what is in memory.

    Attributes
    ----------
    columns : Columns
        Which columns of a table it reads.
    settings : Settings
        How it was fitted.
    labels : tuple of str
        The codes.
    answers : Answers
        The coded answers that it learned from.
    Y : ndarray of shape (n_answers, n_labels)
        Their codes as 0 and 1.
    features : AnswerFeatures
        Turns answers into numbers.
    classifier : NLDDClassifier
        Fitted to these.
    validation : CrossValidation
        What predicting each answer without itself has shown.
    drawn : ndarray of bool of shape (n_answers,)
        Answers that were drawn at random tell what new ones will be like; others, such as those
        left over for people, are harder, and only taught.
    taught : ndarray of bool of shape (n_answers,)
        Answers that it learned from; others, on whose codes coders disagree, are only tested.
    history : tuple of Event
        Each step with a file: `action`, `time`, `file`, its `sha256`, rows `n_added` and
        `n_set_aside`, and what the model was afterwards.
    codebook : Codebook
        What codes are called, and which have become others.
    earlier : tuple of GuaranteeTest
        The tests of all fits before this one.
    fallback : CodingModel or None
        An earlier fit that stays in use until this one passes its own test; see `in_use`.

    Examples
    --------
    >>> from nldd.coding import Answers, Settings, fit_coding_model
    >>> from nldd import load_survey
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in load_survey().rows if topics.issuperset(row[4].split(";"))][:100]
    >>> answers = Answers([row[1] for row in rows])
    >>> codes = [set(row[4].split(";")) for row in rows]
    >>> model = fit_coding_model(answers, codes, settings=Settings(n_folds=2))
    >>> model.labels
    ('cycling', 'housing costs', 'safety')
    >>> found = model.code(Answers(["cheaper rents", "safe cycle paths"]))
    >>> model.codes(found.Y)
    [('housing costs',), ('cycling',)]
    >>> (found.theta < 0.01).tolist()
    [True, True]
    """

    columns: Columns
    settings: Settings
    labels: tuple[str, ...]
    answers: Answers
    Y: LabelArray
    features: AnswerFeatures
    classifier: NLDDClassifier
    validation: CrossValidation
    drawn: BoolArray
    taught: BoolArray
    history: tuple[Event, ...] = ()
    codebook: Codebook = Codebook()
    earlier: tuple[GuaranteeTest, ...] = ()
    fallback: "CodingModel | None" = None

    @property
    def evidence(self) -> Predictions:
        """Each coded answer as predicted without itself."""
        return self.validation.evidence

    @property
    def n_folds(self) -> int:
        """Parts that the answers were dealt into, to predict each without itself."""
        n = len(self.answers)
        return min(self.settings.n_folds or usual_folds(n), n)

    @cached_property
    def tested(self) -> RowArray:
        """Places of the answers that the model is tested on: drawn at random, one a respondent.

        Without ids these are answers whose words did not stand in other folds, if there are any.
        """
        drawn = np.flatnonzero(self.drawn)
        new = np.setdiff1d(drawn, self.repeated)
        chosen = new if len(new) else drawn
        return self.answers.draw_one_per_respondent(chosen, self.settings.random_state)

    @property
    def repeated(self) -> RowArray:
        """Places of drawn answers whose words stood in other folds, where no ids tell copies."""
        return np.flatnonzero(self.drawn & self.validation.repeated)

    @cached_property
    def test(self) -> GuaranteeTest:
        """What thresholds are found on."""
        return self.validation.test(self.Y, np.union1d(self.tested, self.repeated))

    @cached_property
    def _known_words(self) -> set[str]:
        return set(self.answers[np.flatnonzero(self.taught)].normalized_texts)

    def knows_words(self, answers: Answers) -> BoolArray:
        """Which answers have the words of an answer that the model learned from."""
        known = self._known_words
        return np.array([words in known for words in answers.normalized_texts], dtype=bool)

    @property
    def shown(self) -> tuple[str, ...]:
        """The codes with their names, as reports show them."""
        return tuple(map(self.codebook.shown, self.labels))

    @property
    def codes_in_order(self) -> list[str]:
        """The codes in the order of the codebook, to choose from."""
        return self.codebook.sorted(self.labels)

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each answer, by all that it is known again by."""
        return {key: i for i, keys in enumerate(self.answers.keys) for key in keys}

    def find_places(self, answers: Answers) -> list[int | None]:
        """For each of some answers its place in the model; None for those that are new."""
        known = self.places
        return [next((known[k] for k in keys if k in known), None) for keys in answers.keys]

    def code(self, answers: Answers, X: Any = None, k: int = 2) -> Predictions:
        """Predicted codes of answers, whose features may be given, with their evidence.

        Of the `k` most probable labelsets, the others are told too.
        """
        X = self.features.transform(answers) if X is None else X
        found = self.validation.predict(self.classifier, X, k)
        empty = self.is_blank(answers)
        chance = None if found.chance is None else np.where(empty, 0.0, found.chance)
        P = np.where(empty[:, np.newaxis], np.float32(UNKNOWN), found.P)
        theta = np.where(empty, NO_EVIDENCE, found.theta)
        probability = np.where(empty, 0.0, found.probability)
        return replace(found, theta=theta, probability=probability, chance=chance, P=P)

    def is_blank(self, answers: Answers) -> BoolArray:
        """Which answers are empty, unless the model has learned what to make of such."""
        learned = not self.columns.text or not all(map(str.strip, self.answers.texts))
        return np.array([not learned and not text.strip() for text in answers.texts], dtype=bool)

    def select(self, goal: GuaranteeTarget = USUAL) -> Selection:
        """The doubt up to which this fit may code answers automatically, as its own test shows."""
        return guarantee.select_in_turn((*self.earlier, self.test), goal)[-1]

    def in_use(self, goal: GuaranteeTarget = USUAL) -> tuple["CodingModel", Selection]:
        """The fit that codes automatically, and its threshold: this one, or an earlier one."""
        found = guarantee.select_in_turn((*self.earlier, self.test), goal)
        if not found[-1].automates and self.fallback is not None:
            before = found[len(self.fallback.earlier)]
            if before.automates:
                return self.fallback, before
        return self, found[-1]

    def codes(self, Y: NDArray[Any]) -> list[tuple[str, ...]]:
        """Names of the codes of each row of an indicator matrix."""
        return as_label_sets(Y, self.labels)

    def record(self, action: str, file: str, sha256: str, n_added: int, n_set_aside: int) -> Self:
        """The model with an event of now in its history."""
        sizes = (len(self.answers), len(self.labels), len(np.unique(self.Y, axis=0)))
        found, Y = self.evidence[self.tested], self.Y[self.tested]
        whole, by_label = (float(found.right(Y, measure).mean()) for measure in guarantee.MEASURES)
        what = (action, current_time(), file, sha256, n_added, n_set_aside)
        return replace(self, history=(*self.history, Event(*what, *sizes, whole, by_label)))


def fit_coding_model(
    answers: Answers,
    decisions: Decisions | Sequence[Collection[str]],
    columns: Columns = LISTED,
    settings: Settings = Settings(),
    watch: Watch = no_progress,
    codebook: Codebook = Codebook(),
) -> CodingModel:
    """Fit a model to coded answers in memory.

    Parameters
    ----------
    answers : Answers
        At least ten. Their `ids` say which of them are of one respondent.
    decisions : Decisions or sequence of set of str
        What people decided on each answer, or their codes alone: an empty set says that no code
        applies. Answers without a decision are left out. The threshold is found on those that were
        drawn at random, which are all if codes alone are given.
    columns : Columns, optional
        What the columns of tables that the model shall read are called; by default ``answer`` and
        ``codes``. Features of the answers are named there, too.
    settings : Settings, optional
        Folds, seed and threads.
    watch : callable, optional
        ``watch(steps, total, title)`` passes steps through, for a progress bar.
    codebook : Codebook, optional
        Codes that it has merged count as what they have become.

    Returns
    -------
    CodingModel
        Fitted, and tested on its own answers.

    See Also
    --------
    fit_table : The same with files.

    Examples
    --------
    >>> from nldd.coding import Answers, Settings, fit_coding_model
    >>> from nldd import load_survey
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in load_survey().rows if topics.issuperset(row[4].split(";"))][:100]
    >>> answers = Answers([row[1] for row in rows])
    >>> codes = [set(row[4].split(";")) for row in rows]
    >>> model = fit_coding_model(answers, codes, settings=Settings(n_folds=2))
    >>> len(model.answers), model.labels
    (100, ('cycling', 'housing costs', 'safety'))
    >>> float(model.evidence.right(model.Y).mean())
    0.88
    """
    if not isinstance(decisions, Decisions):
        given = list(map(frozenset, decisions))
        decisions = Decisions([*given], drawn=[True] * len(given))
    if len(decisions.decided) < len(decisions):
        answers, decisions = answers[decisions.decided], decisions[decisions.decided]
    codes = [codebook.translate(names or ()) for names in decisions.codes]
    labels = order_codes(codes, columns, codebook)
    Y = indicator(codes, np.array(labels, dtype=object))
    drawn, taught = np.array(decisions.drawn, dtype=bool), np.array(decisions.agreed, dtype=bool)
    rows = np.flatnonzero(taught)
    _check_codes([codes[i] for i in rows], len(codes))
    if not drawn.any():
        message = f"None of the coded answers was drawn at random, as the column {DRAWN} says."
        hint = "fit the first table, and let a review join by nldd update; or delete the column"
        raise InputError(message, hint=hint)
    if np.isinf(answers.numbers).any():
        hint = "leave such cells empty"
        raise InputError("A numeric feature of the answers is infinite.", hint=hint)
    for _ in watch(range(1), 1, "counting words"):
        counted = count_terms(answers)
        features = AnswerFeatures.fit(counted)
        X = features.transform(counted)
    if X.shape[1] == 0:
        message = "The answers say nothing: their texts are empty, and there are no other features."
        raise InputError(message, hint="check that --text names the column with the answers")
    # Without ids, equal words may be copies, or several people: they are tested apart.
    groups = answers.respondents if any(answers.ids) else np.arange(len(Y))
    words = None if any(answers.ids) else answers.group_by_words()
    if not groups[rows].any():
        message = "All answers are of one respondent, so none can be tested without the others."
        raise InputError(message, hint="--id with a column that tells respondents apart")
    C = choose_C(X[rows], Y[rows], number_groups(groups[rows]), settings, watch)
    for _ in watch(range(1), 1, "learning from all answers"):
        weight = None if taught.all() else taught.astype(float)
        classifier = new_classifier(settings, C).fit(X, Y, weight, groups)
    how = (settings.n_folds, settings.random_state, watch)
    validation = cross_validate(classifier, counted, Y, *how, groups, words, rows)
    learned = (features, classifier, validation, drawn, taught)
    return CodingModel(columns, settings, labels, answers, Y, *learned, codebook=codebook)


def _check_codes(codes: Sequence[Collection[str]], n_coded: int) -> None:
    """Refuse answers that are too few to learn from, or that all have the same codes."""
    n = len(codes)
    if n < FEWEST_ANSWERS:
        agreed = f", as their coders disagree on {n_coded - n} others" * (n < n_coded)
        needed = f"At least {FEWEST_ANSWERS} coded answers are needed to learn from"
        hint = "code more answers by hand first; a few hundred are a good start"
        raise InputError(f"{needed}; there are {n}{agreed}.", hint=hint)
    if len(set(map(frozenset, codes))) < 2:
        names = printable(", ".join(sorted(codes[0])))
        same = f"All {n} coded answers carry the same codes, {{{names:.200}}}"
        hint = "check that the right column is named by --labels, or code more answers"
        raise InputError(f"{same}: there is nothing to choose from.", hint=hint)


def add_answers(
    model: CodingModel,
    answers: Answers,
    decisions: Decisions,
    watch: Watch = no_progress,
    corrections: Mapping[int, Codes] = MappingProxyType({}),
) -> CodingModel:
    """The model fitted anew to its own answers, with corrected codes by place, and further ones."""
    known = [corrections.get(i, frozenset(names)) for i, names in enumerate(model.codes(model.Y))]
    # Corrected codes are agreed on.
    agreed = [agreed or i in corrections for i, agreed in enumerate(model.taught.tolist())]
    agreed, drawn = [*agreed, *decisions.agreed], [*model.drawn.tolist(), *decisions.drawn]
    joined = Decisions([*known, *decisions.codes], drawn, agreed=agreed)
    how = (model.columns, model.settings, watch, model.codebook)
    fitted = fit_coding_model(Answers.join([model.answers, answers]), joined, *how)
    tests = (*model.earlier, model.test)
    fitted = replace(fitted, history=model.history, earlier=tests)
    return replace(fitted, fallback=find_fallback(fitted, model))


def find_fallback(model: CodingModel, before: CodingModel) -> CodingModel | None:
    """The earlier fit that still codes what a refitted model may not yet, at some target."""
    for old in filter(None, (before, before.fallback)):
        alone = replace(old, fallback=None)
        trial = replace(model, fallback=alone)
        goals = (GuaranteeTarget(t, 0.9, m) for m, targets in TARGETS.items() for t in targets)
        if any(trial.in_use(goal)[0] is alone for goal in goals):
            return alone
    return None


def choose_C(
    X: Any, Y: LabelArray, groups: RowArray, settings: Settings, watch: Watch = no_progress
) -> float:
    """The smallest C of a low Brier score, where two halves of the answers predict each other.

    All folds use it. As with the weights of the posterior, what one number of a short list knows of
    a single answer is next to nothing. A few thousand answers are enough to choose by.
    """
    order = np.random.default_rng(settings.random_state).permutation(int(groups.max()) + 1)
    order = order[:MOST_TO_CHOOSE]
    halves = tuple(np.flatnonzero(np.isin(groups, part)) for part in (order[::2], order[1::2]))
    scores, how = dict.fromkeys(GRID, 0.0), partial(MultiLabelLogisticRegression, tol=TOL)
    models = [how(warm_start=True, n_jobs=settings.n_jobs) for _ in halves]
    steps = [(*each, C) for each in zip(models, halves, halves[::-1], strict=True) for C in GRID]
    for model, train, test, C in watch(steps, len(steps), "choosing how much to shrink"):
        P = model.set_params(C=C).fit(X[train], Y[train]).predict_proba(X[test])
        scores[C] += float(np.square(P - Y[test]).sum())
    return next(C for C in GRID if scores[C] <= TIED * min(scores.values()))


def new_classifier(settings: Settings, C: float) -> NLDDClassifier:
    how: dict[str, Any] = {"n_jobs": settings.n_jobs, "random_state": settings.random_state}
    # Texts are points of about length 1, numbers are standardised already.
    base = MultiLabelLogisticRegression(C=C, tol=TOL)
    return NLDDClassifier(base, decision="subset", standardize="none", **how)


def order_codes(
    codes: Sequence[Collection[str]], columns: Columns, codebook: Codebook = Codebook()
) -> tuple[str, ...]:
    """All codes: the columns of 0 and 1 as they stand, or what the lists hold, 2 before 10."""
    if not columns.codes.listed:
        return codebook.unique(columns.codes.names)

    def by_value(name: str) -> Any:
        parts = re.findall(r"0*([0-9]+)|([^0-9]+)", name)
        return [(not digits, len(digits), digits or other) for digits, other in parts], name

    return tuple(sorted(set().union(*codes), key=by_value))


def current_time() -> str:
    """The time in UTC; SOURCE_DATE_EPOCH sets it, so that a run can be repeated exactly."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    moment = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
