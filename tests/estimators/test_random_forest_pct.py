"""RandomForestPCT is scikit-learn's multi-output forest, with our contract around it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.ensemble import RandomForestClassifier

from nldd import RandomForestPCT
from nldd.estimators._label_models import draw_seed

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


def test_sparse_rows(small):
    X, Y = small
    X = X * (np.abs(X) > 0.5)
    dense, sparse = ours().fit(X, Y), ours().fit(csr_array(X), Y)
    assert_array_equal(sparse.predict_proba(csr_array(X)), dense.predict_proba(X))


def test_exactly_half_is_off():
    """One leaf with one row of each kind."""
    X, Y = np.zeros((2, 1)), np.array([[0, 1], [1, 0]])
    for seed in range(20):
        model = RandomForestPCT(n_estimators=1, random_state=seed).fit(X, Y)
        P = model.predict_proba(X)
        assert_array_equal(model.predict(X), P > 0.5)
        if (P == 0.5).all():
            break
    else:
        pytest.fail("no bootstrap had one row of each kind")


def test_one_tree_by_hand():
    """Both labels change at x = 2.5: the tree has one split there and pure leaves."""
    X = np.repeat(np.arange(6.0), 10).reshape(-1, 1)
    Y = np.column_stack([X[:, 0] < 2.5, X[:, 0] > 2.5]).astype(int)
    model = RandomForestPCT(n_estimators=1, random_state=0).fit(X, Y)
    tree = model.estimators_[0].estimators_[0].tree_
    assert tree.node_count == 3
    assert tree.threshold[0] == 2.5
    assert_array_equal(model.predict_proba([[0.0], [2.4], [2.6]]), [[1, 0], [1, 0], [0, 1]])


def test_constant_labels_are_certain_and_change_nothing(small):
    X, Y = small
    constant = np.insert(Y, [1, 3], [1, 0], axis=1)
    model = ours().fit(X, constant)
    P = model.predict_proba(X)
    assert_array_equal(P[:, [1, 4]], np.tile([1, 0], (len(X), 1)))
    assert_array_equal(P[:, [0, 2, 3, 5]], ours().fit(X, Y).predict_proba(X))
    assert_array_equal(model.predict(X)[:, [1, 4]], constant[:, [1, 4]])


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


def test_one_varying_label_among_constants(small):
    X, Y = small
    ones = np.ones(len(X), dtype=int)
    model = ours().fit(X, np.column_stack([ones, Y[:, 1]]))
    expected = peer(0).fit(X, Y[:, 1]).predict_proba(X)[:, 1]
    assert_array_equal(model.predict_proba(X), np.column_stack([ones, expected]))


def test_weights_reach_the_forest(small):
    X, Y = small
    weight = np.arange(len(X)) % 3
    kept = weight > 0
    model = ours().fit(X, Y, sample_weight=weight)
    forest = peer(0).fit(X[kept], Y[kept], sample_weight=weight[kept])
    assert_array_equal(model.predict_proba(X), positive(forest, X))
    assert (model.predict_proba(X) != ours().fit(X[kept], Y[kept]).predict_proba(X)).any()


def test_workers_do_not_change_results(small):
    """Threads add up trees in any order; shares of pure leaves are whole, so sums are exact."""
    X, Y = small
    one, two = ours(n_jobs=1).fit(X, Y), ours(n_jobs=2).fit(X, Y)
    assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    assert_array_equal(one.predict(X), two.predict(X))


def test_workers_change_no_more_than_the_last_digit_of_mixed_leaves(small):
    X, Y = small
    one = ours(n_jobs=1, min_samples_leaf=4).fit(X, Y)
    two = ours(n_jobs=2, min_samples_leaf=4).fit(X, Y)
    assert_allclose(one.predict_proba(X), two.predict_proba(X), rtol=1e-12)


def test_refit_repeats_and_seeds_differ(small):
    X, Y = small
    model = ours()
    first = model.fit(X, Y).predict_proba(X[:40] + 0.3)
    assert_array_equal(model.fit(X, Y).predict_proba(X[:40] + 0.3), first)
    assert (ours(1).fit(X, Y).predict_proba(X[:40] + 0.3) != first).any()


def test_exclusive_classes_take_the_likeliest(small):
    X, Y = small
    y = np.array(["x", "y", "z"])[Y[:, 1] + Y[:, 2]]
    model = ours().fit(X[:80], y[:80])
    P = model.predict_proba(X)
    assert_allclose(P.sum(axis=1), 1)
    assert_array_equal(model.predict(X), model.classes_[P.argmax(axis=1)])
    assert (model.predict(X[:80]) == y[:80]).mean() > 0.9


def test_names_are_kept(small):
    X, Y = small
    names = np.array(["a", "b", "c", "d"])
    sets = [set(names[row == 1].tolist()) for row in Y]
    model = ours().fit(X, sets)
    assert model.label_names_.tolist() == names.tolist()
    assert_array_equal(model.predict_proba(X), ours().fit(X, Y).predict_proba(X))


@pytest.mark.parametrize(
    "wrong",
    [{"n_estimators": 0}, {"max_depth": 0}, {"max_features": "all"}, {"min_samples_leaf": 0}],
    ids=str,
)
def test_wrong_parameters_are_named(small, wrong):
    X, Y = small
    with pytest.raises(ValueError, match=f"'{next(iter(wrong))}' parameter of RandomForest"):
        RandomForestPCT(**wrong).fit(X, Y)
