"""Nearest labelset under a score of two distances.

A query is a row of features ``x`` and its label probabilities ``p``. Every training row ``j``
has two distances to it: ``Dx`` in (scaled) feature space and ``Dy = |p - y_j|`` in label space.
The answer is the row with the smallest score, which never falls when one of them grows::

    LabelsetIndex.query(X, P, score, k)

        IN_FEATURES                    Dx: nearest row in feature space
        IN_LABELS                      Dy: nearest row in label space
        Score(b1, b2)                  b1 * Dx + b2 * Dy: the prediction of NLDD
        Score(b1, b2, product=True)    Dx^b1 * Dy^b2: the multiplicative model

    X, Y --_distances--> scaled rows; sketches of them, or bounds of all distances if they are few
         --_index------> trie of labelsets, cells of rows that lie close, boxes around them

    query --_index----> blocks, only as many at a time as there are workers
          --_kernels--> labelsets in order of the lowest score they can have, until none can win;
                        the nearest member of each: cells, then rows, whose bounds are not too far
          --_index----> Neighbors, and how much work it was: SearchStats

Beside this line: ``_products`` has the distances to the nearest row of every labelset, which a
posterior over labelsets needs; ``nldd.distributed`` has an index for each block of rows on a
cluster, and the best over all.
"""
