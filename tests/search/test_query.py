import numpy as np
import pytest

from nldd.exceptions import InputError
from nldd.search._index import IN_FEATURES, IN_LABELS, LabelsetIndex, SearchStats


def search(n_queries):
    """A search that takes all 5 distances of every query: bounds come from a matrix product."""
    X = np.arange(5.0)[:, np.newaxis]
    index = LabelsetIndex(X, np.eye(5, dtype=int), np.ones(1))
    return index.query(np.zeros((n_queries, 1)), np.full((n_queries, 5), 0.5), IN_FEATURES)


def test_stats_count_queries_distances_and_pairs():
    stats = SearchStats.of(search(3), n_rows=5)
    assert stats == SearchStats(n_queries=3, n_evaluated=15, n_pairs=15)
    assert stats.share_evaluated == 1
    assert SearchStats.of(search(2), n_rows=50).share_evaluated == pytest.approx(10 / 100)
    assert {type(count) for count in vars(stats).values()} == {int}


ONES = np.ones((2, 1)), np.ones((2, 5))


@pytest.mark.parametrize(
    ("X", "P"),
    [
        pytest.param(np.ones((3, 1)), ONES[1], id="more rows"),
        pytest.param(np.ones((2, 2)), ONES[1], id="feature too many"),
        pytest.param(ONES[0], np.ones(2), id="one number a row"),
    ],
)
def test_queries_of_another_size_are_refused(X, P):
    index = LabelsetIndex(np.ones((5, 1)), np.eye(5, dtype=int), np.ones(1))
    with pytest.raises(InputError, match="The index needs 1 features in X and 5 labels in P"):
        index.query(X, P, IN_FEATURES)


def test_probabilities_off_by_rounding_are_clipped():
    index = LabelsetIndex(np.ones((2, 1)), np.eye(2, dtype=int), np.ones(1))
    near = index.query(np.ones((1, 1)), np.array([[1 + 1e-7, -1e-7]]), IN_LABELS)
    assert (near.row.item(), near.Dy.item()) == (0, 0)
