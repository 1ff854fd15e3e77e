"""Tables of a comparison of methods: all pairs with effect sizes and tests, and what to say."""

from nldd._wording import count_noun
from nldd.reports._table import Table
from nldd.statistics import Comparison, Pair, about_least_p

HEAD = (
    *("pair", "mean gain", "wins/ties/losses", "rank-biserial r"),
    *("Wilcoxon p", "Holm p", "Nemenyi p", "better/same/worse"),
)
DATA_HEAD = (
    *("first", "second", "gain", "wins", "ties", "losses", "rank_biserial", "wilcoxon_p"),
    *("holm_p", "nemenyi_p", "probability_first_better", "probability_same"),
    "probability_second_better",
)


def pairs_table(comparison: Comparison, key: str, name: str) -> Table | None:
    """One row a pair of methods on a measure of this name; None where there is no pair."""
    if not comparison.pairs:
        return None
    return Table(
        key=key,
        title=f"{name}: all pairs of methods on {comparison.n_datasets} data sets",
        head=HEAD,
        rows=tuple(map(_row, comparison.pairs)),
        notes=tuple(comparison_notes(comparison)),
        data_head=DATA_HEAD,
        data=tuple(map(_data, comparison.pairs)),
        folded=True,
    )


def comparison_notes(comparison: Comparison) -> list[str]:
    """What the columns mean, Friedman's test, and what so few data sets cannot show."""
    test, alpha = comparison.friedman, f"{comparison.alpha:g}"
    if test is None:
        return ["Methods are compared from two of them and two complete data sets on."]
    pairs = count_noun(len(comparison.pairs), "pair")
    notes = [
        f"Friedman's test: chi-square {test.statistic:.2f}, p = {p_text(test.p_value)}; F of Iman "
        f"and Davenport {test.f_statistic:.2f}, p = {p_text(test.f_p_value)}. Kendall's W, its "
        f"effect size, is {test.kendall_w:.2f}. Nemenyi's critical difference at {alpha} is "
        f"{comparison.critical_difference:.2f} ranks.",
        "Above zero speaks for the first of a pair: its mean gain in the units of the measure, "
        "and the matched-pairs rank-biserial correlation. Wilcoxon's p is two-sided; Holm's "
        f"corrects it for {pairs}, Nemenyi's is that of the ranks.",
        "In the last column are the probabilities in percent, by the Bayesian signed-rank test, "
        "that the first is practically better, the same or worse: the same is a difference of at "
        f"most {comparison.rope:g}.",
    ]
    n, n_pairs = comparison.n_datasets, len(comparison.pairs)
    few = about_least_p(n, comparison.alpha, 2) or about_least_p(n, comparison.alpha, 2, n_pairs)
    return [*notes, few] if few else notes


def p_text(p: float) -> str:
    """A p-value with two digits that count, or that it is below all that one would print.

    >>> p_text(0.04567), p_text(0.00391), p_text(1.0), p_text(3e-9)
    ('0.046', '0.0039', '1', '<0.001')
    """
    return "<0.001" if p < 0.001 else f"{p:.2g}"


def _row(pair: Pair) -> tuple[str, ...]:
    return (
        *(f"{pair.first} - {pair.second}", f"{pair.gain:+.4f}"),
        *(f"{pair.wins}/{pair.ties}/{pair.losses}", f"{pair.rank_biserial:+.2f}"),
        *map(p_text, (pair.p_value, pair.holm_p_value, pair.nemenyi_p_value)),
        "/".join(
            f"{share:.0%}".removesuffix("%") for share in (pair.better, pair.equal, pair.worse)
        ),
    )


def _data(pair: Pair) -> tuple[str | float | int, ...]:
    return (
        *(pair.first, pair.second, pair.gain, pair.wins, pair.ties, pair.losses),
        *(pair.rank_biserial, pair.p_value, pair.holm_p_value, pair.nemenyi_p_value),
        *(pair.better, pair.equal, pair.worse),
    )
