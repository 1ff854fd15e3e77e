"""Tests of differences, by hand, against brute force and other libraries, and on the paper."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm, rankdata, wilcoxon
from statsmodels.stats.multitest import multipletests

from nldd.bench import compare
from nldd.bench.report.published import PUBLISHED_MEASURES, published, read_lines
from nldd.bench.statistics import (
    average_ranks,
    cliques,
    friedman,
    holm,
    least_p,
    nemenyi,
    one_sided_wilcoxon,
    pairwise_holm,
    rank_biserial,
    signed_rank_p_value,
    significance,
    significance_line,
)
from nldd.exceptions import InputError
from nldd.metrics._measures import MEASURES

NAN = np.nan


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
