"""The oracle of the search is itself right: it agrees with plain loops."""

import numpy as np
import pytest

import reference
from brute_force import BruteForceIndex, linear


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_brute_force_equals_loops(offset):
    rng = np.random.default_rng(0)
    for _ in range(10):
        X = rng.integers(0, 4, size=(45, 3)) + offset
        Y = rng.integers(0, 2, size=(40, 4)) * rng.integers(0, 2, size=(40, 1))
        P, scale = rng.uniform(size=(5, 4)).round(1), rng.uniform(0.5, 2, size=3)
        score = linear(*rng.choice([0.0, 0.3, 1.1], size=2))
        k = min(3, len(np.unique(Y, axis=0)))
        found = BruteForceIndex(X[:40], Y, scale).query(X[40:], P, score, k)
        for i in range(5):
            distances = reference.all_distances(X[40 + i], P[i], X[:40], Y, scale)
            rows = reference.k_nearest_labelsets(distances, Y, score, k)
            assert found.row[i].tolist() == rows
            expected = np.array([distances[row] for row in rows])
            np.testing.assert_allclose(found.Dx[i], expected[:, 0], rtol=1e-9)
            np.testing.assert_allclose(found.Dy[i], expected[:, 1], rtol=1e-12, atol=1e-14)
