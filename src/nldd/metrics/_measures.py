"""The measures: a function for each, with its record (key, name, direction) in one registry.

Every function takes indicator matrices of truth and prediction (arrays, sparse matrices or
frames) and optional sample weights. All come from one count of labels: in truth and prediction, in
the truth, in the prediction; for each row (example-based measures) or for each label (micro and
macro). If truth and prediction are both empty, a ratio is 0 / 0 and its value is `empty`: 1 by
default, as in Mulan (a right prediction scores full); 0 as in scikit-learn. If only its own
denominator is 0, its value is 0. Macro measures leave out labels that occur in neither, as with
scikit-learn's ``zero_division=nan``, unless `empty` gives them a value.

scikit-learn's functions have no values per row, none for many weights at once, and score precision
or recall of 0 / 0 as `zero_division` even if only one of the two sides is empty.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import make_scorer

from nldd._labels import is_frame, read_indicator
from nldd.exceptions import InputError

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


def hamming_loss(Y_true: Any, Y_pred: Any, *, sample_weight: Any = None) -> float:
    """Share of labels that are wrong.

    Parameters
    ----------
    Y_true, Y_pred : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
        Truth and prediction: 1 if a row has the label, else 0.
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    float
        From 0, the best, to 1.

    Notes
    -----
    Sum of ``|y_l - y'_l|`` over labels and rows, divided by ``n_samples * n_labels``.

    Examples
    --------
    >>> from nldd.metrics import hamming_loss
    >>> hamming_loss([[1, 0, 1, 0]], [[1, 1, 1, 0]])
    0.25
    """
    return _value("hamming_loss", Y_true, Y_pred, sample_weight)


def zero_one_loss(Y_true: Any, Y_pred: Any, *, sample_weight: Any = None) -> float:
    """Share of rows whose labelset is not entirely right.

    Parameters
    ----------
    Y_true, Y_pred : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
        Truth and prediction: 1 if a row has the label, else 0.
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    float
        From 0, the best, to 1.

    Examples
    --------
    >>> from nldd.metrics import zero_one_loss
    >>> zero_one_loss([[1, 0], [0, 1]], [[1, 0], [1, 1]])
    0.5
    """
    return _value("zero_one_loss", Y_true, Y_pred, sample_weight)


def subset_accuracy(Y_true: Any, Y_pred: Any, *, sample_weight: Any = None) -> float:
    """Share of rows whose labelset is entirely right: one minus the 0/1 loss.

    Parameters
    ----------
    Y_true, Y_pred : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
        Truth and prediction: 1 if a row has the label, else 0.
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    float
        From 0 to 1, the best.

    Examples
    --------
    >>> from nldd.metrics import subset_accuracy
    >>> subset_accuracy([[1, 0], [0, 1]], [[1, 0], [1, 1]])
    0.5
    """
    return _value("subset_accuracy", Y_true, Y_pred, sample_weight)


def multilabel_accuracy(
    Y_true: Any, Y_pred: Any, *, empty: float = 1.0, sample_weight: Any = None
) -> float:
    """Labels in both sets over labels in either, ``|y & y'| / |y | y'|``, averaged over rows.

    Also known as the Jaccard index.

    Parameters
    ----------
    Y_true, Y_pred : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
        Truth and prediction: 1 if a row has the label, else 0.
    empty : float, default=1.0
        Value of a row whose truth and prediction are both empty.
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    float
        From 0 to 1, the best.

    Examples
    --------
    >>> from nldd.metrics import multilabel_accuracy
    >>> multilabel_accuracy([[1, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]])
    0.75
    >>> multilabel_accuracy([[1, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]], empty=0)
    0.25
    """
    return _value("multilabel_accuracy", Y_true, Y_pred, sample_weight, empty)


def f_measure(Y_true: Any, Y_pred: Any, *, empty: float = 1.0, sample_weight: Any = None) -> float:
    """F-measure of the two labelsets, ``2 |y & y'| / (|y| + |y'|)``, averaged over rows.

    Parameters
    ----------
    Y_true, Y_pred : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
        Truth and prediction: 1 if a row has the label, else 0.
    empty : float, default=1.0
        Value of a row whose truth and prediction are both empty.
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    float
        From 0 to 1, the best.

    See Also
    --------
    micro_f : All labels of all rows counted together.
    macro_f : Label by label.

    Examples
    --------
    >>> from nldd.metrics import f_measure
    >>> f_measure([[1, 1, 0]], [[1, 0, 1]])
    0.5
    """
    return _value("f_measure", Y_true, Y_pred, sample_weight, empty)


def precision(Y_true: Any, Y_pred: Any, *, empty: float = 1.0, sample_weight: Any = None) -> float:
    """Share of predicted labels that are right, averaged over rows.

    An empty prediction scores `empty` if the truth is empty too, else 0.

    Parameters
    ----------
    Y_true, Y_pred : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
        Truth and prediction: 1 if a row has the label, else 0.
    empty : float, default=1.0
        Value of a row whose truth and prediction are both empty.
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    float
        From 0 to 1, the best.

    Examples
    --------
    >>> from nldd.metrics import precision
    >>> precision([[1, 1, 0], [0, 1, 0]], [[1, 0, 0], [0, 0, 0]])
    0.5
    """
    return _value("precision", Y_true, Y_pred, sample_weight, empty)


def recall(Y_true: Any, Y_pred: Any, *, empty: float = 1.0, sample_weight: Any = None) -> float:
    """Share of true labels that are predicted, averaged over rows.

    An empty truth scores `empty` if the prediction is empty too, else 0.

    Parameters
    ----------
    Y_true, Y_pred : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
        Truth and prediction: 1 if a row has the label, else 0.
    empty : float, default=1.0
        Value of a row whose truth and prediction are both empty.
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    float
        From 0 to 1, the best.

    Examples
    --------
    >>> from nldd.metrics import recall
    >>> recall([[1, 1, 0], [0, 1, 0]], [[1, 0, 0], [0, 1, 0]])
    0.75
    """
    return _value("recall", Y_true, Y_pred, sample_weight, empty)


def micro_f(Y_true: Any, Y_pred: Any, *, empty: float = 1.0, sample_weight: Any = None) -> float:
    """F-measure of all labels of all rows counted together.

    Parameters
    ----------
    Y_true, Y_pred : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
        Truth and prediction: 1 if a row has the label, else 0.
    empty : float, default=1.0
        Value if truth and prediction are empty in all rows.
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    float
        From 0 to 1, the best.

    Notes
    -----
    ``2 tp / (2 tp + fp + fn)`` of the true positives, false positives and false negatives in all.

    Examples
    --------
    >>> from nldd.metrics import micro_f
    >>> micro_f([[1, 1], [0, 1]], [[1, 0], [0, 1]])
    0.8
    """
    return _value("micro_f", Y_true, Y_pred, sample_weight, empty)


def micro_precision(
    Y_true: Any, Y_pred: Any, *, empty: float = 1.0, sample_weight: Any = None
) -> float:
    """Share of all predicted labels that are right.

    Parameters
    ----------
    Y_true, Y_pred : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
        Truth and prediction: 1 if a row has the label, else 0.
    empty : float, default=1.0
        Value if truth and prediction are empty in all rows.
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    float
        From 0 to 1, the best.

    Examples
    --------
    >>> from nldd.metrics import micro_precision
    >>> micro_precision([[1, 1], [0, 1]], [[1, 0], [1, 1]]).__round__(3)
    0.667
    """
    return _value("micro_precision", Y_true, Y_pred, sample_weight, empty)


def micro_recall(
    Y_true: Any, Y_pred: Any, *, empty: float = 1.0, sample_weight: Any = None
) -> float:
    """Share of all true labels that are predicted.

    Parameters
    ----------
    Y_true, Y_pred : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
        Truth and prediction: 1 if a row has the label, else 0.
    empty : float, default=1.0
        Value if truth and prediction are empty in all rows.
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    float
        From 0 to 1, the best.

    Examples
    --------
    >>> from nldd.metrics import micro_recall
    >>> micro_recall([[1, 1], [0, 1]], [[1, 0], [1, 1]]).__round__(3)
    0.667
    """
    return _value("micro_recall", Y_true, Y_pred, sample_weight, empty)


def macro_f(
    Y_true: Any, Y_pred: Any, *, empty: float | None = None, sample_weight: Any = None
) -> float:
    """F-measure of each label over all rows, averaged over labels.

    A label that occurs neither in truth nor in prediction is left out, or scores `empty`.

    Parameters
    ----------
    Y_true, Y_pred : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
        Truth and prediction: 1 if a row has the label, else 0.
    empty : float, default=None
        Value of a label that occurs neither in truth nor in prediction; None leaves it out.
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    float
        From 0 to 1, the best.

    Examples
    --------
    >>> from nldd.metrics import macro_f
    >>> macro_f([[1, 0], [1, 0]], [[1, 0], [0, 0]]).__round__(3)
    0.667
    >>> macro_f([[1, 0], [1, 0]], [[1, 0], [0, 0]], empty=1).__round__(3)
    0.833
    """
    return _value("macro_f", Y_true, Y_pred, sample_weight, empty)


def macro_precision(
    Y_true: Any, Y_pred: Any, *, empty: float | None = None, sample_weight: Any = None
) -> float:
    """Precision of each label over all rows, averaged over labels.

    Parameters
    ----------
    Y_true, Y_pred : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
        Truth and prediction: 1 if a row has the label, else 0.
    empty : float, default=None
        Value of a label that occurs neither in truth nor in prediction; None leaves it out.
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    float
        From 0 to 1, the best; a label that is never predicted has 0.

    Examples
    --------
    >>> from nldd.metrics import macro_precision
    >>> macro_precision([[1, 0], [1, 1]], [[1, 1], [0, 1]])
    0.75
    """
    return _value("macro_precision", Y_true, Y_pred, sample_weight, empty)


def macro_recall(
    Y_true: Any, Y_pred: Any, *, empty: float | None = None, sample_weight: Any = None
) -> float:
    """Recall of each label over all rows, averaged over labels.

    Parameters
    ----------
    Y_true, Y_pred : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
        Truth and prediction: 1 if a row has the label, else 0.
    empty : float, default=None
        Value of a label that occurs neither in truth nor in prediction; None leaves it out.
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    float
        From 0 to 1, the best; a label that is never true has 0.

    Examples
    --------
    >>> from nldd.metrics import macro_recall
    >>> macro_recall([[1, 0], [1, 1]], [[1, 1], [0, 1]])
    0.75
    """
    return _value("macro_recall", Y_true, Y_pred, sample_weight, empty)


def _value(
    key: str, Y_true: Any, Y_pred: Any, sample_weight: Any, empty: float | None = 1.0
) -> float:
    (Y, names), (Y_pred, other_names) = _read(Y_true, "Y_true"), _read(Y_pred, "Y_pred")
    named = bool(names and other_names)
    if Y.shape != Y_pred.shape or (named and names != other_names):
        columns = f", columns {names} and {other_names}" * named
        raise InputError(
            "Y_true and Y_pred must have the same rows and label columns; got shapes "
            f"{Y.shape} and {Y_pred.shape}{columns}."
        )
    weight = np.ones(len(Y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if weight.shape != (len(Y),) or not weight.any():
        found = f"{len(Y)} in all and not all 0; got shape {weight.shape}"
        raise InputError(f"sample_weight must hold one number per row, {found}.")
    if key.startswith(("micro", "macro")):
        return float(label_values(label_counts(Y, Y_pred, weight), empty)[key])
    return float(np.average(row_values(Y, Y_pred, empty or 0.0)[key], weights=weight))


def _read(Y: Any, name: str) -> tuple[NDArray[np.int8], list[Any]]:
    """The indicator matrix, and the names of its columns if it has any."""
    try:
        table = read_indicator(Y)
    except ValueError as error:
        raise InputError(f"{name} must be an indicator matrix. {error}") from None
    return table.Y, table.names.tolist() if is_frame(Y) else []


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of multi-label predictions: its function, names and direction.

    It is called as its `function`: ``measure(Y_true, Y_pred, *, sample_weight=None)``; those that
    divide by counts of labels also take ``empty``, and those of :data:`PROBABILITY_MEASURES` take
    probabilities instead of predictions.

    Attributes
    ----------
    key, name : str
        The name in code and files, and the one in tables.
    function : callable
    greater_is_better : bool

    Examples
    --------
    >>> from nldd.metrics import MEASURES
    >>> measure = MEASURES["f_measure"]
    >>> measure([[0, 0]], [[0, 0]]), measure([[0, 0]], [[0, 0]], empty=0)
    (1.0, 0.0)
    >>> MEASURES["hamming_loss"].greater_is_better
    False
    >>> MEASURES["hamming_loss"].direction
    'lower is better'
    """

    key: str
    name: str
    function: Callable[..., float]
    greater_is_better: bool

    def __call__(self, Y_true: Any, Y_pred: Any, **options: Any) -> float:
        return self.function(Y_true, Y_pred, **options)

    def scorer(self, **options: Any) -> Any:
        """The measure for ``scoring=`` of scikit-learn; losses come with a minus sign there.

        Parameters
        ----------
        **options : dict
            Of :func:`sklearn.metrics.make_scorer`, and of the measure, such as ``empty=0``.

        Returns
        -------
        callable
            Called with a fitted model, `X` and `y`.
        """
        return make_scorer(self.function, greater_is_better=self.greater_is_better, **options)

    @property
    def direction(self) -> str:
        """Which values are better, for table heads."""
        return "higher is better" if self.greater_is_better else "lower is better"


_RECORDS = (
    Measure("hamming_loss", "Hamming loss", hamming_loss, False),
    Measure("zero_one_loss", "0/1 loss", zero_one_loss, False),
    Measure("multilabel_accuracy", "Multi-label accuracy", multilabel_accuracy, True),
    Measure("f_measure", "F-measure", f_measure, True),
    Measure("subset_accuracy", "Subset accuracy", subset_accuracy, True),
    Measure("precision", "Precision", precision, True),
    Measure("recall", "Recall", recall, True),
    Measure("micro_f", "Micro F", micro_f, True),
    Measure("micro_precision", "Micro precision", micro_precision, True),
    Measure("micro_recall", "Micro recall", micro_recall, True),
    Measure("macro_f", "Macro F", macro_f, True),
    Measure("macro_precision", "Macro precision", macro_precision, True),
    Measure("macro_recall", "Macro recall", macro_recall, True),
)

MEASURES: dict[str, Measure] = {measure.key: measure for measure in _RECORDS}
"""The measures of predicted labels by key, in the order of tables.

>>> from nldd.metrics import MEASURES
>>> MEASURES["f_measure"].name, MEASURES["f_measure"]([[1, 1, 0]], [[1, 0, 1]])
('F-measure', 0.5)
>>> [key for key, measure in MEASURES.items() if not measure.greater_is_better]
['hamming_loss', 'zero_one_loss']
"""
PAPER_MEASURES: tuple[Measure, ...] = _RECORDS[:4]
"""The four measures of the paper's tables, in their order.

>>> from nldd.metrics import PAPER_MEASURES
>>> [measure.key for measure in PAPER_MEASURES]
['hamming_loss', 'zero_one_loss', 'multilabel_accuracy', 'f_measure']
"""


def evaluate(
    Y_true: Any, Y_pred: Any, measures: Iterable[Measure] = PAPER_MEASURES
) -> dict[str, float]:
    """Value of each measure, by key.

    Parameters
    ----------
    Y_true, Y_pred : {array-like, sparse matrix, frame} of shape (n_samples, n_labels)
        Truth and prediction: 1 if a row has the label, else 0.
    measures : iterable of Measure
        By default the four of the paper, :data:`PAPER_MEASURES`.

    Returns
    -------
    dict of float
        In the order of `measures`.

    Examples
    --------
    >>> from nldd.metrics import MEASURES
    >>> from nldd.metrics import evaluate
    >>> evaluate([[1, 0, 1]], [[1, 0, 0]], [MEASURES["zero_one_loss"], MEASURES["recall"]])
    {'zero_one_loss': 1.0, 'recall': 0.5}
    """
    return {measure.key: measure(Y_true, Y_pred) for measure in measures}
