"""Tables of measures: values, errors, ranks, tests, the paper beside them, and all pairs."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from bench.report.records import bold, folds, grid, published_records, record, texts, unders
from nldd.bench.report.published import published
from nldd.bench.report.results import ALL_MEASURES, results
from nldd.bench.report.score_tables import (
    PUBLISHED,
    about_scores,
    choose_measures,
    overview_table,
    pair_table,
    score_table,
)
from nldd.bench.statistics import significance_line
from nldd.exceptions import InputError
from nldd.metrics import MEASURES, PAPER_MEASURES, PROBABILITY_MEASURES
from nldd.present.table import to_csv

HAMMING, ZERO_ONE, ACCURACY, F_MEASURE = PAPER_MEASURES
AUROC, LOG_LOSS = PROBABILITY_MEASURES["macro_auroc"], PROBABILITY_MEASURES["log_loss"]
MACRO_F = MEASURES["macro_f"]
OWN = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta")
METHODS = ("BR", "NLDD", "ECC", "CBM")
VALUES = [[0.3, 0.1, 0.2, 0.4], [0.25, 0.15, 0.2, 0.3], [0.3, 0.2, 0.1, 0.35]]
COUNTS = {"tp": [1] * 10, "fp": [0] * 10, "fn": [1] * 10}
EACH_MEASURE = pytest.mark.parametrize("measure", PAPER_MEASURES, ids=lambda m: m.key)


def foot(table):
    """Rows below the body by their names."""
    return {row[0]: texts(row)[1:] for row in table.foot}


def long_form(table):
    rows = csv.DictReader(io.StringIO(to_csv(table)))
    return {(row["dataset"], row["method"]): row for row in rows}


def note_with(table, words):
    (note,) = (note for note in table.notes if words in note)
    return note


def probable(**changes):
    """Cells of own data, of which those of CBM have no probabilities."""
    return [
        cell if cell.method == "CBM" else replace(cell, scores=cell.scores | {"macro_auroc": 0.8})
        for cell in grid(VALUES, OWN[:3], METHODS, label_counts=COUNTS, **changes)
    ]


def test_measures_are_chosen_by_name_and_misspelt_ones_told():
    assert [m.key for m in choose_measures()] == [*MEASURES][:4]
    keys = [m.key for m in choose_measures([" Log-Loss", "macro_f", "log_loss"])]
    assert keys == ["log_loss", "macro_f"]
    assert choose_measures(["all"]) == tuple(ALL_MEASURES.values())
    with pytest.raises(InputError, match=r"'macro_auc'.*'macro_auroc'"):
        choose_measures(["macro_auc"])


# Values, errors and ranks


def test_values_errors_ranks_and_differences_by_hand():
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
    (row,) = table.rows
    assert texts(row) == ["yeast", "0.2000 (2)", "0.1500 (1)"]
    assert unders(row) == ["", "± 0.0250\n0.1990 (+0.0)", "± 0.0250\n0.1902 (-1.6)"]
    assert bold(table) == [("yeast", "NLDD")]
    assert note_with(table, "standard error of the mean")
    assert table.data_head[2:] == ("value", "standard_error", "rank", *PUBLISHED)
    expected = (0.15, 0.025, 1, 0.1902, -0.0402, -1.608)
    assert table.data[1] == ("yeast", "NLDD", *map(pytest.approx, expected))


@EACH_MEASURE
def test_best_is_the_smallest_loss_or_the_greatest_score(measure):
    values = [[0.3, 0.1, 0.1], [0.1, 0.2, 0.3]]
    table = score_table(results(grid(values, OWN[:2], ("BR", "NLDD", "ECC"))), measure)
    ranks = [[1, 2.5, 2.5], [3, 2, 1]] if measure.greater_is_better else [[3, 1.5, 1.5], [1, 2, 3]]
    assert [texts(row)[1:] for row in table.rows] == [
        [f"{v:.4f} ({r:g})" for v, r in zip(*both, strict=True)]
        for both in zip(values, ranks, strict=True)
    ]
    best = [("alpha", "NLDD"), ("alpha", "ECC"), ("beta", "BR")]
    if measure.greater_is_better:
        best = [("alpha", "BR"), ("beta", "ECC")]
    assert bold(table) == best
    averages = [sum(both) / 2 for both in zip(*ranks, strict=True)]
    assert foot(table)["average rank"] == [f"{average:.2f}" for average in averages]


def test_missing_cells_are_dashes_and_their_data_sets_left_out_of_ranks():
    values = [[0.1, 0.2, 0.3], [0.3, None, 0.2], [0.1, 0.3, 0.2]]
    unfinished = folds("beta", "NLDD", [0.1, 0.2])[:1]
    cells = [*grid(values, OWN[:3], ("BR", "NLDD", "ECC")), *unfinished]
    table = score_table(results(cells), HAMMING)
    assert texts(table.rows[1]) == ["beta", "0.3000 (2)", "-", "0.2000 (1)"]
    assert unders(table.rows[1])[2] == ""
    # Over alpha and gamma alone: (1 + 1) / 2, (2 + 3) / 2, (3 + 2) / 2.
    assert foot(table)["average rank"] == ["1.00", "2.50", "2.50"]
    assert note_with(table, "Left out of averages").endswith(" beta.")
    assert "2 data sets" in table.notes[0]
    assert list(long_form(table)["beta", "NLDD"].values()) == ["beta", "NLDD", "", "", ""]


def test_rounding_does_not_break_a_tie():
    # Sums of floats: 0.1 + 0.2 + 0.3 is above 0.6, and 0.3 + 0.3 + 0.0 is not.
    cells = [*folds("mine", "BR", [0.1, 0.2, 0.3]), *folds("mine", "NLDD", [0.3, 0.3, 0.0])]
    assert texts(score_table(results(cells), HAMMING).rows[0])[1:] == ["0.2000 (1.5)"] * 2


def test_standard_errors_that_are_unknown_or_zero_give_no_difference_in_them():
    cells = [
        record("yeast", "BR", score=0.2, standard_errors={"hamming_loss": None}),
        record("yeast", "NLDD", score=0.2, standard_errors={"hamming_loss": 0.0}),
    ]
    table = score_table(results(cells), HAMMING)
    assert unders(table.rows[0])[1:] == ["0.1990", "± 0.0000\n0.1902"]
    rows = long_form(table)
    assert [row["standard_error"] for row in rows.values()] == ["", "0.0"]
    assert float(rows["yeast", "BR"]["difference"]) == pytest.approx(0.001)
    assert {row["difference_in_standard_errors"] for row in rows.values()} == {""}
    cells = folds("mine", "BR", [0.1, 0.2], label_counts=COUNTS)
    macro = score_table(results(cells), MACRO_F)
    assert unders(macro.rows[0]) == ["", ""]
    assert not [note for note in macro.notes if "standard error" in note]


def test_csv_has_every_digit():
    cells = grid([[0.1 + 0.2, 1 / 3]], ["mine"], ("BR", "NLDD"))
    assert to_csv(score_table(results(cells), HAMMING)).splitlines() == [
        "dataset,method,value,standard_error,rank",
        "mine,BR,0.30000000000000004,0.01,1.0",
        "mine,NLDD,0.3333333333333333,0.01,2.0",
    ]


@pytest.mark.parametrize(("measure", "has_it"), [(HAMMING, 0), (ACCURACY, 1), (F_MEASURE, 1)])
def test_measures_of_empty_labelsets_state_their_convention(measure, has_it):
    notes = score_table(results(grid(VALUES, OWN[:3], METHODS)), measure).notes
    assert sum("Mulan's convention" in note for note in notes) == has_it


# Statements of significance


@EACH_MEASURE
def test_corrected_statement_comes_first_and_the_papers_beneath(measure):
    table = score_table(results(published_records()), measure)
    values = published(measure.key)
    line = significance_line(values.array(), values.methods, measure.greater_is_better)
    assert "(two-sided Wilcoxon tests at 0.05, Holm's correction" in table.notes[0]
    # 21 pairs, 9 data sets: no p can be small enough.
    assert "no method is significantly better" in table.notes[0] and "0.08203" in table.notes[0]
    assert table.notes[1] == f"Uncorrected and one-sided at 0.05, as in the paper: {line}."
    assert "7 methods on 9 data sets" in table.notes[2]
    assert table.notes[3].endswith(f"(one-sided, uncorrected): {line}.")


@pytest.mark.parametrize("measure", [HAMMING, F_MEASURE], ids=["loss", "score"])
def test_significance_by_hand(measure):
    # NLDD has the smaller value on all seven: p = 2/128, times 3 pairs. BR and ECC are mixed.
    values = [[0.3 + 0.01 * k, 0.1, 0.4 if k % 2 else 0.2] for k in range(7)]
    notes = score_table(results(grid(values, OWN, ("BR", "NLDD", "ECC"))), measure).notes
    line = {HAMMING: "NLDD > {BR, ECC}", F_MEASURE: "BR > {NLDD}; ECC > {NLDD}"}[measure]
    assert notes[0].endswith(f"Holm's correction for all 3 pairs, 7 data sets): {line}.")
    assert notes[1] == f"Uncorrected and one-sided at 0.05: {line}."
    corrected = score_table(results(grid(values[:6], OWN[:6], ("BR", "NLDD", "ECC"))), measure)
    assert "6 data sets and 3 pairs no p can fall below 0.09375" in corrected.notes[0]
    assert corrected.notes[1] == notes[1]


def test_one_method_is_its_own_best():
    table = score_table(results(grid([[0.3], [0.1]], ("yeast", "mine"), ["NLDD"])), HAMMING)
    assert [texts(row) for row in table.rows] == [["yeast", "0.3000 (1)"], ["mine", "0.1000 (1)"]]
    assert table.notes[0].startswith("Significance needs two methods")


# The paper beside ours


def test_other_methods_have_ranks_of_their_own():
    methods = ("BR", "NLDD", "CC", "LP", "RFPCT")
    values = [[0.5, 0.3, 0.1, 0.2, 0.4], [0.5, 0.4, 0.1, 0.2, 0.3]]
    table = score_table(results(grid(values, ("emotions", "yeast"), methods)), HAMMING)
    second = dict(zip(table.head, unders(table.rows[1]), strict=True))
    assert second["NLDD"].splitlines()[1] == "0.1902 (+21.0)"
    assert second["CC"] == second["LP"] == second["RFPCT"] == "± 0.0100"
    assert foot(table) == {
        "average rank": ["5.00", "3.50", "1.00", "2.00", "3.50"],
        "among the paper's": ["2.00", "1.00", "-", "-", "-"],
        "in the paper": ["2.00", "1.00", "-", "-", "-"],
    }
    assert sum(cell.bold for row in table.foot for cell in row[1:]) == 3


def test_ranks_of_the_paper_are_over_the_data_sets_that_are_common_and_complete():
    # CC has no value on scene, and the paper none of mine: emotions and yeast are left, and on both
    # the paper has the smaller loss for NLDD.
    values = [[0.1, 0.2, 0.3], [0.2, 0.1, None], [0.1, 0.2, 0.3], [0.1, 0.3, 0.2]]
    datasets = ("emotions", "scene", "yeast", "mine")
    table = score_table(results(grid(values, datasets, ("BR", "NLDD", "CC"))), HAMMING)
    assert foot(table) == {
        "average rank": ["1.00", "2.33", "2.67"],
        "among the paper's": ["1.00", "2.00", "-"],
        "in the paper": ["2.00", "1.00", "-"],
    }
    assert note_with(table, "In the paper:").endswith("2 methods on 2 data sets.")


@pytest.mark.parametrize(
    ("dataset", "methods", "changes"),
    [
        ("mine", ("NLDD", "BR"), {}),
        ("yeast", ("CC", "LP"), {}),
        ("medical", METHODS, {"n_labels": 9}),
    ],
    ids=["data", "methods", "name"],
)
def test_what_the_paper_has_not_leaves_it_out(dataset, methods, changes):
    cells = grid([VALUES[0][: len(methods)]], [dataset], methods, **changes)
    table = score_table(results(cells), HAMMING)
    assert set(foot(table)) == {"average rank"}
    assert table.data_head == ("dataset", "method", "value", "standard_error", "rank")
    assert not [note for note in table.notes if "paper" in note]


def test_doubtful_cells_of_the_paper_have_a_star():
    cells = grid([[0.1, 0.2, 0.2]], ["scene"], ("SMBR", "NLDD", "CBM"))
    for measure, starred in ((HAMMING, ["CBM"]), (ACCURACY, ["SMBR", "NLDD", "CBM"])):
        table = score_table(results(cells), measure)
        second = dict(zip(table.head, unders(table.rows[0]), strict=True))
        assert [name for name in second if "*" in second[name]] == starred
        told = [note.split(" on scene:")[0] for note in table.notes if note.startswith("*")]
        assert ", ".join(told).replace("* ", "") == ", ".join(starred)


# Measures that not every method has


def test_methods_without_probabilities_are_left_out_and_do_not_empty_the_table():
    found = results(probable())
    table = score_table(found, AUROC)
    assert table.head == ("data set", "BR", "NLDD", "ECC")
    assert foot(table)["average rank"] == ["2.00", "2.00", "2.00"]
    assert table.notes[-1] == "Left out, no probabilities: CBM."
    overview = overview_table(found)
    rows = {row[0]: texts(row)[1:] for row in overview.rows}
    assert rows["Macro AUROC"] == ["3", "2.00", "2.00", "2.00", "-"]
    # NLDD: (1 + 1 + 2) / 3, ECC: (2 + 2 + 1) / 3.
    assert rows["Hamming loss"] == ["3", "3.00", "1.33", "1.67", "4.00"]
    pooled = {measure.name for key, measure in MEASURES.items() if key[:6] in ("micro_", "macro_")}
    assert set(rows) == {"Macro AUROC", *(measure.name for measure in PAPER_MEASURES), *pooled}
    assert ("Hamming loss", "NLDD") in bold(overview)
    assert overview.notes[-1].endswith(" CBM.")
    assert ("macro_auroc", "ECC", 2.0, 3) in overview.data
    assert overview_table(results(probable()[:4])) is None


def test_why_methods_have_no_value_is_told():
    own, names = grid(VALUES[:1], OWN[:1], METHODS), "(BR, NLDD, ECC, CBM)"

    def told(cells, *measures):
        assert not any(score_table(results(cells), measure) for measure in measures)
        return list(about_scores(results(cells), measures))[2:]

    counted = [replace(cell, details=cell.details | {"label_counts": COUNTS}) for cell in own]
    (line,) = told(counted, AUROC, LOG_LOSS)
    assert "Macro AUROC, Log loss" in line and f"no probabilities {names}" in line
    (line,) = told(own, MACRO_F)
    assert f"older records without predictions {names}" in line
    # Three methods have probabilities, but some fold has no defined value.
    (line,) = told(probable()[:4], LOG_LOSS)
    assert "in some fold of each data set (BR, NLDD, ECC); no probabilities (CBM)" in line


# Pairs of methods


def test_pairs_of_all_measures_are_one_panel_with_effects_and_tests():
    found = results(probable())
    table = pair_table(found, [HAMMING, F_MEASURE, AUROC, LOG_LOSS], nemenyi=True)
    assert (table.key, table.folded) == ("pairs", True)
    assert table.head[-3:] == ("p", "p (Holm)", "p (Nemenyi)")
    # Losses: BR has 0.3, 0.25, 0.3 and NLDD 0.1, 0.15, 0.2; one pattern of signs of 2^3, twice.
    first = ("Hamming loss", "BR, NLDD", "-0.1333", "0/0/3", "-1.00", "0.250", "1.000")
    assert table.rows[0][:7] == first
    assert table.rows[6][:5] == ("F-measure", "BR, NLDD", "+0.1333", "3/0/0", "+1.00")
    measures = 6 * ["Hamming loss"] + 6 * ["F-measure"] + 3 * ["Macro AUROC"]
    assert [row[0] for row in table.rows] == measures
    assert table.data[0][:3] == ("hamming_loss", "BR", "NLDD")
    assert "Hamming loss, F-measure: with 3 data sets and 6 pairs" in table.notes[0]
    assert len(table.notes) == 4
    plain = pair_table(found, [HAMMING])
    assert "p (Nemenyi)" not in plain.head and len(plain.notes) == 2
    assert not {"better", "equal", "worse"} & {*plain.head, *plain.data_head}
    assert pair_table(results(probable()[:4]), [HAMMING]) is None


def test_ties_and_tiny_p_values_of_pairs_are_told_rightly():
    names = [f"set{k:02}" for k in range(13)]
    # Better on 12 of 13, and a tie: 2 / 2^12 = 0.0005.
    values = [[0.2, 0.2], *([0.1 + 0.01 * k, 0.5] for k in range(12))]
    table = pair_table(results(grid(values, names, ("BR", "NLDD"))), [HAMMING])
    assert table.rows[0][3:] == ("12/1/0", "+1.00", "< 0.001", "< 0.001")
    # Better on 7 of 7: 2 / 2^7.
    table = pair_table(results(grid(values[1:8], names[1:8], ("BR", "NLDD"))), [HAMMING])
    assert table.rows[0][5:] == ("0.016", "0.016")


def test_a_data_set_without_a_value_is_a_row_of_dashes():
    cells = probable()
    for cell in cells:
        if cell.dataset == "beta":
            cell.scores.pop("macro_auroc", None)
    table = score_table(results(cells), AUROC)
    assert texts(table.rows[1]) == ["beta", "-", "-", "-"]
    assert note_with(table, "Left out of averages").endswith(" beta.")
    assert np.isnan(results(cells).means(AUROC)[1]).all()


def test_decisions_are_named_once_in_the_notes_of_their_measure():
    decisions = {"hamming_loss": "hamming", "multilabel_accuracy": "jaccard"}
    decided = [
        record(method=method, score=0.1, decisions=decisions) for method in ("NLDD-P", "BR-P")
    ]
    found = results([record(), *decided])
    for measure, decision in ((HAMMING, "hamming"), (ACCURACY, "jaccard")):
        (note,) = (note for note in score_table(found, measure).notes if "decision" in note)
        assert note.endswith(f"{decision}: NLDD-P, BR-P.")
    plain = score_table(results([record(), record(method="NLDD")]), HAMMING)
    assert not [note for note in plain.notes if "decision" in note]
