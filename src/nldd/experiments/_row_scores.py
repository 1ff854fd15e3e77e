"""The paper's four measures row by row, for standard errors and for scores on some of the rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd.metrics import PAPER_MEASURES, row_values

FloatArray = NDArray[np.float64]


def row_scores(Y_true: Any, Y_pred: Any) -> dict[str, FloatArray]:
    """One value a row for each of the paper's measures; their means are the measures."""
    values = row_values(Y_true, Y_pred)
    return {measure.key: values[measure.key] for measure in PAPER_MEASURES}


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
