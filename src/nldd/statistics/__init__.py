"""Comparisons of methods over data sets: ranks, and which differences are more than chance."""

from nldd.statistics._critical_differences import (
    Friedman,
    cliques,
    friedman,
    holm,
    pairwise_holm,
)
from nldd.statistics._ranks import average_ranks, complete_rows, complete_values, ranks
from nldd.statistics._wilcoxon import (
    WILCOXON_RULE,
    one_sided_wilcoxon,
    signed_rank_p_value,
    significance,
    significance_line,
)

__all__ = [
    "WILCOXON_RULE",
    "Friedman",
    "average_ranks",
    "cliques",
    "complete_rows",
    "complete_values",
    "friedman",
    "holm",
    "one_sided_wilcoxon",
    "pairwise_holm",
    "ranks",
    "signed_rank_p_value",
    "significance",
    "significance_line",
]
