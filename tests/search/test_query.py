import numpy as np
import pytest

from nldd.search import IN_FEATURES, LabelsetIndex, Neighbors, Score, SearchStats


def search(n_queries):
    """A search that takes all 5 distances of every query: bounds come from a matrix product."""
    X = np.arange(5.0)[:, np.newaxis]
    index = LabelsetIndex(X, np.eye(5, dtype=int), np.ones(1))
    return index.query(np.zeros((n_queries, 1)), np.full((n_queries, 5), 0.5), IN_FEATURES)


def test_score_of_arrays_by_hand():
    Dx, Dy = np.array([2.0, 0.0]), np.array([3.0, 4.0])
    assert Score(0.5, 2.0).of(Dx, Dy).tolist() == [7, 8]
    assert Score(2.0, 0.5, product=True).of(Dx, Dy) == pytest.approx([4 * np.sqrt(3), 0])


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
