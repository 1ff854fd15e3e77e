"""All measures with intervals that come from drawing the answers again."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nldd.coding._interval import LEVEL, accuracy_interval
from nldd.metrics import MEASURES, weighted_values

N_DRAWS = 1000
DRAWS_AT_ONCE = 50
SHARES_OF_ANSWERS = ("subset_accuracy", "zero_one_loss")

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Score:
    """A measure of predictions.

    Attributes
    ----------
    key, name : str
        As in :data:`nldd.metrics.MEASURES`.
    value, low, high : float
        With a 95 % interval.
    """

    key: str
    name: str
    value: float
    low: float
    high: float


def score_answers(
    Y: NDArray[np.int8], Y_pred: NDArray[np.int8], random_state: int = 0
) -> tuple[Score, ...]:
    """Every measure of nldd with a 95 % interval over the answers.

    The answers are drawn again with replacement a thousand times; the interval spans the middle
    95 % of the values. Subset accuracy and its loss, shares of the answers, have an exact interval.
    It also stands for measures that no drawing can change, as when all answers are right.
    Equal to the measures of :mod:`nldd.metrics` on the answers themselves.
    """
    rng = np.random.default_rng(random_state)
    n = len(Y)
    values = weighted_values(Y, Y_pred, np.ones((1, n)))
    draws: dict[str, list[FloatArray]] = {key: [] for key in values}
    for start in range(0, N_DRAWS, DRAWS_AT_ONCE):
        size = min(DRAWS_AT_ONCE, N_DRAWS - start)
        weights = rng.multinomial(n, np.full(n, 1 / n), size=size).astype(float)
        for key, drawn in weighted_values(Y, Y_pred, weights).items():
            draws[key].append(drawn)
    tail = 50 * (1 - LEVEL)
    exact = accuracy_interval((Y_pred == Y).all(axis=1), LEVEL)
    scores = []
    for key, measure in MEASURES.items():
        low, high = np.percentile(np.concatenate(draws[key]), [tail, 100 - tail])
        if key in SHARES_OF_ANSWERS or low == high:
            low, high = exact if measure.greater_is_better else (1 - exact[1], 1 - exact[0])
        scores.append(Score(key, measure.name, float(values[key][0]), float(low), float(high)))
    return tuple(scores)
