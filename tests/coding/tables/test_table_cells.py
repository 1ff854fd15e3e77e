"""Cells as text, as numbers and as text that no spreadsheet runs."""

import datetime
import math

import numpy as np
import pytest

from nldd.coding.tables.spreadsheet import cell_number, cell_text


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        *((None, ""), ("", ""), (" kept ", " kept "), (5, "5"), (5.0, "5"), (-0.5, "-0.5")),
        *((0.1 + 0.2, "0.30000000000000004"), (1e300, "1e+300"), (2**70, "1180591620717411303424")),
        *((True, "TRUE"), (False, "FALSE"), (math.nan, "nan")),
        (datetime.date(2024, 2, 29), "2024-02-29"),
        (datetime.datetime(2024, 2, 29, 13, 5), "2024-02-29T13:05:00"),
        (datetime.time(13, 5, 1, 250000), "13:05:01.250000"),
        *((np.float64(0.25), "0.25"), (np.int64(7), "7"), (np.bool_(True), "TRUE")),
        (np.str_("word"), "word"),
    ],
)
def test_cell_text(cell, text):
    assert cell_text(cell) == text


@pytest.mark.parametrize(
    "cell",
    [None, "", "  ", "NA", "na", "N/A", "#N/A", "?", "-", ".", "NaN", "null", "NULL", math.nan],
)
def test_cell_number_of_missing(cell):
    assert cell_number(cell) is None


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        *((3, 3.0), (2.5, 2.5), (True, 1.0), (np.int64(4), 4.0), (" 3 ", 3.0), ("\u22123", -3.0)),
        *(("1e3", 1000.0), ("1,5", 1.5), ("0,125", 0.125), (",5", 0.5), ("5.", 5.0)),
        *(("1234,567", 1234.567), ("1 234", 1234.0), ("1\u202f234\u202f567,25", 1234567.25)),
        *(("1'234.5", 1234.5), ("-12\u00a0000", -12000.0), ("\uff11\uff12", 12.0)),
    ],
)
def test_cell_number(cell, number):
    assert cell_number(cell) == number


@pytest.mark.parametrize(
    "cell",
    [
        *("yes", "1 23", "12 34", "1,2,3", "1.2.3", "1_000", "1e", "0x10", "inf", "5%", "--5"),
        *("1,234.5", datetime.date(2024, 1, 1), datetime.time(1)),
    ],
)
def test_cell_number_refuses_what_is_none(cell):
    with pytest.raises(ValueError, match="is no number"):
        cell_number(cell)


@pytest.mark.parametrize("cell", ["1,234", "-45,000", "999,999"])
def test_cell_number_asks_where_the_comma_has_two_meanings(cell):
    with pytest.raises(ValueError, match="may mean"):
        cell_number(cell)
    whole, part = cell.split(",")
    assert cell_number(cell, decimal=",") == float(f"{whole}.{part}")
    assert cell_number(cell, decimal=".") == float(whole + part)


def test_numbers_of_thousands_of_digits_are_no_crash():
    for cell in (10**400, 10**4000, -(10**309)):
        with pytest.raises(ValueError, match="more than 308 digits"):
            cell_number(cell)
