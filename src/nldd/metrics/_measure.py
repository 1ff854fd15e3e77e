"""The record of a measure, and the registry of all of them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from sklearn.metrics import make_scorer

from nldd.metrics import _functions as functions


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of multi-label predictions.

    Attributes
    ----------
    key : str
        Name in code, files and options.
    name : str
        Name in tables.
    function : callable
        ``function(Y_true, Y_pred, *, sample_weight=None)``; those that divide by counts of labels
        also take ``empty``.
    greater_is_better : bool

    Examples
    --------
    >>> measure = MEASURES["f_measure"]
    >>> measure([[0, 0]], [[0, 0]]), measure([[0, 0]], [[0, 0]], empty=0)
    (1.0, 0.0)
    >>> MEASURES["hamming_loss"].greater_is_better
    False
    """

    key: str
    name: str
    function: Callable[..., float]
    greater_is_better: bool

    def __call__(self, Y_true: Any, Y_pred: Any, **options: Any) -> float:
        return self.function(Y_true, Y_pred, **options)

    def scorer(self, **options: Any) -> Any:
        """The measure for ``scoring=`` of scikit-learn; losses come with a minus sign there."""
        return make_scorer(self.function, greater_is_better=self.greater_is_better, **options)

    @property
    def direction(self) -> str:
        """Which values are better, for table heads."""
        return "higher is better" if self.greater_is_better else "lower is better"


_RECORDS = (
    Measure("hamming_loss", "Hamming loss", functions.hamming_loss, False),
    Measure("zero_one_loss", "0/1 loss", functions.zero_one_loss, False),
    Measure("multilabel_accuracy", "Multi-label accuracy", functions.multilabel_accuracy, True),
    Measure("f_measure", "F-measure", functions.f_measure, True),
    Measure("subset_accuracy", "Subset accuracy", functions.subset_accuracy, True),
    Measure("precision", "Precision", functions.precision, True),
    Measure("recall", "Recall", functions.recall, True),
    Measure("micro_f", "Micro F", functions.micro_f, True),
    Measure("micro_precision", "Micro precision", functions.micro_precision, True),
    Measure("micro_recall", "Micro recall", functions.micro_recall, True),
    Measure("macro_f", "Macro F", functions.macro_f, True),
    Measure("macro_precision", "Macro precision", functions.macro_precision, True),
    Measure("macro_recall", "Macro recall", functions.macro_recall, True),
)

MEASURES: dict[str, Measure] = {measure.key: measure for measure in _RECORDS}
PAPER_MEASURES: tuple[Measure, ...] = _RECORDS[:4]


def evaluate(
    Y_true: Any, Y_pred: Any, measures: Iterable[Measure] = PAPER_MEASURES
) -> dict[str, float]:
    """Value of each measure, by key.

    Examples
    --------
    >>> evaluate([[1, 0, 1]], [[1, 0, 0]], [MEASURES["zero_one_loss"], MEASURES["recall"]])
    {'zero_one_loss': 1.0, 'recall': 0.5}
    """
    return {measure.key: measure(Y_true, Y_pred) for measure in measures}
