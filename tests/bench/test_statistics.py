"""Ranks and tests: by hand, by brute force, against other libraries, and on the paper."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import friedmanchisquare, norm, rankdata, wilcoxon
from statsmodels.stats.multitest import multipletests

from nldd.bench import compare
from nldd.bench.ranks import average_ranks, cliques, complete_rows, friedman, nemenyi, ranks
from nldd.bench.report.published import PUBLISHED_MEASURES, printed_table, published, read_lines
from nldd.bench.statistics import (
    holm,
    least_p,
    one_sided_wilcoxon,
    pairwise_holm,
    rank_biserial,
    signed_rank_p_value,
    significance,
    significance_line,
)
from nldd.exceptions import InputError
from nldd.metrics import MEASURES

NAN = np.nan
# Demsar (2006), table 5a, for 2 to 10 methods.
PUBLISHED_Q = {
    0.05: (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164),
    0.10: (1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920),
}
# (measure, data set, method): printed rank, rank of the printed value. Two pairs of equal values
# got distinct ranks; RAKEL on tmc2007 was ranked first with the third value; ECC and RAKEL were
# swapped on bibtex twice.
RANK_SLIPS = {
    ("hamming_loss", "medical", "NLDD"): (4, 4.5),
    ("hamming_loss", "medical", "RAKEL"): (5, 4.5),
    ("hamming_loss", "bibtex", "ECC"): (5, 4),
    ("hamming_loss", "bibtex", "RAKEL"): (4, 5),
    ("zero_one_loss", "medical", "BR"): (6, 5.5),
    ("zero_one_loss", "medical", "RAKEL"): (5, 5.5),
    ("multilabel_accuracy", "tmc2007", "BR"): (3, 2),
    ("multilabel_accuracy", "tmc2007", "SMBR"): (2, 1),
    ("multilabel_accuracy", "tmc2007", "RAKEL"): (1, 3),
    ("multilabel_accuracy", "bibtex", "ECC"): (4, 5),
    ("multilabel_accuracy", "bibtex", "RAKEL"): (5, 4),
}
# The one average of the printed ranks that was not rounded to the printed one.
AVERAGE_SLIP = ("multilabel_accuracy", "NLDD")


@pytest.mark.parametrize(
    ("row", "greater_is_better", "expected"),
    [
        ([0.3, 0.1, 0.2], False, [3, 1, 2]),
        ([0.3, 0.1, 0.2], True, [1, 3, 2]),
        ([0.5, 0.2, 0.5, 0.9], False, [2.5, 1, 2.5, 4]),  # places 2 and 3 are shared
        ([1, 1, 1], True, [2, 2, 2]),
        ([0.1 + 0.2, 0.3, 0.4], True, [2.5, 2.5, 1]),  # 0.1 + 0.2 is 0.30000000000000004
        ([0.3 + 1e-9, 0.3, 0.4], True, [2, 3, 1]),
        ([NAN, 0.2, 0.1], False, [NAN, 2, 1]),
        ([NAN, NAN, NAN], False, [NAN, NAN, NAN]),
        ([0.7], True, [1]),
    ],
    ids=["loss", "score", "tie", "all-tied", "rounding", "real", "missing", "empty", "one"],
)
def test_ranks_by_hand(row, greater_is_better, expected):
    assert_array_equal(ranks([row], greater_is_better), [expected])


def rank_by_counting(row, value):
    """1 for the best, plus 1 for each smaller value, plus half of each other equal one."""
    known = row[~np.isnan(row)]
    return 1 + np.sum(known < value) + (np.sum(known == value) - 1) / 2


def test_ranks_equal_counting():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 6, size=(300, 7)) / 10
    values[rng.random(values.shape) < 0.1] = NAN
    expected = [
        [NAN if np.isnan(value) else rank_by_counting(row, value) for value in row]
        for row in values
    ]
    assert_array_equal(ranks(values, greater_is_better=False), expected)
    assert_array_equal(ranks(-values, greater_is_better=True), expected)


def test_average_ranks_leave_incomplete_data_sets_out():
    values = [[0.9, 0.8, 0.7], [0.5, 0.6, 0.4], [NAN, 0.1, 0.2], [0.3, 0.3, 0.1]]
    # Ranks of the complete rows: 1 2 3, 2 1 3, 1.5 1.5 3.
    assert_array_equal(complete_rows(values), [True, True, False, True])
    assert_array_equal(average_ranks(values, True), [1.5, 1.5, 3])
    assert_array_equal(average_ranks([[0.9, NAN], [NAN, 0.1]], True), [NAN, NAN])
    assert_array_equal(average_ranks(np.empty((0, 3)), True), [NAN, NAN, NAN])


def test_printed_ranks_are_those_of_the_values_but_for_known_slips():
    found, unlike = {}, []
    for measure in PUBLISHED_MEASURES:
        values, printed = published(measure), printed_table(f"{measure}_ranks")
        assert (printed.datasets, printed.methods) == (values.datasets, values.methods)
        ours = ranks(values.array(), MEASURES[measure].greater_is_better)
        for i, j in np.argwhere(printed.array() != ours):
            cell = (measure, printed.datasets[i], printed.methods[j])
            found[cell] = (printed.array()[i, j], ours[i, j])
        averages = printed_table("average_ranks")
        for method, average in zip(printed.methods, printed.array().mean(axis=0), strict=True):
            if averages.value(measure, method) != round(average, 1):
                unlike.append((measure, method))
    assert found == RANK_SLIPS
    assert unlike == [AVERAGE_SLIP]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.1, 0.2], r"shape \(2,\)"),
        (np.empty((3, 0)), r"shape \(3, 0\)"),
        ([[0.1, np.inf]], "row 0, column 1 holds inf"),
        ([["good", "bad"]], "must be numbers"),
    ],
    ids=["flat", "no-method", "infinite", "text"],
)
@pytest.mark.parametrize("function", [ranks, average_ranks, friedman])
def test_ranks_of_unusable_values_are_refused(function, values, message):
    with pytest.raises(InputError, match=message):
        function(values, True)


# Friedman


@pytest.mark.parametrize("n_levels", [3, 5, 1000], ids=["many-ties", "ties", "hardly-ties"])
def test_friedman_equals_scipy(n_levels):
    rng = np.random.default_rng(n_levels)
    for n, k in product([6, 9, 30], [3, 7]):
        values = rng.integers(0, n_levels, size=(n, k)) + np.linspace(0, 1, k).round()
        expected = friedmanchisquare(*values.T)
        for greater_is_better in (True, False):
            result = friedman(values, greater_is_better)
            assert_allclose(result.statistic, expected.statistic, rtol=1e-9)
            assert_allclose(result.p_value, expected.pvalue, rtol=1e-9)


def brute_force_friedman(R):
    """Share of all arrangements of ranks within rows whose sums are at least as far apart."""
    squares = [
        np.square(np.sum(rows, axis=0)).sum() for rows in product(*map(list, map(permutations, R)))
    ]
    return np.mean(np.array(squares) >= np.square(R.sum(axis=0)).sum() - 1e-9)


@pytest.mark.parametrize(("n", "k"), [(1, 3), (2, 4), (3, 4), (5, 3), (5, 2)])
def test_friedman_is_exact_below_six_data_sets(n, k):
    rng = np.random.default_rng(10 * n + k)
    for n_levels in (3, 100):
        values = rng.integers(0, n_levels, (n, k))
        result = friedman(values, True)
        assert_allclose(result.p_value, brute_force_friedman(ranks(values, True)), rtol=1e-12)
        assert "exact p = " in str(result)


def test_friedman_by_hand():
    # Ranks 1 2 3, 1 2 3, 2 1 3, 1 2 3: sums 5 7 12 around 8, squares 9 + 1 + 16 = 26.
    # chi2 = 12 / (4 * 3 * 4) * 26 = 6.5; F = 3 * 6.5 / (4 * 2 - 6.5) = 13. The exact p of four
    # blocks of three is 0.042 in the tables of textbooks, and that of all agreeing 0.0046.
    values = [[1, 2, 3], [1, 2, 3], [2, 1, 3], [1, 2, 3]]
    result = friedman(values, greater_is_better=False)
    assert_allclose([result.statistic, result.f_statistic], [6.5, 13], rtol=1e-14)
    assert_allclose(result.p_value, 9 / 216, rtol=1e-12)
    assert np.isnan(result.f_p_value)
    assert_allclose(result.kendall_w, 6.5 / 8, rtol=1e-14)
    assert_allclose(friedman([[1, 2, 3]] * 4, True).p_value, 1 / 216, rtol=1e-12)
    # With eight data sets F with 2 and 14 degrees of freedom has the tail (1 + 2x / 14)**-7.
    result = friedman(values * 2, greater_is_better=False)
    assert_allclose(result.f_p_value, (1 + result.f_statistic / 7) ** -7, rtol=1e-12)
    assert str(result) == "chi-square 13.0 over 8 data sets, p = 0.0015"


@pytest.mark.parametrize(
    ("values", "statistic", "f_statistic", "p_value", "w"),
    [
        ([[1, 1], [2, 2]], 0, 0, 1, 0),  # all tied
        ([[1, 2, 3], [4, 5, 6]], 4, np.inf, 1 / 6, 1),  # all agree: chi2 = n (k - 1)
        ([[1, 2, 3]], 2, NAN, 1, 1),
        (np.empty((0, 3)), 0, NAN, 1, NAN),
    ],
    ids=["tied", "agree", "one-data-set", "none"],
)
def test_friedman_at_its_limits(values, statistic, f_statistic, p_value, w):
    result = friedman(values, greater_is_better=True)
    found = result.statistic, result.f_statistic, result.p_value, result.kendall_w
    assert_allclose(found, [statistic, f_statistic, p_value, w], rtol=1e-12)


def test_friedman_of_many_methods_on_few_data_sets_has_no_p_value():
    values = np.random.default_rng(0).random((5, 10))
    result = friedman(values, True)
    assert np.isnan(result.p_value) and np.isnan(result.f_p_value)
    assert "no p-value" in str(result) and "10 methods" in str(result)
    assert not np.isnan(friedman(values[:, :6], True).p_value)


def test_friedman_on_the_published_values():
    """The methods differ on three of the measures; on Hamming loss they cannot be told apart."""
    p_values = {
        key: friedman(published(key).array(), MEASURES[key].greater_is_better).f_p_value
        for key in PUBLISHED_MEASURES
    }
    assert_allclose(p_values.pop("hamming_loss"), 0.115, atol=0.001)
    assert max(p_values.values()) < 1e-5


# Nemenyi


@pytest.mark.parametrize("alpha", PUBLISHED_Q)
def test_critical_differences_are_those_of_the_published_table(alpha):
    for k, q in enumerate(PUBLISHED_Q[alpha], start=2):
        values = np.random.default_rng(k).random((14, k))
        found = nemenyi(values, True, alpha).critical_difference
        assert_allclose(found / np.sqrt(k * (k + 1) / (6 * 14)), q, atol=0.0011)


def test_nemenyi_p_values_are_below_alpha_beyond_the_critical_difference():
    values = np.random.default_rng(0).random((12, 6)) + np.linspace(0, 0.8, 6)
    for greater_is_better in (True, False):
        found = nemenyi(values, greater_is_better, 0.1)
        averages = average_ranks(values, greater_is_better)
        apart = np.abs(averages[:, None] - averages)
        assert_array_equal(found.p_values < 0.1, apart > found.critical_difference)
        assert_array_equal(found.p_values, found.p_values.T)
        assert np.isnan(np.diag(found.p_values)).all()
    assert (found.p_values < 0.1).sum() > 4


def test_nemenyi_by_hand():
    # Two methods on 9 data sets, 8 wins: ranks 10/9 and 17/9, z = (7/9) / sqrt(2 * 3 / 54) = 7/3;
    # for two groups it is the two-sided normal test.
    values = np.column_stack([np.zeros(9), [1.0] * 8 + [-1.0]])
    found = nemenyi(np.vstack([values, [NAN, 1]]), greater_is_better=False)
    assert_allclose(found.p_values[0, 1], 0.0196306576572, rtol=1e-5)
    assert_allclose(found.critical_difference, 1.959963985 / 3, rtol=1e-5)
    none = nemenyi([[NAN, 1.0]], True)
    assert np.isnan(none.critical_difference) and np.isnan(none.p_values).all()
    assert_allclose(nemenyi([[1.0, 1.0]] * 5, True).p_values[0, 1], 1)


# Cliques


def matrix(n, different):
    P = np.full((n, n), 0.5)
    for i, j in different:
        P[i, j] = P[j, i] = 0.01
    np.fill_diagonal(P, NAN)
    return P


@pytest.mark.parametrize(
    ("average_ranks", "different", "expected"),
    [
        ([1, 2, 3], [], [(0, 1, 2)]),
        ([1, 2, 3], [(0, 1), (0, 2), (1, 2)], []),
        ([1, 2, 3], [(0, 2)], [(0, 1), (1, 2)]),
        # 0 and 2 do not differ, but 1 lies between them and differs from both: no run.
        ([1, 2, 3], [(0, 1), (1, 2)], []),
        ([3, 1, 2], [(1, 0)], [(1, 2), (2, 0)]),
        # A pair inside differs, though the ends of the run do not.
        ([1, 2, 3, 4], [(1, 2)], [(0, 1), (2, 3)]),
        ([2, 2, 1], [(2, 1)], [(2, 0), (0, 1)]),
        ([1], [], []),
        ([], [], []),
    ],
)
def test_cliques_by_hand(average_ranks, different, expected):
    assert cliques(average_ranks, matrix(len(average_ranks), different)) == expected


def test_cliques_equal_all_maximal_runs():
    rng = np.random.default_rng(0)
    for _ in range(100):
        n = int(rng.integers(2, 8))
        average = rng.permutation(n)
        order = np.argsort(average).tolist()
        P = np.triu(rng.random((n, n)), 1) * 0.2
        P += P.T
        runs = {
            tuple(order[start:end])
            for start in range(n)
            for end in range(start + 2, n + 1)
            if all(P[i, j] >= 0.05 for i in order[start:end] for j in order[start:end] if i != j)
        }
        maximal = {run for run in runs if not any(set(run) < set(other) for other in runs)}
        found = cliques(average, P, alpha=0.05)
        assert set(found) == maximal
        assert found == sorted(found, key=lambda run: average[run[0]])


def test_cliques_of_nemenyi_on_the_published_values():
    table = published("f_measure")
    found = nemenyi(table.array(), greater_is_better=True)
    groups = cliques(average_ranks(table.array(), True), found.p_values)
    assert [[table.methods[i] for i in group] for group in groups] == [
        ["ECC", "NLDD", "CBM", "SMBR", "RAKEL"],
        ["NLDD", "CBM", "SMBR", "RAKEL", "BR"],
        ["SMBR", "RAKEL", "BR", "MLKNN"],
    ]


def paper(measure):
    table = published(measure)
    return table.array(), table.methods, MEASURES[measure].greater_is_better


def brute_force_p_value(differences):
    """Share of all patterns of signs whose sum of positive ranks is at least the observed one."""
    differences = np.array([d for d in differences if d != 0])
    ranks = rankdata(np.abs(differences))
    observed = ranks[differences > 0].sum()
    sums = [
        ranks[np.array(signs, dtype=bool)].sum() for signs in product([0, 1], repeat=len(ranks))
    ]
    return np.mean(np.array(sums) >= observed)


# The paper


@pytest.mark.parametrize("measure", PUBLISHED_MEASURES)
def test_significance_of_the_published_values_is_the_published_one(measure):
    printed = {
        better: worse.split() for key, better, worse in read_lines("significance") if key == measure
    }
    assert significance(*paper(measure)) == printed


# p-values


@pytest.mark.parametrize(
    ("differences", "p_value"),
    [
        ([], 1),
        ([0, 0], 1),
        ([3], 1 / 2),
        ([-3], 1),
        ([0, 3], 1 / 2),
        # Ranks 1 2 3. Sum 5 or more: {2,3}, {1,2,3}.
        ([-1, 2, 3], 2 / 8),
        # Ranks 1 2 3. Sum 3 or more: {3}, {1,2}, {1,3}, {2,3}, {1,2,3}.
        ([1, 2, -3], 5 / 8),
        # Ranks 1.5 1.5 3. Sum 4.5 or more: {1.5,3} twice, {1.5,1.5,3}.
        ([-1, 1, 2], 3 / 8),
        # Ranks 2 2 2. Sum 4 or more: three pairs and all.
        ([1, 1, -1], 4 / 8),
        # Ranks 1.5 1.5 3.5 3.5. Sum 8.5 or more: {1.5,3.5,3.5} twice, all.
        ([1, -1, 5, 5], 3 / 16),
        # 0.3 - 0.1 and 0.2 differ in the last digit of a float: equal after rounding.
        ([0.3 - 0.1, -0.2], 3 / 4),
        ([0.1 + 0.2 - 0.3, 1], 1 / 2),
    ],
    ids=str,
)
def test_p_values_by_hand(differences, p_value):
    assert signed_rank_p_value(differences) == p_value


@pytest.mark.parametrize("n", [1, 2, 9, 30])
def test_p_values_without_ties_equal_scipy(n):
    rng = np.random.default_rng(n)
    for _ in range(15):
        differences = rng.normal(0.3, 1, size=n)
        expected = wilcoxon(differences, alternative="greater", method="exact").pvalue
        assert_allclose(signed_rank_p_value(differences), expected, rtol=1e-12)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(-4, 4), max_size=9))
def test_p_values_of_either_side_count_the_observed_pattern_twice(differences):
    """P(W >= w) + P(W <= w) = 1 + P(W = w), and both are brute force."""
    above = signed_rank_p_value(differences)
    below = signed_rank_p_value([-d for d in differences])
    nonzero = [d for d in differences if d]
    assert above == brute_force_p_value(nonzero)
    assert above + below >= 1 + 0.5 ** len(nonzero)
    assert 0.5 ** len(nonzero) <= min(above, below)


def test_p_values_are_exact_up_to_fifty_differences():
    assert signed_rank_p_value(np.arange(1, 51)) == 0.5**50
    # Patterns that lose at most rank 2: none, {1}, {2}.
    assert signed_rank_p_value([1, -2, *range(3, 51)]) == 3 * 0.5**50
    # 50 equal differences: a sign test; half of the mass below 25, and the middle counts as well.
    signs = np.where(np.arange(50) < 25, 1, -1)
    assert_allclose(signed_rank_p_value(signs), 0.5 + 0.5 * 0.112275172659217, rtol=1e-12)


def test_p_values_beyond_fifty_differences_are_normal_with_tie_correction():
    # 60 equal differences have rank 30.5 each: W / 30.5 is binomial with mean 30, variance 15.
    differences = np.where(np.arange(60) < 40, 1, -1)
    assert_allclose(signed_rank_p_value(differences), norm.sf(10 / np.sqrt(15)), rtol=1e-12)
    # 51 distinct ones, all above: mean n(n+1)/4, variance n(n+1)(2n+1)/24 as in textbooks.
    z = (51 * 52 / 4) / np.sqrt(51 * 52 * 103 / 24)
    assert_allclose(signed_rank_p_value(np.arange(1, 52)), norm.sf(z), rtol=1e-12)


# All pairs


def test_one_sided_wilcoxon_is_one_test_a_pair():
    values = np.random.default_rng(0).random((9, 5))
    P = one_sided_wilcoxon(values, greater_is_better=True)
    assert_array_equal(np.isnan(P), np.eye(5, dtype=bool))
    for i, j in np.argwhere(~np.isnan(P)):
        expected = wilcoxon(values[:, i], values[:, j], alternative="greater", method="exact")
        assert_allclose(P[i, j], expected.pvalue, rtol=1e-12)
    assert_array_equal(one_sided_wilcoxon(values, greater_is_better=False), P.T)
    assert_array_equal(one_sided_wilcoxon(-values, greater_is_better=False), P)


def test_incomplete_data_sets_are_left_out_of_every_comparison():
    values = np.random.default_rng(0).random((12, 4))
    holed = values.copy()
    holed[2, 0] = holed[7, 3] = NAN
    kept = np.delete(values, [2, 7], axis=0)
    assert_array_equal(one_sided_wilcoxon(holed, True), one_sided_wilcoxon(kept, True))
    assert_array_equal(pairwise_holm(holed), pairwise_holm(kept))
    assert compare(holed, "abcd", True) == compare(kept, "abcd", True)
    assert compare(holed, "abcd", True).n_datasets == 10


@pytest.mark.parametrize("values", [np.empty((0, 2)), [[NAN, 1]], [[0.5, 0.5]]], ids=str)
def test_without_a_difference_nothing_is_significant(values):
    assert_array_equal(one_sided_wilcoxon(values, True), [[NAN, 1], [1, NAN]])
    assert_array_equal(pairwise_holm(values), [[NAN, 1], [1, NAN]])
    assert significance(values, ["A", "B"], True) == {}
    assert "no method is significantly better" in significance_line(values, ["A", "B"], True)


def test_significance_is_strict_about_alpha():
    values = [[n, 0] for n in range(1, 6)]  # 5 of 5: p = 1/32
    assert significance(values, ["A", "B"], True, alpha=1 / 32) == {}
    assert significance(values, ["A", "B"], True, alpha=0.0313) == {"A": ["B"]}


def test_significance_line_puts_nldd_first():
    values = [[n, 2 * n, 0] for n in range(1, 6)]
    assert significance_line(values, ["A", "B", "C"], True) == "A > {C}; B > {A, C}"
    assert significance_line(values, ["A", "NLDD", "C"], True) == "NLDD > {A, C}; A > {C}"


# Holm


@pytest.mark.parametrize("n", [3, 21])
def test_holm_equals_statsmodels(n):
    rng = np.random.default_rng(n)
    for decimals in (1, 16):  # with many equal ones, with none
        p_values = (rng.random(n) ** 3).round(decimals)
        expected = multipletests(p_values, method="holm")[1]
        assert_allclose(holm(p_values), expected, rtol=1e-12)


def test_holm_by_hand():
    # In order .01 .02 .02 .5: times 4 3 2 1 = .04 .06 .04 .5; the third is lifted to .06.
    assert_allclose(holm([0.02, 0.5, 0.01, 0.02]), [0.06, 0.5, 0.04, 0.06], rtol=1e-14)
    assert_array_equal(holm([0.9, 0.8]), [1, 1])
    assert_array_equal(holm([]), [])


def test_pairwise_holm_is_holm_of_two_sided_tests():
    values = np.random.default_rng(3).random((12, 4)) + np.array([0, 0, 0.3, 1])
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    raw = [wilcoxon(values[:, i], values[:, j], method="exact").pvalue for i, j in pairs]
    expected = multipletests(raw, method="holm")[1]
    P = pairwise_holm(values)
    assert_allclose([P[pair] for pair in pairs], expected, rtol=1e-12)
    assert_array_equal(P, P.T)
    assert np.isnan(np.diag(P)).all()
    assert_array_equal(pairwise_holm(-values), P)


# Effect sizes and what few data sets allow


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ([], 0),
        ([0, 0], 0),
        ([-0.2, -0.1, 0], -1),
        # Ranks 1 2 3 4: (1 + 2 + 4 - 3) / 10.
        ([1, 2, -3, 4], 0.4),
        # Ranks 1.5 1.5 3: (1.5 + 3 - 1.5) / 6.
        ([-1, 1, 2], 0.5),
        # The first two differ in the last digit of a float, and share a rank.
        ([0.3 - 0.1, -0.2], 0),
    ],
    ids=str,
)
def test_rank_biserial_by_hand(differences, expected):
    assert_allclose(rank_biserial(differences), expected, rtol=1e-14)


def test_rank_biserial_is_that_of_the_statistic_of_wilcoxon():
    differences = np.random.default_rng(4).normal(0.2, 1, 20)
    # scipy's statistic of "greater" is the sum of ranks above zero.
    above = wilcoxon(differences, alternative="greater").statistic
    assert_allclose(rank_biserial(differences), 2 * above / (20 * 21 / 2) - 1, rtol=1e-12)


@pytest.mark.parametrize("n", [1, 4, 5, 9, 50])
def test_least_p_is_that_of_a_win_on_every_data_set(n):
    assert least_p(n) == signed_rank_p_value(np.arange(1, n + 1))
    values = np.arange(1.0, 1 + n)[:, None] * [1, 2, 4]
    assert least_p(n, 2, 3) == np.nanmin(pairwise_holm(values))


def test_statements_say_where_no_difference_can_show():
    values = [[n, 2 * n] for n in range(1, 6)]
    assert significance_line(values, ["A", "B"], True) == "B > {A}"
    nobody = "no method is significantly better than another"
    assert significance_line(values[:4], ["A", "B"], True) == (
        f"{nobody}; with 4 data sets no p can fall below 0.0625"
    )
    assert significance_line([*values[:4], [9, 0]], ["A", "B"], True) == nobody
    three = np.column_stack([values, np.zeros(5)])
    assert compare(three, "ABC", True).statement() == (
        f"{nobody}; with 5 data sets and 3 pairs no p can fall below 0.1875"
    )


# All tests at once


def test_compare_holds_what_the_single_tests_say():
    rng = np.random.default_rng(6)
    values = rng.random((9, 4)).round(2) * 0.2 + np.array([0, 0.05, 0.1, 0])
    values[3, 1] = values[3, 2]
    for greater in (True, False):
        found = compare(values, "abcd", greater, alpha=0.1)
        assert found.friedman == friedman(values, greater)
        assert_allclose(found.average_ranks, average_ranks(values, greater))
        assert (found.n_datasets, found.alpha) == (9, 0.1)
        ranked = nemenyi(values, greater, 0.1)
        assert found.critical_difference == ranked.critical_difference
        P, H = one_sided_wilcoxon(values, greater), pairwise_holm(values)
        assert found.groups == tuple(cliques(found.average_ranks, H, 0.1))
        names = [pair.first + pair.second for pair in found.pairs]
        assert names == ["ab", "ac", "ad", "bc", "bd", "cd"]
        for pair in found.pairs:
            i, j = "abcd".index(pair.first), "abcd".index(pair.second)
            d = np.round((values[:, i] - values[:, j]) * (1 if greater else -1), 10)
            assert_allclose(pair.gain, d.mean(), rtol=1e-9)
            counts = ((d > 0).sum(), (d == 0).sum(), (d < 0).sum())
            assert (pair.wins, pair.ties, pair.losses) == counts
            assert pair.rank_biserial == rank_biserial(d)
            assert pair.p_value == min(1, 2 * min(P[i, j], P[j, i]))
            assert (pair.holm_p_value, pair.nemenyi_p_value) == (H[i, j], ranked.p_values[i, j])


@pytest.mark.parametrize("greater", [True, False])
def test_corrected_statement_is_that_of_holm_in_both_directions(greater):
    values = np.random.default_rng(1).random((14, 4)) * 0.4 + np.array([0.3, 0, 0.9, 0.3])
    H, means = pairwise_holm(values), values.mean(axis=0) * (1 if greater else -1)
    expected = {
        (a, b)
        for (i, a), (j, b) in product(enumerate("ABCD"), repeat=2)
        if i != j and H[i, j] < 0.05 and means[i] > means[j]
    }
    assert 2 < len(expected) < 6
    statement = compare(values, "ABCD", greater).statement(first="D")
    parts = [part.split(" > ") for part in statement.split("; ")]
    assert {(a, b) for a, beaten in parts for b in beaten.strip("{}").split(", ")} == expected
    assert [a for a, _ in parts] == sorted({a for a, _ in expected}, key=lambda a: (a != "D", a))
    assert all(
        beaten == f"{{{', '.join(sorted(beaten.strip('{}').split(', ')))}}}" for _, beaten in parts
    )


def test_no_pair_of_the_published_values_survives_holm():
    values, methods, greater = paper("f_measure")
    found = compare(values, methods, greater)
    # 21 pairs; p of 9 of 9 is 2/512 * 21 = .082: with nine data sets no pair survives Holm.
    assert_allclose(min(pair.holm_p_value for pair in found.pairs), 21 * 2 / 512, rtol=1e-12)
    assert found.groups == ((3, 2, 6, 1, 4, 0, 5),)
    assert "9 data sets and 21 pairs" in found.statement()
    # At 0.1 those differ of whom one is better on all nine.
    at_10 = compare(values, methods, greater, alpha=0.1)
    assert [[methods[i] for i in group] for group in at_10.groups] == [
        ["ECC", "NLDD", "CBM", "SMBR"],
        ["NLDD", "CBM", "SMBR", "RAKEL", "BR"],
        ["BR", "MLKNN"],
    ]


@pytest.mark.parametrize(
    ("values", "n"),
    [(np.empty((0, 2)), 0), ([[NAN, 1.0], [0.5, 0.6]], 1), ([[0.5]] * 3, 3)],
    ids=["no-data-sets", "one", "one-method"],
)
def test_too_little_is_compared_to_nothing(values, n):
    found = compare(values, ["A", "B"][: np.shape(values)[1]], True)
    assert (found.n_datasets, found.friedman, found.pairs, found.groups) == (n, None, (), ())
    assert np.isnan(found.critical_difference)
    assert_array_equal(np.isnan(found.average_ranks), n == 0)


def test_equal_values_are_equal_by_every_test():
    (pair,) = compare([[0.5, 0.5]] * 6, ["A", "B"], True).pairs
    assert (pair.wins, pair.ties, pair.losses, pair.gain) == (0, 6, 0, 0)
    assert (pair.rank_biserial, pair.p_value, pair.holm_p_value) == (0, 1, 1)
    assert_allclose(pair.nemenyi_p_value, 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: friedman([[1], [2]], True), "2 or more methods"),
        (lambda: nemenyi([[1], [2]], True), "2 or more methods"),
        (lambda: cliques([1, 2], matrix(2, []), alpha=0), "alpha"),
        (lambda: cliques([1, 2, 3], matrix(2, [])), r"\(2, 2\) .* \(3,\)"),
        (lambda: significance([[1, 2]], ["A"], True), "2 columns .* got 1"),
        (lambda: compare([[1, 2]], ["A"], True), "2 columns .* got 1"),
        (lambda: significance([[1, 2]], ["A", "B"], True, alpha=5), "alpha .* got 5"),
        (lambda: compare([[1, 2]], ["A", "B"], True, alpha=0), "alpha"),
        (lambda: holm([0.1, NAN]), "from 0 to 1"),
        (lambda: one_sided_wilcoxon([1, 2], True), r"shape \(2,\)"),
        (lambda: least_p(-1), "got -1"),
        (lambda: least_p(4, sided=3), "1 or 2 sides"),
    ],
)
def test_unusable_input_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
