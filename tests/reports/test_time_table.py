"""Running times as ratios to binary relevance."""

from dataclasses import replace

import pytest

from nldd.reports import published_seconds, results, to_csv
from nldd.reports._time_table import published_ratio, time_table
from reports.records import folds, published_records, record, texts, unders


def test_ratios_are_of_all_folds_together():
    # BR 2 x 1.5 s; NLDD 2 x (2.0 + 0.5) s: 5 / 3; ECC 2 x 13.5 s: 9.
    cells = [
        *folds("mine", "BR", [0.1, 0.2]),
        *folds("mine", "NLDD", [0.1, 0.2], fit_seconds=2.0),
        *folds("mine", "ECC", [0.1, 0.2], fit_seconds=13.0),
    ]
    table = time_table(results(cells))
    assert table.key == "running_time"
    assert table.head == ("data set", "BR, seconds", "BR", "NLDD", "ECC")
    assert [texts(row) for row in table.rows] == [["mine", "3.0 s", "1.00", "1.67", "9.00"]]
    assert to_csv(table).splitlines() == [
        "dataset,method,seconds,ratio_to_BR,published_ratio",
        "mine,BR,3.0,1.0,",
        "mine,NLDD,5.0,1.6666666666666667,",
        "mine,ECC,27.0,9.0,",
    ]


def test_paper_ratios_are_below_ours():
    cells = [record("ohsumed", "BR"), record("ohsumed", "NLDD", fit_seconds=2.5)]
    table = time_table(results([*cells, record("ohsumed", "CC"), record("mine", "BR")]))
    seconds = published_seconds()
    ratio = 12152 / seconds.value("ohsumed", "BR")
    assert texts(table.rows[0]) == ["ohsumed", "1.5 s", "1.00", "2.00", "1.00"]
    assert unders(table.rows[0]) == ["", "", "paper 1.00", f"paper {ratio:.2f}", ""]
    assert texts(table.rows[1]) == ["mine", "1.5 s", "1.00", "-", "-"]
    assert unders(table.rows[1]) == [""] * 5


def test_published_times_give_the_published_ratios():
    table = time_table(results(published_records()))
    for row in table.rows:
        assert unders(row)[2:] == [f"paper {text}" for text in texts(row)[2:]]
    assert all(ratio == told for _, _, _, ratio, told in table.data)
    assert published_ratio("yeast", "BR") == 1
    assert published_ratio("yeast", "CC") is None
    assert published_ratio("mine", "BR") is None


def test_without_BR_there_are_seconds_but_no_ratios():
    table = time_table(results([record("yeast", "NLDD"), record("yeast", "CC")]))
    assert table.head == ("data set", "BR, seconds", "NLDD", "CC")
    assert texts(table.rows[0]) == ["yeast", "-", "-", "-"]
    assert [row[:4] for row in table.data] == [
        ("yeast", "NLDD", 1.5, None),
        ("yeast", "CC", 1.5, None),
    ]


def test_BR_that_is_incomplete_on_one_data_set_leaves_dashes_there():
    cells = [
        *folds("emotions", "BR", [0.1, 0.2])[:1],
        *folds("emotions", "NLDD", [0.1, 0.2]),
        record("yeast", "BR"),
        record("yeast", "NLDD", error="no"),
    ]
    table = time_table(results(cells))
    assert [texts(row) for row in table.rows] == [
        ["emotions", "-", "-", "-"],
        ["yeast", "1.5 s", "1.00", "-"],
    ]
    assert [row[2] for row in table.data] == [None, 3.0, 1.5, None]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.0, "0.00"), (0.14, "0.01"), (14.2, "1.42"), (99.9, "9.99"), (100, "10"), (1234, "123")],
)
def test_ratios_have_two_decimals_below_ten_and_none_above(seconds, said):
    quick = record("mine", "BR", fit_seconds=10.0, predict_seconds=0.0)
    other = record("mine", "ECC", fit_seconds=seconds, predict_seconds=0.0)
    assert texts(time_table(results([quick, other])).rows[0]) == ["mine", "10.0 s", "1.00", said]


def test_a_clock_too_coarse_for_BR_leaves_dashes():
    quick = replace(record("mine", "BR"), fit_seconds=0.0, predict_seconds=0.0)
    table = time_table(results([quick, record("mine", "NLDD")]))
    assert texts(table.rows[0]) == ["mine", "-", "-", "-"]
    assert [row[:4] for row in table.data] == [
        ("mine", "BR", 0.0, None),
        ("mine", "NLDD", 1.5, None),
    ]
