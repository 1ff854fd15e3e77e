"""Base classifiers that several methods share are those that each would have fitted."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

from experiments.trials import Counting, songs
from nldd import BinaryRelevance, NLDDClassifier, PlattSVC
from nldd.experiments import _cell
from nldd.experiments._cell import SharedBase, SharedFits, digest


@pytest.fixture
def counted():
    Counting.n_fits = 0
    return Counting


@pytest.fixture
def problem():
    X, Y, _ = songs()
    return X, Y[:, 0]


class Named(TransformerMixin, BaseEstimator):
    """Changes nothing, and has a parameter of any length."""

    def __init__(self, names):
        self.names = names

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


def n_fitted(estimator, *problems):
    """How many of the problems needed a fit of their own."""
    fits = SharedFits()
    return len({id(fits.fit(estimator, X, y)) for X, y in problems})


def test_same_rows_are_fitted_once(problem, counted):
    fits = SharedFits()
    X, y = problem
    first = fits.fit(Counting(solver="liblinear"), X, y)
    again = fits.fit(Counting(solver="liblinear"), X.copy(), y.copy())
    assert again is first
    assert counted.n_fits == 1
    alone = LogisticRegression(solver="liblinear").fit(X, y)
    assert_array_equal(first.predict_proba(X), alone.predict_proba(X))


def other_value(X):
    X = X.copy()
    X[7, 2] += 1e-12
    return X


CHANGES = {
    "a value": lambda X, y: (other_value(X), y),
    "order of rows": lambda X, y: (X[::-1].copy(), y[::-1].copy()),
    "order of columns": lambda X, y: (X[:, ::-1], y),
    "fewer rows": lambda X, y: (X[:-1], y[:-1]),
    "type": lambda X, y: (X.astype(np.float32).astype(float), y),
    "float32": lambda X, y: (X.astype(np.float32), y),
    "labels": lambda X, y: (X, 1 - y),
    "one label": lambda X, y: (X, np.r_[1 - y[0], y[1:]]),
    "sparse": lambda X, y: (csr_array(X), y),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_other_rows_are_fitted_anew(problem, change):
    assert n_fitted(LogisticRegression(solver="liblinear"), problem, change(*problem)) == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (LogisticRegression(C=1.0), LogisticRegression(C=1.0 + 1e-15)),
        (PlattSVC(random_state=0), PlattSVC(random_state=1)),
        (PlattSVC(random_state=0), PlattSVC(random_state=0, solver="liblinear")),
        (LogisticRegression(), SVC()),
    ],
    ids=["C", "seed", "solver", "class"],
)
def test_other_estimators_are_fitted_anew(problem, first, second):
    fits = SharedFits()
    models = [fits.fit(estimator, *problem) for estimator in (first, second, clone(first))]
    assert models[0] is models[2]
    assert models[0] is not models[1]
    assert type(models[1]) is type(second)


def test_estimators_whose_texts_are_cut_to_the_same_are_told_apart(problem):
    """scikit-learn prints long parameters with an ellipsis in the middle."""
    X, y = problem
    names = [f"feature {j}" for j in range(2000)]
    first, second = (
        Pipeline([("select", Named([*names, last])), ("fit", LogisticRegression())])
        for last in ("a", "b")
    )
    assert repr(first) == repr(second)
    fits = SharedFits()
    models = [fits.fit(estimator, X, y) for estimator in (first, second, clone(first))]
    assert models[0] is models[2]
    assert models[1] is not models[0]
    assert models[1].named_steps["select"].names[-1] == "b"


@pytest.mark.parametrize("container", [csr_array, csr_matrix])
def test_sparse_rows_are_told_apart_by_values_and_places(problem, container):
    X, y = problem
    moved = X.copy()
    moved[:, [0, 1]] = moved[:, [1, 0]]
    base = LogisticRegression(solver="liblinear")
    sparse = container(X)
    assert n_fitted(base, (sparse, y), (sparse.copy(), y)) == 1
    assert n_fitted(base, (sparse, y), (container(moved), y), (container(2 * X), y)) == 3
    wider = container((sparse.data, sparse.indices, sparse.indptr), shape=(len(y), 9))
    assert n_fitted(base, (sparse, y), (wider, y)) == 2


def test_digest_does_not_depend_on_the_layout_in_memory(problem):
    X, _ = problem
    assert digest(np.asfortranarray(X)) == digest(X)
    assert digest(X[:, :2]) == digest(X[:, :2].copy())
    assert digest(X) != digest(X.reshape(2, -1))
    assert len({digest(np.zeros(shape)) for shape in ((0, 4), (4, 0), (0,))}) == 3


def test_rows_that_are_gone_are_not_taken_for_new_ones_at_their_place(counted):
    """The id of an array may be given to the next; it must not be found under it."""
    fits = SharedFits()
    y = np.array([0, 1, 0, 1])
    models = {
        id(fits.fit(Counting(solver="liblinear"), np.full((4, 1), float(i)), y)) for i in range(20)
    }
    assert len(models) == counted.n_fits == 20


class Ticking:
    """Processor time that moves on only when it is told to."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(_cell, "process_time", lambda: self.now)


def test_saved_seconds_are_those_of_the_fits_that_were_found(problem, monkeypatch):
    clock = Ticking(monkeypatch)

    class Slow(LogisticRegression):
        def fit(self, X, y):
            clock.now += 3.0 + y[0]
            return super().fit(X, y)

    X, y = problem
    y = np.r_[0, y[1:]]
    fits = SharedFits()
    fits.fit(Slow(), X, y)
    fits.fit(Slow(), X, 1 - y)
    assert fits.saved_seconds == 0
    fits.fit(Slow(), X, y)
    assert fits.saved_seconds == 3
    fits.fit(Slow(), X, 1 - y)
    fits.fit(Slow(), X, 1 - y)
    assert fits.saved_seconds == 3 + 4 + 4


# The base classifier that stands in for another


def test_shared_base_can_do_what_the_base_can():
    fits = SharedFits()
    shared = SharedBase(SVC(), fits)
    assert hasattr(shared, "decision_function")
    assert not hasattr(shared, "predict_proba")
    assert not hasattr(SharedBase(SVC(), fits), "coef_")
    assert hasattr(SharedBase(PlattSVC(), fits), "predict_proba")


@pytest.mark.parametrize("base", [PlattSVC(random_state=0), LogisticRegression()])
def test_shared_base_has_the_tags_of_the_base(base):
    tags, expected = (e.__sklearn_tags__() for e in (SharedBase(base, SharedFits()), base))
    assert tags.input_tags.sparse == expected.input_tags.sparse
    assert tags.classifier_tags.multi_class == expected.classifier_tags.multi_class


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "base",
    [LogisticRegression(solver="liblinear"), PlattSVC(random_state=0)],
    ids=["logistic", "Platt"],
)
def test_methods_that_share_are_those_that_do_not(base, sparse):
    X, Y, _ = songs(sparse=sparse)
    fits = SharedFits()
    for method in (BinaryRelevance, NLDDClassifier, NLDDClassifier, BinaryRelevance):
        shared = method(SharedBase(base, fits), random_state=0).fit(X, Y)
        alone = method(base, random_state=0).fit(X, Y)
        assert_array_equal(shared.predict(X), alone.predict(X))
        assert_array_equal(shared.predict_proba(X), alone.predict_proba(X))
        for ours, theirs in zip(shared.estimators_, alone.estimators_, strict=True):
            assert_array_equal(ours.coef_, theirs.coef_)
    assert_array_equal(
        NLDDClassifier(SharedBase(base, fits), random_state=0).fit(X, Y).beta_,
        NLDDClassifier(base, random_state=0).fit(X, Y).beta_,
    )
