"""The paper's four measures row by row, for standard errors and for scores on some of the rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def row_scores(Y_true: Any, Y_pred: Any) -> dict[str, FloatArray]:
    """One value a row for each of the paper's measures; their means are the measures.

    Examples
    --------
    >>> Y = np.array([[1, 1, 0, 0], [0, 0, 0, 0]])
    >>> row_scores(Y, np.array([[1, 0, 0, 0], [0, 0, 0, 0]]))["multilabel_accuracy"]
    array([0.5, 1. ])
    """
    wrong = Y_true != Y_pred
    both = (Y_true * Y_pred).sum(axis=1)
    size = Y_true.sum(axis=1) + Y_pred.sum(axis=1)
    return {
        "hamming_loss": wrong.mean(axis=1),
        "zero_one_loss": wrong.any(axis=1).astype(float),
        "multilabel_accuracy": _ratio(both, size - both),
        "f_measure": _ratio(2 * both, size),
    }


def standard_errors(scores: dict[str, FloatArray]) -> dict[str, float | None]:
    """Standard error of each mean, as if test rows were drawn at random; None for one row."""
    return {
        key: float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
        for key, values in scores.items()
    }


def observed(Y_train: Any, Y_test: Any) -> NDArray[np.bool_]:
    """Whether the labelset of each test row occurs in training.

    Examples
    --------
    >>> observed(np.array([[1, 0], [0, 1]]), np.array([[1, 1], [0, 1]]))
    array([False,  True])
    """
    known = {row.tobytes() for row in np.packbits(Y_train.astype(bool), axis=1)}
    return np.array([row.tobytes() in known for row in np.packbits(Y_test.astype(bool), axis=1)])


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """`part` over `whole`, 1 where truth and prediction are both empty."""
    return np.divide(part, whole, out=np.ones(len(whole)), where=whole > 0)
