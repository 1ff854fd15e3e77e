"""The table of one measure: values, ranks, significance and the paper beside them."""

import csv
import io
import itertools

import pytest

from bench.report.records import bold, folds, grid, published_records, record, texts, unders
from nldd.bench.report.published import doubtful, published
from nldd.bench.report.results import results
from nldd.bench.report.score_tables import score_table
from nldd.metrics._measures import PAPER_MEASURES
from nldd.present.table import to_csv

HAMMING, ZERO_ONE, ACCURACY, F_MEASURE = PAPER_MEASURES
OWN = ("alpha", "beta", "gamma", "delta", "epsilon")
EACH_MEASURE = pytest.mark.parametrize("measure", PAPER_MEASURES, ids=lambda m: m.key)

NO_SIGNIFICANCE = "Significance needs two methods, and two data sets on which each has a value."

LEFT_OUT = "Left out of averages and tests, since not every method has a value in every fold: "

# As printed in the paper below its tables 2 to 5.
SIGNIFICANCE = {
    "hamming_loss": "NLDD > {BR, SMBR, ECC, MLKNN}; BR > {SMBR}; RAKEL > {BR, SMBR, ECC}",
    "zero_one_loss": (
        "NLDD > {BR, SMBR, ECC, RAKEL, MLKNN}; BR > {MLKNN}; SMBR > {BR, MLKNN}; ECC > {MLKNN}; "
        "RAKEL > {BR, MLKNN}; CBM > {BR, SMBR, MLKNN}"
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


def by_head(table, row):
    return dict(zip(table.head, texts(row), strict=True))


def foot(table):
    """Rows below the body by their names."""
    return {row[0]: texts(row)[1:] for row in table.foot}


def long_form(table):
    rows = csv.DictReader(io.StringIO(to_csv(table)))
    return {(row["dataset"], row["method"]): row for row in rows}


def counted_ranks(row, sign):
    """Rank of each value by counting: those before it, and half of those that are equal to it."""
    return [
        1 + sum(sign * other > sign * value for other in row) + (row.count(value) - 1) / 2
        for value in row
    ]


@EACH_MEASURE
def test_published_values_give_the_published_significance(measure):
    notes = score_table(results(published_records()), measure).notes
    line = SIGNIFICANCE[measure.key]
    assert notes[0] == f"Significance (one-sided at 0.05, 9 data sets): {line}."
    assert (
        notes[1] == "In the paper: average ranks of its printed values, 7 methods on 9 data sets."
    )
    assert notes[2] == f"The same tests of these printed values: {line}."
    assert all(note.startswith("* ") for note in notes[3:])


@EACH_MEASURE
def test_published_values_give_their_average_ranks(measure):
    table = score_table(results(published_records()), measure)
    paper = published(measure.key)
    assert table.head == ("data set", *paper.methods)
    sign = 1 if measure.greater_is_better else -1
    R = [counted_ranks(row, sign) for row in paper.rows]
    averages = [sum(column) / 9 for column in zip(*R, strict=True)]
    assert foot(table)["average rank"] == [f"{average:.2f}" for average in averages]
    assert [row[0] for row in table.foot] == ["average rank", "in the paper"]
    assert foot(table)["in the paper"] == foot(table)["average rank"]
    for row, values, ranks in zip(table.rows, paper.rows, R, strict=True):
        expected = [f"{v:.4f} ({r:g})" for v, r in zip(values, ranks, strict=True)]
        assert texts(row)[1:] == expected


@EACH_MEASURE
def test_published_values_are_no_standard_error_from_themselves(measure):
    table = score_table(results(published_records()), measure)
    paper = published(measure.key)
    for row in table.rows:
        assert unders(row)[1:] == [
            f"{paper.value(row[0], method):.4f}"
            f"{'*' if doubtful(measure.key, row[0], method) else ''} (+0.0)"
            for method in paper.methods
        ]
    cells = long_form(table)
    assert len(cells) == 63
    assert {cell["difference"] for cell in cells.values()} == {"0.0"}
    assert {cell["difference_in_standard_errors"] for cell in cells.values()} == {"0.0"}
    assert all(cell["value"] == cell["published"] for cell in cells.values())


def test_doubtful_cells_have_a_star_and_a_note():
    found = results(published_records())
    starred = {
        (measure.key, row[0], method)
        for measure in PAPER_MEASURES
        for row in score_table(found, measure).rows
        for method, under in zip(found.methods, unders(row)[1:], strict=True)
        if "*" in under
    }
    cells = itertools.product((m.key for m in PAPER_MEASURES), found.datasets, found.methods)
    assert starred == {cell for cell in cells if doubtful(*cell)}
    assert len(starred) == 42

    said = [note for note in score_table(found, ZERO_ONE).notes if note.startswith("*")]
    assert said == [
        "* CBM: the paper scored CBM on other test rows than the other methods.",
        "* BR on yeast: the paper's 0.8940 for BR is probably a misprint of 0.8540.",
    ]
    said = [note for note in score_table(found, ACCURACY).notes if note.startswith("*")]
    assert said == [
        "* CBM: the paper scored CBM on other test rows than the other methods.",
        "* BR, SMBR, NLDD, RAKEL, MLKNN on scene: the paper's accuracy is above its F-measure, "
        "which cannot be.",
    ]


def test_doubt_about_a_missing_cell_is_not_noted():
    cells = [*grid([[0.1], [0.2]], ("yeast", "scene"), ["BR"]), record("yeast", "CBM", error="no")]
    table = score_table(results(cells), HAMMING)
    assert not [note for note in table.notes if note.startswith("*")]
    # CBM has a value elsewhere, so it has a column, and one star in it.
    cells += [record("scene", "CBM"), *grid([[0.1, 0.2]], ["scene"], ("SMBR", "NLDD"))]
    notes = score_table(results(cells), HAMMING).notes
    assert [note.split(":")[0] for note in notes if note.startswith("*")] == ["* CBM on scene"]
    notes = score_table(results(cells), ACCURACY).notes
    assert [note.split(":")[0] for note in notes if note.startswith("*")] == [
        "* BR, SMBR, NLDD on scene",
        "* CBM on scene",
    ]


def test_values_ranks_and_differences_by_hand():
    # BR on yeast: mean of 0.25 and 0.15 is 0.2, the paper has 0.1990; the standard error is
    # sqrt(0.03^2 + 0.04^2) / 2 = 0.025, so the difference is 0.001 / 0.025 = 0.04 of them.
    # NLDD: mean of 0.1 and 0.2 is 0.15; (0.15 - 0.1902) / 0.025 = -1.608.
    cells = [
        record("yeast", method, fold, score, n_folds=2, standard_errors={"hamming_loss": error})
        for method, scores in (("BR", (0.25, 0.15)), ("NLDD", (0.1, 0.2)))
        for fold, (score, error) in enumerate(zip(scores, (0.03, 0.04), strict=True))
    ]
    table = score_table(results(cells), HAMMING)
    assert (table.key, table.head) == ("hamming_loss", ("data set", "BR", "NLDD"))
    assert table.title == "Hamming loss (lower is better), ranks in parentheses"
    (row,) = table.rows
    assert texts(row) == ["yeast", "0.2000 (2)", "0.1500 (1)"]
    assert unders(row) == ["", "0.1990 (+0.0)", "0.1902 (-1.6)"]
    assert bold(table) == [("yeast", "NLDD")]
    assert [type(cell.bold) for cell in row[1:]] == [bool, bool]
    cell = long_form(table)["yeast", "NLDD"]
    assert (float(cell["value"]), float(cell["rank"])) == (pytest.approx(0.15, rel=1e-15), 1)
    assert float(cell["standard_error"]) == pytest.approx(0.025, rel=1e-14)
    assert float(cell["published"]) == 0.1902
    assert float(cell["difference"]) == pytest.approx(-0.0402, rel=1e-12)
    assert float(cell["difference_in_standard_errors"]) == pytest.approx(-1.608, rel=1e-12)


@EACH_MEASURE
def test_best_is_the_smallest_loss_or_the_greatest_score(measure):
    values = [[0.3, 0.1, 0.2], [0.1, 0.2, 0.3]]
    table = score_table(results(grid(values, OWN[:2], ("BR", "NLDD", "ECC"))), measure)
    ranks = [[1, 3, 2], [3, 2, 1]] if measure.greater_is_better else [[3, 1, 2], [1, 2, 3]]
    assert [texts(row)[1:] for row in table.rows] == [
        [f"{v:.4f} ({r})" for v, r in zip(*both, strict=True)]
        for both in zip(values, ranks, strict=True)
    ]
    best = ("BR", "ECC") if measure.greater_is_better else ("NLDD", "BR")
    assert bold(table) == list(zip(OWN[:2], best, strict=True))
    averages = [sum(both) / 2 for both in zip(*ranks, strict=True)]
    assert foot(table)["average rank"] == [f"{average:.2f}" for average in averages]


def test_tied_best_values_are_all_bold():
    table = score_table(results(grid([[0.1, 0.1, 0.2]], ["mine"], ("BR", "NLDD", "ECC"))), HAMMING)
    assert texts(table.rows[0])[1:] == ["0.1000 (1.5)", "0.1000 (1.5)", "0.2000 (3)"]
    assert bold(table) == [("mine", "BR"), ("mine", "NLDD")]


def test_rounding_does_not_break_a_tie():
    # Sums of floats: 0.1 + 0.2 + 0.3 is above 0.6, and 0.3 + 0.3 + 0.0 is not.
    cells = [*folds("mine", "BR", [0.1, 0.2, 0.3]), *folds("mine", "NLDD", [0.3, 0.3, 0.0])]
    assert texts(score_table(results(cells), HAMMING).rows[0])[1:] == ["0.2000 (1.5)"] * 2


def test_missing_cells_are_dashes_and_their_data_sets_left_out_of_ranks():
    values = [[0.1, 0.2, 0.3], [0.3, None, 0.2], [0.1, 0.3, 0.2]]
    table = score_table(results(grid(values, OWN[:3], ("BR", "NLDD", "ECC"))), HAMMING)
    assert [row[0] for row in table.rows] == ["alpha", "beta", "gamma"]
    assert texts(table.rows[1]) == ["beta", "0.3000 (2)", "-", "0.2000 (1)"]
    # Over alpha and gamma alone: (1 + 1) / 2, (2 + 3) / 2, (3 + 2) / 2.
    assert foot(table)["average rank"] == ["1.00", "2.50", "2.50"]
    assert f"{LEFT_OUT}beta." in table.notes
    assert "(one-sided at 0.05, 2 data sets)" in table.notes[0]
    cell = long_form(table)["beta", "NLDD"]
    assert list(cell.values()) == ["beta", "NLDD", "", "", ""]


def test_incomplete_folds_are_missing_cells():
    cells = [*folds("yeast", "BR", [0.1, 0.2]), *folds("yeast", "NLDD", [0.1, 0.2])[:1]]
    table = score_table(results([*cells, record("mine", "NLDD")]), HAMMING)
    assert texts(table.rows[0]) == ["yeast", "0.1500 (1)", "-"]
    assert unders(table.rows[0])[2] == ""
    assert foot(table)["average rank"] == ["-", "-"]
    assert table.notes[0] == NO_SIGNIFICANCE
    assert f"{LEFT_OUT}yeast, mine." in table.notes


def test_significance_by_hand():
    # NLDD has the smaller loss on all five: p = 1/32. BR and ECC are mixed.
    values = [[0.3, 0.1, 0.4], [0.3, 0.2, 0.25], [0.4, 0.2, 0.5], [0.5, 0.1, 0.2], [0.2, 0.1, 0.3]]
    found = results(grid(values, OWN, ("BR", "NLDD", "ECC")))
    line = "Significance (one-sided at 0.05, 5 data sets): NLDD > {BR, ECC}."
    assert score_table(found, HAMMING).notes[0] == line
    # As scores the same numbers say the opposite.
    line = "Significance (one-sided at 0.05, 5 data sets): BR > {NLDD}; ECC > {NLDD}."
    assert score_table(found, F_MEASURE).notes[0] == line


def test_one_method_is_its_own_best():
    table = score_table(results(grid([[0.3], [0.1]], ("yeast", "mine"), ["NLDD"])), HAMMING)
    assert [texts(row) for row in table.rows] == [["yeast", "0.3000 (1)"], ["mine", "0.1000 (1)"]]
    assert foot(table) == {"average rank": ["1.00"]}
    assert table.notes[0] == NO_SIGNIFICANCE
    assert bold(table) == [("yeast", "NLDD"), ("mine", "NLDD")]


def test_other_methods_have_no_second_line_and_ranks_of_their_own():
    methods = ("BR", "NLDD", "CC", "LP", "RFPCT")
    values = [[0.5, 0.3, 0.1, 0.2, 0.4], [0.5, 0.4, 0.1, 0.2, 0.3]]
    table = score_table(results(grid(values, ("emotions", "yeast"), methods)), HAMMING)
    assert table.head == ("data set", *methods)
    second = dict(zip(table.head, unders(table.rows[1]), strict=True))
    assert second["NLDD"] == "0.1902 (+21.0)"
    assert second["CC"] == second["LP"] == second["RFPCT"] == ""
    all_, paper, told = table.foot
    assert by_head(table, all_) == {
        "data set": "average rank",
        "BR": "5.00",
        "NLDD": "3.50",
        "CC": "1.00",
        "LP": "2.00",
        "RFPCT": "3.50",
    }
    assert texts(paper) == ["among the paper's", "2.00", "1.00", "-", "-", "-"]
    assert texts(told) == ["in the paper", "2.00", "1.00", "-", "-", "-"]
    assert [row[j].bold for row, j in ((all_, 3), (paper, 2), (told, 2))] == [True] * 3
    assert sum(cell.bold for row in table.foot for cell in row[1:]) == 3
    assert table.notes[1:3] == (
        "In the paper: average ranks of its printed values, 2 methods on 2 data sets.",
        "The same tests of these printed values: no method is significantly better than another; "
        "with 2 data sets no p can fall below 0.25.",
    )


def test_ranks_of_the_paper_are_over_the_data_sets_that_are_common_and_complete():
    # CC has no value on scene, and the paper none of mine: emotions and yeast are left.
    values = [[0.1, 0.2, 0.3], [0.2, 0.1, None], [0.1, 0.2, 0.3], [0.1, 0.3, 0.2]]
    datasets = ("emotions", "scene", "yeast", "mine")
    table = score_table(results(grid(values, datasets, ("BR", "NLDD", "CC"))), HAMMING)
    assert f"{LEFT_OUT}scene." in table.notes
    printed = published("hamming_loss")
    R = [counted_ranks([printed.value(d, m) for m in ("BR", "NLDD")], -1) for d in datasets[:3:2]]
    assert foot(table) == {
        "average rank": ["1.00", "2.33", "2.67"],
        "among the paper's": ["1.00", "2.00", "-"],
        "in the paper": [*(f"{sum(both) / 2:.2f}" for both in zip(*R, strict=True)), "-"],
    }
    assert table.notes[2].endswith("2 methods on 2 data sets.")


def test_methods_that_the_paper_has_not_leave_it_out():
    values = [[0.1, 0.2, 0.3]] * 5
    for methods in (("CC", "LP", "RFPCT"), ("NLDD", "LP", "RFPCT")):
        table = score_table(results(grid(values, OWN, methods)), HAMMING)
        assert foot(table) == {"average rank": ["1.00", "2.00", "3.00"]}
        assert len(table.notes) == 1
    table = score_table(results(grid(values[:1], ["yeast"], ("CC", "LP", "RFPCT"))), HAMMING)
    assert table.data_head == ("dataset", "method", "value", "standard_error", "rank")


def test_own_data_of_the_same_name_are_not_compared_with_the_paper():
    own = results(grid([[0.1, 0.2]], ["medical"], ("BR", "NLDD"), n_labels=9))
    table = score_table(own, HAMMING)
    assert unders(table.rows[0]) == [""] * 3
    assert foot(table) == {"average rank": ["1.00", "2.00"]}
    assert "published" not in table.data_head


def test_standard_errors_that_are_unknown_or_zero_give_no_difference_in_them():
    cells = [
        record("yeast", "BR", score=0.2, standard_errors={"hamming_loss": None}),
        record("yeast", "NLDD", score=0.2, standard_errors={"hamming_loss": 0.0}),
    ]
    table = score_table(results(cells), HAMMING)
    assert unders(table.rows[0])[1:] == ["0.1990", "0.1902"]
    rows = long_form(table)
    assert rows["yeast", "BR"]["standard_error"] == ""
    assert rows["yeast", "NLDD"]["standard_error"] == "0.0"
    assert float(rows["yeast", "BR"]["difference"]) == pytest.approx(0.001)
    for cell in rows.values():
        assert cell["difference_in_standard_errors"] == ""


def test_csv_has_every_digit():
    value = 0.1 + 0.2
    cells = grid([[value, 1 / 3]], ["mine"], ("BR", "NLDD"))
    lines = to_csv(score_table(results(cells), HAMMING)).splitlines()
    assert lines == [
        "dataset,method,value,standard_error,rank",
        "mine,BR,0.30000000000000004,0.01,1.0",
        "mine,NLDD,0.3333333333333333,0.01,2.0",
    ]
