"""Scores apart for labelsets that training has seen (A) and has not seen (B)."""

import numpy as np
import pytest

from nldd.metrics import PAPER_MEASURES
from nldd.reports import published_subsets, results, to_csv
from nldd.reports._subset_table import subset_mean, subset_table, subset_tables
from reports.records import published_records, record, texts, unders

HAMMING = PAPER_MEASURES[0]


def fold(method, number, observed, unobserved, total, dataset="mine", **details):
    """A cell with (rows, Hamming loss) of both subsets."""
    parts = [
        {"n": n, **({"hamming_loss": value} if n else {})} for n, value in (observed, unobserved)
    ]
    return record(
        dataset,
        method,
        number,
        total,
        observed=parts[0],
        unobserved=parts[1],
        n_test=observed[0] + unobserved[0],
        **details,
    )


def test_subsets_weigh_folds_by_their_rows():
    # BR, A: (8 x 0.1 + 6 x 0.24) / 14 = 0.16; B: (2 x 0.5 + 4 x 0.2) / 6 = 0.3.
    cells = [
        fold("BR", 0, (8, 0.1), (2, 0.5), 0.18, n_folds=2),
        fold("BR", 1, (6, 0.24), (4, 0.2), 0.224, n_folds=2),
        fold("NLDD", 0, (8, 0.1), (2, 0.4), 0.16, n_folds=2),
        fold("NLDD", 1, (6, 0.1), (4, 0.4), 0.22, n_folds=2),
    ]
    table = subset_table(results(cells), HAMMING)
    assert table.key == "subsets_hamming_loss"
    assert table.head == (
        *("data set", "share of B", "A BR", "A NLDD", "B BR", "B NLDD", "total BR", "total NLDD"),
    )
    assert [texts(row) for row in table.rows] == [
        ["mine", "30.0%", "0.1600", "0.1000", "0.3000", "0.4000", "0.2020", "0.1900"]
    ]
    assert unders(table.rows[0]) == [""] * 8


def test_the_long_form_has_every_method():
    cells = [
        fold("BR", 0, (3, 0.25), (1, 0.5), 0.3125),
        fold("CC", 0, (3, 0.5), (1, 1.0), 0.625),
    ]
    table = subset_table(results(cells), HAMMING)
    assert table.head == ("data set", "share of B", "A BR", "B BR", "total BR")
    assert to_csv(table).splitlines() == [
        "dataset,method,subset,value",
        "mine,BR,A,0.25",
        "mine,BR,B,0.5",
        "mine,BR,total,0.3125",
        "mine,CC,A,0.5",
        "mine,CC,B,1.0",
        "mine,CC,total,0.625",
    ]


def test_without_unobserved_labelsets_B_is_a_dash():
    table = subset_table(results([record("mine", "BR", score=0.3)]), HAMMING)
    assert texts(table.rows[0]) == ["mine", "0.0%", "0.3000", "-", "0.3000"]
    assert [row[2:] for row in table.data] == [("A", 0.3), ("B", None), ("total", 0.3)]


def test_folds_without_rows_of_a_subset_do_not_count_for_it():
    cells = [fold("BR", 0, (10, 0.1), (0, None), 0.1), fold("BR", 1, (0, None), (10, 0.4), 0.4)]
    assert subset_mean(cells, "hamming_loss", "A") == 0.1
    assert subset_mean(cells, "hamming_loss", "B") == 0.4
    assert subset_mean(cells, "hamming_loss", "total") == 0.25
    assert np.isnan([subset_mean([], "hamming_loss", subset) for subset in ("A", "total")]).all()


@pytest.mark.parametrize("measure", PAPER_MEASURES, ids=lambda m: m.key)
def test_published_bibtex_stands_below_itself(measure):
    table = subset_table(results(published_records()), measure)
    row = next(row for row in table.rows if row[0] == "bibtex")
    assert texts(row)[1] == "32.4%"  # 599 of 1849, as the paper's totals have it
    told = published_subsets()
    columns = [tuple(head.split()) for head in table.head[2:]]
    assert unders(row)[2:] == [f"paper {told[measure.key, *column]:.4f}" for column in columns]
    assert texts(row)[2:6] == [f"{told[measure.key, *column]:.4f}" for column in columns[:4]]
    assert {under for other in table.rows if other is not row for under in unders(other)} == {""}


def test_missing_methods_and_data_sets_are_dashes():
    cells = [
        fold("BR", 0, (3, 0.25), (1, 0.5), 0.3125, "emotions"),
        fold("NLDD", 0, (1, 0.25), (1, 0.5), 0.375, "yeast"),
        record("zoo", "BR", error="no"),
        fold("CC", 0, (3, 0.25), (1, 0.5), 0.3125, "zoo"),
    ]
    table = subset_table(results(cells), HAMMING)
    assert [texts(row) for row in table.rows] == [
        ["emotions", "25.0%", "0.2500", "-", "0.5000", "-", "0.3125", "-"],
        ["yeast", "50.0%", "-", "0.2500", "-", "0.5000", "-", "0.3750"],
        ["zoo", "25.0%", "-", "-", "-", "-", "-", "-"],
    ]


def test_other_methods_alone_leave_the_share():
    table = subset_table(results([fold("CC", 0, (3, 0.25), (1, 0.5), 0.3125)]), HAMMING)
    assert table.head == ("data set", "share of B")
    assert table.rows == (("mine", "25.0%"),)
    assert len(table.data) == 3


def test_there_is_one_table_a_measure():
    tables = subset_tables(results([record()]))
    assert [table.key for table in tables] == [f"subsets_{m.key}" for m in PAPER_MEASURES]
    assert "(higher is better)" in tables[3].title
