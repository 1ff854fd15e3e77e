"""Measures of probabilities and rankings, against loops straight from their definitions."""

import numpy as np
import pytest

from nldd.exceptions import InputError
from nldd.metrics._probability_measures import PROBABILITY_MEASURES


def random_problems(n_problems):
    """Truth and scores with many ties, rows without and with all labels, constant labels."""
    rng = np.random.default_rng(3)
    for _ in range(n_problems):
        n_rows, n_labels = rng.integers(1, 9), rng.integers(1, 6)
        Y = (rng.random((n_rows, n_labels)) < rng.random()).astype(int)
        yield Y, rng.integers(0, 5, size=Y.shape) / 4


def pairs(y, p):
    return [(p[j], p[k]) for j in np.flatnonzero(y) for k in np.flatnonzero(1 - y)]


def ranking_loss(y, p):
    wrong = [a <= b for a, b in pairs(y, p)]
    return np.mean(wrong) if wrong else 0.0


def coverage(y, p):
    return max((np.sum(p >= p[j]) for j in np.flatnonzero(y)), default=0)


def average_precision(y, p):
    true = np.flatnonzero(y)
    if len(true) in (0, len(y)):
        return 1.0
    return np.mean([np.sum(p[true] >= p[j]) / np.sum(p >= p[j]) for j in true])


def auroc(y, p):
    wins = [(a > b) + (a == b) / 2 for a, b in pairs(y, p)]
    return np.mean(wins) if wins else np.nan


def stepwise(y, p):
    """Precision at each threshold, weighted by what recall gains there."""
    if not y.any():
        return np.nan
    value, before = 0.0, 0.0
    for cut in sorted(set(p), reverse=True):
        recall = y[p >= cut].sum() / y.sum()
        value += (recall - before) * y[p >= cut].mean()
        before = recall
    return value


def one_error(y, p):
    first = np.flatnonzero(p == p.max())
    return np.mean([1 - y[j] for j in first]) if y.any() else np.nan


def mean_of_defined(values):
    values = [value for value in values if value == value]
    return np.mean(values) if values else np.nan


def calibration(y, p, n_bins=15):
    total = 0.0
    for b in range(n_bins):
        inside = (p >= b / n_bins) & ((p < (b + 1) / n_bins) | (b == n_bins - 1))
        if inside.any():
            total += inside.mean() * abs(p[inside].mean() - y[inside].mean())
    return total


def log_loss(y, p):
    p = np.clip(p, np.finfo(float).eps, 1 - np.finfo(float).eps)
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


NAIVE = {
    "ranking_loss": lambda Y, P: np.mean([ranking_loss(*r) for r in zip(Y, P, strict=True)]),
    "coverage": lambda Y, P: np.mean([coverage(*r) for r in zip(Y, P, strict=True)]),
    "one_error": lambda Y, P: mean_of_defined([one_error(*r) for r in zip(Y, P, strict=True)]),
    "average_precision": lambda Y, P: np.mean(
        [average_precision(*r) for r in zip(Y, P, strict=True)]
    ),
    "macro_average_precision": lambda Y, P: mean_of_defined(
        [stepwise(*c) for c in zip(Y.T, P.T, strict=True)]
    ),
    "macro_auroc": lambda Y, P: mean_of_defined([auroc(*c) for c in zip(Y.T, P.T, strict=True)]),
    "micro_auroc": lambda Y, P: auroc(Y.ravel(), P.ravel()),
    "log_loss": lambda Y, P: log_loss(Y.ravel(), P.ravel()),
    "brier_score": lambda Y, P: np.mean((Y - P) ** 2),
    "calibration_error": lambda Y, P: calibration(Y.ravel(), P.ravel()),
}


@pytest.mark.parametrize("key", PROBABILITY_MEASURES)
def test_measure_equals_naive_loop(key):
    for Y, P in random_problems(25):
        found = PROBABILITY_MEASURES[key](Y, P)
        np.testing.assert_allclose(found, NAIVE[key](Y, P), rtol=1e-9, atol=1e-12, equal_nan=True)


def test_measures_of_rankings_take_any_scores_and_those_of_probabilities_do_not():
    Y, scores = np.array([[1, 0], [0, 1]]), np.array([[3.0, -1.0], [0.5, 7.0]])
    assert PROBABILITY_MEASURES["ranking_loss"](Y, scores) == 0
    for key in ("log_loss", "brier_score", "calibration_error"):
        with pytest.raises(InputError, match="between 0 and 1; got -1 to 7"):
            PROBABILITY_MEASURES[key](Y, scores)


@pytest.mark.parametrize("P", [[[0.1, 0.2, 0.3]], [[0.1, np.nan]]])
def test_scores_of_another_shape_or_none_at_all_are_refused(P):
    with pytest.raises(InputError, match="finite numbers, one for each row and label"):
        PROBABILITY_MEASURES["coverage"]([[1, 0]], P)
