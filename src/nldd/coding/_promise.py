"""Whether a promise held on answers that the model had not seen."""

from dataclasses import dataclass

from nldd.coding._evaluation import Evaluation
from nldd.coding._interval import accuracy_interval
from nldd.coding._model import CodingModel
from nldd.coding._selective import Selection


@dataclass(frozen=True)
class Kept:
    """What became of the answers that the threshold of a promise lets through.

    Attributes
    ----------
    selection : Selection
        The promise, made from the model's own answers.
    measure : "subset" or "hamming"
    n_answers, n_auto : int
        Of the new answers.
    accuracy, low, high : float or None
        Of the automatic codes among them, with a 95 % interval; None if there are none.
    """

    selection: Selection
    measure: str
    n_answers: int
    n_auto: int
    accuracy: float | None
    low: float | None
    high: float | None

    @property
    def share(self) -> float:
        """Share of the new answers that is coded automatically."""
        return self.n_auto / self.n_answers


def promise_kept(
    model: CodingModel,
    quality: Evaluation,
    target: float = 0.9,
    confidence: float = 0.9,
    measure: str = "subset",
) -> Kept:
    """Compare a model's promise with what an evaluation found."""
    selection = model.select(target, confidence, measure)
    n = len(quality.Y)
    right = quality.right(measure)
    auto = quality.predictions.theta <= (
        -1.0 if selection.threshold is None else selection.threshold
    )
    if not auto.any():
        return Kept(selection, measure, n, 0, None, None, None)
    low, high = accuracy_interval(right[auto])
    return Kept(selection, measure, n, int(auto.sum()), float(right[auto].mean()), low, high)
