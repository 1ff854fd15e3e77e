"""Methods with base classifiers: weights reach these, and probabilities come from them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron

from nldd.estimators._registry import METHODS
from nldd.exceptions import InputError

WEIGHTED = {
    # What the method's first classifier of label 2 was fitted to: its rows, and labels before it.
    "BR": (lambda model: model.estimators_[0].coef_[2], []),
    "SMBR": (lambda model: model.estimators_[0].coef_[2], []),
    "NLDD": (lambda model: model.estimators_[0].coef_[2], []),
    "CC": (lambda model: model.estimators_[0].coef_[2, :6], [0, 1]),
    "ECC": (lambda model: model.estimators_[0].links[0].coef_[2, :6], [0, 1]),
}


@pytest.mark.parametrize("key", WEIGHTED)
def test_weights_go_with_their_rows_to_the_base_classifiers(small, key):
    X, Y = small
    weight = np.arange(len(X)) % 3
    rows = np.flatnonzero(weight)
    given = {"estimator": None, "random_state": 0} | ({"order": None} if key == "ECC" else {})
    model = METHODS[key].default(**given).fit(X, Y, sample_weight=weight)
    if key == "ECC":
        rows = rows[model.estimators_[0].rows]
    if key == "NLDD":
        assert_allclose(model.pairs_.weight, weight[model.pairs_.instance])
    found, before = WEIGHTED[key]
    alone = LogisticRegression(solver="newton-cholesky", tol=1e-12)
    if key in ("CC", "ECC"):  # whose default has a penalty on the intercept
        alone.set_params(solver="liblinear", max_iter=10_000)
    alone.fit(np.hstack([X, Y[:, before]])[rows], Y[rows, 2], sample_weight=weight[rows])
    assert_allclose(found(model), alone.coef_[0], rtol=1e-6)


def test_weights_reach_the_forest(small):
    X, Y = small
    weight = np.arange(len(X)) % 3
    rows = np.flatnonzero(weight)
    model = METHODS["RFPCT"].default(n_estimators=8, random_state=0)
    model.fit(X, Y, sample_weight=weight)
    forest = RandomForestClassifier(8, random_state=model.estimators_[0].random_state)
    forest.fit(X[rows], Y[rows], sample_weight=weight[rows])
    expected = np.column_stack([label[:, 1] for label in forest.predict_proba(X)])
    assert_allclose(model.predict_proba(X), expected)


@pytest.mark.parametrize("key", ["BR", "SMBR", "CC", "LP"])
def test_no_probabilities_where_the_base_has_none(small, key):
    model = METHODS[key].default(estimator=Perceptron(), random_state=0).fit(*small)
    assert not hasattr(model, "predict_proba")
    assert model.score(*small) > 0.25  # the share of the most frequent labelset


class Wrong(LogisticRegression):
    """A classifier with answers of another shape."""

    def __init__(self, method="predict_proba", cut=(slice(None),), max_iter=100):
        super().__init__(max_iter=max_iter)
        self.method, self.cut = method, cut

    def predict_proba(self, X):
        P = super().predict_proba(X)
        return P[self.cut] if self.method == "predict_proba" else P

    def predict(self, X):
        y = super().predict(X)
        return y[self.cut] if self.method == "predict" else y


class WrongForest(RandomForestClassifier):
    def __init__(self, change=None, n_estimators=3, random_state=0):
        super().__init__(n_estimators=n_estimators, random_state=random_state)
        self.change = change

    def predict_proba(self, X):
        return self.change(super().predict_proba(X))


ROWS, COLUMN = (slice(1, None),), (slice(None), slice(1, None))
WRONG = {
    "NLDD, rows": ("NLDD", Wrong(cut=ROWS)),
    "NLDD, columns": ("NLDD", Wrong(cut=COLUMN)),
    "NLDD, one number a row": ("NLDD", Wrong(cut=(slice(None), 1))),
    "NLDD, a label too few": ("NLDD", WrongForest(lambda P: P[1:])),
    "NLDD, no label": ("NLDD", WrongForest(lambda P: [])),
    "NLDD, rows of one label": ("NLDD", WrongForest(lambda P: [P[0][1:], *P[1:]])),
    "NLDD, columns of one label": ("NLDD", WrongForest(lambda P: [P[0][:, 1:], *P[1:]])),
    "NLDD, columns of all": ("NLDD", WrongForest(lambda P: np.column_stack(P)[:, :3])),
    "BR, columns": ("BR", Wrong(cut=COLUMN)),
    "CC, columns": ("CC", Wrong(cut=COLUMN)),
    "CC, rows": ("CC", Wrong("predict", cut=(slice(1),))),
    "LP, columns": ("LP", Wrong(cut=COLUMN)),
    "LP, rows": ("LP", Wrong("predict", cut=ROWS)),
    "RAkEL, rows": ("RAKEL", Wrong("predict", cut=(slice(1),))),
}


@pytest.mark.parametrize(("key", "base"), WRONG.values(), ids=WRONG)
def test_answers_of_another_shape_name_the_classifier(small, key, base):
    message = rf"of the base classifier {type(base).__name__}\(.*must give an array of shape"
    method = METHODS[key].default(estimator=base, random_state=0)
    with pytest.raises(InputError, match=f"(?s){message}"):
        method.fit(*small).predict_proba(small[0])
