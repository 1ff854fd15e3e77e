import numpy as np
import pytest

from nldd.search import IN_FEATURES, LabelsetIndex, SearchStats


def search(n_queries):
    """A search that takes all 5 distances of every query: bounds come from a matrix product."""
    X = np.arange(5.0)[:, np.newaxis]
    index = LabelsetIndex(X, np.eye(5, dtype=int), np.ones(1))
    return index.query(np.zeros((n_queries, 1)), np.full((n_queries, 5), 0.5), IN_FEATURES)


def test_stats_start_at_nothing():
    stats = SearchStats()
    assert (stats.n_queries, stats.n_evaluated, stats.n_pairs) == (0, 0, 0)
    assert stats.share_evaluated == 0


def test_stats_count_queries_distances_and_pairs():
    stats = SearchStats()
    stats.count(search(3), n_rows=5)
    assert (stats.n_queries, stats.n_evaluated, stats.n_pairs) == (3, 15, 15)
    assert stats.share_evaluated == 1
    # 15 + 2 * 5 of 15 + 2 * 50: the index may have grown in between.
    stats.count(search(2), n_rows=50)
    assert (stats.n_queries, stats.n_evaluated, stats.n_pairs) == (5, 25, 115)
    assert stats.share_evaluated == pytest.approx(25 / 115)


def test_stats_are_plain_numbers():
    stats = SearchStats()
    stats.count(search(2), n_rows=5)
    assert type(stats.n_evaluated) is type(stats.n_queries) is type(stats.n_pairs) is int
