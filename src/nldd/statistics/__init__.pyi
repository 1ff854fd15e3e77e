from ._agreement import (
    alpha_with_interval as alpha_with_interval,
    cohen_kappa as cohen_kappa,
    krippendorff_alpha as krippendorff_alpha,
    masi_distance as masi_distance,
    nominal_distance as nominal_distance,
)
from ._bayes import bayesian_signed_rank as bayesian_signed_rank
from ._comparison import (
    Comparison as Comparison,
    Nemenyi as Nemenyi,
    Pair as Pair,
    compare as compare,
    nemenyi as nemenyi,
    rank_biserial as rank_biserial,
)
from ._ranks import (
    average_ranks as average_ranks,
    complete_rows as complete_rows,
    complete_values as complete_values,
    ranks as ranks,
)
from ._significance import (
    WILCOXON_RULE as WILCOXON_RULE,
    Friedman as Friedman,
    about_least_p as about_least_p,
    cliques as cliques,
    friedman as friedman,
    holm as holm,
    least_p as least_p,
    one_sided_wilcoxon as one_sided_wilcoxon,
    pairwise_holm as pairwise_holm,
    signed_rank_p_value as signed_rank_p_value,
    significance as significance,
    significance_line as significance_line,
)
