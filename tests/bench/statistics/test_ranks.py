"""Ranks by hand, against counting, and against the ranks that the paper printed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from nldd.bench.report.published import (
    PUBLISHED_MEASURES,
    published,
    published_average_ranks,
    published_ranks,
)
from nldd.bench.statistics.ranks import average_ranks, complete_rows, ranks
from nldd.exceptions import InputError
from nldd.metrics._measures import MEASURES

NAN = np.nan

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

# (measure, method): printed average rank, average of the printed ranks.
AVERAGE_SLIPS = {("multilabel_accuracy", "NLDD"): (2.3, 2.2)}

# (measure, method): printed average rank, average rank of the printed values.
AVERAGES_MOVED_BY_SLIPS = {
    ("hamming_loss", "ECC"): (4.4, 4.3),
    ("zero_one_loss", "BR"): (5.8, 5.7),
    ("multilabel_accuracy", "BR"): (5.7, 5.6),
    ("multilabel_accuracy", "SMBR"): (4.0, 3.9),
    ("multilabel_accuracy", "NLDD"): (2.3, 2.2),
    ("multilabel_accuracy", "ECC"): (2.9, 3.0),
    ("multilabel_accuracy", "RAKEL"): (4.1, 4.2),
}


def paper_ranks(measure):
    return ranks(published(measure).array(), MEASURES[measure].greater_is_better)


def rank_by_counting(row, value):
    """1 for the best, plus 1 for each smaller value, plus half of each other equal one."""
    known = row[~np.isnan(row)]
    return 1 + np.sum(known < value) + (np.sum(known == value) - 1) / 2


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


def test_ranks_follow_their_columns():
    values = np.random.default_rng(1).random((20, 5))
    order = [3, 0, 4, 1, 2]
    assert_array_equal(ranks(values[:, order], True), ranks(values, True)[:, order])


def test_average_ranks_leave_incomplete_data_sets_out():
    values = [[0.9, 0.8, 0.7], [0.5, 0.6, 0.4], [NAN, 0.1, 0.2], [0.3, 0.3, 0.1]]
    # Ranks of the complete rows: 1 2 3, 2 1 3, 1.5 1.5 3.
    assert_array_equal(complete_rows(values), [True, True, False, True])
    assert_array_equal(average_ranks(values, True), [1.5, 1.5, 3])


def test_average_ranks_without_complete_data_set_are_missing():
    assert_array_equal(average_ranks([[0.9, NAN], [NAN, 0.1]], True), [NAN, NAN])
    assert_array_equal(average_ranks(np.empty((0, 3)), True), [NAN, NAN, NAN])


def test_printed_ranks_are_those_of_the_values_but_for_known_slips():
    found = {}
    for measure in PUBLISHED_MEASURES:
        printed, ours = published_ranks(measure), paper_ranks(measure)
        assert printed.datasets == published(measure).datasets
        assert printed.methods == published(measure).methods
        for i, j in np.argwhere(printed.array() != ours):
            cell = (measure, printed.datasets[i], printed.methods[j])
            found[cell] = (printed.array()[i, j], ours[i, j])
    assert found == RANK_SLIPS


def test_average_ranks_are_those_of_the_printed_ranks_but_for_the_slips():
    for measure in PUBLISHED_MEASURES:
        table = published_ranks(measure)
        corrected = table.array()
        for (key, dataset, method), (_, rank) in RANK_SLIPS.items():
            if key == measure:
                corrected[table.datasets.index(dataset), table.methods.index(method)] = rank
        ours = average_ranks(published(measure).array(), MEASURES[measure].greater_is_better)
        assert_allclose(ours, corrected.mean(axis=0), rtol=0, atol=1e-12)


def averages_unlike_printed(averages_of):
    """Average ranks that, rounded as in the paper, are not the printed ones."""
    found = {}
    for measure in PUBLISHED_MEASURES:
        printed = published_average_ranks(measure)
        for (method, value), average in zip(printed.items(), averages_of(measure), strict=True):
            if value != round(average, 1):
                found[measure, method] = (value, round(average, 1))
    return found


def test_printed_average_ranks_are_those_of_the_printed_ranks_but_for_one():
    found = averages_unlike_printed(lambda measure: published_ranks(measure).array().mean(axis=0))
    assert found == AVERAGE_SLIPS


def test_printed_average_ranks_are_those_of_the_values_where_no_slip_moves_them():
    assert averages_unlike_printed(lambda measure: paper_ranks(measure).mean(axis=0)) == (
        AVERAGES_MOVED_BY_SLIPS
    )


def test_slips_do_not_change_who_is_first():
    best = {
        measure: published(measure).methods[int(np.argmin(paper_ranks(measure).mean(axis=0)))]
        for measure in PUBLISHED_MEASURES
    }
    assert best == {
        "hamming_loss": "NLDD",
        "zero_one_loss": "NLDD",
        "multilabel_accuracy": "NLDD",
        "f_measure": "ECC",
    }


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.1, 0.2], r"one row per data set .* got shape \(2,\)"),
        (np.empty((3, 0)), r"got shape \(3, 0\)"),
        ([[0.1, np.inf]], "row 0, column 1 holds inf. Write NaN"),
        ([["good", "bad"]], "Values must be numbers"),
        ([[1, 2], [3]], "Values must be numbers"),
    ],
    ids=["flat", "no-method", "infinite", "text", "ragged"],
)
@pytest.mark.parametrize("function", [ranks, average_ranks])
def test_ranks_of_unusable_values_are_refused(function, values, message):
    with pytest.raises(InputError, match=message):
        function(values, True)
