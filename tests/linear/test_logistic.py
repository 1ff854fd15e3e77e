"""Logistic regressions of all labels at once, against scikit-learn's, one label at a time."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

import paper_data
from nldd.exceptions import InputError
from nldd.linear import _logistic
from nldd.linear._logistic import MultiLabelLogisticRegression, fit_logistic
from problems import seeds, some_quick


def draw_problem(seed):
    """Rows of one of several kinds, labels from rare to common, and settings."""
    rng = np.random.default_rng(seed)
    n, d, n_labels = rng.integers(8, 120), rng.integers(1, 25), rng.integers(1, 20)
    X = rng.normal(size=(n, d)) * rng.choice([0.1, 1.0, 30.0], size=d) + rng.choice([0, 5])
    kind = rng.choice(["dense", "duplicates", "sparse", "words"])
    if kind == "duplicates":
        X = X[rng.integers(0, max(2, n // 4), size=n)]
    elif kind == "sparse":
        X = csr_array(np.where(rng.random((n, d)) < 0.3, X, 0.0))
    elif kind == "words":
        X = csr_matrix((rng.random((n, d)) < 0.2).astype(float))
    scores = X @ rng.normal(size=(d, n_labels)) / max(1, np.sqrt(d))
    noise = rng.choice([0.0, 1.0]) * rng.logistic(size=scores.shape)  # without it: separable
    Y = (scores + noise > np.quantile(scores, rng.choice([0.5, 0.9, 0.98]))).astype(np.int8)
    weight = rng.choice([None, "drawn"])
    settings = {
        "C": rng.choice([0.01, 1.0, 100.0], size=n_labels),
        "intercept": str(rng.choice(["free", "penalised", "none"])),
        "class_weight": [None, "balanced", {1: 5.0}][rng.integers(3)],
    }
    return X, Y, None if weight is None else rng.integers(1, 4, size=n), settings


def reference(X, y, weight, C, intercept, class_weight):
    """Probabilities of one label from scikit-learn's solver, until nothing changes any more."""
    if (y == y[0]).all():
        return np.full(len(y), float(y[0]))
    A = X.toarray() if hasattr(X, "toarray") else X
    weight = np.ones(len(y)) if weight is None else weight
    if class_weight == "balanced":  # by weights, which older scikit-learn does not look at
        positive = weight @ y
        both = np.array([weight.sum() - positive, positive])
        weight, class_weight = weight * (weight.sum() / 2 / both)[y], None
    if intercept == "penalised":
        A = np.column_stack([A, np.ones(len(A))])
    model = LogisticRegression(
        C=C,
        class_weight=class_weight,
        fit_intercept=intercept == "free",
        solver="newton-cholesky",
        tol=1e-13,
        max_iter=1000,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as near as rounding lets it come
        return model.fit(A, y, sample_weight=weight).predict_proba(A)[:, 1]


def check_problem(seed, tol, atol):
    X, Y, weight, settings = draw_problem(seed)
    model = MultiLabelLogisticRegression(tol=tol, **settings).fit(X, Y, sample_weight=weight)
    P = model.predict_proba(X)
    for label, C in enumerate(settings["C"]):
        expected = reference(X, Y[:, label], weight, **{**settings, "C": C})
        assert_allclose(P[:, label], expected, atol=atol, rtol=0, err_msg=f"label {label}")


@pytest.fixture
def as_if_large(monkeypatch):
    """Threads, and the tolerance that was asked for, however small it is."""
    monkeypatch.setattr(_logistic, "MANY", 0)
    monkeypatch.setattr(_logistic, "WORTH_THREADS", 0)


@pytest.mark.parametrize("seed", seeds(15, 40))
def test_probabilities_at_the_default_tolerance(seed, as_if_large):
    check_problem(seed, tol=1e-4, atol=1e-4)


@pytest.mark.parametrize("seed", seeds(8, 20))
def test_probabilities_at_a_tight_tolerance(seed, as_if_large):
    check_problem(seed, tol=1e-10, atol=1e-8)


@pytest.mark.parametrize("seed", some_quick(range(40, 60), range(40, 48)))
def test_small_problems_are_solved_to_rounding(seed):
    check_problem(seed, tol=1e-2, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name", paper_data.FILES)
def test_probabilities_of_the_paper_data(name):
    X, Y = paper_data.load(name)
    P = MultiLabelLogisticRegression(n_jobs=2).fit(X, Y).predict_proba(X)
    tight = MultiLabelLogisticRegression(n_jobs=2, tol=1e-10).fit(X, Y).predict_proba(X)
    assert np.abs(P - tight).max() < 1e-4
    rng = np.random.default_rng(0)
    varying = np.flatnonzero((Y[0] != Y).any(axis=0))
    for label in rng.choice(varying, size=3, replace=False):
        oracle = LogisticRegression(solver="newton-cg", tol=1e-10, max_iter=10_000)
        expected = oracle.fit(X, Y[:, label]).predict_proba(X)[:, 1]
        assert_allclose(tight[:, label], expected, atol=1e-6)


def labelled(n, d, n_labels):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    Y = X @ rng.normal(size=(d, n_labels)) + rng.logistic(size=(n, n_labels)) > 1
    return X, Y.astype(int)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_a_label_learns_the_same_whoever_is_beside_it(form, as_if_large):
    X, Y = labelled(90, 6, 37)
    together = MultiLabelLogisticRegression().fit(form(X), Y)
    for labels in ([5], [36, 5, 0], list(range(20, 37))):
        some = MultiLabelLogisticRegression(n_jobs=2).fit(form(X), Y[:, labels])
        assert_array_equal(some.n_iter_, together.n_iter_[labels])
        # The same bits, but for turning back dense ones, which BLAS does as it likes.
        rtol = 1e-12 if form is np.asarray else 0
        assert_allclose(some.coef_, together.coef_[labels], rtol=rtol)
        assert_allclose(some.intercept_, together.intercept_[labels], rtol=rtol)


def test_constant_labels_are_certain_and_need_no_fit():
    X, Y = labelled(30, 3, 3)
    Y[:, 0], Y[:, 2] = 0, 1
    model = MultiLabelLogisticRegression().fit(X, Y)
    P = model.predict_proba(1e6 * X)
    assert_array_equal(P[:, [0, 2]], np.tile([0.0, 1.0], (30, 1)))
    assert_array_equal(model.n_iter_ > 0, [False, True, False])
    assert_array_equal(model.predict(X)[:, [0, 2]], np.tile([0, 1], (30, 1)))


def test_warm_start_begins_where_the_last_fit_ended(as_if_large):
    X, Y = labelled(200, 8, 5)
    model = MultiLabelLogisticRegression(warm_start=True, tol=1e-6).fit(X, Y)
    cold = model.n_iter_
    assert cold.min() > 2
    assert_array_equal(model.fit(X, Y).n_iter_, np.ones(5))
    # A label that was constant has learned nothing to start from.
    model.fit(X, np.where(np.arange(5) == 0, 0, Y))
    assert_array_equal(model.fit(X, Y).n_iter_, [cold[0], 1, 1, 1, 1])


def test_start_that_leads_astray_is_given_up(as_if_large):
    X, Y = labelled(200, 8, 5)
    expected = MultiLabelLogisticRegression(tol=1e-8).fit(X, Y)
    model = MultiLabelLogisticRegression(tol=1e-8, warm_start=True).fit(X, Y)
    model.coef_, shift = 50 * model.coef_, np.array([20, 40, 200, -30, 0])
    model.intercept_ = model.intercept_ + shift
    assert_allclose(model.fit(X, Y).coef_, expected.coef_, atol=1e-6)


def test_labels_that_have_not_converged_are_named():
    X, Y = labelled(60, 4, 8)
    Y = [{f"label {j}" for j in np.flatnonzero(row)} for row in Y]
    with pytest.warns(ConvergenceWarning, match="for 'label 0', .* and 3 more in max_iter=1 iter"):
        MultiLabelLogisticRegression(max_iter=1).fit(X, Y)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_classes(n_classes):
    X, _ = labelled(80, 4, 1)
    y = np.array(["d", "a", "c", "b"])[np.digitize(X[:, 0], [-0.7, 0, 0.7]) % n_classes]
    model = MultiLabelLogisticRegression().fit(X, y)
    oracle = OneVsRestClassifier(LogisticRegression(solver="newton-cholesky", tol=1e-12)).fit(X, y)
    assert_allclose(model.predict_proba(X), oracle.predict_proba(X), atol=1e-8)
    assert_array_equal(model.predict(X), oracle.predict(X))
    assert_array_equal(model.classes_, sorted(set(y)))
    if n_classes == 2:
        assert model.coef_.shape == (1, 4)
        assert_allclose(model.decision_function(X), oracle.decision_function(X), atol=1e-6)


def test_class_weights_of_classes():
    X, _ = labelled(80, 4, 1)
    y = np.digitize(X[:, 0] + X[:, 1], [-0.7, 0.7])
    model = MultiLabelLogisticRegression(class_weight="balanced").fit(X, y)
    weight = len(y) / (3 * np.bincount(y))[y]
    expected = MultiLabelLogisticRegression().fit(X, y, sample_weight=weight)
    assert_allclose(model.coef_, expected.coef_)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_columns_behind_are_used_as_far_as_allowed(form):
    """As in a chain: label j may use the first `usable` label columns, and no others."""
    X, Y = labelled(70, 3, 4)
    usable = np.array([0, 2, 3, 1])
    ones = np.ones(len(X)), np.ones((4, 2))
    found = fit_logistic(form(X), Y.astype(np.int8), *ones, before=(Y, usable), tol=1e-10)
    for label, n in enumerate(usable):
        alone = LogisticRegression(solver="newton-cholesky", tol=1e-12)
        alone.fit(np.hstack([X, Y[:, :n]]), Y[:, label])
        expected = [*alone.coef_[0], *np.zeros(4 - n), alone.intercept_[0]]
        assert_allclose(found.W[label], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"C": [1.0, 2.0]}, r"C must be a positive number, or one for each of the 3 labels"),
        ({"C": [1.0, -2.0, 1.0]}, "C must be a positive number"),
        ({"class_weight": {"yes": 2}}, r"class_weight must have the keys 0.* and 1.*\['yes'\]"),
    ],
)
def test_settings_that_do_not_fit(settings, message):
    with pytest.raises(InputError, match=message):
        MultiLabelLogisticRegression(**settings).fit(*labelled(20, 2, 3))


def test_numbers_beyond_all_bounds_end_with_a_warning():
    X, Y = labelled(40, 2, 2)
    with pytest.warns(ConvergenceWarning, match="scale the features"):
        MultiLabelLogisticRegression().fit(csr_array(X * 1e200), Y)
