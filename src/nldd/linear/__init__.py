"""Logistic regressions of all labels at once.

All labels share X, so one pass over its rows serves many of them: what a pass costs is reading the
rows, not the arithmetic::

    MultiLabelLogisticRegression.fit
         --_logistic-> labels that are constant left out
         --_axes-----> dense rows turned to their principal axes
         --_solver---> labels that wait for slopes or curvatures; Newton's steps, label by label
         --_passes---> one pass over the rows for up to eight labels' slopes, sixteen's curvatures
         --_kernels--> the pass, compiled: one label in each lane of a vector register

Rows in blocks on a cluster are asked by ``_blocks`` instead: each block makes the same passes, and
a round trip brings the sums for all labels.
"""

from nldd.linear._logistic import MultiLabelLogisticRegression

__all__ = [
    "MultiLabelLogisticRegression",
]
