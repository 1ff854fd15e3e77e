"""ClassifierChain against scikit-learn's, and against a loop where that one gives up."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain as SklearnChain
from sklearn.svm import SVC

from nldd.estimators._chains import ClassifierChain
from nldd.exceptions import InputError
from nldd.linear._logistic import MultiLabelLogisticRegression

LOGISTIC = LogisticRegression(solver="liblinear")
BASES = [LOGISTIC, SVC(kernel="linear")]
BASE_IDS = ["logistic", "svc"]
ORDERS = [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]]


@pytest.fixture
def dependent():
    """Noisy features and labels that follow one another, so that the chain matters."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 3))
    first = X[:, 0] + rng.normal(size=90) > 0
    second = first ^ (X[:, 1] + rng.normal(size=90) > 0.5)
    third = (first & second) | (X[:, 2] > 1)
    fourth = second ^ (rng.random(90) < 0.1)
    return X, np.column_stack([first, second, third, fourth]).astype(int)


def chain_naively(base, X, Y, order, X_new):
    """The definition: true labels in training, predicted ones later, constants as they are."""
    fitted, predicted = [], np.zeros((len(X_new), Y.shape[1]), dtype=int)
    for j, label in enumerate(order):
        before = order[:j]
        features = np.hstack([X, Y[:, before]])
        y = Y[:, label]
        new = np.hstack([X_new, predicted[:, before]])
        if y.min() == y.max():
            predicted[:, label] = y[0]
        else:
            fitted.append(type(base)(**base.get_params()).fit(features, y))
            predicted[:, label] = fitted[-1].predict(new)
    return predicted


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("base", BASES, ids=BASE_IDS)
def test_chain_equals_scikit_learn(dependent, base, order, sparse):
    X, Y = dependent
    train = csr_array(X[:60]) if sparse else X[:60]
    new = csr_array(X) if sparse else X
    ours = ClassifierChain(base, order=order).fit(train, Y[:60])
    theirs = SklearnChain(base, order=order).fit(train, Y[:60])
    assert_array_equal(ours.predict(new), theirs.predict(new))
    if base is LOGISTIC:
        assert_allclose(ours.predict_proba(new), theirs.predict_proba(new))


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("as_given", [np.array, csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_links_fitted_at_once_equal_links_fitted_one_by_one(dependent, order, as_given, weighted):
    X, Y = dependent
    weight = {"sample_weight": np.arange(60) % 4 + 0.5} if weighted else {}
    base = MultiLabelLogisticRegression(tol=1e-10)
    chain = ClassifierChain(base, order=order).fit(as_given(X[:60]), Y[:60], **weight)
    (links,) = chain.estimators_
    P, said = np.zeros(Y.shape), np.zeros(Y.shape, dtype=int)
    for j, label in enumerate(order):
        before = order[:j]
        alone = MultiLabelLogisticRegression(tol=1e-10)
        alone.fit(np.hstack([X, Y[:, before]])[:60], Y[:60, [label]], **weight)
        assert_allclose(links.coef_[j, : 3 + j], alone.coef_[0], rtol=1e-6, atol=1e-8)
        assert_allclose(links.intercept_[j], alone.intercept_[0], rtol=1e-6, atol=1e-8)
        assert_array_equal(links.coef_[j, 3 + j :], 0)
        features = np.hstack([X, said[:, before]])
        said[:, label] = alone.predict(features)[:, 0]
        P[:, label] = alone.predict_proba(features)[:, 0]
    assert_array_equal(chain.predict(as_given(X)), said)
    assert_allclose(chain.predict_proba(as_given(X)), P, rtol=1e-6)


# By hand


@pytest.mark.parametrize("value", [0, 1])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_constant_label_in_the_middle_is_still_a_column(dependent, value, sparse):
    X, Y = dependent
    Y = np.insert(Y, 2, value, axis=1)
    order = [4, 2, 0, 3, 1]
    given = csr_array(X) if sparse else X
    model = ClassifierChain(LOGISTIC, order=order).fit(given, Y)
    assert repr(model.estimators_[1]) == f"ConstantLabel({value})"
    varying = [model.estimators_[j] for j in (0, 2, 3, 4)]
    assert [link.n_features_in_ for link in varying] == [3, 5, 6, 7]
    assert_array_equal(model.predict(given)[:, 2], value)
    assert_array_equal(model.predict_proba(given)[:, 2], value)
    assert_array_equal(model.predict(given), chain_naively(LOGISTIC, X, Y, order, X))


NO_ORDERS = [[0, 1, 2, 2], [1, 2, 3, 4], [0, 1, 2], [0, 1, 2, 3, 4], [-1, 0, 1, 2], []]
NO_ORDERS += [[[0, 1], [2, 3]], [0.5, 1.5, 2.5, 3.5], [0.0, 1.0, 2.0, float("nan")]]


@pytest.mark.parametrize("order", NO_ORDERS, ids=str)
def test_order_that_is_no_permutation(dependent, order):
    X, Y = dependent
    with pytest.raises(InputError, match=r"order must hold each of 0, \.\.\., 3 once"):
        ClassifierChain(order=order).fit(X, Y)


def test_random_order_is_seeded(dependent):
    X, Y = dependent
    orders = [
        ClassifierChain(order="random", random_state=seed).fit(X, Y).order_.tolist()
        for seed in (0, 0, 1, 2, 3)
    ]
    assert orders[0] == orders[1]
    assert len({tuple(order) for order in orders}) > 1
    assert all(sorted(order) == [0, 1, 2, 3] for order in orders)
    model = ClassifierChain(order="random", random_state=0).fit(X, Y)
    given = ClassifierChain(order=model.order_).fit(X, Y)
    assert_array_equal(model.predict_proba(X), given.predict_proba(X))
