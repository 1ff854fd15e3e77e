"""What coded answers, each predicted without itself, teach about answers to come.

They give the doubt that answers are ranked by, the threshold that holds a target, and the limit for
new answers. That is somewhat stricter: the model of all answers has learned from more of them than
those of the folds, so it is surer. What is proven of the surest share of the folds' predictions
holds for the same share of the model's, if learning from more makes that no worse; at the same
threshold, the model would let more through than was tested. How much the doubt falls when a fold
more is learned from is measured one step below, by models that leave out two folds.

Classifiers and neighbours are those of the other folds. The weights of the posterior are the
model's own in every fold: a threshold is to be used with these, and weights learned anew would put
each fold on a scale of its own. What four numbers know of a row is next to nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from nldd.coding import predictions
from nldd.coding.answers import Answers, BoolArray, FloatArray, LabelArray, RowArray
from nldd.coding.features import AnswerFeatures
from nldd.coding.guarantee import GuaranteeTest
from nldd.coding.predictions import ConfidenceRegression, Predictions, Watch, log_odds, no_progress
from nldd.exceptions import InputError

TESTING = "testing: each answer without itself"
# Few answers are fitted quickly, and of few each fold misses more.
MANY_FOLDS, FEWER_FOLDS, MANY_ANSWERS = 20, 10, 5000
# Answers that tell how much doubt falls with a fold more.
ENOUGH_PAIRED = 2000
# Of fewer answers, chances that were learned across folds prove less than theta: they did with 195
# of medical, while with 483 of yeast they prove about as much, and with 340 of enron far more.
FEWEST_RANKED = 250


def usual_folds(n_answers: int) -> int:
    """Folds where none are asked for: 20, or 10 of more than 5,000 answers."""
    return MANY_FOLDS if n_answers <= MANY_ANSWERS else FEWER_FOLDS


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Coded answers as predicted without themselves, and what that means for new ones.

    Made by :func:`cross_validate`.

    Attributes
    ----------
    evidence : Predictions
        Each answer, predicted by a model that has not seen its fold.
    regression : ConfidenceRegression or None
        Gives new answers their chance to be right as a whole. Without it, or with fewer than 250
        answers, theta ranks.
    gain_theta, gain_chance : float
        What the log-odds of the doubt lose where a model learns from a fold more.
    gain_yes, gain_no : float
        By how much codes are likelier, or less likely, then.
    repeated : ndarray of bool of shape (n_answers,)
        Answers whose words stood in the other folds, where ids do not tell whether they are copies.

    Examples
    --------
    >>> from nldd.coding import Answers, Settings, fit_coding_model
    >>> from nldd.coding.guarantee import GuaranteeTarget
    >>> from nldd import load_survey
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in load_survey().rows if topics.issuperset(row[4].split(";"))][:100]
    >>> answers = Answers([row[1] for row in rows])
    >>> codes = [set(row[4].split(";")) for row in rows]
    >>> model = fit_coding_model(answers, codes, settings=Settings(n_folds=2))
    >>> found = model.validation.test(model.Y).select(GuaranteeTarget(0.8))
    >>> found.n_answers, found.n_auto
    (80, 77)
    """

    evidence: Predictions
    repeated: BoolArray
    regression: ConfidenceRegression | None = None
    gain_theta: float = 0.0
    gain_chance: float = 0.0
    gain_yes: float = 0.0
    gain_no: float = 0.0

    def test(self, Y: LabelArray, rows: Any = slice(None)) -> GuaranteeTest:
        """What a guarantee is tested on: these rows of all, whose codes are in `Y`.

        They must have been drawn at random. Theta ranks few answers.
        """
        found, few = self.evidence[rows], len(self.evidence) < FEWEST_RANKED
        ranked = (found.theta, None if few else found.chance, found.n_wrong(Y[rows]), Y.shape[1])
        return GuaranteeTest(*ranked, self.repeated[rows], self.gain_theta, self.gain_chance)

    def predict(self, classifier: Any, X: Any, k: int = 2) -> Predictions:
        """New rows predicted by the model of all answers, with the `k` most probable labelsets."""
        return add_confidence(predictions.predict(classifier, X, k), self.regression)


def add_confidence(found: Predictions, regression: ConfidenceRegression | None) -> Predictions:
    """Predictions with their chance to be right as a whole, which takes the place of the clues."""
    if regression is None or found.clues is None:
        return replace(found, clues=None)
    informed = found.theta < predictions.NO_EVIDENCE
    chance = np.where(informed, regression.chance(found.clues, found.Y), 0.0)
    return replace(found, chance=chance, clues=None)


def cross_validate(
    model: Any,
    X: Any,
    Y: LabelArray,
    n_folds: int | None = None,
    random_state: int = 0,
    watch: Watch = no_progress,
    groups: RowArray | None = None,
    words: RowArray | None = None,
    taught: RowArray | None = None,
) -> CrossValidation:
    """Test a fitted NLDD model on its own rows, of which each is predicted without its fold.

    Parameters
    ----------
    model : NLDDClassifier
        Fitted to `X` and `Y`.
    X : array-like of shape (n_samples, n_features), or Answers
        Words and scales of answers are learned anew in each fold: what an answer alone contributes
        to them must not help to predict it.
    Y : ndarray of int8 of shape (n_samples, n_labels)
        Labels as 0 and 1.
    n_folds : int, optional
        By default 20, or 10 of more than 5,000 rows.
    random_state : int
        Seed of the folds.
    watch : callable, optional
        ``watch(folds, n_folds, title)`` passes the folds through, for a progress bar.
    groups : ndarray of int of shape (n_samples,), optional
        Rows of a group, such as the answers of a respondent, stay in one fold; numbered from 0.
    words : ndarray of int of shape (n_samples,), optional
        Rows of the same words, where nobody knows which of them are copies.
    taught : ndarray of int, optional
        Rows to learn from; all are tested.

    Returns
    -------
    CrossValidation
        The predictions, and what they teach about new rows.

    Notes
    -----
    The chance of a row comes from a regression fitted to the predictions of the other
    folds, so that a threshold can be tested on it; that for new rows is fitted to all.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from nldd import NLDDClassifier
    >>> from nldd.coding.cross_validation import cross_validate
    >>> from nldd.coding.guarantee import GuaranteeTarget
    >>> X, Y = make_multilabel_classification(120, 8, n_classes=3, random_state=0)
    >>> Y = Y.astype(np.int8)
    >>> model = NLDDClassifier(decision="subset", random_state=0).fit(X, Y)
    >>> known = cross_validate(model, X, Y, n_folds=2)
    >>> round(float(known.evidence.right(Y).mean()), 2)
    0.5
    >>> known.test(Y).select(GuaranteeTarget(0.6)).n_auto
    13
    """
    n_folds = usual_folds(len(Y)) if n_folds is None else n_folds
    folds = deal_folds(len(Y), n_folds, random_state, groups)
    pairs = pair_folds(folds)
    found = predict_left_out(model, X, Y, [*folds, *pairs], watch, taught, groups)
    known = join_predictions(folds, found[: len(folds)])
    words = np.arange(len(Y)) if words is None else words
    repeated = occur_elsewhere(words, folds, taught)
    regression, chance = _fit_chances(known, Y, folds)
    gains = (0.0, 0.0, 0.0, 0.0)
    if pairs:
        rows, fewer = np.sort(np.concatenate(pairs)), join_predictions(pairs, found[len(folds) :])
        # A copy in the other fold of a pair is no step of learning.
        alike = (occur_elsewhere(words, pairs, taught) == repeated)[rows]
        rows, fewer = rows[alike], fewer[alike]
        both = add_confidence(known[rows], regression), add_confidence(fewer, regression)
        gains = measure_gains(*both) if len(rows) else gains
    evidence = replace(known, chance=chance, clues=None, others=None)
    return CrossValidation(evidence, repeated, regression, *gains)


def occur_elsewhere(words: RowArray, parts: list[RowArray], taught: RowArray | None) -> BoolArray:
    """Which rows of the parts have words that rows outside of their part have, too."""
    learned = np.arange(len(words)) if taught is None else taught
    found = np.zeros(len(words), dtype=bool)
    for part in parts:
        found[part] = np.isin(words[part], words[np.setdiff1d(learned, part)])
    return found


def pair_folds(folds: list[RowArray]) -> list[RowArray]:
    """Folds two by two, as many as it takes to learn about the gain; three folds are too few."""
    pairs: list[RowArray] = []
    for one, other in zip(folds[::2], folds[1::2], strict=False):
        if len(folds) > 3 and sum(map(len, pairs)) < ENOUGH_PAIRED:
            pairs.append(np.concatenate([one, other]))
    return pairs


def _fit_chances(
    known: Predictions, Y: LabelArray, folds: list[RowArray]
) -> tuple[ConfidenceRegression | None, FloatArray | None]:
    """The regression for new rows, and the chances of the known ones by those of other folds."""
    fold = np.empty(len(Y), dtype=np.intp)
    for number, rows in enumerate(folds):
        fold[rows] = number
    informed = known.theta < predictions.NO_EVIDENCE
    data = np.asarray(known.clues)[informed], known.Y[informed], known.right(Y)[informed]
    crossed = cross_fit(*data, fold[informed])
    if crossed is None:
        return None, None
    chance = np.zeros(len(Y))
    chance[informed] = crossed
    return ConfidenceRegression.fit(*data), chance


def measure_gains(known: Predictions, fewer: Predictions) -> tuple[float, float, float, float]:
    """What the log-odds of theta, and of not being right, lose on average with a fold more.

    The mean over rows is that over quantiles, too: by so much the scale as a whole moves. And by
    how much the likeliest code of a row rises, and all fall: codes are set by the former, and ruled
    out by the latter.
    """
    theta, chance = log_odds(fewer.theta) - log_odds(known.theta), np.zeros(1)
    if known.chance is not None:
        chance = log_odds(known.chance) - log_odds(fewer.chance)
    P, P_fewer = log_odds(known.P), log_odds(fewer.P)
    gains = theta, chance, P.max(axis=1) - P_fewer.max(axis=1), P_fewer - P
    in_theta, in_chance, rise, fall = (max(0.0, float(gain.mean())) for gain in gains)
    return in_theta, in_chance, rise, fall


def cross_fit(
    clues: FloatArray, Y: LabelArray, right: FloatArray, fold: RowArray
) -> FloatArray | None:
    """The chance of each answer by a regression fitted to the answers of the other folds."""
    chance = np.empty(len(fold))
    for number in np.unique(fold):
        own = fold == number
        fitted = ConfidenceRegression.fit(clues[~own], Y[~own], right[~own])
        if fitted is None:
            return None
        chance[own] = fitted.chance(clues[own], Y[own])
    return chance


def deal_folds(
    n: int, n_folds: int, random_state: int = 0, groups: RowArray | None = None
) -> list[RowArray]:
    """The rows of each fold, dealt at random; those of a group stay together."""
    if n_folds < 2:
        message = f"The number of folds must be at least 2; got {n_folds}."
        raise InputError(message, hint="--folds 10")
    groups = np.arange(n) if groups is None else groups
    n_groups = int(groups.max()) + 1
    dealt = KFold(min(n_folds, n_groups), shuffle=True, random_state=random_state)
    folds = (test for _, test in dealt.split(np.zeros(n_groups)))
    return [np.flatnonzero(np.isin(groups, test)) for test in folds]


def predict_left_out(
    model: Any,
    X: Any,
    Y: LabelArray,
    parts: Sequence[RowArray],
    watch: Watch,
    taught: RowArray | None = None,
    groups: RowArray | None = None,
) -> list[Predictions]:
    """The rows of each part, predicted by a model of all others, or of those that are `taught`."""
    found = []
    for test in watch(parts, len(parts), TESTING):
        train = np.setdiff1d(np.arange(len(Y)) if taught is None else taught, test)
        fit = partial(model.fit_copy, groups=None if groups is None else groups[train])
        part = _predict_fold(fit, X[train], Y[train], X[test], len(test))
        part = replace(part, row=train[part.row], ahead=None, others_row=None)
        found.append(replace(part, others_probability=None))
    return found


def join_predictions(parts: Sequence[RowArray], found: Sequence[Predictions]) -> Predictions:
    """The predictions of parts together, in the order of their rows."""
    return Predictions.join(found)[np.argsort(np.concatenate(parts))]


def _predict_fold(fit: Any, X: Any, Y: LabelArray, X_test: Any, n: int) -> Predictions:
    if isinstance(X, Answers):
        features = AnswerFeatures.fit(X)
        X, X_test = features.transform(X), features.transform(X_test)
    if X.shape[1] > 0 and (Y[0] != Y).any():
        return predictions.predict(fit(X, Y), X_test)
    # Nothing to choose from, or nothing to choose by: the first labelset, without evidence.
    zeros, rows = np.zeros(n), np.zeros(n, dtype=np.intp)
    P = np.full((n, Y.shape[1]), predictions.UNKNOWN, dtype=np.float32)
    found = (np.full(n, predictions.NO_EVIDENCE), zeros, rows, zeros, P)
    clues, others = np.zeros((n, predictions.N_CLUES)), Y[rows][:, np.newaxis]
    return Predictions(Y[rows], *found, clues=clues, others=others)
