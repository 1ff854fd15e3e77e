"""Measures of multi-label predictions, each a record: name, direction, function.

Overview
--------
``MEASURES`` maps a key to a :class:`Measure`. The four of the paper come first; tables, ranks,
scorers and the command line all read direction and name from the record, so they cannot disagree.
"""

from nldd.metrics._functions import (
    f_measure,
    hamming_loss,
    macro_f,
    macro_precision,
    macro_recall,
    micro_f,
    micro_precision,
    micro_recall,
    multilabel_accuracy,
    precision,
    recall,
    subset_accuracy,
    zero_one_loss,
)
from nldd.metrics._measure import MEASURES, PAPER_MEASURES, Measure, evaluate

__all__ = [
    "MEASURES",
    "PAPER_MEASURES",
    "Measure",
    "evaluate",
    "f_measure",
    "hamming_loss",
    "macro_f",
    "macro_precision",
    "macro_recall",
    "micro_f",
    "micro_precision",
    "micro_recall",
    "multilabel_accuracy",
    "precision",
    "recall",
    "subset_accuracy",
    "zero_one_loss",
]
