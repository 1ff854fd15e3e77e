"""Other rows with the same weights: what `NLDDClassifier.refit` keeps and what it learns anew."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from nldd import NLDDClassifier

pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")

LINEAR = LogisticRegression(solver="liblinear")
FOREST = RandomForestClassifier(5, random_state=0)


def data(n=80, seed=0):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, 3)) < [0.5, 0.3, 0.6]).astype(int)
    return rng.normal(size=(n, 4)) + Y @ rng.normal(size=(3, 4)), Y


@pytest.mark.parametrize("base", [LINEAR, FOREST], ids=["separate", "joint"])
@pytest.mark.parametrize("model", ["linear", "multiplicative"])
@pytest.mark.parametrize("sparse", [False, True])
def test_all_but_the_weights_is_that_of_a_new_fit(base, model, sparse):
    X, Y = data()
    X = csr_array(np.where(X > 0, X, 0)) if sparse else X
    first = NLDDClassifier(base, model=model, random_state=0).fit(X[:50], Y[:50])
    found = first.refit(X[30:70], Y[30:70])
    expected = clone(first).fit(X[30:70], Y[30:70])
    expected.regression_, expected.beta_ = first.regression_, first.beta_
    np.testing.assert_array_equal(found.predict(X[70:]), expected.predict(X[70:]))
    np.testing.assert_array_equal(found.predict_theta(X[70:]), expected.predict_theta(X[70:]))
    np.testing.assert_array_equal(
        found.label_probabilities(X[70:]), expected.label_probabilities(X[70:])
    )
    np.testing.assert_array_equal(found.beta_, first.beta_)
    assert found.pairs_ is first.pairs_


def test_the_first_one_stays_as_it_is():
    X, Y = data()
    first = NLDDClassifier(LINEAR, random_state=0).fit(X[:50], Y[:50])
    before = first.predict_theta(X)
    other = first.refit(X[50:], Y[50:])
    assert other is not first
    np.testing.assert_array_equal(first.predict_theta(X), before)
    assert (other.predict_theta(X) != before).any()


def test_part_of_the_rows_is_drawn_as_by_fit():
    X, Y = data()
    first = NLDDClassifier(LINEAR, train_fraction=0.6, random_state=3).fit(X, Y)
    np.testing.assert_array_equal(first.refit(X, Y).rows_, first.rows_)
    assert len(first.rows_) == 48


def test_weights_of_rows_and_names_of_labels():
    X, Y = data()
    labels = [[name for name, there in zip("abc", row, strict=True) if there] for row in Y]
    first = NLDDClassifier(LINEAR, random_state=0).fit(X[:50], Y[:50])
    weight = np.r_[np.ones(20), np.zeros(10)]
    found = first.refit(X[50:], labels[50:], sample_weight=weight)
    np.testing.assert_array_equal(found.rows_, np.arange(20))
    assert found.label_names_.tolist() == ["a", "b", "c"]


def test_unfitted_classifier_has_no_weights_to_keep():
    X, Y = data()
    with pytest.raises(NotFittedError):
        NLDDClassifier().refit(X, Y)
