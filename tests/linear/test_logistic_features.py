"""Features that logistic regressions make of rows, against scikit-learn and plain loops."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from nldd import ClassifierChain, InputError
from nldd.linear._features import Kernel, Weighted
from nldd.linear._logistic import MultiLabelLogisticRegression


def words(seed=0, n=60, d=12):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, d)) < 0.25) * rng.integers(1, 4, size=(n, d)).astype(float)
    X[0] = 0  # a row without words
    return X


@pytest.mark.parametrize("form", [np.asarray, csr_array, csr_matrix])
def test_weights_are_those_of_tfidf(form):
    X = words()
    learned = Weighted.of(form(X[:40]), np.ones(40))
    found = learned(form(X[40:]))
    expected = TfidfTransformer().fit(csr_matrix(X[:40])).transform(csr_matrix(X[40:])).toarray()
    assert_allclose(found.toarray() if hasattr(found, "toarray") else found, expected)


def naive_kernel(a, b, scale):
    """exp(-|a - b|^2 / 2d) of rows divided by the scale, term by term."""
    total = sum(((x - y) / s) ** 2 for x, y, s in zip(a, b, scale, strict=True))
    return math.exp(-total / (2 * len(a)))


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_products_of_features_are_kernel_values(form):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 3)) * [1.0, 10.0, 0.1]
    X[:, 2] = 5.0  # a constant divides by 1
    scale = [X[:, 0].std(), X[:, 1].std(), 1.0]
    learned = Kernel.of(form(X), np.ones(30), n_landmarks=250)
    assert len(learned.landmarks) == 15  # half of the rows
    F = learned(form(X))
    rows = [
        int(np.abs(X / scale - landmark).sum(axis=1).argmin()) for landmark in learned.landmarks
    ]
    # Exact where one of the two rows is a landmark.
    expected = [[naive_kernel(X[i], X[j], scale) for j in rows] for i in range(30)]
    assert_allclose(F @ F[rows].T, expected, atol=1e-6)


def test_landmarks_do_not_depend_on_order_or_repeats():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 4))
    once = Kernel.of(X, np.full(40, 3.0), 10)
    thrice = Kernel.of(np.repeat(X, 3, axis=0)[rng.permutation(120)], np.ones(120), 10)
    assert_array_equal(once.landmarks.shape, (10, 4))
    assert_allclose(once.landmarks, thrice.landmarks)
    assert_allclose(once.root, thrice.root, rtol=1e-4, atol=1e-4)


def test_equal_rows_are_one_landmark():
    X = np.repeat([[0.0, 1.0], [2.0, 1.0]], 20, axis=0)
    learned = Kernel.of(X, np.ones(40), 250)
    assert len(learned.landmarks) == 1
    assert np.isfinite(learned(X)).all()


@pytest.mark.parametrize("features", ["normalised", "tfidf", "rbf"])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_regression_of_features_is_that_of_scikit_learn(features, form):
    X = words(3, n=80)
    y = (X[:, 0] + X[:, 1] > 1).astype(int)
    model = MultiLabelLogisticRegression(C=5.0, features=features, tol=1e-10).fit(form(X), y)
    mapped = model.mapped(X)
    oracle = LogisticRegression(C=5.0, solver="newton-cholesky", tol=1e-12).fit(mapped, y)
    assert_allclose(model.predict_proba(form(X)), oracle.predict_proba(mapped), atol=1e-7)


def test_chain_of_features_puts_labels_behind_them():
    """As chains of rows that were made so before."""
    X = words(4, n=100)
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0, (X[:, 0] > 0) & (X[:, 2] == 0)]).astype(int)
    inside = MultiLabelLogisticRegression(features="normalised", tol=1e-10)
    outside = MultiLabelLogisticRegression(tol=1e-10)
    found = ClassifierChain(inside).fit(X, Y)
    expected = ClassifierChain(outside).fit(normalize(X), Y)
    assert_allclose(found.predict_proba(X), expected.predict_proba(normalize(X)), atol=1e-9)
    kernel = MultiLabelLogisticRegression(features="rbf", C=5.0)
    (link,) = ClassifierChain(kernel).fit(X, Y).estimators_
    assert link.coef_.shape == (3, len(link.features_.landmarks) + 2)


def test_dask_arrays_take_rows_as_they_are():
    da = pytest.importorskip("dask.array")
    X = da.from_array(words(), chunks=(30, 12))
    Y = (X[:, :2] > 0).astype(int)
    with pytest.raises(InputError, match=r"need features=.*got 'rbf'"):
        MultiLabelLogisticRegression(features="rbf").fit(X, Y)
