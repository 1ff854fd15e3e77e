"""An index that grew answers as one that was built from all rows."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from ways import SCORES, WAYS, assert_same, every_way, random_problem

from nldd.search._index import LabelsetIndex


def assert_equal_indexes(grown, whole, X_new, P, scores=SCORES):
    assert len(grown) == len(whole)
    np.testing.assert_array_equal(grown.labelsets, whole.labelsets)
    np.testing.assert_array_equal(grown.counts, whole.counts)
    for score in scores:
        for k in {1, len(whole.counts)}:
            assert_same(grown.query(X_new, P, score, k), whole.query(X_new, P, score, k))


@every_way
@pytest.mark.parametrize(
    "stops",
    [
        pytest.param([60], id="once"),
        pytest.param([59], id="one row"),
        pytest.param([1], id="to one row"),
        pytest.param([10, 11, 40, 59], id="several times"),
    ],
)
def test_added_rows_are_as_good_as_the_first(way, stops, monkeypatch):
    monkeypatch.setattr("nldd.search._index.CELL_ROWS", 3)
    _, _, as_rows, as_queries = WAYS[way]
    rng = np.random.default_rng(stops[0])
    for n_features in (3, 70):
        X, Y, X_new, P, scale = random_problem(rng, way, 80, n_features, 9)
        grown = LabelsetIndex(as_rows(X[: stops[0]]), Y[: stops[0]], scale)
        for start, stop in zip(stops, [*stops[1:], 80], strict=True):
            grown = grown.with_rows(as_rows(X[start:stop]), Y[start:stop])
        whole = LabelsetIndex(as_rows(X), Y, scale)
        assert_equal_indexes(grown, whole, as_queries(X_new), P)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        pytest.param(np.asarray, csr_array, id="sparse to dense"),
        pytest.param(csr_array, np.asarray, id="dense to sparse"),
        pytest.param(np.asarray, lambda X: X.astype(np.float32), id="single to double"),
    ],
)
def test_added_rows_may_come_in_another_container(first, then):
    X, Y, X_new, P, scale = random_problem(np.random.default_rng(1), "bounds", 60, 5, 4)
    X = X.round(1).astype(np.float32).astype(float)
    grown = LabelsetIndex(first(X[:40]), Y[:40], scale)
    grown = grown.with_rows(then(X[40:]), Y[40:])
    assert_equal_indexes(grown, LabelsetIndex(first(X), Y, scale), first(X_new), P)


@pytest.mark.parametrize("value", [2.0, 0.5, -1.0])
def test_rows_that_are_not_ones_unpack_the_bits(value):
    rng = np.random.default_rng(2)
    X, Y, X_new, P, scale = random_problem(rng, "bits", 60, 70, 4)
    grown = LabelsetIndex(csr_array(X), Y, scale)
    assert len(grown.features.packed.bits) == 60
    more = csr_array(X[:20] * np.where(rng.random((20, 70)) < 0.1, value, 1.0))
    grown = grown.with_rows(more, Y[::-1][:20])
    assert grown.features.packed is None
    everything = csr_array(np.concatenate([X, more.toarray()]))
    whole = LabelsetIndex(everything, np.concatenate([Y, Y[::-1][:20]]), scale)
    assert_equal_indexes(grown, whole, csr_array(X_new), P)
    assert_equal_indexes(grown, whole, csr_array(value * X_new), P)
