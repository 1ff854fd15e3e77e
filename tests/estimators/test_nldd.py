"""NLDDClassifier: parameters, forms of data, edge cases, bad input."""

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier

from nldd import BinaryRelevance, InputError, NLDDClassifier
from nldd._labels import as_label_sets
from nldd.linear._logistic import MultiLabelLogisticRegression
from problems import CentroidClassifier

quiet = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")


def fitted(small, **parameters):
    X, Y = small
    return NLDDClassifier(**{"estimator": None, "random_state": 0, **parameters}).fit(X, Y)


def test_attributes_of_a_fit(small):
    X, Y = small
    model = fitted(small)
    assert_array_equal(model.beta_, model.regression_.beta)
    assert_array_equal(model.labelsets_, np.unique(Y, axis=0))
    (base,) = model.estimators_
    assert isinstance(base, MultiLabelLogisticRegression)
    assert base.coef_.shape == (4, 4)
    assert model.n_features_in_ == 4
    pairs = model.pairs_
    assert len(np.unique(pairs.instance)) == 60  # T2 is half of 120
    assert not set(pairs.instance) & set(pairs.row)  # T1 is the other half
    assert_array_equal(pairs.errors, (Y[pairs.instance] != Y[pairs.row]).sum(axis=1))
    distance = np.linalg.norm((X[pairs.instance] - X[pairs.row]) / X.std(axis=0, ddof=1), axis=1)
    assert_allclose(pairs.Dx, distance)


def test_multiplicative_model(small):
    X, Y = small
    model = fitted(small, model="multiplicative")
    found = model.nearest_labelsets(X, 1)
    b0, b1, b2 = model.beta_
    assert b1 >= 0
    assert b2 >= 0
    eta = b0 + found.Dx[:, 0] ** b1 * found.Dy[:, 0] ** b2
    assert_allclose(found.theta[:, 0], 1 / (1 + np.exp(-eta)))
    assert model.score(X, Y) > 0.5
    part = model.explain(X[:1])[0]
    assert_allclose(part.x_part * part.y_part, eta[0] - b0)


def test_exchangeable_covariance_is_close_to_independent(yeast):
    X, Y, _ = yeast
    model = NLDDClassifier(covariance="exchangeable", random_state=0).fit(X[:800], Y[:800])
    plain = NLDDClassifier(random_state=0).fit(X[:800], Y[:800])
    assert model.regression_.covariance == "exchangeable"
    assert_allclose(model.beta_, plain.beta_, rtol=0.25)
    assert (model.beta_ != plain.beta_).all()
    # The paper found the predictions unchanged; so they are but for a few.
    same = (model.predict(X[800:]) == plain.predict(X[800:])).all(axis=1)
    assert same.mean() > 0.9


def test_standardize_chooses_the_features_that_are_divided(small):
    X, Y = small
    X = np.column_stack([X, X[:, 0] > 0])
    sd = X.std(axis=0, ddof=1)
    scale = {
        how: NLDDClassifier(standardize=how, random_state=0).fit(X, Y).index_.scale
        for how in ("numeric", "all", "none")
    }
    assert_allclose(scale["numeric"], [*sd[:4], 1])
    assert_allclose(scale["all"], sd)
    assert_allclose(scale["none"], 1)


def test_train_fraction_uses_that_share_of_rows(small):
    model = fitted(small, train_fraction=0.7)
    assert len(model.rows_) == 84
    assert len(np.unique(model.rows_)) == 84
    assert set(model.nearest_labelsets(small[0], 1).row.ravel()) <= set(model.rows_)


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(n_estimators=20, random_state=0),
        KNeighborsClassifier(),
        MultiOutputClassifier(LogisticRegression()),
        ClassifierChain(LogisticRegression()),
        BinaryRelevance(LogisticRegression()),
    ],
    ids=lambda e: type(e).__name__,
)
def test_multilabel_estimator_is_one_model(small, estimator):
    X, Y = small
    Y = np.column_stack([Y, np.ones(len(Y), int), np.zeros(len(Y), int)])  # two constant labels
    model = NLDDClassifier(estimator, random_state=0).fit(X, Y)
    assert [type(e) for e in model.estimators_] == [type(estimator)]
    P = model.label_probabilities(X)
    assert P.shape == Y.shape
    assert_array_equal(P[:, 4:], np.tile([1.0, 0.0], (len(X), 1)))
    assert_array_equal(model.predict(X)[:, 4:], Y[:, 4:])
    assert model.score(X, Y) > 0.45  # the most frequent labelset alone would give 0.25


@quiet
@pytest.mark.parametrize("max_pairs", [20, 59])
def test_max_pairs_draws_so_many_instances_of_the_same_half(small, max_pairs):
    model, every = fitted(small, max_pairs=max_pairs), fitted(small, max_pairs=None)
    instances = np.unique(model.pairs_.instance)
    assert len(instances) == max_pairs
    assert set(instances) < set(every.pairs_.instance)
    partners = {(i, row) for i, row in zip(every.pairs_.instance, every.pairs_.row, strict=True)}
    drawn = set(zip(model.pairs_.instance, model.pairs_.row, strict=True))
    assert drawn == {(i, row) for i, row in partners if i in instances}
    # Only the regression sees fewer rows; classifiers and search have all of them.
    assert not np.array_equal(model.beta_, every.beta_)
    assert_array_equal(model.label_probabilities(small[0]), every.label_probabilities(small[0]))
    assert_array_equal(model.rows_, np.arange(120))


def test_search_stats_tell_how_much_was_skipped(yeast):
    X, Y, _ = yeast
    model = NLDDClassifier(random_state=0).fit(csr_matrix(X[:600]), Y[:600])
    stats = model.search_stats(csr_matrix(X[600:700]))
    assert (stats.n_queries, stats.n_pairs) == (100, 100 * 600)
    assert 100 <= stats.n_evaluated < stats.n_pairs / 2
    assert stats.share_evaluated == stats.n_evaluated / stats.n_pairs
    model.add(csr_matrix(X[700:703]), Y[700:703])
    assert model.search_stats(csr_matrix(X[600:610])).n_pairs == 10 * 603


def test_score_counts_rows_with_unknown_labels_as_wrong(small):
    X, Y = small
    sets = [set(labels) for labels in as_label_sets(Y, "abcd")]
    model = NLDDClassifier(random_state=0).fit(X, sets)
    share = model.score(X, sets)
    right = np.flatnonzero((model.predict(X) == Y).all(axis=1))
    sets[right[0]] = sets[right[0]] | {"unheard of"}
    assert model.score(X, sets) == pytest.approx(share - 1 / len(X))


@pytest.mark.parametrize("k", [0, -1, 17, 2.0, "3"])
def test_nearest_labelsets_refuses_impossible_k(small, k):
    model = fitted(small)
    n = len(model.labelsets_)
    with pytest.raises(InputError, match=f"whole number from 1 to {n}.*got {k!r}"):
        model.nearest_labelsets(small[0], k)


class NoProbabilities(LogisticRegression):
    """A classifier of the user's own that gives one number for every label of positive weight."""

    number = 0.5

    def predict_proba(self, X):
        P = super().predict_proba(X)
        return np.full_like(P, self.number) if self.coef_[0, 0] > 0 else P


@pytest.mark.parametrize("number", [np.nan, np.inf, -0.5, 1.5, 1e160])
def test_numbers_that_are_no_probabilities_name_the_label(small, monkeypatch, number):
    X, Y = small
    model = NLDDClassifier(NoProbabilities(), random_state=0).fit(X, Y)
    monkeypatch.setattr(NoProbabilities, "number", number)
    message = rf"from 0 to 1; got {re.escape(f'{number:g}')} for label 0"
    with pytest.raises(InputError, match=message):
        NLDDClassifier(NoProbabilities(), random_state=0).fit(X, Y)
    for ask in (model.predict, model.predict_proba, model.predict_theta, model.explain):
        with pytest.raises(InputError, match=message):
            ask(X)


def test_failure_of_a_base_classifier_names_the_label():
    X = np.arange(20.0).reshape(-1, 1) - 5  # BernoulliNB would do; the calibration cannot
    Y = pd.DataFrame({"common": np.arange(20) % 2, "rare": np.arange(20) == 3})
    model = NLDDClassifier(CalibratedClassifierCV(BernoulliNB(), cv=5), random_state=0)
    with pytest.raises(ValueError) as caught:
        model.fit(X, Y)
    assert "while fitting label 'common': " in caught.value.__notes__[0]
    assert caught.value.__notes__[0].endswith("of 10 rows carry it")


class Untouched(LogisticRegression):
    def fit(self, X, y):
        raise AssertionError("must not be fitted")


NOTHING = np.zeros((120, 2), dtype=int)
IMPOSSIBLE = {"model": "multiplicative", "covariance": "exchangeable"}
HUGE = {"estimator": CentroidClassifier(), "standardize": "none"}
REFUSED = {
    "no probabilities": (
        {"estimator": Perceptron()},
        {},
        r"Perceptron.* has no predict_proba. Wrap",
    ),
    "few rows": ({}, {"X": np.eye(3), "y": np.eye(3)}, r"at least 4 training rows.*n_samples=3"),
    "one labelset": ({}, {"y": NOTHING}, r"at least two distinct labelsets.*all 120.*\{\}"),
    "huge features": (HUGE, {"X": np.full((120, 1), 1e160)}, "too large to measure distances"),
    "no weight": ({}, {"sample_weight": np.zeros(120)}, "non-zero|positive"),
    "regression": ({"estimator": Untouched(), **IMPOSSIBLE}, {}, 'requires model="linear"'),
}


@pytest.mark.parametrize(("parameters", "given", "message"), REFUSED.values(), ids=REFUSED)
def test_fit_refuses_with_a_reason(small, parameters, given, message):
    X, Y = small
    with pytest.raises(ValueError, match=message):
        NLDDClassifier(**parameters, random_state=0).fit(**{"X": X, "y": Y, **given})
