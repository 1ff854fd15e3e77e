"""The paper's measures row by row."""

import numpy as np
import pytest
from nldd.experiments._row_scores import observed, row_scores, standard_errors
from numpy.testing import assert_allclose, assert_array_equal

from nldd.metrics import PAPER_MEASURES


def labelsets(seed, n_samples=40, n_labels=5):
    """Random labels, rare enough that truth and prediction are often both empty."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((2, n_samples, n_labels)) < rng.uniform(0.05, 0.5)).astype(int)
    Y[:, :2] = 0
    Y[1, 2] = 0
    return Y


@pytest.mark.parametrize("n_labels", [1, 5, 9])
@pytest.mark.parametrize("seed", range(10))
def test_means_are_the_measures(seed, n_labels):
    Y_true, Y_pred = labelsets(seed, n_labels=n_labels)
    assert (Y_true.sum(axis=1) + Y_pred.sum(axis=1) == 0).any()
    rows = row_scores(Y_true, Y_pred)
    assert list(rows) == [measure.key for measure in PAPER_MEASURES]
    for measure in PAPER_MEASURES:
        assert rows[measure.key].mean() == pytest.approx(measure(Y_true, Y_pred), abs=1e-15)


@pytest.mark.parametrize("seed", range(3))
def test_means_of_some_rows_are_the_measures_of_these_rows(seed):
    Y_true, Y_pred = labelsets(seed)
    some = np.random.default_rng(seed).random(len(Y_true)) < 0.3
    rows = row_scores(Y_true, Y_pred)
    for measure in PAPER_MEASURES:
        expected = measure(Y_true[some], Y_pred[some])
        assert rows[measure.key][some].mean() == pytest.approx(expected, abs=1e-15)


def test_rows_by_hand():
    Y_true = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
    Y_pred = np.array([[1, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]])
    rows = row_scores(Y_true, Y_pred)
    assert rows["hamming_loss"].tolist() == [0.5, 0, 0, 0.25]
    assert rows["zero_one_loss"].tolist() == [1, 0, 0, 1]
    # One label of three is shared; both empty counts as agreement; one empty as none.
    assert_allclose(rows["multilabel_accuracy"], [1 / 3, 1, 1, 0], rtol=1e-15)
    # 2 * 1 / (2 + 2).
    assert rows["f_measure"].tolist() == [0.5, 1, 1, 0]


@pytest.mark.parametrize("dtype", [np.int8, bool, float, np.uint8])
def test_rows_do_not_depend_on_the_type_of_the_labels(dtype):
    # 200 labels: more than an int8 can count.
    Y_true, Y_pred = labelsets(0, n_labels=200)
    expected = row_scores(Y_true, Y_pred)
    found = row_scores(Y_true.astype(dtype), Y_pred.astype(np.int8))
    for key, values in expected.items():
        assert_array_equal(found[key], values)


def test_standard_errors_by_hand():
    # Deviations from the mean 2 are -1, 0, 1: variance 2 / 2, divided by 3 rows.
    scores = {"f": np.array([1.0, 2.0, 3.0]), "g": np.array([0.5, 0.5, 0.5])}
    assert standard_errors(scores) == {"f": pytest.approx(1 / np.sqrt(3)), "g": 0.0}


@pytest.mark.parametrize("values", [[0.5], []])
def test_standard_error_of_less_than_two_rows_is_unknown(values):
    assert standard_errors({"f": np.array(values)}) == {"f": None}


@pytest.mark.parametrize("n_labels", [1, 7, 8, 9, 20])
@pytest.mark.parametrize("seed", range(3))
def test_observed_equals_a_set_of_tuples(seed, n_labels):
    rng = np.random.default_rng(seed)
    Y_train, Y_test = (rng.random((2, 60, n_labels)) < 1.5 / (n_labels + 3)).astype(int)
    known = set(map(tuple, Y_train.tolist()))
    expected = [tuple(row) in known for row in Y_test.tolist()]
    assert observed(Y_train, Y_test).tolist() == expected
    assert n_labels < 7 or 0 < sum(expected) < 60


def test_observed_takes_the_empty_labelset_for_a_labelset():
    none, one = np.array([[0, 0]]), np.array([[0, 1]])
    assert observed(none, np.vstack([none, one])).tolist() == [True, False]
    assert observed(one, np.vstack([none, one])).tolist() == [False, True]
