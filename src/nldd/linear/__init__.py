"""Logistic regressions of all labels at once.

All labels share X, so one pass over its rows serves many of them: what a pass costs is reading the
rows, not the arithmetic::

    MultiLabelLogisticRegression.fit
         --_features-> rows as they are weighed; dense ones turned to their principal axes
         --_logistic-> labels that are constant left out, the others in batches
         --_solver---> labels that wait for slopes or curvatures; Newton's steps, label by label
         --_passes---> one pass over the rows: products of matrices if they are dense,
                       else compiled, with one label in each lane of a vector register

Training data of another kind register their own ``solve_labels``: those in blocks on a cluster do
so in ``nldd.distributed``, where each block makes the same passes, and a round trip brings the sums
for all labels.
"""

from nldd.linear._logistic import MultiLabelLogisticRegression

__all__ = ["MultiLabelLogisticRegression"]
