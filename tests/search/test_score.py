"""The score as the compiled search takes it, and its inverse."""

import numpy as np
import pytest

from nldd.search import IN_FEATURES, IN_LABELS, Score
from nldd.search._kernel import _farthest, _label_distance, _label_distances, _score

WEIGHTS = [(1.0, 0.0), (0.0, 1.0), (0.0, 0.0), (0.3, 1.1), (1e-6, 1.0), (1.0, 1e-6), (7.0, 0.02)]
SCORES = [Score(x, y, product) for x, y in WEIGHTS for product in (False, True)]


def test_score_by_hand():
    assert _score(Score(2.0, 3.0, False), 5.0, 7.0) == 2 * 5 + 3 * 7
    assert _score(Score(2.0, 3.0, True), 5.0, 7.0) == pytest.approx(5**2 * 7**3, rel=1e-15)
    assert _score(IN_FEATURES, 5.0, 7.0) == 5
    assert _score(IN_LABELS, 5.0, 7.0) == 7
    # Anything to the power of 0 is 1, 0 as well: a distance of no weight has no say.
    assert _score(Score(0.0, 0.5, True), 0.0, 4.0) == 2


@pytest.mark.parametrize("score", SCORES, ids=str)
def test_score_never_falls_when_a_distance_grows(score):
    distances = [0.0, 1e-9, 0.3, 1.0, 1 + 1e-9, 2.5, 1e6]
    table = np.array([[_score(score, dx, dy) for dy in distances] for dx in distances])
    assert (np.diff(table, axis=0) >= 0).all()
    assert (np.diff(table, axis=1) >= 0).all()


@pytest.mark.parametrize("score", SCORES, ids=str)
def test_farthest_is_where_the_score_reaches_the_cut(score):
    rng = np.random.default_rng(0)
    for dx, dy in rng.uniform(0.1, 10, size=(100, 2)):
        cut = _score(score, dx, dy)
        found = _farthest(score, cut, dy)
        if score.x == 0:
            assert found == np.inf
        elif score.product:
            assert found == pytest.approx(dx, rel=1e-14 / min(1, score.x))
        else:
            assert found == pytest.approx(dx, rel=1e-14, abs=1e-15 * cut / score.x)


def test_farthest_at_the_ends():
    plain, product = Score(2.0, 3.0, False), Score(2.0, 3.0, True)
    # Nothing found yet: no limit. A label distance above the cut: no row, unless it is a duplicate.
    assert _farthest(plain, np.inf, 1.0) == _farthest(product, np.inf, 1.0) == np.inf
    assert _farthest(plain, 2.9, 1.0) == 0
    # The score is 0 whatever Dx is.
    assert _farthest(product, 0.0, 0.0) == np.inf
    assert _farthest(product, 0.0, 1.0) == 0


@pytest.mark.parametrize("n_labels", [1, 5, 80])
def test_label_distances_are_those_of_numpy(n_labels):
    rng = np.random.default_rng(n_labels)
    for _ in range(30):
        Y = np.unique(rng.integers(0, 2, size=(9, n_labels)), axis=0)
        P = rng.integers(0, 5, size=(4, n_labels)) / 4
        owner, labels = np.nonzero(Y)
        starts = np.searchsorted(owner, np.arange(len(Y) + 1))
        squares = np.empty(len(Y))
        for i in range(len(P)):
            expected = ((P[i] - Y) ** 2).sum(axis=1)
            smallest = _label_distances(P, i, starts, labels, np.empty(n_labels), squares)
            np.testing.assert_array_equal(squares, expected)  # quarters: no rounding
            assert smallest == expected.argmin()
            one_by_one = [_label_distance(P, i, starts, labels, u) for u in range(len(Y))]
            np.testing.assert_allclose(one_by_one, np.sqrt(expected), rtol=1e-15)
