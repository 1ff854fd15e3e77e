from ._core import (
    Counts as Counts,
    label_counts as label_counts,
    row_counts as row_counts,
    row_values as row_values,
    weighted_values as weighted_values,
)
from ._functions import (
    f_measure as f_measure,
    hamming_loss as hamming_loss,
    macro_f as macro_f,
    macro_precision as macro_precision,
    macro_recall as macro_recall,
    micro_f as micro_f,
    micro_precision as micro_precision,
    micro_recall as micro_recall,
    multilabel_accuracy as multilabel_accuracy,
    precision as precision,
    recall as recall,
    subset_accuracy as subset_accuracy,
    zero_one_loss as zero_one_loss,
)
from ._measure import (
    MEASURES as MEASURES,
    PAPER_MEASURES as PAPER_MEASURES,
    Measure as Measure,
    evaluate as evaluate,
)
