"""Powersets against the classifiers they stand on; RAkEL's subsets, votes and ties by hand."""

from math import comb

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from nldd.estimators._powersets import ENUMERABLE, LabelPowerset, RAkEL, draw_subsets
from nldd.estimators._svm import PlattSVC
from nldd.linear._logistic import MultiLabelLogisticRegression


def codes_by_first_appearance(Y):
    """Class number of each row, and the labelsets in that order, by a plain loop."""
    seen = []
    codes = []
    for row in np.asarray(Y).tolist():
        if row not in seen:
            seen.append(row)
        codes.append(seen.index(row))
    return np.array(codes), np.array(seen)


def test_one_labelset_is_a_constant_without_a_fit():
    X = np.arange(6.0).reshape(3, 2)
    model = LabelPowerset().fit(X, [[0, 1, 1]] * 3)
    assert model.estimators_ == []
    assert_array_equal(model.predict(X - 50), [[0, 1, 1]] * 3)
    assert_array_equal(model.predict_proba(X), [[0, 1, 1]] * 3)


TREE = DecisionTreeClassifier(max_depth=4, random_state=0)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("base", [SVC(kernel="linear"), TREE], ids=["svc", "tree"])
def test_powerset_equals_a_multi_class_classifier_of_codes(small, base, sparse):
    X, Y = small
    codes, labelsets = codes_by_first_appearance(Y[:60])
    given, new = (csr_array(X[:60]), csr_array(X)) if sparse else (X[:60], X)
    model = LabelPowerset(base).fit(given, Y[:60])
    alone = type(base)(**base.get_params()).fit(given, codes)
    assert_array_equal(model.labelsets_, labelsets)
    assert_array_equal(model.predict(new), labelsets[alone.predict(new)])


@pytest.mark.parametrize(
    ("given", "base"),
    [
        (LogisticRegression(), LogisticRegression()),
        (None, MultiLabelLogisticRegression()),  # one labelset against the rest
    ],
    ids=["multinomial", "default"],
)
def test_marginals_are_sums_over_classes(small, given, base):
    X, Y = small
    codes, labelsets = codes_by_first_appearance(Y)
    classes = base.fit(X, codes).predict_proba(X)
    expected = np.zeros(Y.shape)
    for code, labelset in enumerate(labelsets):
        for label in np.flatnonzero(labelset):
            expected[:, label] += classes[:, code]
    model = LabelPowerset(given).fit(X, Y)
    P = model.predict_proba(X)
    agree = (expected > 0.5) == model.predict(X)
    assert_allclose(P[agree], expected[agree])
    assert_allclose(P[~agree], 0.5)
    assert_array_equal(np.round(P), model.predict(X))


def test_binary_base_is_used_one_against_the_rest(small):
    X, Y = small
    model = LabelPowerset(PlattSVC(), random_state=0).fit(X[:60], Y[:60])
    inner = model.estimators_[0]
    assert isinstance(inner, OneVsRestClassifier)
    seed = inner.estimator.random_state
    assert isinstance(seed, int)
    codes, labelsets = codes_by_first_appearance(Y[:60])
    alone = OneVsRestClassifier(PlattSVC(random_state=seed)).fit(X[:60], codes)
    assert_array_equal(model.predict(X), labelsets[alone.predict(X)])
    assert_array_equal(np.round(model.predict_proba(X)), model.predict(X))
    assert model.estimator.random_state is None  # the user's object is not touched


@pytest.fixture
def noisy():
    """80 rows and five labels, where subsets disagree on a label."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(80, 4))
    Y = (X[:, [0, 1, 2, 3, 0]] + 1.2 * rng.normal(size=(80, 5)) > 0.2).astype(int)
    Y[:, 4] = Y[:, 0] ^ (rng.random(80) < 0.2)
    return X, Y


def share_by_hand(model, X):
    """Votes over the number of subsets that contain the label, from the stored classifiers."""
    share = np.zeros((len(X), model.n_labels_))
    for label in range(model.n_labels_):
        votes = []
        for subset, powerset in zip(model.subsets_, model.estimators_, strict=True):
            if label in subset:
                codes = powerset.estimators[0].predict(X)
                votes.append(powerset.labelsets[codes, subset.tolist().index(label)])
        if votes:
            share[:, label] = np.sum(votes, axis=0) / len(votes)
    return share


@pytest.mark.parametrize("base", [GaussianNB(), SVC(kernel="linear")], ids=["bayes", "svc"])
@pytest.mark.parametrize("k", [5, 9], ids=["k = L", "k > L"])
def test_one_subset_of_all_labels_is_the_label_powerset(noisy, base, k):
    X, Y = noisy
    model = RAkEL(base, k=k).fit(X[:50], Y[:50])
    assert [subset.tolist() for subset in model.subsets_] == [[0, 1, 2, 3, 4]]
    assert_array_equal(model.predict(X), LabelPowerset(base).fit(X[:50], Y[:50]).predict(X))


@pytest.mark.parametrize("threshold", [0.0, 0.3, 1 / 3, 0.5, 2 / 3, 1.0])
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("k", [2, 3])
def test_votes_equal_a_count_over_the_stored_models(noisy, k, threshold, strict):
    X, Y = noisy
    model = RAkEL(
        GaussianNB(), k=k, n_models=6, threshold=threshold, strict=strict, random_state=1
    ).fit(X[:50], Y[:50])
    share = share_by_hand(model, X)
    expected = share > threshold if strict else share >= threshold
    assert_array_equal(model.predict(X), expected)
    P = model.predict_proba(X)
    assert_array_equal(np.round(P), expected)
    agree = (share > 0.5) == expected
    assert_allclose(P[agree], share[agree], atol=1e-15)
    assert_allclose(P[~agree], 0.5)


def test_label_in_no_subset_stays_off(noisy):
    X, Y = noisy
    model = RAkEL(GaussianNB(), k=2, n_models=1, random_state=0).fit(X, Y)
    (subset,) = model.subsets_
    uncovered = np.setdiff1d(np.arange(5), subset)
    assert_array_equal(model.predict(X)[:, uncovered], 0)
    assert_array_equal(model.predict_proba(X)[:, uncovered], 0)
    assert model.predict(X)[:, subset].any()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("n_labels", "k", "n_models"),
    [(6, 3, 12), (6, 3, 4), (6, 2, 4), (14, 3, 28), (5, 2, 9), (45, 3, 90), (101, 4, 202)],
    ids=str,
)
def test_drawn_subsets_are_distinct_sorted_and_cover_all_labels(n_labels, k, n_models, seed):
    assert (comb(n_labels, k) > ENUMERABLE) == (n_labels > 100)
    subsets = draw_subsets(n_labels, k, n_models, np.random.RandomState(seed))
    assert_array_equal(subsets, draw_subsets(n_labels, k, n_models, np.random.RandomState(seed)))
    assert len({tuple(subset) for subset in subsets}) == len(subsets) == n_models
    assert all(len(subset) == k and (np.diff(subset) > 0).all() for subset in subsets)
    assert set(np.concatenate(subsets).tolist()) == set(range(n_labels))


@pytest.mark.parametrize(
    ("n_labels", "k", "n_models"),
    [
        pytest.param(30, 3, 10, id="partition"),
        pytest.param(20, 2, 11, id="nearly a partition"),
        pytest.param(110, 3, 40, id="drawn"),
        pytest.param(2000, 3, 4000, marks=pytest.mark.slow, id="default of many labels"),
    ],
)
def test_drawing_ends_though_covering_subsets_are_rare(n_labels, k, n_models):
    """Enough subsets to cover all labels, but almost no draw does: it must not wait for luck.

    Default settings meet this too: with m = 2L and k = 3 a label is left out with probability
    exp(-6), so of L = 2000 labels a draw misses some with probability 1 - exp(-5) = 0.993.
    """

    class Patient(np.random.RandomState):
        """Gives up after twenty full draws."""

        draws = 0

        def permutation(self, x):
            self.draws += 1
            assert self.draws <= 20 * n_models, "still drawing"
            return super().permutation(x)

    subsets = draw_subsets(n_labels, k, n_models, Patient(0))
    assert len({tuple(subset) for subset in subsets}) == n_models
    assert all(len(subset) == k and (np.diff(subset) > 0).all() for subset in subsets)
