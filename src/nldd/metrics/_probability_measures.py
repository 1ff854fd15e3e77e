"""Measures of probabilities and rankings of labels, computed by scikit-learn's functions.

Every function takes the indicator matrix of truth and scores of the same shape, higher for labels
that are more likely. Labels or rows for which a measure is not defined, such as the AUROC of a
label that no row or every row has, are left out; the value is NaN if none is left.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import metrics as of_sklearn

from nldd._labels import read_indicator
from nldd.exceptions import InputError
from nldd.metrics._measures import FloatArray, Measure

N_BINS = 15


def ranking_loss(Y_true: Any, P: Any) -> float:
    """Share of pairs of a true and an untrue label of a row in the wrong order, averaged over rows.

    Parameters
    ----------
    Y_true : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
        1 if a row has the label, else 0.
    P : array-like of shape (n_samples, n_labels)
        Scores or probabilities, higher for labels that are more likely.

    Returns
    -------
    float
        From 0, the best, to 1.

    Examples
    --------
    >>> from nldd.metrics import ranking_loss
    >>> ranking_loss([[1, 0, 0]], [[0.5, 0.9, 0.1]])
    0.5
    """
    return float(of_sklearn.label_ranking_loss(*_read_rankings(Y_true, P)))


def coverage(Y_true: Any, P: Any) -> float:
    """How far down the ranking of labels all true ones are found; 1 is the top.

    Parameters
    ----------
    Y_true : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
        1 if a row has the label, else 0.
    P : array-like of shape (n_samples, n_labels)
        Scores or probabilities, higher for labels that are more likely.

    Returns
    -------
    float
        Mean over rows: at best the mean number of labels of a row.

    Examples
    --------
    >>> from nldd.metrics import coverage
    >>> coverage([[1, 0, 1]], [[0.5, 0.9, 0.1]])
    3.0
    """
    return float(of_sklearn.coverage_error(*_read_rankings(Y_true, P)))


def one_error(Y_true: Any, P: Any) -> float:
    """Share of rows whose first label is not true; among several first ones, their share.

    Rows without a label are left out.

    Parameters
    ----------
    Y_true : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
        1 if a row has the label, else 0.
    P : array-like of shape (n_samples, n_labels)
        Scores or probabilities, higher for labels that are more likely.

    Returns
    -------
    float
        From 0, the best, to 1; NaN if no row has a label.

    Examples
    --------
    >>> from nldd.metrics import one_error
    >>> one_error([[1, 0, 0], [0, 1, 0]], [[0.5, 0.9, 0.1], [0.2, 0.7, 0.7]])
    0.75
    """
    Y, scores = _read(Y_true, P)
    first = scores == scores.max(axis=1, keepdims=True)
    wrong = 1 - (first & (Y == 1)).sum(axis=1) / first.sum(axis=1)
    has_label = Y.any(axis=1)
    return float(wrong[has_label].mean()) if has_label.any() else np.nan


def average_precision(Y_true: Any, P: Any) -> float:
    """For each true label the share of true ones among those not below it, averaged in each row.

    Parameters
    ----------
    Y_true : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
        1 if a row has the label, else 0.
    P : array-like of shape (n_samples, n_labels)
        Scores or probabilities, higher for labels that are more likely.

    Returns
    -------
    float
        From 0 to 1, the best.

    Examples
    --------
    >>> from nldd.metrics import average_precision
    >>> average_precision([[1, 0, 0]], [[0.5, 0.9, 0.1]])
    0.5
    """
    return float(of_sklearn.label_ranking_average_precision_score(*_read_rankings(Y_true, P)))


def macro_average_precision(Y_true: Any, P: Any) -> float:
    """Area under the precision-recall curve of each label, by steps, averaged over labels.

    Labels that no row has are left out.

    Parameters
    ----------
    Y_true : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
        1 if a row has the label, else 0.
    P : array-like of shape (n_samples, n_labels)
        Scores or probabilities, higher for labels that are more likely.

    Returns
    -------
    float
        From 0 to 1, the best; NaN if no label is left.

    Examples
    --------
    >>> from nldd.metrics import macro_average_precision
    >>> macro_average_precision([[1, 0], [0, 0], [1, 0]], [[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]])
    0.8333333333333333
    """
    return _over_labels(of_sklearn.average_precision_score, Y_true, P, all_rows=True)


def macro_auroc(Y_true: Any, P: Any) -> float:
    """Area under the receiver operating characteristic of each label, averaged over labels.

    Labels that no row or every row has are left out.

    Parameters
    ----------
    Y_true : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
        1 if a row has the label, else 0.
    P : array-like of shape (n_samples, n_labels)
        Scores or probabilities, higher for labels that are more likely.

    Returns
    -------
    float
        From 0 to 1, the best; 0.5 by chance, NaN if no label is left.

    Examples
    --------
    >>> from nldd.metrics import macro_auroc
    >>> macro_auroc([[1, 0], [0, 0], [1, 0]], [[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]])
    0.5
    """
    return _over_labels(of_sklearn.roc_auc_score, Y_true, P, all_rows=False)


def micro_auroc(Y_true: Any, P: Any) -> float:
    """Area under the receiver operating characteristic of all labels of all rows together.

    Parameters
    ----------
    Y_true : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
        1 if a row has the label, else 0.
    P : array-like of shape (n_samples, n_labels)
        Scores or probabilities, higher for labels that are more likely.

    Returns
    -------
    float
        From 0 to 1, the best; 0.5 by chance, NaN if all or no labels are true.

    Examples
    --------
    >>> from nldd.metrics import micro_auroc
    >>> micro_auroc([[1, 0], [0, 1]], [[0.9, 0.1], [0.3, 0.2]])
    0.75
    """
    Y, scores = _read(Y_true, P)
    return macro_auroc(Y.reshape(-1, 1), scores.reshape(-1, 1))


def log_loss(Y_true: Any, P: Any) -> float:
    """Mean of ``-log p`` of the truth over labels and rows; p = 0 counts as about 2e-16.

    Parameters
    ----------
    Y_true : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
        1 if a row has the label, else 0.
    P : array-like of shape (n_samples, n_labels)
        Probabilities from 0 to 1.

    Returns
    -------
    float
        From 0, the best, on.

    Examples
    --------
    >>> from nldd.metrics import log_loss
    >>> log_loss([[1, 0]], [[0.5, 0.5]]).__round__(4)
    0.6931
    """
    return float(of_sklearn.log_loss(*_read_probabilities(Y_true, P), labels=[0, 1]))


def brier_score(Y_true: Any, P: Any) -> float:
    """Mean over labels and rows of the squared difference of probability and truth.

    Parameters
    ----------
    Y_true : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
        1 if a row has the label, else 0.
    P : array-like of shape (n_samples, n_labels)
        Probabilities from 0 to 1.

    Returns
    -------
    float
        From 0, the best, to 1.

    Examples
    --------
    >>> from nldd.metrics import brier_score
    >>> brier_score([[1, 0]], [[0.5, 0.5]])
    0.25
    """
    return float(of_sklearn.mean_squared_error(*_read_probabilities(Y_true, P)))


def calibration_error(Y_true: Any, P: Any) -> float:
    """Gap between mean probability and share of true labels in 15 bins, weighted by their size.

    Bins of equal width over all labels of all rows: the expected calibration error.

    Parameters
    ----------
    Y_true : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
        1 if a row has the label, else 0.
    P : array-like of shape (n_samples, n_labels)
        Probabilities from 0 to 1.

    Returns
    -------
    float
        From 0, the best, to 1.

    Examples
    --------
    >>> from nldd.metrics import calibration_error
    >>> calibration_error([[1, 0], [0, 0]], [[0.9, 0.1], [0.9, 0.1]]).__round__(3)
    0.25
    """
    y, p = _read_probabilities(Y_true, P)
    place = np.minimum((p * N_BINS).astype(int), N_BINS - 1)
    gaps = np.bincount(place, p - y, minlength=N_BINS)
    return float(np.abs(gaps).sum() / len(p))


def _over_labels(score: Callable[..., Any], Y_true: Any, P: Any, all_rows: bool) -> float:
    """Mean of a score of scikit-learn over the labels for which it is defined."""
    Y, scores = _read(Y_true, P)
    n_true = Y.sum(axis=0)
    fine = (n_true > 0) & (all_rows | (n_true < len(Y)))
    return float(score(Y[:, fine], scores[:, fine], average="macro")) if fine.any() else np.nan


def _read(Y_true: Any, P: Any) -> tuple[NDArray[Any], FloatArray]:
    Y, scores = read_indicator(Y_true).Y, np.asarray(P, dtype=np.float64)
    if Y.shape != scores.shape or not np.isfinite(scores).all():
        raise InputError(
            "The scores must be finite numbers, one for each row and label of Y_true; got shapes "
            f"{Y.shape} and {scores.shape}."
        )
    return Y, scores


def _read_rankings(Y_true: Any, P: Any) -> tuple[NDArray[Any], FloatArray]:
    """The same with two labels at least, as scikit-learn demands: one that is last and never true.

    It changes no ranking of the others.
    """
    Y, scores = _read(Y_true, P)
    if Y.shape[1] > 1:
        return Y, scores
    last = np.full_like(scores, scores.min(initial=0) - 1)
    return np.hstack([Y, np.zeros_like(Y)]), np.hstack([scores, last])


def _read_probabilities(Y_true: Any, P: Any) -> tuple[NDArray[Any], FloatArray]:
    """All labels of all rows with their probabilities, as two vectors."""
    Y, p = _read(Y_true, P)
    if p.min() < 0 or p.max() > 1:
        raise InputError(
            f"Probabilities lie between 0 and 1; got {p.min():g} to {p.max():g}. For scores of "
            "another range use a measure of rankings."
        )
    return Y.ravel(), p.ravel()


_RECORDS = (
    Measure("ranking_loss", "Ranking loss", ranking_loss, False),
    Measure("coverage", "Coverage", coverage, False),
    Measure("one_error", "One-error", one_error, False),
    Measure("average_precision", "Average precision of rankings", average_precision, True),
    Measure("macro_average_precision", "Macro average precision", macro_average_precision, True),
    Measure("macro_auroc", "Macro AUROC", macro_auroc, True),
    Measure("micro_auroc", "Micro AUROC", micro_auroc, True),
    Measure("log_loss", "Log loss", log_loss, False),
    Measure("brier_score", "Brier score", brier_score, False),
    Measure("calibration_error", "Calibration error", calibration_error, False),
)

PROBABILITY_MEASURES: dict[str, Measure] = {measure.key: measure for measure in _RECORDS}
"""The measures of probabilities and rankings of labels by key.

>>> from nldd.metrics import PROBABILITY_MEASURES
>>> PROBABILITY_MEASURES["one_error"]([[1, 0]], [[0.2, 0.9]])
1.0
>>> list(PROBABILITY_MEASURES)[:3]
['ranking_loss', 'coverage', 'one_error']
"""
