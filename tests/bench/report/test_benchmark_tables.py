"""Tables of a benchmark beside the scores: times, weights, subsets, shares, and what was run."""

from dataclasses import replace

import numpy as np
import pytest

from bench.report.records import folds, published_records, record, texts, unders
from drawn import assert_legible
from nldd.bench.report.benchmark_tables import (
    coefficient_table,
    published_ratio,
    share_table,
    subset_mean,
    subset_table,
    time_table,
)
from nldd.bench.report.published import published_seconds, published_subsets
from nldd.bench.report.report import share_figures
from nldd.bench.report.results import results
from nldd.metrics._measures import MEASURES, PAPER_MEASURES
from nldd.present.table import to_csv


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
        "dataset,method,seconds,ratio_to_BR",
        "mine,BR,3.0,1.0",
        "mine,NLDD,5.0,1.6666666666666667",
        "mine,ECC,27.0,9.0",
    ]
    assert table.notes == ("Processor time of fitting and predicting in one thread.",)


def test_notes_on_times_tell_searches():
    cells = [record("mine", method) for method in ("BR", "SMBR", "NLDD")]
    cells[2].details["searched"] = {"best": {}, "scoring": "f_measure"}
    (note,) = time_table(results(cells)).notes
    assert note.endswith(" With the search for parameters in each fold: NLDD.")


def test_without_BR_times_are_in_seconds():
    cells = [*folds("mine", "ECC", [0.1, 0.2], fit_seconds=13.0)]
    cells.append(record("yeast", "ECC", fit_seconds=0.0, predict_seconds=0.0126))
    table = time_table(results(cells))
    assert table.title == "Running time in seconds, all folds together"
    assert table.head == ("data set", "ECC")
    assert [texts(row) for row in table.rows] == [["yeast", "0.013 s"], ["mine", "27.0 s"]]
    assert table.data_head == ("dataset", "method", "seconds")
    assert table.notes == ("Processor time of fitting and predicting in one thread.",)


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


def fits(dataset, betas, **changes):
    made = folds(dataset, "NLDD", [0.5] * len(betas), **changes)
    for cell, beta in zip(made, betas, strict=True):
        cell.details["coefficients"] = beta
    return made


def test_mean_and_standard_deviation_over_folds_by_hand():
    # Means -4, 0.155, 0.9; deviations from them -1, 0, 1 and so on, over n - 1 = 2.
    table = coefficient_table(
        results(fits("yeast", [[-5.0, 0.15, 0.8], [-4.0, 0.155, 0.9], [-3.0, 0.16, 1.0]]))
    )
    assert table.head == ("data set", "b0", "b1 (Dx)", "b2 (Dy)")
    assert [texts(row) for row in table.rows] == [
        ["yeast", "-4.0000 ± 1.0000", "0.1550 ± 0.0050", "0.9000 ± 0.1000"]
    ]
    # 0.155 / 0.1409 = 1.10, 0.9 / 0.8546 = 1.053.
    assert unders(table.rows[0]) == ["", "paper -3.9053", "paper 0.1409, +10%", "paper 0.8546, +5%"]
    assert [row[:2] for row in table.data] == [("yeast", "b0"), ("yeast", "b1"), ("yeast", "b2")]
    numbers = np.array([row[2:] for row in table.data], dtype=float)
    expected = [[-4, 1, -3.9053], [0.155, 0.005, 0.1409], [0.9, 0.1, 0.8546]]
    np.testing.assert_allclose(numbers, expected, rtol=1e-12)


def test_one_split_has_the_errors_of_the_regression():
    table = coefficient_table(results([record("mine", "NLDD", n_pairs=9)]))
    assert [texts(row) for row in table.rows] == [
        ["mine", "-4.0000 ± 0.3000", "0.1000 ± 0.2000", "0.8000 ± 0.1000"]
    ]
    assert unders(table.rows[0]) == [""] * 4
    assert to_csv(table).splitlines() == [
        "dataset,coefficient,mean,spread",
        "mine,b0,-4.0,0.3",
        "mine,b1,0.1,0.2",
        "mine,b2,0.8,0.1",
    ]


def test_data_sets_without_NLDD_or_with_some_folds_have_no_row():
    found = results(
        [
            *folds("emotions", "BR", [0.1, 0.2]),
            *fits("emotions", [[-4.0, 0.1, 0.8]] * 2)[:1],
            record("scene", "BR"),
            record("yeast", "NLDD"),
        ]
    )
    assert [row[0] for row in coefficient_table(found).rows] == ["yeast"]


def test_a_weight_held_at_zero_in_one_split_has_no_error():
    # The regression has no standard error of a coefficient that was not free.
    cell = record(
        "ohsumed", "NLDD", coefficients=[-3.0, 0.0, 1.0], coefficient_errors=[0.1, None, 0.1]
    )
    table = coefficient_table(results([cell]))
    assert texts(table.rows[0]) == ["ohsumed", "-3.0000 ± 0.1000", "0", "1.0000 ± 0.1000"]
    assert unders(table.rows[0])[2] == "held, paper 0.0022"
    assert to_csv(table).splitlines()[1:] == [
        "ohsumed,b0,-3.0,0.1,-3.1341",
        "ohsumed,b1,0.0,,0.0022",
        "ohsumed,b2,1.0,0.1,0.9855",
    ]
    assert "held at 0, and then has no such error" in table.notes[0]


def test_a_weight_held_at_zero_in_all_folds_has_no_spread_of_zero():
    table = coefficient_table(results(fits("mine", [[-3.0, 0.0, 1.0], [-3.2, 0.0, 0.0]])))
    assert texts(table.rows[0]) == ["mine", "-3.1000 ± 0.1414", "0", "0.5000 ± 0.7071"]
    assert unders(table.rows[0]) == ["", "", "held", "held in 1 of 2"]
    assert to_csv(table).splitlines()[2] == "mine,b1,0.0,"


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


def test_totals_lie_between_the_subsets_where_folds_differ_in_size():
    # All rows together: (2 x 0.5 + 8 x 0.1) / 10 = 0.18.
    cells = [fold("BR", 0, (2, 0.5), (0, None), 0.5), fold("BR", 1, (0, None), (8, 0.1), 0.1)]
    assert subset_mean(cells, "hamming_loss", "total") == pytest.approx(0.18, rel=1e-15)


def test_measures_that_records_do_not_have_on_subsets_have_no_table():
    score = dict.fromkeys((m.key for m in PAPER_MEASURES), 0.3)
    cell = record("mine", "BR", score=score | {"precision": 0.4}, observed={"n": 25, **score})
    assert subset_table(results([cell]), MEASURES["precision"]) is None
    assert subset_table(results([cell]), HAMMING) is not None


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


def shares(*steps):
    """NLDD on bibtex: 2, 4, ... seconds, and a Hamming loss of 0.02 that falls by 0.001 a step."""
    return [
        record(
            "bibtex",
            "NLDD",
            share=share,
            score={"hamming_loss": 0.02 - 0.001 * k},
            fit_seconds=1.5 + 2 * k,
            n_labels=159,
            n_train=round(5546 * share),
        )
        for k, share in enumerate(steps)
    ]


def test_one_row_a_share_from_the_smallest_on():
    found = results([record("bibtex", "NLDD"), *reversed(shares(0.1, 0.55, 1.0))])
    table = share_table(found.shares)
    assert (table.key, table.head[0]) == ("shares", "share")
    assert table.title == "NLDD on shares of the training rows of bibtex"
    # Wrong labels a row: 0.02 x 159 = 3.18, 0.019 x 159 = 3.021, 0.018 x 159 = 2.862.
    assert table.rows == (
        ("10%", "555", "2.0", "3.1800"),
        ("55%", "3050", "4.0", "3.0210"),
        ("100%", "5546", "6.0", "2.8620"),
    )
    lines = to_csv(table).splitlines()
    assert lines[0] == "share,n_train,seconds,mismatches"
    numbers = [[float(text) for text in line.split(",")] for line in lines[1:]]
    expected = [[0.1, 555, 2, 3.18], [0.55, 3050, 4, 3.021], [1, 5546, 6, 2.862]]
    np.testing.assert_allclose(numbers, expected, rtol=1e-14)


def test_without_shares_there_is_neither_table_nor_picture():
    assert share_table([]) is None
    assert list(share_figures([])) == []


def test_without_the_whole_of_the_rows_there_is_a_table_and_no_picture():
    records = shares(0.1, 0.5)
    assert len(share_table(records).rows) == 2
    assert list(share_figures(records)) == []


def test_curves_are_relative_to_all_rows():
    (picture,) = share_figures(shares(0.1, 0.55, 1.0))
    assert picture.key == "shares"
    assert picture.caption.startswith("NLDD on bibtex: running time relative to all training rows")
    time, wrong = picture.drawing.axes
    drawn = [line for line in time.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(drawn[0].get_xydata(), [[10, 100 / 3], [55, 200 / 3], [100, 100]])
    drawn = [line for line in wrong.lines if line.get_marker() == "s"]
    np.testing.assert_allclose(drawn[0].get_xydata(), [[10, 3.18], [55, 3.021], [100, 2.862]])
    assert picture.drawing.get_suptitle() == "NLDD on bibtex"
    assert_legible(picture.drawing)
