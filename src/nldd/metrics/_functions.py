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
from nldd.metrics._core import FloatArray, label_counts, label_values, row_values


def hamming_loss(Y_true: Any, Y_pred: Any, *, sample_weight: Any = None) -> float:
    """Share of labels that are wrong.

    Examples
    --------
    >>> hamming_loss([[1, 0, 1, 0]], [[1, 1, 1, 0]])
    0.25
    """
    return _value("hamming_loss", Y_true, Y_pred, sample_weight)


def zero_one_loss(Y_true: Any, Y_pred: Any, *, sample_weight: Any = None) -> float:
    """Share of rows whose labelset is not entirely right.

    Examples
    --------
    >>> zero_one_loss([[1, 0], [0, 1]], [[1, 0], [1, 1]])
    0.5
    """
    return _value("zero_one_loss", Y_true, Y_pred, sample_weight)


def subset_accuracy(Y_true: Any, Y_pred: Any, *, sample_weight: Any = None) -> float:
    """Share of rows whose labelset is entirely right: one minus the 0/1 loss.

    Examples
    --------
    >>> subset_accuracy([[1, 0], [0, 1]], [[1, 0], [1, 1]])
    0.5
    """
    return _value("subset_accuracy", Y_true, Y_pred, sample_weight)


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
    return _value("multilabel_accuracy", Y_true, Y_pred, sample_weight, empty)


def f_measure(Y_true: Any, Y_pred: Any, *, empty: float = 1.0, sample_weight: Any = None) -> float:
    """``2 |y & y'| / (|y| + |y'|)``, averaged over rows.

    Examples
    --------
    >>> f_measure([[1, 1, 0]], [[1, 0, 1]])
    0.5
    """
    return _value("f_measure", Y_true, Y_pred, sample_weight, empty)


def precision(Y_true: Any, Y_pred: Any, *, empty: float = 1.0, sample_weight: Any = None) -> float:
    """Share of predicted labels that are right, averaged over rows.

    An empty prediction scores `empty` where the truth is empty too, else 0.

    Examples
    --------
    >>> precision([[1, 1, 0], [0, 1, 0]], [[1, 0, 0], [0, 0, 0]])
    0.5
    """
    return _value("precision", Y_true, Y_pred, sample_weight, empty)


def recall(Y_true: Any, Y_pred: Any, *, empty: float = 1.0, sample_weight: Any = None) -> float:
    """Share of true labels that are predicted, averaged over rows.

    An empty truth scores `empty` where the prediction is empty too, else 0.

    Examples
    --------
    >>> recall([[1, 1, 0], [0, 1, 0]], [[1, 0, 0], [0, 1, 0]])
    0.75
    """
    return _value("recall", Y_true, Y_pred, sample_weight, empty)


def micro_f(Y_true: Any, Y_pred: Any, *, empty: float = 1.0, sample_weight: Any = None) -> float:
    """F-measure of all labels of all rows counted together.

    Examples
    --------
    >>> micro_f([[1, 1], [0, 1]], [[1, 0], [0, 1]])
    0.8
    """
    return _value("micro_f", Y_true, Y_pred, sample_weight, empty)


def micro_precision(
    Y_true: Any, Y_pred: Any, *, empty: float = 1.0, sample_weight: Any = None
) -> float:
    """Share of all predicted labels that are right.

    Examples
    --------
    >>> micro_precision([[1, 1], [0, 1]], [[1, 0], [1, 1]]).__round__(3)
    0.667
    """
    return _value("micro_precision", Y_true, Y_pred, sample_weight, empty)


def micro_recall(
    Y_true: Any, Y_pred: Any, *, empty: float = 1.0, sample_weight: Any = None
) -> float:
    """Share of all true labels that are predicted.

    Examples
    --------
    >>> micro_recall([[1, 1], [0, 1]], [[1, 0], [1, 1]]).__round__(3)
    0.667
    """
    return _value("micro_recall", Y_true, Y_pred, sample_weight, empty)


def macro_f(Y_true: Any, Y_pred: Any, *, empty: float = 1.0, sample_weight: Any = None) -> float:
    """F-measure of each label over all rows, averaged over labels.

    `empty` is the score of a label that occurs neither in truth nor in prediction.

    Examples
    --------
    >>> macro_f([[1, 0], [1, 0]], [[1, 0], [0, 0]]).__round__(3)
    0.833
    """
    return _value("macro_f", Y_true, Y_pred, sample_weight, empty)


def macro_precision(
    Y_true: Any, Y_pred: Any, *, empty: float = 1.0, sample_weight: Any = None
) -> float:
    """Precision of each label over all rows, averaged over labels.

    Examples
    --------
    >>> macro_precision([[1, 0], [1, 1]], [[1, 1], [0, 1]])
    0.75
    """
    return _value("macro_precision", Y_true, Y_pred, sample_weight, empty)


def macro_recall(
    Y_true: Any, Y_pred: Any, *, empty: float = 1.0, sample_weight: Any = None
) -> float:
    """Recall of each label over all rows, averaged over labels.

    Examples
    --------
    >>> macro_recall([[1, 0], [1, 1]], [[1, 1], [0, 1]])
    0.75
    """
    return _value("macro_recall", Y_true, Y_pred, sample_weight, empty)


def _value(key: str, Y_true: Any, Y_pred: Any, sample_weight: Any, empty: float = 1.0) -> float:
    truth, prediction = _pair(Y_true, Y_pred)
    weight = _weights(sample_weight, len(truth))
    if key.startswith(("micro", "macro")):
        return float(label_values(label_counts(truth, prediction, weight), empty)[key])
    return float(np.average(row_values(truth, prediction, empty)[key], weights=weight))


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
