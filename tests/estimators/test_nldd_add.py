"""More rows and other rows for a fitted NLDDClassifier: `add` and `fit_copy`."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from nldd import NLDDClassifier, NLDDWarning

# Few pairs may leave a distance without weight; that is told, and beside the point here.
pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")

NAMES = ["joy", "fear", "anger", "calm"]
# Where no row of `small` is, with the one labelset that none of them carries.
FAR = np.array([[40.0, -40.0, 40.0, 40.0], [41.0, -40.0, 40.0, 40.0]])
NEW = np.zeros((2, 4), dtype=int)


def fitted(small, **parameters):
    X, Y = small
    return NLDDClassifier(**{"random_state": 0, **parameters}).fit(X, Y)


def as_frame(Y):
    return pd.DataFrame(Y, columns=NAMES)


def test_added_labelset_is_predicted_at_once(small):
    model = fitted(small)
    assert not (model.labelsets_ == NEW[0]).all(axis=1).any()
    assert (model.predict(FAR) != NEW).any(axis=1).all()
    assert model.add(FAR, NEW) is model
    assert_array_equal(model.predict(FAR), NEW)
    assert_array_equal(model.labelsets_, np.unique(np.vstack([small[1], NEW]), axis=0))
    assert_array_equal(model.nearest_labelsets(FAR, 1).row, [[120], [121]])
    assert_array_equal(model.nearest_labelsets(FAR, 1).Dx, 0)


def test_a_new_fit_is_due_once_more_rows_were_added_than_fitted(small, recwarn):
    X, Y = small
    model = fitted(small)
    recwarn.clear()
    model.add(X, Y)
    assert (model.n_added_, len(recwarn)) == (120, 0)
    with pytest.warns(NLDDWarning, match="121 rows were added to a model fitted to 120"):
        model.add(X[:1], Y[:1])
    model.add(X[:1], Y[:1])
    assert (model.n_added_, len(recwarn)) == (122, 0)  # said once
    assert model.fit(X, Y).n_added_ == 0


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_added_rows_are_numbered_on_from_all_rows_of_fit(small, share):
    """Not from the share used, nor without rows of weight 0, the last ones least of all."""
    X, Y = small
    weight = np.ones(120)
    weight[[0, 50]] = weight[110:] = 0
    model = NLDDClassifier(train_fraction=share, random_state=0).fit(X, Y, sample_weight=weight)
    used = model.rows_
    assert set(used) <= set(np.flatnonzero(weight))
    assert_array_equal(model.add(FAR, NEW).rows_, [*used, 120, 121])
    assert model.nearest_labelsets(FAR, 1).row.tolist() == [[120], [121]]


@pytest.mark.parametrize("form", [np.array, list, pd.Series], ids=["array", "list", "series"])
def test_add_classes(small, form):
    X, Y = small
    y = np.array(["low", "mid", "high"])[Y[:, 1] + Y[:, 2]]
    model = NLDDClassifier(None, random_state=0).fit(X, y)
    assert set(model.predict(FAR)) != {"mid"}
    model.add(FAR, form(["mid", "mid"]))
    assert model.predict(FAR).tolist() == ["mid", "mid"]
    assert model.nearest_labelsets(FAR, 1).row.tolist() == [[120], [121]]
    assert_array_equal(model.labelsets_, np.eye(3)[::-1])  # three classes, no new one


def state(model):
    index = model.index_
    return [model.labelsets_, model.rows_, index.labelsets, index.counts, len(index), index.error]


def assert_refused(model, X, bad_X, bad_y, message):
    before, theta = state(model), model.predict_theta(X)
    with pytest.raises(ValueError, match=message):
        model.add(bad_X, bad_y)
    # In this order: the compiled search would read beyond the arrays of an index in disorder.
    for value, expected in zip(state(model), before, strict=True):
        assert_array_equal(value, expected)
    assert_array_equal(model.predict_theta(X), theta)
    y = [model.classes_[0]] * 2 if model.single_label_ else NEW
    assert_array_equal(model.add(FAR, y).rows_[-2:], [120, 121])  # no number was used up


CLASSES = np.array(["low", "mid", "high"])
UNEQUAL = "inconsistent numbers of samples"
REFUSED = {
    "unknown label": (FAR, [{"joy"}, {"envy", "joy"}], r"not fitted with: \['envy'\]"),
    "unknown column": (
        FAR,
        as_frame(NEW).assign(envy=1, awe=0),
        r"\['envy', 'awe'\]. No classifier",
    ),
    "column too many": (FAR, np.zeros((2, 5)), r"not fitted with: \[4\]"),
    "column missing": (FAR, as_frame(NEW)[["joy", "calm", "anger"]], r"lacks 1 of .*: \['fear'\]"),
    "counts": (FAR, NEW + 2, "must hold only 0 and 1; label column 0 holds 2"),
    "fewer labels than rows": (FAR, NEW[:1], UNEQUAL),
    "NaN": (FAR * np.nan, NEW, "contains NaN"),
    "too large": (FAR * 1e200, NEW, "too large to measure"),
    "too large, sparse": (csr_array(FAR * 1e200), NEW, "too large to measure"),
}
REFUSED_CLASSES = {
    "unknown": (["low", "huge"], r"not fitted with: \['huge'\]"),
    "other type": ([1, 0], r"not fitted with: \[0, 1\]"),
    "indicator": (np.eye(2, 3), "1d array"),
}


@pytest.mark.parametrize(("bad_X", "bad_y", "message"), REFUSED.values(), ids=REFUSED)
def test_add_refuses_and_changes_nothing(small, bad_X, bad_y, message):
    X, Y = small
    X = csr_array(X) if isinstance(bad_X, csr_array) else X
    model = NLDDClassifier(random_state=0).fit(X, as_frame(Y))
    assert_refused(model, X, bad_X, bad_y, message)


@pytest.mark.parametrize(("y", "message"), REFUSED_CLASSES.values(), ids=REFUSED_CLASSES)
def test_add_of_classes_refuses_and_changes_nothing(small, y, message):
    X, Y = small
    model = NLDDClassifier(random_state=0).fit(X, CLASSES[Y[:, 1] + Y[:, 2]])
    assert_refused(model, X, FAR, y, message)


LINEAR = LogisticRegression(solver="liblinear")
FOREST = RandomForestClassifier(5, random_state=0)


def data():
    rng = np.random.default_rng(0)
    Y = (rng.random((80, 3)) < [0.5, 0.3, 0.6]).astype(int)
    return rng.normal(size=(80, 4)) + Y @ rng.normal(size=(3, 4)), Y


@pytest.mark.parametrize("base", [LINEAR, FOREST], ids=["separate", "joint"])
@pytest.mark.parametrize("model", ["linear", "multiplicative"])
@pytest.mark.parametrize("sparse", [False, True])
def test_all_but_the_weights_is_that_of_a_new_fit(base, model, sparse):
    X, Y = data()
    X = csr_array(np.where(X > 0, X, 0)) if sparse else X
    first = NLDDClassifier(base, model=model, random_state=0).fit(X[:50], Y[:50])
    found = first.fit_copy(X[30:70], Y[30:70])
    expected = clone(first).fit(X[30:70], Y[30:70])
    rule = replace(expected._fitted.rule, regression=first.regression_)
    expected._set_fitted(replace(expected._fitted, rule=rule))
    assert_array_equal(found.predict(X[70:]), expected.predict(X[70:]))
    assert_array_equal(found.predict_theta(X[70:]), expected.predict_theta(X[70:]))
    assert_array_equal(found.label_probabilities(X[70:]), expected.label_probabilities(X[70:]))
    assert_array_equal(found.beta_, first.beta_)
    assert found.pairs_ is first.pairs_


def test_weights_of_rows_and_names_of_labels():
    X, Y = data()
    labels = [[name for name, there in zip("abc", row, strict=True) if there] for row in Y]
    first = NLDDClassifier(LINEAR, random_state=0).fit(X[:50], Y[:50])
    weight = np.r_[np.ones(20), np.zeros(10)]
    found = first.fit_copy(X[50:], labels[50:], sample_weight=weight)
    assert_array_equal(found.rows_, np.arange(20))
    assert found.label_names_.tolist() == ["a", "b", "c"]
