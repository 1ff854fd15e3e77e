"""Ranks and their tests: by hand, by brute force, against scipy and published tables."""

from itertools import permutations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import friedmanchisquare

from nldd.bench.report.published import PUBLISHED_MEASURES, printed_table, published
from nldd.bench.statistics import (
    average_ranks,
    cliques,
    complete_rows,
    friedman,
    nemenyi,
    ranks,
)
from nldd.exceptions import InputError
from nldd.metrics._measures import MEASURES

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


def brute_force_p_value(R):
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
        assert_allclose(result.p_value, brute_force_p_value(ranks(values, True)), rtol=1e-12)
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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: friedman([[1], [2]], True), "2 or more methods"),
        (lambda: nemenyi([[1], [2]], True), "2 or more methods"),
        (lambda: cliques([1, 2], matrix(2, []), alpha=0), "alpha"),
        (lambda: cliques([1, 2, 3], matrix(2, [])), r"\(2, 2\) .* \(3,\)"),
    ],
    ids=["friedman", "nemenyi", "alpha", "shape"],
)
def test_unusable_input_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
