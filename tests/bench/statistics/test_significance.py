"""Tests of differences, by hand, against brute force and other libraries, and on the paper."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import friedmanchisquare, norm, rankdata, wilcoxon
from statsmodels.stats.multitest import multipletests

from nldd.bench.report.published import PUBLISHED_MEASURES, published, published_significance
from nldd.bench.statistics.ranks import average_ranks
from nldd.bench.statistics.significance import (
    cliques,
    friedman,
    holm,
    one_sided_wilcoxon,
    pairwise_holm,
    signed_rank_p_value,
    significance,
    significance_line,
)
from nldd.exceptions import InputError
from nldd.metrics._measures import MEASURES

NAN = np.nan

PRINTED_LINES = {
    "hamming_loss": "NLDD > {BR, SMBR, ECC, MLKNN}; BR > {SMBR}; RAKEL > {BR, SMBR, ECC}",
    "zero_one_loss": (
        "NLDD > {BR, SMBR, ECC, RAKEL, MLKNN}; BR > {MLKNN}; SMBR > {BR, MLKNN}; "
        "ECC > {MLKNN}; RAKEL > {BR, MLKNN}; CBM > {BR, SMBR, MLKNN}"
    ),
    "multilabel_accuracy": (
        "NLDD > {BR, SMBR, RAKEL, MLKNN}; BR > {MLKNN}; SMBR > {BR, MLKNN}; "
        "ECC > {BR, SMBR, RAKEL, MLKNN}; RAKEL > {BR, MLKNN}; CBM > {MLKNN}"
    ),
    "f_measure": (
        "NLDD > {BR, SMBR, RAKEL, MLKNN}; BR > {MLKNN}; SMBR > {BR, MLKNN}; "
        "ECC > {BR, SMBR, RAKEL, MLKNN}; RAKEL > {BR, MLKNN}; CBM > {MLKNN}"
    ),
}


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
    assert significance(*paper(measure)) == published_significance(measure)
    assert significance_line(*paper(measure)) == PRINTED_LINES[measure]


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


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_p_values_with_ties_and_zeros_equal_all_patterns_of_signs(n):
    rng = np.random.default_rng(100 + n)
    for _ in range(15):
        differences = rng.integers(-3, 5, size=n)
        assert signed_rank_p_value(differences) == brute_force_p_value(differences)


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


def test_one_sided_wilcoxon_looks_at_the_right_side():
    values = [[0.1, 0.2], [0.1, 0.3], [0.1, 0.4]]
    assert_array_equal(one_sided_wilcoxon(values, False), [[NAN, 1 / 8], [1, NAN]])
    assert_array_equal(one_sided_wilcoxon(values, True), [[NAN, 1], [1 / 8, NAN]])


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
    assert friedman(holed, True) == friedman(kept, True)
    assert friedman(holed, True).n_datasets == 10


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


def test_significance_line_puts_the_named_method_first():
    values = [[n, 2 * n, 0] for n in range(1, 6)]
    assert significance_line(values, ["A", "B", "C"], True) == "A > {C}; B > {A, C}"
    assert significance_line(values, ["A", "NLDD", "C"], True) == "NLDD > {A, C}; A > {C}"
    line = significance_line(values, ["A", "B", "C"], True, first="B")
    assert line == "B > {A, C}; A > {C}"


# Friedman and Holm


def test_friedman_by_hand():
    # Ranks 1 2 3, 1 2 3, 2 1 3, 1 2 3: sums 5 7 12 around 8, squares 9 + 1 + 16 = 26.
    # chi2 = 12 / (4 * 3 * 4) * 26 = 6.5; F = 3 * 6.5 / (4 * 2 - 6.5) = 13.
    result = friedman([[1, 2, 3], [1, 2, 3], [2, 1, 3], [1, 2, 3]], greater_is_better=False)
    assert_allclose([result.statistic, result.f_statistic], [6.5, 13], rtol=1e-14)
    # Chi-square with 2 degrees of freedom has the tail exp(-x/2);
    # F with 2 and 6 has (1 + 2x/6)**-3.
    assert_allclose(result.p_value, np.exp(-3.25), rtol=1e-12)
    assert_allclose(result.f_p_value, (1 + 13 / 3) ** -3, rtol=1e-12)
    assert (result.n_datasets, result.n_methods) == (4, 3)


@pytest.mark.parametrize("n_levels", [3, 5, 1000], ids=["many-ties", "ties", "hardly-ties"])
def test_friedman_equals_scipy(n_levels):
    rng = np.random.default_rng(n_levels)
    for n, k in product([2, 9, 30], [3, 7]):
        values = rng.integers(0, n_levels, size=(n, k)) + np.linspace(0, 1, k).round()
        expected = friedmanchisquare(*values.T)
        for greater_is_better in (True, False):
            result = friedman(values, greater_is_better)
            assert_allclose(result.statistic, expected.statistic, rtol=1e-9)
            assert_allclose(result.p_value, expected.pvalue, rtol=1e-9)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([[1, 1], [2, 2]], (0, 1, 0, 1)),  # all tied
        ([[1, 2, 3], [4, 5, 6]], (4, np.exp(-2), np.inf, 0)),  # all agree: chi2 = n (k - 1)
        ([[1, 2, 3]], (2, np.exp(-1), NAN, NAN)),
        (np.empty((0, 3)), (0, 1, NAN, NAN)),
    ],
    ids=["tied", "agree", "one-data-set", "none"],
)
def test_friedman_at_its_limits(values, expected):
    result = friedman(values, greater_is_better=True)
    found = (result.statistic, result.p_value, result.f_statistic, result.f_p_value)
    assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


def test_friedman_on_the_published_values():
    """The methods differ on three of the measures; on Hamming loss they cannot be told apart."""
    p_values = {}
    for measure in PUBLISHED_MEASURES:
        values, _, greater_is_better = paper(measure)
        result = friedman(values, greater_is_better)
        assert_allclose(result.statistic, friedmanchisquare(*values.T).statistic, rtol=1e-9)
        p_values[measure] = result.f_p_value
    assert_allclose(p_values.pop("hamming_loss"), 0.115, atol=0.001)
    assert max(p_values.values()) < 1e-5


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
        ([1, 2, 3], [(0, 1), (0, 2)], [(1, 2)]),
        # 0 and 2 do not differ, but 1 lies between them and differs from both: no run.
        ([1, 2, 3], [(0, 1), (1, 2)], []),
        ([3, 1, 2], [(1, 0)], [(1, 2), (2, 0)]),
        # Runs 0-2 and 1-3; the run 2-3 is a part of the second.
        ([1, 2, 3, 4], [(0, 3)], [(0, 1, 2), (1, 2, 3)]),
        ([1, 2, 3, 4, 5], [(1, 2), (0, 2)], [(0, 1), (2, 3, 4)]),
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


def test_cliques_of_the_published_values():
    values, methods, greater_is_better = paper("f_measure")
    averages = average_ranks(values, greater_is_better)
    P = pairwise_holm(values)
    # 21 pairs; p of 9 of 9 is 2/512 * 21 = .082: with nine data sets no pair survives Holm.
    assert_allclose(np.nanmin(P), 21 * 2 / 512, rtol=1e-12)
    names = [[methods[i] for i in group] for group in cliques(averages, P)]
    assert names == [["ECC", "NLDD", "CBM", "SMBR", "RAKEL", "BR", "MLKNN"]]
    # At 0.1 those differ of whom one is better on all nine.
    names = [[methods[i] for i in group] for group in cliques(averages, P, alpha=0.1)]
    assert names == [
        ["ECC", "NLDD", "CBM", "SMBR"],
        ["NLDD", "CBM", "SMBR", "RAKEL", "BR"],
        ["BR", "MLKNN"],
    ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: significance([[1, 2]], ["A"], True), "2 columns of values .* got 1 methods"),
        (lambda: significance([[1, 2]], ["A", "B"], True, alpha=5), "between 0 and 1, .* got 5"),
        (lambda: cliques([1, 2], matrix(2, []), alpha=0), "between 0 and 1"),
        (lambda: cliques([1, 2, 3], matrix(2, [])), r"shape \(2, 2\) for ranks of shape \(3,\)"),
        (lambda: friedman([[1], [2]], True), "2 or more methods"),
        (lambda: holm([0.1, 1.5]), "from 0 to 1"),
        (lambda: holm([0.1, NAN]), "from 0 to 1"),
        (lambda: one_sided_wilcoxon([1, 2], True), r"got shape \(2,\)"),
    ],
    ids=["methods", "alpha", "alpha-0", "shape", "one-method", "p", "p-missing", "flat"],
)
def test_unusable_input_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
