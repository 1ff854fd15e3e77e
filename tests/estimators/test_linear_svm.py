"""LinearSVM is SVC(kernel="linear"), from inner products or from the rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.svm import SVC

from nldd.estimators import _svm
from nldd.estimators._svm import LinearSVM


def problem(seed, n_classes, kind):
    """Rows of which some are equal, rows to predict, classes and weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 12)) if kind == "real" else rng.integers(0, 2, (90, 12)).astype(float)
    X[60:75] = X[:15]
    y = (X[:, :3].sum(axis=1) + rng.normal(size=90)).argsort().argsort() * n_classes // 90
    weight = rng.integers(0, 4, 90) / 2.0
    return (csr_array(X) if kind == "sparse" else X), y, weight


@pytest.fixture(params=["inner products", "too many rows for them"])
def _either_way(request, monkeypatch):
    if request.param == "too many rows for them":
        monkeypatch.setattr(_svm, "MOST_ROWS", 20)


@pytest.mark.usefixtures("_either_way")
@pytest.mark.parametrize("n_classes", [2, 3, 7, 30])
@pytest.mark.parametrize("kind", ["zero or one", "real", "sparse"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_machine_is_that_of_libsvm(n_classes, kind, weighted):
    for seed in range(3 if n_classes == 2 else 1):
        X, y, weight = problem(seed, n_classes, kind)
        names = np.array([f"class {c:02}" for c in y])
        used = weight > 0 if weighted else np.ones(90, dtype=bool)
        svc = SVC(kernel="linear", decision_function_shape="ovo")
        svc.fit(X[used], names[used], sample_weight=weight[used] if weighted else None)
        model = LinearSVM().fit(X, names, sample_weight=weight if weighted else None)
        assert_array_equal(model.classes_, svc.classes_)
        expected = svc.decision_function(X)
        model.machine_.decision_function_shape = "ovo"  # the values of pairs
        assert_allclose(model.decision_function(X), expected, rtol=0, atol=1e-9)
        # Only exact ties may round to either side.
        clear = (np.abs(expected.reshape(90, -1)) > 1e-9).all(axis=1)
        assert_array_equal(model.predict(X)[clear], svc.predict(X)[clear])
        assert n_classes == 30 or clear.mean() > 0.3  # 435 pairs: most rows have a tie
