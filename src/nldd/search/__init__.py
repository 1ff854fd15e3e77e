"""Nearest labelset under a score of two distances.

Overview
--------
A query is a row of features ``x`` and its label probabilities ``p``. Every training row ``j``
has two distances to it: ``Dx`` in (scaled) feature space and ``Dy = |p - y_j|`` in label space.
The answer is the row with the smallest ``score(Dx, Dy)``, whatever the score, as long as it grows
with both distances::

    LabelsetIndex.query(X, P, score, k)

        score = Dx                     nearest row in feature space
        score = Dy                     nearest row in label space
        score = b1 * Dx + b2 * Dy      the prediction of NLDD

    block of queries
        |  Dx^2 to all rows by one matrix product   (fast, off by rounding)
        |  smallest Dx^2 of each labelset           (Dy is the same within a labelset)
        |  labelsets whose score can still win      (rounding errors are bounded, never ignored)
        v
    a handful of candidates --> distances by subtraction (exact) --> ties by rule --> answer

Files: ``_scale`` (which features are standardised), ``_distances`` (fast and exact distances),
``_ties`` (what "equal" means, and who wins), ``_index`` (the search itself),
``_neighbors`` (plain nearest neighbours, with the same care).
"""

from nldd.search._index import LabelsetIndex, Neighbors
from nldd.search._neighbors import NeighborIndex
from nldd.search._scale import feature_scale, scaled

__all__ = ["LabelsetIndex", "NeighborIndex", "Neighbors", "feature_scale", "scaled"]
