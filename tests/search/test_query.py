import numpy as np
import pytest

from nldd.search import IN_FEATURES, LabelsetIndex, Neighbors, SearchStats


def search(n_queries):
    """A search that takes all 5 distances of every query: bounds come from a matrix product."""
    X = np.arange(5.0)[:, np.newaxis]
    index = LabelsetIndex(X, np.eye(5, dtype=int), np.ones(1))
    return index.query(np.zeros((n_queries, 1)), np.full((n_queries, 5), 0.5), IN_FEATURES)


def test_stats_count_queries_distances_and_pairs():
    stats = SearchStats.of(search(3), n_rows=5)
    assert stats == SearchStats(n_queries=3, n_evaluated=15, n_pairs=15, n_certified=3)
    assert (stats.share_evaluated, stats.share_certified) == (1, 1)
    assert SearchStats.of(search(2), n_rows=50).share_evaluated == pytest.approx(10 / 100)
    assert {type(count) for count in vars(stats).values()} == {int}


def test_stats_of_nothing():
    assert (SearchStats().share_evaluated, SearchStats().share_certified) == (0, 1)


def test_answers_can_be_compared_and_stacked():
    """As records: those with arrays are equal to themselves only."""
    found = search(2)
    assert found == found
    assert found != search(2)
    assert {found}
    both = Neighbors.stack([found, search(3)])
    assert both.row.tolist() == [[0]] * 5
    assert both.evaluated.tolist() == [5] * 5
