"""The table of all pairs of methods, by hand, and on few data sets."""

import csv
from io import StringIO

import numpy as np
import pytest

from nldd.reports import comparison_notes, pairs_table, to_csv
from nldd.reports._latex import WIDTH, choose_layout
from nldd.reports._table import right_aligned
from nldd.statistics import compare

METHODS = ["BR", "SMBR", "NLDD", "CC", "ECC", "LP", "RAKEL", "MLKNN", "CBM", "RFPCT"]
LOSSES = [[0.19, 0.23], [0.05, 0.08], [0.11, 0.11], [0.27, 0.33], [0.04, 0.02]]


def test_rows_are_the_pairs_with_their_sizes_and_tests():
    table = pairs_table(
        compare(LOSSES, ["NLDD", "BR"], False), "pairs_hamming_loss", "Hamming loss"
    )
    assert table.title == "Hamming loss: all pairs of methods on 5 data sets"
    (row,) = table.rows
    # Differences .04 .03 0 .06 -.02: mean .11 / 5; ranks 3 2 4 1: r = 8 / 10; p = 2 * 2 / 16.
    assert row[:6] == ("NLDD - BR", "+0.0220", "3/1/1", "+0.80", "0.25", "0.25")
    better, same, worse = map(int, row[7].split("/"))
    assert better > 70 > same > worse and better + same + worse == pytest.approx(100, abs=1)
    assert right_aligned(table) == (False, *7 * [True])


def test_csv_has_the_unrounded_values():
    comparison = compare(LOSSES, ["NLDD", "BR"], False)
    (line,) = csv.DictReader(StringIO(to_csv(pairs_table(comparison, "pairs", "Hamming loss"))))
    assert (line["first"], line["wins"], line["ties"], line["losses"]) == ("NLDD", "3", "1", "1")
    assert float(line["gain"]) == comparison.pairs[0].gain
    assert float(line["probability_first_better"]) == comparison.pairs[0].better


def test_notes_tell_the_overall_tests_and_what_few_data_sets_cannot_show():
    values = np.random.default_rng(0).random((9, 7))
    notes = comparison_notes(compare(values, list("abcdefg"), True))
    assert notes[0].startswith("Friedman's test: chi-square 12.95, p = 0.044; F")
    assert "Kendall's W" in notes[0] and "Nemenyi's critical difference at 0.05 is 3.00" in notes[0]
    assert "21 pairs" in notes[1] and "difference of at most 0.01" in notes[2]
    assert notes[3].startswith(
        "With 9 data sets no p-value, corrected for 21 tests, can fall below"
    )
    notes = comparison_notes(compare(values[:4], list("abcdefg"), True))
    assert notes[3].startswith("With 4 data sets no p-value can fall below 0.125, so no difference")
    assert len(comparison_notes(compare(values[:, :2], ["a", "b"], True))) == 3


def test_nothing_to_compare_is_no_table_but_a_sentence():
    comparison = compare([[0.5, 0.6]], ["a", "b"], True)
    assert pairs_table(comparison, "pairs", "F") is None
    (note,) = comparison_notes(comparison)
    assert note.startswith("Methods are compared from two of them")


def test_forty_five_pairs_fit_the_width_of_a_page():
    values = np.random.default_rng(0).random((9, 10))
    layout = choose_layout(pairs_table(compare(values, METHODS, True), "t", "F"))
    assert layout.width <= WIDTH
    assert [len(panel) for page in layout.pages for panel in page] == [8]
