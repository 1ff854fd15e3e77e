"""A few numbers per row from which feature distances can be bounded from below."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import gen_batches

from nldd.search._distances import EPSILON, squared_norms

# Rows that the directions are learned from; more rows hardly change the leading directions.
SAMPLE = 1000
ITERATIONS = 3
# Fixed, so that the compiler can unroll loops over them: one or two vector registers.
COORDINATES = 16
BLOCK = 8192
LARGEST = 1e18


class Sketch:
    """Coordinates in the leading directions of the data, and the length of what is left over.

    The map is never longer than the data: with V the directions (orthonormal) and r what they
    leave of a row, ``|a - b|^2 = |V'a - V'b|^2 + |r_a - r_b|^2``, and the last term is at least
    ``(|r_a| - |r_b|)^2``. So the distance of two sketches bounds the distance of the rows from
    below, tightly where few directions hold most of the variance.

    Parameters
    ----------
    Z : {ndarray, CSR} of shape (n_rows, n_features), scaled

    Attributes
    ----------
    directions : ndarray of shape (n_features, n_directions)
    centre : ndarray of shape (n_features,)
        Taken off dense rows first, which changes no distance; zero for sparse ones.
    """

    def __init__(self, Z: Any) -> None:
        sample = Z[:: -(-Z.shape[0] // SAMPLE)]
        self.centre = np.zeros(Z.shape[1])
        if not issparse(Z):
            self.centre = sample.mean(axis=0)
            sample = sample - self.centre
        # Directions have no length: rows near 1 keep the products below from overflowing.
        sample = sample / max(np.sqrt(squared_norms(sample).max()), np.finfo(np.float64).tiny)
        rank = min(COORDINATES - 1, *sample.shape)
        # Subspace iteration. Any orthonormal directions would do; these hold most of the variance.
        directions = np.random.default_rng(0).normal(size=(Z.shape[1], rank))
        for _ in range(ITERATIONS):
            directions = np.linalg.qr(sample.T @ (sample @ directions))[0]
        self.directions = directions

    def __call__(self, Z: Any) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Sketches of the rows of `Z`, and how far each one's distances can be off.

        They are in single precision: reading them is most of the work of a search in many rows.
        """
        n_rows, n_features = Z.shape
        sketch = np.zeros((n_rows, COORDINATES), dtype=np.float32)
        length = np.empty(n_rows)
        for block in gen_batches(n_rows, BLOCK):
            part = Z[block] if issparse(Z) else Z[block] - self.centre
            norms = squared_norms(part)
            within = part @ self.directions
            # Cutting coordinates off at a limit shortens distances too, and keeps squares finite.
            sketch[block, : within.shape[1]] = within.clip(-LARGEST, LARGEST)
            rest = np.sqrt(np.maximum(norms - squared_norms(within), 0))
            sketch[block, -1] = np.minimum(rest, LARGEST)
            length[block] = np.sqrt(norms)
        # What is left over is a difference of squares: its root is off by the root of rounding.
        rounding = 4 * np.sqrt((n_features + 8) * EPSILON) + 32 * np.finfo(np.float32).eps
        return sketch, rounding * length
