"""Measures of coded answers: those of nldd.metrics, with intervals that cover."""

import numpy as np
import pytest

from nldd.coding import _evaluation as scores_module, accuracy_interval, score_answers
from nldd.metrics import MEASURES, weighted_values


def random_case(rng):
    """Truth and prediction, often with empty rows and columns, sometimes all empty or equal."""
    n, n_labels = rng.integers(1, 12), rng.integers(1, 6)
    Y, Y_pred = ((rng.random((n, n_labels)) < rng.random()).astype(np.int8) for _ in range(2))
    for matrix in (Y, Y_pred):
        if rng.random() < 0.4:
            matrix[rng.integers(n)] = 0
        if rng.random() < 0.4:
            matrix[:, rng.integers(n_labels)] = 0
        if rng.random() < 0.05:
            matrix[:] = 0
    if rng.random() < 0.1:
        Y_pred = Y.copy()
    return Y, Y_pred


@pytest.fixture
def few_draws(monkeypatch):
    monkeypatch.setattr(scores_module, "N_DRAWS", 3)


def test_values_are_those_of_the_metrics(few_draws):
    rng = np.random.default_rng(0)
    n_empty = 0
    for _ in range(300):
        Y, Y_pred = random_case(rng)
        n_empty += not Y.any(axis=1).all() and not Y.any(axis=0).all()
        found = score_answers(Y, Y_pred)
        assert [score.key for score in found] == list(MEASURES)
        for score in found:
            measure = MEASURES[score.key]
            assert score.name == measure.name
            assert score.value == pytest.approx(measure.function(Y, Y_pred), abs=1e-12), score.key
    assert len(MEASURES) == 13
    assert n_empty > 100


def test_drawn_answers_are_scored_as_if_they_stood_there_so_often():
    rng = np.random.default_rng(1)
    for _ in range(100):
        Y, Y_pred = random_case(rng)
        weights = rng.multinomial(len(Y), np.full(len(Y), 1 / len(Y)), size=2)
        found = weighted_values(Y, Y_pred, weights.astype(float))
        for i, times in enumerate(weights):
            rows = np.repeat(np.arange(len(Y)), times)
            for key, measure in MEASURES.items():
                expected = measure.function(Y[rows], Y_pred[rows])
                assert found[key][i] == pytest.approx(expected, abs=1e-12), key


def test_intervals_are_percentiles_of_draws(monkeypatch):
    monkeypatch.setattr(scores_module, "N_DRAWS", 120)
    rng = np.random.default_rng(2)
    Y, Y_pred = ((rng.random((25, 3)) < 0.5).astype(np.int8) for _ in range(2))
    # The same draws, one answer after the other.
    draws = np.random.default_rng(5)
    sizes = (50, 50, 20)
    weights = np.vstack([draws.multinomial(25, np.full(25, 1 / 25), size=size) for size in sizes])
    for score in score_answers(Y, Y_pred, random_state=5):
        function = MEASURES[score.key].function
        values = [function(Y, Y_pred, sample_weight=row) for row in weights]
        low, high = np.percentile(values, [2.5, 97.5])
        if score.key in ("subset_accuracy", "zero_one_loss"):
            right = (Y_pred == Y).all(axis=1)
            low, high = accuracy_interval(right if score.key == "subset_accuracy" else ~right)
        assert (score.low, score.high) == pytest.approx((low, high), abs=1e-9), score.key
        assert score.low <= score.value <= score.high


def test_scores_are_repeatable():
    rng = np.random.default_rng(3)
    Y, Y_pred = ((rng.random((40, 3)) < 0.5).astype(np.int8) for _ in range(2))
    first, again, other = (score_answers(Y, Y_pred, seed) for seed in (0, 0, 1))
    assert first == again
    assert [score.value for score in first] == [score.value for score in other]
    assert [score.low for score in first] != [score.low for score in other]


def test_perfect_and_single_answers(few_draws):
    Y = np.array([[1, 0], [0, 0], [1, 1]], dtype=np.int8)
    losses = {"hamming_loss", "zero_one_loss"}
    # Three of three prove no more than 29 %, one of none no less than 98 %: no certainty.
    bound = 0.025 ** (1 / 3)
    for score in score_answers(Y, Y):
        expected = (0.0, 0.0, 1 - bound) if score.key in losses else (1.0, bound, 1.0)
        assert (score.value, score.low, score.high) == pytest.approx(expected)
    for score in score_answers(Y[:1], 1 - Y[:1]):
        expected = (1.0, 0.025, 1.0) if score.key in losses else (0.0, 0.0, 0.975)
        assert (score.value, score.low, score.high) == pytest.approx(expected)


def test_intervals_cover_about_as_often_as_they_say(monkeypatch):
    """Of 200 studies with 150 answers; 95 % plus or minus what the bootstrap is off by."""
    monkeypatch.setattr(scores_module, "N_DRAWS", 300)
    rng = np.random.default_rng(4)
    rates, error = np.array([0.5, 0.3, 0.4]), 0.15

    def study(n):
        # Answers differ in how hard they are, so labels of one err together.
        Y = rng.random((n, 3)) < rates
        hard = rng.random((n, 1)) < 0.5
        return Y.astype(np.int8), (Y ^ (rng.random((n, 3)) < error * 2 * hard)).astype(np.int8)

    truth = {key: measure.function(*study(200_000)) for key, measure in MEASURES.items()}
    covered = dict.fromkeys(MEASURES, 0)
    for _ in range(200):
        for score in score_answers(*study(150)):
            covered[score.key] += score.low <= truth[score.key] <= score.high
    for key, count in covered.items():
        assert 0.9 <= count / 200 <= 0.99, (key, count / 200)
