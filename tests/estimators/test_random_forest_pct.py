"""RandomForestPCT is scikit-learn's multi-output forest, with our contract around it."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.ensemble import RandomForestClassifier

from nldd.estimators._base_classifiers import draw_seed
from nldd.estimators._random_forest_pct import RandomForestPCT

TREES = 8


def peer(seed, **parameters):
    """scikit-learn's forest with the seed that ours draws."""
    inner = draw_seed(np.random.RandomState(seed))
    return RandomForestClassifier(n_estimators=TREES, random_state=inner, **parameters)


def ours(seed=0, **parameters):
    return RandomForestPCT(n_estimators=TREES, random_state=seed, **parameters)


def positive(forest, X):
    return np.column_stack([label[:, 1] for label in forest.predict_proba(X)])


@pytest.mark.parametrize(
    "parameters",
    [{}, {"max_depth": 3}, {"min_samples_leaf": 5}, {"max_features": 1.0}, {"max_features": 2}],
    ids=str,
)
@pytest.mark.parametrize("seed", [0, 1])
def test_forest_equals_scikit_learn(small, parameters, seed):
    X, Y = small
    model = ours(seed, **parameters).fit(X[:80], Y[:80])
    forest = peer(seed, **parameters).fit(X[:80], Y[:80])
    assert_array_equal(model.predict_proba(X), positive(forest, X))
    assert_array_equal(model.predict(X), forest.predict(X))
    assert_array_equal(model.predict(X), model.predict_proba(X) > 0.5)


def test_all_labels_constant_need_no_forest(small):
    X, _ = small
    Y = np.tile([1, 0, 1], (len(X), 1))
    model = ours().fit(X, Y)
    assert model.estimators_ == []
    assert_array_equal(model.predict(X), Y)
    assert_array_equal(model.predict_proba(X), Y)


def test_one_label_is_a_binary_forest(small):
    X, Y = small
    model = ours().fit(X, Y[:, 1:2])
    forest = peer(0).fit(X, Y[:, 1])
    assert_array_equal(model.predict_proba(X), forest.predict_proba(X)[:, 1:])
    assert_array_equal(model.predict(X), forest.predict(X)[:, np.newaxis])
