"""Formulas of the measures.

Every function takes indicator matrices of truth and prediction (arrays, sparse matrices or
frames) and optional sample weights. Where a ratio has nothing to count, 0 / 0, because truth and
prediction are both empty, its value is the parameter `empty`: 1 as in Mulan by default (a
right answer scores full), 0 as in scikit-learn if so chosen.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd._labels import LabelTable, is_frame, read_indicator
from nldd.exceptions import InputError

FloatArray = NDArray[np.float64]


def hamming_loss(Y_true: Any, Y_pred: Any, *, sample_weight: Any = None) -> float:
    """Share of labels that are wrong.

    Examples
    --------
    >>> hamming_loss([[1, 0, 1, 0]], [[1, 1, 1, 0]])
    0.25
    """
    Y_true, Y_pred = _pair(Y_true, Y_pred)
    return _mean((Y_true != Y_pred).mean(axis=1), sample_weight)


def zero_one_loss(Y_true: Any, Y_pred: Any, *, sample_weight: Any = None) -> float:
    """Share of rows whose labelset is not entirely right.

    Examples
    --------
    >>> zero_one_loss([[1, 0], [0, 1]], [[1, 0], [1, 1]])
    0.5
    """
    Y_true, Y_pred = _pair(Y_true, Y_pred)
    return _mean((Y_true != Y_pred).any(axis=1), sample_weight)


def subset_accuracy(Y_true: Any, Y_pred: Any, *, sample_weight: Any = None) -> float:
    """Share of rows whose labelset is entirely right: one minus the 0/1 loss.

    Examples
    --------
    >>> subset_accuracy([[1, 0], [0, 1]], [[1, 0], [1, 1]])
    0.5
    """
    return 1.0 - zero_one_loss(Y_true, Y_pred, sample_weight=sample_weight)


def multilabel_accuracy(
    Y_true: Any, Y_pred: Any, *, empty: float = 1.0, sample_weight: Any = None
) -> float:
    """Labels in both sets over labels in either, ``|y & y'| / |y | y'|``, averaged over rows.

    Also known as the Jaccard index.

    Examples
    --------
    >>> multilabel_accuracy([[1, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]])
    0.75
    >>> multilabel_accuracy([[1, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]], empty=0)
    0.25
    """
    both, true, pred = _counts(Y_true, Y_pred, axis=1)
    return _mean(_ratio(both, true + pred - both, empty), sample_weight)


def f_measure(Y_true: Any, Y_pred: Any, *, empty: float = 1.0, sample_weight: Any = None) -> float:
    """``2 |y & y'| / (|y| + |y'|)``, averaged over rows.

    Examples
    --------
    >>> f_measure([[1, 1, 0]], [[1, 0, 1]])
    0.5
    """
    both, true, pred = _counts(Y_true, Y_pred, axis=1)
    return _mean(_ratio(2 * both, true + pred, empty), sample_weight)


def precision(Y_true: Any, Y_pred: Any, *, empty: float = 1.0, sample_weight: Any = None) -> float:
    """Share of predicted labels that are right, averaged over rows.

    An empty prediction scores `empty` where the truth is empty too, else 0.

    Examples
    --------
    >>> precision([[1, 1, 0], [0, 1, 0]], [[1, 0, 0], [0, 0, 0]])
    0.5
    """
    both, true, pred = _counts(Y_true, Y_pred, axis=1)
    return _mean(_ratio(both, pred, np.where(true > 0, 0.0, empty)), sample_weight)


def recall(Y_true: Any, Y_pred: Any, *, empty: float = 1.0, sample_weight: Any = None) -> float:
    """Share of true labels that are predicted, averaged over rows.

    An empty truth scores `empty` where the prediction is empty too, else 0.

    Examples
    --------
    >>> recall([[1, 1, 0], [0, 1, 0]], [[1, 0, 0], [0, 1, 0]])
    0.75
    """
    both, true, pred = _counts(Y_true, Y_pred, axis=1)
    return _mean(_ratio(both, true, np.where(pred > 0, 0.0, empty)), sample_weight)


def micro_f(Y_true: Any, Y_pred: Any, *, empty: float = 1.0, sample_weight: Any = None) -> float:
    """F-measure of all labels of all rows counted together.

    Examples
    --------
    >>> micro_f([[1, 1], [0, 1]], [[1, 0], [0, 1]])
    0.8
    """
    both, true, pred = _totals(Y_true, Y_pred, sample_weight)
    return float(_ratio(2 * both, true + pred, empty))


def micro_precision(
    Y_true: Any, Y_pred: Any, *, empty: float = 1.0, sample_weight: Any = None
) -> float:
    """Share of all predicted labels that are right.

    Examples
    --------
    >>> micro_precision([[1, 1], [0, 1]], [[1, 0], [1, 1]]).__round__(3)
    0.667
    """
    both, true, pred = _totals(Y_true, Y_pred, sample_weight)
    return float(_ratio(both, pred, np.where(true > 0, 0.0, empty)))


def micro_recall(
    Y_true: Any, Y_pred: Any, *, empty: float = 1.0, sample_weight: Any = None
) -> float:
    """Share of all true labels that are predicted.

    Examples
    --------
    >>> micro_recall([[1, 1], [0, 1]], [[1, 0], [1, 1]]).__round__(3)
    0.667
    """
    both, true, pred = _totals(Y_true, Y_pred, sample_weight)
    return float(_ratio(both, true, np.where(pred > 0, 0.0, empty)))


def macro_f(Y_true: Any, Y_pred: Any, *, empty: float = 1.0, sample_weight: Any = None) -> float:
    """F-measure of each label over all rows, averaged over labels.

    `empty` is the score of a label that occurs neither in truth nor in prediction.

    Examples
    --------
    >>> macro_f([[1, 0], [1, 0]], [[1, 0], [0, 0]]).__round__(3)
    0.833
    """
    both, true, pred = _counts(Y_true, Y_pred, axis=0, sample_weight=sample_weight)
    return float(_ratio(2 * both, true + pred, empty).mean())


def macro_precision(
    Y_true: Any, Y_pred: Any, *, empty: float = 1.0, sample_weight: Any = None
) -> float:
    """Precision of each label over all rows, averaged over labels.

    Examples
    --------
    >>> macro_precision([[1, 0], [1, 1]], [[1, 1], [0, 1]])
    0.75
    """
    both, true, pred = _counts(Y_true, Y_pred, axis=0, sample_weight=sample_weight)
    return float(_ratio(both, pred, np.where(true > 0, 0.0, empty)).mean())


def macro_recall(
    Y_true: Any, Y_pred: Any, *, empty: float = 1.0, sample_weight: Any = None
) -> float:
    """Recall of each label over all rows, averaged over labels.

    Examples
    --------
    >>> macro_recall([[1, 0], [1, 1]], [[1, 1], [0, 1]])
    0.75
    """
    both, true, pred = _counts(Y_true, Y_pred, axis=0, sample_weight=sample_weight)
    return float(_ratio(both, true, np.where(pred > 0, 0.0, empty)).mean())


def _pair(Y_true: Any, Y_pred: Any) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    truth, prediction = _indicator(Y_true, "Y_true"), _indicator(Y_pred, "Y_pred")
    if truth.Y.shape != prediction.Y.shape:
        raise InputError(
            "Y_true and Y_pred must have the same rows and label columns; got shapes "
            f"{truth.Y.shape} and {prediction.Y.shape}."
        )
    named = is_frame(Y_true) and is_frame(Y_pred)
    if named and list(truth.names) != list(prediction.names):
        raise InputError(
            "Y_true and Y_pred must have the same label columns in the same order; got "
            f"{list(truth.names)} and {list(prediction.names)}."
        )
    return truth.Y.astype(bool), prediction.Y.astype(bool)


def _indicator(Y: Any, name: str) -> LabelTable:
    try:
        return read_indicator(Y)
    except ValueError as error:
        raise InputError(f"{name} must be an indicator matrix. {error}") from None


def _weights(sample_weight: Any, n_samples: int) -> FloatArray:
    if sample_weight is None:
        return np.ones(n_samples)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_samples,) or not weight.any():
        raise InputError(
            f"sample_weight must hold one number per row, {n_samples} in all and not all 0; "
            f"got shape {weight.shape}."
        )
    return weight


def _counts(
    Y_true: Any, Y_pred: Any, axis: int, sample_weight: Any = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Labels in both, in the truth, in the prediction: per row (axis 1) or per label (axis 0)."""
    truth, prediction = _pair(Y_true, Y_pred)
    weight = _weights(sample_weight, len(truth))
    both, true, pred = (
        (Y * weight[:, np.newaxis]).sum(axis=axis) for Y in (truth & prediction, truth, prediction)
    )
    return both, true, pred


def _totals(
    Y_true: Any, Y_pred: Any, sample_weight: Any
) -> tuple[np.float64, np.float64, np.float64]:
    both, true, pred = _counts(Y_true, Y_pred, axis=0, sample_weight=sample_weight)
    return both.sum(), true.sum(), pred.sum()


def _ratio(numerator: Any, denominator: Any, if_nothing: Any) -> FloatArray:
    """Ratio, with `if_nothing` where the denominator is 0."""
    nothing = np.asarray(denominator) == 0
    return np.where(nothing, if_nothing, numerator / np.where(nothing, 1, denominator))


def _mean(values: Any, sample_weight: Any) -> float:
    return float(np.average(values, weights=_weights(sample_weight, len(values))))
