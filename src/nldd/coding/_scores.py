"""All measures with intervals that come from drawing the answers again."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd.coding._interval import LEVEL, accuracy_interval
from nldd.metrics import MEASURES

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
    once = np.ones((1, n))
    values = _measures(Y, Y_pred, once)
    draws: dict[str, list[FloatArray]] = {key: [] for key in values}
    for start in range(0, N_DRAWS, DRAWS_AT_ONCE):
        size = min(DRAWS_AT_ONCE, N_DRAWS - start)
        weights = rng.multinomial(n, np.full(n, 1 / n), size=size).astype(float)
        for key, drawn in _measures(Y, Y_pred, weights).items():
            draws[key].append(drawn)
    tail = 50 * (1 - LEVEL)
    exact = accuracy_interval((Y_pred == Y).all(axis=1), LEVEL)
    scores = []
    for key, value in values.items():
        low, high = np.percentile(np.concatenate(draws[key]), [tail, 100 - tail])
        if key in SHARES_OF_ANSWERS or low == high:
            low, high = exact if MEASURES[key].greater_is_better else (1 - exact[1], 1 - exact[0])
        scores.append(Score(key, MEASURES[key].name, float(value[0]), float(low), float(high)))
    return tuple(scores)


def _measures(
    Y: NDArray[np.int8], Y_pred: NDArray[np.int8], weights: FloatArray
) -> dict[str, FloatArray]:
    """Each measure for each row of weights, in the order of MEASURES."""
    found = {**_by_answer(Y, Y_pred, weights), **_by_label(Y, Y_pred, weights)}
    return {key: found[key] for key in MEASURES}


def _by_answer(
    Y: NDArray[np.int8], Y_pred: NDArray[np.int8], weights: FloatArray
) -> dict[str, FloatArray]:
    both = (Y & Y_pred).sum(axis=1)
    n_true, n_pred = Y.sum(axis=1), Y_pred.sum(axis=1)
    wrong = (Y_pred != Y).sum(axis=1)
    rows = {
        "hamming_loss": wrong / Y.shape[1],
        "zero_one_loss": (wrong > 0).astype(float),
        "multilabel_accuracy": _ratio(both, n_true + n_pred - both, n_true + n_pred == 0),
        "f_measure": _ratio(2 * both, n_true + n_pred, n_true + n_pred == 0),
        "subset_accuracy": (wrong == 0).astype(float),
        "precision": _ratio(both, n_pred, n_true + n_pred == 0),
        "recall": _ratio(both, n_true, n_true + n_pred == 0),
    }
    total = weights.sum(axis=1)
    return {key: weights @ values / total for key, values in rows.items()}


def _by_label(
    Y: NDArray[np.int8], Y_pred: NDArray[np.int8], weights: FloatArray
) -> dict[str, FloatArray]:
    both = weights @ (Y & Y_pred)
    n_true, n_pred = weights @ Y, weights @ Y_pred
    found = {}
    for name, top, bottom in (
        ("f", 2 * both, n_true + n_pred),
        ("precision", both, n_pred),
        ("recall", both, n_true),
    ):
        nothing = n_true + n_pred == 0
        found[f"macro_{name}"] = _ratio(top, bottom, nothing).mean(axis=1)
        found[f"micro_{name}"] = _ratio(top.sum(axis=1), bottom.sum(axis=1), nothing.all(axis=1))
    return found


def _ratio(top: NDArray[Any], bottom: NDArray[Any], empty: NDArray[np.bool_]) -> FloatArray:
    """Top by bottom; 1 where there was nothing to find and nothing was found, else 0 by 0 is 0."""
    top = np.asarray(top, dtype=float)
    ratio = np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)
    return np.where(empty, 1.0, ratio)
