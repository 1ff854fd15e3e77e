"""Softmax regression to soft targets, against scikit-learn's with weighted rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

from nldd.linear._solver import fit_softmax


@pytest.fixture
def problem():
    """Rows that belong to three classes, more or less."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4)) * [1, 5, 0.2, 1]
    return X, rng.dirichlet([0.3, 0.3, 0.3], size=80)


@pytest.mark.parametrize("as_given", [np.array, csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("variance", [0.1, 1.0, 100.0])
def test_softmax_equals_logistic_regression_of_every_row_as_every_class(
    problem, variance, as_given
):
    X, targets = problem
    A = fit_softmax(as_given(X), targets, variance, np.zeros((5, 3)), 1e-8, 100)
    peer = LogisticRegression(C=variance, tol=1e-12, max_iter=10_000)
    peer.fit(np.repeat(X, 3, axis=0), np.tile(range(3), 80), sample_weight=targets.ravel())
    assert_allclose(A[:-1].T, peer.coef_, atol=1e-5)
    # Intercepts are free, so that only their differences count.
    assert_allclose(np.diff(A[-1]), np.diff(peer.intercept_), atol=1e-5)


def test_softmax_of_a_class_without_rows_stays_finite(problem):
    X, targets = problem[0], np.column_stack([problem[1][:, :2], np.zeros(80)])
    targets /= targets.sum(axis=1, keepdims=True)
    A = fit_softmax(X, targets, 1.0, np.zeros((5, 3)), 1e-4, 50)
    Z = X @ A[:-1] + A[-1]
    assert np.isfinite(A).all()
    assert (Z[:, 2] < Z[:, :2].max(axis=1) - 5).all()
