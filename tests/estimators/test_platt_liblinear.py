"""PlattSVC with the solver for large data, which has a penalty on the intercept."""

import numpy as np
import pytest
from nldd.estimators._platt_svc import fit_sigmoid
from scipy.optimize import minimize
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone

from nldd import PlattSVC


def classes_in_a_plane(n_samples=60):
    """Two overlapping clouds of points."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_samples)
    X = rng.normal(size=(n_samples, 4)) + y[:, np.newaxis] * [1.5, 0, -1, 0]
    X[rng.random(X.shape) < 0.3] = 0
    return X, y


def mirrored():
    """Every row with its mirror image in the other class: no intercept but 0 is best."""
    X, y = classes_in_a_plane(n_samples=40)
    X = X - [0.75, 0, -0.5, 0]
    return np.vstack([X, -X]), np.concatenate([y, 1 - y])


def with_penalty_on_the_intercept(X, y, C, weight):
    """Weights and intercept by a general optimiser of the dual, whose intercept is one more weight.

    Minimise a'Qa / 2 - sum(a) over 0 <= a <= C * weight, where Q holds the products of the rows
    with a 1 behind each, signed by their classes.
    """
    signed = np.column_stack([X, np.ones(len(y))]) * np.where(y == 1, 1, -1)[:, np.newaxis]

    def dual(a):
        primal = signed.T @ a
        return primal @ primal / 2 - a.sum(), signed @ primal - 1

    found = minimize(
        dual,
        np.zeros(len(y)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, C * w) for w in weight],
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 100_000, "maxfun": 1_000_000},
    )
    *coef, intercept = signed.T @ found.x
    return np.array(coef), intercept


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_platt_liblinear_is_libsvm_where_the_intercept_is_zero(C):
    X, y = mirrored()
    libsvm = PlattSVC(C, tol=1e-8, random_state=0).fit(X, y)
    liblinear = PlattSVC(C, solver="liblinear", tol=1e-8, random_state=0).fit(X, y)
    np.testing.assert_allclose(libsvm.intercept_, 0, atol=1e-4)
    np.testing.assert_allclose(liblinear.intercept_, 0, atol=1e-4)
    np.testing.assert_allclose(liblinear.coef_, libsvm.coef_, rtol=0, atol=1e-4)
    # Folds are not mirrored, so their intercepts differ a little, and with them the sigmoids.
    found, expected = (model.predict_proba(X)[:, 1] for model in (liblinear, libsvm))
    np.testing.assert_allclose(found, expected, rtol=0, atol=0.02)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_platt_liblinear_minimises_the_hinge_loss_with_a_penalty_on_the_intercept(weighted):
    X, y = classes_in_a_plane()
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else np.ones(len(y))
    coef, intercept = with_penalty_on_the_intercept(X, y, 1.0, weight)
    model = PlattSVC(solver="liblinear", tol=1e-8, random_state=0)
    model.fit(X, y, sample_weight=weight if weighted else None)
    np.testing.assert_allclose(model.coef_[0], coef, rtol=0, atol=1e-4)
    np.testing.assert_allclose(model.intercept_[0], intercept, rtol=0, atol=1e-4)
    assert abs(intercept) > 0.1  # the penalty had something to act on


def test_platt_liblinear_sigmoid_comes_from_out_of_fold_decisions():
    X, y = classes_in_a_plane(n_samples=43)
    model = PlattSVC(solver="liblinear", tol=1e-8, random_state=7).fit(X, y)
    order = np.random.RandomState(7).permutation(43)
    values = np.empty(43)
    for i in range(5):
        held_out = order[i * 43 // 5 : (i + 1) * 43 // 5]
        kept = np.setdiff1d(order, held_out)
        coef, intercept = with_penalty_on_the_intercept(X[kept], y[kept], 1.0, np.ones(len(kept)))
        values[held_out] = X[held_out] @ coef + intercept
    np.testing.assert_allclose(model.sigmoid_, fit_sigmoid(values, y), rtol=0, atol=1e-3)


@pytest.mark.parametrize("container", [csr_matrix, csr_array])
def test_platt_liblinear_of_sparse_equals_dense(container):
    X, y = classes_in_a_plane()
    dense = PlattSVC(solver="liblinear", random_state=0).fit(X, y)
    sparse = PlattSVC(solver="liblinear", random_state=0).fit(container(X), y)
    assert isinstance(sparse.coef_, np.ndarray)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(sparse.sigmoid_, dense.sigmoid_, rtol=0, atol=1e-8)
    found = sparse.predict_proba(container(X))
    np.testing.assert_allclose(found, dense.predict_proba(X), rtol=0, atol=1e-8)


def test_platt_liblinear_is_reproducible_with_a_seed():
    X, y = classes_in_a_plane()
    model = PlattSVC(solver="liblinear", random_state=3).fit(X, y)
    first = model.coef_.copy(), model.sigmoid_, model.predict_proba(X)
    PlattSVC(solver="liblinear", random_state=4).fit(X, y)  # whatever was drawn meanwhile
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(again.coef_, first[0])
    assert again.sigmoid_ == first[1]
    np.testing.assert_array_equal(again.predict_proba(X), first[2])
    other = PlattSVC(solver="liblinear", random_state=4).fit(X, y)
    assert other.sigmoid_ != first[1]
    # The seed is the order of the rows; the solution is the same up to the tolerance.
    np.testing.assert_allclose(other.coef_, first[0], rtol=0, atol=0.02)


def test_platt_refuses_other_solvers():
    with pytest.raises(ValueError, match="The 'solver' parameter of PlattSVC"):
        PlattSVC(solver="newton").fit([[0.0], [1.0]], [0, 1])
