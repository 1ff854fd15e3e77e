"""Measures of multi-label predictions, each a record: name, direction, function."""

from typing import TYPE_CHECKING

from nldd._package import export

if TYPE_CHECKING:
    from nldd.metrics._measures import *  # noqa: F403
    from nldd.metrics._probability_measures import *  # noqa: F403
else:
    __getattr__, __dir__, __all__ = export(
        __name__,
        {
            "nldd.metrics._measures": "MEASURES PAPER_MEASURES Measure evaluate f_measure "
            "hamming_loss macro_f macro_precision macro_recall micro_f micro_precision "
            "micro_recall multilabel_accuracy precision recall subset_accuracy zero_one_loss",
            "nldd.metrics._probability_measures": "PROBABILITY_MEASURES average_precision "
            "brier_score calibration_error coverage log_loss macro_auroc macro_average_precision "
            "micro_auroc one_error ranking_loss",
        },
    )
