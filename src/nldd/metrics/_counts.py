"""All measures from one count of labels: in truth and prediction, in the truth, in the prediction.

Counts are made for each row (example-based measures) or for each label (micro and macro). If truth
and prediction are both empty, a ratio is 0 / 0 and its value is `empty`; if only its own
denominator is 0, its value is 0. Macro measures leave out labels that occur in neither, unless
`empty` gives them a value.

scikit-learn's functions have no values per row, none for many weights at once, and score precision
or recall of 0 / 0 as `zero_division` even if only one of the two sides is empty.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Labels = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Labels in truth and prediction, in the truth, and in the prediction, of the same shape."""

    both: Labels
    true: Labels
    pred: Labels

    def sum(self) -> "Counts":
        """Counts of all labels together."""
        return Counts(*(n.sum(axis=-1) for n in (self.both, self.true, self.pred)))

    def as_lists(self) -> dict[str, list[int]]:
        """True positives, false positives and false negatives, as records keep them."""
        parts = {"tp": self.both, "fp": self.pred - self.both, "fn": self.true - self.both}
        return {key: part.tolist() for key, part in parts.items()}

    def precision(self, empty: float = 1.0) -> FloatArray:
        """Share of predicted labels that are true."""
        return self._ratio(self.both, self.pred, empty)

    def recall(self, empty: float = 1.0) -> FloatArray:
        """Share of true labels that are predicted."""
        return self._ratio(self.both, self.true, empty)

    def f(self, empty: float = 1.0) -> FloatArray:
        """Harmonic mean of precision and recall."""
        return self._ratio(2 * self.both, self.true + self.pred, empty)

    def jaccard(self, empty: float = 1.0) -> FloatArray:
        """Labels in both over labels in either."""
        return self._ratio(self.both, self.true + self.pred - self.both, empty)

    def _ratio(self, part: Labels, whole: Labels, empty: float) -> FloatArray:
        value = np.divide(part, whole, out=np.zeros(np.shape(whole)), where=whole > 0)
        return np.where(self.true + self.pred == 0, empty, value)


def label_counts(Y: Labels, Y_pred: Labels, weights: FloatArray | None = None) -> Counts:
    """Counts of each label; for each row of `weights`, if it has several rows."""
    Y, Y_pred = Y.astype(bool), Y_pred.astype(bool)
    parts = (Y & Y_pred, Y, Y_pred)
    if weights is None:
        return Counts(*(part.sum(axis=0) for part in parts))
    return Counts(*(weights @ part.astype(float) for part in parts))


def row_values(Y: Labels, Y_pred: Labels, empty: float = 1.0) -> dict[str, FloatArray]:
    """One value per row for each example-based measure; their means are the measures.

    >>> Y = np.array([[1, 1, 0, 0], [0, 0, 0, 0]])
    >>> row_values(Y, np.array([[1, 0, 0, 0], [0, 0, 0, 0]]))["multilabel_accuracy"]
    array([0.5, 1. ])
    """
    counts = label_counts(Y.T, Y_pred.T)
    n_wrong = counts.true + counts.pred - 2 * counts.both
    return {
        "hamming_loss": n_wrong / Y.shape[1],
        "zero_one_loss": (n_wrong > 0).astype(float),
        "multilabel_accuracy": counts.jaccard(empty),
        "f_measure": counts.f(empty),
        "subset_accuracy": (n_wrong == 0).astype(float),
        "precision": counts.precision(empty),
        "recall": counts.recall(empty),
    }


def label_values(counts: Counts, empty: float | None = None) -> dict[str, FloatArray]:
    """Micro and macro measures of the counts of labels, which are on the last axis.

    If `empty` is None, macro measures leave out labels that occur neither in truth nor in
    prediction; if no label is left they are 1, as micro measures are.

    >>> counts = label_counts(np.array([[1, 0], [1, 0]]), np.array([[1, 0], [1, 0]]))
    >>> float(label_values(counts)["macro_f"]), float(label_values(counts, empty=0)["macro_f"])
    (1.0, 0.5)
    """
    values = {}
    there = counts.true + counts.pred > 0 if empty is None else np.ones(counts.true.shape)
    n_there = there.sum(axis=-1)
    for name in ("f", "precision", "recall"):
        values[f"micro_{name}"] = getattr(counts.sum(), name)(1.0 if empty is None else empty)
        total = (getattr(counts, name)(empty or 0.0) * there).sum(axis=-1)
        values[f"macro_{name}"] = np.where(n_there > 0, total / np.maximum(n_there, 1), 1.0)
    return values


def weighted_values(Y: Labels, Y_pred: Labels, weights: FloatArray) -> dict[str, FloatArray]:
    """Every measure for each row of `weights`, which has a column for each row of Y.

    >>> Y, Y_pred = np.array([[1, 0], [1, 1]]), np.array([[1, 0], [0, 1]])
    >>> weighted_values(Y, Y_pred, np.array([[1.0, 1.0], [3.0, 1.0]]))["subset_accuracy"]
    array([0.5 , 0.75])
    """
    total = weights.sum(axis=1)
    rows = {key: weights @ value / total for key, value in row_values(Y, Y_pred).items()}
    return rows | label_values(label_counts(Y, Y_pred, weights))
