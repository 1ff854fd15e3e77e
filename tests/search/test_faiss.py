"""Candidates from faiss change how long a search takes, never its answer."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from nldd import NLDDClassifier
from nldd.exceptions import InputError, MissingExtraError
from nldd.search import (
    IN_FEATURES,
    IN_LABELS,
    FaissLabelsetIndex,
    LabelsetIndex,
    Score,
    _faiss as module,
)

pytest.importorskip("faiss", reason="needs faiss-cpu: pip install nldd[faiss]")


def clustered(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99).normal(size=(20, 12)) * 3
    labelsets = np.random.default_rng(98).integers(0, 2, size=(20, 6))
    cluster = rng.integers(20, size=n_rows)
    flips = rng.random((n_rows, 6)) < 0.1
    X = centres[cluster] + rng.normal(size=(n_rows, 12))
    return X, np.where(flips, 1 - labelsets[cluster], labelsets[cluster])


def equal(a, b):
    for name in ("row", "labelset", "Dx", "Dy"):
        assert_array_equal(getattr(a, name), getattr(b, name))


@pytest.mark.parametrize("few_rows", [10, 10_000], ids=["lists", "all rows"])
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize(
    "score", [Score(0.2, 1.0), IN_FEATURES, IN_LABELS, Score(0.5, 1.0, product=True)], ids=str
)
def test_answers_are_those_of_the_exact_search(monkeypatch, few_rows, k, score):
    monkeypatch.setattr(module, "FEW_ROWS", few_rows)
    monkeypatch.setattr(module, "NEIGHBORS", 4)  # few, so that the best is often not among them
    X, Y = clustered(3000)
    X_new, near = clustered(200, seed=1)
    P = np.clip(near + np.random.default_rng(2).normal(0, 0.3, near.shape), 0, 1)
    expected = LabelsetIndex(X, Y, np.ones(12)).query(X_new, P, score, k)
    equal(FaissLabelsetIndex(X, Y, np.ones(12)).query(X_new, P, score, k, n_jobs=2), expected)


def test_certified_where_the_candidate_is_the_answer_and_only_there():
    X, Y = clustered(2000)
    X_new, near = clustered(300, seed=1)
    P = near * 0.9 + 0.05
    index = FaissLabelsetIndex(X, Y, np.ones(12))
    # faiss compares with all 2000 rows, so the nearest row in features is always its first.
    assert index.query(X_new, P, IN_FEATURES).certified.all()
    certified = index.query(X_new, P, Score(0.1, 2.0)).certified
    assert 0 < certified.mean() < 1


def test_rows_that_are_added_are_found():
    X, Y = clustered(500)
    index = FaissLabelsetIndex(X[:400], Y[:400], np.ones(12))
    index = index.with_rows(X[400:], Y[400:])
    found = index.query(X[400:], Y[400:].astype(float), Score(1.0, 1.0))
    assert_array_equal(found.row[:, 0], np.arange(400, 500))
    assert_array_equal(found.Dx, 0)


def test_classifier_predicts_the_same_and_says_how_much_was_certified():
    X, Y = clustered(800)
    exact = NLDDClassifier(random_state=0).fit(X[:600], Y[:600])
    faiss = NLDDClassifier(search="faiss", random_state=0).fit(X[:600], Y[:600])
    assert_array_equal(faiss.predict(X[600:]), exact.predict(X[600:]))
    assert_array_equal(faiss.predict_theta(X[600:]), exact.predict_theta(X[600:]))
    assert exact.search_stats(X[600:]).share_certified == 1
    assert 0 < faiss.search_stats(X[600:]).share_certified <= 1
    assert faiss.search_stats(X[600:]).n_queries == 200


def test_sparse_features_are_refused():
    X, Y = clustered(50)
    with pytest.raises(InputError, match="takes dense features, but X is sparse"):
        NLDDClassifier(search="faiss").fit(csr_array(X), Y)


def test_without_faiss_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    X, Y = clustered(50)
    with pytest.raises(MissingExtraError, match=r'pip install "nldd\[faiss\]"'):
        NLDDClassifier(search="faiss").fit(X, Y)
