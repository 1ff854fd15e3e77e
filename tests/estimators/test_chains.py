"""Chains against scikit-learn's and loops; ensembles against chains fitted and counted by hand."""

from collections import Counter
from math import comb

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain as SklearnChain
from sklearn.svm import SVC

from nldd.estimators import _chains
from nldd.estimators._chains import ClassifierChain, EnsembleOfChains, expected_sizes
from nldd.exceptions import InputError, NLDDWarning
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


@pytest.fixture
def noisy():
    """80 rows where chains on different rows disagree."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 5))
    Y = (X[:, :4] + 1.5 * rng.normal(size=(80, 4)) > 0.3).astype(int)
    Y[:, 3] = Y[:, 0] ^ (rng.random(80) < 0.2)
    return X, Y


def votes_by_hand(model, X):
    """Mean over members of the chain's own prediction, row by row and label by label."""
    total = np.zeros((len(X), model.n_labels_))
    for member in model.estimators_:
        (links,) = member.links
        for i, x in enumerate(X[:, member.features]):
            said = []
            for j, label in enumerate(member.order):
                coefficients = links.coef_[j][: len(x) + j]
                said.append(coefficients @ [*x, *said] + links.intercept_[j] > 0)
                total[i, label] += said[-1]
    return total / len(model.estimators_)


@pytest.mark.parametrize("base", [None, SVC(kernel="linear")], ids=["logistic", "svc"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_one_member_without_resampling_in_the_given_order_is_a_chain(noisy, base, sparse):
    X, Y = noisy
    given = csr_array(X) if sparse else X
    ensemble = EnsembleOfChains(base, n_members=1, bootstrap=False, order=None).fit(given, Y)
    chain = ClassifierChain(base).fit(given, Y)
    assert_array_equal(ensemble.predict(given), chain.predict(given))
    assert_array_equal(ensemble.predict_proba(given), chain.predict(given))


@pytest.mark.parametrize("n_members", [1, 2, 3, 7, 10])
def test_votes_are_the_mean_of_the_members_and_lie_on_the_grid(noisy, n_members):
    X, Y = noisy
    model = EnsembleOfChains(n_members=n_members, random_state=0).fit(X[:50], Y[:50])
    expected = votes_by_hand(model, X)
    P = model.predict_proba(X)
    assert_allclose(P, expected, rtol=0, atol=1e-15)
    grid = np.arange(n_members + 1) / n_members
    assert np.abs(P[..., np.newaxis] - grid).min(axis=-1).max() < 1e-15
    assert_array_equal(model.predict(X), expected >= 0.5)
    assert_array_equal(np.round(P), model.predict(X))


def test_fractions_draw_rows_and_features_without_replacement(noisy):
    X, Y = noisy
    model = EnsembleOfChains(
        n_members=6, bootstrap=False, row_fraction=0.75, feature_fraction=0.5, random_state=0
    ).fit(X, Y)
    for member in model.estimators_:
        assert len(member.rows) == len(np.unique(member.rows)) == 60
        assert len(member.features) == len(np.unique(member.features)) == 2  # round(2.5)
        # Label columns are always kept, and each label uses those before it.
        (links,) = member.links
        assert links.n_features_in_ == 2 + 3
        assert_array_equal(links.coef_[:, 2:] != 0, np.tri(4, 3, -1))
    assert len({tuple(member.features) for member in model.estimators_}) > 1
    assert len({tuple(member.rows) for member in model.estimators_}) == 6
    assert_allclose(model.predict_proba(X), votes_by_hand(model, X), atol=1e-15)


def test_orders_are_drawn_or_given(noisy):
    X, Y = noisy
    drawn = EnsembleOfChains(n_members=8, random_state=0).fit(X, Y)
    orders = {tuple(member.order.tolist()) for member in drawn.estimators_}
    assert len(orders) > 3
    assert {tuple(sorted(order)) for order in orders} == {(0, 1, 2, 3)}
    for order, expected in ((None, [0, 1, 2, 3]), ([2, 0, 3, 1], [2, 0, 3, 1])):
        given = EnsembleOfChains(n_members=3, order=order, random_state=0).fit(X, Y)
        assert [member.order.tolist() for member in given.estimators_] == [expected] * 3


def chances_naively(seen, chances, n_steps):
    """EM over (votes, judges) pairs, one posterior at a time."""
    share = {chance: 1 / len(chances) for chance in chances}
    for _ in range(n_steps):
        total = dict.fromkeys(chances, 0.0)
        for (votes, judges), count in seen.items():
            said = {p: share[p] * p**votes * (1 - p) ** (judges - votes) for p in chances}
            for p in chances:
                total[p] += count * said[p] / sum(said.values())
        share = {p: total[p] / sum(seen.values()) for p in chances}
    return share


def test_expected_sizes_equal_a_loop(monkeypatch):
    monkeypatch.setattr(_chains, "CHANCES", np.linspace(0, 1, 11))
    monkeypatch.setattr(_chains, "N_STEPS", 30)
    rng = np.random.default_rng(0)
    for m in (1, 2, 6):
        judges = rng.integers(1, m + 1, size=12)
        votes = rng.binomial(judges[:, np.newaxis], rng.random((12, 3)) ** 2)
        seen = Counter((v, k) for k, row in zip(judges, votes, strict=True) for v in row.tolist())
        share = chances_naively(seen, np.linspace(0, 1, 11).tolist(), 30)
        expected = [
            3
            * sum(
                w * comb(m, j) * p**j * (1 - p) ** (m - j)
                for p, w in share.items()
                for j in range(cut, m + 1)
            )
            for cut in range(1, m + 1)
        ]
        assert_allclose(expected_sizes(votes, judges, m), expected, rtol=1e-9)


def threshold_naively(model, X, Y, weight=None):
    """Row by row: the votes of the members that did not see it."""
    weight = np.ones(len(X)) if weight is None else weight
    answers = [member.votes(X) for member in model.estimators_]
    votes, judges, true_sizes, weights = [], [], [], []
    for i in range(len(X)):
        said = [
            a[i]
            for a, member in zip(answers, model.estimators_, strict=True)
            if i not in member.rows
        ]
        if said:
            votes.append(np.sum(said, axis=0))
            judges.append(len(said))
            true_sizes.append(weight[i] * sum(Y[i]))
            weights.append(weight[i])
    cardinality = sum(true_sizes) / sum(weights)
    m = len(model.estimators_)
    sizes = expected_sizes(np.array(votes), np.array(judges), m, np.array(weights))
    gaps = np.abs(sizes - cardinality)
    return (gaps.tolist().index(min(gaps)) + 1) / m


RESAMPLING = {
    "bootstrap": {},
    "subset": {"bootstrap": False, "row_fraction": 0.6},
    "small bootstrap": {"row_fraction": 0.3},
}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("resampling", RESAMPLING.values(), ids=RESAMPLING)
def test_cardinality_threshold_equals_a_loop_over_out_of_bag_votes(noisy, seed, resampling):
    X, Y = noisy
    rare = Y * (np.arange(len(X)) % (seed + 1) == 0)[:, np.newaxis]
    model = EnsembleOfChains(
        n_members=6, threshold="cardinality", random_state=seed, **resampling
    ).fit(X, rare)
    assert model.threshold_ == threshold_naively(model, X, rare)
    assert_array_equal(model.predict(X), votes_by_hand(model, X) >= model.threshold_)
    assert_array_equal(np.round(model.predict_proba(X)), model.predict(X))


def test_cardinality_threshold_where_no_row_was_left_out(noisy):
    X, Y = noisy
    model = EnsembleOfChains(n_members=2, bootstrap=False, threshold="cardinality")
    with pytest.warns(NLDDWarning, match="needs rows that a member has not seen"):
        model.fit(X, Y)
    assert model.threshold_ == 0.5


def test_expected_sizes_count_rows_by_their_weights():
    rng = np.random.default_rng(0)
    judges = rng.integers(1, 6, 30)
    votes = rng.binomial(judges[:, np.newaxis], rng.random((30, 4)) ** 3)
    weight = rng.integers(1, 4, 30)
    again = np.repeat(np.arange(30), weight)
    expected = expected_sizes(votes[again], judges[again], 5)
    assert_allclose(expected_sizes(votes, judges, 5, weight.astype(float)), expected)


def test_cardinality_is_that_of_weighted_rows(noisy):
    """Rows with many labels hardly count, in what is true and in what is predicted."""
    X, Y = noisy
    weight = np.where(Y.sum(axis=1) > 1, 1e-3, 1.0)
    model = EnsembleOfChains(n_members=10, threshold="cardinality", random_state=0)
    model.fit(X, Y, sample_weight=weight)
    assert model.threshold_ == threshold_naively(model, X, Y, weight=weight)
    assert model.threshold_ != threshold_naively(model, X, Y)


def test_threshold_may_be_a_share_of_the_votes(noisy):
    X, Y = noisy
    for share in (0.3, 1):
        model = EnsembleOfChains(n_members=10, threshold=share, random_state=0).fit(X, Y)
        assert model.threshold_ == share
        assert_array_equal(model.predict(X), votes_by_hand(model, X) >= share)
