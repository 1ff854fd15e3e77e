"""LinearSVM is SVC(kernel="linear"), whichever way its inner products come about."""

import gc
import weakref

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.svm import SVC

from nldd.estimators import _gram, _linear_svm
from nldd.estimators._binary_relevance import BinaryRelevance
from nldd.estimators._classifier_chain import ClassifierChain
from nldd.estimators._ensemble_of_chains import EnsembleOfChains
from nldd.estimators._gram import Gram, gram_of, share_gram
from nldd.estimators._label_powerset import LabelPowerset
from nldd.estimators._linear_svm import LinearSVM
from nldd.estimators._platt_svc import PlattSVC
from nldd.estimators._rakel import RAkEL


def problem(seed, n_classes, kind):
    """Rows of which some are equal, rows to predict, classes and weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 12)) if kind == "real" else rng.integers(0, 2, (90, 12)).astype(float)
    X[60:75] = X[:15]
    y = (X[:, :3].sum(axis=1) + rng.normal(size=90)).argsort().argsort() * n_classes // 90
    weight = rng.integers(0, 4, 90) / 2.0
    return (csr_array(X) if kind == "sparse" else X), y, weight


@pytest.fixture(params=["gram", "too many rows"])
def _either_way(request, monkeypatch):
    if request.param == "too many rows":
        monkeypatch.setattr(_gram, "MOST_ROWS", 20)


@pytest.mark.usefixtures("_either_way")
@pytest.mark.parametrize("n_classes", [2, 3, 7, 30])
@pytest.mark.parametrize("kind", ["zero or one", "real", "sparse"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_machine_is_that_of_libsvm(n_classes, kind, weighted):
    for seed in range(3 if n_classes == 2 else 1):
        X, y, weight = problem(seed, n_classes, kind)
        names = np.array([f"class {c:02}" for c in y])
        used = weight > 0 if weighted else np.ones(90, dtype=bool)
        weight = weight[used] if weighted else None
        svc = SVC(kernel="linear", decision_function_shape="ovo")
        svc.fit(X[used], names[used], sample_weight=weight)
        given = np.where(used, problem(seed, n_classes, kind)[2], 0) if weighted else None
        model = LinearSVM().fit(X, names, sample_weight=given)
        assert_array_equal(model.classes_, svc.classes_)
        expected = svc.decision_function(X)
        if n_classes == 2:
            assert_allclose(model.decision_function(X), expected, rtol=0, atol=1e-9)
            clear = np.abs(expected) > 1e-9
        else:
            # Values of pairs as LIBSVM has them; only exact ties may round to either side.
            of_pairs = model._pair_coefficients()
            dense = model.support_vectors_ @ X.T
            dense = dense.toarray() if kind == "sparse" else dense
            values = dense.T @ of_pairs + model.intercept_
            assert_allclose(values, expected, rtol=0, atol=1e-9)
            clear = (np.abs(expected) > 1e-9).all(axis=1)
        assert_array_equal(model.predict(X)[clear], svc.predict(X)[clear])
        assert n_classes == 30 or clear.mean() > 0.3  # 435 pairs: most rows have a tie


def test_pairs_vote_and_the_first_of_equals_wins():
    """The middle of a triangle: each of three classes wins one pair, or one wins two."""
    corners = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 3.0]])
    model = LinearSVM().fit(corners, ["a", "b", "c"])
    votes = model.decision_function([[2.0, 1.2], [0.0, 0.1], [3.9, 0.0]])
    assert_array_equal(votes.sum(axis=1), [3, 3, 3])
    assert_array_equal(votes[1:].argmax(axis=1), [0, 1])
    model.intercept_ = np.array([1e3, -1e3, 1e3])  # a beats b, b beats c, c beats a
    assert_array_equal(model.decision_function(corners), np.ones((3, 3)))
    assert model.predict(corners).tolist() == ["a", "a", "a"]


def test_many_pairs_are_looked_at_in_batches(monkeypatch):
    X, y, _ = problem(0, 30, "real")
    model = LinearSVM().fit(X, y)
    expected = model.decision_function(X)
    monkeypatch.setattr(_linear_svm, "MOST_VALUES", 1000)
    assert_array_equal(model.decision_function(X), expected)


def test_second_class_is_predicted_on_the_hyperplane_as_in_libsvm():
    X, y = [[-1.0], [1.0]], ["no", "yes"]
    model = LinearSVM().fit(X, y)
    assert model.decision_function([[0.0]]).tolist() == [0.0]
    assert model.predict([[0.0]]) == SVC(kernel="linear").fit(X, y).predict([[0.0]])


def test_one_class_is_refused():
    with pytest.raises(ValueError, match=r"LinearSVM needs two classes.*one class only: 3"):
        LinearSVM().fit([[0.0], [1.0]], [3, 3])


def labels(n_samples=70, kind="sparse"):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (n_samples, 8)).astype(float)
    scores = X @ rng.normal(size=(8, 5)) + rng.normal(size=(n_samples, 5))
    Y = (scores > np.median(scores, axis=0)).astype(int)
    Y[:, 3] = 1
    return (csr_array(X) if kind == "sparse" else X), Y


METHODS = {
    "binary relevance": lambda base: BinaryRelevance(base, random_state=0),
    "threads": lambda base: BinaryRelevance(base, random_state=0, n_jobs=2),
    "chain": lambda base: ClassifierChain(base, order=[2, 0, 3, 1, 4], random_state=0),
    "ensemble": lambda base: EnsembleOfChains(base, n_members=3, random_state=0, n_jobs=2),
    "powerset": lambda base: LabelPowerset(base, random_state=0),
    "rakel": lambda base: RAkEL(base, random_state=0, n_jobs=2),
}


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("method", METHODS)
def test_methods_predict_as_with_svc_and_work_out_one_matrix(method, kind, monkeypatch):
    X, Y = labels(kind=kind)
    asked = []
    inner_products = _gram._inner_products
    monkeypatch.setattr(_gram, "_inner_products", lambda X: asked.append(0) or inner_products(X))
    model = METHODS[method](LinearSVM()).fit(X, Y)
    assert len(asked) == (3 if method == "ensemble" else 1)
    expected = METHODS[method](SVC(kernel="linear")).fit(X, Y)
    assert_array_equal(model.predict(X), expected.predict(X))
    assert _gram._shared == []


def test_folds_of_platt_are_cut_from_the_matrix_of_the_chain():
    X, Y = labels(kind="dense")
    model = ClassifierChain(PlattSVC(tol=1e-8), random_state=0).fit(X, Y)
    seeds = np.random.RandomState(0)
    for j, link in enumerate(model.estimators_):
        seed = int(seeds.randint(np.iinfo(np.int32).max))
        if j == 3:  # constant
            continue
        alone = PlattSVC(tol=1e-8, random_state=seed).fit(np.hstack([X, Y[:, :j]]), Y[:, j])
        assert_allclose(link.coef_, alone.coef_, rtol=0, atol=1e-6)
        assert_allclose(link.sigmoid_, alone.sigmoid_, rtol=0, atol=1e-5)


@pytest.mark.parametrize("asked_before", [False, True])
def test_matrix_grows_with_a_column(asked_before):
    X, Y = labels()
    gram = Gram(X)
    if asked_before:
        assert_array_equal(gram.matrix, (X @ X.T).toarray())
    wider = csr_array(np.column_stack([X.toarray(), Y[:, 0]]))
    gram.grow(wider, Y[:, 0])
    assert_array_equal(gram.matrix, (wider @ wider.T).toarray())


def test_matrix_is_shared_only_inside_and_only_for_the_object():
    X, y = labels(kind="dense")[0], labels()[1][:, 0]
    expected = LinearSVM().fit(X, y).coef_
    gram = Gram(X)
    kept = weakref.ref(gram)
    with pytest.raises(RuntimeError), share_gram(gram, Gram(X[:5])):
        assert gram_of(X) is gram
        assert gram_of(X.copy()) is None
        raise RuntimeError
    assert gram_of(X) is None
    # X may change now: nothing remembers what it was.
    X *= 2
    assert_allclose(LinearSVM(C=0.25).fit(X, y).coef_, expected / 2, rtol=0, atol=1e-3)
    del gram
    gc.collect()
    assert kept() is None


def test_single_precision_and_sparse_rows_multiply_in_double_precision():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 40)).astype(np.float32)
    exact = X.astype(float) @ X.T.astype(float)
    rare = np.where(rng.random(X.shape) < 0.03, X, 0)
    assert_allclose(Gram(X).matrix, exact, rtol=0, atol=1e-12)
    assert_allclose(Gram(csr_array(X)).matrix, exact, rtol=0, atol=1e-12)
    exact = rare.astype(float) @ rare.T.astype(float)
    assert_allclose(Gram(csr_array(rare)).matrix, exact, rtol=0, atol=1e-12)
