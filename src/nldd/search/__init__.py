"""Nearest labelset under a score of two distances.

Overview
--------
A query is a row of features ``x`` and its label probabilities ``p``. Every training row ``j``
has two distances to it: ``Dx`` in (scaled) feature space and ``Dy = |p - y_j|`` in label space.
The answer is the row with the smallest score, which never falls when one of them grows::

    LabelsetIndex.query(X, P, score, k)

        IN_FEATURES                    Dx: nearest row in feature space
        IN_LABELS                      Dy: nearest row in label space
        Score(b1, b2)                  b1 * Dx + b2 * Dy: the prediction of NLDD
        Score(b1, b2, product=True)    Dx^b1 * Dy^b2: the multiplicative model

    index: rows --> labelsets --> cells of rows that lie close together --> boxes of sketches
    query: Dy of every labelset                    (the same for all its rows)
             |  nearest member of the labelset with the smallest Dy: a score to beat
             |  labelsets in order of the lowest score they can have, until none can win
             v
           distances by subtraction (exact) --> ties by rule --> answer

Files: ``_scale`` (which features are standardised), ``_score`` (what is minimised), ``_labelsets``
and ``_cells`` (how rows are grouped), ``_sketch``, ``_lower_bounds`` and ``_bits`` (three ways to
know cheaply that a row is too far), ``_arrays``, ``_compile``, ``_heap``, ``_scan`` and ``_kernel``
(the compiled search), ``_index`` (the class), ``_faiss`` (candidates from elsewhere), ``_stats``
(how much work it was), ``_distances`` and ``_ties`` (exact distances, and what "equal" means),
``_neighbors`` (plain nearest neighbours, with the same care).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
