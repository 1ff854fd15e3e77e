"""LinearSVM and PlattSVC against SVC: machines, sigmoids and folds, with both solvers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.calibration import _SigmoidCalibration
from sklearn.svm import SVC, LinearSVC

from nldd.estimators import _svm
from nldd.estimators._svm import LinearSVM, PlattSVC, fit_sigmoid, sigmoid


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


def decisions(seed, n_samples=150):
    """Decision values of about the size of a margin, and classes that follow them loosely."""
    rng = np.random.default_rng(seed)
    f = rng.normal(rng.uniform(-1, 1), rng.uniform(0.5, 3), n_samples)
    y = (rng.random(n_samples) < expit(rng.uniform(0.5, 3) * f + rng.uniform(-1, 1))).astype(int)
    assert 0 < y.sum() < n_samples
    return f, y


def classes_in_a_plane(n_samples=60):
    """Two overlapping clouds of points."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_samples)
    X = rng.normal(size=(n_samples, 4)) + y[:, np.newaxis] * [1.5, 0, -1, 0]
    X[rng.random(X.shape) < 0.3] = 0
    return X, y


def test_fit_sigmoid_by_hand():
    # f = 1 for 3 positives and 1 negative, f = -1 for 1 and 3. Targets are 5/6 and 1/6, and two
    # parameters fit the two means of targets: p(1) = (3 * 5/6 + 1/6) / 4 = 2/3 and p(-1) = 1/3.
    # A + B = log((1 - p(1)) / p(1)) = -log 2 and B - A = log 2.
    f = np.array([1.0] * 4 + [-1.0] * 4)
    y = np.array([1, 1, 1, 0, 1, 0, 0, 0])
    A, B = fit_sigmoid(f, y)
    np.testing.assert_allclose([A, B], [-np.log(2), 0], rtol=0, atol=1e-6)
    np.testing.assert_allclose(sigmoid(np.array([1.0, -1.0]), A, B), [2 / 3, 1 / 3], atol=1e-6)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("seed", range(8))
def test_fit_sigmoid_equals_scikit_learn(seed, weighted):
    f, y = decisions(seed)
    weight = np.random.default_rng(seed).uniform(0.1, 3, len(y)) if weighted else None
    theirs = _SigmoidCalibration().fit(f, y, sample_weight=weight)
    A, B = fit_sigmoid(f, y, weight)
    np.testing.assert_allclose([A, B], [theirs.a_, theirs.b_], rtol=0, atol=5e-6)
    np.testing.assert_allclose(sigmoid(f, A, B), theirs.predict(f), rtol=0, atol=2e-6)


@pytest.mark.parametrize("scale", [1e2, 1e4, 1e8, 1e50, 1e100])
def test_fit_sigmoid_of_extreme_decisions_does_not_overflow(scale):
    # Only A f + B counts, so A shrinks as f grows.
    f, y = decisions(0)
    A, B = fit_sigmoid(f, y)
    scaled_A, scaled_B = fit_sigmoid(f * scale, y)
    np.testing.assert_allclose([scaled_A * scale, scaled_B], [A, B], rtol=0, atol=1e-5)


def test_fit_sigmoid_of_separated_decisions_is_finite():
    f, y = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]), np.array([0, 0, 0, 1, 1, 1])
    A, B = fit_sigmoid(f, y)
    # Targets of 4/5 and 1/5 hold the slope: without them A would run to minus infinity.
    # By symmetry B = 0; there the slope in A, the sum over f = 1, 2, 3 of f (4/5 - p(f)), is 0.
    slope = sum(f * (0.8 - 1 / (1 + np.exp(A * f))) for f in (1, 2, 3))
    np.testing.assert_allclose([slope, B], 0, atol=1e-5)


def test_sigmoid_stays_inside_the_unit_interval():
    f = np.array([-1e300, -1.0, 0.0, 1.0, 1e300])
    expected = [1e-7, 1 / (1 + np.e), 0.5, np.e / (1 + np.e), 1 - 1e-7]
    np.testing.assert_allclose(sigmoid(f, -1.0, 0.0), expected, rtol=1e-13)


@pytest.mark.usefixtures("_either_way")
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_svm_decisions_equal_svc(C, weighted):
    X, y = classes_in_a_plane()
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else None
    model = PlattSVC(C, random_state=0).fit(X, y, sample_weight=weight)
    svc = SVC(kernel="linear", C=C).fit(X, y, sample_weight=weight)
    X_new = np.random.default_rng(1).normal(size=(30, 4))
    expected = svc.decision_function(X_new)
    np.testing.assert_allclose(model.decision_function(X_new), expected, rtol=0, atol=1e-6)
    np.testing.assert_allclose(model.coef_, svc.coef_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(model.intercept_, svc.intercept_, rtol=0, atol=1e-6)


def out_of_fold(X, y, n_folds, seed, weight=None):
    """Decision values by a plain loop over the folds of LIBSVM."""
    order = np.random.RandomState(seed).permutation(len(y))
    values = np.full(len(y), np.nan)
    for i in range(n_folds):
        held_out = order[i * len(y) // n_folds : (i + 1) * len(y) // n_folds]
        kept = np.setdiff1d(order, held_out)
        if len(set(y[kept])) == 1:
            values[held_out] = 1 if y[kept[0]] == 1 else -1
        elif len(held_out):
            # A tight tolerance: the order of the rows matters to the solver, but not to this.
            part = None if weight is None else weight[kept]
            machine = SVC(kernel="linear", tol=1e-10).fit(X[kept], y[kept], sample_weight=part)
            values[held_out] = machine.decision_function(X[held_out])
    return values


@pytest.mark.usefixtures("_either_way")
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("n_folds", [2, 3, 5])
def test_svm_sigmoid_comes_from_out_of_fold_decisions(n_folds, weighted):
    X, y = classes_in_a_plane(n_samples=43)
    weight = np.random.default_rng(0).uniform(0.1, 3, 43) if weighted else None
    model = PlattSVC(n_folds=n_folds, tol=1e-10, random_state=7).fit(X, y, sample_weight=weight)
    A, B = fit_sigmoid(out_of_fold(X, y, n_folds, 7, weight), y, weight)
    np.testing.assert_allclose(model.sigmoid_, (A, B), rtol=0, atol=1e-5)
    f = model.decision_function(X)
    expected = 1 / (1 + np.exp(A * f + B))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("lonely", [0, 1])
def test_svm_fold_without_a_class_gets_plus_or_minus_one(lonely):
    """The one row of a class is held out: the rest says +1 or -1 without a machine."""
    X, _ = classes_in_a_plane(n_samples=20)
    y = np.full(20, 1 - lonely)
    y[13] = lonely
    model = PlattSVC(tol=1e-10, random_state=0).fit(X, y)
    values = model._out_of_fold(X, X @ X.T, y, np.ones(20))
    folds = np.random.RandomState(0).permutation(20).reshape(5, 4)
    with_lonely = next(fold for fold in folds if 13 in fold)
    assert values[with_lonely].tolist() == [1.0 - 2 * lonely] * 4
    np.testing.assert_allclose(values, out_of_fold(X, y, 5, 0), rtol=0, atol=1e-6)
    np.testing.assert_allclose(model.sigmoid_, fit_sigmoid(values, y), rtol=0, atol=1e-12)


REFUSED = {
    "one class": ([1, 1, 1, 1], None, r"needs two classes.*one class only.*1\b"),
    "one has weight 0": ([0, 1, 0, 1], [1, 0, 1, 0], "needs two classes.*one class only.*0"),
    "three classes": ([0, 1, 2, 1], None, "Only binary.*3 classes.*BinaryRelevance"),
    "negative weight": ([0, 1, 0, 1], [-1.0, 1, 1, 1], "Negative values"),
}


@pytest.mark.parametrize(("y", "weight", "message"), REFUSED.values(), ids=REFUSED)
def test_svm_refuses_classes_and_weights(y, weight, message):
    with pytest.raises(ValueError, match=message):
        PlattSVC().fit(np.arange(8.0).reshape(4, 2), y, sample_weight=weight)


def test_platt_liblinear_is_linear_svc():
    X, y = classes_in_a_plane()
    model = PlattSVC(2.0, solver="liblinear", random_state=0).fit(X, y)
    peer = LinearSVC(C=2.0, loss="hinge", tol=1e-3, max_iter=10_000, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.coef_, peer.coef_)
    np.testing.assert_array_equal(model.intercept_, peer.intercept_)
