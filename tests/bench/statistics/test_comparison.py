"""Nemenyi's test against published tables, effect sizes by hand, and all pairs in one record."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import studentized_range, wilcoxon

from nldd.bench.report.published import published
from nldd.bench.statistics.bayes import bayesian_signed_rank
from nldd.bench.statistics.comparison import compare, nemenyi, rank_biserial
from nldd.bench.statistics.ranks import average_ranks
from nldd.bench.statistics.significance import (
    about_least_p,
    cliques,
    friedman,
    least_p,
    one_sided_wilcoxon,
    pairwise_holm,
    signed_rank_p_value,
    significance_line,
)
from nldd.exceptions import InputError
from nldd.metrics._measures import MEASURES

NAN = np.nan
# Demsar (2006), table 5a, for 2 to 10 methods.
PUBLISHED_Q = {
    0.05: (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164),
    0.10: (1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920),
}


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
    found = nemenyi(values, greater_is_better=False)
    assert_allclose(found.p_values[0, 1], 0.0196306576572, rtol=1e-5)
    assert_allclose(found.critical_difference, 1.959963985 / 3, rtol=1e-5)
    assert (found.alpha, found.n_datasets) == (0.05, 9)


def test_nemenyi_leaves_incomplete_data_sets_out():
    values = np.random.default_rng(1).random((9, 3))
    holed = np.vstack([values, [NAN, 0.1, 0.2]])
    found, expected = nemenyi(holed, True), nemenyi(values, True)
    assert_array_equal(found.p_values, expected.p_values)
    assert found.critical_difference == expected.critical_difference
    none = nemenyi([[NAN, 1.0]], True)
    assert np.isnan(none.critical_difference) and np.isnan(none.p_values).all()
    assert_allclose(nemenyi([[1.0, 1.0]] * 5, True).p_values[0, 1], 1)


def test_nemenyi_on_the_published_values():
    """F-measure of the paper: three groups, where Holm's correction leaves one with nine sets."""
    table = published("f_measure")
    found = nemenyi(table.array(), MEASURES["f_measure"].greater_is_better)
    q = studentized_range.isf(0.05, 7, np.inf) / np.sqrt(2)
    assert_allclose(found.critical_difference, q * np.sqrt(56 / 54), rtol=1e-12)
    averages = average_ranks(table.array(), True)
    groups = cliques(averages, found.p_values)
    assert [[table.methods[i] for i in group] for group in groups] == [
        ["ECC", "NLDD", "CBM", "SMBR", "RAKEL"],
        ["NLDD", "CBM", "SMBR", "RAKEL", "BR"],
        ["SMBR", "RAKEL", "BR", "MLKNN"],
    ]


# Effect sizes and what few data sets allow


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ([], 0),
        ([0, 0], 0),
        ([0.2], 1),
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


def test_kendall_w_by_hand():
    # Sums of ranks 5 7 12 around 8: W = 12 * 26 / (4**2 * (3**3 - 3)).
    values = [[1, 2, 3], [1, 2, 3], [2, 1, 3], [1, 2, 3]]
    assert_allclose(friedman(values, False).kendall_w, 12 * 26 / (16 * 24), rtol=1e-14)
    assert friedman([[1, 2, 3], [4, 5, 6]], True).kendall_w == 1
    assert friedman([[1, 1], [2, 2]], True).kendall_w == 0
    assert friedman([[1, 2], [2, 1]], True).kendall_w == 0
    assert np.isnan(friedman(np.empty((0, 3)), True).kendall_w)


@pytest.mark.parametrize("n", [0, 1, 4, 5, 9, 50])
def test_least_p_is_that_of_a_win_on_every_data_set(n):
    assert least_p(n) == signed_rank_p_value(np.arange(1, n + 1))
    values = np.arange(1.0, 1 + n)[:, None] * [1, 2, 4]
    if n:
        assert least_p(n, 2, 3) == np.nanmin(pairwise_holm(values))


def test_few_data_sets_are_said_to_be_too_few():
    assert (least_p(4), least_p(5), least_p(4, sided=2)) == (1 / 16, 1 / 32, 1 / 8)
    sentence = "With 4 data sets no p-value can fall below 0.0625, so no difference can be"
    assert about_least_p(4) == f"{sentence} significant at 0.05."
    assert (about_least_p(5), about_least_p(4, 0.1)) == ("", "")
    assert about_least_p(1, sided=2).startswith("With 1 data set no p-value can fall below 1,")
    assert "no p-value, corrected for 21 tests, can fall below 0.08203," in about_least_p(
        9, 0.05, 2, 21
    )


def test_significance_line_says_where_no_difference_can_show():
    values = [[n, 2 * n] for n in range(1, 6)]
    assert significance_line(values, ["A", "B"], True) == "B > {A}"
    nobody = "no method is significantly better than another"
    line = significance_line(values[:4], ["A", "B"], True)
    assert line == f"{nobody}; with 4 data sets no p can fall below 0.0625"
    assert significance_line([*values[:4], [9, 0]], ["A", "B"], True) == nobody


# All pairs


def test_compare_holds_what_the_single_tests_say():
    rng = np.random.default_rng(6)
    values = rng.random((9, 4)).round(2) * 0.2 + np.array([0, 0.05, 0.1, 0])
    values[3, 1] = values[3, 2]
    holed = np.vstack([values, [0.1, NAN, 0.2, 0.3]])
    for greater in (True, False):
        found = compare(holed, ["a", "b", "c", "d"], greater, alpha=0.1, rope=0.02)
        assert found.friedman == friedman(values, greater)
        assert_allclose(found.average_ranks, average_ranks(values, greater))
        assert (found.n_datasets, found.alpha, found.rope) == (9, 0.1, 0.02)
        ranked = nemenyi(values, greater, 0.1)
        assert found.critical_difference == ranked.critical_difference
        P, H = one_sided_wilcoxon(values, greater), pairwise_holm(values)
        names = [pair.first + pair.second for pair in found.pairs]
        assert names == ["ab", "ac", "ad", "bc", "bd", "cd"]
        for pair in found.pairs:
            i, j = "abcd".index(pair.first), "abcd".index(pair.second)
            d = np.round((values[:, i] - values[:, j]) * (1 if greater else -1), 10)
            assert_allclose(pair.gain, d.mean(), rtol=1e-9)
            assert (pair.wins, pair.ties, pair.losses) == (
                (d > 0).sum(),
                (d == 0).sum(),
                (d < 0).sum(),
            )
            assert pair.rank_biserial == rank_biserial(d)
            assert pair.p_value == min(1, 2 * min(P[i, j], P[j, i]))
            assert_allclose(
                [pair.holm_p_value, pair.nemenyi_p_value], [H[i, j], ranked.p_values[i, j]]
            )
            assert_array_equal([pair.worse, pair.equal, pair.better], bayesian_signed_rank(d, 0.02))


def test_a_method_against_all_others_is_turned_where_it_stands_second():
    values = np.random.default_rng(7).random((6, 3)) + np.array([0, 0.3, 0.5])
    found = compare(values, ["a", "b", "c"], True)
    ab, _, bc = found.pairs
    assert found.against("b") == {
        "a": (ab.worse, ab.equal, ab.better),
        "c": (bc.better, bc.equal, bc.worse),
    }
    with pytest.raises(InputError, match="No method is called 'd'"):
        found.against("d")


@pytest.mark.parametrize(
    ("values", "n"),
    [(np.empty((0, 2)), 0), ([[NAN, 1.0], [0.5, 0.6]], 1), ([[0.5]] * 3, 3)],
    ids=["no-data-sets", "one", "one-method"],
)
def test_too_little_is_compared_to_nothing(values, n):
    found = compare(values, ["A", "B"][: np.shape(values)[1]], True)
    assert (found.n_datasets, found.friedman, found.pairs) == (n, None, ())
    assert np.isnan(found.critical_difference)
    assert_array_equal(np.isnan(found.average_ranks), n == 0)


def test_equal_values_are_equal_by_every_test():
    (pair,) = compare([[0.5, 0.5]] * 6, ["A", "B"], True).pairs
    assert (pair.wins, pair.ties, pair.losses, pair.gain) == (0, 6, 0, 0)
    assert (pair.rank_biserial, pair.p_value, pair.holm_p_value) == (0, 1, 1)
    assert_allclose(pair.nemenyi_p_value, 1)
    assert (pair.better, pair.equal, pair.worse) == (0, 1, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compare([[1, 2]], ["A"], True), "2 columns of values needs a method; got 1"),
        (lambda: compare([[1, 2]], ["A", "B"], True, alpha=5), "between 0 and 1"),
        (lambda: compare([[1, 2], [2, 1]], ["A", "B"], True, rope=-1), "rope"),
        (lambda: nemenyi([[1], [2]], True), "2 or more methods"),
        (lambda: least_p(-1), "from 0 on, .* got -1, 1 and 1"),
        (lambda: least_p(4, sided=3), "1 or 2 sides"),
    ],
    ids=["methods", "alpha", "rope", "one-method", "negative", "sides"],
)
def test_unusable_comparisons_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
